//! What a whole network has to know of a node, whatever kind it is of.

use crate::spec::address::InterfaceAddress;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What addresses, routes, checks and placement ask of a node. A process that does not know the node's kind finds them
/// in its description, so that all processes of a network give it the same addresses, ports and routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// What a sentence calls it, such as "a raw port".
    pub called: Cow<'static, str>,
    /// Is it a router? Only routers, ours or not, have a router id and DiffServ.
    pub router: bool,
    /// Is it somebody else's? Then it exists in real time only, is in no process of ours, and all that is known of it
    /// is what the description says.
    pub foreign: bool,
    /// Is it a router made of a kernel and somebody else's daemons, which a lab makes? Then its links have the
    /// addresses that this network plans.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub kernel: bool,
    /// If it is somebody else's: has it a configuration of its own, which nobody here has read?
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub configured: bool,
    /// Does it pass packets on that are for others? Only through such nodes do routes lead.
    pub transit: bool,
    /// Is it a neighbour that routers signal with? They reserve no bandwidth towards one that is not, and LSPs end at
    /// no such node.
    pub signals: bool,
    /// How many links it has at least.
    pub links_min: usize,
    /// How many links it has at most; as many as there are if absent.
    pub links_max: Option<usize>,
    /// If it is an IP host: what gives its links their addresses. Absent, its links have theirs from the blocks of
    /// nodes.
    pub host: Option<HostFacts>,
    /// Where test packets begin and end there.
    pub tests: Tests,
    /// If it is a shared segment: the network that all nodes on links to it are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Prefix>,
    /// If it is a shared segment: may it have links with addresses of their own, which are no part of it? It is managed
    /// over those.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub managed: bool,
    /// If it is managed: does it take time for what it does, which only one with such a link can?
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub profiled: bool,
    /// If it may be managed: are some of its controllers over TLS, which only one without such a link can have?
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub secured: bool,
    /// Is its forwarding plane a switch elsewhere? Then no interface of a process is at its links.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub elsewhere: bool,
    /// If it is an ATM switch: its links carry cells, and circuits begin and end at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<CellFacts>,
    /// If it is an ATM-LSR: it passes cells on whose channels are labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsr: Option<LsrFacts>,
}

/// What neighbours have to know of an ATM-LSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LsrFacts {
    /// Does it merge ways to the same end (VC merge)?
    pub merges: bool,
}

/// What circuits ask of an ATM switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellFacts {
    /// How many cells of constant bit rate wait at a port at most.
    pub cbr: u32,
    /// The same of unspecified bit rate, at ports whose link does not say.
    pub ubr: u32,
}

/// The addresses of an IP host, as its description gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// Its address; one with several links has those that the links give it, and this, if it is given, is the first
    /// among them.
    pub address: Option<InterfaceAddress>,
    /// Address of the router's port towards it; the first of the prefix that is not the host's if absent.
    pub gateway: Option<Ipv4Addr>,
    /// Longest packet that it sends and takes, in bytes; that of its link if absent.
    pub mtu: Option<u32>,
    /// Is it a host with a kernel of its own, where no process of ours has it?
    #[serde(default)]
    pub kernel: bool,
}

/// Where the test packets of a node begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tests {
    /// Nowhere: nobody measures there.
    Nowhere,
    /// At a port beside the router, which no description shows (decision 0009).
    Beside,
    /// At the node's own ports, as plain IP packets.
    Within,
    /// At the node's own port, with the labels of the LSPs that they take: they take some always.
    Labelled,
}

impl Facts {
    /// Is it a router of ours, of which this network knows and shows everything?
    pub fn is_own_router(&self) -> bool {
        self.router && !self.foreign
    }

    /// Is it a router of ours that passes packets on for others, such as those of a host beside it?
    pub fn is_own_transit(&self) -> bool {
        self.is_own_router() && self.transit
    }

    /// Does it pass packets on for hosts on its links, with the addresses that are planned for it?
    pub fn is_gateway(&self) -> bool {
        self.is_own_transit() || self.kernel
    }

    /// Has it a hidden port beside it for test packets?
    pub fn has_port_beside(&self) -> bool {
        self.tests == Tests::Beside
    }

    /// A node that this network has itself, and of which nothing is particular: its kind says what is.
    pub const fn of(called: &'static str) -> Facts {
        Facts {
            called: Cow::Borrowed(called),
            router: false,
            foreign: false,
            kernel: false,
            configured: false,
            transit: false,
            signals: false,
            links_min: 0,
            links_max: None,
            host: None,
            tests: Tests::Nowhere,
            segment: None,
            managed: false,
            profiled: false,
            secured: false,
            elsewhere: false,
            cells: None,
            lsr: None,
        }
    }

    /// A shared segment: all nodes on links to it are in this network.
    pub(super) fn segment(called: &'static str, prefix: Prefix) -> Facts {
        Facts { transit: true, segment: Some(prefix), ..Facts::of(called) }
    }

    /// What is known of a node whose kind nobody has looked at yet.
    pub(crate) fn unknown() -> Facts {
        Facts { foreign: true, ..Facts::of("unknown") }
    }
}
