//! One node, whose neighbours ask and answer by hand.

use super::*;
use crate::machine::State;
use crate::services::distribution::{Mapped, Meant};
use crate::services::{
    Hops, Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, RouteHop, Source,
};
use base::Streams;
use base::plane::{Ack, CircuitTo, NextHop, TableOp};

const OWNER: ProtocolId = ProtocolId::new("labels");
const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Neighbours by port: two before the node, and two behind it.
const A: PeerKey = (Ipv4Addr::new(10, 0, 0, 10), 1);
const B: PeerKey = (Ipv4Addr::new(10, 0, 0, 11), 1);
const X: PeerKey = (Ipv4Addr::new(10, 0, 0, 12), 1);
const Y: PeerKey = (Ipv4Addr::new(10, 0, 0, 13), 1);
const ALL: [PeerKey; 4] = [A, B, X, Y];

fn prefix() -> Prefix {
    Prefix::host([10, 9, 9, 9].into())
}

fn label(value: u32) -> Label {
    Label::truncate(value)
}

fn hops(hops: u8) -> Attributes {
    Attributes { hops: Some(hops), path: None }
}

struct Bench {
    vcs: LabelVcs,
    services: Box<Services>,
    now: Time,
    numbers: u32,
    /// What was written and not yet read.
    ops: Vec<TableOp>,
    asks: Vec<Ask>,
}

impl Bench {
    /// A node whose neighbours are there, and which has a route by the third one.
    fn new(switching: Switching) -> Bench {
        Bench::with(switching, |_| {})
    }

    fn with(switching: Switching, change: impl FnOnce(&mut Settings)) -> Bench {
        let port = |port: u16| Interface {
            kind: InterfaceKind::Port(PortId(port)),
            addresses: vec![InterfaceAddress { address: [192, 168, port as u8, 1].into(), prefix_len: 24 }],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 9_180,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN, (0..4).map(port).collect());
        let services =
            Box::new(Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1)));
        let mut settings = Settings {
            owner: OWNER,
            router_id: OWN,
            loop_detection: false,
            hops_max: 254,
            switching,
            ports: (0..4).map(PortId).collect(),
        };
        change(&mut settings);
        let (numbers, ops, asks) = (100, Vec::new(), Vec::new());
        let vcs = LabelVcs::new(settings);
        let mut bench = Bench { vcs, services, now: Time::ZERO, numbers, ops, asks };
        ALL.into_iter().for_each(|key| bench.begin(key, 40, 42));
        bench.route(Some(X));
        bench
    }

    fn begin(&mut self, key: PeerKey, first: u32, last: u32) {
        let port = ALL.iter().position(|one| *one == key).expect("a neighbour") as u16;
        let limits = Limits { ranges: vec![(label(first), label(last))], odd: None };
        self.vcs.begin(&mut self.services, key, PortId(port), limits);
    }

    /// The route leads by a neighbour, or there is none.
    fn route(&mut self, by: Option<PeerKey>) {
        let source = Source::Protocol(ProtocolId::new("igp"));
        let hop = by.map(|key| {
            let port = ALL.iter().position(|one| *one == key).expect("a neighbour") as u16;
            RouteHop::Direct(NextHop::Via { port: PortId(port), gateway: [192, 168, port as u8, 2].into() })
        });
        let prefix_ = prefix();
        match hop {
            Some(hop) => {
                let hops = Hops::from(vec![hop]);
                self.services.rib.set(prefix_, Route { source, preference: 110, metric: 1, tag: 0, hops });
            }
            None => {
                self.services.rib.remove(prefix_, source);
            }
        }
        while self.services.rib.poll_change().is_some() {}
        self.vcs.route_changed(&self.services, prefix_);
    }

    /// A neighbour asks, by this number.
    fn ask(&mut self, key: PeerKey, number: u32, hops_said: u8) {
        self.vcs.requested(&mut self.services, key, prefix(), number, hops(hops_said));
    }

    /// The next hop gives a label, in answer to a request or not.
    fn give(&mut self, key: PeerKey, value: u32, request: Option<u32>, hops_said: u8) {
        let mapped = Mapped { prefix: prefix(), label: label(value), request, attributes: hops(hops_said) };
        self.vcs.mapped(key, mapped);
    }

    /// Writes what is to be written, and returns what is said, with the numbers of requests.
    fn settle(&mut self) -> Vec<(PeerKey, Say)> {
        let mut all = Vec::new();
        loop {
            self.asks.extend(core::iter::from_fn(|| self.vcs.poll_ask()));
            while let Some((key, say, request)) = self.vcs.poll_say() {
                if let Some(request) = request {
                    self.numbers += 1;
                    self.vcs.number(request, self.numbers);
                }
                all.push((key, say));
            }
            let Some(batch) = self.vcs.poll_batch() else { return all };
            let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
            assert!(LabelVcs::is_about(&ack));
            self.ops.extend(batch.ops);
            self.vcs.written(&mut self.services, &ack);
        }
    }

    fn ops(&mut self) -> Vec<TableOp> {
        core::mem::take(&mut self.ops)
    }

    fn states(&self) -> Vec<VcState> {
        self.vcs.ups().map(|up| up.state).collect()
    }

    /// Labels that are taken at all ports.
    fn used(&self) -> u32 {
        self.services.labels.used(OWNER)
    }
}

