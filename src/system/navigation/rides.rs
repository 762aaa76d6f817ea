//! Rides of agents on platforms. An agent whose way leads over a platform waits beside the stop
//! until the platform is there and has room, gets on, stands on the platform, and gets off at its
//! other stop. Those who get off come first.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::mesh::NavigationMesh;
use super::platforms::{Platform, Stop, StopCounts};
use super::routes::TravelTarget;
use super::traversal::Traversal;
use engine_foundation::Vec3;
use engine_foundation::handle::{Handle, Slots};

/// Distance from a stop within which an agent has come to it, in radii.
const COME_RADII: f32 = 10.0;
/// Distance from a stop at which an agent gets on or off, in radii, and that at which it does if it
/// cannot come nearer.
const START_RADII: f32 = 0.75;
const CROWDED_RADII: f32 = 4.0;
/// Links of a path among which the next one over a platform is looked for.
const LINKS_AHEAD: usize = 8;
/// Part of a crossing after which it is not given up any more.
const LAST_RETURN: f32 = 0.5;
/// Part of the sum of two radii within which one is in the way of the other, and the durations of a
/// crossing for which an agent waits for those who stand at its end.
const FREE_RADII: f32 = 0.95;
const HELD_PART: f32 = 4.0;
/// The same part between those who cross, and to those who stand at the end: nobody walks into
/// another one, and the end is free before it is reached.
const CLOSE_RADII: f32 = 0.5;
/// Distance from its place at which a waiting agent goes there again, in radii.
const SPOT_RADII: f32 = 1.5;
/// Lead in metres by which a platform that leaves is too far for those who are crossing.
const LEAD: f32 = 1.0;

/// Stage of a ride.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Stage {
    /// It waits beside the stop.
    Waiting,
    /// It walks to the stop, because the platform is there and has room.
    Called,
    /// It is on its way onto the platform: how long it has been, where 1 is the duration of the way
    /// if nobody holds it up.
    Boarding(f32),
    /// It stands on the platform.
    Aboard,
    /// It walks to the stop on the platform.
    Leaving,
    /// It is on its way off the platform, for so long.
    Landing(f32),
}

/// Agent for which one that crosses waits.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Holder {
    /// Another one who crosses before it.
    Crossing,
    /// One who stands where it comes to.
    Standing,
}

/// Use of a platform by an agent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ride {
    pub platform: Handle,
    /// Stop at which it gets on, and that at which it gets off; `None` if its destination is on
    /// the platform, or is not known yet.
    pub from: u8,
    pub to: Option<u8>,
    pub stage: Stage,
    /// Order of those who wait.
    ticket: u64,
    /// Place beside the stop, or on the platform.
    slot: Option<u16>,
    /// Position at which a crossing has begun, in the space of the mesh on which the agent is.
    start: Vec3,
    /// Part of the crossing that it has walked, 0 to 1.
    walked: f32,
}

impl Ride {
    fn waiting(platform: Handle, from: u8, to: Option<u8>, ticket: u64) -> Ride {
        let (stage, slot, start) = (Stage::Waiting, None, Vec3::ZERO);
        Ride { platform, from, to, stage, ticket, slot, start, walked: 0.0 }
    }

    pub fn aboard(platform: Handle, to: u8) -> Ride {
        Ride { stage: Stage::Aboard, ..Ride::waiting(platform, 0, Some(to), 0) }
    }

    /// Returns true between the ground and the platform.
    pub fn is_crossing(&self) -> bool {
        matches!(self.stage, Stage::Boarding(_) | Stage::Landing(_))
    }

    /// Returns the stop at which it crosses, and true if it gets on; `None` if it does not cross.
    fn crossing(&self) -> Option<(u8, bool)> {
        match self.stage {
            Stage::Boarding(_) => Some((self.from, true)),
            Stage::Landing(_) => Some((self.to.unwrap_or(self.from), false)),
            _ => None,
        }
    }

    /// Forgets where it gets off, because it is sent elsewhere. One that gets off already does.
    pub fn forget_exit(&mut self) {
        if matches!(self.stage, Stage::Boarding(_)) {
            self.to = None;
        }
    }

