//! Tests of paths over the hierarchy of a mesh, of its updates, and of requests for paths.

use crate::hierarchy::Hierarchy;
use crate::jumps::JumpSettings;
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::path_requests::{REQUEST_NODES, REQUESTS_MAX};
use crate::search::{PartialReason, PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use crate::test_worlds::{Oracle, pillars, rooms, world};
use crate::tests::scene;
use engine_foundation::Vec3;
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;

fn pool() -> TaskPool {
    TaskPool::new(Some(1))
}

fn any(mesh: &NavigationMesh, random: &mut Random) -> NearestPolygon {
    mesh.random_point(|| random.next_f64()).unwrap()
}

fn near(mesh: &NavigationMesh, x: f32, y: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, y, 0.4), 4.0, 2.0).unwrap_or_else(|| panic!("no ground: {x}, {y}"))
}

/// Searches for a path, and checks that it is joined, open, and has no loops.
fn path(
    searcher: &mut Searcher,
    mesh: &NavigationMesh,
    from: NearestPolygon,
    to: NearestPolygon,
) -> (PolygonPath, PointPath) {
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    searcher.search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
    path.find_corners(mesh, from, to, 10_000, &mut points);
    let mut known = PointPath::default();
    searcher.corners(mesh, &path, 10_000, &mut known);
    assert_eq!((&known.points, &known.polygons), (&points.points, &points.polygons));
    assert_eq!(path.links.len() + 1, path.polygons.len());
    for (at, link) in path.links.iter().enumerate() {
        let polygon = &mesh.polygons[path.polygons[at] as usize];
        let own = polygon.first_link..polygon.first_link + u32::from(polygon.links);
        assert!(own.contains(link));
        assert_eq!(mesh.links[*link as usize].target, path.polygons[at + 1]);
        assert!(mesh.is_open(path.polygons[at + 1]));
    }
    let mut sorted = path.polygons.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), path.polygons.len(), "a path visits polygons once");
    assert_eq!(path.polygons[0], from.polygon);
    if path.partial.is_none() {
        assert_eq!(path.polygons.last(), Some(&to.polygon));
        assert!(points.points.last().unwrap().distance(to.position) < 1e-3);
    }
    (path, points)
}

/// Fails if the straight parts of a path leave the mesh.
fn check_points(mesh: &NavigationMesh, points: &PointPath) {
    for pair in points.points.windows(2) {
        for part in 1..16 {
            let point = pair[0].lerp(pair[1], part as f32 / 16.0);
            let near = mesh.nearest(point, 0.05, 2.0);
            assert!(near.is_some(), "{point} is off the mesh: {points:?}");
        }
    }
}

#[test]
fn paths_are_hardly_longer_than_the_shortest_ones() {
    let worlds = [pillars(3, 1, 0.15), pillars(3, 2, 0.3), rooms(4, 3)];
    let (mut worst, mut sums) = (0.0f32, (0.0, 0.0));
    for mesh in &worlds {
        let (oracle, mut searcher) = (Oracle::new(mesh), Searcher::default());
        let mut random = Random::seed(4);
        for _ in 0..150 {
            let (from, to) = (any(mesh, &mut random), any(mesh, &mut random));
            let (found, points) = path(&mut searcher, mesh, from, to);
            let exact = oracle.length(from.position.truncate(), to.position.truncate());
            assert_eq!(found.partial.is_none(), exact.is_some(), "{from:?} {to:?}");
            let Some(exact) = exact else { continue };
            check_points(mesh, &points);
            let length = points.length();
            assert!(length > exact - 0.02, "{length} is shorter than possible: {exact}");
            assert!(length <= exact * 1.05 + 0.02, "{length} {exact} {from:?} {to:?}");
            worst = worst.max(length / exact.max(0.1));
            sums = (sums.0 + length, sums.1 + exact);
        }
    }
    assert!(sums.0 <= sums.1 * 1.01, "{} of all, {worst} at most", sums.0 / sums.1);
}

