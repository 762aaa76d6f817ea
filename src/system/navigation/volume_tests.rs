//! Tests of volumes: obstacles and areas, the tiles that are built again, and agents on them.

use crate::agents::{AgentSettings, AgentState, Agents};
use crate::bake::{AreaShape, BakeSettings, BakeSource};
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::outline::LineKind;
use crate::search::{PointPath, PolygonPath, Searcher};
use crate::tests::{push_box, scene};
use engine_foundation::handle::{HandleKind, Slots};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Vec2, Vec3};

fn floor(threads: usize) -> NavigationMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    push_box(&mut vertices, &mut triangles, Vec3::ZERO, Vec3::new(30.0, 30.0, 1.0));
    let source = BakeSource::new(vertices, triangles).unwrap();
    let settings = BakeSettings { tile_cells: 24, region_min: 1.0, ..BakeSettings::DEFAULT };
    NavigationMesh::bake(source, settings, &TaskPool::new(Some(threads))).unwrap()
}

fn rebuild(mesh: &mut NavigationMesh, pool: &TaskPool) {
    while mesh.waiting_tiles() > 0 {
        mesh.rebuild(pool).unwrap();
    }
}

fn cylinder(x: f32, y: f32, radius: f32) -> AreaShape {
    AreaShape::Cylinder { position: [x, y, 1.0], radius, height: 2.0 }
}

fn wall(from: [f32; 2], to: [f32; 2]) -> AreaShape {
    let points = vec![from, [to[0], from[1]], to, [from[0], to[1]]];
    AreaShape::Prism { points, low: 1.0, high: 3.0 }
}

fn near(mesh: &NavigationMesh, x: f32, y: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, y, 1.0), 2.0, 2.0).unwrap_or_else(|| panic!("no ground at {x}, {y}"))
}

fn polygons(mesh: &NavigationMesh) -> Vec<Vec<Vec3>> {
    (0..mesh.num_polygons() as u32).map(|polygon| mesh.corners(polygon).to_vec()).collect()
}

fn length(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> Option<f32> {
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    Searcher::default().search(mesh, from, to, 100_000, &mut path);
    path.funnel(mesh, from.position, to.position, 1000, &mut points);
    path.partial.is_none().then(|| points.length())
}

#[test]
fn an_obstacle_closes_a_way_and_opens_it_when_removed() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    let before = polygons(&mesh);
    let (from, to) = ((5.0, 15.0), (25.0, 15.0));
    let straight = length(&mesh, near(&mesh, from.0, from.1), near(&mesh, to.0, to.1)).unwrap();
    assert!((straight - 20.0).abs() < 0.1, "{straight}");
    let number = mesh.add_volume(wall([14.0, -5.0], [16.0, 20.0]), 0).unwrap();
    rebuild(&mut mesh, &pool);
    let around = length(&mesh, near(&mesh, from.0, from.1), near(&mesh, to.0, to.1)).unwrap();
    assert!(around > 22.0 && around < 26.0, "{around}");
    // Characters keep their radius away from it.
    let nearest = mesh.nearest(Vec3::new(14.0, 10.0, 1.0), 3.0, 2.0).unwrap();
    assert!(nearest.position.x <= 13.41, "{nearest:?}");
    let second = mesh.add_volume(wall([14.0, 18.0], [16.0, 40.0]), 0).unwrap();
    rebuild(&mut mesh, &pool);
    assert_eq!(length(&mesh, near(&mesh, from.0, from.1), near(&mesh, to.0, to.1)), None);
    assert!(mesh.remove_volume(number) && mesh.remove_volume(second));
    assert!(!mesh.remove_volume(number));
    rebuild(&mut mesh, &pool);
    assert!(polygons(&mesh) == before);
}

#[test]
fn random_changes_give_the_same_mesh_on_any_number_of_threads() {
    let run = |threads: usize| {
        let (mut mesh, pool) = (floor(threads), TaskPool::new(Some(threads)));
        let (mut random, mut numbers) = (Random::seed(7), Vec::new());
        let mut shapes = std::collections::BTreeMap::new();
        for _ in 0..40 {
            let mut any = |most: f64| (random.next_f64() * most) as f32;
            let shape = cylinder(any(30.0), any(30.0), any(2.0));
            let area = any(3.0) as u8;
            let number = mesh.add_volume(shape.clone(), area).unwrap();
            numbers.push(number);
            shapes.insert(number, (shape, area));
            if any(1.0) < 0.4 {
                let at = any(numbers.len() as f64) as usize;
                let number = numbers.swap_remove(at);
                assert!(mesh.remove_volume(number));
                shapes.remove(&number);
            }
            mesh.rebuild(&pool).unwrap();
        }
        rebuild(&mut mesh, &pool);
        (polygons(&mesh), shapes)
    };
    let one = run(1);
    for threads in [2, 4, 8] {
        assert!(run(threads).0 == one.0, "{threads}");
    }
    // They are those of a mesh that never had anything else, baked as a whole.
    let (mut whole, pool) = (floor(1), TaskPool::new(Some(1)));
    assert!(one.1.len() > 20, "{} volumes are left", one.1.len());
    for (shape, area) in one.1.into_values() {
        whole.add_volume(shape, area).unwrap();
    }
    (0..whole.tile_meshes.len()).for_each(|tile| {
        whole.volumes.waiting.insert(tile);
    });
    rebuild(&mut whole, &pool);
    assert!(polygons(&whole) == one.0);
    // The order of the changes, and how many were made at once, does not matter either.
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    let first = mesh.add_volume(cylinder(8.0, 8.0, 1.0), 0).unwrap();
    mesh.rebuild(&pool).unwrap();
    mesh.add_volume(cylinder(20.0, 9.0, 1.5), 0).unwrap();
    mesh.remove_volume(first);
    rebuild(&mut mesh, &pool);
    let mut other = floor(1);
    other.add_volume(cylinder(20.0, 9.0, 1.5), 0).unwrap();
    rebuild(&mut other, &pool);
    assert!(polygons(&mesh) == polygons(&other));
}

