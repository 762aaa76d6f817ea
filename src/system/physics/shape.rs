//! Shapes of bodies, as data. Collision is implemented by rapier.

use super::POSITION_MAX;
use super::flat_shape;
use super::half_space::SolidHalfSpace;
use engine_foundation::memory::limit;
use engine_foundation::{Error, Quat, Vec2, Vec3};
use rapier3d::parry::transformation::try_convex_hull;
use rapier3d::prelude::{ColliderBuilder, SharedShape, TriMeshFlags};
use std::borrow::Cow;

/// Maximum number of points of a hull or a mesh.
pub const POINTS_MAX: usize = 1 << 20;
/// Maximum number of corners of a hull. The limit takes about a second, and four times as many take
/// sixteen times as long. Points inside the hull do not count.
pub const HULL_CORNERS_MAX: usize = 1 << 16;
/// Maximum number of points per partial hull, when corners are searched for among more points.
const PART_POINTS: usize = 1 << 14;
/// Bytes per point of a hull or a mesh, including its bounding volume tree.
const POINT_BYTES: usize = 256;

/// A collision shape around its origin, in metres. Up is z, and y in two-dimensional worlds.
#[derive(Clone, PartialEq, Debug)]
pub enum ColliderShape {
    /// A box with the given half extents.
    Box {
        half: Vec3,
    },
    Sphere {
        radius: f32,
    },
    /// An upright capsule. `half_height` is half the distance between the centers of its ends.
    Capsule {
        half_height: f32,
        radius: f32,
    },
    /// An upright cylinder.
    Cylinder {
        half_height: f32,
        radius: f32,
    },
    /// The convex hull of points.
    Hull {
        points: Vec<Vec3>,
    },
    /// A triangle mesh, for bodies that do not move.
    Mesh {
        points: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    },
    /// The outer faces of a solid as a triangle mesh, for bodies that do not move. Bodies slide
    /// over the edges between its triangles without bumps. Faces stop what comes from their front.
    Surface {
        points: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    },
    /// The half-space below a plane through the origin. Without a normal, it is up.
    Plane {
        normal: Option<Vec3>,
    },
    /// The convex hull of points in the plane of x and y, in a two-dimensional world.
    Polygon {
        points: Vec<Vec2>,
    },
    /// A chain of segments in the plane of x and y, in a two-dimensional world, for bodies that do
    /// not move. It returns to its first point if it is closed.
    Chain {
        points: Vec<Vec2>,
        closed: bool,
    },
    /// A prepared shape, built once and shared by many bodies.
    Shared(ColliderGeometry),
}

/// A shape as it is built for a body.
pub(super) struct BuiltShape<'a> {
    pub shape: Cow<'a, ColliderShape>,
    /// Factor from the density of the game to that of the built shape.
    pub density: f32,
    /// Half the depth of a box before it was made deeper, or 0. It is kept in the collider, as the
    /// threshold of contact force events, which do not exist here.
    pub depth: f32,
}

/// A shape prepared for sharing.
#[derive(Clone)]
pub struct ColliderGeometry(SharedShape);

impl PartialEq for ColliderGeometry {
    fn eq(&self, other: &ColliderGeometry) -> bool {
        std::sync::Arc::ptr_eq(&self.0.0, &other.0.0)
    }
}

impl std::fmt::Debug for ColliderGeometry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Solid")
    }
}

