//! Any object, with its contents read where they can be: what [`super::RawMessage`] is made of.

use super::adspec::Adspec;
use super::attribute::SessionAttribute;
use super::basic::{self, ErrorSpec, RsvpHop, Scope, TimeValues};
use super::carried::{self, AdminStatus, AttributeTlv, ClassType};
use super::class;
use super::diffserv::DiffServ;
use super::error::{Fault, Reason};
use super::explicit_route::{self, EroHop};
use super::field::Put;
use super::hello::Hello;
use super::integrity::{Challenge, Integrity};
use super::intserv::{Flowspec, SenderTspec};
use super::label::{self, LabelRequest};
use super::message_id::{MessageId, MessageIdAck, MessageIdList};
use super::p2mp::S2lSubLsp;
use super::protection::{Detour, FastReroute};
use super::record_route::{self, RroSubobject};
use super::sender::{FilterSpec, SenderTemplate};
use super::session::Session;
use super::style::Style;
use super::text;
use base::Label;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// One object. In JSON it is `{"NAME": contents}` with the RFC's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each variant is the object of that name; its type is documented")]
pub enum Object {
    #[serde(rename = "SESSION")]
    Session(Session),
    #[serde(rename = "RSVP_HOP")]
    RsvpHop(RsvpHop),
    #[serde(rename = "INTEGRITY")]
    Integrity(Integrity),
    #[serde(rename = "TIME_VALUES")]
    TimeValues(TimeValues),
    #[serde(rename = "ERROR_SPEC")]
    ErrorSpec(ErrorSpec),
    #[serde(rename = "SCOPE")]
    Scope(Scope),
    #[serde(rename = "STYLE")]
    Style(Style),
    #[serde(rename = "FLOWSPEC")]
    Flowspec(Flowspec),
    #[serde(rename = "FILTER_SPEC")]
    FilterSpec(FilterSpec),
    #[serde(rename = "SENDER_TEMPLATE")]
    SenderTemplate(SenderTemplate),
    #[serde(rename = "SENDER_TSPEC")]
    SenderTspec(SenderTspec),
    #[serde(rename = "ADSPEC")]
    Adspec(Box<Adspec>),
    #[serde(rename = "POLICY_DATA", with = "text::hex")]
    PolicyData(Vec<u8>),
    #[serde(rename = "RESV_CONFIRM")]
    ResvConfirm(IpAddr),
    #[serde(rename = "LABEL")]
    Label(Label),
    #[serde(rename = "LABEL_REQUEST")]
    LabelRequest(LabelRequest),
    #[serde(rename = "EXPLICIT_ROUTE")]
    ExplicitRoute(Vec<EroHop>),
    #[serde(rename = "RECORD_ROUTE")]
    RecordRoute(Vec<RroSubobject>),
    #[serde(rename = "HELLO")]
    Hello(Hello),
    #[serde(rename = "MESSAGE_ID")]
    MessageId(MessageId),
    #[serde(rename = "MESSAGE_ID_ACK")]
    MessageIdAck(MessageIdAck),
    #[serde(rename = "MESSAGE_ID_LIST")]
    MessageIdList(MessageIdList),
    #[serde(rename = "S2L_SUB_LSP")]
    S2lSubLsp(S2lSubLsp),
    #[serde(rename = "DETOUR")]
    Detour(Detour),
    #[serde(rename = "CHALLENGE")]
    Challenge(Challenge),
    #[serde(rename = "DIFFSERV")]
    DiffServ(DiffServ),
    #[serde(rename = "CLASSTYPE")]
    ClassType(ClassType),
    #[serde(rename = "LSP_REQUIRED_ATTRIBUTES")]
    LspRequiredAttributes(Vec<AttributeTlv>),
    #[serde(rename = "NOTIFY_REQUEST")]
    NotifyRequest(IpAddr),
    #[serde(rename = "ADMIN_STATUS")]
    AdminStatus(AdminStatus),
    #[serde(rename = "LSP_ATTRIBUTES")]
    LspAttributes(Vec<AttributeTlv>),
    #[serde(rename = "P2MP_SECONDARY_EXPLICIT_ROUTE")]
    SecondaryExplicitRoute(Vec<EroHop>),
    #[serde(rename = "P2MP_SECONDARY_RECORD_ROUTE")]
    SecondaryRecordRoute(Vec<RroSubobject>),
    #[serde(rename = "FAST_REROUTE")]
    FastReroute(FastReroute),
    #[serde(rename = "SESSION_ATTRIBUTE")]
    SessionAttribute(SessionAttribute),
    /// Contents as they came; `bytes` alone are what is written.
    #[serde(rename = "OPAQUE")]
    Opaque(Opaque),
}