    /// Returns true before it gets on.
    pub fn is_ashore(&self) -> bool {
        matches!(self.stage, Stage::Waiting | Stage::Called)
    }

    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        let (stage, part) = match self.stage {
            Stage::Waiting => (0, 0.0),
            Stage::Called => (1, 0.0),
            Stage::Boarding(part) => (2, part),
            Stage::Aboard => (3, 0.0),
            Stage::Leaving => (4, 0.0),
            Stage::Landing(part) => (5, part),
        };
        let to = self.to.map_or(0, |to| u64::from(to) + 1);
        write(self.platform.index() as u64 | u64::from(self.from) << 32 | to << 40 | stage << 48);
        write(self.ticket);
        let slot = self.slot.map_or(0, |slot| u64::from(slot) + 1);
        write(u64::from(f32::to_bits(part)) | slot << 32);
        write(u64::from(self.walked.to_bits()));
        self.start.to_array().into_iter().for_each(|number| write(u64::from(number.to_bits())));
    }
}

impl Agents {
    /// Lets agents get on and off the platforms on a mesh, and chooses the ways of those whose
    /// destination is on another one. Call it before the meshes are advanced.
    pub fn update_rides(&mut self, meshes: &Slots<NavigationMesh>, root: Handle, step: f32) {
        if self.platforms.is_empty() {
            return;
        }
        let tree = self.tree(root);
        self.open_stops(meshes, &tree);
        let on_tree = self
            .slots
            .iter()
            .filter(|(_, agent)| agent.state != AgentState::Lost && tree.contains(&agent.mesh));
        let agents: Vec<Handle> = on_tree.map(|(handle, _)| handle).collect();
        self.choose_ways(meshes, &agents, step);
        for agent in &agents {
            self.come_to_stop(meshes, *agent);
        }
        for platform in &tree[1..] {
            self.call_agents(*platform, &agents);
        }
        for agent in &agents {
            self.ride(meshes, *agent, step);
        }
    }

    /// Returns the numbers of agents at a stop of a platform.
    pub fn stop_counts(&self, platform: Handle, stop: u8) -> StopCounts {
        let mut counts = StopCounts::default();
        for (_, agent) in self.slots.iter() {
            let Some(ride) = agent.ride.filter(|ride| ride.platform == platform) else { continue };
            let (is_from, is_to) = (ride.from == stop, ride.to == Some(stop));
            match ride.stage {
                Stage::Waiting | Stage::Called if is_from => counts.waiting += 1,
                Stage::Boarding(_) if is_from => counts.crossing += 1,
                Stage::Aboard | Stage::Leaving if is_to => counts.leaving += 1,
                Stage::Landing(_) if is_to => counts.crossing += 1,
                _ => {}
            }
        }
        counts
    }

    /// Returns the number of agents on a platform, with those who are getting on.
    pub fn num_aboard(&self, platform: Handle) -> usize {
        let is_aboard = |agent: &Agent| {
            let ride = agent.ride.filter(|ride| ride.platform == platform);
            let is_boarding = ride.is_some_and(|ride| matches!(ride.stage, Stage::Boarding(_)));
            agent.state != AgentState::Lost && (agent.mesh == platform || is_boarding)
        };
        self.slots.iter().filter(|(_, agent)| is_aboard(agent)).count()
    }

    /// Lets an agent wait beside a stop to which it has come.
    fn come_to_stop(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(agent) = self.slots.get(handle).filter(|agent| agent.ride.is_none()) else {
            return;
        };
        let Some(mesh) = meshes.get(agent.mesh) else { return };
        let Some((platform, from, to)) = self.next_ride(mesh, agent) else { return };
        let of = self.platform_mut(platform).expect("it was found");
        of.tickets += 1;
        let ride = Ride::waiting(platform, from, to, of.tickets);
        let agent = self.slots.get_mut(handle).expect("it was found");
        let to = agent.last_wanted_point().unwrap_or(agent.end);
        agent.target.get_or_insert(TravelTarget::new(agent.mesh, to));
        agent.traversal = None;
        agent.waypoints = None;
        agent.ride = Some(ride);
        self.wait_at_spot(meshes, handle);
    }