#[test]
fn the_hierarchy_makes_paths_hardly_longer() {
    // Without the hierarchy, every polygon around the start is visited, as a stand-in for an
    // exact search.
    for mut mesh in [pillars(20, 5, 0.2), rooms(20, 6)] {
        let mut random = Random::seed(7);
        let pairs: Vec<_> =
            (0..60).map(|_| (any(&mesh, &mut random), any(&mesh, &mut random))).collect();
        let mut searcher = Searcher::default();
        let mut lengths = |mesh: &NavigationMesh| -> Vec<Option<f32>> {
            let paths = pairs.iter().map(|(from, to)| path(&mut searcher, mesh, *from, *to));
            paths.map(|(path, points)| path.partial.is_none().then(|| points.length())).collect()
        };
        let over_portals = lengths(&mesh);
        mesh.hierarchy.outdate();
        let direct = lengths(&mesh);
        for (at, (far, near)) in over_portals.iter().zip(&direct).enumerate() {
            assert_eq!(far.is_some(), near.is_some());
            if let (Some(far), Some(near)) = (far, near) {
                assert!(*far <= near * 1.05 + 0.05, "{far} {near} {:?}", pairs[at]);
            }
        }
    }
}

/// Returns a hierarchy of a mesh that is built for the whole mesh.
fn built_again(mesh: &mut NavigationMesh) -> Hierarchy {
    let mut other = Hierarchy::like(&mesh.hierarchy);
    std::mem::swap(&mut mesh.hierarchy, &mut other);
    mesh.update_hierarchy(&pool()).unwrap();
    std::mem::swap(&mut mesh.hierarchy, &mut other);
    other
}

#[test]
fn doors_and_costs_change_the_hierarchy_as_a_new_one_has_it() {
    let mut mesh = pillars(5, 8, 0.2);
    let mut random = Random::seed(9);
    for round in 0..40 {
        for _ in 0..random.range_i64(1, 30) {
            let polygon = random.range_i64(0, mesh.num_polygons() as i64 - 1) as u32;
            mesh.set_obstructed(polygon, random.next_f64() < 0.6);
        }
        if round % 7 == 3 {
            mesh.set_area_cost(1, [1.0, 2.5, 0.5][round % 3]);
        }
        assert!(!mesh.has_hierarchy());
        mesh.update_hierarchy(&TaskPool::new(Some(1 + round % 2))).unwrap();
        assert!(mesh.has_hierarchy());
        let other = built_again(&mut mesh);
        assert!(mesh.hierarchy == other, "round {round}");
    }
}

#[test]
fn tiles_and_links_change_the_hierarchy_as_a_new_one_has_it() {
    let mut mesh = scene(16, 1);
    let mut random = Random::seed(10);
    let mut volumes = Vec::new();
    for round in 0..30 {
        if random.next_f64() < 0.6 || volumes.is_empty() {
            let position = [random.next_f64() as f32 * 40.0, random.next_f64() as f32 * 40.0, 0.0];
            let shape = crate::bake::AreaShape::Cylinder { position, radius: 1.5, height: 2.0 };
            volumes.push(mesh.add_volume(shape, (round % 3) as u8).unwrap());
        } else {
            mesh.remove_volume(volumes.swap_remove(0));
        }
        let mut end = || Vec3::new(random.next_f64() as f32, random.next_f64() as f32, 0.0) * 40.0;
        mesh.add_link(JumpSettings {
            name: String::new(),
            from: end(),
            to: end(),
            cost: 5.0,
            is_two_way: round % 2 == 0,
            is_manual: false,
        });
        while mesh.rebuild(&pool()).unwrap().is_some() {}
        mesh.update_hierarchy(&pool()).unwrap();
        let other = built_again(&mut mesh);
        assert!(mesh.hierarchy == other, "round {round}");
        let (from, to) = (any(&mesh, &mut random), any(&mesh, &mut random));
        path(&mut Searcher::default(), &mesh, from, to);
    }
}

