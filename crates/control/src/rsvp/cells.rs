//! LSPs on links of ATM, where a label is a virtual channel (RFC 3209, 4.1 and 4.2.2): which channels are asked for,
//! whose they are, and what their cells do here.
//!
//! A label is the same number here and in messages, since paths with labels count from 0 wherever LSPs are signalled.

use super::Rsvp;
use super::error::Problem;
use super::lsp::{Lsp, Role};
use super::states::ResvEvent;
use super::transport::Neighbor;
use crate::services::{CellLabels, InterfaceId, LabelSpace, Switching};
use base::plane::{ChannelRange, CircuitTo, Nhlfe, TableOp};
use base::{Label, PortId};
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{LabelRequest, class};

/// What an LSP has whose packets come as cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByCells {
    /// The port of the link whose channel its label is.
    pub port: PortId,
    /// The label that its packets have in this router, if it puts them together to send them on.
    pub beside: Option<Label>,
}

impl Lsp {
    /// What it has if its packets come as cells.
    pub(super) fn by_cells(&self) -> Option<ByCells> {
        self.rare.as_ref().and_then(|rare| rare.by_cells)
    }

    /// The label with which its packets come to the tables of this router; none if their cells pass.
    pub(super) fn entry_label(&self) -> Option<Label> {
        match (self.by_cells(), self.role()) {
            (None, _) => self.in_label,
            (Some(ByCells { beside: None, .. }), Role::Egress) => Some(Label::EXPLICIT_NULL),
            (Some(cells), _) => cells.beside,
        }
    }
}

/// Channels that a label request names.
pub(super) fn asked(request: Option<LabelRequest>) -> Option<ChannelRange> {
    match request {
        Some(LabelRequest::Atm { min_vpi, min_vci, max_vpi, max_vci, .. }) => {
            Some(ChannelRange { vpi: (min_vpi, max_vpi), vci: (min_vci, max_vci) })
        }
        _ => None,
    }
}

/// Channels of a link that may be labels, as messages say them: of a virtual path the channel alone counts.
fn channels(cells: &CellLabels) -> ChannelRange {
    let vpi = if cells.is_path { (0, 0) } else { cells.range.vpi };
    ChannelRange { vpi, vci: (cells.range.vci.0.max(ChannelRange::VCI_MIN), cells.range.vci.1) }
}

impl Rsvp {
    /// How labels are channels of the link at a port, if they are.
    pub(super) fn cells_at(&self, port: PortId) -> Option<CellLabels> {
        self.services.interfaces.attached(port)?.cells
    }

    /// Can several LSPs leave by one channel? Those that pass as cells can't, even where channels of LDP are merged.
    fn merges(cells: &CellLabels) -> bool {
        cells.switching == Switching::Packets
    }

    /// The label request of a Path that leaves by a port.
    pub(super) fn label_request(&self, port: PortId, l3pid: u16) -> LabelRequest {
        let Some(cells) = self.cells_at(port) else { return LabelRequest::Generic { l3pid } };
        let ChannelRange { vpi: (min_vpi, max_vpi), vci: (min_vci, max_vci) } = channels(&cells);
        let merge = Self::merges(&cells);
        LabelRequest::Atm { l3pid, merge, min_vpi, min_vci, max_vpi, max_vci }
    }

    /// Refuses a label request that does not fit the link that it came by (RFC 3209, 4.2.4 and 4.2.5).
    pub(super) fn check_label_request(&self, port: PortId, request: LabelRequest) -> Result<(), Problem> {
        let cells = self.cells_at(port);
        match (request, &cells) {
            (LabelRequest::Generic { .. }, None) | (LabelRequest::Atm { .. }, Some(_)) => {}
            (LabelRequest::Generic { .. }, Some(_)) => return Err(Problem::c_type(class::LABEL_REQUEST, 1)),
            (LabelRequest::Atm { .. }, None) => return Err(Problem::c_type(class::LABEL_REQUEST, 2)),
            (LabelRequest::FrameRelay { .. }, _) => return Err(Problem::c_type(class::LABEL_REQUEST, 3)),
        }
        if request.l3pid() != LabelRequest::IPV4 {
            return Err(Problem::routing(routing::UNSUPPORTED_L3PID));
        }
        let both = |cells: CellLabels| channels(&cells).intersection(&asked(Some(request))?);
        match cells {
            Some(cells) if both(cells).is_none() => Err(Problem::routing(routing::LABEL_ALLOCATION)),
            _ => Ok(()),
        }
    }

    /// Can a label of the next hop be used there (RFC 3209, 4.1.1.2)?
    pub(super) fn is_usable(&self, index: u32, hop: Neighbor, label: Label) -> bool {
        let Some(cells) = self.cells_at(hop.port) else { return true };
        let is_taken = |other: u32| {
            let found = self.store.get(other).filter(|lsp| other != index && lsp.is_reserved());
            found.is_some_and(|lsp| lsp.next_hop == Some(hop) && lsp.out_label == label)
        };
        let Some(lsp) = self.store.get(index) else { return false };
        channels(&cells).contains(ChannelRange::channel(0, label))
            && (Self::merges(&cells) || !self.store.session(&lsp.session).any(is_taken))
    }

