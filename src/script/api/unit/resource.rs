//! The Lua module `UnitResource`: the data of a unit's file, even if no such unit exists.

use crate::api::unit::resource;
use crate::api_row::{ModuleRows, func, module};
use crate::argument::{RestArguments, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_runtime::Engine;

const UNIT_ARG: (&str, &str) =
    ("resource", "the name of a unit resource, such as \"units/barrel\"");
const KEYS_ARG: (&str, &str) = ("keys", "strings or numbers, outermost first");

pub static UNIT_RESOURCE: ModuleRows = module(
    "UnitResource",
    "The data in a unit's file and in the files that it inherits from, without spawning a unit: \
     for shops, lists and prices.",
    r#"assert(UnitResource.get_data("core/units/cube", "price") == nil)
assert(not pcall(UnitResource.has_data, "units/of_no_game", "price"))"#,
    &[
        func(
            "get_data",
            get_data,
            &[UNIT_ARG, KEYS_ARG],
            "Returns the initial data of units under a key, or under a path of keys into nested \
             tables; nil if there is none. Fields of components are not included.",
        )
        .pure(),
        func(
            "has_data",
            has_data,
            &[UNIT_ARG, KEYS_ARG],
            "Returns true if units have initial data under a key, or under a path of keys into \
             nested tables.",
        )
        .pure(),
    ],
);

/// Returns the value at a path of keys.
fn find<'a>(mut tree: &'a SjsonTree, keys: &RestArguments) -> Result<Option<&'a SjsonTree>, Error> {
    if keys.0.is_empty() {
        return Err(engine_foundation::error!("give at least one key"));
    }
    for (i, key) in keys.0.iter().enumerate() {
        let inner = match (key, tree) {
            (ScriptValue::Text(key), tree) => tree.get(key),
            (ScriptValue::Number(index), SjsonTree::Array(items)) => {
                let index = (index.fract() == 0.0 && *index >= 1.0).then(|| *index as usize - 1);
                index.and_then(|index| items.get(index))
            }
            (ScriptValue::Number(_), _) => None,
            _ => {
                return Err(engine_foundation::error!(
                    "argument #{} 'key' must be string or number",
                    i + 2
                ));
            }
        };
        match inner {
            Some(inner) => tree = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(tree).filter(|tree| !matches!(tree, SjsonTree::Null)))
}

fn get_data(
    engine: &mut Engine,
    name: TextArgument,
    keys: RestArguments,
) -> Result<ScriptValue, Error> {
    let resource = resource(engine, name.as_str())?;
    Ok(find(&resource.data, &keys)?.map_or(ScriptValue::Nil, ScriptValue::from_tree))
}

fn has_data(engine: &mut Engine, name: TextArgument, keys: RestArguments) -> Result<bool, Error> {
    let resource = resource(engine, name.as_str())?;
    Ok(find(&resource.data, &keys)?.is_some())
}
