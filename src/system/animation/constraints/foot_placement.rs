//! Foot placement on uneven ground: lowers or lifts the pelvis, moves each foot to the ground below
//! it by inverse kinematics, and turns it along the ground. The caller finds the ground, for
//! example by rays.

use super::follower::{FollowLimits, Follower};
use super::limb_bend::LimbBend;
use super::{ModelPose, TwoBoneIk, check_below, find_bone, shortest_arc, valid_weight};
use crate::constraints::IkTarget;
use crate::skeleton::Skeleton;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Error, Quat, Vec3, error};

/// Maximum number of feet.
pub const FEET_MAX: usize = 8;
/// Part of a leg's length over which it slows down before it is straight.
const SOFTNESS: f32 = 0.02;

/// Seconds within which the pelvis and the feet reach their full speed, and brake.
const RAMP_SECONDS: f32 = 0.1;
/// Largest horizontal part of a normal.
const SLOPE_MAX: f32 = 0.99;

/// Names of the bones of a leg, from the hip to the foot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leg<'a> {
    pub thigh: &'a str,
    pub shin: &'a str,
    pub foot: &'a str,
}

/// Limits of a foot placement, in metres and radians.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FootPlacementSettings {
    /// Largest distance by which the pelvis moves down.
    pub drop_max: f32,
    /// Largest distance by which the pelvis moves up.
    pub lift_max: f32,
    /// Largest distance by which a foot moves up or down. Ground farther away is ignored.
    pub step_max: f32,
    /// Largest angle between a foot and its animated rotation, 0 to π / 2.
    pub tilt_max: f32,
    /// Height of a foot above its rest height, from which on it no longer turns along the ground.
    pub swing_height: f32,
    /// Largest speed in metres per second at which the pelvis and the feet follow the ground. They
    /// reach it within 0.1 seconds, and brake as fast.
    pub speed: f32,
}

impl FootPlacementSettings {
    /// Stairs of up to 40 cm.
    pub const DEFAULT: FootPlacementSettings = FootPlacementSettings {
        drop_max: 0.4,
        lift_max: 0.2,
        step_max: 0.6,
        tilt_max: 0.6,
        swing_height: 0.15,
        speed: 2.0,
    };
}

/// Ground below a foot, in model space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FootGround {
    /// Height of the ground in metres, relative to the origin of the character. NaN if there is no
    /// ground.
    pub height: f32,
    /// Direction away from the ground, of any length.
    pub normal: Vec3,
}

impl FootGround {
    /// No ground within reach: the foot follows the animation.
    pub const NONE: FootGround = FootGround { height: f32::NAN, normal: Vec3::Z };
}

/// State of the foot placement of a character: heights that follow the ground.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FootPlacementState {
    /// Offset of the pelvis in metres.
    pub pelvis: Follower,
    pub feet: [FootState; FEET_MAX],
}

/// State of a foot and its leg.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FootState {
    /// Offset in metres.
    pub offset: Follower,
    /// Horizontal part of the direction away from the ground, along x and y.
    pub slope: [Follower; 2],
    pub knee: LimbBend,
}

impl FootState {
    /// A foot on the plane of the animation.
    pub const FLAT: FootState =
        FootState { offset: Follower::ZERO, slope: [Follower::ZERO; 2], knee: LimbBend::UNKNOWN };

    /// Returns the direction away from the ground, of length 1.
    fn normal(&self) -> Vec3 {
        let [x, y] = self.slope.map(|slope| slope.value);
        let level = Vec3::new(x, y, 0.0).clamp_length_max(SLOPE_MAX);
        level + Vec3::new(0.0, 0.0, (1.0 - level.length_squared()).max(0.0).sqrt())
    }
}

impl FootPlacementState {
    /// Feet on the plane of the animation.
    pub const FLAT: FootPlacementState =
        FootPlacementState { pelvis: Follower::ZERO, feet: [FootState::FLAT; FEET_MAX] };

