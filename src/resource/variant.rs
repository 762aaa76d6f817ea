//! Variants: which of a resource's files serves, by platform and by the game's preferences. Works
//! on plain words; knows no files and no kinds. SYSTEMS A2.3 to A2.7.

use crate::foundation::hash::IdString64;

/// The platforms that a file can be for, as words in its name. Any other word is a property of the
/// game's own: a language, a difficulty, a season.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos", "android", "ios", "web"];

/// The most preferences at a time: each doubles the candidates that `engine explain` lists.
pub const PREFERENCES_MAX: usize = 12;

/// The words between a file's name and its type: a set, whatever their order in the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Properties(Vec<String>);

impl Properties {
    /// The set of these words; the word that stands twice, if one does.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Properties, String> {
        let mut set: Vec<String> = words.into_iter().map(str::to_string).collect();
        set.sort();
        match set.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(pair[0].clone()),
            None => Ok(Properties(set)),
        }
    }

    /// The words, sorted.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there are none: the base variant.
    pub fn is_base(&self) -> bool {
        self.0.is_empty()
    }

    /// The platforms among them.
    pub fn platforms(&self) -> impl Iterator<Item = &str> {
        self.words().filter(|word| PLATFORMS.contains(word))
    }

    /// The set without platforms, as it is kept in compiled data.
    pub fn without_platforms(&self) -> Properties {
        let rest = self.0.iter().filter(|word| !PLATFORMS.contains(&word.as_str()));
        Properties(rest.cloned().collect())
    }
}

impl std::fmt::Display for Properties {
    /// `en.noblood`; nothing for the base.
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0.join("."))
    }
}

/// The variants of one resource that are compiled for a platform: if any names it, those that do;
/// if none does, those that name no platform (A2.4). Gives their indices.
pub fn for_platform(variants: &[Properties], platform: &str) -> Vec<usize> {
    let named = |i: &usize| variants[*i].platforms().any(|word| word == platform);
    let own: Vec<usize> = (0..variants.len()).filter(named).collect();
    if !own.is_empty() {
        return own;
    }
    (0..variants.len()).filter(|i| variants[*i].platforms().next().is_none()).collect()
}

/// The index of the highest rank.
fn best(ranks: impl Iterator<Item = Option<u32>>) -> Option<usize> {
    let ranked = ranks.enumerate().filter_map(|(i, rank)| Some((rank?, i)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, i)| i)
}

/// What a game prefers, most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences(Vec<String>);

impl Preferences {
    /// Takes an order of properties, or says what is wrong with it.
    pub fn new(words: Vec<String>) -> Result<Preferences, String> {
        if words.len() > PREFERENCES_MAX {
            return Err(format!(
                "{} properties are more than {PREFERENCES_MAX} (PREFERENCES_MAX)",
                words.len()
            ));
        }
        for (i, word) in words.iter().enumerate() {
            if word.is_empty() || word.contains(['.', '/', ' ']) {
                return Err(format!(
                    "'{word}' is not a property: give one word, as in a file's name"
                ));
            } else if PLATFORMS.contains(&word.as_str()) {
                return Err(format!(
                    "'{word}' is a platform, which is chosen when data is compiled"
                ));
            } else if words[..i].contains(word) {
                return Err(format!("'{word}' is there twice"));
            }
        }
        Ok(Preferences(words))
    }

    /// The words, most important first.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// How much a variant is preferred: its properties as bits, the first preference the highest;
    /// `None` for one that has a property which nobody prefers.
    fn rank(&self, variant: &Properties) -> Option<u32> {
        self.rank_by(variant.words(), |preferred, word| preferred == word)
    }

    fn rank_by<T: Copy>(
        &self,
        variant: impl Iterator<Item = T>,
        same: impl Fn(&str, T) -> bool,
    ) -> Option<u32> {
        let mut rank = 0;
        for word in variant {
            let at = self.0.iter().position(|preferred| same(preferred, word))?;
            rank |= 1 << (self.0.len() - 1 - at);
        }
        Some(rank)
    }

    /// The index of the variant that serves (A2.6), if one can.
    pub fn winner(&self, variants: &[Properties]) -> Option<usize> {
        best(variants.iter().map(|variant| self.rank(variant)))
    }

