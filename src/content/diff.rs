//! Differences between two versions of an SJSON or JSON file, by path: the changed values with
//! their old and new texts. Items of lists are matched as merges match them. Opens no files.

use crate::merge::matching::is_same;
use crate::merge::parts::{Part, Parts, SourceValue};
use crate::merge::{Identities, ListForm};
use crate::paths::{PATHS_BYTES_MAX, ReportRoom, id_step, key_step, path_text};
use engine_foundation::json;
use engine_foundation::sjson::{Document, SjsonTree, SjsonValue, ValueKind};
use std::fmt::Write;

/// Maximum length of the lines of a file for git, in bytes.
pub const LINES_BYTES_MAX: usize = 4 * PATHS_BYTES_MAX;

/// The change of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
    /// The items of a list, or the order in which they are.
    Order,
}

impl ChangeKind {
    /// Returns the name in outputs for programs.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Order => "order",
        }
    }
}

/// A difference between two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Keys joined by periods; items as `[id]` or `[number]`.
    pub path: String,
    pub kind: ChangeKind,
    /// Texts of the value; empty if a version has none.
    pub old: String,
    pub new: String,
    /// Line of the value in the new version, or in the old one if it was removed.
    pub line: usize,
}

/// The differences between two versions.
#[derive(Clone, Debug)]
pub struct Differences {
    pub changes: Vec<Change>,
    /// Number of changes for which there was no room.
    pub left_out: usize,
    room: ReportRoom,
}

impl Differences {
    fn add(&mut self, path: &[String], kind: ChangeKind, texts: [&str; 2], line: usize) {
        match self.room.path_text(path) {
            Some(path) => {
                let [old, new] = texts.map(str::to_string);
                self.changes.push(Change { path, kind, old, new, line });
            }
            None => self.left_out += 1,
        }
    }
}

/// Returns the differences in the order of the new version, removed values at the end of their
/// container.
pub fn diff(old: &Document, new: &Document) -> Differences {
    let mut found = Differences { changes: Vec::new(), left_out: 0, room: ReportRoom::default() };
    let (old, new) = (SourceValue::root(old), SourceValue::root(new));
    compare(&mut found, &mut Vec::new(), old, new);
    found
}

fn compare(found: &mut Differences, path: &mut Vec<String>, old: SourceValue, new: SourceValue) {
    if old.text() == new.text() || is_same(old.value, new.value) && !has_order(old, new) {
        return;
    }
    let form = match (old.kind(), new.kind()) {
        (ValueKind::Object, ValueKind::Object) => ListForm::Object,
        (ValueKind::Array, ValueKind::Array) => ListForm::of(Some(old), new, new),
        _ => ListForm::Atomic,
    };
    if form == ListForm::Atomic {
        let texts = [old.text(), new.text()];
        found.add(path, ChangeKind::Changed, texts, new.value.line());
        return;
    }
    let (of_old, of_new) = (Parts::of(old), Parts::of(new));
    let all = [&of_old.parts, &of_new.parts, &of_new.parts];
    let ids = Identities::of(form, all);
    if form != ListForm::Object {
        let common = |version: usize| -> Vec<usize> {
            let is_common = |id: &&usize| ids.indices(**id)[..2].iter().all(Option::is_some);
            ids.sequence(version).iter().filter(is_common).copied().collect()
        };
        if common(0) != common(1) {
            found.add(path, ChangeKind::Order, ["", ""], new.value.line());
        }
    }
    let removed = ids.sequence(0).iter().filter(|id| ids.indices(**id)[1].is_none());
    for id in ids.sequence(1).iter().chain(removed) {
        let [before, after, _] = ids.indices(*id);
        path.push(ids.step(form, *id, all));
        match (before.map(|at| &all[0][at]), after.map(|at| &all[1][at])) {
            (Some(before), Some(after)) => compare(found, path, before.value, after.value),
            (None, Some(Part { value, .. })) => {
                found.add(path, ChangeKind::Added, ["", value.text()], value.value.line());
            }
            (Some(Part { value, .. }), None) => {
                found.add(path, ChangeKind::Removed, [value.text(), ""], value.value.line());
            }
            (None, None) => {}
        }
        path.pop();
    }
}

