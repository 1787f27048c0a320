//! BPF by hand: an assembler for the few instructions that the ports' programs need, and the system call that loads
//! them.
//!
//! Programs are attached by links ([`attach`]), which the kernel takes away with the last descriptor: a process that
//! ends, however it ends, leaves none behind.

use super::sys::{Mapping, check};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A register. `R0` holds results, `R1` to `R5` arguments (lost in a call), `R6` to `R9` are kept, `R10` points
/// behind the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// How wide a load or store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A word of four bytes: `BPF_W`.
    Word = 0x00,
    /// A double word of eight bytes: `BPF_DW`.
    Double = 0x18,
}

/// When a jump is taken (RFC 9669, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The jump is always taken: `BPF_JA`.
    Always = 0x00,
    /// Jumps if both are equal: `BPF_JEQ`.
    Equal = 0x10,
    /// Jumps if the first is greater, both taken as unsigned: `BPF_JGT`.
    Greater = 0x20,
    /// Jumps if they differ: `BPF_JNE`.
    NotEqual = 0x50,
}

/// `BPF_FUNC_map_lookup_elem` (linux/bpf.h): the address of a map's value, or 0.
const MAP_LOOKUP: i32 = 1;
/// `BPF_FUNC_skb_store_bytes` (linux/bpf.h): writes bytes into a frame.
pub const STORE_BYTES: i32 = 9;
/// `BPF_FUNC_clone_redirect` (linux/bpf.h): sends a copy of a frame by an interface.
pub const CLONE_REDIRECT: i32 = 13;
/// `BPF_FUNC_skb_change_tail` (linux/bpf.h): changes the length of a frame at its end.
pub const CHANGE_TAIL: i32 = 38;
/// `BPF_FUNC_skb_change_head` (linux/bpf.h): makes room in front of a frame.
pub const CHANGE_HEAD: i32 = 43;
/// `BPF_FUNC_redirect_map` (linux/bpf.h): sends a frame to a socket of a map.
pub const REDIRECT_MAP: i32 = 51;

/// Puts a program together. Jumps go to names.
///
/// ```text
///  0               1               2                               4                               8
///  +---------------+-------+-------+-------------------------------+-------------------------------+
///  |    opcode     | dst   | src   |            offset             |           immediate           |   RFC 9669, 3
///  +---------------+-------+-------+-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    code: Vec<u64>,
    jumps: Vec<(usize, &'static str)>,
    labels: BTreeMap<&'static str, usize>,
}

