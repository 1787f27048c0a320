//! Table `actions`: what was done to a network while it ran, by a schedule or by calls.

use crate::Network;
use base::describe::Describe;
use base::table::{Rows, Table};
use base::{LinkId, NodeId, Rate, Span, Time};
use engine::{Direction, Fault, FaultKind};
use std::borrow::Cow;

base::table! {
    /// What was done to the network while it ran, by a schedule or by calls, in order of time.
    pub struct ActionRow<'a> in "actions" key [] {
        /// When it was done.
        time_s: Time = "s",
        /// What it was: `fail`, `heal`, `restart`, `loss`, `corruption`, `duplication`, `reordering`, `delay`, `rate`;
        /// of LSPs `signal`, `tear`, `reroute`, `reoptimise`; of flows `start`, `stop`.
        action: &'static str,
        /// The link that it was done to, `a-b` by its ends in the order of the description, with the names of their
        /// interfaces (`a:e0-b:e1`) where there are several links between them; absent if it was done to none.
        link: Option<String>,
        /// The node that sends in the direction in which a link is disturbed; absent if both are.
        from: Option<&'a str>,
        /// The node that it was done to; absent if it was done to none. A `heal` without link and node is of all.
        node: Option<&'a str>,
        /// The group of LSPs that it was done to, by its name; absent if it was done to none.
        lsp: Option<&'a str>,
        /// The flow that it was done to, by its name; absent if it was done to none.
        flow: Option<&'a str>,
        /// When it ends by itself; absent if it lasts.
        until_s: Option<Time> = "s",
        /// The protocol that restarts alone, or how much of it, such as `10 %` of frames for `loss`, `5 ms` for
        /// `delay`, `1 Mbit/s` for `rate`, and the bit error rate for `corruption`; absent where there is nothing to
        /// say.
        value: Option<&'a str>,
    }
}

/// What an action is done to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// All links and nodes, as `heal: all` means it.
    Network,
    /// A link by its place in the description, and the side that sends in the direction that is meant, if one is.
    Link(usize, Option<usize>),
    /// A node by its place.
    Node(usize),
    /// A group of LSPs by its name.
    Lsp(String),
    /// A flow by its name.
    Flow(String),
}

/// Something that is done to a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// When.
    pub at: Time,
    /// When it ends by itself, if it does.
    pub until: Option<Time>,
    /// What is done, as table `actions` calls it.
    pub what: &'static str,
    /// What it is done to.
    pub target: Target,
    /// How much of it.
    pub value: Option<String>,
}

impl Action {
    /// An action that lasts.
    pub fn new(at: Time, what: &'static str, target: Target) -> Action {
        Action { at, until: None, what, target, value: None }
    }
}

impl Network {
    /// Writes down something that is done now or later; it is shown when its time has come.
    pub fn note(&mut self, action: Action) {
        self.marks.add(action.at);
        if let Some(until) = action.until {
            self.marks.add(until);
        }
        let after = self.actions.partition_point(|known| known.at <= action.at);
        self.actions.insert(after, action);
    }

