//! Ground below a character's shape: what it stands on, what is too steep, and how it falls on.

use super::BodyOwner;
use super::character_controller::{PRESS, SKIN, ShapeMove, hit_sides};
use super::moving_platforms::deepest_overlap;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Quat, Vec3};
use rapier3d::control::{CharacterCollision, EffectiveCharacterMovement};
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;

/// Maximum distance to ground that counts as standing on it, in metres.
const GROUND: f32 = 0.03;
/// Minimum upward part of a normal of a slope. Less is a wall, or a rounding error.
const SLOPE_MIN: f32 = 1e-3;
/// Tolerance of the upward part of a normal of ground, for slopes of exactly the steepest angle.
const SLOPE_TOLERANCE: f32 = 1e-2;
/// Minimum length of a fall, in metres.
const FALL_MIN: f32 = 1e-4;
/// Minimum upward part of a move that climbed a step, in metres.
const CLIMB_MIN: f32 = 5e-4;
/// Part of the free slide down the least steep slope, below which a shape counts as wedged in.
const WEDGED: f32 = 0.25;
/// Minimum horizontal distance by which a slope changes a move, in metres, above rounding errors.
const PACE_MIN: f32 = 1e-6;
/// Horizontal distance up to which a move is corrected without a check for obstacles, in metres.
/// The gap to everything is wider.
const PACE_UNCHECKED: f32 = 0.5 * SKIN;
/// Maximum number of further moves of a correction. The normals of hits are not exact.
const PACE_CORRECTIONS_MAX: usize = 3;
/// Depth in metres up to which a shape may end its move in a static body.
const OVERLAP_MAX: f32 = 2e-3;
/// Maximum number of successive pushes out of static bodies.
const PUSHES_MAX: usize = 4;

/// A shape, and the bodies on which it may stand.
pub(super) struct Ground<'a> {
    pub queries: &'a rapier::QueryPipeline<'a>,
    pub shape: &'a dyn rapier::Shape,
    pub up: Vec3,
    /// Angle of the steepest ground, in radians.
    pub slope_max: f32,
}

impl Ground<'_> {
    fn is_walkable(&self, upward: f32) -> bool {
        upward >= sin_cos(self.slope_max).1 - SLOPE_TOLERANCE
    }

    /// Returns true if a hit is a slope on which the shape cannot stand.
    fn is_steep(&self, hit: &CharacterCollision) -> bool {
        let upward = hit.hit.normal1.dot(self.up);
        upward > SLOPE_MIN && !self.is_walkable(upward)
    }

    /// Returns the owner of the body directly below the shape, and true if the shape can stand on
    /// it.
    fn below(&self, position: Vec3) -> Option<(BodyOwner, bool)> {
        let pose = rapier::Pose::from_parts(position, Quat::IDENTITY);
        let options = ShapeCastOptions { max_time_of_impact: 1.0, ..ShapeCastOptions::default() };
        let way = self.up * -(SKIN + GROUND);
        let (collider, hit) = self.queries.cast_shape(&pose, way, self.shape, options)?;
        let upward = hit.normal1.dot(self.up).abs();
        Some((self.queries.colliders.get(collider)?.user_data, self.is_walkable(upward)))
    }

    /// Returns true if ground is at most `distance` metres below the middle of the shape's foot.
    fn is_within(&self, position: Vec3, distance: f32) -> bool {
        let half_height = self.shape.compute_local_aabb().half_extents().dot(self.up.abs());
        let ray = rapier::Ray::new(position, -self.up);
        let length = half_height + distance + SKIN + GROUND;
        let found = self.queries.cast_ray_and_get_normal(&ray, length, true);
        found.is_some_and(|(_, hit)| self.is_walkable(hit.normal.dot(self.up).abs()))
    }
}

/// Movement of a shape along the upward direction.
pub(super) struct Motion {
    pub from: Vec3,
    /// Requested displacement without its upward part.
    pub level: Vec3,
    /// True if the shape stands on the ground at the start.
    pub grounded_before: bool,
    /// Requested distance along the upward direction, in metres.
    pub rise: f32,
    /// Part of `rise` that was in the first move.
    pub press: f32,
    /// Maximum distance by which the shape is snapped down to falling ground, in metres.
    pub snap: f32,
}

impl Motion {
    /// Returns the end of a move, after the shape fell the distance that the first move left.
    pub fn land(
        &self,
        mut moved: EffectiveCharacterMovement,
        (stride, ground): (&ShapeMove, &Ground),
        hits: &mut Vec<CharacterCollision>,
    ) -> Landing {
        let Motion { from, grounded_before, rise, press, snap, .. } = *self;
        if grounded_before && rise <= 0.0 {
            self.keep_pace(&mut moved, (stride, ground), hits);
        }
        let rests = grounded_before && rise <= 0.0;
        let touches = moved.grounded || rests || hit_sides(hits, ground.up)[2];
        let mut landing = Landing::new(ground, from + moved.translation, touches);
        if rise > 0.0 {
            landing.grounded &= moved.grounded;
            return landing;
        }
        let held = grounded_before && moved.grounded;
        let fall = match landing.grounded {
            true => press,
            // It slides down from what it touches.
            false if held => rise.min(-PRESS),
            false => rise,
        };
        let climbed = moved.translation.dot(ground.up);
        let on_step = climbed > CLIMB_MIN;
        let rest = match on_step {
            true if moved.grounded => 0.0,
            true => fall - press,
            false => fall - climbed,
        };
        landing = landing.fall_on((stride, ground), rest, hits);
        // It stands while it climbs a step, and on the edge of a step down.
        landing.grounded |= (on_step && (grounded_before || moved.grounded))
            || (held && snap > 0.0 && ground.is_within(landing.position, snap));
        landing
    }

