//! Tables of next hops that are several: groups that share packets, and lists that copy them.

use super::router::{Hop, hop, operation};
use crate::Network;
use base::plane::{LabelStack, Leg, Member, NextHop};
use base::table::{Rows, Table};
use base::{Label, PortId};
use core::net::IpAddr;
use std::borrow::Cow;

base::table! {
    /// The members of the groups of next hops that entries of tables `ilm`, `ftn` and `fib` name. Each flow takes one
    /// member; when it can't be used, its backup, or else another member.
    pub struct NextHopRow<'a> in "next_hops" key ["group", "member"]
    of (named: [u32; 3], up: bool, hop: Hop<'a>, backup: Option<Hop<'a>>) from known: Member {
        /// The group, by its number at this router.
        group: u32 => named[0],
        /// The member, counted from 0.
        member: u32 => named[1],
        /// The next router; `tester` for one outside the network.
        to: Cow<'a, str> => hop.to,
        /// The port that packets leave by.
        port: Option<PortId> => hop.port,
        /// The address that they are sent to on that port.
        gateway: Option<IpAddr> => hop.gateway,
        /// Labels put on for the way there, outermost first; absent if there are none.
        labels: Option<String> => labels(&known.leg.labels),
        /// Can the port be used?
        up: bool => up,
        /// The next router of the backup; absent without one.
        backup_to: Option<Cow<'a, str>> => backup.as_ref().map(|hop| hop.to.clone()),
        /// Its port; absent without one.
        backup_port: Option<PortId> => backup.as_ref().and_then(|hop| hop.port),
        /// Its address; absent without one.
        backup_gateway: Option<IpAddr> => backup.as_ref().and_then(|hop| hop.gateway),
        /// Labels put on for the way there, outermost first; absent if there are none.
        backup_labels: Option<String> => known.backup.as_ref().and_then(|backup| labels(&backup.leg.labels)),
        /// The label that the backup puts in the place of the entry's outermost one, because its far end knows the LSP
        /// by another label (RFC 4090, 3.2); 3 takes that one off. Absent where it leaves the entry's.
        backup_swap: Option<Label> => known.backup.as_ref().and_then(|backup| backup.swap),
        /// Entries that name the group.
        uses: u32 = "entries" => named[2],
    }
}

base::table! {
    /// The branches of the replication lists that entries of tables `ilm` and `ftn` name. A packet leaves by each of
    /// them.
    pub struct ReplicationRow<'a> in "replications" key ["list", "branch"] {
        /// The list, by its number at this router.
        list: u32,
        /// The branch, counted from 0.
        branch: u32,
        /// The labels that are put on, outermost first, or `pop`.
        out: String,
        /// The next router; `local`, `discard`, `tester` and groups as in table `ilm`.
        to: Cow<'a, str>,
        /// The port that copies leave by; absent if they don't leave, or by a group.
        port: Option<PortId>,
        /// The address that they are sent to on that port; absent as the port is.
        gateway: Option<IpAddr>,
        /// Copies that left by it.
        packets: u64 = "packets",
        /// Their bytes, as frames.
        bytes: u64 = "bytes",
    }
}

/// Labels in the order of the wire, outermost first.
fn labels(stack: &LabelStack) -> Option<String> {
    let labels: Vec<String> = stack.as_slice().iter().rev().map(ToString::to_string).collect();
    (!labels.is_empty()).then(|| labels.join(" "))
}

fn hop_of<'a>(network: &'a Network, node: usize, leg: &Leg) -> Hop<'a> {
    hop(network, node, NextHop::Via { port: leg.port, gateway: leg.gateway })
}

pub fn next_hops(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (node, _, router) in network.routers(only) {
        let (mut group, mut member) = (None, 0);
        table.extend(router.forwarding().groups().map(|row| {
            member = if group == Some(row.group) { member + 1 } else { 0 };
            group = Some(row.group);
            let (leg, backup) = (row.member.leg, row.member.backup);
            let up = router.forwarding().is_usable(leg.port);
            let way = hop_of(network, node, &leg);
            let named = [row.group.0, member, row.uses];
            let other = backup.as_ref().map(|backup| hop_of(network, node, &backup.leg));
            NextHopRow::of(named, up, way, other, row.member)
        }));
    }
    table.finish()
}

pub fn replications(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (node, _, router) in network.routers(only) {
        let (mut list, mut branch) = (None, 0);
        table.extend(router.forwarding().replications().map(|row| {
            branch = if list == Some(row.list) { branch + 1 } else { 0 };
            list = Some(row.list);
            let Hop { to, port, gateway } = hop(network, node, row.nhlfe.next_hop);
            let (out, packets, bytes) = (operation(&row.nhlfe), row.packets, row.bytes);
            ReplicationRow { list: row.list.0, branch, out, to, port, gateway, packets, bytes }
        }));
    }
    table.finish()
}
