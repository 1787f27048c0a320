//! What is refused of virtual paths and of headers, in which words.

use super::circuits::described;
use crate::common::said;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Why a network can't be built.
fn refusal(described: &Value) -> String {
    let value = serde_json::from_value(described.clone()).expect("a value");
    match NetworkFile::read_part(&value) {
        Ok(file) => Testbed::new(&file).err().expect("a refusal").to_string(),
        Err(error) => error.words(),
    }
}

fn changed(change: impl Fn(&mut Value)) -> String {
    let mut whole = described(&json!({}), &json!({}), &json!([]));
    change(&mut whole);
    refusal(&whole)
}

#[test]
fn a_path_has_one_owner() {
    // A circuit has a channel of it, on a link between two switches that it passes.
    let in_path = changed(|whole| whole["links"][6]["pvc"]["vpi"] = json!(300));
    assert!(
        in_path.ends_with(
            "VPI 300 on link p0 - p1 is that of the virtual path rome - bern, which is switched as a whole: a circuit \
             can't have a channel of it, too"
        ),
        "{in_path}"
    );
    assert!(in_path.contains("r4 - r5"), "{in_path}");
    let other = |vpi: Value| {
        changed(|whole| {
            let nodes = whole["nodes"].as_object_mut().expect("nodes");
            nodes.insert("paris".into(), json!({"kind": "atm-switch"}));
            let links = whole["links"].as_array_mut().expect("links");
            let vp = json!({"through": ["p0", "p1"], "vpi": vpi, "pcr": "1000 cells/s"});
            links.push(json!({"endpoints": ["paris", "bern"], "vp": vp}));
        })
    };
    let twice = other(json!([7, 300, 8]));
    assert!(
        twice.ends_with("VPI 300 on link p0 - p1 is that of the virtual path rome - bern already"),
        "{twice}"
    );
}

#[test]
fn paths_that_are_given_keep_out_of_the_way() {
    // One is said, one is that of a circuit: the lowest that is free is 3.
    let mut whole = described(&json!({"vpi": 1}), &json!({}), &json!([]));
    whole["links"][6]["pvc"]["vpi"] = json!(2);
    whole["nodes"]["paris"] = json!({"kind": "atm-switch"});
    let vp = json!({"through": ["p0", "p1"], "pcr": "1000 cells/s"});
    whole["links"].as_array_mut().expect("links").push(json!({"endpoints": ["paris", "bern"], "vp": vp}));
    let network = super::build(&whole);
    let vpis: Vec<_> =
        network.links().iter().filter_map(|link| Some(link.path.as_ref()?.vpis.clone())).collect();
    assert_eq!(vpis, [[1, 1, 1], [1, 3, 1]]);
}

#[test]
fn what_is_wrong_of_a_path_is_said() {
    let path = |said: Value| {
        changed(|whole| {
            for (key, value) in said.as_object().expect("an object") {
                whole["links"][3]["vp"][key] = value.clone();
            }
        })
    };
    for (said, words) in [
        (json!({"vpi": 0}), "VPI 0: 1 to 4095 on link rome - bern"),
        (json!({"vpi": [1, 4_096, 1]}), "VPI 4096: 1 to 4095 on link p0 - p1"),
        (json!({"vpi": [1, 2]}), "2 VPIs for 3 links: one for all, or one for each"),
        (json!({"pcr": null}), "service cbr needs a peak rate, such as 'pcr: 4750 cells/s'"),
        (json!({"pcr": "0 cells/s"}), "0: a peak rate is more than nothing"),
        (json!({"pcr": "20001 cells/s"}), "link p0 - p1 carries"),
        (json!({"shaped": false}), "needs a 'tolerance'"),
        (json!({"service": "ubr", "pcr": null, "tolerance": "1 ms"}), "and 'pcr' is missing"),
        (json!({"through": []}), "a virtual path passes one at least"),
        (json!({"through": ["p0", "r1"]}), "'r1' is no ATM switch"),
        (json!({"through": ["p0", "rome"]}), "'rome' is on the way already"),
        (json!({"through": ["p0", "p1", "p0"]}), "'p0' is on the way already"),
        (json!({"through": ["p0", "p9"]}), "no node has that name"),
    ] {
        let found = path(said.clone());
        assert!(found.contains(words), "{said}: {found}");
    }
    for (key, value, words) in [
        ("delay", json!("1 ms"), "a virtual path has no 'delay' of its own"),
        ("rate", json!("1 Mbit/s"), "a virtual path has no 'rate' of its own"),
        ("medium", json!("ethernet"), "a virtual path has no 'medium' of its own"),
        ("metric", json!(3), "carries cells and has no 'metric'"),
        ("pvc", json!({"through": ["p0", "p1"]}), "not both"),
        ("lc_atm", json!({"vci": [40, 50]}), "between routers or ATM-LSRs"),
        ("endpoints", json!(["rome", "r5"]), "vp: 'r5' is a router: a virtual path is between two routers"),
    ] {
        let found = changed(|whole| whole["links"][3][key] = value.clone());
        assert!(found.contains(words), "{key}: {found}");
    }
    // A path through a path.
    let nested = changed(|whole| {
        whole["nodes"]["paris"] = json!({"kind": "atm-switch"});
        let vp = json!({"through": ["rome", "bern"], "pcr": "1000 cells/s"});
        whole["links"].as_array_mut().expect("links").push(json!({"endpoints": ["paris", "p0"], "vp": vp}));
    });
    assert!(nested.contains("no link of medium atm joins 'rome' and 'bern'"), "{nested}");
}

