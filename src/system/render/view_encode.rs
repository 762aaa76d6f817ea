//! The encoder of a view: executes the table of render passes (render_passes.rs). It begins a pass
//! of the adapter for the rows that share one, with the attachments that the rows name. The draws
//! themselves are encoded in forward/encode.rs (scenes) and gui_encode.rs (Guis).

mod attachments;

use super::fog;
use super::forward::{ForwardRenderer, SceneResources};
use super::frame_capture::CapturedPass;
use super::generators::{GeneratorPass, GeneratorRenderer, WorldImages};
use super::gpu_timing::GpuTiming;
use super::gui_encode::{EncodeContext, GuiDraws, PassTarget, PreparedFill};
use super::gui_passes::GuiPass;
use super::post::PostStep;
use super::render_passes::{
    Attachments, PassResource, PassRow, PassWrite, RENDER_PASSES, shared_passes,
};
use super::scene::ViewPlan;
use super::screen_space;
use attachments::{
    begin_fog_step, begin_light_behind, begin_post_step, begin_scene, begin_screen_depth,
    begin_shadow, begin_target, color_attachment, depth_attachment, encode_object_motion,
    encode_outlines, encode_screen_steps,
};

/// The scene of a view, if it has one that can be drawn.
struct SceneView<'a> {
    forward: &'a ForwardRenderer,
    resources: SceneResources<'a>,
    /// Index of the view's plan.
    index: usize,
    plan: &'a ViewPlan,
}

/// A view while its passes are encoded.
pub struct ViewEncoder<'a> {
    pass: &'a GuiPass,
    scene: Option<SceneView<'a>>,
    guis: GuiDraws<'a>,
    fill: Option<PreparedFill>,
    /// Index of the shadow that is drawn.
    shadow: usize,
    /// Level of the light behind surfaces that is drawn.
    level: usize,
    /// Number of the step of froxel fog that is drawn.
    fog_step: usize,
    /// Number of the view's screen-space step that is drawn.
    screen_step: usize,
    /// Step of the images of outlines that is drawn.
    outline_step: usize,
    /// The step of a post effect that is drawn.
    post_step: Option<&'a PostStep>,
}

