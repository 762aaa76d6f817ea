//! Chunk meshes of tile maps that are placed in a world. A chunk is a square of cells; chunks
//! outside of the view are neither built nor drawn.

use super::cell_grid::CellRanges;
use super::{LayerKind, TileLayer, TileQuad, Tilemap, sort_by_texture};
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;
use engine_frame_packet::mesh::{MeshBounds, MeshFrame, MeshPart, MeshVertex, PARTS_MAX};
use std::ops::Range;

/// Number of cells along a chunk's side, if all tiles with the same texture are drawn together.
const CHUNK_CELLS: u32 = 32;
/// Number of cells along a chunk's side, if each tile can need a part of the mesh.
const SMALL_CHUNK_CELLS: u32 = 16;
/// Maximum number of freely placed tiles of a chunk.
const CHUNK_PLACED: usize = PARTS_MAX;

// Each tile of these chunks can be a part of a mesh.
const _: () = assert!((SMALL_CHUNK_CELLS * SMALL_CHUNK_CELLS) as usize <= PARTS_MAX);

/// A chunk of a layer, identified by its position. [`Tilemap::chunk_mesh`] builds its triangles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkMesh {
    pub layer: u32,
    /// Position in chunks, from the bottom left.
    pub column: u32,
    pub row: u32,
}

/// Returns the chunks of a map, layer by layer, from the top of a layer to its bottom. Freely
/// placed tiles are in chunks of one row.
pub fn chunks(tilemap: &Tilemap) -> Vec<ChunkMesh> {
    let mut all = Vec::new();
    for (layer, of) in tilemap.map().layers.iter().enumerate() {
        if of.kind != LayerKind::Tiles {
            let chunks = of.placed.len().div_ceil(CHUNK_PLACED) as u32;
            all.extend((0..chunks).map(|column| ChunkMesh { layer: layer as u32, column, row: 0 }));
            continue;
        }
        let cells = tilemap.chunk_cells(layer);
        for row in (0..of.grid.rows.div_ceil(cells)).rev() {
            for column in 0..of.grid.columns.div_ceil(cells) {
                all.push(ChunkMesh { layer: layer as u32, column, row });
            }
        }
    }
    all
}

impl Tilemap {
    /// Returns the number of cells along the side of a layer's chunks.
    fn chunk_cells(&self, layer: usize) -> u32 {
        let sets = self.sets().len();
        match sets > PARTS_MAX || sets > 1 && self.map().layers[layer].overlaps {
            true => SMALL_CHUNK_CELLS,
            false => CHUNK_CELLS,
        }
    }

    /// Returns the chunk that contains a cell of a layer, both from 0.
    pub(super) fn chunk_of(&self, layer: usize, column: u32, row: u32) -> ChunkMesh {
        let cells = self.chunk_cells(layer);
        ChunkMesh { layer: layer as u32, column: column / cells, row: row / cells }
    }

    /// Returns the ranges of columns and rows, from 0, of a chunk's cells.
    fn cells_of(&self, chunk: ChunkMesh) -> CellRanges {
        let grid = self.map().layers[chunk.layer as usize].grid;
        let cells = self.chunk_cells(chunk.layer as usize);
        let within =
            |at: u32, count: u32| at * cells..=((at + 1) * cells).min(count).saturating_sub(1);
        (within(chunk.column, grid.columns), within(chunk.row, grid.rows))
    }