/// An object that cannot be read, or whose bytes reading would not give back (reserved fields that are not zero).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Class-Num, known or not.
    pub class: u8,
    /// C-Type: the format within the class.
    pub c_type: u8,
    /// What follows the object's header of four bytes: a multiple of four.
    #[serde(with = "text::hex")]
    pub bytes: Vec<u8>,
    /// Why the contents cannot be read, if the class is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// What a receiver reads in it, if it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_as: Option<Box<Object>>,
}

impl Object {
    /// Reads the contents of an object; never fails, since what cannot be read is [`Object::Opaque`].
    pub fn decode(class: u8, c_type: u8, body: &[u8]) -> Object {
        let (fault, reads_as) = match Object::read(class, c_type, body) {
            Ok(Some(object)) => {
                let mut again = Vec::with_capacity(body.len() + 4);
                if object.emit(&mut again).is_ok() && again.get(4..) == Some(body) {
                    return object;
                }
                (None, Some(Box::new(object)))
            }
            Ok(None) => (None, None),
            Err(fault) => (Some(format!("{} (at byte {} of the contents)", fault.reason, fault.at)), None),
        };
        Object::Opaque(Opaque { class, c_type, bytes: body.to_vec(), fault, reads_as })
    }

    /// `None` if the class is not known.
    pub(crate) fn read(class: u8, c_type: u8, body: &[u8]) -> Result<Option<Object>, Fault> {
        let only = |known: u8| if c_type == known { Ok(()) } else { Err(Fault::UNKNOWN_C_TYPE) };
        Ok(Some(match class {
            class::SESSION => Object::Session(Session::parse(c_type, body)?),
            class::RSVP_HOP => Object::RsvpHop(RsvpHop::parse(c_type, body)?),
            class::INTEGRITY => Object::Integrity(Integrity::parse(c_type, body)?),
            class::TIME_VALUES => Object::TimeValues(TimeValues::parse(c_type, body)?),
            class::ERROR_SPEC => Object::ErrorSpec(ErrorSpec::parse(c_type, body)?),
            class::SCOPE => Object::Scope(Scope::parse(c_type, body)?),
            class::STYLE => Object::Style(Style::parse(c_type, body)?),
            class::FLOWSPEC => Object::Flowspec(Flowspec::parse(c_type, body)?),
            class::FILTER_SPEC => Object::FilterSpec(SenderTemplate::parse(c_type, body)?),
            class::SENDER_TEMPLATE => Object::SenderTemplate(SenderTemplate::parse(c_type, body)?),
            class::SENDER_TSPEC => Object::SenderTspec(SenderTspec::parse(c_type, body)?),
            class::ADSPEC => Object::Adspec(Box::new(Adspec::parse(c_type, body)?)),
            class::POLICY_DATA => {
                only(1)?;
                Object::PolicyData(body.to_vec())
            }
            class::RESV_CONFIRM => Object::ResvConfirm(basic::parse_resv_confirm(c_type, body)?),
            class::LABEL => Object::Label(label::parse_label(c_type, body)?),
            class::LABEL_REQUEST => Object::LabelRequest(LabelRequest::parse(c_type, body)?),
            class::EXPLICIT_ROUTE => {
                only(1)?;
                Object::ExplicitRoute(explicit_route::parse(body)?)
            }
            class::RECORD_ROUTE => {
                only(1)?;
                Object::RecordRoute(record_route::parse(body)?)
            }
            class::HELLO => Object::Hello(Hello::parse(c_type, body)?),
            class::MESSAGE_ID => Object::MessageId(MessageId::parse(c_type, body)?),
            class::MESSAGE_ID_ACK => Object::MessageIdAck(MessageIdAck::parse(c_type, body)?),
            class::MESSAGE_ID_LIST => Object::MessageIdList(MessageIdList::parse(c_type, body)?),
            class::S2L_SUB_LSP => Object::S2lSubLsp(S2lSubLsp::parse(c_type, body)?),
            class::DETOUR => Object::Detour(Detour::parse(c_type, body)?),
            class::CHALLENGE => Object::Challenge(Challenge::parse(c_type, body)?),
            class::DIFFSERV => Object::DiffServ(DiffServ::parse(c_type, body)?),
            class::CLASSTYPE => Object::ClassType(ClassType::parse(c_type, body)?),
            class::LSP_REQUIRED_ATTRIBUTES => {
                Object::LspRequiredAttributes(carried::parse_attributes(c_type, body)?)
            }
            class::NOTIFY_REQUEST => Object::NotifyRequest(carried::parse_notify_request(c_type, body)?),
            class::ADMIN_STATUS => Object::AdminStatus(AdminStatus::parse(c_type, body)?),
            class::LSP_ATTRIBUTES => Object::LspAttributes(carried::parse_attributes(c_type, body)?),
            class::SECONDARY_EXPLICIT_ROUTE => {
                only(2)?;
                Object::SecondaryExplicitRoute(explicit_route::parse(body)?)
            }
            class::SECONDARY_RECORD_ROUTE => {
                only(2)?;
                Object::SecondaryRecordRoute(record_route::parse(body)?)
            }
            class::FAST_REROUTE => Object::FastReroute(FastReroute::parse(c_type, body)?),
            class::SESSION_ATTRIBUTE => Object::SessionAttribute(SessionAttribute::parse(c_type, body)?),
            _ => return Ok(None),
        }))
    }

