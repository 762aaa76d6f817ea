//! Tests of the rules of merges, one row each.

use super::*;
use crate::paths::PATHS_BYTES_MAX;

const RIGHT_WINS: &ChooseWinner = &|_| MergeSide::Right;

fn merged(base: &str, left: &str, right: &str) -> Merged {
    let options = MergeOptions { winner: RIGHT_WINS, is_json: false, labels: SIDE_LABELS };
    merge(MergeTexts { base, left, right }, options)
}

fn check(base: &str, left: &str, right: &str, wanted: &str) {
    let merged = merged(base, left, right);
    assert_eq!(merged.text, wanted, "{base:?} {left:?} {right:?}");
    assert_eq!(merged.by_lines, None);
    assert_eq!(merged.overrides, [], "{base:?} {left:?} {right:?}");
}

/// Checks a merge with overridden changes, each as path, kind, left and right.
fn check_overrides(texts: [&str; 3], wanted: &str, overrides: &[(&str, &str, &str, &str)]) {
    let merged = merged(texts[0], texts[1], texts[2]);
    assert_eq!(merged.text, wanted, "{texts:?}");
    let found: Vec<_> = merged
        .overrides
        .iter()
        .map(|it| (&*it.path, it.kind.name(), it.left.as_str(), it.right.as_str()))
        .collect();
    assert_eq!(found, overrides, "{texts:?}");
}

#[test]
fn changes_of_different_keys_are_both_kept() {
    check("a = 1\nb = 1\n", "a = 2\nb = 1\n", "a = 1\nb = 2\n", "a = 2\nb = 2\n");
    check(
        "a = { x = 1 y = 1 }",
        "a = { x = 2 y = 1 }",
        "a = { x = 1 y = 2 }",
        "a = { x = 2 y = 2 }",
    );
    check("a = 1\n", "a = 1\nb = 2\n", "a = 1\nc = 3\n", "a = 1\nb = 2\nc = 3\n");
    check("a = 1\nb = 2\nc = 3\n", "b = 2\nc = 3\n", "a = 1\nb = 2\n", "b = 2\n");
}

#[test]
fn json_stays_json() {
    let merged = |base: &str, left: &str, right: &str| {
        let options = MergeOptions { winner: RIGHT_WINS, is_json: true, labels: SIDE_LABELS };
        merge(MergeTexts { base, left, right }, options).text
    };
    assert_eq!(
        merged("{\"a\":1}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":3}"),
        "{\"a\":1,\"b\":2,\"c\":3}"
    );
    assert_eq!(merged("{}", "{\"a\": 1}", "{\"b\": 2}"), "{\"a\": 1, \"b\": 2}");
    assert_eq!(
        merged(
            "[\n  {\"id\": 1},\n  {\"id\": 2}\n]",
            "[\n  {\"id\": 2}\n]",
            "[\n  {\"id\": 1},\n  {\"id\": 2},\n  {\"id\": 3}\n]"
        ),
        "[\n  {\"id\": 2},\n  {\"id\": 3}\n]"
    );
}

#[test]
fn right_wins_if_both_sides_changed_a_value() {
    check_overrides(
        ["a = 1\nb = 1\n", "a = 2\nb = 3\n", "a = 4\nb = 1\n"],
        "a = 4\nb = 3\n",
        &[("a", "value", "2", "4")],
    );
    let options =
        MergeOptions { winner: &|_| MergeSide::Left, is_json: false, labels: SIDE_LABELS };
    let texts = MergeTexts { base: "a = 1", left: "a = 2", right: "a = 3" };
    assert_eq!(merge(texts, options).text, "a = 2");
    let by_path = |path: &str| if path == "u.x" { MergeSide::Left } else { MergeSide::Right };
    let options = MergeOptions { winner: &by_path, is_json: false, labels: SIDE_LABELS };
    let texts = MergeTexts {
        base: "u = { x = 1 y = 1 }",
        left: "u = { x = 2 y = 2 }",
        right: "u = { x = 3 y = 3 }",
    };
    assert_eq!(merge(texts, options).text, "u = { x = 2 y = 3 }");
    // The same change twice is no conflict, in any notation.
    check("a = 1", "a = 2.0", "a = 2", "a = 2");
    check("a = 1", "a = 1.0", "a = 2", "a = 2");
}

