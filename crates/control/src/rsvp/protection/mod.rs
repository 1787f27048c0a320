//! Fast reroute (RFC 4090): LSPs that go on around a link or a router that fails.
//!
//! A point of local repair (PLR) has a bypass tunnel ready to a router further down the LSP, the merge point (MP). The
//! entries of the LSP lead to a group of next hops whose backup is the bypass: what fails is one port, and one write in
//! the record of that port moves all that goes by it. What is signalled afterwards keeps the state of the LSP alive.
//!
//! One-to-one backup has no bypass tunnel: each LSP has a detour of its own, and its entry is written anew when its
//! next hop fails.
//!
//! - what is asked for and kept: here; bypass tunnels: `bypass`; which of them an LSP takes: `select`
//! - entries and groups: `entry`; the PLR after a failure, and back: `divert`; its messages: `around`
//! - detours at the PLR: `detour`; their ways: `detour_way`; where they come together: `detour_merge`
//! - the merge point: `merge`; as tables: `shown`, `detours_shown`

mod around;
mod bypass;
mod detour;
mod detour_merge;
mod detour_way;
pub(super) mod detours_shown;
mod divert;
mod entry;
mod merge;
mod select;
pub(super) mod shown;
pub(super) mod turns;

pub(super) use detour_merge::combine;
pub(super) use merge::{BACKUPS_MAX, Joined, Merged, asks};
pub(super) use select::{ASKING, Candidate, End, Wish, is_unchanged, recorded};

use super::lsp::Lsp;
use super::states::ProtectionState;
use super::transport::Neighbor;
use base::plane::GroupId;
use base::{Label, PortId, Rate, Span, Time, TimerId};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::rsvp::{FastReroute, Object, SessionAttribute, Unknown, class};

/// What a head end asks for, so that an LSP of a tunnel is repaired where a link or a router fails (RFC 4090, 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProtectionRequest {
    /// Around the next router, where there is a way, and not only around the link to it.
    pub node: bool,
    /// With as much bandwidth as the LSP has.
    pub bandwidth: bool,
    /// By a detour of each LSP at each router, and not by bypass tunnels (RFC 4090, 3.1).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub one_to_one: bool,
}

/// What makes a tunnel a bypass: LSPs that leave by a link go on through it when that fails (RFC 4090, 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bypass {
    /// The head end's address on the link that is protected.
    pub link: Ipv4Addr,
    /// Addresses of the router that the tunnel ends at, the merge point, beside the one that it is set up to: recorded
    /// routes name any of them.
    pub merge_point: Vec<Ipv4Addr>,
    /// It avoids the router at the far end of the link, too.
    pub node: bool,
}

/// How a router protects the LSPs that pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionConfig {
    /// Makes bypass tunnels for LSPs that ask for protection, by what traffic engineering knows of links.
    pub automatic: bool,
    /// After a link is back for so long, LSPs are signalled along it again (local reversion; RFC 4090, 6.5.2). Without
    /// it they stay on the bypass until their head ends have moved them.
    pub reversion: Option<Span>,
}

impl ProtectionConfig {
    /// Bypass tunnels are the user's to declare, and head ends move LSPs.
    pub const DECLARED: ProtectionConfig = ProtectionConfig { automatic: false, reversion: None };
}

/// The protection of one LSP at its point of local repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Protection {
    pub state: ProtectionState,
    pub chosen: Option<Chosen>,
    /// The detour that is ready for it, or in use; there is no bypass then.
    pub detour: Option<Taken>,
}

impl Protection {
    /// Nothing protects it.
    pub(super) const NONE: Protection =
        Protection { state: ProtectionState::Unprotected, chosen: None, detour: None };
}

/// A detour that has a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The place of the detour among the LSPs.
    pub lsp: u32,
    /// It avoids the next router, too.
    pub node: bool,
    /// It has as much bandwidth as was asked for.
    pub bandwidth: bool,
}

/// The backup that was chosen for an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The next hop that it protects from.
    pub hop: Neighbor,
    /// The bypass among the tunnels.
    pub bypass: u32,
    /// The label by which the merge point knows the LSP, where that is not the next hop; from the recorded route.
    pub swap: Option<Label>,
    /// It avoids the next router, too.
    pub node: bool,
    /// The bypass has bandwidth for it.
    pub bandwidth: bool,
    /// What it takes of the bypass's bandwidth.
    pub committed: Rate,
    /// The group of next hops that the entries of the LSP name.
    pub group: GroupId,
}

