//! Skins and morph targets of meshes, which change a mesh's shape while it is drawn. Knows no
//! skeletons, no clips and no graphics API.

use super::joint_bounds::{PosedBox, posed_box};
use super::mesh::MeshVertex;
use super::scene::DrawTransform;
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Error, Vec3, error};
use std::collections::HashMap;

/// Maximum number of joints of one mesh. Further matrices of a palette are ignored.
pub const JOINTS_MAX: usize = 1024;
/// Maximum number of morph targets of one mesh.
pub const MORPH_TARGETS_MAX: usize = 256;
/// Maximum number of offsets of one mesh, of all vertices and morph targets together.
pub const MORPH_OFFSETS_MAX: usize = 1 << 22;
/// Weight 1 of a joint.
const WEIGHT_ONE: u16 = u16::MAX;

/// A sphere around the vertices that a joint moves, in the mesh's space in meters.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct JointSphere {
    pub center: Vec3,
    /// Negative if the joint moves no vertex.
    pub radius: f32,
}

/// The joints that move a mesh's vertices.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshSkin {
    /// Four joints of each vertex. All are below the number of joints.
    pub joints: Vec<[u16; 4]>,
    /// Weights of the four joints in units of 1/65,535. They add up to 65,535, or all four are 0:
    /// no joint moves the vertex.
    pub weights: Vec<[u16; 4]>,
    /// The vertices that each joint moves. Its length is the number of joints.
    pub spheres: Vec<JointSphere>,
    /// The vertices that no joint moves.
    pub unmoved: JointSphere,
}

impl JointSphere {
    /// A sphere around nothing.
    pub const EMPTY: JointSphere = JointSphere { center: Vec3::ZERO, radius: -1.0 };
}

/// Bounding boxes of points, in the order of two passes: first the boxes, then the radii around
/// their centers.
struct SphereFit {
    min: Vec3,
    max: Vec3,
    radius_squared: f32,
}

impl SphereFit {
    const EMPTY: SphereFit = SphereFit {
        min: Vec3::splat(f32::INFINITY),
        max: Vec3::splat(f32::NEG_INFINITY),
        radius_squared: 0.0,
    };

    fn add(&mut self, point: Vec3) {
        (self.min, self.max) = (self.min.min(point), self.max.max(point));
    }

    fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    fn widen(&mut self, point: Vec3) {
        self.radius_squared = self.radius_squared.max(point.distance_squared(self.center()));
    }

    fn sphere(&self) -> JointSphere {
        match self.min.x <= self.max.x {
            true => JointSphere { center: self.center(), radius: self.radius_squared.sqrt() },
            false => JointSphere::EMPTY,
        }
    }
}

/// Returns weights in units of 1/65,535 that add up to 1, or four zeros if there is no weight above
/// 0. Joints beyond [`JOINTS_MAX`] have no weight.
fn normalized(joints: [u16; 4], weights: [f32; 4]) -> [u16; 4] {
    let usable = |at: usize| {
        let weight = f64::from(weights[at]);
        let counts = weight.is_finite() && weight > 0.0 && usize::from(joints[at]) < JOINTS_MAX;
        if counts { weight } else { 0.0 }
    };
    let weights = [usable(0), usable(1), usable(2), usable(3)];
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return [0; 4];
    }
    let one = f64::from(WEIGHT_ONE);
    let mut units = weights.map(|weight| (weight / sum * one).round() as i32);
    let missing = i32::from(WEIGHT_ONE) - units.iter().sum::<i32>();
    let largest = (0..4).max_by_key(|at| units[*at]).expect("there are four");
    units[largest] += missing;
    units.map(|unit| unit as u16)
}

