//! The frame that moves between devices: header bytes with headroom, plus a body that is never copied in transit.
//!
//! A frame is what Ethernet carries from the destination address to the end of the payload, without the frame check
//! sequence. Its header bytes (whatever a node may rewrite) lie contiguously in a small buffer with room in front for
//! labels; the rest is a [`Body`].
//!
//! ```text
//!  |<----------------------- 128 bytes ---------------------->|
//!  +----------+---------------------------+------------------+  +- - - - - - - +
//!  | headroom | header: Ethernet, labels… |      unused      |  |     body     |
//!  +----------+---------------------------+------------------+  +- - - - - - - +
//! ```

mod body;
mod framing;
mod offload;
mod tags;
#[cfg(test)]
mod tests;

pub use body::Body;
pub use framing::{ETHERTYPE_MIN, Framing};
pub use offload::{Lengths, Offload, Segment};

use crate::diffserv::Encaps;
use crate::ids::{LinkId, PortId};
use crate::prefetch::prefetch_bytes;
use crate::time::Time;
use core::fmt;
use core::mem::ManuallyDrop;
use core::mem::offset_of;
use std::cell::RefCell;

/// Bytes of header buffer in a frame.
pub const HEADER_CAPACITY: usize = 128;
/// Free bytes in front of the header of a new frame: eight label stack entries and a VLAN tag.
pub const HEADROOM: usize = 40;
/// Bytes of header that a new frame takes.
pub const HEADER_ROOM: usize = HEADER_CAPACITY - HEADROOM;
/// Bytes of the frame check sequence, which frames are counted with but do not hold.
pub const FCS_LEN: u32 = 4;
/// The shortest Ethernet frame, with its frame check sequence (IEEE 802.3, 4A.4.2).
pub const MIN_FRAME_LEN: u32 = 64;

/// No time of arrival.
const NEVER: Time = Time::MAX;

/// What forwarding reads lies in two cache lines: the lengths in the first, and in the second the header of a frame
/// that has not grown or shrunk by more than a few labels.
#[derive(Clone)]
#[repr(C, align(64))]
struct Data {
    start: u8,
    end: u8,
    /// What else there is about the frame, as bits named in [`flag`].
    flags: u8,
    /// The PHB, or [`NO_PHB`].
    phb: u8,
    body_len: u32,
    /// Where the pattern of the body begins, if that is one: [`flag::PATTERN`].
    pattern: u32,
    /// Puts byte [`HEADROOM`] of the header at the start of a cache line, too.
    arrived: Time,
    header: [u8; HEADER_CAPACITY],
    /// [`Body::Empty`] if it holds nothing.
    body: Body,
    /// What few frames have; seldom there, since what forwarding reads shall fit in two cache lines. It is kept for
    /// the next frame that has some.
    extras: Option<Box<Extras>>,
}

const _: () = assert!(size_of::<Data>() == 192 && offset_of!(Data, header) + HEADROOM == 64);

/// What few frames have.
#[derive(Clone, Default)]
struct Extras {
    /// The links that the frame crossed, if its source asked for them: [`flag::TRACED`].
    trace: Vec<LinkId>,
    /// What a conditioner wrote ([`Frame::mark`]); left over from an earlier frame unless [`flag::TAGGED`] is set.
    mark: u32,
    /// Port of arrival; left over likewise.
    input: Option<PortId>,
    /// What TC of the outermost label means to the next router; left over likewise.
    encaps: Option<Encaps>,
    /// How long the frame is on its medium; left over unless [`flag::FRAMED`] is set.
    framing: Framing,
    /// What is left undone on the frame; left over unless [`flag::UNDONE`] is set.
    offload: Kept,
}

/// Each constant is one bit of [`Data::flags`].
mod flag {
    /// There is an [`super::Offload`].
    pub(super) const UNDONE: u8 = 1;
    /// Its checksum is to be made.
    pub(super) const NEEDS_CHECKSUM: u8 = 2;
    /// There is a mark, a port of arrival, or what the outermost label means.
    pub(super) const TAGGED: u8 = 4;
    /// The links that the frame crosses are written down.
    pub(super) const TRACED: u8 = 8;
    /// It is as its medium carries it, and that is not Ethernet.
    pub(super) const FRAMED: u8 = 16;
    /// Its body is a pattern, and not an empty one.
    pub(super) const PATTERN: u8 = 32;
    /// Its length on the wire is not that of one Ethernet frame.
    pub(super) const UNCOMMON: u8 = UNDONE | FRAMED;
}

/// No PHB has been determined.
const NO_PHB: u8 = u8::MAX;

