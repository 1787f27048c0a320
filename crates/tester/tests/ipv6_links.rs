//! Links whose addresses are looked for first, and on which routers advertise themselves: as described, in a network.

use crate::common::{MS, S, chain, conserved, network, routers, run};
use serde_json::{Value, json};

/// Two hosts at two routers; on all links IPv6 addresses are looked for before they are used, and the routers advertise
/// themselves to the first host.
fn described() -> Value {
    let mut nodes = routers(2, &json!({}));
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let mut links = chain(2, 1_000_000_000, MS);
    links.push(
        json!({"a": 2, "b": 0, "rate_bps": 100_000_000, "delay_ps": 0, "advertise": {"interval": "4 s"}}),
    );
    links.push(json!({"a": 1, "b": 3, "rate_bps": 100_000_000, "delay_ps": 0}));
    for (at, link) in links.iter_mut().enumerate() {
        link["ipv6"] = json!([format!("2001:db8:{at}::1/64"), format!("2001:db8:{at}::2/64")]);
        link["dad"] = json!(true);
    }
    json!({"nodes": nodes, "links": links, "lsps": []})
}

#[test]
fn flows_wait_for_addresses_and_arrive() {
    let mut network = network(described());
    for (name, from, to, start) in [("there", 2, 3, "3 s"), ("back", 3, 2, "3 s"), ("routers", 0, 1, "3 s")] {
        let flow = json!({
            "name": name, "from": from, "to": to, "family": "ipv6", "rate": "1 Mbit/s", "size": 500,
            "start": start, "stop": "4 s",
        });
        crate::common::add_flow(&mut network, &flow).expect("a flow");
    }
    run(&mut network, 60 * S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent == received && sent > 700, "{sent} {received}");
    // Fifteen advertisements, of which the host makes nothing: its address is given.
    let unheard = network.host(2).expect("a host").drops().get(base::device::DropReason::NoListener);
    assert!((14..=20).contains(&unheard), "{unheard}");
}

#[test]
fn the_same_seed_gives_the_same_advertisements() {
    let digest = |seed: u64| {
        let mut described = described();
        described["seed"] = json!(seed);
        described["links"][1]["advertise"] = json!({"interval": "600 s"});
        let mut network = network(described);
        run(&mut network, 5_000 * S);
        network.world().digest()
    };
    assert_eq!(digest(1), digest(1));
    assert!(digest(1) != digest(2), "times of advertisements are drawn");
}

#[test]
fn wrong_settings_are_refused_in_one_sentence() {
    let refusal = |link: usize, key: &str, value: Value| {
        let mut described = described();
        described["links"][link][key] = value;
        crate::common::refusal(&described)
    };
    let advertise = |value: Value| refusal(1, "advertise", value);
    assert_eq!(
        advertise(json!({"interval": "10 s", "interval_min": "8 s"})),
        "link left - r0: advertise: interval_min=8 s is more than three quarters of interval=10 s"
    );
    assert_eq!(
        advertise(json!({"lifetime": "10 s"})),
        "link left - r0: advertise: lifetime=10 s is neither 0 nor as long as interval=600 s"
    );
    assert_eq!(
        advertise(json!({"valid": "1 s"})),
        "link left - r0: advertise: 'preferred' is longer than 'valid'"
    );
    assert!(advertise(json!({"interval": "1 s"})).contains("interval"));
    let mut without = described();
    without["links"][0].as_object_mut().expect("a link").remove("ipv6");
    assert_eq!(
        crate::common::refusal(&without),
        "link r0 - r1: dad: the link has no IPv6 addresses: 'ipv6' gives it some"
    );
}
