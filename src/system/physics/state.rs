//! The state of a simulation as numbers, for hashes: all that the steps to come depend on. Where
//! steps are made beside scripts it is the state that scripts see.

use super::{BodyId, Motion, Physics};
use crate::foundation::hash::StateHash;
use crate::foundation::{Quat, Vec3};
use rapier3d::prelude::{JointAxis, JointEnabled};

fn write_vector(hash: &mut StateHash, vector: Vec3) {
    vector.to_array().into_iter().for_each(|number| hash.write_f32(number));
}

fn write_turn(hash: &mut StateHash, turn: Quat) {
    turn.to_array().into_iter().for_each(|number| hash.write_f32(number));
}

impl Physics {
    /// Writes the state of a body.
    pub fn write_body(&self, body: BodyId, hash: &mut StateHash) {
        let Some(body) = self.world.bodies.get(body.0) else { return };
        for vector in [body.translation(), body.linvel(), body.angvel()] {
            write_vector(hash, vector);
        }
        write_turn(hash, *body.rotation());
        let motion = Motion::of(body.body_type());
        let words = [body.is_sleeping(), body.is_enabled()].map(u64::from);
        words.into_iter().chain([motion as u64]).for_each(|word| hash.write_u64(word));
        if motion == Motion::Kinematic {
            let next = body.next_position();
            write_vector(hash, next.translation);
            write_turn(hash, next.rotation);
        }
        let numbers = [
            body.activation().time_since_can_sleep,
            body.mass(),
            body.gravity_scale(),
            body.linear_damping(),
            body.angular_damping(),
        ];
        numbers.into_iter().for_each(|number| hash.write_f32(number));
        // All of its shapes are of one kind.
        let first = body.colliders().first().and_then(|handle| self.collider(*handle));
        if let Some(collider) = first {
            hash.write_f32(collider.friction());
            hash.write_f32(collider.restitution());
            let groups = collider.collision_groups();
            for group in [groups.memberships, groups.filter] {
                hash.write_u64(group.bits().into());
            }
        }
    }

    /// Writes the state of what belongs to no body: joints, time, gravity.
    pub fn write_common(&self, hash: &mut StateHash) {
        for (_, joint) in self.world.impulse_joints.iter() {
            joint.impulses.into_iter().for_each(|number| hash.write_f32(number));
            hash.write_u64(u64::from(joint.data.enabled == JointEnabled::Enabled));
            // The only axes that limits and motors are set on.
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
        }
        self.links.write_breaks(hash);
        hash.write_f64(self.left);
        write_vector(hash, self.gravity());
    }
}
