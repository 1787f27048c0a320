//! Every packet is accounted for: sent and duplicated are received, lost for a reason, or in flight, per flow.

use crate::common::{MS, S, chain, column, network, routers, run};
use base::random::Stream;
use base::{LinkId, NodeId, Rate, Span, Streams, Time};
use engine::medium::packet_media;
use engine::{Direction, Fault, FaultKind};
use network::Part;
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use twinplane_tester::Testbed;

/// How long flows send in random runs, in milliseconds.
const SENDING_MS: u64 = 400;

/// Rows of a table, each with its columns by name.
fn rows(network: &mut Testbed, table: &str) -> Vec<Value> {
    rows_of(&network.table_json(table, None).expect("a table"))
}

fn rows_of(table: &Value) -> Vec<Value> {
    let columns = table.as_object().expect("columns");
    let count = columns.values().filter_map(Value::as_array).map(Vec::len).max().unwrap_or(0);
    (0..count)
        .map(|row| columns.iter().map(|(name, cells)| (name.clone(), cells[row].clone())).collect())
        .collect()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"))
}

/// Packets of rows by flow.
fn packets_of(rows: &[Value]) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    for row in rows {
        *found.entry(number(row, "flow")).or_default() += number(row, "packets");
    }
    found
}

/// Whether the accounts of each flow close; and, with `numbered`, whether they agree with sequence numbers. Gives
/// packets lost and in flight, of all flows.
fn closed(network: &mut Testbed, numbered: bool) -> Result<(u64, u64), String> {
    let losses = rows(network, "losses");
    if let Some(row) = losses.iter().find(|row| row["reason"] == "unknown") {
        return Err(format!("packets vanished: {row}"));
    }
    let accounts = rows(network, "flow_accounts");
    // What is known of when packets were lost is of the same packets.
    let times = rows(network, "loss_times");
    let (by_place, by_time) = (packets_of(&losses), packets_of(&times));
    if by_place != by_time {
        return Err(format!("lost by place {by_place:?}, by time {by_time:?}"));
    }
    if let Some(row) = times.iter().find(|row| number(row, "first_ps") > number(row, "last_ps")) {
        return Err(format!("a stretch that ends before it begins: {row}"));
    }
    let mut total = (0, 0);
    for account in &accounts {
        if account["unknown"] != 0 {
            return Err(format!("an account does not close: {account}; of {losses:?}"));
        }
        let own = losses.iter().filter(|row| row["flow"] == account["flow"]);
        let counted: u64 = own.map(|row| number(row, "packets")).sum();
        if counted != number(account, "lost") {
            return Err(format!("{counted} lost by place, and {account}"));
        }
        total = (total.0 + counted, total.1 + number(account, "in_flight"));
    }
    // What sinks miss, by sequence numbers, is lost or in flight, where nothing makes copies.
    let streams = network.table_json("streams", None).map_err(|error| error.to_string())?;
    let missing: u64 = column(&streams, "lost").iter().filter_map(Value::as_u64).sum();
    let copied: u64 = accounts.iter().map(|account| number(account, "duplicated")).sum();
    if numbered && copied == 0 && missing != total.0 + total.1 {
        return Err(format!("{missing} packets are missing, {total:?} are lost and in flight"));
    }
    Ok(total)
}

fn pick<'a, T>(random: &mut Stream, of: &'a [T]) -> &'a T {
    &of[random.random_range(0..of.len())]
}

fn tree(random: &mut Stream) -> Value {
    let pfifo = |limit: u32| json!({"discipline": "pfifo", "limit": limit});
    let class = |limit: u32| json!({"queue": pfifo(limit)});
    let filters = json!([{"phb": ["EF"], "class": "a"}]);
    let root = match random.random_range(0..6) {
        0 => pfifo(random.random_range(1..30)),
        1 => {
            json!({"discipline": "red", "limit": 30_000, "min": 2_000, "max": 9_000, "avpkt": 500, "burst": 6,
            "probability": 0.2})
        }
        2 => json!({"discipline": "fq-codel", "limit": 20, "target": "1 ms", "interval": "10 ms"}),
        3 => json!({"discipline": "prio", "classes": {"a": class(9), "b": class(5)}, "filters": filters,
            "default": "b"}),
        4 => json!({"discipline": "drr", "classes": {"a": class(9), "b": class(5)}, "filters": filters}),
        _ => json!({"discipline": "tbf", "rate": "4 Mbit/s", "burst": "4 kB", "limit": "12 kB"}),
    };
    json!({"root": root})
}

