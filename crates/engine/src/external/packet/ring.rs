//! Rings of frames shared with the kernel (`TPACKET_V2`): one slot of fixed length for each frame.
//!
//! ```text
//!  |<----------------------------- slot ------------------------------->|
//!  +----------------+-------------+--------------+----------------------+
//!  | tpacket2_hdr   | sockaddr_ll | virtio header| frame                |   received: the frame begins at tp_mac
//!  +----------------+-------------+--------------+----------------------+
//!  | tpacket2_hdr   | virtio header | frame                             |   to be sent
//!  +----------------+---------------+-----------------------------------+
//! ```

use crate::external::sys::{Mapping, set_option};
use crate::external::vnet;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// The slot belongs to us: `TP_STATUS_USER`.
pub const USER: u32 = 1;
/// The whole frame waits to be read from the socket: `TP_STATUS_COPY`.
pub const COPY: u32 = 1 << 1;
/// There was a VLAN tag: `TP_STATUS_VLAN_VALID`.
pub const VLAN: u32 = 1 << 4;
/// The tag's own EtherType is known: `TP_STATUS_VLAN_TPID_VALID`.
pub const VLAN_TPID: u32 = 1 << 6;
/// The slot is to be sent: `TP_STATUS_SEND_REQUEST`.
pub const SEND: u32 = 1;
/// The slot belongs to whoever fills it: `TP_STATUS_KERNEL`, `TP_STATUS_AVAILABLE`.
pub const FREE: u32 = 0;

/// Bytes of a block, the piece of memory that a ring is made of.
const BLOCK: u32 = 1 << 17;
/// Where the bytes to be sent begin, or the address of a frame received: behind a `tpacket2_hdr`.
const SEND_AT: usize = 32;

/// What the kernel and the program say to each other in front of each frame: `struct tpacket2_hdr`
/// (linux/if_packet.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// Whose the slot is, and what is known of the frame.
    pub status: u32,
    /// The length of the frame.
    pub len: u32,
    /// How much of it lies here.
    pub held: u32,
    /// Bytes from the start of the slot to the link-layer header.
    pub mac: u16,
    /// Bytes from the start of the slot to the network-layer header.
    pub net: u16,
    /// When it was received: seconds since 1970.
    pub seconds: u32,
    /// Nanoseconds of that second.
    pub nanos: u32,
    /// The VLAN tag that was taken out.
    pub tci: u16,
    /// The EtherType of the VLAN tag that was taken out, such as 0x8100.
    pub tpid: u16,
    _padding: [u8; 4],
}

/// A ring of slots for frames, in memory that the kernel and the program share.
#[derive(Debug)]
pub struct Ring {
    memory: Mapping,
    slot_len: usize,
    slots: usize,
    at: usize,
}

impl Ring {
    /// Makes a ring of `slots` slots of `slot_len` bytes (a power of two) of a socket: `PACKET_RX_RING` or
    /// `PACKET_TX_RING`.
    pub fn new(socket: &OwnedFd, option: i32, slots: u32, slot_len: u32) -> io::Result<Ring> {
        const V2: i32 = 1;
        set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &V2)?;
        let block = BLOCK.max(slot_len);
        let per_block = block / slot_len;
        let blocks = slots.div_ceil(per_block).max(1);
        let slots = blocks * per_block;
        set_option(socket, libc::SOL_PACKET, option, &[block, blocks, slot_len, slots])?;
        let memory = Mapping::of(socket, (block * blocks) as usize, 0)?;
        Ok(Ring { memory, slot_len: slot_len as usize, slots: slots as usize, at: 0 })
    }

    /// How many slots it has.
    pub fn slots(&self) -> usize {
        self.slots
    }
    /// The longest frame that can be put into a slot to be sent.
    pub fn send_max(&self) -> usize {
        self.slot_len - SEND_AT - vnet::LEN
    }

    fn slot(&self, ahead: usize) -> *mut u8 {
        let at = (self.at + ahead) % self.slots;
        // SAFETY: `at` is below `slots`, and the memory holds `slots` slots.
        unsafe { self.memory.start().add(at * self.slot_len) }
    }
    fn status_of(&self, ahead: usize) -> &AtomicU32 {
        // SAFETY: a slot begins with its status, aligned; the kernel writes it as we do, as one word.
        unsafe { AtomicU32::from_ptr(self.slot(ahead).cast()) }
    }
    /// The state of the slot so many ahead of the next one.
    #[inline]
    pub fn status(&self, ahead: usize) -> u32 {
        self.status_of(ahead).load(Ordering::Acquire)
    }
    /// Sets the state of that slot, which hands it over; what was written to the slot before is seen by the kernel.
    #[inline]
    pub fn set_status(&self, ahead: usize, status: u32) {
        self.status_of(ahead).store(status, Ordering::Release);
    }
    /// Goes on by `count` slots.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.at = (self.at + count) % self.slots;
    }

    /// What the kernel says of the frame in the next slot, whether it is on its way out, and what lies there of it,
    /// with the virtio header in front. Only for a slot whose status is [`USER`].
    #[inline]
    pub fn received(&self) -> (Header, bool, &[u8]) {
        let slot = self.slot(0);
        // SAFETY: the slot is ours until its status is set again, and begins with a header.
        let header = unsafe { slot.cast::<Header>().read() };
        // SAFETY: a `sockaddr_ll` follows, aligned.
        let kind = unsafe { (*slot.add(SEND_AT).cast::<libc::sockaddr_ll>()).sll_pkttype };
        let from = usize::from(header.mac).saturating_sub(vnet::LEN).min(self.slot_len);
        let len = (header.held as usize + vnet::LEN).min(self.slot_len - from);
        // SAFETY: within the slot, by the two minima above.
        (header, kind == libc::PACKET_OUTGOING, unsafe { std::slice::from_raw_parts(slot.add(from), len) })
    }

    /// Writes a frame to be sent, in two pieces, into the slot so many ahead. The pieces fit in [`Ring::send_max`].
    #[inline]
    pub fn fill(&mut self, ahead: usize, virtio: &[u8; vnet::LEN], head: &[u8], body: &[u8]) {
        let len = vnet::LEN + head.len() + body.len();
        assert!(SEND_AT + len <= self.slot_len, "a frame of {len} bytes in a slot of {}", self.slot_len);
        let slot = self.slot(ahead);
        // SAFETY: the three pieces fit, as asserted; the slot is ours until its status says otherwise.
        unsafe {
            (*slot.cast::<Header>()).len = len as u32;
            let to = slot.add(SEND_AT);
            to.copy_from_nonoverlapping(virtio.as_ptr(), vnet::LEN);
            to.add(vnet::LEN).copy_from_nonoverlapping(head.as_ptr(), head.len());
            to.add(vnet::LEN + head.len()).copy_from_nonoverlapping(body.as_ptr(), body.len());
        }
        self.set_status(ahead, SEND);
    }
}
