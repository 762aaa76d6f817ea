//! Creation of navigation meshes: options of the bake, and lists of triangles.

use super::mesh::of as mesh_of;
use super::{read_numbers, whole};
use crate::argument::PointList;
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error, log};
use engine_navigation::NavigationMeshId;
use engine_navigation::bake::{BakeSettings, BakeSource};
use engine_runtime::Engine;
use engine_world::WorldId;

fn settings(options: Option<ScriptValue>) -> Result<BakeSettings, Error> {
    let mut settings = BakeSettings::DEFAULT;
    let mut cells = Ok(());
    read_numbers(options, &BakeSettings::NAMES, |name, number| {
        if name == "tile_cells" {
            cells = whole("option 'tile_cells'", number);
        }
        settings.set(name, number) || cells.is_err()
    })?;
    cells?;
    settings.check().map_err(|message| error!("option {message}"))?;
    Ok(settings)
}

pub(super) fn create(
    engine: &mut Engine,
    world: WorldId,
    options: Option<ScriptValue>,
) -> Result<NavigationMeshId, Error> {
    let settings = settings(options)?;
    let mesh = engine.bake_world(world, settings)?;
    warn_if_empty(engine, mesh, "NavigationMesh.create", false);
    Ok(mesh)
}

/// Warns about a mesh without ground. `is_turned` says that all triangles are clockwise.
fn warn_if_empty(engine: &Engine, mesh: NavigationMeshId, function: &str, is_turned: bool) {
    let of = mesh_of(engine, mesh);
    if of.num_polygons() > 0 {
        return;
    }
    let reason = match is_turned {
        true => {
            "all triangles are clockwise as seen from above: swap two corners of each".to_string()
        }
        false => of.settings().missing_ground(),
    };
    let at = context::script_location();
    let location = if at.is_empty() { "engine" } else { &at };
    log::warn(location, &format!("{function}: the mesh has no ground: {reason}"));
}

/// Returns the numbers of a list.
pub(super) fn numbers(value: ScriptValue, argument: &str) -> Result<Vec<f64>, Error> {
    let wrong = || error!("argument {argument} must be a list of numbers");
    match value {
        ScriptValue::List(items) => {
            let number = |item: ScriptValue| match item {
                ScriptValue::Number(number) => Ok(number),
                _ => Err(wrong()),
            };
            items.into_iter().map(number).collect()
        }
        ScriptValue::Table(entries) if entries.is_empty() => Ok(Vec::new()),
        _ => Err(wrong()),
    }
}

pub(super) fn create_from_triangles(
    engine: &mut Engine,
    points: PointList,
    triangles: ScriptValue,
    options: Option<ScriptValue>,
) -> Result<NavigationMeshId, Error> {
    let settings = settings(options)?;
    let corners = numbers(triangles, "#2 'triangles'")?;
    let count = points.0.len();
    if !corners.len().is_multiple_of(3) {
        return Err(error!(
            "argument #2 'triangles' must have three corners for each triangle, got {} numbers",
            corners.len()
        ));
    }
    let corner = |number: f64| {
        let is_known =
            number >= 1.0 && number <= count as f64 && f64::from(number as u32) == number;
        is_known.then(|| number as u32 - 1).ok_or_else(|| {
            error!("argument #2 'triangles': {number} is no corner, there are corners 1 to {count}")
        })
    };
    let corners = corners.into_iter().map(corner).collect::<Result<Vec<u32>, Error>>()?;
    let triangles = corners.chunks_exact(3).map(|at| [at[0], at[1], at[2]]).collect();
    let (points, triangles): (Vec<Vec3>, Vec<[u32; 3]>) = (points.0, triangles);
    let is_turned = !triangles.is_empty() && triangles.iter().all(|of| is_clockwise(&points, of));
    let source = BakeSource::new(points, triangles).map_err(Error::new)?;
    let mesh = engine.bake_mesh(source, settings)?;
    warn_if_empty(engine, mesh, "NavigationMesh.create_from_triangles", is_turned);
    Ok(mesh)
}

/// Returns true if the corners of a triangle are clockwise as seen from above.
fn is_clockwise(points: &[Vec3], triangle: &[u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|corner| points[corner as usize].truncate());
    (b - a).perp_dot(c - a) < 0.0
}