/// Routers in a ring with hosts, often a segment with a bridge, and often two emulated edges; LSPs, and flows of all
/// kinds. The last value says how many links there are.
fn described(random: &mut Stream) -> (Value, usize, usize) {
    let count = random.random_range(3..6usize);
    let mut nodes = routers(count, &json!({}));
    let mut links: Vec<Value> = chain(count, 0, 0);
    links.push(json!({"a": count - 1, "b": 0}));
    let mut hosts = Vec::new();
    for host in 0..2 {
        let place = nodes.len();
        nodes.push(
            json!({"name": format!("h{host}"), "kind": "host", "address": format!("10.{}.0.2/24", host + 1)}),
        );
        links.push(json!({"a": place, "b": host}));
        hosts.push(place);
    }
    if random.random_bool(0.4) {
        let lan = nodes.len();
        nodes.push(json!({"name": "lan", "kind": "bridge", "prefix": "10.9.0.0/24"}));
        links.push(json!({"a": lan, "b": count - 1}));
        for host in 0..2 {
            let place = nodes.len();
            nodes.push(
                json!({"name": format!("s{host}"), "kind": "host", "address": format!("10.9.0.{}/24", 10 + host)}),
            );
            links.push(json!({"a": place, "b": lan}));
            hosts.push(place);
        }
    }
    let mut lsps = vec![json!({"name": "l", "from": 0, "to": count - 1, "count": random.random_range(1..4)})];
    let mut edges = None;
    if random.random_bool(0.5) {
        let step = |at: u64, action: &str| json!({"at_ps": at * MS, "action": action, "lsps": 1, "rate_per_s": 500.0});
        let first = nodes.len();
        let programme = [step(0, "signal"), step(120, "flap"), step(250, "tear")];
        nodes.push(json!({"name": "in", "kind": "edge", "programme": programme}));
        nodes.push(json!({"name": "out", "kind": "edge"}));
        links.push(json!({"a": first, "b": 0}));
        links.push(json!({"a": first + 1, "b": count - 1}));
        lsps.push(json!({"name": "e", "from": first, "to": first + 1, "count": 2}));
        edges = Some(first);
    }
    let bridged: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node]["kind"] == "bridge").collect();
    for link in &mut links {
        let on_bridge = bridged.iter().any(|bridge| link["a"] == *bridge || link["b"] == *bridge);
        // Ethernet twice as often as each of the others.
        let others = packet_media().filter(|_| !on_bridge).map(|medium| medium.name);
        let media: Vec<&str> = core::iter::once("ethernet").chain(others).collect();
        let medium = *pick(random, &media);
        link["medium"] = json!(medium);
        link["rate_bps"] = json!(pick(random, &[4_000_000, 20_000_000, 100_000_000]));
        link["delay_ps"] = json!(pick(random, &[0, MS / 50, 3 * MS]));
        link["detection_ps"] = json!(pick(random, &[0, 5 * MS]));
        link["buffer_bytes"] = json!(random.random_range(2_000..20_000));
        for (side, queue) in [("a", "a_queue"), ("b", "b_queue")] {
            if random.random_bool(0.3) && bridged.iter().all(|bridge| link[side] != *bridge) {
                link[queue] = tree(random);
            }
        }
    }
    let mut flows = Vec::new();
    let mut flow = |random: &mut Stream, from: usize, to: usize, over: Option<usize>| {
        let start = random.random_range(0..120) * MS;
        let mut made = json!({
            "name": format!("f{}", flows.len()),
            "from": from,
            "to": to,
            "rate_bps": random.random_range(200_000..6_000_000),
            "size": pick(random, &[90, 300, 1_200]),
            "arrivals": pick(random, &["constant", "poisson"]),
            "dscp": pick(random, &[0, 46, 10]),
            "start_ps": start,
            "stop_ps": SENDING_MS * MS,
        });
        if let Some(over) = over {
            made["over"] = json!(over);
        } else if random.random_bool(0.3) {
            made["dst_port"] = json!(5_060);
        }
        flows.push(made);
    };
    flow(random, 0, count - 1, Some(0));
    flow(random, 1, count - 1, None);
    for _ in 0..3 {
        let from = *pick(random, &hosts);
        let to = *pick(random, &hosts);
        if from != to {
            flow(random, from, to, None);
        }
    }
    if let Some(first) = edges {
        flow(random, first, first + 1, Some(1));
    }
    let (nodes_count, links_count) = (nodes.len(), links.len());
    let described = json!({
        "seed": random.random_range(0..1_000_000),
        "nodes": nodes,
        "links": links,
        "lsps": lsps,
        "flows": flows,
        "loss_bin_ps": 50 * MS,
    });
    (described, nodes_count, links_count)
}

