//! Tests of what levels do with their meshes: seed points and islands, and meshes that are baked
//! again.

use crate::agents::{AgentSettings, AgentState, Agents};
use crate::bake::{AreaShape, BakeSettings, BakeSource};
use crate::jumps::JumpSettings;
use crate::mesh::NavigationMesh;
use crate::tests::push_box;
use crate::volumes::Renumbering;
use engine_foundation::Vec3;
use engine_foundation::handle::{HandleKind, Slots};
use engine_foundation::tasks::TaskPool;

/// Two floors of 10 by 10 metres, 4 metres apart, and one of 4 by 4.
fn islands() -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in [(0.0, 10.0), (14.0, 24.0)] {
        let (from, to) = (Vec3::new(low, 0.0, 0.0), Vec3::new(high, 10.0, 1.0));
        push_box(&mut vertices, &mut triangles, from, to);
    }
    let (from, to) = (Vec3::new(0.0, 14.0, 0.0), Vec3::new(4.0, 18.0, 1.0));
    push_box(&mut vertices, &mut triangles, from, to);
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { region_min: 1.0, ..BakeSettings::DEFAULT };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap()
}

fn link(from: Vec3, to: Vec3) -> JumpSettings {
    let name = String::new();
    JumpSettings { name, from, to, cost: 4.0, is_two_way: false, is_manual: false }
}

const A: Vec3 = Vec3::new(5.0, 5.0, 1.0);
const B: Vec3 = Vec3::new(19.0, 5.0, 1.0);
const C: Vec3 = Vec3::new(2.0, 16.0, 1.0);

#[test]
fn ground_that_no_seed_reaches_is_left_out() {
    let (mut mesh, pool) = (islands(), TaskPool::new(Some(1)));
    let found = |mesh: &NavigationMesh| [A, B, C].map(|at| mesh.nearest(at, 0.1, 1.0).is_some());
    assert_eq!(found(&mesh), [true; 3]);
    let sizes: Vec<f32> = mesh.islands().iter().map(|island| island.area.round()).collect();
    assert_eq!((sizes.len(), sizes[0] > 70.0, sizes[2] < 10.0), (3, true, true), "{sizes:?}");
    mesh.set_seeds(vec![A]);
    assert_eq!(found(&mesh), [true, false, false]);
    assert_eq!(mesh.islands().len(), 1);
    // A one-way link leads on; the way back does not matter.
    mesh.add_link(link(A, B)).unwrap();
    mesh.rebuild(&pool).unwrap();
    assert_eq!(found(&mesh), [true, true, false]);
    // Ground behind an obstacle is left out when the obstacle is there.
    let points = vec![[4.0, -2.0], [5.0, -2.0], [5.0, 12.0], [4.0, 12.0]];
    let wall = mesh.add_volume(AreaShape::Prism { points, low: 1.0, high: 3.0 }, 0).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool).unwrap();
    }
    mesh.set_seeds(vec![Vec3::new(8.0, 5.0, 1.0)]);
    assert!(mesh.nearest(Vec3::new(2.0, 5.0, 1.0), 0.1, 1.0).is_none());
    mesh.remove_volume(wall);
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool).unwrap();
    }
    assert!(mesh.nearest(Vec3::new(2.0, 5.0, 1.0), 0.1, 1.0).is_some());
    // A seed without ground leaves out nothing.
    mesh.set_seeds(vec![Vec3::splat(1e6), Vec3::NAN]);
    assert_eq!(found(&mesh), [true; 3]);
    assert!(mesh.bytes() > 0 && mesh.num_source_triangles() == 36);
}

#[test]
fn the_ground_inside_a_volume_is_measured() {
    let mesh = islands();
    let points = vec![[4.0, 4.0], [6.0, 4.0], [6.0, 7.0], [4.0, 7.0]];
    let prism = |low, high| AreaShape::Prism { points: points.clone(), low, high };
    let inside = mesh.ground_inside(&prism(0.5, 2.0), 2);
    assert!((inside - 6.0).abs() < 0.3, "{inside}");
    let blocked = mesh.ground_inside(&prism(0.5, 2.0), 0);
    assert!(blocked > 10.0, "with the radius of the characters: {blocked}");
    assert_eq!(mesh.ground_inside(&prism(3.0, 4.0), 2), 0.0);
    let far = AreaShape::Cylinder { position: [100.0, 0.0, 0.0], radius: 5.0, height: 9.0 };
    assert_eq!(mesh.ground_inside(&far, 0), 0.0);
    let endless = AreaShape::Cylinder { position: [0.0; 3], radius: f32::MAX, height: f32::MAX };
    assert_eq!(mesh.ground_inside(&endless, 0), 0.0);
}

#[test]
fn a_mesh_that_is_baked_again_keeps_the_edits_of_the_game() {
    let (mut old, pool) = (islands(), TaskPool::new(Some(1)));
    let cylinder = |x, y| AreaShape::Cylinder { position: [x, y, 1.0], radius: 1.0, height: 2.0 };
    old.add_volume(cylinder(2.0, 2.0), 0).unwrap();
    old.reserve_file_numbers();
    let number = old.add_volume(cylinder(8.0, 8.0), 0).unwrap();
    let jump = old.add_link(link(A, B)).unwrap();
    let closed = old.add_link(link(B, A)).unwrap();
    old.set_link_closed(closed, true);
    assert_eq!(old.num_game_edits(), (1, 2));
    while old.waiting_tiles() > 0 {
        old.rebuild(&pool).unwrap();
    }
    let door = old.nearest(B, 0.1, 1.0).unwrap().polygon;
    old.set_obstructed(door, true);
    let mut agents = Agents::default();
    let mut ids = Slots::new(HandleKind::NavigationMesh, 1);
    let id = ids.add(()).unwrap();
    let agent = agents.add(id, old.nearest(A, 0.1, 1.0).unwrap(), AgentSettings::DEFAULT).unwrap();

    let mut new = islands();
    new.adopt(&old);
    while new.waiting_tiles() > 0 {
        new.rebuild(&pool).unwrap();
    }
    assert_eq!((new.num_volumes(), new.num_game_edits()), (1, (1, 2)));
    assert!(new.is_link_usable(jump) && new.remove_volume(number));
    assert!(!new.is_link_usable(closed), "as those of a platform that is out of order");
    new.set_link_closed(closed, false);
    new.rebuild(&pool).unwrap();
    assert!(new.is_link_usable(closed), "it can be opened again");
    assert!(new.nearest(Vec3::new(2.0, 2.0, 1.0), 0.1, 1.0).is_some(), "not that of the file");
    assert!(new.is_obstructed(new.nearest(B, 0.1, 1.0).unwrap().polygon));
    agents.renumber(id, &new, &Renumbering::of_other_mesh(&old));
    let known = agents.slots.get(agent).unwrap();
    assert_eq!(known.state, AgentState::Idle);
    assert_eq!(known.at.polygon, new.nearest(A, 0.1, 1.0).unwrap().polygon);
}