impl Assembler {
    fn put(mut self, opcode: u8, dst: Reg, src: Reg, offset: i16, immediate: i32) -> Assembler {
        let registers = (src as u8) << 4 | dst as u8;
        let [o0, o1] = offset.to_le_bytes();
        let [i0, i1, i2, i3] = immediate.to_le_bytes();
        self.code.push(u64::from_le_bytes([opcode, registers, o0, o1, i0, i1, i2, i3]));
        self
    }
    /// Emits `dst = src`, of 64 bits.
    pub fn copy(self, dst: Reg, src: Reg) -> Assembler {
        self.put(0xbf, dst, src, 0, 0)
    }
    /// Emits `dst = value`, of 64 bits; the value is sign-extended.
    pub fn set(self, dst: Reg, value: i32) -> Assembler {
        self.put(0xb7, dst, Reg::R0, 0, value)
    }
    /// Emits `dst += value`, of 64 bits; the value is sign-extended.
    pub fn add(self, dst: Reg, value: i32) -> Assembler {
        self.put(0x07, dst, Reg::R0, 0, value)
    }
    /// `dst = *(src + offset)`
    pub fn load(self, width: Width, dst: Reg, src: Reg, offset: i16) -> Assembler {
        self.put(0x61 | width as u8, dst, src, offset, 0)
    }
    /// `*(dst + offset) = src`
    pub fn store(self, width: Width, dst: Reg, offset: i16, src: Reg) -> Assembler {
        self.put(0x63 | width as u8, dst, src, offset, 0)
    }
    /// `dst = map`: an instruction of sixteen bytes (RFC 9669, 5.4).
    pub fn map(self, dst: Reg, map: &OwnedFd) -> Assembler {
        self.put(0x18, dst, Reg::R1, 0, map.as_raw_fd()).put(0, Reg::R0, Reg::R0, 0, 0)
    }
    /// `if left (condition) value goto label`
    pub fn jump(mut self, condition: Condition, left: Reg, value: i32, label: &'static str) -> Assembler {
        self.jumps.push((self.code.len(), label));
        self.put(0x05 | condition as u8, left, Reg::R0, 0, value)
    }
    /// `if left (condition) right goto label`
    pub fn jump_registers(
        mut self,
        condition: Condition,
        left: Reg,
        right: Reg,
        label: &'static str,
    ) -> Assembler {
        self.jumps.push((self.code.len(), label));
        self.put(0x0d | condition as u8, left, right, 0, 0)
    }
    /// `R0 = helper(R1 to R5)`
    pub fn call(self, helper: i32) -> Assembler {
        self.put(0x85, Reg::R0, Reg::R0, 0, helper)
    }
    /// `R0 = &map[0]`, or zero: an array has its values by number. Takes four bytes below R10.
    pub fn first_value(self, map: &OwnedFd) -> Assembler {
        const KEY: i16 = -4;
        self.set(Reg::R1, 0)
            .store(Width::Word, Reg::R10, KEY, Reg::R1)
            .copy(Reg::R2, Reg::R10)
            .add(Reg::R2, i32::from(KEY))
            .map(Reg::R1, map)
            .call(MAP_LOOKUP)
    }
    /// Emits `return R0`: the end of the program.
    pub fn exit(self) -> Assembler {
        self.put(0x95, Reg::R0, Reg::R0, 0, 0)
    }
    /// Where jumps to `name` go.
    pub fn label(mut self, name: &'static str) -> Assembler {
        self.labels.insert(name, self.code.len());
        self
    }
    /// The instructions, if there is every label that is jumped to, within reach.
    pub fn finish(mut self) -> io::Result<Vec<u64>> {
        for (at, label) in &self.jumps {
            let to = self.labels.get(label);
            let offset = to.and_then(|&to| i16::try_from(to as i64 - *at as i64 - 1).ok());
            let offset =
                offset.ok_or_else(|| io::Error::other(format!("BPF: no label {label} within reach")))?;
            self.code[*at] |= u64::from(offset as u16) << 16;
        }
        Ok(self.code)
    }
}

/// Kinds of BPF map, by their numbers in linux/bpf.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// An array; its values can be mapped into memory.
    Array = 2,
    /// AF_XDP sockets by queue.
    XskMap = 17,
}

/// Kinds of BPF program, by their numbers in linux/bpf.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Classifies frames at an interface's ingress or egress.
    Classifier = 3,
    /// Sees frames before the kernel makes socket buffers of them.
    Xdp = 6,
}

/// Where a program is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachTo {
    /// Before socket buffers are made of received frames: `BPF_XDP` (linux/bpf.h).
    Xdp = 37,
    /// As frames leave by an interface, before its queue discipline: `BPF_TCX_EGRESS` (linux/bpf.h).
    Egress = 47,
}

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROGRAM_LOAD: i32 = 5;
const PROGRAM_TEST_RUN: i32 = 10;
const LINK_CREATE: i32 = 28;
/// `BPF_F_MMAPABLE` (linux/bpf.h): a process may map the values of an array into its memory.
const MAPPABLE: u32 = 1 << 10;

/// The system call: `words` is the start of `union bpf_attr`, the rest is zero.
fn bpf(command: i32, words: &[u32]) -> io::Result<i32> {
    call(command, &mut attributes(words))
}

/// Room for the part of `union bpf_attr` (linux/bpf.h) that these calls use, in words.
type Attributes = [u32; 36];

