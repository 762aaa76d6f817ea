//! Graphs of a game for tools and commands: reading and writing of their sources, validation, and
//! explanations. Graphs that run are in src/engine/flow.rs.

mod event_sources;
mod renames;

use super::App;
use crate::check::describe;
use crate::{Game, GameLaunch};
use engine_flow::{
    GraphOwner, GraphSource, InputSource, NodePins, OldNames, Problem, ProgramSize, check, compile,
    explain, follow,
};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, error, log};
use engine_resource::data_resources::read_tree;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_runtime::built_in_resources::is_built_in;
use engine_script::ScriptValue;
use engine_world::unit_resource::changed_graph;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use engine_flow::difference_svg;

/// Kinds of resources that can have a graph.
pub const GRAPH_KINDS: [&str; 3] = [kind_names::FLOW, kind_names::UNIT, kind_names::LEVEL];

/// The source of a graph in a file.
pub struct GraphFile {
    pub resource: ResourceName,
    /// Path in the game's folder.
    pub path: String,
    /// Text of the whole file.
    pub text: String,
    /// The graph; empty if the file has none.
    pub tree: SjsonTree,
    /// Names of the units of a level.
    pub units: Vec<String>,
    /// The graph that a unit inherits, which the graph of the file changes.
    pub inherited: Option<SjsonTree>,
    /// Name of the unit that has the inherited graph.
    pub base: Option<String>,
    /// Name of the `.flow` file that the unit or level uses in place of a graph of its own.
    pub shared: Option<String>,
}

impl GraphFile {
    /// Returns the key of the graph in the file; empty if the whole file is the graph.
    pub fn block(&self) -> &'static str {
        if self.resource.kind == kind_names::FLOW { "" } else { "flow" }
    }

    /// Returns the owner of the graph.
    pub fn owner(&self) -> GraphOwner<'_> {
        match self.resource.kind.as_str() {
            kind_names::LEVEL => GraphOwner::Level(&self.units),
            _ => GraphOwner::Unit,
        }
    }
}

/// Result of the validation of a source.
pub struct Validated {
    pub problems: Vec<Problem>,
    /// Inputs that name resources that do not exist. The graph runs nevertheless.
    pub missing: Vec<Problem>,
    /// Ids of nodes with dynamic pins, with these pins.
    pub pins: Vec<(String, NodePins)>,
    pub size: Option<ProgramSize>,
    /// The source with the new names of pins, if it uses old ones.
    pub renamed: Option<SjsonTree>,
}

/// Returns true if a tool may create a file of this name: folders and a name of letters, digits, _
/// and -, so that it stays in the game's folder.
fn is_new_name(resource: &ResourceName) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let mut parts = resource.name.split('/');
    resource.kind == kind_names::FLOW && parts.all(|it| !it.is_empty() && it.chars().all(is_plain))
}

/// Returns true if a file with a graph was created in the folder.
fn is_new_graph(resource: &ResourceName, folder: &Path, path: &str) -> bool {
    is_new_name(resource) && folder.join(path).is_file()
}

impl App {
    /// Returns the game's folder, if the game runs from one.
    pub(crate) fn game_folder(&mut self) -> Option<PathBuf> {
        self.vm.engine().game.project.folder().map(Path::to_path_buf)
    }

    /// Adds the node types of functions and of the game, if no graph has needed them yet. Each file
    /// of the game has its own time, so that one that never returns does not affect the others.
    pub fn ready_flow(&mut self) {
        let modules = match self.vm.call_core("begin_node_types", &[], self.init_seconds) {
            Ok(ScriptValue::List(modules)) => modules,
            Ok(_) => return,
            Err(report) => return log::error(&describe(&report)),
        };
        for module in modules {
            if let Err(report) = self.vm.call_core("add_node_module", &[module], self.init_seconds)
            {
                log::error(&describe(&report));
            }
        }
    }

    /// Reads the source of a graph from its file.
    ///
    /// # Errors
    /// Returns an error if there is no such resource, or if its file cannot be read.
    pub fn read_graph(&mut self, name: &str) -> Result<GraphFile, Error> {
        let resource = ResourceName::parse(name)
            .filter(|resource| GRAPH_KINDS.contains(&resource.kind.as_str()))
            .ok_or_else(|| {
                error!("'{name}' is not the name of a graph, such as graphs/door.flow")
            })?;
        let folder = self.game_folder().ok_or_else(|| error!("a bundle has no sources"))?;
        // A new graph may not be in the index yet.
        let new = || Some(name.to_string()).filter(|path| is_new_graph(&resource, &folder, path));
        let path = self.vm.engine().assets.store.path(&resource).or_else(new);
        let path = path.ok_or_else(|| error!("there is no resource '{name}'"))?;
        self.read_graph_file(resource, &folder, &path)
    }

