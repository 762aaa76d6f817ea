//! Shapes of bodies, as data. How they collide is rapier's.

use super::PLACE_MAX;
use super::ground::Ground;
use crate::foundation::memory::limit;
use crate::foundation::{Error, Quat, Vec3};
use rapier3d::parry::transformation::try_convex_hull;
use rapier3d::prelude::{ColliderBuilder, SharedShape};
use std::borrow::Cow;

/// The most points of a hull or a mesh.
pub const POINTS_MAX: usize = 1 << 20;
/// The most corners of a hull: four times as many take sixteen times as long, and so many about a
/// second. Points inside of it do not count.
pub const HULL_CORNERS_MAX: usize = 1 << 16;
/// The most points that are made a hull at once while corners are looked for among more points.
const PART_POINTS: usize = 1 << 14;
/// Bytes that a hull or a mesh takes for each of its points, with its tree of boxes.
const POINT_BYTES: usize = 256;

/// A shape, around its own origin; metres.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Half the lengths of its edges.
    Box {
        half: Vec3,
    },
    Sphere {
        radius: f32,
    },
    /// Upright: half the height between the centres of its ends.
    Capsule {
        half_height: f32,
        radius: f32,
    },
    /// Upright.
    Cylinder {
        half_height: f32,
        radius: f32,
    },
    /// The smallest convex shape around points.
    Hull {
        points: Vec<Vec3>,
    },
    /// Triangles, for what does not move.
    Mesh {
        points: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    },
    /// All that is below a plane through the origin.
    Plane {
        normal: Vec3,
    },
    /// One of the others, made once for many bodies.
    Solid(Solid),
}

/// A shape that is made, ready to be shared.
#[derive(Clone)]
pub struct Solid(SharedShape);

impl PartialEq for Solid {
    fn eq(&self, other: &Solid) -> bool {
        std::sync::Arc::ptr_eq(&self.0.0, &other.0.0)
    }
}

impl std::fmt::Debug for Solid {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Solid")
    }
}

