//! Packets to groups: which of them an entry takes, and how they have to arrive.

use crate::ids::{MacAddr, PortId};
use crate::label::Label;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// The packets that an entry for a group takes: (S,G) those of one source, (*,G) those of every source that has no
/// entry of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKey {
    /// The destination, a multicast address.
    pub group: IpAddr,
    /// The address that they come from; any if absent.
    pub source: Option<IpAddr>,
}

impl fmt::Display for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Some(source) => write!(f, "({source}, {})", self.group),
            None => write!(f, "(*, {})", self.group),
        }
    }
}

/// How a packet to a group has to arrive for an entry to take it: the check of the reverse path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incoming {
    /// By this port, without labels.
    Port(PortId),
    /// Below a label that ends here, whatever the port: the tree of the label has made sure of the way.
    Label,
}

/// Is it a group whose packets stay on their link: 224.0.0.0/24, or IPv6 of scope 0 to 2 (RFC 4291, 2.7)?
pub const fn is_link_local_group(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => matches!(group.octets(), [224, 0, 0, _]),
        IpAddr::V6(group) => group.octets()[0] == 0xff && group.octets()[1] & 0x0f <= 2,
    }
}

/// The Ethernet address of an IPv4 group: its low 23 bits behind 01-00-5e (RFC 1112, 6.4).
pub const fn group_mac(group: Ipv4Addr) -> MacAddr {
    let [_, b, c, d] = group.octets();
    MacAddr([0x01, 0x00, 0x5e, b & 0x7f, c, d])
}

/// The Ethernet address of an IPv6 group: its last 32 bits behind 33-33 (RFC 2464, 7).
pub const fn group_mac6(group: Ipv6Addr) -> MacAddr {
    let [.., a, b, c, d] = group.octets();
    MacAddr([0x33, 0x33, a, b, c, d])
}

/// The Ethernet address of a labelled packet that is sent to all on a link: 01-00-5e-8v-wx-yz, where vwxyz is the
/// second label of the stack, or the only one (RFC 5332, 8).
pub const fn label_mac(label: Label) -> MacAddr {
    let [_, a, b, c] = label.value().to_be_bytes();
    MacAddr([0x01, 0x00, 0x5e, 0x80 | a & 0x0f, b, c])
}

/// Is it an address that labelled packets are sent to on a link?
pub const fn is_label_mac(mac: MacAddr) -> bool {
    matches!(mac.0, [0x01, 0x00, 0x5e, 0x80..=0x8f, _, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_addresses_of_groups() {
        // RFC 1112, 6.4: 32 groups share an Ethernet address.
        for group in [[224, 129, 2, 3], [239, 1, 2, 3]] {
            assert_eq!(group_mac(group.into()).to_string(), "01:00:5e:01:02:03");
        }
        let group: Ipv6Addr = "ff3e::8000:1234".parse().expect("a group");
        assert_eq!(group_mac6(group).to_string(), "33:33:80:00:12:34");
        assert_eq!(label_mac(Label::truncate(0xabcde)).to_string(), "01:00:5e:8a:bc:de");
        assert!(
            is_label_mac(label_mac(Label::truncate(16))) && !is_label_mac(group_mac([239, 1, 2, 3].into()))
        );
    }

    #[test]
    fn groups_of_one_link() {
        let is = |group: &str| is_link_local_group(group.parse().expect("an address"));
        assert!(is("224.0.0.22") && is("ff02::16"));
        assert!(!is("224.0.1.1") && !is("232.1.1.1") && !is("ff3e::1"));
    }
}
