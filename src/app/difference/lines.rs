//! Differences between two texts by lines, for files that have no structure.

use engine_content::diff::{Change, ChangeKind};
use engine_content::merge::matching::{match_items, number_lines};

/// Returns the changed lines, as changes whose path is the number of the first line. Returns `None`
/// if a text has too many lines.
pub fn compare_lines(old: &str, new: &str) -> Option<Vec<Change>> {
    let numbered = number_lines([old, new])?;
    let versions = numbered.each_ref().map(|version| &version.lines);
    let matched = match_items(&numbered[0].numbers, &numbered[1].numbers, &mut |_, _, _| {});
    let mut changes = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    // The end of both texts is a common line.
    let common = matched.iter().enumerate().filter_map(|(at, before)| Some(((*before)?, at)));
    for (at_old, at_new) in common.chain([(versions[0].len(), versions[1].len())]) {
        let old = versions[0][from_old..at_old].concat();
        let new = versions[1][from_new..at_new].concat();
        let kind = match (old.is_empty(), new.is_empty()) {
            (true, true) => None,
            (true, false) => Some(ChangeKind::Added),
            (false, true) => Some(ChangeKind::Removed),
            (false, false) => Some(ChangeKind::Changed),
        };
        if let Some(kind) = kind {
            let line = from_new + 1;
            changes.push(Change { path: format!("line {line}"), kind, old, new, line });
        }
        (from_old, from_new) = (at_old + 1, at_new + 1);
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, wanted: &[(&str, &str, &str)]) {
        let changes = compare_lines(old, new).unwrap();
        let rows: Vec<_> =
            changes.iter().map(|it| (&it.path[..], &it.old[..], &it.new[..])).collect();
        assert_eq!(rows, wanted, "{old:?} {new:?}");
    }

    #[test]
    fn changed_lines_are_found_between_common_ones() {
        check("a\nb\nc\n", "a\nb\nc\n", &[]);
        check("a\nb\nc\n", "a\nx\nc\n", &[("line 2", "b\n", "x\n")]);
        check("a\nc\n", "a\nb\nc\n", &[("line 2", "", "b\n")]);
        check("a\nb\nc", "c", &[("line 1", "a\nb\n", "")]);
        check("", "a", &[("line 1", "", "a")]);
        check("", "", &[]);
    }
}
