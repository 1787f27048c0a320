//! What the tables say, as entries of the switch.
//!
//! Table 0 admits frames, by port: those to the port's own address are looked up, ARP and frames to groups go to the
//! router, and others are dropped. Table 1 notes the precedence of IPv4 packets as metadata, since a label may take it
//! and OpenFlow matches a DSCP only as a whole. Table 2 has labels and prefixes; what it has no entry for goes to the
//! router. Table 3 sends packets by the port that the metadata say.

use super::entry::{Admission, Bottom, Entry, Key, Punt, to_router};
use super::section::OpenFlowSpec;
use super::session::{PROTOCOLS, PUNTS};
use base::plane::{Fec, NextHop, Nhlfe, PortConfig, Prefix, TableOp, TcSource, TtlModel};
use base::{Label, MacAddr, PortId};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};
use wire::openflow::v1_3::{Action, Instruction, Match, Oxm, OxmField, Setting, ports};

/// The table that admits frames, the one that notes their precedence, that of labels and prefixes, and the last one.
const ADMIT: u8 = 0;
const CLASSIFY: u8 = 1;
const FORWARD: u8 = 2;
const LEAVE: u8 = 3;
/// DSCPs, and the bits of the metadata that have a precedence.
const DSCPS: u8 = 64;
const PRECEDENCE: u64 = 7;
/// The bits of the metadata that have the port of egress.
const OUT: u64 = 0xff_ff00;
/// Priorities in the first table.
const ARP: u16 = 30;
const OWN: u16 = 20;
const GROUP: u16 = 10;
/// Priorities in the third: a prefix has its length on top of the lowest of prefixes.
const SIGNALS: u16 = 400;
const LABELS: u16 = 300;
const PREFIXES: u16 = 100;
const REST: u16 = 0;
const IPV4: u128 = 0x0800;
const ARP_TYPE: u128 = 0x0806;
const MPLS: u128 = 0x8847;
/// The protocol number of RSVP.
const RSVP: u128 = 46;
const LOOPBACK: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 0);

/// Why the switch can't do something.
type Reason = &'static str;

/// What the tables have that is translated.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    ports: BTreeMap<PortId, PortConfig>,
    neighbors: BTreeMap<(PortId, IpAddr), MacAddr>,
    labels: BTreeMap<Label, Nhlfe>,
    mapped: BTreeMap<Prefix, Nhlfe>,
    routes: BTreeMap<Prefix, NextHop>,
}

/// How a packet leaves.
struct Way {
    port: PortId,
    from: MacAddr,
    to: MacAddr,
}

/// The operation that takes out what one puts in, for tables whose entries a switch may refuse.
pub(super) fn removal(op: &TableOp) -> Option<TableOp> {
    match *op {
        TableOp::IlmSet { label, .. } => Some(TableOp::IlmRemove { label }),
        TableOp::FtnSet { fec, .. } => Some(TableOp::FtnRemove { fec }),
        TableOp::RouteSet { prefix, .. } => Some(TableOp::RouteRemove { prefix }),
        _ => None,
    }
}

fn next_hop(next_hop: NextHop) -> Option<Reason> {
    match next_hop {
        NextHop::Group(_) => Some("a group of next hops"),
        NextHop::Replicate(_) | NextHop::Standby(_) => Some("copies of a packet"),
        NextHop::Selected(_) => Some("a selector between labels"),
        NextHop::Via { gateway: IpAddr::V6(_), .. } => Some("IPv6"),
        NextHop::Via { .. } | NextHop::Local | NextHop::Unlabelled | NextHop::Discard => None,
    }
}

impl Mirror {
    /// Why the switch can't do an operation; nothing if it can, or if it is for the router alone.
    pub fn refusal(&self, op: &TableOp, spec: &OpenFlowSpec, pipe_ttl: u8) -> Option<Reason> {
        match op {
            TableOp::IlmSet { nhlfe, .. } => {
                next_hop(nhlfe.next_hop).or_else(|| label(nhlfe, Bottom::Any, spec, pipe_ttl).err())
            }
            TableOp::FtnSet { fec: Fec::Prefix(_), nhlfe } => {
                next_hop(nhlfe.next_hop).or_else(|| push(nhlfe, None, spec, pipe_ttl).err())
            }
            TableOp::FtnSet { fec: Fec::Prefix6(_), .. } => Some("IPv6"),
            TableOp::FtnSet { fec: Fec::ClassPrefix { .. }, .. } => Some("packets of some PHBs"),
            TableOp::FtnSet { fec: Fec::Flow { .. }, .. } => Some("packets that a filter takes"),
            TableOp::RouteSet { next_hop: to, .. } => next_hop(*to),
            TableOp::Route6Set { next_hop: NextHop::Via { .. } | NextHop::Group(_), .. } => Some("IPv6"),
            TableOp::MulticastSet { .. } => Some("packets to groups"),
            _ => None,
        }
    }