    /// Calls `visit` for each number.
    pub(super) fn each_number(&self, visit: &mut impl FnMut(f32)) {
        let mut follower = |follower: &Follower| {
            visit(follower.value);
            visit(follower.speed);
        };
        follower(&self.pelvis);
        for foot in &self.feet {
            follower(&foot.offset);
            foot.slope.iter().for_each(&mut follower);
        }
        self.feet.iter().flat_map(|foot| foot.knee.numbers()).for_each(visit);
    }

    /// Reads the numbers in the order of [`FootPlacementState::each_number`].
    ///
    /// # Errors
    /// Fails if `next` fails, or if a slope is no part of a normal.
    pub(super) fn from_numbers(
        mut next: impl FnMut() -> Result<f32, Error>,
    ) -> Result<FootPlacementState, Error> {
        let mut follower = || Ok(Follower { value: next()?, speed: next()? });
        let mut state = FootPlacementState { pelvis: follower()?, ..FootPlacementState::FLAT };
        for foot in &mut state.feet {
            (foot.offset, foot.slope) = (follower()?, [follower()?, follower()?]);
            if !foot.slope.iter().all(|slope| slope.value.abs() <= 1.0) {
                return Err(error!("the list of an animation state is not the state of feet"));
            }
        }
        for foot in &mut state.feet {
            foot.knee = LimbBend::from_numbers([next()?, next()?, next()?])?;
        }
        Ok(state)
    }
}

/// Foot placement of a skeleton.
#[derive(Clone, PartialEq, Debug)]
pub struct FootPlacement {
    pub(super) pelvis: u16,
    pub(super) legs: Vec<TwoBoneIk>,
    /// Height of each foot in the rest pose, in model space.
    rest_heights: Vec<f32>,
    settings: FootPlacementSettings,
}

