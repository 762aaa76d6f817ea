//! Tests of colors in files: the manual lists every key, and every key takes every form.

use crate::resource_kinds::KINDS;
use engine_foundation::Error;
use engine_foundation::color_source::ColorKey;
use engine_resource::resource_kind::{CompileContext, SourceForm};
use engine_resource::resource_name::ResourceName;
use engine_resource::settings::{SETTINGS, SettingType, Settings};
use engine_resource::surface_source;
use engine_world::component::{COMPONENTS, FieldKind};
use engine_world::skeleton_file::{SKELETON_ENDING, SLOT_COLOR};

/// A key with a color: its row in the manual, and a file in which `@` stands for the entry.
struct ColorLocation {
    file: String,
    color: ColorKey,
    kind: &'static str,
    source: String,
}

/// Returns all keys, from the tables that the readers of the files use.
fn locations() -> Vec<ColorLocation> {
    let mut all = Vec::new();
    let mut add = |file: &str, color: ColorKey, kind: &'static str, source: String| {
        all.push(ColorLocation { file: file.to_string(), color, kind, source });
    };
    for setting in SETTINGS.iter().filter(|setting| matches!(setting.kind, SettingType::Color)) {
        let color = ColorKey { key: setting.key, linear_key: "", has_alpha: false };
        let (block, _) = setting.key.rsplit_once('.').expect("it is in a block");
        add("`settings.sjson`", color, "settings", format!("{block} = {{ @ }}"));
    }
    for component in COMPONENTS.0 {
        for field in component.fields {
            let FieldKind::Color(color) = field.kind else { continue };
            let name = component.name;
            let file = format!("`.unit`, component `{name}`");
            add(
                &file,
                color,
                "unit",
                format!("components = {{ it = {{ component = \"{name}\" @ }} }}"),
            );
        }
    }
    for color in surface_source::COLORS {
        add("`.material`, block `surface`", color, "material", "surface = { @ }".to_string());
    }
    let shader = "shader = \"core/it\" @";
    let color = engine_render::shader::COLORS;
    add("`.material`, with a shader", color, "material", shader.to_string());
    let skeleton = "bones = { a = {} } slots = { a = { texture = \"it\" @ } }";
    add("`.skeleton`, in a slot", SLOT_COLOR, "model", skeleton.to_string());
    for color in engine_particles::COLORS {
        let source = "emitters = { a = { rate = 1 lifetime = 1 @ } }";
        add("`.particles`, in an emitter", color, "particles", source.to_string());
    }
    all
}

/// Compiles a file with a value at the key.
fn compile(location: &ColorLocation, key: &str, value: &str) -> Result<Vec<u8>, Error> {
    let entry = match location.color.key {
        "colors" => format!("colors = {{ tint = {value} }}"),
        _ => format!("{} = {value}", key.rsplit('.').next().expect("it has a last part")),
    };
    let source = location.source.replace('@', &entry);
    if location.kind == "settings" {
        let settings = Settings::parse(source.into_bytes(), "linux")?;
        return Ok(format!("{:?}", settings.color(key)).into_bytes());
    }
    let kind = KINDS.by_name(location.kind).expect("it is a kind");
    let read = |path: &str| Err(engine_foundation::error!("there is no {path}"));
    let ending = if location.kind == "model" { SKELETON_ENDING } else { location.kind };
    let mut compiling = CompileContext::new(
        ResourceName::new(location.kind, "it"),
        format!("it.{ending}"),
        SourceForm::Own,
        source.into_bytes(),
        false,
        &read,
    );
    (kind.compile)(&mut compiling)
}

#[test]
fn manual_lists_every_color_key() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/colors.md");
    let manual = std::fs::read_to_string(path).expect("the page exists");
    let table = manual.split("| File | Key |").nth(1).expect("the table exists");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<String> = rows.map(str::to_string).collect();
    let row = |location: &ColorLocation| {
        let ColorKey { key, linear_key, has_alpha } = location.color;
        let linear = if linear_key.is_empty() { " ".into() } else { format!(" `{linear_key}` ") };
        let alpha = if has_alpha { "used" } else { "ignored" };
        format!("| {} | `{key}` |{linear}| {alpha} |", location.file)
    };
    let mut wanted: Vec<String> = locations().iter().map(row).collect();
    let mut found = rows;
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn every_color_key_takes_every_form() {
    for location in locations() {
        let (key, file) = (location.color.key, &location.file);
        let of = |value: &str| match compile(&location, key, value) {
            // A unit's compiled form keeps the notation, which its reader converts.
            Ok(bytes) if location.kind == "unit" => bytes.len().min(1).to_string().into_bytes(),
            Ok(bytes) => bytes,
            Err(error) => panic!("{file} {key} = {value}: {}", error.message),
        };
        let wanted = of("\"#ff8800\"");
        for form in ["\"#f80\"", "\"#FF8800ff\"", "[255, 136, 0]", "[255 136 0 255]"] {
            assert_eq!(of(form), wanted, "{file} {key} = {form}");
        }
        let message = |value: &str| match compile(&location, key, value) {
            Ok(_) => panic!("{file}: {value} is accepted"),
            Err(error) => error.message,
        };
        for wrong in ["\"red\"", "[255, 0]", "[0, 0, 256]", "3", "true"] {
            assert!(message(wrong).contains("must "), "{file}: {}", message(wrong));
        }
        let old = message("[1, 0.5, 0]");
        let remedy = match location.color.linear_key {
            "" => "write [255, 128, 0]".to_string(),
            linear => format!("write [255, 188, 0], or {linear} = [1, 0.5, 0] for linear light"),
        };
        assert!(old.contains(&remedy), "{file}: {old}");
    }
}

#[test]
fn linear_light_has_its_own_keys() {
    for location in locations().iter().filter(|location| !location.color.linear_key.is_empty()) {
        let key = location.color.linear_key;
        assert!(compile(location, key, "[2, 0.5, 0]").is_ok(), "{key}");
        let alpha = compile(location, key, "[2, 0.5, 0, 0.5]");
        assert_eq!(alpha.is_ok(), location.color.has_alpha, "{key}");
        let error = compile(location, key, "\"#ff8800\"").expect_err("it is no light").message;
        assert!(error.contains("must be three numbers of linear light"), "{error}");
    }
}
