//! Tests of constraints: targets that are reached, limits, frame rates and invalid input.

use super::*;
use crate::{BoneTransform, model_matrices};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::random::Random;

/// Character with its matrices.
pub(super) struct Rig {
    pub skeleton: Skeleton,
    pose: Pose,
    matrices: Vec<ModelMatrix>,
}

impl Rig {
    fn new(skeleton: Skeleton) -> Rig {
        let pose = Pose::rest(&skeleton);
        let mut matrices = Vec::new();
        model_matrices(&skeleton, &pose, &mut matrices);
        Rig { skeleton, pose, matrices }
    }

    pub fn rig(&mut self) -> ModelPose<'_> {
        ModelPose { skeleton: &self.skeleton, pose: &mut self.pose, matrices: &mut self.matrices }
    }

    pub fn origin(&mut self, name: &str) -> Vec3 {
        let bone = self.skeleton.find(name).unwrap();
        self.rig().origin(bone)
    }

    pub fn rotation(&mut self, name: &str) -> Quat {
        let bone = self.skeleton.find(name).unwrap();
        self.rig().rotation(bone)
    }

    /// Fails if a number is not finite, or if a matrix is not the product of local transforms.
    pub fn check(&self) {
        let mut matrices = Vec::new();
        model_matrices(&self.skeleton, &self.pose, &mut matrices);
        assert_eq!(matrices, self.matrices, "all matrices are up to date");
        for matrix in &matrices {
            assert!(matrix.0.iter().flat_map(|row| row.0).all(f32::is_finite), "{matrix:?}");
        }
    }
}

fn bone(
    name: &str,
    parent: Option<u16>,
    position: [f32; 3],
) -> (String, Option<u16>, BoneTransform) {
    let position = Vec3::from_array(position);
    (name.to_string(), parent, BoneTransform { position, ..BoneTransform::IDENTITY })
}

/// A body in centimetres with two legs, a head, and a tail.
pub(super) fn body() -> Rig {
    let root = BoneTransform {
        rotation: Quat::from_rotation_x(0.7),
        scale: Vec3::splat(0.01),
        ..BoneTransform::IDENTITY
    };
    let turned = |(name, parent, mut rest): (String, Option<u16>, BoneTransform)| {
        rest.rotation = Quat::from_rotation_x(-0.7);
        (name, parent, rest)
    };
    let bones = vec![
        ("root".to_string(), None, root),
        turned(bone("pelvis", Some(0), [0.0, 64.0, 76.0])),
        bone("left_thigh", Some(1), [-10.0, 0.0, 0.0]),
        bone("left_shin", Some(2), [0.0, 5.0, -45.0]),
        bone("left_foot", Some(3), [0.0, -5.0, -45.0]),
        bone("right_thigh", Some(1), [10.0, 0.0, 0.0]),
        bone("right_shin", Some(5), [0.0, 5.0, -45.0]),
        bone("right_foot", Some(6), [0.0, -5.0, -45.0]),
        bone("head", Some(1), [0.0, 0.0, 60.0]),
        bone("tail_1", Some(1), [0.0, -10.0, 0.0]),
        bone("tail_2", Some(9), [0.0, -20.0, 0.0]),
        bone("tail_3", Some(10), [0.0, -20.0, 0.0]),
        bone("left_toe", Some(4), [0.0, 10.0, 0.0]),
    ];
    Rig::new(Skeleton::new(bones).unwrap())
}

pub(super) fn leg(skeleton: &Skeleton, softness: f32) -> TwoBoneIk {
    TwoBoneIk::new(skeleton, ["left_thigh", "left_shin", "left_foot"], softness).unwrap()
}

pub(super) fn target(position: Vec3) -> IkTarget {
    IkTarget { position, pole: None, rotation: None }
}

fn direction(random: &mut Random) -> Vec3 {
    let number = |random: &mut Random| random.range_i64(-1000, 1000) as f32 / 1000.0;
    Vec3::new(number(random), number(random), number(random)).normalize_or(Vec3::X)
}

