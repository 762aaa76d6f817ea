//! Functions of `NavigationMesh` about straight ways over the ground, and random points on it.

use super::mesh::{MESH_ARG, OFF_MESH, ends, of, snap};
use super::polygon_paths::own_costs;
use super::queries::{DISTANCE_MAX, RADIUS_MAX, length};
use super::volumes::position;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{Integer, PointList};
use crate::return_value::WholeNumber;
use engine_foundation::{Error, Vec3, error};
use engine_navigation::path_requests::PATH_POINTS_MAX;
use engine_navigation::queries::AROUND_POLYGONS_MAX;
use engine_navigation::rays::{RAY_POLYGONS_MAX, RayEnd};
use engine_navigation::search::PartialReason;
use engine_navigation::straight_ways::NotStraight;
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;

const FROM_ARG: (&str, &str) = ("from", "a point on the ground, or at most 2 metres away");
const RETURNS: &[&str] =
    &["position where it ends, or nil", "reason \"off_mesh\" if no ground is at its start, or nil"];

pub static NAVIGATION_MESH: ModuleRows = more(
    "NavigationMesh",
    &[
        func(
            "raycast",
            raycast,
            &[MESH_ARG, FROM_ARG, ("to", "another point")],
            "Returns the point at which the straight way between two points meets the edge of the \
             mesh, or of a closed polygon; nil if it meets none. The height of the second point \
             does not count, which can be on another floor (see `NavigationMesh.can_go`), nor do \
             the costs of areas, unless 0 closes them. If no ground is at the first point, it \
             returns that point, and \"off_mesh\".",
        )
        .returns(RETURNS)
        .pure(),
        func(
            "disc_cast",
            disc_cast,
            &[
                MESH_ARG,
                FROM_ARG,
                ("to", "another point"),
                ("radius", "the radius of the disc in metres, at most 100"),
            ],
            "Moves a disc from one point straight to another. Returns the position of its middle \
             when it touches the edge of the mesh; nil if it reaches the other point. It is as \
             `NavigationMesh.raycast` in all else. The disc is in addition to the radius of the \
             mesh's characters.",
        )
        .returns(RETURNS)
        .pure(),
        func(
            "can_go",
            can_go,
            &[
                MESH_ARG,
                FROM_ARG,
                ("to", "a point on the ground, at about its height"),
                ("radius", "radius of a disc that must get there, in metres; 0 by default"),
            ],
            "Returns true if a character can go straight from one point to another: over connected \
             ground that is open, which is below or above the second point at its end. Otherwise \
             false and the reason: \"edge\" if the edge of the mesh is in the way, or the ground \
             at a point is closed, \"height\" if the way ends on ground of another floor, and \
             \"off_mesh\" if no ground is at a point.",
        )
        .returns(&["can_go", "reason nil, or why not"])
        .pure(),
        func(
            "is_path_valid",
            is_path_valid,
            &[
                MESH_ARG,
                ("points", "the points of a path, such as those of `NavigationMesh.find_path`"),
                ("first", "the number of the first point that counts, 1 by default"),
                ("agent", "an agent, whose own costs count; without it, those of the mesh"),
            ],
            "Returns true if the path can still be walked: from each point, the next one is \
             straight ahead on open ground, or a link joins both. Otherwise false, and the number \
             of the point from which one cannot go on. It does not say if another way is shorter \
             by now. An empty list is no path: false, and no number.",
        )
        .returns(&["is_valid", "leg number of the point before the part that cannot be walked"])
        .pure(),
        func(
            "random_point",
            random_point,
            &[
                MESH_ARG,
                ("from", "only points to which a way leads from here; anywhere without it"),
                (
                    "distance",
                    "the greatest cost of that way, 0 to 10,000: metres, where areas cost nothing \
                     else; any without it",
                ),
                ("agent", "an agent, whose own costs count; without it, those of the mesh"),
            ],
            "Returns a random point of the mesh, on open polygons. All places are equally likely; \
             with a distance, nearly so, and the point is `from` if none is found in many tries. \
             More than 65,536 polygons within the distance are an error (FLOOD_POLYGONS_MAX). Nil \
             and the reason, \"unreachable\" or \"off_mesh\", if there is none.",
        )
        .returns(&["point on the ground, or nil", "reason nil, or why there is none"]),
    ],
);

/// End of a straight way, with the reason why it has not begun.
type Cast = (Option<Vec3>, Option<String>);

fn off_mesh(from: Vec3) -> Cast {
    (Some(from), Some(OFF_MESH.to_string()))
}

/// Returns the end of a ray.
///
/// # Errors
/// Returns an error if it was given up.
fn checked_ray(end: RayEnd, from: Vec3, to: Vec3) -> Result<RayEnd, Error> {
    if end.is_cut {
        return Err(error!(
            "the way from {from} to {to} crosses more than {RAY_POLYGONS_MAX} polygons \
             (RAY_POLYGONS_MAX): divide it into shorter ones"
        ));
    }
    Ok(end)
}

