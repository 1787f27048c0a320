//! The error message, which has the same form in all versions.

use super::macros::layout;
use super::{Code, Malformed, Rest};

/// Bytes of the message at fault that an error gives back, at most: no less than this must be there.
const QUOTED: usize = 64;

layout! {
    /// What was wrong with a message.
    ErrorMessage {
        /// Which kind of error.
        kind: u16;
        /// Which error of that kind.
        code: u16;
        /// The beginning of the message at fault; a text if no version was agreed on.
        data: Rest;
    }
}

impl ErrorMessage {
    /// The error with these numbers about `message`, which is quoted.
    pub fn about(code: Code, message: &[u8]) -> ErrorMessage {
        let quoted = &message[..message.len().min(QUOTED)];
        ErrorMessage { kind: code.kind, code: code.code, data: quoted.into() }
    }

    /// What answers a message that can't be read.
    pub fn answer(malformed: &Malformed, message: &[u8]) -> ErrorMessage {
        ErrorMessage::about(malformed.answer, message)
    }

    /// Type and code.
    pub const fn numbers(&self) -> Code {
        Code { kind: self.kind, code: self.code }
    }
}
