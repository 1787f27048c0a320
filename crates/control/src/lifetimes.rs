//! Lifetimes of keys: from when on packets are made with a key, and from when on they are taken, until when. Protocols
//! that go over from one key to the next without losing a neighbour have several (RFC 2328, D.3).

use base::Time;

/// The four times of a key (RFC 2328, D.3). Each end is the first moment that no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// KeyStartAccept: from then on packets with the key are taken.
    pub start_accept: Time,
    /// KeyStartGenerate: from then on packets are made with it.
    pub start_generate: Time,
    /// KeyStopGenerate; [`Time::MAX`] for never.
    pub stop_generate: Time,
    /// KeyStopAccept; [`Time::MAX`] for never.
    pub stop_accept: Time,
}

impl Lifetime {
    /// That of a key which is always good.
    pub const ALWAYS: Lifetime = Lifetime {
        start_accept: Time::ZERO,
        start_generate: Time::ZERO,
        stop_generate: Time::MAX,
        stop_accept: Time::MAX,
    };

    fn is_generated(&self, now: Time) -> bool {
        self.start_generate <= now && now < self.stop_generate
    }

    /// Are packets with the key taken?
    pub fn is_accepted(&self, now: Time) -> bool {
        self.start_accept <= now && now < self.stop_accept
    }

    fn moments(&self) -> [Time; 4] {
        [self.start_accept, self.start_generate, self.stop_generate, self.stop_accept]
    }
}

/// The place of the key that packets are made with: of those that are good for it the one that began last (RFC 2328,
/// D.4.3), and of several that began together the last of the list. None if none is good.
pub fn generating(lives: impl Iterator<Item = Lifetime>, now: Time) -> Option<usize> {
    let good = lives.enumerate().filter(|(_, life)| life.is_generated(now));
    good.max_by_key(|(place, life)| (life.start_generate, *place)).map(|(place, _)| place)
}

/// Makes the key that would be the last one good for ever, as RFC 2328, D.3 has it: it is unacceptable to go on
/// without a key, and not advisable to disrupt routing. The result is when it would have ended; nothing if one of them
/// does not end.
pub fn keep_last<'a>(lives: impl Iterator<Item = &'a mut Lifetime>) -> Option<Time> {
    let last = lives.max_by_key(|life| (life.stop_generate, life.start_generate))?;
    let end = last.stop_generate;
    (last.stop_generate, last.stop_accept) = (Time::MAX, Time::MAX);
    (end < Time::MAX).then_some(end)
}

/// The first moment from the beginning at which no key is good to make packets with, although one will be again, or
/// which is the beginning.
pub fn first_gap(lives: &[Lifetime]) -> Option<Time> {
    let ends = lives.iter().map(|life| life.stop_generate);
    let moments = core::iter::once(Time::ZERO).chain(ends.filter(|end| *end < Time::MAX));
    let is_open = |at: &Time| generating(lives.iter().copied(), *at).is_none();
    let is_followed = |at: &Time| lives.iter().any(|life| life.start_generate > *at);
    moments.filter(|at| is_open(at) && (*at == Time::ZERO || is_followed(at))).min()
}

/// A key as the other end of a link has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedKey {
    /// What makes digests with it, and its number, for people.
    pub name: String,
    /// What nobody else knows.
    pub secret: String,
    /// When it is good.
    pub life: Lifetime,
}

/// What is wrong with a key that one end makes packets with, at the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// From this time on it is not taken.
    pub since: Time,
    /// Which key it is.
    pub name: String,
    /// Does the other end have it, with another secret?
    pub is_secret: bool,
}

