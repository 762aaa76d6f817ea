//! The compiler of materials from SJSON to data. It checks a material against the shader that it
//! names.

use super::surface_prelude::SURFACE_SIGNATURE;
use super::{check, core_materials};
use engine_foundation::color_source::ColorKey;
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_foundation::{Color, Error};
use engine_resource::material_data::{
    BLENDS, FILTERS, MaterialData, ShaderData, ShaderVariableType, TextureBinding, WRAPS,
};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_resource::surface_source::SurfaceSource;

/// The kind `material`.
pub static MATERIAL: ResourceKind = ResourceKind {
    name: kind_names::MATERIAL,
    doc: "A shader with textures and variables, and how its colours blend with the background",
    extensions: &[("material", SourceForm::Own)],
    version: 4,
    framed: false,
    reload: &[ReloadStep::Materials],
    compile: compiler(compile),
    validate: |bytes| MaterialData::read(bytes).map(drop),
};

const KEYS: [&str; 8] =
    ["shader", "texture", "blend", "textures", "samplers", "variables", "colors", "surface"];

/// The block of a material whose values are colors.
pub const COLORS: ColorKey = ColorKey { key: "colors", linear_key: "", has_alpha: true };

pub(super) fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let mut data = MaterialData::default();
    for entry in document.root().entries().into_iter().flatten() {
        set(&mut data, &entry).map_err(|(line, message)| compiling.error_at(line, &message))?;
    }
    // Samplers refer to textures, wherever they are in the file.
    if let Some(samplers) = document.root().get("samplers") {
        set_samplers(&mut data, samplers)
            .map_err(|(line, message)| compiling.error_at(line, &message))?;
    }
    if let Some(name) = &data.shader {
        compiling.refer(kind_names::SHADER, name);
    }
    for texture in &data.textures {
        compiling.refer(kind_names::TEXTURE, &texture.texture);
    }
    if let Some(texture) = &data.texture {
        compiling.refer(kind_names::TEXTURE, texture);
    }
    if let (Some(surface), Some(block)) = (&data.surface, document.root().get("surface")) {
        let checked = surface.check_textures(compiling);
        checked.map_err(|message| compiling.error_at(block.line(), &message))?;
    }
    for texture in data.surface.iter().flat_map(|surface| surface.textures.iter().flatten()) {
        compiling.refer(kind_names::TEXTURE, texture);
    }
    let root = document.root();
    match data.shader.clone() {
        Some(name) => {
            let shader = against_shader(compiling, root, &name, &data)?;
            if let Some(shader) = shader.filter(|shader| shader.surface.is_some()) {
                data.surface.get_or_insert(SurfaceSource::DEFAULT);
                if shader.surface.is_some_and(|functions| !functions.vertex_offset)
                    && let Some(entry) = root.get("surface").and_then(|it| it.get("offset_max"))
                {
                    let message = format!(
                        "'offset_max' has no effect: the shader '{name}' has no function \
                         vertex_offset"
                    );
                    return Err(compiling.error_at(entry.line(), &message));
                }
            } else if let Some(block) = root.get("surface").filter(|_| !is_built_in(&name)) {
                let message = format!(
                    "the shader '{name}' is for pictures, and 'surface' for meshes: a shader of \
                     meshes declares {SURFACE_SIGNATURE}"
                );
                return Err(compiling.error_at(block.line(), &message));
            }
        }
        None => without_shader(compiling, root)?,
    }
    if data.surface.is_some() {
        let of_pictures = |entry: &ObjectEntry| ["texture", "blend"].contains(&entry.key);
        if let Some(entry) = root.entries().into_iter().flatten().find(of_pictures) {
            let message = format!(
                "'{}' is for materials that pictures are drawn with, and 'surface' for those of \
                 meshes: make two materials",
                entry.key
            );
            return Err(compiling.error_at(entry.line(), &message));
        }
    }
    Ok(data.write())
}

/// Returns true for the names of the engine's own shaders.
fn is_built_in(name: &str) -> bool {
    name.starts_with("core/")
}

/// A line number and the error message.
type MaterialError = (usize, String);

fn text(entry: &ObjectEntry) -> Result<String, MaterialError> {
    entry.value.as_str().map(str::to_string).ok_or_else(|| {
        let (key, kind) = (entry.key, entry.value.kind());
        (entry.line(), format!("'{key}' must be a name in quotes, got {kind}"))
    })
}