#[test]
fn removal_against_a_change_inside_follows_the_winner() {
    check_overrides(
        ["a = { x = 1 }\nb = 1\n", "a = { x = 2 }\nb = 1\n", "b = 1\n"],
        "b = 1\n",
        &[("a", "removal", "{ x = 2 }", "")],
    );
    check_overrides(
        ["a = { x = 1 }\nb = 1\n", "b = 1\n", "a = { x = 2 }\nb = 1\n"],
        "a = { x = 2 }\nb = 1\n",
        &[("a", "removal", "", "{ x = 2 }")],
    );
}

#[test]
fn comments_come_with_the_entries_of_their_side() {
    check(
        "a = 1\n// old\nb = 1\n",
        "a = 2\n// old\nb = 1\n",
        "a = 1\n// new\nb = 1 // two\n",
        "a = 2\n// new\nb = 1 // two\n",
    );
    check(
        "// The file.\n\n// first\na = 1\nb = 1\nc = 1\n",
        "// The file.\n\nb = 1\nc = 1\n",
        "// The file.\n\n// first\na = 1\nc = 1\n",
        "// The file.\n\nc = 1\n",
    );
    check_overrides(
        ["// x\na = 1\n", "// left\na = 1\n", "// right\na = 1\n"],
        "// right\na = 1\n",
        &[("a", "comment", "// left", "// right")],
    );
    // A comment of a line never hides what follows.
    check("[{id=1}]", "[{id=1} // x\n]", "[{id=1}{id=2}]", "[{id=1} // x\n{id=2}\n]");
}

#[test]
fn items_are_matched_by_id() {
    let base = "[\n  { id = \"a\" x = 1 }\n  { id = \"b\" x = 1 }\n]\n";
    check(
        base,
        "[\n  { id = \"a\" x = 2 }\n  { id = \"b\" x = 1 }\n]\n",
        "[\n  { id = \"b\" x = 3 }\n  { id = \"a\" x = 1 }\n]\n",
        "[\n  { id = \"b\" x = 3 }\n  { id = \"a\" x = 2 }\n]\n",
    );
    check(
        base,
        "[\n  { id = \"n\" }\n  { id = \"a\" x = 1 }\n  { id = \"b\" x = 1 }\n]\n",
        "[\n  { id = \"b\" x = 1 }\n  { id = \"a\" x = 1 }\n]\n",
        "[\n  { id = \"n\" }\n  { id = \"b\" x = 1 }\n  { id = \"a\" x = 1 }\n]\n",
    );
    check_overrides(
        ["[{id=1}{id=2}{id=3}]", "[{id=2}{id=1}{id=3}]", "[{id=1}{id=3}{id=2}]"],
        "[{id=1}{id=3}{id=2}]",
        &[("", "order", "", "")],
    );
}

#[test]
fn an_object_that_moved_keeps_the_changes_of_the_other_side() {
    check(
        "a = [{ id = \"x\" v = 1 } { id = \"k\" }]\nb = []\n",
        "a = [{ id = \"k\" }]\nb = [{ id = \"x\" v = 1 }]\n",
        "a = [{ id = \"x\" v = 2 } { id = \"k\" }]\nb = []\n",
        "a = [{ id = \"k\" }]\nb = [{ id = \"x\" v = 2 }]\n",
    );
    check_overrides(
        [
            "a = [{ id = \"x\" v = 1 }]\nb = []\nc = []\n",
            "a = []\nb = [{ id = \"x\" v = 1 }]\nc = []\n",
            "a = []\nb = []\nc = [{ id = \"x\" v = 1 }]\n",
        ],
        "a = []\nb = []\nc = [{ id = \"x\" v = 1 }]\n",
        &[
            ("b[x]", "move", "{ id = \"x\" v = 1 }", "{ id = \"x\" v = 1 }"),
            ("c[x]", "move", "{ id = \"x\" v = 1 }", "{ id = \"x\" v = 1 }"),
        ],
    );
    // Into each other: neither of them may be lost.
    let merged = merged(
        "r = [{ id = \"x\" c = [] } { id = \"y\" c = [] }]\n",
        "r = [{ id = \"y\" c = [{ id = \"x\" c = [] }] }]\n",
        "r = [{ id = \"x\" c = [{ id = \"y\" c = [] }] }]\n",
    );
    let reason = merged.by_lines.unwrap();
    assert!(reason.contains("would be lost: it was moved"), "{reason}");
    assert_eq!(merged.conflicts, 1);
}

