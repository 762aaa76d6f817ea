//! Tests of ragdolls: generated bodies, conversion of poses there and back, and hand-overs.

use super::*;
use crate::{Pose, model_matrices, palette};
use engine_foundation::random::Random;

fn bone(
    name: &str,
    parent: Option<u16>,
    position: [f32; 3],
) -> (String, Option<u16>, BoneTransform) {
    let position = Vec3::from_array(position);
    (name.to_string(), parent, BoneTransform { position, ..BoneTransform::IDENTITY })
}

/// A human in centimetres, 170 high, with fingers that are too short for bodies of their own.
fn human() -> Skeleton {
    let root = BoneTransform { scale: Vec3::splat(0.01), ..BoneTransform::IDENTITY };
    let mut bones = vec![
        ("root".to_string(), None, root),
        bone("pelvis", Some(0), [0.0, 0.0, 95.0]),
        bone("spine", Some(1), [0.0, 0.0, 15.0]),
        bone("chest", Some(2), [0.0, 0.0, 25.0]),
        bone("head", Some(3), [0.0, 0.0, 25.0]),
    ];
    for (side, sign) in [("left", -1.0), ("right", 1.0)] {
        let first = bones.len() as u16;
        let mut add = |name: &str, parent: u16, position: [f32; 3]| {
            bones.push(bone(&format!("{side}_{name}"), Some(parent), position));
        };
        add("arm", 3, [18.0 * sign, 0.0, 20.0]);
        add("forearm", first, [28.0 * sign, 0.0, 0.0]);
        add("hand", first + 1, [26.0 * sign, 0.0, 0.0]);
        add("finger", first + 2, [9.0 * sign, 0.0, 0.0]);
        add("finger_tip", first + 3, [3.0 * sign, 0.0, 0.0]);
        add("thigh", 1, [10.0 * sign, 0.0, -5.0]);
        add("shin", first + 5, [0.0, 2.0, -44.0]);
        add("foot", first + 6, [0.0, -2.0, -40.0]);
        add("toe", first + 7, [0.0, 14.0, -4.0]);
    }
    Skeleton::new(bones).unwrap()
}

fn generated(settings: &RagdollSettings) -> (Skeleton, Ragdoll) {
    let skeleton = human();
    let ragdoll = Ragdoll::generate(&skeleton, settings).unwrap();
    (skeleton, ragdoll)
}

fn names<'a>(skeleton: &'a Skeleton, ragdoll: &Ragdoll) -> Vec<&'a str> {
    let name = |body: &RagdollBody| skeleton.names()[usize::from(body.bone)].as_str();
    ragdoll.bodies().iter().map(name).collect()
}

/// A random pose with its matrices.
fn posed(skeleton: &Skeleton, seed: u64) -> (Pose, Vec<crate::ModelMatrix>) {
    let mut random = Random::seed(seed);
    let mut number = || random.range_i64(-1000, 1000) as f32 / 1000.0;
    let mut pose = Pose::rest(skeleton);
    for bone in 0..skeleton.bone_count() {
        let mut transform = pose.transform(bone);
        let axis = Vec3::new(number(), number(), number()).normalize_or(Vec3::X);
        transform.rotation *= Quat::from_axis_angle(axis, number());
        pose.set(bone, &transform);
    }
    let mut matrices = Vec::new();
    model_matrices(skeleton, &pose, &mut matrices);
    (pose, matrices)
}

fn world() -> BoneTransform {
    BoneTransform {
        position: Vec3::new(10.0, -20.0, 3.0),
        rotation: Quat::from_rotation_z(2.0) * Quat::from_rotation_x(0.3),
        scale: Vec3::splat(1.5),
    }
}

/// The largest distance between points of bones in two poses.
fn distance(a: &[crate::ModelMatrix], b: &[crate::ModelMatrix]) -> f32 {
    let point = |matrix: &crate::ModelMatrix| Vec3::from_array(matrix.transform_point([5.0; 3]));
    a.iter().zip(b).map(|(a, b)| (point(a) - point(b)).length()).fold(0.0, f32::max)
}

