//! Costs of the cells of a map for paths on a grid: solid cells are blocked, and others cost what
//! the names of their tiles say.

use super::{CollisionKind, CollisionRules, CollisionTable, TileCollision, has_name};
use crate::data::{IntGrid, MapFile};
use crate::{CellGrid, Tilemap};
use engine_foundation::sjson::SjsonTree;
use std::collections::HashMap;

/// Rules of the costs of a map's cells.
pub struct CellCosts {
    table: CollisionTable,
    /// Costs by name: a class, a property that is true, a tag, or the name of a value of a grid.
    costs: Vec<(String, f32)>,
    /// Costs of tiles, by the index of the set and the number in the set.
    tiles: HashMap<(usize, u32), f32>,
}

impl CellCosts {
    pub fn new(file: &MapFile, rules: CollisionRules, costs: Vec<(String, f32)>) -> CellCosts {
        let mut tiles = HashMap::new();
        for (at, set) in file.sets.iter().enumerate() {
            for (id, properties) in &set.properties {
                if let Some(cost) = cost_of(&costs, |name| has_name(properties, name)) {
                    tiles.insert((at, *id), cost);
                }
            }
        }
        CellCosts { table: CollisionTable::new(file, rules), costs, tiles }
    }

    /// Returns the cost of a cell of a layer with these properties that shows a tile; `None` if it
    /// says nothing.
    fn of_tile(&self, set: (usize, u32), layer: &SjsonTree) -> Option<f32> {
        let known = self.table.tiles.get(&set);
        let own = known.is_some_and(TileCollision::is_solid);
        let is_plain = known.is_none_or(|known| known.kind.is_none() && known.shapes.is_empty());
        let of_layer = || self.table.rules.kind_of_properties(layer) == Some(CollisionKind::Solid);
        if own || is_plain && of_layer() {
            return Some(0.0);
        }
        let cost = self.tiles.get(&set).copied();
        cost.or_else(|| cost_of(&self.costs, |name| has_name(layer, name)))
    }

    /// Returns the cost of a value of a grid; `None` if it says nothing.
    fn of_value(&self, grid: &IntGrid, value: i32) -> Option<f32> {
        let (_, name) = grid.value_names.iter().find(|(known, _)| *known == value)?;
        match self.table.rules.kind_of(|known| known == name) {
            Some(CollisionKind::Solid) => Some(0.0),
            _ => cost_of(&self.costs, |known| known == name),
        }
    }

    /// Returns a name of the costs that nothing in a file has.
    pub fn unknown_name<'a>(&'a self, file: &MapFile) -> Option<&'a str> {
        let known = file.collision_names();
        let names = self.costs.iter().map(|(name, _)| name.as_str());
        names.into_iter().find(|name| !known.contains(name))
    }
}

/// Returns the highest cost whose name applies; blocked cells count as the highest.
fn cost_of(costs: &[(String, f32)], applies: impl Fn(&str) -> bool) -> Option<f32> {
    let found = costs.iter().filter(|(name, _)| applies(name)).map(|(_, cost)| *cost);
    found.reduce(higher)
}

/// Returns the higher of two costs, of which 0 is the highest.
fn higher(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a.max(b) }
}

impl TileCollision {
    /// Returns true if something of the tile is solid.
    fn is_solid(&self) -> bool {
        match self.shapes.is_empty() {
            true => self.kind == Some(CollisionKind::Solid),
            false => self.shapes.contains(&CollisionKind::Solid),
        }
    }
}

impl Tilemap {
    /// Returns the cost of a cell of the map, whose column and row count from 0: the highest of
    /// what its layers and grids say in its middle, 0 if it is blocked, 1 if nothing says anything.
    pub fn cell_cost(&self, costs: &CellCosts, column: u32, row: u32) -> f32 {
        let map = self.map();
        let [x, y] = map.grid.center(column.into(), row.into());
        let mut cost: Option<f32> = None;
        let mut add = |one: Option<f32>| {
            if let Some(one) = one {
                cost = Some(cost.map_or(one, |known| higher(known, one)));
            }
        };
        for layer in self.colliding_layers(&costs.table) {
            let of = &map.layers[layer];
            let Some(cell) = cell_at(&of.grid, [x - f64::from(of.x), y - f64::from(of.y)]) else {
                continue;
            };
            let tile = self.tiles[layer][cell];
            if let Some(set) = self.set_of(tile).filter(|_| tile != 0) {
                add(costs.of_tile(set, &of.properties));
            }
        }
        for grid in map.grids.iter().filter(|grid| costs.table.rules.includes(&grid.name)) {
            let [left, bottom] = grid.position.map(f64::from);
            if let Some(cell) = cell_at(&grid.cells(), [x - left, y - bottom]) {
                add(costs.of_value(grid, grid.values[cell]));
            }
        }
        cost.unwrap_or(1.0)
    }

    /// Calls `each` with the cells of the map whose middle is in a cell of a layer. The column and
    /// row of that cell count from 1, the others from 0.
    pub fn cells_below(&self, layer: usize, column: i64, row: i64, mut each: impl FnMut(u32, u32)) {
        let (map, of) = (self.map(), &self.map().layers[layer]);
        let [x, y] = of.grid.corner(column - 1, row - 1);
        let [left, bottom] = [(x + f64::from(of.x)) as f32, (y + f64::from(of.y)) as f32];
        // The bounding rectangles of cells that are no rectangles overlap.
        let [width, height] = of.grid.cell.map(|side| side * 2.0);
        let around = [left - width, bottom - height, left + width, bottom + height];
        let Some((columns, rows)) = map.grid.cells_in(around) else { return };
        let own = cell_index(&of.grid, [(column - 1) as f64, (row - 1) as f64]);
        for (column, row) in rows.flat_map(|row| columns.clone().map(move |at| (at, row))) {
            let [x, y] = map.grid.center(column.into(), row.into());
            let at = cell_at(&of.grid, [x - f64::from(of.x), y - f64::from(of.y)]);
            if at.is_some() && at == own {
                each(column, row);
            }
        }
    }
}

/// Returns the index of the cell of a grid at a position.
fn cell_at(grid: &CellGrid, [x, y]: [f64; 2]) -> Option<usize> {
    cell_index(grid, grid.cell_at(x, y))
}

fn cell_index(grid: &CellGrid, [column, row]: [f64; 2]) -> Option<usize> {
    let (columns, rows) = (f64::from(grid.columns), f64::from(grid.rows));
    let is_inside = (0.0..columns).contains(&column) && (0.0..rows).contains(&row);
    is_inside.then(|| row as usize * grid.columns as usize + column as usize)
}
