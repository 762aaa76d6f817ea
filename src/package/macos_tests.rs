//! Tests of applications for macOS, as far as they are possible without a Mac: the property list is
//! read strictly, and the program is that of the engine for both processors.

use super::super::icon::{Icon, tests::half_red};
use super::super::licenses::LicenseTexts;
use super::super::mach_o::tests::{APPLE, INTEL, mach_file, universal};
use super::super::mach_o::{self, MachProgram};
use super::super::settings::tests::read;
use super::*;
use engine_foundation::xml::{XmlEvent, XmlReader};

/// A value of a property list.
#[derive(Debug, PartialEq)]
enum PlistValue {
    Text(String),
    Texts(Vec<String>),
    True,
}

/// Reads a property list of one dictionary. Panics at everything that the engine does not write:
/// other elements, attributes, text between elements, keys that are not sorted, tags without end.
fn read_plist(text: &str) -> Vec<(String, PlistValue)> {
    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \
                        \"-//Apple//DTD PLIST 1.0//EN\" \
                        \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
                        <plist version=\"1.0\">\n<dict>\n";
    let inside = text.strip_prefix(HEAD).expect("the head of property lists");
    let inside = inside.strip_suffix("</dict>\n</plist>\n").expect("the end of property lists");
    let mut reader = XmlReader::new(inside);
    // Elements from the outermost to the innermost, each with its text.
    let (mut open, mut list, mut key) = (Vec::<(String, String)>::new(), Vec::new(), None);
    let mut found: Vec<(String, PlistValue)> = Vec::new();
    while let Some(event) = reader.next_event().expect("no tag is cut short") {
        match event {
            XmlEvent::Open(tag) if tag.is_empty => {
                assert_eq!((tag.name, open.len()), ("true", 0));
                found.push((key.take().expect("a key"), PlistValue::True));
            }
            XmlEvent::Open(tag) => {
                assert_eq!(tag.attributes(), Ok(Vec::new()));
                open.push((tag.name.to_string(), String::new()));
            }
            XmlEvent::Text(text) => match open.last_mut() {
                Some((name, content)) if name != "array" => *content += &text,
                _ => assert_eq!(text.trim(), ""),
            },
            XmlEvent::Close => {
                let (name, content) = open.pop().expect("an element ends that was begun");
                match (name.as_str(), open.len()) {
                    ("key", 0) => assert_eq!(key.replace(content), None, "a key has a value"),
                    ("string", 1) => list.push(content),
                    ("string", 0) => found.push((key.take().unwrap(), PlistValue::Text(content))),
                    ("array", 0) => {
                        let texts = PlistValue::Texts(std::mem::take(&mut list));
                        found.push((key.take().unwrap(), texts));
                    }
                    other => panic!("{other:?} is in no property list of the engine"),
                }
            }
        }
    }
    assert!(open.is_empty() && key.is_none(), "{open:?} {key:?}");
    assert!(found.is_sorted_by(|(a, _), (b, _)| a < b), "keys are sorted, each once");
    found
}

const SETTINGS: &str = r#"
package = {
  id = "com.example.Yard", title = "Yard <&> \"more\"", version = "1.2", file_name = "yard"
  author = "Émile & Co", summary = "Dig", categories = ["puzzle"], languages = ["en", "pt-BR"]
}
"#;

fn application_of(settings: &str, engine: &[u8], icns: &[u8]) -> Vec<(String, Vec<u8>, bool)> {
    let game = GameFiles {
        settings: read(settings, "macos").unwrap(),
        licenses: LicenseTexts::default(),
        icon_pictures: Vec::new(),
        program: Content::default(),
    };
    let programs = mach_o::programs(engine);
    let bundle = Content::bytes("bundle");
    let archive = application(&game, Content::bytes(engine), &programs, bundle, icns);
    let bytes = |content: &Content| {
        let mut bytes = Vec::new();
        content.write_to(&mut bytes).unwrap();
        bytes
    };
    let files = archive.files();
    files.map(|(path, it)| (path.to_string(), bytes(&it.content), it.executable)).collect()
}

#[test]
fn applications_have_a_valid_property_list_and_program() {
    let (intel, apple) = (mach_file(INTEL, (10, 15), false), mach_file(APPLE, (12, 3), true));
    let engine = universal(&[(INTEL, intel), (APPLE, apple)]);
    let icns = Icon::decode(&half_red(256)).unwrap().icns();
    let files = application_of(SETTINGS, &engine, &icns);
    let file = |path: &str| {
        let path = format!("yard.app/Contents/{path}");
        let found = files.iter().find(|(known, ..)| *known == path);
        found.unwrap_or_else(|| panic!("{path} is missing"))
    };
    let plist = read_plist(std::str::from_utf8(&file("Info.plist").1).unwrap());
    let text = |wanted: &str| match plist.iter().find(|(key, _)| key == wanted) {
        Some((_, PlistValue::Text(text))) => text.as_str(),
        other => panic!("{wanted}: {other:?}"),
    };
    // The keys that the system needs to start an application.
    assert_eq!(text("CFBundlePackageType"), "APPL");
    assert_eq!(text("CFBundleIdentifier"), "com.example.Yard");
    assert_eq!(text("CFBundleName"), "Yard <&> \"more\"");
    assert_eq!(text("CFBundleShortVersionString"), "1.2");
    assert_eq!(text("NSHumanReadableCopyright"), "Émile & Co");
    assert_eq!(text("LSApplicationCategoryType"), "public.app-category.puzzle-games");
    assert!(plist.contains(&("NSHighResolutionCapable".to_string(), PlistValue::True)));
    let languages = PlistValue::Texts(vec!["en".to_string(), "pt-BR".to_string()]);
    assert!(plist.contains(&("CFBundleLocalizations".to_string(), languages)), "{plist:?}");
    // The newest system that one of the programs needs.
    assert_eq!(text("LSMinimumSystemVersion"), "12.3");
    let (_, program, executable) = file(&format!("MacOS/{}", text("CFBundleExecutable")));
    assert!(*executable && *program == engine);
    let found = mach_o::programs(program);
    assert!(found.len() == 2 && !found.iter().any(MachProgram::lacks_signature), "{found:?}");
    let (_, icon, _) = file(&format!("Resources/{}.icns", text("CFBundleIconFile")));
    assert_eq!(u32::from_be_bytes(icon[4..8].try_into().unwrap()) as usize, icon.len());
    assert_eq!(file("PkgInfo").1, b"APPL????");
    assert_eq!(file("Resources/game.bundle").1, b"bundle");
    assert_eq!(files.iter().filter(|(.., executable)| *executable).count(), 1);
}

#[test]
fn without_versions_and_icons_applications_are_valid_too() {
    for (engine, wanted) in [
        (mach_file(INTEL, (10, 15), false), "11.0"),
        (mach_file(APPLE, (13, 0), true), "13.0"),
        (b"engine".to_vec(), "11.0"),
    ] {
        let files = application_of("", &engine, b"");
        assert!(!files.iter().any(|(path, ..)| path.ends_with(".icns")));
        let (_, plist, _) = files.iter().find(|(path, ..)| path.ends_with("/Info.plist")).unwrap();
        let plist = read_plist(std::str::from_utf8(plist).unwrap());
        assert!(!plist.iter().any(|(key, _)| key == "CFBundleIconFile"));
        let minimum = ("LSMinimumSystemVersion".to_string(), PlistValue::Text(wanted.to_string()));
        assert!(plist.contains(&minimum), "{plist:?}");
    }
}