    /// Returns the platform at whose stop an agent is about to wait, with the stops.
    fn next_ride(&self, mesh: &NavigationMesh, agent: &Agent) -> Option<(Handle, u8, Option<u8>)> {
        let reach = agent.settings.radius * COME_RADII;
        let is_near = |stop: &Stop| {
            let way = stop.settings.ashore - agent.at.position;
            way.truncate().length() <= reach && way.z.abs() <= mesh.settings().height
        };
        if let Some((platform, stop)) = agent.target.and_then(|target| target.via)
            && let Some(of) = self.platform(platform).filter(|of| of.ground == agent.mesh)
            && of.is_usable
            && is_near(&of.stops[usize::from(stop)])
        {
            return Some((platform, stop, None));
        }
        let ways = agent.path.links.iter().take(LINKS_AHEAD);
        let jump = ways.filter_map(|link| mesh.jump(&mesh.links[*link as usize])).next();
        let number = agent.link().or(jump.map(|jump| jump.number))?;
        let is_here = |of: &&Platform| of.ground == agent.mesh && of.is_usable;
        let mut platforms = self.platforms.iter().filter(is_here);
        let (of, (from, to)) = platforms.find_map(|of| Some((of, *of.links.get(&number)?)))?;
        // Fast agents can be on the link already.
        let has_come = agent.traversal.is_some() || is_near(&of.stops[usize::from(from)]);
        has_come.then_some((of.mesh, from, Some(to)))
    }

    /// Sends an agent to a free place beside its stop; to the stop if there is none.
    fn wait_at_spot(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(ride) = self.slots.get(handle).and_then(|agent| agent.ride) else { return };
        let Some(of) = self.platform(ride.platform) else { return };
        let stop = &of.stops[usize::from(ride.from)];
        let taken = self.slots.iter().filter(|(known, _)| *known != handle);
        let taken: Vec<u16> = taken
            .filter_map(|(_, agent)| agent.ride)
            .filter(|other| {
                other.platform == ride.platform && other.from == ride.from && other.is_ashore()
            })
            .filter_map(|other| other.slot)
            .collect();
        let slot = (0..stop.waiting_slots.len() as u16).find(|slot| !taken.contains(slot));
        let point = slot.map_or(stop.settings.ashore, |slot| stop.waiting_slots[usize::from(slot)]);
        let agent = self.slots.get_mut(handle).expect("it was found");
        agent.ride = Some(Ride { slot, stage: Stage::Waiting, ..ride });
        self.walk_to(meshes, handle, point);
    }

    /// Calls those who wait at the open stops of a platform, as many as there is room for, when
    /// those who want to get off have.
    fn call_agents(&mut self, platform: Handle, agents: &[Handle]) {
        let Some(of) = self.platform(platform) else { return };
        let is_open: Vec<bool> = of.stops.iter().map(|stop| stop.is_open).collect();
        let mut room = of.capacity.saturating_sub(self.num_aboard(platform));
        let mut leaving = vec![false; is_open.len()];
        let mut waiting = Vec::new();
        for handle in agents {
            let agent = self.slots.get(*handle).expect("it was listed");
            let Some(ride) = agent.ride.filter(|ride| ride.platform == platform) else { continue };
            match (ride.stage, ride.to) {
                (Stage::Aboard | Stage::Leaving | Stage::Landing(_), Some(to)) => {
                    leaving[usize::from(to)] = true;
                }
                (Stage::Called, _) => room = room.saturating_sub(1),
                (Stage::Waiting, _) => waiting.push((ride.ticket, *handle, ride.from)),
                _ => {}
            }
        }
        waiting.sort_unstable_by_key(|(ticket, _, _)| *ticket);
        for (_, handle, from) in waiting {
            let from = usize::from(from);
            if room > 0 && is_open[from] && !leaving[from] {
                room -= 1;
                let agent = self.slots.get_mut(handle).expect("it was listed");
                let ride = agent.ride.as_mut().expect("it waits");
                ride.stage = Stage::Called;
                agent.forget_destination();
            }
        }
    }