#[test]
fn long_bones_get_bodies_from_the_pelvis_on() {
    let (skeleton, ragdoll) = generated(&RagdollSettings::DEFAULT);
    let found = names(&skeleton, &ragdoll);
    for wanted in ["pelvis", "spine", "chest", "head", "left_forearm", "right_shin", "left_foot"] {
        assert!(found.contains(&wanted), "{found:?}");
    }
    for unwanted in ["root", "left_finger_tip", "right_finger"] {
        assert!(!found.contains(&unwanted), "{found:?}");
    }
    assert_eq!((found[0], ragdoll.bodies()[0].parent), ("pelvis", None));
    let mass: f32 = ragdoll.bodies().iter().map(|body| body.mass).sum();
    assert!((mass - 75.0).abs() < 1e-3);
    for (index, body) in ragdoll.bodies().iter().enumerate() {
        assert!(body.mass > 0.05 && body.axis.is_normalized());
        assert!(index == 0 || body.parent.is_some_and(|parent| usize::from(parent) < index));
        match body.shape {
            BodyShape::Capsule { half_height, radius } => {
                assert!(half_height > 0.0 && radius > 0.005 && radius < 0.2);
                // The capsule covers the bone from its origin on.
                let axis = body.offset.rotation * Vec3::Z;
                assert!(axis.dot(body.axis) > 0.999, "{axis}");
                let start = body.offset.position - axis * (half_height + radius);
                assert!(start.length() < 0.05, "{} {start}", found[index]);
            }
            BodyShape::Box { half } => {
                assert!(half.min_element() > 0.005 && half.max_element() < 0.4)
            }
            // Only bodies of a unit's own actors have it.
            BodyShape::Sphere { .. } => panic!("{} is a sphere", found[index]),
        }
    }
    let shin = found.iter().position(|name| *name == "left_shin").unwrap();
    let body = &ragdoll.bodies()[shin];
    assert!((body.anchor - Vec3::new(0.0, 0.02, -0.44)).length() < 1e-5, "{}", body.anchor);
    let toe = skeleton.find("left_finger_tip").unwrap();
    assert_eq!(ragdoll.body_of(&skeleton, toe).map(|it| found[it]), Some("left_hand"));
    assert_eq!(ragdoll.body_of(&skeleton, 0), None);
    let arm = found.iter().position(|name| *name == "right_arm").unwrap();
    let below: Vec<&str> = ragdoll.below(arm).iter().map(|index| found[*index]).collect();
    assert_eq!(below, ["right_arm", "right_forearm", "right_hand"]);
}

#[test]
fn poses_survive_the_way_through_bodies() {
    let (skeleton, ragdoll) = generated(&RagdollSettings::DEFAULT);
    for seed in 0..20 {
        let (mut pose, mut matrices) = posed(&skeleton, seed);
        let mut bodies = Vec::new();
        let rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
        ragdoll.bodies_of_pose(&rig, &world(), &mut bodies);
        let before = matrices.clone();
        // The same pose, and another one that keeps the bones without bodies.
        let weights = vec![1.0; bodies.len()];
        let mut rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
        ragdoll.pose_of_bodies(&mut rig, &world(), &bodies, &weights);
        assert!(distance(&before, &matrices) < 2e-5, "{}", distance(&before, &matrices));
        let mut other = pose.clone();
        for body in ragdoll.bodies() {
            let bone = usize::from(body.bone);
            let mut transform = other.transform(bone);
            transform.rotation = Quat::from_rotation_y(0.4);
            other.set(bone, &transform);
        }
        let mut other_matrices = Vec::new();
        model_matrices(&skeleton, &other, &mut other_matrices);
        assert!(distance(&before, &other_matrices) > 0.1);
        let mut rig =
            ModelPose { skeleton: &skeleton, pose: &mut other, matrices: &mut other_matrices };
        ragdoll.pose_of_bodies(&mut rig, &world(), &bodies, &weights);
        assert!(distance(&before, &other_matrices) < 2e-5);
        let mut fresh = Vec::new();
        model_matrices(&skeleton, &other, &mut fresh);
        assert_eq!(fresh, other_matrices, "all matrices are up to date");
    }
}

