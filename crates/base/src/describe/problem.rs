//! What can be wrong with any description, whatever it describes.

use super::{Value, listed, near};
use crate::diagnostic::Diagnostic;

crate::problems! {
    /// Problems that reading finds.
    pub enum DescribeProblem {
        /// A key that the record does not have.
        UnknownField { field: String, known: String, hint: String } is UnknownName, "unknown-field", "unknown field '{field}'{hint}";
        /// A key that has another name now.
        RenamedField { field: String, new: String } is UnknownName, "renamed-field", "'{field}' is called '{new}' now";
        /// A word that has another name now.
        RenamedWord { word: String, new: String } is UnknownName, "renamed-word", "'{word}' is called '{new}' now";
        /// A field that has to be there.
        Missing { field: String, example: String } is WrongType, "missing", "{field} is missing{example}";
        /// A value of another type.
        WrongType { found: String, needed: String } is WrongType, "wrong-type", "{found}: it should be {needed}";
        /// A word that is none of those that are known.
        UnknownWord { word: String, known: String, hint: String } is UnknownName, "unknown-word", "{word} is none of {known}{hint}";
        /// A number outside its range.
        OutOfRange { value: String, least: String, most: String } is OutOfRange, "out-of-range", "{value}: it should be {least} to {most}";
        /// A quantity of nothing where there has to be some.
        NotAboveZero { value: String } is OutOfRange, "not-above-zero", "{value}: it is not above zero";
        /// A list of another length.
        WrongLength { found: usize, needed: String } is WrongType, "wrong-length", "{found} elements: {needed}";
        /// A text that is not of the form of its type.
        Malformed { value: String, needed: String } is WrongType, "malformed", "{value} is not {needed}";
        /// A key or a name that is there a second time.
        Twice { name: String } is Conflict, "twice", "'{name}' is given twice";
    }
}

/// A value of another type than `needed`, which follows "it should be".
pub fn wrong_type(value: &Value, needed: impl Into<String>) -> Diagnostic {
    DescribeProblem::WrongType { found: value.shown(), needed: needed.into() }.into()
}

/// A value that is not of the form of its type; `needed` follows "is not".
pub fn malformed(value: &Value, needed: impl Into<String>) -> Diagnostic {
    DescribeProblem::Malformed { value: value.shown(), needed: needed.into() }.into()
}

/// A word that is none of `known`, or one of them that can't stand alone.
pub fn unknown_word(value: &Value, known: &[&str]) -> Diagnostic {
    if value.as_text().is_some_and(|text| known.contains(&text)) {
        return wrong_type(value, "a mapping that says more about it, not the word alone");
    }
    let hint = value.as_text().map(|text| near(text, known)).unwrap_or_default();
    DescribeProblem::UnknownWord { word: value.shown(), known: listed(known), hint }.into()
}
