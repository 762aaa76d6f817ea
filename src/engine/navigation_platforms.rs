//! Platforms of a game: meshes of units that move, such as lifts and ferries. Each follows the pose
//! of its unit, and ends with it.

use super::level_navigation::EditReport;
use super::navigation::Navigation;
use super::{Engine, Worlds};
use engine_foundation::{Error, Handle, Vec3, error, log, suggest};
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::platforms::{
    MeshPose, PLATFORM_DEPTH_MAX, Platform, STOPS_MAX, StopSettings,
};
use engine_navigation::{MESHES_MAX, NavigationMeshId};
use engine_world::level::LevelId;
use engine_world::navigation_file::PlatformEdit;
use engine_world::unit::UnitId;

/// Smallest island of a platform, in square metres, if that of its ground is larger.
const REGION_MIN: f32 = 0.1;

/// Updates between checks whether characters wait for a platform that does not move, and number of
/// such checks after which a warning says so.
const CHECK_UPDATES: u32 = 60;
const WAITED_CHECKS: u32 = 30;

/// Mesh that follows a unit.
#[derive(Clone, Debug)]
pub struct UnitPlatform {
    pub mesh: NavigationMeshId,
    pub unit: UnitId,
    /// Level, class and entry of the file from which it was made.
    source: Option<(LevelId, String, PlatformEdit)>,
    /// Updates since it has moved, and checks in which characters have waited for it since.
    still: u32,
    waited: u32,
}

/// Properties of a platform.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlatformOptions {
    /// Cost of a ride, in metres of ordinary ground.
    pub cost: f32,
    /// Number of agents that it carries; `None` for as many as it has room for.
    pub capacity: Option<usize>,
}

impl PlatformOptions {
    pub const DEFAULT: PlatformOptions = PlatformOptions { cost: 10.0, capacity: None };
}

impl Navigation {
    /// Returns the platform of a level by its name in the file, and the class of characters.
    pub fn platform_of_level(
        &self,
        level: LevelId,
        class: &str,
        name: &str,
    ) -> Option<NavigationMeshId> {
        let is_wanted = |of: &&UnitPlatform| {
            of.source.as_ref().is_some_and(|(known, of_class, edit)| {
                *known == level && of_class == class && edit.name == name
            })
        };
        self.platforms.iter().find(is_wanted).map(|of| of.mesh)
    }

    /// Returns true if a platform was made from the file of a level.
    pub fn is_platform_of_level(&self, mesh: NavigationMeshId) -> bool {
        self.platforms.iter().any(|of| of.mesh == mesh && of.source.is_some())
    }

    /// Ends the platforms on a mesh, with the meshes of all platforms on them.
    pub fn end_platforms_on(&mut self, mesh: NavigationMeshId, frame: u64, location: &str) {
        let on_mesh = self.agents.platforms().iter().filter(|of| of.ground == mesh.0);
        for platform in on_mesh.map(|of| of.mesh).collect::<Vec<Handle>>() {
            self.end_platform(NavigationMeshId(platform), frame, location);
        }
    }

    /// Ends a platform, with those on it and their meshes.
    pub fn end_platform(&mut self, mesh: NavigationMeshId, frame: u64, location: &str) {
        for ended in self.agents.end_platform(&mut self.meshes, mesh.0) {
            self.agents.lose_mesh(ended);
            if self.meshes.get(ended).is_some() {
                self.meshes.remove(ended, "", frame, location);
            }
            self.platforms.retain(|of| of.mesh.0 != ended);
        }
    }
}

impl Worlds {
    fn unit_pose(&mut self, unit: UnitId) -> MeshPose {
        let (row, scene) = (unit.row(), &mut self.units.scene);
        let position = scene.world_position(row, 0);
        MeshPose { position, rotation: scene.world_rotation(row, 0).normalize() }
    }

    /// Moves the platforms on a mesh to where their units are, and ends those whose unit has ended.
    pub(super) fn follow_platform_units(&mut self, root: NavigationMeshId, frame: u64) {
        if self.navigation.platforms.is_empty() {
            return;
        }
        for mesh in self.navigation.agents.tree(root.0).split_off(1) {
            let of = self.navigation.platforms.iter().find(|of| of.mesh.0 == mesh);
            let Some(unit) = of.map(|of| of.unit) else { continue };
            if self.units.slots.get(unit.0).is_none() {
                let mesh = NavigationMeshId(mesh);
                self.navigation.end_platform(mesh, frame, "the end of the unit of its platform");
                continue;
            }
            let pose = self.unit_pose(unit);
            let platform = self.navigation.agents.platform_mut(mesh);
            let before = platform.map(|platform| std::mem::replace(&mut platform.pose, pose));
            self.report_still_platform(mesh, before == Some(pose));
        }
    }

