//! Tests of platforms: a lift between two floors, whose agents get on, ride and get off.

use crate::agents::{Agent, AgentSettings, AgentState, Agents};
use crate::bake::{BakeSettings, BakeSource};
use crate::crowd_scenes::Measures;
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::platforms::{MeshPose, Platform, StopSettings};
use crate::tests::push_box;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Quat, Vec2, Vec3};

const STEP: f32 = 1.0 / 30.0;
pub(super) const LOWER: Vec3 = Vec3::new(22.0, 10.0, 0.0);
pub(super) const UPPER: Vec3 = Vec3::new(22.0, 10.0, 4.0);
pub(super) const START: Vec3 = Vec3::new(5.0, 10.0, 0.0);
pub(super) const GALLERY: Vec3 = Vec3::new(35.0, 10.0, 4.0);

fn bake(boxes: &[([f32; 3], [f32; 3])]) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in boxes {
        push_box(&mut vertices, &mut triangles, (*low).into(), (*high).into());
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings {
        radius: 0.3,
        cell_size: 0.1,
        cell_height: 0.1,
        region_min: 0.1,
        step: 0.4,
        ..BakeSettings::DEFAULT
    };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
}

/// A hall, a gallery above it, and a lift between them.
pub(super) struct Building {
    pub meshes: Slots<NavigationMesh>,
    pub agents: Agents,
    pub ground: Handle,
    pub lift: Handle,
    pool: TaskPool,
}

impl Building {
    pub fn new(threads: usize, capacity: Option<usize>) -> Building {
        let mut meshes = Slots::new(HandleKind::NavigationMesh, 8);
        let floors = [([0.0, 0.0, -0.5], [20.0, 20.0, 0.0]), ([24.0, 0.0, 3.5], [44.0, 20.0, 4.0])];
        let ground = meshes.add(bake(&floors)).unwrap();
        let lift = meshes.add(Building::bake_lift()).unwrap();
        let (agents, pool) = (Agents::default(), TaskPool::new(Some(threads)));
        let mut of = Building { meshes, agents, ground, lift, pool };
        of.add_lift_platform(capacity);
        of
    }

    pub fn bake_lift() -> NavigationMesh {
        bake(&[([-2.0, -2.0, -0.5], [2.0, 2.0, 0.0])])
    }

    /// Makes the mesh of the lift a platform with two stops.
    pub fn add_lift_platform(&mut self, capacity: Option<usize>) {
        let (lift, pose) = (self.lift, MeshPose { position: LOWER, rotation: Quat::IDENTITY });
        let mesh = self.meshes.get(lift).unwrap();
        let platform = Platform::new((lift, mesh), self.ground, pose, (5.0, capacity));
        self.agents.add_platform(platform);
        let hall = (Vec3::new(19.5, 10.0, 0.0), Vec3::new(-1.5, 0.0, 0.0));
        self.add_stop(lift, "hall", hall);
        self.add_stop(lift, "gallery", (Vec3::new(24.5, 10.0, 4.0), Vec3::new(1.5, 0.0, 0.0)));
    }

    fn add_stop(&mut self, of: Handle, name: &str, (ashore, aboard): (Vec3, Vec3)) {
        let ground = self.agents.platform(of).unwrap().ground;
        let settings = StopSettings { name: name.to_string(), ashore, aboard, distance: 1.5 };
        assert!(self.agents.add_stop(of, self.meshes.get_mut(ground).unwrap(), settings));
    }

    pub fn move_lift(&mut self, position: Vec3) {
        self.agents.platform_mut(self.lift).unwrap().pose.position = position;
    }

    fn ground_at(&self, position: Vec3) -> (Handle, NearestPolygon) {
        let found =
            self.agents.ground_at(&self.meshes, self.ground, position, |mesh, at| mesh.snap(at));
        found.unwrap_or_else(|| panic!("no ground at {position}"))
    }

    pub fn add(&mut self, position: Vec3) -> Handle {
        let (mesh, at) = self.ground_at(position);
        let settings = AgentSettings { radius: 0.3, speed: 3.0, ..AgentSettings::DEFAULT };
        self.agents.add(mesh, at, settings).unwrap()
    }

    pub fn send(&mut self, agent: Handle, position: Vec3) {
        let (mesh, at) = self.ground_at(position);
        self.agents.set_target(agent, mesh, at);
    }

    pub fn of(&self, agent: Handle) -> &Agent {
        self.agents.slots.get(agent).unwrap()
    }

