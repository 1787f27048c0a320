//! Tunnels under load: make before break, preemption, retries with back-off, and fallback routes when a link goes.

use crate::common::{MS, S, conserved, network, routers, run};
use control::rsvp::{Event, Rsvp};
use network::HopSpec;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

const MBPS: u64 = 1_000_000;

/// Two ways from r0 over r1 to r2: the link between them, or r3. And one straight from r0 over r3.
///
/// ```text
/// r0 --0-- r1 --1-- r2
///   \4      \2     /3
///    \------- r3 -/
/// ```
fn diamond(profile: Value, lsps: Value, flows: Value) -> Testbed {
    let mut nodes = routers(4, &json!({"refresh_ps": 500 * MS, "setup_timeout_ps": S}));
    nodes.iter_mut().for_each(|node| node["profile"] = profile.clone());
    let link =
        |(a, b): (usize, usize)| json!({"a": a, "b": b, "rate_bps": 100 * MBPS, "delay_ps": 200_000_000});
    let links = [(0, 1), (1, 2), (1, 3), (3, 2), (0, 3)].map(link);
    network(json!({"seed": 3, "nodes": nodes, "links": links, "lsps": lsps, "flows": flows}))
}

fn reserved(network: &Testbed, node: usize, link: usize) -> u64 {
    let built = &network.links()[link];
    let port = built.ports[usize::from(built.spec.a != node)];
    let link =
        network.protocol::<Rsvp>(node).expect("RSVP-TE").links().find(|l| l.port == port).expect("a port");
    link.reserved.iter().map(|rate| rate.0).sum()
}

fn state(network: &mut Testbed, group: usize) -> String {
    let table = network.table_json("lsps", None).expect("a table");
    let row = crate::common::column(&table, "lsps").iter().position(|g| g == group).expect("a group");
    crate::common::column(&table, "state")[row].as_str().expect("a state").to_string()
}

fn route(nodes: &[usize]) -> Option<Vec<Vec<HopSpec>>> {
    Some(vec![nodes.iter().map(|&node| HopSpec::Node(node)).collect()])
}

/// What was told of a tunnel, as (milliseconds, what).
fn told(network: &mut Testbed, name: u16) -> Vec<(u64, String)> {
    let what = |event: &base::Event| match event.of()? {
        Event::LspUp { tunnel, .. } if tunnel.id == name => Some("up".to_string()),
        Event::LspDown { tunnel, .. } if tunnel.id == name => Some("down".to_string()),
        Event::LspRerouted { tunnel, .. } if tunnel.id == name => Some("rerouted".to_string()),
        Event::LspError { tunnel, code, value, .. } if tunnel.id == name => {
            Some(format!("error {code}/{value}"))
        }
        _ => None,
    };
    network.events().iter().filter_map(|r| Some((r.at.0 / MS, what(&r.event)?))).collect()
}

fn slow() -> Value {
    json!({"control": {"path_us": 700.0, "resv_us": 900.0, "tear_us": 300.0}, "tables": {"write_us": 5_000.0}})
}

#[test]
fn make_before_break_loses_nothing_and_counts_bandwidth_once() {
    for profile in [json!({}), slow()] {
        let lsps = json!([{"name": "t", "from": 0, "to": 2, "routes": [[1, 2]], "bandwidth_bps": 80 * MBPS}]);
        let flow = json!([{"from": 0, "to": 2, "over": 0, "rate_bps": 80 * MBPS, "size": 500, "start_ps": S, "stop_ps": 7 * S}]);
        let mut network = diamond(profile, lsps, flow);
        run(&mut network, 2 * S);
        for (number, way) in [&[1, 3, 2][..], &[1, 2], &[3, 2], &[1, 3, 2]].into_iter().enumerate() {
            network.lsp_command(0, "route", route(way)).expect("a command");
            let start = network.world().now().0;
            // Old and new LSP share links: 80 of 100 Mbit/s twice would not fit.
            for step in 1..=1_000 {
                run(&mut network, start + step * MS);
                for node in 0..4 {
                    for link in network.protocol::<Rsvp>(node).expect("RSVP-TE").links() {
                        let all: u64 = link.reserved.iter().map(|rate| rate.0).sum();
                        assert!(all == 0 || all == 80 * MBPS, "r{node} {:?}: {all} reserved", link.port);
                    }
                }
            }
            assert_eq!(told(&mut network, 1).iter().filter(|t| t.1 == "rerouted").count(), number + 1);
        }
        network.lsp_command(0, "reoptimise", None).expect("a command");
        run(&mut network, 8 * S);
        // Only the last way holds anything, and every packet has arrived, once.
        let held: Vec<u64> =
            [(0, 0), (1, 1), (1, 2), (3, 3), (0, 4)].map(|(n, l)| reserved(&network, n, l)).to_vec();
        assert_eq!(held, [80 * MBPS, 0, 80 * MBPS, 80 * MBPS, 0]);
        assert_eq!(
            told(&mut network, 1).iter().map(|t| t.1.as_str()).collect::<Vec<_>>(),
            ["up", "rerouted", "rerouted", "rerouted", "rerouted", "rerouted"]
        );
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert!(sent == received && sent > 100_000, "{received} of {sent}");
        let streams = network.table_json("streams", None).expect("a table");
        assert_eq!(crate::common::sum(&streams, "duplicated"), 0);
    }
}

