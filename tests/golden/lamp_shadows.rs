//! Golden pictures and measured pixels of shadows: those of omni and spot lights, which are kept
//! while nothing moves, and the edges of sun shadows while the camera moves.

use super::forward::{SceneBuilder, sun, view};
use super::local_lights::DARK;
use super::meshes::{CUBE, SPHERE};
use super::{check, difference, draw, renderer};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::frame_packet::scene::{
    DrawSlot, DrawTransform, LightFrame, LightKind, SceneFrame, SkyFrame,
};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::system::render::RenderedImage;

fn lamp(id: u64, position: Vec3, color: [f32; 3]) -> LightFrame {
    let kind = LightKind::Omni { position, range: 9.0, casts_shadows: true };
    LightFrame { id, kind, color, ..LightFrame::DEFAULT }
}

fn spot(id: u64, position: Vec3, at: Vec3, color: [f32; 3]) -> LightFrame {
    let kind = LightKind::Spot {
        position,
        direction: (at - position).normalize(),
        range: 12.0,
        inner: 0.3,
        outer: 0.45,
        casts_shadows: true,
    };
    LightFrame { id, kind, color, ..LightFrame::DEFAULT }
}

fn lights() -> Vec<LightFrame> {
    vec![
        lamp(1, Vec3::new(-1.6, 0.4, 1.3), [2.6, 1.3, 0.5]),
        lamp(2, Vec3::new(1.9, 1.2, 0.9), [0.4, 1.0, 2.4]),
        spot(3, Vec3::new(0.5, -3.0, 4.0), Vec3::new(0.3, 0.6, 0.4), [8.0, 7.5, 7.0]),
    ]
}

/// Returns boxes, a sphere and a wall around two lamps and a spot. The draw with the number 1 is
/// the sphere.
fn courtyard(lights: &[LightFrame]) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dim = [0.01, 0.012, 0.02];
    builder.sky(SkyFrame { top: dim, horizon: dim, ground: dim, tone_mapping: true, ..DARK });
    builder.ground();
    let white = builder.matte([0.75, 0.75, 0.75]);
    builder.add_at(SPHERE, white, Vec3::new(0.1, 0.5, 0.5), Vec3::splat(0.5));
    builder.add_at(CUBE, white, Vec3::new(-2.7, 0.9, 0.4), Vec3::splat(0.4));
    builder.add_at(CUBE, white, Vec3::new(-1.2, -0.9, 0.3), Vec3::splat(0.3));
    builder.add_at(CUBE, white, Vec3::new(2.7, -0.2, 0.6), Vec3::new(0.2, 0.2, 0.6));
    builder.add_at(CUBE, white, Vec3::new(0.0, 3.0, 1.2), Vec3::new(5.0, 0.1, 1.2));
    lights.iter().for_each(|light| builder.light(*light));
    builder.build(vec![view(Vec3::new(0.0, -6.5, 3.6), Vec3::new(0.0, 0.4, 0.5))])
}

fn later(frame: SceneFrame) -> FramePacket {
    let views = courtyard(&[]).views;
    let scenes = vec![SceneFrame { scene: 1, ..frame }];
    FramePacket { scale: 1.0, scenes, views, ..FramePacket::default() }
}

fn picture_of(packets: Vec<FramePacket>) -> Option<RenderedImage> {
    Some(draw(&mut renderer(false)?, packets, ViewTarget::Screen))
}

#[test]
fn lamps_cast_shadows_to_all_sides() {
    check("lamp_shadows", vec![courtyard(&lights())]);
}

