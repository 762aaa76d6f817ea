//! Compiler for Tiled maps (version 1.10 of the JSON format, mapeditor.org). Produces the tree that
//! `data.rs` reads. XML maps are converted to the same JSON tree first (`tmx.rs`).

use super::relative_path::{resolve, texture};
use super::tmx;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_resource::resource_kind::CompileContext;

/// Maximum nesting depth of groups.
const GROUPS_MAX: usize = 16;

fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => 0.0,
    }
}

fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

pub(super) fn object(fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
    SjsonTree::Object(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// Converts `[{ name, value }]` to an object.
fn properties(tree: &SjsonTree) -> SjsonTree {
    let entry = |property: &SjsonTree| {
        let value = property.get("value").cloned().unwrap_or(SjsonTree::Null);
        (text(property, "name").to_string(), value)
    };
    SjsonTree::Object(list(tree, "properties").iter().map(entry).collect())
}

/// Compiles a map. Its file extension selects JSON or XML.
pub fn compile(
    compiling: &mut CompileContext,
    path: &str,
    bytes: &[u8],
) -> Result<SjsonTree, Error> {
    let map = parse(path, bytes)?;
    let orientation = text(&map, "orientation");
    if orientation != "orthogonal" {
        return Err(error!(
            "{path}: the map is {orientation}, and the engine draws orthogonal ones: set its \
             orientation in Tiled"
        ));
    }
    let mut sets = Vec::new();
    for set in list(&map, "tilesets") {
        sets.push(tile_set(compiling, path, set)?);
    }
    let mut parts = TiledLayers::of(path, &map);
    parts.layers_of(&map, [0.0, 0.0], 1.0, true, 0)?;
    let TiledLayers { layers, objects, .. } = parts;
    let map_tree = object(vec![
        ("name", SjsonTree::String(String::new())),
        ("columns", SjsonTree::Number(number(&map, "width"))),
        ("rows", SjsonTree::Number(number(&map, "height"))),
        ("tile_width", SjsonTree::Number(number(&map, "tilewidth"))),
        ("tile_height", SjsonTree::Number(number(&map, "tileheight"))),
        ("properties", properties(&map)),
        ("layers", SjsonTree::Array(layers)),
        ("objects", SjsonTree::Array(objects)),
    ]);
    Ok(object(vec![("sets", SjsonTree::Array(sets)), ("maps", SjsonTree::Array(vec![map_tree]))]))
}

fn parse(path: &str, bytes: &[u8]) -> Result<SjsonTree, Error> {
    if path.ends_with(".tmx") || path.ends_with(".tsx") {
        return tmx::parse(path, bytes);
    }
    let document = sjson::parse_bytes(bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    Ok(document.to_tree())
}

fn tile_set(
    compiling: &mut CompileContext,
    path: &str,
    named: &SjsonTree,
) -> Result<SjsonTree, Error> {
    let (mut path, mut set) = (path.to_string(), named.clone());
    if !text(named, "source").is_empty() {
        path = resolve(&path, text(named, "source"))?;
        let bytes = compiling.read(&path)?;
        set = parse(&path, &bytes)?;
    }
    let name = text(&set, "name").to_string();
    if text(&set, "image").is_empty() {
        return Err(error!(
            "{path}: the tile set '{name}' is a collection of pictures: put its tiles into one \
             picture (in Tiled: 'Based on Tileset Image')"
        ));
    }
    let texture = texture(&resolve(&path, text(&set, "image"))?);
    compiling.refer("texture", &texture);
    let tiles = list(&set, "tiles").iter().map(|tile| {
        let frames = list(tile, "animation").iter().map(|frame| {
            object(vec![
                ("id", SjsonTree::Number(number(frame, "tileid"))),
                ("milliseconds", SjsonTree::Number(number(frame, "duration"))),
            ])
        });
        let mut fields = vec![
            ("id", SjsonTree::Number(number(tile, "id"))),
            ("frames", SjsonTree::Array(frames.collect())),
        ];
        let SjsonTree::Object(mut own) = properties(tile) else {
            unreachable!("it creates objects")
        };
        let kind = [text(tile, "class"), text(tile, "type")].concat();
        if !kind.is_empty() {
            own.push(("type".to_string(), SjsonTree::String(kind)));
        }
        if !own.is_empty() {
            fields.push(("properties", SjsonTree::Object(own)));
        }
        object(fields)
    });
    Ok(object(vec![
        ("first", SjsonTree::Number(number(named, "firstgid"))),
        ("count", SjsonTree::Number(number(&set, "tilecount"))),
        ("columns", SjsonTree::Number(number(&set, "columns"))),
        ("texture", SjsonTree::String(texture)),
        ("image_width", SjsonTree::Number(number(&set, "imagewidth"))),
        ("image_height", SjsonTree::Number(number(&set, "imageheight"))),
        ("tile_width", SjsonTree::Number(number(&set, "tilewidth"))),
        ("tile_height", SjsonTree::Number(number(&set, "tileheight"))),
        ("margin", SjsonTree::Number(number(&set, "margin"))),
        ("spacing", SjsonTree::Number(number(&set, "spacing"))),
        ("tiles", SjsonTree::Array(tiles.collect())),
    ]))
}

/// Layers and objects collected from a map.
struct TiledLayers<'a> {
    path: &'a str,
    /// Height of the map and size of a cell, in texels.
    height: f64,
    cell: [f64; 2],
    layers: Vec<SjsonTree>,
    objects: Vec<SjsonTree>,
    /// Number of cells in layers joined from chunks so far.
    joined: usize,
}

/// Maximum number of cells in all layers that are joined from chunks. Two small chunks that are far
/// apart span a large layer.
const JOINED_MAX: usize = 4 * super::TILES_MAX;

impl TiledLayers<'_> {
    fn of<'a>(path: &'a str, map: &SjsonTree) -> TiledLayers<'a> {
        let cell = [number(map, "tilewidth"), number(map, "tileheight")];
        let height = number(map, "height") * cell[1];
        TiledLayers { path, height, cell, layers: Vec::new(), objects: Vec::new(), joined: 0 }
    }

    /// Collects the layers of a map or group. Offset, opacity and visibility of the enclosing
    /// groups apply to them.
    fn layers_of(
        &mut self,
        tree: &SjsonTree,
        moved: [f64; 2],
        opacity: f64,
        visible: bool,
        depth: usize,
    ) -> Result<(), Error> {
        for layer in list(tree, "layers") {
            let at = [moved[0] + number(layer, "offsetx"), moved[1] + number(layer, "offsety")];
            let opacity = match layer.get("opacity") {
                Some(SjsonTree::Number(own)) => opacity * own,
                _ => opacity,
            };
            let visible = visible && !matches!(layer.get("visible"), Some(SjsonTree::Bool(false)));
            match text(layer, "type") {
                "tilelayer" => self.tiles(layer, at, opacity, visible)?,
                "objectgroup" => self.objects(layer, at),
                "group" if depth == GROUPS_MAX => {
                    let path = self.path;
                    return Err(error!("{path}: groups are more than {GROUPS_MAX} deep"));
                }
                "group" => self.layers_of(layer, at, opacity, visible, depth + 1)?,
                // Image layers are left to the game.
                _ => {}
            }
        }
        Ok(())
    }

    fn tiles(
        &mut self,
        layer: &SjsonTree,
        [x, y]: [f64; 2],
        opacity: f64,
        visible: bool,
    ) -> Result<(), Error> {
        let (path, name) = (self.path, text(layer, "name"));
        if matches!(layer.get("data"), Some(SjsonTree::String(_)))
            || list(layer, "chunks")
                .iter()
                .any(|of| matches!(of.get("data"), Some(SjsonTree::String(_))))
        {
            return Err(error!(
                "{path}: the tiles of layer '{name}' are packed: set the map's Tile Layer Format \
                 to CSV in Tiled"
            ));
        }
        let (columns, rows, tiles, start) = match list(layer, "chunks") {
            [] => {
                let (columns, rows) = (number(layer, "width"), number(layer, "height"));
                (columns, rows, list(layer, "data").to_vec(), [0.0, 0.0])
            }
            chunks => {
                let joined = join_chunks(path, chunks)?;
                self.joined += joined.2.len();
                if self.joined > JOINED_MAX {
                    return Err(error!(
                        "{path}: the layers of this infinite map have more than {JOINED_MAX} cells \
                         between their outermost chunks (JOINED_MAX): split the map"
                    ));
                }
                joined
            }
        };
        let left = x + start[0] * self.cell[0];
        let top = y + start[1] * self.cell[1];
        self.layers.push(object(vec![
            ("name", SjsonTree::String(name.to_string())),
            ("columns", SjsonTree::Number(columns)),
            ("rows", SjsonTree::Number(rows)),
            ("tile_width", SjsonTree::Number(self.cell[0])),
            ("tile_height", SjsonTree::Number(self.cell[1])),
            ("x", SjsonTree::Number(left)),
            ("y", SjsonTree::Number(self.height - top - rows * self.cell[1])),
            ("opacity", SjsonTree::Number(opacity)),
            ("visible", SjsonTree::Bool(visible)),
            ("tiles", SjsonTree::Array(tiles)),
            ("properties", properties(layer)),
        ]));
        Ok(())
    }

    fn objects(&mut self, layer: &SjsonTree, [x, y]: [f64; 2]) {
        for one in list(layer, "objects") {
            let tile = number(one, "gid");
            let (width, height) = (number(one, "width"), number(one, "height"));
            // Tile objects are placed by their bottom left, all others by their top left.
            let below = if tile > 0.0 { 0.0 } else { height };
            let outline = [list(one, "polygon"), list(one, "polyline")].concat();
            let points = outline.iter().map(|point| {
                SjsonTree::Array(vec![
                    SjsonTree::Number(number(point, "x")),
                    SjsonTree::Number(-number(point, "y")),
                ])
            });
            self.objects.push(object(vec![
                ("name", SjsonTree::String(text(one, "name").to_string())),
                ("kind", SjsonTree::String([text(one, "class"), text(one, "type")].concat())),
                ("layer", SjsonTree::String(text(layer, "name").to_string())),
                ("x", SjsonTree::Number(x + number(one, "x"))),
                ("y", SjsonTree::Number(self.height - (y + number(one, "y") + below))),
                ("width", SjsonTree::Number(width)),
                ("height", SjsonTree::Number(height)),
                ("rotation", SjsonTree::Number(number(one, "rotation"))),
                ("tile", SjsonTree::Number(tile)),
                ("points", SjsonTree::Array(points.collect())),
                ("properties", properties(one)),
            ]));
        }
    }
}