/// RFC 3035, 7.2: of a path between routers labels have the channel alone.
#[test]
fn what_is_wrong_of_its_labels_is_said() {
    let labels = |lc_atm: Value| {
        changed(|whole| {
            whole["links"][4] = json!({
                "endpoints": ["r0", "r1"],
                "vp": {"through": ["p0", "p1"], "pcr": "1000 cells/s"},
                "lc_atm": lc_atm,
            });
        })
    };
    for (said, words) in [
        (json!({"vpi": [3, 3]}), "labels are its VCIs (RFC 3035, 7.2): leave 'vpi' out"),
        (json!({"control_vpi": 3, "vpi": [0, 0]}), "leave 'control_vpi' out"),
        (json!({"vci": [32, 50]}), "VCI 32: 33 to 65535"),
    ] {
        let found = labels(said.clone());
        assert!(found.contains(words), "{said}: {found}");
    }
}

#[test]
fn more_than_there_is_is_not_promised() {
    let found = changed(|whole| {
        whole["links"][6]["pvc"]["service"] = json!("cbr");
        whole["links"][6]["pvc"]["pcr"] = json!("19500 cells/s");
    });
    assert!(
        found.contains("link p0 - p1 carries") && found.contains("is promised to others of service cbr"),
        "{found}"
    );
    // Within a path there is what the path has, and nothing is promised where it promises nothing.
    let circuit = |path: Value, pcr: &str| {
        let circuit = json!({"service": "cbr", "pcr": pcr});
        refusal(&described(&path, &circuit, &json!([])))
    };
    let above = circuit(json!({}), "1001 cells/s");
    assert!(above.contains("link rome - bern carries"), "{above}");
    let nothing = circuit(json!({"service": "ubr"}), "100 cells/s");
    assert!(
        nothing.contains(
            "the virtual path rome - bern is of service ubr, and promises nothing to what is in it"
        ),
        "{nothing}"
    );
}

#[test]
fn paths_of_a_users_interface_are_in_eight_bits() {
    let found = changed(|whole| {
        whole["links"][2]["uni"] = json!(true);
    });
    assert!(found.contains("VPI 300: 1 to 255 on link p0 - p1"), "{found}");
    let found = changed(|whole| {
        whole["links"][3]["uni"] = json!(true);
        whole["links"][3]["vp"]["vpi"] = json!([256, 300, 8]);
    });
    assert!(found.contains("VPI 256: 1 to 255 on link rome - bern"), "{found}");
    let found = changed(|whole| {
        whole["links"][2]["uni"] = json!(true);
        whole["links"][3]["vp"]["vpi"] = json!(7);
        whole["links"][6]["pvc"]["vpi"] = json!(256);
    });
    assert!(found.contains("VPI 256: 0 to 255 on link p0 - p1"), "{found}");
    let found = changed(|whole| whole["links"][0]["uni"] = json!(true));
    assert!(found.contains("'uni' says which headers cells have, and this link carries none"), "{found}");
    for lc_atm in [json!({"vpi": [250, 256]}), json!({"control_vpi": 256})] {
        let found = changed(|whole| {
            whole["links"][4] = json!({
                "endpoints": ["r0", "r1"], "medium": "atm", "rate": "1 Mbit/s", "uni": true, "lc_atm": lc_atm,
            });
        });
        assert!(
            found.contains("VPI 256: 0 to 255, since cells have headers of a user-network interface"),
            "{found}"
        );
    }
}

/// Labels over a circuit that carries IPv4 alone are dropped, and that is said before.
#[test]
fn labels_for_a_circuit_without_room_are_warned_of() {
    let warned = |encapsulation: &str, protocol: &str, both: bool| {
        let mut whole = described(&json!({}), &json!({"encapsulation": encapsulation}), &json!([]));
        for name in if both { &["r0", "r1"][..] } else { &["r0"] } {
            whole["nodes"][name]["ospf"] = json!(true);
            whole["nodes"][name][protocol] = json!(true);
        }
        let found = said(&super::build(&whole).warnings());
        found.into_iter().filter(|said| said.contains("vc-mux")).collect::<Vec<_>>()
    };
    for protocol in ["ldp", "tdp"] {
        let found = warned("vc-mux", protocol, true);
        assert_eq!(found.len(), 1, "{found:?}");
        let words = format!(
            "{protocol}: 'r0' and 'r1' give each other labels for this circuit, whose encapsulation vc-mux carries IPv4 \
             alone: every packet with a label is dropped there (unknown-protocol); llc-snap or shim would carry it"
        );
        assert!(found[0].contains(&words) && found[0].contains("r0 - r1"), "{found:?}");
        assert_eq!(warned("vc-mux", protocol, false), [""; 0]);
        assert_eq!(warned("llc-snap", protocol, true), [""; 0]);
    }
}
