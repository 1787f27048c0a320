//! Fragmentation (RFC 791, 3.2): which headers and which bytes of the payload each fragment gets.

use super::Repr;
use core::ops::Range;
use thiserror::Error as ThisError;

/// Why a packet can't be fragmented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
pub enum Refusal {
    /// It says so: the sender is to get an error with the MTU (RFC 792, RFC 1191).
    #[error("the packet exceeds the MTU and must not be fragmented")]
    DontFragment,
    /// A fragment's header and eight bytes exceed the MTU.
    #[error("the MTU is too small for a fragment")]
    MtuTooSmall,
}

/// A fragment of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Header of the fragment: that of the packet with offset, flags and length changed.
    pub header: Repr,
    /// The bytes of the packet's payload that it carries.
    pub payload: Range<usize>,
}

/// The fragments of a packet in order; see [`fragments`].
#[derive(Clone, Debug)]
pub struct Fragments {
    header: Repr,
    mtu: usize,
    next: usize,
    done: bool,
}

/// Plans how the packet with `header` passes a link whose MTU (bytes of an IPv4 packet) is `mtu`.
///
/// A packet that fits is its own only fragment, whatever its flags. A fragment may be fragmented again. The first
/// fragment keeps all options, later ones those with the copied flag.
pub fn fragments(header: &Repr, mtu: usize) -> Result<Fragments, Refusal> {
    if header.total_len() > mtu {
        if header.dont_fragment {
            return Err(Refusal::DontFragment);
        }
        // RFC 791, 3.2: each fragment but the last has a multiple of eight bytes. The first has the longest header.
        if mtu < header.buffer_len() + 8 {
            return Err(Refusal::MtuTooSmall);
        }
    }
    Ok(Fragments { header: *header, mtu, next: 0, done: false })
}

impl Iterator for Fragments {
    type Item = Fragment;

    fn next(&mut self) -> Option<Fragment> {
        if self.done {
            return None;
        }
        let mut header = self.header;
        let (start, end) = (self.next, usize::from(self.header.payload_len));
        if start > 0 {
            header.options = self.header.options.of_later_fragments();
        }
        let room = self.mtu.saturating_sub(header.buffer_len());
        let stop = if end - start <= room { end } else { start + (room & !7) };
        self.done = stop == end;
        self.next = stop;
        header.payload_len = (stop - start) as u16;
        header.fragment_offset = self.header.fragment_offset + (start / 8) as u16;
        // The last piece of a fragment that is not the last one is not the last either.
        header.more_fragments = self.header.more_fragments || !self.done;
        Some(Fragment { header, payload: start..stop })
    }
}
