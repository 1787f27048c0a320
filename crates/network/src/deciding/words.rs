//! The words for what decides on a packet: tables, entries, whose they are, and what they do.

use crate::Network;
use crate::tables::hop;
use base::Label;
use base::plane::{IpPrefix, NextHop};
use base::table::word;
use control::rsvp::Rsvp;
use control::services::{RoutePrefix, Source};
use forwarding::PuntReason;
use forwarding::explain::{Outcome, Rule, Taken};

/// The table that a rule stands in. Filters stand in `ftn`, too, but are looked at first.
pub const fn table(rule: &Rule) -> &'static str {
    match rule {
        Rule::Label(_) => "ilm",
        Rule::Filter { .. } => "filter",
        Rule::Mapped { .. } => "ftn",
        Rule::Route(_) => "fib",
    }
}

/// What a rule takes.
pub fn entry(rule: &Rule) -> String {
    match rule {
        Rule::Label(label) => label.to_string(),
        Rule::Filter { filter, .. } => filter.to_string(),
        Rule::Mapped { prefix, classes: None } | Rule::Route(prefix) => prefix.to_string(),
        Rule::Mapped { prefix, classes: Some((_, classes)) } => {
            let classes: Vec<String> = classes.iter().map(|phb| phb.to_string()).collect();
            format!("{prefix} {}", classes.join(" "))
        }
    }
}

/// What an entry does with a packet, as far as it says.
pub fn action(taken: &Taken) -> String {
    let labels: Vec<String> = taken.nhlfe.push.as_slice().iter().rev().map(Label::to_string).collect();
    let is_label = matches!(taken.rule, Rule::Label(_));
    match (taken.nhlfe.next_hop, labels.is_empty()) {
        (NextHop::Discard, _) => "drop".into(),
        (NextHop::Replicate(_), _) => "copy".into(),
        (NextHop::Local, _) if !is_label => "deliver".into(),
        (_, true) => if is_label { "pop" } else { "forward" }.into(),
        (_, false) => format!("{} {}", if is_label { "swap to" } else { "push" }, labels.join(" ")),
    }
}

/// What becomes of a packet that does not leave.
pub fn end(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Leaves { .. } => None,
        Outcome::Punted(PuntReason::Local { .. }) => Some("deliver".into()),
        Outcome::Punted(PuntReason::NoRoute { .. }) => Some("drop: no-route".into()),
        Outcome::Punted(PuntReason::WrongInterface) => Some("drop: wrong-interface".into()),
        Outcome::Punted(PuntReason::TtlExpired { .. }) => Some("drop: ttl-expired".into()),
        Outcome::Punted(PuntReason::UnknownLabel { .. }) => Some("drop: unknown-label".into()),
        Outcome::Punted(PuntReason::TooBig { mtu, .. }) => Some(format!("cut to {mtu} bytes")),
        Outcome::Punted(PuntReason::Replicate { branches }) => Some(format!("{branches} copies")),
        Outcome::Punted(_) => Some("handed to the control processor".into()),
        Outcome::Dropped(reason) => Some(format!("drop: {}", word(reason))),
    }
}

impl Network {
    /// Whose an entry of a node is: an LSP by its name, or a source of routes.
    pub(super) fn owner_of(&self, node: usize, taken: &Taken) -> Option<String> {
        let router = self.router(node)?;
        let services = router.control().services();
        let rsvp = self.protocol::<Rsvp>(node);
        let lsp = |name: String| format!("lsp {name}");
        match taken.rule {
            Rule::Label(label) => {
                let owner = services.labels.owner(label)?;
                let named = rsvp.filter(|_| owner == Rsvp::ID).and_then(|rsvp| rsvp.named_by_label(label));
                Some(named.map_or_else(|| owner.name().to_string(), lsp))
            }
            Rule::Filter { order, .. } => rsvp?.named_by_order(order).map(lsp),
            Rule::Mapped { classes: Some((order, _)), .. } => rsvp?.named_by_order(order).map(lsp),
            Rule::Mapped { prefix, .. } => Some(self.binder_name(node, services.bindings.binder(prefix)?)),
            Rule::Route(prefix) => {
                let source = match prefix {
                    IpPrefix::V4(prefix) => services.rib.best(prefix).map(|route| route.source),
                    IpPrefix::V6(prefix) => services.rib6.best(prefix).map(|route| route.source),
                };
                Some(self.source_name(node, source.unwrap_or(Source::Static), taken.nhlfe.next_hop))
            }
        }
    }

    /// An entry that another overrides, in one line.
    pub(super) fn overridden(&self, node: usize, taken: &Taken) -> String {
        let owner = self.owner_of(node, taken).map_or(String::new(), |owner| format!(" ({owner})"));
        let to = match taken.nhlfe.next_hop {
            NextHop::Local | NextHop::Unlabelled | NextHop::Discard | NextHop::Selected(_) => String::new(),
            next_hop => format!(" to {}", hop(self, node, next_hop).to),
        };
        format!("{} {}{owner}: {}{to}", table(&taken.rule), entry(&taken.rule), action(taken))
    }

    /// Routes to a prefix that are not in force, since another source's is better.
    pub(super) fn weaker_routes(&self, node: usize, rule: &Rule) -> Vec<String> {
        let Some(router) = self.router(node) else { return Vec::new() };
        let services = router.control().services();
        match *rule {
            Rule::Route(IpPrefix::V4(prefix)) => weaker(&services.rib, prefix),
            Rule::Route(IpPrefix::V6(prefix)) => weaker(&services.rib6, prefix),
            _ => Vec::new(),
        }
    }
}

pub(super) fn weaker<P: RoutePrefix + core::fmt::Display>(
    rib: &control::services::Rib<P>,
    prefix: P,
) -> Vec<String> {
    let best = rib.best(prefix).map(|route| route.source);
    let others = rib.routes(prefix).iter().filter(|route| Some(route.source) != best);
    let line = |route: &control::services::Route<P>| {
        format!("rib {prefix} ({}): preference {}", route.source.word(), route.preference)
    };
    others.map(line).collect()
}
