//! Trees and workloads by chance.

use crate::queue::spec::{ClassFilter, QueueSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens to a tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Offer { dscp: u8, ecn: u8, len: u32 },
    Take,
    Clear,
}

/// As many things that happen, each some time after the one before: often none, at most three milliseconds.
pub(super) fn work(count: usize) -> impl Strategy<Value = Vec<(u64, Op)>> {
    let gap = prop_oneof![Just(0), 1..3_000_000_000u64, (0..3000u64).prop_map(|us| us * 1_000_000)];
    let offer = (0..64u8, 0..4u8, 60..1515u32).prop_map(|(dscp, ecn, len)| Op::Offer { dscp, ecn, len });
    let op = prop_oneof![60 => offer, 38 => Just(Op::Take), 1 => Just(Op::Clear)];
    proptest::collection::vec((gap, op), 1..count)
}

/// A tree of disciplines, some levels deep.
pub(super) fn tree() -> impl Strategy<Value = Value> {
    simple().prop_recursive(3, 16, 4, |below| {
        prop_oneof![
            2 => prio(below.clone()),
            2 => drr(below.clone()),
            2 => tbf(below.clone()),
            1 => cbq(below.clone()),
            1 => htb(below),
        ]
    })
}

/// Queues with none below.
fn simple() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1..20u32).prop_map(|limit| json!({ "discipline": "pfifo", "limit": limit })),
        (1000..20_000u32).prop_map(|limit| json!({ "discipline": "bfifo", "limit": limit })),
        red().prop_map(|mut red| {
            red["discipline"] = json!("red");
            red
        }),
        gred(),
        fq_codel(),
    ]
}

fn fq_codel() -> impl Strategy<Value = Value> {
    let sizes = (2..60u32, 1..16u32, 100..3000u32, 3000..40_000u32);
    let times = (1_000_000..5_000_000_000u64, 2..20u64, proptest::option::of(1_000_000..5_000_000_000u64));
    (sizes, times, any::<bool>()).prop_map(|((limit, flows, quantum, memory), (target, times, threshold), ecn)| {
        json!({ "discipline": "fq-codel", "limit": limit, "flows": flows, "quantum": quantum, "memory_limit": memory,
            "target": format!("{target} ps"), "interval": format!("{} ps", target * times),
            "ce_threshold": threshold.map(|span| format!("{span} ps")), "ecn": ecn })
    })
}

fn red() -> impl Strategy<Value = Value> {
    let thresholds = (500..5000u32, 1..10_000u32, 1000..30_000u32);
    (thresholds, 0..20u32, 0.01..1.0f64, any::<[bool; 2]>()).prop_map(
        |((min, gap, limit), burst, probability, [ecn, hard])| {
            json!({ "limit": limit.max(min + gap), "min": min, "max": min + gap, "avpkt": 500, "burst": min / 500 + 1 + burst,
                "probability": probability, "ecn": ecn, "harddrop": hard })
        },
    )
}

fn gred() -> impl Strategy<Value = Value> {
    let queues = proptest::collection::vec((red(), 1..4u8), 1..4);
    (queues, any::<[bool; 2]>(), 5000..40_000u32).prop_map(|(queues, [rio, default], limit)| {
        let count = queues.len();
        let queue = |(place, (red, priority)): (usize, (Value, u8))| {
            let phb: Vec<u8> = (0..48).filter(|code| usize::from(code % 8) / 2 % count == place).collect();
            json!({ "name": place.to_string(), "phb": phb, "prio": priority, "red": red })
        };
        let queues: Vec<Value> = queues.into_iter().enumerate().map(queue).collect();
        let default = default.then_some("0");
        json!({ "discipline": "gred", "limit": limit, "grio": rio, "queues": queues, "default": default })
    })
}

/// Filters that spread code points over classes by some of their bits, perhaps with a class forgotten; and a default,
/// perhaps.
fn filters(classes: usize) -> impl Strategy<Value = (Value, Value)> {
    (0..6u8, 0..2 * classes, proptest::option::of(0..classes)).prop_map(move |(shift, forgotten, default)| {
        let filter = |class: usize| {
            let takes = |dscp: &u8| usize::from(dscp >> shift) % classes == class;
            let dscp: Vec<u8> = (0..64).filter(takes).collect();
            // Few enough classes and bits may leave a class without code points.
            (!dscp.is_empty()).then(|| json!({ "dscp": dscp, "class": class.to_string() }))
        };
        let filters: Vec<Value> = (0..classes).filter(|c| *c != forgotten).filter_map(filter).collect();
        (json!(filters), json!(default.map(|class| class.to_string())))
    })
}

/// Some classes, each with something of its own, and filters that lead to them.
fn classes<T: core::fmt::Debug + Clone + 'static>(
    each: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = (Vec<T>, (Value, Value))> {
    proptest::collection::vec(each, 1..5).prop_flat_map(|each| {
        let count = each.len();
        (Just(each), filters(count))
    })
}

