//! What is the same in all versions.

use super::macros::{layout, numbers};
use super::{Code, Name};

layout! {
    /// Who made a switch.
    Description {
        /// Who made it.
        manufacturer: Name<256>;
        /// What it is.
        hardware: Name<256>;
        /// What runs on it.
        software: Name<256>;
        /// Its serial number.
        serial_number: Name<32>;
        /// What its owner calls it.
        datapath: Name<256>;
    }

    /// Entries, all together.
    AggregateStats {
        /// Packets that matched.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// The number of entries.
        flows: u32, pad 4;
    }
}

numbers! {
    /// What has happened to a port.
    PortReason: u8, Code::BAD_LEN, "a reason that is not known" {
        /// It has come.
        Add = 0;
        /// It has gone.
        Delete = 1;
        /// It has changed.
        Modify = 2;
    }
}