impl ColliderShape {
    /// Returns an error if the numbers of the shape are invalid.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |name: &str, number: f32| match number {
            number if number > POSITION_MAX => Err(engine_foundation::error!(
                "{name} must be at most {POSITION_MAX} metres, got {number:e}"
            )),
            number if number > 0.0 => Ok(()),
            number => {
                Err(engine_foundation::error!("{name} must be more than 0 metres, got {number}"))
            }
        };
        let many = |points: &[Vec3], least| {
            check_points(points.len(), least, points.iter().all(|point| point.is_finite()))
        };
        let flat = |points: &[Vec2], least| {
            check_points(points.len(), least, points.iter().all(|point| point.is_finite()))
        };
        match self {
            ColliderShape::Box { half } => {
                positive("the half width", half.x)?;
                positive("the half depth", half.y)?;
                positive("the half height", half.z)
            }
            ColliderShape::Sphere { radius } => positive("the radius", *radius),
            ColliderShape::Capsule { half_height, radius }
            | ColliderShape::Cylinder { half_height, radius } => {
                positive("the half height", *half_height)?;
                positive("the radius", *radius)
            }
            ColliderShape::Hull { points } => many(points, 4),
            ColliderShape::Mesh { points, triangles }
            | ColliderShape::Surface { points, triangles } => {
                many(points, 3)?;
                let count = points.len() as u32;
                match triangles.iter().flatten().find(|index| **index >= count) {
                    Some(index) => Err(engine_foundation::error!(
                        "a triangle names point {index}, and there are {count}, counted from 0"
                    )),
                    None if triangles.is_empty() => {
                        Err(engine_foundation::error!("it has no triangles"))
                    }
                    None => Ok(()),
                }
            }
            ColliderShape::Polygon { points } => {
                flat(points, 3)?;
                flat_shape::check_polygon(points)
            }
            ColliderShape::Chain { points, closed } => {
                flat(points, 2)?;
                flat_shape::check_chain(points, *closed)
            }
            ColliderShape::Shared(_) => Ok(()),
            ColliderShape::Plane { normal: None } => Ok(()),
            ColliderShape::Plane { normal: Some(normal) } => match normal.try_normalize() {
                Some(_) => Ok(()),
                None => Err(engine_foundation::error!("the plane's normal must not be zero")),
            },
        }
    }

    /// Returns the scaled shape.
    ///
    /// # Errors
    /// Returns an error if a component of the scale is zero or negative, or if a round shape would
    /// not stay round.
    pub fn scaled(&self, scale: Vec3) -> Result<ColliderShape, Error> {
        if scale.min_element() <= 0.0 {
            return Err(engine_foundation::error!(
                "a body's scale must be more than 0, got {scale}"
            ));
        }
        let even = (scale.max_element() - scale.min_element()).abs() < 1e-4 * scale.max_element();
        let round = |shape| match even {
            true => Ok(shape),
            false => Err(engine_foundation::error!(
                "a round shape must be scaled by the same number along every axis, got {scale}"
            )),
        };
        let in_plane = |points: &[Vec2]| {
            points.iter().map(|point| *point * scale.truncate()).collect::<Vec<Vec2>>()
        };
        let all = |points: &[Vec3]| points.iter().map(|point| *point * scale).collect();
        match self {
            ColliderShape::Box { half } => Ok(ColliderShape::Box { half: *half * scale }),
            ColliderShape::Sphere { radius } => {
                round(ColliderShape::Sphere { radius: radius * scale.x })
            }
            ColliderShape::Capsule { half_height, radius } => round(ColliderShape::Capsule {
                half_height: half_height * scale.x,
                radius: radius * scale.x,
            }),
            ColliderShape::Cylinder { half_height, radius } => round(ColliderShape::Cylinder {
                half_height: half_height * scale.x,
                radius: radius * scale.x,
            }),
            ColliderShape::Hull { points } => Ok(ColliderShape::Hull { points: all(points) }),
            ColliderShape::Mesh { points, triangles } => {
                Ok(ColliderShape::Mesh { points: all(points), triangles: triangles.clone() })
            }
            ColliderShape::Surface { points, triangles } => {
                Ok(ColliderShape::Surface { points: all(points), triangles: triangles.clone() })
            }
            ColliderShape::Polygon { points } => {
                Ok(ColliderShape::Polygon { points: in_plane(points) })
            }
            ColliderShape::Chain { points, closed } => {
                Ok(ColliderShape::Chain { points: in_plane(points), closed: *closed })
            }
            ColliderShape::Plane { .. } => Ok(self.clone()),
            ColliderShape::Shared(_) => match scale == Vec3::ONE {
                true => Ok(self.clone()),
                false => Err(engine_foundation::error!("a built shape keeps its size")),
            },
        }
    }

    /// Returns true if building the shape takes time, as for hulls and meshes.
    pub(super) fn is_slow_to_build(&self) -> bool {
        let is_quick = matches!(self, ColliderShape::Box { .. } | ColliderShape::Polygon { .. });
        !is_quick
    }

    /// Returns the shape as a body has it. In a two-dimensional world, boxes are deeper than they
    /// are, if `level` is true: they are not turned out of the plane. Polygons are a metre deep.
    pub(super) fn built_in(&self, flat: bool, level: bool) -> BuiltShape<'_> {
        let same = BuiltShape { shape: Cow::Borrowed(self), density: 1.0, depth: 0.0 };
        match self {
            ColliderShape::Box { half } if level => {
                let depth = flat_shape::built_depth(half.truncate()).max(half.z);
                let shape = Cow::Owned(ColliderShape::Box { half: half.with_z(depth) });
                BuiltShape { shape, density: half.z / depth, depth: half.z }
            }
            ColliderShape::Polygon { points } if flat => {
                BuiltShape { density: flat_shape::polygon_density_factor(points), ..same }
            }
            _ => same,
        }
    }

    /// Returns the builder of the shape, which is for a two-dimensional world if `flat` is true.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub(super) fn builder(&self, flat: bool) -> Result<ColliderBuilder, Error> {
        self.check()?;
        let up = up_axis(flat);
        Ok(match self {
            ColliderShape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
            ColliderShape::Sphere { radius } => ColliderBuilder::ball(*radius),
            ColliderShape::Capsule { half_height, radius } if flat => {
                ColliderBuilder::capsule_y(*half_height, *radius)
            }
            ColliderShape::Capsule { half_height, radius } => {
                ColliderBuilder::capsule_z(*half_height, *radius)
            }
            ColliderShape::Cylinder { half_height, radius } if flat => {
                ColliderBuilder::cylinder(*half_height, *radius)
            }
            // rapier's cylinder is along y. A hull in its place would be slower.
            ColliderShape::Cylinder { half_height, radius } => {
                let upright = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
                let pose = rapier3d::prelude::Pose::from_parts(Vec3::ZERO, upright);
                let shape = SharedShape::cylinder(*half_height, *radius);
                ColliderBuilder::compound(vec![(pose, shape)])
            }
            ColliderShape::Hull { points } => ColliderBuilder::convex_hull(&corners(points)?)
                .ok_or_else(|| {
                    engine_foundation::error!("its points lie in a plane: a hull needs volume")
                })?,
            ColliderShape::Mesh { points, triangles } => {
                ColliderBuilder::trimesh(points.clone(), triangles.clone()).map_err(|error| {
                    engine_foundation::error!("the mesh cannot be used for collisions: {error}")
                })?
            }
            ColliderShape::Surface { points, triangles } => {
                let (points, triangles) = (points.clone(), triangles.clone());
                let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
                ColliderBuilder::trimesh_with_flags(points, triangles, flags).map_err(|error| {
                    engine_foundation::error!("the faces cannot be used for collisions: {error}")
                })?
            }
            ColliderShape::Plane { normal } => {
                let normal = normal.unwrap_or(up).normalize();
                ColliderBuilder::new(SharedShape::new(SolidHalfSpace::new(normal)))
            }
            ColliderShape::Polygon { points } => flat_shape::polygon(points, flat)?,
            ColliderShape::Chain { points, closed } => flat_shape::chain(points, *closed, flat)?,
            ColliderShape::Shared(ColliderGeometry(shape)) => ColliderBuilder::new(shape.clone()),
        })
    }

    /// Returns the shape prepared for sharing between many bodies, because hulls and meshes take
    /// time to build.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn solid(&self, flat: bool) -> Result<ColliderShape, Error> {
        Ok(ColliderShape::Shared(ColliderGeometry(self.shared(flat)?)))
    }

    pub(super) fn shared(&self, flat: bool) -> Result<SharedShape, Error> {
        Ok(self.builder(flat)?.build().shared_shape().clone())
    }
}

