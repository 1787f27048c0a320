//! The control path of a switch with a profile: messages wait for their turn, one after the other in each direction.

use super::SwitchProfile;
use base::device::{DropCounters, DropReason};
use base::{Span, Time};
use std::collections::{BTreeMap, VecDeque};
use wire::openflow::message_len;

const HEADER: usize = 8;
/// Types of messages that both versions have by these numbers.
const ECHO_REQUEST: u8 = 2;
const PACKET_IN: u8 = 10;
const PACKET_OUT: u8 = 13;
const FLOW_MOD: u8 = 14;

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passing {
    pub(super) connection: u32,
    pub(super) bytes: Vec<u8>,
}

/// What came of a message that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It waits, or is in hand.
    Waits,
    /// Too much waits: the endpoint resets the connection.
    Reset,
}

/// One direction: a server with a queue.
#[derive(Debug, Default)]
struct Server {
    waiting: VecDeque<Passing>,
    bytes: u64,
    /// When the first of them is done.
    done: Option<Time>,
    /// When the last packet was given to the socket.
    used: Option<Time>,
}

impl Server {
    fn put(&mut self, message: Passing) {
        self.bytes += message.bytes.len() as u64;
        self.waiting.push_back(message);
    }

    fn take(&mut self) -> Option<Passing> {
        let message = self.waiting.pop_front()?;
        self.bytes -= message.bytes.len() as u64;
        self.done = None;
        Some(message)
    }

    fn forget(&mut self, connection: u32) {
        let first = self.waiting.front().map(|one| one.connection);
        self.waiting.retain(|one| one.connection != connection);
        self.bytes = self.waiting.iter().map(|one| one.bytes.len() as u64).sum();
        if first == Some(connection) {
            self.done = None;
        }
    }

    /// What a packet takes in the socket, which takes `usual` if it is not in use.
    fn socket(&mut self, profile: &SwitchProfile, now: Time, usual: Span) -> Span {
        let is_used = self.used.is_some_and(|used| now <= used + profile.socket_linger);
        let takes = if is_used { usual.max(profile.socket_stall) } else { usual };
        self.used = Some(now);
        takes
    }
}

/// Both directions, and what of a stream is no message yet.
#[derive(Debug, Default)]
pub(super) struct ControlPath {
    profile: SwitchProfile,
    down: Server,
    up: Server,
    parts: BTreeMap<u32, Vec<u8>>,
    /// Up to when PACKET_INs have used what they may.
    spent: Time,
    /// PACKET_INs that were dropped, by the limit that dropped them.
    pub(super) drops: DropCounters,
    /// Connections that the endpoint has reset.
    pub(super) resets: u64,
}

fn times(span: Span, count: usize) -> Span {
    Span(span.0.saturating_mul(count as i64))
}

/// The command of a FLOW_MOD: 0 adds an entry, 1 and 2 change some, what follows deletes.
fn command(message: &[u8]) -> u8 {
    // It stands behind match and cookie in 1.0; behind cookie, its mask and the table in 1.3.
    let command = match message.first() {
        Some(1) => message.get(HEADER + 49),
        _ => message.get(HEADER + 17),
    };
    command.copied().unwrap_or_default()
}

impl ControlPath {
    pub(super) fn new(profile: SwitchProfile) -> ControlPath {
        ControlPath { profile, ..ControlPath::default() }
    }

    pub(super) fn profile(&self) -> &SwitchProfile {
        &self.profile
    }

    /// A connection is gone, and what waits of it with it.
    pub(super) fn forget(&mut self, connection: u32) {
        self.down.forget(connection);
        self.up.forget(connection);
        self.parts.remove(&connection);
    }

    /// Does a message of a controller wait to be done?
    pub(super) fn has_waiting(&self, connection: u32) -> bool {
        self.down.waiting.iter().any(|one| one.connection == connection)
    }

