//! Flows over TCP as users write them.

use super::ends::place_of;
use super::problem::FlowProblem;
use crate::programs::settings::Work;
use crate::testbed::{self, Family};
use base::describe::{Describe, Name, Size};
use base::diagnostic::{At, Diagnostic};
use base::{Dscp, Span, Time};
use network::spec::reference::{Endpoint, Names, NodeRef};
use node::sessions::{Congestion, Options};

/// Buffers of a socket where nobody says otherwise, in bytes.
const BUFFER: u64 = 262_144;
/// How long an acknowledgement waits at most where nobody says otherwise: Linux's least delay of an acknowledgement.
const ACK_DELAY: Span = Span::from_ms(40);
/// Bytes that a program writes at a time where nobody says otherwise.
const MESSAGE: u64 = 16_384;
/// Bytes of a request and of an answer where nobody says otherwise.
const ONE: u64 = 1;
/// Width of the bins of table `tcp_series`.
const BIN: Span = Span::from_ms(10);

base::record! {
    /// How TCP behaves at an end.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct TcpOptions {
        /// Bytes of the send buffer and of the receive buffer of a socket.
        pub buffer: Option<Size>, in 1..=1_073_741_824, absent "256 KiB";
        /// Bytes of the send buffer: what is written waits there until it is acknowledged.
        pub send_buffer: Option<Size>, in 1..=1_073_741_824, absent "as buffer";
        /// Bytes of the receive buffer: what is free of it is the window.
        pub receive_buffer: Option<Size>, in 1..=1_073_741_824, absent "as buffer";
        /// Most bytes of data in a segment.
        pub mss: Option<u16>, in 48..=65_495, absent "what a packet of the link holds";
        /// How a sender answers loss: none, reno or cubic.
        pub congestion: Option<Congestion>, absent "cubic";
        /// Are windows above 65535 bytes offered and taken (RFC 7323)?
        pub window_scaling: Option<bool>, absent "true";
        /// Are selective acknowledgements offered and taken (RFC 2018)?
        pub sack: Option<bool>, absent "true";
        /// How long an acknowledgement waits at most for more to acknowledge; zero says that it does not wait.
        pub ack_delay: Option<Span>, in 0..=500_000_000_000, absent "40 ms";
        /// Does a short segment wait while others are not acknowledged (Nagle's algorithm)?
        pub nagle: Option<bool>, absent "true";
    }
}

impl TcpOptions {
    /// These, and where they say nothing what `other` says.
    pub fn or(&self, other: &TcpOptions) -> TcpOptions {
        // Who says `buffer` means both, whatever the other says of one of them.
        let both = self.buffer.is_some();
        let one = |own: Option<Size>, other: Option<Size>| own.or(other.filter(|_| !both));
        TcpOptions {
            buffer: self.buffer.or(other.buffer),
            send_buffer: one(self.send_buffer, other.send_buffer),
            receive_buffer: one(self.receive_buffer, other.receive_buffer),
            mss: self.mss.or(other.mss),
            congestion: self.congestion.or(other.congestion),
            window_scaling: self.window_scaling.or(other.window_scaling),
            sack: self.sack.or(other.sack),
            ack_delay: self.ack_delay.or(other.ack_delay),
            nagle: self.nagle.or(other.nagle),
        }
    }

    /// As the host's TCP takes them, for packets of this code point.
    pub fn lowered(&self, dscp: Dscp) -> Options {
        let both = self.buffer.unwrap_or(Size(BUFFER));
        Options {
            dscp,
            send_bytes: self.send_buffer.unwrap_or(both).0 as u32,
            receive_bytes: self.receive_buffer.unwrap_or(both).0 as u32,
            mss: self.mss,
            congestion: self.congestion.unwrap_or(Congestion::Cubic),
            window_scaling: self.window_scaling.unwrap_or(true),
            sack: self.sack.unwrap_or(true),
            ack_delay: Some(self.ack_delay.unwrap_or(ACK_DELAY)).filter(|delay| *delay > Span::ZERO),
            nagle: self.nagle.unwrap_or(true),
            program: true,
            ..Options::default()
        }
    }
}

base::words! {
    /// What the programs at the ends of a flow over TCP do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Application {
        /// They send as much as goes.
        Bulk = "bulk",
        /// A request, an answer, and the next request.
        RequestResponse = "request-response",
    }
    default Bulk;
}

base::words! {
    /// Which ends send in bulk.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Duplex {
        /// The one where the flow begins.
        Half = "half",
        /// Both, at the same time.
        Full = "full",
    }
    default Half;
}

