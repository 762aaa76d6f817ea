//! Differences between two versions of a file as people see them: changed values by path, changed
//! lines, pictures before and after, graphs. For commands, and for tools of a running game.

mod lines;
mod pictures;

use crate::resource_kinds::KINDS;
use engine_content::diff::{self, Change, ChangeKind, Differences};
use engine_content::merge::matching::LINES_MAX;
use engine_content::paths::left_out_message;
use engine_content::references::has_text_format;
use engine_flow::difference_svg;
use engine_foundation::sjson::{self, Document, SjsonTree};
use engine_foundation::{json, xml};
use engine_resource::image::EXTENSIONS;
use engine_resource::resource_kind::{SourceForm, kind_names};
use pictures::compare_pictures;
use std::fmt::Write;

pub use pictures::{PictureDifference, ShownPicture, TexelDifference};

/// Endings of JSON and SJSON files that are no resources of their own.
const DATA_ENDINGS: [&str; 6] = ["sjson", "json", "tmj", "tsj", "ldtk", "gltf"];
/// Keys of a file that is a graph.
const GRAPH_KEYS: [&str; 3] = ["events", "variables", "positions"];
/// Maximum size of the drawing of a graph, in bytes.
const DRAWING_BYTES_MAX: usize = 8 << 20;

/// How two versions were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedForm {
    /// By path.
    Data,
    /// By lines.
    Text,
    Picture,
    /// Only whether they are equal.
    Bytes,
}

impl ComparedForm {
    pub fn name(self) -> &'static str {
        match self {
            ComparedForm::Data => "data",
            ComparedForm::Text => "text",
            ComparedForm::Picture => "picture",
            ComparedForm::Bytes => "bytes",
        }
    }
}

/// The differences between two versions of a file.
#[derive(Clone, Debug)]
pub struct FileDifference {
    pub form: ComparedForm,
    pub changes: Vec<Change>,
    pub pictures: PictureDifference,
    /// The graphs of both versions in one drawing (SVG), if they differ.
    pub graph: Option<String>,
    /// Why a part is missing.
    pub notes: Vec<String>,
}

/// Compares two versions of a file with a path. A version that does not exist is `None`.
pub fn compare(path: &str, versions: [Option<&[u8]>; 2]) -> FileDifference {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if EXTENSIONS.contains(&ending.as_str()) {
        return compare_as_pictures(&ending, versions);
    }
    let texts = versions.map(|bytes| std::str::from_utf8(bytes.unwrap_or_default()));
    let [Ok(old), Ok(new)] = texts else { return compare_as_bytes(versions) };
    let mut notes = Vec::new();
    // A file without an ending may be anything.
    if ending.is_empty() || is_data(&ending) {
        match [old, new].map(sjson::parse) {
            [Ok(old), Ok(new)] => return compare_as_data(path, [old, new], versions),
            parsed => {
                let sides = ["old", "new"].into_iter().zip(parsed);
                let errors = sides.filter_map(|(side, parsed)| Some((side, parsed.err()?)));
                let errors = errors.filter(|_| !ending.is_empty());
                notes.extend(errors.map(|(side, error)| {
                    format!("compared by lines: the {side} version has an error: {error}")
                }));
            }
        }
    }
    match lines::compare_lines(old, new) {
        Some(changes) => {
            let pictures = PictureDifference::default();
            FileDifference { form: ComparedForm::Text, changes, pictures, graph: None, notes }
        }
        None => {
            notes.push(format!(
                "not compared by lines: a version has more than {LINES_MAX} (LINES_MAX)"
            ));
            FileDifference { notes, ..compare_as_bytes(versions) }
        }
    }
}

/// Returns true if the files of an ending are in SJSON or JSON.
fn is_data(ending: &str) -> bool {
    let mut kinds = KINDS.0.iter().filter(|kind| has_text_format(kind.name));
    let is_own = |(known, form): &(&str, SourceForm)| *known == ending && *form == SourceForm::Own;
    DATA_ENDINGS.contains(&ending) || kinds.any(|kind| kind.extensions.iter().any(is_own))
}

