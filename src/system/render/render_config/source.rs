//! The reader of a render config's file: settings, targets and layers, and the order in which the
//! parts of the file are compiled. Errors have the lines of the file.

use super::super::render_passes::{PassResource, PassRow, RENDER_PASSES, pass_name};
use super::generator_source::ShaderFiles;
use super::graph::{self, GraphLocation};
use super::report::resource_name;
use super::{generator_source, viewport_source};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_resource::render_config_data::{
    ConfigSetting, ConfigTarget, DEBUG_VIEW_SETTING, ENGINE_IMAGES, FrameImage, NAME_BYTES_MAX,
    RenderConfigData, SCALE_MAX, SCALE_MIN, SETTING_MAX, SETTINGS_MAX, TARGET_SIDE_MAX,
    TARGETS_MAX, TargetFormat, TargetSize, check_sizes,
};
use engine_resource::resource_kind::CompileContext;

/// A line number and the error message.
pub type ConfigError = (usize, String);

/// The lines of a config's parts, for messages.
#[derive(Default)]
pub struct ConfigLines {
    pub targets: Vec<usize>,
    pub generators: Vec<GeneratorLines>,
    pub viewports: Vec<(usize, Vec<usize>)>,
}

/// The lines of a generator: its name, its output and each input.
#[derive(Clone, Default)]
pub struct GeneratorLines {
    pub name: usize,
    pub output: usize,
    pub inputs: Vec<usize>,
}

impl ConfigLines {
    fn line(&self, location: GraphLocation) -> usize {
        match location {
            GraphLocation::Target(target) => self.targets[target],
            GraphLocation::Generator(generator) => self.generators[generator].name,
            GraphLocation::Output(generator) => self.generators[generator].output,
            GraphLocation::Input(generator, input) => self.generators[generator].inputs[input],
            GraphLocation::Viewport(viewport) => self.viewports[viewport].0,
            GraphLocation::Step(viewport, step) => self.viewports[viewport].1[step],
        }
    }
}

const KEYS: [&str; 5] = ["settings", "layers", "resources", "generators", "viewports"];

/// Compiles a file.
pub fn compile(compiling: &mut CompileContext) -> Result<RenderConfigData, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let root = document.root();
    let (mut data, mut lines) = (RenderConfigData::default(), ConfigLines::default());
    read_tables(root, &mut data, &mut lines)
        .map_err(|(line, message)| compiling.error_at(line, &message))?;
    let mut files = ShaderFiles::default();
    for entry in block(root, "generators").map_err(|error| at(compiling, error))? {
        let generator = generator_source::read(compiling, &mut files, &data, &entry)?;
        data.generators.push(generator.0);
        lines.generators.push(generator.1);
    }
    viewport_source::read(root, &mut data, &mut lines).map_err(|error| at(compiling, error))?;
    match graph::check(&data) {
        Ok(()) => Ok(data),
        Err(found) => Err(compiling.error_at(lines.line(found.location), &found.message)),
    }
}

fn at(compiling: &CompileContext, (line, message): ConfigError) -> Error {
    compiling.error_at(line, &message)
}

fn read_tables(
    root: SjsonValue,
    data: &mut RenderConfigData,
    lines: &mut ConfigLines,
) -> Result<(), ConfigError> {
    for entry in root.entries().into_iter().flatten() {
        if !KEYS.contains(&entry.key) {
            let hint = hint(entry.key, KEYS);
            return Err((entry.line(), format!("unknown key '{}'{hint}", entry.key)));
        }
    }
    for entry in block(root, "settings")? {
        check_count(&entry, data.settings.len(), (SETTINGS_MAX, "settings", "SETTINGS_MAX"))?;
        data.settings.push(read_setting(&entry)?);
    }
    for entry in block(root, "layers")? {
        check_layer(&entry)?;
    }
    for entry in block(root, "resources")? {
        check_count(&entry, data.targets.len(), (TARGETS_MAX, "resources", "TARGETS_MAX"))?;
        data.targets.push(read_target(&entry)?);
        lines.targets.push(entry.line());
        check_sizes(&data.targets).map_err(|message| (entry.line(), message))?;
    }
    Ok(())
}

/// Returns the entries of one of the file's blocks; none if the file does not have it.
pub fn block<'a>(value: SjsonValue<'a>, key: &str) -> Result<Vec<ObjectEntry<'a>>, ConfigError> {
    let Some(found) = value.get(key) else { return Ok(Vec::new()) };
    match found.entries() {
        Some(entries) => Ok(entries.collect()),
        None => Err((
            found.line(),
            format!("'{key}' must be a block, {{ name = … }}, got {}", found.kind()),
        )),
    }
}

