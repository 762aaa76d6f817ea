//! Quads of the tiles of a layer: which cells a rectangle shows, in which order they are drawn, and
//! where their corners are. Follows the renderers of Tiled and LDtk.

use super::cell_grid::{CellRanges, CellShape};
use super::data::{LayerKind, MapFile, PlacedTile, TileLayer, TileSet, TileShape};
use super::{FLIP_DIAGONAL, FLIP_X, FLIP_Y, FLIPS, ROTATE_120, Tilemap};
use std::ops::Range;

/// Maximum number of quads that a repeated picture is drawn with.
pub const REPEATS_MAX: usize = 1 << 14;

/// One tile as a textured quad.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileQuad {
    pub set: usize,
    /// Top left and bottom right in the tile set's image, from 0 to 1, y down.
    pub part: [[f32; 2]; 2],
    /// Corners for the bottom left, bottom right, top right and top left of the image part.
    pub corners: [f32; 8],
    /// Opacity in addition to that of the layer, from 0 to 1.
    pub alpha: f32,
}

impl TileQuad {
    /// Returns left, bottom, right and top of the quad.
    pub fn bounds(&self) -> [f32; 4] {
        let of = |axis: usize, fold: fn(f32, f32) -> f32| {
            self.corners.iter().skip(axis).step_by(2).copied().reduce(fold).expect("four corners")
        };
        [of(0, f32::min), of(1, f32::min), of(0, f32::max), of(1, f32::max)]
    }
}

/// Inset of a tile's texture coordinates, in texels, so that rounding never samples a neighboring
/// tile.
const INSET: f32 = 1.0 / 256.0;

impl Tilemap {
    /// Appends the quads of a layer's tiles that touch a rectangle, in drawing order. The rectangle
    /// is left, bottom, right, top, measured from the map's bottom left. `seconds` is the time for
    /// animated tiles.
    pub fn quads(&self, layer: usize, rectangle: [f32; 4], seconds: f64, out: &mut Vec<TileQuad>) {
        let of = &self.map().layers[layer];
        if of.kind != LayerKind::Tiles {
            return self.placed_quads(of, 0..of.placed.len(), rectangle, seconds, out);
        }
        let [left, bottom, right, top] = rectangle;
        // Images of tiles may extend beyond their cells.
        let [reach_left, reach_bottom, reach_right, reach_top] = of.reach;
        let around = [
            left - of.x - reach_right,
            bottom - of.y - reach_top,
            right - of.x + reach_left,
            top - of.y + reach_bottom,
        ];
        if let Some(cells) = of.grid.cells_in(around) {
            self.quads_of(layer, cells, seconds, out);
        }
    }

    /// Appends the quads of the tiles in a range of cells, as `quads` does.
    pub(super) fn quads_of(
        &self,
        layer: usize,
        (columns, rows): CellRanges,
        seconds: f64,
        out: &mut Vec<TileQuad>,
    ) {
        let of = &self.map().layers[layer];
        let first = out.len();
        let mut keys = Vec::new();
        let sorted = of.grid.shape != CellShape::Rectangles;
        let mut add = |column: u32, row: u32| {
            let index = row as usize * of.grid.columns as usize + column as usize;
            let tile = self.tiles[layer][index];
            if tile == 0 {
                return;
            }
            let Some((set, number)) = self.set_of(tile) else { return };
            let [left, bottom] = match sorted {
                false => [column as f32 * of.grid.cell[0], row as f32 * of.grid.cell[1]],
                true => of.grid.corner(column.into(), row.into()).map(|at| at as f32),
            };
            if sorted {
                // From the top of the screen to its bottom, then from left to right.
                keys.push((-bottom, left));
            }
            let (set, number) = self.map_file.frame_at(set, number, seconds);
            let quad = self.map_file.cell_quad(of, set, number, tile, [left, bottom]);
            out.push(match of.style(index, tile) {
                None => quad,
                Some(style) => {
                    let mut corners = quad.corners;
                    corners.iter_mut().enumerate().for_each(|(i, at)| *at += style.shift[i % 2]);
                    TileQuad { corners, alpha: style.alpha, ..quad }
                }
            });
        };
        let [from_right, from_bottom] = of.reversed;
        let mut each = |row: u32| match from_right {
            false => columns.clone().for_each(|column| add(column, row)),
            true => columns.clone().rev().for_each(|column| add(column, row)),
        };
        match from_bottom {
            false => rows.rev().for_each(&mut each),
            true => rows.for_each(&mut each),
        }
        if sorted {
            let mut order: Vec<usize> = (0..keys.len()).collect();
            let by = |at: &usize| keys[*at];
            order.sort_by(|a, b| {
                let ((top_a, left_a), (top_b, left_b)) = (by(a), by(b));
                top_a.total_cmp(&top_b).then(left_a.total_cmp(&left_b))
            });
            let unsorted = out.split_off(first);
            out.extend(order.into_iter().map(|at| unsorted[at]));
        }
    }

