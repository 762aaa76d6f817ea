//! `PhysicsWorld`, its part in Rust: gravity, bodies without units, kept states, questions. What
//! takes options is in the prelude (lua/physics.lua), around the native parts at the end.

use crate::engine::Engine;
use crate::foundation::{Error, Quat, Vec3};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::system::physics::{Body, Motion, Part, Shape};
use crate::world::WorldId;
use crate::world::physics::{ActorId, JointId, PhysicsWorldId, SnapshotId};

pub(super) const PHYSICS: (&str, &str) = ("physics_world", "the physics of a world");

pub static PHYSICS_WORLD: Module = module(
    "PhysicsWorld",
    "The physics of a world: what falls and collides in it. `World.physics_world` gives it. \
     `World.update` moves it on in steps of one length.",
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
            "What falls is sped up by this, in metres a second \
             for each second.",
        )
        .pure(),
        func(
            "set_gravity",
            set_gravity,
            &[PHYSICS, ("gravity", "metres a second for each second")],
            "Sets gravity, and wakes what sleeps.",
        ),
        func(
            "latency",
            latency,
            &[PHYSICS],
            "Seconds by which what scripts read of it is behind the step that was begun last: 0, \
             but in a world with \"pipelined_physics\", where each update shows what the one \
             before it began: then the length of the last update.",
        )
        .pure(),
        func("num_actors", num_actors, &[PHYSICS], "How many actors there are.").pure(),
        func(
            "num_awake",
            num_awake,
            &[PHYSICS],
            "How many of them forces move now: those that do not sleep.",
        )
        .pure(),
        func(
            "spawn_box",
            spawn_box,
            &[
                PHYSICS,
                ("position", "where its middle is"),
                ("half_extents", "half the lengths of its edges, in metres"),
                ("rotation", "how it is turned; not at all if left out"),
            ],
            "Makes a dynamic box that belongs to no unit.",
        ),
        func(
            "spawn_sphere",
            spawn_sphere,
            &[PHYSICS, ("position", "where its middle is"), ("radius", "metres")],
            "Makes a dynamic sphere that belongs to no unit.",
        ),
        func(
            "spawn_plane",
            spawn_plane,
            &[
                PHYSICS,
                ("position", "a point of its surface"),
                ("normal", "out of the ground; up if left out"),
            ],
            "Makes static ground without an end, which belongs to no unit.",
        ),
        func(
            "destroy_actor",
            destroy_actor,
            &[PHYSICS, ("actor", "the actor to end")],
            "Ends an actor. Its handle is stale from then on.",
        )
        .when_full(),
        func("wake_actors", wake_actors, &[PHYSICS], "Wakes everything that sleeps."),
        func(
            "set_debug_draw",
            set_debug_draw,
            &[PHYSICS, ("enabled", "whether actors are shown")],
            "Shows the shapes of actors as lines, from the next `World.update` on: green ones \
             move, blue ones sleep, grey ones are static, orange ones kinematic, pink ones \
             triggers. Nothing is shown in a release.",
        ),
        func(
            "destroy_joint",
            destroy_joint,
            &[PHYSICS, ("joint", "the joint to end")],
            "Ends a joint. Its handle is stale from then on.",
        )
        .when_full(),
        func("snapshot", snapshot, &[PHYSICS], "Keeps the whole state in memory, for `restore`."),
        func(
            "restore",
            restore,
            &[PHYSICS, ("snapshot", "what `snapshot` returned")],
            "Brings a state back: what follows is what followed, to the last bit. Actors that \
             ended since stay ended, those that came since stay as they are.",
        ),
        func(
            "drop_snapshot",
            drop_snapshot,
            &[PHYSICS, ("snapshot", "what `snapshot` returned")],
            "Lets go of a state that was kept.",
        )
        .when_full(),
    ],
);

/// What the prelude's functions of `World` stand on.
pub static WORLD_CORE: Module = module(
    "World",
    "Physics of a world, for the prelude.",
    "assert(core == nil)",
    &[func("physics_world", physics_world, &[("world", "")], "The physics of a world.")],
);

fn physics_world(engine: &mut Engine, world: WorldId) -> Result<PhysicsWorldId, Error> {
    engine.physics_world(world)
}

fn gravity(engine: &mut Engine, physics: PhysicsWorldId) -> Vec3 {
    engine.physics.world(physics).simulation.gravity()
}

