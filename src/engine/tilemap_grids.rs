//! Navigation grids made from tile maps: a changed tile changes the cost of its cells at once.

use super::Engine;
use super::navigation::Navigation;
use engine_foundation::{Error, error, log};
use engine_navigation::grid::{GRID_SIZE_MAX, GridShape, NavigationGrid};
use engine_navigation::{GRIDS_MAX, NavigationGridId};
use engine_tilemaps::{
    CellCosts, CellGrid, CellShape, CollisionRules, MapFile, Tilemap, TilemapId,
};
use std::sync::Arc;

/// Grid that follows the tiles of a map.
pub struct TilemapGrid {
    pub map: TilemapId,
    pub grid: NavigationGridId,
    /// File for which the costs were computed.
    file: Arc<MapFile>,
    rules: CollisionRules,
    /// Costs by name.
    named_costs: Vec<(String, f32)>,
    costs: CellCosts,
}

/// Returns the shape of a grid for the cells of a map.
fn shape_of(cells: &CellGrid, wanted: Option<GridShape>) -> Result<GridShape, Error> {
    let CellShape::Staggered(stagger) = cells.shape else {
        return match wanted {
            Some(GridShape::Hexagonal) => {
                Err(error!("option 'neighbors' must be 4 or 8: the map is not hexagonal"))
            }
            wanted => Ok(wanted.unwrap_or(GridShape::Square8)),
        };
    };
    if stagger.side <= 0.0 || stagger.columns {
        return Err(error!(
            "the map is staggered isometric, or hexagonal with moved columns: grids know \
             orthogonal and isometric maps, and hexagonal ones whose rows are moved to the right"
        ));
    }
    // Rows count from the top in the file, and from the bottom in grids.
    if cells.rows.is_multiple_of(2) != stagger.first {
        return Err(error!(
            "the lowest row of the hexagonal map is moved to the right, and grids have such a row \
             second: change the stagger index of the map, or add a row"
        ));
    }
    match wanted {
        None | Some(GridShape::Hexagonal) => Ok(GridShape::Hexagonal),
        Some(_) => Err(error!("option 'neighbors' must be 6: the map is hexagonal")),
    }
}

/// Sets the costs of all cells.
fn fill(grid: &mut NavigationGrid, tilemap: &Tilemap, costs: &CellCosts) {
    let (columns, rows) = grid.size();
    for row in 0..rows {
        for column in 0..columns {
            let cost = tilemap.cell_cost(costs, column as u32, row as u32);
            grid.set_cost((row * columns + column) as u32, cost);
        }
    }
}

impl Engine {
    /// Creates a grid with the cells of a map.
    ///
    /// # Errors
    /// Returns an error if the map is too large or its cells have another form, or if there are
    /// too many grids.
    pub fn create_tilemap_grid(
        &mut self,
        map: TilemapId,
        wanted: Option<GridShape>,
        rules: CollisionRules,
        named_costs: Vec<(String, f32)>,
    ) -> Result<NavigationGridId, Error> {
        let tilemap = self.assets.tilemaps.of(map);
        let cells = tilemap.map().grid;
        let most = GRID_SIZE_MAX as u32;
        if !(1..=most).contains(&cells.columns) || !(1..=most).contains(&cells.rows) {
            return Err(error!(
                "the map has {} columns and {} rows, and a grid has 1 to {GRID_SIZE_MAX} of each \
                 (GRID_SIZE_MAX)",
                cells.columns, cells.rows
            ));
        }
        let shape = shape_of(&cells, wanted)?;
        let file = tilemap.file().clone();
        let costs = CellCosts::new(tilemap, rules.clone(), named_costs.clone());
        if let Some(message) = costs.unknown_name(tilemap) {
            return Err(Error::new(message));
        }
        let mut grid = NavigationGrid::new(cells.columns as usize, cells.rows as usize, shape);
        fill(&mut grid, tilemap, &costs);
        let navigation = &mut self.worlds.navigation;
        let added = navigation.grids.add(grid).map(NavigationGridId);
        let grid = added.ok_or_else(|| {
            error!("{GRIDS_MAX} navigation grids already exist (GRIDS_MAX): destroy one first")
        })?;
        let entry = TilemapGrid { map, grid, file, rules, named_costs, costs };
        navigation.of_tilemaps.push(entry);
        Ok(grid)
    }

