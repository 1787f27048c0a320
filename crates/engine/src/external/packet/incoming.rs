//! What comes in by a packet socket: short frames out of a ring, super-frames out of the socket's queue.

use super::ring::{self, COPY, FREE, Ring, USER, VLAN, VLAN_TPID};
use super::{LONGEST, RING_OVERHEAD, socket};
use crate::external::interface::Interface;
use crate::external::pool::Pool;
use crate::external::sys::{self, errno, set_option};
use crate::external::vnet;
use crate::offload;
use base::frame::HEADER_ROOM;
use base::{Body, Frame};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Where a VLAN tag goes: behind the two addresses.
const TAG_AT: usize = 12;
/// Bytes of a tag.
const TAG_LEN: usize = 4;

/// Frames that could not be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Longer than any frame that is taken.
    pub too_long: u64,
    /// Of more than a slot, when the kernel held as much as it may already.
    pub no_room: u64,
    /// Of a kind that the kernel can't describe or we don't know.
    pub unknown: u64,
}

/// Bytes of a slot at most, whatever the interface carries: rings of large slots would take tens of megabytes for
/// each port, and push one another out of the processor's caches. Longer frames lie in the socket's queue.
const SLOT_MAX: u32 = 2048;

/// A frame that came in.
pub(crate) struct Received {
    pub frame: Frame,
    /// When the kernel got it, in nanoseconds since 1970.
    pub nanos: u64,
    /// Was it sent by this host, and seen on its way out?
    pub outgoing: bool,
}

/// A packet socket that listens.
#[derive(Debug)]
pub(crate) struct Incoming {
    socket: OwnedFd,
    ring: Ring,
    bodies: Pool,
    long_bodies: Pool,
    pub counts: Counts,
    kernel_drops: Cell<u64>,
}

impl Incoming {
    /// Listens to an interface of the namespace where the calling thread is.
    pub fn open(
        interface: &Interface,
        slots: u32,
        outgoing: bool,
        promiscuous: bool,
    ) -> io::Result<Incoming> {
        let slot_len = slot_len(interface.mtu).min(SLOT_MAX);
        let socket = socket()?;
        if !outgoing {
            set_option(&socket, libc::SOL_PACKET, sys::PACKET_IGNORE_OUTGOING, &1i32)?;
        }
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_COPY_THRESH, &1i32)?;
        let ring = Ring::new(&socket, libc::PACKET_RX_RING, slots.max(64), slot_len)?;
        sys::bind(&socket, &sys::link_address(interface.index))?;
        if promiscuous {
            let member = libc::packet_mreq {
                mr_ifindex: interface.index as i32,
                mr_type: libc::PACKET_MR_PROMISC as u16,
                mr_alen: 0,
                mr_address: [0; 8],
            };
            set_option(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)?;
        }
        Ok(Incoming {
            socket,
            ring,
            bodies: Pool::new(slot_len as usize, 4096),
            long_bodies: Pool::new(LONGEST, 512),
            counts: Counts::default(),
            kernel_drops: Cell::new(0),
        })
    }

    /// Readable when frames wait.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Takes note of an error of the socket, which would keep its descriptor readable: an interface that was switched
    /// off says so in this way, and goes on when it is switched on again.
    pub fn clear_error(&self) {
        // SAFETY: an integer.
        let _ = unsafe { sys::option::<i32>(&self.socket, libc::SOL_SOCKET, libc::SO_ERROR) };
    }

    /// Frames that passed while the ring was full.
    pub fn kernel_drops(&self) -> u64 {
        // The kernel counts since it was last asked.
        // SAFETY: two integers.
        let stats =
            unsafe { sys::option::<[u32; 2]>(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS) };
        self.kernel_drops.set(self.kernel_drops.get() + stats.map_or(0, |[_, drops]| u64::from(drops)));
        self.kernel_drops.get()
    }

    /// Counts on from where the one before has come.
    pub fn count_on(&mut self, before: &Incoming) {
        self.counts = before.counts;
        self.kernel_drops.set(before.kernel_drops());
    }

    /// The next frame: `None` if none waits, `Some(None)` for one that could not be taken and was counted.
    #[inline]
    pub fn next(&mut self) -> Option<Option<Received>> {
        let status = self.ring.status(0);
        if status & USER == 0 {
            return None;
        }
        let (header, outgoing, bytes) = self.ring.received();
        let tag = tag(&header);
        let frame = if status & COPY != 0 {
            self.read_long(tag)
        } else if header.held < header.len {
            self.count_long(header.len as usize);
            None
        } else {
            let frame = short(&mut self.bodies, tag, bytes);
            self.counts.unknown += u64::from(frame.is_none());
            frame
        };
        self.ring.set_status(0, FREE);
        self.ring.advance(1);
        let nanos = u64::from(header.seconds) * 1_000_000_000 + u64::from(header.nanos);
        Some(frame.map(|frame| Received { frame, nanos, outgoing }))
    }

    /// Counts a frame of which only the beginning came.
    fn count_long(&mut self, len: usize) {
        if len > LONGEST {
            self.counts.too_long += 1;
        } else {
            self.counts.no_room += 1;
        }
    }

    /// Reads the frame of a slot that was too short for it.
    fn read_long(&mut self, tag: Option<[u8; TAG_LEN]>) -> Option<Frame> {
        let socket = self.socket.as_raw_fd();
        let mut head = [0u8; vnet::LEN + HEADER_ROOM];
        let (slab, result) = self.long_bodies.filled(|slab| {
            let mut pieces = [
                libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: head.len() },
                libc::iovec { iov_base: slab.as_mut_ptr().cast(), iov_len: slab.len() },
            ];
            // SAFETY: a structure of integers and pointers that may be null.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            message.msg_iov = pieces.as_mut_ptr();
            message.msg_iovlen = pieces.len() as _;
            // SAFETY: both pieces live through the call and have the lengths given.
            sys::check_len(unsafe {
                libc::recvmsg(socket, &mut message, libc::MSG_DONTWAIT | libc::MSG_TRUNC)
            })
        });
        let len = match result {
            Ok(len) => len,
            Err(error) => {
                // The kernel had no room for it, or does not know how to describe it.
                match errno(&error) {
                    libc::EINVAL => self.counts.unknown += 1,
                    _ => self.counts.no_room += 1,
                }
                return None;
            }
        };
        if len > LONGEST {
            self.count_long(len);
            return None;
        }
        let body_len = len.saturating_sub(head.len()) as u32;
        let body =
            if body_len == 0 { Body::Empty } else { Body::Owned { bytes: slab, start: 0, len: body_len } };
        let head = &head[..len.min(head.len())];
        let (virtio, head) = head.split_first_chunk::<{ vnet::LEN }>()?;
        let Ok(offload) = vnet::parse(virtio, head) else {
            self.counts.unknown += 1;
            return None;
        };
        let mut frame = Frame::new(head, body);
        frame.set_offload(offload);
        if let Some(tag) = tag {
            insert_tag(&mut frame, tag);
        }
        Some(frame)
    }
}

