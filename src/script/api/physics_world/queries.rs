//! Native functions on which the prelude's functions of `PhysicsWorld` are built
//! (lua/world/physics/): spatial queries, contacts and triggers, and joints with options.

use crate::api::physics_world::{PHYSICS, check_rotation, with_depth};
use crate::api_row::{ModuleRows, func, module};
use crate::argument::{Integer, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Error, Quat, Vec3};
use engine_physics::{
    BodyKinds, ColliderShape, ContactPhase, HITS_MAX, JointBodies, JointKind, JointPlan,
    JointSpring, POSITION_MAX, PulleyPlan, QueryFilter, QueryHit,
};
use engine_runtime::Engine;
use engine_world::physics::{
    ActorId, JointId, PhysicsTables, PhysicsWorldId, check_position, unit_number,
};

/// Native functions on which the prelude's functions are built. They have the names of the public
/// functions.
pub static CORE: ModuleRows = module(
    "PhysicsWorld",
    "Native queries and lists, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "physics_filters",
            physics_filters,
            &[],
            "Returns the names of the collision filters.",
        )
        .pure(),
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
            "Returns the hits of a ray as a flat list of numbers.",
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
            "Returns the actors that overlap a shape.",
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
            "Returns the hits of a swept shape as a flat list of numbers.",
        )
        .pure(),
        func("contacts", contacts, &[PHYSICS], "Returns contacts as a flat list of numbers.")
            .pure(),
        func("triggers", triggers, &[PHYSICS], "Returns trigger events as a flat list of numbers.")
            .pure(),
        func("broken_joints", broken_joints, &[PHYSICS], "Returns the joints that broke.").pure(),
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
            "Creates a joint.",
        ),
    ],
);

fn physics_filters(engine: &mut Engine) -> Result<Vec<String>, Error> {
    let properties = engine.worlds.physics_properties(&mut engine.assets)?;
    Ok(properties.filters.iter().map(|(name, _)| name.clone()).collect())
}

/// Builds a query filter from a filter's index (from 1; 0 matches everything) and the index of the
/// body kinds, from 0.
pub(in crate::api) fn query_of(
    tables: &PhysicsTables,
    filter: u32,
    kinds: u32,
) -> Option<QueryFilter> {
    let kinds = *BodyKinds::LIST.get(kinds as usize)?;
    if filter == 0 {
        return Some(QueryFilter { kinds, ..QueryFilter::DEFAULT });
    }
    let properties = tables.properties.as_ref()?;
    let (_, filter) = properties.filters.get(filter as usize - 1)?;
    Some(QueryFilter { types: filter.collides, kinds, ..QueryFilter::DEFAULT })
}

/// Returns the query filter with these indices.
///
/// # Errors
/// Returns an error if the filters have changed since the prelude read their indices.
fn query_filter(engine: &Engine, filter: Integer, kinds: Integer) -> Result<QueryFilter, Error> {
    let query = query_of(&engine.worlds.physics, filter.0 as u32, kinds.0 as u32);
    query.ok_or_else(|| {
        engine_foundation::error!("its collision filter no longer exists: create the query again")
    })
}

/// Returns the first hit of a ray.
///
/// # Errors
/// Returns an error if the direction is zero, or if the length is invalid.
pub(in crate::api) fn cast(
    tables: &PhysicsTables,
    physics: PhysicsWorldId,
    from: Vec3,
    direction: Vec3,
    length: f64,
    query: &QueryFilter,
) -> Result<Option<QueryHit>, Error> {
    let (direction, length) = ray(from, direction, length)?;
    if length == 0.0 {
        return Ok(None);
    }
    Ok(tables.world(physics).simulation.raycast(from, direction, length, query))
}

fn ray(from: Vec3, direction: Vec3, length: f64) -> Result<(Vec3, f32), Error> {
    if length.is_nan() || length < 0.0 {
        return Err(engine_foundation::error!(
            "argument #4 'length' must be 0 metres or more, got {length}"
        ));
    }
    // No object is farther away than that.
    let length = length.min(f64::from(POSITION_MAX));
    check_point("#2 'from'", from)?;
    let squared = direction.length_squared();
    // A direction of length 1 is used unchanged. Others are scaled first, because the squares of
    // very short and very long vectors are not finite or zero.
    let direction = match (squared - 1.0).abs() < 1e-6 {
        true => Some(direction),
        false => (direction / direction.abs().max_element()).try_normalize(),
    };
    match direction {
        Some(direction) if direction.is_finite() => Ok((direction, length as f32)),
        _ => Err(engine_foundation::error!(
            "argument #3 'direction' must have a length, and be finite"
        )),
    }
}

/// Checks a point of a query.
///
/// # Errors
/// Returns an error if the point is not finite, or outside of the valid range of positions.
fn check_point(argument: &str, point: Vec3) -> Result<(), Error> {
    if !point.is_finite() {
        return Err(engine_foundation::error!("argument {argument} must be finite, got {point}"));
    }
    let far = |error: Error| Error {
        message: format!("argument {argument}: {}", error.message),
        ..error
    };
    check_position(point).map_err(far)
}