impl FootPlacement {
    /// Creates a foot placement of bones by name.
    ///
    /// # Errors
    /// Fails if a bone does not exist, if a leg is not below the pelvis, if there are no or too
    /// many legs, or if a setting is negative or not finite.
    pub fn new(
        skeleton: &Skeleton,
        pelvis: &str,
        legs: &[Leg],
        settings: FootPlacementSettings,
    ) -> Result<FootPlacement, Error> {
        if legs.is_empty() || legs.len() > FEET_MAX {
            return Err(error!(
                "foot placement needs 1 to {FEET_MAX} legs (FEET_MAX), and there are {}",
                legs.len()
            ));
        }
        let FootPlacementSettings { drop_max, lift_max, step_max, tilt_max, swing_height, speed } =
            settings;
        for (name, value) in [
            ("drop_max", drop_max),
            ("lift_max", lift_max),
            ("step_max", step_max),
            ("tilt_max", tilt_max),
            ("swing_height", swing_height),
            ("speed", speed),
        ] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(error!("'{name}' of the foot placement is {value}: use 0 or more"));
            }
        }
        let mut placement = FootPlacement {
            pelvis: find_bone(skeleton, pelvis)?,
            legs: Vec::new(),
            rest_heights: Vec::new(),
            settings,
        };
        let (mut pose, mut matrices) = (crate::Pose::rest(skeleton), Vec::new());
        crate::model_matrices(skeleton, &pose, &mut matrices);
        let rest = ModelPose { skeleton, pose: &mut pose, matrices: &mut matrices };
        for Leg { thigh, shin, foot } in legs {
            let leg = TwoBoneIk::new(skeleton, [thigh, shin, foot], SOFTNESS)?;
            check_below(skeleton, placement.pelvis, leg.upper)?;
            placement.rest_heights.push(rest.origin(leg.end).z);
            placement.legs.push(leg);
        }
        Ok(placement)
    }

    /// Returns the largest height of the ground above or below the origin of the character at which
    /// a foot follows it, in metres.
    pub fn reach(&self) -> f32 {
        self.settings.step_max
    }

    pub fn leg_count(&self) -> usize {
        self.legs.len()
    }

    /// Returns the animated positions of the feet in model space: the points below which the caller
    /// finds the ground.
    pub fn feet<'a>(&'a self, rig: &'a ModelPose) -> impl Iterator<Item = Vec3> + 'a {
        self.legs.iter().map(|leg| rig.origin(leg.end))
    }

    /// Moves the pelvis and the feet. `ground` has the ground below each foot, in the order of the
    /// legs; missing entries are [`FootGround::NONE`]. Advances `state` by a number of seconds.
    pub fn apply(
        &self,
        rig: &mut ModelPose,
        state: &mut FootPlacementState,
        ground: &[FootGround],
        seconds: f32,
        weight: f32,
    ) {
        self.follow(state, ground, seconds);
        let Some(weight) = valid_weight(weight) else {
            state.feet.iter_mut().for_each(|foot| foot.knee = LimbBend::UNKNOWN);
            return;
        };
        let mut feet = [(Vec3::ZERO, Quat::IDENTITY); FEET_MAX];
        for (foot, leg) in feet.iter_mut().zip(&self.legs) {
            *foot = (rig.origin(leg.end), rig.rotation(leg.end));
        }
        let pelvis = rig.origin(self.pelvis) + Vec3::new(0.0, 0.0, state.pelvis.value);
        rig.move_to(self.pelvis, pelvis, weight);
        for (index, leg) in self.legs.iter().enumerate() {
            let (position, rotation) = feet[index];
            let above = position.z - self.rest_heights[index];
            let swing = match self.settings.swing_height > 0.0 {
                true => (above / self.settings.swing_height).clamp(0.0, 1.0),
                false => 0.0,
            };
            let foot = &mut state.feet[index];
            let tilt = self.tilt(foot.normal(), 1.0 - swing);
            let target = IkTarget {
                position: position + Vec3::new(0.0, 0.0, foot.offset.value),
                pole: None,
                rotation: Some(tilt * rotation),
            };
            leg.apply_over_time(rig, &target, (&mut foot.knee, seconds), weight);
        }
    }

    /// Moves the state towards the ground.
    fn follow(&self, state: &mut FootPlacementState, ground: &[FootGround], seconds: f32) {
        let speed = self.settings.speed;
        let limits = FollowLimits { speed, acceleration: speed / RAMP_SECONDS };
        let mut lowest: f32 = f32::INFINITY;
        for index in 0..self.legs.len() {
            let FootGround { height, normal } =
                ground.get(index).copied().unwrap_or(FootGround::NONE);
            let within = height.abs() <= self.settings.step_max;
            let upward = normal.is_finite() && normal.z > 0.0;
            let normal = if within && upward { normal.normalize_or(Vec3::Z) } else { Vec3::Z };
            let height = if within { height } else { 0.0 };
            lowest = lowest.min(height);
            let foot = &mut state.feet[index];
            foot.offset.advance(height, limits, seconds);
            for (slope, wanted) in foot.slope.iter_mut().zip([normal.x, normal.y]) {
                slope.advance(wanted.clamp(-SLOPE_MAX, SLOPE_MAX), limits, seconds);
            }
        }
        let FootPlacementSettings { drop_max, lift_max, step_max, .. } = self.settings;
        let wanted = lowest.clamp(-drop_max, lift_max);
        state.pelvis.advance(wanted, limits, seconds);
        // Numbers of a list that a script has changed. The others are below.
        let most = (drop_max + lift_max + step_max) * 2.0;
        let feet = state.feet.iter_mut().map(|foot| &mut foot.offset);
        for follower in feet.chain([&mut state.pelvis]).filter(|it| it.value.abs() > most) {
            *follower = Follower { value: most.copysign(follower.value), speed: 0.0 };
        }
    }

    /// Returns the limited rotation of a foot along the ground.
    fn tilt(&self, normal: Vec3, part: f32) -> Quat {
        let whole = shortest_arc(Vec3::Z, normal);
        let (sine_max, cosine_max) = sin_cos(0.5 * self.settings.tilt_max.min(1.57));
        let sine = (whole.x * whole.x + whole.y * whole.y + whole.z * whole.z).sqrt();
        let limited = match sine > sine_max {
            true => {
                let factor = sine_max / sine;
                Quat::from_xyzw(whole.x * factor, whole.y * factor, whole.z * factor, cosine_max)
            }
            false => whole,
        };
        super::blend_rotations(Quat::IDENTITY, limited, part)
    }
}