/// Returns the direction that is up.
pub(super) fn up_axis(flat: bool) -> Vec3 {
    if flat { Vec3::Y } else { Vec3::Z }
}

/// Returns an error if there are too few points or too many, or if one of them is not finite.
fn check_points(count: usize, least: usize, finite: bool) -> Result<(), Error> {
    if !(least..=POINTS_MAX).contains(&count) {
        return Err(engine_foundation::error!(
            "it needs {least} to {POINTS_MAX} points, and has {count}"
        ));
    }
    limit::check_room(count * POINT_BYTES)?;
    match finite {
        true => Ok(()),
        false => Err(engine_foundation::error!("one of its points is not finite")),
    }
}

/// Returns the points that may be corners of a hull: all points, or, if there are more than
/// HULL_CORNERS_MAX, the corners of the hulls of small parts.
///
/// # Errors
/// Returns an error if more than HULL_CORNERS_MAX points may be corners.
fn corners(points: &[Vec3]) -> Result<Cow<'_, [Vec3]>, Error> {
    if points.len() <= HULL_CORNERS_MAX {
        return Ok(Cow::Borrowed(points));
    }
    let parts = points.len().div_ceil(PART_POINTS);
    let mut corners = Vec::new();
    for part in 0..parts {
        // Each part is spread over the whole shape, so that most of its points are inside.
        let part: Vec<Vec3> = points.iter().skip(part).step_by(parts).copied().collect();
        match try_convex_hull(&part) {
            Ok((found, _)) => corners.extend(found),
            Err(_) => corners.extend(part),
        }
        if corners.len() > HULL_CORNERS_MAX {
            return Err(engine_foundation::error!(
                "a hull has at most {HULL_CORNERS_MAX} corners (HULL_CORNERS_MAX), and more than \
                 that of its {} points may be corners: give it fewer points",
                points.len()
            ));
        }
    }
    Ok(Cow::Owned(corners))
}
