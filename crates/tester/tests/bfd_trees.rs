//! BFD over LSPs with several ends (RFC 8562) in a network: leaves notice that packets of the root do not come any
//! more.

use crate::common::S;
use base::{LinkId, Time};
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const MS: u64 = S / 1000;

/// A root, a branch behind it, and two leaves behind that, of which one has another behind it.
fn network(protocol: &str, change: &dyn Fn(&mut Value)) -> Result<Testbed, String> {
    let router = json!({"kind": "router", "ospf": true, "ldp": {"p2mp": true}});
    let link = |(a, b): (&str, &str)| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "1 ms", "reservable": "1 Gbit/s"});
    let names = ["a", "b", "c", "d", "root"];
    let nodes: Value = names.iter().map(|name| (name.to_string(), router.clone())).collect();
    let links: Vec<Value> = [("root", "a"), ("a", "b"), ("a", "c"), ("c", "d")].map(link).into();
    let tree = json!({
        "name": "tree", "root": "root", "leaves": ["b", "c", "d"], "protocol": protocol,
        "bfd": {"interval": "10 ms", "multiplier": 3},
    });
    let mut described = json!({"name": "trees", "nodes": nodes, "links": links, "p2mp": [tree]});
    change(&mut described);
    let file = NetworkFile::read_part(&serde_json::from_value(described).expect("a value"));
    let file = file.map_err(|error| error.words())?;
    let mut network = Testbed::new(&file).map_err(|error| error.to_string())?;
    network.run_until(Time(60 * S)).expect("a run");
    Ok(network)
}

/// State, since when in ms, and why, of the sessions of a node, in the order of the table.
fn sessions(network: &mut Testbed, node: usize) -> Vec<(String, u64, String)> {
    let table = network.table_json("bfd_multipoint", Some(node)).expect("a table");
    let column = |name: &str| table[name].as_array().expect("a column").clone();
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let rows = column("state").into_iter().zip(column("since_ps")).zip(column("diagnostic"));
    rows.map(|((state, since), why)| (text(&state), since.as_u64().expect("a time") / MS, text(&why)))
        .collect()
}

/// Each leaf is up when the root says so, and down three intervals after the last packet, and no other leaf is.
#[test]
fn leaves_notice_that_packets_do_not_come_any_more() {
    for protocol in ["rsvp-te", "ldp"] {
        let mut network = network(protocol, &|_| {}).expect("a network");
        for node in [1, 2, 3, 4] {
            let found = sessions(&mut network, node);
            assert_eq!(found.len(), 1, "{protocol}: node {node}");
            assert_eq!(found[0].0, "up", "{protocol}: node {node}");
        }
        assert!(sessions(&mut network, 0).is_empty(), "a branch hears nothing");
        // Everything to c is lost, for less time than OSPF, LDP and RSVP-TE would need to notice.
        let direction = Direction::Both;
        let kind = FaultKind::Loss { link: LinkId(2), direction, probability: 1.0 };
        let fault = Fault::new(Time(61 * S), kind);
        network.fault(fault.until(Time(62 * S))).expect("a fault");
        network.run_until(Time(61 * S + 500 * MS)).expect("a run");
        let late = "control detection time expired";
        for node in [2, 3] {
            let (state, since, why) = sessions(&mut network, node).remove(0);
            assert_eq!((state.as_str(), why.as_str()), ("down", late), "{protocol}: node {node}");
            // The last packet may have come up to an interval before.
            assert!((61_020..=61_032).contains(&since), "{protocol}: node {node}: {since} ms");
        }
        assert_eq!(sessions(&mut network, 1)[0].0, "up", "{protocol}");
        network.run_until(Time(63 * S)).expect("a run");
        for node in [2, 3] {
            let (state, since, _) = sessions(&mut network, node).remove(0);
            assert_eq!(state, "up", "{protocol}: node {node}");
            assert!((62_000..=62_015).contains(&since), "{protocol}: node {node}: {since} ms");
        }
    }
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let refused = |change: &dyn Fn(&mut Value)| network("rsvp-te", change).err().expect("a refusal");
    let found = refused(&|described| described["p2mp"][0]["bfd"] = json!({"interval": "0 s"}));
    assert!(found.contains("1 ms to 4000 s"), "{found}");
    // A leaf that is grafted later does not speak BFD.
    let mut network = network("rsvp-te", &|described| described["p2mp"][0]["leaves"] = json!(["b", "c"]));
    let network = network.as_mut().expect("a network");
    let error = network.set_leaves(0, [1, 2, 3].map(|leaf| (leaf, Vec::new())).into());
    let words = error.expect_err("a refusal").to_string();
    assert!(words.contains("bfd needs both ends to speak BFD, and 'd' does not"), "{words}");
}
