//! How fast the longest prefixes of random destinations are found in a large table, of IPv4 and of IPv6.
//!
//! Prefixes have the lengths that those of the Internet have, at random addresses, and 64 next hops; each destination
//! is a random address of a random prefix. Destinations are looked up 64 at a time and, of IPv4, one by one. Then, as
//! the programs beside do it, a prefix is withdrawn or announced again between two batches of 64, and the time of each
//! such update is taken. A table of 10,000 prefixes is measured in bytes, before a packet has taken any. Prints one
//! JSON line: medians of the rounds.
//!
//! `--write FOLDER` writes the files `ipv4` and `ipv6` instead, for other tables to be fed with: the numbers of
//! prefixes and of destinations (8 bytes each, the lowest first), then for each prefix its address as it is in packets,
//! its length and its next hop (a byte each), then the addresses of the destinations.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_fib -- [--prefixes 1000000] [--prefixes6 200000]
//! [--rounds 9] [--write FOLDER]`

use base::plane::{NextHop, PortConfig, Prefix, Prefix6, TableError, TableOp};
use base::{MacAddr, NodeId, PortId};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};

/// Counts bytes that are in use.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as it was asked for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as it was asked for.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as it was given.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BATCH: usize = 64;
/// Look-ups that are timed together.
const PIECE: usize = 1 << 13;
/// Destinations, which are looked up in turn.
const DESTINATIONS: usize = 1 << 20;
/// Updates of a round, each followed by a batch.
const UPDATES: usize = 20_000;
const HOPS: u64 = 64;
const OUT: PortId = PortId(0);

/// Of 10,000 prefixes so many have a length, as in the tables of the Internet in 2024; those longer than 24 bits are
/// of the network itself.
const LENGTHS: [(u8, u64); 25] = [
    (24, 5_891),
    (22, 1_110),
    (23, 990),
    (21, 500),
    (20, 450),
    (19, 260),
    (18, 140),
    (17, 80),
    (16, 140),
    (15, 20),
    (14, 12),
    (13, 6),
    (12, 3),
    (11, 1),
    (10, 1),
    (9, 1),
    (8, 1),
    (25, 50),
    (26, 50),
    (27, 50),
    (28, 50),
    (29, 50),
    (30, 45),
    (31, 10),
    (32, 89),
];
/// The same of IPv6.
const LENGTHS6: [(u8, u64); 12] = [
    (48, 4_700),
    (32, 1_250),
    (40, 1_000),
    (44, 950),
    (46, 350),
    (47, 250),
    (36, 450),
    (33, 300),
    (42, 250),
    (29, 200),
    (64, 200),
    (128, 100),
];
/// Where registries have given addresses to networks: first 16 bits, and how many of them are fixed.
const REGISTRIES6: [(u16, u8); 6] =
    [(0x2001, 16), (0x2400, 12), (0x2600, 12), (0x2800, 12), (0x2a00, 11), (0x2c00, 12)];
/// Networks of IPv6 that have got an allocation of 32 bits each.
const ALLOCATIONS6: u64 = 30_000;

/// Numbers that look like chance, and are always the same.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn length(&mut self, lengths: &[(u8, u64)]) -> u8 {
        let mut left = self.below(lengths.iter().map(|(_, count)| count).sum());
        for (len, count) in lengths {
            match left.checked_sub(*count) {
                Some(less) => left = less,
                None => return *len,
            }
        }
        24
    }

    /// Elements in random order.
    fn shuffled<T>(&mut self, elements: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut all: Vec<T> = elements.into_iter().collect();
        (1..all.len()).for_each(|i| all.swap(i, self.below(i as u64 + 1) as usize));
        all
    }
}

fn prefixes(count: usize) -> Vec<Prefix> {
    let (mut drawn, mut all) = (Drawn(4), BTreeSet::new());
    while all.len() < count {
        // Addresses of hosts: 1.0.0.0 to 223.255.255.255.
        let address = (1 << 24) + drawn.below(223 << 24) as u32;
        all.insert(Prefix::new(Ipv4Addr::from_bits(address), drawn.length(&LENGTHS)));
    }
    drawn.shuffled(all)
}

fn destinations(prefixes: &[Prefix]) -> Vec<Ipv4Addr> {
    let mut drawn = Drawn(44);
    let mut one = || {
        let prefix = prefixes[drawn.below(prefixes.len() as u64) as usize];
        let host = (drawn.next() as u32).checked_shr(prefix.len().into()).unwrap_or(0);
        Ipv4Addr::from_bits(prefix.address().to_bits() | host)
    };
    (0..DESTINATIONS).map(|_| one()).collect()
}

fn prefixes6(count: usize) -> Vec<Prefix6> {
    let (mut drawn, mut all) = (Drawn(6), BTreeSet::new());
    while all.len() < count {
        let mut allocation = Drawn(drawn.below(ALLOCATIONS6));
        let (first, fixed) = REGISTRIES6[allocation.below(REGISTRIES6.len() as u64) as usize];
        let network = u128::from(first) << 112 | u128::from(allocation.next() as u32 >> fixed) << 96;
        let address = network | (u128::from(drawn.next()) << 64 | u128::from(drawn.next())) >> 32;
        all.insert(Prefix6::new(Ipv6Addr::from_bits(address), drawn.length(&LENGTHS6)));
    }
    drawn.shuffled(all)
}

