//! Navigation meshes of levels: baked from the static actors of a level when it has been spawned,
//! and again when its file or its navigation file changes. What was baked when the level was
//! compiled is loaded in place of a bake if it is of the same actors. A failed bake leaves the old
//! mesh.

use super::navigation::Navigation;
use super::{Engine, Worlds};
use engine_foundation::{Error, error, log};
use engine_navigation::bake::BakeSource;
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::volumes::Renumbering;
use engine_navigation::{MESHES_MAX, NavigationMeshId};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_tilemaps::Tilemaps;
use engine_world::WorldId;
use engine_world::level::{LevelId, Levels};
pub use engine_world::level_navigation::EditReport;
use engine_world::level_navigation::{
    AreaCosts, ClassBake, CompiledMeshes, LevelBake, LevelPart, file_of, merged_areas,
};
use engine_world::navigation_file::{AgentClass, FIRST_NAMED_AREA, LevelNavigation, PlatformEdit};

/// Updates of a world after which the actors of a saved level are where it says.
const UPDATES_BEFORE_BAKE: u8 = 1;

/// Mesh of a level for a class of characters.
pub struct ClassMesh {
    pub class: String,
    pub mesh: NavigationMeshId,
    /// Edits of the files, and their effects.
    pub edits: Vec<EditReport>,
    /// True if it was baked when the level was compiled.
    pub is_compiled: bool,
    /// Costs and dispersion as the files say.
    costs: AreaCosts,
    dispersion: f32,
}

/// Meshes of a level.
pub struct LevelMeshes {
    pub level: LevelId,
    pub world: WorldId,
    /// Names of areas, from number [`FIRST_NAMED_AREA`] on.
    pub areas: Vec<String>,
    pub meshes: Vec<ClassMesh>,
    /// Why the last bake failed.
    pub failure: Option<String>,
}

impl LevelMeshes {
    /// Returns true if a mesh is one of the level.
    pub fn has_mesh(&self, mesh: NavigationMeshId) -> bool {
        self.meshes.iter().any(|known| known.mesh == mesh)
    }

    /// Returns the number of an area by its name.
    pub fn area(&self, name: &str) -> Option<u8> {
        let found = self.areas.iter().position(|area| area == name)?;
        Some(FIRST_NAMED_AREA + found as u8)
    }
}

/// New mesh of a class.
struct Baked {
    class: String,
    mesh: NavigationMesh,
    edits: Vec<EditReport>,
    is_compiled: bool,
    costs: AreaCosts,
    dispersion: f32,
}

impl Navigation {
    /// Returns the meshes of a level, or of the level that contains it.
    pub fn of_level(&self, levels: &Levels, level: LevelId) -> Option<&LevelMeshes> {
        let mut above = Some(level);
        while let Some(level) = above {
            if let Some(found) = self.levels.iter().find(|known| known.level == level) {
                return Some(found);
            }
            above = levels.slots.get(level.0).and_then(|level| level.parent);
        }
        None
    }

    /// Returns true if a mesh belongs to a level, whose world updates and destroys it.
    pub fn is_of_level(&self, mesh: NavigationMeshId) -> bool {
        self.levels.iter().any(|level| level.has_mesh(mesh))
    }

    /// Returns the level and the class of characters of a mesh, for messages.
    pub(super) fn mesh_name(
        &self,
        levels: &Levels,
        level: LevelId,
        mesh: NavigationMeshId,
    ) -> String {
        let mut meshes = self.levels.iter().flat_map(|level| &level.meshes);
        let class =
            meshes.find(|known| known.mesh == mesh).map_or("", |known| known.class.as_str());
        let of = levels.slots.get(level.0);
        let level = of.map_or("", |level| level.resource.name.as_str());
        format!("navigation of level \"{level}\", agents '{class}'")
    }

