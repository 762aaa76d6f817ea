//! Conversion of triangles into the renderer's vertices: generates missing normals and tangents,
//! and splits corners that cannot share a vertex. Knows no files.

use engine_foundation::{Vec2, Vec3, Vec4};
use engine_frame_packet::mesh::MeshVertex;

/// Method that generates missing normals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NormalSource {
    /// Flat triangles, as glTF 2.0 (3.7.2.1) requires.
    Flat,
    /// Smooth normals across triangles that share a vertex.
    Smooth,
}

/// Input triangles. Empty lists are generated; the others are as long as `positions`.
#[derive(Clone, Debug, Default)]
pub struct TriangleInput {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// Tangents. The last component is 1 or -1: the side on which the texture's up direction is.
    pub tangents: Vec<Vec4>,
    pub uvs: Vec<Vec2>,
    /// sRGB colors and alpha.
    pub colors: Vec<[u8; 4]>,
    /// Three indices for each triangle, all below the number of positions.
    pub indices: Vec<u32>,
}

/// Vertices and indices as drawn.
#[derive(Clone, Debug, Default)]
pub struct BuiltMesh {
    pub vertices: Vec<MeshVertex>,
    pub indices: Vec<u32>,
    /// Index of the input corner of each vertex.
    pub from: Vec<u32>,
}

impl TriangleInput {
    /// Builds the vertices. `missing` selects how missing normals are generated.
    pub fn build(&self, missing: NormalSource) -> BuiltMesh {
        let mut built = BuiltMesh {
            vertices: Vec::new(),
            indices: self.indices.clone(),
            from: (0..self.positions.len() as u32).collect(),
        };
        let mut normals = self.normals.clone();
        if normals.is_empty() {
            normals = match missing {
                NormalSource::Flat => self.flat(&mut built),
                NormalSource::Smooth => self.smooth(),
            };
        }
        let tangents = match self.tangents.is_empty() {
            true => self.generate_tangents(&mut built, &mut normals),
            false => built.from.iter().map(|from| self.tangents[*from as usize]).collect(),
        };
        built.vertices = (0..built.from.len())
            .map(|at| {
                let from = built.from[at] as usize;
                MeshVertex {
                    position: self.positions[from].to_array(),
                    normal: MeshVertex::packed(normals[at], 0.0),
                    tangent: MeshVertex::packed(tangents[at].truncate(), tangents[at].w),
                    uv: self.uvs.get(from).map_or([0.0; 2], |uv| uv.to_array()),
                    color: self.colors.get(from).copied().unwrap_or([255; 4]),
                }
            })
            .collect();
        built
    }

    /// Returns true if most triangles contradict their normals: they are clockwise as seen from the
    /// side that the normals point to.
    pub fn is_inside_out(&self) -> bool {
        if self.normals.is_empty() {
            return false;
        }
        let (mut right, mut wrong) = (0, 0);
        for corners in self.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|i| corners[i] as usize);
            let [a, b, c] = self.positions_of(corners);
            let normal: Vec3 = corners.iter().map(|corner| self.normals[*corner]).sum();
            let facing = (b - a).cross(c - a).dot(normal);
            right += usize::from(facing > 0.0);
            wrong += usize::from(facing < 0.0);
        }
        wrong > right
    }

    fn triangle(&self, built: &BuiltMesh, first: usize) -> [usize; 3] {
        [0, 1, 2].map(|corner| built.from[built.indices[first + corner] as usize] as usize)
    }

    fn positions_of(&self, corners: [usize; 3]) -> [Vec3; 3] {
        corners.map(|corner| self.positions[corner])
    }

    /// Gives each corner a separate vertex with its triangle's normal, and returns the normals.
    fn flat(&self, built: &mut BuiltMesh) -> Vec<Vec3> {
        let mut normals = Vec::with_capacity(self.indices.len());
        for corners in self.indices.chunks_exact(3) {
            let [a, b, c] = self.positions_of([0, 1, 2].map(|i| corners[i] as usize));
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
            normals.extend([normal; 3]);
        }
        built.from.clone_from(&self.indices);
        built.indices = (0..self.indices.len() as u32).collect();
        normals
    }

    /// Returns the sum of the triangles' normals around each vertex, weighted by area.
    fn smooth(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for corners in self.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|i| corners[i] as usize);
            let [a, b, c] = self.positions_of(corners);
            for corner in corners {
                normals[corner] += (b - a).cross(c - a);
            }
        }
        normals.iter().map(|normal| normal.normalize_or(Vec3::Z)).collect()
    }

    /// Generates tangents along the texture's u, weighted by the angles of the corners. A vertex on
    /// both sides of a mirrored texture is split in two. After M. Mikkelsen, "Simulation of
    /// Wrinkled Surfaces Revisited" (2008), without its welding: vertices are shared as in the
    /// input.
    fn generate_tangents(&self, built: &mut BuiltMesh, normals: &mut Vec<Vec3>) -> Vec<Vec4> {
        if self.uvs.is_empty() {
            return normals
                .iter()
                .map(|normal| normal.any_orthonormal_vector().extend(1.0))
                .collect();
        }
        let mut sums = vec![Vec3::ZERO; built.from.len()];
        let mut sides = vec![0.0f32; built.from.len()];
        let mut mirrored_copies = vec![u32::MAX; built.from.len()];
        for first in (0..built.indices.len()).step_by(3) {
            let corners = self.triangle(built, first);
            let [a, b, c] = self.positions_of(corners);
            let [ta, tb, tc] = corners.map(|corner| self.uvs[corner]);
            let ((e1, e2), (d1, d2)) = ((b - a, c - a), (tb - ta, tc - ta));
            let area = d1.x * d2.y - d2.x * d1.y;
            if area.abs() < 1e-20 {
                continue;
            }
            let along = (e1 * d2.y - e2 * d1.y) / area;
            // v points down the image, so the texture's up direction is -v.
            let up = -(e2 * d1.x - e1 * d2.x) / area;
            let corner_positions = [a, b, c];
            for corner in 0..3 {
                let mut at = built.indices[first + corner] as usize;
                let normal = normals[at];
                let side = if normal.cross(along).dot(up) < 0.0 { -1.0 } else { 1.0 };
                if sides[at] != 0.0 && sides[at] != side {
                    if mirrored_copies[at] == u32::MAX {
                        mirrored_copies[at] = built.from.len() as u32;
                        built.from.push(built.from[at]);
                        normals.push(normal);
                        sums.push(Vec3::ZERO);
                        sides.push(side);
                        mirrored_copies.push(u32::MAX);
                    }
                    at = mirrored_copies[at] as usize;
                    built.indices[first + corner] = at as u32;
                }
                sides[at] = side;
                let (p, q) =
                    (corner_positions[(corner + 1) % 3], corner_positions[(corner + 2) % 3]);
                let angle = angle(p - corner_positions[corner], q - corner_positions[corner]);
                let flat = along - normal * normal.dot(along);
                sums[at] += flat.normalize_or_zero() * angle;
            }
        }
        let tangents = sums.iter().zip(normals).zip(&sides).map(|((sum, normal), side)| {
            let side = if *side == 0.0 { 1.0 } else { *side };
            sum.try_normalize().unwrap_or_else(|| normal.any_orthonormal_vector()).extend(side)
        });
        tangents.collect()
    }
}

