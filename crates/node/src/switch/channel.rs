//! What goes between a switch and whoever carries its connections: TCP of a kernel, or a program that is its
//! controller.

use base::ProtocolId;
use base::protocol_value::ProtocolType;
use core::net::SocketAddr;
use serde::{Deserialize, Serialize};
use wire::Hex;

/// What a switch is told of its connections, as a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelInput {
    /// A connection is set up: one that the switch wanted, or another that came in.
    Opened {
        /// Its number: of one that the switch wanted, that which it gave it.
        connection: u32,
    },
    /// Bytes have come.
    Received {
        /// By which connection.
        connection: u32,
        /// What has come.
        bytes: Hex,
    },
    /// More than [`OUTPUT_MAX`] bytes wait for the other end to take them, or no longer. It is told when that changes,
    /// and each time that some of them were taken.
    Backlog {
        /// By which connection.
        connection: u32,
        /// Are there still so many?
        is_full: bool,
        /// Were some of them taken?
        is_taking: bool,
    },
    /// A connection has ended, or can't be set up.
    Closed {
        /// Which connection.
        connection: u32,
    },
    /// The same, where whoever carries it knows why.
    Failed {
        /// Which connection.
        connection: u32,
        /// Why, in words for people.
        why: String,
    },
    /// Somebody who wanted to connect to the switch was turned away before there was a connection.
    Refused {
        /// Where the switch listens: the place of that among its controllers.
        listener: u32,
        /// Address and port of who it was.
        from: SocketAddr,
        /// Why, in words for people.
        why: String,
    },
}

impl ProtocolType for ChannelInput {
    const PROTOCOL: ProtocolId = ProtocolId::new("openflow");
}

/// What a switch tells of connections that it can't have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ControllerEvent {
    /// An attempt to connect has failed, or a connection has ended. What is told anew is another reason than the last.
    ControllerFailed {
        /// The controller, as the configuration has it.
        controller: String,
        /// Why, in words.
        why: String,
    },
    /// Somebody was turned away. It is told once a second at most, however many there are.
    ControllerRefused {
        /// Where the switch listens, as the configuration has it.
        controller: String,
        /// Address and port of who it was.
        from: SocketAddr,
        /// Why, in words.
        why: String,
        /// How many were turned away there so far.
        refused: u64,
    },
}

impl ProtocolType for ControllerEvent {
    const PROTOCOL: ProtocolId = ProtocolId::new("openflow");
}

/// What a switch wants done with its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelOutput {
    /// Set up a connection to one of its controllers.
    Open {
        /// The number of the connection, which is the place of the controller in the switch's configuration.
        connection: u32,
    },
    /// Send bytes.
    Send {
        /// By which connection.
        connection: u32,
        /// What is sent.
        bytes: Vec<u8>,
    },
    /// Close a connection, once all is sent.
    Close {
        /// Which connection.
        connection: u32,
    },
}

/// Bytes that may wait for the other end of a connection before it gets no more PACKET_INs and what it asks has to
/// wait, until [`ChannelInput::Backlog`] says that there are less.
pub const OUTPUT_MAX: usize = 1 << 20;
/// The number of the first connection that comes in; those that a switch wants have lower ones.
pub const FIRST_INCOMING: u32 = 1 << 16;
