//! Three-way merge by lines, for texts that cannot be parsed. Overlapping changes become conflicts
//! with git's markers, because lines have no structure that could decide.

use super::Merged;
use super::matching::{LINES_MAX, match_items, number_lines};

/// Merges three texts by lines.
pub fn merge(base: &str, left: &str, right: &str, reason: String, labels: [&str; 2]) -> Merged {
    let Some(numbered) = number_lines([base, left, right]) else {
        let reason = format!("{reason}; a version has more than {LINES_MAX} lines (LINES_MAX)");
        let mut merged = Merged { by_lines: Some(reason), ..Merged::default() };
        merge_chunk(&mut merged, [&[base], &[left], &[right]], labels);
        return merged;
    };
    let versions = numbered.each_ref().map(|version| &version.lines);
    let [of_left, of_right] = [1, 2].map(|side| {
        let mut of_base = vec![None; versions[0].len()];
        let matched = match_items(&numbered[0].numbers, &numbered[side].numbers, &mut |_, _, _| {});
        for (at, matched) in matched.into_iter().enumerate() {
            if let Some(base) = matched {
                of_base[base] = Some(at);
            }
        }
        of_base
    });
    let mut merged = Merged { by_lines: Some(reason), ..Merged::default() };
    let mut from = [0; 3];
    let mut at = 0;
    loop {
        // The next line that all versions have.
        while at < of_left.len() && (of_left[at].is_none() || of_right[at].is_none()) {
            at += 1;
        }
        let to = match at < of_left.len() {
            true => [Some(at), of_left[at], of_right[at]].map(Option::unwrap_or_default),
            false => versions.map(Vec::len),
        };
        let chunk = [0, 1, 2].map(|version| &versions[version][from[version]..to[version]]);
        merge_chunk(&mut merged, chunk, labels);
        if at == of_left.len() {
            return merged;
        }
        merged.text.push_str(versions[0][at]);
        from = to.map(|line| line + 1);
        at += 1;
    }
}

fn merge_chunk(merged: &mut Merged, [base, left, right]: [&[&str]; 3], labels: [&str; 2]) {
    let chosen = if left == right || base == right {
        left
    } else if base == left {
        right
    } else {
        merged.conflicts += 1;
        let mut push = |marker: &str, lines: &[&str]| {
            merged.text.push_str(marker);
            lines.iter().for_each(|line| merged.text.push_str(line));
            if lines.last().is_some_and(|line| !line.ends_with('\n')) {
                merged.text.push('\n');
            }
        };
        push(&format!("<<<<<<< {}\n", labels[0]), left);
        push("=======\n", right);
        merged.text.push_str(&format!(">>>>>>> {}\n", labels[1]));
        return;
    };
    chosen.iter().for_each(|line| merged.text.push_str(line));
}
