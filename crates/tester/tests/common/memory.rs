//! External ports without interfaces: two ends of a pair of sockets, which carry whole frames as veths do.

use base::Frame;
use engine::external::Clock;
use engine::external::{ExternalCounters, ExternalPort, PortError};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;

/// One end.
pub struct MemoryPort {
    name: String,
    socket: UnixDatagram,
    counters: ExternalCounters,
    buffer: Vec<u8>,
}

/// Two ports, each of which receives what the other sends.
pub fn pair(name: &str) -> [MemoryPort; 2] {
    let (a, b) = UnixDatagram::pair().expect("a pair of sockets");
    [(a, "a"), (b, "b")].map(|(socket, end)| {
        socket.set_nonblocking(true).expect("a socket");
        let buffer = vec![0; 65_536];
        MemoryPort { name: format!("{name}{end}"), socket, counters: ExternalCounters::default(), buffer }
    })
}

impl MemoryPort {
    /// The same end once more, for whoever comes after the one that holds it now.
    pub fn again(&self) -> MemoryPort {
        let socket = self.socket.try_clone().expect("a socket");
        let counters = ExternalCounters::default();
        MemoryPort { name: self.name.clone(), socket, counters, buffer: self.buffer.clone() }
    }
}

impl ExternalPort for MemoryPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, _: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError> {
        for count in 0..max {
            match self.socket.recv(&mut self.buffer) {
                Ok(len) => {
                    frames.push(Frame::from_bytes(&self.buffer[..len]));
                    self.counters.rx_frames += 1;
                    self.counters.rx_bytes += len as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(count),
                Err(_) => return Err(PortError::Gone { name: self.name.clone() }),
            }
        }
        Ok(max)
    }

    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError> {
        let mut sent = 0;
        while let Some(frame) = frames.front() {
            match self.socket.send(&frame.to_vec()) {
                Ok(len) => {
                    self.counters.tx_frames += 1;
                    self.counters.tx_bytes += len as u64;
                    frames.pop_front();
                    sent += 1;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Err(PortError::Gone { name: self.name.clone() }),
            }
        }
        Ok(sent)
    }

    fn poll_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn link_up(&mut self) -> Result<bool, PortError> {
        Ok(true)
    }

    fn counters(&self) -> ExternalCounters {
        self.counters
    }
}
