//! Paths under constraints on a database of 10,000 routers and 50,000 links between two of them, each direction with
//! what is left of 10 Gbit/s.
//!
//! `--routers N`, `--links N`, `--paths N`: how many; of the paths, between routers drawn at random. One line of JSON:
//! microseconds for a path (least, median, 99 % and most), for one that is looked for right after a link has changed,
//! and milliseconds for the three best. On a busy machine the least says most.

use base::{Rate, Time};
use control::owner::Owner;
use control::services::Engineering;
use control::services::te::{Affinities, Constraints, TeKey, TeLink, Towards};
use core::net::Ipv4Addr;
use serde_json::json;
use std::time::Instant;
use twinplane_control as control;

fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + node as u32)
}

/// An address of a link, of its first end or of its second.
fn on(link: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 + 4 * link as u32 + end as u32)
}

/// Numbers that look like chance, and are always the same (xorshift).
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn key(link: usize, end: usize, ends: [usize; 2]) -> TeKey {
    TeKey { owner: Owner::default(), area: 0, router: id(ends[end]), number: (2 * link + end) as u32 }
}

fn said(link: usize, end: usize, ends: [usize; 2], drawn: &mut Drawn) -> TeLink {
    let left = Rate::from_mbps(1000 + drawn.below(9000) as u64);
    TeLink {
        towards: Towards::Router(id(ends[1 - end])),
        local: on(link, end),
        remote: Some(on(link, 1 - end)),
        te_metric: Some(1 + drawn.below(100) as u32),
        igp_metric: Some(1),
        reservable: Rate::from_mbps(10_000),
        unreserved: [left; 8],
        groups: 1 << drawn.below(8),
        srlgs: Vec::new(),
    }
}

fn argument(name: &str, usual: usize) -> usize {
    let mut all = std::env::args().skip_while(|one| one != name).skip(1);
    all.next().map_or(usual, |text| text.parse().expect("a number"))
}

/// Microseconds of each call, in order.
fn times(mut calls: impl Iterator<Item = f64>) -> [f64; 4] {
    let mut all: Vec<f64> = calls.by_ref().collect();
    all.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    [0.0, 0.5, 0.99, 1.0].map(at)
}

fn main() {
    let (routers, links) = (argument("--routers", 10_000), argument("--links", 50_000));
    let paths = argument("--paths", 1000);
    let mut drawn = Drawn(0x9e37_79b9_7f4a_7c15);
    let mut known = Engineering::default();
    let mut ends = Vec::new();
    for link in 0..links {
        let one = if link + 1 < routers { link + 1 } else { drawn.below(routers) };
        let other = loop {
            let other = drawn.below(if link + 1 < routers { link + 1 } else { routers });
            if other != one {
                break other;
            }
        };
        ends.push([one, other]);
        for end in [0, 1] {
            known.set_link(key(link, end, [one, other]), said(link, end, [one, other], &mut drawn));
        }
    }
    let asked = Constraints {
        bandwidth: Rate::from_mbps(1500),
        priority: 3,
        affinities: Affinities { exclude_any: 1, ..Affinities::default() },
        ..Constraints::default()
    };
    let us = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6;
    let begun = Instant::now();
    let _ = known.path(Time::ZERO, id(0), id(1), &asked);
    let first = us(begun);
    let mut found = 0;
    let alone = times((0..paths).map(|_| {
        let [from, to] = [drawn.below(routers), drawn.below(routers)];
        let begun = Instant::now();
        found += usize::from(known.path(Time::ZERO, id(from), id(to), &asked).is_ok());
        us(begun)
    }));
    let changed = times((0..paths).map(|_| {
        let link = drawn.below(links);
        let (key, said) = (key(link, 0, ends[link]), said(link, 0, ends[link], &mut drawn));
        let [from, to] = [drawn.below(routers), drawn.below(routers)];
        let begun = Instant::now();
        known.set_link(key, said);
        let _ = known.path(Time::ZERO, id(from), id(to), &asked);
        us(begun)
    }));
    let three = times((0..(paths / 50).max(1)).map(|_| {
        let [from, to] = [drawn.below(routers), drawn.below(routers)];
        let begun = Instant::now();
        let _ = known.paths(Time::ZERO, id(from), id(to), &asked, 3);
        us(begun) / 1e3
    }));
    let row = json!({
        "routers": routers, "links": links, "paths": paths, "found": found, "first_ms": first / 1e3,
        "path_least_us": alone[0], "path_median_us": alone[1], "path_p99_us": alone[2], "path_most_us": alone[3],
        "changed_median_us": changed[1], "changed_p99_us": changed[2],
        "three_median_ms": three[1], "three_most_ms": three[3],
    });
    println!("{row}");
}