    /// Returns the corners of the tile in a cell, for the bottom left, bottom right, top right and
    /// top left of its image.
    pub(super) fn tile_corners(&self, layer: usize, column: u32, row: u32) -> Option<[f32; 8]> {
        let of = &self.map().layers[layer];
        let index = row as usize * of.grid.columns as usize + column as usize;
        let tile = self.tiles[layer][index];
        let (set, number) = self.set_of(tile)?;
        let corner = of.grid.corner(column.into(), row.into()).map(|at| at as f32);
        let mut corners = self.map_file.cell_quad(of, set, number, tile, corner).corners;
        if let Some(style) = of.style(index, tile) {
            corners.iter_mut().enumerate().for_each(|(i, at)| *at += style.shift[i % 2]);
        }
        Some(corners)
    }

    /// Appends the quads of some of a layer's placed tiles that touch a rectangle, as `quads` does.
    pub(super) fn placed_quads(
        &self,
        of: &TileLayer,
        range: Range<usize>,
        rectangle: [f32; 4],
        seconds: f64,
        out: &mut Vec<TileQuad>,
    ) {
        let [left, bottom, right, top] = rectangle;
        for placed in &of.placed[range] {
            let Some((set, number)) = self.set_of(placed.tile) else { continue };
            let (set, number) = self.map_file.frame_at(set, number, seconds);
            let quad = self.map_file.placed_quad(of, placed, set, number);
            let [repeat_x, repeat_y] = of.repeat;
            if !repeat_x && !repeat_y {
                let [l, b, r, t] = quad.bounds();
                if l < right && r > left && b < top && t > bottom {
                    out.push(quad);
                }
                continue;
            }
            self.repeated(of, &quad, rectangle, out);
        }
    }

    /// Appends a picture that is repeated over a rectangle. Without bounds, as in a world, it is
    /// repeated over the map.
    fn repeated(
        &self,
        of: &TileLayer,
        quad: &TileQuad,
        rectangle: [f32; 4],
        out: &mut Vec<TileQuad>,
    ) {
        let bounds = quad.bounds();
        let map = self.map().grid.size();
        let counts = |axis: usize| {
            if !of.repeat[axis] {
                return 0..=0;
            }
            let (low, high) = match rectangle[axis] == f32::MIN {
                // Parallax moves the picture by at most the size of the map.
                true if of.parallax[axis] != 1.0 => (-map[axis], 2.0 * map[axis]),
                true => (0.0, map[axis]),
                false => (rectangle[axis], rectangle[axis + 2]),
            };
            let size = (bounds[axis + 2] - bounds[axis]).max(1.0);
            // Far from the map, a position is beyond the range of the integers.
            let first = (((low - bounds[axis + 2]) / size).floor() as i64).saturating_add(1);
            let last = (((high - bounds[axis]) / size).ceil() as i64).saturating_sub(1);
            first..=last.min(first.saturating_add(REPEATS_MAX as i64))
        };
        let (across, up) = (counts(0), counts(1));
        let [width, height] = [bounds[2] - bounds[0], bounds[3] - bounds[1]];
        let cells = up.flat_map(|row| across.clone().map(move |column| (column, row)));
        for (column, row) in cells.take(REPEATS_MAX) {
            let mut corners = quad.corners;
            for (i, corner) in corners.iter_mut().enumerate() {
                let (count, size) = if i % 2 == 0 { (column, width) } else { (row, height) };
                *corner += count as f32 * size.max(1.0);
            }
            out.push(TileQuad { corners, ..*quad });
        }
    }
}

impl MapFile {
    /// Returns the set and number of the tile that a tile shows at this time.
    pub(super) fn frame_at(&self, set: usize, number: u32, seconds: f64) -> (usize, u32) {
        let Some(frames) = self.sets[set].frames(number) else { return (set, number) };
        let whole: f64 = frames.iter().map(|(_, milliseconds)| milliseconds).sum();
        let mut left = (seconds * 1000.0).rem_euclid(whole);
        for (tile, milliseconds) in frames {
            if left < *milliseconds {
                return self.set_of(*tile).unwrap_or((set, number));
            }
            left -= milliseconds;
        }
        (set, number)
    }

    /// Returns the quad of a tile in a cell with this bottom left.
    fn cell_quad(
        &self,
        of: &TileLayer,
        set: usize,
        number: u32,
        tile: u32,
        [left, bottom]: [f32; 2],
    ) -> TileQuad {
        let known = &self.sets[set];
        let size = match known.fills_cell {
            false => [known.tile_width, known.tile_height],
            true => of.grid.cell,
        };
        let bottom = match of.from_top {
            true => bottom + of.grid.cell[1] - size[1],
            false => bottom,
        };
        let at = [of.x + left, of.y + bottom];
        let quad = self.quad(of, set, number, tile, (at, size));
        // Quarter turns swap the sides; the bottom left stays.
        match tile & FLIP_DIAGONAL != 0 && !of.is_hexagonal {
            false => quad,
            true => {
                let half = (size[0] - size[1]) * 0.5;
                let mut corners = quad.corners;
                corners.iter_mut().enumerate().for_each(|(i, corner)| {
                    *corner += if i % 2 == 0 { -half } else { half };
                });
                TileQuad { corners, ..quad }
            }
        }
    }

