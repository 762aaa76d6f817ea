//! A tile map as data, and the tree that it is compiled to. Every number of the tree is checked
//! when it is read: the compilers only translate.
//!
//! `{ file, sets = [ … ], maps = [ … ] }`; fields are named as those of the structures here. Tiles
//! are listed row by row from the top, as editors have them, and turned over when they are read.

use super::{TILES_MAX, number_of};
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;
use crate::resource::data_kinds::read_tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most frames of one animated tile.
pub const ANIMATION_FRAMES_MAX: usize = 4096;

/// What a file holds.
#[derive(Debug, Default)]
pub struct World {
    /// In the order of their first numbers.
    pub sets: Vec<TileSet>,
    pub maps: Vec<Map>,
    /// How far the largest tile reaches.
    pub largest: [f32; 2],
    /// Which tiles it names that no set has, in words: these cells stay empty.
    pub lacking: Vec<String>,
}

/// Tiles of one picture.
#[derive(Clone, PartialEq, Debug)]
pub struct TileSet {
    /// The number of its first tile.
    pub first: u32,
    pub count: u32,
    pub columns: u32,
    /// The name of its texture.
    pub texture: String,
    /// The picture's width and height.
    pub image: [f32; 2],
    pub tile_width: f32,
    pub tile_height: f32,
    pub margin: f32,
    pub spacing: f32,
    /// By the tile's number in the set.
    pub properties: Vec<(u32, Tree)>,
    /// By the tile's number, which rises; which tiles are shown, and each for how many
    /// milliseconds.
    pub animations: Vec<(u32, Vec<(u32, f64)>)>,
}

/// One map.
#[derive(Clone, PartialEq, Debug)]
pub struct Map {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    pub tile_width: f32,
    pub tile_height: f32,
    pub properties: Tree,
    /// The lowest first.
    pub layers: Vec<Layer>,
    pub grids: Vec<Grid>,
    pub objects: Vec<MapObject>,
}

/// A layer of tiles.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    pub tile_width: f32,
    pub tile_height: f32,
    /// Where its left bottom is in the map.
    pub x: f32,
    pub y: f32,
    pub opacity: f32,
    pub visible: bool,
    /// Row by row from the bottom; 0 is nothing.
    pub tiles: Arc<Vec<u32>>,
    pub properties: Tree,
}

/// Numbers in cells: LDtk's IntGrid.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    pub name: String,
    pub columns: u32,
    pub rows: u32,
    /// Row by row from the bottom.
    pub values: Vec<i32>,
}

/// Something that is placed freely.
#[derive(Clone, PartialEq, Debug)]
pub struct MapObject {
    pub name: String,
    pub kind: String,
    pub layer: String,
    /// Its left bottom, in the map.
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    /// Degrees with the clock, as editors show it.
    pub rotation: f32,
    /// The tile that it is shown as; 0: none.
    pub tile: u32,
    /// Of a polygon or a line, from its left bottom, y upward.
    pub points: Vec<[f32; 2]>,
    pub properties: Tree,
}

/// The fields of an object of the tree.
struct Fields<'a>(&'a Tree);

impl<'a> Fields<'a> {
    fn list(&self, key: &str) -> &'a [Tree] {
        match self.0.get(key) {
            Some(Tree::Array(items)) => items,
            _ => &[],
        }
    }

    fn text(&self, key: &str) -> String {
        match self.0.get(key) {
            Some(Tree::String(text)) => text.clone(),
            _ => String::new(),
        }
    }

    fn number(&self, key: &str) -> f64 {
        match self.0.get(key) {
            Some(Tree::Number(number)) if number.is_finite() => *number,
            _ => 0.0,
        }
    }

    fn float(&self, key: &str) -> Result<f32, Error> {
        far(key, self.number(key))
    }

    fn whole(&self, key: &str, most: u32) -> Result<u32, Error> {
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

    fn properties(&self) -> Tree {
        self.0.get("properties").cloned().unwrap_or(Tree::Object(Vec::new()))
    }

    /// So many whole numbers, whose rows are turned over.
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
                    Tree::Number(number) => of(*number),
                    _ => None,
                };
                cells.push(number.ok_or_else(|| {
                    error!("layer '{}' has a tile that is no number of one", self.text("name"))
                })?);
            }
        }
        Ok(cells)
    }
}

