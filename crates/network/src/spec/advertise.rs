//! What routers say of themselves on a link, as users write it (RFC 4861, 6.2.1).

use super::problem::NetworkProblem;
use base::Span;
use base::diagnostic::Diagnostic;
use base::time::PS_PER_S;
use node::Advertise;

/// A third, as the default of MinRtrAdvInterval has it: 0.33 of the longest.
const LEAST: i64 = 33;
/// Below so long an interval the least one is the longest one.
const SHORT: Span = Span::from_secs(9);
const PS_PER_MS: u64 = PS_PER_S / 1_000;

base::record! {
    /// Router advertisements on a link: hosts make addresses of its IPv6 prefix, and send by the router what is for
    /// elsewhere.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AdvertiseSpec {
        /// Longest time between two that no host has asked for.
        pub interval: Span = Span::from_secs(600), in 4_000_000_000_000..=1_800_000_000_000_000;
        /// Least time between two of them.
        pub interval_min: Option<Span>, in 3_000_000_000_000..=1_350_000_000_000_000, absent "0.33 of the longest; the longest, if that is less than 9 s";
        /// For how long hosts may send by the router; 0: not at all.
        pub lifetime: Option<Span>, in 0..=9_000_000_000_000_000, absent "three times the longest time";
        /// Hop limit for hosts to send with; 0: it says nothing of that.
        pub hop_limit: u8 = 64;
        /// Say that addresses are to be had by DHCPv6.
        pub managed: bool = false;
        /// Say that other settings are to be had by DHCPv6.
        pub other: bool = false;
        /// For how long a neighbour that was confirmed is reachable, in whole milliseconds; 0: it says nothing of that.
        pub reachable: Span = Span::ZERO, in 0..=3_600_000_000_000_000;
        /// Time between solicitations, in whole milliseconds; 0: it says nothing of that.
        pub retransmit: Span = Span::ZERO, in 0..=3_600_000_000_000_000;
        /// Say which MTU the link has.
        pub mtu: bool = false;
        /// Let hosts make addresses of the prefix.
        pub autonomous: bool = true;
        /// For how long the prefix is on the link, in whole seconds.
        pub valid: Span = Span::from_secs(2_592_000), in 0..=9_000_000_000_000_000_000;
        /// For how long hosts prefer addresses that they made of it, in whole seconds.
        pub preferred: Span = Span::from_secs(604_800), in 0..=9_000_000_000_000_000_000;
    }
}

impl AdvertiseSpec {
    /// As a router is told. Paths begin here.
    pub fn lowered(&self) -> Result<Advertise, Diagnostic> {
        let on = |key: &str, problem: NetworkProblem| Err(Diagnostic::new(problem).at(key).on_key());
        let s = |span: Span| span.0.unsigned_abs() / PS_PER_S;
        let text = |span: Span| format!("{} s", span.0 as f64 / PS_PER_S as f64);
        let ms = |span: Span| (span.0.unsigned_abs() / PS_PER_MS) as u32;
        let third = Span(self.interval.0 / 100 * LEAST);
        let unsaid = if self.interval < SHORT { self.interval } else { third };
        let least = self.interval_min.unwrap_or(unsaid);
        // RFC 4861, 6.2.1: "no greater than .75 * MaxRtrAdvInterval".
        if self.interval_min.is_some_and(|least| least.0 > self.interval.0 / 4 * 3) {
            let (least, most) = (text(least), text(self.interval));
            return on("interval_min", NetworkProblem::AdvertisedTooRarely { least, most });
        }
        let lifetime = self.lifetime.unwrap_or(Span(self.interval.0 * 3).min(Span::from_secs(9_000)));
        if lifetime > Span::ZERO && lifetime < self.interval {
            let (lifetime, interval) = (text(lifetime), text(self.interval));
            return on("lifetime", NetworkProblem::AdvertisedTooShort { lifetime, interval });
        }
        if self.preferred > self.valid {
            return on("preferred", NetworkProblem::PreferredTooLong {});
        }
        Ok(Advertise {
            interval: [least, self.interval],
            lifetime_s: s(lifetime) as u16,
            hop_limit: self.hop_limit,
            managed: self.managed,
            other: self.other,
            reachable_ms: ms(self.reachable),
            retransmit_ms: ms(self.retransmit),
            mtu: self.mtu,
            autonomous: self.autonomous,
            valid_s: s(self.valid) as u32,
            preferred_s: s(self.preferred) as u32,
        })
    }
}
