//! Parts of networks in real time: what a placement must say, somebody else's router between two edges, ports that go
//! away, lives of a process.

use crate::common::memory::{self, MemoryPort};
use crate::common::{MS, chain, column, routers, sum};
use base::{Event, Span};
use control::rsvp;
use engine::external::{ExternalPort, ExternalSpec, PortError};
use network::{NetworkError, Placement};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

fn placed(description: &Value, placement: Value, ports: Vec<MemoryPort>) -> Result<Testbed, NetworkError> {
    let file = crate::common::file(description).expect("a description");
    let placement: Placement = serde_json::from_value(placement).expect("a placement");
    let mut ports = ports.into_iter();
    let mut open = |spec: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        match ports.next() {
            Some(port) => Ok(Box::new(port)),
            None => Err(PortError::NoInterface { name: spec.interface.clone() }),
        }
    };
    Testbed::placed_with(&file, placement, &mut open)
}

fn port(node: &str, link: usize) -> Value {
    json!({"node": node, "link": link, "interface": format!("{node}-{link}")})
}

/// Runs all in turn until it is so; how long that takes does not matter.
fn until(what: &str, networks: &mut [&mut Testbed], mut so: impl FnMut(&mut [&mut Testbed]) -> bool) {
    for _ in 0..20_000 {
        if so(networks) {
            return;
        }
        for network in networks.iter_mut() {
            let next = network.now() + Span::from_ms(2);
            network.run_until(next).expect("no device fails");
        }
    }
    panic!("{what}: it never was so");
}

fn up(network: &mut Testbed) -> usize {
    let lsps = network.table_json("lsps", None).expect("a table");
    column(&lsps, "state").iter().filter(|state| **state == "up").count()
}

#[test]
fn a_placement_that_does_not_fit_is_refused_in_one_sentence() {
    let mut described = json!({"nodes": routers(3, &json!({})), "links": chain(3, 1_000_000_000, 0)});
    described["nodes"][2] = json!({"name": "r2", "kind": "external"});
    let cases = [
        (json!({"local": ["r9"]}), "placement: there is no node 'r9'"),
        (json!({"local": ["r2"]}), "placement: node 'r2' is external: it can't be local"),
        (json!({}), "placement: link 1 from 'r1' to 'r2': 'r2' is not local, and no interface leads to it"),
        (json!({"ports": [port("r1", 7)]}), "placement: interface 'r1-7': link 7 of 2"),
        (json!({"ports": [port("r0", 1)]}), "placement: interface 'r0-1': node 'r0' is not at link 1"),
        (
            json!({"ports": [port("r1", 1), port("r2", 1)]}),
            "placement: link 1: node 'r2' is not local: it has no interface here",
        ),
        (
            json!({"ports": [port("r1", 1), port("r1", 1)]}),
            "placement: two interfaces for node 'r1' on link 1",
        ),
        (
            json!({"ports": [port("r1", 1), port("r1", 0)]}),
            "both are local, so that both have an interface or neither",
        ),
        (json!({"ports": [port("r1", 1)]}), "node 'r1': no interface r1-1"),
    ];
    for (placement, expected) in cases {
        let told = placed(&described, placement, Vec::new()).err().expect("a refusal").to_string();
        assert!(told.contains(expected), "expected '{expected}', was told '{told}'");
    }
}

/// What a tester knows of a system under test, and what that knows of the tester.
fn tester_and_system(route: Value, loose: bool) -> (Testbed, Testbed) {
    let edge = |name: &str, id: &str, programme: Value| json!({"name": name, "kind": "edge", "router_id": id, "programme": programme});
    let link = |a: usize, b: usize, addresses: Value| json!({"a": a, "b": b, "rate_bps": 100_000_000, "addresses": addresses});
    let external = |name: &str, id: &str| json!({"name": name, "kind": "external", "router_id": id});
    let (west, east) = (json!(["10.254.1.1/30", "10.254.1.2/30"]), json!(["10.254.2.2/30", "10.254.2.1/30"]));
    let signal = json!([{"at_ps": 0, "action": "signal", "lsps": 0, "rate_per_s": 500.0}]);
    let tester = json!({
        "nodes": [edge("in", "10.254.1.1", signal), external("dut", "10.255.0.1"), edge("out", "10.254.2.1", json!([]))],
        "links": [link(0, 1, west.clone()), link(1, 2, east.clone())],
        "lsps": [{"name": "x", "from": 0, "to": 2, "count": 3, "routes": route, "loose": loose}],
    });
    let mut system = json!({
        "nodes": routers(3, &json!({})),
        "links": [link(3, 0, west), link(0, 1, json!(null)), link(1, 2, json!(null)), link(2, 4, east)],
    });
    system["nodes"][0]["router_id"] = json!("10.255.0.1");
    let outer = [external("west", "10.254.1.1"), external("east", "10.254.2.1")];
    system["nodes"].as_array_mut().expect("nodes").extend(outer);
    let ([west, into], [east, out_of]) = (memory::pair("west"), memory::pair("east"));
    let tester = placed(&tester, json!({"ports": [port("in", 0), port("out", 1)]}), vec![west, east]);
    let system = placed(&system, json!({"ports": [port("r0", 0), port("r2", 3)]}), vec![into, out_of]);
    (tester.expect("a tester"), system.expect("a system under test"))
}

