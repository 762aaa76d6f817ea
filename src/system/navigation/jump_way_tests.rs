//! Tests of what is in the way of links that are found, of the work of the search for them, and of
//! cover behind thin things.

use crate::bake::{AreaShape, BakeSettings, BakeSource};
use crate::cover::CoverRules;
use crate::jump_links::{JUMP_WORK_MAX, JumpRules};
use crate::jumps::JumpSettings;
use crate::mesh::NavigationMesh;
use crate::queries::Flood;
use crate::tests::push_box;
use engine_foundation::Vec3;
use engine_foundation::tasks::TaskPool;

type Corners = ([f32; 3], [f32; 3]);

fn pool() -> TaskPool {
    TaskPool::new(Some(1))
}

/// Bakes boxes, each from a lower to an upper corner.
fn boxes(all: &[Corners]) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in all {
        push_box(&mut vertices, &mut triangles, (*low).into(), (*high).into());
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings {
        radius: 0.4,
        step: 0.4,
        height: 1.8,
        region_min: 1.0,
        ..BakeSettings::DEFAULT
    };
    NavigationMesh::bake(source, settings, &pool()).unwrap()
}

/// Two floors with a gap of 2 metres.
const GAP: [Corners; 2] =
    [([0.0, 0.0, -1.0], [10.0, 10.0, 0.0]), ([12.0, 0.0, -1.0], [22.0, 10.0, 0.0])];

fn hop() -> JumpRules {
    JumpRules { distance: 4.0, up: 0.0, down: 0.0, ..JumpRules::DEFAULT }
}

fn prism(from: [f32; 3], to: [f32; 3]) -> AreaShape {
    let points = vec![[from[0], from[1]], [to[0], from[1]], [to[0], to[1]], [from[0], to[1]]];
    AreaShape::Prism { points, low: from[2], high: to[2] }
}

/// Adds an obstacle, and returns the links that are found then.
fn with_obstacle(mut mesh: NavigationMesh, shape: AreaShape) -> Vec<JumpSettings> {
    mesh.add_volume(shape, 0).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool()).unwrap();
    }
    mesh.update_hierarchy(&pool()).unwrap();
    mesh.find_jumps(&hop(), &pool()).unwrap()
}

#[test]
fn no_link_leads_through_a_fence_of_blockers() {
    let floor = || boxes(&[([0.0, 0.0, -1.0], [20.0, 20.0, 0.0])]);
    let fence = with_obstacle(floor(), prism([9.9, -1.0, 0.0], [10.1, 21.0, 5.0]));
    assert!(fence.is_empty(), "{fence:?}");
    let crate_ = with_obstacle(floor(), prism([9.5, -1.0, 0.0], [10.0, 21.0, 0.5]));
    assert!(crate_.is_empty(), "{crate_:?}");
    // In the middle of a gap, and high above the heads of those who jump.
    let in_gap = with_obstacle(boxes(&GAP), prism([10.9, -1.0, -1.0], [11.1, 11.0, 4.0]));
    assert!(in_gap.is_empty(), "{in_gap:?}");
    let above = with_obstacle(boxes(&GAP), prism([10.9, -1.0, 4.0], [11.1, 11.0, 5.0]));
    assert!(!above.is_empty());
    let half = with_obstacle(boxes(&GAP), prism([10.9, -1.0, -1.0], [11.1, 5.0, 4.0]));
    assert!(!half.is_empty() && half.iter().all(|link| link.from.y > 5.0), "{half:?}");
}

#[test]
fn no_link_leads_through_an_obstacle_in_a_doorway() {
    let room = boxes(&[
        ([0.0, 0.0, -1.0], [20.0, 20.0, 0.0]),
        ([9.8, 0.0, 0.0], [10.2, 8.0, 4.0]),
        ([9.8, 12.0, 0.0], [10.2, 20.0, 4.0]),
    ]);
    let links = with_obstacle(room, prism([9.8, 8.0, 0.0], [10.2, 12.0, 3.0]));
    assert!(links.is_empty(), "{links:?}");
}

#[test]
fn no_link_leads_over_closed_ground() {
    // A strip that is a polygon of its own, as that of a door.
    let mut mesh = boxes(&[([0.0, 0.0, -1.0], [20.0, 20.0, 0.0])]);
    mesh.add_volume(prism([9.0, -1.0, -0.5], [11.0, 21.0, 1.0]), 5).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool()).unwrap();
    }
    let all = 0..mesh.num_polygons() as u32;
    let door: Vec<u32> = all.filter(|polygon| mesh.area(*polygon) == 5).collect();
    assert!(!door.is_empty());
    door.iter().for_each(|polygon| mesh.set_obstructed(*polygon, true));
    mesh.update_hierarchy(&pool()).unwrap();
    assert_eq!(mesh.find_jumps(&hop(), &pool()).unwrap(), []);
    door.iter().for_each(|polygon| mesh.set_obstructed(*polygon, false));
    mesh.set_area_cost(5, 0.0);
    mesh.update_hierarchy(&pool()).unwrap();
    assert_eq!(mesh.find_jumps(&hop(), &pool()).unwrap(), []);
}

#[test]
fn no_link_leads_through_a_bar() {
    assert!(!boxes(&GAP).find_jumps(&hop(), &pool()).unwrap().is_empty());
    for z in [1.3, 1.5, 1.8, 2.3] {
        let bar = ([10.9, -1.0, z], [11.1, 11.0, z + 0.15]);
        let links = boxes(&[GAP[0], GAP[1], bar]).find_jumps(&hop(), &pool()).unwrap();
        assert!(links.is_empty(), "at {z}: {links:?}");
    }
    let high = ([10.9, -1.0, 2.8], [11.1, 11.0, 2.95]);
    assert!(!boxes(&[GAP[0], GAP[1], high]).find_jumps(&hop(), &pool()).unwrap().is_empty());
}

