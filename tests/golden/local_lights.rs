//! Golden pictures and measured pixels of omni and spot lights: many of them at once, beside a sum
//! over all lights that the test computes itself.

use super::forward::{SceneBuilder, view};
use super::meshes::{CUBE, SPHERE};
use super::{check, draw, renderer};
use engine::foundation::random::Random;
use engine::foundation::{Vec3, projections};
use engine::frame_packet::scene::{LightFrame, LightKind, SkyFrame, SkyVisibility};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::system::render::RenderedImage;

/// A sky without light, whose colors are shown as they are.
pub const DARK: SkyFrame = SkyFrame {
    top: [0.0; 3],
    horizon: [0.0; 3],
    ground: [0.0; 3],
    tone_mapping: false,
    shown: SkyVisibility::Hidden,
    ..SkyFrame::DEFAULT
};

/// Color and roughness of [`SceneBuilder::ground`].
const GROUND: [f32; 3] = [0.2, 0.22, 0.17];
const ROUGHNESS: f32 = 0.9;

fn omni(position: Vec3, range: f32, color: [f32; 3]) -> LightFrame {
    let kind = LightKind::Omni { position, range, casts_shadows: false };
    LightFrame { kind, color, ..LightFrame::DEFAULT }
}

/// Returns lamps and spots close above the ground, in a random order.
fn scattered(count: usize) -> Vec<LightFrame> {
    let mut random = Random::seed(11);
    let mut number = |least: f32, most: f32| least + (most - least) * random.next_f64() as f32;
    let mut all = Vec::new();
    for i in 0..count {
        let position = Vec3::new(number(-9.0, 9.0), number(-4.0, 16.0), number(0.2, 0.9));
        let color = [number(0.1, 1.0), number(0.1, 1.0), number(0.1, 1.0)];
        let range = number(0.6, 2.5);
        let direction = Vec3::new(number(-1.0, 1.0), number(-1.0, 1.0), -1.0).normalize();
        let (inner, outer) = (number(0.1, 0.4), number(0.5, 0.9));
        let kind = match i % 4 {
            0 => LightKind::Spot { position, direction, range, inner, outer, casts_shadows: false },
            _ => LightKind::Omni { position, range, casts_shadows: false },
        };
        let color = color.map(|part| part * 0.6);
        all.push(LightFrame { kind, color, ..LightFrame::DEFAULT });
    }
    all
}

fn camera_views() -> [View; 2] {
    let from = view(Vec3::new(0.0, -8.0, 4.0), Vec3::new(0.0, 2.0, 0.0));
    let mut flat = from.clone();
    let projection = projections::orthographic(-8.0, 8.0, -4.5, 4.5, -5.0, 60.0);
    flat.camera = CameraFrame { projection, near: -5.0, far: 60.0, ..flat.camera };
    [from, flat]
}

fn ground_with(lights: &[LightFrame], view: View) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    builder.ground();
    lights.iter().for_each(|light| builder.light(*light));
    builder.build(vec![view])
}

/// Returns the point of the ground that a pixel shows, and the direction to the camera.
fn ground_at(view: &View, (x, y): (u32, u32)) -> (Vec3, Vec3) {
    let back = (view.camera.projection * view.camera.view).inverse();
    let (x, y) = ((x as f32 + 0.5) / 320.0 * 2.0 - 1.0, 1.0 - (y as f32 + 0.5) / 180.0 * 2.0);
    let [near, far] = [0.0, 1.0].map(|depth| back.project_point3(Vec3::new(x, y, depth)));
    let ray = (far - near).normalize();
    (near - ray * (near.z / ray.z), -ray)
}

/// Returns the light of one lamp that the ground reflects, by the formulas of docs/renderer.md.
fn reflected(light: &LightFrame, point: Vec3, back: Vec3) -> Vec3 {
    let (position, range, cone) = match light.kind {
        LightKind::Sun { .. } => return Vec3::ZERO,
        LightKind::Omni { position, range, .. } => (position, range, 1.0),
        LightKind::Spot { position, direction, range, inner, outer, .. } => {
            let facing = (point - position).normalize().dot(direction);
            let cone = (facing - outer.cos()) / (inner.cos() - outer.cos()).max(0.001);
            (position, range, cone.clamp(0.0, 1.0))
        }
    };
    let metres = position.distance(point);
    let rest = (metres / range).powi(2);
    if rest >= 1.0 {
        return Vec3::ZERO;
    }
    let strength = ((1.0 - rest * rest) * cone / metres).powi(2);
    let towards = (position - point) / metres;
    let half = (towards + back).normalize();
    let (n_l, n_v, n_h) = (towards.z.max(0.0), back.z.abs().max(1e-4), half.z.max(0.0));
    let square = ROUGHNESS.powi(4);
    let d = n_h * n_h * (square - 1.0) + 1.0;
    let smith = |a: f32, b: f32| a * (b * b * (1.0 - square) + square).sqrt();
    let visible = 0.5 / (smith(n_l, n_v) + smith(n_v, n_l));
    let fresnel = 0.04 + 0.96 * (1.0 - towards.dot(half).max(0.0)).powi(5);
    let matte = Vec3::from_array(GROUND) * (1.0 - fresnel);
    let shine = square / (d * d) * visible * fresnel;
    (matte + shine) * Vec3::from_array(light.color) * (strength * n_l)
}

