//! Suggestions for misspelled names ("Did you mean …?"): the nearest match in a list of names.

use crate::compact_sort::CompactSort;

/// Work limit of one search, in compared pairs of letters. A word and a name of 64 KiB have
/// 4,294,967,296 pairs, and the list of names may be very long.
const PAIRS_MAX: usize = 1 << 24;

/// Returns the distance of each name from `word`, where `part` selects the compared part of the
/// name. Names of a very different length are left out, and so are names that exceed the work
/// limit.
fn distances<'a>(
    word: &str,
    names: impl Iterator<Item = &'a str>,
    part: impl Fn(&'a str) -> &'a str,
) -> impl Iterator<Item = (usize, &'a str)> {
    let mut pairs_left = PAIRS_MAX;
    names.filter_map(move |name| {
        let compared = part(name);
        if !is_comparable(word, compared) {
            return None;
        }
        pairs_left = pairs_left.checked_sub(word.len().saturating_mul(compared.len()))?;
        Some((distance(word, compared), name))
    })
}

/// Returns the name that `word` most likely means, by Damerau-Levenshtein distance without repeated
/// edits (optimal string alignment). Returns `None` if more than about a third of the word differs.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    let scored = distances(word, names.into_iter(), |name| name);
    scored.filter(|(distance, _)| *distance <= allowed).min().map(|(_, name)| name)
}

/// Returns `", did you mean 'x'?"`, or an empty text if no name is near.
pub fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

/// Maximum number of names that a message lists.
const LISTED_MAX: usize = 12;

/// Returns `", did you mean 'x'?"`. If no name is near, returns `": it has 'a', 'b'"`, the names
/// that exist.
pub fn hint_or_names<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let near = hint(word, names.iter().copied());
    if !near.is_empty() {
        return near;
    }
    let listed: Vec<String> =
        names.iter().take(LISTED_MAX).map(|name| format!("'{name}'")).collect();
    match names.len().saturating_sub(LISTED_MAX) {
        _ if names.is_empty() => ": it has none".to_string(),
        0 => format!(": it has {}", listed.join(", ")),
        more => format!(": it has {} and {more} more", listed.join(", ")),
    }
}

/// Returns the nearest name for names in folders. If no whole name is near, compares only the last
/// part, because people often omit folders.
pub fn nearest_in_folders<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> Option<&'a str> {
    let last = |name: &'a str| name.rsplit('/').next().unwrap_or(name);
    let names = names.into_iter();
    let whole = nearest(word, names.clone());
    whole.or_else(|| {
        let end = word.rsplit('/').next().filter(|end| !end.is_empty())?;
        let allowed = end.chars().count() / 5;
        let scored = distances(end, names, last);
        scored.filter(|(distance, _)| *distance <= allowed).min().map(|(_, name)| name)
    })
}

/// Returns `", did you mean 'x'?"` for names in folders, or an empty text.
pub fn hint_in_folders<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    let near = nearest_in_folders(word, names);
    near.map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

/// Parts of names that carry little meaning.
const FILLERS: [&str; 8] = ["get", "set", "is", "has", "do", "draw", "on", "the"];
/// Minimum number of letters of a part that may match the beginning of another part.
const PART_LETTERS_MIN: usize = 3;
/// Maximum number of equally good names that are suggested. More names give no suggestion.
const SUGGESTIONS_MAX: usize = 3;

/// Returns the only name of which `word` is an abbreviation: `on_anim_event` is
/// `on_animation_event`, although another name may differ in fewer letters.
pub fn abbreviated<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let short = parts(word);
    let begins = |(short, whole): (&String, &String)| {
        short == whole || (short.len() >= PART_LETTERS_MIN && whole.starts_with(short.as_str()))
    };
    let mut found = names.into_iter().filter(|name| {
        let whole = parts(name);
        whole.len() == short.len() && short.iter().zip(&whole).all(begins)
    });
    let first = found.next();
    if found.next().is_some() { None } else { first }
}

/// Returns the names that match `word` by their parts, best first, for use if no whole name is
/// near. Either all parts of such a name are in `word` (`is_down`: `down`), or all parts of `word`
/// are in the name (`set_position`: `set_local_position`).
pub fn names_by_parts<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = parts(word);
    let scored =
        names.into_iter().filter_map(|name| Some((match_cost(&wanted, &parts(name))?, name)));
    let mut scored: Vec<(usize, &str)> = scored.collect();
    scored.sort_compact();
    let least = scored.first().map_or(0, |(score, _)| *score);
    let best = scored.iter().take_while(|(score, _)| *score == least);
    let best: Vec<&str> = best.map(|(_, name)| *name).collect();
    if best.len() > SUGGESTIONS_MAX { Vec::new() } else { best }
}

/// Returns `", did you mean 'x'?"` for names of functions: the nearest whole name, or else matches
/// by parts.
pub fn hint_of_functions<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    let names = names.into_iter();
    let found = match nearest(word, names.clone()) {
        Some(name) => vec![name],
        None => names_by_parts(word, names),
    };
    let found: Vec<String> = found.iter().map(|name| format!("'{name}'")).collect();
    match found.is_empty() {
        true => String::new(),
        false => format!(", did you mean {}?", found.join(" or ")),
    }
}

