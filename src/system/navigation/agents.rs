//! Agents: characters that follow paths on a mesh and avoid each other. An update answers waiting
//! searches within a budget of nodes, chooses a velocity for each agent, and moves them on the
//! mesh. Velocities are chosen from the state at the beginning of the update, so that they do not
//! depend on the order of agents or on threads.

use super::mesh::{NavigationMesh, NearestPolygon};
use super::search::{PartialReason, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use super::steering::{self, Snapshot};
use super::traversal::Traversal;
use super::volumes::Renumbering;
use engine_foundation::handle::{Handle, HandleKind};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Slots, Vec2, Vec3};

/// Maximum number of agents.
pub const AGENTS_MAX: usize = 16_384;
/// Nodes that the searches of one update may visit, before the rest waits for the next one.
pub const UPDATE_NODES: usize = 4096;
/// Polygons at the beginning of a path among which an agent is looked for after a step.
const PATH_LOOKAHEAD: usize = 32;
/// Distance from the target at which an agent has arrived, as a part of its radius.
const ARRIVAL_RADII: f32 = 0.25;
/// Seconds without progress after which an agent counts as stuck, and gets a new path.
const STUCK_SECONDS: f32 = 0.75;
/// Duration of the average of [`Agent::blocked`].
const BLOCKED_SECONDS: f32 = 0.5;
/// Factor of the hash that decides who makes room.
const TURN_HASH: u64 = 0x9e37_79b9_7f4a_7c15;
/// Time for which an agent that is stuck makes room.
const YIELD_SECONDS: f32 = 0.6;
/// Distances within which ground is searched for agents whose ground is gone, in metres.
const GROUND_DISTANCES: [f32; 3] = [0.5, 4.0, 32.0];
/// Part of the wanted speed below which an agent makes no progress.
const STUCK_SPEED: f32 = 0.1;
/// Distance from others at which an agent has arrived although they stand on its target, in radii.
const CROWDED_RADII: f32 = 6.0;

/// Properties of an agent. Lengths are in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AgentSettings {
    pub radius: f32,
    /// Metres per second.
    pub speed: f32,
    /// Metres per second, per second.
    pub acceleration: f32,
    /// Agents of lower priority make way for those of higher priority.
    pub priority: u8,
    /// False if the agent walks straight, and others avoid it.
    pub avoids: bool,
}

impl AgentSettings {
    pub const DEFAULT: AgentSettings =
        AgentSettings { radius: 0.6, speed: 3.5, acceleration: 12.0, priority: 0, avoids: true };
}

/// Activity of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentState {
    /// It has no destination.
    Idle,
    /// Its search waits for its turn.
    Waiting,
    Moving,
    /// It is on a link, between two points that no ground joins.
    Linking,
    /// It is at its destination, or as near as others let it.
    Arrived,
    /// It is at the end of a path that does not reach its destination.
    Partial,
    /// Its mesh was destroyed, or has no ground near it any more.
    Lost,
}

impl AgentState {
    /// All states.
    pub const ALL: [AgentState; 7] = [
        AgentState::Idle,
        AgentState::Waiting,
        AgentState::Moving,
        AgentState::Linking,
        AgentState::Arrived,
        AgentState::Partial,
        AgentState::Lost,
    ];

    /// Returns the name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            AgentState::Idle => "idle",
            AgentState::Waiting => "waiting",
            AgentState::Moving => "moving",
            AgentState::Linking => "linking",
            AgentState::Arrived => "arrived",
            AgentState::Partial => "partial",
            AgentState::Lost => "lost",
        }
    }
}

