//! A port over AF_XDP: a program of a few instructions at the interface hands every frame to our socket before the
//! kernel makes a socket buffer of it.
//!
//! The program is put together by hand ([`super::bpf`]) and attached by a link, so that it goes away with the process.
//! On veth the kernel copies each frame into our memory, and makes a socket buffer of each that we send; a driver that
//! can do without does so by itself. The interface has one receive queue (one socket takes one queue), and its frames
//! fit in a page: a longer MTU is refused with its reason.
//!
//! Nothing says here what a kernel left undone on a frame. Super-frames don't come: while such a program is attached
//! to one end of a veth, the kernel cuts them for the other. Partial checksums come unannounced; a frame whose
//! checksum field holds the bare sum of its pseudo header is taken for one of those and completed, which changes
//! nothing in a frame that was complete.

mod rings;

use super::bpf::{self, Assembler, AttachTo, MapKind, ProgramKind, Reg::*, Width};
use super::burst::Bursts;
use super::error::{PortError, refused};
use super::interface::{Interface, Probe};
use super::netns;
use super::netns::Visit;
use super::pool::Pool;
use super::port::{ExternalCounters, ExternalPort, ExternalSpec};
use super::sys::{self, errno, set_option};
use crate::external::clock::Clock;
use crate::offload;
use base::frame::HEADER_ROOM;
use base::{Body, Frame};
use rings::{Rings, kick_rx, kick_tx};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Chunks to send from.
const SEND_CHUNKS: u32 = 1024;
/// Frames put into the ring before the kernel is called.
const BATCH: usize = 64;
/// Calls that the kernel may need to send one batch; it sends about thirty frames a call.
const KICKS: usize = 16;
/// `XDP_PASS`: what becomes of frames of other queues.
const PASS: i32 = 2;
/// Where `struct xdp_md` has the number of the receive queue.
const RX_QUEUE: i16 = 16;
/// `XDP_FLAGS_DRV_MODE`: in the driver.
const IN_DRIVER: u32 = 1 << 2;
/// `XDP_FLAGS_SKB_MODE`: in the kernel, for drivers that can't.
const IN_KERNEL: u32 = 1 << 1;
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// How often a router that starts tries to have the interface before it says that another program has it.
const ATTEMPTS: u32 = 50;
/// How often it tries to have the queue of an interface that no program has: the kernel lets go of a queue only some
/// time after its socket was closed, and on a busy machine that has taken more than half a second.
const LETTING_GO: u32 = 1000;
/// Milliseconds between two attempts.
const PAUSE_MS: i32 = 10;

/// A port over AF_XDP.
#[derive(Debug)]
pub struct XdpPort {
    name: String,
    spec: ExternalSpec,
    interface: Interface,
    probe: Probe,
    // The socket goes before the memory that it uses.
    socket: OwnedFd,
    rings: Rings,
    /// Chunks to send from that are ours.
    free: Vec<u64>,
    bodies: Pool,
    bursts: Bursts,
    /// Pieces of a frame that was cut, all but the last: that is in the queue from which the frame came.
    pieces: VecDeque<Frame>,
    _link: OwnedFd,
    _program: OwnedFd,
    _map: OwnedFd,
    counters: ExternalCounters,
    native: bool,
}

impl XdpPort {
    /// Opens the interface that `spec` names.
    pub fn open(spec: &ExternalSpec) -> Result<XdpPort, PortError> {
        XdpPort::try_open(spec, ATTEMPTS)
    }

    fn try_open(spec: &ExternalSpec, attempts: u32) -> Result<XdpPort, PortError> {
        let home = netns::is_here(spec.netns.as_deref()).then(netns::current_visit);
        netns::within(spec.netns.as_deref(), || XdpPort::here(spec, home, attempts))
    }

