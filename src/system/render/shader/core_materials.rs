//! Materials and shaders that are embedded in the engine (core/materials). They are
//! compiled when they are first used. Files of a game with the same names take precedence.

use super::{MATERIAL, SHADER};
use engine_foundation::Error;
use engine_foundation::error;
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

/// Returns the compiled form of an embedded material or shader; `None`: there is none.
///
/// # Errors
/// Returns an error if it does not compile.
pub fn compiled(resource: &ResourceName) -> Option<Result<Vec<u8>, Error>> {
    let text = source(&resource.kind, &resource.name)?;
    let read = |path: &str| Err(error!("there is no file {path}"));
    let kind = if resource.kind == kind_names::SHADER { &SHADER } else { &MATERIAL };
    let form = if resource.kind == kind_names::SHADER { SourceForm::Raw } else { SourceForm::Own };
    let (name, path) = (resource.clone(), resource.name.clone());
    let bytes = text.as_bytes().to_vec();
    let mut context = CompileContext::new(name, path, form, bytes, true, &read);
    Some((kind.compile)(&mut context))
}

#[cfg(test)]
mod tests {
    use super::*;

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
