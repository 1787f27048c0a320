//! Probes of links, as in the published study of multicast LSPs, which does not give their format: this one is ours.

use crate::error::{Error, Reason, need};
use core::net::Ipv4Addr;

const LAYER: &str = "probing";
/// The UDP port of both ends: one of those that anybody may use (RFC 6335, 6).
pub const PORT: u16 = 49_406;
/// All systems of a link.
pub const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
/// Bytes of a probe without padding.
pub const LEN: usize = 12;
const VERSION: u8 = 1;

/// A probe.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Version    |H|  Reserved   |           Reserved            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        Sequence number                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Period (microseconds)                   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                     Padding, zeros ...                        |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Does the sender hear the receiver's probes? Else the link works in one direction only.
    pub hears: bool,
    /// Counts the probes of the sender on this link.
    pub sequence: u32,
    /// Time to the sender's next probe, in microseconds; not zero.
    pub period_us: u32,
}

impl Repr {
    /// Reads a probe; what lies behind it is padding.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        need(LAYER, LEN, bytes.len())?;
        if bytes[0] != VERSION {
            let (found, expected) = (bytes[0].into(), VERSION.into());
            return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "version", found, expected }));
        }
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        match word(8) {
            0 => Err(Error::invalid(LAYER, 8, "the period is zero")),
            period_us => Ok(Repr { hears: bytes[1] & 0x80 != 0, sequence: word(4), period_us }),
        }
    }

    /// The bytes of a probe, padded to a length.
    pub fn emit(&self, len: usize) -> Vec<u8> {
        let mut out = vec![VERSION, u8::from(self.hears) << 7, 0, 0];
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.period_us.to_be_bytes());
        out.resize(len.max(LEN), 0);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_read_and_written() {
        let repr = Repr { hears: true, sequence: 258, period_us: 10_000 };
        let bytes = repr.emit(14);
        assert_eq!(bytes, [1, 0x80, 0, 0, 0, 0, 1, 2, 0, 0, 0x27, 0x10, 0, 0]);
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        for end in 0..LEN {
            assert!(Repr::parse(&bytes[..end]).is_err(), "cut at {end}");
        }
        let wrong = Repr { period_us: 0, ..repr }.emit(0);
        let said = Repr::parse(&wrong).map_err(|error| error.to_string());
        assert_eq!(said, Err("probing: the period is zero (at byte 8)".into()));
    }
}
