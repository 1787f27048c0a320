//! The MPLS label stack (RFC 3032, 2.1; the traffic class is RFC 5462).
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over fewer than four bytes.

use crate::error::{Error, need};
use base::{Label, TrafficClass};

const LAYER: &str = "mpls";

/// Bytes of one label stack entry.
pub const ENTRY_LEN: usize = 4;

/// A view over the label stack entry at the start of `buffer`, the top of a stack.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                Label                  | TC  |S|       TTL     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
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
        need(LAYER, ENTRY_LEN, buffer.as_ref().len())?;
        Ok(Packet { buffer })
    }
    /// Gives the buffer back that the view was made over.
    #[inline]
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// The entry as a number, its label in the highest bits.
    #[inline]
    pub fn word(&self) -> u32 {
        let data = self.buffer.as_ref();
        u32::from_be_bytes([data[0], data[1], data[2], data[3]])
    }
    /// The label, 20 bits.
    #[inline]
    pub fn label(&self) -> Label {
        Label::truncate(self.word() >> 12)
    }
    /// The TC bits, 0 to 7; EXP before RFC 5462.
    #[inline]
    pub fn tc(&self) -> TrafficClass {
        TrafficClass::truncate((self.word() >> 9) as u8)
    }
    /// Is this the bottom of the stack?
    #[inline]
    pub fn bottom(&self) -> bool {
        self.word() & 0x100 != 0
    }
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.buffer.as_ref()[3]
    }
    /// What follows this entry: the next one, or what the stack labels if this is the bottom.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[ENTRY_LEN..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes the whole entry.
    #[inline]
    pub fn set_word(&mut self, word: u32) {
        self.buffer.as_mut()[..ENTRY_LEN].copy_from_slice(&word.to_be_bytes());
    }
    /// Sets the label and leaves the other fields.
    #[inline]
    pub fn set_label(&mut self, label: Label) {
        self.set_word(self.word() & 0xfff | label.value() << 12);
    }
    /// Sets the traffic class.
    #[inline]
    pub fn set_tc(&mut self, tc: TrafficClass) {
        self.set_word(self.word() & !0xe00 | u32::from(tc.value()) << 9);
    }
    /// Sets the bottom-of-stack bit.
    #[inline]
    pub fn set_bottom(&mut self, bottom: bool) {
        self.set_word(self.word() & !0x100 | u32::from(bottom) << 8);
    }
    /// Sets the time to live.
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        self.buffer.as_mut()[3] = ttl;
    }
}

/// A label stack entry as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// The label, 20 bits.
    pub label: Label,
    /// The TC bits, 0 to 7; EXP before RFC 5462.
    pub tc: TrafficClass,
    /// Is this the bottom of the stack?
    pub bottom: bool,
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    pub ttl: u8,
}

impl Repr {
    /// The entry in a number whose highest bits are the label.
    #[inline]
    pub const fn from_word(word: u32) -> Repr {
        Repr {
            label: Label::truncate(word >> 12),
            tc: TrafficClass::truncate((word >> 9) as u8),
            bottom: word & 0x100 != 0,
            ttl: word as u8,
        }
    }
    /// The entry as a number, its label in the highest bits.
    #[inline]
    pub const fn to_word(self) -> u32 {
        self.label.value() << 12 | (self.tc.value() as u32) << 9 | (self.bottom as u32) << 8 | self.ttl as u32
    }
    /// Reads all fields of the entry.
    #[inline]
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr::from_word(packet.word()))
    }
    /// Bytes of an entry.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        ENTRY_LEN
    }
    /// Writes the entry to the first four bytes of `buffer`. Panics if it is shorter.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..ENTRY_LEN].copy_from_slice(&self.to_word().to_be_bytes());
    }
}

/// The entries of a stack from the top to the bottom; see [`Stack::rest`] for what it labels.
///
/// Ends after the bottom entry, or with an error if the bytes end before.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    rest: &'a [u8],
    offset: usize,
    done: bool,
}

