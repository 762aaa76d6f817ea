//! The Rust part of the Lua module `PhysicsWorld`: gravity, bodies without units, saved states,
//! queries. Functions with options are in the prelude (lua/world/physics/), around the native
//! parts at the end.

pub(super) mod flat_shapes;
pub(super) mod queries;
pub mod raycast;
pub(super) mod snapshots;

use crate::api_row::{ModuleRows, func, hot, module};
use crate::context;
use engine_foundation::{Error, Quat, Vec3};
use engine_physics::{BodyDesc, ColliderDesc, ColliderShape, MotionType, Simulation};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::physics::{ActorId, JointId, PhysicsWorldId, SnapshotId};

pub(in crate::api) const PHYSICS: (&str, &str) = ("physics_world", "the physics of a world");

pub static PHYSICS_WORLD: ModuleRows = module(
    "PhysicsWorld",
    "The physics of a world, in which bodies fall and collide. `World.physics_world` returns it. \
     `World.update` advances it in steps of a fixed length.",
    r#"local world = Application.new_world()
local physics = World.physics_world(world)
PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0))
local ball = PhysicsWorld.spawn_sphere(physics, Vector3(0, 0, 3), 0.5)
for _ = 1, 60 do World.update(world, 1 / 60) end
assert(Actor.position(ball).z < 1)
local hit, position = PhysicsWorld.raycast(physics, Vector3(5, 0, 9), Vector3.down(), 20)
assert(hit and position.z == 0)
Application.release_world(world)"#,
    &[
        hot(
            "gravity",
            gravity,
            &[PHYSICS],
            "Returns gravity, the acceleration of falling bodies in metres per second squared.",
        )
        .pure(),
        func(
            "set_gravity",
            set_gravity,
            &[PHYSICS, ("gravity", "metres per second squared")],
            "Sets gravity, and wakes all actors.",
        ),
        func(
            "latency",
            latency,
            &[PHYSICS],
            "Returns the time in seconds by which the state that scripts read is behind the step \
             that was started last. It is 0, except in a world with \"pipelined_physics\". There, \
             each update shows the result of the step that the previous update started, and the \
             delay is the length of the last update.",
        )
        .pure(),
        func("num_actors", num_actors, &[PHYSICS], "Returns the number of actors.").pure(),
        func(
            "num_awake",
            num_awake,
            &[PHYSICS],
            "Returns the number of actors that are moved by forces and do not sleep.",
        )
        .pure(),
        func(
            "spawn_box",
            spawn_box,
            &[
                PHYSICS,
                ("position", "center of the box"),
                (
                    "half_extents",
                    "half the lengths of its edges, in metres (the `size` in unit files is whole); \
                     in 2D worlds, z can be left out: the box is then a metre deep",
                ),
                ("rotation", "rotation of the box; none by default"),
            ],
            "Creates a dynamic box that belongs to no unit.",
        ),
        func(
            "spawn_sphere",
            spawn_sphere,
            &[PHYSICS, ("position", "center of the sphere"), ("radius", "metres")],
            "Creates a dynamic sphere that belongs to no unit.",
        ),
        func(
            "spawn_plane",
            spawn_plane,
            &[
                PHYSICS,
                ("position", "a point on its surface"),
                ("normal", "direction out of the ground; up by default"),
            ],
            "Creates an infinite static ground that belongs to no unit.",
        ),
        func(
            "destroy_actor",
            destroy_actor,
            &[PHYSICS, ("actor", "the actor to destroy")],
            "Destroys an actor. Its handle is stale afterwards.",
        )
        .when_full(),
        func("wake_actors", wake_actors, &[PHYSICS], "Wakes all actors that sleep."),
        func(
            "set_debug_draw",
            set_debug_draw,
            &[PHYSICS, ("enabled", "true to show the shapes")],
            "Shows the shapes of actors as lines, from the next `World.update` on. Dynamic actors \
             are green, sleeping ones blue, static ones grey, kinematic ones orange, and triggers \
             pink. Shows nothing in a release.",
        ),
        func(
            "destroy_joint",
            destroy_joint,
            &[PHYSICS, ("joint", "the joint to destroy")],
            "Destroys a joint. Its handle is stale afterwards.",
        )
        .when_full(),
        func(
            "drop_snapshot",
            drop_snapshot,
            &[PHYSICS, ("snapshot", "result of `snapshot`")],
            "Releases a snapshot.",
        )
        .when_full(),
    ],
);

/// Native functions on which the prelude's functions of `World` are built.
pub static WORLD_CORE: ModuleRows = module(
    "World",
    "Native functions on the physics of a world, for the prelude.",
    "assert(core == nil)",
    &[func("physics_world", physics_world, &[("world", "")], "Returns the physics of a world.")],
);

fn physics_world(engine: &mut Engine, world: WorldId) -> Result<PhysicsWorldId, Error> {
    engine.physics_world(world)
}

fn gravity(engine: &mut Engine, physics: PhysicsWorldId) -> Vec3 {
    engine.worlds.physics.world(physics).simulation.gravity()
}

