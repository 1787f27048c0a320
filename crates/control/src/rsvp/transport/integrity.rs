//! INTEGRITY (RFC 2747): which key signs, which sequence numbers are believed, and the handshake that finds the first.

use super::config::{Key, PortKeys};
use super::counters::Malformed;
use base::random::Stream;
use base::{PortId, Span, Time};
use rand::Rng;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use wire::rsvp::{Challenge, Integrity, KeyId};

/// Senders whose sequence numbers are remembered; only holders of a key get here.
const SENDERS_MAX: usize = 4096;
const COOKIE_BYTES: usize = 16;
const CHALLENGE_FIRST: Span = Span::from_ms(100);
const CHALLENGE_MAX: Span = Span::from_secs(10);

/// A sender under one of its keys.
type Sender = (PortId, Ipv4Addr, KeyId);

/// What is known of a sender's sequence numbers.
#[derive(Clone, Debug, Default)]
struct Association {
    /// The greatest sequence numbers received, in order, the first that was believed among them as long as there is
    /// room; empty as long as none is believed.
    window: Vec<u64>,
    /// The challenge that has not been answered.
    pending: Option<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    cookie: [u8; COOKIE_BYTES],
    /// Not challenged again before then.
    until: Time,
    wait: Span,
}

/// Keys, and what is known of the senders that use them.
pub(super) struct Keyring {
    ports: Vec<PortKeys>,
    /// The last sequence number sent, if one was. It outlives a restart, as RFC 2747, 3 asks of it.
    sequence: Option<u64>,
    /// Calendar time at time zero, in nanoseconds since 1970, if numbers are to outlive the process, too.
    calendar_ns: Option<u64>,
    senders: BTreeMap<Sender, Association>,
}

/// The keys of a port that may be used. The last key goes on when all have expired: a network that is down is worse
/// than a key that is old (RFC 2747, 5).
fn usable(keys: &PortKeys, now: Time) -> impl Iterator<Item = &Key> {
    let last = keys.keys.iter().map(|key| key.until).max();
    let expired = !keys.keys.iter().any(|key| key.valid(now));
    keys.keys.iter().filter(move |key| key.valid(now) || expired && Some(key.until) == last)
}

/// What to do with a message whose digest is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Handle it: it was not seen before, and its sequence number fits.
    Accept,
    /// Discard it, for this reason, and send this challenge if there is one.
    Reject(Malformed, Option<Challenge>),
}

impl Keyring {
    pub(super) fn new(ports: &[PortKeys], calendar_ns: Option<u64>) -> Keyring {
        Keyring { ports: ports.to_vec(), sequence: None, calendar_ns, senders: BTreeMap::new() }
    }
    /// Are messages on `port` signed?
    pub(super) fn port(&self, port: PortId) -> Option<&PortKeys> {
        self.ports.iter().find(|keys| keys.port == port)
    }
    /// The key with `id`, if it may be used now.
    pub(super) fn key(&self, now: Time, port: PortId, id: KeyId) -> Option<&Key> {
        usable(self.port(port)?, now).find(|key| key.id == id)
    }
    /// The next INTEGRITY object for `port` and the key that signs it: the one that became valid last (RFC 2747, 5),
    /// or the one with `id`.
    pub(super) fn sign(&mut self, now: Time, port: PortId, id: Option<KeyId>) -> Option<(Integrity, &Key)> {
        let keys = self.ports.iter().find(|keys| keys.port == port)?;
        let key =
            usable(keys, now).filter(|key| id.is_none_or(|id| key.id == id)).max_by_key(|key| key.from)?;
        // RFC 2747, 3.2: a clock makes numbers that rise across restarts.
        let clock = self.calendar_ns.map_or(now.0, |begin| timestamp(begin.saturating_add(now.as_nanos())));
        let next = self.sequence.map_or(clock.max(1), |last| last.wrapping_add(1));
        let sequence = if order(clock, next).is_gt() { clock } else { next };
        self.sequence = Some(sequence);
        let mut integrity = Integrity::new(key.id, sequence);
        if keys.handshake {
            integrity.flags |= Integrity::HANDSHAKE;
        }
        Some((integrity, key))
    }

