//! Destinations that many agents have in common. The ways to one are found once for all, as a
//! Dijkstra map from the destination outward, as far as those who ask are away. It is kept for
//! those who ask later, until the mesh changes.

use super::agent::Agent;
use super::agents::{AGENTS_MAX, Agents};
use super::bake::AREAS_MAX;
use super::dijkstra_map::{DijkstraMap, Target};
use super::dispersion::{Crowd, is_same};
use super::jumps::{LinkCosts, write_link_costs};
use super::mesh::{NavigationMesh, NearestPolygon};
use engine_foundation::Error;
use engine_foundation::handle::Handle;
use engine_foundation::tasks::TaskPool;
use std::sync::Arc;

/// Maximum number of destinations that are shared at a time.
pub const SHARED_TARGETS_MAX: usize = 8;
/// Number of agents from which a destination is shared.
const SHARING_AGENTS: usize = 8;
/// Nodes of a search. A destination is shared if the searches of all who ask would visit as many
/// nodes as the mesh has polygons.
const SEARCH_NODES: usize = 32;
/// Maximum number of polygons of a mesh on which destinations are shared.
const POLYGONS_MAX: usize = 1 << 16;
/// Number of requests after which nobody waits for a destination that was not asked for since: all
/// agents have asked for others.
const STALE_REQUESTS: u64 = AGENTS_MAX as u64;
/// Polygons after which a map is asked if it knows the ways of all who wait.
const PART: usize = 128;

/// Destination of several agents.
#[derive(Clone, Debug)]
pub(super) struct SharedTarget {
    pub mesh: Handle,
    /// Version and costs of the mesh for which the map holds.
    version: u32,
    costs: [f32; AREAS_MAX],
    link_costs: LinkCosts,
    target: NearestPolygon,
    /// Snapshots share it until it goes on.
    pub map: Arc<DijkstraMap>,
    /// Number of requests when it was asked last.
    pub used: u64,
    /// Polygons from which ways are asked for in the last update of the mesh, and are not known
    /// yet.
    wanted: Vec<u32>,
}

/// Answer of the shared destinations to the request of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The agent searches alone.
    Alone,
    /// The way is found in one of the next updates.
    Unfinished,
    /// The shared destination of this index knows the way.
    Known(usize),
}

impl SharedTarget {
    /// Returns true if it is on a mesh, with the costs that the mesh has now.
    fn is_of(&self, id: Handle, mesh: &NavigationMesh) -> bool {
        self.mesh == id
            && same_costs(&self.costs, &mesh.costs)
            && self.link_costs == mesh.jumps.ways.own
    }

    /// Returns true if its ways are those of now. Those for which somebody waits are found to the
    /// end, although the crowd has changed.
    fn holds(&self, mesh: &NavigationMesh, crowd: &Crowd) -> bool {
        let is_waited_for = !self.wanted.is_empty() && !self.map.is_complete();
        self.version == mesh.version && (is_same(&self.map.crowd, crowd) || is_waited_for)
    }

    /// Returns true if it can make room for another one: nobody asks for it, or waits for its ways.
    fn makes_room(&self, requests: u64) -> bool {
        let is_waited_for = !self.wanted.is_empty() && requests - self.used < STALE_REQUESTS;
        self.used < requests && !is_waited_for
    }

    /// Finds ways until all who wait can be answered, or the nodes are used up. Returns the number
    /// of nodes.
    fn advance(&mut self, mesh: &NavigationMesh, nodes: usize) -> usize {
        let mut used = 0;
        let SharedTarget { map, wanted, .. } = self;
        loop {
            wanted.retain(|polygon| !map.is_settled(*polygon));
            if wanted.is_empty() || map.is_complete() || used >= nodes {
                return used;
            }
            used += Arc::make_mut(map).advance(mesh, PART.min(nodes - used));
        }
    }
}

/// Returns the key of a destination: equal ones have the same.
fn key(target: NearestPolygon) -> [u32; 4] {
    let [x, y, z] = target.position.to_array().map(f32::to_bits);
    [target.polygon, x, y, z]
}

