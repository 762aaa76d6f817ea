//! Variants: selects which of a resource's files is used, by platform and by the game's
//! preferences. Works on property names only, independent of files and kinds. docs/resources.md
//! describes the rules for games.

use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::IdString64;
use engine_foundation::suggest;

/// Platforms that every game has. Their names occur as properties in file names, and as blocks in
/// settings. Any other property is defined by the game: a language, a difficulty, a season.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos", "android", "ios", "web"];

/// Maximum number of a game's own platforms.
pub const OWN_PLATFORMS_MAX: usize = 16;

/// The platforms of a game: those of every game, and its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platforms {
    own: Vec<String>,
}

impl Platforms {
    /// Returns the platforms of a game with these platforms of its own. The error message names the
    /// defect of a name.
    pub fn with_own(own: Vec<String>) -> Result<Platforms, String> {
        if own.len() > OWN_PLATFORMS_MAX {
            return Err(format!(
                "{} platforms are more than {OWN_PLATFORMS_MAX} (OWN_PLATFORMS_MAX)",
                own.len()
            ));
        }
        for (i, name) in own.iter().enumerate() {
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if name.is_empty() || !name.chars().all(is_word) {
                return Err(format!(
                    "'{name}' is not a platform's name: give one word of a-z, 0-9 and _"
                ));
            } else if PLATFORMS.contains(&name.as_str()) {
                return Err(format!("'{name}' is a platform of every game: leave it out"));
            } else if own[..i].contains(name) {
                return Err(format!("'{name}' appears twice"));
            }
        }
        Ok(Platforms { own })
    }

    pub fn contains(&self, word: &str) -> bool {
        PLATFORMS.contains(&word) || self.own.iter().any(|own| own == word)
    }

    /// Returns the names of all platforms.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        PLATFORMS.iter().copied().chain(self.own.iter().map(String::as_str))
    }

    /// Checks that a word is the name of a platform. The error message suggests a similar one.
    pub fn check(&self, word: &str) -> Result<(), String> {
        if self.contains(word) {
            return Ok(());
        }
        let hint = suggest::hint(word, self.names());
        let known: Vec<&str> = self.names().collect();
        Err(format!(
            "there is no platform '{word}'{hint} (known: {}; `platforms` in settings.sjson names a \
             game's own)",
            known.join(", ")
        ))
    }
}

/// Maximum number of preferences at a time. Each one doubles the candidates that `engine explain`
/// lists.
pub const PREFERENCES_MAX: usize = 12;

/// The properties of a variant, which are between a file's name and its type. They form a set:
/// their order in the file name has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariantProperties(Vec<String>);

impl VariantProperties {
    /// Creates the set of these properties. The error is a property that occurs twice.
    pub fn of<'a>(
        properties: impl IntoIterator<Item = &'a str>,
    ) -> Result<VariantProperties, String> {
        let mut set: Vec<String> = properties.into_iter().map(str::to_string).collect();
        set.sort_compact();
        match set.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(pair[0].clone()),
            None => Ok(VariantProperties(set)),
        }
    }

    /// Returns the properties, sorted.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns true if there are no properties, as for the base variant.
    pub fn is_base(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if every property is also one of the other set: a game that prefers those can
    /// use the variant.
    pub fn is_subset_of(&self, other: &VariantProperties) -> bool {
        self.0.iter().all(|word| other.0.contains(word))
    }

    /// Returns the properties that are platforms.
    pub fn platforms<'a>(&'a self, known: &'a Platforms) -> impl Iterator<Item = &'a str> {
        self.properties().filter(|word| known.contains(word))
    }

    /// Returns the set without platforms, as compiled data stores it.
    pub fn without_platforms(&self, known: &Platforms) -> VariantProperties {
        let rest = self.0.iter().filter(|word| !known.contains(word));
        VariantProperties(rest.cloned().collect())
    }
}

impl std::fmt::Display for VariantProperties {
    /// Writes the properties as `en.noblood`; writes nothing for the base variant.
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0.join("."))
    }
}

