//! A port over AF_PACKET: frames come and go by rings shared with the kernel, super-frames by the socket.
//!
//! Three sockets, all bound to one interface after they were made deaf (protocol 0), so that none ever sees another:
//!
//! - one that receives: by a ring; what is longer than a slot lies whole in the socket's queue;
//! - one that sends by a ring, everything that fits in a slot;
//! - one that sends the rest, super-frames above all, one by one.
//!
//! The kernel copies a frame out of a sending slot before it lets go of the slot: the virtio header asks it to keep the
//! whole frame in one piece. Without that, it sends pages of the ring themselves, and on veth hands the slot back while
//! the receiver still reads them. The figures behind all this are in `docs/decisions`.

pub(crate) mod incoming;
mod label_push;
mod ring;
mod send;

use super::burst::Bursts;
use super::error::{PortError, refused};
use super::interface::{Interface, Probe};
use super::netns;
use super::netns::Visit;
use super::port::{ExternalCounters, ExternalPort, ExternalSpec};
use super::sys::{self, set_option};
use crate::external::clock::Clock;
use crate::offload;
use base::Frame;
use incoming::{Incoming, Received};
use label_push::LabelPush;
use ring::Ring;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{OwnedFd, RawFd};

/// Slots of the ring to be sent from.
const SEND_SLOTS: u32 = 256;
/// The longest frame that is received: TCP super-frames have an IP packet of 64 KiB.
const LONGEST: usize = 65_536 + 256;
/// What the kernel may hold of super-frames that were not read yet, or not sent.
const SOCKET_BUFFER: i32 = 16 << 20;
/// Bytes that a call of `receive` takes: what the processor still has at hand when they are sent on.
const BURST_BYTES: u64 = 512 << 10;
/// Calls of `receive` that find nothing before the socket is asked for an error, which would keep its descriptor
/// readable.
const IDLE_CALLS: u32 = 256;

/// What a slot holds beside the frame, at most: its header, an address, the virtio header, and room for alignment.
const RING_OVERHEAD: usize = 128;

/// How super-frames with labels leave.
#[derive(Debug)]
enum Labelled {
    /// As they are: the kernel looks below the labels.
    Direct,
    /// As IP packets, and a program pushes the labels.
    Push(OwnedFd, Box<LabelPush>),
    /// Cut into frames of the MTU beforehand: the kernel can do neither of the others.
    Segments,
}

/// A port over AF_PACKET.
#[derive(Debug)]
pub struct PacketPort {
    name: String,
    spec: ExternalSpec,
    interface: Interface,
    probe: Probe,
    offload: bool,
    incoming: Incoming,
    sender: OwnedFd,
    send_ring: Ring,
    long_sender: OwnedFd,
    labelled: Labelled,
    bursts: Bursts,
    scratch: Vec<u8>,
    /// Pieces of a frame that was cut, all but the last: that is in the queue from which the frame came.
    pieces: VecDeque<Frame>,
    idle: u32,
    /// How often the frame in front was refused for want of room.
    stuck: u32,
    counters: ExternalCounters,
}

impl PacketPort {
    /// Opens the interface that `spec` names.
    pub fn open(spec: &ExternalSpec) -> Result<PacketPort, PortError> {
        let home = netns::is_here(spec.netns.as_deref()).then(netns::current_visit);
        netns::within(spec.netns.as_deref(), || PacketPort::here(spec, home))
    }

