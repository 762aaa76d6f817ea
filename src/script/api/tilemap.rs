//! `Tilemap`: maps of Tiled and LDtk, to draw, ask and change. Drawing is the prelude's
//! (lua/tilemap.lua), around the native parts at the end of this file.

use crate::engine::{Engine, TilemapLook};
use crate::foundation::sjson::Tree;
use crate::foundation::{Color, Error, Handle, Vec3, suggest};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::gui::GuiId;
use crate::system::tilemaps::{MapObject, TilemapId, number_of};

const MAP_ARG: (&str, &str) = ("tilemap", "a tile map");
const LAYER_ARG: (&str, &str) = ("layer", "the name of one of its layers");
const COLUMN_ARG: (&str, &str) = ("column", "from 1 at the left");
const ROW_ARG: (&str, &str) = ("row", "from 1 at the bottom");

pub static TILEMAP: Module = module(
    "Tilemap",
    "Maps of tiles, made with Tiled (.tmx, .tmj) or LDtk (.ldtk). Each that a game makes is its \
     own copy, whose tiles can be changed. Columns and rows count from 1, from the left bottom; \
     lengths are texels, y upward.",
    r#"assert(not pcall(Tilemap.new, "maps/of_no_game"))"#,
    &[
        func(
            "new",
            new,
            &[
                ("resource", "the name of a map, as \"maps/cave\" for maps/cave.tmx"),
                ("level", "which level of LDtk's; the first if left out"),
            ],
            "Makes a map of a file.",
        ),
        func("destroy", destroy, &[MAP_ARG], "Ends a map. Its handle is stale from then on.")
            .when_full(),
        hot(
            "alive",
            alive,
            &[("tilemap", "a number that may be a tile map's handle")],
            "Whether the handle leads to a map that is there. Never raises for a stale handle.",
        )
        .pure(),
        func(
            "level_names",
            level_names,
            &[("resource", "the name of a map")],
            "The names of the levels in a file of LDtk's; of Tiled's, one that is empty.",
        )
        .pure(),
        func("size", size, &[MAP_ARG], "How many columns and rows it has.").pure(),
        func("tile_size", tile_size, &[MAP_ARG], "Width and height of a cell, in texels.").pure(),
        func(
            "cell_at",
            cell_at,
            &[MAP_ARG, ("x", "texels from the map's left"), ("y", "texels from its bottom")],
            "The column and the row that a place is in; they may be outside of the map.",
        )
        .pure(),
        func("layer_names", layer_names, &[MAP_ARG], "Its layers of tiles, the lowest first.")
            .pure(),
        func(
            "tile",
            tile,
            &[MAP_ARG, LAYER_ARG, COLUMN_ARG, ROW_ARG],
            "The number of a tile; 0 where there is none, and outside of the layer.",
        )
        .pure(),
        func(
            "set_tile",
            set_tile,
            &[MAP_ARG, LAYER_ARG, COLUMN_ARG, ROW_ARG, ("tile", "its number; 0 takes it away")],
            "Puts another tile.",
        ),
        func(
            "is_layer_visible",
            is_layer_visible,
            &[MAP_ARG, LAYER_ARG],
            "Whether `Tilemap.draw` draws a layer.",
        )
        .pure(),
        func(
            "set_layer_visible",
            set_layer_visible,
            &[MAP_ARG, LAYER_ARG, ("visible", "whether it is drawn from now on")],
            "Shows or hides a layer.",
        ),
        func(
            "tile_properties",
            tile_properties,
            &[MAP_ARG, ("tile", "the number of a tile")],
            "What the tile set says of a tile: its properties as a table, and its class as `type`; \
             an empty one where it says nothing.",
        )
        .pure(),
        func(
            "objects",
            objects,
            &[MAP_ARG, ("layer", "the name of a layer of objects; of all if left out")],
            "What is placed freely, as tables: `name`, `type`, `layer`, `x`, `y` (of its left \
             bottom), `width`, `height`, `rotation` (degrees with the clock), `tile`, `points` \
             (from its left bottom, `{ x, y }` each), `properties`.",
        )
        .pure(),
        func("properties", properties, &[MAP_ARG], "The map's own properties, as a table.").pure(),
        func("grid_names", grid_names, &[MAP_ARG], "Its grids of numbers: LDtk's IntGrids.").pure(),
        func(
            "grid_value",
            grid_value,
            &[MAP_ARG, ("grid", "the name of a grid"), COLUMN_ARG, ROW_ARG],
            "The number in a cell of a grid; 0 where there is none, and outside of the grid.",
        )
        .pure(),
    ],
);

