//! What is wrong with an LSP, from what a request says and what both planes of the router say (RFC 8029, 4.4; RFC 6425,
//! 4.2).
//!
//! The bottom of a stack is at depth 1, that of the label stack and that of the stack of FECs.

use crate::inquiry::{Fec, FecMapping};
use base::Label;
use base::plane::{LabelUse, Leg};
use core::net::{IpAddr, Ipv4Addr};
use wire::lsp_ping::{ALL_ROUTERS, MappedLabel, Mapping, Place, code};

/// Who asks knows the labels, but not the neighbour's address (RFC 8029, 3.4).
const NOT_KNOWN: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// A request, and what is known where it came to.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The labels that it came with, the top first (Stack-R).
    pub stack: &'a [Label],
    /// What the tables in force do with each.
    pub uses: &'a [LabelUse],
    /// The stack of FECs of the request, the top first.
    pub fecs: &'a [Fec],
    /// What protocols have bound to each.
    pub mappings: &'a [Option<FecMapping>],
    /// The way by which it is to come, if it says so.
    pub way: Option<&'a Mapping>,
    /// The router id.
    pub router: Ipv4Addr,
    /// The address of the interface by which it came (Interface-I).
    pub interface: Ipv4Addr,
    /// Is what a label stands for checked on the way, too?
    pub validate: bool,
    /// As what the router replies, if it is both an end of the LSP and on the way to others.
    pub part: Part,
}

/// As what a router replies that is an end of an LSP with several, and on the way to others, too (RFC 6425, 4.2.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// As an end, with the ways on.
    Both,
    /// As an end alone.
    End,
    /// As one on the way.
    Transit,
}

/// What is replied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The return code.
    pub code: u8,
    /// The depth that it is about, or zero.
    pub depth: u8,
    /// Is the reply to say how the request came?
    pub tells_received: bool,
    /// Which of the labels is switched here, if the reply is to say the ways on.
    pub switched: Option<usize>,
}

/// The result of a check of an FEC (RFC 8029, 4.4.1).
enum Check {
    /// The label stands for the FEC; does the LSP end here?
    Label { ends: bool },
    /// The FEC has no label here.
    NoLabel { ends: bool },
    /// It does not: the return code.
    Wrong(u8),
}

/// Does the far end of this way know the labels that packets leave with, if they have any?
pub type KnowsLabels<'a> = &'a dyn Fn(&Leg) -> bool;