    /// Advances the ride of an agent.
    fn ride(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle, step: f32) {
        let Some(agent) = self.slots.get(handle) else { return };
        let Some(ride) = agent.ride else { return };
        let Some(of) = self.platform(ride.platform) else { return };
        let stop = |number: u8| &of.stops[usize::from(number)];
        match ride.stage {
            Stage::Waiting => {
                let slot =
                    ride.slot.and_then(|at| stop(ride.from).waiting_slots.get(usize::from(at)));
                let is_pushed = agent.state == AgentState::Arrived
                    && slot.is_some_and(|slot| {
                        let reach = agent.settings.radius * SPOT_RADII;
                        slot.distance(agent.at.position) > reach
                    });
                // Its ground can have been taken away.
                if agent.destination.is_none() {
                    self.wait_at_spot(meshes, handle);
                } else if is_pushed && let Some(slot) = slot.copied() {
                    self.walk_to(meshes, handle, slot);
                }
            }
            Stage::Called => {
                let (is_open, at) = (stop(ride.from).is_open, stop(ride.from).settings.ashore);
                if !is_open {
                    self.wait_at_spot(meshes, handle);
                } else if agent.has_come(at, step) {
                    if self.can_cross(handle, ride) {
                        self.cross(handle, Stage::Boarding(0.0));
                    }
                } else if agent.state == AgentState::Partial {
                    // Something is in the way: others come first.
                    self.wait_again(meshes, handle);
                } else if agent.has_ended_way() {
                    self.walk_to(meshes, handle, at);
                }
            }
            Stage::Aboard => {
                let Some(to) = ride.to else { return };
                let (is_open, at) = (stop(to).is_open, stop(to).settings.aboard);
                let other = of.stops.iter().position(|stop| stop.is_open && !of.is_usable);
                if is_open {
                    self.set_stage(handle, Stage::Leaving);
                    self.walk_to(meshes, handle, at);
                } else if let Some(other) = other {
                    // Nobody knows whether it comes to another stop.
                    let agent = self.slots.get_mut(handle).expect("it was found");
                    agent.ride = Some(Ride { to: Some(other as u8), ..ride });
                } else if ride.slot.is_none() {
                    self.stand_aboard(meshes, handle);
                }
            }
            Stage::Leaving => {
                let Some(to) = ride.to else { return };
                let (is_open, at) = (stop(to).is_open, stop(to).settings.aboard);
                if !is_open {
                    self.set_stage(handle, Stage::Aboard);
                    self.stand_aboard(meshes, handle);
                } else if agent.has_come(at, step) {
                    if self.can_cross(handle, ride) {
                        self.cross(handle, Stage::Landing(0.0));
                    }
                } else if agent.has_ended_way() {
                    self.walk_to(meshes, handle, at);
                }
            }
            Stage::Boarding(part) | Stage::Landing(part) => {
                self.advance_crossing(meshes, handle, part, step);
            }
        }
    }

    /// Lets an agent wait behind all others.
    fn wait_again(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(ride) = self.slots.get(handle).and_then(|agent| agent.ride) else { return };
        let Some(of) = self.platform_mut(ride.platform) else { return };
        of.tickets += 1;
        let ticket = of.tickets;
        if let Some(agent) = self.slots.get_mut(handle) {
            agent.ride = Some(Ride { ticket, ..ride });
        }
        self.wait_at_spot(meshes, handle);
    }

    fn set_stage(&mut self, handle: Handle, stage: Stage) {
        if let Some(ride) = self.slots.get_mut(handle).and_then(|agent| agent.ride.as_mut()) {
            ride.stage = stage;
        }
    }

    /// Lets an agent stand at a free place of its platform, far from where it got on, so that
    /// others can follow.
    fn stand_aboard(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(ride) = self.slots.get(handle).and_then(|agent| agent.ride) else { return };
        let Some(of) = self.platform(ride.platform) else { return };
        let others = self.slots.iter().filter(|(known, _)| *known != handle);
        let taken: Vec<u16> = others
            .filter(|(_, agent)| agent.mesh == ride.platform)
            .filter_map(|(_, agent)| agent.ride.and_then(|ride| ride.slot))
            .collect();
        let entry = of.stops.get(usize::from(ride.from)).map(|stop| stop.settings.aboard);
        let away = |slot: &u16| {
            let slot = of.waiting_slots[usize::from(*slot)];
            entry.map_or(0.0, |entry| entry.distance_squared(slot))
        };
        let free = (0..of.waiting_slots.len() as u16).filter(|slot| !taken.contains(slot));
        let slot = free.max_by(|a, b| away(a).total_cmp(&away(b)).then(b.cmp(a)));
        let Some(at) = slot.map(|slot| of.waiting_slots[usize::from(slot)]) else { return };
        let agent = self.slots.get_mut(handle).expect("it was found");
        agent.ride = Some(Ride { slot, ..ride });
        self.walk_to(meshes, handle, at);
    }

