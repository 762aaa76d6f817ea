//! The table of all resource kinds, collected from the systems that define them.

use engine_flow::resource::FLOW;
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_models::data::ModelData;
use engine_particles::resource::PARTICLES;
use engine_render::render_config::RENDER_CONFIG;
use engine_render::shader::{MATERIAL, SHADER};
use engine_resource::data_resources;
use engine_resource::resource_kind::{ResourceKind, ResourceKinds, kind_names};
use engine_script::resource;
use engine_sound::mixer::MixerData;
use engine_sound::resource as sound_kinds;
use engine_text::resource as font_kind;
use engine_textures::resource::TEXTURE;
use engine_textures::sheet_resource::{self, SHEET};
use engine_tilemaps::resource::TILEMAP;
use engine_world::animation::{ANIMATION_FILE, STATE_MACHINE};
use engine_world::level_navigation::NAVIGATION_MESH;
use engine_world::physics::PHYSICS_PROPERTIES;
use engine_world::shading::SHADING_ENVIRONMENT;
use engine_world::{level_resource, model_resource, navigation_file, unit_resource};

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
    &ANIMATION_FILE,
    &STATE_MACHINE,
    &unit_resource::UNIT,
    &level_resource::LEVEL,
    &navigation_file::NAVIGATION,
    &NAVIGATION_MESH,
    &FLOW,
    &TILEMAP,
    &PHYSICS_PROPERTIES,
    &SHADING_ENVIRONMENT,
    &RENDER_CONFIG,
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

/// Function that returns names in compiled data.
pub type ReadNames = fn(&[u8]) -> Result<Vec<String>, Error>;

/// Names inside of the resources of a kind that scripts use by their 32-bit hash.
pub struct HashedNames {
    pub kind: &'static str,
    /// Noun for the names, in the plural.
    pub noun: &'static str,
    pub names: ReadNames,
}

/// The kinds with such names.
pub static HASHED_NAMES: &[HashedNames] = &[
    HashedNames {
        kind: kind_names::UNIT,
        noun: "nodes",
        names: |bytes| match data_resources::read_tree(bytes)?.get("nodes") {
            Some(SjsonTree::Object(nodes)) => {
                Ok(nodes.iter().map(|(name, _)| name.clone()).collect())
            }
            _ => Ok(Vec::new()),
        },
    },
    HashedNames {
        kind: kind_names::MODEL,
        noun: "nodes",
        names: |bytes| {
            Ok(ModelData::read(bytes)?.nodes.into_iter().map(|node| node.name).collect())
        },
    },
    HashedNames {
        kind: kind_names::MIXER,
        noun: "buses",
        names: |bytes| Ok(MixerData::read(bytes)?.buses.into_iter().map(|bus| bus.name).collect()),
    },
    HashedNames {
        kind: kind_names::SOUND,
        noun: "parameters",
        names: |bytes| {
            let (rules, _) = sound_kinds::read_sound(bytes)?;
            Ok(rules.parameters.into_iter().map(|parameter| parameter.name).collect())
        },
    },
];

// A kind must have a parser and a patcher of its references.
const _: () = {
    let mut at = 0;
    while at < ALL.len() {
        assert!(
            engine_content::references::has_rules(ALL[at].name),
            "add the kind to the table in src/content/references/rules.rs"
        );
        at += 1;
    }
};

/// All resource kinds.
pub const KINDS: ResourceKinds = ResourceKinds(ALL);

#[cfg(test)]
#[path = "resource_kinds_tests.rs"]
mod damage_tests;

#[cfg(test)]
#[path = "color_keys_tests.rs"]
mod color_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::resource_kind::derived_kind;

    #[test]
    fn no_two_kinds_share_an_extension() {
        let mut visited = std::collections::HashSet::new();
        for kind in ALL {
            let is_derived = ALL.iter().any(|from| derived_kind(from.name) == Some(kind.name));
            let has_own = kind.extensions.iter().any(|(extension, _)| *extension == kind.name);
            assert!(has_own != is_derived && kind.extensions.is_empty() == is_derived);
            for (extension, _) in kind.extensions {
                assert!(visited.insert(extension), "{extension}");
                assert_eq!(*extension, extension.to_lowercase());
            }
        }
    }
}
