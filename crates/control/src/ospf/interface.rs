//! Interfaces: their settings, their state machine (RFC 2328, 9) and the election of the designated router (9.4).

use super::keys::{KeyState, Keys};
use super::neighbor::{Neighbor, NeighborState};
use super::te::Attributes;
use crate::machine;
use crate::services::Pace;
use base::{PortId, Span, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ospf::LsaHeader;

use super::database::Instance;

machine! {
    /// Each step is one of RFC 2328, 9.3. The event says what an election has come to.
    machine "An interface";
    /// What an interface is to its link.
    pub enum InterfaceState {
        /// It can't be used.
        Down,
        /// It listens who is the designated router.
        Waiting,
        /// There is one neighbour at most, and nothing to elect.
        PointToPoint,
        /// Others are the designated router and the backup.
        DrOther,
        /// It is the backup of the designated router.
        Backup,
        /// It is the designated router.
        Dr,
    }
    /// What happens to an interface.
    pub enum InterfaceEvent {
        /// It can be used, and has one neighbour.
        UpPointToPoint,
        /// It can be used, there may be many neighbours, and it may become the designated router.
        UpEligible,
        /// It can be used, there may be many neighbours, and it may not become the designated router.
        UpIneligible,
        /// An election made it the designated router.
        ElectedDr,
        /// An election made it the backup.
        ElectedBackup,
        /// An election made it neither.
        ElectedOther,
        /// It can't be used any more.
        Down,
    }
    begins { Down }
    steps {
        Down: UpPointToPoint => PointToPoint, UpEligible => Waiting, UpIneligible => DrOther;
        Waiting: ElectedDr => Dr, ElectedBackup => Backup, ElectedOther => DrOther, Down => Down;
        PointToPoint: Down => Down;
        DrOther: ElectedDr => Dr, ElectedBackup => Backup, ElectedOther => DrOther, Down => Down;
        Backup: ElectedDr => Dr, ElectedBackup => Backup, ElectedOther => DrOther, Down => Down;
        Dr: ElectedDr => Dr, ElectedBackup => Backup, ElectedOther => DrOther, Down => Down;
    }
}

impl InterfaceState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            InterfaceState::Down => "down",
            InterfaceState::Waiting => "waiting",
            InterfaceState::PointToPoint => "point-to-point",
            InterfaceState::DrOther => "dr-other",
            InterfaceState::Backup => "backup",
            InterfaceState::Dr => "dr",
        }
    }
}

base::words! {
    /// What a link is to OSPF (RFC 2328, 1.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NetworkType {
        /// Two routers, which become adjacent.
        PointToPoint = "point-to-point",
        /// Any number of routers, of which one is designated to speak for all.
        Broadcast = "broadcast",
    }
}

/// How OSPF treats an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceConfig {
    /// The area that its link is in; the router's own if absent, which nobody else can be in.
    pub area: Option<Ipv4Addr>,
    /// What its link is.
    pub network: NetworkType,
    /// Announced, but nothing is sent or heard.
    pub passive: bool,
    /// What it costs to send by it: 1 to 65,535.
    pub cost: u16,
    /// Seconds between two Hellos.
    pub hello_s: u16,
    /// A neighbour that is silent for so many seconds is gone.
    pub dead_s: u32,
    /// How much the router wants to be the designated one; zero if it may not be.
    pub priority: u8,
    /// From sending to sending again what was not acknowledged.
    pub retransmit: Span,
    /// Seconds that advertisements age when they are sent by it.
    pub transmit_delay_s: u16,
    /// How packets are authenticated.
    pub auth: Keys,
    /// What traffic engineering is told of its link.
    pub te: Attributes,
    /// Have neighbours watched that hear this router (RFC 5882), and how closely.
    pub bfd: Option<Pace>,
}

