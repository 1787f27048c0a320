//! Traffic as IntServ describes it: SENDER_TSPEC and FLOWSPEC (RFC 2210, 3.1 and 3.2).

use super::class::{FLOWSPEC, SENDER_TSPEC};
use super::error::{Fault, Reason};
use super::field::{Get, Put};
use super::text;
use serde::{Deserialize, Serialize};

/// A token bucket with a peak rate (RFC 2215, 3.6), parameter 127.
///
/// Floats are compared by their bits, so that what was received is what is forwarded.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Token bucket rate r, bytes per second.
    #[serde(with = "text::float")]
    pub rate: f32,
    /// Token bucket size b, bytes.
    #[serde(with = "text::float")]
    pub bucket: f32,
    /// Peak data rate p, bytes per second; may be infinite.
    #[serde(with = "text::float")]
    pub peak: f32,
    /// Minimum policed unit m, bytes.
    pub min_unit: u32,
    /// Maximum packet size M, bytes.
    pub max_packet: u32,
}

impl TokenBucket {
    /// A constant rate: r = p = `rate` bytes per second, b = one second's worth, m = 0, M = `max_packet`.
    pub fn constant(rate: f32, max_packet: u32) -> TokenBucket {
        TokenBucket { rate, bucket: rate, peak: rate, min_unit: 0, max_packet }
    }

    /// Every number is one that RFC 2215, 3.6 allows: none negative or not a number, r finite, m no more than M.
    pub fn is_sound(&self) -> bool {
        self.rate >= 0.0
            && self.rate.is_finite()
            && self.bucket >= 0.0
            && self.peak >= 0.0
            && self.min_unit <= self.max_packet
    }
}

impl PartialEq for TokenBucket {
    fn eq(&self, other: &TokenBucket) -> bool {
        let bits = |t: &TokenBucket| {
            (t.rate.to_bits(), t.bucket.to_bits(), t.peak.to_bits(), t.min_unit, t.max_packet)
        };
        bits(self) == bits(other)
    }
}
impl Eq for TokenBucket {}

/// SENDER_TSPEC: the traffic that a sender generates (RFC 2210, 3.1), service 1.
///
/// ```text
///       31           24 23           16 15            8 7             0
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///  1   | 0 (a) |    reserved           |             7 (b)             |
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///  2   |    1  (c)     |0| reserved    |             6 (d)             |
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///  3   |   127 (e)     |    0 (f)      |             5 (g)             |
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///  4   |  Token Bucket Rate [r] (32-bit IEEE floating point number)    |
///  5   |  Token Bucket Size [b] (32-bit IEEE floating point number)    |
///  6   |  Peak Data Rate [p] (32-bit IEEE floating point number)       |
///  7   |  Minimum Policed Unit [m] (32-bit integer)                    |
///  8   |  Maximum Packet Size [M]  (32-bit integer)                    |
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SenderTspec(pub TokenBucket);

/// FLOWSPEC: the service that a receiver asks for (RFC 2210, 3.2).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Flowspec {
    /// Controlled load: service as on an unloaded network. Service 5 (RFC 2211).
    #[serde(rename = "Controlled-Load")]
    ControlledLoad(TokenBucket),
    /// Guaranteed: a bound on the queueing delay. Service 2 (RFC 2212).
    Guaranteed {
        /// The traffic that the reservation is for.
        bucket: TokenBucket,
        /// Rate R, bytes per second (parameter 130).
        #[serde(with = "text::float")]
        rate: f32,
        /// Slack term S: delay that the reservation can spare, in microseconds.
        slack_us: u32,
    },
}

impl Flowspec {
    /// The traffic of either service.
    pub const fn bucket(&self) -> &TokenBucket {
        match self {
            Flowspec::ControlledLoad(bucket) | Flowspec::Guaranteed { bucket, .. } => bucket,
        }
    }

    /// Bytes per second to be set aside: r, or R where the service is guaranteed.
    pub const fn rate(&self) -> f32 {
        match self {
            Flowspec::ControlledLoad(bucket) => bucket.rate,
            Flowspec::Guaranteed { rate, .. } => *rate,
        }
    }
}

impl PartialEq for Flowspec {
    fn eq(&self, other: &Flowspec) -> bool {
        match (self, other) {
            (Flowspec::ControlledLoad(a), Flowspec::ControlledLoad(b)) => a == b,
            (
                Flowspec::Guaranteed { bucket: a, rate: ra, slack_us: sa },
                Flowspec::Guaranteed { bucket: b, rate: rb, slack_us: sb },
            ) => a == b && ra.to_bits() == rb.to_bits() && sa == sb,
            _ => false,
        }
    }
}
impl Eq for Flowspec {}

