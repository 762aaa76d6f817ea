//! Tile maps: what Tiled and LDtk wrote, as layers of tiles, objects and grids, and which part of
//! which picture each tile is. Where tiles are drawn is the engine's affair; files are compiled in
//! the modules below, which all make the same tree of it (`map.rs` says which).
//!
//! Columns and rows count from 1, from the left bottom; lengths are texels, y upward.

mod chunk;
pub mod kind;
mod ldtk;
mod map;
mod path;
mod tiled;
mod tmx;

#[cfg(test)]
mod tests;

pub use chunk::{CHUNK_CELLS, Chunk, chunks};
pub use map::{Grid, Layer, Map, MapObject, TileSet, World};

use crate::error;
use crate::foundation::hash::StateHash;
use crate::foundation::{Error, Handle, Kind, Slots, log};
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The handle of a tile map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TilemapId(pub Handle);

/// The most tile maps that can be there at once.
pub const TILEMAPS_MAX: usize = 1024;
/// The most tiles of one layer.
pub const TILES_MAX: usize = 1 << 22;

/// The bits of a tile that turn it: left and right, top and bottom, and along its diagonal, which
/// is done first. The others are its number.
pub const FLIP_X: u32 = 1 << 31;
pub const FLIP_Y: u32 = 1 << 30;
pub const FLIP_DIAGONAL: u32 = 1 << 29;
const FLIPS: u32 = FLIP_X | FLIP_Y | FLIP_DIAGONAL;

/// A tile without what turns it.
pub fn number_of(tile: u32) -> u32 {
    tile & !FLIPS
}

/// A map that a game uses: its own copy of the tiles, which can be changed.
pub struct Tilemap {
    /// The resource's name.
    pub name: String,
    world: Arc<World>,
    map: usize,
    /// Of each layer, as the map has them or as the game changed them.
    tiles: Vec<Arc<Vec<u32>>>,
    visible: Vec<bool>,
    /// The unit whose component it is; none for one that a script made.
    pub owner: Option<Handle>,
    /// What changed since the world's picture was brought up to date, of one with an owner.
    edits: Edits,
    /// Stands for all tiles that were ever put.
    state: u64,
}

/// What changed of a map.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Edits {
    /// Layers and cells, from 0.
    pub cells: Vec<[u32; 3]>,
    /// Whether a layer was shown or hidden.
    pub layers: bool,
}

impl Tilemap {
    /// What the file says.
    pub fn map(&self) -> &Map {
        &self.world.maps[self.map]
    }

    pub fn sets(&self) -> &[TileSet] {
        &self.world.sets
    }

    /// The place of a layer by its name.
    pub fn layer(&self, name: &str) -> Option<usize> {
        self.map().layers.iter().position(|layer| layer.name == name)
    }

    pub fn is_visible(&self, layer: usize) -> bool {
        self.visible[layer]
    }

    pub fn show(&mut self, layer: usize, visible: bool) {
        self.edits.layers |= std::mem::replace(&mut self.visible[layer], visible) != visible;
    }

    /// What changed since the last time.
    pub fn take_edits(&mut self) -> Edits {
        std::mem::take(&mut self.edits)
    }

    /// A number that stands for all tiles that were ever put.
    pub fn state(&self) -> u64 {
        self.state
    }

    fn place(&self, layer: usize, column: i64, row: i64) -> Option<usize> {
        let of = &self.map().layers[layer];
        let inside = (1..=i64::from(of.columns)).contains(&column)
            && (1..=i64::from(of.rows)).contains(&row);
        inside.then(|| (row as usize - 1) * of.columns as usize + column as usize - 1)
    }

    /// A tile with its turns; 0 where there is none, `None` outside of the layer.
    pub fn tile(&self, layer: usize, column: i64, row: i64) -> Option<u32> {
        Some(self.tiles[layer][self.place(layer, column, row)?])
    }

    /// Puts a tile; false outside of the layer.
    pub fn set_tile(&mut self, layer: usize, column: i64, row: i64, tile: u32) -> bool {
        let Some(place) = self.place(layer, column, row) else { return false };
        if self.tiles[layer][place] == tile {
            return true;
        }
        Arc::make_mut(&mut self.tiles[layer])[place] = tile;
        let mut hash = StateHash::new(self.state);
        [layer as u64, place as u64, u64::from(tile)].into_iter().for_each(|it| hash.write_u64(it));
        self.state = hash.finish();
        if self.owner.is_some() {
            self.edits.cells.push([layer as u32, column as u32 - 1, row as u32 - 1]);
        }
        true
    }

