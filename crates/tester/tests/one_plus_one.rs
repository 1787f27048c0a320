//! Protection from end to end (1+1): each packet over two LSPs, of which the tail end takes one. What is lost and what
//! comes twice at a change of LSPs is what arithmetic says, packet by packet.

use crate::common::named::{network, refusal};
use crate::common::{MS, S, column};
use base::event::Event;
use base::{LinkId, Time};
use control::rsvp::{Audit, Rsvp};
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Milliseconds that each link of the row from `a` to `d` takes, and each of the way by `e` and `f`.
type Delays = (u64, u64);

/// A row of three links from `a` to `d`, and another way of three links by `e` and `f`. A packet leaves each
/// millisecond.
fn ways((row, around): Delays, protection: &Value) -> Value {
    let router =
        json!({"kind": "router", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s", "te": true}});
    let link = |a: &str, b: &str, delay: u64, metric: u32| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": format!("{delay} ms"), "detection": "10 ms", "metric": metric});
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "e": router, "f": router},
        "links": [link("a", "b", row, 1), link("b", "c", row, 1), link("c", "d", row, 1), link("a", "e", around, 2),
            link("e", "f", around, 2), link("f", "d", around, 2)],
        "lsps": [{"name": "one", "from": "a", "to": "d", "bandwidth": "10 Mbit/s", "signal": false,
            "protection": protection}],
        "flows": [{"name": "f", "from": "a", "to": "d", "over": "one", "rate": "4 Mbit/s", "size": 500,
            "start": "36 s", "stop": "60 s"}],
    })
}

/// The network half a millisecond after a packet has left. The LSPs were set up when all links were known, so that the
/// first goes along the row.
fn begun(described: &Value) -> Testbed {
    let mut network = network(described);
    network.run_until(Time(30 * S)).expect("a run");
    network.lsp_command(0, "signal", None).expect("a command");
    network.run_until(Time(40 * S + MS / 2)).expect("a run");
    assert!(is_on_the_row(&network));
    network
}

/// The tail end, by its place among the nodes.
const TAIL: usize = 3;

fn sum(network: &mut Testbed, table: &str, name: &str) -> u64 {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter_map(Value::as_u64).sum()
}

/// Packets that came by neither LSP so far, and those that came by both, when so many are on their way by the LSP that
/// is selected. Every copy is accounted for.
fn lost_and_twice(network: &mut Testbed, on_their_way: u64) -> (u64, u64) {
    assert!(network.world().audit().is_empty());
    let accounts = network.table_json("flow_accounts", None).expect("a table");
    assert_eq!(column(&accounts, "unknown"), [0], "{accounts}");
    let [sent, received, twice] =
        ["sent", "received", "duplicated"].map(|name| sum(network, "streams", name));
    (sent - received - on_their_way, twice)
}

/// Does the tail end take packets of the LSP along the row?
fn is_on_the_row(network: &Testbed) -> bool {
    let rsvp = network.protocol::<Rsvp>(TAIL).expect("RSVP-TE");
    let selected = rsvp.selectors().next().and_then(|selector| selector.selected).expect("an LSP");
    let lsp = rsvp.lsps().find(|lsp| lsp.lsp_id == selected).expect("an LSP");
    lsp.previous_hop.is_some_and(|hop| hop.port.0 == 0)
}

fn state(network: &mut Testbed) -> String {
    let table = network.table_json("selectors", None).expect("a table");
    column(&table, "state")[0].as_str().expect("a state").into()
}

/// What the head end sends itself to what the LSP carries leaves in copies like all else.
#[test]
fn packets_of_the_head_end_itself_arrive_once() {
    let mut described = ways((5, 5), &json!({"method": "1+1"}));
    described["lsps"][0]["carries"] = json!(["100.64.3.1/32"]);
    let mut network = begun(&described);
    let end: core::net::IpAddr = [100, 64, 3, 1].into();
    (1..=3).for_each(|sequence| network.ping(0, end, 64, sequence).expect("a ping"));
    network.run_until(Time(41 * S)).expect("a run");
    let replies = network.events().iter().filter(|record| matches!(record.event, Event::ProbeReply { .. }));
    assert_eq!(replies.count(), 3);
}

