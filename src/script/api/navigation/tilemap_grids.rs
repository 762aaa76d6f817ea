//! Functions of `NavigationGrid` for tile maps.

use crate::api_row::{ModuleRows, func, more};
use crate::value::ScriptValue;
use engine_foundation::{Error, error, suggest};
use engine_navigation::NavigationGridId;
use engine_navigation::grid::{CELL_COST_MAX, CELL_COST_MIN, GridShape};
use engine_runtime::Engine;
use engine_tilemaps::{CollisionRules, TilemapId};

/// Maximum number of names in an option.
const NAMES_MAX: usize = 256;
const OPTIONS: [&str; 4] = ["neighbors", "solid", "layers", "costs"];

pub static NAVIGATION_GRID: ModuleRows = more(
    "NavigationGrid",
    &[func(
        "create_from_tilemap",
        create_from_tilemap,
        &[
            ("tilemap", "a tile map"),
            (
                "options",
                "a table with `neighbors`; `solid`, the names that block cells ({ \"solid\" }); \
                 `layers`, the only layers and grids that count; and `costs`, a table from names \
                 to costs, such as { mud = 3, water = 0 }",
            ),
        ],
        "Creates a grid with the cells of a tile map. Cells with solid tiles are blocked; those of \
         one-way tiles are not. A name is a class, a property that is true, or a tag of a tile or \
         layer, or the name of a value. The highest cost counts. `Tilemap.set_tile` changes the \
         grid at once.",
    )],
);

/// Returns the names in a list.
fn names(option: &str, value: ScriptValue) -> Result<Vec<String>, Error> {
    let wrong =
        || error!("option '{option}' must be a list of at most {NAMES_MAX} names (NAMES_MAX)");
    let ScriptValue::List(items) = value else {
        // An empty table has no entries to tell a list from.
        return match value {
            ScriptValue::Table(entries) if entries.is_empty() => Ok(Vec::new()),
            _ => Err(wrong()),
        };
    };
    if items.len() > NAMES_MAX {
        return Err(wrong());
    }
    let text = |item: ScriptValue| match item {
        ScriptValue::Text(text) => Ok(text),
        _ => Err(wrong()),
    };
    items.into_iter().map(text).collect()
}

fn costs(value: ScriptValue) -> Result<Vec<(String, f32)>, Error> {
    let ScriptValue::Table(entries) = value else {
        return Err(error!("option 'costs' must be a table, such as {{ mud = 3 }}"));
    };
    if entries.len() > NAMES_MAX {
        return Err(error!("option 'costs' has more than {NAMES_MAX} names (NAMES_MAX)"));
    }
    let cost = |(name, value): (String, ScriptValue)| match value {
        ScriptValue::Number(cost)
            if cost == 0.0 || (CELL_COST_MIN..=CELL_COST_MAX).contains(&(cost as f32)) =>
        {
            Ok((name, cost as f32))
        }
        _ => Err(error!(
            "'{name}' in option 'costs' must be 0, or {CELL_COST_MIN} to {CELL_COST_MAX}"
        )),
    };
    entries.into_iter().map(cost).collect()
}

fn create_from_tilemap(
    engine: &mut Engine,
    map: TilemapId,
    options: Option<ScriptValue>,
) -> Result<NavigationGridId, Error> {
    let mut rules = CollisionRules::default();
    let (mut shape, mut named_costs) = (None, Vec::new());
    let fields = match options {
        None | Some(ScriptValue::Nil) => Vec::new(),
        Some(ScriptValue::Table(fields)) => fields,
        _ => {
            return Err(error!(
                "argument #2 'options' must be a table, such as {{ neighbors = 4 }}"
            ));
        }
    };
    for (option, value) in fields {
        match option.as_str() {
            "neighbors" => {
                shape = Some(match value {
                    ScriptValue::Number(4.0) => GridShape::Square4,
                    ScriptValue::Number(6.0) => GridShape::Hexagonal,
                    ScriptValue::Number(8.0) => GridShape::Square8,
                    _ => return Err(error!("option 'neighbors' must be 4, 6 or 8")),
                });
            }
            "solid" => rules.solid = names("solid", value)?,
            "layers" => rules.layers = names("layers", value)?,
            "costs" => named_costs = costs(value)?,
            _ => {
                let hint = suggest::hint(&option, OPTIONS);
                return Err(error!("unknown option '{option}'{hint}"));
            }
        }
    }
    engine.create_tilemap_grid(map, shape, rules, named_costs)
}
