//! The end of a platform, and platforms out of order: what becomes of the agents that are on it, or
//! on their way to it.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::mesh::NavigationMesh;
use super::platforms::Platform;
use engine_foundation::Vec3;
use engine_foundation::handle::{Handle, Slots};

impl Agents {
    /// Ends a platform, and those on it. Their agents go on from the ground near them, or are lost;
    /// those who wait for them go on without. Returns the meshes of the platforms that have ended,
    /// which the caller removes.
    pub fn end_platform(
        &mut self,
        meshes: &mut Slots<NavigationMesh>,
        mesh: Handle,
    ) -> Vec<Handle> {
        let Some(platform) = self.platform(mesh).cloned() else { return Vec::new() };
        let ended = self.tree(mesh);
        if let Some(ground) = meshes.get_mut(platform.ground) {
            for link in platform.links.keys() {
                ground.remove_link(*link);
            }
        }
        let agents: Vec<Handle> = self.slots.iter().map(|(handle, _)| handle).collect();
        for handle in agents {
            let agent = self.slots.get_mut(handle).expect("it was listed");
            let is_user = agent.ride.is_some_and(|ride| ended.contains(&ride.platform))
                || agent.is_on_way_of(&platform);
            let is_sent = agent.target.is_some_and(|target| {
                ended.contains(&target.mesh)
                    || target.via.is_some_and(|(of, _)| ended.contains(&of))
            });
            if ended.contains(&agent.mesh) {
                let at = self.world_position(self.slots.get(handle).expect("it was listed"));
                self.land(meshes, handle, (platform.ground, at), &ended);
            } else if is_user || is_sent {
                self.go_on_without(meshes, handle, &ended);
            }
        }
        self.platforms.retain(|of| !ended.contains(&of.mesh));
        ended
    }

    /// Has an agent that uses platforms that have ended go on without.
    fn go_on_without(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle, ended: &[Handle]) {
        let agent = self.slots.get_mut(handle).expect("the caller has found it");
        let wanted = agent.wanted_point_here();
        agent.end_ride(ended);
        let was_crossing = agent.traversal.take().is_some();
        agent.stop(AgentState::Idle);
        if was_crossing {
            let at = agent.at.position;
            let ground = meshes.get(agent.mesh).and_then(|ground| ground.snap(at));
            match ground {
                Some(ground) => agent.at = ground,
                None => agent.lose(),
            }
        }
        self.send_again(meshes, handle, wanted);
    }

    /// Has an agent that was restored from a snapshot go on without the platforms that have ended
    /// since.
    pub(super) fn forget_ended(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        handle: Handle,
        ended: &[&Platform],
    ) {
        let Some(agent) = self.slots.get(handle) else { return };
        let is_destroyed = |mesh: Handle| meshes.get(mesh).is_none();
        let is_user = agent.ride.is_some_and(|ride| is_destroyed(ride.platform))
            || ended.iter().any(|platform| agent.is_on_way_of(platform));
        let is_sent = agent.target.is_some_and(|target| {
            is_destroyed(target.mesh) || target.via.is_some_and(|(of, _)| is_destroyed(of))
        });
        if is_user || is_sent {
            let mut ended: Vec<Handle> = ended.iter().map(|platform| platform.mesh).collect();
            ended.extend(agent.target.map(|target| target.mesh).filter(|mesh| is_destroyed(*mesh)));
            self.go_on_without(meshes, handle, &ended);
        }
    }

    /// Takes a platform out of all paths, or has paths lead over it again. Those who wait for it
    /// get other ways. Those on it get off at the first stop that is open.
    pub fn set_platform_usable(
        &mut self,
        meshes: &mut Slots<NavigationMesh>,
        mesh: Handle,
        is_usable: bool,
    ) {
        let Some(of) = self.platform_mut(mesh).filter(|of| of.is_usable != is_usable) else {
            return;
        };
        of.is_usable = is_usable;
        if let Some(ground) = meshes.get_mut(of.ground) {
            of.links.keys().for_each(|link| ground.set_link_closed(*link, !is_usable));
        }
        if is_usable {
            return;
        }
        let Some(of) = self.platform(mesh) else { return };
        let is_user = |agent: &Agent| {
            let is_waiting =
                agent.ride.is_some_and(|ride| ride.platform == mesh && ride.is_ashore());
            let via = agent.target.and_then(|target| target.via);
            let is_sent = via.is_some_and(|(platform, _)| platform == mesh);
            is_waiting || agent.ride.is_none() && (is_sent || agent.is_on_way_of(of))
        };
        let users = self.slots.iter().filter(|(_, agent)| is_user(agent));
        for handle in users.map(|(handle, _)| handle).collect::<Vec<Handle>>() {
            let agent = self.slots.get_mut(handle).expect("it was listed");
            let wanted = agent.wanted_point_here();
            agent.end_ride(&[]);
            agent.abandon_link();
            agent.stop(AgentState::Idle);
            self.send_again(meshes, handle, wanted);
        }
    }

    /// Sends an agent again to the point of its mesh that it was sent to; without one, to its
    /// target.
    fn send_again(&mut self, meshes: &Slots<NavigationMesh>, handle: Handle, wanted: Option<Vec3>) {
        let mesh = self.slots.get(handle).and_then(|agent| meshes.get(agent.mesh));
        match (mesh, wanted) {
            (Some(mesh), Some(wanted)) => self.send_again_to(mesh, handle, wanted),
            _ => self.go_on(meshes, handle),
        }
    }

    /// Puts an agent of a platform that has ended on the ground near it.
    fn land(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        handle: Handle,
        (ground, position): (Handle, Vec3),
        ended: &[Handle],
    ) {
        let local = self.pose(ground).to_local(position);
        let found = meshes.get(ground).and_then(|mesh| mesh.snap(local));
        let agent = self.slots.get_mut(handle).expect("it was listed");
        agent.end_ride(ended);
        let Some(at) = found else {
            // The space of its mesh ends with the platform.
            agent.at.position = position;
            agent.lose();
            return;
        };
        self.transfer(handle, ground, at);
        self.go_on(meshes, handle);
    }
}

impl Agent {
    /// Returns true if it has entered a link over a platform. Fast agents do before they wait
    /// beside its stop.
    fn is_on_way_of(&self, platform: &Platform) -> bool {
        let link = self.link().filter(|_| self.mesh == platform.ground);
        link.is_some_and(|link| platform.links.contains_key(&link))
    }

    /// Returns the point that it was sent to if that is on its mesh, and no ride has begun on the
    /// way.
    fn wanted_point_here(&self) -> Option<Vec3> {
        self.wanted_point().filter(|_| self.ride.is_none() && self.target.is_none())
    }

    /// Forgets a ride on platforms that have ended, and the goal if it was on one of them.
    fn end_ride(&mut self, ended: &[Handle]) {
        self.ride = None;
        self.forget_destination();
        self.target = self.target.filter(|target| !ended.contains(&target.mesh));
    }
}
