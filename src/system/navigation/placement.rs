//! Agents whose body is moved by something else, such as physics: they follow it on the mesh.

use super::agents::Agent;
use super::mesh::NavigationMesh;
use engine_foundation::Vec3;

/// Distance from its body at which an agent has lost it, in radii.
const LOST_RADII: f32 = 2.0;

impl Agent {
    /// Moves the agent along the ground to where its body is, and keeps its path. Returns false if
    /// the body is too far from the ground that can be reached this way.
    pub fn follow_body(&mut self, mesh: &NavigationMesh, body: Vec3) -> bool {
        let by = (body - self.at.position).truncate();
        if by.length_squared() > 1e-8 {
            self.carry(mesh, by);
        }
        let away = body - self.at.position;
        let reach = (self.settings.radius * LOST_RADII).max(mesh.settings().cell_size);
        away.truncate().length() <= reach && away.z.abs() <= mesh.settings().height
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::{AgentSettings, Agents};
    use crate::tests::scene;
    use engine_foundation::Vec3;
    use engine_foundation::handle::{HandleKind, Slots};

    #[test]
    fn an_agent_follows_its_body_along_the_ground() {
        let mesh = scene(48, 1);
        let (mut agents, mut ids) = (Agents::default(), Slots::new(HandleKind::NavigationMesh, 1));
        let at = mesh.nearest(Vec3::new(5.0, 5.0, 0.0), 1.0, 1.0).unwrap();
        let id = agents.add(ids.add(()).unwrap(), at, AgentSettings::DEFAULT).unwrap();
        let agent = agents.slots.get_mut(id).unwrap();
        assert!(agent.follow_body(&mesh, Vec3::new(6.0, 7.0, 0.2)));
        assert!(agent.at.position.distance(Vec3::new(6.0, 7.0, 0.0)) < 0.3);
        // Off the floor, it stays at the edge.
        assert!(!agent.follow_body(&mesh, Vec3::new(6.0, -20.0, 0.0)));
        assert!(agent.at.position.y > 0.0 && agent.at.position.y < 1.5);
        assert!(!agent.follow_body(&mesh, Vec3::new(6.0, 1.0, 9.0)), "on another storey");
    }
}