/// Checks the name of a part, and that there are not too many of them.
pub fn check_count(
    entry: &ObjectEntry,
    count: usize,
    (max, noun, limit): (usize, &str, &str),
) -> Result<(), ConfigError> {
    if count == max {
        return Err((entry.line(), format!("a render config has at most {max} {noun} ({limit})")));
    }
    if entry.key.is_empty() || entry.key.len() > NAME_BYTES_MAX {
        let message = format!("a name must have 1 to {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX)");
        return Err((entry.line(), message));
    }
    Ok(())
}

/// Checks that an entry is a block with no other keys than `keys`.
pub fn check_keys(entry: &ObjectEntry, keys: &[&str]) -> Result<(), ConfigError> {
    let Some(entries) = entry.value.entries() else {
        let (key, kind) = (entry.key, entry.value.kind());
        let message = format!("'{key}' must be a block, {{ {} = … }}, got {kind}", keys[0]);
        return Err((entry.line(), message));
    };
    for inner in entries {
        if !keys.contains(&inner.key) {
            let hint = hint(inner.key, keys.iter().copied());
            return Err((inner.line(), format!("unknown key '{}'{hint}", inner.key)));
        }
    }
    Ok(())
}

/// Returns a text of an entry; `key` is its key in messages.
pub fn text(value: SjsonValue, key: &str) -> Result<String, ConfigError> {
    value.as_str().map(str::to_string).ok_or_else(|| {
        (value.line(), format!("'{key}' must be a name in quotes, got {}", value.kind()))
    })
}

/// Returns a list of names.
pub fn names<'a>(value: SjsonValue<'a>, key: &str) -> Result<Vec<(usize, &'a str)>, ConfigError> {
    let must = || {
        let message = format!("'{key}' must be a list of names in quotes, got {}", value.kind());
        (value.line(), message)
    };
    let items = value.items().ok_or_else(must)?;
    items.map(|item| Ok((item.line(), item.as_str().ok_or_else(must)?))).collect()
}

/// Returns a number in a range.
fn number(value: SjsonValue, key: &str, (min, max): (f32, f32)) -> Result<f32, ConfigError> {
    let found = value.as_f64().filter(|found| (f64::from(min)..=f64::from(max)).contains(found));
    found.map(|found| found as f32).ok_or_else(|| {
        let got = match value.as_f64() {
            Some(found) => format!("{found}"),
            None => value.kind().to_string(),
        };
        (value.line(), format!("'{key}' must be a number from {min} to {max}, got {got}"))
    })
}

fn read_setting(entry: &ObjectEntry) -> Result<ConfigSetting, ConfigError> {
    let name = entry.key.to_string();
    if name == DEBUG_VIEW_SETTING {
        let message = format!("'{name}' is a setting of the engine: give it another name");
        return Err((entry.line(), message));
    }
    if let Some(on) = entry.value.as_bool() {
        let default = f32::from(u8::from(on));
        return Ok(ConfigSetting { name, is_switch: true, default, min: 0.0, max: 1.0 });
    }
    let all = (-SETTING_MAX, SETTING_MAX);
    if entry.value.entries().is_none() {
        let default = match entry.value.as_f64() {
            Some(_) => number(entry.value, &name, all)?,
            None => {
                let message = format!(
                    "the setting '{name}' must be a number, true or false, or a block: \
                     {{ default = 1 min = 0 max = 2 }}"
                );
                return Err((entry.line(), message));
            }
        };
        let (min, max) = all;
        return Ok(ConfigSetting { name, is_switch: false, default, min, max });
    }
    check_keys(entry, &["default", "min", "max"])?;
    let bound = |key: &str, otherwise: f32| match entry.value.get(key) {
        Some(value) => number(value, key, all),
        None => Ok(otherwise),
    };
    let (min, max) = (bound("min", all.0)?, bound("max", all.1)?);
    if min > max {
        return Err((entry.line(), format!("'min' ({min}) is more than 'max' ({max})")));
    }
    let Some(default) = entry.value.get("default") else {
        return Err((entry.line(), format!("the setting '{name}' has no 'default'")));
    };
    let default = number(default, "default", (min, max))?;
    Ok(ConfigSetting { name, is_switch: false, default, min, max })
}