impl MeshSkin {
    /// Creates a skin from the four joints and weights of each vertex. Weights are normalized.
    /// Joints beyond [`JOINTS_MAX`], and weights that are negative or not finite, move nothing.
    /// The number of joints is that of the highest joint that moves a vertex.
    ///
    /// # Panics
    /// Panics if the numbers of vertices, joints and weights differ.
    pub fn new(vertices: &[MeshVertex], joints: &[[u16; 4]], weights: &[[f32; 4]]) -> MeshSkin {
        assert_eq!((joints.len(), weights.len()), (vertices.len(), vertices.len()));
        let weights: Vec<[u16; 4]> =
            joints.iter().zip(weights).map(|(four, weights)| normalized(*four, *weights)).collect();
        let without_idle = |(joints, weights): (&[u16; 4], &[u16; 4])| {
            let pick = |at: usize| if weights[at] > 0 { joints[at] } else { 0 };
            [pick(0), pick(1), pick(2), pick(3)]
        };
        let joints: Vec<[u16; 4]> = joints.iter().zip(&weights).map(without_idle).collect();
        let highest = joints.iter().flatten().copied().max().unwrap_or(0);
        let mut fits: Vec<SphereFit> = Vec::new();
        fits.resize_with(usize::from(highest) + 1, || SphereFit::EMPTY);
        let mut unmoved = SphereFit::EMPTY;
        for widens in [false, true] {
            let include = |fit: &mut SphereFit, point: Vec3| match widens {
                false => fit.add(point),
                true => fit.widen(point),
            };
            for ((vertex, joints), weights) in vertices.iter().zip(&joints).zip(&weights) {
                let point = Vec3::from_array(vertex.position);
                if *weights == [0; 4] {
                    include(&mut unmoved, point);
                }
                for (joint, _) in joints.iter().zip(weights).filter(|(_, weight)| **weight > 0) {
                    include(&mut fits[usize::from(*joint)], point);
                }
            }
        }
        let spheres = fits.iter().map(SphereFit::sphere).collect();
        MeshSkin { joints, weights, spheres, unmoved: unmoved.sphere() }
    }

    /// Returns the number of joints: the useful length of a palette.
    pub fn joint_count(&self) -> usize {
        self.spheres.len()
    }

    /// Returns the center and the radius of a sphere around the mesh in the pose of a palette, in
    /// the space that the palette leads to, in meters. Joints that the palette lacks stay in the
    /// bind pose. Morph targets are not included.
    pub fn bounds(&self, palette: &[DrawTransform]) -> (Vec3, f32) {
        self.bounds_and_test(palette).0
    }

    /// Returns the bounds, and true only if all numbers of the palette are finite: false if some
    /// are not, or so large that this is not certain.
    pub(super) fn bounds_and_test(&self, palette: &[DrawTransform]) -> ((Vec3, f32), bool) {
        let count = self.spheres.len().min(palette.len());
        let (posed, lacking) = self.spheres.split_at(count);
        let PosedBox { mut min, mut max, is_finite } = posed_box(posed, &palette[..count]);
        for sphere in lacking.iter().chain([&self.unmoved]).filter(|sphere| sphere.radius >= 0.0) {
            min = min.min(sphere.center - sphere.radius);
            max = max.max(sphere.center + sphere.radius);
        }
        if !min.cmple(max).all() {
            return ((Vec3::ZERO, 0.0), is_finite);
        }
        (((min + max) * 0.5, (max - min).length() * 0.5), is_finite)
    }
}

/// The change of one vertex by one morph target at weight 1. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct MorphOffset {
    /// Offset of the position in meters.
    pub position: [f32; 3],
    /// Number of the target.
    pub target: u8,
    /// Offset of the normal; -127 to 127 represents -2 to 2.
    pub normal: [i8; 3],
}

/// The morph targets of a mesh. Only changed vertices are stored.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshMorph {
    /// The longest offset of each target at weight 1, in meters. Its length is the number of
    /// targets.
    pub reaches: Vec<f32>,
    /// Position of each vertex's first offset, in ascending order; the last element is the number
    /// of offsets. It has one element more than the mesh has vertices.
    pub starts: Vec<u32>,
    /// Offsets by vertex, and for one vertex by target.
    pub offsets: Vec<MorphOffset>,
}

/// Sums of the normals of triangles, for vertices that share a position and a normal.
struct NormalSums {
    /// Index of each vertex's sum.
    groups: Vec<u32>,
    sums: Vec<Vec3>,
}

impl NormalSums {
    fn new(vertices: &[MeshVertex], indices: &[u32]) -> NormalSums {
        let mut known = HashMap::new();
        let group_of = |vertex: &MeshVertex| {
            let key = (vertex.position.map(f32::to_bits), vertex.normal);
            let next = known.len() as u32;
            *known.entry(key).or_insert(next)
        };
        let groups: Vec<u32> = vertices.iter().map(group_of).collect();
        let mut sums = vec![Vec3::ZERO; known.len()];
        for three in triangles(vertices, indices) {
            let normal = area_normal(three.map(|at| point(vertices, at)));
            for vertex in three {
                sums[groups[vertex] as usize] += normal;
            }
        }
        NormalSums { groups, sums }
    }

