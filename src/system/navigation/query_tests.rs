//! Tests of discs, edges, floods and positions around a target.

use crate::mesh::{NavigationMesh, NearestPolygon, nearest_on_segment};
use crate::queries::{AROUND_POSITIONS_MAX, Flood};
use crate::search::{PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use crate::test_worlds::{pillars, world};
use engine_foundation::random::Random;
use engine_foundation::{Vec2, Vec3};

fn any(mesh: &NavigationMesh, random: &mut Random) -> NearestPolygon {
    mesh.random_point(|| random.next_f64()).unwrap()
}

fn walls(mesh: &NavigationMesh) -> Vec<(Vec2, Vec2)> {
    let mut walls = Vec::new();
    for polygon in (0..mesh.num_polygons() as u32).filter(|polygon| mesh.is_open(*polygon)) {
        mesh.each_wall(polygon, |a, b| walls.push((a.truncate(), b.truncate())));
    }
    walls
}

fn distance_to(walls: &[(Vec2, Vec2)], point: Vec2) -> f32 {
    let distances = walls.iter().map(|(a, b)| nearest_on_segment(*a, *b, point).distance(point));
    distances.min_by(f32::total_cmp).unwrap()
}

#[test]
fn the_nearest_wall_is_the_nearest_of_all() {
    let mut mesh = pillars(3, 1, 0.05);
    mesh.set_obstructed(40, true);
    let (walls, mut flood, mut random) = (walls(&mesh), Flood::default(), Random::seed(2));
    for _ in 0..300 {
        let start = any(&mesh, &mut random);
        let wall = flood.nearest_wall(&mesh, start, 50.0).unwrap();
        let expected = distance_to(&walls, start.position.truncate());
        // Walls behind others are not counted, and are never the nearest ones.
        assert!((wall.distance - expected).abs() < 1e-3, "{wall:?} {expected} {start:?}");
        let away = wall.position.truncate().distance(start.position.truncate());
        assert!((away - wall.distance).abs() < 1e-3 && !wall.is_cut);
        let within = flood.nearest_wall(&mesh, start, expected * 0.9);
        assert_eq!(within, None);
    }
}

#[test]
fn discs_touch_walls_and_do_not_enter_them() {
    let mesh = pillars(3, 3, 0.08);
    let (walls, mut flood, mut random) = (walls(&mesh), Flood::default(), Random::seed(4));
    let (mut hits, mut free) = (0, 0);
    for _ in 0..400 {
        let (start, to) = (any(&mesh, &mut random), any(&mesh, &mut random).position);
        let radius = 0.1 + random.next_f64() as f32;
        let from = start.position.truncate();
        if distance_to(&walls, from) < radius + 0.01 {
            continue;
        }
        let end = flood.disc_cast(&mesh, start, to, radius);
        assert!(!end.is_cut);
        let reached = end.position.truncate();
        for part in 0..=20 {
            let point = from.lerp(reached, part as f32 / 20.0);
            let apart = distance_to(&walls, point);
            assert!(apart > radius - 0.01, "{apart} {radius} at {point}, {start:?} to {to}");
        }
        match end.wall {
            Some(away) => {
                hits += 1;
                let apart = distance_to(&walls, reached);
                assert!((apart - radius).abs() < 0.01, "{apart} {radius}");
                assert!(away.dot(to.truncate() - from) < 1e-3);
            }
            None => {
                free += 1;
                assert!(reached.distance(to.truncate()) < 1e-3);
            }
        }
    }
    assert!(hits > 50 && free > 10, "{hits} {free}");
    // A disc without a radius is a ray, and one that does not move touches nothing.
    let start = any(&mesh, &mut random);
    let still = flood.disc_cast(&mesh, start, start.position, 0.0);
    assert!(still.position.distance(start.position) < 1e-3);
}

#[test]
fn a_flood_has_the_polygons_within_a_distance() {
    let mesh = pillars(3, 5, 0.2);
    let (mut flood, mut searcher) = (Flood::default(), Searcher::default());
    let mut random = Random::seed(6);
    let start = any(&mesh, &mut random);
    let mut polygons = Vec::new();
    assert!(flood.fill(&mesh, start, 15.0, &mut polygons));
    assert_eq!(polygons[0], (start.polygon, 0.0));
    assert!(polygons.is_sorted_by(|a, b| a.1 <= b.1));
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    // Costs are those of the ways to the nearest edges: they differ by the size of a polygon.
    for polygon in 0..mesh.num_polygons() as u32 {
        let position = mesh.constrain(polygon, start.position);
        let to = NearestPolygon { polygon, position };
        searcher.search(&mesh, start, to, SEARCH_NODES_DEFAULT, &mut path);
        path.find_corners(&mesh, start, to, 1000, &mut points);
        let length = points.length();
        let found = polygons.iter().find(|(known, _)| *known == polygon);
        if path.partial.is_some() {
            assert_eq!(found, None);
        } else if length < 12.0 {
            assert!(found.is_some_and(|(_, cost)| *cost <= length * 1.05 + 1.8), "{length}");
        }
        if let Some((_, cost)) = found {
            assert!(*cost <= 15.0);
        }
    }
    assert!(flood.fill(&mesh, start, 0.0, &mut polygons) && polygons.len() <= 2);
}

#[test]
fn positions_around_a_target_are_apart_and_reachable() {
    let mesh = world(3, 7, |x, y, _| x == 12 && y < 20);
    let target = mesh.nearest(Vec3::new(20.0, 10.0, 0.4), 2.0, 2.0).unwrap();
    let mut positions = Vec::new();
    for count in [0, 1, 8, 40, AROUND_POSITIONS_MAX] {
        mesh.positions_around(target, count, (2.0, 1.0), &mut positions);
        assert_eq!(positions.len(), count);
        for (at, position) in positions.iter().enumerate() {
            let away = position.position.distance(target.position);
            assert!(away > 1.99, "{away}");
            assert!(position.position.x < 22.0 || position.position.y > 34.0, "behind the wall");
            for other in &positions[..at] {
                assert!(position.position.distance(other.position) > 0.9);
            }
            assert_eq!(mesh.raycast(target, position.position).wall, None);
        }
    }
    // A target in a hole: no room for all.
    let cell = world(1, 8, |x, y, _| !(x == 4 && y == 4));
    let target = cell.random_point(|| 0.5).unwrap();
    cell.positions_around(target, 50, (0.3, 1.0), &mut positions);
    assert!(positions.len() < 20);
}

#[test]
fn walls_are_the_edges_without_neighbours() {
    let mut mesh = world(2, 9, |_, _, _| false);
    let mut length = 0.0;
    walls(&mesh).iter().for_each(|(a, b)| length += a.distance(*b));
    // The outline of two tiles by two; edges between tiles are no walls, though they are divided.
    assert!((length - 4.0 * 28.8).abs() < 0.1, "{length}");
    let inner = mesh.nearest(Vec3::new(7.0, 7.0, 0.4), 1.0, 2.0).unwrap().polygon;
    let around: f32 = (0..4).map(|edge| mesh.edge(inner, edge)).map(|(a, b)| a.distance(b)).sum();
    mesh.set_obstructed(inner, true);
    let mut with_door = 0.0;
    walls(&mesh).iter().for_each(|(a, b)| with_door += a.distance(*b));
    assert!((with_door - length - around).abs() < 0.1, "{with_door} {length} {around}");
}
