//! One agent: its settings and its state, and how it moves with the velocity that steering chose.

use super::abandoned_links::AbandonedLink;
use super::destinations::DisplacedDestination;
use super::detours::Obstruction;
use super::following::Leader;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::own_costs::OwnCosts;
use super::passages::{Approach, Turn};
use super::progress::CededGround;
use super::rest::Rest;
use super::rides::Ride;
use super::routes::TravelTarget;
use super::search::{PartialReason, PolygonPath};
use super::steering::Steering;
use super::traversal::Traversal;
use super::wall_contacts::STOPPED_SECONDS;
use super::waypoints::{PASSED_RADII, Waypoints};
use engine_foundation::handle::Handle;
use engine_foundation::{Vec2, Vec3};
use std::sync::Arc;

/// Number of groups of agents.
pub const GROUPS_MAX: u8 = 32;
/// Polygons at the beginning of a path among which an agent is looked for after a step.
const PATH_LOOKAHEAD: usize = 32;
/// Seconds without progress after which an agent that was pushed off its path gets a new one.
const ASTRAY_SECONDS: f32 = 0.2;
/// Distance from the target at which an agent has arrived, as a part of its radius.
const ARRIVAL_RADII: f32 = 0.25;
/// Seconds without progress after which an agent counts as stuck.
pub(super) const STUCK_SECONDS: f32 = 0.75;
/// Seconds without progress after which an agent gets a new path, and another one each time they
/// have passed: others may have pushed it to where another way is shorter.
pub(super) const REPAIR_SECONDS: f32 = 0.3;
/// Largest right of way by waiting, in seconds. It wears off in as long a time, in which an agent
/// is past those who make way for it.
pub(super) const CLAIM_MAX: f32 = 2.0;
/// Seconds in which an agent turns to the right of others.
const SWIRL_SECONDS: f32 = 0.2;
/// Distance from others at which an agent has arrived although they are on its target, in radii.
const CROWDED_RADII: f32 = 6.0;
/// Seconds without progress after which it has arrived near its target: if others have the same
/// target, and if none has, so that they only have to make way; and next to an agent that has
/// arrived at the same target.
const CROWDED_SECONDS: f32 = 0.4;
const OBSTRUCTED_SECONDS: f32 = 4.0;
const CONTACT_SECONDS: f32 = 0.15;
/// Speed below which the direction of an agent is kept, as a part of its highest speed.
const TURN_SPEED: f32 = 0.1;
/// Seconds in which an agent turns into the direction of its velocity.
const TURN_SECONDS: f32 = 0.15;

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
    /// Agents of the same group above 0 walk close together. Below [`GROUPS_MAX`].
    pub group: u8,
    /// Groups that the agent does not avoid, as bits.
    pub ignored_groups: u32,
}

impl AgentSettings {
    pub const DEFAULT: AgentSettings = AgentSettings {
        radius: 0.6,
        speed: 3.5,
        acceleration: 12.0,
        priority: 0,
        avoids: true,
        group: 0,
        ignored_groups: 0,
    };
}

/// Activity of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentState {
    /// It has no destination.
    Idle,
    /// It has no path until its search is answered.
    Waiting,
    Moving,
    /// It is on a link, between two points that no ground joins.
    Linking,
    /// It is at its destination, or as near as others let it.
    Arrived,
    /// It is at the end of a path that does not reach its destination.
    Partial,
    /// Something that the mesh does not know holds it back, and it has not got around it, or others
    /// do not make way. It tries again after some seconds.
    Blocked,
    /// Its mesh was destroyed, or has no ground near it any more.
    Lost,
}

impl AgentState {
    /// All states.
    pub const ALL: [AgentState; 8] = [
        AgentState::Idle,
        AgentState::Waiting,
        AgentState::Moving,
        AgentState::Linking,
        AgentState::Arrived,
        AgentState::Partial,
        AgentState::Blocked,
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
            AgentState::Blocked => "blocked",
            AgentState::Lost => "lost",
        }
    }
}

/// Search of an agent that waits for its turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Request {
    /// True if the agent has a path that it can follow until then.
    pub is_repair: bool,
    /// Order of the requests.
    pub number: u64,
}