base::record! {
    /// Programs at two hosts that talk over TCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TcpSpec {
        /// Its name, of which there is one only.
        pub name: Option<Name>, absent "FROM-TO";
        /// The host that begins its connections.
        pub from: NodeRef;
        /// The host that waits for them.
        pub to: NodeRef;
        /// What the programs do.
        pub application: Application = Application::Bulk;
        /// Bytes that each sender sends on each connection, in bulk.
        pub bytes: Option<Size>, in 1..=9_223_372_036_854_775_807, absent "until it stops";
        /// Which ends send in bulk.
        pub duplex: Duplex = Duplex::Half;
        /// Bytes that a program writes at a time, in bulk.
        pub message: Option<Size>, in 1..=1_073_741_824, absent "16 KiB";
        /// Bytes of a request.
        pub request: Option<Size>, in 1..=1_073_741_824, absent "1 B";
        /// Bytes of an answer.
        pub response: Option<Size>, in 1..=1_073_741_824, absent "1 B";
        /// Requests on each connection, one after the other.
        pub transactions: Option<u64>, in 1..=9_223_372_036_854_775_807, absent "until it stops";
        /// Connections, which are all begun at once.
        pub connections: u32 = 1, in 1..=16_384;
        /// Which IP its packets are of.
        pub family: Option<Family>, absent "ipv4";
        /// Code point, by name or number.
        pub dscp: Dscp = Dscp::DEFAULT;
        /// The port that the server waits at.
        pub port: Option<u16>, in 1..=65_535, absent "one from 5001 on, its own";
        /// When its connections are begun.
        pub start: Time = Time::ZERO;
        /// When nothing more is written, and they are closed.
        pub stop: Option<Time>, in 1..=9_223_372_036_854_775_807, absent "when all is sent, or with the run";
        /// Link by which it leaves a host with several: the neighbour, or NODE:INTERFACE of either end.
        pub from_link: Option<Endpoint>, absent "on the shortest path";
        /// Link at whose address it ends, in the same way.
        pub to_link: Option<Endpoint>, absent "on the shortest path";
    }
    beside {
        /// How TCP behaves at both ends, where that is not what their hosts say.
        pub options: TcpOptions
    }
    check TcpSpec::check;
}

impl TcpSpec {
    /// Its name, said or not.
    pub fn name(&self) -> String {
        match &self.name {
            Some(name) => name.to_string(),
            None => format!("{}-{}", self.from.name, self.to.name),
        }
    }

    /// Finds the nodes and links that it names.
    pub fn resolve(&mut self, names: &Names, ends: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
        self.from.resolve(names).at("from")?;
        self.to.resolve(names).at("to")?;
        for (key, node, link) in
            [("from_link", &self.from, &mut self.from_link), ("to_link", &self.to, &mut self.to_link)]
        {
            if let Some(link) = link {
                link.resolve(names).at(key)?;
                place_of(node, link, ends).at(key)?;
            }
        }
        Ok(())
    }

    /// The flow as it is built; its names lead somewhere.
    pub fn lowered(&self, ends: &[[Endpoint; 2]]) -> Result<testbed::TcpSpec, Diagnostic> {
        let link = |node: &NodeRef, said: &Option<Endpoint>| {
            said.as_ref().map(|said| place_of(node, said, ends)).transpose()
        };
        let bytes = |size: Option<Size>, usual: u64| size.map_or(usual, |size| size.0);
        Ok(testbed::TcpSpec {
            name: self.name(),
            ends: [self.from.index(), self.to.index()],
            links: [
                link(&self.from, &self.from_link).at("from_link")?,
                link(&self.to, &self.to_link).at("to_link")?,
            ],
            work: match self.application {
                Application::Bulk => {
                    Work::Bulk { bytes: self.bytes.map(|bytes| bytes.0), both: self.duplex == Duplex::Full }
                }
                Application::RequestResponse => Work::Exchange {
                    request: bytes(self.request, ONE),
                    response: bytes(self.response, ONE),
                    transactions: self.transactions,
                },
            },
            message: bytes(self.message, MESSAGE) as u32,
            connections: self.connections,
            family: self.family.unwrap_or(Family::Ipv4),
            dscp: self.dscp,
            port: self.port,
            start: self.start,
            stop: self.stop,
            options: self.options,
            bin: BIN,
        })
    }

    fn check(&self) -> Result<(), Diagnostic> {
        let bulk = self.application == Application::Bulk;
        let exchanged = [
            ("request", self.request.is_some()),
            ("response", self.response.is_some()),
            ("transactions", self.transactions.is_some()),
        ];
        let sent = [
            ("bytes", self.bytes.is_some()),
            ("message", self.message.is_some()),
            ("duplex", self.duplex != Duplex::Half),
        ];
        let of_other = if bulk { exchanged } else { sent };
        if let Some((key, _)) = of_other.into_iter().find(|(_, said)| *said) {
            let other = if bulk { Application::RequestResponse } else { Application::Bulk }.word();
            return Err(FlowProblem::OtherApplication { key, other }.into()).at(key);
        }
        let Some(stop) = self.stop.filter(|stop| *stop <= self.start) else { return Ok(()) };
        let [stop, start] =
            [stop, self.start].map(|time| time.write().as_text().unwrap_or("0 s").to_string());
        Err(FlowProblem::StopsBeforeStart { stop, start }.into()).at("stop")
    }
}
