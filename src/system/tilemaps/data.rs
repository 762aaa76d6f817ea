//! Compiled form of tile maps, and the tree that the compilers produce. Reading the tree checks
//! every number in it; the compilers only translate.
//!
//! The tree is `{ file, sets = [ … ], maps = [ … ] }`. Its fields have the names of the structures
//! here. Tiles are listed row by row from the top, as in the editors, and are flipped to bottom-up
//! order when they are read.

use super::{TILES_MAX, number_of};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::data_resources::read_tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of frames of one animated tile.
pub const ANIMATION_FRAMES_MAX: usize = 4096;

/// Content of a map file.
#[derive(Debug, Default)]
pub struct MapFile {
    /// Tile sets, sorted by the number of their first tile.
    pub sets: Vec<TileSet>,
    pub maps: Vec<TilemapData>,
    /// Width and height of the largest tile.
    pub largest: [f32; 2],
    /// Messages about tiles that no tile set contains. Their cells stay empty.
    pub unknown_tiles: Vec<String>,
}

/// Tile set: tiles cut from one image.
#[derive(Clone, PartialEq, Debug)]
pub struct TileSet {
    /// Number of the set's first tile.
    pub first: u32,
    pub count: u32,
    pub columns: u32,
    /// Name of the set's texture.
    pub texture: String,
    /// Width and height of the image.
    pub image: [f32; 2],
    pub tile_width: f32,
    pub tile_height: f32,
    pub margin: f32,
    pub spacing: f32,
    /// Properties by the tile's number in the set.
    pub properties: Vec<(u32, SjsonTree)>,
    /// Animations, sorted by the tile's number in the set. Each frame is a tile and its duration in
    /// milliseconds.
    pub animations: Vec<(u32, Vec<(u32, f64)>)>,
}

/// One map of a file, or one LDtk level.
#[derive(Clone, PartialEq, Debug)]
pub struct TilemapData {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    pub tile_width: f32,
    pub tile_height: f32,
    pub properties: SjsonTree,
    /// Layers from the bottom to the top.
    pub layers: Vec<TileLayer>,
    pub grids: Vec<IntGrid>,
    pub objects: Vec<MapObject>,
}

/// Layer of tiles.
#[derive(Clone, PartialEq, Debug)]
pub struct TileLayer {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    pub tile_width: f32,
    pub tile_height: f32,
    /// Position of the layer's bottom left in the map.
    pub x: f32,
    pub y: f32,
    pub opacity: f32,
    pub visible: bool,
    /// Tiles row by row from the bottom; 0 is an empty cell.
    pub tiles: Arc<Vec<u32>>,
    pub properties: SjsonTree,
}

/// Grid of integers: LDtk's IntGrid.
#[derive(Clone, PartialEq, Debug)]
pub struct IntGrid {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    /// Values row by row from the bottom.
    pub values: Vec<i32>,
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
    /// Points of a polygon or polyline, relative to the object's bottom left, y up.
    pub points: Vec<[f32; 2]>,
    pub properties: SjsonTree,
}

/// Typed access to the fields of an object in the tree.
struct ObjectFields<'a>(&'a SjsonTree);

