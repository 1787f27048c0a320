//! OSPF, LDP, RSVP-TE and BGP together on random networks, through loss, reordering, corruption, restarts and
//! partitions. BGP tells IPv4 with labels or without, and IPv6 over a core that knows none of it. After everything is
//! healed all routers reach each other, and the end is that of the same network to which nothing happened: databases,
//! routes, sessions, labels and LSPs.
//!
//! A programme that fails is cut down and printed. `HEALING_PROGRAMME=FILE cargo test -p twinplane-tester
//! healing::repeat` runs it again. `TWINPLANE_CAMPAIGN` says how many are run, `TWINPLANE_SEED` from which number on.

mod check;
mod drive;
mod programme;

use crate::common::faults::guarded;
use drive::Summary;
use programme::{Families, Programme};

/// Programmes of each test; there are four of them. Twenty times as many are 2,000.
const COUNT: u64 = 25;

fn carry_out(programme: &Programme) -> Result<Summary, String> {
    guarded(|| drive::carry_out(programme))
}

fn programmes(part: u64) {
    let runs = testing::runs(COUNT);
    let (first, count) = (runs.start, runs.end - runs.start);
    let mut total = Summary::default();
    for index in 0..count {
        let seed = first + part + 4 * index;
        let programme = Programme::generate(seed);
        match carry_out(&programme) {
            Ok(summary) => total.add(&summary),
            Err(why) => {
                let (small, still) = shrink(programme);
                let json = serde_json::to_string(&small).expect("a programme is JSON");
                panic!("seed {seed}: {why}\nin its smallest form: {still}\nHEALING_PROGRAMME: {json}");
            }
        }
    }
    println!("{count} programmes: {total:?}");
    assert!(total.answers > 6 * count && total.facts > 50 * count, "{total:?}");
    // Among a few programmes one kind may be missing.
    if count >= COUNT {
        assert!(8 * total.plain > count && 4 * total.labelled > count, "{total:?}");
        assert!(total.labels_of_bgp > count && total.answers_by_ipv6 > count, "{total:?}");
    }
}

/// The programme without the steps, families and LSPs that it fails without, and what it says then.
fn shrink(programme: Programme) -> (Programme, String) {
    let mut best = programme;
    let mut why = carry_out(&best).err().unwrap_or_default();
    let mut attempt = |best: &mut Programme, candidate: Programme| {
        if let Err(text) = carry_out(&candidate) {
            (*best, why) = (candidate, text);
        }
    };
    for step in (0..best.steps.len()).rev() {
        let mut candidate = best.clone();
        candidate.steps.remove(step);
        attempt(&mut best, candidate);
    }
    let plain = Programme { families: Families::default(), ..best.clone() };
    attempt(&mut best, plain);
    for lsp in (0..best.lsps.len()).rev() {
        let mut candidate = best.clone();
        candidate.lsps.remove(lsp);
        attempt(&mut best, candidate);
    }
    (best, why)
}

#[test]
fn random_programmes_heal_1() {
    programmes(0);
}
#[test]
fn random_programmes_heal_2() {
    programmes(1);
}
#[test]
fn random_programmes_heal_3() {
    programmes(2);
}
#[test]
fn random_programmes_heal_4() {
    programmes(3);
}

/// Runs the programme that a failure printed.
#[test]
fn repeat() {
    let Ok(path) = std::env::var("HEALING_PROGRAMME") else { return };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let programme: Programme = serde_json::from_str(&text).expect("a programme");
    carry_out(&programme).unwrap_or_else(|why| panic!("{why}"));
}