    /// Warns about the meshes of a level that have no ground, and what has no effect in its files.
    fn report_bake(&self, level: LevelId, name: &str) {
        let known = self.levels.iter().find(|known| known.level == level);
        for class in known.into_iter().flat_map(|known| &known.meshes) {
            let location = format!("navigation of level \"{name}\", agents '{}'", class.class);
            let mesh = self.meshes.get(class.mesh.0);
            if let Some(mesh) = mesh.filter(|mesh| mesh.num_polygons() == 0) {
                let missing = mesh.settings().missing_ground();
                warn(&location, &format!("the navigation mesh has no ground: {missing}"));
            }
            for edit in class.edits.iter().filter(|edit| !edit.has_effect) {
                warn(&location, &edit.to_string());
            }
        }
    }

    fn remove_mesh(&mut self, mesh: NavigationMeshId, frame: u64, location: &str) {
        if self.meshes.get(mesh.0).is_some() {
            self.end_platforms_on(mesh, frame, location);
            self.meshes.remove(mesh.0, "", frame, location);
            self.agents.lose_mesh(mesh.0);
        }
    }

    /// Removes the meshes of levels that no longer exist, and of worlds.
    pub(super) fn release_levels(
        &mut self,
        is_alive: impl Fn(&LevelMeshes) -> bool,
        frame: u64,
        location: &str,
    ) {
        let (kept, ended) = std::mem::take(&mut self.levels).into_iter().partition(is_alive);
        self.levels = kept;
        for mesh in ended.iter().flat_map(|level: &LevelMeshes| &level.meshes) {
            self.remove_mesh(mesh.mesh, frame, location);
        }
    }

    /// Puts new meshes in place of those of a level. Agents stay where they are.
    fn install(&mut self, of: LevelMeshes, baked: Vec<Baked>, frame: u64) -> Result<(), Error> {
        let known = self.levels.iter().position(|known| known.level == of.level);
        let old = known.map(|at| self.levels.remove(at));
        let (mut old_meshes, old_areas) =
            old.map_or_else(Default::default, |old| (old.meshes, old.areas));
        let (mut of, mut result) = (of, Ok(()));
        for Baked { class, mesh, edits, is_compiled, costs, dispersion } in baked {
            let same = old_meshes.iter().position(|old| old.class == class);
            let old = same.map(|at| old_meshes.remove(at));
            let before = old.as_ref().map(|old| old.dispersion);
            let id = match old.map(|old| old.mesh) {
                Some(id) => {
                    let slot = self.meshes.get_mut(id.0).expect("levels own their meshes");
                    let renumbering = Renumbering::of_other_mesh(slot);
                    *slot = mesh;
                    self.agents.renumber(id.0, slot, &renumbering);
                    let areas = (&old_areas[..], &of.areas[..]);
                    self.agents.renumber_areas(id.0, |area| area_now(area, areas));
                    id
                }
                None => match self.meshes.add(mesh) {
                    Some(handle) => NavigationMeshId(handle),
                    None => {
                        result = Err(error!(
                            "{MESHES_MAX} navigation meshes already exist (MESHES_MAX): destroy \
                             one first"
                        ));
                        continue;
                    }
                },
            };
            // What the game has set stays until the file changes.
            if before != Some(dispersion) {
                self.agents.set_dispersion(id.0, dispersion);
            }
            of.meshes.push(ClassMesh { class, mesh: id, edits, is_compiled, costs, dispersion });
        }
        for old in old_meshes {
            self.remove_mesh(old.mesh, frame, "a change of the level's navigation");
        }
        self.levels.push(of);
        result
    }
}

/// Warns about the data of a game: each time, because a file can still be wrong when it is saved
/// again.
fn warn(location: &str, message: &str) {
    match log::holds_data_warnings() {
        true => log::data_warning(location, message),
        false => log::warning(&format!("{location}: {message}")),
    }
}

/// Returns the number that an area has now, by the names of areas before and now; `None` if it does
/// not exist any more.
fn area_now(number: u8, (before, now): (&[String], &[String])) -> Option<u8> {
    let at = |number: u8| number.checked_sub(FIRST_NAMED_AREA).map(usize::from);
    match at(number).and_then(|at| before.get(at)) {
        Some(name) => {
            let found = now.iter().position(|known| known == name)?;
            Some(FIRST_NAMED_AREA + found as u8)
        }
        // It has no name, and its number may not have become that of one.
        None => at(number).is_none_or(|at| at >= now.len()).then_some(number),
    }
}