#[test]
fn a_destination_on_an_island_is_answered_at_once() {
    // An island of 4 by 4 quads in a lake.
    let mesh = world(6, 11, |x, y, _| {
        let around = |x: usize| (20..28).contains(&x);
        let inside = |x: usize| (22..26).contains(&x);
        around(x) && around(y) && !(inside(x) && inside(y))
    });
    let (from, to) = (near(&mesh, 3.0, 3.0), near(&mesh, 43.0, 43.0));
    let mut searcher = Searcher::default();
    let (found, points) = path(&mut searcher, &mesh, from, to);
    assert_eq!(found.partial, Some(PartialReason::Unreachable));
    assert!(searcher.num_nodes() < 300, "{}", searcher.num_nodes());
    let end = points.points.last().unwrap().truncate();
    // The nearest point of the shore, of all polygons from which the island cannot be reached.
    let outside = |polygon: &u32| {
        let middle = mesh.corners(*polygon)[0];
        middle.x < 36.0 || middle.y < 36.0 || middle.x > 49.0 || middle.y > 49.0
    };
    let shore = (0..mesh.num_polygons() as u32).filter(outside);
    let best = shore.map(|polygon| mesh.constrain(polygon, to.position).distance(to.position));
    let best = best.min_by(f32::total_cmp).unwrap();
    assert!(end.distance(to.position.truncate()) < best + 0.3, "{end} {best}");
}

#[test]
fn links_in_one_direction_are_used_in_it_alone() {
    let mut mesh = world(4, 12, |x, _, _| x == 15 || x == 16);
    let link = |from: Vec3, to: Vec3| JumpSettings {
        name: String::new(),
        from,
        to,
        cost: 3.0,
        is_two_way: false,
        is_manual: false,
    };
    let ends = [near(&mesh, 24.0, 30.0).position, near(&mesh, 34.0, 30.0).position];
    mesh.add_link(link(ends[0], ends[1]));
    mesh.resolve_jumps();
    mesh.assemble().unwrap();
    mesh.update_hierarchy(&pool()).unwrap();
    let (left, right) = (near(&mesh, 4.0, 4.0), near(&mesh, 54.0, 50.0));
    let mut searcher = Searcher::default();
    let (found, points) = path(&mut searcher, &mesh, left, right);
    assert_eq!(found.partial, None);
    assert!(points.points.iter().any(|point| point.distance(ends[1]) < 0.1), "{points:?}");
    let (found, points) = path(&mut searcher, &mesh, right, left);
    assert_eq!(found.partial, Some(PartialReason::Unreachable));
    // It ends at the wall, near the destination.
    let end = points.points.last().unwrap();
    assert!(end.x < 32.5 && end.x > 26.0 && end.y < 12.0, "{end}");
}

#[test]
fn closed_polygons_can_be_left_and_not_entered() {
    let mut mesh = pillars(4, 13, 0.1);
    let (from, to) = (near(&mesh, 7.0, 7.0), near(&mesh, 50.0, 50.0));
    mesh.set_obstructed(from.polygon, true);
    mesh.update_hierarchy(&pool()).unwrap();
    let mut searcher = Searcher::default();
    let (found, _) = path(&mut searcher, &mesh, from, to);
    assert_eq!(found.partial, None);
    let (found, points) = path(&mut searcher, &mesh, to, from);
    assert_eq!(found.partial, Some(PartialReason::Unreachable));
    assert!(points.points.last().unwrap().distance(from.position) < 3.0);
    // Closed on all sides.
    let around: Vec<u32> = mesh.neighbors(from.polygon).collect();
    around.into_iter().for_each(|polygon| mesh.set_obstructed(polygon, true));
    mesh.update_hierarchy(&pool()).unwrap();
    let (found, points) = path(&mut searcher, &mesh, from, to);
    assert_eq!(found.partial, Some(PartialReason::Unreachable));
    assert_eq!((found.polygons.len(), points.points.len()), (1, 2));
}

#[test]
fn paths_lead_around_expensive_ground() {
    let mut mesh = world(5, 14, |_, _, _| false);
    // A strip across the world, except at its upper end.
    for polygon in 0..mesh.num_polygons() {
        let middle = (mesh.polygons[polygon].low + mesh.polygons[polygon].high) * 0.5;
        if (middle.x - 36.0).abs() < 4.0 && middle.y < 60.0 {
            mesh.polygons[polygon].area = 2;
        }
    }
    mesh.hierarchy.outdate();
    mesh.update_hierarchy(&pool()).unwrap();
    let (from, to) = (near(&mesh, 4.0, 40.0), near(&mesh, 68.0, 40.0));
    let mut searcher = Searcher::default();
    let top = |mesh: &NavigationMesh, searcher: &mut Searcher| {
        let (found, points) = path(searcher, mesh, from, to);
        assert_eq!(found.partial, None);
        points.points.iter().fold(0.0, |top: f32, point| top.max(point.y))
    };
    assert!(top(&mesh, &mut searcher) < 45.0);
    mesh.set_area_cost(2, 20.0);
    mesh.update_hierarchy(&pool()).unwrap();
    assert!(top(&mesh, &mut searcher) > 58.0);
    mesh.set_area_cost(2, 0.0);
    mesh.update_hierarchy(&pool()).unwrap();
    assert!(top(&mesh, &mut searcher) > 58.0);
}

