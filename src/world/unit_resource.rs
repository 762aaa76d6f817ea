//! The resource kind `unit`: the nodes, components and data of a unit. Compiled data is the
//! validated text as a tree; the resource is built from it, with everything that it inherits, when
//! the first unit is spawned. This module handles the names and fields of components, not their
//! behavior.

mod inheritance;
mod reader;

pub use inheritance::changed_graph;
pub use reader::{INHERIT_MAX, UnitReader, is_built_in_unit};

use super::component;
use super::node_order::parents_first;
use super::scene_graph::{NO_NODE, NodePose, UNIT_NODES_MAX};
use super::unit_compiler::{compile, validate};
use super::unit_template::UnitTemplate;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::{IdString32, find_collision, murmur64a};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Mat4, Quat, Vec3, suggest};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{ResourceKind, SourceForm, compiler, kind_names};
use std::collections::HashSet;

/// The resource kind of units.
pub static UNIT: ResourceKind = ResourceKind {
    name: kind_names::UNIT,
    doc: "The parts of a unit: a model, nodes, components, data",
    extensions: &[("unit", SourceForm::Own)],
    version: 5,
    framed: false,
    reload: &[ReloadStep::UnitResources],
    compile: compiler(compile),
    validate,
};

/// A component as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct ComponentSource {
    /// Name of the component in the resource.
    pub name: String,
    /// Type of the component.
    pub component: String,
    pub fields: SjsonTree,
}

/// Resource of units, ready to be instantiated.
#[derive(Clone, PartialEq, Debug)]
pub struct UnitResource {
    /// Name of the resource.
    pub name: String,
    /// Names of the nodes, parents first.
    pub node_names: Vec<String>,
    pub node_hashes: Vec<IdString32>,
    /// Indices of the parents in these lists, or [`NO_NODE`].
    pub parents: Vec<u32>,
    pub poses: Vec<NodePose>,
    /// Components in the order in which they are spawned and updated.
    pub parts: Vec<ComponentSource>,
    pub data: SjsonTree,
    /// The graph, or the name of one.
    pub flow: Option<SjsonTree>,
    /// Hash of everything but the graph.
    pub body_hash: u64,
    /// The resources that the unit inherits from, nearest first, and its models.
    pub bases: Vec<String>,
    /// Names that more than one node of its models has. These names cannot be used as references.
    pub duplicate_names: Vec<String>,
    /// Settings of the engine's components, which every spawn copies.
    pub template: UnitTemplate,
}

/// Returns the hash of a unit's tree without its graph.
fn body_hash(tree: &SjsonTree) -> u64 {
    match tree {
        SjsonTree::Object(entries) => {
            entries.iter().filter(|(name, _)| name != "flow").fold(0, add_entry)
        }
        _ => 0,
    }
}

/// Adds an entry to the hash of an object, which does not depend on the order of its entries.
fn add_entry(hash: u64, (name, value): &(String, SjsonTree)) -> u64 {
    let value = match value {
        SjsonTree::Object(entries) => entries.iter().fold(1, add_entry),
        other => murmur64a(json::write(other).as_bytes(), 2),
    };
    hash.wrapping_add(murmur64a(name.as_bytes(), value))
}

impl UnitResource {
    fn of(name: &str, tree: &SjsonTree) -> Result<UnitResource, Error> {
        let mut unit = UnitResource {
            name: name.to_string(),
            node_names: vec!["root".to_string()],
            node_hashes: Vec::new(),
            parents: vec![NO_NODE],
            poses: vec![NodePose::IDENTITY],
            parts: Vec::new(),
            data: tree.get("data").cloned().unwrap_or(SjsonTree::Object(Vec::new())),
            flow: tree.get("flow").cloned(),
            body_hash: body_hash(tree),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: UnitTemplate::default(),
        };
        let nodes = match tree.get("nodes") {
            Some(SjsonTree::Object(nodes)) => &nodes[..],
            _ => &[],
        };
        if let Some((_, fields)) = nodes.iter().find(|(node, _)| node == "root") {
            unit.poses[0] = pose(fields);
        }
        // Checked before the nodes are sorted.
        if nodes.len() > UNIT_NODES_MAX {
            return Err(too_many_nodes(nodes.len()));
        }
        for (node, parent) in parents_first(nodes)? {
            let (name, fields) = &nodes[node];
            unit.node_names.push(name.clone());
            unit.parents.push(parent);
            unit.poses.push(pose(fields));
        }
        if unit.parents.len() > UNIT_NODES_MAX {
            return Err(too_many_nodes(unit.parents.len()));
        }
        if let Some((one, other)) = find_collision(unit.node_names.iter().map(String::as_str)) {
            return Err(engine_foundation::error!("{}", clash_message(one, other)));
        }
        check_positions(&unit)?;
        unit.node_hashes = unit.node_names.iter().map(|name| IdString32::new(name)).collect();
        Ok(unit)
    }

