//! Limbs: bodies that are parts of one character. They do not collide with their group, do not spin
//! about their long axis, and stop at other shapes with limited accelerations, as flesh does.

use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ActiveHooks, ContactModificationContext};

/// Least moment of inertia of a limb, as a part of the largest. Joints of thin bodies that turn
/// easily about their long axis are unstable.
const INERTIA_RATIO_MIN: f32 = 0.4;
/// Largest acceleration in metres per second squared by which a contact stops a limb, if it stops
/// within [`STOP_DISTANCE`] metres after a step. One of more than 4.8 m/s stops at once.
const STOP_ACCELERATION: f32 = 60.0;
const STOP_DISTANCE: f32 = 0.04;
/// Depth that a limb may reach, as a part of half its smallest size. The normal of a contact turns
/// round when the middle of a limb passes a surface without thickness.
const DEPTH_RATIO: f32 = 0.5;
/// Speed in metres per second below which a limb does not sink in further.
const REST_SPEED: f32 = 0.1;
/// Largest depth in metres that a contact corrects at once: limbs that overlap other shapes leave
/// them with at most 0.2 m/s.
const PUSH_DEPTH: f32 = 0.01;

/// Returns the hooks of a collider.
pub(super) fn hooks(limb: bool) -> ActiveHooks {
    match limb {
        true => ActiveHooks::FILTER_CONTACT_PAIRS | ActiveHooks::MODIFY_SOLVER_CONTACTS,
        false => ActiveHooks::empty(),
    }
}

/// Returns true if a collider belongs to a limb.
pub(super) fn is_limb(collider: &rapier::Collider) -> bool {
    collider.active_hooks().contains(ActiveHooks::FILTER_CONTACT_PAIRS)
}

/// Sets the mass properties of a limb, whose smallest moment of inertia is at least
/// [`INERTIA_RATIO_MIN`] of the largest.
pub(super) fn widen_inertia(collider: &mut rapier::Collider) {
    let old = collider.mass_properties();
    let inertia = old.principal_inertia();
    let least = inertia.max_element() * INERTIA_RATIO_MIN;
    let (center, frame) = (old.local_com, old.principal_inertia_local_frame);
    let widened = MassProperties::with_principal_inertia_frame(
        center,
        old.mass(),
        inertia.max(rapier::Vector::splat(least)),
        frame,
    );
    collider.set_mass_properties(widened);
}

/// Limits the accelerations by which the contacts of a limb stop it, the depth that it reaches, and
/// the speed by which they push it out of the other shape.
pub(super) fn soften(context: &mut ContactModificationContext, step_seconds: f32) {
    let [first, second] =
        [context.rigid_body1, context.rigid_body2].map(|body| context.bodies.get(body?));
    let depth_max = [context.collider1, context.collider2]
        .into_iter()
        .filter_map(|collider| context.colliders.get(collider))
        .filter(|collider| is_limb(collider))
        .map(|limb| limb.shape().ccd_thickness() * DEPTH_RATIO)
        .fold(f32::INFINITY, f32::min);
    let Some(rigid) = context.rigid_mut() else { return };
    // Flesh does not bounce.
    *rigid.restitution = 0.0;
    let normal = *rigid.normal;
    let velocity = |body: Option<&rapier::RigidBody>, point| {
        body.map_or(rapier::Vector::ZERO, |body| body.velocity_at_point(point))
    };
    for contact in rigid.solver_contacts.iter_mut() {
        let point = contact.anchor1;
        // The normal points from the first shape to the second.
        let speed = (velocity(first, point) - velocity(second, point)).dot(normal).max(0.0);
        let stop = STOP_ACCELERATION.max(speed * speed * 0.5 / STOP_DISTANCE);
        let slowed = stop * step_seconds;
        // Shapes may approach by the distance of a contact. What is left of it after the last of
        // the solver's four parts of a step limits the speed after the step.
        let soft = if speed > slowed {
            step_seconds * (speed + 0.25 * (speed - slowed))
        } else if speed > REST_SPEED && speed <= STOP_ACCELERATION * step_seconds {
            step_seconds * speed
        } else {
            -PUSH_DEPTH
        };
        let allowed = soft.min((contact.dist + depth_max).max(-PUSH_DEPTH));
        contact.dist = contact.dist.max(allowed);
    }
}