impl Default for InterfaceConfig {
    /// As RFC 2328, C.3 has them for a local network; adjacencies with one neighbour.
    fn default() -> InterfaceConfig {
        InterfaceConfig {
            area: Some(super::areas::BACKBONE),
            network: NetworkType::PointToPoint,
            passive: false,
            cost: 10,
            hello_s: 10,
            dead_s: 40,
            priority: 1,
            retransmit: Span::from_secs(5),
            transmit_delay_s: 1,
            auth: Keys::default(),
            te: Attributes::default(),
            bfd: None,
        }
    }
}

/// A virtual link of the backbone: to another border router, through an area that both are in (RFC 2328, 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VirtualLink {
    /// The area that it leads through, which is not the backbone: its Transit area.
    pub area: Ipv4Addr,
    /// Router id of its other end.
    pub router: Ipv4Addr,
}

/// Which interface of the router it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterfaceName {
    /// That of a port.
    Port(PortId),
    /// The end of a virtual link.
    Virtual(VirtualLink),
}

impl InterfaceName {
    /// The port, if it is one.
    pub const fn port(self) -> Option<PortId> {
        match self {
            InterfaceName::Port(port) => Some(port),
            InterfaceName::Virtual(_) => None,
        }
    }

    /// Is it the end of a virtual link?
    pub const fn is_virtual(self) -> bool {
        matches!(self, InterfaceName::Virtual(_))
    }
}

/// An interface that OSPF knows.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Which one it is.
    pub name: InterfaceName,
    /// Is its link to be avoided, because somebody else is not ready (RFC 5443)?
    pub is_avoided: bool,
    /// Name of the node at the other end of its link; empty if nobody has said, and of a virtual link.
    pub towards: String,
    /// The router's own address on it; zero of a virtual link that can't be used.
    pub address: Ipv4Addr,
    /// Address of the other end of a virtual link that can be used; zero of others.
    pub peer: Ipv4Addr,
    /// How many bits of its addresses the network has.
    pub prefix_len: u8,
    /// Longest IP packet that it takes, in bytes.
    pub mtu: u16,
    /// How OSPF treats it.
    pub config: InterfaceConfig,
    /// What it is to its link.
    pub state: InterfaceState,
    /// Address of the designated router, or zero.
    pub designated: Ipv4Addr,
    /// Address of the backup, or zero.
    pub backup: Ipv4Addr,
    /// Neighbours, by address on a broadcast network and by router id else (RFC 2328, 10.5).
    pub neighbors: BTreeMap<Ipv4Addr, Neighbor>,
    /// Why a packet of a neighbour was not taken last, and how often that was.
    pub refused: Option<(Ipv4Addr, String)>,
    /// How many packets were not taken.
    pub refusals: u64,
    /// What packets are sent with.
    pub keys: KeyState,
    pub(super) hello_due: Option<Time>,
    pub(super) wait_due: Option<Time>,
    /// An election is due.
    pub(super) is_election_due: bool,
    /// What is to be flooded by it when the call that made it returns.
    pub(super) flooding: Vec<Instance>,
    pub(super) acks: Vec<LsaHeader>,
    pub(super) ack_due: Option<Time>,
}

impl Interface {
    pub(super) fn new(
        name: InterfaceName,
        (address, prefix_len): (Ipv4Addr, u8),
        mtu: u32,
        config: InterfaceConfig,
    ) -> Interface {
        Interface {
            name,
            is_avoided: false,
            towards: String::new(),
            address,
            peer: Ipv4Addr::UNSPECIFIED,
            prefix_len,
            mtu: u16::try_from(mtu).unwrap_or(u16::MAX),
            config,
            state: InterfaceState::Down,
            designated: Ipv4Addr::UNSPECIFIED,
            backup: Ipv4Addr::UNSPECIFIED,
            neighbors: BTreeMap::new(),
            refused: None,
            refusals: 0,
            keys: KeyState::default(),
            hello_due: None,
            wait_due: None,
            is_election_due: false,
            flooding: Vec::new(),
            acks: Vec::new(),
            ack_due: None,
        }
    }

