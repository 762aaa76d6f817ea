//! Curves: piecewise functions of a parameter, defined by points and an easing between them. Knows
//! no files and no voices.

/// The most points of one curve.
pub const POINTS_MAX: usize = 64;

/// Interpolation of a curve between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Easing {
    Linear,
    /// The value of the previous point.
    Step,
    /// Slow, then fast: the square.
    In,
    /// Fast, then slow.
    Out,
    /// Slow at both ends: 3t² − 2t³.
    Smooth,
}

impl Easing {
    /// Every easing, with its name.
    pub const ALL: [(&'static str, Easing); 5] = [
        ("linear", Easing::Linear),
        ("step", Easing::Step),
        ("in", Easing::In),
        ("out", Easing::Out),
        ("smooth", Easing::Smooth),
    ];

    /// Returns the [`Easing`] of a number of the compiled form.
    pub fn from_number(number: u8) -> Option<Easing> {
        Easing::ALL.get(usize::from(number)).map(|(_, easing)| *easing)
    }

    /// Applies the easing to `t`, from 0 to 1.
    #[inline]
    fn apply(self, t: f32) -> f32 {
        match self {
            Easing::Linear => t,
            Easing::Step => 0.0,
            Easing::In => t * t,
            Easing::Out => t * (2.0 - t),
            Easing::Smooth => t * t * (3.0 - 2.0 * t),
        }
    }
}

/// The property that a curve controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CurveTarget {
    /// Volume in decibels, added.
    VolumeDb,
    /// Factor of speed and pitch, multiplied.
    Pitch,
    /// Cutoff of the low-pass filter in hertz; the lowest of all curves applies.
    CutoffHz,
    /// Pan from -1, left, to 1, right; added.
    Pan,
}

impl CurveTarget {
    /// Every target, with its name, minimum and maximum.
    pub const ALL: [(&'static str, CurveTarget, f32, f32); 4] = [
        ("volume_db", CurveTarget::VolumeDb, -100.0, 24.0),
        ("pitch", CurveTarget::Pitch, 0.01, 16.0),
        ("cutoff_hz", CurveTarget::CutoffHz, 20.0, 24_000.0),
        ("pan", CurveTarget::Pan, -1.0, 1.0),
    ];

    /// Returns the [`CurveTarget`] of a number of the compiled form.
    pub fn from_number(number: u8) -> Option<CurveTarget> {
        CurveTarget::ALL.get(usize::from(number)).map(|row| row.1)
    }
}

/// Returns the value of a curve at `x`. `points` ascend in x and are at least one. The curve is
/// constant before the first and after the last point.
#[inline]
pub fn value(points: &[(f32, f32)], easing: Easing, x: f32) -> f32 {
    let after = points.iter().position(|point| point.0 > x).unwrap_or(points.len());
    if after == 0 {
        return points[0].1;
    }
    let before = points[after - 1];
    let Some(next) = points.get(after) else { return before.1 };
    let t = (x - before.0) / (next.0 - before.0);
    before.1 + (next.1 - before.1) * easing.apply(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(easing: Easing, x: f32, wanted: f32) {
        let points = [(0.0, -40.0), (10.0, 0.0), (20.0, 6.0)];
        assert!((value(&points, easing, x) - wanted).abs() < 1e-5, "{easing:?} at {x}");
    }

    #[test]
    fn a_curve_passes_its_points_and_is_constant_outside() {
        for (_, easing) in Easing::ALL {
            check(easing, -5.0, -40.0);
            check(easing, 0.0, -40.0);
            check(easing, 10.0, 0.0);
            check(easing, 20.0, 6.0);
            check(easing, 1e9, 6.0);
        }
    }

    #[test]
    fn easings_shape_the_interpolation() {
        check(Easing::Linear, 5.0, -20.0);
        check(Easing::Step, 9.9, -40.0);
        check(Easing::In, 5.0, -30.0);
        check(Easing::Out, 5.0, -10.0);
        check(Easing::Smooth, 5.0, -20.0);
        check(Easing::Smooth, 2.5, -33.75);
        check(Easing::Linear, 15.0, 3.0);
    }

    #[test]
    fn numbers_of_easings_and_targets_are_table_indices() {
        for (i, (_, easing)) in Easing::ALL.iter().enumerate() {
            assert_eq!((*easing as usize, Easing::from_number(i as u8)), (i, Some(*easing)));
        }
        for (i, row) in CurveTarget::ALL.iter().enumerate() {
            assert_eq!((row.1 as usize, CurveTarget::from_number(i as u8)), (i, Some(row.1)));
        }
        assert_eq!((Easing::from_number(5), CurveTarget::from_number(4)), (None, None));
    }
}
