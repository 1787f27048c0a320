//! The few system calls that the ports need, with errors instead of return codes.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};

/// `PACKET_VNET_HDR` (linux/if_packet.h): each frame has a virtio header in front, with what is left undone on it.
pub const PACKET_VNET_HDR: i32 = 15;
/// `PACKET_QDISC_BYPASS` (linux/if_packet.h): frames are sent past the queue discipline.
pub const PACKET_QDISC_BYPASS: i32 = 20;
/// `PACKET_IGNORE_OUTGOING` (linux/if_packet.h): the socket does not see what others send.
pub const PACKET_IGNORE_OUTGOING: i32 = 23;
/// `ETH_P_ALL` as a socket address has it.
pub const EVERY_PROTOCOL: u16 = (libc::ETH_P_ALL as u16).to_be();

/// The value of a system call that returns -1 and sets `errno` if it fails.
pub fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for calls that return a length.
pub fn check_len(result: isize) -> io::Result<usize> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

/// The number of a system error; 0 if it has none.
pub fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// A socket in the network namespace of the calling thread.
pub fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed; what is returned is a new descriptor that nobody else owns.
    unsafe {
        let fd = check(libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sets an option of a socket.
pub fn set_option<T: Copy>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of a live value.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    check(result).map(|_| ())
}

/// Reads an option of a socket. `T` is a plain C structure: every pattern of bits is a value.
///
/// # Safety
/// Zeros and whatever the kernel writes for `option` must be a valid `T`.
pub unsafe fn option<T: Copy>(socket: &OwnedFd, level: i32, option: i32) -> io::Result<T> {
    // SAFETY: the caller vouches for `T`; the kernel writes at most `size_of::<T>()` bytes.
    unsafe {
        let mut value: T = zeroed();
        let mut len = size_of::<T>() as libc::socklen_t;
        check(libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_mut(&mut value).cast(),
            &mut len,
        ))?;
        Ok(value)
    }
}

/// Lets a descriptor never wait.
pub fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: plain calls with integers.
    unsafe {
        let flags = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)).map(|_| ())
    }
}

/// What has come to a connected socket: so many bytes, and none if the other end sends no more.
pub fn receive(socket: &OwnedFd, to: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes into the slice, and no further.
    check_len(unsafe { libc::recv(socket.as_raw_fd(), to.as_mut_ptr().cast(), to.len(), 0) })
}

/// Gives bytes to a connected socket: so many are taken. An end that is gone is an error, and no signal.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel reads the slice.
    check_len(unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    })
}

/// A descriptor that is readable when one of those that it watches is ready.
pub fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed; what is returned is a new descriptor that nobody else owns.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?)) }
}

/// Watches a descriptor for `events`, or for others than before, or no longer.
pub fn epoll_set(epoll: &OwnedFd, operation: i32, fd: RawFd, events: i32) -> io::Result<()> {
    let mut event = libc::epoll_event { events: events as u32, u64: 0 };
    // SAFETY: both descriptors are open, and the event lives through the call.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &mut event) }).map(|_| ())
}

/// Binds a socket to an address given as a C structure.
pub fn bind<T: Copy>(socket: &OwnedFd, address: &T) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of a live value.
    let result = unsafe {
        libc::bind(socket.as_raw_fd(), ptr::from_ref(address).cast(), size_of::<T>() as libc::socklen_t)
    };
    check(result).map(|_| ())
}

/// The socket address of every frame of the interface `index`.
pub fn link_address(index: u32) -> libc::sockaddr_ll {
    // SAFETY: a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = EVERY_PROTOCOL;
    address.sll_ifindex = index as i32;
    address
}

/// Does `fd` have something to read within `timeout_ms`?
pub fn wait_readable(fds: &[RawFd], timeout_ms: i32) -> io::Result<bool> {
    let poll = |&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polls: Vec<libc::pollfd> = fds.iter().map(poll).collect();
    // SAFETY: as many structures as the count says, which live through the call.
    match check(unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, timeout_ms) }) {
        Ok(count) => Ok(count > 0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Memory shared with the kernel, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is plain memory; those who use it from several threads take care of order themselves.
unsafe impl Send for Mapping {}

impl Mapping {
    /// `len` bytes of `fd` from `offset` on.
    pub fn of(fd: &OwnedFd, len: usize, offset: i64) -> io::Result<Mapping> {
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Mapping::new(len, flags, fd.as_raw_fd(), offset)
    }
    /// `len` bytes of zeros that nobody else has.
    pub fn anonymous(len: usize) -> io::Result<Mapping> {
        Mapping::new(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }
    fn new(len: usize, flags: i32, fd: RawFd, offset: i64) -> io::Result<Mapping> {
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, fd, offset)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, len })
    }
    /// Address of the first byte; valid as long as the mapping lives.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
    /// Bytes that are mapped.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by us with this length, and its owner is gone.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
