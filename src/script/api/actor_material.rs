//! What `Actor` says of how smooth and how bouncy an actor is, and how that is changed.

use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::arg::Text;
use crate::script::row::{Module, func, more};
use crate::world::physics::ActorId;

const ACTOR_ARG: (&str, &str) = ("actor", "an actor");

/// Rubber on rubber is 1; more than this is taken for a mistake.
const FRICTION_MAX: f64 = 1000.0;

pub static ACTOR: Module = more(
    "Actor",
    &[
        func("friction", friction, &[ACTOR_ARG], "How rough it is: 0 is ice, 1 rubber.").pure(),
        func(
            "restitution",
            restitution,
            &[ACTOR_ARG],
            "How much of a hit's speed it gives back: 0 is clay, 1 a perfect ball.",
        )
        .pure(),
        func(
            "material",
            material_name,
            &[ACTOR_ARG],
            "The name of the material of the physics properties that it was given last, by its \
             unit's file or `Actor.set_material`; nil if none.",
        )
        .pure(),
        func(
            "set_friction",
            set_friction,
            &[ACTOR_ARG, ("friction", "0 is ice, 1 rubber")],
            "Makes it rougher or smoother, and wakes it and what touches it.",
        ),
        func(
            "set_restitution",
            set_restitution,
            &[ACTOR_ARG, ("restitution", "0 to 1")],
            "Sets how much of a hit's speed it gives back.",
        ),
        func(
            "set_material",
            set_material,
            &[ACTOR_ARG, ("material", "the name of a material of the physics properties")],
            "Gives it a material's friction and restitution. Its mass stays as it is.",
        ),
    ],
);

type Done = Result<(), Error>;

fn material(engine: &Engine, actor: ActorId) -> (f32, f32) {
    let (physics, body) = engine.physics.body(actor);
    physics.material(body)
}

fn material_name(engine: &mut Engine, actor: ActorId) -> Option<String> {
    engine.physics.actor(actor).material.as_deref().map(str::to_string)
}

fn friction(engine: &mut Engine, actor: ActorId) -> f64 {
    material(engine, actor).0.into()
}

fn restitution(engine: &mut Engine, actor: ActorId) -> f64 {
    material(engine, actor).1.into()
}

fn put(engine: &mut Engine, actor: ActorId, friction: f32, restitution: f32) {
    let (physics, body) = engine.physics.body_mut(actor);
    physics.set_material(body, friction, restitution);
}

fn set_friction(engine: &mut Engine, actor: ActorId, friction: f64) -> Done {
    if !(0.0..=FRICTION_MAX).contains(&friction) {
        return Err(crate::error!(
            "argument #2 'friction' must be 0 to {FRICTION_MAX}, got {friction}"
        ));
    }
    let (_, restitution) = material(engine, actor);
    put(engine, actor, friction as f32, restitution);
    Ok(())
}

fn set_restitution(engine: &mut Engine, actor: ActorId, restitution: f64) -> Done {
    if !(0.0..=1.0).contains(&restitution) {
        return Err(crate::error!(
            "argument #2 'restitution' must be 0 to 1, got {restitution}: more would make it \
             faster with each hit"
        ));
    }
    let (friction, _) = material(engine, actor);
    put(engine, actor, friction, restitution as f32);
    Ok(())
}

fn set_material(engine: &mut Engine, actor: ActorId, name: Text) -> Done {
    let properties = engine.physics_properties()?;
    let material = properties.material(name.as_str())?;
    let (friction, restitution) = (material.friction, material.restitution);
    put(engine, actor, friction, restitution);
    engine.physics.actor_mut(actor).material = Some(name.as_str().into());
    Ok(())
}