    /// The same of variants whose properties are known by their hashes alone, as in a release.
    pub fn winner_of_hashes<'a>(
        &self,
        variants: impl Iterator<Item = &'a [IdString64]>,
    ) -> Option<usize> {
        let same = |preferred: &str, word: IdString64| IdString64::new(preferred) == word;
        best(variants.map(|variant| self.rank_by(variant.iter().copied(), same)))
    }

    /// Every set of properties that is asked for, in the order of asking: all subsets, in
    /// descending binary order with the first preference as the highest bit.
    pub fn candidates(&self) -> Vec<String> {
        let count = self.0.len();
        let subset = |bits: usize| {
            let chosen = (0..count).filter(|i| bits >> (count - 1 - i) & 1 == 1);
            chosen.map(|i| self.0[i].as_str()).collect::<Vec<_>>().join(".")
        };
        (0..1usize << count).rev().map(subset).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Properties {
        Properties::of(text.split('.').filter(|word| !word.is_empty())).unwrap()
    }

    fn sets(texts: &[&str]) -> Vec<Properties> {
        texts.iter().map(|text| set(text)).collect()
    }

    fn preferences(words: &[&str]) -> Preferences {
        Preferences::new(words.iter().map(|word| word.to_string()).collect()).unwrap()
    }

    #[test]
    fn candidates_come_in_the_order_of_the_prescribed_example() {
        let order = preferences(&["withkittens", "noblood", "fr"]);
        let wanted = [
            "withkittens.noblood.fr",
            "withkittens.noblood",
            "withkittens.fr",
            "withkittens",
            "noblood.fr",
            "noblood",
            "fr",
            "",
        ];
        assert_eq!(order.candidates(), wanted);
    }

    #[test]
    fn a_kitten_resource_in_english_beats_a_bloodless_french_one() {
        let order = preferences(&["withkittens", "noblood", "fr"]);
        assert_eq!(order.winner(&sets(&["", "noblood.fr", "withkittens"])), Some(2));
        assert_eq!(order.winner(&sets(&["fr.noblood", "fr", ""])), Some(0));
        assert_eq!(order.winner(&sets(&["en", "de"])), None, "nobody prefers either");
        assert_eq!(order.winner(&sets(&["en", ""])), Some(1));
    }

    #[test]
    fn the_winner_is_the_first_candidate_that_exists_for_every_choice_of_variants() {
        let order = preferences(&["a", "b", "c"]);
        let candidates = order.candidates();
        for chosen in 1u32..256 {
            let there = (0..8).filter(|i| chosen >> i & 1 == 1);
            let variants: Vec<_> = there.map(|i: usize| set(&candidates[i])).collect();
            let wanted = candidates.iter().find(|text| variants.contains(&set(text))).unwrap();
            let winner = order.winner(&variants).unwrap();
            assert_eq!(variants[winner], set(wanted));
            let hashes = |set: &Properties| set.words().map(IdString64::new).collect::<Vec<_>>();
            let hashed: Vec<_> = variants.iter().map(hashes).collect();
            let by_hash = order.winner_of_hashes(hashed.iter().map(|set| &set[..]));
            assert_eq!(by_hash, Some(winner));
        }
    }

    #[test]
    fn a_platforms_own_variants_shut_out_the_others_for_that_resource_alone() {
        let variants = sets(&["", "en", "android", "en.android", "web"]);
        assert_eq!(for_platform(&variants, "android"), [2, 3]);
        assert_eq!(for_platform(&variants, "linux"), [0, 1]);
        assert_eq!(for_platform(&sets(&["android"]), "linux"), [0usize; 0]);
        assert_eq!(variants[3].without_platforms(), set("en"));
    }

    #[test]
    fn words_in_a_name_are_a_set_and_none_stands_twice() {
        assert_eq!(set("en.web"), set("web.en"));
        assert_eq!(Properties::of(["en", "en"]), Err("en".to_string()));
    }

    #[test]
    fn an_order_that_cannot_be_is_refused_with_words() {
        let words = |list: &[&str]| {
            Preferences::new(list.iter().map(|word| word.to_string()).collect()).unwrap_err()
        };
        assert_eq!(words(&["fr", "fr"]), "'fr' is there twice");
        let platform = "'linux' is a platform, which is chosen when data is compiled";
        assert_eq!(words(&["linux"]), platform);
        assert!(words(&["a.b"]).starts_with("'a.b' is not a property"));
        let many: Vec<String> = (0..13).map(|i| format!("p{i}")).collect();
        assert_eq!(
            Preferences::new(many).unwrap_err(),
            "13 properties are more than 12 (PREFERENCES_MAX)"
        );
    }
}