fn set_gravity(engine: &mut Engine, physics: PhysicsWorldId, gravity: Vec3) -> Result<(), Error> {
    if gravity.length() > 1.0e4 {
        return Err(crate::error!(
            "argument #2 'gravity' must be at most 10,000 metres a second for each second, got {}",
            gravity.length()
        ));
    }
    engine.physics.world_mut(physics).simulation.set_gravity(gravity);
    Ok(())
}

fn latency(engine: &mut Engine, physics: PhysicsWorldId) -> f64 {
    let known = engine.physics.world(physics);
    let (world, beside) = (known.world, known.simulation.is_beside());
    if beside { engine.world(world).delta } else { 0.0 }
}

fn num_actors(engine: &mut Engine, physics: PhysicsWorldId) -> u64 {
    engine.physics.actors.iter().filter(|(_, actor)| actor.physics == physics).count() as u64
}

fn num_awake(engine: &mut Engine, physics: PhysicsWorldId) -> u64 {
    engine.physics.world(physics).simulation.awake() as u64
}

fn one_part(position: Vec3, shape: Shape) -> Body {
    Body { position, parts: vec![Part { shape, ..Part::DEFAULT }], ..Body::DEFAULT }
}

/// # Errors
/// The rotation's length is not 1.
pub(super) fn check_rotation(rotation: Quat, place: &str) -> Result<Quat, Error> {
    match (rotation.length_squared() - 1.0).abs() <= 1e-3 {
        true => Ok(rotation.normalize()),
        false => Err(crate::error!(
            "argument {place} must have length 1, this one has {}: use Quaternion.normalize",
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
    let body = Body { rotation, ..one_part(position, Shape::Box { half }) };
    engine.physics.spawn_actor(physics, body)
}

fn spawn_sphere(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    radius: f64,
) -> Result<ActorId, Error> {
    let body = one_part(position, Shape::Sphere { radius: radius as f32 });
    engine.physics.spawn_actor(physics, body)
}

fn spawn_plane(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    position: Vec3,
    normal: Option<Vec3>,
) -> Result<ActorId, Error> {
    let normal = normal.unwrap_or(Vec3::Z).try_normalize();
    let normal = normal.ok_or_else(|| crate::error!("argument #3 'normal' must not be zero"))?;
    let body = one_part(position, Shape::Plane { normal });
    engine.physics.spawn_actor(physics, Body { motion: Motion::Static, ..body })
}

/// # Errors
/// The actor is in another world, or a mover's.
fn own(engine: &Engine, physics: PhysicsWorldId, actor: ActorId) -> Result<(), Error> {
    let known = engine.physics.actor(actor);
    if known.mover.is_some() {
        return Err(crate::error!("argument #2 'actor': it is a mover's, and ends with its unit"));
    }
    match known.physics == physics {
        true => Ok(()),
        false => Err(crate::error!("argument #2 'actor': it is in another physics world")),
    }
}

fn destroy_actor(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    actor: ActorId,
) -> Result<(), Error> {
    own(engine, physics, actor)?;
    let frame = engine.frame.index;
    engine.physics.end_actor(actor, frame, &cx::place());
    Ok(())
}

fn wake_actors(engine: &mut Engine, physics: PhysicsWorldId) {
    engine.physics.world_mut(physics).simulation.wake_all();
}

fn set_debug_draw(engine: &mut Engine, physics: PhysicsWorldId, enabled: bool) {
    engine.physics.world_mut(physics).debug_draw = enabled;
}

fn destroy_joint(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    joint: JointId,
) -> Result<(), Error> {
    let known = engine.physics.joints.get(joint.0).expect("it was checked");
    if known.physics != physics {
        return Err(crate::error!("argument #2 'joint': it is in another physics world"));
    }
    let frame = engine.frame.index;
    engine.physics.end_joint(joint, frame, &cx::place());
    Ok(())
}

fn snapshot(engine: &mut Engine, physics: PhysicsWorldId) -> Result<SnapshotId, Error> {
    engine.physics.snapshot(physics)
}

fn restore(engine: &mut Engine, physics: PhysicsWorldId, kept: SnapshotId) -> Result<(), Error> {
    let Engine { physics: tables, units, .. } = engine;
    tables.restore(physics, kept, units)
}

fn drop_snapshot(engine: &mut Engine, _: PhysicsWorldId, kept: SnapshotId) {
    let frame = engine.frame.index;
    engine.physics.snapshots.remove(kept.0, "", frame, &cx::place());
}
