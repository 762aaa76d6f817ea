//! Tests of what is new since a snapshot that is restored: passages, platforms and their links, and
//! tiles that are being built.

use super::agents::{AgentSettings, Agents};
use super::bake::{AreaShape, BakeSettings, BakeSource, NULL_AREA};
use super::jumps::{JumpSettings, LINKS_MAX};
use super::mesh::NavigationMesh;
use super::platform_tests::{Building, GALLERY, START};
use super::platforms::StopSettings;
use super::snapshot::NavigationSnapshot;
use super::tests::push_box;
use super::volumes::REBUILD_UPDATES;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

const STEP: f32 = 1.0 / 60.0;

/// A floor of 40 by 20 metres around the origin.
struct Hall {
    meshes: Slots<NavigationMesh>,
    agents: Agents,
    id: Handle,
    pool: TaskPool,
}

impl Hall {
    fn new() -> Hall {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        let (low, high) = (Vec3::new(-20.0, -10.0, -1.0), Vec3::new(20.0, 10.0, 0.0));
        push_box(&mut vertices, &mut triangles, low, high);
        let source = BakeSource::new(vertices, triangles).unwrap();
        let settings = BakeSettings { radius: 0.4, cell_size: 0.2, ..BakeSettings::DEFAULT };
        let pool = TaskPool::new(Some(2));
        let mut meshes = Slots::new(HandleKind::NavigationMesh, 8);
        let id = meshes.add(NavigationMesh::bake(source, settings, &pool).unwrap()).unwrap();
        Hall { meshes, agents: Agents::default(), id, pool }
    }

    fn mesh(&mut self) -> &mut NavigationMesh {
        self.meshes.get_mut(self.id).unwrap()
    }

    fn add_agent(&mut self, x: f32, y: f32) -> Handle {
        let at = self.mesh().nearest(Vec3::new(x, y, 0.0), 2.0, 2.0).unwrap();
        let settings = AgentSettings { radius: 0.4, speed: 2.0, ..AgentSettings::DEFAULT };
        self.agents.add(self.id, at, settings).unwrap()
    }

    fn add_box(&mut self, [x, y]: [f32; 2], [width, depth]: [f32; 2]) -> u32 {
        let (a, b) = (width * 0.5, depth * 0.5);
        let points = vec![[x - a, y - b], [x + a, y - b], [x + a, y + b], [x - a, y + b]];
        let shape = AreaShape::Prism { points, low: -1.0, high: 1.0 };
        self.mesh().add_volume(shape, NULL_AREA).unwrap()
    }

    fn update(&mut self) {
        let mesh = self.meshes.get_mut(self.id).unwrap();
        if let Some(renumbering) = mesh.rebuild(&self.pool).unwrap() {
            self.agents.renumber(self.id, mesh, &renumbering);
        }
        mesh.update_hierarchy(&self.pool).unwrap();
        self.agents.advance(self.id, mesh, STEP, &self.pool).unwrap();
    }

    fn take(&mut self) -> NavigationSnapshot {
        NavigationSnapshot::take(&mut self.meshes, &self.agents, &[self.id]).unwrap()
    }

    fn restore(&mut self, kept: &NavigationSnapshot) {
        kept.restore(&mut self.meshes, &mut self.agents, &self.pool).unwrap();
    }
}

/// Followers are at, before and behind a door of two obstacles when it ends.
fn followers_at_a_door_that_ends(is_restored: bool) {
    for updates in (40..400).step_by(12) {
        let mut hall = Hall::new();
        let kept = hall.take();
        let door = [5.3, -5.3].map(|y| hall.add_box([0.0, y], [6.0, 9.0]));
        (0..10).for_each(|_| hall.update());
        let leader = hall.add_agent(5.0, -3.0);
        let follower = hall.add_agent(-6.0, 4.0);
        hall.agents.follow(follower, leader, Vec2::new(0.0, -1.0));
        (0..updates).for_each(|_| hall.update());
        if is_restored {
            hall.restore(&kept);
        } else {
            door.iter().for_each(|number| assert!(hall.mesh().remove_volume(*number)));
        }
        (0..10).for_each(|_| hall.update());
    }
}

#[test]
fn followers_forget_a_door_that_is_removed() {
    followers_at_a_door_that_ends(false);
}

#[test]
fn followers_forget_a_door_that_the_snapshot_does_not_have() {
    followers_at_a_door_that_ends(true);
}

fn link(at: f32) -> JumpSettings {
    let (from, to) = (Vec3::new(at, 1.0, 0.0), Vec3::new(at, 19.0, 0.0));
    let (name, cost) = ("script".to_string(), 1.0);
    JumpSettings { name, from, to, cost, is_two_way: false, is_manual: false }
}

fn take(building: &mut Building) -> NavigationSnapshot {
    let roots = [building.ground];
    NavigationSnapshot::take(&mut building.meshes, &building.agents, &roots).unwrap()
}

fn restore(building: &mut Building, kept: &NavigationSnapshot) {
    let pool = TaskPool::new(Some(1));
    kept.restore(&mut building.meshes, &mut building.agents, &pool).unwrap();
}

fn end_lift(building: &mut Building) {
    let lift = building.lift;
    for ended in building.agents.end_platform(&mut building.meshes, lift) {
        building.agents.lose_mesh(ended);
        building.meshes.remove(ended, "", 0, "");
    }
}

/// Adds another lift in the place of the first one.
fn add_lift(building: &mut Building) {
    let lift = building.meshes.add(Building::bake_lift()).unwrap();
    building.lift = lift;
    building.add_lift_platform(None);
}

