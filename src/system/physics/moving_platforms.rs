//! Passive motion of a character: the body it stands on carries it along, and bodies that move into
//! it push it out.

use super::character_controller::{SKIN, is_of};
use super::one_way::{CharacterPath, is_one_way};
use super::{
    BodyId, BodyOwner, ColliderShape, ControllerSettings, MotionType, QueryFilter, Simulation,
};
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::prelude as rapier;

/// Distance up to which a move skips collision checks, in metres.
const SHORT: f32 = 1e-5;
/// Minimum depth of an overlap, in metres. Less may be a rounding error.
const DEPTH_MIN: f32 = 1e-4;
/// Maximum number of successive pushes out of bodies, before a shape counts as wedged in.
const PUSHES_MAX: usize = 16;

/// Displacement that moves a shape out of its overlaps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Separation {
    /// Owner of the body that it overlaps most.
    pub owner: BodyOwner,
    /// Required displacement.
    pub way: Vec3,
    /// True if the shape overlaps nothing after the displacement.
    pub free: bool,
}

/// The deepest overlap of a character's shape.
pub(super) struct DeepestOverlap {
    owner: BodyOwner,
    /// Depth of the overlap, in metres.
    pub depth: f32,
    /// Direction out of the overlap.
    pub out: Vec3,
}

impl Simulation {
    /// Returns the position of a character's shape after a body carries it along by `displacement`.
    /// The shape slides along walls and does not pass through them. It is not blocked by the body
    /// `carrier`, which carries it, by dynamic bodies, which are pushed, or by the bodies in `own`.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn carry_along(
        &self,
        shape: &ColliderShape,
        from: Vec3,
        displacement: Vec3,
        carrier: BodyId,
        (settings, query, own): (&ControllerSettings, &QueryFilter, &[BodyId]),
    ) -> Result<Vec3, Error> {
        let displacement = self.in_plane(displacement);
        if displacement.length() <= SHORT {
            return Ok(from + displacement);
        }
        let shape = shape.shared(self.setup.flat)?;
        let path = settings.path(&*shape, from, displacement, self.up());
        let passed = self.passed_platforms(&path, query);
        let stops = |handle, collider: &rapier::Collider| {
            let body = collider.parent().and_then(|body| self.world.bodies.get(body));
            let is_obstacle = body.is_some_and(|body| !body.is_dynamic());
            let is_other = collider.parent() != Some(carrier.0) && !is_of(own, collider);
            is_obstacle && is_other && !passed.contains(&handle)
        };
        let filter = rapier::QueryFilter { predicate: Some(&stops), ..query.rapier() };
        let mut queries = self.world.query_pipeline_with_filter(filter);
        // The controller must not know that bodies move: see character_controller.rs.
        let nobody = rapier::RigidBodySet::new();
        queries.bodies = &nobody;
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        let controller = settings.carried_controller(self.up());
        let moved = controller.move_shape(0.0, &queries, &*shape, &pose, displacement, |_| {});
        Ok(from + self.in_plane(moved.translation))
    }

    /// Returns the displacement out of the bodies that a shape overlaps and for which `counts`
    /// returns true, or `None` if it overlaps none. One-way platforms count if the shape rests on
    /// them. The shape is pushed out of the deepest overlap
    /// repeatedly, by at most `most` metres.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn separate(
        &self,
        shape: &ColliderShape,
        from: Vec3,
        most: f32,
        query: &QueryFilter,
        counts: impl Fn(BodyOwner, MotionType) -> bool,
    ) -> Result<Option<Separation>, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let path = CharacterPath {
            shape: &*shape,
            from,
            displacement: Vec3::ZERO,
            up: self.up(),
            slope_max: std::f32::consts::FRAC_PI_2,
        };
        let counted = |_, collider: &rapier::Collider| {
            let body = collider.parent().and_then(|body| self.world.bodies.get(body));
            body.is_some_and(|body| counts(body.user_data, MotionType::of(body.body_type())))
                && (!is_one_way(collider) || self.platform_supports(&path, collider))
        };
        let filter = rapier::QueryFilter { predicate: Some(&counted), ..query.rapier() };
        let queries = self.world.query_pipeline_with_filter(filter);
        let Some(first) = deepest_overlap(&queries, &*shape, from) else { return Ok(None) };
        let (owner, mut displacement, mut next) = (first.owner, Vec3::ZERO, Some(first));
        for _ in 0..PUSHES_MAX {
            let Some(overlap) = next else { break };
            displacement += self.in_plane(overlap.out) * (overlap.depth + SKIN);
            if displacement.length() > most {
                return Ok(Some(Separation { owner, way: displacement, free: false }));
            }
            next = deepest_overlap(&queries, &*shape, from + displacement);
        }
        Ok(Some(Separation { owner, way: displacement, free: next.is_none() }))
    }
}

/// Returns the deepest overlap of a shape. For equal depths, returns the one with the smallest
/// owner.
pub(super) fn deepest_overlap(
    queries: &rapier::QueryPipeline<'_>,
    shape: &dyn rapier::Shape,
    at: Vec3,
) -> Option<DeepestOverlap> {
    let pose = rapier::Pose::from_parts(at, Quat::IDENTITY);
    let bounds = shape.compute_aabb(&pose).loosened(SKIN);
    let overlaps = queries.intersect_aabb_conservative(bounds).filter_map(|(_, collider)| {
        let between = pose.inv_mul(collider.position());
        let found = queries.dispatcher.contact(&between, shape, collider.shape(), 0.0);
        // The normal points into the other body.
        let contact = found.ok().flatten().filter(|contact| contact.dist < -DEPTH_MIN)?;
        let (owner, depth) = (collider.user_data, -contact.dist);
        Some(DeepestOverlap { owner, depth, out: -contact.normal1 })
    });
    overlaps.reduce(|one, other| {
        let deeper = other.depth.total_cmp(&one.depth).then(one.owner.cmp(&other.owner));
        if deeper.is_gt() { other } else { one }
    })
}