fn attributes(words: &[u32]) -> Attributes {
    let mut attributes = [0; 36];
    attributes[..words.len()].copy_from_slice(words);
    attributes
}

fn call(command: i32, attributes: &mut Attributes) -> io::Result<i32> {
    let size = size_of::<Attributes>();
    // SAFETY: the kernel reads and writes `size` bytes of a live array; addresses in it are vouched for by the
    // callers below.
    check(unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_mut_ptr(), size) } as i32)
}

/// A 64-bit field, which may hold an address, as two words in the machine's order.
fn wide(value: u64) -> [u32; 2] {
    let (low, high) = (value as u32, (value >> 32) as u32);
    if cfg!(target_endian = "big") { [high, low] } else { [low, high] }
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: a descriptor that the kernel has just made for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// A new map with keys of four bytes.
pub fn map(kind: MapKind, value_len: u32, entries: u32) -> io::Result<OwnedFd> {
    let flags = if kind == MapKind::Array { MAPPABLE } else { 0 };
    Ok(owned(bpf(MAP_CREATE, &[kind as u32, 4, value_len, entries, flags])?))
}

/// Sets the four-byte value of a key.
pub fn update(map: &OwnedFd, key: u32, value: u32) -> io::Result<()> {
    let [k0, k1] = wide(&raw const key as u64);
    let [v0, v1] = wide(&raw const value as u64);
    bpf(MAP_UPDATE, &[map.as_raw_fd() as u32, 0, k0, k1, v0, v1]).map(|_| ())
}

/// The values of an array, mapped into memory.
pub fn values(map: &OwnedFd, value_len: usize, entries: usize) -> io::Result<Mapping> {
    let len = (value_len.next_multiple_of(8) * entries).next_multiple_of(4096);
    Mapping::of(map, len, 0)
}

/// Loads a program. The kernel's verifier explains in the error why it refuses one.
pub fn load(kind: ProgramKind, code: &[u64]) -> io::Result<OwnedFd> {
    const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";
    let [code0, code1] = wide(code.as_ptr() as u64);
    let [licence0, licence1] = wide(LICENCE.as_ptr() as u64);
    let head = [kind as u32, code.len() as u32, code0, code1, licence0, licence1];
    let refused = match bpf(PROGRAM_LOAD, &head) {
        Ok(fd) => return Ok(owned(fd)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EACCES)) => error,
        Err(error) => return Err(error),
    };
    let mut log = vec![0u8; 1 << 16];
    let [log0, log1] = wide(log.as_mut_ptr() as u64);
    let mut words = head.to_vec();
    words.extend([1, log.len() as u32, log0, log1]);
    if let Ok(fd) = bpf(PROGRAM_LOAD, &words) {
        return Ok(owned(fd));
    }
    let text = String::from_utf8_lossy(&log);
    let text = text.trim_end_matches('\0').trim_end();
    if text.is_empty() { Err(refused) } else { Err(io::Error::other(format!("{refused}: {text}"))) }
}

/// Attaches a program to an interface until the descriptor is closed.
pub fn attach(program: &OwnedFd, interface: u32, to: AttachTo, flags: u32) -> io::Result<OwnedFd> {
    Ok(owned(bpf(LINK_CREATE, &[program.as_raw_fd() as u32, interface, to as u32, flags])?))
}

/// Runs a classifier once on a socket buffer with these bytes, which stay as they are, and returns what it returned.
pub fn run(program: &OwnedFd, bytes: &[u8]) -> io::Result<u32> {
    const RETURNED: usize = 1;
    let [at0, at1] = wide(bytes.as_ptr() as u64);
    let mut attributes =
        attributes(&[program.as_raw_fd() as u32, 0, bytes.len() as u32, 0, at0, at1, 0, 0, 1]);
    call(PROGRAM_TEST_RUN, &mut attributes)?;
    Ok(attributes[RETURNED])
}