#[test]
fn partial_ragdolls_leave_the_rest_of_the_pose() {
    let (skeleton, ragdoll) = generated(&RagdollSettings::DEFAULT);
    let (mut pose, mut matrices) = posed(&skeleton, 1);
    let mut bodies = Vec::new();
    let rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
    ragdoll.bodies_of_pose(&rig, &world(), &mut bodies);
    let found = names(&skeleton, &ragdoll);
    let arm = found.iter().position(|name| *name == "right_arm").unwrap();
    let mut weights = vec![0.0; bodies.len()];
    for index in ragdoll.below(arm) {
        weights[index] = 1.0;
        bodies[index].rotation = Quat::from_rotation_x(1.0);
    }
    let before = matrices.clone();
    let mut rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
    ragdoll.pose_of_bodies(&mut rig, &world(), &bodies, &weights);
    for bone in 0..skeleton.bone_count() {
        let inside = ragdoll.body_of(&skeleton, bone as u16).is_some_and(|it| weights[it] > 0.0);
        let moved = distance(&before[bone..=bone], &matrices[bone..=bone]);
        assert_eq!(moved > 1e-5, inside, "{}: {moved}", skeleton.names()[bone]);
    }
    let hand = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices }
        .rotation(skeleton.find("right_hand").unwrap());
    assert!((world().rotation * hand).dot(Quat::from_rotation_x(1.0)).abs() > 0.9999);
}

#[test]
fn bad_bodies_and_worlds_leave_a_finite_pose() {
    let (skeleton, ragdoll) = generated(&RagdollSettings::DEFAULT);
    let (mut pose, mut matrices) = posed(&skeleton, 2);
    let count = ragdoll.bodies().len();
    let bad = RigidTransform {
        position: Vec3::splat(f32::NAN),
        rotation: Quat::from_xyzw(0.0, f32::INFINITY, 0.0, 0.0),
    };
    let empty = RigidTransform { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..bad };
    let flat = BoneTransform { scale: Vec3::ZERO, ..world() };
    let lost = BoneTransform { position: Vec3::splat(f32::NAN), ..world() };
    let before = pose.clone();
    for (world, body, weight) in [
        (world(), bad, 1.0),
        (world(), empty, 1.0),
        (flat, RigidTransform::IDENTITY, 1.0),
        (world(), RigidTransform::IDENTITY, f32::NAN),
        (world(), RigidTransform::IDENTITY, 0.0),
    ] {
        let mut rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
        ragdoll.pose_of_bodies(&mut rig, &world, &vec![body; count], &vec![weight; count]);
        assert_eq!(pose, before);
    }
    let mut rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
    ragdoll.pose_of_bodies(&mut rig, &lost, &vec![RigidTransform::IDENTITY; count], &[1.0]);
    ragdoll.pose_of_bodies(&mut rig, &world(), &[], &[]);
    let mut out = vec![[[0.0; 4]; 3]; skeleton.bone_count()];
    let joints: Vec<_> = (0..skeleton.bone_count() as u16)
        .map(|bone| (bone, crate::ModelMatrix::IDENTITY))
        .collect();
    palette(&matrices, &joints, &mut out);
    assert!(out.as_flattened().as_flattened().iter().all(|number| number.is_finite()));
}

#[test]
fn hand_over_velocities_continue_the_movement() {
    let before =
        RigidTransform { position: Vec3::new(1.0, 2.0, 3.0), rotation: Quat::from_rotation_x(0.4) };
    let after = RigidTransform {
        position: Vec3::new(1.1, 2.0, 2.9),
        rotation: Quat::from_rotation_z(0.05) * before.rotation,
    };
    let flipped = RigidTransform { rotation: -after.rotation, ..after };
    for after in [after, flipped] {
        let velocity = hand_over_velocity(&before, &after, 0.02);
        assert!((velocity.linear - Vec3::new(5.0, 0.0, -5.0)).length() < 1e-3, "{velocity:?}");
        assert!((velocity.angular - Vec3::new(0.0, 0.0, 2.5)).length() < 1e-3, "{velocity:?}");
        let center = velocity.at(Vec3::X);
        assert!((center - Vec3::new(5.0, 2.5, -5.0)).length() < 1e-2, "{center}");
    }
    assert_eq!(hand_over_velocity(&before, &before, 0.02), BodyVelocity::ZERO);
    let lost = RigidTransform { position: Vec3::splat(f32::NAN), ..before };
    for (other, seconds) in [(after, 0.0), (after, -1.0), (after, f32::NAN), (lost, 0.02)] {
        assert_eq!(hand_over_velocity(&before, &other, seconds), BodyVelocity::ZERO);
    }
    let far = RigidTransform { position: Vec3::splat(1e6), ..after };
    assert!(hand_over_velocity(&before, &far, 1e-3).linear.length() < SPEED_MAX + 1e-3);
}

