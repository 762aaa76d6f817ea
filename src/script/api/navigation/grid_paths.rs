//! Paths on navigation grids, the cells around one, and random ones. Functions that return lists
//! are in the prelude (lua/world/navigation.lua), around the native parts in [`CORE`].

use super::grid::{COLUMN_ARG, GRID_ARG, ROW_ARG, cell, of, position};
use crate::api_row::{ModuleRows, NodeFlag, func, module, more};
use crate::argument::Integer;
use crate::return_value::{ManyResults, WholeNumber};
use crate::value::ScriptValue;
use engine_foundation::{Error, counter, error, scope};
use engine_navigation::NavigationGridId;
use engine_navigation::grid::{CELL_COST_MAX, GRID_SIZE_MAX, NavigationGrid};
use engine_navigation::grid_parts::FLOOD_CELLS_MAX;
use engine_navigation::grid_requests::GRID_REQUESTS_MAX;
use engine_navigation::search::PartialReason;
use engine_runtime::Engine;

/// Maximum number of cells of a path.
const PATH_CELLS_MAX: usize = 1 << 18;
/// Greatest cost of a way of a flood: through all cells of the largest grid.
const FLOOD_COST_MAX: f64 = CELL_COST_MAX as f64 * (GRID_SIZE_MAX * GRID_SIZE_MAX) as f64;

pub static NAVIGATION_GRID: ModuleRows = more(
    "NavigationGrid",
    &[
        func(
            "random_cell",
            random_cell,
            &[
                GRID_ARG,
                (
                    "column",
                    "column of a cell from which it can be reached, from 1; any if left out",
                ),
                ("row", "its row, from 1"),
            ],
            "Returns a cell that is not blocked, each with the same probability; nil if there is \
             none. The first call after a changed cell looks at the whole grid.",
        )
        .returns(&["column from 1", "row from 1"])
        .node(NodeFlag::Query),
        func(
            "num_waiting_paths",
            num_waiting_paths,
            &[GRID_ARG],
            "Returns the number of requests of `NavigationGrid.find_path_async` that wait.",
        )
        .pure(),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "NavigationGrid",
    "Paths, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "grid_path",
            grid_path,
            &[
                ("grid", ""),
                ("from_column", ""),
                ("from_row", ""),
                ("to_column", ""),
                ("to_row", ""),
            ],
            "Returns the columns and rows of a path, and the reason why it is not complete.",
        )
        .public_name("NavigationGrid.find_path")
        .pure(),
        func(
            "grid_request",
            grid_request,
            &[GRID_ARG, ("from_column", ""), ("from_row", ""), ("to_column", ""), ("to_row", "")],
            "Asks for a path. Returns the number of the request.",
        )
        .public_name("NavigationGrid.find_path_async"),
        func(
            "grid_cancel",
            grid_cancel,
            &[GRID_ARG, ("request", "")],
            "Withdraws a request. Returns false if it does not wait any more.",
        )
        .public_name("NavigationGrid.cancel_path"),
        func("grid_update", grid_update, &[GRID_ARG], "Answers requests for paths.")
            .public_name("NavigationGrid.update"),
        func(
            "grid_answers",
            grid_answers,
            &[GRID_ARG],
            "Returns the answers that were not returned yet as numbers: for each of them the \
             number of the request, of the reason and of cells, and the cells.",
        ),
        func(
            "grid_flood",
            grid_flood,
            &[GRID_ARG, COLUMN_ARG, ROW_ARG, ("cost", "")],
            "Returns the columns and rows of cells around one, and the costs of the ways there.",
        )
        .public_name("NavigationGrid.flood_fill")
        .pure(),
    ],
);

fn grid_path(
    engine: &mut Engine,
    grid: NavigationGridId,
    from_column: Integer,
    from_row: Integer,
    to_column: Integer,
    to_row: Integer,
) -> Result<ManyResults, Error> {
    let grid = of(engine, grid);
    let (from, to) = (cell(grid, from_column, from_row)?, cell(grid, to_column, to_row)?);
    let mut path = Vec::new();
    let partial = grid.find_path(from, to, usize::MAX, &mut path);
    if path.len() > PATH_CELLS_MAX {
        return Err(error!(
            "the path has {} cells, and {PATH_CELLS_MAX} are the most (PATH_CELLS_MAX): find the \
             way to a cell in between, or use NavigationGrid.flow",
            path.len()
        ));
    }
    let cells = ScriptValue::List(coordinates(grid, path.into_iter()));
    let reason = partial.map_or(ScriptValue::Nil, |it| ScriptValue::Text(it.name().to_string()));
    Ok(ManyResults(vec![cells, reason]))
}

