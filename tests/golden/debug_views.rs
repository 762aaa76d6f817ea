//! Golden picture and measured pixels of debug views, and the capture of a frame.

use super::forward::{SceneBuilder, look_camera, sun, view};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::scenes::chessboard;
use super::screen_space::{largest_difference, renderer_with, views_only};
use super::surface_functions::{functions, material, with_functions};
use super::{QUALITY, compare, draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::debug_view::DebugView;
use engine::frame_packet::material::BlendMode;
use engine::frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame};
use engine::frame_packet::scene::{
    DrawTransform, LightFrame, LightKind, ParticleBatch, ParticleQuad, SceneFrame,
};
use engine::frame_packet::shading_environment::ScreenSpaceValues;
use engine::frame_packet::texture::{SamplerSettings, TextureChange, TextureSlot, WrapMode};
use engine::frame_packet::{CameraFrame, CaptureRequest, FramePacket, ViewTarget};
use engine::resource::material_data::SurfaceFunctions;
use engine::system::render::{FrameCapture, RenderedImage, RendererEvent};
use std::f32::consts::FRAC_PI_2;

const SIZE: (u32, u32) = (160, 90);
const COLUMNS: usize = 4;
const BOARD: TextureSlot = TextureSlot(3);

fn camera(shift: f32) -> CameraFrame {
    look_camera(Vec3::new(0.2 + shift, -6.0, 2.4), Vec3::new(shift, 0.6, 0.5), 16.0 / 9.0)
}

/// Returns a chessboard with a metallic and a rough sphere, a box, lamps and a spot with shadows.
pub fn scene() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Repeat };
    let texels = chessboard(64, 6, sampling);
    builder.packet.textures.push(TextureChange::Set { slot: BOARD, texels });
    let board = builder.surface(SurfaceFrame {
        base_color_texture: Some((BOARD, sampling)),
        roughness: 0.9,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(PLANE, board, Vec3::ZERO, Vec3::new(12.0, 12.0, 1.0));
    let gold = builder.surface(SurfaceFrame {
        base_color: [1.0, 0.77, 0.34, 1.0],
        metallic: 1.0,
        roughness: 0.2,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(SPHERE, gold, Vec3::new(-1.2, 0.3, 0.6), Vec3::splat(0.6));
    let red = builder.matte([0.7, 0.2, 0.15]);
    builder.add_at(CUBE, red, Vec3::new(1.1, 0.8, 0.5), Vec3::splat(0.5));
    builder.add_at(SPHERE, red, Vec3::new(0.3, 5.0, 1.0), Vec3::splat(1.0));
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 0.8));
    for i in 0..6 {
        let position = Vec3::new(i as f32 * 0.5 - 2.2, -0.4, 0.4);
        let kind = LightKind::Omni { position, range: 1.2, casts_shadows: false };
        builder.light(LightFrame { kind, color: [0.3, 0.25, 0.2], ..LightFrame::DEFAULT });
    }
    let position = Vec3::new(1.5, -2.0, 3.0);
    let direction = (Vec3::new(0.0, 0.6, 0.3) - position).normalize();
    let kind = LightKind::Spot {
        position,
        direction,
        range: 9.0,
        inner: 0.4,
        outer: 0.6,
        casts_shadows: true,
    };
    builder.light(LightFrame { kind, color: [6.0; 3], ..LightFrame::DEFAULT });
    let mut main = view(Vec3::ZERO, Vec3::Y);
    main.camera = camera(0.0);
    main.environment.screen_space = ScreenSpaceValues {
        ambient_occlusion_intensity: 1.0,
        ambient_occlusion_radius: 0.8,
        ..ScreenSpaceValues::DEFAULT
    };
    builder.build(vec![main])
}

/// Returns the picture of a debug view. The camera moves to the side in the second frame.
fn picture(debug_view: DebugView, shift: f32) -> Option<RenderedImage> {
    let mut renderer = renderer_with(QUALITY, SIZE)?;
    let mut first = FramePacket { debug_view, ..scene() };
    first.views[0].camera = camera(-shift);
    // Without a window, only frames with captures are drawn.
    first.captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
    renderer.submit(first);
    renderer.finish();
    renderer.events();
    let mut second = FramePacket { debug_view, ..views_only(scene()) };
    second.views[0].camera = camera(0.0);
    Some(draw(&mut renderer, vec![second], ViewTarget::Screen))
}

/// Returns the bytes of a pixel.
fn pixel(picture: &RenderedImage, x: u32, y: u32) -> [u8; 4] {
    let at = ((y * picture.width + x) * 4) as usize;
    picture.rgba[at..at + 4].try_into().expect("it is inside")
}

#[track_caller]
fn assert_near(found: [u8; 4], expected: [u8; 4]) {
    let near = found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 2);
    assert!(near, "{found:?} is not {expected:?}");
}

