//! The kind `unit`: which nodes and components a unit is made of, and its data. Compiled data is
//! the checked text as a tree; a resource is made of it when the first unit is spawned, with what
//! it inherits. Knows the components' names and fields, and not what they do.

use super::component;
use super::mesh_part::Seen;
use super::model;
use super::scene::{NO_NODE, Pose, UNIT_NODES_MAX};
use crate::foundation::hash::{IdString32, clash};
use crate::foundation::sjson::{self, Tree, Value};
use crate::foundation::{Error, Quat, Vec3, suggest};
use crate::resource::data_kinds::{read_tree, write_tree};
use crate::resource::kind::{Compiling, Form, Kind};
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use crate::system::models::{Model, shapes};
use std::sync::Arc;

/// Units.
pub static UNIT: Kind = Kind {
    name: "unit",
    words: "What a unit is made of: a model, nodes, components, data",
    extensions: &[("unit", Form::Own)],
    version: 1,
    compile,
};

/// Units that are in the engine: what a game's folder has under the same name wins.
const CORE_UNITS: &[(&str, &str)] = &[
    ("core/units/empty", include_str!("../../core/units/empty.unit")),
    ("core/units/camera", include_str!("../../core/units/camera.unit")),
    ("core/units/light", include_str!("../../core/units/light.unit")),
    ("core/units/sun", include_str!("../../core/units/sun.unit")),
    ("core/units/cube", include_str!("../../core/units/cube.unit")),
    ("core/units/sphere", include_str!("../../core/units/sphere.unit")),
    ("core/units/plane", include_str!("../../core/units/plane.unit")),
    ("core/units/cylinder", include_str!("../../core/units/cylinder.unit")),
    ("core/units/capsule", include_str!("../../core/units/capsule.unit")),
    ("core/units/cone", include_str!("../../core/units/cone.unit")),
    ("core/units/torus", include_str!("../../core/units/torus.unit")),
];

/// How many resources may inherit from each other in a row.
pub const INHERIT_MAX: usize = 16;

const KEYS: [&str; 5] = ["inherit", "model", "nodes", "components", "data"];
const NODE_KEYS: [&str; 4] = ["parent", "position", "rotation", "scale"];

/// A component as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// What the resource calls it.
    pub name: String,
    /// Which component it is.
    pub component: String,
    pub fields: Tree,
}

/// What units are made of, ready to be copied.
#[derive(Clone, PartialEq, Debug)]
pub struct UnitResource {
    /// The resource's name.
    pub name: String,
    /// Of each node, parents first.
    pub node_names: Vec<String>,
    pub node_hashes: Vec<IdString32>,
    /// Places in these lists, or [`NO_NODE`].
    pub parents: Vec<u32>,
    pub poses: Vec<Pose>,
    /// In the order in which their components are spawned and updated.
    pub parts: Vec<Part>,
    pub data: Tree,
    /// The resources that it inherits from, nearest first, and the models that it is made of.
    pub bases: Vec<String>,
    /// Names that more than one node of its models has: nobody can mean one of them.
    pub twice: Vec<String>,
    /// What of it is seen: filled in above, where models and materials are known.
    pub seen: Seen,
}

/// Loads a model by its name.
pub type LoadModel<'a> = &'a mut dyn FnMut(&mut Store, &str) -> Result<Arc<Model>, Error>;