    /// Returns the changes of all sums if the vertices move by offsets.
    fn changes(&self, vertices: &[MeshVertex], indices: &[u32], moved: &[Vec3]) -> Vec<Vec3> {
        let mut changes = vec![Vec3::ZERO; self.sums.len()];
        for three in triangles(vertices, indices) {
            if three.iter().all(|at| moved[*at] == Vec3::ZERO) {
                continue;
            }
            let before = area_normal(three.map(|at| point(vertices, at)));
            let change = area_normal(three.map(|at| point(vertices, at) + moved[at])) - before;
            for vertex in three {
                changes[self.groups[vertex] as usize] += change;
            }
        }
        changes
    }

    /// Returns the offset of a vertex's normal for changed sums, as in [`MorphOffset::normal`].
    fn offset(&self, vertex: usize, changes: &[Vec3]) -> [i8; 3] {
        let group = self.groups[vertex] as usize;
        let (before, change) = (self.sums[group], changes[group]);
        let offset = (before + change).normalize_or_zero() - before.normalize_or_zero();
        let [x, y, z, _] = MeshVertex::packed(offset * 0.5, 0.0);
        [x, y, z]
    }
}

fn point(vertices: &[MeshVertex], at: usize) -> Vec3 {
    Vec3::from_array(vertices[at].position)
}

/// Returns the vertices of each triangle. Triangles with an index beyond the vertices are left out.
fn triangles<'a>(
    vertices: &'a [MeshVertex],
    indices: &'a [u32],
) -> impl Iterator<Item = [usize; 3]> + 'a {
    let corners =
        indices.chunks_exact(3).map(|it| [it[0] as usize, it[1] as usize, it[2] as usize]);
    corners.filter(|three| three.iter().all(|at| *at < vertices.len()))
}

fn area_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}

