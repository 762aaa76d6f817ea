//! Golden pictures and measured pixels of omni and spot lights: many of them at once, beside a sum
//! over all lights that the test computes itself.

use super::forward::{SceneBuilder, view};
use super::meshes::{CUBE, SPHERE};
use super::{check, draw, renderer};
use engine::foundation::random::Random;
use engine::foundation::{Vec3, projections};
use engine::frame_packet::scene::{
    DrawChange, LightFrame, LightKind, LightTexture, SkyFrame, SkyVisibility,
};
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{CameraFrame, CaptureRequest, FramePacket, View, ViewTarget};
use engine::system::render::{RenderedImage, RendererEvent};

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
        LightKind::Sun { .. } | LightKind::Area { .. } => return Vec3::ZERO,
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
pub fn linear(picture: &RenderedImage, (x, y): (u32, u32)) -> Vec3 {
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

#[test]
fn lights_light_only_draws_in_their_layers() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    let white = builder.matte([0.8, 0.8, 0.8]);
    for (x, layers) in [(-1.2, !0xff | 1), (0.0, !0xff | 2), (1.2, u32::MAX)] {
        builder.add_at(SPHERE, white, Vec3::new(x, 0.0, 0.0), Vec3::splat(0.5));
        if let Some(DrawChange::Set(draw)) = builder.frame.changes.last_mut() {
            draw.layers = layers;
        }
    }
    let red = omni(Vec3::new(0.0, -3.0, 0.0), 9.0, [4.0, 0.0, 0.0]);
    builder.light(LightFrame { layers: 1, ..red });
    let kind = LightKind::Sun { direction: Vec3::Y, casts_shadows: false };
    builder.light(LightFrame { kind, color: [0.0, 0.5, 0.0], layers: 2, ..LightFrame::DEFAULT });
    let kind = LightKind::Sun { direction: Vec3::Y, casts_shadows: false };
    builder.light(LightFrame { kind, color: [0.0, 0.0, 0.5], layers: 0, ..LightFrame::DEFAULT });
    let packet = builder.build(vec![view(Vec3::new(0.0, -6.0, 0.0), Vec3::ZERO)]);
    let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let lit = [(111, 90), (160, 90), (209, 90)].map(|pixel| {
        let light = linear(&picture, pixel);
        [light.x > 0.05, light.y > 0.05, light.z > 0.0]
    });
    assert_eq!(lit, [[true, false, false], [false, true, false], [true, true, false]]);
}

const WINDOW: TextureSlot = TextureSlot(5);
const LAMP: TextureSlot = TextureSlot(6);

/// Returns a texture of 64 by 64 texels without mip levels.
fn texels(format: TexelFormat, texel: impl Fn(u32, u32) -> Vec<u8>) -> TextureTexels {
    let all = (0..64).flat_map(|y| (0..64).map(move |x| (x, y)));
    let bytes: Vec<u8> = all.flat_map(|(x, y)| texel(x, y)).collect();
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let bytes = bytes.into();
    TextureTexels { width: 64, height: 64, levels: 1, format, sampling, bytes, start: 0 }
}

/// Returns a wall and the ground, with a spot on the left that shows a window with one red pane,
/// and a lamp on the right that shines to the right and downwards.
fn textured_lights() -> FramePacket {
    let window = texels(TexelFormat::Rgba8Srgb, |x, y| {
        let is_bar = x % 16 < 3 || y % 16 < 3;
        let is_pane = (16..48).contains(&x) && (16..48).contains(&y) && !is_bar;
        match (is_pane, x < 32 && y < 32) {
            (false, _) => vec![0, 0, 0, 255],
            (true, true) => vec![255, 40, 30, 255],
            (true, false) => vec![255; 4],
        }
    });
    // Half of the columns are lit, and the rows of the first third.
    let lamp = texels(TexelFormat::Rgba16Float, |x, y| {
        let light = if x >= 32 && y < 40 { 0x3c00u16 } else { 0 };
        [light, light, light, 0x3c00].map(u16::to_le_bytes).concat()
    });
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    builder.ground();
    let white = builder.matte([0.8, 0.8, 0.8]);
    builder.add_at(CUBE, white, Vec3::new(0.0, 3.0, 2.0), Vec3::new(5.0, 0.2, 2.0));
    builder.packet.textures = vec![
        TextureChange::Set { slot: WINDOW, texels: window },
        TextureChange::Set { slot: LAMP, texels: lamp },
    ];
    let texture = |slot, axis| Some(LightTexture { slot, axis, right: Vec3::X });
    let kind = LightKind::Spot {
        position: Vec3::new(-2.0, -1.0, 1.6),
        direction: Vec3::Y,
        range: 12.0,
        inner: 0.6,
        outer: 0.62,
        casts_shadows: false,
    };
    let spot = LightFrame { kind, color: [16.0; 3], ..LightFrame::DEFAULT };
    builder.light(LightFrame { texture: texture(WINDOW, Vec3::Y), ..spot });
    let lamp = omni(Vec3::new(2.0, 1.6, 1.6), 8.0, [2.0, 1.9, 1.6]);
    builder.light(LightFrame { texture: texture(LAMP, Vec3::NEG_Z), ..lamp });
    builder.build(vec![view(Vec3::new(0.0, -6.0, 2.2), Vec3::new(0.0, 2.0, 1.3))])
}

#[test]
fn lights_shine_through_their_textures() {
    check("light_textures", vec![textured_lights()]);
}

#[test]
fn a_white_texture_changes_no_light() {
    let plain = |slot: Option<TextureSlot>| {
        let mut packet = textured_lights();
        let white = texels(TexelFormat::Rgba8, |_, _| vec![255; 4]);
        packet.textures.push(TextureChange::Set { slot: TextureSlot(7), texels: white });
        for light in &mut packet.scenes[0].lights {
            let texture = light.texture;
            light.texture = texture.zip(slot).map(|(it, slot)| LightTexture { slot, ..it });
        }
        let mut renderer = renderer(false)?;
        Some(draw(&mut renderer, vec![packet], ViewTarget::Screen))
    };
    let Some(none) = plain(None) else { return };
    let white = plain(Some(TextureSlot(7))).expect("there is an adapter");
    let worst = none.rgba.iter().zip(&white.rgba).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(worst <= Some(1), "{worst:?}");
}

#[test]
fn a_light_whose_texture_is_none_shines_without_it() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut packet = textured_lights();
    packet.textures.remove(0);
    packet.captures.push(CaptureRequest { number: 7, of: ViewTarget::Screen });
    renderer.submit(packet);
    renderer.finish();
    let events = renderer.events();
    let is_refused =
        |event: &RendererEvent| matches!(event, RendererEvent::TextureRefused { slot: WINDOW, .. });
    assert_eq!(events.iter().filter(|event| is_refused(event)).count(), 1, "{events:#?}");
    let found = events.into_iter().find_map(|event| match event {
        RendererEvent::Captured { picture, .. } => Some(picture),
        _ => None,
    });
    let found = found.expect("the frame is drawn");
    // The same lights, of which the spot has no texture.
    let mut plain = textured_lights();
    plain.scenes[0].lights[0].texture = None;
    let mut renderer = self::renderer(false).expect("there is an adapter");
    let plain = draw(&mut renderer, vec![plain], ViewTarget::Screen);
    assert!(found.rgba == plain.rgba, "it shines as a light without a texture");
    // And not as with its window.
    let mut renderer = self::renderer(false).expect("there is an adapter");
    let with_window = draw(&mut renderer, vec![textured_lights()], ViewTarget::Screen);
    assert!(found.rgba != with_window.rgba);
}