fn fault(random: &mut Stream, nodes: usize, links: usize) -> Fault {
    let link = LinkId(random.random_range(0..links as u32));
    let direction = *pick(random, &[Direction::Forth, Direction::Back, Direction::Both]);
    let (at, length) = (random.random_range(20..SENDING_MS), random.random_range(5..120));
    let probability = f64::from(random.random_range(1..100u8)) / 100.0;
    let extra = Span::from_us(random.random_range(0..4_000));
    let kind = match random.random_range(0..11) {
        0 => FaultKind::LinkDown { link },
        1 => FaultKind::NodeRestart {
            node: NodeId(random.random_range(0..nodes as u32)),
            down_for: Span::from_ms(random.random_range(0..60)),
        },
        2 => FaultKind::Loss { link, direction, probability },
        3 => FaultKind::Corruption { link, direction, bit_error_rate: probability / 500.0, deliver: false },
        4 => FaultKind::Corruption { link, direction, bit_error_rate: probability / 500.0, deliver: true },
        5 => FaultKind::Duplication { link, direction, probability },
        6 => FaultKind::Reordering { link, direction, probability, extra },
        7 => FaultKind::Delay { link, direction, extra, jitter: extra },
        8 => FaultKind::RateLimit { link, direction, rate: Rate(500_000) },
        _ => FaultKind::NodeDown { node: NodeId(random.random_range(0..nodes as u32)) },
    };
    let ends = !matches!(kind, FaultKind::NodeRestart { .. });
    let fault = Fault::new(Time(at * MS), kind);
    if ends { fault.until(Time((at + length) * MS)) } else { fault }
}

/// One random network with random faults, looked at again and again. Notes where and why it lost packets.
fn account(seed: u64, seen: &mut BTreeSet<String>) -> Result<(u64, u64), String> {
    let mut random = Streams::new(seed).stream("accounts");
    let (described, nodes, links) = described(&mut random);
    let mut network = network(described);
    // A sequence number that was corrupted, and taken, is one that never was.
    let mut numbered = true;
    for _ in 0..random.random_range(0..7) {
        let fault = fault(&mut random, nodes, links);
        numbered &= !matches!(fault.kind, FaultKind::Corruption { deliver: true, .. });
        network.world_mut().fault(fault).expect("a fault that can be");
    }
    let (mut at, mut most) = (0, (0, 0));
    while at < SENDING_MS * MS {
        at += random.random_range(1..60 * MS);
        run(&mut network, at);
        let found = closed(&mut network, numbered).map_err(|error| format!("after {at} ps: {error}"))?;
        most = (found.0, most.1.max(found.1));
    }
    // Whatever still waits for a neighbour is given up within seconds.
    run(&mut network, 20 * S);
    let (lost, in_flight) = closed(&mut network, numbered).map_err(|error| format!("at the end: {error}"))?;
    if in_flight > 0 {
        return Err(format!("{in_flight} packets are in flight long after the last was sent"));
    }
    // Of one flow the table says what the whole one says of it.
    let whole = rows(&mut network, "losses");
    let flows = column(&network.table_json("flows", None).expect("a table"), "flow").len();
    for flow in 0..flows {
        let part = network.part("losses", &Part { of: Some(flow), ..Part::default() });
        let part = ::network::tables::json(&part.map_err(|error| error.to_string())?);
        let part = rows_of(&part.map_err(|error| error.to_string())?);
        if !part.iter().eq(whole.iter().filter(|row| row["flow"] == flow)) {
            return Err(format!("of flow {flow} alone: {part:?}; all: {whole:?}"));
        }
    }
    for row in whole {
        seen.insert([&row["place"], &row["reason"]].map(|cell| cell.as_str().unwrap_or("-")).join(" "));
    }
    Ok((lost, most.1))
}

