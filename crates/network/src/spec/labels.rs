//! Remarks for people and other tools, which nothing here reads.

use base::describe::{Describe, Schema, Schemas, Value, wrong_type};
use base::diagnostic::{At, Diagnostic};

/// Texts by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels(pub Vec<(String, Value)>);

impl Describe for Labels {
    fn read(value: &Value) -> Result<Labels, Diagnostic> {
        let Value::Map(entries) = value else { return Err(wrong_type(value, "a mapping")) };
        for (key, value) in entries {
            if matches!(value, Value::List(_) | Value::Map(_) | Value::Null) {
                return Err(wrong_type(value, "a text or a number")).at(key.as_str());
            }
        }
        Ok(Labels(entries.clone()))
    }
    fn write(&self) -> Value {
        Value::Map(self.0.clone())
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Map(Box::new(Schema::Any))
    }
}
