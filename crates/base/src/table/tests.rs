//! Declarations, JSON and layout.

use super::*;
use crate::device::{DropCounters, DropReason};
use crate::{Label, Span, Time};

crate::table! {
    /// A row with a column of every type,
    /// on two lines.
    pub struct Every<'a> in "every" key ["name"] {
        /// Which.
        name: &'a str,
        /// A keyword in Rust.
        r#type: Option<String>,
        /// A truth.
        up: Option<bool>,
        /// A label.
        label: Option<Label>,
        /// A count.
        packets: Option<u64> = "packets",
        /// A difference.
        change: Option<i64>,
        /// A figure.
        mean_wait_s: Option<f64> = "s",
        /// When.
        time_s: Option<Time> = "s",
        /// How long.
        delay_s: Option<Span> = "s",
        /// Several.
        labels: Option<Vec<u32>>,
        /// Several texts.
        route: Vec<String>,
        /// Why.
        drops: &'a DropCounters,
        /// What else.
        extra: Figures,
        /// What happened.
        event: Option<Fields<(u8, &'a str)>>,
    }
}

pub fn every<'a>(name: &'a str, drops: &'a DropCounters, full: bool) -> Every<'a> {
    let text = || name.to_string();
    Every {
        name,
        r#type: full.then(text),
        up: full.then_some(true),
        label: full.then(|| Label::new(16).expect("a label")),
        packets: full.then_some(u64::MAX),
        change: full.then_some(-1),
        mean_wait_s: full.then_some(0.5),
        time_s: full.then_some(Time(1_500_000_000_000)),
        delay_s: full.then_some(Span(-2_000_000_000_000)),
        labels: full.then(|| vec![1, 2]),
        route: if full { vec![text(), text()] } else { Vec::new() },
        drops,
        extra: Figures(if full { vec![("load", 0.25)] } else { Vec::new() }),
        event: full.then_some(Fields((1, name))),
    }
}

pub fn two() -> Table {
    let mut drops = DropCounters::default();
    drops.add(DropReason::BufferFull, 3);
    let none = DropCounters::default();
    let mut rows = Rows::new();
    rows.push(every("a", &drops, true));
    rows.push(every("b", &none, false));
    rows.finish()
}

#[test]
fn a_declaration_says_what_its_row_does() {
    let decl = Every::DECL;
    assert_eq!((decl.name, decl.meaning), ("every", "A row with a column of every type, on two lines."));
    let columns: Vec<_> = decl.columns.iter().map(|c| (c.name, c.kind.words(), c.unit, c.nullable)).collect();
    assert_eq!(columns[0], ("name", "str".into(), "", false));
    assert_eq!(columns[1], ("type", "str".into(), "", true));
    assert_eq!(columns[4], ("packets", "u64".into(), "packets", true));
    assert_eq!(columns[7], ("time_s", "f64".into(), "s", true));
    assert_eq!(columns[11], ("drops", "list of {reason: str, packets: u64}".into(), "", false));
    assert_eq!(decl.columns[7].exact_name(), "time_ps");
    assert_eq!(decl.columns[6].exact_name(), "mean_wait_s", "a figure is what it is");
}

#[test]
fn json_is_exact() {
    let found = serde_json::to_value(two()).expect("json");
    assert_eq!(
        found,
        serde_json::json!({
            "name": ["a", "b"], "type": ["a", null], "up": [true, null], "label": [16, null],
            "packets": [u64::MAX, null], "change": [-1, null], "mean_wait_s": [0.5, null],
            "time_ps": [1_500_000_000_000_u64, null], "delay_ps": [-2_000_000_000_000_i64, null],
            "labels": [[1, 2], null], "route": [["a", "a"], []], "drops": [{"buffer-full": 3}, {}],
            "extra": [{"load": 0.25}, {}], "event": [[1, "a"], null],
        })
    );
    let empty = Rows::<Every>::new().finish();
    let found = serde_json::to_value(empty).expect("json");
    assert_eq!(found.as_object().map(|columns| columns.len()), Some(Every::DECL.columns.len()));
}

#[test]
fn a_number_that_is_none_is_absent() {
    let mut column = Column::new(Type::F64);
    [1.0, f64::NAN, f64::INFINITY].into_iter().for_each(|value| column.push_f64(value));
    assert_eq!((column.len(), column.nulls(), column.get(0)), (3, 2, Value::F64(1.0)));
}

#[test]
fn words_of_variants_are_those_that_are_serialised() {
    for reason in DropReason::ALL {
        assert_eq!(serde_json::json!(reason), serde_json::json!(word(&reason)));
    }
}
