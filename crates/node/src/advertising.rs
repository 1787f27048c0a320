//! Router advertisements (RFC 4861, 6.2): what a router says of itself and of a link, and when it is due.

use crate::discovery::Own;
use base::plane::Prefix6;
use base::random::{Rng, Stream};
use base::{Frame, Span, Time};
use wire::nd::{self, NdOption, PrefixInformation};

/// So many advertisements of the beginning are no further apart than [`INITIAL_INTERVAL`] (RFC 4861, 10).
const INITIAL: u8 = 3;
const INITIAL_INTERVAL: Span = Span::from_secs(16);
/// A solicitation is answered within this time (RFC 4861, 10: MAX_RA_DELAY_TIME).
const DELAY_MAX: Span = Span::from_ms(500);
/// Two advertisements are no closer (RFC 4861, 10: MIN_DELAY_BETWEEN_RAS).
const APART: Span = Span::from_secs(3);

/// What a router advertises on a link: its variables of RFC 4861, 6.2.1. The prefix is that of its address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertise {
    /// The least and the longest time between advertisements that nobody has asked for.
    pub interval: [Span; 2],
    /// Seconds for which it is a default router; zero: it is none.
    pub lifetime_s: u16,
    /// Hop limit for hosts to send with; zero says nothing of it.
    pub hop_limit: u8,
    /// Are addresses to be had by DHCPv6?
    pub managed: bool,
    /// Is other configuration to be had by DHCPv6?
    pub other: bool,
    /// Milliseconds for which a neighbour is reachable after it was confirmed; zero says nothing of it.
    pub reachable_ms: u32,
    /// Milliseconds between solicitations; zero says nothing of it.
    pub retransmit_ms: u32,
    /// Does it say the MTU of the link?
    pub mtu: bool,
    /// May hosts make addresses of the prefix?
    pub autonomous: bool,
    /// Seconds for which the prefix is on the link; all bits set is for ever.
    pub valid_s: u32,
    /// Seconds for which addresses made of it are preferred; all bits set is for ever.
    pub preferred_s: u32,
}

impl Advertise {
    /// The advertisement of an interface with a prefix, whose link takes packets of `mtu` bytes: to all nodes of the
    /// link (RFC 4861, 6.2.3).
    pub(crate) fn frame(&self, own: &Own, prefix: Prefix6, mtu: u32) -> Frame {
        let mut options = Vec::new();
        NdOption::SourceLinkLayer(own.mac).append_to(&mut options);
        if self.mtu {
            NdOption::Mtu(mtu).append_to(&mut options);
        }
        let information = PrefixInformation {
            len: prefix.len(),
            on_link: true,
            autonomous: self.autonomous,
            valid_s: self.valid_s,
            preferred_s: self.preferred_s,
            prefix: prefix.address(),
        };
        NdOption::Prefix(information).append_to(&mut options);
        let message = nd::Repr::RouterAdvertisement {
            hop_limit: self.hop_limit,
            managed: self.managed,
            other: self.other,
            lifetime_s: self.lifetime_s,
            reachable_ms: self.reachable_ms,
            retransmit_ms: self.retransmit_ms,
            options: nd::Options::of(&options).unwrap_or_default(),
        };
        own.frame(nd::group_mac(nd::ALL_NODES), own.link_local(), nd::ALL_NODES, message)
    }
}

/// When the advertisements of a port are due (RFC 4861, 6.2.4 and 6.2.6).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advertiser {
    /// The next one.
    next: Time,
    /// The one before.
    last: Option<Time>,
    /// How many more are of the beginning.
    initial: u8,
}

