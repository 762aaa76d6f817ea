//! Trigonometric functions with bit-identical results on every machine. The standard library calls
//! the C library, and each version of the C library, and each processor, can round the last bit
//! differently.
//!
//! Code that affects gameplay must use these functions. Graphics and sound may use the standard
//! ones. Vectors and quaternions already use them (the feature `libm` of their library).

/// Returns the sine and cosine of an angle in radians.
#[inline]
pub fn sin_cos(angle: f32) -> (f32, f32) {
    libm::sincosf(angle)
}

/// Returns the sine and cosine of an angle in radians, in double precision.
#[inline]
pub fn sin_cos_f64(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}

/// Returns the tangent of an angle in radians.
#[inline]
pub fn tan_f64(angle: f64) -> f64 {
    libm::tan(angle)
}

/// Returns the angle of the point (x, y), from -π to π.
#[inline]
pub fn atan2(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}

/// Returns the cube root of a number.
#[inline]
pub fn cube_root(number: f32) -> f32 {
    libm::cbrtf(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_match_the_mathematical_functions() {
        for i in -200..200 {
            let angle = i as f32 * 0.37;
            let (sin, cos) = sin_cos(angle);
            let near = |a: f32, b: f32| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            assert!(near(sin, angle.sin()) && near(cos, angle.cos()), "{angle}");
            assert!(near(cube_root(angle), angle.cbrt()), "{angle}");
            assert!(near(atan2(angle, 2.0), angle.atan2(2.0)), "{angle}");
            let wide = f64::from(angle);
            let (sin, cos) = sin_cos_f64(wide);
            assert!((sin - wide.sin()).abs() < 1e-15 && (cos - wide.cos()).abs() < 1e-15);
            assert!((tan_f64(wide) - sin / cos).abs() <= 1e-12 * tan_f64(wide).abs().max(1.0));
        }
    }
}
