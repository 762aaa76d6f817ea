//! Golden pictures and measured pixels of decals.

use super::forward::{SceneBuilder, look_camera, sun, view};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::screen_space::{largest_difference, picture, renderer_with, views_only};
use super::{HEIGHT, QUALITY, WIDTH, compare, draw};
use engine::foundation::random::Random;
use engine::foundation::{Mat4, Quat, Vec3, projections};
use engine::frame_packet::decal::{DecalFrame, DecalTextures};
use engine::frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame};
use engine::frame_packet::scene::{DrawChange, DrawTransform};
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{FramePacket, View, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage};
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, TAU};

const RING: TextureSlot = TextureSlot(20);
const RIPPLES: TextureSlot = TextureSlot(21);
const SIGN: TextureSlot = TextureSlot(22);
const SIDE: u32 = 256;

/// Returns a texture whose texels are those of a function of the position, from -1 to 1.
fn texture(
    slot: TextureSlot,
    format: TexelFormat,
    of: impl Fn(f32, f32) -> [f32; 4],
) -> TextureChange {
    let at = |index: u32| (index as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
    let mut bytes = Vec::new();
    for y in 0..SIDE {
        for x in 0..SIDE {
            bytes.extend(of(at(x), at(y)).map(|value| (value * 255.0).round() as u8));
        }
    }
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let (width, height, levels, start) = (SIDE, SIDE, 1, 0);
    let bytes = bytes.into();
    let texels = TextureTexels { width, height, levels, format, sampling, bytes, start };
    TextureChange::Set { slot, texels }
}

/// A ring in red with a blue mark at the top, waves around the middle, and a sign.
fn textures() -> Vec<TextureChange> {
    vec![
        texture(RING, TexelFormat::Rgba8Srgb, |x, y| {
            let radius = x.hypot(y);
            let is_mark = x.abs() < 0.12 && y < -0.2 && radius < 0.95;
            match (0.7..0.95).contains(&radius) || is_mark {
                true if is_mark => [0.1, 0.2, 0.9, 1.0],
                true => [0.9, 0.1, 0.05, 1.0],
                false => [0.0; 4],
            }
        }),
        texture(RIPPLES, TexelFormat::Rgba8, |x, y| {
            let radius = x.hypot(y).max(1e-3);
            let slope = (radius * 4.0 * TAU).sin() * 0.6 * (1.0 - radius).max(0.0);
            let normal = Vec3::new(-x / radius * slope, y / radius * slope, 1.0).normalize();
            let [red, green, blue] = (normal * 0.5 + 0.5).to_array();
            [red, green, blue, 1.0]
        }),
        texture(SIGN, TexelFormat::Rgba8Srgb, |x, y| {
            let on = x.abs() < 0.8 && (y.abs() < 0.15 || (y + x.abs() - 0.5).abs() < 0.15);
            if on { [0.2, 1.0, 0.4, 1.0] } else { [0.0; 4] }
        }),
    ]
}

/// Returns a decal that is projected downwards, with half of its size.
fn downwards(at: Vec3, half: Vec3) -> DecalFrame {
    // The y axis points down, and the z axis to the back.
    let turn = Quat::from_rotation_x(-FRAC_PI_2);
    let pose = Mat4::from_translation(at) * Mat4::from_quat(turn);
    let pose = pose * Mat4::from_scale(Vec3::new(half.x, half.z, half.y));
    DecalFrame { pose: DrawTransform::of(&pose), ..DecalFrame::DEFAULT }
}

fn textured(decal: DecalFrame, color: TextureSlot) -> DecalFrame {
    let textures = DecalTextures { color: Some(color), ..decal.textures };
    DecalFrame { textures, ..decal }
}

fn set_decals(builder: &mut SceneBuilder, decals: Vec<DecalFrame>) {
    builder.frame.decals_changed = true;
    builder.frame.decals = decals;
}

/// Returns a ground with a box and a sphere, and decals on them.
fn scene(with_decals: bool) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.packet.textures = textures();
    builder.ground();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.0));
    let sand = builder.matte([0.5, 0.45, 0.35]);
    builder.add_at(CUBE, sand, Vec3::new(0.2, 1.2, 0.6), Vec3::splat(0.6));
    builder.add_at(SPHERE, sand, Vec3::new(2.2, 0.6, 0.7), Vec3::splat(0.7));
    if with_decals {
        let ring = textured(downwards(Vec3::new(-2.2, 0.3, 0.0), Vec3::splat(1.1)), RING);
        // Over the edge of the box, and on the ground.
        let over = textured(downwards(Vec3::new(0.2, 0.6, 0.7), Vec3::new(0.9, 0.9, 0.8)), RING);
        let puddle = DecalFrame {
            textures: DecalTextures { normal: Some(RIPPLES), ..DecalTextures::default() },
            color: [0.02, 0.03, 0.04],
            roughness: Some(0.05),
            ..downwards(Vec3::new(0.3, -1.3, 0.0), Vec3::new(1.6, 0.8, 0.2))
        };
        let ahead = Mat4::from_translation(Vec3::new(0.2, 0.6, 0.5));
        let pose = ahead * Mat4::from_scale(Vec3::new(0.45, 0.3, 0.45));
        let sign = DecalFrame {
            pose: DrawTransform::of(&pose),
            textures: DecalTextures {
                color: Some(SIGN),
                emissive: Some(SIGN),
                ..DecalTextures::default()
            },
            emissive: 1.5,
            order: 1,
            ..DecalFrame::DEFAULT
        };
        let ball = textured(downwards(Vec3::new(2.2, 0.6, 1.0), Vec3::new(0.6, 0.6, 0.5)), RING);
        set_decals(&mut builder, vec![ring, over, puddle, sign, ball]);
    }
    builder.build(vec![view(Vec3::new(0.0, -6.0, 3.4), Vec3::new(0.1, 0.3, 0.3))])
}

