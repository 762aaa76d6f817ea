//! The component `agent` in worlds: its agents are created as soon as there is a navigation mesh
//! with ground at their unit, and drive the unit or its mover after each update of their mesh.

use super::navigation::Navigation;
use super::{Engine, Worlds};
use engine_foundation::deterministic_math::atan2;
use engine_foundation::{Error, Handle, Quat, Vec3, counter, log, scope, suggest};
use engine_navigation::agents::{AGENTS_MAX, Agent, AgentState, Agents};
use engine_navigation::mesh::{NavigationMesh, NearestPolygon};
use engine_navigation::platforms::MeshPose;
use engine_navigation::{AgentId, NavigationMeshId};
use engine_world::WorldId;
use engine_world::agent_component::{AgentComponent, AgentDrive, UnitAgent};
use engine_world::level::LevelId;
use engine_world::physics::MoverId;
use engine_world::unit::UnitId;

/// Distance in metres within which an agent takes the ground at its unit.
const GROUND_DISTANCE: f32 = 2.0;
/// Updates after which a warning says that there is no ground at a unit, and the distance within
/// which ground is searched for it, in metres.
const ATTEMPTS: u8 = 60;
const NEAR_MAX: f32 = 50.0;
/// Distance from where an agent put its unit at which the game has moved it, in metres.
const MOVED_DISTANCE: f32 = 1e-3;
/// Speed in metres per second below which a unit does not turn.
const TURN_SPEED_MIN: f32 = 0.1;
/// Downward acceleration of movers in the air, and how fast movers on the ground are pressed
/// against it.
const GRAVITY: f32 = 9.81;
const PRESS_SPEED: f32 = 0.5;
/// Highest speed of a fall.
const FALL_SPEED_MAX: f32 = 50.0;
/// Longest step of a mesh, in seconds.
const STEP_MAX: f64 = 1.0;

fn ground(mesh: &NavigationMesh, position: Vec3) -> Option<NearestPolygon> {
    mesh.nearest(position, GROUND_DISTANCE, GROUND_DISTANCE.max(mesh.settings().height))
}

impl Navigation {
    /// Iterates over the meshes of a world for a class of characters: of levels first, then those
    /// that scripts baked, the oldest ones first.
    fn meshes_for(
        &self,
        world: WorldId,
        class: Option<&str>,
    ) -> impl Iterator<Item = NavigationMeshId> {
        let of_levels = self.levels.iter().filter(move |level| level.world == world);
        let of_levels = of_levels.filter_map(move |level| match class {
            None => level.meshes.first(),
            Some(class) => level.meshes.iter().find(|mesh| mesh.class == class),
        });
        let of_worlds =
            self.of_worlds.iter().filter(move |(of, _)| *of == world && class.is_none());
        of_levels.map(|known| known.mesh).chain(of_worlds.map(|(_, mesh)| *mesh))
    }

    /// Returns the mesh of a world for a class of characters that has ground at a position.
    fn mesh_at(
        &self,
        world: WorldId,
        class: Option<&str>,
        position: Vec3,
    ) -> Option<(NavigationMeshId, NearestPolygon)> {
        self.meshes_for(world, class).find_map(|mesh| {
            let found = self.agents.ground_at(&self.meshes, mesh.0, position, ground)?;
            Some((NavigationMeshId(found.0), found.1))
        })
    }

    /// Returns a message if the levels of a world have navigation, and none has the class of a
    /// component.
    fn unknown_class(&self, world: WorldId, component: &AgentComponent) -> Option<String> {
        let class = component.class.as_deref()?;
        let levels = self.levels.iter().filter(|level| level.world == world);
        let known: Vec<&str> =
            levels.flat_map(|level| &level.meshes).map(|mesh| mesh.class.as_str()).collect();
        if known.is_empty() || known.contains(&class) {
            return None;
        }
        let hint = suggest::hint(class, known.iter().copied());
        Some(format!(
            "the unit gets no agent before a level with its class is spawned: no navigation of its \
             world has agents '{class}'{hint}"
        ))
    }

