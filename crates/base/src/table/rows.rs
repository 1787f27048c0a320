//! Rows become a table.

use super::{Column, TableDecl};
use core::marker::PhantomData;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A row of a table, as [`table!`](crate::table!) declares it.
pub trait Row {
    /// Name, columns and key of the table whose rows these are.
    const DECL: &'static TableDecl;
    /// Appends the row to the columns of the declaration, in its order.
    fn push(self, columns: &mut [Column]);
}

/// A table under construction.
pub struct Rows<R> {
    table: Table,
    rows: PhantomData<fn(R)>,
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Rows<R> {
        Rows::new()
    }
}

impl<R: Row> Rows<R> {
    /// A table without rows so far.
    pub fn new() -> Rows<R> {
        Rows { table: Table::empty(R::DECL), rows: PhantomData }
    }

    /// Appends a row behind those that are there.
    pub fn push(&mut self, row: R) {
        self.table.push(row);
    }

    /// The table of all rows, in the order in which they were given.
    pub fn finish(self) -> Table {
        self.table
    }
}

impl<R: Row> Extend<R> for Rows<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.push(row));
    }
}

impl<R: Row> FromIterator<R> for Table {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Table {
        let mut table = Rows::new();
        table.extend(rows);
        table.finish()
    }
}

/// A table: columns of equal length, and what they mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    decl: &'static TableDecl,
    len: usize,
    columns: Vec<Column>,
}

impl Table {
    /// A table without rows; it has all its columns.
    pub fn empty(decl: &'static TableDecl) -> Table {
        Table { decl, len: 0, columns: decl.columns.iter().map(|column| Column::new(column.kind)).collect() }
    }

    /// Appends a row of the declaration that the table was made with.
    ///
    /// # Panics
    /// If the row is of another table.
    pub fn push<R: Row>(&mut self, row: R) {
        assert!(self.decl.name == R::DECL.name, "a row of {} in table {}", R::DECL.name, self.decl.name);
        row.push(&mut self.columns);
        self.len += 1;
    }

    /// What is declared of it.
    pub fn decl(&self) -> &'static TableDecl {
        self.decl
    }
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The columns, in the order of the declaration.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
    /// A column by its name, in data frames or in JSON.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let place = self.decl.columns.iter().position(|c| c.name == name || c.exact_name() == name);
        place.map(|place| &self.columns[place])
    }
}

/// An object of columns, as the control socket gives it: times are picoseconds.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut columns = to.serialize_map(Some(self.columns.len()))?;
        for (decl, column) in self.decl.columns.iter().zip(&self.columns) {
            columns.serialize_entry(&decl.exact_name(), column)?;
        }
        columns.end()
    }
}
