//! Tests of links: paths that use them, and agents on them.

use crate::agents::{AgentSettings, AgentState, Agents};
use crate::bake::{AreaShape, BakeSettings, BakeSource};
use crate::jumps::JumpSettings;
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::own_costs::{ABANDONED_SETS_MAX, OwnCosts};
use crate::search::{PartialReason, PointPath, PolygonPath, Searcher};
use crate::tests::push_box;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

/// Two floors with a gap of four metres between them.
fn islands() -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for x in [0.0, 24.0] {
        let high = Vec3::new(x + 20.0, 20.0, 1.0);
        push_box(&mut vertices, &mut triangles, Vec3::new(x, 0.0, 0.0), high);
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { tile_cells: 32, region_min: 1.0, ..BakeSettings::DEFAULT };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
}

fn link(y: f32, is_two_way: bool, cost: f32) -> JumpSettings {
    JumpSettings {
        name: "gap".to_string(),
        from: Vec3::new(19.0, y, 1.0),
        to: Vec3::new(25.0, y, 1.0),
        cost,
        is_two_way,
        is_manual: false,
    }
}

fn near(mesh: &NavigationMesh, x: f32, y: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, y, 1.0), 2.0, 2.0).unwrap_or_else(|| panic!("no ground at {x}, {y}"))
}

fn path(mesh: &NavigationMesh, from: Vec2, to: Vec2) -> (Option<PartialReason>, PointPath) {
    let (from, to) = (near(mesh, from.x, from.y), near(mesh, to.x, to.y));
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    Searcher::default().search(mesh, from, to, 10_000, &mut path);
    path.funnel(mesh, from.position, to.position, 1000, &mut points);
    (path.partial, points)
}

const WEST: Vec2 = Vec2::new(3.0, 10.0);
const EAST: Vec2 = Vec2::new(40.0, 10.0);

#[test]
fn paths_use_links_in_their_direction() {
    let (mut mesh, pool) = (islands(), TaskPool::new(Some(1)));
    assert_eq!(path(&mesh, WEST, EAST).0, Some(PartialReason::Unreachable));
    let number = mesh.add_link(link(10.0, false, 6.0)).unwrap();
    assert!(!mesh.is_link_usable(number));
    mesh.rebuild(&pool).unwrap();
    assert!(mesh.is_link_usable(number));
    let (partial, points) = path(&mesh, WEST, EAST);
    assert_eq!(partial, None);
    assert!((points.length() - 37.0).abs() < 0.2, "{points:?}");
    let at = |x: f32| points.points.iter().any(|point| (point.x - x).abs() < 0.01);
    assert!(at(19.0) && at(25.0), "{points:?}");
    assert_eq!(path(&mesh, EAST, WEST).0, Some(PartialReason::Unreachable));
    mesh.remove_link(number);
    mesh.add_link(link(4.0, true, 6.0)).unwrap();
    mesh.rebuild(&pool).unwrap();
    let (partial, points) = path(&mesh, EAST, WEST);
    assert_eq!(partial, None);
    assert!(points.points.iter().any(|point| (point.y - 4.0).abs() < 0.01), "{points:?}");
}

#[test]
fn the_cheaper_one_of_two_links_is_used() {
    let (mut mesh, pool) = (islands(), TaskPool::new(Some(1)));
    mesh.add_link(link(10.0, true, 40.0)).unwrap();
    mesh.add_link(link(2.0, true, 0.0)).unwrap();
    mesh.rebuild(&pool).unwrap();
    let (_, points) = path(&mesh, WEST, EAST);
    assert!(points.points.iter().any(|point| (point.y - 2.0).abs() < 0.01), "{points:?}");
}

