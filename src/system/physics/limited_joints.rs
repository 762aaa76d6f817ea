//! Joints with limits around all axes and with motors, as ragdolls need them. Their frames are
//! relative to the bodies, so that a joint can be created while its bodies have any transforms.

use super::joints::JOINTS_MAX;
use super::{BodyId, JointId, Simulation};
use engine_foundation::deterministic_math::atan2;
use engine_foundation::insist;
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{GenericJoint, JointAxesMask, JointAxis, JointEnabled, MotorModel};

const ANGLES: [JointAxis; 3] = [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ];

/// A joint about a point of the second body, or about an axis through it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LimitedJoint {
    pub bodies: [BodyId; 2],
    /// Position and rotation of the joint in each body.
    pub frames: [(Vec3, Quat); 2],
    /// True if the bodies turn only around the x axis of the frames.
    pub hinge: bool,
    /// Limits of the angles around x, y and z of the frames, in radians. A hinge has the first.
    pub limits: [[f32; 2]; 3],
    pub owner: u64,
}

/// Strength of the motors of a joint, for bodies of any mass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JointDrive {
    /// Rotation of the second frame in the first that the motors pull towards.
    pub target: Quat,
    /// Radians per second squared, per radian. 0 removes the motors.
    pub stiffness: f32,
    pub damping: f32,
}

/// Returns the angles of a rotation around x, y and z as limits of joints measure them, from -π
/// to π.
pub fn joint_angles(rotation: Quat) -> [f32; 3] {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    [rotation.x, rotation.y, rotation.z].map(|part| 2.0 * atan2(part, rotation.w))
}

/// Returns the angles of a rotation around x, y and z as motors of joints measure them.
fn motor_angles(rotation: Quat) -> [f32; 3] {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    [rotation.x, rotation.y, rotation.z].map(|part| {
        let part = part.clamp(-1.0, 1.0);
        2.0 * atan2(part, (1.0 - part * part).sqrt())
    })
}

impl Simulation {
    /// Adds a joint between two bodies, which do not collide with each other.
    ///
    /// # Errors
    /// Returns an error if there are [`JOINTS_MAX`] joints already, or if the simulation is
    /// two-dimensional.
    pub fn add_limited_joint(&mut self, joint: &LimitedJoint) -> Result<JointId, Error> {
        let joint = *joint;
        let added = self.change_unrecorded(|it| it.add_limited_joint_now(&joint))?;
        self.record(move |it| {
            let repeated = it.add_limited_joint_now(&joint);
            insist!(
                repeated == Ok(added),
                "the same joint has two different handles: {repeated:?}"
            );
        });
        Ok(added)
    }

    fn add_limited_joint_now(&mut self, joint: &LimitedJoint) -> Result<JointId, Error> {
        if self.world.impulse_joints.len() >= JOINTS_MAX {
            return Err(engine_foundation::error!(
                "{JOINTS_MAX} joints are in the world already (JOINTS_MAX): destroy some first"
            ));
        }
        if self.is_flat() {
            return Err(engine_foundation::error!(
                "joints with limits around three axes need a world that is not 2D"
            ));
        }
        let axes = match joint.hinge {
            true => JointAxesMask::LOCKED_REVOLUTE_AXES,
            false => JointAxesMask::LOCKED_SPHERICAL_AXES,
        };
        let mut data = GenericJoint::new(axes);
        let [first, second] = joint.frames.map(|(at, turn)| rapier::Pose::from_parts(at, turn));
        data.set_local_frame1(first).set_local_frame2(second);
        for (axis, limits) in ANGLES.into_iter().zip(joint.limits) {
            if axis == JointAxis::AngX || !joint.hinge {
                data.set_limits(axis, limits);
            }
        }
        data.set_contacts_enabled(false);
        let bodies = joint.bodies.map(|body| body.0);
        let is_in = |body| self.world.bodies.get(body).is_some_and(|body| body.is_enabled());
        if !bodies.into_iter().all(is_in) {
            data.enabled = JointEnabled::Disabled;
        }
        data.user_data = joint.owner.into();
        Ok(JointId(self.world.insert_impulse_joint(bodies[0], bodies[1], data)))
    }

