//! Greet, a made-up protocol: an example for developers of what a new protocol takes. Nobody else speaks it.

use crate::error::{Error, Reason, need};
use base::Label;
use core::net::Ipv4Addr;

const LAYER: &str = "greet";

/// The UDP port of both ends, and the TCP port of the end with the greater router id: one of those that anybody may use
/// (RFC 6335, 6).
pub const PORT: u16 = 49_407;
/// The group that Hellos are sent to: one of those that belong to whoever uses them on a link (RFC 2365, 6.2).
pub const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 71, 1);

/// Bytes of a message.
pub const LEN: usize = 12;
const VERSION: u8 = 1;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To all on a link, now and then.
    Hello,
    /// To the one who said Hello and was not known.
    Welcome,
    /// Over a TCP connection: the label by which the sender is reached.
    Label,
}

impl Kind {
    /// The kind of a number.
    pub const fn of(number: u8) -> Option<Kind> {
        match number {
            1 => Some(Kind::Hello),
            2 => Some(Kind::Welcome),
            3 => Some(Kind::Label),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Kind::Hello => 1,
            Kind::Welcome => 2,
            Kind::Label => 3,
        }
    }

    /// As tables and device profiles have it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Hello => "Hello",
            Kind::Welcome => "Welcome",
            Kind::Label => "Label",
        }
    }
}

/// A message.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Version    |     Kind      |            Hold (ms)          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           Router id                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                             Label                             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Whom it is meant for.
    pub kind: Kind,
    /// How long the sender is to be remembered without another message, in milliseconds.
    pub hold_ms: u16,
    /// Router id of the sender.
    pub router_id: Ipv4Addr,
    /// The label with which packets for the sender's own address leave the receiver; only a Label has one.
    pub label: Option<Label>,
}

impl Repr {
    /// Reads a message.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        let Some(&[version, kind, h, i, a, b, c, d, j, k, l, m]) = bytes.first_chunk::<LEN>() else {
            return Err(need(LAYER, LEN, bytes.len()).err().unwrap_or(Error::truncated(LAYER, LEN, 0)));
        };
        let wrong = |offset, field, found, expected| {
            Error::new(LAYER, offset, Reason::Unexpected { field, found, expected })
        };
        if version != VERSION {
            return Err(wrong(0, "version", version.into(), VERSION.into()));
        }
        let Some(kind) = Kind::of(kind) else {
            let reason = Reason::OutOfRange { field: "kind", found: kind.into(), min: 1, max: 3 };
            return Err(Error::new(LAYER, 1, reason));
        };
        let label = match u32::from_be_bytes([j, k, l, m]) {
            u32::MAX => None,
            number => Some(Label::new(number).ok_or(Error::invalid(LAYER, 8, "no label is so great"))?),
        };
        let hold_ms = u16::from_be_bytes([h, i]);
        Ok(Repr { kind, hold_ms, router_id: Ipv4Addr::new(a, b, c, d), label })
    }

    /// The bytes of the message.
    pub fn emit(&self) -> [u8; LEN] {
        let [h, i] = self.hold_ms.to_be_bytes();
        let [a, b, c, d] = self.router_id.octets();
        let [j, k, l, m] = self.label.map_or(u32::MAX, Label::value).to_be_bytes();
        [VERSION, self.kind.number(), h, i, a, b, c, d, j, k, l, m]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTORS: [([u8; LEN], Repr); 2] = [
        (
            [1, 1, 0x0b, 0xb8, 10, 0, 0, 1, 255, 255, 255, 255],
            Repr { kind: Kind::Hello, hold_ms: 3000, router_id: Ipv4Addr::new(10, 0, 0, 1), label: None },
        ),
        (
            [1, 3, 0, 9, 10, 0, 0, 2, 0, 0, 0, 17],
            Repr {
                kind: Kind::Label,
                hold_ms: 9,
                router_id: Ipv4Addr::new(10, 0, 0, 2),
                label: Some(Label::truncate(17)),
            },
        ),
    ];

    #[test]
    fn messages_are_read_and_written() {
        for (bytes, repr) in VECTORS {
            assert_eq!((repr.emit(), Repr::parse(&bytes)), (bytes, Ok(repr)));
            for end in 0..LEN {
                assert!(Repr::parse(&bytes[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn errors_say_where() {
        let wrong = |place: usize, byte: u8| {
            let mut bytes = VECTORS[0].0;
            bytes[place] = byte;
            Repr::parse(&bytes).map_err(|error| error.to_string())
        };
        assert_eq!(wrong(0, 2), Err("greet: version is 2, not 1 (at byte 0)".into()));
        assert_eq!(wrong(1, 4), Err("greet: kind is 4, outside 1 to 3 (at byte 1)".into()));
        assert_eq!(wrong(8, 1), Err("greet: no label is so great (at byte 8)".into()));
    }
}
