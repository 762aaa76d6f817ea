//! Model-space matrices of bones, and the palette of matrices for skinning.

#[cfg(target_arch = "x86_64")]
use super::dispatch::{has_wide_vectors, has_widest_vectors};
use super::lanes::{Lanes, transpose};
#[cfg(target_arch = "x86_64")]
use super::palette_wide as wide;
use super::pose::{Pose, PoseGroup};
use super::skeleton::Skeleton;

/// Calls the function of [`wide`] where the processor has AVX2, and that of [`plain`] elsewhere.
macro_rules! wide_or {
    ($name:ident($($argument:expr),* $(,)?);) => {
        #[cfg(target_arch = "x86_64")]
        if has_wide_vectors() {
            // SAFETY: the processor has the instructions.
            unsafe { wide::$name($($argument),*) };
        } else {
            plain::$name($($argument),*);
        }
        #[cfg(not(target_arch = "x86_64"))]
        plain::$name($($argument),*);
    };
}

/// Affine matrix: three rows of four numbers, 48 bytes. The last column is the translation.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(16))]
pub struct ModelMatrix(pub [Lanes; 3]);

impl ModelMatrix {
    pub const IDENTITY: ModelMatrix = ModelMatrix([
        Lanes([1.0, 0.0, 0.0, 0.0]),
        Lanes([0.0, 1.0, 0.0, 0.0]),
        Lanes([0.0, 0.0, 1.0, 0.0]),
    ]);

    /// Creates a matrix from its columns, as in [`engine_foundation::Mat4`].
    pub fn from_columns(columns: [f32; 16]) -> ModelMatrix {
        let row = |row: usize| {
            Lanes([columns[row], columns[4 + row], columns[8 + row], columns[12 + row]])
        };
        ModelMatrix([row(0), row(1), row(2)])
    }

    /// Returns the columns of the matrix, as in [`engine_foundation::Mat4`].
    pub fn to_columns(&self) -> [f32; 16] {
        let [x, y, z] = self.0.map(|row| row.0);
        let mut columns = [0.0; 16];
        for column in 0..4 {
            let last = if column == 3 { 1.0 } else { 0.0 };
            columns[4 * column..][..4].copy_from_slice(&[x[column], y[column], z[column], last]);
        }
        columns
    }

    /// Returns the matrix that applies `inner` first.
    #[inline(always)]
    pub fn concatenate(&self, inner: &ModelMatrix) -> ModelMatrix {
        let [x, y, z] = inner.0;
        let [first, second, third] = self.0;
        let row = |row: Lanes| {
            let (a, b, c) = (row.splat_lane::<0>(), row.splat_lane::<1>(), row.splat_lane::<2>());
            a * x + b * y + (c * z + row.last())
        };
        ModelMatrix([row(first), row(second), row(third)])
    }

    /// Returns the transformed point.
    pub fn transform_point(&self, point: [f32; 3]) -> [f32; 3] {
        self.0.map(|row| {
            let [a, b, c, translation] = row.0;
            a * point[0] + b * point[1] + c * point[2] + translation
        })
    }
}

/// Writes the matrix of each bone, from the bone's space into the model's, into `matrices`.
///
/// Bones are combined with their parents in the order of their depth: a processor combines several
/// at the same time if none waits for the one before it.
pub fn model_matrices(skeleton: &Skeleton, pose: &Pose, matrices: &mut Vec<ModelMatrix>) {
    matrices.resize(pose.groups.len() * 4, ModelMatrix::IDENTITY);
    wide_or! {
        local(&pose.groups, matrices);
    }
    matrices.truncate(skeleton.bone_count());
    wide_or! {
        combine(skeleton.by_depth(), matrices);
    }
}

/// Skinning matrix: three rows of four numbers, of which the last one is the translation.
pub type PaletteEntry = [[f32; 4]; 3];

/// Writes the skinning matrix of each joint to `out`: the bone's model matrix after its inverse
/// bind matrix. `joints` has a bone and an inverse bind matrix for each joint.
pub fn palette(matrices: &[ModelMatrix], joints: &[(u16, ModelMatrix)], out: &mut [PaletteEntry]) {
    #[cfg(target_arch = "x86_64")]
    if has_widest_vectors() {
        // SAFETY: the processor has the instructions.
        return unsafe { wide::palette_512(matrices, joints, out) };
    }
    wide_or! {
        palette(matrices, joints, out);
    }
}

/// The functions for all processors.
mod plain {
    use super::*;

    pub fn local(groups: &[PoseGroup], matrices: &mut [ModelMatrix]) {
        let (fours, _) = matrices.as_chunks_mut::<4>();
        for (group, four) in groups.iter().zip(fours) {
            *four = local_matrices(group);
        }
    }

    pub fn combine(by_depth: &[(u16, u16)], matrices: &mut [ModelMatrix]) {
        for (bone, parent) in by_depth {
            let (bone, parent) = (usize::from(*bone), usize::from(*parent));
            matrices[bone] = matrices[parent].concatenate(&matrices[bone]);
        }
    }

    pub fn palette(
        matrices: &[ModelMatrix],
        joints: &[(u16, ModelMatrix)],
        out: &mut [PaletteEntry],
    ) {
        for (out, (bone, bind)) in out.iter_mut().zip(joints) {
            *out = matrices[usize::from(*bone)].concatenate(bind).0.map(|row| row.0);
        }
    }
}

/// Returns the matrices of four bones relative to their parents.
#[inline(always)]
pub(crate) fn local_matrices(group: &PoseGroup) -> [ModelMatrix; 4] {
    let [x, y, z, w] = group.rotation;
    let square = x * x + y * y + z * z + w * w;
    // The rotation of a quaternion of any length. One without length is no rotation.
    let two = square.if_below(Lanes::splat(1e-12), Lanes::ZERO, Lanes::splat(2.0) / square);
    let (x2, y2, z2) = (x * two, y * two, z * two);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let [sx, sy, sz] = group.scale;
    let [px, py, pz] = group.position;
    let one = Lanes::ONE;
    let first = transpose([(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, px]);
    let second = transpose([(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, py]);
    let third = transpose([(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, pz]);
    let matrix = |bone: usize| ModelMatrix([first[bone], second[bone], third[bone]]);
    [matrix(0), matrix(1), matrix(2), matrix(3)]
}

#[cfg(all(test, target_arch = "x86_64"))]
#[path = "palette_tests.rs"]
mod tests;