#[test]
fn a_divided_search_has_the_result_of_one_at_once() {
    let mesh = rooms(10, 15);
    let mut random = Random::seed(16);
    let (mut whole, mut parts) = (Searcher::default(), Searcher::default());
    for _ in 0..40 {
        let (from, to) = (any(&mesh, &mut random), any(&mesh, &mut random));
        let (expected, _) = path(&mut whole, &mesh, from, to);
        parts.begin(&mesh, from, to, SEARCH_NODES_DEFAULT);
        let mut updates = 1;
        while !parts.advance(&mesh, 10) {
            updates += 1;
        }
        let mut found = PolygonPath::default();
        parts.finish(&mesh, &mut found);
        assert_eq!(found.polygons, expected.polygons);
        assert_eq!(parts.num_nodes(), whole.num_nodes());
        assert!(updates <= whole.num_nodes() / 10 + 1);
    }
}

#[test]
fn a_search_ends_within_its_nodes() {
    let mesh = rooms(10, 17);
    let (from, to) = (near(&mesh, 4.0, 4.0), near(&mesh, 130.0, 130.0));
    let mut searcher = Searcher::default();
    for nodes in [1, 5, 20] {
        let mut found = PolygonPath::default();
        searcher.search(&mesh, from, to, nodes, &mut found);
        assert_eq!(found.partial, Some(PartialReason::Budget), "{nodes}");
        assert!(searcher.num_nodes() <= nodes);
        assert_eq!(found.polygons[0], from.polygon);
    }
}

/// Returns the numbers, lengths and reasons of all answers, and the updates until they came.
fn answers(mesh: &mut NavigationMesh, threads: usize) -> (Vec<(u32, u32, bool)>, usize) {
    let (pool, mut answers) = (TaskPool::new(Some(threads)), Vec::new());
    let mut updates = 0;
    while mesh.num_waiting_paths() > 0 {
        mesh.answer_paths(&pool).unwrap();
        updates += 1;
        assert!(updates < 10_000, "requests are answered in the end");
        answers.extend(mesh.path_answers().map(|answer| {
            let length: f32 = answer.points.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            (answer.number, length.to_bits(), answer.partial.is_some())
        }));
        mesh.forget_answers();
    }
    answers.sort_unstable();
    (answers, updates)
}

#[test]
fn requests_are_answered_the_same_on_any_number_of_threads() {
    let mut mesh = rooms(10, 18);
    let mut random = Random::seed(19);
    let pairs: Vec<_> =
        (0..300).map(|_| (any(&mesh, &mut random), any(&mesh, &mut random))).collect();
    let mut expected = None;
    for threads in [1, 2, 4, 8] {
        mesh.requests = Default::default();
        for (from, to) in &pairs {
            mesh.request_path(*from, *to).unwrap();
        }
        let found = answers(&mut mesh, threads);
        assert_eq!(found.0.len(), pairs.len());
        assert!(found.1 > 2 && found.1 < 200, "{} updates", found.1);
        assert!(*expected.get_or_insert_with(|| found.clone()) == found, "{threads}");
    }
    // The same paths as those that are searched at once.
    let mut searcher = Searcher::default();
    for ((from, to), (_, length, _)) in pairs.iter().zip(&expected.unwrap().0) {
        assert_eq!(path(&mut searcher, &mesh, *from, *to).1.length().to_bits(), *length);
    }
}

