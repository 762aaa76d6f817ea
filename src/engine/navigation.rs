//! Navigation of a game: its meshes, grids and agents, and baking from the static actors of a
//! world.

use super::level_navigation::LevelMeshes;
use super::navigation_platforms::UnitPlatform;
use super::tilemap_grids::TilemapGrid;
use super::{BuildMode, Engine, Worlds};
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, Handle, HandleKind, Slots, Vec3, counter, error, scope};
use engine_navigation::agents::{AgentState, Agents};
use engine_navigation::bake::{BakeSettings, BakeSource};
use engine_navigation::grid::NavigationGrid;
use engine_navigation::grid_outline::GridLine;
use engine_navigation::jump_links::JumpRules;
use engine_navigation::jumps::JumpSettings;
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::outline::LineKind;
use engine_navigation::queries::Flood;
use engine_navigation::search::{PointPath, PolygonPath, Searcher};
use engine_navigation::volumes::Renumbering;
use engine_navigation::{AgentId, GRIDS_MAX, MESHES_MAX, NavigationGridId, NavigationMeshId};
use engine_tilemaps::Tilemaps;
use engine_world::WorldId;
use engine_world::debug_lines::{DebugLine, LINES_MAX};
use engine_world::level::{LevelId, Levels};
use engine_world::level_navigation::{EditReport, name_volumes};
use engine_world::unit::UnitId;

/// Colours of areas in turn, from area 1.
const AREA_COLORS: [[u8; 4]; 6] = [
    [80, 160, 220, 255],
    [90, 200, 120, 255],
    [220, 180, 60, 255],
    [190, 110, 220, 255],
    [230, 130, 80, 255],
    [90, 210, 210, 255],
];

fn color(kind: LineKind) -> [u8; 4] {
    match kind {
        LineKind::Edge(area) => AREA_COLORS[(usize::from(area) + 5) % AREA_COLORS.len()],
        LineKind::Wall => [255, 255, 255, 255],
        LineKind::Closed | LineKind::ClosedStop => [235, 60, 60, 255],
        LineKind::Link | LineKind::OpenStop => [255, 220, 0, 255],
        LineKind::Agent => [255, 255, 255, 255],
        LineKind::Path => [255, 150, 0, 255],
        LineKind::Velocity => [60, 255, 60, 255],
        LineKind::Desired | LineKind::Speed => [160, 160, 160, 255],
        LineKind::Avoided => [255, 90, 200, 255],
        LineKind::AvoidedWall => [235, 60, 60, 255],
        LineKind::Flow => [80, 160, 220, 255],
        LineKind::FlowEnd => [255, 220, 0, 255],
        LineKind::Searched => [255, 90, 200, 255],
    }
}

fn grid_color(kind: GridLine) -> [u8; 4] {
    match kind {
        GridLine::Blocked => [235, 60, 60, 255],
        GridLine::Cost(cost) if cost < 1.0 => [90, 200, 120, 255],
        GridLine::Cost(_) => [230, 130, 80, 255],
        GridLine::Flow => [80, 160, 220, 255],
        GridLine::Target => [255, 220, 0, 255],
    }
}

/// Meshes, grids and agents.
pub struct Navigation {
    pub meshes: Slots<NavigationMesh>,
    pub grids: Slots<NavigationGrid>,
    pub agents: Agents,
    pub memory: NavigationMemory,
    /// Meshes of levels, which end with them.
    pub levels: Vec<LevelMeshes>,
    /// Levels to bake, with the number of updates of their worlds before.
    pub waiting_levels: Vec<(LevelId, u8)>,
    /// Meshes that scripts have baked from worlds, in the order of their creation.
    pub of_worlds: Vec<(WorldId, NavigationMeshId)>,
    /// Meshes that follow units.
    pub platforms: Vec<UnitPlatform>,
    /// Updates that each agent has waited for its path, by slot, and the most of the frame.
    waits: Vec<u32>,
    pub worst_wait: u32,
    /// Grids that follow the tiles of maps.
    pub of_tilemaps: Vec<TilemapGrid>,
}

/// Memory of searches and queries that are answered at once.
#[derive(Debug, Default)]
pub struct NavigationMemory {
    pub searcher: Searcher,
    pub flood: Flood,
    pub path: PolygonPath,
    pub corners: PointPath,
}

impl Default for Navigation {
    fn default() -> Navigation {
        Navigation {
            meshes: Slots::new(HandleKind::NavigationMesh, MESHES_MAX),
            grids: Slots::new(HandleKind::NavigationGrid, GRIDS_MAX),
            agents: Agents::default(),
            memory: NavigationMemory::default(),
            levels: Vec::new(),
            waiting_levels: Vec::new(),
            of_worlds: Vec::new(),
            platforms: Vec::new(),
            waits: Vec::new(),
            worst_wait: 0,
            of_tilemaps: Vec::new(),
        }
    }
}

