//! How the routes of a whole network come about, as users write it.

use base::Span;
use base::describe::{Choice, Describe, Named, Record, Schema, Schemas, Value, Word, unknown_word};
use base::diagnostic::Diagnostic;

base::record! {
    /// Routes that are computed anew, for all routers at once, when a link or a node goes down or comes back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ShortestSpec {
        /// From the change of a link or a node to the moment at which somebody notices it.
        pub detection: Span = Span::from_ms(50), in 0..=9_223_372_036_854_775_807;
        /// From that moment to the one at which routers are given the new routes.
        pub computation: Span = Span::from_ms(200), in 0..=9_223_372_036_854_775_807;
    }
}

base::choice! {
    /// How the routes of a network come about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RoutingSpec by "kind" {
        /// Shortest paths over the links that can be used, computed anew after each failure and each repair.
        Shortest(ShortestSpec) = "shortest",
    }
    read by hand;
}

const SHORTEST: &str = "shortest";

impl RoutingSpec {
    /// From a change to the routes that follow from it.
    pub fn delay(&self) -> Span {
        let RoutingSpec::Shortest(spec) = self;
        spec.detection + spec.computation
    }
}

/// A mapping, or the word alone.
impl Describe for RoutingSpec {
    fn read(value: &Value) -> Result<RoutingSpec, Diagnostic> {
        match value {
            Value::Map(_) => RoutingSpec::read_choice(value),
            Value::Text(word) if word == SHORTEST => {
                ShortestSpec::read_record(&Value::Map(Vec::new()), "").map(RoutingSpec::Shortest)
            }
            other => Err(unknown_word(other, RoutingSpec::WORDS)),
        }
    }
    fn write(&self) -> Value {
        self.write_choice()
    }
    fn schema(known: &mut Schemas) -> Schema {
        let word = Word { word: SHORTEST, meaning: "With the usual delays.".into() };
        known.named("RoutingSpec", |known| {
            let short = vec![Schema::Words(vec![word])];
            Named::Choice(Choice { short, ..RoutingSpec::choice_schema(known) })
        })
    }
    fn example() -> Option<&'static str> {
        Some(SHORTEST)
    }
}