    /// Warns once about a platform that does not move, although characters wait for it.
    fn report_still_platform(&mut self, mesh: Handle, is_still: bool) {
        let Navigation { platforms, agents, .. } = &mut self.navigation;
        let Some(of) = platforms.iter_mut().find(|of| of.mesh.0 == mesh) else { return };
        of.still = if is_still { of.still.saturating_add(1) } else { 0 };
        if of.still == 0 {
            of.waited = 0;
        }
        if of.still == 0 || !of.still.is_multiple_of(CHECK_UPDATES) {
            return;
        }
        let stops = agents.platform(mesh).map_or(0, |platform| platform.stops.len() as u8);
        let is_wanted = (0..stops).any(|stop| agents.stop_counts(mesh, stop).waiting > 0);
        of.waited = if is_wanted { of.waited + 1 } else { 0 };
        if of.waited == WAITED_CHECKS {
            let name = &self.units.of(of.unit).resource.name;
            log::data_warning(
                &format!("platform of the unit \"{name}\""),
                &format!(
                    "characters have waited for it for {} updates, and it has not moved: move its \
                     unit to its stops, or call NavigationMesh.set_platform_usable if they are to \
                     take another way",
                    WAITED_CHECKS * CHECK_UPDATES
                ),
            );
        }
    }

    /// Moves the platform of a unit to where the unit is.
    fn follow_platform_unit(&mut self, mesh: NavigationMeshId, unit: UnitId) {
        let pose = self.unit_pose(unit);
        if let Some(platform) = self.navigation.agents.platform_mut(mesh.0) {
            platform.pose = pose;
        }
    }
}

impl Engine {
    /// Bakes the mesh of a unit's actors, in the space of the unit, as a platform on a mesh. It has
    /// the settings of that.
    ///
    /// # Errors
    /// Returns an error if the unit has no solid actors or no ground for characters, if the bake
    /// fails, or if there are too many meshes, or too many platforms on each other.
    pub fn create_platform(
        &mut self,
        ground: NavigationMeshId,
        unit: UnitId,
        options: PlatformOptions,
    ) -> Result<NavigationMeshId, Error> {
        let worlds = &mut self.worlds;
        if worlds.navigation.platforms.iter().any(|of| {
            of.unit == unit && {
                let platform = worlds.navigation.agents.platform(of.mesh.0);
                platform.is_some_and(|platform| platform.ground == ground.0)
            }
        }) {
            return Err(error!("the unit is a platform on this navigation mesh already"));
        }
        if worlds.navigation.agents.depth(ground.0) >= PLATFORM_DEPTH_MAX {
            return Err(error!(
                "{PLATFORM_DEPTH_MAX} platforms at most are on each other (PLATFORM_DEPTH_MAX)"
            ));
        }
        let source = worlds.physics.platform_triangles(unit, &mut worlds.units)?;
        if source.is_empty() {
            let name = &worlds.units.of(unit).resource.name;
            return Err(error!(
                "the unit \"{name}\" has no actors on which characters could stand: give it a \
                 kinematic actor"
            ));
        }
        if worlds.physics.has_only_static_actors(unit) {
            log::data_warning(
                &format!("platform of the unit \"{}\"", worlds.units.of(unit).resource.name),
                "its actors are static: they are ground of the level, too, and stay where they \
                 are; make them kinematic",
            );
        }
        let meshes = &worlds.navigation.meshes;
        let of = meshes.get(ground.0).expect("the handle was checked where it came in");
        let mut settings = *of.settings();
        settings.region_min = settings.region_min.min(REGION_MIN);
        let mesh = NavigationMesh::bake(source, settings, &self.devices.tasks)?;
        if mesh.num_polygons() == 0 {
            let name = &worlds.units.of(unit).resource.name;
            return Err(error!(
                "the actors of the unit \"{name}\" have no ground with room for characters of the \
                 radius {} and the height {}: make them larger, or the 'cell_size' of the \
                 characters smaller",
                settings.radius_text(),
                settings.height
            ));
        }
        let pose = worlds.unit_pose(unit);
        let navigation = &mut worlds.navigation;
        let Some(id) = navigation.meshes.add(mesh) else {
            return Err(error!(
                "{MESHES_MAX} navigation meshes already exist (MESHES_MAX): destroy one first"
            ));
        };
        let mesh = navigation.meshes.get(id).expect("it was added");
        let PlatformOptions { cost, capacity } = options;
        let platform = Platform::new((id, mesh), ground.0, pose, (cost, capacity));
        navigation.agents.add_platform(platform);
        let mesh = NavigationMeshId(id);
        navigation.platforms.push(UnitPlatform { mesh, unit, source: None, still: 0, waited: 0 });
        Ok(mesh)
    }

