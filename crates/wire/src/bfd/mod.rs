//! Control packets of BFD (RFC 5880), which tell two systems that the way between them works.
//!
//! [`Repr::parse`] makes those checks of RFC 5880, 6.8.6 for which nothing but the packet is needed, in their order.
//! What needs the session, such as that there is one and how it is authenticated, is left to who has it.

mod auth;
#[cfg(test)]
mod tests;

pub use auth::{Algorithm, Auth, seal, verify};

use crate::error::{Error, Reason, need};
use core::ops::RangeInclusive;

const LAYER: &str = "bfd";

/// The UDP port that control packets of a single hop are sent to (RFC 5881, 4).
pub const PORT: u16 = 3784;
/// The UDP port that control packets of several hops are sent to (RFC 5883, 5).
pub const MULTIHOP_PORT: u16 = 4784;
/// The UDP ports that they are sent from (RFC 5881, 4).
pub const SOURCE_PORTS: RangeInclusive<u16> = 49_152..=65_535;
/// The TTL that they are sent with; one with another has passed a router (RFC 5881, 5).
pub const TTL: u8 = 255;

/// Bytes of a packet without authentication.
pub const LEN: usize = 24;
const VERSION: u8 = 1;

const POLL: u8 = 0x20;
const FINAL: u8 = 0x10;
const INDEPENDENT: u8 = 0x08;
const AUTHENTICATED: u8 = 0x04;
const DEMAND: u8 = 0x02;
const MULTIPOINT: u8 = 0x01;

/// How the sender sees the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Somebody wants it down.
    AdminDown,
    /// It hears nothing, or just began.
    Down,
    /// It hears the other one, which may not hear it.
    Init,
    /// Both hear each other.
    Up,
}

impl State {
    /// The state of a number of two bits.
    pub const fn of(bits: u8) -> State {
        match bits & 3 {
            0 => State::AdminDown,
            1 => State::Down,
            2 => State::Init,
            _ => State::Up,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            State::AdminDown => 0,
            State::Down => 1,
            State::Init => 2,
            State::Up => 3,
        }
    }
}

/// Why the sender's session changed its state last: a number of five bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diag(u8);

impl Diag {
    /// It never did, or for no reason that has a number.
    pub const NONE: Diag = Diag(0);
    /// Nothing was heard for the detection time.
    pub const TIME_EXPIRED: Diag = Diag(1);
    /// The neighbour said that it is down.
    pub const NEIGHBOR_DOWN: Diag = Diag(3);
    /// The way is known to be down.
    pub const PATH_DOWN: Diag = Diag(5);
    /// Somebody wants it down.
    pub const ADMIN_DOWN: Diag = Diag(7);

    /// That of a number; bits above the fifth are left out.
    pub const fn truncate(number: u8) -> Diag {
        Diag(number & 0x1f)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// What RFC 5880, 4.1 calls it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "no diagnostic",
            1 => "control detection time expired",
            2 => "echo function failed",
            3 => "neighbor signaled session down",
            4 => "forwarding plane reset",
            5 => "path down",
            6 => "concatenated path down",
            7 => "administratively down",
            8 => "reverse concatenated path down",
            _ => "reserved",
        }
    }
}

/// A control packet (RFC 5880, 4.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |Vers |  Diag   |Sta|P|F|C|A|D|M|  Detect Mult  |    Length     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       My Discriminator                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      Your Discriminator                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Desired Min TX Interval                    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                   Required Min RX Interval                    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                 Required Min Echo RX Interval                 |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Why the sender's session changed its state last.
    pub diag: Diag,
    /// How the sender sees the session.
    pub state: State,
    /// It wants an answer with `is_final`.
    pub poll: bool,
    /// It answers a packet with `poll`.
    pub is_final: bool,
    /// BFD of the sender goes on if its control plane does not.
    pub independent: bool,
    /// The sender wants no packets but those of polls.
    pub demand: bool,
    /// It goes to several receivers (RFC 8562, 5.1).
    pub multipoint: bool,
    /// After so many packets that are missing the receiver takes the way to be down; not zero.
    pub detect_mult: u8,
    /// The session's number at the sender; not zero.
    pub my_discriminator: u32,
    /// Its number at the receiver; zero if the sender does not know it.
    pub your_discriminator: u32,
    /// How often the sender wants to send at the most, in microseconds.
    pub desired_min_tx_us: u32,
    /// How often it can receive, in microseconds; zero if it wants nothing sent by itself.
    pub required_min_rx_us: u32,
    /// How often it can send echos back, in microseconds; zero if it does not.
    pub required_min_echo_rx_us: u32,
    /// Its authentication section.
    pub auth: Option<Auth>,
}