    /// Moves the shape along walkable slopes until its horizontal position is that of a move on
    /// level ground. The controller projects moves onto slopes, which shortens them uphill and
    /// turns them aside.
    fn keep_pace(
        &self,
        moved: &mut EffectiveCharacterMovement,
        (stride, ground): (&ShapeMove, &Ground),
        hits: &mut Vec<CharacterCollision>,
    ) {
        let up = ground.up;
        let level = |vector: Vec3| vector - up * vector.dot(up);
        for corrections in 0..=PACE_CORRECTIONS_MAX {
            let is_slope = |hit: &CharacterCollision| ground.is_walkable(hit.hit.normal1.dot(up));
            let Some(last) = hits.last().filter(|_| hits.iter().all(is_slope)) else { return };
            let normal = last.hit.normal1;
            let missing = self.level - level(moved.translation);
            let distance = missing.length();
            if distance <= PACE_UNCHECKED {
                if distance > PACE_MIN {
                    moved.translation += missing - up * (missing.dot(normal) / normal.dot(up));
                }
                return;
            }
            if corrections == PACE_CORRECTIONS_MAX {
                return;
            }
            // The projection of this way onto the slope has the missing part as its level part.
            let (tilt, upward) = (level(normal), normal.dot(up));
            let way = missing + tilt * (missing.dot(tilt) / (upward * upward));
            let next = stride.slide(ground.queries, self.from + moved.translation, way, hits);
            moved.translation += next.translation;
            moved.grounded = next.grounded;
        }
    }
}

/// End of a move of a shape.
pub(super) struct Landing {
    pub position: Vec3,
    pub grounded: bool,
    pub standing_on: Option<BodyOwner>,
}

impl Landing {
    /// Returns the end of a move, with the ground below it. `touches` is true if the shape may
    /// touch ground.
    fn new(ground: &Ground, position: Vec3, touches: bool) -> Landing {
        let below = touches.then(|| ground.below(position)).flatten();
        Landing {
            position,
            grounded: below.is_some_and(|(_, walkable)| walkable),
            standing_on: below.map(|(owner, _)| owner),
        }
    }

    /// Lets the shape fall by the part of a move in which it did not fall, `rest` along the upward
    /// direction, if it does not stand or a steep slope stopped it.
    fn fall_on(
        self,
        (stride, ground): (&ShapeMove, &Ground),
        rest: f32,
        hits: &mut Vec<CharacterCollision>,
    ) -> Landing {
        // A shape that moves against a steep slope stops there, because it cannot climb it.
        let stopped = hits.iter().any(|hit| ground.is_steep(hit));
        if rest > -FALL_MIN || (self.grounded && !stopped) {
            return self;
        }
        let fell = stride.slide(ground.queries, self.position, ground.up * rest, hits).translation;
        let mut landing = Landing::new(ground, self.position + fell, true);
        // Between two steep slopes, it stands.
        let slide = WEDGED * sin_cos(ground.slope_max).0.powi(2) * rest;
        landing.grounded |= fell.dot(ground.up) > slide;
        landing
    }
}

/// Returns the end of a move from one position to another, outside of the static bodies that the
/// shape entered on its way.
pub(super) fn keep_out(
    queries: &rapier::QueryPipeline<'_>,
    bodies: &rapier::RigidBodySet,
    shape: &dyn rapier::Shape,
    (from, to): (Vec3, Vec3),
    in_plane: impl Fn(Vec3) -> Vec3,
) -> Vec3 {
    if shape.as_composite_shape().is_some() {
        // parry finds contacts of these shapes where there are none.
        return to;
    }
    let counted = queries.filter.predicate;
    let is_static = |handle, collider: &rapier::Collider| {
        let body = collider.parent().and_then(|body| bodies.get(body));
        body.is_none_or(rapier::RigidBody::is_fixed)
            && counted.is_none_or(|counted| counted(handle, collider))
    };
    let filter = rapier::QueryFilter { predicate: Some(&is_static), ..queries.filter };
    let statics = rapier::QueryPipeline { filter, ..*queries };
    let overlap = |at| {
        let found = deepest_overlap(&statics, shape, at);
        found.filter(|overlap| overlap.depth > OVERLAP_MAX)
    };
    let Some(mut inside) = overlap(to) else { return to };
    if overlap(from).is_some() {
        // It leaves bodies in which it was before.
        return to;
    }
    let mut position = to;
    for _ in 0..PUSHES_MAX {
        position += in_plane(inside.out) * (inside.depth + SKIN);
        match overlap(position) {
            Some(next) => inside = next,
            None => return position,
        }
    }
    from
}