    /// Writes the object, header included.
    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        match self {
            Object::Session(x) => x.emit(out),
            Object::RsvpHop(x) => x.emit(out),
            Object::Integrity(x) => x.emit(out),
            Object::TimeValues(x) => x.emit(out),
            Object::ErrorSpec(x) => x.emit(out),
            Object::Scope(x) => x.emit(out)?,
            Object::Style(x) => x.emit(out),
            Object::Flowspec(x) => x.emit(out),
            Object::FilterSpec(x) => x.emit(class::FILTER_SPEC, out),
            Object::SenderTemplate(x) => x.emit(class::SENDER_TEMPLATE, out),
            Object::SenderTspec(x) => x.emit(out),
            Object::Adspec(x) => x.emit(out)?,
            Object::PolicyData(x) => emit_opaque(class::POLICY_DATA, 1, x, out)?,
            Object::ResvConfirm(x) => basic::emit_resv_confirm(*x, out),
            Object::Label(x) => label::emit_label(*x, out),
            Object::LabelRequest(x) => x.emit(out),
            Object::ExplicitRoute(x) => explicit_route::emit(x, class::EXPLICIT_ROUTE, 1, out)?,
            Object::RecordRoute(x) => record_route::emit(x, class::RECORD_ROUTE, 1, out)?,
            Object::Hello(x) => x.emit(out),
            Object::MessageId(x) => x.emit(out),
            Object::MessageIdAck(x) => x.emit(out),
            Object::MessageIdList(x) => x.emit(out)?,
            Object::S2lSubLsp(x) => x.emit(out),
            Object::Detour(x) => x.emit(out)?,
            Object::Challenge(x) => x.emit(out)?,
            Object::DiffServ(x) => x.emit(out)?,
            Object::ClassType(x) => x.emit(out),
            Object::LspRequiredAttributes(x) => {
                carried::emit_attributes(x, class::LSP_REQUIRED_ATTRIBUTES, out)?;
            }
            Object::NotifyRequest(x) => carried::emit_notify_request(*x, out),
            Object::AdminStatus(x) => x.emit(out),
            Object::LspAttributes(x) => carried::emit_attributes(x, class::LSP_ATTRIBUTES, out)?,
            Object::SecondaryExplicitRoute(x) => {
                explicit_route::emit(x, class::SECONDARY_EXPLICIT_ROUTE, 2, out)?;
            }
            Object::SecondaryRecordRoute(x) => record_route::emit(x, class::SECONDARY_RECORD_ROUTE, 2, out)?,
            Object::FastReroute(x) => x.emit(out),
            Object::SessionAttribute(x) => x.emit(out)?,
            Object::Opaque(x) => {
                if !x.bytes.len().is_multiple_of(4) {
                    return Err(Fault { at: 0, reason: Reason::Invalid("contents are not whole words") });
                }
                emit_opaque(x.class, x.c_type, &x.bytes, out)?;
            }
        }
        Ok(())
    }
}

/// Writes an object whose contents are not understood, in whole words.
#[inline]
pub(crate) fn emit_opaque(class: u8, c_type: u8, data: &[u8], out: &mut impl Put) -> Result<(), Fault> {
    let at = out.begin(class, c_type);
    out.bytes(data);
    out.end(at)
}
