//! Three-way merge of SJSON and JSON by structure: keys of objects, ids of list items. Both sides
//! never conflict: if both changed the same value, one side wins, and the merge reports it. Bytes
//! that nobody changed stay. A text that cannot be parsed is merged by lines. Opens no files.

mod container;
mod lines;
mod lint;
pub mod matching;
mod moves;
pub mod parts;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;

use container::Merger;
pub(crate) use container::{Identities, ListForm, id_of};
use engine_foundation::sjson::{self, Document};
pub use lint::lists_without_ids;
use moves::KnownIds;
use parts::SourceValue;
use std::sync::Arc;

/// One side of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSide {
    Left,
    Right,
}

/// A kind of change that the other side's change has overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideKind {
    /// Both sides gave a value, or different values.
    Value,
    /// One side removed what the other changed.
    Removal,
    /// Both sides changed the order.
    Order,
    /// Both sides changed a comment.
    Comment,
    /// Both sides moved an object.
    Move,
}

impl OverrideKind {
    /// Returns the name in outputs for programs.
    pub fn name(self) -> &'static str {
        match self {
            OverrideKind::Value => "value",
            OverrideKind::Removal => "removal",
            OverrideKind::Order => "order",
            OverrideKind::Comment => "comment",
            OverrideKind::Move => "move",
        }
    }
}

/// A change of one side that is not in the result, because the other side's change won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Keys joined by periods; items as `[id]` or `[number]`. Empty for the whole file.
    pub path: Arc<str>,
    pub kind: OverrideKind,
    /// The side whose change is in the result.
    pub winner: MergeSide,
    /// Texts of the value on both sides; empty if a side has none.
    pub left: String,
    pub right: String,
}

/// Result of a merge.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    pub text: String,
    pub overrides: Vec<Override>,
    /// The reason why the files were merged by lines, if they were.
    pub by_lines: Option<String>,
    /// Number of conflicts in a merge by lines. Their markers are in the text.
    pub conflicts: usize,
    /// Paths of lists whose objects have no ids, and that both sides changed.
    pub without_ids: Vec<String>,
    /// Number of overrides and of such lists for which the report had no room.
    pub left_out: usize,
}

/// Function that chooses the side that wins at a path. The path is empty for changes for which the
/// report has no room.
pub type ChooseWinner<'a> = dyn Fn(&str) -> MergeSide + 'a;

/// Texts of a merge.
#[derive(Clone, Copy)]
pub struct MergeTexts<'a> {
    /// The common ancestor; empty if both sides added the file.
    pub base: &'a str,
    pub left: &'a str,
    pub right: &'a str,
}

/// Options of a merge.
#[derive(Clone, Copy)]
pub struct MergeOptions<'a> {
    pub winner: &'a ChooseWinner<'a>,
    /// True if the result must be JSON: values are separated by commas.
    pub is_json: bool,
    /// Names of the left and the right side in the markers of conflicts.
    pub labels: [&'a str; 2],
}

/// Names of the sides if there are no better ones.
pub const SIDE_LABELS: [&str; 2] = ["left", "right"];

/// Minimum size of a text that is parsed at the same time as the others.
const PARALLEL_BYTES_MIN: usize = 256 << 10;

/// Merges three versions of a text.
pub fn merge(texts: MergeTexts, options: MergeOptions) -> Merged {
    let MergeTexts { base, left, right } = texts;
    merge_texts([base, left, right].map(str::to_string), options)
}

/// Merges three versions of a text, base, left and right, without copies of them.
pub fn merge_texts(texts: [String; 3], options: MergeOptions) -> Merged {
    let [base, left, right] = &texts;
    let unchanged = |text: &str| Merged { text: text.to_string(), ..Merged::default() };
    if left == right || base == right {
        return unchanged(left);
    }
    if base == left {
        return unchanged(right);
    }
    let forms = texts.each_ref().map(|text| FileForm::of(text));
    let form = FileForm::merged(&forms);
    let mut forms = forms.into_iter();
    let texts = texts.map(|text| match forms.next() {
        Some(form) => form.plain(text),
        None => text,
    });
    let merged = parse_all(texts).and_then(|documents| merge_documents(documents, options));
    let mut merged = match merged {
        Ok(merged) => merged,
        Err((reason, [base, left, right])) => {
            lines::merge(&base, &left, &right, reason, options.labels)
        }
    };
    merged.text = form.apply(merged.text);
    merged
}