impl World {
    /// Reads compiled data.
    ///
    /// # Errors
    /// It is damaged, or says what cannot be.
    pub fn read(bytes: &[u8]) -> Result<World, Error> {
        World::of(&read_tree(bytes)?)
    }

    /// Of a compiler's tree.
    pub fn of(tree: &Tree) -> Result<World, Error> {
        let fields = Fields(tree);
        let sets = fields.list("sets").iter().map(|set| tile_set(&Fields(set)));
        let mut sets = sets.collect::<Result<Vec<_>, Error>>()?;
        sets.sort_by_key(|set| set.first);
        let maps = fields.list("maps").iter().map(|of| map(&Fields(of)));
        let maps = maps.collect::<Result<Vec<_>, Error>>()?;
        if maps.is_empty() {
            return Err(error!("there is no map in it"));
        }
        let mut largest = [0.0f32; 2];
        for set in &sets {
            largest = [largest[0].max(set.tile_width), largest[1].max(set.tile_height)];
        }
        let mut world = World { sets, maps, largest, lacking: Vec::new() };
        let (file, trees) = (fields.text("file"), fields.list("maps"));
        for (at, tree) in trees.iter().enumerate() {
            let words = world.lacking_of(at, &Fields(tree));
            world.lacking.extend(words.into_iter().map(|words| format!("{file}: {words}")));
        }
        Ok(world)
    }

    /// The set that a tile is of, and its number in it.
    pub fn set_of(&self, tile: u32) -> Option<(usize, u32)> {
        let number = number_of(tile);
        let after = self.sets.partition_point(|set| set.first <= number);
        let set = after.checked_sub(1)?;
        let inside = number - self.sets[set].first;
        (number > 0 && inside < self.sets[set].count).then_some((set, inside))
    }

    /// The tiles of a map that no set has, in words.
    fn lacking_of(&self, at: usize, fields: &Fields) -> Vec<String> {
        let map = &self.maps[at];
        let level = match map.name.as_str() {
            "" => String::new(),
            name => format!("level '{name}', "),
        };
        let mut told = Vec::new();
        for (layer, tree) in map.layers.iter().zip(fields.list("layers")) {
            let unknown = layer.tiles.iter().filter(|tile| **tile != 0);
            let unknown = unknown.filter(|tile| self.set_of(**tile).is_none());
            let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
            // What the compiler has left out, for it would stand for a tile of another set.
            let left_out = Fields(tree).list("lacking").iter().filter_map(|tile| match tile {
                Tree::Number(number) => Some(*number as i64),
                _ => None,
            });
            unknown.map(|tile| number_of(*tile).into()).chain(left_out).for_each(|number| {
                *counts.entry(number).or_default() += 1;
            });
            for (tile, count) in counts.iter().take(LACKING_TOLD_MAX) {
                let cells = if *count == 1 { "cell" } else { "cells" };
                told.push(format!(
                    "{level}layer '{}' has tile {tile} in {count} {cells}, and no tile set has it: \
                     nothing is shown there",
                    layer.name
                ));
            }
            if counts.len() > LACKING_TOLD_MAX {
                let more = counts.len() - LACKING_TOLD_MAX;
                told.push(format!("{level}layer '{}' has {more} more such tiles", layer.name));
            }
        }
        let objects = map.objects.iter().filter(|object| object.tile != 0);
        for object in objects.filter(|object| self.set_of(object.tile).is_none()) {
            let (name, tile) = (&object.name, number_of(object.tile));
            let words = "is shown as tile";
            told.push(format!("{level}object '{name}' {words} {tile}, and no tile set has it"));
        }
        told
    }
}

/// So many tiles of a layer that no set has are told one by one.
const LACKING_TOLD_MAX: usize = 8;