fn choice(entry: &ObjectEntry, choices: &[&str]) -> Result<u8, MaterialError> {
    let word = text(entry)?;
    let found = choices.iter().position(|known| *known == word);
    found.map(|index| index as u8).ok_or_else(|| {
        let all = choices.join("\", \"");
        let message = format!("'{}' must be one of \"{all}\", got \"{word}\"", entry.key);
        (entry.line(), message + &hint(&word, choices.iter().copied()))
    })
}

fn block<'a>(entry: &ObjectEntry<'a>) -> Result<Vec<ObjectEntry<'a>>, MaterialError> {
    let must = || {
        let (key, kind) = (entry.key, entry.value.kind());
        (entry.line(), format!("'{key}' must be a block, {{ name = … }}, got {kind}"))
    };
    Ok(entry.value.entries().ok_or_else(must)?.collect())
}

fn set(data: &mut MaterialData, entry: &ObjectEntry) -> Result<(), MaterialError> {
    match entry.key {
        "shader" => data.shader = Some(text(entry)?),
        "texture" => data.texture = Some(text(entry)?),
        "blend" => data.blend = choice(entry, &BLENDS)?,
        "samplers" => {}
        "surface" => data.surface = Some(SurfaceSource::parse(entry.value)?),
        "textures" => {
            for entry in block(entry)? {
                let (name, texture) = (entry.key.to_string(), text(&entry)?);
                data.textures.push(TextureBinding { name, texture, filter: None, wrap: None });
            }
        }
        "variables" => {
            for entry in block(entry)? {
                let numbers = numbers(&entry)?;
                if numbers.iter().any(|number| !number.is_finite()) {
                    let message = format!(
                        "'{}' is too large: a shader's numbers end at {:e}",
                        entry.key,
                        f32::MAX
                    );
                    return Err((entry.line(), message));
                }
                add_variable(data, &entry, numbers)?;
            }
        }
        "colors" => {
            for entry in block(entry)? {
                let color = COLORS.read(&entry.value.to_tree());
                let color = color
                    .map_err(|message| (entry.line(), format!("'{}' {message}", entry.key)))?;
                add_variable(data, &entry, color.to_light().to_vec())?;
            }
        }
        key => return Err((entry.line(), format!("unknown key '{key}'{}", hint(key, KEYS)))),
    }
    Ok(())
}

fn add_variable(
    data: &mut MaterialData,
    entry: &ObjectEntry,
    numbers: Vec<f32>,
) -> Result<(), MaterialError> {
    if data.variables.iter().any(|(name, _)| name == entry.key) {
        let message = format!("'{}' is in 'variables' and in 'colors': keep one", entry.key);
        return Err((entry.line(), message));
    }
    data.variables.push((entry.key.to_string(), numbers));
    Ok(())
}

fn set_samplers(data: &mut MaterialData, samplers: SjsonValue) -> Result<(), MaterialError> {
    let must = || {
        let message = "'samplers' must be a block: samplers = { noise = { wrap = \"repeat\" } }";
        (samplers.line(), message.to_string())
    };
    for entry in samplers.entries().ok_or_else(must)? {
        let name = entry.key;
        let Some(texture) = data.textures.iter_mut().find(|texture| texture.name == name) else {
            let names = data.textures.iter().map(|texture| &texture.name[..]);
            let message =
                format!("there is no texture '{name}' in 'textures'{}", hint(name, names));
            return Err((entry.line(), message));
        };
        for entry in block(&entry)? {
            match entry.key {
                "filter" => texture.filter = Some(choice(&entry, &FILTERS)?),
                "wrap" => texture.wrap = Some(choice(&entry, &WRAPS)?),
                key => {
                    let message = format!("unknown key '{key}'{}", hint(key, ["filter", "wrap"]));
                    return Err((entry.line(), message));
                }
            }
        }
    }
    Ok(())
}

