//! What a kernel left undone on a frame: a checksum, or the cutting into segments.

use super::{FCS_LEN, Frame, Kept, MIN_FRAME_LEN, flag};

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
    /// Into UDP datagrams, each with a UDP header of its own.
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

/// How long a frame is on a wire, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Of the longest frame that it is there, without padding and frame check sequence.
    pub segment: u32,
    /// Of all frames that it is there, with padding and frame check sequence.
    pub wire: u32,
}

impl Frame {
    /// What a kernel left undone on the frame.
    #[inline]
    pub fn offload(&self) -> Option<Offload> {
        if self.0.flags & flag::UNDONE == 0 {
            return None;
        }
        let (start, kept) = (u16::from(self.0.start), self.0.extras.as_ref()?.offload);
        Some(Offload {
            needs_checksum: self.0.flags & flag::NEEDS_CHECKSUM != 0,
            checksum_start: kept.checksum_start.wrapping_sub(start),
            checksum_offset: kept.checksum_offset,
            segment: kept.segment,
            segment_size: kept.segment_size,
            header_len: kept.header_len.wrapping_sub(start),
        })
    }

    /// Notes what is left undone on the frame, in places counted from the first byte that it has now.
    pub fn set_offload(&mut self, offload: Option<Offload>) {
        self.0.flags &= !(flag::UNDONE | flag::NEEDS_CHECKSUM);
        if let Some(offload) = offload {
            let start = u16::from(self.0.start);
            self.0.flags |=
                if offload.needs_checksum { flag::UNDONE | flag::NEEDS_CHECKSUM } else { flag::UNDONE };
            self.0.extras.get_or_insert_default().offload = Kept {
                checksum_start: offload.checksum_start.wrapping_add(start),
                header_len: offload.header_len.wrapping_add(start),
                segment_size: offload.segment_size,
                checksum_offset: offload.checksum_offset,
                segment: offload.segment,
            };
        }
    }

    /// Bytes of header and payload, and of payload in each piece, of a frame that is to be cut.
    fn pieces(&self) -> Option<(u32, u32, u32)> {
        let offload = self.offload().filter(|o| o.segment != Segment::None && o.segment_size > 0)?;
        let header = u32::from(offload.header_len).min(self.len());
        Some((header, self.len() - header, u32::from(offload.segment_size)))
    }

    /// Bytes of the longest frame that this is on a wire: its own, unless it is to be cut.
    #[inline]
    pub fn segment_len(&self) -> u32 {
        if self.0.flags & flag::UNDONE == 0 {
            return self.len();
        }
        self.longest_piece()
    }

    #[cold]
    fn longest_piece(&self) -> u32 {
        self.pieces().map_or(self.len(), |(header, payload, size)| header + payload.min(size))
    }

    /// [`Frame::segment_len`] and [`Frame::wire_len`], looked up at once.
    #[inline]
    pub fn lengths(&self) -> Lengths {
        if self.0.flags & flag::UNCOMMON == 0 {
            let len = self.len();
            return Lengths { segment: len, wire: (len + FCS_LEN).max(MIN_FRAME_LEN) };
        }
        Lengths { segment: self.longest_piece(), wire: self.uncommon_wire_len() }
    }

    #[cold]
    pub(super) fn uncommon_wire_len(&self) -> u32 {
        if let Some(framing) = self.framing() {
            return framing.framed_len(self.len());
        }
        let one = |len: u32| (len + FCS_LEN).max(MIN_FRAME_LEN);
        let Some((header, payload, size)) = self.pieces() else { return one(self.len()) };
        let rest = payload % size;
        let last = if rest > 0 || payload == 0 { one(header + rest) } else { 0 };
        payload / size * one(header + size) + last
    }
}