/// Services (RFC 2210, 3; RFC 2211; RFC 2212).
const GENERAL: u8 = 1;
const GUARANTEED: u8 = 2;
const CONTROLLED_LOAD: u8 = 5;
/// Parameters (RFC 2212, 5; RFC 2215, 3.6).
const TOKEN_BUCKET: u8 = 127;
const RSPEC: u8 = 130;

impl TokenBucket {
    #[inline]
    fn parse(get: &mut Get<'_>) -> TokenBucket {
        TokenBucket {
            rate: get.f32(),
            bucket: get.f32(),
            peak: get.f32(),
            min_unit: get.u32(),
            max_packet: get.u32(),
        }
    }

    /// Message header, service header, parameter header and the bucket itself.
    #[inline]
    fn emit(&self, service: u8, words: u8, out: &mut impl Put) {
        out.bytes(&[0, 0, 0, words, service, 0, 0, words - 1, TOKEN_BUCKET, 0, 0, 5]);
        out.f32(self.rate);
        out.f32(self.bucket);
        out.f32(self.peak);
        out.u32(self.min_unit);
        out.u32(self.max_packet);
    }
}

/// The service of a FLOWSPEC or SENDER_TSPEC, and a reader at its token bucket.
#[inline]
fn open(c_type: u8, body: &[u8]) -> Result<(u8, Get<'_>), Fault> {
    if c_type != 2 {
        return Err(Fault::UNKNOWN_C_TYPE);
    }
    let mut get = Get::at_least(body, 12)?;
    let (version, words) = (get.u16() >> 12, usize::from(get.u16()));
    if version != 0 {
        return Err(Fault::invalid(0, "the version of the IntServ message is not 0"));
    }
    if words * 4 + 4 != body.len() {
        return Err(Fault::invalid(2, "the length of the IntServ message is not that of the object"));
    }
    let service = get.u8();
    if !matches!(service, GENERAL | GUARANTEED | CONTROLLED_LOAD) {
        return Err(Fault { at: 4, reason: Reason::Service(service) });
    }
    get.u8();
    if usize::from(get.u16()) + 1 != words {
        return Err(Fault::invalid(6, "the length of the service data is not that of the message"));
    }
    let [parameter, _, high, low] = get.take();
    if [parameter, high, low] != [TOKEN_BUCKET, 0, 5] {
        return Err(Fault::invalid(8, "the first parameter is not a token bucket"));
    }
    Ok((service, get))
}

impl SenderTspec {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<SenderTspec, Fault> {
        let (service, mut get) = open(c_type, body)?;
        if service != GENERAL {
            return Err(Fault { at: 4, reason: Reason::Service(service) });
        }
        Get::exact(body, 32)?;
        Ok(SenderTspec(TokenBucket::parse(&mut get)))
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(SENDER_TSPEC, 2, 32);
        self.0.emit(GENERAL, 7, out);
    }
}

impl Flowspec {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Flowspec, Fault> {
        let (service, mut get) = open(c_type, body)?;
        match service {
            CONTROLLED_LOAD => {
                Get::exact(body, 32)?;
                Ok(Flowspec::ControlledLoad(TokenBucket::parse(&mut get)))
            }
            GUARANTEED => {
                Get::exact(body, 44)?;
                let bucket = TokenBucket::parse(&mut get);
                let [parameter, _, high, low] = get.take();
                if parameter != RSPEC || [high, low] != [0, 2] {
                    return Err(Fault::invalid(32, "the second parameter is not an RSpec"));
                }
                Ok(Flowspec::Guaranteed { bucket, rate: get.f32(), slack_us: get.u32() })
            }
            other => Err(Fault { at: 4, reason: Reason::Service(other) }),
        }
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        match self {
            Flowspec::ControlledLoad(bucket) => {
                out.object(FLOWSPEC, 2, 32);
                bucket.emit(CONTROLLED_LOAD, 7, out);
            }
            Flowspec::Guaranteed { bucket, rate, slack_us } => {
                out.object(FLOWSPEC, 2, 44);
                bucket.emit(GUARANTEED, 10, out);
                out.bytes(&[RSPEC, 0, 0, 2]);
                out.f32(*rate);
                out.u32(*slack_us);
            }
        }
    }
}