/// The questions that rows ask, and the draws that they encode.
impl ViewEncoder<'_> {
    pub fn has_scene(&self) -> bool {
        self.scene.is_some()
    }

    pub fn has_shadows(&self) -> bool {
        self.scene.as_ref().is_some_and(|scene| !scene.plan.shadows.is_empty())
    }

    pub fn has_sky(&self) -> bool {
        let shown = |scene: &SceneView| scene.plan.uniform.horizon[3] > 0.5;
        self.lit_scene().is_some_and(shown)
    }

    pub fn has_transmission(&self) -> bool {
        self.lit_scene().is_some_and(|scene| scene.plan.transmission)
    }

    /// Returns the scene, unless a debug view is shown in place of its light.
    fn lit_scene(&self) -> Option<&SceneView<'_>> {
        self.scene.as_ref().filter(|scene| !scene.forward.is_debugged())
    }

    pub fn has_fog(&self) -> bool {
        self.lit_scene().is_some_and(|scene| scene.forward.fog().sum(scene.index).is_some())
    }

    pub fn draw_fog(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_fog(to, (scene.index, self.fog_step), &scene.resources);
        }
    }

    pub fn draw_fog_over_sky(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_fog_over_sky(to, scene.index, &scene.resources);
        }
    }

    pub fn draw_light_behind(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_light_behind(to, scene.index, self.level);
        }
    }

    /// Returns false: all views share the maps of skies, which [`encode_sky_maps`] draws before the
    /// first view. The row of the pass says what it writes, for render configs.
    pub fn has_sky_maps(&self) -> bool {
        false
    }

    pub fn has_particles(&self) -> bool {
        self.scene.as_ref().is_some_and(|scene| scene.plan.particles)
    }

    /// Returns true if Guis in the world follow, which are tested against the scene's depth.
    pub fn has_world_guis(&self) -> bool {
        self.pass.world
    }

    pub fn has_fill(&self) -> bool {
        self.fill.is_some()
    }

    /// Returns true if a pass of screen-space effects runs.
    pub fn has_screen_pass(&self, name: &str) -> bool {
        let runs = |scene: &SceneView| scene.forward.screen_space().runs(scene.index, name);
        self.scene.as_ref().is_some_and(runs)
    }

    pub fn draw_depth(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_depth(to, scene.index, &scene.resources);
        }
    }

    pub fn has_object_motion(&self) -> bool {
        let has = |scene: &SceneView| scene.forward.has_object_motion(scene.index);
        self.scene.as_ref().is_some_and(has)
    }

    pub fn draw_object_motion(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_object_motion(to, scene.index, &scene.resources);
        }
    }

    pub fn draw_screen_step(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.screen_space().draw(to, scene.index, self.screen_step);
        }
    }

    pub fn draw_shadow(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_shadow(to, self.shadow, &scene.resources);
        }
    }

    /// Draws nothing ([`ViewEncoder::has_sky_maps`]).
    pub fn draw_sky_map(&self, _: &mut wgpu::RenderPass) {}

    pub fn draw_opaque(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_opaque(to, scene.index, &scene.resources);
        }
    }

    pub fn draw_sky(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_sky(to, scene.index);
        }
    }

    pub fn draw_transparent(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_transparent(to, scene.index, &scene.resources);
        }
    }

    pub fn tonemap(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.tonemap(to, scene.index);
        }
    }

    /// Returns true if the view has post effects, whose last step shows the scene.
    pub fn has_post(&self) -> bool {
        self.scene.as_ref().is_some_and(|scene| scene.forward.has_post(scene.index))
    }

    pub fn has_post_steps(&self, resource: PassResource) -> bool {
        let scene = self.scene.as_ref();
        scene.is_some_and(|scene| !scene.forward.post_steps(scene.index, resource).is_empty())
    }

    pub fn draw_post_step(&self, to: &mut wgpu::RenderPass) {
        if let Some(step) = self.post_step {
            step.draw(to);
        }
    }

    /// Draws the last step of the view's post effects.
    pub fn draw_post(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_post(to, scene.index);
        }
    }

    pub fn has_outlines(&self) -> bool {
        self.lit_scene().is_some_and(|scene| scene.forward.outlines().has(scene.index))
    }

    /// Draws a step of the images of outlines.
    pub fn draw_outline_step(&self, to: &mut wgpu::RenderPass) {
        if let Some(SceneView { forward, resources, index, .. }) = &self.scene {
            forward.draw_outline_step(to, *index, self.outline_step, resources);
        }
    }

    pub fn draw_outlines(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.outlines().draw(to, scene.index);
        }
    }

    pub fn draw_fill(&self, to: &mut wgpu::RenderPass) {
        if let Some(fill) = &self.fill {
            self.guis.draw_fill(to, fill);
        }
    }

    pub fn draw_guis(&self, to: &mut wgpu::RenderPass) {
        self.guis.draw(to, self.pass.viewport);
    }
}

/// Encodes the passes that the frame runs once, for all views.
pub fn encode_shared_maps(context: &mut EncodeContext, encoder: &mut wgpu::CommandEncoder) {
    encode_pre_skinning(context, encoder);
    encode_shadow_atlas(context, encoder);
    encode_sky_maps(context, encoder);
}

/// Encodes the pass that skins meshes which several passes draw.
fn encode_pre_skinning(context: &mut EncodeContext, encoder: &mut wgpu::CommandEncoder) {
    let Some(forward) = context.forward else { return };
    if context.scenes.plans.views.is_empty() || !forward.has_pre_skinning() {
        return;
    }
    context.note_pass(None, || "pre-skinning".to_string());
    let timing = context.timing.as_mut();
    let mut to = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("pre-skinning"),
        timestamp_writes: timing.and_then(|it| it.compute_pass("pre-skinning".to_string())),
    });
    forward.encode_pre_skinning(&mut to);
}

