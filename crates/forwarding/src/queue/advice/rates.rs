//! Rates that add up to more than there is, and rates that nothing ever gets.

use super::Adviser;
use super::filters::{DIRECT, DROPPED};
use super::words::{Bits, Wide, list};
use crate::queue::classify::Packets;
use crate::queue::problem::QueueAdvice;
use crate::queue::spec::*;
use base::Rate;
use base::describe::ClassName;
use std::collections::BTreeMap;

/// The most that a queue is ever given.
#[derive(Clone, Debug)]
pub(super) struct Top {
    /// Zero if it is not known.
    pub(super) rate: Rate,
    /// What gives it that rate, in words for the warning.
    pub(super) whose: String,
}

impl Top {
    pub(super) fn of(whose: impl Into<String>, rate: Rate) -> Top {
        Top { rate, whose: whose.into() }
    }

    /// The less of both.
    pub(super) fn within(self, other: &Top) -> Top {
        if other.rate.0 > 0 && (self.rate.0 == 0 || other.rate < self.rate) { other.clone() } else { self }
    }
}

impl Adviser {
    /// About a rate of its own that is more than it is ever given.
    pub(super) fn above(&mut self, own: &Top, top: &Top, field: &'static str, path: &[&str]) {
        if top.rate.0 > 0 && own.rate > top.rate {
            let [rate, most] = [own.rate, top.rate].map(|rate| Bits(rate.0).to_string());
            self.say_of(
                path,
                field,
                QueueAdvice::NeverReached { field, rate, most, whose: top.whose.clone() },
            );
        }
    }

    pub(super) fn cbq(&mut self, spec: &CbqSpec, path: &[&str], top: &Top, packets: Packets) {
        let port = self.around.rate;
        if let Some(bandwidth) = spec.bandwidth.filter(|rate| port.0 > 0 && *rate != port) {
            let [own, port] = [bandwidth, port].map(|rate| Bits(rate.0).to_string());
            self.say_of(path, "bandwidth", QueueAdvice::OtherBandwidth { own, port });
        }
        let shape = |(name, class): &(ClassName, CbqClass)| (name.clone(), class.parent.clone(), class.rate);
        let classes: Vec<_> = spec.classes.iter().map(shape).collect();
        let share = match spec.bandwidth {
            Some(rate) => Top::of("the port", rate).within(top),
            None => top.clone(),
        };
        let mut shares =
            self.hierarchy(&classes, &spec.filters, spec.default.as_deref(), &share, path, packets, DROPPED);
        for (name, class) in &spec.classes {
            if let Some(queue) = &class.queue {
                let packets = shares.remove(&**name).unwrap_or_default();
                let own = match class.bounded {
                    true => Top::of(format!("class '{name}', which it is in"), class.rate),
                    false => share.clone(),
                };
                self.queue(queue, &[path, &["classes", name, "queue"]].concat(), &own.within(top), packets);
            }
        }
    }

    pub(super) fn htb(&mut self, spec: &HtbSpec, path: &[&str], top: &Top, packets: Packets) {
        let shape = |(name, class): &(ClassName, HtbClass)| (name.clone(), class.parent.clone(), class.rate);
        let classes: Vec<_> = spec.classes.iter().map(shape).collect();
        let mut shares =
            self.hierarchy(&classes, &spec.filters, spec.default.as_deref(), top, path, packets, DIRECT);
        let (longest, words) = self.around.longest.counted(&self.accounting);
        let ceil = |class: &HtbClass| class.ceil.unwrap_or(class.rate);
        let ceilings: BTreeMap<&str, Rate> = spec.classes.iter().map(|c| (&*c.0, ceil(&c.1))).collect();
        for (name, class) in &spec.classes {
            let below = [path, &["classes", &**name]].concat();
            for (bytes, field) in [(class.burst, "burst"), (class.cburst, "cburst")] {
                if let Some(bytes) = bytes.map(|bytes| bytes.0).filter(|bytes| *bytes < longest) {
                    let small = QueueAdvice::OneBurst { field, bytes, longest: words.clone() };
                    self.say_of(&below, field, small);
                }
            }
            let above = class.parent.as_deref().and_then(|parent| ceilings.get(parent));
            if let Some(above) = above.filter(|above| ceil(class) > **above) {
                let [own, above] = [ceil(class), *above].map(|rate| Bits(rate.0).to_string());
                self.say_of(&below, "ceil", QueueAdvice::CeilAbove { own, above });
            }
            if class.parent.is_none() && ceil(class) > class.rate {
                let [own, rate] = [ceil(class), class.rate].map(|rate| Bits(rate.0).to_string());
                self.say_of(&below, "ceil", QueueAdvice::CeilAlone { own, rate });
            }
            if let Some(queue) = &class.queue {
                let most = if class.parent.is_none() { class.rate } else { ceil(class) };
                let own = Top::of(format!("class '{name}', which it is in"), most);
                let packets = shares.remove(&**name).unwrap_or_default();
                self.queue(queue, &[&below[..], &["queue"]].concat(), &own.within(top), packets);
            }
        }
    }

    /// Classes (name, parent, rate) in each other; those without a parent share `top`. Returns which of the packets
    /// leaves get.
    #[allow(clippy::too_many_arguments)]
    fn hierarchy(
        &mut self,
        classes: &[(ClassName, Option<ClassName>, Rate)],
        filters: &[ClassFilter],
        default: Option<&str>,
        top: &Top,
        path: &[&str],
        packets: Packets,
        fate: &str,
    ) -> BTreeMap<String, Packets> {
        let mut below: BTreeMap<Option<&str>, Vec<(&str, u128)>> = BTreeMap::new();
        for (name, parent, rate) in classes {
            below.entry(parent.as_deref()).or_default().push((name, u128::from(rate.0)));
        }
        let of_parent =
            |parent: &str| classes.iter().find(|(name, ..)| &**name == parent).map(|(.., rate)| *rate);
        for (parent, children) in &below {
            let (rate, whose) = match parent {
                Some(parent) => {
                    (of_parent(parent).unwrap_or_default(), format!("'{parent}', which they are in"))
                }
                None => (top.rate, top.whose.clone()),
            };
            let sum: u128 = children.iter().map(|(_, rate)| rate).sum();
            if rate.0 > 0 && sum > u128::from(rate.0) {
                let names: Vec<&str> = children.iter().map(|(name, _)| *name).collect();
                let (more, sum) = (Wide(sum - u128::from(rate.0)).to_string(), Wide(sum).to_string());
                let rates = match names[..] {
                    [one] => format!("rate of {one} is"),
                    _ => format!("rates of {} add up to", list(&names)),
                };
                let rate = Bits(rate.0).to_string();
                let inside = parent.map(|parent| ["classes", parent]);
                let at = [path, inside.as_ref().map_or(&[][..], |steps| &steps[..])].concat();
                self.say(&at, QueueAdvice::TooMuch { rates, sum, more, rate, whose });
            }
        }
        let leaves =
            classes.iter().map(|(name, ..)| &**name).filter(|name| !below.contains_key(&Some(*name)));
        self.filters(filters, default, leaves, path, packets, fate)
    }
}