/// From left to right, from the top: light, albedo, normals, roughness; metallic, occlusion, mip
/// levels, lights of each cluster; cascades, overdraw, the shadow atlas, motion vectors.
#[test]
fn debug_views_show_values_and_images() {
    let mut whole = RenderedImage { width: 640, height: 270, rgba: vec![0; 640 * 270 * 4] };
    for (number, (debug_view, _)) in DebugView::NAMES.iter().enumerate() {
        let Some(part) = picture(*debug_view, 0.1) else { return };
        let (column, row) = (number % COLUMNS, number / COLUMNS);
        for (y, line) in part.rgba.chunks_exact(160 * 4).enumerate() {
            let at = ((row * 90 + y) * 640 + column * 160) * 4;
            whole.rgba[at..at + line.len()].copy_from_slice(line);
        }
    }
    compare("debug_views", &whole);
}

#[test]
fn debug_views_show_numbers_as_bytes() {
    let Some(normals) = picture(DebugView::Normals, 0.0) else { return };
    // The ground in front, and the front of the box.
    assert_near(pixel(&normals, 80, 80), [128, 128, 255, 255]);
    assert_near(pixel(&normals, 98, 47), [128, 0, 128, 255]);
    let roughness = picture(DebugView::Roughness, 0.0).expect("there is an adapter");
    assert_near(pixel(&roughness, 80, 80), [230, 230, 230, 255]);
    let metallic = picture(DebugView::Metallic, 0.0).expect("there is an adapter");
    assert_near(pixel(&metallic, 80, 80), [0, 0, 0, 255]);
    let still = picture(DebugView::MotionVectors, 0.0).expect("there is an adapter");
    assert_near(pixel(&still, 80, 80), [128, 128, 128, 255]);
    let moved = picture(DebugView::MotionVectors, 0.1).expect("there is an adapter");
    assert!(pixel(&moved, 80, 80)[0] < 120, "the ground moves to the left");
    let lights = picture(DebugView::LightCount, 0.0).expect("there is an adapter");
    assert_ne!(pixel(&lights, 50, 60), pixel(&lights, 110, 20));
}

/// Returns two transparent panes that overlap in the middle, with a particle in front of them.
fn panes() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let pane = builder.surface(SurfaceFrame {
        base_color: [0.5, 0.5, 0.5, 0.3],
        alpha: SurfaceAlphaMode::Blend,
        double_sided: true,
        ..SurfaceFrame::DEFAULT
    });
    for (x, y) in [(-1.0, 0.0), (1.0, 0.5)] {
        let pose = Mat4::from_translation(Vec3::new(x, y, 0.0)) * Mat4::from_rotation_x(FRAC_PI_2);
        builder.add_draw(PLANE, pane, pose * Mat4::from_scale(Vec3::new(1.6, 1.0, 1.0)));
    }
    builder.frame.particles = vec![ParticleQuad {
        position: [0.0, -1.0, 0.0],
        rotation: 0.0,
        size: [0.15, 0.15],
        color: [255; 4],
        glow: 1.0,
        uv: [0.0, 0.0, 1.0, 1.0],
        stretch: [0.0; 3],
        reserved: 0,
    }];
    builder.frame.particle_batches = vec![ParticleBatch {
        first: 0,
        count: 1,
        texture: TextureSlot::SHARED,
        blend: BlendMode::Alpha,
        softness: 0.0,
        lit: 0.0,
        distortion: 0.0,
        center: Vec3::new(0.0, -1.0, 0.0),
        radius: 0.5,
        layers: u32::MAX,
        order: 0,
    }];
    let mut main = view(Vec3::ZERO, Vec3::Y);
    main.camera = look_camera(Vec3::new(0.0, -6.0, 0.0), Vec3::ZERO, 16.0 / 9.0);
    builder.build(vec![main])
}

