//! The Lua module `Tilemap`: maps of Tiled and LDtk, to draw, query and change. Drawing is in the
//! prelude (lua/world/tilemap.lua), around the native parts at the end of this file.

use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::context;
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Color, Error, Vec3, suggest};
use engine_gui::GuiId;
use engine_runtime::{Engine, TilemapDrawOptions};
use engine_tilemaps::{MapObject, TilemapId, number_of};

const MAP_ARG: (&str, &str) = ("tilemap", "a tile map");
const LAYER_ARG: (&str, &str) = ("layer", "the name of one of its layers");
const COLUMN_ARG: (&str, &str) = ("column", "from 1 at the left");
const ROW_ARG: (&str, &str) = ("row", "from 1 at the bottom");

pub static TILEMAP: ModuleRows = module(
    "Tilemap",
    "Maps of tiles, made with Tiled (.tmx, .tmj) or LDtk (.ldtk). Each map from `Tilemap.new` is a \
     separate copy, whose tiles can be changed. Columns and rows count from 1, from the bottom \
     left. Lengths are in texels, with y up.",
    r#"assert(not pcall(Tilemap.new, "maps/of_no_game"))"#,
    &[
        func(
            "new",
            new,
            &[
                ("resource", "the name of a map, such as \"maps/cave\" for maps/cave.tmx"),
                ("level", "the level of an LDtk file; the first one if left out"),
            ],
            "Creates a map from a file.",
        ),
        func("destroy", destroy, &[MAP_ARG], "Destroys a map. Its handle is stale afterwards.")
            .when_full(),
        hot(
            "alive",
            alive,
            &[("tilemap", "a number that may be a tile map's handle; nil and false are none")],
            "Returns true if the handle refers to an existing map. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "level_names",
            level_names,
            &[("resource", "the name of a map")],
            "Returns the names of the levels in an LDtk file; for a Tiled map, one empty name.",
        )
        .pure(),
        func("size", size, &[MAP_ARG], "Returns the number of its columns and rows.")
            .returns(&["columns number of columns", "rows number of rows"])
            .pure(),
        func(
            "tile_size",
            tile_size,
            &[MAP_ARG],
            "Returns the width and height of a cell, in texels.",
        )
        .returns(&["width in texels", "height in texels"])
        .pure(),
        func(
            "cell_at",
            cell_at,
            &[
                MAP_ARG,
                ("x", "texels from the map's left edge"),
                ("y", "texels from the map's bottom edge"),
            ],
            "Returns the column and row of the cell at a position. They can be outside the map. In \
             isometric and hexagonal maps it is the cell whose diamond or hexagon is there.",
        )
        .returns(&["column from 1", "row from 1"])
        .pure(),
        func(
            "cell_position",
            cell_position,
            &[MAP_ARG, COLUMN_ARG, ROW_ARG],
            "Returns the position of the middle of a cell, as x and y in texels from the map's \
             bottom left. The cell can be outside the map.",
        )
        .returns(&["x texels from the left", "y texels from the bottom"])
        .pure(),
        func(
            "layer_names",
            layer_names,
            &[MAP_ARG],
            "Returns the names of its layers, the lowest first: layers of tiles, pictures, and \
             object layers with tiles.",
        )
        .pure(),
        func(
            "tile",
            tile,
            &[MAP_ARG, LAYER_ARG, COLUMN_ARG, ROW_ARG],
            "Returns the number of a tile; 0 for an empty cell, and outside the layer.",
        )
        .pure(),
        func(
            "set_tile",
            set_tile,
            &[
                MAP_ARG,
                LAYER_ARG,
                COLUMN_ARG,
                ROW_ARG,
                ("tile", "the tile's number; 0 empties the cell"),
            ],
            "Sets the tile of a cell.",
        ),
        func(
            "is_layer_visible",
            is_layer_visible,
            &[MAP_ARG, LAYER_ARG],
            "Returns true if `Tilemap.draw` draws a layer. Object layers are hidden at first.",
        )
        .pure(),
        func(
            "set_layer_visible",
            set_layer_visible,
            &[MAP_ARG, LAYER_ARG, ("visible", "true to draw it from now on")],
            "Shows or hides a layer.",
        ),
        func(
            "tile_properties",
            tile_properties,
            &[MAP_ARG, ("tile", "the number of a tile")],
            "Returns the data of a tile in the tile set: its properties as a table, and its class \
             as `type`. The table is empty if there is no data.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "objects",
            objects,
            &[MAP_ARG, ("layer", "the name of an object layer; all of them if left out")],
            "Returns the freely placed objects as tables: `name`, `type`, `layer`, `x`, `y` (of \
             the bottom left), `width`, `height`, `rotation` (degrees clockwise), `tile`, `shape` \
             (\"rectangle\", \"ellipse\", \"point\", \"polygon\" or \"polyline\"), `points` (from \
             the bottom left, `{ x, y }` each), `properties`.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func("properties", properties, &[MAP_ARG], "Returns the map's own properties, as a table.")
            .pure()
            .node(NodeFlag::Hidden),
        func(
            "grid_names",
            grid_names,
            &[MAP_ARG],
            "Returns the names of its number grids, which are LDtk's IntGrids.",
        )
        .pure(),
        func(
            "grid_value",
            grid_value,
            &[MAP_ARG, ("grid", "the name of a grid"), COLUMN_ARG, ROW_ARG],
            "Returns the number in a cell of a grid; 0 if there is none, and outside the grid.",
        )
        .pure(),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
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
        "Draws the visible part of a map.",
    )
    .public_name("Tilemap.draw")],
);

