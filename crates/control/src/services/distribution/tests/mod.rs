//! Several routers that distribute labels, in memory: what they say arrives in order, and when chance wants it. Routes
//! are those by shortest paths; each router learns them when chance wants it, too.

mod properties;
mod rules;

use super::*;
use crate::services::{
    Hops, Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, RouteHop, Services, Source,
};
use base::plane::{Ack, Fec as Packets, NextHop, Nhlfe};
use base::{Span, Streams};

const OWNER: ProtocolId = ProtocolId::new("labels");
const IGP: Source = Source::Protocol(ProtocolId::new("igp"));

/// What goes from a router to another.
#[derive(Clone, Debug)]
enum Message {
    Say(Say, u32),
    Addresses(Vec<Ipv4Addr>),
    Confirm(u32),
}

struct Node {
    labels: Distribution,
    services: Box<Services>,
    batches: VecDeque<Batch>,
    /// The entries that are in force.
    ilm: BTreeMap<Label, Nhlfe>,
    ftn: BTreeMap<Packets, Nhlfe>,
    groups: BTreeMap<base::plane::GroupId, Box<[base::plane::Member]>>,
    numbers: u32,
}

struct Net {
    settings: Settings,
    nodes: Vec<Node>,
    links: Vec<(usize, usize)>,
    up: BTreeSet<usize>,
    /// What is under way, by sender and receiver.
    wire: BTreeMap<(usize, usize), VecDeque<Message>>,
    /// Routers whose routes are older than the network.
    behind: BTreeSet<usize>,
    now: Time,
    chance: u64,
    /// What was said, by kind.
    said: BTreeMap<&'static str, usize>,
}

fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8 + 1)
}

fn key(node: usize) -> PeerKey {
    (id(node), 0)
}

fn at(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, link as u8, node as u8 + 1)
}

fn settings() -> Settings {
    Settings {
        owner: OWNER,
        preference: 100,
        first_group: 3 << 30,
        router_id: Ipv4Addr::UNSPECIFIED,
        control: LabelControl::Independent,
        advertise: LabelAdvertisement::Unsolicited,
        retention: LabelRetention::Liberal,
        loop_detection: false,
        hops_max: 254,
        prefixes: LdpPrefixes::Loopbacks,
        beyond: false,
        ports: BTreeSet::new(),
        cells: BTreeSet::new(),
    }
}

fn node(number: usize, links: &[(usize, usize)], settings: &Settings, labels: u32) -> Node {
    let port = |(link, _): (usize, &(usize, usize))| Interface {
        kind: InterfaceKind::Port(PortId(link as u16)),
        addresses: vec![InterfaceAddress { address: at(link, number).into(), prefix_len: 24 }],
        link_local: None,
        neighbor: None,
        neighbor_id: None,
        mtu: 1500,
        cost: 1,
        reservable: None,
        up: true,
    };
    // A port for each link of the network, so that it has the number of the link.
    let ports = links.iter().enumerate().map(port).collect();
    let interfaces = Interfaces::new(format!("r{number}"), id(number), ports);
    let range = (Label::FIRST_UNRESERVED, Label::truncate(15 + labels));
    let settings = Settings {
        router_id: id(number),
        ports: (0..links.len() as u16).map(PortId).collect(),
        ..settings.clone()
    };
    let mut node = Node {
        labels: Distribution::new(settings),
        services: Box::new(Services::new(interfaces, range, Streams::new(1))),
        batches: VecDeque::new(),
        ilm: BTreeMap::new(),
        ftn: BTreeMap::new(),
        groups: BTreeMap::new(),
        numbers: 0,
    };
    node.labels.update(Time::ZERO, &mut node.services, Prefix::host(id(number)), Cause::Route);
    node
}

impl Net {
    fn new(count: usize, links: &[(usize, usize)], settings: &Settings) -> Net {
        Net::with_labels(count, links, settings, 1000)
    }

    /// With so many labels at each router.
    fn with_labels(count: usize, links: &[(usize, usize)], settings: &Settings, labels: u32) -> Net {
        let mut net = Net {
            settings: settings.clone(),
            nodes: (0..count).map(|number| node(number, links, settings, labels)).collect(),
            links: links.to_vec(),
            up: BTreeSet::new(),
            wire: BTreeMap::new(),
            behind: BTreeSet::new(),
            now: Time::ZERO,
            chance: 1,
            said: BTreeMap::new(),
        };
        (0..links.len()).for_each(|link| net.set(link, true));
        net
    }

