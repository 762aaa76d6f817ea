//! Functions that nodes of graphs call without Lua: the rows whose types graphs have values of.

use super::unit_nodes::NODES;
use crate::api::MODULES;
use crate::api_row::FunctionRow;
use engine_flow::{CallResult, FlowHeap, FlowType, NATIVE_INPUTS_MAX, NodeType, Pin, Slot};
use engine_foundation::memory::{OwnerScope, limit, number_of};
use engine_runtime::Engine;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A function that nodes call.
struct NativeFunction {
    /// The name of the node type.
    path: String,
    row: &'static FunctionRow,
    /// The owner of memory that the function allocates; `None` for functions that are called most
    /// often, which allocate little or nothing.
    owner: Option<u8>,
}

// The process keeps both tables for the next game: they belong to the engine's own memory.
static FUNCTIONS: LazyLock<Vec<NativeFunction>> = LazyLock::new(|| {
    let _owner = OwnerScope::enter(number_of("engine"));
    let public = MODULES.iter().flat_map(|module| {
        let rows = module.funcs.iter();
        rows.map(move |row| (format!("{}.{}", module.name, row.name), module.name, row))
    });
    let own = NODES.iter().map(|node| (node.row.name.to_string(), "Flow", &node.row));
    let found = public.chain(own).filter_map(|(path, module, row)| {
        let owner = row.fast.is_none().then(|| number_of(&format!("calls/{module}")));
        row.is_callable_from_graphs().then_some(NativeFunction { path, row, owner })
    });
    found.collect()
});

static INDICES: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let _owner = OwnerScope::enter(number_of("engine"));
    let paths = FUNCTIONS.iter().enumerate();
    paths.map(|(at, function)| (function.path.as_str(), at as u32)).collect()
});

/// Returns the index of the function that a node type calls without Lua, if it has one.
pub fn index_of(node: &NodeType) -> Option<u32> {
    let index = *INDICES.get(node.name.as_str())?;
    let row = FUNCTIONS[index as usize].row;
    let values = |pins: &[Pin]| pins.iter().filter(|pin| pin.kind != FlowType::Event).count();
    // A node without the last results of its function has no room for them.
    let fits = values(&node.outputs) == row.returns.len();
    let known = row.params.len().min(NATIVE_INPUTS_MAX);
    (fits && values(&node.inputs) <= known).then_some(index)
}

/// Calls a function with the inputs of a node, and writes the node's outputs.
pub fn call(
    engine: &mut Engine,
    index: u32,
    inputs: &[Slot],
    outputs: &mut [Slot],
    heap: &mut FlowHeap,
) -> CallResult {
    let function = &FUNCTIONS[index as usize];
    let row = function.row;
    if limit::is_over() && !row.pure && !row.when_full && limit::is_reserve_used() {
        return Err(limit::over_message().into());
    }
    let _owner = function.owner.map(OwnerScope::enter);
    row.call_from_graph(engine, inputs, outputs, heap)
        .map_err(|message| format!("{}: {message}", function.path).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::flow::function_types;

    #[test]
    fn most_functions_with_plain_values_need_no_lua() {
        let types: Vec<NodeType> =
            function_types().into_iter().chain(NODES.iter().map(|node| node.node_type())).collect();
        let native = |name: &str| {
            let node = types.iter().find(|node| node.name == name);
            index_of(node.unwrap_or_else(|| panic!("{name} is no node"))).is_some()
        };
        let expected = [
            "Unit.set_local_position",
            "Unit.alive",
            "Unit.node",
            "Unit.mesh",
            "Light.set_intensity",
            "Mesh.set_tint",
            "Level.unit",
            "Actor.add_impulse",
            "unit.set_position",
            "unit.effect",
            "unit.sound",
            "level.unit",
        ];
        expected.iter().for_each(|name| assert!(native(name), "{name}"));
        let lua = ["World.spawn_unit", "World.destroy_unit"];
        lua.iter().for_each(|name| assert!(!native(name), "{name}"));
        let mut rows = MODULES.iter().flat_map(|module| module.funcs);
        let has_call = |row: &FunctionRow| row.unpacked.is_some() && row.is_callable_from_graphs();
        assert!(!rows.any(has_call), "the function of an unpacked row has no call");
        let count = types.iter().filter(|node| index_of(node).is_some()).count();
        assert!(count > 200, "{count} of {}", types.len());
    }
}
