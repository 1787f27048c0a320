//! Neighbours, the designated router, and what a link agrees on.

use super::*;
use crate::services::InterfaceId;

fn hellos(sent: &[(u16, Repr)]) -> Vec<u16> {
    sent.iter().filter(|(_, repr)| matches!(repr, Repr::Hello(_))).map(|(port, _)| *port).collect()
}

#[test]
fn hellos_are_sent_on_all_links_at_random_first_and_then_by_the_period() {
    let mut node = Node::new(&[]);
    // RFC 7761, 4.3.1: within 0 to 5 s, and every 30 s from then on.
    let mut sent = hellos(&node.passes(5_000));
    sent.sort_unstable();
    assert_eq!(sent, [UP, DOWN, HOSTS]);
    assert_eq!(hellos(&node.passes(90_000)).len(), 9);
    let said = node.pim.links[&PortId(UP)].hello(&node.pim.spec);
    assert_eq!((said.holdtime_s(), said.dr_priority()), (Some(105), Some(1)));
    assert_eq!(said.lan_prune_delay(), Some((false, 500, 2500)));
    assert!(said.generation_id().is_some() && said.addresses().is_empty());
    // Further addresses are listed without the first (RFC 7761, 4.3.4).
    let mut link = node.pim.links[&PortId(UP)].clone();
    link.addresses.push(address(UP, 55));
    assert_eq!(link.hello(&node.pim.spec).addresses(), [v4(address(UP, 55))]);
}

#[test]
fn a_neighbour_comes_goes_and_is_answered() {
    let mut node = Node::new(&[]);
    node.passes(5_000);
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(20), HelloOption::GenerationId(7)]));
    // RFC 7761, 4.3.1: an answer within 5 s, without changing the period.
    assert_eq!(hellos(&node.passes(5_000)), [UP]);
    assert!(node.pim.links[&PortId(UP)].neighbors.contains_key(&address(UP, 1)));
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(20), HelloOption::GenerationId(7)]));
    assert_eq!(hellos(&node.passes(5_000)), [] as [u16; 0], "it is known");
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(20), HelloOption::GenerationId(8)]));
    assert_eq!(hellos(&node.passes(5_000)), [UP], "it has restarted");
    // It is gone when it was not heard in time, or says so itself.
    node.passes(15_000);
    assert!(node.pim.links[&PortId(UP)].neighbors.is_empty());
    // Without a holdtime it is 105 s; options that are not known change nothing (RFC 7761, 4.9.2).
    node.hears(UP, 1, &hello_with(&[HelloOption::Unknown { kind: 65_001, value: [1][..].into() }]));
    node.passes(104_000);
    assert_eq!(node.pim.links[&PortId(UP)].neighbors.len(), 1);
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(0)]));
    assert!(node.pim.links[&PortId(UP)].neighbors.is_empty());
    // 0xffff: until it says that it goes.
    node.hears(UP, 1, &hello(1));
    node.passes(1_000_000);
    assert_eq!(node.pim.links[&PortId(UP)].neighbors.len(), 1);
    let told = |word: &str| node.events.iter().filter(|event| event.starts_with(word)).count();
    assert_eq!((told("PimNeighborUp"), told("PimNeighborDown")), (3, 2));
}

#[test]
fn the_greatest_priority_is_designated_and_then_the_greatest_address() {
    let mut node = Node::new(&[]);
    let of = |node: &Node| node.pim.links[&PortId(DOWN)].designated(&node.pim.spec);
    let with = |priority: Option<u32>| {
        let options = [Some(HelloOption::Holdtime(105)), priority.map(HelloOption::DrPriority)];
        hello_with(&options.into_iter().flatten().collect::<Vec<_>>())
    };
    assert_eq!(of(&node), address(DOWN, 5), "it is alone");
    node.hears(DOWN, 4, &with(Some(1)));
    assert_eq!(of(&node), address(DOWN, 5));
    node.hears(DOWN, 7, &with(Some(1)));
    assert_eq!(of(&node), address(DOWN, 7));
    node.hears(DOWN, 4, &with(Some(2)));
    assert_eq!(of(&node), address(DOWN, 4));
    // RFC 7761, 4.3.2: priorities count if all have one.
    node.hears(DOWN, 9, &with(None));
    assert_eq!(of(&node), address(DOWN, 9));
    node.hears(DOWN, 9, &hello_with(&[HelloOption::Holdtime(0)]));
    assert_eq!(of(&node), address(DOWN, 4));
    let told: Vec<&String> = node.events.iter().filter(|event| event.starts_with("PimDesignated")).collect();
    assert_eq!(told.len(), 4, "{told:?}");
}

#[test]
fn delays_are_the_greatest_that_all_say() {
    let mut node = Node::new(&[("join_suppression", Value::Bool(false))]);
    let of = |node: &Node| {
        let (link, spec) = (&node.pim.links[&PortId(DOWN)], &node.pim.spec);
        let ms = |span: Span| span.0 / 1_000_000_000;
        (ms(link.override_interval(spec)), ms(link.prune_wait(spec)), link.suppresses(spec))
    };
    let delay = |tracking, propagation_ms, override_ms| {
        let delay = HelloOption::LanPruneDelay { tracking, propagation_ms, override_ms };
        hello_with(&[HelloOption::Holdtime(105), delay])
    };
    // RFC 7761, 4.3.3.
    assert_eq!(of(&node), (2_500, 3_000, false));
    node.hears(DOWN, 7, &delay(true, 700, 2_000));
    assert_eq!(of(&node), (2_500, 3_200, false));
    node.hears(DOWN, 8, &delay(false, 100, 5_000));
    assert_eq!(of(&node), (5_000, 5_700, true));
    // One that says none has all take the defaults.
    node.hears(DOWN, 9, &hello_with(&[HelloOption::Holdtime(105)]));
    assert_eq!(of(&node), (2_500, 3_000, true));
}

