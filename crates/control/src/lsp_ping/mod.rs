//! LSP ping and traceroute (RFC 8029): does what is put on an LSP come to where the control plane says that it does,
//! and by the labels that it says?
//!
//! - [`command`]: what a user asks for; [`record`]: what is kept of each request
//! - `ask`: requests that are sent; `follow`: what their replies mean, and the next hop of a trace
//! - `verify`: LSPs that are verified for who watches them (RFC 5884)
//! - `respond`: requests of others, and the reply; [`judge`]: what is wrong, from what both planes say (4.4)
//! - `several`: LSPs with several ends (RFC 6425): who replies, and what many replies mean
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! What the tables in force do with a label, and what protocols have bound to an FEC, it asks the node by an
//! [`Inquiry`]. It knows no protocol that gives labels.

mod ask;
pub mod command;
mod follow;
pub mod judge;
pub mod record;
mod respond;
pub mod section;
mod several;
mod shown;
pub mod states;
#[cfg(test)]
mod tests;
mod verify;

pub use command::{Command, Mode};
pub use record::Record;

use crate::inquiry::{Findings, Inquiry};
use crate::machine::{Chart, State};
use crate::protocol::{Arrival, Change, Context, Known, Listen, Output, Over, Protocol, Topic, UNKNOWN_KIND};
use crate::services::WatchedLsp;
use ask::Probe;
use base::describe::SectionDecl;
use base::plane::{Ack, IpPrefix};
use base::{Limiter, PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::IpAddr;
use respond::{Came, Request};
use serde::Serialize;
use several::Later;
use states::Standing;
use std::collections::{BTreeMap, VecDeque};
use verify::Verification;
use wire::lsp_ping::{PORT, REPLY, REQUEST};

/// The machines of LSP ping, for the documentation.
pub const CHARTS: &[Chart] = &[Standing::CHART];

/// Requests of which something is kept.
const RECORDS_MAX: usize = 10_000;

/// What LSP ping tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// All requests of a command were answered, or have waited for long enough.
    LspProbed {
        /// The number of the command.
        number: u32,
        /// Has the last hop answered that the LSP ends there?
        reached: bool,
    },
    /// An LSP that is watched by LSP ping ends where it is to end, and that was not known before; or nobody says any
    /// more that one that BFD watches does not.
    LspPingUp {
        /// The LSP, by what is put on it.
        lsp: String,
    },
    /// An LSP does not end where it is to end, or nobody answers any more.
    LspPingDown {
        /// The LSP, by what is put on it.
        lsp: String,
        /// A return code in words (RFC 8029, 3.1); `no reply`; or `no way`: no requests could be sent, since the router
        /// knows no labels for the LSP any more.
        why: &'static str,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = LspPing::ID;
}

base::words! {
    /// Why a message was neither answered nor made use of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Discard {
        /// It is too short for a header, of another version, or neither request nor reply.
        Malformed = "malformed",
        /// A reply to no request that still waits.
        Unmatched = "unmatched",
        /// A reply whose changes of the stack of FECs make no sense (RFC 8029, 4.6).
        FecChange = "fec-change",
        /// A request that is for the router where its time to live is over, and has some left (RFC 8029, 3).
        TtlNotOver = "ttl-not-over",
        /// A request while more come than the router may answer (RFC 8029, 5).
        RateLimited = "rate-limited",
        /// A request of a source that gets no answers (RFC 8029, 5).
        Source = "source",
        /// A request that wants no reply, or one by a control channel that there is not.
        ReplyMode = "reply-mode",
        /// A request that other routers of an LSP with several ends are to answer (RFC 6425, 3.2).
        Responder = "responder",
    }
}

/// How a router speaks LSP ping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Are requests of others answered?
    pub responds: bool,
    /// Is what a label stands for checked where the request does not ask for it, too?
    pub validates: bool,
    /// Requests each second that are answered.
    pub rate: u32,
    /// Whose requests are answered; everybody's if empty.
    pub sources: Vec<IpPrefix>,
}

/// For whom an inquiry is.
#[derive(Debug)]
enum Asked {
    /// A probe of that number is to send a request.
    Send(u32),
    /// An LSP is to be verified.
    Verify(WatchedLsp),
    /// Is an LSP still what a reply with this return code speaks of?
    Blame(WatchedLsp, u8),
    /// A request of another router is to be judged.
    Judge(Box<Request>),
}

/// A speaker of LSP ping.
#[derive(Debug)]
pub struct LspPing {
    config: Config,
    limiter: Limiter,
    /// The UDP port that requests are sent from, once one was.
    source: Option<u16>,
    /// Commands that are not done, by their number.
    probes: BTreeMap<u32, Probe>,
    /// The greatest number of a command that was begun.
    begun: u32,
    records: VecDeque<Record>,
    /// LSPs that are verified for who watches them.
    verified: BTreeMap<WatchedLsp, Verification>,
    /// Replies that wait for a random time.
    later: Later,
    /// How many of them there were.
    handles: u32,
    inquiries: BTreeMap<u64, Asked>,
    inquired: u64,
    /// Requests that were answered, by return code.
    answered: BTreeMap<u8, u64>,
    discards: BTreeMap<Discard, u64>,
    outputs: VecDeque<Output>,
}

impl LspPing {
    /// The name of LSP ping among protocols.
    pub const ID: ProtocolId = ProtocolId::new("lspping");

