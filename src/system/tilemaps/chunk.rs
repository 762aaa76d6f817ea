//! Pieces of a layer as meshes, for maps that stand in a world: squares of cells, so that what is
//! not seen is neither made nor drawn.

use super::{Quad, Tilemap};
use crate::foundation::Vec3;
use crate::foundation::hash::StateHash;
use crate::packet::mesh::{Bounds, Mesh, Part, Vertex};
use std::ops::RangeInclusive;

/// Cells on a chunk's side.
pub const CHUNK_CELLS: u32 = 32;

/// A square of a layer's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    pub layer: u32,
    /// In squares, from the left bottom.
    pub column: u32,
    pub row: u32,
}

/// The chunks of a map, layer by layer.
pub fn chunks(tilemap: &Tilemap) -> Vec<Chunk> {
    let mut all = Vec::new();
    for (layer, of) in tilemap.map().layers.iter().enumerate() {
        for row in 0..of.rows.div_ceil(CHUNK_CELLS) {
            for column in 0..of.columns.div_ceil(CHUNK_CELLS) {
                all.push(Chunk { layer: layer as u32, column, row });
            }
        }
    }
    all
}

impl Tilemap {
    /// Middle and radius of a chunk, in texels of the map; tiles may reach beyond their cells.
    pub fn chunk_sphere(&self, chunk: Chunk) -> ([f32; 2], f32) {
        let of = &self.map().layers[chunk.layer as usize];
        let side = |cells: u32, first: u32, size: f32| {
            let (low, high) = (first * CHUNK_CELLS, ((first + 1) * CHUNK_CELLS).min(cells));
            (low as f32 * size, high as f32 * size)
        };
        let (left, right) = side(of.columns, chunk.column, of.tile_width);
        let (bottom, top) = side(of.rows, chunk.row, of.tile_height);
        let [over_x, over_y] = self.world.largest;
        let (width, height) = (right - left + over_x, top - bottom + over_y);
        let middle = [of.x + left + width * 0.5, of.y + bottom + height * 0.5];
        (middle, width.hypot(height) * 0.5)
    }

    /// Which frames its animated tiles show after some seconds, as one number.
    pub fn animation_state(&self, seconds: f64) -> u64 {
        let mut hash = StateHash::new(0);
        for set in &self.world.sets {
            for (tile, _) in &set.animations {
                hash.write_u64(u64::from(set.shown(*tile, seconds)));
            }
        }
        hash.finish()
    }

    /// Whether a chunk has animated tiles.
    pub fn is_animated(&self, chunk: Chunk) -> bool {
        if self.world.sets.iter().all(|set| set.animations.is_empty()) {
            return false;
        }
        let of = &self.map().layers[chunk.layer as usize];
        let (columns, rows) = chunk.cells(of.columns, of.rows);
        let tiles = &self.tiles[chunk.layer as usize];
        let mut lines = rows.map(|row| row as usize * of.columns as usize);
        lines.any(|line| {
            columns.clone().any(|column| {
                let found = self.set_of(tiles[line + column as usize]);
                found.is_some_and(|(set, number)| self.world.sets[set].frames(number).is_some())
            })
        })
    }

    /// The triangles of a chunk, upright in the plane of x and z, `metres` for each texel; which
    /// tile set each of its places is of. `smooth`: of which sets texels are mixed.
    pub fn chunk_mesh(
        &self,
        chunk: Chunk,
        seconds: f64,
        metres: f32,
        smooth: &[bool],
    ) -> (Mesh, Vec<usize>) {
        let of = &self.map().layers[chunk.layer as usize];
        let mut quads = Vec::new();
        let cells = chunk.cells(of.columns, of.rows);
        self.quads_of(chunk.layer as usize, cells, seconds, &mut quads);
        // One texture after the other; within one, tiles stay in their order.
        quads.sort_by_key(|quad| quad.set);
        let alpha = (of.opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        let (mut parts, mut sets) = (Vec::new(), Vec::new());
        for run in quads.chunk_by(|a, b| a.set == b.set) {
            let (first, place) = (indices.len() as u32, sets.len() as u32);
            let of = &self.world.sets[run[0].set];
            let inset = if smooth[run[0].set] { of.half_texel() } else { [0.0; 2] };
            for quad in run {
                let quad = &Quad { part: inside(quad.part, inset), ..*quad };
                add(quad, alpha, metres, &mut vertices, &mut indices);
            }
            parts.push(Part { first, count: indices.len() as u32 - first, place });
            sets.push(run[0].set);
        }
        let name = format!("{} of the tile map {}", of.name, self.name);
        let bounds = Bounds::of(&vertices);
        (Mesh { name, vertices, indices, parts, bounds }, sets)
    }
}

impl Chunk {
    /// Its columns and rows, from 0, in a layer of so many.
    fn cells(self, columns: u32, rows: u32) -> (RangeInclusive<u32>, RangeInclusive<u32>) {
        let within = |at: u32, count: u32| {
            at * CHUNK_CELLS..=((at + 1) * CHUNK_CELLS).min(count).saturating_sub(1)
        };
        (within(self.column, columns), within(self.row, rows))
    }
}

/// A part of a picture without so much of its edges, down to its middle.
fn inside(part: [[f32; 2]; 2], inset: [f32; 2]) -> [[f32; 2]; 2] {
    let [mut first, mut last] = part;
    for axis in 0..2 {
        let most = (last[axis] - first[axis]) * 0.5;
        first[axis] += inset[axis].min(most);
        last[axis] -= inset[axis].min(most);
    }
    [first, last]
}

fn add(quad: &Quad, alpha: u8, metres: f32, vertices: &mut Vec<Vertex>, indices: &mut Vec<u32>) {
    let base = vertices.len() as u32;
    let [[left, top], [right, bottom]] = quad.part;
    let uvs = [[left, bottom], [right, bottom], [right, top], [left, top]];
    for (corner, uv) in quad.corners.chunks_exact(2).zip(uvs) {
        vertices.push(Vertex {
            position: [corner[0] * metres, 0.0, corner[1] * metres],
            normal: Vertex::packed(Vec3::NEG_Y, 0.0),
            tangent: Vertex::packed(Vec3::X, 1.0),
            uv,
            color: [255, 255, 255, alpha],
        });
    }
    // A tile that is turned over would show its back.
    let [ax, ay, bx, by, cx, cy, ..] = quad.corners;
    let front = (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);
    let order = if front { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
    indices.extend(order.map(|corner| base + corner));
}
