//! The words of a line of a case: `kind key=value flag [a group of words]`.

use core::fmt::{Debug, Display};
use core::str::FromStr;

/// What is left of a line. Each word is taken once; [`Words::end`] refuses what nobody has taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    all: Vec<String>,
}

impl Words {
    /// The words of a text; what stands between square brackets is one.
    pub(super) fn of(text: &str) -> Result<Words, String> {
        let (mut all, mut word, mut depth) = (Vec::new(), String::new(), 0);
        for letter in text.chars() {
            match letter {
                '[' => depth += 1,
                ']' if depth == 0 => return Err(format!("a bracket is closed that is not open: {text}")),
                ']' => depth -= 1,
                _ => {}
            }
            match letter.is_whitespace() && depth == 0 {
                true if word.is_empty() => {}
                true => all.push(core::mem::take(&mut word)),
                false => word.push(letter),
            }
        }
        if depth > 0 {
            return Err(format!("a bracket is not closed: {text}"));
        }
        all.extend(Some(word).filter(|word| !word.is_empty()));
        Ok(Words { all })
    }

    /// Takes the first word that is left.
    pub(super) fn first(&mut self) -> Result<String, String> {
        match self.all.is_empty() {
            true => Err("a word is missing at the end of the line".into()),
            false => Ok(self.all.remove(0)),
        }
    }

    /// Everything that is left, as it was written.
    pub(super) fn rest(&mut self) -> String {
        core::mem::take(&mut self.all).join(" ")
    }

    /// All words that are left and stand alone.
    pub(super) fn plain(&mut self) -> Vec<String> {
        core::mem::take(&mut self.all)
    }

    /// The value of a key; of one that is there twice the later, so that what is named can be changed.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let prefix = format!("{key}=");
        let found = self.all.iter().rev().find_map(|word| word.strip_prefix(&prefix)).map(str::to_owned);
        self.all.retain(|word| !word.starts_with(&prefix));
        found
    }

    /// The same as a value of some type.
    pub(super) fn get<T: FromStr<Err: Display>>(&mut self, key: &str) -> Result<Option<T>, String> {
        let read = |text: String| text.parse().map_err(|why| format!("{key}={text}: {why}"));
        self.text(key).map(read).transpose()
    }

    /// The same, or what is usual.
    pub(super) fn or<T: FromStr<Err: Display>>(&mut self, key: &str, usual: T) -> Result<T, String> {
        Ok(self.get(key)?.unwrap_or(usual))
    }

    /// The values of a key, with commas between them.
    pub(super) fn list<T: FromStr<Err: Display>>(&mut self, key: &str) -> Result<Vec<T>, String> {
        let text = self.text(key).unwrap_or_default();
        let all = text.split(',').filter(|one| !one.is_empty());
        all.map(|one| one.parse().map_err(|why| format!("{key}={text}: {why}"))).collect()
    }

    /// A number in hexadecimal or decimal digits.
    pub(super) fn number(&mut self, key: &str, usual: u32) -> Result<u32, String> {
        let Some(text) = self.text(key) else { return Ok(usual) };
        let read = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        read.map_err(|why| format!("{key}={text}: {why}"))
    }

    /// Is a word there?
    pub(super) fn has(&mut self, word: &str) -> bool {
        let before = self.all.len();
        self.all.retain(|one| one != word);
        self.all.len() < before
    }

    /// What stands between brackets, each group by itself.
    pub(super) fn groups(&mut self) -> Vec<String> {
        let (groups, all) =
            core::mem::take(&mut self.all).into_iter().partition(|word| word.starts_with('['));
        self.all = all;
        Vec::into_iter(groups).map(|group: String| group[1..group.len() - 1].to_owned()).collect()
    }

    /// Has every word been taken?
    pub(super) fn end(self) -> Result<(), String> {
        match self.all.first() {
            Some(word) => Err(format!("'{word}' means nothing here")),
            None => Ok(()),
        }
    }
}

/// Values with commas between them.
pub(super) fn joined<T: Display>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

/// Text that is made of words, some of them only if they say something.
#[derive(Debug, Default)]
pub(super) struct Line(String);

impl Line {
    pub(super) fn new(kind: impl Display) -> Line {
        Line(kind.to_string())
    }

    pub(super) fn key(mut self, key: &str, value: impl Display) -> Line {
        self.0 += &format!(" {key}={value}");
        self
    }

    /// A key whose value is worth a word.
    pub(super) fn some(self, key: &str, value: Option<impl Display>) -> Line {
        match value {
            Some(value) => self.key(key, value),
            None => self,
        }
    }

    /// A list, unless it is empty.
    pub(super) fn list<T: Display>(self, key: &str, all: impl IntoIterator<Item = T>) -> Line {
        let text = joined(all);
        self.some(key, Some(text).filter(|text| !text.is_empty()))
    }

    pub(super) fn flag(mut self, word: &str, is_set: bool) -> Line {
        if is_set {
            self.0 += &format!(" {word}");
        }
        self
    }

    pub(super) fn group(mut self, text: &str) -> Line {
        self.0 += &format!("\n    [{text}]");
        self
    }

    pub(super) fn end(self) -> String {
        self.0
    }
}

/// Fails with a sentence where something of a message can't be written.
pub(super) fn written<T, E: Debug>(made: Result<T, E>) -> Result<T, String> {
    made.map_err(|why| format!("the message can't be written: {why:?}"))
}
