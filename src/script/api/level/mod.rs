//! The Lua module `Level`: queries of a level that is in a world. Spawning, removal and data are in
//! the prelude (lua/world/level.lua), around the native parts at the end of this file.

pub(super) mod reload;
pub(super) mod resource;

use crate::api::unit::resource as unit_resource;
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::random::next_random;
use engine_foundation::{Error, Handle, Mat4, Quat, Vec3, doing, suggest};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::level::{LevelId, LevelTransform};
use engine_world::level_resource::OBJECT_SETS_MAX;
use engine_world::spline::Spline;
use engine_world::unit::UnitId;
use engine_world::volume::Volume;

const LEVEL_ARG: (&str, &str) = ("level", "a level");
const VOLUME_ARG: (&str, &str) = ("volume", "the name of one of the level's volumes");
const SPLINE_ARG: (&str, &str) = ("spline", "the name of one of the level's splines");

pub static LEVEL: ModuleRows = module(
    "Level",
    "A level in a world: placed units, with volumes, splines and nested levels. \
     `World.spawn_level` spawns one from a `.level` file. Units are numbered from 1, in the order \
     of the file.",
    r#"local world = Application.new_world()
assert(#World.levels(world) == 0 and not Level.alive(world))
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("level", "a number that may be the handle of a level; nil and false are none")],
            "Returns true if the handle refers to an existing level. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("world", world, &[LEVEL_ARG], "Returns the world that contains the level.").pure(),
        func(
            "resource_name",
            resource_name,
            &[LEVEL_ARG],
            "Returns the name of the resource that the level was spawned from.",
        )
        .pure(),
        func("pose", pose, &[LEVEL_ARG], "Returns the pose of the level in its world.").pure(),
        func(
            "parent",
            parent,
            &[LEVEL_ARG],
            "Returns the level that contains this level, or nil if it is not nested.",
        )
        .pure(),
        func("num_units", num_units, &[LEVEL_ARG], "Returns the number of units in its file.")
            .pure(),
        func(
            "unit_by_index",
            unit_by_index,
            &[LEVEL_ARG, ("index", "index of the unit in the level's file")],
            "Returns one of the level's units; nil if the file has no unit with that index, or if \
             the unit no longer exists or was not spawned.",
        )
        .pure(),
        func(
            "unit_index",
            unit_index,
            &[LEVEL_ARG, ("unit", "a unit")],
            "Returns the index of a unit in the level's file; nil if it was not spawned with this \
             level.",
        )
        .pure(),
        func(
            "unit",
            unit,
            &[LEVEL_ARG, ("name", "the unit's name in the level's file")],
            "Returns the unit with that name; nil if it no longer exists, or was not spawned.",
        )
        .pure(),
        func(
            "unit_name",
            unit_name,
            &[LEVEL_ARG, ("unit", "one of the level's units")],
            "Returns the name of a unit in the level's file.",
        )
        .pure(),
        func(
            "num_nested_levels",
            num_nested_levels,
            &[LEVEL_ARG],
            "Returns the number of levels that are nested in this level.",
        )
        .pure(),
        func(
            "progress",
            progress,
            &[LEVEL_ARG],
            "Returns how much of the level and of its nested levels has been spawned, from 0 to 1.",
        )
        .pure(),
        func("volume_names", volume_names, &[LEVEL_ARG], "Returns the names of its volumes.")
            .pure(),
        func(
            "has_volume",
            has_volume,
            &[LEVEL_ARG, VOLUME_ARG],
            "Returns true if the level has a volume with that name.",
        )
        .pure(),
        func(
            "is_point_inside_volume",
            is_point_inside_volume,
            &[LEVEL_ARG, VOLUME_ARG, ("point", "a point in the world")],
            "Returns true if a point is inside a volume.",
        )
        .pure(),
        func(
            "random_point_inside_volume",
            random_point_inside_volume,
            &[LEVEL_ARG, VOLUME_ARG],
            "Returns a random point inside a volume, in the world. Points are distributed evenly.",
        )
        .pure()
        .node(NodeFlag::Action),
        func(
            "next_random_point_inside_volume",
            next_random_point_inside_volume,
            &[
                LEVEL_ARG,
                ("seed", "a whole number from 0 to 4294967295: the state, which the caller keeps"),
                VOLUME_ARG,
            ],
            "Returns a random point inside a volume that depends on a seed alone: first the next \
             seed, as in `Math.next_random`, then the point.",
        )
        .returns(&["seed the next one", "point a random point in the world"])
        .pure(),
        func("spline_names", spline_names, &[LEVEL_ARG], "Returns the names of its splines.")
            .pure(),
        func("num_splines", num_splines, &[LEVEL_ARG], "Returns the number of splines.").pure(),
        func(
            "spline_length",
            spline_length,
            &[LEVEL_ARG, SPLINE_ARG],
            "Returns the length of a spline, in metres.",
        )
        .pure(),
        func(
            "spline_position",
            spline_position,
            &[LEVEL_ARG, SPLINE_ARG, ("distance", "metres along the spline from its first point")],
            "Returns the point of a spline at a distance along it, in the world. A distance beyond \
             its end results in the end, or continues from the beginning if the spline is closed. \
             Splines are Catmull-Rom curves through their points.",
        )
        .pure(),
        func(
            "object_set_names",
            object_set_names,
            &[LEVEL_ARG],
            "Returns the names of the level's object sets.",
        )
        .pure(),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "World",
    "Native functions on levels, for the prelude.",
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
            "Creates a level without its units.",
        ),
        func("level_next", level_next, &[("level", "")], "Spawns the next unit of a level.")
            .public_name("World.spawn_level"),
        func(
            "level_unit_data",
            level_unit_data,
            &[("unit", "")],
            "Returns a unit's data in the level's file.",
        )
        .pure(),
        func("level_data", level_data, &[("level", "")], "Returns the level's own data.").pure(),
        func("levels", levels, &[("world", "")], "Returns the levels of a world.").pure(),
        func("nested_levels", nested_levels, &[("level", "")], "Returns the nested levels.")
            .public_name("Level.nested_levels")
            .pure(),
        func("level_units", level_units, &[("level", "")], "Returns its existing units.")
            .public_name("Level.units")
            .pure(),
        func(
            "level_set",
            level_set,
            &[("level", ""), ("name", "")],
            "Returns the existing units of a set.",
        )
        .public_name("Level.object_set")
        .pure(),
        func(
            "spline_numbers",
            spline_numbers,
            &[("level", ""), ("spline", "")],
            "Returns the coordinates of its points.",
        )
        .public_name("Level.spline")
        .pure(),
        func(
            "check_level",
            check_level,
            &[("world", ""), ("level", "")],
            "Raises an error if the level cannot be destroyed.",
        )
        .public_name("World.destroy_level")
        .pure(),
        func("end_level", end_level, &[("level", "")], "Removes a level without units.")
            .when_full(),
    ],
);

