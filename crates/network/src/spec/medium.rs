//! What frames are on a link, by the name of the medium.

use base::describe::{Describe, Schema, Schemas, Value, Word, unknown_word};
use base::diagnostic::Diagnostic;
use engine::medium::{ETHERNET, MEDIA, Medium};

/// A medium that the engine has.
#[derive(Clone, Copy, Debug)]
pub struct LinkMedium(pub &'static Medium);

impl Default for LinkMedium {
    fn default() -> LinkMedium {
        LinkMedium(&ETHERNET)
    }
}

impl PartialEq for LinkMedium {
    fn eq(&self, other: &LinkMedium) -> bool {
        self.0.name == other.0.name
    }
}

impl Describe for LinkMedium {
    fn read(value: &Value) -> Result<LinkMedium, Diagnostic> {
        let known: Vec<&str> = MEDIA.iter().map(|medium| medium.name).collect();
        let medium = value.as_text().and_then(Medium::named);
        medium.map(LinkMedium).ok_or_else(|| unknown_word(value, &known))
    }
    fn write(&self) -> Value {
        self.0.name.into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        let word = |medium: &&Medium| Word { word: medium.name, meaning: medium.meaning.into() };
        Schema::Words(MEDIA.iter().map(word).collect())
    }
}
