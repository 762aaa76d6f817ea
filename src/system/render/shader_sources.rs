//! The sources of the engine's shaders for scenes, by name, with their common parts. A line
//! `#include "view_uniforms.wgsl"` is replaced by that file of the list below. Lines between `#if
//! custom` (or `#else`) and `#endif` belong to the modules of games' surface functions only (or to
//! the engine's own only). Compiles nothing.

/// Parts that several shaders include.
const INCLUDES: &[(&str, &str)] = &[
    ("view_uniforms.wgsl", include_str!("forward/view_uniforms.wgsl")),
    ("view_fields.wgsl", include_str!("forward/view_fields.wgsl")),
    ("local_lights.wgsl", include_str!("forward/local_lights.wgsl")),
    ("mesh_draw.wgsl", include_str!("forward/mesh_draw.wgsl")),
    ("draw_fields.wgsl", include_str!("forward/draw_fields.wgsl")),
    ("lighting.wgsl", include_str!("forward/lighting.wgsl")),
    ("surface_interface.wgsl", include_str!("forward/surface_interface.wgsl")),
    ("surface_checks.wgsl", include_str!("forward/surface_checks.wgsl")),
    ("deformation.wgsl", include_str!("forward/deformation.wgsl")),
    ("full_screen.wgsl", include_str!("post/full_screen.wgsl")),
    ("post_uniforms.wgsl", include_str!("post/post_uniforms.wgsl")),
    ("bloom_part.wgsl", include_str!("post/bloom_part.wgsl")),
    ("display.wgsl", include_str!("post/display.wgsl")),
    ("tone_mappers.wgsl", include_str!("post/tone_mappers.wgsl")),
    ("grading.wgsl", include_str!("post/grading.wgsl")),
    ("grain.wgsl", include_str!("post/grain.wgsl")),
    ("fxaa.wgsl", include_str!("post/fxaa.wgsl")),
    ("screen_uniforms.wgsl", include_str!("screen_space/screen_uniforms.wgsl")),
    ("surface_normal.wgsl", include_str!("screen_space/surface_normal.wgsl")),
    ("focus.wgsl", include_str!("screen_space/focus.wgsl")),
    ("atmosphere.wgsl", include_str!("sky/atmosphere.wgsl")),
    ("fog_depth.wgsl", include_str!("sky/fog_depth.wgsl")),
    ("height_fog.wgsl", include_str!("sky/height_fog.wgsl")),
    ("octahedron.wgsl", include_str!("sky/octahedron.wgsl")),
    ("sky_inputs.wgsl", include_str!("sky/sky_inputs.wgsl")),
    ("sky_light.wgsl", include_str!("sky/sky_light.wgsl")),
];

/// The shaders of scenes.
const SHADERS: &[(&str, &str)] = &[
    ("mesh", include_str!("forward/mesh.wgsl")),
    ("custom", include_str!("forward/custom_shader.wgsl")),
    ("shadow", include_str!("forward/shadow.wgsl")),
    ("sky", include_str!("forward/sky.wgsl")),
    ("background", include_str!("sky/background.wgsl")),
    ("sky_maps", include_str!("sky/sky_maps.wgsl")),
    ("tonemap", include_str!("forward/tonemap.wgsl")),
    ("particles", include_str!("forward/particles.wgsl")),
    ("exposure", include_str!("post/exposure.wgsl")),
    ("bloom", include_str!("post/bloom.wgsl")),
    ("grade", include_str!("post/grade.wgsl")),
    ("finish", include_str!("post/finish.wgsl")),
    ("ambient_occlusion", include_str!("screen_space/ambient_occlusion.wgsl")),
    ("ambient_occlusion_blur", include_str!("screen_space/ambient_occlusion_blur.wgsl")),
    ("contact_shadows", include_str!("screen_space/contact_shadows.wgsl")),
    ("light_resolve", include_str!("screen_space/light_resolve.wgsl")),
    ("motion_vectors", include_str!("screen_space/motion_vectors.wgsl")),
    ("object_motion", include_str!("screen_space/object_motion.wgsl")),
    ("temporal", include_str!("screen_space/temporal.wgsl")),
    ("depth_of_field_tiles", include_str!("screen_space/depth_of_field_tiles.wgsl")),
    ("depth_of_field", include_str!("screen_space/depth_of_field.wgsl")),
    ("motion_blur_tiles", include_str!("screen_space/motion_blur_tiles.wgsl")),
    ("motion_blur", include_str!("screen_space/motion_blur.wgsl")),
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
    let whole = assemble(find(SHADERS, name), false);
    if samples > 1 { whole } else { whole.replace("_multisampled_2d", "_2d") }
}

