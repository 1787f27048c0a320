//! Putting headers on a packet and taking them off, and what becomes of times to live.

use super::layout::{Network, TAG};
use super::packet::Packet;
use wire::openflow::v1_3::OxmField;

/// Bytes between the addresses and what the tag of provider backbone bridging holds: its EtherType and itself.
const PBB_LEN: usize = 2 + 4 + 12;

impl Packet {
    /// Puts a tag on as the outermost, with what the one that was outermost says.
    pub(super) fn push_vlan(&mut self, kind: u16) {
        let tag = if self.layout.is_tagged { self.two(14) } else { 0 };
        let [a, b] = kind.to_be_bytes();
        let [c, d] = tag.to_be_bytes();
        self.insert(12, &[a, b, c, d]);
    }

    /// Takes the outermost tag off, if there is one.
    pub(super) fn pop_vlan(&mut self) {
        if self.layout.is_tagged {
            self.cut(12, TAG);
        }
    }

    /// Puts a label stack entry on, behind the tags: with label, class and TTL of the one that was on top, or with
    /// label 0, class 0 and the TTL of IP.
    pub(super) fn push_mpls(&mut self, kind: u16) {
        if self.is_stale {
            self.read();
        }
        let entry = match self.layout.mpls {
            Some(at) => self.entry(at) & !0x100,
            None => 0x100 | u32::from(self.ip_ttl().unwrap_or(0)),
        };
        let at = self.layout.kind_at;
        self.insert(at + 2, &entry.to_be_bytes());
        self.put(at, &kind.to_be_bytes());
        self.read();
    }

    /// Takes the top label stack entry off; what is behind it is of this EtherType.
    pub(super) fn pop_mpls(&mut self, kind: u16) {
        let Some(at) = self.layout.mpls else { return };
        self.put(self.layout.kind_at, &kind.to_be_bytes());
        self.cut(at, TAG);
    }

    /// Puts the frame into another of provider backbone bridging, which has the same addresses.
    pub(super) fn push_pbb(&mut self, kind: u16) {
        let isid = self.layout.pbb.map_or_else(|| vec![0; 3], |at| self.bytes(at + 1, 3));
        let mut tag = kind.to_be_bytes().to_vec();
        tag.push(0);
        tag.extend(isid);
        tag.extend(self.bytes(0, 12));
        self.insert(12, &tag);
    }

    /// Takes it out of such a frame again.
    pub(super) fn pop_pbb(&mut self) {
        let Some(at) = self.layout.pbb else { return };
        let addresses = self.bytes(at + 4, 12);
        if addresses.len() == 12 {
            // With the EtherType, and the tags that the outer frame has.
            self.cut(12, at - 14 + PBB_LEN);
            self.put(0, &addresses);
            self.read();
        }
    }

    fn ip_ttl(&self) -> Option<u8> {
        match self.layout.network? {
            (Network::Ipv4, at) => Some(self.byte(at + 8)),
            (Network::Ipv6, at) => Some(self.byte(at + 7)),
            _ => None,
        }
    }

    pub(super) fn set_ip_ttl(&mut self, ttl: u8) {
        self.set_ttl_at(self.layout.network, ttl);
    }

    fn set_ttl_at(&mut self, network: Option<(Network, usize)>, ttl: u8) {
        match network {
            Some((Network::Ipv4, at)) => {
                let new = [ttl, self.byte(at + 9)];
                self.replace(at + 8, &new, &[Some(at + 10)]);
            }
            Some((Network::Ipv6, at)) => self.put(at + 7, &[ttl]),
            _ => {}
        }
    }

    /// Decrements the TTL of IP; false if it is over.
    pub(super) fn dec_ip_ttl(&mut self) -> bool {
        match self.ip_ttl() {
            Some(ttl @ 2..) => {
                self.set_ip_ttl(ttl - 1);
                true
            }
            Some(_) => false,
            None => true,
        }
    }

    pub(super) fn set_mpls_ttl(&mut self, ttl: u8) {
        if let Some(at) = self.layout.mpls {
            self.put(at + 3, &[ttl]);
        }
    }

    /// Decrements the TTL of the top label stack entry; false if it is over.
    pub(super) fn dec_mpls_ttl(&mut self) -> bool {
        let Some(at) = self.layout.mpls else { return true };
        let ttl = self.byte(at + 3);
        if ttl >= 2 {
            self.set_mpls_ttl(ttl - 1);
        }
        ttl >= 2
    }

    /// What is below the top label stack entry: another entry, or IP.
    fn below(&self) -> Option<Result<usize, (Network, usize)>> {
        let at = self.layout.mpls?;
        if self.byte(at + 2) & 1 == 0 {
            return Some(Ok(at + TAG));
        }
        match self.byte(at + TAG) >> 4 {
            4 => Some(Err((Network::Ipv4, at + TAG))),
            6 => Some(Err((Network::Ipv6, at + TAG))),
            _ => None,
        }
    }

    /// Copies the TTL from the second header to the top label stack entry.
    pub(super) fn copy_ttl_out(&mut self) {
        let ttl = match self.below() {
            Some(Ok(at)) => self.byte(at + 3),
            Some(Err((Network::Ipv4, at))) => self.byte(at + 8),
            Some(Err((_, at))) => self.byte(at + 7),
            None => return,
        };
        self.set_mpls_ttl(ttl);
    }

    /// Copies the TTL of the top label stack entry to the second header.
    pub(super) fn copy_ttl_in(&mut self) {
        let Some(ttl) = self.layout.mpls.map(|at| self.byte(at + 3)) else { return };
        match self.below() {
            Some(Ok(at)) => self.put(at + 3, &[ttl]),
            Some(Err(network)) => self.set_ttl_at(Some(network), ttl),
            None => {}
        }
    }

    /// Raises the drop precedence in the DSCP of assured forwarding (RFC 2597, 6) by so many steps, to three at most.
    pub(super) fn remark(&mut self, levels: u8) {
        let dscp = self.fields().get(OxmField::IpDscp) as u8;
        let (class, precedence) = (dscp >> 3, dscp >> 1 & 3);
        if matches!(class, 1..=4) && precedence != 0 && dscp & 1 == 0 {
            let raised = (precedence + levels).min(3);
            self.set(OxmField::IpDscp, (class << 3 | raised << 1).into());
        }
    }
}
