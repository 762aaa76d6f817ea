//! Notes for the log after a hot reload of units, levels, tile maps, models, animations and
//! materials: which existing objects use the new version, and which keep the old one.

use super::{BuildMode, Engine};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::log;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_tilemaps::TilemapId;
use engine_world::unit_resource::UnitResource;
use std::collections::HashSet;

const REMEDY: &str = "or set reload.respawn in settings.sjson";

/// A note about a saved or deleted file.
struct ReloadNote<'a> {
    /// Source file, for people.
    file: &'a str,
    is_deleted: bool,
}

/// Returns a number with its noun: `1 unit`, `3 units`.
fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Returns the first text for one object and the second for any other number.
fn choose(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

impl ReloadNote<'_> {
    /// `count` units are spawned, of which `old` have other components than the file.
    fn units(&self, count: usize, old: usize) -> String {
        let ReloadNote { file, is_deleted } = self;
        if !is_deleted && count > 0 && old == 0 {
            return format!("reloaded {file}: its components have not changed");
        }
        let count = if *is_deleted { count } else { old };
        let (units, are) = (counted(count, "unit"), choose(count, "is", "are"));
        match (is_deleted, count) {
            (true, 0) => format!("{file} was deleted: none of its units is spawned"),
            (true, _) => {
                let stay = choose(count, "stays", "stay");
                format!("{file} was deleted: {units} that {are} spawned {stay}")
            }
            (false, 0) => format!("reloaded {file}: units that are spawned from now on use it"),
            (false, _) => {
                let (keep, its) = (choose(count, "keeps", "keep"), choose(count, "its", "their"));
                let it = choose(count, "it", "them");
                format!(
                    "reloaded {file}: {units} that {are} spawned {keep} {its} old components; \
                     spawn {it} again, {REMEDY}"
                )
            }
        }
    }

    /// Existing levels of a file that was saved are updated by the prelude, which reports them.
    fn levels(&self, count: usize) -> Option<String> {
        let ReloadNote { file, is_deleted } = self;
        let (levels, are) = (counted(count, "level"), choose(count, "is", "are"));
        let keep = choose(count, "keeps", "keep");
        Some(match (is_deleted, count) {
            (true, 0) => format!("{file} was deleted: the level is not spawned"),
            (true, _) => {
                format!("{file} was deleted: {levels} that {are} spawned {keep} the units")
            }
            (false, 0) => format!("reloaded {file}: levels that are spawned from now on use it"),
            (false, _) => return None,
        })
    }

    /// `new` and `old` are the numbers of maps that show the new and the old version.
    fn tilemaps(&self, new: usize, old: usize) -> String {
        let ReloadNote { file, is_deleted } = self;
        let kept =
            format!("{} {} the old tiles", counted(old, "map"), choose(old, "keeps", "keep"));
        match (is_deleted, new, old) {
            (true, _, 0) => format!("{file} was deleted: no map of it exists"),
            (true, ..) => format!("{file} was deleted: {kept}"),
            (false, 0, 0) => format!("reloaded {file}: maps that are created from now on use it"),
            (false, _, 0) => format!("reloaded {file}: {} it", shown(new)),
            (false, ..) => {
                let shown =
                    if new == 0 { String::new() } else { format!("{} it, and ", shown(new)) };
                let it = choose(old, "it", "them");
                format!("reloaded {file}: {shown}{kept}; create {it} again, {REMEDY}")
            }
        }
    }
}

