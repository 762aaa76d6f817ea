//! Tests of meshes and searches in small scenes.

use crate::bake::{BakeSettings, BakeSource};
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::search::{PartialReason, PointPath, PolygonPath, Searcher};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

pub(crate) fn push_box(
    vertices: &mut Vec<Vec3>,
    triangles: &mut Vec<[u32; 3]>,
    low: Vec3,
    high: Vec3,
) {
    let first = vertices.len() as u32;
    for i in 0..8 {
        let pick = |bit: u32, axis: usize| if i & bit == 0 { low[axis] } else { high[axis] };
        vertices.push(Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2)));
    }
    for [a, b, c, d] in
        [[4, 5, 7, 6], [0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    {
        triangles.push([first + a, first + b, first + c]);
        triangles.push([first + a, first + c, first + d]);
    }
}

/// Boxes of a scene: a floor with a wall that has a gap at its upper end, and stairs to a terrace.
const SCENE: [([f32; 3], [f32; 3]); 6] = [
    ([0.0, 0.0, -1.0], [40.0, 40.0, 0.0]),
    ([19.5, 0.0, 0.0], [20.5, 34.0, 3.0]),
    ([30.0, 30.0, 0.0], [40.0, 40.0, 2.0]),
    ([28.5, 30.0, 0.0], [30.0, 40.0, 1.5]),
    ([27.0, 30.0, 0.0], [28.5, 40.0, 1.0]),
    ([25.5, 30.0, 0.0], [27.0, 40.0, 0.5]),
];

pub(crate) fn scene(tile_cells: u32, threads: usize) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (low, high) in SCENE {
        push_box(&mut vertices, &mut triangles, low.into(), high.into());
    }
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { tile_cells, region_min: 1.0, step: 0.6, ..BakeSettings::DEFAULT };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(threads))).unwrap()
}

fn near(mesh: &NavigationMesh, x: f32, y: f32, z: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, y, z), 2.0, 1.0).unwrap_or_else(|| panic!("no ground at {x}, {y}"))
}

fn path(
    mesh: &NavigationMesh,
    from: NearestPolygon,
    to: NearestPolygon,
) -> (PolygonPath, PointPath) {
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    Searcher::default().search(mesh, from, to, 100_000, &mut path);
    let end = *path.polygons.last().unwrap();
    path.funnel(mesh, from.position, mesh.constrain(end, to.position), 1000, &mut points);
    (path, points)
}

#[test]
fn a_path_leads_around_a_wall() {
    for tile_cells in [16, 48, 512] {
        let mesh = scene(tile_cells, 1);
        let (polygons, points) =
            path(&mesh, near(&mesh, 5.0, 5.0, 0.0), near(&mesh, 35.0, 5.0, 0.0));
        assert_eq!(polygons.partial, None, "{tile_cells}");
        let length = points.length();
        // Around the end of the wall, with a margin for the radius.
        assert!((66.0..70.0).contains(&length), "{tile_cells}: {length} {:?}", points.points);
        assert!(points.points.iter().all(|point| point.is_finite()));
    }
}

#[test]
fn a_path_climbs_stairs() {
    for tile_cells in [16, 48, 512] {
        let mesh = scene(tile_cells, 1);
        let (polygons, points) =
            path(&mesh, near(&mesh, 24.0, 35.0, 0.0), near(&mesh, 35.0, 35.0, 2.0));
        assert_eq!(polygons.partial, None, "{tile_cells}");
        assert!(points.points.last().unwrap().z > 1.8, "{:?}", points.points);
    }
}

