//! Flow in the engine: the graphs of units and levels, their programs, and the events that systems
//! send to them. The graphs themselves are the system `engine_flow`; functions of scripts are
//! called by the prelude (lua/flow/flow.lua).

use super::{Engine, Worlds};
use engine_flow::{
    CallResult, Catalogue, EventKind, Flow, FlowEvent, FlowHeap, FlowHost, FlowOwner, GraphOwner,
    GraphSource, InstanceId, NodeLocation, NodeType, Problem, Program, RunState, Slot, compile,
};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Handle, HandleKind, error, log};
use engine_physics::ContactPhase;
use engine_resource::data_resources::read_tree;
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_world::WorldId;
use engine_world::level::LevelId;
use engine_world::physics::{ActorId, actor_of};
use engine_world::unit::UnitId;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Calls a native function of scripts: its index, inputs, outputs.
pub type NativeCall = fn(&mut Engine, u32, &[Slot], &mut [Slot], &mut FlowHeap) -> CallResult;

/// The native functions that nodes can call, which the scripts' layer provides.
pub struct FlowNatives {
    /// Indices by the names of node types.
    pub by_name: HashMap<String, u32>,
    pub call: NativeCall,
}

impl Default for FlowNatives {
    /// Returns no native function.
    fn default() -> FlowNatives {
        let call: NativeCall = |_, _, _, _, _| Err("there is no function".into());
        FlowNatives { by_name: HashMap::new(), call }
    }
}

/// Maximum number of plain inputs of a function: numbers and objects, which compiled Lua reads
/// without a call.
pub const PLAIN_INPUTS_MAX: usize = 4;

/// The graphs of a running game.
pub struct FlowGraphs {
    /// `None` while events run.
    flow: Option<Box<Flow>>,
    sources: HashMap<String, Arc<GraphSource>>,
    /// Graphs that cannot be compiled. Their problems were reported.
    failed: HashSet<String>,
    pub natives: FlowNatives,
    /// Inputs of the function that is being called, or a value that scripts read.
    pub inputs: Vec<Slot>,
    /// The inputs as numbers, if all are plain. Their address never changes.
    pub plain_inputs: Box<[f64; PLAIN_INPUTS_MAX]>,
    /// Results of the function that is being called, or a value that scripts pass.
    pub results: Vec<Slot>,
    /// The event for scripts that is being handled.
    pub callback: Option<FlowEvent>,
    /// True if the node types of functions and of the game were added.
    pub ready: bool,
    /// The node types of the game before its scripts were reloaded.
    pub scripted: Vec<NodeType>,
    /// Graphs that the last reload could not compile, so that their previous programs run.
    pub(super) kept: HashSet<String>,
    /// Graphs that the last reload could not find, so that their instances keep the previous
    /// version until they are spawned again.
    pub(super) outdated: HashSet<String>,
    /// Changed files of graphs that wait until scripts of nodes are reloaded.
    pub(super) waiting: HashSet<String>,
    /// True if files of units or levels have changed, which may have their first graph now.
    reloaded: bool,
    /// True if somebody else reports the problems of graphs, with their files and lines.
    pub is_checked: bool,
}

impl Default for FlowGraphs {
    fn default() -> FlowGraphs {
        let mut flow = Box::<Flow>::default();
        flow.catalogue = Catalogue::built_in();
        FlowGraphs {
            flow: Some(flow),
            sources: HashMap::new(),
            failed: HashSet::new(),
            natives: FlowNatives::default(),
            inputs: Vec::new(),
            plain_inputs: Box::default(),
            results: Vec::new(),
            callback: None,
            ready: false,
            scripted: Vec::new(),
            kept: HashSet::new(),
            outdated: HashSet::new(),
            waiting: HashSet::new(),
            reloaded: false,
            is_checked: false,
        }
    }
}

impl FlowGraphs {
    /// Returns the state of Flow.
    pub fn get(&self) -> &Flow {
        self.flow.as_ref().expect("no event runs while functions of the engine ask")
    }

