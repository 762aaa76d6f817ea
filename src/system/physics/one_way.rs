//! One-way platforms: bodies whose contacts hold only what comes from above. Everything else passes
//! through them. Dynamic bodies are handled by a hook of rapier's steps, characters by the list of
//! platforms that a move passes.

use super::character_controller::SKIN;
use super::limbs;
use super::{BodyId, ColliderShape, QueryFilter, Simulation};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{
    ActiveHooks, ColliderHandle, ContactModificationContext, PairFilterContext, SolverFlags,
};

/// Minimum upward part of a contact normal at which a platform holds a body.
const FACING: f32 = 0.5;
/// Depth in metres up to which a body rests on a platform, although it does not fall onto it.
const SLOP: f32 = 0.05;
/// Depth in metres up to which a character stands on a platform.
const FEET_DEPTH: f32 = 2.0 * SKIN;
/// Distance in metres around the path of a character in which platforms are considered.
const PATH_MARGIN: f32 = 0.5;
/// Distance in metres from a platform at which a character has left it.
const LEFT_DISTANCE: f32 = 0.06;

/// Limbs modify contacts, too. The filter of triggers, which accepts all of them, tells platforms
/// from these.
const ONE_WAY_HOOKS: ActiveHooks =
    ActiveHooks::MODIFY_SOLVER_CONTACTS.union(ActiveHooks::FILTER_INTERSECTION_PAIR);

/// States of a contact manifold, in its user data.
const UNKNOWN: u32 = 0;
const HOLDS: u32 = 1;
const PASSES: u32 = 2;

/// Returns true if a collider belongs to a one-way platform.
pub(super) fn is_one_way(collider: &rapier::Collider) -> bool {
    collider.active_hooks().contains(ONE_WAY_HOOKS)
}

/// Returns the hooks of a collider.
pub(super) fn hooks(one_way: bool) -> ActiveHooks {
    if one_way { ONE_WAY_HOOKS } else { ActiveHooks::empty() }
}

/// Removes the contacts of bodies that pass through platforms, and those inside of groups. Softens
/// those of limbs.
pub(super) struct OneWayHooks {
    pub up: Vec3,
    pub step_seconds: f32,
}

impl rapier::PhysicsHooks for OneWayHooks {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let group = |collider: ColliderHandle| {
            context.colliders.get(collider).map_or(0, |collider| collider.user_data >> 64)
        };
        let [one, two] = [group(context.collider1), group(context.collider2)];
        (one == 0 || one != two).then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let pair = [context.collider1, context.collider2];
        let mut has_platform = false;
        for (at, sign) in [(0, 1.0), (1, -1.0)] {
            if context.colliders.get(pair[at]).is_some_and(is_one_way) {
                self.update(context, at, sign);
                has_platform = true;
            }
        }
        if !has_platform {
            limbs::soften(context, self.step_seconds);
        }
    }
}

impl OneWayHooks {
    /// Updates the contacts of a manifold whose collider with index `at` is a platform. `sign` is
    /// that of the normal that points away from it.
    fn update(&self, context: &mut ContactModificationContext, at: usize, sign: f32) {
        let bodies = [context.rigid_body1, context.rigid_body2];
        let [platform, other] = [bodies[at], bodies[1 - at]].map(|body| context.bodies.get(body?));
        let up = platform.map_or(self.up, |body| *body.rotation() * self.up);
        let Some(rigid) = context.rigid_mut() else { return };
        let out = *rigid.normal * sign;
        let upward = out.dot(up);
        let state = match *rigid.user_data {
            _ if rigid.solver_contacts.is_empty() => UNKNOWN,
            // The shapes touch at one point, and the direction is not known yet.
            _ if out.length_squared() < 0.1 => UNKNOWN,
            HOLDS if upward > 0.0 => HOLDS,
            UNKNOWN if upward >= FACING => {
                let velocity = |body: Option<&rapier::RigidBody>, point: Vec3| {
                    body.map_or(Vec3::ZERO, |body| body.velocity_at_point(point))
                };
                // What was above the platform one step ago is held, however fast it fell.
                let was_above = rigid.solver_contacts.iter().all(|contact| {
                    let point = contact.anchor1;
                    let approach = -(velocity(other, point) - velocity(platform, point)).dot(out);
                    -contact.dist <= approach.max(0.0) * self.step_seconds + SLOP
                });
                if was_above { HOLDS } else { PASSES }
            }
            PASSES if upward >= FACING => {
                let free = rigid.solver_contacts.iter().all(|contact| contact.dist > 0.0);
                if free { HOLDS } else { PASSES }
            }
            _ => PASSES,
        };
        *rigid.user_data = state;
        if state != HOLDS {
            rigid.solver_contacts.clear();
        }
    }
}

