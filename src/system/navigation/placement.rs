//! Agents whose body is moved by something else, such as physics: they follow it on the mesh.

use super::agents::{Agent, AgentState, Agents};
use super::mesh::{NavigationMesh, NearestPolygon};
use engine_foundation::Vec3;
use engine_foundation::handle::{Handle, Slots};

/// Distance from its body at which an agent has lost it, in radii.
const LOST_RADII: f32 = 2.0;

impl Agents {
    /// Marks an agent as lost whose body has left the ground. It keeps its destination and its
    /// leader, to which it goes on from [`Agents::find_ground`].
    pub fn lose_ground(&mut self, agent: Handle) {
        if let Some(agent) = self.slots.get_mut(agent)
            && agent.state != AgentState::Lost
        {
            let (leader, target) = (agent.leader, agent.target);
            let (destination, displaced) = (agent.destination, agent.displaced);
            let waypoints = agent.waypoints.take();
            agent.lose();
            (agent.leader, agent.target) = (leader, target);
            (agent.destination, agent.displaced) = (destination, displaced);
            agent.waypoints = waypoints;
        }
    }

    /// Puts an agent on the ground at which its body is again.
    pub fn find_ground(
        &mut self,
        meshes: &Slots<NavigationMesh>,
        agent: Handle,
        (mesh, at): (Handle, NearestPolygon),
    ) {
        if let Some(agent) = self.slots.get_mut(agent)
            && agent.state == AgentState::Lost
            && let Some(of) = meshes.get(agent.mesh)
        {
            // Polygons can have other numbers since, and obstacles can have come and gone.
            if let Some(wanted) = agent.wanted_point() {
                agent.find_destination(of, wanted);
            }
        }
        self.teleport_to(meshes, agent, mesh, at);
    }
}

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
    use crate::agents::{AgentSettings, AgentState, Agents};
    use crate::bake::AreaShape;
    use crate::mesh::NavigationMesh;
    use crate::tests::scene;
    use engine_foundation::Vec3;
    use engine_foundation::handle::{HandleKind, Slots};
    use engine_foundation::tasks::TaskPool;

    #[test]
    fn an_agent_without_ground_walks_again_when_it_is_back() {
        let (mut agents, mut meshes) =
            (Agents::default(), Slots::new(HandleKind::NavigationMesh, 1));
        let near = |mesh: &NavigationMesh, x: f32, y: f32| {
            mesh.nearest(Vec3::new(x, y, 0.0), 1.0, 1.0).unwrap()
        };
        let (id, pool) = (meshes.add(scene(48, 1)).unwrap(), TaskPool::new(Some(1)));
        let mesh = meshes.get_mut(id).unwrap();
        let agent = agents.add(id, near(mesh, 5.0, 5.0), AgentSettings::DEFAULT).unwrap();
        agents.set_destination(agent, near(mesh, 5.0, 15.0));
        agents.lose_ground(agent);
        agents.lose_ground(agent);
        // Meanwhile, the polygons get other numbers.
        let position = [10.0, 10.0, -1.0];
        mesh.add_volume(AreaShape::Cylinder { position, radius: 1.0, height: 3.0 }, 0).unwrap();
        for _ in 0..4 {
            if let Some(renumbering) = mesh.rebuild(&pool).unwrap() {
                agents.renumber(id, mesh, &renumbering);
            }
            agents.advance(id, mesh, 0.1, &pool).unwrap();
        }
        assert_eq!(agents.slots.get(agent).unwrap().state, AgentState::Lost);
        let at = near(mesh, 8.0, 15.0);
        agents.find_ground(&meshes, agent, (id, at));
        let mesh = meshes.get_mut(id).unwrap();
        for _ in 0..100 {
            agents.advance(id, mesh, 0.1, &pool).unwrap();
        }
        let known = agents.slots.get(agent).unwrap();
        assert_eq!(known.state, AgentState::Arrived);
        assert!(known.at.position.distance(Vec3::new(5.0, 15.0, 0.0)) < 1.0);
    }

    #[test]
    fn obstacles_that_come_and_go_while_an_agent_is_lost() {
        let pool = TaskPool::new(Some(1));
        let target = Vec3::new(5.0, 15.0, 0.0);
        for is_covered_first in [true, false] {
            let (mut agents, mut meshes) =
                (Agents::default(), Slots::new(HandleKind::NavigationMesh, 1));
            let id = meshes.add(scene(48, 1)).unwrap();
            let near = |mesh: &NavigationMesh, at: Vec3| mesh.nearest(at, 1.0, 1.0).unwrap();
            let mesh = meshes.get_mut(id).unwrap();
            let start = near(mesh, Vec3::new(5.0, 5.0, 0.0));
            let agent = agents.add(id, start, AgentSettings::DEFAULT).unwrap();
            let wanted = near(mesh, target);
            agents.set_destination(agent, wanted);
            let play = |agents: &mut Agents, mesh: &mut NavigationMesh, updates: usize| {
                for _ in 0..updates {
                    if let Some(renumbering) = mesh.rebuild(&pool).unwrap() {
                        agents.renumber(id, mesh, &renumbering);
                    }
                    agents.advance(id, mesh, 0.1, &pool).unwrap();
                }
            };
            let position = [target.x, target.y, -1.0];
            let shape = || AreaShape::Cylinder { position, radius: 3.0, height: 3.0 };
            let mut obstacle = None;
            if is_covered_first {
                obstacle = mesh.add_volume(shape(), 0);
                play(&mut agents, mesh, 8);
            }
            agents.lose_ground(agent);
            match obstacle {
                Some(obstacle) => assert!(mesh.remove_volume(obstacle)),
                None => obstacle = mesh.add_volume(shape(), 0),
            }
            play(&mut agents, mesh, 8);
            let at = near(mesh, Vec3::new(5.0, 6.0, 0.0));
            agents.find_ground(&meshes, agent, (id, at));
            let mesh = meshes.get_mut(id).unwrap();
            assert_eq!(agents.slots.get(agent).unwrap().wanted_point(), Some(wanted.position));
            if !is_covered_first {
                play(&mut agents, mesh, 60);
                let known = agents.slots.get(agent).unwrap();
                assert_eq!(known.state, AgentState::Partial);
                assert!(known.at.position.distance(target) > 2.5, "{}", known.at.position);
                assert!(mesh.remove_volume(obstacle.unwrap()));
            }
            play(&mut agents, mesh, 60);
            let known = agents.slots.get(agent).unwrap();
            assert_eq!((known.state, known.partial), (AgentState::Arrived, None));
            assert!(known.at.position.distance(target) < 1.0, "{}", known.at.position);
        }
    }

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