    /// Takes another file's content over. What the game changed stays, in layers that have the same
    /// name.
    fn renew(&mut self, world: &Arc<World>) {
        let old = self.map().clone();
        let (old_tiles, old_visible) = (self.tiles.clone(), self.visible.clone());
        let known = world.maps.iter().position(|map| map.name == old.name);
        self.map = known.unwrap_or(0);
        self.world = world.clone();
        let layers = &world.maps[self.map].layers;
        self.tiles = layers.iter().map(|layer| layer.tiles.clone()).collect();
        self.visible = layers.iter().map(|layer| layer.visible).collect();
        for (at, layer) in old.layers.iter().enumerate() {
            let Some(now) = self.layer(&layer.name) else { continue };
            if old_visible[at] != layer.visible {
                self.visible[now] = old_visible[at];
            }
            for (place, tile) in old_tiles[at].iter().enumerate() {
                let columns = layer.columns as usize;
                let (column, row) = (place % columns, place / columns);
                let fits = *tile == 0 || self.set_of(*tile).is_some();
                if *tile != layer.tiles[place] && fits {
                    self.set_tile(now, column as i64 + 1, row as i64 + 1, *tile);
                }
            }
        }
        self.edits = Edits { cells: Vec::new(), layers: true };
    }

    /// The set that a tile is of, and its number in it.
    pub fn set_of(&self, tile: u32) -> Option<(usize, u32)> {
        self.world.set_of(tile)
    }

    /// The tiles of a layer that touch a rectangle (left, bottom, right, top, from the map's left
    /// bottom), row by row from the top: each as its set, the part of its picture and its corners.
    /// `seconds` is the time that animated tiles go by.
    pub fn quads(&self, layer: usize, rectangle: [f32; 4], seconds: f64, out: &mut Vec<Quad>) {
        let of = &self.map().layers[layer];
        let (width, height) = (of.tile_width, of.tile_height);
        // Pictures may be larger than their cell, to the right and upward.
        let (over_x, over_y) = (self.world.largest[0], self.world.largest[1]);
        let cell = |at: f32, size: f32, most: u32| {
            ((at / size).floor().max(0.0) as u32).min(most.saturating_sub(1))
        };
        if of.columns == 0 || of.rows == 0 {
            return;
        }
        let [left, bottom, right, top] = rectangle;
        let (left, right) = (left - of.x - over_x, right - of.x);
        let (bottom, top) = (bottom - of.y - over_y, top - of.y);
        let beyond = left >= of.columns as f32 * width || bottom >= of.rows as f32 * height;
        if right < 0.0 || top < 0.0 || beyond {
            return;
        }
        let columns = cell(left, width, of.columns)..=cell(right, width, of.columns);
        let rows = cell(bottom, height, of.rows)..=cell(top, height, of.rows);
        self.quads_of(layer, (columns, rows), seconds, out);
    }

    /// The tiles in some cells of a layer, likewise.
    fn quads_of(
        &self,
        layer: usize,
        (columns, rows): (RangeInclusive<u32>, RangeInclusive<u32>),
        seconds: f64,
        out: &mut Vec<Quad>,
    ) {
        let of = &self.map().layers[layer];
        let (width, height) = (of.tile_width, of.tile_height);
        for row in rows.rev() {
            let line = row as usize * of.columns as usize;
            for column in columns.clone() {
                let tile = self.tiles[layer][line + column as usize];
                if tile == 0 {
                    continue;
                }
                let Some((set, number)) = self.set_of(tile) else { continue };
                let at = [of.x + column as f32 * width, of.y + row as f32 * height];
                out.push(self.world.sets[set].quad(set, number, tile, at, seconds));
            }
        }
    }
}

/// A tile as it is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quad {
    pub set: usize,
    /// Left top and right bottom in the set's picture, from 0 to 1, down the picture.
    pub part: [[f32; 2]; 2],
    /// Left bottom, right bottom, right top, left top of the picture's part.
    pub corners: [f32; 8],
}

/// Texels: a sliver inside, so that rounding takes no texel of the neighbour.
const INSIDE: f32 = 1.0 / 256.0;

impl TileSet {
    /// Half a texel of its picture: so far inside of a tile a mixture of texels has none of its
    /// neighbours.
    pub fn half_texel(&self) -> [f32; 2] {
        self.image.map(|side| 0.5 / side)
    }

    /// The frames of a tile, if it is animated.
    fn frames(&self, number: u32) -> Option<&[(u32, f64)]> {
        let at = self.animations.partition_point(|(tile, _)| *tile < number);
        self.animations.get(at).filter(|(tile, _)| *tile == number).map(|(_, frames)| &frames[..])
    }

    /// The number of the tile that an animated one looks like after some seconds.
    fn shown(&self, number: u32, seconds: f64) -> u32 {
        let Some(frames) = self.frames(number) else { return number };
        let whole: f64 = frames.iter().map(|(_, milliseconds)| milliseconds).sum();
        let mut left = (seconds * 1000.0).rem_euclid(whole);
        for (tile, milliseconds) in frames {
            if left < *milliseconds {
                return *tile;
            }
            left -= milliseconds;
        }
        number
    }