#[test]
fn the_first_obstacle_is_carved_from_open_ground_of_the_bake() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    // The triangles are replaced by one that is far away: new cells would have no ground.
    let triangles = vec![[0, 1, 2]];
    let far = [Vec3::new(0.0, 0.0, -9.0), Vec3::new(1.0, 0.0, -9.0), Vec3::new(0.0, 1.0, -9.0)];
    let mut nothing = BakeSource::new(far.to_vec(), triangles).unwrap();
    nothing.sort(&mesh.layout).unwrap();
    let kept = std::mem::replace(&mut mesh.source, std::sync::Arc::new(nothing));
    (0..mesh.tile_meshes.len()).for_each(|tile| {
        mesh.volumes.waiting.insert(tile);
    });
    mesh.add_volume(cylinder(15.0, 15.0, 1.5), 0).unwrap();
    rebuild(&mut mesh, &pool);
    mesh.source = kept;
    let mut other = floor(1);
    (0..other.tile_meshes.len()).for_each(|tile| assert!(other.volumes.forget_field(tile)));
    other.add_volume(cylinder(15.0, 15.0, 1.5), 0).unwrap();
    rebuild(&mut other, &pool);
    assert!(polygons(&mesh) == polygons(&other));
    assert!(mesh.nearest(Vec3::new(15.0, 15.0, 1.0), 1.0, 1.0).is_none());
}

#[test]
fn paths_avoid_expensive_areas() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    mesh.add_volume(wall([12.0, 6.0], [18.0, 24.0]), 5).unwrap();
    rebuild(&mut mesh, &pool);
    assert!((0..mesh.num_polygons() as u32).any(|polygon| mesh.area(polygon) == 5));
    let way = |mesh: &NavigationMesh| length(mesh, near(mesh, 5.0, 15.0), near(mesh, 25.0, 15.0));
    let straight = way(&mesh).unwrap();
    assert!(straight < 20.5, "{straight}");
    mesh.set_area_cost(5, 8.0);
    let around = way(&mesh).unwrap();
    assert!(around > 22.0, "{around}");
    mesh.set_area_cost(5, 0.0);
    assert!(way(&mesh).unwrap() > 22.0);
    assert_eq!(mesh.area_cost(5), 0.0);
}

#[test]
fn closed_polygons_stay_closed_when_tiles_are_built_again() {
    let (mut mesh, pool) = (scene(48, 1), TaskPool::new(Some(1)));
    let at = |mesh: &NavigationMesh, x: f32, y: f32| {
        mesh.nearest(Vec3::new(x, y, 0.0), 1.0, 1.0).unwrap().polygon
    };
    let (far, changed) = (at(&mesh, 38.0, 5.0), at(&mesh, 5.0, 5.0));
    mesh.set_obstructed(far, true);
    mesh.set_obstructed(changed, true);
    mesh.add_volume(AreaShape::Cylinder { position: [9.0, 9.0, 0.0], radius: 0.5, height: 1.0 }, 0);
    rebuild(&mut mesh, &pool);
    assert!(mesh.is_obstructed(at(&mesh, 38.0, 5.0)));
    assert!(mesh.is_obstructed(at(&mesh, 5.0, 5.0)));
    assert!(!mesh.is_obstructed(at(&mesh, 24.0, 35.0)));
}

fn polygons_of(mesh: &NavigationMesh, area: u8) -> Vec<u32> {
    (0..mesh.num_polygons() as u32).filter(|polygon| mesh.area(*polygon) == area).collect()
}

#[test]
fn thin_areas_stay_and_stay_closed_when_tiles_change() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    mesh.add_volume(wall([9.0, 10.75], [11.0, 11.25]), 5).unwrap();
    rebuild(&mut mesh, &pool);
    let strip = polygons_of(&mesh, 5);
    assert!(!strip.is_empty());
    strip.into_iter().for_each(|polygon| mesh.set_obstructed(polygon, true));
    for at in [8.0, 13.5] {
        mesh.add_volume(cylinder(at, at, 0.3), 0).unwrap();
        rebuild(&mut mesh, &pool);
        let strip = polygons_of(&mesh, 5);
        assert!(!strip.is_empty(), "{at}");
        assert!(strip.iter().all(|polygon| mesh.is_obstructed(*polygon)), "{at}");
    }
}

