//! News of interfaces: the kernel says that one of a namespace has changed (rtnetlink(7), `RTMGRP_LINK`), where asking
//! each of them takes a call now and then. Of a veth whose ends have different numbers it says so at once; of others it
//! may tell no more than a change of the link in a second.

use super::error::{PortError, refused};
use super::netns::within;
use super::sys::{bind, errno, receive, set_nonblocking, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Messages about interfaces take some 1,500 bytes each.
const ROOM: usize = 8192;

/// Says that some interface of a namespace has changed. Which one, and how, is to be asked of the interfaces.
#[derive(Debug)]
pub struct News {
    socket: OwnedFd,
}

impl News {
    /// Of the namespace at this path, or of the calling thread's.
    pub fn open(netns: Option<&Path>) -> Result<News, PortError> {
        within(netns, || {
            let open = || {
                let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
                // SAFETY: a structure of integers, for which zero is a value.
                let mut address: libc::sockaddr_nl = unsafe { core::mem::zeroed() };
                address.nl_family = libc::AF_NETLINK as u16;
                address.nl_groups = libc::RTMGRP_LINK as u32;
                bind(&socket, &address)?;
                set_nonblocking(&socket)?;
                Ok(News { socket })
            };
            open().map_err(|source| refused("news of interfaces".to_string(), source))
        })
    }

    /// A descriptor that is readable when there are news.
    pub fn poll_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Has anything changed since the last call? Messages that the kernel had no room for are news, too.
    pub fn take(&self) -> bool {
        let (mut any, mut message) = (false, [0; ROOM]);
        loop {
            match receive(&self.socket, &mut message) {
                Ok(0) => return any,
                Ok(_) => any = true,
                Err(error) if errno(&error) == libc::ENOBUFS => any = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return any,
            }
        }
    }
}
