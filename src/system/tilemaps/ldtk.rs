//! Compiler for LDtk maps (version 1.5 of the JSON format, ldtk.io). Produces the tree that
//! `data.rs` reads. Each level becomes a map. Tiles stacked in one layer become separate layers.

use super::relative_path::{resolve, texture};
use super::tiled::object;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_resource::resource_kind::CompileContext;
use std::collections::HashMap;

fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => 0.0,
    }
}

fn text(tree: &SjsonTree, key: &str) -> String {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

fn pair(tree: &SjsonTree, key: &str) -> [f64; 2] {
    match list(tree, key) {
        [SjsonTree::Number(x), SjsonTree::Number(y)] => [*x, *y],
        _ => [0.0; 2],
    }
}

/// Converts `[{ __identifier, __value }]` to an object.
fn fields(tree: &SjsonTree) -> SjsonTree {
    let entry = |field: &SjsonTree| {
        (text(field, "__identifier"), field.get("__value").cloned().unwrap_or(SjsonTree::Null))
    };
    SjsonTree::Object(list(tree, "fieldInstances").iter().map(entry).collect())
}

/// Maximum number of tiles stacked on one cell of a layer.
const STACKED_MAX: usize = 64;
/// Maximum number of tiles in all layers of a file. One line of text can declare a layer of
/// millions.
const FILE_TILES_MAX: usize = 1 << 23;

/// Number of tiles that a file may still add.
struct TileBudget {
    left: usize,
}

impl TileBudget {
    fn take(&mut self, path: &str, tiles: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(tiles).ok_or_else(|| {
            error!(
                "{path}: its layers have more than {FILE_TILES_MAX} tiles in all (FILE_TILES_MAX): \
                 make two files of it"
            )
        })?;
        Ok(())
    }
}

/// First tile number and tile count of each tile set, by the set's `uid` in the file.
type FirstTiles = HashMap<i64, (f64, f64)>;

/// Compiles the text of an LDtk project.
pub fn compile(
    compiling: &mut CompileContext,
    path: &str,
    bytes: &[u8],
) -> Result<SjsonTree, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    let project = document.to_tree();
    drop(document);
    if matches!(project.get("externalLevels"), Some(SjsonTree::Bool(true))) {
        return Err(error!(
            "{path}: its levels are in separate files: switch 'Save levels to separate files' off \
             in LDtk"
        ));
    }
    let definitions = project.get("defs").cloned().unwrap_or(SjsonTree::Null);
    let (mut sets, mut firsts, mut first) = (Vec::new(), FirstTiles::new(), 1.0);
    for set in list(&definitions, "tilesets") {
        let image_path = text(set, "relPath");
        if image_path.is_empty() {
            // The editor's built-in icons are not a file of the project.
            continue;
        }
        let texture = texture(&resolve(path, &image_path)?);
        compiling.refer("texture", &texture);
        let (columns, rows) = (number(set, "__cWid"), number(set, "__cHei"));
        sets.push(tile_set(set, first, texture, columns * rows));
        firsts.insert(number(set, "uid") as i64, (first, columns * rows));
        first += columns * rows;
    }
    let worlds = list(&project, "worlds").iter().flat_map(|world| list(world, "levels"));
    let levels = list(&project, "levels").iter().chain(worlds);
    let mut room = TileBudget { left: FILE_TILES_MAX };
    let maps = levels.map(|level| map(path, level, &firsts, &mut room));
    let maps = maps.collect::<Result<Vec<_>, Error>>()?;
    Ok(object(vec![("sets", SjsonTree::Array(sets)), ("maps", SjsonTree::Array(maps))]))
}

fn tile_set(set: &SjsonTree, first: f64, texture: String, count: f64) -> SjsonTree {
    let mut tiles: Vec<SjsonTree> = Vec::new();
    for data in list(set, "customData") {
        let data_text = SjsonTree::String(text(data, "data"));
        tiles.push(object(vec![
            ("id", SjsonTree::Number(number(data, "tileId"))),
            ("properties", object(vec![("data", data_text)])),
        ]));
    }
    let size = number(set, "tileGridSize");
    object(vec![
        ("first", SjsonTree::Number(first)),
        ("count", SjsonTree::Number(count)),
        ("columns", SjsonTree::Number(number(set, "__cWid"))),
        ("texture", SjsonTree::String(texture)),
        ("image_width", SjsonTree::Number(number(set, "pxWid"))),
        ("image_height", SjsonTree::Number(number(set, "pxHei"))),
        ("tile_width", SjsonTree::Number(size)),
        ("tile_height", SjsonTree::Number(size)),
        ("margin", SjsonTree::Number(number(set, "padding"))),
        ("spacing", SjsonTree::Number(number(set, "spacing"))),
        ("tiles", SjsonTree::Array(tiles)),
    ])
}

