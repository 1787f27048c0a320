//! Ports and their queues.

use super::Fault;
use crate::openflow::macros::{layout, sized, typed};
use crate::openflow::{Name, PortReason, Rest};
use base::MacAddr;

layout! {
    /// A port.
    Port {
        /// Its number.
        number: u32, pad 4;
        /// Its Ethernet address.
        address: MacAddr, pad 2;
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
        /// Its rate now, in kbit/s.
        current_speed: u32;
        /// Its greatest rate, in kbit/s.
        max_speed: u32;
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
        number: u32, pad 4;
        /// Its address, which must be right.
        address: MacAddr, pad 2;
        /// How bits of its configuration are to be.
        config: u32;
        /// Which bits are to be so.
        mask: u32;
        /// What it is to offer; zero leaves it as it is.
        advertise: u32, pad 4;
    }

    /// Which queues has a port?
    QueueConfigRequest {
        /// The port, or ANY for all.
        port: u32, pad 4;
    }

    /// The queues of a port.
    QueueConfig {
        /// The port.
        port: u32, pad 4;
        /// Its queues.
        queues: Vec<PacketQueue>;
    }
}

sized! {
    /// A queue of a port.
    PacketQueue {
        /// Its number.
        id: u32;
        /// Its port.
        port: u32;
        [length], pad 6;
        /// What it promises.
        properties: Vec<QueueProperty>;
    }
}

typed! {
    /// What a queue promises. Rates are in thousandths of the port's; more than 1,000 stands for none.
    QueueProperty: Fault::RequestBadLen, Fault::RequestBadLen, "a property that is not known" {
        /// A rate at least.
        MinRate = 1 pad 4 {
            /// The rate.
            rate: u16, pad 6;
        };
        /// A rate at most.
        MaxRate = 2 pad 4 {
            /// The rate.
            rate: u16, pad 6;
        };
        /// What an experimenter says.
        Experimenter = 0xffff pad 4 {
            /// The experimenter.
            experimenter: u32, pad 4;
            /// What the experimenter says it is.
            data: Rest;
        };
    }
}
