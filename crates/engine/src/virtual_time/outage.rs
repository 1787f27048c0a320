//! Why a link can't be used: it is cut, or the device at an end of it is down. It is up while none of these holds.

/// One reason for which a link is down. Each comes and goes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The link itself is cut.
    Cut = 0b001,
    /// The device at its first end is down.
    FirstEnd = 0b010,
    /// The device at its second end is down.
    SecondEnd = 0b100,
}

impl Cause {
    /// The device that sends into lane `g` is down.
    pub fn sender_of(g: u32) -> Cause {
        if g.is_multiple_of(2) { Cause::FirstEnd } else { Cause::SecondEnd }
    }
}

/// All reasons for which a link is down; none of a link that is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outage(u8);

impl Outage {
    /// Can the link be used?
    pub fn is_over(self) -> bool {
        self.0 == 0
    }

    /// The same once a cause has come, or gone.
    pub fn with(self, cause: Cause, holds: bool) -> Outage {
        if holds { Outage(self.0 | cause as u8) } else { Outage(self.0 & !(cause as u8)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_up_while_nothing_holds_it_down() {
        let both = Outage::default().with(Cause::Cut, true).with(Cause::sender_of(7), true);
        assert!(Outage::default().is_over() && !both.is_over());
        // What comes twice goes at once, and what is not there can't go.
        let cut = both.with(Cause::SecondEnd, true).with(Cause::SecondEnd, false);
        assert_eq!(cut, Outage::default().with(Cause::Cut, true).with(Cause::sender_of(6), false));
        assert!(cut.with(Cause::Cut, false).is_over());
    }
}