/// The VLAN tag that the kernel took out of a frame.
fn tag(header: &ring::Header) -> Option<[u8; TAG_LEN]> {
    if header.status & VLAN == 0 {
        return None;
    }
    let tpid = if header.status & VLAN_TPID != 0 { header.tpid } else { libc::ETH_P_8021Q as u16 };
    let ([t0, t1], [v0, v1]) = (tpid.to_be_bytes(), header.tci.to_be_bytes());
    Some([t0, t1, v0, v1])
}

/// Bytes of a slot for the frames of an interface.
pub(super) fn slot_len(mtu: u32) -> u32 {
    let longest = mtu as usize + offload::LINK_HEADER_MAX + RING_OVERHEAD;
    longest.next_power_of_two().clamp(2048, 16_384) as u32
}

/// A frame of the bytes of a slot: a virtio header and the frame.
#[inline]
fn short(bodies: &mut Pool, tag: Option<[u8; TAG_LEN]>, bytes: &[u8]) -> Option<Frame> {
    let (virtio, bytes) = bytes.split_first_chunk::<{ vnet::LEN }>()?;
    let offload = if *virtio == [0; vnet::LEN] { None } else { vnet::parse(virtio, bytes).ok()? };
    let mut frame = match bytes.split_first_chunk::<HEADER_ROOM>() {
        Some((head, [])) => Frame::from_room(head, HEADER_ROOM, Body::Empty),
        Some((head, rest)) => {
            let (slab, len) = bodies.filled(|slab| {
                let len = rest.len().min(slab.len());
                slab[..len].copy_from_slice(&rest[..len]);
                len as u32
            });
            Frame::from_room(head, HEADER_ROOM, Body::Owned { bytes: slab, start: 0, len })
        }
        None => Frame::new(bytes, Body::Empty),
    };
    if offload.is_some() {
        frame.set_offload(offload);
    }
    if let Some(tag) = tag {
        insert_tag(&mut frame, tag);
    }
    Some(frame)
}

/// Puts a VLAN tag back. What is left undone stays where it is: its places are counted from the first byte.
fn insert_tag(frame: &mut Frame, tag: [u8; TAG_LEN]) {
    if frame.header().len() < TAG_AT || !frame.grow_front(TAG_LEN) {
        return;
    }
    let header = frame.header_mut();
    header.copy_within(TAG_LEN..TAG_LEN + TAG_AT, 0);
    header[TAG_AT..TAG_AT + TAG_LEN].copy_from_slice(&tag);
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::frame::{Offload, Segment};

    #[test]
    fn a_tag_goes_back_behind_the_addresses() {
        let mut frame = Frame::from_bytes(&(0..60).collect::<Vec<u8>>());
        insert_tag(&mut frame, [0x81, 0, 0, 7]);
        let bytes = frame.to_vec();
        assert_eq!(bytes.len(), 64);
        assert_eq!(bytes[..18], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x81, 0, 0, 7, 12, 13]);
    }

    #[test]
    fn a_tag_shifts_what_is_left_undone() {
        let mut frame = Frame::from_bytes(&[0; 60]);
        let offload = Offload {
            needs_checksum: true,
            checksum_start: 34,
            checksum_offset: 16,
            segment: Segment::None,
            segment_size: 0,
            header_len: 54,
        };
        frame.set_offload(Some(offload));
        insert_tag(&mut frame, [0x81, 0, 0, 7]);
        let shifted = Offload { checksum_start: 38, header_len: 58, ..offload };
        assert_eq!(frame.offload(), Some(shifted));
    }
}