    fn quad(&self, set: usize, number: u32, tile: u32, [x, y]: [f32; 2], seconds: f64) -> Quad {
        let number = self.shown(number, seconds);
        let (column, row) = (number % self.columns, number / self.columns);
        let (width, height) = (self.tile_width, self.tile_height);
        let left = self.margin + column as f32 * (width + self.spacing);
        let top = self.margin + row as f32 * (height + self.spacing);
        let [image_width, image_height] = self.image;
        let part = [
            [(left + INSIDE) / image_width, (top + INSIDE) / image_height],
            [(left + width - INSIDE) / image_width, (top + height - INSIDE) / image_height],
        ];
        let mut at = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
        if tile & FLIP_DIAGONAL != 0 {
            at.swap(0, 2);
        }
        if tile & FLIP_X != 0 {
            at = at.map(|[px, py]| [2.0 * x + width - px, py]);
        }
        if tile & FLIP_Y != 0 {
            at = at.map(|[px, py]| [px, 2.0 * y + height - py]);
        }
        let [a, b, c, d] = at;
        Quad { set, part, corners: [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]] }
    }
}

fn level_of(world: &World, name: &str, level: Option<&str>) -> Result<usize, Error> {
    let Some(level) = level else { return Ok(0) };
    world.maps.iter().position(|map| map.name == level).ok_or_else(|| {
        let names = world.maps.iter().map(|map| map.name.as_str());
        let hint = crate::foundation::suggest::hint(level, names);
        error!("the tile map '{name}' has no level '{level}'{hint}")
    })
}

/// All tile maps.
pub struct Tilemaps {
    pub slots: Slots<Tilemap>,
    /// What was read so far, by name. Emptied when one of them changes: maps that are there keep
    /// what they were made of.
    worlds: HashMap<String, Arc<World>>,
}

impl Default for Tilemaps {
    fn default() -> Tilemaps {
        Tilemaps { slots: Slots::new(Kind::Tilemap, TILEMAPS_MAX), worlds: HashMap::new() }
    }
}

impl Tilemaps {
    /// What a file holds, read when it is first asked for.
    ///
    /// # Errors
    /// It is missing or broken.
    pub fn world(&mut self, store: &mut Store, name: &str) -> Result<Arc<World>, Error> {
        if let Some(known) = self.worlds.get(name) {
            return Ok(known.clone());
        }
        let resource = ResourceName::new("tilemap", name);
        let bytes = store.read(&resource)?;
        let world = Arc::new(contain(&resource, || World::read(&bytes))?);
        for words in &world.lacking {
            log::warning(words);
        }
        self.worlds.insert(name.to_string(), world.clone());
        Ok(world)
    }

    /// Which of a file's maps is meant: that of the level's name, or the first.
    ///
    /// # Errors
    /// The file is missing or broken, or has no such level.
    pub fn find_map(
        &mut self,
        store: &mut Store,
        name: &str,
        level: Option<&str>,
    ) -> Result<usize, Error> {
        let world = self.world(store, name)?;
        level_of(&world, name, level)
    }

    /// Makes a map of a file; of one with several levels, the one of that name, or the first.
    ///
    /// # Errors
    /// The file is missing or broken or has no such level, or there are too many maps.
    pub fn add(
        &mut self,
        store: &mut Store,
        name: &str,
        level: Option<&str>,
    ) -> Result<TilemapId, Error> {
        let world = self.world(store, name)?;
        let map = level_of(&world, name, level)
            .map_err(|fault| error!("argument #2 'level': {}", fault.message))?;
        let layers = &world.maps[map].layers;
        let tilemap = Tilemap {
            name: name.to_string(),
            tiles: layers.iter().map(|layer| layer.tiles.clone()).collect(),
            visible: layers.iter().map(|layer| layer.visible).collect(),
            owner: None,
            edits: Edits::default(),
            state: 0,
            map,
            world,
        };
        self.slots.add(tilemap).map(TilemapId).ok_or_else(|| {
            error!("{TILEMAPS_MAX} tile maps are there already (TILEMAPS_MAX): destroy one first")
        })
    }

    /// Ends a map.
    pub fn remove(&mut self, id: TilemapId, frame: u64, place: &str) {
        let name = self.of(id).name.clone();
        self.slots.remove(id.0, &name, frame, place);
    }

    /// A living map. Handles are checked where they come in, so it is there.
    pub fn of(&self, id: TilemapId) -> &Tilemap {
        self.slots.get(id.0).expect("the handle was checked where it came in")
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, id: TilemapId) -> &mut Tilemap {
        self.slots.get_mut(id.0).expect("the handle was checked where it came in")
    }

    /// Makes a map anew of its file, which changed.
    ///
    /// # Errors
    /// The file is missing or broken: the map is as it was.
    pub fn renew(&mut self, store: &mut Store, id: TilemapId) -> Result<(), Error> {
        let name = self.of(id).name.clone();
        let world = self.world(store, &name)?;
        self.of_mut(id).renew(&world);
        Ok(())
    }

    /// Resources changed: what is made from now on is made of the new ones.
    pub fn reload(&mut self, changed: &[ResourceName]) {
        for name in changed.iter().filter(|name| name.kind == "tilemap") {
            self.worlds.remove(&name.name);
        }
    }
}
