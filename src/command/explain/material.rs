//! Description of materials for `engine explain`: what their pipelines depend on, and the variants
//! of pipelines that the renderer makes for them.

use engine_foundation::Error;
use engine_resource::material_data::{BLENDS, MaterialData, ShaderData, SurfaceFunctions};
use engine_resource::surface_source::{ALPHAS, SurfaceSource};

/// A variant of a pipeline: the pass, and the kind of mesh.
struct PipelineVariant {
    pass: &'static str,
    /// The features that distinguish it, such as "mask" and "both sides".
    features: Vec<&'static str>,
}

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
    let variants = variants(surface, functions);
    let mut text = format!("material {name}, for meshes\n");
    let declared: Vec<&str> = functions.map_or(Vec::new(), |it| {
        let all = [
            (it.surface, "surface"),
            (it.vertex_offset, "vertex_offset"),
            (it.final_color, "final_color"),
        ];
        all.into_iter().filter(|(is_declared, _)| *is_declared).map(|(_, name)| name).collect()
    });
    let created = match functions {
        Some(_) => {
            text += &format!("  functions: {}\n", declared.join(", "));
            "its own, made while it is loaded"
        }
        None => "shared by all materials with the same features, made for the first draw",
    };
    text += &format!("  pipelines ({created}):\n");
    for PipelineVariant { pass, features } in &variants {
        let features = match features.is_empty() {
            true => "plain".to_string(),
            false => features.join(", "),
        };
        text += &format!("    {pass:<16} {features}\n");
    }
    text + "  each for meshes with and without joints or morph targets; in light, also for poses \
            that mirror the mesh\n"
}

/// Returns the variants of pipelines of a surface.
fn variants(surface: &SurfaceSource, functions: Option<SurfaceFunctions>) -> Vec<PipelineVariant> {
    let of_shader = functions.unwrap_or_default();
    let alpha = ALPHAS[usize::from(surface.alpha)];
    let has_lobes = !surface.unlit && (surface.lobes.are_used() || of_shader.lobes);
    let transmits = has_lobes && (surface.lobes.transmission > 0.0 || of_shader.transmission);
    let flags = [
        (alpha == "mask", "mask"),
        (alpha == "blend" || transmits, "transparent"),
        (surface.double_sided, "both sides"),
        (has_lobes, "lobes"),
        (transmits, "transmission"),
    ];
    let features: Vec<&str> =
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
    let is_transparent = alpha == "blend" || transmits;
    let mut all = vec![PipelineVariant { pass: "light", features: features.clone() }];
    if functions.is_none() && !surface.unlit {
        let features = [&features[..], &["lit by sky maps or probes"]].concat();
        all.push(PipelineVariant { pass: "light", features });
    }
    if !is_transparent {
        let mask: Vec<&str> = features.iter().copied().filter(|it| *it == "mask").collect();
        all.push(PipelineVariant { pass: "shadow maps", features: mask.clone() });
        for pass in ["depth prepass", "motion vectors"] {
            all.push(PipelineVariant { pass, features: mask.clone() });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(surface: SurfaceSource, functions: Option<SurfaceFunctions>) -> String {
        let shader = functions.map(|_| "shaders/wind".to_string());
        let material = MaterialData { shader, surface: Some(surface), ..MaterialData::default() };
        let data = ShaderData { surface: functions, ..ShaderData::default() };
        of_material("tree", &material.write(), |_| Ok(data.write())).unwrap()
    }

    #[test]
    fn variants_follow_from_the_features() {
        let plain = described(SurfaceSource::DEFAULT, None);
        assert!(plain.contains("    light            plain\n"), "{plain}");
        assert!(plain.contains("    light            lit by sky maps or probes\n"), "{plain}");
        assert!(plain.contains("    shadow maps      plain\n"), "{plain}");
        let leaves = SurfaceSource { alpha: 1, double_sided: true, ..SurfaceSource::DEFAULT };
        let wind = SurfaceFunctions { vertex_offset: true, ..SurfaceFunctions::default() };
        let leaves = described(leaves, Some(wind));
        assert!(leaves.contains("  functions: vertex_offset\n"), "{leaves}");
        assert!(leaves.contains("its own, made while it is loaded"), "{leaves}");
        assert!(leaves.contains("    light            mask, both sides\n"), "{leaves}");
        assert!(leaves.contains("    shadow maps      mask\n"), "{leaves}");
        let mut glass = SurfaceSource::DEFAULT;
        glass.lobes.transmission = 1.0;
        let glass = described(glass, None);
        assert!(glass.contains("transparent, lobes, transmission"), "{glass}");
        assert!(!glass.contains("shadow maps"), "{glass}");
        let picture = MaterialData { blend: 1, ..MaterialData::default() };
        let text = of_material("glow", &picture.write(), |_| Ok(Vec::new())).unwrap();
        assert!(text.contains("for pictures\n  blend: add"), "{text}");
        assert!(of_material("broken", b"", |_| Ok(Vec::new())).is_err());
    }
}
