//! `Level`: what can be asked of a level that is in a world. Spawning, ending and data are the
//! prelude's (lua/level.lua), around the native parts at the end of this file.

use super::unit::resource as unit_resource;
use crate::engine::Engine;
use crate::foundation::random::next_random;
use crate::foundation::{Error, Handle, Mat4, Quat, Vec3, suggest};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::world::WorldId;
use crate::world::level::{LevelId, Place};
use crate::world::level_resource::OBJECT_SETS_MAX;
use crate::world::spline::Spline;
use crate::world::unit::UnitId;
use crate::world::volume::Volume;

const LEVEL_ARG: (&str, &str) = ("level", "a level");
const VOLUME_ARG: (&str, &str) = ("volume", "the name of one of its volumes");
const SPLINE_ARG: (&str, &str) = ("spline", "the name of one of its splines");

pub static LEVEL: Module = module(
    "Level",
    "A level in a world: units at their places, with volumes, splines and levels inside. \
     `World.spawn_level` makes one of a `.level` file. Units count from 1, in the order of the \
     file.",
    r#"local world = Application.new_world()
assert(#World.levels(world) == 0 and not Level.alive(world))
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("level", "a number that may be a level's handle")],
            "Whether the handle leads to a level that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("world", world, &[LEVEL_ARG], "The world that the level is in.").pure(),
        func("resource_name", resource_name, &[LEVEL_ARG], "The name of what it was spawned from.")
            .pure(),
        func("pose", pose, &[LEVEL_ARG], "Where the level is in its world.").pure(),
        func("parent", parent, &[LEVEL_ARG], "The level that it stands in; nil if in none.").pure(),
        func("num_units", num_units, &[LEVEL_ARG], "How many units the level's file has.").pure(),
        func(
            "unit_by_index",
            unit_by_index,
            &[LEVEL_ARG, ("index", "the unit's place in the level's file")],
            "One of the level's units; nil where it is gone, or was not spawned.",
        )
        .pure(),
        func(
            "unit_index",
            unit_index,
            &[LEVEL_ARG, ("unit", "a unit")],
            "The place of a unit in the level's file; nil for one that did not come with it.",
        )
        .pure(),
        func(
            "unit",
            unit,
            &[LEVEL_ARG, ("name", "the unit's name in the level's file")],
            "The unit of that name; nil where it is gone, or was not spawned.",
        )
        .pure(),
        func(
            "unit_name",
            unit_name,
            &[LEVEL_ARG, ("unit", "one of its units")],
            "The name of a unit in the level's file.",
        )
        .pure(),
        func(
            "num_nested_levels",
            num_nested_levels,
            &[LEVEL_ARG],
            "How many levels stand in this one.",
        )
        .pure(),
        func(
            "progress",
            progress,
            &[LEVEL_ARG],
            "How much of the level and of those inside of it is spawned, from 0 to 1.",
        )
        .pure(),
        func("volume_names", volume_names, &[LEVEL_ARG], "The names of its volumes.").pure(),
        func(
            "has_volume",
            has_volume,
            &[LEVEL_ARG, VOLUME_ARG],
            "Whether the level has a volume of that name.",
        )
        .pure(),
        func(
            "is_point_inside_volume",
            is_point_inside_volume,
            &[LEVEL_ARG, VOLUME_ARG, ("point", "a point in the world")],
            "Whether a point is inside of a volume.",
        )
        .pure(),
        func(
            "random_point_inside_volume",
            random_point_inside_volume,
            &[LEVEL_ARG, VOLUME_ARG],
            "A random point inside of a volume, in the world; each is as likely as any other.",
        )
        .pure(),
        func(
            "next_random_point_inside_volume",
            next_random_point_inside_volume,
            &[
                LEVEL_ARG,
                ("seed", "a whole number from 0 to 4294967295: the state, kept by you"),
                VOLUME_ARG,
            ],
            "A random point inside of a volume, made from a seed alone: returns the next seed, as \
             `Math.next_random` does, and the point.",
        )
        .pure(),
        func("spline_names", spline_names, &[LEVEL_ARG], "The names of its splines.").pure(),
        func("num_splines", num_splines, &[LEVEL_ARG], "How many splines the level has.").pure(),
        func(
            "spline_length",
            spline_length,
            &[LEVEL_ARG, SPLINE_ARG],
            "Metres along a whole spline.",
        )
        .pure(),
        func(
            "spline_position",
            spline_position,
            &[LEVEL_ARG, SPLINE_ARG, ("distance", "metres along it from its first point")],
            "The point of a spline in the world, so far along it: the end beyond it, or round and \
             round if it is closed. Splines are Catmull-Rom curves through their points.",
        )
        .pure(),
        func(
            "object_set_names",
            object_set_names,
            &[LEVEL_ARG],
            "The names of the level's sets of units.",
        )
        .pure(),
    ],
);