impl Shape {
    /// What is wrong with its numbers, if anything is.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |name: &str, number: f32| match number {
            number if number > PLACE_MAX => {
                Err(crate::error!("{name} must be at most {PLACE_MAX} metres, got {number:e}"))
            }
            number if number > 0.0 => Ok(()),
            number => Err(crate::error!("{name} must be more than 0 metres, got {number}")),
        };
        let many = |points: &[Vec3], least: usize| {
            if points.len() < least || points.len() > POINTS_MAX {
                return Err(crate::error!(
                    "it needs {least} to {POINTS_MAX} points, and has {}",
                    points.len()
                ));
            }
            limit::check_room(points.len() * POINT_BYTES)?;
            match points.iter().all(|point| point.is_finite()) {
                true => Ok(()),
                false => Err(crate::error!("one of its points is not finite")),
            }
        };
        match self {
            Shape::Box { half } => {
                positive("the half width", half.x)?;
                positive("the half depth", half.y)?;
                positive("the half height", half.z)
            }
            Shape::Sphere { radius } => positive("the radius", *radius),
            Shape::Capsule { half_height, radius } | Shape::Cylinder { half_height, radius } => {
                positive("the half height", *half_height)?;
                positive("the radius", *radius)
            }
            Shape::Hull { points } => many(points, 4),
            Shape::Mesh { points, triangles } => {
                many(points, 3)?;
                let count = points.len() as u32;
                match triangles.iter().flatten().find(|index| **index >= count) {
                    Some(index) => Err(crate::error!(
                        "a triangle names point {index}, and there are {count} from 0"
                    )),
                    None if triangles.is_empty() => Err(crate::error!("it has no triangles")),
                    None => Ok(()),
                }
            }
            Shape::Solid(_) => Ok(()),
            Shape::Plane { normal } => match normal.try_normalize() {
                Some(_) => Ok(()),
                None => Err(crate::error!("the plane's normal must not be zero")),
            },
        }
    }

    /// The same shape, larger: mirrored or flat scales are refused.
    ///
    /// # Errors
    /// A part of the scale is zero or negative, or a round shape would not stay round.
    pub fn scaled(&self, scale: Vec3) -> Result<Shape, Error> {
        if scale.min_element() <= 0.0 {
            return Err(crate::error!("a body's scale must be more than 0, got {scale}"));
        }
        let even = (scale.max_element() - scale.min_element()).abs() < 1e-4 * scale.max_element();
        let round = |shape| match even {
            true => Ok(shape),
            false => Err(crate::error!(
                "a round shape must be scaled by the same number along every axis, got {scale}"
            )),
        };
        let all = |points: &[Vec3]| points.iter().map(|point| *point * scale).collect();
        match self {
            Shape::Box { half } => Ok(Shape::Box { half: *half * scale }),
            Shape::Sphere { radius } => round(Shape::Sphere { radius: radius * scale.x }),
            Shape::Capsule { half_height, radius } => round(Shape::Capsule {
                half_height: half_height * scale.x,
                radius: radius * scale.x,
            }),
            Shape::Cylinder { half_height, radius } => round(Shape::Cylinder {
                half_height: half_height * scale.x,
                radius: radius * scale.x,
            }),
            Shape::Hull { points } => Ok(Shape::Hull { points: all(points) }),
            Shape::Mesh { points, triangles } => {
                Ok(Shape::Mesh { points: all(points), triangles: triangles.clone() })
            }
            Shape::Plane { .. } => Ok(self.clone()),
            Shape::Solid(_) => match scale == Vec3::ONE {
                true => Ok(self.clone()),
                false => Err(crate::error!("a shape that is made keeps its size")),
            },
        }
    }

    pub(super) fn builder(&self) -> Result<ColliderBuilder, Error> {
        self.check()?;
        Ok(match self {
            Shape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
            Shape::Sphere { radius } => ColliderBuilder::ball(*radius),
            Shape::Capsule { half_height, radius } => {
                ColliderBuilder::capsule_z(*half_height, *radius)
            }
            // rapier's stands along y: a hull of its own would be slower.
            Shape::Cylinder { half_height, radius } => {
                let upright = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
                let pose = rapier3d::prelude::Pose::from_parts(Vec3::ZERO, upright);
                let shape = SharedShape::cylinder(*half_height, *radius);
                ColliderBuilder::compound(vec![(pose, shape)])
            }
            Shape::Hull { points } => ColliderBuilder::convex_hull(&corners(points)?)
                .ok_or_else(|| crate::error!("its points lie in a plane: a hull needs volume"))?,
            Shape::Mesh { points, triangles } => {
                ColliderBuilder::trimesh(points.clone(), triangles.clone())
                    .map_err(|fault| crate::error!("the mesh cannot be collided with: {fault}"))?
            }
            Shape::Plane { normal } => {
                ColliderBuilder::new(SharedShape::new(Ground::new(normal.normalize())))
            }
            Shape::Solid(Solid(shape)) => ColliderBuilder::new(shape.clone()),
        })
    }

    /// The same, made once for many bodies: hulls and meshes take time.
    ///
    /// # Errors
    /// It cannot be.
    pub fn solid(&self) -> Result<Shape, Error> {
        Ok(Shape::Solid(Solid(self.shared()?)))
    }

    pub(super) fn shared(&self) -> Result<SharedShape, Error> {
        Ok(self.builder()?.build().shared_shape().clone())
    }
}

/// The points that may be corners of a hull: all of them, or, of more than HULL_CORNERS_MAX, the
/// corners of the hulls of small parts.
///
/// # Errors
/// There are more than HULL_CORNERS_MAX.
fn corners(points: &[Vec3]) -> Result<Cow<'_, [Vec3]>, Error> {
    if points.len() <= HULL_CORNERS_MAX {
        return Ok(Cow::Borrowed(points));
    }
    let parts = points.len().div_ceil(PART_POINTS);
    let mut corners = Vec::new();
    for part in 0..parts {
        // Each part is spread over all of the shape, so that most of its points are inside.
        let part: Vec<Vec3> = points.iter().skip(part).step_by(parts).copied().collect();
        match try_convex_hull(&part) {
            Ok((found, _)) => corners.extend(found),
            Err(_) => corners.extend(part),
        }
        if corners.len() > HULL_CORNERS_MAX {
            return Err(crate::error!(
                "a hull has at most {HULL_CORNERS_MAX} corners (HULL_CORNERS_MAX), and more than \
                 that of its {} points may be corners: give it fewer points",
                points.len()
            ));
        }
    }
    Ok(Cow::Owned(corners))
}
