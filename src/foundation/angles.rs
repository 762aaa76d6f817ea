//! Sines and their kin, the same bit by bit on every machine. The standard library asks the C
//! library for them, of which each version, and each processor, may round the last bit otherwise.
//! Whatever decides on what a game does takes these; pictures and sound may take the others.
//! Vectors and quaternions have them inside (the feature `libm` of their library).

/// Sine and cosine of an angle in radians.
#[inline]
pub fn sin_cos(angle: f32) -> (f32, f32) {
    libm::sincosf(angle)
}

/// The same for twice the precision.
#[inline]
pub fn sin_cos_f64(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}

/// The tangent of an angle in radians.
#[inline]
pub fn tan_f64(angle: f64) -> f64 {
    libm::tan(angle)
}

/// The angle of the point (x, y), from -π to π.
#[inline]
pub fn atan2(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}

/// The cube root.
#[inline]
pub fn cube_root(number: f32) -> f32 {
    libm::cbrtf(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_they_are_called() {
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