    fn with_parts(mut self, tree: &SjsonTree) -> Result<UnitResource, Error> {
        if let Some(SjsonTree::Object(parts)) = tree.get("components") {
            component::check_count(parts.len()).map_err(Error::new)?;
            let nodes: HashSet<&str> = self.node_names.iter().map(String::as_str).collect();
            for (name, fields) in parts {
                let component = match fields.get("component") {
                    Some(SjsonTree::String(component)) => component.clone(),
                    _ => name.clone(),
                };
                let node = fields.get("node");
                if let Some(SjsonTree::String(node)) = node
                    && !nodes.contains(node.as_str())
                {
                    let near = suggest::hint(node, self.node_names.iter().map(String::as_str));
                    return Err(engine_foundation::error!(
                        "component '{name}' names the node '{node}', which does not exist{near}"
                    ));
                }
                self.parts.push(ComponentSource {
                    name: name.clone(),
                    component,
                    fields: fields.clone(),
                });
            }
        }
        // The result must not depend on the order in the file.
        self.parts.sort_compact_by(|a, b| (&a.component, &a.name).cmp(&(&b.component, &b.name)));
        Ok(self)
    }

    /// Returns the index of a node, found by the hash of its name.
    pub fn node(&self, name: &str) -> Option<usize> {
        let hash = IdString32::new(name);
        self.node_hashes.iter().position(|known| *known == hash)
    }
}

fn too_many_nodes(count: usize) -> Error {
    engine_foundation::error!(
        "{count} nodes are more than a unit can have (UNIT_NODES_MAX is {UNIT_NODES_MAX})"
    )
}

/// Refuses nodes with an infinite world transform: combined poses of parents and children may
/// exceed the range of floats.
fn check_positions(unit: &UnitResource) -> Result<(), Error> {
    let mut world: Vec<Mat4> = Vec::with_capacity(unit.poses.len());
    for (node, pose) in unit.poses.iter().enumerate() {
        let above = world.get(unit.parents[node] as usize).copied();
        let matrix = above.map_or(pose.matrix(), |above| above * pose.matrix());
        if !matrix.is_finite() {
            return Err(engine_foundation::error!(
                "node '{}' is nowhere: its position and scale, with those of its parents, are \
                 larger than numbers can be: make them smaller",
                unit.node_names[node]
            ));
        }
        world.push(matrix);
    }
    Ok(())
}

pub(super) fn clash_message(one: &str, other: &str) -> String {
    let hash = IdString32::new(one);
    format!("the nodes '{one}' and '{other}' have the same hash {hash}: rename one")
}

fn numbers<const N: usize>(tree: Option<&SjsonTree>) -> Option<[f32; N]> {
    let Some(SjsonTree::Array(items)) = tree else { return None };
    let mut out = [0.0; N];
    if items.len() != N {
        return None;
    }
    for (slot, item) in out.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    Some(out)
}

/// Returns the pose of a node from fields that the compiler has validated. A rotation of three
/// numbers turns about x, then y, then z, in degrees.
pub fn pose(fields: &SjsonTree) -> NodePose {
    let rotation = fields.get("rotation");
    let angles = numbers::<3>(rotation).map(|angles| {
        let [x, y, z] = angles.map(f32::to_radians);
        Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
    });
    let exact = || numbers::<4>(rotation).map(|q| Quat::from_array(q).normalize());
    let scale = match fields.get("scale") {
        Some(SjsonTree::Number(all)) => Some(Vec3::splat(*all as f32)),
        scale => numbers(scale).map(Vec3::from_array),
    };
    NodePose {
        position: numbers(fields.get("position")).map_or(Vec3::ZERO, Vec3::from_array),
        rotation: angles.or_else(exact).unwrap_or(Quat::IDENTITY),
        scale: scale.unwrap_or(Vec3::ONE),
    }
}

#[cfg(test)]
mod tests {
    use super::inheritance::{check_taken, merge};
    use super::*;
    use engine_foundation::sjson;
    use engine_resource::data_resources::read_tree;
    use engine_resource::resource_kind::CompileContext;
    use engine_resource::resource_name::ResourceName;

