//! A made-up description, read and refused.

use super::*;
use crate::diagnostic::{Kind, Step};
use crate::time::{Rate, Span};

crate::words! {
    /// Which way it is done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Way {
        /// From the left.
        Left = "left",
        /// From the right.
        Right = "right" was "starboard",
    }
}

crate::record! {
    /// A made-up link.
    #[derive(Clone, Debug, PartialEq)]
    struct Wire {
        /// Its name.
        name: Name;
        /// Propagation delay.
        delay: Span = Span::ZERO;
        /// Rate of both ends.
        rate: Option<Rate>, in 1..=9_000_000_000, absent "as fast as it goes";
        /// Cost.
        metric as "cost": u32 = 1, in 1..=100, was "weight";
        /// Which way.
        way: Way = Way::Left;
        /// What else there is.
        inner: Vec<(Name, Wire)> = Vec::new();
    }
}

crate::record! {
    /// Nothing to say.
    #[derive(Clone, Debug, PartialEq)]
    struct Bare {}
}

crate::choice! {
    /// A wire or nothing.
    #[derive(Clone, Debug, PartialEq)]
    enum Medium by "kind" {
        /// A wire.
        Wire(Wire) = "wire",
        /// None.
        Bare(Bare) = "bare",
    }
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("well formed")
}

fn refused<T: Describe + core::fmt::Debug>(json: &str) -> Diagnostic {
    T::read(&value(json)).expect_err(json)
}

#[test]
fn a_record_reads_what_it_writes() {
    let wire = Wire::read(&value(
        r#"{"name": "a", "delay": "50 us", "way": "right", "inner": {"b": {"name": "b"}}}"#,
    ));
    let wire = wire.expect("right");
    assert_eq!((wire.delay, wire.metric, wire.way, wire.rate), (Span::from_us(50), 1, Way::Right, None));
    assert_eq!(wire.inner[0].0.to_string(), "b");
    assert_eq!(Wire::read(&wire.write()).expect("written"), wire);
    let medium = Medium::read(&value(r#"{"kind": "wire", "name": "a"}"#)).expect("a wire");
    assert_eq!(medium.word(), "wire");
    assert_eq!(Medium::read(&medium.write()).expect("written"), medium);
    assert!(matches!(Medium::read(&value(r#"{"kind": "bare"}"#)), Ok(Medium::Bare(_))));
}

#[test]
fn each_mistake_has_its_place_its_kind_and_its_words() {
    let cases: [(&str, &str, Kind); 13] = [
        (r#"{"nam": "a"}"#, "nam: unknown field 'nam' (did you mean 'name'?)", Kind::UnknownName),
        (r#"{"name": "a", "weight": 3}"#, "weight: 'weight' is called 'cost' now", Kind::UnknownName),
        (r#"{}"#, "name is missing", Kind::WrongType),
        (r#"{"name": "a", "cost": 0}"#, "cost: 0: it should be 1 to 100", Kind::OutOfRange),
        // The bounds are those of the field, also where its type could not hold the number.
        (r#"{"name": "a", "cost": -1}"#, "cost: -1: it should be 1 to 100", Kind::OutOfRange),
        (r#"{"name": "a", "cost": 4294967296}"#, "cost: 4294967296: it should be 1 to 100", Kind::OutOfRange),
        (r#"{"name": "a", "cost": "x"}"#, "cost: 'x': it should be a whole number", Kind::WrongType),
        (r#"{"name": "a", "rate": 0}"#, "rate: 0: it is not above zero", Kind::OutOfRange),
        (
            r#"{"name": "a", "rate": "10 Gbit/s"}"#,
            "rate: 10 Gbit/s: it should be 1 bit/s to 9 Gbit/s",
            Kind::OutOfRange,
        ),
        (
            r#"{"name": "a", "way": "lef"}"#,
            "way: 'lef' is none of left or right (did you mean 'left'?)",
            Kind::UnknownName,
        ),
        (r#"{"name": "a", "way": "starboard"}"#, "way: 'starboard' is called 'right' now", Kind::UnknownName),
        (
            r#"{"name": "a", "inner": {"b": {"name": ""}}}"#,
            "inner/b/name: '' is not a name: it has up to 32 letters, digits, '-', '_' and '.', and begins with a letter or a digit",
            Kind::WrongType,
        ),
        (r#"[1]"#, "a list: it should be a mapping", Kind::WrongType),
    ];
    for (json, said, kind) in cases {
        let error = refused::<Wire>(json);
        assert_eq!((error.to_string().as_str(), error.kind()), (said, kind), "{json}");
    }
    assert!(refused::<Wire>(r#"{"nam": "a"}"#).is_on_key());
    assert_eq!(
        refused::<Medium>(r#"{"kind": "wir", "name": "a"}"#).path().collect::<Vec<_>>(),
        [&Step::from("kind")]
    );
    assert_eq!(refused::<Medium>(r#"{"name": "a"}"#).to_string(), "kind is missing: wire or bare");
    assert_eq!(refused::<Medium>(r#"{"kind": "bare", "x": 1}"#).to_string(), "x: unknown field 'x'");
}

#[test]
fn a_schema_says_all_that_the_declaration_says() {
    let mut known = Schemas::default();
    assert_eq!(Medium::schema(&mut known), Schema::Named("Medium"));
    let names: Vec<&str> = known.iter().map(|entry| entry.0).collect();
    assert_eq!(names, ["Medium", "Wire", "Bare"]);
    let Some((_, Named::Record(wire))) = known.iter().nth(1) else { panic!("a record") };
    let field = |key: &str| wire.fields.iter().find(|field| field.key == key).expect(key);
    assert_eq!(field("cost").schema, Schema::Int { least: 1, most: 100 });
    assert_eq!((field("cost").default.clone(), field("cost").is_required), (Some(Value::Int(1)), false));
    assert!(field("name").is_required && field("rate").absent == Some("as fast as it goes"));
    assert_eq!(field("inner").schema, Schema::Map(Box::new(Schema::Named("Wire"))));
    assert_eq!(field("delay").meaning, "Propagation delay.");
}
