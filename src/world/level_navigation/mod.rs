//! The bake of a level's navigation meshes: its areas, and the mesh of a class of characters with
//! what the files change by hand (edits.rs). The compiler bakes the meshes of levels (compiled.rs)
//! from their units (geometry.rs), and the engine from the actors of a level that was spawned.

mod compiled;
mod edits;
mod geometry;
mod shapes;

pub use compiled::{CompiledClass, CompiledMeshes, NAVIGATION_MESH};
pub use edits::EditReport;

use super::level::LevelTransform;
use super::level_resource::LevelResource;
use super::navigation_file::{
    AgentClass, FIRST_NAMED_AREA, LevelNavigation, NAMED_AREAS_MAX, NavigationFile,
};
use edits::{EditPlan, apply_edits};
use engine_foundation::hash::{StateHash, murmur64a};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, error};
use engine_navigation::bake::{AREAS_MAX, BakeSource};
use engine_navigation::jumps::JumpSettings;
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::volumes::Renumbering;
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// Kinds of reports whose numbers are those of volumes.
const VOLUME_KINDS: [&str; 2] = ["volume", "blocker"];
/// Maximum number of volumes that a message names.
const NAMED_VOLUMES_MAX: usize = 8;

/// Costs of all areas.
pub type AreaCosts = [f32; AREAS_MAX];

/// A level that contributes to a mesh, with its navigation file.
pub struct LevelPart {
    pub resource: Arc<LevelResource>,
    pub transform: LevelTransform,
    pub file: NavigationFile,
}

/// Inputs of the meshes of a level.
pub struct LevelBake<'a> {
    /// The level and those inside of it that have navigation; at least one.
    pub parts: &'a [LevelPart],
    /// Areas with their costs.
    pub areas: &'a [(String, f32)],
    pub source: &'a BakeSource,
}

/// New mesh of a class of characters.
pub struct ClassBake {
    pub mesh: NavigationMesh,
    pub edits: Vec<EditReport>,
    pub costs: AreaCosts,
    /// Links that were found by the rules of the files.
    pub found_links: Vec<JumpSettings>,
}

/// Returns the navigation file of a level, if it has one.
///
/// # Errors
/// Returns an error if the file is missing or broken.
pub fn file_of(
    store: &mut ResourceStore,
    navigation: Option<&LevelNavigation>,
) -> Result<Option<NavigationFile>, Error> {
    match navigation {
        None => Ok(None),
        Some(LevelNavigation::Inline(file)) => Ok(Some((**file).clone())),
        Some(LevelNavigation::File(name)) => NavigationFile::read(store, name).map(Some),
    }
}

/// Returns the areas of a level and of those inside of it, with their costs.
///
/// # Errors
/// Returns an error if there are too many.
pub fn merged_areas(parts: &[LevelPart]) -> Result<Vec<(String, f32)>, Error> {
    let mut areas: Vec<(String, f32)> = Vec::new();
    for (name, cost) in parts.iter().flat_map(|part| &part.file.areas) {
        if !areas.iter().any(|(known, _)| known == name) {
            areas.push((name.clone(), *cost));
        }
    }
    if areas.len() > NAMED_AREAS_MAX {
        return Err(error!(
            "the level and those inside of it have {} areas, and {NAMED_AREAS_MAX} are the most \
             (NAMED_AREAS_MAX)",
            areas.len()
        ));
    }
    Ok(areas)
}

/// Returns the costs of areas for a class.
fn costs_of(areas: &[(String, f32)], class: &AgentClass) -> AreaCosts {
    let mut costs = [1.0; AREAS_MAX];
    costs[0] = 0.0;
    for ((name, cost), number) in areas.iter().zip(usize::from(FIRST_NAMED_AREA)..) {
        let own = class.costs.iter().find(|(known, _)| known == name);
        costs[number] = own.map_or(*cost, |(_, cost)| *cost);
    }
    costs
}