#[test]
fn the_accounts_of_random_networks_close_at_any_time() {
    let (mut lost, mut in_flight, mut seen) = (0, 0, BTreeSet::new());
    let runs = testing::runs(200);
    let many = runs.end - runs.start >= 200;
    for seed in runs {
        match account(seed, &mut seen) {
            Ok(found) => (lost, in_flight) = (lost + found.0, in_flight + found.1),
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(lost > 0 && in_flight > 0, "{lost} lost, {in_flight} in flight: nothing was seen");
    println!("{lost} packets lost: {seen:?}");
    // What a random network can lose, most of them did.
    let expected = [
        "device no-adjacency",
        "device misdelivered",
        "device not-for-us",
        "device port-down",
        "device unknown-label",
        "link link-corruption",
        "link link-down",
        "link link-loss",
        "link node-down",
        "port buffer-full",
        "port early-drop",
        "port link-down",
        "port node-down",
        "port sojourn",
        "source no-route",
    ];
    let missed: Vec<_> = expected.iter().filter(|at| !seen.contains(**at)).collect();
    assert!(!many || missed.is_empty(), "never seen: {missed:?}; seen: {seen:?}");
}

/// Two routers, and a host at each.
fn two() -> Value {
    let mut nodes = routers(2, &json!({}));
    nodes.push(json!({"name": "a", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "b", "kind": "host", "address": "10.2.0.2/24"}));
    let link = |a: u32, b: u32| json!({"a": a, "b": b, "rate_bps": 10_000_000, "delay_ps": MS});
    let flow = json!({"name": "f", "from": 2, "to": 3, "rate_bps": 4_000_000, "size": 500, "dscp": 46,
        "start_ps": 0, "stop_ps": 2 * S});
    json!({"nodes": nodes, "links": [link(2, 0), link(0, 1), link(1, 3)], "flows": [flow], "loss_bin_ps": 500 * MS})
}

#[test]
fn a_loss_has_place_reason_and_time() {
    let mut network = network(two());
    let world = network.world_mut();
    let loss = FaultKind::Loss { link: LinkId(1), direction: Direction::Forth, probability: 1.0 };
    world.fault(Fault::new(Time(600 * MS), loss).until(Time(700 * MS))).expect("a fault");
    let down = FaultKind::LinkDown { link: LinkId(2) };
    world.fault(Fault::new(Time(1_100 * MS), down).until(Time(1_200 * MS))).expect("a fault");
    run(&mut network, 3 * S);
    assert_eq!(closed(&mut network, true).expect("accounts").1, 0);
    let losses = rows(&mut network, "losses");
    let at = |reason: &str| losses.iter().find(|row| row["reason"] == reason).expect(reason).clone();
    let lost = at("link-loss");
    let place = |row: &Value| {
        ["place", "node", "to", "phb"].map(|name| row[name].as_str().unwrap_or("-").to_string())
    };
    assert_eq!(place(&lost), ["link", "r0", "r1", "EF"]);
    // A packet each millisecond, for a tenth of a second.
    assert!((99..=101).contains(&number(&lost, "packets")), "{lost}");
    assert_eq!((number(&lost, "time_ps"), &lost["tc"]), (500 * MS, &Value::Null));
    let down = at("link-down");
    assert_eq!((place(&down), number(&down, "time_ps")), (["link", "r1", "b", "EF"].map(String::from), S));
}

#[test]
fn packets_that_a_source_cannot_send_are_lost_there() {
    let mut described = two();
    let step =
        |at: u64, action: &str| json!({"at_ps": at, "action": action, "lsps": 0, "rate_per_s": 1000.0});
    described["nodes"] = json!([
        {"name": "in", "kind": "edge", "programme": [step(0, "signal"), step(S, "tear")]},
        {"name": "r", "kind": "router"},
        {"name": "out", "kind": "edge"},
    ]);
    described["links"] =
        json!([{"a": 0, "b": 1, "rate_bps": 1_000_000_000}, {"a": 1, "b": 2, "rate_bps": 1_000_000_000}]);
    described["lsps"] = json!([{"name": "l", "from": 0, "to": 2, "routes": [[1, 2]]}]);
    described["flows"] = json!([{"from": 0, "to": 2, "over": 0, "rate_bps": 1_000_000, "size": 64,
        "start_ps": 500 * MS, "stop_ps": 2 * S}]);
    let mut network = network(described);
    run(&mut network, 3 * S);
    closed(&mut network, true).expect("accounts");
    let losses = rows(&mut network, "losses");
    let unsent: Vec<_> = losses.iter().filter(|row| row["place"] == "source").collect();
    let times: Vec<u64> = unsent.iter().map(|row| number(row, "time_ps")).collect();
    assert_eq!(times, [S, 1_500 * MS]);
    assert!(unsent.iter().all(|row| row["node"] == "in" && row["reason"] == "no-route"), "{unsent:?}");
    assert_eq!(unsent.len(), losses.len());
}
