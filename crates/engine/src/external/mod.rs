//! Interfaces of Linux: everything of the engine that talks to the kernel, with system calls alone.
//!
//! A port ([`ExternalPort`]) carries frames between an interface and the engine. Two drivers stand behind it:
//! [`packet`] (AF_PACKET) works on every interface; [`xdp`] (AF_XDP) takes frames before the kernel makes socket
//! buffers of them. What they need is in small files: [`interface`] (what an interface is and how it is), [`netns`] (a
//! thread visits a namespace to make sockets there), [`news`] (interfaces have changed), [`bpf`] (programs by hand),
//! [`burst`] (many frames sent at once), [`capture`] (both directions of an interface to a file). A [`Stream`] is no
//! port: it carries the bytes of a TCP connection of the kernel, for whoever speaks to programs elsewhere.

pub mod bpf;
pub mod burst;
pub mod capture;
pub mod clock;
pub mod error;
pub mod interface;
pub mod netns;
pub mod news;
pub mod packet;
pub mod pool;
pub mod port;
mod stream;
mod sys;
pub mod vnet;
pub mod xdp;

pub use clock::Clock;
pub use error::PortError;
pub use interface::Interface;
pub use news::News;
pub use port::{Driver, ExternalCounters, ExternalPort, ExternalSpec};
pub use stream::Stream;

/// Opens an interface as a port.
pub fn open(spec: &ExternalSpec) -> Result<Box<dyn ExternalPort>, PortError> {
    match spec.driver {
        Driver::Packet => Ok(Box::new(packet::PacketPort::open(spec)?)),
        Driver::Xdp => Ok(Box::new(xdp::XdpPort::open(spec)?)),
    }
}
