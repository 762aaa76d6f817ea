//! The patcher of references: the text of a name after renames, and the bytes of a file with new
//! names. Writes no files.

use super::graph::{ContentGraph, FileNode, Target};
use super::other_parsers::{GLB_HEADER_BYTES, glb_json};
use super::{NODES_FOLDER, NameForm, Reference};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::TextSpan;
use engine_resource::resource_name::ResourceName;
use std::collections::BTreeMap;

/// New names of resources, and new paths of files.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    pub resources: BTreeMap<ResourceName, ResourceName>,
    pub files: BTreeMap<String, String>,
}

impl Renames {
    /// Returns the path of a file after the renames.
    pub fn path<'p>(&'p self, path: &'p str) -> &'p str {
        self.files.get(path).map_or(path, String::as_str)
    }

    /// Returns the text of a reference after the renames, or `None` if it stays the same. `target`
    /// is what the reference means.
    pub fn text(
        &self,
        graph: &ContentGraph,
        file: &FileNode,
        reference: &Reference,
        target: &Target,
    ) -> Option<String> {
        let name = reference.name.as_str();
        let text = match reference.form {
            NameForm::Path => self.path(name).to_string(),
            NameForm::Relative | NameForm::Uri => self.relative(graph, file, reference, target)?,
            NameForm::ModelFile if self.files.contains_key(before_clip(name)) => {
                let rest = &name[before_clip(name).len()..];
                format!("{}{rest}", self.path(before_clip(name)))
            }
            _ => {
                let Target::Resource(old) = target else { return None };
                renamed(reference, old, self.resources.get(old)?)?
            }
        };
        (text != name).then_some(text)
    }

    /// Returns the text of a relative path in the copy of a file, or `None` if it stays the same.
    pub fn copied(
        &self,
        graph: &ContentGraph,
        file: &FileNode,
        reference: &Reference,
    ) -> Option<String> {
        if !matches!(reference.form, NameForm::Relative | NameForm::Uri) {
            return None;
        }
        let target = graph.target_of(&graph.relative_path(file, reference)?)?;
        let text = self.relative(graph, file, reference, &target)?;
        (text != reference.name).then_some(text)
    }

    /// Returns a relative path after renames of the target, of the referring file, or of both.
    fn relative(
        &self,
        graph: &ContentGraph,
        file: &FileNode,
        reference: &Reference,
        target: &Target,
    ) -> Option<String> {
        let path = graph.relative_target(file, reference, target)?;
        let (from, to) = (self.path(&file.path), self.path(&path));
        if from == file.path && to == path {
            return None;
        }
        let text = relative_path(from, to);
        Some(match reference.form {
            NameForm::Uri => percent_encoded(&text),
            _ => text,
        })
    }
}

fn before_clip(name: &str) -> &str {
    name.split_once('#').map_or(name, |(model, _)| model)
}

/// Returns the text of a reference to a renamed resource.
fn renamed(reference: &Reference, old: &ResourceName, new: &ResourceName) -> Option<String> {
    let name = reference.name.as_str();
    // A part, a clip or an ending follows the name.
    let rest = name.strip_prefix(&old.name[..]);
    match reference.form {
        NameForm::Module | NameForm::Component | NameForm::ComponentOrMesh => {
            Some(module(name, old, new))
        }
        NameForm::NodeType => node_type(name, old, new),
        NameForm::Text if rest.is_none() => Some(module(name, old, new)),
        NameForm::Pattern => match name.contains('*') {
            true => None,
            false => Some(new.name.clone()),
        },
        NameForm::Prefix => None,
        NameForm::Text if rest == Some(&format!(".{}", old.kind)) => Some(new.to_string()),
        _ => Some(format!("{}{}", new.name, rest?)),
    }
}

/// Returns the new name of a module in the notation of the old one.
fn module(name: &str, old: &ResourceName, new: &ResourceName) -> String {
    let is_folder = old.name.ends_with("/init") && !name.ends_with("init");
    let new = match is_folder {
        true => new.name.strip_suffix("/init").unwrap_or(&new.name),
        false => &new.name[..],
    };
    let new = match old.name.strip_prefix("components/") == Some(name) {
        true => new.strip_prefix("components/").unwrap_or(new),
        false => new,
    };
    match name.contains('/') {
        true => new.to_string(),
        false if name.contains('.') || old.name == name => new.replace('/', "."),
        false => new.to_string(),
    }
}

/// Returns the name of a type of nodes after a rename of its script, which stays in the folder of
/// such scripts.
fn node_type(name: &str, old: &ResourceName, new: &ResourceName) -> Option<String> {
    let prefix = |script: &ResourceName| {
        script.name.strip_prefix(NODES_FOLDER).map(|name| name.replace('/', "."))
    };
    let node = name.strip_prefix(&prefix(old)?).filter(|rest| rest.starts_with('.'))?;
    Some(format!("{}{node}", prefix(new)?))
}

/// Returns the path from the folder of one file to another file.
fn relative_path(from: &str, to: &str) -> String {
    let folder: Vec<&str> = from.split('/').collect();
    let folder = &folder[..folder.len() - 1];
    let parts: Vec<&str> = to.split('/').collect();
    let same = folder.iter().zip(&parts[..parts.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - same);
    up.chain(parts[same..].iter().copied()).collect::<Vec<_>>().join("/")
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns the bytes of a file in which texts are replaced. `path` decides about the format.
pub fn patched(path: &str, bytes: &[u8], mut changes: Vec<(TextSpan, String)>) -> Option<Vec<u8>> {
    changes.sort_compact_by_key(|(span, _)| span.start);
    changes.dedup_by_key(|(span, _)| span.start);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let is_xml = matches!(&ending[..], "tmx" | "tsx" | "tx");
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (span, text) in &changes {
        let text = match is_xml {
            true => text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;"),
            false => text.clone(),
        };
        out.extend_from_slice(bytes.get(at..span.start)?);
        out.extend_from_slice(text.as_bytes());
        at = span.end;
    }
    out.extend_from_slice(bytes.get(at..)?);
    match ending == "glb" {
        true => with_lengths(bytes, out),
        false => Some(out),
    }
}

/// Pads the JSON of a GLB file that has changed, and updates the lengths in its headers.
fn with_lengths(old: &[u8], mut new: Vec<u8>) -> Option<Vec<u8>> {
    let json = glb_json(old)?;
    let grown = new.len() as i64 - old.len() as i64;
    let end = usize::try_from(json.end as i64 + grown).ok()?;
    let length = end.checked_sub(GLB_HEADER_BYTES)?;
    let padding = length.next_multiple_of(4) - length;
    new.splice(end..end, std::iter::repeat_n(b' ', padding));
    let total = u32::try_from(new.len()).ok()?;
    let chunk = u32::try_from(length + padding).ok()?;
    new.get_mut(8..12)?.copy_from_slice(&total.to_le_bytes());
    new.get_mut(12..16)?.copy_from_slice(&chunk.to_le_bytes());
    Some(new)
}
