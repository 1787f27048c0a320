//! What decides on a packet here, and what would otherwise: for people to look at. Nothing is counted, and nothing in
//! the tables is another afterwards.

use crate::decide::{By, Plan};
use crate::entry::{BOTTOM, Entry, Kind};
use crate::flow::{class_at, flow_at};
use crate::packet::{ETHERNET, ETHERTYPE_MPLS, LABEL, u16_at, u32_at};
use crate::punt::{Exception, PuntReason, labels_of};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::flow::{FlowFilter, FlowKey};
use base::plane::{IpPrefix, LabelStack, NextHop, Nhlfe, Prefix, Prefix6, TcSource, TtlModel};
use base::{Dscp, Frame, Label, MacAddr, Phb, PhbSet, PortId};
use core::net::IpAddr;

/// Which entry takes a packet, by table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The ILM's of a label; the explicit nulls have none and are taken off.
    Label(Label),
    /// A filter that is mapped to an LSP.
    Filter {
        /// Its place among the filters.
        order: u64,
        /// Takes packets that match all of its fields.
        filter: FlowFilter,
    },
    /// A prefix that is mapped to an LSP.
    Mapped {
        /// Destinations that it takes.
        prefix: IpPrefix,
        /// The PHBs that it takes, and its place among the entries of the prefix; all if absent.
        classes: Option<(u64, PhbSet)>,
    },
    /// A route.
    Route(IpPrefix),
}

/// An entry that takes a packet, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// By what it takes the packet.
    pub rule: Rule,
    /// What it does with it, in the words of the control plane.
    pub nhlfe: Nhlfe,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It leaves.
    Leaves {
        /// By this port.
        port: PortId,
        /// To this neighbour.
        gateway: IpAddr,
        /// The neighbour's Ethernet address; if absent it has to be asked for before the packet leaves.
        mac: Option<MacAddr>,
    },
    /// It goes to the control processor: it is for this node, or can't leave as it is.
    Punted(PuntReason),
    /// It is dropped.
    Dropped(DropReason),
}

/// The way of a packet through the tables of a node.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The entries that it goes through: labels that end here, and last the one that says what becomes of it.
    pub taken: Vec<Taken>,
    /// What would take it without the last of these, the next best first, up to the first route.
    pub overridden: Vec<Taken>,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The frame as it leaves.
    pub frame: Option<Frame>,
}

impl Forwarding {
    /// What would become of a frame that arrived by `port` now. Conditioners are left out, since they go by the packets
    /// before, and router alert and options, which do not choose a way. A packet that would be replicated is
    /// [`Outcome::Punted`].
    pub fn explain(&mut self, port: PortId, frame: &Frame) -> Explained {
        let mut decided = self.again(port, frame);
        if let Err(Exception::Punt(PuntReason::NoRoute { labels })) = decided
            && self.has_unused(frame, labels)
        {
            decided = self.again(port, frame);
        }
        if let Err(Exception::Punt(PuntReason::NoAdjacency { port: out, gateway })) = decided
            && let Ok(config) = self.port_config(out)
        {
            // What the packet leaves with is known; only its Ethernet address is not. The tables are put back.
            let before = self.adjacencies.clone();
            self.adjacencies.resolve(out, gateway, MacAddr::default(), &config);
            let again = self.again(port, frame);
            let mut explained = self.explained(frame, again);
            self.adjacencies = before;
            if let Outcome::Leaves { mac, .. } = &mut explained.outcome {
                *mac = None;
            }
            return explained;
        }
        self.explained(frame, decided)
    }