    /// Returns a message about a unit at a position without ground.
    fn missing_ground(&self, world: WorldId, class: Option<&str>, position: Vec3) -> String {
        let shown = |at: Vec3| format!("({:.1}, {:.1}, {:.1})", at.x, at.y, at.z);
        let meshes = || self.meshes_for(world, class).filter_map(|mesh| self.meshes.get(mesh.0));
        let near = meshes().filter_map(|mesh| mesh.nearest(position, NEAR_MAX, NEAR_MAX));
        let distance = |at: &NearestPolygon| at.position.distance(position);
        let near = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let (at, most) = (shown(position), GROUND_DISTANCE);
        let nearest = match near {
            Some(near) => format!(
                "the nearest ground is {:.1} metres away, at {}",
                near.position.distance(position),
                shown(near.position)
            ),
            None if meshes().all(|mesh| mesh.num_polygons() == 0) => {
                "its navigation mesh has no ground at all".to_string()
            }
            None => format!("there is none within {NEAR_MAX} metres either"),
        };
        format!(
            "a unit at {at} gets no agent yet: no ground is within {most} metres of it; {nearest}"
        )
    }

    /// Puts the agent of a unit that was moved in the frame of its spawn on the ground there, which
    /// can be of another mesh. Without any, the agent ends, and the unit waits for ground. Returns
    /// the unit, the agent and its mesh if it needs the costs of that.
    fn locate_new_agent(
        &mut self,
        world: WorldId,
        component: &AgentComponent,
        entry: &mut UnitAgent,
        body: Vec3,
        frame: u64,
    ) -> Option<(UnitId, Handle, NavigationMeshId)> {
        let found = self.mesh_at(world, component.class.as_deref(), body);
        let Navigation { meshes, agents, .. } = self;
        let agent = entry.agent?;
        // The game can have destroyed it.
        let before = agents.root(agents.slots.get(agent)?.mesh);
        let Some((mesh, at)) = found else {
            agents.slots.remove(agent, "", frame, "the move of its unit to where no ground is");
            (entry.was_created, entry.agent) = (false, None);
            return None;
        };
        agents.teleport_to(meshes, agent, mesh.0, at);
        let root = agents.root(mesh.0);
        if root == before {
            return None;
        }
        if !component.has_radius
            && let (Some(known), Some(of)) = (agents.slots.get_mut(agent), meshes.get(mesh.0))
        {
            known.settings.radius = of.settings().radius.max(0.01);
        }
        // The areas of another mesh have other numbers.
        let result = agents.change_costs(agent, |costs| {
            (0..=u8::MAX).for_each(|area| costs.set(area, None));
        });
        if let Err(error) = result {
            log::warning(&error.message);
        }
        Some((entry.unit, agent, NavigationMeshId(root)))
    }

    fn has_mesh(&self, world: WorldId) -> bool {
        self.levels.iter().any(|level| level.world == world)
            || self.of_worlds.iter().any(|(of, _)| *of == world)
    }
}

impl Worlds {
    fn agent_component(&self, unit: UnitId) -> Option<&AgentComponent> {
        self.units.of(unit).resource.template.agent.as_ref()
    }

    /// Creates the agent of a unit that a script has just spawned, if there is ground at it. Units
    /// of levels wait for the meshes of their level. Nothing is reported: a level that the script
    /// spawns next can have the ground.
    pub(super) fn create_spawned_agent(&mut self, world: WorldId, unit: UnitId) {
        let row = unit.row();
        if self.agents.of_unit(row).is_none()
            || !self.navigation.has_mesh(world)
            || self.levels.is_spawning(world)
        {
            return;
        }
        self.create_unit_agent(world, row);
        if let Some(entry) = self.agents.of.get_mut(&row) {
            entry.is_new = entry.was_created;
        }
    }

    /// Creates the agents of units that have none yet, where there is ground.
    pub fn create_unit_agents(&mut self, world: WorldId, frame: u64) {
        self.end_agents_without_mesh(frame);
        if self.agents.of.is_empty() || !self.navigation.has_mesh(world) {
            return;
        }
        let waiting = self.agents.of.iter().filter(|(_, entry)| !entry.was_created);
        let waiting: Vec<u32> = waiting.map(|(row, _)| *row).collect();
        for row in waiting {
            if self.units.is_in(row, world) && !self.create_unit_agent(world, row) {
                self.report_waiting(world, row);
            }
        }
    }