/// Encodes the shadow maps of omni and spot lights that the frame draws, for all views.
fn encode_shadow_atlas(context: &mut EncodeContext, encoder: &mut wgpu::CommandEncoder) {
    let Some(forward) = context.forward else { return };
    let draws = context.scenes.plans.atlas_draws.clone();
    if draws.is_empty() {
        return;
    }
    context.note_pass(None, || "shadows of lamps".to_string());
    let (scenes, textures) = (context.scenes, &*context.textures);
    let resources = SceneResources { scenes, textures, materials: &*context.materials };
    let kept = Some(PassWrite::Keep(PassResource::ShadowMaps));
    let timing = context.timing.as_mut();
    let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("shadow atlas"),
        color_attachments: &[],
        depth_stencil_attachment: Some(depth_attachment(forward.shadow_atlas(), kept, true)),
        timestamp_writes: timing.and_then(|it| it.pass("shadows of lamps".to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    });
    for shadow in draws {
        forward.draw_tile(&mut to, shadow, &resources);
    }
}

/// Encodes the maps of skies and reflection probes that the frame draws, for all views.
fn encode_sky_maps(context: &mut EncodeContext, encoder: &mut wgpu::CommandEncoder) {
    let Some(forward) = context.forward else { return };
    if context.scenes.plans.views.is_empty() {
        // The passes are those of an earlier frame.
        return;
    }
    for pass in forward.sky_passes() {
        context.note_pass(None, || "sky map".to_string());
        let timing = context.timing.as_mut();
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("sky map"),
            color_attachments: &[Some(color_attachment(
                &pass.target,
                Some(wgpu::Color::TRANSPARENT),
            ))],
            depth_stencil_attachment: None,
            timestamp_writes: timing.and_then(|it| it.pass("sky map".to_string())),
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.draw(&mut to);
    }
}

/// Encodes all passes of a view.
pub fn encode_view(
    context: &mut EncodeContext,
    encoder: &mut wgpu::CommandEncoder,
    onto: &PassTarget,
    pass: &GuiPass,
) {
    encode_masks(context, encoder, onto, pass);
    let depth = pass.world.then(|| context.depth(&onto.texture));
    let fill = pass.fill.map(|fill| context.prepare_fill(onto, pass, fill));
    let ready = context.prepare(onto, pass, context.plan);
    let (materials, textures) = (&*context.materials, &*context.textures);
    let scene = pass.scene.zip(context.forward).and_then(|((index, _), forward)| {
        let resources = SceneResources { scenes: context.scenes, textures, materials };
        let plan = &context.scenes.plans.views[index];
        forward.is_shown(index).then_some(SceneView { forward, resources, index, plan })
    });
    let (buffers, masks) = (context.buffers, context.masks);
    let guis = GuiDraws { buffers, textures, materials, masks, ready };
    let (screen_step, outline_step, post_step) = (0, 0, None);
    let (shadow, level, fog_step) = (0, 0, 0);
    let mut view = ViewEncoder {
        pass,
        scene,
        guis,
        fill,
        shadow,
        level,
        fog_step,
        screen_step,
        outline_step,
        post_step,
    };
    if pass.is_first {
        context.generators.begin_view(pass.view);
    }
    let order = ViewOrder::new(context.generators, &view);
    let mut target = TargetState { depth, is_begun: false, is_split: order.is_split() };
    let mut first = 0;
    for (end, generators) in &order.segments {
        let mut start = first;
        for run in shared_passes(&order.rows[first..*end]) {
            start += run.len();
            // A captured frame has the depth too.
            let stores_depth = order.is_depth_read_after(start) || context.passes.is_some();
            let stored = (stores_depth, &mut target);
            if matches!(run[0].attachments(), Attachments::Scene | Attachments::ScreenSteps) {
                let resolves = run.iter().any(|row| row.name == screen_space::LIGHT_RESOLVE);
                context.generators.world_changed(resolves);
            }
            if let Some(passes) = &mut *context.passes {
                let names: Vec<&str> = run.iter().map(|row| row.name).collect();
                passes.push(CapturedPass { view: Some(pass.view), name: names.join(", ") });
            }
            let timing = &mut *context.timing;
            encode_run(timing, encoder, &mut view, run, (onto, pass), stored);
        }
        first = *end;
        for generator in generators {
            if !target.is_begun && context.generators.uses_target(pass.view, *generator) {
                // The target is cleared, even if the engine draws nothing onto it.
                drop(begin_target(encoder, onto, pass, &mut target, context.timing));
            }
            let world = world_images(context, pass);
            if let Some(passes) = &mut *context.passes {
                let name = context.generators.name_of(pass.view, *generator);
                passes.push(CapturedPass { view: Some(pass.view), name });
            }
            let (timing, events) = (&mut *context.timing, &mut *context.events);
            let device = context.device;
            let mut of_pass = GeneratorPass { device, encoder, timing, events, onto, pass, world };
            context.generators.encode(*generator, &mut of_pass);
        }
    }
}

