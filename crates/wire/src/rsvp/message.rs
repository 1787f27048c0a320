//! Typed messages: what state machines read and write.
//!
//! Every message holds a [`Common`]: the objects that any message may carry. All other fields bear the RFC's names.
//! [`Packet`] adds the two fields of the common header that a sender chooses.

use super::adspec::Adspec;
use super::attribute::SessionAttribute;
use super::basic::{ErrorSpec, RsvpHop, Scope, TimeValues};
use super::class::MessageType;
pub use super::common::{Common, Unknown};
use super::diffserv::DiffServ;
use super::explicit_route::EroHop;
use super::hello::Hello;
use super::integrity::Challenge;
use super::intserv::{Flowspec, SenderTspec};
use super::label::LabelRequest;
use super::message_id::MessageIdList;
use super::record_route::RroSubobject;
use super::sender::{FilterSpec, SenderTemplate};
use super::session::Session;
use super::style::Style;
use base::Label;
use std::net::IpAddr;

/// A message and what its sender put in the common header beside it.
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// | Vers | Flags|  Msg Type   |       RSVP Checksum       |
/// +-------------+-------------+-------------+-------------+
/// |  Send_TTL   | (Reserved)  |        RSVP Length        |
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Four bits; the one defined is [`Packet::REFRESH_REDUCTION_CAPABLE`].
    pub flags: u8,
    /// The IP TTL with which the message was sent.
    pub send_ttl: u8,
    /// The message behind the common header.
    pub message: Message,
}

impl Packet {
    /// The sender takes the messages and objects of RFC 2961 (RFC 2961, 2).
    pub const REFRESH_REDUCTION_CAPABLE: u8 = 0x01;

    /// A message with no flags.
    pub const fn new(send_ttl: u8, message: Message) -> Packet {
        Packet { flags: 0, send_ttl, message }
    }
}

/// Any message.
///
/// The variants differ in size; they are handed on by reference and taken apart at once, so none is boxed.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Announces a sender: type 1.
    Path(Path),
    /// Reserves: type 2.
    Resv(Resv),
    /// Reports an error to a sender: type 3.
    PathErr(PathErr),
    /// Reports an error to receivers: type 4.
    ResvErr(ResvErr),
    /// Deletes path state: type 5.
    PathTear(PathTear),
    /// Deletes reservations: type 6.
    ResvTear(ResvTear),
    /// Confirms a reservation: type 7.
    ResvConf(ResvConf),
    /// Several messages to one neighbour: type 12.
    Bundle(Bundle),
    /// Acknowledgements alone: type 13.
    Ack(Ack),
    /// Refreshes by identifiers: type 15.
    Srefresh(Srefresh),
    /// Sign of life of a neighbour: type 20.
    Hello(HelloMessage),
    /// Asks a neighbour to show its sequence number: type 25.
    IntegrityChallenge(IntegrityChallenge),
    /// Answers a challenge: type 26.
    IntegrityResponse(IntegrityResponse),
}

/// Path (RFC 2205, 3.1.3; RFC 3209, 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION: the flow or tunnel that the Path is for.
    pub session: Session,
    /// RSVP_HOP: the previous hop.
    pub hop: RsvpHop,
    /// TIME_VALUES: how often the sender refreshes it.
    pub time_values: TimeValues,
    /// EXPLICIT_ROUTE: hops still to go; absent if each router routes by itself.
    pub ero: Option<Vec<EroHop>>,
    /// LABEL_REQUEST; always there for an LSP tunnel.
    pub label_request: Option<LabelRequest>,
    /// SESSION_ATTRIBUTE: priorities, flags and name; absent in sessions that are no tunnel.
    pub session_attribute: Option<SessionAttribute>,
    /// DIFFSERV (RFC 3270, 5.1.1). One that can't be read is among the unknown objects.
    pub diffserv: Option<DiffServ>,
    /// POLICY_DATA, contents as they came.
    pub policy_data: Vec<Vec<u8>>,
    /// SENDER_TEMPLATE: the sender, for an LSP tunnel with its LSP id.
    pub sender_template: SenderTemplate,
    /// SENDER_TSPEC: the traffic that the sender announces.
    pub sender_tspec: SenderTspec,
    /// ADSPEC: what routers on the way can do; absent if the sender does not ask.
    pub adspec: Option<Adspec>,
    /// RECORD_ROUTE: hops so far; absent if none are recorded.
    pub rro: Option<Vec<RroSubobject>>,
}

