//! The resource kind `shading_environment`: a list of values of sky, fog, exposure and post
//! effects. Values that a file omits keep those of the world.

use super::{ShadingOverrides, TEXTURES};
use engine_foundation::color_source::ColorKey;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Color, Error, error, suggest};
use engine_frame_packet::shading_environment::{ShadingEnvironment, ShadingValue, ValueKind};
use engine_resource::data_resources::{read_document, read_tree, write_tree};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;

/// The resource kind of shading environments.
pub static SHADING_ENVIRONMENT: ResourceKind = ResourceKind {
    name: kind_names::SHADING_ENVIRONMENT,
    doc: "Values of sky, fog, exposure and post effects",
    extensions: &[("shading_environment", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[ReloadStep::ShadingEnvironments],
    compile: compiler(compile),
    validate: |bytes| parse(&read_document(bytes)?.to_tree()).map(drop).map_err(|(_, error)| error),
};

/// Reads the values of a resource.
///
/// # Errors
/// Returns an error if the resource is missing or broken.
pub fn read(store: &mut ResourceStore, name: &str) -> Result<ShadingOverrides, Error> {
    let resource = ResourceName::new(kind_names::SHADING_ENVIRONMENT, name);
    let bytes = store.read(&resource)?;
    contain(&resource, || parse(&read_tree(&bytes)?).map_err(|(_, error)| error))
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let tree = document.to_tree();
    let parsed = parse(&tree).map_err(|(key, error)| {
        let value = document.root().get(&key).unwrap_or(document.root());
        error!("{}:{}: {}", compiling.path, value.line(), error.message)
    })?;
    for texture in parsed.textures.iter().flatten() {
        compiling.refer(kind_names::TEXTURE, texture);
    }
    Ok(write_tree(&tree))
}

/// Parses the tree of a file. An error comes with the key of the invalid value.
fn parse(tree: &SjsonTree) -> Result<ShadingOverrides, (String, Error)> {
    let SjsonTree::Object(entries) = tree else {
        return Err((String::new(), Error::new("the file must be a list of values")));
    };
    let mut overrides = ShadingOverrides::default();
    for (key, value) in entries {
        read_entry(&mut overrides, key, value).map_err(|error| (key.clone(), error))?;
    }
    Ok(overrides)
}

fn read_entry(overrides: &mut ShadingOverrides, key: &str, value: &SjsonTree) -> Result<(), Error> {
    if let Some(at) = TEXTURES.iter().position(|name| *name == key) {
        let SjsonTree::String(name) = value else {
            return Err(error!("'{key}' must be the name of a texture"));
        };
        overrides.textures[at] = Some(name.as_str().into());
        return Ok(());
    }
    let row = |name: &str| {
        ShadingEnvironment::values().find(|(_, row)| row.name == name || row.linear_key == name)
    };
    let Some((first, row)) =
        row(key).filter(|(_, row)| row.name == key || row.kind == ValueKind::Color)
    else {
        let names = ShadingEnvironment::values().map(|(_, row)| row.name).chain(TEXTURES);
        return Err(error!("unknown value '{key}'{}", suggest::hint(key, names)));
    };
    if overrides.has(first) {
        return Err(error!("it has '{}' and '{}': keep one", row.name, row.linear_key));
    }
    let floats = floats(row, key, value).map_err(|message| error!("'{key}' {message}"))?;
    overrides.set(first, &floats);
    Ok(())
}

/// Returns the floats of a value; an error continues a sentence that begins with its key.
fn floats(row: &ShadingValue, key: &str, value: &SjsonTree) -> Result<Vec<f32>, String> {
    let number = |tree: &SjsonTree| match tree {
        SjsonTree::Number(number) => Some(*number as f32),
        _ => None,
    };
    let color = ColorKey { key: row.name, linear_key: row.linear_key, has_alpha: false };
    let floats = match (row.kind, value) {
        (ValueKind::Choice(names), SjsonTree::String(name)) => {
            let at = names.iter().position(|known| known == name);
            let at = at.ok_or_else(|| {
                let hint = suggest::hint(name, names.iter().copied());
                format!("must be {}, got \"{name}\"{hint}", names.join(", "))
            })?;
            return Ok(vec![at as f32]);
        }
        (ValueKind::Choice(names), _) => return Err(format!("must be {}", names.join(", "))),
        (ValueKind::Color, _) if key == row.linear_key => color.read_light(value)?[..3].to_vec(),
        (ValueKind::Color, _) => {
            let color = Color { alpha: 255.0, ..color.read(value)? };
            color.to_light()[..3].to_vec()
        }
        (ValueKind::Scalar, value) => number(value).into_iter().collect(),
        (_, SjsonTree::Array(items)) => {
            items.iter().map(number).collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let count = row.kind.components();
    let is_in_range = |float: &f32| (row.min..=row.max).contains(float);
    match floats.len() == count && floats.iter().all(is_in_range) {
        true => Ok(floats),
        false => Err(format!("must be {}", range_of(row))),
    }
}

/// Returns the type and the range of a value, for messages and tables.
pub fn range_of(row: &ShadingValue) -> String {
    let (min, max) = (row.min, row.max);
    match (row.kind, row.kind.components()) {
        (ValueKind::Choice(names), _) => names.join(", "),
        (_, 1) => format!("a number from {min} to {max}"),
        (_, count) => format!("{count} numbers from {min} to {max}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ResolvedShading;
    use super::*;
    use std::fmt::Write;

    fn of(text: &str) -> Result<ShadingOverrides, String> {
        let tree = sjson::parse(text).expect("it is SJSON").to_tree();
        parse(&tree).map_err(|(_, error)| error.message)
    }

    #[track_caller]
    fn refuses(text: &str, wanted: &str) {
        let message = of(text).expect_err("it is invalid");
        assert!(message.contains(wanted), "{message}");
    }

    #[test]
    fn listed_values_replace_those_of_the_world() {
        let overrides = of("exposure = 2 linear_sky_top = [1, 2, 3] fog_color = \"#ffffff\"");
        let overrides = overrides.expect("it is valid");
        let mut environment = ResolvedShading::default();
        environment.values.sky.fog_density = 0.5;
        overrides.apply(&mut environment);
        let found = environment.values;
        let surroundings = found.surroundings;
        assert_eq!((surroundings.exposure, surroundings.sky_top), (2.0, [1.0, 2.0, 3.0]));
        assert_eq!((found.sky.fog_color, found.sky.fog_density), ([1.0; 3], 0.5));
    }

    #[test]
    fn textures_are_named() {
        let overrides = of("sky_texture = \"skies/noon\"").expect("it is valid");
        let mut environment = ResolvedShading::default();
        overrides.apply(&mut environment);
        assert_eq!(environment.textures, [None, Some("skies/noon".into())]);
        refuses("color_table = 3", "'color_table' must be the name of a texture");
    }

    #[test]
    fn invalid_values_are_refused_with_their_range() {
        refuses("exposre = 1", "unknown value 'exposre', did you mean 'exposure'?");
        refuses("linear_exposure = 1", "unknown value 'linear_exposure'");
        refuses("exposure = -1", "'exposure' must be a number from 0 to 1000000000");
        refuses("exposure = \"bright\"", "'exposure' must be a number");
        refuses("sky_top = [0.5, 0.5, 0.5]", "or linear_sky_top = [0.5, 0.5, 0.5]");
        refuses("sky_top = \"#fff\" linear_sky_top = [1, 1, 1]", "keep one");
        refuses("[1]", "must be a list of values");
    }

    /// Returns the manual's table of values.
    fn markdown() -> String {
        let mut text = "\n| Value | Type and range | Default | What it does |\n|---|---|---|---|\n"
            .to_string();
        for (_, row) in ShadingEnvironment::values() {
            let default = match row.kind {
                ValueKind::Choice(names) => names[0].to_string(),
                kind => {
                    let parts = row.default[..kind.components()].iter().map(f32::to_string);
                    parts.collect::<Vec<_>>().join(", ")
                }
            };
            let kind = match row.kind {
                ValueKind::Color => "a colour".to_string(),
                _ => range_of(row),
            };
            let _ = writeln!(text, "| `{}` | {kind} | {default} | {} |", row.name, row.doc);
        }
        text
    }

    #[test]
    fn the_manual_lists_all_values() {
        const MARK: &str = "\n<!-- values -->\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/shading_environments.md");
        let text = std::fs::read_to_string(path).expect("it is there");
        let (before, listed) = text.split_once(MARK).expect("it has the mark");
        let wanted = markdown();
        if std::env::var_os("ENGINE_ROWS_UPDATE").is_some() {
            std::fs::write(path, format!("{before}{MARK}{wanted}")).expect("it can be written");
            return;
        }
        let update = "ENGINE_ROWS_UPDATE=1 cargo test -p engine_world the_manual_lists";
        assert!(listed == wanted, "docs/shading_environments.md: {update}");
    }
}
