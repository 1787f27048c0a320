//! Reading typed messages in one pass.
//!
//! Objects are accepted in any order (RFC 2205, 3.1.2: "should be prepared to accept"), except within the flow
//! descriptor list, where order is meaning. Objects that do not belong in a message of its type are left out.
//! Of objects that RFC 3209 added the first counts (RFC 3209, 4.3.2 and 4.4.2); the others must not come twice.

use super::class::{self, MessageType};
use super::descriptors::Descriptors;
use super::error::{Error, Fault, Reason};
use super::explicit_route;
use super::header::{Header, ObjectView, Objects};
use super::message::{
    Ack, Bundle, Common, FlowDescriptor, HelloMessage, IntegrityChallenge, IntegrityResponse, Message,
    Packet, Path, PathErr, PathTear, Resv, ResvConf, ResvErr, ResvTear, SenderDescriptor, Srefresh, Unknown,
};
use super::record_route::{self, RroSubobject};
use super::{
    adspec, attribute, basic, diffserv, hello, integrity, intserv, label, message_id, sender, session, style,
};
use std::net::IpAddr;

/// Everything that a message may hold, as it turns up.
#[derive(Default)]
struct Fields {
    common: Common,
    session: Option<session::Session>,
    hop: Option<basic::RsvpHop>,
    time_values: Option<basic::TimeValues>,
    error_spec: Option<basic::ErrorSpec>,
    resv_confirm: Option<IpAddr>,
    scope: Option<basic::Scope>,
    policy_data: Vec<Vec<u8>>,
    style: Option<style::Style>,
    descriptors: Descriptors,
    ero: Option<Vec<explicit_route::EroHop>>,
    label_request: Option<label::LabelRequest>,
    session_attribute: Option<attribute::SessionAttribute>,
    diffserv: Option<diffserv::DiffServ>,
    sender_template: Option<sender::SenderTemplate>,
    sender_tspec: Option<intserv::SenderTspec>,
    adspec: Option<adspec::Adspec>,
    rro: Option<Vec<RroSubobject>>,
    hello: Option<hello::Hello>,
    lists: Vec<message_id::MessageIdList>,
    challenge: Option<integrity::Challenge>,
    length: usize,
}

impl Packet {
    /// Reads a message and checks its checksum; bytes beyond its length are left alone.
    ///
    /// A Bundle is read with all that is in it, and refused if one message of it is bad: [`super::messages`] does
    /// better.
    pub fn parse(bytes: &[u8]) -> Result<Packet, Error> {
        let (flags, send_ttl, message) = Packet::parse_boxed(bytes)?;
        Ok(Packet { flags, send_ttl, message: *message })
    }

    /// The same as flags, Send_TTL and message. A message is long: in a box it is not moved again.
    pub fn parse_boxed(bytes: &[u8]) -> Result<(u8, u8, Box<Message>), Error> {
        let header = Header::parse(bytes)?;
        let bytes = header.message(bytes);
        header.check(bytes)?;
        let message = match MessageType::of(header.message_type) {
            None => return Err(Error::of_message(1, Reason::MessageType(header.message_type))),
            Some(MessageType::Bundle) => Box::new(Message::Bundle(Bundle::parse(bytes)?)),
            Some(kind) => parse_objects(kind, bytes)?,
        };
        Ok((header.flags, header.send_ttl, message))
    }
}

#[inline]
fn parse_objects(kind: MessageType, bytes: &[u8]) -> Result<Box<Message>, Error> {
    let mut fields = Fields { length: bytes.len(), ..Fields::default() };
    for (position, object) in Objects::of(bytes).enumerate() {
        let object = object?;
        let taken = fields.take(&object, kind);
        let known = match taken {
            Ok(known) => known,
            Err(fault) if fault.reason == Reason::UnknownCType => false,
            Err(fault) => {
                let offset = if fault.reason == Reason::Duplicate { 0 } else { 4 + fault.at };
                return Err(Error {
                    offset: object.offset + offset,
                    object: Some((object.class, object.c_type)),
                    reason: fault.reason,
                });
            }
        };
        if !known {
            fields.common.unknown.push(Unknown {
                class: object.class,
                c_type: object.c_type,
                position: u16::try_from(position).unwrap_or(Unknown::LAST),
                data: object.body.to_vec(),
            });
        }
    }
    fields.into_message(kind)
}

/// Sets a field that a message may have once.
#[inline]
fn once<T>(field: &mut Option<T>, value: T) -> Result<(), Fault> {
    if field.is_some() {
        return Err(Fault { at: 0, reason: Reason::Duplicate });
    }
    *field = Some(value);
    Ok(())
}