fn angle(a: Vec3, b: Vec3) -> f32 {
    let lengths = (a.length_squared() * b.length_squared()).sqrt();
    if lengths > 0.0 { (a.dot(b) / lengths).clamp(-1.0, 1.0).acos() } else { 0.0 }
}

/// Converts a linear color component from 0 to 1 to sRGB (IEC 61966-2-1).
pub fn to_srgb(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let curved =
        if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (curved * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds two triangles in the plane z = 0, seen from above, with an upright image on them.
    fn square() -> TriangleInput {
        let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
        TriangleInput {
            positions: vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)],
            uvs: vec![Vec2::new(0.0, 1.0), Vec2::ONE, Vec2::new(1.0, 0.0), Vec2::ZERO],
            indices: vec![0, 1, 2, 0, 2, 3],
            ..TriangleInput::default()
        }
    }

    #[test]
    fn missing_normals_and_tangents_are_generated() {
        let built = square().build(NormalSource::Smooth);
        assert_eq!(built.vertices.len(), 4);
        for vertex in &built.vertices {
            assert_eq!(vertex.normal, [0, 0, 127, 0]);
            assert_eq!(vertex.tangent, [127, 0, 0, 127], "u along x, the picture's up along y");
        }
        assert_eq!(square().build(NormalSource::Flat).vertices.len(), 6);
    }

    #[test]
    fn a_vertex_on_a_mirrored_texture_seam_is_split() {
        let mut corners = square();
        corners.positions.push(Vec3::new(2.0, 0.0, 0.0));
        corners.positions.push(Vec3::new(2.0, 1.0, 0.0));
        corners.uvs.extend([Vec2::new(0.0, 1.0), Vec2::ZERO]);
        corners.indices.extend([1, 4, 5, 1, 5, 2]);
        let built = corners.build(NormalSource::Smooth);
        assert_eq!(built.vertices.len(), 8, "the two in the middle are there twice");
        let sides: Vec<i8> =
            built.indices.iter().map(|i| built.vertices[*i as usize].tangent[3]).collect();
        assert_eq!(sides[..6], [127; 6]);
        assert_eq!(sides[6..], [-127; 6]);
    }

    #[test]
    fn degenerate_triangles_give_finite_numbers() {
        let mut corners = square();
        corners.positions = vec![Vec3::ZERO; 4];
        corners.uvs = vec![Vec2::ZERO; 4];
        for missing in [NormalSource::Flat, NormalSource::Smooth] {
            let built = corners.build(missing);
            assert!(built.vertices.iter().all(|vertex| vertex.normal != [0; 4]));
        }
    }

    #[test]
    fn linear_values_are_encoded_as_srgb() {
        assert_eq!((to_srgb(0.0), to_srgb(1.0), to_srgb(0.214)), (0, 255, 127));
    }
}