/// Gives a new mesh the costs of areas that the game has changed in the old one, which had other
/// areas and `file_costs`.
fn keep_costs(
    mesh: &mut NavigationMesh,
    before: &NavigationMesh,
    (areas, old_areas): (&[String], &[String]),
    file_costs: &AreaCosts,
) {
    for (number, file_cost) in (0..).zip(file_costs).skip(1) {
        let cost = before.area_cost(number);
        let now = area_now(number, (old_areas, areas));
        if let Some(now) = now.filter(|_| cost != *file_cost) {
            mesh.set_area_cost(now, cost);
        }
    }
}

impl Worlds {
    /// Returns the levels whose meshes are baked with a level: itself, or those inside of it that
    /// have navigation of their own.
    fn levels_to_bake(&self, top: LevelId) -> Vec<LevelId> {
        let mut found: Vec<LevelId> = Vec::new();
        for level in self.levels.with_nested(top) {
            let of = self.levels.of(level);
            let mut above = of.parent;
            let mut is_inside = false;
            while let Some(parent) = above {
                is_inside |= found.contains(&parent);
                above = self.levels.of(parent).parent;
            }
            if of.resource.navigation.is_some() && !is_inside {
                found.push(level);
            }
        }
        found
    }

    /// Returns the triangles of the static actors of a level, or of its world.
    fn level_triangles(
        &mut self,
        (level, is_of_world): (LevelId, bool),
        tilemaps: &Tilemaps,
    ) -> Result<BakeSource, Error> {
        if is_of_world {
            return self.world_triangles(self.levels.of(level).world, tilemaps);
        }
        let Worlds { physics, units, scenes, levels, .. } = self;
        let tiles = scenes.maps.solid_pieces(levels.units(level), (units, tilemaps), physics);
        let source = physics.triangles_of_units(levels.units(level), &tiles)?;
        match source.is_empty() {
            false => Ok(source),
            true => Err(error!(
                "the level has no static actors to bake a navigation mesh from: give its ground a \
                 static actor, which is no plane, trigger or one-way platform, or bake all actors \
                 of the world with source = \"world\""
            )),
        }
    }
}

impl Engine {
    /// Bakes the meshes of a level that has been spawned, and of those inside of it. A failure is
    /// logged; the old mesh stays then.
    pub fn bake_level(&mut self, top: LevelId) {
        for level in self.worlds.levels_to_bake(top) {
            self.bake_meshes_of(level);
        }
        self.end_meshes_without_navigation(top);
    }

    /// Bakes the meshes of a level when its actors have been moved: in the update of its world
    /// after the next one.
    pub fn bake_level_later(&mut self, top: LevelId) {
        let waiting = &mut self.worlds.navigation.waiting_levels;
        waiting.retain(|(level, _)| *level != top);
        waiting.push((top, UPDATES_BEFORE_BAKE));
    }

    /// Bakes the levels of a world whose time has come.
    pub(super) fn bake_waiting_levels(&mut self, world: WorldId) {
        let Worlds { navigation, levels, .. } = &mut self.worlds;
        let mut due = Vec::new();
        navigation.waiting_levels.retain_mut(|(level, updates)| {
            let Some(of) = levels.slots.get(level.0) else { return false };
            if of.world == world && *updates == 0 {
                due.push(*level);
                return false;
            }
            *updates -= u8::from(of.world == world);
            true
        });
        for level in due {
            self.bake_level(level);
            self.worlds.create_unit_agents(world, self.frame.index);
        }
    }

