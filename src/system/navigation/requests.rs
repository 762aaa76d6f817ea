//! Searches of agents: who asks for a path, and the answers within a budget of polygons. Agents
//! that have a path follow it until theirs is answered. Those without one come first. Searches are
//! dealt to a fixed number of lanes, which search at the same time, with the same results on any
//! number of threads. Agents with the same destination share a map of the ways to it, see
//! shared_targets.rs.

use super::agent::{Agent, AgentState, REPAIR_SECONDS, Request};
use super::agents::Agents;
use super::dispersion::Crowd;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::search::{PartialReason, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use super::shared_targets::{Answer, SharedTarget};
use engine_foundation::Error;
use engine_foundation::tasks::TaskPool;

/// Nodes that the searches of one update may visit, before the rest waits for the next one.
pub const UPDATE_NODES: usize = 4096;
/// Lanes that search at the same time.
const LANES: usize = 4;
/// Polygons of a way of a shared destination that count as a node.
const POLYGONS_OF_NODE: usize = 16;
/// Distance between the ends of two paths that lead equally far, in radii.
const SAME_END_RADII: f32 = 1.0;

/// Searches of agents, one after another.
#[derive(Debug, Default)]
pub(super) struct SearchLane {
    searcher: Searcher,
    /// The first `count` are of this update; the others keep their memory.
    searches: Vec<AgentSearch>,
    count: usize,
    /// Searches that were answered, and the nodes that they have visited.
    answered: usize,
    nodes: usize,
}

#[derive(Debug, Default)]
struct AgentSearch {
    row: u32,
    ends: Option<(NearestPolygon, NearestPolygon)>,
    /// Shared destination that knows the way.
    shared: Option<usize>,
    path: PolygonPath,
}

impl SearchLane {
    fn begin(&mut self, crowd: &Crowd) {
        self.searcher.crowd.clone_from(crowd);
        (self.count, self.answered, self.nodes) = (0, 0, 0);
    }

    fn add(&mut self, row: u32, ends: (NearestPolygon, NearestPolygon), shared: Option<usize>) {
        if self.count == self.searches.len() {
            self.searches.push(AgentSearch::default());
        }
        let search = &mut self.searches[self.count];
        (search.row, search.ends, search.shared) = (row, Some(ends), shared);
        self.count += 1;
    }

    /// Searches until the nodes are used up.
    fn advance(
        &mut self,
        mesh: &NavigationMesh,
        shared_targets: &[SharedTarget],
        nodes_max: usize,
    ) {
        for search in &mut self.searches[..self.count] {
            if self.nodes >= nodes_max {
                break;
            }
            let Some(ends) = search.ends else { continue };
            let path = &mut search.path;
            self.nodes += match search.shared {
                Some(at) => {
                    self.searcher.follow(mesh, &shared_targets[at].map, ends, path);
                    path.polygons.len().div_ceil(POLYGONS_OF_NODE)
                }
                None => {
                    self.searcher.search(mesh, ends.0, ends.1, SEARCH_NODES_DEFAULT, path);
                    self.searcher.visited().len()
                }
            };
            self.answered += 1;
        }
    }
}

impl Agents {
    /// Asks for paths: for agents without one, where the mesh has changed, and for those that make
    /// no progress.
    pub(super) fn request_paths(&mut self, mesh: &NavigationMesh) {
        for at in 0..self.rows.len() {
            let row = self.rows[at] as usize;
            let agent = self.slots.at_mut(row).expect("it was listed");
            if agent.destination.is_none() {
                agent.request = None;
                continue;
            }
            let is_outdated = agent.is_outdated(mesh);
            if is_outdated && agent.state == AgentState::Moving && agent.is_path_closed(mesh) {
                agent.state = AgentState::Waiting;
                agent.path = PolygonPath::default();
            }
            let is_moving = agent.state == AgentState::Moving;
            let is_stuck =
                is_moving && agent.stuck_seconds > agent.repair_seconds && !agent.gets_on();
            if is_stuck {
                agent.repair_seconds += REPAIR_SECONDS;
                if agent.begin_detour(mesh) {
                    continue;
                }
            }
            let is_waiting = agent.state == AgentState::Waiting;
            let is_astray = is_moving && agent.leader.is_none() && agent.is_astray();
            let is_asking = match agent.request {
                None => is_waiting || is_outdated || is_stuck || is_astray,
                Some(request) => is_waiting && request.is_repair,
            };
            if is_asking {
                self.requests += 1;
                agent.request = Some(Request { is_repair: !is_waiting, number: self.requests });
            }
        }
    }

    /// Lists the searches that wait, and returns their number.
    pub(super) fn count_requests(&mut self) -> usize {
        self.queue.clear();
        for row in &self.rows {
            let agent = self.slots.at(*row as usize).expect("it was listed");
            if let Some(request) = agent.request
                && agent.traversal.is_none()
                && agent.destination.is_some()
            {
                self.queue.push((request, *row));
            }
        }
        self.queue.len()
    }

    /// Answers searches, the oldest ones first, until a budget of nodes is used up. Returns the
    /// nodes that they have visited.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub(super) fn answer_requests(
        &mut self,
        mesh: &NavigationMesh,
        nodes_max: usize,
        pool: &TaskPool,
    ) -> Result<usize, Error> {
        let waiting = self.count_requests();
        if waiting == 0 {
            return Ok(0);
        }
        self.queue.sort_unstable();
        let of_shared = self.advance_shared(mesh, nodes_max, pool)?;
        let dealt = self.deal_requests(mesh);
        let nodes = nodes_max.saturating_sub(of_shared).max(1).div_ceil(LANES);
        // A search costs as much as hundreds of items of other systems.
        let tasks = pool.tasks(dealt * 250)?;
        let shared_targets = &self.shared;
        tasks.each_slice(pool.task("navigation_searches"), &mut self.lanes, |_, piece| {
            piece.iter_mut().for_each(|lane| lane.advance(mesh, shared_targets, nodes));
            Ok(())
        })?;
        let (mut nodes, mut searches) = (of_shared, 0);
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in &mut lanes {
            for search in &mut lane.searches[..lane.answered] {
                let agent = self.slots.at_mut(search.row as usize).expect("it was listed");
                agent.request = None;
                agent.is_aside = false;
                std::mem::swap(&mut agent.path, &mut search.path);
                agent.take_path(mesh);
            }
            nodes += lane.nodes;
            searches += lane.answered as u32;
        }
        self.lanes = lanes;
        self.statistics.searches += searches;
        self.statistics.nodes += nodes as u32;
        self.statistics.waiting += waiting as u32 - searches;
        Ok(nodes)
    }

    /// Deals the searches that wait to the lanes, the oldest ones first, without those whose shared
    /// destination does not know their way yet. The oldest of these are dealt, too, so that they
    /// find a way on a mesh that changes before the shared destinations know any. Returns the
    /// number of searches.
    fn deal_requests(&mut self, mesh: &NavigationMesh) -> usize {
        self.lanes.resize_with(LANES, SearchLane::default);
        let first = self.queue.first().and_then(|(_, row)| self.slots.at(*row as usize));
        let crowd = first.and_then(|agent| self.crowd(agent.mesh, mesh));
        self.lanes.iter_mut().for_each(|lane| lane.begin(&crowd));
        let (mut dealt, mut unfinished) = (0, 0);
        for at in 0..self.queue.len() {
            let row = self.queue[at].1;
            let agent = self.slots.at(row as usize).expect("it was listed");
            let Some(target) = agent.destination else { continue };
            let ends = (agent.at, target);
            let shared = match self.shared_answer(mesh, agent) {
                Answer::Unfinished if unfinished == LANES => continue,
                Answer::Unfinished => {
                    unfinished += 1;
                    None
                }
                Answer::Known(at) => Some(at),
                Answer::Alone => None,
            };
            self.lanes[dealt % LANES].add(row, ends, shared);
            dealt += 1;
        }
        dealt
    }
}

