//! Reading of a unit's resource from its file, the files that it inherits from, and its model. The
//! model is loaded by the engine, between the two steps of [`UnitReader`].

use super::UnitResource;
use super::inheritance::{check_merged, check_taken, merge, take_away};
use crate::model_resource;
use crate::unit_template::UnresolvedUnit;
use engine_foundation::Error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_models::{Model, primitives};
use engine_resource::data_resources::read_tree;
use engine_resource::panic_report::contain;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;

/// Units embedded in the engine. A resource of the same name in the game's folder takes precedence.
const CORE_UNITS: &[(&str, &str)] = &[
    ("core/units/empty", include_str!("../../../core/units/empty.unit")),
    ("core/units/camera", include_str!("../../../core/units/camera.unit")),
    ("core/units/light", include_str!("../../../core/units/light.unit")),
    ("core/units/light_occluder", include_str!("../../../core/units/light_occluder.unit")),
    ("core/units/decal", include_str!("../../../core/units/decal.unit")),
    ("core/units/sun", include_str!("../../../core/units/sun.unit")),
    ("core/units/cube", include_str!("../../../core/units/cube.unit")),
    ("core/units/sphere", include_str!("../../../core/units/sphere.unit")),
    ("core/units/plane", include_str!("../../../core/units/plane.unit")),
    ("core/units/cylinder", include_str!("../../../core/units/cylinder.unit")),
    ("core/units/capsule", include_str!("../../../core/units/capsule.unit")),
    ("core/units/cone", include_str!("../../../core/units/cone.unit")),
    ("core/units/torus", include_str!("../../../core/units/torus.unit")),
];

/// Returns true if a unit is embedded in the engine.
pub fn is_built_in_unit(name: &str) -> bool {
    CORE_UNITS.iter().any(|(known, _)| *known == name)
}

/// Maximum depth of inheritance.
pub const INHERIT_MAX: usize = 16;

/// A unit whose files have been read, and whose model is needed to continue.
pub struct UnitReader {
    name: String,
    /// The unit's file and those that it inherits from, nearest first.
    trees: Vec<SjsonTree>,
    /// Names of the files that it inherits from, nearest first.
    bases: Vec<String>,
    /// Index of the nearest tree with a model, which replaces inherited models like every other
    /// field.
    modelled: Option<usize>,
    merged: SjsonTree,
}

impl UnitReader {
    /// Reads a unit's file, and those that it inherits from.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, or if the inheritance is circular.
    pub fn open(store: &mut ResourceStore, name: &str) -> Result<UnitReader, Error> {
        engine_foundation::owner!("resources/units");
        let mut trees = vec![source(store, name)?];
        let mut bases: Vec<String> = Vec::new();
        while let Some(SjsonTree::String(base)) = trees[trees.len() - 1].get("inherit") {
            let base = base.clone();
            if base == name || bases.contains(&base) || bases.len() == INHERIT_MAX {
                let chain = [&[name.to_string()], &bases[..], &[base]].concat().join(" → ");
                return Err(engine_foundation::error!(
                    "units inherit in a circle, or more than {INHERIT_MAX} deep: {chain}"
                ));
            }
            let heir = bases.last().map_or(name, String::as_str);
            let tree = source(store, &base).map_err(|error| {
                engine_foundation::error!("unit '{heir}' inherits from '{base}': {}", error.message)
            })?;
            trees.push(tree);
            bases.push(base);
        }
        let modelled = trees.iter().position(|tree| tree.get("model").is_some());
        let (name, merged) = (name.to_string(), SjsonTree::Object(Vec::new()));
        let mut reader = UnitReader { name, trees, bases, modelled, merged };
        // Nearer files are laid over the model.
        for at in (reader.own_trees()..reader.trees.len()).rev() {
            reader.merge_tree(at)?;
        }
        Ok(reader)
    }

    /// Returns the number of trees that are laid over the model, or 0 without a model.
    fn own_trees(&self) -> usize {
        self.modelled.map_or(0, |nearest| nearest + 1)
    }

    /// Returns the name of the unit's model, which [`UnitReader::finish`] needs.
    pub fn model(&self) -> Option<&str> {
        match self.trees[self.modelled?].get("model") {
            Some(SjsonTree::String(model)) => Some(model),
            _ => None,
        }
    }

