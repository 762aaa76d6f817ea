//! The table of render passes: every step that draws a view, in the order in which they run. A row
//! says what the pass reads and writes, its shaders, the settings that change it, and when it runs.
//! view_encode.rs executes the rows, and chooses from them the attachments, what is cleared, and
//! what is stored. A new pass is a new row here.
//!
//! Rows that draw onto the same attachments share one GPU render pass, unless a row samples
//! what the pass before it draws.

use super::fog::FOG_PASS;
use super::screen_space;
use super::sky::SKY_MAPS_PASS;
use super::view_encode::ViewEncoder;

/// An image that passes draw and read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassResource {
    /// The shadow maps of the view's lights: depth from the light. Those of omni and spot lights
    /// are shared by all views, and drawn before the first view.
    ShadowMaps,
    /// The maps of the view's sky: its atmosphere and its light, filtered for surfaces.
    SkyMaps,
    /// The froxel fog of the view, summed from the camera on.
    Fog,
    /// The light that reaches the camera, as half floats, before tone mapping.
    Light,
    /// The depth of the view's scene.
    Depth,
    /// The light behind surfaces that let it through, with levels of decreasing size.
    LightBehind,
    /// The exposure of the view, which follows its light.
    Exposure,
    /// The light that bloom scatters.
    Bloom,
    /// The tone-mapped image, for effects that need all of it.
    Image,
    /// The depth of the opaque objects with one sample per pixel, for screen-space effects.
    ScreenDepth,
    /// Ambient occlusion and contact shadows of each pixel.
    Occlusion,
    /// The light with one sample per pixel, which screen-space effects change one after the other.
    ResolvedLight,
    /// Motion of each pixel since the previous frame.
    MotionVectors,
    /// The shapes of objects with outlines, and the nearest shapes of each pixel.
    Outlines,
    /// The view's part of its target: the screen, a window or a texture. It has an image before
    /// the first pass, and if world Guis follow, a depth buffer of its own.
    Target,
}

/// A resource that a pass draws onto.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassWrite {
    /// Draws onto a cleared image. Every resource but the target is cleared by its first pass.
    Clear(PassResource),
    /// Draws over what the passes before have drawn.
    Keep(PassResource),
}

impl PassWrite {
    pub fn resource(self) -> PassResource {
        let (PassWrite::Clear(resource) | PassWrite::Keep(resource)) = self;
        resource
    }
}

/// The images that a GPU render pass draws onto together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attachments {
    /// One shadow map after the other: the pass runs once for each.
    ShadowMap,
    /// The depth of screen-space effects.
    ScreenDepth,
    /// One image after the other: the pass runs once for each step that has its name
    /// (screen_space/steps.rs).
    ScreenSteps,
    /// One map of a sky after the other, as shadow maps.
    SkyMap,
    /// Light, and the depth buffer, which is read-only for rows that do not write the depth.
    Scene,
    /// One level of the light behind surfaces after the other: the pass runs once for each.
    LightBehind,
    /// The images of outlines: the pass runs once for each.
    Outlines,
    /// The froxels, and then their sum: the pass runs once for each.
    Fog,
    Target,
    /// Images of a post effect: the pass runs once for each of its steps.
    Post(PassResource),
}

/// One render pass.
pub struct PassRow {
    /// Unique name.
    pub name: &'static str,
    /// Resources that its shaders sample.
    pub reads: &'static [PassResource],
    /// Resources that it draws onto; all belong to the same attachments.
    pub writes: &'static [PassWrite],
    /// Names of its shaders in [`super::shader_sources`].
    pub shaders: &'static [&'static str],
    /// The project's settings that change it.
    pub settings: &'static [&'static str],
    /// Returns true if the pass runs for this view.
    pub runs: fn(&ViewEncoder) -> bool,
    /// Encodes its draws.
    pub encode: fn(&ViewEncoder, &mut wgpu::RenderPass),
}

impl PassRow {
    pub fn attachments(&self) -> Attachments {
        match self.writes[0].resource() {
            PassResource::ShadowMaps => Attachments::ShadowMap,
            PassResource::SkyMaps => Attachments::SkyMap,
            PassResource::Light | PassResource::Depth => Attachments::Scene,
            PassResource::LightBehind => Attachments::LightBehind,
            PassResource::Fog => Attachments::Fog,
            PassResource::ScreenDepth => Attachments::ScreenDepth,
            PassResource::Occlusion | PassResource::ResolvedLight | PassResource::MotionVectors => {
                Attachments::ScreenSteps
            }
            PassResource::Outlines => Attachments::Outlines,
            PassResource::Target => Attachments::Target,
            resource @ (PassResource::Exposure | PassResource::Bloom | PassResource::Image) => {
                Attachments::Post(resource)
            }
        }
    }

