//! Tests of the direction in which knees bend.

use super::tests::{body, leg, target};
use super::*;

#[test]
fn knees_of_nearly_straight_legs_do_not_turn_around() {
    let mut last: Option<Vec3> = None;
    // The animated leg bends a little to one side and to the other, while its foot is lifted.
    for step in -20_i8..=20 {
        let mut rig = body();
        let angle = f32::from(step) * 0.002 - 0.221;
        let shin = rig.skeleton.find("left_shin").unwrap();
        rig.rig().set_local_rotation(shin, Quat::from_rotation_x(angle), 1.0);
        let thigh = rig.skeleton.find("left_thigh").unwrap();
        rig.rig().update_subtree(thigh);
        let foot = rig.origin("left_foot");
        let leg = leg(&rig.skeleton, 0.0);
        leg.apply(&mut rig.rig(), &target(foot + Vec3::new(0.0, 0.0, 0.3)), 1.0);
        rig.check();
        let knee = rig.origin("left_shin");
        let start = rig.origin("left_thigh");
        assert!(knee.y - start.y > 0.1, "{step}: {knee} of {start}");
        if let Some(last) = last {
            assert!(knee.distance(last) < 0.02, "{step}: {knee} after {last}");
        }
        last = Some(knee);
    }
}

/// Returns the positions of a knee relative to its hip, and the errors of the foot. An animation
/// bends the knee forward and backward within a second each, and the foot is lifted.
fn knee_of_swinging_leg(rate: u16, lifted: f32) -> Vec<(Vec3, f32)> {
    let mut bend = LimbBend::UNKNOWN;
    let step = |frame: u16| {
        let mut rig = body();
        let phase = f32::from(frame) / f32::from(rate) * std::f32::consts::PI;
        let shin = rig.skeleton.find("left_shin").unwrap();
        let thigh = rig.skeleton.find("left_thigh").unwrap();
        let turn = Quat::from_rotation_x(-0.221 - 0.6 * phase.cos());
        rig.rig().set_local_rotation(shin, turn, 1.0);
        rig.rig().update_subtree(thigh);
        let wanted = rig.origin("left_foot") + Vec3::new(0.0, 0.0, lifted);
        let leg = leg(&rig.skeleton, 0.0);
        let over_time = (&mut bend, 1.0 / f32::from(rate));
        leg.apply_over_time(&mut rig.rig(), &target(wanted), over_time, 1.0);
        rig.check();
        let knee = rig.origin("left_shin") - rig.origin("left_thigh");
        (knee, rig.origin("left_foot").distance(wanted))
    };
    (0..4 * rate).map(step).collect()
}

#[test]
fn knees_that_bend_to_both_sides_turn_over_smoothly() {
    let knees = knee_of_swinging_leg(60, 0.3);
    let sides = |wanted: fn(f32) -> bool| knees.iter().filter(|it| wanted(it.0.y)).count();
    assert!(sides(|y| y > 0.2) > 50 && sides(|y| y < -0.2) > 30, "it bends to both sides");
    for (index, step) in knees.windows(3).enumerate() {
        let [before, now, after] = [step[0].0, step[1].0, step[2].0];
        let change = (after - 2.0 * now + before).length() * 3600.0;
        assert!(change < 100.0, "{change} m/s² at frame {index}");
        assert!(step[1].1 < 1e-3, "the foot stays at its target");
    }
    // A leg whose foot is not moved is as the animation has it, except while it turns.
    let animated = Vec3::new(0.0, 0.05, -0.45);
    let plain = knee_of_swinging_leg(60, 0.0);
    let kept = plain.iter().filter(|it| it.0.distance(animated) < 1e-3).count();
    assert!(kept > 110, "in {kept} of 240 frames, of four turns");
    // The turn takes the same time at another frame rate.
    let quick = knee_of_swinging_leg(240, 0.3);
    let most = |index: usize| quick[index * 4].0.distance(knees[index].0);
    let differences = (0..240).map(most).fold(0.0, f32::max);
    assert!(differences < 0.12, "{differences}");
}