    /// Takes over an operation that the tables have carried out: the entries that it may change.
    pub fn take(&mut self, op: &TableOp) -> BTreeSet<Key> {
        match *op {
            TableOp::PortSet { port, config } => {
                self.ports.insert(port, config);
                return self.keys();
            }
            TableOp::AdjacencySet { port, gateway, mac } => {
                self.neighbors.insert((port, gateway), mac);
                return self.keys_of_neighbor(port, gateway);
            }
            TableOp::AdjacencyRemove { port, gateway } => {
                self.neighbors.remove(&(port, gateway));
                return self.keys_of_neighbor(port, gateway);
            }
            TableOp::IlmSet { label, nhlfe } => {
                self.labels.insert(label, nhlfe);
                return keys_of_label(label);
            }
            TableOp::IlmRemove { label } => {
                self.labels.remove(&label);
                return keys_of_label(label);
            }
            TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe } => {
                self.mapped.insert(prefix, nhlfe);
                return self.keys_of_prefix(prefix);
            }
            TableOp::FtnRemove { fec: Fec::Prefix(prefix) } => {
                self.mapped.remove(&prefix);
                return self.keys_of_prefix(prefix);
            }
            TableOp::RouteSet { prefix, next_hop } => {
                self.routes.insert(prefix, next_hop);
                return self.keys_of_prefix(prefix);
            }
            TableOp::RouteRemove { prefix } => {
                self.routes.remove(&prefix);
                return self.keys_of_prefix(prefix);
            }
            _ => {}
        }
        BTreeSet::new()
    }

    /// Everything.
    fn keys(&self) -> BTreeSet<Key> {
        let admissions = [Admission::Own, Admission::Arp, Admission::Group];
        let ports = self.ports.keys().flat_map(|port| admissions.map(|kind| Key::Port(*port, kind)));
        let leave =
            self.ports.keys().flat_map(|port| [false, true].map(|is_back| Key::Leave(*port, is_back)));
        let punts = [Punt::Rsvp, Punt::Loopback, Punt::Rest].map(Key::Punt);
        let labels = self.labels.keys().flat_map(|label| keys_of_label(*label));
        let prefixes = self.routes.keys().chain(self.mapped.keys()).flat_map(|one| keys_of_prefix(*one));
        let classes = (0..DSCPS).map(Some).chain([None]).map(Key::Class);
        ports
            .chain(leave)
            .chain(punts)
            .chain(classes)
            .chain(labels)
            .chain(prefixes)
            .chain(self.neighbor_keys())
            .collect()
    }

    fn neighbor_keys(&self) -> impl Iterator<Item = Key> {
        self.neighbors.keys().filter_map(|(port, address)| match address {
            IpAddr::V4(address) => Some(Key::Neighbor(*port, *address)),
            IpAddr::V6(_) => None,
        })
    }

    fn keys_of_neighbor(&self, port: PortId, gateway: IpAddr) -> BTreeSet<Key> {
        let uses = |to: &NextHop| *to == NextHop::Via { port, gateway };
        let labels = self.labels.iter().filter(|(_, nhlfe)| uses(&nhlfe.next_hop));
        let mapped = self.mapped.iter().filter(|(_, nhlfe)| uses(&nhlfe.next_hop)).map(|(prefix, _)| prefix);
        let routes = self.routes.iter().filter(|(_, to)| uses(to)).map(|(prefix, _)| prefix);
        let mut found: BTreeSet<Key> = labels.flat_map(|(label, _)| keys_of_label(*label)).collect();
        found.extend(mapped.chain(routes).flat_map(|prefix| keys_of_prefix(*prefix)));
        if let IpAddr::V4(address) = gateway {
            found.insert(Key::Neighbor(port, address));
        }
        found
    }

    /// That of a prefix, and those of neighbours within it: whether a neighbour has one depends on longer prefixes.
    fn keys_of_prefix(&self, prefix: Prefix) -> BTreeSet<Key> {
        let is_within = |key: &Key| matches!(key, Key::Neighbor(_, address) if prefix.contains(*address));
        let mut found: BTreeSet<Key> = self.neighbor_keys().filter(is_within).collect();
        found.extend(keys_of_prefix(prefix));
        found
    }

    /// The entry of a key; nothing if the switch needs none, so that the router gets the packets.
    pub fn entry(&self, key: &Key, spec: &OpenFlowSpec, pipe_ttl: u8) -> Option<Entry> {
        match *key {
            Key::Port(port, kind) => self.admission(port, kind),
            Key::Punt(punt) => Some(punted(punt)),
            Key::Label(top, bottom) => {
                let nhlfe = self.labels.get(&top)?;
                // A label that is taken off leaves what is below it: another label, or a packet. More than one go on
                // top of the last label alone: how many there are otherwise, and whether there is room, is not known.
                let is_for = match nhlfe.push.as_slice().len() {
                    0 => bottom != Bottom::Any,
                    1 => bottom == Bottom::Any,
                    _ => bottom == Bottom::Yes,
                };
                if !is_for {
                    return None;
                }
                let mut fields = vec![(OxmField::EthType, MPLS), (OxmField::MplsLabel, top.value().into())];
                match bottom {
                    Bottom::Any => {}
                    Bottom::No => fields.push((OxmField::MplsBos, 0)),
                    Bottom::Yes => fields.push((OxmField::MplsBos, 1)),
                }
                if nhlfe.next_hop == NextHop::Discard {
                    return Some(Entry::new(FORWARD, LABELS, &fields, Vec::new()));
                }
                let actions = label(nhlfe, bottom, spec, pipe_ttl).ok()?;
                let instructions = self.way(nhlfe.next_hop)?.leave(actions);
                Some(Entry::new(FORWARD, LABELS, &fields, instructions))
            }
            Key::Class(dscp) => Some(classified(dscp)),
            Key::Leave(port, is_back) => self.ports.contains_key(&port).then(|| leaving(port, is_back)),
            Key::Prefix(prefix, class) => self.prefix(prefix, class, spec, pipe_ttl),
            Key::Neighbor(port, address) => {
                let whole = Prefix::host(address);
                let connected = NextHop::Via { port, gateway: Ipv4Addr::UNSPECIFIED.into() };
                let is_next = self.longest(address).is_some_and(|found| {
                    found != whole
                        && !self.mapped.contains_key(&found)
                        && self.routes.get(&found) == Some(&connected)
                });
                let way = self.way(NextHop::Via { port, gateway: address.into() }).filter(|_| is_next)?;
                Some(Entry { instructions: way.leave(vec![Action::DecNwTtl]), ..routed(whole, Vec::new()) })
            }
        }
    }

    /// The longest prefix of an address that the tables have.
    fn longest(&self, address: Ipv4Addr) -> Option<Prefix> {
        let every = (0..=32).rev().map(|len| Prefix::new(address, len));
        every.into_iter().find(|one| self.mapped.contains_key(one) || self.routes.contains_key(one))
    }

    fn admission(&self, port: PortId, kind: Admission) -> Option<Entry> {
        let own = self.ports.get(&port)?.mac;
        let by = (OxmField::InPort, u128::from(port.0) + 1);
        Some(match kind {
            Admission::Own => {
                let goto = vec![Instruction::GotoTable { table: CLASSIFY }];
                Entry::new(ADMIT, OWN, &[by, (OxmField::EthDst, number(own))], goto)
            }
            Admission::Arp => {
                Entry::new(ADMIT, ARP, &[by, (OxmField::EthType, ARP_TYPE)], to_router(PROTOCOLS))
            }
            Admission::Group => {
                let mut entry = Entry::new(ADMIT, GROUP, &[by], to_router(PROTOCOLS));
                let group = 1 << 40;
                entry.matching.fields.push(Oxm { field: OxmField::EthDst, value: group, mask: Some(group) });
                entry
            }
        })
    }

    fn prefix(&self, prefix: Prefix, class: Option<u8>, spec: &OpenFlowSpec, pipe_ttl: u8) -> Option<Entry> {
        let mapped = self.mapped.get(&prefix);
        // Only labels that take the precedence of packets need an entry for each.
        let has_classes =
            mapped.is_some_and(|nhlfe| nhlfe.tc == TcSource::Copy && !nhlfe.push.as_slice().is_empty());
        if has_classes != class.is_some() {
            return None;
        }
        let (to, pushed) = match mapped {
            Some(nhlfe) => (nhlfe.next_hop, push(nhlfe, class, spec, pipe_ttl).ok()?),
            None => (*self.routes.get(&prefix)?, Vec::new()),
        };
        let mut entry = self.forwarded(prefix, to, pushed)?;
        if let Some(class) = class {
            let (value, mask) = (class.into(), Some(PRECEDENCE.into()));
            entry.matching.fields.push(Oxm { field: OxmField::Metadata, value, mask });
        }
        Some(entry)
    }

    /// Packets to a prefix that leave to a next hop with these labels.
    fn forwarded(&self, prefix: Prefix, to: NextHop, pushed: Vec<Action>) -> Option<Entry> {
        let is_connected = matches!(to, NextHop::Via { gateway, .. } if gateway.is_unspecified());
        Some(match to {
            // A time to live that is over is told of nevertheless.
            NextHop::Discard => routed(prefix, vec![Action::DecNwTtl]),
            NextHop::Local => Entry { instructions: to_router(PROTOCOLS), ..routed(prefix, Vec::new()) },
            // The router finds out which Ethernet address a neighbour has; a longer prefix must not go by a shorter
            // one.
            _ if is_connected || self.way(to).is_none() => {
                Entry { instructions: to_router(PUNTS), ..routed(prefix, Vec::new()) }
            }
            _ => {
                let instructions = self.way(to)?.leave([vec![Action::DecNwTtl], pushed].concat());
                Entry { instructions, ..routed(prefix, Vec::new()) }
            }
        })
    }

    /// How packets leave to a next hop, if that is a neighbour whose Ethernet address is known.
    fn way(&self, to: NextHop) -> Option<Way> {
        let NextHop::Via { port, gateway } = to else { return None };
        let to = *self.neighbors.get(&(port, gateway))?;
        Some(Way { port, from: self.ports.get(&port)?.mac, to })
    }
}

