//! Declarations that both read and write: `layout!` for structs with a fixed order, `sized!` for those that say their
//! own length, `typed!` for parts that begin with their type, `numbers!` for what has a few values, `multipart!` for
//! statistics, `faults!` for errors, and `bodies!` and `message!` for the messages of a version. For tests each
//! declaration also says how a random value is made.

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

/// An enum of parts that begin with their type and their length: actions, instructions, properties. `pad` in front of
/// the fields stands for bytes that mean nothing there.
macro_rules! typed {
    ($($(#[$outer:meta])* $name:ident: $unknown:expr, $short:expr, $clause:literal {
        $($(#[$doc:meta])* $variant:ident = $kind:literal $(pad $lead:literal)? $({
            $($(#[$inner:meta])* $field:ident: $type:ty $(, pad $pad:literal)?;)*
        })?;)*
    })*) => { $(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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
                    $($kind => $crate::openflow::macros::bodies!(@read from, $body::$variant $(, $type)?),)*
                    _ => return Err($unknown.at(start, "a type of statistics that is not known")),
                };
                Ok($name { more: flags & 1 != 0, body })
            }
            fn write(&self, to: &mut Vec<u8>) {
                let kind: u16 = match &self.body {
                    $($crate::openflow::macros::bodies!(@bind $body::$variant $(, $type)?) => $kind),*
                };
                kind.write(to);
                u16::from(self.more).write(to);
                to.resize(to.len() + $lead, 0);
                match &self.body {
                    $($crate::openflow::macros::bodies!(@part part, $body::$variant $(, $type)?) => {
                        $crate::openflow::macros::bodies!(@write to, part $(, $type)?)
                    })*
                }
            }
        }

        #[cfg(test)]
        impl $crate::openflow::sample::Sample for $name {
            fn sample(dice: &mut $crate::openflow::sample::Dice) -> $name {
                use $crate::openflow::sample::{Dice, Sample};
                let all: &[fn(&mut Dice) -> $body] =
                    &[$(|_dice| $crate::openflow::macros::bodies!(@sample _dice, $body::$variant $(, $type)?)),*];
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