/// Returns the frames until all textures of decals are converted.
fn frames(packet: FramePacket) -> Vec<FramePacket> {
    let later = FramePacket { views: packet.views.clone(), scale: 1.0, ..FramePacket::default() };
    let again = |packet: &FramePacket| FramePacket {
        views: packet.views.clone(),
        scale: 1.0,
        captures: vec![super::CaptureRequest { number: 1, of: ViewTarget::Screen }],
        ..FramePacket::default()
    };
    let mut packet = packet;
    packet.captures = again(&later).captures;
    vec![packet, again(&later), later]
}

/// Draws the frames of a packet, and returns the last picture.
fn settled(packet: FramePacket, quality: RenderQuality) -> Option<RenderedImage> {
    let mut renderer = renderer_with(quality, (WIDTH, HEIGHT))?;
    let mut all = frames(packet);
    let last = all.pop().expect("there are frames");
    for packet in all {
        renderer.submit(packet);
        renderer.finish();
        renderer.events();
    }
    Some(draw(&mut renderer, vec![last], ViewTarget::Screen))
}

#[test]
fn decals_paint_bend_smooth_and_glow() {
    let Some(on) = settled(scene(true), QUALITY) else { return };
    compare("decals", &on);
    let off = picture(scene(false), QUALITY).expect("there is an adapter");
    compare("decals_off", &off);
}

#[test]
fn decals_work_with_one_sample() {
    let quality = RenderQuality { samples: 1, ..QUALITY };
    let Some(one) = settled(scene(true), quality) else { return };
    let four = settled(scene(true), QUALITY).expect("there is an adapter");
    let mean = super::screen_space::mean_difference(&one, &four);
    assert!(mean < 3.0, "{mean}");
}

/// Returns an unlit wall of one color that fills the view, with decals.
fn wall(decals: Vec<DecalFrame>, change: impl FnOnce(&mut SurfaceFrame)) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let mut surface =
        SurfaceFrame { base_color: [0.2, 0.2, 0.2, 1.0], unlit: true, ..SurfaceFrame::DEFAULT };
    change(&mut surface);
    let surface = builder.surface(surface);
    builder.frame.sky = Some(super::local_lights::DARK);
    builder.add_at(PLANE, surface, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    set_decals(&mut builder, decals);
    builder.build(vec![view(Vec3::new(0.0, -0.1, 5.0), Vec3::ZERO)])
}

/// Returns the byte of red in the middle of a picture of a wall.
fn middle(packet: FramePacket) -> Option<u8> {
    let image = picture(packet, QUALITY)?;
    Some(image.rgba[((image.height / 2 * image.width + image.width / 2) * 4) as usize])
}

fn byte(light: f64) -> u8 {
    let value =
        if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round() as u8
}

#[track_caller]
fn assert_middle(decals: Vec<DecalFrame>, light: f64) {
    let Some(found) = middle(wall(decals, |_| {})) else { return };
    assert!(found.abs_diff(byte(light)) <= 1, "{found} is not {}", byte(light));
}

