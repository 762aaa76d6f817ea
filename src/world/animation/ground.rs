//! The ground below the feet of characters, found by rays into the physics of their world.

use crate::physics::{PhysicsTables, PhysicsWorldId, actor_of, unit_number};
use crate::unit::UnitId;
use engine_animation::constraints::FootGround;
use engine_foundation::{Mat3, Mat4, Vec3};
use engine_physics::QueryFilter;

/// Length of a ray in metres below which it has no direction.
const RAY_MIN: f32 = 1e-4;

/// The physics of a world, in which rays find the ground.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub bodies: &'a PhysicsTables,
    pub physics: PhysicsWorldId,
}

impl Ground<'_> {
    /// Returns the ground below a foot of a unit. `matrix` is the world transform of the unit,
    /// `foot` the position of the foot in its space, and `reach` the largest height of the ground
    /// above or below the origin of the unit. Bodies of the unit itself and of movers are no
    /// ground.
    pub fn below(&self, unit: UnitId, matrix: &Mat4, foot: Vec3, reach: f32) -> FootGround {
        let start = matrix.transform_point3(foot.with_z(reach));
        let end = matrix.transform_point3(foot.with_z(-reach));
        let (ray, length) = (end - start, start.distance(end));
        if !(start.is_finite() && length.is_finite() && length > RAY_MIN) {
            return FootGround::NONE;
        }
        let simulation = &self.bodies.world(self.physics).simulation;
        let own = unit.0.to_number();
        let accepts = |owner| {
            let actor = actor_of(owner).and_then(|actor| self.bodies.actors.get(actor.0));
            unit_number(owner) != own && actor.is_none_or(|actor| actor.mover.is_none())
        };
        let hit =
            simulation.raycast_where(start, ray / length, length, &self.filter(unit), accepts);
        match hit {
            // A ray that starts inside a body does not see its surface.
            Some(hit) if hit.distance > 0.0 => FootGround {
                height: reach - 2.0 * reach * (hit.distance / length),
                normal: Mat3::from_mat4(*matrix).transpose() * hit.normal,
            },
            _ => FootGround::NONE,
        }
    }

    /// Returns the filter for the ground of a unit: that of its mover, or all solid bodies.
    fn filter(&self, unit: UnitId) -> QueryFilter {
        let mover = self.bodies.unit_mover(unit).map(|mover| self.bodies.mover(mover));
        mover.map_or(QueryFilter::DEFAULT, |mover| {
            let (_, body) = self.bodies.body(mover.actor);
            mover.query(body)
        })
    }
}
