//! Labels that are virtual channels of ATM (RFC 3035): how a channel is a label of an interface, and where what comes
//! by it goes.

use crate::ids::PortId;
use crate::label::Label;
use serde::{Deserialize, Serialize};

/// Channels of a link that may be labels: every VCI from the least to the greatest, on every VPI from the least to the
/// greatest (RFC 5036, 3.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChannelRange {
    /// The least and the greatest virtual path, 0 to 4,095.
    pub vpi: (u16, u16),
    /// The least and the greatest virtual channel on each of them.
    pub vci: (u16, u16),
}

impl ChannelRange {
    /// So many virtual paths have labels at most: a VCI takes 16 bits of a label, so that four are left.
    pub const PATHS_MAX: u16 = 16;
    /// Channels below this are no labels (RFC 3035, 7.1).
    pub const VCI_MIN: u16 = 33;

    /// The label that stands for a channel at an interface whose paths with labels begin at `first`; nothing if the
    /// path is too far from that.
    pub fn label(first: u16, (vpi, vci): (u16, u16)) -> Option<Label> {
        let path = vpi.checked_sub(first).filter(|path| *path < Self::PATHS_MAX)?;
        Label::new(u32::from(path) << 16 | u32::from(vci))
    }

    /// The channel that a label stands for, at an interface whose paths with labels begin at `first`.
    pub const fn channel(first: u16, label: Label) -> (u16, u16) {
        (first.saturating_add((label.value() >> 16) as u16), label.value() as u16)
    }

    /// Is a channel among them?
    pub const fn contains(&self, (vpi, vci): (u16, u16)) -> bool {
        self.vpi.0 <= vpi && vpi <= self.vpi.1 && self.vci.0 <= vci && vci <= self.vci.1
    }

    /// The channels that are in both.
    pub fn intersection(&self, other: &ChannelRange) -> Option<ChannelRange> {
        let both = |one: (u16, u16), other: (u16, u16)| (one.0.max(other.0), one.1.min(other.1));
        let (vpi, vci) = (both(self.vpi, other.vpi), both(self.vci, other.vci));
        (vpi.0 <= vpi.1 && vci.0 <= vci.1).then_some(ChannelRange { vpi, vci })
    }
}

/// Where what comes by a channel goes, if the channel is a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CircuitTo {
    /// Its cells are put together here, and the packet is dealt with as if it had come with this label; explicit null
    /// has what is below looked at.
    Here(Label),
    /// Its cells leave by another channel.
    Over {
        /// By this port.
        port: PortId,
        /// With the channel that this label stands for there.
        label: Label,
        /// Others leave by the same channel, so that the cells of a packet have to leave together (RFC 3035, 3).
        merges: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_a_label_and_back() {
        for channel in [(7, 33), (7, 65_535), (8, 33), (22, 65_535)] {
            let label = ChannelRange::label(7, channel).expect("near enough");
            assert_eq!(ChannelRange::channel(7, label), channel);
        }
        assert_eq!(ChannelRange::label(7, (7, 40)), Label::new(40));
        assert_eq!((ChannelRange::label(7, (6, 40)), ChannelRange::label(7, (23, 40))), (None, None));
    }

    #[test]
    fn ranges_meet_or_do_not() {
        let range = |vpi, vci| ChannelRange { vpi, vci };
        let one = range((0, 3), (33, 1_000));
        assert_eq!(one.intersection(&range((2, 9), (500, 4_000))), Some(range((2, 3), (500, 1_000))));
        assert_eq!(one.intersection(&range((4, 9), (33, 1_000))), None);
        assert_eq!(one.intersection(&range((0, 3), (1_001, 4_000))), None);
        assert!(one.contains((3, 1_000)) && !one.contains((4, 33)) && !one.contains((0, 32)));
    }
}
