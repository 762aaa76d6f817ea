//! Tests of root motion in the cross-fades of scripts: it is the same at each frame rate.

use super::tests::{ONCE, Stage, roaming};
use super::*;
use crate::scene_graph::NodePose;
use engine_foundation::Vec3;

const RATES: [u32; 5] = [10, 30, 60, 240, 1000];

/// Plays a walk, after half a second a second clip, and half a second later a walk again. Returns
/// the poses of the unit after three seconds, at each rate.
fn faded(name: &str, speed: f32, blend: f32) -> [NodePose; 5] {
    RATES.map(|rate| {
        let mut stage = Stage::of(roaming());
        let row = stage.unit.row();
        stage.animations.of_mut(row).unwrap().root_mode = RootMode::PositionAndRotation;
        let walk = PlayOptions { loops: true, ..ONCE };
        stage.play("stroll", walk).unwrap();
        for step in 0..3 * rate {
            if step == rate / 2 {
                stage.play(name, PlayOptions { blend, speed, ..walk }).unwrap();
            } else if step == rate {
                stage.play("stroll", PlayOptions { blend, ..walk }).unwrap();
            }
            stage.step(1.0 / rate as f32);
        }
        stage.units.scene.local(row, 0)
    })
}

#[test]
fn cross_fades_of_scripts_move_as_far_at_each_frame_rate() {
    // The second fade begins before, and after, the first one has ended.
    for blend in [0.7, 0.33] {
        for (name, speed) in [("stroll", 4.0), ("circle", 2.0)] {
            let all = faded(name, speed, blend);
            for (rate, pose) in RATES.iter().zip(all) {
                let most = if *rate == 10 && name == "circle" { 5e-3 } else { 2e-3 };
                let apart = pose.position.distance(all[4].position);
                assert!(apart <= most, "{name}, {blend} s: {apart} m apart at {rate} Hz");
                let angle = pose.rotation.angle_between(all[4].rotation);
                assert!(angle <= most, "{name}, {blend} s: {angle} radians apart at {rate} Hz");
            }
        }
    }
    // 0.5 m; 0.33 seconds from 1 to 4 m/s, 0.17 at 4, 0.33 back, and the rest at 1 m/s.
    let exact = 0.5 + 0.33 * 2.5 + 0.17 * 4.0 + 0.33 * 2.5 + 1.67;
    for pose in faded("stroll", 4.0, 0.33) {
        assert!(pose.position.distance(Vec3::Y * exact) < 2e-3, "{pose:?}, {exact}");
    }
}
