//! Tables of a protocol: declared and filled in its folder, and shown wherever tables of the network are.

use crate::protocol::Protocol;
use base::table::{Row, Table, TableDecl};
use core::any::Any;

/// The rows of one table of a protocol.
pub trait Rows<P: Protocol>: Row {
    /// Appends those of one node, whose name is `node`.
    fn rows(protocol: &P, node: &str, to: &mut Table);
}

/// A table of a protocol: a line of [`Known::views`](crate::protocol::Known::views).
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// What users are told of its columns. Its name is unique among all tables.
    pub decl: &'static TableDecl,
    rows: fn(&dyn Any, &str, &mut Table),
}

impl View {
    /// The table of a protocol whose rows are `R`s.
    pub const fn of<P: Protocol, R: Rows<P>>() -> View {
        View {
            decl: R::DECL,
            rows: |protocol, node, to| {
                if let Some(protocol) = protocol.downcast_ref() {
                    R::rows(protocol, node, to);
                }
            },
        }
    }

    /// Appends the rows of a node, whose name is `node`.
    pub fn append(&self, protocol: &dyn Protocol, node: &str, to: &mut Table) {
        (self.rows)(protocol, node, to);
    }
}
