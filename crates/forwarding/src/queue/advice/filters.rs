//! What filters take, and what they leave over.

use super::Adviser;
use super::Around;
use super::words::list;
use crate::conditioner::{ActionSpec, ConditionerSpec};
use crate::queue::classify::{Kind, Packets, shadowed};
use crate::queue::problem::QueueAdvice;
use crate::queue::spec::ClassFilter;
use base::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of packets without a class.
pub(super) const DROPPED: &str = "they are dropped (no-class)";
/// The same with HTB.
pub(super) const DIRECT: &str = "they leave before all classes, at the rate of the port";

impl Around {
    /// Is there nobody who puts this mark on packets?
    pub(crate) fn unmarked(&self, mark: u32) -> bool {
        self.marks.as_ref().is_some_and(|marks| !marks.contains(&mark))
    }
}

/// Packets as they are behind a conditioner: those that it writes to are left out, since filters may see them as
/// others.
pub(super) fn behind(conditioner: &ConditionerSpec, packets: Packets) -> Packets {
    let (taken, mut rest) = packets.split(conditioner.rules.iter().map(|rule| &rule.matches));
    for (rule, own) in conditioner.rules.iter().zip(taken) {
        let of_colours: &[ActionSpec] =
            if rule.meter.is_some() { &[rule.green, rule.yellow, rule.red] } else { &[rule.green] };
        let same = |action: &ActionSpec| matches!(action, ActionSpec::Pass | ActionSpec::Drop);
        if of_colours.iter().all(same) && of_colours.contains(&ActionSpec::Pass) {
            rest.join(own);
        }
    }
    rest
}

impl Adviser {
    /// Filters that take nothing, and classes to which none leads.
    /// Returns what each class gets.
    pub(super) fn filters<'n>(
        &mut self,
        filters: &[ClassFilter],
        default: Option<&str>,
        leaves: impl Iterator<Item = &'n str>,
        path: &[&str],
        packets: Packets,
        fate: &str,
    ) -> BTreeMap<String, Packets> {
        for (n, filter) in filters.iter().enumerate() {
            let mark = filter.matches.mark.filter(|mark| *mark != 0);
            if let Some(mark) = mark.filter(|mark| self.around.unmarked(*mark)) {
                self.say_of_filter(path, n, QueueAdvice::Unmarked { mark, place: "" });
            }
        }
        for hidden in shadowed(filters.iter().map(|filter| &filter.matches)) {
            let by: Vec<String> = hidden.by.iter().map(|place| format!("filter {}", place + 1)).collect();
            let by: Vec<&str> = by.iter().map(String::as_str).collect();
            let verb = if by.len() == 1 { "takes" } else { "take" };
            self.say_of_filter(path, hidden.filter, QueueAdvice::Hidden { by: list(&by), verb });
        }
        let reached: BTreeSet<&str> = filters.iter().map(|f| &*f.class).chain(default).collect();
        let alone: Vec<&str> = leaves.filter(|name| !reached.contains(name)).collect();
        if !alone.is_empty() {
            self.say(path, QueueAdvice::Unreached { names: list(&alone) });
        }
        let (taken, left) = packets.split(filters.iter().map(|filter| &filter.matches));
        self.left_over(&left, default.is_some(), "class", fate, path);
        let mut shares: BTreeMap<String, Packets> = BTreeMap::new();
        for (filter, own) in filters.iter().zip(taken) {
            shares.entry(filter.class.to_string()).or_default().join(own);
        }
        if let Some(name) = default {
            shares.entry(name.to_string()).or_default().join(left);
        }
        shares
    }

    /// About packets that no filter takes.
    pub(super) fn left_over(
        &mut self,
        left: &Packets,
        default: bool,
        noun: &'static str,
        fate: &str,
        path: &[&str],
    ) {
        let kinds = left.kinds();
        if default || kinds.is_empty() {
            return;
        }
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let ends = match (kinds.contains(&Kind::Arp), kinds.contains(&Kind::Rsvp)) {
            _ if fate != DROPPED => "",
            (true, true) => ", so that neighbours are not found and LSPs do not come up",
            (true, false) => ", so that neighbours are not found",
            (false, true) => ", so that LSPs do not come up",
            (false, false) => "",
        };
        let fate = format!("{fate}{ends}");
        self.say(path, QueueAdvice::LeftOver { kinds: list(&names), fate, noun });
    }

    fn say_of_filter(&mut self, path: &[&str], filter: usize, found: QueueAdvice) {
        let found = Diagnostic::new(found).at(filter).at("filters");
        self.said.push(found.below(path.iter().copied()));
    }
}
