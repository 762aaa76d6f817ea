//! Golden pictures and measured pixels of the shadows of lights with a size, whose edges are wider
//! far from the objects that cast them.

use super::forward::{SceneBuilder, sun, view};
use super::local_lights::{DARK, linear};
use super::meshes::{CUBE, SPHERE};
use super::{QUALITY, WIDTH, compare, draw, options, renderer};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::frame_packet::scene::{LightFrame, LightKind, SkyFrame};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage, Renderer, ShadowFilter};

/// A view of the ground from above: 10 metres from x = -3 to x = 7, 3.125 cm each pixel.
pub fn from_above() -> View {
    let position = Vec3::new(2.0, 0.0, 20.0);
    let half = 5.0;
    let camera = CameraFrame {
        view: views::look_to_mat4(position, Vec3::NEG_Z, Vec3::Y),
        projection: projections::orthographic(-half, half, -2.8125, 2.8125, 1.0, 40.0),
        position,
        near: 1.0,
        far: 40.0,
    };
    View { camera, ..view(Vec3::Z, Vec3::ZERO) }
}

/// Returns the ground under a thin slab at a height, whose edge is above x = 0.
fn slab(height: f32, light: LightFrame) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    builder.ground();
    let white = builder.matte([0.8; 3]);
    builder.add_at(CUBE, white, Vec3::new(-4.0, 0.0, height), Vec3::new(4.0, 6.0, 0.01));
    builder.light(light);
    builder.build(vec![from_above()])
}

fn wide_sun(source_size: f32) -> LightFrame {
    LightFrame { source_size, ..sun(Vec3::new(0.6, 0.0, -0.8), 3.0) }
}

fn lamp(source_size: f32) -> LightFrame {
    let position = Vec3::new(-1.5, 0.0, 5.0);
    let kind = LightKind::Omni { position, range: 30.0, casts_shadows: true };
    LightFrame { kind, color: [60.0; 3], source_size, ..LightFrame::DEFAULT }
}

fn without_shadows(light: LightFrame) -> LightFrame {
    let mut light = light;
    match &mut light.kind {
        LightKind::Sun { casts_shadows, .. }
        | LightKind::Omni { casts_shadows, .. }
        | LightKind::Spot { casts_shadows, .. }
        | LightKind::Area { casts_shadows, .. } => *casts_shadows = false,
    }
    light
}

/// Returns the mean light of a column of pixels.
fn column(picture: &RenderedImage, x: u32) -> f32 {
    (10..170).map(|y| linear(picture, (x, y)).x).sum::<f32>() / 160.0
}

/// Returns the metres in which the light rises from 10 to 90 per cent, beside the slab.
fn edge_width(renderer: &mut Renderer, height: f32, light: LightFrame) -> f32 {
    let mut picture = |light| draw(renderer, vec![slab(height, light)], ViewTarget::Screen);
    let (found, full) = (picture(light), picture(without_shadows(light)));
    let metre = WIDTH as f32 / 10.0;
    // The slab ends at a pixel; from there on, the ground is visible.
    let first = (3.0 * metre) as u32 + 2;
    let parts: Vec<f32> =
        (first..WIDTH).map(|x| column(&found, x) / column(&full, x).max(1e-6)).collect();
    assert!(parts[0] < 0.05, "at {height}, the shadow begins with {}", parts[0]);
    let at = |part: f32| {
        let index = parts.iter().position(|it| *it >= part).expect("it becomes light");
        let [before, after] = [parts[index - 1], parts[index]];
        (index as f32 - (after - part) / (after - before).max(1e-6)) / metre
    };
    at(0.9) - at(0.1)
}

/// Part of the diameter of a disc that lies between 10 and 90 per cent of its area, side by side.
const BETWEEN: f32 = 0.687;

#[test]
fn sun_penumbrae_grow_with_the_distance_of_casters() {
    let Some(mut renderer) = renderer(false) else { return };
    for (height, least, most) in [(1.0, 0.85, 1.15), (2.0, 0.85, 1.15), (3.5, 0.85, 1.15)] {
        let size = 0.08;
        let found = edge_width(&mut renderer, height, wide_sun(size));
        // Distance along the ray, and the slant of the ground.
        let wanted = 2.0 * BETWEEN * size * (height / 0.8) / 0.8;
        let part = found / wanted;
        assert!((least..most).contains(&part), "{found} m instead of {wanted} m from {height} m");
    }
    let hard = edge_width(&mut renderer, 2.0, wide_sun(0.0));
    assert!(hard < 0.12, "{hard}");
}

