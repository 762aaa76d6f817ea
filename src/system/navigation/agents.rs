//! All agents: characters that follow paths on a mesh and avoid each other. An update answers
//! waiting searches within a budget of nodes, chooses a velocity for each agent, and moves them on
//! the mesh. Velocities are chosen from the state at the beginning of the update, so that they do
//! not depend on the order of agents or on threads.

pub use super::agent::{Agent, AgentSettings, AgentState, GROUPS_MAX};
pub use super::requests::UPDATE_NODES;

use super::agent::{Request, STUCK_SECONDS};
use super::destinations::nearest_ground;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::neighbors::Snapshot;
use super::own_costs::{Group, OwnCosts};
use super::passages::Passages;
use super::platforms::Platform;
use super::requests::SearchLane;
use super::rest::Rest;
use super::routes::TravelTarget;
use super::search::{PolygonPath, Searcher};
use super::shared_targets::SharedTarget;
use super::steering::{self, Steering};
use super::volumes::Renumbering;
use engine_foundation::handle::{Handle, HandleKind};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Slots, Vec2, Vec3, scope};
use std::ops::Range;
use std::sync::Weak;

/// Maximum number of agents.
pub const AGENTS_MAX: usize = 16_384;
/// Distance to the side within which the ground of a character is searched, in metres.
const CORRECTION_MAX: f32 = 2.0;

/// Counts of the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentStatistics {
    pub searches: u32,
    pub nodes: u32,
    pub waiting: u32,
    pub stuck: u32,
    /// Agents that physics holds back.
    pub held: u32,
}

/// All agents.
pub struct Agents {
    pub slots: Slots<Agent>,
    pub(super) requests: u64,
    pub(super) searcher: Searcher,
    pub(super) lanes: Vec<SearchLane>,
    pub(super) shared: Vec<SharedTarget>,
    pub statistics: AgentStatistics,
    pub(super) passages: Vec<Passages>,
    /// Meshes with the agents that have entered a link in their last update.
    pub(super) entered: Vec<(Handle, Handle)>,
    pub(super) platforms: Vec<Platform>,
    /// Meshes with the costs that some of their agents have.
    pub(super) cost_sets: Vec<(Handle, Weak<OwnCosts>)>,
    /// Scratch memory of updates: agents of the mesh, and their searches.
    pub(super) rows: Vec<u32>,
    pub(super) queue: Vec<(Request, u32)>,
    /// Agents on the way to passages: by passage and direction, by distance.
    pub(super) line: Vec<(u64, u32, u32)>,
    snapshot: Snapshot,
    results: Vec<Steering>,
}

impl Default for Agents {
    fn default() -> Agents {
        Agents {
            slots: Slots::new(HandleKind::Agent, AGENTS_MAX),
            requests: 0,
            searcher: Searcher::default(),
            lanes: Vec::new(),
            shared: Vec::new(),
            statistics: AgentStatistics::default(),
            passages: Vec::new(),
            entered: Vec::new(),
            platforms: Vec::new(),
            cost_sets: Vec::new(),
            rows: Vec::new(),
            queue: Vec::new(),
            line: Vec::new(),
            snapshot: Snapshot::default(),
            results: Vec::new(),
        }
    }
}

impl Agents {
    /// Adds an agent. Returns `None` if there are too many.
    pub fn add(
        &mut self,
        mesh: Handle,
        at: NearestPolygon,
        settings: AgentSettings,
    ) -> Option<Handle> {
        assert!(settings.group < GROUPS_MAX, "the caller has checked the group");
        self.slots.add(Agent::new(mesh, at, settings))
    }

    /// Sends an agent to a point of its mesh. Its search is answered in one of the next updates.
    /// Until then, an agent that has a path follows it. Agents that are lost stay where they are.
    pub fn set_destination(&mut self, agent: Handle, destination: NearestPolygon) {
        if let Some(mesh) = self.slots.get(agent).map(|agent| agent.mesh) {
            self.set_target(agent, mesh, destination);
        }
    }