    /// Merges the files with the model, and reads the unit's nodes and components.
    ///
    /// # Errors
    /// Returns an error if the files contradict each other or the model.
    pub fn finish(mut self, model: Option<&Model>) -> Result<UnresolvedUnit, Error> {
        engine_foundation::owner!("resources/units");
        let mut duplicate_names: Vec<String> = Vec::new();
        if let (Some(model), Some(nearest)) = (model, self.modelled) {
            merge(&mut self.merged, &model_resource::tree(model));
            duplicate_names.extend(model.data.duplicate_names.iter().cloned());
            check_names(&self.trees[nearest], model)?;
            self.bases.push(model.name.clone());
        }
        for at in (0..self.own_trees()).rev() {
            self.merge_tree(at)?;
        }
        let UnitReader { name, trees, mut bases, modelled, mut merged } = self;
        bases.retain(|base| *base != name);
        take_away(&mut merged);
        let laid_over = (trees.len() > 1 || modelled.is_some())
            && trees.iter().any(|tree| tree.get("components").is_some());
        if laid_over {
            check_merged(&merged).map_err(|error| {
                engine_foundation::error!("unit '{name}' with what it inherits: {}", error.message)
            })?;
        }
        let unit = UnitResource { bases, duplicate_names, ..UnitResource::of(&name, &merged)? };
        unit.with_parts(&merged).map(UnresolvedUnit::read)
    }

    /// Lays a tree over the trees that it inherits from.
    fn merge_tree(&mut self, at: usize) -> Result<(), Error> {
        let tree = &self.trees[at];
        // An inherited file may refer to a model that a nearer one has replaced.
        let replaced = self.modelled.is_some_and(|nearest| nearest < at)
            && self.trees[at..].iter().any(|tree| tree.get("model").is_some());
        if !replaced {
            check_taken(&self.merged, tree).map_err(|error| {
                let heir = at.checked_sub(1).map_or(&self.name, |at| &self.bases[at]);
                engine_foundation::error!("unit '{heir}': {}", error.message)
            })?;
        }
        merge(&mut self.merged, tree);
        Ok(())
    }
}

fn source(store: &mut ResourceStore, name: &str) -> Result<SjsonTree, Error> {
    let resource = ResourceName::new(kind_names::UNIT, name);
    // A compile also depends on the absence of a resource.
    store.record_request(&resource);
    let core = CORE_UNITS.iter().find(|(known, _)| *known == name);
    match core.filter(|_| !store.has(&resource)) {
        Some((_, text)) => Ok(sjson::parse(text).expect("the engine's own are right").to_tree()),
        None => {
            let is_shape = primitives::NAMES.contains(&name);
            let is_model = is_shape || store.has(&ResourceName::new(kind_names::MODEL, name));
            if is_model && !store.has(&resource) {
                // A model can replace a unit that consists of the model alone.
                return Ok(SjsonTree::Object(vec![(
                    "model".into(),
                    SjsonTree::String(name.into()),
                )]));
            }
            if !store.has(&resource) {
                let units: Vec<&str> = CORE_UNITS.iter().map(|(unit, _)| *unit).collect();
                return Err(Error::new(store.missing_among_message(&resource, &units)));
            }
            let bytes = store.read(&resource)?;
            contain(&resource, || read_tree(&bytes))
        }
    }
}

/// Refuses a file that refers to a node of its model by a name that two nodes have.
fn check_names(tree: &SjsonTree, model: &Model) -> Result<(), Error> {
    let entries = |key: &str| match tree.get(key) {
        Some(SjsonTree::Object(entries)) => &entries[..],
        _ => &[],
    };
    let text = |tree: Option<&SjsonTree>| match tree {
        Some(SjsonTree::String(text)) => Some(text.clone()),
        _ => None,
    };
    let nodes = entries("nodes").iter();
    let named = nodes.flat_map(|(node, fields)| [Some(node.clone()), text(fields.get("parent"))]);
    let parts = entries("components").iter().map(|(_, fields)| text(fields.get("node")));
    for name in named.chain(parts).flatten() {
        if let Some(message) = model_resource::ambiguous(&model.name, &model.data, &name) {
            return Err(Error::new(message));
        }
    }
    Ok(())
}