    pub fn does_read(&self, resource: PassResource) -> bool {
        self.reads.contains(&resource)
    }

    pub fn does_write(&self, resource: PassResource) -> bool {
        self.writes.iter().any(|write| write.resource() == resource)
    }
}

/// The settings of passes that show post effects.
const GRADED_SETTINGS: &[&str] = &[
    "render.smooth_edges",
    "render.antialiasing",
    "render.scale",
    "render.frame_ms",
    "render.scale_min",
];

/// All passes, in order.
pub static RENDER_PASSES: &[PassRow] = &[
    PassRow {
        name: "shadows",
        reads: &[],
        writes: &[PassWrite::Clear(PassResource::ShadowMaps)],
        shaders: &["shadow"],
        settings: &[
            "render.shadow_texels",
            "render.shadow_distance",
            "render.shadow_maps",
            "render.shadow_atlas_texels",
            "render.shadow_tiles_per_frame",
            "render.shadow_filter",
        ],
        runs: |view| view.has_shadows(),
        encode: |view, to| view.draw_shadow(to),
    },
    PassRow {
        name: SKY_MAPS_PASS,
        reads: &[],
        writes: &[PassWrite::Clear(PassResource::SkyMaps)],
        shaders: &["sky_maps"],
        settings: &["render.sky_texels", "render.sky_steps"],
        runs: |view| view.has_sky_maps(),
        encode: |view, to| view.draw_sky_map(to),
    },
    PassRow {
        name: screen_space::DEPTH_PREPASS,
        reads: &[],
        writes: &[PassWrite::Clear(PassResource::ScreenDepth)],
        shaders: &["shadow"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::DEPTH_PREPASS),
        encode: |view, to| view.draw_depth(to),
    },
    PassRow {
        name: screen_space::AMBIENT_OCCLUSION,
        reads: &[PassResource::ScreenDepth],
        writes: &[PassWrite::Clear(PassResource::Occlusion)],
        shaders: &["ambient_occlusion", "ambient_occlusion_blur"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::AMBIENT_OCCLUSION),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: screen_space::CONTACT_SHADOWS,
        reads: &[PassResource::ScreenDepth],
        writes: &[PassWrite::Keep(PassResource::Occlusion)],
        shaders: &["contact_shadows"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::CONTACT_SHADOWS),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: FOG_PASS,
        reads: &[PassResource::ShadowMaps, PassResource::SkyMaps],
        writes: &[PassWrite::Clear(PassResource::Fog)],
        shaders: &["fog_scatter", "fog_integrate"],
        settings: &["render.fog_columns"],
        runs: |view| view.has_fog(),
        encode: |view, to| view.draw_fog(to),
    },
    PassRow {
        name: "opaque objects",
        reads: &[
            PassResource::ShadowMaps,
            PassResource::SkyMaps,
            PassResource::Occlusion,
            PassResource::Fog,
        ],
        writes: &[PassWrite::Clear(PassResource::Light), PassWrite::Clear(PassResource::Depth)],
        shaders: &["mesh", "custom"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_scene(),
        encode: |view, to| view.draw_opaque(to),
    },
    PassRow {
        name: "sky",
        reads: &[PassResource::SkyMaps],
        writes: &[PassWrite::Keep(PassResource::Light)],
        shaders: &["sky", "background"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_sky(),
        encode: |view, to| view.draw_sky(to),
    },
    PassRow {
        name: "fog over the sky",
        // It covers the pixels at which nothing opaque is drawn.
        reads: &[PassResource::Fog],
        writes: &[PassWrite::Keep(PassResource::Light)],
        shaders: &["fog_over_sky"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_fog(),
        encode: |view, to| view.draw_fog_over_sky(to),
    },
    PassRow {
        name: "light behind surfaces",
        // Glass is drawn over what is seen through it.
        reads: &[PassResource::Light],
        writes: &[PassWrite::Clear(PassResource::LightBehind)],
        shaders: &["light_behind"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_transmission(),
        encode: |view, to| view.draw_light_behind(to),
    },
    PassRow {
        name: "transparent objects",
        reads: &[
            PassResource::ShadowMaps,
            PassResource::SkyMaps,
            PassResource::LightBehind,
            PassResource::Fog,
        ],
        writes: &[PassWrite::Keep(PassResource::Light)],
        shaders: &["mesh", "custom"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_scene() && !view.has_particles(),
        encode: |view, to| view.draw_transparent(to),
    },
    PassRow {
        name: "transparent objects and particles",
        // Particles fade where they are close to the surface behind them.
        reads: &[
            PassResource::ShadowMaps,
            PassResource::SkyMaps,
            PassResource::Depth,
            PassResource::LightBehind,
            PassResource::Fog,
        ],
        writes: &[PassWrite::Keep(PassResource::Light)],
        shaders: &["mesh", "custom", "particles"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_particles(),
        encode: |view, to| view.draw_transparent(to),
    },
    PassRow {
        name: screen_space::LIGHT_RESOLVE,
        reads: &[PassResource::Light],
        writes: &[PassWrite::Clear(PassResource::ResolvedLight)],
        shaders: &["light_resolve"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_screen_pass(screen_space::LIGHT_RESOLVE),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: screen_space::MOTION_VECTORS,
        reads: &[PassResource::ScreenDepth],
        writes: &[PassWrite::Clear(PassResource::MotionVectors)],
        shaders: &["motion_vectors"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::MOTION_VECTORS),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: screen_space::OBJECT_MOTION,
        // It is tested against the depth, but samples none.
        reads: &[],
        writes: &[PassWrite::Keep(PassResource::MotionVectors)],
        shaders: &["object_motion"],
        settings: &[],
        runs: |view| view.has_object_motion(),
        encode: |view, to| view.draw_object_motion(to),
    },
    PassRow {
        name: screen_space::TEMPORAL,
        reads: &[PassResource::ScreenDepth, PassResource::MotionVectors],
        writes: &[PassWrite::Keep(PassResource::ResolvedLight)],
        shaders: &["temporal"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::TEMPORAL),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: screen_space::DEPTH_OF_FIELD,
        reads: &[PassResource::ScreenDepth],
        writes: &[PassWrite::Keep(PassResource::ResolvedLight)],
        shaders: &["depth_of_field_tiles", "depth_of_field"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::DEPTH_OF_FIELD),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: screen_space::MOTION_BLUR,
        reads: &[PassResource::ScreenDepth, PassResource::MotionVectors],
        writes: &[PassWrite::Keep(PassResource::ResolvedLight)],
        shaders: &["motion_blur_tiles", "motion_blur"],
        settings: &[],
        runs: |view| view.has_screen_pass(screen_space::MOTION_BLUR),
        encode: |view, to| view.draw_screen_step(to),
    },
    PassRow {
        name: "exposure",
        reads: &[PassResource::Light, PassResource::ResolvedLight],
        writes: &[PassWrite::Clear(PassResource::Exposure)],
        shaders: &["exposure"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_post_steps(PassResource::Exposure),
        encode: |view, to| view.draw_post_step(to),
    },
    PassRow {
        name: "bloom",
        reads: &[PassResource::Light, PassResource::ResolvedLight, PassResource::Exposure],
        writes: &[PassWrite::Clear(PassResource::Bloom)],
        shaders: &["bloom"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_post_steps(PassResource::Bloom),
        encode: |view, to| view.draw_post_step(to),
    },
    PassRow {
        name: "tone-mapped image",
        reads: &[
            PassResource::Light,
            PassResource::ResolvedLight,
            PassResource::Exposure,
            PassResource::Bloom,
        ],
        writes: &[PassWrite::Clear(PassResource::Image)],
        shaders: &["grade", "smaa", "finish"],
        settings: GRADED_SETTINGS,
        runs: |view| view.has_post_steps(PassResource::Image),
        encode: |view, to| view.draw_post_step(to),
    },
    PassRow {
        name: OUTLINE_PASSES[0],
        // Shapes that are hidden are tested against the depth.
        reads: &[PassResource::Depth],
        writes: &[PassWrite::Clear(PassResource::Outlines)],
        shaders: &["outline_shapes", "outlines"],
        settings: &[],
        runs: |view| view.has_outlines(),
        encode: |view, to| view.draw_outline_step(to),
    },
    PassRow {
        name: "background",
        reads: &[],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["gui"],
        settings: &[],
        runs: |view| view.has_fill(),
        encode: |view, to| view.draw_fill(to),
    },
    PassRow {
        name: "tone mapping",
        reads: &[PassResource::Light, PassResource::ResolvedLight],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["tonemap"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_scene() && !view.has_post() && !view.has_world_guis(),
        encode: |view, to| view.tonemap(to),
    },
    PassRow {
        name: "tone mapping with depth",
        // World Guis are tested against the scene's depth.
        reads: &[PassResource::Light, PassResource::ResolvedLight, PassResource::Depth],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["tonemap"],
        settings: &["render.smooth_edges"],
        runs: |view| view.has_scene() && !view.has_post() && view.has_world_guis(),
        encode: |view, to| view.tonemap(to),
    },
    PassRow {
        name: "graded tone mapping",
        reads: &[
            PassResource::Light,
            PassResource::ResolvedLight,
            PassResource::Exposure,
            PassResource::Bloom,
            PassResource::Image,
        ],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["grade", "finish"],
        settings: GRADED_SETTINGS,
        runs: |view| view.has_post() && !view.has_world_guis(),
        encode: |view, to| view.draw_post(to),
    },
    PassRow {
        name: "graded tone mapping with depth",
        reads: &[
            PassResource::Light,
            PassResource::ResolvedLight,
            PassResource::Depth,
            PassResource::Exposure,
            PassResource::Bloom,
            PassResource::Image,
        ],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["grade", "finish"],
        settings: GRADED_SETTINGS,
        runs: |view| view.has_post() && view.has_world_guis(),
        encode: |view, to| view.draw_post(to),
    },
    PassRow {
        name: OUTLINE_PASSES[1],
        reads: &[PassResource::Outlines],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["outlines"],
        settings: &[],
        runs: |view| view.has_outlines(),
        encode: |view, to| view.draw_outlines(to),
    },
    PassRow {
        name: "guis",
        reads: &[],
        writes: &[PassWrite::Keep(PassResource::Target)],
        shaders: &["gui"],
        settings: &[],
        runs: |_| true,
        encode: |view, to| view.draw_guis(to),
    },
];

/// The passes that consist of several rows, by their rows: a render config names the pass once.
static ROW_PASSES: &[(&str, &str)] = &[
    (screen_space::DEPTH_PREPASS, OCCLUSION_PASS),
    (screen_space::AMBIENT_OCCLUSION, OCCLUSION_PASS),
    (screen_space::CONTACT_SHADOWS, OCCLUSION_PASS),
    ("fog over the sky", "sky"),
    ("light behind surfaces", "transparent objects"),
    ("transparent objects and particles", "transparent objects"),
    (screen_space::LIGHT_RESOLVE, SCREEN_PASS),
    (screen_space::MOTION_VECTORS, SCREEN_PASS),
    (screen_space::OBJECT_MOTION, SCREEN_PASS),
    (screen_space::TEMPORAL, SCREEN_PASS),
    (screen_space::DEPTH_OF_FIELD, SCREEN_PASS),
    (screen_space::MOTION_BLUR, SCREEN_PASS),
    ("exposure", POST_PASS),
    ("bloom", POST_PASS),
    ("tone-mapped image", POST_PASS),
    ("tone mapping with depth", "tone mapping"),
    ("graded tone mapping", "tone mapping"),
    ("graded tone mapping with depth", "tone mapping"),
];

/// The passes of effects, which are off in views whose frame lacks them.
pub const OCCLUSION_PASS: &str = "screen-space occlusion";
pub const SCREEN_PASS: &str = "screen-space effects";
pub const POST_PASS: &str = "post effects";
/// The passes of outlines, which are off in views whose frame lacks one of them.
pub const OUTLINE_PASSES: [&str; 2] = ["outline shapes", "outlines"];

/// The passes that a view can do without, and the images that later passes then do not sample.
pub static OPTIONAL_PASSES: &[(&str, &[PassResource])] = &[
    ("shadows", &[PassResource::ShadowMaps]),
    (SKY_MAPS_PASS, &[PassResource::SkyMaps]),
    (OCCLUSION_PASS, &[PassResource::Occlusion]),
    (FOG_PASS, &[PassResource::Fog]),
    (SCREEN_PASS, &[PassResource::ResolvedLight]),
    (OUTLINE_PASSES[0], &[PassResource::Outlines]),
    (POST_PASS, &[PassResource::Exposure, PassResource::Bloom, PassResource::Image]),
];

/// Returns the name of the pass that a row belongs to, as render configs name it.
pub fn pass_name(row: &PassRow) -> &'static str {
    let found = ROW_PASSES.iter().find(|(name, _)| *name == row.name);
    found.map_or(row.name, |(_, pass)| pass)
}

/// Cuts the rows of a view, in order, into runs that share a GPU render pass.
pub fn shared_passes<'a, 'b>(rows: &'b [&'a PassRow]) -> impl Iterator<Item = &'b [&'a PassRow]> {
    let mut left = rows;
    std::iter::from_fn(move || {
        let first = *left.first()?;
        let is_apart = |end: &usize| {
            let (before, row) = (&left[..*end], left[*end]);
            let samples = |write: &PassWrite| row.does_read(write.resource());
            row.attachments() != first.attachments()
                || before.iter().any(|other| other.writes.iter().any(samples))
        };
        let end = (1..left.len()).find(is_apart).unwrap_or(left.len());
        let (run, rest) = left.split_at(end);
        left = rest;
        Some(run)
    })
}

#[cfg(test)]
#[path = "render_passes_tests.rs"]
mod tests;
