//! The ADSPEC object: what the path has to offer, composed hop by hop (RFC 2210, 3.3).

use super::class::ADSPEC;
use super::error::Fault;
use super::field::{Get, Put};
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
    /// Flags of the four parameters in this order; 0x80 says that a hop could not compose the value (RFC 2216).
    #[serde(default, skip_serializing_if = "no_flags")]
    pub parameter_flags: [u8; 4],
}

fn no_flags(flags: &[u8; 4]) -> bool {
    *flags == [0; 4]
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
    /// Parameter 4: hops of the path that do integrated services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Parameter 6, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::maybe_float")]
    pub bandwidth: Option<f32>,
    /// Parameter 8: least latency of the path, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u32>,
    /// Parameter 10: path MTU, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

/// A fragment that is carried, not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdspecFragment {
    /// Number of the service; 2 and 5 if the fragment can't be read as theirs, or comes a second time.
    pub service: u8,
    /// A hop on the path does not do this service.
    pub break_bit: bool,
    /// The fragment's parameters in bytes: a multiple of four.
    #[serde(with = "text::hex")]
    pub data: Vec<u8>,
}

impl PartialEq for General {
    fn eq(&self, other: &General) -> bool {
        let bits = |g: &General| {
            (g.break_bit, g.hops, g.bandwidth.to_bits(), g.latency_us, g.mtu, g.parameter_flags)
        };
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

/// Service numbers of the fragments (RFC 2210, 3.3).
const GENERAL: u8 = 1;
const GUARANTEED: u8 = 2;
const CONTROLLED_LOAD: u8 = 5;
/// The break bit, where the service header has it.
const BREAK: u8 = 0x80;

impl Adspec {
    /// The longest packet that controlled load takes along the way, in bytes: its own value, or else the general one
    /// (RFC 2210, 2.3.2 and 3.3.5).
    pub fn path_mtu(&self) -> u32 {
        let own = self.controlled_load.and_then(|fragment| fragment.overrides.mtu);
        own.unwrap_or(self.general.mtu)
    }

    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Adspec, Fault> {
        if c_type != 2 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::at_least(body, 8)?;
        if get.u16() >> 12 != 0 {
            return Err(Fault::invalid(0, "the version of the IntServ message is not 0"));
        }
        if usize::from(get.u16()) * 4 + 4 != body.len() {
            return Err(Fault::invalid(2, "the length of the IntServ message is not that of the object"));
        }
        let first = fragment(get.0, 4)?;
        let mut rest = first.rest;
        let general = match first.service {
            GENERAL => General::parse(first.break_bit, first.data),
            _ => None,
        };
        // RFC 2210, 3.3.1: the default general parameters come first.
        let general = general.ok_or(Fault::invalid(4, "no default general parameters"))?;
        let mut adspec = Adspec { general, guaranteed: None, controlled_load: None, others: Vec::new() };
        while !rest.is_empty() {
            let next = fragment(rest, body.len() - rest.len())?;
            rest = next.rest;
            adspec.take(&next);
        }
        Ok(adspec)
    }

    fn take(&mut self, fragment: &Fragment<'_>) {
        let &Fragment { service, break_bit, data, .. } = fragment;
        if service == GUARANTEED && self.guaranteed.is_none() {
            self.guaranteed = GuaranteedFragment::parse(break_bit, data);
            if self.guaranteed.is_some() {
                return;
            }
        }
        if service == CONTROLLED_LOAD && self.controlled_load.is_none() {
            let overrides = Overrides::parse(data);
            self.controlled_load = overrides.map(|overrides| ControlledLoadFragment { break_bit, overrides });
            if self.controlled_load.is_some() {
                return;
            }
        }
        self.others.push(AdspecFragment { service, break_bit, data: data.to_vec() });
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let at = out.begin(ADSPEC, 2);
        out.u32(0);
        let g = &self.general;
        header(GENERAL, g.break_bit, 8, out);
        let values = [(4, g.hops), (6, g.bandwidth.to_bits()), (8, g.latency_us), (10, g.mtu)];
        for ((id, value), flags) in values.into_iter().zip(g.parameter_flags) {
            parameter(id, flags, value, out);
        }
        if let Some(g) = &self.guaranteed {
            header(GUARANTEED, g.break_bit, 8 + g.overrides.words(), out);
            parameter(133, 0, g.c_tot, out);
            parameter(134, 0, g.d_tot, out);
            parameter(135, 0, g.c_sum, out);
            parameter(136, 0, g.d_sum, out);
            g.overrides.emit(out);
        }
        if let Some(c) = &self.controlled_load {
            header(CONTROLLED_LOAD, c.break_bit, c.overrides.words(), out);
            c.overrides.emit(out);
        }
        for other in &self.others {
            let words = u16::try_from(other.data.len().div_ceil(4)).map_err(|_| Fault::TOO_LONG)?;
            header(other.service, other.break_bit, words, out);
            out.bytes(&other.data);
            out.bytes(&[0; 3][..other.data.len().wrapping_neg() & 3]);
        }
        out.end(at)?;
        // The length of the IntServ message leaves out the object header and its own: whole words by now.
        let words = (out.position() - at) / 4 - 2;
        out.patch(at + 6, words as u16);
        Ok(())
    }
}

/// A fragment and what follows it.
struct Fragment<'a> {
    service: u8,
    break_bit: bool,
    data: &'a [u8],
    rest: &'a [u8],
}

/// The first fragment of `rest`, `at` bytes into the object.
fn fragment(rest: &[u8], at: usize) -> Result<Fragment<'_>, Fault> {
    let mut get = Get(rest);
    let (service, flags, words) = (get.u8(), get.u8(), usize::from(get.u16()));
    match get.0.split_at_checked(words * 4) {
        Some((data, next)) if rest.len() >= 4 => {
            Ok(Fragment { service, break_bit: flags & BREAK != 0, data, rest: next })
        }
        _ => Err(Fault::invalid(at, "the object ends within a fragment")),
    }
}