    fn here(spec: &ExternalSpec, home: Option<Visit>) -> Result<PacketPort, PortError> {
        let interface = Interface::here(&spec.interface)?;
        let name = spec.interface.clone();
        let failed = |source| refused(format!("packet socket on {name}"), source);
        let parts = || -> io::Result<_> {
            let incoming = Incoming::open(&interface, spec.receive_slots, false, spec.promiscuous)?;
            let sender = socket()?;
            // A slot that the kernel finds wrong is skipped, not kept.
            set_option(&sender, libc::SOL_PACKET, libc::PACKET_LOSS, &1i32)?;
            let slot_len = incoming::slot_len(interface.mtu);
            let send_ring = Ring::new(&sender, libc::PACKET_TX_RING, SEND_SLOTS, slot_len)?;
            if spec.bypass_queue {
                set_option(&sender, libc::SOL_PACKET, sys::PACKET_QDISC_BYPASS, &1i32)?;
            }
            sys::bind(&sender, &send_address(interface.index))?;
            let long_sender = socket()?;
            sys::bind(&long_sender, &send_address(interface.index))?;
            Ok((incoming, sender, send_ring, long_sender))
        };
        let (incoming, sender, send_ring, long_sender) = parts().map_err(failed)?;
        Ok(PacketPort {
            probe: Probe::new(&name)?,
            name,
            spec: spec.clone(),
            // Only of veth is it known that it takes labelled super-frames without segmenting them itself.
            labelled: if interface.driver == "veth" { Labelled::Direct } else { Labelled::Segments },
            bursts: Bursts::to(&interface, home),
            interface,
            offload: spec.offload,
            incoming,
            sender,
            send_ring,
            long_sender,
            scratch: Vec::new(),
            pieces: VecDeque::new(),
            idle: 0,
            stuck: 0,
            counters: ExternalCounters::default(),
        })
    }

    fn gone(&self) -> PortError {
        PortError::Gone { name: self.name.clone() }
    }

    fn system(&self, source: io::Error) -> PortError {
        PortError::System { what: format!("packet socket on {}", self.name), source }
    }
}

/// A packet socket that hears nothing until it is bound, and whose frames begin with a virtio header.
fn socket() -> io::Result<OwnedFd> {
    let socket = sys::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)?;
    set_option(&socket, libc::SOL_PACKET, sys::PACKET_VNET_HDR, &1i32)?;
    for (forced, plain) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
    {
        if set_option(&socket, libc::SOL_SOCKET, forced, &SOCKET_BUFFER).is_err() {
            set_option(&socket, libc::SOL_SOCKET, plain, &SOCKET_BUFFER)?;
        }
    }
    Ok(socket)
}

/// An address to send to, without hearing anything.
fn send_address(interface: u32) -> libc::sockaddr_ll {
    let mut address = sys::link_address(interface);
    address.sll_protocol = 0;
    address
}

impl ExternalPort for PacketPort {
    fn name(&self) -> &str {
        &self.name
    }
    fn receive(&mut self, clock: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError> {
        let before = frames.len();
        let (mut taken, until) = (0, self.counters.rx_bytes + BURST_BYTES);
        while taken < max && self.counters.rx_bytes < until {
            let Some(received) = self.incoming.next() else { break };
            taken += 1;
            let Some(Received { mut frame, nanos, .. }) = received else { continue };
            frame.set_arrived(clock.of_realtime(nanos));
            self.counters.rx_frames += 1;
            self.counters.rx_bytes += u64::from(frame.len());
            if self.offload || frame.offload().is_none() {
                frames.push(frame);
            } else if offload::real_frames(frame, &mut |frame| frames.push(frame)) == 0 {
                self.incoming.counts.unknown += 1;
            }
        }
        self.idle = if taken > 0 { 0 } else { self.idle + 1 };
        if self.idle == IDLE_CALLS {
            self.idle = 0;
            self.incoming.clear_error();
        }
        Ok(frames.len() - before)
    }
    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        self.send_frames(frames)
    }
    fn reopen(&mut self) -> Result<(), PortError> {
        let fresh = PacketPort::open(&self.spec)?;
        let before = std::mem::replace(self, fresh);
        self.counters = before.counters;
        self.incoming.count_on(&before.incoming);
        Ok(())
    }
    fn poll_fd(&self) -> RawFd {
        self.incoming.fd()
    }
    fn link_up(&mut self) -> Result<bool, PortError> {
        self.probe.link_up(&self.name, self.interface.index)
    }
    fn counters(&self) -> ExternalCounters {
        let incoming = self.incoming.counts;
        ExternalCounters {
            rx_kernel_drops: self.incoming.kernel_drops() + incoming.no_room,
            rx_too_long: incoming.too_long,
            rx_unknown: incoming.unknown,
            ..self.counters
        }
    }
}