/// When first packets of one end are not taken by the other, and why.
pub fn first_untaken(sender: &[SharedKey], receiver: &[SharedKey]) -> Option<Untaken> {
    let moments = sender.iter().chain(receiver).flat_map(|key| key.life.moments());
    let mut moments: Vec<Time> =
        core::iter::once(Time::ZERO).chain(moments).filter(|at| *at < Time::MAX).collect();
    moments.sort_unstable();
    moments.dedup();
    moments.into_iter().find_map(|since| {
        let key = &sender[generating(sender.iter().map(|key| key.life), since)?];
        let mut good = receiver.iter().filter(|one| one.name == key.name && one.life.is_accepted(since));
        let is_secret = match good.next() {
            Some(same) if same.secret == key.secret => return None,
            found => found.is_some(),
        };
        Some(Untaken { since, name: key.name.clone(), is_secret })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time(seconds * base::time::PS_PER_S)
    }

    fn life(times: [u64; 4]) -> Lifetime {
        let [start_accept, start_generate, stop_generate, stop_accept] =
            times.map(|seconds| if seconds == 0 { Time::MAX } else { at(seconds - 1) });
        Lifetime { start_accept, start_generate, stop_generate, stop_accept }
    }

    fn key(name: &str, secret: &str, times: [u64; 4]) -> SharedKey {
        SharedKey { name: name.into(), secret: secret.into(), life: life(times) }
    }

    #[test]
    fn the_key_that_began_last_makes_packets() {
        let lives = [life([1, 1, 31, 41]), life([11, 21, 0, 0]), life([11, 21, 0, 0])];
        let made = |seconds| generating(lives.iter().copied(), at(seconds));
        assert_eq!((made(0), made(19), made(20), made(40)), (Some(0), Some(0), Some(2), Some(2)));
        assert_eq!(generating(lives[..1].iter().copied(), at(30)), None, "the end does not count");
        assert!(
            lives[0].is_accepted(at(39)) && !lives[0].is_accepted(at(40)) && !lives[1].is_accepted(at(9))
        );
    }

    #[test]
    fn the_last_key_does_not_end() {
        let mut lives = [life([1, 1, 31, 41]), life([11, 21, 51, 61])];
        assert_eq!(keep_last(lives.iter_mut()), Some(at(50)));
        assert_eq!(lives, [life([1, 1, 31, 41]), life([11, 21, 0, 0])]);
        assert_eq!(keep_last(lives.iter_mut()), None);
        assert_eq!(keep_last(core::iter::empty()), None);
    }

    #[test]
    fn gaps_are_found() {
        assert_eq!(first_gap(&[life([1, 1, 31, 41]), life([11, 31, 0, 0])]), None);
        assert_eq!(first_gap(&[life([1, 1, 31, 41]), life([11, 32, 0, 0])]), Some(at(30)));
        assert_eq!(first_gap(&[life([1, 2, 31, 41])]), Some(at(0)));
        assert_eq!(first_gap(&[life([1, 1, 31, 41])]), None, "it is the last");
    }

    #[test]
    fn packets_are_taken_as_long_as_the_other_end_has_the_key() {
        let early = [key("1", "a", [1, 1, 31, 41]), key("2", "b", [21, 31, 0, 0])];
        let late = [key("1", "a", [1, 1, 36, 46]), key("2", "b", [26, 36, 0, 0])];
        assert_eq!(first_untaken(&early, &late), None);
        assert_eq!(first_untaken(&late, &early), None);
        let too_late = [key("1", "a", [1, 1, 51, 61]), key("2", "b", [41, 51, 0, 0])];
        let untaken = |since, name: &str, is_secret| {
            Some(Untaken { since: at(since), name: name.to_string(), is_secret })
        };
        assert_eq!(first_untaken(&early, &too_late), untaken(30, "2", false));
        assert_eq!(first_untaken(&too_late, &early), untaken(40, "1", false));
        let other = [key("1", "a", [1, 1, 31, 41]), key("2", "c", [21, 31, 0, 0])];
        assert_eq!(first_untaken(&early, &other), untaken(30, "2", true));
        assert_eq!(first_untaken(&early, &[]), untaken(0, "1", false));
    }
}
