//! Golden images and numeric tests of screen-space effects: ambient occlusion, contact shadows, and
//! that effects, views and sizes do not disturb each other.

use super::forward::{SceneBuilder, look_camera, shadows, sun, surfaces, view};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::{HEIGHT, QUALITY, WIDTH, draw, options, renderer};
use engine::foundation::{Vec3, projections};
use engine::frame_packet::mesh::{SurfaceFrame, SurfaceSlot};
use engine::frame_packet::scene::{SceneFrame, SkyFrame, SkyVisibility};
use engine::frame_packet::shading_environment::ScreenSpaceValues;
use engine::frame_packet::texture::{SamplerSettings, TextureChange, TextureSlot, WrapMode};
use engine::frame_packet::{CameraFrame, FramePacket, ViewTarget};
use engine::system::render::{
    RenderQuality, RenderedImage, Renderer, RendererEvent, RendererOptions, SurfaceTarget,
};

pub const OFF: ScreenSpaceValues = ScreenSpaceValues::DEFAULT;
const OCCLUSION: ScreenSpaceValues = ScreenSpaceValues {
    ambient_occlusion_intensity: 1.0,
    ambient_occlusion_radius: 0.8,
    ambient_occlusion_resolution: 1.0,
    ..OFF
};
const CONTACT: ScreenSpaceValues = ScreenSpaceValues { contact_shadow_length: 0.3, ..OFF };
pub const LENS: ScreenSpaceValues = ScreenSpaceValues {
    depth_of_field: 1.0,
    depth_of_field_distance: 4.0,
    depth_of_field_aperture: 0.2,
    depth_of_field_radius: 0.04,
    ..OFF
};
pub const SHUTTER: ScreenSpaceValues =
    ScreenSpaceValues { motion_blur_shutter: 0.8, motion_blur_radius: 0.08, ..OFF };
pub const TEMPORAL: ScreenSpaceValues = ScreenSpaceValues { temporal_anti_aliasing: 1.0, ..OFF };
pub const EVERYTHING: ScreenSpaceValues = ScreenSpaceValues {
    motion_blur_shutter: 0.5,
    temporal_anti_aliasing: 1.0,
    ambient_occlusion_intensity: 1.0,
    contact_shadow_length: 0.3,
    ..LENS
};

/// A sky that is as bright everywhere.
pub const EVEN_SKY: SkyFrame = SkyFrame {
    top: [0.6; 3],
    horizon: [0.6; 3],
    ground: [0.6; 3],
    shown: SkyVisibility::Hidden,
    ..SkyFrame::DEFAULT
};

pub fn with(mut packet: FramePacket, values: ScreenSpaceValues) -> FramePacket {
    for view in &mut packet.views {
        view.environment.screen_space = values;
    }
    packet
}

/// Returns a packet's views without its changes.
pub fn views_only(packet: FramePacket) -> FramePacket {
    FramePacket { views: packet.views, scale: 1.0, ..FramePacket::default() }
}

/// Returns a room with boxes and spheres in a row, from near to far.
pub fn room(camera: CameraFrame) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.light(sun(Vec3::new(0.4, 0.7, -0.9), 0.5));
    let white = builder.matte([0.75, 0.75, 0.72]);
    builder.add_at(PLANE, white, Vec3::ZERO, Vec3::new(30.0, 30.0, 1.0));
    builder.add_at(CUBE, white, Vec3::new(0.0, 9.0, 1.5), Vec3::new(8.0, 0.3, 1.5));
    builder.add_at(CUBE, white, Vec3::new(-3.2, 4.0, 1.5), Vec3::new(0.3, 5.0, 1.5));
    let red = builder.matte([0.7, 0.2, 0.15]);
    let blue = builder.matte([0.2, 0.3, 0.7]);
    for i in 0..5 {
        let at = Vec3::new(i as f32 * 0.95 - 2.0, i as f32 * 1.9 - 1.6, 0.4);
        let (mesh, surface) = if i % 2 == 0 { (SPHERE, red) } else { (CUBE, blue) };
        builder.add_at(mesh, surface, at, Vec3::splat(0.4));
    }
    let glow = builder.surface(SurfaceFrame { emissive: [6.0, 4.0, 1.5], ..SurfaceFrame::DEFAULT });
    for i in 0..6 {
        let at = Vec3::new(i as f32 * 0.9 - 1.6, 8.4, 1.2);
        builder.add_at(SPHERE, glow, at, Vec3::splat(0.06));
    }
    let mut main = view(Vec3::ZERO, Vec3::Y);
    main.camera = camera;
    builder.build(vec![main])
}

