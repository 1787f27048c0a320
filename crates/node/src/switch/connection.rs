//! A connection of a switch to a controller.

use super::SwitchConfig;
use super::bundles::Bundles;
use super::channel::OUTPUT_MAX;
use super::queues::Question;
use base::Time;
use control::openflow::{Channel, ChannelConfig, ChannelState};
use core::net::SocketAddr;
use wire::openflow::v1_3::{AsyncConfig, PacketInReason, Role};
use wire::openflow::{Version, v1_0, v1_3};

/// Bytes of a packet without an entry that a controller gets if it says nothing else.
pub(super) const MISS_SEND_LEN: u16 = 128;
/// Rows of an answer in a message, if they are not too long for one.
const ROWS: usize = 128;
/// One of them: its channel, its role, and what it is told without having asked.
pub(super) struct Connection {
    pub(super) channel: Channel,
    pub(super) role: Role,
    pub(super) told: AsyncConfig,
    pub(super) miss_send_len: u16,
    pub(super) is_open: bool,
    /// Messages and rows of answers that were not sent, since no message is as long.
    pub(super) too_long: u64,
    /// More than [`OUTPUT_MAX`] bytes have left the switch and wait for the other end.
    pub(super) is_full: bool,
    /// What it wants to know of queues, as long as that is not known.
    pub(super) asking: Option<Question>,
    pub(super) bundles: Bundles,
    /// Why the last attempt failed, or the connection ended; absent once there is one again.
    pub(super) why: Option<String>,
}

/// What users see of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// Its number.
    pub connection: u32,
    /// How far it is.
    pub state: ChannelState,
    /// The version that was agreed on.
    pub version: Option<Version>,
    /// Attempts to set it up since a version was agreed on for the last time.
    pub attempts: u32,
    /// The role of the controller.
    pub role: Role,
    /// Messages and rows of answers that it did not get, since no message is as long.
    pub too_long: u64,
    /// Why the last attempt failed, or the connection ended; absent if there is one, or nobody knows.
    pub why: Option<String>,
}

/// Those who wanted to connect to the switch and were turned away, where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedView {
    /// How many there were.
    pub count: u64,
    /// Who was the last, and why.
    pub last: (SocketAddr, String),
    /// When it was told for the last time.
    pub(super) told: Time,
}

/// What a version 1.3 controller is told if it says nothing else: everything, but slaves only of ports.
pub(super) fn usual() -> AsyncConfig {
    let packets = 1 << PacketInReason::NoMatch as u32 | 1 << PacketInReason::Action as u32;
    AsyncConfig { packet_in: [packets, 0], port_status: [0b111, 0b111], flow_removed: [0b1111, 0] }
}

impl Connection {
    pub(super) fn new(config: &SwitchConfig, is_active: bool, now: Time) -> Connection {
        let channel = ChannelConfig { versions: config.versions.clone(), probe: config.probe };
        Connection {
            channel: Channel::new(channel, is_active, now),
            role: Role::Equal,
            told: usual(),
            miss_send_len: MISS_SEND_LEN,
            is_open: false,
            too_long: 0,
            is_full: false,
            asking: None,
            bundles: Bundles::new(),
            why: None,
        }
    }

    /// Which mask of what it is told is that of its role.
    pub(super) fn side(&self) -> usize {
        usize::from(self.role == Role::Slave)
    }

    pub(super) fn send_1_0(&mut self, xid: u32, body: v1_0::Body) {
        let sent = v1_0::Message { xid, body }.emit(self.channel.output());
        self.too_long += u64::from(sent.is_err());
    }

    pub(super) fn send_1_3(&mut self, xid: u32, body: v1_3::Body) {
        let sent = v1_3::Message { xid, body }.emit(self.channel.output());
        self.too_long += u64::from(sent.is_err());
    }

    /// Sends rows in as many messages as they need, at least one; `write` appends a message with some of them, and says
    /// whether it is short enough. A row that is too long for a message of its own is left out.
    pub(super) fn send_rows<T>(&mut self, rows: &[T], write: impl Fn(&mut Vec<u8>, bool, &[T]) -> bool) {
        let mut left = rows;
        loop {
            let mut len = left.len().min(ROWS);
            while !write(self.channel.output(), len < left.len(), &left[..len]) {
                if left.is_empty() {
                    return;
                }
                if len == 1 {
                    self.too_long += 1;
                    left = &left[1..];
                    len = left.len().min(ROWS);
                } else {
                    len /= 2;
                }
            }
            left = &left[len..];
            if left.is_empty() {
                return;
            }
        }
    }

    pub(super) fn has_output(&self) -> bool {
        self.is_open && self.channel.has_output()
    }

    /// Does too much wait for the other end to read it?
    pub(super) fn is_congested(&self) -> bool {
        self.is_full || self.channel.output_len() > OUTPUT_MAX
    }
}
