//! Platforms: meshes that move, such as those of lifts, ferries and trains. A platform has a pose,
//! and its mesh, its agents and their ways are in its own space, so that agents are carried along.
//! It has stops, each with a point on the ground and one on the platform. Agents change between
//! both while the stop is open (rides.rs). The ground can be that of another platform.

use super::agents::{Agent, Agents};
use super::mesh::{NavigationMesh, NearestPolygon};
use super::waiting_slots::{slots_aboard, slots_ashore};
use engine_foundation::handle::{Handle, Slots};
use engine_foundation::{Quat, Vec3};
use std::collections::BTreeMap;

/// Maximum number of stops of a platform.
pub const STOPS_MAX: usize = 16;
/// Maximum number of agents that a platform carries.
pub const PLATFORM_CAPACITY_MAX: usize = 1024;
/// Maximum number of platforms, each on the next one.
pub const PLATFORM_DEPTH_MAX: usize = 8;

/// Position and rotation of a mesh in its world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeshPose {
    pub position: Vec3,
    pub rotation: Quat,
}

impl MeshPose {
    /// The pose of meshes that do not move.
    pub const IDENTITY: MeshPose = MeshPose { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// Returns the position in the world of a point of the mesh.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        // Exact for meshes that do not move.
        if *self == MeshPose::IDENTITY { point } else { self.rotation * point + self.position }
    }

    /// Returns the position in the mesh of a point of the world.
    pub fn to_local(&self, point: Vec3) -> Vec3 {
        match *self == MeshPose::IDENTITY {
            true => point,
            false => self.rotation.conjugate() * (point - self.position),
        }
    }

    /// Returns a direction of the mesh in the world.
    pub fn turn(&self, direction: Vec3) -> Vec3 {
        self.rotation * direction
    }

    /// Returns a direction of the world in the mesh.
    pub fn turn_back(&self, direction: Vec3) -> Vec3 {
        self.rotation.conjugate() * direction
    }
}

/// Settings of a stop.
#[derive(Clone, PartialEq, Debug)]
pub struct StopSettings {
    pub name: String,
    /// Point on the ground, in the space of its mesh.
    pub ashore: Vec3,
    /// Point on the platform, in its own space.
    pub aboard: Vec3,
    /// Distance between both from above, in metres, within which the stop is open.
    pub distance: f32,
}

/// Place at which agents get on and off a platform.
#[derive(Clone, PartialEq, Debug)]
pub struct Stop {
    pub settings: StopSettings,
    /// State that a script has set: open or closed. `None` if the distance decides.
    pub held: Option<bool>,
    pub is_open: bool,
    /// Places at which agents wait, beside the ways of others, with the version of the ground for
    /// which they were found, and true if the platform was at the stop then.
    pub(super) waiting_slots: Vec<Vec3>,
    slots_of: Option<(u32, bool)>,
}

/// Agents at a stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StopCounts {
    /// Those who wait for the platform.
    pub waiting: usize,
    /// Those on the platform who want to get off here.
    pub leaving: usize,
    /// Those between the ground and the platform.
    pub crossing: usize,
}

/// Mesh that moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Platform {
    pub mesh: Handle,
    /// Mesh of the ground to which its stops lead.
    pub ground: Handle,
    pub pose: MeshPose,
    /// Cost of a ride, in metres of ordinary ground.
    pub cost: f32,
    /// Number of agents that it carries.
    pub capacity: usize,
    /// False if no path leads over it, see [`Agents::set_platform_usable`].
    pub is_usable: bool,
    pub stops: Vec<Stop>,
    /// Links of the ground by which paths lead from one stop to another.
    pub(super) links: BTreeMap<u32, (u8, u8)>,
    /// Places on it for agents that ride.
    pub(super) waiting_slots: Vec<Vec3>,
    pub(super) tickets: u64,
}

