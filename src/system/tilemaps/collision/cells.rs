//! Edges of colliding cells: tiles of layers, and values of grids.

use super::{Area, CollisionKind, CollisionTable, KindEdges};
use crate::data::{IntGrid, LayerKind, TileLayer};
use crate::{CellGrid, CellShape, Tilemap};
use engine_foundation::Error;

/// Neighbours of a cell across its edges, in the order of the corners of a rectangle.
const NEIGHBOURS: [[i64; 2]; 4] = [[0, -1], [1, 0], [0, 1], [-1, 0]];

impl TileLayer {
    /// Returns the distance along each axis within which the tiles of two cells can touch.
    pub(super) fn neighbour_distance(&self) -> [f64; 2] {
        let [left, bottom, right, top] = self.reach;
        let reach = [left.max(right), bottom.max(top)];
        [0, 1].map(|axis| f64::from(2.0 * (self.grid.cell[axis] + reach[axis])))
    }
}

impl CollisionTable {
    /// Returns the values of a grid that collide.
    pub(super) fn grid_kinds(
        &self,
        grid: &IntGrid,
    ) -> impl Iterator<Item = (i32, CollisionKind)> + '_ {
        let includes = self.rules.includes(&grid.name);
        let named = grid.value_names.clone().into_iter().filter(move |_| includes);
        named.filter_map(|(value, name)| Some((value, self.rules.kind_of(|known| known == name)?)))
    }
}

/// Kinds of the cells of a grid that collide as a whole.
struct WholeCells<'a> {
    grid: CellGrid,
    /// Position of the grid in the map.
    position: [f32; 2],
    /// Distance along each axis within which cells can touch.
    distance: [f64; 2],
    kind_at: &'a dyn Fn(u32, u32) -> Option<CollisionKind>,
}

impl WholeCells<'_> {
    fn kind(&self, column: i64, row: i64) -> Option<CollisionKind> {
        let inside = (0..i64::from(self.grid.columns)).contains(&column)
            && (0..i64::from(self.grid.rows)).contains(&row);
        inside.then(|| (self.kind_at)(column as u32, row as u32)).flatten()
    }

    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [f64::from(self.position[0]) + x, f64::from(self.position[1]) + y]
    }

    /// Returns true if the middle of a cell is in an area.
    fn is_in(&self, area: Area, column: u32, row: u32) -> bool {
        area.contains(self.at(self.grid.center(column.into(), row.into())))
    }

    /// Returns the bounds of an area and its surroundings, relative to the grid.
    fn around(&self, area: Area) -> [f32; 4] {
        let [left, bottom, right, top] = area.bounds;
        let ([x, y], [across, up]) = (self.position.map(f64::from), self.distance);
        [left - x - across, bottom - y - up, right - x + across, top - y + up].map(|at| at as f32)
    }

    /// Adds the edges of a cell.
    fn add(&self, column: u32, row: u32, (kind, own): (CollisionKind, bool), out: &mut KindEdges) {
        let (column, row) = (i64::from(column), i64::from(row));
        let (corners, count) = self.grid.cell_corners(column, row);
        for at in 0..count {
            // Most edges of most maps are between two solid cells.
            if self.grid.shape == CellShape::Rectangles {
                let [right, up] = NEIGHBOURS[at];
                if self.kind(column + right, row + up) == Some(kind) {
                    continue;
                }
            }
            let (from, to) = (self.at(corners[at]), self.at(corners[(at + 1) % count]));
            out.of(kind).add(from, to, own);
        }
    }
}

impl Tilemap {
    /// Returns the layers of tiles that can collide. Layers that parallax moves do not.
    pub(super) fn colliding_layers(&self, table: &CollisionTable) -> impl Iterator<Item = usize> {
        let layers = self.map().layers.iter().enumerate();
        let colliding = layers.filter(|(_, layer)| {
            layer.kind == LayerKind::Tiles
                && layer.parallax == [1.0; 2]
                && table.rules.includes(&layer.name)
        });
        colliding.map(|(at, _)| at).collect::<Vec<_>>().into_iter()
    }