/// Agent on a mesh.
#[derive(Clone, Debug)]
pub struct Agent {
    pub mesh: Handle,
    pub settings: AgentSettings,
    pub at: NearestPolygon,
    pub velocity: Vec2,
    /// Velocity that it would have alone.
    pub desired: Vec2,
    pub state: AgentState,
    pub destination: Option<NearestPolygon>,
    pub(super) path: PolygonPath,
    /// End of the path: the destination, or the nearest point that can be reached.
    pub(super) end: Vec3,
    /// Why the path ends before the destination.
    pub partial: Option<PartialReason>,
    /// Distance from the destination at which the path was searched.
    search_distance: f32,
    /// Version of the mesh that the path was searched on.
    pub(super) version: u32,
    /// Order of waiting searches.
    request: u64,
    /// Seconds without progress, since the last one or since it was sent.
    pub stuck_seconds: f32,
    /// Seconds without progress after which it asks for a new path.
    repair_seconds: f32,
    /// Part of its speed that others take from it, 0 to 1, as a moving average.
    pub(super) blocked: f32,
    /// Seconds for which it backs off, so that others who block it can pass.
    pub(super) yield_seconds: f32,
    /// Link that it is on.
    pub(super) traversal: Option<Traversal>,
}

/// Counts of the last update, and the longest times without progress.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentStatistics {
    pub searches: u32,
    pub nodes: u32,
    pub waiting: u32,
    pub stuck: u32,
}

/// All agents.
pub struct Agents {
    pub slots: Slots<Agent>,
    requests: u64,
    searcher: Searcher,
    pub statistics: AgentStatistics,
    /// Scratch memory of updates.
    rows: Vec<u32>,
    snapshot: Snapshot,
    results: Vec<steering::Steering>,
}

