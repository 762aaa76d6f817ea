//! Chunk meshes of tile maps that are placed in a world. A chunk is a square of cells; chunks
//! outside of the view are neither built nor drawn.

use super::{TileQuad, Tilemap};
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;
use engine_frame_packet::mesh::{MeshBounds, MeshFrame, MeshPart, MeshVertex};
use std::ops::RangeInclusive;

/// Number of cells along a chunk's side.
pub const CHUNK_CELLS: u32 = 32;

/// A chunk of a layer, identified by its position. [`Tilemap::chunk_mesh`] builds its triangles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkMesh {
    pub layer: u32,
    /// Position in chunks, from the bottom left.
    pub column: u32,
    pub row: u32,
}

/// Returns the chunks of a map, layer by layer.
pub fn chunks(tilemap: &Tilemap) -> Vec<ChunkMesh> {
    let mut all = Vec::new();
    for (layer, of) in tilemap.map().layers.iter().enumerate() {
        for row in 0..of.rows.div_ceil(CHUNK_CELLS) {
            for column in 0..of.columns.div_ceil(CHUNK_CELLS) {
                all.push(ChunkMesh { layer: layer as u32, column, row });
            }
        }
    }
    all
}

impl Tilemap {
    /// Returns the center and radius of a chunk, in texels of the map. The radius includes tiles
    /// that extend beyond their cells.
    pub fn chunk_sphere(&self, chunk: ChunkMesh) -> ([f32; 2], f32) {
        let of = &self.map().layers[chunk.layer as usize];
        let side = |cells: u32, first: u32, size: f32| {
            let (low, high) = (first * CHUNK_CELLS, ((first + 1) * CHUNK_CELLS).min(cells));
            (low as f32 * size, high as f32 * size)
        };
        let (left, right) = side(of.columns, chunk.column, of.tile_width);
        let (bottom, top) = side(of.rows, chunk.row, of.tile_height);
        let [over_x, over_y] = self.map_file.largest;
        let (width, height) = (right - left + over_x, top - bottom + over_y);
        let middle = [of.x + left + width * 0.5, of.y + bottom + height * 0.5];
        (middle, width.hypot(height) * 0.5)
    }

    /// Returns a hash of the frames that all animated tiles show at this time.
    pub fn animation_state(&self, seconds: f64) -> u64 {
        let mut hash = StateHash::new(0);
        for set in &self.map_file.sets {
            for (tile, _) in &set.animations {
                hash.write_u64(u64::from(set.frame_at(*tile, seconds)));
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
        let (columns, rows) = chunk.cells(of.columns, of.rows);
        let tiles = &self.tiles[chunk.layer as usize];
        let mut lines = rows.map(|row| row as usize * of.columns as usize);
        lines.any(|line| {
            columns.clone().any(|column| {
                let found = self.set_of(tiles[line + column as usize]);
                found.is_some_and(|(set, number)| self.map_file.sets[set].frames(number).is_some())
            })
        })
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
        let mut quads = Vec::new();
        let cells = chunk.cells(of.columns, of.rows);
        self.quads_of(chunk.layer as usize, cells, seconds, &mut quads);
        // Groups the quads by texture. The sort is stable, so tiles of one texture keep their
        // order.
        quads.sort_by_key(|quad| quad.set);
        let alpha = (of.opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        let (mut parts, mut sets) = (Vec::new(), Vec::new());
        for run in quads.chunk_by(|a, b| a.set == b.set) {
            let (first, surface) = (indices.len() as u32, sets.len() as u32);
            let of = &self.map_file.sets[run[0].set];
            let inset = if smooth[run[0].set] { of.half_texel() } else { [0.0; 2] };
            for quad in run {
                let quad = &TileQuad { part: shrink(quad.part, inset), ..*quad };
                add(quad, alpha, metres, &mut vertices, &mut indices);
            }
            parts.push(MeshPart { first, count: indices.len() as u32 - first, surface });
            sets.push(run[0].set);
        }
        let name = format!("{} of the tile map {}", of.name, self.name);
        let bounds = MeshBounds::of(&vertices);
        (MeshFrame { name, vertices, indices, parts, bounds }, sets)
    }
}

impl ChunkMesh {
    /// Returns the chunk's columns and rows, from 0, in a layer of this size.
    fn cells(self, columns: u32, rows: u32) -> (RangeInclusive<u32>, RangeInclusive<u32>) {
        let within = |at: u32, count: u32| {
            at * CHUNK_CELLS..=((at + 1) * CHUNK_CELLS).min(count).saturating_sub(1)
        };
        (within(self.column, columns), within(self.row, rows))
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

fn add(
    quad: &TileQuad,
    alpha: u8,
    metres: f32,
    vertices: &mut Vec<MeshVertex>,
    indices: &mut Vec<u32>,
) {
    let base = vertices.len() as u32;
    let [[left, top], [right, bottom]] = quad.part;
    let uvs = [[left, bottom], [right, bottom], [right, top], [left, top]];
    for (corner, uv) in quad.corners.chunks_exact(2).zip(uvs) {
        vertices.push(MeshVertex {
            position: [corner[0] * metres, 0.0, corner[1] * metres],
            normal: MeshVertex::packed(Vec3::NEG_Y, 0.0),
            tangent: MeshVertex::packed(Vec3::X, 1.0),
            uv,
            color: [255, 255, 255, alpha],
        });
    }
    // A flipped tile would be back-facing.
    let [ax, ay, bx, by, cx, cy, ..] = quad.corners;
    let front = (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);
    let order = if front { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
    indices.extend(order.map(|corner| base + corner));
}