/// Agent on a mesh.
#[derive(Clone, Debug)]
pub struct Agent {
    pub mesh: Handle,
    pub settings: AgentSettings,
    /// Costs of areas that it has instead of those of the mesh.
    pub own_costs: Option<Arc<OwnCosts>>,
    pub at: NearestPolygon,
    pub velocity: Vec2,
    /// Direction in which it looks: that of its velocity, when it walked last.
    pub forward: Vec2,
    /// Velocity that it would have alone.
    pub desired: Vec2,
    /// Velocity that it wants among others, before it avoids them.
    pub(super) wanted: Vec2,
    pub state: AgentState,
    /// Point of the mesh to which it walks.
    pub destination: Option<NearestPolygon>,
    pub(super) displaced: Option<DisplacedDestination>,
    /// Path that it was given, while others of its points come after the destination.
    pub(super) waypoints: Option<Waypoints>,
    /// True if it has arrived at its destination before, and others have pushed it away.
    pub(super) has_arrived: bool,
    pub(super) rest: Rest,
    pub(super) path: PolygonPath,
    /// End of the path: the destination, or the nearest point that can be reached.
    pub(super) end: Vec3,
    /// Why the path ends before the destination.
    pub partial: Option<PartialReason>,
    /// Distance from the destination at which the path was searched.
    pub(super) search_distance: f32,
    /// Version of the mesh that the path was searched on.
    pub(super) version: u32,
    pub(super) request: Option<Request>,
    /// True if others have pushed it off its path since its last search.
    pub(super) is_aside: bool,
    /// Seconds in which neither it nor those for whom it waits have made progress, and in which it
    /// has not walked around others either.
    pub stuck_seconds: f32,
    /// Right of way that it has earned by waiting, in seconds: the time that it was stuck, at most
    /// [`CLAIM_MAX`], which wears off as fast while it gets on, so that it is past those who make
    /// way for it by then. It holds for one way only.
    pub(super) claim: f32,
    /// Seconds without progress of its own.
    pub still_seconds: f32,
    /// Way toward the destination since the last progress; below 0 if it was pushed back.
    pub(super) advance: f32,
    pub(super) ceded_ground: CededGround,
    /// Position at its last progress, or at its last step around others.
    pub(super) anchor: Vec2,
    /// Seconds of `stuck_seconds` after which it asks for a new path.
    pub(super) repair_seconds: f32,
    /// Part of its speed that others take from it, 0 to 1, as a moving average.
    pub(super) slowed: f32,
    /// Angle by which it keeps to the right of those who come towards it, in radians.
    pub(super) swirl: f32,
    /// Link that it is on.
    pub(super) traversal: Option<Traversal>,
    /// Links that it does not use for some seconds.
    pub(super) abandoned: Vec<AbandonedLink>,
    /// Link at whose start it is about to be, and its distance from there in millimetres; 0 if
    /// there is none.
    pub(super) queue: (u32, u32),
    pub(super) leader: Option<Leader>,
    /// Destination on another mesh, or behind a ride on a platform.
    pub target: Option<TravelTarget>,
    pub(super) ride: Option<Ride>,
    /// Narrow passage that comes next on its path, and its turn there.
    pub(super) approach: Approach,
    pub(super) turn: Turn,
    pub(super) obstruction: Obstruction,
}

impl Agent {
    pub(super) fn new(mesh: Handle, at: NearestPolygon, settings: AgentSettings) -> Agent {
        Agent {
            mesh,
            settings,
            own_costs: None,
            at,
            velocity: Vec2::ZERO,
            forward: Vec2::Y,
            desired: Vec2::ZERO,
            wanted: Vec2::ZERO,
            state: AgentState::Idle,
            destination: None,
            displaced: None,
            waypoints: None,
            has_arrived: false,
            rest: Rest::default(),
            path: PolygonPath::default(),
            end: at.position,
            partial: None,
            search_distance: 0.0,
            version: 0,
            request: None,
            is_aside: false,
            stuck_seconds: 0.0,
            claim: 0.0,
            still_seconds: 0.0,
            advance: 0.0,
            ceded_ground: CededGround::default(),
            anchor: at.position.truncate(),
            repair_seconds: REPAIR_SECONDS,
            slowed: 0.0,
            swirl: 0.0,
            traversal: None,
            abandoned: Vec::new(),
            queue: (0, 0),
            leader: None,
            target: None,
            ride: None,
            approach: Approach::default(),
            turn: Turn::Free,
            obstruction: Obstruction::default(),
        }
    }

    pub(super) fn lose(&mut self) {
        self.stop(AgentState::Lost);
        self.forget_destination();
        self.leader = None;
        self.target = None;
        self.ride = None;
        self.velocity = Vec2::ZERO;
        self.traversal = None;
    }

    pub(super) fn stop(&mut self, state: AgentState) {
        self.state = state;
        self.path = PolygonPath::default();
        self.desired = Vec2::ZERO;
        self.wanted = Vec2::ZERO;
        self.partial = None;
        self.request = None;
        self.slowed = 0.0;
        self.swirl = 0.0;
        self.queue = (0, 0);
        self.turn = Turn::Free;
        self.rest.end_return();
        self.obstruction = Obstruction::default();
        self.claim = 0.0;
        self.restart_progress();
    }

    /// Returns the point that the agent walks to: its destination, or the nearest reachable point.
    pub fn end(&self) -> Vec3 {
        self.end
    }

