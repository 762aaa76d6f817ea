//! Tests of poses: masks, layers, differences.

use super::super::super::clip::Clip;
use super::super::super::compile::{ClipSettings, compile};
use super::super::super::pose::Pose;
use super::super::super::skeleton::{BoneTransform, Skeleton};
use super::super::super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use super::*;
use engine_foundation::{Quat, Vec3};

fn skeleton() -> Skeleton {
    let bone = |name: &str, parent: Option<u16>| {
        (name.to_string(), parent, BoneTransform { position: Vec3::Y, ..BoneTransform::IDENTITY })
    };
    Skeleton::new(vec![
        bone("hip", None),
        bone("leg", Some(0)),
        bone("spine", Some(0)),
        bone("arm", Some(2)),
        bone("hand", Some(3)),
        bone("head", Some(2)),
    ])
    .unwrap()
}

/// A pose of all bones.
fn posed(x: f32, angle: f32, scale: f32) -> Pose {
    let transform = BoneTransform {
        position: Vec3::new(x, 1.0, 0.0),
        rotation: Quat::from_rotation_z(angle),
        scale: Vec3::splat(scale),
    };
    Pose::new(&[transform; 6])
}

/// Evaluates a character whose clips are poses: clip `n` is at x = n + 1, turned by (n + 1) / 10.
fn pose_of(it: &Character) -> Pose {
    let skeleton = skeleton();
    let masks = it.machine.bind(&skeleton).unwrap();
    let (mut evaluator, mut pose) = (PoseEvaluator::default(), Pose::default());
    let rest = Pose::rest(&skeleton);
    evaluator.evaluate(&it.output, &masks, &rest, &mut pose, |index, sample, pose| {
        assert_eq!(*sample, it.output.samples[index]);
        let number = f32::from(sample.clip) + 1.0;
        *pose = posed(number, number / 10.0, 1.0);
    });
    pose
}

fn x_of(pose: &Pose) -> [f32; 6] {
    std::array::from_fn(|bone| pose.transform(bone).position.x)
}