fn read_target(entry: &ObjectEntry) -> Result<ConfigTarget, ConfigError> {
    let name = entry.key.to_string();
    if ENGINE_IMAGES.iter().any(|(known, _)| *known == name) {
        let message = format!("'{name}' is an image of the engine: give the resource another name");
        return Err((entry.line(), message));
    }
    check_keys(entry, &["format", "scale", "size"])?;
    let Some(value) = entry.value.get("format") else {
        return Err((entry.line(), format!("the resource '{name}' has no 'format'")));
    };
    let wanted = text(value, "format")?;
    let format = TargetFormat::ALL.into_iter().find(|format| format.name() == wanted);
    let format = format.ok_or_else(|| {
        let all = TargetFormat::ALL.map(TargetFormat::name);
        let message = format!("there is no format '{wanted}': use {}", all.join(", "));
        (value.line(), message + &hint(&wanted, all))
    })?;
    let size = match (entry.value.get("scale"), entry.value.get("size")) {
        (Some(_), Some(size)) => {
            let message = "'scale' and 'size' are both set: keep one".to_string();
            return Err((size.line(), message));
        }
        (None, Some(size)) => read_size(size)?,
        (Some(scale), None) => TargetSize::Scale(number(scale, "scale", (SCALE_MIN, SCALE_MAX))?),
        (None, None) => TargetSize::Scale(1.0),
    };
    Ok(ConfigTarget { name, format, size })
}

fn read_size(value: SjsonValue) -> Result<TargetSize, ConfigError> {
    let sides: Option<Vec<f64>> =
        value.items().and_then(|items| items.map(|item| item.as_f64()).collect());
    let is_side =
        |side: &f64| side.fract() == 0.0 && (1.0..=f64::from(TARGET_SIDE_MAX)).contains(side);
    match sides.as_deref() {
        Some([width, height]) if is_side(width) && is_side(height) => {
            Ok(TargetSize::Fixed(*width as u32, *height as u32))
        }
        _ => Err((
            value.line(),
            format!(
                "'size' must be a width and a height in texels, such as [256 256], at most \
                 {TARGET_SIDE_MAX} (TARGET_SIDE_MAX)"
            ),
        )),
    }
}

/// Returns the index of a resource or of an image of the engine by its name.
pub fn image(data: &RenderConfigData, line: usize, name: &str) -> Result<FrameImage, ConfigError> {
    if let Some((_, image)) = ENGINE_IMAGES.iter().find(|(known, _)| *known == name) {
        return Ok(*image);
    }
    if let Some(index) = data.targets.iter().position(|target| target.name == name) {
        return Ok(FrameImage::Own(index as u32));
    }
    let own = data.targets.iter().map(|target| &target.name[..]);
    let hint = hint(name, own.chain(ENGINE_IMAGES.iter().map(|(name, _)| *name)));
    Err((line, format!("there is no resource '{name}'{hint}")))
}

/// Checks that a layer describes a pass of the engine as it is.
fn check_layer(entry: &ObjectEntry) -> Result<(), ConfigError> {
    let name = entry.key;
    let rows: Vec<&PassRow> = RENDER_PASSES.iter().filter(|row| pass_name(row) == name).collect();
    if rows.is_empty() {
        let hint = hint(name, RENDER_PASSES.iter().map(pass_name));
        return Err((entry.line(), format!("the engine has no pass '{name}'{hint}")));
    }
    check_keys(entry, &["reads", "writes"])?;
    let writes: Vec<PassResource> =
        rows.iter().flat_map(|row| row.writes).map(|write| write.resource()).collect();
    // What one row of a pass draws for another one is not read from outside.
    let reads = rows.iter().flat_map(|row| row.reads).copied();
    let reads = reads.filter(|resource| !writes.contains(resource)).collect::<Vec<_>>();
    for (key, known) in [("reads", reads), ("writes", writes)] {
        let Some(value) = entry.value.get(key) else {
            return Err((entry.line(), format!("the layer '{name}' has no '{key}'")));
        };
        let mut wanted: Vec<String> = known.into_iter().map(resource_name).collect();
        wanted.sort_compact();
        wanted.dedup();
        let mut found: Vec<String> =
            names(value, key)?.into_iter().map(|(_, name)| name.to_string()).collect();
        found.sort_compact();
        if found != wanted {
            let message = format!(
                "the pass '{name}' of the engine has {key} = [\"{}\"]: a layer says what it draws, \
                 and cannot change it",
                wanted.join("\" \"")
            );
            return Err((value.line(), message));
        }
    }
    Ok(())
}