/// A link fails half a millisecond after a packet has left. It is seen 10 ms later by the router behind it, whose
/// PathTear comes to the tail end as fast as packets would: lost is what is sent in 10 ms, more if the first path is
/// the slower one, less if it is the faster. When the working LSP is back, and taken again after the wait, what is sent
/// in the difference of the delays is lost or comes twice.
#[test]
fn what_is_sent_until_it_is_seen_is_lost_wherever_it_is() {
    for (delays, link, reverts) in [
        ((5, 5), 0, true),
        ((5, 5), 1, false),
        ((5, 5), 2, true),
        ((5, 10), 0, true),
        ((5, 10), 2, false),
        ((10, 5), 0, false),
        ((10, 5), 2, true),
    ] {
        let mut protection = json!({"method": "1+1"});
        if reverts {
            protection["revert_after"] = json!("3 s");
        }
        let mut network = begun(&ways(delays, &protection));
        assert_eq!(state(&mut network), "working");
        assert_eq!(lost_and_twice(&mut network, 3 * delays.0), (0, 0), "both carry each packet");
        let fault = Fault::new(Time(40 * S + MS / 2), FaultKind::LinkDown { link: LinkId(link) });
        network.fault(fault.until(Time(45 * S))).expect("a fault");
        network.run_until(Time(45 * S + MS / 2)).expect("a run");
        assert!(!is_on_the_row(&network) && state(&mut network) == "protecting");
        let (row, around) = (3 * delays.0 as i64, 3 * delays.1 as i64);
        let at_once = [10 + row - around, around - row - 10].map(|packets| packets.max(0) as u64);
        assert_eq!(
            lost_and_twice(&mut network, 3 * delays.1),
            (at_once[0], at_once[1]),
            "{delays:?}, link {link}"
        );
        let missing = network.table_json("loss_periods", None).expect("a table");
        let expected: Vec<Value> = (at_once[0] > 0).then(|| json!(at_once[0])).into_iter().collect();
        assert_eq!(column(&missing, "packets"), expected, "{missing}");
        network.run_until(Time(61 * S)).expect("a run");
        assert_eq!(is_on_the_row(&network), reverts);
        assert_eq!(state(&mut network) == "working", reverts);
        let back = if reverts { [around - row, row - around].map(|n| n.max(0) as u64) } else { [0, 0] };
        let all = (at_once[0] + back[0], at_once[1] + back[1]);
        assert_eq!(lost_and_twice(&mut network, 0), all, "{delays:?}, link {link}, afterwards");
        assert_eq!(sum(&mut network, "selectors", "switches"), 1 + u64::from(reverts));
        // Nothing is left when the LSP is torn down, but the selector itself, which takes nothing.
        network.lsp_command(0, "tear", None).expect("a command");
        network.run_until(Time(63 * S)).expect("a run");
        for node in 0..6 {
            let left = network.protocol::<Rsvp>(node).expect("RSVP-TE").audit();
            let Audit { selected, bridges, lsps, labels, mappings, transactions, .. } = left;
            assert_eq!([selected, bridges, lsps, labels, mappings, transactions], [0; 6], "node {node}");
            let tables = network.router(node).expect("a router").forwarding();
            assert_eq!((tables.selectors().count(), tables.replications().count()), (0, 0), "node {node}");
        }
        assert_eq!(state(&mut network), "idle");
    }
}

/// A link loses everything, and nobody says so: BFD at the tail end does not hear the head end by that LSP any more.
/// The way back of both sessions is the one that is dead: the head end hears neither, and that changes nothing.
#[test]
fn what_bfd_does_not_hear_is_left() {
    for reverts in [false, true] {
        let mut protection = json!({"method": "1+1"});
        if reverts {
            protection["revert_after"] = json!("3 s");
        }
        let mut described = ways((5, 5), &protection);
        described["lsps"][0]["bfd"] = json!({"interval": "10 ms", "multiplier": 3});
        let mut network = begun(&described);
        let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability: 1.0 };
        network.fault(Fault::new(Time(40 * S + MS), kind).until(Time(41 * S + 500 * MS))).expect("a fault");
        network.run_until(Time(41 * S + MS / 2)).expect("a run");
        assert!(!is_on_the_row(&network));
        // Three intervals after the last packet of BFD, which was sent up to an interval before.
        let (lost, twice) = lost_and_twice(&mut network, 15);
        assert!((20..=31).contains(&lost) && twice == 0, "{lost} lost");
        network.run_until(Time(61 * S)).expect("a run");
        assert_eq!((is_on_the_row(&network), lost_and_twice(&mut network, 0)), (reverts, (lost, 0)));
    }
}

/// The LSP that is not selected fails: nobody notices, and it comes back.
#[test]
fn the_other_lsp_may_fail() {
    let mut network = begun(&ways((5, 5), &json!({"method": "1+1"})));
    let fault = Fault::new(Time(40 * S + MS), FaultKind::LinkDown { link: LinkId(4) });
    network.fault(fault.until(Time(43 * S))).expect("a fault");
    network.run_until(Time(55 * S + MS / 2)).expect("a run");
    assert!(is_on_the_row(&network));
    assert_eq!(lost_and_twice(&mut network, 15), (0, 0));
    // It is there again when the first one fails.
    let fault = Fault::new(Time(55 * S + MS / 2), FaultKind::LinkDown { link: LinkId(2) });
    network.fault(fault.until(Time(57 * S))).expect("a fault");
    network.run_until(Time(61 * S)).expect("a run");
    assert_eq!((is_on_the_row(&network), lost_and_twice(&mut network, 0)), (false, (10, 0)));
}

#[test]
fn what_does_not_go_together_is_said() {
    let twice = json!({"method": "1+1"});
    let mut described = ways((5, 5), &twice);
    described["lsps"][0]["autoroute"] = json!(true);
    assert!(refusal(&described).contains("a route of 'autoroute' leads over one"));
    let mut described = ways((5, 5), &json!({"method": "1+1", "bandwidth": true}));
    assert!(refusal(&described).contains("'1:1' and '1+1' are from end to end"));
    described["lsps"][0]["protection"] = twice;
    // One link less: a single way is left. And the tail end is asked for another label than it gives.
    described["links"].as_array_mut().expect("links").truncate(5);
    described["nodes"]["d"]["rsvp"] = json!({"egress_label": "implicit-null"});
    let said: Vec<String> = network(&described).warnings().iter().map(network::error::sentence).collect();
    for wanted in [
        "lsp 'one': no second way leads it from end to end without the link from 'a' to 'b'",
        "lsp 'one': 'd' gives it labels of its own, whatever 'egress_label' says",
    ] {
        assert!(said.iter().any(|said| said.contains(wanted)), "{said:?}");
    }
}
