//! Channels of ATM that are labels (RFC 3035). No cell comes here: what is written is kept, and handed on to whoever
//! has the ports of cells.

use crate::tables::Forwarding;
use base::plane::{CircuitTo, TableError, TableOp};
use base::{Label, PortId};
use std::collections::{BTreeMap, VecDeque};

/// What was written of channels.
#[derive(Clone, Debug, Default)]
pub struct Circuits {
    ways: BTreeMap<(PortId, Label), CircuitTo>,
    hops: BTreeMap<(PortId, Label), u8>,
    changes: VecDeque<TableOp>,
}

impl Circuits {
    /// Keeps an operation, and has it handed on.
    pub(crate) fn apply(&mut self, op: &TableOp) -> Result<(), TableError> {
        let was_there = match *op {
            TableOp::CircuitSet { port, label, to } => {
                self.ways.insert((port, label), to);
                true
            }
            TableOp::CircuitRemove { port, label } => self.ways.remove(&(port, label)).is_some(),
            TableOp::CircuitHops { port, label, hops: Some(hops) } => {
                self.hops.insert((port, label), hops);
                true
            }
            TableOp::CircuitHops { port, label, hops: None } => self.hops.remove(&(port, label)).is_some(),
            _ => true,
        };
        if !was_there {
            return Err(TableError::NoEntry);
        }
        self.changes.push_back(op.clone());
        Ok(())
    }
}

impl Forwarding {
    /// The next operation about channels that was carried out since this was asked last.
    #[inline]
    pub fn poll_circuit(&mut self) -> Option<TableOp> {
        self.circuits.as_mut()?.changes.pop_front()
    }

    /// All that is in force of channels, as operations that write it.
    pub fn circuits(&self) -> impl Iterator<Item = TableOp> {
        let ways = self.circuits.iter().flat_map(|circuits| &circuits.ways);
        let hops = self.circuits.iter().flat_map(|circuits| &circuits.hops);
        ways.map(|(&(port, label), &to)| TableOp::CircuitSet { port, label, to })
            .chain(hops.map(|(&(port, label), &hops)| TableOp::CircuitHops { port, label, hops: Some(hops) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Config;

    #[test]
    fn what_is_written_is_handed_on_once() {
        let mut tables = Forwarding::new(Config::default());
        let (port, label) = (PortId(1), Label::truncate(40));
        let to = CircuitTo::Over { port: PortId(2), label: Label::truncate(41), merges: false };
        let set = TableOp::CircuitSet { port, label, to };
        let hops = TableOp::CircuitHops { port, label, hops: Some(3) };
        for op in [&set, &hops] {
            assert_eq!(tables.apply(op), Ok(()));
        }
        assert_eq!(tables.circuits().collect::<Vec<_>>(), [set.clone(), hops.clone()]);
        assert_eq!(
            [tables.poll_circuit(), tables.poll_circuit(), tables.poll_circuit()],
            [Some(set), Some(hops), None]
        );
        let gone = TableOp::CircuitRemove { port, label };
        assert_eq!((tables.apply(&gone), tables.apply(&gone)), (Ok(()), Err(TableError::NoEntry)));
        let gone = TableOp::CircuitHops { port, label, hops: None };
        assert_eq!((tables.apply(&gone), tables.apply(&gone)), (Ok(()), Err(TableError::NoEntry)));
        assert_eq!(tables.circuits().count(), 0);
    }
}
