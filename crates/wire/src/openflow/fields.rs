//! How values are read and written. A message is a sequence of [`Field`]s, which macros put together.

use super::{Code, Malformed};
use crate::hex::Hex;
use base::MacAddr;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// What is left to read of a message or of a part of it, and the error that says that it is too short.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    message: &'a [u8],
    at: usize,
    end: usize,
    short: Code,
}

impl<'a> Reader<'a> {
    /// Reads a whole message. What is missing in it makes `short`.
    pub fn new(message: &'a [u8], short: Code) -> Reader<'a> {
        Reader { message, at: 0, end: message.len(), short }
    }

    /// Bytes of the message before what is read next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    pub fn len(&self) -> usize {
        self.end - self.at
    }

    /// Has all been read?
    pub fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// The same bytes, with another error for what is missing.
    pub fn or(&self, short: Code) -> Reader<'a> {
        Reader { short, ..self.clone() }
    }

    /// What is said to be too long or too short here.
    pub fn bad_len(&self, clause: &'static str) -> Malformed {
        self.short.at(self.at, clause)
    }

    /// The next bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        if len > self.len() {
            return Err(self.short.at(self.end, "a message that ends too early"));
        }
        self.at += len;
        Ok(&self.message[self.at - len..self.at])
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        let from = core::mem::replace(&mut self.at, self.end);
        &self.message[from..self.end]
    }

    /// Takes the next `len` bytes out of this reader, as one of their own.
    pub fn split(&mut self, len: usize) -> Result<Reader<'a>, Malformed> {
        let at = self.at;
        self.take(len)?;
        Ok(Reader { message: self.message, at, end: self.at, short: self.short })
    }

    /// What begins at `start`, has `len` bytes and has been read up to here: the rest of it, as a reader of its own.
    pub fn split_from(&mut self, start: usize, len: usize) -> Result<Reader<'a>, Malformed> {
        match (start + len).checked_sub(self.at) {
            Some(left) => self.split(left),
            None => Err(self.short.at(start, "a length that is less than what it counts")),
        }
    }

    /// Takes a part that begins with its type and its length, a multiple of eight bytes: its type, and the rest of it.
    /// `short` is the error of a length that can't be one.
    pub fn part(&mut self, short: Code) -> Result<(u16, Reader<'a>), Malformed> {
        let mut inner = self.or(short);
        let (start, kind, len) = (self.at, u16::read(&mut inner)?, u16::read(&mut inner)?);
        if len == 0 || !len.is_multiple_of(8) {
            return Err(short.at(start + 2, "a length that is not a multiple of eight"));
        }
        let part = inner.split_from(start, len.into())?;
        self.at = inner.at;
        Ok((kind, part))
    }

    /// An error if anything is left.
    pub fn finish(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(self.bad_len("a length that is more than what it counts")) }
    }

    /// The next two bytes as a number, without taking them.
    pub fn peek(&self) -> Result<u16, Malformed> {
        u16::read(&mut self.clone())
    }
}

/// A value that messages consist of.
pub trait Field: Sized {
    /// Takes it from the front of what is left.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
    /// Appends it.
    fn write(&self, to: &mut Vec<u8>);
}

macro_rules! integers {
    ($($type:ident)*) => { $(impl Field for $type {
        fn read(from: &mut Reader<'_>) -> Result<$type, Malformed> {
            let bytes = from.take(size_of::<$type>())?;
            Ok(bytes.iter().fold(0, |sum, byte| sum << 7 << 1 | $type::from(*byte)))
        }
        fn write(&self, to: &mut Vec<u8>) {
            to.extend(self.to_be_bytes());
        }
    })* };
}
integers!(u8 u16 u32 u64);

impl Field for MacAddr {
    fn read(from: &mut Reader<'_>) -> Result<MacAddr, Malformed> {
        let mut bytes = [0; 6];
        bytes.copy_from_slice(from.take(6)?);
        Ok(MacAddr(bytes))
    }
    fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.0);
    }
}

impl Field for Ipv4Addr {
    fn read(from: &mut Reader<'_>) -> Result<Ipv4Addr, Malformed> {
        u32::read(from).map(Ipv4Addr::from_bits)
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.to_bits().write(to);
    }
}

/// A list takes all that is left.
impl<T: Field> Field for Vec<T> {
    fn read(from: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
        let mut all = Vec::new();
        while !from.is_empty() {
            all.push(T::read(from)?);
        }
        Ok(all)
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|one| one.write(to));
    }
}

/// As many values as `N` says.
impl<T: Field + Copy + Default, const N: usize> Field for [T; N] {
    fn read(from: &mut Reader<'_>) -> Result<[T; N], Malformed> {
        let mut all = [T::default(); N];
        for one in &mut all {
            *one = T::read(from)?;
        }
        Ok(all)
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|one| one.write(to));
    }
}

/// Bytes that are not looked into: all that is left.
pub type Rest = Hex;

impl Field for Rest {
    fn read(from: &mut Reader<'_>) -> Result<Rest, Malformed> {
        Ok(from.rest().into())
    }
    fn write(&self, to: &mut Vec<u8>) {
        to.extend(&self.0);
    }
}

/// A name in a field of `N` bytes, which zeros fill up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name<const N: usize>(pub String);

impl<const N: usize> Name<N> {
    /// The name, cut so that a zero fits behind it.
    pub fn new(name: &str) -> Name<N> {
        let end = (0..=name.len().min(N - 1)).rev().find(|end| name.is_char_boundary(*end));
        Name(name[..end.unwrap_or(0)].to_owned())
    }
}

impl<const N: usize> Field for Name<N> {
    fn read(from: &mut Reader<'_>) -> Result<Name<N>, Malformed> {
        let bytes = from.take(N)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(N);
        // What takes the place of bytes that are no text is longer than they are.
        Ok(Name::new(&String::from_utf8_lossy(&bytes[..end])))
    }
    fn write(&self, to: &mut Vec<u8>) {
        let end = to.len() + N;
        to.extend(Name::<N>::new(&self.0).0.bytes());
        to.resize(end, 0);
    }
}

/// Overwrites the two bytes at `place` with the number of bytes that are there from `start` on.
pub(super) fn set_len(to: &mut [u8], start: usize, place: usize) {
    let len = u16::try_from(to.len() - start).unwrap_or(u16::MAX);
    to[place..place + 2].copy_from_slice(&len.to_be_bytes());
}

/// Zeros up to a multiple of eight bytes from `start`.
pub(super) fn align(to: &mut Vec<u8>, start: usize) {
    let len = (to.len() - start).next_multiple_of(8);
    to.resize(start + len, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_room_for_a_zero() {
        assert_eq!(Name::<4>::new("port").0, "por");
        assert_eq!(Name::<4>::new("aéé").0, "aé");
        let mut bytes = Vec::new();
        Name::<4>("éé".to_owned()).write(&mut bytes);
        assert_eq!(bytes, [0xc3, 0xa9, 0, 0]);
        // Bytes that are no text: what is read is what is written.
        let read = Name::<4>::read(&mut Reader::new(&[0xfa; 4], Code::BAD_LEN)).expect("a name");
        assert_eq!(read.0, "\u{fffd}");
    }

    #[test]
    fn a_length_less_than_what_it_counts_is_refused() {
        let mut from = Reader::new(&[0, 1, 2, 3], Code::BAD_LEN);
        from.take(3).expect("three bytes");
        assert!(from.split_from(0, 2).is_err());
        assert_eq!(from.split_from(0, 4).expect("one byte").len(), 1);
    }
}