    /// The mask of its network.
    pub fn mask(&self) -> Ipv4Addr {
        mask_of(self.prefix_len)
    }

    /// The address of its network.
    pub fn network(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address.to_bits() & self.mask().to_bits())
    }

    /// Is it the designated router or its backup?
    pub(super) fn is_designated(&self) -> bool {
        matches!(self.state, InterfaceState::Dr | InterfaceState::Backup)
    }

    /// Are the two to become adjacent (RFC 2328, 10.4)?
    pub(super) fn is_adjacent_to(&self, neighbor: &Neighbor) -> bool {
        self.config.network == NetworkType::PointToPoint
            || self.is_designated()
            || neighbor.address == self.designated
            || neighbor.address == self.backup
    }

    /// When something is due for it or its neighbours.
    pub(super) fn due(&self) -> Option<Time> {
        let neighbors = self.neighbors.values().map(Neighbor::due).min();
        Time::earliest([self.hello_due, self.wait_due, self.ack_due, self.keys.due, neighbors])
    }

    /// Elects the designated router and the backup (RFC 2328, 9.4): their addresses, or zero.
    pub(super) fn elect(&self, router_id: Ipv4Addr) -> (Ipv4Addr, Ipv4Addr) {
        let (designated, backup) = self.round(router_id, (self.designated, self.backup));
        let role = |designated, backup| (designated == self.address, backup == self.address);
        // RFC 2328, 9.4, step 4: who has become one of them, or is it no more, counts again.
        if role(designated, backup) == role(self.designated, self.backup) {
            return (designated, backup);
        }
        self.round(router_id, (designated, backup))
    }

    /// Steps 1 to 3 of an election, in which this router declares itself to be as given.
    fn round(&self, router_id: Ipv4Addr, own: (Ipv4Addr, Ipv4Addr)) -> (Ipv4Addr, Ipv4Addr) {
        struct Candidate {
            rank: (u8, Ipv4Addr),
            address: Ipv4Addr,
            designated: Ipv4Addr,
            backup: Ipv4Addr,
        }
        let priority = self.config.priority;
        let itself = Candidate {
            rank: (priority, router_id),
            address: self.address,
            designated: own.0,
            backup: own.1,
        };
        let others = self.neighbors.values().filter(|neighbor| neighbor.state.is_two_way());
        let others = others.map(|neighbor| Candidate {
            rank: (neighbor.priority, neighbor.router_id),
            address: neighbor.address,
            designated: neighbor.designated,
            backup: neighbor.backup,
        });
        let eligible: Vec<Candidate> =
            core::iter::once(itself).chain(others).filter(|one| one.rank.0 > 0).collect();
        let best = |wanted: &dyn Fn(&Candidate) -> bool| {
            let among = eligible.iter().filter(|one| wanted(one));
            among.max_by_key(|one| one.rank).map(|one| one.address)
        };
        // Step 2: who declares itself to be the backup comes before who declares nothing.
        let backup = best(&|one| one.designated != one.address && one.backup == one.address)
            .or_else(|| best(&|one| one.designated != one.address));
        // Step 3: without a designated router the backup takes its place.
        let designated = best(&|one| one.designated == one.address).or(backup);
        let address = |elected: Option<Ipv4Addr>| elected.unwrap_or(Ipv4Addr::UNSPECIFIED);
        (address(designated), address(backup))
    }

    /// How many neighbours are in a state.
    pub(super) fn count(&self, state: NeighborState) -> usize {
        self.neighbors.values().filter(|neighbor| neighbor.state == state).count()
    }
}

/// The mask of a prefix length.
pub(super) fn mask_of(len: u8) -> Ipv4Addr {
    Ipv4Addr::from_bits(!u32::MAX.checked_shr(len.into()).unwrap_or(0))
}