    /// Ends the agents whose mesh has ended, so that their units get others on the next mesh.
    fn end_agents_without_mesh(&mut self, frame: u64) {
        let Navigation { meshes, agents, .. } = &mut self.navigation;
        for entry in self.agents.of.values_mut() {
            let Some(agent) = entry.agent else { continue };
            let known = agents.slots.get(agent);
            if known.is_some_and(|known| meshes.get(known.mesh).is_none()) {
                agents.slots.remove(agent, "", frame, "the end of its navigation mesh");
                (entry.was_created, entry.agent) = (false, None);
                (entry.attempts, entry.was_reported) = (0, false);
            }
        }
    }

    /// Creates the agent of a unit. Returns false if there is no ground at it.
    fn create_unit_agent(&mut self, world: WorldId, row: u32) -> bool {
        let unit = self.agents.of[&row].unit;
        let position = self.units.scene.world_position(row, 0);
        let Some(component) = self.agent_component(unit) else { return true };
        let found = self.navigation.mesh_at(world, component.class.as_deref(), position);
        let Some((mesh, at)) = found else { return false };
        let mut settings = component.settings;
        if !component.has_radius {
            let of = self.navigation.meshes.get(mesh.0).expect("it was found");
            settings.radius = of.settings().radius.max(0.01);
        }
        let added = self.navigation.agents.add(mesh.0, at, settings);
        if let Some(agent) = added {
            let root = self.navigation.agents.root(mesh.0);
            self.give_costs(unit, agent, NavigationMeshId(root));
        }
        self.agents.set_agent(row, added);
        if added.is_none() {
            log::warn(
                "component 'agent'",
                &format!("{AGENTS_MAX} agents already exist (AGENTS_MAX): destroy some first"),
            );
        }
        true
    }

    /// Warns once about a unit that gets no agent: because no navigation of its world has its class
    /// of characters, or no ground is at the unit. Levels that are still being spawned may have it.
    fn report_waiting(&mut self, world: WorldId, row: u32) {
        let entry = self.agents.of.get_mut(&row).expect("it was listed");
        entry.attempts = entry.attempts.saturating_add(1);
        let UnitAgent { unit, was_reported, attempts, .. } = *entry;
        let is_waiting = !self.navigation.waiting_levels.is_empty();
        if was_reported || is_waiting || self.levels.is_spawning(world) {
            return;
        }
        let of = self.units.of(unit).resource.clone();
        let Some(component) = &of.template.agent else { return };
        // A check plays one frame. A mover can fall to the ground.
        let is_check = log::holds_data_warnings();
        let is_late = attempts >= ATTEMPTS || is_check && component.drive != AgentDrive::Mover;
        // A bake that failed has been reported.
        let mut meshes = self.navigation.meshes_for(world, component.class.as_deref());
        let is_due = is_late && meshes.next().is_some();
        let message = match self.navigation.unknown_class(world, component) {
            Some(message) => message,
            None if !is_due => return,
            // One for each file of units: each searches a large part of the mesh.
            None if !is_check && !self.agents.reported.insert(of.name.clone()) => String::new(),
            None => {
                let position = self.units.scene.world_position(row, 0);
                self.navigation.missing_ground(world, component.class.as_deref(), position)
            }
        };
        if !message.is_empty() {
            let location = format!("unit \"{}\", component '{}'", of.name, component.name);
            log::data_warning(&location, &message);
        }
        self.agents.of.get_mut(&row).expect("it was listed").was_reported = true;
    }

    /// Gives the agents of a level's meshes the costs of their components for areas that have come
    /// into being.
    pub(super) fn give_costs_again(&mut self, level: LevelId) {
        let navigation = &self.navigation;
        let Some(of) = navigation.levels.iter().find(|known| known.level == level) else { return };
        let known = self.agents.of.values().filter_map(|entry| {
            let agent = entry.agent?;
            let mesh = navigation.agents.slots.get(agent)?.mesh;
            let mesh = NavigationMeshId(navigation.agents.root(mesh));
            of.has_mesh(mesh).then_some((entry.unit, agent, mesh))
        });
        for (unit, agent, mesh) in known.collect::<Vec<_>>() {
            self.give_costs(unit, agent, mesh);
        }
    }