    fn draw(&mut self, below: usize) -> usize {
        // xorshift64
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance % below as u64) as usize
    }

    fn links_between(&self, a: usize, b: usize) -> BTreeSet<PortId> {
        let are = |link: &&usize| [(a, b), (b, a)].contains(&self.links[**link]);
        self.up.iter().filter(are).map(|link| PortId(*link as u16)).collect()
    }

    /// A link comes or goes, and with the last one between two routers their session.
    fn set(&mut self, link: usize, up: bool) {
        let (a, b) = self.links[link];
        if up == self.up.contains(&link) {
            return;
        }
        match up {
            true => self.up.insert(link),
            false => self.up.remove(&link),
        };
        self.behind.extend(0..self.nodes.len());
        let ports = self.links_between(a, b);
        for (from, to) in [(a, b), (b, a)] {
            let node = &mut self.nodes[from];
            match (node.labels.peer(key(to)).is_some(), ports.is_empty()) {
                (true, true) => {
                    node.labels.end(self.now, &mut node.services, key(to));
                    self.wire.remove(&(from, to));
                }
                (true, false) => node.labels.heard_on(self.now, &mut node.services, key(to), ports.clone()),
                (false, false) => self.begin(from, to),
                (false, true) => {}
            }
            self.drain(from);
        }
    }

    fn begin(&mut self, from: usize, to: usize) {
        let ports = self.links_between(from, to);
        let own: Vec<Ipv4Addr> = (0..self.links.len())
            .filter(|link| self.links[*link].0 == from || self.links[*link].1 == from)
            .map(|link| at(link, from))
            .chain([id(from)])
            .collect();
        self.wire.insert((from, to), [Message::Addresses(own)].into());
        let on_demand = self.settings.advertise == LabelAdvertisement::OnDemand;
        let node = &mut self.nodes[from];
        node.labels.begin(self.now, &mut node.services, key(to), on_demand, ports);
    }

    /// A router forgets all that it knows, and its neighbours notice.
    fn restart(&mut self, number: usize) {
        let near: BTreeSet<usize> = (0..self.nodes.len())
            .filter(|other| self.nodes[*other].labels.peer(key(number)).is_some())
            .collect();
        self.nodes[number] = node(number, &self.links, &self.settings, 1000);
        self.wire.retain(|(from, to), _| *from != number && *to != number);
        self.behind.insert(number);
        for other in near {
            let node = &mut self.nodes[other];
            node.labels.end(self.now, &mut node.services, key(number));
            self.begin(other, number);
            self.begin(number, other);
            self.drain(other);
        }
        self.drain(number);
    }

    /// Hops to a router by links that are up: from each router, if there is a way.
    fn distances(&self, to: usize) -> Vec<Option<usize>> {
        let mut far = vec![None; self.nodes.len()];
        far[to] = Some(0);
        let mut next = VecDeque::from([to]);
        while let Some(here) = next.pop_front() {
            for link in &self.up {
                let (a, b) = self.links[*link];
                let there = if a == here { b } else { a };
                if (a == here || b == here) && far[there].is_none() {
                    far[there] = far[here].map(|hops| hops + 1);
                    next.push_back(there);
                }
            }
        }
        far
    }

    /// A router learns the routes that there are.
    fn learn(&mut self, number: usize) {
        self.behind.remove(&number);
        for to in (0..self.nodes.len()).filter(|to| *to != number) {
            let far = self.distances(to);
            let hop = |link: &usize| {
                let (a, b) = self.links[*link];
                let there = if a == number { b } else { a };
                let is_near = (a == number || b == number) && far[there]? + 1 == far[number]?;
                let via = NextHop::Via { port: PortId(*link as u16), gateway: at(*link, there).into() };
                is_near.then_some(RouteHop::Direct(via))
            };
            let hops: Vec<RouteHop> = self.up.iter().filter_map(hop).collect();
            let (node, prefix) = (&mut self.nodes[number], Prefix::host(id(to)));
            match hops.is_empty() {
                true => {
                    node.services.rib.remove(prefix, IGP);
                }
                false => {
                    let (preference, metric, tag, hops) = (110, 1, 0, Hops::from(hops));
                    let route = Route { source: IGP, preference, metric, tag, hops };
                    node.services.rib.set(prefix, route);
                }
            }
        }
        while let Some(prefix) = self.nodes[number].services.rib.poll_change() {
            let node = &mut self.nodes[number];
            node.labels.update(self.now, &mut node.services, prefix, Cause::Route);
        }
        self.drain(number);
    }

    /// Takes what a router wants said and written.
    fn drain(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        while let Some((to, say)) = node.labels.poll_say() {
            node.numbers += 1;
            if let Say::Request { prefix, .. } = &say {
                node.labels.number_request(to, *prefix, node.numbers);
            }
            let kind = match &say {
                Say::Map { .. } => "map",
                Say::Request { .. } => "request",
                Say::Withdraw { .. } => "withdraw",
                Say::Release { is_loop: true, .. } => "loop",
                Say::Release { .. } => "release",
                Say::Abort { .. } => "abort",
                Say::Refuse { .. } => "refuse",
                Say::LabelsAvailable => "available",
                Say::Complete => "complete",
            };
            *self.said.entry(kind).or_default() += 1;
            let far = (0..256).find(|other| id(*other) == to.0).expect("a router");
            self.wire.entry((number, far)).or_default().push_back(Message::Say(say, node.numbers));
        }
        node.batches.extend(node.labels.poll_batch());
    }

    /// Lets a router take a message.
    fn take(&mut self, from: usize, to: usize, message: Message) {
        let (now, of) = (self.now, key(from));
        let Node { labels, services, .. } = &mut self.nodes[to];
        let mut answer = None;
        match message {
            Message::Addresses(list) => labels.addresses(now, services, of, &list, true),
            Message::Confirm(number) => labels.abort_confirmed(now, services, of, number),
            Message::Say(say, number) => match say {
                Say::Map { prefix, label, request, attributes } => {
                    labels.mapped(now, services, of, Mapped { prefix, label, request, attributes });
                }
                Say::Request { prefix, attributes } => {
                    labels.requested(now, services, of, prefix, number, attributes);
                }
                Say::Withdraw { prefix, label } => {
                    answer = Some(Message::Say(Say::Release { prefix, label, is_loop: false }, 0));
                    let meant = Meant { prefix: Some(prefix), label: Some(label) };
                    labels.withdrawn(now, services, of, meant);
                }
                Say::Release { prefix, label, is_loop } => {
                    let meant = Meant { prefix: Some(prefix), label: Some(label) };
                    labels.released(now, services, of, meant, is_loop);
                }
                Say::Abort { prefix, request } => {
                    let is_confirmed = labels.aborted(now, services, of, prefix, request);
                    answer = is_confirmed.then_some(Message::Confirm(request));
                }
                Say::Refuse { request, why } => labels.refused(now, of, request, why),
                Say::LabelsAvailable => labels.labels_available(now, services, of),
                Say::Complete => {}
            },
        }
        if let Some(answer) = answer {
            self.wire.entry((to, from)).or_default().push_back(answer);
        }
        self.drain(to);
    }

    /// Answers the first batch of a router: its writes are in force.
    fn write(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        let Some(batch) = node.batches.pop_front() else { return };
        for op in &batch.ops {
            match op {
                TableOp::IlmSet { label, nhlfe } => drop(node.ilm.insert(*label, *nhlfe)),
                TableOp::IlmRemove { label } => {
                    assert!(node.ilm.remove(label).is_some(), "an entry is removed that there is not");
                }
                TableOp::FtnSet { fec, nhlfe } => drop(node.ftn.insert(*fec, *nhlfe)),
                TableOp::FtnRemove { fec } => {
                    assert!(node.ftn.remove(fec).is_some(), "an entry is removed that there is not");
                }
                TableOp::GroupSet { group, members } => drop(node.groups.insert(*group, members.clone())),
                TableOp::GroupRemove { group } => {
                    assert!(node.groups.remove(group).is_some(), "a group is removed that there is not");
                }
                other => panic!("{other:?}"),
            }
        }
        let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
        node.labels.written(self.now, &mut node.services, &ack);
        self.drain(number);
    }

    /// One thing happens, of those that can: false if nothing can.
    fn step(&mut self) -> bool {
        self.wire.retain(|_, queue| !queue.is_empty());
        let writes: Vec<usize> =
            (0..self.nodes.len()).filter(|node| !self.nodes[*node].batches.is_empty()).collect();
        let (pairs, behind): (Vec<_>, Vec<_>) =
            (self.wire.keys().copied().collect(), self.behind.iter().copied().collect());
        let all = pairs.len() + writes.len() + behind.len();
        if all == 0 {
            return false;
        }
        let which = self.draw(all);
        if let Some((from, to)) = pairs.get(which).copied() {
            let message = self.wire.get_mut(&(from, to)).and_then(VecDeque::pop_front);
            self.take(from, to, message.expect("a message"));
        } else if let Some(number) = writes.get(which - pairs.len()) {
            self.write(*number);
        } else {
            self.learn(behind[which - pairs.len() - writes.len()]);
        }
        true
    }

    /// Runs until nothing is to be done any more, requests that were put off included.
    fn settle(&mut self) {
        for _ in 0..20 {
            let mut steps = 0;
            while self.step() {
                steps += 1;
                assert!(steps < 100_000, "it does not end: {:?}", self.said);
            }
            let due = self.nodes.iter().filter_map(|node| node.labels.poll_timeout()).min();
            let Some(due) = due else { return };
            self.now = self.now.max(due);
            for number in 0..self.nodes.len() {
                let node = &mut self.nodes[number];
                node.labels.retry(self.now, &mut node.services);
                self.drain(number);
            }
        }
        panic!("requests are made without end: {:?}", self.said);
    }

    /// What a router does with packets to another: labels with which they leave, and where to; nothing where they
    /// leave without a label or not at all.
    fn used(&self, from: usize, to: usize) -> Vec<(usize, Label)> {
        let known = self.nodes[from].labels.fec(Prefix::host(id(to)));
        let far = |port: &PortId| {
            let (a, b) = self.links[usize::from(port.0)];
            if a == from { b } else { a }
        };
        known.into_iter().flat_map(|known| &known.used).map(|(port, _, label)| (far(port), *label)).collect()
    }

    fn taken(&self, number: usize) -> u32 {
        self.nodes[number].services.labels.used(OWNER)
    }

    fn given(&self, to: usize, by: usize, prefix: usize) -> Option<Label> {
        self.nodes[to].labels.peer(key(by))?.given.get(&Prefix::host(id(prefix))).copied()
    }
}