/// Returns the source of a shader for light with one sample per pixel, while the depth has
/// `samples`.
pub fn source_of_resolved_light(name: &str, samples: u32) -> String {
    let light = "var light: texture_multisampled_2d<f32>";
    source(name, samples).replacen(light, "var light: texture_2d<f32>", 1)
}

/// Returns the source of a scene's shader that calls a game's surface functions, which it does not
/// declare.
pub fn custom_source(name: &str) -> String {
    assemble(find(SHADERS, name), true)
}

/// Inserts the included files, and removes the lines of the other variant.
fn assemble(text: &str, custom: bool) -> String {
    let mut whole = String::with_capacity(text.len() * 2);
    let mut kept = true;
    for line in text.lines() {
        let include = line.trim().strip_prefix("#include \"").and_then(|it| it.strip_suffix('"'));
        match (line.trim(), include) {
            ("#if custom", _) => kept = custom,
            ("#else", _) => kept = !kept,
            ("#endif", _) => kept = true,
            _ if !kept => {}
            (_, Some(name)) => whole += &assemble(find(INCLUDES, name), custom),
            (_, None) => whole = whole + line + "\n",
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
    use engine_frame_packet::reflection_probe::VIEW_PROBES_MAX;
    use engine_frame_packet::scene::SUNS_MAX;
    use engine_frame_packet::shading_environment::celestial;

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
            ("VIEW_PROBES_MAX", VIEW_PROBES_MAX),
        ] {
            let line = format!("const {name}: u32 = {value}u;");
            assert!(all.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_atmosphere_has_the_same_constants_as_the_packet() {
        let atmosphere = find(INCLUDES, "atmosphere.wgsl");
        for (name, value) in [
            ("RAYLEIGH_HEIGHT", celestial::RAYLEIGH_HEIGHT),
            ("MIE_SCATTERING", celestial::MIE_SCATTERING),
            ("MIE_EXTINCTION", celestial::MIE_EXTINCTION),
            ("MIE_HEIGHT", celestial::MIE_HEIGHT),
            ("OZONE_HEIGHT", celestial::OZONE_HEIGHT),
            ("OZONE_WIDTH", celestial::OZONE_WIDTH),
            ("GROUND_RADIUS", celestial::GROUND_RADIUS),
            ("ATMOSPHERE_HEIGHT", celestial::ATMOSPHERE_HEIGHT),
            ("SUNSET_SINE", celestial::SUNSET_SINE),
        ] {
            let line = format!("const {name}: f32 = {value:?};");
            assert!(atmosphere.contains(&line), "{line}");
        }
        for (name, [red, green, blue]) in [
            ("RAYLEIGH_SCATTERING", celestial::RAYLEIGH_SCATTERING),
            ("OZONE_ABSORPTION", celestial::OZONE_ABSORPTION),
        ] {
            let line = format!("const {name}: vec3f = vec3f({red}, {green}, {blue});");
            assert!(atmosphere.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_shaders_are_valid_with_and_without_several_samples() {
        for samples in [1, 4] {
            for (name, _) in SHADERS {
                let resolved = source_of_resolved_light("tonemap", samples);
                assert!(resolved.contains("var light: texture_2d<f32>"));
                let source = match *name {
                    "tonemap" if samples > 1 => resolved,
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