/// Returns the indices of a resource's variants that are compiled for a platform. If any variants
/// name the platform, these are selected; otherwise those that name no platform.
pub fn for_platform(
    variants: &[VariantProperties],
    platform: &str,
    known: &Platforms,
) -> Vec<usize> {
    let named = |i: &usize| variants[*i].platforms(known).any(|word| word == platform);
    let own: Vec<usize> = (0..variants.len()).filter(named).collect();
    if !own.is_empty() {
        return own;
    }
    (0..variants.len()).filter(|i| variants[*i].platforms(known).next().is_none()).collect()
}

/// Returns the index of the highest rank.
fn best_ranked(ranks: impl Iterator<Item = Option<u32>>) -> Option<usize> {
    let ranked = ranks.enumerate().filter_map(|(i, rank)| Some((rank?, i)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, i)| i)
}

/// The properties that a game prefers, most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantPreferences(Vec<String>);

impl VariantPreferences {
    /// Creates preferences from an ordered list of properties. The error message names the defect.
    pub fn new(properties: Vec<String>) -> Result<VariantPreferences, String> {
        if properties.len() > PREFERENCES_MAX {
            return Err(format!(
                "{} properties are more than {PREFERENCES_MAX} (PREFERENCES_MAX)",
                properties.len()
            ));
        }
        for (i, word) in properties.iter().enumerate() {
            if word.is_empty() || word.contains(['.', '/', ' ']) {
                return Err(format!(
                    "'{word}' is not a property: give one word, as in a file's name"
                ));
            } else if PLATFORMS.contains(&word.as_str()) {
                return Err(format!(
                    "'{word}' is a platform, which is chosen when data is compiled"
                ));
            } else if properties[..i].contains(word) {
                return Err(format!("'{word}' appears twice"));
            }
        }
        Ok(VariantPreferences(properties))
    }

    /// Checks that no property is a platform of the game. The error message names the one that is.
    pub fn check_platforms(&self, platforms: &Platforms) -> Result<(), String> {
        match self.0.iter().find(|word| platforms.contains(word)) {
            Some(word) => {
                Err(format!("'{word}' is a platform, which is chosen when data is compiled"))
            }
            None => Ok(()),
        }
    }

    /// Returns the preferred properties, most important first.
    pub fn properties(&self) -> &[String] {
        &self.0
    }

    /// Returns the rank of a variant: its properties as bits, with the first preference as the
    /// highest bit. Returns `None` for a variant with a property that is not preferred.
    fn rank(&self, variant: &VariantProperties) -> Option<u32> {
        self.rank_by(variant.properties(), |preferred, word| preferred == word)
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

    /// Returns the index of the variant to use, or `None` if no variant qualifies.
    pub fn winner(&self, variants: &[VariantProperties]) -> Option<usize> {
        best_ranked(variants.iter().map(|variant| self.rank(variant)))
    }

    /// Returns the index of the variant to use, like [`VariantPreferences::winner`], if only the
    /// hashes of the properties are known, as in a release.
    pub fn winner_of_hashes<'a>(
        &self,
        variants: impl Iterator<Item = &'a [IdString64]>,
    ) -> Option<usize> {
        let same = |preferred: &str, word: IdString64| IdString64::new(preferred) == word;
        best_ranked(variants.map(|variant| self.rank_by(variant.iter().copied(), same)))
    }

    /// Returns all sets of properties that are looked up, in lookup order: all subsets, in
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

    fn set(text: &str) -> VariantProperties {
        VariantProperties::of(text.split('.').filter(|word| !word.is_empty())).unwrap()
    }

    fn sets(texts: &[&str]) -> Vec<VariantProperties> {
        texts.iter().map(|text| set(text)).collect()
    }

    fn preferences(properties: &[&str]) -> VariantPreferences {
        VariantPreferences::new(properties.iter().map(|word| word.to_string()).collect()).unwrap()
    }