#[test]
fn a_link_into_nothing_is_used_when_there_is_ground() {
    let (mut mesh, pool) = (islands(), TaskPool::new(Some(1)));
    let shape = AreaShape::Cylinder { position: [25.0, 10.0, 1.0], radius: 2.0, height: 2.0 };
    let obstacle = mesh.add_volume(shape, 0).unwrap();
    let number = mesh.add_link(link(10.0, true, 6.0)).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool).unwrap();
    }
    assert!(!mesh.is_link_usable(number));
    assert_eq!(path(&mesh, WEST, EAST).0, Some(PartialReason::Unreachable));
    mesh.remove_volume(obstacle);
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool).unwrap();
    }
    assert!(mesh.is_link_usable(number));
    assert_eq!(path(&mesh, WEST, EAST).0, None);
}

struct Walk {
    mesh: NavigationMesh,
    id: Handle,
    agents: Agents,
    agent: Handle,
    pool: TaskPool,
}

impl Walk {
    fn new(links: &[JumpSettings]) -> Walk {
        let (mut mesh, pool) = (islands(), TaskPool::new(Some(1)));
        for link in links {
            mesh.add_link(link.clone()).unwrap();
        }
        mesh.rebuild(&pool).unwrap();
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        let mut agents = Agents::default();
        let start = near(&mesh, WEST.x, WEST.y);
        let agent = agents.add(id, start, AgentSettings::DEFAULT).unwrap();
        agents.set_destination(agent, near(&mesh, EAST.x, EAST.y));
        Walk { mesh, id, agents, agent, pool }
    }

    fn update(&mut self) -> crate::agents::Agent {
        if let Some(renumbering) = self.mesh.rebuild(&self.pool).unwrap() {
            self.agents.renumber(self.id, &self.mesh, &renumbering);
        }
        self.agents.advance(self.id, &mut self.mesh, 1.0 / 60.0, &self.pool).unwrap();
        self.agents.slots.get(self.agent).unwrap().clone()
    }

    fn update_until(&mut self, state: AgentState) -> crate::agents::Agent {
        for _ in 0..1200 {
            let agent = self.update();
            if agent.state == state {
                return agent;
            }
        }
        panic!("{state:?} was not reached: {:?}", self.agents.slots.get(self.agent));
    }
}

#[test]
fn agents_jump_along_an_arc_and_go_on() {
    let mut walk = Walk::new(&[link(10.0, true, 6.0)]);
    let agent = walk.update_until(AgentState::Linking);
    assert_eq!(agent.link(), Some(1));
    let mut highest = 0.0f32;
    while walk.update().state == AgentState::Linking {
        let position = walk.agents.slots.get(walk.agent).unwrap().at.position;
        highest = highest.max(position.z);
    }
    assert!(highest > 1.8, "{highest}");
    let agent = walk.update_until(AgentState::Arrived);
    assert!(agent.at.position.truncate().distance(EAST) < 0.7);
    assert_eq!(agent.link(), None);
}

#[test]
fn agents_wait_on_manual_links_until_a_script_moves_them() {
    let mut walk = Walk::new(&[JumpSettings { is_manual: true, ..link(10.0, true, 6.0) }]);
    walk.update_until(AgentState::Linking);
    for _ in 0..200 {
        let agent = walk.update();
        assert!(agent.state == AgentState::Linking && agent.at.position.x < 20.0);
    }
    assert!(walk.agents.slots.get_mut(walk.agent).unwrap().leave_link());
    assert!(!walk.agents.slots.get_mut(walk.agent).unwrap().leave_link());
    walk.update_until(AgentState::Arrived);
}

#[test]
fn agents_that_are_cancelled_leave_manual_links() {
    let mut walk = Walk::new(&[JumpSettings { is_manual: true, ..link(10.0, true, 6.0) }]);
    let agent = walk.update_until(AgentState::Linking);
    assert!(agent.waits_on_link());
    let start = agent.at.position;
    walk.agents.cancel(walk.agent);
    let agent = walk.update();
    assert_eq!((agent.state, agent.link(), agent.waits_on_link()), (AgentState::Idle, None, false));
    assert!(agent.at.position.distance(start) < 0.1);
    // It is free to go elsewhere, and back to the link.
    walk.agents.set_destination(walk.agent, near(&walk.mesh, WEST.x, WEST.y));
    walk.update_until(AgentState::Arrived);
    walk.agents.set_destination(walk.agent, near(&walk.mesh, EAST.x, EAST.y));
    walk.update_until(AgentState::Linking);
}

