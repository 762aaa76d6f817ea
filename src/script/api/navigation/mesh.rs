//! The Lua module `NavigationMesh`: meshes of walkable ground, and paths on them. Functions that
//! return lists of points are in the prelude (lua/world/navigation.lua), around the native parts in
//! queries.rs.

use super::{creation, fields, following, links, platforms, queries, volumes};
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle, TextArgument};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error};
use engine_navigation::NavigationMeshId;
use engine_navigation::mesh::{NavigationMesh, NearestPolygon};
use engine_navigation::queries::SNAP_DISTANCE;
use engine_navigation::search::PartialReason;
use engine_runtime::Engine;

pub(super) const MESH_ARG: (&str, &str) = ("mesh", "a navigation mesh");
/// Reason why a query has no result: no ground is at its start or its end.
pub(super) const OFF_MESH: &str = PartialReason::OffMesh.name();
pub(super) const POLYGON_ARG: (&str, &str) = ("polygon", "the number of a polygon, from 1");
const OPTIONS_ARG: (&str, &str) = (
    "options",
    "a table with `radius`, `height`, `step` and `slope` of the characters, and `cell_size`, \
     `cell_height`, `tile_cells`, `edge_error`, `height_error`, `region_min` and `region_merge` of \
     the bake",
);

pub static NAVIGATION_MESH: ModuleRows = module(
    "NavigationMesh",
    "The ground on which characters can walk, as convex polygons. A mesh is baked from the static \
     actors of a world, or from triangles, for characters of one size. It finds paths, and is what \
     an `Agent` walks on. Polygons are numbered from 1.",
    r#"local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
local mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
local path, reason = NavigationMesh.find_path(mesh, Vector3(3, 3, 0), Vector3(16, 16, 0))
assert(#path == 2 and reason == nil)
NavigationMesh.destroy(mesh)"#,
    &[
        func(
            "create",
            creation::create,
            &[("world", "a world whose level has been spawned"), OPTIONS_ARG],
            "Bakes a mesh from the static actors of a world, except triggers, planes and one-way \
             platforms. The bake takes milliseconds for each thousand square metres, on every \
             core.",
        ),
        func(
            "create_from_triangles",
            creation::create_from_triangles,
            &[
                ("points", "the corners, or their coordinates: { x1, y1, z1, x2, y2, z2, … }"),
                (
                    "triangles",
                    "three numbers of corners for each triangle, from 1, counter-clockwise as seen \
                     from above",
                ),
                OPTIONS_ARG,
            ],
            "Bakes a mesh from triangles.",
        ),
        func(
            "destroy",
            destroy,
            &[MESH_ARG],
            "Destroys a mesh. Its handle is stale afterwards, and its agents are \"lost\".",
        )
        .when_full(),
        hot(
            "alive",
            alive,
            &[("mesh", "a number that may be a mesh's handle; nil and false are none")],
            "Returns true if the handle refers to an existing mesh. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("num_polygons", num_polygons, &[MESH_ARG], "Returns the number of polygons.").pure(),
        func(
            "version",
            version,
            &[MESH_ARG],
            "Returns a number that changes whenever something changes that a path of before does \
             not know: ground, ways that are closed or open, links and costs.",
        )
        .pure(),
        func("num_vertices", num_vertices, &[MESH_ARG], "Returns the number of vertices.").pure(),
        func(
            "polygon_neighbors",
            polygon_neighbors,
            &[MESH_ARG, POLYGON_ARG],
            "Returns the polygons that can be entered from a polygon, as a list of numbers.",
        )
        .pure(),
        func(
            "find_polygon",
            find_polygon,
            &[MESH_ARG, ("position", "a point on the ground, or a little above or below it")],
            "Returns the polygon below or above a position, at most the height of a character \
             away; nil if there is none.",
        )
        .pure(),
        func(
            "find_nearest_polygon",
            find_nearest_polygon,
            &[
                MESH_ARG,
                ("position", "a point"),
                ("distance", "how far to search, in metres; 5 by default"),
            ],
            "Returns the polygon that is nearest to a position, and the nearest point on it; nil \
             if there is none.",
        )
        .returns(&["polygon its number", "point the nearest point on the ground"])
        .pure(),
        func(
            "constrain_to_polygon",
            constrain_to_polygon,
            &[MESH_ARG, ("position", "a point"), POLYGON_ARG],
            "Returns the point of a polygon that is nearest to a position from above, with \
             the height of the ground.",
        )
        .pure(),
        func(
            "set_obstructed",
            set_obstructed,
            &[MESH_ARG, POLYGON_ARG, ("obstructed", "true to close it, false to open it again")],
            "Closes a polygon, for example below a door, or opens it again. Agents that are under \
             way get new paths. They go on until then, unless their path is closed.",
        ),
        func(
            "is_obstructed",
            is_obstructed,
            &[MESH_ARG, POLYGON_ARG],
            "Returns true if a polygon is closed.",
        )
        .pure(),
        func(
            "polygon_area",
            volumes::polygon_area,
            &[MESH_ARG, POLYGON_ARG],
            "Returns the area of a polygon: 1 unless a volume gives it another.",
        )
        .pure(),
        func(
            "area_cost",
            volumes::area_cost,
            &[MESH_ARG, volumes::AREA_ARG],
            "Returns the cost of a metre of an area; 0 if it is closed.",
        )
        .pure(),
        func(
            "set_area_cost",
            volumes::set_area_cost,
            &[MESH_ARG, volumes::AREA_ARG, ("cost", "0.01 to 1000; 1 by default, 0 closes it")],
            "Sets the cost of a metre of an area. Paths lead around expensive areas if the way \
             around them costs less.",
        ),
        func(
            "add_box",
            volumes::add_box,
            &[
                MESH_ARG,
                volumes::VOLUME_AREA_ARG,
                ("center", "its middle"),
                ("size", "the lengths of its sides, in metres"),
                (
                    "angle",
                    "by how much it is turned around the vertical axis, in radians; 0 by \
                           default",
                ),
            ],
            "Adds an obstacle, or ground with another area, in the form of a box. \
             `NavigationMesh.update` changes the mesh; polygons have other numbers afterwards.",
        )
        .returns(&["volume number of the volume"]),
        func(
            "add_cylinder",
            volumes::add_cylinder,
            &[
                MESH_ARG,
                volumes::VOLUME_AREA_ARG,
                ("position", "the middle of its lower end"),
                ("radius", "in metres"),
                ("height", "in metres"),
            ],
            "Adds an obstacle, or ground with another area, in the form of an upright cylinder, as \
             `NavigationMesh.add_box` does.",
        )
        .returns(&["volume number of the volume"]),
        func(
            "add_convex",
            volumes::add_convex,
            &[
                MESH_ARG,
                volumes::VOLUME_AREA_ARG,
                ("points", "at least three points, or their coordinates: { x1, y1, z1, … }"),
                ("height", "in metres, above the lowest point"),
            ],
            "Adds an obstacle, or ground with another area, in the form of the upright convex \
             shape around points, as `NavigationMesh.add_box` does.",
        )
        .returns(&["volume number of the volume"]),
        func(
            "remove_volume",
            volumes::remove_volume,
            &[MESH_ARG, ("volume", "the number of a volume of this mesh")],
            "Removes an obstacle or an area. `NavigationMesh.update` changes the mesh.",
        ),
        func(
            "add_link",
            links::add_link,
            &[
                MESH_ARG,
                ("from", "the point on the ground at which the link begins"),
                ("to", "the point on the ground at which it ends"),
                (
                    "options",
                    "a table with `name`, `cost` (in metres of ground; the distance by default), \
                     `one_way` and `manual` (true: agents wait at its start until \
                     `Agent.finish_link`)",
                ),
            ],
            "Adds a way between two points that no ground joins: a jump, a ladder, a teleporter. \
             Paths use it after the next `NavigationMesh.update`, if there is ground at both ends.",
        )
        .returns(&["link number of the link"]),
        func(
            "add_jump_links",
            links::add_jump_links,
            &[
                MESH_ARG,
                (
                    "options",
                    "a table with `distance` (3 metres), `up` (0.5) and `down` (2): how far a \
                     character jumps, as seen from above, and by how much the height can change; \
                     `spacing` (3 metres) between links; `name`, `cost` and `manual` of the links",
                ),
            ],
            "Finds places at the edges of the mesh from which a character can jump over a gap, or \
             down from a ledge, and adds links there, as `NavigationMesh.add_link` does. A place \
             counts if the level and its obstacles leave room for the jump, no closed ground is \
             in its way, and no way on foot is shorter than three times the jump. Links that exist \
             are not found again. Returns the numbers of the links as a list.",
        ),
        func(
            "remove_link",
            links::remove_link,
            &[MESH_ARG, links::LINK_ARG],
            "Removes a link. `NavigationMesh.update` changes the mesh. Agents on the link reach \
             its end.",
        ),
        func(
            "is_link_usable",
            links::is_link_usable,
            &[MESH_ARG, links::LINK_ARG],
            "Returns true if paths can use a link: there is ground at both of its ends, which are \
             two places, and `NavigationMesh.update` was called since the link was added.",
        )
        .pure(),
        func(
            "draw",
            draw,
            &[MESH_ARG, ("name", "the name of a flow field to show; none if it is left out")],
            "Shows a mesh and its agents as lines for one frame: walls are white, closed polygons \
             red, links yellow, paths orange, velocities green, and other edges have the colour of \
             their area. The arrows of the flow field are blue, its targets yellow. Returns the \
             number of lines that do not fit in. Shows nothing in a release.",
        )
        .node(NodeFlag::Hidden),
        func(
            "linking_agents",
            following::linking_agents,
            &[MESH_ARG],
            "Returns the agents that have entered a link in the last `NavigationMesh.update`, as a \
             list.",
        )
        .pure(),
        func("num_agents", num_agents, &[MESH_ARG], "Returns the number of its agents.").pure(),
        func(
            "num_volumes",
            volumes::num_volumes,
            &[MESH_ARG],
            "Returns the number of obstacles and areas.",
        )
        .pure(),
        func(
            "num_waiting_tiles",
            volumes::num_waiting_tiles,
            &[MESH_ARG],
            "Returns the number of tiles that the next calls of `NavigationMesh.update` build \
             again.",
        )
        .pure(),
        func(
            "distance_to_edge",
            queries::distance_to_edge,
            &[
                MESH_ARG,
                ("position", "a point on the ground"),
                ("distance", "how far to search, in metres; 10 by default"),
            ],
            "Returns the distance from a point to the edge of the mesh, or of a closed polygon, \
             that is nearest to it, and the nearest point there; nil if there is none.",
        )
        .returns(&[
            "distance in metres",
            "point the nearest point on the edge",
            "reason \"off_mesh\" if no ground is at the position, or nil",
        ])
        .pure(),
        func(
            "num_waiting_paths",
            queries::num_waiting_paths,
            &[MESH_ARG],
            "Returns the number of requests for paths that wait for an answer.",
        )
        .pure(),
    ],
);

/// Returns a living mesh.
pub(super) fn of(engine: &Engine, mesh: NavigationMeshId) -> &NavigationMesh {
    let found = engine.worlds.navigation.meshes.get(mesh.0);
    found.expect("the handle was checked where it came in")
}

/// Refuses meshes of levels.
pub(super) fn check_own(
    engine: &Engine,
    mesh: NavigationMeshId,
    instead: &str,
) -> Result<(), Error> {
    match engine.worlds.navigation.is_of_level(mesh) {
        true => Err(error!("argument #1 'mesh': it belongs to a level, {instead}")),
        false => Ok(()),
    }
}

fn destroy(engine: &mut Engine, mesh: NavigationMeshId) -> Result<(), Error> {
    check_own(engine, mesh, "and is destroyed with it: use World.destroy_level(world, level)")?;
    let (frame, location) = (engine.frame.index, context::script_location());
    if platforms::destroy_platforms(engine, mesh, &location)? {
        return Ok(());
    }
    let navigation = &mut engine.worlds.navigation;
    navigation.meshes.remove(mesh.0, "", frame, &location);
    navigation.agents.lose_mesh(mesh.0);
    Ok(())
}

fn alive(engine: &mut Engine, mesh: MaybeHandle) -> bool {
    mesh.handle().is_some_and(|handle| engine.worlds.navigation.meshes.get(handle).is_some())
}

fn num_polygons(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    of(engine, mesh).num_polygons() as u64
}

fn num_vertices(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    of(engine, mesh).num_vertices() as u64
}

fn version(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    u64::from(of(engine, mesh).version())
}

/// Returns the index of a polygon by its number.
pub(super) fn polygon(
    mesh: &NavigationMesh,
    number: Integer,
    argument: &str,
) -> Result<u32, Error> {
    let count = mesh.num_polygons();
    if !(1..=count as i64).contains(&number.0) {
        return Err(error!(
            "argument {argument}: the mesh has no polygon {}, it has {count}",
            number.0
        ));
    }
    Ok((number.0 - 1) as u32)
}

pub(super) fn list(polygons: impl Iterator<Item = u32>) -> ScriptValue {
    ScriptValue::List(polygons.map(|at| ScriptValue::Number(f64::from(at) + 1.0)).collect())
}

fn polygon_neighbors(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<ScriptValue, Error> {
    let mesh = of(engine, mesh);
    let polygon = polygon(mesh, number, "#2 'polygon'")?;
    Ok(list(mesh.neighbors(polygon)))
}

fn find_polygon(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
) -> Result<Option<u64>, Error> {
    let position = volumes::position(position, "#2 'position'")?;
    let mesh = of(engine, mesh);
    let settings = mesh.settings();
    let nearest = mesh.nearest(position, settings.cell_size * 0.01, settings.height);
    Ok(nearest.map(|nearest| u64::from(nearest.polygon) + 1))
}

fn find_nearest_polygon(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    distance: Option<f64>,
) -> Result<(Option<f64>, Option<Vec3>), Error> {
    let distance = distance.unwrap_or(5.0);
    if !(0.0..=1000.0).contains(&distance) {
        return Err(error!("argument #3 'distance' must be 0 to 1000 metres, got {distance}"));
    }
    let position = volumes::position(position, "#2 'position'")?;
    let nearest = of(engine, mesh).nearest(position, distance as f32, distance as f32);
    Ok(nearest.map(|nearest| (f64::from(nearest.polygon) + 1.0, nearest.position)).unzip())
}

fn constrain_to_polygon(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    number: Integer,
) -> Result<Vec3, Error> {
    let mesh = of(engine, mesh);
    let position = volumes::position(position, "#2 'position'")?;
    Ok(mesh.constrain(polygon(mesh, number, "#3 'polygon'")?, position))
}

/// Returns the middle of a polygon.
pub(super) fn middle(mesh: &NavigationMesh, polygon: u32) -> NearestPolygon {
    let corners = mesh.corners(polygon);
    let position = corners.iter().sum::<Vec3>() / corners.len() as f32;
    NearestPolygon { polygon, position }
}

fn set_obstructed(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
    is_obstructed: bool,
) -> Result<(), Error> {
    let meshes = &mut engine.worlds.navigation.meshes;
    let mesh = meshes.get_mut(mesh.0).expect("the handle was checked where it came in");
    let polygon = polygon(mesh, number, "#2 'polygon'")?;
    mesh.set_obstructed(polygon, is_obstructed);
    Ok(())
}

fn is_obstructed(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<bool, Error> {
    let mesh = of(engine, mesh);
    Ok(mesh.is_obstructed(polygon(mesh, number, "#2 'polygon'")?))
}

/// Returns the ground at a position, or next to it.
pub(super) fn ground(
    mesh: &NavigationMesh,
    position: Vec3,
    argument: &str,
) -> Result<NearestPolygon, Error> {
    snap(mesh, position, argument)?.ok_or_else(|| {
        if mesh.num_polygons() == 0 {
            return error!(
                "argument {argument}: the navigation mesh has no ground at all: triangles must be \
                 counter-clockwise from above and not steeper than 'slope', and leave ground \
                 without 'radius' at their edges, of 'region_min' or more"
            );
        }
        error!(
            "argument {argument}: no ground of the navigation mesh is within {SNAP_DISTANCE} \
             metres of {position}: use NavigationMesh.find_nearest_polygon to search farther away"
        )
    })
}

/// Returns the ground at a position, or next to it; `None` if there is none.
pub(super) fn snap(
    mesh: &NavigationMesh,
    position: Vec3,
    argument: &str,
) -> Result<Option<NearestPolygon>, Error> {
    Ok(mesh.snap(volumes::position(position, argument)?))
}

/// Returns the ground at both ends of a way; `None` if there is none at one of them.
pub(super) fn ends(
    mesh: &NavigationMesh,
    from: Vec3,
    to: Vec3,
) -> Result<Option<(NearestPolygon, NearestPolygon)>, Error> {
    let (from, to) = (snap(mesh, from, "#2 'from'")?, snap(mesh, to, "#3 'to'")?);
    Ok(from.zip(to))
}

fn draw(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: Option<TextArgument>,
) -> Result<u64, Error> {
    let of = of(engine, mesh);
    let field = name.map(|name| fields::find_field(of, &name, "#2 'name'")).transpose()?;
    Ok(engine.show_mesh(mesh, field)? as u64)
}

fn num_agents(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    engine.worlds.navigation.agents.count(mesh.0) as u64
}

/// Returns the coordinates of points as one list.
pub(super) fn coordinates(points: &[Vec3]) -> ScriptValue {
    let numbers = points.iter().flat_map(|point| point.to_array());
    ScriptValue::List(numbers.map(|number| ScriptValue::Number(number.into())).collect())
}
