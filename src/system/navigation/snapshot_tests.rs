//! Tests of snapshots: what follows a restored state is exactly what followed the state.

use super::agents::{AgentSettings, AgentState, Agents};
use super::bake::{AreaShape, BakeSettings, BakeSource, DEFAULT_AREA, NULL_AREA};
use super::jumps::JumpSettings;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::platform_tests::{Building, GALLERY, LOWER, START, UPPER};
use super::snapshot::NavigationSnapshot;
use super::tests::push_box;
use super::volumes::REBUILD_UPDATES;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

const STEP: f32 = 1.0 / 60.0;
const MUD: u8 = 2;
const AGENTS: usize = 60;
/// Updates of a run, and those before which the state is kept. Some are while tiles are built.
const UPDATES: u32 = 260;
const KEPT: [u32; 5] = [0, 31, 62, 119, 201];

fn bake() -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    push_box(&mut vertices, &mut triangles, Vec3::new(0.0, 0.0, -1.0), Vec3::new(48.0, 36.0, 0.0));
    push_box(&mut vertices, &mut triangles, Vec3::new(60.0, 0.0, -1.0), Vec3::new(72.0, 12.0, 0.0));
    for (low, high) in [(0.0, 10.0), (13.0, 22.0), (25.0, 36.0)] {
        let (low, high) = (Vec3::new(24.0, low, 0.0), Vec3::new(25.0, high, 3.0));
        push_box(&mut vertices, &mut triangles, low, high);
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings =
        BakeSettings { radius: 0.4, cell_size: 0.2, tile_cells: 40, ..BakeSettings::DEFAULT };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
}

fn prism(x: f32, y: f32, size: f32) -> AreaShape {
    let points = vec![[x, y], [x + size, y], [x + size, y + size], [x, y + size]];
    AreaShape::Prism { points, low: -1.0, high: 2.0 }
}

/// Two rooms and an island, through which a crowd walks while the ground changes.
struct Scene {
    meshes: Slots<NavigationMesh>,
    agents: Agents,
    id: Handle,
    handles: Vec<Handle>,
    pool: TaskPool,
    crates: Vec<u32>,
}

impl Scene {
    fn new(threads: usize) -> Scene {
        let mut meshes = Slots::new(HandleKind::NavigationMesh, 8);
        let id = meshes.add(bake()).unwrap();
        let pool = TaskPool::new(Some(threads));
        let (agents, handles, crates) = (Agents::default(), Vec::new(), Vec::new());
        let mut scene = Scene { meshes, agents, id, handles, pool, crates };
        scene.mesh().reserve_file_numbers();
        scene.mesh().add_volume(prism(6.0, 14.0, 9.0), MUD).unwrap();
        scene.agents.set_dispersion(id, 2.0);
        let mut random = Random::seed(7);
        for at in 0..AGENTS {
            let mut number = |most: f64| (random.next_f64() * most) as f32;
            let from = Vec3::new(1.0 + number(22.0), 1.0 + number(34.0), 0.0);
            let to = match at % 3 {
                0 => Vec3::new(44.0, 30.0, 0.0),
                _ => Vec3::new(26.0 + number(20.0), 1.0 + number(34.0), 0.0),
            };
            let settings =
                AgentSettings { radius: 0.4, speed: 2.0 + number(3.0), ..AgentSettings::DEFAULT };
            let (from, to) = (scene.ground(from), scene.ground(to));
            let agent = scene.agents.add(id, from, settings).unwrap();
            scene.handles.push(agent);
            match at % 10 {
                9 => scene.agents.follow(agent, scene.handles[at - 1], Vec2::new(1.0, 0.0)),
                _ => scene.agents.set_destination(agent, to),
            }
            if at % 7 == 0 {
                scene.agents.set_area_cost(agent, MUD, Some(0.0)).unwrap();
            }
        }
        scene
    }

    fn mesh(&mut self) -> &mut NavigationMesh {
        self.meshes.get_mut(self.id).unwrap()
    }

    fn ground(&mut self, at: Vec3) -> NearestPolygon {
        self.mesh().nearest(at, 6.0, 2.0).expect("there is ground")
    }

