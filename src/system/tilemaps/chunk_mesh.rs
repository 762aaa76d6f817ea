//! Chunk meshes of tile maps that are placed in a world. A chunk is a square of cells; chunks
//! outside of the view are neither built nor drawn.

use super::cell_grid::CellRanges;
use super::{LayerKind, TileQuad, Tilemap, sort_by_texture};
use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;
use engine_frame_packet::mesh::{MeshBounds, MeshFrame, MeshPart, MeshVertex};

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

/// Returns the chunks of a map, layer by layer, from the top of a layer to its bottom. Pictures and
/// objects of a layer are one chunk.
pub fn chunks(tilemap: &Tilemap) -> Vec<ChunkMesh> {
    let mut all = Vec::new();
    for (layer, of) in tilemap.map().layers.iter().enumerate() {
        if of.kind != LayerKind::Tiles {
            all.push(ChunkMesh { layer: layer as u32, column: 0, row: 0 });
            continue;
        }
        for row in (0..of.grid.rows.div_ceil(CHUNK_CELLS)).rev() {
            for column in 0..of.grid.columns.div_ceil(CHUNK_CELLS) {
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
            let (columns, rows) = chunk.cells(of.grid.columns, of.grid.rows);
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
        let mut quads = Vec::new();
        let everything = [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
        self.quads(chunk.layer as usize, everything, 0.0, &mut quads);
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
            return of.placed.iter().any(|placed| is_animated(placed.tile));
        }
        let (columns, rows) = chunk.cells(of.grid.columns, of.grid.rows);
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
        let mut quads = Vec::new();
        match of.kind {
            LayerKind::Tiles => {
                let cells = chunk.cells(of.grid.columns, of.grid.rows);
                self.quads_of(chunk.layer as usize, cells, seconds, &mut quads);
            }
            _ => {
                let everything = [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
                self.quads(chunk.layer as usize, everything, seconds, &mut quads);
            }
        }
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
        (MeshFrame { name, vertices, indices, parts, bounds }, sets)
    }
}

impl ChunkMesh {
    /// Returns the chunk's columns and rows, from 0, in a layer of this size.
    fn cells(self, columns: u32, rows: u32) -> CellRanges {
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
    color: [u8; 4],
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
            color,
        });
    }
    // A flipped tile would be back-facing.
    let [ax, ay, bx, by, cx, cy, ..] = quad.corners;
    let front = (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);
    let order = if front { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
    indices.extend(order.map(|corner| base + corner));
}
