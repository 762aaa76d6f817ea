//! The functions of palette.rs with vectors of eight numbers, for processors with AVX2. They have
//! the same operations in the same order, and so the same bits.

use super::lanes::Lanes;
use super::palette::{ModelMatrix, PaletteEntry, local_matrices};
use super::pose::PoseGroup;
use std::arch::x86_64::{
    __m128, __m256, _CMP_LT_OQ, _mm_add_ps, _mm_blend_ps, _mm_mul_ps, _mm_permute_ps,
    _mm_setzero_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_andnot_ps, _mm256_blend_ps,
    _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps, _mm256_loadu_ps,
    _mm256_mul_ps, _mm256_permute_ps, _mm256_set_m128, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    _mm512_add_ps, _mm512_broadcast_f32x4, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps,
    _mm512_maskz_mov_ps, _mm512_mul_ps, _mm512_permute_ps,
};

#[inline(always)]
fn load(lanes: Lanes) -> __m128 {
    // SAFETY: both are 16 bytes with four numbers.
    unsafe { std::mem::transmute::<[f32; 4], __m128>(lanes.0) }
}

#[inline(always)]
fn store(vector: __m128) -> Lanes {
    // SAFETY: both are 16 bytes with four numbers.
    Lanes(unsafe { std::mem::transmute::<__m128, [f32; 4]>(vector) })
}

/// Returns the numbers of two bones, or of two rows.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(first: Lanes, second: Lanes) -> __m256 {
    _mm256_set_m128(load(second), load(first))
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(both: __m256) -> [Lanes; 2] {
    [store(_mm256_castps256_ps128(both)), store(_mm256_extractf128_ps::<1>(both))]
}

/// Returns the matrix that applies `inner` first: its first two rows, and its last one.
#[inline]
#[target_feature(enable = "avx2")]
fn concatenate(outer: &ModelMatrix, inner: &ModelMatrix) -> (__m256, __m128) {
    let [x, y, z] = inner.0;
    // SAFETY: the first two rows are eight numbers.
    let rows = unsafe { _mm256_loadu_ps(outer.0.as_ptr().cast()) };
    let row = load(outer.0[2]);
    let last = _mm256_blend_ps::<0b1000_1000>(_mm256_setzero_ps(), rows);
    let (wide_x, wide_y, wide_z) = (pair(x, x), pair(y, y), pair(z, z));
    let a = _mm256_mul_ps(_mm256_permute_ps::<0b00_00_00_00>(rows), wide_x);
    let b = _mm256_mul_ps(_mm256_permute_ps::<0b01_01_01_01>(rows), wide_y);
    let c = _mm256_mul_ps(_mm256_permute_ps::<0b10_10_10_10>(rows), wide_z);
    let both = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, last));
    let last = _mm_blend_ps::<0b1000>(_mm_setzero_ps(), row);
    let a = _mm_mul_ps(_mm_permute_ps::<0b00_00_00_00>(row), load(x));
    let b = _mm_mul_ps(_mm_permute_ps::<0b01_01_01_01>(row), load(y));
    let c = _mm_mul_ps(_mm_permute_ps::<0b10_10_10_10>(row), load(z));
    let one = _mm_add_ps(_mm_add_ps(a, b), _mm_add_ps(c, last));
    (both, one)
}

/// Combines the matrices of bones with those of their parents.
#[target_feature(enable = "avx2")]
pub fn combine(by_depth: &[(u16, u16)], matrices: &mut [ModelMatrix]) {
    for (bone, parent) in by_depth {
        let (bone, parent) = (usize::from(*bone), usize::from(*parent));
        let (both, one) = concatenate(&matrices[parent], &matrices[bone]);
        let out = &mut matrices[bone].0;
        // Children load both rows at once. A processor waits for two numbers that were stored one
        // after the other and are loaded together.
        // SAFETY: the first two rows are eight numbers.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr().cast(), both) };
        out[2] = store(one);
    }
}

/// Writes the skinning matrix of each joint.
#[target_feature(enable = "avx2")]
pub fn palette(matrices: &[ModelMatrix], joints: &[(u16, ModelMatrix)], out: &mut [PaletteEntry]) {
    for (out, (bone, bind)) in out.iter_mut().zip(joints) {
        let (both, one) = concatenate(&matrices[usize::from(*bone)], bind);
        // SAFETY: the first two rows are eight numbers, and the last one is four.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr().cast(), both);
            _mm_storeu_ps(out[2].as_mut_ptr(), one);
        }
    }
}