    /// Returns the length of the rest of its way.
    pub fn remaining_distance(&self, mesh: &NavigationMesh) -> f32 {
        if let Some(slot) = self.visible_slot() {
            return slot.position.distance(self.at.position);
        }
        let rest = self.waypoints_length();
        if self.path.polygons.is_empty() {
            // On a detour, which leads off the path.
            let left = self.detour_point().map_or(0.0, |_| self.end.distance(self.at.position));
            return left + rest;
        }
        let (mut sum, mut before) = (rest, self.at.position);
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
        if let Some(slot) = self.visible_slot() {
            corners.push(slot.position);
        } else if !self.path.polygons.is_empty() {
            self.path.corners(mesh, self.at.position, self.end, |point, _| {
                corners.push(point);
                true
            });
        }
        corners.extend_from_slice(self.next_waypoints());
    }

    pub(super) fn apply(&mut self, mesh: &NavigationMesh, result: Steering, step: f32) {
        (self.desired, self.wanted) = (result.desired, result.wanted);
        self.swirl += (result.swirl - self.swirl) * (step / SWIRL_SECONDS).min(1.0);
        if let Some(traversal) = self.traversal {
            return self.follow_link(traversal, step);
        }
        let before = self.at.position;
        let change = result.velocity - self.velocity;
        let most = self.settings.acceleration * step;
        let length = change.length();
        self.velocity += if length > most { change * (most / length) } else { change };
        self.turn_forward(step);
        let by = self.velocity * step + result.push;
        if by.length_squared() > 0.0 {
            let start = self.at;
            self.at = mesh.slide(start, by);
            if result.push == Vec2::ZERO && self.still_seconds > STOPPED_SECONDS {
                self.pass_tip(mesh, start, by);
                self.stop_at_wall((self.at.position - before).truncate().length() / by.length());
            }
            self.follow_path(mesh);
        }
        self.return_to_end(step);
        self.update_blocked(&result, step);
        if self.state != AgentState::Moving {
            return;
        }
        let detour = self.obstruction.detour;
        if detour.is_none() {
            self.enter_link(mesh, step);
        }
        if self.state != AgentState::Moving {
            return;
        }
        self.note_held(self.desired.length() * step, &result, step);
        let moved = (self.at.position - before).truncate();
        self.count_progress(moved.dot(self.desired.normalize_or_zero()), &result, step);
        if let Some(detour) = detour {
            return self.follow_detour(detour, step);
        }
        if self.leader.is_some() {
            self.end_of_following(&result);
        } else {
            self.arrive(&result, step);
        }
    }

    /// Moves the agent along the ground to where something else has moved its character. What it
    /// loses of its way is no progress.
    pub(super) fn carry(&mut self, mesh: &NavigationMesh, by: Vec2) {
        let before = self.at.position;
        self.at = mesh.slide(self.at, by);
        let moved = (self.at.position - before).truncate();
        let toward = moved.dot(self.desired.normalize_or_zero());
        self.advance = (self.advance + toward).max(-self.settings.radius);
        self.obstruction.back -= toward.min(0.0);
        self.follow_path(mesh);
    }

    fn turn_forward(&mut self, step: f32) {
        let speed = self.velocity.length();
        if speed > self.settings.speed * TURN_SPEED && speed > 0.0 {
            let part = (step / TURN_SECONDS).min(1.0);
            let forward = self.forward + (self.velocity / speed - self.forward) * part;
            let length = forward.length();
            // Opposite directions have no middle.
            self.forward = if length > 0.1 { forward / length } else { self.velocity / speed };
        }
    }

    /// Ends the way of the agent where it has arrived.
    fn arrive(&mut self, result: &Steering, step: f32) {
        let left = self.end.truncate().distance(self.at.position.truncate());
        let is_last = self.path.polygons.len() <= 1 || result.is_last_corner;
        let radius = self.settings.radius;
        // The way of an update, so that it does not pass its end between two of them.
        let stride = (self.velocity.length() * step).min(radius);
        let radii = if self.passes_end() { PASSED_RADII } else { ARRIVAL_RADII };
        let is_near = left <= radius * radii + stride && result.is_last_corner;
        let is_held_up = self.still_seconds > self.patience(result);
        let is_crowded = is_last
            && (left <= radius * CROWDED_RADII && is_held_up
                || result.touches_arrived && self.still_seconds > CONTACT_SECONDS);
        if !is_near && !is_crowded {
            return;
        }
        // The end of the old path is not the end of the way.
        if self.request.is_some_and(|request| !request.is_repair) || is_near && self.can_search_on()
        {
            self.path = PolygonPath::default();
            self.state = AgentState::Waiting;
            return;
        }
        if self.pass_waypoint() {
            return;
        }
        self.end = self.at.position;
        self.has_arrived = true;
        self.rest.begin(!result.is_contested && self.partial.is_none() && self.ride.is_none());
        let partial = self.partial;
        self.stop(if partial.is_some() { AgentState::Partial } else { AgentState::Arrived });
        self.partial = partial;
        self.velocity *= 0.5;
    }

