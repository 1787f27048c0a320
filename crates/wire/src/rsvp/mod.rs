//! RSVP and RSVP-TE messages (RFC 2205, 2210, 2747, 2961, 3209, 3270, 3473, 3477, 4090, 4875).
//!
//! Two views of the same bytes:
//!
//! - [`Packet`] and [`Message`]: typed structs for state machines. One pass over the bytes, objects accepted in any
//!   order that RFC 2205 tolerates, required objects checked, and emitted in the recommended order.
//! - [`RawMessage`]: every object in its original place, for people. Encoding a decoded message gives the same
//!   bytes, whatever they were, and it serialises to readable JSON.
//!
//! No function here panics on any input, and none allocates more than a small multiple of the bytes it is given.

pub mod adspec;
pub mod attribute;
pub mod basic;
pub mod bundle;
mod carried;
pub mod class;
pub mod common;
pub mod diffserv;
pub mod error_code;
pub mod explicit_route;
pub mod hello;
pub mod integrity;
pub mod intserv;
pub mod label;
pub mod message;
pub mod message_id;
pub mod p2mp;
pub mod protection;
pub mod record_route;
pub mod sender;
pub mod session;
pub mod style;
pub mod sub_lsp;
mod text;

mod descriptors;
mod emit;
pub mod error;
mod field;
pub mod header;
pub mod object;
mod parse;
pub mod raw;
pub mod reply;
mod summary;

pub use adspec::{Adspec, AdspecFragment, ControlledLoadFragment, General, GuaranteedFragment, Overrides};
pub use attribute::{Affinities, SessionAttribute};
pub use basic::{ErrorSpec, RsvpHop, Scope, TimeValues};
pub use bundle::{SubMessages, emit_bundle, messages};
pub use carried::{AdminStatus, AttributeTlv, ClassType};
pub use class::{MessageType, UnknownAction, unknown_action};
pub use diffserv::{DiffServ, MapEntry, PhbId};
pub use error::{Error, Reason};
pub use explicit_route::{EroHop, EroSubobject};
pub use header::{Header, ObjectView, Objects};
pub use hello::Hello;
pub use integrity::{Challenge, Integrity, KeyId};
pub use intserv::{Flowspec, SenderTspec, TokenBucket};
pub use label::LabelRequest;
pub use message::{
    Ack, Bundle, Common, Filter, FlowDescriptor, HelloMessage, IntegrityChallenge, IntegrityResponse,
    Message, Packet, Path, PathErr, PathTear, Resv, ResvConf, ResvErr, ResvTear, SenderDescriptor, Srefresh,
    Unknown,
};
pub use message_id::{MessageId, MessageIdAck, MessageIdList};
pub use object::{Object, Opaque};
pub use p2mp::S2lSubLsp;
pub use protection::{Detour, FastReroute};
pub use raw::{RawBody, RawMessage, RawType};
pub use record_route::RroSubobject;
pub use reply::Reply;
pub use sender::{FilterSpec, SenderTemplate};
pub use session::Session;
pub use style::Style;
pub use sub_lsp::SubLsp;

#[cfg(test)]
mod tests;
