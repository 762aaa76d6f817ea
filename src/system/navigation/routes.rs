//! Ways of agents over several meshes: the ground and the platforms on it. An agent whose
//! destination is on another mesh chooses the stop by which its way is shortest.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::path::{PartialReason, PointPath, PolygonPath};
use super::requests::UPDATE_NODES;
use super::rides::Ride;
use super::search::{SEARCH_NODES_DEFAULT, Searcher};
use engine_foundation::handle::{Handle, Slots};
use engine_foundation::{Vec2, Vec3, log};

/// Seconds until a way is searched again, if there was none.
const RETRY_SECONDS: f32 = 1.0;
/// Maximum number of corners of a way whose length is measured.
const CORNERS_MAX: usize = 1024;

/// Destination that is on another mesh, or to which a ride leads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TravelTarget {
    pub mesh: Handle,
    pub position: Vec3,
    /// Stop by which the way leads, once it is chosen.
    pub(super) via: Option<(Handle, u8)>,
    /// Seconds until a way is searched again, because there was none.
    pub(super) retry_seconds: f32,
}

impl TravelTarget {
    /// Makes a goal whose way is not chosen yet.
    pub fn new(mesh: Handle, position: Vec3) -> TravelTarget {
        TravelTarget { mesh, position, via: None, retry_seconds: 0.0 }
    }

    pub(super) fn write_state(&self, write: &mut impl FnMut(u64)) {
        let (of, stop) = self.via.map_or((0, 0), |(of, stop)| (of.index() as u64 + 1, stop));
        write(self.mesh.index() as u64 | of << 32);
        write(u64::from(stop) | u64::from(self.retry_seconds.to_bits()) << 32);
        self.position.to_array().into_iter().for_each(|number| write(u64::from(number.to_bits())));
    }
}

/// Stop by which a way leads.
struct Exit {
    platform: Handle,
    stop: u8,
    /// True if the agent is on the platform, and gets off.
    is_leaving: bool,
    length: f32,
}

/// Searches for the lengths of ways.
struct Lengths<'a> {
    meshes: &'a Slots<NavigationMesh>,
    searcher: Searcher,
    path: PolygonPath,
    points: PointPath,
    nodes: usize,
}

impl Lengths<'_> {
    /// Returns the length of the way between two points of a mesh; `None` if there is none.
    fn between(&mut self, mesh: Handle, from: Vec3, to: Vec3) -> Option<f32> {
        let mesh = self.meshes.get(mesh)?;
        let (from, to) = (mesh.snap(from)?, mesh.snap(to)?);
        self.searcher.search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut self.path);
        self.nodes += self.searcher.visited().len().max(1);
        if self.path.partial.is_some() {
            return None;
        }
        self.path.find_corners(mesh, from, to, CORNERS_MAX, &mut self.points);
        Some(self.points.length())
    }
}

impl Agents {
    /// Sends an agent to a point of a mesh, which can be another one than that on which it is. An
    /// agent between the ground and a platform crosses first.
    pub fn set_target(&mut self, agent: Handle, mesh: Handle, at: NearestPolygon) {
        let known = self.slots.get_mut(agent).filter(|agent| agent.state != AgentState::Lost);
        let Some(known) = known else { return };
        let is_crossing = known.ride.is_some_and(|ride| ride.is_crossing());
        if is_crossing || known.mesh != mesh {
            if known.leader.is_some() {
                known.end_following();
            }
            known.target = Some(TravelTarget::new(mesh, at.position));
            match &mut known.ride {
                Some(ride) if is_crossing => ride.forget_exit(),
                ride => *ride = None,
            }
            if !is_crossing {
                known.forget_destination();
                known.stop(AgentState::Waiting);
            }
            return;
        }
        (known.target, known.ride) = (None, None);
        self.send(agent, at);
    }

    /// Chooses the stops of agents whose destination is on another mesh, until the nodes of an
    /// update are used up.
    pub(super) fn choose_ways(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        agents: &[Handle],
        step: f32,
    ) {
        let mut lengths = Lengths {
            meshes,
            searcher: std::mem::take(&mut self.searcher),
            path: PolygonPath::default(),
            points: PointPath::default(),
            nodes: 0,
        };
        for handle in agents {
            let agent = self.slots.get_mut(*handle).expect("it was listed");
            let Some(target) = &mut agent.target else { continue };
            let is_chosen = target.via.is_some() && target.mesh != agent.mesh;
            if agent.ride.is_some() || agent.traversal.is_some() || is_chosen {
                continue;
            }
            if target.retry_seconds > 0.0 {
                target.retry_seconds -= step;
                continue;
            }
            if target.mesh == agent.mesh {
                self.go_on(meshes, *handle);
            } else if lengths.nodes < UPDATE_NODES {
                self.choose_way(&mut lengths, *handle);
            }
        }
        self.searcher = lengths.searcher;
    }

    fn choose_way(&mut self, lengths: &mut Lengths, handle: Handle) {
        let agent = self.slots.get(handle).expect("it was listed");
        let Some(target) = agent.target else { return };
        let exit = self.best_exit(lengths, agent, target);
        let agent = self.slots.get_mut(handle).expect("it was listed");
        let Some(exit) = exit else {
            agent.target = Some(TravelTarget { retry_seconds: RETRY_SECONDS, ..target });
            agent.forget_destination();
            agent.stop(AgentState::Partial);
            agent.partial = Some(PartialReason::Unreachable);
            return;
        };
        if exit.is_leaving {
            agent.stop(AgentState::Idle);
            agent.ride = Some(Ride::aboard(exit.platform, exit.stop));
            return;
        }
        agent.target = Some(TravelTarget { via: Some((exit.platform, exit.stop)), ..target });
        let of = self.platform(exit.platform).expect("it was found");
        let ashore = of.stops[usize::from(exit.stop)].settings.ashore;
        self.walk_to(lengths.meshes, handle, ashore);
    }

