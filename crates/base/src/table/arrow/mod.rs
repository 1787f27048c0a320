//! A table by Arrow's C data interface, whose structs are written here by hand after its published specification.
//!
//! A table is one struct array (`+s`) whose children are its columns. What is exported points into the table itself,
//! which lives until the last of it is released; only times are copied, since they become seconds. Texts and lists have
//! 64-bit offsets (`U`, `+L`).

mod array;
mod schema;
mod stream;

pub use array::{ArrowArray, array};
pub use schema::{ArrowSchema, schema};
pub use stream::{ArrowArrayStream, stream};

#[cfg(test)]
mod tests;