#[test]
fn opacity_order_and_fades_blend_linear_light() {
    let whole = downwards(Vec3::ZERO, Vec3::splat(1.0));
    let gray = |value: f32| DecalFrame { color: [value; 3], ..whole };
    assert_middle(vec![], 0.2);
    assert_middle(vec![gray(0.6)], 0.6);
    assert_middle(vec![DecalFrame { opacity: 0.5, ..gray(0.6) }], 0.4);
    assert_middle(vec![DecalFrame { color_strength: 0.0, ..gray(0.6) }], 0.2);
    assert_middle(vec![DecalFrame { order: 1, ..gray(0.5) }, gray(0.9)], 0.5);
    assert_middle(vec![gray(0.5), gray(0.9)], 0.9);
    // The camera is five metres away.
    assert_middle(vec![DecalFrame { distance_fade: [4.0, 6.0], ..gray(0.6) }], 0.4);
    assert_middle(vec![DecalFrame { distance_fade: [1.0, 4.0], ..gray(0.6) }], 0.2);
    assert_middle(vec![DecalFrame { life: Some([-1.0, 1.0]), ..gray(0.6) }], 0.4);
    // Beside the surface, in other layers, and from behind.
    let above = downwards(Vec3::new(0.0, 0.0, 2.0), Vec3::splat(1.0));
    assert_middle(vec![above], 0.2);
    assert_middle(vec![DecalFrame { layers: 0, ..gray(0.6) }], 0.2);
    let turned = Mat4::from_quat(Quat::from_rotation_x(FRAC_PI_2));
    assert_middle(vec![DecalFrame { pose: DrawTransform::of(&turned), ..gray(0.6) }], 0.2);
    // At an angle of 60 degrees to the projection: half between 45 and 75 degrees, by cosines.
    let slanted = Mat4::from_quat(Quat::from_rotation_x(-FRAC_PI_2 + FRAC_PI_3));
    let angle_fade = [FRAC_PI_4, 1.308_997];
    let pose = DrawTransform::of(&(slanted * Mat4::from_scale(Vec3::splat(2.0))));
    let part = (0.5 - 0.258_819) / (f64::from(FRAC_1_SQRT_2) - 0.258_819);
    assert_middle(vec![DecalFrame { pose, angle_fade, ..gray(0.6) }], 0.2 + 0.4 * part);
}

/// A decal on a wall: its middle, half of its side, and its light.
type Patch = (Vec3, f32, f32);

/// Returns the light of the wall at a point, and `None` within a margin of an edge of a decal.
fn patch_light(patches: &[Patch], point: Vec3, margin: f32) -> Option<f64> {
    let off = |(at, half, _): &Patch| (point - *at).abs().truncate().max_element() - half;
    if patches.iter().any(|patch| off(patch).abs() < margin) {
        return None;
    }
    let top = patches.iter().rev().find(|patch| off(patch) < 0.0);
    Some(top.map_or(0.2, |(.., light)| f64::from(*light)))
}

#[test]
fn decals_of_two_cameras_equal_a_search_of_all() {
    let mut random = Random::seed(9);
    let mut number = |least: f32, most: f32| least + (most - least) * random.next_f64() as f32;
    let patches: Vec<Patch> = (0..60)
        .map(|_| (Vec3::new(number(-3.0, 3.0), number(-2.0, 2.5), 0.0), number(0.1, 0.5)))
        .map(|(at, half)| (at, half, 0.3 + at.x.abs() * 0.1))
        .collect();
    let decal = |(order, (at, half, light)): (usize, &Patch)| DecalFrame {
        color: [*light; 3],
        order: order as i32,
        ..downwards(*at, Vec3::splat(*half))
    };
    let whole = view(Vec3::new(0.0, -0.1, 5.0), Vec3::ZERO);
    let aspect = 160.0 / 180.0;
    let camera = look_camera(Vec3::new(0.0, -3.0, 4.0), Vec3::ZERO, aspect);
    let left = View { rectangle: [0.0, 0.0, 0.5, 1.0], camera, ..whole.clone() };
    let mut camera = look_camera(Vec3::new(0.0, -0.1, 5.0), Vec3::ZERO, aspect);
    camera.projection = projections::orthographic(-2.0, 2.0, -2.25, 2.25, 0.1, 50.0);
    camera.far = 50.0;
    let rectangle = [0.5, 0.0, 0.5, 1.0];
    let right = View { rectangle, camera, clear: None, ..whole };
    let views = vec![left, right];
    // Scaled pictures are blurred.
    for (scale, margin) in [(1.0, 0.06), (0.5, 0.18)] {
        let quality = RenderQuality { scale, samples: 1, ..QUALITY };
        let mut packet = wall(patches.iter().enumerate().map(decal).collect(), |_| {});
        packet.views.clone_from(&views);
        let Some(image) = picture(packet, quality) else { return };
        let mut compared = [0, 0];
        for (x, y) in (0..36 * 32).map(|i| (i % 32 * 10 + 5, i / 32 * 5 + 2)) {
            let which = usize::from(x >= 160);
            let camera = &views[which].camera;
            let back = (camera.projection * camera.view).inverse();
            let flat = ((x % 160) as f32 + 0.5) / 80.0 - 1.0;
            let upright = 1.0 - (y as f32 + 0.5) / 90.0;
            let [near, far] =
                [0.0, 1.0].map(|depth| back.project_point3(Vec3::new(flat, upright, depth)));
            let point = near - (far - near) * (near.z / (far.z - near.z));
            let Some(light) = patch_light(&patches, point, margin) else { continue };
            let found = image.rgba[((y * image.width + x) * 4) as usize];
            assert!(found.abs_diff(byte(light)) <= 2, "{scale} {x}, {y}: {found} for {light}");
            compared[which] += 1;
        }
        assert!(compared.iter().all(|count| *count > 40), "{compared:?}");
    }
}