    /// Is the sequence number of a message with the right digest to be believed (RFC 2747, 4.2)?
    pub(super) fn judge(
        &mut self,
        now: Time,
        port: PortId,
        from: Ipv4Addr,
        integrity: &Integrity,
        random: &mut Stream,
    ) -> Judgement {
        // Without keys, nothing is signed.
        let Some(keys) = self.ports.iter().find(|keys| keys.port == port) else { return Judgement::Accept };
        let (handshake, room) = (keys.handshake, keys.window.max(1));
        let sender = (port, from, integrity.key_id);
        if !self.senders.contains_key(&sender) && self.senders.len() >= SENDERS_MAX {
            return Judgement::Reject(Malformed::Unsynchronised, None);
        }
        let association = self.senders.entry(sender).or_default();
        if association.window.is_empty() {
            // RFC 2747, 4.3: ask, unless one side does not take part in the handshake.
            if handshake && integrity.handshake() {
                let challenge = association.challenge(now, integrity.key_id, random);
                return Judgement::Reject(Malformed::Unsynchronised, challenge);
            }
        }
        if association.receive(integrity.sequence, room) {
            Judgement::Accept
        } else {
            Judgement::Reject(Malformed::Replay, None)
        }
    }

    /// A response with the right digest came (RFC 2747, 4.3): its sequence number is the first to be believed.
    pub(super) fn respond(
        &mut self,
        port: PortId,
        from: Ipv4Addr,
        integrity: &Integrity,
        challenge: &Challenge,
    ) -> Judgement {
        let Some(association) = self.senders.get_mut(&(port, from, integrity.key_id)) else {
            return Judgement::Reject(Malformed::Cookie, None);
        };
        let asked = association.pending.take_if(|pending| pending.cookie[..] == challenge.cookie[..]);
        if asked.is_none() || challenge.key_id != integrity.key_id {
            return Judgement::Reject(Malformed::Cookie, None);
        }
        association.window = vec![integrity.sequence];
        Judgement::Accept
    }

    /// Forgets the senders; our own sequence number goes on.
    pub(super) fn restart(&mut self) {
        self.senders.clear();
    }
}

impl Association {
    fn challenge(&mut self, now: Time, key_id: KeyId, random: &mut Stream) -> Option<Challenge> {
        let (cookie, wait) = match &self.pending {
            Some(pending) if now < pending.until => return None,
            Some(pending) => (pending.cookie, Span(pending.wait.0.saturating_mul(2)).min(CHALLENGE_MAX)),
            None => {
                let mut cookie = [0; COOKIE_BYTES];
                random.fill_bytes(&mut cookie);
                (cookie, CHALLENGE_FIRST)
            }
        };
        self.pending = Some(Pending { cookie, until: now + wait, wait });
        Some(Challenge { key_id, cookie: cookie.to_vec() })
    }

    /// RFC 2747, 4.2: greater than all is in order; one that is missing from the window is late; all others are
    /// replays. So is what lies below the first number that was believed, even if the window has room: it was sent
    /// before the handshake, or before this router began to listen.
    fn receive(&mut self, sequence: u64, room: usize) -> bool {
        match self.window.last() {
            Some(&last) if order(sequence, last).is_le() => {
                match self.window.binary_search_by(|&known| order(known, sequence)) {
                    Ok(_) | Err(0) => return false,
                    Err(at) => self.window.insert(at, sequence),
                }
            }
            _ => {
                // What is half the circle behind can't be ordered beside it.
                self.window.retain(|&known| order(known, sequence).is_lt());
                self.window.push(sequence);
            }
        }
        if self.window.len() > room {
            self.window.remove(0);
        }
        true
    }
}

/// A calendar time, in nanoseconds since 1970, as NTP writes it: seconds since 1900 in the upper half, their fraction
/// in the lower one (RFC 2747, 3.2). It rolls over after 136 years, as numbers do.
fn timestamp(calendar_ns: u64) -> u64 {
    /// From 1900 to 1970.
    const SECONDS: u64 = 2_208_988_800;
    let (seconds, rest) = (calendar_ns / 1_000_000_000, calendar_ns % 1_000_000_000);
    (seconds.wrapping_add(SECONDS) << 32) | ((rest << 32) / 1_000_000_000)
}

