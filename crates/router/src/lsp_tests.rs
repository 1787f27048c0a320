//! Tests of LSPs (RFC 8029) under way: a client gets the rows of its test when it has ended.

use crate::server::ClientId;
use base::describe;
use network::Network;
use serde_json::{Map, Value};

/// Tests of all clients that are under way at most.
const PENDING_MAX: usize = 64;

/// A test that a client waits for.
struct Pending {
    client: ClientId,
    number: u32,
}

/// All that is under way.
#[derive(Default)]
pub struct LspTests {
    pending: Vec<Pending>,
}

impl LspTests {
    /// Begins a test for a client.
    pub fn begin(
        &mut self,
        network: &mut Network,
        node: usize,
        client: ClientId,
        asked: &describe::Value,
    ) -> Result<(), String> {
        if self.pending.len() >= PENDING_MAX {
            return Err(format!("{PENDING_MAX} tests of LSPs are under way already"));
        }
        let number = network.test_lsp(node, asked).map_err(|error| error.to_string())?;
        self.pending.push(Pending { client, number });
        Ok(())
    }

    /// Whether a client waits for a test.
    pub fn any(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The answers to tests that have ended.
    pub fn finished(&mut self, network: &mut Network, node: usize) -> Vec<(ClientId, Result<Value, String>)> {
        let done: Vec<Pending> =
            self.pending.extract_if(.., |one| network.is_lsp_tested(node, one.number)).collect();
        done.into_iter().map(|one| (one.client, rows(network, node, one.number))).collect()
    }

    /// Forgets those whose client is gone.
    pub fn keep(&mut self, is_there: impl Fn(ClientId) -> bool) {
        self.pending.retain(|pending| is_there(pending.client));
    }
}

/// The rows of a test in table `lsp_probes`: columns of equal length.
fn rows(network: &mut Network, node: usize, number: u32) -> Result<Value, String> {
    let table = network.table_json("lsp_probes", Some(node)).map_err(|error| error.to_string())?;
    let Value::Object(columns) = table else { return Ok(table) };
    let numbers = columns.get("number").and_then(Value::as_array).cloned().unwrap_or_default();
    let of = |column: Value| match column {
        Value::Array(cells) => {
            cells.into_iter().zip(&numbers).filter(|(_, of)| **of == number).map(|(cell, _)| cell).collect()
        }
        other => other,
    };
    Ok(Value::Object(columns.into_iter().map(|(name, column)| (name, of(column))).collect::<Map<_, _>>()))
}