    /// Sends an agent to a point of its mesh, which can be a part of its way.
    pub(super) fn send(&mut self, agent: Handle, destination: NearestPolygon) {
        let next = self.requests + 1;
        // A lost agent is on no ground from which it could be sent.
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        if let Some(agent) = known {
            if agent.leader.is_some() {
                agent.end_following();
            }
            // One that is sent on each second, or in each frame, is stuck and held up all the same.
            if !agent.note_new_destination(destination) {
                agent.restart_progress();
                agent.claim = 0.0;
            }
            agent.destination = Some(destination);
            agent.displaced = None;
            agent.waypoints = None;
            agent.has_arrived = false;
            agent.rest = Rest::default();
            if agent.traversal.is_some() {
                agent.search_after_link();
            } else if agent.state != AgentState::Moving || agent.path.polygons.is_empty() {
                agent.state = AgentState::Waiting;
            }
            // It keeps its place among those who wait.
            let pending = agent.request.filter(|request| !request.is_repair);
            if pending.is_none() {
                agent.request = Some(Request { is_repair: false, number: next });
                self.requests = next;
            }
        }
    }

    /// Ends the way of an agent, which stops.
    pub fn cancel(&mut self, agent: Handle) {
        if let Some(agent) = self.slots.get_mut(agent) {
            agent.target = None;
            // One between the ground and a platform crosses first.
            match &mut agent.ride {
                Some(ride) if ride.is_crossing() => ride.forget_exit(),
                ride => *ride = None,
            }
            // An agent on a link stops at the end of the link, or at its start if it waits there
            // for a script. One that is lost stays lost.
            agent.abandon_link();
            if agent.traversal.is_none() && agent.state != AgentState::Lost {
                agent.stop(AgentState::Idle);
            }
            agent.leader = None;
            agent.forget_destination();
        }
    }

    /// Moves an agent to another point, from which it continues to its destination, or follows its
    /// leader. An agent that was lost is idle there.
    pub fn teleport(&mut self, agent: Handle, at: NearestPolygon) {
        let Some(known) = self.slots.get_mut(agent) else { return };
        // That depends on its state.
        let displaced = known.displaced();
        let waypoints = known.waypoints.clone();
        known.at = at;
        known.velocity = Vec2::ZERO;
        known.ride = None;
        if known.traversal.take().is_some() || known.state == AgentState::Lost {
            known.stop(AgentState::Idle);
        }
        if let Some(leader) = known.leader {
            self.follow(agent, leader.agent, leader.offset);
            return;
        }
        if let Some(target) = &mut known.target {
            // Its way is chosen again from there.
            *target = TravelTarget::new(target.mesh, target.position);
            known.forget_destination();
            known.end = at.position;
            known.stop(AgentState::Waiting);
            return;
        }
        match known.destination {
            Some(destination) => {
                known.stop(AgentState::Idle);
                self.set_destination(agent, destination);
                self.displace(agent, displaced);
                self.give_waypoints(agent, waypoints);
            }
            None => {
                known.end = at.position;
                known.displaced = displaced;
                if displaced.is_some() {
                    known.wait_for_ground();
                }
            }
        }
    }

    /// Ends the ways of the agents of a mesh that no longer exists.
    pub fn lose_mesh(&mut self, mesh: Handle) {
        for (_, agent) in self.slots.iter_mut().filter(|(_, agent)| agent.mesh == mesh) {
            agent.lose();
        }
        self.forget_passages(mesh);
        self.forget_shared(mesh);
    }

    /// Gives the agents of a mesh the numbers that polygons have after tiles were built again.
    /// Agents whose ground is gone are put on the nearest ground; those without any are lost.
    pub fn renumber(&mut self, id: Handle, mesh: &NavigationMesh, renumbering: &Renumbering) {
        let agents = self.slots.iter_mut().filter(|(_, agent)| agent.mesh == id);
        for (_, agent) in agents.filter(|(_, agent)| agent.state != AgentState::Lost) {
            agent.renumber(mesh, renumbering);
        }
    }

