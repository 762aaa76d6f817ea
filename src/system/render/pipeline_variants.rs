//! The variants of pipelines that a material for meshes needs, for descriptions of materials.

use super::scene::PipelineClass;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame, SurfaceShader};
use engine_resource::material_data::SurfaceFunctions;
use engine_resource::surface_source::{ALPHAS, SurfaceSource};

/// A variant of a pipeline: the pass, and the features that distinguish it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineVariant {
    pub pass: &'static str,
    pub features: Vec<&'static str>,
    /// True if it calls surface functions: only materials with the same shader share it.
    pub calls_functions: bool,
}

impl PipelineVariant {
    fn new(pass: &'static str, class: PipelineClass) -> PipelineVariant {
        let names = [
            (PipelineClass::MASK, "mask"),
            (PipelineClass::BLEND, "transparent"),
            (PipelineClass::DOUBLE, "both sides"),
            (PipelineClass::LOBES, "lobes"),
            (PipelineClass::TRANSMISSION, "transmission"),
        ];
        let named = names.into_iter().filter(|(bit, _)| class.has(*bit));
        let features = named.map(|(_, name)| name).collect();
        PipelineVariant { pass, features, calls_functions: class.has(PipelineClass::FUNCTIONS) }
    }
}

/// Returns the variants of a surface, without those for meshes with joints and for mirrored poses.
/// `functions`: those that its shader declares.
pub fn pipeline_variants(
    surface: &SurfaceSource,
    functions: Option<SurfaceFunctions>,
) -> Vec<PipelineVariant> {
    let alpha = match ALPHAS[usize::from(surface.alpha)] {
        "mask" => SurfaceAlphaMode::Mask(surface.alpha_cutoff),
        "blend" => SurfaceAlphaMode::Blend,
        _ => SurfaceAlphaMode::Opaque,
    };
    let shader = |functions| SurfaceShader {
        material: MaterialSlot::BUILT_IN,
        functions,
        offset_max: surface.offset_max,
    };
    let class = PipelineClass::of_surface(&SurfaceFrame {
        alpha,
        double_sided: surface.double_sided,
        unlit: surface.unlit,
        lobes: surface.lobes,
        shader: functions.map(shader),
        ..SurfaceFrame::DEFAULT
    });
    let mut all = vec![PipelineVariant::new("light", class)];
    if functions.is_none() {
        let mut of_maps = PipelineVariant::new("light", class);
        of_maps.features.push("in views with sky maps or probes");
        all.push(of_maps);
    }
    if !class.has(PipelineClass::BLEND) {
        let mut of_decals = PipelineVariant::new("light", class);
        of_decals.features.push("in views with decals");
        all.push(of_decals);
        if functions.is_none() {
            let mut of_both = PipelineVariant::new("light", class);
            of_both.features.push("in views with decals and sky maps or probes");
            all.push(of_both);
        }
    }
    let functions = functions.unwrap_or_default();
    let shadows = class.in_shadow_maps(functions);
    all.extend(shadows.map(|class| PipelineVariant::new("shadow maps", class)));
    if let Some(outline) = class.outline() {
        let prepass = class.in_prepass_with(functions).unwrap_or(outline);
        all.push(PipelineVariant::new("depth prepass", prepass));
        let motion = class.in_motion_with(functions).unwrap_or(outline);
        all.push(PipelineVariant::new("motion vectors", motion));
    }
    all.push(PipelineVariant::new("outlines", class.shape()));
    all
}
