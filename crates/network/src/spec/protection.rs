//! Fast reroute as users write it (RFC 4090).

use super::path::PathSpec;
use super::problem::NetworkProblem;
use crate::description;
use base::Span;
use base::diagnostic::Diagnostic;
use control::rsvp::ProtectionRequest;
use control::rsvp::command::SelectorSpec;
use control::services::te::Disjoint;

base::words! {
    /// How a router protects LSPs that ask for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProtectionMode {
        /// It makes bypass tunnels for them, by what OSPF (with `te`) knows of links: facility backup (RFC 4090, 3.2).
        Facility = "facility",
        /// By the bypass tunnels that are declared, and no others.
        Declared = "declared",
    }
    default Declared;
}

base::words! {
    /// How an LSP is led around what fails.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProtectionMethod {
        /// Through a bypass tunnel that it shares with others (RFC 4090, 3.2).
        Facility = "facility",
        /// By a detour of its own at each router that could repair it (RFC 4090, 3.1).
        OneToOne = "one-to-one",
        /// From end to end: a second LSP along a disjoint path stands by, and the head end moves the traffic there when
        /// it learns that the first has failed.
        OneForOne = "1:1",
        /// From end to end: a second LSP along a disjoint path carries each packet, too, and the tail end takes those
        /// of one.
        OnePlusOne = "1+1",
    }
    default Facility;
}

base::record! {
    /// What an LSP asks for, for the case that something fails: of routers on its way (RFC 4090), or of its head end.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ProtectionSpec {
        /// Around the next router where that can be, and not only around the link to it.
        pub node: bool = false;
        /// With as much bandwidth as it has itself.
        pub bandwidth: bool = false;
        /// Through bypass tunnels that serve many LSPs (`facility`), or by detours that routers set up for it alone, by
        /// what OSPF (with `te`) knows of links (`one-to-one`). Or from end to end (in quotes): an LSP along a disjoint
        /// path, which the head end computes, stands by (`1:1`), or carries each packet, too, and the tail end takes
        /// those of one (`1+1`).
        pub method: ProtectionMethod = ProtectionMethod::Facility;
        /// With `1:1` and `1+1`: what the two paths have not in common, as `standby` of `path` says it.
        pub disjoint: Option<Disjoint>, absent "`link`";
        /// Wait to restore. With `1:1`: the traffic goes back to the best path when nothing has changed of links for so
        /// long. With `1+1`: the head end leads one of both LSPs along the best path again when nothing has changed for
        /// so long, and the tail end takes packets of the working LSP again when that has been there for so long.
        pub revert_after: Option<Span>, in 1..=9_000_000_000_000_000_000, absent "it stays where it is";
    }
    check ProtectionSpec::check;
}

/// Paths that a head end looks for at once, so that the first one leaves room for another.
const PATHS: u32 = 8;

impl ProtectionSpec {
    /// Is it from end to end, and not around what fails?
    pub const fn is_end_to_end(self) -> bool {
        matches!(self.method, ProtectionMethod::OneForOne | ProtectionMethod::OnePlusOne)
    }

    fn check(&self) -> Result<(), Diagnostic> {
        let said = match self.is_end_to_end() {
            true => [("node", self.node), ("bandwidth", self.bandwidth)],
            false => [("disjoint", self.disjoint.is_some()), ("revert_after", self.revert_after.is_some())],
        };
        match said.into_iter().find(|(_, is_said)| *is_said) {
            Some((key, _)) if self.is_end_to_end() => {
                Err(Diagnostic::new(NetworkProblem::ProtectionOnTheWay { key }).at(key).on_key())
            }
            Some((key, _)) => Err(Diagnostic::new(NetworkProblem::ProtectionOfEnds { key }).at(key).on_key()),
            None => Ok(()),
        }
    }

    /// What is asked of routers on the way, as it is built.
    pub const fn lowered(self) -> Option<ProtectionRequest> {
        let one_to_one = match self.method {
            ProtectionMethod::Facility => false,
            ProtectionMethod::OneToOne => true,
            ProtectionMethod::OneForOne | ProtectionMethod::OnePlusOne => return None,
        };
        Some(ProtectionRequest { node: self.node, bandwidth: self.bandwidth, one_to_one })
    }

    /// What is asked of the path that the head end computes, as it is built.
    pub fn of_path(self, path: Option<description::PathSpec>) -> Option<description::PathSpec> {
        if !self.is_end_to_end() {
            return path;
        }
        let is_twice = self.method == ProtectionMethod::OnePlusOne;
        let path = path.unwrap_or_else(|| PathSpec::default().lowered());
        Some(description::PathSpec {
            k: path.k.max(PATHS),
            standby: path.standby.or(Some(self.disjoint.unwrap_or(Disjoint::Link))),
            one_plus_one: is_twice.then_some(SelectorSpec { revert_after: self.revert_after }),
            revert_after: self.revert_after,
            ..path
        })
    }
}