impl Fields {
    /// Takes an object; `false` if its class is not one of those below.
    #[inline]
    fn take(&mut self, object: &ObjectView<'_>, kind: MessageType) -> Result<bool, Fault> {
        let &ObjectView { class, c_type, body, .. } = object;
        match class {
            class::SESSION => once(&mut self.session, session::Session::parse(c_type, body)?)?,
            class::RSVP_HOP => once(&mut self.hop, basic::RsvpHop::parse(c_type, body)?)?,
            class::TIME_VALUES => once(&mut self.time_values, basic::TimeValues::parse(c_type, body)?)?,
            class::ERROR_SPEC => once(&mut self.error_spec, basic::ErrorSpec::parse(c_type, body)?)?,
            class::RESV_CONFIRM => {
                once(&mut self.resv_confirm, basic::parse_resv_confirm(c_type, body)?)?;
            }
            class::SCOPE => once(&mut self.scope, basic::Scope::parse(c_type, body)?)?,
            class::STYLE => once(&mut self.style, style::Style::parse(c_type, body)?)?,
            class::INTEGRITY => {
                once(&mut self.common.integrity, integrity::Integrity::parse(c_type, body)?)?;
            }
            class::MESSAGE_ID => {
                once(&mut self.common.message_id, message_id::MessageId::parse(c_type, body)?)?;
            }
            class::MESSAGE_ID_ACK => {
                self.common.acks.push(message_id::MessageIdAck::parse(c_type, body)?);
            }
            class::MESSAGE_ID_LIST => self.lists.push(message_id::MessageIdList::parse(c_type, body)?),
            class::POLICY_DATA if c_type == 1 => self.policy_data.push(body.to_vec()),
            class::SENDER_TEMPLATE => {
                once(&mut self.sender_template, sender::SenderTemplate::parse(c_type, body)?)?;
            }
            class::SENDER_TSPEC => {
                once(&mut self.sender_tspec, intserv::SenderTspec::parse(c_type, body)?)?;
            }
            class::ADSPEC => once(&mut self.adspec, adspec::Adspec::parse(c_type, body)?)?,
            class::LABEL_REQUEST => {
                let value = label::LabelRequest::parse(c_type, body)?;
                self.label_request.get_or_insert(value);
            }
            class::EXPLICIT_ROUTE if c_type == 1 => {
                // RFC 3209, 4.3.2: only the first is meaningful.
                if self.ero.is_none() {
                    self.ero = Some(explicit_route::parse(body)?);
                }
            }
            class::SESSION_ATTRIBUTE => {
                let value = attribute::SessionAttribute::parse(c_type, body)?;
                self.session_attribute.get_or_insert(value);
            }
            class::DIFFSERV if kind == MessageType::Path => {
                // RFC 3270, 5.3: only the first is meaningful, be it one that can't be read. Such a one is as good as
                // unknown: a node that does not support DiffServ does not read it at all.
                let unread = |object: &Unknown| object.class == class::DIFFSERV;
                if self.diffserv.is_none() && !self.common.unknown.iter().any(unread) {
                    match diffserv::DiffServ::parse(c_type, body) {
                        Ok(object) => self.diffserv = Some(object),
                        Err(_) => return Ok(false),
                    }
                }
            }
            class::RECORD_ROUTE if c_type == 1 => {
                if let Some(route) = self.descriptors.record_route(record_route::parse(body)?) {
                    self.rro.get_or_insert(route);
                }
            }
            class::FLOWSPEC if kind == MessageType::ResvTear => {}
            class::FLOWSPEC => self.descriptors.flowspec(intserv::Flowspec::parse(c_type, body)?),
            class::FILTER_SPEC => {
                self.descriptors.filter_spec(sender::SenderTemplate::parse(c_type, body)?);
            }
            class::LABEL => self.descriptors.label(label::parse_word(c_type, body)?),
            class::HELLO => once(&mut self.hello, hello::Hello::parse(c_type, body)?)?,
            class::CHALLENGE => once(&mut self.challenge, integrity::Challenge::parse(c_type, body)?)?,
            class::NULL => {} // RFC 2205, A: ignored wherever it appears.
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An object that the message needs. If it came with an unknown C-Type, that is the trouble.
    #[inline]
    fn need<T>(&self, field: Option<T>, class: u8) -> Result<T, Error> {
        field.ok_or_else(|| self.missing(class))
    }

    #[cold]
    fn missing(&self, class: u8) -> Error {
        match self.common.unknown.iter().find(|unknown| unknown.class == class) {
            Some(unknown) => Error {
                offset: self.length,
                object: Some((class, unknown.c_type)),
                reason: Reason::UnknownCType,
            },
            None => Error::missing(class, self.length),
        }
    }

    fn sender(&mut self) -> Option<SenderDescriptor> {
        Some(SenderDescriptor {
            sender_template: self.sender_template?,
            sender_tspec: self.sender_tspec,
            adspec: self.adspec.take(),
            rro: self.rro.take(),
        })
    }

    #[inline(always)]
    fn into_message(mut self, kind: MessageType) -> Result<Box<Message>, Error> {
        let length = self.length;
        Ok(Box::new(match kind {
            MessageType::Path => Message::Path(Path {
                session: self.need(self.session, class::SESSION)?,
                hop: self.need(self.hop, class::RSVP_HOP)?,
                time_values: self.need(self.time_values, class::TIME_VALUES)?,
                sender_template: self.need(self.sender_template, class::SENDER_TEMPLATE)?,
                sender_tspec: self.need(self.sender_tspec, class::SENDER_TSPEC)?,
                label_request: self.label_request,
                common: self.common,
                ero: self.ero,
                session_attribute: self.session_attribute,
                diffserv: self.diffserv,
                policy_data: self.policy_data,
                adspec: self.adspec,
                rro: self.rro,
            }),
            MessageType::Resv => {
                let style = self.need(self.style, class::STYLE)?;
                Message::Resv(Resv {
                    session: self.need(self.session, class::SESSION)?,
                    hop: self.need(self.hop, class::RSVP_HOP)?,
                    time_values: self.need(self.time_values, class::TIME_VALUES)?,
                    flow_descriptors: self.flow_descriptors(style)?,
                    common: self.common,
                    resv_confirm: self.resv_confirm,
                    scope: self.scope,
                    policy_data: self.policy_data,
                    style,
                })
            }
            MessageType::PathErr => Message::PathErr(PathErr {
                session: self.need(self.session, class::SESSION)?,
                error_spec: self.need(self.error_spec, class::ERROR_SPEC)?,
                sender: self.sender(),
                common: self.common,
                policy_data: self.policy_data,
                ero: self.ero,
            }),
            MessageType::ResvErr => {
                let style = self.need(self.style, class::STYLE)?;
                let mut descriptors = self.descriptors_or_none(style)?;
                if descriptors.len() > 1 {
                    let reason = Reason::Invalid("more than one flow descriptor is in error");
                    return Err(Error { offset: length, object: Some((class::FLOWSPEC, 0)), reason });
                }
                Message::ResvErr(ResvErr {
                    session: self.need(self.session, class::SESSION)?,
                    hop: self.need(self.hop, class::RSVP_HOP)?,
                    error_spec: self.need(self.error_spec, class::ERROR_SPEC)?,
                    flow_descriptor: descriptors.pop(),
                    common: self.common,
                    scope: self.scope,
                    policy_data: self.policy_data,
                    style,
                })
            }
            MessageType::PathTear => Message::PathTear(PathTear {
                session: self.need(self.session, class::SESSION)?,
                hop: self.need(self.hop, class::RSVP_HOP)?,
                sender: self.sender(),
                common: self.common,
            }),
            MessageType::ResvTear => Message::ResvTear(ResvTear {
                session: self.need(self.session, class::SESSION)?,
                hop: self.need(self.hop, class::RSVP_HOP)?,
                style: self.need(self.style, class::STYLE)?,
                filters: std::mem::take(&mut self.descriptors).filters(),
                common: self.common,
                scope: self.scope,
            }),
            MessageType::ResvConf => {
                let style = self.need(self.style, class::STYLE)?;
                Message::ResvConf(ResvConf {
                    session: self.need(self.session, class::SESSION)?,
                    error_spec: self.need(self.error_spec, class::ERROR_SPEC)?,
                    resv_confirm: self.need(self.resv_confirm, class::RESV_CONFIRM)?,
                    flow_descriptors: self.flow_descriptors(style)?,
                    common: self.common,
                    style,
                })
            }
            MessageType::Ack => {
                if self.common.acks.is_empty() {
                    return Err(self.missing(class::MESSAGE_ID_ACK));
                }
                Message::Ack(Ack { common: self.common })
            }
            MessageType::Srefresh => {
                if self.lists.is_empty() {
                    return Err(self.missing(class::MESSAGE_ID_LIST));
                }
                Message::Srefresh(Srefresh { common: self.common, lists: self.lists })
            }
            MessageType::Hello => Message::Hello(HelloMessage {
                hello: self.need(self.hello, class::HELLO)?,
                common: self.common,
            }),
            MessageType::IntegrityChallenge => {
                let challenge = self.challenge.take();
                Message::IntegrityChallenge(IntegrityChallenge {
                    challenge: self.need(challenge, class::CHALLENGE)?,
                    common: self.common,
                })
            }
            MessageType::IntegrityResponse => {
                let challenge = self.challenge.take();
                let challenge = self.need(challenge, class::CHALLENGE)?;
                self.need(self.common.integrity, class::INTEGRITY)?;
                Message::IntegrityResponse(IntegrityResponse { challenge, common: self.common })
            }
            // Read elsewhere: it has no objects.
            MessageType::Bundle => Message::Bundle(Bundle { packets: Vec::new() }),
        }))
    }

    fn flow_descriptors(&mut self, style: style::Style) -> Result<Vec<FlowDescriptor>, Error> {
        let descriptors = self.descriptors_or_none(style)?;
        if descriptors.is_empty() { Err(self.missing(class::FLOWSPEC)) } else { Ok(descriptors) }
    }

    fn descriptors_or_none(&mut self, style: style::Style) -> Result<Vec<FlowDescriptor>, Error> {
        std::mem::take(&mut self.descriptors).finish(style).map_err(|(class, reason)| match reason {
            Reason::Missing => self.missing(class),
            reason => Error { offset: self.length, object: Some((class, 0)), reason },
        })
    }
}
