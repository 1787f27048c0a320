//! The tables of a tree: a list for each way in which packets come, with all of the tree but that.

use super::Cbt;
use super::tree::{Way, Written, incoming};
use crate::protocol::{Context, Message, Output};
use base::plane::{
    Batch, GroupKey, Incoming, LabelStack, NextHop, Nhlfe, ReplicationId, TableOp, TcSource, TransactionId,
    TtlModel,
};
use base::{Label, PortId};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

impl Cbt {
    /// Has the tables follow the tree of a group, and sends messages when they do.
    pub(super) fn write(&mut self, context: &mut Context<'_>, group: Ipv4Addr, then: Vec<Message>) {
        let Some(tree) = self.trees.get_mut(&group) else { return };
        let key = GroupKey { group: group.into(), source: None };
        let ways = tree.ways(group);
        let groups = &mut context.services.multicast;
        let mut ops = Vec::new();
        // Labels that are not on the tree yet lead nowhere, so that nobody else gets what comes with them.
        for label in tree.labels().collect::<BTreeSet<_>>() {
            let branches = ways.iter().find(|(way, _)| *way == Way::Label(label));
            let branches = branches.map(|(_, branches)| branches.clone()).unwrap_or_default();
            match tree.written.get_mut(&label) {
                Some(written) if written.branches == branches => {}
                Some(written) => {
                    ops.push(set(written.list, &branches));
                    written.branches = branches;
                }
                None => {
                    let list = groups.list();
                    ops.push(set(list, &branches));
                    ops.push(TableOp::IlmSet { label, nhlfe: to_list(list) });
                    tree.written.insert(label, Written { list, branches });
                }
            }
        }
        let used: BTreeSet<Label> = tree.labels().collect();
        let gone: Vec<Label> = tree.written.keys().copied().filter(|label| !used.contains(label)).collect();
        for label in &gone {
            if let Some(written) = tree.written.remove(label) {
                ops.push(TableOp::IlmRemove { label: *label });
                ops.push(TableOp::ReplicationRemove { list: written.list });
            }
        }
        let plain: Vec<(PortId, Vec<Nhlfe>)> = ways
            .into_iter()
            .filter_map(|(way, branches)| match way {
                Way::Plain(port) => Some((port, branches)),
                Way::Label(_) => None,
            })
            .collect();
        let kept: BTreeSet<Incoming> = plain.iter().map(|(port, _)| incoming(*port)).collect();
        for (port, branches) in plain {
            groups.set(Cbt::ID, (key, incoming(port)), branches);
        }
        for (other, way) in groups.ways(Cbt::ID) {
            if other == key && !kept.contains(&way) {
                groups.set(Cbt::ID, (key, way), Vec::new());
            }
        }
        if ops.is_empty() && then.is_empty() {
            return;
        }
        self.transaction += 1;
        let transaction = TransactionId(self.transaction);
        self.announced.insert(self.transaction, then);
        self.leaving.insert(self.transaction, gone);
        // What is announced is in force when the batch is answered, also what earlier ones wrote.
        self.outputs.push_back(Output::Tables(Batch { transaction, ops, barrier: true }));
    }
}

fn set(list: ReplicationId, branches: &[Nhlfe]) -> TableOp {
    TableOp::ReplicationSet { list, branches: branches.into() }
}

fn to_list(list: ReplicationId) -> Nhlfe {
    let (ttl, tc) = (TtlModel::Uniform, TcSource::Copy);
    Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Replicate(list), ttl, tc }
}
