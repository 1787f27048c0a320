//! The test payload: which stream, which packet of it, and when it left.
//!
//! It fits in the payload of the least labelled UDP frame (64 bytes less FCS 4, Ethernet 14, label 4, IPv4 20, UDP
//! 8 leaves 14). The departure time is modulo 2^56 ps, about 20 hours; [`unwrap_departure`] finds the rest.
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over fewer than 14 bytes.

use crate::error::{Error, Reason, need};
use base::{StreamId, Time};

const LAYER: &str = "measurement";

/// The UDP destination port of test packets, from the dynamic range (RFC 6335, 6).
pub const PORT: u16 = 61_614;
/// Bytes of a test payload; what follows them in a packet is filler.
pub const LEN: usize = 14;
/// The greatest stream number.
pub const MAX_STREAM: u32 = 0xff_ffff;

const DEPARTURE_BITS: u32 = 56;
const DEPARTURE_MASK: u64 = (1 << DEPARTURE_BITS) - 1;

/// A view over a test payload.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Stream                     |               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+               +
/// |               Sequence number                 |               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+               +
/// |                 Departure time (56 bits, ps)                  |
/// +               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |               |
/// +-+-+-+-+-+-+-+-+
/// ```
///
/// Stream: bytes 0 to 2. Sequence number: 3 to 6. Departure time: 7 to 13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view without a check: accessors panic if `buffer` is too short.
    #[inline]
    pub const fn new_unchecked(buffer: T) -> Packet<T> {
        Packet { buffer }
    }
    /// A view whose accessors don't panic.
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        need(LAYER, LEN, buffer.as_ref().len())?;
        Ok(Packet { buffer })
    }
    /// Gives the buffer back that the view was made over.
    #[inline]
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// The stream, from three bytes: 0 to [`MAX_STREAM`].
    #[inline]
    pub fn stream(&self) -> StreamId {
        let d = self.buffer.as_ref();
        StreamId(u32::from_be_bytes([0, d[0], d[1], d[2]]))
    }
    /// The sequence number in its stream.
    #[inline]
    pub fn sequence(&self) -> u32 {
        let d = self.buffer.as_ref();
        u32::from_be_bytes([d[3], d[4], d[5], d[6]])
    }
    /// The departure time in picoseconds, modulo 2^56.
    #[inline]
    pub fn departure_ps(&self) -> u64 {
        let d = self.buffer.as_ref();
        u64::from_be_bytes([0, d[7], d[8], d[9], d[10], d[11], d[12], d[13]])
    }
    /// The departure time, by a receiver whose clock says `now`; see [`unwrap_departure`].
    #[inline(always)]
    pub fn departure(&self, now: Time) -> Time {
        unwrap_departure(self.departure_ps(), now)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the stream (its lowest 24 bits).
    #[inline]
    pub fn set_stream(&mut self, stream: StreamId) {
        let [_, bytes @ ..] = stream.0.to_be_bytes();
        self.buffer.as_mut()[..3].copy_from_slice(&bytes);
    }
    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u32) {
        self.buffer.as_mut()[3..7].copy_from_slice(&sequence.to_be_bytes());
    }
    /// Sets the departure time (modulo 2^56 ps).
    #[inline]
    pub fn set_departure(&mut self, departure: Time) {
        let [_, bytes @ ..] = departure.0.to_be_bytes();
        self.buffer.as_mut()[7..LEN].copy_from_slice(&bytes);
    }
}

/// The time that is `departure_ps` modulo 2^56 ps and nearest to `now`, within the range of [`Time`].
///
/// It may be later than `now`: two real clocks differ. Right as long as the packet took less than about ten hours.
#[inline(always)]
pub const fn unwrap_departure(departure_ps: u64, now: Time) -> Time {
    // Sign-extend the 56-bit difference.
    let shift = 64 - DEPARTURE_BITS;
    let age = (now.0.wrapping_sub(departure_ps) << shift) as i64 >> shift;
    match now.0.checked_add_signed(-age) {
        Some(time) => Time(time),
        None if age > 0 => Time(departure_ps & DEPARTURE_MASK),
        None => Time(now.0 - (now.0.wrapping_sub(departure_ps) & DEPARTURE_MASK)),
    }
}