    pub fn position(&self, agent: Handle) -> Vec3 {
        self.agents.world_position(self.of(agent))
    }

    /// Adds an update to the measures of a crowd.
    fn measure(&self, all: &[Handle], measures: &mut Measures, before: &mut [Vec2]) {
        let of = |agent: &Handle| (self.of(*agent), self.position(*agent));
        measures.add(&all.iter().map(of).collect::<Vec<_>>(), before, STEP);
    }

    pub fn update(&mut self) {
        self.agents.update_rides(&self.meshes, self.ground, STEP);
        self.advance();
    }

    pub fn advance(&mut self) {
        for id in self.agents.tree(self.ground) {
            let mesh = self.meshes.get_mut(id).unwrap();
            if let Some(renumbering) = mesh.rebuild(&self.pool).unwrap() {
                self.agents.renumber(id, mesh, &renumbering);
            }
            mesh.update_hierarchy(&self.pool).unwrap();
            self.agents.advance(id, mesh, STEP, &self.pool).unwrap();
        }
    }

    pub fn play(&mut self, seconds: f32) {
        for _ in 0..(seconds / STEP) as usize {
            self.update();
        }
    }

    /// Lets the lift rise and sink, with stops of three seconds, until all agents have arrived.
    pub fn run_lift(&mut self, agents: &[Handle], mut each: impl FnMut(&Building)) -> bool {
        for update in 0..9000 {
            let phase = update as f32 * STEP % 14.0;
            let part = match phase {
                ..3.0 => 0.0,
                3.0..7.0 => (phase - 3.0) / 4.0,
                7.0..10.0 => 1.0,
                _ => 1.0 - (phase - 10.0) / 4.0,
            };
            self.move_lift(LOWER.lerp(UPPER, part));
            self.update();
            each(self);
            if agents.iter().all(|agent| self.of(*agent).state_name() == "arrived") {
                return true;
            }
        }
        false
    }

    fn hash(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        for (_, agent) in self.agents.slots.iter() {
            agent.write_state(|number| numbers.push(number));
        }
        for platform in self.agents.platforms() {
            platform.write_state(|number| numbers.push(number));
        }
        numbers
    }
}

#[test]
fn an_agent_rides_to_another_floor() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    let mut ride = Vec::new();
    let has_arrived = of.run_lift(&[agent], |of| {
        if of.of(agent).mesh == of.lift {
            ride.push((of.position(agent).z, of.of(agent).at.position.z));
        }
    });
    assert!(has_arrived, "{:?}", of.of(agent));
    assert!(of.position(agent).distance(GALLERY) < 0.5);
    // It is carried, and stands on the lift.
    assert!(ride.iter().any(|(height, _)| (1.0..3.0).contains(height)), "{ride:?}");
    assert!(ride.iter().all(|(_, own)| own.abs() < 0.2));
    assert_eq!(of.agents.num_aboard(of.lift), 0);
}

#[test]
fn agents_wait_for_a_lift_that_is_away() {
    let mut of = Building::new(1, None);
    of.move_lift(UPPER);
    let agents: Vec<Handle> =
        (0..12).map(|at| of.add(START + Vec3::Y * (at as f32 - 6.0))).collect();
    agents.iter().for_each(|agent| of.send(*agent, GALLERY));
    of.play(20.0);
    for agent in &agents {
        let known = of.of(*agent);
        assert_eq!(known.state_name(), "boarding");
        assert_eq!(known.stuck_seconds, 0.0);
        // They leave the way to the stop free.
        let away = known.at.position - Vec3::new(19.5, 10.0, 0.0);
        assert!(away.y.abs() > 0.4, "{away} {known:?}");
    }
    assert_eq!(of.agents.stop_counts(of.lift, 0).waiting, 12);
    assert!(of.run_lift(&agents, |_| ()));
}