    /// Adds the edges of all colliding cells in an area, and those that cover them.
    pub(super) fn add_cells(
        &self,
        table: &CollisionTable,
        area: Area,
        out: &mut KindEdges,
    ) -> Result<(), Error> {
        for layer in self.colliding_layers(table) {
            self.add_tiles(table, area, layer, out)?;
        }
        for grid in &self.map().grids {
            let kinds: Vec<_> = table.grid_kinds(grid).collect();
            if kinds.is_empty() {
                continue;
            }
            let cells = grid.cells();
            let kind_at = |column: u32, row: u32| {
                let value = grid.values[row as usize * grid.columns as usize + column as usize];
                kinds.iter().find(|(known, _)| *known == value).map(|(_, kind)| *kind)
            };
            let cells = WholeCells {
                grid: cells,
                position: grid.position,
                distance: cells.cell.map(|side| f64::from(side * 2.0)),
                kind_at: &kind_at,
            };
            let Some((columns, rows)) = cells.grid.cells_in(cells.around(area)) else { continue };
            for (column, row) in rows.flat_map(|row| columns.clone().map(move |at| (at, row))) {
                if let Some(kind) = kind_at(column, row) {
                    cells.add(column, row, (kind, cells.is_in(area, column, row)), out);
                }
            }
            out.check(&self.name)?;
        }
        Ok(())
    }

    /// Returns a function that returns the kind of the tile of a layer in a cell, if it collides as
    /// a whole.
    pub(super) fn whole_tiles(
        &self,
        table: &CollisionTable,
        layer: usize,
    ) -> impl Fn(u32, u32) -> Option<CollisionKind> {
        let of = &self.map().layers[layer];
        let layer_kind = table.rules.kind_of_properties(&of.properties);
        let columns = of.grid.columns as usize;
        move |column: u32, row: u32| match self.tiles[layer]
            [row as usize * columns + column as usize]
        {
            0 => None,
            tile => match table.tiles.get(&self.set_of(tile)?) {
                Some(tile) if !tile.shapes.is_empty() => None,
                tile => tile.and_then(|tile| tile.kind).or(layer_kind),
            },
        }
    }

    fn add_tiles(
        &self,
        table: &CollisionTable,
        area: Area,
        layer: usize,
        out: &mut KindEdges,
    ) -> Result<(), Error> {
        let of = &self.map().layers[layer];
        let columns = of.grid.columns as usize;
        let tile_at =
            |column: u32, row: u32| self.tiles[layer][row as usize * columns + column as usize];
        let collision = |tile: u32| self.set_of(tile).and_then(|set| table.tiles.get(&set));
        let kind_at = self.whole_tiles(table, layer);
        let cells = WholeCells {
            grid: of.grid,
            position: [of.x, of.y],
            distance: of.neighbour_distance(),
            kind_at: &kind_at,
        };
        let Some((columns, rows)) = of.grid.cells_in(cells.around(area)) else { return Ok(()) };
        for row in rows {
            for column in columns.clone() {
                let tile = tile_at(column, row);
                if tile == 0 {
                    continue;
                }
                let own = || cells.is_in(area, column, row);
                if let Some(kind) = kind_at(column, row) {
                    cells.add(column, row, (kind, own()), out);
                } else if let Some(known) = collision(tile)
                    && !known.shapes.is_empty()
                {
                    self.add_shapes(layer, [column, row], (&known.shapes, own()), out);
                }
            }
            out.check(&self.name)?;
        }
        Ok(())
    }

    /// Adds the shapes of a tile, placed and flipped as the tile is drawn.
    fn add_shapes(
        &self,
        layer: usize,
        [column, row]: [u32; 2],
        (kinds, own): (&[CollisionKind], bool),
        out: &mut KindEdges,
    ) {
        self.each_shape(layer, [column, row], |at, points, is_open| match is_open {
            true if own => out.of(kinds[at]).add_open(&points),
            true => {}
            false => out.of(kinds[at]).add_polygon(&points, own),
        });
    }

    /// Calls `each` with the shapes of a tile in the map: their index, points, and true for a line.
    pub(super) fn each_shape(
        &self,
        layer: usize,
        [column, row]: [u32; 2],
        mut each: impl FnMut(usize, Vec<[f64; 2]>, bool),
    ) {
        let index = row as usize * self.map().layers[layer].grid.columns as usize;
        let tile = self.tiles[layer][index + column as usize];
        let Some((set, number)) = self.set_of(tile) else { return };
        let set = &self.sets()[set];
        let Some(corners) = self.tile_corners(layer, column, row) else { return };
        let corner = |at: usize| [0, 1].map(|axis| f64::from(corners[at * 2 + axis]));
        let (low, right, top) = (corner(0), corner(1), corner(3));
        let size = [set.tile_width, set.tile_height].map(f64::from);
        let to_map = |point: &[f32; 2]| {
            let part = [0, 1].map(|axis| f64::from(point[axis]) / size[axis]);
            [0, 1].map(|axis| {
                low[axis] + (right[axis] - low[axis]) * part[0] + (top[axis] - low[axis]) * part[1]
            })
        };
        for (at, shape) in set.shapes_of(number).iter().enumerate() {
            each(at, shape.points.iter().map(to_map).collect(), shape.is_open);
        }
    }
}
