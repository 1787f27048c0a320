//! Tables of what a node has one of several kinds of, such as its protocols: declared and filled in the folder of the
//! kind, and shown wherever tables of the network are.

use super::{Row, Table, TableDecl};
use core::any::Any;

/// Rows that a `T` of a node fills.
pub trait RowsOf<T>: Row {
    /// Appends those of one node, whose name is `node`.
    fn rows(of: &T, node: &str, to: &mut Table);
}

/// A table of one kind of protocol, driver or the like.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// What users are told of its columns. Its name is unique among all tables.
    pub decl: &'static TableDecl,
    rows: fn(&dyn Any, &str, &mut Table),
}

impl View {
    /// The table of a `T` whose rows are `R`s.
    pub const fn of<T: Any, R: RowsOf<T>>() -> View {
        View {
            decl: R::DECL,
            rows: |of, node, to| {
                if let Some(of) = of.downcast_ref() {
                    R::rows(of, node, to);
                }
            },
        }
    }

    /// Appends the rows of a node, whose name is `node`; none if `of` is of another type.
    pub fn append(&self, of: &dyn Any, node: &str, to: &mut Table) {
        (self.rows)(of, node, to);
    }
}
