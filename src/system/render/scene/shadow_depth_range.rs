//! The depth range of the objects that an orthographic camera sees, which a sun's shadow maps must
//! cover. Draws nothing.

use super::draw_resources::DrawResources;
use super::retained_scene::{RetainedScene, state};
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::mesh::MeshBounds;
use engine_frame_packet::scene::DrawTransform;

/// Meshes with a smaller radius are treated as spheres, which is accurate enough.
const RADIUS_MIN: f32 = 4.0;

/// The corners of the six sides of a box: bit 0 of each selects x, bit 1 y, bit 2 z.
const SIDES: [[u8; 4]; 6] =
    [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

/// Clips a polygon to the inside of a plane (Sutherland and Hodgman, "Reentrant Polygon Clipping",
/// 1974).
fn clip_polygon(polygon: &mut Vec<Vec3>, plane: Vec4, scratch: &mut Vec<Vec3>) {
    scratch.clear();
    let inside = |point: Vec3| plane.truncate().dot(point) + plane.w;
    for (i, point) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        let (here, there) = (inside(*point), inside(next));
        if here >= 0.0 {
            scratch.push(*point);
        }
        if (here >= 0.0) != (there >= 0.0) {
            scratch.push(point.lerp(next, here / (here - there)));
        }
    }
    std::mem::swap(polygon, scratch);
}

/// Returns the nearest and farthest distance of the part of a box that lies between planes.
fn span_of_box(
    pose: &DrawTransform,
    bounds: &MeshBounds,
    sides: &[Vec4],
    ahead: impl Fn(Vec3) -> f32,
) -> [f32; 2] {
    let DrawTransform([x, y, z]) = pose;
    let corner = |which: u8| {
        let pick = |bit: u8, axis: usize| match which & bit {
            0 => bounds.min[axis],
            _ => bounds.max[axis],
        };
        let at = Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2)).extend(1.0);
        Vec3::from_array([x, y, z].map(|row| Vec4::from_array(*row).dot(at)))
    };
    let (mut polygon, mut scratch) = (Vec::new(), Vec::new());
    let [mut least, mut most] = [f32::INFINITY, f32::NEG_INFINITY];
    for side in SIDES {
        polygon.clear();
        polygon.extend(side.map(corner));
        for plane in sides {
            clip_polygon(&mut polygon, *plane, &mut scratch);
        }
        for point in &polygon {
            let depth = ahead(*point);
            (least, most) = (least.min(depth), most.max(depth));
        }
    }
    [least, most]
}

/// Returns the range of distances ahead of a camera in which the visible objects lie; `None` if
/// there are none. `sides` are the planes to its left, right, below and above.
pub fn span(
    scene: &RetainedScene,
    library: &DrawResources,
    visible: &[u32],
    view: &Mat4,
    sides: &[Vec4],
) -> Option<[f32; 2]> {
    let ahead = |point: Vec3| -view.transform_point3(point).z;
    let [mut least, mut most] = [f32::INFINITY, f32::NEG_INFINITY];
    for slot in visible {
        let (center, radius) = scene.spheres.get(*slot as usize);
        let middle = ahead(center);
        if middle - radius >= least && middle + radius <= most {
            // The object lies within the known range.
            continue;
        }
        let has_box = scene.states[*slot as usize] & state::DEFORMED == 0 && radius >= RADIUS_MIN;
        let known = library.mesh(scene.mesh(*slot)).filter(|_| has_box);
        let [near, far] = match known {
            Some(mesh) => span_of_box(&scene.data[*slot as usize].pose, &mesh.bounds, sides, ahead),
            None => [middle - radius, middle + radius],
        };
        (least, most) = (least.min(near), most.max(far));
    }
    (least <= most).then_some([least, most])
}

#[cfg(test)]
mod tests {
    use super::super::culling::planes;
    use super::*;
    use engine_foundation::projections::orthographic;
    use engine_foundation::views::look_to_mat4;

    #[test]
    fn depths_of_a_large_floor_are_clipped_to_the_frustum_sides() {
        // From above, to the ground at 45 degrees: the floor is seen from 15 to 25 metres.
        let from = Vec3::new(0.0, -200.0f32.sqrt(), 200.0f32.sqrt());
        let direction = Vec3::new(0.0, 1.0, -1.0).normalize();
        let view = look_to_mat4(from, direction, Vec3::Z);
        let sides = planes(&(orthographic(-8.0, 8.0, -5.0, 5.0, 0.1, 100.0) * view));
        let check = |half: f32, wanted: [f32; 2]| {
            let (min, max) = (Vec3::new(-half, -half, 0.0), Vec3::new(half, half, 0.0));
            let bounds = MeshBounds { min, max, center: Vec3::ZERO, radius: half };
            let ahead = |point: Vec3| -view.transform_point3(point).z;
            let found = span_of_box(&DrawTransform::IDENTITY, &bounds, &sides[..4], ahead);
            let off = [0, 1].map(|i| (found[i] - wanted[i]).abs());
            assert!(off.iter().all(|off| *off < 1e-3), "{half}: {found:?}");
        };
        check(500.0, [15.0, 25.0]);
        check(2.0, [20.0 - 2.0f32.sqrt(), 20.0 + 2.0f32.sqrt()]);
    }
}
