//! Compiled form of tile maps, and the tree that the compilers produce. Reading the tree checks
//! every number in it; the compilers only translate.
//!
//! The tree is `{ file, sets = [ … ], maps = [ … ] }`. Its fields have the names of the structures
//! here. Tiles are listed row by row from the top, as in the editors, and are flipped to bottom-up
//! order when they are read. `map_reader.rs` reads the tree.

use super::cell_grid::{CellGrid, CellShape};
use super::map_reader;
use super::number_of;
use super::tree_fields::ObjectFields;
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::data_resources::read_tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of frames of one animated tile.
pub const ANIMATION_FRAMES_MAX: usize = 4096;
/// Maximum number of tile sets of a file. Each picture of a collection counts as one.
pub const SETS_MAX: usize = 8192;
/// Maximum number of objects or entities of a file.
pub const OBJECTS_MAX: usize = 1 << 18;
/// Maximum length of a layer's name in bytes. Each object of the layer has a copy of the name.
pub const LAYER_NAME_MAX: usize = 1024;

/// Content of a map file.
#[derive(Debug, Default)]
pub struct MapFile {
    /// Tile sets, sorted by the number of their first tile.
    pub sets: Vec<TileSet>,
    pub maps: Vec<TilemapData>,
    /// Messages about tiles that no tile set contains. Their cells stay empty.
    pub unknown_tiles: Vec<String>,
}

/// Maximum number of unknown tiles of one layer that are reported individually, and of one map's
/// objects that are shown as unknown tiles.
const UNKNOWN_TILES_REPORTED_MAX: usize = 8;
/// Maximum number of messages about unknown tiles of a file.
const UNKNOWN_MESSAGES_MAX: usize = 64;

/// Collector of the messages about a file's unknown tiles.
struct UnknownTiles {
    file: String,
    messages: Vec<String>,
    /// Number of messages beyond the limit.
    more: usize,
}

impl UnknownTiles {
    fn add(&mut self, message: impl FnOnce() -> String) {
        match self.messages.len() < UNKNOWN_MESSAGES_MAX {
            true => self.messages.push(format!("{}: {}", self.file, message())),
            false => self.more += 1,
        }
    }

    fn into_messages(mut self) -> Vec<String> {
        if self.more > 0 {
            let (file, more) = (&self.file, self.more);
            let last = format!("{file}: there are {more} more messages about unknown tiles");
            self.messages.push(last);
        }
        self.messages
    }
}

/// Tile set: tiles cut from one image. A collection of pictures is a set for each picture.
#[derive(Clone, PartialEq, Debug)]
pub struct TileSet {
    /// Number of the set's first tile.
    pub first: u32,
    pub count: u32,
    pub columns: u32,
    /// Name of the set's texture. `tiles#ff00ff` is the texture `tiles` with a transparent color.
    pub texture: String,
    /// Width and height of the image.
    pub image: [f32; 2],
    pub tile_width: f32,
    pub tile_height: f32,
    /// Position of the first tile in the image, from the top left.
    pub origin: [f32; 2],
    pub spacing: f32,
    /// Distance by which tiles are drawn to the right and up.
    pub offset: [f32; 2],
    /// True if tiles are drawn in the size of the cell.
    pub fills_cell: bool,
    /// True if a tile keeps its aspect ratio when it is drawn in another size.
    pub keeps_aspect: bool,
    /// Properties by the tile's number in the set.
    pub properties: Vec<(u32, SjsonTree)>,
    /// Collision shapes, sorted by the tile's number in the set.
    pub shapes: Vec<(u32, Vec<TileShape>)>,
    /// Animations, sorted by the tile's number in the set. Each frame is the number of a tile in
    /// the map, and its duration in milliseconds.
    pub animations: Vec<(u32, Vec<(u32, f64)>)>,
}

/// Collision shape of a tile, as drawn in Tiled's collision editor.
#[derive(Clone, PartialEq, Debug)]
pub struct TileShape {
    /// Corners in texels from the bottom left of the tile's image, y up.
    pub points: Vec<[f32; 2]>,
    /// True for a line, false for a polygon.
    pub is_open: bool,
    pub properties: SjsonTree,
}

/// One map of a file, or one LDtk level.
#[derive(Clone, PartialEq, Debug)]
pub struct TilemapData {
    pub name: String,
    /// Cells of the map.
    pub grid: CellGrid,
    /// Point, from the map's bottom left, at which layers with parallax are not moved if it is in
    /// the middle of the view.
    pub parallax_origin: [f32; 2],
    pub properties: SjsonTree,
    /// Layers from the bottom to the top.
    pub layers: Vec<TileLayer>,
    pub grids: Vec<IntGrid>,
    pub objects: Vec<MapObject>,
}