/// Encodes rows that share attachments. `stores_depth`: later passes need the depth.
fn encode_run(
    timing: &mut Option<GpuTiming>,
    encoder: &mut wgpu::CommandEncoder,
    view: &mut ViewEncoder,
    run: &[&'static PassRow],
    (onto, pass): (&PassTarget, &GuiPass),
    (stores_depth, target): (bool, &mut TargetState),
) {
    match run[0].attachments() {
        Attachments::ShadowMap => encode_shadows(timing, encoder, view, run),
        Attachments::ScreenDepth => {
            let Some(mut to) = begin_screen_depth(encoder, view, timing) else { return };
            run.iter().for_each(|row| (row.encode)(view, &mut to));
        }
        Attachments::ScreenSteps => {
            for row in run {
                if row.name == screen_space::OBJECT_MOTION {
                    encode_object_motion(encoder, view, row, timing);
                }
                encode_screen_steps(encoder, view, row, timing);
                let scene = view.scene.as_ref().filter(|_| row.name == screen_space::TEMPORAL);
                if let Some(scene) = scene {
                    scene.forward.screen_space().copy_light(encoder, scene.index);
                }
            }
        }
        // They precede all views (encode_sky_maps).
        Attachments::SkyMap => {}
        Attachments::Scene => {
            let to = begin_scene(encoder, view, run, stores_depth, timing);
            let Some(mut to) = to else { return };
            run.iter().for_each(|row| (row.encode)(view, &mut to));
        }
        Attachments::LightBehind => encode_light_behind(timing, encoder, view, run),
        Attachments::Fog => {
            for step in 0..fog::STEPS {
                view.fog_step = step;
                let Some(mut to) = begin_fog_step(encoder, view, step, timing) else { break };
                run.iter().for_each(|row| (row.encode)(view, &mut to));
            }
        }
        Attachments::Post(resource) => {
            let scene = view.scene.as_ref().map(|scene| (scene.forward, scene.index));
            let steps = scene.map_or(&[][..], |(all, index)| all.post_steps(index, resource));
            for step in steps {
                view.post_step = Some(step);
                let Some(mut to) = begin_post_step(encoder, step, timing) else { continue };
                run.iter().for_each(|row| (row.encode)(view, &mut to));
            }
        }
        Attachments::Outlines => encode_outlines(encoder, view, run[0], timing),
        Attachments::Target => {
            let mut to = begin_target(encoder, onto, pass, target, timing);
            run.iter().for_each(|row| (row.encode)(view, &mut to));
        }
    }
}

/// The rows and generators of a view, in order.
struct ViewOrder {
    rows: Vec<&'static PassRow>,
    /// The end of each segment's rows, and the generators that follow them.
    segments: Vec<(usize, Vec<u32>)>,
    /// True if a generator reads the depth.
    reads_depth: bool,
}

impl ViewOrder {
    fn new(generators: &GeneratorRenderer, view: &ViewEncoder) -> ViewOrder {
        let pass = view.pass;
        let runs = |row: &&PassRow| (row.runs)(view);
        let Some(plan) = generators.plan(pass.view) else {
            let rows: Vec<&PassRow> = RENDER_PASSES.iter().filter(runs).collect();
            let segments = vec![(rows.len(), Vec::new())];
            return ViewOrder { rows, segments, reads_depth: false };
        };
        let (mut rows, mut segments) = (Vec::new(), Vec::new());
        for segment in &plan.segments {
            rows.extend(segment.rows.iter().copied().filter(runs));
            // Guis may have two passes, in the world and over it, and generators run once.
            let is_here = if segment.is_after_guis { pass.is_last } else { pass.is_first };
            // Generators expect light.
            let is_lit = view.scene.is_none() || view.lit_scene().is_some();
            if is_here && is_lit && !segment.generators.is_empty() {
                segments.push((rows.len(), segment.generators.clone()));
            }
        }
        segments.push((rows.len(), Vec::new()));
        ViewOrder { rows, segments, reads_depth: plan.reads_depth }
    }

    /// Returns true if generators run between or after the rows.
    fn is_split(&self) -> bool {
        self.segments.iter().any(|(_, generators)| !generators.is_empty())
    }

    /// Returns true if a row from an index on, or a generator, needs the depth.
    fn is_depth_read_after(&self, first: usize) -> bool {
        // Generators can separate rows that test against the depth.
        let needs = |row: &&PassRow| {
            row.does_read(PassResource::Depth) || row.attachments() == Attachments::Scene
        };
        self.reads_depth || self.rows[first..].iter().any(needs)
    }
}

/// The target of a view while its passes are encoded.
struct TargetState {
    /// The depth buffer of world Guis.
    depth: Option<wgpu::TextureView>,
    /// True after the first pass, which clears the target and the depth buffer.
    is_begun: bool,
    /// True if another pass may follow, which needs the depth buffer.
    is_split: bool,
}

/// Returns the images of the world that a pass's view shows.
fn world_images<'a>(context: &EncodeContext<'a>, pass: &GuiPass) -> Option<WorldImages<'a>> {
    let (index, forward) = pass.view_scene.zip(context.forward)?;
    let (light, depth) = forward.light_and_depth(index)?;
    let [light, depth] = [light, depth].map(|image| (image, forward.samples()));
    let uniform = &context.scenes.plans.views[index].uniform;
    let screen = forward.screen_space();
    let is_resolved = context.generators.is_light_resolved();
    let resolved = screen.light(index).filter(|_| is_resolved).map(|image| (image, 1));
    let drawn_light = resolved.filter(|_| screen.is_drawn_on(index)).unwrap_or(light);
    let light = resolved.unwrap_or(light);
    Some(WorldImages { light, drawn_light, depth, uniform })
}

