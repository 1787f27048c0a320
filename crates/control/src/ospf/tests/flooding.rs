//! Databases stay the same whatever is lost, restarts or grows old.

use super::net::{Link, Net, id, on};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use proptest::prelude::*;
use wire::ospf::{
    Auth, Body, External, INITIAL_SEQUENCE, Kind, Lsa, LsaBody, LsaKey, LsaKind, MAX_AGE, MAX_SEQUENCE,
    options,
};

const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 5);

/// An update by router 1 on the first link.
fn update(lsa: &Lsa) -> Vec<u8> {
    let mut bytes =
        Body::Update { lsas: vec![lsa.clone()] }.packet(id(1), Ipv4Addr::UNSPECIFIED).expect("bytes");
    Auth::Null.seal(&mut bytes, 0);
    bytes
}

fn external(router: Ipv4Addr, sequence: i32, age: u16) -> Lsa {
    let body = LsaBody::External(External {
        mask: Ipv4Addr::new(255, 255, 255, 0),
        type2: true,
        metric: 5,
        forwarding: Ipv4Addr::UNSPECIFIED,
        tag: 0,
        tos: wire::Hex::default(),
    });
    let key = LsaKey { kind: LsaKind::EXTERNAL, id: Ipv4Addr::new(203, 0, 113, 0), router };
    Lsa { age, options: options::E, key, sequence, checksum: None, correct_checksum: None, body }
}

#[test]
fn what_is_not_acknowledged_is_sent_again() {
    let links =
        vec![Link::between(0, 1, 10), Link::between(1, 2, 10), Link::network(&[(0, 1), (2, 1), (3, 1)])];
    let mut net = Net::new(4, links);
    net.lossy = 4;
    net.run(400);
    net.lossy = 0;
    net.run(120);
    net.assert_converged(&[0, 1, 2, 3]);
    assert_eq!(net.full(), 4 + 6);
}

#[test]
fn instances_are_refreshed_and_those_of_who_has_gone_grow_old() {
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), Link::between(1, 2, 10)]);
    net.run(60);
    let newest = |net: &Net, router: usize| {
        let mut database = net.ospf(0).databases().iter().map(|(_, known)| known);
        let own = database.find(|known| known.key().router == id(router)).cloned();
        own.map(|known| (known.header().sequence, known.age(net.now)))
    };
    let before = newest(&net, 1).expect("an instance").0;
    net.run(1900);
    let (sequence, age) = newest(&net, 1).expect("an instance");
    assert!(sequence == before + 1 && age < 200, "LSRefreshTime is 1800 s: {sequence}, {age} s");
    net.cut.insert(1);
    net.run(1900);
    assert!(newest(&net, 2).is_some(), "not reachable, and not yet too old");
    net.run(1900);
    assert_eq!(newest(&net, 2), None, "MaxAge is 3600 s");
    net.cut.clear();
    net.run(60);
    net.assert_converged(&[0, 1, 2]);
}

#[test]
fn a_router_that_restarts_takes_its_old_instances_over() {
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), Link::network(&[(1, 1), (2, 2)])]);
    net.run(120);
    for node in [2, 0, 1] {
        net.restart(node);
        net.run(120);
        net.assert_converged(&[0, 1, 2]);
    }
}

#[test]
fn what_a_router_never_said_is_taken_back() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(60);
    let key = external(id(0), 5, 1).key;
    net.inject(0, on(0, 1), GROUP, &update(&external(id(0), 5, 1)));
    net.run(10);
    // RFC 2328, 13.4: flushed, and everybody has forgotten it.
    assert!(net.known(0, &key).is_none() && net.known(1, &key).is_none());
    net.assert_converged(&[0, 1]);
}

#[test]
fn a_newer_instance_of_oneself_is_outdone() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(60);
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(0), router: id(0) };
    let mut lsa = Lsa::read(net.known(0, &key).expect("one").content().bytes()).expect("an LSA");
    (lsa.sequence, lsa.checksum) = (77, None);
    net.inject(0, on(0, 1), GROUP, &update(&lsa));
    net.run(20);
    assert_eq!(net.known(1, &key).map(|known| known.header().sequence), Some(78));
    net.assert_converged(&[0, 1]);
}

#[test]
fn the_last_sequence_number_is_flushed_before_the_first() {
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), Link::between(1, 2, 10)]);
    net.run(60);
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(0), router: id(0) };
    let mut lsa = Lsa::read(net.known(0, &key).expect("one").content().bytes()).expect("an LSA");
    (lsa.sequence, lsa.checksum) = (MAX_SEQUENCE, None);
    net.inject(0, on(0, 1), GROUP, &update(&lsa));
    net.run(30);
    for node in 0..3 {
        let known = net.known(node, &key).expect("an instance");
        assert_eq!(known.header().sequence, INITIAL_SEQUENCE, "RFC 2328, 12.1.6");
    }
    net.assert_converged(&[0, 1, 2]);
}