#[test]
fn the_get_up_clip_follows_the_orientation_of_the_pelvis() {
    let rest = Quat::from_rotation_x(0.5);
    let side = |turn: Quat| lying_side(turn * rest, rest, Vec3::Y);
    let back = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    for yaw in [0.0, 1.0, 2.0, -3.0] {
        let yaw = Quat::from_rotation_z(yaw);
        assert_eq!(side(yaw * back), LyingSide::FaceUp);
        assert_eq!(side(yaw * back.conjugate()), LyingSide::FaceDown);
    }
    // A clip whose pelvis lies at the side of the character, and a ragdoll somewhere.
    let in_clip = RigidTransform { position: Vec3::new(0.5, 0.2, 0.1), rotation: back };
    let pelvis = RigidTransform {
        position: Vec3::new(7.0, -3.0, 2.2),
        rotation: Quat::from_rotation_z(1.2) * back,
    };
    let unit = get_up_transform(&pelvis, &in_clip, 2.0);
    assert!(unit.rotation.dot(Quat::from_rotation_z(1.2)).abs() > 0.999_99);
    let shown = unit.concatenate(&in_clip).position;
    assert!((shown - pelvis.position).truncate().length() < 1e-5 && unit.position.z == 2.0);
    let lost = RigidTransform {
        position: Vec3::splat(f32::NAN),
        rotation: Quat::from_xyzw(f32::NAN, 0.0, 0.0, 0.0),
    };
    let unit = get_up_transform(&lost, &in_clip, 0.0);
    assert!(unit.position.is_finite() && unit.rotation.is_finite());
}

#[test]
fn motors_turn_to_the_pose() {
    let (skeleton, ragdoll) = generated(&RagdollSettings::DEFAULT);
    let mut targets = Vec::new();
    let (mut pose, mut matrices) = (Pose::rest(&skeleton), Vec::new());
    model_matrices(&skeleton, &pose, &mut matrices);
    let rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
    ragdoll.motor_targets(&rig, &mut targets);
    for (target, body) in targets.iter().zip(ragdoll.bodies()) {
        assert!(target.dot(body.rest_rotation).abs() > 0.999_99);
    }
    let (mut pose, mut matrices) = posed(&skeleton, 8);
    let rig = ModelPose { skeleton: &skeleton, pose: &mut pose, matrices: &mut matrices };
    ragdoll.motor_targets(&rig, &mut targets);
    let shin = names(&skeleton, &ragdoll).iter().position(|name| *name == "left_shin").unwrap();
    let bone = usize::from(ragdoll.bodies()[shin].bone);
    assert!(targets[shin].dot(pose.transform(bone).rotation).abs() > 0.999_99);
}

