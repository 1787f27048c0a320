//! The recorded inputs of a router, given to a fresh one, make the same outputs at the same times and leave the same
//! tables.

use crate::common::{MS, S, network, routers, run};
use base::plane::NextHop;
use base::{Command, Device, NodeId, Time};
use control::rsvp::Rsvp;
use node::Router;
use serde_json::json;
use twinplane_tester::Testbed;

fn ring(slow: bool) -> Testbed {
    let mut nodes =
        routers(4, &json!({"refresh_ps": 200 * MS, "refresh_reduction": true, "hello_ps": 50 * MS}));
    if slow {
        let profile = json!({
            "forwarding": {"latency_ns": 20_000.0, "latency_ns_per_byte": 2.0, "packets_per_s_max": 200_000.0},
            "control": {"path_us": 300.0, "resv_us": 500.0, "per_state_ns": 100.0, "queue_messages": 20},
            "tables": {"write_us": 400.0},
        });
        nodes.iter_mut().for_each(|node| node["profile"] = profile.clone());
    }
    let link = |(a, b): (usize, usize)| json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS});
    let links = [(0, 1), (1, 2), (2, 3), (3, 0)].map(link);
    let mut network = network(json!({
        "seed": 5, "nodes": nodes, "links": links,
        "lsps": [
            {"name": "a", "from": 0, "to": 2, "count": 20, "routes": [[1, 2], [3, 2]], "retry_first_ps": 20 * MS},
            {"name": "b", "from": 1, "to": 3, "count": 5, "routes": [[2, 3]], "bandwidth_bps": 15_000_000},
        ],
        "flows": [
            {"from": 0, "to": 2, "over": 0, "rate_bps": 5_000_000, "size": 200, "arrivals": "poisson"},
            {"from": 1, "to": 3, "over": 1, "rate_bps": 2_000_000, "size": 900},
        ],
    }));
    for fault in [
        json!({"at": 300 * MS, "until": 600 * MS, "fault": "loss", "link": 0, "probability": 0.3}),
        json!({"at": 700 * MS, "until": 900 * MS, "fault": "link-down", "link": 1}),
        json!({"at": 1_000 * MS, "fault": "node-restart", "node": 2, "down_for": 100 * MS}),
    ] {
        network.fault(serde_json::from_value(fault).expect("a fault")).expect("a fault");
    }
    network
}

/// A router as the builder made it.
fn fresh(made: &Router) -> Router {
    let mut router = Router::new(made.config().clone());
    let routes: Vec<_> = made.forwarding().fib().map(|row| (row.prefix, row.next_hop)).collect();
    for (prefix, next_hop) in routes {
        // What is connected or its own it knows by itself.
        if matches!(next_hop, NextHop::Via { gateway, .. } if !gateway.is_unspecified()) {
            router.handle_command(Time::ZERO, Command::RouteSet { prefix, next_hop });
        }
    }
    if let Some(source) = made.forwarding().source() {
        router.set_unwritten(source.clone());
    }
    router
}

fn speaker(router: &Router) -> &Rsvp {
    router.control().protocol().expect("a router that speaks RSVP-TE")
}

fn replayed(slow: bool) {
    let untouched = ring(slow);
    for node in 0..4 {
        let mut network = ring(slow);
        network.world_mut().record(NodeId(node)).expect("a router");
        run(&mut network, 2 * S);
        let recording =
            network.world_mut().take_recording(NodeId(node)).expect("memory").expect("a recording");
        assert!(recording.outputs > 500, "r{node}: {} outputs", recording.outputs);
        // Through its file and back.
        let text = serde_json::to_string(&recording).expect("JSON");
        let recording: engine::Recording = serde_json::from_str(&text).expect("a recording");
        let copy = fresh(untouched.router(node as usize).expect("a router"));
        let replay = engine::replay(Box::new(copy), &recording);
        assert_eq!(replay.outputs.len() as u64, recording.outputs, "r{node}");
        assert_eq!(replay.digest, recording.digest, "r{node}");
        assert!(replay.same, "r{node}");
        let device: Box<dyn core::any::Any> = replay.device;
        let copy = device.downcast::<Router>().expect("a router");
        let original = network.router(node as usize).expect("a router");
        let tables = |router: &Router| {
            let (fib, ilm, ftn) =
                (router.forwarding().fib(), router.forwarding().ilm(), router.forwarding().ftn());
            format!(
                "{:?} {:?} {:?}",
                fib.collect::<Vec<_>>(),
                ilm.collect::<Vec<_>>(),
                ftn.collect::<Vec<_>>()
            )
        };
        assert_eq!(tables(&copy), tables(original), "r{node}");
        assert_eq!(copy.drops(), original.drops(), "r{node}");
        assert_eq!(speaker(&copy).audit(), speaker(original).audit(), "r{node}");
        let lsps = |router: &Router| speaker(router).lsps().collect::<Vec<_>>();
        assert_eq!(lsps(&copy), lsps(original), "r{node}");
    }
}

#[test]
fn an_ideal_router_is_a_function_of_its_inputs() {
    replayed(false);
}

#[test]
fn so_is_a_slow_one() {
    replayed(true);
}

/// A writer whose bytes can be read while somebody else holds it.
#[derive(Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_makes_the_network_again() {
    let description = json!({
        "nodes": routers(2, &json!({"refresh_ps": 200 * MS})), "links": crate::common::chain(2, 1_000_000_000, MS),
        "lsps": [{"name": "a", "from": 0, "to": 1, "count": 3}],
    });
    let mut network = network(description.clone());
    let shared = Shared::default();
    let described = testing::described(&description);
    let subject = json!({"name": "r1", "description": described, "placement": null});
    let to = engine::RecordTo { name: "memory".into(), out: Box::new(shared.clone()), subject };
    network.world_mut().record_to(NodeId(1), to).expect("a recording");
    run(&mut network, S);
    network.world_mut().take_recording(NodeId(1)).expect("a recording");
    let bytes = shared.0.lock().expect("one thread").clone();
    let (mut again, summary) = Testbed::replayed(&bytes[..]).expect("a replay");
    assert!(summary.same && summary.node == 1 && summary.outputs > 10, "{summary:?}");
    for table in ["ilm", "fib", "lsps", "counters"] {
        let (made, found) = (network.table_json(table, Some(1)), again.table_json(table, Some(1)));
        assert_eq!(made.expect("a table"), found.expect("a table"), "{table}");
    }
    assert!(
        Testbed::replayed(&b"{}\n"[..])
            .err()
            .expect("a refusal")
            .to_string()
            .starts_with("recording: line 1")
    );
}