/// Splits a name into lower-case parts: `set_position` and `setPosition` give the same parts.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut small = false;
    for letter in name.chars().take(100) {
        if letter == '_' || letter.is_uppercase() && small {
            parts.push(String::new());
        }
        if letter != '_' {
            parts.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
        small = letter.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns a penalty for the match of a name's parts with the wanted parts, or `None` if they do
/// not match.
fn match_cost(wanted: &[String], name: &[String]) -> Option<usize> {
    // A setter is never suggested for a getter, and vice versa.
    let is_setter = |parts: &[String]| parts.iter().any(|part| part == "set");
    if is_setter(wanted) != is_setter(name) {
        return None;
    }
    let filler = |part: &String| FILLERS.contains(&part.as_str());
    let is_similar = |a: &str, b: &str| {
        let least = a.len().min(b.len()) >= PART_LETTERS_MIN;
        a == b || least && (a.starts_with(b) || b.starts_with(a))
    };
    let has_similar = |a: &String, of: &[String]| of.iter().any(|b| is_similar(a, b));
    let (mut matched, mut inexact) = (0, 0);
    for part in wanted.iter().filter(|part| !filler(part) && has_similar(part, name)) {
        matched += 1;
        inexact += usize::from(!name.contains(part));
    }
    let missing = wanted.iter().filter(|part| !filler(part) && !has_similar(part, name)).count();
    let extra = name.iter().filter(|part| !filler(part) && !has_similar(part, wanted)).count();
    (matched > 0 && (missing == 0 || extra == 0)).then_some((missing + extra) * 8 + inexact)
}

/// Returns true if the lengths of two words allow them to be near each other. A character has four
/// bytes at most. If one word has more than about twice the characters of the other, no distance
/// table is built, because the words may be extremely long.
fn is_comparable(a: &str, b: &str) -> bool {
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    longer / 4 <= shorter * 2 + 2
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, names: &[&str], wanted: Option<&str>) {
        assert_eq!(nearest(word, names.iter().copied()), wanted, "{word}");
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        check("gian", &["gain", "pitch"], Some("gain"));
        check("set_postion", &["set_rotation", "set_position"], Some("set_position"));
        check("Headless", &["headless"], Some("headless"));
        check("volume", &["gain", "pitch"], None);
        check("x", &[], None);
        check(&"x".repeat(10_000_000), &["gain", "pitch"], None);
        // Long names are compared only up to the work limit. Short names are still compared after
        // that.
        let (long, other) = ("x".repeat(1 << 16), format!("{}y", "x".repeat(1 << 16)));
        check(&long, &[&other, &other], None);
        let many: Vec<String> = (0..100_000).map(|i| format!("{}{i}", "y".repeat(300))).collect();
        let mut names: Vec<&str> = many.iter().map(String::as_str).collect();
        names.insert(0, &long[..300]);
        check(&long[..301], &names, Some(&long[..300]));
    }

    #[test]
    fn abbreviations_have_one_name() {
        let names = ["on_animation_event", "on_flow_event", "on_activate", "init", "update"];
        let check = |word: &str, wanted: Option<&str>| {
            assert_eq!(abbreviated(word, names.iter().copied()), wanted, "{word}");
        };
        assert_eq!(nearest("on_anim_event", names.iter().copied()), Some("on_flow_event"));
        check("on_anim_event", Some("on_animation_event"));
        check("onAnimEvent", Some("on_animation_event"));
        check("on_act", Some("on_activate"));
        check("on_an_event", None);
        check("on_event", None);
        check("updates", None);
        check("", None);
    }

    #[test]
    fn parts_of_a_name_are_compared_if_no_name_is_near() {
        let names = [
            "down",
            "line",
            "local_position",
            "world_position",
            "set_local_position",
            "set_mover",
            "set_local_positions",
            "rect",
            "rect_3d",
            "text",
            "update_text",
            "pressed",
        ];
        let check = |word: &str, wanted: &[&str]| {
            assert_eq!(names_by_parts(word, names), wanted, "{word}");
        };
        check("set_position", &["set_local_position"]);
        check("setPosition", &["set_local_position"]);
        check("get_position", &["local_position", "world_position"]);
        check("is_down", &["down"]);
        check("rectangle", &["rect"]);
        check("draw_text", &["text"]);
        check("draw_line_3d", &["line"]);
        check("set", &[]);
        check("get_it", &[]);
        check("jump", &[]);
        check("", &[]);
        check("___", &[]);
        let hint = |word: &str| hint_of_functions(word, names);
        assert_eq!(hint("is_down"), ", did you mean 'down'?");
        assert_eq!(hint("presed"), ", did you mean 'pressed'?");
        assert_eq!(hint("position"), ", did you mean 'local_position' or 'world_position'?");
        assert_eq!(hint("jump"), "");
    }

    #[test]
    fn a_missing_folder_is_suggested_by_the_last_component() {
        let names = ["units/hero", "units/enemies/orc", "levels/gone"];
        let check = |word: &str, wanted: Option<&str>| {
            assert_eq!(nearest_in_folders(word, names.iter().copied()), wanted, "{word}");
        };
        check("hero", Some("units/hero"));
        check("unit/hero", Some("units/hero"));
        check("heroo", Some("units/hero"));
        check("orc", Some("units/enemies/orc"));
        check("characters/orc", Some("units/enemies/orc"));
        check("one", None);
        check("units/", None);
        check("", None);
    }
}
