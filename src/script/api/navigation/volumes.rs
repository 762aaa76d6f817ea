//! Functions of `NavigationMesh` about volumes: obstacles, and areas with their costs.

use super::mesh::{of, polygon};
use crate::argument::{Integer, PointList};
use crate::return_value::WholeNumber;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Error, Vec2, Vec3, error};
use engine_navigation::NavigationMeshId;
use engine_navigation::bake::{AREAS_MAX, AreaShape, NULL_AREA};
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::volumes::{
    AREA_COST_MAX, AREA_COST_MIN, CONVEX_POINTS_MAX, VOLUMES_MAX, convex_hull,
};
use engine_runtime::Engine;

pub(super) const AREA_ARG: (&str, &str) = ("area", "the number of an area, 1 to 63");
pub(super) const VOLUME_AREA_ARG: (&str, &str) =
    ("area", "0 for an obstacle, 1 to 63 for the area of the ground inside it");

/// Largest coordinate and length, in metres.
const LENGTH_MAX: f32 = 1e6;

pub(super) fn of_mut(engine: &mut Engine, mesh: NavigationMeshId) -> &mut NavigationMesh {
    let found = engine.worlds.navigation.meshes.get_mut(mesh.0);
    found.expect("the handle was checked where it came in")
}

pub(super) fn area(number: Integer, least: u8) -> Result<u8, Error> {
    let most = AREAS_MAX as i64 - 1;
    if !(i64::from(least)..=most).contains(&number.0) {
        return Err(error!("argument #2 'area' must be {least} to {most}, got {}", number.0));
    }
    Ok(number.0 as u8)
}

/// Returns the cost of an area; 0 closes it.
pub(super) fn cost(cost: f64) -> Result<f32, Error> {
    let number = cost as f32;
    if number != 0.0 && !(AREA_COST_MIN..=AREA_COST_MAX).contains(&number) {
        return Err(error!(
            "argument #3 'cost' must be 0, or {AREA_COST_MIN} to {AREA_COST_MAX}, got {cost}"
        ));
    }
    Ok(number)
}

fn length(number: f64, argument: &str) -> Result<f32, Error> {
    if !(number > 0.0 && number <= f64::from(LENGTH_MAX)) {
        return Err(error!(
            "argument {argument} must be above 0, at most {LENGTH_MAX} metres, got {number}"
        ));
    }
    Ok(number as f32)
}

/// Refuses positions that no game has.
pub(super) fn position(position: Vec3, argument: &str) -> Result<Vec3, Error> {
    if !position.to_array().iter().all(|number| number.abs() <= LENGTH_MAX) {
        return Err(error!(
            "argument {argument} must be at most {LENGTH_MAX} metres from the origin along each \
             axis, got {position}"
        ));
    }
    Ok(position)
}

pub(super) fn polygon_area(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<WholeNumber, Error> {
    let mesh = of(engine, mesh);
    Ok(WholeNumber(f64::from(mesh.area(polygon(mesh, number, "#2 'polygon'")?))))
}

pub(super) fn area_cost(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<f64, Error> {
    Ok(of(engine, mesh).area_cost(area(number, NULL_AREA + 1)?).into())
}

pub(super) fn set_area_cost(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
    cost: f64,
) -> Result<(), Error> {
    let area = area(number, NULL_AREA + 1)?;
    of_mut(engine, mesh).set_area_cost(area, self::cost(cost)?);
    Ok(())
}

fn add(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    shape: AreaShape,
    area: u8,
) -> Result<WholeNumber, Error> {
    let number = of_mut(engine, mesh).add_volume(shape, area);
    number
        .map(|number| WholeNumber(f64::from(number)))
        .ok_or_else(|| error!("the mesh has {VOLUMES_MAX} volumes (VOLUMES_MAX): remove one first"))
}

pub(super) fn add_box(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
    center: Vec3,
    size: Vec3,
    angle: Option<f64>,
) -> Result<WholeNumber, Error> {
    let area = area(number, NULL_AREA)?;
    let center = position(center, "#3 'center'")?;
    for side in size.to_array() {
        length(side.into(), "#4 'size'")?;
    }
    let angle = angle.unwrap_or(0.0) as f32;
    if !angle.is_finite() {
        return Err(error!("argument #5 'angle' must be a finite number, got {angle}"));
    }
    let (sin, cos) = sin_cos(angle);
    let corner = |x: f32, y: f32| {
        let offset = Vec2::new(cos, sin).rotate(Vec2::new(x, y) * size.truncate() * 0.5);
        (center.truncate() + offset).to_array()
    };
    let points = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let (low, high) = (center.z - size.z * 0.5, center.z + size.z * 0.5);
    add(engine, mesh, AreaShape::Prism { points, low, high }, area)
}

pub(super) fn add_cylinder(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
    at: Vec3,
    radius: f64,
    height: f64,
) -> Result<WholeNumber, Error> {
    let area = area(number, NULL_AREA)?;
    let position = position(at, "#3 'position'")?.to_array();
    let (radius, height) = (length(radius, "#4 'radius'")?, length(height, "#5 'height'")?);
    add(engine, mesh, AreaShape::Cylinder { position, radius, height }, area)
}

pub(super) fn add_convex(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
    points: PointList,
    height: f64,
) -> Result<WholeNumber, Error> {
    let area = area(number, NULL_AREA)?;
    let count = points.0.len();
    if count > CONVEX_POINTS_MAX {
        return Err(error!(
            "argument #3 'points' must have at most {CONVEX_POINTS_MAX} points \
             (CONVEX_POINTS_MAX), got {count}"
        ));
    }
    let points = points.0.into_iter().map(|point| position(point, "#3 'points'"));
    let points = points.collect::<Result<Vec<Vec3>, Error>>()?;
    let height = length(height, "#4 'height'")?;
    let low = points.iter().map(|point| point.z).fold(f32::MAX, f32::min);
    let points = convex_hull(points.iter().map(|point| point.truncate()).collect());
    if points.len() < 3 {
        return Err(error!("argument #3 'points' must have three points that are not on a line"));
    }
    add(engine, mesh, AreaShape::Prism { points, low, high: low + height }, area)
}

pub(super) fn remove_volume(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<(), Error> {
    let known = u32::try_from(number.0).ok();
    let mesh = of_mut(engine, mesh);
    if !known.is_some_and(|number| mesh.remove_volume(number)) {
        return Err(error!("argument #2 'volume': the mesh has no volume {}", number.0));
    }
    Ok(())
}

pub(super) fn num_volumes(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    of(engine, mesh).num_volumes() as u64
}

pub(super) fn num_waiting_tiles(engine: &mut Engine, mesh: NavigationMeshId) -> u64 {
    of(engine, mesh).waiting_tiles() as u64
}
