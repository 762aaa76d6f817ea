//! Tests of links that are found by themselves, and of cover, in scenes of boxes.

use crate::bake::{BakeSettings, BakeSource};
use crate::cover::{COVER_POINTS_MAX, CoverRules};
use crate::jump_links::JumpRules;
use crate::jumps::JumpSettings;
use crate::mesh::NavigationMesh;
use crate::queries::Flood;
use crate::sight::jump_point;
use crate::tests::push_box;
use engine_foundation::Vec3;
use engine_foundation::tasks::TaskPool;

fn pool() -> TaskPool {
    TaskPool::new(Some(1))
}

/// Bakes boxes, each from a lower to an upper corner.
fn boxes(all: &[([f32; 3], [f32; 3])]) -> NavigationMesh {
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

/// Two floors with a gap of 2 metres, and a terrace that is 2 metres higher.
const GAP: [([f32; 3], [f32; 3]); 3] = [
    ([0.0, 0.0, -1.0], [10.0, 10.0, 0.0]),
    ([12.0, 0.0, -1.0], [22.0, 10.0, 0.0]),
    ([0.0, 10.0, -1.0], [10.0, 20.0, 2.0]),
];

fn found(mesh: &mut NavigationMesh, rules: JumpRules) -> Vec<JumpSettings> {
    mesh.find_jumps(&rules, &pool()).unwrap()
}

#[test]
fn gaps_are_jumped_and_ledges_left() {
    let mut mesh = boxes(&GAP);
    let rules = JumpRules { distance: 4.0, up: 0.0, down: 0.0, ..JumpRules::DEFAULT };
    let links = found(&mut mesh, rules.clone());
    assert!((2..=5).contains(&links.len()), "{links:?}");
    for link in &links {
        let (low, high) = (link.from.x.min(link.to.x), link.from.x.max(link.to.x));
        assert!(low > 9.0 && high < 13.0 && link.is_two_way, "{link:?}");
        assert!(link.from.distance(link.to) < 4.1, "{link:?}");
        assert_eq!(link.cost, link.from.distance(link.to));
    }
    // Too wide a gap.
    assert!(found(&mut mesh, JumpRules { distance: 2.0, ..rules.clone() }).is_empty());
    // Down from the terrace, but not up.
    let down = JumpRules { distance: 2.0, down: 2.5, ..rules.clone() };
    let links = found(&mut mesh, down.clone());
    assert!(!links.is_empty());
    for link in &links {
        assert!(link.from.z > 1.9 && link.to.z < 0.3 && !link.is_two_way, "{link:?}");
        assert!(link.from.y > 10.0 && link.to.y < 10.0);
    }
    let both =
        found(&mut mesh, JumpRules { up: 2.5, name: "leap".into(), cost: Some(7.0), ..down });
    assert!(both.iter().all(|link| link.is_two_way && link.cost == 7.0 && link.name == "leap"));
}

#[test]
fn links_lie_apart_and_are_found_once() {
    let mut mesh = boxes(&GAP);
    let rules = JumpRules { distance: 4.0, down: 0.0, up: 0.0, ..JumpRules::DEFAULT };
    let wide = found(&mut mesh, JumpRules { spacing: 9.0, ..rules.clone() });
    let narrow = found(&mut mesh, JumpRules { spacing: 1.0, ..rules.clone() });
    assert_eq!(wide.len(), 1);
    assert!(narrow.len() > 5 && narrow.len() < 12, "{}", narrow.len());
    for (at, link) in narrow.iter().enumerate() {
        for other in &narrow[..at] {
            assert!(link.from.distance(other.from) >= 0.99, "{link:?} {other:?}");
        }
    }
    let threads = mesh.find_jumps(&rules, &TaskPool::new(Some(4))).unwrap();
    assert_eq!(threads, found(&mut mesh, rules.clone()));
    for link in threads {
        mesh.add_found_link(link).unwrap();
    }
    mesh.rebuild(&pool()).unwrap();
    mesh.update_hierarchy(&pool()).unwrap();
    assert!(found(&mut mesh, rules).is_empty(), "those that exist are not found again");
    let near = |x: f32| mesh.nearest(Vec3::new(x, 5.0, 0.0), 1.0, 1.0).unwrap();
    assert_eq!(mesh.islands().len(), 2, "the floors are joined, and the terrace is not");
    assert!(mesh.raycast(near(2.0), near(20.0).position).wall.is_some());
}

#[test]
fn no_link_leads_through_walls_or_saves_a_short_way() {
    // A wall in the gap.
    let mut scene = GAP[..2].to_vec();
    scene.push(([10.8, 0.0, -1.0], [11.2, 10.0, 4.0]));
    let rules = JumpRules { distance: 4.0, up: 0.5, down: 0.5, ..JumpRules::DEFAULT };
    assert!(found(&mut boxes(&scene), rules.clone()).is_empty());
    // A low ceiling over it.
    let mut scene = GAP[..2].to_vec();
    scene.push(([0.0, 0.0, 2.0], [22.0, 10.0, 2.2]));
    assert!(found(&mut boxes(&scene), rules.clone()).is_empty());
    // A bridge at one end: the gap is jumped only where the way over the bridge is long.
    let mut scene = GAP[..2].to_vec();
    scene.push(([10.0, 0.0, -1.0], [12.0, 2.0, 0.0]));
    let links = found(&mut boxes(&scene), rules);
    assert!(!links.is_empty() && links.iter().all(|link| link.from.y > 4.0), "{links:?}");
}

#[test]
fn jumps_fall_as_bodies_do() {
    let (start, end) = (Vec3::new(0.0, 0.0, 4.0), Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(jump_point(start, end, 0.0), start);
    assert!(jump_point(start, end, 1.0).distance(end) < 1e-6);
    // Over the edge first, then down.
    assert!(jump_point(start, end, 0.3).z > 3.9);
    assert!(jump_point(end, start, 0.5).z > 2.5);
}

/// A floor with a high and a low wall.
fn yard() -> NavigationMesh {
    boxes(&[
        ([0.0, 0.0, -1.0], [30.0, 30.0, 0.0]),
        ([10.0, 10.0, 0.0], [20.0, 11.0, 3.0]),
        ([10.0, 5.0, 0.0], [20.0, 5.5, 1.2]),
    ])
}

#[test]
fn cover_is_behind_walls() {
    let mesh = yard();
    let rules =
        CoverRules { distance: 12.0, height: 1.7, eye_height: 1.6, spacing: 1.0, count: 32 };
    let start = mesh.nearest(Vec3::new(15.0, 7.5, 0.0), 1.0, 1.0).unwrap();
    let threat = Vec3::new(15.0, 25.0, 0.0);
    let mut flood = Flood::default();
    let points = flood.cover_points(&mesh, start, threat, &rules).unwrap();
    assert!(points.len() > 5, "{points:?}");
    let mut before = 0.0;
    for point in &points {
        let away = point.distance(start.position);
        assert!(point.y < 11.0 && point.x > 5.0 && point.x < 25.0, "{point}");
        assert!(away >= before && away <= rules.distance);
        before = away;
    }
    // Behind the low wall, one must crouch.
    let threat = Vec3::new(15.0, 1.0, 0.0);
    let standing = flood.cover_points(&mesh, start, threat, &rules).unwrap();
    assert!(standing.iter().all(|point| point.y > 11.0), "{standing:?}");
    let crouching = CoverRules { height: 0.8, ..rules };
    let crouching = flood.cover_points(&mesh, start, threat, &crouching).unwrap();
    assert!(crouching.iter().any(|point| point.y > 5.5 && point.y < 7.0), "{crouching:?}");
    let few = CoverRules { count: 3, ..rules };
    assert_eq!(flood.cover_points(&mesh, start, Vec3::Y * 25.0, &few).unwrap().len(), 3);
    let none = CoverRules { count: 0, ..rules };
    assert!(flood.cover_points(&mesh, start, threat, &none).unwrap().is_empty());
}

#[test]
fn too_many_positions_for_cover_are_an_error() {
    let mesh = yard();
    let start = mesh.nearest(Vec3::new(15.0, 7.5, 0.0), 1.0, 1.0).unwrap();
    let rules = CoverRules {
        distance: 100.0,
        height: 1.0,
        eye_height: 1.6,
        spacing: 0.001,
        count: COVER_POINTS_MAX,
    };
    let error = Flood::default().cover_points(&mesh, start, Vec3::ZERO, &rules).unwrap_err();
    assert!(error.message.contains("COVER_TRIES_MAX"), "{error}");
}