#[test]
fn only_opaque_meshes_of_their_layers_have_decals() {
    let decal = DecalFrame { color: [0.6; 3], ..downwards(Vec3::ZERO, Vec3::splat(1.0)) };
    let Some(glass) = middle(wall(vec![decal], |surface| surface.alpha = SurfaceAlphaMode::Blend))
    else {
        return;
    };
    assert!(glass.abs_diff(byte(0.2)) <= 1, "{glass}");
    let mut packet = wall(vec![DecalFrame { layers: 2, ..decal }], |_| {});
    if let DrawChange::Set(draw) = &mut packet.scenes[0].changes[0] {
        // The lowest eight bits are its light layers.
        draw.layers = !2;
    }
    let found = middle(packet).expect("there is an adapter");
    assert!(found.abs_diff(byte(0.2)) <= 1, "{found}");
}

#[test]
fn decals_that_end_leave_no_trace() {
    let Some(mut renderer) = renderer_with(QUALITY, (WIDTH, HEIGHT)) else { return };
    let plain = draw(&mut renderer, vec![scene(false)], ViewTarget::Screen);
    let change = |decals: Vec<DecalFrame>| {
        let mut packet = views_only(scene(false));
        let frame = engine::frame_packet::scene::SceneFrame {
            scene: 1,
            decals_changed: true,
            decals,
            ..Default::default()
        };
        packet.scenes.push(frame);
        packet
    };
    let all = scene(true).scenes[0].decals.clone();
    let with = draw(&mut renderer, vec![change(all)], ViewTarget::Screen);
    assert!(largest_difference(&plain, &with) > 40);
    let after = draw(&mut renderer, vec![change(Vec::new())], ViewTarget::Screen);
    assert_eq!(largest_difference(&plain, &after), 0);
}

#[test]
fn decals_of_an_endless_size_are_not_shown() {
    for half in [5e13, 1e14, 1e30] {
        let huge = downwards(Vec3::ZERO, Vec3::splat(half));
        assert_middle(vec![DecalFrame { color: [0.6; 3], ..huge }], 0.2);
    }
    let large = downwards(Vec3::ZERO, Vec3::splat(1e4));
    assert_middle(vec![DecalFrame { color: [0.6; 3], ..large }], 0.6);
}

#[test]
fn hostile_decals_leave_finite_light() {
    let mut all = Vec::new();
    for number in [f32::NAN, f32::INFINITY, f32::MAX, -1.0] {
        let usual = downwards(Vec3::ZERO, Vec3::splat(1.0));
        all.push(DecalFrame { emissive: number, ..usual });
        all.push(DecalFrame { color: [number; 3], ..usual });
        all.push(DecalFrame { opacity: number, ..usual });
        all.push(DecalFrame { normal_strength: number, ..textured(usual, RING) });
        all.push(DecalFrame { angle_fade: [number; 2], ..usual });
        all.push(DecalFrame { roughness: Some(number), ..usual });
        all.push(DecalFrame { pose: DrawTransform([[number; 4]; 3]), ..usual });
    }
    let packet = wall(all, |surface| surface.unlit = false);
    let Some(image) = picture(packet, QUALITY) else { return };
    // Outside of the decals, the wall is as before.
    let plain = picture(wall(Vec::new(), |surface| surface.unlit = false), QUALITY);
    let plain = plain.expect("there is an adapter");
    assert_eq!(image.rgba[..4], plain.rgba[..4]);
}