    /// Adds a stop to a platform. Points are in the spaces of its ground and of the platform.
    ///
    /// # Errors
    /// Returns an error if there is no ground at one of the points, if another stop has the name,
    /// or if there are too many stops or links.
    pub fn add_platform_stop(
        &mut self,
        platform: NavigationMeshId,
        settings: StopSettings,
    ) -> Result<(), Error> {
        let Navigation { meshes, agents, .. } = &mut self.worlds.navigation;
        let of = agents.platform(platform.0).expect("the caller has checked the platform");
        let name = &settings.name;
        if of.stop(name).is_some() {
            return Err(error!("the platform has a stop '{name}' already"));
        }
        if of.stops.len() >= STOPS_MAX {
            return Err(error!("the platform has {STOPS_MAX} stops already (STOPS_MAX)"));
        }
        let ground = of.ground;
        let check = |mesh: Handle, point: Vec3, site: &str| {
            let found = meshes.get(mesh).and_then(|mesh| mesh.snap(point));
            found
                .map(drop)
                .ok_or_else(|| error!("stop '{name}': there is no ground {site} near {point}"))
        };
        check(platform.0, settings.aboard, "on the platform")?;
        check(ground, settings.ashore, "beside the platform")?;
        let mesh = meshes.get_mut(ground).expect("platforms end with their ground");
        match agents.add_stop(platform.0, mesh, settings) {
            true => Ok(()),
            false => Err(error!("the mesh of the ground has too many links (LINKS_MAX)")),
        }
    }

    /// Makes the platforms of a level's file on its mesh for a class of characters. Those whose
    /// entry has not changed stay. Returns what came of each entry.
    pub(super) fn make_platforms(
        &mut self,
        level: LevelId,
        (class, ground): (&str, NavigationMeshId),
        edits: &[(LevelId, PlatformEdit)],
    ) -> Vec<EditReport> {
        let frame = self.frame.index;
        let of_class = |of: &&UnitPlatform| {
            of.source.as_ref().is_some_and(|(known, name, _)| *known == level && name == class)
        };
        let known: Vec<UnitPlatform> =
            self.worlds.navigation.platforms.iter().filter(of_class).cloned().collect();
        for of in &known {
            let is_same = edits.iter().any(|(part, edit)| {
                of.source.as_ref().is_some_and(|(_, _, known)| known == edit)
                    && self.unit_of(*part, &edit.unit).is_ok_and(|unit| unit == of.unit)
            });
            if !is_same {
                let reason = "a change of the level's navigation";
                self.worlds.navigation.end_platform(of.mesh, frame, reason);
            }
        }
        let mut reports = Vec::new();
        for (part, edit) in edits {
            let created = self.make_platform(level, (class, ground), (*part, edit));
            let has_effect = created.is_ok();
            let message =
                created.unwrap_or_else(|error| format!("does nothing: {}", error.message));
            reports.push(EditReport {
                kind: "platform",
                name: edit.name.clone(),
                level: self.worlds.levels.of(*part).resource.name.clone(),
                message,
                has_effect,
                number: None,
            });
        }
        reports
    }

    /// Returns a unit of a level by its name.
    fn unit_of(&self, level: LevelId, name: &str) -> Result<UnitId, Error> {
        let of = self.worlds.levels.of(level);
        let Some(index) = of.resource.unit_index(name) else {
            let names = of.resource.units.iter().map(|unit| unit.name.as_str());
            let hint = suggest::hint(name, names);
            let level = &of.resource.name;
            return Err(error!("the level \"{level}\" has no unit '{name}'{hint}"));
        };
        let unit = of.units.get(index).copied().flatten();
        unit.filter(|unit| self.worlds.units.slots.get(unit.0).is_some())
            .ok_or_else(|| error!("its unit '{name}' was not spawned, or has been destroyed"))
    }

    fn make_platform(
        &mut self,
        level: LevelId,
        (class, ground): (&str, NavigationMeshId),
        (part, edit): (LevelId, &PlatformEdit),
    ) -> Result<String, Error> {
        let unit = self.unit_of(part, &edit.unit)?;
        let navigation = &self.worlds.navigation;
        let mesh = match navigation.platform_of_level(level, class, &edit.name) {
            Some(known) => known,
            None => {
                let options = PlatformOptions { cost: edit.cost, capacity: edit.capacity };
                let mesh = self.create_platform(ground, unit, options)?;
                let transform = self.worlds.levels.of(part).transform;
                for stop in &edit.stops {
                    let ashore = transform.to_world(stop.ashore);
                    let added =
                        self.add_platform_stop(mesh, StopSettings { ashore, ..stop.clone() });
                    if let Err(error) = added {
                        let frame = self.frame.index;
                        self.worlds.navigation.end_platform(mesh, frame, "a stop without ground");
                        return Err(error);
                    }
                }
                let source = Some((level, class.to_string(), edit.clone()));
                let known = &mut self.worlds.navigation.platforms;
                if let Some(known) = known.iter_mut().find(|known| known.mesh == mesh) {
                    known.source = source;
                }
                mesh
            }
        };
        self.worlds.follow_platform_unit(mesh, unit);
        let of = self.worlds.navigation.agents.platform(mesh.0);
        let (stops, capacity) = of.map_or((0, 0), |of| (of.stops.len(), of.capacity));
        Ok(format!("has {stops} stops, and room for {capacity} characters"))
    }
}