#[test]
fn named_bones_and_limits_are_used() {
    let name = |name: &str| name.to_string();
    let hinge = JointLimits::Hinge { axis: Vec3::new(2.0, 0.0, 0.0), angles: [0.0, 2.4] };
    let settings = RagdollSettings {
        bones: vec![name("left_shin"), name("pelvis"), name("left_thigh")],
        limits: vec![(name("left_shin"), hinge)],
        ..RagdollSettings::DEFAULT
    };
    let (skeleton, ragdoll) = generated(&settings);
    assert_eq!(names(&skeleton, &ragdoll), ["pelvis", "left_thigh", "left_shin"]);
    let wanted = JointLimits::Hinge { axis: Vec3::X, angles: [0.0, 2.4] };
    assert_eq!(ragdoll.bodies()[2].limits, wanted);
    assert_eq!(ragdoll.bodies()[1].limits, JointLimits::DEFAULT);
    let check = |change: fn(&mut RagdollSettings), wanted: &str| {
        let mut settings = settings.clone();
        change(&mut settings);
        let error = Ragdoll::generate(&skeleton, &settings).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    check(|it| it.bones[0] = "left_shn".to_string(), "did you mean 'left_shin'?");
    check(|it| it.bones[0] = "pelvis".to_string(), "bone 'pelvis' is twice");
    check(
        |it| it.bones = ["left_arm", "left_thigh"].map(str::to_string).to_vec(),
        "bone 'left_thigh' of the ragdoll is not below 'left_arm'",
    );
    check(|it| it.mass = f32::NAN, "'mass' of the ragdoll is NaN");
    check(|it| it.radius_ratio = 0.0, "'radius_ratio' of the ragdoll is 0");
    check(
        |it| it.limits[0].1 = JointLimits::Ball { swing: -1.0, twist: 0.0 },
        "the joint 'left_shin' of the ragdoll has limits that are not valid",
    );
    check(
        |it| it.limits[0].1 = JointLimits::Hinge { axis: Vec3::ZERO, angles: [0.0, 1.0] },
        "limits that are not valid",
    );
    let wanted = "'limits' of the ragdoll names the bone 'knee', which the skeleton does not have";
    check(|it| it.limits[0].0 = "knee".to_string(), wanted);
}

#[test]
fn skeletons_without_size_and_with_many_joints_are_refused() {
    let flat = Skeleton::new(vec![
        bone("a", None, [0.0; 3]),
        bone("b", Some(0), [0.0; 3]),
        bone("c", Some(1), [0.0; 3]),
    ]);
    let error = Ragdoll::generate(&flat.unwrap(), &RagdollSettings::DEFAULT).unwrap_err();
    assert!(error.to_string().contains("the skeleton has no size"));
    let mut bones = vec![bone("bone_0", None, [0.0; 3])];
    for index in 1..2000u16 {
        bones.push(bone(&format!("bone_{index}"), Some(index - 1), [0.0, 0.0, 0.01]));
    }
    let long = Skeleton::new(bones).unwrap();
    let all = RagdollSettings { length_part_min: 0.0, ..RagdollSettings::DEFAULT };
    let error = Ragdoll::generate(&long, &all).unwrap_err().to_string();
    assert!(error.contains("has 2000 bodies, and 64 are the most (BODIES_MAX)"), "{error}");
}

#[test]
fn shapes_of_single_bones_replace_generated_ones() {
    let head = BoneShape { radius: 0.12, length: Some(0.3) };
    let tip = BoneShape { radius: 0.01, length: None };
    let shapes = vec![("head".to_string(), head), ("left_finger_tip".to_string(), tip)];
    let settings = RagdollSettings { shapes, ..RagdollSettings::DEFAULT };
    let (skeleton, ragdoll) = generated(&settings);
    let names = names(&skeleton, &ragdoll);
    assert!(names.contains(&"left_finger_tip") && !names.contains(&"right_finger_tip"));
    let body = &ragdoll.bodies()[names.iter().position(|name| *name == "head").unwrap()];
    let BodyShape::Capsule { half_height, radius } = body.shape else { panic!("{body:?}") };
    assert!((half_height - 0.03).abs() < 1e-5 && radius == 0.12, "{half_height}, {radius}");
    assert!((body.offset.position.length() - 0.15).abs() < 1e-5, "{}", body.offset.position);
    for (radius, length) in [(0.0, None), (f32::NAN, None), (0.1, Some(-1.0)), (1e9, None)] {
        let shapes = vec![("head".to_string(), BoneShape { radius, length })];
        let settings = RagdollSettings { shapes, ..RagdollSettings::DEFAULT };
        let message = Ragdoll::generate(&skeleton, &settings).unwrap_err().message;
        assert!(message.contains("shape of 'head'"), "{message}");
    }
}

#[test]
fn hand_overs_continue_the_motion() {
    let before = RigidTransform::IDENTITY;
    let turn = Quat::from_rotation_z(0.1);
    let after = RigidTransform { position: Vec3::new(0.1, 0.0, 0.02), rotation: turn };
    let velocity = hand_over_velocity(&before, &after, 0.02);
    let next = advance_transform(&after, &velocity, 0.02);
    assert!((next.position - Vec3::new(0.2, 0.0, 0.04)).length() < 1e-5, "{next:?}");
    assert!(next.rotation.dot(Quat::from_rotation_z(0.2)) > 0.999_999, "{next:?}");
    assert!(!is_teleport(&before, &after, 0.02) && is_teleport(&before, &after, 0.001));
    let far = RigidTransform { position: Vec3::splat(f32::NAN), ..before };
    assert!(is_teleport(&before, &far, 0.02));
    let carried = follow_frame(&after, &before, &after);
    assert!((carried.position - after.concatenate(&after).position).length() < 1e-6);
    let (skeleton, _) = generated(&RagdollSettings::DEFAULT);
    let (mut pose, _) = posed(&skeleton, 1);
    let (other, _) = posed(&skeleton, 2);
    let start = pose.clone();
    hold_pose(&mut pose, &other, |bone| match bone {
        0 => 1.0,
        1 => 0.0,
        2 => f32::NAN,
        _ => 2.0,
    });
    for bone in 0..skeleton.bone_count() {
        let expected = if bone == 1 || bone == 2 { &start } else { &other };
        let (is, expected) = (pose.transform(bone), expected.transform(bone));
        assert!((is.position - expected.position).length() < 1e-4, "{bone}");
        assert!(is.rotation.dot(expected.rotation).abs() > 0.9999, "{bone}");
    }
}
