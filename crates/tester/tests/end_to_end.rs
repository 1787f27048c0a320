//! Protection from end to end (1:1): a standby along a disjoint path that the head end moves the traffic to. What is
//! lost is what was sent towards the failure until it was seen and the news of it had come back, packet by packet.

use crate::common::named::{network, refusal};
use crate::common::{MS, S, column, conserved};
use base::{LinkId, Time};
use control::rsvp::Rsvp;
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// A row from `a` to `d` whose links take 5 ms, and another way by `e` and `f`.
fn ways(protection: &Value) -> Value {
    let router =
        json!({"kind": "router", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s", "te": true}});
    let link = |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": "5 ms", "detection": "10 ms", "metric": metric});
    let mut lsp = json!({"name": "one", "from": "a", "to": "d", "bandwidth": "10 Mbit/s"});
    if !protection.is_null() {
        lsp["protection"] = protection.clone();
    }
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "e": router, "f": router},
        "links": [link("a", "b", 1), link("b", "c", 1), link("c", "d", 1), link("a", "e", 2), link("e", "f", 2),
            link("f", "d", 2)],
        "lsps": [lsp],
        "flows": [{"name": "f", "from": "a", "to": "d", "over": "one", "rate": "4 Mbit/s", "size": 500,
            "start": "36 s", "stop": "60 s"}],
    })
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    column(&table, "lost").iter().filter_map(Value::as_u64).sum()
}

/// Does the traffic leave by the row?
fn is_on_the_row(network: &Testbed) -> bool {
    let rsvp = network.protocol::<Rsvp>(0).expect("RSVP-TE");
    let tunnel = rsvp.tunnels().next().expect("a tunnel");
    let active = rsvp.lsps().find(|lsp| Some(lsp.lsp_id) == tunnel.active).expect("an LSP");
    active.next_hop.is_some_and(|hop| hop.port.0 == 0)
}

/// A link `beyond` links away from the head end fails half a millisecond after a packet has left, of which one leaves
/// each millisecond. Lost is what is on the link, on its way there, and what follows until the failure is seen and the
/// error has come back, 5 ms for each link.
#[test]
fn what_is_sent_until_the_error_has_come_back_is_lost_and_nothing_else() {
    for (beyond, reverts) in [(0, true), (1, true), (2, true), (2, false)] {
        let mut protection = json!({"method": "1:1"});
        if reverts {
            protection["revert_after"] = json!("3 s");
        }
        let mut network = network(&ways(&protection));
        network.run_until(Time(39 * S)).expect("a run");
        assert!(is_on_the_row(&network));
        let fault = Fault::new(Time(40 * S + MS / 2), FaultKind::LinkDown { link: LinkId(beyond) });
        network.fault(fault.until(Time(45 * S))).expect("a fault");
        network.run_until(Time(45 * S)).expect("a run");
        assert!(!is_on_the_row(&network));
        // On the link, and on the way to it; until it is seen; and on the way back.
        let window = 5 + 5 * beyond as u64 + 10 + 5 * beyond as u64;
        assert_eq!(lost(&mut network), window, "{beyond} links away");
        // The link is back a little later than the wait allows.
        network.run_until(Time(47 * S + MS * 500)).expect("a run");
        assert!(!is_on_the_row(&network), "it waits to restore");
        network.run_until(Time(62 * S)).expect("a run");
        assert_eq!(is_on_the_row(&network), reverts);
        assert_eq!(lost(&mut network), window, "nothing is lost on the way back");
        conserved(&mut network).expect("closed accounts");
    }
}

/// What BFD has noticed, and no routing protocol: nobody says when it is over, and the best path is taken again when
/// links on which LSPs have failed are no longer left out.
#[test]
fn traffic_comes_back_though_nothing_is_said_of_links() {
    let mut described = ways(&json!({"method": "1:1", "revert_after": "3 s"}));
    described["lsps"][0]["bandwidth"] = json!("0 bit/s");
    described["lsps"][0]["bfd"] = json!({"interval": "10 ms", "multiplier": 3});
    let mut network = network(&described);
    network.run_until(Time(39 * S)).expect("a run");
    assert!(is_on_the_row(&network));
    let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability: 1.0 };
    network.fault(Fault::new(Time(40 * S), kind).until(Time(41 * S + 500 * MS))).expect("a fault");
    network.run_until(Time(42 * S)).expect("a run");
    assert!(!is_on_the_row(&network));
    network.run_until(Time(60 * S)).expect("a run");
    assert!(!is_on_the_row(&network), "its links are left out for half a minute");
    network.run_until(Time(75 * S)).expect("a run");
    assert!(is_on_the_row(&network));
}

#[test]
fn what_has_no_second_way_is_said_before_a_run() {
    let mut described = ways(&json!({"method": "1:1"}));
    described["links"].as_array_mut().expect("links").truncate(5);
    let said: Vec<String> = network(&described).warnings().iter().map(network::error::sentence).collect();
    let wanted = "lsp 'one': no second way leads it from end to end without the link from 'a' to 'b', as its standby would \
                  have to: when that fails, it is down";
    assert!(said.iter().any(|said| said.contains(wanted)), "{said:?}");
    // The same of a tree, whose routers make no bypass tunnels: each link once.
    let mut described = ways(&Value::Null);
    described["lsps"] = json!([]);
    described["flows"] = json!([]);
    described["p2mp"] = json!([{"name": "tree", "root": "a", "leaves": ["c", "d"], "protection": {}}]);
    let said: Vec<String> = network(&described).warnings().iter().map(network::error::sentence).collect();
    let about =
        said.iter().filter(|said| said.contains("p2mp 'tree': '") && said.contains("has no bypass tunnel"));
    assert_eq!(about.count(), 3, "{said:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (protection, why) in [
        (json!({"method": "1:1", "node": true}), "'node' is of routers that lead around what fails"),
        (json!({"revert_after": "3 s"}), "'revert_after' is of '1:1'"),
        (json!({"method": "one-to-one", "disjoint": "node"}), "'disjoint' is of '1:1'"),
    ] {
        let said = refusal(&ways(&protection));
        assert!(said.contains(why), "{said}");
    }
    let mut described = ways(&json!({"method": "1:1"}));
    described["lsps"][0]["route"] = json!(["b", "c", "d"]);
    assert!(refusal(&described).contains("'route' says where it goes: one of the two"));
    let mut described = ways(&Value::Null);
    described["p2mp"] =
        json!([{"name": "t", "root": "a", "leaves": ["c"], "protection": {"method": "one-to-one"}}]);
    assert!(refusal(&described).contains("trees are protected by bypass tunnels only"));
}