/// Kind of the content of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayerKind {
    /// Tiles in cells.
    Tiles,
    /// One picture.
    Image,
    /// Tile objects of an object layer. Hidden until the game shows it.
    Objects,
}

/// Layer of tiles in cells, or of freely placed tiles.
#[derive(Clone, PartialEq, Debug)]
pub struct TileLayer {
    pub name: String,
    pub kind: LayerKind,
    /// Cells of the layer; no columns and rows if its tiles are placed freely.
    pub grid: CellGrid,
    /// True if the map is hexagonal: the diagonal flip is then a rotation.
    pub is_hexagonal: bool,
    /// Position of the layer's bottom left in the map.
    pub x: f32,
    pub y: f32,
    pub opacity: f32,
    /// Color that multiplies the tiles: red, green, blue, alpha.
    pub tint: [u8; 4],
    /// Movement relative to that of the view, horizontally and vertically; 1 for most layers.
    pub parallax: [f32; 2],
    pub visible: bool,
    /// Layer of a Gui or world that it is drawn on, from that of the map. Only layers of tiles
    /// count; others share the layer of the tiles below them.
    pub level: u32,
    /// Tiles row by row from the bottom; 0 is an empty cell.
    pub tiles: Arc<Vec<u32>>,
    /// Tiles that are not drawn like the others, by the index of their cell in ascending order.
    pub styles: Arc<Vec<(u32, TileStyle)>>,
    /// Freely placed tiles, in drawing order.
    pub placed: Arc<Vec<PlacedTile>>,
    /// True if the picture is repeated horizontally and vertically.
    pub repeat: [bool; 2],
    /// True if cells are drawn from the right, and rows from the bottom.
    pub reversed: [bool; 2],
    /// True if tiles that are larger than the cell extend downward, as in LDtk.
    pub from_top: bool,
    /// Distance by which tiles extend beyond their cells: left, bottom, right, top.
    pub reach: [f32; 4],
    /// True if tiles can overlap each other.
    pub overlaps: bool,
    pub properties: SjsonTree,
}

/// Shift and opacity of a single tile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileStyle {
    pub shift: [f32; 2],
    pub alpha: f32,
}

/// Freely placed tile.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedTile {
    /// Number of the tile with its flip bits.
    pub tile: u32,
    /// Position of its bottom left before the rotation.
    pub at: [f32; 2],
    pub size: [f32; 2],
    /// Clockwise rotation around the pivot, in degrees.
    pub rotation: f32,
    pub pivot: [f32; 2],
    pub alpha: f32,
}

/// Grid of integers: LDtk's IntGrid.
#[derive(Clone, PartialEq, Debug)]
pub struct IntGrid {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    /// Values row by row from the bottom.
    pub values: Vec<i32>,
    /// Names of values.
    pub value_names: Vec<(i32, String)>,
    /// Position of the grid's bottom left in the map.
    pub position: [f32; 2],
    /// Side of a cell in texels.
    pub cell: f32,
}

impl IntGrid {
    pub fn cells(&self) -> CellGrid {
        let (columns, rows) = (self.columns, self.rows);
        CellGrid { shape: CellShape::Rectangles, columns, rows, cell: [self.cell; 2] }
    }
}

/// Shape of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectShape {
    Rectangle,
    Ellipse,
    Point,
    Polygon,
    Polyline,
}

impl ObjectShape {
    pub const NAMES: [(&'static str, ObjectShape); 5] = [
        ("rectangle", ObjectShape::Rectangle),
        ("ellipse", ObjectShape::Ellipse),
        ("point", ObjectShape::Point),
        ("polygon", ObjectShape::Polygon),
        ("polyline", ObjectShape::Polyline),
    ];

    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, shape)| *shape == self);
        found.expect("all shapes have names").0
    }
}

/// Freely placed object or entity of a map.
#[derive(Clone, PartialEq, Debug)]
pub struct MapObject {
    pub name: String,
    pub kind: String,
    pub layer: String,
    /// Position of the object's bottom left in the map.
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    /// Clockwise rotation in degrees, as shown in the editors.
    pub rotation: f32,
    /// Tile that the object is shown as; 0 for none.
    pub tile: u32,
    pub shape: ObjectShape,
    /// Points of a polygon or polyline, relative to the object's bottom left, y up.
    pub points: Vec<[f32; 2]>,
    pub properties: SjsonTree,
}

impl TileLayer {
    /// Returns the style of a cell. A tile that the game changed has none.
    pub(super) fn style(&self, index: usize, tile: u32) -> Option<&TileStyle> {
        if self.styles.is_empty() || self.tiles[index] != tile {
            return None;
        }
        let found = self.styles.binary_search_by_key(&(index as u32), |(cell, _)| *cell);
        found.ok().map(|at| &self.styles[at].1)
    }