#[test]
fn fixed_filter_shares_nothing() {
    let lsp = json!([{"name": "t", "from": 0, "to": 2, "routes": [[1, 2]], "bandwidth_bps": 80 * MBPS, "style": "fixed-filter"}]);
    let flow = json!([{"from": 0, "to": 2, "over": 0, "rate_bps": 10 * MBPS, "size": 500, "start_ps": S, "stop_ps": 3 * S}]);
    let mut network = diamond(json!({}), lsp, flow);
    run(&mut network, 2 * S);
    network.lsp_command(0, "route", route(&[1, 3, 2])).expect("a command");
    run(&mut network, 5 * S);
    // There is no room for both on the first link, so the old one stays (RFC 3209, 2.4.3).
    assert_eq!(state(&mut network, 0), "up");
    assert_eq!((reserved(&network, 1, 1), reserved(&network, 1, 2)), (80 * MBPS, 0));
    let told = told(&mut network, 1);
    assert!(told.iter().skip(1).all(|t| t.1 == "error 1/2"), "{told:?}");
    assert_eq!(conserved(&mut network).map(|(sent, received)| sent - received), Ok(0));
}

#[test]
fn the_stronger_preempts_and_the_weaker_comes_back() {
    let lsp = |name: &str, bandwidth: u64, priority: u8, auto: bool| {
        json!({"name": name, "from": 0, "to": 2, "routes": [[1, 2]], "bandwidth_bps": bandwidth * MBPS, "setup_priority": priority,
               "holding_priority": priority, "retry_first_ps": 100 * MS, "retry_max_ps": 400 * MS, "auto": auto})
    };
    let lsps = json!([lsp("weak", 60, 7, true), lsp("middle", 30, 5, true), lsp("strong", 70, 2, false)]);
    let mut network = diamond(json!({}), lsps, json!([]));
    run(&mut network, S);
    assert_eq!((state(&mut network, 0), reserved(&network, 0, 0)), ("up".into(), 90 * MBPS));
    network.lsp_command(2, "signal", None).expect("a command");
    run(&mut network, 3 * S);
    // The weakest makes room; the one in the middle need not.
    let states: Vec<String> = (0..3).map(|group| state(&mut network, group)).collect();
    assert_eq!(states, ["down", "up", "up"]);
    assert_eq!((reserved(&network, 0, 0), reserved(&network, 1, 1)), (100 * MBPS, 100 * MBPS));
    let weak = told(&mut network, 1);
    assert!(weak.iter().any(|t| t.1 == "down"), "{weak:?}");
    assert_eq!(told(&mut network, 2).len(), 1);
    network.lsp_command(2, "tear", None).expect("a command");
    run(&mut network, 5 * S);
    assert_eq!((state(&mut network, 0), reserved(&network, 0, 0)), ("up".into(), 90 * MBPS));
}

