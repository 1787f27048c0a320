//! What a router does with its own IPv6 addresses on a link: it looks whether they are free, if it is told to (RFC
//! 4862, 5.4), and advertises itself, if it is told to (RFC 4861, 6.2).

use super::Router;
use super::config::Address6;
use crate::advertising::{Advertise, Advertiser};
use crate::discovery::Own;
use crate::probing::{Action, Probing, Seen, conflict};
use base::plane::Prefix6;
use base::random::Stream;
use base::{Event, MacAddr, Output, PortId, Time};
use core::net::Ipv6Addr;
use wire::nd;

/// What a port does with its addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link6 {
    /// Absent if they are used without a look.
    probing: Option<Probing>,
    /// Absent as long as it does not advertise.
    advertiser: Option<Advertiser>,
}

impl Router {
    /// Begins on all ports.
    pub(super) fn begin6(&mut self, now: Time) {
        for port in (0..self.config.ports.len()).map(|index| PortId(index as u16)) {
            self.begin_link6(now, port);
        }
    }

    /// Begins on a port that has come up, or ends on one that went down.
    pub(super) fn begin_link6(&mut self, now: Time, port: PortId) {
        let Some(setup) = self.config.ports.get(port.index()) else { return };
        let Some(address) = setup.ipv6.filter(|address| address.dad || address.advertise.is_some()) else {
            return;
        };
        let (mac, is_up) = (setup.mac, self.up[port.index()]);
        let begun = if is_up { Probing::new(now, mac) } else { Probing::DOWN };
        let probing = address.dad.then_some(begun);
        self.links6[port.index()] = Link6 { probing, advertiser: None };
        if is_up && !address.dad {
            self.advertise(now, port);
        }
        self.arm6(port);
    }

    /// The settings of a port that advertises, and from what it draws.
    fn advertising(&mut self, port: PortId) -> Option<(Advertise, &mut Link6, &mut Stream)> {
        let settings = self.config.ports.get(port.index())?.ipv6?.advertise?;
        let random = self.random6.get_or_insert_with(|| {
            Box::new(self.config.streams.stream(&format!("{}/ipv6", self.config.name)))
        });
        Some((settings, self.links6.get_mut(port.index())?, random))
    }

    fn advertise(&mut self, now: Time, port: PortId) {
        if let Some((settings, link, random)) = self.advertising(port) {
            link.advertiser = Some(Advertiser::new(now, &settings, random));
        }
    }

    /// Somebody asks what routers there are: does this one say that it is?
    pub(super) fn solicited(&mut self, now: Time, port: PortId, asker: Option<(Ipv6Addr, MacAddr)>) -> bool {
        let Some((_, link, random)) = self.advertising(port) else { return false };
        let Some(advertiser) = &mut link.advertiser else { return false };
        advertiser.solicited(now, random);
        if let Some((address, mac)) = asker.filter(|(address, _)| self.may_be_neighbor6(port, *address)) {
            // RFC 4861, 6.2.6.
            self.learn(now, port, address.into(), mac, true);
        }
        self.arm6(port);
        true
    }

    /// Does what is due on a port.
    pub(super) fn wake6(&mut self, now: Time, port: PortId) {
        let Some(own) = self.interface6(port) else { return };
        let link = &mut self.links6[port.index()];
        match link.probing.as_mut().and_then(|probing| probing.step(now, Seen::Time)) {
            Some(Action::Ask) => {
                for target in [own.link_local(), own.address] {
                    self.send_frame(now, port, own.probe(target));
                }
            }
            Some(Action::Use) => self.advertise(now, port),
            Some(Action::Tell) | None => {}
        }
        if self.links6[port.index()].advertiser.is_some_and(|advertiser| advertiser.next() <= now) {
            let setup = self.config.ports[port.index()];
            if let Some((settings, link, random)) = self.advertising(port) {
                if let Some(advertiser) = &mut link.advertiser {
                    advertiser.sent(now, &settings, random);
                }
                let prefix_len = setup.ipv6.map_or(128, |address: Address6| address.prefix_len);
                let frame = settings.frame(&own, Prefix6::new(own.address, prefix_len), setup.mtu);
                self.send_frame(now, port, frame);
            }
        }
        self.arm6(port);
    }

    /// A message came for a port that does not know yet whether its addresses are free, or knows that they are not.
    /// What says nothing of that is for nobody.
    pub(super) fn hear_of_addresses(
        &mut self,
        now: Time,
        port: PortId,
        own: &Own,
        src: Ipv6Addr,
        message: &nd::Repr<'_>,
    ) {
        let Some(probing) = self.links6.get_mut(port.index()).and_then(|link| link.probing.as_mut()) else {
            return;
        };
        if let Some(address) = conflict(own, src, message)
            && probing.step(now, Seen::Other) == Some(Action::Tell)
        {
            let event = Event::AddressTaken { port: port.0, address };
            self.outputs.push_back(Output::Event(event));
            self.arm6(port);
        }
    }

    /// May the port's addresses be used?
    pub(super) fn is_usable6(&self, port: PortId) -> bool {
        let probing = self.links6.get(port.index()).and_then(|link| link.probing.as_ref());
        probing.is_none_or(Probing::is_free)
    }

    /// Is it an address of a port that may not be used?
    pub(super) fn is_tentative(&self, address: Ipv6Addr) -> bool {
        let ports = (0..self.links6.len()).map(|index| PortId(index as u16));
        let mut unusable = ports.filter(|port| !self.is_usable6(*port));
        unusable.any(|port| self.interface6(port).is_some_and(|own| own.has(address)))
    }

    fn arm6(&mut self, port: PortId) {
        let Some(link) = self.links6.get(port.index()) else { return };
        let probing = link.probing.and_then(|probing| probing.next);
        self.neighbors
            .wake(port, Time::earliest([probing, link.advertiser.map(|advertiser| advertiser.next())]));
    }
}
