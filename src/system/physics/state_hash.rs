//! Hashing of a simulation's state: everything that future steps depend on. With asynchronous
//! steps, this is the state that scripts see.

use super::{BodyId, MotionType, Simulation, limbs, one_way};
use engine_foundation::hash::StateHash;
use engine_foundation::{Quat, Vec3};
use rapier3d::prelude::{JointAxis, JointEnabled};

fn write_vector(hash: &mut StateHash, vector: Vec3) {
    vector.to_array().into_iter().for_each(|number| hash.write_f32(number));
}

fn write_rotation(hash: &mut StateHash, turn: Quat) {
    turn.to_array().into_iter().for_each(|number| hash.write_f32(number));
}

impl Simulation {
    /// Hashes the state of a body.
    pub fn write_body(&self, body: BodyId, hash: &mut StateHash) {
        let Some(body) = self.world.bodies.get(body.0) else { return };
        for vector in [body.translation(), body.linvel(), body.angvel()] {
            write_vector(hash, vector);
        }
        write_rotation(hash, *body.rotation());
        let motion = MotionType::of(body.body_type());
        let flags = [body.is_sleeping(), body.is_enabled()].map(u64::from);
        flags.into_iter().chain([motion as u64]).for_each(|flag| hash.write_u64(flag));
        if motion == MotionType::Kinematic {
            let next = body.next_position();
            write_vector(hash, next.translation);
            write_rotation(hash, next.rotation);
        }
        let numbers = [
            body.activation().time_since_can_sleep,
            body.mass(),
            body.gravity_scale(),
            body.linear_damping(),
            body.angular_damping(),
        ];
        numbers.into_iter().for_each(|number| hash.write_f32(number));
        // All shapes of a body have the same material and filter.
        let first = body.colliders().first().and_then(|handle| self.collider(*handle));
        if let Some(collider) = first {
            hash.write_f32(collider.friction());
            hash.write_f32(collider.restitution());
            if one_way::is_one_way(collider) {
                hash.write_u64(1);
            }
            if limbs::is_limb(collider) {
                hash.write_u64(2);
            }
            let groups = collider.collision_groups();
            for group in [groups.memberships, groups.filter] {
                hash.write_u64(group.bits().into());
            }
        }
    }

    /// Hashes the state that belongs to no body: joints, time, gravity.
    pub fn write_common(&self, hash: &mut StateHash) {
        for (_, joint) in self.world.impulse_joints.iter() {
            joint.impulses.into_iter().for_each(|number| hash.write_f32(number));
            hash.write_u64(u64::from(joint.data.enabled == JointEnabled::Enabled));
            // Games set limits and motors on these axes.
            for axis in [JointAxis::AngX, JointAxis::LinX] {
                let limits = joint.data.limits(axis).map(|limits| [limits.min, limits.max]);
                let motor = joint.data.motor(axis);
                let motor = motor.map(|it| [it.target_vel, it.damping, it.max_force]);
                for numbers in [limits.as_ref().map(|it| &it[..]), motor.as_ref().map(|it| &it[..])]
                {
                    hash.write_u64(u64::from(numbers.is_some()));
                    numbers.into_iter().flatten().for_each(|number| hash.write_f32(*number));
                }
            }
            // The motors of wheels, and the targets of mouse joints.
            if let Some(motor) = joint.data.motor(JointAxis::AngZ) {
                [motor.target_vel, motor.damping, motor.max_force]
                    .into_iter()
                    .for_each(|number| hash.write_f32(number));
            }
            // Joints with limits around all axes.
            if joint.data.limits(JointAxis::AngZ).is_some() || joint.data.motor_axes.bits() > 0 {
                for axis in [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ] {
                    let limits = joint.data.limits(axis).map(|limits| [limits.min, limits.max]);
                    let motor = joint.data.motor(axis).map(|it| [it.target_pos, it.stiffness]);
                    [limits, motor]
                        .into_iter()
                        .flatten()
                        .flatten()
                        .for_each(|number| hash.write_f32(number));
                }
            }
            if joint.data.motor(JointAxis::LinY).is_some() {
                write_vector(hash, joint.data.local_frame1.translation);
            }
        }
        self.links.write_state(&self.world.impulse_joints, hash);
        hash.write_f64(self.unsimulated);
        write_vector(hash, self.gravity());
    }
}
