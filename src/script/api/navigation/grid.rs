//! The Lua module `NavigationGrid`: paths and flow fields on a grid of cells.

use super::creation::numbers;
use super::fields::{self, FACTOR_ARG, THREATS_ARG, check_distance, check_threats};
use super::{read_numbers, volumes};
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::context;
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error, suggest};
use engine_navigation::grid::{
    CELL_COST_MAX, CELL_COST_MIN, FLOW_FIELDS_MAX, GRID_SIZE_MAX, GRID_TARGETS_MAX, GridShape,
    NavigationGrid,
};
use engine_navigation::{GRIDS_MAX, NavigationGridId};
use engine_runtime::Engine;

pub(super) const GRID_ARG: (&str, &str) = ("grid", "a navigation grid");
pub(super) const COLUMN_ARG: (&str, &str) = ("column", "from 1 at the left");
pub(super) const ROW_ARG: (&str, &str) = ("row", "from 1 at the bottom");
const FIELD_ARG: (&str, &str) = ("name", "the name of a flow field");

/// Default distance within which a free cell is searched, in cells.
const NEAREST_DISTANCE: i64 = 64;
/// Smallest and largest side of a cell that is drawn.
const CELL_SIZE_MIN: f64 = 0.001;
const CELL_SIZE_MAX: f64 = 10_000.0;