    #[test]
    fn candidates_have_the_order_of_the_documented_example() {
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
    fn a_variant_of_higher_priority_beats_one_of_lower_priority() {
        let order = preferences(&["withkittens", "noblood", "fr"]);
        assert_eq!(order.winner(&sets(&["", "noblood.fr", "withkittens"])), Some(2));
        assert_eq!(order.winner(&sets(&["fr.noblood", "fr", ""])), Some(0));
        assert_eq!(order.winner(&sets(&["en", "de"])), None, "nobody prefers either");
        assert_eq!(order.winner(&sets(&["en", ""])), Some(1));
    }

    #[test]
    fn the_winner_is_the_first_existing_candidate() {
        let order = preferences(&["a", "b", "c"]);
        let candidates = order.candidates();
        for chosen in 1u32..256 {
            let there = (0..8).filter(|i| chosen >> i & 1 == 1);
            let variants: Vec<_> = there.map(|i: usize| set(&candidates[i])).collect();
            let wanted = candidates.iter().find(|text| variants.contains(&set(text))).unwrap();
            let winner = order.winner(&variants).unwrap();
            assert_eq!(variants[winner], set(wanted));
            let hashes =
                |set: &VariantProperties| set.properties().map(IdString64::new).collect::<Vec<_>>();
            let hashed: Vec<_> = variants.iter().map(hashes).collect();
            let by_hash = order.winner_of_hashes(hashed.iter().map(|set| &set[..]));
            assert_eq!(by_hash, Some(winner));
        }
    }

    #[test]
    fn platform_variants_exclude_others_of_the_same_resource() {
        let variants = sets(&["", "en", "android", "en.android", "web"]);
        let known = Platforms::default();
        assert_eq!(for_platform(&variants, "android", &known), [2, 3]);
        assert_eq!(for_platform(&variants, "linux", &known), [0, 1]);
        assert_eq!(for_platform(&sets(&["android"]), "linux", &known), [0usize; 0]);
        assert_eq!(variants[3].without_platforms(&known), set("en"));
    }

    #[test]
    fn a_games_own_platforms_are_platforms() {
        let known = Platforms::with_own(vec!["handheld".to_string()]).unwrap();
        let variants = sets(&["", "handheld", "en.handheld"]);
        assert_eq!(for_platform(&variants, "handheld", &known), [1, 2]);
        assert_eq!(for_platform(&variants, "linux", &known), [0]);
        assert_eq!(variants[2].without_platforms(&known), set("en"));
        let message = preferences(&["handheld"]).check_platforms(&known).unwrap_err();
        assert!(message.starts_with("'handheld' is a platform"), "{message}");
        let message = known.check("handeld").unwrap_err();
        assert!(message.contains("did you mean 'handheld'?"), "{message}");
        assert_eq!(known.check("web"), Ok(()));
        let refused = |names: &[&str]| {
            let names = names.iter().map(|name| name.to_string()).collect();
            Platforms::with_own(names).unwrap_err()
        };
        assert_eq!(refused(&["linux"]), "'linux' is a platform of every game: leave it out");
        assert_eq!(refused(&["a", "a"]), "'a' appears twice");
        let word = "'A.b' is not a platform's name: give one word of a-z, 0-9 and _";
        assert_eq!(refused(&["A.b"]), word);
        assert!(refused(&["x"; 17]).starts_with("17 platforms are more than 16"));
    }

    #[test]
    fn a_variant_is_usable_with_more_properties_than_its_own() {
        assert!(set("").is_subset_of(&set("fr")) && set("en").is_subset_of(&set("web.en")));
        assert!(!set("fr").is_subset_of(&set("")) && !set("en.web").is_subset_of(&set("en")));
    }

    #[test]
    fn properties_in_a_name_are_a_set_without_duplicates() {
        assert_eq!(set("en.web"), set("web.en"));
        assert_eq!(VariantProperties::of(["en", "en"]), Err("en".to_string()));
    }

    #[test]
    fn an_invalid_order_is_refused_with_a_message() {
        let message = |list: &[&str]| {
            VariantPreferences::new(list.iter().map(|word| word.to_string()).collect()).unwrap_err()
        };
        assert_eq!(message(&["fr", "fr"]), "'fr' appears twice");
        let platform = "'linux' is a platform, which is chosen when data is compiled";
        assert_eq!(message(&["linux"]), platform);
        assert!(message(&["a.b"]).starts_with("'a.b' is not a property"));
        let many: Vec<String> = (0..13).map(|i| format!("p{i}")).collect();
        assert_eq!(
            VariantPreferences::new(many).unwrap_err(),
            "13 properties are more than 12 (PREFERENCES_MAX)"
        );
    }
}
