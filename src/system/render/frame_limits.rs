//! Limits of views by their quality and their frame: for the effects of shading environments, and
//! for the size of the image. Draws nothing.

use super::EffectLevel;
use super::render_passes::{OCCLUSION_PASS, OUTLINE_PASSES, POST_PASS, SCREEN_PASS};
use super::sky::SKY_MAPS_PASS;
use engine_frame_packet::debug_view::DebugView;
use engine_frame_packet::shading_environment::{ScreenSpaceValues, ShadingEnvironment};
use engine_frame_packet::{FramePacket, View};
use engine_resource::render_config_data::{FrameImage, FrameStep};

/// Switches off the effects that the quality does not have.
fn limit_effects(values: &mut ScreenSpaceValues, effects: EffectLevel) {
    match effects {
        EffectLevel::None => *values = ScreenSpaceValues::DEFAULT,
        EffectLevel::Reduced => {
            values.ambient_occlusion_resolution = 0.0;
            values.motion_blur_shutter = 0.0;
        }
        EffectLevel::All => {}
        EffectLevel::Finest => values.ambient_occlusion_resolution = 1.0,
    }
}

/// Switches off the effects that change the values of a debug view, and switches on the one that
/// it shows.
fn limit_debugged(environment: &mut ShadingEnvironment, debug_view: DebugView) {
    let none = ShadingEnvironment::DEFAULT;
    let occlusion = match debug_view {
        DebugView::Occlusion => environment.screen_space,
        _ => none.screen_space,
    };
    let has_motion = debug_view == DebugView::MotionVectors;
    environment.screen_space = ScreenSpaceValues {
        depth_of_field: 0.0,
        temporal_anti_aliasing: 0.0,
        // Motion blur needs motion vectors.
        motion_blur_shutter: f32::from(u8::from(has_motion)),
        motion_blur_radius: none.screen_space.motion_blur_radius,
        ..occlusion
    };
    (environment.post, environment.tone) = (none.post, none.tone);
    environment.lens = none.lens;
}

/// Switches off the effects that the quality does not have, and those of views whose frame lacks
/// their passes.
pub fn limit_environments(packet: &mut FramePacket, effects: EffectLevel) {
    for at in 0..packet.views.len() {
        let environment = &mut packet.views[at].environment;
        limit_effects(&mut environment.screen_space, effects);
        if packet.debug_view.is_on() {
            limit_debugged(environment, packet.debug_view);
        }
        let view = &packet.views[at];
        let Some((_, viewport)) = packet.viewport_of(view) else { continue };
        let lacks = |name| !viewport.has_pass(name);
        let lost = [SKY_MAPS_PASS, OCCLUSION_PASS, SCREEN_PASS, POST_PASS].map(lacks);
        let none = ShadingEnvironment::DEFAULT;
        let environment = &mut packet.views[at].environment;
        if lost[0] {
            environment.sky.sky_mode = none.sky.sky_mode;
        }
        if lost[1] {
            environment.screen_space = none.screen_space;
        }
        if lost[2] {
            let effects = &mut environment.screen_space;
            effects.depth_of_field = none.screen_space.depth_of_field;
            effects.motion_blur_shutter = none.screen_space.motion_blur_shutter;
            effects.temporal_anti_aliasing = none.screen_space.temporal_anti_aliasing;
        }
        if lost[3] {
            (environment.post, environment.tone) = (none.post, none.tone);
            environment.lens = none.lens;
        }
    }
}

/// Returns true if the frame of a view has the pass of post effects.
pub fn has_post_pass(packet: &FramePacket, view: &View) -> bool {
    packet.viewport_of(view).is_none_or(|(_, viewport)| viewport.has_pass(POST_PASS))
}

/// Returns true if the frame of a view has both passes of outlines.
pub fn has_outline_passes(packet: &FramePacket, view: &View) -> bool {
    let viewport = packet.viewport_of(view).map(|(_, viewport)| viewport);
    viewport.is_none_or(|viewport| OUTLINE_PASSES.iter().all(|name| viewport.has_pass(name)))
}

/// Returns true if a generator of a view draws onto the light after the screen-space effects.
pub fn draws_resolved_light(packet: &FramePacket, view: &View) -> bool {
    let Some((config, viewport)) = packet.viewport_of(view) else { return false };
    let is_effect = |step: &FrameStep| matches!(step, FrameStep::Pass(name) if name == SCREEN_PASS);
    let draws_light = |step: &FrameStep| match step {
        FrameStep::Generator(index) => {
            config.data.generators[*index as usize].output == FrameImage::Light
        }
        FrameStep::Pass(_) => false,
    };
    viewport.steps.iter().skip_while(|step| !is_effect(step)).any(draws_light)
}

/// Returns true if the image of a view's world can have another size than the view: post effects
/// enlarge it, and no generators read or draw it.
pub fn can_scale(packet: &FramePacket, view: &View) -> bool {
    let is_pass = |step: &FrameStep| matches!(step, FrameStep::Pass(_));
    let has_generators =
        packet.viewport_of(view).is_some_and(|(_, viewport)| !viewport.steps.iter().all(is_pass));
    has_post_pass(packet, view) && !has_generators
}