pub fn room_camera() -> CameraFrame {
    look_camera(Vec3::new(0.3, -5.2, 1.7), Vec3::new(-0.2, 0.0, 0.7), 320.0 / 180.0)
}

pub fn flat_camera() -> CameraFrame {
    let mut camera = room_camera();
    camera.projection = projections::orthographic(-3.2, 3.2, -1.8, 1.8, 0.1, 50.0);
    camera.far = 50.0;
    camera
}

#[track_caller]
pub fn check(name: &str, packet: FramePacket) {
    super::check(name, vec![packet]);
}

pub fn renderer_with(quality: RenderQuality, (width, height): (u32, u32)) -> Option<Renderer> {
    let output = SurfaceTarget::Offscreen { width, height };
    renderer(false)?;
    Renderer::start(RendererOptions { quality, output, ..options(false) }).ok()
}

/// Draws one packet with a new renderer.
pub fn picture(packet: FramePacket, quality: RenderQuality) -> Option<RenderedImage> {
    let mut renderer = renderer_with(quality, (WIDTH, HEIGHT))?;
    Some(draw(&mut renderer, vec![packet], ViewTarget::Screen))
}

/// Returns the greatest difference of two images' bytes.
pub fn largest_difference(a: &RenderedImage, b: &RenderedImage) -> u8 {
    a.rgba.iter().zip(&b.rgba).map(|(a, b)| a.abs_diff(*b)).max().expect("there are pixels")
}

pub fn mean_difference(a: &RenderedImage, b: &RenderedImage) -> f64 {
    let sum: u64 = a.rgba.iter().zip(&b.rgba).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.rgba.len() as f64
}

/// Returns the linear light of a pixel's green channel.
pub fn light_at(image: &RenderedImage, x: u32, y: u32) -> f64 {
    let byte = image.rgba[((y * image.width + x) * 4 + 1) as usize];
    let value = f64::from(byte) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

pub const ONE_SAMPLE: RenderQuality = RenderQuality { samples: 1, ..QUALITY };

#[test]
fn room_without_effects() {
    check("screen_off", with(room(room_camera()), OFF));
}

#[test]
fn room_with_ambient_occlusion() {
    check("screen_occlusion", with(room(room_camera()), OCCLUSION));
    let half = ScreenSpaceValues { ambient_occlusion_resolution: 0.0, ..OCCLUSION };
    check("screen_occlusion_half", with(room(room_camera()), half));
    check("screen_occlusion_flat", with(room(flat_camera()), OCCLUSION));
}

/// Draws packets one after the other, and returns the last image. Without a window, the screen is
/// drawn only for captures.
pub fn play(renderer: &mut Renderer, packets: Vec<FramePacket>) -> RenderedImage {
    let mut last = None;
    for packet in packets {
        last = Some(draw(renderer, vec![packet], ViewTarget::Screen));
    }
    last.expect("there are packets")
}

/// Returns small boxes on the ground, close to the camera, whose shadows in maps have gaps.
fn pebbles() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.light(sun(Vec3::new(0.8, 0.3, -0.6), 1.0));
    let white = builder.matte([0.75, 0.75, 0.72]);
    builder.add_at(PLANE, white, Vec3::ZERO, Vec3::new(30.0, 30.0, 1.0));
    for i in 0..24 {
        let (x, y) = ((i % 6) as f32 * 0.32 - 0.8, (i / 6) as f32 * 0.3 - 0.5);
        let size = 0.02 + 0.008 * (i % 5) as f32;
        let mesh = if i % 2 == 0 { SPHERE } else { CUBE };
        builder.add_at(mesh, white, Vec3::new(x, y, size), Vec3::splat(size));
    }
    builder.build(vec![view(Vec3::new(0.2, -2.2, 0.9), Vec3::new(0.0, 0.0, 0.0))])
}

