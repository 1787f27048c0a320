use super::*;
use crate::owner::Owner;
use crate::protocol::IpArrival;
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Route};
use base::plane::{NextHop, Prefix, TableOp, TransactionId};
use base::{Span, Streams};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 1, 1);
const CORE: Ipv4Addr = Ipv4Addr::new(10, 255, 0, 1);
/// The port with hosts; ports 0 and 1 lead to other routers.
const HOSTS: PortId = PortId(2);

struct Node {
    cbt: Cbt,
    services: Box<Services>,
    now: Time,
    ops: Vec<TableOp>,
}

fn address(port: u16, last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port as u8, last)
}

impl Node {
    /// A router that reaches the core by port 0, or that is the core itself.
    fn new(id: Ipv4Addr) -> Node {
        let interface = |port: u16| Interface {
            kind: InterfaceKind::Port(PortId(port)),
            addresses: vec![InterfaceAddress { address: address(port, 1).into(), prefix_len: 24 }],
            link_local: None,
            neighbor: Some(address(port, 2)),
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), id, (0..3).map(interface).collect());
        let labels = (Label::FIRST_UNRESERVED, Label::MAX);
        let mut services = Box::new(Services::new(interfaces, labels, Streams::new(1)));
        if id != CORE {
            let next_hop = NextHop::Via { port: PortId(0), gateway: address(0, 2).into() };
            services.rib.set(Prefix::host(CORE), Route::fixed(next_hop));
        }
        let spec = CbtSpec {
            groups: vec![CbtGroupSpec { group: GROUP, core: CORE }],
            labels: true,
            echo_interval: Span::from_secs(60),
            retransmit_interval: Span::from_secs(5),
        };
        let cbt = Cbt::new(spec, &services);
        Node { cbt, services, now: Time::ZERO, ops: Vec::new() }
    }

    fn call(&mut self, what: impl FnOnce(&mut Cbt, Time, &mut Context<'_>)) -> Vec<(u16, Repr)> {
        what(&mut self.cbt, self.now, &mut Context { services: &mut self.services, owner: Owner(0) });
        let mut sent = Vec::new();
        while let Some(output) = self.cbt.poll_output() {
            match output {
                Output::Message(message) => {
                    assert_eq!((message.dst, message.ttl), (cbt::ALL_ROUTERS, 1));
                    sent.push((message.port.0, Repr::parse(&message.bytes).expect("own bytes")));
                }
                Output::Tables(batch) => {
                    self.ops.extend(batch.ops);
                    let ack =
                        Ack { transaction: TransactionId::of(7, batch.transaction.0), failed: Vec::new() };
                    let mut context = Context { services: &mut self.services, owner: Owner(0) };
                    self.cbt.handle_ack(self.now, &mut context, &ack);
                }
                other => panic!("{other:?}"),
            }
        }
        sent
    }

    fn wants(&mut self, wanted: bool) -> Vec<(u16, Repr)> {
        let key = GroupKey { group: GROUP.into(), source: None };
        self.services.multicast.want(key, HOSTS, ProtocolId::new("igmp"), wanted);
        self.call(|cbt, now, context| cbt.handle_change(now, context, &Change::Group(key)))
    }

    fn hears(&mut self, port: u16, repr: &Repr) -> Vec<(u16, Repr)> {
        let (port, src, dst) = (PortId(port), address(port, 2), cbt::ALL_ROUTERS);
        let over = Over::Ip(cbt::PROTOCOL);
        let ip = IpArrival { port, src, dst, ttl: 1, router_alert: false, over };
        self.call(|cbt, now, context| cbt.handle_message(now, context, &Arrival::Ip(ip), &repr.emit()))
    }

    fn passes(&mut self, s: i64) -> Vec<(u16, Repr)> {
        self.now += Span::from_secs(s);
        self.call(|cbt, now, context| cbt.handle_timeout(now, context))
    }

    fn tree(&self) -> &Tree {
        &self.cbt.trees[&GROUP]
    }

    /// The ports that packets with the label of the neighbour at a port leave by.
    fn leads(&self, port: u16) -> Vec<u16> {
        let limb = self.tree().limbs().find(|limb| limb.port.0 == port).expect("a neighbour on the tree");
        let written = &self.tree().written[&limb.mine.expect("a label")];
        let port = |next_hop| match next_hop {
            NextHop::Via { port, .. } => port.0,
            other => panic!("{other:?}"),
        };
        written.branches.iter().map(|nhlfe| port(nhlfe.next_hop)).collect()
    }
}

fn label(n: u32) -> Option<Label> {
    Some(Label::truncate(n))
}

fn ack() -> Repr {
    Repr::JoinAck { group: GROUP, target: CORE, label: label(900) }
}

fn join(core: Ipv4Addr) -> Repr {
    Repr::JoinRequest { group: GROUP, core, origin: Ipv4Addr::new(10, 255, 0, 9), label: label(800) }
}