/// The order of two sequence numbers modulo 2^64 (RFC 2747, 4.2).
fn order(a: u64, b: u64) -> Ordering {
    (a.wrapping_sub(b) as i64).cmp(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;

    const PORT: PortId = PortId(1);
    const KEY: KeyId = KeyId([0, 0, 0, 0, 0, 7]);
    const FROM: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

    fn ring(handshake: bool, window: usize) -> Keyring {
        let keys = vec![Key::new(KEY, b"secret".to_vec())];
        Keyring::new(&[PortKeys { port: PORT, keys, handshake, window }], None)
    }
    fn integrity(sequence: u64) -> Integrity {
        Integrity { flags: Integrity::HANDSHAKE, ..Integrity::new(KEY, sequence) }
    }

    #[test]
    fn sequence_numbers_rise_even_within_an_instant_and_across_restarts() {
        let mut ring = ring(true, 1);
        let mut next = |now| ring.sign(Time(now), PORT, None).map(|(integrity, _)| integrity.sequence);
        assert_eq!([next(10), next(10), next(5), next(100)], [Some(10), Some(11), Some(12), Some(100)]);
        ring.restart();
        assert_eq!(ring.sign(Time(3), PORT, None).map(|(i, _)| i.sequence), Some(101));
        assert!(ring.sign(Time(3), PortId(2), None).is_none());
    }

    /// RFC 2747, 3: a process that is started again goes on where the calendar is, also when its time begins at zero.
    #[test]
    fn numbers_rise_when_the_process_is_started_again() {
        const SECOND: u64 = 1_000_000_000;
        assert_eq!(timestamp(0), 2_208_988_800 << 32);
        assert_eq!(timestamp(3 * SECOND / 2), 2_208_988_801 << 32 | 1 << 31);
        // 2^32 seconds after 1900 is 7 February 2036, 06:28:16.
        assert_eq!(timestamp(2_085_978_496 * SECOND), 0);
        for begin in [1_790_000_000 * SECOND, 2_085_978_490 * SECOND] {
            let mut receiver = ring(false, 1);
            let mut random = Streams::new(1).stream("x");
            for life in 0..3 {
                let keys = vec![Key::new(KEY, b"secret".to_vec())];
                let ports = [PortKeys { port: PORT, keys, handshake: false, window: 1 }];
                let mut sender = Keyring::new(&ports, Some(begin + 10 * life * SECOND));
                for ms in [0, 0, 5, 9_000] {
                    let now = Time::ZERO + Span::from_ms(ms);
                    let signed = sender.sign(now, PORT, None).map(|(integrity, _)| integrity);
                    let judged = signed.map(|it| receiver.judge(now, PORT, FROM, &it, &mut random));
                    assert_eq!(judged, Some(Judgement::Accept), "life {life}, {ms} ms");
                }
            }
        }
    }

    #[test]
    fn the_key_that_became_valid_last_signs() {
        let mut ring = ring(true, 1);
        let newer = Key { id: KeyId([9; 6]), secret: vec![1], from: Time(50), until: Time(90) };
        ring.ports[0].keys.push(newer);
        let mut signer = |now| ring.sign(Time(now), PORT, None).map(|(i, _)| i.key_id);
        assert_eq!([signer(49), signer(50), signer(90)], [Some(KEY), Some(KeyId([9; 6])), Some(KEY)]);
        assert!(ring.key(Time(49), PORT, KeyId([9; 6])).is_none());
    }

    #[test]
    fn replays_are_refused_and_late_numbers_taken_within_the_window() {
        let mut random = Streams::new(1).stream("x");
        for (window, expected) in
            [(1, [true, true, false, false, true]), (3, [true, true, true, false, true])]
        {
            let mut ring = ring(false, window);
            let mut judge = |sequence| {
                ring.judge(Time(0), PORT, FROM, &integrity(sequence), &mut random) == Judgement::Accept
            };
            assert_eq!([judge(5), judge(9), judge(7), judge(7), judge(12)], expected, "window {window}");
            assert!(!judge(5), "window {window}");
        }
    }

    /// RFC 2747, 4.2: a window that has room yet takes nothing from before its first number.
    #[test]
    fn what_was_sent_before_the_first_number_is_refused() {
        let mut random = Streams::new(1).stream("x");
        let accept = Judgement::Accept;
        let replay = Judgement::Reject(Malformed::Replay, None);
        // After a handshake, and where there is none.
        for handshake in [true, false] {
            let mut ring = ring(handshake, 32);
            let first = ring.judge(Time(0), PORT, FROM, &integrity(100), &mut random);
            if handshake {
                let Judgement::Reject(_, Some(challenge)) = first else { panic!("a challenge") };
                assert_eq!(ring.respond(PORT, FROM, &integrity(100), &challenge), accept);
            }
            let mut judge = |sequence| ring.judge(Time(0), PORT, FROM, &integrity(sequence), &mut random);
            assert_eq!([judge(99), judge(1), judge(100)], [replay.clone(), replay.clone(), replay.clone()]);
            assert_eq!(
                [judge(103), judge(101), judge(101)],
                [accept.clone(), accept.clone(), replay.clone()]
            );
            assert_eq!(judge(99), replay);
        }
    }

    /// RFC 2747, 3 and 4.2: numbers are compared modulo 2^64.
    #[test]
    fn numbers_roll_over() {
        let mut random = Streams::new(1).stream("x");
        for window in [1, 4] {
            let mut ring = ring(false, window);
            let mut judge = |sequence| {
                ring.judge(Time(0), PORT, FROM, &integrity(sequence), &mut random) == Judgement::Accept
            };
            assert!(judge(u64::MAX - 1) && judge(1), "window {window}");
            assert_eq!([judge(u64::MAX), judge(u64::MAX)], [window > 1, false], "window {window}");
            assert!(!judge(u64::MAX - 1) && !judge(1) && judge(2), "window {window}");
            // Each a third of the circle on: what is behind can't be taken for what is ahead.
            for step in 1..=6_u64 {
                let next = step.wrapping_mul(u64::MAX / 3);
                assert!(judge(next) && !judge(next), "window {window}, step {step}");
            }
        }
    }

    /// Whatever comes, and in whatever order: nothing is taken twice, and nothing from below the window.
    #[test]
    fn no_number_is_taken_twice() {
        use rand::Rng;
        let mut random = Streams::new(5).stream("x");
        for window in [1, 2, 7, 32] {
            let mut ring = ring(false, window);
            let base = random.next_u64();
            let mut taken: Vec<u64> = Vec::new();
            for at in 0..2_000 {
                let offset = at / 2 + random.next_u64() % 80;
                let number = integrity(base.wrapping_add(offset));
                if ring.judge(Time(0), PORT, FROM, &number, &mut random) == Judgement::Accept {
                    let beyond = taken.iter().filter(|&&before| before > offset).count();
                    assert!(!taken.contains(&offset) && beyond < window, "{offset}, window {window}");
                    taken.push(offset);
                }
            }
            assert!(taken.len() > 100, "window {window}: {}", taken.len());
        }
    }

    #[test]
    fn the_handshake_finds_the_first_number() {
        let mut random = Streams::new(1).stream("x");
        let mut ring = ring(true, 1);
        let Judgement::Reject(Malformed::Unsynchronised, Some(challenge)) =
            ring.judge(Time(0), PORT, FROM, &integrity(5), &mut random)
        else {
            panic!("a challenge")
        };
        // Not again at once, then with the same cookie.
        assert_eq!(
            ring.judge(Time(1), PORT, FROM, &integrity(6), &mut random),
            Judgement::Reject(Malformed::Unsynchronised, None)
        );
        let later = Time::ZERO + CHALLENGE_FIRST;
        assert_eq!(
            ring.judge(later, PORT, FROM, &integrity(7), &mut random),
            Judgement::Reject(Malformed::Unsynchronised, Some(challenge.clone()))
        );
        let wrong = Challenge { cookie: vec![0; 16], ..challenge.clone() };
        let refused = Judgement::Reject(Malformed::Cookie, None);
        assert_eq!(ring.respond(PORT, FROM, &integrity(8), &wrong), refused);
        assert_eq!(ring.respond(PORT, FROM, &integrity(8), &challenge), Judgement::Accept);
        assert_eq!(ring.respond(PORT, FROM, &integrity(3), &challenge), refused, "a response counts once");
        let mut judge = |sequence| ring.judge(later, PORT, FROM, &integrity(sequence), &mut random);
        assert_eq!(judge(8), Judgement::Reject(Malformed::Replay, None));
        assert_eq!(judge(9), Judgement::Accept);
    }
}