impl<'a> ObjectFields<'a> {
    fn list(&self, key: &str) -> &'a [SjsonTree] {
        match self.0.get(key) {
            Some(SjsonTree::Array(items)) => items,
            _ => &[],
        }
    }

    fn text(&self, key: &str) -> String {
        match self.0.get(key) {
            Some(SjsonTree::String(text)) => text.clone(),
            _ => String::new(),
        }
    }

    fn number(&self, key: &str) -> f64 {
        match self.0.get(key) {
            Some(SjsonTree::Number(number)) if number.is_finite() => *number,
            _ => 0.0,
        }
    }

    fn float(&self, key: &str) -> Result<f32, Error> {
        bounded(key, self.number(key))
    }

    fn integer(&self, key: &str, most: u32) -> Result<u32, Error> {
        let number = self.number(key);
        match number.fract() == 0.0 && (0.0..=f64::from(most)).contains(&number) {
            true => Ok(number as u32),
            false => Err(error!("'{key}' must be a whole number from 0 to {most}, got {number}")),
        }
    }

    fn size(&self, key: &str) -> Result<f32, Error> {
        let number = self.number(key);
        match (1.0..=65_536.0).contains(&number) {
            true => Ok(number as f32),
            false => Err(error!("'{key}' must be 1 to 65536 texels, got {number}")),
        }
    }

    fn properties(&self) -> SjsonTree {
        self.0.get("properties").cloned().unwrap_or(SjsonTree::Object(Vec::new()))
    }

    /// Reads `columns` × `rows` integers and flips their rows to bottom-up order.
    fn cells<T>(
        &self,
        key: &str,
        columns: u32,
        rows: u32,
        of: impl Fn(f64) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let (items, wanted) = (self.list(key), columns as usize * rows as usize);
        if wanted > TILES_MAX {
            return Err(error!("{wanted} tiles are more than a layer can have (TILES_MAX)"));
        }
        if items.len() != wanted {
            return Err(error!(
                "layer '{}' has {} tiles in place of {columns} × {rows}",
                self.text("name"),
                items.len()
            ));
        }
        let mut cells = Vec::with_capacity(wanted);
        if wanted == 0 {
            return Ok(cells);
        }
        for row in (0..rows as usize).rev() {
            for item in &items[row * columns as usize..][..columns as usize] {
                let number = match item {
                    SjsonTree::Number(number) => of(*number),
                    _ => None,
                };
                cells.push(number.ok_or_else(|| {
                    error!("layer '{}' has a tile that is not a tile number", self.text("name"))
                })?);
            }
        }
        Ok(cells)
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
        let sets = fields.list("sets").iter().map(|set| tile_set(&ObjectFields(set)));
        let mut sets = sets.collect::<Result<Vec<_>, Error>>()?;
        sets.sort_by_key(|set| set.first);
        let maps = fields.list("maps").iter().map(|of| map(&ObjectFields(of)));
        let maps = maps.collect::<Result<Vec<_>, Error>>()?;
        if maps.is_empty() {
            return Err(error!("there is no map in it"));
        }
        let mut largest = [0.0f32; 2];
        for set in &sets {
            largest = [largest[0].max(set.tile_width), largest[1].max(set.tile_height)];
        }
        let mut map_file = MapFile { sets, maps, largest, unknown_tiles: Vec::new() };
        let (file, trees) = (fields.text("file"), fields.list("maps"));
        for (at, tree) in trees.iter().enumerate() {
            let messages = map_file.unknown_tiles_of(at, &ObjectFields(tree));
            map_file
                .unknown_tiles
                .extend(messages.into_iter().map(|message| format!("{file}: {message}")));
        }
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

    /// Returns messages about the tiles of a map that no tile set contains.
    fn unknown_tiles_of(&self, at: usize, fields: &ObjectFields) -> Vec<String> {
        let map = &self.maps[at];
        let level = match map.name.as_str() {
            "" => String::new(),
            name => format!("level '{name}', "),
        };
        let mut messages = Vec::new();
        for (layer, tree) in map.layers.iter().zip(fields.list("layers")) {
            let unknown = layer.tiles.iter().filter(|tile| **tile != 0);
            let unknown = unknown.filter(|tile| self.set_of(**tile).is_none());
            let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
            // Tiles that the compiler left out because their numbers would mean tiles of another
            // set.
            let left_out =
                ObjectFields(tree).list("lacking").iter().filter_map(|tile| match tile {
                    SjsonTree::Number(number) => Some(*number as i64),
                    _ => None,
                });
            unknown.map(|tile| number_of(*tile).into()).chain(left_out).for_each(|number| {
                *counts.entry(number).or_default() += 1;
            });
            for (tile, count) in counts.iter().take(UNKNOWN_TILES_REPORTED_MAX) {
                let cells = if *count == 1 { "cell" } else { "cells" };
                messages.push(format!(
                    "{level}layer '{}' has tile {tile} in {count} {cells}, and no tile set has it: \
                     nothing is shown there",
                    layer.name
                ));
            }
            if counts.len() > UNKNOWN_TILES_REPORTED_MAX {
                let more = counts.len() - UNKNOWN_TILES_REPORTED_MAX;
                messages
                    .push(format!("{level}layer '{}' has {more} more of these tiles", layer.name));
            }
        }
        let objects = map.objects.iter().filter(|object| object.tile != 0);
        for object in objects.filter(|object| self.set_of(object.tile).is_none()) {
            let (name, tile) = (&object.name, number_of(object.tile));
            let phrase = "is shown as tile";
            messages
                .push(format!("{level}object '{name}' {phrase} {tile}, and no tile set has it"));
        }
        messages
    }
}

/// Maximum number of unknown tiles of one layer that are reported individually.
const UNKNOWN_TILES_REPORTED_MAX: usize = 8;