    /// Returns true if nobody is in the way of an agent that gets on or off: at a stop, they go one
    /// after another, and in one direction at a time.
    fn can_cross(&self, handle: Handle, ride: Ride) -> bool {
        let Some(agent) = self.slots.get(handle) else { return false };
        self.slots.iter().filter(|(known, _)| *known != handle).all(|(_, other)| {
            let Some(of) = other.ride else { return true };
            let Some((stop, _)) = of.crossing() else { return true };
            let own = if ride.is_ashore() { Some(ride.from) } else { ride.to };
            of.platform != ride.platform
                || Some(stop) != own
                || other.mesh == agent.mesh && !agent.is_in_way(other, agent.at.position)
        })
    }

    /// Returns who is in the way of an agent that crosses to a mesh, and comes to `next` in this
    /// update: those who cross before it, and those who stand where it comes to. `is_end` is true
    /// if that is the end of its way.
    fn find_holder(
        &self,
        handle: Handle,
        mesh: Handle,
        (next, is_end): (Vec3, bool),
    ) -> Option<Holder> {
        let agent = self.slots.get(handle)?;
        let (own, there) = (self.pose(agent.mesh), self.pose(mesh));
        let ride = agent.ride?;
        let crossing = ride.crossing()?;
        let is_nearer = |other: &Agent, position: Vec3, part: f32| {
            let least = (agent.settings.radius + other.settings.radius) * part;
            let away = position.distance(next);
            away < least && (is_end || away < position.distance(agent.at.position))
        };
        let mut found = None;
        for (known, other) in self.slots.iter() {
            if known == handle || other.state == AgentState::Lost {
                continue;
            }
            let is_before = other.ride.is_some_and(|of| {
                of.platform == ride.platform
                    && of.crossing() == Some(crossing)
                    && of.walked > ride.walked
            });
            if is_before && is_nearer(other, other.at.position, CLOSE_RADII) {
                return Some(Holder::Crossing);
            }
            let is_there = other.mesh == mesh && !other.ride.is_some_and(|of| of.is_crossing());
            let part = if is_end { FREE_RADII } else { CLOSE_RADII };
            if is_there && is_nearer(other, own.to_local(there.to_world(other.at.position)), part) {
                found = Some(Holder::Standing);
            }
        }
        found
    }

    /// Begins the way onto a platform, or off it.
    fn cross(&mut self, handle: Handle, stage: Stage) {
        let Some(agent) = self.slots.get_mut(handle) else { return };
        let (at, Some(ride)) = (agent.at, agent.ride) else { return };
        agent.ride = Some(Ride { stage, slot: None, start: at.position, walked: 0.0, ..ride });
        agent.forget_destination();
        agent.stop(AgentState::Linking);
        agent.traversal = Some(Traversal::waiting(at));
    }

