//! The insides of what is solid in a map, as convex outlines. Blocks of rectangular cells are few
//! large rectangles.

use super::{CollisionKind, CollisionTable};
use crate::data::ObjectShape;
use crate::{CellGrid, CellShape, Tilemap};

/// Part of the size of a shape by which a corner may bend inwards.
const BEND: f64 = 1e-9;

/// Rectangle of cells that grows upwards: its columns, and its first row.
struct Block {
    columns: [u32; 2],
    first_row: u32,
}

impl Tilemap {
    /// Calls `each` with convex outlines that cover what is solid, in texels from the map's bottom
    /// left. Shapes of tiles and objects that are not convex are left out.
    pub fn solid_outlines(&self, table: &CollisionTable, mut each: impl FnMut(&[[f64; 2]])) {
        let is_solid = |kind: Option<CollisionKind>| kind == Some(CollisionKind::Solid);
        for layer in self.colliding_layers(table) {
            let of = &self.map().layers[layer];
            let kind_at = self.whole_tiles(table, layer);
            let is_solid = |column, row| is_solid(kind_at(column, row));
            each_block(&of.grid, [of.x, of.y], is_solid, &mut each);
            self.each_solid_shape(table, layer, &mut each);
        }
        for grid in &self.map().grids {
            let kinds: Vec<_> = table.grid_kinds(grid).collect();
            let is_solid = |column: u32, row: u32| {
                let value = grid.values[row as usize * grid.columns as usize + column as usize];
                is_solid(kinds.iter().find(|(known, _)| *known == value).map(|(_, kind)| *kind))
            };
            if !kinds.is_empty() {
                each_block(&grid.cells(), grid.position, is_solid, &mut each);
            }
        }
        for object in &self.map().objects {
            let is_area = !matches!(object.shape, ObjectShape::Point | ObjectShape::Polyline);
            if is_area && is_solid(table.object_kind(object)) {
                each_convex(object.outline(), &mut each);
            }
        }
    }

    fn each_solid_shape(
        &self,
        table: &CollisionTable,
        layer: usize,
        each: &mut dyn FnMut(&[[f64; 2]]),
    ) {
        let of = &self.map().layers[layer];
        for row in 0..of.grid.rows {
            for column in 0..of.grid.columns {
                let tile = self.tiles[layer][(row * of.grid.columns + column) as usize];
                let known = self.set_of(tile).and_then(|set| table.tiles.get(&set));
                let Some(known) = known.filter(|known| !known.shapes.is_empty()) else { continue };
                self.each_shape(layer, [column, row], |at, points, is_open| {
                    let kind = known.shapes.get(at).filter(|_| !is_open);
                    if kind == Some(&CollisionKind::Solid) {
                        each_convex(points, each);
                    }
                });
            }
        }
    }
}

/// Calls `each` with rectangles of solid cells, or with each solid cell of other grids.
fn each_block(
    grid: &CellGrid,
    [x, y]: [f32; 2],
    is_solid: impl Fn(u32, u32) -> bool,
    each: &mut dyn FnMut(&[[f64; 2]]),
) {
    let at = |[across, up]: [f64; 2]| [f64::from(x) + across, f64::from(y) + up];
    let corners = |column: u32, row: u32| grid.cell_corners(column.into(), row.into());
    if grid.shape != CellShape::Rectangles {
        let cells = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |at| (at, row)));
        for (column, row) in cells.filter(|(column, row)| is_solid(*column, *row)) {
            let (points, count) = corners(column, row);
            each(&points.map(at)[..count]);
        }
        return;
    }
    let mut close = |Block { columns: [first, end], first_row }: Block, end_row: u32| {
        let [low, ..] = corners(first, first_row).0.map(at);
        let [_, _, high, ..] = corners(end - 1, end_row - 1).0.map(at);
        each(&[low, [high[0], low[1]], high, [low[0], high[1]]]);
    };
    let mut blocks: Vec<Block> = Vec::new();
    for row in 0..=grid.rows {
        let runs = if row < grid.rows {
            runs_of(grid.columns, |at| is_solid(at, row))
        } else {
            Vec::new()
        };
        let (mut kept, mut is_known) = (Vec::new(), vec![false; runs.len()]);
        for block in blocks {
            // Runs are sorted.
            match runs.binary_search(&block.columns) {
                Ok(same) => {
                    is_known[same] = true;
                    kept.push(block);
                }
                Err(_) => close(block, row),
            }
        }
        let new = runs.into_iter().zip(is_known).filter(|(_, is_known)| !is_known);
        kept.extend(new.map(|(columns, _)| Block { columns, first_row: row }));
        blocks = kept;
    }
}

/// Returns the runs of columns that are solid: the first one, and the one behind the last one.
fn runs_of(columns: u32, is_solid: impl Fn(u32) -> bool) -> Vec<[u32; 2]> {
    let mut runs: Vec<[u32; 2]> = Vec::new();
    for column in (0..columns).filter(|column| is_solid(*column)) {
        match runs.last_mut().filter(|run| run[1] == column) {
            Some(run) => run[1] += 1,
            None => runs.push([column, column + 1]),
        }
    }
    runs
}

/// Calls `each` with an outline if it is convex, counter-clockwise.
pub(super) fn each_convex(mut points: Vec<[f64; 2]>, each: &mut dyn FnMut(&[[f64; 2]])) {
    points.dedup();
    let count = points.len();
    let turn = |points: &[[f64; 2]], at: usize| {
        let [a, b, c] = [0, 1, 2].map(|next| points[(at + next) % count]);
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    };
    let area = |points: &[[f64; 2]]| {
        let twice = |at: usize| {
            let ([ax, ay], [bx, by]) = (points[at], points[(at + 1) % count]);
            ax * by - ay * bx
        };
        (0..count).map(twice).sum::<f64>()
    };
    if count < 3 || area(&points) == 0.0 {
        return;
    }
    if area(&points) < 0.0 {
        points.reverse();
    }
    let least = -area(&points) * BEND;
    // One that goes around more than once turns too often.
    let turns = |at: usize| {
        let [a, b, c] = [0, 1, 2].map(|next| points[(at + next) % count]);
        let angle = |from: [f64; 2], to: [f64; 2]| (to[1] - from[1]).atan2(to[0] - from[0]);
        let by = angle(b, c) - angle(a, b);
        if by < 0.0 { by + std::f64::consts::TAU } else { by }
    };
    let is_convex = (0..count).all(|at| turn(&points, at) >= least);
    if is_convex && (0..count).map(turns).sum::<f64>() < std::f64::consts::TAU * 1.5 {
        each(&points);
    }
}