fn map(value: u32, request: Option<u32>, hops_said: u8) -> Say {
    Say::Map { prefix: prefix(), label: label(value), request, attributes: hops(hops_said) }
}

fn request(hops_said: u8) -> Say {
    Say::Request { prefix: prefix(), attributes: hops(hops_said) }
}

fn refuse(request: u32, why: Refusal) -> Say {
    Say::Refuse { request, why }
}

fn release(value: u32) -> Say {
    Say::Release { prefix: prefix(), label: label(value), is_loop: false }
}

fn withdraw(value: u32) -> Say {
    Say::Withdraw { prefix: prefix(), label: label(value) }
}

fn over(port: u16, from: u32, to_port: u16, to: u32, merges: bool) -> TableOp {
    let to = CircuitTo::Over { port: PortId(to_port), label: label(to), merges };
    TableOp::CircuitSet { port: PortId(port), label: label(from), to }
}

fn gone(port: u16, from: u32) -> TableOp {
    TableOp::CircuitRemove { port: PortId(port), label: label(from) }
}

/// The machine as it is: whoever changes it changes this text, too.
#[test]
fn the_states_of_a_label_vc() {
    let expected = "\
Waiting --Found--> Writing
Waiting --End--> Ended
Writing --Found--> Writing
Writing --Written--> Given
Writing --Lost--> Waiting
Writing --End--> Ended
Given --Found--> Given
Given --Written--> Given
Given --Lost--> Broken
Given --Withdraw--> Withdrawn
Given --End--> Ended
Broken --Found--> Given
Broken --Withdraw--> Withdrawn
Broken --End--> Ended
Withdrawn --End--> Ended";
    assert_eq!(VcState::CHART.lines().join("\n"), expected);
}

