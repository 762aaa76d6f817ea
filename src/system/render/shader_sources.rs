//! The sources of the engine's shaders for scenes, by name, with their common parts. A line
//! `#include "view_uniforms.wgsl"` is replaced by that file of the list below. Compiles nothing.

/// Parts that several shaders include.
const INCLUDES: &[(&str, &str)] = &[
    ("view_uniforms.wgsl", include_str!("forward/view_uniforms.wgsl")),
    ("view_fields.wgsl", include_str!("forward/view_fields.wgsl")),
    ("local_lights.wgsl", include_str!("forward/local_lights.wgsl")),
    ("mesh_draw.wgsl", include_str!("forward/mesh_draw.wgsl")),
    ("draw_fields.wgsl", include_str!("forward/draw_fields.wgsl")),
    ("deformation.wgsl", include_str!("forward/deformation.wgsl")),
];

/// The shaders of scenes.
const SHADERS: &[(&str, &str)] = &[
    ("mesh", include_str!("forward/mesh.wgsl")),
    ("custom", include_str!("forward/custom_shader.wgsl")),
    ("shadow", include_str!("forward/shadow.wgsl")),
    ("sky", include_str!("forward/sky.wgsl")),
    ("tonemap", include_str!("forward/tonemap.wgsl")),
    ("particles", include_str!("forward/particles.wgsl")),
];

/// The shader of Guis, which games' materials complete (materials.rs).
const GUI: &str = "gui";

/// Returns the names of all shaders that render passes use.
pub fn names() -> Vec<&'static str> {
    SHADERS.iter().map(|(name, _)| *name).chain([GUI]).collect()
}

fn find(table: &[(&str, &'static str)], name: &str) -> &'static str {
    let found = table.iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("the engine has no shader source '{name}'")).1
}

/// Returns the complete source of a scene's shader for a number of samples per pixel. `name` is one
/// of [`names`] without `gui`.
pub fn source(name: &str, samples: u32) -> String {
    let whole = with_includes(find(SHADERS, name));
    if samples > 1 { whole } else { whole.replace("_multisampled_2d", "_2d") }
}

fn with_includes(text: &str) -> String {
    let mut whole = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        let include = line.trim().strip_prefix("#include \"").and_then(|it| it.strip_suffix('"'));
        match include {
            Some(name) => whole += &with_includes(find(INCLUDES, name)),
            None => whole = whole + line + "\n",
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materials::engine_source;
    use crate::scene::{
        CASCADES_MAX, CLUSTER_COLUMNS, CLUSTER_COUNT_BITS, CLUSTER_ROWS, CLUSTER_SLICES,
    };
    use engine_frame_packet::scene::SUNS_MAX;

    #[test]
    fn the_shaders_have_the_same_constants_as_the_packet() {
        let files = ["view_uniforms.wgsl", "local_lights.wgsl"];
        let all = files.map(|name| find(INCLUDES, name)).concat();
        for (name, value) in [
            ("SUNS_MAX", SUNS_MAX),
            ("CASCADES_MAX", CASCADES_MAX),
            ("CLUSTER_COLUMNS", CLUSTER_COLUMNS),
            ("CLUSTER_ROWS", CLUSTER_ROWS),
            ("CLUSTER_SLICES", CLUSTER_SLICES),
            ("CLUSTER_COUNT_BITS", CLUSTER_COUNT_BITS as usize),
        ] {
            let line = format!("const {name}: u32 = {value}u;");
            assert!(all.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_shaders_are_valid_with_and_without_several_samples() {
        for samples in [1, 4] {
            for (name, _) in SHADERS {
                let source = match *name {
                    // It follows the shader of Guis and a game's material.
                    "custom" => [engine_source(), source(name, samples)].join("\n"),
                    name => source(name, samples),
                };
                let module = wgpu::naga::front::wgsl::parse_str(&source)
                    .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
                let flags = wgpu::naga::valid::ValidationFlags::all();
                let able = wgpu::naga::valid::Capabilities::empty();
                let valid = wgpu::naga::valid::Validator::new(flags, able).validate(&module);
                if let Err(error) = valid {
                    panic!("{name}: {}", error.emit_to_string(&source));
                }
            }
        }
    }
}
