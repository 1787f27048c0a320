//! Where the cells of each channel of a port go.

use super::config::Channel;
use base::PortId;
use std::collections::BTreeMap;

/// Where the cells of a channel go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To another channel, by its place among those that the switch passes on.
    Cross(u32),
    /// To the end of a circuit at this port.
    End(PortId),
    /// To the router beside, by its place among the labels that end here.
    Label(u32),
}

const _: () = assert!(size_of::<Option<Way>>() == 8);

/// The channels of a port: by path, and in a path a list that begins with VCI 0. Most ports have one path, and channels
/// are given from the lowest VCI on, so that a cell's way is found without a search.
#[derive(Debug, Default)]
pub struct Ways(BTreeMap<u16, Vec<Option<Way>>>);

impl Ways {
    /// Cells of a channel go this way.
    pub fn enter(&mut self, channel: Channel, way: Way) {
        let path = self.0.entry(channel.vpi).or_default();
        let place = usize::from(channel.vci);
        if path.len() <= place {
            path.resize(place + 1, None);
        }
        path[place] = Some(way);
    }

    /// Cells of a channel go nowhere; where they went before.
    pub fn remove(&mut self, channel: Channel) -> Option<Way> {
        self.0.get_mut(&channel.vpi)?.get_mut(usize::from(channel.vci))?.take()
    }

    /// The way of cells with this path and channel, if somebody has it.
    pub fn find(&self, vpi: u16, vci: u16) -> Option<Way> {
        *self.0.get(&vpi)?.get(usize::from(vci))?
    }
}