    pub fn get_mut(&mut self) -> &mut Flow {
        self.flow.as_mut().expect("no event runs while functions of the engine ask")
    }

    /// Returns the state of Flow, with the native functions.
    fn with_natives(&mut self) -> (&mut Flow, impl Fn(&str) -> Option<u32>) {
        let by_name = &self.natives.by_name;
        let flow = self.flow.as_deref_mut();
        let flow = flow.expect("no event runs while functions of the engine ask");
        (flow, move |name: &str| by_name.get(name).copied())
    }
}

/// The engine while events run.
struct EngineHost<'a> {
    engine: &'a mut Engine,
}

impl FlowHost for EngineHost<'_> {
    fn random(&mut self) -> f64 {
        self.engine.frame.random.next_f64()
    }

    fn exists(&mut self, handle: Handle) -> bool {
        self.engine.live_kind(handle).is_some()
    }

    fn level_unit(&mut self, level: Handle, name: &str) -> Option<Handle> {
        let level = self.engine.worlds.levels.slots.get(level)?;
        let index = *level.resource.unit_indices.get(name)?;
        let unit = level.units[index as usize]?;
        self.engine.worlds.units.slots.get(unit.0).map(|_| unit.0)
    }

    fn time(&mut self, world: Handle) -> f64 {
        self.engine.worlds.slots.get(world).map_or(0.0, |world| world.time)
    }

    fn line_of(&mut self, node: &NodeLocation) -> Option<String> {
        self.engine.node_line(node)
    }

    fn call(
        &mut self,
        function: u32,
        inputs: &[Slot],
        outputs: &mut [Slot],
        heap: &mut FlowHeap,
    ) -> CallResult {
        let call = self.engine.worlds.flow.natives.call;
        let called = AssertUnwindSafe(|| call(self.engine, function, inputs, outputs, heap));
        // A panic ends the event, as one of a function that scripts call ends their call.
        catch_unwind(called).unwrap_or_else(|_| {
            let message = engine_foundation::panic::take_panic();
            Err(format!("the engine failed: {message}").into())
        })
    }
}

/// A graph with its owner, before it is compiled.
pub struct OwnedGraph {
    /// Name with its kind: `units/barrel.unit`, `graphs/door.flow`.
    pub name: String,
    pub source: Arc<GraphSource>,
    /// Names of the units of the level, for the graph of a level.
    pub units: Option<Vec<String>>,
    /// Name of the `.flow` file that a unit or a level uses.
    pub shared: Option<String>,
    /// Problems of the form of a graph together with the inherited one: each file has none.
    pub problems: Vec<Problem>,
}

/// Returns the graph of a resource, read once.
fn load_source(
    sources: &mut HashMap<String, Arc<GraphSource>>,
    store: &mut ResourceStore,
    name: &str,
) -> Result<Arc<GraphSource>, String> {
    if let Some(known) = sources.get(name) {
        return Ok(known.clone());
    }
    let resource = ResourceName::new(kind_names::FLOW, name);
    let mut read = || {
        let bytes = store.read(&resource)?;
        contain(&resource, || read_tree(&bytes))
    };
    let tree = read().map_err(|error: Error| error.message)?;
    let source = Arc::new(GraphSource::read(&tree).0);
    sources.insert(name.to_string(), source.clone());
    Ok(source)
}

impl Engine {
    /// Runs events until none waits, or a function of scripts has to be called.
    pub fn run_flow(&mut self) -> RunState {
        self.with_flow(|flow, host| flow.run(host)).unwrap_or(RunState::Idle)
    }

    /// Ends functions of nodes that did not return, after an error that ended the scripts.
    pub fn recover_flow(&mut self) {
        self.with_flow(|flow, host| {
            flow.recover();
            flow.report_failures(host);
        });
    }

