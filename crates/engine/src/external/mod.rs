//! Interfaces of Linux: everything of the engine that talks to the kernel, with system calls alone.
//!
//! [`interface`] is what an interface is and how it is; [`netns`] has a thread visit a namespace to make sockets there;
//! [`bpf`] loads programs made by hand.

pub mod bpf;
pub mod error;
pub mod interface;
pub mod netns;
mod sys;

pub use error::PortError;
pub use interface::Interface;