impl Navigation {
    /// Calls `write` with every object and a function that hashes its state.
    pub(super) fn each_state(&self, mut write: impl FnMut(Handle, &dyn Fn(&mut StateHash))) {
        for (handle, mesh) in self.meshes.iter() {
            write(handle, &|hash| {
                mesh.write_state(&mut |number| hash.write_u64(number));
                self.agents.write_passages(handle, |number| hash.write_u64(number));
                self.agents.write_shared(handle, |number| hash.write_u64(number));
                if let Some(platform) = self.agents.platform(handle) {
                    platform.write_state(|number| hash.write_u64(number));
                }
            });
        }
        for (handle, grid) in self.grids.iter() {
            write(handle, &|hash| grid.write_state(|number| hash.write_u64(number)));
        }
        for (handle, agent) in self.agents.slots.iter() {
            write(handle, &|hash| agent.write_state(|number| hash.write_u64(number)));
        }
    }
}

impl Navigation {
    /// Returns where an agent is, or of which level a mesh is, for messages.
    pub(super) fn detail(&self, levels: &Levels, handle: Handle) -> Option<String> {
        if let Some(agent) = self.agents.slots.get(handle) {
            let at = self.agents.pose(agent.mesh).to_world(agent.at.position);
            return Some(format!(" at ({:.3}, {:.3}, {:.3})", at.x, at.y, at.z));
        }
        let mesh = NavigationMeshId(handle);
        let level = self.levels.iter().find(|level| level.has_mesh(mesh))?;
        Some(format!(" ({})", self.mesh_name(levels, level.level, mesh)))
    }

    /// Counts for how many updates the agents of a mesh have waited for their paths.
    fn count_waits(&mut self, mesh: NavigationMeshId) {
        for (handle, agent) in self.agents.slots.iter().filter(|(_, agent)| agent.mesh == mesh.0) {
            let row = handle.index();
            if self.waits.len() <= row {
                self.waits.resize(row + 1, 0);
            }
            let is_waiting = agent.state == AgentState::Waiting;
            self.waits[row] = if is_waiting { self.waits[row].saturating_add(1) } else { 0 };
            self.worst_wait = self.worst_wait.max(self.waits[row]);
        }
    }
}

impl Worlds {
    /// Returns the triangles of the static actors of a world.
    ///
    /// # Errors
    /// Returns an error if there are none, or too many.
    pub(super) fn world_triangles(
        &mut self,
        world: WorldId,
        tilemaps: &Tilemaps,
    ) -> Result<BakeSource, Error> {
        let of_world: Vec<UnitId> = self.units.in_world(world).collect();
        let Worlds { physics, units, scenes, .. } = self;
        let of = of_world.into_iter();
        let tiles = scenes.maps.solid_pieces(of, (units, tilemaps), physics);
        let source = physics.triangles_of_world(world, &tiles)?;
        match source.is_empty() {
            false => Ok(source),
            true => Err(error!(
                "the world has no static actors to bake a navigation mesh from: spawn the level \
                 first, and give its ground a static actor; planes, triggers and one-way platforms \
                 do not count"
            )),
        }
    }
}

impl Engine {
    /// Bakes a mesh from the static actors of a world.
    ///
    /// # Errors
    /// Returns an error if there are none, or the bake fails.
    pub fn bake_world(
        &mut self,
        world: WorldId,
        settings: BakeSettings,
    ) -> Result<NavigationMeshId, Error> {
        let source = self.worlds.world_triangles(world, &self.assets.tilemaps)?;
        let mesh = self.bake_mesh(source, settings)?;
        let Navigation { meshes, of_worlds, .. } = &mut self.worlds.navigation;
        of_worlds.retain(|(_, known)| meshes.get(known.0).is_some());
        of_worlds.push((world, mesh));
        Ok(mesh)
    }

    /// Bakes a mesh from triangles.
    ///
    /// # Errors
    /// Returns an error if the bake fails, or there are too many meshes.
    pub fn bake_mesh(
        &mut self,
        source: BakeSource,
        settings: BakeSettings,
    ) -> Result<NavigationMeshId, Error> {
        let mesh = NavigationMesh::bake(source, settings, &self.devices.tasks)?;
        let added = self.worlds.navigation.meshes.add(mesh).map(NavigationMeshId);
        added.ok_or_else(|| {
            error!("{MESHES_MAX} navigation meshes already exist (MESHES_MAX): destroy one first")
        })
    }

