//! `PhysicsWorld`, its part in Rust: gravity, bodies without units, kept states, questions. What
//! takes options is in the prelude (lua/physics.lua), around the native parts at the end.

use crate::engine::Engine;
use crate::foundation::{Error, Quat, Vec3};
use crate::script::arg::{Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::physics::{
    Body, HITS_MAX, Hit, JointKind, JointPlan, Kinds, Link, Motion, PLACE_MAX, Part, Query, Shape,
    Touch,
};
use crate::world::WorldId;
use crate::world::physics::{
    ActorId, JointId, PhysicsTables, PhysicsWorldId, SnapshotId, unit_number,
};

const PHYSICS: (&str, &str) = ("physics_world", "the physics of a world");

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
        func("num_actors", num_actors, &[PHYSICS], "How many actors there are.").pure(),
        func("num_awake", num_awake, &[PHYSICS], "How many of them move, and do not sleep.").pure(),
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
        ),
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
        ),
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
        ),
    ],
);

/// What the prelude's functions stand on. They carry the names by which games know them.
pub static CORE: Module = module(
    "PhysicsWorld",
    "Questions and lists, for the prelude.",
    "assert(core == nil)",
    &[
        func("physics_filters", physics_filters, &[], "The names of the collision filters.").pure(),
        func(
            "raycast",
            raycast,
            &[
                PHYSICS,
                ("from", ""),
                ("direction", ""),
                ("length", ""),
                ("filter", ""),
                ("kinds", ""),
                ("all", ""),
            ],
            "Flat numbers of what a ray meets.",
        )
        .pure(),
        func(
            "overlap",
            overlap,
            &[
                PHYSICS,
                ("shape", ""),
                ("position", ""),
                ("size", ""),
                ("rotation", ""),
                ("filter", ""),
                ("kinds", ""),
            ],
            "The actors in a shape.",
        )
        .pure(),
        func(
            "sweep",
            sweep,
            &[
                PHYSICS,
                ("shape", ""),
                ("from", ""),
                ("to", ""),
                ("size", ""),
                ("rotation", ""),
                ("most", ""),
                ("asked", ""),
            ],
            "Flat numbers of what a shape meets.",
        )
        .pure(),
        func("contacts", contacts, &[PHYSICS], "Flat numbers of contacts.").pure(),
        func("triggers", triggers, &[PHYSICS], "Flat numbers of touches of triggers.").pure(),
        func("broken_joints", broken_joints, &[PHYSICS], "Joints that broke.").pure(),
        func(
            "create_joint",
            create_joint,
            &[
                PHYSICS,
                ("kind", ""),
                ("actor_1", ""),
                ("actor_2", ""),
                ("position", ""),
                ("other", ""),
                ("axis", ""),
                ("options", ""),
            ],
            "Makes a joint.",
        ),
    ],
);

/// What the prelude's functions of `World` stand on.
pub static WORLD_CORE: Module = module(
    "World",
    "Physics of a world, for the prelude.",
    "assert(core == nil)",
    &[
        func("physics_world", physics_world, &[("world", "")], "The physics of a world."),
        func(
            "update",
            update_physics,
            &[("world", ""), ("delta", "")],
            "Moves physics on; whether there is any.",
        ),
    ],
);

fn physics_world(engine: &mut Engine, world: WorldId) -> Result<PhysicsWorldId, Error> {
    engine.physics_world(world)
}

fn update_physics(engine: &mut Engine, world: WorldId, delta: f64) -> Result<bool, Error> {
    engine.update_physics(world, delta)?;
    Ok(engine.physics.of_world(world).is_some())
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
    engine.physics.restore(physics, kept)
}

fn drop_snapshot(engine: &mut Engine, _: PhysicsWorldId, kept: SnapshotId) {
    let frame = engine.frame.index;
    engine.physics.snapshots.remove(kept.0, "", frame, &cx::place());
}

fn physics_filters(engine: &mut Engine) -> Result<Vec<String>, Error> {
    let properties = engine.physics_properties()?;
    Ok(properties.filters.iter().map(|(name, _)| name.clone()).collect())
}

/// A question of a filter's place (from 1; 0 is everything) and of kinds, from 0.
pub(super) fn query_of(tables: &PhysicsTables, filter: u32, kinds: u32) -> Option<Query> {
    let kinds = *Kinds::LIST.get(kinds as usize)?;
    if filter == 0 {
        return Some(Query { kinds, ..Query::DEFAULT });
    }
    let properties = tables.properties.as_ref()?;
    let (_, filter) = properties.filters.get(filter as usize - 1)?;
    Some(Query { types: filter.collides, kinds, ..Query::DEFAULT })
}

