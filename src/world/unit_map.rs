//! The component `tilemap`: maps of tiles that stand in a world. The tiles themselves are those of
//! src/system/tilemaps; here is which map stands at which node, how, and in which pieces it is
//! drawn. How these get to the renderer is in src/engine/unit_maps.rs.

use super::mesh::flag;
use super::sprite::Stand;
use super::unit::UnitId;
use crate::foundation::Handle;
use crate::packet::mesh::SurfaceSlot;
use crate::packet::scene::DrawSlot;
use crate::system::models::MeshNumber;
use crate::system::textures::TextureNumber;
use crate::system::tilemaps::{CHUNK_CELLS, Chunk, TilemapId};
use std::collections::BTreeMap;

/// A map as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct MapPart {
    pub name: String,
    pub node: u16,
    /// The resource.
    pub map: String,
    pub level: Option<String>,
    pub stand: Stand,
    pub visible: bool,
    pub group: u8,
}

/// A piece of a map in the renderer.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    pub chunk: Chunk,
    pub draw: DrawSlot,
    /// Its triangles, once it was seen.
    pub mesh: Option<MeshNumber>,
    /// For the places of its mesh.
    pub surfaces: Vec<SurfaceSlot>,
    /// Its triangles are not those of its tiles any more.
    pub stale: bool,
    pub animated: bool,
    /// Which frames of animations its triangles show.
    pub shown: u64,
    /// The renderer has to hear all of it.
    pub told: bool,
}

impl Piece {
    pub fn new(chunk: Chunk, draw: DrawSlot) -> Piece {
        Piece {
            chunk,
            draw,
            mesh: None,
            surfaces: Vec::new(),
            stale: true,
            animated: false,
            shown: 0,
            told: false,
        }
    }
}

/// A map of a unit.
pub struct UnitMap {
    pub unit: UnitId,
    /// Which of the unit's nodes it hangs on, from 0.
    pub node: u16,
    pub map: TilemapId,
    pub stand: Stand,
    /// Of [`flag`]: why it is hidden; [`flag::NEW`] where all its pieces are to be told again, and
    /// [`flag::LISTED`] where it moved.
    pub flags: u8,
    pub group: u8,
    /// Of each tile set, what it is drawn with.
    pub sets: Vec<TextureNumber>,
    pub pieces: Vec<Piece>,
}

impl UnitMap {
    /// Has it painted by a material, or by none.
    pub fn set_material(&mut self, material: Option<Handle>) {
        self.stand.material = material;
        self.pieces.iter_mut().for_each(|piece| piece.stale = true);
    }

    /// The piece that holds a cell of a layer, both from 0.
    fn piece_of(&mut self, [layer, column, row]: [u32; 3]) -> Option<&mut Piece> {
        let chunk = Chunk { layer, column: column / CHUNK_CELLS, row: row / CHUNK_CELLS };
        self.pieces.iter_mut().find(|piece| piece.chunk == chunk)
    }

    /// Has the pieces made anew that hold these cells.
    pub fn note_cells(&mut self, cells: &[[u32; 3]]) {
        for cell in cells {
            if let Some(piece) = self.piece_of(*cell) {
                piece.stale = true;
            }
        }
    }
}

/// All maps of all units.
#[derive(Default)]
pub struct UnitMaps {
    /// By the rows of units, in the order of their resources.
    pub of: BTreeMap<u32, Vec<UnitMap>>,
}

impl UnitMaps {
    /// A unit's maps, in order.
    pub fn of_unit(&self, row: u32) -> &[UnitMap] {
        self.of.get(&row).map_or(&[], |maps| &maps[..])
    }

    pub fn iter(&self) -> impl Iterator<Item = &UnitMap> {
        self.of.values().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut UnitMap> {
        self.of.values_mut().flatten()
    }

    /// Notes that units moved.
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

    /// Sets or clears a reason why a unit's maps are hidden, of a group or of all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        for map in self.of.get_mut(&row).into_iter().flatten() {
            if group.is_none_or(|group| group == map.group) {
                map.flags = if hidden { map.flags | reason } else { map.flags & !reason };
                map.flags |= flag::NEW;
            }
        }
    }
}
