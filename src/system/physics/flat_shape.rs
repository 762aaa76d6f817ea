//! Shapes of two-dimensional worlds: convex polygons, and chains of segments. They are built as
//! prisms and strips, deep enough that bodies meet them only in the plane of x and y.

use engine_foundation::{Error, Vec2, Vec3, error};
use rapier3d::prelude::{ColliderBuilder, TriMeshFlags};

/// Half the depth of chains, in metres.
const CHAIN_DEPTH: f32 = 8.0;
/// Depth in metres of the body of a polygon, from which its mass is computed.
const POLYGON_DEPTH: f32 = 1.0;
/// Area of a polygon, as a fraction of its length squared, up to which it counts as a line.
const FLAT_AREA: f32 = 1e-6;
/// Minimum half depth of shapes in two-dimensional worlds, in metres.
const DEPTH_MIN: f32 = 2.0;

/// Returns half the depth of a shape in a two-dimensional world, from half its width and height. It
/// is so deep that the shortest way out of an overlap is always in the plane of x and y, whatever
/// depth the game gave it.
pub fn built_depth(half: Vec2) -> f32 {
    2.0 * half.max_element() + DEPTH_MIN
}

/// Returns half the width and height of the points.
fn half_size(points: &[Vec2]) -> Vec2 {
    let low = points.iter().copied().reduce(Vec2::min).unwrap_or_default();
    let high = points.iter().copied().reduce(Vec2::max).unwrap_or_default();
    (high - low) / 2.0
}

/// Returns the factor from the density of a built polygon to that of the game.
pub fn polygon_density_factor(points: &[Vec2]) -> f32 {
    POLYGON_DEPTH / (2.0 * built_depth(half_size(points)))
}

/// Returns an error if the shape is built for a world that is not two-dimensional.
fn check_world(flat: bool) -> Result<(), Error> {
    match flat {
        true => Ok(()),
        false => Err(error!(
            "polygons and chains need a two-dimensional world: Application.new_world(\"2d\")"
        )),
    }
}

/// Refuses points on one line.
pub fn check_polygon(points: &[Vec2]) -> Result<(), Error> {
    let first = points[0];
    let far = points.iter().map(|point| *point - first).reduce(|one, other| {
        if other.length_squared() > one.length_squared() { other } else { one }
    });
    let far = far.unwrap_or_default();
    let height = |point: &Vec2| (far.perp_dot(*point - first)).abs();
    let area = points.iter().map(height).fold(0.0, f32::max);
    match area > FLAT_AREA * far.length_squared() {
        true => Ok(()),
        false => Err(error!("its points lie on a line: a polygon needs an area")),
    }
}

/// Builds the convex hull of points.
///
/// # Errors
/// Returns an error if the points have no hull, or if the world is not two-dimensional.
pub fn polygon(points: &[Vec2], flat: bool) -> Result<ColliderBuilder, Error> {
    check_world(flat)?;
    let depth = built_depth(half_size(points));
    let both = [-depth, depth];
    let corners: Vec<Vec3> =
        both.iter().flat_map(|z| points.iter().map(|point| point.extend(*z))).collect();
    ColliderBuilder::convex_hull(&corners)
        .ok_or_else(|| error!("its points have no hull: a polygon needs an area"))
}

/// Refuses a chain with too few points, or with neighbours at one position.
pub fn check_chain(points: &[Vec2], closed: bool) -> Result<(), Error> {
    let least = if closed { 3 } else { 2 };
    if points.len() < least {
        return Err(error!("it needs at least {least} points, and has {}", points.len()));
    }
    let ends = (points.len() - 1, 0);
    let pairs = (0..points.len() - 1).map(|at| (at, at + 1)).chain(closed.then_some(ends));
    for (one, two) in pairs {
        if points[one].distance_squared(points[two]) < f32::EPSILON {
            return Err(error!(
                "its points {} and {} are at the same position: remove one of them{}",
                one + 1,
                two + 1,
                if two == 0 {
                    " (a closed chain returns to its first point by itself)"
                } else {
                    ""
                }
            ));
        }
    }
    Ok(())
}

/// Builds a chain of segments, which bodies cannot pass from either side. Bodies slide over the
/// joints of its segments without bumps.
///
/// # Errors
/// Returns an error if the world is not two-dimensional.
pub fn chain(points: &[Vec2], closed: bool, flat: bool) -> Result<ColliderBuilder, Error> {
    check_world(flat)?;
    let corners =
        points.iter().flat_map(|point| [point.extend(-CHAIN_DEPTH), point.extend(CHAIN_DEPTH)]);
    let count = points.len() as u32;
    let segments = if closed { count } else { count - 1 };
    let triangles = (0..segments).flat_map(|at| {
        let (one, two) = (2 * at, 2 * ((at + 1) % count));
        [[one, two, two + 1], [one, two + 1, one + 1]]
    });
    let flags = TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
    ColliderBuilder::trimesh_with_flags(corners.collect(), triangles.collect(), flags)
        .map_err(|error| error!("the chain cannot be used for collisions: {error}"))
}