/// The rest of an [`Offload`], with places counted from the start of the header buffer.
#[derive(Clone, Copy, Default)]
struct Kept {
    checksum_start: u16,
    header_len: u16,
    segment_size: u16,
    checksum_offset: u8,
    segment: Segment,
}

impl Data {
    #[inline(always)]
    fn set_body(&mut self, body: Body) {
        self.body_len = body.len();
        self.flags &= !flag::PATTERN;
        if let Body::Pattern { start, len: 1.. } = body {
            self.pattern = start;
            self.flags |= flag::PATTERN;
        }
        self.body = if self.body_len == 0 { Body::Empty } else { body };
    }
}

/// Dropped frames whose memory is kept for new ones, at most.
const SPARE_MAX: usize = 4096;

thread_local! {
    /// Memory of dropped frames: the last one dropped is used first, since the processor still has it at hand.
    #[expect(clippy::vec_box, reason = "what is kept is the allocation")]
    static SPARE: RefCell<Vec<Box<Data>>> = const { RefCell::new(Vec::new()) };
}

/// A frame. Moving it moves a pointer; the memory of a dropped one is used again.
pub struct Frame(ManuallyDrop<Box<Data>>);

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box is taken once, here, and nothing looks at it afterwards.
        let mut data = unsafe { ManuallyDrop::take(&mut self.0) };
        // A pattern is no more than two numbers: it stays until the next body comes.
        if data.body_len != 0 && data.flags & flag::PATTERN == 0 {
            data.set_body(Body::Empty);
        }
        data.flags = 0;
        data.phb = NO_PHB;
        data.arrived = NEVER;
        // A thread that ends keeps nothing.
        let _ = SPARE.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < SPARE_MAX
            {
                spare.push(data);
            }
        });
    }
}

impl Clone for Frame {
    /// A frame with the same bytes: its header is copied, its body shared.
    #[inline]
    fn clone(&self) -> Frame {
        let spare = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop());
        let Some(mut data) = spare.ok().flatten() else {
            return Frame(ManuallyDrop::new(Box::new(Data::clone(&self.0))));
        };
        let from = &**self.0;
        // Three cache lines at once are cheaper than the part that is used, whose length differs.
        data.header = from.header;
        (data.start, data.end, data.flags, data.phb) = (from.start, from.end, from.flags, from.phb);
        (data.pattern, data.arrived, data.body_len) = (from.pattern, from.arrived, from.body_len);
        data.body = from.body.clone();
        if from.flags & !flag::PATTERN != 0 {
            data.extras = from.extras.clone();
        }
        Frame(ManuallyDrop::new(data))
    }
}

/// Memory for a frame: zeros in the headroom, whatever an earlier frame left behind it.
#[inline]
fn memory() -> Box<Data> {
    let spare = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop());
    let Some(mut data) = spare.ok().flatten() else { return fresh() };
    data.header[..HEADROOM].fill(0);
    data
}

#[cold]
fn fresh() -> Box<Data> {
    Box::new(Data {
        start: HEADROOM as u8,
        end: HEADROOM as u8,
        body_len: 0,
        pattern: 0,
        flags: 0,
        phb: NO_PHB,
        arrived: NEVER,
        header: [0; HEADER_CAPACITY],
        body: Body::Empty,
        extras: None,
    })
}

impl Frame {
    /// A frame with `header` bytes that nodes may rewrite and a `body` that they pass on.
    ///
    /// Header bytes beyond what the buffer holds are put in front of the body.
    pub fn new(header: &[u8], body: Body) -> Frame {
        let kept = header.len().min(HEADER_ROOM);
        let mut data = memory();
        data.start = HEADROOM as u8;
        data.end = (HEADROOM + kept) as u8;
        data.header[HEADROOM..HEADROOM + kept].copy_from_slice(&header[..kept]);
        if kept == header.len() {
            data.set_body(body);
        } else {
            let mut rest = header[kept..].to_vec();
            body.write_to(&mut rest);
            data.set_body(Body::owned(rest));
        }
        Frame(ManuallyDrop::new(data))
    }

    /// A frame with the first `len` bytes of `header`: quicker than [`Frame::new`], since it copies the same number of
    /// bytes whatever the length.
    #[inline]
    pub fn from_room(header: &[u8; HEADER_ROOM], len: usize, body: Body) -> Frame {
        let mut data = memory();
        data.start = HEADROOM as u8;
        data.end = (HEADROOM + len.min(HEADER_ROOM)) as u8;
        data.set_body(body);
        data.header[HEADROOM..].copy_from_slice(header);
        Frame(ManuallyDrop::new(data))
    }

    /// A frame that holds `bytes` from the destination address on.
    pub fn from_bytes(bytes: &[u8]) -> Frame {
        Frame::new(bytes, Body::Empty)
    }

