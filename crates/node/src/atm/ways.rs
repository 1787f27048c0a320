//! Where the cells of each channel of a port go.

use super::config::Channel;
use base::PortId;
use std::collections::BTreeMap;

/// Where the cells of a channel go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To another channel, by its place among those that the switch passes on.
    Cross(u32),
    /// To the same channel of another path, by the place of the path among those that the switch passes on.
    Path(u32),
    /// To the end of a circuit at this port.
    End(PortId),
    /// To the router beside, by its place among the labels that end here.
    Label(u32),
}

const _: () = assert!(size_of::<Option<Way>>() == 8);

/// Where the cells of a path go.
#[derive(Debug)]
enum Within {
    /// By their channels: a list that begins with VCI 0.
    Channels(Vec<Option<Way>>),
    /// All alike.
    Whole(Way),
}

/// The channels of a port, by path. Most ports have one path, and channels are given from the lowest VCI on, so that a
/// cell's way is found without a search.
#[derive(Debug, Default)]
pub struct Ways(BTreeMap<u16, Within>);

impl Ways {
    /// Cells of a channel go this way. Of a path that is switched as a whole nobody has a channel.
    pub fn enter(&mut self, channel: Channel, way: Way) {
        let within = self.0.entry(channel.vpi).or_insert_with(|| Within::Channels(Vec::new()));
        let Within::Channels(channels) = within else {
            debug_assert!(false, "VPI {} is switched as a whole", channel.vpi);
            return;
        };
        let place = usize::from(channel.vci);
        if channels.len() <= place {
            channels.resize(place + 1, None);
        }
        channels[place] = Some(way);
    }

    /// All cells of a path go this way.
    pub fn enter_path(&mut self, vpi: u16, way: Way) {
        let before = self.0.insert(vpi, Within::Whole(way));
        debug_assert!(before.is_none(), "VPI {vpi} is used already");
    }

    /// Cells of a channel go nowhere; where they went before.
    pub fn remove(&mut self, channel: Channel) -> Option<Way> {
        match self.0.get_mut(&channel.vpi)? {
            Within::Channels(channels) => channels.get_mut(usize::from(channel.vci))?.take(),
            Within::Whole(_) => None,
        }
    }

    /// The way of cells with this path and channel, if somebody has it.
    pub fn find(&self, vpi: u16, vci: u16) -> Option<Way> {
        match self.0.get(&vpi)? {
            Within::Channels(channels) => *channels.get(usize::from(vci))?,
            Within::Whole(way) => Some(*way),
        }
    }
}
