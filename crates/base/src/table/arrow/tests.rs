//! What a consumer of the C data interface reads is what was put in, and everything is given back once.

use super::*;
use crate::device::DropCounters;
use crate::table::tests::{Every, every, two};
use crate::table::{Row, Rows, Table, Type};
use core::ffi::{CStr, c_char};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn text<'a>(at: *const c_char) -> &'a str {
    // SAFETY: the schema lives as long as the test reads it.
    unsafe { CStr::from_ptr(at) }.to_str().expect("a text")
}

unsafe fn buffer<'a, T>(array: &ArrowArray, which: usize, len: usize) -> &'a [T] {
    // SAFETY: the caller knows what the buffer holds.
    unsafe { core::slice::from_raw_parts((*array.buffers.add(which)).cast(), len) }
}

fn child<'a, T>(children: *mut *mut T, place: usize) -> &'a T {
    // SAFETY: the caller knows how many there are.
    unsafe { &**children.add(place) }
}

fn bit(bytes: &[u8], place: usize) -> bool {
    bytes[place / 8] >> (place % 8) & 1 == 1
}

/// Reads a value as any consumer would, by nothing but the format.
fn read(schema: &ArrowSchema, array: &ArrowArray, place: usize) -> Value {
    let len = array.length as usize;
    // SAFETY: lengths are those that the specification gives.
    unsafe {
        let there = array.null_count == 0 || bit(buffer(array, 0, len.div_ceil(8)), place);
        if !there {
            return Value::Null;
        }
        let items = |offsets: &[i64]| {
            let (schema, array) = (child(schema.children, 0), child(array.children, 0));
            (offsets[place]..offsets[place + 1]).map(|at| read(schema, array, at as usize)).collect()
        };
        match text(schema.format) {
            "b" => json!(bit(buffer(array, 1, len.div_ceil(8)), place)),
            "I" => json!(buffer::<u32>(array, 1, len)[place]),
            "L" => json!(buffer::<u64>(array, 1, len)[place]),
            "l" => json!(buffer::<i64>(array, 1, len)[place]),
            "g" => json!(buffer::<f64>(array, 1, len)[place]),
            "U" => {
                let offsets = buffer::<i64>(array, 1, len + 1);
                let bytes = buffer::<u8>(array, 2, offsets[len] as usize);
                json!(
                    core::str::from_utf8(&bytes[offsets[place] as usize..offsets[place + 1] as usize])
                        .expect("UTF-8")
                )
            }
            "+L" => Value::Array(items(buffer(array, 1, len + 1))),
            "+s" => (0..schema.n_children as usize)
                .map(|n| (child(schema.children, n), child(array.children, n)))
                .map(|(schema, array)| (text(schema.name).to_string(), read(schema, array, place)))
                .collect(),
            other => panic!("format {other}"),
        }
    }
}

fn rows(schema: &ArrowSchema, array: &ArrowArray) -> Vec<Value> {
    (0..array.length as usize).map(|place| read(schema, array, place)).collect()
}

/// The pairs of a field's metadata.
fn metadata(schema: &ArrowSchema) -> Vec<(String, String)> {
    let mut at = schema.metadata.cast::<u8>();
    let mut number = || {
        // SAFETY: the specification says what is where.
        unsafe {
            let number = at.cast::<i32>().read_unaligned();
            at = at.add(4);
            number as usize
        }
    };
    let count = number();
    let mut made = Vec::new();
    for _ in 0..count {
        let mut text = || {
            // SAFETY: as above.
            unsafe {
                let len = at.cast::<i32>().read_unaligned() as usize;
                let bytes = core::slice::from_raw_parts(at.add(4), len);
                at = at.add(4 + len);
                String::from_utf8_lossy(bytes).into_owned()
            }
        };
        let key = text();
        made.push((key, text()));
    }
    made
}

#[test]
fn every_type_arrives() {
    let table = Arc::new(two());
    let (schema, array) = (schema(Every::DECL), array(&table));
    assert_eq!(
        rows(&schema, &array),
        [
            json!({
                "name": "a", "type": "a", "up": true, "label": 16, "packets": u64::MAX, "change": -1,
                "mean_wait_s": 0.5, "time_s": 1.5, "delay_s": -2.0, "labels": [1, 2], "route": ["a", "a"],
                "drops": [{"reason": "buffer-full", "packets": 3}], "extra": [{"name": "load", "value": 0.25}],
                "event": "[1,\"a\"]",
            }),
            json!({
                "name": "b", "type": null, "up": null, "label": null, "packets": null, "change": null,
                "mean_wait_s": null, "time_s": null, "delay_s": null, "labels": null, "route": [], "drops": [],
                "extra": [], "event": null,
            }),
        ]
    );
    let packets = child(schema.children, 4);
    assert_eq!(
        metadata(packets),
        [("unit".to_string(), "packets".to_string()), ("meaning".to_string(), "A count.".to_string())]
    );
    assert_eq!(metadata(&schema)[0], ("table".to_string(), "every".to_string()));
}