impl<'a> Stack<'a> {
    /// The stack at the start of `data`.
    #[inline]
    pub const fn new(data: &'a [u8]) -> Stack<'a> {
        Stack { rest: data, offset: 0, done: false }
    }
    /// The bytes behind the entries read so far.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// The bytes of the entries read so far.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl Iterator for Stack<'_> {
    type Item = Result<Repr, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let Some((entry, rest)) = self.rest.split_first_chunk() else {
            self.done = true;
            return Some(Err(Error::truncated(LAYER, ENTRY_LEN, self.rest.len()).at(self.offset)));
        };
        let repr = Repr::from_word(u32::from_be_bytes(*entry));
        self.rest = rest;
        self.offset += ENTRY_LEN;
        self.done = repr.bottom;
        Some(Ok(repr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static VECTORS: [([u8; 4], Repr); 3] = [
        (
            [0x00, 0x01, 0x0b, 0xff],
            Repr { label: Label::FIRST_UNRESERVED, tc: TrafficClass::truncate(5), bottom: true, ttl: 255 },
        ),
        (
            [0xff, 0xff, 0xf0, 0x01],
            Repr { label: Label::MAX, tc: TrafficClass::truncate(0), bottom: false, ttl: 1 },
        ),
        (
            [0x00, 0x00, 0x0f, 0x40],
            Repr { label: Label::EXPLICIT_NULL, tc: TrafficClass::truncate(7), bottom: true, ttl: 64 },
        ),
    ];

    #[test]
    fn vectors_decode_and_encode() {
        for (bytes, repr) in &VECTORS {
            let packet = Packet::new_checked(bytes).unwrap();
            assert_eq!(Repr::parse(&packet), Ok(*repr));
            assert_eq!(
                (packet.label(), packet.tc(), packet.bottom(), packet.ttl()),
                (repr.label, repr.tc, repr.bottom, repr.ttl)
            );
            let mut buffer = [0; ENTRY_LEN];
            repr.emit(&mut buffer);
            assert_eq!(&buffer, bytes);
        }
    }

    #[test]
    fn a_stack_ends_at_its_bottom() {
        let bytes = [&VECTORS[1].0[..], &VECTORS[0].0, &[0x45, 0x00]].concat();
        let mut stack = Stack::new(&bytes);
        assert_eq!(stack.next(), Some(Ok(VECTORS[1].1)));
        assert_eq!(stack.next(), Some(Ok(VECTORS[0].1)));
        assert_eq!(stack.next(), None);
        assert_eq!((stack.rest(), stack.offset()), (&[0x45, 0x00][..], 8));
    }

    #[test]
    fn a_stack_without_bottom_is_an_error() {
        let bytes = [&VECTORS[1].0[..], &[0, 0]].concat();
        let read: Vec<_> = Stack::new(&bytes).collect();
        assert_eq!(read, [Ok(VECTORS[1].1), Err(Error::truncated("mpls", 4, 2).at(4))]);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn setters_change_their_field_only(word: u32, other: u32) {
            let (mut want, other) = (Repr::from_word(word), Repr::from_word(other));
            prop_assert_eq!(want.to_word(), word);
            let mut packet = Packet::new_unchecked(word.to_be_bytes());
            packet.set_label(other.label);
            want.label = other.label;
            prop_assert_eq!(packet.word(), want.to_word());
            packet.set_tc(other.tc);
            want.tc = other.tc;
            prop_assert_eq!(packet.word(), want.to_word());
            packet.set_bottom(other.bottom);
            want.bottom = other.bottom;
            prop_assert_eq!(packet.word(), want.to_word());
            packet.set_ttl(other.ttl);
            prop_assert_eq!(packet.word(), other.to_word());
        }

        #[test]
        fn any_bytes(bytes: Vec<u8>) {
            let entries = Stack::new(&bytes).count();
            prop_assert!(entries <= bytes.len() / 4 + 1);
        }
    }
}