    /// Returns the rotation of the second frame of a joint in the first.
    pub fn joint_rotation(&self, joint: JointId) -> Option<Quat> {
        let joint = self.world.impulse_joints.get(joint.0)?;
        let bodies = &self.world.bodies;
        let (first, second) = (bodies.get(joint.body1())?, bodies.get(joint.body2())?);
        let first = first.position().rotation * joint.data.local_frame1.rotation;
        Some(first.inverse() * (second.position().rotation * joint.data.local_frame2.rotation))
    }

    /// Returns the limits of the angles around x, y and z of a joint; `None` for locked angles.
    pub fn joint_limits(&self, joint: JointId) -> Option<[Option<[f32; 2]>; 3]> {
        let joint = self.world.impulse_joints.get(joint.0)?;
        let limits = |axis| joint.data.limits(axis).map(|limits| [limits.min, limits.max]);
        Some(ANGLES.map(limits))
    }

    /// Replaces the limits of the angles around x, y and z of a joint from
    /// [`Simulation::add_limited_joint`]. Bodies that sleep stay asleep.
    pub fn set_joint_angles(&mut self, joint: JointId, limits: [[f32; 2]; 3]) {
        self.change(move |it| {
            let Some(joint) = it.world.impulse_joints.get_mut(joint.0, false) else { return };
            for (axis, limits) in ANGLES.into_iter().zip(limits) {
                if joint.data.limits(axis).is_some() {
                    joint.data.set_limits(axis, limits);
                }
            }
        });
    }

