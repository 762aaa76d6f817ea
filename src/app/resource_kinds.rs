//! The table of all resource kinds, collected from the systems that define them.

use engine_foundation::Error;
use engine_models::data::ModelData;
use engine_particles::resource::PARTICLES;
use engine_render::shader::{MATERIAL, SHADER};
use engine_resource::data_resources;
use engine_resource::resource_kind::{ResourceKind, ResourceKinds, kind_names};
use engine_script::resource;
use engine_sound::resource as sound_kinds;
use engine_text::resource as font_kind;
use engine_textures::resource::TEXTURE;
use engine_textures::sheet_resource::{self, SHEET};
use engine_tilemaps::resource::TILEMAP;
use engine_world::physics::PHYSICS_PROPERTIES;
use engine_world::{level_resource, model_resource, unit_resource};

static ALL: &[&ResourceKind] = &[
    &resource::LUA,
    &data_resources::PACKAGE,
    &data_resources::CONFIG,
    &data_resources::STRINGS,
    &data_resources::TEXT,
    &data_resources::BINARY,
    &font_kind::FONT,
    &TEXTURE,
    &SHEET,
    &SHADER,
    &MATERIAL,
    &PARTICLES,
    &sound_kinds::SOUND,
    &sound_kinds::MIXER,
    &model_resource::MODEL,
    &unit_resource::UNIT,
    &level_resource::LEVEL,
    &TILEMAP,
    &PHYSICS_PROPERTIES,
];

/// Function that returns the names of the resources that compiled data contains.
pub type ReadParts = fn(&[u8]) -> Result<Vec<String>, Error>;

/// A kind whose resources contain resources of another kind, under names such as
/// `sheets/hero/run_01`.
pub struct ResourceContainer {
    pub kind: &'static str,
    pub part_kind: &'static str,
    pub parts: ReadParts,
}

/// The kinds that contain resources of other kinds.
pub static CONTAINERS: &[ResourceContainer] = &[
    ResourceContainer {
        kind: kind_names::SHEET,
        part_kind: kind_names::TEXTURE,
        parts: |bytes| {
            let sheet = sheet_resource::read(bytes)?;
            Ok(sheet.frames.into_iter().map(|frame| frame.name).collect())
        },
    },
    ResourceContainer {
        kind: kind_names::MODEL,
        part_kind: kind_names::MATERIAL,
        parts: |bytes| {
            let model = ModelData::read(bytes)?;
            Ok(model.surfaces.into_iter().map(|surface| surface.name).collect())
        },
    },
];

/// All resource kinds.
pub const KINDS: ResourceKinds = ResourceKinds(ALL);

#[cfg(test)]
#[path = "resource_kinds_tests.rs"]
mod damage_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kinds_share_an_extension() {
        let mut visited = std::collections::HashSet::new();
        for kind in ALL {
            assert!(kind.extensions.iter().any(|(extension, _)| *extension == kind.name));
            for (extension, _) in kind.extensions {
                assert!(visited.insert(extension), "{extension}");
                assert_eq!(*extension, extension.to_lowercase());
            }
        }
    }
}
