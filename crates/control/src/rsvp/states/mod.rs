//! The states of all that RSVP-TE keeps, as tables: path state blocks, reservation state blocks, tunnels, neighbours.
//!
//! Which values a block holds is a matter of its own file (`lsp`, `tunnel`, `transport/neighbor`). Here stands how far
//! it has come, and what may happen to it there. What happens in a state that has no step for it is a fault of this
//! program: see [`super::faults`].

mod detour;
mod neighbor;
mod path;
mod protection;
mod resv;
mod selector;
mod standby;
#[cfg(test)]
mod tests;
mod tunnel;

pub(super) use detour::{DetourEvent, DetourState};
pub(super) use neighbor::{HelloEvent, HelloState, ReductionEvent, ReductionState};
pub(super) use path::{PathEvent, PathState};
pub(super) use protection::{ProtectionEvent, ProtectionState};
pub(super) use resv::{ResvEvent, ResvState};
pub(super) use selector::{SelectorEvent, SelectorState};
pub(super) use standby::{StandbyEvent, StandbyState};
pub(super) use tunnel::{TunnelEvent, TunnelState};

use super::p2mp::states::{BranchState, FeedState, LeafState, RootState, SubState};
use crate::machine::{Chart, State};

/// The machines, in the order in which a message meets them.
pub(crate) const CHARTS: &[Chart] = &[
    PathState::CHART,
    ResvState::CHART,
    ProtectionState::CHART,
    DetourState::CHART,
    TunnelState::CHART,
    StandbyState::CHART,
    SelectorState::CHART,
    HelloState::CHART,
    ReductionState::CHART,
    SubState::CHART,
    BranchState::CHART,
    FeedState::CHART,
    LeafState::CHART,
    RootState::CHART,
];
