//! Writing typed messages, objects in the order that the RFCs recommend.

use super::class;
use super::error::{Error, Fault, Reason};
use super::field::Put;
use super::header::{VERSION, checksum};
use super::message::{
    Common, FlowDescriptor, Message, Packet, Path, PathErr, PathTear, Resv, ResvConf, ResvErr, ResvTear,
    SenderDescriptor, Unknown,
};
use super::object::emit_opaque;
use super::style::Style;
use super::{basic, explicit_route, label, record_route};

impl Packet {
    /// Appends the message to `out`, checksum included; on error `out` is as before.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.message.emit(self.flags, self.send_ttl, out)
    }
}

/// Fills in length and checksum of the message that begins at `start`.
#[inline]
pub(crate) fn finish(start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let length = u16::try_from(out.len() - start).map_err(|_| Error::of_message(6, Reason::TooLong))?;
    out.patch(start + 6, length);
    let checksum = checksum(out.get(start..).unwrap_or(&[]));
    out.patch(start + 2, checksum);
    Ok(())
}

impl Message {
    /// Appends the message to `out` with these header fields, checksum included; on error `out` is as before.
    ///
    /// A message with an [`super::Integrity`] is to be signed next: [`super::integrity::sign`].
    pub fn emit(&self, flags: u8, send_ttl: u8, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let result = self.emit_at(start, flags, send_ttl, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn emit_at(&self, start: usize, flags: u8, send_ttl: u8, out: &mut Vec<u8>) -> Result<(), Error> {
        out.reserve(256);
        out.bytes(&[VERSION << 4 | flags & 0x0f, self.message_type().number(), 0, 0, send_ttl, 0, 0, 0]);
        if let Message::Bundle(bundle) = self {
            for packet in &bundle.packets {
                let offset = out.len() - start;
                if matches!(packet.message, Message::Bundle(_)) {
                    return Err(Error::of_message(offset, Reason::Invalid("a bundle in a bundle")));
                }
                packet.emit(out).map_err(|error| Error { offset: error.offset + offset, ..error })?;
            }
        } else {
            let unknown = self.common().map_or(&[][..], |common| &common.unknown);
            let mut writer = Writer { out, unknown, position: 0 };
            let written = writer.message(self).and_then(|()| writer.rest());
            written.map_err(|fault| Error::of_message(out.len() - start, fault.reason))?;
        }
        finish(start, out)
    }
}

/// Writes objects, and puts unknown ones where they were.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    unknown: &'a [Unknown],
    /// Index of the next object.
    position: u16,
}

impl Writer<'_> {
    /// Where the next known object goes: after the unknown ones that come before it.
    #[inline]
    fn slot(&mut self) -> Result<&mut Vec<u8>, Fault> {
        if !self.unknown.is_empty() {
            self.unknown_up_to(self.position)?;
        }
        self.position = self.position.saturating_add(1);
        Ok(self.out)
    }

    #[cold]
    fn unknown_up_to(&mut self, limit: u16) -> Result<(), Fault> {
        let mut limit = limit;
        while let Some((first, rest)) = self.unknown.split_first() {
            if first.position > limit {
                break;
            }
            emit_opaque(first.class, first.c_type, &first.data, self.out)?;
            self.unknown = rest;
            self.position = self.position.saturating_add(1);
            limit = limit.saturating_add(1);
        }
        Ok(())
    }

    /// The unknown objects that come after all others.
    fn rest(&mut self) -> Result<(), Fault> {
        if self.unknown.is_empty() { Ok(()) } else { self.unknown_up_to(u16::MAX) }
    }

    fn message(&mut self, message: &Message) -> Result<(), Fault> {
        if let Some(common) = message.common() {
            self.common(common);
        }
        match message {
            Message::Path(m) => self.path(m),
            Message::Resv(m) => self.resv(m),
            Message::PathErr(m) => self.path_err(m),
            Message::ResvErr(m) => self.resv_err(m),
            Message::PathTear(m) => self.path_tear(m),
            Message::ResvTear(m) => self.resv_tear(m),
            Message::ResvConf(m) => self.resv_conf(m),
            Message::Srefresh(m) => m.lists.iter().try_for_each(|list| list.emit(self.slot()?)),
            Message::Hello(m) => {
                m.hello.emit(self.slot()?);
                Ok(())
            }
            Message::IntegrityChallenge(m) => m.challenge.emit(self.slot()?),
            Message::IntegrityResponse(m) => m.challenge.emit(self.slot()?),
            Message::Ack(_) | Message::Bundle(_) => Ok(()),
        }
    }

    /// RFC 2205, 3.1; RFC 2961, 4.1: INTEGRITY, acknowledgements, MESSAGE_ID, then the rest. Nothing stands before or
    /// between these, wherever it was in a message that is passed on.
    fn common(&mut self, common: &Common) {
        if let Some(integrity) = &common.integrity {
            integrity.emit(self.out);
            self.position = self.position.saturating_add(1);
        }
        for ack in &common.acks {
            ack.emit(self.out);
            self.position = self.position.saturating_add(1);
        }
        if let Some(message_id) = &common.message_id {
            message_id.emit(self.out);
            self.position = self.position.saturating_add(1);
        }
    }