fn new(
    engine: &mut Engine,
    name: TextArgument,
    level: Option<TextArgument>,
) -> Result<TilemapId, Error> {
    let (tilemaps, store) = (&mut engine.assets.tilemaps, &mut engine.assets.store);
    tilemaps.add(store, name.as_str(), level.as_ref().map(TextArgument::as_str))
}

fn destroy(engine: &mut Engine, map: TilemapId) -> Result<(), Error> {
    if engine.assets.tilemaps.of(map).owner.is_some() {
        return Err(engine_foundation::error!(
            "argument #1 'tilemap': the map belongs to a unit, and is destroyed with it: use \
             World.destroy_unit(world, unit)"
        ));
    }
    let frame = engine.frame.index;
    engine.assets.tilemaps.remove(map, frame, &context::script_location());
    Ok(())
}

fn alive(engine: &mut Engine, map: MaybeHandle) -> bool {
    map.handle().is_some_and(|handle| engine.assets.tilemaps.slots.get(handle).is_some())
}

fn level_names(engine: &mut Engine, name: TextArgument) -> Result<Vec<String>, Error> {
    let (tilemaps, store) = (&mut engine.assets.tilemaps, &mut engine.assets.store);
    let world = tilemaps.world(store, name.as_str())?;
    Ok(world.maps.iter().map(|map| map.name.clone()).collect())
}

fn size(engine: &mut Engine, map: TilemapId) -> (WholeNumber, WholeNumber) {
    let grid = engine.assets.tilemaps.of(map).map().grid;
    (WholeNumber(grid.columns.into()), WholeNumber(grid.rows.into()))
}

fn tile_size(engine: &mut Engine, map: TilemapId) -> (f64, f64) {
    let [width, height] = engine.assets.tilemaps.of(map).map().grid.cell;
    (width.into(), height.into())
}

fn cell_at(engine: &mut Engine, map: TilemapId, x: f64, y: f64) -> (WholeNumber, WholeNumber) {
    let [column, row] = engine.assets.tilemaps.of(map).map().grid.cell_at(x, y);
    (WholeNumber(column + 1.0), WholeNumber(row + 1.0))
}

