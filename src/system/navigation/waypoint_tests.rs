//! Tests of paths that agents are given.

use super::agent::AgentState;
use super::agent_tests::Crowd;
use super::agents::{AgentSettings, Agents};
use super::bake::{AreaShape, BakeSettings, BakeSource, NULL_AREA};
use super::mesh::NavigationMesh;
use super::snapshot::NavigationSnapshot;
use super::tests::push_box;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

const STEP: f32 = 1.0 / 60.0;

/// A floor of 40 by 40 metres around the origin.
fn floor() -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let low = Vec3::new(-20.0, -20.0, -1.0);
    push_box(&mut vertices, &mut triangles, low, Vec3::new(20.0, 20.0, 0.0));
    let source = BakeSource::new(vertices, triangles).unwrap();
    NavigationMesh::bake(source, BakeSettings::DEFAULT, &TaskPool::new(Some(1))).unwrap()
}

fn at(x: f32, y: f32) -> Vec3 {
    Vec3::new(x, y, 0.0)
}

fn prism(low: [f32; 2], high: [f32; 2]) -> AreaShape {
    let points = vec![low, [high[0], low[1]], high, [low[0], high[1]]];
    AreaShape::Prism { points, low: -1.0, high: 2.0 }
}

/// A mesh with agents.
struct Scene {
    meshes: Slots<NavigationMesh>,
    id: Handle,
    agents: Agents,
    pool: TaskPool,
}

impl Scene {
    fn new() -> Scene {
        let mut meshes = Slots::new(HandleKind::NavigationMesh, 2);
        let id = meshes.add(floor()).unwrap();
        let pool = TaskPool::new(Some(1));
        Scene { meshes, id, agents: Agents::default(), pool }
    }

    fn mesh(&mut self) -> &mut NavigationMesh {
        self.meshes.get_mut(self.id).unwrap()
    }

    fn add(&mut self, point: Vec3) -> Handle {
        let ground = self.mesh().snap(point).unwrap();
        self.agents.add(self.id, ground, AgentSettings::DEFAULT).unwrap()
    }

    fn follow(&mut self, agent: Handle, points: &[Vec3]) -> bool {
        let mesh = self.meshes.get(self.id).unwrap();
        self.agents.follow_points(agent, mesh, points)
    }

    fn update(&mut self) {
        let Scene { meshes, id, agents, pool } = self;
        let mesh = meshes.get_mut(*id).unwrap();
        if let Some(renumbering) = mesh.rebuild(pool).unwrap() {
            agents.renumber(*id, mesh, &renumbering);
        }
        mesh.update_hierarchy(pool).unwrap();
        agents.advance(*id, mesh, STEP, pool).unwrap();
    }

    /// Updates until an agent is in a state.
    fn run_to(&mut self, agent: Handle, state: AgentState) {
        for _ in 0..60 * 60 {
            self.update();
            if self.agents.slots.get(agent).unwrap().state == state {
                return;
            }
        }
        panic!("{:?}", self.agents.slots.get(agent).unwrap());
    }

    fn position(&self, agent: Handle) -> Vec2 {
        self.agents.slots.get(agent).unwrap().at.position.truncate()
    }
}

#[test]
fn agents_walk_along_their_points_without_a_stop() {
    let mut crowd = Crowd::new(floor(), 1);
    let way = [at(-15.0, -15.0), at(-15.0, 10.0), at(0.0, -12.0), at(10.0, 14.0), at(15.0, 0.0)];
    crowd.send(way[0], way[0], AgentSettings::DEFAULT);
    crowd.update();
    let agent = crowd.handles[0];
    assert!(crowd.agents.follow_points(agent, &crowd.mesh, &way));
    let of = |crowd: &Crowd| crowd.agents.slots.get(agent).unwrap().clone();
    let length: f32 = way.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    crowd.update();
    let (left, mut corners) = (of(&crowd).remaining_distance(&crowd.mesh), Vec::new());
    assert!((left - length).abs() < 0.5, "{left} {length}");
    of(&crowd).corners(&crowd.mesh, &mut corners);
    let apart = corners.iter().zip(&way[1..]).map(|(a, b)| a.truncate().distance(b.truncate()));
    assert_eq!((corners.len(), apart.filter(|apart| *apart > 0.01).count()), (4, 0));
    assert_eq!(of(&crowd).last_wanted_point(), Some(way[4]));
    let (mut nearest, mut slowest, mut updates) = ([f32::MAX; 5], f32::MAX, 0);
    while crowd.arrived() == 0 {
        crowd.update();
        updates += 1;
        for (near, point) in nearest.iter_mut().zip(&way) {
            *near = near.min(crowd.position(0).distance(point.truncate()));
        }
        let is_under_way = updates > 30 && of(&crowd).remaining_distance(&crowd.mesh) > 2.0;
        if is_under_way {
            slowest = slowest.min(of(&crowd).velocity.length());
            assert_eq!(of(&crowd).state, AgentState::Moving);
        }
        assert!(updates < 60 * 60);
    }
    let radius = AgentSettings::DEFAULT.radius;
    assert!(nearest[1..].iter().all(|near| *near <= radius * 1.2), "{nearest:?}");
    assert!(crowd.position(0).distance(way[4].truncate()) < radius);
    // It turns by more than a right angle at two of them.
    assert!(slowest > 0.2, "{slowest}");
    let seconds = updates as f32 * STEP;
    let alone = length / AgentSettings::DEFAULT.speed;
    assert!(seconds < alone * 1.15 + 1.0, "{seconds} {alone}");
    assert!(of(&crowd).waypoints.is_none());
}

