//! The way of a walking shape: along the ground, up steps, along walls; what it pushes against.

use super::{BodyId, Owner, Physics, Query, Shape};
use crate::foundation::angles::sin_cos;
use crate::foundation::{Error, Quat, Vec3};
use rapier3d::control::{
    CharacterAutostep, CharacterCollision, CharacterLength, EffectiveCharacterMovement,
    KinematicCharacterController,
};
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;

/// While it stands, a shape is pressed to the ground by this much and no more: with more, the
/// controller does not climb steps and slides sideways. Metres.
const PRESS: f32 = 0.005;
/// What is kept free between the shape and everything else, in metres.
pub(super) const SKIN: f32 = 0.01;
/// Ground that is less far below is stood on.
const GROUND: f32 = 0.03;
/// The z of a normal from which on something is below, and not at the side.
const FLOOR: f32 = 0.7;
/// How far beside a shape rapier's controller looks for ground, and a little more, in metres.
const BESIDE: f32 = 0.1;
/// How much room a shape wants on a step, in parts of its radius. With less, its round foot still
/// hangs on the edge of a high step when it comes at an angle, and that counts as a steep slope.
const ROOM: f32 = 0.6;

/// How a shape walks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gait {
    /// The highest step that it takes without a jump, in metres.
    pub step_height: f32,
    /// The steepest slope that it climbs, in radians.
    pub slope_max: f32,
    /// How far it is kept to the ground when that falls away, in metres.
    pub snap: f32,
    /// What it pushes dynamic bodies with, in kilograms.
    pub mass: f32,
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
    /// Whose the ground is.
    pub standing_on: Option<Owner>,
}

impl Gait {
    fn controller(&self, radius: f32, falling: bool) -> KinematicCharacterController {
        KinematicCharacterController {
            up: Vec3::Z,
            offset: CharacterLength::Absolute(SKIN),
            autostep: (self.step_height > 0.0).then_some(CharacterAutostep {
                max_height: CharacterLength::Absolute(self.step_height),
                min_width: CharacterLength::Absolute(radius * ROOM),
                include_dynamic_bodies: false,
            }),
            max_slope_climb_angle: self.slope_max,
            min_slope_slide_angle: self.slope_max,
            snap_to_ground: (self.snap > 0.0 && !falling)
                .then_some(CharacterLength::Absolute(self.snap)),
            ..KinematicCharacterController::default()
        }
    }

    /// One that takes a shape along where it does not walk by itself.
    pub(super) fn carried(&self) -> KinematicCharacterController {
        KinematicCharacterController { autostep: None, ..self.controller(0.0, true) }
    }
}

impl Physics {
    /// Walks a shape by `way`, sliding along what is in it, in `seconds`; `standing`: whether it
    /// stands on the ground now. Dynamic bodies in its way are pushed; it walks through its `own`.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn walk(
        &mut self,
        shape: &Shape,
        (from, standing): (Vec3, bool),
        way: Vec3,
        seconds: f32,
        gait: &Gait,
        (query, own): (&Query, &[BodyId]),
    ) -> Result<Walk, Error> {
        let shape = shape.shared()?;
        // Rising, it must not be pulled down again.
        let radius = shape.compute_local_aabb().half_extents().x;
        let controller = gait.controller(radius, way.z > 0.0 || !standing);
        let press = if standing && way.z < -PRESS { -PRESS } else { way.z };
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        let mut hits: Vec<CharacterCollision> = Vec::new();
        let first = Vec3::new(way.x, way.y, press);
        let bodies = &self.world.bodies;
        let others = |_, collider: &rapier::Collider| !is_of(own, collider);
        let filter = rapier::QueryFilter { predicate: Some(&others), ..query.rapier() };
        let mut queries = self.world.query_pipeline_with_filter(filter);
        let nobody = rapier::RigidBodySet::new();
        let beside_driven = is_beside_driven(&queries, &*shape, &pose, first);
        if beside_driven {
            queries.bodies = &nobody;
        }
        let stride = Stride { controller, shape: &*shape, seconds };
        let mut moved = stride.make(&queries, &pose, first, &mut hits);
        // Nor does the controller know then what moves by forces, and must not be stepped on.
        let climbs = |hit: &CharacterCollision| {
            stride.is_wall(hit) && is_dynamic(bodies, queries.colliders.get(hit.handle))
        };
        if beside_driven && controller.autostep.is_some() && hits.iter().any(climbs) {
            moved = stride.make_on_still(&queries, bodies, (&pose, first), &mut hits);
        }
        let mut position = from + moved.translation;
        let mut grounded = moved.grounded;
        if !grounded && press > way.z {
            // The ground ended: now it falls the rest of the way.
            let pose = rapier::Pose::from_parts(position, Quat::IDENTITY);
            let rest = Vec3::new(0.0, 0.0, way.z - press);
            let falling = KinematicCharacterController { snap_to_ground: None, ..controller };
            let fell = falling.move_shape(seconds, &queries, &*shape, &pose, rest, |hit| {
                hits.push(hit);
            });
            position += fell.translation;
            grounded = fell.grounded;
        }
        let (mut sides, mut up, mut down) = (false, false, grounded);
        for hit in &hits {
            let z = hit.hit.normal1.z;
            sides |= z.abs() < FLOOR;
            down |= z >= FLOOR;
            up |= z <= -FLOOR;
        }
        let mut standing_on = None;
        let rests = (standing || down) && way.z <= 0.0;
        if grounded || down || rests {
            let pose = rapier::Pose::from_parts(position, Quat::IDENTITY);
            let options =
                ShapeCastOptions { max_time_of_impact: 1.0, ..ShapeCastOptions::default() };
            let below = Vec3::new(0.0, 0.0, -(SKIN + GROUND));
            if let Some((collider, hit)) = queries.cast_shape(&pose, below, &*shape, options) {
                // The controller finds ground by contacts, which not every two shapes have.
                grounded |= rests && hit.normal1.z.abs() >= sin_cos(gait.slope_max).1;
                let found = self.world.colliders.get(collider);
                standing_on = found.map(|collider| collider.user_data);
            }
            standing_on = standing_on.filter(|_| grounded || down);
        }
        if gait.mass > 0.0 && seconds > 0.0 {
            let (gait, query) = (*gait, *query);
            self.change(move |it| {
                it.push_aside(&controller, &*shape, seconds, (&gait, &query), &hits);
            });
        }
        Ok(Walk { position, grounded, sides, up, down, standing_on })
    }

    /// Pushes what a walking shape ran into.
    fn push_aside(
        &mut self,
        controller: &KinematicCharacterController,
        shape: &dyn rapier::Shape,
        seconds: f32,
        (gait, query): (&Gait, &Query),
        hits: &[CharacterCollision],
    ) {
        let rapier::PhysicsWorld { broad_phase, narrow_phase, bodies, colliders, .. } =
            &mut self.world;
        let mut queries = broad_phase.as_query_pipeline_mut(
            narrow_phase.query_dispatcher(),
            bodies,
            colliders,
            query.rapier(),
        );
        // What is stood on is not pushed.
        let pushed = hits.iter().filter(|hit| hit.hit.normal1.z.abs() < FLOOR);
        controller.solve_character_collision_impulses(
            seconds,
            &mut queries,
            shape,
            gait.mass,
            pushed,
        );
    }
}