/// Returns the linear light of a pixel.
fn linear(picture: &RenderedImage, (x, y): (u32, u32)) -> Vec3 {
    let at = ((y * picture.width + x) * 4) as usize;
    let part = |i: usize| {
        let value = f32::from(picture.rgba[at + i]) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(part(0), part(1), part(2))
}

fn encoded(light: f32) -> f32 {
    let light = light.clamp(0.0, 1.0);
    let bright = 1.055 * light.max(0.0031308).powf(1.0 / 2.4) - 0.055;
    255.0 * if light <= 0.0031308 { light * 12.92 } else { bright }
}

#[test]
fn clustered_light_equals_the_sum_over_all_lights() {
    let lights = scattered(700);
    for view in camera_views() {
        let Some(mut renderer) = renderer(false) else { return };
        let packet = ground_with(&lights, view.clone());
        let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        let (mut bright, mut compared) = (0, 0);
        for pixel in (0..180).step_by(3).flat_map(|y| (0..320).step_by(3).map(move |x| (x, y))) {
            let (point, back) = ground_at(&view, pixel);
            if !(-4.0..30.0).contains(&point.y) || point.x.abs() > 30.0 {
                continue;
            }
            let sum: Vec3 = lights.iter().map(|light| reflected(light, point, back)).sum();
            let found = linear(&picture, pixel);
            compared += 1;
            bright += u32::from(sum.max_element() > 0.02);
            for (wanted, found) in sum.to_array().into_iter().zip(found.to_array()) {
                let off = (encoded(wanted) - encoded(found)).abs();
                assert!(off < 2.5, "{pixel:?} at {point}: {found} instead of {wanted}");
            }
        }
        assert!(bright > 1000 && compared > 3000, "{bright} of {compared} pixels are lit");
    }
}

#[test]
fn light_falls_off_by_the_inverse_square() {
    let above = |height: f32| {
        let mut main = view(Vec3::new(0.0, 0.0, 6.0), Vec3::new(0.0, 0.001, 0.0));
        main.clear = Some([0.0, 0.0, 0.0, 1.0]);
        let lamp = omni(Vec3::new(0.0, 0.0, height), f32::INFINITY, [height * height * 2.0; 3]);
        let mut renderer = renderer(false)?;
        let picture = draw(&mut renderer, vec![ground_with(&[lamp], main)], ViewTarget::Screen);
        Some(linear(&picture, (160, 90)).x)
    };
    // Lamps whose strength grows with the square of their distance look the same.
    let Some(near) = above(1.0) else { return };
    for height in [2.0, 5.0] {
        let far = above(height).expect("the adapter was there before");
        assert!((near - far).abs() < 0.02 * near, "{near} and {far} from {height} metres");
    }
}

/// Returns a market at night: hundreds of small lamps among boxes and spheres.
fn many_lamps() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dim = [0.004, 0.005, 0.009];
    builder.sky(SkyFrame { top: dim, horizon: dim, ground: dim, tone_mapping: true, ..DARK });
    builder.ground();
    let white = builder.matte([0.7, 0.7, 0.7]);
    for i in 0..60 {
        let (x, y) = ((i % 10) as f32 * 1.8 - 8.1, (i / 10) as f32 * 2.2 - 3.0);
        match i % 3 {
            0 => builder.add_at(SPHERE, white, Vec3::new(x, y, 0.4), Vec3::splat(0.4)),
            _ => builder.add_at(CUBE, white, Vec3::new(x, y, 0.3), Vec3::splat(0.3)),
        }
    }
    for light in scattered(500) {
        builder.light(LightFrame { color: light.color.map(|part| part * 0.7), ..light });
    }
    builder.build(vec![view(Vec3::new(0.0, -10.0, 5.0), Vec3::new(0.0, 1.0, 0.0))])
}

#[test]
fn hundreds_of_lamps() {
    check("many_lamps", vec![many_lamps()]);
}
