//! Text in the languages that a configuration can ask for.

use crate::types::Language;

/// One text in every language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// English.
    pub en: &'static str,
    /// Chinese, in simplified characters.
    pub zh: &'static str,
}

/// A text in every language.
#[must_use]
pub const fn words(en: &'static str, zh: &'static str) -> Words {
    Words { en, zh }
}

impl Words {
    /// The text in one language.
    #[must_use]
    pub const fn get(self, language: Language) -> &'static str {
        match language {
            Language::En => self.en,
            Language::Zh => self.zh,
        }
    }
}
