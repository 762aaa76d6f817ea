//! The encoder of a view: executes the table of render passes (render_passes.rs). It begins a pass
//! of the adapter for the rows that share one, with the attachments that the rows name. The draws
//! themselves are encoded in forward/encode.rs (scenes) and gui_encode.rs (Guis).

use super::forward::{ForwardRenderer, SceneResources};
use super::gpu_timing::GpuTiming;
use super::gui_encode::{EncodeContext, GuiDraws, PassTarget, PreparedFill};
use super::gui_passes::GuiPass;
use super::render_passes::{
    Attachments, PassResource, PassRow, PassWrite, RENDER_PASSES, shared_passes,
};
use super::scene::{ShadowMap, ViewPlan};

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
        self.scene.as_ref().is_some_and(|scene| scene.plan.uniform.horizon[3] > 0.5)
    }

    pub fn has_transmission(&self) -> bool {
        self.scene.as_ref().is_some_and(|scene| scene.plan.transmission)
    }

    pub fn draw_background(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_background(to, scene.index, self.level);
        }
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

    pub fn draw_shadow(&self, to: &mut wgpu::RenderPass) {
        if let Some(scene) = &self.scene {
            scene.forward.draw_shadow(to, scene.plan, self.shadow, &scene.resources);
        }
    }

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

    pub fn draw_fill(&self, to: &mut wgpu::RenderPass) {
        if let Some(fill) = &self.fill {
            self.guis.draw_fill(to, fill);
        }
    }

    pub fn draw_guis(&self, to: &mut wgpu::RenderPass) {
        self.guis.draw(to, self.pass.viewport);
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
    let mut view = ViewEncoder { pass, scene, guis, fill, shadow: 0, level: 0 };
    let rows: Vec<&PassRow> = RENDER_PASSES.iter().filter(|row| (row.runs)(&view)).collect();
    let mut first = 0;
    for run in shared_passes(&rows) {
        let following = &rows[first + run.len()..];
        first += run.len();
        match run[0].attachments() {
            Attachments::ShadowMap => {
                let shadows = view.scene.as_ref().map(|scene| scene.plan.shadows.clone());
                for shadow in shadows.into_iter().flatten() {
                    view.shadow = shadow;
                    let Some(mut to) = begin_shadow(encoder, &view, context.timing) else { break };
                    run.iter().for_each(|row| (row.encode)(&view, &mut to));
                }
            }
            Attachments::Scene => {
                let stores_depth = following.iter().any(|row| {
                    row.does_read(PassResource::Depth) || row.attachments() == Attachments::Scene
                });
                let Some(mut to) = begin_scene(encoder, &view, run, stores_depth, context.timing)
                else {
                    continue;
                };
                run.iter().for_each(|row| (row.encode)(&view, &mut to));
            }
            Attachments::Background => {
                let count = view
                    .scene
                    .as_ref()
                    .map_or(0, |scene| scene.forward.background_levels(scene.index).len());
                for level in 0..count {
                    view.level = level;
                    let Some(mut to) = begin_background(encoder, &view, context.timing) else {
                        break;
                    };
                    run.iter().for_each(|row| (row.encode)(&view, &mut to));
                }
            }
            Attachments::Target => {
                let mut to = begin_target(encoder, onto, pass, depth.as_ref(), context.timing);
                run.iter().for_each(|row| (row.encode)(&view, &mut to));
            }
        }
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

/// Returns the attachment of a depth buffer. `write`: how the first row writes it; `None`: it is
/// only tested against, so shaders may sample it.
fn depth_attachment(
    view: &wgpu::TextureView,
    write: Option<PassWrite>,
    stores: bool,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let depth_ops = write.map(|write| wgpu::Operations {
        load: match write {
            PassWrite::Clear(_) => wgpu::LoadOp::Clear(1.0),
            PassWrite::Keep(_) => wgpu::LoadOp::Load,
        },
        store: if stores { wgpu::StoreOp::Store } else { wgpu::StoreOp::Discard },
    });
    wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None }
}

fn color_attachment(
    view: &wgpu::TextureView,
    clear: Option<wgpu::Color>,
) -> wgpu::RenderPassColorAttachment<'_> {
    let load = clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear);
    let ops = wgpu::Operations { load, store: wgpu::StoreOp::Store };
    wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target: None, ops }
}

/// Begins the pass of the view's current shadow map.
fn begin_shadow<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let shadow = &scene.resources.scenes.plans.shadows[view.shadow];
    let kind = match shadow.map {
        ShadowMap::Sun => "sun",
        ShadowMap::Spot => "spot",
    };
    let name = || format!("shadow of {kind} {}", shadow.layer + 1);
    let map = scene.forward.shadow_map(shadow);
    let cleared = Some(PassWrite::Clear(PassResource::ShadowMaps));
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("shadow"),
        color_attachments: &[],
        depth_stencil_attachment: Some(depth_attachment(map, cleared, true)),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Begins the pass of the view's current level of the light behind surfaces.
fn begin_background<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let level = &scene.forward.background_levels(scene.index)[view.level];
    let name = || format!("light behind surfaces, level {}", view.level + 1);
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("light behind surfaces"),
        color_attachments: &[Some(color_attachment(level, Some(wgpu::Color::TRANSPARENT)))],
        depth_stencil_attachment: None,
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Begins a pass onto the scene's light and depth.
fn begin_scene<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    run: &[&PassRow],
    stores_depth: bool,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let (light, depth) = scene.forward.light_and_depth(scene.index)?;
    let write_of = |resource| {
        let mut writes = run.iter().flat_map(|row| row.writes);
        writes.find(|write| write.resource() == resource).copied()
    };
    let clears = matches!(write_of(PassResource::Light), Some(PassWrite::Clear(_)));
    let name = if clears { "scene" } else { "scene, seen through" };
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(run[0].name),
        color_attachments: &[Some(color_attachment(
            light,
            clears.then_some(wgpu::Color::TRANSPARENT),
        ))],
        depth_stencil_attachment: Some(depth_attachment(
            depth,
            write_of(PassResource::Depth),
            stores_depth,
        )),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name.to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Begins a pass onto the view's target, with the depth buffer of world Guis.
fn begin_target<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    onto: &PassTarget,
    pass: &GuiPass,
    depth: Option<&wgpu::TextureView>,
    timing: &mut Option<GpuTiming>,
) -> wgpu::RenderPass<'e> {
    let clear = pass.clear.map(|color| {
        let [r, g, b, a] = color.map(f64::from);
        wgpu::Color { r, g, b, a }
    });
    let kind = if pass.world { "world" } else { "gui" };
    let name = || match onto.slot {
        Some(slot) => format!("{kind} on texture {}", slot.0),
        None => kind.to_string(),
    };
    let cleared = Some(PassWrite::Clear(PassResource::Depth));
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(kind),
        color_attachments: &[Some(color_attachment(&onto.view, clear))],
        depth_stencil_attachment: depth.map(|view| depth_attachment(view, cleared, false)),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name())),
        occlusion_query_set: None,
        multiview_mask: None,
    })
}
