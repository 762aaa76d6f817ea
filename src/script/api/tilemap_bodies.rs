//! The Lua module `Tilemap`: collision made from tiles, and the place of a unit's map in its world,
//! where units are spawned at the map's objects (lua/world/tilemap_units.lua).

use crate::api_row::{ModuleRows, NodeFlag, func, module, more};
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Vec3, error};
use engine_runtime::{Engine, MapPlane};
use engine_tilemaps::{
    Chain, CollisionTable, OUTLINE_EDGES_MAX, Segment, TilemapId, outline_chains,
};
use engine_world::tilemap_collision::CollisionSettings;
use engine_world::unit::UnitId;

pub static TILEMAP: ModuleRows = more(
    "Tilemap",
    &[
        func(
            "set_collision",
            set_collision,
            &[
                ("tilemap", "the map of a unit"),
                (
                    "collision",
                    "true, false, or a table with the fields of `collision` in a unit's file",
                ),
            ],
            "Gives a map a static actor, made from the outlines of its solid tiles and named like \
             its component, in place of the one that it has; false removes it. The actor follows \
             later changes of tiles.",
        ),
        func(
            "world_position",
            world_position,
            &[
                ("tilemap", "the map of a unit"),
                ("x", "texels from the map's left edge"),
                ("y", "texels from the map's bottom edge"),
            ],
            "Returns the position in the world of a point of a map, as of the last update or a \
             later move of its unit.",
        )
        .node(NodeFlag::Query),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "Tilemap",
    "The unit of a map, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "tilemap_outlines",
            outlines,
            &[("tilemap", ""), ("collision", "")],
            "Returns the outlines of solid and of one-way tiles, as a list of two.",
        )
        .public_name("Tilemap.outlines"),
        func("tilemap_unit", unit, &[("tilemap", "")], "Returns the unit of a map.")
            .public_name("Tilemap.spawn_units"),
        func(
            "tilemap_pose",
            pose,
            &[("tilemap", "")],
            "Returns the position of the bottom left of a map, and its rotation.",
        )
        .public_name("Tilemap.spawn_units"),
    ],
);

fn no_unit(remedy: &str) -> Error {
    error!("argument #1 'tilemap': the map belongs to no unit: {remedy}")
}

/// Returns the settings of a collision in an argument.
fn settings(collision: &ScriptValue) -> Result<Option<CollisionSettings>, Error> {
    let tree = match collision.to_tree() {
        SjsonTree::Array(items) if items.is_empty() => SjsonTree::Object(Vec::new()),
        tree => tree,
    };
    CollisionSettings::read(&tree)
        .map_err(|fault| error!("argument #2 'collision': {}", fault.message))
}

fn set_collision(engine: &mut Engine, map: TilemapId, collision: ScriptValue) -> Result<(), Error> {
    let settings = settings(&collision)?;
    match engine.set_tilemap_collision(map, settings)? {
        true => Ok(()),
        false => Err(no_unit(
            "get a map with Unit.tilemap(unit, 1), or use Tilemap.outlines for your own collision",
        )),
    }
}

fn outlines(
    engine: &mut Engine,
    map: TilemapId,
    collision: ScriptValue,
) -> Result<ScriptValue, Error> {
    let Some(settings) = settings(&collision)? else {
        return Err(error!("argument #2 'collision' must be true or a table, got false"));
    };
    let tilemap = engine.assets.tilemaps.of(map);
    let table = CollisionTable::new(tilemap.file(), settings.rules().clone());
    let outlines = tilemap.all_outlines(&table)?;
    if outlines.len() > OUTLINE_EDGES_MAX {
        return Err(error!(
            "the outlines of the tile map '{}' have {} edges, and {OUTLINE_EDGES_MAX} is the most \
             (OUTLINE_EDGES_MAX): name fewer layers or tiles",
            tilemap.name,
            outlines.len()
        ));
    }
    let list = |segments: &[Segment]| {
        ScriptValue::List(outline_chains(segments).iter().map(chain).collect())
    };
    Ok(ScriptValue::List(vec![list(&outlines.solid), list(&outlines.one_way)]))
}

fn chain(chain: &Chain) -> ScriptValue {
    let point = |[x, y]: &[f64; 2]| {
        let fields = [("x", *x), ("y", *y)];
        ScriptValue::Table(
            fields.map(|(key, at)| (key.to_string(), ScriptValue::Number(at))).into(),
        )
    };
    let points = ScriptValue::List(chain.points.iter().map(point).collect());
    let closed = ScriptValue::Boolean(chain.is_closed);
    ScriptValue::Table(vec![("points".to_string(), points), ("closed".to_string(), closed)])
}

/// Returns the plane of a unit's map in its world.
fn plane(engine: &mut Engine, map: TilemapId) -> Result<MapPlane, Error> {
    engine.worlds.map_plane(&engine.assets, map).ok_or_else(|| {
        no_unit("spawn a unit with a component tilemap, and get its map with Unit.tilemap(unit, 1)")
    })
}

fn world_position(engine: &mut Engine, map: TilemapId, x: f64, y: f64) -> Result<Vec3, Error> {
    let plane = plane(engine, map)?;
    Ok(plane.origin + plane.right * x as f32 + plane.up * y as f32)
}

fn unit(engine: &mut Engine, map: TilemapId) -> Result<UnitId, Error> {
    plane(engine, map).map(|plane| plane.unit)
}

/// Returns seven numbers: a row of the prelude alone cannot return vectors.
fn pose(engine: &mut Engine, map: TilemapId) -> Result<ManyResults, Error> {
    let plane = plane(engine, map)?;
    let numbers = plane.origin.to_array().into_iter().chain(plane.rotation.to_array());
    Ok(ManyResults(numbers.map(|number| ScriptValue::Number(f64::from(number))).collect()))
}