    /// Advances the agents of a mesh by `step` seconds, each with its own costs of areas.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn advance(
        &mut self,
        id: Handle,
        mesh: &mut NavigationMesh,
        step: f32,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        self.reopen_links(id, step);
        let groups = self.list_rows(id);
        self.update_views(mesh, &groups, pool)?;
        self.begin_update(id);
        self.find_own_ways(mesh, &groups, step, pool)?;
        self.take_turns(id, mesh, step);
        self.begin_steering();
        for Group { own, rows } in &groups {
            mesh.with_costs(own.as_ref(), |mesh| self.steer(mesh, rows.clone(), step, pool))?;
        }
        for Group { own, rows } in &groups {
            let rows = rows.clone();
            mesh.with_costs(own.as_ref(), |mesh| self.apply_results(id, mesh, rows, step));
        }
        Ok(())
    }

    /// Finds the ways of the groups of agents that are listed. Those with few requests come first,
    /// and leave what they do not need of their part of the nodes to the others.
    fn find_own_ways(
        &mut self,
        mesh: &mut NavigationMesh,
        groups: &[Group],
        step: f32,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        scope!("navigation_searches");
        let all = std::mem::take(&mut self.rows);
        let mut asking = Vec::new();
        for (number, Group { own, rows }) in groups.iter().enumerate() {
            self.rows.clear();
            self.rows.extend_from_slice(&all[rows.clone()]);
            mesh.with_costs(own.as_ref(), |mesh| self.request_ways(mesh, step));
            let count = self.count_requests();
            if count > 0 {
                asking.push((count, number));
            }
        }
        asking.sort_unstable();
        let mut left = UPDATE_NODES;
        for (at, (_, number)) in asking.iter().enumerate() {
            let Group { own, rows } = &groups[*number];
            self.rows.clear();
            self.rows.extend_from_slice(&all[rows.clone()]);
            // At least one search, also if those before have used up all nodes.
            let nodes = (left / (asking.len() - at)).max(1);
            let answer = |mesh: &NavigationMesh| self.answer_requests(mesh, nodes, pool);
            let used = mesh.with_costs(own.as_ref(), answer);
            match used {
                Ok(used) => left = left.saturating_sub(used),
                Err(error) => {
                    self.rows = all;
                    return Err(error);
                }
            }
        }
        self.rows = all;
        Ok(())
    }

    /// Advances the agents of a mesh by `step` seconds, all with the costs of the mesh.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn update(
        &mut self,
        id: Handle,
        mesh: &NavigationMesh,
        step: f32,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        self.list_rows(id);
        self.begin_update(id);
        self.request_ways(mesh, step);
        self.answer_requests(mesh, UPDATE_NODES, pool)?;
        self.take_turns(id, mesh, step);
        self.begin_steering();
        let all = 0..self.rows.len();
        self.steer(mesh, all.clone(), step, pool)?;
        self.apply_results(id, mesh, all, step);
        Ok(())
    }

    fn begin_update(&mut self, id: Handle) {
        self.statistics = AgentStatistics::default();
        self.entered.retain(|(mesh, _)| *mesh != id);
    }

    /// Asks for the ways of the agents that are listed.
    fn request_ways(&mut self, mesh: &NavigationMesh, step: f32) {
        self.follow_leaders(mesh, step);
        self.advance_waypoints(mesh);
        self.request_paths(mesh);
    }

    /// Copies the state of all agents that are listed.
    fn begin_steering(&mut self) {
        let (slots, rows) = (&self.slots, &self.rows);
        let agent = |row: &u32| slots.at(*row as usize).expect("it was listed");
        self.snapshot.take(rows.iter().map(agent));
        self.results.clear();
        self.results.resize(rows.len(), Steering::default());
    }

    /// Chooses the velocities of some of the agents that are listed.
    fn steer(
        &mut self,
        mesh: &NavigationMesh,
        range: Range<usize>,
        step: f32,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let (slots, rows, snapshot) = (&self.slots, &self.rows, &self.snapshot);
        let agent = |row: u32| slots.at(row as usize).expect("it was listed");
        let begin = range.start;
        // An agent costs about as much as 16 items of other systems.
        let tasks = pool.tasks(range.len() * 16)?;
        tasks.each_slice(pool.task("navigation_crowd"), &mut self.results[range], |first, piece| {
            for (at, result) in (begin + first..).zip(piece) {
                *result = steering::steer(mesh, agent(rows[at]), snapshot, at, step);
            }
        })
    }

    /// Moves agents with the velocities that were chosen.
    fn apply_results(&mut self, id: Handle, mesh: &NavigationMesh, range: Range<usize>, step: f32) {
        for at in range {
            let row = self.rows[at] as usize;
            let result = self.results[at];
            let agent = self.slots.at_mut(row).expect("it was listed");
            let was_linking = agent.state == AgentState::Linking;
            agent.apply(mesh, result, step);
            let has_entered = agent.state == AgentState::Linking && !was_linking;
            if agent.stuck_seconds >= STUCK_SECONDS {
                self.statistics.stuck += 1;
            }
            self.statistics.held += u32::from(agent.is_held());
            if has_entered && let Some(agent) = self.slots.handle_at(row) {
                self.entered.push((id, agent));
            }
        }
    }

    /// Iterates over the agents of a mesh that have entered a link in its last update.
    pub fn entered(&self, mesh: Handle) -> impl Iterator<Item = Handle> {
        let of_mesh = self.entered.iter().filter(move |(known, _)| *known == mesh);
        of_mesh.map(|(_, agent)| *agent).filter(|agent| self.slots.get(*agent).is_some())
    }

    /// Corrects the position of an agent whose character is moved by physics. It keeps its path.
    /// Returns the distance between the character and the ground on which the agent is then.
    /// Returns `None`, and the agent stays where it was, if there is no ground near the position or
    /// the agent is lost.
    pub fn correct(&mut self, agent: Handle, mesh: &NavigationMesh, position: Vec3) -> Option<f32> {
        self.slots.get_mut(agent)?.correct(mesh, position)
    }
}

