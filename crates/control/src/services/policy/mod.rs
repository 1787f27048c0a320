//! Policies: ordered rules that say which routes pass from one place to another, and what is changed of them. Protocols
//! ask them of routes that they take from others, tell others, or take over from another protocol of the node.

#[cfg(test)]
mod tests;
mod words;

use base::diagnostic::Diagnostic;
use base::plane::IpPrefix;
use core::net::Ipv4Addr;
use wire::bgp::{AsPath, Attributes};
pub use words::{Community, PathPattern, PrefixRange};

base::problems! {
    /// Problems of rules.
    pub enum PolicyProblem {
        /// A rule that refuses routes, and changes them.
        Refused { what: String } is Conflict, "policy-refused", "action=reject: a route that is refused is not changed, so {what} has no use";
        /// A rule that takes out what it sets.
        Metric {} is Conflict, "policy-metric", "remove_metric=true: it has no use beside set_metric";
    }
}

base::words! {
    /// What becomes of a route that a rule is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PolicyAction {
        /// It passes.
        Accept = "accept",
        /// It does not.
        Reject = "reject",
        /// The next rules say, as it is now.
        Next = "next",
    }
    default Accept;
}

base::record! {
    /// A rule: which routes it is for, what becomes of them, and what is changed of those that go on. All that it asks
    /// has to be true of a route; a rule that asks nothing is for all. A route that no rule accepts or rejects is
    /// rejected.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PolicyRule {
        /// Destinations: any of these ranges of prefixes; without one, all destinations.
        pub prefixes: Vec<PrefixRange> = Vec::new();
        /// The route has one of these communities; without one, whatever it has.
        pub communities: Vec<Community> = Vec::new();
        /// What its AS path is.
        pub as_path: Option<PathPattern>, absent "any path";
        /// The number that it was given by a source of routes or by an earlier rule.
        pub tag: Option<u32>, absent "any number";
        /// What becomes of it.
        pub action: PolicyAction = PolicyAction::Accept;
        /// How much it is preferred within the AS (LOCAL_PREF).
        pub set_local_preference: Option<u32>, absent "it stays as it is";
        /// MULTI_EXIT_DISC in BGP, the cost in OSPF.
        pub set_metric: Option<u32>, absent "it stays as it is";
        /// Take MULTI_EXIT_DISC out.
        pub remove_metric: bool = false;
        /// Where packets to IPv4 destinations go.
        pub set_next_hop: Option<Ipv4Addr>, absent "it stays as it is";
        /// A number for rules and protocols of this router; OSPF tells it others.
        pub set_tag: Option<u32>, absent "it stays as it is";
        /// How often an AS is put in front of the path: the router's own in what it tells, the neighbour's in what it
        /// takes.
        pub prepend: u8 = 0, in 0..=32;
        /// Communities that it has from now on.
        pub add_communities: Vec<Community> = Vec::new();
        /// Communities that it has no more.
        pub remove_communities: Vec<Community> = Vec::new();
    }
    check PolicyRule::check;
}

/// A route while rules are asked of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its destinations.
    pub prefix: IpPrefix,
    /// The number that it has.
    pub tag: u32,
    /// What BGP says of it, or would say.
    pub attributes: Attributes,
}

impl Community {
    fn is_in(self, attributes: &Attributes) -> bool {
        match self {
            Community::Plain(one) => attributes.communities.contains(&one),
            Community::Large(one) => attributes.large_communities.contains(&one),
            Community::Extended(one) => attributes.extended_communities.contains(&one),
        }
    }

    fn add_to(self, attributes: &mut Attributes) {
        if self.is_in(attributes) {
            return;
        }
        match self {
            Community::Plain(one) => attributes.communities.push(one),
            Community::Large(one) => attributes.large_communities.push(one),
            Community::Extended(one) => attributes.extended_communities.push(one),
        }
    }

    fn remove_from(self, attributes: &mut Attributes) {
        match self {
            Community::Plain(one) => attributes.communities.retain(|other| *other != one),
            Community::Large(one) => attributes.large_communities.retain(|other| *other != one),
            Community::Extended(one) => attributes.extended_communities.retain(|other| *other != one),
        }
    }
}

impl PolicyRule {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.remove_metric && self.set_metric.is_some() {
            return Err(PolicyProblem::Metric {}.into());
        }
        let what = self.changes().next().filter(|_| self.action == PolicyAction::Reject);
        match what {
            Some(what) => Err(PolicyProblem::Refused { what: what.into() }.into()),
            None => Ok(()),
        }
    }

    /// What it changes, by the names of its fields.
    pub fn changes(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("set_local_preference", self.set_local_preference.is_some()),
            ("set_metric", self.set_metric.is_some()),
            ("remove_metric", self.remove_metric),
            ("set_next_hop", self.set_next_hop.is_some()),
            ("set_tag", self.set_tag.is_some()),
            ("prepend", self.prepend > 0),
            ("add_communities", !self.add_communities.is_empty()),
            ("remove_communities", !self.remove_communities.is_empty()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name)
    }

    /// What it asks or changes that only routes of BGP have, by the names of its fields.
    pub fn of_bgp(&self) -> impl Iterator<Item = &'static str> {
        let asks = [("communities", !self.communities.is_empty()), ("as_path", self.as_path.is_some())];
        let asked = asks.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
        asked.chain(self.changes().filter(|name| !matches!(*name, "set_metric" | "set_tag")))
    }

    fn is_for(&self, subject: &Subject) -> bool {
        let path = || subject.attributes.as_path.clone().unwrap_or_default();
        (self.prefixes.is_empty() || self.prefixes.iter().any(|range| range.contains(subject.prefix)))
            && self.tag.is_none_or(|tag| tag == subject.tag)
            && (self.communities.is_empty()
                || self.communities.iter().any(|one| one.is_in(&subject.attributes)))
            && self.as_path.as_ref().is_none_or(|pattern| pattern.matches(&path()))
    }

    fn change(&self, subject: &mut Subject, asn: u32) {
        subject.tag = self.set_tag.unwrap_or(subject.tag);
        let to = &mut subject.attributes;
        to.local_pref = self.set_local_preference.or(to.local_pref);
        // RFC 4271, 5.1.4: where routes are taken this is before the choice.
        to.med = self.set_metric.or(to.med.filter(|_| !self.remove_metric));
        if matches!(subject.prefix, IpPrefix::V4(_)) {
            to.next_hop = self.set_next_hop.or(to.next_hop);
        }
        if self.prepend > 0 {
            let path: AsPath = to.as_path.take().unwrap_or_default();
            to.as_path = Some(path.prepended(asn, usize::from(self.prepend)));
        }
        self.remove_communities.iter().for_each(|one| one.remove_from(to));
        self.add_communities.iter().for_each(|one| one.add_to(to));
    }
}

/// Does a route pass these rules? If so, it is as they have changed it; `asn` is what they put in front of paths.
pub fn passes(rules: &[PolicyRule], subject: &mut Subject, asn: u32) -> bool {
    for rule in rules {
        if !rule.is_for(subject) {
            continue;
        }
        if rule.action == PolicyAction::Reject {
            return false;
        }
        rule.change(subject, asn);
        if rule.action == PolicyAction::Accept {
            return true;
        }
    }
    false
}

/// Does what becomes of a route depend on its destination?
pub fn asks_prefixes(rules: &[PolicyRule]) -> bool {
    rules.iter().any(|rule| !rule.prefixes.is_empty())
}
