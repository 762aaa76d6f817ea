//! "Did you mean …?": the nearest of a list of names.

/// The name in `names` that `word` most likely meant, by Damerau-Levenshtein distance without
/// repeated edits (optimal string alignment); `None` where more than about a third of it differs.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    let scored = names.into_iter().map(|name| (distance(word, name), name));
    scored.filter(|(far, _)| *far <= allowed).min().map(|(_, name)| name)
}

/// `", did you mean 'x'?"`, or nothing where no name is near.
pub fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
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
    }
}
