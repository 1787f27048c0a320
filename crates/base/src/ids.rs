//! Identifiers: small integers that the builder of a network hands out, and MAC addresses.

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $repr);
        impl $name {
            /// The id as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(/// A device, in order of creation.
    NodeId(u32));
id!(/// A port of one device, counted from zero in the order in which its links were made.
    PortId(u16));
id!(/// A link between two ports; both directions share it.
    LinkId(u32));
id!(/// A stream of test packets (24 bits are carried on the wire).
    StreamId(u32));

/// An Ethernet address (EUI-48).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// The destination of frames for all stations: ff:ff:ff:ff:ff:ff.
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);

    /// The locally administered address that Twinplane gives to `port` of `node`.
    pub const fn of_port(node: NodeId, port: PortId) -> MacAddr {
        let n = node.0.to_be_bytes();
        let p = port.0.to_be_bytes();
        MacAddr([0x02, n[1], n[2], n[3], p[0], p[1]])
    }

    /// Group (multicast or broadcast) addresses have the lowest bit of the first byte set.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MacAddr {
    type Err = String;
    fn from_str(text: &str) -> Result<MacAddr, String> {
        let mut bytes = [0u8; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|p| p.len() == 2);
            *byte = part.and_then(|p| u8::from_str_radix(p, 16).ok()).ok_or_else(|| bad_mac(text))?;
        }
        if parts.next().is_some() { Err(bad_mac(text)) } else { Ok(MacAddr(bytes)) }
    }
}

fn bad_mac(text: &str) -> String {
    format!("'{text}' is not an Ethernet address such as 02:00:00:00:00:01")
}

impl Serialize for MacAddr {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for MacAddr {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<MacAddr, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mac_addresses_read_what_they_print() {
        let mac = MacAddr::of_port(NodeId(0x010203), PortId(4));
        assert_eq!(mac.to_string(), "02:01:02:03:00:04");
        assert_eq!(mac.to_string().parse(), Ok(mac));
        assert!("02:01:02:03:00".parse::<MacAddr>().is_err());
        assert!("02:01:02:03:00:04:05".parse::<MacAddr>().is_err());
        assert!("2:1:2:3:0:4".parse::<MacAddr>().is_err());
    }
}
