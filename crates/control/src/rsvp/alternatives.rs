//! The best k paths of a tunnel, which its head end tries in their order: when one is refused, or no reservation comes
//! in time, the next of them is signalled, and when the last one has failed the tunnel waits as after all routes.

use super::Rsvp;
use super::computed::Computed;
use super::faults::Fault;
use super::tunnel::Tunnel;
use crate::services::te::{Constraints, Disjoint, NoPath, TeHop, TePath};

/// A path of those that a head end has at hand.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub path: TePath,
    /// An LSP was signalled along it since the paths were looked for.
    pub is_tried: bool,
}

impl Tunnel {
    /// How many paths are tried before the next search; one means a search after each failure.
    pub(super) fn k(&self) -> usize {
        self.spec.path.as_ref().map_or(1, |path| path.k.max(1) as usize)
    }

    /// What its standby has not in common with the LSP that carries traffic, if there is to be one.
    pub(super) fn wanted_standby(&self) -> Option<Disjoint> {
        self.spec.path.as_ref().and_then(|path| path.standby).filter(|_| self.spec.routes.is_empty())
    }
}

impl Computed {
    /// The paths are looked for again before the next attempt.
    pub(super) fn begin_round(&mut self) {
        self.is_searched = false;
    }

    /// The next path is not to be this one, if there is another.
    pub(super) fn put_last(&mut self, failed: Vec<TeHop>) {
        self.last = failed;
    }
}

impl Rsvp {
    /// The path of a tunnel's next LSP: of several the next one that still does, else the best one.
    pub(super) fn next_path(&mut self, index: u32, constraints: &Constraints) -> Result<TePath, NoPath> {
        let (router_id, now) = (self.config.router_id, self.now);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return Err(NoPath::Unknown(router_id));
        };
        let (to, k, standby) = (tunnel.spec.to, tunnel.k(), tunnel.wanted_standby());
        let computed = tunnel.computed.get_or_insert_default();
        let engineering = &mut self.services.engineering;
        if k == 1 {
            return engineering.path(now, router_id, to, constraints);
        }
        if !computed.is_searched {
            let found = engineering.alternatives(now, (router_id, to), constraints, k, standby);
            let last = core::mem::take(&mut computed.last);
            let mut paths = found.inspect_err(|_| computed.alternatives.clear())?;
            // What has just failed, nobody knows where, is the last to be tried again.
            paths.sort_by_key(|path| path.hops == last);
            computed.alternatives =
                paths.into_iter().map(|path| Alternative { path, is_tried: false }).collect();
            computed.is_searched = true;
        }
        // The database may have changed since, and a refusal counts for all paths by that link.
        let next = computed.alternatives.iter_mut().filter(|one| !one.is_tried).find_map(|one| {
            let (cost, left) = engineering.cost_of(now, router_id, &one.path.hops, constraints)?;
            one.is_tried = true;
            Some(TePath { cost, left, ..one.path.clone() })
        });
        next.ok_or(NoPath::Tried { count: computed.alternatives.len() })
    }

    /// The path that a new round would begin with.
    pub(super) fn first_path(&mut self, index: u32, constraints: &Constraints) -> Option<TePath> {
        let (router_id, now) = (self.config.router_id, self.now);
        let tunnel = self.tunnels.get(index)?;
        let (to, standby) = (tunnel.spec.to, tunnel.wanted_standby());
        let count = if standby.is_some() { tunnel.k() } else { 1 };
        let engineering = &mut self.services.engineering;
        let found = engineering.alternatives(now, (router_id, to), constraints, count, standby);
        Some(found.ok()?.swap_remove(0))
    }

    /// Is no standby possible beside the path of these links, though one is wanted?
    pub(super) fn is_alone(&mut self, index: u32, constraints: &Constraints, hops: &[TeHop]) -> bool {
        let (router_id, now) = (self.config.router_id, self.now);
        let Some(tunnel) = self.tunnels.get(index) else { return false };
        let Some(what) = tunnel.wanted_standby() else { return false };
        let (to, engineering) = (tunnel.spec.to, &mut self.services.engineering);
        engineering.path_beside(now, (router_id, to), constraints, hops, what).is_err()
    }
}