#[test]
fn the_work_of_all_rules_of_a_mesh_is_limited() {
    let mut mesh = boxes(&GAP);
    let rules = JumpRules { name: "hop".into(), ..hop() };
    let links = mesh.find_jumps(&rules, &pool()).unwrap();
    let work = mesh.jumps.work;
    assert!(work > 1000 && work < JUMP_WORK_MAX / 10, "{work}");
    assert_eq!(mesh.find_jumps(&rules, &TaskPool::new(Some(4))).unwrap(), links);
    assert_eq!(mesh.jumps.work, work * 2, "on any number of threads");
    mesh.jumps.work = JUMP_WORK_MAX;
    let error = mesh.find_jumps(&rules, &pool()).unwrap_err().message;
    assert!(error.contains("links 'hop' has too much"), "{error}");
    assert!(error.contains("536870912") && error.contains("(JUMP_WORK_MAX)"), "{error}");
    mesh.renew_jump_work();
    assert_eq!(mesh.find_jumps(&rules, &pool()).unwrap(), links);
}

#[test]
fn links_end_on_open_ground_near_closed_ground() {
    let mut mesh = boxes(&GAP);
    // A strip is closed.
    mesh.add_volume(prism([14.0, -1.0, -0.5], [16.0, 11.0, 1.0]), 5).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool()).unwrap();
    }
    let all = 0..mesh.num_polygons() as u32;
    let closed: Vec<u32> = all.filter(|polygon| mesh.area(*polygon) == 5).collect();
    assert!(!closed.is_empty());
    closed.iter().for_each(|polygon| mesh.set_obstructed(*polygon, true));
    let link = JumpSettings {
        name: "hop".to_string(),
        from: Vec3::new(9.0, 5.0, 0.0),
        to: Vec3::new(14.2, 5.0, 0.0),
        cost: 4.0,
        is_two_way: true,
        is_manual: false,
    };
    let number = mesh.add_link(link).unwrap();
    let is_open = |mesh: &NavigationMesh| {
        let ways = mesh.jumps.ways.usable.iter().filter(|way| way.number == number);
        ways.clone().count() == 2
            && ways.clone().all(|way| mesh.is_open(way.polygon) && mesh.is_open(way.target))
    };
    mesh.rebuild(&pool()).unwrap();
    assert!(is_open(&mesh));
    // Also after the tiles were built again.
    mesh.add_volume(prism([4.0, 4.0, 0.0], [5.0, 5.0, 2.0]), 0).unwrap();
    mesh.add_volume(prism([18.0, 4.0, 0.0], [19.0, 5.0, 2.0]), 0).unwrap();
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(&pool()).unwrap();
    }
    assert!(is_open(&mesh));
}

#[test]
fn the_state_has_the_names_of_links() {
    let numbers = |name: &str| {
        let mut mesh = boxes(&GAP);
        let (from, to) = (Vec3::ZERO, Vec3::ONE);
        let name = name.to_string();
        let (is_two_way, is_manual) = (true, false);
        mesh.add_link(JumpSettings { name, from, to, cost: 1.0, is_two_way, is_manual });
        let mut all = Vec::new();
        mesh.write_state(&mut |number| all.push(number));
        all
    };
    assert_eq!(numbers("ladder of the yard"), numbers("ladder of the yard"));
    for other in ["ladder of the yarn", "ladder of the yar", "", "Ladder of the yard"] {
        assert_ne!(numbers("ladder of the yard"), numbers(other));
    }
}

#[test]
fn a_thin_post_is_no_cover() {
    let hidden_behind = |width: f32| {
        let mesh = boxes(&[
            ([0.0, 0.0, -1.0], [20.0, 20.0, 0.0]),
            ([10.0 - width * 0.5, 9.0, 0.0], [10.0 + width * 0.5, 9.2, 3.0]),
        ]);
        let start = mesh.nearest(Vec3::new(10.0, 7.0, 0.0), 1.0, 1.0).unwrap();
        let rules = CoverRules { distance: 6.0, spacing: 0.1, ..CoverRules::DEFAULT };
        let threat = Vec3::new(10.0, 18.0, 0.0);
        Flood::default().cover_points(&mesh, start, threat, &rules).unwrap().len()
    };
    assert_eq!(hidden_behind(0.05), 0);
    assert_eq!(hidden_behind(0.5), 0);
    assert!(hidden_behind(2.0) > 0);
}

#[test]
fn dense_ground_in_a_gap_does_not_hinder_links() {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in GAP {
        push_box(&mut vertices, &mut triangles, low.into(), high.into());
    }
    // 80,000 triangles, 2 metres below.
    let first = vertices.len() as u32;
    for at in 0..201 * 201 {
        let (x, y) = ((at % 201) as f32, (at / 201) as f32);
        vertices.push(Vec3::new(10.0 + x * 0.01, y * 0.05, -2.0));
    }
    for at in (0..201 * 200).filter(|at| at % 201 < 200).map(|at| first + at) {
        triangles.extend([[at, at + 1, at + 202], [at, at + 202, at + 201]]);
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { radius: 0.4, step: 0.4, ..BakeSettings::DEFAULT };
    let mut mesh = NavigationMesh::bake(source, settings, &pool()).unwrap();
    assert!(!mesh.find_jumps(&hop(), &pool()).unwrap().is_empty());
}