#[test]
fn an_unchanged_subtree_keeps_the_bits_of_its_matrices() {
    let mut rig = body();
    let before = rig.matrices.clone();
    for bone in 0..rig.skeleton.bone_count() {
        rig.rig().update_subtree(bone as u16);
        assert_eq!(rig.matrices, before);
    }
}

#[test]
fn two_bones_reach_every_target_within_their_length() {
    let mut random = Random::seed(3);
    for case in 0..2000 {
        let mut rig = body();
        let leg = leg(&rig.skeleton, 0.0);
        let start = rig.origin("left_thigh");
        let distance = 0.01 + 0.894 * (case as f32 / 2000.0);
        let wanted = start + direction(&mut random) * distance;
        let pole = (case % 2 == 0).then(|| direction(&mut random));
        let rotation = (case % 3 == 0).then(|| Quat::from_rotation_y(0.3));
        let lengths = |rig: &mut Rig| {
            let points = ["left_thigh", "left_shin", "left_foot"].map(|name| rig.origin(name));
            [(points[1] - points[0]).length(), (points[2] - points[1]).length()]
        };
        let before = lengths(&mut rig);
        leg.apply(&mut rig.rig(), &IkTarget { position: wanted, pole, rotation }, 1.0);
        rig.check();
        let error = (rig.origin("left_foot") - wanted).length();
        assert!(error < 1e-4, "case {case}: {error}");
        let after = lengths(&mut rig);
        assert!((before[0] - after[0]).abs() < 1e-5 && (before[1] - after[1]).abs() < 1e-5);
        if let Some(rotation) = rotation {
            assert!(rig.rotation("left_foot").dot(rotation).abs() > 0.999_99);
        }
        if let Some(pole) = pole {
            let along = (wanted - start).normalize();
            let side = |vector: Vec3| (vector - along * along.dot(vector)).normalize_or_zero();
            let bent = rig.origin("left_shin") - start;
            if side(pole).dot(pole) > 0.1 && distance > 0.1 && distance < 0.85 {
                assert!(side(bent).dot(side(pole)) > 0.99, "case {case}: {bent} {pole}");
            }
        }
    }
}

#[test]
fn targets_out_of_reach_straighten_the_limb() {
    for (softness, pole) in
        [(0.0, None), (0.1, None), (0.0, Some(Vec3::Z)), (0.5, Some(Vec3::ZERO))]
    {
        for wanted in [[0.0, 0.0, 1e6], [0.0, 0.0, -3.0], [5.0, 0.0, 1.0], [-1e18, 1e18, 0.0]] {
            let mut rig = body();
            let leg = leg(&rig.skeleton, softness);
            let start = rig.origin("left_thigh");
            let wanted = IkTarget { pole, ..target(Vec3::from_array(wanted)) };
            leg.apply(&mut rig.rig(), &wanted, 1.0);
            rig.check();
            let reached = rig.origin("left_foot") - start;
            let along = (wanted.position - start).normalize();
            assert!(reached.normalize().dot(along) > 0.999, "{wanted:?}: {reached}");
            let length = 2.0 * (0.45f32 * 0.45 + 0.05 * 0.05).sqrt();
            let least = length * (1.0 - softness * 0.2) - 1e-3;
            assert!((least..=length + 1e-4).contains(&reached.length()), "{reached}");
            // A straight limb bends again.
            let near = target(start + Vec3::new(0.1, 0.2, -0.5));
            leg.apply(&mut rig.rig(), &near, 1.0);
            rig.check();
            assert!((rig.origin("left_foot") - near.position).length() < 0.05);
        }
    }
}

#[test]
fn soft_limbs_have_no_corner_at_their_full_length() {
    let mut before: Option<(f32, f32)> = None;
    for step in 0..400 {
        let mut rig = body();
        let leg = leg(&rig.skeleton, 0.1);
        let start = rig.origin("left_thigh");
        leg.apply(&mut rig.rig(), &target(start - Vec3::Z * 0.5), 1.0);
        let distance = 0.7 + step as f32 * 0.001;
        leg.apply(&mut rig.rig(), &target(start - Vec3::Z * distance), 1.0);
        let reached = (rig.origin("left_foot") - start).length();
        assert!(reached < 0.9056);
        if let Some((last, speed)) = before {
            let new_speed: f32 = reached - last;
            assert!(new_speed > -1e-5 && (new_speed - speed).abs() < 5e-5, "{distance}");
            before = Some((reached, new_speed));
        } else {
            before = Some((reached, 0.001));
        }
    }
}

