//! Traffic as IntServ describes it: SENDER_TSPEC and FLOWSPEC (RFC 2210, 3.1 and 3.2).

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
    /// Service 5 (RFC 2211).
    #[serde(rename = "Controlled-Load")]
    ControlledLoad(TokenBucket),
    /// Service 2 (RFC 2212).
    Guaranteed {
        /// The traffic.
        bucket: TokenBucket,
        /// Rate R, bytes per second (parameter 130).
        #[serde(with = "text::float")]
        rate: f32,
        /// Slack term S, microseconds.
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
