//! A TCP connection of the kernel that somebody has set up: its bytes come and go without waiting.

use super::sys;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// A connection, until the other end or the kernel ends it.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    epoll: OwnedFd,
    unsent: Vec<u8>,
    /// Is it said when the kernel takes bytes again?
    is_waiting: bool,
    is_open: bool,
    chunk: Vec<u8>,
}

impl Stream {
    /// Takes over a connected socket.
    pub fn new(socket: OwnedFd) -> io::Result<Stream> {
        sys::set_nonblocking(&socket)?;
        // A message goes at once, however short it is.
        sys::set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1i32)?;
        let epoll = sys::epoll()?;
        sys::epoll_set(&epoll, libc::EPOLL_CTL_ADD, socket.as_raw_fd(), libc::EPOLLIN)?;
        Ok(Stream {
            socket,
            epoll,
            unsent: Vec::new(),
            is_waiting: false,
            is_open: true,
            chunk: vec![0; CHUNK],
        })
    }

    /// A descriptor that is readable when there is something to do: bytes have come, or those that wait can go.
    pub fn poll_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// False once it has ended; nothing comes or goes from then on.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Appends what has come, a chunk at most: what is left makes [`Stream::poll_fd`] readable.
    pub fn receive(&mut self, to: &mut Vec<u8>) {
        if !self.is_open {
            return;
        }
        match sys::receive(&self.socket, &mut self.chunk) {
            Ok(0) => self.end(),
            Ok(len) => to.extend_from_slice(&self.chunk[..len]),
            Err(error) if is_passing(&error) => {}
            Err(_) => self.end(),
        }
    }

    /// Sends bytes behind those that wait, as many as the kernel takes; the rest waits.
    pub fn send(&mut self, bytes: &[u8]) {
        if !self.is_open {
            return;
        }
        self.unsent.extend_from_slice(bytes);
        let mut sent = 0;
        while sent < self.unsent.len() {
            match sys::send(&self.socket, &self.unsent[sent..]) {
                Ok(len) => sent += len,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => break,
                Err(_) => return self.end(),
            }
        }
        self.unsent.drain(..sent);
        let is_waiting = !self.unsent.is_empty();
        if is_waiting != self.is_waiting {
            self.is_waiting = is_waiting;
            let events = if is_waiting { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN };
            // It fails for want of memory alone; then bytes that wait go when others come.
            let _ = sys::epoll_set(&self.epoll, libc::EPOLL_CTL_MOD, self.socket.as_raw_fd(), events);
        }
    }

    fn end(&mut self) {
        self.is_open = false;
        self.unsent = Vec::new();
        // A connection that has ended would be readable for ever.
        let _ = sys::epoll_set(&self.epoll, libc::EPOLL_CTL_DEL, self.socket.as_raw_fd(), 0);
    }
}

/// Will it work another time?
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;

    fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let far = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (near, _) = listener.accept().expect("the other end");
        (Stream::new(OwnedFd::from(near)).expect("a stream"), far)
    }

    fn is_ready(stream: &Stream) -> bool {
        sys::wait_readable(&[stream.poll_fd()], 1000).expect("an answer")
    }

    #[test]
    fn bytes_come_and_go_and_the_end_is_seen_once() {
        let (mut near, mut far) = pair();
        let mut came = Vec::new();
        near.receive(&mut came);
        assert!(came.is_empty() && near.is_open(), "nothing has come, and nobody waits for it");
        far.write_all(b"hello").expect("sent");
        assert!(is_ready(&near));
        near.receive(&mut came);
        near.send(b"you, too");
        let mut said = [0; 8];
        far.read_exact(&mut said).expect("an answer");
        assert_eq!((&came[..], &said), (&b"hello"[..], b"you, too"));
        drop(far);
        assert!(is_ready(&near));
        near.receive(&mut came);
        assert!(!near.is_open());
        assert!(!sys::wait_readable(&[near.poll_fd()], 0).expect("an answer"), "it does not wake for ever");
        near.send(b"gone");
    }

    #[test]
    fn what_the_kernel_does_not_take_at_once_goes_later() {
        let (mut near, mut far) = pair();
        let all = vec![7; 16 << 20];
        near.send(&all);
        assert!(near.is_waiting, "more than the kernel has room for");
        let reader = std::thread::spawn(move || {
            let mut got = vec![0; 16 << 20];
            far.read_exact(&mut got).expect("all of it");
            got
        });
        while near.is_waiting {
            assert!(is_ready(&near));
            near.send(&[]);
        }
        assert_eq!(reader.join().expect("a reader"), all);
    }
}
