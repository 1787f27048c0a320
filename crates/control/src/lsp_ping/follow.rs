//! What replies mean, and the next hop of a trace (RFC 8029, 4.6).

use super::ask::{Awaited, Probe, unknown_way};
use super::record::{Answer, Outcome, Way};
use super::{Discard, LspPing};
use crate::inquiry::Fec;
use crate::protocol::Context;
use base::{Label, Time};
use core::net::IpAddr;
use wire::lsp_ping::{FecChange, LspPing as Message, MappedLabel, Mapping, MappingPart, REPLY, Tlv, code};

/// FECs that a trace asks for at most, tunnels within tunnels.
const FECS_MAX: usize = 16;

/// The ways on that a reply tells.
fn ways(message: &Message) -> impl Iterator<Item = &Mapping> {
    message.tlvs.iter().filter_map(|tlv| match tlv {
        Tlv::DownstreamDetailedMapping(mapping) => Some(mapping),
        _ => None,
    })
}

/// The stack of FECs behind changes, the top first; nothing if they make no sense (RFC 8029, 4.6).
pub(super) fn changed(fecs: &[Fec], mapping: &Mapping) -> Option<Vec<Fec>> {
    let (mut fecs, mut has_pushed) = (fecs.to_vec(), false);
    for change in mapping.changes() {
        match (change.operation, &change.fec) {
            (FecChange::POP, _) if !has_pushed && !fecs.is_empty() => drop(fecs.remove(0)),
            (FecChange::PUSH, Some(fec)) => {
                has_pushed = true;
                fecs.insert(0, fec.clone());
            }
            _ => return None,
        }
    }
    (1..=FECS_MAX).contains(&fecs.len()).then_some(fecs)
}

impl LspPing {
    /// A message that came to the port from which requests are sent.
    pub(super) fn handle_reply(&mut self, now: Time, context: &mut Context<'_>, from: IpAddr, bytes: &[u8]) {
        let Ok(message) = Message::parse(bytes) else { return self.discard(Discard::Malformed) };
        if message.message_type != REPLY {
            return self.discard(Discard::Malformed);
        }
        if self.verification_answered(context, &message) {
            return;
        }
        let (number, sequence) = (message.handle, message.sequence);
        if self.is_one_of_several(number, sequence) {
            return self.hear_one(now, context, from, &message);
        }
        let probe = self.probes.get_mut(&number);
        // RFC 8029, 5: the time at which the request was sent has to be the same, too.
        let awaited = probe.and_then(|probe| {
            let is_it = probe.awaited.get(&sequence).is_some_and(|one| one.stamp == message.sent);
            is_it.then(|| probe.awaited.remove(&sequence)).flatten().map(|awaited| (probe, awaited))
        });
        let Some((probe, awaited)) = awaited else { return self.discard(Discard::Unmatched) };
        // RFC 8029, 3.1, note 2.
        let answer = answer_of(now, from, &message);
        let is_sane = follow(now, probe, awaited, &message, answer.code);
        self.settle(number, sequence, Outcome::Answered(answer));
        if !is_sane {
            self.discard(Discard::FecChange);
        }
        self.probes_due(now);
        self.end(number);
    }
}

/// What a reply says.
pub(super) fn answer_of(now: Time, from: IpAddr, message: &Message) -> Answer {
    let first = ways(message).next().filter(|way| way.return_code != 0);
    let (code, depth) = match first {
        Some(way) if message.return_code == code::SEE_MAPPING => (way.return_code, way.return_subcode),
        _ => (message.return_code, message.return_subcode),
    };
    let received = message.tlvs.iter().find_map(|tlv| match tlv {
        Tlv::InterfaceAndLabelStack(received) => Some(received.clone()),
        _ => None,
    });
    Answer { at: now, from, code, depth, ways: ways(message).map(Way::from).collect(), received }
}

/// Puts implicit null below the labels of a way, if there are fewer labels than FECs: no router on the way can know of
/// it, and without it those above are taken for labels of the FECs below their own (RFC 8029, 4.4, step 4).
fn add_null(way: &mut Mapping, fecs: usize) {
    let labels = way.parts.iter_mut().find_map(|part| match part {
        MappingPart::Labels { labels } => Some(labels),
        _ => None,
    });
    if let Some(labels) = labels.filter(|labels| labels.len() < fecs)
        && let Some(last) = labels.last_mut()
    {
        let null = MappedLabel { label: Label::IMPLICIT_NULL.value(), ..*last };
        last.bottom = false;
        labels.push(MappedLabel { bottom: true, protocol: 0, ..null });
    }
}

/// Has a probe go on by what a router replied. Does the reply make sense?
fn follow(now: Time, probe: &mut Probe, awaited: Awaited, message: &Message, code: u8) -> bool {
    if code == code::EGRESS {
        if probe.is_trace() && awaited.fecs > probe.depth.unwrap_or(1) {
            // RFC 8029, 4.6: a tunnel on the way has ended there; what is below is asked for with the same time to
            // live.
            probe.fecs.remove(0);
            probe.ttl = awaited.ttl;
            probe.next = Some(now);
            return true;
        }
        probe.reached = true;
        return true;
    }
    if !probe.is_trace() {
        return true;
    }
    match code {
        code::SWITCHED | code::FEC_CHANGE | code::UPSTREAM_UNKNOWN => {
            let mut all = ways(message);
            let first = all.next();
            if let Some(way) = first {
                match changed(&probe.fecs, way) {
                    Some(fecs) => probe.fecs = fecs,
                    None => return false,
                }
            }
            // Where packets are shared, nobody has said which way this one takes.
            probe.way = match first {
                Some(way) if all.next().is_none() => {
                    let mut way = Mapping { return_code: 0, return_subcode: 0, ..way.clone() };
                    way.parts.retain(|part| !matches!(part, MappingPart::FecChange(_)));
                    if probe.ends_in_null {
                        add_null(&mut way, probe.fecs.len());
                    }
                    Some(way)
                }
                _ => Some(unknown_way()),
            };
            probe.go_on(now);
        }
        // What is wrong is known: further routers have nothing to say.
        _ => {}
    }
    true
}
