//! What can go wrong in a network, as data: each fault has a time, and may have an end.

use crate::error::{EngineError, check};
use base::{LinkId, NodeId, Rate, Span, Time};
use serde::{Deserialize, Serialize};

/// The directions of a link on which a fault acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the first end to the second.
    Forth,
    /// From the second end to the first.
    Back,
    /// Both directions, each with random draws of its own.
    #[default]
    Both,
}

impl Direction {
    /// The lanes of `link` that are meant.
    pub fn lanes(self, link: LinkId) -> core::ops::Range<u32> {
        let first = 2 * link.0;
        match self {
            Direction::Forth => first..first + 1,
            Direction::Back => first + 1..first + 2,
            Direction::Both => first..first + 2,
        }
    }
}

/// A fault, when it begins, and when it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// When it begins, from the start of the run on.
    pub at: Time,
    /// When it ends by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// What goes wrong; its fields stand beside `at` in JSON.
    #[serde(flatten)]
    pub kind: FaultKind,
}

/// What goes wrong, or right again.
///
/// Faults of a direction of a link act on a frame at the moment at which it would arrive undisturbed, in this order:
/// loss, corruption, delay, reordering, duplication. Each draws from a random stream of its own, named after link,
/// direction and fault. Setting a fault again replaces its parameters; a probability of zero takes it away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum FaultKind {
    /// The link is cut: what is queued or on its way is dropped, and the devices learn after their ports' detection
    /// time. It comes up again at `until`, if there is one.
    LinkDown {
        /// The link that is cut, in both directions.
        link: LinkId,
    },
    /// The link is whole again. It comes up unless a device at an end of it is down by [`FaultKind::NodeDown`].
    LinkUp {
        /// The link that comes up.
        link: LinkId,
    },
    /// The link is whole again, and nothing disturbs it any more.
    LinkHeal {
        /// The link that is healed, in both directions.
        link: LinkId,
    },
    /// A device goes down, with what waits in its ports, and all its links with it: what is on its way is dropped, and
    /// the devices at the other ends learn after their ports' detection time. It comes up, and restarts, at `until`, if
    /// there is one.
    NodeDown {
        /// The device that goes down.
        node: NodeId,
    },
    /// A device that is down comes up and restarts. Its links come up with it, but for those that are cut themselves,
    /// and those whose other device is down.
    NodeUp {
        /// The device that comes up.
        node: NodeId,
    },
    /// A device goes down, with what waits in its ports; frames that arrive are dropped. It comes up after a while and
    /// restarts. Commands that it is given meanwhile are carried out then. Its links stay up: nobody else notices by
    /// them. Nothing happens if it is down already.
    NodeRestart {
        /// The device that goes down.
        node: NodeId,
        /// For how long it is down.
        down_for: Span,
    },
    /// Frames get lost, each independently.
    Loss {
        /// The link on whose frames it acts.
        link: LinkId,
        /// One of its directions; both if absent.
        #[serde(default)]
        direction: Direction,
        /// Share of the frames that get lost, 0 to 1.
        probability: f64,
    },
    /// Bits are inverted, each independently. The frame check sequence shows it, and the receiver drops the frame.
    Corruption {
        /// The link on whose frames it acts.
        link: LinkId,
        /// One of its directions; both if absent.
        #[serde(default)]
        direction: Direction,
        /// How likely a bit is inverted.
        bit_error_rate: f64,
        /// The receiver does not check the frame check sequence: it gets the corrupted bytes.
        #[serde(default)]
        deliver: bool,
    },
    /// Frames arrive twice, the second time right behind the first.
    Duplication {
        /// The link on whose frames it acts.
        link: LinkId,
        /// One of its directions; both if absent.
        #[serde(default)]
        direction: Direction,
        /// Share of the frames that arrive twice, 0 to 1.
        probability: f64,
    },
    /// Some frames are held back, so that others overtake them.
    Reordering {
        /// The link on whose frames it acts.
        link: LinkId,
        /// One of its directions; both if absent.
        #[serde(default)]
        direction: Direction,
        /// Share of the frames that are held back, 0 to 1.
        probability: f64,
        /// How long they are held back beyond the link's delay.
        extra: Span,
    },
    /// All frames take longer, in order: none overtakes the one before it.
    Delay {
        /// The link on whose frames it acts.
        link: LinkId,
        /// One of its directions; both if absent.
        #[serde(default)]
        direction: Direction,
        /// How much longer at least.
        extra: Span,
        /// How much longer than that at most, evenly distributed.
        #[serde(default)]
        jitter: Span,
    },
    /// The port sends no faster than this. Frames that it has taken already keep their times.
    RateLimit {
        /// The link whose ports are slowed down.
        link: LinkId,
        /// The direction in which its port sends more slowly; both if absent.
        #[serde(default)]
        direction: Direction,
        /// The rate at which it sends at most.
        rate: Rate,
    },
    /// All faults that are there are taken away: links and devices come up, nothing disturbs them.
    HealAll,
}