#[test]
fn changes_during_a_jump_apply_when_it_ends() {
    let mut walk = Walk::new(&[link(10.0, true, 6.0)]);
    walk.update_until(AgentState::Linking);
    walk.update();
    let back = near(&walk.mesh, WEST.x, WEST.y);
    walk.agents.set_destination(walk.agent, back);
    assert_eq!(walk.update().state, AgentState::Linking);
    let shape = AreaShape::Cylinder { position: [30.0, 10.0, 1.0], radius: 1.0, height: 2.0 };
    walk.mesh.add_volume(shape, 0).unwrap();
    assert_eq!(walk.update().state, AgentState::Linking);
    let agent = walk.update_until(AgentState::Arrived);
    assert!(agent.at.position.truncate().distance(WEST) < 0.7);
    // Cancelled on the way, an agent stops at the end of its link.
    walk.agents.set_destination(walk.agent, near(&walk.mesh, EAST.x, EAST.y));
    walk.update_until(AgentState::Linking);
    walk.agents.cancel(walk.agent);
    let agent = walk.update_until(AgentState::Idle);
    assert!((agent.at.position.x - 25.0).abs() < 0.5);
}

#[test]
fn agents_give_up_links_on_which_nothing_moves_them() {
    let manual = |y: f32, cost: f32| JumpSettings { is_manual: true, ..link(y, true, cost) };
    let mut walk = Walk::new(&[manual(10.0, 6.0), manual(16.0, 6.0)]);
    assert!(!walk.agents.give_up_link(walk.agent), "it is on no link");
    let first = walk.update_until(AgentState::Linking).link();
    assert!(walk.agents.give_up_link(walk.agent));
    // The other one is farther away.
    let second = walk.update_until(AgentState::Linking).link();
    assert!(first.is_some() && second.is_some() && first != second);
    assert!(walk.agents.give_up_link(walk.agent));
    // No way is left, until the first one is open for it again.
    let agent = walk.update_until(AgentState::Partial);
    assert_eq!((agent.link(), agent.partial), (None, Some(PartialReason::Unreachable)));
    assert_eq!(walk.update_until(AgentState::Linking).link(), first);
    walk.agents.slots.get_mut(walk.agent).unwrap().leave_link();
    let agent = walk.update_until(AgentState::Arrived);
    assert!(agent.at.position.truncate().distance(EAST) < 0.7);
    for _ in 0..1500 {
        walk.update();
    }
    let agent = walk.agents.slots.get(walk.agent).unwrap();
    assert!(agent.own_costs.is_none() && agent.abandoned.is_empty());
}

#[test]
fn agents_that_cannot_give_up_their_link_are_blocked() {
    let mut walk = Walk::new(&[JumpSettings { is_manual: true, ..link(10.0, true, 6.0) }]);
    let at = near(&walk.mesh, WEST.x, 2.0);
    for number in 0..ABANDONED_SETS_MAX as u32 {
        let other = walk.agents.add(walk.id, at, AgentSettings::DEFAULT).unwrap();
        let close = |costs: &mut OwnCosts| costs.set_closed(100 + number, true);
        walk.agents.change_costs(other, close).unwrap();
    }
    walk.update_until(AgentState::Linking);
    for _ in 0..2 {
        assert!(walk.agents.give_up_link(walk.agent));
        for update in 0..230 {
            assert_eq!(walk.update().state, AgentState::Blocked, "after {update} updates");
        }
        let state = (0..20).map(|_| walk.update().state).last();
        assert_eq!(state, Some(AgentState::Linking), "it tries again");
    }
}