impl Way {
    /// Does actions, and hands the packet to the last table, which knows by which port it came.
    fn leave(&self, mut actions: Vec<Action>) -> Vec<Instruction> {
        actions.push(set(OxmField::EthSrc, number(self.from)));
        actions.push(set(OxmField::EthDst, number(self.to)));
        let note = Instruction::WriteMetadata { metadata: out(self.port), mask: OUT };
        vec![Instruction::ApplyActions { actions }, note, Instruction::GotoTable { table: LEAVE }]
    }
}

/// A port in the metadata.
fn out(port: PortId) -> u64 {
    (u64::from(port.0) + 1) << 8
}

/// Packets that are to leave by a port: a switch sends them back by the one that they came by only if it is told so.
fn leaving(port: PortId, is_back: bool) -> Entry {
    let number = u32::from(port.0) + 1;
    let (priority, output) = if is_back { (1, ports::IN_PORT) } else { (0, number) };
    let back = is_back.then(|| Oxm::exact(OxmField::InPort, number.into()));
    let to = Oxm { field: OxmField::Metadata, value: out(port).into(), mask: Some(OUT.into()) };
    let actions = vec![Action::Output { port: output, max_len: 0 }];
    let matching = Match { fields: back.into_iter().chain([to]).collect() };
    Entry { table: LEAVE, priority, matching, instructions: vec![Instruction::ApplyActions { actions }] }
}