impl Advertiser {
    /// Begins to advertise.
    pub(crate) fn new(now: Time, settings: &Advertise, random: &mut Stream) -> Advertiser {
        let mut advertiser = Advertiser { next: now, last: None, initial: INITIAL };
        advertiser.schedule(now, settings, random);
        advertiser
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The one that is due is sent.
    pub(crate) fn sent(&mut self, now: Time, settings: &Advertise, random: &mut Stream) {
        self.last = Some(now);
        self.initial = self.initial.saturating_sub(1);
        self.schedule(now, settings, random);
    }

    /// Somebody asks for one.
    pub(crate) fn solicited(&mut self, now: Time, random: &mut Stream) {
        let delay = draw(random, [Span::ZERO, DELAY_MAX]);
        let recent = self.last.map(|last| last + APART).filter(|at| *at > now);
        self.next = self.next.min(recent.unwrap_or(now) + delay);
    }

    fn schedule(&mut self, now: Time, settings: &Advertise, random: &mut Stream) {
        let interval = draw(random, settings.interval);
        self.next = now + if self.initial > 0 { interval.min(INITIAL_INTERVAL) } else { interval };
    }
}

/// A time between two, drawn uniformly.
fn draw(random: &mut Stream, [least, most]: [Span; 2]) -> Span {
    let wide = (most.0 - least.0).max(0) as u128 + 1;
    Span(least.0 + ((u128::from(random.next_u64()) * wide) >> 64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;

    const USUAL: Advertise = Advertise {
        interval: [Span::from_secs(198), Span::from_secs(600)],
        lifetime_s: 1_800,
        hop_limit: 64,
        managed: false,
        other: false,
        reachable_ms: 0,
        retransmit_ms: 0,
        mtu: true,
        autonomous: true,
        valid_s: 2_592_000,
        preferred_s: 604_800,
    };

    #[test]
    fn intervals_are_short_at_first_and_random_then() {
        let mut random = Streams::new(1).stream("r");
        let mut advertiser = Advertiser::new(Time::ZERO, &USUAL, &mut random);
        let mut gaps = Vec::new();
        let mut before = Time::ZERO;
        for _ in 0..200 {
            let at = advertiser.next();
            gaps.push((at - before).0 / 1_000_000_000_000);
            before = at;
            advertiser.sent(at, &USUAL, &mut random);
        }
        assert_eq!(gaps[..3], [16, 16, 16]);
        assert!(gaps[3..].iter().all(|gap| (198..=600).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|gap| (198..250).contains(gap)) && gaps.iter().any(|gap| *gap > 550));
    }

    #[test]
    fn solicitations_are_answered_soon_and_not_too_often() {
        let mut random = Streams::new(2).stream("r");
        let mut advertiser = Advertiser::new(Time::ZERO, &USUAL, &mut random);
        let mut answered = Vec::new();
        // Somebody asks every 100 ms.
        for tick in 0..200 {
            let now = Time::ZERO + Span::from_ms(100 * tick);
            if advertiser.next() <= now {
                answered.push(advertiser.next());
                advertiser.sent(advertiser.next(), &USUAL, &mut random);
            }
            advertiser.solicited(now, &mut random);
        }
        assert!(answered[0] <= Time::ZERO + DELAY_MAX, "{answered:?}");
        for pair in answered.windows(2) {
            let gap = pair[1] - pair[0];
            assert!(gap >= APART && gap <= APART + DELAY_MAX, "{answered:?}");
        }
        // One that is due anyway comes at its time.
        let due = advertiser.next();
        advertiser.solicited(due, &mut random);
        assert!(advertiser.next() <= due);
    }

    #[test]
    fn an_advertisement_says_what_it_should() {
        use wire::{icmpv6, ipv6};
        let own = Own {
            mac: base::MacAddr([2, 0, 0, 0, 0, 1]),
            address: "2001:db8:1::1".parse().expect("an address"),
            router: true,
        };
        let bytes = USUAL.frame(&own, Prefix6::new(own.address, 64), 1500).to_vec();
        assert_eq!(bytes[..6], [0x33, 0x33, 0, 0, 0, 1]);
        let packet = ipv6::Packet::new_checked(&bytes[14..]).expect("a packet");
        let ip = ipv6::Repr::parse(&packet).expect("a header");
        let message = icmpv6::Packet::new_checked(packet.payload()).expect("a message");
        let icmpv6::Repr::Discovery(message) = icmpv6::Repr::parse(&message, ip.src, ip.dst).expect("right")
        else {
            panic!("discovery")
        };
        message.check(&ip).expect("believable");
        let options: Vec<_> = message.options().iter().collect();
        assert_eq!(options[..2], [NdOption::SourceLinkLayer(own.mac), NdOption::Mtu(1500)]);
        let NdOption::Prefix(prefix) = options[2] else { panic!("{options:?}") };
        assert_eq!(
            (prefix.len, prefix.on_link, prefix.autonomous, prefix.valid_s),
            (64, true, true, 2_592_000)
        );
        assert_eq!(prefix.prefix, Prefix6::new(own.address, 64).address());
        assert!(matches!(message, nd::Repr::RouterAdvertisement { lifetime_s: 1_800, hop_limit: 64, .. }));
    }
}
