//! Many short frames sent by one system call: a program takes them out of memory that it shares with us.
//!
//! A packet socket and an AF_XDP socket on veth send frame by frame: each has its own socket buffer of the sender's
//! account, and behind each the kernel runs the receiver at the other end before it takes the next, which is most of
//! what a short frame costs. Here a classifier is run once (`BPF_PROG_TEST_RUN`) on a socket buffer of its own. It goes
//! through the frames in the shared memory, writes each into the buffer and redirects a clone of it to the interface;
//! the receiver runs once, behind the last. See `docs/decisions` on bursts.
//!
//! ```text
//!  0               4               8                              2048
//!  +---------------+--------------------------------------------- - - +
//!  | refused       | interface     | (64 bytes)                       |
//!  +---------------+---------------+------------------------------ - -+
//!  | length        | 0             | frame 0                          |  a length of 0 ends the burst
//!  +---------------+---------------+------------------------------ - -+
//!  | length        | 0             | frame 1                          |
//! ```
//!
//! Only for veth: an interface with a queue of its own may have no room for all of them and would not say so. Only in
//! the thread that opened the port, where the interface is of the thread's own network namespace: the kernel looks
//! for the interface in the namespace of whoever calls.

use super::bpf::{self, Assembler, Condition, MapKind, ProgramKind, Reg::*, Width};
use super::interface::Interface;
use super::netns::{self, Visit};
use super::port::ExternalCounters;
use super::sys::Mapping;
use base::Frame;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{Ordering, fence};

/// Frames of a burst at most: half of what the ring of a veth holds whose other end is polled.
const MOST: usize = 128;
/// Fewer frames than this are sent one by one: the call costs as much as some of them.
const LEAST: usize = 16;
/// Bytes in front of the frames.
const HEAD: usize = 64;
/// Where it says how many frames were refused.
const REFUSED: usize = 0;
/// Where it says to which interface they go.
const INTERFACE: usize = 4;
/// Bytes of a frame and its length.
const SLOT: usize = 2048;
/// Bytes in front of a frame in its slot.
const SLOT_HEAD: usize = 8;
/// The shortest frame: its Ethernet header.
const SHORTEST: usize = 14;
/// The longest frame that a slot has room for, in bytes from its Ethernet header on.
const LONGEST: usize = SLOT - SLOT_HEAD;
/// Where `struct __sk_buff` has the length.
const SKB_LEN: i16 = 0;

/// What one burst sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames that were taken from the queue.
    pub frames: u64,
    /// Bytes of the frames that were sent; others were refused.
    pub bytes: u64,
    /// How many of them the interface refused.
    pub refused: u64,
}

/// How many frames in front would go by a burst; none if one is not worth it.
fn worth(frames: &VecDeque<Frame>, longest: usize) -> usize {
    let fits = |frame: &&Frame| {
        let len = frame.len() as usize;
        frame.offload().is_none() && (SHORTEST..=longest.min(LONGEST)).contains(&len)
    };
    if frames.len() < LEAST {
        return 0;
    }
    let count = frames.iter().take(MOST).take_while(fits).count();
    if count < LEAST { 0 } else { count }
}

thread_local! {
    /// The program of the thread, for all of its ports: the kernel takes milliseconds to look through it.
    static OWN: RefCell<Option<Burst>> = const { RefCell::new(None) };
}

/// Whether a port can send bursts, and where it was opened.
#[derive(Debug)]
pub enum Bursts {
    /// It can have them, opened on this visit to a network namespace.
    From(Visit),
    /// The interface is no veth, its namespace is not the thread's own, or the kernel refused the program.
    Never,
}

impl Bursts {
    /// Whether a port can have them: `home` is where the calling thread was in the interface's namespace.
    pub(super) fn to(interface: &Interface, home: Option<Visit>) -> Bursts {
        let Some(visit) = home.filter(|_| interface.driver == "veth") else { return Bursts::Never };
        let loaded = OWN.with_borrow_mut(|own| {
            if own.is_none() {
                *own = Burst::new().ok();
            }
            own.is_some()
        });
        if loaded { Bursts::From(visit) } else { Bursts::Never }
    }

    /// Sends frames from the front of the queue if a burst is worth it, and counts them; returns how many.
    #[inline]
    pub(super) fn send(
        &mut self,
        frames: &mut VecDeque<Frame>,
        interface: &Interface,
        counters: &mut ExternalCounters,
    ) -> usize {
        let mut taken = 0;
        while frames.len() >= LEAST {
            let Bursts::From(visit) = self else { break };
            if *visit != netns::current_visit() {
                break;
            }
            let longest = interface.mtu as usize + SHORTEST;
            let sent = OWN.with_borrow_mut(|own| match own {
                Some(own) => own.send(interface.index, frames, longest),
                None => Err(io::ErrorKind::NotFound.into()),
            });
            match sent {
                Ok(sent) if sent.frames == 0 => break,
                Ok(sent) => {
                    counters.tx_frames += sent.frames - sent.refused;
                    counters.tx_bytes += sent.bytes;
                    counters.tx_dropped += sent.refused;
                    taken += sent.frames as usize;
                }
                Err(_) => *self = Bursts::Never,
            }
        }
        taken
    }
}

/// A program and the memory that it takes frames from.
#[derive(Debug)]
pub struct Burst {
    memory: Mapping,
    program: OwnedFd,
    _map: OwnedFd,
}