/// Returns true if the values are lists, in which the order has a meaning.
fn has_order(old: SourceValue, new: SourceValue) -> bool {
    old.kind() == ValueKind::Array
        && new.kind() == ValueKind::Array
        && !is_same(old.value, new.value)
}

/// Returns the changes as JSON: a list of objects with path, kind, old, new and line.
pub fn to_json(changes: &[Change]) -> String {
    json::write_indented(&SjsonTree::Array(changes.iter().map(change_tree).collect()))
}

/// Returns a change as JSON.
pub fn change_tree(change: &Change) -> SjsonTree {
    json::object([
        ("path", json::text(&change.path)),
        ("kind", json::text(change.kind.name())),
        ("old", json::text(&change.old)),
        ("new", json::text(&change.new)),
        ("line", SjsonTree::Number(change.line as f64)),
    ])
}

/// Returns the changes as an HTML page with two columns. `names` are the names of the versions;
/// `above` is HTML for pictures of them.
pub fn to_html(names: [&str; 2], changes: &[Change], above: &str) -> String {
    let escape = |text: &str| engine_foundation::xml::escape_for_display(text);
    let mut out = String::from(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Differences</title>\n<style>\n\
         body { font: 14px sans-serif; margin: 2em }\n\
         table { border-collapse: collapse; width: 100%; table-layout: fixed }\n\
         td, th { border: 1px solid #ccc; padding: 4px 8px; vertical-align: top;\n\
         text-align: left }\n\
         pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }\n\
         .old { background: #ffecec } .new { background: #eaffea }\n\
         img { max-width: 100%; image-rendering: pixelated; background: #888 }\n</style>\n",
    );
    out += above;
    let _ = write!(
        out,
        "<table>\n<tr><th style=\"width:25%\">Path<th>{}<th>{}\n",
        escape(names[0]),
        escape(names[1])
    );
    for change in changes {
        let cell = |class: &str, text: &str| match text.is_empty() {
            true => "<td>".to_string(),
            false => format!("<td class=\"{class}\"><pre>{}</pre>", escape_lines(text)),
        };
        let _ = writeln!(
            out,
            "<tr><td>{} ({}){}{}",
            escape(&change.path),
            change.kind.name(),
            cell("old", &change.old),
            cell("new", &change.new)
        );
    }
    out.push_str("</table>\n");
    out
}

fn escape_lines(text: &str) -> String {
    engine_foundation::xml::escape_lines_for_display(text).to_string()
}

/// Returns a line for each value of a file: its path and its text. Git compares these lines
/// (`textconv`), so that a difference names the path. Returns `None` if the paths would be longer
/// than [`LINES_BYTES_MAX`] with their values.
pub fn to_lines(document: &Document) -> Option<String> {
    let mut out = String::new();
    add_lines(&mut out, &mut Vec::new(), SourceValue::root(document))?;
    Some(out)
}

fn add_lines(out: &mut String, path: &mut Vec<String>, value: SourceValue) -> Option<()> {
    let is_plain =
        |value: SjsonValue| !matches!(value.kind(), ValueKind::Array | ValueKind::Object);
    let is_short = match value.kind() {
        ValueKind::Object => value.value.entries().is_none_or(|entries| entries.len() == 0),
        ValueKind::Array => value.value.items().is_none_or(|mut items| items.all(is_plain)),
        _ => true,
    };
    if is_short {
        let parts: Vec<&str> = match value.kind() {
            ValueKind::String => vec![value.text()],
            _ => value.text().split_whitespace().collect(),
        };
        let _ = writeln!(out, "{} = {}", path_text(path), parts.join(" "));
        return (out.len() <= LINES_BYTES_MAX).then_some(());
    }
    for entry in value.value.entries().into_iter().flatten() {
        path.push(key_step(entry.key));
        add_lines(out, path, value.with(entry.value))?;
        path.pop();
    }
    for (at, item) in value.value.items().into_iter().flatten().enumerate() {
        let id = crate::merge::id_of(item);
        path.push(match &id {
            Some(id) => id_step(id),
            None => format!("[{}]", at + 1),
        });
        add_lines(out, path, value.with(item))?;
        path.pop();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson::parse;

    fn check(old: &str, new: &str, wanted: &[(&str, &str, &str, &str)]) {
        let changes = diff(&parse(old).unwrap(), &parse(new).unwrap()).changes;
        let found: Vec<_> = changes
            .iter()
            .map(|it| (it.path.as_str(), it.kind.name(), it.old.as_str(), it.new.as_str()))
            .collect();
        assert_eq!(found, wanted, "{old:?} {new:?}");
    }

    #[test]
    fn differences_are_listed_by_path() {
        check("a = 1", "a = 1 // same", &[]);
        check("a = 1", "a = 1.0", &[]);
        check(
            "a = { b = 1 c = 2 }",
            "a = { c = 3 d = 4 }",
            &[("a.c", "changed", "2", "3"), ("a.d", "added", "", "4"), ("a.b", "removed", "1", "")],
        );
        check("p = [1, 2]", "p = [1, 3]", &[("p", "changed", "[1, 2]", "[1, 3]")]);
        check(
            "u = [{ id = \"x\" v = 1 }]",
            "u = [{ id = \"n\" } { id = \"x\" v = 2 }]",
            &[("u[n]", "added", "", "{ id = \"n\" }"), ("u[x].v", "changed", "1", "2")],
        );
        check("[{ id = 1 } { id = 2 }]", "[{ id = 2 } { id = 1 }]", &[("", "order", "", "")]);
    }

    #[test]
    fn pages_show_both_versions_as_text() {
        let changes = diff(&parse("a = \"<b>\"").unwrap(), &parse("a = \"&\"").unwrap()).changes;
        let page = to_html(["old", "new"], &changes, "<p>above</p>");
        assert!(page.contains("<p>above</p><table>"), "{page}");
        assert!(page.contains("<pre>&quot;&lt;b&gt;&quot;</pre>"), "{page}");
        assert!(page.contains("<pre>&quot;&amp;&quot;</pre>"), "{page}");
        let json = to_json(&changes);
        assert!(json.contains("\"path\": \"a\""), "{json}");
    }

    #[test]
    fn lines_for_git_name_each_value() {
        let document = parse("// x\nu = [{ id = \"k\" p = [1\n 2] }]\nn = { v = null }").unwrap();
        let lines = to_lines(&document).unwrap();
        assert_eq!(lines, "u[k].id = \"k\"\nu[k].p = [1 2]\nn.v = null\n");
    }

    /// Returns a file with long keys around many values.
    fn long_keys(value: usize) -> String {
        let key = "k".repeat(1_000);
        let values: String = (0..10_000).map(|at| format!("v{at} = {value}\n")).collect();
        (0..60).fold(values, |inner, _| format!("{key} = {{\n{inner}}}\n"))
    }

    #[test]
    fn long_keys_around_many_changes_are_left_out_beyond_the_limit() {
        let [old, new] = [1, 2].map(|value| parse(&long_keys(value)).unwrap());
        let found = diff(&old, &new);
        let bytes: usize = found.changes.iter().map(|change| change.path.len()).sum();
        assert!(bytes <= PATHS_BYTES_MAX && found.left_out > 0, "{bytes} {}", found.left_out);
        assert_eq!(found.changes.len() + found.left_out, 10_000);
        assert!(to_lines(&old).is_some_and(|lines| lines.len() < LINES_BYTES_MAX));
    }
}
