//! Errors of ports.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a port can't be had, or is no more.
#[derive(Debug, Error)]
pub enum PortError {
    /// The namespace does not exist.
    #[error("no network namespace {}", .path.display())]
    NoNamespace {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no such interface.
    #[error("no interface {name}")]
    NoInterface {
        /// What was looked for.
        name: String,
    },
    /// The interface has no Ethernet frames.
    #[error("interface {name} is not an Ethernet interface")]
    NotEthernet {
        /// The name of the interface that has no Ethernet frames.
        name: String,
    },
    /// The process may not do that.
    #[error("{what}: needs root or CAP_NET_ADMIN and CAP_NET_RAW")]
    NoPrivilege {
        /// What the program tried to do when the kernel refused, in the words of the message.
        what: String,
    },
    /// The interface was taken away.
    #[error("interface {name} is gone")]
    Gone {
        /// The name that the interface had.
        name: String,
    },
    /// The driver can't have this interface as it is.
    #[error("interface {name}: {reason}")]
    Unsuitable {
        /// The name of the interface that does not suit.
        name: String,
        /// Why, and what would be right.
        reason: String,
    },
    /// The kernel refused for a reason that none of the other variants names.
    #[error("{what}: {}", base::diagnostic::os_text(.source))]
    System {
        /// What the program tried to do, in the words of the message.
        what: String,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// An error of the system, as what it means to the user.
pub(crate) fn refused(what: String, source: io::Error) -> PortError {
    match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => PortError::NoPrivilege { what },
        _ => PortError::System { what, source },
    }
}