#[test]
fn areas_narrower_than_a_cell_are_widened() {
    // As narrow as a line, or a point, and between the middles of cells.
    let shapes = [
        wall([9.0, 11.0], [13.0, 11.0]),
        wall([9.0, 11.0], [13.0, 11.01]),
        wall([11.0, 11.0], [11.0, 11.0]),
        cylinder(11.0, 11.0, 0.01),
    ];
    for shape in shapes {
        for offset in 0..10u8 {
            let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
            let by = f32::from(offset) * 0.03;
            let moved = match shape.clone() {
                AreaShape::Cylinder { position: [x, y, z], radius, height } => {
                    AreaShape::Cylinder { position: [x, y + by, z], radius, height }
                }
                AreaShape::Prism { points, low, high } => {
                    let points = points.into_iter().map(|[x, y]| [x, y + by]).collect();
                    AreaShape::Prism { points, low, high }
                }
            };
            mesh.add_volume(moved.clone(), 5).unwrap();
            rebuild(&mut mesh, &pool);
            assert!(!polygons_of(&mesh, 5).is_empty(), "{moved:?}");
        }
    }
}

#[test]
fn agents_walk_around_an_obstacle_that_appears_on_their_way() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
    let mut agents = Agents::default();
    let start = near(&mesh, 4.0, 15.0);
    let agent = agents.add(id, start, AgentSettings::DEFAULT).unwrap();
    agents.set_destination(agent, near(&mesh, 26.0, 15.0));
    for frame in 0..900 {
        if frame == 60 {
            mesh.add_volume(cylinder(15.0, 15.2, 3.0), 0).unwrap();
        }
        if let Some(renumbering) = mesh.rebuild(&pool).unwrap() {
            agents.renumber(id, &mesh, &renumbering);
        }
        agents.update(id, &mesh, 1.0 / 60.0, &pool).unwrap();
        let at = agents.slots.get(agent).unwrap().at.position.truncate();
        assert!(frame < 70 || at.distance(Vec2::new(15.0, 15.2)) > 3.3, "{frame} {at}");
    }
    assert_eq!(agents.slots.get(agent).unwrap().state, AgentState::Arrived);
}

#[test]
fn agents_below_an_obstacle_are_put_next_to_it_or_lost() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
    let mut agents = Agents::default();
    let agent = agents.add(id, near(&mesh, 15.0, 15.0), AgentSettings::DEFAULT).unwrap();
    let mut cover = |mesh: &mut NavigationMesh, radius: f32| {
        mesh.add_volume(cylinder(15.0, 15.0, radius), 0).unwrap();
        while mesh.waiting_tiles() > 0 {
            if let Some(renumbering) = mesh.rebuild(&pool).unwrap() {
                agents.renumber(id, mesh, &renumbering);
            }
        }
        agents.update(id, mesh, 0.1, &pool).unwrap();
        agents.slots.get(agent).unwrap().clone()
    };
    let aside = cover(&mut mesh, 2.0);
    assert_eq!(aside.state, AgentState::Idle);
    assert!(aside.at.position.truncate().distance(Vec2::splat(15.0)) > 2.3);
    let lost = cover(&mut mesh, 1000.0);
    assert_eq!((lost.state, mesh.num_polygons()), (AgentState::Lost, 0));
}

#[test]
fn outlines_show_walls_areas_closed_polygons_and_agents() {
    let (mut mesh, pool) = (floor(1), TaskPool::new(Some(1)));
    mesh.add_volume(wall([12.0, 6.0], [18.0, 24.0]), 5).unwrap();
    rebuild(&mut mesh, &pool);
    let polygon = near(&mesh, 3.0, 3.0).polygon;
    mesh.set_obstructed(polygon, true);
    let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
    let mut agents = Agents::default();
    let agent = agents.add(id, near(&mesh, 25.0, 15.0), AgentSettings::DEFAULT).unwrap();
    agents.set_destination(agent, near(&mesh, 25.0, 25.0));
    (0..30).for_each(|_| agents.update(id, &mesh, 1.0 / 60.0, &pool).unwrap());
    let (mut kinds, mut walls) = (Vec::new(), 0.0);
    let mut each = |from: Vec3, to: Vec3, kind| {
        kinds.push(kind);
        walls += if kind == LineKind::Wall { from.distance(to) } else { 0.0 };
    };
    mesh.outline(&mut each);
    agents.outline(id, &mesh, &mut each);
    let closed = mesh.corners(polygon).len();
    assert_eq!(kinds.iter().filter(|kind| **kind == LineKind::Closed).count(), closed);
    // The outline of the floor, without the edges of the closed polygon.
    assert!(walls > 80.0 && walls < 4.0 * 28.9, "{walls}");
    for kind in [LineKind::Edge(1), LineKind::Edge(5), LineKind::Path, LineKind::Velocity] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    assert_eq!(agents.count(id), 1);
}
