//! Sources of the events that the owners of a graph get, for warnings of events that never come.

use super::GraphFile;
use crate::App;
use engine_flow::{EventSources, GraphSource, Problem, absent_events};
use engine_foundation::sjson::SjsonTree;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_world::unit_resource::{UnitResource, changed_graph};

/// Returns the sources of a unit.
fn of_unit(unit: &UnitResource) -> EventSources {
    let template = &unit.template;
    let actors = template.physics.iter().flat_map(|physics| &physics.actors);
    let mut found = EventSources { is_unit: true, ..EventSources::default() };
    for actor in actors {
        found.triggers |= actor.trigger;
        found.actors |= !actor.trigger && actor.body.reports_contacts;
    }
    let animation = template.animation.as_ref();
    found.animation = animation.is_some();
    // Tiles and bones become actors, too.
    found.actors |= template.maps.iter().any(|map| map.collision.is_some());
    found.actors |= animation.is_some_and(|animation| animation.needs_physics());
    found
}

/// Returns true if a graph uses another one as a subgraph.
fn uses(graph: &SjsonTree, name: &str) -> bool {
    let Some(SjsonTree::Object(nodes)) = graph.get("nodes") else { return false };
    let is_user = |node: &SjsonTree| node.get("graph") == Some(&SjsonTree::String(name.into()));
    nodes.iter().any(|(_, node)| is_user(node))
}

impl App {
    /// Returns the sources of the units or the level of a file; `None` if this is not known: a file
    /// with an error, or a unit from which others inherit, which may have more.
    fn event_sources(&mut self, resource: &ResourceName) -> Option<EventSources> {
        if resource.kind == kind_names::LEVEL {
            return Some(EventSources::default());
        }
        let engine = self.vm.engine();
        let unit = engine.worlds.unit_resource(&mut engine.assets, &resource.name).ok()?;
        let index = engine.assets.store.index();
        let entries = index.entries.iter().filter(|entry| entry.references.contains(resource));
        let units = entries.filter(|entry| entry.resource.kind == kind_names::UNIT);
        let names: Vec<String> = units.map(|entry| entry.resource.name.clone()).collect();
        let has_heirs = names.iter().any(|name| {
            let user = engine.worlds.unit_resource(&mut engine.assets, name);
            user.is_ok_and(|user| user.bases.contains(&resource.name))
        });
        (!has_heirs).then(|| of_unit(&unit))
    }

    /// Returns warnings of events that a graph never gets from its unit or level. A file with only
    /// a graph has none, because its users are not known.
    pub(crate) fn absent_events(&mut self, file: &GraphFile, tree: &SjsonTree) -> Vec<Problem> {
        if file.resource.kind == kind_names::FLOW {
            return Vec::new();
        }
        let sources = self.event_sources(&file.resource);
        let whole = file.inherited.as_ref().map(|base| changed_graph(base, tree));
        sources.map_or(Vec::new(), |sources| {
            absent_events(&GraphSource::read(whole.as_ref().unwrap_or(tree)).0, sources)
        })
    }

    /// Returns warnings of events that a graph never gets, where all graphs of the game are known:
    /// a shared graph gets what at least one of its users has.
    pub(crate) fn absent_events_of_users(
        &mut self,
        file: &GraphFile,
        all: &[GraphFile],
    ) -> Vec<Problem> {
        if file.resource.kind != kind_names::FLOW {
            return self.absent_events(file, &file.tree);
        }
        let name = &file.resource.name;
        if all.iter().any(|user| uses(&user.tree, name)) {
            return Vec::new();
        }
        let users = all.iter().filter(|user| user.shared.as_ref() == Some(name));
        let found: Option<Vec<_>> = users.map(|user| self.event_sources(&user.resource)).collect();
        let sources = found.unwrap_or_default().into_iter().reduce(EventSources::or);
        sources
            .map_or(Vec::new(), |sources| absent_events(&GraphSource::read(&file.tree).0, sources))
    }
}
