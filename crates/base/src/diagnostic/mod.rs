//! What is wrong with an input, as data: where, which problem, and its arguments. The words are put in one place for
//! each problem.
//!
//! - [`Diagnostic`]: a problem and the place in the description where it is
//! - [`Problem`]: implemented by enums that [`problems!`](crate::problems) declares: code, kind, arguments and words of
//!   each problem
//! - [`Step`]: one step of the way from the top of a description down to a value

mod problem;

pub use problem::{Argument, Kind, Problem, os_text, os_words};

use core::fmt;

/// One step from a value into what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The value of a key in a mapping.
    Key(String),
    /// An element of a list, counted from 0.
    Index(usize),
    /// The same, with what people call it, such as `lsp 'east'`: for whoever knows that while the description is not at
    /// hand any more.
    Called(usize, String),
}

impl Step {
    /// The place in a list, if it is one.
    pub fn index(&self) -> Option<usize> {
        match self {
            Step::Key(_) => None,
            Step::Index(index) | Step::Called(index, _) => Some(*index),
        }
    }
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_string())
    }
}
impl From<String> for Step {
    fn from(key: String) -> Step {
        Step::Key(key)
    }
}
impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => f.write_str(key),
            Step::Index(index) | Step::Called(index, _) => write!(f, "{index}"),
        }
    }
}

/// A problem at a place in a description.
///
/// The place is built from the inside out: whoever reads the element of a list or the field of a record adds its own
/// step with [`Diagnostic::at`] when the error passes it, so that reading without errors costs no paths.
#[derive(Debug)]
pub struct Diagnostic(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// The steps, the innermost first.
    steps: Vec<Step>,
    /// The key itself is wrong, not the value that stands under it.
    on_key: bool,
    problem: Box<dyn Problem>,
}

impl Diagnostic {
    /// A problem of the value that is being looked at.
    pub fn new(problem: impl Problem) -> Diagnostic {
        Diagnostic(Box::new(Inner { steps: Vec::new(), on_key: false, problem: Box::new(problem) }))
    }

    /// The same problem, seen from the value that holds the one it is in.
    pub fn at(mut self, step: impl Into<Step>) -> Diagnostic {
        self.0.steps.push(step.into());
        self
    }

    /// The same problem below several steps, the outermost first.
    pub fn below<S: Into<Step>>(self, steps: impl DoubleEndedIterator<Item = S>) -> Diagnostic {
        steps.rev().fold(self, Diagnostic::at)
    }

    /// The problem is the key at the end of the path, not what stands under it.
    pub fn on_key(mut self) -> Diagnostic {
        self.0.on_key = true;
        self
    }

    /// Another problem at the same place: for whoever knows more of it.
    pub fn with(mut self, problem: impl Problem) -> Diagnostic {
        self.0.problem = Box::new(problem);
        self
    }

    /// The same problem at another place.
    pub fn moved(mut self, path: Vec<Step>) -> Diagnostic {
        self.0.steps = path;
        self.0.steps.reverse();
        self
    }

    /// Is the key at the end of the path wrong, rather than its value?
    pub fn is_on_key(&self) -> bool {
        self.0.on_key
    }

    /// The steps from the top of the description down to the value.
    pub fn path(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.0.steps.iter().rev()
    }

    /// Name of the problem for programs, such as `unknown-field`.
    pub fn code(&self) -> &'static str {
        self.0.problem.code()
    }

    /// What sort of mistake it is: callers choose an exception or an exit code by it.
    pub fn kind(&self) -> Kind {
        self.0.problem.kind()
    }

    /// The figures and names that the words are made with.
    pub fn arguments(&self) -> Vec<(&'static str, Argument)> {
        self.0.problem.arguments()
    }

    /// What is wrong and what would be right, without the place.
    pub fn words(&self) -> String {
        self.0.problem.to_string()
    }
}

/// The path with `/` between its steps, and the words.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.path().enumerate() {
            write!(f, "{}{step}", if place == 0 { "" } else { "/" })?;
        }
        if self.0.steps.is_empty() {
            write!(f, "{}", self.0.problem)
        } else {
            write!(f, ": {}", self.0.problem)
        }
    }
}

impl core::error::Error for Diagnostic {}

/// Adds the step from a holder to the value that it reads.
pub trait At<T> {
    /// The same result; an error has `step` in front of its path.
    fn at(self, step: impl Into<Step>) -> Result<T, Diagnostic>;
}

impl<T> At<T> for Result<T, Diagnostic> {
    fn at(self, step: impl Into<Step>) -> Result<T, Diagnostic> {
        self.map_err(|error| error.at(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::problems! {
        /// Problems of a made-up description.
        enum Sample {
            /// A figure that is too small.
            TooSmall { value: u32, least: u32 } is OutOfRange, "too-small", "{value}: at least {least}";
            /// Nothing to say but the words.
            Bare {} is Conflict, "bare", "it is there twice";
        }
    }

    #[test]
    fn a_diagnostic_says_where_what_and_by_which_figures() {
        let found = Diagnostic::new(Sample::TooSmall { value: 1, least: 68 }).at("mtu").at(3).at("links");
        assert_eq!(found.path().map(ToString::to_string).collect::<Vec<_>>(), ["links", "3", "mtu"]);
        assert_eq!((found.code(), found.kind()), ("too-small", Kind::OutOfRange));
        let said: Vec<(&str, String)> =
            found.arguments().into_iter().map(|(n, a)| (n, a.to_string())).collect();
        assert_eq!(said, [("value", "1".into()), ("least", "68".into())]);
        assert_eq!(found.to_string(), "links/3/mtu: 1: at least 68");
        let bare = Diagnostic::new(Sample::Bare {}).on_key();
        assert_eq!((bare.to_string().as_str(), bare.is_on_key()), ("it is there twice", true));
    }
}