    /// Builds tiles again whose volumes have changed, on another thread, and advances the agents of
    /// a mesh and of the platforms on it.
    ///
    /// # Errors
    /// Returns an error if a tile is too complex, or the system cannot start another thread.
    pub fn update_agents(&mut self, mesh: NavigationMeshId, step: f32) -> Result<(), Error> {
        scope!("navigation");
        self.worlds.follow_platform_units(mesh, self.frame.index);
        let Navigation { meshes, agents, .. } = &mut self.worlds.navigation;
        agents.update_rides(meshes, mesh.0, step);
        let mut result = Ok(());
        for mesh in agents.tree(mesh.0) {
            let updated = self.update_mesh(NavigationMeshId(mesh), step);
            result = result.and(updated);
        }
        result
    }

    fn update_mesh(&mut self, mesh: NavigationMeshId, step: f32) -> Result<(), Error> {
        let Navigation { meshes, agents, levels, .. } = &mut self.worlds.navigation;
        let of = meshes.get_mut(mesh.0).expect("the handle was checked where it came in");
        let renumbering = {
            scope!("navigation_rebuild");
            of.rebuild(&self.devices.tasks)?
        };
        if let Some(renumbering) = &renumbering {
            agents.renumber(mesh.0, of, renumbering);
        }
        of.update_hierarchy(&self.devices.tasks)?;
        {
            scope!("navigation_crowd");
            agents.advance(mesh.0, of, step, &self.devices.tasks)?;
        }
        {
            scope!("navigation_searches");
            of.answer_paths(&self.devices.tasks)?;
        }
        if let Some(Renumbering { failure: Some(failure), failed_volumes, .. }) = renumbering {
            let mut of_levels = levels.iter().flat_map(|level| &level.meshes);
            let known = of_levels.find(|known| known.mesh == mesh);
            let edits: &[EditReport] = match known {
                Some(known) => &known.edits,
                None => &[],
            };
            return Err(name_volumes(failure, &failed_volumes, edits));
        }
        let (answered, nodes, worst_wait) = of.request_statistics();
        counter!("navigation/searches") += u64::from(agents.statistics.searches + answered);
        counter!("navigation/nodes") += u64::from(agents.statistics.nodes + nodes);
        let waiting = of.num_waiting_paths() as u64 + u64::from(agents.statistics.waiting);
        counter!("navigation/waiting") += waiting;
        counter!("navigation/agents") += agents.count(mesh.0) as u64;
        counter!("navigation/stuck") += u64::from(agents.statistics.stuck);
        counter!("navigation/held") += u64::from(agents.statistics.held);
        self.worlds.navigation.worst_wait = self.worlds.navigation.worst_wait.max(worst_wait);
        self.worlds.navigation.count_waits(mesh);
        Ok(())
    }

    /// Shows the polygons that the last search of a script visited, for a frame. Returns the number
    /// of lines that do not fit in. Shows nothing in a release.
    ///
    /// # Errors
    /// Returns an error if too many lines are shown already.
    pub fn show_last_search(&mut self, mesh: NavigationMeshId) -> Result<usize, Error> {
        if self.game.build == BuildMode::Release {
            return Ok(0);
        }
        let Worlds { navigation, lines, .. } = &mut self.worlds;
        let of = navigation.meshes.get(mesh.0).expect("the handle was checked where it came in");
        let (mut shown, room) = (Vec::new(), lines.remaining().min(LINES_MAX / 2));
        let mut left_out = 0;
        of.outline_visited(navigation.memory.searcher.visited(), &mut |from, to, kind| {
            if shown.len() < room {
                shown.push(DebugLine { from, to, color: color(kind) });
            } else {
                left_out += 1;
            }
        });
        lines.show(None, &shown, -1.0).map_err(Error::new)?;
        Ok(left_out)
    }