impl Burst {
    /// Makes the shared memory and loads the program that reads frames from it; fails if the kernel refuses either.
    pub fn new() -> io::Result<Burst> {
        let len = HEAD + MOST * SLOT;
        let map = bpf::map(MapKind::Array, len as u32, 1)?;
        let memory = bpf::values(&map, len, 1)?;
        let program = bpf::load(ProgramKind::Classifier, &code(&map)?)?;
        Ok(Burst { memory, program, _map: map })
    }

    /// Sends frames from the front of the queue, as long as they are short, have nothing left undone and are many
    /// enough to be worth it, to an interface of the namespace where the calling thread is. An error means that bursts
    /// can't be had; no frame is lost by it.
    pub fn send(&mut self, interface: u32, frames: &mut VecDeque<Frame>, longest: usize) -> io::Result<Sent> {
        let count = worth(frames, longest);
        if count == 0 {
            return Ok(Sent::default());
        }
        for (at, frame) in frames.iter().take(count).enumerate() {
            self.fill(at, frame);
        }
        if count < MOST {
            self.set_word(HEAD + count * SLOT, 0);
        }
        self.set_word(REFUSED, 0);
        self.set_word(INTERFACE, interface);
        fence(Ordering::Release);
        // What the program is run on; the program writes over it.
        const BLANK: [u8; 60] = [0; 60];
        let taken = bpf::run(&self.program, &BLANK)? as usize;
        if taken != count {
            return Err(io::Error::other(format!("{taken} frames of {count} went")));
        }
        let refused = u64::from(self.word(REFUSED));
        let bytes = frames.drain(..count).map(|frame| u64::from(frame.len())).sum();
        Ok(Sent { frames: count as u64, bytes, refused })
    }

    /// Writes a frame that fits into a slot.
    fn fill(&mut self, slot: usize, frame: &Frame) {
        let header = frame.header();
        let body = frame.body();
        let at = HEAD + slot * SLOT;
        let len = header.len() + body.len() as usize;
        assert!(slot < MOST && len <= LONGEST, "a frame of {len} bytes in slot {slot}");
        self.set_word(at, len as u32);
        // SAFETY: the slot is within the memory and the frame within the slot, as asserted. The program reads it only
        // during the call that follows.
        let room = unsafe { std::slice::from_raw_parts_mut(self.memory.start().add(at + SLOT_HEAD), len) };
        let (head, rest) = room.split_at_mut(header.len());
        head.copy_from_slice(header);
        match body.as_slice() {
            Some(body) => rest.copy_from_slice(body),
            None => {
                let mut bytes = Vec::with_capacity(rest.len());
                body.write_to(&mut bytes);
                rest.copy_from_slice(&bytes);
            }
        }
    }

    fn word(&self, at: usize) -> u32 {
        debug_assert!(at + 4 <= self.memory.len());
        // SAFETY: within the memory, aligned: all offsets are multiples of eight.
        unsafe { self.memory.start().add(at).cast::<u32>().read_volatile() }
    }
    fn set_word(&mut self, at: usize, value: u32) {
        debug_assert!(at + 4 <= self.memory.len());
        // SAFETY: as above.
        unsafe { self.memory.start().add(at).cast::<u32>().write_volatile(value) }
    }
}

/// `for slot in slots { if slot.len is no length { break } resize(slot.len); write(slot); clone_redirect() }`, and
/// how many slots that were.
fn code(map: &OwnedFd) -> io::Result<Vec<u64>> {
    Assembler::default()
        .copy(R6, R1)
        .first_value(map)
        .jump(Condition::NotEqual, R0, 0, "found")
        .exit()
        // R6: socket buffer, R7: slot, R8: head, R9: how many.
        .label("found")
        .copy(R8, R0)
        .copy(R7, R0)
        .add(R7, HEAD as i32)
        .set(R9, 0)
        .label("slot")
        .jump(Condition::Equal, R9, MOST as i32, "end")
        .load(Width::Word, R4, R7, 0)
        .jump(Condition::Greater, R4, SHORTEST as i32 - 1, "long enough")
        .jump(Condition::Always, R0, 0, "end")
        .label("long enough")
        .jump(Condition::Greater, R4, LONGEST as i32, "end")
        .store(Width::Double, R10, -16, R4)
        .load(Width::Word, R2, R6, SKB_LEN)
        .jump_registers(Condition::Equal, R2, R4, "sized")
        .copy(R1, R6)
        .copy(R2, R4)
        .set(R3, 0)
        .call(bpf::CHANGE_TAIL)
        .jump(Condition::NotEqual, R0, 0, "refused")
        .label("sized")
        .copy(R1, R6)
        .set(R2, 0)
        .copy(R3, R7)
        .add(R3, SLOT_HEAD as i32)
        .load(Width::Double, R4, R10, -16)
        .set(R5, 0)
        .call(bpf::STORE_BYTES)
        .jump(Condition::NotEqual, R0, 0, "refused")
        .copy(R1, R6)
        .load(Width::Word, R2, R8, INTERFACE as i16)
        .set(R3, 0)
        .call(bpf::CLONE_REDIRECT)
        .jump(Condition::Equal, R0, 0, "next")
        .label("refused")
        .load(Width::Word, R1, R8, REFUSED as i16)
        .add(R1, 1)
        .store(Width::Word, R8, REFUSED as i16, R1)
        .label("next")
        .add(R9, 1)
        .add(R7, SLOT as i32)
        .jump(Condition::Always, R0, 0, "slot")
        .label("end")
        .copy(R0, R9)
        .exit()
        .finish()
}
