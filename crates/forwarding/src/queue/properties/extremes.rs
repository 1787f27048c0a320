//! Parameters and packets at the ends of what can be said: a description is a tree or has one sentence against it,
//! and a tree keeps its books and comes to an end.

use crate::queue::testing::frame;
use crate::queue::{Around, Facts, Take, Tree, TreeSpec};
use base::random::Streams;
use base::{Rate, Time};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Numbers that overflow something, or nearly.
fn number() -> impl Strategy<Value = Value> {
    let edge = [
        0,
        1,
        2,
        3,
        7,
        8,
        60,
        1000,
        1514,
        65_535,
        1 << 20,
        i32::MAX as u64,
        u64::from(u32::MAX),
        1 << 40,
        400_000_000_000,
        1 << 62,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
    ];
    prop_oneof![
        6 => proptest::sample::select(edge.to_vec()).prop_map(|n| json!(n)),
        4 => (1..64u32, any::<u64>()).prop_map(|(bits, n)| json!(n >> bits)),
        1 => Just(json!(-1)),
        1 => Just(Value::Null),
    ]
}

/// A value of a field: mostly one that is accepted, of any magnitude.
fn value(name: &str) -> BoxedStrategy<Value> {
    let magnitude =
        |bits: u32| (0..bits, any::<u64>()).prop_map(|(bits, n)| json!(1u64 << bits | n & ((1 << bits) - 1)));
    let sane = match name {
        "prio" => (1..8u8).prop_map(|n| json!(n)).boxed(),
        "ewma" => (1..32u8).prop_map(|n| json!(n)).boxed(),
        "rate" | "bandwidth" | "peakrate" => magnitude(42).boxed(),
        "ceil" => (38..64u32).prop_map(|bits| json!(u64::MAX >> (64 - bits))).boxed(),
        "interval_ps" => (40..63u32).prop_map(|bits| json!(1u64 << bits)).boxed(),
        "target_ps" => magnitude(40).boxed(),
        _ => magnitude(31).boxed(),
    };
    prop_oneof![40 => sane, 1 => number()].boxed()
}

/// Those fields, of which some that have defaults may be missing.
fn fields(names: &'static [&'static str]) -> impl Strategy<Value = Map<String, Value>> {
    let always = ["rate", "avpkt", "limit", "min", "max", "burst", "burst", "bandwidth"];
    let field = |name: &&'static str| {
        let often = if always.contains(name) { 0.99 } else { 0.5 };
        proptest::option::weighted(often, value(name))
    };
    names.iter().map(field).collect::<Vec<_>>().prop_map(|values| {
        names.iter().zip(values).filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    })
}

fn named(discipline: &str, mut fields: Map<String, Value>, more: Value) -> Value {
    if !discipline.is_empty() {
        fields.insert("discipline".into(), json!(discipline));
    }
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Value::Object(fields)
}

fn flags(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    proptest::collection::vec(any::<bool>(), names.len()).prop_map(|values| {
        Value::Object(
            names.iter().zip(values).map(|(name, value)| (name.to_string(), json!(value))).collect(),
        )
    })
}

fn red_fields() -> impl Strategy<Value = Map<String, Value>> {
    let numbers = fields(&["limit", "min", "max", "avpkt", "burst", "bandwidth"]);
    (numbers, flags(&["ecn", "harddrop"]), -0.1..1.2f64, any::<bool>()).prop_map(
        |(mut numbers, flags, p, sane)| {
            if sane {
                let (packet, burst) = (1 + (p.abs() * 1000.0) as u64, 1 + (p.abs() * 5000.0) as u64);
                numbers.insert("avpkt".into(), json!(packet));
                numbers.insert("burst".into(), json!(burst));
                numbers.insert("min".into(), json!(packet * burst));
                numbers.insert("max".into(), json!(u64::MAX >> (p.abs() * 40.0) as u32));
            }
            numbers.insert("probability".into(), json!(p));
            numbers.extend(flags.as_object().cloned().unwrap_or_default());
            numbers
        },
    )
}

