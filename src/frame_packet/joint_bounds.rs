//! The bounding box of the spheres of a skin's joints in a pose, four or eight joints at a time.

use super::deformation::JointSphere;
use super::scene::DrawTransform;
use engine_foundation::{Mat4, Vec3, Vec4};

/// The box around the spheres of joints in a pose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PosedBox {
    pub min: Vec3,
    pub max: Vec3,
    /// True only if all numbers of the matrices are finite. False if some are not, or if a sphere
    /// is moved so far that its center is not.
    pub is_finite: bool,
}

/// Returns the box around the spheres of joints that are moved by their matrices. The box of no
/// spheres is inside out. Coordinates that are not numbers do not change it. The centers of the
/// spheres are finite.
pub(super) fn posed_box(spheres: &[JointSphere], matrices: &[DrawTransform]) -> PosedBox {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let (eights, rest) = spheres.as_chunks();
        let (eight_matrices, rest_matrices) = matrices.as_chunks();
        // SAFETY: the processor has the instructions.
        let wide = unsafe { wide::posed_box(eights, eight_matrices) };
        let rest = box_of_fours(rest, rest_matrices);
        return PosedBox {
            min: wide.min.min(rest.min),
            max: wide.max.max(rest.max),
            is_finite: wide.is_finite && rest.is_finite,
        };
    }
    box_of_fours(spheres, matrices)
}

fn box_of_fours(posed: &[JointSphere], palette: &[DrawTransform]) -> PosedBox {
    let mut lanes = LaneBounds::EMPTY;
    let (spheres, rest) = posed.as_chunks();
    let (matrices, rest_matrices) = palette.as_chunks();
    for (spheres, matrices) in spheres.iter().zip(matrices) {
        lanes.add(spheres, matrices);
    }
    if !rest.is_empty() {
        let mut last = ([JointSphere::EMPTY; LANES], [DrawTransform::IDENTITY; LANES]);
        last.0[..rest.len()].copy_from_slice(rest);
        last.1[..rest.len()].copy_from_slice(rest_matrices);
        lanes.add(&last.0, &last.1);
    }
    lanes.to_box()
}

/// Number of joints whose bounds are computed together.
const LANES: usize = 4;

/// Bounding boxes of spheres in four lanes: each has every fourth sphere.
struct LaneBounds {
    min: [Vec4; 3],
    max: [Vec4; 3],
    /// 0 while all centers are finite, and NaN afterwards.
    zeros: Vec4,
}

impl LaneBounds {
    const EMPTY: LaneBounds =
        LaneBounds { min: [Vec4::INFINITY; 3], max: [Vec4::NEG_INFINITY; 3], zeros: Vec4::ZERO };

    /// Adds four transformed spheres.
    #[inline(always)]
    fn add(&mut self, spheres: &[JointSphere; LANES], matrices: &[DrawTransform; LANES]) {
        let sphere = |lane: usize| spheres[lane].center.extend(spheres[lane].radius);
        let [x, y, z, radius] = transposed([sphere(0), sphere(1), sphere(2), sphere(3)]);
        let [xx, xy, xz, x_translation] = lane_row(matrices, 0);
        let [yx, yy, yz, y_translation] = lane_row(matrices, 1);
        let [zx, zy, zz, z_translation] = lane_row(matrices, 2);
        let square_x = xx * xx + yx * yx + zx * zx;
        let square_y = xy * xy + yy * yy + zy * zy;
        let square_z = xz * xz + yz * yz + zz * zz;
        let scale = square_x.max(square_y).max(square_z).sqrt();
        // The box of a sphere around nothing is inside out, and changes no other.
        let nothing = Vec4::splat(f32::MIN);
        let radius = Vec4::select(radius.cmplt(Vec4::ZERO), nothing, radius * scale);
        self.widen(0, xx * x + xy * y + xz * z + x_translation, radius);
        self.widen(1, yx * x + yy * y + yz * z + y_translation, radius);
        self.widen(2, zx * x + zy * y + zz * z + z_translation, radius);
    }

    /// Adds four spheres on one axis.
    #[inline(always)]
    fn widen(&mut self, axis: usize, center: Vec4, radius: Vec4) {
        // 0 times a number that is not finite is not a number, and so is each sum with that.
        self.zeros += center * 0.0;
        let (min, max) = (&mut self.min[axis], &mut self.max[axis]);
        // Comparisons with NaN are false, so that the spheres before it stay.
        let (low, high) = (center - radius, center + radius);
        *min = Vec4::select(low.cmplt(*min), low, *min);
        *max = Vec4::select(high.cmpgt(*max), high, *max);
    }

