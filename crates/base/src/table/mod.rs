//! Tables for users, declared once.
//!
//! [`table!`](crate::table!) declares a row: its fields are the columns, their types say what a cell holds, their doc
//! comments are what users read about it. From that one declaration come the schema of data frames, the text of the
//! control socket, the page `docs/reference/tables.md`, the titles of `twinplane node show` and the metadata of Parquet
//! files.
//!
//! - [`TableDecl`], [`ColumnDecl`], [`Type`]: the declaration
//! - [`Cell`]: which Rust types may stand in a column
//! - [`Column`]: the cells of a column, laid out as Arrow wants them
//! - [`Rows`]: takes rows of one type; [`Table`]: what it becomes, and what crosses to people
//! - [`View`]: a table of one kind of protocol or driver, declared in its folder
//! - [`arrow`]: a table by Arrow's C data interface, without copying its columns
//!
//! Names have their unit as the last word. Times are picoseconds (`_ps`) in Rust and in JSON, where they must be exact,
//! and seconds (`_s`) in data frames: a column declared as `time_s` of type [`Time`](crate::Time) is `time_ps` in JSON.

pub mod arrow;
mod cell;
mod column;
mod declaration;
mod rows;
mod value;
mod view;

#[cfg(test)]
mod tests;

pub use cell::{Cell, Counts, Fields, Figures, Shown, word};
pub use column::{Bits, Column, Data};
pub use declaration::{ColumnDecl, TableDecl, Type, column_name};
pub use rows::{Row, Rows, Table};
pub use value::Value;
pub use view::{RowsOf, View};