    /// Does as the game before an update.
    fn act(&mut self, update: u32) {
        if update.is_multiple_of(3) {
            let (from, to) = (Vec3::new(1.0, 1.0, 0.0), Vec3::new(47.0, 35.0, 0.0));
            let (from, to) = (self.ground(from), self.ground(to));
            self.mesh().request_path(from, to).unwrap();
        }
        if update.is_multiple_of(30) {
            let at = 3.0 + (update % 17) as f32;
            let known = self.mesh().add_volume(prism(at, 20.0, 2.0), NULL_AREA).unwrap();
            self.crates.push(known);
        }
        match update {
            50 => {
                let (from, to) = (Vec3::new(46.0, 5.0, 0.0), Vec3::new(62.0, 5.0, 0.0));
                let name = "jump".to_string();
                let (cost, is_two_way, is_manual) = (3.0, true, false);
                let link = JumpSettings { name, from, to, cost, is_two_way, is_manual };
                let number = self.mesh().add_link(link).unwrap();
                assert!(!self.mesh().is_link_usable(number));
                let to = self.ground(to);
                self.agents.set_destination(self.handles[1], to);
            }
            70 => self.agents.set_link_cost(self.handles[2], "jump", Some(9.0)).unwrap(),
            90 => {
                let door = self.ground(Vec3::new(24.5, 11.5, 0.0)).polygon;
                self.mesh().set_obstructed(door, true);
            }
            110 => self.mesh().set_area_cost(MUD, 4.0),
            130 => {
                let known = self.crates.remove(0);
                assert!(self.mesh().remove_volume(known));
            }
            150 => self.agents.cancel(self.handles[4]),
            170 => assert!(self.mesh().set_targets("exits", vec![Vec3::new(5.0, 5.0, 0.0)])),
            _ => {}
        }
    }

    fn update(&mut self) {
        let mesh = self.meshes.get_mut(self.id).unwrap();
        if let Some(renumbering) = mesh.rebuild(&self.pool).unwrap() {
            self.agents.renumber(self.id, mesh, &renumbering);
        }
        mesh.update_hierarchy(&self.pool).unwrap();
        self.agents.advance(self.id, mesh, STEP, &self.pool).unwrap();
        mesh.answer_paths(&self.pool).unwrap();
    }

    fn hash(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut write = |number| numbers.push(number);
        let mesh = self.meshes.get_mut(self.id).unwrap();
        mesh.write_state(&mut write);
        for answer in mesh.path_answers() {
            write(u64::from(answer.number));
            let points = answer.points.iter().flat_map(|point| point.to_array());
            points.for_each(|number| write(u64::from(number.to_bits())));
        }
        mesh.forget_answers();
        if let Some(field) = mesh.field("exits") {
            mesh.update_field(field);
            let at = mesh.snap(Vec3::new(40.0, 5.0, 0.0)).unwrap();
            let distance = mesh.field_distance(field, at).unwrap();
            write(u64::from(distance.to_bits()));
        }
        self.agents.write_passages(self.id, &mut write);
        self.agents.write_shared(self.id, &mut write);
        self.agents.slots.iter().for_each(|(_, agent)| agent.write_state(&mut write));
        numbers
    }

    fn keep(&mut self) -> Kept {
        let roots = [self.id];
        let kept = NavigationSnapshot::take(&mut self.meshes, &self.agents, &roots).unwrap();
        (kept, self.crates.clone())
    }

    fn restore(&mut self, (kept, crates): &Kept) {
        let restored = kept.restore(&mut self.meshes, &mut self.agents, &self.pool).unwrap();
        assert_eq!(restored, [self.id]);
        self.crates.clone_from(crates);
    }

    /// Plays from an update on. Returns the state after each update.
    fn play(&mut self, from: u32, mut keep: impl FnMut(&mut Scene, u32)) -> Run {
        let mut states = Vec::new();
        for update in from..UPDATES {
            keep(self, update);
            self.act(update);
            self.update();
            states.push(self.hash());
        }
        states
    }
}

/// State after each update.
type Run = Vec<Vec<u64>>;

/// Snapshot, and the obstacles of the game at that time.
type Kept = (NavigationSnapshot, Vec<u32>);

fn assert_same(run: &Run, other: &Run, name: &str) {
    assert_eq!(run.len(), other.len(), "{name}");
    let differs = (0..run.len()).find(|at| run[*at] != other[*at]);
    let Some(at) = differs else { return };
    let number = run[at].iter().zip(&other[at]).position(|(a, b)| a != b);
    panic!("{name}: update {at} differs at number {number:?} of {}", run[at].len());
}

