//! Pings and traceroutes under way: a client gets its answer when theirs has come, or when they have waited enough.

use crate::names;
use crate::server::ClientId;
use base::{Event, Span, Time};
use engine::EventRecord;
use network::Network;
use serde_json::{Value, json};
use std::net::IpAddr;

const ECHO_REPLY: u8 = 0;
const UNREACHABLE: u8 = 3;
/// ICMP types that end a trace (RFC 792).
const ENDS: [u8; 2] = [ECHO_REPLY, UNREACHABLE];
/// Probes of all clients that are under way at most.
const PENDING_MAX: usize = 64;
/// The longest that anybody waits, in seconds.
const WAIT_MAX: f64 = 60.0;

/// An echo request that was sent, and what answered it.
struct Probe {
    ttl: u8,
    sequence: u16,
    reply: Option<Reply>,
}

struct Reply {
    at: Time,
    from: IpAddr,
    kind: u8,
    code: u8,
    labels: Vec<String>,
}

/// What a client waits for.
struct Pending {
    client: ClientId,
    to: IpAddr,
    sent: Time,
    deadline: Time,
    tail: Option<String>,
    trace: bool,
    probes: Vec<Probe>,
}

/// All that is under way.
#[derive(Default)]
pub struct Probes {
    pending: Vec<Pending>,
    sequence: u16,
}

/// What to send, and for how long to wait.
pub struct Asked {
    /// Address that the echo requests are sent to.
    pub to: IpAddr,
    /// The TTLs to send with.
    pub ttls: core::ops::RangeInclusive<u8>,
    /// The router at which the trace of an LSP ends: what lies beyond answers nobody.
    pub tail: Option<usize>,
    /// Is the route to be traced?
    pub trace: bool,
    /// Seconds after which the client gets what has come by then; at most 60.
    pub timeout_s: f64,
}

impl Probes {
    /// Sends probes for a client.
    pub fn send(
        &mut self,
        network: &mut Network,
        node: usize,
        client: ClientId,
        asked: Asked,
    ) -> Result<(), String> {
        let Asked { to, ttls, tail, trace, timeout_s } = asked;
        if !(timeout_s > 0.0 && timeout_s <= WAIT_MAX) {
            return Err(format!("timeout_s {timeout_s}: more than 0, up to {WAIT_MAX}"));
        }
        if *ttls.end() == 0 {
            return Err("a TTL of 0 goes nowhere: 1 to 255".into());
        }
        if self.pending.len() >= PENDING_MAX {
            return Err(format!("{PENDING_MAX} probes are under way already"));
        }
        let sent = network.world().now();
        let mut probes = Vec::new();
        for ttl in ttls {
            self.sequence = self.sequence.wrapping_add(1);
            network.ping(node, to, ttl, self.sequence).map_err(|error| error.to_string())?;
            probes.push(Probe { ttl, sequence: self.sequence, reply: None });
        }
        let tail = tail.map(|node| network.description().nodes[node].name.clone());
        let deadline = sent + Span((timeout_s * 1e12) as i64);
        self.pending.push(Pending { client, to, sent, deadline, tail, trace, probes });
        Ok(())
    }

    /// Whether a client waits for a reply.
    pub fn any(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes what the router told.
    pub fn hear(&mut self, record: &EventRecord) {
        let Event::ProbeReply { from, sequence, kind, code, labels } = &record.event else { return };
        let all = self.pending.iter_mut().flat_map(|pending| &mut pending.probes);
        if let Some(probe) = all.into_iter().find(|p| p.sequence == *sequence && p.reply.is_none()) {
            let labels = labels.iter().map(ToString::to_string).collect();
            probe.reply = Some(Reply { at: record.at, from: *from, kind: *kind, code: *code, labels });
        }
    }

    /// The answers for those who need wait no longer.
    pub fn finished(&mut self, network: &Network, now: Time) -> Vec<(ClientId, Result<Value, String>)> {
        let over = |pending: &mut Pending| pending.is_complete(network) || now >= pending.deadline;
        let done: Vec<Pending> = self.pending.extract_if(.., over).collect();
        done.into_iter().map(|pending| (pending.client, Ok(pending.answer(network)))).collect()
    }

    /// Forgets those whose client is gone.
    pub fn keep(&mut self, is_there: impl Fn(ClientId) -> bool) {
        self.pending.retain(|pending| is_there(pending.client));
    }
}

impl Pending {
    /// Is this the answer that the others needn't wait for?
    fn is_last(&self, network: &Network, probe: &Probe) -> bool {
        let Some(reply) = &probe.reply else { return false };
        let at_tail = || self.tail.is_some() && names::owner(network, reply.from) == self.tail.as_deref();
        ENDS.contains(&reply.kind) || at_tail()
    }

    fn is_complete(&self, network: &Network) -> bool {
        let end = self.probes.iter().position(|probe| self.is_last(network, probe));
        let needed = &self.probes[..end.map_or(self.probes.len(), |end| end + 1)];
        needed.iter().all(|probe| probe.reply.is_some())
    }

    fn answer(&self, network: &Network) -> Value {
        let row = |probe: &Probe| match &probe.reply {
            None => json!({"ttl": probe.ttl, "from": null}),
            Some(reply) => json!({
                "ttl": probe.ttl,
                "from": reply.from,
                "node": names::owner(network, reply.from),
                "type": reply.kind,
                "code": reply.code,
                "labels": reply.labels,
                "rtt_s": reply.at.0.saturating_sub(self.sent.0) as f64 / 1e12,
            }),
        };
        if !self.trace {
            let mut answer = self.probes.first().map_or(Value::Null, row);
            answer["to"] = json!(self.to);
            return answer;
        }
        let end = self.probes.iter().find(|probe| self.is_last(network, probe));
        let answered = self.probes.iter().rev().find(|probe| probe.reply.is_some());
        let last = end.or(answered).map_or(0, |probe| probe.ttl);
        let hops: Vec<Value> = self.probes.iter().filter(|probe| probe.ttl <= last).map(row).collect();
        let refused = |probe: &Probe| probe.reply.as_ref().is_some_and(|reply| reply.kind == UNREACHABLE);
        let reached = end.is_some_and(|probe| !refused(probe));
        json!({"to": self.to, "reached": reached, "hops": hops})
    }
}
