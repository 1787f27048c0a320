//! The fragment header (RFC 8200, 4.5). Only the source of a packet makes fragments; routers never do.

/// Bytes of the header.
pub const LEN: usize = 8;

/// The fragment header without the number of the header behind it.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Next Header  |   Reserved    |      Fragment Offset    |Res|M|
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Identification                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Where in the fragmentable part this fragment starts, in units of eight bytes.
    pub offset: u16,
    /// True in all fragments but the last.
    pub more: bool,
    /// The identification that fragments of one packet share.
    pub ident: u32,
}

impl Fragment {
    /// Reads the header; reserved bits are ignored.
    pub fn parse(bytes: &[u8; LEN]) -> Fragment {
        let [_, _, high, low, a, b, c, d] = *bytes;
        let word = u16::from_be_bytes([high, low]);
        Fragment { offset: word >> 3, more: word & 1 == 1, ident: u32::from_be_bytes([a, b, c, d]) }
    }

    /// The bytes of the header in front of `next_header`. An offset beyond 13 bits is cut.
    pub fn to_bytes(self, next_header: super::Protocol) -> [u8; LEN] {
        let [high, low] = (self.offset << 3 | u16::from(self.more)).to_be_bytes();
        let [a, b, c, d] = self.ident.to_be_bytes();
        [next_header.0, 0, high, low, a, b, c, d]
    }
}
