//! Fuzz targets for texts that are not resources: SJSON with edits, settings, patterns, names,
//! markup, messages of remote tools.

use super::Target;
use engine::foundation::json;
use engine::foundation::sjson::{self, DocumentEditor, PathStep, SjsonTree, SjsonValue};
use engine::frame_packet::text::{TextAlign, TextRequest, TextStyle};
use engine::resource::glob::Glob;
use engine::resource::project::check_name;
use engine::resource::resource_name::{ResourceName, is_inside};
use engine::resource::settings::Settings;
use engine::resource::store::ResourceStore;
use engine::resource::variant::{PLATFORMS, VariantPreferences, VariantProperties};
use engine::script::{pattern_fits, resource, syntax_check};
use engine::system::remote;
use engine::system::text::{DEFAULT_FONT, TEXT_BYTES_MAX, TextSystem};
use std::cell::RefCell;

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("sjson.edit", 2 << 10, edit),
        Target::new("sjson.parse", 4 << 10, parse),
        Target::new("text.glob", 512, glob),
        Target::new("text.layout", 2 << 10, layout()),
        Target::new("text.message", 4 << 10, message),
        Target::new("text.names", 512, names),
        Target::new("text.pattern", 512, pattern),
        Target::new("text.script", 4 << 10, script),
        Target::new("text.settings", 4 << 10, settings),
    ]
}

/// Splits an input into two texts: before and after its first line break.
fn two(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    (first.to_string(), rest.to_string())
}

fn parse(bytes: &[u8]) {
    let Ok(document) = sjson::parse_bytes(bytes) else { return };
    let tree = document.to_tree();
    walk(document.root());
    // A tree that can be written reads back as the same tree.
    if let Ok(text) = sjson::write(&tree) {
        let read = sjson::parse(&text).expect("what was written is read").to_tree();
        assert_eq!(read, tree, "{text}");
    }
}

fn walk(value: SjsonValue) {
    assert!(value.line() > 0 && value.column() > 0);
    let _ = (value.as_f32(), value.beyond_f32(), value.as_bool(), value.as_str(), value.span());
    value.items().into_iter().flatten().for_each(walk);
    for entry in value.entries().into_iter().flatten() {
        assert!(entry.line() > 0);
        walk(entry.value);
    }
}

/// Edits an SJSON text. The first byte selects an edit, the second its location, and the rest is
/// the text.
fn edit(bytes: &[u8]) {
    let [choice, location, rest @ ..] = bytes else { return };
    let Ok(document) = sjson::parse_bytes(rest) else { return };
    let mut path = Vec::new();
    let mut value = document.root();
    let mut at = *location;
    loop {
        let entries: Vec<_> = value.entries().into_iter().flatten().collect();
        let items: Vec<_> = value.items().into_iter().flatten().collect();
        let count = entries.len() + items.len();
        if count == 0 || at.is_multiple_of(4) {
            break;
        }
        let index = usize::from(at / 4) % count;
        if let Some(entry) = entries.get(index) {
            path.push(PathStep::Key(entry.key));
            value = entry.value;
        } else {
            path.push(PathStep::Item(index));
            value = items[index];
        }
        at = at.rotate_left(3) ^ 5;
    }
    let trees = [
        SjsonTree::Null,
        SjsonTree::Number(-0.1),
        SjsonTree::String("a \"b\"\n\u{1}".to_string()),
        SjsonTree::Array(vec![SjsonTree::Bool(true), SjsonTree::Object(Vec::new())]),
        SjsonTree::Object(vec![(
            "new key".to_string(),
            SjsonTree::Array(vec![SjsonTree::Number(1e300)]),
        )]),
    ];
    let tree = &trees[usize::from(*choice) / 8 % trees.len()];
    let index = usize::from(*choice) / 64;
    let mut edit = DocumentEditor::new(document.clone());
    let done = match choice % 5 {
        0 => edit.set(&path, tree).is_ok(),
        1 => edit.remove(&path).is_ok(),
        2 => edit.insert_item(&path, index, tree).is_ok(),
        3 => edit.insert_entry(&path, index, "other", tree).is_ok(),
        _ => edit.set_all(&[(&path, tree), (&[PathStep::Key("far")], tree)]).is_ok(),
    };
    let edited = edit.finish();
    // After a successful or failed edit, the text and its tree must agree.
    let again = sjson::parse(edited.text()).expect("an edited text is read");
    assert_eq!(again.to_tree(), edited.to_tree(), "{}", edited.text());
    assert!(done || edited.text() == document.text(), "a refused edit changed the text");
}

fn settings(bytes: &[u8]) {
    for platform in PLATFORMS {
        let Ok(settings) = Settings::parse(bytes.to_vec(), platform) else { return };
        let _ = settings.bundle_exclude();
    }
}

fn glob(bytes: &[u8]) {
    let (pattern, path) = two(bytes);
    if let Ok(glob) = Glob::new(&pattern) {
        glob.matches(&path);
        glob.matches(&pattern);
    }
}

fn pattern(bytes: &[u8]) {
    let (pattern, text) = two(bytes);
    pattern_fits(&text, &pattern);
}

fn names(bytes: &[u8]) {
    let (first, rest) = two(bytes);
    let _ = (ResourceName::parse(&first), is_inside(&first), check_name(&first));
    let _ = VariantProperties::of(first.split('.'));
    let lines = rest.split('\n').map(str::to_string).collect();
    if let Ok(preferences) = VariantPreferences::new(lines) {
        preferences.candidates();
        let variants: Vec<_> = rest
            .split('\n')
            .filter_map(|line| VariantProperties::of(line.split('.')).ok())
            .collect();
        preferences.winner(&variants);
    }
    let _ = engine::resource::save::SaveSlot::new(&first);
}

fn script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    resource::string_literals(&text);
    syntax_check::problem("x.lua", &text);
}

fn message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(tree) = remote::read_message(&text, 4096) {
        let written = json::write(&tree);
        json::read(&written).expect("what was written is read");
    }
}

/// Returns a target that lays out text. The first bytes select size, width and style; the rest is
/// the text.
fn layout() -> impl Fn(&[u8]) {
    let texts = RefCell::new((TextSystem::new(), ResourceStore::default()));
    move |bytes| {
        let Some((head, text)) = bytes.split_at_checked(6) else { return };
        let (texts, store) = &mut *texts.borrow_mut();
        let font = texts.find(store, DEFAULT_FONT).expect("the engine has a font");
        let float = |byte: u8| match byte {
            255 => f32::NAN,
            254 => f32::INFINITY,
            253 => -1.0,
            252 => 1e30,
            251 => 1e-30,
            byte => f32::from(byte) * 2.0,
        };
        let style = TextStyle { outline: float(head[2]), glow: float(head[3]), ..TextStyle::PLAIN };
        let request = TextRequest {
            font,
            text: &text[..text.len().min(TEXT_BYTES_MAX)],
            size: float(head[0]),
            max_width: float(head[1]),
            align: [TextAlign::Left, TextAlign::Center, TextAlign::Right][usize::from(head[4] % 3)],
            style: if head[5] & 1 == 1 { style } else { TextStyle::PLAIN },
            markup: head[5] & 2 == 2,
            is_retained: head[5] & 4 == 4,
            ..TextRequest::DEFAULT
        };
        let _ = texts.layout(&request).map(<[_]>::len);
        let _ = texts.extents(&request);
        let _ = texts.word_wrap(&request).map(<[_]>::len);
        texts.has_all_glyphs(font, text);
        texts.end_frame();
    }
}