    /// Sets or removes the motors of a joint from [`Simulation::add_limited_joint`], and wakes the
    /// bodies.
    pub fn drive_joint(&mut self, joint: JointId, drive: &JointDrive) {
        let JointDrive { target, stiffness, damping } = *drive;
        let angles = motor_angles(target);
        self.change(move |it| {
            let on = stiffness > 0.0;
            let Some(joint) = it.world.impulse_joints.get_mut(joint.0, true) else { return };
            for (axis, angle) in ANGLES.into_iter().zip(angles) {
                if joint.data.limits(axis).is_none() {
                    continue;
                }
                if on {
                    joint.data.set_motor_model(axis, MotorModel::AccelerationBased);
                    joint.data.set_motor_position(axis, angle, stiffness, damping);
                } else {
                    joint.data.motor_axes.remove(axis.into());
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodyDesc, ColliderDesc, ColliderShape, MotionType, SimulationSettings, SimulationSnapshot,
    };
    use engine_foundation::hash::StateHash;

    const WIDE: [[f32; 2]; 3] = [[-3.0, 3.0]; 3];

    fn rod(simulation: &mut Simulation, motion: MotionType, z: f32) -> BodyId {
        let shape = ColliderShape::Box { half: Vec3::new(0.1, 0.1, 0.4) };
        let position = Vec3::new(0.0, 0.0, -0.5);
        let parts = vec![ColliderDesc { shape, position, ..ColliderDesc::DEFAULT }];
        let position = Vec3::new(0.0, 0.0, z);
        let mass = Some(2.0);
        let angular_damping = 0.5;
        let rod = BodyDesc { motion, position, parts, mass, angular_damping, ..BodyDesc::DEFAULT };
        simulation.add(&rod).unwrap()
    }

    /// A dynamic rod below a kinematic one, connected by a joint with limits.
    fn pendulum(hinge: bool, limits: [[f32; 2]; 3]) -> (Simulation, BodyId, JointId) {
        let mut simulation = Simulation::new(SimulationSettings::DEFAULT);
        let top = rod(&mut simulation, MotionType::Kinematic, 2.0);
        let low = rod(&mut simulation, MotionType::Dynamic, 1.0);
        let frames = [(Vec3::new(0.0, 0.0, -1.0), Quat::IDENTITY), (Vec3::ZERO, Quat::IDENTITY)];
        let joint = LimitedJoint { bodies: [top, low], frames, hinge, limits, owner: 7 };
        let joint = simulation.add_limited_joint(&joint).unwrap();
        (simulation, low, joint)
    }

    fn run(simulation: &mut Simulation, frames: usize) {
        for _ in 0..frames {
            simulation.update(1.0 / 60.0).unwrap();
        }
    }

    /// Angle of the lower rod around an axis, in radians.
    fn angles(simulation: &Simulation, joint: JointId) -> [f32; 3] {
        joint_angles(simulation.joint_rotation(joint).unwrap())
    }

    #[test]
    fn each_axis_keeps_its_limits() {
        for axis in 0..3 {
            let mut limits = [[-0.02, 0.02]; 3];
            limits[axis] = [-0.1, 0.6];
            let (mut simulation, low, joint) = pendulum(false, limits);
            let turn = Vec3::AXES[axis] * 4.0;
            let (mut greatest, mut least) = (0.0_f32, 0.0_f32);
            for push in [turn, -turn] {
                // The rod swings around its upper end.
                simulation.set_velocity(low, push.cross(Vec3::new(0.0, 0.0, -0.5)));
                simulation.set_angular_velocity(low, push);
                for _ in 0..40 {
                    run(&mut simulation, 1);
                    let angle = angles(&simulation, joint)[axis];
                    (greatest, least) = (greatest.max(angle), least.min(angle));
                }
            }
            assert!((0.4..0.75).contains(&greatest), "{axis}: {greatest}");
            assert!((-0.25..-0.05).contains(&least), "{axis}: {least}");
        }
    }

    #[test]
    fn a_hinge_turns_around_x_only() {
        let (mut simulation, low, joint) = pendulum(true, WIDE);
        simulation.set_angular_velocity(low, Vec3::new(3.0, 3.0, 3.0));
        for _ in 0..60 {
            run(&mut simulation, 1);
            let [_, y, z] = angles(&simulation, joint);
            assert!(y.abs() < 0.05 && z.abs() < 0.05, "{y}, {z}");
        }
    }

    #[test]
    fn motors_turn_to_any_rotation_and_release_it() {
        for hinge in [false, true] {
            let (mut simulation, _, joint) = pendulum(hinge, WIDE);
            let target = match hinge {
                false => Quat::from_xyzw(0.4, -0.3, 0.2, 0.8).normalize(),
                true => Quat::from_rotation_x(0.9),
            };
            simulation.drive_joint(joint, &JointDrive { target, stiffness: 1000.0, damping: 50.0 });
            run(&mut simulation, 120);
            let rotation = simulation.joint_rotation(joint).unwrap();
            assert!(rotation.dot(target).abs() > 0.995, "{rotation} is not {target}");
            simulation.drive_joint(joint, &JointDrive { target, stiffness: 0.0, damping: 0.0 });
            run(&mut simulation, 900);
            let rotation = simulation.joint_rotation(joint).unwrap();
            assert!((rotation * Vec3::Z).z > 0.95, "it hangs again: {rotation}");
        }
    }

    #[test]
    fn hashes_and_snapshots_contain_limits_and_motors() {
        let hash = |simulation: &Simulation| {
            let mut hash = StateHash::new(0);
            simulation.write_common(&mut hash);
            hash.finish()
        };
        let (mut simulation, _, joint) = pendulum(false, WIDE);
        let kept: SimulationSnapshot = simulation.snapshot();
        let mut hashes = vec![hash(&simulation)];
        let mut limits = WIDE;
        limits[2] = [-1.0, 1.0];
        simulation.set_joint_angles(joint, limits);
        hashes.push(hash(&simulation));
        let target = Quat::from_rotation_y(0.5);
        simulation.drive_joint(joint, &JointDrive { target, stiffness: 10.0, damping: 1.0 });
        hashes.push(hash(&simulation));
        let target = Quat::from_rotation_y(0.6);
        simulation.drive_joint(joint, &JointDrive { target, stiffness: 10.0, damping: 1.0 });
        hashes.push(hash(&simulation));
        let first = hashes[0];
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 4);
        simulation.restore(&kept, |_| true, |_, _| ());
        assert_eq!(hash(&simulation), first);
    }

    #[test]
    fn flat_worlds_have_no_such_joints() {
        let settings = SimulationSettings { flat: true, ..SimulationSettings::DEFAULT };
        let mut simulation = Simulation::new(settings);
        let bodies = [1.0, 2.0].map(|z| rod(&mut simulation, MotionType::Dynamic, z));
        let frames = [(Vec3::ZERO, Quat::IDENTITY); 2];
        let joint = LimitedJoint { bodies, frames, hinge: false, limits: WIDE, owner: 0 };
        assert!(simulation.add_limited_joint(&joint).unwrap_err().message.contains("not 2D"));
    }
}
