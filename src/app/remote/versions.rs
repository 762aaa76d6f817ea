//! Versions of the files of the game's folder, for tools: the files that have changed since a mark,
//! and the differences between two versions. Runs on the thread of remote/content_worker.rs; the
//! comparison itself is in difference/, the rows of the messages in remote/content_messages.rs.

use super::content_worker::{self, ContentFolder};
use super::message_table::{boolean, integer, text};
use super::{IncomingCall, Refusal, data, drawings};
use crate::difference::{self, FileDifference, ShownPicture};
use engine_content::diff::Change;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{self, FileState, readers};
use engine_foundation::json::{self, object};
use engine_foundation::sjson::SjsonTree;
use engine_resource::folder_scan;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::is_inside;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum size of all contents that a mark keeps, in bytes. The smallest files come first.
const MARK_BYTES_MAX: u64 = 128 << 20;
/// Maximum size of a file whose content is kept and compared, in bytes.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// Default and maximum number of files in an answer.
const ROWS: u64 = 200;
pub const CHANGED_MAX: u64 = 1_000;
/// Maximum number of changes in an answer.
const CHANGES_MAX: usize = 1_000;
/// Maximum size of a value in an answer, in bytes.
const VALUE_SHOWN_MAX: usize = 4 << 10;

/// Endings of resources of which a command draws both versions.
const DRAWN_ENDINGS: [&str; 3] = [kind_names::UNIT, kind_names::LEVEL, kind_names::MATERIAL];

type Answer = Result<Option<SjsonTree>, Refusal>;

/// The files of the folder at a time that a person chose.
pub struct FolderMark {
    files: BTreeMap<String, MarkedFile>,
    milliseconds: f64,
    bytes: u64,
    /// Number of files whose content is not kept.
    without_content: usize,
}

struct MarkedFile {
    state: FileState,
    content: Option<Vec<u8>>,
}

/// A version of a file.
enum Version {
    /// The content now.
    Disk,
    Mark,
    /// The text that tools have open, with their unsaved changes.
    Text(String),
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::of(message)
}