    /// Returns the quad of a freely placed tile.
    fn placed_quad(
        &self,
        of: &TileLayer,
        placed: &PlacedTile,
        set: usize,
        number: u32,
    ) -> TileQuad {
        let at = [of.x + placed.at[0], of.y + placed.at[1]];
        let mut quad = self.quad(of, set, number, placed.tile, (at, placed.size));
        if placed.rotation != 0.0 {
            let pivot = [of.x + placed.pivot[0], of.y + placed.pivot[1]];
            rotate(&mut quad.corners, pivot, placed.rotation);
        }
        TileQuad { alpha: placed.alpha, ..quad }
    }

    /// Returns the quad of a tile that is flipped, rotated around its center, and stretched to a
    /// rectangle.
    fn quad(
        &self,
        of: &TileLayer,
        set: usize,
        number: u32,
        tile: u32,
        ([x, y], [width, height]): ([f32; 2], [f32; 2]),
    ) -> TileQuad {
        let known = &self.sets[set];
        if tile & FLIPS == 0 && [width, height] == [known.tile_width, known.tile_height] {
            // Most tiles of most maps.
            let (x, y) = (x + known.offset[0], y + known.offset[1]);
            let (right, top) = (x + width, y + height);
            let corners = [x, y, right, y, right, top, x, top];
            return TileQuad { set, part: known.part(number), corners, alpha: 1.0 };
        }
        let mut scale = [width / known.tile_width, height / known.tile_height];
        if known.keeps_aspect {
            scale = [scale[0].min(scale[1]); 2];
        }
        let middle = [
            x + width * 0.5 + known.offset[0] * scale[0],
            y + height * 0.5 + known.offset[1] * scale[1],
        ];
        let half = [known.tile_width * 0.5 * scale[0], known.tile_height * 0.5 * scale[1]];
        let mut at = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
            .map(|[right, up]| [half[0] * right, half[1] * up]);
        let hexagonal = of.is_hexagonal;
        if tile & FLIP_DIAGONAL != 0 && !hexagonal {
            // The diagonal from the top left to the bottom right stays.
            at = at.map(|[px, py]| [-py, -px]);
        }
        if tile & FLIP_X != 0 {
            at = at.map(|[px, py]| [-px, py]);
        }
        if tile & FLIP_Y != 0 {
            at = at.map(|[px, py]| [px, -py]);
        }
        let mut corners = [0.0; 8];
        for (i, corner) in at.as_flattened().iter().enumerate() {
            corners[i] = middle[i % 2] + corner;
        }
        let sixths = u8::from(tile & FLIP_DIAGONAL != 0) + 2 * u8::from(tile & ROTATE_120 != 0);
        if hexagonal && sixths > 0 {
            rotate(&mut corners, middle, 60.0 * f32::from(sixths));
        }
        TileQuad { set, part: known.part(number), corners, alpha: 1.0 }
    }
}

/// Rotates corners clockwise around a point.
fn rotate(corners: &mut [f32; 8], pivot: [f32; 2], degrees: f32) {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    for corner in corners.chunks_exact_mut(2) {
        let (x, y) = (corner[0] - pivot[0], corner[1] - pivot[1]);
        corner[0] = pivot[0] + x * cosine + y * sine;
        corner[1] = pivot[1] - x * sine + y * cosine;
    }
}

impl TileSet {
    /// Returns half a texel of the set's image. With this inset, filtered sampling does not blend
    /// in neighboring tiles.
    pub fn half_texel(&self) -> [f32; 2] {
        self.image.map(|side| 0.5 / side)
    }

    /// Returns the collision shapes of a tile.
    pub(super) fn shapes_of(&self, number: u32) -> &[TileShape] {
        let found = self.shapes.binary_search_by_key(&number, |(tile, _)| *tile);
        found.map_or(&[], |at| &self.shapes[at].1)
    }

    /// Returns the frames of a tile if it is animated.
    pub(super) fn frames(&self, number: u32) -> Option<&[(u32, f64)]> {
        if self.animations.is_empty() {
            return None;
        }
        let at = self.animations.partition_point(|(tile, _)| *tile < number);
        self.animations.get(at).filter(|(tile, _)| *tile == number).map(|(_, frames)| &frames[..])
    }

    /// Returns the top left and bottom right of a tile in the set's image, from 0 to 1.
    fn part(&self, number: u32) -> [[f32; 2]; 2] {
        let (column, row) = (number % self.columns, number / self.columns);
        let (width, height) = (self.tile_width, self.tile_height);
        let left = self.origin[0] + column as f32 * (width + self.spacing);
        let top = self.origin[1] + row as f32 * (height + self.spacing);
        let [u, v] = self.image.map(|side| 1.0 / side);
        [
            [(left + INSET) * u, (top + INSET) * v],
            [(left + width - INSET) * u, (top + height - INSET) * v],
        ]
    }
}