    /// Writes down a fault of the engine.
    pub fn note_fault(&mut self, fault: &Fault) {
        use FaultKind::*;
        let of = |link: LinkId, direction: Direction| {
            let place = self.links.iter().position(|known| known.id == link);
            let side = match direction {
                Direction::Forth => Some(0),
                Direction::Back => Some(1),
                Direction::Both => None,
            };
            place.map_or(Target::Network, |place| Target::Link(place, side))
        };
        let node = |node: NodeId| Target::Node(node.index());
        let mut until = fault.until;
        let (what, target, value) = match fault.kind {
            LinkDown { link } => ("fail", of(link, Direction::Both), None),
            LinkUp { link } => ("heal", of(link, Direction::Both), None),
            LinkHeal { link } => ("heal", of(link, Direction::Both), None),
            NodeDown { node: id } => ("fail", node(id), None),
            NodeUp { node: id } => ("heal", node(id), None),
            NodeRestart { node: id, down_for } => {
                until = Some(fault.at + down_for);
                ("restart", node(id), None)
            }
            Loss { link, direction, probability } => {
                ("loss", of(link, direction), Some(percent(probability)))
            }
            Corruption { link, direction, bit_error_rate, .. } => {
                ("corruption", of(link, direction), Some(format!("{bit_error_rate:e}")))
            }
            Duplication { link, direction, probability } => {
                ("duplication", of(link, direction), Some(percent(probability)))
            }
            Reordering { link, direction, probability, extra } => {
                let value = format!("{} by {}", percent(probability), time(extra));
                ("reordering", of(link, direction), Some(value))
            }
            Delay { link, direction, extra, jitter } => {
                let value = match jitter {
                    Span::ZERO => time(extra).into_owned(),
                    jitter => format!("{} to {}", time(extra), time(extra + jitter)),
                };
                ("delay", of(link, direction), Some(value))
            }
            RateLimit { link, direction, rate } => ("rate", of(link, direction), Some(shown(&rate))),
            HealAll => ("heal", Target::Network, None),
        };
        self.note(Action { at: fault.at, until, what, target, value });
    }

    /// What is done to it, and what of that was asked for with a time to come, in order of time.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter()
    }

    /// Table `actions`: what has been done so far.
    pub(super) fn action_table(&self) -> Table {
        let now = self.now();
        let mut table = Rows::new();
        for action in self.actions.iter().take_while(|action| action.at <= now) {
            let mut row = ActionRow {
                time_s: action.at,
                action: action.what,
                link: None,
                from: None,
                node: None,
                lsp: None,
                flow: None,
                until_s: action.until,
                value: action.value.as_deref(),
            };
            match &action.target {
                Target::Network => {}
                Target::Link(link, side) => {
                    row.link = Some(self.link_name(*link));
                    row.from = side.map(|side| self.node_name(self.links[*link].ends()[side]));
                }
                Target::Node(node) => row.node = Some(self.node_name(*node)),
                Target::Lsp(name) => row.lsp = Some(name),
                Target::Flow(name) => row.flow = Some(name),
            }
            table.push(row);
        }
        table.finish()
    }

    /// A link as people write it: `a-b`, and `a:e0-b:e1` if it is not the only one between its ends.
    pub fn link_name(&self, link: usize) -> String {
        let [a, b] = self.links[link].ends();
        let between = self.graph.links_of(a).filter(|&other| self.graph.beyond(other, a) == Some(b));
        let alone = between.count() < 2;
        let end = |side: usize, node: usize| {
            let interface = self.description.ends.get(link).and_then(|ends| ends[side].interface.as_deref());
            match interface.filter(|_| !alone) {
                Some(interface) => format!("{}:{interface}", self.node_name(node)),
                None => self.node_name(node).to_string(),
            }
        };
        format!("{}-{}", end(0, a), end(1, b))
    }
}

/// A share as people write it: `12.5 %`.
fn percent(share: f64) -> String {
    // What is beyond nine digits comes from writing a decimal as a binary fraction.
    format!("{} %", (share * 1e11).round() / 1e9)
}

fn time(span: Span) -> Cow<'static, str> {
    if span == Span::ZERO { "0 s".into() } else { shown_value(&span).into() }
}

fn shown(rate: &Rate) -> String {
    shown_value(rate)
}

fn shown_value(value: &impl Describe) -> String {
    let value = value.write();
    value.as_text().map_or_else(|| value.shown(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_words_of_users() {
        assert_eq!(percent(0.07), "7 %");
        assert_eq!(percent(0.125), "12.5 %");
        assert_eq!(percent(1e-6), "0.0001 %");
        assert_eq!(time(Span::from_ms(5)), "5 ms");
        assert_eq!(time(Span::ZERO), "0 s");
        assert_eq!(shown(&Rate(1_500_000)), "1500 kbit/s");
    }
}