/// # Errors
/// The filters changed since the prelude asked for their places.
fn asked(engine: &Engine, filter: Integer, kinds: Integer) -> Result<Query, Error> {
    let query = query_of(&engine.physics, filter.0 as u32, kinds.0 as u32);
    query.ok_or_else(|| {
        crate::error!("its collision filter is no longer there: make the question anew")
    })
}

/// The first that a ray meets.
///
/// # Errors
/// Its direction is zero, or its length cannot be.
pub(super) fn cast(
    tables: &PhysicsTables,
    physics: PhysicsWorldId,
    from: Vec3,
    direction: Vec3,
    length: f64,
    query: &Query,
) -> Result<Option<Hit>, Error> {
    let (direction, length) = ray(from, direction, length)?;
    Ok(tables.world(physics).simulation.raycast(from, direction, length, query))
}

fn ray(from: Vec3, direction: Vec3, length: f64) -> Result<(Vec3, f32), Error> {
    if !(length > 0.0 && length <= f64::from(PLACE_MAX)) {
        return Err(crate::error!(
            "argument #4 'length' must be more than 0 and at most {PLACE_MAX} metres, got {length}"
        ));
    }
    let squared = direction.length_squared();
    // A direction of length 1 stays as it is.
    let direction = match (squared - 1.0).abs() < 1e-6 {
        true => Some(direction),
        false => direction.try_normalize(),
    };
    match direction {
        Some(direction) if from.is_finite() && squared.is_finite() => {
            Ok((direction, length as f32))
        }
        _ => Err(crate::error!(
            "argument #3 'direction' must have a length, and all of the ray be finite"
        )),
    }
}