#[test]
fn edges_signal_and_send_through_somebody_elses_routers() {
    for (route, loose) in [(json!([]), false), (json!([[1, 2]]), true)] {
        let (mut tester, mut system) = tester_and_system(route.clone(), loose);
        until(&format!("LSPs along {route} are up"), &mut [&mut tester, &mut system], |n| up(n[0]) == 3);
        let start = tester.now() + Span::from_ms(20);
        let flow = json!({
            "from": 0, "to": 2, "over": 0, "rate_bps": 8_000_000, "size": 100,
            "start_ps": start.0, "stop_ps": start.0 + 30 * MS,
        });
        crate::common::add_flow(&mut tester, &flow).expect("a flow");
        until("all packets arrive", &mut [&mut tester, &mut system], |n| {
            let streams = n[0].table_json("streams", None).expect("a table");
            sum(&streams, "received") == 300
        });
        let ilm = system.table_json("ilm", Some(1)).expect("a table");
        assert_eq!((sum(&ilm, "packets"), column(&ilm, "label").len()), (300, 3));
        let interfaces = tester.table_json("interfaces", None).expect("a table");
        let sent = column(&interfaces, "tx_frames");
        assert!(sent[0].as_u64() > Some(300) && column(&interfaces, "state") == ["up", "up"], "{interfaces}");
        assert_eq!(column(&interfaces, "interface"), ["in-0", "out-1"]);
    }
}

/// Two routers in two parts with an LSP between them.
fn two_parts(rsvp: &Value) -> Value {
    json!({
        "nodes": routers(2, rsvp), "links": chain(2, 1_000_000_000, 0),
        "lsps": [{"name": "x", "from": 0, "to": 1, "retry_first_ps": 20 * MS, "retry_max_ps": 20 * MS}],
    })
}

#[test]
fn a_port_that_goes_away_is_told() {
    for strict in [false, true] {
        let described = two_parts(&json!({}));
        let [a, b] = memory::pair("m");
        let local = json!({"local": ["r0"], "ports": [port("r0", 0)], "fail_on_port_down": strict});
        let mut first = placed(&described, local, vec![a]).expect("a part");
        let other = json!({"local": ["r1"], "ports": [port("r1", 0)]});
        let mut second = placed(&described, other, vec![b]).expect("a part");
        until("the LSP is up", &mut [&mut first, &mut second], |n| up(n[0]) == 1);
        drop(second);
        // Something must be sent before anybody can see that the other end is not there.
        let to = first.loopback(1);
        first.ping(0, to, 64, 1).expect("a ping");
        let ended = (0..1_000).find_map(|_| {
            let until = first.now() + Span::from_ms(2);
            first.run_until(until).err()
        });
        let told = first.events().iter().any(|record| matches!(record.event, Event::PortDown { port: 0 }));
        if strict {
            assert_eq!(ended.expect("an error").to_string(), "node 'r0': interface ma is gone");
        } else {
            assert!(ended.is_none() && told);
            assert_eq!(up(&mut first), 0);
            let interfaces = first.table_json("interfaces", None).expect("a table");
            assert_eq!(column(&interfaces, "state"), ["gone"]);
        }
    }
}

#[test]
fn each_life_of_a_process_is_another_instance() {
    let rsvp = json!({"hello_ps": 20 * MS, "refresh_reduction": true});
    let described = two_parts(&rsvp);
    let whole = crate::common::file(&described).expect("a description");
    let whole = Testbed::new(&whole).expect("a network");
    let life = |number: u64, port_end: MemoryPort| {
        let local = json!({"local": ["r1"], "ports": [port("r1", 0)], "incarnation": number});
        placed(&described, local, vec![port_end]).expect("a part")
    };
    let ([a, b], [_kept, c]) = (memory::pair("m"), memory::pair("n"));
    let streams = |network: &Testbed| network.router(1).expect("a router").config().streams;
    assert_ne!(streams(&life(1, c)), streams(&whole), "another life draws other numbers");
    let mut first =
        placed(&described, json!({"local": ["r0"], "ports": [port("r0", 0)]}), vec![a]).expect("a part");
    let again = b.again();
    let mut second = life(0, b);
    assert_eq!(streams(&second), streams(&whole), "the first life is that of virtual time");
    let hears = |network: &mut Testbed, expected: fn(&Event) -> bool| {
        network.events().iter().any(|record| expected(&record.event))
    };
    until("both know each other", &mut [&mut first, &mut second], |n| {
        up(n[0]) == 1 && hears(n[0], |event| matches!(event.of(), Some(rsvp::Event::NeighborUp { .. })))
    });
    drop(second);
    let mut third = life(1, again);
    until("the restart is noticed", &mut [&mut first, &mut third], |n| {
        hears(n[0], |event| matches!(event.of(), Some(rsvp::Event::NeighborDown { restarted: true, .. })))
    });
    until("the LSP is back", &mut [&mut first, &mut third], |n| {
        up(n[0]) == 1 && up(n[1]) == 0 && {
            let held = n[1].table_json("lsps", Some(1)).expect("a table");
            column(&held, "state").len() == 1
        }
    });
}

