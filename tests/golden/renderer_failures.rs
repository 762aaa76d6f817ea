//! Tests of failures: lost adapters, textures that are too large, shaders that do not compile,
//! windows without a size. Each failure is reported, and everything else continues.

use super::scenes::{self, SMOOTH, chessboard};
use super::{HEIGHT, WIDTH, draw, options, renderer, worlds};
use engine::frame_packet::material::{MaterialChange, MaterialSlot};
use engine::frame_packet::texture::{TexelFormat, TextureChange, TextureSlot, TextureTexels};
use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::system::render::{AdapterChoice, Renderer, RendererEvent, RendererOptions};

fn capture(number: u64, of: ViewTarget) -> FramePacket {
    FramePacket { captures: vec![CaptureRequest { number, of }], ..FramePacket::default() }
}

/// Returns the last frame of the retained scene, which contains no changes.
fn unchanged_frame() -> FramePacket {
    worlds::retained_frames().pop().expect("there are frames")
}

#[test]
fn lost_device_is_recovered_with_retained_objects() {
    let Some(mut renderer) = renderer(false) else { return };
    let before = draw(&mut renderer, worlds::retained_frames(), ViewTarget::Screen);
    renderer.lose_device();
    renderer.submit(unchanged_frame());
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
    assert!(before == draw(&mut renderer, vec![unchanged_frame()], ViewTarget::Screen));
}

#[test]
fn lost_device_is_recovered_with_textures_and_shaders() {
    let Some(mut renderer) = renderer(false) else { return };
    for scene in [scenes::textures, scenes::glyphs, worlds::custom_shader] {
        let before = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
        renderer.lose_device();
        renderer.submit(FramePacket::default());
        let events = renderer.events();
        assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
        let bare = FramePacket { textures: Vec::new(), materials: Vec::new(), ..scene() };
        assert!(before == draw(&mut renderer, vec![bare], ViewTarget::Screen));
        // A packet that arrives while the adapter is lost is not dropped.
        renderer.lose_device();
        renderer.submit(scene());
        let events = renderer.events();
        assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
        let bare = FramePacket { textures: Vec::new(), materials: Vec::new(), ..scene() };
        assert!(before == draw(&mut renderer, vec![bare], ViewTarget::Screen));
    }
}

#[test]
fn render_thread_draws_the_same_images() {
    let Some(mut here) = renderer(false) else { return };
    let mut there = renderer(true).expect("there is an adapter");
    for scene in [scenes::boxes, worlds::worlds, worlds::custom_shader] {
        let one = draw(&mut here, vec![scene()], ViewTarget::Screen);
        assert!(one == draw(&mut there, vec![scene()], ViewTarget::Screen));
    }
    // Packets are never dropped, regardless of their number.
    for _ in 0..50 {
        there.submit(scenes::boxes());
    }
    there.finish();
    assert_eq!(there.statistics().frames, 53);
}

#[test]
fn texture_over_the_size_limit_is_drawn_white() {
    let Some(mut renderer) = renderer(false) else { return };
    let most = renderer.adapter().texture_side_max;
    let slot = TextureSlot(1);
    let texels = TextureTexels {
        width: most + 1,
        height: 1,
        levels: 1,
        format: TexelFormat::R8,
        sampling: SMOOTH,
        bytes: vec![0; most as usize + 1].into(),
        start: 0,
    };
    let mut packet = scenes::textures();
    packet.textures[0] = TextureChange::Set { slot, texels };
    renderer.submit(packet);
    let events = renderer.events();
    let [RendererEvent::TextureRefused { slot: event_slot, message }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(*event_slot, slot);
    let name = &renderer.adapter().name;
    assert_eq!(
        *message,
        format!(
            "it has {} × 1 texels, and the adapter {name} takes {most} on a side at most \
             (max_texture_dimension_2d): make it smaller, or split it",
            most + 1
        )
    );
    let empty = TextureChange::Target { slot, width: 0, height: 4, sampling: SMOOTH };
    renderer.submit(FramePacket { textures: vec![empty], ..FramePacket::default() });
    let expected = "it has 0 × 4 texels: it needs one on each side".to_string();
    assert_eq!(renderer.events(), [RendererEvent::TextureRefused { slot, message: expected }]);
}

#[test]
fn failed_shader_is_reported_and_old_one_stays() {
    let Some(mut renderer) = renderer(false) else { return };
    let before = draw(&mut renderer, vec![worlds::custom_shader()], ViewTarget::Screen);
    let wrong = worlds::WAVES.replace("variables.tint", "variables.hue");
    let wrong = worlds::shader("waves", &wrong, 1, 32);
    let mut packet = worlds::custom_shader();
    packet.materials = vec![worlds::material(&wrong, vec![0; 32])];
    renderer.submit(packet);
    let events = renderer.events();
    let [RendererEvent::ShaderFailed { shader, message }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(shader, "waves");
    assert!(message.contains("hue"), "{message}");
    let bare = FramePacket { materials: Vec::new(), ..worlds::custom_shader() };
    assert!(before == draw(&mut renderer, vec![bare], ViewTarget::Screen));
}

#[test]
fn shader_with_missing_binding_falls_back_to_default() {
    let Some(mut renderer) = renderer(false) else { return };
    // The shader declares no variables, but uses some.
    let wrong = worlds::shader("waves", worlds::WAVES, 1, 0);
    let mut packet = worlds::custom_shader();
    packet.materials = vec![worlds::material(&wrong, Vec::new())];
    renderer.submit(packet);
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::ShaderFailed { .. }]), "{events:?}");
    let slot = MaterialSlot(MaterialSlot::FIRST_FREE);
    let end = MaterialChange::End { slot };
    renderer.submit(FramePacket { materials: vec![end], ..worlds::custom_shader() });
    assert_eq!(renderer.events(), []);
}