    fn compiled(text: &str) -> Result<(UnitResource, Vec<String>), String> {
        let read = |_: &str| Err(engine_foundation::error!("no other file"));
        let (name, bytes) = (ResourceName::new("unit", "x"), text.as_bytes().to_vec());
        let mut compiling =
            CompileContext::new(name, "x.unit".to_string(), SourceForm::Own, bytes, false, &read);
        let data = compile(&mut compiling).map_err(|error| error.message)?;
        let tree = read_tree(&data).map_err(|error| error.message)?;
        let unit = UnitResource::of("x", &tree).and_then(|unit| unit.with_parts(&tree));
        let named = compiling.references.iter().map(ToString::to_string).collect();
        Ok((unit.map_err(|error| error.message)?, named))
    }

    #[test]
    fn the_order_of_nodes_in_the_file_does_not_matter() {
        let parts = ["health = { max = 3 }", "eye = { component = \"camera\", node = \"b\" }"];
        let nodes = ["a = { parent = \"b\" }", "b = { position = [1, 2, 3], scale = 2 }"];
        let text = |first: usize| {
            format!(
                "nodes = {{ {} {} }}\ncomponents = {{ {} {} }}",
                nodes[first],
                nodes[1 - first],
                parts[first],
                parts[1 - first]
            )
        };
        let (one, named) = compiled(&text(0)).unwrap();
        assert_eq!(one, compiled(&text(1)).unwrap().0);
        assert_eq!(one.node_names, ["root", "b", "a"]);
        assert_eq!((one.parents[2], one.poses[1].scale), (1, Vec3::splat(2.0)));
        let parts: Vec<_> = one.parts.iter().map(|part| part.component.as_str()).collect();
        assert_eq!(parts, ["camera", "health"]);
        assert_eq!(named, ["components/health.lua"]);
    }

    #[test]
    fn a_changed_component_of_a_model_is_no_script() {
        let (_, named) = compiled(
            "model = \"m\" components = { Lid = { material = \"rust\" } \
             own = { component = \"own\" } }",
        )
        .unwrap();
        assert_eq!(named, ["m.model", "components/Lid.", "rust.", "components/own.lua"]);
    }

    #[test]
    fn invalid_sources_are_refused_with_location_and_reason() {
        let check = |text: &str, message: &str| assert_eq!(compiled(text).unwrap_err(), message);
        check("nodees = {}", "x.unit:1: unknown key 'nodees', did you mean 'nodes'?");
        check("inherit = 3", "x.unit:1: 'inherit' must be the name of a unit");
        check(
            "nodes = {\n  eye_lamp_97 = {}\n  foot_wing_428 = {}\n}",
            "x.unit:3: the nodes 'eye_lamp_97' and 'foot_wing_428' have the same hash 77099034: \
             rename one",
        );
        check("data = 3", "x.unit:1: 'data' must be a block: data = { material = \"wood\" }");
        check(
            "nodes = [\"lid\"]",
            "x.unit:1: 'nodes' must be a block: nodes = { lid = { position = [0, 0, 1] } }",
        );
        check(
            "nodes = {\n  lid = { positon = [0, 0, 1] }\n}",
            "x.unit:2: node 'lid' has the unknown field 'positon', did you mean 'position'?",
        );
        check(
            "nodes = { lid = { position = [0, 1] } }",
            "x.unit:1: 'position' of node 'lid' must be three numbers, in metres",
        );
        for number in ["1e300", "-1e39"] {
            check(
                &format!("nodes = {{ lid = {{ position = [0, {number}, 0] }} }}"),
                &format!(
                    "x.unit:1: 'position' of node 'lid' has {number}: numbers are at most \
                     3.4028235e38 here"
                ),
            );
        }
        check(
            "nodes = { lid = { rotation = [0, 0, 0, 0] } }",
            "x.unit:1: 'rotation' of node 'lid' must be three angles in degrees, or the four \
             numbers of a quaternion, not all of them 0",
        );
        check(
            "nodes = { root = { scale = 1e300 } }",
            "x.unit:1: 'scale' of node 'root' has 1e300: numbers are at most 3.4028235e38 here",
        );
        check(
            "nodes = { lid = { rotation = [1e30, 0, 0, 1e30] } }",
            "x.unit:1: 'rotation' of node 'lid' must be three angles in degrees, or the four \
             numbers of a quaternion, not all of them 0",
        );
        check(
            "nodes = { a = { scale = 1e30 } b = { parent = \"a\" position = [0, 1e30, 0] } }",
            "node 'b' is nowhere: its position and scale, with those of its parents, are larger \
             than numbers can be: make them smaller",
        );
        check(
            "nodes = { root = { parent = \"a\" } a = {} }",
            "x.unit:1: the node 'root' belongs to the unit and has no parent: leave out its parent",
        );
        check(
            "nodes = { body = {} lid = { parent = \"bdoy\" } grip = { parent = \"lid\" } }",
            "node 'lid' has the parent 'bdoy', which does not exist, did you mean 'body'?: name \
             another node, or leave 'parent' out for the root",
        );
        check(
            "nodes = { d = { parent = \"a\" } a = { parent = \"b\" } b = { parent = \"a\" } }",
            "nodes are each other's parents: a → b → a: leave out one 'parent'",
        );
    }

