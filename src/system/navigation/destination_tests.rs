//! Tests of destinations whose ground is taken away, and comes back.

use super::agents::{Agent, AgentSettings, AgentState, Agents};
use super::bake::{AreaShape, BakeSettings};
use super::crowd_scenes::{STEP, bake};
use super::jumps::JumpSettings;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::search::PartialReason;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

/// Agent on a floor of 100 by 12 metres.
struct Walk {
    mesh: NavigationMesh,
    id: Handle,
    agents: Agents,
    agent: Handle,
    pool: TaskPool,
}

impl Walk {
    fn new(from: f32, to: f32) -> Walk {
        let settings = BakeSettings { tile_cells: 24, region_min: 1.0, ..BakeSettings::DEFAULT };
        let mesh = bake(&[([0.0, 0.0, -1.0], [100.0, 12.0, 0.0])], settings);
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let mut agents = Agents::default();
        let agent = agents.add(id, near(&mesh, from), AgentSettings::DEFAULT).unwrap();
        agents.set_destination(agent, near(&mesh, to));
        Walk { mesh, id, agents, agent, pool: TaskPool::new(Some(1)) }
    }

    /// Adds an obstacle across the floor.
    fn cover(&mut self, from: f32, to: f32) -> u32 {
        let points = vec![[from, -1.0], [to, -1.0], [to, 13.0], [from, 13.0]];
        self.mesh.add_volume(AreaShape::Prism { points, low: -0.5, high: 3.0 }, 0).unwrap()
    }

    fn play(&mut self, seconds: f32) -> &Agent {
        for _ in 0..(seconds / STEP) as u32 {
            if let Some(renumbering) = self.mesh.rebuild(&self.pool).unwrap() {
                self.agents.renumber(self.id, &self.mesh, &renumbering);
            }
            self.agents.advance(self.id, &mut self.mesh, STEP, &self.pool).unwrap();
        }
        self.agents.slots.get(self.agent).unwrap()
    }

    fn wanted_point(&self) -> Vec3 {
        self.agents.slots.get(self.agent).unwrap().wanted_point().expect("it was sent somewhere")
    }
}

fn near(mesh: &NavigationMesh, x: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, 6.0, 0.0), 1.0, 1.0).unwrap()
}

#[test]
fn a_destination_below_an_obstacle_that_is_removed_is_kept() {
    let mut walk = Walk::new(30.0, 5.0);
    let wanted = walk.wanted_point();
    walk.play(0.5);
    let obstacle = walk.cover(2.0, 8.0);
    let agent = walk.play(0.4);
    assert_eq!(
        (agent.state, agent.partial),
        (AgentState::Moving, Some(PartialReason::Unreachable))
    );
    assert_eq!(walk.wanted_point(), wanted);
    walk.mesh.remove_volume(obstacle);
    let agent = walk.play(12.0);
    assert_eq!((agent.state, agent.partial), (AgentState::Arrived, None));
    assert!(agent.at.position.distance(wanted) < 0.3, "{}", agent.at.position);
}

#[test]
fn an_agent_waits_at_an_obstacle_on_its_destination() {
    let mut walk = Walk::new(30.0, 5.0);
    let wanted = walk.wanted_point();
    let obstacle = walk.cover(2.0, 8.0);
    let agent = walk.play(15.0);
    assert_eq!(
        (agent.state, agent.partial),
        (AgentState::Partial, Some(PartialReason::Unreachable))
    );
    assert!((8.0..10.0).contains(&agent.at.position.x), "{}", agent.at.position);
    // The obstacle is made larger: there is other ground that is the nearest.
    let larger = walk.cover(1.0, 14.0);
    let agent = walk.play(4.0);
    assert_eq!(agent.state, AgentState::Partial);
    assert!((14.0..16.0).contains(&agent.at.position.x), "{}", agent.at.position);
    // Moved to another point of the ground, it still has its destination.
    let at = near(&walk.mesh, 50.0);
    walk.agents.teleport(walk.agent, at);
    assert_eq!(walk.wanted_point(), wanted);
    let agent = walk.play(20.0);
    assert_eq!(agent.state, AgentState::Partial);
    walk.mesh.remove_volume(obstacle);
    walk.mesh.remove_volume(larger);
    let agent = walk.play(8.0);
    assert_eq!((agent.state, agent.partial), (AgentState::Arrived, None));
    assert!(agent.at.position.distance(wanted) < 0.3, "{}", agent.at.position);
}