/// RFC 3035, 8.2: "It MUST generate a new binding for each request", and "a new binding request toward the next hop".
#[test]
fn without_merge_each_request_has_its_own_way() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(A, 1, 1);
    bench.ask(A, 2, 1);
    bench.ask(B, 1, 3);
    bench.ask(B, 1, 3);
    // "MUST be set to one more than the hop count field in the request".
    assert_eq!(bench.settle(), [(X, request(2)), (X, request(2)), (X, request(4))], "a duplicate is dropped");
    assert_eq!(bench.states(), [VcState::Waiting; 3], "a label is told when the next hop has given one");
    bench.give(X, 50, Some(101), 2);
    bench.give(X, 51, Some(103), 2);
    // "it MUST increment the hop count it receives from downstream".
    assert_eq!(bench.settle(), [(A, map(40, Some(1), 3)), (B, map(40, Some(1), 3))]);
    assert_eq!(bench.ops(), [over(0, 40, 2, 50, false), over(1, 40, 2, 51, false)]);
    assert_eq!(bench.states(), [VcState::Given, VcState::Waiting, VcState::Given]);
    assert_eq!((bench.vcs.given_by(X), bench.vcs.asked_of(X), bench.used()), (2, 1, 3));
    // "In the case where an ATM-LSR receives such notification and destroys the binding, it MUST notify the next hop".
    let meant = Meant { prefix: Some(prefix()), label: Some(label(40)) };
    bench.vcs.released(A, meant);
    assert!(bench.vcs.aborted(A, prefix(), 2) && !bench.vcs.aborted(A, prefix(), 2));
    assert_eq!(bench.settle(), [(X, release(50)), (X, Say::Abort { prefix: prefix(), request: 102 })]);
    assert_eq!((bench.ops(), bench.used()), (vec![gone(0, 40)], 1));
    // The answer to what was taken back is released.
    bench.give(X, 52, Some(102), 2);
    assert_eq!(bench.settle(), [(X, release(52))]);
    bench.give(X, 60, None, 2);
    assert_eq!(bench.settle(), [(X, release(60))], "nobody has asked for it");
}

/// RFC 3035, 8.3: "a VC-merge-capable ATM-LSR needs only one outgoing label per FEC".
#[test]
fn with_merge_all_go_by_one_label() {
    let mut bench = Bench::new(Switching::MergedCells);
    bench.ask(A, 1, 1);
    bench.ask(B, 1, 3);
    assert_eq!(bench.settle(), [(X, request(2))], "an outstanding request is enough");
    bench.give(X, 50, Some(101), 0);
    // "A hop count of 0 MUST be passed upstream unchanged".
    assert_eq!(bench.settle(), [(A, map(40, Some(1), 0)), (B, map(40, Some(1), 0))]);
    // "MUST issue a new binding every time it receives a request from upstream".
    bench.ask(A, 2, 1);
    assert_eq!(bench.settle(), [(A, map(41, Some(2), 0))]);
    let ops = [over(0, 40, 2, 50, true), over(1, 40, 2, 50, true), over(0, 41, 2, 50, true)];
    assert_eq!(bench.ops(), ops);
    // "If a new binding is obtained, which contains a hop count that differs": all are told.
    bench.give(X, 50, None, 5);
    assert_eq!(bench.settle(), [(A, map(40, None, 6)), (B, map(40, None, 6)), (A, map(41, None, 6))]);
    for (key, value) in [(A, 40), (B, 40)] {
        bench.vcs.released(key, Meant { prefix: Some(prefix()), label: Some(label(value)) });
    }
    assert_eq!(bench.settle(), [], "somebody needs it still");
    bench.vcs.released(A, Meant { prefix: None, label: None });
    assert_eq!(bench.settle(), [(X, release(50))]);
    assert_eq!(bench.used(), 0);
}

/// RFC 3035, 8.2: MAXHOP, both ways.
#[test]
fn a_way_that_is_too_long_is_none() {
    let mut bench = Bench::with(Switching::Cells, |settings| settings.hops_max = 4);
    bench.ask(A, 1, 5);
    bench.ask(A, 2, 4);
    let all = bench.settle();
    assert_eq!(all, [(A, refuse(1, Refusal::Loop)), (A, refuse(2, Refusal::Loop))], "nothing is asked");
    bench.ask(A, 3, 3);
    bench.ask(B, 1, 1);
    bench.settle();
    bench.give(X, 50, Some(101), 3);
    bench.give(X, 51, Some(102), 4);
    assert_eq!(bench.settle(), [(X, release(51)), (B, refuse(1, Refusal::Loop)), (A, map(41, Some(3), 4))]);
    // "If at any point the value of the hop count" is too great, "the ATM-LSR SHOULD withdraw the binding".
    bench.give(X, 50, None, 4);
    assert_eq!(bench.settle(), [(X, release(50)), (A, withdraw(41))]);
    assert_eq!(bench.states(), [VcState::Withdrawn]);
    bench.vcs.released(A, Meant { prefix: Some(prefix()), label: Some(label(41)) });
    assert_eq!((bench.settle(), bench.used()), (vec![], 0));
}

