//! What is kept of a neighbour.

use super::PeerConfig;
use super::session::{Connection, SessionState};
use super::several::ToldSeveral;
use super::table::is_of;
use super::told::Pending;
use crate::services::sessions::SessionId;
use base::Time;
use base::plane::IpPrefix;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::bgp::Family;

/// A neighbour.
#[derive(Clone, Debug)]
pub struct Peer {
    /// How it is set up.
    pub config: PeerConfig,
    /// The connection that this router begins.
    pub begun: Connection,
    /// The connection that the neighbour has begun.
    pub taken: Option<Connection>,
    /// When this router tries again.
    pub retry: Time,
    /// Connections of it are refused until then: it has told too many routes.
    pub barred_until: Time,
    /// This router's end of the session.
    pub local: IpAddr,
    /// This router's address of IPv4 towards it.
    pub local4: Ipv4Addr,
    /// The same of IPv6, if it has any.
    pub local6: Option<Ipv6Addr>,
    /// Its identifier, while routes are exchanged.
    pub id: Option<Ipv4Addr>,
    /// Its identifier in the last session.
    pub known_id: Option<Ipv4Addr>,
    /// Has there been a session with it since this router was started? A restart of BGP alone does not change this: the
    /// tables are as the neighbour knows them.
    pub has_met: bool,
    /// Has BGP restarted alone here, and there has been no session with the neighbour since (RFC 4724, 4.1)?
    pub is_restart_untold: bool,
    /// How many routes it has told.
    pub received: usize,
    /// How many routes it was told.
    pub sent: usize,
    /// Destinations of which it may have to be told something.
    pub pending: Pending,
    /// It is told nothing before.
    pub next_update: Time,
    /// How the last session ended, or why there was none; empty while routes are exchanged. It stays while a session is
    /// being set up: whoever looks then wants to know why there is none.
    pub last_end: String,
    /// UPDATEs that have come.
    pub updates_received: u64,
    /// UPDATEs that were sent.
    pub updates_sent: u64,
    /// Attributes that were malformed (RFC 7606).
    pub malformed: u64,
    /// Routes that were told and that the policy did not let pass, that were too many to one prefix, or whose prefix
    /// is no destination.
    pub refused: u64,
    /// How many routes it told before it restarted, and has not told since (RFC 4724).
    pub stale: usize,
    /// Until when they are kept.
    pub stale_until: Time,
    /// What it was told with several labels in sessions that have failed.
    pub told_several: ToldSeveral,
    /// Families of which it is still to be told that it has been told everything (RFC 4724, 2).
    pub ends_due: Vec<Family>,
}

impl Peer {
    pub(super) fn new(config: PeerConfig) -> Peer {
        Peer {
            config,
            begun: Connection::new(),
            taken: None,
            retry: Time::ZERO,
            barred_until: Time::ZERO,
            local: Ipv4Addr::UNSPECIFIED.into(),
            local4: Ipv4Addr::UNSPECIFIED,
            local6: None,
            id: None,
            known_id: None,
            has_met: false,
            is_restart_untold: false,
            received: 0,
            sent: 0,
            pending: Pending::default(),
            next_update: Time::ZERO,
            last_end: String::new(),
            updates_received: 0,
            updates_sent: 0,
            malformed: 0,
            refused: 0,
            stale: 0,
            stale_until: Time::MAX,
            told_several: ToldSeveral::new(),
            ends_due: Vec::new(),
        }
    }

    /// The connections that there are.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        core::iter::once(&self.begun).chain(&self.taken)
    }

    fn connections_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        core::iter::once(&mut self.begun).chain(&mut self.taken)
    }

    pub(super) fn connection(&mut self, id: SessionId) -> Option<&mut Connection> {
        self.connections_mut().find(|one| one.session == Some(id))
    }

    /// The connection by which routes are exchanged.
    pub fn established(&self) -> Option<&Connection> {
        self.connections().find(|one| one.is_established())
    }

    /// Is it told several paths to a prefix (RFC 7911)?
    pub(super) fn is_told_many(&self, prefix: IpPrefix) -> bool {
        self.config.told_paths.is_some()
            && self.established().is_some_and(|one| one.many.iter().any(|family| is_of(*family, prefix)))
    }

    /// Are routes exchanged?
    pub fn is_established(&self) -> bool {
        self.established().is_some()
    }

    /// The connection that has come the farthest.
    pub fn foremost(&self) -> &Connection {
        let taken = self.taken.as_ref().filter(|taken| taken.state as u8 > self.begun.state as u8);
        taken.unwrap_or(&self.begun)
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Time> {
        let waits = matches!(self.begun.state, SessionState::Idle | SessionState::Active);
        let is_free = waits && !self.taken.as_ref().is_some_and(|one| one.state != SessionState::Active);
        let of = self.connections().map(|one| one.expires.min(one.speak));
        let is_any = !self.pending.is_empty() || !self.ends_due.is_empty();
        let told = (is_any && self.is_established()).then_some(self.next_update);
        let stale = (self.stale > 0).then_some(self.stale_until);
        Time::earliest([of.min(), is_free.then_some(self.retry), told, stale])
    }
}
