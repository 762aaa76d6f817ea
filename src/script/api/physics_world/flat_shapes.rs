//! The native part of `PhysicsWorld.spawn_chain` and `PhysicsWorld.spawn_polygon`
//! (lua/world/physics/shapes.lua): bodies of 2D worlds made of lists of points.

use super::{PHYSICS, one_part};
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{ByteArgument, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec2, Vec3};
use engine_physics::{BodyDesc, ColliderShape, MotionType};
use engine_runtime::Engine;
use engine_world::physics::{ActorId, PhysicsWorldId};

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = more(
    "PhysicsWorld",
    &[func(
        "spawn_points",
        spawn_points,
        &[PHYSICS, ("shape", ""), ("position", ""), ("points", ""), ("options", "")],
        "Creates a body from the bytes of its points.",
    )
    .public_name("PhysicsWorld.spawn_chain")],
);

fn spawn_points(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    shape: TextArgument,
    position: Vec3,
    points: ByteArgument,
    options: ScriptValue,
) -> Result<ActorId, Error> {
    let ScriptValue::Table(options) = options else { unreachable!("the prelude passes a table") };
    let option = |name: &str| options.iter().find(|(known, _)| known == name).map(|(_, it)| it);
    let flag = |name: &str| option(name) == Some(&ScriptValue::Boolean(true));
    let number = |name: &str| match option(name) {
        Some(ScriptValue::Number(number)) => Some(*number as f32),
        _ => None,
    };
    let word = |four: &[u8]| f32::from_le_bytes(four.try_into().expect("four bytes"));
    let points = points.as_slice().chunks_exact(8);
    let points: Vec<Vec2> =
        points.map(|pair| Vec2::new(word(&pair[..4]), word(&pair[4..]))).collect();
    let is_chain = shape.as_str() == "chain";
    let mut body = one_part(
        position,
        match is_chain {
            true => ColliderShape::Chain { points, closed: flag("closed") },
            false => ColliderShape::Polygon { points },
        },
    );
    let part = &mut body.parts[0];
    part.friction = number("friction").unwrap_or(part.friction);
    part.restitution = number("restitution").unwrap_or(part.restitution).min(1.0);
    part.density = number("density").unwrap_or(part.density).max(f32::MIN_POSITIVE);
    if let Some(ScriptValue::Text(name)) = option("collision_filter") {
        let properties = engine.worlds.physics_properties(&mut engine.assets)?;
        body.filter = properties.filters[properties.filter(name)?].1;
    }
    let motion = if is_chain { MotionType::Static } else { MotionType::Dynamic };
    let body = BodyDesc { motion, one_way: flag("one_way"), ..body };
    engine.worlds.physics.spawn_actor(physics, body)
}