/// A test payload as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// The stream, at most [`MAX_STREAM`].
    pub stream: StreamId,
    /// The sequence number in its stream.
    pub sequence: u32,
    /// The departure time in picoseconds, modulo 2^56.
    pub departure_ps: u64,
}

impl Repr {
    /// The payload of a packet that leaves at `departure`.
    #[inline]
    pub const fn new(stream: StreamId, sequence: u32, departure: Time) -> Repr {
        Repr { stream, sequence, departure_ps: departure.0 & DEPARTURE_MASK }
    }
    /// Reads all fields of a checked payload.
    #[inline]
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr { stream: packet.stream(), sequence: packet.sequence(), departure_ps: packet.departure_ps() })
    }
    /// `Ok` if every field fits its bits.
    pub fn check(&self) -> Result<(), Error> {
        let fields = [
            (0, "stream", u64::from(self.stream.0), u64::from(MAX_STREAM)),
            (7, "departure", self.departure_ps, DEPARTURE_MASK),
        ];
        match fields.into_iter().find(|&(_, _, found, max)| found > max) {
            Some((at, field, found, max)) => {
                Err(Error::new(LAYER, at, Reason::OutOfRange { field, found, min: 0, max }))
            }
            None => Ok(()),
        }
    }
    /// Bytes of a test payload.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        LEN
    }
    /// Writes the payload to the first 14 bytes of `buffer`. Panics if it is shorter.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(buffer);
        packet.set_stream(self.stream);
        packet.set_sequence(self.sequence);
        packet.set_departure(Time(self.departure_ps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static VECTOR: ([u8; LEN], Repr) = (
        [0x01, 0x02, 0x03, 0xfe, 0xdc, 0xba, 0x98, 0x00, 0x09, 0x18, 0x4e, 0x72, 0xa0, 0x07],
        // 10 s and 7 ps
        Repr { stream: StreamId(0x01_0203), sequence: 0xfedc_ba98, departure_ps: 10_000_000_000_007 },
    );

    #[test]
    fn vector_decodes_and_encodes() {
        assert_eq!(Repr::parse(&Packet::new_checked(&VECTOR.0).unwrap()), Ok(VECTOR.1));
        let mut buffer = [0x55; LEN];
        VECTOR.1.emit(&mut buffer);
        assert_eq!(buffer, VECTOR.0);
        assert_eq!(VECTOR.1.check(), Ok(()));
        assert_eq!(Repr { stream: StreamId(1 << 24), ..VECTOR.1 }.check().unwrap_err().offset, 0);
    }

    #[test]
    fn fits_the_least_labelled_frame() {
        use crate::{ethernet, ipv4, mpls, udp};
        let headers = ethernet::HEADER_LEN + mpls::ENTRY_LEN + ipv4::MIN_HEADER_LEN + udp::HEADER_LEN;
        assert_eq!(headers + LEN + ethernet::FCS_LEN, ethernet::MIN_FRAME_LEN);
    }

    #[test]
    fn a_departure_stays_within_time() {
        let wrap = 1u64 << DEPARTURE_BITS;
        // Just before a multiple of 2^56, seen at the very start: nothing is earlier than the start.
        assert_eq!(unwrap_departure(wrap - 3, Time(5)), Time(wrap - 3));
        assert_eq!(unwrap_departure(wrap - 1, Time(0)), Time(wrap - 1));
        assert_eq!(unwrap_departure(2, Time(u64::MAX)), Time(u64::MAX - wrap + 3));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn departure_unwraps(now: u64, age in -(1i64 << 55) + 1..1i64 << 55) {
            if let Some(departure) = now.checked_add_signed(-age) {
                let repr = Repr::new(StreamId(1), 2, Time(departure));
                prop_assert_eq!(unwrap_departure(repr.departure_ps, Time(now)), Time(departure));
            }
        }

        #[test]
        fn unwrapping_never_panics(departure in 0..1u64 << 56, now: u64) {
            let time = unwrap_departure(departure, Time(now));
            prop_assert_eq!(time.0 & DEPARTURE_MASK, departure);
        }

        #[test]
        fn round_trip(bytes: [u8; LEN]) {
            let repr = Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap();
            let mut again = [0; LEN];
            repr.emit(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}