impl Default for Agents {
    fn default() -> Agents {
        Agents {
            slots: Slots::new(HandleKind::Agent, AGENTS_MAX),
            requests: 0,
            searcher: Searcher::default(),
            statistics: AgentStatistics::default(),
            rows: Vec::new(),
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
        self.slots.add(Agent {
            mesh,
            settings,
            at,
            velocity: Vec2::ZERO,
            desired: Vec2::ZERO,
            state: AgentState::Idle,
            destination: None,
            path: PolygonPath::default(),
            end: at.position,
            partial: None,
            search_distance: 0.0,
            version: 0,
            request: 0,
            stuck_seconds: 0.0,
            repair_seconds: STUCK_SECONDS,
            blocked: 0.0,
            yield_seconds: 0.0,
            traversal: None,
        })
    }

    /// Sends an agent to a point. Its search is answered in one of the next updates. Agents that
    /// are lost stay where they are.
    pub fn set_destination(&mut self, agent: Handle, destination: NearestPolygon) {
        self.requests += 1;
        let request = self.requests;
        // A lost agent is on no ground from which it could be sent.
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        if let Some(agent) = known {
            agent.destination = Some(destination);
            agent.request = request;
            match agent.traversal {
                Some(_) => agent.search_after_link(),
                None => agent.state = AgentState::Waiting,
            }
            agent.stuck_seconds = 0.0;
            agent.repair_seconds = STUCK_SECONDS;
        }
    }

    /// Ends the way of an agent, which stops.
    pub fn cancel(&mut self, agent: Handle) {
        if let Some(agent) = self.slots.get_mut(agent) {
            // An agent on a link stops at the end of the link. One that is lost stays lost.
            if agent.traversal.is_none() && agent.state != AgentState::Lost {
                agent.stop(AgentState::Idle);
            }
            agent.destination = None;
        }
    }

    /// Moves an agent to another point, from which it continues to its destination. An agent that
    /// was lost is idle there.
    pub fn teleport(&mut self, agent: Handle, at: NearestPolygon) {
        let Some(known) = self.slots.get_mut(agent) else { return };
        known.at = at;
        known.velocity = Vec2::ZERO;
        if known.traversal.take().is_some() || known.state == AgentState::Lost {
            known.stop(AgentState::Idle);
        }
        let destination = known.destination;
        match destination {
            Some(destination) => self.set_destination(agent, destination),
            None => known.end = at.position,
        }
    }

    /// Ends the ways of the agents of a mesh that no longer exists.
    pub fn lose_mesh(&mut self, mesh: Handle) {
        for (_, agent) in self.slots.iter_mut().filter(|(_, agent)| agent.mesh == mesh) {
            agent.lose();
        }
    }

    /// Gives the agents of a mesh the numbers that polygons have after tiles were built again.
    /// Agents whose ground is gone are put on the nearest ground; those without any are lost.
    pub fn renumber(&mut self, id: Handle, mesh: &NavigationMesh, renumbering: &Renumbering) {
        let agents = self.slots.iter_mut().filter(|(_, agent)| agent.mesh == id);
        for (_, agent) in agents.filter(|(_, agent)| agent.state != AgentState::Lost) {
            let moved = |known: NearestPolygon| match renumbering.polygon(known.polygon) {
                Some(polygon) => Some(NearestPolygon { polygon, ..known }),
                None => nearest_ground(mesh, known.position),
            };
            if agent.traversal.is_some() {
                if !agent.renumber_link(renumbering, |end| nearest_ground(mesh, end)) {
                    agent.lose();
                }
                agent.destination = agent.destination.and_then(moved);
                agent.path = PolygonPath::default();
                agent.search_after_link();
                continue;
            }
            let Some(at) = moved(agent.at) else {
                agent.lose();
                continue;
            };
            agent.at = at;
            let is_sent = agent.destination.is_some();
            agent.destination = agent.destination.and_then(moved);
            if is_sent && agent.destination.is_none() {
                agent.stop(AgentState::Idle);
                continue;
            }
            agent.path.renumber(mesh, renumbering);
            if agent.path.polygons.first() != Some(&at.polygon) {
                agent.path = PolygonPath::default();
            }
            // The way of those who were under way is searched again. Until then they follow what is
            // left of it.
            if agent.state == AgentState::Moving && agent.path.polygons.is_empty() {
                agent.state = AgentState::Waiting;
            }
        }
    }

    /// Advances the agents of a mesh by `step` seconds.
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
        self.rows.clear();
        let of_mesh = self
            .slots
            .iter()
            .filter(|(_, agent)| agent.mesh == id && agent.state != AgentState::Lost);
        self.rows.extend(of_mesh.map(|(handle, _)| handle.index() as u32));
        self.repair_paths(mesh);
        self.answer_searches(mesh);
        let (slots, rows) = (&self.slots, &self.rows);
        let agent = |row: u32| slots.at(row as usize).expect("it was listed");
        self.snapshot.take(rows.iter().map(|row| agent(*row)));
        self.results.clear();
        self.results.resize(rows.len(), steering::Steering::default());
        let snapshot = &self.snapshot;
        // An agent costs about as much as 16 items of other systems.
        let tasks = pool.tasks(rows.len() * 16)?;
        tasks.each_slice(pool.task("navigation"), &mut self.results, |first, piece| {
            for (at, result) in (first..).zip(piece) {
                *result = steering::steer(mesh, agent(rows[at]), snapshot, at, step);
            }
        })?;
        self.statistics.stuck = 0;
        for at in 0..self.rows.len() {
            let row = self.rows[at] as usize;
            let result = self.results[at];
            let agent = self.slots.at_mut(row).expect("it was listed");
            agent.apply(mesh, result, step);
            if agent.stuck_seconds >= STUCK_SECONDS {
                self.statistics.stuck += 1;
            }
        }
        Ok(())
    }

    /// Asks for new paths where the mesh has changed, or an agent makes no progress.
    fn repair_paths(&mut self, mesh: &NavigationMesh) {
        for at in 0..self.rows.len() {
            let row = self.rows[at] as usize;
            let agent = self.slots.at_mut(row).expect("it was listed");
            if agent.destination.is_none() {
                continue;
            }
            let is_under_way = matches!(agent.state, AgentState::Moving | AgentState::Partial);
            let is_outdated = agent.version != mesh.version && is_under_way;
            let is_moving = agent.state == AgentState::Moving;
            let is_stuck = is_moving && agent.stuck_seconds > agent.repair_seconds;
            if is_stuck {
                agent.repair_seconds += STUCK_SECONDS;
                // Half of those who block each other back off, another half each time.
                let turn = agent.request.wrapping_add(row as u64).wrapping_mul(TURN_HASH);
                agent.yield_seconds = if turn >> 63 == 0 { YIELD_SECONDS } else { 0.0 };
            }
            if is_outdated || is_stuck {
                self.requests += 1;
                agent.request = self.requests;
                agent.state = AgentState::Waiting;
            }
        }
    }

