//! Tests of flow fields of meshes, and of destinations that agents share.

use crate::agents::{AgentSettings, AgentState, Agents};
use crate::bake::DEFAULT_AREA;
use crate::grid::FLOW_FIELDS_MAX;
use crate::jumps::JumpSettings;
use crate::mesh::{NavigationMesh, NearestPolygon};
use crate::outline::LineKind;
use crate::search::{PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use crate::shared_targets::SHARED_TARGETS_MAX;
use crate::test_worlds::{Oracle, pillars, rooms, world};
use engine_foundation::Vec3;
use engine_foundation::handle::{Handle, HandleKind, Slots};
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;

fn any(mesh: &NavigationMesh, random: &mut Random) -> NearestPolygon {
    mesh.random_point(|| random.next_f64()).unwrap()
}

fn near(mesh: &NavigationMesh, x: f32, y: f32) -> NearestPolygon {
    mesh.nearest(Vec3::new(x, y, 0.4), 4.0, 2.0).unwrap()
}

/// Returns the length of the path that a search finds.
fn length(mesh: &NavigationMesh, from: NearestPolygon, to: NearestPolygon) -> Option<f32> {
    let (mut path, mut points) = (PolygonPath::default(), PointPath::default());
    Searcher::default().search(mesh, from, to, SEARCH_NODES_DEFAULT, &mut path);
    path.find_corners(mesh, from, to, 1000, &mut points);
    path.partial.is_none().then(|| points.length())
}

/// Follows a field to its end, and returns it with the length of the way. The cost of the rest
/// falls on the way.
fn walk(mesh: &NavigationMesh, field: usize, from: NearestPolygon) -> (NearestPolygon, f32) {
    let (mut at, mut walked) = (from, 0.0);
    for _ in 0..2000 {
        let next = mesh.field_corner(field, at).unwrap();
        let part = next.distance(at.position);
        if part < 0.01 {
            return (at, walked);
        }
        let before = mesh.field_distance(field, at).unwrap();
        // In steps of a metre, as a character does.
        let step = at.position.lerp(next, (1.0 / part).min(1.0));
        walked += step.distance(at.position);
        at = mesh.nearest(step, 0.1, 2.0).unwrap();
        let left = mesh.field_distance(field, at).unwrap();
        assert!(left < before + 0.01, "{before} {left} at {}", at.position);
    }
    panic!("the way from {} has no end", from.position);
}

#[test]
fn a_field_leads_to_the_nearest_target() {
    for (seed, mut mesh) in (0..).zip([pillars(4, 1, 0.2), pillars(4, 5, 0.3), rooms(5, 2)]) {
        let mut random = Random::seed(seed);
        let targets: Vec<_> = (0..4).map(|_| any(&mesh, &mut random)).collect();
        let points = targets.iter().map(|target| target.position).collect();
        assert!(mesh.set_targets("exits", points));
        let field = mesh.field("exits").unwrap();
        mesh.update_field(field);
        let (oracle, mut longer) = (Oracle::new(&mesh), 0.0);
        for _ in 0..100 {
            let from = any(&mesh, &mut random);
            let flat = |at: NearestPolygon| at.position.truncate();
            let best = targets.iter().filter_map(|to| oracle.length(flat(from), flat(*to)));
            let best = best.min_by(f32::total_cmp);
            let found = mesh.field_distance(field, from);
            assert_eq!(found.is_some(), best.is_some());
            let (Some(found), Some(best)) = (found, best) else { continue };
            assert!(found > best * 0.999 - 0.05 && found < best * 1.1 + 0.5, "{found} {best}");
            let (end, walked) = walk(&mesh, field, from);
            let is_target = |to: &NearestPolygon| to.position.distance(end.position) < 0.05;
            assert!(targets.iter().any(is_target), "{}", end.position);
            assert!(walked < best * 1.1 + 0.5, "{walked} of {best} metres");
            longer += walked / best.max(1.0);
        }
        assert!(longer < 103.0, "in the mean, ways are at most 3 % longer: {longer}");
    }
}

#[test]
fn fields_follow_doors_links_and_costs() {
    let mut mesh = world(4, 12, |x, _, _| x == 15 || x == 16);
    let (left, right) = (near(&mesh, 4.0, 4.0), near(&mesh, 54.0, 50.0));
    mesh.set_targets("goal", vec![right.position]);
    let distance = |mesh: &mut NavigationMesh, at| {
        mesh.update_field(0);
        mesh.field_distance(0, at)
    };
    assert_eq!(distance(&mut mesh, left), None);
    assert_eq!(mesh.field_corner(0, left), None);
    assert_eq!(distance(&mut mesh, right), Some(0.0));
    let ends = [near(&mesh, 24.0, 30.0).position, near(&mesh, 34.0, 30.0).position];
    mesh.add_link(JumpSettings {
        name: String::new(),
        from: ends[0],
        to: ends[1],
        cost: 3.0,
        is_two_way: false,
        is_manual: false,
    });
    mesh.rebuild(&TaskPool::new(Some(1))).unwrap();
    let over = left.position.distance(ends[0]) + 3.0 + ends[1].distance(right.position);
    let found = distance(&mut mesh, left).unwrap();
    assert!(found > over * 0.98 && found < over * 1.1, "{found} {over}");
    let at_start = near(&mesh, ends[0].x, ends[0].y);
    assert!(mesh.field_corner(0, at_start).unwrap().distance(ends[1]) < 0.01);
    mesh.set_area_cost(1, 2.0);
    let dear = distance(&mut mesh, left).unwrap();
    assert!((dear - (found * 2.0 - 3.0)).abs() < 0.5, "{dear} {found}");
    mesh.set_obstructed(right.polygon, true);
    assert_eq!(distance(&mut mesh, left), None);
}

#[test]
fn ways_over_dear_ground_end() {
    let mut mesh = pillars(4, 7, 0.2);
    for polygon in (0..mesh.num_polygons()).step_by(3) {
        mesh.polygons[polygon].area = 2;
    }
    mesh.set_area_cost(2, 2.5);
    let mut random = Random::seed(8);
    let target = any(&mesh, &mut random);
    mesh.set_targets("goal", vec![target.position]);
    mesh.update_field(0);
    for _ in 0..100 {
        let from = any(&mesh, &mut random);
        if mesh.field_distance(0, from).is_none() {
            continue;
        }
        let mut at = from;
        for step in 0.. {
            let next = mesh.field_corner(0, at).unwrap();
            if next.distance(target.position) < 0.01 {
                break;
            }
            assert!(step < 300, "no end from {} at {}", from.position, at.position);
            at = mesh.nearest(next, 0.1, 2.0).unwrap();
        }
    }
}

#[test]
fn the_hash_of_a_mesh_has_its_fields() {
    let mut mesh = pillars(2, 3, 0.1);
    let state = |mesh: &NavigationMesh| {
        let mut numbers = Vec::new();
        mesh.write_state(&mut |number| numbers.push(number));
        numbers
    };
    let [a, b] = [near(&mesh, 4.0, 4.0), near(&mesh, 20.0, 20.0)].map(|at| at.position);
    let none = state(&mesh);
    mesh.set_targets("goal", vec![a]);
    let first = state(&mesh);
    mesh.set_targets("goal", vec![b]);
    let second = state(&mesh);
    mesh.set_flee("away", "goal", 1.2);
    let third = state(&mesh);
    mesh.set_flee("away", "goal", 1.3);
    assert!(none != first && first != second && second != third && third != state(&mesh));
    mesh.set_targets("away", Vec::new());
    mesh.set_targets("goal", vec![a]);
    assert_eq!(state(&mesh), first);
    mesh.set_targets("goal", Vec::new());
    assert_eq!(state(&mesh), none);
    for at in 0..FLOW_FIELDS_MAX {
        assert!(mesh.set_targets(&at.to_string(), vec![a]));
    }
    assert!(!mesh.set_targets("one too many", vec![a]));
    assert!(!mesh.set_flee("one too many", "1", 1.2));
}

#[test]
fn a_field_leads_away_from_threats() {
    for (seed, mut mesh) in (0..).zip([pillars(4, 1, 0.2), rooms(5, 2)]) {
        let mut random = Random::seed(seed);
        let threat = any(&mesh, &mut random);
        mesh.set_targets("threats", vec![threat.position]);
        mesh.set_flee("flee", "threats", 1.2);
        let [threats, flee] = ["threats", "flee"].map(|name| mesh.field(name).unwrap());
        assert_eq!(mesh.field_threats(flee), Some("threats"));
        mesh.update_field(flee);
        let (mut farther, mut count) = (0.0, 0.0);
        for _ in 0..50 {
            let from = any(&mesh, &mut random);
            let Some(before) = mesh.field_distance(threats, from) else { continue };
            let (end, _) = walk(&mesh, flee, from);
            let after = mesh.field_distance(threats, end).unwrap();
            // At the end of the world, one may have to stay.
            assert!(after > before - 4.0, "{before} {after} from {}", from.position);
            (farther, count) = (farther + after - before, count + 1.0);
        }
        assert!(count > 20.0 && farther / count > 10.0, "{farther} metres of {count}");
        // Other threats lead elsewhere.
        let (from, before) = (threat, mesh.field_corner(flee, threat));
        mesh.set_targets("threats", vec![before.unwrap()]);
        mesh.update_field(flee);
        assert_ne!(mesh.field_corner(flee, from), before);
        // Without threats, everybody stays.
        mesh.set_targets("threats", Vec::new());
        let flee = mesh.field("flee").unwrap();
        mesh.update_field(flee);
        let middle = mesh.field_corner(flee, from).unwrap();
        assert!(middle.distance(from.position) < 3.0, "the middle of its polygon");
    }
}

fn pool(threads: usize) -> TaskPool {
    TaskPool::new(Some(threads))
}

/// Returns the handle of a mesh, which is in no list here.
fn mesh_id() -> Handle {
    Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap()
}

/// Sends agents to the same point, and returns the mesh, the agents and the hash of each update.
fn crowd(threads: usize, count: usize, updates: usize) -> (NavigationMesh, Agents, Vec<u64>) {
    let mesh = rooms(5, 2);
    let (mut agents, mut random) = (Agents::default(), Random::seed(9));
    let target = near(&mesh, 50.0, 50.0);
    while agents.slots.len() < count {
        let at = any(&mesh, &mut random);
        if length(&mesh, at, target).is_some() {
            let settings = AgentSettings { radius: 0.2, ..AgentSettings::DEFAULT };
            let agent = agents.add(mesh_id(), at, settings).unwrap();
            agents.set_destination(agent, target);
        }
    }
    let (pool, mut hashes) = (pool(threads), Vec::new());
    for _ in 0..updates {
        agents.update(mesh_id(), &mesh, 1.0 / 60.0, &pool).unwrap();
        let mut hash = 0u64;
        let mut write = |number: u64| hash = hash.rotate_left(7).wrapping_mul(31) ^ number;
        agents.slots.iter().for_each(|(_, agent)| agent.write_state(&mut write));
        agents.write_shared(mesh_id(), &mut write);
        hashes.push(hash);
    }
    (mesh, agents, hashes)
}

#[test]
fn agents_share_the_ways_to_their_destination() {
    let (mesh, mut agents, _) = crowd(1, 100, 1);
    let nodes = agents.statistics.nodes as usize;
    assert_eq!((agents.statistics.searches, agents.shared.len()), (100, 1));
    assert!(nodes < mesh.num_polygons() * 2, "{nodes} nodes, {} polygons", mesh.num_polygons());
    let target = near(&mesh, 50.0, 50.0);
    let mut sum = 0.0;
    for (_, agent) in agents.slots.iter() {
        assert_eq!(agent.state, AgentState::Moving);
        let best = length(&mesh, agent.at, target).unwrap();
        let own = agent.remaining_distance(&mesh);
        assert!(own < best * 1.1 + 0.5, "{own} {best}");
        sum += own / best.max(1.0);
    }
    assert!(sum < 102.0, "in the mean, their ways are at most 2 % longer: {sum}");
    // One who comes later uses the same map.
    let (pool, at) = (pool(1), near(&mesh, 4.0, 4.0));
    let late = agents.add(mesh_id(), at, AgentSettings::DEFAULT).unwrap();
    agents.set_destination(late, target);
    agents.update(mesh_id(), &mesh, 1.0 / 60.0, &pool).unwrap();
    assert_eq!((agents.statistics.searches, agents.shared.len()), (1, 1));
    assert!(agents.statistics.nodes < 10, "{} nodes", agents.statistics.nodes);
    agents.lose_mesh(mesh_id());
    assert_eq!(agents.shared.len(), 0);
}

/// Sends 36 agents to each of nine points of a mesh on which a door opens and closes, half of
/// them with costs of their own. Returns the hash of each update, and the largest numbers of shared
/// destinations and of requests that wait.
fn busy_crowd(threads: usize) -> (Vec<u64>, usize, u32) {
    let (mut mesh, pool) = (rooms(3, 2), pool(threads));
    let (mut agents, mut random) = (Agents::default(), Random::seed(5));
    let mut all: Vec<Handle> = Vec::new();
    while all.len() < 324 {
        let settings = AgentSettings { radius: 0.2, ..AgentSettings::DEFAULT };
        let at = any(&mesh, &mut random);
        let agent = agents.add(mesh_id(), at, settings).unwrap();
        if all.len() % 2 == 1 {
            agents.set_area_cost(agent, DEFAULT_AREA, Some(2.0)).unwrap();
        }
        all.push(agent);
    }
    let targets: Vec<NearestPolygon> = (0..9).map(|_| any(&mesh, &mut random)).collect();
    let door = near(&mesh, 20.0, 20.0).polygon;
    let (mut hashes, mut shared, mut waiting) = (Vec::new(), 0, 0);
    for update in 0..90 {
        if update % 30 == 0 {
            for (at, agent) in all.iter().enumerate() {
                agents.set_destination(*agent, targets[(at + update) % 9]);
            }
        }
        if update % 7 == 3 {
            mesh.set_obstructed(door, update % 2 == 0);
            mesh.update_hierarchy(&pool).unwrap();
        }
        agents.advance(mesh_id(), &mut mesh, 1.0 / 60.0, &pool).unwrap();
        shared = shared.max(agents.shared.len());
        waiting = waiting.max(agents.statistics.waiting);
        let mut hash = 0u64;
        let mut write = |number: u64| hash = hash.rotate_left(7).wrapping_mul(31) ^ number;
        agents.slots.iter().for_each(|(_, agent)| agent.write_state(&mut write));
        agents.write_shared(mesh_id(), &mut write);
        hashes.push(hash);
    }
    (hashes, shared, waiting)
}

#[test]
fn shared_ways_are_equal_on_any_number_of_threads() {
    let (_, _, one) = crowd(1, 100, 120);
    let busy = busy_crowd(1);
    assert!(busy.1 == SHARED_TARGETS_MAX && busy.2 > 0, "{} maps, {} wait", busy.1, busy.2);
    for threads in [2, 4, 8] {
        assert_eq!(crowd(threads, 100, 120).2, one, "{threads} threads");
        assert_eq!(busy_crowd(threads), busy, "{threads} threads");
    }
}

#[test]
fn agents_that_are_sent_again_are_answered_in_turn() {
    let mesh = rooms(5, 2);
    let (mut agents, mut random) = (Agents::default(), Random::seed(3));
    let mut all: Vec<(Handle, NearestPolygon)> = Vec::new();
    for _ in 0..2000 {
        let at = any(&mesh, &mut random);
        let agent = agents.add(mesh_id(), at, AgentSettings::DEFAULT).unwrap();
        all.push((agent, any(&mesh, &mut random)));
    }
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..200 {
        for (agent, target) in &all {
            agents.set_destination(*agent, *target);
        }
        agents.update(mesh_id(), &mesh, 0.0, &pool(1)).unwrap();
        let rows = agents.slots.iter().filter(|(_, agent)| agent.request.is_none());
        answered.extend(rows.map(|(handle, _)| handle.index()));
    }
    assert_eq!(answered.len(), all.len());
}

#[test]
fn a_destination_that_nobody_reaches_is_answered() {
    let mut mesh = world(4, 12, |x, _, _| x == 15 || x == 16);
    let target = near(&mesh, 54.0, 50.0);
    let mut agents = Agents::default();
    for at in 0..40 {
        let at = near(&mesh, 4.0 + at as f32 * 0.2, 4.0);
        let agent = agents.add(mesh_id(), at, AgentSettings::DEFAULT).unwrap();
        agents.set_destination(agent, target);
    }
    for _ in 0..5 {
        agents.update(mesh_id(), &mesh, 1.0 / 60.0, &pool(2)).unwrap();
    }
    assert!(agents.slots.iter().all(|(_, agent)| agent.partial.is_some()));
    // A closed destination, too.
    mesh.set_obstructed(target.polygon, true);
    mesh.update_hierarchy(&pool(1)).unwrap();
    for _ in 0..5 {
        agents.update(mesh_id(), &mesh, 1.0 / 60.0, &pool(2)).unwrap();
    }
    assert!(agents.slots.iter().all(|(_, agent)| agent.request.is_none()));
}

#[test]
fn lines_show_the_ways_of_a_field_and_its_ends() {
    let mut mesh = pillars(3, 5, 0.2);
    let open = (0..mesh.num_polygons() as u32).find(|polygon| !mesh.corners(*polygon).is_empty());
    let corners = mesh.corners(open.unwrap());
    let target = corners.iter().sum::<Vec3>() / corners.len() as f32;
    assert!(mesh.set_targets("exit", vec![target]));
    mesh.update_field(0);
    let (mut arrows, mut ends) = (Vec::new(), 0);
    mesh.outline_field(0, &mut |from, to, kind| match kind {
        LineKind::Flow => arrows.push((from, to)),
        LineKind::FlowEnd => ends += 1,
        other => panic!("{other:?}"),
    });
    assert_eq!(ends, 4);
    assert!(arrows.len() > 300 && arrows.len().is_multiple_of(3));
    // Each shaft leads on to where the way is shorter.
    for shaft in arrows.chunks(3).map(|arrow| arrow[0]) {
        let distance = |at: Vec3| {
            let at = mesh.nearest(at, 0.5, 2.0)?;
            mesh.field_distance(0, at)
        };
        let (Some(before), Some(after)) = (distance(shaft.0), distance(shaft.1)) else { continue };
        assert!(after < before + 0.01, "{before} {after} at {}", shaft.0);
    }
    // On larger meshes, they are farther apart.
    assert_eq!(mesh.arrow_spacing(50_000.0), 2.0);
    let spacing = mesh.arrow_spacing(10.0);
    let boxes = arrows.len() as f32 / 3.0 * 4.0;
    assert!(spacing > 4.0 && spacing * spacing * 10.0 < boxes * 8.0, "{spacing} {boxes}");
    // Polygons that do not exist any more are left out.
    let mut count = 0;
    let visited = [open.unwrap(), u32::MAX];
    mesh.outline_visited(&visited, &mut |_, _, kind| {
        assert_eq!(kind, LineKind::Searched);
        count += 1;
    });
    assert_eq!(count, mesh.corners(open.unwrap()).len());
}
