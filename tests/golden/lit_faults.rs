//! Worlds where something goes wrong or changes: adapters that are lost, meshes that are not whole,
//! other settings; and what worlds cost where there are none.

use super::scenes;
use super::{QUALITY, draw, lit, options, renderer};
use engine::packet::mesh::{Mesh, MeshChange, MeshSlot};
use engine::packet::scene::{DrawChange, DrawSlot, Pose, SceneFrame};
use engine::packet::{Capture, Packet, Target};
use engine::system::render::{
    Choice, Event, Options, Quality, Renderer, SceneDrawKind, SceneStatistics,
};
use std::sync::Arc;

/// The views alone: nothing new is said of the world.
fn still(packet: Packet) -> Packet {
    Packet { views: packet.views, guis: packet.guis, scale: 1.0, ..Packet::default() }
}

#[test]
fn a_lost_adapter_comes_back_with_its_worlds() {
    let Some(mut renderer) = renderer(false) else { return };
    for scene in [lit::surfaces, lit::shadows] {
        let before = draw(&mut renderer, vec![scene()], Target::Screen);
        renderer.lose_device();
        renderer.submit(still(scene()));
        let events = renderer.events();
        assert!(matches!(events[..], [Event::DeviceRecovered { .. }]), "{events:?}");
        assert!(before == draw(&mut renderer, vec![still(scene())], Target::Screen));
        let end = Packet { ended_scenes: vec![1], ..Packet::default() };
        renderer.submit(end);
    }
}

#[test]
fn a_world_drawn_on_a_thread_of_its_own_looks_the_same_and_lasts() {
    let Some(mut here) = renderer(false) else { return };
    let mut there = renderer(true).expect("there is an adapter");
    let one = draw(&mut here, vec![lit::shadows()], Target::Screen);
    assert!(one == draw(&mut there, vec![lit::shadows()], Target::Screen));
    assert!(one == draw(&mut there, vec![still(lit::shadows())], Target::Screen));
}

#[test]
fn draws_that_move_or_end_are_drawn_so() {
    let Some(mut renderer) = renderer(false) else { return };
    let whole = draw(&mut renderer, vec![lit::shadows()], Target::Screen);
    let mut packet = still(lit::shadows());
    packet.scenes.push(SceneFrame {
        scene: 1,
        changes: vec![DrawChange::End(DrawSlot(1))],
        moved: vec![DrawSlot(2)],
        poses: vec![Pose::IDENTITY],
        ..SceneFrame::default()
    });
    assert!(whole != draw(&mut renderer, vec![packet], Target::Screen));
    assert_eq!(renderer.statistics().scene.draws, 3);
    // 64 bytes for what moved, 8 for each instance, and the uniforms.
    let copied = renderer.statistics().copied_bytes;
    assert!(copied < 16_384, "{copied}");
    assert!(whole == draw(&mut renderer, vec![lit::shadows()], Target::Screen));
}

#[test]
fn a_mesh_that_is_not_whole_is_told_and_the_others_are_drawn() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut packet = lit::shadows();
    let MeshChange::Put { slot, mesh } = packet.meshes[1].clone() else { panic!("it is made") };
    let broken = Mesh { indices: vec![0, 1, 99], parts: vec![], ..Mesh::clone(&mesh) };
    packet.meshes[1] = MeshChange::Put { slot, mesh: Arc::new(broken) };
    let mut null = Renderer::start(Options { choice: Choice::Null, ..options(false) })
        .expect("nothing is needed");
    null.submit(packet);
    let mut packet = lit::shadows();
    let broken = Mesh { indices: vec![0, 1, 99], parts: vec![], ..Mesh::clone(&mesh) };
    packet.meshes[1] = MeshChange::Put { slot, mesh: Arc::new(broken) };
    renderer.submit(packet);
    let words = "an index is 99, and there are 24 vertices: export it anew".to_string();
    let event = Event::MeshRefused { slot: MeshSlot(1), name: "cube".to_string(), words };
    assert_eq!(renderer.events(), std::slice::from_ref(&event));
    assert_eq!(null.events(), [event]);
    assert_eq!(renderer.statistics().scene, null.statistics().scene);
}

#[test]
fn the_recorder_has_the_draw_calls_of_worlds() {
    let mut null = Renderer::start(Options { choice: Choice::Null, ..options(false) })
        .expect("nothing is needed");
    null.submit(lit::spheres());
    let draws = null.recorder().expect("it is the null renderer").scene_draws();
    let solid: Vec<_> = draws.iter().filter(|it| it.kind == SceneDrawKind::Solid).collect();
    // Twelve materials, but they differ in numbers alone.
    let drawn: Vec<(u32, u32)> = solid.iter().map(|it| (it.mesh, it.instances)).collect();
    assert_eq!(drawn, [(0, 1), (2, 12)]);
    let figures = null.statistics().scene;
    assert_eq!((figures.draws, figures.seen, figures.shadow_maps), (13, 13, 3));
}

#[test]
fn what_has_no_world_has_no_passes_of_one_and_worlds_have_theirs() {
    let started = Renderer::start(Options { timing: true, ..options(false) });
    let Ok(mut renderer) = started else { return };
    let mut names = |packet: fn() -> Packet| {
        (0..20)
            .map(|_| {
                let captures = vec![Capture { number: 1, of: Target::Screen }];
                renderer.submit(Packet { captures, ..packet() });
                std::thread::sleep(std::time::Duration::from_millis(5));
                let figures = renderer.statistics();
                let cpu: Vec<&str> = figures.cpu_passes.iter().map(|it| it.0).collect();
                assert_eq!(cpu, ["changes", "worlds", "copies", "passes"]);
                let gpu = figures.gpu_passes.iter().map(|it| it.0.clone());
                (gpu.collect::<Vec<_>>(), figures.scene)
            })
            .last()
            .expect("there were frames")
    };
    assert_eq!(
        names(scenes::boxes),
        (vec!["gui".to_string()], SceneStatistics { surfaces: 1, ..SceneStatistics::default() })
    );
    let (passes, _) = names(lit::mixture);
    let wanted = [
        "shadow of sun 1",
        "shadow of sun 2",
        "shadow of sun 3",
        "scene",
        "scene, seen through",
        "world",
    ];
    assert_eq!(passes, wanted);
}

#[test]
fn other_settings_act_from_the_next_picture_on() {
    let Some(mut renderer) = renderer(false) else { return };
    let smooth = draw(&mut renderer, vec![lit::shadows()], Target::Screen);
    renderer.set_quality(Quality { samples: 1, shadow_texels: 0, ..QUALITY });
    let rough = draw(&mut renderer, vec![still(lit::shadows())], Target::Screen);
    assert!(smooth != rough);
    assert_eq!(renderer.statistics().scene.shadow_maps, 0);
    renderer.set_quality(QUALITY);
    assert!(smooth == draw(&mut renderer, vec![still(lit::shadows())], Target::Screen));
}
