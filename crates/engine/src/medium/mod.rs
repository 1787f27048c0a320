//! What frames are on the link between two devices: a folder for each medium.
//!
//! Inside a node every frame has an Ethernet header of 14 bytes. The lane of a link gives it the form of its medium
//! when the first bit leaves, and the far end gives it its Ethernet header back before a device sees it. In between (in
//! captures, under faults, in digests, on interfaces of this machine) its bytes are those of the medium.
//!
//! Cells of ATM are an exception: the devices at both ends hold them as they are on the link.
//!
//! Ethernet needs no change, so that its frames keep to the fast path.

mod atm;
mod ethernet;
mod llc;
mod serial;

pub use atm::ATM;
pub use ethernet::ETHERNET;
pub use llc::LLC;

use base::frame::Framing;
use base::{Frame, MacAddr};

/// Every medium that a link may have; the first is that of links of which nothing is said.
pub const MEDIA: &[&Medium] = &[&ETHERNET, &LLC, &ATM, &serial::MEDIUM];

/// What a link is made of: how long its frames are, and what header they have on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// What `medium` of a link says.
    pub name: &'static str,
    /// What it is, for people.
    pub meaning: &'static str,
    /// How long frames are on it: what their time on the wire follows from.
    pub framing: Framing,
    /// How its frames are made and read; nothing if they are those of the nodes.
    pub conversion: Option<Conversion>,
    /// What its frames are to the devices at its ends.
    pub carries: Carries,
    /// What captures say its frames are (the numbers of www.tcpdump.org/linktypes.html).
    pub link_type: u16,
    /// Do its frames carry Ethernet addresses? Only then can a bridge pass them on.
    pub has_addresses: bool,
    /// Where its frames may leave this process.
    pub outside: Outside,
}

/// How frames of a medium are made of those of the nodes, and read.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// Puts the medium's header in the place of the Ethernet header. The frame is one that fits, with all its header.
    pub encode: fn(&mut Frame),
    /// Puts an Ethernet header in the place of the medium's; false if the medium's header makes no sense.
    pub decode: fn(&mut Frame, Ends) -> bool,
}

/// The Ethernet addresses of the ports at both ends of a link, for media whose frames have none.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// That of the port that sent the frame.
    pub from: MacAddr,
    /// That of the port that it comes to.
    pub to: MacAddr,
}

/// What frames of a medium are to the devices at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Packets, with the Ethernet header that they have inside of nodes.
    Packets,
    /// Cells: parts of packets, as they are on the medium.
    Cells,
}

/// Where frames of a medium may leave this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// By an interface of this machine, and any kernel reads them.
    Anywhere,
    /// By an interface of this machine, to who knows the medium: no kernel does.
    Routers,
    /// Nowhere: no interface of this machine carries them.
    Nowhere,
}

/// The media of links between routers and hosts: those that carry packets.
pub fn packet_media() -> impl Iterator<Item = &'static Medium> {
    MEDIA.iter().copied().filter(|medium| medium.carries == Carries::Packets)
}

impl Medium {
    /// The medium of this name.
    pub fn named(name: &str) -> Option<&'static Medium> {
        MEDIA.iter().copied().find(|medium| medium.name == name)
    }

    /// The longest packet that one of its frames holds; as long as any, where packets go as cells.
    pub fn mtu(&self) -> u32 {
        match self.carries {
            Carries::Packets => self.framing.mtu(),
            Carries::Cells => u32::from(u16::MAX),
        }
    }

    /// Are its frames, and the time that they take, those of Ethernet?
    pub fn is_plain(&self) -> bool {
        self.conversion.is_none() && self.framing == Framing::ETHERNET
    }

    /// Gives a frame of a node the form that it has on the medium.
    pub(crate) fn encode(&self, frame: &mut Frame) {
        if let Some(conversion) = self.conversion {
            (conversion.encode)(frame);
        }
        frame.set_framing(Some(self.framing));
    }

    /// Gives a frame of the medium the form that it has in a node, if it is one.
    pub(crate) fn decode(&self, frame: &mut Frame, ends: Ends) -> bool {
        frame.set_framing(None);
        self.conversion.is_none_or(|conversion| (conversion.decode)(frame, ends))
    }
}
