//! The Lua module `Actor`: functions that get and set the friction and restitution of an actor.

use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::physics::ActorId;

const ACTOR_ARG: (&str, &str) = ("actor", "an actor");

/// Maximum friction. Rubber on rubber is 1; a value above the maximum is treated as a mistake.
const FRICTION_MAX: f64 = 1000.0;

pub static ACTOR: ModuleRows = more(
    "Actor",
    &[
        func(
            "friction",
            friction,
            &[ACTOR_ARG],
            "Returns the friction of an actor: 0 is like ice, 1 like rubber.",
        )
        .pure(),
        func(
            "restitution",
            restitution,
            &[ACTOR_ARG],
            "Returns the restitution of an actor, the share of an impact's speed that it gives \
             back: 0 is like clay, 1 like a perfect ball.",
        )
        .pure(),
        func(
            "material",
            material_name,
            &[ACTOR_ARG],
            "Returns the name of the physics material that was applied last, by the unit's file or \
             by `Actor.set_material`; nil if there is none.",
        )
        .pure(),
        func(
            "set_friction",
            set_friction,
            &[ACTOR_ARG, ("friction", "0 is like ice, 1 like rubber")],
            "Sets the friction of an actor, and wakes it and everything that touches it.",
        ),
        func(
            "set_restitution",
            set_restitution,
            &[ACTOR_ARG, ("restitution", "0 to 1")],
            "Sets the restitution of an actor, the share of an impact's speed that it gives back.",
        ),
        func(
            "set_material",
            set_material,
            &[ACTOR_ARG, ("material", "the name of a material in the physics properties")],
            "Sets the friction and the restitution of an actor to those of a material. Its mass \
             does not change.",
        ),
    ],
);

type ActorResult = Result<(), Error>;

fn material(engine: &Engine, actor: ActorId) -> (f32, f32) {
    let (physics, body) = engine.worlds.physics.body(actor);
    physics.material(body)
}

fn material_name(engine: &mut Engine, actor: ActorId) -> Option<String> {
    engine.worlds.physics.actor(actor).material.as_deref().map(str::to_string)
}

fn friction(engine: &mut Engine, actor: ActorId) -> f64 {
    material(engine, actor).0.into()
}

fn restitution(engine: &mut Engine, actor: ActorId) -> f64 {
    material(engine, actor).1.into()
}

fn set_body_material(engine: &mut Engine, actor: ActorId, friction: f32, restitution: f32) {
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_material(body, friction, restitution);
}

fn set_friction(engine: &mut Engine, actor: ActorId, friction: f64) -> ActorResult {
    if !(0.0..=FRICTION_MAX).contains(&friction) {
        return Err(engine_foundation::error!(
            "argument #2 'friction' must be 0 to {FRICTION_MAX}, got {friction}"
        ));
    }
    let (_, restitution) = material(engine, actor);
    set_body_material(engine, actor, friction as f32, restitution);
    Ok(())
}

fn set_restitution(engine: &mut Engine, actor: ActorId, restitution: f64) -> ActorResult {
    if !(0.0..=1.0).contains(&restitution) {
        return Err(engine_foundation::error!(
            "argument #2 'restitution' must be 0 to 1, got {restitution}: more would make it \
             faster with each hit"
        ));
    }
    let (friction, _) = material(engine, actor);
    set_body_material(engine, actor, friction, restitution as f32);
    Ok(())
}

fn set_material(engine: &mut Engine, actor: ActorId, name: TextArgument) -> ActorResult {
    let properties = engine.worlds.physics_properties(&mut engine.assets)?;
    let material = properties.material(name.as_str())?;
    let (friction, restitution) = (material.friction, material.restitution);
    set_body_material(engine, actor, friction, restitution);
    engine.worlds.physics.actor_mut(actor).material = Some(name.as_str().into());
    Ok(())
}
