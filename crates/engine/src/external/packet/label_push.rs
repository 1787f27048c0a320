//! Labels on super-frames that the kernel won't segment below labels: a program at the interface's egress pushes them.
//!
//! A super-frame from a packet socket counts as of doubtful origin, so the kernel looks into its headers before a
//! device gets it whole. It can't look below labels if built without `NET_MPLS_GSO`, and refuses the frame. So the
//! frame is sent as the IP packet that it is; the program puts the label stack in front of it. The kernel's own
//! notes, that the network layer is IP and where it begins, stay as they were, and what it finds there is in order.
//! See `docs/decisions` on segmentation offload.
//!
//! The program touches only frames with our mark. It goes away with the process.

use crate::external::bpf::{self, AttachTo, Condition, MapKind, ProgramKind, Reg::*, Width};
use crate::external::sys::{Mapping, set_option};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{Ordering, fence};

/// The mark of frames that get labels: "TPLS".
const MARK: u32 = 0x5450_4c53;
/// Bytes of labels at most: eight entries.
pub const LABELS_MAX: usize = 32;
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of the map's value: the length of the stack, then the Ethernet header and the stack.
const VALUE: usize = 64;
/// Where `struct __sk_buff` has the mark.
const SKB_MARK: i16 = 8;
/// `TCX_NEXT`: as if there were no program.
const NEXT: i32 = -1;
/// `TCX_DROP` (linux/bpf.h): the frame is dropped.
const DROP: i32 = 2;

/// The program, attached, and the memory from which it takes the labels.
#[derive(Debug)]
pub struct LabelPush {
    headers: Mapping,
    _map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

impl LabelPush {
    /// Attaches the program to an interface of the namespace where the calling thread is.
    pub fn attach(interface: u32) -> io::Result<LabelPush> {
        let map = bpf::map(MapKind::Array, VALUE as u32, 1)?;
        let headers = bpf::values(&map, VALUE, 1)?;
        let program = bpf::load(ProgramKind::Classifier, &code(&map)?)?;
        let link = bpf::attach(&program, interface, AttachTo::Egress, 0)?;
        Ok(LabelPush { headers, _map: map, _program: program, _link: link })
    }

    /// Marks what `socket` sends.
    pub fn mark(socket: &OwnedFd) -> io::Result<()> {
        set_option(socket, libc::SOL_SOCKET, libc::SO_MARK, &MARK)
    }

    /// The Ethernet header and the label stack of the next frame that is sent, which the program reads while it is
    /// sent.
    pub fn next(&mut self, header: &[u8]) {
        let header = &header[..header.len().min(ETHERNET + LABELS_MAX)];
        let labels = header.len().saturating_sub(ETHERNET) as u32;
        // SAFETY: the value has 64 bytes, and the header 46 at most. The program runs within the call that sends.
        unsafe {
            let value = self.headers.start();
            value.cast::<u32>().write_volatile(labels);
            value.add(4).copy_from_nonoverlapping(header.as_ptr(), header.len());
        }
        fence(Ordering::Release);
    }
}

fn code(map: &OwnedFd) -> io::Result<Vec<u64>> {
    bpf::Assembler::default()
        .copy(R6, R1)
        .load(Width::Word, R2, R6, SKB_MARK)
        .jump(Condition::NotEqual, R2, MARK as i32, "next")
        .first_value(map)
        .jump(Condition::Equal, R0, 0, "drop")
        .copy(R7, R0)
        .load(Width::Word, R8, R7, 0)
        .jump(Condition::Equal, R8, 0, "drop")
        .jump(Condition::Greater, R8, LABELS_MAX as i32, "drop")
        // Room in front, then the Ethernet header and the labels over the room and the old Ethernet header.
        .copy(R1, R6)
        .copy(R2, R8)
        .set(R3, 0)
        .call(bpf::CHANGE_HEAD)
        .jump(Condition::NotEqual, R0, 0, "drop")
        .copy(R1, R6)
        .set(R2, 0)
        .copy(R3, R7)
        .add(R3, 4)
        .copy(R4, R8)
        .add(R4, ETHERNET as i32)
        .set(R5, 0)
        .call(bpf::STORE_BYTES)
        .jump(Condition::NotEqual, R0, 0, "drop")
        .set(R1, 0)
        .store(Width::Word, R6, SKB_MARK, R1)
        .label("next")
        .set(R0, NEXT)
        .exit()
        .label("drop")
        .set(R0, DROP)
        .exit()
        .finish()
}