fn same_costs(a: &[f32; AREAS_MAX], b: &[f32; AREAS_MAX]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

impl Agents {
    /// Advances the maps of shared destinations for the requests that are listed. Returns the nodes
    /// that were visited: at most half of `nodes_max`.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub(super) fn advance_shared(
        &mut self,
        mesh: &NavigationMesh,
        nodes_max: usize,
        pool: &TaskPool,
    ) -> Result<usize, Error> {
        let Some(id) = self.queue.first().and_then(|(_, row)| self.slots.at(*row as usize)) else {
            return Ok(0);
        };
        let id = id.mesh;
        let crowd = self.crowd(id, mesh);
        self.shared.retain(|shared| shared.mesh != id || shared.holds(mesh, &crowd));
        let of_group = self.shared.iter_mut().filter(|shared| shared.is_of(id, mesh));
        of_group.for_each(|shared| shared.wanted.clear());
        self.share_targets(id, mesh, &crowd);
        for at in 0..self.queue.len() {
            let agent = self.slots.at(self.queue[at].1 as usize).expect("it was listed");
            if let Some(at) = self.find_shared(mesh, agent) {
                let polygon = agent.at.polygon;
                self.shared[at].used = self.requests;
                self.shared[at].wanted.push(polygon);
            }
        }
        let is_asked = |shared: &SharedTarget| shared.is_of(id, mesh) && !shared.wanted.is_empty();
        let asked = self.shared.iter().filter(|shared| is_asked(shared)).count();
        if asked == 0 {
            return Ok(0);
        }
        let nodes = (nodes_max / 2 / asked).max(1);
        let before: usize = self.shared.iter().map(|shared| shared.map.visited).sum();
        let tasks = pool.tasks(asked * 250)?;
        tasks.each_slice(pool.task("navigation_searches"), &mut self.shared, |_, piece| {
            for shared in piece.iter_mut().filter(|shared| is_asked(shared)) {
                shared.advance(mesh, nodes);
            }
            Ok(())
        })?;
        Ok(self.shared.iter().map(|shared| shared.map.visited).sum::<usize>() - before)
    }

    /// Shares the destinations for which enough of the agents that are listed ask.
    fn share_targets(&mut self, id: Handle, mesh: &NavigationMesh, crowd: &Crowd) {
        let polygons = mesh.num_polygons();
        if self.queue.len() < SHARING_AGENTS || polygons > POLYGONS_MAX {
            return;
        }
        let mut targets: Vec<NearestPolygon> = Vec::new();
        for at in 0..self.queue.len() {
            let agent = self.slots.at(self.queue[at].1 as usize).expect("it was listed");
            match self.find_shared(mesh, agent) {
                // It makes no room for those that come now.
                Some(at) => self.shared[at].used = self.requests,
                None => targets.extend(agent.destination),
            }
        }
        targets.sort_by_key(|target| key(*target));
        for same in targets.chunk_by(|a, b| key(*a) == key(*b)) {
            if same.len() < SHARING_AGENTS || same.len() * SEARCH_NODES < polygons {
                continue;
            }
            let target = same[0];
            let mut map = match self.shared.len() < SHARED_TARGETS_MAX {
                true => Arc::default(),
                // The one that nobody has asked for the longest time makes room.
                false => {
                    let is_free = |at: &usize| self.shared[*at].makes_room(self.requests);
                    let free = (0..self.shared.len()).filter(is_free);
                    match free.min_by_key(|at| self.shared[*at].used) {
                        Some(oldest) => self.shared.remove(oldest).map,
                        None => return,
                    }
                }
            };
            let begun = Arc::make_mut(&mut map);
            begun.begin(mesh, std::iter::once(Target { at: target, cost: 0.0 }));
            begun.crowd.clone_from(crowd);
            self.shared.push(SharedTarget {
                mesh: id,
                version: mesh.version,
                costs: mesh.costs,
                link_costs: mesh.jumps.ways.own.clone(),
                target,
                map,
                used: self.requests,
                wanted: Vec::new(),
            });
        }
    }

    /// Returns the shared destination of an agent.
    fn find_shared(&self, mesh: &NavigationMesh, agent: &Agent) -> Option<usize> {
        let target = key(agent.destination?);
        self.shared.iter().position(|shared| {
            shared.is_of(agent.mesh, mesh)
                && key(shared.target) == target
                && shared.version == mesh.version
        })
    }

    /// Returns the answer of the shared destinations to the request of an agent. Those that are on
    /// closed ground, or have no way to their destination, search alone.
    pub(super) fn shared_answer(&self, mesh: &NavigationMesh, agent: &Agent) -> Answer {
        let polygon = agent.at.polygon;
        let Some(at) = self.find_shared(mesh, agent).filter(|_| mesh.is_open(polygon)) else {
            return Answer::Alone;
        };
        let map = &self.shared[at].map;
        match (map.is_settled(polygon), map.is_complete()) {
            (true, _) => Answer::Known(at),
            (false, true) => Answer::Alone,
            (false, false) => Answer::Unfinished,
        }
    }

    /// Forgets the shared destinations on a mesh that no longer exists.
    pub(super) fn forget_shared(&mut self, mesh: Handle) {
        self.shared.retain(|shared| shared.mesh != mesh);
    }

    /// Calls `write` with the numbers that make up the state of the shared destinations on a mesh.
    pub fn write_shared(&self, mesh: Handle, mut write: impl FnMut(u64)) {
        write(self.requests);
        for shared in self.shared.iter().filter(|shared| shared.mesh == mesh) {
            let [polygon, x, y, z] = key(shared.target).map(u64::from);
            write(polygon << 32 | x);
            write(y << 32 | z);
            write((shared.map.visited as u64) << 32 | u64::from(shared.version));
            write(shared.used);
            write(shared.wanted.len() as u64);
            shared.costs.iter().for_each(|cost| write(u64::from(cost.to_bits())));
            write_link_costs(&shared.link_costs, &mut write);
        }
    }
}
