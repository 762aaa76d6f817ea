//! Questions to a simulation: rays, sweeps, overlaps, and the way of a walking shape. Answers are
//! as of the last step.

use super::{BodyId, Filter, Physics, Shape};
use crate::foundation::{Error, Quat, Vec3};
use rapier3d::control::{CharacterAutostep, CharacterLength, KinematicCharacterController};
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;

/// What a question leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub filter: Filter,
    /// Whether static, dynamic and kinematic bodies count.
    pub statics: bool,
    pub dynamics: bool,
    pub triggers: bool,
    pub but: Option<BodyId>,
}

impl Query {
    pub const DEFAULT: Query =
        Query { filter: Filter::ALL, statics: true, dynamics: true, triggers: false, but: None };

    fn rapier<'a>(&self) -> rapier::QueryFilter<'a> {
        let mut flags = rapier::QueryFilterFlags::empty();
        if !self.statics {
            flags |= rapier::QueryFilterFlags::EXCLUDE_FIXED;
        }
        if !self.dynamics {
            flags |= rapier::QueryFilterFlags::EXCLUDE_DYNAMIC;
        }
        if !self.triggers {
            flags |= rapier::QueryFilterFlags::EXCLUDE_SENSORS;
        }
        rapier::QueryFilter {
            flags,
            groups: Some(self.filter.groups()),
            exclude_rigid_body: self.but.map(|body| body.0),
            ..rapier::QueryFilter::default()
        }
    }
}

/// What a ray or a sweep met.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hit {
    pub owner: u64,
    pub position: Vec3,
    /// Out of what was hit.
    pub normal: Vec3,
    /// Metres from the start.
    pub distance: f32,
}

/// Where a walking shape got to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    pub position: Vec3,
    pub grounded: bool,
    /// Whether something was in the way at its sides, above, below.
    pub sides: bool,
    pub up: bool,
    pub down: bool,
}

/// How a shape walks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gait {
    /// The highest step that it takes without a jump, in metres.
    pub step_height: f32,
    /// The steepest slope that it climbs, in radians.
    pub slope_max: f32,
    /// How far it is kept to the ground when that falls away, in metres.
    pub snap: f32,
}

impl Physics {
    fn owner(&self, collider: rapier::ColliderHandle) -> u64 {
        self.world.colliders.get(collider).map_or(0, |collider| collider.user_data as u64)
    }

    /// The first that a ray meets; the direction has length 1.
    pub fn raycast(&self, from: Vec3, direction: Vec3, length: f32, query: &Query) -> Option<Hit> {
        let ray = rapier::Ray::new(from, direction);
        let found = self.world.cast_ray_and_get_normal(&ray, length, true, query.rapier());
        found.map(|(collider, hit)| Hit {
            owner: self.owner(collider),
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        })
    }

    /// Everything that a ray meets, the nearest first; equally near by owner.
    pub fn raycast_all(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        query: &Query,
        out: &mut Vec<Hit>,
    ) {
        let ray = rapier::Ray::new(from, direction);
        let first = out.len();
        let hits = self.world.intersect_ray(ray, length, true, query.rapier());
        out.extend(hits.map(|(_, collider, hit)| Hit {
            owner: collider.user_data as u64,
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        }));
        out[first..]
            .sort_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.owner.cmp(&b.owner)));
    }

    /// The owners of all that a shape touches at a place, sorted and each once.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn overlap(
        &self,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        query: &Query,
    ) -> Result<Vec<u64>, Error> {
        let shape = shape.shared()?;
        let pose = rapier::Pose::from_parts(position, rotation);
        let found = self.world.intersect_shape(pose, &*shape, query.rapier());
        let mut owners: Vec<u64> = found.map(|(_, collider)| collider.user_data as u64).collect();
        owners.sort_unstable();
        owners.dedup();
        Ok(owners)
    }

    /// The first that a shape meets on its way.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn sweep(
        &self,
        shape: &Shape,
        from: Vec3,
        rotation: Quat,
        to: Vec3,
        query: &Query,
    ) -> Result<Option<Hit>, Error> {
        let shape = shape.shared()?;
        let (way, pose) = (to - from, rapier::Pose::from_parts(from, rotation));
        let options = ShapeCastOptions { max_time_of_impact: 1.0, ..ShapeCastOptions::default() };
        let found = self.world.cast_shape(&pose, way, &*shape, options, query.rapier());
        Ok(found.map(|(collider, hit)| Hit {
            owner: self.owner(collider),
            position: hit.witness1,
            normal: hit.normal1,
            distance: way.length() * hit.time_of_impact,
        }))
    }

    /// Walks a shape by `way`, sliding along what is in it, in `seconds`. What it pushes against is
    /// not moved.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn walk(
        &self,
        shape: &Shape,
        from: Vec3,
        way: Vec3,
        seconds: f32,
        gait: &Gait,
        query: &Query,
    ) -> Result<Walk, Error> {
        let shape = shape.shared()?;
        let controller = KinematicCharacterController {
            up: Vec3::Z,
            offset: CharacterLength::Absolute(0.01),
            autostep: (gait.step_height > 0.0).then_some(CharacterAutostep {
                max_height: CharacterLength::Absolute(gait.step_height),
                min_width: CharacterLength::Absolute(0.1),
                include_dynamic_bodies: false,
            }),
            max_slope_climb_angle: gait.slope_max,
            min_slope_slide_angle: gait.slope_max,
            snap_to_ground: (gait.snap > 0.0).then_some(CharacterLength::Absolute(gait.snap)),
            ..KinematicCharacterController::default()
        };
        let queries = self.world.query_pipeline_with_filter(query.rapier());
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        let (mut sides, mut up, mut down) = (false, false, false);
        let moved = controller.move_shape(seconds, &queries, &*shape, &pose, way, |hit| {
            let z = hit.hit.normal1.z;
            sides |= z.abs() < 0.7;
            down |= z >= 0.7;
            up |= z <= -0.7;
        });
        let position = from + moved.translation;
        Ok(Walk { position, grounded: moved.grounded, sides, up, down })
    }
}