#[test]
fn invalid_targets_change_nothing() {
    let mut rig = body();
    let before = rig.pose.clone();
    let leg = leg(&rig.skeleton, 0.0);
    let start = rig.origin("left_thigh");
    let aim = Aim::new(&rig.skeleton, "head", Vec3::Y, AimLimits::DEFAULT).unwrap();
    let mover = MoveBone::new(&rig.skeleton, "head").unwrap();
    let head = rig.origin("head");
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let bad = Vec3::new(0.0, bad, 1.0);
        leg.apply(&mut rig.rig(), &target(bad), 1.0);
        aim.apply(&mut rig.rig(), bad, 1.0);
        mover.apply(&mut rig.rig(), bad, 1.0);
    }
    leg.apply(&mut rig.rig(), &target(start), 1.0);
    aim.apply(&mut rig.rig(), head, 1.0);
    for weight in [0.0, -1.0, f32::NAN] {
        leg.apply(&mut rig.rig(), &target(Vec3::ONE), weight);
        aim.apply(&mut rig.rig(), Vec3::ONE, weight);
        mover.apply(&mut rig.rig(), Vec3::ONE, weight);
    }
    assert_eq!(rig.pose, before);
    let odd = IkTarget {
        position: Vec3::new(0.0, 0.3, 0.5),
        pole: Some(Vec3::splat(f32::NAN)),
        rotation: Some(Quat::from_xyzw(0.0, f32::NAN, 0.0, 0.0)),
    };
    leg.apply(&mut rig.rig(), &odd, 1.0);
    rig.check();
    assert!((rig.origin("left_foot") - odd.position).length() < 1e-4);
}

#[test]
fn bones_without_length_and_scales_of_zero_stay_finite() {
    for (scale, length) in [(0.0, 1.0), (1.0, 0.0), (1e-30, 1.0), (1.0, 1e-30)] {
        let flat = BoneTransform { scale: Vec3::splat(scale), ..BoneTransform::IDENTITY };
        let bones = vec![
            ("root".to_string(), None, flat),
            bone("a", Some(0), [0.0, 0.0, length]),
            bone("b", Some(1), [0.0, 0.0, length]),
            bone("c", Some(2), [0.0, 0.0, length]),
        ];
        let mut rig = Rig::new(Skeleton::new(bones).unwrap());
        let leg = TwoBoneIk::new(&rig.skeleton, ["a", "b", "c"], 0.0).unwrap();
        leg.apply(&mut rig.rig(), &target(Vec3::ONE), 1.0);
        Aim::new(&rig.skeleton, "b", Vec3::Y, AimLimits::DEFAULT).unwrap().apply(
            &mut rig.rig(),
            Vec3::ONE,
            1.0,
        );
        MoveBone::new(&rig.skeleton, "b").unwrap().apply(&mut rig.rig(), Vec3::ONE, 1.0);
        let copy = CopyBone::new(&rig.skeleton, ("b", "a"), (true, true)).unwrap();
        copy.apply(&mut rig.rig(), 1.0);
        let chain = SpringChain::new(&rig.skeleton, ["a", "c"], SpringSettings::DEFAULT).unwrap();
        let mut state = SpringState::default();
        for _ in 0..10 {
            chain.apply(&mut rig.rig(), &mut state, &BoneTransform::IDENTITY, 0.1, 1.0);
        }
        rig.check();
    }
}

#[test]
fn a_part_of_a_weight_is_between_both_poses() {
    let wanted = Vec3::new(-0.3, 0.5, 0.6);
    let mut distances = Vec::new();
    for step in 0..=10 {
        let mut rig = body();
        let leg = leg(&rig.skeleton, 0.0);
        leg.apply(&mut rig.rig(), &target(wanted), step as f32 / 10.0);
        rig.check();
        distances.push((rig.origin("left_foot") - wanted).length());
    }
    assert!(distances.windows(2).all(|pair| pair[1] < pair[0]), "{distances:?}");
    assert!(distances[10] < 1e-4);
}

