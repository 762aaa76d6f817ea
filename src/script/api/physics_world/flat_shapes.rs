//! The native part of `PhysicsWorld.spawn_chain` and `PhysicsWorld.spawn_polygon`
//! (lua/world/physics/shapes.lua): bodies of 2D worlds made of lists of points.

use super::{PHYSICS, one_part};
use crate::api_row::{ModuleRows, func, more};
use crate::argument::ByteArgument;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec2, Vec3};
use engine_physics::{BodyDesc, ColliderShape, MotionType};
use engine_runtime::Engine;
use engine_world::physics::{ActorId, PhysicsWorldId};

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = more(
    "PhysicsWorld",
    &[
        func(
            "spawn_chain",
            spawn_chain,
            &[PHYSICS, ("points", ""), ("options", "")],
            "Creates a body from the bytes of the points of a chain.",
        )
        .public_name("PhysicsWorld.spawn_chain"),
        func(
            "spawn_polygon",
            spawn_polygon,
            &[PHYSICS, ("position", ""), ("points", ""), ("options", "")],
            "Creates a body from the bytes of the points of a polygon.",
        )
        .public_name("PhysicsWorld.spawn_polygon"),
    ],
);

fn spawn_chain(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    points: ByteArgument,
    options: ScriptValue,
) -> Result<ActorId, Error> {
    let options = ShapeOptions::new(options);
    let shape = ColliderShape::Chain { points: vectors(points), closed: options.flag("closed") };
    let mut body = options.body(engine, Vec3::ZERO, shape)?;
    (body.motion, body.one_way) = (MotionType::Static, options.flag("one_way"));
    engine.worlds.physics.spawn_actor(physics, body)
}

fn spawn_polygon(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    points: ByteArgument,
    options: ScriptValue,
) -> Result<ActorId, Error> {
    let shape = ColliderShape::Polygon { points: vectors(points) };
    let body = ShapeOptions::new(options).body(engine, position, shape)?;
    let body = BodyDesc { motion: MotionType::Dynamic, ..body };
    engine.worlds.physics.spawn_actor(physics, body)
}

/// Returns the points in bytes, two floats each.
fn vectors(points: ByteArgument) -> Vec<Vec2> {
    let word = |four: &[u8]| f32::from_le_bytes(four.try_into().expect("four bytes"));
    let points = points.as_slice().chunks_exact(8);
    points.map(|pair| Vec2::new(word(&pair[..4]), word(&pair[4..]))).collect()
}

/// Options of a body, which the prelude has checked.
struct ShapeOptions(Vec<(String, ScriptValue)>);

impl ShapeOptions {
    fn new(options: ScriptValue) -> ShapeOptions {
        let ScriptValue::Table(options) = options else {
            unreachable!("the prelude passes a table")
        };
        ShapeOptions(options)
    }

    fn value(&self, name: &str) -> Option<&ScriptValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn flag(&self, name: &str) -> bool {
        self.value(name) == Some(&ScriptValue::Boolean(true))
    }

    fn number(&self, name: &str) -> Option<f32> {
        match self.value(name) {
            Some(ScriptValue::Number(number)) => Some(*number as f32),
            _ => None,
        }
    }

    /// Returns a body of one shape.
    fn body(
        &self,
        engine: &mut Engine,
        position: Vec3,
        shape: ColliderShape,
    ) -> Result<BodyDesc, Error> {
        let mut body = one_part(position, shape);
        let part = &mut body.parts[0];
        part.friction = self.number("friction").unwrap_or(part.friction);
        part.restitution = self.number("restitution").unwrap_or(part.restitution).min(1.0);
        part.density = self.number("density").unwrap_or(part.density).max(f32::MIN_POSITIVE);
        if let Some(ScriptValue::Text(name)) = self.value("collision_filter") {
            let properties = engine.worlds.physics_properties(&mut engine.assets)?;
            body.filter = properties.filters[properties.filter(name)?].1;
        }
        Ok(body)
    }
}