    /// Bytes from a controller.
    pub(super) fn receive(&mut self, connection: u32, bytes: &[u8]) -> Taken {
        let part = self.parts.entry(connection).or_default();
        part.extend_from_slice(bytes);
        let mut read = 0;
        while let Some(len) = message_len(&part[read..]) {
            self.down.put(Passing { connection, bytes: part[read..read + len].to_vec() });
            read += len;
        }
        part.drain(..read);
        if self.profile.reset_bytes > 0 && self.down.bytes > self.profile.reset_bytes {
            self.resets += 1;
            return Taken::Reset;
        }
        Taken::Waits
    }

    /// Bytes from the switch: those that need no time come back.
    pub(super) fn send(&mut self, now: Time, connection: u32, bytes: &[u8]) -> Vec<u8> {
        let (mut rest, mut at_once) = (bytes, Vec::new());
        while let Some(len) = message_len(rest) {
            let (message, behind) = rest.split_at(len);
            rest = behind;
            if message.get(1) != Some(&PACKET_IN) {
                at_once.extend_from_slice(message);
                continue;
            }
            match self.may_tell(now) {
                Ok(()) => self.up.put(Passing { connection, bytes: message.to_vec() }),
                Err(reason) => self.drops.count(reason),
            }
        }
        at_once.extend_from_slice(rest);
        at_once
    }

    /// May there be a PACKET_IN now? A token bucket, as far as there is a rate, and then room in the queue.
    fn may_tell(&mut self, now: Time) -> Result<(), DropReason> {
        let every = self.profile.packet_in_every;
        if every > Span::ZERO {
            let burst = times(every, self.profile.packet_in_burst.max(1) as usize);
            let spent = self.spent.max(now) + every;
            if spent > now + burst {
                return Err(DropReason::RateLimited);
            }
            self.spent = spent;
        }
        let most = self.profile.packet_in_queue as usize;
        if most == 0 || self.up.waiting.len() < most { Ok(()) } else { Err(DropReason::ControlQueueFull) }
    }

    /// What a message from a controller takes, while the tables have so many entries.
    fn takes(&mut self, now: Time, entries: usize) -> Span {
        let profile = self.profile;
        let Some(first) = self.down.waiting.front() else { return Span::ZERO };
        let len = first.bytes.len();
        match first.bytes.get(1) {
            Some(&ECHO_REQUEST) => profile.echo,
            Some(&PACKET_OUT) => {
                let usual = profile.packet_out + times(profile.packet_out_per_byte, len);
                self.down.socket(&profile, now, usual)
            }
            Some(&FLOW_MOD) => {
                profile.remote_call
                    + match command(&first.bytes) {
                        // Where it goes, others make room; one that is changed stays where it is.
                        0 => profile.entry_write + times(profile.entry_write_per_entry, entries),
                        1 | 2 => profile.entry_write,
                        _ => Span::ZERO,
                    }
            }
            _ => profile.message,
        }
    }

    /// The next message for the switch that is done by now; what is taken in hand begins now.
    pub(super) fn poll_down(&mut self, now: Time, entries: usize) -> Option<Passing> {
        if self.down.done.is_none() && !self.down.waiting.is_empty() {
            let takes = self.takes(now, entries);
            self.down.done = Some(now + takes);
        }
        self.down.done.filter(|done| *done <= now)?;
        self.down.take()
    }

    /// The next PACKET_IN that is done by now.
    pub(super) fn poll_up(&mut self, now: Time) -> Option<Passing> {
        if let Some(first) = self.up.waiting.front().filter(|_| self.up.done.is_none()) {
            let profile = self.profile;
            let usual = profile.packet_in + times(profile.packet_in_per_byte, first.bytes.len());
            self.up.done = Some(now + self.up.socket(&profile, now, usual));
        }
        self.up.done.filter(|done| *done <= now)?;
        self.up.take()
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        [self.down.done, self.up.done].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::openflow::Version;

    fn message(kind: u8, len: u16) -> Vec<u8> {
        let mut bytes = vec![0; len.into()];
        (bytes[0], bytes[1]) = (Version::V1_0 as u8, kind);
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes
    }

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }

    #[test]
    fn messages_are_done_one_after_the_other_and_halves_wait() {
        let profile =
            SwitchProfile { echo: Span::from_ms(2), message: Span::from_ms(1), ..SwitchProfile::default() };
        let mut path = ControlPath::new(profile);
        let both = [message(ECHO_REQUEST, 8), message(18, 8)].concat();
        assert_eq!(path.receive(0, &both[..12]), Taken::Waits);
        assert_eq!(path.poll_down(at(0), 0), None);
        assert_eq!(path.poll_timeout(), Some(at(2)));
        path.receive(0, &both[12..]);
        assert_eq!(path.poll_down(at(2), 0).expect("done").bytes, both[..8]);
        assert_eq!(path.poll_down(at(2), 0), None);
        assert_eq!(path.poll_down(at(3), 0).expect("done").bytes, both[8..]);
        assert_eq!(path.poll_timeout(), None);
    }

    #[test]
    fn an_entry_takes_longer_the_more_there_are_and_a_deletion_does_not() {
        let profile = SwitchProfile {
            entry_write: Span::from_ms(10),
            entry_write_per_entry: Span::from_ms(1),
            ..SwitchProfile::default()
        };
        let mut path = ControlPath::new(profile);
        let mut deletion = message(FLOW_MOD, 72);
        deletion[HEADER + 49] = 3;
        path.receive(0, &[message(FLOW_MOD, 80), deletion].concat());
        assert_eq!(path.poll_down(at(0), 5), None);
        assert_eq!(path.poll_timeout(), Some(at(15)));
        assert!(path.poll_down(at(15), 5).is_some());
        assert!(path.poll_down(at(15), 6).is_some());
    }

    #[test]
    fn a_socket_that_is_in_use_stalls_and_one_that_rests_does_not() {
        let profile = SwitchProfile {
            packet_in: Span::from_ms(1),
            socket_stall: Span::from_ms(40),
            socket_linger: Span::from_ms(5),
            packet_in_queue: 2,
            ..SwitchProfile::default()
        };
        let mut path = ControlPath::new(profile);
        let packet = message(PACKET_IN, 60);
        for _ in 0..3 {
            assert!(path.send(at(0), 0, &packet).is_empty());
        }
        assert_eq!(path.drops.get(DropReason::ControlQueueFull), 1);
        path.poll_up(at(0));
        assert_eq!(path.poll_timeout(), Some(at(1)));
        assert!(path.poll_up(at(1)).is_some());
        assert_eq!(path.poll_up(at(1)), None);
        assert_eq!(path.poll_timeout(), Some(at(41)));
        assert!(path.poll_up(at(41)).is_some());
        path.send(at(100), 0, &packet);
        path.poll_up(at(100));
        assert_eq!(path.poll_timeout(), Some(at(101)));
    }

    #[test]
    fn packet_ins_have_a_rate_and_other_messages_pass() {
        let profile = SwitchProfile {
            packet_in_every: Span::from_ms(25),
            packet_in_burst: 1,
            ..SwitchProfile::default()
        };
        let mut path = ControlPath::new(profile);
        let packet = message(PACKET_IN, 60);
        let told = (0..100).filter(|n| {
            path.send(at(10 * n), 0, &packet);
            path.poll_up(at(10 * n)).is_some()
        });
        assert_eq!(told.count(), 34);
        assert_eq!(path.drops.get(DropReason::RateLimited), 66);
        assert_eq!(path.send(at(2000), 0, &message(3, 8)), message(3, 8));
    }

    #[test]
    fn too_much_that_waits_resets() {
        let profile =
            SwitchProfile { message: Span::from_ms(1), reset_bytes: 20, ..SwitchProfile::default() };
        let mut path = ControlPath::new(profile);
        assert_eq!(path.receive(0, &message(18, 8)), Taken::Waits);
        assert_eq!(path.receive(0, &message(18, 16)), Taken::Reset);
        path.forget(0);
        assert_eq!((path.poll_timeout(), path.resets), (None, 1));
    }
}
