//! Conditioners: what is metered, marked and policed at an ingress port, or before an egress queue (RFC 2475, 2.3.3).
//!
//! - [`spec`]: a conditioner as the user describes it
//! - [`Conditioner`]: one that runs: [`Conditioner::condition`]
//! - [`meter`]: token bucket, single-rate and two-rate three-colour markers
//! - [`ConditionerRow`]: what it counted
//! - [`warnings`]: what runs but is surprising about one
//!
//! Each packet goes through the first rule that takes it: the rule's meter tells its colour, the colour what becomes
//! of it. Nothing is allocated for a packet, but for what a frame needs to hold its first mark.

mod advice;
mod install;
pub mod meter;
mod remark;
pub mod spec;
#[cfg(test)]
mod tests;

pub use advice::warnings;
pub use meter::{Colour, Meter};
pub use spec::{ActionSpec, ConditionerSpec, MeterSpec, RuleSpec, SingleRate, TokenBucket, TwoRate};

use crate::packet::{ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, IPV6, u16_at};
use crate::queue::Backlog;
use crate::queue::accounting::Counting;
use crate::queue::classify::{Matcher, phb_of};
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::diffserv::{DiffServConfig, DscpMap, TcMap};
use base::frame::Framing;
use base::{Frame, Time};
pub(crate) use install::Conditioners;
use remark::Remark;

/// What the numbers on packets mean here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codes {
    tc: TcMap,
    dscp: DscpMap,
}

#[derive(Clone, Debug)]
struct Rule {
    name: String,
    meter: Option<Meter>,
    /// What becomes of green, yellow and red packets, in this order.
    actions: [ActionSpec; 3],
    counted: [Backlog; 3],
}

/// Is it a message of neighbour discovery, unlabelled and without extension headers? Those types of ICMPv6, with the
/// hop limit that no router has lowered (RFC 4861, 4). Its destination does not matter: a neighbour is also probed at
/// any of its addresses (7.3.3), which a conditioner does not know.
fn is_discovery(header: &[u8]) -> bool {
    let Some(ip) = header.get(ETHERNET..) else { return false };
    let Some((ip, rest)) = ip.split_first_chunk::<IPV6>() else { return false };
    ip[6] == wire::ipv6::Protocol::ICMPV6.0
        && ip[7] == wire::nd::HOP_LIMIT
        && rest.first().is_some_and(|kind| (133..=137).contains(kind))
}

/// What a conditioner counted, for a rule and a colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionerRow {
    /// Name of the rule, as its user gave it.
    pub rule: String,
    /// Colour that the rule's meter gave the packets; green for all if it has no meter.
    pub colour: Colour,
    /// What became of its packets, in a few words.
    pub action: String,
    /// How many there were, and the bytes that they counted for.
    pub counted: Backlog,
}

/// Rules in order, each with its meter, actions and counters. Give it packets in order of time.
#[derive(Clone, Debug, Default)]
pub struct Conditioner {
    matcher: Matcher,
    rules: Vec<Rule>,
    counting: Counting,
    codes: Codes,
    unmatched: Backlog,
}

impl Conditioner {
    /// Builds what a user described.
    pub fn new(spec: &ConditionerSpec) -> Result<Conditioner, Diagnostic> {
        spec.check()?;
        let rule = |(index, rule): (usize, &RuleSpec)| {
            let meter = rule.meter.as_ref().map(Meter::new).transpose().at("meter").at(index).at("rules")?;
            let actions = [rule.green, rule.yellow, rule.red];
            Ok(Rule { name: rule.name.to_string(), meter, actions, counted: Default::default() })
        };
        let rules = spec.rules.iter().enumerate().map(rule).collect::<Result<Vec<_>, Diagnostic>>()?;
        let matcher = Matcher::new(spec.rules.iter().map(|rule| &rule.matches)).at("rules")?;
        Ok(Conditioner {
            matcher,
            rules,
            counting: spec.accounting.into(),
            codes: Codes::default(),
            unmatched: Backlog::default(),
        })
    }

    /// Remarks by what code points and TC values mean at this node; by the standard mappings if it is never told.
    pub fn set_diffserv(&mut self, config: &DiffServConfig) {
        self.codes = Codes { tc: config.tc_map, dscp: config.dscp };
    }

    /// Says on which medium the packets are or come; on Ethernet if it is never told.
    pub fn set_framing(&mut self, framing: Framing) {
        self.counting.set_framing(framing);
    }

    /// Does any rule ask for the port by which a packet came?
    pub fn asks_input(&self) -> bool {
        self.matcher.asks_input()
    }

    /// Meters a packet at `now` and does with it what its colour asks for; or says why it is to be dropped. A frame
    /// that is neither IP nor MPLS passes: there is no code point on it, and a policer that dropped ARP would cut the
    /// link. So does neighbour discovery, which does for IPv6 what ARP does for IPv4.
    #[inline]
    pub fn condition(&mut self, now: Time, frame: &mut Frame) -> Result<(), DropReason> {
        match u16_at(frame.header(), 12) {
            Some(ETHERTYPE_IPV4 | ETHERTYPE_MPLS) => {}
            Some(ETHERTYPE_IPV6) if !is_discovery(frame.header()) => {}
            _ => return Ok(()),
        }
        let bytes = self.counting.bytes(frame);
        let count = |counted: &mut Backlog| {
            counted.packets += 1;
            counted.bytes += u64::from(bytes);
        };
        let rule = self.matcher.find(frame).and_then(|n| self.rules.get_mut(n as usize));
        let Some(rule) = rule else {
            count(&mut self.unmatched);
            return Ok(());
        };
        let colour = match &mut rule.meter {
            Some(meter) => meter.colour(now, bytes, Colour::of(phb_of(frame))),
            None => Colour::Green,
        };
        count(&mut rule.counted[colour as usize]);
        match rule.actions[colour as usize] {
            ActionSpec::Pass => {}
            ActionSpec::Drop => return Err(DropReason::Policed),
            ActionSpec::Mark { mark } => frame.set_mark(mark),
            ActionSpec::Remark { phb, below_labels, tc } => {
                Remark { phb, below_labels, tc }.apply(frame, &self.codes);
            }
        }
        Ok(())
    }

    /// What each rule counted for each colour that its meter knows, in order.
    pub fn report(&self) -> Vec<ConditionerRow> {
        let mut rows = Vec::new();
        for rule in &self.rules {
            let colours = rule.meter.as_ref().map_or(&[Colour::Green][..], Meter::colours);
            rows.extend(colours.iter().map(|colour| ConditionerRow {
                rule: rule.name.clone(),
                colour: *colour,
                action: rule.actions[*colour as usize].to_string(),
                counted: rule.counted[*colour as usize],
            }));
        }
        rows
    }

    /// Packets that no rule took, which passed.
    pub fn unmatched(&self) -> Backlog {
        self.unmatched
    }
}
