//! Destinations that many agents have in common. The ways to one are found once for all, as a
//! Dijkstra map from the destination outward, as far as those who ask are away. It is kept for
//! those who ask later, until the mesh changes.

use super::agent::Agent;
use super::agents::Agents;
use super::bake::AREAS_MAX;
use super::dijkstra_map::{DijkstraMap, Target};
use super::mesh::{NavigationMesh, NearestPolygon};
use engine_foundation::Error;
use engine_foundation::handle::Handle;
use engine_foundation::tasks::TaskPool;

/// Maximum number of destinations that are shared at a time.
pub const SHARED_TARGETS_MAX: usize = 8;
/// Number of agents from which a destination is shared.
const SHARING_AGENTS: usize = 8;
/// Nodes of a search. A destination is shared if the searches of all who ask would visit as many
/// nodes as the mesh has polygons.
const SEARCH_NODES: usize = 32;
/// Maximum number of polygons of a mesh on which destinations are shared.
const POLYGONS_MAX: usize = 1 << 16;
/// Polygons after which a map is asked if it knows the ways of all who wait.
const PART: usize = 128;

/// Destination of several agents.
#[derive(Clone, Debug)]
pub(super) struct SharedTarget {
    mesh: Handle,
    /// Version and costs of the mesh for which the map holds.
    version: u32,
    costs: [f32; AREAS_MAX],
    target: NearestPolygon,
    pub map: DijkstraMap,
    /// Number of requests when it was asked last.
    used: u64,
    /// Polygons from which ways are asked for in this update.
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
            used += map.advance(mesh, PART.min(nodes - used));
        }
    }
}

/// Returns the number of a destination: equal ones have the same.
fn number(target: NearestPolygon) -> [u32; 4] {
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
        self.shared.retain(|shared| shared.mesh != id || shared.version == mesh.version);
        self.shared.iter_mut().for_each(|shared| shared.wanted.clear());
        self.share_targets(id, mesh);
        for at in 0..self.queue.len() {
            let agent = self.slots.at(self.queue[at].1 as usize).expect("it was listed");
            if let Some(at) = self.find_shared(mesh, agent) {
                let polygon = agent.at.polygon;
                self.shared[at].used = self.requests;
                self.shared[at].wanted.push(polygon);
            }
        }
        let asked = self.shared.iter().filter(|shared| !shared.wanted.is_empty()).count();
        if asked == 0 {
            return Ok(0);
        }
        let nodes = (nodes_max / 2 / asked).max(1);
        let before: usize = self.shared.iter().map(|shared| shared.map.visited).sum();
        let tasks = pool.tasks(asked * 250)?;
        tasks.each_slice(pool.task("navigation"), &mut self.shared, |_, piece| {
            for shared in piece.iter_mut().filter(|shared| !shared.wanted.is_empty()) {
                shared.advance(mesh, nodes);
            }
            Ok(())
        })?;
        Ok(self.shared.iter().map(|shared| shared.map.visited).sum::<usize>() - before)
    }

    /// Shares the destinations for which enough of the agents that are listed ask.
    fn share_targets(&mut self, id: Handle, mesh: &NavigationMesh) {
        let polygons = mesh.num_polygons();
        if self.queue.len() < SHARING_AGENTS || polygons > POLYGONS_MAX {
            return;
        }
        let agent = |row: &u32| self.slots.at(*row as usize).expect("it was listed");
        let mut targets: Vec<NearestPolygon> = self
            .queue
            .iter()
            .map(|(_, row)| agent(row))
            .filter(|agent| self.find_shared(mesh, agent).is_none())
            .filter_map(|agent| agent.destination)
            .collect();
        targets.sort_by_key(|target| number(*target));
        for same in targets.chunk_by(|a, b| number(*a) == number(*b)) {
            if same.len() < SHARING_AGENTS || same.len() * SEARCH_NODES < polygons {
                continue;
            }
            let target = same[0];
            let mut map = match self.shared.len() < SHARED_TARGETS_MAX {
                true => DijkstraMap::default(),
                // The one that nobody has asked for the longest time makes room.
                false => {
                    let oldest = (0..self.shared.len()).min_by_key(|at| self.shared[*at].used);
                    match oldest.filter(|at| self.shared[*at].used < self.requests) {
                        Some(oldest) => self.shared.remove(oldest).map,
                        None => return,
                    }
                }
            };
            map.begin(mesh, std::iter::once(Target { at: target, cost: 0.0 }));
            self.shared.push(SharedTarget {
                mesh: id,
                version: mesh.version,
                costs: mesh.costs,
                target,
                map,
                used: self.requests,
                wanted: Vec::new(),
            });
        }
    }

    /// Returns the shared destination of an agent.
    fn find_shared(&self, mesh: &NavigationMesh, agent: &Agent) -> Option<usize> {
        let target = number(agent.destination?);
        self.shared.iter().position(|shared| {
            shared.mesh == agent.mesh
                && number(shared.target) == target
                && shared.version == mesh.version
                && same_costs(&shared.costs, &mesh.costs)
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
        for shared in self.shared.iter().filter(|shared| shared.mesh == mesh) {
            let [polygon, x, y, z] = number(shared.target).map(u64::from);
            write(polygon << 32 | x);
            write(y << 32 | z);
            write((shared.map.visited as u64) << 32 | u64::from(shared.version));
            write(shared.used);
            shared.costs.iter().for_each(|cost| write(u64::from(cost.to_bits())));
        }
    }
}