    /// Forgets the grids and maps that no longer exist.
    fn end_tilemap_grids(&mut self) {
        let maps = &self.assets.tilemaps.slots;
        let Navigation { grids, of_tilemaps, .. } = &mut self.worlds.navigation;
        of_tilemaps
            .retain(|known| grids.get(known.grid.0).is_some() && maps.get(known.map.0).is_some());
    }

    /// Updates the grids of a map in which a tile has changed. Column and row count from 1.
    pub fn update_tilemap_grids(&mut self, map: TilemapId, layer: usize, column: i64, row: i64) {
        if self.worlds.navigation.of_tilemaps.is_empty() {
            return;
        }
        self.end_tilemap_grids();
        let tilemap = self.assets.tilemaps.of(map);
        let navigation = &mut self.worlds.navigation;
        for known in navigation.of_tilemaps.iter().filter(|known| known.map == map) {
            let grid = navigation.grids.get_mut(known.grid.0).expect("the others were removed");
            tilemap.cells_below(layer, column, row, |column, row| {
                if let Some(cell) = grid.cell(column.into(), row.into()) {
                    grid.set_cost(cell, tilemap.cell_cost(&known.costs, column, row));
                }
            });
        }
    }

    /// Computes the grids of maps again whose file was replaced.
    pub fn renew_tilemap_grids(&mut self) {
        self.end_tilemap_grids();
        let mut all = std::mem::take(&mut self.worlds.navigation.of_tilemaps);
        for known in &mut all {
            let tilemap = self.assets.tilemaps.of(known.map);
            if Arc::ptr_eq(tilemap.file(), &known.file) {
                continue;
            }
            let grids = &mut self.worlds.navigation.grids;
            let grid = grids.get_mut(known.grid.0).expect("the others were removed");
            let cells = tilemap.map().grid;
            if grid.size() != (cells.columns as usize, cells.rows as usize) {
                log::warning(&format!(
                    "the map \"{}\" has another size now: its navigation grid keeps the old one, \
                     create it again",
                    tilemap.name
                ));
                continue;
            }
            known.file = tilemap.file().clone();
            known.costs = CellCosts::new(tilemap, known.rules.clone(), known.named_costs.clone());
            fill(grid, tilemap, &known.costs);
        }
        self.worlds.navigation.of_tilemaps = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_tilemaps::Stagger;

    #[test]
    fn grids_have_the_neighbours_of_their_map() {
        let check = |shape, rows, wanted: Option<GridShape>, result: Result<GridShape, &str>| {
            let cells = CellGrid { shape, columns: 4, rows, cell: [8.0; 2] };
            match (shape_of(&cells, wanted), result) {
                (Ok(shape), result) => assert_eq!(Ok(shape), result),
                (Err(error), Err(part)) => assert!(error.message.contains(part), "{error}"),
                (Err(error), Ok(_)) => panic!("{error}"),
            }
        };
        let rectangles = CellShape::Rectangles;
        check(rectangles, 3, None, Ok(GridShape::Square8));
        check(CellShape::Diamonds, 3, Some(GridShape::Square4), Ok(GridShape::Square4));
        check(rectangles, 3, Some(GridShape::Hexagonal), Err("the map is not hexagonal"));
        let hexagons =
            |columns, first, side| CellShape::Staggered(Stagger { columns, first, side });
        // With an even number of rows, the second one from the bottom is the first, third … from
        // the top.
        check(hexagons(false, true, 4.0), 6, None, Ok(GridShape::Hexagonal));
        check(hexagons(false, false, 4.0), 5, None, Ok(GridShape::Hexagonal));
        check(hexagons(false, false, 4.0), 6, None, Err("the lowest row"));
        check(hexagons(true, true, 4.0), 6, None, Err("moved columns"));
        check(hexagons(false, true, 0.0), 6, None, Err("staggered isometric"));
        let eight = Some(GridShape::Square8);
        check(hexagons(false, true, 4.0), 6, eight, Err("must be 6"));
    }
}
