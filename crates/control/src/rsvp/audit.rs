//! What is left: for tests that nothing leaks.

use super::{Rsvp, transport};
use base::{PortId, Rate};

/// State, labels, bandwidth and timers in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// LSPs with path state, each counted once.
    pub lsps: usize,
    /// Sessions with at least one LSP.
    pub sessions: usize,
    /// Tunnels that start here.
    pub tunnels: usize,
    /// Prefixes mapped to LSPs.
    pub mappings: usize,
    /// Labels allocated from this router's range and not given back.
    pub labels: usize,
    /// Bandwidth reserved, by port; ports without any are left out.
    pub reserved: Vec<(PortId, Rate)>,
    /// Ports that still list a holder of bandwidth.
    pub holders: usize,
    /// Parts of point-to-multipoint LSPs: tunnels that begin here, LSPs, sub-groups, and branches.
    pub p2mp: [usize; 4],
    /// Groups of next hops with a bypass as backup.
    pub groups: usize,
    /// LSPs that have a detour here, or wait for one.
    pub detours: usize,
    /// LSPs between which selectors choose.
    pub selected: usize,
    /// Lists by which packets go over several LSPs.
    pub bridges: usize,
    /// Timers that have been set and have neither expired nor been taken back.
    pub timers: usize,
    /// Batches of table writes that were not acknowledged.
    pub transactions: usize,
    /// What the transport holds; neighbours and Hellos may stay.
    pub transport: transport::Audit,
    /// Outputs that were not polled.
    pub outputs: usize,
}

impl Audit {
    /// True if everything was given back but neighbours and Hellos, which may stay.
    pub fn is_empty(&self) -> bool {
        let transport = transport::Audit::default();
        self.transport.is_empty() && Audit { transport, ..self.clone() } == Audit::default()
    }
}

impl Rsvp {
    /// Counts what the speaker holds now, for tests that end with everything torn down.
    pub fn audit(&self) -> Audit {
        let reserved = self.links.iter().filter(|link| link.total() > 0);
        Audit {
            lsps: self.store.len(),
            sessions: self.store.sessions(),
            tunnels: self.tunnels.len(),
            mappings: self.held.bindings,
            labels: self.held.labels,
            reserved: reserved.map(|link| (link.interface.port, Rate(link.total()))).collect(),
            holders: self.links.iter().filter(|link| link.holders != [super::slab::NIL; 8]).count(),
            p2mp: self.p2mp.held(),
            groups: self.protections.groups(),
            detours: self.protections.detours(),
            selected: self.selectors.values().map(|selector| selector.members.len()).sum(),
            bridges: self.tunnels.iter().filter(|(_, tunnel)| tunnel.bridge.is_some()).count(),
            timers: self.wheel.len(),
            transactions: self.tables.pending(),
            transport: self.transport.audit(),
            outputs: self.outputs.len() + self.lost.len(),
        }
    }
}