/// Whether a shape belongs to one of these bodies.
pub(super) fn is_of(bodies: &[BodyId], collider: &rapier::Collider) -> bool {
    collider.parent().is_some_and(|parent| bodies.iter().any(|body| body.0 == parent))
}

/// Whether something that scripts move is beside the way of a shape. rapier's controller takes a
/// shape along with a part of its motion, and gets stuck on it: it must not know that it moves.
/// Here a shape is taken along wholly ([`Physics::bring`]).
fn is_beside_driven(
    queries: &rapier::QueryPipeline<'_>,
    shape: &dyn rapier::Shape,
    pose: &rapier::Pose,
    way: Vec3,
) -> bool {
    let bounds = shape.compute_swept_aabb(pose, &pose.append_translation(way)).loosened(BESIDE);
    queries.intersect_aabb_conservative(bounds).any(|(_, collider)| {
        let body = collider.parent().and_then(|body| queries.bodies.get(body));
        body.is_some_and(|body| body.is_kinematic())
    })
}

/// Whether something moves by forces.
fn is_dynamic(bodies: &rapier::RigidBodySet, collider: Option<&rapier::Collider>) -> bool {
    let body = collider.and_then(|collider| bodies.get(collider.parent()?));
    body.is_some_and(|body| body.is_dynamic())
}

/// How a shape is moved at once.
struct Stride<'a> {
    controller: KinematicCharacterController,
    shape: &'a dyn rapier::Shape,
    seconds: f32,
}

impl Stride<'_> {
    fn make(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        pose: &rapier::Pose,
        way: Vec3,
        hits: &mut Vec<CharacterCollision>,
    ) -> EffectiveCharacterMovement {
        let Stride { controller, shape, seconds } = self;
        controller.move_shape(*seconds, queries, *shape, pose, way, |hit| hits.push(hit))
    }

    /// Whether something in the way may be a step: it is too steep to be walked on.
    fn is_wall(&self, hit: &CharacterCollision) -> bool {
        let steep = sin_cos(self.controller.max_slope_climb_angle).1.max(FLOOR);
        hit.hit.normal1.z.abs() < steep
    }

    /// A way along everything, on which only what does not move by forces is stepped on, though
    /// nothing is known of bodies.
    fn make_on_still(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        bodies: &rapier::RigidBodySet,
        (pose, way): (&rapier::Pose, Vec3),
        hits: &mut Vec<CharacterCollision>,
    ) -> EffectiveCharacterMovement {
        let controller = KinematicCharacterController { autostep: None, ..self.controller };
        hits.clear();
        let level = Stride { controller, ..*self }.make(queries, pose, way, hits);
        let is_step = |hit: &CharacterCollision| {
            self.is_wall(hit) && !is_dynamic(bodies, queries.colliders.get(hit.handle))
        };
        let Some(step) = hits.iter().position(is_step) else { return level };
        // From there on without what moves by forces: it is no part of a step.
        let own = queries.filter.predicate;
        let still = |handle, collider: &rapier::Collider| {
            own.is_none_or(|own| own(handle, collider)) && !is_dynamic(bodies, Some(collider))
        };
        let filter = rapier::QueryFilter { predicate: Some(&still), ..queries.filter };
        let at = hits[step].character_pos;
        let rest = hits[step].translation_remaining;
        let stairs = rapier::QueryPipeline { filter, ..*queries };
        let mut climbed = self.make(&stairs, &at, rest, &mut Vec::new());
        let to = at.append_translation(climbed.translation);
        if climbed.translation.z <= SKIN || self.touches_dynamic(queries, bodies, &to) {
            return level;
        }
        hits.truncate(step + 1);
        climbed.translation += at.translation - pose.translation;
        climbed
    }

    /// Whether the shape would overlap something that moves by forces.
    fn touches_dynamic(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        bodies: &rapier::RigidBodySet,
        pose: &rapier::Pose,
    ) -> bool {
        let mut touched = queries.intersect_shape(*pose, self.shape);
        touched.any(|(_, collider)| is_dynamic(bodies, Some(collider)))
    }
}