    /// Answers waiting searches, the oldest ones first, until the budget is used up.
    fn answer_searches(&mut self, mesh: &NavigationMesh) {
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        for row in &self.rows {
            let agent = self.slots.at(*row as usize).expect("it was listed");
            if agent.state == AgentState::Waiting {
                waiting.push((agent.request, *row));
            }
        }
        waiting.sort_unstable();
        let mut nodes = 0;
        let mut searches = 0;
        for (_, row) in &waiting {
            if nodes >= UPDATE_NODES {
                break;
            }
            let agent = self.slots.at_mut(*row as usize).expect("it was listed");
            let Some(target) = agent.destination else { continue };
            self.searcher.search(mesh, agent.at, target, SEARCH_NODES_DEFAULT, &mut agent.path);
            nodes += self.searcher.visited().len();
            searches += 1;
            let end = *agent.path.polygons.last().expect("a path has its start");
            agent.partial = agent.path.partial;
            agent.search_distance = agent.at.position.distance(target.position);
            agent.end = match agent.partial {
                None => target.position,
                Some(_) => mesh.constrain(end, target.position),
            };
            agent.version = mesh.version;
            agent.state = AgentState::Moving;
        }
        self.statistics.searches = searches;
        self.statistics.nodes = nodes as u32;
        self.statistics.waiting = waiting.len() as u32 - searches;
    }
}

impl Agent {
    fn lose(&mut self) {
        self.stop(AgentState::Lost);
        self.destination = None;
        self.velocity = Vec2::ZERO;
        self.traversal = None;
    }

    pub(super) fn stop(&mut self, state: AgentState) {
        self.state = state;
        self.path = PolygonPath::default();
        self.desired = Vec2::ZERO;
        self.partial = None;
        self.stuck_seconds = 0.0;
        self.blocked = 0.0;
        self.yield_seconds = 0.0;
    }

    /// Returns the point that the agent walks to: its destination, or the nearest reachable point.
    pub fn end(&self) -> Vec3 {
        self.end
    }

    /// Returns the length of the rest of its way.
    pub fn remaining_distance(&self, mesh: &NavigationMesh) -> f32 {
        if self.path.polygons.is_empty() {
            return 0.0;
        }
        let (mut sum, mut before) = (0.0, self.at.position);
        self.path.corners(mesh, self.at.position, self.end, |point, _| {
            sum += before.distance(point);
            before = point;
            true
        });
        sum
    }

    /// Returns the corners of the rest of its way, the destination last.
    pub fn corners(&self, mesh: &NavigationMesh, corners: &mut Vec<Vec3>) {
        corners.clear();
        if !self.path.polygons.is_empty() {
            self.path.corners(mesh, self.at.position, self.end, |point, _| {
                corners.push(point);
                true
            });
        }
    }

    fn apply(&mut self, mesh: &NavigationMesh, result: steering::Steering, step: f32) {
        self.desired = result.desired;
        if let Some(traversal) = self.traversal {
            return self.follow_link(traversal, step);
        }
        let before = self.at.position;
        let change = result.velocity - self.velocity;
        let most = self.settings.acceleration * step;
        let length = change.length();
        self.velocity += if length > most { change * (most / length) } else { change };
        let by = self.velocity * step + result.push;
        if by.length_squared() > 0.0 {
            self.at = mesh.slide(self.at, by);
            self.follow_path(mesh);
        }
        if self.state != AgentState::Moving {
            return;
        }
        self.enter_link(mesh, step);
        if self.state != AgentState::Moving {
            return;
        }
        let moved = (self.at.position - before).truncate();
        let wanted = self.desired.length();
        let toward = moved.dot(self.desired.normalize_or_zero());
        let part = if wanted > 0.0 { toward / (wanted * step).max(1e-6) } else { 1.0 };
        let blocked = (1.0 - part).clamp(0.0, 1.0) - self.blocked;
        self.blocked += blocked * (step / BLOCKED_SECONDS).min(1.0);
        self.yield_seconds = (self.yield_seconds - step).max(0.0);
        let is_still = wanted > 0.0 && toward < self.settings.speed * STUCK_SPEED * step;
        self.stuck_seconds = if is_still { self.stuck_seconds + step } else { 0.0 };
        if !is_still {
            self.repair_seconds = STUCK_SECONDS;
        }
        let left = self.end.truncate().distance(self.at.position.truncate());
        let is_last = self.path.polygons.len() <= 1;
        let radius = self.settings.radius;
        // What the agent walks in an update, so that it does not pass its end between two of them.
        let stride = (self.velocity.length() * step).min(radius);
        let is_near = left <= radius * ARRIVAL_RADII + stride && result.is_last_corner;
        let is_crowded = left <= radius * CROWDED_RADII
            && (is_last || result.is_last_corner)
            && self.stuck_seconds > STUCK_SECONDS * 0.5;
        if is_near && self.can_search_on() {
            self.state = AgentState::Waiting;
            return;
        }
        if is_near || is_crowded {
            let is_partial = self.partial.is_some();
            let partial = self.partial;
            self.stop(if is_partial { AgentState::Partial } else { AgentState::Arrived });
            self.partial = partial;
            self.velocity *= 0.5;
        }
    }