impl Agent {
    /// Returns true if the mesh has changed since the path was searched. A blocked agent searches
    /// when it tries again.
    fn is_outdated(&self, mesh: &NavigationMesh) -> bool {
        let is_under_way = matches!(self.state, AgentState::Moving | AgentState::Partial);
        is_under_way && self.version != mesh.version && self.visible_slot().is_none()
    }

    /// Returns true if the rest of the path leads through a closed polygon.
    fn is_path_closed(&self, mesh: &NavigationMesh) -> bool {
        self.path.polygons.windows(2).any(|pair| !mesh.can_cross(pair[0], pair[1]))
    }

    /// Begins to follow the path that was found.
    fn take_path(&mut self, mesh: &NavigationMesh) {
        let Some(target) = self.destination else { return };
        let last = *self.path.polygons.last().expect("a path has its start");
        let (before, end) = (self.end, self.path.partial.or(self.displaced_reason()));
        if end == Some(PartialReason::Unreachable) && self.rest.is_returning() {
            // Its rest is nearer than any way leads now.
            self.end = self.at.position;
            self.stop(AgentState::Arrived);
            self.rest.give_up();
            return;
        }
        self.partial = end;
        self.search_distance = self.at.position.distance(target.position);
        self.end = match end {
            None => target.position,
            Some(_) => mesh.constrain(last, target.position),
        };
        self.version = mesh.version;
        self.approach.forget();
        // At the end of a path that leads no farther now.
        let is_same = before.distance(self.end) <= self.settings.radius * SAME_END_RADII;
        if self.state != AgentState::Partial || end.is_none() || !is_same {
            self.state = AgentState::Moving;
        }
    }
}
