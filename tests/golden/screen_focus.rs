//! Golden images and numeric tests of depth of field, motion blur and temporal anti-aliasing.

use super::forward::{SceneBuilder, look_camera, shadows, view};
use super::meshes::SPHERE;
use super::screen_space::{
    EVEN_SKY, LENS, OFF, ONE_SAMPLE, SHUTTER, TEMPORAL, check, flat_camera, largest_difference,
    light_at, mean_difference, picture, play, renderer_with, room, room_camera, views_only, with,
};
use super::{HEIGHT, QUALITY, WIDTH, draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::mesh::SurfaceFrame;
use engine::frame_packet::scene::{DrawSlot, DrawTransform, SceneFrame, SkyFrame};
use engine::frame_packet::shading_environment::ScreenSpaceValues;
use engine::frame_packet::{FramePacket, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage};

#[test]
fn room_with_depth_of_field() {
    check("screen_lens", with(room(room_camera()), LENS));
    let near = ScreenSpaceValues { depth_of_field_distance: 12.0, ..LENS };
    check("screen_lens_far", with(room(room_camera()), near));
    let ranges = ScreenSpaceValues {
        depth_of_field: 2.0,
        depth_of_field_near_range: [3.4, 4.6],
        depth_of_field_far_range: [6.0, 9.0],
        ..LENS
    };
    check("screen_ranges_flat", with(room(flat_camera()), ranges));
}

#[test]
fn room_with_a_moving_camera() {
    let from = room_camera().position + Vec3::X * 0.25;
    let moved = look_camera(from, Vec3::new(-0.1, 0.0, 0.7), 320.0 / 180.0);
    let second = views_only(with(room(moved), SHUTTER));
    let Some(mut renderer) = renderer(false) else { return };
    let image = play(&mut renderer, vec![with(room(room_camera()), SHUTTER), second]);
    super::compare("screen_motion_blur", &image);
}

/// Returns the room, and a packet in which the box in the middle and the first ball move.
fn moving_objects(values: ScreenSpaceValues) -> Vec<FramePacket> {
    let mut second = views_only(with(room(room_camera()), values));
    let at = |x: f32, y: f32| {
        let pose =
            Mat4::from_translation(Vec3::new(x, y, 0.4)) * Mat4::from_scale(Vec3::splat(0.4));
        DrawTransform::of(&pose)
    };
    second.scenes.push(SceneFrame {
        scene: 1,
        moved: vec![DrawSlot(3), DrawSlot(4)],
        poses: vec![at(-1.5, -1.6), at(-0.7, 0.3)],
        ..SceneFrame::default()
    });
    vec![with(room(room_camera()), values), second]
}

#[test]
fn room_with_moving_objects() {
    let Some(mut renderer) = renderer(false) else { return };
    let image = play(&mut renderer, moving_objects(SHUTTER));
    super::compare("screen_object_motion", &image);
    // The next frame shows them at rest.
    let still = play(&mut renderer, vec![views_only(with(room(room_camera()), SHUTTER))]);
    let sharp = play(&mut renderer, vec![views_only(with(room(room_camera()), OFF))]);
    assert!(image != still && mean_difference(&still, &sharp) < 0.1);
}

#[test]
fn skins_and_morph_targets_have_motion() {
    for scene in [super::skins::bent_pillars, super::skins::morph_targets] {
        let Some(mut renderer) = renderer(false) else { return };
        let mut poses = scene();
        let mut second = views_only(with(scene(), SHUTTER));
        let (skins, morphs) = (poses.scenes[0].skins.clone(), poses.scenes[0].morphs.clone());
        let (palettes, weights) =
            (poses.scenes[0].palettes.clone(), poses.scenes[0].morph_weights.clone());
        poses.scenes[0].skins.clear();
        poses.scenes[0].morphs.clear();
        second.scenes.push(SceneFrame {
            scene: 1,
            skins,
            morphs,
            palettes,
            morph_weights: weights,
            ..SceneFrame::default()
        });
        let blurred = play(&mut renderer, vec![with(poses, SHUTTER), second]);
        let still = play(&mut renderer, vec![views_only(with(scene(), SHUTTER))]);
        let sharp = play(&mut renderer, vec![views_only(with(scene(), OFF))]);
        let (moving, resting) =
            (mean_difference(&blurred, &sharp), mean_difference(&still, &sharp));
        assert!(moving > 0.15 && resting < 0.05, "{moving} {resting}");
    }
}

#[test]
fn sharp_depth_of_field_equals_none() {
    // Everything is in the sharp range, or the aperture is a pinhole.
    let ranges = ScreenSpaceValues {
        depth_of_field: 2.0,
        depth_of_field_near_range: [0.0, 0.05],
        depth_of_field_far_range: [90000.0, 100000.0],
        ..LENS
    };
    let pinhole = ScreenSpaceValues { depth_of_field_aperture: 64.0, ..LENS };
    // From above: the sky is beyond every range.
    let hidden = || {
        let mut packet = shadows();
        let (from, at) = (Vec3::new(0.5, -3.0, 6.0), Vec3::new(0.3, 0.2, 0.5));
        packet.views[0].camera = look_camera(from, at, 320.0 / 180.0);
        packet
    };
    let Some(off) = picture(hidden(), ONE_SAMPLE) else { return };
    for (values, limit) in [(ranges, 1), (pinhole, 1)] {
        let worst = largest_difference(&off, &picture(with(hidden(), values), ONE_SAMPLE).unwrap());
        assert!(worst <= limit, "{worst}");
    }
    // With several samples, bright edges are averaged before tone mapping.
    let off = picture(hidden(), QUALITY).expect("drawn");
    let mean = mean_difference(&off, &picture(with(hidden(), ranges), QUALITY).expect("drawn"));
    assert!(mean < 0.1, "{mean}");
}

#[test]
fn depth_of_field_keeps_energy() {
    // A bright disk on black, fully out of focus.
    let scene = || {
        let mut builder = SceneBuilder::new();
        builder.sky(SkyFrame { top: [0.0; 3], horizon: [0.0; 3], ground: [0.0; 3], ..EVEN_SKY });
        let color = [0.7, 0.7, 0.7, 1.0];
        let plain = SurfaceFrame { base_color: color, unlit: true, ..SurfaceFrame::DEFAULT };
        let plain = builder.surface(plain);
        builder.add_at(SPHERE, plain, Vec3::ZERO, Vec3::splat(0.6));
        let mut main = view(Vec3::new(0.0, -5.0, 0.0), Vec3::ZERO);
        main.clear = Some([0.0, 0.0, 0.0, 1.0]);
        builder.build(vec![main])
    };
    let sum = |image: &RenderedImage| -> f64 {
        let rows = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
        rows.map(|(x, y)| light_at(image, x, y)).sum()
    };
    let Some(off) = picture(scene(), ONE_SAMPLE) else { return };
    for range in [[0.0, 0.05], [20.0, 30.0]] {
        // Behind the focus, then in front of it.
        let far = if range[0] == 0.0 { [1.0, 2.0] } else { [90000.0, 100000.0] };
        let values = ScreenSpaceValues {
            depth_of_field: 2.0,
            depth_of_field_near_range: range,
            depth_of_field_far_range: far,
            ..LENS
        };
        let on = picture(with(scene(), values), ONE_SAMPLE).expect("drawn");
        let ratio = sum(&on) / sum(&off);
        assert!((0.93..1.07).contains(&ratio), "{ratio}");
        assert!(light_at(&on, 160, 90) > 0.65 * 0.9);
        assert!(on != off);
    }
}

/// Returns the mean of blocks of `side` x `side` pixels, in linear light.
fn shrunk(image: &RenderedImage, side: u32) -> Vec<f64> {
    let mut all = Vec::new();
    for y in 0..image.height / side {
        for x in 0..image.width / side {
            let at = |i: u32| light_at(image, x * side + i % side, y * side + i / side);
            all.push((0..side * side).map(at).sum::<f64>() / f64::from(side * side));
        }
    }
    all
}

const SMALL: (u32, u32) = (WIDTH / 2, HEIGHT / 2);
const SMALL_QUALITY: RenderQuality = RenderQuality { shadow_texels: 0, ..ONE_SAMPLE };

/// Returns boxes and a ball, less bright than tone mapping compresses.
fn dim_scene(values: ScreenSpaceValues) -> FramePacket {
    let mut packet = with(shadows(), values);
    packet.scenes[0].sky.as_mut().expect("it has one").exposure = 0.6;
    packet
}

/// Draws packets without effects at eight times the resolution, and returns the mean light of the
/// pixels of the small picture.
fn supersampled(packets: Vec<FramePacket>) -> Vec<f64> {
    let size = (SMALL.0 * 8, SMALL.1 * 8);
    let mut large = renderer_with(SMALL_QUALITY, size).expect("there is an adapter");
    let packets = packets.into_iter().map(|packet| with(packet, OFF)).collect();
    shrunk(&draw(&mut large, packets, ViewTarget::Screen), 8)
}

/// Returns the root of the mean square of the differences to the exact light.
fn error(image: &RenderedImage, exact: &[f64]) -> f64 {
    let pairs = shrunk(image, 1).into_iter().zip(exact);
    (pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / exact.len() as f64).sqrt()
}

#[test]
fn temporal_anti_aliasing_converges_to_the_supersampled_picture() {
    let Some(mut small) = renderer_with(SMALL_QUALITY, SMALL) else { return };
    let exact = supersampled(vec![dim_scene(OFF)]);
    let plain = draw(&mut small, vec![dim_scene(OFF)], ViewTarget::Screen);
    let still = play(&mut small, (0..48).map(|_| views_only(dim_scene(TEMPORAL))).collect());
    let (before, after) = (error(&plain, &exact), error(&still, &exact));
    assert!(after < before * 0.35, "{after} {before}");
    // A cut shows the new picture at once, as a new renderer does.
    let cut = || {
        let mut packet = dim_scene(TEMPORAL);
        let from = Vec3::new(30.0, 0.0, 4.0);
        packet.views[0].camera = look_camera(from, Vec3::ZERO, 320.0 / 180.0);
        packet
    };
    let first = draw(&mut small, vec![views_only(cut())], ViewTarget::Screen);
    let mut other = renderer_with(SMALL_QUALITY, SMALL).expect("there is an adapter");
    assert!(first == draw(&mut other, vec![cut()], ViewTarget::Screen));
}

#[test]
fn temporal_anti_aliasing_leaves_no_trails() {
    const FRAMES: usize = 16;
    // A camera that moves to the side by a fraction of a pixel in each frame.
    let moved = |frame: usize, values| {
        let mut packet = views_only(dim_scene(values));
        let to_side = Vec3::X * (frame as f32 * 0.02);
        let (from, at) = (Vec3::new(0.5, -6.0, 3.0), Vec3::new(0.3, 0.2, 0.5));
        packet.views[0].camera = look_camera(from + to_side, at + to_side, 320.0 / 180.0);
        packet
    };
    let Some(mut small) = renderer_with(SMALL_QUALITY, SMALL) else { return };
    small.submit(dim_scene(OFF));
    let moving = play(&mut small, (0..FRAMES).map(|at| moved(at, TEMPORAL)).collect());
    let plain = play(&mut small, vec![moved(FRAMES - 1, OFF)]);
    let exact = supersampled(vec![dim_scene(OFF), moved(FRAMES - 1, OFF)]);
    // As near to the exact picture as without: older frames are where their surfaces are now.
    let (before, after) = (error(&plain, &exact), error(&moving, &exact));
    assert!(after < before * 1.3, "{after} {before}");
}