impl ReloadNote<'_> {
    /// `meshes` show the model, and `actors` have shapes of it.
    fn models(&self, meshes: usize, actors: usize) -> String {
        let ReloadNote { file, is_deleted } = self;
        let shown = counted(meshes, "mesh").replace("meshs", "meshes");
        match (is_deleted, meshes, actors) {
            (true, 0, 0) => format!("{file} was deleted: nothing shows it"),
            (true, ..) => format!("{file} was deleted: the units that use it stay"),
            (false, 0, 0) => format!("reloaded {file}: units that are spawned from now on use it"),
            (false, _, 0) => {
                format!("reloaded {file}: {shown} {} it", choose(meshes, "shows", "show"))
            }
            (false, ..) => {
                let (show, have) = (choose(meshes, "shows", "show"), choose(actors, "has", "have"));
                let (actors, shape) = (counted(actors, "actor"), choose(actors, "shape", "shapes"));
                format!("reloaded {file}: {shown} {show} it, and {actors} {have} its new {shape}")
            }
        }
    }

    /// `count` graphs that run use the file.
    fn graphs(&self, count: usize) -> String {
        let ReloadNote { file, is_deleted } = self;
        let graphs = counted(count, "graph");
        match (is_deleted, count) {
            (true, 0) => format!("{file} was deleted: no graph that runs uses it"),
            (true, 1) => format!("{file} was deleted: 1 graph that runs keeps it"),
            (true, _) => format!("{file} was deleted: {graphs} that run keep it"),
            (false, 0) => format!("reloaded {file}: graphs that start from now on use it"),
            (false, 1) => format!("reloaded {file}: 1 graph that runs uses it"),
            (false, _) => format!("reloaded {file}: {graphs} that run use it"),
        }
    }

    /// `new` and `old` are the numbers of units that have the new and the previous version of a
    /// state machine or an animation.
    fn of_characters(&self, new: usize, old: usize) -> String {
        let ReloadNote { file, is_deleted } = self;
        let units = counted(new + old, "unit");
        match (is_deleted, new, old) {
            (true, 0, 0) => format!("{file} was deleted: no unit has it"),
            (true, ..) => {
                format!("{file} was deleted: {units} {} it", choose(new + old, "keeps", "keep"))
            }
            (false, 0, 0) => format!("reloaded {file}: units that get it from now on use it"),
            (false, _, 0) => {
                format!("reloaded {file}: {units} {} it", choose(new, "uses", "use"))
            }
            (false, ..) => {
                let (units, keep) = (counted(old, "unit"), choose(old, "keeps", "keep"));
                match new {
                    0 => format!("{file} was saved, but {units} {keep} the previous version"),
                    _ => {
                        let (others, use_it) = (counted(new, "unit"), choose(new, "uses", "use"));
                        format!(
                            "reloaded {file}: {others} {use_it} it, and {units} {keep} the \
                             previous version"
                        )
                    }
                }
            }
        }
    }

    fn materials(&self) -> String {
        let ReloadNote { file, is_deleted } = self;
        match is_deleted {
            true => format!("{file} was deleted: what it is drawn on stays as it is"),
            false => format!("reloaded {file}: everything that it is drawn on shows it"),
        }
    }
}

/// Returns true if a unit's resource has that name or inherits from it.
fn is_a(resource: &UnitResource, name: &str) -> bool {
    resource.name == name || resource.bases.iter().any(|base| base == name)
}

fn shown(count: usize) -> String {
    format!("{} {}", counted(count, "map"), choose(count, "shows", "show"))
}

impl Engine {
    /// Brings tile maps that scripts created up to date with their changed files, as the maps of
    /// units are. Tiles that the game set stay. Problems were reported when the files were read.
    pub fn renew_script_tilemaps(&mut self, changed: &ChangedResources) {
        let maps = &mut self.assets.tilemaps;
        let of_scripts = maps.slots.iter().filter(|(_, map)| map.owner.is_none());
        let of_scripts: Vec<TilemapId> = of_scripts
            .filter(|(_, map)| changed.has(ReloadStep::Tilemaps, &map.name))
            .map(|(handle, _)| TilemapId(handle))
            .collect();
        for map in of_scripts {
            let _ = maps.renew(&mut self.assets.store, map);
        }
        self.renew_tilemap_grids();
    }

