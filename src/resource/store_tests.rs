//! Tests of variant selection, and of the messages for missing resources.

use super::super::index::FileStamp;
use super::super::resource_kind::SourceForm;
use super::*;
use engine_foundation::file_access::FileState;

const TEXTURE: ResourceKind = ResourceKind {
    name: "texture",
    doc: "A picture",
    extensions: &[("png", SourceForm::Raw)],
    version: 1,
    framed: false,
    reload: &[],
    compile: |compiling| Ok(std::mem::take(&mut compiling.bytes)),
    validate: |_| Ok(()),
};

const LEVEL: ResourceKind = of_kind("level", &[("level", SourceForm::Own)]);
const MODEL: ResourceKind =
    of_kind("model", &[("model", SourceForm::Own), ("glb", SourceForm::Raw)]);
const UNIT: ResourceKind = of_kind("unit", &[("unit", SourceForm::Own)]);
const LUA: ResourceKind = of_kind("lua", &[("lua", SourceForm::Own)]);
const KINDS: ResourceKinds = ResourceKinds(&[&TEXTURE, &LEVEL, &MODEL, &UNIT, &LUA]);

const fn of_kind(
    name: &'static str,
    extensions: &'static [(&'static str, SourceForm)],
) -> ResourceKind {
    ResourceKind { name, extensions, ..TEXTURE }
}

fn store(variants: &[(&str, &str)]) -> ResourceStore {
    let mut entries: Vec<IndexEntry> = variants
        .iter()
        .map(|(name, properties)| IndexEntry {
            resource: ResourceName::new("texture", name),
            properties: VariantProperties::of(properties.split('.').filter(|w| !w.is_empty()))
                .unwrap(),
            form: SourceForm::Raw,
            kind_version: 1,
            data: format!("{name}.{properties}"),
            data_content: 0,
            files: vec![FileStamp {
                path: format!("{name}.{properties}.png"),
                state: FileState::default(),
                content: 0,
            }],
            references: Vec::new(),
        })
        .collect();
    entries.sort_by(|a, b| (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties)));
    let data = DataSource::Folder(PathBuf::new(), KINDS);
    ResourceStore::new(ResourceIndex { entries, ..ResourceIndex::default() }, data)
}

fn prefer(store: &mut ResourceStore, properties: &[&str]) -> Vec<String> {
    let properties = properties.iter().map(|word| word.to_string()).collect();
    store.prefer(VariantPreferences::new(properties).unwrap());
    // The data cannot be read in this test, but it counts as requested.
    let names = store.index.entries.iter().map(|entry| entry.resource.clone());
    store.requested = names.map(|name| (name.id(), name)).collect();
    store.apply_preferences().iter().map(|name| name.to_string()).collect()
}

#[test]
fn a_preference_change_lists_resources_with_a_new_winner() {
    let mut store = store(&[("a", ""), ("a", "fr"), ("b", "")]);
    assert_eq!(prefer(&mut store, &["fr"]), ["a.texture"]);
    let name = ResourceName::new("texture", "a");
    assert_eq!(store.path(&name).unwrap(), "a.fr.png");
    assert!(prefer(&mut store, &["fr", "noblood"]).is_empty());
    assert_eq!(prefer(&mut store, &[]), ["a.texture"]);
}

#[test]
fn failed_resources_are_reported_with_the_reason() {
    let name = ResourceName::new;
    let failed = vec![
        (name("material", "glow"), "glow.material:3: unknown key".to_string()),
        (name("sheet", "hero"), "hero.sheet: cut short".to_string()),
        (name("texture", "man"), "man.run.png: it is no PNG".to_string()),
        (name("texture", "ship"), "ship.png: it is no PNG".to_string()),
    ];
    let index = ResourceIndex { failed, ..ResourceIndex::default() };
    let message = |kind, wanted| {
        missing_message(&index, KINDS, &VariantPreferences::default(), &name(kind, wanted))
    };
    assert_eq!(
        message("texture", "ship"),
        "texture 'ship' could not be compiled: ship.png: it is no PNG"
    );
    assert_eq!(
        message("texture", "glow"),
        "there is no texture 'glow', and the material 'glow' could not be compiled: \
         glow.material:3: unknown key"
    );
    assert_eq!(
        message("texture", "hero/run"),
        "there is no texture 'hero/run', and the sheet 'hero' could not be compiled: \
         hero.sheet: cut short"
    );
    assert_eq!(message("light", "heroic"), "there is no light 'heroic'");
    assert_eq!(message("lua", "heroic"), "there is no lua 'heroic'");
    for (kind, wanted, files) in [
        ("level", "yard", ".level"),
        ("model", "yard", ".model or .glb"),
        ("unit", "yard", ".unit, .model or .glb"),
        ("texture", "boom", ".png"),
    ] {
        assert_eq!(
            message(kind, wanted),
            format!(
                "there is no {kind} '{wanted}' (its file would end in {files}, and its name has no \
                 ending)"
            )
        );
    }
    assert_eq!(message("texture", "shipp"), "there is no texture 'shipp', did you mean 'ship'?");
    assert_eq!(
        message("texture", "man.run"),
        "there is no texture 'man.run': man.run.png is variant \"run\" of man: rename it (dots \
         in names are variants)"
    );
    let reason = "resources could not be compiled: the disk is gone";
    let store = ResourceStore::without(reason.to_string());
    let message = format!("there is no texture 'ship': {reason}");
    assert_eq!(store.missing_message(&name("texture", "ship")), message);
}

#[test]
fn resources_without_usable_variants_are_reported() {
    let store = store(&[("hero", ""), ("hero", "idle"), ("flag", "fr")]);
    let message = |name: &str| {
        missing_message(
            &store.index,
            KINDS,
            &store.preferences,
            &ResourceName::new("texture", name),
        )
    };
    assert_eq!(message("heroo"), "there is no texture 'heroo', did you mean 'hero'?");
    assert_eq!(
        message("pictures/hero"),
        "there is no texture 'pictures/hero', did you mean 'hero'?"
    );
    let unit = ResourceName::new("unit", "flag");
    assert_eq!(
        missing_message(&store.index, KINDS, &store.preferences, &unit),
        "there is no unit 'flag', but a texture of that name"
    );
    assert_eq!(
        message("hero.idle"),
        "there is no texture 'hero.idle': hero.idle.png is variant \"idle\" of hero: rename it \
         (dots in names are variants)"
    );
    assert_eq!(
        message("flag"),
        "texture 'flag' has only the variants \"fr\", and none of them serves the preferences \
         []: add a file without properties"
    );
}

#[test]
fn the_data_of_a_model_without_its_file_is_named() {
    let store = store(&[("orc", "")]);
    let mut index = (*store.index).clone();
    let entry = &mut index.entries[0];
    entry.resource = ResourceName::new(kind_names::BINARY, "orc");
    entry.files[0].path = "orc.bin".to_string();
    let message = |kind: &str| {
        let wanted = ResourceName::new(kind, "orc");
        missing_message(&index, KINDS, &store.preferences, &wanted)
    };
    assert_eq!(
        message("model"),
        "there is no model 'orc', but a binary of that name: if 'orc.bin' is the data of a .gltf \
         file, that file is missing"
    );
    assert_eq!(message("level"), "there is no level 'orc', but a binary of that name");
}