    /// Gives the agent of a unit the costs of its component, but for areas for which it has costs
    /// of the game. All at once: each set in between would need a place of its own.
    fn give_costs(&mut self, unit: UnitId, agent: Handle, mesh: NavigationMeshId) {
        let of = &self.units.of(unit).resource;
        let Some(component) = of.template.agent.as_ref().filter(|of| !of.costs.is_empty()) else {
            return;
        };
        let location = format!("unit \"{}\", component '{}'", of.name, component.name);
        let level = self.navigation.levels.iter().find(|level| level.has_mesh(mesh));
        let areas = level.map(|level| level.areas.as_slice()).unwrap_or_default();
        let mut found = Vec::new();
        for (name, cost) in &component.costs {
            let Some(number) = level.and_then(|level| level.area(name)) else {
                let hint = suggest::hint(name, areas.iter().map(String::as_str));
                log::data_warning(
                    &location,
                    &format!(
                        "'costs' has '{name}', and the navigation on which the unit is has no area \
                         of this name{hint}"
                    ),
                );
                continue;
            };
            found.push((number, *cost));
        }
        let result = self.navigation.agents.change_costs(agent, |costs| {
            for (number, cost) in found {
                if costs.cost(number).is_none() {
                    costs.set(number, Some(cost));
                }
            }
        });
        if let Err(error) = result {
            log::data_warning(&location, &error.message);
        }
    }

    /// Takes over where the game or physics has moved units, before their agents walk on.
    fn follow_units(&mut self, world: WorldId, frame: u64) {
        let mut moved = Vec::new();
        for (row, entry) in &mut self.agents.of {
            let Some(agent) = entry.agent.filter(|_| self.units.is_in(*row, world)) else {
                continue;
            };
            let component = self.units.of(entry.unit).resource.template.agent.as_ref();
            let Some(drive) = component.map(|component| component.drive) else { continue };
            let is_new = std::mem::take(&mut entry.is_new);
            let body = match drive {
                AgentDrive::Nothing if !is_new => continue,
                AgentDrive::Nothing | AgentDrive::Unit => self.units.scene.world_position(*row, 0),
                AgentDrive::Mover => match self.physics.unit_mover(entry.unit) {
                    Some(mover) => self.physics.mover(mover).position,
                    None => continue,
                },
            };
            if is_new && body.distance(entry.placed) > MOVED_DISTANCE {
                let component = self.units.of(entry.unit).resource.template.agent.as_ref();
                let Some(component) = component else { continue };
                moved
                    .extend(self.navigation.locate_new_agent(world, component, entry, body, frame));
                continue;
            }
            let Navigation { meshes, agents, .. } = &mut self.navigation;
            let Some(known) = agents.slots.get(agent) else { continue };
            let mesh_id = known.mesh;
            // In the space of its mesh as it was when the agent was there.
            let before = entry.platform.filter(|(mesh, _)| *mesh == mesh_id);
            let pose = before.map_or_else(|| agents.pose(mesh_id), |(_, pose)| pose);
            let (world, body) = (body, pose.to_local(body));
            let Some(known) = agents.slots.get_mut(agent) else { continue };
            // A mover can be held back by what it meets. It keeps its own height.
            let away = match drive {
                AgentDrive::Mover => (body - known.at.position).truncate().length(),
                _ => world.distance(entry.placed),
            };
            let is_lost = known.state == AgentState::Lost;
            if away <= MOVED_DISTANCE && !is_lost {
                continue;
            }
            let Some(mesh) = meshes.get_mut(mesh_id) else { continue };
            let is_walking = !is_lost && known.state != AgentState::Linking;
            let own = known.own_costs.clone();
            if is_walking && mesh.with_costs(own.as_ref(), |mesh| known.follow_body(mesh, body)) {
                continue;
            }
            // On the same mesh first, then on a platform, or on the ground below it.
            let root = agents.root(mesh_id);
            let found = ground(mesh, body).map(|at| (mesh_id, at));
            match found.or_else(|| agents.ground_at(meshes, root, world, ground)) {
                Some((mesh, at)) => agents.find_ground(meshes, agent, (mesh, at)),
                // It has left the ground, and its unit stays where it is.
                None => {
                    agents.lose_ground(agent);
                    counter!("navigation/off_ground") += 1;
                }
            }
        }
        for (unit, agent, mesh) in moved {
            self.give_costs(unit, agent, mesh);
        }
    }

