//! How values are read and written. A message is a sequence of [`Field`]s, which the macros here put together: `layout!`
//! for what has a fixed order, `sized!` for what says its own length, `numbers!` for what has a few values.

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
        Ok(Name(String::from_utf8_lossy(&bytes[..end]).into_owned()))
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

/// A struct of fields in the order of their bytes; `pad` is the number of bytes behind a field that mean nothing.
macro_rules! layout {
    ($($(#[$outer:meta])* $name:ident {
        $($(#[$inner:meta])* $field:ident: $type:ty $(, pad $pad:literal)?;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[$inner])* pub $field: $type),* }

        impl $crate::openflow::Field for $name {
            fn read(
                from: &mut $crate::openflow::Reader<'_>,
            ) -> Result<$name, $crate::openflow::Malformed> {
                $(let $field = <$type as $crate::openflow::Field>::read(from)?; $(from.take($pad)?;)?)*
                Ok($name { $($field),* })
            }
            fn write(&self, to: &mut Vec<u8>) {
                $($crate::openflow::Field::write(&self.$field, to); $(to.resize(to.len() + $pad, 0);)?)*
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                $name { $($field: $crate::openflow::sample::Sample::sample(dice)),* }
            }
        }
    )* };
}

/// A struct that says its own length, in the two bytes between the fields of its first part and those of its second.
macro_rules! sized {
    ($($(#[$outer:meta])* $name:ident {
        $($(#[$before_doc:meta])* $before:ident: $before_type:ty;)*
        [length] $(, pad $length_pad:literal)?;
        $($(#[$inner:meta])* $field:ident: $type:ty $(, pad $pad:literal)?;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[$before_doc])* pub $before: $before_type,)*
            $($(#[$inner])* pub $field: $type),*
        }

        impl $crate::openflow::Field for $name {
            fn read(
                from: &mut $crate::openflow::Reader<'_>,
            ) -> Result<$name, $crate::openflow::Malformed> {
                let start = from.at();
                $(let $before = <$before_type as $crate::openflow::Field>::read(from)?;)*
                let len = <u16 as $crate::openflow::Field>::read(from)?;
                let mut part = from.split_from(start, len.into())?;
                $(part.take($length_pad)?;)?
                $(
                    let $field = <$type as $crate::openflow::Field>::read(&mut part)?;
                    $(part.take($pad)?;)?
                )*
                part.finish()?;
                Ok($name { $($before,)* $($field),* })
            }
            fn write(&self, to: &mut Vec<u8>) {
                let start = to.len();
                $($crate::openflow::Field::write(&self.$before, to);)*
                let place = to.len();
                to.extend([0, 0]);
                $(to.resize(to.len() + $length_pad, 0);)?
                $($crate::openflow::Field::write(&self.$field, to); $(to.resize(to.len() + $pad, 0);)?)*
                $crate::openflow::fields::set_len(to, start, place);
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                $name {
                    $($before: $crate::openflow::sample::Sample::sample(dice),)*
                    $($field: $crate::openflow::sample::Sample::sample(dice)),*
                }
            }
        }
    )* };
}

/// An enum of numbers; another number makes the error that is named.
macro_rules! numbers {
    ($($(#[$outer:meta])* $name:ident: $repr:ident, $fault:expr, $clause:literal {
        $($(#[$inner:meta])* $variant:ident = $number:literal;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$inner])* $variant = $number),* }

        impl $name {
            /// All that there are, in the order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
        }

        impl $crate::openflow::Field for $name {
            fn read(
                from: &mut $crate::openflow::Reader<'_>,
            ) -> Result<$name, $crate::openflow::Malformed> {
                let at = from.at();
                match <$repr as $crate::openflow::Field>::read(from)? {
                    $($number => Ok($name::$variant),)*
                    _ => Err($fault.at(at, $clause)),
                }
            }
            fn write(&self, to: &mut Vec<u8>) {
                (*self as $repr).write(to);
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                $name::ALL[dice.below($name::ALL.len())]
            }
        }
    )* };
}

/// An enum of parts that begin with their type and their length: actions, instructions, properties. `pad` in front of the
/// fields stands for bytes that mean nothing there.
macro_rules! typed {
    ($($(#[$outer:meta])* $name:ident: $unknown:expr, $short:expr, $clause:literal {
        $($(#[$doc:meta])* $variant:ident = $kind:literal $(pad $lead:literal)? $({
            $($(#[$inner:meta])* $field:ident: $type:ty $(, pad $pad:literal)?;)*
        })?;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$doc])* $variant $({ $($(#[$inner])* $field: $type),* })?),*
        }

        impl $crate::openflow::Field for $name {
            fn read(
                from: &mut $crate::openflow::Reader<'_>,
            ) -> Result<$name, $crate::openflow::Malformed> {
                let start = from.at();
                let (kind, mut part) = from.part($short.numbers())?;
                let read = match kind {
                    $($kind => {
                        $(part.take($lead)?;)?
                        $($(
                            let $field = <$type as $crate::openflow::Field>::read(&mut part)?;
                            $(part.take($pad)?;)?
                        )*)?
                        $name::$variant $({ $($field),* })?
                    })*
                    _ => return Err($unknown.at(start, $clause)),
                };
                part.finish()?;
                Ok(read)
            }
            fn write(&self, to: &mut Vec<u8>) {
                let start = to.len();
                match self {
                    $($name::$variant $({ $($field),* })? => {
                        $crate::openflow::Field::write(&($kind as u16), to);
                        to.extend([0, 0]);
                        $(to.resize(to.len() + $lead, 0);)?
                        $($(
                            $crate::openflow::Field::write($field, to);
                            $(to.resize(to.len() + $pad, 0);)?
                        )*)?
                    })*
                }
                $crate::openflow::fields::set_len(to, start, start + 2);
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                use $crate::openflow::sample::{Dice, Sample};
                let all: &[fn(&mut Dice) -> $name] = &[$(|_dice| $name::$variant $({
                    $($field: Sample::sample(_dice)),*
                })?),*];
                all[dice.below(all.len())](dice)
            }
        }
    )* };
}

/// Questions or answers of statistics: their type, flags, and what the type has. `pad` stands behind the flags.
macro_rules! multipart {
    ($($(#[$outer:meta])* $name:ident, $body:ident, $more:literal: $unknown:expr, pad $lead:literal {
        $($(#[$doc:meta])* $variant:ident $(($type:ty))? = $kind:literal;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            #[doc = $more]
            pub more: bool,
            /// What is asked or told, by type.
            #[serde(flatten)]
            pub body: $body,
        }

        #[doc = concat!("What a [`", stringify!($name), "`] is about.")]
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $body { $($(#[$doc])* $variant $(($type))?),* }

        impl $crate::openflow::Field for $name {
            fn read(
                from: &mut $crate::openflow::Reader<'_>,
            ) -> Result<$name, $crate::openflow::Malformed> {
                let start = from.at();
                let kind = <u16 as $crate::openflow::Field>::read(from)?;
                let flags = <u16 as $crate::openflow::Field>::read(from)?;
                from.take($lead)?;
                let body = match kind {
                    $($kind => $crate::openflow::fields::bodies!(@read from, $body::$variant $(, $type)?),)*
                    _ => return Err($unknown.at(start, "a type of statistics that is not known")),
                };
                Ok($name { more: flags & 1 != 0, body })
            }
            fn write(&self, to: &mut Vec<u8>) {
                let kind: u16 = match &self.body {
                    $($crate::openflow::fields::bodies!(@bind $body::$variant $(, $type)?) => $kind),*
                };
                kind.write(to);
                u16::from(self.more).write(to);
                to.resize(to.len() + $lead, 0);
                match &self.body {
                    $($crate::openflow::fields::bodies!(@part part, $body::$variant $(, $type)?) => {
                        $crate::openflow::fields::bodies!(@write to, part $(, $type)?)
                    })*
                }
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                use $crate::openflow::sample::{Dice, Sample};
                let all: &[fn(&mut Dice) -> $body] =
                    &[$(|_dice| $crate::openflow::fields::bodies!(@sample _dice, $body::$variant $(, $type)?)),*];
                $name { more: Sample::sample(dice), body: all[dice.below(all.len())](dice) }
            }
        }
    )* };
}

/// The errors of a version: type, code, and what they say.
macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $kind:literal, $code:literal, $words:literal;)*) => {
        /// An error that an error message can be about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault { $($(#[$doc])* $name),* }

        impl Fault {
            /// All that the version knows.
            pub const ALL: &'static [Fault] = &[$(Fault::$name),*];

            /// Its type and code.
            pub const fn numbers(self) -> $crate::openflow::Code {
                match self { $(Fault::$name => $crate::openflow::Code { kind: $kind, code: $code }),* }
            }

            /// What it means, in a few words.
            pub const fn words(self) -> &'static str {
                match self { $(Fault::$name => $words),* }
            }

            /// The error with these numbers, if the version knows it.
            pub fn of(numbers: $crate::openflow::Code) -> Option<Fault> {
                Fault::ALL.iter().copied().find(|fault| fault.numbers() == numbers)
            }

            /// The error at `offset` that a clause explains.
            pub(crate) const fn at(self, offset: usize, clause: &'static str) -> $crate::openflow::Malformed {
                self.numbers().at(offset, clause)
            }
        }
    };
}

/// The messages of a version: what follows the header, by type.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident $(($type:ty))? = $kind:literal, $word:literal;)*) => {
        /// What follows the header, by type of message.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Body { $($(#[$doc])* $name $(($type))?),* }

        impl Body {
            /// The types of messages, each with its word in tables and traces.
            pub const KINDS: &'static [(u8, &'static str)] = &[$(($kind, $word)),*];

            /// The type in the header.
            pub const fn kind(&self) -> u8 {
                match self { $(bodies!(@bind Body::$name $(, $type)?) => $kind),* }
            }

            /// The type's word in tables and traces.
            pub const fn word(&self) -> &'static str {
                match self { $(bodies!(@bind Body::$name $(, $type)?) => $word),* }
            }

            fn read(kind: u8, from: &mut $crate::openflow::Reader<'_>) -> Result<Body, $crate::openflow::Malformed> {
                Ok(match kind {
                    $($kind => bodies!(@read from, Body::$name $(, $type)?),)*
                    _ => return Err($crate::openflow::Code::BAD_TYPE.at(1, "a type of message that is not known")),
                })
            }

            fn write(&self, to: &mut Vec<u8>) {
                match self { $(bodies!(@part part, Body::$name $(, $type)?) => bodies!(@write to, part $(, $type)?)),* }
            }
        }

        #[cfg(test)]
        impl Body {
            /// One message of each type.
            pub(crate) fn samples(dice: &mut $crate::openflow::sample::Dice) -> Vec<Body> {
                vec![$(bodies!(@sample dice, Body::$name $(, $type)?)),*]
            }
        }
    };
    (@sample $dice:ident, $of:ident::$name:ident) => { $of::$name };
    (@sample $dice:ident, $of:ident::$name:ident, $type:ty) => {
        $of::$name(<$type as $crate::openflow::sample::Sample>::sample($dice))
    };
    (@bind $of:ident::$name:ident) => { $of::$name };
    (@bind $of:ident::$name:ident, $type:ty) => { $of::$name(_) };
    (@part $part:ident, $of:ident::$name:ident) => { $of::$name };
    (@part $part:ident, $of:ident::$name:ident, $type:ty) => { $of::$name($part) };
    (@read $from:ident, $of:ident::$name:ident) => { $of::$name };
    (@read $from:ident, $of:ident::$name:ident, $type:ty) => {
        $of::$name(<$type as $crate::openflow::Field>::read($from)?)
    };
    (@write $to:ident, $part:ident) => {{}};
    (@write $to:ident, $part:ident, $type:ty) => { $crate::openflow::Field::write($part, $to) };
}

/// A message of a version: what it answers or asks for, and [`Body`].
macro_rules! message {
    ($version:expr) => {
        /// A message.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct Message {
            /// The number of the transaction: an answer has that of its question.
            pub xid: u32,
            /// What it says.
            #[serde(flatten)]
            pub body: Body,
        }

        impl Message {
            /// Reads a whole message: `bytes` are as many as the header says.
            pub fn parse(bytes: &[u8]) -> Result<Message, $crate::openflow::Malformed> {
                let mut from = $crate::openflow::Reader::new(bytes, $crate::openflow::Code::BAD_LEN);
                let header = <$crate::openflow::Header as $crate::openflow::Field>::read(&mut from)?;
                if header.version != $version as u8 {
                    return Err($crate::openflow::Code::BAD_VERSION.at(0, "a version that is not spoken"));
                }
                if usize::from(header.length) != bytes.len() {
                    return Err(from.bad_len("a length that is not that of the message"));
                }
                let body = Body::read(header.kind, &mut from)?;
                from.finish()?;
                Ok(Message { xid: header.xid, body })
            }

            /// Appends it; an error if it is longer than a message can be.
            pub fn emit(&self, to: &mut Vec<u8>) -> Result<(), $crate::Error> {
                $crate::openflow::header::emit($version, self.body.kind(), self.xid, to, |to| {
                    self.body.write(to)
                })
            }
        }
    };
}

pub(super) use {bodies, faults, layout, message, multipart, numbers, sized, typed};

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
    }

    #[test]
    fn a_length_less_than_what_it_counts_is_refused() {
        let mut from = Reader::new(&[0, 1, 2, 3], Code::BAD_LEN);
        from.take(3).expect("three bytes");
        assert!(from.split_from(0, 2).is_err());
        assert_eq!(from.split_from(0, 4).expect("one byte").len(), 1);
    }
}
