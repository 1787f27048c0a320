//! Problems: an enum for each room, declared with code, kind and words of each variant in one place.

use core::fmt;

/// What sort of mistake a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A name that nothing has: of a node, a field, a choice.
    UnknownName,
    /// A value of the right type that is too small, too large, or not allowed here.
    OutOfRange,
    /// A value of another type or form than is needed, or no value where one is needed.
    WrongType,
    /// Right in itself, but the run has gone beyond the point where it could be said.
    TooLate,
    /// Two things that are said contradict each other, or the same thing is said twice.
    Conflict,
    /// The input is right, and something below failed: a file, an interface, the engine.
    Failed,
}

impl Kind {
    /// The name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::UnknownName => "unknown-name",
            Kind::OutOfRange => "out-of-range",
            Kind::WrongType => "wrong-type",
            Kind::TooLate => "too-late",
            Kind::Conflict => "conflict",
            Kind::Failed => "failed",
        }
    }
}

/// A figure or a name in the words of a problem.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A whole number, with any sign.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// Text: a name, or a value as the user wrote it.
    Text(String),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Int(value) => write!(f, "{value}"),
            Argument::Float(value) => write!(f, "{value}"),
            Argument::Text(value) => f.write_str(value),
        }
    }
}

macro_rules! argument {
    ($($int:ty),*) => {
        $(impl From<$int> for Argument {
            fn from(value: $int) -> Argument {
                Argument::Int(value as i128)
            }
        })*
    };
}
argument!(u8, u16, u32, u64, usize, i32, i64, i128);
impl From<f64> for Argument {
    fn from(value: f64) -> Argument {
        Argument::Float(value)
    }
}
impl From<String> for Argument {
    fn from(value: String) -> Argument {
        Argument::Text(value)
    }
}
impl From<&'static str> for Argument {
    fn from(value: &'static str) -> Argument {
        Argument::Text(value.to_string())
    }
}

/// Something that can be wrong. Its `Display` is the words.
pub trait Problem: fmt::Display + fmt::Debug + Send + Sync + 'static {
    /// A name for programs, which stays when the words change.
    fn code(&self) -> &'static str;
    /// What sort of mistake it is.
    fn kind(&self) -> Kind;
    /// What the words are made with, by name.
    fn arguments(&self) -> Vec<(&'static str, Argument)>;
}

/// Declares an enum of problems: `Name { argument: Type, … } is Kind, "code", "words with {argument}";` for each.
///
/// The words are one sentence without its place and without a final stop: what is wrong, and what would be right.
#[macro_export]
macro_rules! problems {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$doc:meta])* $variant:ident { $($argument:ident : $ty:ty),* $(,)? } is $kind:ident, $code:literal, $words:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name {
            $( $(#[$doc])* #[allow(missing_docs, reason = "the words of the problem say what each argument is")]
               $variant { $($argument: $ty),* } ),*
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $( $name::$variant { $($argument),* } => {
                        $( let _ = $argument; )*
                        write!(f, $words)
                    } )*
                }
            }
        }

        impl $crate::diagnostic::Problem for $name {
            fn code(&self) -> &'static str {
                match self { $( $name::$variant { .. } => $code ),* }
            }
            fn kind(&self) -> $crate::diagnostic::Kind {
                match self { $( $name::$variant { .. } => $crate::diagnostic::Kind::$kind ),* }
            }
            fn arguments(&self) -> Vec<(&'static str, $crate::diagnostic::Argument)> {
                match self {
                    $( $name::$variant { $($argument),* } => vec![
                        $( (stringify!($argument), $crate::diagnostic::Argument::from($argument.clone())) ),*
                    ] ),*
                }
            }
        }

        impl From<$name> for $crate::diagnostic::Diagnostic {
            fn from(problem: $name) -> $crate::diagnostic::Diagnostic {
                $crate::diagnostic::Diagnostic::new(problem)
            }
        }
    };
}

/// What the operating system says, without its number.
pub fn os_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    number.and_then(|number| text.strip_suffix(&number).map(str::to_string)).unwrap_or(text)
}

/// The same in lower case, for the middle of a sentence.
pub fn os_words(error: &std::io::Error) -> String {
    let text = os_text(error);
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
