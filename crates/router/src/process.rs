//! What the operating system is asked for: signals as a file, exact sleep, memory given back, own use of both.

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic;
use std::sync::Mutex;

/// What the last panic said, on one line.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps a panic's message for [`panic_message`], in place of printing it.
pub fn catch_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        if let Ok(mut kept) = PANIC.lock() {
            *kept = Some(crate::log::one_line(&format!("{text}{}", place.unwrap_or_default())));
        }
    }));
}

/// What the last panic said.
pub fn panic_message() -> Option<String> {
    PANIC.lock().ok()?.take()
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Files and sockets are the owner's only; sleep is exact; a terminal that closes does not kill a write.
pub fn prepare() -> io::Result<()> {
    // SAFETY: plain calls without pointers.
    unsafe {
        libc::umask(0o177);
        check(libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0))?;
    }
    Ok(())
}

/// A file that is readable once the process is asked to end.
pub struct Signals(OwnedFd);

impl Signals {
    /// Takes SIGTERM, SIGINT and SIGHUP: they interrupt nothing any more.
    pub fn take() -> io::Result<Signals> {
        // SAFETY: the set is initialised by sigemptyset, and the descriptor is a fresh one that nobody else owns.
        unsafe {
            let mut set = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            let error = libc::pthread_sigmask(libc::SIG_BLOCK, &set, core::ptr::null_mut());
            if error != 0 {
                return Err(io::Error::from_raw_os_error(error));
            }
            let fd = check(libc::signalfd(-1, &set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC))?;
            Ok(Signals(OwnedFd::from_raw_fd(fd)))
        }
    }
}

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Says that the router runs, to a descriptor that the caller opened for it, or on standard output.
pub fn say_ready(fd: Option<RawFd>, line: &str) -> io::Result<()> {
    match fd {
        None => {
            let mut out = io::stdout();
            out.write_all(line.as_bytes())?;
            out.flush()
        }
        Some(fd) => {
            // SAFETY: a descriptor that is not open gives an error; one that is, was given to this process for this.
            let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
            check(flags)?;
            // SAFETY: it is open, and nobody else in this process uses it.
            let mut file = unsafe { std::fs::File::from_raw_fd(fd) };
            file.write_all(line.as_bytes())
        }
    }
}

/// Gives memory that is free back to the system.
pub fn trim_memory() {
    // SAFETY: the allocator may be asked at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of memory that are resident.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    // SAFETY: a plain call.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

/// Seconds of processor that it has used.
pub fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