fn number(mac: MacAddr) -> u128 {
    mac.0.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

fn set(field: OxmField, value: u128) -> Action {
    Action::SetField { set: Setting(Oxm::exact(field, value)) }
}

fn keys_of_label(label: Label) -> BTreeSet<Key> {
    [Bottom::Any, Bottom::No, Bottom::Yes].map(|bottom| Key::Label(label, bottom)).into()
}

fn keys_of_prefix(prefix: Prefix) -> impl Iterator<Item = Key> {
    (0..=PRECEDENCE as u8).map(Some).chain([None]).map(move |class| Key::Prefix(prefix, class))
}

/// Notes the precedence of IPv4 packets with a DSCP; all other packets go on as they are.
fn classified(dscp: Option<u8>) -> Entry {
    let goto = Instruction::GotoTable { table: FORWARD };
    match dscp {
        Some(dscp) => {
            let fields = [(OxmField::EthType, IPV4), (OxmField::IpDscp, dscp.into())];
            let note = Instruction::WriteMetadata { metadata: u64::from(dscp >> 3), mask: PRECEDENCE };
            Entry::new(CLASSIFY, 1, &fields, vec![note, goto])
        }
        None => Entry::new(CLASSIFY, 0, &[], vec![goto]),
    }
}

/// Packets that are to be looked at whatever tables say.
fn punted(punt: Punt) -> Entry {
    match punt {
        Punt::Rsvp => {
            let fields = [(OxmField::EthType, IPV4), (OxmField::IpProto, RSVP)];
            Entry::new(FORWARD, SIGNALS, &fields, to_router(PROTOCOLS))
        }
        Punt::Loopback => Entry {
            priority: SIGNALS,
            instructions: to_router(PROTOCOLS),
            ..routed(Prefix::new(LOOPBACK, 8), Vec::new())
        },
        Punt::Rest => Entry::new(FORWARD, REST, &[], to_router(PUNTS)),
    }
}

/// IPv4 packets to a prefix.
fn routed(prefix: Prefix, actions: Vec<Action>) -> Entry {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.len())).unwrap_or(0);
    let mut fields = vec![Oxm::exact(OxmField::EthType, IPV4)];
    if mask != 0 {
        let mask = Some(u128::from(mask)).filter(|_| prefix.len() < 32);
        let value = u128::from(prefix.address().to_bits());
        fields.push(Oxm { field: OxmField::Ipv4Dst, value, mask });
    }
    let instructions = vec![Instruction::ApplyActions { actions }];
    let priority = PREFIXES + u16::from(prefix.len());
    Entry { table: FORWARD, priority, matching: Match { fields }, instructions }
}

