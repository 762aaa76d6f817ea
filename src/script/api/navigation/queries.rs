//! Queries of navigation meshes: paths at once and later, discs, edges, areas around a point.
//! Functions that return lists are in the prelude (lua/world/navigation.lua), around the native
//! parts at the end of this file.

use super::mesh::{OFF_MESH, coordinates, ends, list, of, polygon, snap};
use super::polygon_paths::own_costs;
use super::volumes::{self, of_mut};
use super::{read_numbers, whole};
use crate::api_row::{ModuleRows, func, module};
use crate::argument::Integer;
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error};
use engine_navigation::cover::{COVER_POINTS_MAX, CoverRules};
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::path_requests::{PATH_POINTS_MAX, REQUESTS_MAX};
use engine_navigation::queries::{AROUND_POLYGONS_MAX, AROUND_POSITIONS_MAX, FLOOD_POLYGONS_MAX};
use engine_navigation::search::{PartialReason, SEARCH_NODES_DEFAULT};
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;

/// Largest height of cover, and of the eyes of a threat, in metres.
const HEIGHT_MAX: f64 = 1000.0;
/// Largest distance of a query, in metres.
pub(super) const DISTANCE_MAX: f64 = 10_000.0;
/// Largest radius of a disc, and smallest distance between positions around a target.
pub(super) const RADIUS_MAX: f64 = 100.0;
const SPACING_MIN: f64 = 0.05;

/// Distance to the edge of a mesh, the point there, and the reason why there is none.
type EdgeDistance = (Option<f64>, Option<Vec3>, Option<String>);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "NavigationMesh",
    "Lists of points, and requests for paths, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "navigation_path",
            navigation_path,
            &[("mesh", ""), ("from", ""), ("to", ""), ("agent", "")],
            "Returns the coordinates of a path and the reason why it is not complete.",
        )
        .public_name("NavigationMesh.find_path")
        .pure(),
        func(
            "navigation_request",
            navigation_request,
            &[("mesh", ""), ("from", ""), ("to", ""), ("callback", ""), ("agent", "")],
            "Asks for a path. Returns the number of the request. The prelude keeps the callback.",
        )
        .public_name("NavigationMesh.find_path_async"),
        func(
            "navigation_cancel",
            navigation_cancel,
            &[("mesh", ""), ("request", "")],
            "Withdraws a request. Returns false if it does not wait any more.",
        )
        .public_name("NavigationMesh.cancel_path"),
        func(
            "navigation_update",
            navigation_update,
            &[("mesh", ""), ("dt", "")],
            "Changes the mesh, moves its agents and answers requests for paths.",
        )
        .public_name("NavigationMesh.update"),
        func(
            "navigation_answers",
            navigation_answers,
            &[("mesh", "")],
            "Returns the answers that were not returned yet as numbers: for each of them the \
             request, the reason (0 for none), the number of points and their coordinates.",
        )
        .public_name("NavigationMesh.update"),
        func(
            "navigation_flood",
            navigation_flood,
            &[("mesh", ""), ("position", ""), ("distance", ""), ("agent", "")],
            "Returns the polygons within a distance, and the costs of the ways to them.",
        )
        .public_name("NavigationMesh.flood_fill")
        .pure(),
        func(
            "navigation_around",
            navigation_around,
            &[("mesh", ""), ("target", ""), ("count", ""), ("distance", ""), ("spacing", "")],
            "Returns the coordinates of positions around a target.",
        )
        .public_name("NavigationMesh.positions_around")
        .pure(),
        func(
            "navigation_cover",
            navigation_cover,
            &[("mesh", ""), ("position", ""), ("radius", ""), ("threat", ""), ("options", "")],
            "Returns the coordinates of positions with cover.",
        )
        .public_name("NavigationMesh.cover_points")
        .pure(),
        func(
            "navigation_vertices",
            navigation_vertices,
            &[("mesh", ""), ("polygon", "")],
            "Returns the coordinates of a polygon's corners.",
        )
        .public_name("NavigationMesh.polygon_vertices")
        .pure(),
    ],
);