fn alive(engine: &mut Engine, level: MaybeHandle) -> bool {
    level.handle().is_some_and(|handle| engine.worlds.levels.slots.get(handle).is_some())
}

fn world(engine: &mut Engine, level: LevelId) -> WorldId {
    engine.worlds.levels.of(level).world
}

fn resource_name(engine: &mut Engine, level: LevelId) -> String {
    engine.worlds.levels.of(level).resource.name.clone()
}

fn pose(engine: &mut Engine, level: LevelId) -> Mat4 {
    let LevelTransform { position, rotation, scale } = engine.worlds.levels.of(level).transform;
    Mat4::from_scale_rotation_translation(Vec3::splat(scale), rotation, position)
}

fn parent(engine: &mut Engine, level: LevelId) -> Option<LevelId> {
    engine.worlds.levels.of(level).parent
}

fn num_units(engine: &mut Engine, level: LevelId) -> u64 {
    engine.worlds.levels.of(level).units.len() as u64
}

fn live_unit(engine: &Engine, level: LevelId, index: usize) -> Option<UnitId> {
    let unit = engine.worlds.levels.of(level).units[index]?;
    engine.worlds.units.slots.get(unit.0).map(|_| unit)
}

fn unit_by_index(engine: &mut Engine, level: LevelId, index: Integer) -> Option<UnitId> {
    let count = engine.worlds.levels.of(level).units.len() as i64;
    let is_in_file = (1..=count).contains(&index.0);
    is_in_file.then(|| live_unit(engine, level, index.0 as usize - 1)).flatten()
}