fn tile_set(fields: &ObjectFields) -> Result<TileSet, Error> {
    let mut set = TileSet {
        first: fields.integer("first", u32::MAX >> 4)?,
        count: fields.integer("count", TILES_MAX as u32)?,
        columns: fields.integer("columns", 65_536)?.max(1),
        texture: fields.text("texture"),
        image: [fields.size("image_width")?, fields.size("image_height")?],
        tile_width: fields.size("tile_width")?,
        tile_height: fields.size("tile_height")?,
        margin: fields.float("margin")?,
        spacing: fields.float("spacing")?,
        properties: Vec::new(),
        animations: Vec::new(),
    };
    for tile in fields.list("tiles").iter().map(ObjectFields) {
        let id = tile.integer("id", TILES_MAX as u32)?;
        if tile.0.get("properties").is_some() {
            set.properties.push((id, tile.properties()));
        }
        let frames = tile.list("frames").iter().map(ObjectFields).map(|frame| {
            let milliseconds = frame.number("milliseconds");
            if milliseconds <= 0.0 {
                return Err(error!("a frame of tile {id} lasts {milliseconds} milliseconds"));
            }
            Ok((frame.integer("id", TILES_MAX as u32)?, milliseconds))
        });
        let frames = frames.collect::<Result<Vec<_>, Error>>()?;
        if frames.len() > ANIMATION_FRAMES_MAX {
            return Err(error!(
                "tile {id} is animated with {} frames, and {ANIMATION_FRAMES_MAX} is the most \
                 (ANIMATION_FRAMES_MAX)",
                frames.len()
            ));
        }
        if let Some((outside, _)) = frames.iter().find(|(frame, _)| *frame >= set.count) {
            return Err(error!("tile {id} is animated with tile {outside}, which does not exist"));
        }
        if !frames.is_empty() {
            set.animations.push((id, frames));
        }
    }
    // Sorted for the lookup of every drawn tile.
    set.animations.sort_by_key(|(id, _)| *id);
    Ok(set)
}

fn map(fields: &ObjectFields) -> Result<TilemapData, Error> {
    let layer = |layer: &SjsonTree| {
        let fields = ObjectFields(layer);
        let (columns, rows) = (fields.integer("columns", 65_536)?, fields.integer("rows", 65_536)?);
        let tile = |number: f64| {
            (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
                .then_some(number as u32)
        };
        Ok(TileLayer {
            name: fields.text("name"),
            columns,
            rows,
            tile_width: fields.size("tile_width")?,
            tile_height: fields.size("tile_height")?,
            x: fields.float("x")?,
            y: fields.float("y")?,
            opacity: fields.float("opacity")?.clamp(0.0, 1.0),
            visible: !matches!(layer.get("visible"), Some(SjsonTree::Bool(false))),
            tiles: Arc::new(fields.cells("tiles", columns, rows, tile)?),
            properties: fields.properties(),
        })
    };
    let grid = |grid: &SjsonTree| {
        let fields = ObjectFields(grid);
        let (columns, rows) = (fields.integer("columns", 65_536)?, fields.integer("rows", 65_536)?);
        let value = |number: f64| (number.abs() < 2e9).then_some(number as i32);
        let values = fields.cells("values", columns, rows, value)?;
        Ok(IntGrid { name: fields.text("name"), columns, rows, values })
    };
    Ok(TilemapData {
        name: fields.text("name"),
        columns: fields.integer("columns", 65_536)?,
        rows: fields.integer("rows", 65_536)?,
        tile_width: fields.size("tile_width")?,
        tile_height: fields.size("tile_height")?,
        properties: fields.properties(),
        layers: fields.list("layers").iter().map(layer).collect::<Result<_, Error>>()?,
        grids: fields.list("grids").iter().map(grid).collect::<Result<_, Error>>()?,
        objects: fields
            .list("objects")
            .iter()
            .map(|object| map_object(&ObjectFields(object)))
            .collect::<Result<_, Error>>()?,
    })
}

/// Maximum absolute value of lengths and positions, in texels.
const LENGTH_MAX: f64 = 1e9;

fn bounded(key: &str, number: f64) -> Result<f32, Error> {
    match number.abs() <= LENGTH_MAX {
        true => Ok(number as f32),
        false => Err(error!("'{key}' must be a number up to {LENGTH_MAX:e}, got {number:e}")),
    }
}

fn map_object(fields: &ObjectFields) -> Result<MapObject, Error> {
    let point = |point: &SjsonTree| match point {
        SjsonTree::Array(parts) => match parts[..] {
            [SjsonTree::Number(x), SjsonTree::Number(y)] => {
                Ok([bounded("points", x)?, bounded("points", y)?])
            }
            _ => Ok([0.0; 2]),
        },
        _ => Ok([0.0; 2]),
    };
    Ok(MapObject {
        name: fields.text("name"),
        kind: fields.text("kind"),
        layer: fields.text("layer"),
        x: fields.float("x")?,
        y: fields.float("y")?,
        width: fields.float("width")?,
        height: fields.float("height")?,
        rotation: fields.float("rotation")?,
        tile: fields.number("tile") as u32,
        points: fields.list("points").iter().map(point).collect::<Result<_, Error>>()?,
        properties: fields.properties(),
    })
}