/// Reads a number, a list of numbers, or a color as text.
fn numbers(entry: &ObjectEntry) -> Result<Vec<f32>, MaterialError> {
    let value = entry.value;
    if let Some(number) = value.as_f64() {
        return Ok(vec![number as f32]);
    }
    if let Some(text) = value.as_str() {
        return Color::from_hex(text).map(|color| color.to_light().to_vec()).ok_or_else(|| {
            let message =
                format!("'{}' must be numbers, or a colour such as \"#ff8000\"", entry.key);
            (entry.line(), message)
        });
    }
    let numbers: Option<Vec<f32>> = value
        .items()
        .and_then(|items| items.map(|item| item.as_f64().map(|number| number as f32)).collect());
    numbers.ok_or_else(|| {
        let message = format!(
            "'{}' must be a number, a list of numbers, or a colour such as \"#ff8000\", got {}",
            entry.key,
            value.kind()
        );
        (entry.line(), message)
    })
}

fn without_shader(compiling: &CompileContext, root: SjsonValue) -> Result<(), Error> {
    for key in ["textures", "samplers", "variables", "colors"] {
        if let Some(value) = root.get(key) {
            let message = format!(
                "'{key}' belong to a shader, and this material names none: add shader = \"name\", \
                 or remove them (the picture that bitmaps show is texture = \"name\")"
            );
            return Err(compiling.error_at(value.line(), &message));
        }
    }
    Ok(())
}

/// Compares a material's values with the inputs of its shader, and returns the shader. `None`: it
/// has errors, or is one of the engine's without a source.
fn against_shader(
    compiling: &mut CompileContext,
    root: SjsonValue,
    name: &str,
    data: &MaterialData,
) -> Result<Option<ShaderData>, Error> {
    let line = root.get("shader").map_or(1, SjsonValue::line);
    let found = ["shader", "wgsl"].iter().find_map(|ending| {
        let path = format!("{name}.{ending}");
        compiling.read_optional(&path).map(|bytes| (path, bytes))
    });
    let shader = match found {
        Some((path, bytes)) => Some(check(&path, &String::from_utf8_lossy(&bytes))),
        None => core_materials::shader(name),
    };
    let Some(shader) = shader else {
        // A built-in shader is in no file of the game.
        if is_built_in(name) {
            return Ok(None);
        }
        let message = format!("there is no shader '{name}': neither {name}.wgsl nor {name}.shader");
        return Err(compiling.error_at(line, &message));
    };
    // Errors of the shader itself are reported with its file.
    let Ok(shader) = shader else { return Ok(None) };
    compare(&shader, name, root, data)
        .map_err(|(line, message)| compiling.error_at(line, &message))?;
    Ok(Some(shader))
}

fn compare(
    shader: &ShaderData,
    name: &str,
    root: SjsonValue,
    data: &MaterialData,
) -> Result<(), MaterialError> {
    let entries = |key: &str| root.get(key).and_then(SjsonValue::entries).into_iter().flatten();
    for entry in entries("textures") {
        if !shader.textures.iter().any(|known| known == entry.key) {
            let known = shader.textures.iter().map(|known| &known[..]);
            let hint = hint(entry.key, known);
            let message = format!("the shader '{name}' has no texture '{}'{hint}", entry.key);
            return Err((entry.line(), message));
        }
    }
    for entry in entries("variables").chain(entries("colors")) {
        let (_, numbers) = data
            .variables
            .iter()
            .find(|(name, _)| name == entry.key)
            .expect("every entry was read");
        let Some(known) = shader.variables.iter().find(|known| known.name == entry.key) else {
            let known = shader.variables.iter().map(|known| &known.name[..]);
            let hint = hint(entry.key, known);
            let message = format!("the shader '{name}' has no variable '{}'{hint}", entry.key);
            return Err((entry.line(), message));
        };
        let whole =
            matches!(known.kind, ShaderVariableType::Integer | ShaderVariableType::Unsigned);
        let fits = numbers.len() == known.kind.numbers()
            && (!whole || numbers.iter().all(|number| number.fract() == 0.0));
        if !fits {
            let message = format!(
                "the variable '{}' is {} in the shader '{name}' ({}), got {}",
                entry.key,
                known.kind.name(),
                known.kind.wgsl(),
                match numbers.len() {
                    1 => "a number".to_string(),
                    count => format!("{count} numbers"),
                }
            );
            return Err((entry.line(), message));
        }
    }
    if let Some(missing) =
        shader.textures.iter().find(|known| !data.textures.iter().any(|t| t.name == **known))
    {
        let message = format!(
            "the shader '{name}' has a texture '{missing}': textures = {{ {missing} = \"name\" }}"
        );
        return Err((root.get("shader").map_or(1, SjsonValue::line), message));
    }
    Ok(())
}