    /// Writes the objects in the order of RFC 3209, 3.1.
    fn path(&mut self, m: &Path) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.hop.emit(self.slot()?);
        m.time_values.emit(self.slot()?);
        if let Some(ero) = &m.ero {
            explicit_route::emit(ero, class::EXPLICIT_ROUTE, 1, self.slot()?)?;
        }
        if let Some(label_request) = &m.label_request {
            label_request.emit(self.slot()?);
        }
        if let Some(session_attribute) = &m.session_attribute {
            session_attribute.emit(self.slot()?)?;
        }
        if let Some(diffserv) = &m.diffserv {
            diffserv.emit(self.slot()?)?;
        }
        self.policy_data(&m.policy_data)?;
        m.sender_template.emit(class::SENDER_TEMPLATE, self.slot()?);
        m.sender_tspec.emit(self.slot()?);
        if let Some(adspec) = &m.adspec {
            adspec.emit(self.slot()?)?;
        }
        if let Some(rro) = &m.rro {
            record_route::emit(rro, class::RECORD_ROUTE, 1, self.slot()?)?;
        }
        Ok(())
    }

    /// Writes the objects in the order of RFC 3209, 3.2.
    fn resv(&mut self, m: &Resv) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.hop.emit(self.slot()?);
        m.time_values.emit(self.slot()?);
        if let Some(receiver) = m.resv_confirm {
            basic::emit_resv_confirm(receiver, self.slot()?);
        }
        self.scope(m.scope.as_ref())?;
        self.policy_data(&m.policy_data)?;
        self.style(m.style, &m.flow_descriptors)
    }

    /// Writes the objects in the order of RFC 2205, 3.1.7.
    fn path_err(&mut self, m: &PathErr) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.error_spec.emit(self.slot()?);
        self.policy_data(&m.policy_data)?;
        m.sender.as_ref().map_or(Ok(()), |sender| self.sender(sender))?;
        // RFC 3209, 4.3.6, which names no place for it.
        match &m.ero {
            Some(ero) => explicit_route::emit(ero, class::EXPLICIT_ROUTE, 1, self.slot()?),
            None => Ok(()),
        }
    }

    /// Writes the objects in the order of RFC 2205, 3.1.8.
    fn resv_err(&mut self, m: &ResvErr) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.hop.emit(self.slot()?);
        m.error_spec.emit(self.slot()?);
        self.scope(m.scope.as_ref())?;
        self.policy_data(&m.policy_data)?;
        self.style(m.style, m.flow_descriptor.as_slice())
    }

    /// Writes the objects in the order of RFC 2205, 3.1.5.
    fn path_tear(&mut self, m: &PathTear) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.hop.emit(self.slot()?);
        m.sender.as_ref().map_or(Ok(()), |sender| self.sender(sender))
    }

    /// Writes the objects in the order of RFC 2205, 3.1.6.
    fn resv_tear(&mut self, m: &ResvTear) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.hop.emit(self.slot()?);
        self.scope(m.scope.as_ref())?;
        m.style.emit(self.slot()?);
        for filter in &m.filters {
            filter.emit(class::FILTER_SPEC, self.slot()?);
        }
        Ok(())
    }

    /// Writes the objects in the order of RFC 2205, 3.1.9.
    fn resv_conf(&mut self, m: &ResvConf) -> Result<(), Fault> {
        m.session.emit(self.slot()?);
        m.error_spec.emit(self.slot()?);
        basic::emit_resv_confirm(m.resv_confirm, self.slot()?);
        self.style(m.style, &m.flow_descriptors)
    }

    fn policy_data(&mut self, policy_data: &[Vec<u8>]) -> Result<(), Fault> {
        policy_data.iter().try_for_each(|data| emit_opaque(class::POLICY_DATA, 1, data, self.slot()?))
    }

    fn scope(&mut self, scope: Option<&basic::Scope>) -> Result<(), Fault> {
        scope.map_or(Ok(()), |scope| scope.emit(self.slot()?))
    }

    fn sender(&mut self, sender: &SenderDescriptor) -> Result<(), Fault> {
        sender.sender_template.emit(class::SENDER_TEMPLATE, self.slot()?);
        if let Some(tspec) = &sender.sender_tspec {
            tspec.emit(self.slot()?);
        }
        if let Some(adspec) = &sender.adspec {
            adspec.emit(self.slot()?)?;
        }
        if let Some(rro) = &sender.rro {
            record_route::emit(rro, class::RECORD_ROUTE, 1, self.slot()?)?;
        }
        Ok(())
    }

    /// STYLE and the flow descriptor list (RFC 2205, 3.1.4; RFC 3209, 3.2), which end the message.
    fn style(&mut self, style: Style, descriptors: &[FlowDescriptor]) -> Result<(), Fault> {
        style.emit(self.slot()?);
        for descriptor in descriptors {
            descriptor.flowspec.emit(self.slot()?);
            for filter in &descriptor.filters {
                filter.filter_spec.emit(class::FILTER_SPEC, self.slot()?);
                if let Some(label) = filter.label {
                    label::emit_label(label, self.slot()?);
                }
                if let Some(rro) = &filter.rro {
                    record_route::emit(rro, class::RECORD_ROUTE, 1, self.slot()?)?;
                }
            }
        }
        Ok(())
    }
}
