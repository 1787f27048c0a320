//! Conditioners as users describe them: rules, meters, actions.

use crate::queue::Accounting;
use crate::queue::check;
use crate::queue::classify::Match;
use crate::queue::problem::QueueProblem;
use base::describe::{ClassName, Describe, Schema, Schemas, Size, Value};
use base::diagnostic::{At, Diagnostic};
use base::{Phb, Rate};
use core::fmt;
use std::collections::BTreeSet;

base::record! {
    /// Rules in order: the first that takes a packet decides on it; a packet that no rule takes passes.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConditionerSpec called "Conditioner" {
        /// What packets count for.
        pub accounting: Accounting = Accounting::default();
        /// Rules in order.
        pub rules: Vec<RuleSpec>;
    }
    check ConditionerSpec::described;
}

impl ConditionerSpec {
    /// Refuses two rules of one name.
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        let mut names = BTreeSet::new();
        for (index, rule) in self.rules.iter().enumerate() {
            if !names.insert(&rule.name) {
                let problem = QueueProblem::RuleTwice { name: rule.name.to_string() };
                return Err(Diagnostic::new(problem).at("name").at(index).at("rules"));
            }
        }
        Ok(())
    }

    fn described(&self) -> Result<(), Diagnostic> {
        check::some(self.rules.len(), "rules")?;
        self.check()?;
        check::in_order(self.rules.iter().map(|rule| &rule.matches), "rule").at("rules")
    }
}

base::record! {
    /// Packets, their meter, and what becomes of each colour; without a meter every packet is green.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RuleSpec called "Rule" {
        /// Its name, for the counters.
        pub name: ClassName;
        /// What says the colours of packets.
        pub meter: Option<MeterSpec>, absent "none: all are green";
        /// What becomes of packets in profile.
        pub green: ActionSpec = ActionSpec::Pass;
        /// What becomes of those between.
        pub yellow: ActionSpec = ActionSpec::Pass;
        /// What becomes of those out of profile.
        pub red: ActionSpec = ActionSpec::Drop;
    }
    beside {
        /// Which packets.
        pub matches: Match
    }
}

base::record! {
    /// A token bucket, with a second one for the peak rate if that is given: what finds room in both is green, all else
    /// red.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TokenBucket {
        /// Rate at which tokens come.
        pub rate: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Bytes that the bucket holds; it is full at first.
        pub burst: Size, in 1..=0x7fff_ffff_ffff_ffff;
        /// Rate of a second bucket, which limits bursts.
        pub peakrate: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "there is none";
        /// Bytes that the second bucket holds.
        pub mtu: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "2047, as tc has it";
    }
    check TokenBucket::check;
}

impl TokenBucket {
    fn check(&self) -> Result<(), Diagnostic> {
        match (self.peakrate, self.mtu) {
            (Some(peak), _) if peak <= self.rate => {
                let (peak, rate) = (check::shown(&peak), check::shown(&self.rate));
                Err(Diagnostic::new(QueueProblem::PeakTooLow { peak, rate }).at("peakrate"))
            }
            (None, Some(_)) => Err(Diagnostic::new(QueueProblem::MtuAlone {}).at("mtu")),
            _ => Ok(()),
        }
    }
}

base::record! {
    /// The single-rate three-colour marker (RFC 2697).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SingleRate {
        /// Committed information rate.
        pub cir: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Committed burst size; 0 if none is green.
        pub cbs: Size;
        /// Excess burst size; 0 if none is yellow.
        pub ebs: Size;
        /// Take the colour that a packet has, by its drop precedence, into account.
        pub aware: bool = false;
    }
    check SingleRate::check;
}

impl SingleRate {
    /// RFC 2697, 2: "at least one of them must be larger than 0".
    fn check(&self) -> Result<(), Diagnostic> {
        let is_wrong = self.cbs.0 == 0 && self.ebs.0 == 0;
        if is_wrong { Err(Diagnostic::new(QueueProblem::NoBursts {}).at("cbs")) } else { Ok(()) }
    }
}

base::record! {
    /// The two-rate three-colour marker (RFC 2698).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TwoRate {
        /// Committed information rate.
        pub cir: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Committed burst size.
        pub cbs: Size, in 1..=0x7fff_ffff_ffff_ffff;
        /// Peak information rate.
        pub pir: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Peak burst size.
        pub pbs: Size, in 1..=0x7fff_ffff_ffff_ffff;
        /// Take the colour that a packet has, by its drop precedence, into account.
        pub aware: bool = false;
    }
    check TwoRate::check;
}

impl TwoRate {
    /// RFC 2698, 2: "The PIR must be equal to or greater than the CIR".
    fn check(&self) -> Result<(), Diagnostic> {
        if self.pir >= self.cir {
            return Ok(());
        }
        let (pir, cir) = (check::shown(&self.pir), check::shown(&self.cir));
        Err(Diagnostic::new(QueueProblem::PirTooLow { pir, cir }).at("pir"))
    }
}

