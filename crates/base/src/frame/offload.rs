//! What a kernel left undone on a frame: a checksum, or the cutting into segments.

/// How a super-frame is to be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segment {
    /// Not at all: it is an ordinary frame.
    #[default]
    None,
    /// Into TCP segments over IPv4.
    TcpV4,
    /// Into TCP segments over IPv6.
    TcpV6,
    /// Into UDP datagrams.
    UdpL4,
}

/// What a kernel left undone on a frame, for the last interface on the way to do.
///
/// Places are counted from the first byte that the frame has now. A frame keeps them where they are when labels are
/// pushed or popped in front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The checksum field holds the sum of the pseudo header only.
    pub needs_checksum: bool,
    /// Where what the checksum covers begins.
    pub checksum_start: u16,
    /// Where the checksum field is, from there.
    pub checksum_offset: u8,
    /// How the frame is to be cut.
    pub segment: Segment,
    /// Bytes of payload in each piece.
    pub segment_size: u16,
    /// Bytes of header in each piece.
    pub header_len: u16,
}