#[test]
fn an_obstructed_passage_gives_a_partial_path() {
    let mut mesh = scene(48, 1);
    let (from, to) = (near(&mesh, 5.0, 5.0, 0.0), near(&mesh, 35.0, 5.0, 0.0));
    for polygon in 0..mesh.num_polygons() as u32 {
        let corners = mesh.corners(polygon);
        let low = corners.iter().fold(f32::MAX, |low, corner| low.min(corner.x));
        let high = corners.iter().fold(f32::MIN, |high, corner| high.max(corner.x));
        if low <= 20.0 && high >= 20.0 {
            mesh.set_obstructed(polygon, true);
        }
    }
    let (polygons, _) = path(&mesh, from, to);
    assert_eq!(polygons.partial, Some(PartialReason::Unreachable));
    let mut short = PolygonPath::default();
    Searcher::default().search(&mesh, from, to, 1, &mut short);
    assert_eq!(short.partial, Some(PartialReason::Budget));
}

#[test]
fn rays_end_at_walls_and_reach_free_points() {
    for tile_cells in [16, 48, 512] {
        let mesh = scene(tile_cells, 1);
        let end = mesh.raycast(near(&mesh, 5.0, 5.0, 0.0), Vec3::new(35.0, 5.0, 0.0));
        assert!((18.0..19.2).contains(&end.position.x), "{tile_cells}: {end:?}");
        assert_eq!(end.wall.map(|wall| wall.x < -0.9), Some(true), "{end:?}");
        let end = mesh.raycast(near(&mesh, 5.0, 5.0, 0.0), Vec3::new(15.0, 35.0, 0.0));
        assert_eq!(end.wall, None, "{tile_cells}");
        assert!(end.position.truncate().distance(Vec2::new(15.0, 35.0)) < 1e-3);
        assert!(!end.is_cut, "{tile_cells}");
    }
}

#[test]
fn a_ray_through_too_many_polygons_is_cut() {
    let mesh = scene(16, 1);
    let (start, to) = (near(&mesh, 5.0, 5.0, 0.0), Vec3::new(15.0, 35.0, 0.0));
    let end = mesh.ray_within(start, to, 2);
    assert!(end.is_cut && end.wall.is_none(), "{end:?}");
    assert!(end.position.y < 20.0, "{end:?}");
}

#[test]
fn no_path_crosses_a_wall_of_the_mesh() {
    for tile_cells in [16, 20, 48] {
        let mesh = scene(tile_cells, 1);
        let mut random = Random::seed(3);
        for _ in 0..500 {
            let from = mesh.random_point(|| random.next_f64()).unwrap();
            let to = mesh.random_point(|| random.next_f64()).unwrap();
            let (polygons, points) = path(&mesh, from, to);
            if polygons.partial.is_none() {
                check_path(&mesh, &points);
            }
        }
    }
}

/// Fails if a straight way between two corners of a path is not free.
fn check_path(mesh: &NavigationMesh, path: &PointPath) {
    for (pair, polygon) in path.points.windows(2).zip(&path.polygons) {
        // Corners of the path touch walls: the ray is shortened, and moved inwards.
        let (a, b) = (pair[0].lerp(pair[1], 0.01), pair[0].lerp(pair[1], 0.99));
        let start = NearestPolygon { polygon: *polygon, position: pair[0] };
        let inside = mesh.raycast(start, a).polygon;
        let end = mesh.raycast(NearestPolygon { polygon: inside, position: a }, b);
        let missing = end.position.truncate().distance(b.truncate());
        // A way along a wall may leave the mesh by a millimetre, which ends the ray.
        let on_mesh = |part: u16| {
            let point = a.lerp(b, f32::from(part) / 64.0);
            mesh.nearest(point, 0.01, 2.0).is_some()
        };
        assert!(missing < 0.05 || (0..=64).all(on_mesh), "{missing} {path:?}");
    }
}

