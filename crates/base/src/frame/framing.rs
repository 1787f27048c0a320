//! How long frames are on the medium of a link.

use super::{Body, FCS_LEN, Frame, HEADER_ROOM, HEADROOM, MIN_FRAME_LEN, Offload, flag};

/// Bytes of the header that every frame has inside a node.
const HEADER_LEN: u32 = 14;
/// From here on a number in the place of the EtherType is one; below, it is the length of what follows, if it is not
/// greater than that of the longest frame (IEEE 802.3, 3.2.6).
pub const ETHERTYPE_MIN: u16 = 0x600;

/// How long frames are on a medium, beside how long they are inside a node: there, every frame has an Ethernet header
/// of 14 bytes, and no frame check sequence. All numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// What the medium's header has more than that of Ethernet, or less, of a frame with an EtherType.
    pub typed: i32,
    /// The same of a frame with a length there, behind which LLC follows.
    pub llc: i32,
    /// What follows a frame and belongs to it: the frame check sequence.
    pub trailer: u32,
    /// The shortest frame, trailer included: others are padded.
    pub least: u32,
    /// The longest frame, trailer included.
    pub most: u32,
    /// What the medium needs between two frames: preamble, delimiters, a gap.
    pub gap: u32,
}

impl Framing {
    /// Ethernet II, and frames with LLC as they are: preamble and start delimiter take 8 bytes, and the gap to the next
    /// frame 12 (IEEE 802.3, 3.2.1, 3.2.2 and 4.4.2).
    pub const ETHERNET: Framing =
        Framing { typed: 0, llc: 0, trailer: FCS_LEN, least: MIN_FRAME_LEN, most: u32::MAX, gap: 20 };

    /// How much longer the medium's header is than this one, or by how much shorter.
    pub fn added(&self, header: &[u8]) -> i32 {
        let with_llc = matches!(header, [_, _, _, _, _, _, _, _, _, _, _, _, high, low, ..]
            if u16::from_be_bytes([*high, *low]) < ETHERTYPE_MIN);
        if with_llc { self.llc } else { self.typed }
    }

    /// What a frame with this header takes that has `len` bytes inside a node, without gap.
    pub fn len(&self, header: &[u8], len: u32) -> u32 {
        self.framed_len(len.saturating_add_signed(self.added(header)))
    }

    /// What a frame takes that is as it is inside a node, without gap. On Ethernet, a frame that is to be cut takes
    /// what all its pieces take. On other media this is the length of the uncut frame under one header, which no port
    /// puts on a wire: ports there cut frames first (`put_pieces` of a lane), so ask for each piece.
    #[inline]
    pub fn of(&self, frame: &Frame) -> u32 {
        if *self == Framing::ETHERNET { frame.wire_len() } else { self.len(frame.header(), frame.len()) }
    }

    /// The same of a frame that has the medium's header already, and `len` bytes without trailer.
    pub const fn framed_len(&self, len: u32) -> u32 {
        let bytes = len.saturating_add(self.trailer);
        if bytes < self.least { self.least } else { bytes }
    }

    /// The longest packet that fits into a frame with an EtherType.
    pub const fn mtu(&self) -> u32 {
        self.most.saturating_sub(self.trailer + HEADER_LEN).saturating_add_signed(-self.typed)
    }
}

impl Default for Framing {
    fn default() -> Framing {
        Framing::ETHERNET
    }
}

impl Frame {
    /// How long the frame is on its medium, if it is as that carries it, and that is not Ethernet.
    #[inline]
    pub fn framing(&self) -> Option<Framing> {
        if self.0.flags & flag::FRAMED == 0 {
            return None;
        }
        self.0.extras.as_ref().map(|extras| extras.framing)
    }

    /// Notes that the frame is as a medium carries it, or that it has an Ethernet header again.
    pub fn set_framing(&mut self, framing: Option<Framing>) {
        match framing {
            Some(framing) => {
                self.0.flags |= flag::FRAMED;
                self.0.extras.get_or_insert_default().framing = framing;
            }
            None => self.0.flags &= !flag::FRAMED,
        }
    }

    /// Puts `new` in the place of the first `old` bytes, which are header bytes, and copies nothing if there is room in
    /// front.
    pub fn replace_front(&mut self, old: usize, new: &[u8]) {
        let old = old.min(self.header().len());
        if self.shrink_front(old) && self.grow_front(new.len()) {
            self.header_mut()[..new.len()].copy_from_slice(new);
            return;
        }
        // Places of what is left undone are counted from the header buffer, in which all moves.
        let undone = self.offload();
        let mut bytes = new.to_vec();
        self.write_to(&mut bytes);
        let kept = bytes.len().min(HEADER_ROOM);
        self.0.header[HEADROOM..HEADROOM + kept].copy_from_slice(&bytes[..kept]);
        (self.0.start, self.0.end) = (HEADROOM as u8, (HEADROOM + kept) as u8);
        self.0.set_body(Body::owned(&bytes[kept..]));
        let added = new.len() as u16;
        self.set_offload(undone.map(|undone| Offload {
            checksum_start: undone.checksum_start.wrapping_add(added),
            header_len: undone.header_len.wrapping_add(added),
            ..undone
        }));
    }
}
