//! Carries a programme out, heals everything, and compares the end with that of a network to which nothing happened.

use super::check::{self, Facts};
use super::programme::{Action, Families, Programme, Step};
use crate::common::{MS, S, conserved};
use base::Event;
use base::device::DropReason;
use base::{NodeId, Span, Time};
use core::net::IpAddr;
use engine::{EventRecord, Fault, FaultKind};
use std::collections::BTreeSet;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Sessions stand, and routes and labels are there.
const COLD: u64 = 60 * S;
/// After everything is healed nothing changes any more. The longest wait is that of LDP before it tries a session
/// again, up to two minutes (RFC 5036, 2.5.3).
const SETTLE: u64 = 180 * S;
/// An answer comes, address resolution included.
const ANSWER: u64 = 3 * S;

/// What the run found out about itself, for the test that programmes are worth something.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub answers: u64,
    pub answers_by_ipv6: u64,
    pub facts: u64,
    pub events: u64,
    /// Labels that BGP has given out and that are in use at the end.
    pub labels_of_bgp: u64,
    /// Programmes in which BGP tells labels.
    pub labelled: u64,
    /// Programmes in which it tells IPv4 without labels and nothing else.
    pub plain: u64,
}

impl Summary {
    pub fn add(&mut self, other: &Summary) {
        self.answers += other.answers;
        self.answers_by_ipv6 += other.answers_by_ipv6;
        self.facts += other.facts;
        self.events += other.events;
        self.labels_of_bgp += other.labels_of_bgp;
        self.labelled += other.labelled;
        self.plain += other.plain;
    }
}

fn network(programme: &Programme) -> Result<Testbed, String> {
    let value = serde_json::from_value(programme.described()).expect("a value");
    let file = NetworkFile::read_part(&value)
        .map_err(|error| format!("{:?} {}", error.path().collect::<Vec<_>>(), error.words()))?;
    Testbed::new(&file).map_err(|error| error.to_string())
}

fn run(network: &mut Testbed, span: u64) -> Result<(), String> {
    let until = Time(network.world().now().0 + span);
    network.run_until(until).map_err(|error| error.to_string())
}

pub fn carry_out(programme: &Programme) -> Result<Summary, String> {
    let mut undisturbed = network(programme)?;
    run(&mut undisturbed, COLD + SETTLE)?;
    let expected = Facts::of(&mut undisturbed)?;
    all_answer(&mut undisturbed, programme).map_err(|why| format!("without any fault: {why}"))?;
    let mut network = network(programme)?;
    run(&mut network, COLD)?;
    for Step { after_ms, action } in &programme.steps {
        run(&mut network, after_ms * MS)?;
        act(&mut network, programme, action)?;
    }
    fault(&mut network, FaultKind::HealAll, None)?;
    run(&mut network, SETTLE)?;
    check::databases_are_equal(&mut network, programme.nodes)?;
    let facts = Facts::of(&mut network)?;
    if let Some(why) = facts.differ(&expected) {
        return Err(why);
    }
    let labels_of_bgp = check::no_label_is_left(&mut network, programme.routers())?;
    let (answers, answers_by_ipv6) = all_answer(&mut network, programme)?;
    conserved(&mut network)?;
    Ok(Summary {
        answers,
        answers_by_ipv6,
        facts: facts.count(),
        events: network.world().events_done(),
        labels_of_bgp,
        labelled: programme.families.has_labels().into(),
        plain: (programme.families == Families::default()).into(),
    })
}

fn fault(network: &mut Testbed, kind: FaultKind, for_ms: Option<u64>) -> Result<(), String> {
    let now = network.world().now();
    let mut fault = Fault::new(now, kind);
    fault.until = for_ms.map(|ms| Time(now.0 + ms * MS));
    network.fault(fault).map_err(|error| error.to_string())
}

fn act(network: &mut Testbed, programme: &Programme, action: &Action) -> Result<(), String> {
    let id = |network: &Testbed, link: usize| network.link_id(link).map_err(|error| error.to_string());
    match action {
        Action::Down(link) => {
            let link = id(network, *link)?;
            fault(network, FaultKind::LinkDown { link }, None)
        }
        Action::Up(link) => {
            let link = id(network, *link)?;
            fault(network, FaultKind::LinkUp { link }, None)
        }
        Action::Partition(side) => {
            let is_cut = |link: &super::programme::LinkPlan| side.contains(&link.a) != side.contains(&link.b);
            for link in (0..programme.links.len()).filter(|link| is_cut(&programme.links[*link])) {
                let link = id(network, link)?;
                fault(network, FaultKind::LinkDown { link }, None)?;
            }
            Ok(())
        }
        Action::Impair { link, kind, thousandths, for_ms } => {
            let link = id(network, *link)?;
            fault(network, kind.fault(link, *thousandths), Some(*for_ms))
        }
        Action::Restart { node, for_ms } => {
            let (node, down_for) = (NodeId(*node as u32), Span::from_ms(*for_ms as i64));
            fault(network, FaultKind::NodeRestart { node, down_for }, None)
        }
    }
}

/// Each router has an answer of each other one that it must reach, and no packet has gone in circles for it. Says how
/// many answers there are by IPv4 and by IPv6.
fn all_answer(network: &mut Testbed, programme: &Programme) -> Result<(u64, u64), String> {
    let all = programme.routers();
    let expired = |network: &Testbed| -> u64 {
        let of = |node| network.router(node).map_or(0, |router| router.drops().get(DropReason::TtlExpired));
        (0..all).map(of).sum()
    };
    let before = expired(network);
    let every = || (0..all).flat_map(|from| (0..all).map(move |to| (from, to)));
    let by_ipv4 = every()
        .filter(|(from, to)| programme.must_reach(*from, *to))
        .map(|(from, to)| (from, to, IpAddr::V4(network.loopback(to))));
    let by_ipv6 = every()
        .filter(|(from, to)| programme.must_reach_by_ipv6(*from, *to))
        .map(|(from, to)| (from, to, IpAddr::V6(Programme::ipv6(to))));
    let pairs: Vec<(usize, usize, IpAddr)> = by_ipv4.chain(by_ipv6).collect();
    // The first packets may wait for addresses of neighbours to be resolved.
    for first in [0, 1_000] {
        for (from, to, address) in pairs.iter().copied() {
            network
                .ping(from, address, 64, (first + from * all + to) as u16)
                .map_err(|error| error.to_string())?;
        }
        run(network, ANSWER)?;
    }
    let answered: BTreeSet<(u32, IpAddr, u16)> = network
        .events()
        .iter()
        .filter_map(|record: &EventRecord| match record.event {
            Event::ProbeReply { sequence, kind: 0, from, .. } => Some((record.node.0, from, sequence)),
            _ => None,
        })
        .collect();
    for (from, to, address) in pairs.iter().copied() {
        let sequence = (1_000 + from * all + to) as u16;
        if !answered.contains(&(from as u32, address, sequence)) {
            let [from, to] = [from, to].map(|router| programme.name(router));
            return Err(format!("{from} has no answer of {to} at {address}"));
        }
    }
    match expired(network) - before {
        0 => {
            let by_ipv6 = pairs.iter().filter(|(_, _, address)| address.is_ipv6()).count() as u64;
            Ok((pairs.len() as u64 - by_ipv6, by_ipv6))
        }
        packets => Err(format!("{packets} packets went in circles")),
    }
}