#[test]
fn a_ray_from_a_corner_reaches_points_in_any_direction() {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    push_box(&mut vertices, &mut triangles, Vec3::ZERO, Vec3::new(30.0, 30.0, 1.0));
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { tile_cells: 16, ..BakeSettings::DEFAULT };
    let mesh = NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap();
    let middle = Vec2::splat(15.0);
    for polygon in 0..mesh.num_polygons() as u32 {
        for &corner in mesh.corners(polygon) {
            if corner.truncate().distance(middle) > 8.0 {
                continue;
            }
            for i in 0..64 {
                let angle = i as f32 / 64.0 * std::f32::consts::TAU;
                let (sin, cos) = engine_foundation::deterministic_math::sin_cos(angle);
                let to = corner + Vec3::new(cos, sin, 0.0) * 5.0;
                let end = mesh.raycast(NearestPolygon { polygon, position: corner }, to);
                assert_eq!(end.wall, None, "{corner} {angle}");
                assert!(end.position.distance(to) < 1e-3, "{corner} {angle}");
            }
        }
    }
}

#[test]
fn meshes_are_equal_on_any_number_of_threads() {
    let text = |threads: usize| format!("{:?}", scene(16, threads));
    let one = text(1);
    for threads in [2, 4, 8] {
        assert!(text(threads) == one, "{threads}");
    }
}

#[test]
fn a_bake_that_fails_names_its_tile() {
    // 40 by 40 pillars, to the right of an empty tile.
    let mut boxes = vec![(Vec3::new(0.05, 0.05, -1.0), Vec3::new(100.0, 50.0, 0.0))];
    for at in 0..1600 {
        let low = Vec3::new(51.0 + (at % 40) as f32 * 1.2, 1.0 + (at / 40) as f32 * 1.2, 0.0);
        boxes.push((low, low + Vec3::new(0.6, 0.6, 3.0)));
    }
    let bake = |boxes: &[(Vec3, Vec3)], tile_cells: u32| {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for (low, high) in boxes {
            push_box(&mut vertices, &mut triangles, *low, *high);
        }
        let source = BakeSource::new(vertices, triangles).unwrap();
        let sizes = BakeSettings { cell_size: 0.1, cell_height: 0.1, ..BakeSettings::DEFAULT };
        let settings = BakeSettings { radius: 0.0, tile_cells, ..sizes };
        NavigationMesh::bake(source, settings, &TaskPool::new(Some(2)))
    };
    let error = bake(&boxes, 500).unwrap_err().message;
    assert!(error.starts_with("baking failed in the tile from (50.0, 0.1) on: "), "{error}");
    assert!(error.contains("(CORNERS_MAX)"), "{error}");
    // With smaller tiles, and without most of the pillars, the mesh is baked.
    assert!(bake(&boxes, 100).is_ok() && bake(&boxes[..200], 500).is_ok());
}

#[test]
fn positions_off_the_mesh_find_no_polygon() {
    let mesh = scene(48, 1);
    assert_eq!(mesh.nearest(Vec3::new(f32::NAN, 0.0, 0.0), 2.0, 2.0), None);
    assert_eq!(mesh.nearest(Vec3::new(-900.0, 0.0, 0.0), 2.0, 2.0), None);
    assert_eq!(mesh.nearest(Vec3::new(5.0, 5.0, 90.0), 2.0, 2.0), None);
    assert_eq!(mesh.nearest(Vec3::new(1e30, -1e30, 0.0), 2.0, 2.0), None);
}

#[test]
fn straight_paths_have_no_corners_between_their_ends() {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    push_box(&mut vertices, &mut triangles, Vec3::ZERO, Vec3::new(20.0, 20.0, 1.0));
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { tile_cells: 16, ..BakeSettings::DEFAULT };
    let mesh = NavigationMesh::bake(source, settings, &TaskPool::new(Some(1))).unwrap();
    // Through corners of tiles, along their edges, and across.
    for (from, to) in
        [((3.0, 3.0), (17.0, 17.0)), ((4.8, 2.0), (4.8, 18.0)), ((2.0, 5.0), (18.0, 9.0))]
    {
        let (polygons, points) =
            path(&mesh, near(&mesh, from.0, from.1, 1.0), near(&mesh, to.0, to.1, 1.0));
        assert_eq!(polygons.partial, None);
        assert_eq!(points.points.len(), 2, "{points:?}");
    }
}
