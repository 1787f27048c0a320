//! What tests of disciplines share.

use super::{Facts, Take, Tree, TreeSpec};
use base::describe::{Describe, Value};
use base::random::Streams;
use base::{Body, Frame, Rate, Time};

/// Picoseconds of a byte at 8 Mbit/s.
pub(crate) const US: u64 = 1_000_000;

/// A frame of `len` bytes (at least 34) with an IPv4 header of that type of service. The last bytes of the header are
/// its length again.
pub(crate) fn frame(tos: u8, len: u32) -> Frame {
    let mut header = vec![2; 12];
    header.extend([8, 0, 0x45, tos]);
    header.extend(((len - 14) as u16).to_be_bytes());
    header.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let check = !wire::checksum::sum(&header[14..]);
    header[24..26].copy_from_slice(&check.to_be_bytes());
    Frame::new(&header, Body::Pattern { start: 0, len: len - 34 })
}

/// The DSCP of such a frame.
pub(crate) fn dscp(frame: &Frame) -> u8 {
    frame.header()[15] >> 2
}

/// A port of 8 Mbit/s: a byte a microsecond.
pub(crate) fn facts() -> Facts {
    Facts { rate: Rate(8_000_000), mtu: 1500 }
}

/// What `json` describes. Tests put descriptions together from parts, so that classes may be a list,
/// each with its `name`, and what stands beside other fields may be in a mapping of its own.
pub(crate) fn spec<T: Describe>(json: &str) -> Result<T, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("{error}: {json}"))?;
    T::read(&by_name(value)).map_err(|error| error.to_string())
}

/// Lists of classes as mappings by name.
fn by_name(value: Value) -> Value {
    let named = |element: Value| match element {
        Value::Map(mut entries) => {
            let at = entries.iter().position(|entry| entry.0 == "name");
            let name = at.map(|at| entries.remove(at).1.as_text().unwrap_or_default().to_string());
            (name.unwrap_or_default(), by_name(Value::Map(entries)))
        }
        other => (String::new(), other),
    };
    match value {
        Value::Map(entries) => {
            let flat = |(key, value): (String, Value)| match (key.as_str(), value) {
                ("match" | "red", Value::Map(inside)) => inside,
                (_, value) => vec![(key, value)],
            };
            let entry = |(key, value): (String, Value)| match (key.as_str(), value) {
                ("classes" | "queues", Value::List(elements)) => {
                    (key, Value::Map(elements.into_iter().map(named).collect()))
                }
                (_, value) => (key, by_name(value)),
            };
            Value::Map(entries.into_iter().flat_map(flat).map(entry).collect())
        }
        Value::List(elements) => Value::List(elements.into_iter().map(by_name).collect()),
        other => other,
    }
}

/// A tree of the discipline in `json`.
pub(crate) fn tree(json: &str) -> Result<Tree, String> {
    let spec: TreeSpec = spec(json)?;
    Tree::new(&spec, &facts(), Streams::new(1).stream("queue")).map_err(|e| e.to_string())
}

/// Offers, one after the other at `now`, frames of (DSCP, length).
pub(crate) fn offer(tree: &mut Tree, now: u64, frames: &[(u8, u32)]) {
    for &(dscp, len) in frames {
        tree.offer(Time(now), frame(dscp << 2, len));
        assert_eq!(tree.audit(Time(now)), [""; 0]);
    }
}

/// Takes what there is at `now`, by DSCP.
pub(crate) fn take_all(tree: &mut Tree, now: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while let Take::Frame(frame) = tree.take(Time(now)) {
        out.push(dscp(&frame));
        assert_eq!(tree.audit(Time(now)), [""; 0]);
    }
    out
}

/// Until when the tree has nothing at `now`; picoseconds, none if it is empty.
pub(crate) fn wait(tree: &mut Tree, now: u64) -> Option<u64> {
    match tree.take(Time(now)) {
        Take::Wait(until) => Some(until.0),
        Take::Empty => None,
        Take::Frame(frame) => panic!("{frame:?} is sent"),
    }
}

/// The counter `extra` of the row at `path`.
pub(crate) fn extra(tree: &Tree, now: u64, path: &str, name: &str) -> f64 {
    let rows = tree.report(Time(now));
    let row = rows.iter().find(|row| row.path == path).expect("a row of that path");
    row.extra.iter().find(|(key, _)| *key == name).expect("an extra of that name").1
}

/// A tree at a port of 100 Mbit/s.
pub(crate) fn fast_tree(json: &str) -> Result<Tree, String> {
    let spec: TreeSpec = spec(json)?;
    let facts = Facts { rate: Rate::from_mbps(100), mtu: 1500 };
    Tree::new(&spec, &facts, Streams::new(1).stream("queue")).map_err(|e| e.to_string())
}

/// A link of 100 Mbit/s that sends from `start` to `end`. Of each (DSCP below 8, length) there come three packets,
/// and one more whenever one has left. Returns the bytes sent by DSCP.
pub(crate) fn saturate(tree: &mut Tree, sizes: &[(u8, u32)], start: u64, end: u64) -> [u64; 8] {
    let (mut now, mut sent) = (start, [0; 8]);
    for &(dscp, len) in sizes {
        (0..3).for_each(|_| tree.offer(Time(now), frame(dscp << 2, len)));
    }
    while now < end {
        match tree.take(Time(now)) {
            Take::Frame(taken) => {
                let (class, len) = (dscp(&taken), taken.len());
                sent[usize::from(class)] += u64::from(len);
                now += u64::from(len) * 80_000;
                tree.offer(Time(now), frame(class << 2, len));
            }
            Take::Wait(until) => {
                assert!(until.0 > now, "a wait that does not end");
                now = until.0;
            }
            Take::Empty => panic!("the tree is empty"),
        }
    }
    assert_eq!(tree.audit(Time(now)), [""; 0]);
    sent
}

/// Bits per second of `bytes` in `time`.
pub(crate) fn rate(bytes: u64, time: u64) -> f64 {
    bytes as f64 * 8.0 / (time as f64 / 1e12)
}

/// Asserts that `measured` differs from `expected` by a small part of it.
#[track_caller]
pub(crate) fn close(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured / expected - 1.0).abs() < tolerance, "{measured} is not {expected}");
}
