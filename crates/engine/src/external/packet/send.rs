//! Sending: into the ring what fits in a slot, super-frames one by one.

use super::label_push::{LABELS_MAX, LabelPush};
use super::ring::{FREE, SEND};
use super::{Labelled, PacketPort, send_address, socket};
use crate::external::error::PortError;
use crate::external::sys::{self, errno};
use crate::external::{netns, vnet};
use crate::offload;
use base::frame::{Offload, Segment};
use base::{Body, Frame};
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use wire::ethernet::EtherType;

/// Frames that are put into the ring before the kernel is called.
const BATCH: usize = 64;
/// How often a frame may be refused for want of room before it is dropped.
const PATIENCE: u32 = 64;
/// Bytes of an Ethernet header without tags.
const ETHERNET: usize = 14;
/// Bytes of a VLAN tag, which interfaces take above their MTU.
const TAG: usize = 4;

/// What became of a frame.
enum Fate {
    /// The kernel has taken it.
    Sent,
    /// It can't be sent for good: dropped, and counted.
    Dropped,
    /// There is no room now.
    Later,
    /// To be cut into real frames.
    Cut,
}

impl PacketPort {
    pub(super) fn send_frames(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        let mut taken = 0;
        loop {
            if !self.pieces.is_empty() {
                let mut pieces = std::mem::take(&mut self.pieces);
                let result = self.send_whole(&mut pieces);
                self.pieces = pieces;
                result?;
                if !self.pieces.is_empty() {
                    return Ok(taken);
                }
            }
            taken += self.send_whole(frames)?;
            if self.pieces.is_empty() {
                return Ok(taken);
            }
        }
    }

    /// Sends frames from the front, up to one that is to be cut: of that, the last piece stays in the queue, and the
    /// others go before.
    fn send_whole(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        let mut taken = 0;
        loop {
            taken += self.bursts.send(frames, &self.interface, &mut self.counters);
            let filled = self.fill(frames);
            if filled > 0 {
                let done = self.flush(frames, filled)?;
                taken += done;
                if done < filled {
                    return Ok(taken);
                }
                continue;
            }
            let Some(frame) = frames.pop_front() else { return Ok(taken) };
            let too_long = frame.segment_len() as usize > self.longest(&frame);
            let fate = match frame.offload() {
                _ if too_long => {
                    self.counters.tx_too_long += 1;
                    Fate::Dropped
                }
                Some(_) if !self.offload => Fate::Cut,
                _ => self.send_long(&frame)?,
            };
            match fate {
                Fate::Sent => {
                    self.stuck = 0;
                    self.counters.tx_frames += 1;
                    self.counters.tx_bytes += u64::from(frame.len());
                    taken += 1;
                }
                Fate::Dropped => taken += 1,
                Fate::Later => {
                    frames.push_front(frame);
                    self.lose_patience(frames);
                    return Ok(taken);
                }
                Fate::Cut => {
                    self.counters.tx_segmented += 1;
                    offload::real_frames(frame, &mut |piece| self.pieces.push_back(piece));
                    match self.pieces.pop_back() {
                        Some(last) => frames.push_front(last),
                        None => {
                            self.counters.tx_errors += 1;
                            taken += 1;
                        }
                    }
                    if !self.pieces.is_empty() {
                        return Ok(taken);
                    }
                }
            }
        }
    }

    /// The longest frame that the interface takes.
    fn longest(&self, frame: &Frame) -> usize {
        let tagged = matches!(offload::above_tags(frame.header()), Some((at, _)) if at > ETHERNET);
        self.interface.mtu as usize + ETHERNET + if tagged { TAG } else { 0 }
    }

    /// Puts frames from the front into the ring, up to the first that does not go by it, and returns how many.
    fn fill(&mut self, frames: &VecDeque<Frame>) -> usize {
        let longest = self.send_ring.send_max().min(self.interface.mtu as usize + ETHERNET);
        let most = BATCH.min(self.send_ring.slots());
        let mut filled = 0;
        for frame in frames {
            let offload = frame.offload();
            let by_ring = match offload {
                None => true,
                Some(offload) => self.offload && offload.segment == Segment::None,
            };
            let len = frame.len() as usize;
            if filled == most || !by_ring || len > longest || self.send_ring.status(filled) != FREE {
                break;
            }
            // The kernel shall keep the whole frame in one piece, apart from the slot.
            let virtio = vnet::emit(offload, len as u16, false);
            match frame.body().as_slice() {
                Some(body) => self.send_ring.fill(filled, &virtio, frame.header(), body),
                None => {
                    self.scratch.clear();
                    frame.body().write_to(&mut self.scratch);
                    self.send_ring.fill(filled, &virtio, frame.header(), &self.scratch);
                }
            }
            filled += 1;
        }
        filled
    }

