//! Ragdolls whose bodies are described by the unit's own physics: its actors at nodes of bones, and
//! the joints between them.

use crate::physics::{ActorDesc, JointDesc, PhysicsTemplate, ShapeForm};
use engine_animation::RigidTransform;
use engine_animation::Skeleton;
use engine_animation::ragdoll::{BodyShape, DescribedBody, JointLimits, RagdollSettings};
use engine_foundation::{Error, Quat, Vec3, error};
use engine_physics::{ColliderShape, JointKind};
use std::f32::consts::PI;

/// Adds the bodies and the limits of joints of a unit's physics to the settings of a ragdoll.
/// Limits that the settings have already take precedence.
///
/// # Errors
/// Returns an error that names the actor or the joint that a ragdoll cannot have.
pub(super) fn add_actors(
    settings: &mut RagdollSettings,
    skeleton: &Skeleton,
    physics: &PhysicsTemplate,
) -> Result<(), Error> {
    for actor in &physics.actors {
        let Some(bone) = bone_of(skeleton, actor) else { continue };
        let (shape, offset) = body_shape(actor)?;
        if let Some(known) = settings.described.iter().find(|known| known.bone == bone) {
            return Err(error!(
                "the actors '{}' and '{}' are both at the bone '{bone}', and a ragdoll has one \
                 body for each bone",
                known.name, actor.name
            ));
        }
        let (name, bone, mass) = (actor.name.clone(), bone.to_string(), actor.body.mass);
        settings.described.push(DescribedBody { name, bone, shape, offset, mass });
    }
    if settings.described.is_empty() {
        return Err(error!(
            "'actors' of the ragdoll needs actors in the component 'physics' whose 'node' is a bone"
        ));
    }
    for joint in &physics.joints {
        let Some((bone, limits)) = joint_limits(settings, skeleton, joint)? else { continue };
        if !settings.limits.iter().any(|(known, _)| *known == bone) {
            settings.limits.push((bone, limits));
        }
    }
    Ok(())
}

/// Returns the name of the bone that an actor is at.
fn bone_of<'a>(skeleton: &Skeleton, actor: &'a ActorDesc) -> Option<&'a str> {
    actor.node.as_deref().filter(|node| skeleton.find(node).is_some())
}

fn body_shape(actor: &ActorDesc) -> Result<(BodyShape, RigidTransform), Error> {
    let name = &actor.name;
    let [shape] = &actor.shapes[..] else {
        return Err(error!(
            "the actor '{name}' has {} shapes, and a body of a ragdoll has one",
            actor.shapes.len()
        ));
    };
    let body = match &shape.form {
        ShapeForm::Collider(ColliderShape::Box { half }) => BodyShape::Box { half: *half },
        ShapeForm::Collider(ColliderShape::Sphere { radius }) => {
            BodyShape::Sphere { radius: *radius }
        }
        ShapeForm::Collider(ColliderShape::Capsule { half_height, radius }) => {
            BodyShape::Capsule { half_height: *half_height, radius: *radius }
        }
        _ => {
            return Err(error!(
                "the shape of the actor '{name}' cannot be that of a ragdoll's body: use a \
                 capsule, a box or a sphere"
            ));
        }
    };
    let (position, rotation) = (shape.position, shape.rotation);
    Ok((body, RigidTransform { position, rotation }))
}

/// Returns true if a bone is below another one.
fn is_below(skeleton: &Skeleton, bone: u16, above: u16) -> bool {
    let mut next = skeleton.parents()[usize::from(bone)];
    while let Some(parent) = next {
        if parent == above {
            return true;
        }
        next = skeleton.parents()[usize::from(parent)];
    }
    false
}

/// Returns the rotation of a bone at rest in model space.
fn rest_rotation(skeleton: &Skeleton, bone: u16) -> Quat {
    let (mut rotation, mut next) = (Quat::IDENTITY, Some(bone));
    while let Some(current) = next {
        rotation = skeleton.rest()[usize::from(current)].rotation * rotation;
        next = skeleton.parents()[usize::from(current)];
    }
    rotation.normalize()
}