fn compare_as_pictures(ending: &str, versions: [Option<&[u8]>; 2]) -> FileDifference {
    let mut pictures = compare_pictures(ending, versions);
    let change = |path: &str, old: String, new: String| {
        let kind = match (old.is_empty(), new.is_empty()) {
            (true, _) => ChangeKind::Added,
            (_, true) => ChangeKind::Removed,
            _ => ChangeKind::Changed,
        };
        Change { path: path.to_string(), kind, old, new, line: 1 }
    };
    let size = |version: &Option<ShownPicture>| {
        version.as_ref().map_or(String::new(), |it| format!("{} x {}", it.width, it.height))
    };
    let [old, new] = pictures.versions.each_ref().map(size);
    let mut changes = Vec::new();
    if old != new {
        changes.push(change("size", old, new));
    } else if let Some(TexelDifference { count: count @ 1.., largest, .. }) = &pictures.texels {
        let new = format!("{count} differ, by at most {largest} of 255");
        changes.push(Change { kind: ChangeKind::Changed, ..change("texels", String::new(), new) });
    }
    if changes.is_empty() && versions[0] != versions[1] {
        changes = compare_as_bytes(versions).changes;
    }
    let notes = std::mem::take(&mut pictures.notes);
    FileDifference { form: ComparedForm::Picture, changes, pictures, graph: None, notes }
}

fn compare_as_bytes(versions: [Option<&[u8]>; 2]) -> FileDifference {
    let size =
        |bytes: Option<&[u8]>| bytes.map_or(String::new(), |it| format!("{} bytes", it.len()));
    let [old, new] = versions.map(size);
    let kind = match (versions[0], versions[1]) {
        (None, Some(_)) => Some(ChangeKind::Added),
        (Some(_), None) => Some(ChangeKind::Removed),
        (old, new) if old != new => Some(ChangeKind::Changed),
        _ => None,
    };
    let change = kind.map(|kind| Change { path: String::new(), kind, old, new, line: 1 });
    FileDifference {
        form: ComparedForm::Bytes,
        changes: change.into_iter().collect(),
        pictures: PictureDifference::default(),
        graph: None,
        notes: Vec::new(),
    }
}

fn compare_as_data(
    path: &str,
    [old, new]: [Document; 2],
    versions: [Option<&[u8]>; 2],
) -> FileDifference {
    let Differences { changes, left_out, .. } = diff::diff(&old, &new);
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(left_out_message(left_out));
    }
    if changes.is_empty() && versions[0] != versions[1] {
        notes.push("only comments or the layout differ".to_string());
    }
    let graphs = [&old, &new].map(|document| graph_of(path, &document.to_tree()));
    let mut graph = None;
    match graphs {
        [Ok(old), Ok(new)] if old != new => graph = Some(difference_svg(&old, &new)),
        [Ok(_), Ok(_)] => {}
        graphs => notes.extend(graphs.into_iter().filter_map(Result::err)),
    }
    if graph.as_ref().is_some_and(|drawing| drawing.len() > DRAWING_BYTES_MAX) {
        graph = None;
        notes.push(format!("the drawing of the graph exceeds {} MiB", DRAWING_BYTES_MAX >> 20));
    }
    let pictures = PictureDifference::default();
    FileDifference { form: ComparedForm::Data, changes, pictures, graph, notes }
}

/// Returns the graph in a file: its block `flow`, or the whole file; empty if it has none.
///
/// # Errors
/// Returns a message if the file uses a shared graph.
pub fn graph_of(path: &str, tree: &SjsonTree) -> Result<SjsonTree, String> {
    match tree.get("flow") {
        Some(SjsonTree::String(shared)) => {
            Err(format!("'{path}' uses the graph '{shared}': compare the versions of that file"))
        }
        Some(graph) => Ok(graph.clone()),
        // The keys of a unit or a level without a graph are no graph.
        None if GRAPH_KEYS.iter().any(|key| tree.get(key).is_some()) => Ok(tree.clone()),
        None if path.ends_with(&format!(".{}", kind_names::FLOW)) => Ok(tree.clone()),
        None => Ok(SjsonTree::Object(Vec::new())),
    }
}