#[test]
fn pebbles_with_contact_shadows() {
    check("screen_contact_off", pebbles());
    check("screen_contact", with(pebbles(), CONTACT));
}

#[test]
fn contact_shadows_darken_only_the_sun() {
    // Without a sun, nothing runs; a plane does not shadow itself.
    let dark = || {
        let mut packet = pebbles();
        packet.scenes[0].lights.clear();
        packet
    };
    let Some(mut renderer) = renderer(false) else { return };
    let off = play(&mut renderer, vec![dark()]);
    assert!(off == play(&mut renderer, vec![with(dark(), CONTACT)]));
    assert_eq!(renderer.statistics().screen_images, 0);
    for is_flat in [false, true] {
        let plane = || {
            let mut packet = corner(false, is_flat);
            packet.scenes[0].lights_changed = true;
            packet.scenes[0].lights.push(sun(Vec3::new(0.9, 0.2, -0.3), 0.5));
            packet
        };
        let off = picture(plane(), QUALITY).expect("drawn");
        assert!(off == picture(with(plane(), CONTACT), QUALITY).expect("drawn"), "{is_flat}");
    }
    let (off, on) = (picture(pebbles(), QUALITY), picture(with(pebbles(), CONTACT), QUALITY));
    let (off, on) = (off.expect("drawn"), on.expect("drawn"));
    assert!(off != on && off.rgba.iter().zip(&on.rgba).all(|(off, on)| on <= off));
}

#[test]
fn masked_and_mirrored_meshes_occlude() {
    check("screen_occlusion_surfaces", with(surfaces(), OCCLUSION));
}

/// Returns a floor, with a wall if wanted, in light from all sides.
fn corner(has_wall: bool, is_flat: bool) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(EVEN_SKY);
    // Dark walls reflect little light to each other.
    let white = builder.matte([if has_wall { 0.3 } else { 1.0 }; 3]);
    builder.add_at(PLANE, white, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    if has_wall {
        builder.add_at(CUBE, white, Vec3::new(0.0, 11.0, 0.0), Vec3::new(60.0, 10.0, 60.0));
    }
    let from = Vec3::new(0.0, -4.0, 3.0);
    let at = if has_wall { Vec3::new(0.0, 1.0, 0.0) } else { Vec3::ZERO };
    let mut main = view(from, at);
    if is_flat {
        main.camera.projection = projections::orthographic(-3.2, 3.2, -1.8, 1.8, 0.1, 50.0);
    }
    builder.build(vec![main])
}

#[test]
fn an_open_plane_has_no_ambient_occlusion() {
    for is_flat in [false, true] {
        for resolution in [0.0, 1.0] {
            let values =
                ScreenSpaceValues { ambient_occlusion_resolution: resolution, ..OCCLUSION };
            let Some(off) = picture(corner(false, is_flat), ONE_SAMPLE) else { return };
            let on = picture(with(corner(false, is_flat), values), ONE_SAMPLE).expect("drawn");
            // A byte is one percent of the light here.
            let worst = largest_difference(&off, &on);
            assert!(light_at(&off, 160, 90) > 0.4 && worst <= 1, "{worst}");
        }
    }
}

