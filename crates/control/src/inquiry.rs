//! Inquiries to both planes: what do the tables in force do with a label, and what have the protocols of the node bound
//! to an FEC? Whoever tests LSPs compares the two (RFC 8029, 4.4).
//!
//! A protocol asks by [`Output::Inquire`](crate::protocol::Output::Inquire). All of an inquiry is answered at one
//! moment, by [`Protocol::handle_findings`](crate::protocol::Protocol::handle_findings). The protocol that an FEC
//! belongs to answers by [`Protocol::mapping`](crate::protocol::Protocol::mapping).

use base::plane::{LabelUse, Leg};
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
pub use wire::lsp_ping::Fec;

/// What a protocol wants to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquiry {
    /// By which the answer is told from others; the protocol chooses it.
    pub number: u64,
    /// The port by which packets are said to come.
    pub port: Option<PortId>,
    /// What is done with these labels?
    pub labels: Vec<Label>,
    /// What is bound to these FECs?
    pub fecs: Vec<Fec>,
}

/// The answer to an [`Inquiry`], in the order of what was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The number of the inquiry.
    pub number: u64,
    /// What the tables in force do with labels.
    pub labels: Vec<LabelUse>,
    /// What protocols have bound to FECs; nothing for one that nobody knows.
    pub fecs: Vec<Option<FecMapping>>,
}

base::words! {
    /// What gives labels, in the order of their numbers in RFC 8029, 3.4.1.2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GivenBy {
        /// It is not known.
        Unknown = "unknown",
        /// Nothing: somebody has written it down.
        Static = "static",
        /// BGP (RFC 8277).
        Bgp = "bgp",
        /// LDP, or its predecessor TDP.
        Ldp = "ldp",
        /// RSVP-TE.
        RsvpTe = "rsvp-te",
    }
    default Unknown;
}

impl GivenBy {
    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// What a protocol has bound to an FEC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FecMapping {
    /// What gives its labels.
    pub by: GivenBy,
    /// The label that others were given, implicit null if packets come without one; nothing if nobody was given any.
    pub given: Option<Label>,
    /// Does the LSP end here?
    pub is_egress: bool,
    /// Where packets go on, with the labels that other routers have given, the last of them outermost: implicit null is
    /// among them.
    pub legs: Vec<Leg>,
    /// An address of the router that has given the label of the FEC, if packets get there by another LSP. The legs are
    /// by that one then, whosoever it is.
    pub far: Option<Ipv4Addr>,
    /// The LSPs that carry packets there, the outermost first: one for each label above that of the FEC. The node finds
    /// them; a protocol leaves them empty.
    pub carriers: Vec<Carrier>,
    /// Is the protocol spoken on the port of the inquiry? True without one.
    pub is_spoken: bool,
    /// What there is to say of an LSP with several ends, and of no other.
    pub ends: Option<Ends>,
}

/// What a router knows of the ends of an LSP that has several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// All labels that others were given: a cross-over has several (RFC 4875, 18).
    pub given: Vec<Label>,
    /// The ends behind each of the legs, in their order; nothing if only the ends themselves know of them (RFC 6388).
    pub behind: Option<Vec<Vec<Ipv4Addr>>>,
}

/// An LSP that carries packets of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// What its label stands for; [`Fec::Nil`] where that is not known.
    pub fec: Fec,
    /// What gives its labels.
    pub by: GivenBy,
}

impl FecMapping {
    /// A mapping of a router through which the LSP passes, by labels of its own neighbours alone.
    pub fn transit(by: GivenBy, given: Option<Label>, legs: Vec<Leg>) -> FecMapping {
        FecMapping {
            by,
            given,
            is_egress: false,
            legs,
            far: None,
            carriers: Vec::new(),
            is_spoken: true,
            ends: None,
        }
    }

    /// A mapping of a router of an LSP with several ends, with the labels that others were given: it ends here, or goes
    /// on, or both.
    pub fn several(by: GivenBy, ends: Ends, is_egress: bool, legs: Vec<Leg>) -> FecMapping {
        let given = ends.given.first().copied();
        FecMapping { is_egress, ends: Some(ends), ..FecMapping::transit(by, given, legs) }
    }

    /// Is it a label that others were given?
    pub fn is_given(&self, label: Label) -> bool {
        let more = self.ends.as_ref().is_some_and(|ends| ends.given.contains(&label));
        more || self.given == Some(label)
    }

    /// A mapping of a router at which the LSP ends.
    pub fn egress(by: GivenBy, given: Option<Label>) -> FecMapping {
        FecMapping { is_egress: true, ..FecMapping::transit(by, given, Vec::new()) }
    }
}

/// Traffic class of what tests LSPs: that of CS6, as its IP header says.
pub const CLASS: u32 = 6;

/// The entries of a label stack on the way by a leg as they are on the wire, the top first: what stands for no label is
/// left out.
pub fn stack(leg: &Leg, ttl: u8) -> Vec<u32> {
    let labels = leg.labels.as_slice().iter().rev().filter(|label| **label != Label::IMPLICIT_NULL);
    let mut words: Vec<u32> = labels.map(|label| label.value() << 12 | CLASS << 9 | u32::from(ttl)).collect();
    if let Some(last) = words.last_mut() {
        *last |= 1 << 8;
    }
    words
}

/// Is a packet to this destination taken by way of a leg? Behind each explicit null one family is taken alone (RFC
/// 3032, 2.1), and without a label a packet of IPv4 goes to no neighbour that is known by an address of IPv6.
pub fn takes(leg: &Leg, destination: IpAddr) -> bool {
    let is_bare = leg.labels.as_slice().iter().all(|label| *label == Label::IMPLICIT_NULL);
    match leg.labels.as_slice().first() {
        Some(&Label::EXPLICIT_NULL_V6) => destination.is_ipv6(),
        Some(&Label::EXPLICIT_NULL) => destination.is_ipv4(),
        _ => destination.is_ipv6() || leg.gateway.is_ipv4() || !is_bare,
    }
}
