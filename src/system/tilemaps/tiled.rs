//! Maps of Tiled (version 1.10 of its JSON format, mapeditor.org): to the tree that `map.rs` reads.
//! Its XML is made into the same JSON first (`tmx.rs`).

use super::path::{beside, texture};
use super::tmx;
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::{self, Tree};
use crate::resource::kind::Compiling;

/// Groups inside of each other.
const GROUPS_MAX: usize = 16;

fn number(tree: &Tree, key: &str) -> f64 {
    match tree.get(key) {
        Some(Tree::Number(number)) => *number,
        _ => 0.0,
    }
}

fn text<'a>(tree: &'a Tree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(Tree::String(text)) => text,
        _ => "",
    }
}

fn list<'a>(tree: &'a Tree, key: &str) -> &'a [Tree] {
    match tree.get(key) {
        Some(Tree::Array(items)) => items,
        _ => &[],
    }
}

pub(super) fn object(fields: Vec<(&str, Tree)>) -> Tree {
    Tree::Object(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// `[{ name, value }]` as an object.
fn properties(tree: &Tree) -> Tree {
    let entry = |property: &Tree| {
        let value = property.get("value").cloned().unwrap_or(Tree::Null);
        (text(property, "name").to_string(), value)
    };
    Tree::Object(list(tree, "properties").iter().map(entry).collect())
}

/// A map's text, of JSON or XML by its ending, as our tree.
pub fn compile(compiling: &mut Compiling, path: &str, bytes: &[u8]) -> Result<Tree, Error> {
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
    let mut parts = Parts::of(path, &map);
    parts.layers_of(&map, [0.0, 0.0], 1.0, true, 0)?;
    let Parts { layers, objects, .. } = parts;
    let made = object(vec![
        ("name", Tree::String(String::new())),
        ("columns", Tree::Number(number(&map, "width"))),
        ("rows", Tree::Number(number(&map, "height"))),
        ("tile_width", Tree::Number(number(&map, "tilewidth"))),
        ("tile_height", Tree::Number(number(&map, "tileheight"))),
        ("properties", properties(&map)),
        ("layers", Tree::Array(layers)),
        ("objects", Tree::Array(objects)),
    ]);
    Ok(object(vec![("sets", Tree::Array(sets)), ("maps", Tree::Array(vec![made]))]))
}

fn parse(path: &str, bytes: &[u8]) -> Result<Tree, Error> {
    if path.ends_with(".tmx") || path.ends_with(".tsx") {
        return tmx::parse(path, bytes);
    }
    let document = sjson::parse_bytes(bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    Ok(document.to_tree())
}

fn tile_set(compiling: &mut Compiling, path: &str, named: &Tree) -> Result<Tree, Error> {
    let (mut path, mut set) = (path.to_string(), named.clone());
    if !text(named, "source").is_empty() {
        path = beside(&path, text(named, "source"))?;
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
    let texture = texture(&beside(&path, text(&set, "image"))?);
    compiling.refer("texture", &texture);
    let tiles = list(&set, "tiles").iter().map(|tile| {
        let frames = list(tile, "animation").iter().map(|frame| {
            object(vec![
                ("id", Tree::Number(number(frame, "tileid"))),
                ("milliseconds", Tree::Number(number(frame, "duration"))),
            ])
        });
        let mut fields = vec![
            ("id", Tree::Number(number(tile, "id"))),
            ("frames", Tree::Array(frames.collect())),
        ];
        let Tree::Object(mut own) = properties(tile) else { unreachable!("it makes objects") };
        let kind = [text(tile, "class"), text(tile, "type")].concat();
        if !kind.is_empty() {
            own.push(("type".to_string(), Tree::String(kind)));
        }
        if !own.is_empty() {
            fields.push(("properties", Tree::Object(own)));
        }
        object(fields)
    });
    Ok(object(vec![
        ("first", Tree::Number(number(named, "firstgid"))),
        ("count", Tree::Number(number(&set, "tilecount"))),
        ("columns", Tree::Number(number(&set, "columns"))),
        ("texture", Tree::String(texture)),
        ("image_width", Tree::Number(number(&set, "imagewidth"))),
        ("image_height", Tree::Number(number(&set, "imageheight"))),
        ("tile_width", Tree::Number(number(&set, "tilewidth"))),
        ("tile_height", Tree::Number(number(&set, "tileheight"))),
        ("margin", Tree::Number(number(&set, "margin"))),
        ("spacing", Tree::Number(number(&set, "spacing"))),
        ("tiles", Tree::Array(tiles.collect())),
    ]))
}

/// What is collected of a map's layers.
struct Parts<'a> {
    path: &'a str,
    /// Of the map in texels, and of a cell.
    height: f64,
    cell: [f64; 2],
    layers: Vec<Tree>,
    objects: Vec<Tree>,
    /// Cells of layers that were joined of chunks so far.
    joined: usize,
}

/// The most cells of all layers that are made of chunks, together: two small chunks that are far
/// from each other stand for a large layer.
const JOINED_MAX: usize = 4 * super::TILES_MAX;

impl Parts<'_> {
    fn of<'a>(path: &'a str, map: &Tree) -> Parts<'a> {
        let cell = [number(map, "tilewidth"), number(map, "tileheight")];
        let height = number(map, "height") * cell[1];
        Parts { path, height, cell, layers: Vec::new(), objects: Vec::new(), joined: 0 }
    }

    /// The layers of a map or a group, moved and shown as the groups around them are.
    fn layers_of(
        &mut self,
        tree: &Tree,
        moved: [f64; 2],
        opacity: f64,
        visible: bool,
        depth: usize,
    ) -> Result<(), Error> {
        for layer in list(tree, "layers") {
            let at = [moved[0] + number(layer, "offsetx"), moved[1] + number(layer, "offsety")];
            let opacity = match layer.get("opacity") {
                Some(Tree::Number(own)) => opacity * own,
                _ => opacity,
            };
            let visible = visible && !matches!(layer.get("visible"), Some(Tree::Bool(false)));
            match text(layer, "type") {
                "tilelayer" => self.tiles(layer, at, opacity, visible)?,
                "objectgroup" => self.objects(layer, at),
                "group" if depth == GROUPS_MAX => {
                    let path = self.path;
                    return Err(error!("{path}: groups are more than {GROUPS_MAX} deep"));
                }
                "group" => self.layers_of(layer, at, opacity, visible, depth + 1)?,
                // A picture behind the map is drawn by the game, as it likes.
                _ => {}
            }
        }
        Ok(())
    }

    fn tiles(
        &mut self,
        layer: &Tree,
        [x, y]: [f64; 2],
        opacity: f64,
        visible: bool,
    ) -> Result<(), Error> {
        let (path, name) = (self.path, text(layer, "name"));
        if matches!(layer.get("data"), Some(Tree::String(_)))
            || list(layer, "chunks")
                .iter()
                .any(|of| matches!(of.get("data"), Some(Tree::String(_))))
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
                let joined = joined(path, chunks)?;
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
            ("name", Tree::String(name.to_string())),
            ("columns", Tree::Number(columns)),
            ("rows", Tree::Number(rows)),
            ("tile_width", Tree::Number(self.cell[0])),
            ("tile_height", Tree::Number(self.cell[1])),
            ("x", Tree::Number(left)),
            ("y", Tree::Number(self.height - top - rows * self.cell[1])),
            ("opacity", Tree::Number(opacity)),
            ("visible", Tree::Bool(visible)),
            ("tiles", Tree::Array(tiles)),
            ("properties", properties(layer)),
        ]));
        Ok(())
    }

    fn objects(&mut self, layer: &Tree, [x, y]: [f64; 2]) {
        for one in list(layer, "objects") {
            let tile = number(one, "gid");
            let (width, height) = (number(one, "width"), number(one, "height"));
            // Tiles are placed by their left bottom, everything else by its left top.
            let below = if tile > 0.0 { 0.0 } else { height };
            let outline = [list(one, "polygon"), list(one, "polyline")].concat();
            let points = outline.iter().map(|point| {
                Tree::Array(vec![
                    Tree::Number(number(point, "x")),
                    Tree::Number(-number(point, "y")),
                ])
            });
            self.objects.push(object(vec![
                ("name", Tree::String(text(one, "name").to_string())),
                ("kind", Tree::String([text(one, "class"), text(one, "type")].concat())),
                ("layer", Tree::String(text(layer, "name").to_string())),
                ("x", Tree::Number(x + number(one, "x"))),
                ("y", Tree::Number(self.height - (y + number(one, "y") + below))),
                ("width", Tree::Number(width)),
                ("height", Tree::Number(height)),
                ("rotation", Tree::Number(number(one, "rotation"))),
                ("tile", Tree::Number(tile)),
                ("points", Tree::Array(points.collect())),
                ("properties", properties(one)),
            ]));
        }
    }
}

/// The farthest cell from the origin that a chunk can begin at.
const CHUNK_AT_MAX: f64 = 1e9;

/// The chunks of an infinite map as one layer: columns, rows, tiles, and its first cell.
fn joined(path: &str, chunks: &[Tree]) -> Result<(f64, f64, Vec<Tree>, [f64; 2]), Error> {
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
        let at = |chunk: &Tree| number(chunk, key) + size.map_or(0.0, |size| number(chunk, size));
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
    let mut tiles = vec![Tree::Number(0.0); columns as usize * rows as usize];
    for chunk in chunks {
        let width = number(chunk, "width").max(1.0) as usize;
        for (i, tile) in list(chunk, "data").iter().enumerate() {
            let column = (number(chunk, "x") - left) as usize + i % width;
            let row = (number(chunk, "y") - top) as usize + i / width;
            if let Some(place) = tiles.get_mut(row * columns as usize + column) {
                *place = tile.clone();
            }
        }
    }
    Ok((columns, rows, tiles, [left, top]))
}