    /// Returns true if the layer is drawn until the game hides it.
    pub fn is_shown_at_first(&self) -> bool {
        self.visible && self.kind != LayerKind::Objects
    }

    /// Returns a color multiplied with that of the layer and with an opacity.
    pub fn color(&self, color: [u8; 4], alpha: f32) -> [u8; 4] {
        let mut product = color;
        for (part, tint) in product.iter_mut().zip(self.tint) {
            *part = ((u32::from(*part) * u32::from(tint) + 127) / 255) as u8;
        }
        let alpha = f32::from(product[3]) * (self.opacity * alpha).clamp(0.0, 1.0);
        [product[0], product[1], product[2], alpha.round() as u8]
    }

    /// Returns the distance by which the layer is moved if the middle of the view is at this
    /// position of the map.
    pub fn parallax_shift(&self, map: &TilemapData, view: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| (1.0 - self.parallax[axis]) * (view[axis] - map.parallax_origin[axis]))
    }
}

impl MapFile {
    /// Reads compiled data.
    ///
    /// # Errors
    /// Returns an error if the data is damaged or contains invalid values.
    pub fn read(bytes: &[u8]) -> Result<MapFile, Error> {
        MapFile::of(&read_tree(bytes)?)
    }

    /// Builds the map file from a compiler's tree.
    pub fn of(tree: &SjsonTree) -> Result<MapFile, Error> {
        let fields = ObjectFields(tree);
        let mut map_file = map_reader::read(&fields)?;
        let (messages, more) = (Vec::new(), 0);
        let mut unknown = UnknownTiles { file: fields.text("file"), messages, more };
        for (map, tree) in map_file.maps.iter().zip(fields.list("maps")) {
            map_file.add_unknown_tiles(map, &ObjectFields(tree), &mut unknown);
        }
        map_file.unknown_tiles = unknown.into_messages();
        Ok(map_file)
    }

    /// Returns the index of the tile set that contains a tile, and the tile's number in that set.
    pub fn set_of(&self, tile: u32) -> Option<(usize, u32)> {
        let number = number_of(tile);
        let after = self.sets.partition_point(|set| set.first <= number);
        let set = after.checked_sub(1)?;
        let inside = number - self.sets[set].first;
        (number > 0 && inside < self.sets[set].count).then_some((set, inside))
    }

    /// Adds messages about the tiles of a map that no tile set contains.
    fn add_unknown_tiles(&self, map: &TilemapData, fields: &ObjectFields, out: &mut UnknownTiles) {
        let level = match map.name.as_str() {
            "" => String::new(),
            name => format!("level '{name}', "),
        };
        for (layer, tree) in map.layers.iter().zip(fields.list("layers")) {
            let name = &layer.name;
            let counts = self.unknown_tiles_of(layer, &ObjectFields(tree));
            for (tile, count) in counts.iter().take(UNKNOWN_TILES_REPORTED_MAX) {
                let cells = if *count == 1 { "cell" } else { "cells" };
                out.add(|| {
                    format!(
                        "{level}layer '{name}' has tile {tile} in {count} {cells}, and no tile set \
                         has it: nothing is shown there"
                    )
                });
            }
            if let Some(more) = counts.len().checked_sub(UNKNOWN_TILES_REPORTED_MAX + 1) {
                let more = more + 1;
                out.add(|| format!("{level}layer '{name}' has {more} more of these tiles"));
            }
        }
        let objects = map.objects.iter().filter(|object| object.tile != 0);
        let objects = objects.filter(|object| self.set_of(object.tile).is_none());
        for object in objects.clone().take(UNKNOWN_TILES_REPORTED_MAX) {
            let (name, tile) = (&object.name, number_of(object.tile));
            out.add(|| {
                format!("{level}object '{name}' is shown as tile {tile}, and no tile set has it")
            });
        }
        let more = objects.skip(UNKNOWN_TILES_REPORTED_MAX).count();
        if more > 0 {
            out.add(|| format!("{level}{more} more objects are shown as tiles of no tile set"));
        }
    }

    /// Returns the tiles of a layer that no tile set contains, and the number of their cells.
    fn unknown_tiles_of(&self, layer: &TileLayer, fields: &ObjectFields) -> BTreeMap<i64, usize> {
        let unknown = layer.tiles.iter().filter(|tile| **tile != 0);
        let unknown = unknown.filter(|tile| self.set_of(**tile).is_none());
        // Tiles that the compiler left out because their numbers would mean tiles of another set.
        let left_out = fields.list("lacking").iter().filter_map(|tile| match tile {
            SjsonTree::Number(number) => Some(*number as i64),
            _ => None,
        });
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for number in unknown.map(|tile| number_of(*tile).into()).chain(left_out) {
            *counts.entry(number).or_default() += 1;
        }
        counts
    }
}
