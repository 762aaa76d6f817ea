//! Which items of two lists are the same item. Items are compared by hash; the caller chooses what
//! the hash stands for. Knows no formats.

use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::murmur64a;
use engine_foundation::sjson::{SjsonValue, ValueKind};
use std::collections::HashMap;
use std::ops::Range;

/// Budget of a comparison: visits of items, for each item of both lists. Edited files need few.
/// Beyond the budget, only equal items at both ends of a range are matched.
const VISITS_MAX: usize = 16;
/// Maximum number of lines of a text that is compared by lines.
pub const LINES_MAX: usize = 1_000_000;

/// Matches the items of two ranges, of the base and of a side: writes their indices in the base.
type PairItems<'a> = dyn FnMut(Range<usize>, Range<usize>, &mut [Option<usize>]) + 'a;

/// Returns for each item of `side` the index of its item in `base`. Equal items at both ends, then
/// items that occur once in both lists, are matched; the matches are in the same order in both
/// lists. `pair` matches the items that are left between two matches.
pub fn match_items(base: &[u64], side: &[u64], pair: &mut PairItems) -> Vec<Option<usize>> {
    let mut matched = vec![None; side.len()];
    let mut visits_left = VISITS_MAX.saturating_mul(base.len() + side.len());
    let mut open = vec![(0..base.len(), 0..side.len())];
    while let Some((mut b, mut s)) = open.pop() {
        while !b.is_empty() && !s.is_empty() && base[b.start] == side[s.start] {
            matched[s.start] = Some(b.start);
            (b.start, s.start) = (b.start + 1, s.start + 1);
        }
        while !b.is_empty() && !s.is_empty() && base[b.end - 1] == side[s.end - 1] {
            (b.end, s.end) = (b.end - 1, s.end - 1);
            matched[s.end] = Some(b.end);
        }
        if b.is_empty() || s.is_empty() {
            continue;
        }
        // Items at the ends are visited once in all, the rest of a range with each split.
        let anchors = match visits_left.checked_sub(b.len() + s.len()) {
            Some(left) => {
                visits_left = left;
                unique_anchors(base, side, &b, &s)
            }
            None => Vec::new(),
        };
        if anchors.is_empty() {
            pair(b, s, &mut matched);
            continue;
        }
        let (mut from_b, mut from_s) = (b.start, s.start);
        for (at_b, at_s) in anchors {
            matched[at_s] = Some(at_b);
            open.push((from_b..at_b, from_s..at_s));
            (from_b, from_s) = (at_b + 1, at_s + 1);
        }
        open.push((from_b..b.end, from_s..s.end));
    }
    matched
}

/// Returns the longest sequence of items that occur once in both ranges, in the order of both.
fn unique_anchors(
    base: &[u64],
    side: &[u64],
    b: &Range<usize>,
    s: &Range<usize>,
) -> Vec<(usize, usize)> {
    let mut count: HashMap<u64, (u32, usize, u32)> = HashMap::new();
    for at in b.clone() {
        let entry = count.entry(base[at]).or_insert((0, at, 0));
        entry.0 += 1;
    }
    for at in s.clone() {
        if let Some(entry) = count.get_mut(&side[at]) {
            entry.2 += 1;
        }
    }
    let pairs: Vec<(usize, usize)> = s
        .clone()
        .filter_map(|at| match count.get(&side[at]) {
            Some((1, at_b, 1)) => Some((*at_b, at)),
            _ => None,
        })
        .collect();
    // Longest increasing subsequence of the positions in `base`, by patience sorting.
    let mut tops: Vec<usize> = Vec::new();
    let mut previous = vec![usize::MAX; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].0 < pair.0);
        if pile > 0 {
            previous[index] = tops[pile - 1];
        }
        match pile == tops.len() {
            true => tops.push(index),
            false => tops[pile] = index,
        }
    }
    let mut chain = Vec::new();
    let mut at = tops.last().copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        chain.push(pairs[at]);
        at = previous[at];
    }
    chain.reverse();
    chain
}

/// The lines of a text, and for each a number that only equal lines have.
pub struct NumberedLines<'a> {
    pub lines: Vec<&'a str>,
    pub numbers: Vec<u64>,
}

/// Numbers the lines of texts, or returns `None` if one has more than [`LINES_MAX`].
pub fn number_lines<'a, const COUNT: usize>(
    texts: [&'a str; COUNT],
) -> Option<[NumberedLines<'a>; COUNT]> {
    let has_many = |text: &&str| text.bytes().filter(|byte| *byte == b'\n').count() >= LINES_MAX;
    if texts.iter().any(has_many) {
        return None;
    }
    // A hash would do for friendly texts, but different lines can have the same.
    let mut known: HashMap<&str, u64> = HashMap::new();
    Some(texts.map(|text| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let number = |line: &&'a str| {
            let next = known.len() as u64;
            *known.entry(line).or_insert(next)
        };
        let numbers = lines.iter().map(number).collect();
        NumberedLines { lines, numbers }
    }))
}