    /// Puts units and movers where their agents are.
    fn drive_units(&mut self, world: WorldId, step: f32) -> Result<(), Error> {
        let rows = self.agents.of.iter().filter(|(_, entry)| entry.agent.is_some());
        let rows: Vec<u32> = rows.map(|(row, _)| *row).collect();
        for row in rows {
            if !self.units.is_in(row, world) {
                continue;
            }
            let mut entry = self.agents.of[&row];
            let agent = entry.agent.and_then(|agent| self.navigation.agents.slots.get(agent));
            let Some(agent) = agent else {
                // The game has destroyed it.
                entry.agent = None;
                self.agents.of.insert(row, entry);
                continue;
            };
            let mut agent = Walk::of(agent, &self.navigation.agents);
            if let Some((mesh, before)) = entry.platform
                && mesh == agent.mesh
            {
                agent.turned = agent.pose.rotation * before.rotation.conjugate();
                // Physics carries movers later.
                agent.before = before.to_world(agent.local);
            }
            entry.platform = Some((agent.mesh, agent.pose));
            let Some(component) = self.agent_component(entry.unit) else { continue };
            let (drive, turn) = (component.drive, component.turn);
            match drive {
                AgentDrive::Nothing => continue,
                AgentDrive::Unit if agent.is_lost => continue,
                AgentDrive::Unit => entry.placed = agent.position,
                AgentDrive::Mover => {
                    let Some(mover) = self.physics.unit_mover(entry.unit) else { continue };
                    self.drive_mover(mover, &agent, &mut entry, step)?;
                }
            }
            self.pose_unit(&entry, &agent, turn * step);
            self.agents.of.insert(row, entry);
        }
        Ok(())
    }

    fn drive_mover(
        &mut self,
        mover: MoverId,
        agent: &Walk,
        entry: &mut UnitAgent,
        step: f32,
    ) -> Result<(), Error> {
        if agent.is_linking {
            self.physics.set_mover_position(mover, agent.position)?;
            (entry.rise, entry.placed) = (0.0, agent.position);
            return Ok(());
        }
        let is_standing = self.physics.mover(mover).standing_frames > 0;
        entry.rise = match is_standing {
            true => -PRESS_SPEED,
            false => (entry.rise - GRAVITY * step).max(-FALL_SPEED_MAX),
        };
        // It also makes up for what others have pushed the agent.
        let at = self.physics.mover(mover).position;
        let way = (agent.before - at).truncate();
        let most = agent.speed * step * 2.0;
        let way = if agent.is_lost { Default::default() } else { way.clamp_length_max(most) };
        let rise = entry.rise * step;
        self.physics.move_mover(mover, way.extend(rise), step)?;
        entry.placed = self.physics.mover(mover).position;
        Ok(())
    }

    /// Puts the mover of a unit where a script has put its agent, which would be pulled back
    /// otherwise. What drives no mover follows in the next update.
    fn move_mover_to_agent(&mut self, agent: Handle) -> Result<(), Error> {
        let Some(row) = self.agents.row_of(agent) else { return Ok(()) };
        let mut entry = self.agents.of[&row];
        let drive = self.agent_component(entry.unit).map(|component| component.drive);
        let known = self.navigation.agents.slots.get(agent);
        let (Some(AgentDrive::Mover), Some(known)) = (drive, known) else { return Ok(()) };
        let Some(mover) = self.physics.unit_mover(entry.unit) else { return Ok(()) };
        let agent = Walk::of(known, &self.navigation.agents);
        self.physics.set_mover_position(mover, agent.position)?;
        (entry.rise, entry.placed, entry.platform) = (0.0, agent.position, None);
        self.pose_unit(&entry, &agent, 0.0);
        self.agents.of.insert(row, entry);
        Ok(())
    }

    /// Puts a unit where its agent is, and turns it by at most `turn` radians to where it walks.
    fn pose_unit(&mut self, entry: &UnitAgent, agent: &Walk, turn: f32) {
        let row = entry.unit.row();
        let scene = &mut self.units.scene;
        let mut rotation = scene.world_rotation(row, 0);
        if agent.turned != Quat::IDENTITY {
            // Units stay upright.
            let forward = (agent.turned * Vec3::Y).truncate();
            rotation = Quat::from_rotation_z(atan2(-forward.x, forward.y)) * rotation;
        }
        let heading = agent.velocity.truncate();
        if turn > 0.0 && heading.length() > TURN_SPEED_MIN {
            // Forward is y.
            let forward = (rotation * Vec3::Y).truncate();
            let angle = atan2(forward.perp_dot(heading), forward.dot(heading));
            rotation = Quat::from_rotation_z(angle.clamp(-turn, turn)) * rotation;
        }
        scene.set_world_pose(row, 0, entry.placed, rotation.normalize());
    }
}

