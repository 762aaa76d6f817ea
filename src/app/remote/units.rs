//! The list of worlds and units for remote tools: ordered as a tree, searched by name, handle and
//! data, and sent in parts, because a world can have hundreds of thousands of units.

use super::eval::{self, refusal};
use super::inspect::{handle, vector};
use super::message_table::{integer, text};
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Handle, HandleKind};
use engine_runtime::Worlds;
use engine_script::ScriptValue;
use engine_world::WorldId;
use engine_world::unit::{UnitId, Units};
use std::collections::{HashMap, HashSet};

/// Default number of units to list.
const UNITS_LISTED: u64 = 1000;
/// Time limit of a search in the data of all units, in CPU seconds.
const SEARCH_SECONDS: f64 = 0.1;

/// A search for units.
#[derive(Default)]
struct UnitSearch {
    /// The searched text in lower case; empty for all units.
    text: String,
    /// Units whose data contains the text.
    with_data: HashSet<u64>,
    /// The reason why not all data was searched.
    problem: Option<String>,
}

impl UnitSearch {
    /// Searches the data of all units for a text.
    fn new(call: &mut IncomingCall, text: &str) -> UnitSearch {
        let mut search = UnitSearch { text: text.to_lowercase(), ..UnitSearch::default() };
        if text.is_empty() {
            return search;
        }
        let arguments = [ScriptValue::Text(text.to_string())];
        match call.app.vm.call_core("tool_find_units", &arguments, SEARCH_SECONDS) {
            Ok(answer) => {
                if let Some(SjsonTree::Array(found)) = eval::object(&answer).get("units") {
                    let handles = found.iter().filter_map(|number| match number {
                        SjsonTree::Number(number) => Some(number.to_bits()),
                        _ => None,
                    });
                    search.with_data = handles.collect();
                }
            }
            Err(report) => {
                let message = refusal(&report).message;
                search.problem = Some(format!("not all data was searched: {message}"));
            }
        }
        search
    }

    /// Returns true if a unit's name, its name in its level, its handle or its data matches.
    fn matches(&self, worlds: &Worlds, unit: UnitId) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let has = |name: &str| name.to_lowercase().contains(&self.text);
        let number = unit.0.to_number();
        self.with_data.contains(&number.to_bits())
            || has(&worlds.units.of(unit).resource.name)
            || level_names(worlds, unit).is_some_and(|(level, name)| has(level) || has(name))
            || number.to_string() == self.text
    }
}

/// Returns the resource of the level that spawned a unit, and the unit's name in that level.
fn level_names(worlds: &Worlds, unit: UnitId) -> Option<(&str, &str)> {
    let (level, index) = worlds.levels.of_unit(unit)?;
    let resource = &worlds.levels.of(level).resource;
    let name = resource.units.get(index as usize).map_or("", |unit| unit.name.as_str());
    Some((&resource.name, name))
}

/// Lists worlds and their units.
pub fn units(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let only = handle(call.fields, "world", HandleKind::World)?;
    let first = integer(call.fields, "first").unwrap_or(0) as usize;
    let most = integer(call.fields, "max").unwrap_or(UNITS_LISTED) as usize;
    if let Some(world) = only
        && call.app.vm.engine().worlds.slots.get(world).is_none()
    {
        return Err(Refusal::of("the world is gone"));
    }
    let filter = text(call.fields, "text").unwrap_or_default().to_string();
    let search = UnitSearch::new(call, &filter);
    let worlds = &mut call.app.vm.engine().worlds;
    let all: Vec<(Handle, f64)> =
        worlds.slots.iter().map(|(handle, world)| (handle, world.time)).collect();
    let (mut skipped, mut left) = (first, most);
    let mut listed = Vec::new();
    for (world, seconds) in all {
        if only.is_some_and(|only| only != world) {
            continue;
        }
        let here: Vec<UnitId> = worlds.units.in_world(WorldId(world)).collect();
        let found: Vec<UnitId> =
            here.into_iter().filter(|unit| search.matches(worlds, *unit)).collect();
        let count = found.len();
        let shown: Vec<SjsonTree> = if skipped >= count || left == 0 {
            Vec::new()
        } else {
            let ordered = tree_order(&worlds.units, &found);
            let part = ordered.into_iter().skip(skipped).take(left);
            part.map(|(unit, depth)| unit_summary(worlds, unit, depth)).collect()
        };
        skipped = skipped.saturating_sub(count);
        left -= shown.len();
        listed.push(json::object([
            ("world", SjsonTree::Number(world.to_number())),
            ("main", SjsonTree::Bool(worlds.main == Some(WorldId(world)))),
            ("seconds", SjsonTree::Number(seconds)),
            ("count", json::count(count)),
            ("units", SjsonTree::Array(shown)),
        ]));
    }
    Ok(Some(json::object([
        ("first", json::count(first)),
        ("worlds", SjsonTree::Array(listed)),
        ("problem", search.problem.map_or(SjsonTree::Null, SjsonTree::String)),
    ])))
}

