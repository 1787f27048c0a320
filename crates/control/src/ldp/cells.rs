//! Links of ATM, on which labels are channels (RFC 3035): a label space and a session for each, what both ends say of
//! channels (RFC 5036, 3.5.3), and labels as they are said there (3.4.2.2).

use super::said::key_of;
use super::session::Session;
use super::{Config, Ldp};
use crate::protocol::{Context, IpArrival};
use crate::services::distribution::{Attributes, Meant, PeerKey, Say};
use crate::services::label_vcs::{Ask, LabelVcs, Settings};
use crate::services::sessions::SessionId;
use crate::services::{CellLabels, Limits, Switching};
use base::plane::{ChannelRange, Prefix};
use base::{Label, PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use wire::Hex;
use wire::ldp::{AnyLabel, AtmLabel, AtmSession, Counts, Hello, LdpId, Merge, Status};

/// Label VCs as the distribution of labels of the same router knows them: a neighbour that asks.
pub(super) const OWN_VCS: PeerKey = (Ipv4Addr::UNSPECIFIED, 0);

/// The channels that a session gives as labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// The first path with labels at this end, from which labels count.
    first: u16,
    /// Is it a virtual path that joins both ends, whose number is no part of labels?
    is_path: bool,
    /// Channels that both ends can do with.
    pub ranges: Vec<ChannelRange>,
    /// Which of them this router gives.
    pub(super) limits: Limits,
}

impl Channels {
    /// Which of the channels this router gives, in a word.
    pub(super) fn gives(&self) -> &'static str {
        match self.limits.odd {
            None => "all",
            Some(true) => "odd",
            Some(false) => "even",
        }
    }

    /// The label that a message says, if both ends can do with it.
    pub(super) fn read(&self, said: AnyLabel) -> Option<Label> {
        let AnyLabel::Atm(word) = said else { return None };
        let label = AtmLabel::from_word(word);
        let vpi = match label.counts {
            Counts::Both if !self.is_path => label.vpi,
            // RFC 3035, 7.2: the path is that of the link.
            Counts::Both | Counts::Vci => self.first,
            Counts::Vpi | Counts::Unknown => return None,
        };
        let channel = (vpi, label.vci);
        self.ranges.iter().find(|range| range.contains(channel))?;
        ChannelRange::label(self.first, channel)
    }

    /// A label as a message says it.
    pub(super) fn write(&self, label: Label) -> AnyLabel {
        let (vpi, vci) = ChannelRange::channel(self.first, label);
        AnyLabel::Atm(match self.is_path {
            // RFC 3035, 7.2: the label is in the VCI alone.
            true => AtmLabel { counts: Counts::Vci, vpi: 0, vci }.word(),
            false => AtmLabel { counts: Counts::Both, vpi, vci }.word(),
        })
    }
}

/// What this router says of a link of ATM in an Initialization message (RFC 5036, 3.5.3). One that puts packets
/// together merges, too.
pub(super) fn session_of(cells: &CellLabels) -> AtmSession {
    let merge = match cells.switching {
        Switching::Packets | Switching::MergedCells => Merge::Vc,
        Switching::Cells => Merge::Nothing,
    };
    // RFC 5036, 3.5.3: over a virtual path its number is said as 0.
    let vpi = if cells.is_path { (0, 0) } else { cells.range.vpi };
    let ranges = vec![ChannelRange { vpi, ..cells.range }];
    AtmSession { merge, is_unidirectional: cells.is_unidirectional, ranges }
}