/// What is known of a bypass beside its tunnel.
#[derive(Clone, Debug)]
struct Guard {
    /// The port that is protected.
    port: PortId,
    /// LSPs that have it as their backup.
    lsps: u32,
    /// What they take of its bandwidth.
    committed: u64,
    /// Since when it has no LSP, if it was made here; it goes when that has lasted.
    idle: Option<Time>,
    /// It was made here, for who needed it.
    automatic: bool,
}

/// What names a group: LSPs to the same next hop with the same backup share one, unless the merge point knows each by
/// another label.
type GroupKey = (Neighbor, u32, Option<Label>);

/// Bypass tunnels, and the groups of next hops that lead to them.
#[derive(Debug, Default)]
pub(super) struct Protections {
    /// By the place of the tunnel.
    guards: BTreeMap<u32, Guard>,
    groups: BTreeMap<GroupKey, (GroupId, u32)>,
    made: u32,
    /// Numbers of groups are used a second time.
    wrapped: bool,
    /// Groups that no entry names any more.
    ended: Vec<GroupId>,
    /// When LSPs are signalled along links again that are back.
    restoring: BTreeMap<PortId, TimerId>,
    /// LSPs with too little protection are looked at soon.
    is_looking: bool,
    /// When bypass tunnels that nobody uses are looked for.
    sweep_at: Option<Time>,
    /// Ports of which the tables have been told that nobody answers there.
    distrusted: BTreeMap<PortId, ()>,
    /// By the place of the LSP that they are for.
    detours: BTreeMap<u32, detour::Detour>,
    /// LSPs that wait to be signalled around a failure, or back along a link.
    turns: turns::Turns,
}

impl Protections {
    /// Bypass tunnels that protect a port.
    pub(super) fn of_port(&self, port: PortId) -> impl Iterator<Item = u32> + '_ {
        self.guards.iter().filter(move |(_, guard)| guard.port == port).map(|(bypass, _)| *bypass)
    }

    /// How many groups are in the tables.
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many LSPs have a detour here, or wait for one.
    pub(super) fn detours(&self) -> usize {
        self.detours.len()
    }
}

/// Is an object a FAST_REROUTE that can be read? No other asks for protection.
pub(super) fn is_fast_reroute(object: &Unknown) -> bool {
    object.class == class::FAST_REROUTE && FastReroute::length(object.c_type) == Some(object.data.len())
}

/// Is among these objects a FAST_REROUTE of a C-Type that is known, but of another length?
pub(super) fn has_unreadable(objects: &[Unknown]) -> bool {
    let is_known = |object: &Unknown| FastReroute::length(object.c_type).is_some();
    let mut all = objects.iter().filter(|object| object.class == class::FAST_REROUTE);
    all.any(|object| is_known(object) && !is_fast_reroute(object))
}

impl Lsp {
    /// Does its Path ask for protection (RFC 4090, 6)?
    pub(super) fn wants_protection(&self) -> bool {
        let mut carried = self.rare.iter().flat_map(|rare| &rare.path_unknown);
        self.attribute_flags & SessionAttribute::LOCAL_PROTECTION != 0 || carried.any(is_fast_reroute)
    }

    /// What it asks for beside the bare protection: around a router, and with bandwidth; and how much bandwidth.
    pub(super) fn wanted_protection(&self) -> (bool, bool, Rate) {
        let asks = |flag| self.attribute_flags & flag != 0;
        // RFC 4090, 6.2: what FAST_REROUTE says goes before what the SENDER_TSPEC does.
        let rate = self.fast_reroute().map(|asked| Rate::from_bytes_per_s(asked.bandwidth));
        let (node, bandwidth) = (SessionAttribute::NODE_PROTECTION, SessionAttribute::BANDWIDTH_PROTECTION);
        (asks(node), asks(bandwidth), rate.unwrap_or_else(|| self.requested_rate()))
    }

