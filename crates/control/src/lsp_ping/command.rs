//! What a user asks for.

use super::LspPing;
use crate::inquiry::Fec;
use base::{ProtocolId, ProtocolType, Span};
use core::net::{IpAddr, Ipv4Addr};
use serde::{Deserialize, Serialize};
use wire::lsp_ping::Responder;

/// How an LSP is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// From end to end: does it end where it is to end (RFC 8029, 4.3)?
    Ping {
        /// How many requests.
        count: u32,
        /// From one to the next.
        interval: Span,
    },
    /// Hop by hop: what does each router do with its packets?
    Trace {
        /// Greatest time to live that is tried.
        hops: u8,
    },
}

/// A command: test an LSP that begins here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// By which its requests are told from those of others; the caller chooses it.
    pub number: u32,
    /// What packets are put on.
    pub fec: Fec,
    /// How it is tested.
    pub mode: Mode,
    /// How long a reply may take.
    pub wait: Span,
    /// How replies come (RFC 8029, 3): 1 not at all, 2 as UDP, 3 with Router Alert, 4 by a control channel.
    pub reply_mode: u8,
    /// Bytes of the IP packet, if it is to be longer than it would be.
    pub size: Option<u16>,
    /// How replies are marked: the byte of the IP header.
    pub tos: Option<u8>,
    /// Where requests are sent: an address of 127/8, or of ::ffff:127/104. Routers that share packets over several ways
    /// may choose by it. Requests are of IPv6 if it is one of IPv6, and where the LSP takes nothing else.
    pub destination: IpAddr,
    /// Who is to reply of the routers of an LSP with several ends (RFC 6425, 3.2); all of them if nobody is named.
    pub responder: Option<Responder>,
    /// How long replies of several routers may wait, in ms (RFC 6425, 3.3). If nobody says: 1 ms for each end of an LSP
    /// with more than 16 of them, 100 ms where their number is not known, else no time.
    pub jitter_ms: Option<u32>,
}

impl Command {
    /// The address that requests are sent to if nobody says another.
    pub const DESTINATION: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// A ping of one request, as usual.
    pub fn new(number: u32, fec: Fec) -> Command {
        Command {
            number,
            fec,
            mode: Mode::Ping { count: 1, interval: Span::from_secs(1) },
            wait: Span::from_secs(2),
            reply_mode: 2,
            size: None,
            tos: None,
            destination: Command::DESTINATION,
            responder: None,
            jitter_ms: None,
        }
    }
}

impl ProtocolType for Command {
    const PROTOCOL: ProtocolId = LspPing::ID;
}
