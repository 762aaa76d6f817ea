//! Costs of the cells of a map for paths on a grid: solid cells are blocked, and others cost what
//! the names of their tiles say.

use super::{CollisionKind, CollisionRules, CollisionTable, TileCollision, has_name};
use crate::{CellGrid, Tilemap};
use engine_foundation::suggest;
use std::collections::{BTreeSet, HashMap};

/// Rules of the costs of a map's cells.
pub struct CellCosts {
    table: CollisionTable,
    /// Costs by name: a class, a property that is true, a tag, or the name of a value of a grid.
    costs: Vec<(String, f32)>,
    /// Costs of tiles, by the index of the set and the number in the set.
    tiles: HashMap<(usize, u32), f32>,
    layers: Vec<LayerCosts>,
    grids: Vec<GridCosts>,
}

/// Costs of a layer.
struct LayerCosts {
    layer: usize,
    /// True if its properties block the cells of plain tiles.
    is_solid: bool,
    /// Cost of tiles without one of their own.
    cost: Option<f32>,
}

/// Costs of a grid, by value.
struct GridCosts {
    grid: usize,
    values: HashMap<i32, f32>,
}

impl CellCosts {
    pub fn new(tilemap: &Tilemap, rules: CollisionRules, costs: Vec<(String, f32)>) -> CellCosts {
        let (file, map) = (tilemap.file(), tilemap.map());
        let mut tiles = HashMap::new();
        for (at, set) in file.sets.iter().enumerate() {
            for (id, properties) in &set.properties {
                if let Some(cost) = cost_of(&costs, |name| has_name(properties, name)) {
                    tiles.insert((at, *id), cost);
                }
            }
        }
        let table = CollisionTable::new(file, rules);
        let layers = tilemap.colliding_layers(&table).map(|layer| {
            let properties = &map.layers[layer].properties;
            let kind = table.rules.kind_of_properties(properties);
            let cost = cost_of(&costs, |name| has_name(properties, name));
            LayerCosts { layer, is_solid: kind == Some(CollisionKind::Solid), cost }
        });
        let layers = layers.collect();
        let grids = map.grids.iter().enumerate();
        let grids = grids.filter(|(_, grid)| table.rules.includes(&grid.name));
        let grids = grids.map(|(grid, of)| {
            let cost =
                |(value, name): &(i32, String)| match table.rules.kind_of(|known| known == name) {
                    Some(CollisionKind::Solid) => Some((*value, 0.0)),
                    _ => Some((*value, cost_of(&costs, |known| known == name)?)),
                };
            // The first name of a value counts.
            GridCosts { grid, values: of.value_names.iter().rev().filter_map(cost).collect() }
        });
        let grids = grids.collect();
        CellCosts { table, costs, tiles, layers, grids }
    }

    /// Returns the cost of a cell of a layer that shows a tile; `None` if it says nothing.
    fn of_tile(&self, set: (usize, u32), layer: &LayerCosts) -> Option<f32> {
        let known = self.table.tiles.get(&set);
        let own = known.is_some_and(TileCollision::is_solid);
        let is_plain = known.is_none_or(|known| known.kind.is_none() && known.shapes.is_empty());
        if own || is_plain && layer.is_solid {
            return Some(0.0);
        }
        self.tiles.get(&set).copied().or(layer.cost)
    }

    /// Returns a message about a name of the options `layers`, `solid` and `costs` that nothing in
    /// a map has. The names that block cells by default need not be there.
    pub fn unknown_name(&self, tilemap: &Tilemap) -> Option<String> {
        let (file, map, rules) = (tilemap.file(), tilemap.map(), &self.table.rules);
        let layers = map.layers.iter().map(|layer| layer.name.as_str());
        let grids = map.grids.iter().map(|grid| grid.name.as_str());
        let layers: BTreeSet<&str> = layers.chain(grids).collect();
        let names = file.collision_names();
        let defaults = CollisionRules::default().solid;
        let costs = self.costs.iter().map(|(name, _)| name);
        let named = rules.layers.iter().map(|name| ("layers", &layers, name));
        let solid = rules.solid.iter().filter(|name| !defaults.contains(name));
        let mut named = named
            .chain(solid.map(|name| ("solid", &names, name)))
            .chain(costs.map(|name| ("costs", &names, name)));
        let (option, known, name) = named.find(|(_, known, name)| !known.contains(&name[..]))?;
        let missing = match option {
            "layers" => "has no such layer or grid",
            _ => "has nothing with that class, tag, true property or value",
        };
        let hint = suggest::hint(name, known.iter().copied());
        Some(format!(
            "option '{option}' names '{name}', and the map \"{}\" {missing}{hint}",
            tilemap.name
        ))
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
        for layer in &costs.layers {
            let of = &map.layers[layer.layer];
            let Some(cell) = cell_at(&of.grid, [x - f64::from(of.x), y - f64::from(of.y)]) else {
                continue;
            };
            let tile = self.tiles[layer.layer][cell];
            if let Some(set) = self.set_of(tile).filter(|_| tile != 0) {
                add(costs.of_tile(set, layer));
            }
        }
        for GridCosts { grid, values } in &costs.grids {
            let grid = &map.grids[*grid];
            let [left, bottom] = grid.position.map(f64::from);
            if let Some(cell) = cell_at(&grid.cells(), [x - left, y - bottom]) {
                add(values.get(&grid.values[cell]).copied());
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
