//! The end of a platform: what becomes of the agents that are on it, or on their way to it.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::mesh::NavigationMesh;
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
            let is_user = agent.ride.is_some_and(|ride| ended.contains(&ride.platform));
            let is_sent = agent.target.is_some_and(|target| {
                ended.contains(&target.mesh)
                    || target.via.is_some_and(|(of, _)| ended.contains(&of))
            });
            if ended.contains(&agent.mesh) {
                let at = self.world_position(self.slots.get(handle).expect("it was listed"));
                self.land(meshes, handle, (platform.ground, at), &ended);
            } else if is_user || is_sent {
                agent.end_ride(&ended);
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
                self.go_on(meshes, handle);
            }
        }
        self.platforms.retain(|of| !ended.contains(&of.mesh));
        ended
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
        agent.destination = None;
        self.transfer(handle, ground, at);
        self.go_on(meshes, handle);
    }
}

impl Agent {
    /// Forgets a ride on platforms that have ended, and the goal if it was on one of them.
    fn end_ride(&mut self, ended: &[Handle]) {
        self.ride = None;
        self.destination = None;
        self.target = self.target.filter(|target| !ended.contains(&target.mesh));
    }
}