impl LevelBake<'_> {
    /// Returns a hash of everything that the mesh of a class depends on.
    pub fn inputs(&self, class: &AgentClass) -> u64 {
        let mut hash = StateHash::new(0);
        self.source.write_state(&mut hash);
        let mut write = |text: String| hash.write_u64(murmur64a(text.as_bytes(), 0));
        // The text of a float leads to the same float.
        write(format!("{class:?} {:?}", self.areas));
        for LevelPart { resource, transform, file } in self.parts {
            let LevelResource { name, volumes, splines, .. } = &**resource;
            write(format!("{name:?} {transform:?} {file:?} {volumes:?} {splines:?}"));
        }
        hash.finish()
    }

    /// Bakes the mesh of a class. `adopt` takes over what the game has changed in an old mesh.
    ///
    /// # Errors
    /// Returns an error if a tile is too complex, or the system cannot start another thread.
    pub fn bake(
        &self,
        class: &AgentClass,
        adopt: impl FnOnce(&mut NavigationMesh),
        pool: &TaskPool,
    ) -> Result<ClassBake, Error> {
        let mesh = NavigationMesh::bake(self.source.clone(), class.settings, pool)?;
        let (mut mesh, costs, mut plan) = self.with_edits(class, mesh);
        adopt(&mut mesh);
        finish_tiles(&mut mesh, &plan.reports, pool)?;
        plan.add_jumps(&mut mesh, class, self.parts, pool)?;
        plan.finish(&mut mesh);
        let EditPlan { reports: edits, found_links, .. } = plan;
        Ok(ClassBake { mesh, edits, costs, found_links })
    }

    /// Builds the mesh of a class from what was baked for the same [inputs](LevelBake::inputs).
    ///
    /// # Errors
    /// Returns an error if the data is not of such a bake.
    pub fn load(
        &self,
        class: &AgentClass,
        compiled: CompiledClass,
        adopt: impl FnOnce(&mut NavigationMesh),
        pool: &TaskPool,
    ) -> Result<ClassBake, Error> {
        let source = self.source.clone();
        let mesh = NavigationMesh::from_tiles(source, class.settings, compiled.tiles, pool)?;
        let (mut mesh, costs, mut plan) = self.with_edits(class, mesh);
        // The tiles have the volumes already.
        mesh.keep_waiting_tiles();
        let CompiledClass { version, edits, found_links, .. } = compiled;
        for link in &found_links {
            mesh.add_found_link(link.clone());
        }
        finish_tiles(&mut mesh, &plan.reports, pool)?;
        plan.finish(&mut mesh);
        mesh.set_version(version);
        adopt(&mut mesh);
        Ok(ClassBake { mesh, edits, costs, found_links })
    }

    /// Adds the costs, volumes, links and seeds of the files to a mesh.
    fn with_edits(
        &self,
        class: &AgentClass,
        mut mesh: NavigationMesh,
    ) -> (NavigationMesh, AreaCosts, EditPlan) {
        let costs = costs_of(self.areas, class);
        for (number, cost) in costs.iter().enumerate().skip(1) {
            mesh.set_area_cost(number as u8, *cost);
        }
        let plan = apply_edits(&mut mesh, class, self.areas, self.parts);
        mesh.reserve_file_numbers();
        (mesh, costs, plan)
    }
}

/// Builds the tiles again that wait for it, and makes links usable.
fn finish_tiles(
    mesh: &mut NavigationMesh,
    reports: &[EditReport],
    pool: &TaskPool,
) -> Result<(), Error> {
    // Links that were added need one call even if no tile waits.
    loop {
        if let Some(Renumbering { failure: Some(failure), failed_volumes, .. }) =
            mesh.rebuild(pool)?
        {
            return Err(name_volumes(failure, &failed_volumes, reports));
        }
        if mesh.waiting_tiles() == 0 {
            return Ok(());
        }
    }
}

/// Returns an error about a tile with its volumes: the names of those that files have added, and
/// the numbers of others.
pub fn name_volumes(failure: Error, numbers: &[u32], reports: &[EditReport]) -> Error {
    if numbers.is_empty() {
        return failure;
    }
    let name = |number: &u32| {
        let mut of_volumes = reports.iter().filter(|edit| VOLUME_KINDS.contains(&edit.kind));
        match of_volumes.find(|edit| edit.number == Some(*number)) {
            Some(edit) => format!("{} '{}' of level \"{}\"", edit.kind, edit.name, edit.level),
            None => format!("volume {number}"),
        }
    };
    let mut names: Vec<String> = numbers.iter().take(NAMED_VOLUMES_MAX).map(name).collect();
    if numbers.len() > NAMED_VOLUMES_MAX {
        names.push("and others".to_string());
    }
    let message = format!("{}; the tile has {}", failure.message, names.join(", "));
    Error { message, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_tiles_name_their_volumes() {
        let report = |kind: &'static str, name: &str, number| EditReport {
            kind,
            name: name.to_string(),
            level: "levels/yard".to_string(),
            message: String::new(),
            has_effect: true,
            number: Some(number),
        };
        let reports = [report("link", "jump", 2), report("volume", "strip", 2)];
        let message = |numbers: &[u32]| name_volumes(error!("failed"), numbers, &reports).message;
        assert_eq!(message(&[]), "failed");
        let text = "failed; the tile has volume 'strip' of level \"levels/yard\", volume 4097";
        assert_eq!(message(&[2, 4097]), text);
        assert!(message(&[7; 100]).ends_with(", volume 7, and others"));
    }
}
