//! What a decision of a scheduler costs: a packet offered and one taken, with so many classes.
//!
//! `backlogged`: every class has packets all along, and gets a new one when one of its own has left. `random`:
//! packets come for random classes, one for each that is taken. The same number of packets waits whatever the number
//! of classes is, so that what differs is what classes cost, not what memory for packets does. Classes are chosen by
//! the mark of a packet; what they are allowed adds up to the rate of the link, and they may borrow. Prints
//! nanoseconds of a decision, the median of the rounds, as one JSON object whose keys are discipline, load and number
//! of classes: `htb_random_1000`.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_queues`

use base::describe::{ClassName, Size};
use base::diagnostic::Diagnostic;
use base::random::Streams;
use base::{Body, Frame, Rate, Time};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::queue::classify::Match;
use twinplane_forwarding::queue::spec::{
    CbqClass, CbqSpec, ClassFilter, DrrClass, DrrSpec, HtbClass, HtbSpec, PrioClass, PrioSpec, QueueSpec,
};
use twinplane_forwarding::queue::{Accounting, Facts, Take, Tree, TreeSpec};

const LINK: u64 = 10_000_000_000;
const LEN: u32 = 1000;
/// How long a packet takes on the link, in picoseconds.
const STEP: u64 = LEN as u64 * 8 * 1_000_000_000_000 / LINK;
const WAITING: u32 = 2_000;
const DECISIONS: u32 = 2_000;
const ROUNDS: usize = 201;
const CLASSES: [u32; 2] = [4, 1_000];

fn name(class: u32) -> ClassName {
    ClassName(format!("c{class}").into())
}

fn filters(classes: u32) -> Vec<ClassFilter> {
    let filter = |class| {
        let matches = Match { mark: Some(class), ..Match::default() };
        ClassFilter { matches, class: name(class) }
    };
    (0..classes).map(filter).collect()
}

fn htb(classes: u32) -> QueueSpec {
    let class = |name: ClassName, parent: Option<ClassName>, rate| {
        (
            name,
            HtbClass {
                parent,
                rate: Rate(rate),
                ceil: Some(Rate(LINK)),
                burst: None,
                cburst: None,
                prio: 0,
                quantum: None,
                queue: None,
            },
        )
    };
    let leaf = |at| class(name(at), Some("all".into()), LINK / u64::from(classes));
    let all = (0..classes).map(leaf).chain([class("all".into(), None, LINK)]).collect();
    QueueSpec::Htb(HtbSpec {
        r2q: 10,
        classes: all,
        filters: filters(classes),
        default: None,
        direct_qlen: 1000,
    })
}

fn cbq(classes: u32) -> QueueSpec {
    let class = |at| {
        (
            name(at),
            CbqClass {
                parent: None,
                rate: Rate(LINK / u64::from(classes)),
                prio: 5,
                weight: None,
                allot: None,
                bounded: false,
                isolated: false,
                maxburst: 20,
                minburst: 0,
                minidle: None,
                avpkt: None,
                ewma: None,
                queue: None,
            },
        )
    };
    QueueSpec::Cbq(CbqSpec {
        bandwidth: None,
        avpkt: Size(LEN.into()),
        mpu: Size(0),
        ewma: 5,
        allot: Size(1514),
        classes: (0..classes).map(class).collect(),
        filters: filters(classes),
        default: None,
    })
}

fn drr(classes: u32) -> QueueSpec {
    let class = |at| (name(at), DrrClass::default());
    QueueSpec::Drr(DrrSpec {
        classes: (0..classes).map(class).collect(),
        filters: filters(classes),
        default: None,
    })
}

fn prio(classes: u32) -> QueueSpec {
    let class = |at| (name(at), PrioClass::default());
    QueueSpec::Prio(PrioSpec {
        classes: (0..classes).map(class).collect(),
        filters: filters(classes),
        default: None,
    })
}

fn frame(class: u32) -> Frame {
    let mut header = vec![2; 12];
    header.extend([8, 0, 0x45, 0]);
    header.extend(((LEN - 14) as u16).to_be_bytes());
    header.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let mut frame = Frame::new(&header, Body::Pattern { start: 0, len: LEN - 34 });
    frame.set_mark(class);
    frame
}

/// A tree under load.
struct Bench {
    tree: Tree,
    classes: u32,
    random: bool,
    now: u64,
    state: u64,
    /// Nanoseconds of a decision, by round.
    rounds: Vec<f64>,
}

impl Bench {
    fn new(root: QueueSpec, classes: u32, random: bool) -> Result<Bench, Diagnostic> {
        let spec = TreeSpec { accounting: Accounting::default(), conditioner: None, root };
        let facts = Facts { rate: Rate(LINK), mtu: 1500 };
        let mut tree = Tree::new(&spec, &facts, Streams::new(1).stream("queue"))?;
        for packet in 0..WAITING {
            tree.offer(Time(0), frame(packet % classes));
        }
        Ok(Bench { tree, classes, random, now: 0, state: 0x9e37_79b9_7f4a_7c15, rounds: Vec::new() })
    }

    fn round(&mut self) {
        let begin = Instant::now();
        for _ in 0..DECISIONS {
            self.now += STEP;
            let mut taken = match self.tree.take(Time(self.now)) {
                Take::Frame(frame) => frame,
                Take::Wait(until) => {
                    self.now = until.0;
                    continue;
                }
                Take::Empty => frame(0),
            };
            if self.random {
                self.state =
                    self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                taken.set_mark((self.state >> 33) as u32 % self.classes);
            }
            self.tree.offer(Time(self.now), black_box(taken));
        }
        self.rounds.push(begin.elapsed().as_nanos() as f64 / f64::from(DECISIONS));
    }

    /// The median.
    fn result(&mut self) -> f64 {
        assert_eq!(self.tree.audit(Time(self.now)), [""; 0], "what came in has left, was dropped or waits");
        self.rounds.sort_by(f64::total_cmp);
        self.rounds[self.rounds.len() / 2]
    }
}

/// Rounds of all numbers of classes take turns, so that what else the machine does hits all.
fn run(name: &str, make: Make, load: &str) -> Result<Vec<String>, Diagnostic> {
    let bench = |classes: &u32| Bench::new(make(*classes), *classes, load == "random");
    let mut benches = CLASSES.iter().map(bench).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS {
        benches.iter_mut().for_each(Bench::round);
    }
    let figure = |bench: &mut Bench| {
        let (classes, ns) = (bench.classes, bench.result());
        format!("\"{name}_{load}_{classes}\":{ns:.1}")
    };
    Ok(benches.iter_mut().map(figure).collect())
}

/// A discipline with so many classes.
type Make = fn(u32) -> QueueSpec;

fn main() -> ExitCode {
    let disciplines: [(&str, Make); 4] = [("htb", htb), ("drr", drr), ("cbq", cbq), ("prio", prio)];
    let mut figures = Vec::new();
    for (name, make) in disciplines {
        for load in ["backlogged", "random"] {
            match run(name, make, load) {
                Ok(found) => figures.extend(found),
                Err(error) => {
                    eprintln!("bench_queues: {error}");
                    return ExitCode::from(1);
                }
            }
        }
    }
    println!("{{{}}}", figures.join(","));
    ExitCode::SUCCESS
}
