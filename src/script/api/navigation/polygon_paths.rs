//! Functions of `NavigationMesh` about paths as lists of polygons, for games that search and follow
//! paths themselves.

use super::creation::numbers;
use super::mesh::{MESH_ARG, OFF_MESH, POLYGON_ARG, coordinates, ends, list, middle, of, polygon};
use super::volumes;
use crate::api_row::{ModuleRows, NodeFlag, func, module, more};
use crate::argument::Integer;
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error};
use engine_navigation::own_costs::OwnCosts;
use engine_navigation::path_requests::PATH_POINTS_MAX;
use engine_navigation::search::{PointPath, PolygonPath, SEARCH_NODES_DEFAULT};
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;
use std::sync::Arc;

/// Maximum number of polygons of a path that a script passes.
const PATH_POLYGONS_MAX: usize = 65_536;

/// Returns the number of nodes that a search may visit.
fn nodes(nodes: Option<Integer>) -> Result<usize, Error> {
    let most = SEARCH_NODES_DEFAULT as i64;
    let nodes = nodes.map_or(most, |nodes| nodes.0);
    if !(1..=most).contains(&nodes) {
        return Err(error!("argument #4 'nodes' must be 1 to {most}, got {nodes}"));
    }
    Ok(nodes as usize)
}

pub static NAVIGATION_MESH: ModuleRows = more(
    "NavigationMesh",
    &[
        func(
            "project_to_polygon",
            project_to_polygon,
            &[MESH_ARG, ("position", "a point"), POLYGON_ARG],
            "Returns the point of a polygon's ground that is straight above or below a position; \
             nil if there is none.",
        )
        .pure(),
        func(
            "path_cost",
            path_cost,
            &[
                MESH_ARG,
                ("from", "a point on the ground"),
                ("to", "another point"),
                ("agent", "an agent, whose own costs count; without it, those of the mesh"),
            ],
            "Returns what the way of `NavigationMesh.find_path` costs: each metre what its area \
             costs, and each link its own cost. Nil and the reason, \"unreachable\", \"budget\" or \
             \"off_mesh\", if no way leads there.",
        )
        .returns(&["cost in metres of ordinary ground", "reason nil, or why there is no way"])
        .pure(),
        func(
            "visualize_last_search",
            visualize_last_search,
            &[MESH_ARG],
            "Shows for one frame the polygons that the last search visited, as lines: of \
             `NavigationMesh.find_path`, `path_cost`, `search` or `partial_search`. Call it right \
             after the search, on the same mesh. Returns the number of lines that do not fit in. \
             Shows nothing in a release.",
        )
        .node(NodeFlag::Hidden),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "NavigationMesh",
    "Lists of points, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "navigation_funnel",
            navigation_funnel,
            &[("mesh", ""), ("polygons", ""), ("from", ""), ("to", "")],
            "Returns the coordinates of the shortest way through polygons.",
        )
        .public_name("NavigationMesh.funnel")
        .pure(),
        func(
            "navigation_search",
            partial_search,
            &[("mesh", ""), ("from", ""), ("to", ""), ("nodes", ""), ("agent", "")],
            "Returns the polygons of a path and the reason why it is not complete.",
        )
        .public_name("NavigationMesh.search")
        .pure(),
        func(
            "navigation_partial_search",
            partial_search,
            &[("mesh", ""), ("from", ""), ("to", ""), ("nodes", ""), ("agent", "")],
            "Returns the polygons of a path and the reason why it is not complete.",
        )
        .public_name("NavigationMesh.partial_search")
        .pure(),
    ],
);

fn partial_search(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Integer,
    to: Integer,
    nodes: Option<Integer>,
    agent: Option<AgentId>,
) -> Result<ManyResults, Error> {
    let nodes = self::nodes(nodes)?;
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let from = middle(mesh, polygon(mesh, from, "#2 'from'")?);
    let to = middle(mesh, polygon(mesh, to, "#3 'to'")?);
    let mut path = PolygonPath::default();
    mesh.with_costs(own.as_ref(), |mesh| {
        memory.searcher.search(mesh, from, to, nodes, &mut path);
    });
    let reason = path.partial.map(|reason| ScriptValue::Text(reason.name().to_string()));
    let polygons = list(path.polygons.into_iter());
    Ok(ManyResults(vec![polygons, reason.unwrap_or(ScriptValue::Nil)]))
}

fn project_to_polygon(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    number: Integer,
) -> Result<Option<Vec3>, Error> {
    let mesh = of(engine, mesh);
    let position = volumes::position(position, "#2 'position'")?;
    let point = mesh.constrain(polygon(mesh, number, "#3 'polygon'")?, position);
    let apart = (point - position).truncate().length();
    Ok((apart <= mesh.settings().cell_size * 0.01).then_some(point))
}

/// Returns the costs that an agent has on a mesh in place of those of the mesh.
pub(super) fn own_costs(
    engine: &Engine,
    agent: Option<AgentId>,
    mesh: NavigationMeshId,
) -> Option<Arc<OwnCosts>> {
    engine.worlds.navigation.agents.costs_on(agent?.0, mesh.0)
}

fn path_cost(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    agent: Option<AgentId>,
) -> Result<(Option<f64>, Option<String>), Error> {
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some((from, to)) = ends(mesh, from, to)? else {
        return Ok((None, Some(OFF_MESH.to_string())));
    };
    Ok(mesh.with_costs(own.as_ref(), |mesh| {
        let path = &mut memory.path;
        memory.searcher.search(mesh, from, to, SEARCH_NODES_DEFAULT, path);
        match path.partial {
            None => (Some(path.cost(mesh, from.position, to.position).into()), None),
            Some(reason) => (None, Some(reason.name().to_string())),
        }
    }))
}

fn visualize_last_search(engine: &mut Engine, mesh: NavigationMeshId) -> Result<u64, Error> {
    Ok(engine.show_last_search(mesh)? as u64)
}

fn navigation_funnel(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    polygons: ScriptValue,
    from: Vec3,
    to: Vec3,
) -> Result<ManyResults, Error> {
    let (from, to) = (volumes::position(from, "#3 'from'")?, volumes::position(to, "#4 'to'")?);
    let mesh = of(engine, mesh);
    let polygons = numbers(polygons, "#2 'polygons'")?;
    if polygons.is_empty() || polygons.len() > PATH_POLYGONS_MAX {
        return Err(error!(
            "argument #2 'polygons' must have 1 to {PATH_POLYGONS_MAX} numbers \
             (PATH_POLYGONS_MAX), got {}",
            polygons.len()
        ));
    }
    let index = |number: &f64| match number.fract() == 0.0 {
        true => polygon(mesh, Integer(*number as i64), "#2 'polygons'"),
        false => Err(error!("argument #2 'polygons': {number} is no whole number")),
    };
    let polygons = polygons.iter().map(index).collect::<Result<Vec<u32>, Error>>()?;
    let path = PolygonPath::from_polygons(mesh, &polygons).map_err(|at| {
        error!(
            "argument #2 'polygons': {} and {} are no neighbours: pass the result of \
             NavigationMesh.search, before polygons get other numbers",
            polygons[at - 1] + 1,
            polygons[at] + 1
        )
    })?;
    let from = mesh.constrain(polygons[0], from);
    let to = mesh.constrain(polygons[polygons.len() - 1], to);
    let mut points = PointPath::default();
    path.funnel(mesh, from, to, PATH_POINTS_MAX, &mut points);
    Ok(ManyResults(vec![coordinates(&points.points)]))
}