    /// LSP ping among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: LspPing::ID,
        kind_name: LspPing::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::LspPingSpec>(
            "LSP ping (RFC 8029), which every router answers: how.",
        )),
    };

    /// A speaker that has heard nothing yet.
    pub fn new(config: Config) -> LspPing {
        LspPing {
            limiter: Limiter::new(config.rate, config.rate),
            config,
            source: None,
            probes: BTreeMap::new(),
            begun: 0,
            records: VecDeque::new(),
            verified: BTreeMap::new(),
            later: Later::default(),
            handles: 0,
            inquiries: BTreeMap::new(),
            inquired: 0,
            answered: BTreeMap::new(),
            discards: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        match kind {
            REQUEST => "EchoRequest",
            REPLY => "EchoReply",
            _ => UNKNOWN_KIND,
        }
    }

    /// What is kept of requests that were sent here, the oldest first.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    /// Was the command of this number begun, or a later one, and is nothing of it under way?
    pub fn is_done(&self, number: u32) -> bool {
        self.begun >= number && !self.probes.contains_key(&number)
    }

    /// Is it a datagram to the port from which requests are sent?
    fn is_source(&self, over: Over) -> bool {
        matches!(over, Over::Udp { dst, .. } if Some(dst) == self.source)
    }

    fn discard(&mut self, why: Discard) {
        *self.discards.entry(why).or_default() += 1;
    }

    fn inquire(&mut self, asked: Asked, inquiry: Inquiry) {
        self.inquired += 1;
        self.inquiries.insert(self.inquired, asked);
        let inquiry = Inquiry { number: self.inquired, ..inquiry };
        self.outputs.push_back(Output::Inquire(Box::new(inquiry)));
    }

    fn record(&mut self, record: Record) {
        if self.records.len() >= RECORDS_MAX {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }
}

/// The time as messages have it: 64 bits, seconds since 1900 in units of 2^-32 (RFC 5905, 6). A router's clock stands
/// at the beginning of 1970 at time zero.
fn ntp(now: Time) -> u64 {
    const SECOND: u64 = Span::from_secs(1).0 as u64;
    /// Seconds from 1900 to 1970.
    const EPOCH: u64 = 2_208_988_800;
    let fraction = (u128::from(now.0 % SECOND) << 32) / u128::from(SECOND);
    (EPOCH + now.0 / SECOND) << 32 | fraction as u64
}

/// Is it an address that a reply can be sent to?
fn is_single(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !matches!(address.octets()[0], 0 | 127 | 224..),
        // RFC 8029, 4.3: a routable one. Those of one link, of no node, and of IPv4 are none.
        IpAddr::V6(address) => {
            let is_near = address.is_unicast_link_local() || address.to_bits() <= 1;
            !is_near && !address.is_multicast() && address.to_ipv4_mapped().is_none()
        }
    }
}

impl Protocol for LspPing {
    fn id(&self) -> ProtocolId {
        LspPing::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(PORT), Listen::UdpPort6(PORT), Listen::Loopback]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Verifying, Topic::Watching]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.get(4).copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        LspPing::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.probes.len()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        match arrival {
            // RFC 8029, 4.4: a request comes to an address of 127/8, or to one of ::ffff:127/104.
            Arrival::Lsp(lsp) => {
                let came = Came::new(lsp.ip.port, lsp.ip.src.into(), lsp.ip.over, lsp.stack());
                self.handle_request(now, context, came, bytes);
            }
            Arrival::Lsp6(lsp) => {
                let came = Came::new(lsp.ip.port, lsp.ip.src.into(), lsp.ip.over, lsp.stack());
                self.handle_request(now, context, came, bytes);
            }
            Arrival::Ip(ip) if self.is_source(ip.over) => {
                self.handle_reply(now, context, ip.src.into(), bytes);
            }
            Arrival::Ip6(ip) if self.is_source(ip.over) => {
                self.handle_reply(now, context, ip.src.into(), bytes);
            }
            _ => self.discard(Discard::Malformed),
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        self.probes_due(now);
        self.verify_due(now, context);
        self.answer_late(now, context);
    }

    fn handle_command(&mut self, now: Time, _: &mut Context<'_>, command: &ProtocolValue) -> bool {
        let known = command.read::<Command>();
        if let Some(command) = &known {
            self.begin(now, command);
        }
        known.is_some()
    }

    fn handle_findings(&mut self, now: Time, context: &mut Context<'_>, findings: Findings) {
        match self.inquiries.remove(&findings.number) {
            Some(Asked::Send(number)) => self.send(now, context, number, findings),
            Some(Asked::Verify(lsp)) => self.send_verification(now, context, lsp, findings),
            Some(Asked::Blame(lsp, replied)) => self.blame(context, lsp, replied, &findings),
            Some(Asked::Judge(request)) => self.reply(now, context, *request, &findings),
            None => {}
        }
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Verifying(lsp) => self.wanted(now, context, lsp),
            Change::Watching(path) => self.watching(now, context, path),
            Change::Restart => {
                let (outputs, begun, handles) =
                    (core::mem::take(&mut self.outputs), self.begun, self.handles);
                *self = LspPing { outputs, begun, handles, ..LspPing::new(self.config.clone()) };
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let verified = self.verified.values().map(Verification::due);
        self.probes.values().filter_map(Probe::due).chain(verified).chain(self.later.due()).min()
    }
}