pub static NAVIGATION_GRID: ModuleRows = module(
    "NavigationGrid",
    "Paths on a grid of cells with costs, for games on tiles. A flow field leads from every cell \
     to the nearest of its targets: any number of characters can follow it. Columns and rows count \
     from 1, from the bottom left, as those of a `Tilemap` do.",
    r#"local grid = NavigationGrid.create(8, 3)
NavigationGrid.set_cost(grid, 4, 1, 0)
local cells = NavigationGrid.find_path(grid, 1, 1, 8, 1)
assert(cells[1].column == 1 and cells[#cells].column == 8)
NavigationGrid.set_targets(grid, "exit", { 8, 1 })
local column, row = NavigationGrid.flow(grid, "exit", 7, 1)
assert(column == 8 and row == 1)
NavigationGrid.destroy(grid)"#,
    &[
        func(
            "create",
            create,
            &[
                ("columns", "1 to 2048"),
                ("rows", "1 to 2048"),
                (
                    "options",
                    "a table with `neighbors`: 8 (the default) or 4 for squares, or 6 for \
                     hexagons, whose second, fourth … rows are shifted to the right",
                ),
            ],
            "Creates a grid whose cells all have the cost 1.",
        ),
        func("destroy", destroy, &[GRID_ARG], "Destroys a grid. Its handle is stale afterwards.")
            .when_full(),
        hot(
            "alive",
            alive,
            &[("grid", "a number that may be a grid's handle; nil and false are none")],
            "Returns true if the handle refers to an existing grid. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "version",
            version,
            &[GRID_ARG],
            "Returns a number that another one follows whenever the cost of a cell changes: a path \
             that was found before can be wrong by then.",
        )
        .pure(),
        func("size", size, &[GRID_ARG], "Returns the number of its columns and rows.")
            .returns(&["columns number of columns", "rows number of rows"])
            .pure(),
        hot(
            "cost",
            cost,
            &[GRID_ARG, COLUMN_ARG, ROW_ARG],
            "Returns the cost of a cell; 0 if it is blocked.",
        )
        .pure(),
        hot(
            "set_cost",
            set_cost,
            &[
                GRID_ARG,
                COLUMN_ARG,
                ROW_ARG,
                ("cost", "cost of entering the cell, 0.01 to 1000; 0 blocks it"),
            ],
            "Sets the cost of a cell. Flow fields follow when they are next read.",
        ),
        func(
            "set_targets",
            set_targets,
            &[
                GRID_ARG,
                FIELD_ARG,
                ("targets", "columns and rows of cells: { 3, 4, 10, 2 }; { } removes the field"),
            ],
            "Creates a flow field, or gives it other targets.",
        ),
        func(
            "find_nearest_cell",
            find_nearest_cell,
            &[GRID_ARG, COLUMN_ARG, ROW_ARG, ("distance", "columns and rows, 0 to 2048 (64)")],
            "Returns the cell that is nearest to a cell, of those that are not blocked; nil if \
             none is within the distance. The cell can be outside of the grid.",
        )
        .returns(&["column from 1", "row from 1"])
        .node(NodeFlag::Query),
        func(
            "raycast",
            raycast,
            &[
                GRID_ARG,
                ("from_column", "column of the start, from 1"),
                ("from_row", "row of the start, from 1"),
                ("to_column", "column of the end"),
                ("to_row", "row of the end"),
            ],
            "Returns the first blocked cell on the straight line between the middles of two \
             cells; nil if there is none. A line through the corner of a blocked cell is blocked.",
        )
        .returns(&["column from 1", "row from 1"])
        .node(NodeFlag::Query),
        func(
            "set_flee",
            set_flee,
            &[GRID_ARG, FIELD_ARG, THREATS_ARG, FACTOR_ARG],
            "Creates a flow field that leads away from the targets of another one, around corners \
             and past the threats if that is worth it, or changes it. It follows the targets of \
             the other field, and is computed as a whole after each change of a cell. \
             `set_targets` with { } removes it.",
        ),
        func(
            "flow",
            flow,
            &[GRID_ARG, FIELD_ARG, COLUMN_ARG, ROW_ARG],
            "Returns the next cell on the cheapest way to the nearest target of a flow field: the \
             cell itself at a target, or where a field that leads away ends; nil if no way leads \
             to one.",
        )
        .returns(&["column from 1", "row from 1"])
        .node(NodeFlag::Query),
        func(
            "distance",
            distance,
            &[GRID_ARG, FIELD_ARG, COLUMN_ARG, ROW_ARG],
            "Returns the cost of the cheapest way to the nearest target of a flow field; nil if \
             there is none. Raises an error for a field that leads away.",
        )
        .node(NodeFlag::Query),
        func(
            "draw",
            draw,
            &[
                GRID_ARG,
                ("position", "the lower left corner of the grid: it lies on the x and y axes"),
                ("size", "side of a cell, 0.001 to 10000"),
                ("name", "the name of a flow field to show; none if it is left out"),
            ],
            "Shows a grid as lines for one frame: blocked cells are red, those with higher costs \
             than 1 orange, with lower ones green, the arrows of the flow field blue and its ends \
             yellow. Returns the number of cells that do not fit in. Shows nothing in a release.",
        )
        .node(NodeFlag::Hidden),
    ],
);

pub(super) fn of(engine: &mut Engine, grid: NavigationGridId) -> &mut NavigationGrid {
    let found = engine.worlds.navigation.grids.get_mut(grid.0);
    found.expect("the handle was checked where it came in")
}

fn create(
    engine: &mut Engine,
    columns: Integer,
    rows: Integer,
    options: Option<ScriptValue>,
) -> Result<NavigationGridId, Error> {
    for (name, count) in [("#1 'columns'", columns.0), ("#2 'rows'", rows.0)] {
        if !(1..=GRID_SIZE_MAX as i64).contains(&count) {
            return Err(error!(
                "argument {name} must be 1 to {GRID_SIZE_MAX} (GRID_SIZE_MAX), got {count}"
            ));
        }
    }
    let mut neighbors = 8.0;
    read_numbers(options, &["neighbors"], |_, number| {
        neighbors = number;
        true
    })?;
    let shape = match neighbors {
        4.0 => GridShape::Square4,
        6.0 => GridShape::Hexagonal,
        8.0 => GridShape::Square8,
        _ => return Err(error!("option 'neighbors' must be 4, 6 or 8, got {neighbors}")),
    };
    let grid = NavigationGrid::new(columns.0 as usize, rows.0 as usize, shape);
    let added = engine.worlds.navigation.grids.add(grid).map(NavigationGridId);
    added.ok_or_else(|| {
        error!("{GRIDS_MAX} navigation grids already exist (GRIDS_MAX): destroy one first")
    })
}

fn destroy(engine: &mut Engine, grid: NavigationGridId) {
    let frame = engine.frame.index;
    let grids = &mut engine.worlds.navigation.grids;
    grids.remove(grid.0, "", frame, &context::script_location());
}

fn alive(engine: &mut Engine, grid: MaybeHandle) -> bool {
    grid.handle().is_some_and(|handle| engine.worlds.navigation.grids.get(handle).is_some())
}

fn version(engine: &mut Engine, grid: NavigationGridId) -> u64 {
    of(engine, grid).version().into()
}

fn size(engine: &mut Engine, grid: NavigationGridId) -> (WholeNumber, WholeNumber) {
    let (columns, rows) = of(engine, grid).size();
    (WholeNumber(columns as f64), WholeNumber(rows as f64))
}

pub(super) fn cell(grid: &NavigationGrid, column: Integer, row: Integer) -> Result<u32, Error> {
    grid.cell(column.0.saturating_sub(1), row.0.saturating_sub(1)).ok_or_else(|| {
        let (columns, rows) = grid.size();
        error!(
            "column {} and row {} are outside of the grid, which has {columns} and {rows}",
            column.0, row.0
        )
    })
}

fn cost(
    engine: &mut Engine,
    grid: NavigationGridId,
    column: Integer,
    row: Integer,
) -> Result<f64, Error> {
    let grid = of(engine, grid);
    Ok(grid.cost(cell(grid, column, row)?).into())
}

fn set_cost(
    engine: &mut Engine,
    grid: NavigationGridId,
    column: Integer,
    row: Integer,
    cost: f64,
) -> Result<(), Error> {
    let grid = of(engine, grid);
    let cell = cell(grid, column, row)?;
    let cost = cost as f32;
    if cost != 0.0 && !(CELL_COST_MIN..=CELL_COST_MAX).contains(&cost) {
        return Err(error!(
            "argument #4 'cost' must be 0, or {CELL_COST_MIN} to {CELL_COST_MAX}, got {cost}"
        ));
    }
    grid.set_cost(cell, cost);
    Ok(())
}

fn set_targets(
    engine: &mut Engine,
    grid: NavigationGridId,
    name: TextArgument,
    targets: ScriptValue,
) -> Result<(), Error> {
    let grid = of(engine, grid);
    let targets = numbers(targets, "#3 'targets'")?;
    if !targets.len().is_multiple_of(2) {
        return Err(error!("argument #3 'targets' needs a column and a row for each target"));
    }
    if targets.len() / 2 > GRID_TARGETS_MAX {
        return Err(error!(
            "argument #3 'targets' must have at most {GRID_TARGETS_MAX} targets \
             (GRID_TARGETS_MAX), got {}",
            targets.len() / 2
        ));
    }
    let whole = |number: f64| {
        let whole = number as i64;
        let is_whole = whole as f64 == number;
        is_whole
            .then_some(Integer(whole))
            .ok_or_else(|| error!("argument #3 'targets': {number} is no whole number"))
    };
    let mut cells = Vec::with_capacity(targets.len() / 2);
    for pair in targets.chunks_exact(2) {
        cells.push(cell(grid, whole(pair[0])?, whole(pair[1])?)?);
    }
    match grid.set_targets(name.as_str(), &cells) {
        true => Ok(()),
        false => Err(too_many_fields()),
    }
}

fn too_many_fields() -> Error {
    error!(
        "the grid has {FLOW_FIELDS_MAX} flow fields (FLOW_FIELDS_MAX): remove one first, with \
         NavigationGrid.set_targets(grid, name, {{}})"
    )
}

fn set_flee(
    engine: &mut Engine,
    grid: NavigationGridId,
    name: TextArgument,
    threats: TextArgument,
    factor: Option<f64>,
) -> Result<(), Error> {
    let factor = fields::factor(factor)?;
    let grid = of(engine, grid);
    let field = find_field(grid, &threats, "#3 'threats'")?;
    let (name, threats) = (name.as_str(), threats.as_str());
    check_threats(name, threats, grid.field_threats(field), grid.follower_of(name))?;
    match grid.set_flee(name, threats, factor) {
        true => Ok(()),
        false => Err(too_many_fields()),
    }
}

fn find_field(grid: &NavigationGrid, name: &TextArgument, argument: &str) -> Result<usize, Error> {
    let name = name.as_str();
    grid.field(name).ok_or_else(|| {
        let hint = suggest::hint(name, grid.field_names());
        error!(
            "argument {argument}: the grid has no flow field '{name}'{hint}: create it with \
             NavigationGrid.set_targets"
        )
    })
}

/// Returns the column and row of a cell.
pub(super) fn position(
    grid: &NavigationGrid,
    cell: Option<u32>,
) -> (Option<WholeNumber>, Option<WholeNumber>) {
    let position = cell.map(|cell| {
        let (column, row) = grid.column_and_row(cell);
        (WholeNumber(column as f64 + 1.0), WholeNumber(row as f64 + 1.0))
    });
    position.unzip()
}

fn find_nearest_cell(
    engine: &mut Engine,
    grid: NavigationGridId,
    column: Integer,
    row: Integer,
    distance: Option<Integer>,
) -> Result<(Option<WholeNumber>, Option<WholeNumber>), Error> {
    let distance = distance.map_or(NEAREST_DISTANCE, |distance| distance.0);
    if !(0..=GRID_SIZE_MAX as i64).contains(&distance) {
        return Err(error!(
            "argument #4 'distance' must be 0 to {GRID_SIZE_MAX} (GRID_SIZE_MAX), got {distance}"
        ));
    }
    let grid = of(engine, grid);
    let (column, row) = (column.0.saturating_sub(1), row.0.saturating_sub(1));
    Ok(position(grid, grid.nearest_free(column, row, distance)))
}

fn draw(
    engine: &mut Engine,
    grid: NavigationGridId,
    position: Vec3,
    size: f64,
    name: Option<TextArgument>,
) -> Result<u64, Error> {
    let position = volumes::position(position, "#2 'position'")?;
    if !(CELL_SIZE_MIN..=CELL_SIZE_MAX).contains(&size) {
        return Err(error!(
            "argument #3 'size' must be {CELL_SIZE_MIN} to {CELL_SIZE_MAX}, got {size}"
        ));
    }
    let of = of(engine, grid);
    let field = name.map(|name| find_field(of, &name, "#4 'name'")).transpose()?;
    Ok(engine.show_grid(grid, field, (position, size as f32))? as u64)
}

fn raycast(
    engine: &mut Engine,
    grid: NavigationGridId,
    from_column: Integer,
    from_row: Integer,
    to_column: Integer,
    to_row: Integer,
) -> Result<(Option<WholeNumber>, Option<WholeNumber>), Error> {
    let grid = of(engine, grid);
    let (from, to) = (cell(grid, from_column, from_row)?, cell(grid, to_column, to_row)?);
    Ok(position(grid, grid.raycast(from, to)))
}

/// Returns the way from a cell to the nearest target of a field.
fn way(
    grid: &mut NavigationGrid,
    name: &TextArgument,
    column: Integer,
    row: Integer,
) -> Result<Option<(f32, u32)>, Error> {
    let cell = cell(grid, column, row)?;
    let field = find_field(grid, name, "#2 'name'")?;
    Ok(grid.flow(field, cell))
}

fn flow(
    engine: &mut Engine,
    grid: NavigationGridId,
    name: TextArgument,
    column: Integer,
    row: Integer,
) -> Result<(Option<WholeNumber>, Option<WholeNumber>), Error> {
    let grid = of(engine, grid);
    let next = way(grid, &name, column, row)?;
    Ok(position(grid, next.map(|(_, cell)| cell)))
}

fn distance(
    engine: &mut Engine,
    grid: NavigationGridId,
    name: TextArgument,
    column: Integer,
    row: Integer,
) -> Result<Option<f64>, Error> {
    let grid = of(engine, grid);
    let way = way(grid, &name, column, row)?;
    let threats = grid.field(name.as_str()).and_then(|field| grid.field_threats(field));
    check_distance(name.as_str(), threats)?;
    Ok(way.map(|(distance, _)| distance.into()))
}