/// Maximum distance from the origin, in cells, at which a chunk can begin.
const CHUNK_AT_MAX: f64 = 1e9;

/// Joins the chunks of an infinite map into one layer: columns, rows, tiles, and the position of
/// its first cell.
fn join_chunks(
    path: &str,
    chunks: &[SjsonTree],
) -> Result<(f64, f64, Vec<SjsonTree>, [f64; 2]), Error> {
    for (chunk, key) in
        chunks.iter().flat_map(|one| ["x", "y", "width", "height"].map(|k| (one, k)))
    {
        let (at, least) = (number(chunk, key), if key.len() > 1 { 0.0 } else { -CHUNK_AT_MAX });
        if at.fract() != 0.0 || !(least..=CHUNK_AT_MAX).contains(&at) {
            return Err(error!(
                "{path}: '{key}' of a chunk must be a whole number from {least} to {CHUNK_AT_MAX}, \
                 got {at:?}: save the map again in Tiled"
            ));
        }
    }
    let edge = |of: fn(f64, f64) -> f64, key: &str, size: Option<&str>| {
        let at =
            |chunk: &SjsonTree| number(chunk, key) + size.map_or(0.0, |size| number(chunk, size));
        chunks.iter().map(at).reduce(of).unwrap_or(0.0)
    };
    let (left, top) = (edge(f64::min, "x", None), edge(f64::min, "y", None));
    let columns = edge(f64::max, "x", Some("width")) - left;
    let rows = edge(f64::max, "y", Some("height")) - top;
    let side = 0.0..=super::TILES_MAX as f64;
    if !side.contains(&columns) || !side.contains(&rows) || columns * rows > *side.end() {
        return Err(error!(
            "{path}: {columns} × {rows} tiles are too many for a layer (TILES_MAX), or too few"
        ));
    }
    let mut tiles = vec![SjsonTree::Number(0.0); columns as usize * rows as usize];
    for chunk in chunks {
        let width = number(chunk, "width").max(1.0) as usize;
        for (i, tile) in list(chunk, "data").iter().enumerate() {
            let column = (number(chunk, "x") - left) as usize + i % width;
            let row = (number(chunk, "y") - top) as usize + i / width;
            if let Some(slot) = tiles.get_mut(row * columns as usize + column) {
                *slot = tile.clone();
            }
        }
    }
    Ok((columns, rows, tiles, [left, top]))
}