    fn here(spec: &ExternalSpec, home: Option<Visit>, attempts: u32) -> Result<XdpPort, PortError> {
        let interface = Interface::here(&spec.interface)?;
        let name = spec.interface.clone();
        let probe = Probe::new(&name)?;
        let queues = probe.receive_queues();
        if queues > 1 {
            let reason =
                format!("AF_XDP takes one receive queue, this has {queues}: ethtool -L {name} combined 1");
            return Err(PortError::Unsuitable { name, reason });
        }
        let failed = |source| refused(format!("AF_XDP on {name}"), source);
        let longest = interface.mtu as usize + offload::LINK_HEADER_MAX;
        let too_long = || PortError::Unsuitable {
            name: name.clone(),
            reason: format!(
                "MTU {} is too long for AF_XDP, whose frames fit in a page: set 3,500 at the most on both ends, or \
                 take the packet driver",
                interface.mtu
            ),
        };
        if longest > 4096 {
            return Err(too_long());
        }
        let chunk = if longest <= 2048 { 2048 } else { 4096 };
        let receive = spec.receive_slots.clamp(64, 1 << 15).next_power_of_two();
        let socket = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(failed)?;
        let (rings, free) = Rings::new(&socket, chunk, receive, SEND_CHUNKS).map_err(failed)?;
        if spec.busy_poll {
            busy_poll(&socket).map_err(failed)?;
        }
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: interface.index,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        let taken = || PortError::Unsuitable {
            name: name.clone(),
            reason: "another program has its frames by XDP".to_string(),
        };
        let map = bpf::map(MapKind::XskMap, 4, 1).map_err(failed)?;
        let code = code(&map).map_err(failed)?;
        let program = bpf::load(ProgramKind::Xdp, &code).map_err(failed)?;
        let attach = |flags| {
            again_while_busy(attempts, || bpf::attach(&program, interface.index, AttachTo::Xdp, flags))
        };
        let (link, native) = match attach(IN_DRIVER) {
            Ok(link) => (link, true),
            Err(error) if errno(&error) == libc::EOPNOTSUPP => (attach(IN_KERNEL).map_err(failed)?, false),
            Err(error) => match errno(&error) {
                libc::ERANGE | libc::EINVAL if interface.mtu > 1500 => return Err(too_long()),
                libc::EBUSY | libc::EEXIST => return Err(taken()),
                _ => return Err(failed(error)),
            },
        };
        // No other program is there, so whoever has the queue has closed its socket: the kernel lets go of it in time.
        let patience = if attempts > 1 { LETTING_GO } else { 1 };
        again_while_busy(patience, || sys::bind(&socket, &address)).map_err(|source| {
            match errno(&source) {
                libc::EBUSY => taken(),
                _ => failed(source),
            }
        })?;
        bpf::update(&map, 0, socket.as_raw_fd() as u32).map_err(failed)?;
        Ok(XdpPort {
            name,
            spec: spec.clone(),
            bursts: Bursts::to(&interface, home),
            interface,
            probe,
            socket,
            rings,
            free,
            bodies: Pool::new(chunk as usize, 4096),
            pieces: VecDeque::new(),
            _link: link,
            _program: program,
            _map: map,
            counters: ExternalCounters::default(),
            native,
        })
    }

    /// Does the driver itself run the program, before there is a socket buffer?
    pub fn is_native(&self) -> bool {
        self.native
    }

    fn gone(&self) -> PortError {
        PortError::Gone { name: self.name.clone() }
    }

    /// Puts frames from the front into the ring, and returns how many. Those that the interface never takes are
    /// dropped.
    fn fill(&mut self, frames: &mut VecDeque<Frame>) -> usize {
        let mut filled = 0;
        let mut pieces = std::mem::take(&mut self.pieces);
        while filled < BATCH {
            let queue = if pieces.is_empty() { &mut *frames } else { &mut pieces };
            let Some(frame) = queue.front() else { break };
            if frame.offload().is_some() {
                self.cut(frames);
                pieces = std::mem::take(&mut self.pieces);
                continue;
            }
            let len = frame.len() as usize;
            if len > (self.interface.mtu as usize + ETHERNET).min(self.rings.chunk_len()) {
                queue.pop_front();
                self.counters.tx_too_long += 1;
                continue;
            }
            if !self.rings.tx.has_room() {
                break;
            }
            let Some(chunk) = self.free.pop() else { break };
            let bytes = self.rings.chunk_mut(chunk);
            let header = frame.header();
            bytes[..header.len()].copy_from_slice(header);
            match frame.body().as_slice() {
                Some(body) => bytes[header.len()..len].copy_from_slice(body),
                None => {
                    let mut body = Vec::new();
                    frame.body().write_to(&mut body);
                    bytes[header.len()..len].copy_from_slice(&body);
                }
            }
            self.rings.tx.put(libc::xdp_desc { addr: chunk, len: len as u32, options: 0 });
            self.counters.tx_frames += 1;
            self.counters.tx_bytes += len as u64;
            queue.pop_front();
            filled += 1;
        }
        self.pieces = pieces;
        filled
    }

    /// Cuts the frame in front: its last piece takes its place, and the others go before.
    fn cut(&mut self, frames: &mut VecDeque<Frame>) {
        let Some(frame) = frames.pop_front() else { return };
        offload::real_frames(frame, &mut |piece| self.pieces.push_back(piece));
        match self.pieces.pop_back() {
            Some(last) => frames.push_front(last),
            None => self.counters.tx_errors += 1,
        }
        self.counters.tx_segmented += u64::from(!self.pieces.is_empty());
    }

    /// Takes back the chunks that were sent.
    fn collect(&mut self) {
        while let Some(chunk) = self.rings.completion.take() {
            self.free.push(chunk);
        }
        self.rings.completion.give_back();
    }
}