/// RFC 3035, 11.1: path vectors go downstream where nothing merges.
#[test]
fn path_vectors_say_where_a_request_has_been() {
    let path = |ids: &[Ipv4Addr]| Attributes { hops: Some(1), path: Some(ids.to_vec()) };
    let mut bench = Bench::with(Switching::Cells, |settings| settings.loop_detection = true);
    bench.vcs.requested(&mut bench.services, A, prefix(), 1, path(&[A.0]));
    bench.vcs.requested(&mut bench.services, B, prefix(), 1, hops(1));
    bench.vcs.requested(&mut bench.services, B, prefix(), 2, path(&[B.0, OWN]));
    let said = bench.settle();
    let of = |ids: &[Ipv4Addr]| Attributes { hops: Some(2), path: Some(ids.to_vec()) };
    assert_eq!(
        said,
        [
            (X, Say::Request { prefix: prefix(), attributes: of(&[OWN, A.0]) }),
            (X, Say::Request { prefix: prefix(), attributes: of(&[OWN]) }),
            (B, refuse(2, Refusal::Loop)),
        ]
    );
    bench.give(X, 50, Some(101), 1);
    // "If R does not support VC merge, it SHOULD NOT send a path vector object upstream."
    assert_eq!(bench.settle(), [(A, map(40, Some(1), 2))]);
}

/// RFC 3035, 11.2: they go upstream where ways merge, unless the way has become shorter.
#[test]
fn path_vectors_say_where_a_way_leads() {
    let mut bench = Bench::with(Switching::MergedCells, |settings| settings.loop_detection = true);
    bench.ask(A, 1, 1);
    assert_eq!(bench.settle(), [(X, request(2))], "SHOULD NOT include a path vector object in the requests");
    let mapped = |request, hops_said, path: &[Ipv4Addr]| Mapped {
        prefix: prefix(),
        label: label(50),
        request,
        attributes: Attributes { hops: Some(hops_said), path: Some(path.to_vec()) },
    };
    let told = |request, hops_said, path: Option<&[Ipv4Addr]>| {
        let attributes = Attributes { hops: Some(hops_said), path: path.map(<[Ipv4Addr]>::to_vec) };
        (A, Say::Map { prefix: prefix(), label: label(40), request, attributes })
    };
    bench.vcs.mapped(X, mapped(Some(101), 3, &[X.0]));
    assert_eq!(bench.settle(), [told(Some(1), 4, Some(&[OWN, X.0]))]);
    bench.vcs.mapped(X, mapped(None, 2, &[X.0]));
    assert_eq!(bench.settle(), [told(None, 3, None)]);
    // "LSR MUST act as it would if it received a message with a hop count equal to MAXHOP."
    bench.vcs.mapped(X, mapped(None, 3, &[X.0, OWN]));
    let is_loop = Say::Release { prefix: prefix(), label: label(50), is_loop: true };
    assert_eq!(bench.settle(), [(X, is_loop), (A, withdraw(40))]);
}

