//! Duplicate address detection (RFC 4862, 5.4): a port that is told to looks whether its IPv6 addresses are free before
//! it uses them.
//!
//! Both addresses of a port, the one that was given and the link-local one, are looked for together. If somebody has
//! one of them, the port uses neither: it has no IPv6 until it comes up again (RFC 4862, 5.4.5, wants that of a
//! link-local address that is made of the Ethernet address).

use base::{MacAddr, Span, Time};
use wire::nd;

/// A port asks after so long at most (RFC 4861, 10: MAX_RTR_SOLICITATION_DELAY).
const DELAY_MAX: Span = Span::from_secs(1);
/// Then it waits so long for an answer (RFC 4861, 10: RETRANS_TIMER); it asks once (RFC 4862, 5.1:
/// DupAddrDetectTransmits).
const WAIT: Span = Span::from_secs(1);

base::words! {
    /// What is known of a port's addresses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Standing {
        /// Nobody has been asked yet.
        Unasked = "unasked",
        /// They are looked for.
        Asked = "asked",
        /// They are the port's own.
        Free = "free",
        /// Somebody else has one of them.
        Taken = "taken",
    }
    default Unasked;
}

/// What happens to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The time has come.
    Time,
    /// A message says that somebody else has one of them, or is looking for it, too.
    Other,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Ask for both addresses.
    Ask,
    /// Begin to use them.
    Use,
    /// Tell that one is taken.
    Tell,
}

/// The machine: what is not here changes nothing.
pub(crate) const STEPS: &[(Standing, Seen, Standing, Action)] = &[
    (Standing::Unasked, Seen::Time, Standing::Asked, Action::Ask),
    (Standing::Asked, Seen::Time, Standing::Free, Action::Use),
    (Standing::Unasked, Seen::Other, Standing::Taken, Action::Tell),
    (Standing::Asked, Seen::Other, Standing::Taken, Action::Tell),
];

/// What a port knows of its addresses, and when it does the next step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probing {
    pub(crate) standing: Standing,
    pub(crate) next: Option<Time>,
}

impl Probing {
    /// Begins after a time that the Ethernet address decides: ports that come up together do not ask together.
    pub(crate) fn new(now: Time, mac: MacAddr) -> Probing {
        let spread = base::random::fnv1a(&mac.0) % DELAY_MAX.0 as u64;
        Probing { standing: Standing::Unasked, next: Some(now + Span(spread as i64)) }
    }

    /// That of a port that is down: nothing is done, and nothing heard.
    pub(crate) const DOWN: Probing = Probing { standing: Standing::Unasked, next: None };

    /// Does the step that is due, or that a message asks for.
    pub(crate) fn step(&mut self, now: Time, seen: Seen) -> Option<Action> {
        let due = self.next?;
        if seen == Seen::Time && due > now {
            return None;
        }
        let step = STEPS.iter().find(|step| (step.0, step.1) == (self.standing, seen))?;
        self.standing = step.2;
        self.next = (step.3 == Action::Ask).then_some(now + WAIT);
        Some(step.3)
    }

    /// May the addresses be used?
    pub(crate) fn is_free(&self) -> bool {
        self.standing == Standing::Free
    }
}

/// Does a message say that somebody else has an address which this port is looking for, or looks for it, too (RFC 4862,
/// 5.4.3 and 5.4.4)? Which one.
pub(crate) fn conflict(
    own: &crate::discovery::Own,
    src: core::net::Ipv6Addr,
    message: &nd::Repr<'_>,
) -> Option<core::net::Ipv6Addr> {
    match *message {
        nd::Repr::NeighborSolicitation { target, .. } if src.is_unspecified() => Some(target),
        nd::Repr::NeighborAdvertisement { target, .. } => Some(target),
        _ => None,
    }
    .filter(|target| own.has(*target))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine as it is: whoever changes it changes this text, too.
    #[test]
    fn the_standing_of_addresses() {
        let lines: Vec<String> = STEPS
            .iter()
            .map(|(standing, seen, next, action)| format!("{standing:?} --{seen:?}--> {next:?} {action:?}"))
            .collect();
        let expected = "\
Unasked --Time--> Asked Ask
Asked --Time--> Free Use
Unasked --Other--> Taken Tell
Asked --Other--> Taken Tell";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn an_address_is_used_a_second_after_it_was_asked_for() {
        let mut probing = Probing::new(Time::ZERO, MacAddr([2, 0, 0, 0, 0, 1]));
        let ask = probing.next.expect("a time");
        assert!(ask < Time::ZERO + DELAY_MAX && probing.step(Time::ZERO, Seen::Time).is_none());
        assert_eq!(probing.step(ask, Seen::Time), Some(Action::Ask));
        let mut taken = probing;
        assert_eq!(probing.step(ask + WAIT, Seen::Time), Some(Action::Use));
        assert!(
            probing.is_free() && probing.next.is_none() && probing.step(ask + WAIT, Seen::Other).is_none()
        );
        assert_eq!(taken.step(ask, Seen::Other), Some(Action::Tell));
        assert!(!taken.is_free() && taken.next.is_none());
    }
}