    /// Returns the seconds without progress after which it has arrived near its end. Those who come
    /// to a point that nobody else is sent to get there once others have made way. Those who use a
    /// platform get on and off as near as others let them.
    fn patience(&self, result: &Steering) -> f32 {
        let is_near_enough = result.is_contested || self.has_arrived || self.ride.is_some();
        match self.turn {
            _ if is_near_enough => CROWDED_SECONDS,
            Turn::Free => OBSTRUCTED_SECONDS,
            _ => f32::MAX,
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

    /// Returns true if the agent walks along its path, and only has to make up for the way that it
    /// was pushed back: another path would turn it around now.
    pub(super) fn gets_on(&self) -> bool {
        let wanted = self.desired.length();
        let along = self.velocity.dot(self.desired.normalize_or_zero());
        self.obstruction.seconds <= 0.0 && wanted > 0.0 && along > wanted * 0.5
    }

    /// Returns true, once, if the agent was pushed off its path and does not get on: the path can
    /// lead back around something that it is past by now.
    pub(super) fn is_astray(&mut self) -> bool {
        let is_astray = self.is_aside && self.stuck_seconds > ASTRAY_SECONDS;
        self.is_aside &= !is_astray;
        is_astray
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
        self.is_aside = true;
        if !self.path.rejoin(mesh, self.at.polygon, PATH_LOOKAHEAD) {
            self.path = PolygonPath::default();
            let is_on_path = self.leader.is_none() && self.obstruction.detour.is_none();
            if self.state == AgentState::Moving && is_on_path {
                self.state = AgentState::Waiting;
            }
        }
    }

    /// Calls `write` with the numbers that make up the state of the agent.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        let AgentSettings { radius, speed, acceleration, priority, avoids, group, ignored_groups } =
            self.settings;
        let destination = self.destination.unwrap_or(self.at);
        let part = self.traversal.map_or(-1.0, |traversal| traversal.part);
        let points = [self.at.position, destination.position, self.end].map(|at| at.to_array());
        let directions = [self.velocity, self.desired, self.wanted, self.forward, self.anchor];
        let directions = directions.map(|at| at.to_array());
        let settings = [radius, speed, acceleration];
        let times = [self.stuck_seconds, self.claim, self.still_seconds, self.repair_seconds];
        let others = [self.slowed, self.swirl, self.advance, self.search_distance, part];
        let floats = points.as_flattened().iter().chain(directions.as_flattened());
        for number in floats.chain(&settings).chain(&times).chain(&others) {
            write(u64::from(number.to_bits()));
        }
        let partial = self.partial.map_or(0, |reason| reason as u64 + 1);
        let sent = u64::from(self.destination.is_some());
        let flags = u64::from(priority) << 8 | u64::from(avoids) << 16 | u64::from(group) << 24;
        write(self.state as u64 | flags | u64::from(ignored_groups) << 32);
        let flags = u64::from(self.has_arrived) << 16 | u64::from(self.is_aside) << 17;
        write(sent | partial << 8 | flags | u64::from(self.version) << 32);
        write(u64::from(self.at.polygon) | u64::from(destination.polygon) << 32);
        write(self.mesh.index() as u64);
        let request =
            self.request.map(|request| request.number << 1 | u64::from(request.is_repair));
        write(request.map_or(0, |request| request + 1));
        write(self.path.polygons.len() as u64);
        self.path.polygons.iter().for_each(|polygon| write(u64::from(*polygon)));
        // Without the numbers of links, see `Jumps::write_state`.
        write(u64::from(self.link().is_some()));
        write(u64::from(self.queue.0 != 0) | u64::from(self.queue.1) << 32);
        self.abandoned.iter().for_each(|link| link.write_state(&mut write));
        self.ceded_ground.write_state(&mut write);
        self.obstruction.write_state(&mut write);
        self.rest.write_state(&mut write);
        if let Some(displaced) = self.displaced() {
            displaced.write_state(&mut write);
        }
        if let Some(waypoints) = &self.waypoints {
            waypoints.write_state(&mut write);
        }
        if let Some(leader) = &self.leader {
            leader.write_state(&mut write);
        }
        if let Some(target) = &self.target {
            target.write_state(&mut write);
        }
        if let Some(ride) = &self.ride {
            ride.write_state(&mut write);
        }
        if let Some(costs) = &self.own_costs {
            costs.write_state(&mut write);
        }
    }
}