impl Platform {
    /// Makes a platform without stops. The places on it are found for agents of the radius of the
    /// mesh; without `capacity`, there is room for as many as there are places.
    pub fn new(
        (id, mesh): (Handle, &NavigationMesh),
        ground: Handle,
        pose: MeshPose,
        (cost, capacity): (f32, Option<usize>),
    ) -> Platform {
        let waiting_slots = slots_aboard(mesh, capacity.unwrap_or(PLATFORM_CAPACITY_MAX));
        let capacity = capacity.unwrap_or(waiting_slots.len().max(1));
        Platform {
            mesh: id,
            ground,
            pose,
            cost,
            capacity,
            is_usable: true,
            stops: Vec::new(),
            links: BTreeMap::new(),
            waiting_slots,
            tickets: 0,
        }
    }

    /// Returns the index of a stop by its name.
    pub fn stop(&self, name: &str) -> Option<usize> {
        self.stops.iter().position(|stop| stop.settings.name == name)
    }

    /// Calls `write` with the numbers that make up the state of the platform.
    pub fn write_state(&self, mut write: impl FnMut(u64)) {
        let pose = self.pose.position.to_array().into_iter().chain(self.pose.rotation.to_array());
        pose.for_each(|number| write(u64::from(number.to_bits())));
        write(self.ground.index() as u64);
        write(self.tickets << 1 | u64::from(self.is_usable));
        write(self.capacity as u64 | u64::from(self.cost.to_bits()) << 32);
        for stop in &self.stops {
            let StopSettings { ashore, aboard, distance, .. } = stop.settings;
            let numbers = ashore.to_array().into_iter().chain(aboard.to_array());
            numbers.chain([distance]).for_each(|number| write(u64::from(number.to_bits())));
            let held = stop.held.map_or(0, |is_open| 1 + u64::from(is_open));
            write(held << 1 | u64::from(stop.is_open));
        }
    }
}

impl Stop {
    fn new(settings: StopSettings) -> Stop {
        Stop { settings, held: None, is_open: false, waiting_slots: Vec::new(), slots_of: None }
    }

    /// Finds the places at which agents wait, if the ground has changed, or the platform has come
    /// for the first time: only then is it known where it comes to.
    fn find_slots(&mut self, ground: &NavigationMesh, way: Vec3) {
        let was_open = self.slots_of.is_some_and(|(_, was_open)| was_open);
        let of = (ground.version, self.is_open || was_open);
        if self.slots_of != Some(of) {
            self.slots_of = Some(of);
            self.waiting_slots = slots_ashore(ground, self.settings.ashore, way.truncate());
        }
    }
}

impl Agents {
    /// Returns the platform of a mesh; `None` if the mesh does not move.
    pub fn platform(&self, mesh: Handle) -> Option<&Platform> {
        self.platforms.iter().find(|platform| platform.mesh == mesh)
    }

    /// Returns the platform of a mesh, to change it.
    pub fn platform_mut(&mut self, mesh: Handle) -> Option<&mut Platform> {
        self.platforms.iter_mut().find(|platform| platform.mesh == mesh)
    }

    /// Returns the platforms in the order of their creation.
    pub fn platforms(&self) -> &[Platform] {
        &self.platforms
    }

    /// Adds a platform.
    pub fn add_platform(&mut self, platform: Platform) {
        self.platforms.push(platform);
    }

    /// Adds a stop to a platform, and links from it to the others, to the mesh of its ground.
    /// Returns false if that has no room for the links.
    ///
    /// # Panics
    /// Panics if the mesh is no platform, or has [`STOPS_MAX`] stops.
    pub fn add_stop(
        &mut self,
        mesh: Handle,
        ground: &mut NavigationMesh,
        settings: StopSettings,
    ) -> bool {
        let platform = self.platform_mut(mesh).expect("the caller has checked the platform");
        assert!(platform.stops.len() < STOPS_MAX, "the caller has checked the number of stops");
        let number = platform.stops.len() as u8;
        let room = super::jumps::LINKS_MAX.saturating_sub(ground.num_links());
        if room < platform.stops.len() * 2 {
            return false;
        }
        for (at, other) in (0u8..).zip(&platform.stops) {
            let (here, there) = (settings.ashore, other.settings.ashore);
            let ways = [(number, at, here, there), (at, number, there, here)];
            for (first, second, from, to) in ways {
                let link = super::jumps::JumpSettings {
                    name: String::new(),
                    from,
                    to,
                    cost: platform.cost,
                    is_two_way: false,
                    is_manual: true,
                };
                let link = ground.add_link(link).expect("there is room");
                ground.set_link_closed(link, !platform.is_usable);
                platform.links.insert(link, (first, second));
            }
        }
        platform.stops.push(Stop::new(settings));
        true
    }