fn simple() -> BoxedStrategy<Value> {
    prop_oneof![
        fields(&["limit"]).prop_map(|f| named("pfifo", f, json!({}))),
        fields(&["limit"]).prop_map(|f| named("bfifo", f, json!({}))),
        red_fields().prop_map(|f| named("red", f, json!({}))),
        (fields(&["limit"]), proptest::collection::vec((red_fields(), value("prio")), 0..4), any::<[bool; 2]>())
            .prop_map(|(f, queues, [rio, default])| {
                let queue = |(n, (red, priority)): (usize, (Map<String, Value>, Value))| {
                    json!({ "name": n.to_string(), "phb": [n], "prio": priority, "red": red })
                };
                let queues: Vec<Value> = queues.into_iter().enumerate().map(queue).collect();
                named("gred", f, json!({ "queues": queues, "grio": rio, "default": default.then_some("0") }))
            }),
        (
            fields(&["limit", "quantum", "target_ps", "interval_ps", "ce_threshold_ps", "memory_limit"]),
            prop_oneof![0..20u32, Just(65_537), Just(u32::MAX)],
            any::<bool>()
        )
            .prop_map(|(f, flows, ecn)| named("fq-codel", f, json!({ "flows": flows, "ecn": ecn }))),
    ]
    .boxed()
}

type Below = BoxedStrategy<Value>;

/// Classes `0`, `1` and so on with those fields, each perhaps in another, and filters that lead to them.
fn classful(
    discipline: &'static str,
    top: &'static [&'static str],
    each: &'static [&'static str],
    bits: &'static [&'static str],
    below: Below,
) -> Below {
    let class = (fields(each), flags(bits), proptest::option::of(0..12usize), proptest::option::of(below));
    let classes = proptest::collection::vec(class, 0..6);
    (fields(top), classes, proptest::option::of(0..6u8), any::<bool>())
        .prop_map(move |(top, classes, default, nested)| {
            let count = classes.len();
            let mut all = Vec::new();
            for (n, (numbers, flags, parent, queue)) in classes.into_iter().enumerate() {
                let mut class = named("", numbers, flags);
                class["name"] = json!(n.to_string());
                let parent = parent.filter(|parent| nested && *parent < n.max(1)).filter(|_| n > 0);
                if matches!(discipline, "cbq" | "htb") {
                    class["parent"] = json!(parent.map(|parent| parent.to_string()));
                }
                if let Some(queue) = queue {
                    class["queue"] = queue;
                }
                all.push(class);
            }
            let taken: Vec<String> =
                all.iter().filter_map(|class| Some(class.get("parent")?.as_str()?.to_string())).collect();
            // What waits is with the leaves.
            for class in &mut all {
                let inner = class["name"].as_str().is_some_and(|name| taken.iter().any(|t| t == name));
                if let Some(class) = class.as_object_mut().filter(|_| inner) {
                    class.remove("queue");
                }
            }
            let leaves: Vec<usize> = (0..count).filter(|n| !taken.contains(&n.to_string())).collect();
            let filters: Vec<Value> = leaves
                .iter()
                .enumerate()
                .map(|(at, n)| json!({ "dscp": [at], "class": n.to_string() }))
                .collect();
            let default =
                default.and_then(|d| leaves.get(usize::from(d) % leaves.len().max(1))).map(|n| n.to_string());
            named(discipline, top, json!({ "classes": all, "filters": filters, "default": default }))
        })
        .boxed()
}

