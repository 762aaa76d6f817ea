//! Fuzz targets of the content tools: merges of three texts, and the parsers and patchers of
//! references.

use super::{Target, split};
use engine::app::resource_kinds::KINDS;
use engine::content::merge::{MergeOptions, MergeSide, MergeTexts, SIDE_LABELS, merge};
use engine::content::references::{ScriptArguments, parse, patched};
use engine::foundation::sjson;
use engine::resource::resource_name::SourceName;

/// Files whose references are parsed: the first byte of an input chooses one.
const FILES: &[&str] = &[
    "a.lua",
    "a.unit",
    "a.level",
    "a.package",
    "a.sound",
    "a.config",
    "a.glb",
    "a.gltf",
    "a.fnt",
    "a.tmx",
    "a.ldtk",
];

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("content.merge", 4 << 10, merge_texts),
        Target::new("content.references", 4 << 10, references),
    ]
}

/// Merges three texts. A result that was merged by structure parses.
fn merge_texts(bytes: &[u8]) {
    let (base, rest) = split(bytes);
    let (left, right) = split(rest.unwrap_or_default());
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (base, left, right) = (text(base), text(left), text(right.unwrap_or_default()));
    let options =
        MergeOptions { winner: &|_| MergeSide::Right, is_json: false, labels: SIDE_LABELS };
    let merged = merge(MergeTexts { base: &base, left: &left, right: &right }, options);
    let all_parse = [&base, &left, &right].iter().all(|text| sjson::parse(text).is_ok());
    if all_parse && merged.by_lines.is_none() {
        assert!(sjson::parse(&merged.text).is_ok(), "{:?}", merged.text);
    }
    let same = merge(MergeTexts { base: &base, left: &base, right: &right }, options);
    assert_eq!(same.text, right);
}

/// Parses references, and patches all of them. Each is in the file.
fn references(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let path = FILES[usize::from(*choice) % FILES.len()];
    let name = SourceName::of(path, &KINDS).and_then(Result::ok);
    let arguments = ScriptArguments::default();
    let Ok(found) = parse(path, name.as_ref(), bytes, KINDS, &arguments) else { return };
    for reference in &found {
        assert!(bytes.get(reference.span.start..reference.span.end).is_some(), "{reference:?}");
    }
    let changes = found.iter().map(|reference| (reference.span, reference.name.clone()));
    patched(path, bytes, changes.collect());
}
