//! Each packet of a tunnel over all of its LSPs, so that the end can take those of any (protection 1+1): the permanent
//! bridge of the head end, where 1:1 moves the traffic.
//!
//! What the tunnel carries is mapped to a replication list, whose branches are the LSPs: the one that would carry the
//! traffic alone, the standby when it is ready, and those that carried it before until they are torn down. An LSP that
//! comes or goes changes the list alone, by one write.

use super::Rsvp;
use super::command::TunnelSpec;
use super::ftn::{below_null6, is_ipv6};
use super::states::StandbyState;
use super::tables::Purpose;
use super::tunnel::Tunnel;
use base::plane::{Fec, Nhlfe, ReplicationId, TableOp};

/// What a tunnel is mapped to whose packets go over all of its LSPs.
#[derive(Clone, Debug)]
pub(super) struct Bridge {
    list: ReplicationId,
    /// The same for IPv6, which has a label of its own below (RFC 4798, 3); absent if the tunnel carries none.
    list6: Option<ReplicationId>,
    branches: Vec<Nhlfe>,
}

/// The entries of what a tunnel carries: of IPv4, and of IPv6.
pub(super) struct Entries {
    pub ipv4: Nhlfe,
    pub ipv6: Nhlfe,
}

impl Entries {
    /// Of one LSP, whose entry for IPv4 is `nhlfe`.
    pub(super) fn of(nhlfe: Nhlfe) -> Entries {
        Entries { ipv4: nhlfe, ipv6: below_null6(nhlfe) }
    }

    pub(super) fn get(&self, fec: &Fec) -> Nhlfe {
        if is_ipv6(fec) { self.ipv6 } else { self.ipv4 }
    }
}

impl Tunnel {
    /// Are packets to go over all of its LSPs?
    pub(super) fn is_one_plus_one(&self) -> bool {
        self.wanted_standby().is_some() && self.spec.path.as_ref().is_some_and(|path| path.one_plus_one)
    }

    /// The standby, if it is reserved.
    pub(super) fn ready_standby(&self) -> Option<u32> {
        let standby = &self.computed.as_ref()?.standby;
        standby.lsp.filter(|_| standby.state == StandbyState::Ready)
    }

    /// The LSP whose packets these would be alone, once what is being written is in force.
    fn first(&self) -> Option<u32> {
        if self.state.is_mapping() { self.candidate } else { self.active }
    }
}

impl Rsvp {
    /// What `first` and the other LSPs of a tunnel do with its packets.
    fn bridged(&self, tunnel: &Tunnel, first: u32) -> Vec<Nhlfe> {
        let retiring = tunnel.retiring.iter().map(|entry| entry.1);
        let others = [tunnel.first(), tunnel.active, tunnel.ready_standby()].into_iter().flatten();
        let mut all = vec![first];
        for lsp in others.chain(retiring) {
            if !all.contains(&lsp) {
                all.push(lsp);
            }
        }
        let reserved = all.into_iter().filter_map(|lsp| self.store.get(lsp)).filter(|lsp| lsp.is_reserved());
        reserved.map(|lsp| self.nhlfe_of(lsp)).collect()
    }

    /// Has packets of a tunnel that is 1+1 copied to `first` and its other LSPs: the writes that this takes, and what
    /// the packets are mapped to then. Nothing of other tunnels.
    pub(super) fn bridge(
        &mut self,
        index: u32,
        first: u32,
        spec: &TunnelSpec,
    ) -> Option<(Vec<TableOp>, Entries)> {
        let tunnel = self.tunnels.get(index).filter(|tunnel| tunnel.is_one_plus_one())?;
        let branches = self.bridged(tunnel, first);
        let known = tunnel.bridge.clone();
        let has_ipv6 = !spec.carries6.is_empty() || spec.filters.iter().any(|filter| filter.is_ipv6());
        let lists = &mut self.services.multicast;
        let list = known.as_ref().map_or_else(|| lists.list(), |known| known.list);
        let list6 = known.and_then(|known| known.list6).or_else(|| has_ipv6.then(|| lists.list()));
        let bridge = Bridge { list, list6, branches };
        let ops = bridge.writes();
        self.tunnels.get_mut(index)?.bridge = Some(bridge);
        let (ipv4, ipv6) = (self.replicate(list), self.replicate(list6.unwrap_or(list)));
        Some((ops, Entries { ipv4, ipv6 }))
    }

    /// The LSPs of a tunnel may be others than before: its packets go over those that there are, if they go over all.
    pub(super) fn bridge_changed(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get(index) else { return };
        let Some(known) = &tunnel.bridge else { return };
        let branches = tunnel.first().map(|first| self.bridged(tunnel, first));
        if branches.as_ref() == Some(&known.branches) {
            return;
        }
        let Some(branches) = branches else { return self.bridge_end(index) };
        let bridge = Bridge { branches, ..known.clone() };
        let ops = bridge.writes();
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.bridge = Some(bridge);
        }
        self.write_ftn(ops);
    }

    /// Nothing is mapped to the LSPs of a tunnel together any more.
    pub(super) fn bridge_end(&mut self, index: u32) {
        let bridge = self.tunnels.get_mut(index).and_then(|tunnel| tunnel.bridge.take());
        let Some(bridge) = bridge else { return };
        let lists = [Some(bridge.list), bridge.list6].into_iter().flatten();
        let ops = lists.map(|list| TableOp::ReplicationRemove { list }).collect();
        self.write(ops, true, Purpose::Nothing);
    }
}

impl Bridge {
    fn writes(&self) -> Vec<TableOp> {
        let ipv4 = TableOp::ReplicationSet { list: self.list, branches: self.branches.clone().into() };
        let ipv6 = self.list6.map(|list| {
            let branches = self.branches.iter().map(|branch| below_null6(*branch)).collect();
            TableOp::ReplicationSet { list, branches }
        });
        [Some(ipv4), ipv6].into_iter().flatten().collect()
    }
}