#[test]
fn masks_apply_to_descendants_unless_overridden() {
    let machine = compiled(
        "masks = { upper = { spine = 1 hand = 0.25 } all = { hip = 1 leg = 0 } }
         layers = [ { states = { s = { empty = true } } } ]",
    );
    let masks = machine.bind(&skeleton()).unwrap();
    let weights =
        |mask: usize| -> Vec<f32> { (0..6).map(|bone| masks[mask].weight(bone)).collect() };
    assert_eq!(weights(0), [0.0, 0.0, 1.0, 1.0, 0.25, 1.0]);
    assert_eq!(weights(1), [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let wrong = |text: &str| {
        let machine =
            compiled(&format!("\n{text} layers = [ {{ states = {{ s = {{ empty = true }} }} }} ]"));
        machine.bind(&skeleton()).unwrap_err().message
    };
    let wanted =
        "orc.state_machine:2: mask 'm': the skeleton has no bone 'spin', did you mean 'spine'?";
    assert_eq!(wrong("masks = { m = { spin = 1 } }"), wanted);
    let wanted = "orc.state_machine:2: constraint 'c': the skeleton has no bone 'heads', \
         did you mean 'head'?";
    assert_eq!(wrong("constraints = { c = { type = \"aim\" bone = \"heads\" } }"), wanted);
}

#[test]
fn layers_cover_those_below_by_weight_and_mask() {
    let mut it = Character::new(
        "variables = { w = { value = 1 min = 0 max = 1 } }
        masks = { upper = { spine = 1 hand = 0.5 } }
        layers = [ { states = { body = { blend = [ { clip = \"a\" } { clip = \"b\" } ] } } }
            { mask = \"upper\" weight = \"w\" states = { arms = { clip = \"c\" } } } ]",
        &[],
    );
    it.update(0.1);
    assert_eq!(x_of(&pose_of(&it)), [1.5, 1.5, 3.0, 3.0, 2.25, 3.0]);
    it.set("w", 0.5);
    it.update(0.1);
    assert_eq!(x_of(&pose_of(&it)), [1.5, 1.5, 2.25, 2.25, 1.875, 2.25]);
    it.set("w", 0.0);
    it.update(0.1);
    assert_eq!(x_of(&pose_of(&it)), [1.5; 6]);
}

#[test]
fn empty_states_show_the_layer_below_and_the_rest_pose() {
    let mut it = Character::new(
        "layers = [ { states = { none = { empty = true on = { go = { to = \"a\" blend = 1
            curve = \"linear\" } } } a = { clip = \"a\" } } } ]",
        &[],
    );
    it.update(0.1);
    assert_eq!(x_of(&pose_of(&it)), [0.0; 6]);
    it.send("go");
    it.update(0.25);
    assert_eq!(x_of(&pose_of(&it)), [0.25; 6]);
    it.update(1.0);
    assert_eq!(x_of(&pose_of(&it)), [1.0; 6]);
}

#[test]
fn additive_states_add_their_difference_from_the_rest_pose() {
    let mut it = Character::new(
        "masks = { upper = { spine = 1 } }
        layers = [ { states = { body = { clip = \"a\" } } }
            { mask = \"upper\" states = {
                lean = { clip = \"b\" additive = true weight = 0.5 } } } ]",
        &[],
    );
    it.update(0.1);
    let pose = pose_of(&it);
    assert_eq!(x_of(&pose), [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
    let angle = |bone: usize| pose.transform(bone).rotation.to_scaled_axis().z;
    assert!((angle(0) - 0.1).abs() < 1e-6, "{}", angle(0));
    assert!((angle(2) - 0.2).abs() < 1e-4, "{}", angle(2));
}

#[test]
fn differences_add_up_to_the_pose() {
    let reference = posed(2.0, 0.5, 2.0);
    let target = posed(5.0, 0.9, 3.0);
    let mut difference = target.clone();
    difference.subtract(&reference);
    let mut sum = reference.clone();
    sum.add_difference(&difference, 1.0, None);
    let (sum, target) = (sum.transform(3), target.transform(3));
    assert!((sum.position - target.position).length() < 1e-6);
    assert!((sum.scale - target.scale).length() < 1e-6);
    assert!(sum.rotation.angle_between(target.rotation) < 1e-3);
    // Scales of zero and opposite rotations stay finite.
    let flat = posed(0.0, 0.0, 0.0);
    let mut difference = posed(1.0, 3.2, 1.0);
    difference.subtract(&flat);
    let mut sum = flat.clone();
    sum.add_difference(&difference, f32::NAN, None);
    sum.blend_towards(&posed(1.0, std::f32::consts::PI, 1.0), 0.5, None);
    let shown = sum.transform(0);
    assert!(shown.position.is_finite() && shown.rotation.is_finite() && shown.scale.is_finite());
}

#[test]
fn blending_towards_a_pose_takes_the_shorter_arc() {
    let mut pose = posed(0.0, 0.2, 1.0);
    let other = posed(4.0, 0.2 + std::f32::consts::TAU, 3.0);
    pose.blend_towards(&other, 0.25, None);
    let shown = pose.transform(0);
    assert_eq!((shown.position.x, shown.scale.x), (1.0, 1.5));
    assert!((shown.rotation.to_scaled_axis().z - 0.2).abs() < 1e-5);
    let mut whole = posed(0.0, 0.2, 1.0);
    whole.blend_towards(&posed(4.0, 0.6, 3.0), 1.0, None);
    let angle = whole.transform(0).rotation.to_scaled_axis().z;
    assert!((angle - 0.6).abs() < 1e-6);
}

/// A clip of two seconds whose hip moves from `x` by a metre and back.
fn moving(x: f32) -> Clip {
    let track = SourceTrack {
        bone: 0,
        property: TrackProperty::Position,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, 1.0, 2.0],
        values: [0.0, 1.0, 0.0].map(|moved| [x + moved, 1.0, 0.0, 0.0]).to_vec(),
    };
    let source = SourceClip { seconds: 2.0, tracks: vec![track] };
    compile(&source, &skeleton(), &ClipSettings::DEFAULT).unwrap().clip
}

#[test]
fn players_show_the_clips_and_return_to_the_pool() {
    let mut it = Character::new(
        "layers = [ { states = {
            a = { clip = \"a\" on = { go = { to = \"b\" blend = 0.5 curve = \"linear\" } } }
            b = { clip = \"b\" on = { go = { to = \"a\" blend = 0.5 curve = \"linear\" }
                lost = { to = \"lost\" blend = 0 } } }
            lost = { clip = \"lost\" } } } ]",
        &[("a", clip(2.0, true)), ("b", clip(2.0, true))],
    );
    let skeleton = skeleton();
    let rest = Pose::rest(&skeleton);
    let clips = [moving(0.0), moving(10.0)];
    let clips = [Some(&clips[0]), Some(&clips[1]), None];
    let clip = |index: u16| clips.get(usize::from(index)).copied().flatten();
    let rig = RigData { skeleton: &skeleton, rest: &rest, clip: &clip, masks: &[] };
    let (mut players, mut pool) = (SamplePlayers::default(), PlayerPool::default());
    let (mut evaluator, mut pose) = (PoseEvaluator::default(), Pose::default());
    let mut x = |it: &Character, players: &mut SamplePlayers, pool: &mut PlayerPool| {
        players.evaluate(&it.output, &rig, pool, &mut evaluator, &mut pose);
        pose.transform(0).position.x
    };
    it.update(0.5);
    assert!((x(&it, &mut players, &mut pool) - 0.5).abs() < 1e-3);
    it.send("go");
    it.update(0.25);
    let wanted = 0.5 * 0.75 + 0.5 * 10.25;
    assert!((x(&it, &mut players, &mut pool) - wanted).abs() < 1e-3);
    // Each sample has the pose of its own time, over many transitions.
    for step in 0..200 {
        if step % 7 == 0 {
            it.send("go");
        }
        it.update(0.05);
        let shown = x(&it, &mut players, &mut pool);
        let (mut sum, mut weights) = (0.0, 0.0);
        for sample in &it.output.samples {
            let moved = 1.0 - (sample.time - 1.0).abs();
            sum += sample.weight * (f32::from(sample.clip) * 10.0 + moved);
            weights += sample.weight;
        }
        assert!((shown - sum / weights).abs() < 1e-3, "{shown} in step {step}");
    }
    if it.info().state == "a" {
        it.send("go");
    }
    it.send("lost");
    it.update(0.1);
    let shown = x(&it, &mut players, &mut pool);
    assert_eq!(shown, rest.transform(0).position.x, "a missing clip is at rest");
    players.truncate(0, &rig, &mut pool);
    assert!(players.is_empty());
    assert!((2..8).contains(&pool.count()), "players are used again: {}", pool.count());
}