    fn explained(&self, frame: &Frame, decided: Result<Plan, Exception>) -> Explained {
        let (mut taken, is_labelled) = self.labels_taken(frame);
        let mut overridden = Vec::new();
        if !is_labelled {
            let mut all = self.candidates(frame);
            let place = match &decided {
                Ok(plan) => all.iter().position(|(by, _)| *by == Some(plan.by)),
                Err(_) => (!all.is_empty()).then_some(0),
            };
            if let Some(place) = place {
                let others = all.split_off(place + 1).into_iter().map(|(_, one)| one);
                taken.extend(all.pop().map(|(_, one)| one));
                let is_mapped = |one: &Taken| !matches!(one.rule, Rule::Route(_));
                let others: Vec<Taken> = others.collect();
                let mapped = others.iter().take_while(|one| is_mapped(one)).count();
                overridden = others.into_iter().take(mapped + 1).collect();
            }
        }
        let (mut outcome, mut left) = match decided {
            Ok(plan) => match self.adjacencies.get(plan.adjacency) {
                Some(adjacency) => {
                    let mut left = frame.clone();
                    let done = plan.write(&mut left, adjacency);
                    let gateway = self.adjacencies.gateway(plan.adjacency);
                    let mac = self.adjacencies.mac(plan.adjacency);
                    let outcome = Outcome::Leaves { port: adjacency.port, gateway, mac };
                    match done {
                        Ok(()) => (outcome, Some(left)),
                        Err(reason) => (Outcome::Dropped(reason), None),
                    }
                }
                None => (Outcome::Dropped(DropReason::NoAdjacency), None),
            },
            Err(Exception::Punt(reason)) => (Outcome::Punted(reason), None),
            Err(Exception::Drop(reason)) => (Outcome::Dropped(reason), None),
        };
        if matches!(outcome, Outcome::Punted(PuntReason::NoAdjacency { .. })) {
            (outcome, left) = (Outcome::Dropped(DropReason::NoAdjacency), None);
        }
        Explained { taken, overridden, outcome, frame: left }
    }

    /// The entries of the labels that a frame comes with, as far as they are looked at, and whether one of them says
    /// what becomes of it.
    fn labels_taken(&self, frame: &Frame) -> (Vec<Taken>, bool) {
        let (header, mut at, mut taken) = (frame.header(), ETHERNET, Vec::new());
        if u16_at(header, 12) != Some(ETHERTYPE_MPLS) {
            return (taken, false);
        }
        while let Some(word) = u32_at(header, at) {
            let label = Label::truncate(word >> 12);
            let entry = self.ilm.get(label.value()).filter(|entry| entry.kind != Kind::Empty);
            let is_null = label == Label::EXPLICIT_NULL || label == Label::EXPLICIT_NULL_V6;
            let nhlfe = match entry {
                Some(entry) => self.nhlfe(entry),
                // RFC 3032, 2.1: no entry describes the nulls; they are popped.
                None if is_null => popped(self.config.explicit_null_ttl),
                None => return (taken, true),
            };
            taken.push(Taken { rule: Rule::Label(label), nhlfe });
            let bottom = word & BOTTOM != 0;
            match nhlfe.next_hop {
                NextHop::Selected(_) if !entry.is_some_and(|e| self.selectors.takes(e.next_hop, label)) => {
                    return (taken, true);
                }
                NextHop::Local | NextHop::Unlabelled | NextHop::Selected(_) if bottom => break,
                NextHop::Local | NextHop::Selected(_) => {}
                _ => return (taken, true),
            }
            at += LABEL;
        }
        (taken, false)
    }

    /// All entries that would take the packet below the labels, in the order in which they are looked at, with the name
    /// that a decision has for them.
    fn candidates(&self, frame: &Frame) -> Vec<(Option<By>, Taken)> {
        let at = ETHERNET + LABEL * usize::from(labels_of(frame));
        let Some(flow) = flow_at(frame, at) else { return Vec::new() };
        let prefixes = match flow.dst {
            IpAddr::V4(to) => self.by_prefix(to, class_at(frame.header(), at).unwrap_or(0)),
            IpAddr::V6(to) => self.by_prefix6(to),
        };
        let first = prefixes.iter().find(|(_, one)| is_plain(&one.rule)).map(|(_, one)| one.nhlfe.next_hop);
        // Filters are not asked for what is for this node or on a connected network.
        let is_near = match first {
            Some(NextHop::Local) => true,
            Some(NextHop::Via { gateway, .. }) => gateway.is_unspecified(),
            _ => false,
        };
        let mut all = if is_near { Vec::new() } else { self.by_filter(&flow) };
        all.extend(prefixes);
        all
    }