/// What the prelude's functions stand on. They are in its table `core`.
pub static CORE: Module = module(
    "Tilemap",
    "Drawing, for the prelude.",
    "assert(core == nil)",
    &[func(
        "tilemap_draw",
        draw,
        &[
            ("tilemap", ""),
            ("gui", ""),
            ("position", ""),
            ("scale", ""),
            ("color", ""),
            ("layers", ""),
        ],
        "Draws what is seen of a map.",
    )
    .told_as("Tilemap.draw")],
);

fn new(engine: &mut Engine, name: Text, level: Option<Text>) -> Result<TilemapId, Error> {
    let Engine { tilemaps, store, .. } = engine;
    tilemaps.add(store, name.as_str(), level.as_ref().map(Text::as_str))
}

fn destroy(engine: &mut Engine, map: TilemapId) -> Result<(), Error> {
    if engine.tilemaps.of(map).owner.is_some() {
        return Err(crate::error!(
            "argument #1 'tilemap': the map is of a unit, and ends with it: use \
             World.destroy_unit(world, unit)"
        ));
    }
    let frame = engine.frame.index;
    engine.tilemaps.remove(map, frame, &cx::place());
    Ok(())
}

fn alive(engine: &mut Engine, map: AnyNumber) -> bool {
    Handle::from_number(map.0).is_some_and(|handle| engine.tilemaps.slots.get(handle).is_some())
}

fn level_names(engine: &mut Engine, name: Text) -> Result<Vec<String>, Error> {
    let Engine { tilemaps, store, .. } = engine;
    let world = tilemaps.world(store, name.as_str())?;
    Ok(world.maps.iter().map(|map| map.name.clone()).collect())
}

fn size(engine: &mut Engine, map: TilemapId) -> (f64, f64) {
    let map = engine.tilemaps.of(map).map();
    (map.columns.into(), map.rows.into())
}

fn tile_size(engine: &mut Engine, map: TilemapId) -> (f64, f64) {
    let map = engine.tilemaps.of(map).map();
    (map.tile_width.into(), map.tile_height.into())
}

fn cell_at(engine: &mut Engine, map: TilemapId, x: f64, y: f64) -> (f64, f64) {
    let map = engine.tilemaps.of(map).map();
    let cell = |at: f64, size: f32| (at / f64::from(size)).floor() + 1.0;
    (cell(x, map.tile_width), cell(y, map.tile_height))
}

fn layer_names(engine: &mut Engine, map: TilemapId) -> Vec<String> {
    engine.tilemaps.of(map).map().layers.iter().map(|layer| layer.name.clone()).collect()
}

/// The place of a layer by its name.
fn layer_of(engine: &Engine, map: TilemapId, name: &str) -> Result<usize, Error> {
    let map = engine.tilemaps.of(map);
    map.layer(name).ok_or_else(|| {
        let names = map.map().layers.iter().map(|layer| layer.name.as_str());
        let hint = suggest::hint(name, names);
        crate::error!("the tile map '{}' has no layer '{name}'{hint}", map.name)
    })
}

fn tile(
    engine: &mut Engine,
    map: TilemapId,
    layer: Text,
    column: Integer,
    row: Integer,
) -> Result<f64, Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    let tile = engine.tilemaps.of(map).tile(layer, column.0, row.0);
    Ok(f64::from(tile.map_or(0, number_of)))
}

fn set_tile(
    engine: &mut Engine,
    map: TilemapId,
    layer: Text,
    column: Integer,
    row: Integer,
    tile: Integer,
) -> Result<(), Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    let tilemap = engine.tilemaps.of_mut(map);
    let number = u32::try_from(tile.0).ok();
    let known = number.filter(|number| *number == 0 || tilemap.set_of(*number).is_some());
    let Some(number) = known else {
        return Err(crate::error!(
            "argument #5 'tile': the map's tile sets have no tile of the number {}",
            tile.0
        ));
    };
    match tilemap.set_tile(layer, column.0, row.0, number) {
        true => Ok(()),
        false => {
            let of = &tilemap.map().layers[layer];
            Err(crate::error!(
                "column {} and row {} are outside of the layer, which has {} and {}",
                column.0,
                row.0,
                of.columns,
                of.rows
            ))
        }
    }
}

fn is_layer_visible(engine: &mut Engine, map: TilemapId, layer: Text) -> Result<bool, Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    Ok(engine.tilemaps.of(map).is_visible(layer))
}

fn set_layer_visible(
    engine: &mut Engine,
    map: TilemapId,
    layer: Text,
    visible: bool,
) -> Result<(), Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    engine.tilemaps.of_mut(map).show(layer, visible);
    Ok(())
}

