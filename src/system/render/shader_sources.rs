//! The sources of the engine's shaders for scenes, by name, with their common parts. A line
//! `#include "view_uniforms.wgsl"` is replaced by that file of the list below. Lines between `#if
//! custom` and `#else` or `#endif` belong to the modules of games' surface functions only, and
//! those after `#if transmission` to surfaces that let light through, and those after `#if debug`
//! to debug views. Particles have variants, too. Compiles nothing.

/// Parts that several shaders include.
const INCLUDES: &[(&str, &str)] = &[
    ("view_uniforms.wgsl", include_str!("forward/view_uniforms.wgsl")),
    ("view_fields.wgsl", include_str!("forward/view_fields.wgsl")),
    ("local_lights.wgsl", include_str!("forward/local_lights.wgsl")),
    ("decals.wgsl", include_str!("forward/decals.wgsl")),
    ("light_textures.wgsl", include_str!("forward/light_textures.wgsl")),
    ("light_reach.wgsl", include_str!("forward/light_reach.wgsl")),
    ("fog_grid.wgsl", include_str!("fog/fog_grid.wgsl")),
    ("fog_inputs.wgsl", include_str!("fog/fog_inputs.wgsl")),
    ("froxel_fog.wgsl", include_str!("fog/froxel_fog.wgsl")),
    ("mesh_draw.wgsl", include_str!("forward/mesh_draw.wgsl")),
    ("draw_fields.wgsl", include_str!("forward/draw_fields.wgsl")),
    ("lighting.wgsl", include_str!("forward/lighting.wgsl")),
    ("area_lights.wgsl", include_str!("forward/area_lights.wgsl")),
    ("soft_shadows.wgsl", include_str!("forward/soft_shadows.wgsl")),
    ("surface_interface.wgsl", include_str!("forward/surface_interface.wgsl")),
    ("debug_values.wgsl", include_str!("forward/debug_values.wgsl")),
    ("debug_surface.wgsl", include_str!("forward/debug_surface.wgsl")),
    ("debug_image.wgsl", include_str!("forward/debug_image.wgsl")),
    ("lobes.wgsl", include_str!("forward/lobes.wgsl")),
    ("functions_without_light.wgsl", include_str!("forward/functions_without_light.wgsl")),
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
    ("skinning", include_str!("forward/skinning.wgsl")),
    ("outline_shapes", include_str!("forward/outline_shapes.wgsl")),
    ("outlines", include_str!("forward/outlines.wgsl")),
    ("light_behind", include_str!("forward/light_behind.wgsl")),
    ("fog_scatter", include_str!("fog/fog_scatter.wgsl")),
    ("fog_integrate", include_str!("fog/fog_integrate.wgsl")),
    ("fog_over_sky", include_str!("fog/fog_over_sky.wgsl")),
    ("sky", include_str!("forward/sky.wgsl")),
    ("background", include_str!("sky/background.wgsl")),
    ("sky_maps", include_str!("sky/sky_maps.wgsl")),
    ("tonemap", include_str!("forward/tonemap.wgsl")),
    ("particles", include_str!("forward/particles.wgsl")),
    ("exposure", include_str!("post/exposure.wgsl")),
    ("bloom", include_str!("post/bloom.wgsl")),
    ("grade", include_str!("post/grade.wgsl")),
    ("smaa", include_str!("post/smaa.wgsl")),
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
    with_samples(assemble(find(SHADERS, name), &[]), samples)
}

/// Returns the source of the tone mapping that shows a debug view, for light with `samples` or, if
/// `is_resolved`, an image with one sample per pixel.
pub fn debug_image_source(samples: u32, is_resolved: bool) -> String {
    let whole = with_samples(assemble(find(SHADERS, "tonemap"), &["debug"]), samples);
    if is_resolved { resolved(&whole) } else { whole }
}

fn with_samples(whole: String, samples: u32) -> String {
    if samples > 1 { whole } else { whole.replace("_multisampled_2d", "_2d") }
}

/// Returns a source whose light has one sample per pixel.
fn resolved(source: &str) -> String {
    let light = "var light: texture_multisampled_2d<f32>";
    source.replacen(light, "var light: texture_2d<f32>", 1)
}

/// Returns the source of a shader for light with one sample per pixel, while the depth has
/// `samples`.
pub fn source_of_resolved_light(name: &str, samples: u32) -> String {
    resolved(&source(name, samples))
}

/// The variant of the shader of particles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParticleVariant {
    /// In the light and the fog of a view.
    Lit,
    /// They displace what is behind them.
    Distorting,
}

/// Returns the source of a variant of the shader of particles.
pub fn particle_source(variant: ParticleVariant, samples: u32) -> String {
    let name = match variant {
        ParticleVariant::Lit => "scene",
        ParticleVariant::Distorting => "distortion",
    };
    with_samples(assemble(find(SHADERS, "particles"), &[name]), samples)
}