impl Fault {
    /// A fault that lasts until it is taken away.
    pub fn new(at: Time, kind: FaultKind) -> Fault {
        Fault { at, until: None, kind }
    }
    /// The same fault, which ends by itself at `until`.
    pub fn until(mut self, until: Time) -> Fault {
        self.until = Some(until);
        self
    }

    /// Are the parameters within their ranges?
    pub fn check(&self) -> Result<(), EngineError> {
        use FaultKind::*;
        if let Some(until) = self.until {
            let ends = !matches!(
                self.kind,
                LinkUp { .. } | LinkHeal { .. } | NodeUp { .. } | NodeRestart { .. } | HealAll
            );
            check(
                ends && until >= self.at,
                "end of a fault",
                until,
                "after its beginning, if it can have one",
            )?;
        }
        match self.kind {
            LinkDown { .. } | LinkUp { .. } | LinkHeal { .. } | NodeDown { .. } | NodeUp { .. } | HealAll => {
                Ok(())
            }
            NodeRestart { down_for, .. } => span("time that a node is down", down_for),
            Loss { probability: p, .. } | Duplication { probability: p, .. } => chance("probability", p),
            Corruption { bit_error_rate, .. } => chance("bit error rate", bit_error_rate),
            Reordering { probability, extra, .. } => {
                chance("probability", probability)?;
                span("extra delay", extra)
            }
            Delay { extra, jitter, .. } => {
                span("extra delay", extra)?;
                span("jitter", jitter)
            }
            RateLimit { rate, .. } => check(rate.0 > 0, "rate limit", rate, "more than zero"),
        }
    }
}

fn chance(what: &'static str, p: f64) -> Result<(), EngineError> {
    check((0.0..=1.0).contains(&p), what, p, "between 0 and 1")
}

fn span(what: &'static str, span: Span) -> Result<(), EngineError> {
    check(span >= Span::ZERO, what, span, "zero or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_data() {
        let text = r#"{"at":5,"until":9,"fault":"loss","link":3,"direction":"back","probability":0.25}"#;
        let fault: Fault = serde_json::from_str(text).expect("a fault");
        let kind = FaultKind::Loss { link: LinkId(3), direction: Direction::Back, probability: 0.25 };
        assert_eq!(fault, Fault::new(Time(5), kind).until(Time(9)));
        assert_eq!(serde_json::to_string(&fault).expect("text"), text);
        assert_eq!(Direction::Back.lanes(LinkId(3)).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn parameters_have_ranges() {
        let loss = |probability| FaultKind::Loss { link: LinkId(0), direction: Direction::Both, probability };
        assert!(Fault::new(Time(5), loss(0.5)).check().is_ok());
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(Fault::new(Time(5), loss(bad)).check().is_err());
        }
        assert!(Fault::new(Time(5), loss(0.5)).until(Time(4)).check().is_err());
        assert!(Fault::new(Time(5), FaultKind::HealAll).until(Time(9)).check().is_err());
    }
}
