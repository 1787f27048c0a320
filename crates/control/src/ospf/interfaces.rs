//! The interfaces of a speaker. Each packet is about one, so that they are found by the number of their port.

use super::interface::{Interface, InterfaceName};

/// No place: the port has no interface.
const NONE: u16 = u16::MAX;

/// Interfaces in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    all: Vec<Interface>,
    /// By number of a port, the place of its interface.
    places: Vec<u16>,
}

impl Interfaces {
    /// How many there are. They stay at their places, but for those that come between them.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The name of the one at a place.
    pub(super) fn name_at(&self, place: usize) -> InterfaceName {
        self.all[place].name
    }

    fn place(&self, name: &InterfaceName) -> Option<usize> {
        match name {
            InterfaceName::Port(port) => {
                self.places.get(port.index()).filter(|place| **place != NONE).map(|place| usize::from(*place))
            }
            // Ends of virtual links stand last, and few routers have any.
            InterfaceName::Virtual(_) => self.all.iter().rposition(|one| one.name == *name),
        }
    }

    pub(super) fn get(&self, name: &InterfaceName) -> Option<&Interface> {
        self.all.get(self.place(name)?)
    }

    pub(super) fn get_mut(&mut self, name: &InterfaceName) -> Option<&mut Interface> {
        let place = self.place(name)?;
        self.all.get_mut(place)
    }

    /// Puts one in, in place of one of the same name.
    pub(super) fn insert(&mut self, interface: Interface) {
        match self.all.binary_search_by_key(&interface.name, |one| one.name) {
            Ok(place) => self.all[place] = interface,
            Err(place) => self.all.insert(place, interface),
        }
        self.places.clear();
        for (place, port) in self.all.iter().filter_map(|one| one.name.port()).enumerate() {
            self.places.resize(port.index() + 1, NONE);
            self.places[port.index()] = place as u16;
        }
    }

    /// All, in their order.
    pub(super) fn values(&self) -> core::slice::Iter<'_, Interface> {
        self.all.iter()
    }

    /// The same, to be changed.
    pub(super) fn values_mut(&mut self) -> core::slice::IterMut<'_, Interface> {
        self.all.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ospf::interface::{InterfaceConfig, VirtualLink};
    use base::PortId;
    use core::net::Ipv4Addr;

    #[test]
    fn interfaces_are_found_by_their_names_whatever_order_they_come_in() {
        let mut all = Interfaces::default();
        let port = |number: u16| {
            let address = (Ipv4Addr::new(10, 0, number as u8, 1), 30);
            Interface::new(InterfaceName::Port(PortId(number)), address, 1500, InterfaceConfig::default())
        };
        let (area, router) = (Ipv4Addr::new(0, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 9));
        let link = VirtualLink { area, router };
        all.insert(Interface::virtual_link(link, InterfaceConfig::default()));
        [7, 2, 5].into_iter().for_each(|number| all.insert(port(number)));
        let names: Vec<InterfaceName> = all.values().map(|one| one.name).collect();
        assert!(names.is_sorted() && names.len() == 4);
        for name in &names {
            assert_eq!(all.get(name).map(|one| one.name), Some(*name));
            assert_eq!(all.get_mut(name).map(|one| one.name), Some(*name));
        }
        for absent in [0, 3, 6, 8, 100] {
            assert!(all.get(&InterfaceName::Port(PortId(absent))).is_none());
        }
        let other = VirtualLink { area, router: Ipv4Addr::new(10, 0, 0, 8) };
        assert!(all.get(&InterfaceName::Virtual(other)).is_none());
    }
}