fn cell_position(engine: &mut Engine, map: TilemapId, column: Integer, row: Integer) -> (f64, f64) {
    let grid = engine.assets.tilemaps.of(map).map().grid;
    let [x, y] = grid.center(column.0.saturating_sub(1), row.0.saturating_sub(1));
    (x, y)
}

fn layer_names(engine: &mut Engine, map: TilemapId) -> Vec<String> {
    engine.assets.tilemaps.of(map).map().layers.iter().map(|layer| layer.name.clone()).collect()
}

/// Returns the index of a layer by its name.
fn layer_of(engine: &Engine, map: TilemapId, name: &str) -> Result<usize, Error> {
    let map = engine.assets.tilemaps.of(map);
    map.layer(name).ok_or_else(|| {
        let names = map.map().layers.iter().map(|layer| layer.name.as_str());
        let hint = suggest::hint(name, names);
        engine_foundation::error!("the tile map '{}' has no layer '{name}'{hint}", map.name)
    })
}

fn tile(
    engine: &mut Engine,
    map: TilemapId,
    layer: TextArgument,
    column: Integer,
    row: Integer,
) -> Result<u64, Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    let tile = engine.assets.tilemaps.of(map).tile(layer, column.0, row.0);
    Ok(u64::from(tile.map_or(0, number_of)))
}

fn set_tile(
    engine: &mut Engine,
    map: TilemapId,
    layer: TextArgument,
    column: Integer,
    row: Integer,
    tile: Integer,
) -> Result<(), Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    let tilemap = engine.assets.tilemaps.of_mut(map);
    let number = u32::try_from(tile.0).ok();
    let known = number.filter(|number| *number == 0 || tilemap.set_of(*number).is_some());
    let Some(number) = known else {
        return Err(engine_foundation::error!(
            "argument #5 'tile': the map's tile sets have no tile with the number {}",
            tile.0
        ));
    };
    match tilemap.set_tile(layer, column.0, row.0, number) {
        true => {
            engine.update_tilemap_grids(map, layer, column.0, row.0);
            Ok(())
        }
        false => {
            let of = &tilemap.map().layers[layer].grid;
            Err(engine_foundation::error!(
                "column {} and row {} are outside of the layer, which has {} and {}",
                column.0,
                row.0,
                of.columns,
                of.rows
            ))
        }
    }
}

fn is_layer_visible(
    engine: &mut Engine,
    map: TilemapId,
    layer: TextArgument,
) -> Result<bool, Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    Ok(engine.assets.tilemaps.of(map).is_visible(layer))
}

fn set_layer_visible(
    engine: &mut Engine,
    map: TilemapId,
    layer: TextArgument,
    visible: bool,
) -> Result<(), Error> {
    let layer = layer_of(engine, map, layer.as_str())?;
    engine.assets.tilemaps.of_mut(map).show(layer, visible);
    Ok(())
}

fn tile_properties(engine: &mut Engine, map: TilemapId, tile: Integer) -> ScriptValue {
    let tilemap = engine.assets.tilemaps.of(map);
    let found = u32::try_from(tile.0).ok().and_then(|number| tilemap.set_of(number));
    let properties = found.and_then(|(set, number)| {
        tilemap.sets()[set].properties.iter().find(|(tile, _)| *tile == number)
    });
    properties.map_or(ScriptValue::Table(Vec::new()), |(_, tree)| ScriptValue::from_tree(tree))
}

