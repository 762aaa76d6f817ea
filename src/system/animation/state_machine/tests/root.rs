//! Tests of root motion: the movement of a state machine's samples, blended like the pose.

use super::super::super::clip::Clip;
use super::super::super::compile::{ClipSettings, compile};
use super::super::super::rigid_transform::RigidTransform;
use super::super::super::root_motion::RootMotion;
use super::super::super::skeleton::{BoneTransform, Skeleton};
use super::super::super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use super::*;
use engine_foundation::{Quat, Vec3};

/// A clip that moves forward by a distance in metres, with a turn by an angle about the vertical
/// axis.
fn walking(distance: f32, seconds: f32, angle: f32) -> Clip {
    let bone = ("hip".to_string(), None, BoneTransform::IDENTITY);
    let skeleton = Skeleton::new(vec![bone]).unwrap();
    let track = |property, values: [[f32; 4]; 2]| SourceTrack {
        bone: 0,
        property,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, seconds],
        values: values.to_vec(),
    };
    let turned = Quat::from_rotation_z(angle).to_array();
    let tracks = vec![
        track(TrackProperty::Position, [[0.0; 4], [0.0, distance, 0.0, 0.0]]),
        track(TrackProperty::Rotation, [[0.0, 0.0, 0.0, 1.0], turned]),
    ];
    let settings = ClipSettings {
        looping: Some(true),
        root_motion: RootMotion::XyYaw,
        ..ClipSettings::DEFAULT
    };
    compile(&SourceClip { seconds, tracks }, &skeleton, &settings).unwrap().clip
}

const MOVES: &str = "variables = { speed = { value = 0 min = -1 max = 6 } }
    layers = [ { states = {
        walk = { clip = \"walk\" on = { run = { to = \"run\" blend = 1 curve = \"linear\" }
            mix = { to = \"mix\" blend = 0 } stop = { to = \"still\" blend = 0 }
            back = { to = \"back\" blend = 0 } circle = { to = \"circle\" blend = 0 } } }
        run = { clip = \"run\" }
        mix = { blend = [ { clip = \"walk\" weight = 1 } { clip = \"run\" weight = 1 } ] }
        still = { empty = true }
        back = { clip = \"walk\" speed = -1 }
        circle = { clip = \"circle\" }
    } } ]";

/// A character whose clips walk 2 m/s, run 6 m/s, and walk in a circle.
struct Walker {
    it: Character,
    clips: Vec<Clip>,
}

impl Walker {
    fn new() -> Walker {
        let infos = [("walk", clip(1.0, true)), ("run", clip(0.5, true))];
        let it = Character::new(MOVES, &infos);
        let clips = it.machine.clips().iter().map(|clip| match clip.name.as_str() {
            "walk" => walking(2.0, 1.0, 0.0),
            "run" => walking(3.0, 0.5, 0.0),
            _ => walking(1.0, 1.0, 1.5),
        });
        Walker { clips: clips.collect(), it }
    }

    fn delta(&self, masks: &[BoneMask]) -> RigidTransform {
        self.it.output.root_delta(&|index| self.clips.get(usize::from(index)), masks)
    }

    /// Plays for a number of steps and returns the whole movement.
    fn play(&mut self, steps: u32, dt: f32) -> RigidTransform {
        let mut sum = RigidTransform::IDENTITY;
        for _ in 0..steps {
            self.it.update(dt);
            sum = sum.concatenate(&self.delta(&[]));
        }
        sum
    }

    #[track_caller]
    fn check(&mut self, (steps, dt): (u32, f32), wanted: f32) {
        let moved = self.play(steps, dt).position;
        assert!((moved - Vec3::Y * wanted).length() < 2e-3, "{moved} is not {wanted} along y");
    }
}

#[test]
fn root_motion_is_independent_of_the_frame_rate() {
    for (steps, dt) in [(600, 1.0 / 60.0), (10, 1.0), (4, 2.5), (77, 10.0 / 77.0)] {
        let mut it = Walker::new();
        it.check((steps, dt), 20.0);
        let mut it = Walker::new();
        it.it.send("circle");
        let moved = it.play(steps, dt);
        let wanted = it.clips[it.clips.len() - 1].root_delta(0.0, 0.0, 10);
        let apart = (moved.position - wanted.position).length();
        assert!(apart < 2e-3, "{apart} m apart after {steps} steps");
        assert!(moved.rotation.dot(wanted.rotation).abs() > 0.99999);
    }
}

#[test]
fn root_motion_is_blended_like_the_pose() {
    let mut it = Walker::new();
    it.it.send("mix");
    // Both at the same part of their lengths: 2.5 m in each 0.75 s.
    it.check((90, 1.0 / 60.0), 5.0);
    let mut it = Walker::new();
    it.check((30, 1.0 / 60.0), 1.0);
    it.it.send("run");
    // The cross-fade lasts one second: on average 4 m/s.
    let moved = it.play(60, 1.0 / 60.0).position.y;
    assert!((moved - 4.0).abs() < 0.1, "{moved}");
    it.check((60, 1.0 / 60.0), 6.0);
    let mut it = Walker::new();
    it.it.send("back");
    it.check((60, 1.0 / 60.0), -2.0);
}

#[test]
fn states_without_a_pose_and_masked_layers_do_not_move() {
    let mut it = Walker::new();
    it.it.send("stop");
    it.check((60, 1.0 / 60.0), 0.0);
    it.it.update(f32::NAN);
    assert_eq!(it.delta(&[]), RigidTransform::IDENTITY);
    let mut it = Walker::new();
    it.it.update(0.5);
    it.it.output.layers[0].mask = Some(0);
    assert_eq!(it.delta(&[BoneMask::new(&[0.0])]), RigidTransform::IDENTITY);
    let half = it.delta(&[BoneMask::new(&[0.5])]).position.y;
    assert!((half - 0.5).abs() < 1e-3, "{half}");
    it.clips.clear();
    assert_eq!(it.delta(&[]), RigidTransform::IDENTITY, "missing clips stand still");
}