    /// Has the kernel send the slots filled, takes what it sent off the queue and returns how many those are.
    fn flush(&mut self, frames: &mut VecDeque<Frame>, filled: usize) -> Result<usize, PortError> {
        // SAFETY: nothing is passed but a descriptor: what is to be sent lies in the ring.
        let result = sys::check_len(unsafe {
            libc::sendto(
                self.sender.as_raw_fd(),
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                std::ptr::null(),
                0,
            )
        });
        let sent = (0..filled).take_while(|&i| self.send_ring.status(i) != SEND).count();
        for ahead in sent..filled {
            self.send_ring.set_status(ahead, FREE);
        }
        self.send_ring.advance(sent);
        for frame in frames.drain(..sent) {
            self.counters.tx_frames += 1;
            self.counters.tx_bytes += u64::from(frame.len());
        }
        if sent > 0 {
            self.stuck = 0;
        }
        let Err(error) = result else { return Ok(sent) };
        match errno(&error) {
            libc::ENXIO | libc::ENODEV => Err(self.gone()),
            libc::ENETDOWN => {
                frames.drain(..filled - sent);
                self.counters.tx_dropped += (filled - sent) as u64;
                Ok(filled)
            }
            libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM | libc::EINTR => {
                self.lose_patience(frames);
                Ok(sent)
            }
            _ if sent < filled => {
                frames.pop_front();
                self.counters.tx_errors += 1;
                Ok(sent + 1)
            }
            _ => Ok(sent),
        }
    }

    /// A frame that the interface refuses again and again is dropped: the other end may be switched off.
    fn lose_patience(&mut self, frames: &mut VecDeque<Frame>) {
        self.stuck += 1;
        if self.stuck > PATIENCE && frames.pop_front().is_some() {
            self.stuck = 0;
            self.counters.tx_dropped += 1;
        }
    }

    /// Sends a frame by itself.
    fn send_long(&mut self, frame: &Frame) -> Result<Fate, PortError> {
        let Some(offload) = frame.offload().filter(|offload| offload.segment != Segment::None) else {
            let result = self.write(false, frame.offload(), false, frame.header(), frame.body());
            return self.fate(result, false);
        };
        let labels = match offload::above_tags(frame.header()) {
            Some((at, EtherType::MPLS | EtherType::MPLS_UPSTREAM)) => Some(at),
            _ => None,
        };
        let ecn = congestion_window_reduced(frame, offload);
        let Some(at) = labels else {
            let result = self.write(false, Some(offload), ecn, frame.header(), frame.body());
            return self.fate(result, true);
        };
        if let Labelled::Direct = self.labelled {
            let result = self.write(false, Some(offload), ecn, frame.header(), frame.body());
            match &result {
                Err(error)
                    if !matches!(
                        errno(error),
                        libc::EAGAIN | libc::ENOBUFS | libc::ENETDOWN | libc::ENXIO
                    ) =>
                {
                    self.labelled = self.push_labels();
                }
                _ => return self.fate(result, true),
            }
        }
        let Labelled::Push(..) = self.labelled else { return Ok(Fate::Cut) };
        let header = frame.header();
        let (Some(ip), true) = (offload::network_offset(header), at == ETHERNET) else {
            return Ok(Fate::Cut);
        };
        let labels = ip - at;
        let version = header.get(ip).map_or(0, |first| first >> 4);
        if labels > LABELS_MAX || !matches!(version, 4 | 6) {
            return Ok(Fate::Cut);
        }
        let mut plain = [0; base::frame::HEADER_CAPACITY];
        let kept = header.len() - labels;
        plain[..ETHERNET - 2].copy_from_slice(&header[..ETHERNET - 2]);
        let ethertype = if version == 6 { EtherType::IPV6 } else { EtherType::IPV4 };
        plain[ETHERNET - 2..ETHERNET].copy_from_slice(&ethertype.0.to_be_bytes());
        plain[ETHERNET..kept].copy_from_slice(&header[ip..]);
        if let Labelled::Push(_, push) = &mut self.labelled {
            push.next(&header[..ip]);
        }
        let labels = labels as u16;
        let offload = Offload {
            checksum_start: offload.checksum_start.saturating_sub(labels),
            header_len: offload.header_len.saturating_sub(labels),
            ..offload
        };
        let result = self.write(true, Some(offload), ecn, &plain[..kept], frame.body());
        self.fate(result, true)
    }