/// Returns a hash of a value. It does not depend on the order of keys or on the text.
pub fn value_hash(value: SjsonValue) -> u64 {
    if let Some(number) = value.as_f64() {
        return murmur64a(&(number + 0.0).to_bits().to_le_bytes(), 1);
    }
    if let Some(text) = value.as_str() {
        return murmur64a(text.as_bytes(), 2);
    }
    if let Some(items) = value.items() {
        let fold = |hash: u64, item| murmur64a(&value_hash(item).to_le_bytes(), hash);
        return items.fold(3, fold);
    }
    if let Some(entries) = value.entries() {
        let entry_hash = |entry: engine_foundation::sjson::ObjectEntry| {
            murmur64a(entry.key.as_bytes(), value_hash(entry.value))
        };
        return entries.map(entry_hash).fold(4, u64::wrapping_add);
    }
    match value.as_bool() {
        Some(is_true) => 5 + u64::from(is_true),
        None => 7,
    }
}

/// Returns true if two values are equal. The order of keys has no meaning.
pub fn is_same(a: SjsonValue, b: SjsonValue) -> bool {
    match (a.kind(), b.kind()) {
        (ValueKind::Object, ValueKind::Object) => {
            let (Some(of_a), Some(of_b)) = (a.entries(), b.entries()) else { return false };
            if of_a.len() != of_b.len() {
                return false;
            }
            let mut of_b: Vec<_> = of_b.collect();
            let mut of_a: Vec<_> = of_a.collect();
            if of_a.iter().zip(&of_b).any(|(x, y)| x.key != y.key) {
                of_a.sort_compact_by_key(|entry| entry.key);
                of_b.sort_compact_by_key(|entry| entry.key);
            }
            of_a.iter().zip(&of_b).all(|(x, y)| x.key == y.key && is_same(x.value, y.value))
        }
        (ValueKind::Array, ValueKind::Array) => {
            let (Some(of_a), Some(of_b)) = (a.items(), b.items()) else { return false };
            of_a.len() == of_b.len() && of_a.zip(of_b).all(|(x, y)| is_same(x, y))
        }
        (ValueKind::Null, ValueKind::Null) => true,
        (ValueKind::Bool, ValueKind::Bool) => a.as_bool() == b.as_bool(),
        (ValueKind::Number, ValueKind::Number) => a.as_f64() == b.as_f64(),
        (ValueKind::String, ValueKind::String) => a.as_str() == b.as_str(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(base: &[u64], side: &[u64]) -> Vec<(usize, usize)> {
        let matched = match_items(base, side, &mut |_, _, _| {});
        matched.iter().enumerate().filter_map(|(at, it)| Some(((*it)?, at))).collect()
    }

    /// Returns lists in which each number occurs twice. Each split leaves out one of the next
    /// number, so that only the other one can be found by the split after it.
    fn peeling_lists(length: u64) -> [Vec<u64>; 2] {
        let of = |filler: u64| -> Vec<u64> {
            let pair = |n: u64| [n, n + 1, filler + n];
            (0..length).flat_map(pair).collect()
        };
        [of(1 << 32), of(1 << 33)]
    }

    #[test]
    fn hostile_lists_are_matched_within_the_budget() {
        let [base, side] = peeling_lists(20_000);
        let start = std::time::Instant::now();
        let found = matches(&base, &side);
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
        assert!(found.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        assert!(found.iter().all(|(b, s)| base[*b] == side[*s]));
        // The ends are matched although the budget is used up.
        assert_eq!((found[0], found.len() < 40_000), ((0, 0), true));
        let [base, side] = peeling_lists(20);
        assert_eq!(matches(&base, &side).len(), 40, "a short list is matched completely");
    }

    #[test]
    fn only_equal_lines_have_the_same_number() {
        let [a, b] = number_lines(["x\ny\nx", "y\n"]).unwrap();
        assert_eq!((a.numbers, b.numbers), (vec![0, 1, 2], vec![1]));
        assert_eq!(a.lines, ["x\n", "y\n", "x"]);
        assert!(number_lines([&"\n".repeat(LINES_MAX)]).is_none());
        assert!(number_lines([&"\n".repeat(LINES_MAX - 1)]).is_some());
    }
}
