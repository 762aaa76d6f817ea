//! The row of the component `physics`: its fields, and what the engine does with it.

use super::template::{check_actors, check_joints, check_movers};
use super::{ActorId, PhysicsTables};
use crate::WorldId;
use crate::component::{ComponentField, FieldDefault, FieldKind};
use crate::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use crate::unit::UnitId;
use crate::unit_resource::ComponentSource;
use crate::unit_template::{TemplateBuilder, UnitTemplate};
use engine_foundation::Error;
use engine_foundation::text_format::{quoted, significant, vector3};
use engine_physics::MotionType;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use std::sync::Arc;

/// The component `physics` of unit files.
pub static PHYSICS: Component = Component {
    name: "physics",
    doc: "Actors that fall and collide, movers that walk, joints between actors.",
    fields: &[
        ComponentField {
            name: "actors",
            kind: FieldKind::Checked(check_actors),
            default: FieldDefault::None,
            doc: "bodies by name, each with a type and a shape",
        },
        ComponentField {
            name: "movers",
            kind: FieldKind::Checked(check_movers),
            default: FieldDefault::None,
            doc: "walking shapes by name; the mover begins with the first",
        },
        ComponentField {
            name: "joints",
            kind: FieldKind::Checked(check_joints),
            default: FieldDefault::None,
            doc: "connections of two actors, by name",
        },
    ],
    in_node_order: false,
    read,
    spawn,
    end: |host, _, unit, location| host.physics.end_unit(unit, host.frame, location),
    // Bodies follow their nodes in the physics step.
    moved: None,
    hide: None,
    // The state of physics is hashed by object, see `PhysicsTables::each_state`, and kept by
    // snapshots.
    state: None,
    inspect: Some((InspectSection::Physics, inspect)),
    reload: Some(reload),
};

fn read(part: &ComponentSource, _: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let physics = Arc::make_mut(builder.template.physics.get_or_insert_default());
    Ok(physics.add(&part.fields)?)
}

/// Creates the physics objects of a unit. The engine has created the physics of the world, unless
/// the world was created without physics.
fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let Some(spec) = template.physics.as_ref().filter(|spec| !spec.is_empty()) else {
        return Ok(());
    };
    match host.physics.of_world(world) {
        Some(physics) => host.physics.spawn((unit, physics), host.units, spec, host.store),
        None => Ok(()),
    }
}

/// Gives existing actors the shapes of changed models, and reads the game's properties again.
/// Existing actors keep their properties.
fn reload(host: &mut ComponentHost, changed: &ChangedResources) {
    if changed.any(ReloadStep::CollisionShapes) {
        host.physics.reload_shapes(host.store, changed);
    }
    if changed.any(ReloadStep::PhysicsProperties) {
        host.physics.reload_properties(host.store);
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let physics = view.physics;
    for index in 0..physics.num_actors(unit) {
        let at = index + 1;
        lines.push(match physics.unit_actor(unit, index) {
            None => format!("actor {at} ended"),
            Some(actor) => format!("actor {at} {}", inspect_actor(physics, actor)),
        });
    }
    if let Some(mover) = physics.unit_mover(unit) {
        let mover = physics.mover(mover);
        let ground = if mover.standing_frames > 0 { ", on the ground" } else { "" };
        let (name, position) = (quoted(&mover.spec.name), vector3(mover.position));
        lines.push(format!("mover {name} at {position}{ground}"));
    }
}

fn inspect_actor(physics: &PhysicsTables, id: ActorId) -> String {
    let (actor, (simulation, body)) = (physics.actor(id), physics.body(id));
    let (kind, mass) = match simulation.motion(body) {
        MotionType::Static => ("static", 0.0),
        MotionType::Kinematic => ("kinematic", simulation.mass(body)),
        MotionType::Dynamic => ("dynamic", simulation.mass(body)),
    };
    format!(
        "{} {} on node {} at {}, {} kg, velocity {}{}",
        quoted(&actor.name),
        if actor.trigger { "trigger" } else { kind },
        actor.node + 1,
        vector3(simulation.position(body)),
        significant(mass.into(), 6),
        vector3(simulation.velocity(body)),
        if simulation.is_sleeping(body) { ", asleep" } else { "" },
    )
}
