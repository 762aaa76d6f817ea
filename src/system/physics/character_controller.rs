//! Character controller: moves a shape along the ground, up steps and along walls, and pushes
//! bodies in its path.

use super::ground::{Ground, Landing, Motion, keep_out};
use super::one_way::CharacterPath;
use super::{BodyId, BodyOwner, ColliderShape, QueryFilter, Simulation};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::control::{
    CharacterAutostep, CharacterCollision, CharacterLength, EffectiveCharacterMovement,
    KinematicCharacterController,
};
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::prelude as rapier;

/// Distance by which a standing shape is pressed to the ground, in metres. With more, the
/// controller does not climb steps and slides sideways.
pub(super) const PRESS: f32 = 0.005;
/// Gap kept between the shape and everything else, in metres.
pub(super) const SKIN: f32 = 0.01;
/// Minimum upward part of a normal at which a hit is below or above, and not at the side.
const FLOOR: f32 = 0.7;
/// Distance around a shape in which rapier's controller looks for ground, with a margin, in metres.
const GROUND_MARGIN: f32 = 0.1;
/// Width that a shape needs on a step, as a fraction of its radius. With less, its round foot still
/// touches the edge of a high step when it comes at an angle, and the edge counts as a steep slope.
const STEP_WIDTH_MIN: f32 = 0.6;

/// Settings of a character controller.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ControllerSettings {
    /// Maximum height of a step that it climbs without a jump, in metres.
    pub step_height: f32,
    /// Angle of the steepest slope that it climbs, in radians.
    pub slope_max: f32,
    /// Maximum distance by which it is snapped down to falling ground, in metres.
    pub snap: f32,
    /// Mass with which it pushes dynamic bodies, in kilograms.
    pub mass: f32,
}

/// Result of a move of the character controller.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ControllerMove {
    pub position: Vec3,
    pub grounded: bool,
    /// True if it hit something at its sides. `up` and `down` are the same for above and below.
    pub sides: bool,
    pub up: bool,
    pub down: bool,
    /// Owner of the ground.
    pub standing_on: Option<BodyOwner>,
}

impl ControllerSettings {
    fn controller(&self, up: Vec3, radius: f32, falling: bool) -> KinematicCharacterController {
        KinematicCharacterController {
            up,
            offset: CharacterLength::Absolute(SKIN),
            autostep: (self.step_height > 0.0).then_some(CharacterAutostep {
                max_height: CharacterLength::Absolute(self.step_height),
                min_width: CharacterLength::Absolute(radius * STEP_WIDTH_MIN),
                include_dynamic_bodies: false,
            }),
            max_slope_climb_angle: self.slope_max,
            min_slope_slide_angle: self.slope_max,
            snap_to_ground: (self.snap > 0.0 && !falling)
                .then_some(CharacterLength::Absolute(self.snap)),
            ..KinematicCharacterController::default()
        }
    }

    /// Returns the path of a shape, on which it may pass one-way platforms.
    pub(super) fn path<'a>(
        &self,
        shape: &'a dyn rapier::Shape,
        from: Vec3,
        displacement: Vec3,
        up: Vec3,
    ) -> CharacterPath<'a> {
        CharacterPath { shape, from, displacement, up, slope_max: self.slope_max }
    }

    /// Returns a controller for a shape that is carried and does not walk.
    pub(super) fn carried_controller(&self, up: Vec3) -> KinematicCharacterController {
        KinematicCharacterController { autostep: None, ..self.controller(up, 0.0, true) }
    }
}