/// RFC 2328, 12.1.6 and 13.4: an advertisement that was taken back goes on with its number when it comes again, and so
/// does one that somebody else still has under this router's id. Others may keep what was taken back for a while.
#[test]
fn what_was_taken_back_goes_on_with_its_number() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.redistribute(0, true, 9);
    net.run(60);
    let out = Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24);
    let key = LsaKey { kind: LsaKind::EXTERNAL, id: out.address(), router: id(0) };
    for back in 0..3 {
        net.set_static(0, out, true);
        net.run(30);
        let known = net.known(1, &key).expect("an instance");
        assert_eq!(known.header().sequence, INITIAL_SEQUENCE + back);
        net.set_static(0, out, false);
        net.run(30);
        assert!(net.known(0, &key).is_none() && net.known(1, &key).is_none());
    }
    // From before it began anew, as far as the other one knows.
    let mut lsa = external(id(0), INITIAL_SEQUENCE + 70, 1);
    lsa.key.id = key.id;
    net.inject(0, on(0, 1), GROUP, &update(&lsa));
    net.run(30);
    assert!(net.known(0, &key).is_none(), "it is flushed");
    net.set_static(0, out, true);
    net.run(30);
    let known = net.known(1, &key).expect("an instance");
    assert_eq!(known.header().sequence, INITIAL_SEQUENCE + 71);
}

#[test]
fn table_19_of_the_rfc() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(60);
    let acks = |net: &Net, from: usize| {
        let sent = net.packets[from..].iter();
        sent.filter(|packet| packet.1 == 0 && packet.3[1] == Kind::Ack.number()).count()
    };
    // New: acknowledged a second later.
    let lsa = external(id(1), 5, 1);
    let before = net.packets.len();
    net.inject(0, on(0, 1), GROUP, &update(&lsa));
    assert_eq!(acks(&net, before), 0);
    net.run(2);
    assert_eq!(acks(&net, before), 1);
    // A duplicate: at once.
    let before = net.packets.len();
    net.inject(0, on(0, 1), GROUP, &update(&lsa));
    assert_eq!(acks(&net, before), 1);
    // Too old, and nobody has it: at once, and it is not kept.
    let mut gone = external(id(1), 9, MAX_AGE);
    gone.key.id = Ipv4Addr::new(198, 51, 100, 0);
    let before = net.packets.len();
    net.inject(0, on(0, 1), GROUP, &update(&gone));
    assert_eq!((acks(&net, before), net.known(0, &gone.key)), (1, None));
    // An older one is answered by the newer one (RFC 2328, 13, step 8).
    net.run(5);
    let before = net.packets.len();
    net.inject(0, on(0, 1), GROUP, &update(&external(id(1), 4, 1)));
    let updates = net.packets[before..].iter().filter(|packet| packet.3[1] == Kind::Update.number());
    assert_eq!(updates.count(), 1);
    // One whose checksum is wrong is as if it had not come.
    let mut wrong = external(id(1), 6, 1);
    wrong.checksum = Some(1);
    let before = net.packets.len();
    net.inject(0, on(0, 1), GROUP, &update(&wrong));
    assert_eq!(net.packets.len(), before);
}

#[test]
fn new_instances_are_taken_once_a_second() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(60);
    let key = external(id(1), 5, 1).key;
    for sequence in 5..8 {
        net.inject(0, on(0, 1), GROUP, &update(&external(id(1), sequence, 1)));
    }
    let known = |net: &Net| net.known(0, &key).map(|known| known.header().sequence);
    assert_eq!(known(&net), Some(5), "MinLSArrival is 1 s");
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![0u8..12, any::<u8>()], 0..80)
}

proptest! {
    #![proptest_config(testing::cases(48))]
    /// Random networks with loss, cuts and restarts: when all is healed all databases are the same, and everybody
    /// reaches everybody who is connected.
    #[test]
    fn networks_converge_whatever_happens(
        nodes in 2usize..6,
        links in proptest::collection::vec((0usize..6, 0usize..6, 1u16..20, any::<bool>()), 1..8),
        faults in proptest::collection::vec((0usize..4, 0usize..8, 1u64..90), 0..8),
    ) {
        let mut all: Vec<Link> = (1..nodes).map(|node| Link::between(node - 1, node, 7)).collect();
        for (a, b, cost, is_network) in links {
            let (a, b) = (a % nodes, b % nodes);
            if a != b {
                let net = Link::network(&[(a, 1), (b, 2)]);
                all.push(if is_network { net } else { Link::between(a, b, cost) });
            }
        }
        let count = all.len();
        let mut net = Net::new(nodes, all);
        for (kind, which, seconds) in faults {
            match kind {
                0 => { net.cut.insert(which % count); }
                1 => net.restart(which % nodes),
                2 => net.lossy = 3 + which as u64,
                _ => { net.cut.clear(); net.lossy = 0; }
            }
            net.run(seconds);
        }
        net.cut.clear();
        net.lossy = 0;
        net.run(300);
        let everybody: Vec<usize> = (0..nodes).collect();
        net.assert_converged(&everybody);
        for node in 0..nodes {
            let ospf = net.ospf(node);
            prop_assert!(ospf.interfaces().flat_map(|one| one.neighbors.values())
                .all(|neighbor| ospf.unacknowledged(neighbor) == 0 && neighbor.requests.is_empty()));
        }
    }

    #[test]
    fn any_bytes_do_no_harm(
        packets in proptest::collection::vec((0u8..7, bodies()), 1..20),
    ) {
        let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
        net.run(30);
        for (kind, body) in packets {
            let length = (24 + body.len()) as u16;
            let [a, b] = length.to_be_bytes();
            let head = [2, kind, a, b, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let mut bytes = [&head[..], &body].concat();
            Auth::Null.seal(&mut bytes, 0);
            net.inject(0, on(0, 1), GROUP, &bytes);
        }
        net.run(120);
        net.assert_converged(&[0, 1]);
        prop_assert!(net.route(0, Prefix::host(id(1))).is_some());
    }
}