    fn bake_meshes_of(&mut self, level: LevelId) {
        let resource = self.worlds.levels.of(level).resource.clone();
        let result = self.try_bake(level);
        let navigation = &mut self.worlds.navigation;
        let known = navigation.levels.iter_mut().find(|known| known.level == level);
        let Err(error) = result else {
            let known = known.expect("it was baked");
            known.failure = None;
            return navigation.report_bake(level, &resource.name);
        };
        let is_kept = known.as_ref().is_some_and(|known| !known.meshes.is_empty());
        let kept = if is_kept { ": the old navigation mesh stays" } else { "" };
        let message = format!("navigation of level \"{}\": {}{kept}", resource.name, error.message);
        log::error(&message);
        match known {
            Some(known) => known.failure = Some(message),
            None => {
                let world = self.worlds.levels.of(level).world;
                let failure = Some(message);
                let (areas, meshes) = (Vec::new(), Vec::new());
                navigation.levels.push(LevelMeshes { level, world, areas, meshes, failure });
            }
        }
    }

    fn try_bake(&mut self, level: LevelId) -> Result<(), Error> {
        let world = self.worlds.levels.of(level).world;
        if self.worlds.world(world).flags.flat {
            return Err(error!(
                "its world is two-dimensional, and navigation meshes are for worlds whose ground \
                 has an up: use NavigationGrid.create_from_tilemap"
            ));
        }
        let parts = self.level_parts(level)?;
        let file = &parts[0].file;
        let areas = merged_areas(&parts)?;
        let of = (level, file.is_of_world);
        let source = self.worlds.level_triangles(of, &self.assets.tilemaps)?;
        let bake = LevelBake { parts: &parts, areas: &areas, source: &source };
        let mut compiled = self.compiled_meshes(&parts[0].resource.name);
        let mut baked = Vec::new();
        for class in &file.classes {
            let mesh = self.bake_class(level, class, &bake, &mut compiled);
            baked.push(mesh.map_err(|error| Error {
                message: format!("agents '{}': {}", class.name, error.message),
                ..error
            })?);
        }
        let areas = areas.into_iter().map(|(name, _)| name).collect();
        let of = LevelMeshes { level, world, areas, meshes: Vec::new(), failure: None };
        let result = self.worlds.navigation.install(of, baked, self.frame.index);
        self.make_level_platforms(level);
        // What is new in the file can be areas of which components know.
        self.worlds.give_costs_again(level);
        result
    }

    /// Returns the meshes that were baked when a level was compiled. Without usable ones, they are
    /// baked now.
    fn compiled_meshes(&mut self, level: &str) -> CompiledMeshes {
        CompiledMeshes::of_level(&mut self.assets.store, level).unwrap_or_else(|error| {
            log::warning(&format!(
                "the navigation of level \"{level}\" is baked again: {}",
                error.message
            ));
            CompiledMeshes::default()
        })
    }

    fn bake_class(
        &self,
        level: LevelId,
        class: &AgentClass,
        bake: &LevelBake,
        compiled: &mut CompiledMeshes,
    ) -> Result<Baked, Error> {
        let (pool, navigation) = (&self.devices.tasks, &self.worlds.navigation);
        let old = navigation.levels.iter().find(|known| known.level == level).and_then(|old| {
            let known = old.meshes.iter().find(|known| known.class == class.name)?;
            Some((&old.areas, &known.costs, navigation.meshes.get(known.mesh.0)?))
        });
        let adopt = |mesh: &mut NavigationMesh| {
            if let Some((old_areas, old_costs, before)) = old {
                mesh.adopt(before);
                let names: Vec<String> = bake.areas.iter().map(|(name, _)| name.clone()).collect();
                keep_costs(mesh, before, (&names, old_areas), old_costs);
            }
        };
        // What the game has changed is part of a new bake: tiles with its obstacles, and no links
        // over them.
        let is_changed = old.is_some_and(|(_, _, before)| before.has_game_changes());
        let known = match is_changed {
            true => None,
            false => compiled.take(&class.name, bake.inputs(class)),
        };
        let is_compiled = known.is_some();
        let ClassBake { mesh, edits, costs, .. } = match known {
            Some(known) => bake.load(class, known, adopt, pool)?,
            None => bake.bake(class, adopt, pool)?,
        };
        let (class, dispersion) = (class.name.clone(), class.dispersion);
        Ok(Baked { class, mesh, edits, is_compiled, costs, dispersion })
    }