    #[test]
    fn invalid_components_are_refused_with_location_and_reason() {
        let check = |text: &str, message: &str| assert_eq!(compiled(text).unwrap_err(), message);
        check(
            "components = { light = { intensity = 1e300 } }",
            "x.unit:1: 'intensity' of 'light' has 1e300: numbers are at most 3.4028235e38 here",
        );
        check(
            "components = { camera = { verical_fov = 50 } }",
            "x.unit:1: 'camera' has the unknown field 'verical_fov' for a camera, did you mean \
             'vertical_fov'?",
        );
        check(
            "components = { eye = { component = \"camera\", projection = \"flat\" } }",
            "x.unit:1: 'projection' of 'eye' must be one of perspective, orthographic, got 'flat': \
             type of projection (perspective)",
        );
        check(
            "nodes = { lid = {} }\ncomponents = { camera = { node = \"lit\" } }",
            "component 'camera' names the node 'lit', which does not exist, did you mean 'lid'?",
        );
    }

    #[test]
    fn a_long_chain_of_nodes_is_read_in_any_order() {
        let count = UNIT_NODES_MAX - 1;
        let node = |at: usize| match at {
            0 => "n0 = {}".to_string(),
            _ => format!("n{at} = {{ parent = \"n{}\" }}", at - 1),
        };
        let text = (0..count).rev().map(node).collect::<Vec<_>>().join("\n");
        let (unit, _) = compiled(&format!("nodes = {{ {text} }}")).unwrap();
        assert_eq!(unit.parents.len(), UNIT_NODES_MAX);
        assert_eq!(unit.node_names[count], format!("n{}", count - 1));
    }

    #[test]
    fn fields_of_flat_components_are_suggested() {
        let check = |text: &str, message: &str| assert_eq!(compiled(text).unwrap_err(), message);
        check(
            "components = { hero = { component = \"sprite\", shete = \"hero\" } }",
            "x.unit:1: 'hero' has the unknown field 'shete' for a sprite, did you mean 'sheet'?",
        );
        check(
            "components = { tilemap = { mpa = \"cave\" } }",
            "x.unit:1: 'tilemap' has the unknown field 'mpa' for a tilemap, did you mean 'map'?",
        );
    }

    #[test]
    fn removed_components_must_exist() {
        let tree = |text: &str| sjson::parse(text).unwrap().to_tree();
        let base = tree(
            "components = { lamp = { range = 3 node = \"a\" } gone = null } \
             data = { a = { b = 1 } }",
        );
        let taken = |text: &str| check_taken(&base, &tree(text)).map_err(|error| error.message);
        taken("components = { lamp = { range = null node = null } } data = { a = { b = null } }")
            .unwrap();
        taken("components = { lamp = null } data = { a = null, c = 3 }").unwrap();
        let expected = |path: &str, near: &str| {
            format!(
                "'{path}' is null, which removes what is inherited, and nothing of that name is \
                 inherited{near}"
            )
        };
        for (text, path, near) in [
            ("components = { lmap = null }", "components.lmap", ", did you mean 'lamp'?"),
            (
                "components = { lamp = { rnage = null } }",
                "components.lamp.rnage",
                ", did you mean 'range'?",
            ),
            ("components = { gone = null }", "components.gone", ""),
            ("data = { a = { bb = null } }", "data.a.bb", ", did you mean 'b'?"),
            ("data = { list = null }", "data.list", ""),
        ] {
            assert_eq!(taken(text).unwrap_err(), expected(path, near), "{text}");
        }
    }

    #[test]
    fn fields_are_overridden_one_by_one() {
        let tree = |text: &str| sjson::parse(text).unwrap().to_tree();
        let mut base = tree("a = { x = 1, list = [1, 2] } b = 2");
        merge(&mut base, &tree("a = { x = 5, list = [3] } c = 3"));
        assert_eq!(base, tree("a = { x = 5, list = [3] } b = 2 c = 3"));
    }
}
