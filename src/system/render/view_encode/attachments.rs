//! The attachments of a view's passes: begins the adapter's pass for rows that share one.

use super::super::fog::FOG_PASS;
use super::super::gpu_timing::GpuTiming;
use super::super::gui_encode::PassTarget;
use super::super::gui_passes::GuiPass;
use super::super::post::PostStep;
use super::super::render_passes::{PassResource, PassRow, PassWrite};
use super::super::scene::ShadowMap;
use super::{TargetState, ViewEncoder};

/// Returns the attachment of a depth buffer. `write`: how the first row writes it; `None`: it is
/// only tested against, so shaders may sample it.
pub(super) fn depth_attachment(
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

pub(super) fn color_attachment(
    view: &wgpu::TextureView,
    clear: Option<wgpu::Color>,
) -> wgpu::RenderPassColorAttachment<'_> {
    let load = clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear);
    let ops = wgpu::Operations { load, store: wgpu::StoreOp::Store };
    wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target: None, ops }
}

/// Begins the pass of the view's current shadow map.
pub(super) fn begin_shadow<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let ShadowMap::Sun(layer) = scene.resources.scenes.plans.shadows[view.shadow].map else {
        return None;
    };
    let name = || format!("shadow of sun {}", layer + 1);
    let map = scene.forward.sun_map(layer);
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

/// Begins the depth prepass of a view.
pub(super) fn begin_screen_depth<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let depth = scene.forward.screen_space().depth(scene.index)?;
    let cleared = Some(PassWrite::Clear(PassResource::ScreenDepth));
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("depth prepass"),
        color_attachments: &[],
        depth_stencil_attachment: Some(depth_attachment(depth, cleared, true)),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass("depth prepass".to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Encodes the pass of moved draws onto the motion vectors of a view.
pub(super) fn encode_object_motion(
    encoder: &mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    row: &PassRow,
    timing: &mut Option<GpuTiming>,
) {
    let Some(scene) = &view.scene else { return };
    let screen = scene.forward.screen_space();
    let Some((motion, depth)) = screen.motion(scene.index).zip(screen.depth(scene.index)) else {
        return;
    };
    let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(row.name),
        color_attachments: &[Some(color_attachment(motion, None))],
        depth_stencil_attachment: Some(depth_attachment(depth, None, true)),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(row.name.to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    });
    (row.encode)(view, &mut to);
}

/// Encodes the steps of a row of screen-space effects, each in a pass onto its own images.
pub(super) fn encode_screen_steps(
    encoder: &mut wgpu::CommandEncoder,
    view: &mut ViewEncoder,
    row: &PassRow,
    timing: &mut Option<GpuTiming>,
) {
    let Some(scene) = &view.scene else { return };
    let (forward, index) = (scene.forward, scene.index);
    for step in forward.screen_space().steps(index, row.name) {
        view.screen_step = step;
        let outputs = forward.screen_space().outputs(index, step);
        // Channels that no step draws are white.
        let keeps = forward.screen_space().does_keep(index, step);
        let white = (!keeps).then_some(wgpu::Color::WHITE);
        let attachments: Vec<_> =
            outputs.iter().map(|output| Some(color_attachment(output, white))).collect();
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(row.name),
            color_attachments: &attachments,
            depth_stencil_attachment: None,
            timestamp_writes: timing.as_mut().and_then(|it| it.pass(row.name.to_string())),
            occlusion_query_set: None,
            multiview_mask: None,
        });
        (row.encode)(view, &mut to);
    }
}

/// Encodes the passes of the images of outlines.
pub(super) fn encode_outlines(
    encoder: &mut wgpu::CommandEncoder,
    view: &mut ViewEncoder,
    row: &PassRow,
    timing: &mut Option<GpuTiming>,
) {
    let Some((forward, index)) = view.scene.as_ref().map(|scene| (scene.forward, scene.index))
    else {
        return;
    };
    for step in 0..2 {
        let Some(image) = forward.outlines().image(index, step) else { return };
        view.outline_step = step;
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(row.name),
            color_attachments: &[Some(color_attachment(image, Some(wgpu::Color::TRANSPARENT)))],
            depth_stencil_attachment: None,
            timestamp_writes: timing.as_mut().and_then(|it| it.pass(row.name.to_string())),
            occlusion_query_set: None,
            multiview_mask: None,
        });
        (row.encode)(view, &mut to);
    }
}

/// Begins the pass of a step of a view's froxel fog.
pub(super) fn begin_fog_step<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &ViewEncoder,
    step: usize,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let scene = view.scene.as_ref()?;
    let image = scene.forward.fog().output(scene.index, step)?;
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(FOG_PASS),
        color_attachments: &[Some(color_attachment(image, Some(wgpu::Color::TRANSPARENT)))],
        depth_stencil_attachment: None,
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(FOG_PASS.to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Begins the pass of a level of the light behind surfaces.
pub(super) fn begin_light_behind<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    (image, level): (&wgpu::TextureView, usize),
    timing: &mut Option<GpuTiming>,
) -> wgpu::RenderPass<'e> {
    let name = || format!("light behind surfaces, level {}", level + 1);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("light behind surfaces"),
        color_attachments: &[Some(color_attachment(image, Some(wgpu::Color::TRANSPARENT)))],
        depth_stencil_attachment: None,
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name())),
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

/// Begins a pass onto the scene's light and depth.
pub(super) fn begin_scene<'e>(
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

/// Begins the pass of a step of a post effect.
pub(super) fn begin_post_step<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    step: &PostStep,
    timing: &mut Option<GpuTiming>,
) -> Option<wgpu::RenderPass<'e>> {
    let mut attachment = color_attachment(step.target.as_ref()?, None);
    if step.blend.is_none() {
        attachment.ops.load = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
    }
    Some(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(step.label),
        color_attachments: &[Some(attachment)],
        depth_stencil_attachment: None,
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(step.label.to_string())),
        occlusion_query_set: None,
        multiview_mask: None,
    }))
}

/// Begins a pass onto the view's target, with the depth buffer of world Guis.
pub(super) fn begin_target<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    onto: &PassTarget,
    pass: &GuiPass,
    state: &mut TargetState,
    timing: &mut Option<GpuTiming>,
) -> wgpu::RenderPass<'e> {
    let is_begun = std::mem::replace(&mut state.is_begun, true);
    let clear = pass.clear.filter(|_| !is_begun).map(|color| {
        let [r, g, b, a] = color.map(f64::from);
        wgpu::Color { r, g, b, a }
    });
    let kind = if pass.world { "world" } else { "gui" };
    let name = || match onto.slot {
        Some(slot) => format!("{kind} on texture {}", slot.0),
        None => kind.to_string(),
    };
    let write = match is_begun {
        true => PassWrite::Keep(PassResource::Depth),
        false => PassWrite::Clear(PassResource::Depth),
    };
    let attachment = |view| depth_attachment(view, Some(write), state.is_split);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(kind),
        color_attachments: &[Some(color_attachment(&onto.view, clear))],
        depth_stencil_attachment: state.depth.as_ref().map(attachment),
        timestamp_writes: timing.as_mut().and_then(|it| it.pass(name())),
        occlusion_query_set: None,
        multiview_mask: None,
    })
}