    /// Returns the quads of a chunk, in drawing order.
    fn chunk_quads(&self, chunk: ChunkMesh, seconds: f64) -> Vec<TileQuad> {
        let (layer, mut quads) = (chunk.layer as usize, Vec::new());
        let of = &self.map().layers[layer];
        if of.kind == LayerKind::Tiles {
            self.quads_of(layer, self.cells_of(chunk), seconds, &mut quads);
        } else {
            let everything = [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
            self.placed_quads(of, chunk.placed(of), everything, seconds, &mut quads);
        }
        quads
    }

    /// Returns the center and radius of a chunk, in texels of the map. The radius includes tiles
    /// that extend beyond their cells.
    pub fn chunk_sphere(&self, chunk: ChunkMesh) -> ([f32; 2], f32) {
        let of = &self.map().layers[chunk.layer as usize];
        let [left, bottom, right, top] = self.chunk_bounds(chunk);
        let [reach_left, reach_bottom, reach_right, reach_top] = of.reach;
        let (left, right) = (left - reach_left, right + reach_right);
        let (bottom, top) = (bottom - reach_bottom, top + reach_top);
        let middle = [(left + right) * 0.5, (bottom + top) * 0.5];
        (middle, (right - left).hypot(top - bottom) * 0.5)
    }

    /// Returns left, bottom, right and top of a chunk's cells or pictures in the map.
    fn chunk_bounds(&self, chunk: ChunkMesh) -> [f32; 4] {
        let of = &self.map().layers[chunk.layer as usize];
        let mut bounds = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let mut add = |[left, bottom, right, top]: [f32; 4]| {
            let [l, b, r, t] = bounds;
            bounds = [l.min(left), b.min(bottom), r.max(right), t.max(top)];
        };
        if of.kind == LayerKind::Tiles {
            let (columns, rows) = self.cells_of(chunk);
            let [width, height] = of.grid.cell;
            // Rows or columns are staggered, so that two neighbours of each have both extremes.
            for column in [*columns.start(), columns.start() + 1, *columns.end()] {
                for row in [*rows.start(), rows.start() + 1, *rows.end()] {
                    let (column, row) = (column.min(*columns.end()), row.min(*rows.end()));
                    let corner = of.grid.corner(column.into(), row.into());
                    let [left, bottom] = [of.x + corner[0] as f32, of.y + corner[1] as f32];
                    add([left, bottom, left + width, bottom + height]);
                }
            }
            return bounds;
        }
        let quads = self.chunk_quads(chunk, 0.0);
        quads.iter().for_each(|quad| add(quad.bounds()));
        if quads.is_empty() { [0.0; 4] } else { bounds }
    }

    /// Returns a hash of the frames that all animated tiles show at this time.
    pub fn animation_state(&self, seconds: f64) -> u64 {
        let mut hash = StateHash::new(0);
        for (at, set) in self.map_file.sets.iter().enumerate() {
            for (tile, _) in &set.animations {
                let (set, number) = self.map_file.frame_at(at, *tile, seconds);
                hash.write_u64((set as u64) << 32 | u64::from(number));
            }
        }
        hash.finish()
    }

    /// Returns true if a chunk contains animated tiles.
    pub fn is_animated(&self, chunk: ChunkMesh) -> bool {
        if self.map_file.sets.iter().all(|set| set.animations.is_empty()) {
            return false;
        }
        let of = &self.map().layers[chunk.layer as usize];
        let is_animated = |tile: u32| {
            let found = self.set_of(tile);
            found.is_some_and(|(set, number)| self.map_file.sets[set].frames(number).is_some())
        };
        if of.kind != LayerKind::Tiles {
            return of.placed[chunk.placed(of)].iter().any(|placed| is_animated(placed.tile));
        }
        let (columns, rows) = self.cells_of(chunk);
        let tiles = &self.tiles[chunk.layer as usize];
        let mut lines = rows.map(|row| row as usize * of.grid.columns as usize);
        lines.any(|line| columns.clone().any(|column| is_animated(tiles[line + column as usize])))
    }

    /// Builds the triangles of a chunk in the upright x-z plane, with `metres` per texel. Also
    /// returns the tile set of each material slot. `smooth` marks the sets whose textures are
    /// filtered.
    pub fn chunk_mesh(
        &self,
        chunk: ChunkMesh,
        seconds: f64,
        metres: f32,
        smooth: &[bool],
    ) -> (MeshFrame, Vec<usize>) {
        let of = &self.map().layers[chunk.layer as usize];
        let mut quads = self.chunk_quads(chunk, seconds);
        let textures: Vec<u32> = (0..self.sets().len() as u32).collect();
        sort_by_texture(&mut quads, &textures, of.overlaps);
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        let (mut parts, mut sets) = (Vec::new(), Vec::new());
        for run in quads.chunk_by(|a, b| a.set == b.set) {
            let (first, surface) = (indices.len() as u32, sets.len() as u32);
            let set = &self.map_file.sets[run[0].set];
            let inset = if smooth[run[0].set] { set.half_texel() } else { [0.0; 2] };
            for quad in run {
                let quad = &TileQuad { part: shrink(quad.part, inset), ..*quad };
                add(quad, of.color([255; 4], quad.alpha), metres, &mut vertices, &mut indices);
            }
            parts.push(MeshPart { first, count: indices.len() as u32 - first, surface });
            sets.push(run[0].set);
        }
        let name = format!("{} of the tile map {}", of.name, self.name);
        let bounds = MeshBounds::of(&vertices);
        let mesh = MeshFrame { name, vertices, indices, parts, bounds, skin: None, morph: None };
        (mesh, sets)
    }
}

impl ChunkMesh {
    /// Returns the freely placed tiles of a chunk.
    fn placed(self, of: &TileLayer) -> Range<usize> {
        let first = self.column as usize * CHUNK_PLACED;
        first..(first + CHUNK_PLACED).min(of.placed.len())
    }
}

/// Shrinks a part of an image by `inset` on each side, at most down to its center.
fn shrink(part: [[f32; 2]; 2], inset: [f32; 2]) -> [[f32; 2]; 2] {
    let [mut first, mut last] = part;
    for axis in 0..2 {
        let most = (last[axis] - first[axis]) * 0.5;
        first[axis] += inset[axis].min(most);
        last[axis] -= inset[axis].min(most);
    }
    [first, last]
}

/// Returns the tangent of a tile: the direction to the right in its picture. Its sign is below 0 if
/// the picture is mirrored.
fn tangent_of(corners: &[f32; 8]) -> [i8; 4] {
    let [left, bottom, right, right_bottom, _, _, top_left, top] = *corners;
    let across = Vec3::new(right - left, 0.0, right_bottom - bottom);
    let up = Vec3::new(top_left - left, 0.0, top - bottom);
    // The picture's own up is to the left of its right, seen from behind the y axis.
    let is_mirrored = across.x * up.z < across.z * up.x;
    let sign = if is_mirrored { -1.0 } else { 1.0 };
    MeshVertex::packed(across.try_normalize().unwrap_or(Vec3::X), sign)
}

fn add(
    quad: &TileQuad,
    color: [u8; 4],
    metres: f32,
    vertices: &mut Vec<MeshVertex>,
    indices: &mut Vec<u32>,
) {
    let base = vertices.len() as u32;
    let [[left, top], [right, bottom]] = quad.part;
    let uvs = [[left, bottom], [right, bottom], [right, top], [left, top]];
    let tangent = tangent_of(&quad.corners);
    for (corner, uv) in quad.corners.chunks_exact(2).zip(uvs) {
        vertices.push(MeshVertex {
            position: [corner[0] * metres, 0.0, corner[1] * metres],
            normal: MeshVertex::packed(Vec3::NEG_Y, 0.0),
            tangent,
            uv,
            color,
        });
    }
    // A flipped tile would be back-facing.
    let [ax, ay, bx, by, cx, cy, ..] = quad.corners;
    let front = (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);
    let order = if front { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
    indices.extend(order.map(|corner| base + corner));
}