#[test]
fn updates_are_repeated_on_any_number_of_threads() {
    let mut runs = Vec::new();
    for threads in [1, 2, 4] {
        let (mut scene, mut kept) = (Scene::new(threads), Vec::new());
        let first = scene.play(0, |scene, update| {
            if KEPT.contains(&update) {
                kept.push((update, scene.keep()));
            }
        });
        assert_eq!(kept.len(), KEPT.len());
        for (update, state) in kept.iter().rev().chain(&kept) {
            scene.restore(state);
            let again = scene.play(*update, |_, _| ());
            let rest = first[*update as usize..].to_vec();
            assert_same(&rest, &again, &format!("{threads} threads, from {update}"));
        }
        runs.push(first);
    }
    assert_same(&runs[0], &runs[1], "2 threads");
    assert_same(&runs[0], &runs[2], "4 threads");
}

#[test]
fn tiles_in_a_build_are_swapped_in_at_the_same_update() {
    let mut scene = Scene::new(2);
    while scene.mesh().waiting_tiles() > 0 {
        scene.update();
    }
    let before = scene.mesh().num_polygons();
    scene.mesh().add_volume(prism(30.0, 8.0, 3.0), NULL_AREA).unwrap();
    scene.update();
    let kept = scene.keep();
    let changed_after = |scene: &mut Scene| {
        (1..20).find(|_| {
            scene.update();
            scene.mesh().num_polygons() != before
        })
    };
    let first = changed_after(&mut scene);
    assert_eq!(first, Some(REBUILD_UPDATES));
    for _ in 0..2 {
        scene.restore(&kept);
        assert_eq!(scene.mesh().num_polygons(), before);
        assert!(scene.mesh().waiting_tiles() > 0);
        assert_eq!(changed_after(&mut scene), first);
    }
    // Back to before the tiles are there, and the obstacle with them.
    scene.restore(&kept);
    scene.update();
    scene.restore(&kept);
    assert_eq!(changed_after(&mut scene), first);
}

#[test]
fn agents_that_were_destroyed_stay_destroyed_and_new_ones_stay() {
    let mut scene = Scene::new(1);
    (0..20).for_each(|_| scene.update());
    let kept = scene.keep();
    let before = scene.agents.slots.get(scene.handles[0]).unwrap().at.position;
    // The leader of one that follows, and one whose slot is taken again.
    for at in [8, 3] {
        scene.agents.slots.remove(scene.handles[at], "", 0, "");
    }
    let (ground, far) = (Vec3::new(40.0, 8.0, 0.0), Vec3::new(2.0, 2.0, 0.0));
    let (ground, far) = (scene.ground(ground), scene.ground(far));
    let new = scene.agents.add(scene.id, ground, AgentSettings::DEFAULT).unwrap();
    scene.agents.set_destination(new, far);
    scene.mesh().add_volume(prism(30.0, 8.0, 3.0), NULL_AREA).unwrap();
    (0..200).for_each(|_| scene.update());
    let moved = scene.agents.slots.get(new).unwrap().at.position;
    scene.restore(&kept);
    let agents = &scene.agents.slots;
    assert_eq!(agents.get(scene.handles[0]).unwrap().at.position, before);
    assert!(agents.get(scene.handles[3]).is_none() && agents.get(scene.handles[8]).is_none());
    let now = agents.get(new).unwrap().at.position;
    assert!(now.distance(moved) < 0.5, "{now} is not {moved}");
    for _ in 0..1800 {
        scene.update();
    }
    assert_eq!(scene.agents.slots.get(new).unwrap().state, AgentState::Arrived);
}

#[test]
fn ended_and_baked_meshes_are_not_restored() {
    let mut scene = Scene::new(1);
    (0..40).for_each(|_| scene.update());
    let kept = scene.keep();
    let agent = scene.handles[0];
    let position = scene.agents.slots.get(agent).unwrap().at.position;
    (0..60).for_each(|_| scene.update());
    // Baked again: the agents are back where they were, the obstacle stays.
    let number = scene.mesh().add_volume(prism(30.0, 8.0, 3.0), NULL_AREA).unwrap();
    let mut other = bake();
    other.adopt(scene.mesh());
    *scene.mesh() = other;
    let restored = kept.0.restore(&mut scene.meshes, &mut scene.agents, &scene.pool).unwrap();
    assert!(restored.is_empty());
    let now = scene.agents.slots.get(agent).unwrap().at.position;
    assert!(now.truncate().distance(position.truncate()) < 0.3, "{now} is not {position}");
    (0..60).for_each(|_| scene.update());
    assert!(scene.mesh().remove_volume(number));
    // Destroyed: its agents are lost, and stay so.
    scene.meshes.remove(scene.id, "", 0, "");
    scene.agents.lose_mesh(scene.id);
    assert!(kept.0.restore(&mut scene.meshes, &mut scene.agents, &scene.pool).unwrap().is_empty());
    assert_eq!(scene.agents.slots.get(agent).unwrap().state, AgentState::Lost);
}

