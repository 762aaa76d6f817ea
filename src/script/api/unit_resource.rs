//! `UnitResource`: what a unit's file says of its data, whether or not one is there.

use super::unit::resource;
use crate::engine::Engine;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;
use crate::script::arg::{Rest, Text};
use crate::script::row::{Module, func, module};
use crate::script::value::Value;

const UNIT_ARG: (&str, &str) = ("resource", "the name of a unit, as \"units/barrel\"");
const KEYS_ARG: (&str, &str) = ("keys", "strings or numbers, outermost first");

pub static UNIT_RESOURCE: Module = module(
    "UnitResource",
    "What a unit's file says, with what it inherits, without spawning one: for shops, lists and \
     prices.",
    r#"assert(UnitResource.get_data("core/units/cube", "price") == nil)
assert(not pcall(UnitResource.has_data, "units/of_no_game", "price"))"#,
    &[
        func(
            "get_data",
            get_data,
            &[UNIT_ARG, KEYS_ARG],
            "The data that units begin with, under a key or under keys that lead into tables; nil \
             where there is none. Fields of components are not among it.",
        )
        .pure(),
        func(
            "has_data",
            has_data,
            &[UNIT_ARG, KEYS_ARG],
            "Whether units begin with data under a key, or under keys that lead into tables.",
        )
        .pure(),
    ],
);

/// What keys lead to.
fn find<'a>(mut tree: &'a Tree, keys: &Rest) -> Result<Option<&'a Tree>, Error> {
    if keys.0.is_empty() {
        return Err(crate::error!("give at least one key"));
    }
    for (i, key) in keys.0.iter().enumerate() {
        let inner = match (key, tree) {
            (Value::Text(key), tree) => tree.get(key),
            (Value::Number(place), Tree::Array(items)) => {
                let place = (place.fract() == 0.0 && *place >= 1.0).then(|| *place as usize - 1);
                place.and_then(|place| items.get(place))
            }
            (Value::Number(_), _) => None,
            _ => return Err(crate::error!("argument #{} 'key' must be string or number", i + 2)),
        };
        match inner {
            Some(inner) => tree = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(tree).filter(|tree| !matches!(tree, Tree::Null)))
}

fn get_data(engine: &mut Engine, name: Text, keys: Rest) -> Result<Value, Error> {
    let resource = resource(engine, name.as_str())?;
    Ok(find(&resource.data, &keys)?.map_or(Value::Nil, Value::from_tree))
}

fn has_data(engine: &mut Engine, name: Text, keys: Rest) -> Result<bool, Error> {
    let resource = resource(engine, name.as_str())?;
    Ok(find(&resource.data, &keys)?.is_some())
}