    /// Calls a function with the state of Flow and the engine; `None` while events run.
    fn with_flow<R>(&mut self, run: impl FnOnce(&mut Flow, &mut EngineHost) -> R) -> Option<R> {
        let mut flow = self.worlds.flow.flow.take()?;
        flow.begin_frame(self.frame.index);
        let mut host = EngineHost { engine: self };
        // Without the graphs, every later call would fail.
        let result = catch_unwind(AssertUnwindSafe(|| run(&mut flow, &mut host)));
        self.worlds.flow.flow = Some(flow);
        Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Returns the graph of a unit's resource, a level's resource, or a `.flow` file.
    ///
    /// # Errors
    /// Returns an error if the resource cannot be read. `None` if it has no graph.
    pub fn flow_graph(&mut self, kind: &str, name: &str) -> Result<Option<OwnedGraph>, Error> {
        let (tree, units) = match kind {
            kind_names::UNIT => {
                let unit = self.worlds.unit_resource(&mut self.assets, name)?;
                (unit.flow.clone(), None)
            }
            kind_names::LEVEL => {
                let level = self.worlds.levels.resource(&mut self.assets.store, name)?;
                let units = level.units.iter().map(|unit| unit.name.clone()).collect();
                (level.flow.clone(), Some(units))
            }
            _ => (Some(SjsonTree::String(name.to_string())), None),
        };
        let Some(tree) = tree else { return Ok(None) };
        let Worlds { flow, .. } = &mut self.worlds;
        Ok(Some(match &tree {
            SjsonTree::String(shared) => {
                let source = load_source(&mut flow.sources, &mut self.assets.store, shared)
                    .map_err(|message| error!("{message}"))?;
                let name = match units {
                    // Units of a level are part of what its graph means.
                    Some(_) => format!("{name}.{kind}"),
                    None => format!("{shared}.{}", kind_names::FLOW),
                };
                let (shared, problems) = (Some(shared.clone()), Vec::new());
                OwnedGraph { name, source, units, shared, problems }
            }
            tree => {
                let (source, problems) = GraphSource::read(tree);
                let (name, source) = (format!("{name}.{kind}"), Arc::new(source));
                OwnedGraph { name, source, units, shared: None, problems }
            }
        }))
    }

    /// Returns the name of the graph of a unit or a level, if its resource has one.
    fn flow_name(&mut self, kind: &str, name: &str) -> Option<String> {
        let own = || Some(format!("{name}.{kind}"));
        match kind {
            kind_names::LEVEL => {
                let level = self.worlds.levels.resource(&mut self.assets.store, name).ok()?;
                level.flow.as_ref().and_then(|_| own())
            }
            _ => match &self.worlds.unit_resource(&mut self.assets, name).ok()?.flow {
                Some(SjsonTree::String(shared)) => Some(format!("{shared}.{}", kind_names::FLOW)),
                flow => flow.as_ref().and_then(|_| own()),
            },
        }
    }

    /// Compiles a graph.
    ///
    /// # Errors
    /// Returns its problems, of which at least one is an error.
    pub fn compile_flow(
        &mut self,
        graph: &OwnedGraph,
    ) -> Result<(Program, Vec<Problem>), Vec<Problem>> {
        if !graph.problems.is_empty() {
            return Err(graph.problems.clone());
        }
        let Worlds { flow: graphs, .. } = &mut self.worlds;
        let flow = graphs.flow.as_ref().expect("no event runs");
        let (sources, store) = (&mut graphs.sources, &mut self.assets.store);
        let owner = match &graph.units {
            Some(units) => GraphOwner::Level(units),
            None => GraphOwner::Unit,
        };
        let mut load = |name: &str| load_source(sources, store, name);
        let source = graph.source.clone();
        let mut compiled = compile(&graph.name, source, &flow.catalogue, owner, &mut load)?;
        // The program depends on the file, even if it is not named after it.
        compiled.program.graphs.extend(graph.shared.clone());
        Ok((compiled.program, compiled.warnings))
    }

    /// Returns the program of a graph, which is compiled when it is first used. Problems are logged
    /// once; `None` if the graph has errors.
    fn flow_program(&mut self, kind: &str, name: &str) -> Option<u32> {
        if let Some(graph) = self.flow_name(kind, name)
            && let Some(known) = self.worlds.flow.get().find_program(&graph)
        {
            return Some(known);
        }
        let graph = match self.flow_graph(kind, name) {
            Ok(graph) => graph?,
            Err(error) => {
                if self.worlds.flow.failed.insert(format!("{name}.{kind}")) {
                    log::error(&format!("the graph of {name}.{kind}: {}", error.message));
                }
                return None;
            }
        };
        if self.worlds.flow.failed.contains(&graph.name) {
            return None;
        }
        match self.compile_flow(&graph) {
            Ok((program, _)) => {
                let (flow, find) = self.worlds.flow.with_natives();
                Some(flow.add_program(program, &find))
            }
            Err(problems) => {
                if !self.worlds.flow.is_checked {
                    self.log_graph_problems(&graph.name, problems.iter());
                }
                self.worlds.flow.failed.insert(graph.name);
                None
            }
        }
    }

    /// Creates the graph of a unit, if its resource has one. No event is sent yet.
    pub fn create_unit_flow(&mut self, unit: UnitId) -> Option<InstanceId> {
        let row = self.worlds.units.of(unit);
        let (world, resource) = (row.world, row.resource.clone());
        if self.worlds.flow.get().instance_of(unit.0).is_some() {
            return None;
        }
        // The file may have its first graph since the unit was spawned.
        let program = self.flow_program(kind_names::UNIT, &resource.name)?;
        let level = self.worlds.levels.of_unit(unit).map(|(level, _)| level.0);
        let owner = FlowOwner { unit: Some(unit.0), level, world: world.0 };
        self.create_flow(program, owner)
    }

    /// Creates the graph of a level, if its resource has one. No event is sent yet.
    pub fn create_level_flow(&mut self, level: LevelId) -> Option<InstanceId> {
        let found = self.worlds.levels.of(level);
        let (world, resource) = (found.world, found.resource.clone());
        if self.worlds.flow.get().instance_of(level.0).is_some() {
            return None;
        }
        let program = self.flow_program(kind_names::LEVEL, &resource.name)?;
        let owner = FlowOwner { unit: None, level: Some(level.0), world: world.0 };
        self.create_flow(program, owner)
    }

    /// Creates an instance. Its unit or level goes on without a graph if too many run.
    fn create_flow(&mut self, program: u32, owner: FlowOwner) -> Option<InstanceId> {
        let created = self.worlds.flow.get_mut().create(program, owner);
        if let Err(error) = &created
            && self.worlds.flow.failed.insert(error.message.clone())
        {
            let owner = owner.unit.or(owner.level).unwrap_or(owner.world);
            let owner = self.flow_owner_name(owner);
            log::error(&format!("{owner} and later ones have no graph: {}", error.message));
        }
        created.ok()
    }

    /// Sends the events of a world's update to graphs: collisions, triggers, animation events,
    /// delays, timers, updates.
    pub fn update_flow(&mut self, world: WorldId, delta: f64) {
        if self.worlds.flow.get().instance_count() == 0 {
            return;
        }
        self.send_physics_events(world);
        self.send_animation_events(world);
        let time = self.worlds.world(world).time;
        self.worlds.flow.get_mut().update(world.0, time, delta);
    }

    fn send_physics_events(&mut self, world: WorldId) {
        let Worlds { physics, flow, .. } = &mut self.worlds;
        let Some(physics_world) = physics.of_world(world) else { return };
        let flow = flow.flow.as_mut().expect("no event runs");
        let unit_of = |actor: Option<ActorId>| -> Option<UnitId> {
            physics.actors.get(actor?.0).and_then(|actor| actor.unit)
        };
        let handle = |handle: Option<Handle>| handle.map_or(Slot::NIL, Slot::handle);
        let (contacts, triggers) = physics.world(physics_world).simulation.contacts();
        for contact in contacts {
            for (own, other) in [(0, 1), (1, 0)] {
                let [own, other] = [own, other].map(|at: usize| actor_of(contact.owners[at]));
                let Some(unit) = unit_of(own) else { continue };
                let Some(instance) = flow.instance_of(unit.0) else { continue };
                let sign = if own == actor_of(contact.owners[0]) { 1.0 } else { -1.0 };
                let values = [
                    handle(unit_of(other).map(|unit| unit.0)),
                    handle(own.map(|actor| actor.0)),
                    handle(other.map(|actor| actor.0)),
                    Slot::vector(contact.position),
                    Slot::vector(contact.normal * sign),
                    Slot::number(f64::from(contact.impulse)),
                ];
                flow.raise(instance, EventKind::Collision, "", &values, 0);
            }
        }
        for trigger in triggers {
            let Some(unit) = unit_of(actor_of(trigger.trigger)) else { continue };
            let Some(instance) = flow.instance_of(unit.0) else { continue };
            let other = actor_of(trigger.other);
            let values =
                [handle(unit_of(other).map(|unit| unit.0)), handle(other.map(|actor| actor.0))];
            let kind = match trigger.touch {
                ContactPhase::Began => EventKind::TriggerEnter,
                ContactPhase::Ended => EventKind::TriggerLeave,
            };
            flow.raise(instance, kind, "", &values, 0);
        }
    }

    fn send_animation_events(&mut self, world: WorldId) {
        let Worlds { animations, units, flow, .. } = &mut self.worlds;
        let flow = flow.flow.as_mut().expect("no event runs");
        for event in animations.events.fresh() {
            let Some(instance) = flow.instance_of(event.unit.0) else { continue };
            if units.slots.get(event.unit.0).is_some_and(|unit| unit.world == world) {
                let layer = Slot::number(f64::from(event.layer) + 1.0);
                flow.raise(instance, EventKind::Animation, event.origin.name(), &[layer], 0);
            }
        }
    }

    /// Replaces the programs of changed graphs: instances keep the state of nodes that still exist.
    pub fn reload_flow(&mut self, changed: &ChangedResources) {
        let steps = [ReloadStep::Flow, ReloadStep::UnitResources, ReloadStep::Levels];
        if !steps.iter().any(|step| changed.any(*step)) {
            return;
        }
        self.worlds.flow.sources.clear();
        self.worlds.flow.failed.clear();
        self.worlds.flow.kept.clear();
        self.worlds.flow.outdated.clear();
        self.worlds.flow.reloaded = true;
        let names: HashSet<String> = steps
            .iter()
            .flat_map(|step| changed.of(*step))
            .map(|resource| resource.to_string())
            .collect();
        // Their new types of nodes are known only when the scripts are reloaded, after this.
        if changed.of(ReloadStep::Scripts).any(|script| script.name.starts_with("nodes/")) {
            self.worlds.flow.waiting.extend(names);
            return;
        }
        self.reload_programs(&names);
    }

    /// Replaces the programs of the graphs that use changed files.
    fn reload_programs(&mut self, names: &HashSet<String>) {
        let programs = self.worlds.flow.get().program_names();
        for (name, index) in programs {
            let uses = |graph: &String| names.contains(&format!("{graph}.{}", kind_names::FLOW));
            let is_changed = names.contains(&name)
                || self.worlds.flow.get().program(index).graphs.iter().any(uses)
                || self.inherits_from(&name, names);
            if is_changed {
                self.reload_program(&name, index);
            }
        }
    }

    /// Returns the units and levels that have no graph, and whose files have one since the last
    /// reload.
    pub fn new_flow_owners(&mut self) -> Vec<Handle> {
        if !std::mem::take(&mut self.worlds.flow.reloaded) {
            return Vec::new();
        }
        let flow = self.worlds.flow.get();
        let units = self.worlds.units.slots.iter();
        let units = units.map(|(unit, row)| (unit, kind_names::UNIT, row.resource.name.clone()));
        let levels = self.worlds.levels.slots.iter();
        let levels = levels.map(|(at, row)| (at, kind_names::LEVEL, row.resource.name.clone()));
        let all = units.chain(levels).filter(|(owner, ..)| flow.instance_of(*owner).is_none());
        let all: Vec<_> = all.collect();
        let mut known: HashMap<(&str, String), bool> = HashMap::new();
        let mut found = Vec::new();
        for (owner, kind, name) in all {
            let has_graph = match known.get(&(kind, name.clone())) {
                Some(has_graph) => *has_graph,
                None => {
                    let has_graph = self.flow_name(kind, &name).is_some();
                    known.insert((kind, name), has_graph);
                    has_graph
                }
            };
            if has_graph {
                found.push(owner);
            }
        }
        found
    }

    /// Returns true if a graph is the one of a unit that inherits from a unit among `names`.
    fn inherits_from(&mut self, graph: &str, names: &HashSet<String>) -> bool {
        let Some((unit, kind_names::UNIT)) = graph.rsplit_once('.') else { return false };
        match self.worlds.unit_resource(&mut self.assets, unit) {
            Ok(unit) => {
                let kind = kind_names::UNIT;
                unit.bases.iter().any(|base| names.contains(&format!("{base}.{kind}")))
            }
            // A broken file was reported when it was saved.
            Err(_) => false,
        }
    }

    /// Compiles all loaded graphs again, if node types of the game have changed; otherwise those
    /// whose files were saved together with scripts of nodes.
    pub fn recompile_flow(&mut self) {
        self.worlds.flow.get_mut().relink_functions();
        let before = std::mem::take(&mut self.worlds.flow.scripted);
        let waiting = std::mem::take(&mut self.worlds.flow.waiting);
        if before == self.worlds.flow.get().catalogue.scripted() {
            self.reload_programs(&waiting);
        } else {
            self.worlds.flow.failed.clear();
            for (name, index) in self.worlds.flow.get().program_names() {
                self.reload_program(&name, index);
            }
        }
        self.note_reloaded_graphs(&waiting);
    }

    /// Replaces a program by that of the changed graph. Without a new one, the reason is logged.
    fn reload_program(&mut self, name: &str, index: u32) {
        let Some((resource, kind)) = name.rsplit_once('.') else { return };
        let graph = match self.flow_graph(kind, resource) {
            Ok(Some(graph)) => graph,
            Ok(None) => return self.report_old_graphs(name, index),
            Err(_) => {
                // It was reported when the file was saved or deleted.
                self.worlds.flow.outdated.insert(name.to_string());
                return;
            }
        };
        if graph.name != name {
            return self.report_old_graphs(name, index);
        }
        match self.compile_flow(&graph) {
            Ok((program, _)) => {
                let (flow, find) = self.worlds.flow.with_natives();
                let count = flow.instances_of(index).len();
                let dropped = flow.replace_program(index, program, &find);
                if count > 0 && !dropped.is_empty() {
                    let dropped = dropped.join(", ");
                    log::info(&format!("{name}: {count} graphs lost the state of {dropped}"));
                }
            }
            Err(problems) => {
                self.log_graph_problems(name, problems.iter());
                self.worlds.flow.kept.insert(name.to_string());
                log::info(&format!("{name}: the graphs that run keep the previous version"));
            }
        }
    }

    /// Reports the instances of a graph whose file has no graph of this name any more.
    fn report_old_graphs(&mut self, name: &str, index: u32) {
        self.worlds.flow.outdated.insert(name.to_string());
        let count = self.worlds.flow.get().instances_of(index).len();
        if count > 0 {
            log::info(&format!(
                "{name}: {count} graphs keep the previous version until they are spawned again, \
                 because the file has another graph, or none"
            ));
        }
    }

    /// Returns the name of an owner of a graph, for messages.
    pub fn flow_owner_name(&self, owner: Handle) -> String {
        let noun = HandleKind::of(owner).map_or("object", HandleKind::noun);
        match self.object_name(owner) {
            Some(name) => format!("{noun} '{name}'"),
            None => format!("{noun} {}", owner.to_number()),
        }
    }
}