#[test]
fn kept_shadow_maps_follow_moving_objects() {
    let mut moved_lights = lights();
    moved_lights[0] = lamp(1, Vec3::new(-1.9, 0.0, 1.6), [2.6, 1.3, 0.5]);
    let mut fresh = courtyard(&moved_lights);
    let pose =
        Mat4::from_translation(Vec3::new(0.9, 0.1, 0.9)) * Mat4::from_scale(Vec3::splat(0.5));
    let step = SceneFrame {
        moved: vec![DrawSlot(1)],
        poses: vec![DrawTransform::of(&pose)],
        ..SceneFrame::default()
    };
    fresh.scenes[0].moved.clone_from(&step.moved);
    fresh.scenes[0].poses.clone_from(&step.poses);
    let Some(wanted) = picture_of(vec![fresh]) else { return };
    // The same, in steps. The list of lights changes its order.
    moved_lights.reverse();
    let light_step =
        SceneFrame { lights_changed: true, lights: moved_lights, ..SceneFrame::default() };
    let steps = vec![courtyard(&lights()), later(step), later(light_step)];
    let mut renderer = renderer(false).expect("the adapter was there before");
    let mut before = None;
    for packet in steps {
        let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        before = Some(picture);
    }
    let found = before.expect("three pictures");
    let (left, top, off) = difference(&wanted, &found);
    assert!(off < 0.5, "the block at {left}, {top} differs by {off}");
    // Nothing has changed, so no map is drawn.
    draw(&mut renderer, vec![later(SceneFrame::default())], ViewTarget::Screen);
    assert_eq!(renderer.statistics().scene.shadow_maps, 0);
}

#[test]
fn frames_that_are_not_drawn_lose_no_shadows() {
    let Some(wanted) = picture_of(vec![courtyard(&lights())]) else { return };
    // Without a capture, a screen without a window is not drawn.
    let twice = vec![courtyard(&lights()), later(SceneFrame::default())];
    let found = picture_of(twice).expect("the adapter was there before");
    assert_eq!(difference(&wanted, &found).2, 0.0);
}

#[test]
fn shadows_come_back_after_a_lost_adapter() {
    let Some(mut renderer) = renderer(false) else { return };
    let wanted = draw(&mut renderer, vec![courtyard(&lights())], ViewTarget::Screen);
    renderer.lose_device();
    renderer.submit(later(SceneFrame::default()));
    renderer.finish();
    renderer.events();
    let found = draw(&mut renderer, vec![later(SceneFrame::default())], ViewTarget::Screen);
    assert_eq!(difference(&wanted, &found).2, 0.0);
}

#[test]
fn edges_of_sun_shadows_stay_while_the_camera_moves() {
    // Four pixels of 5 cm each.
    let from_above = |shift: f32| {
        let mut builder = SceneBuilder::new();
        builder.sky(DARK);
        builder.ground();
        builder.light(sun(Vec3::new(0.7, 0.4, -0.8), 1.0));
        let white = builder.matte([0.8, 0.8, 0.8]);
        for i in 0..6 {
            let at = Vec3::new(i as f32 * 2.3 - 6.0, (i % 3) as f32 * 1.7 - 2.0, 0.5);
            let turned = Mat4::from_translation(at) * Mat4::from_rotation_z(i as f32 * 0.4);
            builder.add_draw(CUBE, white, turned * Mat4::from_scale(Vec3::splat(0.5)));
        }
        let position = Vec3::new(shift, 0.0, 20.0);
        let camera = CameraFrame {
            view: views::look_to_mat4(position, Vec3::NEG_Z, Vec3::Y),
            projection: projections::orthographic(-8.0, 8.0, -4.5, 4.5, 1.0, 40.0),
            position,
            near: 1.0,
            far: 40.0,
        };
        let visible_view = View { camera, ..view(Vec3::Z, Vec3::ZERO) };
        picture_of(vec![builder.build(vec![visible_view])])
    };
    let Some(still) = from_above(0.0) else { return };
    let moved = from_above(0.2).expect("the adapter was there before");
    let mut shadow_pixels = 0;
    for (x, y) in (0..180).flat_map(|y| (0..316).map(move |x| (x, y))) {
        let byte = |picture: &RenderedImage, x: u32| picture.rgba[((y * 320 + x) * 4) as usize];
        let (one, other) = (byte(&still, x + 4), byte(&moved, x));
        shadow_pixels += u32::from(one < 20);
        assert!(one.abs_diff(other) <= 6, "{x}, {y}: {one} and {other}");
    }
    assert!(shadow_pixels > 1000, "{shadow_pixels}");
}