/// The variant of a shader of meshes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeshVariant {
    Plain,
    /// The surfaces let light through.
    Transmission,
    /// Values are shown instead of light.
    Debug,
}

/// Returns the source of a shader of meshes. `custom`: it calls a game's surface functions, which
/// it does not declare.
pub fn mesh_source(name: &str, custom: bool, variant: MeshVariant) -> String {
    let mut variants = if custom { vec!["custom"] } else { Vec::new() };
    match variant {
        MeshVariant::Plain => {}
        MeshVariant::Transmission => variants.push("transmission"),
        MeshVariant::Debug => variants.push("debug"),
    }
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
    use crate::scene::{
        CASCADES_MAX, CLUSTER_COLUMNS, CLUSTER_COUNT_BITS, CLUSTER_ROWS, CLUSTER_SLICES,
        SURFACE_INDEX_BITS,
    };
    use engine_frame_packet::debug_view::DebugView;
    use engine_frame_packet::fog_volume::VIEW_FOG_VOLUMES_MAX;
    use engine_frame_packet::reflection_probe::VIEW_PROBES_MAX;
    use engine_frame_packet::scene::SUNS_MAX;
    use engine_frame_packet::shading_environment::celestial;

    #[test]
    fn the_shaders_have_the_same_constants_as_the_packet() {
        let files = ["view_uniforms.wgsl", "light_reach.wgsl", "mesh_draw.wgsl", "fog_inputs.wgsl"];
        let all = files.map(|name| find(INCLUDES, name)).concat();
        for (name, value) in [
            ("SUNS_MAX", SUNS_MAX),
            ("CASCADES_MAX", CASCADES_MAX),
            ("CLUSTER_COLUMNS", CLUSTER_COLUMNS),
            ("CLUSTER_ROWS", CLUSTER_ROWS),
            ("CLUSTER_SLICES", CLUSTER_SLICES),
            ("CLUSTER_COUNT_BITS", CLUSTER_COUNT_BITS as usize),
            ("VIEW_PROBES_MAX", VIEW_PROBES_MAX),
            ("VIEW_FOG_VOLUMES_MAX", VIEW_FOG_VOLUMES_MAX),
            ("SURFACE_INDEX_BITS", SURFACE_INDEX_BITS as usize),
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
    fn the_shaders_of_variants_are_valid() {
        let mesh = |variant| mesh_source("mesh", false, variant);
        let images = [(1, false), (4, false), (4, true)];
        let images = images.map(|(samples, resolved)| debug_image_source(samples, resolved));
        let particles = [ParticleVariant::Lit, ParticleVariant::Distorting];
        let particles =
            particles.into_iter().flat_map(|it| [1, 4].map(|samples| particle_source(it, samples)));
        let images = images.into_iter().chain(particles);
        for source in
            [mesh(MeshVariant::Transmission), mesh(MeshVariant::Debug)].into_iter().chain(images)
        {
            let module = wgpu::naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
            let flags = wgpu::naga::valid::ValidationFlags::all();
            let able = wgpu::naga::valid::Capabilities::empty();
            wgpu::naga::valid::Validator::new(flags, able).validate(&module).unwrap();
        }
        let plain = mesh(MeshVariant::Plain);
        assert!(!plain.contains("light_behind") && !plain.contains("debug_"));
        assert!(!source("tonemap", 4).contains("debug_"));
    }

    #[test]
    fn large_shaders_hide_uniforms_from_software_adapters() {
        // A driver compiled these again for each frame, and kept megabytes each time.
        let mesh = |custom, variant| mesh_source("mesh", custom, variant);
        for shader in [
            mesh(false, MeshVariant::Plain),
            mesh(true, MeshVariant::Plain),
            mesh(false, MeshVariant::Transmission),
            source("fog_scatter", 1),
            particle_source(ParticleVariant::Lit, 1),
        ] {
            assert!(shader.contains("    hide_uniforms(in.clip.xy);"));
            let is_condition = |line: &&str| {
                ["if ", "} else if ", "for (", "while ", "return SKY_MAPS && "]
                    .iter()
                    .any(|start| line.trim_start().starts_with(start))
            };
            let reads = |line: &&str| line.contains("view.") || line.contains("fog.");
            for line in shader.lines().filter(is_condition).filter(reads) {
                assert!(line.contains("hidden(") || line.contains("hidden_count("), "{line}");
            }
        }
    }

    #[test]
    fn debug_views_have_the_numbers_of_the_packet() {
        let values = find(INCLUDES, "debug_values.wgsl");
        for (number, (_, name)) in DebugView::NAMES.iter().enumerate().skip(1) {
            let line = format!("const DEBUG_{}: u32 = {number}u;", name.to_uppercase());
            assert!(values.contains(&line), "{line}");
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