#[test]
fn an_aim_within_its_limits_points_at_the_target() {
    let mut random = Random::seed(9);
    for case in 0..1000 {
        let mut rig = body();
        let aim = Aim::new(&rig.skeleton, "head", Vec3::Y, AimLimits::NONE).unwrap();
        let head = rig.origin("head");
        let wanted = direction(&mut random);
        aim.apply(&mut rig.rig(), head + wanted * 3.0, 1.0);
        rig.check();
        let forward = rig.rotation("head") * Vec3::Y;
        assert!(forward.dot(wanted) > 0.999_99, "case {case}: {forward} {wanted}");
    }
}

#[test]
fn an_aim_stays_within_its_limits_and_moves_smoothly() {
    let limits = AimLimits { yaw: 1.0, pitch: 0.5 };
    let mut before: Option<Vec3> = None;
    for step in 0..=720 {
        let mut rig = body();
        let aim = Aim::new(&rig.skeleton, "head", Vec3::Y, limits).unwrap();
        let head = rig.origin("head");
        let angle = step as f32 * 0.5f32.to_radians();
        let target = Vec3::new(angle.sin() * 4.0, angle.cos() * 4.0, 3.0 * (angle * 2.0).sin());
        aim.apply(&mut rig.rig(), head + target, 1.0);
        rig.check();
        let forward = rig.rotation("head") * Vec3::Y;
        let yaw = forward.x.atan2(forward.y).abs();
        let pitch = forward.z.asin().abs();
        assert!(yaw < 1.0 + 1e-3 && pitch < 0.5 + 1e-3, "{step}: {yaw} {pitch}");
        if let Some(before) = before {
            assert!((forward - before).length() < 0.03, "{step}: {before} {forward}");
        }
        before = Some(forward);
    }
}

#[test]
fn bones_move_and_copy_with_their_descendants() {
    let mut rig = body();
    let wanted = Vec3::new(0.2, 0.3, 0.9);
    let toe = rig.origin("left_toe") - rig.origin("left_foot");
    MoveBone::new(&rig.skeleton, "left_foot").unwrap().apply(&mut rig.rig(), wanted, 1.0);
    rig.check();
    assert!((rig.origin("left_foot") - wanted).length() < 1e-5);
    assert!((rig.origin("left_toe") - rig.origin("left_foot") - toe).length() < 1e-5);
    let start = rig.origin("head");
    let other = rig.origin("left_foot");
    let mut half = body();
    half.pose = rig.pose.clone();
    half.matrices = rig.matrices.clone();
    let copy = CopyBone::new(&rig.skeleton, ("head", "left_foot"), (true, true)).unwrap();
    copy.apply(&mut half.rig(), 0.5);
    assert!((half.origin("head") - (start + other) * 0.5).length() < 1e-5);
    rig.pose
        .set(4, &BoneTransform { rotation: Quat::from_rotation_x(1.0), ..rig.pose.transform(4) });
    rig.rig().update_subtree(4);
    copy.apply(&mut rig.rig(), 1.0);
    rig.check();
    assert!((rig.origin("head") - other).length() < 1e-5);
    let (a, b) = (rig.rotation("head"), rig.rotation("left_foot"));
    assert!(a.dot(b).abs() > 0.999_99);
}

/// Simulates a tail while the character walks, stops and turns, and returns the tip's position.
fn swung(rate: f32, seconds: f32, walking: bool) -> (Vec3, SpringState) {
    let mut rig = body();
    let chain =
        SpringChain::new(&rig.skeleton, ["tail_1", "tail_3"], SpringSettings::DEFAULT).unwrap();
    let mut state = SpringState::default();
    let rest = rig.pose.clone();
    let frames = (rate * seconds).round() as usize;
    for frame in 0..=frames {
        let time = frame as f32 / rate;
        let mut world = BoneTransform::IDENTITY;
        if walking {
            world.position = Vec3::new(0.0, 2.0 * time, 0.0);
            world.rotation = Quat::from_rotation_z(0.5 * time);
        }
        rig.pose = rest.clone();
        model_matrices(&rig.skeleton, &rig.pose, &mut rig.matrices);
        let seconds = if frame == 0 { 0.0 } else { 1.0 / rate };
        let Rig { skeleton, pose, matrices } = &mut rig;
        let mut model = ModelPose { skeleton, pose, matrices };
        chain.apply(&mut model, &mut state, &world, seconds, 1.0);
        rig.check();
    }
    (rig.origin("tail_3"), state)
}