/// Tries `attempts` times, with pauses, while the kernel says that the interface or its queue is taken.
fn again_while_busy<T>(attempts: u32, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..attempts {
        match call() {
            Err(error) if errno(&error) == libc::EBUSY => {
                // SAFETY: waits for nothing, without descriptors.
                unsafe { libc::poll(std::ptr::null_mut(), 0, PAUSE_MS) };
            }
            result => return result,
        }
    }
    call()
}

/// Hands frames to the socket in the map at the number of their queue; those of queues without one go on to the kernel.
fn code(map: &OwnedFd) -> io::Result<Vec<u64>> {
    Assembler::default()
        .load(Width::Word, R2, R1, RX_QUEUE)
        .map(R1, map)
        .set(R3, PASS)
        .call(bpf::REDIRECT_MAP)
        .exit()
        .finish()
}

/// Has the kernel look for frames in our calls instead of by interrupts.
fn busy_poll(socket: &OwnedFd) -> io::Result<()> {
    const SO_PREFER_BUSY_POLL: i32 = 69;
    const SO_BUSY_POLL_BUDGET: i32 = 70;
    set_option(socket, libc::SOL_SOCKET, SO_PREFER_BUSY_POLL, &1i32)?;
    set_option(socket, libc::SOL_SOCKET, libc::SO_BUSY_POLL, &20i32)?;
    set_option(socket, libc::SOL_SOCKET, SO_BUSY_POLL_BUDGET, &(BATCH as i32))
}

impl ExternalPort for XdpPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, _: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError> {
        let mut count = 0;
        while count < max {
            let Some(descriptor) = self.rings.rx.take() else { break };
            count += 1;
            let bytes = self.rings.bytes(&descriptor);
            let mut frame = match bytes.split_first_chunk::<HEADER_ROOM>() {
                Some((head, rest)) if !rest.is_empty() => {
                    let (slab, len) = self.bodies.filled(|slab| {
                        let len = rest.len().min(slab.len());
                        slab[..len].copy_from_slice(&rest[..len]);
                        len as u32
                    });
                    Frame::from_room(head, HEADER_ROOM, Body::Owned { bytes: slab, start: 0, len })
                }
                _ => Frame::new(bytes, Body::Empty),
            };
            offload::complete_if_partial(&mut frame);
            self.counters.rx_frames += 1;
            self.counters.rx_bytes += bytes.len() as u64;
            let chunk = self.rings.chunk_of(&descriptor);
            // There is always room: the ring has as many entries as there are chunks to receive into.
            if self.rings.fill.has_room() {
                self.rings.fill.put(chunk);
            }
            frames.push(frame);
        }
        if count > 0 {
            self.rings.rx.give_back();
            self.rings.fill.show();
        }
        if self.rings.fill.needs_wakeup() {
            kick_rx(&self.socket);
        }
        Ok(count)
    }

    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        let before = frames.len();
        loop {
            self.collect();
            if self.pieces.is_empty() && self.rings.tx.is_drained() {
                self.bursts.send(frames, &self.interface, &mut self.counters);
            }
            let filled = self.fill(frames);
            if filled > 0 {
                self.rings.tx.show();
            }
            let mut kicks = 0;
            while !self.rings.tx.is_drained() && self.rings.tx.needs_wakeup() && kicks < KICKS {
                kicks += 1;
                match kick_tx(&self.socket) {
                    Ok(_) => {}
                    Err(error) => match errno(&error) {
                        libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR => {}
                        libc::ENXIO | libc::ENODEV | libc::EBADF => return Err(self.gone()),
                        libc::ENETDOWN => {
                            self.counters.tx_dropped += frames.len() as u64;
                            frames.clear();
                            break;
                        }
                        _ => break,
                    },
                }
            }
            if filled < BATCH || frames.is_empty() {
                break;
            }
        }
        Ok(before - frames.len())
    }

    fn has_unsent(&self) -> bool {
        !self.rings.tx.is_drained() && self.rings.tx.needs_wakeup()
    }

    fn reopen(&mut self) -> Result<(), PortError> {
        // Who sends meanwhile can't wait for a queue that somebody else has.
        let fresh = XdpPort::try_open(&self.spec, 1)?;
        let before = std::mem::replace(self, fresh);
        self.counters = before.counters();
        Ok(())
    }

    fn poll_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn link_up(&mut self) -> Result<bool, PortError> {
        self.probe.link_up(&self.name, self.interface.index)
    }

    fn counters(&self) -> ExternalCounters {
        // SAFETY: integers.
        let statistics =
            unsafe { sys::option::<libc::xdp_statistics>(&self.socket, libc::SOL_XDP, libc::XDP_STATISTICS) };
        let kernel = statistics.map_or(0, |s| s.rx_dropped + s.rx_ring_full);
        ExternalCounters { rx_kernel_drops: self.counters.rx_kernel_drops + kernel, ..self.counters }
    }
}