/// A hit as numbers: the actor, the position, the normal, the distance.
fn push_hit(list: &mut Vec<Value>, hit: &Hit) {
    let [x, y, z] = hit.position.to_array();
    let [a, b, c] = hit.normal.to_array();
    list.push(Value::Number(hit.owner as u64 as f64));
    let numbers = [x, y, z, a, b, c, hit.distance];
    list.extend(numbers.map(|number| Value::Number(number.into())));
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn raycast(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    from: Vec3,
    direction: Vec3,
    length: f64,
    filter: Integer,
    kinds: Integer,
    all: bool,
) -> Result<Value, Error> {
    let query = asked(engine, filter, kinds)?;
    let mut list = Vec::new();
    if all {
        let (direction, length) = ray(from, direction, length)?;
        let mut hits = Vec::new();
        let simulation = &engine.physics.world(physics).simulation;
        simulation.raycast_all(from, direction, length, &query, &mut hits);
        hits.iter().for_each(|hit| push_hit(&mut list, hit));
    } else if let Some(hit) = cast(&engine.physics, physics, from, direction, length, &query)? {
        push_hit(&mut list, &hit);
    }
    Ok(Value::List(list))
}

/// A shape of a question: the size's meaning depends on the shape.
fn shape_of(name: &str, size: Vec3) -> Result<Shape, Error> {
    let shape = match name {
        "sphere" => Shape::Sphere { radius: size.x },
        "capsule" => {
            let half_height = size.z * 0.5 - size.x;
            if half_height <= 0.0 {
                return Err(crate::error!(
                    "a capsule's height must be more than twice its radius, got the height {} and \
                     the radius {}",
                    size.z,
                    size.x
                ));
            }
            Shape::Capsule { half_height, radius: size.x }
        }
        _ => Shape::Box { half: size },
    };
    shape.check()?;
    Ok(shape)
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn overlap(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    shape: Text,
    position: Vec3,
    size: Vec3,
    rotation: Quat,
    filter: Integer,
    kinds: Integer,
) -> Result<Value, Error> {
    let (query, shape) = (asked(engine, filter, kinds)?, shape_of(shape.as_str(), size)?);
    let rotation = check_rotation(rotation, "'rotation'")?;
    let simulation = &engine.physics.world(physics).simulation;
    let owners = simulation.overlap(&shape, position, rotation, &query)?;
    let numbers = owners.iter().map(|owner| Value::Number(*owner as u64 as f64));
    Ok(Value::List(numbers.collect()))
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn sweep(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    shape: Text,
    from: Vec3,
    to: Vec3,
    size: Vec3,
    rotation: Quat,
    most: Integer,
    filter_and_kinds: Integer,
) -> Result<Value, Error> {
    let (filter, kinds) = (filter_and_kinds.0 / 8, filter_and_kinds.0 % 8);
    let query = asked(engine, Integer(filter), Integer(kinds))?;
    if !(1..=HITS_MAX as i64).contains(&most.0) {
        return Err(crate::error!("'max_hits' must be 1 to {HITS_MAX}, got {}", most.0));
    }
    let shape = shape_of(shape.as_str(), size)?;
    let pose = (from, check_rotation(rotation, "'rotation'")?);
    let simulation = &engine.physics.world(physics).simulation;
    let mut list = Vec::new();
    for hit in simulation.sweep(&shape, pose, to, most.0 as usize, &query)? {
        push_hit(&mut list, &hit);
    }
    Ok(Value::List(list))
}

/// Of each contact: actor and unit of both, position, normal, impulse.
fn contacts(engine: &mut Engine, physics: PhysicsWorldId) -> Value {
    let (contacts, _) = engine.physics.world(physics).simulation.contacts();
    let mut list = Vec::with_capacity(contacts.len() * 11);
    for contact in contacts {
        for owner in contact.owners {
            list.push(Value::Number(owner as u64 as f64));
            list.push(Value::Number(unit_number(owner)));
        }
        for vector in [contact.position, contact.normal] {
            list.extend(vector.to_array().map(|number| Value::Number(number.into())));
        }
        list.push(Value::Number(contact.impulse.into()));
    }
    Value::List(list)
}

/// Of each touch: actor and unit of the trigger and of the other, and whether it began.
fn triggers(engine: &mut Engine, physics: PhysicsWorldId) -> Value {
    let (_, triggers) = engine.physics.world(physics).simulation.contacts();
    let mut list = Vec::with_capacity(triggers.len() * 5);
    for touch in triggers {
        for owner in [touch.trigger, touch.other] {
            list.push(Value::Number(owner as u64 as f64));
            list.push(Value::Number(unit_number(owner)));
        }
        list.push(Value::Boolean(touch.touch == Touch::Began));
    }
    Value::List(list)
}

fn broken_joints(engine: &mut Engine, physics: PhysicsWorldId) -> Value {
    let broken = engine.physics.world(physics).simulation.broken();
    Value::List(broken.iter().map(|joint| Value::Number(*joint as f64)).collect())
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn create_joint(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    kind: Text,
    one: ActorId,
    two: Option<ActorId>,
    position: Option<Vec3>,
    other: Option<Vec3>,
    axis: Option<Vec3>,
    options: Value,
) -> Result<JointId, Error> {
    let at = JointKind::NAMES.iter().position(|known| *known == kind.as_str());
    let kind = JointKind::LIST[at.expect("the prelude knows the kinds")];
    let Value::Table(options) = options else { unreachable!("the prelude passes a table") };
    let number = |name: &str| match options.iter().find(|(known, _)| known == name) {
        Some((_, Value::Number(number))) => Some(*number as f32),
        _ => None,
    };
    let center = |actor: ActorId| {
        let (simulation, body) = engine.physics.body(actor);
        simulation.position(body)
    };
    let position = position.unwrap_or_else(|| center(one));
    let other = match (other, two, kind) {
        (Some(other), ..) => other,
        (None, Some(two), JointKind::Rope | JointKind::Spring) => center(two),
        _ => position,
    };
    let limits = match (number("least"), number("most")) {
        (Some(least), Some(most)) => Some([least, most]),
        _ => None,
    };
    let collides =
        options.iter().any(|(name, value)| name == "collides" && *value == Value::Boolean(true));
    let plan = JointPlan {
        kind,
        link: Link(engine.physics.actor(one).body, None),
        anchors: [position, other],
        axis: axis.unwrap_or(JointPlan::AXIS),
        limits,
        length: number("length").unwrap_or(position.distance(other)),
        stiffness: number("stiffness").unwrap_or(1000.0),
        damping: number("damping").unwrap_or(10.0),
        break_force: number("break_force"),
        break_torque: number("break_torque"),
        collides,
        owner: 0,
    };
    engine.physics.add_joint(physics, (one, two), plan)
}
