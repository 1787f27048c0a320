//! Entries of the switch, and how those are known again that were written before.

use base::plane::Prefix;
use base::{Label, PortId};
use core::net::Ipv4Addr;
use wire::openflow::Field;
use wire::openflow::v1_3::{Action, Instruction, Match, Oxm, OxmField, ports};

/// The upper 16 bits of the cookies of this driver.
const OWNER: u64 = 0x7450 << 48;
/// The lower bits of a cookie, which say what its entry is; between them is the epoch.
const IDENTITY: u64 = (1 << 40) - 1;
/// Bytes of a packet that go to the router: all of them, and none waits in a buffer of the switch.
const WHOLE: u16 = 0xffff;

/// What an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// Frames of some kind that come by a port: which of them are looked up.
    Port(PortId, Admission),
    /// Packets that go to the router whatever tables say.
    Punt(Punt),
    /// Packets with a label on top, which is the last one of the stack or not.
    Label(Label, Bottom),
    /// Packets to a prefix, mapped to a label or not: of one precedence, or of all.
    Prefix(Prefix, Option<u8>),
    /// Packets that are to leave by a port: by which they came, or by another.
    Leave(PortId, bool),
    /// Packets with a DSCP, or all others: their precedence goes to the next table.
    Class(Option<u8>),
    /// Packets to a neighbour on a connected network.
    Neighbor(PortId, Ipv4Addr),
}

/// Which frames of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Admission {
    /// Those to the port's own address.
    Own,
    Arp,
    /// Those to groups.
    Group,
}

/// Which packets go to the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Punt {
    /// RSVP, which marks messages by Router Alert: OpenFlow matches no option, so all of it is looked at.
    Rsvp,
    /// Those to addresses of a loopback, as tests of LSPs have them.
    Loopback,
    /// What no other entry takes.
    Rest,
}

/// Is it the last label of the stack?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bottom {
    /// It does not matter.
    Any,
    /// There are others below.
    No,
    Yes,
}

/// An entry as the switch has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub table: u8,
    pub priority: u16,
    pub matching: Match,
    pub instructions: Vec<Instruction>,
}

impl Entry {
    pub fn new(
        table: u8,
        priority: u16,
        fields: &[(OxmField, u128)],
        instructions: Vec<Instruction>,
    ) -> Entry {
        let fields = fields.iter().map(|(field, value)| Oxm::exact(*field, *value)).collect();
        Entry { table, priority, matching: Match { fields }, instructions }
    }

    /// Its table, priority and match, which no other entry has.
    pub fn place(&self) -> Vec<u8> {
        place_of(self.table, self.priority, &self.matching)
    }

    /// A number that tells it from all others: FNV-1a of what it is on the wire, in 40 bits.
    pub fn identity(&self) -> u64 {
        let mut bytes = self.place();
        self.instructions.write(&mut bytes);
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        OWNER | (hash ^ hash >> 40) & IDENTITY
    }
}

/// What no two entries share.
pub(super) fn place_of(table: u8, priority: u16, matching: &Match) -> Vec<u8> {
    let mut bytes = vec![table];
    bytes.extend(priority.to_be_bytes());
    matching.write(&mut bytes);
    bytes
}

/// The cookie of an entry that is written in an epoch: the connection that wrote it, modulo 256.
pub(super) fn cookie(entry: &Entry, epoch: u64) -> u64 {
    entry.identity() | (epoch & 0xff) << 40
}

/// Which entry a cookie is of, whenever it was written.
pub(super) fn identity_of(cookie: u64) -> u64 {
    cookie & !(0xff << 40)
}

/// Hands packets to the router, by a meter.
pub(super) fn to_router(meter: u32) -> Vec<Instruction> {
    let output = Action::Output { port: ports::CONTROLLER, max_len: WHOLE };
    vec![Instruction::Meter { meter }, Instruction::ApplyActions { actions: vec![output] }]
}
