//! `PhysicsWorld`, what the prelude's functions of it stand on (lua/physics.lua): questions, what
//! touched, joints of options.

use super::physics_world::{PHYSICS, check_rotation};
use crate::engine::Engine;
use crate::foundation::{Error, Quat, Vec3};
use crate::script::arg::{Integer, Text};
use crate::script::row::{Module, func, module};
use crate::script::value::Value;
use crate::system::physics::{
    HITS_MAX, Hit, JointKind, JointPlan, Kinds, Link, PLACE_MAX, Query, Shape, Touch,
};
use crate::world::physics::{
    ActorId, JointId, PhysicsTables, PhysicsWorldId, check_place, unit_number,
};

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
    check_point("#2 'from'", from)?;
    let squared = direction.length_squared();
    // A direction of length 1 stays as it is; the squares of very short and long ones are no
    // numbers.
    let direction = match (squared - 1.0).abs() < 1e-6 {
        true => Some(direction),
        false => (direction / direction.abs().max_element()).try_normalize(),
    };
    match direction {
        Some(direction) if direction.is_finite() => Ok((direction, length as f32)),
        _ => Err(crate::error!("argument #3 'direction' must have a length, and be finite")),
    }
}

/// # Errors
/// Farther away than anything can be.
fn check_point(argument: &str, point: Vec3) -> Result<(), Error> {
    if !point.is_finite() {
        return Err(crate::error!("argument {argument} must be finite, got {point}"));
    }
    let far = |error: Error| Error {
        message: format!("argument {argument}: {}", error.message),
        ..error
    };
    check_place(point).map_err(far)
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
    check_point("'position'", position)?;
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
    check_point("#2 'from'", from)?;
    check_point("#3 'to'", to)?;
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
    check_point("'position'", position)?;
    check_point("'other_position'", other)?;
    if axis.is_some_and(|axis| axis.try_normalize().is_none()) {
        return Err(crate::error!("option 'axis' must have a length"));
    }
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
