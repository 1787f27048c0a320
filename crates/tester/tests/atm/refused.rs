//! What is refused of switches, links of cells and circuits, in which words.

use super::described;
use crate::common::{MS, S, network, refusal};
use base::Time;
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};

#[test]
fn a_circuit_has_no_rate_to_change() {
    let mut network = network(described(json!({})));
    let link = network.links()[2].id;
    let kind = FaultKind::RateLimit { link, direction: Direction::Both, rate: base::Rate(1_000) };
    let refused = network.fault(Fault::new(Time(S), kind)).expect_err("no rate").to_string();
    assert!(refused.contains("pe0 - pe1 is a circuit of ATM, which has no rate of its own"), "{refused}");
}

#[test]
fn what_can_not_be_built_is_said() {
    let said = |pvc: Value| refusal(&described(pvc));
    let lead = "link pe0 - pe1: ";
    for (pvc, words) in [
        (json!({"vci": 31}), "VCI 31: 32 to 65535, since those below are the network's own"),
        (json!({"vci": 65_536}), "VCI 65536: 32 to 65535, since those below are the network's own"),
        (json!({"vci": [40, 41, 42]}), "3 VCIs for 2 links: one for all, or one for each"),
        (json!({"service": "cbr"}), "service cbr needs a peak rate, such as 'pcr: 4750 cells/s'"),
        (json!({"pcr": "0 cells/s"}), "0: a peak rate is more than nothing, such as 4750 cells/s"),
        (
            json!({"pcr": "9 cells/s", "tolerance": "1 ms", "through": ["s0", "s1"]}),
            "it needs a third switch, or 'shaped: false'",
        ),
        (
            json!({"service": "cbr", "pcr": "9 cells/s", "shaped": false}),
            "its cells leave first, and nothing else keeps them to the peak rate",
        ),
        (json!({"through": ["s0", "s2"]}), "no link of medium atm joins 's0' and 's2'"),
        (
            json!({"map": "inatmarp", "encapsulation": "vc-mux"}),
            "map inatmarp needs encapsulation llc-snap: others carry no such packets",
        ),
    ] {
        let found = said(pvc);
        assert!(found.ends_with(words) && found.contains(lead), "{found}");
    }
    let two = |second: Value| {
        let mut whole = described(json!({"vci": 40, "service": "cbr", "pcr": "3000 cells/s"}));
        let mut circuit = json!({"through": ["s0", "s1"]});
        for (key, value) in second.as_object().expect("an object") {
            circuit[key] = value.clone();
        }
        whole["links"].as_array_mut().expect("links").push(json!({"a": 1, "b": 0, "pvc": circuit}));
        refusal(&whole)
    };
    let owned = two(json!({"vci": 40}));
    assert!(
        owned.ends_with("VPI 0, VCI 40 on link s0 - s1 is that of the circuit pe0 - pe1 already"),
        "{owned}"
    );
    let oversold = two(json!({"service": "cbr", "pcr": "2000 cells/s"}));
    assert!(oversold.contains("is promised to others of service cbr"), "{oversold}");
    let above = said(json!({"pcr": "5000 cells/s"}));
    assert!(above.contains("link s0 - s1 carries"), "{above}");
    let mut at_router = described(json!({}));
    at_router["links"].as_array_mut().expect("links").push(json!({"a": 0, "b": 4, "medium": "atm"}));
    assert!(refusal(&at_router).contains("'pe0' is no ATM switch: give it a circuit"));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut whole = described(json!({}));
        change(&mut whole);
        refusal(&whole)
    };
    let small = changed(&|whole| whole["nodes"][4]["ubr_cells"] = json!(30));
    assert!(
        small.ends_with(
            "at 's0' 30 cells may wait, and a packet of mtu 9180 takes 192: it needs more 'ubr_cells' (or 'buffer' \
             of its link), or the circuit a smaller 'mtu'"
        ),
        "{small}"
    );
    let tiny = changed(&|whole| whole["links"][3]["buffer"] = json!("10 B"));
    assert!(tiny.contains("at 's0' 0 cells may wait"), "{tiny}");
    let at_peer = changed(&|whole| {
        whole["nodes"][1] = json!({"name": "pe1", "kind": "bridge", "prefix": "10.2.0.0/24"})
    });
    assert!(at_peer.contains("pvc: 'pe1' is "), "{at_peer}");
    let parallel = changed(&|whole| {
        let link = whole["links"][3].clone();
        whole["links"].as_array_mut().expect("links").push(link);
    });
    assert!(parallel.contains("a link of medium atm joins s0 - s1 already"), "{parallel}");
    for (key, value) in [("mtu", json!(1_500)), ("metric", json!(3))] {
        let found = changed(&|whole| whole["links"][3][key] = value.clone());
        assert!(found.contains(&format!("carries cells and has no '{key}'")), "{found}");
    }
    let mss = changed(&|whole| {
        whole["links"][1] = json!({"a": 3, "b": 1, "pvc": {"through": ["s0", "s1"]}, "mtu": 9_180});
        whole["tcp"] = json!([{"from": "left", "to": "right", "mss": 9_150}]);
    });
    assert!(mss.contains("mss=9150: a packet of"), "{mss}");
    let mut of_wires = described(json!({}));
    of_wires["links"][2]["delay_ps"] = json!(MS);
    let found = refusal(&of_wires);
    assert!(
        found.contains("a circuit has none of its own: the links between ATM switches have a 'delay'"),
        "{found}"
    );
}