#[test]
fn dense_points_do_not_slow_agents_down() {
    let mut crowd = Crowd::new(floor(), 1);
    crowd.send(at(-15.0, 0.0), at(-15.0, 0.0), AgentSettings::DEFAULT);
    crowd.update();
    let line = |i: u16| f32::from(i) * 0.01;
    let along = (0..2000).map(|i| at(-15.0 + line(i), 0.0));
    let across = (0..1000).map(|i| at(5.0, line(i)));
    let way: Vec<Vec3> = along.chain(across).collect();
    assert!(crowd.agents.follow_points(crowd.handles[0], &crowd.mesh, &way));
    let mut updates = 0;
    while crowd.arrived() == 0 {
        crowd.update();
        updates += 1;
        let position = crowd.position(0);
        let aside = way.iter().map(|point| point.truncate().distance(position));
        assert!(aside.fold(f32::MAX, f32::min) < AgentSettings::DEFAULT.radius);
        assert!((f64::from(updates) / 60.0) < 30.0 / 3.5 * 1.15 + 1.0, "{position}");
    }
    assert!(crowd.position(0).distance(Vec2::new(5.0, 10.0)) < 0.6);
}

#[test]
fn other_orders_end_a_path() {
    let mut scene = Scene::new();
    let (agent, leader) = (scene.add(at(0.0, 0.0)), scene.add(at(3.0, 0.0)));
    let way = [at(0.0, 10.0), at(10.0, 10.0), at(10.0, 0.0)];
    let has_path = |scene: &Scene| scene.agents.slots.get(agent).unwrap().waypoints.is_some();
    for order in 0..4 {
        assert!(scene.follow(agent, &way));
        assert!(has_path(&scene));
        scene.update();
        let ground = scene.mesh().snap(at(-5.0, 0.0)).unwrap();
        match order {
            0 => scene.agents.set_destination(agent, ground),
            1 => scene.agents.cancel(agent),
            2 => scene.agents.follow(agent, leader, Vec2::X),
            _ => scene.agents.lose_mesh(scene.id),
        }
        assert!(!has_path(&scene), "{order}");
    }
    // One that is lost stays lost, and no path has no points.
    assert!(!scene.follow(agent, &way) && !has_path(&scene));
    let other = scene.add(at(0.0, 0.0));
    assert!(!scene.follow(other, &[]));
    assert!(!scene.follow(other, &[at(90.0, 0.0)]));
    assert_eq!(scene.agents.slots.get(other).unwrap().state, AgentState::Idle);
    // One point is a destination.
    assert!(scene.follow(other, &way[..1]));
    scene.run_to(other, AgentState::Arrived);
    assert!(scene.position(other).distance(way[0].truncate()) < 0.6);
    // A teleported agent goes on from there.
    assert!(scene.follow(other, &way));
    scene.update();
    let ground = scene.mesh().snap(at(-5.0, -5.0)).unwrap();
    scene.agents.teleport(other, ground);
    scene.run_to(other, AgentState::Arrived);
    assert!(scene.position(other).distance(way[2].truncate()) < 0.6);
}