#[test]
fn overdraw_counts_surfaces_and_particles() {
    let Some(mut renderer) = renderer_with(QUALITY, SIZE) else { return };
    let packet = FramePacket { debug_view: DebugView::Overdraw, ..panes() };
    let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    // The middle of the picture has all: the sky above, the particle in front of both panes, and in
    // its row both panes and one pane.
    assert_near(pixel(&picture, 80, 2), [0, 0, 0, 255]);
    assert_near(pixel(&picture, 80, 45), [0, 204, 255, 255]);
    let near = |found: [u8; 4], wanted: [u8; 3]| (0..3).all(|i| found[i].abs_diff(wanted[i]) <= 2);
    for (layers, color) in [(1, [0, 0, 255]), (2, [0, 102, 255])] {
        let count = (0..160).filter(|x| near(pixel(&picture, *x, 45), color)).count();
        assert!(count > 3, "{count} pixels have {layers} layers");
    }
}

/// Returns the strongest channel of a pixel; `None`: it is gray or black.
fn strongest_channel(picture: &RenderedImage, x: u32, y: u32) -> Option<usize> {
    let pixel = pixel(picture, x, y);
    let channel = (0..3).max_by_key(|channel| pixel[*channel])?;
    let others = (0..3).filter(|other| *other != channel).map(|other| pixel[other]).max()?;
    (pixel[channel] > others.saturating_add(10)).then_some(channel)
}

#[test]
fn cascades_follow_each_other_from_near_to_far() {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 0.8));
    let mut main = view(Vec3::ZERO, Vec3::Y);
    main.camera = look_camera(Vec3::new(0.0, -6.0, 1.6), Vec3::new(0.0, 8.0, 0.0), 16.0 / 9.0);
    let packet = FramePacket { debug_view: DebugView::Cascades, ..builder.build(vec![main]) };
    let Some(mut renderer) = renderer_with(QUALITY, SIZE) else { return };
    let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let rows = (0..SIZE.1).rev().map(|row| strongest_channel(&picture, SIZE.0 / 2, row));
    let mut found: Vec<Option<usize>> = rows.collect();
    let count = |channel| found.iter().filter(|other| **other == Some(channel)).count();
    assert!((0..3).all(|channel| count(channel) > 2), "{found:?}");
    found.dedup();
    assert_eq!(found, [Some(0), Some(1), Some(2), None], "red, green, blue, and no map");
}

#[test]
fn a_debug_view_that_ends_leaves_no_trace() {
    let Some(mut renderer) = renderer_with(QUALITY, SIZE) else { return };
    let plain = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
    for (debug_view, _) in DebugView::NAMES {
        let shown = FramePacket { debug_view, ..views_only(scene()) };
        let again = draw(&mut renderer, vec![shown, views_only(scene())], ViewTarget::Screen);
        assert_eq!(largest_difference(&plain, &again), 0, "{debug_view:?}");
    }
}

/// Returns the captured frame of a packet.
fn captured(packet: FramePacket) -> Option<FrameCapture> {
    let mut renderer = renderer(false)?;
    renderer.submit(FramePacket { captures_frame: true, ..packet });
    renderer.finish();
    let found = renderer.events().into_iter().find_map(|event| match event {
        RendererEvent::FrameCaptured(frame) => Some(*frame),
        _ => None,
    });
    Some(found.expect("the frame is captured"))
}

/// Surfaces that functions move and cut are moved and cut in the depth of screen-space effects.
#[test]
fn the_depth_prepass_calls_surface_functions() {
    let mut packet = functions();
    packet.views[0].environment.screen_space =
        ScreenSpaceValues { ambient_occlusion_intensity: 1.0, ..ScreenSpaceValues::DEFAULT };
    packet.captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
    let Some(frame) = captured(packet) else { return };
    let image = |name: &str| {
        let found = frame.images.iter().find(|image| image.name == name);
        found.and_then(|image| image.picture.as_ref().ok()).expect("it has a picture")
    };
    let (depth, prepass) = (image("depth"), image("screen Depth"));
    // Edges differ, because the depth has several samples per pixel.
    let pixels = depth.rgba.chunks_exact(4).zip(prepass.rgba.chunks_exact(4));
    let differ = pixels.filter(|(a, b)| a[0].abs_diff(b[0]) > 8).count();
    assert!(differ < 320 * 180 / 50, "{differ} pixels differ");
}