fn links_of(building: &Building) -> Vec<u32> {
    building.agents.platform(building.lift).unwrap().links.keys().copied().collect()
}

fn ground(building: &mut Building) -> &mut NavigationMesh {
    building.meshes.get_mut(building.ground).unwrap()
}

fn is_reached(building: &mut Building) -> bool {
    let agent = building.add(START);
    building.send(agent, GALLERY);
    building.run_lift(&[agent], |_| ())
}

#[test]
fn links_of_new_platforms_do_not_replace_those_of_snapshots() {
    let mut building = Building::new(1, None);
    end_lift(&mut building);
    let old = take(&mut building);
    let script = [2.0, 3.0].map(|at| ground(&mut building).add_link(link(at)).unwrap());
    building.play(0.5);
    let with_links = take(&mut building);
    restore(&mut building, &old);
    assert_eq!(ground(&mut building).num_links(), 0);
    add_lift(&mut building);
    let of_lift = links_of(&building);
    assert!(!of_lift.iter().any(|number| script.contains(number)), "{of_lift:?}");
    restore(&mut building, &with_links);
    assert_eq!(ground(&mut building).num_links(), 4);
    for number in script {
        let mesh = ground(&mut building);
        assert_eq!(mesh.link_of(number).unwrap().name, "script");
        assert!(mesh.remove_link(number));
    }
    building.play(0.5);
    let mesh = ground(&mut building);
    assert!(of_lift.iter().all(|number| mesh.is_link_usable(*number)));
    assert!(is_reached(&mut building));
}

#[test]
fn new_platforms_keep_their_links_after_a_restore() {
    let mut building = Building::new(1, None);
    end_lift(&mut building);
    let old = take(&mut building);
    add_lift(&mut building);
    building.play(0.5);
    let with_lift = take(&mut building);
    end_lift(&mut building);
    restore(&mut building, &old);
    add_lift(&mut building);
    building.play(0.5);
    restore(&mut building, &with_lift);
    assert_eq!(ground(&mut building).num_links(), 2);
    building.play(0.5);
    let (of_lift, mesh) = (links_of(&building), building.meshes.get(building.ground).unwrap());
    assert!(of_lift.len() == 2 && of_lift.iter().all(|number| mesh.is_link_usable(*number)));
    assert!(is_reached(&mut building));
}

#[test]
fn links_above_the_limit_after_a_restore_are_left_out() {
    let mut building = Building::new(1, None);
    end_lift(&mut building);
    while ground(&mut building).add_link(link(2.0)).is_some() {}
    let full = take(&mut building);
    (1..=LINKS_MAX as u32 + 9).for_each(|number| _ = ground(&mut building).remove_link(number));
    assert_eq!(ground(&mut building).num_links(), 0);
    add_lift(&mut building);
    restore(&mut building, &full);
    assert_eq!(ground(&mut building).num_links(), LINKS_MAX);
    assert_eq!(links_of(&building), [0; 0]);
    let settings =
        StopSettings { name: "roof".to_string(), ashore: START, aboard: Vec3::ZERO, distance: 1.5 };
    let (lift, of) = (building.lift, building.ground);
    let mesh = building.meshes.get_mut(of).unwrap();
    assert!(!building.agents.add_stop(lift, mesh, settings));
}

#[test]
fn tiles_are_not_built_before_the_update_after_a_restore() {
    let mut hall = Hall::new();
    let fields = |hall: &mut Hall| {
        let tiles = 0..hall.mesh().tile_meshes.len();
        tiles.filter(|tile| hall.mesh().volumes.field(*tile).is_some()).count()
    };
    let known = fields(&mut hall);
    let kept = [-8.0, 8.0].map(|x| {
        let before = hall.take();
        hall.add_box([x, 0.0], [3.0, 3.0]);
        hall.update();
        let kept = hall.take();
        hall.restore(&before);
        kept
    });
    let has_begun = |hall: &mut Hall| hall.mesh().volumes.batch.as_ref().unwrap().has_begun();
    for _ in 0..50 {
        for kept in &kept {
            hall.restore(kept);
            assert!(!has_begun(&mut hall));
        }
    }
    // Their open spans are known to all of them, also if one is left unfinished.
    for kept in kept.iter().chain(&kept) {
        hall.restore(kept);
        hall.update();
        assert!(has_begun(&mut hall));
        assert_eq!(fields(&mut hall), known);
    }
    let (before, last) = (hall.mesh().version, &kept[1]);
    hall.restore(last);
    for update in 1..=REBUILD_UPDATES {
        assert_eq!(hall.mesh().version, before);
        hall.update();
        assert_eq!(hall.mesh().version > before, update == REBUILD_UPDATES);
    }
    let on_ground =
        |hall: &mut Hall, x: f32| hall.mesh().nearest(Vec3::new(x, 0.0, 0.0), 0.3, 1.0).is_some();
    assert!(on_ground(&mut hall, -8.0) && !on_ground(&mut hall, 8.0));
}

#[test]
fn new_agents_keep_their_order_of_requests() {
    let mut hall = Hall::new();
    let old = hall.add_agent(0.0, 0.0);
    let kept = hall.take();
    let new = hall.add_agent(4.0, 0.0);
    let to = hall.mesh().snap(Vec3::new(10.0, 0.0, 0.0)).unwrap();
    hall.agents.set_destination(new, to);
    hall.restore(&kept);
    hall.agents.set_destination(old, to);
    let request = |agent: Handle| hall.agents.slots.get(agent).unwrap().request.unwrap();
    assert!(request(new) < request(old), "{:?} {:?}", request(new), request(old));
}
