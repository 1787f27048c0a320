//! Flows in network files, read and refused.

use super::*;

fn read(flow: &str) -> Result<NetworkFile, Diagnostic> {
    let nodes = r#""l": {"kind": "host", "address": "10.1.0.2/24"}, "r": {"kind": "router"}, "x": {"kind": "external"}"#;
    let json = format!(r#"{{"name": "n", "nodes": {{{nodes}}}, "links": [["l", "r"]], "flows": [{flow}]}}"#);
    NetworkFile::read(&serde_json::from_str(&json).expect("well formed"))
}

#[test]
fn a_flow_reads_what_it_writes() {
    let flow = r#"{"from": "l", "to": "r", "size": {"kind": "uniform", "min": 64, "max": "1518 B"}, "dscp": "EF",
        "arrivals": {"kind": "on-off", "on": {"mean": "300 ms", "kind": "pareto"}, "off": "100 ms"}, "stop": "9 s"}"#;
    let file = read(flow).expect("right");
    assert_eq!(file.flows[0].name(), "l-r");
    let again = NetworkFile::read(&file.write()).expect("written");
    assert_eq!(again.flows, file.flows);
}

#[test]
fn each_mistake_has_its_place() {
    for (flow, said) in [
        (r#"{"from": "l", "to": "q"}"#, "flows/0/to: 'q', no node has that name (one of l, r, x)"),
        (r#"{"from": "l", "to": "x"}"#, "flows/0/to: 'x' is external: nothing is measured there"),
        (r#"{"from": "l", "to": "r", "over": "east"}"#, "flows/0/over: 'east', no LSP has that name"),
        (
            r#"{"from": "l", "to": "r", "size": 63}"#,
            "flows/0/size: 63: an Ethernet frame has 64 to 65553 bytes",
        ),
        (r#"{"from": "l", "to": "r", "rate": 0}"#, "flows/0/rate: 0: it is not above zero"),
        (
            r#"{"from": "l", "to": "r", "start": "2 s", "stop": "1 s"}"#,
            "flows/0/stop: 1 s is not after its start (2 s)",
        ),
        (
            r#"{"from": "l", "to": "r", "arrivals": {"kind": "trace"}}"#,
            "flows/0/arrivals/gaps: there are none",
        ),
        (
            r#"{"from": "l", "to": "r", "arrivals": "bursty"}"#,
            "flows/0/arrivals: 'bursty' is none of constant, poisson, on-off or trace",
        ),
        (
            r#"{"from": "l", "to": "r", "arrivals": {"kind": "on-off", "on": {"mean": 0}, "off": 1}}"#,
            "flows/0/arrivals/on/mean: 0: it is not above zero",
        ),
        (
            r#"{"from": "l", "to": "r", "size": {"kind": "exponential", "mean": 20}}"#,
            "flows/0/size: mean=20 is not between min=64 and max=9018: most frames would be as long as a bound",
        ),
    ] {
        assert_eq!(read(flow).expect_err(said).to_string(), said, "{flow}");
    }
}

#[test]
fn every_type_that_is_referred_to_is_known() {
    let known = schemas();
    let names: Vec<&str> = known.iter().map(|entry| entry.0).collect();
    for name in
        ["NetworkSpec", "NodeSpec", "RouterSpec", "HostSpec", "LinkSpec", "LspSpec", "FlowSpec", "PeriodSpec"]
    {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
}