/// Writes the skinning matrix of each joint with vectors of sixteen numbers, of which a matrix
/// takes twelve.
#[target_feature(enable = "avx512f")]
pub fn palette_512(
    matrices: &[ModelMatrix],
    joints: &[(u16, ModelMatrix)],
    out: &mut [PaletteEntry],
) {
    const ROWS: u16 = 0b0000_1111_1111_1111;
    const TRANSLATIONS: u16 = 0b0000_1000_1000_1000;
    for (out, (bone, bind)) in out.iter_mut().zip(joints) {
        let outer = matrices[usize::from(*bone)].0.as_ptr();
        // SAFETY: a matrix has twelve numbers.
        let rows = unsafe { _mm512_maskz_loadu_ps(ROWS, outer.cast()) };
        let last = _mm512_maskz_mov_ps(TRANSLATIONS, rows);
        let row = |row: usize| _mm512_broadcast_f32x4(load(bind.0[row]));
        let (x, y, z) = (row(0), row(1), row(2));
        let a = _mm512_mul_ps(_mm512_permute_ps::<0b00_00_00_00>(rows), x);
        let b = _mm512_mul_ps(_mm512_permute_ps::<0b01_01_01_01>(rows), y);
        let c = _mm512_mul_ps(_mm512_permute_ps::<0b10_10_10_10>(rows), z);
        let all = _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, last));
        // SAFETY: an entry has twelve numbers.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr().cast(), ROWS, all) };
    }
}

/// Writes the matrices of bones relative to their parents, four for each group.
#[target_feature(enable = "avx2")]
pub fn local(groups: &[PoseGroup], matrices: &mut [ModelMatrix]) {
    let (pairs, rest) = groups.as_chunks::<2>();
    let (fours, _) = matrices.as_chunks_mut::<4>();
    let (doubles, last) = fours.as_chunks_mut::<2>();
    for ([a, b], [first, second]) in pairs.iter().zip(doubles) {
        write_eight(a, b, first, second);
    }
    for (group, four) in rest.iter().zip(last) {
        *four = local_matrices(group);
    }
}

/// Exchanges rows and columns of the lower halves, and of the upper halves.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    [
        _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low),
        _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low),
        _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
        _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn write_eight(
    a: &PoseGroup,
    b: &PoseGroup,
    first: &mut [ModelMatrix; 4],
    second: &mut [ModelMatrix; 4],
) {
    let mul = |a: __m256, b: __m256| _mm256_mul_ps(a, b);
    let add = |a: __m256, b: __m256| _mm256_add_ps(a, b);
    let sub = |a: __m256, b: __m256| _mm256_sub_ps(a, b);
    // Not `map`, which is compiled without the instructions: it would be a call for each vector.
    let turn = |axis: usize| pair(a.rotation[axis], b.rotation[axis]);
    let [x, y, z, w] = [turn(0), turn(1), turn(2), turn(3)];
    let square = add(add(add(mul(x, x), mul(y, y)), mul(z, z)), mul(w, w));
    let tiny = _mm256_cmp_ps::<_CMP_LT_OQ>(square, _mm256_set1_ps(1e-12));
    let two = _mm256_andnot_ps(tiny, _mm256_div_ps(_mm256_set1_ps(2.0), square));
    let (x2, y2, z2) = (mul(x, two), mul(y, two), mul(z, two));
    let (xx, xy, xz) = (mul(x, x2), mul(x, y2), mul(x, z2));
    let (yy, yz, zz) = (mul(y, y2), mul(y, z2), mul(z, z2));
    let (wx, wy, wz) = (mul(w, x2), mul(w, y2), mul(w, z2));
    let scale = |axis: usize| pair(a.scale[axis], b.scale[axis]);
    let [sx, sy, sz] = [scale(0), scale(1), scale(2)];
    let position = |axis: usize| pair(a.position[axis], b.position[axis]);
    let [px, py, pz] = [position(0), position(1), position(2)];
    let one = _mm256_set1_ps(1.0);
    let rows = [
        [mul(sub(one, add(yy, zz)), sx), mul(sub(xy, wz), sy), mul(add(xz, wy), sz), px],
        [mul(add(xy, wz), sx), mul(sub(one, add(xx, zz)), sy), mul(sub(yz, wx), sz), py],
        [mul(sub(xz, wy), sx), mul(add(yz, wx), sy), mul(sub(one, add(xx, yy)), sz), pz],
    ];
    for (row, lanes) in rows.into_iter().enumerate() {
        for (bone, both) in transpose(lanes).into_iter().enumerate() {
            let [low, high] = halves(both);
            first[bone].0[row] = low;
            second[bone].0[row] = high;
        }
    }
}