#[test]
fn a_corner_is_darker_towards_its_edge() {
    for is_flat in [false, true] {
        let Some(off) = picture(corner(true, is_flat), ONE_SAMPLE) else { return };
        let on = picture(with(corner(true, is_flat), OCCLUSION), ONE_SAMPLE).expect("drawn");
        let open = |y| light_at(&on, 160, y) / light_at(&off, 160, y);
        // The edge is in the middle. A point on it sees half of the sky.
        let darkest = (80..100).map(open).fold(f64::MAX, f64::min);
        assert!((0.45..0.85).contains(&darkest), "{darkest}");
        let at_the_edge = (88..92).map(open).fold(f64::MAX, f64::min);
        assert!(at_the_edge < darkest + 0.02, "{at_the_edge} {darkest}");
        assert!(open(2) > 0.98 && open(178) > 0.98, "{} {}", open(2), open(178));
        assert!(open(96) > darkest && open(110) > open(96), "{} {}", open(96), open(110));
    }
}

#[test]
fn ambient_occlusion_does_not_darken_suns() {
    let black = SkyFrame { top: [0.0; 3], horizon: [0.0; 3], ground: [0.0; 3], ..EVEN_SKY };
    let dark = || {
        let mut packet = shadows();
        packet.scenes[0].sky = Some(black);
        packet
    };
    let Some(off) = picture(dark(), QUALITY) else { return };
    assert!(off == picture(with(dark(), OCCLUSION), QUALITY).expect("drawn"));
    let lit = picture(with(shadows(), OCCLUSION), QUALITY).expect("drawn");
    assert!(lit != picture(shadows(), QUALITY).expect("drawn"));
}

#[test]
fn an_effect_of_strength_zero_is_off() {
    let zero = ScreenSpaceValues {
        ambient_occlusion_intensity: 0.0,
        depth_of_field_radius: 0.0,
        motion_blur_radius: 0.0,
        motion_blur_shutter: 1.0,
        ..LENS
    };
    let Some(mut renderer) = renderer(false) else { return };
    let off = draw(&mut renderer, vec![shadows()], ViewTarget::Screen);
    assert!(off == draw(&mut renderer, vec![with(shadows(), zero)], ViewTarget::Screen));
    assert_eq!(renderer.statistics().screen_images, 0);
}

#[test]
fn light_that_is_not_finite_does_not_spread() {
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut scene = shadows();
        let slot = SurfaceSlot(SurfaceSlot::FIRST_FREE + 2);
        let surface = |emissive: f32| SurfaceFrame {
            base_color: [0.7, 0.2, 0.15, 1.0],
            emissive: [emissive, 0.0, emissive],
            ..SurfaceFrame::DEFAULT
        };
        let set = |emissive| engine::frame_packet::mesh::SurfaceChange::Set {
            slot,
            surface: surface(emissive),
        };
        scene.surfaces.push(set(wrong));
        let Some(mut renderer) = renderer(false) else { return };
        let frames = |mut first: FramePacket| {
            let surfaces = std::mem::take(&mut first.surfaces);
            let mut all = vec![FramePacket { surfaces, ..with(first, EVERYTHING) }];
            all.extend((0..3).map(|_| views_only(with(shadows(), EVERYTHING))));
            all
        };
        let broken = play(&mut renderer, frames(scene));
        // The ground at the left bottom is far from the box.
        assert!(light_at(&broken, 10, 170) > 0.01, "{wrong}");
        let mut healed = views_only(with(shadows(), EVERYTHING));
        healed.surfaces.push(set(0.0));
        let mut packets = vec![healed];
        packets.extend((0..24).map(|_| views_only(with(shadows(), EVERYTHING))));
        let after = play(&mut renderer, packets);
        let mut whole = shadows();
        whole.surfaces.push(set(0.0));
        let mut clean = super::renderer(false).expect("there is an adapter");
        let mut packets = vec![with(whole, EVERYTHING)];
        packets.extend((0..24).map(|_| views_only(with(shadows(), EVERYTHING))));
        let wanted = play(&mut clean, packets);
        let mean = mean_difference(&after, &wanted);
        assert!(mean < 1.0, "{wrong}: {mean}");
    }
}