/// What the prelude's functions stand on. They are in its table `core`.
pub static CORE: Module = module(
    "World",
    "Levels, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "spawn_level",
            spawn_level,
            &[
                ("world", ""),
                ("resource", ""),
                ("position", ""),
                ("rotation", ""),
                ("scale", ""),
                ("object_sets", ""),
            ],
            "Makes a level without its units.",
        ),
        func("level_next", level_next, &[("level", "")], "Makes the next unit of a level.")
            .told_as("World.spawn_level"),
        func("level_unit_data", level_unit_data, &[("unit", "")], "What the level says of it.")
            .pure(),
        func("level_data", level_data, &[("level", "")], "The level's own data.").pure(),
        func("levels", levels, &[("world", "")], "The levels of a world.").pure(),
        func("nested_levels", nested_levels, &[("level", "")], "The levels inside.")
            .told_as("Level.nested_levels")
            .pure(),
        func("level_units", level_units, &[("level", "")], "The living units of a level.")
            .told_as("Level.units")
            .pure(),
        func("level_set", level_set, &[("level", ""), ("name", "")], "Those of a set.")
            .told_as("Level.object_set")
            .pure(),
        func("spline_numbers", spline_numbers, &[("level", ""), ("spline", "")], "Coordinates.")
            .told_as("Level.spline")
            .pure(),
        func("check_level", check_level, &[("world", ""), ("level", "")], "Refuses another's.")
            .told_as("World.destroy_level")
            .pure(),
        func("end_level", end_level, &[("level", "")], "Ends a level, whose units are gone.")
            .when_full(),
    ],
);

fn alive(engine: &mut Engine, level: AnyNumber) -> bool {
    Handle::from_number(level.0).is_some_and(|handle| engine.levels.slots.get(handle).is_some())
}

fn world(engine: &mut Engine, level: LevelId) -> WorldId {
    engine.levels.of(level).world
}

fn resource_name(engine: &mut Engine, level: LevelId) -> String {
    engine.levels.of(level).resource.name.clone()
}

fn pose(engine: &mut Engine, level: LevelId) -> Mat4 {
    let Place { position, rotation, scale } = engine.levels.of(level).place;
    Mat4::from_scale_rotation_translation(Vec3::splat(scale), rotation, position)
}

fn parent(engine: &mut Engine, level: LevelId) -> Option<LevelId> {
    engine.levels.of(level).parent
}

fn num_units(engine: &mut Engine, level: LevelId) -> f64 {
    engine.levels.of(level).units.len() as f64
}

fn living(engine: &Engine, level: LevelId, place: usize) -> Option<UnitId> {
    let unit = engine.levels.of(level).units[place]?;
    engine.units.slots.get(unit.0).map(|_| unit)
}

fn unit_by_index(
    engine: &mut Engine,
    level: LevelId,
    index: Integer,
) -> Result<Option<UnitId>, Error> {
    let count = engine.levels.of(level).units.len();
    match index.0 >= 1 && index.0 <= count as i64 {
        true => Ok(living(engine, level, index.0 as usize - 1)),
        false => {
            let name = &engine.levels.of(level).resource.name;
            Err(crate::error!(
                "argument #2 'index': level \"{name}\" has {count} units, got {}",
                index.0
            ))
        }
    }
}

fn unit_index(engine: &mut Engine, level: LevelId, unit: UnitId) -> Option<f64> {
    let (of, place) = engine.levels.of_unit(unit)?;
    (of == level).then_some(f64::from(place) + 1.0)
}

fn unit(engine: &mut Engine, level: LevelId, name: Text) -> Result<Option<UnitId>, Error> {
    let resource = &engine.levels.of(level).resource;
    let Some(place) = resource.place(name.as_str()) else {
        let hint = suggest::hint(name.as_str(), resource.units.iter().map(|it| it.name.as_str()));
        return Err(crate::error!(
            "argument #2 'name': level \"{}\" has no unit '{}'{hint}",
            resource.name,
            name.as_str()
        ));
    };
    Ok(living(engine, level, place))
}

/// The living unit of a name in a level's file.
pub fn unit_of_name(engine: &Engine, level: LevelId, name: &str) -> Option<UnitId> {
    let place = engine.levels.of(level).resource.place(name)?;
    living(engine, level, place)
}

fn unit_name(engine: &mut Engine, level: LevelId, unit: UnitId) -> Result<String, Error> {
    let place = engine.levels.of_unit(unit).filter(|(of, _)| *of == level);
    let resource = &engine.levels.of(level).resource;
    match place {
        Some((_, place)) => Ok(resource.units[place as usize].name.clone()),
        None => Err(crate::error!(
            "argument #2 'unit': it did not come with the level \"{}\"",
            resource.name
        )),
    }
}