#[test]
fn a_lift_carries_no_more_than_its_capacity() {
    let mut of = Building::new(1, Some(4));
    let up: Vec<Handle> = (0..10).map(|at| of.add(START + Vec3::Y * (at as f32 - 5.0))).collect();
    let down: Vec<Handle> = (0..6).map(|at| of.add(GALLERY + Vec3::Y * at as f32)).collect();
    up.iter().for_each(|agent| of.send(*agent, GALLERY));
    down.iter().for_each(|agent| of.send(*agent, START));
    let all: Vec<Handle> = up.iter().chain(&down).copied().collect();
    let (mut most, mut nearest, mut stuck) = (0, f32::MAX, 0.0f32);
    assert!(of.run_lift(&all, |of| {
        most = most.max(of.agents.num_aboard(of.lift));
        let riders: Vec<Vec3> = all
            .iter()
            .filter(|agent| of.of(**agent).mesh == of.lift)
            .map(|a| of.position(*a))
            .collect();
        for (at, a) in riders.iter().enumerate() {
            nearest = riders[..at].iter().map(|b| a.distance(*b)).fold(nearest, f32::min);
        }
        stuck = all.iter().map(|agent| of.of(*agent).stuck_seconds).fold(stuck, f32::max);
    }));
    assert_eq!(most, 4);
    assert!(nearest > 0.45, "two riders are {nearest} metres from each other");
    assert!(stuck < 1.0, "{stuck}");
}

#[test]
fn a_destination_can_be_on_a_platform() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    of.send(agent, LOWER + Vec3::new(1.0, 1.0, 0.0));
    of.play(15.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("arrived", of.lift));
    // It stays there while the lift moves and turns.
    let own = of.of(agent).at.position;
    let rotation = Quat::from_rotation_z(1.0);
    of.agents.platform_mut(of.lift).unwrap().pose = MeshPose { position: UPPER, rotation };
    of.play(2.0);
    assert_eq!(of.of(agent).at.position, own);
    assert!(of.position(agent).distance(UPPER + rotation * own) < 1e-4);
    // And gets off where the way is shorter.
    of.agents.platform_mut(of.lift).unwrap().pose.rotation = Quat::IDENTITY;
    of.send(agent, GALLERY);
    of.play(15.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("arrived", of.ground));
}

#[test]
fn scripts_open_and_close_stops() {
    let mut of = Building::new(1, None);
    of.agents.platform_mut(of.lift).unwrap().stops[0].held = Some(false);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    of.play(15.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("boarding", of.ground));
    of.agents.platform_mut(of.lift).unwrap().stops[0].held = None;
    of.play(5.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("riding", of.lift));
}

#[test]
fn an_agent_returns_if_the_platform_leaves() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    let mut updates = 0;
    while of.of(agent).state != AgentState::Linking {
        of.update();
        updates += 1;
        assert!(updates < 1000);
    }
    of.move_lift(LOWER + Vec3::X * 500.0);
    of.play(5.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("boarding", of.ground));
    assert!(of.position(agent).x < 20.0);
    assert!(of.run_lift(&[agent], |_| ()));
}

#[test]
fn agents_can_be_sent_elsewhere_at_each_stage() {
    for seconds in 0..40 {
        let mut of = Building::new(1, None);
        let agent = of.add(START);
        of.send(agent, GALLERY);
        of.play(3.0 + seconds as f32 * 0.2);
        match seconds % 3 {
            0 => of.agents.cancel(agent),
            1 => {
                let (mesh, at) = of.ground_at(START);
                of.agents.teleport_to(&of.meshes, agent, mesh, at);
            }
            _ => {}
        }
        of.send(agent, START + Vec3::Y * 3.0);
        assert!(of.run_lift(&[agent], |_| ()), "{seconds}: {:?}", of.of(agent));
        assert!(of.position(agent).distance(START + Vec3::Y * 3.0) < 1.0);
    }
}

#[test]
fn agents_of_a_platform_that_ends_land_or_are_lost() {
    for (position, is_lost) in [(LOWER, false), (LOWER + Vec3::Z * 50.0, true)] {
        let mut of = Building::new(1, None);
        let (rider, waiting) = (of.add(LOWER - Vec3::X * 1.4), of.add(START));
        of.send(waiting, GALLERY);
        of.play(2.0);
        of.send(rider, START + Vec3::Y * 3.0);
        of.move_lift(position);
        let ended = of.agents.end_platform(&mut of.meshes, of.lift);
        assert_eq!(ended, [of.lift]);
        of.meshes.remove(of.lift, "", 0, "");
        of.play(20.0);
        let state = of.of(rider).state;
        assert_eq!(state == AgentState::Lost, is_lost, "{:?}", of.of(rider));
        assert!(is_lost || state == AgentState::Arrived);
        // Without the lift, no way leads to the gallery.
        assert_eq!(of.of(waiting).state, AgentState::Partial);
    }
}