impl MeshMorph {
    /// Creates morph targets from the offset of each vertex, in meters. Offsets that are not finite
    /// count as 0. The offsets of normals follow from the triangles.
    ///
    /// # Errors
    /// Returns an error if there are more than [`MORPH_TARGETS_MAX`] targets.
    ///
    /// # Panics
    /// Panics if a target has not as many offsets as there are vertices.
    pub fn new(
        vertices: &[MeshVertex],
        indices: &[u32],
        targets: &[Vec<[f32; 3]>],
    ) -> Result<MeshMorph, Error> {
        if targets.len() > MORPH_TARGETS_MAX {
            return Err(error!(
                "it has {} morph targets, and {MORPH_TARGETS_MAX} is the most \
                 (MORPH_TARGETS_MAX): remove some",
                targets.len()
            ));
        }
        let sums = NormalSums::new(vertices, indices);
        let mut found: Vec<(u32, MorphOffset)> = Vec::new();
        let mut reaches = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            assert_eq!(target.len(), vertices.len(), "an offset for each vertex");
            let usable = |offset: &[f32; 3]| {
                let offset = Vec3::from_array(*offset);
                if offset.is_finite() { offset } else { Vec3::ZERO }
            };
            let moved: Vec<Vec3> = target.iter().map(usable).collect();
            reaches.push(moved.iter().map(|offset| offset.length()).fold(0.0, f32::max));
            let changes = sums.changes(vertices, indices, &moved);
            for (vertex, offset) in moved.iter().enumerate() {
                let normal = sums.offset(vertex, &changes);
                if *offset != Vec3::ZERO || normal != [0; 3] {
                    let position = offset.to_array();
                    let target = number as u8;
                    found.push((vertex as u32, MorphOffset { position, target, normal }));
                }
            }
        }
        // Stable: the offsets of a vertex keep the order of their targets.
        found.sort_by_key(|(vertex, _)| *vertex);
        let first_of = |vertex: u32| found.partition_point(|(other, _)| *other < vertex) as u32;
        let starts = (0..=vertices.len() as u32).map(first_of).collect();
        let offsets = found.iter().map(|(_, offset)| *offset).collect();
        Ok(MeshMorph { reaches, starts, offsets })
    }

    /// Returns the number of targets.
    pub fn target_count(&self) -> usize {
        self.reaches.len()
    }

    /// Returns the greatest distance in meters by which weights can move a vertex.
    pub fn reach(&self, weights: &[f32]) -> f32 {
        self.reaches.iter().zip(weights).map(|(reach, weight)| reach * weight.abs()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Mat4;

    fn vertex(x: f32, y: f32, z: f32) -> MeshVertex {
        let normal = MeshVertex::packed(Vec3::Z, 0.0);
        MeshVertex { position: [x, y, z], normal, ..MeshVertex::default() }
    }

    #[test]
    fn weights_are_normalized_to_a_sum_of_exactly_one() {
        let check = |weights: [f32; 4], wanted: [u16; 4]| {
            assert_eq!(normalized([0, 1, 2, 3], weights), wanted, "{weights:?}");
        };
        check([1.0, 0.0, 0.0, 0.0], [65535, 0, 0, 0]);
        check([2.0, 2.0, 0.0, 0.0], [32768, 32767, 0, 0]);
        check([0.1, 0.1, 0.1, 0.0], [21845, 21845, 21845, 0]);
        check([0.0; 4], [0; 4]);
        check([-1.0, f32::NAN, 0.5, f32::INFINITY], [0, 0, 65535, 0]);
        check([3.0e38, 3.0e38, 3.0e38, 3.0e38], [16384, 16384, 16384, 16383]);
        for step in 0..1000 {
            let weights = [step as f32, (step * 7 % 13) as f32, 0.37, (step % 3) as f32 * 0.01];
            let sum: u32 = normalized([0; 4], weights).iter().map(|it| u32::from(*it)).sum();
            assert_eq!(sum, 65535);
        }
    }

    #[test]
    fn joints_beyond_the_limit_move_nothing() {
        let vertices = [vertex(0.0, 0.0, 0.0), vertex(1.0, 0.0, 0.0)];
        let joints = [[2, 60_000, 0, 0], [1024, 0, 0, 0]];
        let weights = [[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
        let skin = MeshSkin::new(&vertices, &joints, &weights);
        assert_eq!(skin.joint_count(), 3);
        assert_eq!(skin.joints, [[2, 0, 0, 0], [0; 4]]);
        assert_eq!(skin.weights, [[65535, 0, 0, 0], [0; 4]]);
        assert_eq!(skin.spheres[0], JointSphere::EMPTY);
        assert_eq!(skin.unmoved, JointSphere { center: Vec3::X, radius: 0.0 });
    }

    #[test]
    fn bounds_contain_every_skinned_vertex() {
        let vertices: Vec<MeshVertex> =
            (0..40).map(|i| vertex((i % 3) as f32, (i % 7) as f32 * 0.3, i as f32 * 0.1)).collect();
        let joints: Vec<[u16; 4]> = (0..40).map(|i| [i / 20, 1 - i / 20, 0, 0]).collect();
        let weights: Vec<[f32; 4]> =
            (0..40).map(|i| [1.0 + i as f32, (i % 2) as f32 * 5.0, 0.0, 0.0]).collect();
        let skin = MeshSkin::new(&vertices, &joints, &weights);
        let second = Mat4::from_rotation_x(1.2)
            * Mat4::from_translation(Vec3::new(4.0, -1.0, 2.0))
            * Mat4::from_scale(Vec3::new(1.0, 3.0, 0.5));
        let first = Mat4::from_rotation_z(0.4);
        let palette = [DrawTransform::of(&first), DrawTransform::of(&second)];
        for count in 0..=2 {
            let (center, radius) = skin.bounds(&palette[..count]);
            for (at, vertex) in vertices.iter().enumerate() {
                let of_joint = |joint: u16| match palette[..count].get(usize::from(joint)) {
                    Some(matrix) => matrix.transform_point(Vec3::from_array(vertex.position)),
                    None => Vec3::from_array(vertex.position),
                };
                let parts = skin.joints[at].iter().zip(skin.weights[at]);
                let skinned: Vec3 = parts
                    .map(|(joint, weight)| of_joint(*joint) * (f32::from(weight) / 65535.0))
                    .sum();
                assert!(skinned.distance(center) <= radius + 1e-4, "{count} {at}");
            }
            assert!(radius < 12.0, "{radius}");
        }
        assert_eq!(MeshSkin::new(&[], &[], &[]).bounds(&palette), (Vec3::ZERO, 0.0));
    }

    #[test]
    fn bounds_of_lanes_equal_the_box_of_all_spheres() {
        for count in [1, 3, 4, 5, 8, 11] {
            let vertices: Vec<MeshVertex> =
                (0..2 * count).map(|i| vertex(i as f32, (i % 3) as f32, (i * i) as f32)).collect();
            // Every third joint moves nothing.
            let joint = |i: usize| (i / 2) as u16 - u16::from(i / 2 % 3 == 1);
            let joints: Vec<[u16; 4]> = (0..2 * count).map(|i| [joint(i); 4]).collect();
            let skin = MeshSkin::new(&vertices, &joints, &vec![[1.0; 4]; 2 * count]);
            let turn = |i: usize| {
                Mat4::from_rotation_x(i as f32) * Mat4::from_scale(Vec3::new(1.0, 0.5, 2.0))
            };
            let palette: Vec<_> = (0..count).map(|i| DrawTransform::of(&turn(i))).collect();
            let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for (sphere, matrix) in skin.spheres.iter().zip(&palette) {
                if sphere.radius >= 0.0 {
                    let center = matrix.transform_point(sphere.center);
                    let radius = sphere.radius * matrix.scale_max();
                    (min, max) = (min.min(center - radius), max.max(center + radius));
                }
            }
            let (center, radius) = skin.bounds(&palette);
            assert!(center.distance((min + max) * 0.5) < 1e-3, "{count}: {center}");
            assert!((radius - (max - min).length() * 0.5).abs() < 1e-3, "{count}: {radius}");
        }
    }

    #[test]
    fn only_changed_vertices_have_morph_offsets() {
        // A square that faces up; a triangle far from it does not change.
        let mut vertices =
            vec![vertex(0.0, 0.0, 0.0), vertex(1.0, 0.0, 0.0), vertex(1.0, 1.0, 0.0)];
        vertices.extend([vertex(5.0, 0.0, 0.0), vertex(6.0, 0.0, 0.0), vertex(6.0, 1.0, 0.0)]);
        let indices = [0, 1, 2, 3, 4, 5];
        let lifted = vec![[0.0; 3], [0.0; 3], [0.0, 0.0, 1.0], [0.0; 3], [0.0; 3], [0.0; 3]];
        let broken = vec![[f32::NAN, 0.0, 0.0]; 6];
        let targets = [lifted, broken];
        let morph = MeshMorph::new(&vertices, &indices, &targets).unwrap();
        assert_eq!(morph.starts, [0, 1, 2, 3, 3, 3, 3]);
        assert_eq!(morph.reaches, [1.0, 0.0]);
        assert_eq!(morph.offsets[0].position, [0.0; 3]);
        assert_eq!((morph.offsets[2].position, morph.offsets[2].target), ([0.0, 0.0, 1.0], 0));
        // The slope of the lifted triangle: its normal is (0, -1, 1) / sqrt(2).
        for offset in &morph.offsets {
            let [x, y, z] = offset.normal.map(|part| f32::from(part) / 127.0 * 2.0);
            let normal = Vec3::Z + Vec3::new(x, y, z);
            assert!(normal.distance(Vec3::new(0.0, -1.0, 1.0).normalize()) < 0.02, "{normal}");
        }
        assert_eq!(morph.reach(&[-2.0, 1.0]), 2.0);
        assert_eq!(morph.reach(&[]), 0.0);
        assert_eq!(size_of::<MorphOffset>(), 16);
    }

    #[test]
    fn seams_of_smooth_surfaces_keep_one_normal_in_morph_targets() {
        // Two triangles with a common edge, whose vertices are split: a roof when lifted.
        let vertices = [
            vertex(0.0, 0.0, 0.0),
            vertex(1.0, 0.0, 0.0),
            vertex(1.0, 1.0, 0.0),
            vertex(1.0, 1.0, 0.0),
            vertex(1.0, 0.0, 0.0),
            vertex(2.0, 0.0, 0.0),
        ];
        let up = [0.0, 0.0, 0.5];
        let lifted = vec![[0.0; 3], up, up, up, up, [0.0; 3]];
        let morph = MeshMorph::new(&vertices, &[0, 1, 2, 3, 4, 5], &[lifted]).unwrap();
        assert_eq!(morph.offsets[1].normal, morph.offsets[4].normal);
        assert_eq!(morph.offsets[2].normal, morph.offsets[3].normal);
    }

    #[test]
    fn too_many_morph_targets_are_refused() {
        let targets = vec![Vec::new(); MORPH_TARGETS_MAX + 1];
        let message = MeshMorph::new(&[], &[], &targets).unwrap_err().message;
        assert_eq!(
            message,
            "it has 257 morph targets, and 256 is the most (MORPH_TARGETS_MAX): remove some"
        );
        let most = MeshMorph::new(&[], &[], &targets[1..]).unwrap();
        assert_eq!((most.target_count(), &most.starts[..]), (256, &[0][..]));
    }
}
