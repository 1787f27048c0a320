//! RSVP-TE LSPs set up end to end through three transit routers, and the memory that they take.
//!
//! `--lsps N [--refresh-reduction]`: N LSPs from one emulated edge to another through three routers; prints LSPs per
//! second (of the clock, and of the processor, which other work on the machine does not change) and bytes per LSP and
//! hop. `--hold N`: the same for as many LSPs as asked for, all held at once by each transit router.
//! `--without-adspec`: Paths carry no ADSPEC. One line of JSON.

use base::Time;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Counts the bytes in use.
struct Counting;
static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Seconds that this process has had of the processor; none where the system does not say.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e9)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse::<u64>().ok())
    };
    let reduction = arguments.iter().any(|a| a == "--refresh-reduction");
    let hold = value("--hold");
    let lsps = hold.or(value("--lsps")).unwrap_or(100_000);
    // A pair of edges has 65,535 tunnels at the most: as many pairs as it takes, around the same three routers.
    let pairs = lsps.div_ceil(50_000).max(1) as usize;
    let each = lsps / pairs as u64;
    let adspec = !arguments.iter().any(|a| a == "--without-adspec");
    let rsvp =
        json!({"refresh_reduction": reduction, "adspec": adspec, "refresh_ps": 3_600_000_000_000_000u64});
    let edge =
        |name: String, programme| json!({"name": name, "kind": "edge", "rsvp": rsvp, "programme": programme});
    let mut nodes: Vec<_> =
        (0..3).map(|i| json!({"name": format!("r{i}"), "kind": "router", "rsvp": rsvp})).collect();
    let mut links = vec![(0, 1), (1, 2)];
    let mut groups = Vec::new();
    for pair in 0..pairs {
        let (ingress, egress) = (nodes.len(), nodes.len() + 1);
        let programme = json!([{"at_ps": 1_000_000_000_000u64, "action": "signal", "lsps": pair, "rate_per_s": 50_000.0}]);
        nodes.push(edge(format!("in{pair}"), programme));
        nodes.push(edge(format!("out{pair}"), json!([])));
        links.extend([(ingress, 0), (2, egress)]);
        groups.push(json!({"name": format!("lsp{pair}-"), "from": ingress, "to": egress, "count": each, "routes": [[0, 1, 2, egress]]}));
    }
    let link = |&(a, b): &(usize, usize)| json!({"a": a, "b": b, "rate_bps": 100_000_000_000u64, "delay_ps": 1_000_000});
    let links: Vec<_> = links.iter().map(link).collect();
    let description = json!({"seed": 1, "nodes": nodes, "links": links, "lsps": groups});
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.world_mut().run_until(Time(999_000_000_000)).expect("a start");
    let before = IN_USE.load(Ordering::Relaxed);
    let (clock, processor) = (Instant::now(), processor_seconds());
    let end = 1_000_000_000_000 + each * 20_000_000 + 1_000_000_000_000;
    network.world_mut().run_until(Time(end)).expect("signalling");
    let seconds = clock.elapsed().as_secs_f64();
    let processor = processor.zip(processor_seconds()).map(|(from, to)| to - from);
    let bytes = IN_USE.load(Ordering::Relaxed) - before;
    let first_edge = 3;
    let up: usize =
        (0..pairs).filter_map(|p| network.edge(first_edge + 2 * p)).map(|e| e.tunnel_counts().1).sum();
    let held: Vec<usize> =
        (0..3).filter_map(|r| network.router(r)).map(|r| r.control().state_count()).collect();
    let result = json!({
        "lsps_per_s": up as f64 / seconds,
        "bytes_per_lsp_hop": bytes as f64 / (up.max(1) * 5) as f64,
        "up": up,
        "held": held.iter().min(),
        "seconds": seconds,
        "processor_seconds": processor,
        "lsps_per_processor_s": processor.map(|seconds| up as f64 / seconds),
        "refresh_reduction": reduction,
        "adspec": adspec,
    });
    println!("{result}");
}
