//! What LSP ping knows, as tables.

use super::LspPing;
use super::record::{Answer, Outcome, Record, Way};
use super::verify::Verification;
use base::table::{RowsOf, Table, View};
use base::{Span, Time};
use core::net::IpAddr;
use wire::lsp_ping::{Place, code};

/// The tables of LSP ping.
pub(super) const VIEWS: &[View] = &[
    View::of::<LspPing, LspProbeRow<'static>>(),
    View::of::<LspPing, LspPingCountRow<'static>>(),
    View::of::<LspPing, LspVerificationRow<'static>>(),
];

base::table! {
    /// Requests of LSP ping and traceroute (RFC 8029) that routers have sent, the oldest first, and what was replied.
    /// On an LSP with several ends (RFC 6425) a request has a row for each reply, and for each known end without one.
    pub struct LspProbeRow<'a> in "lsp_probes" key ["node", "number", "sequence", "from", "end"] {
        /// The router that sent it.
        node: &'a str,
        /// Tells the requests of one command from others.
        number: u32,
        /// Counts the requests of a command, from 1.
        sequence: u32,
        /// What was put on the LSP: who gives its labels, and what they stand for.
        fec: &'a str,
        /// Time to live of its labels: in a trace, how many hops it may go.
        hop: u8,
        /// When it was sent.
        sent_s: Time = "s",
        /// The labels that it was sent with, the top first; none if the next router is the last, or if copies leave
        /// with different ones.
        labels: Vec<u32>,
        /// `answered`, `waits`, `silent` (no reply in time), `unasked` (it wants no reply), or `no-way`: not sent,
        /// since the router itself does not know where packets of the FEC go, or has no label for them, or no address
        /// of IPv6 where they have to be of that.
        outcome: &'static str,
        /// Who replied; absent without a reply.
        from: Option<IpAddr>,
        /// Of an LSP with several ends: the end that has replied as such, or that something is wrong, or that has not
        /// replied; absent if who replied is none.
        end: Option<IpAddr>,
        /// From the request to the reply.
        delay_s: Option<Span> = "s",
        /// The return code (RFC 8029, 3.1).
        code: Option<u8>,
        /// The depth in the label stack that the code is about, from 1 at its bottom; 0 if it is about none.
        depth: Option<u8>,
        /// The return code in words.
        meaning: Option<&'static str>,
        /// The next routers that packets go to from there; several if packets are shared.
        downstream: Vec<IpAddr>,
        /// The labels that they leave with, the top first, for each of these; 3 is implicit null, which is not sent.
        downstream_labels: Vec<String>,
        /// The interface by which the request came there, if that is said.
        received_on: Option<IpAddr>,
        /// The labels that it came with, the top first, if that is said.
        received_labels: Vec<u32>,
    }
}

base::table! {
    /// What routers did with messages of LSP ping (RFC 8029) that came to them.
    pub struct LspPingCountRow<'a> in "lsp_ping_counters" key ["node", "what"] {
        /// The router.
        node: &'a str,
        /// A return code in words: requests that were answered so. Or why a message was neither answered nor made use
        /// of: `malformed`, `unmatched`, `fec-change`, `ttl-not-over`, `rate-limited`, `source`, `reply-mode` or
        /// `responder`.
        what: &'a str,
        /// How many.
        messages: u64 = "messages",
    }
}

fn labels_of(way: &Way) -> String {
    way.labels.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

fn interface(place: &Place) -> Option<IpAddr> {
    match *place {
        Place::Ipv4 { interface, .. } => Some(interface.into()),
        Place::Ipv6 { interface, .. } => Some(interface.into()),
        Place::Ipv4Unnumbered { .. } | Place::Ipv6Unnumbered { .. } => None,
    }
}

impl<'a> LspProbeRow<'a> {
    /// The row of a request.
    fn of_record(node: &'a str, record: &'a Record) -> LspProbeRow<'a> {
        let answer = match &record.outcome {
            Outcome::Answered(answer) => Some(answer),
            _ => None,
        };
        let received = answer.and_then(|answer| answer.received.as_ref());
        let ways = || answer.into_iter().flat_map(|answer: &Answer| &answer.ways);
        LspProbeRow {
            node,
            number: record.number,
            sequence: record.sequence,
            fec: &record.fec,
            hop: record.ttl,
            sent_s: record.sent,
            labels: record.labels.clone(),
            outcome: match record.outcome {
                Outcome::Waits => "waits",
                Outcome::Silent => "silent",
                Outcome::Unasked => "unasked",
                Outcome::NoWay => "no-way",
                Outcome::Answered(_) => "answered",
            },
            from: answer.map(|answer| answer.from),
            end: record.end.map(IpAddr::V4),
            delay_s: answer.map(|answer| answer.at - record.sent),
            code: answer.map(|answer| answer.code),
            depth: answer.map(|answer| answer.depth),
            meaning: answer.map(|answer| code::words(answer.code)),
            downstream: ways().map(|way| way.to).collect(),
            downstream_labels: ways().map(labels_of).collect(),
            received_on: received.and_then(|received| interface(&received.place)),
            received_labels: received
                .map_or(Vec::new(), |received| received.stack.iter().map(|word| word >> 12).collect()),
        }
    }
}

impl RowsOf<LspPing> for LspProbeRow<'static> {
    fn rows(ping: &LspPing, node: &str, to: &mut Table) {
        ping.records().for_each(|record| to.push(LspProbeRow::of_record(node, record)));
    }
}

base::table! {
    /// LSPs that LSP ping verifies: for BFD (RFC 5884), each second until their session is up and while they are
    /// misled, else each minute; or because they are watched by it alone (`lsp_ping`).
    pub struct LspVerificationRow<'a> in "lsp_verifications" key ["node", "lsp"]
    of (node: &'a str, lsp: String) from one: &Verification {
        /// The router where the LSP begins.
        node: &'a str => node,
        /// The LSP, by what is put on it.
        lsp: String => lsp,
        /// From a request to the next where LSP ping watches; absent where BFD does.
        interval_s: Option<Span> = "s" => one.watch.map(|watch| watch.interval),
        /// `sound`: it ends where it is to end; `misled`: it does not; `silent`: replies came, and do not any more;
        /// `unknown` before the first reply that says something of it. One that is `silent` or `misled` counts as down.
        /// Of one that BFD watches bad replies count while its session is up, and missing ones for nothing but that
        /// three in a row end `misled`.
        standing: &'static str => one.standing.word(),
        /// Requests that were sent.
        sent: u64 = "packets",
        /// Those that nobody has answered in time, and those after the first that could not be sent, since the router
        /// knew no labels for the LSP.
        unanswered: u64 = "packets",
        /// Return code of the last reply (RFC 8029, 3.1); absent if there was none to the last request.
        code: Option<u8>,
        /// It in words.
        meaning: Option<&'static str> => one.code.map(code::words),
    }
}

impl RowsOf<LspPing> for LspVerificationRow<'static> {
    fn rows(ping: &LspPing, node: &str, to: &mut Table) {
        for (lsp, one) in &ping.verified {
            to.push(LspVerificationRow::of(node, lsp.to_string(), one));
        }
    }
}

impl RowsOf<LspPing> for LspPingCountRow<'static> {
    fn rows(ping: &LspPing, node: &str, to: &mut Table) {
        for (code, messages) in &ping.answered {
            to.push(LspPingCountRow { node, what: code::words(*code), messages: *messages });
        }
        for (why, messages) in &ping.discards {
            to.push(LspPingCountRow { node, what: why.word(), messages: *messages });
        }
    }
}
