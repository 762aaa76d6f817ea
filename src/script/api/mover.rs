//! The Lua module `Mover`: character controllers. `Unit.mover`, `Mover.separate` and related
//! functions are in the prelude (lua/world/unit/physics.lua, lua/world/physics/joints.lua), around
//! the native parts at the end of this file.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Quat, Vec3};
use engine_physics::Separation;
use engine_runtime::Engine;
use engine_world::physics::{ActorId, MoverId, SLOPE_MAX};
use engine_world::unit::UnitId;

const MOVER_ARG: (&str, &str) = ("mover", "a mover");

pub static MOVER: ModuleRows = module(
    "Mover",
    "A mover is a character controller. It moves along walls, up steps and slopes, and pushes \
     dynamic actors. Units have the movers that their files list under `movers`. The unit itself \
     does not move: set its position to that of the mover.",
    r#"assert(not Mover.alive(12))"#,
    &[
        hot(
            "alive",
            alive,
            &[("mover", "a number that may be the handle of a mover; nil and false are none")],
            "Returns true if the handle refers to an existing mover. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[MOVER_ARG], "Returns the unit of a mover.").pure(),
        func(
            "actor",
            actor,
            &[MOVER_ARG],
            "Returns the actor of a mover, which others collide with and rays hit.",
        )
        .pure(),
        func(
            "debug_name",
            debug_name,
            &[MOVER_ARG],
            "Returns the name of a mover in the unit's file.",
        )
        .pure(),
        hot(
            "move",
            walk,
            &[
                MOVER_ARG,
                ("delta", "metres to move: velocity times seconds, including gravity"),
                ("seconds", "duration of the move, 0 to 10"),
            ],
            "Moves a mover. While it stands on the ground, downward movement only presses it \
             lightly against the ground, so that you can add gravity in every frame.",
        ),
        hot(
            "position",
            position,
            &[MOVER_ARG],
            "Returns the position of a mover's feet in the world.",
        )
        .pure(),
        func(
            "set_position",
            set_position,
            &[MOVER_ARG, ("position", "the new position of its feet in the world")],
            "Moves a mover to a position at once, through everything in between.",
        ),
        hot("collides_sides", sides, &[MOVER_ARG], "Returns true if the last move hit a wall.")
            .pure(),
        hot("collides_up", up, &[MOVER_ARG], "Returns true if the last move hit something above.")
            .pure(),
        hot(
            "collides_down",
            down,
            &[MOVER_ARG],
            "Returns true if the last move ended on the ground.",
        )
        .pure(),
        hot(
            "flying_frames",
            flying_frames,
            &[MOVER_ARG],
            "Returns the number of consecutive moves that ended in the air.",
        )
        .pure(),
        hot(
            "standing_frames",
            standing_frames,
            &[MOVER_ARG],
            "Returns the number of consecutive moves that ended on the ground.",
        )
        .pure(),
        func(
            "standing_on",
            standing_on,
            &[MOVER_ARG],
            "Returns the actor that a mover stands on, or nil.",
        )
        .pure(),
        func(
            "actor_colliding_down",
            standing_on,
            &[MOVER_ARG],
            "Alias of `standing_on`, known from the Bitsquid family.",
        )
        .pure(),
        func(
            "standing_velocity",
            standing_velocity,
            &[MOVER_ARG],
            "Returns the velocity of the ground at a mover's feet, in metres per second. In the \
             air, returns the velocity of the ground that it left last: add it to a jump off a \
             lift. The velocity is zero on ground that does not move.",
        )
        .pure(),
        func(
            "carried",
            carried,
            &[MOVER_ARG],
            "Returns how far the ground carried a mover in the last `World.update`, in metres, and \
             the rotation of the ground: apply it to the unit that stands there, too.",
        )
        .returns(&["movement in metres", "rotation of the ground"])
        .pure(),
        func(
            "fits_at",
            fits_at,
            &[MOVER_ARG, ("position", "position of its feet in the world")],
            "Returns true if a mover would overlap nothing at a position.",
        )
        .pure(),
        func(
            "drop_through",
            drop_through,
            &[MOVER_ARG],
            "Lets a mover fall through the one-way platform that it stands on. Returns false if it \
             stands on none. The platform holds it again after it has left it.",
        ),
        func("radius", radius, &[MOVER_ARG], "Metres.").pure(),
        func("height", height, &[MOVER_ARG], "Metres.").pure(),
        func(
            "max_slope_angle",
            max_slope_angle,
            &[MOVER_ARG],
            "Returns the steepest slope that a mover climbs, in radians.",
        )
        .pure(),
        func(
            "set_max_slope_angle",
            set_max_slope_angle,
            &[MOVER_ARG, ("angle", "radians")],
            "Sets the steepest slope that a mover climbs.",
        ),
        func(
            "set_collision_filter",
            set_collision_filter,
            &[MOVER_ARG, ("filter", "the name of a collision filter")],
            "Sets the collision filter of a mover, which selects what it collides with.",
        ),
    ],
);

/// Native functions on which the prelude's functions of `Unit` are built.
pub static UNIT_CORE: ModuleRows = module(
    "Unit",
    "Native functions on the movers of units, for the prelude.",
    "assert(core == nil)",
    &[
        func("mover", unit_mover, &[("unit", "a unit")], "Returns the mover of a unit, or nil.")
            .pure(),
        func(
            "num_movers",
            num_movers,
            &[("unit", "a unit")],
            "Returns the number of movers in a unit's file.",
        )
        .pure(),
        func(
            "find_mover",
            find_mover,
            &[("unit", "a unit"), ("name", "a name")],
            "Returns the index of a mover.",
        )
        .pure(),
        func(
            "set_mover",
            set_mover,
            &[("unit", "a unit"), ("name", "a name")],
            "Replaces the mover of a unit.",
        ),
        func(
            "mover_fits_at",
            mover_fits_at,
            &[("unit", "a unit"), ("name", "a name"), ("position", "")],
            "Returns true if another mover would overlap nothing.",
        )
        .pure(),
        func(
            "separate_mover",
            separate,
            &[MOVER_ARG, ("distance", "")],
            "Returns the way out of an overlap, as a list.",
        )
        .public_name("Mover.separate")
        .pure(),
    ],
);

fn alive(engine: &mut Engine, mover: MaybeHandle) -> bool {
    mover.handle().is_some_and(|handle| engine.worlds.physics.movers.get(handle).is_some())
}

fn unit(engine: &mut Engine, mover: MoverId) -> UnitId {
    engine.worlds.physics.mover(mover).unit
}

fn actor(engine: &mut Engine, mover: MoverId) -> ActorId {
    engine.worlds.physics.mover(mover).actor
}

fn debug_name(engine: &mut Engine, mover: MoverId) -> String {
    engine.worlds.physics.mover(mover).spec.name.clone()
}

fn walk(engine: &mut Engine, mover: MoverId, way: Vec3, seconds: f64) -> Result<(), Error> {
    if !(0.0..=10.0).contains(&seconds) {
        return Err(engine_foundation::error!(
            "argument #3 'seconds' must be 0 to 10, got {seconds}"
        ));
    }
    engine.worlds.physics.move_mover(mover, way, seconds as f32)
}

fn position(engine: &mut Engine, mover: MoverId) -> Vec3 {
    engine.worlds.physics.mover(mover).position
}

fn set_position(engine: &mut Engine, mover: MoverId, position: Vec3) -> Result<(), Error> {
    engine.worlds.physics.set_mover_position(mover, position)
}

fn sides(engine: &mut Engine, mover: MoverId) -> bool {
    engine.worlds.physics.mover(mover).sides
}

fn up(engine: &mut Engine, mover: MoverId) -> bool {
    engine.worlds.physics.mover(mover).up
}

fn down(engine: &mut Engine, mover: MoverId) -> bool {
    engine.worlds.physics.mover(mover).down
}

fn flying_frames(engine: &mut Engine, mover: MoverId) -> u64 {
    engine.worlds.physics.mover(mover).flying_frames.into()
}

fn standing_frames(engine: &mut Engine, mover: MoverId) -> u64 {
    engine.worlds.physics.mover(mover).standing_frames.into()
}

fn standing_on(engine: &mut Engine, mover: MoverId) -> Option<ActorId> {
    let on = engine.worlds.physics.mover(mover).standing_on;
    on.filter(|actor| engine.worlds.physics.actors.get(actor.0).is_some())
}

fn standing_velocity(engine: &mut Engine, mover: MoverId) -> Vec3 {
    engine.worlds.physics.mover(mover).ground_velocity
}

fn carried(engine: &mut Engine, mover: MoverId) -> (Vec3, Quat) {
    let carried = engine.worlds.physics.mover(mover).carried;
    (carried.displacement, carried.rotation)
}

/// Finds an actor that the mover overlaps. Returns the actor, the translation that separates the
/// two, and true if the mover is free after it; an empty list if there is no overlap.
fn separate(
    engine: &mut Engine,
    mover: MoverId,
    distance: Option<f64>,
) -> Result<ScriptValue, Error> {
    let distance = distance.unwrap_or(engine.worlds.physics.mover(mover).spec.height.into());
    if distance < 0.0 {
        return Err(engine_foundation::error!(
            "argument #2 'distance' must not be negative, got {distance}"
        ));
    }
    let found = engine.worlds.physics.separate_mover(mover, distance as f32)?;
    let Some((actor, Separation { way, free, .. })) = found else {
        return Ok(ScriptValue::List(Vec::new()));
    };
    let numbers = [actor.0.to_number(), way.x.into(), way.y.into(), way.z.into()];
    let mut list: Vec<ScriptValue> = numbers.into_iter().map(ScriptValue::Number).collect();
    list.push(ScriptValue::Boolean(free));
    Ok(ScriptValue::List(list))
}

fn fits_at(engine: &mut Engine, mover: MoverId, position: Vec3) -> Result<bool, Error> {
    let spec = engine.worlds.physics.mover(mover).spec.clone();
    engine.worlds.physics.mover_fits(mover, &spec, position)
}

fn drop_through(engine: &mut Engine, mover: MoverId) -> bool {
    engine.worlds.physics.drop_mover(mover)
}

fn radius(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.worlds.physics.mover(mover).spec.radius.into()
}

fn height(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.worlds.physics.mover(mover).spec.height.into()
}

fn max_slope_angle(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.worlds.physics.mover(mover).slope_max.into()
}

fn set_max_slope_angle(engine: &mut Engine, mover: MoverId, angle: f64) -> Result<(), Error> {
    if !(0.0..=f64::from(SLOPE_MAX)).contains(&angle) {
        return Err(engine_foundation::error!(
            "argument #2 'angle' must be 0 to {SLOPE_MAX} radians, got {angle}: math.rad makes \
             radians of degrees"
        ));
    }
    let known = engine.worlds.physics.movers.get_mut(mover.0).expect("it was checked");
    known.slope_max = angle as f32;
    Ok(())
}

fn set_collision_filter(
    engine: &mut Engine,
    mover: MoverId,
    name: TextArgument,
) -> Result<(), Error> {
    let properties = engine.worlds.physics_properties(&mut engine.assets)?;
    let filter = properties.filters[properties.filter(name.as_str())?].1;
    engine.worlds.physics.set_mover_filter(mover, filter);
    Ok(())
}

fn unit_mover(engine: &mut Engine, unit: UnitId) -> Option<MoverId> {
    engine.worlds.physics.unit_mover(unit)
}

fn num_movers(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.worlds.physics.num_movers(unit) as u64
}

fn find_mover(engine: &mut Engine, unit: UnitId, name: TextArgument) -> Option<u64> {
    engine.worlds.physics.find_mover(unit, name.as_str()).map(|index| index as u64 + 1)
}

fn set_mover(
    engine: &mut Engine,
    unit: UnitId,
    name: Option<TextArgument>,
) -> Result<Option<MoverId>, Error> {
    let spec =
        name.map(|name| engine.worlds.physics.mover_spec(unit, name.as_str())).transpose()?;
    let old = engine.worlds.physics.unit_mover(unit);
    let was = old.map(|mover| engine.worlds.physics.mover(mover).position);
    if let Some(old) = old {
        let frame = engine.frame.index;
        engine.worlds.physics.end_mover(old, frame, &context::script_location());
    }
    let Some(spec) = spec else { return Ok(None) };
    let (physics, units) = (&mut engine.worlds.physics, &mut engine.worlds.units);
    let added = physics.add_mover(unit, units, &spec)?;
    if let Some(position) = was {
        physics.set_mover_position(added, position)?;
    }
    Ok(Some(added))
}

fn mover_fits_at(
    engine: &mut Engine,
    unit: UnitId,
    name: TextArgument,
    position: Vec3,
) -> Result<bool, Error> {
    let spec = engine.worlds.physics.mover_spec(unit, name.as_str())?;
    let mover = engine.worlds.physics.unit_mover(unit);
    let mover = mover.ok_or_else(|| engine_foundation::error!("the unit has no mover now"))?;
    engine.worlds.physics.mover_fits(mover, &spec, position)
}
