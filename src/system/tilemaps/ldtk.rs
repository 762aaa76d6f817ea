//! Maps of LDtk (version 1.5 of its JSON format, ldtk.io): to the tree that `map.rs` reads. Each of
//! its levels is a map; tiles that stand on each other in one layer become layers on each other.

use super::path::{beside, texture};
use super::tiled::object;
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::{self, Tree};
use crate::resource::kind::Compiling;
use std::collections::HashMap;

fn number(tree: &Tree, key: &str) -> f64 {
    match tree.get(key) {
        Some(Tree::Number(number)) => *number,
        _ => 0.0,
    }
}

fn text(tree: &Tree, key: &str) -> String {
    match tree.get(key) {
        Some(Tree::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn list<'a>(tree: &'a Tree, key: &str) -> &'a [Tree] {
    match tree.get(key) {
        Some(Tree::Array(items)) => items,
        _ => &[],
    }
}

fn pair(tree: &Tree, key: &str) -> [f64; 2] {
    match list(tree, key) {
        [Tree::Number(x), Tree::Number(y)] => [*x, *y],
        _ => [0.0; 2],
    }
}

/// `[{ __identifier, __value }]` as an object.
fn fields(tree: &Tree) -> Tree {
    let entry = |field: &Tree| {
        (text(field, "__identifier"), field.get("__value").cloned().unwrap_or(Tree::Null))
    };
    Tree::Object(list(tree, "fieldInstances").iter().map(entry).collect())
}

/// The most tiles that lie on one cell of a layer.
const STACKED_MAX: usize = 64;
/// The most tiles of all layers of a file: a line of text can stand for a layer of millions.
const FILE_TILES_MAX: usize = 1 << 23;

/// How many tiles more a file may have.
struct Room {
    left: usize,
}

impl Room {
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

/// The first number of each tile set and how many tiles it has, by its own number in the file.
type Firsts = HashMap<i64, (f64, f64)>;

/// A file's text as our tree.
pub fn compile(compiling: &mut Compiling, path: &str, bytes: &[u8]) -> Result<Tree, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    let project = document.to_tree();
    drop(document);
    if matches!(project.get("externalLevels"), Some(Tree::Bool(true))) {
        return Err(error!(
            "{path}: its levels are in files of their own: switch 'Save levels to separate files' \
             off in LDtk"
        ));
    }
    let definitions = project.get("defs").cloned().unwrap_or(Tree::Null);
    let (mut sets, mut firsts, mut first) = (Vec::new(), Firsts::new(), 1.0);
    for set in list(&definitions, "tilesets") {
        let picture = text(set, "relPath");
        if picture.is_empty() {
            // The editor's own icons, which are no file of the project.
            continue;
        }
        let texture = texture(&beside(path, &picture)?);
        compiling.refer("texture", &texture);
        let (columns, rows) = (number(set, "__cWid"), number(set, "__cHei"));
        sets.push(tile_set(set, first, texture, columns * rows));
        firsts.insert(number(set, "uid") as i64, (first, columns * rows));
        first += columns * rows;
    }
    let worlds = list(&project, "worlds").iter().flat_map(|world| list(world, "levels"));
    let levels = list(&project, "levels").iter().chain(worlds);
    let mut room = Room { left: FILE_TILES_MAX };
    let maps = levels.map(|level| map(path, level, &firsts, &mut room));
    let maps = maps.collect::<Result<Vec<_>, Error>>()?;
    Ok(object(vec![("sets", Tree::Array(sets)), ("maps", Tree::Array(maps))]))
}

fn tile_set(set: &Tree, first: f64, texture: String, count: f64) -> Tree {
    let mut tiles: Vec<Tree> = Vec::new();
    for data in list(set, "customData") {
        let data_text = Tree::String(text(data, "data"));
        tiles.push(object(vec![
            ("id", Tree::Number(number(data, "tileId"))),
            ("properties", object(vec![("data", data_text)])),
        ]));
    }
    let size = number(set, "tileGridSize");
    object(vec![
        ("first", Tree::Number(first)),
        ("count", Tree::Number(count)),
        ("columns", Tree::Number(number(set, "__cWid"))),
        ("texture", Tree::String(texture)),
        ("image_width", Tree::Number(number(set, "pxWid"))),
        ("image_height", Tree::Number(number(set, "pxHei"))),
        ("tile_width", Tree::Number(size)),
        ("tile_height", Tree::Number(size)),
        ("margin", Tree::Number(number(set, "padding"))),
        ("spacing", Tree::Number(number(set, "spacing"))),
        ("tiles", Tree::Array(tiles)),
    ])
}

fn map(path: &str, level: &Tree, firsts: &Firsts, room: &mut Room) -> Result<Tree, Error> {
    let height = number(level, "pxHei");
    let (mut layers, mut grids, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    let mut cell = 0.0;
    // The file has the highest first.
    for layer in list(level, "layerInstances").iter().rev() {
        cell = if cell == 0.0 { number(layer, "__gridSize") } else { cell };
        let name = text(layer, "__identifier");
        let cells = list(layer, "intGridCsv");
        if !cells.is_empty() {
            grids.push(object(vec![
                ("name", Tree::String(name.clone())),
                ("columns", Tree::Number(number(layer, "__cWid"))),
                ("rows", Tree::Number(number(layer, "__cHei"))),
                ("values", Tree::Array(cells.to_vec())),
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
        ("name", Tree::String(text(level, "identifier"))),
        ("columns", Tree::Number((number(level, "pxWid") / cell).ceil())),
        ("rows", Tree::Number((height / cell).ceil())),
        ("tile_width", Tree::Number(cell)),
        ("tile_height", Tree::Number(cell)),
        ("properties", fields(level)),
        ("layers", Tree::Array(layers)),
        ("grids", Tree::Array(grids)),
        ("objects", Tree::Array(objects)),
    ]))
}

/// The tiles of a layer, as many layers as tiles stand on each other.
fn tile_layers(
    path: &str,
    layer: &Tree,
    tiles: &[Tree],
    height: f64,
    firsts: &Firsts,
    room: &mut Room,
) -> Result<Vec<Tree>, Error> {
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
    let mut lacking = Vec::new();
    for tile in tiles {
        let [x, y] = pair(tile, "px");
        let place = (y / grid).floor() * columns + (x / grid).floor();
        if !(x >= 0.0 && y >= 0.0 && x < columns * grid && y < rows * grid) {
            continue;
        }
        let place = place as usize;
        let flips = number(tile, "f") as u32;
        let turned = f64::from((flips & 1) << 31 | (flips >> 1 & 1) << 30);
        let own = number(tile, "t");
        if !(0.0..count).contains(&own) {
            lacking.push(Tree::Number(own));
            continue;
        }
        let value = first + own + turned;
        let free = sheets.iter().position(|sheet| sheet[place] == 0.0);
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
        sheets[sheet][place] = value;
    }
    if sheets.is_empty() && !lacking.is_empty() {
        room.take(path, columns as usize * rows as usize)?;
        sheets.push(vec![0.0; columns as usize * rows as usize]);
    }
    let layers = sheets.into_iter().enumerate().map(|(i, tiles)| {
        let lacking = if i == 0 { std::mem::take(&mut lacking) } else { Vec::new() };
        let name = if i == 0 { name.clone() } else { format!("{name} {}", i + 1) };
        let top = number(layer, "__pxTotalOffsetY");
        object(vec![
            ("name", Tree::String(name)),
            ("columns", Tree::Number(columns)),
            ("rows", Tree::Number(rows)),
            ("tile_width", Tree::Number(grid)),
            ("tile_height", Tree::Number(grid)),
            ("x", Tree::Number(number(layer, "__pxTotalOffsetX"))),
            ("y", Tree::Number(height - top - rows * grid)),
            ("opacity", Tree::Number(number(layer, "__opacity"))),
            ("visible", layer.get("visible").cloned().unwrap_or(Tree::Bool(true))),
            ("tiles", Tree::Array(tiles.into_iter().map(Tree::Number).collect())),
            ("lacking", Tree::Array(lacking)),
        ])
    });
    Ok(layers.collect())
}

fn entity_of(entity: &Tree, layer: &str, height: f64) -> Tree {
    let ([x, y], pivot) = (pair(entity, "px"), pair(entity, "__pivot"));
    let (width, tall) = (number(entity, "width"), number(entity, "height"));
    let name = text(entity, "__identifier");
    object(vec![
        ("name", Tree::String(name.clone())),
        ("kind", Tree::String(name)),
        ("layer", Tree::String(layer.to_string())),
        ("x", Tree::Number(x - pivot[0] * width)),
        ("y", Tree::Number(height - (y - pivot[1] * tall + tall))),
        ("width", Tree::Number(width)),
        ("height", Tree::Number(tall)),
        ("properties", fields(entity)),
    ])
}