base::choice! {
    /// A meter. Buckets are full at first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MeterSpec called "Meter" by "kind" {
        /// Green conforms, red exceeds.
        TokenBucket(TokenBucket) = "token-bucket",
        /// Three colours by one rate (RFC 2697).
        SingleRate(SingleRate) = "single-rate",
        /// Three colours by two rates (RFC 2698).
        TwoRate(TwoRate) = "two-rate",
    }
}

impl MeterSpec {
    /// Refuses what can't be.
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        match self {
            MeterSpec::TokenBucket(meter) => meter.check(),
            MeterSpec::SingleRate(meter) => meter.check(),
            MeterSpec::TwoRate(meter) => meter.check(),
        }
    }
}

/// What becomes of packets of a colour. Users write it as text: `pass`, `drop`, `remark AF12 as TC 3 below labels`,
/// `mark 7`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActionSpec {
    /// They go on as they are.
    #[default]
    Pass,
    /// They are dropped.
    Drop,
    /// They get another PHB: in the TC bits of the outermost label if there is one, else in the code point of the IP
    /// header.
    Remark {
        /// The PHB.
        phb: Phb,
        /// Also in the IP header below the labels: then the packet keeps the PHB when its tunnel ends, whatever its
        /// model.
        below_labels: bool,
        /// The TC bits of the label. If absent those that mean the PHB: before an egress queue in the LSP of the label,
        /// if that has a DiffServ context (RFC 3270, 2.5), else in the node's map.
        tc: Option<u8>,
    },
    /// They get a mark, which filters of this node's queues can look at; it does not leave the node.
    Mark {
        /// The mark.
        mark: u32,
    },
}

/// The forms of an action, for editors.
const ACTION: &str = "an action: pass, drop, 'remark AF12', 'remark AF12 as TC 3 below labels' or 'mark 7'";

/// A remark from the words behind `remark`, or nothing if they are none.
fn remark(value: &Value, words: &[&str]) -> Result<Option<ActionSpec>, Diagnostic> {
    let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
    let mut rest = words;
    let mut below_labels = false;
    if let [others @ .., last] = rest
        && is(last, "too")
    {
        rest = others;
    }
    match rest {
        [others @ .., below, labels] if is(below, "below") && is(labels, "labels") => {
            (rest, below_labels) = (others, true);
        }
        _ if rest.len() < words.len() => return Ok(None),
        _ => {}
    }
    let mut tc = None;
    if let [others @ .., word, number] = rest
        && (is(word, "tc") || is(word, "exp"))
    {
        let others = match others {
            [others @ .., last] if is(last, "as") => others,
            _ => others,
        };
        let number = number.trim_end_matches(',');
        if is(word, "exp") {
            let below = if below_labels { " below labels" } else { "" };
            let new = format!("remark {} as TC {number}{below}", others.join(" "));
            return Err(QueueProblem::RenamedExp { value: value.shown(), new }.into());
        }
        let found = number.parse::<u8>().ok().filter(|tc| *tc < 8 && number.len() == 1);
        tc = Some(found.ok_or_else(|| QueueProblem::ActionTc { value: value.shown() })?);
        rest = others;
    }
    let phb = rest.join(" ");
    let phb = phb.trim_end_matches(',');
    if phb.is_empty() {
        return Ok(None);
    }
    let phb = phb.parse::<u8>().map_or_else(|_| phb.into(), Value::from);
    Ok(Some(ActionSpec::Remark { phb: Phb::read(&phb)?, below_labels, tc }))
}

impl Describe for ActionSpec {
    fn read(value: &Value) -> Result<ActionSpec, Diagnostic> {
        let Value::Text(text) = value else {
            return Err(base::describe::wrong_type(value, "a text such as drop or 'remark AF12'"));
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let found = match words[..] {
            ["pass"] => Some(ActionSpec::Pass),
            ["drop"] => Some(ActionSpec::Drop),
            ["mark", number] => number.parse().ok().map(|mark| ActionSpec::Mark { mark }),
            ["remark", ..] => remark(value, &words[1..])?,
            _ => None,
        };
        found.ok_or_else(|| QueueProblem::NoAction { value: value.shown() }.into())
    }
    fn write(&self) -> Value {
        match self {
            ActionSpec::Remark { phb, below_labels, tc } => {
                let tc = tc.map(|tc| format!(" as TC {tc}")).unwrap_or_default();
                format!("remark {phb}{tc}{}", if *below_labels { " below labels" } else { "" }).into()
            }
            other => other.to_string().into(),
        }
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: ACTION, pattern: None }
    }
}

/// In a few words, for tables.
impl fmt::Display for ActionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActionSpec::Pass => f.write_str("pass"),
            ActionSpec::Drop => f.write_str("drop"),
            ActionSpec::Remark { phb, below_labels, tc } => {
                write!(f, "remark {phb}")?;
                tc.map_or(Ok(()), |tc| write!(f, " as TC {tc}"))?;
                if *below_labels { f.write_str(", below labels too") } else { Ok(()) }
            }
            ActionSpec::Mark { mark } => write!(f, "mark {mark}"),
        }
    }
}

base::described!(ConditionerSpec);