/// A router between the core (port 0), a child (port 1) and hosts.
fn on_tree() -> Node {
    let mut node = Node::new(Ipv4Addr::new(10, 255, 0, 2));
    let asked = node.wants(true);
    assert!(matches!(asked[..], [(0, Repr::JoinRequest { core: CORE, label: Some(_), .. })]), "{asked:?}");
    // A child that asks meanwhile waits (RFC 2189, 4.2.2).
    assert_eq!(node.hears(1, &join(CORE)), []);
    let answered = node.hears(0, &ack());
    assert!(matches!(answered[..], [(1, Repr::JoinAck { label: Some(_), .. })]), "{answered:?}");
    node
}

#[test]
fn a_tree_leads_everywhere_but_back() {
    let mut node = on_tree();
    assert_eq!(node.tree().state, TreeState::OnTree);
    assert_eq!((node.leads(0), node.leads(1)), (vec![1, 2], vec![0, 2]));
    // Packets of hosts go up and down with the labels that the neighbours gave.
    let ways: Vec<_> = node.services.multicast.all_ways().collect();
    let pushed: Vec<_> = ways[0].3.iter().map(|nhlfe| nhlfe.push.as_slice()[0].value()).collect();
    assert_eq!((ways.len(), ways[0].1, pushed), (1, tree::incoming(HOSTS), vec![900, 800]));
    // Each entry comes with a list of its own, and the list before the entry.
    let is_entry = |op: &&TableOp| matches!(op, TableOp::IlmSet { .. });
    assert_eq!(node.ops.iter().filter(is_entry).count(), 2);
    // The last host leaves, then the child: the parent is told, and nothing is left in the tables.
    assert_eq!(node.wants(false), []);
    assert_eq!(node.leads(0), [1]);
    let quit = Repr::QuitNotification { group: GROUP, child: Ipv4Addr::new(10, 255, 0, 9) };
    let said = node.hears(1, &quit);
    assert!(matches!(said[..], [(0, Repr::QuitNotification { .. })]), "{said:?}");
    assert!(node.tree().written.is_empty() && node.services.multicast.all_ways().next().is_none());
    assert_eq!(node.services.labels.used(Cbt::ID), 0);
    assert_eq!(node.tree().state, TreeState::Off);
}

#[test]
fn the_core_answers_at_once_and_only_for_its_own_tree() {
    let mut node = Node::new(CORE);
    let answered = node.hears(1, &join(CORE));
    assert!(matches!(answered[..], [(1, Repr::JoinAck { .. })]), "{answered:?}");
    assert_eq!(node.leads(1), [] as [u16; 0], "alone with one child, it has nobody to send to");
    assert_eq!(node.hears(0, &join(Ipv4Addr::new(10, 255, 0, 7))), []);
    assert_eq!(node.cbt.malformed, 1);
    node.hears(0, &join(CORE));
    assert_eq!((node.leads(0), node.leads(1)), (vec![1], vec![0]));
}

#[test]
fn a_join_is_repeated_and_given_up() {
    let mut node = Node::new(Ipv4Addr::new(10, 255, 0, 2));
    node.wants(true);
    assert!(matches!(node.passes(5)[..], [(0, Repr::JoinRequest { .. })]));
    // RFC 2189, 6: 3.5 x 5 s. Whoever still wants the group has it tried again.
    let again = node.passes(13);
    assert!(matches!(again[..], [(0, Repr::JoinRequest { .. })]), "{again:?}");
    assert_eq!((node.tree().state, node.tree().written.len()), (TreeState::Joining, 1));
}

#[test]
fn a_parent_that_does_not_answer_is_left() {
    let mut node = on_tree();
    let asked = node.passes(60);
    assert!(matches!(asked[..], [(0, Repr::EchoRequest { .. })]), "{asked:?}");
    node.hears(0, &Repr::EchoReply { parent: CORE, groups: vec![GROUP] });
    let said = node.passes(89);
    assert!(matches!(said[..], [(0, Repr::EchoRequest { .. })]), "{said:?}");
    let said = node.passes(2);
    // RFC 2189, 4.7.1: the child is told, and the router joins anew.
    assert!(matches!(said[..], [(1, Repr::FlushTree { .. }), (0, Repr::JoinRequest { .. })]), "{said:?}");
    // A child of its own asks, and is answered.
    let mut node = on_tree();
    let said = node.hears(1, &Repr::EchoRequest { child: CORE });
    assert!(matches!(&said[..], [(1, Repr::EchoReply { groups, .. })] if *groups == [GROUP]), "{said:?}");
    // The parent has lost the tree; and a link that fails is no way to it.
    let said = node.hears(0, &Repr::FlushTree { groups: vec![GROUP] });
    assert!(matches!(said[..], [(1, Repr::FlushTree { .. }), (0, Repr::JoinRequest { .. })]), "{said:?}");
}

#[test]
fn the_machine() {
    let lines = [
        "Off --Wanted--> Joining",
        "Off --WantedAtCore--> OnTree",
        "Joining --Acknowledged--> OnTree",
        "Joining --TimedOut--> Off",
        "Joining --Unwanted--> Off",
        "Joining --Lost--> Off",
        "OnTree --Unwanted--> Off",
        "OnTree --Lost--> Off",
    ];
    assert_eq!(TreeState::CHART.lines(), lines);
}