fn tile_set(fields: &Fields) -> Result<TileSet, Error> {
    let mut set = TileSet {
        first: fields.whole("first", u32::MAX >> 4)?,
        count: fields.whole("count", TILES_MAX as u32)?,
        columns: fields.whole("columns", 65_536)?.max(1),
        texture: fields.text("texture"),
        image: [fields.size("image_width")?, fields.size("image_height")?],
        tile_width: fields.size("tile_width")?,
        tile_height: fields.size("tile_height")?,
        margin: fields.float("margin")?,
        spacing: fields.float("spacing")?,
        properties: Vec::new(),
        animations: Vec::new(),
    };
    for tile in fields.list("tiles").iter().map(Fields) {
        let id = tile.whole("id", TILES_MAX as u32)?;
        if tile.0.get("properties").is_some() {
            set.properties.push((id, tile.properties()));
        }
        let frames = tile.list("frames").iter().map(Fields).map(|frame| {
            let milliseconds = frame.number("milliseconds");
            if milliseconds <= 0.0 {
                return Err(error!("a frame of tile {id} lasts {milliseconds} milliseconds"));
            }
            Ok((frame.whole("id", TILES_MAX as u32)?, milliseconds))
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
            return Err(error!("tile {id} is animated with tile {outside}, which is not there"));
        }
        if !frames.is_empty() {
            set.animations.push((id, frames));
        }
    }
    // They are looked up for every tile that is drawn.
    set.animations.sort_by_key(|(id, _)| *id);
    Ok(set)
}

fn map(fields: &Fields) -> Result<Map, Error> {
    let layer = |layer: &Tree| {
        let fields = Fields(layer);
        let (columns, rows) = (fields.whole("columns", 65_536)?, fields.whole("rows", 65_536)?);
        let tile = |number: f64| {
            (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
                .then_some(number as u32)
        };
        Ok(Layer {
            name: fields.text("name"),
            columns,
            rows,
            tile_width: fields.size("tile_width")?,
            tile_height: fields.size("tile_height")?,
            x: fields.float("x")?,
            y: fields.float("y")?,
            opacity: fields.float("opacity")?.clamp(0.0, 1.0),
            visible: !matches!(layer.get("visible"), Some(Tree::Bool(false))),
            tiles: Arc::new(fields.cells("tiles", columns, rows, tile)?),
            properties: fields.properties(),
        })
    };
    let grid = |grid: &Tree| {
        let fields = Fields(grid);
        let (columns, rows) = (fields.whole("columns", 65_536)?, fields.whole("rows", 65_536)?);
        let value = |number: f64| (number.abs() < 2e9).then_some(number as i32);
        let values = fields.cells("values", columns, rows, value)?;
        Ok(Grid { name: fields.text("name"), columns, rows, values })
    };
    Ok(Map {
        name: fields.text("name"),
        columns: fields.whole("columns", 65_536)?,
        rows: fields.whole("rows", 65_536)?,
        tile_width: fields.size("tile_width")?,
        tile_height: fields.size("tile_height")?,
        properties: fields.properties(),
        layers: fields.list("layers").iter().map(layer).collect::<Result<_, Error>>()?,
        grids: fields.list("grids").iter().map(grid).collect::<Result<_, Error>>()?,
        objects: fields
            .list("objects")
            .iter()
            .map(|object| map_object(&Fields(object)))
            .collect::<Result<_, Error>>()?,
    })
}

/// Lengths and places, in texels.
const FAR: f64 = 1e9;

fn far(key: &str, number: f64) -> Result<f32, Error> {
    match number.abs() <= FAR {
        true => Ok(number as f32),
        false => Err(error!("'{key}' must be a number up to {FAR:e}, got {number:e}")),
    }
}

fn map_object(fields: &Fields) -> Result<MapObject, Error> {
    let point = |point: &Tree| match point {
        Tree::Array(parts) => match parts[..] {
            [Tree::Number(x), Tree::Number(y)] => Ok([far("points", x)?, far("points", y)?]),
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