#[test]
fn a_captured_frame_has_its_passes_and_images() {
    let Some(mut renderer) = renderer(false) else { return };
    let captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
    renderer.submit(FramePacket { captures_frame: true, captures, ..scene() });
    renderer.finish();
    let mut events = renderer.events();
    let found = events.iter().position(|it| matches!(it, RendererEvent::FrameCaptured(_)));
    let Some(RendererEvent::FrameCaptured(frame)) = found.map(|at| events.remove(at)) else {
        panic!("no frame was captured: {events:#?}");
    };
    assert!(matches!(&events[..], [RendererEvent::Captured { number: 1, .. }]), "{events:#?}");
    let passes: Vec<&str> = frame.passes.iter().map(|pass| &pass.name[..]).collect();
    for name in ["shadows of lamps", "shadows", "ambient occlusion", "opaque objects, sky"] {
        assert!(passes.iter().any(|pass| pass.contains(name)), "{name}: {passes:?}");
    }
    let image = |name: &str| {
        let found = frame.images.iter().find(|image| image.name == name);
        found.unwrap_or_else(|| panic!("there is no image '{name}'"))
    };
    let light = image("light");
    assert_eq!((light.width, light.height, light.samples), (320, 180, 4));
    assert_eq!((light.bytes, &light.format[..]), (320 * 180 * 4 * 8, "Rgba16Float"));
    let picture = light.picture.as_ref().expect("it was drawn");
    assert!(picture.rgba.chunks_exact(4).any(|pixel| pixel[0] > 60), "the light is dark");
    for name in ["depth", "shadow atlas", "shadow of sun 1", "screen Occlusion"] {
        assert!(image(name).picture.is_ok(), "{name}");
    }
    renderer.submit(views_only(scene()));
    renderer.finish();
    assert!(renderer.events().is_empty(), "only one frame is captured");
}

/// A surface function that moves a mesh towards the camera, by less than the limit of
/// [`with_functions`].
const TOWARDS: &str = "fn vertex_offset(in: VertexIn) -> vec3f { return vec3f(0.0, -0.4, 0.0); }";

/// Returns the motion of the middle of a box that moves to the right, with or without a function.
fn box_motion(has_offset: bool) -> Option<[u8; 4]> {
    let offset = SurfaceFunctions { vertex_offset: true, ..SurfaceFunctions::default() };
    let build = |pose: Option<Mat4>| {
        let mut builder = SceneBuilder::new();
        builder.packet.materials = vec![material(8, (TOWARDS, offset), 0, &[])];
        let moved = match has_offset {
            true => builder.surface(with_functions(8, offset)),
            false => builder.matte([0.5; 3]),
        };
        let slot = builder.add_draw(CUBE, moved, Mat4::IDENTITY);
        let mut main = view(Vec3::ZERO, Vec3::Y);
        main.camera = look_camera(Vec3::new(0.0, -6.0, 0.0), Vec3::ZERO, 16.0 / 9.0);
        if let Some(pose) = pose {
            builder.packet = FramePacket { scale: 1.0, ..FramePacket::default() };
            builder.frame = SceneFrame { scene: 1, ..SceneFrame::default() };
            builder.frame.moved.push(slot);
            builder.frame.poses.push(DrawTransform::of(&pose));
        }
        FramePacket { debug_view: DebugView::MotionVectors, ..builder.build(vec![main]) }
    };
    let mut renderer = renderer_with(QUALITY, SIZE)?;
    let mut first = build(None);
    first.captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
    renderer.submit(first);
    renderer.finish();
    renderer.events();
    let second = build(Some(Mat4::from_translation(Vec3::new(0.1, 0.0, 0.0))));
    let picture = draw(&mut renderer, vec![second], ViewTarget::Screen);
    Some(pixel(&picture, SIZE.0 / 2, SIZE.1 / 2))
}

#[test]
fn surfaces_that_functions_move_have_the_motion_of_their_mesh() {
    let Some(plain) = box_motion(false) else { return };
    assert!(plain[0] > 140, "the box moves to the right: {plain:?}");
    let offset = box_motion(true).expect("there is an adapter");
    // It is nearer, and so moves a little farther on the picture.
    assert!(offset[0] >= plain[0] && offset[0] < plain[0].saturating_add(40), "{offset:?}");
}
