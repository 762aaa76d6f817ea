//! Types of the nodes for units that need Lua: they spawn and destroy units, or keep scripts' data.
//! Their functions are in lua/flow/nodes.lua.

use super::unit_nodes::{ObjectNode, object_type};
use engine_flow::NodeType;

const NODES: &[ObjectNode] = &[
    ObjectNode {
        name: "unit.spawn",
        title: "Spawn unit",
        doc: "Spawns a unit at the position of another one, moved by an offset.",
        is_query: false,
        inputs: "resource: resource unit, at: unit = owner, offset: vector = [0,0,0], \
                 node: text = \"\"",
        outputs: "unit: unit",
        params: &[
            ("resource", "name of the new unit's file"),
            ("at", "the unit at which it is spawned"),
            ("offset", "in metres, in the directions of the world"),
            ("node", "name of a node of the unit `at`; empty: its root"),
        ],
    },
    ObjectNode {
        name: "unit.destroy",
        title: "Destroy unit",
        doc: "Destroys a unit. If it is the unit of the graph, the chain ends here.",
        is_query: false,
        inputs: "unit: unit = owner",
        outputs: "",
        params: &[],
    },
    ObjectNode {
        name: "unit.set_material_value",
        title: "Set material value",
        doc: "Sets a variable of a material of one mesh, to a number, a vector or a color. Other \
              units keep theirs.",
        is_query: false,
        inputs: "unit: unit = owner, mesh: text, variable: text, value: any, material: number = 1",
        outputs: "",
        params: &[
            ("mesh", "name of a mesh of the unit"),
            ("variable", "name of a variable of the material"),
            ("value", "its new value"),
            ("material", "its index in the mesh"),
        ],
    },
    ObjectNode {
        name: "unit.replace",
        title: "Replace unit",
        doc: "Spawns another unit in place of a unit, such as its broken form, with its speed. The \
              unit is destroyed; if it is the unit of the graph, the chain ends here.",
        is_query: false,
        inputs: "resource: resource unit, unit: unit = owner",
        outputs: "unit: unit",
        params: &[("resource", "name of the new unit's file"), ("unit", "the one that ends")],
    },
    ObjectNode {
        name: "unit.data",
        title: "Data of unit",
        doc: "The data of a unit under a key, or nothing.",
        is_query: true,
        inputs: "unit: unit = owner, key: text",
        outputs: "value: any",
        params: &[("key", "as in Unit.get_data")],
    },
    ObjectNode {
        name: "unit.set_data",
        title: "Set data of unit",
        doc: "Sets the data of a unit under a key.",
        is_query: false,
        inputs: "unit: unit = owner, key: text, value: any",
        outputs: "",
        params: &[("key", "as in Unit.set_data"), ("value", "a single value, and no table")],
    },
];

/// Returns the node types.
pub(super) fn types() -> impl Iterator<Item = NodeType> {
    NODES.iter().map(object_type)
}