/// Resv (RFC 2205, 3.1.4; RFC 3209, 3.2).
///
/// FF has one [`FlowDescriptor`] for each sender, with one filter each; SE has one with all filters; WF has one
/// without filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resv {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION: the flow or tunnel whose Path it answers.
    pub session: Session,
    /// RSVP_HOP: the next hop.
    pub hop: RsvpHop,
    /// TIME_VALUES: how often the sender of the Resv refreshes it.
    pub time_values: TimeValues,
    /// RESV_CONFIRM: the receiver that asks for a ResvConf.
    pub resv_confirm: Option<IpAddr>,
    /// SCOPE: senders that a WF reservation goes to; absent in other styles.
    pub scope: Option<Scope>,
    /// POLICY_DATA, contents as they came.
    pub policy_data: Vec<Vec<u8>>,
    /// STYLE: fixed filter (FF), shared explicit (SE) or wildcard filter (WF).
    pub style: Style,
    /// One or more, by the rules of the style.
    pub flow_descriptors: Vec<FlowDescriptor>,
}

/// A FLOWSPEC and the senders it is for.
///
/// An FF descriptor without a FLOWSPEC takes that of the descriptor before it (RFC 2205, 3.1.4); a parsed one has it
/// filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDescriptor {
    /// FLOWSPEC: the service and bandwidth asked for.
    pub flowspec: Flowspec,
    /// One for FF, one or more for SE, none for WF.
    pub filters: Vec<Filter>,
}

/// One sender of a [`FlowDescriptor`] and its label (RFC 3209, 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// FILTER_SPEC: the sender, for an LSP tunnel with its LSP id.
    pub filter_spec: FilterSpec,
    /// LABEL of an LSP tunnel; absent if there is none, or one of more than 20 bits.
    pub label: Option<Label>,
    /// RECORD_ROUTE: hops so far; absent if none are recorded.
    pub rro: Option<Vec<RroSubobject>>,
}

/// The sender of a PathErr or PathTear (RFC 2205, 3.1.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderDescriptor {
    /// SENDER_TEMPLATE of the Path that the message is about.
    pub sender_template: SenderTemplate,
    /// SENDER_TSPEC of that Path; may be left out.
    pub sender_tspec: Option<SenderTspec>,
    /// ADSPEC of that Path; may be left out.
    pub adspec: Option<Adspec>,
    /// RECORD_ROUTE of that Path; may be left out.
    pub rro: Option<Vec<RroSubobject>>,
}

impl SenderDescriptor {
    /// A descriptor of nothing but a SENDER_TEMPLATE, which identifies the sender.
    pub const fn of(sender_template: SenderTemplate) -> SenderDescriptor {
        SenderDescriptor { sender_template, sender_tspec: None, adspec: None, rro: None }
    }
}

/// Reports an error of a Path, hop by hop to its sender (RFC 2205, 3.1.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathErr {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION of the Path in error.
    pub session: Session,
    /// ERROR_SPEC: the error, and the node that found it.
    pub error_spec: ErrorSpec,
    /// POLICY_DATA, contents as they came.
    pub policy_data: Vec<Vec<u8>>,
    /// The grammar lets it be absent; a PathErr without it belongs to no path state.
    pub sender: Option<SenderDescriptor>,
    /// EXPLICIT_ROUTE of the Path, from the subobject at fault on; only if it is one that a node did not know
    /// (RFC 3209, 4.3.6).
    pub ero: Option<Vec<EroHop>>,
}

/// Reports an error of a Resv, hop by hop to its receivers (RFC 2205, 3.1.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResvErr {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION of the Resv in error.
    pub session: Session,
    /// RSVP_HOP: the previous hop.
    pub hop: RsvpHop,
    /// ERROR_SPEC: the error, and the node that found it.
    pub error_spec: ErrorSpec,
    /// SCOPE, of a WF reservation only.
    pub scope: Option<Scope>,
    /// POLICY_DATA, contents as they came.
    pub policy_data: Vec<Vec<u8>>,
    /// STYLE of the Resv in error.
    pub style: Style,
    /// The flow descriptor in error; the grammar lets it be absent.
    pub flow_descriptor: Option<FlowDescriptor>,
}

/// Deletes path state, hop by hop towards the receiver (RFC 2205, 3.1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTear {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION whose path state goes.
    pub session: Session,
    /// RSVP_HOP: the previous hop.
    pub hop: RsvpHop,
    /// The grammar lets it be absent; a PathTear without it matches no path state.
    pub sender: Option<SenderDescriptor>,
}

/// ResvTear (RFC 2205, 3.1.6). Its FLOWSPECs are ignored and not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResvTear {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION whose reservation goes.
    pub session: Session,
    /// RSVP_HOP: the next hop.
    pub hop: RsvpHop,
    /// SCOPE, of a WF reservation only.
    pub scope: Option<Scope>,
    /// STYLE of the reservation that goes.
    pub style: Style,
    /// FILTER_SPECs; none for WF.
    pub filters: Vec<FilterSpec>,
}