/// The level that a unit came with.
pub fn level_of_unit(engine: &mut Engine, unit: UnitId) -> Option<LevelId> {
    engine.levels.of_unit(unit).map(|(level, _)| level)
}

fn num_nested_levels(engine: &mut Engine, level: LevelId) -> f64 {
    engine.levels.of(level).nested.len() as f64
}

fn progress(engine: &mut Engine, level: LevelId) -> f64 {
    engine.levels.progress(level)
}

/// Of a list by names, the one that is meant.
fn named<'a, T>(
    list: &'a [(String, T)],
    (argument, kind): (usize, &str),
    name: &str,
    level: &str,
) -> Result<&'a T, Error> {
    let found = list.iter().find(|(known, _)| known == name);
    found.map(|(_, thing)| thing).ok_or_else(|| {
        let hint = suggest::hint(name, list.iter().map(|(known, _)| known.as_str()));
        crate::error!(
            "argument #{argument} '{kind}': level \"{level}\" has no {kind} '{name}'{hint}"
        )
    })
}

fn volume<'a>(engine: &'a Engine, level: LevelId, name: &Text) -> Result<&'a Volume, Error> {
    let resource = &engine.levels.of(level).resource;
    named(&resource.volumes, (2, "volume"), name.as_str(), &resource.name)
}

fn spline<'a>(engine: &'a Engine, level: LevelId, name: &Text) -> Result<&'a Spline, Error> {
    let resource = &engine.levels.of(level).resource;
    named(&resource.splines, (2, "spline"), name.as_str(), &resource.name)
}

fn volume_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    let volumes = &engine.levels.of(level).resource.volumes;
    volumes.iter().map(|(name, _)| name.clone()).collect()
}

fn has_volume(engine: &mut Engine, level: LevelId, name: Text) -> bool {
    volume(engine, level, &name).is_ok()
}

fn is_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    name: Text,
    point: Vec3,
) -> Result<bool, Error> {
    let place = engine.levels.of(level).place;
    Ok(volume(engine, level, &name)?.contains(place.inside(point)))
}

fn random_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    name: Text,
) -> Result<Vec3, Error> {
    let (place, mut random) = (engine.levels.of(level).place, engine.random.clone());
    let point = volume(engine, level, &name)?.random_point(|| random.next_f64());
    engine.random = random;
    Ok(place.out(point))
}

fn next_random_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    seed: Integer,
    name: Text,
) -> Result<(f64, Vec3), Error> {
    let mut seed = u32::try_from(seed.0).map_err(|_| {
        crate::error!("argument #2 'seed' must be 0 to {}, got {}", u32::MAX, seed.0)
    })?;
    let place = engine.levels.of(level).place;
    let resource = &engine.levels.of(level).resource;
    let volume = named(&resource.volumes, (3, "volume"), name.as_str(), &resource.name)?;
    let point = volume.random_point(|| {
        let (next, number) = next_random(seed);
        seed = next;
        number
    });
    Ok((seed.into(), place.out(point)))
}

fn spline_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    let splines = &engine.levels.of(level).resource.splines;
    splines.iter().map(|(name, _)| name.clone()).collect()
}

fn num_splines(engine: &mut Engine, level: LevelId) -> f64 {
    engine.levels.of(level).resource.splines.len() as f64
}

fn spline_length(engine: &mut Engine, level: LevelId, name: Text) -> Result<f64, Error> {
    let scale = engine.levels.of(level).place.scale;
    Ok(f64::from(spline(engine, level, &name)?.length() * scale))
}

fn spline_position(
    engine: &mut Engine,
    level: LevelId,
    name: Text,
    distance: f64,
) -> Result<Vec3, Error> {
    let place = engine.levels.of(level).place;
    let at = spline(engine, level, &name)?.position(distance as f32 / place.scale);
    Ok(place.out(at))
}

fn object_set_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    engine.levels.of(level).resource.object_sets.clone()
}