/// Motion of an agent, as far as its unit follows it.
struct Walk {
    position: Vec3,
    velocity: Vec3,
    speed: f32,
    is_linking: bool,
    is_lost: bool,
    /// Mesh on which it is, with its pose, its position there, and where that was in the world in
    /// the update before. How the platform has turned since.
    mesh: Handle,
    pose: MeshPose,
    local: Vec3,
    before: Vec3,
    turned: Quat,
}

impl Walk {
    fn of(agent: &Agent, all: &Agents) -> Walk {
        let pose = all.pose(agent.mesh);
        Walk {
            mesh: agent.mesh,
            pose,
            local: agent.at.position,
            before: pose.to_world(agent.at.position),
            turned: Quat::IDENTITY,
            position: pose.to_world(agent.at.position),
            velocity: pose.turn(agent.velocity.extend(0.0)),
            speed: agent.settings.speed,
            is_linking: agent.state == AgentState::Linking,
            is_lost: agent.state == AgentState::Lost,
        }
    }
}

impl Engine {
    /// Advances the navigation of a world: the meshes of its levels with their agents, and the
    /// units of all agents.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread, or a mover leaves the allowed
    /// range. Tiles that cannot be built again are logged, and stay as they were.
    pub(super) fn update_navigation(&mut self, world: WorldId, delta: f64) -> Result<(), Error> {
        if !self.worlds.navigation.waiting_levels.is_empty() {
            self.bake_waiting_levels(world);
        }
        let has_levels = self.worlds.navigation.levels.iter().any(|level| level.world == world);
        if !has_levels && self.worlds.agents.of.is_empty() {
            return Ok(());
        }
        scope!("agents");
        let step = delta.clamp(0.0, STEP_MAX) as f32;
        self.worlds.create_unit_agents(world, self.frame.index);
        self.worlds.follow_units(world, self.frame.index);
        let levels = self.worlds.navigation.levels.iter().filter(|level| level.world == world);
        let meshes: Vec<(LevelId, NavigationMeshId)> = levels
            .flat_map(|level| level.meshes.iter().map(move |mesh| (level.level, mesh.mesh)))
            .collect();
        for (level, mesh) in meshes {
            if let Err(error) = self.update_agents(mesh, step) {
                let of = self.worlds.navigation.mesh_name(&self.worlds.levels, level, mesh);
                log::error(&format!("{of}: {}: the old ground stays", error.message));
            }
        }
        self.worlds.drive_units(world, step)
    }

    /// Puts an agent on ground at once, with the mover that it drives.
    ///
    /// # Errors
    /// Returns an error if the ground is outside of the range for movers.
    pub fn teleport_agent(
        &mut self,
        agent: AgentId,
        (mesh, at): (Handle, NearestPolygon),
    ) -> Result<(), Error> {
        let Navigation { agents, meshes, .. } = &mut self.worlds.navigation;
        agents.teleport_to(meshes, agent.0, mesh, at);
        self.worlds.move_mover_to_agent(agent.0)
    }

    /// Puts an agent at the end of its link at once, with the mover that it drives. Returns false
    /// if it is on none.
    ///
    /// # Errors
    /// Returns an error if the end is outside of the range for movers.
    pub fn finish_link(&mut self, agent: AgentId) -> Result<bool, Error> {
        let known = self.worlds.navigation.agents.slots.get_mut(agent.0);
        if !known.is_some_and(Agent::leave_link) {
            return Ok(false);
        }
        self.worlds.move_mover_to_agent(agent.0)?;
        Ok(true)
    }

    /// Returns the agent of a unit's component; `None` if it has not been created, or was
    /// destroyed.
    pub fn unit_agent(&self, unit: UnitId) -> Option<AgentId> {
        let agent = self.worlds.agents.of_unit(unit.row())?.agent?;
        self.worlds.navigation.agents.slots.get(agent).map(|_| AgentId(agent))
    }
}