/// Returns the columns and rows of cells, from 1.
fn coordinates(grid: &NavigationGrid, cells: impl Iterator<Item = u32>) -> Vec<ScriptValue> {
    let numbers = cells.flat_map(|cell| {
        let (column, row) = grid.column_and_row(cell);
        [column, row].map(|at| ScriptValue::Number(at as f64 + 1.0))
    });
    numbers.collect()
}

fn random_cell(
    engine: &mut Engine,
    grid: NavigationGridId,
    column: Option<Integer>,
    row: Option<Integer>,
) -> Result<(Option<WholeNumber>, Option<WholeNumber>), Error> {
    let mut random = engine.frame.random.clone();
    let grid = of(engine, grid);
    let from = match (column, row) {
        (None, None) => None,
        (Some(column), Some(row)) => Some(cell(grid, column, row)?),
        _ => return Err(error!("arguments #2 'column' and #3 'row' belong together")),
    };
    let found = grid.random_cell(from, || random.next_f64());
    let found = position(grid, found);
    engine.frame.random = random;
    Ok(found)
}

fn num_waiting_paths(engine: &mut Engine, grid: NavigationGridId) -> u64 {
    of(engine, grid).num_waiting_paths() as u64
}

fn grid_request(
    engine: &mut Engine,
    grid: NavigationGridId,
    from_column: Integer,
    from_row: Integer,
    to_column: Integer,
    to_row: Integer,
) -> Result<u64, Error> {
    let grid = of(engine, grid);
    let (from, to) = (cell(grid, from_column, from_row)?, cell(grid, to_column, to_row)?);
    grid.request_path(from, to).map(u64::from).ok_or_else(|| {
        error!(
            "{GRID_REQUESTS_MAX} paths of the grid wait for an answer (GRID_REQUESTS_MAX): ask for \
             more after the next NavigationGrid.update, or use NavigationGrid.flow"
        )
    })
}

fn grid_cancel(engine: &mut Engine, grid: NavigationGridId, request: Integer) -> bool {
    let grid = of(engine, grid);
    u32::try_from(request.0).is_ok_and(|number| grid.cancel_path(number))
}

fn grid_update(engine: &mut Engine, grid: NavigationGridId) {
    scope!("navigation");
    let grid = of(engine, grid);
    let (answered, nodes) = grid.answer_paths();
    counter!("navigation/searches") += answered as u64;
    counter!("navigation/nodes") += nodes as u64;
    counter!("navigation/waiting") += grid.num_waiting_paths() as u64;
}

fn grid_answers(engine: &mut Engine, grid: NavigationGridId) -> ScriptValue {
    let mut numbers = Vec::new();
    let grid = of(engine, grid);
    for answer in grid.path_answers() {
        let reason = match answer.partial {
            None => 0.0,
            Some(PartialReason::Unreachable) => 1.0,
            Some(PartialReason::Budget) => 2.0,
            Some(PartialReason::OffMesh) => 3.0,
        };
        let head = [f64::from(answer.number), reason, answer.cells.len() as f64];
        numbers.extend(head.map(ScriptValue::Number));
        numbers.extend(coordinates(grid, answer.cells.iter().copied()));
    }
    grid.forget_answers();
    ScriptValue::List(numbers)
}

fn grid_flood(
    engine: &mut Engine,
    grid: NavigationGridId,
    column: Integer,
    row: Integer,
    cost: f64,
) -> Result<ManyResults, Error> {
    if !(0.0..=FLOOD_COST_MAX).contains(&cost) {
        return Err(error!("argument #4 'cost' must be 0 to {FLOOD_COST_MAX}, got {cost}"));
    }
    let grid = of(engine, grid);
    let start = cell(grid, column, row)?;
    let mut found = Vec::new();
    if !grid.flood_fill(start, cost as f32, &mut found) {
        return Err(error!(
            "ways that cost {cost} lead to more than {FLOOD_CELLS_MAX} cells (FLOOD_CELLS_MAX): \
             use a smaller cost, or NavigationGrid.distance"
        ));
    }
    let cells = ScriptValue::List(coordinates(grid, found.iter().map(|(cell, _)| *cell)));
    let costs = found.iter().map(|(_, cost)| ScriptValue::Number(f64::from(*cost)));
    Ok(ManyResults(vec![cells, ScriptValue::List(costs.collect())]))
}