#[test]
fn spring_chains_are_independent_of_the_frame_rate() {
    for (walking, most) in [(false, 1e-4), (true, 2e-3)] {
        for seconds in [0.5, 1.0, 3.0] {
            let (wanted, _) = swung(60.0, seconds, walking);
            let rest = body().origin("tail_3");
            assert!((wanted - rest).length() > 0.01, "the tail moved");
            for rate in [30.0, 120.0, 144.0, 240.0] {
                let (shown, _) = swung(rate, seconds, walking);
                let error = (shown - wanted).length();
                assert!(error < most, "{rate} Hz, {seconds} s: {error}");
            }
        }
    }
}

#[test]
fn spring_chains_come_to_rest_between_gravity_and_pose() {
    let (tip, state) = swung(60.0, 20.0, false);
    let (later, _) = swung(60.0, 21.0, false);
    assert!((tip - later).length() < 1e-4);
    let rest = body().origin("tail_3");
    assert!(tip.z < rest.z - 0.01, "{tip} hangs below {rest}");
    // The state survives a snapshot.
    let mut writer = BlobWriter::default();
    state.write(&mut writer);
    let bytes = writer.finish();
    assert_eq!(SpringState::read(&mut BlobReader::new(&bytes)).unwrap(), state);
    assert!(SpringState::read(&mut BlobReader::new(&bytes[..bytes.len() - 1])).is_err());
    let mut wrong = bytes.clone();
    let end = wrong.len() - 4;
    wrong[end..].copy_from_slice(&9.0f32.to_le_bytes());
    assert!(SpringState::read(&mut BlobReader::new(&wrong)).is_err());
}

#[test]
fn spring_chains_survive_teleports_long_frames_and_bad_numbers() {
    let mut rig = body();
    let rest = rig.pose.clone();
    let chain =
        SpringChain::new(&rig.skeleton, ["tail_1", "tail_3"], SpringSettings::DEFAULT).unwrap();
    let mut state = SpringState::default();
    let far = Vec3::new(1e4, -1e4, 50.0);
    for (position, scale, seconds) in [
        (Vec3::ZERO, 1.0, 0.016),
        (far, 1.0, 0.016),
        (far, 1.0, 1e9),
        (far, 1.0, f32::NAN),
        (Vec3::splat(f32::NAN), 1.0, 0.016),
        (far, 0.0, 0.016),
        (far, f32::INFINITY, 0.016),
        (far, -2.0, 0.016),
        (Vec3::ZERO, 1.0, -1.0),
        (Vec3::ZERO, 1.0, f32::INFINITY),
    ] {
        rig.pose = rest.clone();
        rig.rig().update_subtree(0);
        let world =
            BoneTransform { position, scale: Vec3::splat(scale), ..BoneTransform::IDENTITY };
        chain.apply(&mut rig.rig(), &mut state, &world, seconds, 1.0);
        rig.check();
    }
}

fn feet(rig: &Rig) -> FootPlacement {
    let legs = [
        Leg { thigh: "left_thigh", shin: "left_shin", foot: "left_foot" },
        Leg { thigh: "right_thigh", shin: "right_shin", foot: "right_foot" },
    ];
    FootPlacement::new(&rig.skeleton, "pelvis", &legs, FootPlacementSettings::DEFAULT).unwrap()
}