impl Simulation {
    /// Moves a shape by `displacement` within `seconds`. The shape slides along obstacles.
    /// `grounded_before` is true if it stands on the ground at the start. Dynamic bodies in its
    /// path are pushed; it passes through the bodies in `own`, and through one-way platforms unless
    /// it reaches them from above.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn walk(
        &mut self,
        shape: &ColliderShape,
        (from, grounded_before): (Vec3, bool),
        displacement: Vec3,
        seconds: f32,
        settings: &ControllerSettings,
        (query, own): (&QueryFilter, &[BodyId]),
    ) -> Result<ControllerMove, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let (up, displacement) = (self.up(), self.in_plane(displacement));
        let rise = displacement.dot(up);
        // While it rises, it must not be snapped down again.
        let radius = shape.compute_local_aabb().half_extents().x;
        let controller = settings.controller(up, radius, rise > 0.0 || !grounded_before);
        let press = if grounded_before && rise < -PRESS { -PRESS } else { rise };
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        let mut hits: Vec<CharacterCollision> = Vec::new();
        let level = displacement - up * rise;
        let first = level + up * press;
        let bodies = &self.world.bodies;
        let passed = self.passed_platforms(&settings.path(&*shape, from, first, up), query);
        let others = |handle, collider: &rapier::Collider| {
            !is_of(own, collider) && !passed.contains(&handle)
        };
        let filter = rapier::QueryFilter { predicate: Some(&others), ..query.rapier() };
        let mut queries = self.world.query_pipeline_with_filter(filter);
        let nobody = rapier::RigidBodySet::new();
        let near_kinematic = is_near_kinematic(&queries, &*shape, &pose, first);
        if near_kinematic {
            queries.bodies = &nobody;
        }
        let stride = ShapeMove { controller, shape: &*shape, seconds };
        let mut moved = stride.make(&queries, &pose, first, &mut hits);
        // Without the bodies, the controller cannot recognize dynamic bodies, which must not be
        // climbed.
        let climbs = |hit: &CharacterCollision| {
            stride.is_wall(hit) && is_dynamic(bodies, queries.colliders.get(hit.handle))
        };
        if near_kinematic && controller.autostep.is_some() && hits.iter().any(climbs) {
            moved = stride.move_on_static(&queries, bodies, (&pose, first), &mut hits);
        }
        let ground =
            Ground { queries: &queries, shape: &*shape, up, slope_max: settings.slope_max };
        let motion = Motion { from, level, grounded_before, rise, press, snap: settings.snap };
        let Landing { position, grounded, standing_on } =
            motion.land(moved, (&stride, &ground), &mut hits);
        let path = (from, position);
        let mut position = keep_out(&queries, bodies, &*shape, path, |way| self.in_plane(way));
        let [sides, above, below] = hit_sides(&hits, up);
        let down = grounded || below;
        let standing_on = standing_on.filter(|_| down);
        if settings.mass > 0.0 && seconds > 0.0 {
            let (settings, query) = (*settings, *query);
            self.change(move |it| {
                it.push_aside(&controller, &*shape, seconds, (&settings, &query), &hits);
            });
        }
        if self.setup.flat {
            position.z = from.z;
        }
        Ok(ControllerMove { position, grounded, sides, up: above, down, standing_on })
    }

    /// Pushes the bodies that a walking shape ran into.
    fn push_aside(
        &mut self,
        controller: &KinematicCharacterController,
        shape: &dyn rapier::Shape,
        seconds: f32,
        (settings, query): (&ControllerSettings, &QueryFilter),
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
        // Bodies below or above the shape are not pushed.
        let up = controller.up;
        let pushed = hits.iter().filter(|hit| hit.hit.normal1.dot(up).abs() < FLOOR);
        controller.solve_character_collision_impulses(
            seconds,
            &mut queries,
            shape,
            settings.mass,
            pushed,
        );
    }
}

/// Returns true for each side of a shape that hit something: around it, above and below.
pub(super) fn hit_sides(hits: &[CharacterCollision], up: Vec3) -> [bool; 3] {
    let has = |is: fn(f32) -> bool| hits.iter().any(|hit| is(hit.hit.normal1.dot(up)));
    [
        has(|upward| upward.abs() < FLOOR),
        has(|upward| upward <= -FLOOR),
        has(|upward| upward >= FLOOR),
    ]
}