impl UnitResource {
    /// Reads a unit's resource, and those that it inherits from.
    ///
    /// # Errors
    /// One of them is missing or broken, or they inherit in a circle.
    pub fn read(store: &mut Store, name: &str, load: LoadModel) -> Result<UnitResource, Error> {
        crate::owner!("resources/units");
        let mut trees = vec![source(store, name)?];
        let mut bases: Vec<String> = Vec::new();
        while let Some(Tree::String(base)) = trees[trees.len() - 1].get("inherit") {
            let base = base.clone();
            if base == name || bases.contains(&base) || bases.len() == INHERIT_MAX {
                let chain = [&[name.to_string()], &bases[..], &[base]].concat().join(" → ");
                return Err(crate::error!(
                    "units inherit in a circle, or more than {INHERIT_MAX} deep: {chain}"
                ));
            }
            trees.push(source(store, &base)?);
            bases.push(base);
        }
        let mut merged = Tree::Object(Vec::new());
        let mut twice: Vec<String> = Vec::new();
        // The nearest model is in the place of those that are inherited, as every field is.
        let modelled = trees.iter().position(|tree| tree.get("model").is_some());
        for (at, tree) in trees.iter().enumerate().rev() {
            let model = tree.get("model").filter(|_| modelled == Some(at));
            if let Some(Tree::String(model)) = model {
                let model = load(store, model)?;
                merge(&mut merged, &model::tree(&model));
                twice.extend(model.data.twice.iter().cloned());
                check_names(tree, &model)?;
                bases.push(model.name.clone());
            }
            merge(&mut merged, tree);
        }
        bases.retain(|base| base != name);
        UnitResource { bases, twice, ..UnitResource::of(name, &merged)? }.with_parts(&merged)
    }

    fn of(name: &str, tree: &Tree) -> Result<UnitResource, Error> {
        let mut unit = UnitResource {
            name: name.to_string(),
            node_names: vec!["root".to_string()],
            node_hashes: Vec::new(),
            parents: vec![NO_NODE],
            poses: vec![Pose::IDENTITY],
            parts: Vec::new(),
            data: tree.get("data").cloned().unwrap_or(Tree::Object(Vec::new())),
            bases: Vec::new(),
            twice: Vec::new(),
            seen: Seen::default(),
        };
        let nodes = match tree.get("nodes") {
            Some(Tree::Object(nodes)) => &nodes[..],
            _ => &[],
        };
        // Parents first, whatever the order of the file: rounds, until none can be placed.
        let mut waiting: Vec<&(String, Tree)> = nodes.iter().collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|(node, fields)| {
                let parent = match fields.get("parent") {
                    Some(Tree::String(parent)) => parent,
                    _ => "root",
                };
                if node == "root" {
                    unit.poses[0] = pose(fields);
                    return false;
                }
                let place = unit.node_names.iter().position(|known| known == parent);
                let Some(place) = place else { return true };
                unit.node_names.push(node.clone());
                unit.parents.push(place as u32);
                unit.poses.push(pose(fields));
                false
            });
            if waiting.len() == before {
                return Err(lost(&waiting, nodes));
            }
        }
        if unit.parents.len() > UNIT_NODES_MAX {
            let count = unit.parents.len();
            return Err(crate::error!(
                "{count} nodes are more than a unit can have (UNIT_NODES_MAX is {UNIT_NODES_MAX})"
            ));
        }
        if let Some((one, other)) = clash(unit.node_names.iter().map(String::as_str)) {
            return Err(crate::error!("{}", clash_words(one, other)));
        }
        unit.node_hashes = unit.node_names.iter().map(|name| IdString32::new(name)).collect();
        Ok(unit)
    }

    fn with_parts(mut self, tree: &Tree) -> Result<UnitResource, Error> {
        if let Some(Tree::Object(parts)) = tree.get("components") {
            for (name, fields) in parts {
                let component = match fields.get("component") {
                    Some(Tree::String(component)) => component.clone(),
                    _ => name.clone(),
                };
                let node = fields.get("node");
                if let Some(Tree::String(node)) = node
                    && !self.node_names.contains(node)
                {
                    let near = suggest::hint(node, self.node_names.iter().map(String::as_str));
                    return Err(crate::error!(
                        "component '{name}' names the node '{node}', which is not there{near}"
                    ));
                }
                self.parts.push(Part { name: name.clone(), component, fields: fields.clone() });
            }
        }
        // The order of the file must not matter.
        self.parts.sort_by(|a, b| (&a.component, &a.name).cmp(&(&b.component, &b.name)));
        Ok(self)
    }

    /// The place of a node by its name's hash.
    pub fn node(&self, name: &str) -> Option<usize> {
        let hash = IdString32::new(name);
        self.node_hashes.iter().position(|known| *known == hash)
    }
}

fn clash_words(one: &str, other: &str) -> String {
    let hash = IdString32::new(one);
    format!("the nodes '{one}' and '{other}' have the same hash {hash}: rename one")
}