/// Returns an HTML page with two columns: pictures and graphs, then the changes. `names` are the
/// names of the versions, `drawn` pictures of what they look like in the game.
pub fn to_html(names: [&str; 2], difference: &FileDifference, drawn: &PictureDifference) -> String {
    let mut above = String::new();
    for note in difference.notes.iter().chain(&drawn.notes) {
        let _ = writeln!(above, "<p>{}</p>", xml::escape_for_display(note));
    }
    for pictures in [drawn, &difference.pictures] {
        if pictures.versions.iter().all(Option::is_none) {
            continue;
        }
        above += "<table><tr>";
        for (name, version) in names.iter().zip(&pictures.versions) {
            let name = xml::escape_for_display(name);
            above += &version.as_ref().map_or("<td>".to_string(), |it| {
                let size = format!("{} x {}", it.width, it.height);
                let image = image_tag("png", &it.png, &format!("{name}, {size}"));
                format!("<td>{image}<br>{name}, {size}")
            });
        }
        if let Some(texels) = &pictures.texels {
            let text = format!("{} texels differ", texels.count);
            above += &format!("<td>{}<br>{text}", image_tag("png", &texels.png, &text));
        }
        above += "</table>\n";
    }
    if let Some(graph) = &difference.graph {
        above += &image_tag("svg+xml", graph.as_bytes(), "The graphs of both versions");
        above.push('\n');
    }
    diff::to_html(names, &difference.changes, &above)
}

/// Returns an image with its content. A drawing in an image runs no scripts.
fn image_tag(format: &str, bytes: &[u8], name: &str) -> String {
    format!("<img alt=\"{name}\" src=\"data:image/{format};base64,{}\">", json::base64(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_texts(path: &str, old: &str, new: &str) -> FileDifference {
        compare(path, [Some(old.as_bytes()), Some(new.as_bytes())])
    }

    #[test]
    fn forms_follow_the_ending_and_the_content() {
        let data = of_texts("a.unit", "a = 1", "a = 2");
        assert_eq!((data.form, data.changes[0].path.as_str()), (ComparedForm::Data, "a"));
        let broken = of_texts("a.unit", "a = 1", "a = {");
        assert_eq!((broken.form, broken.notes.len()), (ComparedForm::Text, 1));
        let script = of_texts("a.lua", "a\nb\n", "a\nc\n");
        assert_eq!((script.form, script.changes[0].path.as_str()), (ComparedForm::Text, "line 2"));
        let bytes = compare("a.wav", [Some(&[0xff, 1]), Some(&[0xff, 2])]);
        assert_eq!((bytes.form, bytes.changes.len()), (ComparedForm::Bytes, 1));
        let added = compare("a.wav", [None, Some(&[0xff])]);
        assert_eq!(added.changes[0].kind, ChangeKind::Added);
        let long = of_texts("a.lua", "", &"\n".repeat(LINES_MAX));
        assert_eq!((long.form, long.changes.len()), (ComparedForm::Bytes, 1));
        assert!(long.notes[0].ends_with("(LINES_MAX)"), "{:?}", long.notes);
        let layout = of_texts("a.unit", "a = 1", "a = 1 // one");
        assert_eq!(layout.notes, ["only comments or the layout differ"]);
    }

    #[test]
    fn graphs_are_drawn_if_they_differ() {
        let flow = |kind: &str| format!("flow = {{ nodes = {{ n1 = {{ type = \"{kind}\" }} }} }}");
        let found = of_texts("a.unit", &flow("if"), &flow("print"));
        assert!(found.graph.is_some_and(|svg| svg.starts_with("<svg")));
        assert!(of_texts("a.unit", &flow("if"), &format!("b = 1 {}", flow("if"))).graph.is_none());
        let shared = of_texts("a.unit", "flow = \"x\"", "flow = \"y\"");
        assert!(shared.graph.is_none() && shared.notes.len() == 2);
    }

    #[test]
    fn pages_contain_pictures_and_escape_names() {
        let png = |light: u8| engine_resource::image::encode_png(1, 1, &[light, 0, 0, 255]);
        let (old, new) = (png(1), png(2));
        let found = compare("a.png", [Some(&old), Some(&new)]);
        assert_eq!(found.changes[0].new, "1 differ, by at most 1 of 255");
        let page = to_html(["<old>", "new"], &found, &PictureDifference::default());
        assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 3);
        assert!(page.contains("&lt;old&gt;") && !page.contains("<old>"), "{page}");
    }
}
