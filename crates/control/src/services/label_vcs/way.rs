//! Where a label VC goes on.

use super::up::{UpVc, VcState};
use super::{LabelVcs, Via};
use crate::services::distribution::{PeerKey, Refusal, increment};
use crate::services::{Services, Switching};
use base::PortId;
use base::plane::{CircuitTo, NextHop, Prefix};

/// Where a route has a label VC go on.
enum Target {
    Here,
    /// By a neighbour on a link of ATM.
    By(PeerKey),
    /// By a link of ATM on which no labels are exchanged at present.
    Nobody,
}

impl LabelVcs {
    /// What speaks against a label VC to a prefix from a port.
    pub(super) fn obstacle(&self, services: &Services, prefix: Prefix, from: PortId) -> Option<Refusal> {
        let hops = services.rib.next_hops(prefix);
        // RFC 3035, 8.2: split horizon.
        let is_back = |hop: &NextHop| matches!(hop, NextHop::Via { port, gateway } if *port == from && !gateway.is_unspecified());
        match hops {
            // RFC 5036, 3.5.8.1: there has to be a route to the very prefix.
            [] => Some(Refusal::NoRoute),
            hops if hops.iter().any(is_back) => Some(Refusal::Loop),
            _ => None,
        }
    }

    /// Where the route of a prefix leads. Of several next hops the first counts, as cells of one channel leave by one
    /// other.
    fn target(&self, services: &Services, prefix: Prefix) -> Target {
        if self.settings.switching == Switching::Packets {
            return Target::Here;
        }
        match services.rib.next_hops(prefix) {
            [NextHop::Via { port, gateway }, ..] if !gateway.is_unspecified() => {
                match self.links.iter().find(|(_, link)| link.port == *port) {
                    Some((key, _)) => Target::By(*key),
                    None if self.settings.ports.contains(port) => Target::Nobody,
                    // RFC 3035, 3: towards other links it is a frame-based router.
                    None => Target::Here,
                }
            }
            _ => Target::Here,
        }
    }

    /// Has a label VC go where its route leads now.
    pub(super) fn lead(&mut self, services: &Services, id: u32) {
        let Some(up) = self.ups.get(&id).filter(|up| up.state != VcState::Withdrawn) else { return };
        let (prefix, port, via) = (up.prefix, up.port, up.via);
        if let Some(why) = self.obstacle(services, prefix, port) {
            return self.give_up(id, why);
        }
        let target = self.target(services, prefix);
        let is_there = match (&target, via) {
            (Target::Here, Some(Via::Here)) => true,
            (Target::By(key), Some(Via::Down(down))) => {
                self.downs.get(&down).is_some_and(|down| down.key == *key)
            }
            _ => false,
        };
        if is_there {
            return;
        }
        self.again.remove(&id);
        self.lose_way(id);
        match target {
            Target::Here => self.go_here(id),
            Target::By(key) => self.go_by(id, key),
            Target::Nobody => {}
        }
    }

    /// Where what comes by a label VC goes, and the hop count that the neighbour before is told; nothing as long as the
    /// next hop has given no label. A count of zero is unknown.
    pub(super) fn onward_of(&self, up: &UpVc) -> Option<(CircuitTo, Option<u8>)> {
        match up.via? {
            // RFC 3035, 8.1: the last router says 1.
            Via::Here => Some((CircuitTo::Here(self.here.get(&up.prefix)?.label?), Some(1))),
            Via::Down(down) => {
                let down = self.downs.get(&down)?;
                let port = self.links.get(&down.key)?.port;
                let to = CircuitTo::Over { port, label: down.label?, merges: self.merges() };
                Some((to, Some(down.hops.map_or(0, increment))))
            }
        }
    }
}