/// What is wrong with nodes that hang on no root: a parent is missing, or they hang on each other.
fn lost(waiting: &[&(String, Tree)], nodes: &[(String, Tree)]) -> Error {
    let parent = |fields: &Tree| match fields.get("parent") {
        Some(Tree::String(parent)) => parent.clone(),
        _ => "root".to_string(),
    };
    let is_node = |name: &str| nodes.iter().any(|(node, _)| node == name);
    let missing = waiting.iter().find(|(_, fields)| !is_node(&parent(fields)));
    if let Some((node, fields)) = missing {
        let parent = parent(fields);
        let near = suggest::hint(&parent, nodes.iter().map(|(node, _)| node.as_str()));
        return crate::error!(
            "node '{node}' has the parent '{parent}', which is not there{near}: name another node, \
             or leave 'parent' out for the root"
        );
    }
    // All parents are there, so whoever goes up comes to where it was.
    let mut circle = vec![waiting[0].0.clone()];
    loop {
        let last = circle[circle.len() - 1].clone();
        let above = nodes.iter().find(|(node, _)| *node == last);
        let above = above.map_or("root".to_string(), |(_, fields)| parent(fields));
        if let Some(first) = circle.iter().position(|known| *known == above) {
            let circle = [&circle[first..], &[above]].concat().join(" → ");
            return crate::error!(
                "nodes are each other's parents: {circle}: leave out one 'parent'"
            );
        }
        circle.push(above);
    }
}

fn source(store: &mut Store, name: &str) -> Result<Tree, Error> {
    let resource = ResourceName::new("unit", name);
    let core = CORE_UNITS.iter().find(|(known, _)| *known == name);
    match core.filter(|_| !store.has(&resource)) {
        Some((_, text)) => Ok(sjson::parse(text).expect("the engine's own are right").to_tree()),
        None => {
            let is_shape = shapes::NAMES.contains(&name);
            let is_model = is_shape || store.has(&ResourceName::new("model", name));
            if is_model && !store.has(&resource) {
                // A model stands in for the unit that is made of it alone.
                return Ok(Tree::Object(vec![("model".into(), Tree::String(name.into()))]));
            }
            read_tree(&store.read(&resource)?)
        }
    }
}

/// Refuses a file that means a node of its model by a name that two of them have.
fn check_names(tree: &Tree, model: &Model) -> Result<(), Error> {
    let entries = |key: &str| match tree.get(key) {
        Some(Tree::Object(entries)) => &entries[..],
        _ => &[],
    };
    let text = |tree: Option<&Tree>| match tree {
        Some(Tree::String(text)) => Some(text.clone()),
        _ => None,
    };
    let nodes = entries("nodes").iter();
    let named = nodes.flat_map(|(node, fields)| [Some(node.clone()), text(fields.get("parent"))]);
    let parts = entries("components").iter().map(|(_, fields)| text(fields.get("node")));
    for name in named.chain(parts).flatten() {
        if let Some(words) = model::ambiguous(&model.name, &model.data, &name) {
            return Err(Error::new(words));
        }
    }
    Ok(())
}

