//! Polygons with a picture and a color at each corner, as triangles. Knows no Guis: it fills
//! arrays.

use super::TextureSource;
use super::triangulation::{POINT_TESTS_MAX, keeps_edges, shifted, triangles};
use engine_frame_packet::gui::QuadInstance;

/// A corner of a polygon.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeshCorner {
    pub point: [f32; 2],
    /// Texture coordinates in the texture of the source.
    pub uv: [f32; 2],
    pub color: [u8; 4],
}

impl TextureSource {
    /// Returns the texture coordinates of a point of the picture: 0, 0 is its left top, 1, 1 its
    /// right bottom.
    pub fn point(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let [left, bottom, right, top] = self.uv;
        [left + (right - left) * u, top + (bottom - top) * v]
    }
}

/// Builds a polygon with antialiased edges; `pixel` is the width of a pixel. If `pixel` is 0, the
/// edges are hard. `paint` is that of the polygon's source. The edges must not cross.
///
/// The interior ends half a pixel inside the edge, and a fringe fades out to half a pixel outside.
///
/// # Errors
/// Returns an error under the conditions of [`triangles`].
pub fn mesh_polygon(
    corners: &[MeshCorner],
    paint: u32,
    pixel: f32,
    into: &mut Vec<QuadInstance>,
) -> Result<(), String> {
    let mut corners = corners.to_vec();
    corners.dedup_by_key(|corner| corner.point);
    if corners.len() > 1 && corners[0].point == corners[corners.len() - 1].point {
        corners.pop();
    }
    let points: Vec<[f32; 2]> = corners.iter().map(|corner| corner.point).collect();
    if pixel <= 0.0 || points.len() < 3 {
        let each = triangles(&points, POINT_TESTS_MAX)?;
        into.extend(each.iter().map(|each| triangle(each.map(|i| corners[i]), paint)));
        return Ok(());
    }
    let (inner, outer) = shifted(&points, pixel / 2.0);
    let shrunk = match keeps_edges(&points, &inner) {
        true => triangles(&inner, POINT_TESTS_MAX).ok(),
        false => None,
    };
    // A polygon thinner than a pixel has no such interior; its edges then fade only outside.
    let fits = shrunk.is_some();
    let each = match shrunk {
        Some(each) => each,
        None => triangles(&points, POINT_TESTS_MAX)?,
    };
    if fits {
        corners.iter_mut().zip(&inner).for_each(|(corner, inner)| corner.point = *inner);
    }
    into.extend(each.iter().map(|each| triangle(each.map(|i| corners[i]), paint)));
    for i in 0..corners.len() {
        let next = (i + 1) % corners.len();
        let edge = |i: usize| {
            let [red, green, blue, alpha] = corners[i].color;
            let color = [red, green, blue, if fits { alpha } else { alpha / 2 }];
            MeshCorner { color, ..corners[i] }
        };
        let faded = |i: usize| MeshCorner { point: outer[i], color: [0; 4], ..corners[i] };
        into.push(triangle([edge(i), edge(next), faded(next)], paint));
        into.push(triangle([edge(i), faded(next), faded(i)], paint));
    }
    Ok(())
}

fn triangle(corners: [MeshCorner; 3], paint: u32) -> QuadInstance {
    let (points, uv) = (corners.map(|corner| corner.point), corners.map(|corner| corner.uv));
    QuadInstance::mesh(points, uv, corners.map(|corner| corner.color), paint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::gui::paint;

    fn corner(x: f32, y: f32, alpha: u8) -> MeshCorner {
        MeshCorner { point: [x, y], uv: [x / 10.0, 1.0 - y / 10.0], color: [9, 8, 7, alpha] }
    }

    fn build(corners: &[MeshCorner], pixel: f32) -> Result<Vec<QuadInstance>, String> {
        let mut into = Vec::new();
        let paint = QuadInstance::paint(paint::TEXTURE, 0, 0);
        mesh_polygon(corners, paint, pixel, &mut into).map(|()| into)
    }

    #[test]
    fn a_polygon_becomes_triangles_with_the_values_of_its_corners() {
        let square = [
            corner(0.0, 0.0, 255),
            corner(10.0, 0.0, 200),
            corner(10.0, 10.0, 9),
            corner(0.0, 10.0, 3),
        ];
        let hard = build(&square, 0.0).unwrap();
        assert_eq!(hard.len(), 2);
        for triangle in &hard {
            assert!(triangle.is_mesh());
            for i in 0..3 {
                let [x, y] = [triangle.corners[2 * i], triangle.corners[2 * i + 1]];
                let uv = [triangle.uv[0], triangle.uv[1], triangle.uv[2], triangle.uv[3]];
                let uv = [uv[0], uv[1], uv[2], uv[3], triangle.extra[0], triangle.extra[1]];
                assert_eq!([uv[2 * i], uv[2 * i + 1]], [x / 10.0, 1.0 - y / 10.0]);
            }
        }
        assert_eq!(build(&square, 1.0).unwrap().len(), 2 + 2 * 4, "each edge fades");
    }

    #[test]
    fn repeated_corners_count_once() {
        let corners = [
            corner(0.0, 0.0, 1),
            corner(0.0, 0.0, 1),
            corner(9.0, 0.0, 1),
            corner(0.0, 9.0, 1),
            corner(0.0, 0.0, 1),
        ];
        assert_eq!(build(&corners, 0.0).unwrap().len(), 1);
        assert!(build(&corners[..2], 0.0).unwrap_err().contains("has no area"));
        assert!(build(&corners[..2], 1.0).unwrap_err().contains("has no area"));
    }
}
