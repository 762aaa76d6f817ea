//! The class of a batch: what its pipelines depend on, in each pass. Creates no pipelines.

use engine_frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame};
use engine_resource::material_data::SurfaceFunctions;

/// The bits of a class that decide which pixels its triangles cover.
const OUTLINE_BITS: u16 =
    PipelineClass::MASK | PipelineClass::DOUBLE | PipelineClass::MIRRORED | PipelineClass::DEFORMED;

/// The pipeline class of a batch, as bits: each combination has its own pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct PipelineClass(pub u16);

impl PipelineClass {
    /// Pixels with too little alpha are discarded.
    pub const MASK: u16 = 1;
    /// Both sides of the triangles are drawn.
    pub const DOUBLE: u16 = 2;
    /// The pose mirrors the mesh, so the other side is the front.
    pub const MIRRORED: u16 = 4;
    /// Draws into a shadow map.
    pub const SHADOW: u16 = 8;
    /// Transparent.
    pub const BLEND: u16 = 16;
    /// The mesh has joints or morph targets.
    pub const DEFORMED: u16 = 32;
    /// The material has surface functions of a game.
    pub const FUNCTIONS: u16 = 64;
    /// The surface has lobes besides the standard ones.
    pub const LOBES: u16 = 128;
    /// Light from behind comes through the surface.
    pub const TRANSMISSION: u16 = 256;
    /// Draws values of a debug view in place of light. No batch has it: it is set while drawing.
    pub const DEBUG: u16 = 512;
    /// With [`PipelineClass::SHADOW`], draws into the depth prepass of a view instead.
    pub const PREPASS: u16 = 1024;
    /// Decals are projected onto the surface. No batch has it: it is set while drawing, in views
    /// with decals.
    pub const DECALS: u16 = 2048;
    /// Draws motion vectors. No batch has it.
    pub const MOTION: u16 = 4096;
    /// Draws only back faces into shadow maps. Only batches of shadow maps have it.
    pub const BACK_SHADOW: u16 = 8192;

    pub fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// Returns the class of a surface in light, for meshes without joints and morph targets.
    pub fn of_surface(surface: &SurfaceFrame) -> PipelineClass {
        let double = if surface.double_sided { PipelineClass::DOUBLE } else { 0 };
        let functions = if surface.shader.is_some() { PipelineClass::FUNCTIONS } else { 0 };
        let of_shader = surface.shader.map(|shader| shader.functions).unwrap_or_default();
        let lit = !surface.unlit && surface.custom_material.is_none();
        let lobes = lit && (surface.lobes.are_used() || of_shader.lobes);
        let transmits = lobes && (surface.lobes.transmission > 0.0 || of_shader.transmission);
        let lobes = if lobes { PipelineClass::LOBES } else { 0 };
        // Drawn among transparent objects, after everything that is seen through them.
        let through = PipelineClass::TRANSMISSION | PipelineClass::BLEND;
        let double = double | functions | lobes | if transmits { through } else { 0 };
        PipelineClass(match surface.alpha {
            SurfaceAlphaMode::Mask(_) => double | PipelineClass::MASK,
            // A material may paint transparent pixels anywhere.
            SurfaceAlphaMode::Opaque if surface.custom_material.is_none() => double,
            SurfaceAlphaMode::Opaque | SurfaceAlphaMode::Blend => double | PipelineClass::BLEND,
        })
    }

    /// Returns true if functions change the outline of a surface of this class.
    fn has_own_outline(self, functions: SurfaceFunctions) -> bool {
        functions.vertex_offset || self.has(PipelineClass::MASK) && functions.surface
    }

    /// Returns the class in shadow maps; `None`: the surface casts no shadow. Only functions that
    /// change its outline are called.
    pub fn in_shadow_maps(self, functions: SurfaceFunctions) -> Option<PipelineClass> {
        if self.has(PipelineClass::BLEND) {
            return None;
        }
        let called = match self.has_own_outline(functions) {
            true => PipelineClass::FUNCTIONS,
            false => 0,
        };
        let kept = self.0 & (PipelineClass::MASK | PipelineClass::DEFORMED);
        Some(PipelineClass(PipelineClass::SHADOW | kept | called))
    }

    /// Returns the class in the depth prepass with surface functions; `None`: they change no
    /// outline, and the prepass has the engine's own surface.
    pub fn in_prepass_with(self, functions: SurfaceFunctions) -> Option<PipelineClass> {
        let kept = OUTLINE_BITS | PipelineClass::FUNCTIONS;
        let prepass = PipelineClass::SHADOW | PipelineClass::PREPASS;
        let class = PipelineClass(self.0 & kept | prepass);
        self.has_own_outline(functions).then_some(class)
    }

    /// Returns the class in motion vectors with surface functions; `None`: as in
    /// [`PipelineClass::in_prepass_with`].
    pub fn in_motion_with(self, functions: SurfaceFunctions) -> Option<PipelineClass> {
        let kept = OUTLINE_BITS | PipelineClass::FUNCTIONS;
        let class = PipelineClass(self.0 & kept | PipelineClass::MOTION);
        self.has_own_outline(functions).then_some(class)
    }

    /// Returns the part of the class on which pipelines of shapes depend, transparent or not.
    pub fn shape(self) -> PipelineClass {
        PipelineClass(self.0 & OUTLINE_BITS)
    }

    /// Returns the part of the class on which pipelines of the depth prepass and of motion vectors
    /// depend; `None`: transparent surfaces are not drawn there.
    pub fn outline(self) -> Option<PipelineClass> {
        let is_opaque = !self.has(PipelineClass::BLEND);
        is_opaque.then_some(PipelineClass(self.0 & OUTLINE_BITS))
    }
}
