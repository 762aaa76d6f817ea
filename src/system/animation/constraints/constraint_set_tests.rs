//! Tests of the constraints of a state machine.

use super::tests::body;
use super::*;
use crate::BoneTransform;

const MACHINE: &str = r#"
skeleton = "units/orc"
constraints = {
    look = { type = "aim" bone = "head" yaw = 60 weight = 0.5 }
    foot = { type = "two_bone" bones = ["left_thigh" "left_shin" "left_foot"] softness = 0 }
    tail = { type = "spring" bones = ["tail_1" "tail_3"] }
    feet = { type = "foot_placement" bones = ["pelvis" "left_thigh" "left_shin" "left_foot"
        "right_thigh" "right_shin" "right_foot"] }
    hand = { type = "position" bone = "left_toe" }
    copy = { type = "copy" bones = ["head" "pelvis"] position = false }
}
layers = [ { states = { idle = { empty = true } } } ]
"#;

fn set(skeleton: &Skeleton, text: &str) -> Result<ConstraintSet, Error> {
    let machine = crate::compile_state_machine("orc.state_machine", text).unwrap();
    ConstraintSet::new(skeleton, machine.constraints())
}

#[test]
fn constraints_of_a_state_machine_are_applied_by_weight() {
    let mut rig = body();
    let set = set(&rig.skeleton, MACHINE).unwrap();
    let mut state = set.new_state();
    assert_eq!((set.len(), state.springs.len(), state.feet.len()), (6, 1, 1));
    let (mut feet, mut found) = (Vec::new(), Vec::new());
    let mut find = |weights: &[f32]| {
        set.find_ground(&rig.rig(), weights, &mut found, |foot, reach| {
            feet.push((foot, reach));
            FootGround { height: 0.5, normal: Vec3::Z }
        });
        (feet.clone(), std::mem::take(&mut found).iter().map(|it| it.height).collect::<Vec<_>>())
    };
    let (asked, heights) = find(&[1.0, 1.0, 1.0, 0.0]);
    assert!(asked.is_empty() && heights.iter().all(|height| height.is_nan()), "{asked:?}");
    let (asked, heights) = find(&[0.0, 0.0, 0.0, 0.5]);
    assert_eq!((asked.len(), asked[0].1, &heights[..]), (2, 0.6, &[0.5, 0.5][..]));
    let bones = set.bones();
    assert!(bones.is_sorted() && bones.contains(&rig.skeleton.find("left_toe").unwrap()));
    let (pelvis, foot) = (rig.origin("pelvis"), rig.origin("left_foot"));
    let at = |position: Vec3| Some(ConstraintTarget { position, rotation: None });
    let wanted = foot + Vec3::new(0.0, 0.1, 0.2);
    let ground = [FootGround { height: -0.2, normal: Vec3::Z }; 2];
    let mut input = ConstraintInput {
        world: BoneTransform::IDENTITY,
        seconds: 1.0,
        weights: &[0.0, 1.0],
        targets: &[None, at(wanted)],
        ground: &ground,
    };
    set.apply(&mut rig.rig(), &mut state, &input);
    rig.check();
    assert!((rig.origin("left_foot") - wanted).length() < 1e-4);
    assert_eq!(rig.origin("pelvis"), pelvis, "a missing weight is 0");
    assert_eq!(state.feet[0].pelvis.value, -0.2, "states follow without a weight");
    let mut rig = body();
    input.weights = &[1.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    let side = Vec3::new(3.0, 0.0, 0.0);
    let looks = [at(rig.origin("head") + side)];
    input.targets = &looks;
    set.apply(&mut rig.rig(), &mut state, &input);
    rig.check();
    assert!((rig.origin("pelvis") - pelvis - Vec3::new(0.0, 0.0, -0.2)).length() < 1e-4);
    let forward = rig.rotation("head") * Vec3::Y;
    // 90° are beyond the limit of 60°, faded by a quarter and halved by the weight.
    let angle = forward.x.atan2(forward.y).to_degrees();
    assert!((angle - 22.5).abs() < 1.0, "{angle}");
    // A state of another machine starts again.
    let mut foreign = ConstraintSetState::default();
    set.apply(&mut rig.rig(), &mut foreign, &input);
    assert_eq!((foreign.springs.len(), foreign.feet.len(), foreign.limbs.len()), (1, 1, 1));
    rig.check();
}

#[test]
fn wrong_constraints_of_a_state_machine_name_their_line() {
    let skeleton = body().skeleton;
    let check = |from: &str, to: &str, wanted: &str| {
        let error = set(&skeleton, &MACHINE.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    check(
        "bone = \"head\"",
        "bone = \"hed\"",
        "4: constraint 'look': bone 'hed' does not exist in the skeleton, did you mean \
         'head'?",
    );
    check(
        "\"left_thigh\" \"left_shin\" \"left_foot\"] softness",
        "\"left_foot\" \"left_shin\" \"left_thigh\"] softness",
        "5: constraint 'foot': bone 'left_shin' is not below 'left_foot'",
    );
    check("\"head\" \"pelvis\"", "\"pelvis\" \"head\"", "constraint 'copy': 'pelvis' cannot copy");
}

#[test]
fn springs_and_feet_are_kept_by_name_and_bones() {
    let mut rig = body();
    let old = set(&rig.skeleton, MACHINE).unwrap();
    let mut state = old.new_state();
    let input = ConstraintInput {
        world: BoneTransform::IDENTITY,
        seconds: 0.1,
        weights: &[0.0, 0.0, 1.0, 1.0],
        targets: &[],
        ground: &[FootGround { height: -0.2, normal: Vec3::Z }; 2],
    };
    old.apply(&mut rig.rig(), &mut state, &input);
    assert!(state != old.new_state());
    let lines: Vec<&str> = MACHINE.lines().collect();
    // The file in another order: copy, the feet in two lines, tail.
    let order = [0, 1, 2, 9, 6, 7, 5, 10, 11];
    let other = order.map(|line| lines[line]).join("\n");
    let new = set(&rig.skeleton, &other).unwrap();
    assert_eq!(new.find_in(&old), [Some(5), Some(3), Some(2)]);
    let kept = new.state_from(&old, &state);
    assert_eq!((&kept.springs, &kept.feet), (&state.springs, &state.feet));
    let shorter = set(&rig.skeleton, &other.replace("\"tail_3\"", "\"tail_2\"")).unwrap();
    let kept = shorter.state_from(&old, &state);
    assert_eq!((&kept.springs, &kept.feet), (&shorter.new_state().springs, &state.feet));
    let renamed = set(&rig.skeleton, &other.replace("feet =", "legs =")).unwrap();
    assert_eq!(renamed.find_in(&old), [Some(5), None, Some(2)]);
    let kept = renamed.state_from(&old, &state);
    assert_eq!((&kept.springs, &kept.feet), (&state.springs, &renamed.new_state().feet));
}