/// A host with an interface to either end of a chain of three routers, which are in another process.
#[test]
fn a_host_sends_to_itself_through_the_routers_of_another_process() {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "host", "kind": "host"}));
    let mut links = chain(3, 100_000_000, 0);
    links.push(
        json!({"a": 3, "b": 0, "rate_bps": 100_000_000, "addresses": ["192.168.1.5/27", "192.168.1.1/27"]}),
    );
    links.push(
        json!({"a": 2, "b": 3, "rate_bps": 100_000_000, "addresses": ["192.168.1.66/26", "192.168.1.65/26"]}),
    );
    links[0]["a_queue"] = json!({"root": {"discipline": "pfifo", "limit": 100}});
    links[2]["b_ingress"] = json!({"rules": [{"name": "all", "green": "remark EF"}]});
    let described = json!({"nodes": nodes, "links": links});
    let ([a, b], [c, d]) = (memory::pair("first"), memory::pair("last"));
    let local = json!({"local": ["host"], "ports": [port("host", 2), port("host", 3)]});
    let mut host = placed(&described, local, vec![a, c]).expect("a host");
    let local = json!({"local": ["r0", "r1", "r2"], "ports": [port("r0", 2), port("r2", 3)]});
    let mut system = placed(&described, local, vec![b, d]).expect("routers");
    until("time has begun", &mut [&mut host, &mut system], |n| n[0].now().0 > 0);
    // Both are told of the flow; only the host has to do with it.
    let start = host.now() + Span::from_ms(20);
    let flow = json!({
        "name": "loop", "from": 3, "to": 3, "from_link": 2, "to_link": 3, "rate_bps": 8_000_000, "size": 1_000, "log": true,
        "arrivals": "poisson", "start_ps": start.0, "stop_ps": start.0 + 50 * MS,
    });
    for network in [&mut host, &mut system] {
        crate::common::add_flow(network, &flow).expect("a flow");
    }
    let sent = |network: &mut Testbed, column: &str| {
        sum(&network.table_json("streams", None).expect("a table"), column)
    };
    until("all packets have arrived", &mut [&mut host, &mut system], |n| {
        let done = n[0].now() > start + Span::from_ms(50);
        done && sent(n[0], "sent") == sent(n[0], "received")
    });
    let packets = host.table_json("packets", None).expect("a table");
    let delays = column(&packets, "delay_ps");
    assert_eq!(delays.len() as u64, sent(&mut host, "sent"));
    assert!(delays.len() > 10 && delays.iter().all(|delay| delay.as_u64() > Some(0)), "{delays:?}");
    let queues = system.table_json("queues", None).expect("a table");
    assert!(sum(&queues, "sent_packets") >= delays.len() as u64, "{queues}");
    let conditioners = system.table_json("conditioners", Some(0)).expect("a table");
    assert!(sum(&conditioners, "packets") >= delays.len() as u64, "{conditioners}");
    assert_eq!(sum(&host.table_json("queues", None).expect("a table"), "sent_packets"), 0);
}

/// Each router in a process of its own: nothing signals a tunnelling model, but each has the description.
#[test]
fn every_process_knows_the_models_of_lsps_that_begin_in_others() {
    let mut nodes = routers(3, &json!({}));
    nodes.iter_mut().for_each(|node| node["diffserv"] = json!({}));
    let described = json!({"nodes": nodes, "links": chain(3, 100_000_000, 0), "lsps": [
        {"name": "own", "from": 0, "to": 2, "routes": [[1, 2]], "diffserv": {"kind": "l-lsp", "class": "EF", "model": "uniform"}},
        {"name": "usual", "from": 0, "to": 2, "routes": [[1, 2]], "diffserv": {"kind": "l-lsp", "class": "CS1"}},
    ]});
    let ([a, b], [c, d]) = (memory::pair("first"), memory::pair("second"));
    let process = |name: &str, links: &[usize], ports| {
        let here: Vec<Value> = links.iter().map(|link| port(name, *link)).collect();
        placed(&described, json!({"local": [name], "ports": here}), ports).expect("a process")
    };
    let mut head = process("r0", &[0], vec![a]);
    let mut middle = process("r1", &[0, 1], vec![b, c]);
    let mut tail = process("r2", &[1], vec![d]);
    until("the LSPs are up", &mut [&mut head, &mut middle, &mut tail], |n| up(n[0]) == 2);
    for (network, node) in [(&mut middle, 1), (&mut tail, 2)] {
        let mut classes = column(&network.table_json("ilm", Some(node)).expect("a table"), "tc");
        classes.sort_by_key(Value::to_string);
        assert_eq!(classes, [json!("pipe L-LSP CS1"), json!("uniform L-LSP EF")]);
    }
}
