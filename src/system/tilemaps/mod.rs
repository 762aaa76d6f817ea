//! Tile maps: layers of tiles, objects and integer grids imported from Tiled and LDtk, and the
//! quads that draw each tile from its tile set's image. The engine decides where the quads are
//! drawn. The folders `tiled` and `ldtk` compile map files; both produce the tree that `data.rs`
//! describes.
//!
//! Columns and rows count from 1 at the bottom left. Lengths are in texels; y points up.

mod cell_grid;
mod chunk_mesh;
mod collision;
mod data;
mod draw_order;
mod field_types;
mod ldtk;
mod map_reader;
mod quads;
mod relative_path;
pub mod resource;
mod source_images;
mod source_tree;
mod tiled;
mod tree_fields;

#[cfg(test)]
mod tests;

pub use cell_grid::{CellGrid, CellShape, Stagger};
pub use chunk_mesh::{ChunkMesh, chunks};
pub use collision::{
    CellCosts, Chain, CollisionKind, CollisionRules, CollisionTable, OUTLINE_EDGES_MAX,
    OutlinePart, Outlines, Segment, chains as outline_chains,
};
pub use data::{
    IntGrid, LayerKind, MapFile, MapObject, ObjectShape, TileLayer, TileSet, TilemapData,
};
pub use draw_order::sort_by_texture;
pub use quads::TileQuad;

use engine_foundation::error;
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Handle, HandleKind, Slots, log};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Handle of a tile map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TilemapId(pub Handle);

/// Maximum number of tile maps that exist at once.
pub const TILEMAPS_MAX: usize = 1024;
/// Maximum number of tiles in one layer.
pub const TILES_MAX: usize = 1 << 22;
/// Maximum number of columns or rows of a layer.
pub const SIDE_MAX: u32 = 65_536;

/// Flip bits of a tile: horizontal, vertical, and along the diagonal. The diagonal flip is applied
/// first. In hexagonal maps it is a clockwise rotation by 60 degrees, applied last; the fourth bit
/// adds 120 degrees. The remaining bits are the tile's number.
pub const FLIP_X: u32 = 1 << 31;
pub const FLIP_Y: u32 = 1 << 30;
pub const FLIP_DIAGONAL: u32 = 1 << 29;
pub const ROTATE_120: u32 = 1 << 28;
const FLIPS: u32 = FLIP_X | FLIP_Y | FLIP_DIAGONAL | ROTATE_120;
/// Maximum number of a tile set's first tile.
const FIRST_MAX: u32 = u32::MAX >> 5;

/// Returns the number of a tile without its flip bits.
pub fn number_of(tile: u32) -> u32 {
    tile & !FLIPS
}

/// Instance of a tile map with an editable copy of the tiles.
pub struct Tilemap {
    /// Name of the resource.
    pub name: String,
    map_file: Arc<MapFile>,
    map: usize,
    /// Tiles of each layer, as loaded from the map or edited by the game.
    tiles: Vec<Arc<Vec<u32>>>,
    visible: Vec<bool>,
    /// Unit that has this map as a component; `None` if a script created the map.
    pub owner: Option<Handle>,
    /// Edits since the last update of the drawn world. Chunks are recorded only if the map has an
    /// owner.
    edits: TilemapEdits,
    /// True if the owner has a body made from the tiles. Edited parts are recorded only then.
    pub has_body: bool,
    /// Parts of the map whose collision outlines may have changed.
    edited_parts: BTreeSet<OutlinePart>,
    /// True if solid tiles have walls that cast shadows. Edited parts are recorded only then.
    pub has_walls: bool,
    /// Parts of the map whose walls may have changed.
    edited_walls: BTreeSet<OutlinePart>,
    /// Hash of all `set_tile` calls that changed a tile.
    state: u64,
}

/// Edits to a tile map since they were last taken.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TilemapEdits {
    /// Chunks with edited cells.
    pub chunks: HashSet<ChunkMesh>,
    /// True if a layer was shown or hidden.
    pub layers: bool,
}

impl Tilemap {
    /// Returns the map as loaded from its file.
    pub fn map(&self) -> &TilemapData {
        &self.map_file.maps[self.map]
    }

    pub fn sets(&self) -> &[TileSet] {
        &self.map_file.sets
    }

    /// Returns the content of the map's file.
    pub fn file(&self) -> &Arc<MapFile> {
        &self.map_file
    }

