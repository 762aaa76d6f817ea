//! Description of materials for `engine explain`: what their pipelines depend on, and the variants
//! of pipelines that the renderer makes for them.

use engine_foundation::Error;
use engine_render::{PipelineVariant, pipeline_variants};
use engine_resource::material_data::{BLENDS, MaterialData, ShaderData};
use engine_resource::surface_source::SurfaceSource;

/// Describes a material in compiled form. `shader` returns the compiled form of its shader.
pub fn of_material(
    name: &str,
    bytes: &[u8],
    shader: impl FnOnce(&str) -> Result<Vec<u8>, Error>,
) -> Result<String, Error> {
    let material = MaterialData::read(bytes)?;
    let shader = match &material.shader {
        Some(shader_name) => Some((&shader_name[..], ShaderData::read(&shader(shader_name)?)?)),
        None => None,
    };
    let mut text = match &material.surface {
        Some(surface) => of_meshes(name, surface, shader.as_ref().map(|(_, data)| data)),
        None => of_pictures(name, &material),
    };
    if let Some((shader_name, data)) = &shader {
        text += &format!(
            "  shader {shader_name}: {} bytes of WGSL, {} variables ({} bytes), {} textures\n",
            data.source.len(),
            data.variables.len(),
            data.variable_bytes,
            data.textures.len()
        );
    }
    Ok(text)
}

/// Describes a material for pictures.
fn of_pictures(name: &str, material: &MaterialData) -> String {
    let blend = BLENDS[usize::from(material.blend)];
    format!(
        "material {name}, for pictures\n  blend: {blend}\n  variants: one pipeline for each kind \
         of target, for Guis; for sprites and particles, one with and one without a mask\n"
    )
}

fn of_meshes(name: &str, surface: &SurfaceSource, shader: Option<&ShaderData>) -> String {
    let functions = shader.and_then(|data| data.surface);
    let mut text = format!("material {name}, for meshes\n");
    let declared: Vec<&str> = functions.map_or(Vec::new(), |it| {
        let all = [
            (it.surface, "surface"),
            (it.vertex_offset, "vertex_offset"),
            (it.final_color, "final_color"),
        ];
        all.into_iter().filter(|(is_declared, _)| *is_declared).map(|(_, name)| name).collect()
    });
    if functions.is_some() {
        text += &format!("  functions: {}\n", declared.join(", "));
    }
    text += "  pipelines:\n";
    for PipelineVariant { pass, mut features, calls_functions } in
        pipeline_variants(surface, functions)
    {
        if calls_functions {
            features.push("functions");
        }
        let features = match features.is_empty() {
            true => "plain".to_string(),
            false => features.join(", "),
        };
        text += &format!("    {pass:<16} {features}\n");
    }
    if functions.is_some() {
        text += "  with functions: for this shader alone; those of light and shadow maps are \
                 created while it is loaded\n";
    }
    text + "  without functions: shared by all materials with the same features, created for the \
            first draw\n  each for meshes with and without joints or morph targets; except in \
            shadow maps, also for poses that mirror the mesh\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::material_data::SurfaceFunctions;

    fn described(surface: SurfaceSource, functions: Option<SurfaceFunctions>) -> String {
        let shader = functions.map(|_| "shaders/wind".to_string());
        let material = MaterialData { shader, surface: Some(surface), ..MaterialData::default() };
        let data = ShaderData { surface: functions, ..ShaderData::default() };
        of_material("tree", &material.write(), |_| Ok(data.write())).unwrap()
    }

    #[test]
    fn variants_follow_from_the_features() {
        let has = |text: &str, pass: &str, features: &str| {
            let line = format!("    {pass:<16} {features}\n");
            assert!(text.contains(&line), "{line:?} is not in:\n{text}");
        };
        let plain = described(SurfaceSource::DEFAULT, None);
        has(&plain, "light", "plain");
        has(&plain, "light", "in views with sky maps or probes");
        has(&plain, "shadow maps", "plain");
        assert!(!plain.contains("with functions:"), "{plain}");
        let leaves = SurfaceSource { alpha: 1, double_sided: true, ..SurfaceSource::DEFAULT };
        let wind = SurfaceFunctions { vertex_offset: true, ..SurfaceFunctions::default() };
        let moved = described(leaves.clone(), Some(wind));
        assert!(moved.contains("  functions: vertex_offset\n"), "{moved}");
        has(&moved, "light", "mask, both sides, functions");
        has(&moved, "shadow maps", "mask, functions");
        has(&moved, "depth prepass", "mask, both sides, functions");
        has(&moved, "motion vectors", "mask, both sides, functions");
        assert!(!moved.contains("sky maps"), "{moved}");
        // A color changes no outline.
        let tint = SurfaceFunctions { final_color: true, ..SurfaceFunctions::default() };
        let tinted = described(leaves, Some(tint));
        has(&tinted, "light", "mask, both sides, functions");
        has(&tinted, "shadow maps", "mask");
        has(&tinted, "depth prepass", "mask, both sides");
        let mut glass = SurfaceSource::DEFAULT;
        glass.lobes.transmission = 1.0;
        let glass = described(glass, None);
        assert!(glass.contains("transparent, lobes, transmission"), "{glass}");
        assert!(!glass.contains("\n    shadow maps"), "{glass}");
        let picture = MaterialData { blend: 1, ..MaterialData::default() };
        let text = of_material("glow", &picture.write(), |_| Ok(Vec::new())).unwrap();
        assert!(text.contains("for pictures\n  blend: add"), "{text}");
        assert!(of_material("broken", b"", |_| Ok(Vec::new())).is_err());
    }
}