fn header(service: u8, break_bit: bool, words: u16, out: &mut impl Put) {
    out.bytes(&[service, if break_bit { BREAK } else { 0 }]);
    out.u16(words);
}

fn parameter(id: u8, flags: u8, value: u32, out: &mut impl Put) {
    out.bytes(&[id, flags, 0, 1]);
    out.u32(value);
}

/// Flags and value of parameter `id` if it comes next and has one word.
fn flagged_parameter(get: &mut Get<'_>, id: u8) -> Option<(u8, u32)> {
    match *get.0 {
        [found, flags, 0, 1, _, _, _, _, ..] if found == id => {
            get.u32();
            Some((flags, get.u32()))
        }
        _ => None,
    }
}

/// The value of parameter `id` if it comes next, has one word and no flags.
fn next_parameter(get: &mut Get<'_>, id: u8) -> Option<u32> {
    let mut ahead = *get;
    match flagged_parameter(&mut ahead, id) {
        Some((0, value)) => {
            *get = ahead;
            Some(value)
        }
        _ => None,
    }
}

impl General {
    fn parse(break_bit: bool, data: &[u8]) -> Option<General> {
        let mut get = Get(data);
        let (a, hops) = flagged_parameter(&mut get, 4)?;
        let (b, bandwidth) = flagged_parameter(&mut get, 6)?;
        let (c, latency_us) = flagged_parameter(&mut get, 8)?;
        let (d, mtu) = flagged_parameter(&mut get, 10)?;
        let bandwidth = f32::from_bits(bandwidth);
        let general = General { break_bit, hops, bandwidth, latency_us, mtu, parameter_flags: [a, b, c, d] };
        get.0.is_empty().then_some(general)
    }
}

impl GuaranteedFragment {
    fn parse(break_bit: bool, data: &[u8]) -> Option<GuaranteedFragment> {
        let mut get = Get(data);
        Some(GuaranteedFragment {
            break_bit,
            c_tot: next_parameter(&mut get, 133)?,
            d_tot: next_parameter(&mut get, 134)?,
            c_sum: next_parameter(&mut get, 135)?,
            d_sum: next_parameter(&mut get, 136)?,
            overrides: Overrides::parse(get.0)?,
        })
    }
}

impl Overrides {
    fn parse(data: &[u8]) -> Option<Overrides> {
        let mut get = Get(data);
        let overrides = Overrides {
            hops: next_parameter(&mut get, 4),
            bandwidth: next_parameter(&mut get, 6).map(f32::from_bits),
            latency_us: next_parameter(&mut get, 8),
            mtu: next_parameter(&mut get, 10),
        };
        get.0.is_empty().then_some(overrides)
    }

    fn values(&self) -> [(u8, Option<u32>); 4] {
        let bandwidth = self.bandwidth.map(f32::to_bits);
        [(4, self.hops), (6, bandwidth), (8, self.latency_us), (10, self.mtu)]
    }

    fn words(&self) -> u16 {
        self.values().iter().map(|(_, value)| 2 * u16::from(value.is_some())).sum()
    }

    fn emit(&self, out: &mut impl Put) {
        for (id, value) in self.values() {
            if let Some(value) = value {
                parameter(id, 0, value, out);
            }
        }
    }
}