    /// Moves an agent between the ground and a platform. Both ends can move against each other.
    fn advance_crossing(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        handle: Handle,
        part: f32,
        step: f32,
    ) {
        let agent = self.slots.get(handle).expect("the caller has found it");
        let (Some(ride), own) = (agent.ride, self.pose(agent.mesh)) else { return };
        let Some(of) = self.platform(ride.platform) else { return };
        let is_boarding = matches!(ride.stage, Stage::Boarding(_));
        let number = if is_boarding { Some(ride.from) } else { ride.to.or(Some(ride.from)) };
        let stop = &of.stops[usize::from(number.unwrap_or(0))];
        let (mesh, end) = match is_boarding {
            true => (of.mesh, stop.settings.aboard),
            false => (of.ground, stop.settings.ashore),
        };
        let is_open = stop.is_open;
        let found = meshes.get(mesh).and_then(|mesh| mesh.snap(end));
        // It walks to the ground at the stop, which need not be as high.
        let end = found.map_or(end, |found| found.position);
        let to = own.to_local(self.pose(mesh).to_world(end));
        let length = ride.start.distance(to);
        let has_left = !is_open && length > stop.settings.distance + LEAD;
        if found.is_none() || has_left && ride.walked < LAST_RETURN {
            return self.return_from_crossing(meshes, handle);
        }
        let stride = agent.settings.speed.max(0.1) * step / length.max(1e-3);
        let next = (ride.walked + stride).min(1.0);
        let point = (ride.start.lerp(to, next), next >= 1.0);
        let holder = self.find_holder(handle, mesh, point);
        let is_held = match holder {
            Some(Holder::Crossing) => true,
            Some(Holder::Standing) => part < HELD_PART,
            None => false,
        };
        if is_held || next < 1.0 {
            let walked = if is_held { ride.walked } else { next };
            // Those who cross before it do not stay there.
            let part = if holder == Some(Holder::Crossing) { part } else { part + stride };
            let agent = self.slots.get_mut(handle).expect("the caller has found it");
            let stage = if is_boarding { Stage::Boarding(part) } else { Stage::Landing(part) };
            agent.ride = Some(Ride { stage, walked, ..ride });
            agent.at.position = ride.start.lerp(to, walked);
            let speed = if is_held { 0.0 } else { agent.settings.speed };
            agent.velocity = (to - ride.start).truncate().normalize_or_zero() * speed;
            agent.state = AgentState::Linking;
            agent.traversal.get_or_insert(Traversal::waiting(agent.at));
            return;
        }
        self.transfer(handle, mesh, found.expect("it was checked"));
        let agent = self.slots.get_mut(handle).expect("the caller has found it");
        agent.ride = match (is_boarding, ride.to) {
            (true, Some(_)) => Some(Ride { stage: Stage::Aboard, slot: None, ..ride }),
            _ => None,
        };
        if agent.ride.is_none() {
            self.go_on(meshes, handle);
        }
    }

    /// Puts an agent back to where it began to cross, because the platform has left.
    fn return_from_crossing(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle) {
        let Some(agent) = self.slots.get_mut(handle) else { return };
        let Some(ride) = agent.ride else { return };
        agent.traversal = None;
        let ground = meshes.get(agent.mesh).and_then(|mesh| mesh.snap(ride.start));
        match ground {
            Some(ground) => agent.at = ground,
            None => return agent.lose(),
        }
        agent.stop(AgentState::Idle);
        match (ride.stage, ride.to) {
            // It was sent elsewhere meanwhile.
            (_, None) if agent.target.is_none_or(|target| target.mesh != ride.platform) => {
                agent.ride = None;
                self.go_on(meshes, handle);
            }
            (Stage::Boarding(_), _) => self.wait_at_spot(meshes, handle),
            _ => {
                agent.ride = Some(Ride { stage: Stage::Aboard, slot: None, ..ride });
            }
        }
    }
}

impl Agent {
    /// Names of the states of a ride.
    pub const RIDE_STATES: [&str; 3] = ["boarding", "riding", "leaving"];

    /// Returns the name of its state for scripts and tools, with those of a ride. One that walks
    /// back to its destination has arrived all the same.
    pub fn state_name(&self) -> &'static str {
        match self.ride {
            _ if self.state == AgentState::Lost => self.state.name(),
            Some(Ride { stage: Stage::Aboard, .. }) => "riding",
            Some(Ride { stage: Stage::Leaving | Stage::Landing(_), .. }) => "leaving",
            Some(_) => "boarding",
            None => match self.state {
                AgentState::Waiting | AgentState::Moving if self.rest.is_returning() => {
                    AgentState::Arrived.name()
                }
                state => state.name(),
            },
        }
    }

    /// Returns true if it stands, and was not sent to where its ride goes on.
    fn has_ended_way(&self) -> bool {
        self.destination.is_none() || self.state == AgentState::Arrived
    }

    /// Returns true if another agent is too near to a point for this one to be there.
    fn is_in_way(&self, other: &Agent, point: Vec3) -> bool {
        let least = (self.settings.radius + other.settings.radius) * FREE_RADII;
        other.at.position.distance(point) < least
    }

    /// Returns true if it is at a point, or as near as others let it.
    fn has_come(&self, point: Vec3, step: f32) -> bool {
        let away = self.at.position.truncate().distance(point.truncate());
        let radius = self.settings.radius;
        let is_near = away <= (radius * START_RADII).max(self.settings.speed * step);
        let is_crowded = self.state == AgentState::Arrived && away <= radius * CROWDED_RADII;
        is_near || is_crowded
    }
}