    fn by_filter(&self, flow: &FlowKey) -> Vec<(Option<By>, Taken)> {
        // As in decisions: one that gives no address is for IPv4.
        let is_meant = |filter: &FlowFilter| flow.dst.is_ipv4() || filter.src.or(filter.dst).is_some();
        let mut first = self.filters.find(flow);
        if flow.dst.is_ipv6() {
            first = self.filters.find_by_address(flow);
        }
        let taken = self.filters.iter().filter(|one| is_meant(&one.filter) && one.filter.takes(flow));
        taken
            .map(|one| {
                let rule = Rule::Filter { order: one.order, filter: one.filter };
                (first.take().map(By::Filter), Taken { rule, nhlfe: self.nhlfe(&one.entry) })
            })
            .collect()
    }

    fn by_prefix(&self, to: core::net::Ipv4Addr, tos: u8) -> Vec<(Option<By>, Taken)> {
        let phb = self.phb_of_tos(tos).unwrap_or(Phb::of_dscp(Dscp::of_tos(tos)));
        let mut all = Vec::new();
        for len in (0..=32).rev() {
            let prefix = Prefix::new(to, len);
            let Some((place, known)) = self.fib.place(prefix).and_then(|at| Some((at, self.fib.get(at)?)))
            else {
                continue;
            };
            let prefix = IpPrefix::V4(prefix);
            for (at, one) in
                (0..).zip(self.fib.class_list(known.classed).into_iter().flat_map(|list| list.iter()))
            {
                if one.classes.contains(phb) {
                    let rule = Rule::Mapped { prefix, classes: Some((one.order, one.classes)) };
                    all.push((Some(By::Class(place, at)), Taken { rule, nhlfe: self.nhlfe(&one.entry) }));
                }
            }
            self.push_plain(&mut all, prefix, By::Prefix(place, to), [&known.ftn, &known.route]);
        }
        all
    }

    fn by_prefix6(&self, to: core::net::Ipv6Addr) -> Vec<(Option<By>, Taken)> {
        let mut all = Vec::new();
        let Some(fib) = &self.fib6 else { return all };
        for len in (0..=128).rev() {
            let prefix = Prefix6::new(to, len);
            if let Some(known) = fib.exact(prefix) {
                // Only the longest prefix is ever decided by.
                let place = fib.find(to).unwrap_or_default();
                self.push_plain(
                    &mut all,
                    IpPrefix::V6(prefix),
                    By::Prefix6(place),
                    [&known.ftn, &known.route],
                );
            }
        }
        all
    }

    /// The mapping of a prefix for all packets, and its route, which the mapping hides.
    fn push_plain(
        &self,
        all: &mut Vec<(Option<By>, Taken)>,
        prefix: IpPrefix,
        by: By,
        [mapped, route]: [&Entry; 2],
    ) {
        let rules = [(mapped, Rule::Mapped { prefix, classes: None }), (route, Rule::Route(prefix))];
        for (entry, rule) in rules.into_iter().filter(|(entry, _)| entry.kind != Kind::Empty) {
            all.push((Some(by), Taken { rule, nhlfe: self.nhlfe(entry) }));
        }
    }
}

/// Does the rule take packets of all PHBs to a prefix?
fn is_plain(rule: &Rule) -> bool {
    matches!(rule, Rule::Route(_) | Rule::Mapped { classes: None, .. })
}

/// What becomes of a label that no entry is needed for.
fn popped(ttl: TtlModel) -> Nhlfe {
    Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Local, ttl, tc: TcSource::Copy }
}