fn tree() -> Below {
    simple()
        .prop_recursive(3, 12, 4, |below| {
            prop_oneof![
                classful("prio", &[], &[], &[], below.clone()),
                classful("drr", &[], &["quantum"], &[], below.clone()),
                classful(
                    "htb",
                    &["r2q", "direct_qlen"],
                    &["rate", "ceil", "burst", "cburst", "prio", "quantum"],
                    &[],
                    below.clone()
                ),
                classful(
                    "cbq",
                    &["bandwidth", "avpkt", "mpu", "ewma", "allot"],
                    &["rate", "prio", "weight", "allot", "maxburst", "minburst", "minidle", "avpkt", "ewma"],
                    &["bounded", "isolated"],
                    below.clone()
                ),
                (
                    fields(&["rate", "burst"]),
                    proptest::option::of(fields(&["peakrate", "mtu"])),
                    proptest::option::of(below)
                )
                    .prop_map(|(mut f, peak, queue)| {
                        f.extend(peak.unwrap_or_default());
                        let limit = queue.is_none().then_some(100_000);
                        named("tbf", f, json!({ "queue": queue, "limit": limit }))
                    }),
            ]
        })
        .boxed()
}

fn work() -> impl Strategy<Value = Vec<(u64, u8, u32, bool)>> {
    let day = 86_400_000_000_000_000u64;
    let gap = prop_oneof![5 => Just(0), 5 => 0..2_000_000_000u64, 1 => 0..day, 1 => Just(20 * day), 1 => Just(107 * day)];
    let len = prop_oneof![3 => 60..1515u32, 1 => Just(65_535u32)];
    proptest::collection::vec((gap, 0..8u8, len, any::<bool>()), 1..80)
}

proptest! {
    #![proptest_config(testing::cases(256))]
        #[test]
    fn any_description_is_a_tree_or_has_a_sentence_against_it(
        root in tree(), work in work(), port in prop_oneof![Just(0u64), Just(1), Just(8_000_000), Just(400_000_000_000), Just(u64::MAX)],
        overhead in prop_oneof![8 => Just(0i32), 1 => Just(i32::MIN), 1 => Just(i32::MAX), 1 => -100..100i32], minimum in prop_oneof![4 => Just(0u32), 1 => Just(u32::MAX)],
    ) {
        let json = json!({ "root": root, "accounting": { "overhead": overhead, "minimum": minimum } });
        let Ok(spec) = crate::queue::testing::spec::<TreeSpec>(&json.to_string()) else { return Ok(()) };
        let facts = Facts { rate: Rate(port), mtu: 1500 };
        let tree = Tree::new(&spec, &facts, Streams::new(1).stream("queue"));
        let warnings = crate::queue::warnings_at(&spec, &Around { rate: facts.rate, ..Around::default() });
        prop_assert!(warnings.iter().all(|w| !w.words().is_empty()));
        let mut tree = match tree {
            Ok(tree) => tree,
            Err(error) => {
                let text = error.to_string();
                prop_assert!(!text.is_empty() && !text.contains('\n'), "{text}");
                return Ok(());
            }
        };
        let mut now = 0u64;
        for (gap, dscp, len, take) in work {
            now = now.saturating_add(gap).min(u64::MAX - 2);
            if take {
                if let Take::Wait(until) = tree.take(Time(now)) {
                    prop_assert!(until.0 > now, "it says to wait until {until:?}, which has passed");
                }
            } else {
                tree.offer(Time(now), frame(dscp << 2, len));
            }
            prop_assert_eq!(tree.audit(Time(now)), [""; 0]);
        }
        let mut waits = 0u64;
        while let taken @ (Take::Frame(_) | Take::Wait(_)) = tree.take(Time(now)) {
            prop_assert_eq!(tree.audit(Time(now)), [""; 0]);
            waits = if let Take::Wait(until) = taken {
                prop_assert!(until.0 > now, "it says to wait until {until:?}, which has passed");
                if until == Time::MAX || until.0 - now > 1 << 62 {
                    return Ok(());
                }
                now = until.0;
                waits + 1
            } else {
                0
            };
            prop_assert!(waits < 20_000, "{:?} wait in vain", tree.backlog());
        }
    }
}