/// Returns true for the path of a file that is not hidden, inside of the folder.
fn is_visible(path: &str) -> bool {
    is_inside(path) && path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

fn read(folder: &Path, path: &str, state: FileState) -> Option<Vec<u8>> {
    let is_small = state.size <= FILE_BYTES_MAX && is_visible(path);
    is_small.then(|| file_access::read(folder, path, &readers::SOURCE_TEXT).ok()).flatten()
}

fn scan(folder: &Path) -> Result<BTreeMap<String, FileState>, Refusal> {
    let found = folder_scan::files(folder).map_err(|error| refuse(error.to_string()))?;
    Ok(found.files.into_iter().map(|file| (file.path, file.state)).collect())
}

impl FolderMark {
    fn read(folder: &Path) -> Result<FolderMark, Refusal> {
        let mut found: Vec<(String, FileState)> = scan(folder)?.into_iter().collect();
        found.sort_compact_by_key(|(_, state)| state.size);
        let milliseconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let milliseconds = milliseconds.map_or(0.0, |time| time.as_millis() as f64);
        let mut mark =
            FolderMark { files: BTreeMap::new(), milliseconds, bytes: 0, without_content: 0 };
        for (path, state) in found {
            let has_room = mark.bytes + state.size <= MARK_BYTES_MAX;
            let content = has_room.then(|| read(folder, &path, state)).flatten();
            match &content {
                Some(content) => mark.bytes += content.len() as u64,
                None => mark.without_content += 1,
            }
            mark.files.insert(path, MarkedFile { state, content });
        }
        Ok(mark)
    }

    /// Returns the files that have changed, with the kind of the change.
    fn changes(&self, folder: &Path) -> Result<Vec<(String, &'static str, u64)>, Refusal> {
        let now = scan(folder)?;
        let mut changes = Vec::new();
        for (path, state) in &now {
            match self.files.get(path) {
                None => changes.push((path.clone(), "added", state.size)),
                Some(marked) if marked.state == *state => {}
                // A file that was written with the same content has not changed.
                Some(marked) => {
                    let content =
                        marked.content.as_ref().filter(|it| it.len() as u64 == state.size);
                    let is_same =
                        content.is_some() && read(folder, path, *state).as_ref() == content;
                    if !is_same {
                        changes.push((path.clone(), "changed", state.size));
                    }
                }
            }
        }
        let removed = self.files.iter().filter(|(path, _)| !now.contains_key(*path));
        changes.extend(removed.map(|(path, marked)| (path.clone(), "removed", marked.state.size)));
        changes.sort_compact();
        Ok(changes)
    }
}

impl ContentFolder {
    /// Returns the mark, which the first question sets.
    fn mark(&mut self, is_new: bool) -> Result<&FolderMark, Refusal> {
        if is_new || self.mark.is_none() {
            self.mark = None;
            self.mark = Some(FolderMark::read(&self.folder)?);
        }
        self.mark.as_ref().ok_or_else(|| refuse("there is no mark"))
    }
}

/// Lists the files that have changed since the mark.
pub fn changed_files(call: &mut IncomingCall) -> Answer {
    let is_new = boolean(call.fields, "mark");
    let filter = text(call.fields, "text").unwrap_or_default().to_lowercase();
    let first = integer(call.fields, "first").unwrap_or(0) as usize;
    let most = integer(call.fields, "max").unwrap_or(ROWS) as usize;
    content_worker::ask(call, move |folder| {
        let root = folder.folder.clone();
        let mark = folder.mark(is_new)?;
        let mut changes = mark.changes(&root)?;
        changes.retain(|(path, ..)| path.to_lowercase().contains(&filter));
        let row = |(path, change, bytes): &(String, &str, u64)| {
            let is_kept = mark.files.get(path).is_some_and(|marked| marked.content.is_some());
            object([
                ("path", json::text(path)),
                ("change", json::text(*change)),
                ("bytes", SjsonTree::Number(*bytes as f64)),
                ("kept", SjsonTree::Bool(is_kept)),
            ])
        };
        let rows = changes.iter().skip(first).take(most).map(row).collect();
        Ok(object([
            ("marked", SjsonTree::Number(mark.milliseconds)),
            ("files", json::count(mark.files.len())),
            ("bytes", SjsonTree::Number(mark.bytes as f64)),
            ("without_content", json::count(mark.without_content)),
            ("first", json::count(first)),
            ("count", json::count(changes.len())),
            ("rows", SjsonTree::Array(rows)),
        ]))
    })
}

/// Returns the version of a file that a field names.
fn version(call: &mut IncomingCall, field: &str, path: &str) -> Result<Version, Refusal> {
    if !is_visible(path) {
        return Err(refuse(format!("'{path}' is not the path of a file in the game's folder")));
    }
    match text(call.fields, field) {
        None if field == "old" => Ok(Version::Mark),
        Some("mark") => Ok(Version::Mark),
        None | Some("disk") => Ok(Version::Disk),
        Some("open") => Ok(Version::Text(data::open_text(call.state, path)?)),
        Some(other) => {
            let names = ["mark", "disk", "open"];
            let hint = engine_foundation::suggest::hint_or_names(other, names);
            Err(refuse(format!("there is no version '{other}'{hint}")))
        }
    }
}

/// Returns the content of a version; `None` if the file does not exist in it.
fn content(
    folder: &mut ContentFolder,
    version: &Version,
    path: &str,
) -> Result<Option<Vec<u8>>, Refusal> {
    match version {
        Version::Text(text) => Ok(Some(text.as_bytes().to_vec())),
        Version::Disk => {
            let bytes = match file_access::read(&folder.folder, path, &readers::SOURCE_TEXT) {
                Err(reason) if reason.is_missing() => return Ok(None),
                found => found.map_err(|refusal| refuse(refusal.message(path)))?,
            };
            match bytes.len() as u64 > FILE_BYTES_MAX {
                true => Err(refuse(format!(
                    "'{path}' has more than {} MiB (FILE_BYTES_MAX)",
                    FILE_BYTES_MAX >> 20
                ))),
                false => Ok(Some(bytes)),
            }
        }
        Version::Mark => match folder.mark(false)?.files.get(path) {
            None => Ok(None),
            Some(MarkedFile { content: Some(content), .. }) => Ok(Some(content.clone())),
            Some(_) => Err(refuse(format!(
                "the mark does not keep the content of '{path}': it keeps the smallest files, \
                 {} MiB in all (MARK_BYTES_MAX)",
                MARK_BYTES_MAX >> 20
            ))),
        },
    }
}

/// Returns the differences between two versions of a file, or between two files.
pub fn difference(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default().to_string();
    let with = text(call.fields, "with").unwrap_or(&path).to_string();
    let old = version(call, "old", &with)?;
    let new = version(call, "new", &path)?;
    let has_drawer = call.state.drawings.has_drawer();
    content_worker::ask(call, move |folder| {
        let versions = [content(folder, &old, &with)?, content(folder, &new, &path)?];
        if versions.iter().all(Option::is_none) {
            return Err(refuse(format!("neither version has a file '{path}'")));
        }
        let mut found = difference::compare(&path, versions.each_ref().map(Option::as_deref));
        let can_be_drawn = is_drawn(&path) && path == with && !found.changes.is_empty();
        if can_be_drawn && !has_drawer {
            found.notes.push(drawings::no_drawer().to_string());
        }
        Ok(difference_tree((&path, &with), &found, can_be_drawn && has_drawer))
    })
}

/// Returns true for the path of a resource that is drawn.
fn is_drawn(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    DRAWN_ENDINGS.contains(&ending)
}

/// Asks the client that draws for pictures of two versions of a file.
pub fn draw_difference(call: &mut IncomingCall) -> Answer {
    let path = text(call.fields, "path").unwrap_or_default().to_string();
    if !is_drawn(&path) {
        return Err(refuse(format!("'{path}' is no unit, level or material")));
    }
    let old = version(call, "old", &path)?;
    let new = version(call, "new", &path)?;
    let (drawings, reply) = (call.state.drawings.clone(), call.reply.clone());
    content_worker::ask_later(call, move |folder| {
        let versions = [content(folder, &old, &path)?, content(folder, &new, &path)?];
        drawings.ask(reply, &path, versions.each_ref().map(Option::as_deref))
    })
}

/// Returns a text that is cut off at a limit.
fn shown_value(text: &str) -> SjsonTree {
    if text.len() <= VALUE_SHOWN_MAX {
        return json::text(text);
    }
    let end = text.floor_char_boundary(VALUE_SHOWN_MAX);
    json::text(format!("{}… and {} more bytes", &text[..end], text.len() - end))
}

fn difference_tree((path, with): (&str, &str), found: &FileDifference, draws: bool) -> SjsonTree {
    let change = |change: &Change| {
        object([
            ("path", json::text(&change.path)),
            ("kind", json::text(change.kind.name())),
            ("old", shown_value(&change.old)),
            ("new", shown_value(&change.new)),
            ("line", SjsonTree::Number(change.line as f64)),
        ])
    };
    let picture = |picture: &Option<ShownPicture>| {
        picture.as_ref().map_or(SjsonTree::Null, |it| {
            object([
                ("width", SjsonTree::Number(f64::from(it.width))),
                ("height", SjsonTree::Number(f64::from(it.height))),
                ("png", json::text(json::base64(&it.png))),
            ])
        })
    };
    let texels = found.pictures.texels.as_ref().map_or(SjsonTree::Null, |it| {
        object([
            ("count", SjsonTree::Number(it.count as f64)),
            ("largest", SjsonTree::Number(f64::from(it.largest))),
            ("png", json::text(json::base64(&it.png))),
        ])
    });
    let [old, new] = found.pictures.versions.each_ref().map(picture);
    let changes: Vec<SjsonTree> = found.changes.iter().take(CHANGES_MAX).map(change).collect();
    object([
        ("path", json::text(path)),
        ("with", json::text(with)),
        ("form", json::text(found.form.name())),
        ("left_out", json::count(found.changes.len() - changes.len())),
        ("changes", SjsonTree::Array(changes)),
        ("notes", json::texts(&found.notes)),
        ("old_picture", old),
        ("new_picture", new),
        ("texels", texels),
        ("graph", found.graph.as_deref().map_or(SjsonTree::Null, json::text)),
        ("draws", SjsonTree::Bool(draws)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_and_outer_paths_are_no_files_of_the_game() {
        for path in ["../x", "/etc/passwd", ".git/config", "a/.env", "a//b", "", "."] {
            assert!(!is_visible(path), "{path}");
        }
        assert!(is_visible("units/a.unit"));
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let text = "é".repeat(VALUE_SHOWN_MAX);
        let SjsonTree::String(shown) = shown_value(&text) else { panic!("it is a text") };
        assert!(shown.len() < VALUE_SHOWN_MAX + 40 && shown.ends_with("more bytes"), "{shown}");
        assert_eq!(shown_value("a"), json::text("a"));
    }
}