    /// Returns true if the search for the path was given up, and another one from here can lead
    /// farther: each of them begins nearer to the destination, so that there is a last one.
    fn can_search_on(&self) -> bool {
        let Some(destination) = self.destination else { return false };
        let left = self.at.position.distance(destination.position);
        self.partial == Some(PartialReason::Budget)
            && left < self.search_distance - self.settings.radius
    }

    /// Keeps the path beginning at the polygon of the agent.
    pub(super) fn follow_path(&mut self, mesh: &NavigationMesh) {
        if self.path.polygons.is_empty() || self.path.polygons[0] == self.at.polygon {
            return;
        }
        let ahead = self.path.polygons.iter().take(PATH_LOOKAHEAD);
        if let Some(at) = ahead.into_iter().position(|polygon| *polygon == self.at.polygon) {
            self.path.drop_first(at);
            return;
        }
        // Pushed aside: go back through a neighbour, or ask for another path.
        if !self.path.rejoin(mesh, self.at.polygon, PATH_LOOKAHEAD) {
            self.path = PolygonPath::default();
            if self.state == AgentState::Moving {
                self.state = AgentState::Waiting;
            }
        }
    }

    /// Calls `write` with the numbers that make up the state of the agent.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        let AgentSettings { radius, speed, acceleration, priority, avoids } = self.settings;
        let destination = self.destination.unwrap_or(self.at);
        let part = self.traversal.map_or(-1.0, |traversal| traversal.part);
        let points = [self.at.position, destination.position, self.end].map(|at| at.to_array());
        let directions = [self.velocity, self.desired].map(|at| at.to_array());
        let numbers = [radius, speed, acceleration, self.stuck_seconds, self.repair_seconds];
        let others = [self.blocked, self.yield_seconds, self.search_distance, part];
        let floats = points.as_flattened().iter().chain(directions.as_flattened());
        for number in floats.chain(&numbers).chain(&others) {
            write(u64::from(number.to_bits()));
        }
        let partial = self.partial.map_or(0, |reason| reason as u64 + 1);
        let sent = u64::from(self.destination.is_some());
        write(self.state as u64 | u64::from(priority) << 8 | u64::from(avoids) << 16);
        write(sent | partial << 8 | u64::from(self.version) << 32);
        write(u64::from(self.at.polygon) | u64::from(destination.polygon) << 32);
        write(self.mesh.index() as u64);
        write(self.request);
        write(self.path.polygons.len() as u64);
        self.path.polygons.iter().for_each(|polygon| write(u64::from(*polygon)));
        write(self.link().map_or(0, |link| u64::from(link) + 1));
    }
}

/// Returns the ground that is nearest to a position from which it was taken away.
fn nearest_ground(mesh: &NavigationMesh, position: Vec3) -> Option<NearestPolygon> {
    let height = mesh.settings().height;
    GROUND_DISTANCES
        .into_iter()
        .find_map(|distance| mesh.nearest(position, distance, distance.min(height)))
}
