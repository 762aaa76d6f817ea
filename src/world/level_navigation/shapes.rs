//! Volumes of levels as the upright shapes that navigation meshes know.

use crate::level::LevelTransform;
use crate::volume::{Volume, VolumeShape};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};
use engine_navigation::bake::AreaShape;
use engine_navigation::volumes::convex_hull;

/// Cosine of the tilt up to which a volume counts as upright.
const UPRIGHT: f32 = 0.9999;
/// Corners of the outline of a tilted cylinder.
const CIRCLE_PARTS: u16 = 16;

/// Returns the shape of a volume in the world, and what is different about it.
pub fn upright_shape(
    volume: &Volume,
    transform: &LevelTransform,
    must_be_convex: bool,
) -> (AreaShape, Option<&'static str>) {
    let to_world = |point: Vec3| transform.to_world(volume.position + volume.rotation * point);
    let up = transform.rotation * volume.rotation * Vec3::Z;
    let is_upright = up.z > UPRIGHT;
    match &volume.shape {
        VolumeShape::Sphere { radius } => {
            let (middle, radius) = (to_world(Vec3::ZERO), radius * transform.scale);
            let position = (middle - Vec3::Z * radius).to_array();
            let shape = AreaShape::Cylinder { position, radius, height: radius * 2.0 };
            (shape, Some("the upright cylinder around the sphere"))
        }
        VolumeShape::Cylinder { radius, half } if is_upright => {
            let position = to_world(Vec3::new(0.0, 0.0, -half)).to_array();
            let (radius, height) = (radius * transform.scale, half * 2.0 * transform.scale);
            (AreaShape::Cylinder { position, radius, height }, None)
        }
        VolumeShape::Cylinder { radius, half } => {
            let rim = (0..CIRCLE_PARTS).map(|at| {
                let angle = f32::from(at) / f32::from(CIRCLE_PARTS) * std::f32::consts::TAU;
                let (sin, cos) = sin_cos(angle);
                Vec2::new(cos, sin) * *radius
            });
            hull_of(rim, (-half, *half), to_world)
        }
        VolumeShape::Box { half } => {
            let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
            let corners = corners.map(|corner| Vec2::from(corner) * half.truncate());
            let (shape, tilted) = hull_of(corners.into_iter(), (-half.z, half.z), to_world);
            (shape, tilted.filter(|_| !is_upright))
        }
        VolumeShape::Prism { points, height } => {
            let (shape, note) = hull_of(points.iter().copied(), (0.0, *height), to_world);
            if !is_upright {
                return (shape, note);
            }
            let AreaShape::Prism { points: hull, low, high } = shape else { return (shape, note) };
            if must_be_convex {
                let note = "the convex outline around its points";
                let is_convex = hull.len() == points.len();
                return (
                    AreaShape::Prism { points: hull, low, high },
                    (!is_convex).then_some(note),
                );
            }
            let points =
                points.iter().map(|point| to_world(point.extend(0.0)).truncate().to_array());
            (AreaShape::Prism { points: points.collect(), low, high }, None)
        }
    }
}

/// Returns the upright hull of an outline between two heights.
fn hull_of(
    outline: impl Iterator<Item = Vec2>,
    (low, high): (f32, f32),
    to_world: impl Fn(Vec3) -> Vec3,
) -> (AreaShape, Option<&'static str>) {
    let corners: Vec<Vec3> =
        outline.flat_map(|point| [point.extend(low), point.extend(high)]).map(to_world).collect();
    let low = corners.iter().map(|corner| corner.z).fold(f32::MAX, f32::min);
    let high = corners.iter().map(|corner| corner.z).fold(f32::MIN, f32::max);
    let points = convex_hull(corners.iter().map(|corner| corner.truncate()).collect());
    (AreaShape::Prism { points, low, high }, Some("the upright hull around it, which is tilted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Quat;
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

    fn shape_of(shape: VolumeShape, rotation: Quat, convex: bool) -> (AreaShape, bool) {
        let volume = Volume { shape, position: Vec3::new(1.0, 2.0, 3.0), rotation };
        let transform = LevelTransform {
            position: Vec3::new(10.0, 0.0, 0.0),
            rotation: Quat::from_rotation_z(FRAC_PI_2),
            scale: 2.0,
        };
        let (shape, note) = upright_shape(&volume, &transform, convex);
        (shape, note.is_some())
    }

    #[test]
    fn volumes_become_upright_shapes_in_the_world() {
        let round = |shape: &AreaShape| {
            let (low, high) = shape.bounds();
            [low, high].map(|corner| corner.map(|number| (number * 100.0).round() / 100.0))
        };
        // The level is turned by 90 degrees and doubled: (1, 2, 3) is at (6, 2, 6).
        let cube = VolumeShape::Box { half: Vec3::new(0.5, 1.0, 0.25) };
        let (shape, is_changed) = shape_of(cube.clone(), Quat::IDENTITY, true);
        assert_eq!(round(&shape), [[4.0, 1.0, 5.5], [8.0, 3.0, 6.5]]);
        assert!(!is_changed && shape.covers([6.0, 2.0]));
        let (shape, is_changed) = shape_of(cube, Quat::from_rotation_x(FRAC_PI_4), true);
        assert!(is_changed && shape.covers([6.0, 2.0]));
        let sphere = VolumeShape::Sphere { radius: 1.0 };
        let (shape, is_changed) = shape_of(sphere, Quat::IDENTITY, true);
        assert_eq!((round(&shape), is_changed), ([[4.0, 0.0, 4.0], [8.0, 4.0, 8.0]], true));
        let cylinder = VolumeShape::Cylinder { radius: 1.0, half: 2.0 };
        let (shape, is_changed) = shape_of(cylinder.clone(), Quat::IDENTITY, true);
        assert_eq!((round(&shape), is_changed), ([[4.0, 0.0, 2.0], [8.0, 4.0, 10.0]], false));
        let (shape, is_changed) = shape_of(cylinder, Quat::from_rotation_x(FRAC_PI_2), true);
        assert_eq!((round(&shape), is_changed), ([[2.0, 0.0, 4.0], [10.0, 4.0, 8.0]], true));
    }

    #[test]
    fn blockers_are_convex_and_areas_keep_their_notch() {
        let points = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0], [0.0, 4.0]].map(Vec2::from);
        let prism = VolumeShape::Prism { points: points.to_vec(), height: 1.0 };
        // The notch at (2, 3) is at (10 - 2 * 5, 2 * 3) in the world.
        let notch = [10.0 - 2.0 * (2.0 + 3.0), 2.0 * (1.0 + 2.0)];
        let (area, is_changed) = shape_of(prism.clone(), Quat::IDENTITY, false);
        assert!(!is_changed && !area.covers(notch), "{area:?}");
        let (blocker, is_changed) = shape_of(prism, Quat::IDENTITY, true);
        assert!(is_changed && blocker.covers(notch));
        let AreaShape::Prism { points, .. } = blocker else { panic!("a prism") };
        let at = |at: usize| Vec2::from(points[at % points.len()]);
        let turns =
            (0..points.len()).all(|i| (at(i + 1) - at(i)).perp_dot(at(i + 2) - at(i + 1)) > 0.0);
        assert!(turns, "counter-clockwise: {points:?}");
    }
}