/// RFC 3035, 8.2: routes change, and "LSRs upstream of that point are oblivious to the change".
#[test]
fn a_new_route_is_a_new_way_for_the_same_label() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(A, 1, 1);
    bench.settle();
    bench.give(X, 50, Some(101), 2);
    bench.settle();
    bench.ops();
    bench.route(Some(Y));
    // "the ATM-LSR MUST notify the former next hop", and "it MUST request a new label binding from the new next hop".
    assert_eq!(bench.settle(), [(X, release(50)), (Y, request(2))]);
    assert_eq!((bench.ops(), bench.states()), (vec![gone(0, 40)], vec![VcState::Broken]));
    // The new one does not know better yet: it is asked again.
    bench.vcs.refused(bench.now, Y, 102, Refusal::NoRoute);
    assert_eq!(bench.settle(), []);
    let due = bench.vcs.poll_timeout().expect("it is asked again");
    bench.now = due;
    bench.vcs.retry(due, &bench.services);
    assert_eq!(bench.settle(), [(Y, request(2))]);
    bench.give(Y, 60, Some(103), 2);
    assert_eq!((bench.settle(), bench.ops()), (vec![], vec![over(0, 40, 3, 60, false)]), "as long as before");
    bench.route(Some(X));
    bench.settle();
    bench.give(X, 51, Some(104), 7);
    assert_eq!(bench.settle(), [(A, map(40, None, 8))], "longer than before");
    // No route at all: RFC 5036, A.1.6.
    bench.route(None);
    assert_eq!(bench.settle(), [(X, release(51)), (A, withdraw(40))]);
}

/// RFC 3035, 8.2: a lost session, before and behind the node.
#[test]
fn a_lost_session_takes_what_was_learnt_by_it() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(A, 1, 1);
    bench.ask(B, 1, 1);
    bench.settle();
    bench.give(X, 50, Some(101), 1);
    bench.settle();
    bench.vcs.end(&mut bench.services, X);
    assert_eq!((bench.settle(), bench.states()), (vec![], vec![VcState::Broken, VcState::Waiting]));
    bench.begin(X, 40, 42);
    assert_eq!(bench.settle(), [(X, request(2)), (X, request(2))]);
    bench.give(X, 51, Some(103), 1);
    assert_eq!(bench.settle(), []);
    assert_eq!(bench.states(), [VcState::Given, VcState::Waiting]);
    bench.vcs.end(&mut bench.services, A);
    assert_eq!(bench.settle(), [(X, release(51))]);
    bench.vcs.end(&mut bench.services, B);
    assert_eq!(bench.settle(), [(X, Say::Abort { prefix: prefix(), request: 104 })]);
    assert_eq!(bench.used(), 0);
    bench.vcs.abort_confirmed(X, 104);
    assert_eq!(bench.vcs.asked_of(X), 0);
}

/// RFC 5036, 3.5.8.1, A.1.12 and A.1.13: labels run out, and are there again.
#[test]
fn who_is_refused_a_label_is_told_when_there_is_one() {
    let mut bench = Bench::new(Switching::Cells);
    (1..=4).for_each(|number| bench.ask(A, number, 1));
    assert_eq!(bench.settle()[3..], [(A, refuse(4, Refusal::NoLabels))]);
    bench.give(X, 50, Some(101), 1);
    bench.settle();
    bench.vcs.released(A, Meant { prefix: Some(prefix()), label: Some(label(40)) });
    assert_eq!(bench.settle(), [(X, release(50)), (A, Say::LabelsAvailable)]);
    // The next hop runs out of them: nothing more is asked of it, and those before hear of it.
    bench.vcs.refused(bench.now, X, 102, Refusal::NoLabels);
    bench.ask(B, 1, 1);
    assert_eq!(bench.settle(), [(A, refuse(2, Refusal::NoLabels)), (B, refuse(1, Refusal::NoLabels))]);
    bench.vcs.labels_available(X);
    assert_eq!(bench.settle(), [(A, Say::LabelsAvailable), (B, Say::LabelsAvailable)]);
    bench.ask(B, 2, 1);
    assert_eq!(bench.settle(), [(X, request(2))]);
}