    /// Is no label left for an LSP that comes by a port?
    pub(super) fn no_label_is_left(&self, port: PortId) -> bool {
        let space = match self.cells_at(port) {
            Some(_) => LabelSpace::Interface(InterfaceId::of(port)),
            None => LabelSpace::Platform,
        };
        self.services.labels.is_exhausted(space, Rsvp::ID)
    }

    /// A label for the packets of an LSP: on a link of cells a channel, which the previous hop has asked for.
    pub(super) fn take_label_for(&mut self, index: u32) -> Option<Label> {
        let lsp = self.store.get(index)?;
        let port = lsp.prev_hop.port;
        let Some(cells) = self.cells_at(port) else { return self.take_label() };
        let own = channels(&cells);
        let asked = lsp.rare.as_ref().and_then(|rare| rare.asked).unwrap_or(own);
        let interface = InterfaceId::of(port);
        // LDP may have agreed on channels already, and gives them from the same space.
        self.services.labels.begin(interface, &own.intersection(&asked)?);
        let space = LabelSpace::Interface(interface);
        let label = self.services.labels.allocate(space, Rsvp::ID)?;
        if !asked.contains(ChannelRange::channel(0, label)) {
            self.services.labels.release(space, Rsvp::ID, label);
            return None;
        }
        self.held.labels += 1;
        self.store.get_mut(index)?.rare_mut().by_cells = Some(ByCells { port, beside: None });
        Some(label)
    }

    /// Is the label of an LSP none any more, since it comes by another link, and one of both is of cells?
    pub(super) fn comes_by_other_cells(&self, index: u32, port: PortId) -> bool {
        let before = self.store.get(index).filter(|lsp| lsp.in_label.is_some() && lsp.role() != Role::Head);
        let before = before.map_or(port, |lsp| lsp.prev_hop.port);
        before != port && [before, port].into_iter().any(|port| self.cells_at(port).is_some())
    }

    /// The label that the previous hop uses is none any more. What is reserved towards the next hop stays, for a label
    /// that serves on the other link: see `take_up_label`.
    pub(super) fn give_up_label(&mut self, index: u32) {
        match self.store.get(index) {
            Some(lsp) if lsp.is_reserved() && lsp.role() == Role::Transit => self.uninstall(index),
            _ => self.drop_reservation(index),
        }
    }

    /// Takes a label for what is reserved and has none, since the previous hop is on another link. The previous hop
    /// gets it when its entry is in force.
    pub(super) fn take_up_label(&mut self, index: u32) {
        let is_without =
            |lsp: &Lsp| lsp.is_reserved() && lsp.role() == Role::Transit && lsp.in_label.is_none();
        if !self.store.get(index).is_some_and(is_without) {
            return;
        }
        let Some(label) = self.take_label_for(index) else {
            self.path_problem(index, error_code::ROUTING, routing::LABEL_ALLOCATION);
            return self.drop_reservation(index);
        };
        if let Some(lsp) = self.store.get_mut(index) {
            lsp.in_label = Some(label);
            self.counters.faults.step(&mut lsp.resv, ResvEvent::Reserved);
        }
        self.install(index);
    }

    /// By which channel the cells of an LSP leave, if they pass without being put together.
    pub(super) fn passes_to(&self, lsp: &Lsp) -> Option<CircuitTo> {
        let (hop, here) = (lsp.next_hop?, self.cells_at(lsp.by_cells()?.port)?);
        self.cells_at(hop.port)?;
        let label = lsp.out_label;
        let passes = here.switching != Switching::Packets && !label.is_reserved();
        passes.then_some(CircuitTo::Over { port: hop.port, label, merges: false })
    }

    /// The entries that carry an LSP on which comes with this label; none if they need a label that is not to be had.
    pub(super) fn entries(&mut self, index: u32, label: Label) -> Option<Vec<TableOp>> {
        let lsp = self.store.get(index)?;
        let (nhlfe, by_cells) = (self.nhlfe_of(lsp), lsp.by_cells());
        let Some(ByCells { port, beside }) = by_cells else {
            return Some(match self.selector_join(index, label) {
                Some((selector, next_hop)) => {
                    vec![selector, TableOp::IlmSet { label, nhlfe: Nhlfe { next_hop, ..nhlfe } }]
                }
                None => vec![TableOp::IlmSet { label, nhlfe }],
            });
        };
        let lsp = self.store.get(index)?;
        let set = |to: CircuitTo| TableOp::CircuitSet { port, label, to };
        if let Some(to) = self.passes_to(lsp) {
            return Some(vec![set(to)]);
        }
        if lsp.role() == Role::Egress && beside.is_none() && !self.has_own_context(lsp) {
            return Some(vec![set(CircuitTo::Here(Label::EXPLICIT_NULL))]);
        }
        let beside = match beside {
            Some(label) => label,
            None => {
                let label = self.take_label()?;
                self.store.get_mut(index)?.rare_mut().by_cells = Some(ByCells { port, beside: Some(label) });
                label
            }
        };
        Some(vec![TableOp::IlmSet { label: beside, nhlfe }, set(CircuitTo::Here(beside))])
    }
}
