//! After any sequence of set-ups, teardowns, re-optimisations, errors, preemptions and faults: while up, no forwarding
//! loop, no bandwidth over capacity, and every LSP that is up delivers; once everything is torn down, nothing is left
//! anywhere.
//!
//! A programme that fails is cut down and printed. `CHURN_PROGRAMME=FILE cargo test -p twinplane-tester churn::repeat`
//! runs it again. `TWINPLANE_CAMPAIGN` says how many are run, `TWINPLANE_SEED` from which number on.

mod check;
mod drive;
mod programme;
mod shrink;

use crate::common::faults::guarded;
use drive::Summary;
use programme::Programme;

/// Programmes of each test; there are four of them.
const COUNT: u64 = 300;

fn run(programme: &Programme) -> Result<Summary, String> {
    guarded(|| drive::run(programme))
}

fn programmes(part: u64) {
    let runs = testing::runs(COUNT);
    let (first, count) = (runs.start, runs.end - runs.start);
    let mut total = Summary::default();
    for index in 0..count {
        let seed = first + part + 4 * index;
        let programme = Programme::generate(seed);
        match run(&programme) {
            Ok(summary) => {
                total.delivered += summary.delivered;
                total.ups += summary.ups;
                total.watched += summary.watched;
                total.events += summary.events;
            }
            Err(why) => {
                let (small, still) = shrink::shrink(programme, |p| run(p).err());
                let json = serde_json::to_string(&small).expect("a programme is JSON");
                panic!("seed {seed}: {why}\nin its smallest form: {still}\nCHURN_PROGRAMME: {json}");
            }
        }
    }
    println!("{count} programmes: {total:?}");
    // They did what they are for: LSPs came up, several to a programme, and carried what was watched.
    assert!(total.ups > 2 * count && total.watched > 10 * count, "{total:?}");
}

#[test]
fn random_programmes_leave_nothing_1() {
    programmes(0);
}
#[test]
fn random_programmes_leave_nothing_2() {
    programmes(1);
}
#[test]
fn random_programmes_leave_nothing_3() {
    programmes(2);
}
#[test]
fn random_programmes_leave_nothing_4() {
    programmes(3);
}

/// Runs the programme that a failure printed.
#[test]
fn repeat() {
    let Ok(path) = std::env::var("CHURN_PROGRAMME") else { return };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let programme: Programme = serde_json::from_str(&text).expect("a programme");
    drive::run(&programme).unwrap_or_else(|why| panic!("{why}"));
}
