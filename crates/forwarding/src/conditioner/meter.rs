//! Meters: which colour a packet has.
//!
//! A meter is exact at every packet, however long it runs (see `crate::tokens`). Its tokens come as a fluid: where the
//! RFCs speak of buckets that are "incremented by one CIR times per second", a fraction of a token counts as that
//! fraction.

use super::spec::MeterSpec;
use crate::tokens::Tokens;
use base::diagnostic::Diagnostic;
use base::{Phb, Rate, Time};

/// What a meter says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    /// Within the committed profile.
    Green,
    /// Beyond it, but within the excess or peak profile.
    Yellow,
    /// Beyond the excess or peak profile, too.
    Red,
}

impl Colour {
    /// All, the best first.
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// The colour that a packet has by its PHB: drop precedence 2 is yellow, 3 is red (RFC 2697, 1 and RFC 2698, 1).
    pub const fn of(phb: Phb) -> Colour {
        match phb.drop_precedence() {
            2 => Colour::Yellow,
            3 => Colour::Red,
            _ => Colour::Green,
        }
    }
    /// The word for it in tables and descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Yellow => "yellow",
            Colour::Red => "red",
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    TokenBucket { bucket: Tokens, peak: Option<Tokens> },
    SingleRate { committed: Tokens, excess: Tokens, aware: bool },
    TwoRate { committed: Tokens, peak: Tokens, aware: bool },
}

/// A meter. Buckets are full at time zero.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    kind: Kind,
    /// Up to when tokens have come.
    filled: Time,
}

/// Bytes of the bucket for the peak rate where none are given: any packet of an Ethernet with usual frames.
const PEAK_BYTES: u64 = 2047;

impl Meter {
    /// Builds what a user described, or says what is wrong with it.
    pub fn new(spec: &MeterSpec) -> Result<Meter, Diagnostic> {
        spec.check()?;
        let kind = match *spec {
            MeterSpec::TokenBucket(spec) => {
                let peak =
                    spec.peakrate.map(|rate| Tokens::full(rate, spec.mtu.map_or(PEAK_BYTES, |mtu| mtu.0)));
                Kind::TokenBucket { bucket: Tokens::full(spec.rate, spec.burst.0), peak }
            }
            MeterSpec::SingleRate(spec) => {
                let committed = Tokens::full(spec.cir, spec.cbs.0);
                Kind::SingleRate { committed, excess: Tokens::full(Rate(0), spec.ebs.0), aware: spec.aware }
            }
            MeterSpec::TwoRate(spec) => {
                let committed = Tokens::full(spec.cir, spec.cbs.0);
                Kind::TwoRate { committed, peak: Tokens::full(spec.pir, spec.pbs.0), aware: spec.aware }
            }
        };
        Ok(Meter { kind, filled: Time(0) })
    }

    /// The colours that it may say.
    pub fn colours(&self) -> &'static [Colour] {
        match self.kind {
            Kind::TokenBucket { .. } => &[Colour::Green, Colour::Red],
            _ => &Colour::ALL,
        }
    }

    /// The colour of a packet that comes at `now`, counts for `bytes` and has colour `input`. `now` never goes back.
    #[inline]
    pub fn colour(&mut self, now: Time, bytes: u32, input: Colour) -> Colour {
        let span = now.0.saturating_sub(self.filled.0);
        self.filled = self.filled.max(now);
        match &mut self.kind {
            Kind::TokenBucket { bucket, peak } => {
                bucket.fill(span);
                if let Some(peak) = peak {
                    peak.fill(span);
                    if !peak.hold(bytes) {
                        return Colour::Red;
                    }
                }
                if !bucket.hold(bytes) {
                    return Colour::Red;
                }
                bucket.take(bytes);
                if let Some(peak) = peak {
                    peak.take(bytes);
                }
                Colour::Green
            }
            // RFC 2697, 3.
            Kind::SingleRate { committed, excess, aware } => {
                let beyond = committed.fill(span);
                excess.add(beyond);
                let input = if *aware { input } else { Colour::Green };
                if input == Colour::Green && committed.hold(bytes) {
                    committed.take(bytes);
                    Colour::Green
                } else if input != Colour::Red && excess.hold(bytes) {
                    excess.take(bytes);
                    Colour::Yellow
                } else {
                    Colour::Red
                }
            }
            // RFC 2698, 3.
            Kind::TwoRate { committed, peak, aware } => {
                committed.fill(span);
                peak.fill(span);
                let input = if *aware { input } else { Colour::Green };
                if input == Colour::Red || !peak.hold(bytes) {
                    return Colour::Red;
                }
                peak.take(bytes);
                if input == Colour::Yellow || !committed.hold(bytes) {
                    return Colour::Yellow;
                }
                committed.take(bytes);
                Colour::Green
            }
        }
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