    /// Returns a note for each changed resource that objects have or show. If `respawns` is
    /// set, the prelude respawns the spawned units and reports them.
    pub fn reload_notes(&mut self, changed: &ChangedResources, respawns: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let is_unit = |name: &&ResourceName| name.kind == kind_names::UNIT;
        for name in changed.of(ReloadStep::UnitResources).filter(is_unit) {
            let units = self.worlds.units.slots.iter();
            let of_file = units.filter(|(_, unit)| is_a(&unit.resource, &name.name));
            let spawned: Vec<_> = of_file.map(|(_, unit)| unit.resource.clone()).collect();
            let count = spawned.len();
            if !(respawns && count > 0 && self.assets.store.has(name)) {
                let old = spawned.iter().filter(|before| !self.has_same_body(before)).count();
                notes.push(self.note(name, |note| note.units(count, old)));
            }
        }
        for name in changed.of(ReloadStep::Levels) {
            let levels = self.worlds.levels.slots.iter();
            let count = levels.filter(|(_, level)| level.resource.name == name.name).count();
            notes.extend(self.note(name, |note| note.levels(count)));
        }
        for name in changed.of(ReloadStep::Tilemaps) {
            let maps = &self.assets.tilemaps;
            let of_file = maps.slots.iter().filter(|(_, map)| map.name == name.name);
            let (new, old): (Vec<_>, Vec<_>) =
                of_file.partition(|(handle, _)| maps.is_current(TilemapId(*handle)));
            notes.push(self.note(name, |note| note.tilemaps(new.len(), old.len())));
        }
        for name in changed.of(ReloadStep::Models) {
            let is_of_model = |mesh: &str| {
                mesh.strip_prefix(name.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
            };
            let meshes = self.worlds.scenes.meshes.slots.iter();
            let meshes = meshes.map(|(_, mesh)| &self.assets.models.entry(mesh.mesh).name);
            let meshes = meshes.filter(|mesh| is_of_model(mesh)).count();
            let actors = self.worlds.physics.actors.iter();
            let actors = actors.filter(|(_, actor)| actor.has_shape_of(&name.name)).count();
            notes.push(self.note(name, |note| note.models(meshes, actors)));
        }
        // Graphs that wait for the scripts of their nodes are reported after these.
        let is_current =
            |name: &&ResourceName| !self.worlds.flow.waiting.contains(&name.to_string());
        let graphs = changed.of(ReloadStep::Flow).filter(is_current);
        notes.extend(graphs.filter_map(|name| self.graph_note(name)));
        for name in changed.of(ReloadStep::StateMachines) {
            let animations = &self.worlds.animations;
            let [new, old] = animations.users_of_machine(&name.name, &mut self.assets.store);
            notes.push(self.note(name, |note| note.of_characters(new, old)));
        }
        let is_material = |name: &&ResourceName| name.kind == kind_names::MATERIAL;
        for name in changed.of(ReloadStep::Materials).filter(is_material) {
            notes.push(self.note(name, |note| note.materials()));
        }
        notes
    }

    /// Returns a note for each changed animation. Must not be called if a reload failed: characters
    /// can have kept the previous version.
    pub fn animation_notes(&self, changed: &ChangedResources) -> Vec<String> {
        let note = |name: &ResourceName| {
            let count = self.worlds.animations.users_of_animation(&name.name);
            self.note(name, |note| note.of_characters(count, 0))
        };
        changed.of(ReloadStep::Animations).map(note).collect()
    }

    /// Returns the note about a `.flow` file; `None` if one of the graphs that use it could not be
    /// compiled again, which was logged.
    fn graph_note(&self, resource: &ResourceName) -> Option<String> {
        let count = self.reloaded_graphs(resource)?;
        Some(self.note(resource, |note| note.graphs(count)))
    }

    /// Logs a note about each `.flow` file that was saved together with scripts of nodes, after its
    /// graphs were compiled again. `names` can have other resources, too.
    pub(super) fn note_reloaded_graphs(&self, names: &HashSet<String>) {
        if self.game.build != BuildMode::Development {
            return;
        }
        let resources = names.iter().filter_map(|name| ResourceName::parse(name));
        let mut graphs: Vec<ResourceName> =
            resources.filter(|resource| resource.kind == kind_names::FLOW).collect();
        graphs.sort_compact();
        graphs.iter().filter_map(|graph| self.graph_note(graph)).for_each(|it| log::info(&it));
    }

    /// Returns the number of running graphs that use the new version of a `.flow` file, or the last
    /// version of a deleted one, themselves or as a subgraph; `None` if one of them could not be
    /// compiled again, which was logged.
    fn reloaded_graphs(&self, resource: &ResourceName) -> Option<usize> {
        let graphs = &self.worlds.flow;
        let is_deleted = self.assets.store.path(resource).is_none();
        let mut count = 0;
        for (name, index) in graphs.get().program_names() {
            let program = graphs.get().program(index);
            if name == resource.to_string() || program.graphs.contains(&resource.name) {
                if graphs.kept.contains(&name) {
                    return None;
                }
                if is_deleted || !graphs.outdated.contains(&name) {
                    count += graphs.get().instances_of(index).len();
                }
            }
        }
        Some(count)
    }

    /// Returns true if the file of a unit now has the components that the unit was spawned with.
    fn has_same_body(&mut self, before: &UnitResource) -> bool {
        let now = self.worlds.unit_resource(&mut self.assets, &before.name);
        now.is_ok_and(|now| now.body_hash == before.body_hash && now.bases == before.bases)
    }

    fn note<T>(&self, name: &ResourceName, text: impl Fn(&ReloadNote) -> T) -> T {
        let path = self.assets.store.path(name);
        let file = path.clone().unwrap_or_else(|| name.to_string());
        text(&ReloadNote { file: &file, is_deleted: path.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_the_objects_of_both_versions() {
        let saved = ReloadNote { file: "a.x", is_deleted: false };
        let deleted = ReloadNote { file: "a.x", is_deleted: true };
        assert_eq!(
            [
                saved.units(0, 0),
                saved.units(1, 1),
                saved.units(4, 3),
                saved.units(2, 0),
                deleted.units(2, 0),
            ],
            [
                "reloaded a.x: units that are spawned from now on use it".to_string(),
                format!(
                    "reloaded a.x: 1 unit that is spawned keeps its old components; spawn it \
                     again, {REMEDY}"
                ),
                format!(
                    "reloaded a.x: 3 units that are spawned keep their old components; spawn \
                     them again, {REMEDY}"
                ),
                "reloaded a.x: its components have not changed".to_string(),
                "a.x was deleted: 2 units that are spawned stay".to_string(),
            ]
        );
        assert_eq!(
            [saved.graphs(0), saved.graphs(2), deleted.graphs(1)],
            [
                "reloaded a.x: graphs that start from now on use it",
                "reloaded a.x: 2 graphs that run use it",
                "a.x was deleted: 1 graph that runs keeps it",
            ]
        );
        assert_eq!(
            [saved.levels(0), saved.levels(1), deleted.levels(0)].map(Option::unwrap_or_default),
            [
                "reloaded a.x: levels that are spawned from now on use it",
                "",
                "a.x was deleted: the level is not spawned",
            ]
        );
        assert_eq!(
            [saved.tilemaps(2, 0), saved.tilemaps(1, 1), saved.tilemaps(0, 2)],
            [
                "reloaded a.x: 2 maps show it".to_string(),
                format!(
                    "reloaded a.x: 1 map shows it, and 1 map keeps the old tiles; create it again, \
                     {REMEDY}"
                ),
                format!("reloaded a.x: 2 maps keep the old tiles; create them again, {REMEDY}"),
            ]
        );
        assert_eq!(deleted.tilemaps(0, 1), "a.x was deleted: 1 map keeps the old tiles");
        assert_eq!(
            [saved.models(0, 0), saved.models(2, 0), saved.models(1, 1), deleted.models(1, 1)],
            [
                "reloaded a.x: units that are spawned from now on use it",
                "reloaded a.x: 2 meshes show it",
                "reloaded a.x: 1 mesh shows it, and 1 actor has its new shape",
                "a.x was deleted: the units that use it stay",
            ]
        );
    }

    #[test]
    fn a_note_counts_the_units_of_machines_and_animations() {
        let saved = ReloadNote { file: "a.x", is_deleted: false };
        let deleted = ReloadNote { file: "a.x", is_deleted: true };
        assert_eq!(
            [
                saved.of_characters(0, 0),
                saved.of_characters(2, 0),
                saved.of_characters(1, 1),
                saved.of_characters(0, 2),
                deleted.of_characters(0, 0),
                deleted.of_characters(0, 2),
            ],
            [
                "reloaded a.x: units that get it from now on use it",
                "reloaded a.x: 2 units use it",
                "reloaded a.x: 1 unit uses it, and 1 unit keeps the previous version",
                "a.x was saved, but 2 units keep the previous version",
                "a.x was deleted: no unit has it",
                "a.x was deleted: 2 units keep it",
            ]
        );
    }
}
