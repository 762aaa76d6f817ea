//! Tests of worlds that fail or change: lost adapters, invalid meshes, other settings; and of the
//! cost of worlds if a frame has none.

use super::scenes;
use super::{QUALITY, draw, forward, options, renderer};
use engine::frame_packet::mesh::{MeshChange, MeshFrame, MeshSlot};
use engine::frame_packet::scene::{DrawChange, DrawSlot, DrawTransform, SceneFrame};
use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::system::render::{
    AdapterChoice, RenderQuality, Renderer, RendererEvent, RendererOptions, SceneDrawKind,
    SceneStatistics,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns a packet's views and Guis without its changes of the world.
fn views_only(packet: FramePacket) -> FramePacket {
    FramePacket { views: packet.views, guis: packet.guis, scale: 1.0, ..FramePacket::default() }
}

#[test]
fn lost_device_is_recovered_with_its_worlds() {
    let Some(mut renderer) = renderer(false) else { return };
    for scene in [forward::surfaces, forward::shadows] {
        let before = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
        renderer.lose_device();
        renderer.submit(views_only(scene()));
        let events = renderer.events();
        assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
        assert!(before == draw(&mut renderer, vec![views_only(scene())], ViewTarget::Screen));
        let end = FramePacket { ended_scenes: vec![1], ..FramePacket::default() };
        renderer.submit(end);
    }
}

#[test]
fn render_thread_draws_the_same_world() {
    let Some(mut here) = renderer(false) else { return };
    let mut there = renderer(true).expect("there is an adapter");
    let one = draw(&mut here, vec![forward::shadows()], ViewTarget::Screen);
    assert!(one == draw(&mut there, vec![forward::shadows()], ViewTarget::Screen));
    assert!(one == draw(&mut there, vec![views_only(forward::shadows())], ViewTarget::Screen));
}

#[test]
fn moved_and_ended_draws_are_updated() {
    let Some(mut renderer) = renderer(false) else { return };
    let whole = draw(&mut renderer, vec![forward::shadows()], ViewTarget::Screen);
    let mut packet = views_only(forward::shadows());
    packet.scenes.push(SceneFrame {
        scene: 1,
        changes: vec![DrawChange::End(DrawSlot(1))],
        moved: vec![DrawSlot(2)],
        poses: vec![DrawTransform::IDENTITY],
        ..SceneFrame::default()
    });
    assert!(whole != draw(&mut renderer, vec![packet], ViewTarget::Screen));
    assert_eq!(renderer.statistics().scene.draws, 3);
    // 64 bytes for the object that moved, 8 for each instance, and the uniforms.
    let copied = renderer.statistics().copied_bytes;
    assert!(copied < 16_384, "{copied}");
    assert!(whole == draw(&mut renderer, vec![forward::shadows()], ViewTarget::Screen));
}

#[test]
fn invalid_mesh_is_reported_and_others_are_drawn() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut packet = forward::shadows();
    let MeshChange::Set { slot, mesh } = packet.meshes[1].clone() else { panic!("it is made") };
    let broken = MeshFrame { indices: vec![0, 1, 99], parts: vec![], ..MeshFrame::clone(&mesh) };
    packet.meshes[1] = MeshChange::Set { slot, mesh: Arc::new(broken) };
    let mut null =
        Renderer::start(RendererOptions { choice: AdapterChoice::Null, ..options(false) })
            .expect("nothing is needed");
    null.submit(packet);
    let mut packet = forward::shadows();
    let broken = MeshFrame { indices: vec![0, 1, 99], parts: vec![], ..MeshFrame::clone(&mesh) };
    packet.meshes[1] = MeshChange::Set { slot, mesh: Arc::new(broken) };
    renderer.submit(packet);
    let message = "an index is 99, and there are 24 vertices: export it again".to_string();
    let event = RendererEvent::MeshRefused { slot: MeshSlot(1), name: "cube".to_string(), message };
    assert_eq!(renderer.events(), std::slice::from_ref(&event));
    assert_eq!(null.events(), [event]);
    assert_eq!(renderer.statistics().scene, null.statistics().scene);
}

#[test]
fn recorder_lists_world_draw_calls() {
    let mut null =
        Renderer::start(RendererOptions { choice: AdapterChoice::Null, ..options(false) })
            .expect("nothing is needed");
    null.submit(forward::spheres());
    let draws = null.recorder().expect("it is the null renderer").scene_draws();
    let solid: Vec<_> = draws.iter().filter(|it| it.kind == SceneDrawKind::Solid).collect();
    // There are twelve materials, but they differ only in their numbers.
    let drawn: Vec<(u32, u32)> = solid.iter().map(|it| (it.mesh, it.instances)).collect();
    assert_eq!(drawn, [(0, 1), (2, 12)]);
    let statistics = null.statistics().scene;
    assert_eq!((statistics.draws, statistics.visible, statistics.shadow_maps), (13, 13, 3));
}

#[test]
fn world_passes_run_only_for_worlds() {
    let started = Renderer::start(RendererOptions { timing: true, ..options(false) });
    let Ok(mut renderer) = started else { return };
    // Draws frames until the times of the passes arrive, which takes some frames.
    let mut draw_until = |packet: fn() -> FramePacket, expected: &[&str]| {
        let began = Instant::now();
        loop {
            let captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
            renderer.submit(FramePacket { captures, ..packet() });
            std::thread::sleep(Duration::from_millis(5));
            let statistics = renderer.statistics();
            let cpu: Vec<&str> = statistics.cpu_passes.iter().map(|it| it.0).collect();
            assert_eq!(cpu, ["changes", "worlds", "copies", "passes"]);
            let gpu: Vec<&str> = statistics.gpu_passes.iter().map(|it| &it.name[..]).collect();
            if gpu == expected {
                return statistics.scene;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{gpu:?}, not {expected:?}");
        }
    };
    let scene = draw_until(scenes::boxes, &["gui"]);
    assert_eq!(scene, SceneStatistics { surfaces: 1, ..SceneStatistics::default() });
    let expected = [
        "shadow of sun 1",
        "shadow of sun 2",
        "shadow of sun 3",
        "scene",
        "scene, seen through",
        "world",
    ];
    draw_until(forward::gui_and_particles, &expected);
}

#[test]
fn render_settings_apply_to_the_next_frame() {
    let Some(mut renderer) = renderer(false) else { return };
    let smooth = draw(&mut renderer, vec![forward::shadows()], ViewTarget::Screen);
    renderer.set_quality(RenderQuality { samples: 1, shadow_texels: 0, ..QUALITY });
    let rough = draw(&mut renderer, vec![views_only(forward::shadows())], ViewTarget::Screen);
    assert!(smooth != rough);
    assert_eq!(renderer.statistics().scene.shadow_maps, 0);
    renderer.set_quality(QUALITY);
    assert!(
        smooth == draw(&mut renderer, vec![views_only(forward::shadows())], ViewTarget::Screen)
    );
}
