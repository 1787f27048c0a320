//! The four rings of an AF_XDP socket, and the memory of frames that they pass to and fro.
//!
//! ```text
//!             fill: empty chunks                     tx: frames to be sent
//!      us ------------------------> kernel    us ------------------------> kernel
//!         <------------------------              <------------------------
//!             rx: frames received                    completion: chunks sent
//! ```

use crate::external::sys::{Mapping, option, set_option};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// One of the rings: entries of `T`, from its producer to its consumer. One of both is the kernel.
#[derive(Debug)]
pub struct Ring<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    entries: usize,
    size: u32,
    /// Where we are, as producer or as consumer.
    at: u32,
    /// Where the other side was when last looked at.
    other: u32,
    kind: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    fn new(socket: &OwnedFd, size: u32, offset: i64, fields: &libc::xdp_ring_offset) -> io::Result<Ring<T>> {
        let len = fields.desc as usize + size as usize * size_of::<T>();
        Ok(Ring {
            memory: Mapping::of(socket, len, offset)?,
            producer: fields.producer as usize,
            consumer: fields.consumer as usize,
            flags: fields.flags as usize,
            entries: fields.desc as usize,
            size,
            at: 0,
            other: 0,
            kind: PhantomData,
        })
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the kernel said where its words lie in the memory; both sides use them as atomic words.
        unsafe { AtomicU32::from_ptr(self.memory.start().add(at).cast()) }
    }
    fn entry(&self, index: u32) -> *mut T {
        let at = self.entries + (index & (self.size - 1)) as usize * size_of::<T>();
        // SAFETY: the index is below the size, a power of two, and the memory holds so many entries.
        unsafe { self.memory.start().add(at).cast() }
    }

    /// As consumer: the next entry.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        if self.other == self.at {
            self.other = self.word(self.producer).load(Ordering::Acquire);
            if self.other == self.at {
                return None;
            }
        }
        // SAFETY: the producer has passed this entry and won't write it before it is given back.
        let value = unsafe { self.entry(self.at).read_volatile() };
        self.at = self.at.wrapping_add(1);
        Some(value)
    }
    /// As consumer: gives back what was taken.
    #[inline]
    pub fn give_back(&self) {
        self.word(self.consumer).store(self.at, Ordering::Release);
    }

    /// As producer: is there room for an entry?
    #[inline]
    pub fn has_room(&mut self) -> bool {
        if self.at.wrapping_sub(self.other) < self.size {
            return true;
        }
        self.other = self.word(self.consumer).load(Ordering::Acquire);
        self.at.wrapping_sub(self.other) < self.size
    }
    /// As producer: an entry, where there is room.
    #[inline]
    pub fn put(&mut self, value: T) {
        // SAFETY: there is room, so the consumer has passed this entry.
        unsafe { self.entry(self.at).write_volatile(value) };
        self.at = self.at.wrapping_add(1);
    }
    /// As producer: shows what was put.
    #[inline]
    pub fn show(&self) {
        self.word(self.producer).store(self.at, Ordering::Release);
    }
    /// As producer: has the consumer taken everything that was shown?
    pub fn is_drained(&self) -> bool {
        self.word(self.consumer).load(Ordering::Acquire) == self.at
    }
    /// Does the kernel sleep until it is called?
    #[inline]
    pub fn needs_wakeup(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The rings and the memory of one socket.
#[derive(Debug)]
pub struct Rings {
    /// Empty chunks for the kernel.
    pub fill: Ring<u64>,
    /// Descriptors of received frames, filled by the kernel.
    pub rx: Ring<libc::xdp_desc>,
    /// Frames to be sent.
    pub tx: Ring<libc::xdp_desc>,
    /// Chunks that were sent.
    pub completion: Ring<u64>,
    memory: Mapping,
    chunk: usize,
}

impl Rings {
    /// Gives `socket` memory of chunks of `chunk` bytes: `receive` to receive into and `send` to send from, powers of
    /// two. Those to send from come first in the list returned.
    pub fn new(socket: &OwnedFd, chunk: u32, receive: u32, send: u32) -> io::Result<(Rings, Vec<u64>)> {
        let memory = Mapping::anonymous(chunk as usize * (receive + send) as usize)?;
        let registration = libc::xdp_umem_reg {
            addr: memory.start() as u64,
            len: memory.len() as u64,
            chunk_size: chunk,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set_option(socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)?;
        for (ring, size) in [
            (libc::XDP_UMEM_FILL_RING, receive),
            (libc::XDP_UMEM_COMPLETION_RING, send),
            (libc::XDP_RX_RING, receive),
            (libc::XDP_TX_RING, send),
        ] {
            set_option(socket, libc::SOL_XDP, ring, &size)?;
        }
        // SAFETY: integers.
        let offsets: libc::xdp_mmap_offsets =
            unsafe { option(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)? };
        let mut rings = Rings {
            fill: Ring::new(socket, receive, libc::XDP_UMEM_PGOFF_FILL_RING as i64, &offsets.fr)?,
            rx: Ring::new(socket, receive, libc::XDP_PGOFF_RX_RING, &offsets.rx)?,
            tx: Ring::new(socket, send, libc::XDP_PGOFF_TX_RING, &offsets.tx)?,
            completion: Ring::new(socket, send, libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64, &offsets.cr)?,
            memory,
            chunk: chunk as usize,
        };
        for index in 0..receive {
            rings.fill.put(u64::from(send + index) * u64::from(chunk));
        }
        rings.fill.show();
        Ok((rings, (0..u64::from(send)).map(|index| index * u64::from(chunk)).collect()))
    }

    /// The bytes of a frame received.
    #[inline]
    pub fn bytes(&self, frame: &libc::xdp_desc) -> &[u8] {
        let from = (frame.addr as usize).min(self.memory.len());
        let len = (frame.len as usize).min(self.memory.len() - from);
        // SAFETY: within the memory, by the two minima; the chunk is ours until it is put into the fill ring.
        unsafe { std::slice::from_raw_parts(self.memory.start().add(from), len) }
    }
    /// The chunk in which a frame lies.
    pub fn chunk_of(&self, frame: &libc::xdp_desc) -> u64 {
        frame.addr - frame.addr % self.chunk as u64
    }
    /// Bytes of a chunk.
    pub fn chunk_len(&self) -> usize {
        self.chunk
    }
    /// The memory of a chunk that is ours, to be written.
    #[inline]
    pub fn chunk_mut(&mut self, chunk: u64) -> &mut [u8] {
        let from = (chunk as usize).min(self.memory.len() - self.chunk);
        // SAFETY: within the memory; the chunk is on our list, so the kernel neither reads nor writes it.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start().add(from), self.chunk) }
    }
}

/// Asks the kernel to send what lies in the ring.
pub fn kick_tx(socket: &OwnedFd) -> io::Result<usize> {
    // SAFETY: nothing is passed but a descriptor.
    crate::external::sys::check_len(unsafe {
        libc::sendto(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
    })
}

/// Asks the kernel to receive into the chunks of the fill ring.
pub fn kick_rx(socket: &OwnedFd) {
    // SAFETY: nothing is passed but a descriptor. What it fails with comes again from the next call that sends.
    unsafe {
        libc::recvfrom(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            0,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
}
