//! What must be true: at any time, when all is settled, and when everything is torn down.

use super::drive::Run;
use base::device::DropReason;
use base::plane::NextHop;
use base::{Label, PortId};
use control::rsvp::{LspView, Role, Rsvp};
use node::Router;
use std::collections::BTreeMap;
use wire::rsvp::Style;

fn speaker(router: &Router) -> &Rsvp {
    router.control().protocol().expect("a router that speaks RSVP-TE")
}

fn router(run: &Run, node: usize) -> Result<&Router, String> {
    run.network.router(node).ok_or_else(|| format!("r{node} is no router"))
}

/// At any time: frames are conserved, no packet goes in circles, and no link has more reserved than it has, counted
/// here from the LSPs.
pub fn always(run: &Run) -> Result<(), String> {
    let unbalanced = run.network.world().audit();
    if !unbalanced.is_empty() {
        return Err(format!("frames vanished: {unbalanced:?}"));
    }
    for node in 0..run.programme.nodes {
        let router = router(run, node)?;
        let expired = router.drops().get(DropReason::TtlExpired);
        if expired > 0 {
            return Err(format!("a forwarding loop: r{node} dropped {expired} packets whose TTL was over"));
        }
        bandwidth(node, router)?;
    }
    Ok(())
}

fn bandwidth(node: usize, router: &Router) -> Result<(), String> {
    // By port and session: shared explicit reservations count once.
    let mut ports: BTreeMap<PortId, BTreeMap<(u32, u16, u32), u64>> = BTreeMap::new();
    for lsp in speaker(router).lsps().filter(|lsp| lsp.style.is_some()) {
        let Some(hop) = lsp.next_hop else { continue };
        let session = (lsp.end_point.to_bits(), lsp.tunnel_id, lsp.extended_tunnel_id.to_bits());
        let reserved = ports.entry(hop.port).or_default().entry(session).or_default();
        if lsp.style == Some(Style::SharedExplicit) {
            *reserved = lsp.reserved.0.max(*reserved);
        } else {
            *reserved += lsp.reserved.0;
        }
    }
    for link in speaker(router).links() {
        let told: u64 = link.reserved.iter().map(|rate| rate.0).sum();
        let counted: u64 = ports.get(&link.port).map_or(0, |sessions| sessions.values().sum());
        if told > link.reservable.0 {
            return Err(format!("r{node} {:?}: {told} of {} reserved", link.port, link.reservable.0));
        }
        if told != counted {
            return Err(format!("r{node} {:?}: {told} reserved, but LSPs have {counted}", link.port));
        }
    }
    Ok(())
}

/// The active LSP of each tunnel.
pub fn active(run: &Run) -> Vec<Option<u16>> {
    let of = |t: &super::drive::Tunnel| {
        let router = run.network.router(t.plan.from)?;
        speaker(router).tunnels().find(|view| view.id == t.id)?.active
    };
    run.tunnels.iter().map(of).collect()
}

/// Packets sent so far by each tunnel's stream.
pub fn sent(run: &Run) -> Vec<u64> {
    let of = |(index, t): (usize, &super::drive::Tunnel)| {
        let generator = run.network.generator(t.plan.from)?;
        let mut streams = generator.sources().iter().flat_map(|source| source.sent());
        streams.find(|(id, _)| *id == Run::stream(index)).and_then(|(_, marks)| marks.last().copied())
    };
    run.tunnels.iter().enumerate().map(|t| of(t).unwrap_or(0)).collect()
}

/// Everything is healed, and there was time.
pub fn settled(run: &Run) -> Result<(), String> {
    let active = active(run);
    for (index, tunnel) in run.tunnels.iter().enumerate() {
        let router = router(run, tunnel.plan.from)?;
        if active[index].is_some() {
            follow(run, index)?;
        } else if tunnel.wanted && tunnel.plan.possible && tunnel.plan.bandwidth_mbps == 0 {
            let view = speaker(router).tunnels().find(|view| view.id == tunnel.id);
            return Err(format!("tunnel {index} is not up, and nothing is in its way: {view:?}"));
        }
        if !tunnel.wanted && speaker(router).tunnels().any(|view| view.id == tunnel.id) {
            return Err(format!("tunnel {index} is torn down, but its head end knows it"));
        }
    }
    (0..run.programme.nodes).try_for_each(|node| agreed(run, node))
}