/// Returns the limits of a joint between two bodies, with the name of the lower bone. Joints with
/// other actors are none of the ragdoll.
fn joint_limits(
    settings: &RagdollSettings,
    skeleton: &Skeleton,
    joint: &JointDesc,
) -> Result<Option<(String, JointLimits)>, Error> {
    let body = |actor: &str| {
        let described = settings.described.iter().find(|described| described.name == actor)?;
        Some((described.bone.as_str(), skeleton.find(&described.bone)?))
    };
    let (first, second) = (body(&joint.actors.0), joint.actors.1.as_deref().and_then(body));
    let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
    let is_second = is_below(skeleton, second.1, first.1);
    let (name, bone) = if is_second { second } else { first };
    if !is_second && !is_below(skeleton, first.1, second.1) {
        return Err(error!(
            "the joint '{}' connects '{}' and '{}', of which none is below the other one in the \
             skeleton",
            joint.name, first.0, second.0
        ));
    }
    let limits = match joint.kind {
        JointKind::Fixed => JointLimits::Ball { swing: 0.0, twist: 0.0 },
        JointKind::Ball => JointLimits::Ball { swing: PI, twist: PI },
        JointKind::Hinge => {
            let node = joint.node.as_deref().and_then(|node| skeleton.find(node));
            let frame = node.map_or(Quat::IDENTITY, |node| rest_rotation(skeleton, node));
            let axis = frame * joint.axis.unwrap_or(Vec3::Z);
            let axis = rest_rotation(skeleton, bone).conjugate() * axis;
            let [least, most] = joint.limits.unwrap_or([-PI, PI]).map(|it| it.clamp(-PI, PI));
            // The angle of a joint is that of its second actor relative to the first one.
            let angles = if is_second { [least, most] } else { [-most, -least] };
            JointLimits::Hinge { axis, angles }
        }
        _ => {
            return Err(error!(
                "the joint '{}' cannot be one of a ragdoll: use the type fixed, ball or hinge",
                joint.name
            ));
        }
    };
    Ok(Some((name.to_string(), limits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_animation::BoneTransform;
    use engine_animation::ragdoll::Ragdoll;
    use engine_foundation::sjson;

    fn skeleton() -> Skeleton {
        let up = BoneTransform { position: Vec3::Z, ..BoneTransform::IDENTITY };
        let turned = BoneTransform { rotation: Quat::from_rotation_z(PI / 2.0), ..up };
        let bone = |name: &str, parent, rest| (name.to_string(), parent, rest);
        let bones = [("hip", None, up), ("chest", Some(0), turned), ("head", Some(1), up)];
        Skeleton::new(bones.map(|(name, parent, rest)| bone(name, parent, rest)).to_vec()).unwrap()
    }

    fn ragdoll(text: &str) -> Result<Ragdoll, String> {
        let mut physics = PhysicsTemplate::default();
        physics.add(&sjson::parse(text).unwrap().to_tree()).map_err(|error| error.message)?;
        let mut settings = RagdollSettings::DEFAULT;
        let added = add_actors(&mut settings, &skeleton(), &physics);
        added.and_then(|()| Ragdoll::generate(&skeleton(), &settings)).map_err(|it| it.message)
    }

    const ACTORS: &str = "
        box = { type = \"kinematic\" node = \"hip\" shape = \"box\" size = [0.4, 0.2, 0.2]
            mass = 9 }
        ball = { type = \"kinematic\" node = \"head\" shape = \"sphere\" radius = 0.2
            position = [0, 0, 0.3] }
        capsule = { type = \"kinematic\" node = \"chest\" shape = \"capsule\" radius = 0.1
            height = 0.6 }
        hull = { type = \"static\" shape = \"box\" size = [1, 1, 1] }";

    #[test]
    fn actors_and_joints_of_the_unit_become_bodies() {
        let generated = ragdoll(&format!(
            "actors = {{ {ACTORS} }} joints = {{
                neck = {{ type = \"hinge\" actors = [\"ball\", \"capsule\"] axis = [1, 0, 0]
                    limits = [-10, 30] }}
                waist = {{ type = \"fixed\" actors = [\"box\", \"capsule\"] }}
                hook = {{ type = \"rope\" actors = [\"box\", \"hull\"] }}
            }}"
        ));
        let generated = generated.unwrap();
        let bodies = generated.bodies();
        let bones: Vec<u16> = bodies.iter().map(|body| body.bone).collect();
        assert_eq!(bones, [0, 1, 2]);
        assert_eq!(bodies[0].shape, BodyShape::Box { half: Vec3::new(0.2, 0.1, 0.1) });
        assert_eq!(bodies[2].shape, BodyShape::Sphere { radius: 0.2 });
        assert_eq!(bodies[2].offset.position, Vec3::Z * 0.3);
        assert_eq!(bodies[0].mass, 9.0);
        assert!(bodies[1].mass > 1.0 && bodies[2].mass > 1.0, "a share of the rest by volume");
        let JointLimits::Hinge { axis, angles } = bodies[2].limits else { panic!("a hinge") };
        // The head is turned by a right angle, and is the first actor of its joint.
        assert!((axis - Vec3::NEG_Y).length() < 1e-5, "{axis}");
        let degrees = angles.map(|angle| angle.to_degrees().round());
        assert_eq!(degrees, [-30.0, 10.0]);
        assert_eq!(bodies[1].limits, JointLimits::Ball { swing: 0.0, twist: 0.0 });
    }

    #[test]
    fn actors_that_are_no_bodies_are_refused_by_name() {
        let check = |text: &str, message: &str| {
            let found = ragdoll(text).unwrap_err();
            assert!(found.contains(message), "{found}");
        };
        let actor = |name: &str, rest: &str| {
            format!("actors = {{ {ACTORS} {name} = {{ type = \"kinematic\" {rest} }} }}")
        };
        check("actors = { a = { type = \"static\" shape = \"plane\" } }", "whose 'node' is a bone");
        check(
            &actor("twin", "node = \"hip\" shape = \"sphere\" radius = 1"),
            "'box' and 'twin' are both at the bone 'hip'",
        );
        check(
            "actors = { a = { type = \"kinematic\" node = \"hip\" shape = \"cylinder\" radius = 1 \
             height = 2 } }",
            "the shape of the actor 'a' cannot be that of a ragdoll's body: use a capsule",
        );
        check(
            "actors = { a = { type = \"kinematic\" node = \"hip\" shapes = [
                { shape = \"sphere\" radius = 1 } { shape = \"sphere\" radius = 1 } ] } }",
            "the actor 'a' has 2 shapes",
        );
        let joint = |text: &str| format!("actors = {{ {ACTORS} }} joints = {{ j = {{ {text} }} }}");
        check(
            &joint("type = \"slider\" actors = [\"box\", \"capsule\"]"),
            "the joint 'j' cannot be one of a ragdoll: use the type fixed, ball or hinge",
        );
    }
}