impl Agent {
    fn correct(&mut self, mesh: &NavigationMesh, position: Vec3) -> Option<f32> {
        if self.state == AgentState::Lost || !position.is_finite() {
            return None;
        }
        // An agent on a link is on no ground.
        if self.traversal.is_none() {
            let height = mesh.settings().height.max(CORRECTION_MAX);
            let by = (position - self.at.position).truncate();
            let before = self.at;
            if by.length() <= CORRECTION_MAX {
                self.carry(mesh, by);
            }
            let apart = position - self.at.position;
            let is_near = apart.truncate().length() <= self.settings.radius;
            if !is_near || apart.z.abs() > height {
                let found = mesh.nearest(position, CORRECTION_MAX, height);
                self.at = found.unwrap_or(before);
                self.follow_path(mesh);
                found?;
            }
        }
        Some(self.at.position.distance(position))
    }

    /// Gives the polygons of the agent the numbers that they have now.
    pub(super) fn renumber(&mut self, mesh: &NavigationMesh, renumbering: &Renumbering) {
        let moved = |known: NearestPolygon| match renumbering.polygon(known.polygon) {
            Some(polygon) => Some(NearestPolygon { polygon, ..known }),
            None => nearest_ground(mesh, known.position),
        };
        if self.traversal.is_some() {
            if !self.renumber_link(renumbering, |end| nearest_ground(mesh, end)) {
                self.lose();
            }
            self.renumber_destination(mesh, renumbering);
            self.path = PolygonPath::default();
            self.search_after_link();
            return;
        }
        let Some(at) = moved(self.at) else {
            self.lose();
            return;
        };
        self.at = at;
        let is_sent = self.wanted_point().is_some();
        self.renumber_destination(mesh, renumbering);
        if is_sent && self.destination.is_none() {
            self.wait_for_ground();
            return;
        }
        self.path.renumber(mesh, renumbering);
        if self.path.polygons.first() != Some(&at.polygon) {
            self.path = PolygonPath::default();
        }
        // The way of those who were under way is searched again. Until then they follow the rest of
        // it.
        let is_on_foot = self.state == AgentState::Moving && self.leader.is_none();
        if is_on_foot && self.path.polygons.is_empty() {
            self.state = AgentState::Waiting;
        }
    }
}
