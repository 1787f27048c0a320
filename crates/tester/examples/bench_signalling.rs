//! What an explicitly routed LSP takes at each node of its way, in bytes and in time.
//!
//! `--workload FILE`: a network and its LSPs, as `benches/signalling.py` writes them. All nodes are routers, and the
//! head ends are told of a thousand LSPs every 20 ms. An LSP-hop is an LSP at a node, head end and tail end included.
//! Bytes are those that the program asks for, so that neither the machine nor its allocator matters:
//! `bytes_per_lsp_hop` are those of signalling, `added_bytes_per_lsp_hop` what the network keeps of what was asked for.
//! Time is that of the signalling alone. Prints one line of JSON; exit code 1 if an LSP is not held by all of its
//! nodes.

use base::Time;
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const MS: u64 = 1_000_000_000;
/// How many LSPs the head ends are told of at once, and for how long these are signalled before the next.
const BATCH: usize = 1_000;
const BATCH_MS: u64 = 20;

/// Counts the bytes in use.
struct Counting;
static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A network, and LSPs by the nodes of their ways.
#[derive(Default)]
struct Workload {
    nodes: usize,
    links: Vec<Value>,
    ways: Vec<Vec<usize>>,
}

impl Workload {
    fn read(text: &str) -> Workload {
        let mut read = Workload::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let kind = words.next();
            let numbers: Vec<usize> = words.map(|word| word.parse().expect("a number")).collect();
            match (kind, &*numbers) {
                (Some("nodes"), &[nodes]) => read.nodes = nodes,
                (Some("link"), &[a, b, rate, delay]) => {
                    read.links.push(json!({"a": a, "b": b, "rate_bps": rate, "delay_ps": delay}));
                }
                (Some("lsp"), _) => read.ways.push(numbers),
                _ => panic!("neither nodes, nor a link, nor an LSP: {line}"),
            }
        }
        read
    }
}

/// Seconds, and bytes that came into use meanwhile.
#[derive(Default)]
struct Spent {
    seconds: f64,
    bytes: isize,
}

impl Spent {
    /// Adds what `work` takes.
    fn on<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (clock, before) = (Instant::now(), IN_USE.load(Relaxed));
        let done = work();
        self.seconds += clock.elapsed().as_secs_f64();
        self.bytes += IN_USE.load(Relaxed) as isize - before as isize;
        done
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|p| arguments.get(p + 1));
    let path = value("--workload").expect("--workload FILE");
    let workload = Workload::read(&std::fs::read_to_string(path).expect("a workload"));
    let node = |i: usize| json!({"name": format!("n{i}"), "kind": "router"});
    let nodes: Vec<Value> = (0..workload.nodes).map(node).collect();
    let description = json!({"seed": 1, "nodes": nodes, "links": workload.links, "phases_ps": [0]});
    let names = testing::Indexed::of(&description);
    let [mut built, mut added, mut signalled] = [(); 3].map(|()| Spent::default());
    let mut network = built.on(|| {
        let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
        let mut network = Testbed::new(&file).expect("a network");
        network.world_mut().run_until(Time(MS - 1)).expect("a start");
        network
    });
    for (place, batch) in workload.ways.chunks(BATCH).enumerate() {
        for (i, way) in batch.iter().enumerate() {
            let (name, to) = (format!("l{}", place * BATCH + i), way[way.len() - 1]);
            let lsp = names.lsp(&json!({"name": name, "from": way[0], "to": to, "routes": [&way[1..]]}));
            added.on(|| {
                let lsp = network.read_lsp(&lsp).expect("an LSP");
                network.add_lsp(lsp).expect("an LSP");
            });
        }
        let end = Time((1 + (place as u64 + 1) * BATCH_MS) * MS - 1);
        signalled.on(|| network.world_mut().run_until(end)).expect("signalling");
    }
    let states = |i| network.router(i).map_or(0, |router| router.control().state_count());
    let held: usize = (0..workload.nodes).map(states).sum();
    let hops: usize = workload.ways.iter().map(Vec::len).sum();
    let each = |value: f64| value / hops as f64;
    let result = json!({
        "lsps": workload.ways.len(), "lsp_hops": hops, "held": held,
        "build_s": built.seconds, "add_s": added.seconds, "signal_s": signalled.seconds,
        "built_bytes": built.bytes,
        "added_bytes_per_lsp_hop": each(added.bytes as f64),
        "bytes_per_lsp_hop": each(signalled.bytes as f64),
        "us_per_lsp_hop": each(signalled.seconds * 1e6),
        "digest": network.world().digest().to_string(),
    });
    println!("{result}");
    if held != hops {
        eprintln!("error: {held} of {hops} blocks of state are held");
        std::process::exit(1);
    }
}
