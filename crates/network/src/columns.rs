//! Tables as columns of equal length.

use serde_json::{Map, Value};

/// A table under construction: rows of named values become columns.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    columns: Vec<Vec<Value>>,
}

impl Columns {
    /// A table with these columns.
    pub fn new(names: &[&'static str]) -> Columns {
        Columns { names: names.to_vec(), columns: vec![Vec::new(); names.len()] }
    }

    /// Adds a row; its values are in the order of the columns.
    pub fn push<const N: usize>(&mut self, row: [Value; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// An object of columns.
    pub fn finish(self) -> Value {
        let columns = self.columns.into_iter().map(Value::Array);
        Value::Object(self.names.into_iter().map(String::from).zip(columns).collect::<Map<_, _>>())
    }
}