fn object(object: &MapObject) -> ScriptValue {
    let number = |number: f32| ScriptValue::Number(number.into());
    let point = |[x, y]: &[f32; 2]| {
        ScriptValue::Table(vec![("x".to_string(), number(*x)), ("y".to_string(), number(*y))])
    };
    let mut fields = vec![
        ("name", ScriptValue::Text(object.name.clone())),
        ("type", ScriptValue::Text(object.kind.clone())),
        ("layer", ScriptValue::Text(object.layer.clone())),
        ("x", number(object.x)),
        ("y", number(object.y)),
        ("width", number(object.width)),
        ("height", number(object.height)),
        ("rotation", number(object.rotation)),
        ("tile", ScriptValue::Number(number_of(object.tile).into())),
        ("shape", ScriptValue::Text(object.shape.name().to_string())),
        ("properties", ScriptValue::from_tree(&object.properties)),
    ];
    if !object.points.is_empty() {
        fields.push(("points", ScriptValue::List(object.points.iter().map(point).collect())));
    }
    ScriptValue::Table(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn objects(
    engine: &mut Engine,
    map: TilemapId,
    layer: Option<TextArgument>,
) -> Result<ScriptValue, Error> {
    let tilemap = engine.assets.tilemaps.of(map);
    let all = &tilemap.map().objects;
    let Some(layer) = layer else { return Ok(ScriptValue::List(all.iter().map(object).collect())) };
    let within: Vec<_> = all.iter().filter(|it| it.layer == layer.as_str()).map(object).collect();
    if within.is_empty() {
        let hint = suggest::hint(layer.as_str(), all.iter().map(|it| it.layer.as_str()));
        let (name, layer) = (&tilemap.name, layer.as_str());
        return Err(engine_foundation::error!(
            "argument #2 'layer': the tile map '{name}' has no objects in a layer '{layer}'{hint}"
        ));
    }
    Ok(ScriptValue::List(within))
}

fn properties(engine: &mut Engine, map: TilemapId) -> ScriptValue {
    match &engine.assets.tilemaps.of(map).map().properties {
        SjsonTree::Object(fields) if fields.is_empty() => ScriptValue::Table(Vec::new()),
        tree => ScriptValue::from_tree(tree),
    }
}

fn grid_names(engine: &mut Engine, map: TilemapId) -> Vec<String> {
    engine.assets.tilemaps.of(map).map().grids.iter().map(|grid| grid.name.clone()).collect()
}

fn grid_value(
    engine: &mut Engine,
    map: TilemapId,
    grid: TextArgument,
    column: Integer,
    row: Integer,
) -> Result<f64, Error> {
    let tilemap = engine.assets.tilemaps.of(map);
    let grids = &tilemap.map().grids;
    let name = grid.as_str();
    let grid = grids.iter().find(|known| known.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, grids.iter().map(|grid| grid.name.as_str()));
        engine_foundation::error!(
            "argument #2 'grid': the tile map '{}' has no grid '{name}'{hint}",
            tilemap.name
        )
    })?;
    let inside = (1..=i64::from(grid.columns)).contains(&column.0)
        && (1..=i64::from(grid.rows)).contains(&row.0);
    let index = (row.0 - 1) * i64::from(grid.columns) + column.0 - 1;
    Ok(if inside { grid.values[index as usize].into() } else { 0.0 })
}

fn draw(
    engine: &mut Engine,
    map: TilemapId,
    gui: GuiId,
    position: Vec3,
    scale: f64,
    color: Color,
    layers: ScriptValue,
) -> Result<f64, Error> {
    if scale <= 0.0 {
        return Err(engine_foundation::error!("option 'scale' must be above 0, got {scale}"));
    }
    let mut wanted = Vec::new();
    if let ScriptValue::List(names) = layers {
        for name in names {
            let ScriptValue::Text(name) = name else {
                return Err(engine_foundation::error!("option 'layers' must be a list of names"));
            };
            wanted.push(layer_of(engine, map, &name)?);
        }
    } else if matches!(layers, ScriptValue::Table(_)) {
        return Ok(0.0);
    }
    let look = TilemapDrawOptions {
        at: [position.x, position.y],
        layer: position.z.floor() as i32,
        scale: scale as f32,
        color: [color.red, color.green, color.blue, color.alpha].map(|part| part as u8),
        layers: wanted,
    };
    engine
        .drawing
        .draw_tilemap(&mut engine.assets, &engine.devices, &engine.frame, map, gui, &look)
        .map(|count| count as f64)
}