/// Movement of a character's shape.
pub(super) struct CharacterPath<'a> {
    pub shape: &'a dyn rapier::Shape,
    pub from: Vec3,
    pub displacement: Vec3,
    pub up: Vec3,
    /// Maximum slope on which it stands, in radians.
    pub slope_max: f32,
}

impl Simulation {
    /// Makes a body a one-way platform, or an ordinary body.
    pub fn set_one_way(&mut self, body: BodyId, one_way: bool) {
        self.change(move |it| {
            it.each_collider(body, |collider| {
                let group = limbs::hooks(limbs::is_limb(collider));
                collider.set_active_hooks(hooks(one_way) | group);
            });
            it.wake_touching(body);
        });
    }

    /// Returns true if a body is a one-way platform.
    pub fn is_one_way(&self, body: BodyId) -> bool {
        let first = self.body(body).colliders().first();
        first.and_then(|handle| self.collider(*handle)).is_some_and(is_one_way)
    }

    /// Returns the colliders of the one-way platforms that a character passes on its path: those
    /// that it overlaps, and those that it does not reach from above.
    pub(super) fn passed_platforms(
        &self,
        path: &CharacterPath,
        query: &QueryFilter,
    ) -> Vec<ColliderHandle> {
        let queries = self.world.query_pipeline_with_filter(query.rapier());
        let pose = rapier::Pose::from_parts(path.from, Quat::IDENTITY);
        let bounds = path
            .shape
            .compute_swept_aabb(&pose, &pose.append_translation(path.displacement))
            .loosened(PATH_MARGIN);
        let near = queries.intersect_aabb_conservative(bounds);
        near.filter(|(_, collider)| is_one_way(collider) && !self.platform_holds(path, collider))
            .map(|(handle, _)| handle)
            .collect()
    }

    /// Returns true if a one-way platform holds a character on its path.
    fn platform_holds(&self, path: &CharacterPath, collider: &rapier::Collider) -> bool {
        if path.displacement.dot(path.up) > 0.0 || !self.platform_supports(path, collider) {
            return false;
        }
        let pose = rapier::Pose::from_parts(path.from, Quat::IDENTITY);
        let between = pose.inv_mul(collider.position());
        let options = ShapeCastOptions {
            max_time_of_impact: 1.0,
            target_distance: SKIN,
            ..ShapeCastOptions::default()
        };
        // The platform moves relative to the character, which is not rotated.
        let found = self.world.narrow_phase.query_dispatcher().cast_shapes(
            &between,
            -path.displacement,
            path.shape,
            collider.shape(),
            options,
        );
        found.ok().flatten().is_none_or(|hit| path.is_upward(-hit.normal1, self.up_of(collider)))
    }

    /// Returns true if a character at the beginning of its path is outside of a one-way platform,
    /// or rests on it.
    pub(super) fn platform_supports(
        &self,
        path: &CharacterPath,
        collider: &rapier::Collider,
    ) -> bool {
        let pose = rapier::Pose::from_parts(path.from, Quat::IDENTITY);
        let between = pose.inv_mul(collider.position());
        let dispatcher = self.world.narrow_phase.query_dispatcher();
        let found = dispatcher.contact(&between, path.shape, collider.shape(), 0.0);
        let Some(contact) = found.ok().flatten() else { return true };
        let body = collider.parent().and_then(|body| self.world.bodies.get(body));
        let rise = body.map_or(0.0, |body| body.linvel().dot(path.up).max(0.0));
        let depth_max = FEET_DEPTH + rise * self.step_seconds();
        -contact.dist <= depth_max && path.is_upward(-contact.normal1, self.up_of(collider))
    }

    /// Returns the direction from which a platform holds bodies.
    fn up_of(&self, collider: &rapier::Collider) -> Vec3 {
        let body = collider.parent().and_then(|body| self.world.bodies.get(body));
        body.map_or(self.up(), |body| *body.rotation() * self.up())
    }

    /// Returns true if a character's shape is at a body, or overlaps it.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn is_near(&self, shape: &ColliderShape, at: Vec3, body: BodyId) -> Result<bool, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let pose = rapier::Pose::from_parts(at, Quat::IDENTITY);
        let dispatcher = self.world.narrow_phase.query_dispatcher();
        let colliders = self.body(body).colliders().iter().filter_map(|it| self.collider(*it));
        let mut distances = colliders.filter_map(|collider| {
            let between = pose.inv_mul(collider.position());
            dispatcher.distance(&between, &*shape, collider.shape()).ok()
        });
        Ok(distances.any(|shapes| shapes.distance < LEFT_DISTANCE))
    }
}

impl CharacterPath<'_> {
    /// Returns true if a character can stand on a surface with this normal, on a platform with this
    /// upward direction.
    fn is_upward(&self, normal: Vec3, up: Vec3) -> bool {
        normal.dot(up) >= sin_cos(self.slope_max).1.max(FACING)
    }
}
