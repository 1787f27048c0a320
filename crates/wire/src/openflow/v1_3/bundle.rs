//! Bundles: messages that are kept and done together. They are of version 1.4; version 1.3 has them as messages of the
//! Open Networking Foundation as an experimenter (its extension 230), with the same structures.

use super::Experimenter;
use crate::openflow::macros::layout;
use crate::openflow::{Code, Field, Malformed, Reader, Rest};

/// The Open Networking Foundation as an experimenter: `ONF` and a zero.
pub const ONF: u32 = 0x4f4e_4600;
/// The type of error that an experimenter defines: its code is the experimenter's, whose number goes before the message
/// at fault.
const EXPERIMENTER_ERROR: u16 = 0xffff;
/// The code of the first of the errors below.
const FIRST_ERROR: u16 = 2300;

/// Types of the experimenter's messages.
pub mod bundle_kinds {
    /// Begins or ends a bundle.
    pub const CONTROL: u32 = 2300;
    /// Adds a message to a bundle.
    pub const ADD: u32 = 2301;
}

/// Flags of a bundle.
pub mod bundle_flags {
    /// All of it is done, or nothing.
    pub const ATOMIC: u16 = 1 << 0;
    /// Messages are done in the order in which they were added.
    pub const ORDERED: u16 = 1 << 1;
    /// Those that there are.
    pub const ALL: u16 = ATOMIC | ORDERED;
}

/// What a message about a bundle asks for; the answer has the next number.
pub mod bundle_control {
    /// A bundle begins.
    pub const OPEN: u16 = 0;
    /// Nothing is added to it any more.
    pub const CLOSE: u16 = 2;
    /// It is done.
    pub const COMMIT: u16 = 4;
    /// It is forgotten.
    pub const DISCARD: u16 = 6;
}

layout! {
    /// Begins or ends a bundle, or says that this is done.
    BundleControl {
        /// The number of the bundle, which the controller chooses.
        bundle: u32;
        /// See [`bundle_control`].
        kind: u16;
        /// See [`bundle_flags`].
        flags: u16;
        /// Properties, of which there are only those of experimenters.
        properties: Rest;
    }

    /// Adds a message to a bundle.
    BundleAdd {
        /// The number of the bundle.
        bundle: u32, pad 2;
        /// See [`bundle_flags`].
        flags: u16;
        /// The message with its header, and properties behind it, filled up to 8 bytes before them.
        message: Rest;
    }
}

/// What is wrong with a bundle: OFPBFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BundleFault {
    /// A bundle that there is not.
    BadId = 2,
    /// A bundle that is there already.
    Exists = 3,
    /// A bundle that is closed already.
    Closed = 4,
    /// Too many bundles.
    OutOfBundles = 5,
    /// A type of control message that is not known.
    BadType = 6,
    /// Flags that are not known, or not those of the bundle.
    BadFlags = 7,
    /// A length that the message does not have.
    MessageBadLen = 8,
    /// A transaction number that is not that of the message around it.
    MessageBadXid = 9,
    /// A message that bundles don't take.
    MessageUnsupported = 10,
    /// Too many messages.
    TooManyMessages = 12,
    /// A message of the bundle failed.
    MessageFailed = 13,
    /// Nothing was said of the bundle for long.
    Timeout = 14,
}

impl BundleFault {
    /// Type and code in version 1.3.
    pub const fn numbers(self) -> Code {
        Code { kind: EXPERIMENTER_ERROR, code: FIRST_ERROR + self as u16 }
    }

    /// Is it one of these errors, which have the number of the experimenter before the message at fault?
    pub fn is_one(code: Code) -> bool {
        code.kind == EXPERIMENTER_ERROR && (FIRST_ERROR..FIRST_ERROR + 16).contains(&code.code)
    }
}

impl BundleControl {
    /// Reads what a message of the experimenter holds.
    pub fn of(message: &Experimenter) -> Result<BundleControl, Malformed> {
        BundleControl::read(&mut Reader::new(&message.data.0, Code::BAD_LEN))
    }

    /// The message of the experimenter that holds it.
    pub fn message(&self) -> Experimenter {
        held(bundle_kinds::CONTROL, self)
    }
}

impl BundleAdd {
    /// Reads what a message of the experimenter holds.
    pub fn of(message: &Experimenter) -> Result<BundleAdd, Malformed> {
        BundleAdd::read(&mut Reader::new(&message.data.0, Code::BAD_LEN))
    }

    /// The message of the experimenter that holds it.
    pub fn message(&self) -> Experimenter {
        held(bundle_kinds::ADD, self)
    }
}

fn held(kind: u32, what: &impl Field) -> Experimenter {
    let mut data = Vec::new();
    what.write(&mut data);
    Experimenter { experimenter: ONF, kind, data: Rest::from(&data[..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_written_as_other_implementations_write_them() {
        let control = BundleControl {
            bundle: 0x0102_0304,
            kind: bundle_control::COMMIT,
            flags: bundle_flags::ALL,
            properties: Rest::default(),
        };
        let message = control.message();
        assert_eq!((message.experimenter, message.kind), (0x4f4e_4600, 2300));
        assert_eq!(message.data.0, [1, 2, 3, 4, 0, 4, 0, 3]);
        assert_eq!(BundleControl::of(&message).ok(), Some(control));
        let inner = [4u8, 20, 0, 8, 0, 0, 0, 9];
        let add = BundleAdd { bundle: 7, flags: 2, message: Rest::from(&inner[..]) };
        let message = add.message();
        assert_eq!(message.data.0, [&[0, 0, 0, 7, 0, 0, 0, 2][..], &inner].concat());
        assert_eq!(BundleAdd::of(&message).ok(), Some(add));
        assert!(
            BundleAdd::of(&Experimenter { experimenter: ONF, kind: 2301, data: Rest::from(&[0u8; 7][..]) })
                .is_err()
        );
    }

    #[test]
    fn errors_are_those_of_the_experimenter() {
        assert_eq!(BundleFault::BadId.numbers(), Code { kind: 0xffff, code: 2302 });
        assert_eq!(BundleFault::MessageFailed.numbers(), Code { kind: 0xffff, code: 2313 });
        assert!(BundleFault::is_one(BundleFault::Exists.numbers()));
        assert!(!BundleFault::is_one(super::super::Fault::BadType.numbers()));
    }
}