fn unit_index(engine: &mut Engine, level: LevelId, unit: UnitId) -> Option<u64> {
    let (of, index) = engine.worlds.levels.of_unit(unit)?;
    (of == level).then_some(u64::from(index) + 1)
}

pub(crate) fn unit(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
) -> Result<Option<UnitId>, Error> {
    let resource = &engine.worlds.levels.of(level).resource;
    let Some(index) = resource.unit_index(name.as_str()) else {
        let hint = suggest::hint(name.as_str(), resource.units.iter().map(|it| it.name.as_str()));
        return Err(engine_foundation::error!(
            "argument #2 'name': level \"{}\" has no unit '{}'{hint}",
            resource.name,
            name.as_str()
        ));
    };
    Ok(live_unit(engine, level, index))
}

/// Returns the living unit that has this name in a level's file.
pub fn unit_of_name(engine: &Engine, level: LevelId, name: &str) -> Option<UnitId> {
    let index = engine.worlds.levels.of(level).resource.unit_index(name)?;
    live_unit(engine, level, index)
}

fn unit_name(engine: &mut Engine, level: LevelId, unit: UnitId) -> Result<String, Error> {
    let index = engine.worlds.levels.of_unit(unit).filter(|(of, _)| *of == level);
    let resource = &engine.worlds.levels.of(level).resource;
    match index {
        Some((_, index)) => Ok(resource.units[index as usize].name.clone()),
        None => Err(engine_foundation::error!(
            "argument #2 'unit': it was not spawned with the level \"{}\"",
            resource.name
        )),
    }
}

/// Returns the level that a unit was spawned with.
pub fn level_of_unit(engine: &mut Engine, unit: UnitId) -> Option<LevelId> {
    engine.worlds.levels.of_unit(unit).map(|(level, _)| level)
}

fn num_nested_levels(engine: &mut Engine, level: LevelId) -> u64 {
    engine.worlds.levels.of(level).nested.len() as u64
}

fn progress(engine: &mut Engine, level: LevelId) -> f64 {
    engine.worlds.levels.progress(level)
}

/// Returns the item with a name from a list of named items.
fn named<'a, T>(
    list: &'a [(String, T)],
    (argument, kind): (usize, &str),
    name: &str,
    level: &str,
) -> Result<&'a T, Error> {
    let found = list.iter().find(|(known, _)| known == name);
    found.map(|(_, item)| item).ok_or_else(|| {
        let hint = suggest::hint(name, list.iter().map(|(known, _)| known.as_str()));
        engine_foundation::error!(
            "argument #{argument} '{kind}': level \"{level}\" has no {kind} '{name}'{hint}"
        )
    })
}

fn volume<'a>(
    engine: &'a Engine,
    level: LevelId,
    name: &TextArgument,
) -> Result<&'a Volume, Error> {
    let resource = &engine.worlds.levels.of(level).resource;
    named(&resource.volumes, (2, "volume"), name.as_str(), &resource.name)
}

fn spline<'a>(
    engine: &'a Engine,
    level: LevelId,
    name: &TextArgument,
) -> Result<&'a Spline, Error> {
    let resource = &engine.worlds.levels.of(level).resource;
    named(&resource.splines, (2, "spline"), name.as_str(), &resource.name)
}

fn volume_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    let volumes = &engine.worlds.levels.of(level).resource.volumes;
    volumes.iter().map(|(name, _)| name.clone()).collect()
}

fn has_volume(engine: &mut Engine, level: LevelId, name: TextArgument) -> bool {
    volume(engine, level, &name).is_ok()
}

fn is_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
    point: Vec3,
) -> Result<bool, Error> {
    let transform = engine.worlds.levels.of(level).transform;
    Ok(volume(engine, level, &name)?.contains(transform.to_local(point)))
}