    /// The next best way for labelled super-frames once the kernel has refused one.
    fn push_labels(&self) -> Labelled {
        let index = self.interface.index;
        let attached = netns::within(self.spec.netns.as_deref(), || {
            let failed = |source| self.system(source);
            let sender = socket().map_err(failed)?;
            sys::bind(&sender, &send_address(index)).map_err(failed)?;
            LabelPush::mark(&sender).map_err(failed)?;
            Ok(Labelled::Push(sender, Box::new(LabelPush::attach(index).map_err(failed)?)))
        });
        attached.unwrap_or(Labelled::Segments)
    }

    /// Writes a frame to the socket of its kind: that with the mark if the program shall push labels.
    fn write(
        &mut self,
        push: bool,
        offload: Option<Offload>,
        ecn: bool,
        header: &[u8],
        body: &Body,
    ) -> io::Result<()> {
        let linear = match offload {
            Some(offload) => {
                let checksum = usize::from(offload.checksum_start) + usize::from(offload.checksum_offset) + 2;
                usize::from(offload.header_len).max(checksum)
            }
            None => header.len(),
        };
        let linear = linear.min(header.len() + body.len() as usize) as u16;
        let mut virtio = vnet::emit(offload, linear, ecn);
        let body = match body.as_slice() {
            Some(body) => body,
            None => {
                self.scratch.clear();
                body.write_to(&mut self.scratch);
                &self.scratch
            }
        };
        let pieces = [
            libc::iovec { iov_base: virtio.as_mut_ptr().cast(), iov_len: virtio.len() },
            libc::iovec { iov_base: header.as_ptr().cast_mut().cast(), iov_len: header.len() },
            libc::iovec { iov_base: body.as_ptr().cast_mut().cast(), iov_len: body.len() },
        ];
        let socket = match &self.labelled {
            Labelled::Push(socket, _) if push => socket,
            _ => &self.long_sender,
        };
        // SAFETY: a structure of integers and pointers that may be null.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = pieces.as_ptr().cast_mut();
        message.msg_iovlen = pieces.len() as _;
        // SAFETY: the pieces live through the call, which only reads them.
        sys::check_len(unsafe { libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_DONTWAIT) }).map(|_| ())
    }

    /// What an answer of the kernel means for a frame; `may_cut` if it can still be sent in pieces.
    fn fate(&mut self, result: io::Result<()>, may_cut: bool) -> Result<Fate, PortError> {
        let Err(error) = result else { return Ok(Fate::Sent) };
        Ok(match errno(&error) {
            libc::ENXIO | libc::ENODEV => return Err(self.gone()),
            libc::EAGAIN | libc::ENOBUFS | libc::EINTR => Fate::Later,
            libc::ENETDOWN => {
                self.counters.tx_dropped += 1;
                Fate::Dropped
            }
            libc::EMSGSIZE => {
                self.counters.tx_too_long += 1;
                Fate::Dropped
            }
            _ if may_cut => Fate::Cut,
            libc::ENOMEM => Fate::Later,
            _ => {
                self.counters.tx_errors += 1;
                Fate::Dropped
            }
        })
    }
}

/// Does a TCP super-frame carry the CWR flag? The kernel wants to know beforehand (RFC 3168, 6.1.2).
fn congestion_window_reduced(frame: &Frame, offload: Offload) -> bool {
    let flags = usize::from(offload.checksum_start) + 13;
    offload.segment != Segment::UdpL4 && frame.header().get(flags).is_some_and(|flags| flags & 0x80 != 0)
}