/// What both ends can do with, or why there is no session (RFC 5036, 3.5.3).
pub(super) fn agree(
    own: LdpId,
    peer: LdpId,
    cells: &CellLabels,
    said: Option<&Hex>,
) -> Result<Channels, Status> {
    // Who says nothing of channels has none.
    let said = AtmSession::parse(said.ok_or(Status::RejectedLabelRange)?).ok_or(Status::MalformedTlvValue)?;
    // RFC 3035, 7.1: channels up to 32 are no labels, whatever the other end says.
    let ours = ChannelRange {
        vci: (cells.range.vci.0.max(ChannelRange::VCI_MIN), cells.range.vci.1),
        ..cells.range
    };
    // RFC 5036, 3.5.3: over a virtual path the number that the other end says is ignored.
    let theirs = |range: &ChannelRange| match cells.is_path {
        true => ChannelRange { vpi: ours.vpi, ..*range },
        false => *range,
    };
    let ranges: Vec<ChannelRange> =
        said.ranges.iter().filter_map(|range| ours.intersection(&theirs(range))).collect();
    if ranges.is_empty() || ours.vci.0 > ours.vci.1 {
        return Err(Status::RejectedLabelRange);
    }
    let first = cells.range.vpi.0;
    let label = |vpi: u16, vci: u16| ChannelRange::label(first, (vpi, vci));
    let of = |range: &ChannelRange| {
        let (least, most) = range.vci;
        (range.vpi.0..=range.vpi.1).filter_map(move |vpi| Some((label(vpi, least)?, label(vpi, most)?)))
    };
    let mut labels: Vec<(Label, Label)> = ranges.iter().flat_map(of).collect();
    labels.sort();
    // Ranges of the other end may overlap.
    labels.dedup_by(|next, before| {
        let meets = next.0 <= before.1;
        before.1 = if meets { before.1.max(next.1) } else { before.1 };
        meets
    });
    let is_split = cells.is_unidirectional || said.is_unidirectional;
    let odd = is_split.then_some((own.router, own.space) > (peer.router, peer.space));
    let limits = Limits { ranges: labels, odd };
    if limits.is_empty() {
        return Err(Status::RejectedLabelRange);
    }
    Ok(Channels { first, is_path: cells.is_path, ranges, limits })
}

/// Label VCs of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VcCount {
    /// Labels that the other router has given, of cells that this one passes on.
    pub received: usize,
    /// Labels that this router has given.
    pub sent: usize,
    /// Requests that wait for an answer of the other router.
    pub asked: usize,
}

impl Config {
    /// The label VCs of a router, if it has links of ATM. What is done with cells is the same at all of them.
    pub(super) fn label_vcs(&self, router_id: Ipv4Addr) -> Option<LabelVcs> {
        let switching = self.cells.values().next()?.switching;
        Some(LabelVcs::new(Settings {
            owner: Ldp::ID,
            router_id,
            loop_detection: self.loop_detection,
            hops_max: self.hops_max,
            switching,
            ports: self.cells.keys().copied().collect(),
        }))
    }
}

impl Ldp {
    /// The label space of a port (RFC 5036, 2.2.1): a link of ATM has one of its own.
    pub(super) fn id_at(&self, port: PortId) -> LdpId {
        match self.config.cells.contains_key(&port) {
            true => LdpId { router: self.router_id, space: port.0.saturating_add(1) },
            false => self.id(),
        }
    }

    /// The link of ATM on which a neighbour's label space is, and its channels.
    pub(super) fn cells_of(&self, peer: LdpId) -> Option<(PortId, CellLabels)> {
        let mut ports = self.adjacencies.keys().filter(|(_, id)| *id == peer).map(|(port, _)| *port);
        ports.find_map(|port| Some((port, *self.config.cells.get(&port)?)))
    }

    /// This router's label space in a session with another one's.
    pub(super) fn own_for(&self, peer: LdpId) -> LdpId {
        self.cells_of(peer).map_or(self.id(), |(port, _)| self.id_at(port))
    }

    /// Is a Hello of another router, and of a label space that can be at that link (RFC 5036, 2.4.1)?
    pub(super) fn may_be_heard(&self, ip: &IpArrival, id: LdpId, hello: &Hello) -> bool {
        let has_space = !hello.is_targeted && self.config.cells.contains_key(&ip.port);
        id.router != self.router_id && (id.space != 0) == has_space
    }