fn destinations6(prefixes: &[Prefix6]) -> Vec<Ipv6Addr> {
    let mut drawn = Drawn(66);
    let mut one = || {
        let prefix = prefixes[drawn.below(prefixes.len() as u64) as usize];
        let random = u128::from(drawn.next()) << 64 | u128::from(drawn.next());
        let host = random.checked_shr(prefix.len().into()).unwrap_or(0);
        Ipv6Addr::from_bits(prefix.address().to_bits() | host)
    };
    (0..DESTINATIONS).map(|_| one()).collect()
}

/// The next hop of a prefix, by its place.
fn hop(place: usize) -> u8 {
    Drawn(place as u64).below(HOPS) as u8
}

fn via(place: usize) -> NextHop {
    NextHop::Via { port: OUT, gateway: IpAddr::V4(Ipv4Addr::new(10, 0, 0, hop(place))) }
}

/// The next hop, as a number, of an entry.
fn hop_of(found: Option<base::plane::Nhlfe>) -> u64 {
    match found.map(|nhlfe| nhlfe.next_hop) {
        Some(NextHop::Via { gateway: IpAddr::V4(gateway), .. }) => u64::from(gateway.octets()[3]),
        _ => 0,
    }
}

fn set(prefix: Prefix, next_hop: NextHop) -> TableOp {
    TableOp::RouteSet { prefix, next_hop }
}

fn set6(prefix: Prefix6, next_hop: NextHop) -> TableOp {
    TableOp::Route6Set { prefix, next_hop }
}