/// The reason why texts are not merged by structure, with the texts.
type NotMerged = (String, [String; 3]);

fn parse_all(texts: [String; 3]) -> Result<[Document; 3], NotMerged> {
    let is_large = texts[1].len() >= PARALLEL_BYTES_MIN;
    let [base, left, right] = texts;
    let parsed = match is_large {
        false => [base, left, right].map(sjson::parse_text),
        true => std::thread::scope(|scope| {
            let running = [base, left].map(|text| scope.spawn(move || sjson::parse_text(text)));
            let right = sjson::parse_text(right);
            let [base, left] = running.map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            [base, left, right]
        }),
    };
    let mut sides = ["base", "left", "right"].into_iter();
    let mut reason = None;
    let parsed = parsed.map(|parsed| {
        let side = sides.next().unwrap_or_default();
        parsed.map_err(|(error, text)| {
            reason.get_or_insert_with(|| format!("the {side} version has an error: {error}"));
            text
        })
    });
    match (reason, parsed) {
        (None, [Ok(base), Ok(left), Ok(right)]) => Ok([base, left, right]),
        (reason, parsed) => {
            let text = |parsed: Result<Document, String>| match parsed {
                Ok(document) => document.into_text(),
                Err(text) => text,
            };
            Err((reason.unwrap_or_default(), parsed.map(text)))
        }
    }
}

/// Merges parsed files. Fails if the result would be damaged: then the caller merges by lines.
fn merge_documents(documents: [Document; 3], options: MergeOptions) -> Result<Merged, NotMerged> {
    let (mut merged, ids) = {
        let [base, left, right] = documents.each_ref().map(SourceValue::root);
        let mut merger = Merger::new([base, left, right], options);
        let has_base = !base.source.trim().is_empty();
        merger.merge_root(has_base.then_some(base), left, right);
        (merger.finish(), KnownIds::of([base.value, left.value, right.value]))
    };
    // The values of the versions are not needed any more, and the result has as many.
    let texts = documents.map(Document::into_text);
    let checked = match sjson::parse_text(std::mem::take(&mut merged.text)) {
        Ok(parsed) => ids.check(&parsed).map(|()| parsed.into_text()),
        Err((error, _)) => Err(format!("the merged text would have an error: {error}")),
    };
    match checked {
        Ok(text) => Ok(Merged { text, ..merged }),
        Err(reason) => Err((reason, texts)),
    }
}

/// The properties of a whole text file: byte order mark and line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileForm {
    has_mark: bool,
    /// True if all lines end in CR LF, `None` if the file has only one line.
    is_crlf: Option<bool>,
}

impl FileForm {
    fn of(text: &str) -> FileForm {
        let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
        let is_crlf = (breaks > 0).then(|| {
            let returns = text.bytes().filter(|byte| *byte == b'\r').count();
            returns == breaks && text.matches("\r\n").count() == breaks
        });
        FileForm { has_mark: text.starts_with('\u{feff}'), is_crlf }
    }

    /// Merges the forms of base, left and right. If both sides differ, the side that changed wins.
    fn merged([base, left, right]: &[FileForm; 3]) -> FileForm {
        let has_mark = match base.has_mark == left.has_mark {
            true => right.has_mark,
            false => left.has_mark,
        };
        let is_crlf = match (left.is_crlf, right.is_crlf) {
            (None, other) | (other, None) => other,
            (Some(of_left), Some(_)) if base.is_crlf != Some(of_left) => Some(of_left),
            (_, of_right) => of_right,
        };
        FileForm { has_mark, is_crlf }
    }

    /// Returns the text without mark, with lines that end in LF.
    fn plain(self, mut text: String) -> String {
        if self.has_mark {
            text.remove(0);
        }
        match self.is_crlf {
            Some(true) => text.replace("\r\n", "\n"),
            _ => text,
        }
    }

    fn apply(self, text: String) -> String {
        let text = match self.is_crlf {
            // A side with mixed line ends keeps its own.
            Some(true) if !text.contains('\r') => text.replace('\n', "\r\n"),
            _ => text,
        };
        match self.has_mark {
            true => format!("\u{feff}{text}"),
            false => text,
        }
    }
}