fn random_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
) -> Result<Vec3, Error> {
    let (transform, mut random) =
        (engine.worlds.levels.of(level).transform, engine.frame.random.clone());
    let point = volume(engine, level, &name)?.random_point(|| random.next_f64());
    engine.frame.random = random;
    Ok(transform.to_world(point))
}

fn next_random_point_inside_volume(
    engine: &mut Engine,
    level: LevelId,
    seed: Integer,
    name: TextArgument,
) -> Result<(f64, Vec3), Error> {
    let mut seed = u32::try_from(seed.0).map_err(|_| {
        engine_foundation::error!("argument #2 'seed' must be 0 to {}, got {}", u32::MAX, seed.0)
    })?;
    let transform = engine.worlds.levels.of(level).transform;
    let resource = &engine.worlds.levels.of(level).resource;
    let volume = named(&resource.volumes, (3, "volume"), name.as_str(), &resource.name)?;
    let point = volume.random_point(|| {
        let (next, number) = next_random(seed);
        seed = next;
        number
    });
    Ok((seed.into(), transform.to_world(point)))
}

fn spline_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    let splines = &engine.worlds.levels.of(level).resource.splines;
    splines.iter().map(|(name, _)| name.clone()).collect()
}

fn num_splines(engine: &mut Engine, level: LevelId) -> u64 {
    engine.worlds.levels.of(level).resource.splines.len() as u64
}

fn spline_length(engine: &mut Engine, level: LevelId, name: TextArgument) -> Result<f64, Error> {
    let scale = engine.worlds.levels.of(level).transform.scale;
    Ok(f64::from(spline(engine, level, &name)?.length() * scale))
}

fn spline_position(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
    distance: f64,
) -> Result<Vec3, Error> {
    let transform = engine.worlds.levels.of(level).transform;
    let at = spline(engine, level, &name)?.position(distance as f32 / transform.scale);
    Ok(transform.to_world(at))
}

fn object_set_names(engine: &mut Engine, level: LevelId) -> Vec<String> {
    engine.worlds.levels.of(level).resource.object_sets.clone()
}

fn spawn_level(
    engine: &mut Engine,
    world: WorldId,
    resource: TextArgument,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<f64>,
    object_sets: ScriptValue,
) -> Result<LevelId, Error> {
    let transform = LevelTransform {
        position: position.unwrap_or(Vec3::ZERO),
        rotation: rotation.unwrap_or(Quat::IDENTITY),
        scale: scale.unwrap_or(1.0) as f32,
    };
    if (transform.rotation.length_squared() - 1.0).abs() > 1e-3 {
        return Err(engine_foundation::error!(
            "argument #4 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            transform.rotation.length()
        ));
    }
    if !transform.is_possible() {
        let scale = scale.unwrap_or(1.0);
        return Err(engine_foundation::error!(
            "option 'scale' must be above 0, and at most 3.4e38, got {scale}"
        ));
    }
    let no_list = || engine_foundation::error!("option 'object_sets' must be a list of names");
    let sets: Option<Vec<String>> = match object_sets {
        ScriptValue::Nil => None,
        ScriptValue::List(names) if names.len() > OBJECT_SETS_MAX => {
            return Err(engine_foundation::error!(
                "option 'object_sets' has {} names, and {OBJECT_SETS_MAX} are the most \
                 (OBJECT_SETS_MAX): name each set once",
                names.len()
            ));
        }
        ScriptValue::List(names) => {
            let text = |name: ScriptValue| match name {
                ScriptValue::Text(name) => Ok(name),
                _ => Err(no_list()),
            };
            Some(names.into_iter().map(text).collect::<Result<_, Error>>()?)
        }
        // An empty table means no object set.
        ScriptValue::Table(entries) if entries.is_empty() => Some(Vec::new()),
        _ => return Err(no_list()),
    };
    let (levels, store) = (&mut engine.worlds.levels, &mut engine.assets.store);
    let level = levels.add(store, world, resource.as_str(), transform, sets.as_deref())?;
    engine.worlds.load_level_shading(&mut engine.assets, level);
    Ok(level)
}

