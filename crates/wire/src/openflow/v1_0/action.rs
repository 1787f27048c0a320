//! Actions.

use super::Fault;
use crate::openflow::Rest;
use crate::openflow::macros::typed;
use base::MacAddr;
use core::net::Ipv4Addr;

typed! {
    /// What is done with a packet.
    Action: Fault::BadActionType, Fault::BadActionLen, "a type of action that is not known" {
        /// Send it.
        Output = 0 {
            /// Where to.
            port: u16;
            /// Bytes of it that go to a controller.
            max_len: u16;
        };
        /// Set the VLAN, or put the packet into it.
        SetVlanVid = 1 {
            /// The VLAN.
            vid: u16, pad 2;
        };
        /// Set the priority in the tag, or put on a tag.
        SetVlanPcp = 2 {
            /// The priority, 0 to 7.
            pcp: u8, pad 3;
        };
        /// Take off the tag.
        StripVlan = 3 pad 4;
        /// Set the Ethernet source.
        SetDlSrc = 4 {
            /// The address.
            address: MacAddr, pad 6;
        };
        /// Set the Ethernet destination.
        SetDlDst = 5 {
            /// The address.
            address: MacAddr, pad 6;
        };
        /// Set the IPv4 source.
        SetNwSrc = 6 {
            /// The address.
            address: Ipv4Addr;
        };
        /// Set the IPv4 destination.
        SetNwDst = 7 {
            /// The address.
            address: Ipv4Addr;
        };
        /// Set the DSCP.
        SetNwTos = 8 {
            /// The octet that has the DSCP in its upper six bits.
            tos: u8, pad 3;
        };
        /// Set the source port of TCP or UDP.
        SetTpSrc = 9 {
            /// The port.
            port: u16, pad 2;
        };
        /// Set the destination port of TCP or UDP.
        SetTpDst = 10 {
            /// The port.
            port: u16, pad 2;
        };
        /// Send it through a queue.
        Enqueue = 11 {
            /// Where to.
            port: u16, pad 6;
            /// Which queue of the port.
            queue: u32;
        };
        /// An action of a vendor.
        Vendor = 0xffff {
            /// The vendor.
            vendor: u32;
            /// What the vendor says it is.
            data: Rest;
        };
    }
}