    /// Reads the graph of a resource from one of its files.
    fn read_graph_file(
        &mut self,
        resource: ResourceName,
        folder: &Path,
        path: &str,
    ) -> Result<GraphFile, Error> {
        let bytes = file_access::read(folder, path, &readers::SOURCE_TEXT)
            .map_err(|problem| error!("{}", problem.message(path)))?;
        let document =
            sjson::parse_bytes(&bytes).map_err(|found| error!("{}", found.in_file(path)))?;
        let tree = document.to_tree();
        let text = document.into_text();
        let units = match tree.get("units") {
            Some(SjsonTree::Object(units)) if resource.kind == kind_names::LEVEL => {
                units.iter().map(|(name, _)| name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let inherited = self.inherited_graph(&resource, &tree);
        let base = match (&inherited, tree.get("inherit")) {
            (Some(_), Some(SjsonTree::String(base))) => Some(base.clone()),
            _ => None,
        };
        let graph = match resource.kind.as_str() {
            kind_names::FLOW => Some(tree),
            _ => tree.get("flow").cloned(),
        };
        let shared = match &graph {
            Some(SjsonTree::String(shared)) => Some(shared.clone()),
            _ => None,
        };
        let tree = graph.filter(|graph| matches!(graph, SjsonTree::Object(_)));
        let tree = tree.unwrap_or(SjsonTree::Object(Vec::new()));
        let path = path.to_string();
        Ok(GraphFile { resource, path, text, tree, units, inherited, base, shared })
    }

    /// Returns the graph that the unit of a file inherits; `None` for a shared graph, which a graph
    /// in the file replaces.
    fn inherited_graph(&mut self, resource: &ResourceName, tree: &SjsonTree) -> Option<SjsonTree> {
        let SjsonTree::String(base) = tree.get("inherit")? else { return None };
        if resource.kind != kind_names::UNIT {
            return None;
        }
        let engine = self.vm.engine();
        let base = engine.worlds.unit_resource(&mut engine.assets, base).ok()?;
        base.flow.clone().filter(|graph| matches!(graph, SjsonTree::Object(_)))
    }

    /// Returns the empty source of a `.flow` file that does not exist, or `None` for other names.
    pub fn new_graph(&mut self, name: &str) -> Option<GraphFile> {
        let resource = ResourceName::parse(name).filter(is_new_name)?;
        // A file with an error may be in no index yet.
        let is_free = |folder: PathBuf| match fs::symlink_metadata(folder.join(name)) {
            Err(reason) => reason.kind() == ErrorKind::NotFound,
            Ok(_) => false,
        };
        let is_known = self.vm.engine().assets.store.path(&resource).is_some();
        if is_known || !self.game_folder().is_some_and(is_free) {
            return None;
        }
        let tree = SjsonTree::Object(Vec::new());
        let (path, text, units) = (name.to_string(), String::new(), Vec::new());
        let (inherited, base, shared) = (None, None, None);
        Some(GraphFile { resource, path, text, tree, units, inherited, base, shared })
    }

    /// Validates a source as if it were saved in a file.
    pub fn validate_graph(&mut self, file: &GraphFile, tree: &SjsonTree) -> Validated {
        let mut validated = self.validate_graph_of(file, tree, file.owner());
        validated.problems.extend(self.absent_events(file, tree));
        validated
    }

    /// Validates a source for an owner.
    pub(crate) fn validate_graph_of(
        &mut self,
        file: &GraphFile,
        tree: &SjsonTree,
        owner: GraphOwner,
    ) -> Validated {
        self.ready_flow();
        let engine = self.vm.engine();
        let whole = file.inherited.as_ref().map(|base| changed_graph(base, tree));
        let (source, problems) = GraphSource::read(whole.as_ref().unwrap_or(tree));
        let source = Arc::new(source);
        let store = &mut engine.assets.store;
        let mut known: HashMap<String, Arc<GraphSource>> = HashMap::new();
        let mut load = |name: &str| -> Result<Arc<GraphSource>, String> {
            if let Some(known) = known.get(name) {
                return Ok(known.clone());
            }
            let resource = ResourceName::new(kind_names::FLOW, name);
            let bytes = store.read(&resource).map_err(|problem| problem.message)?;
            let tree = read_tree(&bytes).map_err(|problem| problem.message)?;
            let source = Arc::new(GraphSource::read(&tree).0);
            known.insert(name.to_string(), source.clone());
            Ok(source)
        };
        let catalogue = &engine.worlds.flow.get().catalogue;
        let renamed = OldNames::of(&source, catalogue, &mut load).in_tree(tree);
        let (new, _) = follow(source.clone(), catalogue, &mut load);
        let checked = check(&new, catalogue, owner, &mut load);
        let (problems, size) = match problems.is_empty() {
            false => (problems.into_iter().chain(checked.problems).collect(), None),
            true => {
                let name = file.resource.to_string();
                match compile(&name, source, catalogue, owner, &mut load) {
                    Ok(compiled) => (compiled.warnings, Some(compiled.program.size())),
                    Err(problems) => (problems, None),
                }
            }
        };
        let missing = missing_resources(&new, &checked.pins, store);
        let nodes = new.nodes.iter().zip(checked.pins);
        let dynamic =
            nodes.filter(|(node, _)| catalogue.find(&node.kind).is_some_and(|kind| kind.dynamic));
        let pins = dynamic.map(|(node, pins)| (node.id.clone(), NodePins::clone(&pins))).collect();
        Validated { problems, missing, pins, size, renamed }
    }
}

/// Kinds of resources that scripts can create, too, so that a missing one is only a warning.
const CREATED_KINDS: [&str; 3] = [kind_names::TEXTURE, kind_names::MATERIAL, kind_names::SOUND];

/// Returns a problem for each input that names a resource that does not exist.
fn missing_resources(
    graph: &GraphSource,
    pins: &[Arc<NodePins>],
    store: &ResourceStore,
) -> Vec<Problem> {
    let mut missing = Vec::new();
    for (node, pins) in graph.nodes.iter().zip(pins) {
        for (name, value) in &node.inputs {
            let InputSource::Literal(SjsonTree::String(text)) = value else { continue };
            let pin = pins.inputs.iter().find(|pin| pin.name == *name);
            let Some(kind) = pin.and_then(|pin| pin.resource.as_deref()) else { continue };
            let resource = ResourceName::new(kind, text);
            // A model is a unit, too.
            let model = ResourceName::new(kind_names::MODEL, text);
            let is_model = kind == kind_names::UNIT && (store.has(&model) || is_built_in(&model));
            if !text.is_empty() && !store.has(&resource) && !is_built_in(&resource) && !is_model {
                let message = store.missing_message(&resource);
                missing.push(match CREATED_KINDS.contains(&kind) {
                    true => Problem::warning(&node.id, name, message),
                    false => Problem::error(&node.id, name, message),
                });
            }
        }
    }
    Problem::limit(&mut missing);
    missing
}

impl App {
    /// Returns true if there are graphs, or units or levels, which can have them.
    pub(crate) fn has_graphs(&mut self) -> bool {
        !self.graph_names().is_empty()
    }

    /// Returns the names of all resources that can have a graph, sorted.
    pub(crate) fn graph_names(&mut self) -> Vec<String> {
        let index = self.vm.engine().assets.store.index();
        let resources = index.entries.iter().map(|entry| &entry.resource);
        let mut names: Vec<String> = resources
            .filter(|resource| GRAPH_KINDS.contains(&resource.kind.as_str()))
            .map(ResourceName::to_string)
            .collect();
        names.sort_compact();
        names.dedup();
        names
    }
}

/// Returns the graph of a resource as readable text, and false, or its problems and true. `None` if
/// it has no graph.
///
/// # Errors
/// Returns an error if the game cannot be opened, or its files cannot be read.
pub fn explain_graph(
    folder: &Path,
    resource: &ResourceName,
) -> Result<Option<(String, bool)>, Error> {
    let launch = GameLaunch {
        boot: Some("tools.check".to_string()),
        ..GameLaunch::headless(Game::Folder(folder.to_path_buf()))
    };
    let mut app = App::open(launch)?;
    app.ready_flow();
    let engine = app.vm.engine();
    let Some(graph) = engine.flow_graph(&resource.kind, &resource.name)? else { return Ok(None) };
    Ok(Some(match engine.compile_flow(&graph) {
        Ok((program, _)) => (explain(&program), false),
        Err(problems) => {
            let texts = problems.iter().map(|problem| format!("{}\n", problem.text()));
            (format!("{} has errors:\n{}", graph.name, texts.collect::<String>()), true)
        }
    }))
}