/// What becomes of a packet's labels that came with one; why the switch can't do that.
fn label(nhlfe: &Nhlfe, bottom: Bottom, spec: &OpenFlowSpec, pipe_ttl: u8) -> Result<Vec<Action>, Reason> {
    let labels = nhlfe.push.as_slice();
    if !matches!(nhlfe.next_hop, NextHop::Via { .. }) {
        return Ok(Vec::new());
    }
    // The time to live is looked at before anything else: one that is over goes to the router (RFC 3443, 4.3).
    let mut actions = vec![Action::DecMplsTtl];
    let Some((first, others)) = labels.split_first() else {
        // RFC 3443, 4.3 (3): that of a uniform LSP goes down into what is exposed; that of a pipe does not.
        if nhlfe.ttl == TtlModel::Uniform {
            if !spec.copies_ttl {
                return Err("a TTL that is copied from a label to what is below it");
            }
            actions.push(Action::CopyTtlIn);
        }
        if matches!(nhlfe.tc, TcSource::DiffServ(_)) {
            return Err("traffic classes by PHB");
        }
        let ethertype = if bottom == Bottom::No { MPLS } else { IPV4 } as u16;
        actions.push(Action::PopMpls { ethertype });
        return Ok(actions);
    };
    actions.push(set(OxmField::MplsLabel, first.value().into()));
    actions.extend(class(nhlfe)?);
    actions.extend(pushed(others, nhlfe, spec, labels.len(), pipe_ttl)?);
    Ok(actions)
}

/// The labels that a packet without one gets, of a precedence where they take that; why the switch can't do that.
fn push(nhlfe: &Nhlfe, class: Option<u8>, spec: &OpenFlowSpec, pipe_ttl: u8) -> Result<Vec<Action>, Reason> {
    let labels = nhlfe.push.as_slice();
    let Some(first) = labels.first() else { return Ok(Vec::new()) };
    let mut actions = vec![Action::PushMpls { ethertype: MPLS as u16 }];
    actions.push(set(OxmField::MplsLabel, first.value().into()));
    let copied = class.filter(|_| nhlfe.tc == TcSource::Copy);
    actions.extend(copied.map(|precedence| set(OxmField::MplsTc, precedence.into())));
    actions.extend(self::class(nhlfe)?);
    if nhlfe.ttl != TtlModel::Uniform {
        actions.push(Action::SetMplsTtl { ttl: pipe_ttl });
    }
    actions.extend(pushed(&labels[1..], nhlfe, spec, labels.len(), pipe_ttl)?);
    Ok(actions)
}

/// Sets the traffic class of a label, if it is not what it is already.
fn class(nhlfe: &Nhlfe) -> Result<Option<Action>, Reason> {
    match nhlfe.tc {
        TcSource::Copy => Ok(None),
        TcSource::Set(tc) => Ok(Some(set(OxmField::MplsTc, tc.value().into()))),
        TcSource::DiffServ(_) => Err("traffic classes by PHB"),
    }
}

/// Labels above the first one: traffic class and, in a uniform LSP, time to live are copied from the one below.
fn pushed(
    labels: &[Label],
    nhlfe: &Nhlfe,
    spec: &OpenFlowSpec,
    depth: usize,
    pipe_ttl: u8,
) -> Result<Vec<Action>, Reason> {
    if depth > spec.labels.into() {
        return Err("more labels than the switch puts on");
    }
    let mut actions = Vec::new();
    for label in labels {
        actions.push(Action::PushMpls { ethertype: MPLS as u16 });
        actions.push(set(OxmField::MplsLabel, label.value().into()));
        if nhlfe.ttl != TtlModel::Uniform {
            actions.push(Action::SetMplsTtl { ttl: pipe_ttl });
        }
    }
    Ok(actions)
}
