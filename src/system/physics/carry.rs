//! What happens to a walking shape without its own doing: what it stands on takes it along, and
//! what moves into it pushes it out of the way.

use super::walker::{SKIN, is_of};
use super::{BodyId, Gait, Motion, Owner, Physics, Query, Shape};
use crate::foundation::{Error, Quat, Vec3};
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::prelude as rapier;

/// Metres: a shorter way is taken without a look at what is there.
const SHORT: f32 = 1e-5;
/// Metres: what overlaps by less may be rounding.
const DEPTH_MIN: f32 = 1e-4;
/// How often a shape is pushed out of one thing after the other, before it counts as wedged in.
const PUSHES_MAX: usize = 16;

/// The way out of what a shape overlaps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Separation {
    /// Whose it overlaps most.
    pub owner: Owner,
    /// Where it would have to go.
    pub way: Vec3,
    /// Whether it touches nothing there.
    pub free: bool,
}

/// What a walking shape touches most.
struct Overlap {
    owner: Owner,
    /// How far it reaches inside, in metres.
    depth: f32,
    /// Out of it.
    out: Vec3,
}

impl Physics {
    /// Where a walking shape gets that something takes along by `way`: along walls, but not through
    /// them. `but`, which takes it, is not in its way; neither is what moves by forces, for that is
    /// pushed, nor what is its `own`.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn bring(
        &self,
        shape: &Shape,
        from: Vec3,
        way: Vec3,
        but: BodyId,
        (gait, query, own): (&Gait, &Query, &[BodyId]),
    ) -> Result<Vec3, Error> {
        if way.length() <= SHORT {
            return Ok(from + way);
        }
        let shape = shape.shared()?;
        let stops = |_, collider: &rapier::Collider| {
            let body = collider.parent().and_then(|body| self.world.bodies.get(body));
            let stands = body.is_some_and(|body| !body.is_dynamic());
            stands && collider.parent() != Some(but.0) && !is_of(own, collider)
        };
        let filter = rapier::QueryFilter { predicate: Some(&stops), ..query.rapier() };
        let mut queries = self.world.query_pipeline_with_filter(filter);
        // The controller must not know that something moves: see walker.rs.
        let nobody = rapier::RigidBodySet::new();
        queries.bodies = &nobody;
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        let controller = gait.carried();
        let moved = controller.move_shape(0.0, &queries, &*shape, &pose, way, |_| {});
        Ok(from + moved.translation)
    }

    /// The way out of what a shape overlaps, of all that `counts`; none where it overlaps nothing.
    /// It is pushed out of what it is deepest in, again and again, `most` metres at most.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn separate(
        &self,
        shape: &Shape,
        from: Vec3,
        most: f32,
        query: &Query,
        counts: impl Fn(Owner, Motion) -> bool,
    ) -> Result<Option<Separation>, Error> {
        let shape = shape.shared()?;
        let counted = |_, collider: &rapier::Collider| {
            let body = collider.parent().and_then(|body| self.world.bodies.get(body));
            body.is_some_and(|body| counts(body.user_data, Motion::of(body.body_type())))
        };
        let filter = rapier::QueryFilter { predicate: Some(&counted), ..query.rapier() };
        let queries = self.world.query_pipeline_with_filter(filter);
        let Some(first) = deepest(&queries, &*shape, from) else { return Ok(None) };
        let (owner, mut way, mut next) = (first.owner, Vec3::ZERO, Some(first));
        for _ in 0..PUSHES_MAX {
            let Some(overlap) = next else { break };
            way += overlap.out * (overlap.depth + SKIN);
            if way.length() > most {
                return Ok(Some(Separation { owner, way, free: false }));
            }
            next = deepest(&queries, &*shape, from + way);
        }
        Ok(Some(Separation { owner, way, free: next.is_none() }))
    }
}

/// What a shape reaches into most; of equal ones the one of the least owner.
fn deepest(
    queries: &rapier::QueryPipeline<'_>,
    shape: &dyn rapier::Shape,
    at: Vec3,
) -> Option<Overlap> {
    let pose = rapier::Pose::from_parts(at, Quat::IDENTITY);
    let bounds = shape.compute_aabb(&pose).loosened(SKIN);
    let overlaps = queries.intersect_aabb_conservative(bounds).filter_map(|(_, collider)| {
        let between = pose.inv_mul(collider.position());
        let found = queries.dispatcher.contact(&between, shape, collider.shape(), 0.0);
        // The normal points into what is touched.
        let contact = found.ok().flatten().filter(|contact| contact.dist < -DEPTH_MIN)?;
        let (owner, depth) = (collider.user_data, -contact.dist);
        Some(Overlap { owner, depth, out: -contact.normal1 })
    });
    overlaps.reduce(|one, other| {
        let deeper = other.depth.total_cmp(&one.depth).then(one.owner.cmp(&other.owner));
        if deeper.is_gt() { other } else { one }
    })
}
