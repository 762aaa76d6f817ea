//! The texts of paths to values, in reports and differences: keys joined by periods, items as
//! `[id]` or `[number]`. Different paths have different texts, and each is one line. All paths of a
//! report together have a limit.

use engine_foundation::hash::murmur64a;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::borrow::Cow;

/// Maximum length of a key or an id in a path, in bytes. Of a longer one, the path has the
/// beginning and a hash of all of it.
pub const STEP_BYTES_MAX: usize = 200;
/// Maximum length of all paths of a report, in bytes.
pub const PATHS_BYTES_MAX: usize = 64 << 20;
/// Maximum number of changes in a report.
pub const CHANGES_MAX: usize = 1_000_000;

/// The room that a report has left, within its limits.
#[derive(Clone, Copy, Debug)]
pub struct ReportRoom {
    bytes: usize,
    changes: usize,
}

impl Default for ReportRoom {
    fn default() -> ReportRoom {
        ReportRoom { bytes: PATHS_BYTES_MAX, changes: CHANGES_MAX }
    }
}

impl ReportRoom {
    /// Returns the text of the path to a change, or `None` if the report has no room for it.
    pub fn path_text(&mut self, steps: &[String]) -> Option<String> {
        let length: usize = steps.iter().map(|step| step.len() + 1).sum();
        let changes = self.changes.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(length)?;
        self.changes = changes;
        Some(path_text(steps))
    }
}

/// Returns the message about changes for which a report has no room.
pub fn left_out_message(count: usize) -> String {
    let changes =
        if count == 1 { "1 more change is" } else { &format!("{count} more changes are") };
    format!(
        "{changes} left out: {CHANGES_MAX} are listed at most (CHANGES_MAX), with {} MiB of paths \
         (PATHS_BYTES_MAX)",
        PATHS_BYTES_MAX >> 20
    )
}

/// Returns a text that is cut off if it is long. Different texts stay different.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= STEP_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let begin = &text[..text.floor_char_boundary(STEP_BYTES_MAX)];
    Cow::Owned(format!("{begin}…{:016x}", murmur64a(text.as_bytes(), 0)))
}

/// Returns the step to a key. A key that would be taken for several steps has quotes.
pub fn key_step(key: &str) -> String {
    let key = &*shortened(key);
    let is_special = |c: char| c.is_control() || c.is_whitespace() || ".[]\"=".contains(c);
    match key.is_empty() || key.contains(is_special) {
        true => quoted(key),
        false => key.to_string(),
    }
}

/// Returns the step to an item with an id, which is a text in quotes or a number.
pub fn id_step(id: &str) -> String {
    let plain = &*shortened(id.trim_matches('"'));
    let is_special = |c: char| c.is_control() || "[]\"".contains(c);
    // The text "3" is not the number 3.
    let is_number_as_text = id.starts_with('"') && plain.parse::<f64>().is_ok();
    match plain.is_empty() || is_number_as_text || plain.contains(is_special) {
        true => format!("[{}]", quoted(plain)),
        false => format!("[{plain}]"),
    }
}

fn quoted(text: &str) -> String {
    json::write(&SjsonTree::String(text.to_string()))
}

/// Joins steps.
pub fn path_text(steps: &[String]) -> String {
    let mut text = String::new();
    for step in steps {
        if !text.is_empty() && !step.starts_with('[') {
            text.push('.');
        }
        text.push_str(step);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_paths_have_different_texts_of_one_line() {
        let text =
            |keys: &[&str]| path_text(&keys.iter().map(|it| key_step(it)).collect::<Vec<_>>());
        assert_eq!(text(&["a", "b"]), "a.b");
        assert_eq!(text(&["a.b"]), "\"a.b\"");
        assert_eq!(text(&["a\nb = 1", "[x]"]), "\"a\\nb = 1\".\"[x]\"");
        assert_eq!(text(&["", "ü-_/"]), "\"\".ü-_/");
        assert_eq!([id_step("\"x y\""), id_step("3")], ["[x y]", "[3]"]);
        assert_eq!([id_step("\"a]\""), id_step("\"\"")], ["[\"a]\"]", "[\"\"]"]);
    }

    #[test]
    fn long_keys_are_cut_off_and_stay_different() {
        let long = |last: char| format!("{}{last}", "ü".repeat(STEP_BYTES_MAX));
        let steps = ['a', 'b'].map(|last| key_step(&long(last)));
        assert!(steps[0] != steps[1] && steps[0].starts_with("üü"), "{steps:?}");
        assert!(steps[0].len() < STEP_BYTES_MAX + 24, "{steps:?}");
        assert_eq!(id_step(&long('a')), format!("[{}]", steps[0]));
    }

    #[test]
    fn a_report_has_room_for_a_limited_number_of_bytes() {
        let mut room = ReportRoom::default();
        let steps: Vec<String> = (0..100).map(|_| "k".repeat(STEP_BYTES_MAX)).collect();
        let count = (0..10_000).filter(|_| room.path_text(&steps).is_some()).count();
        assert_eq!(count, PATHS_BYTES_MAX / (100 * (STEP_BYTES_MAX + 1)));
        assert!(left_out_message(3).starts_with("3 more changes are left out: "));
    }
}
