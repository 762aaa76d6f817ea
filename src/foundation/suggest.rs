//! "Did you mean …?": the nearest of a list of names.

/// The most work of one search, as pairs of letters that are compared: a word and a name of 64 KiB
/// have 4,294,967,296, and there may be very many names.
const PAIRS_MAX: usize = 1 << 24;

/// How far each name is from `word`, by what `part` takes of it; without those that are out of the
/// question, or for which no work is left.
fn distances<'a>(
    word: &str,
    names: impl Iterator<Item = &'a str>,
    part: impl Fn(&'a str) -> &'a str,
) -> impl Iterator<Item = (usize, &'a str)> {
    let mut left = PAIRS_MAX;
    names.filter_map(move |name| {
        let compared = part(name);
        if !is_comparable(word, compared) {
            return None;
        }
        left = left.checked_sub(word.len().saturating_mul(compared.len()))?;
        Some((distance(word, compared), name))
    })
}

/// The name in `names` that `word` most likely meant, by Damerau-Levenshtein distance without
/// repeated edits (optimal string alignment); `None` where more than about a third of it differs.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    let scored = distances(word, names.into_iter(), |name| name);
    scored.filter(|(far, _)| *far <= allowed).min().map(|(_, name)| name)
}

/// `", did you mean 'x'?"`, or nothing where no name is near.
pub fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

/// The same for names in folders: where no name is near as a whole, one whose last part is that of
/// `word`, for folders are easily forgotten.
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
        scored.filter(|(far, _)| *far <= allowed).min().map(|(_, name)| name)
    })
}

/// `", did you mean 'x'?"` for names in folders.
pub fn hint_in_folders<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    let near = nearest_in_folders(word, names);
    near.map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

/// Parts of names that say little of what is meant.
const FILLERS: [&str; 8] = ["get", "set", "is", "has", "do", "draw", "on", "the"];
/// The fewest letters by which a part may begin another.
const PART_LETTERS_MIN: usize = 3;
/// The most names that fit equally well and are all told.
const FITTING_MAX: usize = 3;

/// Where no name is near as a whole: those that fit by their parts, best first. All parts of such a
/// name are in `word` (`is_down`: `down`), or all of `word` are in it (`set_position`:
/// `set_local_position`).
pub fn by_parts<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = parts(word);
    let scored = names.into_iter().filter_map(|name| Some((fit(&wanted, &parts(name))?, name)));
    let mut scored: Vec<(usize, &str)> = scored.collect();
    scored.sort_unstable();
    let least = scored.first().map_or(0, |(score, _)| *score);
    let best = scored.iter().take_while(|(score, _)| *score == least);
    let best: Vec<&str> = best.map(|(_, name)| *name).collect();
    if best.len() > FITTING_MAX { Vec::new() } else { best }
}

/// `", did you mean 'x'?"` for names of functions: as a whole, or else by their parts.
pub fn hint_of_functions<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    let names = names.into_iter();
    let found = match nearest(word, names.clone()) {
        Some(name) => vec![name],
        None => by_parts(word, names),
    };
    let found: Vec<String> = found.iter().map(|name| format!("'{name}'")).collect();
    match found.is_empty() {
        true => String::new(),
        false => format!(", did you mean {}?", found.join(" or ")),
    }
}

/// The parts of a name, in small letters: `set_position` and `setPosition` are the same.
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

/// How badly the parts of a name fit those that were wanted; `None` where they do not.
fn fit(wanted: &[String], name: &[String]) -> Option<usize> {
    // What `set` means is never meant by what only gives, nor the other way round.
    let sets = |parts: &[String]| parts.iter().any(|part| part == "set");
    if sets(wanted) != sets(name) {
        return None;
    }
    let filler = |part: &String| FILLERS.contains(&part.as_str());
    let alike = |a: &str, b: &str| {
        let least = a.len().min(b.len()) >= PART_LETTERS_MIN;
        a == b || least && (a.starts_with(b) || b.starts_with(a))
    };
    let inside = |a: &String, of: &[String]| of.iter().any(|b| alike(a, b));
    let (mut met, mut inexact) = (0, 0);
    for part in wanted.iter().filter(|part| !filler(part) && inside(part, name)) {
        met += 1;
        inexact += usize::from(!name.contains(part));
    }
    let lacks = wanted.iter().filter(|part| !filler(part) && !inside(part, name)).count();
    let extra = name.iter().filter(|part| !filler(part) && !inside(part, wanted)).count();
    (met > 0 && (lacks == 0 || extra == 0)).then_some((lacks + extra) * 8 + inexact)
}

/// Whether two words can be near each other at all. A character has four bytes at most: where one
/// has twice the other's, no table is made for what is endless.
fn is_comparable(a: &str, b: &str) -> bool {
    let (less, more) = (a.len().min(b.len()), a.len().max(b.len()));
    more / 4 <= less * 2 + 2
}

fn distance(a: &str, b: &str) -> usize {
    let fold = |s: &str| s.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (fold(a), fold(b));
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, names: &[&str], wanted: Option<&str>) {
        assert_eq!(nearest(word, names.iter().copied()), wanted, "{word}");
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        check("gian", &["gain", "pitch"], Some("gain"));
        check("set_postion", &["set_rotation", "set_position"], Some("set_position"));
        check("Headless", &["headless"], Some("headless"));
        check("volume", &["gain", "pitch"], None);
        check("x", &[], None);
        check(&"x".repeat(10_000_000), &["gain", "pitch"], None);
        // Long names are compared only as far as there is work left; the short ones still are.
        let (long, other) = ("x".repeat(1 << 16), format!("{}y", "x".repeat(1 << 16)));
        check(&long, &[&other, &other], None);
        let many: Vec<String> = (0..100_000).map(|i| format!("{}{i}", "y".repeat(300))).collect();
        let mut names: Vec<&str> = many.iter().map(String::as_str).collect();
        names.insert(0, &long[..300]);
        check(&long[..301], &names, Some(&long[..300]));
    }

    #[test]
    fn where_no_name_is_near_its_parts_are_looked_at() {
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
            assert_eq!(by_parts(word, names), wanted, "{word}");
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
    fn a_forgotten_folder_is_found_by_the_last_part() {
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
