//! Network namespaces: a thread visits one to make sockets there, and comes back.
//!
//! A socket belongs for ever to the namespace in which it was made, so that one process holds interfaces of many.

use super::error::{PortError, refused};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::{self, ThreadId};

/// The namespace where the calling thread is.
const OWN: &str = "/proc/thread-self/ns/net";

thread_local! {
    /// How many visits the thread is in.
    static VISITS: Cell<u32> = const { Cell::new(0) };
}

/// Brings the thread back to the namespace that it came from, also when what it did there panics.
struct Home(File);

impl Drop for Home {
    fn drop(&mut self) {
        VISITS.set(VISITS.get() - 1);
        // SAFETY: only a descriptor is passed.
        if unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
            // Every later socket of this thread would be made in the wrong namespace without anybody noticing.
            eprintln!("twinplane: can't return to the network namespace: {}", io::Error::last_os_error());
            std::process::abort();
        }
    }
}

/// Runs `visit` with the calling thread in the network namespace at `path` (`/run/netns/NAME`, `/proc/PID/ns/net`), or
/// where it is if there is none. Other threads stay where they are.
pub fn within<T>(path: Option<&Path>, visit: impl FnOnce() -> Result<T, PortError>) -> Result<T, PortError> {
    let Some(path) = path else { return visit() };
    let there = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => PortError::NoNamespace { path: path.to_path_buf() },
        _ => PortError::System { what: format!("network namespace {}", path.display()), source },
    })?;
    let home = File::open(OWN).map_err(|source| PortError::System { what: OWN.to_string(), source })?;
    // SAFETY: only a descriptor is passed.
    if unsafe { libc::setns(there.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
        let source = io::Error::last_os_error();
        return Err(match source.raw_os_error() {
            Some(libc::EINVAL) => PortError::NoNamespace { path: path.to_path_buf() },
            _ => refused(format!("network namespace {}", path.display()), source),
        });
    }
    VISITS.set(VISITS.get() + 1);
    let _home = Home(home);
    visit()
}

/// Identifies where a thread is: the thread, and how many visits deep it is, one inside another; 0 in the
/// namespace where it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit(ThreadId, u32);

/// Where the calling thread is now; compare two of these to see whether it has left a namespace in between.
pub fn current_visit() -> Visit {
    Visit(thread::current().id(), VISITS.get())
}

/// Is the namespace at `path`, or none, the one where the calling thread is?
pub fn is_here(path: Option<&Path>) -> bool {
    let Some(path) = path else { return true };
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino()));
    matches!((identity(path), identity(Path::new(OWN))), (Ok(a), Ok(b)) if a == b)
}