fn level_next(engine: &mut Engine, level: LevelId) -> Result<Option<UnitId>, Error> {
    let Some((level, index)) = engine.worlds.levels.next_waiting(level) else { return Ok(None) };
    let inside = engine.worlds.levels.of(level);
    let (world, level_transform, resource) =
        (inside.world, inside.transform, inside.resource.clone());
    let unit = &resource.units[index as usize];
    let mut spawn = || {
        doing!("When spawning unit:", &unit.unit);
        let resource = unit_resource(engine, &unit.unit)?;
        let pose = level_transform.pose(&unit.pose, &resource.poses[0]);
        if !(pose.position.is_finite() && pose.scale.is_finite()) {
            return Err(engine_foundation::error!(
                "it would be at {} with the scale {}, which is out of range: reduce its position \
                 or scale, or those of the level",
                pose.position,
                pose.scale
            ));
        }
        engine.spawn_unit(world, &resource, &pose)
    };
    let id = spawn().map_err(|error| {
        let (level, name) = (&resource.name, &unit.name);
        let message = format!("level \"{level}\", unit '{name}': {}", error.message);
        Error { message, ..error }
    })?;
    engine.worlds.levels.spawned(level, index, id);
    Ok(Some(id))
}

fn level_unit_data(engine: &mut Engine, unit: UnitId) -> ScriptValue {
    let Some((level, index)) = engine.worlds.levels.of_unit(unit) else { return ScriptValue::Nil };
    ScriptValue::from_tree(&engine.worlds.levels.of(level).resource.units[index as usize].data)
}

fn level_data(engine: &mut Engine, level: LevelId) -> ScriptValue {
    ScriptValue::from_tree(&engine.worlds.levels.of(level).resource.data)
}

fn handles(levels: impl IntoIterator<Item = Handle>) -> ScriptValue {
    ScriptValue::List(
        levels.into_iter().map(|handle| ScriptValue::Number(handle.to_number())).collect(),
    )
}

fn levels(engine: &mut Engine, world: WorldId) -> ScriptValue {
    handles(engine.worlds.levels.in_world(world).into_iter().map(|level| level.0))
}

fn nested_levels(engine: &mut Engine, level: LevelId) -> ScriptValue {
    handles(engine.worlds.levels.of(level).nested.iter().map(|level| level.0))
}

fn level_units(engine: &mut Engine, level: LevelId) -> ScriptValue {
    let count = engine.worlds.levels.of(level).units.len();
    handles((0..count).filter_map(|index| live_unit(engine, level, index)).map(|unit| unit.0))
}

fn level_set(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
) -> Result<ScriptValue, Error> {
    let resource = &engine.worlds.levels.of(level).resource;
    let set = resource.object_set(name.as_str())?;
    let inside = (0..resource.units.len()).filter(|unit| resource.units[*unit].is_in(set));
    Ok(handles(inside.filter_map(|index| live_unit(engine, level, index)).map(|unit| unit.0)))
}

fn spline_numbers(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
) -> Result<ScriptValue, Error> {
    let transform = engine.worlds.levels.of(level).transform;
    let points =
        spline(engine, level, &name)?.points.iter().map(|point| transform.to_world(*point));
    let numbers = points.flat_map(|point| point.to_array());
    Ok(ScriptValue::List(numbers.map(|number| ScriptValue::Number(number.into())).collect()))
}

fn check_level(engine: &mut Engine, world: WorldId, level: LevelId) -> Result<(), Error> {
    let inside = engine.worlds.levels.of(level);
    if inside.world != world {
        return Err(engine_foundation::error!(
            "argument #2 'level': the level is in another world"
        ));
    }
    match inside.parent {
        Some(_) => Err(engine_foundation::error!(
            "argument #2 'level': it is part of another level, and ends with it: destroy that one"
        )),
        None => Ok(()),
    }
}

fn end_level(engine: &mut Engine, level: LevelId) {
    let frame = engine.frame.index;
    engine.end_level_meshes(level, &context::script_location());
    engine.worlds.levels.remove(level, frame, &context::script_location());
}