/// Orders units so that each follows the unit to which it is linked. Returns each unit with its
/// depth below those units of `found` to which it is linked.
fn tree_order(units: &Units, found: &[UnitId]) -> Vec<(UnitId, usize)> {
    let indices: HashMap<u32, usize> =
        found.iter().enumerate().map(|(at, unit)| (unit.row(), at)).collect();
    let parent_of = |unit: &UnitId| {
        let (above, _) = units.scene.parent(unit.row(), 0)?;
        indices.get(&above).copied()
    };
    let parents: Vec<Option<usize>> = found.iter().map(parent_of).collect();
    order_by_parents(&parents).into_iter().map(|(at, depth)| (found[at], depth)).collect()
}

/// Returns the indices of a forest in depth-first order, each with its depth. Siblings keep their
/// order. `parents` has no cycles.
fn order_by_parents(parents: &[Option<usize>]) -> Vec<(usize, usize)> {
    // The children of each node as a linked list, built from the end.
    let mut first_child = vec![None; parents.len()];
    let mut next_sibling = vec![None; parents.len()];
    let mut first_root = None;
    for (at, parent) in parents.iter().enumerate().rev() {
        let head = parent.map_or(&mut first_root, |parent| &mut first_child[parent]);
        next_sibling[at] = head.replace(at);
    }
    let mut ordered = Vec::with_capacity(parents.len());
    let mut open: Vec<(usize, usize)> = first_root.map(|at| (at, 0)).into_iter().collect();
    while let Some((at, depth)) = open.pop() {
        ordered.push((at, depth));
        open.extend(next_sibling[at].map(|next| (next, depth)));
        open.extend(first_child[at].map(|child| (child, depth + 1)));
    }
    ordered
}

/// Returns the fields with the level that spawned a unit and the unit's name there; null for other
/// units.
pub fn level_fields(worlds: &Worlds, unit: UnitId) -> [(&'static str, SjsonTree); 2] {
    let (level, name) = match level_names(worlds, unit) {
        Some((level, name)) => (json::text(level), json::text(name)),
        None => (SjsonTree::Null, SjsonTree::Null),
    };
    [("level", level), ("level_unit", name)]
}

fn unit_summary(worlds: &mut Worlds, unit: UnitId, depth: usize) -> SjsonTree {
    let [level, level_unit] = level_fields(worlds, unit);
    let units = &mut worlds.units;
    let row = unit.row();
    let parent = units.scene.parent(row, 0);
    let parent = parent.and_then(|(above, _)| units.slots.handle_at(above as usize));
    let parent = parent.map_or(SjsonTree::Null, |above| SjsonTree::Number(above.to_number()));
    json::object([
        ("unit", SjsonTree::Number(unit.0.to_number())),
        ("name", json::text(&units.of(unit).resource.name)),
        ("nodes", json::count(units.scene.count(row))),
        ("parent", parent),
        ("depth", json::count(depth)),
        level,
        level_unit,
        ("position", vector(units.scene.world_position(row, 0))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_follow_their_parent_and_siblings_keep_their_order() {
        let parents = [None, Some(3), None, Some(0), Some(0), Some(3)];
        let ordered = order_by_parents(&parents);
        assert_eq!(ordered, [(0, 0), (3, 1), (1, 2), (5, 2), (4, 1), (2, 0)]);
        assert_eq!(order_by_parents(&[]), []);
    }

    #[test]
    fn a_long_chain_of_units_is_ordered_without_recursion() {
        let parents: Vec<_> = (0..100_000usize).map(|at| at.checked_sub(1)).collect();
        let ordered = order_by_parents(&parents);
        assert_eq!((ordered.len(), ordered[99_999]), (100_000, (99_999, 99_999)));
    }
}