#[test]
fn snapshots_share_the_ground_until_it_changes() {
    let mut scene = Scene::new(1);
    (0..20).for_each(|_| scene.update());
    let kept: Vec<_> = (0..3).map(|_| scene.keep()).collect();
    assert_eq!(scene.mesh().kept_ground.strong_count(), 3);
    // A closed polygon and the costs of an area change nothing of it.
    scene.mesh().set_obstructed(0, true);
    scene.mesh().set_area_cost(DEFAULT_AREA, 2.0);
    let closed = scene.keep();
    assert_eq!(scene.mesh().kept_ground.strong_count(), 4);
    scene.restore(&kept[0]);
    assert!(!scene.mesh().is_obstructed(0) && scene.mesh().area_cost(DEFAULT_AREA) == 1.0);
    scene.restore(&closed);
    assert!(scene.mesh().is_obstructed(0) && scene.mesh().area_cost(DEFAULT_AREA) == 2.0);
    scene.mesh().add_volume(prism(30.0, 8.0, 3.0), NULL_AREA).unwrap();
    while scene.mesh().waiting_tiles() > 0 {
        scene.update();
    }
    assert_eq!(scene.mesh().kept_ground.strong_count(), 0);
    drop((kept, closed));
}

#[test]
fn rides_on_platforms_are_repeated() {
    let part = |update: u32| (update as f32 * 0.01 - 3.0).clamp(0.0, 1.0);
    let play = |building: &mut Building, from: u32| {
        let mut states = Vec::new();
        for update in from..700 {
            building.move_lift(LOWER.lerp(UPPER, part(update)));
            building.update();
            let mut numbers = Vec::new();
            for (_, agent) in building.agents.slots.iter() {
                agent.write_state(|number| numbers.push(number));
            }
            for platform in building.agents.platforms() {
                platform.write_state(|number| numbers.push(number));
            }
            states.push(numbers);
        }
        states
    };
    let mut building = Building::new(1, None);
    let riders: Vec<Handle> =
        (0..6).map(|at| building.add(START + Vec3::Y * (at as f32 - 3.0))).collect();
    riders.iter().for_each(|agent| building.send(*agent, GALLERY));
    let roots = [building.ground];
    let mut kept =
        NavigationSnapshot::take(&mut building.meshes, &building.agents, &roots).unwrap();
    let first = play(&mut building, 0);
    let is_up = |agent: &&Handle| building.position(**agent).z > 3.0;
    assert!(riders.iter().filter(is_up).count() > 3);
    let pool = TaskPool::new(Some(1));
    assert_eq!(kept.restore(&mut building.meshes, &mut building.agents, &pool).unwrap().len(), 2);
    let again = play(&mut building, 0);
    assert_same(&first, &again, "from the beginning");
    // In the middle of a ride; then the lift ends, and the riders go on without it.
    kept.restore(&mut building.meshes, &mut building.agents, &pool).unwrap();
    for update in 0..350 {
        building.move_lift(LOWER.lerp(UPPER, part(update)));
        building.update();
    }
    kept = NavigationSnapshot::take(&mut building.meshes, &building.agents, &roots).unwrap();
    let lift = building.lift;
    for ended in building.agents.end_platform(&mut building.meshes, lift) {
        building.agents.lose_mesh(ended);
        building.meshes.remove(ended, "", 0, "");
    }
    assert_eq!(kept.restore(&mut building.meshes, &mut building.agents, &pool).unwrap(), roots);
    assert_eq!(building.meshes.get(building.ground).unwrap().num_links(), 0);
    (0..120).for_each(|_| building.update());
    // Agents of a mesh that was destroyed stay as they are: those in the shaft are lost.
    let is_lost = |agent: &Handle| building.of(*agent).state == AgentState::Lost;
    let is_aboard = |agent: &Handle| building.of(*agent).mesh == lift;
    assert!(riders.iter().all(|agent| is_aboard(agent) == is_lost(agent)));
}