fn set_gravity(engine: &mut Engine, physics: PhysicsWorldId, gravity: Vec3) -> Result<(), Error> {
    if gravity.length() > 1.0e4 {
        return Err(engine_foundation::error!(
            "argument #2 'gravity' must be at most 10,000 metres a second for each second, got {}",
            gravity.length()
        ));
    }
    engine.worlds.physics.world_mut(physics).simulation.set_gravity(gravity);
    Ok(())
}

fn latency(engine: &mut Engine, physics: PhysicsWorldId) -> f64 {
    let known = engine.worlds.physics.world(physics);
    let (world, is_async) = (known.world, known.simulation.is_async());
    if is_async { engine.worlds.world(world).delta } else { 0.0 }
}

fn num_actors(engine: &mut Engine, physics: PhysicsWorldId) -> u64 {
    engine.worlds.physics.actors.iter().filter(|(_, actor)| actor.physics == physics).count() as u64
}

fn num_awake(engine: &mut Engine, physics: PhysicsWorldId) -> u64 {
    engine.worlds.physics.world(physics).simulation.awake() as u64
}

fn one_part(position: Vec3, shape: ColliderShape) -> BodyDesc {
    BodyDesc {
        position,
        parts: vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }],
        ..BodyDesc::DEFAULT
    }
}

/// Checks and normalizes a rotation.
///
/// # Errors
/// Returns an error if the rotation's length is not 1.
pub(in crate::api) fn check_rotation(rotation: Quat, argument: &str) -> Result<Quat, Error> {
    match (rotation.length_squared() - 1.0).abs() <= 1e-3 {
        true => Ok(rotation.normalize()),
        false => Err(engine_foundation::error!(
            "argument {argument} must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        )),
    }
}

fn spawn_box(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    half: Vec3,
    rotation: Option<Quat>,
) -> Result<ActorId, Error> {
    let rotation = check_rotation(rotation.unwrap_or(Quat::IDENTITY), "#4 'rotation'")?;
    let half = with_depth(&engine.worlds.physics.world(physics).simulation, half);
    let body = BodyDesc { rotation, ..one_part(position, ColliderShape::Box { half }) };
    engine.worlds.physics.spawn_actor(physics, body)
}

/// Returns half the size of a box. In a two-dimensional world, a box without a depth is a metre
/// deep.
pub(in crate::api) fn with_depth(simulation: &Simulation, half: Vec3) -> Vec3 {
    if simulation.is_flat() && half.z == 0.0 { half.with_z(0.5) } else { half }
}

fn spawn_sphere(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    radius: f64,
) -> Result<ActorId, Error> {
    let body = one_part(position, ColliderShape::Sphere { radius: radius as f32 });
    engine.worlds.physics.spawn_actor(physics, body)
}

fn spawn_plane(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    normal: Option<Vec3>,
) -> Result<ActorId, Error> {
    if normal.is_some_and(|normal| normal.try_normalize().is_none()) {
        return Err(engine_foundation::error!("argument #3 'normal' must not be zero"));
    }
    let body = one_part(position, ColliderShape::Plane { normal });
    engine.worlds.physics.spawn_actor(physics, BodyDesc { motion: MotionType::Static, ..body })
}

/// Checks that an actor can be destroyed through this physics world.
///
/// # Errors
/// Returns an error if the actor is in another world, or belongs to a mover.
fn check_ownership(engine: &Engine, physics: PhysicsWorldId, actor: ActorId) -> Result<(), Error> {
    let known = engine.worlds.physics.actor(actor);
    if known.mover.is_some() {
        return Err(engine_foundation::error!(
            "argument #2 'actor': it belongs to a mover, and ends with its unit"
        ));
    }
    match known.physics == physics {
        true => Ok(()),
        false => {
            Err(engine_foundation::error!("argument #2 'actor': it is in another physics world"))
        }
    }
}

fn destroy_actor(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    actor: ActorId,
) -> Result<(), Error> {
    check_ownership(engine, physics, actor)?;
    let frame = engine.frame.index;
    engine.worlds.physics.end_actor(actor, frame, &context::script_location());
    Ok(())
}

fn wake_actors(engine: &mut Engine, physics: PhysicsWorldId) {
    engine.worlds.physics.world_mut(physics).simulation.wake_all();
}

fn set_debug_draw(engine: &mut Engine, physics: PhysicsWorldId, enabled: bool) {
    engine.worlds.physics.world_mut(physics).debug_draw = enabled;
}

fn destroy_joint(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    joint: JointId,
) -> Result<(), Error> {
    let known = engine.worlds.physics.joints.get(joint.0).expect("it was checked");
    if known.physics != physics {
        return Err(engine_foundation::error!(
            "argument #2 'joint': it is in another physics world"
        ));
    }
    let frame = engine.frame.index;
    engine.worlds.physics.end_joint(joint, frame, &context::script_location());
    Ok(())
}

fn drop_snapshot(engine: &mut Engine, _: PhysicsWorldId, kept: SnapshotId) {
    let frame = engine.frame.index;
    engine.worlds.physics.snapshots.remove(kept.0, "", frame, &context::script_location());
}