fn prio(below: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    classes(below).prop_map(|(queues, (filters, default))| {
        let class = |(name, queue): (usize, Value)| json!({ "name": name.to_string(), "queue": queue });
        let classes: Vec<Value> = queues.into_iter().enumerate().map(class).collect();
        json!({ "discipline": "prio", "classes": classes, "filters": filters, "default": default })
    })
}

fn drr(below: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    classes((below, 100..3000u32)).prop_map(|(queues, (filters, default))| {
        let class = |(name, (queue, quantum)): (usize, (Value, u32))| {
            json!({ "name": name.to_string(), "queue": queue, "quantum": quantum })
        };
        let classes: Vec<Value> = queues.into_iter().enumerate().map(class).collect();
        json!({ "discipline": "drr", "classes": classes, "filters": filters, "default": default })
    })
}

fn tbf(below: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let peak = proptest::option::of((100_000..20_000_000u64, 100..3000u64));
    (below, 100_000..20_000_000u64, 100..5000u64, peak).prop_map(|(queue, rate, burst, peak)| {
        json!({ "discipline": "tbf", "rate": rate, "burst": burst, "queue": queue,
            "peakrate": peak.map(|peak| rate + peak.0), "mtu": peak.map(|peak| peak.1) })
    })
}

fn cbq(below: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let class = (below, 100_000..4_000_000u64, 1..9u8, any::<[bool; 3]>());
    classes(class).prop_map(|(queues, (filters, default))| {
        let mut classes = vec![json!({ "name": "all", "rate": 6_000_000, "bounded": true })];
        for (name, (queue, rate, priority, [bounded, isolated, top])) in queues.into_iter().enumerate() {
            let parent = if top && name > 0 { None } else { Some("all") };
            classes.push(json!({ "name": name.to_string(), "parent": parent, "rate": rate, "prio": priority,
                "bounded": bounded, "isolated": isolated, "queue": queue }));
        }
        json!({ "discipline": "cbq", "avpkt": 800, "classes": classes, "filters": filters, "default": default })
    })
}

fn htb(below: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let class = (below, 100_000..4_000_000u64, 0..4_000_000u64, 0..8u8, any::<bool>());
    classes(class).prop_map(|(queues, (filters, default))| {
        let mut classes = vec![json!({ "name": "all", "rate": 6_000_000 })];
        for (name, (queue, rate, more, priority, top)) in queues.into_iter().enumerate() {
            let parent = if top && name > 0 { None } else { Some("all") };
            classes
                .push(json!({ "name": name.to_string(), "parent": parent, "rate": rate, "ceil": rate + more,
                "prio": priority, "queue": queue }));
        }
        json!({ "discipline": "htb", "classes": classes, "filters": filters, "default": default })
    })
}

/// The path of the leaf that takes packets of that code point, found filter by filter; nothing if they are dropped.
pub(super) fn leaf(spec: &QueueSpec, dscp: u8, path: &str) -> Option<String> {
    let class = |filters: &[ClassFilter], default: Option<&str>| {
        let takes = |f: &&ClassFilter| {
            f.matches.dscp.as_ref().is_some_and(|all| all.0.iter().any(|d| d.value() == dscp))
        };
        let found = filters.iter().find(takes).map(|filter| filter.class.to_string());
        found.or(default.map(str::to_string))
    };
    let below = |queue: Option<&QueueSpec>, name: &str| {
        let path = format!("{path}/{name}");
        queue.map_or(Some(path.clone()), |queue| leaf(queue, dscp, &path))
    };
    match spec {
        QueueSpec::Pfifo(_)
        | QueueSpec::Bfifo(_)
        | QueueSpec::Red(_)
        | QueueSpec::Gred(_)
        | QueueSpec::FqCodel(_) => Some(path.to_string()),
        QueueSpec::Tbf(spec) => below(spec.queue.as_deref(), "queue"),
        QueueSpec::Prio(spec) => {
            let last = spec.classes.last().map(|class| &*class.0);
            let name = class(&spec.filters, spec.default.as_deref().or(last))?;
            below(Some(&spec.classes.iter().find(|class| *class.0 == *name)?.1.queue), &name)
        }
        QueueSpec::Drr(spec) => {
            let name = class(&spec.filters, spec.default.as_deref())?;
            below(Some(&spec.classes.iter().find(|class| *class.0 == *name)?.1.queue), &name)
        }
        QueueSpec::Cbq(spec) => {
            let name = class(&spec.filters, spec.default.as_deref())?;
            below(spec.classes.iter().find(|class| *class.0 == *name)?.1.queue.as_deref(), &name)
        }
        QueueSpec::Htb(spec) => match class(&spec.filters, spec.default.as_deref()) {
            Some(name) => {
                below(spec.classes.iter().find(|class| *class.0 == *name)?.1.queue.as_deref(), &name)
            }
            None => Some(format!("{path}/direct")),
        },
    }
}