#[test]
fn a_platform_can_be_on_another_one() {
    let mut of = Building::new(1, None);
    let cart = of.meshes.add(bake(&[([-0.9, -0.9, -0.2], [0.9, 0.9, 0.0])])).unwrap();
    let pose = MeshPose { position: LOWER + Vec3::new(0.8, 0.8, 0.2), rotation: Quat::IDENTITY };
    let mesh = of.meshes.get(cart).unwrap();
    of.agents.add_platform(Platform::new((cart, mesh), of.lift, pose, (1.0, None)));
    of.add_stop(cart, "lift", (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.0)));
    of.agents.platform_mut(cart).unwrap().stops[0].held = Some(true);
    let agent = of.add(START);
    of.agents.set_target(agent, cart, of.meshes.get(cart).unwrap().snap(Vec3::ZERO).unwrap());
    of.play(20.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("arrived", cart));
    // From the cart onto the lift, and from there to the other floor.
    of.send(agent, GALLERY);
    assert!(of.run_lift(&[agent], |_| ()), "{:?}", of.of(agent));
    assert!(of.position(agent).distance(GALLERY) < 0.5);
    assert_eq!(of.agents.root(cart), of.ground);
    assert_eq!(of.agents.end_platform(&mut of.meshes, of.lift), [of.lift, cart]);
}

/// Lets as many agents ride up as down. Returns the measures of the crowd, and the most that were
/// on the lift at a time.
fn change_floors(count: usize, capacity: Option<usize>) -> (Measures, usize) {
    let mut of = Building::new(1, capacity);
    let block = |at: usize| Vec3::new((at / 8) as f32, (at % 8) as f32 - 4.0, 0.0);
    let up: Vec<Handle> = (0..count).map(|at| of.add(START + block(at))).collect();
    let down: Vec<Handle> = (0..count).map(|at| of.add(GALLERY + block(at))).collect();
    up.iter().enumerate().for_each(|(at, agent)| of.send(*agent, GALLERY + block(at)));
    down.iter().enumerate().for_each(|(at, agent)| of.send(*agent, START + block(at)));
    let all: Vec<Handle> = up.iter().chain(&down).copied().collect();
    let (mut measures, mut before) = (Measures::default(), vec![Vec2::ZERO; all.len()]);
    let mut most = 0;
    assert!(of.run_lift(&all, |of| {
        of.measure(&all, &mut measures, &mut before);
        most = most.max(of.agents.num_aboard(of.lift));
    }));
    (measures, most)
}

#[test]
fn two_crowds_change_floors_by_a_lift() {
    for (count, capacity, seconds, overlap) in [(12, Some(6), 60.0, 50.0), (20, None, 65.0, 260.0)]
    {
        let (measures, most) = change_floors(count, capacity);
        assert!(most >= 6 && capacity.is_none_or(|capacity| most <= capacity), "{most}");
        assert!(measures.seconds < seconds && measures.longest_stuck < 1.0, "{measures:?}");
        // At the stops, those who get on and off overlap others.
        assert!(measures.longest_still < 5.0 && measures.jitter < 2.0, "{measures:?}");
        assert!(measures.overlap_seconds < overlap, "{measures:?}");
    }
}

/// Lets agents on a circle change sides on a platform that moves and turns, or does not. Returns
/// the state of all of them in the end.
fn ferry(speed: f32, measures: &mut Measures) -> Vec<u64> {
    let mut of = Building::new(1, None);
    let deck = of.meshes.add(bake(&[([-14.0, -14.0, -0.5], [14.0, 14.0, 0.0])])).unwrap();
    let pose = MeshPose { position: Vec3::new(0.0, 60.0, 0.0), rotation: Quat::IDENTITY };
    let mesh = of.meshes.get(deck).unwrap();
    of.agents.add_platform(Platform::new((deck, mesh), of.ground, pose, (5.0, None)));
    let all: Vec<Handle> = (0..40)
        .map(|at| {
            let (sin, cos) = sin_cos(at as f32 / 40.0 * std::f32::consts::TAU);
            let start = Vec3::new(cos, sin, 0.0) * 10.0;
            let agent = of.add(pose.to_world(start));
            of.send(agent, pose.to_world(-start));
            agent
        })
        .collect();
    let mut before = vec![Vec2::ZERO; all.len()];
    for update in 0..900 {
        let seconds = update as f32 * STEP * speed;
        let (sin, cos) = sin_cos(seconds * 0.3);
        let position = pose.position + Vec3::new(sin * 40.0, 40.0 - cos * 40.0, seconds * 0.2);
        let rotation = Quat::from_rotation_z(seconds * 0.3);
        of.agents.platform_mut(deck).unwrap().pose = MeshPose { position, rotation };
        of.update();
        of.measure(&all, measures, &mut before);
    }
    let is_there = |agent: &&Handle| of.of(**agent).state == AgentState::Arrived;
    assert_eq!(all.iter().filter(is_there).count(), all.len());
    if speed > 0.0 {
        assert!(all.iter().all(|agent| of.position(*agent).z > 5.0));
    }
    let mut numbers = Vec::new();
    all.iter().for_each(|agent| of.of(*agent).write_state(|number| numbers.push(number)));
    numbers
}