fn map(
    path: &str,
    level: &SjsonTree,
    firsts: &FirstTiles,
    room: &mut TileBudget,
) -> Result<SjsonTree, Error> {
    let height = number(level, "pxHei");
    let (mut layers, mut grids, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    let mut cell = 0.0;
    // The file lists the topmost layer first.
    for layer in list(level, "layerInstances").iter().rev() {
        cell = if cell == 0.0 { number(layer, "__gridSize") } else { cell };
        let name = text(layer, "__identifier");
        let cells = list(layer, "intGridCsv");
        if !cells.is_empty() {
            grids.push(object(vec![
                ("name", SjsonTree::String(name.clone())),
                ("columns", SjsonTree::Number(number(layer, "__cWid"))),
                ("rows", SjsonTree::Number(number(layer, "__cHei"))),
                ("values", SjsonTree::Array(cells.to_vec())),
            ]));
        }
        let tiles = [list(layer, "autoLayerTiles"), list(layer, "gridTiles")].concat();
        if !tiles.is_empty() {
            layers.extend(tile_layers(path, layer, &tiles, height, firsts, room)?);
        }
        let entities = list(layer, "entityInstances");
        objects.extend(entities.iter().map(|entity| entity_of(entity, &name, height)));
    }
    let cell = cell.max(1.0);
    Ok(object(vec![
        ("name", SjsonTree::String(text(level, "identifier"))),
        ("columns", SjsonTree::Number((number(level, "pxWid") / cell).ceil())),
        ("rows", SjsonTree::Number((height / cell).ceil())),
        ("tile_width", SjsonTree::Number(cell)),
        ("tile_height", SjsonTree::Number(cell)),
        ("properties", fields(level)),
        ("layers", SjsonTree::Array(layers)),
        ("grids", SjsonTree::Array(grids)),
        ("objects", SjsonTree::Array(objects)),
    ]))
}

/// Converts the tiles of a layer into as many layers as the tallest stack of tiles needs.
fn tile_layers(
    path: &str,
    layer: &SjsonTree,
    tiles: &[SjsonTree],
    height: f64,
    firsts: &FirstTiles,
    room: &mut TileBudget,
) -> Result<Vec<SjsonTree>, Error> {
    let name = text(layer, "__identifier");
    let set = number(layer, "__tilesetDefUid") as i64;
    let (first, count) = *firsts.get(&set).ok_or_else(|| {
        error!("{path}: layer '{name}' is drawn with a tile set that has no picture")
    })?;
    let (columns, rows) = (number(layer, "__cWid"), number(layer, "__cHei"));
    if !(columns >= 1.0 && rows >= 1.0 && columns * rows <= super::TILES_MAX as f64) {
        return Err(error!("{path}: layer '{name}' has {columns} × {rows} tiles (TILES_MAX)"));
    }
    if columns.fract() != 0.0 || rows.fract() != 0.0 {
        return Err(error!(
            "{path}: layer '{name}' has {columns} × {rows} tiles, which must be whole numbers: \
             save the project again in LDtk"
        ));
    }
    let grid = number(layer, "__gridSize").max(1.0);
    let mut sheets: Vec<Vec<f64>> = Vec::new();
    let mut unknown_tiles = Vec::new();
    for tile in tiles {
        let [x, y] = pair(tile, "px");
        let cell = (y / grid).floor() * columns + (x / grid).floor();
        if !(x >= 0.0 && y >= 0.0 && x < columns * grid && y < rows * grid) {
            continue;
        }
        let cell = cell as usize;
        let flips = number(tile, "f") as u32;
        let flip_bits = f64::from((flips & 1) << 31 | (flips >> 1 & 1) << 30);
        let own = number(tile, "t");
        if !(0.0..count).contains(&own) {
            unknown_tiles.push(SjsonTree::Number(own));
            continue;
        }
        let value = first + own + flip_bits;
        let free = sheets.iter().position(|sheet| sheet[cell] == 0.0);
        let sheet = free.unwrap_or(sheets.len());
        if sheet == sheets.len() {
            if sheet == STACKED_MAX {
                return Err(error!(
                    "{path}: layer '{name}' has more than {STACKED_MAX} tiles on one cell \
                     (STACKED_MAX): make layers of them"
                ));
            }
            room.take(path, columns as usize * rows as usize)?;
            sheets.push(vec![0.0; columns as usize * rows as usize]);
        }
        sheets[sheet][cell] = value;
    }
    if sheets.is_empty() && !unknown_tiles.is_empty() {
        room.take(path, columns as usize * rows as usize)?;
        sheets.push(vec![0.0; columns as usize * rows as usize]);
    }
    let layers = sheets.into_iter().enumerate().map(|(i, tiles)| {
        let unknown_tiles = if i == 0 { std::mem::take(&mut unknown_tiles) } else { Vec::new() };
        let name = if i == 0 { name.clone() } else { format!("{name} {}", i + 1) };
        let top = number(layer, "__pxTotalOffsetY");
        object(vec![
            ("name", SjsonTree::String(name)),
            ("columns", SjsonTree::Number(columns)),
            ("rows", SjsonTree::Number(rows)),
            ("tile_width", SjsonTree::Number(grid)),
            ("tile_height", SjsonTree::Number(grid)),
            ("x", SjsonTree::Number(number(layer, "__pxTotalOffsetX"))),
            ("y", SjsonTree::Number(height - top - rows * grid)),
            ("opacity", SjsonTree::Number(number(layer, "__opacity"))),
            ("visible", layer.get("visible").cloned().unwrap_or(SjsonTree::Bool(true))),
            ("tiles", SjsonTree::Array(tiles.into_iter().map(SjsonTree::Number).collect())),
            ("lacking", SjsonTree::Array(unknown_tiles)),
        ])
    });
    Ok(layers.collect())
}

fn entity_of(entity: &SjsonTree, layer: &str, height: f64) -> SjsonTree {
    let ([x, y], pivot) = (pair(entity, "px"), pair(entity, "__pivot"));
    let (width, tall) = (number(entity, "width"), number(entity, "height"));
    let name = text(entity, "__identifier");
    object(vec![
        ("name", SjsonTree::String(name.clone())),
        ("kind", SjsonTree::String(name)),
        ("layer", SjsonTree::String(layer.to_string())),
        ("x", SjsonTree::Number(x - pivot[0] * width)),
        ("y", SjsonTree::Number(height - (y - pivot[1] * tall + tall))),
        ("width", SjsonTree::Number(width)),
        ("height", SjsonTree::Number(tall)),
        ("properties", fields(entity)),
    ])
}