    /// What its Path says of the backup, if it says anything (RFC 4090, 4.1).
    pub(super) fn fast_reroute(&self) -> Option<FastReroute> {
        let mut carried = self.rare.iter().flat_map(|rare| &rare.path_unknown);
        carried.find_map(|object| match object.read() {
            Object::FastReroute(asked) => Some(asked),
            _ => None,
        })
    }

    /// Is it to have a detour of its own? Who asks for either way gets what serves many LSPs (RFC 4090, 5).
    pub(super) fn wants_detour(&self) -> bool {
        let either = FastReroute::ONE_TO_ONE | FastReroute::FACILITY;
        self.fast_reroute().is_some_and(|asked| asked.flags & either == FastReroute::ONE_TO_ONE)
    }

    /// The LSP that it is the detour of, if it begins here as one.
    pub(super) fn detour_of(&self) -> Option<u32> {
        self.rare.as_ref()?.detour_of
    }

    /// Is a detour ready for it here, or in use?
    pub(super) fn has_detour(&self) -> bool {
        self.protection().is_some_and(|protection| protection.detour.is_some())
    }

    pub(super) fn protection(&self) -> Option<&Protection> {
        self.rare.as_ref()?.protection.as_ref()
    }

    /// Does its traffic go through a bypass or a detour?
    pub(super) fn is_diverted(&self) -> bool {
        self.protection().is_some_and(|protection| protection.state.is_diverted())
    }
}

#[cfg(test)]
mod tests {
    use super::super::lsp::{SenderKey, SessionKey};
    use super::super::states::PathState;
    use super::*;

    #[test]
    fn who_asks_for_either_method_gets_the_one_that_serves_many() {
        let a = Ipv4Addr::new(10, 0, 0, 1);
        let session = SessionKey { end_point: a, tunnel_id: 1, extended: a };
        let hop = Neighbor { port: PortId(0), address: a };
        let both = FastReroute::ONE_TO_ONE | FastReroute::FACILITY;
        for (flags, by_detour) in [(0, false), (FastReroute::FACILITY, false), (both, false), (1, true)] {
            let mut lsp = Lsp::new(session, SenderKey { address: a, lsp_id: 1 }, PathState::New, hop);
            let asked = FastReroute {
                setup_priority: 7,
                holding_priority: 7,
                hop_limit: 0,
                flags,
                bandwidth: 0.0,
                include_any: 0,
                exclude_any: 0,
                include_all: None,
            };
            lsp.rare_mut().path_unknown.extend(Unknown::of(&Object::FastReroute(asked)));
            assert_eq!((lsp.wants_protection(), lsp.wants_detour()), (true, by_detour), "{flags}");
        }
    }

    #[test]
    fn the_flag_or_the_object_asks_for_protection() {
        let a = Ipv4Addr::new(10, 0, 0, 1);
        let session = SessionKey { end_point: a, tunnel_id: 1, extended: a };
        let hop = Neighbor { port: PortId(0), address: a };
        let mut lsp = Lsp::new(session, SenderKey { address: a, lsp_id: 1 }, PathState::New, hop);
        assert!(!lsp.wants_protection());
        for (c_type, bytes) in [(1, 16), (7, 20), (99, 20)] {
            let data = vec![0; bytes];
            let object = Unknown { class: class::FAST_REROUTE, c_type, position: Unknown::LAST, data };
            lsp.rare_mut().path_unknown = vec![object];
            assert!(!lsp.wants_protection(), "C-Type {c_type} with {bytes} bytes");
        }
        lsp.rare_mut().path_unknown.clear();
        lsp.attribute_flags = SessionAttribute::LOCAL_PROTECTION;
        assert!(lsp.wants_protection());
        lsp.attribute_flags = SessionAttribute::NODE_PROTECTION;
        let asked = FastReroute {
            setup_priority: 7,
            holding_priority: 0,
            hop_limit: 9,
            flags: FastReroute::FACILITY,
            bandwidth: 1_000.0,
            include_any: 0,
            exclude_any: 0,
            include_all: None,
        };
        let object = Unknown::of(&Object::FastReroute(asked)).expect("a short object");
        assert_eq!(object.read(), Object::FastReroute(asked), "C-Type 7 is read, too");
        lsp.rare_mut().path_unknown.push(object);
        assert!(lsp.wants_protection());
        assert_eq!(lsp.wanted_protection(), (true, false, Rate::from_bytes_per_s(1_000.0)));
    }
}
