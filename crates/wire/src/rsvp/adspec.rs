//! The ADSPEC object: what the path has to offer, composed hop by hop (RFC 2210, 3.3).

use super::text;
use serde::{Deserialize, Serialize};

/// ADSPEC (RFC 2210, 3.3.1).
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | 0 (a) |      reserved         |  Msg length - 1 (b)           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Default General Parameters fragment (Service 1)            |
/// |    Guaranteed Service Fragment (Service 2), if present        |
/// |    Controlled-Load Service Fragment (Service 5), if present   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adspec {
    /// Default general parameters (service 1); always there.
    pub general: General,
    /// Guaranteed service (service 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<GuaranteedFragment>,
    /// Controlled-load service (service 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controlled_load: Option<ControlledLoadFragment>,
    /// Fragments of other services, or with parameters that are not known here, kept as they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<AdspecFragment>,
}

/// Default general parameters (RFC 2210, 3.3.2; RFC 2215).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct General {
    /// A hop on the path does not do integrated services.
    pub break_bit: bool,
    /// Hops that do integrated services (parameter 4).
    pub hops: u32,
    /// Path bandwidth estimate, bytes per second (parameter 6).
    #[serde(with = "text::float")]
    pub bandwidth: f32,
    /// Minimum path latency, microseconds; all ones is unknown (parameter 8).
    pub latency_us: u32,
    /// Composed path MTU, bytes (parameter 10).
    pub mtu: u32,
}

/// Guaranteed service fragment (RFC 2210, 3.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuaranteedFragment {
    /// A hop on the path does not do the guaranteed service.
    pub break_bit: bool,
    /// End-to-end composed C, bytes (parameter 133).
    pub c_tot: u32,
    /// End-to-end composed D, microseconds (parameter 134).
    pub d_tot: u32,
    /// C since the last reshaping point, bytes (parameter 135).
    pub c_sum: u32,
    /// D since the last reshaping point, microseconds (parameter 136).
    pub d_sum: u32,
    /// General parameters that differ for this service.
    #[serde(default)]
    pub overrides: Overrides,
}

/// Controlled-load service fragment (RFC 2210, 3.3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlledLoadFragment {
    /// A hop on the path does not do the controlled-load service.
    pub break_bit: bool,
    /// General parameters that differ for this service.
    #[serde(default)]
    pub overrides: Overrides,
}

/// Service-specific values of general parameters (RFC 2210, 3.3.3 and 3.3.4), in this order on the wire.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// Parameter 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Parameter 6, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::maybe_float")]
    pub bandwidth: Option<f32>,
    /// Parameter 8, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u32>,
    /// Parameter 10, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

/// A fragment that is carried, not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdspecFragment {
    /// Service number.
    pub service: u8,
    /// A hop on the path does not do this service.
    pub break_bit: bool,
    /// Parameters, whole words.
    #[serde(with = "text::hex")]
    pub data: Vec<u8>,
}

impl PartialEq for General {
    fn eq(&self, other: &General) -> bool {
        let bits = |g: &General| (g.break_bit, g.hops, g.bandwidth.to_bits(), g.latency_us, g.mtu);
        bits(self) == bits(other)
    }
}
impl Eq for General {}

impl PartialEq for Overrides {
    fn eq(&self, other: &Overrides) -> bool {
        let bits = |o: &Overrides| (o.hops, o.bandwidth.map(f32::to_bits), o.latency_us, o.mtu);
        bits(self) == bits(other)
    }
}
impl Eq for Overrides {}