impl Case<'_> {
    /// Judges the request. A way with labels has to lead to where labels are known.
    pub fn judge(&self, knows_labels: KnowsLabels<'_>) -> Judgement {
        let mut goes_on = None;
        for (place, what) in self.uses.iter().enumerate() {
            let depth = (self.stack.len() - place) as u8;
            let wrong = |code| Judgement { code, depth, tells_received: false, switched: None };
            match what {
                LabelUse::Below => {}
                LabelUse::Unknown => return wrong(code::NO_LABEL_ENTRY),
                LabelUse::Discarded => return wrong(code::SWITCHED_WITHOUT_MPLS),
                LabelUse::Copied { here: true, .. } if self.part != Part::Transit => goes_on = Some(place),
                LabelUse::Switched(legs) | LabelUse::Copied { legs, .. } => {
                    return self.transit(place, depth, legs, knows_labels);
                }
            }
        }
        let mut found = self.egress();
        if found.code == code::EGRESS && self.part == Part::Both && self.way.is_some() {
            found.switched = goes_on;
        }
        found
    }

    /// A label is switched here (step 4).
    fn transit(&self, place: usize, depth: u8, legs: &[Leg], knows_labels: KnowsLabels<'_>) -> Judgement {
        let mut found = Judgement { code: code::SWITCHED, depth, tells_received: false, switched: None };
        if let Some(way) = self.way {
            if is_nobody(way) {
                (found.code, found.tells_received) = (code::UPSTREAM_UNKNOWN, true);
            } else if !self.came_by(way) {
                (found.code, found.tells_received) = (code::MAPPING_MISMATCH, true);
                return found;
            }
        }
        if !legs.iter().all(knows_labels) {
            found.code = code::SWITCHED_WITHOUT_MPLS;
            return found;
        }
        found.switched = self.way.map(|_| place);
        if let (1, [fec]) = (depth, self.fecs)
            && fec.has_several_ends()
        {
            // RFC 6425, 4.2: whether the router is part of the LSP is found out in any case. No way says with what
            // labels a request comes that goes several ways (4.3.4).
            if let Check::Wrong(code) = self.check(1, self.stack[place]) {
                (found.code, found.switched) = (code, None);
            }
            return found;
        }
        let Some(way) = self.way.filter(|way| !is_all_routers(way) && self.validate) else { return found };
        let at = fec_depth(way.labels().unwrap_or_default(), depth);
        // A depth that no FEC has, or that no return subcode can say.
        let Some(told) = u8::try_from(at).ok().filter(|_| at <= self.fecs.len()) else { return found };
        match self.check(at, self.stack[place]) {
            Check::Label { .. } => {}
            Check::NoLabel { .. } => found.code = code::OTHER_LABEL,
            Check::Wrong(code) => (found.code, found.depth) = (code, told),
        }
        found
    }

    /// All labels were taken off here (steps 5 and 6).
    fn egress(&self) -> Judgement {
        let mut found = Judgement { code: code::EGRESS, depth: 1, tells_received: false, switched: None };
        if let Some(way) = self.way.filter(|way| !is_nobody(way))
            && !self.came_by(way)
        {
            (found.code, found.tells_received) = (code::MAPPING_MISMATCH, true);
            return found;
        }
        // From the bottom up. An FEC without a label here has taken none off the stack.
        let mut labels = self.stack.iter().rev().copied();
        let mut label = labels.next().unwrap_or(Label::IMPLICIT_NULL);
        for (told, depth) in (1..=u8::MAX).zip(1..=self.fecs.len()) {
            found.depth = told;
            let ends = match self.check(depth, label) {
                Check::Wrong(code) => {
                    found.code = code;
                    return found;
                }
                Check::NoLabel { ends } => ends,
                Check::Label { ends } => {
                    match labels.next() {
                        Some(next) => label = next,
                        None if ends => return found,
                        None => {}
                    }
                    ends
                }
            };
            if !ends {
                // The tables take the label off, and the protocol says that packets go on with another.
                found.code = code::SWITCHED_WITHOUT_MPLS;
                return found;
            }
        }
        found
    }

    /// Does the request come as the way says (RFC 8029, 4.4, steps 4 and 5)?
    fn came_by(&self, way: &Mapping) -> bool {
        if is_all_routers(way) {
            return true;
        }
        let is_here = |address: Ipv4Addr| address == self.router || address == self.interface;
        let place = match way.place {
            Place::Ipv4 { address, interface } => is_here(address) && interface == self.interface,
            Place::Ipv4Unnumbered { address, .. } => is_here(address),
            Place::Ipv6 { .. } | Place::Ipv6Unnumbered { .. } => false,
        };
        let said = way.labels().unwrap_or_default().iter().map(|one| one.label);
        let is_sent = |label: &u32| *label != Label::IMPLICIT_NULL.value();
        place && said.filter(is_sent).eq(self.stack.iter().map(|label| label.value()))
    }

    /// Checks whether a label stands for the FEC at a depth (RFC 8029, 4.4.1).
    fn check(&self, depth: usize, label: Label) -> Check {
        let all = Check::Label { ends: true };
        if matches!(self.fecs.first(), Some(Fec::Nil { .. })) && self.fecs.len() > 1 {
            // The outermost FEC is hidden.
            return all;
        }
        let place = self.fecs.len() - depth;
        if let Fec::Nil { .. } = self.fecs[place] {
            let nulls = [Label::EXPLICIT_NULL, Label::EXPLICIT_NULL_V6, Label::ROUTER_ALERT];
            return if nulls.contains(&label) { all } else { Check::Wrong(code::OTHER_LABEL) };
        }
        let known = self.mappings.get(place).and_then(Option::as_ref);
        let Some((known, given)) = known.and_then(|known| Some((known, known.given?))) else {
            return Check::Wrong(code::NO_MAPPING);
        };
        let ends = known.is_egress;
        let check = match given {
            Label::IMPLICIT_NULL => Check::NoLabel { ends },
            _ if known.is_given(label) => Check::Label { ends },
            _ => return Check::Wrong(code::OTHER_LABEL),
        };
        if known.is_spoken { check } else { Check::Wrong(code::OTHER_PROTOCOL) }
    }
}

fn is_nobody(way: &Mapping) -> bool {
    match way.place.address() {
        IpAddr::V4(address) => address == NOT_KNOWN,
        IpAddr::V6(address) => address.is_loopback(),
    }
}

fn is_all_routers(way: &Mapping) -> bool {
    match way.place.address() {
        IpAddr::V4(address) => address == ALL_ROUTERS,
        IpAddr::V6(address) => address == core::net::Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2),
    }
}

/// The depth in the stack of FECs that goes with a label, by the labels that the request says to have, the top first:
/// an implicit null has an FEC and no label (RFC 8029, 4.4, step 4).
fn fec_depth(said: &[MappedLabel], label_depth: u8) -> usize {
    let (mut left, mut depth) = (label_depth, 0);
    let mut from_bottom = said.iter().rev();
    while left > 0 {
        depth += 1;
        let is_null = from_bottom.next().is_some_and(|one| one.label == Label::IMPLICIT_NULL.value());
        left -= u8::from(!is_null);
    }
    depth
}