/// Neighbours agree on every LSP: what one sends with, the next one knows. No state belongs to a tunnel that nobody
/// wants.
fn agreed(run: &Run, node: usize) -> Result<(), String> {
    let router = router(run, node)?;
    for lsp in speaker(router).lsps() {
        let owner = run.tunnels.iter().find(|t| {
            t.id.to == lsp.end_point
                && t.id.id == lsp.tunnel_id
                && run.network.loopback(t.plan.from) == lsp.extended_tunnel_id
        });
        if owner.is_none_or(|t| !t.wanted) {
            return Err(format!("r{node} holds an LSP that nobody wants: {lsp:?}"));
        }
        let (Some(hop), Some(label)) = (lsp.next_hop, lsp.out_label) else { continue };
        let next = run.beyond(node, hop.port).map(|(next, _)| next).ok_or("an LSP leaves the network")?;
        let same = |other: &LspView| {
            (other.sender, other.lsp_id, other.tunnel_id, other.end_point)
                == (lsp.sender, lsp.lsp_id, lsp.tunnel_id, lsp.end_point)
        };
        let known = speaker(self::router(run, next)?).lsps().find(same);
        match known {
            Some(other) if other.in_label == Some(label) => {}
            other => {
                return Err(format!("r{node} sends {lsp:?} with label {label}, but r{next} knows {other:?}"));
            }
        }
    }
    // Every label in the tables is one that an LSP was given.
    let given: Vec<Label> =
        speaker(router).lsps().filter(|l| l.role != Role::Head).filter_map(|l| l.in_label).collect();
    match router.forwarding().ilm().find(|row| !given.contains(&row.label)) {
        Some(row) => Err(format!("r{node} has label {} in its tables, and no LSP has it", row.label)),
        None => Ok(()),
    }
}

/// Follows a tunnel from table to table to its egress.
fn follow(run: &Run, index: usize) -> Result<(), String> {
    let tunnel = &run.tunnels[index];
    let mut node = tunnel.plan.from;
    let way = |why: &str, node: usize| Err(format!("tunnel {index} is up, but at r{node} {why}"));
    let Some(mut nhlfe) = router(run, node)?.forwarding().route_local(tunnel.address) else {
        return way("nothing maps to it", node);
    };
    if !router(run, node)?.forwarding().ftn().any(|row| row.prefix.address() == tunnel.address) {
        return way("no FTN entry is there", node);
    }
    for _ in 0..=run.programme.nodes {
        let NextHop::Via { port, .. } = nhlfe.next_hop else { break };
        let Some((next, _)) = run.beyond(node, port) else { break };
        node = next;
        let Some(&label) = nhlfe.push.as_slice().last() else { break };
        if label == Label::EXPLICIT_NULL {
            break;
        }
        let Some(row) = router(run, node)?.forwarding().ilm_row(label) else {
            return way(&format!("label {label} is unknown"), node);
        };
        nhlfe = row.nhlfe;
        if nhlfe.next_hop == NextHop::Local {
            break;
        }
    }
    if node == tunnel.plan.to { Ok(()) } else { way("its way ends", node) }
}

/// Every packet sent over a tunnel that stayed up has arrived. Gives the number of packets watched.
pub fn delivered(run: &Run, before: &[Option<u16>], from: &[u64], to: &[u64]) -> Result<u64, String> {
    let after = active(run);
    let mut watched = 0;
    for (index, tunnel) in run.tunnels.iter().enumerate() {
        if before[index].is_none() || before[index] != after[index] {
            continue;
        }
        let sink = run.network.sink(tunnel.plan.to).and_then(|sink| sink.stream(Run::stream(index)));
        let missing = sink.map_or(u64::MAX, |stats| stats.sequence.missing(from[index], to[index]));
        if missing > 0 || to[index] <= from[index] {
            let (from, to) = (from[index], to[index]);
            return Err(format!(
                "tunnel {index} is up, but {missing} of its packets {from} to {to} are lost"
            ));
        }
        watched += to[index] - from[index];
    }
    Ok(watched)
}

/// Everything is torn down, and soft state has had time to go: nothing is left anywhere.
pub fn nothing_left(run: &Run) -> Result<(), String> {
    for node in 0..run.programme.nodes {
        let router = router(run, node)?;
        let audit = speaker(router).audit();
        if !audit.is_empty() {
            let lsps: Vec<_> = speaker(router).lsps().collect();
            return Err(format!("r{node} has something left: {audit:?} {lsps:?}"));
        }
        let tables = (router.forwarding().ilm_len(), router.forwarding().ftn().count(), router.backlog());
        if tables != (0, 0, (0, 0)) {
            return Err(format!("r{node} has ILM, FTN entries or writes and messages left: {tables:?}"));
        }
    }
    always(run)
}