#[test]
fn a_head_end_tries_again_after_ever_longer_times() {
    let lsp = |limit: Value| {
        json!([{"name": "t", "from": 0, "to": 2, "routes": [[1, 2]], "bandwidth_bps": 120 * MBPS, "retry_first_ps": 100 * MS,
                "retry_max_ps": 1_600 * MS, "retry_limit": limit}])
    };
    let mut network = diamond(json!({}), lsp(json!(null)), json!([]));
    run(&mut network, 20 * S);
    let told_of = told(&mut network, 1);
    assert!(told_of.iter().all(|t| t.1 == "error 1/2"), "{told_of:?}");
    let gaps: Vec<u64> = told_of.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(gaps.len() >= 12, "{gaps:?}");
    for (number, gap) in gaps.iter().enumerate() {
        // Twice as long each time, up to the longest, and a quarter less or more; a millisecond for rounding.
        let nominal = (100u64 << number.min(10)).min(1_600);
        assert!(
            (nominal * 3 / 4 - 1..=nominal * 5 / 4 + 2).contains(gap),
            "gap {number}: {gap} ms of {nominal}"
        );
    }
    assert!(gaps[5..].windows(2).any(|w| w[0] != w[1]), "jitter: {gaps:?}");

    let mut network = diamond(json!({}), lsp(json!(3)), json!([]));
    run(&mut network, 20 * S);
    assert_eq!(told(&mut network, 1).len(), 4, "one attempt and three retries");
}

#[test]
fn a_cut_link_moves_the_lsp_to_its_fallback_route() {
    // Beside the head end, then further on: the head end learns by its port, or by a PathErr.
    for cut in [0, 1] {
        let lsp = json!([{"name": "t", "from": 0, "to": 2, "routes": [[1, 2], [3, 2]], "bandwidth_bps": 10 * MBPS, "retry_first_ps": 50 * MS}]);
        let flow = json!([{"from": 0, "to": 2, "over": 0, "rate_bps": 10 * MBPS, "size": 500, "start_ps": S, "stop_ps": 6 * S}]);
        let mut network = diamond(json!({}), lsp, flow);
        run(&mut network, 2 * S);
        network.set_link(cut, false).expect("a link");
        run(&mut network, 3 * S);
        let told_so_far = told(&mut network, 1);
        let whats: Vec<&str> =
            told_so_far.iter().map(|t| t.1.as_str()).filter(|w| !w.starts_with("error")).collect();
        assert_eq!(whats, ["up", "down", "up"], "link {cut}: {told_so_far:?}");
        let back = told_so_far.last().expect("an event").0;
        assert!(back <= 2_005, "link {cut}: up again at {back} ms");
        assert_eq!(
            (reserved(&network, 0, 0), reserved(&network, 0, 4), reserved(&network, 3, 3)),
            (0, 10 * MBPS, 10 * MBPS)
        );
        // Repaired, it stays where it is until it is told to prefer the first route again; then it moves without loss.
        network.set_link(cut, true).expect("a link");
        run(&mut network, 3_900 * MS);
        let sent: u64 =
            network.generator(0).expect("sources").sources().iter().map(|source| source.total()).sum();
        run(&mut network, 4 * S);
        let stats = network.sink(2).and_then(|sink| sink.stream(base::StreamId(0))).expect("a stream");
        let lost = stats.sequence.missing(0, sent);
        assert!((1..30).contains(&lost), "link {cut}: {lost} of {sent} lost");
        network.lsp_command(0, "reoptimise", None).expect("a command");
        run(&mut network, 8 * S);
        assert_eq!(told(&mut network, 1).last().map(|t| t.1.as_str()), Some("rerouted"), "link {cut}");
        assert_eq!((reserved(&network, 0, 0), reserved(&network, 0, 4)), (10 * MBPS, 0));
        assert_eq!(conserved(&mut network).map(|(sent, received)| sent - received), Ok(lost), "link {cut}");
    }
}

#[test]
fn refreshes_keep_lsps_up_whatever_their_period() {
    for (period, reduction) in
        [(20, true), (20, false), (100, true), (100, false), (1_000, true), (30_000, true)]
    {
        let rsvp = json!({"refresh_ps": period * MS, "refresh_reduction": reduction});
        let mut network = network(json!({
            "seed": 1, "nodes": routers(4, &rsvp), "links": crate::common::chain(4, 100 * MBPS, MS),
            "lsps": [{"name": "t", "from": 0, "to": 3, "count": 50, "routes": [[1, 2, 3]], "record_labels": true}],
        }));
        run(&mut network, 10 * period * MS);
        let downs =
            network.events().iter().filter(|e| matches!(e.event.of(), Some(Event::LspDown { .. }))).count();
        assert_eq!(downs, 0, "refreshed every {period} ms, refresh reduction {reduction}");
        assert_eq!(network.protocol::<Rsvp>(1).expect("RSVP-TE").audit().lsps, 50);
    }
}
