//! Three-way merge of SJSON and JSON by structure: keys of objects, ids of list items. Both sides
//! never conflict: if both changed the same value, one side wins, and the merge reports it. Bytes
//! that nobody changed stay. A text that cannot be parsed is merged by lines. Opens no files.

mod container;
mod lines;
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
use parts::SourceValue;

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
    /// Both sides moved an object, or added an object with the same id.
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
    pub path: String,
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
}

/// Function that chooses the side that wins at a path.
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
}

/// Minimum size of a text that is parsed at the same time as the others.
const PARALLEL_BYTES_MIN: usize = 256 << 10;

/// Merges three versions of a text.
pub fn merge(texts: MergeTexts, options: MergeOptions) -> Merged {
    let MergeTexts { base, left, right } = texts;
    let unchanged = |text: &str| Merged { text: text.to_string(), ..Merged::default() };
    if left == right || base == right {
        return unchanged(left);
    }
    if base == left {
        return unchanged(right);
    }
    let forms = [base, left, right].map(FileForm::of);
    let form = FileForm::merged(&forms);
    let plain = [0, 1, 2].map(|at| forms[at].plain([base, left, right][at]));
    let [base, left, right] = [0, 1, 2].map(|at| plain[at].as_ref());
    let mut merged = match parse_all(base, left, right) {
        Ok(documents) => match merge_documents(&documents, options) {
            Ok(merged) => merged,
            Err(reason) => lines::merge(base, left, right, reason),
        },
        Err(reason) => lines::merge(base, left, right, reason),
    };
    merged.text = form.apply(merged.text);
    merged
}

fn parse_all(base: &str, left: &str, right: &str) -> Result<[Document; 3], String> {
    let parse = |side: &str, text: &str| {
        sjson::parse(text).map_err(|error| format!("the {side} version has an error: {error}"))
    };
    if left.len() < PARALLEL_BYTES_MIN {
        return Ok([parse("base", base)?, parse("left", left)?, parse("right", right)?]);
    }
    std::thread::scope(|scope| {
        let sides = [("base", base), ("left", left)];
        let running = sides.map(|(side, text)| scope.spawn(move || parse(side, text)));
        let right = parse("right", right);
        let [base, left] = running
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok([base?, left?, right?])
    })
}

/// Merges parsed files. Fails if the result would be damaged: then the caller merges by lines.
fn merge_documents(documents: &[Document; 3], options: MergeOptions) -> Result<Merged, String> {
    let [base, left, right] = [0, 1, 2].map(|at| SourceValue::root(&documents[at]));
    let mut merger = Merger::new([base, left, right], options);
    let has_base = !base.source.trim().is_empty();
    merger.merge_root(has_base.then_some(base), left, right);
    let merged = merger.finish();
    let parsed = sjson::parse(&merged.text)
        .map_err(|error| format!("the merged text would have an error: {error}"))?;
    moves::check(documents, &parsed)?;
    Ok(merged)
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
            text.matches("\r\n").count() == breaks && text.matches('\r').count() == breaks
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
    fn plain(self, text: &str) -> std::borrow::Cow<'_, str> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self.is_crlf {
            Some(true) => text.replace("\r\n", "\n").into(),
            _ => text.into(),
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
