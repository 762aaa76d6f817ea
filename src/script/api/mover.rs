//! `Mover`: shapes that walk. `Unit.mover` and its like are the prelude's (lua/physics_units.lua),
//! around the native parts at the end of this file.

use crate::engine::Engine;
use crate::foundation::{Error, Handle, Quat, Vec3};
use crate::script::arg::{AnyNumber, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::physics::Separation;
use crate::world::physics::{ActorId, MoverId, SLOPE_MAX};
use crate::world::unit::UnitId;

const MOVER_ARG: (&str, &str) = ("mover", "a mover");

pub static MOVER: Module = module(
    "Mover",
    "A mover walks as it is told: along walls, up steps and slopes, and pushes what is dynamic. \
     Units have those that their files list under `movers`. The unit itself stays where it is: \
     set its position to that of the mover.",
    r#"assert(not Mover.alive(12))"#,
    &[
        hot(
            "alive",
            alive,
            &[("mover", "a number that may be a mover's handle")],
            "Whether the handle leads to a mover that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("unit", unit, &[MOVER_ARG], "The unit that it is of.").pure(),
        func("actor", actor, &[MOVER_ARG], "The actor that others run into, and rays meet.").pure(),
        func("debug_name", debug_name, &[MOVER_ARG], "Its name in the unit's file.").pure(),
        hot(
            "move",
            walk,
            &[
                MOVER_ARG,
                ("delta", "the way, in metres: velocity times seconds, gravity with it"),
                ("seconds", "how long it takes"),
            ],
            "Walks. While it stands on the ground, a way down is taken in small amounts, so that \
             gravity can be added in every frame.",
        ),
        hot("position", position, &[MOVER_ARG], "Where its feet are, in the world.").pure(),
        func(
            "set_position",
            set_position,
            &[MOVER_ARG, ("position", "where its feet are from now on")],
            "Puts it somewhere at once, through whatever is between.",
        ),
        hot("collides_sides", sides, &[MOVER_ARG], "Whether its last move ran into a wall.").pure(),
        hot("collides_up", up, &[MOVER_ARG], "Whether its last move ran into something above.")
            .pure(),
        hot("collides_down", down, &[MOVER_ARG], "Whether its last move ended on the ground.")
            .pure(),
        hot(
            "flying_frames",
            flying_frames,
            &[MOVER_ARG],
            "How many moves in a row ended in the air.",
        )
        .pure(),
        hot(
            "standing_frames",
            standing_frames,
            &[MOVER_ARG],
            "How many moves in a row ended on the ground.",
        )
        .pure(),
        func("standing_on", standing_on, &[MOVER_ARG], "The actor that it stands on, or nil.")
            .pure(),
        func(
            "actor_colliding_down",
            standing_on,
            &[MOVER_ARG],
            "Another name of `standing_on`, known from the Bitsquid family.",
        )
        .pure(),
        func(
            "standing_velocity",
            standing_velocity,
            &[MOVER_ARG],
            "The velocity of what it stands on, at its feet, in metres a second; in the air that \
             of what it left last: add it to a jump off a lift. Zero on what does not move.",
        )
        .pure(),
        func(
            "carried",
            carried,
            &[MOVER_ARG],
            "How far it was taken along by what it stands on in the last `World.update`, in \
             metres, and how that turned: turn what stands there by it, too.",
        )
        .pure(),
        func(
            "fits_at",
            fits_at,
            &[MOVER_ARG, ("position", "where its feet would be")],
            "Whether it would touch nothing there.",
        )
        .pure(),
        func("radius", radius, &[MOVER_ARG], "Metres.").pure(),
        func("height", height, &[MOVER_ARG], "Metres.").pure(),
        func(
            "max_slope_angle",
            max_slope_angle,
            &[MOVER_ARG],
            "The steepest slope that it climbs, in radians.",
        )
        .pure(),
        func(
            "set_max_slope_angle",
            set_max_slope_angle,
            &[MOVER_ARG, ("angle", "radians")],
            "Sets the steepest slope that it climbs.",
        ),
        func(
            "set_collision_filter",
            set_collision_filter,
            &[MOVER_ARG, ("filter", "the name of a collision filter")],
            "Sets with whom it collides.",
        ),
    ],
);

/// What the prelude's functions of `Unit` stand on.
pub static UNIT_CORE: Module = module(
    "Unit",
    "Movers of units, for the prelude.",
    "assert(core == nil)",
    &[
        func("mover", unit_mover, &[("unit", "a unit")], "Its mover, or nil.").pure(),
        func("num_movers", num_movers, &[("unit", "a unit")], "How many it can have.").pure(),
        func("find_mover", find_mover, &[("unit", "a unit"), ("name", "a name")], "Its place.")
            .pure(),
        func("set_mover", set_mover, &[("unit", "a unit"), ("name", "a name")], "Another one."),
        func(
            "mover_fits_at",
            mover_fits_at,
            &[("unit", "a unit"), ("name", "a name"), ("position", "")],
            "Whether another one would touch nothing.",
        )
        .pure(),
        func("separate_mover", separate, &[MOVER_ARG, ("distance", "")], "The way out, as a list.")
            .told_as("Mover.separate")
            .pure(),
    ],
);

fn alive(engine: &mut Engine, mover: AnyNumber) -> bool {
    Handle::from_number(mover.0).is_some_and(|handle| engine.physics.movers.get(handle).is_some())
}

fn unit(engine: &mut Engine, mover: MoverId) -> UnitId {
    engine.physics.mover(mover).unit
}

fn actor(engine: &mut Engine, mover: MoverId) -> ActorId {
    engine.physics.mover(mover).actor
}

fn debug_name(engine: &mut Engine, mover: MoverId) -> String {
    engine.physics.mover(mover).spec.name.clone()
}

fn walk(engine: &mut Engine, mover: MoverId, way: Vec3, seconds: f64) -> Result<(), Error> {
    if !(0.0..=10.0).contains(&seconds) {
        return Err(crate::error!("argument #3 'seconds' must be 0 to 10, got {seconds}"));
    }
    engine.physics.move_mover(mover, way, seconds as f32)
}

fn position(engine: &mut Engine, mover: MoverId) -> Vec3 {
    engine.physics.mover(mover).position
}

fn set_position(engine: &mut Engine, mover: MoverId, position: Vec3) -> Result<(), Error> {
    engine.physics.place_mover(mover, position)
}

fn sides(engine: &mut Engine, mover: MoverId) -> bool {
    engine.physics.mover(mover).sides
}

fn up(engine: &mut Engine, mover: MoverId) -> bool {
    engine.physics.mover(mover).up
}

fn down(engine: &mut Engine, mover: MoverId) -> bool {
    engine.physics.mover(mover).down
}

fn flying_frames(engine: &mut Engine, mover: MoverId) -> u64 {
    engine.physics.mover(mover).flying_frames.into()
}

fn standing_frames(engine: &mut Engine, mover: MoverId) -> u64 {
    engine.physics.mover(mover).standing_frames.into()
}

fn standing_on(engine: &mut Engine, mover: MoverId) -> Option<ActorId> {
    let on = engine.physics.mover(mover).standing_on;
    on.filter(|actor| engine.physics.actors.get(actor.0).is_some())
}

fn standing_velocity(engine: &mut Engine, mover: MoverId) -> Vec3 {
    engine.physics.mover(mover).ground_velocity
}

fn carried(engine: &mut Engine, mover: MoverId) -> (Vec3, Quat) {
    let carried = engine.physics.mover(mover).carried;
    (carried.way, carried.turn)
}

/// What it overlaps, the way out of it and whether that leads out; an empty list for nothing.
fn separate(engine: &mut Engine, mover: MoverId, distance: Option<f64>) -> Result<Value, Error> {
    let distance = distance.unwrap_or(engine.physics.mover(mover).spec.height.into());
    if distance < 0.0 {
        return Err(crate::error!("argument #2 'distance' must not be negative, got {distance}"));
    }
    let found = engine.physics.separate_mover(mover, distance as f32)?;
    let Some((actor, Separation { way, free, .. })) = found else {
        return Ok(Value::List(Vec::new()));
    };
    let numbers = [actor.0.to_number(), way.x.into(), way.y.into(), way.z.into()];
    let mut list: Vec<Value> = numbers.into_iter().map(Value::Number).collect();
    list.push(Value::Boolean(free));
    Ok(Value::List(list))
}

fn fits_at(engine: &mut Engine, mover: MoverId, position: Vec3) -> Result<bool, Error> {
    let spec = engine.physics.mover(mover).spec.clone();
    engine.physics.mover_fits(mover, &spec, position)
}

fn radius(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.physics.mover(mover).spec.radius.into()
}

fn height(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.physics.mover(mover).spec.height.into()
}

fn max_slope_angle(engine: &mut Engine, mover: MoverId) -> f64 {
    engine.physics.mover(mover).slope_max.into()
}

fn set_max_slope_angle(engine: &mut Engine, mover: MoverId, angle: f64) -> Result<(), Error> {
    if !(0.0..=f64::from(SLOPE_MAX)).contains(&angle) {
        return Err(crate::error!(
            "argument #2 'angle' must be 0 to {SLOPE_MAX} radians, got {angle}: math.rad makes \
             radians of degrees"
        ));
    }
    let known = engine.physics.movers.get_mut(mover.0).expect("it was checked");
    known.slope_max = angle as f32;
    Ok(())
}

fn set_collision_filter(engine: &mut Engine, mover: MoverId, name: Text) -> Result<(), Error> {
    let properties = engine.physics_properties()?;
    let filter = properties.filters[properties.filter(name.as_str())?].1;
    engine.physics.set_mover_filter(mover, filter);
    Ok(())
}

fn unit_mover(engine: &mut Engine, unit: UnitId) -> Option<MoverId> {
    engine.physics.unit_mover(unit)
}

fn num_movers(engine: &mut Engine, unit: UnitId) -> u64 {
    engine.physics.num_movers(unit) as u64
}

fn find_mover(engine: &mut Engine, unit: UnitId, name: Text) -> Option<f64> {
    engine.physics.find_mover(unit, name.as_str()).map(|place| place as f64 + 1.0)
}

fn set_mover(
    engine: &mut Engine,
    unit: UnitId,
    name: Option<Text>,
) -> Result<Option<MoverId>, Error> {
    let spec = name.map(|name| engine.physics.mover_spec(unit, name.as_str())).transpose()?;
    let old = engine.physics.unit_mover(unit);
    let was = old.map(|mover| engine.physics.mover(mover).position);
    if let Some(old) = old {
        let frame = engine.frame.index;
        engine.physics.end_mover(old, frame, &cx::place());
    }
    let Some(spec) = spec else { return Ok(None) };
    let Engine { physics, units, .. } = engine;
    let made = physics.add_mover(unit, units, &spec)?;
    if let Some(position) = was {
        physics.place_mover(made, position)?;
    }
    Ok(Some(made))
}

fn mover_fits_at(
    engine: &mut Engine,
    unit: UnitId,
    name: Text,
    position: Vec3,
) -> Result<bool, Error> {
    let spec = engine.physics.mover_spec(unit, name.as_str())?;
    let mover = engine.physics.unit_mover(unit);
    let mover = mover.ok_or_else(|| crate::error!("the unit has no mover now"))?;
    engine.physics.mover_fits(mover, &spec, position)
}