#[test]
fn invalid_slots_are_ignored() {
    let Some(mut renderer) = renderer(false) else { return };
    let end = TextureChange::End { slot: TextureSlot(77) };
    let slot = MaterialSlot(88);
    let changes = vec![
        MaterialChange::End { slot },
        MaterialChange::Variables { slot, bytes: vec![1, 2, 3] },
        MaterialChange::Texture { slot, index: 9, texture: TextureSlot(77) },
    ];
    let mut packet = scenes::boxes();
    packet.textures = vec![end.clone(), end];
    packet.materials = changes;
    packet.ended_guis = vec![1, 1, 55];
    packet.views[0].guis = vec![1, 55, 1];
    renderer.submit(packet);
    assert_eq!(renderer.events(), []);
}

#[test]
fn texture_sampled_while_rendered_to_is_white() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut packet = worlds::render_target();
    packet.guis[1].batches[0].key.texture = TextureSlot(5);
    renderer.submit(packet);
    assert_eq!(renderer.events(), []);
}

#[test]
fn failed_captures_are_reported() {
    let mut null =
        Renderer::start(RendererOptions { choice: AdapterChoice::Null, ..options(false) });
    let null = null.as_mut().expect("nothing is needed");
    null.submit(capture(3, ViewTarget::Screen));
    let message = "the null renderer draws nothing, so there is no picture of it: run with \
                 --renderer software";
    assert_eq!(
        null.events(),
        [RendererEvent::CaptureFailed { number: 3, message: message.to_string() }]
    );

    let Some(mut renderer) = renderer(false) else { return };
    let slot = TextureSlot(1);
    let set = TextureChange::Set { slot, texels: chessboard(16, 1, SMOOTH) };
    renderer.submit(FramePacket { textures: vec![set], ..capture(4, ViewTarget::Texture(slot)) });
    let message = "the texture is not a render target, so nothing was drawn";
    assert_eq!(
        renderer.events(),
        [RendererEvent::CaptureFailed { number: 4, message: message.to_string() }]
    );
}

#[test]
fn captured_texture_keeps_alpha_and_size() {
    let Some(mut renderer) = renderer(false) else { return };
    let target = ViewTarget::Texture(TextureSlot(5));
    let picture = draw(&mut renderer, vec![worlds::render_target()], target);
    assert_eq!((picture.width, picture.height), (64, 64));
    // The background, which is half transparent, and the red corner at the bottom left.
    let at = |x: usize, y: usize| &picture.rgba[(y * 64 + x) * 4..][..4];
    let near = |a: &[u8], b: [u8; 4]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 2);
    assert!(near(at(60, 3), [51, 102, 255, 128]), "{:?}", at(60, 3));
    assert!(near(at(3, 60), [255, 60, 60, 255]), "{:?}", at(3, 60));
}

#[test]
fn resize_and_draw_call_count_are_correct() {
    let Some(mut renderer) = renderer(true) else { return };
    renderer.submit(scenes::boxes());
    renderer.resize(WIDTH / 2, HEIGHT);
    let picture = draw(&mut renderer, vec![scenes::textures()], ViewTarget::Screen);
    assert_eq!((picture.width, picture.height), (WIDTH / 2, HEIGHT));
    let statistics = renderer.statistics();
    assert_eq!((statistics.draw_calls, statistics.textures), (3, 1));
    renderer.resize(0, 0);
    renderer.submit(scenes::boxes());
    renderer.finish();
    assert_eq!(renderer.events(), []);
}

#[test]
fn render_passes_are_timed_if_supported() {
    let Some(mut renderer) = renderer(false) else { return };
    renderer.set_timing(true);
    for _ in 0..20 {
        draw(&mut renderer, vec![worlds::worlds()], ViewTarget::Screen);
    }
    let passes = renderer.statistics().gpu_passes;
    let names: Vec<&str> = passes.iter().map(|pass| pass.name.as_str()).collect();
    // An adapter without timestamps reports no passes.
    assert!(names == ["world", "world", "gui"] || names.is_empty(), "{passes:?}");
    assert!(passes.iter().all(|pass| (0.0..1000.0).contains(&pass.milliseconds)), "{passes:?}");
}

#[test]
fn recorder_lists_draws_in_order_and_counts_copied_bytes() {
    let mut null =
        Renderer::start(RendererOptions { choice: AdapterChoice::Null, ..options(true) });
    let null = null.as_mut().expect("nothing is needed");
    let bytes = |null: &Renderer| null.statistics().copied_bytes;
    let frames = worlds::retained_frames();
    let mut copied = Vec::new();
    for frame in frames {
        null.submit(frame);
        copied.push(bytes(null));
    }
    // The copied bytes of each frame: four objects created; one moved; one moved to another layer,
    // which copies its old slot, its new slot and the three between them, because separate copies
    // are not worth it; one ended; no change.
    assert_eq!(copied, [256, 64, 320, 64, 0]);
    let draws = null.recorder().expect("it is the null renderer").draws();
    let drawn: Vec<(i32, u32)> = draws.iter().map(|it| (it.key.layer, it.count)).collect();
    assert_eq!(drawn, [(0, 4), (1, 1)]);
    null.submit(scenes::clips_and_layers().remove(0));
    let draws = null.recorder().expect("it is the null renderer").draws();
    let layers: Vec<i32> = draws.iter().map(|draw| draw.key.layer).collect();
    // The retained content of Gui 1 still exists, and is drawn before the content that its frame
    // adds to the same layer.
    assert_eq!(layers, [-1, 0, 0, 0, 1, 2, 5, 0, 0]);
}
