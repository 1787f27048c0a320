//! Link layers of captures, other than Ethernet: what `tcpdump -i any`, tunnels, serial lines and circuits of ATM give.
//!
//! The formats are those of the list that capture files refer to, www.tcpdump.org/linktypes.html.

mod cooked;
mod erf;
mod hdlc;
mod null;
mod ppp;
mod sunatm;
#[cfg(test)]
mod tests;

pub(crate) use cooked::Follows;
pub use cooked::{Sll, Sll2};
pub use erf::{Cell, Erf};
pub use hdlc::Chdlc;
pub use null::Null;
pub use ppp::Ppp;
pub use sunatm::SunAtm;

/// How the packets of a capture begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// With an Ethernet header.
    Ethernet,
    /// With an IP header of either family.
    Ip,
    /// With a label stack entry.
    Mpls,
    /// With what Linux gives for any interface (`tcpdump -i any`), in its first form.
    LinuxCooked,
    /// The same in its second form.
    LinuxCooked2,
    /// With a PPP header, HDLC address and control field in front or not.
    Ppp,
    /// With the header that routers of Cisco put into HDLC frames.
    CiscoHdlc,
    /// With the address family, in the byte order of who captured: loopback interfaces of BSD and macOS.
    Null,
    /// The same in network byte order, of OpenBSD.
    Loopback,
    /// With direction, kind of traffic and channel of a PDU of ATM.
    SunAtm,
    /// With a record of the extensible record format, such as one with a cell of ATM.
    Erf,
}

/// Each link type with a number that capture files have for it, and its name there.
const NUMBERS: [(u16, LinkType, &str); 16] = [
    (0, LinkType::Null, "NULL"),
    (1, LinkType::Ethernet, "ETHERNET"),
    (9, LinkType::Ppp, "PPP"),
    // What some systems wrote for raw IP before it had a number that is the same everywhere.
    (12, LinkType::Ip, "RAW"),
    (14, LinkType::Ip, "RAW"),
    (50, LinkType::Ppp, "PPP_HDLC"),
    (101, LinkType::Ip, "RAW"),
    (104, LinkType::CiscoHdlc, "C_HDLC"),
    (108, LinkType::Loopback, "LOOP"),
    (113, LinkType::LinuxCooked, "LINUX_SLL"),
    (123, LinkType::SunAtm, "SUNATM"),
    (197, LinkType::Erf, "ERF"),
    (219, LinkType::Mpls, "MPLS"),
    (228, LinkType::Ip, "IPV4"),
    (229, LinkType::Ip, "IPV6"),
    (276, LinkType::LinuxCooked2, "LINUX_SLL2"),
];

impl LinkType {
    /// The link type with this number in capture files, if packets that begin so can be read.
    pub fn of(number: u16) -> Option<LinkType> {
        NUMBERS.iter().find(|known| known.0 == number).map(|known| known.1)
    }

    /// All numbers that [`LinkType::of`] knows, each with its name, in order.
    pub fn numbers() -> impl Iterator<Item = (u16, &'static str)> {
        NUMBERS.iter().map(|known| (known.0, known.2))
    }
}
