//! Functions of `Agent` about paths that a script gives it.

use super::agent::{AGENT_ARG, mesh, of, pose_of};
use super::polygon_paths::own_costs;
use super::volumes::position;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::PointList;
use crate::return_value::WholeNumber;
use engine_foundation::memory::limit;
use engine_foundation::{Error, error};
use engine_navigation::agents::AgentState;
use engine_navigation::path_requests::PATH_POINTS_MAX;
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;

pub static AGENT: ModuleRows = more(
    "Agent",
    &[func(
        "follow_path",
        follow_path,
        &[
            AGENT_ARG,
            (
                "points",
                "points on the ground of its mesh, at most 4,097; from each, the next one is \
                     straight ahead on open ground, or a link joins both",
            ),
        ],
        "Sends an agent along a path that your game made: to the first point by the shortest \
             way, then from point to point, without a stop, to the last one, its destination. \
             Returns true; false and the number of the point from which one cannot go on, as \
             `NavigationMesh.is_path_valid` does; false and no number for an empty list, and if \
             the agent is lost, or gets on or off a platform. It changes nothing then. Raises an \
             error if its mesh was destroyed.",
    )
    .returns(&["is_followed", "leg number of the point before the part that cannot be walked"])],
);

fn follow_path(
    engine: &mut Engine,
    agent: AgentId,
    points: PointList,
) -> Result<(bool, Option<WholeNumber>), Error> {
    mesh(engine, agent)?;
    let mut points = points.0;
    if points.len() > PATH_POINTS_MAX + 1 {
        return Err(error!(
            "argument #2 'points' must have at most {} points (PATH_POINTS_MAX and the start), \
             got {}",
            PATH_POINTS_MAX + 1,
            points.len()
        ));
    }
    let pose = pose_of(engine, agent);
    for point in &mut points {
        *point = pose.to_local(position(*point, "#2 'points'")?);
    }
    let agent_mesh = of(engine, agent).mesh;
    if points.is_empty() || of(engine, agent).state == AgentState::Lost {
        return Ok((false, None));
    }
    limit::check_room(size_of_val(points.as_slice()))?;
    let own = own_costs(engine, Some(agent), NavigationMeshId(agent_mesh));
    let (mesh, memory) = engine.searched_mesh(NavigationMeshId(agent_mesh))?;
    let bad = mesh.with_costs(own.as_ref(), |mesh| {
        mesh.first_bad_leg((&mut memory.searcher, &mut memory.path), &points)
    });
    if let Some(at) = bad {
        return Ok((false, Some(WholeNumber((at + 1) as f64))));
    }
    let navigation = &mut engine.worlds.navigation;
    let Some(mesh) = navigation.meshes.get(agent_mesh) else { return Ok((false, None)) };
    Ok((navigation.agents.follow_points(agent.0, mesh, &points), None))
}