/// Encodes the passes of the levels of the light behind surfaces.
fn encode_light_behind(
    timing: &mut Option<GpuTiming>,
    encoder: &mut wgpu::CommandEncoder,
    view: &mut ViewEncoder,
    run: &[&'static PassRow],
) {
    let scene = view.scene.as_ref().map(|scene| (scene.forward, scene.index));
    let levels = scene.map_or(&[][..], |(all, index)| all.light_behind_levels(index));
    for (level, image) in levels.iter().enumerate() {
        view.level = level;
        let mut to = begin_light_behind(encoder, (image, level), timing);
        run.iter().for_each(|row| (row.encode)(view, &mut to));
    }
}

/// Encodes the passes of a view's shadow maps.
fn encode_shadows(
    timing: &mut Option<GpuTiming>,
    encoder: &mut wgpu::CommandEncoder,
    view: &mut ViewEncoder,
    run: &[&'static PassRow],
) {
    let shadows = view.scene.as_ref().map(|scene| scene.plan.shadows.clone());
    for shadow in shadows.into_iter().flatten() {
        view.shadow = shadow;
        let Some(mut to) = begin_shadow(encoder, view, timing) else { break };
        run.iter().for_each(|row| (row.encode)(view, &mut to));
    }
}

/// Encodes the passes of the masks of a pass.
fn encode_masks(
    context: &mut EncodeContext,
    encoder: &mut wgpu::CommandEncoder,
    onto: &PassTarget,
    pass: &GuiPass,
) {
    let (plan, buffers, masks) = (context.plan, context.buffers, context.masks);
    for index in pass.masks.clone() {
        let mask = &plan.masks[index];
        let Some(view) = masks.view(index) else { continue };
        let ready = context.prepare_mask(onto.slot, mask, plan);
        let fill = mask.outside.then(|| context.prepare_mask_fill());
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("mask"),
            color_attachments: &[Some(color_attachment(view, Some(wgpu::Color::TRANSPARENT)))],
            depth_stencil_attachment: None,
            timestamp_writes: context.timing.as_mut().and_then(|it| it.pass("mask".to_string())),
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let (materials, textures) = (&*context.materials, &*context.textures);
        let guis = GuiDraws { buffers, textures, materials, masks, ready };
        let [_, _, width, height] = mask.rectangle;
        if let Some(purpose) = fill {
            to.set_viewport(0.0, 0.0, width as f32, height as f32, 0.0, 1.0);
            guis.fill_mask(&mut to, mask, purpose);
        }
        guis.draw(&mut to, [0, 0, width, height]);
    }
}