#[test]
fn an_agent_without_ground_near_its_destination_waits_for_it() {
    let mut walk = Walk::new(40.0, 95.0);
    let wanted = walk.wanted_point();
    walk.play(0.5);
    let obstacle = walk.cover(50.0, 101.0);
    let agent = walk.play(5.0);
    assert_eq!((agent.state, agent.destination), (AgentState::Partial, None));
    assert_eq!((agent.partial, walk.wanted_point()), (Some(PartialReason::Unreachable), wanted));
    let at = near(&walk.mesh, 45.0);
    walk.agents.teleport(walk.agent, at);
    walk.agents.lose_ground(walk.agent);
    assert_eq!(walk.wanted_point(), wanted);
    walk.agents.teleport(walk.agent, at);
    assert_eq!(walk.play(0.1).state, AgentState::Partial);
    walk.mesh.remove_volume(obstacle);
    let agent = walk.play(20.0);
    assert_eq!((agent.state, agent.partial), (AgentState::Arrived, None));
    assert!(agent.at.position.distance(wanted) < 0.3, "{}", agent.at.position);
    // It can be sent somewhere else meanwhile, and has no destination when it is stopped.
    walk.cover(50.0, 101.0);
    walk.agents.set_destination(walk.agent, at);
    walk.agents.cancel(walk.agent);
    assert_eq!(walk.agents.slots.get(walk.agent).unwrap().wanted_point(), None);
}

#[test]
fn an_agent_that_follows_another_one_forgets_its_destination() {
    let mut walk = Walk::new(40.0, 95.0);
    let obstacle = walk.cover(50.0, 101.0);
    assert_eq!(walk.play(5.0).state, AgentState::Partial);
    let at = near(&walk.mesh, 30.0);
    let leader = walk.agents.add(walk.id, at, AgentSettings::DEFAULT).unwrap();
    walk.agents.follow(walk.agent, leader, Vec2::ZERO);
    walk.play(0.5);
    walk.agents.slots.remove(leader, "", 0, "a test");
    assert_eq!(walk.play(0.5).state, AgentState::Idle);
    walk.agents.teleport(walk.agent, at);
    walk.mesh.remove_volume(obstacle);
    let agent = walk.play(3.0);
    assert_eq!((agent.state, agent.wanted_point()), (AgentState::Idle, None));
}

#[test]
fn agents_that_give_up_links_keep_covered_destinations() {
    let mut walk = Walk::new(36.0, 95.0);
    let wanted = walk.wanted_point();
    let [from, to] = [40.0, 48.0].map(|x| Vec3::new(x, 6.0, 0.0));
    let name = "lever".to_string();
    let link = JumpSettings { name, from, to, cost: 0.1, is_two_way: false, is_manual: true };
    walk.mesh.add_link(link).unwrap();
    assert_eq!(walk.play(3.0).state, AgentState::Linking);
    let obstacle = walk.cover(58.0, 101.0);
    let agent = walk.play(1.0);
    assert_eq!((agent.state, agent.destination), (AgentState::Linking, None));
    assert!(walk.agents.give_up_link(walk.agent));
    let agent = walk.play(0.5);
    assert_eq!((agent.state, agent.wanted_point()), (AgentState::Partial, Some(wanted)));
    walk.mesh.remove_volume(obstacle);
    let agent = walk.play(25.0);
    assert_eq!((agent.state, agent.partial), (AgentState::Arrived, None));
    assert!(agent.at.position.distance(wanted) < 0.3, "{}", agent.at.position);
}

#[test]
fn blocked_agents_wait_although_the_mesh_changes() {
    let mut walk = Walk::new(30.0, 5.0);
    walk.play(0.5);
    walk.agents.slots.get_mut(walk.agent).unwrap().block();
    for _ in 0..4 {
        let obstacle = walk.cover(80.0, 82.0);
        assert_eq!(walk.play(0.4).state, AgentState::Blocked);
        walk.mesh.remove_volume(obstacle);
        assert_eq!(walk.play(0.4).state, AgentState::Blocked);
    }
    assert_eq!(walk.play(1.0).state, AgentState::Moving);
}
