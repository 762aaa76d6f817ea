//! The sources of the engine's shaders for scenes, by name, with their common parts. A line
//! `#include "view_uniforms.wgsl"` is replaced by that file of the list below. Lines between `#if
//! custom` and `#else` or `#endif` belong to the modules of games' surface functions only, and
//! those after `#if transmission` to surfaces that let light through. Compiles nothing.

/// Parts that several shaders include.
const INCLUDES: &[(&str, &str)] = &[
    ("view_uniforms.wgsl", include_str!("forward/view_uniforms.wgsl")),
    ("view_fields.wgsl", include_str!("forward/view_fields.wgsl")),
    ("mesh_draw.wgsl", include_str!("forward/mesh_draw.wgsl")),
    ("draw_fields.wgsl", include_str!("forward/draw_fields.wgsl")),
    ("lighting.wgsl", include_str!("forward/lighting.wgsl")),
    ("surface_interface.wgsl", include_str!("forward/surface_interface.wgsl")),
    ("lobes.wgsl", include_str!("forward/lobes.wgsl")),
    ("surface_checks.wgsl", include_str!("forward/surface_checks.wgsl")),
    ("deformation.wgsl", include_str!("forward/deformation.wgsl")),
];

/// The shaders of scenes.
const SHADERS: &[(&str, &str)] = &[
    ("mesh", include_str!("forward/mesh.wgsl")),
    ("custom", include_str!("forward/custom_shader.wgsl")),
    ("shadow", include_str!("forward/shadow.wgsl")),
    ("background", include_str!("forward/background.wgsl")),
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
    let whole = assemble(find(SHADERS, name), &[]);
    if samples > 1 { whole } else { whole.replace("_multisampled_2d", "_2d") }
}

/// Returns the source of a shader of meshes. `custom`: it calls a game's surface functions, which
/// it does not declare. `transmits`: the surfaces let light through.
pub fn mesh_source(name: &str, custom: bool, transmits: bool) -> String {
    let variants: Vec<&str> = [("custom", custom), ("transmission", transmits)]
        .iter()
        .filter(|(_, on)| *on)
        .map(|(variant, _)| *variant)
        .collect();
    assemble(find(SHADERS, name), &variants)
}

/// Inserts the included files, and removes the lines of other variants.
fn assemble(text: &str, variants: &[&str]) -> String {
    let mut whole = String::with_capacity(text.len() * 2);
    let mut kept = true;
    for line in text.lines() {
        let line_text = line.trim();
        let include = line_text.strip_prefix("#include \"").and_then(|it| it.strip_suffix('"'));
        if let Some(variant) = line_text.strip_prefix("#if ") {
            kept = variants.contains(&variant);
        } else if line_text == "#else" {
            kept = !kept;
        } else if line_text == "#endif" {
            kept = true;
        } else if kept {
            match include {
                Some(name) => whole += &assemble(find(INCLUDES, name), variants),
                None => whole = whole + line + "\n",
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materials::engine_source;
    use crate::scene::CASCADES_MAX;
    use engine_frame_packet::scene::{SPOT_SHADOWS_MAX, SUNS_MAX, VIEW_LIGHTS_MAX};

    #[test]
    fn the_shaders_have_the_same_constants_as_the_packet() {
        let view = find(INCLUDES, "view_uniforms.wgsl");
        for (name, value) in [
            ("SUNS_MAX", SUNS_MAX),
            ("CASCADES_MAX", CASCADES_MAX),
            ("SPOT_SHADOWS_MAX", SPOT_SHADOWS_MAX),
            ("VIEW_LIGHTS_MAX", VIEW_LIGHTS_MAX),
        ] {
            let line = format!("const {name}: u32 = {value}u;");
            assert!(view.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_shader_of_transmission_is_valid() {
        let source = mesh_source("mesh", false, true);
        let module = wgpu::naga::front::wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
        let flags = wgpu::naga::valid::ValidationFlags::all();
        let able = wgpu::naga::valid::Capabilities::empty();
        wgpu::naga::valid::Validator::new(flags, able).validate(&module).unwrap();
        assert!(!mesh_source("mesh", false, false).contains("background"));
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
