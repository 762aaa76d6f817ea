//! The page of the reference that lists what each function is in graphs: an action, a query, or no
//! node, by the flag of its row and by the values that graphs have.

use super::model::{ApiModel, FunctionDoc, ModuleDoc};
use crate::api::flow::function_type;
use crate::api_row::NodeFlag;

/// Returns true if a function belongs to a list of the page.
type Belongs<'a> = &'a dyn Fn(&FunctionDoc) -> bool;

const HEAD: &str = "# Functions as nodes

What each function of the engine is in a [graph](../flow.md#nodes-of-functions). The row of a
function says if it is an action, a query or hidden: hidden functions belong to scripts, to tools or
to the drawing of each frame, or graphs have a node of their own for their purpose. The functions in
the last lists have arguments or results that graphs have no values for.

Nodes that are no functions, such as `flow.branch` and `unit.spawn`, are with all pins
[in the manual](../flow.md#nodes).
";

/// Returns the page.
pub fn page(api: &ApiModel) -> String {
    let mut text = HEAD.to_string();
    for module in &api.modules {
        text += &section(module);
    }
    text
}

fn section(module: &ModuleDoc) -> String {
    let mut text = format!("\n## {}\n", module.name);
    let is_node = |function: &FunctionDoc| function_type(function).is_some();
    let lists: [(&str, Belongs); 4] = [
        ("Actions", &|one| one.node == NodeFlag::Action && is_node(one)),
        ("Queries", &|one| one.node == NodeFlag::Query && is_node(one)),
        ("Hidden", &|one| one.node == NodeFlag::Hidden),
        ("No values in graphs", &|one| one.node != NodeFlag::Hidden && !is_node(one)),
    ];
    for (title, belongs) in lists {
        let names = module.functions.iter().filter(|function| belongs(function));
        let names: Vec<String> = names.map(|function| format!("`{}`", function.name)).collect();
        if !names.is_empty() {
            text += &format!("\n{title}: {}\n", names.join(", "));
        }
    }
    if module.functions.is_empty() {
        text += "\nIt has no functions.\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::MODULES;

    /// Returns the flag of a function in the documentation.
    fn flag(api: &ApiModel, path: &str) -> NodeFlag {
        let function = api.functions().find(|function| function.path() == path);
        function.unwrap_or_else(|| panic!("there is no {path}")).node
    }

    #[test]
    fn each_kind_of_row_has_its_flag() {
        let api = ApiModel::new();
        let check = |path: &str, wanted: NodeFlag| assert_eq!(flag(&api, path), wanted, "{path}");
        // Rows of Rust: by their kind, and by their own flags.
        check("Light.set_intensity", NodeFlag::Action);
        check("Light.intensity", NodeFlag::Query);
        check("Math.random", NodeFlag::Action);
        check("Math.set_seed", NodeFlag::Action);
        check("Agent.link", NodeFlag::Query);
        check("Agent.velocity", NodeFlag::Query);
        check("Gui.rect", NodeFlag::Hidden);
        check("Profiler.report", NodeFlag::Hidden);
        // Functions of the prelude: by their comments, and by those of their modules.
        check("World.spawn_unit", NodeFlag::Action);
        check("Vector3.length", NodeFlag::Query);
        check("Vector3.add", NodeFlag::Query);
        check("Vector3.set_x", NodeFlag::Hidden);
        check("Timer.after", NodeFlag::Hidden);
        check("Unit.flow_event", NodeFlag::Hidden);
        check("Gui.push_clip", NodeFlag::Hidden);
        check("wait", NodeFlag::Hidden);
    }

    #[test]
    fn rows_and_documentation_have_the_same_flags() {
        let api = ApiModel::new();
        for (module, row) in
            MODULES.iter().flat_map(|one| one.funcs.iter().map(move |row| (one, row)))
        {
            let path = format!("{}.{}", module.name, row.name);
            // A function of the prelude with the same name is what games call.
            let mut same = api.functions().filter(|function| function.path() == path);
            assert!(same.any(|one| one.node == row.node), "{path}");
        }
    }

    #[test]
    fn functions_that_only_return_something_are_queries() {
        // They change the generator of random numbers, or resources and requests.
        let changing = [
            "Application.resource_package",
            "Level.random_point_inside_volume",
            "Math.random",
            "Math.random_direction",
            "Math.random_in_box",
            "NavigationMesh.random_point",
            "Save.result",
        ];
        let api = ApiModel::new();
        let is_action = |one: &&FunctionDoc| {
            one.node == NodeFlag::Action
                && one.doc.starts_with("Returns ")
                && function_type(one).is_some()
        };
        let found: Vec<String> = api.functions().filter(is_action).map(FunctionDoc::path).collect();
        assert_eq!(found, changing);
    }

    #[test]
    fn lists_of_tables_are_no_values_of_graphs() {
        let api = ApiModel::new();
        let is_node = |path: &str| {
            let function = api.functions().find(|function| function.path() == path);
            function.and_then(function_type).is_some()
        };
        assert!(!is_node("PhysicsWorld.contacts"));
        assert!(!is_node("NavigationGrid.find_path"));
        assert!(is_node("NavigationMesh.find_path"));
        assert!(is_node("World.units"));
    }

    #[test]
    fn a_query_has_results_that_graphs_can_show() {
        let api = ApiModel::new();
        for function in api.functions().filter(|one| one.node == NodeFlag::Query) {
            let Some(node) = function_type(function) else { continue };
            assert!(!node.outputs.is_empty(), "{} is a query without outputs", function.path());
        }
    }
}