    /// Returns the stop by which the way to a goal on another mesh is shortest.
    fn best_exit(
        &self,
        lengths: &mut Lengths,
        agent: &Agent,
        target: TravelTarget,
    ) -> Option<Exit> {
        let grounds: Vec<Handle> = self.grounds(target.mesh).collect();
        let position = agent.at.position;
        let mut best: Option<Exit> = None;
        let mut add = |exit: Exit| {
            if best.as_ref().is_none_or(|known| exit.length < known.length) {
                best = Some(exit);
            }
        };
        // The goal is on a platform on this mesh, or on one on that.
        let above = grounds.iter().position(|ground| *ground == agent.mesh);
        if let Some(next) = above.and_then(|at| grounds.get(at.checked_sub(1)?)) {
            let next_platform = self.platform(*next).filter(|of| of.is_usable)?;
            for (stop, of) in (0..).zip(&next_platform.stops) {
                let length = lengths.between(agent.mesh, position, of.settings.ashore);
                let (platform, is_leaving) = (*next, false);
                length.into_iter().for_each(|length| {
                    add(Exit { platform, stop, is_leaving, length });
                });
            }
            return best;
        }
        let of = self.platform(agent.mesh)?;
        let targets = self.targets_ashore(of.ground, &grounds, target);
        for (stop, at) in (0..).zip(&of.stops) {
            let first = lengths.between(agent.mesh, position, at.settings.aboard);
            let rest =
                targets.iter().filter_map(|to| lengths.between(of.ground, at.settings.ashore, *to));
            let rest = match targets.is_empty() {
                true => Some(0.0),
                false => rest.min_by(f32::total_cmp),
            };
            if let (Some(first), Some(rest)) = (first, rest) {
                let (platform, length, is_leaving) = (agent.mesh, first + rest, true);
                add(Exit { platform, stop, is_leaving, length });
            }
        }
        best
    }

    /// Returns the points of the ground of a platform to which a way to a goal leads: the goal
    /// itself, or the stops of the next platform. None if the way leads off that ground, too.
    fn targets_ashore(
        &self,
        ground: Handle,
        grounds: &[Handle],
        target: TravelTarget,
    ) -> Vec<Vec3> {
        match grounds.iter().position(|of| *of == ground) {
            Some(0) => vec![target.position],
            Some(at) => {
                let stops = self.platform(grounds[at - 1]).map(|next| &next.stops);
                stops.into_iter().flatten().map(|stop| stop.settings.ashore).collect()
            }
            None => Vec::new(),
        }
    }

    /// Moves an agent to a point of a mesh, from which it goes on to its destination.
    pub fn teleport_to(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        handle: Handle,
        mesh: Handle,
        at: NearestPolygon,
    ) {
        let Some(agent) = self.slots.get_mut(handle) else { return };
        if agent.mesh == mesh {
            return self.teleport(handle, at);
        }
        let wanted =
            agent.last_wanted_point().filter(|_| agent.ride.is_none() && agent.leader.is_none());
        if agent.target.is_none() {
            agent.target = wanted.map(|wanted| TravelTarget::new(agent.mesh, wanted));
        }
        agent.ride = None;
        self.transfer(handle, mesh, at);
        self.go_on(meshes, handle);
    }

    /// Moves an agent to a point of another mesh, on which it has no way yet.
    pub(super) fn transfer(&mut self, handle: Handle, mesh: Handle, at: NearestPolygon) {
        let Some(agent) = self.slots.get(handle) else { return };
        let (from, to) = (self.pose(agent.mesh), self.pose(mesh));
        let turned = |way: Vec2| to.turn_back(from.turn(way.extend(0.0))).truncate();
        let agent = self.slots.get_mut(handle).expect("it was found");
        let own = agent.own_costs.take();
        agent.abandoned.clear();
        agent.mesh = mesh;
        agent.at = at;
        agent.traversal = None;
        agent.leader = None;
        agent.forget_destination();
        agent.end = at.position;
        agent.velocity = turned(agent.velocity);
        let forward = turned(agent.forward).normalize_or_zero();
        agent.forward = if forward == Vec2::ZERO { Vec2::Y } else { forward };
        agent.approach.forget();
        agent.stop(AgentState::Idle);
        let Some(mut costs) = own.map(|own| (*own).clone()) else { return };
        costs.open_links();
        let shared = self.shared_costs(mesh, costs).unwrap_or_else(|error| {
            log::warning(&format!(
                "an agent that has come to another navigation mesh has the costs of that: {}",
                error.message
            ));
            None
        });
        self.slots.get_mut(handle).expect("it was found").own_costs = shared;
    }

    /// Sends an agent to its goal, if that is on its mesh.
    pub(super) fn go_on(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(agent) = self.slots.get_mut(handle) else { return };
        let Some(target) = agent.target else { return };
        if target.mesh != agent.mesh {
            agent.target = Some(TravelTarget::new(target.mesh, target.position));
            agent.stop(AgentState::Waiting);
            return;
        }
        agent.target = None;
        if let Some(mesh) = meshes.get(target.mesh) {
            self.send_again_to(mesh, handle, target.position);
        }
    }

    /// Sends an agent to a point of its mesh, as a part of its way. Returns false if there is no
    /// ground.
    pub(super) fn walk_to(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        handle: Handle,
        point: Vec3,
    ) -> bool {
        let mesh = self.slots.get(handle).and_then(|agent| meshes.get(agent.mesh));
        let Some(at) = mesh.and_then(|mesh| mesh.snap(point)) else { return false };
        self.send(handle, at);
        true
    }
}