/// Puts what `over` says over `base`: objects field by field, anything else as a whole.
fn merge(base: &mut Tree, over: &Tree) {
    match (base, over) {
        (Tree::Object(base), Tree::Object(over)) => {
            for (key, value) in over {
                match base.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => merge(known, value),
                    None => base.push((key.clone(), value.clone())),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

fn numbers<const N: usize>(tree: Option<&Tree>) -> Option<[f32; N]> {
    let Some(Tree::Array(items)) = tree else { return None };
    let mut out = [0.0; N];
    if items.len() != N {
        return None;
    }
    for (slot, item) in out.iter_mut().zip(items) {
        let Tree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    Some(out)
}

/// A node's pose, whose fields the compiler has checked. Three numbers turn about x, then y, then
/// z, in degrees.
pub fn pose(fields: &Tree) -> Pose {
    let rotation = fields.get("rotation");
    let angles = numbers::<3>(rotation).map(|angles| {
        let [x, y, z] = angles.map(f32::to_radians);
        Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
    });
    let exact = || numbers::<4>(rotation).map(|q| Quat::from_array(q).normalize());
    let scale = match fields.get("scale") {
        Some(Tree::Number(all)) => Some(Vec3::splat(*all as f32)),
        scale => numbers(scale).map(Vec3::from_array),
    };
    Pose {
        position: numbers(fields.get("position")).map_or(Vec3::ZERO, Vec3::from_array),
        rotation: angles.or_else(exact).unwrap_or(Quat::IDENTITY),
        scale: scale.unwrap_or(Vec3::ONE),
    }
}

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let at = |value: &Value, words: String| {
        crate::error!("{}:{}: {words}", compiling.path, value.line())
    };
    let mut named = Vec::new();
    let whole = ["inherit", "model"].iter().all(|base| document.root().get(base).is_none());
    for entry in document.root().entries().into_iter().flatten() {
        let (key, value) = (entry.key, entry.value);
        match key {
            "inherit" => match value.as_str() {
                Some(base) => named.push(("unit".to_string(), base.to_string())),
                None => return Err(at(&value, "'inherit' must be the name of a unit".into())),
            },
            "model" => match value.as_str() {
                Some(name) if name.starts_with("core/") => {}
                Some(name) => named.push(("model".to_string(), name.to_string())),
                None => return Err(at(&value, "'model' must be the name of a model".into())),
            },
            "nodes" => check_nodes(&value).map_err(|(value, words)| at(&value, words))?,
            "components" => {
                component::check(&value, whole, &mut named)
                    .map_err(|(value, words)| at(&value, words))?;
            }
            "data" if value.entries().is_none() => {
                let words = "'data' must be a block: data = { material = \"wood\" }";
                return Err(at(&value, words.into()));
            }
            "data" => {}
            _ => {
                let hint = suggest::hint(key, KEYS);
                return Err(at(&value, format!("unknown key '{key}'{hint}")));
            }
        }
    }
    let tree = document.to_tree();
    drop(document);
    for (kind, name) in named {
        compiling.refer(&kind, &name);
    }
    Ok(write_tree(&tree))
}

/// Whether a value is a list of numbers, as many as one of `counts` says.
pub fn are_numbers(value: Value, counts: &[usize]) -> bool {
    value.items().is_some_and(|items| counts.contains(&items.len()))
        && value.items().into_iter().flatten().all(|item| item.as_f32().is_some())
}

/// What a field of a pose must be, where it is not that.
pub fn must_be(key: &str, value: Value) -> Option<&'static str> {
    let turns = || {
        let mut items = value.items().into_iter().flatten();
        are_numbers(value, &[3])
            || are_numbers(value, &[4])
                && items.any(|item| item.as_f32().is_some_and(|part| part.abs() > 1e-3))
    };
    match key {
        "position" if !are_numbers(value, &[3]) => Some("three numbers, in metres"),
        "rotation" if !turns() => {
            Some("three angles in degrees, or the four numbers of a quaternion, not all of them 0")
        }
        "scale" if value.as_f32().is_none() && !are_numbers(value, &[3]) => {
            Some("one number, or three")
        }
        _ => None,
    }
}

fn check_nodes<'a>(nodes: &Value<'a>) -> Result<(), (Value<'a>, String)> {
    let must = "'nodes' must be a block: nodes = { lid = { position = [0, 0, 1] } }";
    let entries: Vec<_> = nodes.entries().ok_or_else(|| (*nodes, must.to_string()))?.collect();
    let names = entries.iter().map(|node| node.key);
    if let Some((one, other)) = clash(std::iter::once("root").chain(names)) {
        let at = entries.iter().find(|node| node.key == other);
        return Err((at.map_or(*nodes, |node| node.value), clash_words(one, other)));
    }
    for node in entries {
        let name = node.key;
        let words = format!("node '{name}' must be a block: {name} = {{ position = [0, 0, 1] }}");
        for field in node.value.entries().ok_or((node.value, words))? {
            let (key, value) = (field.key, field.value);
            let must = match key {
                "parent" if value.as_str().is_none() => Some("the name of a node"),
                "parent" if name == "root" => {
                    let words = "the node 'root' is the unit's own and hangs on no other: leave \
                                 out its parent";
                    return Err((value, words.to_string()));
                }
                key => must_be(key, value),
            };
            if let Some(must) = must {
                return Err((value, format!("'{key}' of node '{name}' must be {must}")));
            }
            if !NODE_KEYS.contains(&key) {
                let hint = suggest::hint(key, NODE_KEYS);
                return Err((value, format!("node '{name}' has the unknown field '{key}'{hint}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(text: &str) -> Result<(UnitResource, Vec<String>), String> {
        let read = |_: &str| Err(crate::error!("no other file"));
        let (name, bytes) = (ResourceName::new("unit", "x"), text.as_bytes().to_vec());
        let mut compiling =
            Compiling::new(name, "x.unit".to_string(), Form::Own, bytes, false, &read);
        let data = compile(&mut compiling).map_err(|error| error.message)?;
        let tree = read_tree(&data).map_err(|error| error.message)?;
        let unit = UnitResource::of("x", &tree).and_then(|unit| unit.with_parts(&tree));
        let named = compiling.references.iter().map(ToString::to_string).collect();
        Ok((unit.map_err(|error| error.message)?, named))
    }

    #[test]
    fn the_order_of_the_file_does_not_matter() {
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
    fn what_cannot_be_says_where_and_why() {
        let check = |text: &str, words: &str| assert_eq!(compiled(text).unwrap_err(), words);
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
        for position in ["[1e300, 0, 0]", "[0, -1e39, 0]"] {
            check(
                &format!("nodes = {{ lid = {{ position = {position} }} }}"),
                "x.unit:1: 'position' of node 'lid' must be three numbers, in metres",
            );
        }
        check(
            "nodes = { lid = { rotation = [0, 0, 0, 0] } }",
            "x.unit:1: 'rotation' of node 'lid' must be three angles in degrees, or the four \
             numbers of a quaternion, not all of them 0",
        );
        check(
            "nodes = { root = { scale = 1e300 } }",
            "x.unit:1: 'scale' of node 'root' must be one number, or three",
        );
        check(
            "nodes = { root = { parent = \"a\" } a = {} }",
            "x.unit:1: the node 'root' is the unit's own and hangs on no other: leave out its \
             parent",
        );
        check(
            "nodes = { body = {} lid = { parent = \"bdoy\" } grip = { parent = \"lid\" } }",
            "node 'lid' has the parent 'bdoy', which is not there, did you mean 'body'?: name \
             another node, or leave 'parent' out for the root",
        );
        check(
            "nodes = { d = { parent = \"a\" } a = { parent = \"b\" } b = { parent = \"a\" } }",
            "nodes are each other's parents: a → b → a: leave out one 'parent'",
        );
        check(
            "components = { light = { intensity = 1e300 } }",
            "x.unit:1: 'intensity' of 'light' must be a number: how bright: with 1, a white wall \
             one metre away sends the colour back",
        );
        check(
            "components = { camera = { verical_fov = 50 } }",
            "x.unit:1: 'camera' has the unknown field 'verical_fov' for a camera, did you mean \
             'vertical_fov'?",
        );
        check(
            "components = { eye = { component = \"camera\", projection = \"flat\" } }",
            "x.unit:1: 'projection' of 'eye' must be one of perspective, orthographic: how depth \
             is shown",
        );
        check(
            "nodes = { lid = {} }\ncomponents = { camera = { node = \"lit\" } }",
            "component 'camera' names the node 'lit', which is not there, did you mean 'lid'?",
        );
    }

    #[test]
    fn fields_of_flat_components_are_suggested() {
        let check = |text: &str, words: &str| assert_eq!(compiled(text).unwrap_err(), words);
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
    fn fields_are_overridden_one_by_one() {
        let tree = |text: &str| sjson::parse(text).unwrap().to_tree();
        let mut base = tree("a = { x = 1, list = [1, 2] } b = 2");
        merge(&mut base, &tree("a = { x = 5, list = [3] } c = 3"));
        assert_eq!(base, tree("a = { x = 5, list = [3] } b = 2 c = 3"));
    }
}