#[test]
fn feet_stay_on_stairs_and_the_pelvis_follows_the_lower_one() {
    let slope = Vec3::new(0.0, -0.3, 1.0).normalize();
    let ground =
        [FootGround { height: 0.15, normal: Vec3::Z }, FootGround { height: -0.2, normal: slope }];
    let mut rig = body();
    let placement = feet(&rig);
    let (left, right) = (rig.origin("left_foot"), rig.origin("right_foot"));
    let pelvis = rig.origin("pelvis");
    let mut state = FootPlacementState::FLAT;
    // Half of the way to the full speed of 2 metres per second after 0.05 seconds.
    placement.apply(&mut rig.rig(), &mut state, &ground, 0.05, 1.0);
    assert!((state.pelvis.value + 0.025).abs() < 1e-6, "{state:?}");
    assert!((state.pelvis.speed + 1.0).abs() < 1e-5, "{state:?}");
    let mut rig = body();
    placement.apply(&mut rig.rig(), &mut state, &ground, 1.0, 1.0);
    rig.check();
    assert!((rig.origin("pelvis") - pelvis - Vec3::new(0.0, 0.0, -0.2)).length() < 1e-4);
    let moved = rig.origin("left_foot") - left;
    assert!((moved - Vec3::new(0.0, 0.0, 0.15)).length() < 1e-3, "{moved}");
    let moved = rig.origin("right_foot") - right;
    assert!((moved - Vec3::new(0.0, 0.0, -0.2)).length() < 1e-3, "{moved}");
    let sole = rig.rotation("right_foot") * Vec3::Z;
    assert!(sole.dot(slope) > 0.999, "{sole}");
    assert!(rig.rotation("left_foot").dot(Quat::IDENTITY).abs() > 0.9999);
}

/// Returns true if all feet are on the plane of the animation.
fn is_flat(state: &FootPlacementState) -> bool {
    let mut state = *state;
    state.feet.iter_mut().for_each(|foot| foot.knee = LimbBend::UNKNOWN);
    state == FootPlacementState::FLAT
}

#[test]
fn feet_without_ground_follow_the_animation() {
    let mut rig = body();
    let placement = feet(&rig);
    let before = ["pelvis", "left_foot", "left_toe"]
        .map(|name| rig.skeleton.find(name).map(|bone| rig.matrices[usize::from(bone)]));
    let mut state = FootPlacementState::FLAT;
    let cliff = FootGround { height: -50.0, normal: Vec3::splat(f32::NAN) };
    for ground in [vec![], vec![FootGround::NONE; 2], vec![cliff; 2]] {
        placement.apply(&mut rig.rig(), &mut state, &ground, 0.5, 1.0);
        rig.check();
        assert!(is_flat(&state), "{state:?}");
    }
    let after = ["pelvis", "left_foot", "left_toe"]
        .map(|name| rig.skeleton.find(name).map(|bone| rig.matrices[usize::from(bone)]));
    for (before, after) in before.iter().zip(after).filter_map(|(a, b)| Some((a.as_ref()?, b?))) {
        let point =
            |matrix: &ModelMatrix| Vec3::from_array(matrix.transform_point([1.0, 2.0, 3.0]));
        assert!((point(before) - point(&after)).length() < 1e-3);
    }
    let mut broken = FootPlacementState::FLAT;
    broken.pelvis.value = f32::NAN;
    broken.feet[0].offset.speed = f32::INFINITY;
    broken.feet[1].slope[0].value = f32::NAN;
    placement.apply(&mut rig.rig(), &mut broken, &[], f32::NAN, 1.0);
    rig.check();
    assert!(is_flat(&broken), "{broken:?}");
    // A script can change the list of a state to any numbers.
    (broken.pelvis.value, broken.feet[0].offset.value) = (1e9, -1e9);
    placement.apply(&mut rig.rig(), &mut broken, &[], 0.01, 1.0);
    let most = broken.pelvis.value.abs().max(broken.feet[0].offset.value.abs());
    assert!(most <= 2.5 && rig.origin("pelvis").length() < 5.0, "{broken:?}");
}

