//! Tile maps in a world, of the component `tilemap`. The tiles are stored in src/system/tilemaps.
//! This module stores which map is attached to which node, its settings, and the pieces that it is
//! drawn in. The transfer to the renderer is in src/engine/tilemap_draws.rs.

use super::instance_table::{flag, set_hidden};
use super::sprite::SpritePlacement;
use super::tilemap_collision::TilemapCollision;
use super::unit::UnitId;
use engine_foundation::Handle;
use engine_frame_packet::mesh::SurfaceSlot;
use engine_frame_packet::scene::DrawSlot;
use engine_models::MeshNumber;
use engine_textures::TextureNumber;
use engine_tilemaps::{ChunkMesh, CollisionTable, OutlinePart, TilemapId};
use std::collections::{BTreeMap, HashSet};

/// A piece of a tile map, as drawn by the renderer.
#[derive(Clone, PartialEq, Debug)]
pub struct TilemapPiece {
    pub chunk: ChunkMesh,
    pub draw: DrawSlot,
    /// Mesh of the piece, created when the piece is first visible.
    pub mesh: Option<MeshNumber>,
    /// Surfaces for the material slots of the mesh.
    pub surfaces: Vec<SurfaceSlot>,
    /// True if the mesh no longer matches the tiles.
    pub stale: bool,
    pub animated: bool,
    /// Animation frames that the mesh shows.
    pub shown: u64,
    /// True if the renderer has all data of the piece.
    pub sent: bool,
    /// Distance in texels by which parallax moved the piece when it was sent last.
    pub shift: [f32; 2],
}

impl TilemapPiece {
    pub fn new(chunk: ChunkMesh, draw: DrawSlot) -> TilemapPiece {
        TilemapPiece {
            chunk,
            draw,
            mesh: None,
            surfaces: Vec::new(),
            stale: true,
            animated: false,
            shown: 0,
            sent: false,
            shift: [0.0; 2],
        }
    }
}

/// The walls of the solid tiles of a map, which only shadow maps show.
pub struct TilemapWalls {
    pub table: CollisionTable,
    pub parts: Vec<WallPart>,
}

/// The walls of a part of a map.
pub struct WallPart {
    pub part: OutlinePart,
    pub draw: DrawSlot,
    /// Mesh of the walls; `None`: there are none.
    pub mesh: Option<MeshNumber>,
    /// True if the mesh no longer matches the tiles.
    pub stale: bool,
    /// True if the renderer has all data of the part.
    pub sent: bool,
}

/// A tile map of a unit.
pub struct TilemapInstance {
    pub unit: UnitId,
    /// Index of the unit's node that the map is attached to, from 0.
    pub node: u16,
    pub map: TilemapId,
    /// Name of the component.
    pub name: String,
    pub collision: Option<Box<TilemapCollision>>,
    /// Indices of its bodies among the actors of its unit, from 0, once it has had them. Later
    /// bodies get the same ones.
    pub body_indices: [Option<usize>; 2],
    pub placement: SpritePlacement,
    /// Bits of [`flag`]: the reasons why the map is hidden; [`flag::NEW`] if all its pieces must be
    /// sent again, and [`flag::LISTED`] if it moved.
    pub flags: u8,
    pub group: u8,
    /// Texture of each tile set.
    pub sets: Vec<TextureNumber>,
    pub pieces: Vec<TilemapPiece>,
    /// Walls that cast shadows of lights.
    pub walls: Option<Box<TilemapWalls>>,
}

impl TilemapInstance {
    /// Sets or removes the material that draws the map.
    pub fn set_material(&mut self, material: Option<Handle>) {
        self.placement.material = material;
        self.pieces.iter_mut().for_each(|piece| piece.stale = true);
    }

    /// Marks the pieces of these chunks as outdated, so that their meshes are rebuilt.
    pub fn mark_chunks_changed(&mut self, chunks: &HashSet<ChunkMesh>) {
        for piece in &mut self.pieces {
            piece.stale |= chunks.contains(&piece.chunk);
        }
    }
}

/// All tile maps of all units.
#[derive(Default)]
pub struct TilemapInstances {
    /// Maps by unit row, in the order of their resources.
    pub of: BTreeMap<u32, Vec<TilemapInstance>>,
}

impl TilemapInstances {
    /// Returns the maps of a unit, in order.
    pub fn of_unit(&self, row: u32) -> &[TilemapInstance] {
        self.of.get(&row).map_or(&[], |maps| &maps[..])
    }

    pub fn iter(&self) -> impl Iterator<Item = &TilemapInstance> {
        self.of.values().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut TilemapInstance> {
        self.of.values_mut().flatten()
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        if self.of.is_empty() {
            return;
        }
        for row in rows {
            for map in self.of.get_mut(row).into_iter().flatten() {
                map.flags |= flag::LISTED;
            }
        }
    }

    /// Sets or clears a reason why a unit's maps are hidden, for one group or for all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        for map in self.of.get_mut(&row).into_iter().flatten() {
            if group.is_none_or(|group| group == map.group)
                && set_hidden(&mut map.flags, reason, hidden)
            {
                map.flags |= flag::NEW;
            }
        }
    }
}