#[test]
fn too_many_requests_are_refused_cancelled_ones_ignored() {
    let mut mesh = pillars(3, 20, 0.1);
    let (from, to) = (near(&mesh, 4.0, 4.0), near(&mesh, 38.0, 38.0));
    let numbers: Vec<u32> =
        (0..REQUESTS_MAX).map(|_| mesh.request_path(from, to).unwrap()).collect();
    assert_eq!(mesh.request_path(from, to), None);
    assert!(mesh.cancel_path(numbers[3]) && !mesh.cancel_path(numbers[3]));
    assert!(mesh.cancel_path(numbers[0]) && !mesh.cancel_path(9_999_999));
    mesh.answer_paths(&pool()).unwrap();
    let first: Vec<u32> = mesh.path_answers().map(|answer| answer.number).collect();
    assert!(!first.is_empty() && first.len() < REQUEST_NODES);
    assert!(!first.contains(&numbers[0]) && !first.contains(&numbers[3]));
    assert_eq!(mesh.num_waiting_paths(), REQUESTS_MAX - 2 - first.len());
    assert!(mesh.request_path(from, to).is_some());
}

#[test]
fn requests_are_answered_while_the_mesh_changes() {
    let mut mesh = rooms(12, 21);
    let (from, to) = (near(&mesh, 4.0, 4.0), near(&mesh, 160.0, 160.0));
    let door = near(&mesh, 90.0, 3.0).polygon;
    mesh.request_path(from, to).unwrap();
    let mut updates = 0;
    while mesh.num_waiting_paths() > 0 {
        mesh.set_obstructed(door, updates % 2 == 0);
        mesh.update_hierarchy(&pool()).unwrap();
        mesh.answer_paths(&pool()).unwrap();
        updates += 1;
        assert!(updates < 10);
    }
    assert_eq!(mesh.path_answers().len(), 1);
    mesh.forget_answers();
    assert_eq!(mesh.path_answers().len(), 0);
    // Ground that was taken away in between.
    mesh.request_path(from, to).unwrap();
    mesh.tile_meshes.iter_mut().for_each(|tile| tile.polygons.clear());
    mesh.assemble().unwrap();
    mesh.version += 1;
    mesh.update_hierarchy(&pool()).unwrap();
    mesh.answer_paths(&pool()).unwrap();
    let answer = mesh.path_answers().next().unwrap();
    assert_eq!((answer.points.len(), answer.partial), (0, Some(PartialReason::OffMesh)));
    assert_eq!(mesh.random_point(|| 0.5), None);
}

#[test]
fn meshes_of_different_sizes_can_share_a_searcher() {
    let (large, small) = (pillars(6, 22, 0.2), pillars(2, 23, 0.2));
    let (mut shared, mut random) = (Searcher::default(), Random::seed(24));
    for _ in 0..20 {
        for mesh in [&large, &small] {
            let (from, to) = (any(mesh, &mut random), any(mesh, &mut random));
            let (found, _) = path(&mut shared, mesh, from, to);
            let (expected, _) = path(&mut Searcher::default(), mesh, from, to);
            assert_eq!(found.polygons, expected.polygons);
        }
    }
}

#[test]
fn random_points_are_spread_by_area() {
    let mut mesh = pillars(4, 25, 0.3);
    let door = near(&mesh, 20.0, 20.0).polygon;
    mesh.set_obstructed(door, true);
    mesh.update_hierarchy(&pool()).unwrap();
    let mut random = Random::seed(26);
    let (mut left, mut open) = (0, [0.0; 2]);
    for _ in 0..4000 {
        let point = any(&mesh, &mut random);
        assert!(point.polygon != door);
        assert!(mesh.constrain(point.polygon, point.position).distance(point.position) < 1e-3);
        left += usize::from(point.position.x < 28.8);
    }
    for polygon in (0..mesh.num_polygons() as u32).filter(|polygon| *polygon != door) {
        let corners = mesh.corners(polygon);
        let is_left = corners.iter().all(|corner| corner.x < 28.9);
        open[usize::from(is_left)] += crate::mesh::area(corners);
    }
    let expected = 4000.0 * open[1] / (open[0] + open[1]);
    assert!((left as f32 - expected).abs() < 150.0, "{left} {expected}");
    assert!(mesh.random_point(|| 0.999_999_9).is_some() && mesh.random_point(|| 0.0).is_some());
}