    /// Makes the platforms of a level and of those inside of it, for each class of characters.
    fn make_level_platforms(&mut self, level: LevelId) {
        let navigation = &self.worlds.navigation;
        let known = navigation.levels.iter().find(|known| known.level == level);
        let Some(known) = known else { return };
        let meshes: Vec<(String, NavigationMeshId)> =
            known.meshes.iter().map(|mesh| (mesh.class.clone(), mesh.mesh)).collect();
        let mut edits = Vec::new();
        for part in self.worlds.levels.with_nested(level) {
            let navigation = self.worlds.levels.of(part).resource.navigation.clone();
            // A broken file has been reported by the bake.
            let file = file_of(&mut self.assets.store, navigation.as_ref()).ok().flatten();
            let of_part = file.into_iter().flat_map(|file| file.platforms);
            edits.extend(of_part.map(|edit| (part, edit)));
        }
        for (at, (class, mesh)) in meshes.iter().enumerate() {
            let applies =
                |edit: &PlatformEdit| edit.classes.is_empty() || edit.classes.contains(class);
            let of_class: Vec<(LevelId, PlatformEdit)> =
                edits.iter().filter(|(_, edit)| applies(edit)).cloned().collect();
            let reports = self.make_platforms(level, (class, *mesh), &of_class);
            let levels = &mut self.worlds.navigation.levels;
            let known = levels.iter_mut().find(|known| known.level == level);
            if let Some(mesh) = known.and_then(|known| known.meshes.get_mut(at)) {
                mesh.edits.extend(reports);
            }
        }
    }

    /// Returns a level and those inside of it that have navigation, with their files.
    fn level_parts(&mut self, level: LevelId) -> Result<Vec<LevelPart>, Error> {
        let mut parts = Vec::new();
        for level in self.worlds.levels.with_nested(level) {
            let of = self.worlds.levels.of(level);
            let (resource, transform) = (of.resource.clone(), of.transform);
            let file = file_of(&mut self.assets.store, resource.navigation.as_ref())?;
            if let Some(file) = file {
                parts.push(LevelPart { resource, transform, file });
            }
        }
        Ok(parts)
    }

    /// Ends the meshes of levels whose file no longer has navigation.
    fn end_meshes_without_navigation(&mut self, top: LevelId) {
        let Worlds { navigation, levels, .. } = &mut self.worlds;
        let inside = levels.with_nested(top);
        let is_alive = |of: &LevelMeshes| {
            !inside.contains(&of.level) || levels.of(of.level).resource.navigation.is_some()
        };
        navigation.release_levels(is_alive, self.frame.index, "a change of the level");
    }

    /// Ends the meshes of a level that is destroyed, and of those inside of it.
    pub fn end_level_meshes(&mut self, level: LevelId, location: &str) {
        let inside = self.worlds.levels.with_nested(level);
        let is_alive = |of: &LevelMeshes| !inside.contains(&of.level);
        self.worlds.navigation.release_levels(is_alive, self.frame.index, location);
    }

    /// Bakes the meshes of levels again whose navigation files have changed, and of all levels if
    /// units or their shapes have.
    pub fn reload_navigation(&mut self, changed: &ChangedResources) {
        let shapes = [ReloadStep::UnitResources, ReloadStep::CollisionShapes];
        if shapes.into_iter().any(|step| changed.any(step)) {
            let known = self.worlds.navigation.levels.iter().map(|known| known.level);
            known.collect::<Vec<_>>().into_iter().for_each(|level| self.bake_level_later(level));
        }
        let is_changed = |level: &LevelId| {
            self.worlds.levels.with_nested(*level).into_iter().any(|level| {
                let navigation = &self.worlds.levels.of(level).resource.navigation;
                matches!(navigation, Some(LevelNavigation::File(name))
                    if changed.has(ReloadStep::Navigation, name))
            })
        };
        let known = self.worlds.navigation.levels.iter().map(|known| known.level);
        let levels: Vec<LevelId> = known.filter(is_changed).collect();
        for level in levels {
            self.bake_meshes_of(level);
            let name = &self.worlds.levels.of(level).resource.name;
            log::info(&format!("baked the navigation of level \"{name}\" again"));
        }
    }
}