/// Appends a hit as numbers: the actor, the position, the normal, the distance.
fn push_hit(list: &mut Vec<ScriptValue>, hit: &QueryHit) {
    let [x, y, z] = hit.position.to_array();
    let [a, b, c] = hit.normal.to_array();
    list.push(ScriptValue::Number(hit.owner as u64 as f64));
    let numbers = [x, y, z, a, b, c, hit.distance];
    list.extend(numbers.map(|number| ScriptValue::Number(number.into())));
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
) -> Result<ScriptValue, Error> {
    let query = query_filter(engine, filter, kinds)?;
    let mut list = Vec::new();
    if all {
        let (direction, length) = ray(from, direction, length)?;
        let mut hits = Vec::new();
        let simulation = &engine.worlds.physics.world(physics).simulation;
        if length > 0.0 {
            simulation.raycast_all(from, direction, length, &query, &mut hits);
        }
        hits.iter().for_each(|hit| push_hit(&mut list, hit));
    } else if let Some(hit) =
        cast(&engine.worlds.physics, physics, from, direction, length, &query)?
    {
        push_hit(&mut list, &hit);
    }
    Ok(ScriptValue::List(list))
}

/// Creates the shape of an overlap query or sweep. The meaning of the size depends on the shape.
fn shape_of(name: &str, size: Vec3) -> Result<ColliderShape, Error> {
    let shape = match name {
        "sphere" => ColliderShape::Sphere { radius: size.x },
        "capsule" => {
            let half_height = size.z * 0.5 - size.x;
            if half_height <= 0.0 {
                return Err(engine_foundation::error!(
                    "a capsule's height must be more than twice its radius, got the height {} and \
                     the radius {}",
                    size.z,
                    size.x
                ));
            }
            ColliderShape::Capsule { half_height, radius: size.x }
        }
        _ => ColliderShape::Box { half: size },
    };
    shape.check()?;
    Ok(shape)
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn overlap(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    shape: TextArgument,
    position: Vec3,
    size: Vec3,
    rotation: Quat,
    filter: Integer,
    kinds: Integer,
) -> Result<ScriptValue, Error> {
    let size = match shape.as_str() {
        "capsule" => size,
        _ => with_depth(&engine.worlds.physics.world(physics).simulation, size),
    };
    let (query, shape) = (query_filter(engine, filter, kinds)?, shape_of(shape.as_str(), size)?);
    let rotation = check_rotation(rotation, "'rotation'")?;
    check_point("'position'", position)?;
    let simulation = &engine.worlds.physics.world(physics).simulation;
    let owners = simulation.overlap(&shape, position, rotation, &query)?;
    let numbers = owners.iter().map(|owner| ScriptValue::Number(*owner as u64 as f64));
    Ok(ScriptValue::List(numbers.collect()))
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn sweep(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    shape: TextArgument,
    from: Vec3,
    to: Vec3,
    size: Vec3,
    rotation: Quat,
    most: Integer,
    packed: Integer,
) -> Result<ScriptValue, Error> {
    // The filter, true if initial overlaps are reported, and the kinds of bodies: a row has at most
    // nine parameters.
    let (filter, initial, kinds) = (packed.0 / 16, packed.0 & 8 != 0, packed.0 % 8);
    let query = query_filter(engine, Integer(filter), Integer(kinds))?;
    if !(1..=HITS_MAX as i64).contains(&most.0) {
        return Err(engine_foundation::error!(
            "'max_hits' must be 1 to {HITS_MAX}, got {}",
            most.0
        ));
    }
    let size = match shape.as_str() {
        "capsule" => size,
        _ => with_depth(&engine.worlds.physics.world(physics).simulation, size),
    };
    let shape = shape_of(shape.as_str(), size)?;
    let pose = (from, check_rotation(rotation, "'rotation'")?);
    check_point("#2 'from'", from)?;
    check_point("#3 'to'", to)?;
    let simulation = &engine.worlds.physics.world(physics).simulation;
    let mut list = Vec::new();
    for hit in simulation.sweep(&shape, pose, to, (most.0 as usize, initial), &query)? {
        push_hit(&mut list, &hit);
    }
    Ok(ScriptValue::List(list))
}

/// Returns for each contact: actor and unit of both, position, normal, impulse.
fn contacts(engine: &mut Engine, physics: PhysicsWorldId) -> ScriptValue {
    let (contacts, _) = engine.worlds.physics.world(physics).simulation.contacts();
    let mut list = Vec::with_capacity(contacts.len() * 11);
    for contact in contacts {
        for owner in contact.owners {
            list.push(ScriptValue::Number(owner as u64 as f64));
            list.push(ScriptValue::Number(unit_number(owner)));
        }
        for vector in [contact.position, contact.normal] {
            list.extend(vector.to_array().map(|number| ScriptValue::Number(number.into())));
        }
        list.push(ScriptValue::Number(contact.impulse.into()));
    }
    ScriptValue::List(list)
}

/// Returns for each trigger event: actor and unit of the trigger and of the other, and true if the
/// overlap began.
fn triggers(engine: &mut Engine, physics: PhysicsWorldId) -> ScriptValue {
    let (_, triggers) = engine.worlds.physics.world(physics).simulation.contacts();
    let mut list = Vec::with_capacity(triggers.len() * 5);
    for touch in triggers {
        for owner in [touch.trigger, touch.other] {
            list.push(ScriptValue::Number(owner as u64 as f64));
            list.push(ScriptValue::Number(unit_number(owner)));
        }
        list.push(ScriptValue::Boolean(touch.touch == ContactPhase::Began));
    }
    ScriptValue::List(list)
}

fn broken_joints(engine: &mut Engine, physics: PhysicsWorldId) -> ScriptValue {
    let broken = engine.worlds.physics.world(physics).simulation.broken();
    ScriptValue::List(broken.iter().map(|joint| ScriptValue::Number(*joint as f64)).collect())
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
/// Returns a point among the options, which the prelude passes as three numbers.
fn point(options: &[(String, ScriptValue)], name: &str) -> Option<Vec3> {
    match options.iter().find(|(known, _)| known == name) {
        Some((_, ScriptValue::List(list))) => match list[..] {
            [ScriptValue::Number(x), ScriptValue::Number(y), ScriptValue::Number(z)] => {
                Some(Vec3::new(x as f32, y as f32, z as f32))
            }
            _ => None,
        },
        _ => None,
    }
}

fn joint_spring(number: impl Fn(&str) -> Option<f32>) -> JointSpring {
    JointSpring {
        stiffness: number("stiffness"),
        damping: number("damping"),
        frequency: number("frequency"),
        damping_ratio: number("damping_ratio"),
    }
}

/// Returns the parameters of a pulley. Other joints do not use them.
fn pulley_plan(
    engine: &Engine,
    physics: PhysicsWorldId,
    (anchors, ratio): ([Vec3; 2], f32),
    options: &[(String, ScriptValue)],
) -> Result<PulleyPlan, Error> {
    let ground = ["ground", "other_ground"].map(|name| point(options, name));
    let ground = [ground[0], ground[1].or(ground[0])].map(Option::unwrap_or_default);
    check_point("'ground_position'", ground[0])?;
    check_point("'other_ground_position'", ground[1])?;
    Ok(engine.worlds.physics.world(physics).simulation.pulley_plan(anchors, ground, ratio))
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn create_joint(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    kind: TextArgument,
    one: ActorId,
    two: Option<ActorId>,
    position: Option<Vec3>,
    other: Option<Vec3>,
    axis: Option<Vec3>,
    options: ScriptValue,
) -> Result<JointId, Error> {
    let at = JointKind::NAMES.iter().position(|known| *known == kind.as_str());
    let kind = JointKind::LIST[at.expect("the prelude knows the kinds")];
    let ScriptValue::Table(options) = options else { unreachable!("the prelude passes a table") };
    let number = |name: &str| match options.iter().find(|(known, _)| known == name) {
        Some((_, ScriptValue::Number(number))) => Some(*number as f32),
        _ => None,
    };
    let center = |actor: ActorId| {
        let (simulation, body) = engine.worlds.physics.body(actor);
        simulation.position(body)
    };
    let position = position.unwrap_or_else(|| match (kind, two) {
        (JointKind::Wheel, Some(wheel)) => center(wheel),
        _ => center(one),
    });
    let other = match (other, two, kind) {
        (Some(other), ..) => other,
        (None, Some(two), JointKind::Rope | JointKind::Spring | JointKind::Pulley) => center(two),
        _ => position,
    };
    check_point("'position'", position)?;
    check_point("'other_position'", other)?;
    if axis.is_some_and(|axis| axis.try_normalize().is_none()) {
        return Err(engine_foundation::error!("option 'axis' must have a length"));
    }
    let anchors = [position, other];
    let ratio = number("ratio").unwrap_or(1.0);
    let pulley = pulley_plan(engine, physics, (anchors, ratio), &options)?;
    let length = match kind {
        JointKind::Pulley => pulley.length(anchors),
        _ => position.distance(other),
    };
    let limits = match (number("least"), number("most")) {
        (Some(least), Some(most)) => Some([least, most]),
        _ => None,
    };
    let collides = options
        .iter()
        .any(|(name, value)| name == "collides" && *value == ScriptValue::Boolean(true));
    let plan = JointPlan {
        kind,
        link: JointBodies(engine.worlds.physics.actor(one).body, None),
        anchors,
        axis,
        limits,
        length: number("length").unwrap_or(length),
        pulley,
        spring: joint_spring(number),
        max_force: number("max_force"),
        break_force: number("break_force"),
        break_torque: number("break_torque"),
        collides,
        owner: 0,
    };
    engine.worlds.physics.add_joint(physics, (one, two), plan)
}