fn tables<P: Copy>(all: &[P], set: fn(P, NextHop) -> TableOp) -> Result<Forwarding, TableError> {
    let mut tables = Forwarding::new(Config::default());
    let config = PortConfig { mac: MacAddr::of_port(NodeId(1), OUT), mtu: 1500, up: true };
    tables.apply(&TableOp::PortSet { port: OUT, config })?;
    for (place, prefix) in all.iter().enumerate() {
        tables.apply(&set(*prefix, via(place)))?;
    }
    Ok(tables)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Adds the nanoseconds of look-ups, in pieces: what else the machine does spoils some of them and not the median.
fn pieces<A>(to: &[A], spans: &mut Vec<f64>, mut look_up: impl FnMut(&[A])) {
    for piece in to.chunks_exact(PIECE) {
        let begin = Instant::now();
        look_up(piece);
        spans.push(begin.elapsed().as_nanos() as f64);
    }
}

/// Millions of look-ups each second.
fn rate(spans: Vec<f64>) -> f64 {
    PIECE as f64 / median(spans) * 1e3
}

/// Look-ups in batches.
fn bulk<A>(to: &[A], spans: &mut Vec<f64>, find: impl Fn(&[A], &mut [u32])) {
    let mut found = [0; BATCH];
    pieces(to, spans, |to| {
        for to in to.chunks_exact(BATCH) {
            find(to, &mut found);
            black_box(&found);
        }
    });
}

/// Microseconds of each update, while destinations are looked up.
fn updates<P: Copy, A>(
    tables: &mut Forwarding,
    (all, to): (&[P], &[A]),
    round: usize,
    set: fn(P, NextHop) -> TableOp,
    remove: fn(P) -> TableOp,
    find: fn(&Forwarding, &[A], &mut [u32]),
) -> Result<Vec<f64>, TableError> {
    let (mut drawn, mut found, mut took) = (Drawn(round as u64), [0; BATCH], Vec::with_capacity(UPDATES));
    for _ in 0..UPDATES / 2 {
        let place = drawn.below(all.len() as u64) as usize;
        for op in [remove(all[place]), set(all[place], via(place))] {
            let begin = Instant::now();
            tables.apply(&op)?;
            took.push(begin.elapsed().as_nanos() as f64 / 1e3);
            let first = drawn.below((to.len() - BATCH) as u64) as usize;
            find(tables, &to[first..first + BATCH], &mut found);
            black_box(&found);
        }
    }
    Ok(took)
}

/// The value below which a share of all is.
fn quantile(all: &mut [f64], share: f64) -> f64 {
    all.sort_by(f64::total_cmp);
    all[((all.len() as f64 * share) as usize).min(all.len() - 1)]
}

fn measure(counts: (usize, usize), rounds: usize) -> Result<String, TableError> {
    let all = prefixes(counts.0);
    let to = destinations(&all);
    let before = USED.load(Ordering::Relaxed);
    let mut v4 = tables(&all, set)?;
    let bytes = (USED.load(Ordering::Relaxed) - before) as f64 / all.len() as f64;
    let all6 = prefixes6(counts.1);
    let to6 = destinations6(&all6);
    let before = USED.load(Ordering::Relaxed);
    let mut v6 = tables(&all6, set6)?;
    let bytes6 = (USED.load(Ordering::Relaxed) - before) as f64 / all6.len() as f64;
    let before = USED.load(Ordering::Relaxed);
    let small = tables(&prefixes(10_000), set)?;
    let small_kb = (USED.load(Ordering::Relaxed) - before) as f64 / 1e3;
    drop(small);
    let find = |tables: &Forwarding, to: &[Ipv4Addr], found: &mut [u32]| tables.find_prefixes(to, found);
    let find6 = |tables: &Forwarding, to: &[Ipv6Addr], found: &mut [u32]| tables.find_prefixes6(to, found);
    let [mut one, mut many, mut many6, mut took, mut took6] = [const { Vec::new() }; 5];
    // The first round warms the caches and is not counted.
    for round in 0..=rounds {
        if round == 1 {
            [&mut one, &mut many, &mut many6].into_iter().for_each(Vec::clear);
        }
        pieces(&to, &mut one, |to| {
            to.iter().for_each(|to| {
                black_box(v4.find_prefix(*to));
            })
        });
        bulk(&to, &mut many, |to, found| find(&v4, to, found));
        bulk(&to6, &mut many6, |to, found| find6(&v6, to, found));
    }
    let remove = |prefix| TableOp::RouteRemove { prefix };
    let remove6 = |prefix| TableOp::Route6Remove { prefix };
    for round in 0..=rounds {
        let changed = updates(&mut v4, (&all, &to), round, set, remove, find)?;
        let changed6 = updates(&mut v6, (&all6, &to6), round, set6, remove6, find6)?;
        if round > 0 {
            took.extend(changed);
            took6.extend(changed6);
        }
    }
    let check: u64 = to.iter().map(|to| hop_of(v4.route_local(*to))).sum();
    let check6: u64 = to6.iter().map(|to| hop_of(v6.route_local6(*to))).sum();
    Ok(format!(
        "{{\"prefixes\":{},\"prefixes6\":{},\"ipv4_mlps\":{:.1},\"ipv4_single_mlps\":{:.1},\"ipv6_mlps\":{:.1},\
         \"update_p50_us\":{:.2},\"update_p999_us\":{:.2},\"update6_p50_us\":{:.2},\"update6_p999_us\":{:.2},\
         \"bytes_per_prefix\":{bytes:.1},\"bytes_per_prefix6\":{bytes6:.1},\"small_kb\":{small_kb:.1},\
         \"check\":{check},\"check6\":{check6}}}",
        counts.0,
        counts.1,
        rate(many),
        rate(one),
        rate(many6),
        quantile(&mut took, 0.5),
        quantile(&mut took, 0.999),
        quantile(&mut took6, 0.5),
        quantile(&mut took6, 0.999),
    ))
}

fn write(folder: &Path, counts: (usize, usize)) -> std::io::Result<()> {
    let all = prefixes(counts.0);
    let bytes = all.iter().map(|prefix| (prefix.address().octets().to_vec(), prefix.len()));
    let to = destinations(&all).into_iter().map(|to| to.octets().to_vec());
    std::fs::write(folder.join("ipv4"), file(bytes.collect(), to.collect()))?;
    let all = prefixes6(counts.1);
    let bytes = all.iter().map(|prefix| (prefix.address().octets().to_vec(), prefix.len()));
    let to = destinations6(&all).into_iter().map(|to| to.octets().to_vec());
    std::fs::write(folder.join("ipv6"), file(bytes.collect(), to.collect()))
}

fn file(prefixes: Vec<(Vec<u8>, u8)>, to: Vec<Vec<u8>>) -> Vec<u8> {
    let counts = [prefixes.len(), to.len()].into_iter().flat_map(|count| (count as u64).to_le_bytes());
    let mut bytes: Vec<u8> = counts.collect();
    for (place, (address, len)) in prefixes.into_iter().enumerate() {
        bytes.extend(address);
        bytes.extend([len, hop(place)]);
    }
    bytes.extend(to.into_iter().flatten());
    bytes
}

fn main() -> ExitCode {
    let (mut counts, mut rounds, mut folder) = ((1_000_000, 200_000), 9, None);
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let text = args.next().unwrap_or_default();
        let value: Option<usize> = text.parse().ok();
        match (name.as_str(), value) {
            ("--prefixes", Some(value @ 1..=4_000_000)) => counts.0 = value,
            ("--prefixes6", Some(value @ 1..=4_000_000)) => counts.1 = value,
            ("--rounds", Some(value @ 1..=1000)) => rounds = value,
            ("--write", _) if !text.is_empty() => folder = Some(text),
            _ => {
                eprintln!(
                    "bench_fib: {name}: --prefixes or --prefixes6 1 to 4000000, --rounds 1 to 1000, --write FOLDER"
                );
                return ExitCode::from(2);
            }
        }
    }
    let done = match folder {
        Some(folder) => write(Path::new(&folder), counts).map_err(|error| error.to_string()),
        None => measure(counts, rounds).map(|line| println!("{line}")).map_err(|error| error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench_fib: {message}");
            ExitCode::from(1)
        }
    }
}