    fn to_box(&self) -> PosedBox {
        let (min, max) = (self.min.map(Vec4::min_element), self.max.map(Vec4::max_element));
        let is_finite = self.zeros == Vec4::ZERO;
        PosedBox { min: Vec3::from_array(min), max: Vec3::from_array(max), is_finite }
    }
}

/// Returns the columns of a matrix that has these rows.
#[inline(always)]
fn transposed([x, y, z, w]: [Vec4; 4]) -> [Vec4; 4] {
    let columns = Mat4::from_cols(x, y, z, w).transpose();
    [columns.x_axis, columns.y_axis, columns.z_axis, columns.w_axis]
}

/// Returns one row of four matrices: each element of the result has the four matrices' values of
/// one column.
#[inline(always)]
fn lane_row(matrices: &[DrawTransform; LANES], row: usize) -> [Vec4; 4] {
    let of_lane = |lane: usize| Vec4::from_array(matrices[lane].0[row]);
    transposed([of_lane(0), of_lane(1), of_lane(2), of_lane(3)])
}

/// The same for eight joints at a time.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{DrawTransform, JointSphere, PosedBox, Vec3};
    use std::arch::x86_64::{
        __m256, _CMP_EQ_OQ, _CMP_LT_OQ, _mm_cvtss_f32, _mm_loadu_ps, _mm_max_ps, _mm_min_ps,
        _mm_movehdup_ps, _mm_movehl_ps, _mm256_add_ps, _mm256_blendv_ps, _mm256_castps256_ps128,
        _mm256_cmp_ps, _mm256_extractf128_ps, _mm256_max_ps, _mm256_min_ps, _mm256_movemask_ps,
        _mm256_mul_ps, _mm256_set_m128, _mm256_set1_ps, _mm256_setzero_ps, _mm256_shuffle_ps,
        _mm256_sqrt_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };

    /// Numbers of a sphere, and of a matrix.
    const SPHERE: usize = size_of::<JointSphere>() / size_of::<f32>();
    const MATRIX: usize = size_of::<DrawTransform>() / size_of::<f32>();

    /// Returns the first, second, third and fourth numbers of eight rows of four.
    ///
    /// # Safety
    /// Four numbers can be read at `first`, and at seven further positions at a distance of
    /// `stride` numbers from one to the next.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn columns(first: *const f32, stride: usize) -> [__m256; 4] {
        // SAFETY: the caller has promised it.
        let pair = |at: usize| unsafe {
            let (low, high) = (first.add(at * stride), first.add((at + 4) * stride));
            _mm256_set_m128(_mm_loadu_ps(high), _mm_loadu_ps(low))
        };
        let [a, b, c, d] = [pair(0), pair(1), pair(2), pair(3)];
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low),
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
        ]
    }

    /// Returns the least of eight numbers, none of which is NaN.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn least(all: __m256) -> f32 {
        let four = _mm_min_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
        let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_min_ps(two, _mm_movehdup_ps(two)))
    }

    /// Returns the greatest of eight numbers, none of which is NaN.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn most(all: __m256) -> f32 {
        let four = _mm_max_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
        let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_max_ps(two, _mm_movehdup_ps(two)))
    }

    #[target_feature(enable = "avx2")]
    pub fn posed_box(spheres: &[[JointSphere; 8]], matrices: &[[DrawTransform; 8]]) -> PosedBox {
        let mul = |a: __m256, b: __m256| _mm256_mul_ps(a, b);
        let add = |a: __m256, b: __m256| _mm256_add_ps(a, b);
        let mut min = [_mm256_set1_ps(f32::INFINITY); 3];
        let mut max = [_mm256_set1_ps(f32::NEG_INFINITY); 3];
        let mut zeros = _mm256_setzero_ps();
        for (spheres, matrices) in spheres.iter().zip(matrices) {
            // SAFETY: there are eight spheres of four numbers, and eight matrices of three rows of
            // four, one after another.
            let (rows, [x, y, z, radius]) = unsafe {
                let matrices: *const f32 = matrices.as_ptr().cast();
                let row = |row: usize| columns(matrices.add(row * 4), MATRIX);
                let spheres = columns(spheres.as_ptr().cast(), SPHERE);
                ([row(0), row(1), row(2)], spheres)
            };
            let square = |axis: usize| {
                let [a, b, c] = [rows[0][axis], rows[1][axis], rows[2][axis]];
                add(add(mul(a, a), mul(b, b)), mul(c, c))
            };
            let squares = _mm256_max_ps(_mm256_max_ps(square(0), square(1)), square(2));
            let is_nothing = _mm256_cmp_ps::<_CMP_LT_OQ>(radius, _mm256_setzero_ps());
            let scaled = mul(radius, _mm256_sqrt_ps(squares));
            // The box of a sphere around nothing is inside out, and changes no other.
            let radius = _mm256_blendv_ps(scaled, _mm256_set1_ps(f32::MIN), is_nothing);
            for (axis, [a, b, c, translation]) in rows.into_iter().enumerate() {
                let center = add(add(add(mul(a, x), mul(b, y)), mul(c, z)), translation);
                zeros = add(zeros, _mm256_sub_ps(center, center));
                // With NaN, the result is the second number: the spheres before it stay.
                min[axis] = _mm256_min_ps(_mm256_sub_ps(center, radius), min[axis]);
                max[axis] = _mm256_max_ps(add(center, radius), max[axis]);
            }
        }
        let are_zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(zeros, _mm256_setzero_ps());
        PosedBox {
            min: Vec3::new(least(min[0]), least(min[1]), least(min[2])),
            max: Vec3::new(most(max[0]), most(max[1]), most(max[2])),
            is_finite: _mm256_movemask_ps(are_zero) == 0xff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    #[test]
    fn eight_joints_have_the_box_of_four_and_four() {
        let mut random = Random::seed(6);
        let mut number = || random.range_i64(-1000, 1000) as f32 * 1e-3;
        for count in [1, 7, 8, 9, 16, 60] {
            let mut sphere = || JointSphere {
                center: Vec3::new(number(), number(), number()),
                radius: number(),
            };
            let spheres: Vec<JointSphere> = (0..count).map(|_| sphere()).collect();
            let mut matrix = || DrawTransform([(); 3].map(|()| [(); 4].map(|()| number())));
            let matrices: Vec<DrawTransform> = (0..count).map(|_| matrix()).collect();
            let found = posed_box(&spheres, &matrices);
            assert_eq!(found, box_of_fours(&spheres, &matrices), "{count} joints");
            let PosedBox { min, max, is_finite } = found;
            assert!(is_finite, "{count} joints");
            for (sphere, matrix) in spheres.iter().zip(&matrices) {
                let center = matrix.transform_point(sphere.center);
                let is_inside = center.cmpge(min).all() && center.cmple(max).all();
                assert!(is_inside || sphere.radius < 0.0, "{count} joints");
            }
        }
        assert_eq!(posed_box(&[], &[]).min, Vec3::INFINITY);
        assert!(posed_box(&[], &[]).is_finite);
    }

    #[test]
    fn matrices_that_are_not_numbers_keep_the_box_of_others() {
        const COUNT: usize = 20;
        let spheres = [JointSphere { center: Vec3::ZERO, radius: 0.5 }; COUNT];
        let mut matrices = [DrawTransform::IDENTITY; COUNT];
        for (matrix, x) in matrices.iter_mut().zip([-7.0, 3.0].into_iter().cycle()) {
            matrix.0[0][3] = x;
        }
        let (min, max) = (Vec3::new(-7.5, -0.5, -0.5), Vec3::new(3.5, 0.5, 0.5));
        for damaged in [0..1, 9..10, 16..17, 19..20, 2..COUNT] {
            for (row, column) in [(0, 3), (1, 1), (2, 0)] {
                let first = damaged.start;
                for number in [f32::INFINITY, f32::NEG_INFINITY] {
                    let mut matrices = matrices;
                    matrices[first].0[row][column] = number;
                    assert!(!posed_box(&spheres, &matrices).is_finite, "{first} {row} {column}");
                    assert!(!box_of_fours(&spheres, &matrices).is_finite, "{first} {row}");
                }
                for number in [f32::NAN, -f32::NAN] {
                    let mut matrices = matrices;
                    matrices[damaged.clone()].iter_mut().for_each(|it| it.0[row][column] = number);
                    let found = posed_box(&spheres, &matrices);
                    assert_eq!(found, box_of_fours(&spheres, &matrices), "{damaged:?} {row}");
                    let wanted = PosedBox { min, max, is_finite: false };
                    assert_eq!(found, wanted, "{damaged:?} {row}");
                }
            }
        }
    }
}
