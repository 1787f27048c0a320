//! Network namespaces: a thread visits one to make sockets there, and comes back.
//!
//! A socket belongs for ever to the namespace in which it was made, so that one process holds interfaces of many.

use super::error::{PortError, refused};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Brings the thread back to the namespace that it came from, also when what it did there panics.
struct Home(File);

impl Drop for Home {
    fn drop(&mut self) {
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
    let home = File::open("/proc/thread-self/ns/net")
        .map_err(|source| PortError::System { what: "/proc/thread-self/ns/net".to_string(), source })?;
    // SAFETY: only a descriptor is passed.
    if unsafe { libc::setns(there.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
        let source = io::Error::last_os_error();
        return Err(match source.raw_os_error() {
            Some(libc::EINVAL) => PortError::NoNamespace { path: path.to_path_buf() },
            _ => refused(format!("network namespace {}", path.display()), source),
        });
    }
    let _home = Home(home);
    visit()
}