    /// How many label VCs a session has.
    pub(super) fn vc_count(&self, session: &Session) -> VcCount {
        let (Some(vcs), Some(peer)) = (&self.vcs, session.peer.filter(|_| session.is_operational())) else {
            return VcCount::default();
        };
        let key = key_of(peer);
        let sent = vcs.ups().filter(|up| up.key == key && up.told.is_some()).count();
        VcCount { received: vcs.given_by(key), sent, asked: vcs.asked_of(key) }
    }

    /// Has the label VCs known as a neighbour of the router's own labels.
    pub(super) fn begin_cells(&mut self, now: Time, context: &mut Context<'_>) {
        if self.vcs.is_some() {
            self.labels.begin(now, context.services, OWN_VCS, true, BTreeSet::new());
        }
    }

    /// A session of a link of ATM is established. Is it one whose labels are for cells that are passed on, so that this
    /// router asks for none of its own?
    pub(super) fn begin_channels(&mut self, context: &mut Context<'_>, id: SessionId, key: PeerKey) -> bool {
        let session = self.sessions.get(&id);
        let Some((peer, limits)) =
            session.and_then(|one| Some((one.peer?, one.channels.as_ref()?.limits.clone())))
        else {
            return false;
        };
        let (Some((port, cells)), Some(vcs)) = (self.cells_of(peer), &mut self.vcs) else { return false };
        vcs.begin(context.services, key, port, limits);
        cells.switching != Switching::Packets
    }

    /// The label VCs, if what a neighbour says of labels is about cells that this router passes on.
    pub(super) fn switched(&mut self, key: PeerKey) -> Option<&mut LabelVcs> {
        let is_edge = |cells: &CellLabels| cells.switching == Switching::Packets;
        if self.config.cells.values().any(is_edge) {
            return None;
        }
        self.vcs.as_mut().filter(|vcs| vcs.has(key))
    }

    /// The label VCs, if a neighbour asks for labels that are channels.
    pub(super) fn asked_by(&mut self, key: PeerKey) -> Option<&mut LabelVcs> {
        self.vcs.as_mut().filter(|vcs| vcs.has(key))
    }

    /// Has label VCs and the router's own labels ask and answer each other.
    pub(super) fn settle_cells(&mut self, now: Time, context: &mut Context<'_>) {
        while let Some(ask) = self.vcs.as_mut().and_then(LabelVcs::poll_ask) {
            match ask {
                Ask::Want(prefix, number) => {
                    let attributes = Attributes::default();
                    self.labels.requested(now, context.services, OWN_VCS, prefix, number, attributes);
                }
                Ask::Leave(prefix, number) => {
                    self.labels.aborted(now, context.services, OWN_VCS, prefix, number);
                    self.release_own(now, context, prefix, None);
                }
            }
        }
    }

    fn release_own(&mut self, now: Time, context: &mut Context<'_>, prefix: Prefix, label: Option<Label>) {
        let meant = Meant { prefix: Some(prefix), label };
        self.labels.released(now, context.services, OWN_VCS, meant, false);
    }

    /// What the router's own labels say to its label VCs.
    pub(super) fn tell_own_vcs(&mut self, now: Time, context: &mut Context<'_>, say: Say) {
        let Some(vcs) = &mut self.vcs else { return };
        match say {
            Say::Map { prefix, label, .. } => vcs.given_here(prefix, label),
            Say::Refuse { request, why } => vcs.refused_here(request, why),
            Say::Withdraw { prefix, label } => {
                vcs.withdrawn_here(context.services, prefix);
                self.release_own(now, context, prefix, Some(label));
            }
            Say::LabelsAvailable => vcs.labels_available_beyond(),
            _ => {}
        }
    }

    /// Says to neighbours on links of ATM what is to be said of label VCs.
    pub(super) fn tell_channels(&mut self) {
        while let Some((key, say, request)) = self.vcs.as_mut().and_then(LabelVcs::poll_say) {
            let mut all = self.sessions.values_mut();
            let session = all.find(|one| one.is_operational() && one.peer.map(key_of) == Some(key));
            let Some(session) = session else { continue };
            session.say_labels(say);
            let number = session.number;
            if let (Some(request), Some(vcs)) = (request, &mut self.vcs) {
                vcs.number(request, number);
            }
        }
    }
}
