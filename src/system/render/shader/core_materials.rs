//! Materials and shaders that are embedded in the engine (core/materials). They are
//! compiled when they are first used. Files of a game with the same names take precedence.

use super::{PRELUDE, check, material_compile, surface_prelude};
use engine_foundation::{DEVELOPMENT, Error, error};
use engine_resource::material_data::{ShaderData, ShaderVariable, ShaderVariableType};
use engine_resource::resource_kind::{CompileContext, SourceForm, kind_names};
use engine_resource::resource_name::ResourceName;

/// Embedded files: their kind, name and text.
const FILES: &[(&str, &str, &str)] = &[
    (
        "material",
        "core/materials/standard",
        include_str!("../../../../core/materials/standard.material"),
    ),
    ("material", "core/materials/unlit", include_str!("../../../../core/materials/unlit.material")),
    ("material", "core/materials/toon", include_str!("../../../../core/materials/toon.material")),
    ("material", "core/materials/water", include_str!("../../../../core/materials/water.material")),
    (
        "material",
        "core/materials/foliage",
        include_str!("../../../../core/materials/foliage.material"),
    ),
    ("material", "core/materials/glass", include_str!("../../../../core/materials/glass.material")),
    ("shader", "core/materials/toon", include_str!("../../../../core/materials/toon.wgsl")),
    ("shader", "core/materials/water", include_str!("../../../../core/materials/water.wgsl")),
    ("shader", "core/materials/foliage", include_str!("../../../../core/materials/foliage.wgsl")),
    (
        "shader",
        "core/materials/triplanar",
        include_str!("../../../../core/materials/triplanar.wgsl"),
    ),
    ("shader", "core/materials/palette", include_str!("../../../../core/materials/palette.wgsl")),
];

/// Returns the text of an embedded file.
pub fn source(kind: &str, name: &str) -> Option<&'static str> {
    FILES.iter().find(|file| (file.0, file.1) == (kind, name)).map(|file| file.2)
}

/// Returns the names of the embedded materials.
pub fn materials() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|file| file.0 == kind_names::MATERIAL).map(|file| file.1)
}

/// The variables and textures of an embedded shader, for executables without the compiler of
/// shaders: names, types and offsets as WGSL's rules for uniform blocks place them.
struct ShaderBlock {
    name: &'static str,
    variables: &'static [(&'static str, ShaderVariableType, u32)],
    /// Length of the block, a multiple of 16.
    bytes: u32,
    textures: &'static [&'static str],
}

const BLOCKS: [ShaderBlock; 5] = [
    ShaderBlock {
        name: "core/materials/toon",
        variables: &[
            ("bands", ShaderVariableType::Scalar, 0),
            ("outline", ShaderVariableType::Scalar, 4),
            ("outline_color", ShaderVariableType::Vector4, 16),
        ],
        bytes: 32,
        textures: &[],
    },
    ShaderBlock {
        name: "core/materials/water",
        variables: &[
            ("height", ShaderVariableType::Scalar, 0),
            ("length", ShaderVariableType::Scalar, 4),
            ("speed", ShaderVariableType::Scalar, 8),
            ("deep_color", ShaderVariableType::Vector4, 16),
            ("shallow_color", ShaderVariableType::Vector4, 32),
        ],
        bytes: 48,
        textures: &[],
    },
    ShaderBlock {
        name: "core/materials/foliage",
        variables: &[
            ("wind", ShaderVariableType::Vector3, 0),
            ("speed", ShaderVariableType::Scalar, 12),
            ("stiffness", ShaderVariableType::Scalar, 16),
            ("light_through", ShaderVariableType::Scalar, 20),
        ],
        bytes: 32,
        textures: &[],
    },
    ShaderBlock {
        name: "core/materials/triplanar",
        variables: &[
            ("size", ShaderVariableType::Scalar, 0),
            ("sharpness", ShaderVariableType::Scalar, 4),
        ],
        bytes: 16,
        textures: &["top", "side"],
    },
    ShaderBlock {
        name: "core/materials/palette",
        variables: &[("row", ShaderVariableType::Scalar, 0)],
        bytes: 16,
        textures: &["palette"],
    },
];

/// Returns an embedded shader from the table of blocks.
fn from_table(name: &str, source: &str) -> Option<ShaderData> {
    let block = BLOCKS.iter().find(|block| block.name == name)?;
    let surface = surface_prelude::functions(source);
    let variable = |&(name, kind, offset): &(&str, ShaderVariableType, u32)| ShaderVariable {
        name: name.to_string(),
        kind,
        offset,
    };
    Some(ShaderData {
        source: match surface {
            Some(_) => source.to_string(),
            None => format!("{source}\n{PRELUDE}"),
        },
        surface,
        variables: block.variables.iter().map(variable).collect(),
        variable_bytes: block.bytes,
        textures: block.textures.iter().map(ToString::to_string).collect(),
    })
}

/// Returns an embedded shader; `None`: there is none.
///
/// # Errors
/// Returns an error if it does not compile.
pub fn shader(name: &str) -> Option<Result<ShaderData, Error>> {
    let source = source(kind_names::SHADER, name)?;
    match DEVELOPMENT {
        true => Some(check(name, source)),
        false => from_table(name, source).map(Ok),
    }
}

/// Returns the compiled form of an embedded material or shader; `None`: there is none.
///
/// # Errors
/// Returns an error if it does not compile.
pub fn compiled(resource: &ResourceName) -> Option<Result<Vec<u8>, Error>> {
    if resource.kind == kind_names::SHADER {
        return shader(&resource.name).map(|shader| Ok(shader?.write()));
    }
    let text = source(&resource.kind, &resource.name)?;
    let read = |path: &str| Err(error!("there is no file {path}"));
    let (name, path) = (resource.clone(), resource.name.clone());
    let bytes = text.as_bytes().to_vec();
    let mut context = CompileContext::new(name, path, SourceForm::Own, bytes, true, &read);
    Some(material_compile::compile(&mut context))
}

#[cfg(test)]
mod tests {
    use super::super::{MATERIAL, SHADER};
    use super::*;

    #[test]
    fn the_table_of_blocks_equals_the_reflected_shaders() {
        let shaders = FILES.iter().filter(|file| file.0 == kind_names::SHADER);
        assert_eq!(shaders.clone().count(), BLOCKS.len());
        for (_, name, source) in shaders {
            let known = from_table(name, source).unwrap_or_else(|| panic!("{name} has no row"));
            assert_eq!(known, check(name, source).unwrap(), "{name}");
        }
    }

    #[test]
    fn all_embedded_materials_and_shaders_compile() {
        for (kind, name, _) in FILES {
            let found = compiled(&ResourceName::new(kind, name)).unwrap();
            let bytes = found.unwrap_or_else(|error| panic!("{name}: {}", error.message));
            let kind = if *kind == kind_names::SHADER { &SHADER } else { &MATERIAL };
            (kind.validate)(&bytes).unwrap();
        }
        assert!(compiled(&ResourceName::new("material", "core/materials/none")).is_none());
    }
}