    /// Returns the index of the layer with this name. Layers of tiles take precedence.
    pub fn layer(&self, name: &str) -> Option<usize> {
        let layers = &self.map().layers;
        let tiles = |layer: &TileLayer| layer.kind == LayerKind::Tiles && layer.name == name;
        let found = layers.iter().position(tiles);
        found.or_else(|| layers.iter().position(|layer| layer.name == name))
    }

    pub fn is_visible(&self, layer: usize) -> bool {
        self.visible[layer]
    }

    pub fn show(&mut self, layer: usize, visible: bool) {
        self.edits.layers |= std::mem::replace(&mut self.visible[layer], visible) != visible;
    }

    /// Takes the edits since the last call.
    pub fn take_edits(&mut self) -> TilemapEdits {
        std::mem::take(&mut self.edits)
    }

    /// Returns a hash of all tile edits so far.
    pub fn state(&self) -> u64 {
        self.state
    }

    fn cell_index(&self, layer: usize, column: i64, row: i64) -> Option<usize> {
        let of = &self.map().layers[layer].grid;
        let inside = (1..=i64::from(of.columns)).contains(&column)
            && (1..=i64::from(of.rows)).contains(&row);
        inside.then(|| (row as usize - 1) * of.columns as usize + column as usize - 1)
    }

    /// Returns a tile with its flip bits: 0 for an empty cell, `None` outside of the layer.
    pub fn tile(&self, layer: usize, column: i64, row: i64) -> Option<u32> {
        Some(self.tiles[layer][self.cell_index(layer, column, row)?])
    }

    /// Sets a tile. Returns false if the cell is outside of the layer.
    pub fn set_tile(&mut self, layer: usize, column: i64, row: i64, tile: u32) -> bool {
        let Some(cell_index) = self.cell_index(layer, column, row) else { return false };
        if self.tiles[layer][cell_index] == tile {
            return true;
        }
        Arc::make_mut(&mut self.tiles[layer])[cell_index] = tile;
        let mut hash = StateHash::new(self.state);
        [layer as u64, cell_index as u64, u64::from(tile)]
            .into_iter()
            .for_each(|it| hash.write_u64(it));
        self.state = hash.finish();
        if self.owner.is_some() {
            let chunk = self.chunk_of(layer, column as u32 - 1, row as u32 - 1);
            self.edits.chunks.insert(chunk);
        }
        if self.has_body || self.has_walls {
            self.mark_edited_region(layer, column as u32 - 1, row as u32 - 1);
        }
        true
    }

    /// Replaces the content with that of a reloaded file. The game's edits stay in layers that have
    /// the same name.
    fn renew(&mut self, map_file: &Arc<MapFile>) {
        let old = self.map().clone();
        let (old_tiles, old_visible) = (self.tiles.clone(), self.visible.clone());
        let known = map_file.maps.iter().position(|map| map.name == old.name);
        self.map = known.unwrap_or(0);
        self.map_file = map_file.clone();
        let layers = &map_file.maps[self.map].layers;
        self.tiles = layers.iter().map(|layer| layer.tiles.clone()).collect();
        self.visible = layers.iter().map(TileLayer::is_shown_at_first).collect();
        for (at, layer) in old.layers.iter().enumerate() {
            let layers = &self.map().layers;
            let same = |now: &TileLayer| now.name == layer.name && now.kind == layer.kind;
            let Some(now) = layers.iter().position(same) else { continue };
            if old_visible[at] != layer.is_shown_at_first() {
                self.visible[now] = old_visible[at];
            }
            for (cell_index, tile) in old_tiles[at].iter().enumerate() {
                let columns = layer.grid.columns as usize;
                let (column, row) = (cell_index % columns, cell_index / columns);
                let fits = *tile == 0 || self.set_of(*tile).is_some();
                if *tile != layer.tiles[cell_index] && fits {
                    self.set_tile(now, column as i64 + 1, row as i64 + 1, *tile);
                }
            }
        }
        self.edits = TilemapEdits { chunks: HashSet::new(), layers: true };
        self.edited_parts.clear();
        self.edited_walls.clear();
    }

    /// Returns the index of the tile set that contains a tile, and the tile's number in that set.
    pub fn set_of(&self, tile: u32) -> Option<(usize, u32)> {
        self.map_file.set_of(tile)
    }
}

fn level_of(map_file: &MapFile, name: &str, level: Option<&str>) -> Result<usize, Error> {
    let Some(level) = level else { return Ok(0) };
    map_file.maps.iter().position(|map| map.name == level).ok_or_else(|| {
        let names = map_file.maps.iter().map(|map| map.name.as_str());
        let hint = engine_foundation::suggest::hint(level, names);
        error!("the tile map '{name}' has no level '{level}'{hint}")
    })
}