    /// Brings the hierarchy of a mesh up to date, and returns the mesh with the memory of searches.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn searched_mesh(
        &mut self,
        mesh: NavigationMeshId,
    ) -> Result<(&mut NavigationMesh, &mut NavigationMemory), Error> {
        let Navigation { meshes, memory, .. } = &mut self.worlds.navigation;
        let of = meshes.get_mut(mesh.0).expect("the handle was checked where it came in");
        of.update_hierarchy(&self.devices.tasks)?;
        Ok((of, memory))
    }

    /// Finds links of a mesh over gaps and down from ledges.
    ///
    /// # Errors
    /// Returns an error if the mesh has too many edges, or the system cannot start another thread.
    pub fn find_jumps(
        &mut self,
        mesh: NavigationMeshId,
        rules: &JumpRules,
    ) -> Result<Vec<JumpSettings>, Error> {
        let meshes = &mut self.worlds.navigation.meshes;
        let of = meshes.get_mut(mesh.0).expect("the handle was checked where it came in");
        of.update_hierarchy(&self.devices.tasks)?;
        of.renew_jump_work();
        of.find_jumps(rules, &self.devices.tasks)
    }

    /// Shows a mesh, its agents and one of its flow fields as debug lines for a frame. Returns the
    /// number of lines that do not fit in. Shows nothing in a release.
    ///
    /// # Errors
    /// Returns an error if too many lines are shown already.
    pub fn show_mesh(
        &mut self,
        mesh: NavigationMeshId,
        field: Option<usize>,
    ) -> Result<usize, Error> {
        if self.game.build == BuildMode::Release {
            return Ok(0);
        }
        let Worlds { navigation, lines, .. } = &mut self.worlds;
        let (mut shown, room) = (Vec::new(), lines.remaining().min(LINES_MAX / 2));
        let mut left_out = 0;
        let mut each = |from, to, kind| {
            if shown.len() < room {
                shown.push(DebugLine { from, to, color: color(kind) });
            } else {
                left_out += 1;
            }
        };
        if let Some(field) = field
            && let Some(of) = navigation.meshes.get_mut(mesh.0)
        {
            of.update_field(field);
            let pose = navigation.agents.pose(mesh.0);
            let each = &mut each;
            of.outline_field(field, &mut |from, to, kind| {
                each(pose.to_world(from), pose.to_world(to), kind);
            });
        }
        // Agents are few, and first. Platforms are shown with their ground.
        let tree = navigation.agents.tree(mesh.0);
        let of_tree = tree.iter().filter_map(|id| Some((*id, navigation.meshes.get(*id)?)));
        for (id, of) in of_tree.clone() {
            navigation.agents.outline(id, of, &mut each);
        }
        for (id, of) in of_tree {
            let pose = navigation.agents.pose(id);
            of.outline(&mut |from, to, kind| each(pose.to_world(from), pose.to_world(to), kind));
        }
        lines.show(None, &shown, -1.0).map_err(Error::new)?;
        Ok(left_out)
    }

    /// Shows the velocities that an agent may have as debug lines for a frame. Returns the number
    /// of lines that do not fit in. Shows nothing in a release.
    ///
    /// # Errors
    /// Returns an error if too many lines are shown already.
    pub fn show_avoidance(&mut self, agent: AgentId) -> Result<usize, Error> {
        let Worlds { navigation, lines, .. } = &mut self.worlds;
        let (mut shown, room) = (Vec::new(), lines.remaining().min(LINES_MAX / 2));
        let mut left_out = 0;
        let mesh = navigation.agents.slots.get(agent.0).map(|agent| agent.mesh);
        let of = mesh.and_then(|mesh| navigation.meshes.get(mesh));
        if let Some(of) = of.filter(|_| self.game.build != BuildMode::Release) {
            navigation.agents.outline_avoidance(agent.0, of, &mut |from, to, kind| {
                if shown.len() < room {
                    shown.push(DebugLine { from, to, color: color(kind) });
                } else {
                    left_out += 1;
                }
            });
        }
        lines.show(None, &shown, -1.0).map_err(Error::new)?;
        Ok(left_out)
    }

    /// Shows the cells of a grid and a flow field as debug lines for a frame. The grid begins at a
    /// position, and its cells have sides of `size`. Returns the number of cells whose lines do not
    /// fit in. Shows nothing in a release.
    ///
    /// # Errors
    /// Returns an error if too many lines are shown already.
    pub fn show_grid(
        &mut self,
        grid: NavigationGridId,
        field: Option<usize>,
        (position, size): (Vec3, f32),
    ) -> Result<usize, Error> {
        if self.game.build == BuildMode::Release {
            return Ok(0);
        }
        let Worlds { navigation, lines, .. } = &mut self.worlds;
        let (mut shown, room) = (Vec::new(), lines.remaining().min(LINES_MAX / 2));
        let of = navigation.grids.get_mut(grid.0).expect("the handle was checked where it came in");
        let left_out = of.outline(field, &mut |from, to, kind| {
            let [from, to] = [from, to].map(|point| position + (point * size).extend(0.0));
            let fits = shown.len() < room;
            if fits {
                shown.push(DebugLine { from, to, color: grid_color(kind) });
            }
            fits
        });
        lines.show(None, &shown, -1.0).map_err(Error::new)?;
        Ok(left_out)
    }
}
