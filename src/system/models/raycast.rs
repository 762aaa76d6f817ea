//! Intersection of a ray with the triangles of a mesh. Knows no units: the ray is in the mesh's
//! space.

use engine_foundation::Vec3;
use engine_frame_packet::mesh::{MeshBounds, MeshFrame};

/// Ray: origin, direction, and maximum distance as a multiple of the direction.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    pub from: Vec3,
    pub along: Vec3,
    pub most: f32,
}

/// Returns true if a ray intersects a box (Kay and Kajiya, "Ray Tracing Complex Scenes", 1986).
fn intersects_box(ray: &Ray, bounds: &MeshBounds) -> bool {
    // Extends flat boxes slightly, so that rounding does not miss them.
    let slack = Vec3::splat(bounds.radius * 1e-4);
    let inverse_direction = ray.along.recip();
    let low = (bounds.min - slack - ray.from) * inverse_direction;
    let high = (bounds.max + slack - ray.from) * inverse_direction;
    // For a ray parallel to a side, 0 times infinity is NaN: that side clips nothing.
    let pick = |value: f32, other: f32| if value.is_nan() { other } else { value };
    let (mut begin, mut end) = (0.0f32, ray.most);
    for axis in 0..3 {
        begin = begin.max(pick(low[axis].min(high[axis]), 0.0));
        end = end.min(pick(low[axis].max(high[axis]), ray.most));
    }
    begin <= end
}

/// Returns the distance to a triangle as a multiple of the ray's direction, from either side
/// (Möller and Trumbore, "Fast, Minimum Storage Ray-Triangle Intersection", 1997).
fn intersect_triangle(ray: &Ray, [a, b, c]: [Vec3; 3]) -> Option<f32> {
    let (to_b, to_c) = (b - a, c - a);
    let across = ray.along.cross(to_c);
    let turn = to_b.dot(across);
    if turn == 0.0 || !turn.is_finite() {
        return None;
    }
    let start = ray.from - a;
    let u = start.dot(across) / turn;
    let side = start.cross(to_b);
    let v = ray.along.dot(side) / turn;
    let at = to_c.dot(side) / turn;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    (inside && (0.0..=ray.most).contains(&at)).then_some(at)
}

/// Returns the first triangle that a ray hits: the distance as a multiple of the ray's direction,
/// and the triangle's normal, which is not normalized.
pub fn first_hit(mesh: &MeshFrame, ray: Ray) -> Option<(f32, Vec3)> {
    if !intersects_box(&ray, &mesh.bounds) {
        return None;
    }
    let corner = |index: u32| Vec3::from_array(mesh.vertices[index as usize].position);
    let mut first: Option<(f32, Vec3)> = None;
    for part in &mesh.parts {
        let indices = &mesh.indices[part.first as usize..][..part.count as usize];
        for three in indices.chunks_exact(3) {
            let triangle = [corner(three[0]), corner(three[1]), corner(three[2])];
            let most = first.map_or(ray.most, |(at, _)| at);
            if let Some(at) = intersect_triangle(&Ray { most, ..ray }, triangle) {
                let [a, b, c] = triangle;
                first = Some((at, (b - a).cross(c - a)));
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::mesh::{MeshPart, MeshVertex};

    /// Builds two squares with sides of two metres, at heights 0 and 1.
    fn squares() -> MeshFrame {
        let mut vertices = Vec::new();
        for z in [0.0, 1.0] {
            for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                vertices.push(MeshVertex { position: [x, y, z], ..MeshVertex::default() });
            }
        }
        MeshFrame {
            name: "squares".to_string(),
            bounds: MeshBounds::of(&vertices),
            vertices,
            indices: vec![0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7],
            parts: vec![MeshPart { first: 0, count: 12, surface: 0 }],
            skin: None,
            morph: None,
        }
    }

    #[test]
    fn a_ray_hits_the_first_triangle_from_either_side() {
        let check = |from: [f32; 3], along: [f32; 3], most: f32, wanted: Option<f32>| {
            let ray = Ray { from: Vec3::from_array(from), along: Vec3::from_array(along), most };
            let found = first_hit(&squares(), ray).map(|(at, _)| at);
            assert_eq!(found, wanted, "{ray:?}");
        };
        check([0.2, 0.1, 3.0], [0.0, 0.0, -1.0], 100.0, Some(2.0));
        check([0.2, 0.1, 3.0], [0.0, 0.0, -2.0], 100.0, Some(1.0));
        check([0.2, 0.1, -3.0], [0.0, 0.0, 1.0], 100.0, Some(3.0));
        check([0.2, 0.1, 0.5], [0.0, 0.0, -1.0], 100.0, Some(0.5));
        check([0.2, 0.1, 3.0], [0.0, 0.0, -1.0], 1.9, None);
        check([0.2, 0.1, 3.0], [0.0, 0.0, 1.0], 100.0, None);
        check([1.5, 0.1, 3.0], [0.0, 0.0, -1.0], 100.0, None);
        check([1.5, 0.1, 3.0], [f32::NAN, 0.0, -1.0], 100.0, None);
    }

    #[test]
    fn a_hit_has_the_normal_of_the_front_side() {
        let ray = Ray { from: Vec3::new(0.2, 0.1, -3.0), along: Vec3::Z, most: 9.0 };
        let (_, normal) = first_hit(&squares(), ray).unwrap();
        assert_eq!(normal.normalize(), Vec3::Z);
    }
}