#[test]
fn a_crowd_on_a_moving_platform_walks_as_on_still_ground() {
    let (mut still, mut moving) = (Measures::default(), Measures::default());
    assert_eq!(ferry(0.0, &mut still), ferry(1.0, &mut moving));
    for measures in [still, moving] {
        assert!(measures.longest_stuck < 0.5 && measures.longest_still < 4.0, "{measures:?}");
        assert!(measures.overlap_seconds < 4.0 && measures.deepest < 0.3, "{measures:?}");
        assert!(measures.jitter < 0.8, "{measures:?}");
    }
}

#[test]
fn rides_are_equal_on_any_number_of_threads() {
    let hashes = [1, 2, 4, 8].map(|threads| {
        let mut of = Building::new(threads, Some(5));
        let agents: Vec<Handle> = (0..40)
            .map(|at| of.add(START + Vec3::new((at / 10) as f32, (at % 10) as f32, 0.0)))
            .collect();
        agents.iter().for_each(|agent| of.send(*agent, GALLERY));
        let mut hashes = Vec::new();
        of.run_lift(&agents[..10], |of| hashes.push(of.hash()));
        hashes
    });
    assert!(hashes[0].len() > 300);
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(hashes[0].windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn a_platform_without_ground_carries_nobody() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    // Its stop is in the air.
    let id = of.meshes.add(bake(&[([-2.0, -2.0, -0.5], [2.0, 2.0, 0.0])])).unwrap();
    let pose = MeshPose { position: Vec3::new(100.0, 0.0, 0.0), rotation: Quat::IDENTITY };
    let mesh = of.meshes.get(id).unwrap();
    of.agents.add_platform(Platform::new((id, mesh), of.ground, pose, (5.0, None)));
    of.add_stop(id, "nowhere", (Vec3::new(90.0, 0.0, 0.0), Vec3::ZERO));
    of.agents.set_target(agent, id, of.meshes.get(id).unwrap().snap(Vec3::ZERO).unwrap());
    of.play(3.0);
    assert_eq!(of.of(agent).state, AgentState::Partial);
    of.send(agent, START + Vec3::X);
    of.play(5.0);
    assert_eq!(of.of(agent).state, AgentState::Arrived);
}

#[test]
fn agents_do_not_stand_on_one_point_at_a_stop() {
    // A deck of eight metres, with the ground a step lower.
    let mut of = Building::new(1, None);
    let deck = of.meshes.add(bake(&[([-4.0, -4.0, -0.5], [4.0, 4.0, 0.0])])).unwrap();
    let mesh = of.meshes.get(deck).unwrap();
    let pose = MeshPose { position: Vec3::new(-4.2, 10.0, 0.2), rotation: Quat::IDENTITY };
    of.agents.add_platform(Platform::new((deck, mesh), of.ground, pose, (5.0, Some(10))));
    of.add_stop(deck, "west", (Vec3::new(0.6, 10.0, 0.0), Vec3::new(3.4, 0.0, 0.0)));
    of.agents.platform_mut(deck).unwrap().stops[0].held = Some(true);
    let all: Vec<Handle> = (0..14)
        .map(|at| of.add(START + Vec3::new((at / 7) as f32, at as f32 % 7.0, 0.0)))
        .collect();
    // Onto the deck, and off it again.
    let (mut together, mut longest) = (vec![0.0f32; all.len() * all.len()], 0.0f32);
    for (update, phase) in (0..1800).map(|update| (update, update / 900)) {
        if update % 900 == 0 {
            for (at, agent) in all.iter().enumerate() {
                let spot = Vec3::new((at % 4) as f32 * 1.5 - 2.5, (at / 4) as f32 * 1.5 - 2.0, 0.0);
                let on_deck = pose.position + spot;
                of.send(*agent, if phase == 0 { on_deck } else { START + spot });
            }
        }
        of.update();
        for a in 0..all.len() {
            for b in 0..a {
                let apart = of.position(all[a]).distance(of.position(all[b]));
                let seconds = &mut together[a * all.len() + b];
                *seconds = if apart < 0.1 { *seconds + STEP } else { 0.0 };
                longest = longest.max(*seconds);
            }
        }
    }
    assert!(longest < 0.2, "two agents stood on one point for {longest} seconds");
    let is_ashore = |agent: &&Handle| of.of(**agent).mesh == of.ground;
    assert_eq!(all.iter().filter(is_ashore).count(), all.len());
}

#[test]
fn agents_step_onto_the_ground_of_a_stop() {
    // The points of the stop are below both floors.
    let mut of = Building::new(1, None);
    for stop in &mut of.agents.platform_mut(of.lift).unwrap().stops {
        stop.settings.ashore.z -= 0.3;
        stop.settings.aboard.z -= 0.3;
    }
    let agent = of.add(START);
    of.send(agent, GALLERY);
    let (mut before, mut largest) = (of.position(agent), 0.0f32);
    assert!(of.run_lift(&[agent], |of| {
        let now = of.position(agent);
        largest = largest.max(now.distance(before));
        before = now;
    }));
    // Its own way, and that of the lift.
    assert!(largest < 0.2, "it has moved by {largest} in an update");
}

#[test]
fn a_platform_out_of_order_is_no_way() {
    let mut of = Building::new(1, None);
    of.move_lift(UPPER);
    let (waiting, walking) = (of.add(START), of.add(START - Vec3::X * 3.0));
    of.send(waiting, GALLERY);
    of.play(8.0);
    of.send(walking, GALLERY);
    of.play(0.5);
    assert_eq!(of.of(waiting).state_name(), "boarding");
    let lift = of.lift;
    of.agents.set_platform_usable(&mut of.meshes, lift, false);
    of.play(9.0);
    for agent in [waiting, walking] {
        assert_eq!(of.of(agent).state_name(), "partial");
    }
    // The lift itself is no goal then, and a stop that is added is closed, too.
    let mesh = of.meshes.get(of.lift).unwrap().snap(Vec3::ZERO).unwrap();
    of.agents.set_target(walking, lift, mesh);
    of.add_stop(lift, "attic", (Vec3::new(24.5, 14.0, 4.0), Vec3::new(1.5, 1.0, 0.0)));
    of.play(3.0);
    assert_eq!(of.of(walking).state_name(), "partial");
    of.agents.set_platform_usable(&mut of.meshes, lift, true);
    of.send(walking, GALLERY);
    assert!(of.run_lift(&[waiting, walking], |_| ()));
}

#[test]
fn fast_agents_on_the_link_of_a_platform_search_another_way() {
    for is_ended in [false, true] {
        let mut of = Building::new(1, None);
        of.move_lift(UPPER);
        let agent = of.add(START);
        of.send(agent, GALLERY);
        // All the way in one update.
        let mut updates = 0;
        while of.of(agent).link().is_none() {
            of.advance();
            updates += 1;
            assert!(updates < 300, "{:?}", of.of(agent));
        }
        assert_eq!((of.of(agent).state_name(), of.of(agent).ride.is_none()), ("linking", true));
        let lift = of.lift;
        if is_ended {
            of.agents.end_platform(&mut of.meshes, lift);
        } else {
            of.agents.set_platform_usable(&mut of.meshes, lift, false);
        }
        of.play(3.0);
        assert_eq!((of.of(agent).state_name(), of.of(agent).link()), ("partial", None));
        let end = of.of(agent).destination.unwrap().position;
        assert!(end.distance(GALLERY) < 0.5, "it keeps its destination");
        if !is_ended {
            // Its destination is on the same mesh, and it tries again when the lift is back.
            of.agents.set_platform_usable(&mut of.meshes, lift, true);
            assert!(of.run_lift(&[agent], |_| ()));
        }
    }
}

#[test]
fn riders_leave_a_platform_out_of_order_where_they_can() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    while of.of(agent).state_name() != "riding" {
        of.update();
    }
    let lift = of.lift;
    of.agents.set_platform_usable(&mut of.meshes, lift, false);
    of.play(6.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("partial", of.ground));
    assert!(of.position(agent).x < 20.0);
}