/// Registry of all tile maps.
pub struct Tilemaps {
    pub slots: Slots<Tilemap>,
    /// Map files that were read, by name. A reload removes the changed files; existing maps keep
    /// the data that they were created from.
    map_files: HashMap<String, Arc<MapFile>>,
}

impl Default for Tilemaps {
    fn default() -> Tilemaps {
        Tilemaps { slots: Slots::new(HandleKind::Tilemap, TILEMAPS_MAX), map_files: HashMap::new() }
    }
}

impl Tilemaps {
    /// Returns the content of a map file. The file is read on first use.
    ///
    /// # Errors
    /// Returns an error if the file is missing or invalid.
    pub fn world(&mut self, store: &mut ResourceStore, name: &str) -> Result<Arc<MapFile>, Error> {
        if let Some(known) = self.map_files.get(name) {
            return Ok(known.clone());
        }
        let resource = ResourceName::new("tilemap", name);
        let bytes = store.read(&resource)?;
        let map_file = Arc::new(contain(&resource, || MapFile::read(&bytes))?);
        for message in &map_file.unknown_tiles {
            log::warning(message);
        }
        self.map_files.insert(name.to_string(), map_file.clone());
        Ok(map_file)
    }

    /// Returns the index of the map with the level's name, or of the first map.
    ///
    /// # Errors
    /// Returns an error if the file is missing or invalid, or has no such level.
    pub fn find_map(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        level: Option<&str>,
    ) -> Result<usize, Error> {
        let map_file = self.world(store, name)?;
        level_of(&map_file, name, level)
    }

    /// Creates a tile map from a file. In a file with several levels, `level` selects one by name;
    /// the default is the first.
    ///
    /// # Errors
    /// Returns an error if the file is missing or invalid or has no such level, or if there are too
    /// many maps.
    pub fn add(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        level: Option<&str>,
    ) -> Result<TilemapId, Error> {
        let map_file = self.world(store, name)?;
        let map = level_of(&map_file, name, level)
            .map_err(|fault| error!("argument #2 'level': {}", fault.message))?;
        let layers = &map_file.maps[map].layers;
        let tilemap = Tilemap {
            name: name.to_string(),
            tiles: layers.iter().map(|layer| layer.tiles.clone()).collect(),
            visible: layers.iter().map(TileLayer::is_shown_at_first).collect(),
            owner: None,
            edits: TilemapEdits::default(),
            has_body: false,
            edited_parts: BTreeSet::new(),
            has_walls: false,
            edited_walls: BTreeSet::new(),
            state: 0,
            map,
            map_file,
        };
        self.slots.add(tilemap).map(TilemapId).ok_or_else(|| {
            error!("{TILEMAPS_MAX} tile maps already exist (TILEMAPS_MAX): destroy one first")
        })
    }

    /// Destroys a tile map.
    pub fn remove(&mut self, id: TilemapId, frame: u64, location: &str) {
        let name = self.of(id).name.clone();
        self.slots.remove(id.0, &name, frame, location);
    }

    /// Returns a live tile map. The handle must already be checked.
    pub fn of(&self, id: TilemapId) -> &Tilemap {
        self.slots.get(id.0).expect("the handle was checked where it came in")
    }

    /// Returns a live tile map, mutably. The handle must already be checked.
    pub fn of_mut(&mut self, id: TilemapId) -> &mut Tilemap {
        self.slots.get_mut(id.0).expect("the handle was checked where it came in")
    }

    /// Rebuilds a tile map from its changed file.
    ///
    /// # Errors
    /// Returns an error if the file is missing or invalid; the tile map is then unchanged.
    pub fn renew(&mut self, store: &mut ResourceStore, id: TilemapId) -> Result<(), Error> {
        let name = self.of(id).name.clone();
        let map_file = self.world(store, &name)?;
        self.of_mut(id).renew(&map_file);
        Ok(())
    }

    /// Returns true if a tile map shows the newest version of its file that was read.
    pub fn is_current(&self, id: TilemapId) -> bool {
        let map = self.of(id);
        self.map_files.get(&map.name).is_some_and(|newest| Arc::ptr_eq(newest, &map.map_file))
    }

    /// Drops cached files that changed, so that the next map created from them uses the new data.
    pub fn reload(&mut self, changed: &ChangedResources) {
        for name in changed.of(ReloadStep::Tilemaps) {
            self.map_files.remove(&name.name);
        }
    }
}