/// A word of four bytes of a packet that has it.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_be_bytes(*word))
}

impl Repr {
    /// Reads what UDP carries: a packet, and bytes behind its length that are ignored.
    pub fn parse(payload: &[u8]) -> Result<Repr, Error> {
        need(LAYER, LEN, payload.len())?;
        let wrong = |offset, field, found: u8, min, max| {
            Error::new(LAYER, offset, Reason::OutOfRange { field, found: found.into(), min, max })
        };
        let [first, bits, detect_mult, length] = word(payload, 0).to_be_bytes();
        if first >> 5 != VERSION {
            let (found, expected) = ((first >> 5).into(), VERSION.into());
            return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "version", found, expected }));
        }
        let is_authenticated = bits & AUTHENTICATED != 0;
        let least = if is_authenticated { LEN + auth::LEN } else { LEN };
        if usize::from(length) < least {
            return Err(wrong(3, "length", length, least as u64, 255));
        }
        let Some(packet) = payload.get(..usize::from(length)) else {
            return Err(wrong(3, "length", length, least as u64, payload.len() as u64));
        };
        if detect_mult == 0 {
            return Err(wrong(2, "detect mult", 0, 1, 255));
        }
        let (my_discriminator, your_discriminator) = (word(packet, 4), word(packet, 8));
        if my_discriminator == 0 {
            return Err(Error::invalid(LAYER, 4, "the sender's discriminator is zero"));
        }
        let (state, multipoint) = (State::of(bits >> 6), bits & MULTIPOINT != 0);
        if multipoint && your_discriminator != 0 {
            return Err(Error::invalid(LAYER, 8, "several receivers have no discriminator in common"));
        }
        if multipoint && state == State::Init {
            return Err(Error::invalid(
                LAYER,
                1,
                "the state is Init, which no session with several receivers has",
            ));
        }
        if !multipoint && your_discriminator == 0 && state > State::Down {
            return Err(Error::invalid(
                LAYER,
                8,
                "the receiver's discriminator is zero though the state is above Down",
            ));
        }
        let auth = match is_authenticated {
            true => Some(Auth::parse(&packet[LEN..]).map_err(|error| error.at(LEN))?),
            false => None,
        };
        Ok(Repr {
            diag: Diag::truncate(first),
            state,
            poll: bits & POLL != 0,
            is_final: bits & FINAL != 0,
            independent: bits & INDEPENDENT != 0,
            demand: bits & DEMAND != 0,
            multipoint,
            detect_mult,
            my_discriminator,
            your_discriminator,
            desired_min_tx_us: word(packet, 12),
            required_min_rx_us: word(packet, 16),
            required_min_echo_rx_us: word(packet, 20),
            auth,
        })
    }

    /// How many bytes it has.
    pub fn buffer_len(&self) -> usize {
        LEN + self.auth.as_ref().map_or(0, Auth::buffer_len)
    }

    /// The bytes of the packet, with the digest that it has: [`seal`] makes a new one.
    pub fn emit(&self) -> Vec<u8> {
        let flags = [
            (self.poll, POLL),
            (self.is_final, FINAL),
            (self.independent, INDEPENDENT),
            (self.auth.is_some(), AUTHENTICATED),
            (self.demand, DEMAND),
            (self.multipoint, MULTIPOINT),
        ];
        let bits = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |bits, (_, bit)| bits | bit);
        let length = u8::try_from(self.buffer_len()).unwrap_or(u8::MAX);
        let mut packet = vec![
            VERSION << 5 | self.diag.number(),
            self.state.number() << 6 | bits,
            self.detect_mult,
            length,
        ];
        for word in [
            self.my_discriminator,
            self.your_discriminator,
            self.desired_min_tx_us,
            self.required_min_rx_us,
            self.required_min_echo_rx_us,
        ] {
            packet.extend(word.to_be_bytes());
        }
        if let Some(auth) = &self.auth {
            auth.emit(&mut packet);
        }
        debug_assert_eq!(packet.len(), self.buffer_len(), "{self:?}");
        packet
    }
}
