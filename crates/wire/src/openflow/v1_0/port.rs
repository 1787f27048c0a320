//! Ports and their queues.

use super::Fault;
use crate::openflow::macros::{layout, sized, typed};
use crate::openflow::{Name, PortReason};
use base::MacAddr;

layout! {
    /// A port.
    Port {
        /// Its number.
        number: u16;
        /// Its Ethernet address.
        address: MacAddr;
        /// Its name.
        name: Name<16>;
        /// How it is set: bits of OFPPC.
        config: u32;
        /// How it is: bits of OFPPS.
        state: u32;
        /// What it does now: bits of OFPPF.
        current: u32;
        /// What it offers.
        advertised: u32;
        /// What it can do.
        supported: u32;
        /// What its neighbour offers.
        peer: u32;
    }

    /// A port has come, gone or changed.
    PortStatus {
        /// Which of them.
        reason: PortReason, pad 7;
        /// The port.
        port: Port;
    }

    /// A port is to be changed.
    PortMod {
        /// Which port.
        number: u16;
        /// Its address, which must be right.
        address: MacAddr;
        /// How bits of its configuration are to be.
        config: u32;
        /// Which bits are to be so.
        mask: u32;
        /// What it is to offer; zero leaves it as it is.
        advertise: u32, pad 4;
    }

    /// Which queues has a port?
    QueueConfigRequest {
        /// The port.
        port: u16, pad 2;
    }

    /// The queues of a port.
    QueueConfig {
        /// The port.
        port: u16, pad 6;
        /// Its queues.
        queues: Vec<PacketQueue>;
    }
}

sized! {
    /// A queue of a port.
    PacketQueue {
        /// Its number.
        id: u32;
        [length], pad 2;
        /// What it promises.
        properties: Vec<QueueProperty>;
    }
}

typed! {
    /// What a queue promises.
    QueueProperty: Fault::BadLen, Fault::BadLen, "a property that is not known" {
        /// Nothing.
        None = 0 pad 4;
        /// A rate at least.
        MinRate = 1 pad 4 {
            /// In thousandths of the port's; more than 1,000 stands for none.
            rate: u16, pad 6;
        };
    }
}