#[test]
fn lamp_penumbrae_grow_with_the_distance_of_casters() {
    let Some(mut renderer) = renderer(false) else { return };
    let size = 0.4;
    let mut parts = Vec::new();
    for height in [1.2, 1.8, 2.5] {
        let found = edge_width(&mut renderer, height, lamp(size));
        // The edge is at this point of the ground, where the ray is slanted.
        let x = 1.5 * height / (5.0 - height);
        let slant = ((x + 1.5).hypot(5.0)) / 5.0;
        let wanted = 2.0 * BETWEEN * size * height / (5.0 - height) * slant;
        parts.push(found / wanted);
    }
    assert!(parts.iter().all(|part| (0.8..1.2).contains(part)), "{parts:?}");
    let hard = edge_width(&mut renderer, 2.5, lamp(0.0));
    assert!(hard < 0.15, "{hard}");
}

/// Returns a fence, a high pole and a ball, in the light of a low sun and of a lamp.
fn garden(sun_size: f32, lamp_size: f32) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dim = [0.05, 0.06, 0.08];
    builder.sky(SkyFrame { top: dim, horizon: dim, ground: dim, tone_mapping: true, ..DARK });
    let ground = builder.matte([0.5, 0.5, 0.47]);
    let white = builder.matte([0.8, 0.8, 0.8]);
    let red = builder.matte([0.7, 0.2, 0.15]);
    let plane = super::meshes::PLANE;
    builder.add_at(plane, ground, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    for i in 0..7 {
        let at = Vec3::new(i as f32 * 0.4 - 3.2, 1.6, 0.7);
        builder.add_at(CUBE, white, at, Vec3::new(0.06, 0.06, 0.7));
    }
    builder.add_at(CUBE, white, Vec3::new(-2.0, 1.6, 1.2), Vec3::new(1.4, 0.05, 0.06));
    builder.add_at(CUBE, red, Vec3::new(0.1, 0.9, 1.6), Vec3::new(0.1, 0.1, 1.6));
    builder.add_at(SPHERE, red, Vec3::new(-0.9, -0.9, 0.8), Vec3::splat(0.3));
    builder.light(LightFrame { source_size: sun_size, ..sun(Vec3::new(0.5, -0.65, -0.7), 1.0) });
    let turned = Mat4::from_translation(Vec3::new(2.1, -0.4, 0.45)) * Mat4::from_rotation_z(0.5);
    builder.add_draw(CUBE, white, turned * Mat4::from_scale(Vec3::new(0.25, 0.25, 0.45)));
    let kind =
        LightKind::Omni { position: Vec3::new(3.1, 0.3, 1.5), range: 5.0, casts_shadows: true };
    let color = [0.4, 0.9, 2.2];
    builder.light(LightFrame { kind, color, source_size: lamp_size, ..LightFrame::DEFAULT });
    builder.build(vec![view(Vec3::new(0.2, -7.0, 4.2), Vec3::new(0.2, 0.0, 0.4))])
}

fn with_filter(packet: FramePacket, shadow_filter: ShadowFilter) -> Option<RenderedImage> {
    renderer(false)?;
    let mut options = options(false);
    options.quality = RenderQuality { shadow_filter, ..QUALITY };
    let mut renderer = Renderer::start(options).expect("the adapter was there before");
    Some(draw(&mut renderer, vec![packet], ViewTarget::Screen))
}

#[test]
fn soft_shadows() {
    let Some(soft) = with_filter(garden(0.05, 0.12), ShadowFilter::Pcss) else { return };
    compare("soft_shadows", &soft);
    let hard = with_filter(garden(0.0, 0.0), ShadowFilter::Pcss).expect("an adapter");
    compare("soft_shadows_off", &hard);
}

#[test]
fn shadows_of_points_are_those_of_pcf_to_the_bit() {
    let Some(points) = with_filter(garden(0.0, 0.0), ShadowFilter::Pcss) else { return };
    for sizes in [[0.0, 0.0], [0.05, 0.12]] {
        let pcf = with_filter(garden(sizes[0], sizes[1]), ShadowFilter::Pcf).expect("an adapter");
        assert!(pcf.rgba == points.rgba, "{sizes:?}");
    }
    let soft = with_filter(garden(0.05, 0.12), ShadowFilter::Pcss).expect("an adapter");
    assert!(soft.rgba != points.rgba);
}

#[test]
fn sizes_without_measure_leave_the_picture_whole() {
    let lit = |picture: &RenderedImage| linear(picture, (60, 150)).min_element();
    let Some(plain) = with_filter(garden(0.0, 0.0), ShadowFilter::Pcss) else { return };
    let huge = with_filter(garden(1e30, f32::MAX), ShadowFilter::Pcss).expect("an adapter");
    assert!(lit(&huge) > 0.02 && lit(&plain) > 0.02, "{} {}", lit(&huge), lit(&plain));
    // A light with such a size does not shine; the other one does.
    for size in [f32::NAN, f32::INFINITY] {
        let picture = with_filter(garden(0.05, size), ShadowFilter::Pcss).expect("an adapter");
        assert!(lit(&picture) > 0.02, "{size}");
    }
}
