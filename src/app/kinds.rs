//! The table of kinds: every kind of resource that there is, put together from the systems' rows.

use crate::resource::data_kinds;
use crate::resource::kind::{Kind, Kinds};
use crate::script::lua_kind;
use crate::system::particles::kind::PARTICLES;
use crate::system::render::shader::{MATERIAL, SHADER};
use crate::system::sound::kinds as sound_kinds;
use crate::system::text::kind as font_kind;
use crate::system::textures::compile::TEXTURE;
use crate::system::textures::sheet::SHEET;
use crate::system::tilemaps::kind::TILEMAP;
use crate::world::physics::PHYSICS_PROPERTIES;
use crate::world::{level_resource, model, unit_resource};

static ALL: &[&Kind] = &[
    &lua_kind::LUA,
    &data_kinds::PACKAGE,
    &data_kinds::CONFIG,
    &data_kinds::STRINGS,
    &data_kinds::TEXT,
    &data_kinds::BINARY,
    &font_kind::FONT,
    &TEXTURE,
    &SHEET,
    &SHADER,
    &MATERIAL,
    &PARTICLES,
    &sound_kinds::SOUND,
    &sound_kinds::MIXER,
    &model::MODEL,
    &unit_resource::UNIT,
    &level_resource::LEVEL,
    &TILEMAP,
    &PHYSICS_PROPERTIES,
];

/// Every kind.
pub const KINDS: Kinds = Kinds(ALL);

#[cfg(test)]
#[path = "kinds_tests.rs"]
mod damage_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::kind::ENDINGS;

    #[test]
    fn the_endings_that_are_told_are_those_of_the_kinds() {
        let endings = |kind: &&Kind| {
            let endings: Vec<_> = kind.extensions.iter().map(|(extension, _)| *extension).collect();
            (kind.name, endings)
        };
        let told = ENDINGS.iter().map(|(name, endings)| (*name, endings.to_vec()));
        // Scripts are asked for as modules, whose words are their own.
        let others = ALL.iter().filter(|kind| kind.name != lua_kind::LUA.name);
        let there: Vec<_> = others.map(endings).collect();
        assert_eq!(told.collect::<Vec<_>>(), there);
    }

    #[test]
    fn no_extension_stands_for_two_kinds_and_every_kind_has_its_own() {
        let mut seen = std::collections::HashSet::new();
        for kind in ALL {
            assert!(kind.extensions.iter().any(|(extension, _)| *extension == kind.name));
            for (extension, _) in kind.extensions {
                assert!(seen.insert(extension), "{extension}");
                assert_eq!(*extension, extension.to_lowercase());
            }
        }
    }
}
