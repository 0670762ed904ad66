//! Text of pseudo-random words, the same on every machine and in every run.

/// How many different words there are.
const VOCABULARY: usize = 4096;
/// One word in so many is the frequent one, where it is wanted.
const FREQUENT_EVERY: usize = 256;
/// No `f`, so that no word by chance ends like the planted ones.
const CONSONANTS: &str = "bcdghklmnprstvz";
const VOWELS: &str = "aeiou";

/// A word that no syllables make up.
pub(crate) const FREQUENT: &str = "harbour";

/// A small generator of pseudo-random numbers (xorshift64*).
pub(crate) struct Xorshift(u64);

impl Xorshift {
    /// The generator of one file: near numbers give unlike sequences.
    pub(crate) fn new(seed: u64) -> Self {
        let mut generator = Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The upper half is the better one, and 31 bits fit everywhere.
        usize::try_from(self.next() >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// The words that all files are made of.
pub(crate) struct Vocabulary(Vec<String>);

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut generator = Xorshift::new(0);
        Self((0..VOCABULARY).map(|index| word(&mut generator, index)).collect())
    }

    /// Appends one line of `length` bytes or a little more to `text`.
    pub(crate) fn line(
        &self,
        generator: &mut Xorshift,
        length: usize,
        frequent: bool,
        text: &mut Vec<u8>,
    ) {
        let end = text.len() + length;
        while text.len() < end {
            let word = if frequent && generator.below(FREQUENT_EVERY) == 0 {
                FREQUENT
            } else {
                self.0.get(generator.below(VOCABULARY)).map_or(FREQUENT, String::as_str)
            };
            text.extend_from_slice(word.as_bytes());
            text.push(b' ');
        }
        text.pop();
        text.push(b'\n');
    }
}

/// Two to four syllables; two words in a hundred end in -ing, two in -ed.
fn word(generator: &mut Xorshift, index: usize) -> String {
    let mut word = String::new();
    for _ in 0..2 + generator.below(3) {
        for letters in [CONSONANTS, VOWELS] {
            word.extend(letters.chars().nth(generator.below(letters.len())));
        }
    }
    match index % 50 {
        0 => word.push_str("ing"),
        1 => word.push_str("ed"),
        _ => {}
    }
    word
}

#[cfg(test)]
mod tests {
    use super::{FREQUENT, Vocabulary, Xorshift};

    #[test]
    fn the_same_seed_gives_the_same_text_and_another_seed_another() {
        let vocabulary = Vocabulary::new();
        let text = |seed| {
            let mut text = Vec::new();
            vocabulary.line(&mut Xorshift::new(seed), 200, true, &mut text);
            text
        };
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn no_word_is_one_of_the_planted() {
        for word in Vocabulary::new().0 {
            assert!(!word.contains('f') && !word.contains(FREQUENT), "{word}");
        }
    }
}