    /// Returns the pose of a mesh in its world.
    pub fn pose(&self, mesh: Handle) -> MeshPose {
        self.platform(mesh).map_or(MeshPose::IDENTITY, |platform| platform.pose)
    }

    /// Returns the position of an agent in the world.
    pub fn world_position(&self, agent: &Agent) -> Vec3 {
        self.pose(agent.mesh).to_world(agent.at.position)
    }

    /// Returns the mesh on which a platform moves, with the platforms below it; a mesh that does
    /// not move itself.
    pub fn root(&self, mesh: Handle) -> Handle {
        self.grounds(mesh).last().expect("the first one is the mesh")
    }

    /// Iterates over a mesh, its ground, the ground of that, and so on.
    pub(super) fn grounds(&self, mesh: Handle) -> impl Iterator<Item = Handle> {
        std::iter::successors(Some(mesh), |mesh| self.platform(*mesh).map(|of| of.ground))
    }

    /// Returns the number of platforms of which a mesh is one, each on the next.
    pub fn depth(&self, mesh: Handle) -> usize {
        self.grounds(mesh).count() - 1
    }

    /// Returns a mesh and the platforms on it, each after its ground.
    pub fn tree(&self, root: Handle) -> Vec<Handle> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(mesh) = found.get(next).copied() {
            found.extend(self.platforms.iter().filter(|of| of.ground == mesh).map(|of| of.mesh));
            next += 1;
        }
        found
    }

    /// Returns the ground that is nearest to a position in the world, among a mesh and the
    /// platforms on it. `snap` finds that of one mesh.
    pub fn ground_at(
        &self,
        meshes: &Slots<NavigationMesh>,
        root: Handle,
        position: Vec3,
        snap: impl Fn(&NavigationMesh, Vec3) -> Option<NearestPolygon>,
    ) -> Option<(Handle, NearestPolygon)> {
        let mut best: Option<(f32, (Handle, NearestPolygon))> = None;
        for mesh in self.tree(root) {
            let local = self.pose(mesh).to_local(position);
            let Some(found) = meshes.get(mesh).and_then(|of| snap(of, local)) else { continue };
            let distance = found.position.distance_squared(local);
            if best.is_none_or(|(known, _)| distance < known) {
                best = Some((distance, (mesh, found)));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Opens and closes the stops of platforms, and finds the places at which agents wait.
    pub(super) fn open_stops(&mut self, meshes: &Slots<NavigationMesh>, tree: &[Handle]) {
        for mesh in &tree[1..] {
            let Some(at) = self.platforms.iter().position(|of| of.mesh == *mesh) else { continue };
            let ground_pose = self.pose(self.platforms[at].ground);
            let platform = &mut self.platforms[at];
            let Some(ground) = meshes.get(platform.ground) else { continue };
            let up = ground.settings().step + ground.settings().cell_height * 2.0;
            for stop in &mut platform.stops {
                let StopSettings { ashore, aboard, distance, .. } = stop.settings;
                let way = ground_pose.to_local(platform.pose.to_world(aboard)) - ashore;
                let is_near = way.truncate().length() <= distance && way.z.abs() <= up;
                stop.is_open = stop.held.unwrap_or(is_near);
                stop.find_slots(ground, way);
            }
        }
    }
}