#[test]
fn further_addresses_lead_to_the_first() {
    let mut node = Node::new(&[]);
    let listing = |all: &[Ipv4Addr]| {
        let all = all.iter().map(|one| (*one).into()).collect();
        hello_with(&[HelloOption::Holdtime(105), HelloOption::AddressList(all)])
    };
    let of = |node: &Node, last: u8| node.pim.links[&PortId(UP)].neighbor_of(address(UP, last));
    // RFC 7761, 4.3.4: the first is left out if it is in the list.
    node.hears(UP, 3, &listing(&[address(UP, 1), address(UP, 3)]));
    assert_eq!((of(&node, 1), of(&node, 3)), (Some(address(UP, 3)), Some(address(UP, 3))));
    assert_eq!(node.pim.links[&PortId(UP)].neighbors[&address(UP, 3)].addresses, [address(UP, 1)]);
    // What a router joins goes to the first, too: the route says 10.0.0.1.
    let asked = node.wants(HOSTS, true);
    assert!(asked.contains(&(UP, join(UP, 3))), "{asked:?}");
    // An address belongs to who has said so last, and a Hello without a list has none.
    node.hears(UP, 4, &listing(&[address(UP, 1)]));
    assert_eq!(of(&node, 1), Some(address(UP, 4)));
    assert_eq!(node.tree().upstream, Some((PortId(UP), address(UP, 4))));
    node.hears(UP, 4, &hello_with(&[HelloOption::Holdtime(105)]));
    assert_eq!((of(&node, 1), node.tree().upstream), (None, None));
    // So does that by which it says Hello.
    node.hears(UP, 3, &listing(&[address(UP, 6)]));
    node.hears(UP, 6, &hello(6));
    assert_eq!(of(&node, 6), Some(address(UP, 6)));
    assert!(node.pim.links[&PortId(UP)].neighbors[&address(UP, 3)].addresses.is_empty());
}

/// RFC 7761, 4.9.5: a Join holds for longer than a Prune may wait, by what any router of the link says.
#[test]
fn a_join_holds_longer_than_a_prune_waits() {
    let mut node = Node::new(&[("join_interval", Value::Text("10 s".into()))]);
    let slow = HelloOption::LanPruneDelay { tracking: false, propagation_ms: 500, override_ms: 60_000 };
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(0xffff), slow]));
    let sent = node.wants(HOSTS, true);
    let holdtime_s = sent.iter().find_map(|(_, repr)| match repr {
        Repr::JoinPrune(join) => Some(join.holdtime_s),
        _ => None,
    });
    assert_eq!(holdtime_s, Some(61));
}

#[test]
fn a_hello_goes_before_what_only_neighbours_take() {
    let mut node = Node::new(&[]);
    // RFC 7761, 4.3.1: none has been sent yet.
    node.hears(UP, 1, &hello(1));
    let sent = node.wants(HOSTS, true);
    assert!(matches!(sent[..], [(UP, Repr::Hello(_)), (UP, Repr::JoinPrune(_))]), "{sent:?}");
    // The answer to a new neighbour is still to come.
    let mut node = Node::met(&[]);
    node.hears(UP, 2, &hello(2));
    route(&mut node.services, UP, 2);
    let sent = node.wants(HOSTS, true);
    assert!(matches!(sent[..], [(UP, Repr::Hello(_)), (UP, Repr::JoinPrune(_))]), "{sent:?}");
    assert!(node.pim.links[&PortId(UP)].triggered.is_none());
}

#[test]
fn a_link_that_comes_back_begins_anew() {
    let mut node = Node::met(&[]);
    node.wants(HOSTS, true);
    node.hears(DOWN, 7, &join(DOWN, 5));
    assert_eq!(node.forwards(), Some((UP, vec![DOWN, HOSTS])));
    let before = node.pim.links[&PortId(DOWN)].generation_id;
    let interface =
        |up| Change::Interface { interface: InterfaceId::of(PortId(DOWN)), port: Some(PortId(DOWN)), up };
    assert_eq!(node.changes(interface(false)), []);
    assert_eq!(node.forwards(), Some((UP, vec![HOSTS])));
    assert!(node.pim.links[&PortId(DOWN)].neighbors.is_empty());
    node.changes(interface(true));
    assert_ne!(node.pim.links[&PortId(DOWN)].generation_id, before);
    assert!(hellos(&node.passes(5_000)).contains(&DOWN));
    // A restart draws new numbers, and forgets everything but what hosts want.
    let before: Vec<u32> = node.pim.links.values().map(|link| link.generation_id).collect();
    node.changes(Change::Restart);
    node.passes(0);
    let after: Vec<u32> = node.pim.links.values().map(|link| link.generation_id).collect();
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    assert!(node.pim.links.values().all(|link| link.neighbors.is_empty()));
}