/// Two next hops have run out of labels: what is free again here, or at one of them, is told all the same.
#[test]
fn who_waits_for_labels_does_not_wait_for_those_of_others() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(B, 1, 1);
    (1..=4).for_each(|number| bench.ask(A, number, 1));
    bench.settle();
    bench.give(X, 50, Some(102), 1);
    bench.settle();
    bench.vcs.refused(bench.now, X, 101, Refusal::NoLabels);
    assert_eq!(bench.settle(), [(B, refuse(1, Refusal::NoLabels))]);
    bench.vcs.released(A, Meant { prefix: Some(prefix()), label: Some(label(40)) });
    assert_eq!(bench.settle(), [(X, release(50)), (A, Say::LabelsAvailable)], "X has none, but A's link has");
    bench.vcs.labels_available(X);
    assert_eq!(bench.settle(), [(B, Say::LabelsAvailable)]);
}

/// A neighbour that is refused for want of the router's own labels is told when there are some, and not before.
#[test]
fn an_edge_without_labels_of_its_own_says_when_it_has_some() {
    let mut bench = Bench::new(Switching::Packets);
    bench.ask(A, 1, 1);
    bench.settle();
    let [Ask::Want(_, number)] = bench.asks[..] else { panic!("one question: {:?}", bench.asks) };
    bench.vcs.refused_here(number, Refusal::NoLabels);
    assert_eq!(bench.settle(), [(A, refuse(1, Refusal::NoLabels))]);
    bench.vcs.labels_available_beyond();
    assert_eq!(bench.settle(), [(A, Say::LabelsAvailable)]);
    bench.vcs.labels_available_beyond();
    assert_eq!(bench.settle(), [], "once");
}

/// RFC 3035, 8.1 and 8.2: no route, or one that leads back.
#[test]
fn what_leads_nowhere_or_back_is_refused() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(X, 1, 1);
    bench.route(None);
    bench.ask(A, 1, 1);
    assert_eq!(bench.settle(), [(X, refuse(1, Refusal::Loop)), (A, refuse(1, Refusal::NoRoute))]);
    assert_eq!((bench.used(), bench.states().len()), (0, 0));
}

/// RFC 3035, 8.1: an edge answers at once, and its hop count is 1.
#[test]
fn at_an_edge_it_ends() {
    let mut bench = Bench::new(Switching::Packets);
    bench.ask(A, 1, 3);
    bench.ask(B, 7, 2);
    assert_eq!(bench.settle(), []);
    let [Ask::Want(of, number)] = bench.asks[..] else { panic!("one question: {:?}", bench.asks) };
    assert_eq!(of, prefix());
    bench.vcs.given_here(prefix(), label(16));
    assert_eq!(bench.settle(), [(A, map(40, Some(1), 1)), (B, map(40, Some(7), 1))]);
    let here = |port: u16, to: u32| {
        let to = CircuitTo::Here(label(to));
        TableOp::CircuitSet { port: PortId(port), label: label(40), to }
    };
    assert_eq!(bench.ops(), [here(0, 16), here(1, 16)]);
    // Its own label is another one, then none: what is below is looked at.
    bench.vcs.withdrawn_here(&bench.services, prefix());
    bench.settle();
    bench.vcs.given_here(prefix(), Label::IMPLICIT_NULL);
    bench.settle();
    assert_eq!(bench.ops(), [gone(0, 40), gone(1, 40), here(0, 0), here(1, 0)]);
    let Some(Ask::Want(_, again)) = bench.asks.last().copied() else { panic!("it is asked again") };
    assert_ne!(again, number);
    bench.vcs.refused_here(again, Refusal::NoRoute);
    assert_eq!(bench.settle(), [(A, withdraw(40)), (B, withdraw(40))]);
    for key in [A, B] {
        bench.vcs.released(key, Meant { prefix: None, label: None });
    }
    bench.settle();
    assert_eq!((bench.used(), bench.states().len()), (0, 0));
}

#[test]
fn a_restart_leaves_nothing() {
    let mut bench = Bench::new(Switching::Cells);
    bench.ask(A, 1, 1);
    bench.settle();
    bench.give(X, 50, Some(101), 1);
    bench.settle();
    bench.ops();
    bench.vcs.restart();
    assert_eq!((bench.settle(), bench.ops(), bench.used()), (vec![], vec![gone(0, 40)], 0));
}
