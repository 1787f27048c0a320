//! The connection of a router to a forwarding plane that is elsewhere: a switch connects to it over TCP of the kernel,
//! in the namespace of this process.

use crate::channels::{owned, watch};
use base::protocol_value::ProtocolValue;
use base::{Command, NodeId, Time};
use engine::World;
use engine::external::Stream;
use network::Network;
use node::Router;
use node::switch::{Bytes, ChannelInput};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};

/// The number of the connection: there is one at a time.
const CONNECTION: u32 = 0;
/// Reads in a round, so that a switch that floods holds nobody up.
const READS: usize = 4;

/// Listens for the forwarding plane of the router at a node, if it is elsewhere: a descriptor that is readable when
/// there is something to do. It is done between the rounds of the run.
pub fn carry(network: &mut Network, node: usize) -> Result<Option<OwnedFd>, String> {
    let Some(port) = network.router(node).and_then(Router::listens_for_plane) else { return Ok(None) };
    let words = |error: io::Error| format!("table_driver: it can't listen at TCP port {port}: {error}");
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).map_err(words)?;
    listener.set_nonblocking(true).map_err(words)?;
    // SAFETY: a plain call without pointers.
    let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).map_err(words)?;
    watch(&epoll, listener.as_raw_fd(), libc::EPOLLIN, true).map_err(words)?;
    let told = epoll.try_clone().map_err(words)?;
    let mut carrier = Carrier { node: NodeId(node as u32), listener, epoll, stream: None };
    network.attend(told.as_raw_fd(), Box::new(move |world, now| carrier.carry(world, now)));
    Ok(Some(told))
}

struct Carrier {
    node: NodeId,
    listener: TcpListener,
    epoll: OwnedFd,
    stream: Option<Stream>,
}

impl Carrier {
    fn tell(&self, world: &mut World, now: Time, input: ChannelInput) {
        // The node is there, and the time has not passed: nothing can be wrong.
        let told = world.command(now, self.node, Command::Protocol(ProtocolValue::new(input)));
        debug_assert!(told.is_ok());
    }

    fn carry(&mut self, world: &mut World, now: Time) {
        if self.accept(world, now) {
            // The router has not heard of it: what it has to say is for the connection before.
            return;
        }
        let Some(stream) = &mut self.stream else { return };
        let mut bytes = Vec::new();
        for _ in 0..READS {
            let had = bytes.len();
            stream.receive(&mut bytes);
            if bytes.len() == had {
                break;
            }
        }
        // A device that is lent to be changed is looked after at once: only if there is something to take.
        let (has_some, is_refused) =
            world.device::<Router>(self.node).map_or((false, false), Router::channel_state);
        let router = if has_some { world.device_mut::<Router>(self.node) } else { None };
        let unsent = router.map(Router::take_channel).unwrap_or_default();
        stream.send(&unsent);
        let is_over = !stream.is_open() || is_refused;
        if !bytes.is_empty() {
            let bytes = Bytes(bytes);
            self.tell(world, now, ChannelInput::Received { connection: CONNECTION, bytes });
        }
        if is_over {
            self.stream = None;
            self.tell(world, now, ChannelInput::Closed { connection: CONNECTION });
        }
    }

    /// Takes connections that are there; is there a new one?
    fn accept(&mut self, world: &mut World, now: Time) -> bool {
        let mut is_new = false;
        while let Ok((socket, _)) = self.listener.accept() {
            let Ok(stream) = Stream::new(OwnedFd::from(socket)) else { continue };
            if watch(&self.epoll, stream.poll_fd(), libc::EPOLLIN, true).is_err() {
                continue;
            }
            // A switch that was started again is there before anybody knows that it was gone.
            if self.stream.replace(stream).is_some() {
                self.tell(world, now, ChannelInput::Closed { connection: CONNECTION });
            }
            self.tell(world, now, ChannelInput::Opened { connection: CONNECTION });
            is_new = true;
        }
        is_new
    }
}
