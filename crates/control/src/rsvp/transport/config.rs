//! Configuration of the transport.

use base::random::Stream;
use base::{PortId, Span, Time};
use std::net::Ipv4Addr;
use wire::rsvp::KeyId;

/// What a [`super::Transport`] is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The router's address, the source where a port has none.
    pub router: Ipv4Addr,
    /// The ports and their addresses, which are sources of the transport's own messages.
    pub interfaces: Vec<Interface>,
    /// Refresh reduction, or plain RFC 2205.
    pub refresh_reduction: Option<RefreshReduction>,
    /// Hello (RFC 3209, 5); without it restarts of neighbours are noticed only by their epochs.
    pub hello: Option<HelloConfig>,
    /// Keys of the ports whose messages are signed; messages on other ports are not.
    pub integrity: Vec<PortKeys>,
    /// Calendar time at time zero, in nanoseconds since 1970, which sequence numbers follow; absent in virtual time.
    pub calendar_ns: Option<u64>,
    /// How many neighbours are remembered; messages of others are handled as RFC 2205 says.
    pub neighbors_max: usize,
    /// Epochs, instances, cookies and jitter come from here.
    pub random: Stream,
}

impl Config {
    /// Plain RFC 2205: nothing is added to messages.
    pub const fn plain(router: Ipv4Addr, random: Stream) -> Config {
        Config {
            router,
            interfaces: Vec::new(),
            refresh_reduction: None,
            hello: None,
            integrity: Vec::new(),
            calendar_ns: None,
            neighbors_max: 4096,
            random,
        }
    }
}

/// A port and its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The router's port; one address per port.
    pub port: PortId,
    /// Source of Ack, Srefresh, Bundle, Hello and the integrity handshake.
    pub address: Ipv4Addr,
}

/// Refresh reduction (RFC 2961).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefreshReduction {
    /// Rapid retransmission interval Rf: the time from the first transmission to the second (RFC 2961, 6.2).
    pub rapid_interval: Span,
    /// Rapid retry limit Rl: how many times a message is sent without being acknowledged (RFC 2961, 6.2).
    pub retry_limit: u8,
    /// Delta: each interval is (1 + Delta) times the one before (RFC 2961, 6.2).
    pub delta: f64,
    /// How long an acknowledgement may wait for a message to ride on, or for others to go with.
    pub ack_delay: Span,
    /// How long a message may wait for others to be bundled with; zero bundles what is sent between two calls of
    /// [`super::Transport::poll_output`]; nothing sends no Bundles.
    pub bundle_delay: Option<Span>,
    /// How long a summary refresh waits for more identifiers.
    pub summary_delay: Span,
    /// Time between two summary refreshes to the same neighbour that leave full, and between two steps of telling the
    /// LSP layer what a restarted neighbour has lost.
    pub summary_spacing: Span,
    /// Longest IP packet, in bytes: what Bundle, Ack and Srefresh must fit in.
    pub mtu: u16,
    /// How many messages to one neighbour may await acknowledgement; more are sent once.
    pub outstanding_max: usize,
    /// Use the extensions with a neighbour before it has shown that it is capable of them (RFC 2961, 2).
    pub assume_capable: bool,
}

impl Default for RefreshReduction {
    /// The RFC's values where it has any: Rf 500 ms, Rl 3, Delta 1 (RFC 2961, 6.2).
    fn default() -> Self {
        RefreshReduction {
            rapid_interval: Span::from_ms(500),
            retry_limit: 3,
            delta: 1.0,
            ack_delay: Span::from_ms(50),
            bundle_delay: Some(Span::ZERO),
            summary_delay: Span::from_secs(1),
            summary_spacing: Span::from_ms(1),
            mtu: 1500,
            outstanding_max: 1 << 21,
            assume_capable: false,
        }
    }
}

impl RefreshReduction {
    /// The longest RSVP message that fits in the MTU behind an IP header.
    pub(super) fn message_max(&self) -> usize {
        usize::from(self.mtu.max(128)) - 20
    }
    /// The time from each transmission of a message to the next one, or to giving it up (RFC 2961, 6.3).
    pub(super) fn intervals(&self) -> Vec<Span> {
        let mut interval = Span(self.rapid_interval.0.max(1));
        let factor = 1.0 + if self.delta > 0.0 { self.delta } else { 0.0 };
        let mut intervals = Vec::new();
        for _ in 0..self.retry_limit.clamp(1, 32) {
            intervals.push(interval);
            interval = interval.mul_f64(factor);
        }
        intervals
    }
}

/// Hello (RFC 3209, 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HelloConfig {
    /// The time between two requests: hello_interval of RFC 3209, 5.3.
    pub interval: Span,
    /// Communication is lost after this many intervals without a Hello.
    pub dead_intervals: f64,
    /// Communication is lost after this many requests in a row that return another instance than ours (RFC 3209, 5.3).
    pub mismatches_max: u8,
}

impl Default for HelloConfig {
    /// The RFC's values: 5 ms, 3.5 intervals (RFC 3209, 5.1 and 5.3).
    fn default() -> Self {
        HelloConfig { interval: Span::from_ms(5), dead_intervals: 3.5, mismatches_max: 3 }
    }
}

/// The keys of a port (RFC 2747).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortKeys {
    /// The port whose messages these keys sign.
    pub port: PortId,
    /// Keys; the one that became valid last signs, all that are valid verify.
    pub keys: Vec<Key>,
    /// Ask senders for their sequence number before believing one (RFC 2747, 4.3), and answer when asked.
    pub handshake: bool,
    /// How many sequence numbers out of order are taken; 1 takes messages in strict order (RFC 2747, 4.2).
    pub window: usize,
}

/// A key of HMAC-MD5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The 48-bit Key Identifier that messages name it by; unique for its sender (RFC 2747, 2.1).
    pub id: KeyId,
    /// The secret that both ends share, of any length.
    pub secret: Vec<u8>,
    /// Valid from then on.
    pub from: Time,
    /// Not valid from then on.
    pub until: Time,
}

impl Key {
    /// A key that is always valid.
    pub const fn new(id: KeyId, secret: Vec<u8>) -> Key {
        Key { id, secret, from: Time::ZERO, until: Time::MAX }
    }
    /// Is it valid at `now`?
    pub fn valid(&self, now: Time) -> bool {
        self.from <= now && now < self.until
    }
}