fn spawn_level(
    engine: &mut Engine,
    world: WorldId,
    resource: Text,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<f64>,
    object_sets: Value,
) -> Result<LevelId, Error> {
    let place = Place {
        position: position.unwrap_or(Vec3::ZERO),
        rotation: rotation.unwrap_or(Quat::IDENTITY),
        scale: scale.unwrap_or(1.0) as f32,
    };
    if (place.rotation.length_squared() - 1.0).abs() > 1e-3 {
        return Err(crate::error!(
            "argument #4 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            place.rotation.length()
        ));
    }
    if !place.is_possible() {
        let scale = scale.unwrap_or(1.0);
        return Err(crate::error!(
            "option 'scale' must be above 0, and at most 3.4e38, got {scale}"
        ));
    }
    let no_list = || crate::error!("option 'object_sets' must be a list of names");
    let sets: Option<Vec<String>> = match object_sets {
        Value::Nil => None,
        Value::List(names) if names.len() > OBJECT_SETS_MAX => {
            return Err(crate::error!(
                "option 'object_sets' has {} names, and {OBJECT_SETS_MAX} are the most \
                 (OBJECT_SETS_MAX): name each set once",
                names.len()
            ));
        }
        Value::List(names) => {
            let text = |name: Value| match name {
                Value::Text(name) => Ok(name),
                _ => Err(no_list()),
            };
            Some(names.into_iter().map(text).collect::<Result<_, Error>>()?)
        }
        // An empty table: of no set.
        Value::Table(entries) if entries.is_empty() => Some(Vec::new()),
        _ => return Err(no_list()),
    };
    let Engine { levels, store, .. } = engine;
    levels.add(store, world, resource.as_str(), place, sets.as_deref())
}

fn level_next(engine: &mut Engine, level: LevelId) -> Result<Option<UnitId>, Error> {
    let Some((level, place)) = engine.levels.next_waiting(level) else { return Ok(None) };
    let inside = engine.levels.of(level);
    let (world, level_place, made_of) = (inside.world, inside.place, inside.resource.clone());
    let unit = &made_of.units[place as usize];
    let mut spawn = || {
        let resource = unit_resource(engine, &unit.unit)?;
        let pose = level_place.pose(&unit.placed, &resource.poses[0]);
        if !(pose.position.is_finite() && pose.scale.is_finite()) {
            return Err(crate::error!(
                "it would be at {} with the scale {}, which cannot be: place or size it, or the \
                 level, less far",
                pose.position,
                pose.scale
            ));
        }
        engine.spawn_unit(world, &resource, &pose)
    };
    let id = spawn().map_err(|fault| {
        let (level, name) = (&made_of.name, &unit.name);
        let message = format!("level \"{level}\", unit '{name}': {}", fault.message);
        Error { message, ..fault }
    })?;
    engine.levels.spawned(level, place, id);
    Ok(Some(id))
}

fn level_unit_data(engine: &mut Engine, unit: UnitId) -> Value {
    let Some((level, place)) = engine.levels.of_unit(unit) else { return Value::Nil };
    Value::from_tree(&engine.levels.of(level).resource.units[place as usize].data)
}

fn level_data(engine: &mut Engine, level: LevelId) -> Value {
    Value::from_tree(&engine.levels.of(level).resource.data)
}

fn handles(levels: impl IntoIterator<Item = Handle>) -> Value {
    Value::List(levels.into_iter().map(|handle| Value::Number(handle.to_number())).collect())
}

fn levels(engine: &mut Engine, world: WorldId) -> Value {
    handles(engine.levels.in_world(world).into_iter().map(|level| level.0))
}

fn nested_levels(engine: &mut Engine, level: LevelId) -> Value {
    handles(engine.levels.of(level).nested.iter().map(|level| level.0))
}

fn level_units(engine: &mut Engine, level: LevelId) -> Value {
    let count = engine.levels.of(level).units.len();
    handles((0..count).filter_map(|place| living(engine, level, place)).map(|unit| unit.0))
}

fn level_set(engine: &mut Engine, level: LevelId, name: Text) -> Result<Value, Error> {
    let resource = &engine.levels.of(level).resource;
    let set = resource.object_set(name.as_str())?;
    let inside = (0..resource.units.len()).filter(|unit| resource.units[*unit].is_in(set));
    Ok(handles(inside.filter_map(|place| living(engine, level, place)).map(|unit| unit.0)))
}

fn spline_numbers(engine: &mut Engine, level: LevelId, name: Text) -> Result<Value, Error> {
    let place = engine.levels.of(level).place;
    let points = spline(engine, level, &name)?.points.iter().map(|point| place.out(*point));
    let numbers = points.flat_map(|point| point.to_array());
    Ok(Value::List(numbers.map(|number| Value::Number(number.into())).collect()))
}

fn check_level(engine: &mut Engine, world: WorldId, level: LevelId) -> Result<(), Error> {
    let inside = engine.levels.of(level);
    if inside.world != world {
        return Err(crate::error!("argument #2 'level': the level is in another world"));
    }
    match inside.parent {
        Some(_) => Err(crate::error!(
            "argument #2 'level': it stands in another level, and ends with it: destroy that one"
        )),
        None => Ok(()),
    }
}

fn end_level(engine: &mut Engine, level: LevelId) {
    let frame = engine.frame.index;
    engine.levels.remove(level, frame, &cx::place());
}
