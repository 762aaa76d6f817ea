//! Resources that are embedded in the engine. Files of a game can refer to them by name, and no
//! file of the game has them.

use super::render_configs::is_built_in_config;
use engine_models::primitives;
use engine_particles::built_in_textures;
use engine_render::shader::core_materials;
use engine_resource::resource_name::ResourceName;
use engine_text::is_built_in_font;
use engine_world::unit_resource::is_built_in_unit;

/// Prefix of the names of the engine's own shaders.
const ENGINE_PREFIX: &str = "core/";

/// Returns true if a resource is embedded in the engine.
pub fn is_built_in(resource: &ResourceName) -> bool {
    let name = resource.name.as_str();
    match resource.kind.as_str() {
        "font" => is_built_in_font(name),
        "material" => core_materials::materials().any(|known| known == name),
        "model" => primitives::NAMES.contains(&name),
        "render_config" => is_built_in_config(name),
        "shader" => name.starts_with(ENGINE_PREFIX),
        "texture" => built_in_textures::find(name).is_some(),
        "unit" => is_built_in_unit(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_resources_are_known_by_kind_and_name() {
        let check = |kind: &str, name: &str| is_built_in(&ResourceName::new(kind, name));
        assert!(check("font", "core/fonts/default") && check("font", "core/fonts/symbols"));
        assert!(check("model", "core/models/cube") && check("unit", "core/units/sun"));
        assert!(check("texture", "core/particles/soft") && check("shader", "core/gui"));
        assert!(check("material", "core/materials/water"));
        assert!(check("render_config", "core/render/mini"));
        for (kind, name) in [
            ("render_config", "core/render/min"),
            ("model", "core/models/cub"),
            ("unit", "core/models/cube"),
            ("texture", "core/particles"),
            ("material", "core/materials"),
            ("font", "fonts/default"),
            ("sound", "core/fonts/default"),
        ] {
            assert!(!check(kind, name), "{name}.{kind}");
        }
    }
}