/// Checks a length in metres.
pub(super) fn length(number: f64, argument: &str, low: f64, high: f64) -> Result<f32, Error> {
    if !(low..=high).contains(&number) {
        return Err(error!("argument {argument} must be {low} to {high} metres, got {number}"));
    }
    Ok(number as f32)
}

/// Returns empty lists, and the reason.
fn off_mesh(lists: usize) -> ManyResults {
    let mut results = vec![ScriptValue::List(Vec::new()); lists];
    results.push(ScriptValue::Text(OFF_MESH.to_string()));
    ManyResults(results)
}

pub(super) fn distance_to_edge(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    distance: Option<f64>,
) -> Result<EdgeDistance, Error> {
    let distance = length(distance.unwrap_or(10.0), "#3 'distance'", 0.0, DISTANCE_MAX)?;
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some(start) = snap(mesh, position, "#2 'position'")? else {
        return Ok((None, None, Some(OFF_MESH.to_string())));
    };
    let wall = memory.flood.nearest_wall(mesh, start, distance);
    if wall.is_some_and(|wall| wall.is_cut) {
        return Err(error!(
            "no edge is among the {AROUND_POLYGONS_MAX} polygons around {position} \
             (AROUND_POLYGONS_MAX): search within a smaller distance"
        ));
    }
    let (distance, point) = wall.map(|wall| (f64::from(wall.distance), wall.position)).unzip();
    Ok((distance, point, None))
}

fn navigation_cancel(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    request: Integer,
) -> Result<bool, Error> {
    let meshes = &mut engine.worlds.navigation.meshes;
    let mesh = meshes.get_mut(mesh.0).expect("the handle was checked where it came in");
    Ok(u32::try_from(request.0).is_ok_and(|number| mesh.cancel_path(number)))
}

pub(super) fn num_waiting_paths(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    of(engine, mesh).num_waiting_paths() as u64
}

fn navigation_path(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    agent: Option<AgentId>,
) -> Result<ManyResults, Error> {
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some((from, to)) = ends(mesh, from, to)? else { return Ok(off_mesh(1)) };
    let path = &mut memory.path;
    mesh.with_costs(own.as_ref(), |mesh| {
        memory.searcher.search(mesh, from, to, SEARCH_NODES_DEFAULT, path);
        memory.searcher.corners(mesh, path, PATH_POINTS_MAX, &mut memory.corners);
    });
    let reason = path.partial.map(|reason| ScriptValue::Text(reason.name().to_string()));
    let points = coordinates(&memory.corners.points);
    Ok(ManyResults(vec![points, reason.unwrap_or(ScriptValue::Nil)]))
}

fn navigation_request(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    _callback: Option<Integer>,
    agent: Option<AgentId>,
) -> Result<u64, Error> {
    let own = own_costs(engine, agent, mesh);
    let mesh = of_mut(engine, mesh);
    let from = volumes::position(from, "#2 'from'")?;
    let to = volumes::position(to, "#3 'to'")?;
    mesh.request_path_between(from, to, own.as_deref()).map(u64::from).ok_or_else(|| {
        error!(
            "{REQUESTS_MAX} paths of the mesh wait for an answer (REQUESTS_MAX): ask for more \
             after the next NavigationMesh.update, or send agents"
        )
    })
}

fn navigation_update(engine: &mut Engine, mesh: NavigationMeshId, dt: f64) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&dt) {
        return Err(error!("argument #2 'dt' must be 0 to 1 second, got {dt}"));
    }
    super::platforms::check_updated(engine, mesh)?;
    engine.update_agents(mesh, dt as f32)
}

fn navigation_answers(engine: &mut Engine, mesh: NavigationMeshId) -> ScriptValue {
    let mut numbers = Vec::new();
    let mesh = of_mut(engine, mesh);
    for answer in mesh.path_answers() {
        let reason = match answer.partial {
            None => 0.0,
            Some(PartialReason::Unreachable) => 1.0,
            Some(PartialReason::Budget) => 2.0,
            Some(PartialReason::OffMesh) => 3.0,
        };
        numbers.extend([f64::from(answer.number), reason, answer.points.len() as f64]);
        numbers.extend(answer.points.iter().flat_map(|point| point.to_array()).map(f64::from));
    }
    mesh.forget_answers();
    ScriptValue::List(numbers.into_iter().map(ScriptValue::Number).collect())
}