    /// Overwrites the frame with `bytes`, reusing its memory; what does not fit in the header buffer goes to the body.
    #[inline]
    pub fn refill(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(HEADER_ROOM);
        self.0.header[HEADROOM..HEADROOM + kept].copy_from_slice(&bytes[..kept]);
        self.0.start = HEADROOM as u8;
        self.0.end = (HEADROOM + kept) as u8;
        self.0.set_body(if kept == bytes.len() { Body::Empty } else { Body::owned(&bytes[kept..]) });
        self.0.flags = 0;
        self.0.phb = NO_PHB;
        self.0.arrived = NEVER;
    }

    /// Where the header begins and ends in its buffer.
    #[inline(always)]
    fn bounds(&self) -> core::ops::Range<usize> {
        let (start, end) = (usize::from(self.0.start), usize::from(self.0.end));
        debug_assert!(start <= end && end <= HEADER_CAPACITY, "a header lies in its buffer");
        start..end
    }

    /// The bytes at the front that devices read and rewrite, from the Ethernet header on.
    #[inline]
    pub fn header(&self) -> &[u8] {
        // SAFETY: a header begins no later than it ends and ends in its buffer. Both are private to this module, in
        // which frames are made with headers of HEADER_ROOM bytes at most behind HEADROOM, and the beginning is moved
        // between zero and the end. To ask again would cost each look at a header, of which each hop has four, eight
        // instructions.
        unsafe { self.0.header.get_unchecked(self.bounds()) }
    }

    /// The header bytes, to be rewritten.
    #[inline]
    pub fn header_mut(&mut self) -> &mut [u8] {
        let bounds = self.bounds();
        // SAFETY: as of `header`.
        unsafe { self.0.header.get_unchecked_mut(bounds) }
    }

    /// What follows the header bytes: generated or shared, so that a copy of the frame does not copy it.
    #[inline]
    pub fn body(&self) -> &Body {
        &self.0.body
    }

    /// How many bytes follow the header bytes, and where the pattern begins if they are one; in the cache line that has
    /// the lengths.
    #[inline(always)]
    pub fn pattern(&self) -> (u32, Option<u32>) {
        (self.0.body_len, (self.0.flags & flag::PATTERN != 0).then_some(self.0.pattern))
    }

    /// Replaces what follows the header bytes; length fields in the header are the caller's to set.
    pub fn set_body(&mut self, body: Body) {
        self.0.set_body(body);
    }

    /// Bytes held: header and body, without padding or frame check sequence.
    #[inline]
    pub fn len(&self) -> u32 {
        u32::from(self.0.end - self.0.start) + self.0.body_len
    }

    /// Does it hold nothing?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on the wire: padded to the shortest frame, with the frame check sequence, without preamble and gap. Of a
    /// frame that is to be cut, those of all its pieces. In a node, those of an Ethernet frame; on a link, those that
    /// its medium carries.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        if self.0.flags & flag::UNCOMMON != 0 {
            return self.uncommon_wire_len();
        }
        (self.len() + FCS_LEN).max(MIN_FRAME_LEN)
    }

    /// Makes room for `count` bytes in front of the header and returns whether there was any.
    #[inline]
    pub fn grow_front(&mut self, count: usize) -> bool {
        match usize::from(self.0.start).checked_sub(count) {
            Some(start) => {
                self.0.start = start as u8;
                true
            }
            None => false,
        }
    }

    /// Takes `count` bytes off the front of the header and returns whether there were as many.
    #[inline]
    pub fn shrink_front(&mut self, count: usize) -> bool {
        let start = usize::from(self.0.start) + count;
        let fits = start <= usize::from(self.0.end);
        if fits {
            self.0.start = start as u8;
        }
        fits
    }

    /// All bytes, the body made real.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_to(&mut out);
        out
    }

    /// Appends all bytes to `out`, the body made real.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        out.reserve_exact(self.len() as usize);
        out.extend_from_slice(self.header());
        self.0.body.write_to(out);
    }

    /// Hints the processor that the header is about to be read.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_bytes::<Data>(&self.0, offset_of!(Data, header) + HEADROOM);
    }

    /// The same of all that a device or a link reads of most frames.
    #[inline]
    pub fn prefetch_all(&self) {
        prefetch_bytes::<Data>(&self.0, offset_of!(Data, header) + HEADROOM + 1);
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes:", self.len())?;
        self.header().iter().try_for_each(|b| write!(f, " {b:02x}"))?;
        write!(f, ")")
    }
}

/// Equal bytes; how they are held does not matter.
impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        self.len() == other.len() && self.to_vec() == other.to_vec()
    }
}
impl Eq for Frame {}