#[test]
fn items_without_ids_are_compared() {
    // A list of numbers is one value.
    check_overrides(
        ["a = [1, 2, 3]", "a = [1, 2, 4]", "a = [1, 2, 5]"],
        "a = [1, 2, 5]",
        &[("a", "value", "[1, 2, 4]", "[1, 2, 5]")],
    );
    check(
        "a = [\"x\", \"y\"]",
        "a = [\"x\", \"l\", \"y\"]",
        "a = [\"x\", \"y\", \"r\"]",
        "a = [\"x\", \"l\", \"y\", \"r\"]",
    );
    // Both added the same.
    check(
        "a = [\"x\"]",
        "a = [\"x\", \"n\"]",
        "a = [\"x\", \"n\", \"m\"]",
        "a = [\"x\", \"n\", \"m\"]",
    );
    let base = "[{ name = \"p\" v = 1 } { name = \"q\" v = 1 }]";
    check_overrides(
        [base, "[{ name = \"p\" v = 2 } { name = \"q\" v = 1 }]", "[{ name = \"q\" v = 3 }]"],
        "[{ name = \"q\" v = 3 }]",
        &[("[1]", "removal", "{ name = \"p\" v = 2 }", "")],
    );
    let lists = merged(base, "[{ name = \"p\" v = 2 } { name = \"q\" v = 1 }]", "[]");
    assert_eq!(lists.without_ids, [""]);
}

#[test]
fn line_ends_and_marks_are_merged_as_properties_of_the_file() {
    check("a = 1\nb = 1\n", "a = 1\r\nb = 1\r\n", "a = 2\nb = 1\n", "a = 2\r\nb = 1\r\n");
    check("a = 1\r\nb = 1\r\n", "a = 3\r\nb = 1\r\n", "a = 1\r\nb = 2\r\n", "a = 3\r\nb = 2\r\n");
    check("a = 1\n", "\u{feff}a = 1\n", "a = 1\nb = 2\n", "\u{feff}a = 1\nb = 2\n");
}

#[test]
fn texts_with_errors_are_merged_by_lines() {
    let check = |texts: [&str; 3], wanted: &str, reason: &str, conflicts: usize| {
        let merged = merged(texts[0], texts[1], texts[2]);
        assert_eq!(merged.text, wanted);
        assert_eq!((merged.by_lines.as_deref(), merged.conflicts), (Some(reason), conflicts));
    };
    check(
        ["a = 1\nb = 2\nc = [\n", "a = 2\nb = 2\nc = [\n", "a = 1\nb = 2\nc = [1\n"],
        "a = 2\nb = 2\nc = [1\n",
        "the base version has an error: line 3, column 5: list is not closed: add ']'",
        0,
    );
    check(
        ["a = 1\na = 1\n", "a = 2\na = 1\n", "a = 3\na = 1\n"],
        "<<<<<<< left\na = 2\n=======\na = 3\n>>>>>>> right\na = 1\n",
        "the base version has an error: line 2, column 1: key 'a' is given twice, in line 1 and in \
         line 2: remove one",
        1,
    );
}

#[test]
fn a_file_that_both_sides_added_has_no_base() {
    check("", "a = 1\n", "b = 2\n", "a = 1\nb = 2\n");
    check_overrides(["", "a = 1\n", "a = 2\n"], "a = 2\n", &[("a", "value", "1", "2")]);
}