#[test]
fn constraints_of_wrong_bones_are_refused() {
    let skeleton = body().skeleton;
    let check = |result: Result<(), Error>, wanted: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    let ik = |bones| TwoBoneIk::new(&skeleton, bones, 0.0).map(|_| ());
    check(
        ik(["left_tigh", "left_shin", "left_foot"]),
        "bone 'left_tigh' does not exist in the skeleton, did you mean 'left_thigh'?",
    );
    check(
        ik(["left_thigh", "left_foot", "left_shin"]),
        "bone 'left_shin' is not below 'left_foot'",
    );
    check(ik(["left_thigh", "right_shin", "right_foot"]), "'right_shin' is not below 'left_thigh'");
    let legs = ["left_thigh", "left_shin", "left_foot"];
    check(TwoBoneIk::new(&skeleton, legs, f32::NAN).map(|_| ()), "'softness' is NaN");
    let aim = |axis, limits| Aim::new(&skeleton, "head", axis, limits).map(|_| ());
    check(aim(Vec3::ZERO, AimLimits::DEFAULT), "has no direction");
    check(aim(Vec3::Y, AimLimits { yaw: -1.0, pitch: 0.0 }), "the limit 'yaw' of the aim is -1");
    let copy = |bones, parts| CopyBone::new(&skeleton, bones, parts).map(|_| ());
    check(copy(("head", "pelvis"), (false, false)), "'head' copies nothing");
    check(copy(("pelvis", "head"), (true, false)), "'pelvis' cannot copy 'head', which moves with");
    let spring = |stiffness| {
        let settings = SpringSettings { stiffness, ..SpringSettings::DEFAULT };
        SpringChain::new(&skeleton, ["tail_1", "tail_3"], settings).map(|_| ())
    };
    check(spring(f32::NAN), "'stiffness' is NaN");
    let settings = SpringSettings { gravity: Vec3::splat(f32::NAN), ..SpringSettings::DEFAULT };
    let result = SpringChain::new(&skeleton, ["tail_1", "tail_3"], settings);
    check(result.map(|_| ()), "'gravity' is");
    let leg = Leg { thigh: "left_thigh", shin: "left_shin", foot: "left_foot" };
    let placement = |legs: &[Leg]| {
        FootPlacement::new(&skeleton, "pelvis", legs, FootPlacementSettings::DEFAULT).map(|_| ())
    };
    check(placement(&[]), "foot placement needs 1 to 8 legs (FEET_MAX), and there are 0");
    check(placement(&[leg; 9]), "there are 9");
}

#[test]
fn two_thousand_joints_are_constrained() {
    let mut bones = vec![bone("bone_0", None, [0.0, 0.0, 0.0])];
    for index in 1..2000u16 {
        bones.push(bone(&format!("bone_{index}"), Some(index - 1), [0.001, 0.0, 0.01]));
    }
    let mut rig = Rig::new(Skeleton::new(bones).unwrap());
    let error = SpringChain::new(&rig.skeleton, ["bone_0", "bone_100"], SpringSettings::DEFAULT);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("has 101 bones, and 64 are the most (SPRING_BONES_MAX)"), "{error}");
    let ik = TwoBoneIk::new(&rig.skeleton, ["bone_100", "bone_900", "bone_1900"], 0.0).unwrap();
    let wanted = rig.origin("bone_100") + Vec3::new(3.0, 2.0, 8.0);
    ik.apply(&mut rig.rig(), &target(wanted), 1.0);
    rig.check();
    assert!((rig.origin("bone_1900") - wanted).length() < 1e-3);
}

#[test]
fn weights_fade_at_a_constant_rate() {
    let mut fade = FadeWeight { current: 0.0, target: 1.0, seconds: 0.5 };
    for rate in [32, 64, 128] {
        fade.current = 0.0;
        for _ in 0..rate / 4 {
            fade.step(1.0 / rate as f32);
        }
        assert!((fade.current - 0.5).abs() < 0.02, "{fade:?}");
        fade.step(10.0);
        assert_eq!(fade.current, 1.0);
    }
    fade.target = f32::NAN;
    assert_eq!(fade.step(10.0), 0.0);
    assert_eq!(fade.step(f32::NAN), 0.0);
    let mut sudden = FadeWeight { current: f32::NAN, target: 1.0, seconds: 0.0 };
    assert_eq!(sudden.step(0.0), 1.0);
}