#[test]
fn paths_lead_around_new_obstacles() {
    let mut scene = Scene::new();
    let agent = scene.add(at(-15.0, 0.0));
    let way = [at(-5.0, 0.0), at(5.0, 0.0), at(15.0, 0.0)];
    assert!(scene.follow(agent, &way));
    scene.update();
    // A wall across the second leg, and an obstacle on the middle point.
    scene.mesh().add_volume(prism([-1.0, -6.0], [1.0, 6.0]), NULL_AREA).unwrap();
    scene.mesh().add_volume(prism([3.0, -3.0], [7.0, 3.0]), NULL_AREA).unwrap();
    scene.run_to(agent, AgentState::Arrived);
    assert!(scene.position(agent).distance(way[2].truncate()) < 0.6);
}

#[test]
fn points_without_ground_are_left_out() {
    let mut scene = Scene::new();
    let agent = scene.add(at(-15.0, 0.0));
    let mesh = scene.meshes.get(scene.id).unwrap();
    // The second one was never on the mesh: those who call check that.
    let way = [at(-10.0, 0.0), at(500.0, 0.0), at(0.0, 500.0), at(10.0, 0.0)];
    assert!(scene.agents.follow_points(agent, mesh, &way));
    scene.run_to(agent, AgentState::Arrived);
    assert!(scene.position(agent).distance(way[3].truncate()) < 0.6);
}

#[test]
fn crowds_on_one_path_all_arrive() {
    let mut crowd = Crowd::new(floor(), 1);
    for i in 0..40u8 {
        let from = at(-15.0 + f32::from(i % 5) * 1.4, -15.0 + f32::from(i / 5) * 1.4);
        crowd.send(from, from, AgentSettings::DEFAULT);
    }
    let way = [at(-10.0, 12.0), at(0.0, 0.0), at(12.0, 12.0), at(12.0, -12.0)];
    for agent in crowd.handles.clone() {
        assert!(crowd.agents.follow_points(agent, &crowd.mesh, &way));
    }
    for _ in 0..60 * 90 {
        crowd.update();
        if crowd.arrived() == 40 {
            break;
        }
    }
    assert_eq!(crowd.arrived(), 40);
    assert!((0..40).all(|at| crowd.position(at).distance(way[3].truncate()) < 8.0));
}

#[test]
fn paths_are_part_of_snapshots_and_hashes() {
    let mut scene = Scene::new();
    let agent = scene.add(at(-15.0, 0.0));
    let way = [at(-5.0, 0.0), at(5.0, 8.0), at(15.0, 0.0)];
    assert!(scene.follow(agent, &way));
    (0..90).for_each(|_| scene.update());
    let hash = |scene: &Scene| {
        let mut bits = Vec::new();
        scene.agents.slots.get(agent).unwrap().write_state(|number| bits.push(number));
        bits
    };
    let roots = [scene.id];
    let kept = NavigationSnapshot::take(&mut scene.meshes, &scene.agents, &roots).unwrap();
    let follow = |scene: &mut Scene| -> Vec<Vec<u64>> {
        let each = |_| {
            scene.update();
            hash(scene)
        };
        (0..400).map(each).collect()
    };
    let first = follow(&mut scene);
    kept.restore(&mut scene.meshes, &mut scene.agents, &scene.pool).unwrap();
    assert_eq!(follow(&mut scene), first);
    // Other points after the next one are another state.
    kept.restore(&mut scene.meshes, &mut scene.agents, &scene.pool).unwrap();
    let before = hash(&scene);
    let known = scene.agents.slots.get_mut(agent).unwrap();
    let rest = known.waypoints.take();
    assert_ne!(hash(&scene), before);
    scene.agents.give_waypoints(agent, rest);
    assert_eq!(hash(&scene), before);
}

#[test]
fn lost_agents_go_on_along_their_points() {
    let mut scene = Scene::new();
    let agent = scene.add(at(-15.0, 0.0));
    let way = [at(-5.0, 0.0), at(0.0, 10.0)];
    assert!(scene.follow(agent, &way));
    let known = |scene: &Scene| scene.agents.slots.get(agent).unwrap().clone();
    (0..60).for_each(|_| scene.update());
    // As if it had just come to the first point.
    assert!(scene.agents.slots.get_mut(agent).unwrap().pass_waypoint());
    scene.agents.lose_ground(agent);
    (0..10).for_each(|_| scene.update());
    assert_eq!(known(&scene).state, AgentState::Lost);
    assert_eq!(known(&scene).last_wanted_point(), Some(way[1]));
    let ground = scene.mesh().snap(at(-5.0, -2.0)).unwrap();
    let Scene { meshes, id, agents, .. } = &mut scene;
    agents.find_ground(meshes, agent, (*id, ground));
    scene.run_to(agent, AgentState::Arrived);
    assert!(scene.position(agent).distance(way[1].truncate()) < 0.6);
}