/// Returns the end of the way of a disc.
///
/// # Errors
/// Returns an error if it was given up.
fn checked_disc(end: RayEnd, from: Vec3, to: Vec3, radius: f32) -> Result<RayEnd, Error> {
    if end.is_cut {
        return Err(error!(
            "more than {AROUND_POLYGONS_MAX} polygons are within {radius} metres of the way from \
             {from} to {to} (AROUND_POLYGONS_MAX): divide it into shorter ones"
        ));
    }
    Ok(end)
}

fn raycast(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
) -> Result<Cast, Error> {
    let mesh = of(engine, mesh);
    let to = position(to, "#3 'to'")?;
    let Some(start) = snap(mesh, from, "#2 'from'")? else { return Ok(off_mesh(from)) };
    let end = checked_ray(mesh.raycast(start, to), from, to)?;
    Ok((end.wall.map(|_| end.position), None))
}

fn disc_cast(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    radius: f64,
) -> Result<Cast, Error> {
    let radius = length(radius, "#4 'radius'", 0.0, RADIUS_MAX)?;
    let to = position(to, "#3 'to'")?;
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let Some(start) = snap(mesh, from, "#2 'from'")? else { return Ok(off_mesh(from)) };
    let end = checked_disc(memory.flood.disc_cast(mesh, start, to, radius), from, to, radius)?;
    Ok((end.wall.map(|_| end.position), None))
}

fn can_go(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    radius: Option<f64>,
) -> Result<(bool, Option<String>), Error> {
    let radius = length(radius.unwrap_or(0.0), "#4 'radius'", 0.0, RADIUS_MAX)?;
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let reason = match ends(mesh, from, to)? {
        None => Some(NotStraight::OffMesh),
        Some((start, _)) => {
            let end = match radius > 0.0 {
                true => {
                    checked_disc(memory.flood.disc_cast(mesh, start, to, radius), from, to, radius)
                }
                false => checked_ray(mesh.raycast(start, to), from, to),
            }?;
            mesh.cannot_go(start, &end, to)
        }
    };
    Ok((reason.is_none(), reason.map(|reason| reason.name().to_string())))
}

fn is_path_valid(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    points: PointList,
    first: Option<Integer>,
    agent: Option<AgentId>,
) -> Result<(bool, Option<WholeNumber>), Error> {
    let points = points.0;
    if points.is_empty() {
        return Ok((false, None));
    }
    if points.len() > PATH_POINTS_MAX + 1 {
        return Err(error!(
            "argument #2 'points' must have at most {} points (PATH_POINTS_MAX and the start), \
             got {}",
            PATH_POINTS_MAX + 1,
            points.len()
        ));
    }
    let first = first.map_or(1, |first| first.0);
    if !(1..=points.len() as i64).contains(&first) {
        return Err(error!(
            "argument #3 'first' must be the number of a point, 1 to {}, got {first}",
            points.len()
        ));
    }
    let first = first as usize - 1;
    for point in &points {
        position(*point, "#2 'points'")?;
    }
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let bad = mesh.with_costs(own.as_ref(), |mesh| {
        mesh.first_bad_leg((&mut memory.searcher, &mut memory.path), &points[first..])
    });
    Ok((bad.is_none(), bad.map(|at| WholeNumber((first + at + 1) as f64))))
}

fn random_point(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Option<Vec3>,
    distance: Option<f64>,
    agent: Option<AgentId>,
) -> Result<Cast, Error> {
    let distance = distance
        .map(|distance| length(distance, "#3 'distance'", 0.0, DISTANCE_MAX))
        .transpose()?;
    let mut random = engine.frame.random.clone();
    let own = own_costs(engine, agent, mesh);
    let (mesh, memory) = engine.searched_mesh(mesh)?;
    let next = || random.next_f64();
    let found = match from {
        None if distance.is_some() => {
            return Err(error!("argument #3 'distance' needs #2 'from', from which it counts"));
        }
        None => mesh.with_costs(own.as_ref(), |mesh| mesh.random_point(next)),
        Some(from) => {
            let Some(start) = snap(mesh, from, "#2 'from'")? else {
                return Ok((None, Some(OFF_MESH.to_string())));
            };
            let searches = (&mut memory.searcher, &mut memory.path);
            mesh.with_costs(own.as_ref(), |mesh| {
                memory.flood.random_reachable(mesh, searches, start, distance, next)
            })?
        }
    };
    engine.frame.random = random;
    let reason = found.is_none().then(|| PartialReason::Unreachable.name().to_string());
    Ok((found.map(|found| found.position), reason))
}