fn tile_properties(engine: &mut Engine, map: TilemapId, tile: Integer) -> Value {
    let tilemap = engine.tilemaps.of(map);
    let found = u32::try_from(tile.0).ok().and_then(|number| tilemap.set_of(number));
    let properties = found.and_then(|(set, number)| {
        tilemap.sets()[set].properties.iter().find(|(tile, _)| *tile == number)
    });
    properties.map_or(Value::Table(Vec::new()), |(_, tree)| Value::from_tree(tree))
}

fn object(object: &MapObject) -> Value {
    let number = |number: f32| Value::Number(number.into());
    let point = |[x, y]: &[f32; 2]| {
        Value::Table(vec![("x".to_string(), number(*x)), ("y".to_string(), number(*y))])
    };
    let mut fields = vec![
        ("name", Value::Text(object.name.clone())),
        ("type", Value::Text(object.kind.clone())),
        ("layer", Value::Text(object.layer.clone())),
        ("x", number(object.x)),
        ("y", number(object.y)),
        ("width", number(object.width)),
        ("height", number(object.height)),
        ("rotation", number(object.rotation)),
        ("tile", Value::Number(number_of(object.tile).into())),
        ("properties", Value::from_tree(&object.properties)),
    ];
    if !object.points.is_empty() {
        fields.push(("points", Value::List(object.points.iter().map(point).collect())));
    }
    Value::Table(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn objects(engine: &mut Engine, map: TilemapId, layer: Option<Text>) -> Result<Value, Error> {
    let tilemap = engine.tilemaps.of(map);
    let all = &tilemap.map().objects;
    let Some(layer) = layer else { return Ok(Value::List(all.iter().map(object).collect())) };
    let within: Vec<_> = all.iter().filter(|it| it.layer == layer.as_str()).map(object).collect();
    if within.is_empty() {
        let hint = suggest::hint(layer.as_str(), all.iter().map(|it| it.layer.as_str()));
        let (name, layer) = (&tilemap.name, layer.as_str());
        return Err(crate::error!(
            "argument #2 'layer': the tile map '{name}' has no objects in a layer '{layer}'{hint}"
        ));
    }
    Ok(Value::List(within))
}

fn properties(engine: &mut Engine, map: TilemapId) -> Value {
    match &engine.tilemaps.of(map).map().properties {
        Tree::Object(fields) if fields.is_empty() => Value::Table(Vec::new()),
        tree => Value::from_tree(tree),
    }
}

fn grid_names(engine: &mut Engine, map: TilemapId) -> Vec<String> {
    engine.tilemaps.of(map).map().grids.iter().map(|grid| grid.name.clone()).collect()
}

fn grid_value(
    engine: &mut Engine,
    map: TilemapId,
    grid: Text,
    column: Integer,
    row: Integer,
) -> Result<f64, Error> {
    let tilemap = engine.tilemaps.of(map);
    let grids = &tilemap.map().grids;
    let name = grid.as_str();
    let grid = grids.iter().find(|known| known.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, grids.iter().map(|grid| grid.name.as_str()));
        crate::error!(
            "argument #2 'grid': the tile map '{}' has no grid '{name}'{hint}",
            tilemap.name
        )
    })?;
    let inside = (1..=i64::from(grid.columns)).contains(&column.0)
        && (1..=i64::from(grid.rows)).contains(&row.0);
    let place = (row.0 - 1) * i64::from(grid.columns) + column.0 - 1;
    Ok(if inside { grid.values[place as usize].into() } else { 0.0 })
}

fn draw(
    engine: &mut Engine,
    map: TilemapId,
    gui: GuiId,
    position: Vec3,
    scale: f64,
    color: Color,
    layers: Value,
) -> Result<f64, Error> {
    if scale <= 0.0 {
        return Err(crate::error!("option 'scale' must be above 0, got {scale}"));
    }
    let mut wanted = Vec::new();
    if let Value::List(names) = layers {
        for name in names {
            let Value::Text(name) = name else {
                return Err(crate::error!("option 'layers' must be a list of names"));
            };
            wanted.push(layer_of(engine, map, &name)?);
        }
    } else if matches!(layers, Value::Table(_)) {
        return Ok(0.0);
    }
    let look = TilemapLook {
        at: [position.x, position.y],
        layer: position.z.floor() as i32,
        scale: scale as f32,
        color: [color.red, color.green, color.blue, color.alpha].map(|part| part as u8),
        layers: wanted,
    };
    engine.draw_tilemap(map, gui, &look).map(|count| count as f64)
}
