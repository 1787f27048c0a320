//! What LDP says of ATM links (RFC 5036, 3.4.2.2 and 3.5.3): labels, and the parameters of a session.

use crate::hex::Hex;
use base::plane::ChannelRange;

/// A label of an ATM link (RFC 5036, 3.4.2.2).
///
/// ```text
/// |Res| V |          VPI          |         VCI                   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AtmLabel {
    /// Which of both count.
    pub counts: Counts,
    /// Virtual path, 0 to 4,095.
    pub vpi: u16,
    /// Virtual channel.
    pub vci: u16,
}

/// What of a channel's name a label is about (V-bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counts {
    /// Path and channel.
    Both,
    /// The path alone: it is switched as a whole.
    Vpi,
    /// The channel alone: a virtual path joins the routers.
    Vci,
    /// A value without a meaning.
    Unknown,
}

impl AtmLabel {
    /// As the four bytes say.
    pub const fn from_word(word: u32) -> AtmLabel {
        let counts = match word >> 28 & 3 {
            0 => Counts::Both,
            1 => Counts::Vpi,
            2 => Counts::Vci,
            _ => Counts::Unknown,
        };
        AtmLabel { counts, vpi: (word >> 16 & 0xfff) as u16, vci: word as u16 }
    }

    /// The four bytes.
    pub const fn word(self) -> u32 {
        let bits = match self.counts {
            Counts::Both => 0,
            Counts::Vpi => 1,
            Counts::Vci => 2,
            Counts::Unknown => 3,
        };
        bits << 28 | (self.vpi as u32 & 0xfff) << 16 | self.vci as u32
    }
}

/// What a switch can merge (RFC 5036, 3.5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// Nothing.
    #[default]
    Nothing,
    /// Virtual paths.
    Vp,
    /// Virtual channels.
    Vc,
    /// Both.
    Both,
}

/// What an Initialization message says of an ATM link (RFC 5036, 3.5.3).
///
/// ```text
/// | M |   N   |D|                        Reserved                 |
/// |  Res  |    Minimum VPI        |      Minimum VCI              |  N times
/// |  Res  |    Maximum VPI        |      Maximum VCI              |
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtmSession {
    /// What the switch can merge.
    pub merge: Merge,
    /// May a channel be a label in one direction of the link alone?
    pub is_unidirectional: bool,
    /// Channels that may be labels: 1 to 15 ranges.
    pub ranges: Vec<ChannelRange>,
}

impl AtmSession {
    /// Reads the value of the parameter; nothing if it is not as long as it says, has no range, or has one that ends
    /// before it begins.
    pub fn parse(value: &Hex) -> Option<AtmSession> {
        let (&[flags, ..], rest) = value.0.split_first_chunk::<4>()?;
        let count = usize::from(flags >> 2 & 15);
        let merge = [Merge::Nothing, Merge::Vp, Merge::Vc, Merge::Both][usize::from(flags >> 6)];
        let is_unidirectional = flags & 2 != 0;
        let (components, []) = rest.as_chunks::<8>() else { return None };
        let range = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| ChannelRange {
            vpi: (u16::from_be_bytes([a & 15, b]), u16::from_be_bytes([e & 15, f])),
            vci: (u16::from_be_bytes([c, d]), u16::from_be_bytes([g, h])),
        };
        let ranges: Vec<ChannelRange> = components.iter().map(range).collect();
        let is_right = |one: &ChannelRange| one.vpi.0 <= one.vpi.1 && one.vci.0 <= one.vci.1;
        let is_whole = count > 0 && ranges.len() == count && ranges.iter().all(is_right);
        is_whole.then_some(AtmSession { merge, is_unidirectional, ranges })
    }

    /// The value of the parameter. Of more than 15 ranges it has the first 15.
    pub fn emit(&self) -> Hex {
        let count = self.ranges.len().min(15);
        let merge = match self.merge {
            Merge::Nothing => 0,
            Merge::Vp => 1,
            Merge::Vc => 2,
            Merge::Both => 3u8,
        };
        let mut value =
            vec![merge << 6 | (count as u8) << 2 | u8::from(self.is_unidirectional) << 1, 0, 0, 0];
        for range in &self.ranges[..count] {
            for (vpi, vci) in [(range.vpi.0, range.vci.0), (range.vpi.1, range.vci.1)] {
                value.extend((vpi & 0xfff).to_be_bytes());
                value.extend(vci.to_be_bytes());
            }
        }
        Hex(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_bits_of_a_word() {
        let all = [
            (0x0abc_1234, AtmLabel { counts: Counts::Both, vpi: 0xabc, vci: 0x1234 }),
            (0x1abc_0000, AtmLabel { counts: Counts::Vpi, vpi: 0xabc, vci: 0 }),
            (0x2000_0021, AtmLabel { counts: Counts::Vci, vpi: 0, vci: 33 }),
        ];
        for (word, label) in all {
            assert_eq!((AtmLabel::from_word(word), label.word()), (label, word));
        }
        // RFC 5036, 3.4.2.2: what is reserved is ignored.
        assert_eq!(AtmLabel::from_word(0xcabc_1234), all[0].1);
    }

    #[test]
    fn parameters_of_a_session_there_and_back() {
        let ranges = vec![
            ChannelRange { vpi: (0, 3), vci: (33, 1_023) },
            ChannelRange { vpi: (9, 9), vci: (4_096, 65_535) },
        ];
        let session = AtmSession { merge: Merge::Vc, is_unidirectional: true, ranges };
        // M = 2, N = 2, D = 1; the bits are 10 0010 1.
        let bytes = "8a000000000000210003".to_string() + "03ff00091000" + "0009ffff";
        assert_eq!(session.emit().to_string(), bytes);
        assert_eq!(AtmSession::parse(&session.emit()), Some(session));
    }

    #[test]
    fn what_does_not_fit_is_no_parameter() {
        let parse = |text: &str| AtmSession::parse(&text.parse().expect("hexadecimal digits"));
        let whole = "0400000000000021000003ff";
        assert!(parse(whole).is_some());
        for wrong in [
            "",
            "040000",
            "04000000",
            "0000000000000021000003ff",
            "0800000000000021000003ff",
            "040000000000002100000020",
            "0400000000000021000003ff00",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