#[test]
fn an_empty_table_has_the_same_schema() {
    let table = Arc::new(Table::empty(Every::DECL));
    let (schema, array) = (schema(Every::DECL), array(&table));
    assert_eq!((array.length, array.n_children, schema.n_children), (0, 14, 14));
    for place in 0..14 {
        let column: &ArrowArray = child(array.children, place);
        for buffer in 1..column.n_buffers as usize {
            // SAFETY: so many buffers there are.
            assert!(!unsafe { *column.buffers.add(buffer) }.is_null());
        }
    }
}

#[test]
fn what_is_exported_is_given_back_once() {
    let table = Arc::new(two());
    let mut first = array(&table);
    let second = array(&table);
    let each = 1 + 14 + 2 + (1 + 2) * 2;
    assert_eq!(Arc::strong_count(&table), 1 + 2 * each);
    // A consumer may take a child and release the rest.
    // SAFETY: the struct is moved out as the specification says, and the place marked as released.
    let taken = unsafe {
        let place = *first.children;
        let taken = place.read();
        (*place).release = None;
        taken
    };
    let release = first.release.expect("not released");
    // SAFETY: it is called once.
    unsafe { release(&mut first) };
    assert!(first.release.is_none() && Arc::strong_count(&table) == 1 + 1 + each);
    drop(first);
    drop(second);
    assert_eq!(Arc::strong_count(&table), 2, "the child that was taken");
    let names = schema(Every::DECL);
    assert_eq!(read(child(names.children, 0), &taken, 1), json!("b"));
    drop(taken);
    assert_eq!(Arc::strong_count(&table), 1);
}

#[test]
fn a_stream_is_one_batch() {
    let table = Arc::new(two());
    let mut made = stream(&table);
    let (next, describe) = (made.get_next.expect("a function"), made.get_schema.expect("a function"));
    let mut batches = Vec::new();
    // SAFETY: as the specification says: room that holds nothing, until a released array comes.
    unsafe {
        let mut schema = core::mem::MaybeUninit::<ArrowSchema>::uninit();
        assert_eq!(describe(&mut made, schema.as_mut_ptr()), 0);
        let schema = schema.assume_init();
        loop {
            let mut array = core::mem::MaybeUninit::<ArrowArray>::uninit();
            assert_eq!(next(&mut made, array.as_mut_ptr()), 0);
            let array = array.assume_init();
            if array.release.is_none() {
                break;
            }
            batches.push(rows(&schema, &array).len());
        }
    }
    drop(made);
    assert_eq!((batches, Arc::strong_count(&table)), (vec![2], 1));
}

proptest! {
    #[test]
    fn values_arrive_as_they_were(names in prop::collection::vec(("[a-zé]{0,9}", any::<bool>()), 0..40)) {
        let drops = DropCounters::default();
        let mut made = Rows::new();
        made.extend(names.iter().map(|(name, full)| every(name, &drops, *full)));
        let table = Arc::new(made.finish());
        let exact = serde_json::to_value(&*table).expect("json");
        let (schema, array) = (schema(Every::DECL), array(&table));
        let found = rows(&schema, &array);
        prop_assert_eq!(found.len(), names.len());
        for (place, row) in found.iter().enumerate() {
            for decl in Every::DECL.columns {
                let cell = &exact[decl.exact_name()][place];
                match decl.kind {
                    Type::Time | Type::Span => prop_assert_eq!(row[decl.name].as_f64(), cell.as_f64().map(|ps| ps / 1e12)),
                    Type::Map { .. } => prop_assert_eq!(
                        row[decl.name].as_array().map(Vec::len), cell.as_object().map(|pairs| pairs.len())
                    ),
                    Type::Json => prop_assert_eq!(
                        row[decl.name].as_str().map(str::to_string), cell.as_array().map(|_| cell.to_string())
                    ),
                    _ => prop_assert_eq!(&row[decl.name], cell),
                }
            }
        }
    }
}