#[test]
fn hostile_texts_end_in_time() {
    let deep = |inner: &str| format!("a = {}{inner}{}", "[".repeat(98), "]".repeat(98));
    let merged_deep = merged(&deep("\"x\""), &deep("\"y\""), &deep("\"x\", \"z\""));
    assert_eq!(merged_deep.by_lines, None);
    let too_deep = "[".repeat(200_000);
    assert!(merged(&too_deep, "a = 1", "b = 1").by_lines.is_some());
    let long = "k".repeat(1 << 20);
    let text = |value: u32| format!("{long} = {value}\n");
    let report = merged(&text(1), &text(2), &text(3));
    assert_eq!(report.text, text(3));
    let list = |item: &str| format!("[{}]", item.repeat(20_000));
    merged(&list("{a=1}"), &list("{a=2}"), &list("{a=1}{b=1}"));
}

#[test]
fn texts_that_both_sides_add_to_a_list_stay() {
    check("a = [\"k\" \"b\"]", "a = [\"k\" \"c\"]", "a = [\"k\"]", "a = [\"k\" \"c\"]");
    check("a = [\"b\" \"k\"]", "a = [\"n\" \"k\"]", "a = [\"m\" \"k\"]", "a = [\"m\" \"n\" \"k\"]");
}

#[test]
fn ids_that_each_list_counts_are_merged_in_each_list() {
    // Both sides add the id 2, in different lists.
    check(
        "b = { nodes = [{ id = 1 }] }\nc = { nodes = [{ id = 1 }] }\n",
        "b = { nodes = [{ id = 1 } { id = 2 }] }\nc = { nodes = [{ id = 1 }] }\n",
        "b = { nodes = [{ id = 1 }] }\nc = { nodes = [{ id = 1 } { id = 2 v = 1 }] }\n",
        "b = { nodes = [{ id = 1 } { id = 2 }] }\nc = { nodes = [{ id = 1 } { id = 2 v = 1 }] }\n",
    );
    // Each adds a list of its own, and a third one has the same id.
    check(
        "a = [{ id = 1 }]\n",
        "a = [{ id = 1 }]\nl = [{ id = 1 }]\n",
        "a = [{ id = 1 }]\nr = [{ id = 1 }]\n",
        "a = [{ id = 1 }]\nl = [{ id = 1 }]\nr = [{ id = 1 }]\n",
    );
    // The object moves although the other side uses its id in another list, too.
    check(
        "a = [{ id = 1 v = 1 }]\nb = []\n",
        "a = []\nb = [{ id = 1 v = 1 }]\n",
        "a = [{ id = 1 v = 2 }]\nb = []\nc = [{ id = 1 }]\n",
        "a = []\nb = [{ id = 1 v = 2 }]\nc = [{ id = 1 }]\n",
    );
}

#[test]
fn paths_of_keys_with_periods_differ_from_nested_keys() {
    check_overrides(
        [
            "\"a.b\" = 1\na = { b = 1 }\n",
            "\"a.b\" = 2\na = { b = 2 }\n",
            "\"a.b\" = 3\na = { b = 3 }\n",
        ],
        "\"a.b\" = 3\na = { b = 3 }\n",
        &[("\"a.b\"", "value", "2", "3"), ("a.b", "value", "2", "3")],
    );
}

#[test]
fn a_report_leaves_out_paths_beyond_its_limit() {
    let text = |value: usize| {
        let key = "k".repeat(1_000);
        let values: String = (0..10_000).map(|at| format!("v{at} = {value}\n")).collect();
        (0..60).fold(values, |inner, _| format!("{key} = {{\n{inner}}}\n"))
    };
    let [base, left, right] = [0, 1, 2].map(text);
    let options =
        MergeOptions { winner: &|_| MergeSide::Left, is_json: false, labels: SIDE_LABELS };
    let merged = merge(MergeTexts { base: &base, left: &left, right: &right }, options);
    let bytes: usize = merged.overrides.iter().map(|change| change.path.len()).sum();
    assert!(bytes <= PATHS_BYTES_MAX && merged.left_out > 0, "{bytes} {}", merged.left_out);
    assert_eq!(merged.overrides.len() + merged.left_out, 10_000);
    // The side that wins does not depend on the room in the report.
    assert_eq!((merged.by_lines, merged.text == left), (None, true));
}
