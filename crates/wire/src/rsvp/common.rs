//! What any message may carry: INTEGRITY, MESSAGE_ID and its acknowledgements, and objects that are not understood.

use super::class::{UnknownAction, in_typed_messages, unknown_action};
use super::error::Fault;
use super::error_code;
use super::integrity::Integrity;
use super::message_id::{MessageId, MessageIdAck};
use super::object::Object;

/// Objects that any message may carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// INTEGRITY: first in the message.
    pub integrity: Option<Integrity>,
    /// MESSAGE_ID_ACK and MESSAGE_ID_NACK objects that ride along (RFC 2961, 4.1).
    pub acks: Vec<MessageIdAck>,
    /// MESSAGE_ID (RFC 2961, 4.2).
    pub message_id: Option<MessageId>,
    /// Objects of another class, or of another C-Type than those known here, as they came.
    pub unknown: Vec<Unknown>,
}

/// An object that is carried, not understood: another class, or another C-Type of a known class.
///
/// FAST_REROUTE, DETOUR and the point-to-multipoint objects come here too: the typed messages leave them to those
/// who ask ([`Common::sub_lsps`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Class-Num of the object; its upper two bits say what a node does that does not know it (RFC 2205, 3.10).
    pub class: u8,
    /// C-Type of the object: the format within its class.
    pub c_type: u8,
    /// Index among the objects of the message, where it is put again on emission; [`Unknown::LAST`] for the end.
    pub position: u16,
    /// The object's contents, whole words.
    pub data: Vec<u8>,
}

impl Unknown {
    /// The position after all other objects.
    pub const LAST: u16 = u16::MAX;

    /// What a node that does not know the object does with it (RFC 2205, 3.10): an unknown C-Type of a class that the
    /// typed messages know rejects the message; otherwise the two high bits of the class decide.
    pub const fn action(&self) -> UnknownAction {
        if in_typed_messages(self.class) { UnknownAction::Reject } else { unknown_action(self.class) }
    }

    /// Error code and value of the PathErr or ResvErr that the message deserves, if it is to be rejected.
    pub const fn rejection(&self) -> Option<(u8, u16)> {
        let code = match self.action() {
            UnknownAction::Reject if in_typed_messages(self.class) => error_code::UNKNOWN_C_TYPE,
            UnknownAction::Reject => error_code::UNKNOWN_CLASS,
            UnknownAction::Ignore | UnknownAction::Forward => return None,
        };
        Some((code, u16::from_be_bytes([self.class, self.c_type])))
    }

    /// An object that the typed messages leave to those who ask, to be put at the end of a message; nothing if it is
    /// too long to be written.
    pub fn of(object: &Object) -> Option<Unknown> {
        Unknown::written(64, |bytes| object.emit(bytes))
    }

    /// The same of what `emit` writes: one object of about `length` bytes.
    pub(crate) fn written(
        length: usize,
        emit: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
    ) -> Option<Unknown> {
        let mut data = Vec::with_capacity(length);
        emit(&mut data).ok()?;
        let &[_, _, class, c_type] = data.first_chunk()?;
        data.drain(..4);
        Some(Unknown { class, c_type, position: Unknown::LAST, data })
    }

    /// The object with its contents read where they can be.
    pub fn read(&self) -> Object {
        Object::decode(self.class, self.c_type, &self.data)
    }
}

impl Common {
    /// Error code and value for the first unknown object that makes a node reject the message (RFC 2205, 3.10).
    pub fn rejection(&self) -> Option<(u8, u16)> {
        self.unknown.iter().find_map(Unknown::rejection)
    }

    /// The unknown objects that go on with the message (RFC 2205, 3.10).
    pub fn forwarded(&self) -> impl Iterator<Item = &Unknown> {
        self.unknown.iter().filter(|unknown| unknown.action() == UnknownAction::Forward)
    }
}
