//! The reader of generators: the shader of each is checked against its inputs and variables. Errors
//! have the lines of the config, or of the shader's file.

use super::super::shader::check_with;
use super::source::{
    ConfigError, GeneratorLines, block, check_count, check_keys, image, names, text,
};
use super::{PASS_ENDING, PASS_PART, SOURCES_BYTES_MAX, is_filterable};
use engine_foundation::sjson::{ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_foundation::{Color, Error};
use engine_resource::material_data::{BLENDS, ShaderData, ShaderVariableType};
use engine_resource::render_config_data::{
    FrameImage, GENERATORS_MAX, Generator, GeneratorInput, RenderConfigData, SETTINGS_MAX,
    SettingVariable,
};
use engine_resource::resource_kind::CompileContext;
use std::collections::HashMap;

/// The checked shaders of a config, by their files.
#[derive(Default)]
pub struct ShaderFiles {
    checked: HashMap<String, ShaderData>,
    bytes: usize,
}

const KEYS: [&str; 7] = ["shader", "inputs", "nearest", "output", "blend", "when", "variables"];

/// Reads a generator.
pub fn read(
    compiling: &mut CompileContext,
    files: &mut ShaderFiles,
    data: &RenderConfigData,
    entry: &ObjectEntry,
) -> Result<(Generator, GeneratorLines), Error> {
    let at = |compiling: &CompileContext, (line, message): ConfigError| {
        compiling.error_at(line, &message)
    };
    let count = data.generators.len();
    check_count(entry, count, (GENERATORS_MAX, "generators", "GENERATORS_MAX"))
        .and_then(|()| check_keys(entry, &KEYS))
        .map_err(|error| at(compiling, error))?;
    let Some(shader_value) = entry.value.get("shader") else {
        let message = format!("the generator '{}' has no 'shader'", entry.key);
        return Err(compiling.error_at(entry.line(), &message));
    };
    let shader = text(shader_value, "shader").map_err(|error| at(compiling, error))?;
    let path = format!("{shader}.{PASS_ENDING}");
    let reflected = load(compiling, files, shader_value.line(), &path)?;
    read_fields(data, entry, (path, reflected)).map_err(|error| at(compiling, error))
}

/// Reads and checks the file of a shader.
fn load(
    compiling: &mut CompileContext,
    files: &mut ShaderFiles,
    line: usize,
    path: &str,
) -> Result<ShaderData, Error> {
    if !files.checked.contains_key(path) {
        let bytes = compiling
            .read(path)
            // A file can be missing, too large, or a link.
            .map_err(|error| {
                let message = format!("the shader {path} cannot be read: {}", error.message);
                compiling.error_at(line, &message)
            })?;
        let Ok(source) = String::from_utf8(bytes) else {
            return Err(engine_foundation::error!("{path}: the file is not UTF-8"));
        };
        let checked = check_with(path, &source, &PASS_PART)?;
        files.checked.insert(path.to_string(), checked);
    }
    let shader = files.checked[path].clone();
    files.bytes += shader.source.len();
    if files.bytes > SOURCES_BYTES_MAX {
        let message = format!(
            "the shaders of all generators have more than {} MiB together (SOURCES_BYTES_MAX)",
            SOURCES_BYTES_MAX >> 20
        );
        return Err(compiling.error_at(line, &message));
    }
    Ok(shader)
}

fn read_fields(
    data: &RenderConfigData,
    entry: &ObjectEntry,
    (path, shader): (String, ShaderData),
) -> Result<(Generator, GeneratorLines), ConfigError> {
    let value = entry.value;
    let mut lines = GeneratorLines { name: entry.line(), ..GeneratorLines::default() };
    let inputs = read_inputs(data, value, (&path, &shader), &mut lines)?;
    let Some(output_value) = value.get("output") else {
        let message = format!("the generator '{}' has no 'output'", entry.key);
        return Err((entry.line(), message));
    };
    lines.output = output_value.line();
    let output = image(data, lines.output, &text(output_value, "output")?)?;
    let blend = match value.get("blend") {
        None => BLENDS.iter().position(|name| *name == "replace").expect("it is listed") as u8,
        Some(blend) => choice(blend, "blend", &BLENDS)?,
    };
    // That nothing can draw onto the depth is a finding of the graph's check.
    let is_blended = BLENDS[usize::from(blend)] != "replace" && output != FrameImage::Depth;
    if is_blended && !is_filterable(data, output) {
        let message = format!(
            "'{}' cannot be blended onto: its format has no blending. Use blend = \"replace\"",
            data.image_name(output)
        );
        return Err((lines.output, message));
    }
    let condition = match value.get("when") {
        None => None,
        Some(when) => Some(setting(data, when.line(), &text(when, "when")?)?),
    };
    let (variables, settings) = read_variables(data, value, &path, &shader)?;
    let name = entry.key.to_string();
    let source = shader.source;
    let generator = Generator {
        name,
        shader: path,
        source,
        inputs,
        output,
        blend,
        condition,
        variables,
        settings,
    };
    Ok((generator, lines))
}

fn choice(value: SjsonValue, key: &str, choices: &[&str]) -> Result<u8, ConfigError> {
    let choice = text(value, key)?;
    let found = choices.iter().position(|known| *known == choice);
    found.map(|index| index as u8).ok_or_else(|| {
        let all = choices.join("\", \"");
        let message = format!("'{key}' must be one of \"{all}\", got \"{choice}\"");
        (value.line(), message + &hint(&choice, choices.iter().copied()))
    })
}

fn setting(data: &RenderConfigData, line: usize, name: &str) -> Result<u32, ConfigError> {
    data.setting(name).map(|index| index as u32).ok_or_else(|| {
        let names = data.settings.iter().map(|setting| &setting.name[..]);
        (line, format!("there is no setting '{name}' in 'settings'{}", hint(name, names)))
    })
}

/// Reads the inputs, in the order of the shader's textures.
fn read_inputs(
    data: &RenderConfigData,
    value: SjsonValue,
    (path, shader): (&str, &ShaderData),
    lines: &mut GeneratorLines,
) -> Result<Vec<GeneratorInput>, ConfigError> {
    let entries = block(value, "inputs")?;
    let textures = || shader.textures.iter().map(|name| &name[..]);
    let missing_texture = |line: usize, name: &str| {
        (line, format!("{path} has no texture '{name}'{}", hint(name, textures())))
    };
    for entry in &entries {
        if !textures().any(|name| name == entry.key) {
            return Err(missing_texture(entry.line(), entry.key));
        }
    }
    let nearest = match value.get("nearest") {
        None => Vec::new(),
        Some(list) => names(list, "nearest")?,
    };
    for (line, name) in &nearest {
        if !textures().any(|known| known == *name) {
            return Err(missing_texture(*line, name));
        }
    }
    let mut inputs = Vec::new();
    for name in textures() {
        let Some(entry) = entries.iter().find(|entry| entry.key == name) else {
            let message =
                format!("{path} has a texture '{name}': inputs = {{ {name} = \"resource\" }}");
            return Err((lines.name, message));
        };
        let found = image(data, entry.line(), &text(entry.value, entry.key)?)?;
        // Texels that cannot be interpolated are read one by one.
        let is_nearest =
            nearest.iter().any(|(_, known)| *known == name) || !is_filterable(data, found);
        inputs.push(GeneratorInput { image: found, nearest: is_nearest });
        lines.inputs.push(entry.line());
    }
    Ok(inputs)
}

type Variables = (Vec<u8>, Vec<SettingVariable>);

/// Reads the values of the shader's variables: numbers, colors, or names of settings.
fn read_variables(
    data: &RenderConfigData,
    value: SjsonValue,
    path: &str,
    shader: &ShaderData,
) -> Result<Variables, ConfigError> {
    let mut bytes = vec![0; shader.variable_bytes as usize];
    let mut settings = Vec::new();
    for entry in block(value, "variables")? {
        let Some(known) = shader.variables.iter().find(|known| known.name == entry.key) else {
            let hint = hint(entry.key, shader.variables.iter().map(|known| &known.name[..]));
            let message = format!("{path} has no variable '{}'{hint}", entry.key);
            return Err((entry.line(), message));
        };
        let is_integer =
            matches!(known.kind, ShaderVariableType::Integer | ShaderVariableType::Unsigned);
        let name = entry.value.as_str().filter(|text| !text.starts_with('#'));
        if let Some(name) = name {
            let index = setting(data, entry.line(), name)?;
            if settings.len() == SETTINGS_MAX {
                let message =
                    format!("at most {SETTINGS_MAX} variables have settings (SETTINGS_MAX)");
                return Err((entry.line(), message));
            }
            if known.kind.numbers() != 1 {
                let message = format!(
                    "a setting is one number, and the variable '{}' is {} in {path}",
                    entry.key,
                    known.kind.name()
                );
                return Err((entry.line(), message));
            }
            settings.push(SettingVariable { setting: index, offset: known.offset, is_integer });
            continue;
        }
        let numbers = numbers(&entry)?;
        let is_whole = !is_integer || numbers.iter().all(|number| number.fract() == 0.0);
        if numbers.len() != known.kind.numbers() || !is_whole {
            let message = format!(
                "the variable '{}' is {} in {path} ({}), got {} numbers",
                entry.key,
                known.kind.name(),
                known.kind.wgsl(),
                numbers.len()
            );
            return Err((entry.line(), message));
        }
        known.kind.write(&mut bytes, known.offset, &numbers);
    }
    Ok((bytes, settings))
}

fn numbers(entry: &ObjectEntry) -> Result<Vec<f32>, ConfigError> {
    let value = entry.value;
    let found: Option<Vec<f32>> = if let Some(text) = value.as_str() {
        Color::from_hex(text).map(|color| color.to_light().to_vec())
    } else if let Some(number) = value.as_f64() {
        Some(vec![number as f32])
    } else {
        value
            .items()
            .and_then(|items| items.map(|item| item.as_f64().map(|number| number as f32)).collect())
    };
    match found {
        Some(numbers) if numbers.iter().all(|number| number.is_finite()) => Ok(numbers),
        Some(_) => {
            let message = format!("'{}' is too large: numbers end at {:e}", entry.key, f32::MAX);
            Err((entry.line(), message))
        }
        None => Err((
            entry.line(),
            format!(
                "'{}' must be a number, a list of numbers, a colour such as \"#ff8000\", or the \
                 name of a setting, got {}",
                entry.key,
                value.kind()
            ),
        )),
    }
}