#[test]
fn effects_of_one_view_do_not_change_another() {
    let two = |left: ScreenSpaceValues| {
        let mut packet = shadows();
        let mut right = packet.views[0].clone();
        packet.views[0].rectangle = [0.0, 0.0, 0.5, 1.0];
        packet.views[0].environment.screen_space = left;
        right.rectangle = [0.5, 0.0, 0.5, 1.0];
        right.clear = None;
        packet.views.push(right);
        // A view without a size.
        let mut none = packet.views[0].clone();
        none.rectangle = [0.3, 0.3, 0.0, 0.5];
        none.environment.screen_space = EVERYTHING;
        packet.views.insert(0, none);
        packet
    };
    let Some(off) = picture(two(OFF), QUALITY) else { return };
    let on = picture(two(EVERYTHING), QUALITY).expect("drawn");
    let half = |image: &RenderedImage, first: usize| -> Vec<u8> {
        let row = WIDTH as usize * 4;
        let rows = image.rgba.chunks_exact(row);
        rows.flat_map(|it| it[first * row / 2..(first + 1) * row / 2].to_vec()).collect()
    };
    assert!(half(&off, 0) != half(&on, 0));
    assert!(half(&off, 1) == half(&on, 1));
}

#[test]
fn effects_work_on_textures_and_after_a_lost_device() {
    let slot = TextureSlot(7);
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let scene = || {
        let mut packet = with(room(room_camera()), EVERYTHING);
        let target = TextureChange::Target { slot, width: 64, height: 48, sampling };
        packet.textures.push(target);
        packet.views[0].target = ViewTarget::Texture(slot);
        packet
    };
    let Some(mut renderer) = renderer(false) else { return };
    let before = draw(&mut renderer, vec![scene()], ViewTarget::Texture(slot));
    assert!(renderer.statistics().screen_images > 8);
    renderer.lose_device();
    renderer.submit(views_only(scene()));
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
    // The first picture after the loss has no history, as before.
    renderer.lose_device();
    let after = renderer_after_loss(&mut renderer, views_only(scene()), slot);
    assert!(before == after);
}

/// Submits a packet with a capture to a renderer whose device is lost, and returns the image.
fn renderer_after_loss(
    renderer: &mut Renderer,
    mut packet: FramePacket,
    slot: TextureSlot,
) -> RenderedImage {
    use engine::frame_packet::CaptureRequest;
    packet.captures.push(CaptureRequest { number: 7, of: ViewTarget::Texture(slot) });
    renderer.submit(packet);
    renderer.finish();
    let captured = |event| match event {
        RendererEvent::Captured { picture, .. } => Some(picture),
        _ => None,
    };
    renderer.events().into_iter().find_map(captured).expect("it was captured")
}

#[test]
fn switching_effects_and_sizes_leaves_nothing_behind() {
    let Some(mut renderer) = renderer_with(ONE_SAMPLE, (48, 32)) else { return };
    renderer.submit(shadows());
    for i in 0..1000 {
        let values = [OFF, OCCLUSION, LENS, EVERYTHING][i % 4];
        let mut packet = views_only(with(shadows(), values));
        let side = (i % 7 + 1) as f32 / 7.0;
        packet.views[0].rectangle = [0.0, 0.0, side, side];
        // Nothing is drawn without a window or a capture, but on a texture.
        packet
            .captures
            .push(engine::frame_packet::CaptureRequest { number: 1, of: ViewTarget::Screen });
        renderer.submit(packet);
        let most = [0, 3, 8, 16][i % 4];
        assert!(renderer.statistics().screen_images <= most, "{i}");
    }
    let captured = |event: &RendererEvent| matches!(event, RendererEvent::Captured { .. });
    assert!(renderer.events().iter().all(captured));
    renderer.submit(views_only(shadows()));
    let ended = FramePacket { ended_scenes: vec![1], ..FramePacket::default() };
    renderer.submit(ended);
    let scenes = vec![SceneFrame { scene: 2, ..SceneFrame::default() }];
    renderer.submit(FramePacket { scenes, ..FramePacket::default() });
    assert_eq!(renderer.statistics().screen_images, 0);
}