/// Confirms a reservation to the receiver that asked (RFC 2205, 3.1.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResvConf {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// SESSION of the reservation that is confirmed.
    pub session: Session,
    /// ERROR_SPEC, with error code 0 (confirmation).
    pub error_spec: ErrorSpec,
    /// RESV_CONFIRM: the receiver that asked.
    pub resv_confirm: IpAddr,
    /// STYLE of that reservation.
    pub style: Style,
    /// What has been reserved, for the senders of the reservation.
    pub flow_descriptors: Vec<FlowDescriptor>,
}

/// A Hello between neighbours, never forwarded (RFC 3209, 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloMessage {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// HELLO: a request or an answer.
    pub hello: Hello,
}

/// Bundle (RFC 2961, 3): whole messages in one. It has no objects of its own, and no bundles in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// One or more messages, each with a header of its own.
    pub packets: Vec<Packet>,
}

/// Ack (RFC 2961, 4.4): at least one of [`Common::acks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The acknowledgements, and INTEGRITY.
    pub common: Common,
}

/// Refreshes states by the identifiers of their messages (RFC 2961, 5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Srefresh {
    /// INTEGRITY, MESSAGE_ID and so on.
    pub common: Common,
    /// One or more lists of identifiers.
    pub lists: Vec<MessageIdList>,
}

/// Integrity Challenge (RFC 2747, 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrityChallenge {
    /// Unknown objects only: a challenge is not signed.
    pub common: Common,
    /// CHALLENGE: the number that the response has to return.
    pub challenge: Challenge,
}

/// Integrity Response (RFC 2747, 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrityResponse {
    /// INTEGRITY: a response is always signed.
    pub common: Common,
    /// CHALLENGE, as it came.
    pub challenge: Challenge,
}

impl Message {
    /// The type that the message has on the wire.
    pub const fn message_type(&self) -> MessageType {
        match self {
            Message::Path(_) => MessageType::Path,
            Message::Resv(_) => MessageType::Resv,
            Message::PathErr(_) => MessageType::PathErr,
            Message::ResvErr(_) => MessageType::ResvErr,
            Message::PathTear(_) => MessageType::PathTear,
            Message::ResvTear(_) => MessageType::ResvTear,
            Message::ResvConf(_) => MessageType::ResvConf,
            Message::Bundle(_) => MessageType::Bundle,
            Message::Ack(_) => MessageType::Ack,
            Message::Srefresh(_) => MessageType::Srefresh,
            Message::Hello(_) => MessageType::Hello,
            Message::IntegrityChallenge(_) => MessageType::IntegrityChallenge,
            Message::IntegrityResponse(_) => MessageType::IntegrityResponse,
        }
    }

    /// The objects that any message may carry; a Bundle has none.
    pub const fn common(&self) -> Option<&Common> {
        Some(match self {
            Message::Path(m) => &m.common,
            Message::Resv(m) => &m.common,
            Message::PathErr(m) => &m.common,
            Message::ResvErr(m) => &m.common,
            Message::PathTear(m) => &m.common,
            Message::ResvTear(m) => &m.common,
            Message::ResvConf(m) => &m.common,
            Message::Ack(m) => &m.common,
            Message::Srefresh(m) => &m.common,
            Message::Hello(m) => &m.common,
            Message::IntegrityChallenge(m) => &m.common,
            Message::IntegrityResponse(m) => &m.common,
            Message::Bundle(_) => return None,
        })
    }

    /// As [`Message::common`], to be changed.
    pub const fn common_mut(&mut self) -> Option<&mut Common> {
        Some(match self {
            Message::Path(m) => &mut m.common,
            Message::Resv(m) => &mut m.common,
            Message::PathErr(m) => &mut m.common,
            Message::ResvErr(m) => &mut m.common,
            Message::PathTear(m) => &mut m.common,
            Message::ResvTear(m) => &mut m.common,
            Message::ResvConf(m) => &mut m.common,
            Message::Ack(m) => &mut m.common,
            Message::Srefresh(m) => &mut m.common,
            Message::Hello(m) => &mut m.common,
            Message::IntegrityChallenge(m) => &mut m.common,
            Message::IntegrityResponse(m) => &mut m.common,
            Message::Bundle(_) => return None,
        })
    }

    /// What the message is about, if it belongs to a session.
    pub const fn session(&self) -> Option<&Session> {
        match self {
            Message::Path(m) => Some(&m.session),
            Message::Resv(m) => Some(&m.session),
            Message::PathErr(m) => Some(&m.session),
            Message::ResvErr(m) => Some(&m.session),
            Message::PathTear(m) => Some(&m.session),
            Message::ResvTear(m) => Some(&m.session),
            Message::ResvConf(m) => Some(&m.session),
            _ => None,
        }
    }
}