fn navigation_flood(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    distance: f64,
    agent: Option<AgentId>,
) -> Result<ManyResults, Error> {
    let distance = length(distance, "#3 'distance'", 0.0, DISTANCE_MAX)?;
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some(start) = snap(mesh, position, "#2 'position'")? else { return Ok(off_mesh(2)) };
    let mut polygons = Vec::new();
    let fill = |mesh: &NavigationMesh| memory.flood.fill(mesh, start, distance, &mut polygons);
    if !mesh.with_costs(own.as_ref(), fill) {
        return Err(error!(
            "more than {FLOOD_POLYGONS_MAX} polygons are within {distance} metres of {position} \
             (FLOOD_POLYGONS_MAX): use a smaller distance"
        ));
    }
    let costs = polygons.iter().map(|(_, cost)| ScriptValue::Number(f64::from(*cost)));
    let costs = ScriptValue::List(costs.collect());
    Ok(ManyResults(vec![list(polygons.iter().map(|(polygon, _)| *polygon)), costs]))
}

fn navigation_around(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    target: Vec3,
    count: Integer,
    distance: f64,
    spacing: f64,
) -> Result<ManyResults, Error> {
    if !(0..=AROUND_POSITIONS_MAX as i64).contains(&count.0) {
        return Err(error!(
            "argument #3 'count' must be 0 to {AROUND_POSITIONS_MAX} (AROUND_POSITIONS_MAX), got \
             {}",
            count.0
        ));
    }
    let distance = length(distance, "#4 'distance'", 0.0, RADIUS_MAX)?;
    let spacing = length(spacing, "#5 'spacing'", SPACING_MIN, RADIUS_MAX)?;
    let mesh = of(engine, mesh);
    let Some(target) = snap(mesh, target, "#2 'target'")? else { return Ok(off_mesh(1)) };
    let mut positions = Vec::new();
    mesh.positions_around(target, count.0 as usize, (distance, spacing), &mut positions);
    let points: Vec<Vec3> = positions.iter().map(|at| at.position).collect();
    Ok(ManyResults(vec![coordinates(&points)]))
}

fn navigation_cover(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    distance: f64,
    threat: Vec3,
    options: Option<ScriptValue>,
) -> Result<ManyResults, Error> {
    let distance = length(distance, "#3 'radius'", 0.0, DISTANCE_MAX)?;
    let threat = volumes::position(threat, "#4 'threat'")?;
    let mut rules = CoverRules { distance, ..CoverRules::DEFAULT };
    let mut count = rules.count as f32;
    read_numbers(options, &["height", "eyes", "spacing", "count"], |name, number| {
        *match name {
            "height" => &mut rules.height,
            "eyes" => &mut rules.eye_height,
            "spacing" => &mut rules.spacing,
            _ => &mut count,
        } = number;
        true
    })?;
    let height = |number: f32, option| length(number.into(), option, 0.0, HEIGHT_MAX);
    rules.height = height(rules.height, "#5 option 'height'")?;
    rules.eye_height = height(rules.eye_height, "#5 option 'eyes'")?;
    let spacing = f64::from(rules.spacing);
    rules.spacing = length(spacing, "#5 option 'spacing'", SPACING_MIN, RADIUS_MAX)?;
    whole("option 'count'", count)?;
    if !(0.0..=COVER_POINTS_MAX as f32).contains(&count) {
        return Err(error!(
            "option 'count' must be 0 to {COVER_POINTS_MAX} (COVER_POINTS_MAX), got {count}"
        ));
    }
    rules.count = count as usize;
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some(start) = snap(mesh, from, "#2 'position'")? else { return Ok(off_mesh(1)) };
    let points = memory.flood.cover_points(mesh, start, threat, &rules)?;
    Ok(ManyResults(vec![coordinates(&points)]))
}

fn navigation_vertices(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<ScriptValue, Error> {
    let mesh = of(engine, mesh);
    Ok(coordinates(mesh.corners(polygon(mesh, number, "#2 'polygon'")?)))
}