/// Returns true if a collider belongs to one of these bodies.
pub(super) fn is_of(bodies: &[BodyId], collider: &rapier::Collider) -> bool {
    collider.parent().is_some_and(|parent| bodies.iter().any(|body| body.0 == parent))
}

/// Returns true if a kinematic body is near the path of a shape. rapier's controller carries a
/// shape along with a part of the body's motion and gets stuck on the body, so it must not know
/// that the body moves. [`Simulation::carry_along`] carries the shape along with the whole motion.
fn is_near_kinematic(
    queries: &rapier::QueryPipeline<'_>,
    shape: &dyn rapier::Shape,
    pose: &rapier::Pose,
    displacement: Vec3,
) -> bool {
    let bounds = shape
        .compute_swept_aabb(pose, &pose.append_translation(displacement))
        .loosened(GROUND_MARGIN);
    queries.intersect_aabb_conservative(bounds).any(|(_, collider)| {
        let body = collider.parent().and_then(|body| queries.bodies.get(body));
        body.is_some_and(|body| body.is_kinematic())
    })
}

/// Returns true if a collider belongs to a dynamic body.
fn is_dynamic(bodies: &rapier::RigidBodySet, collider: Option<&rapier::Collider>) -> bool {
    let body = collider.and_then(|collider| bodies.get(collider.parent()?));
    body.is_some_and(|body| body.is_dynamic())
}

/// Parameters of one move of a shape.
pub(super) struct ShapeMove<'a> {
    controller: KinematicCharacterController,
    shape: &'a dyn rapier::Shape,
    seconds: f32,
}

impl ShapeMove<'_> {
    fn make(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        pose: &rapier::Pose,
        displacement: Vec3,
        hits: &mut Vec<CharacterCollision>,
    ) -> EffectiveCharacterMovement {
        let ShapeMove { controller, shape, seconds } = self;
        controller.move_shape(*seconds, queries, *shape, pose, displacement, |hit| hits.push(hit))
    }

    /// Returns the move of a shape along the slopes around it, without steps.
    pub(super) fn slide(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        from: Vec3,
        displacement: Vec3,
        hits: &mut Vec<CharacterCollision>,
    ) -> EffectiveCharacterMovement {
        let controller = KinematicCharacterController {
            autostep: None,
            snap_to_ground: None,
            ..self.controller
        };
        let pose = rapier::Pose::from_parts(from, Quat::IDENTITY);
        ShapeMove { controller, ..*self }.make(queries, &pose, displacement, hits)
    }

    /// Returns true if an obstacle may be a step, because it is too steep to walk on.
    fn is_wall(&self, hit: &CharacterCollision) -> bool {
        let steep = sin_cos(self.controller.max_slope_climb_angle).1.max(FLOOR);
        hit.hit.normal1.dot(self.controller.up).abs() < steep
    }

    /// Moves the shape along all obstacles, and climbs steps only on bodies that are not dynamic,
    /// although `queries` does not know the bodies.
    fn move_on_static(
        &self,
        queries: &rapier::QueryPipeline<'_>,
        bodies: &rapier::RigidBodySet,
        (pose, displacement): (&rapier::Pose, Vec3),
        hits: &mut Vec<CharacterCollision>,
    ) -> EffectiveCharacterMovement {
        let controller = KinematicCharacterController { autostep: None, ..self.controller };
        hits.clear();
        let level = ShapeMove { controller, ..*self }.make(queries, pose, displacement, hits);
        let is_step = |hit: &CharacterCollision| {
            self.is_wall(hit) && !is_dynamic(bodies, queries.colliders.get(hit.handle))
        };
        let Some(step) = hits.iter().position(is_step) else { return level };
        // The rest of the path ignores dynamic bodies, because they are no part of a step.
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
        if climbed.translation.dot(self.controller.up) <= SKIN
            || self.touches_dynamic(queries, bodies, &to)
        {
            return level;
        }
        hits.truncate(step + 1);
        climbed.translation += at.translation - pose.translation;
        climbed
    }

    /// Returns true if the shape would overlap a dynamic body.
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
