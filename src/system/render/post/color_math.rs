//! The mathematics of color grading on the processor: white balance as a matrix, and the filmic
//! curve as three segments. Knows no values of environments and no graphics API.

use engine_foundation::{Mat3, Vec3};

/// The color temperature at which white balance changes nothing, in kelvins.
pub const NEUTRAL_KELVINS: f32 = 6500.0;

/// The distance from the colors of hot bodies that the strongest tint moves white, in CIE 1960 uv.
const TINT_UV: f64 = 0.02;
/// The least response of a cone that white balance makes up for. Without it, deep yellow light
/// would become infinitely blue.
const RESPONSE_MIN: f32 = 0.2;

/// Linear sRGB to XYZ (IEC 61966-2-1).
const RGB_TO_XYZ: Mat3 = Mat3::from_cols(
    Vec3::new(0.412_390_8, 0.212_639, 0.019_330_8),
    Vec3::new(0.357_584_3, 0.715_168_7, 0.119_194_8),
    Vec3::new(0.180_480_8, 0.072_192_3, 0.950_532_2),
);

/// XYZ to the responses of the eye's cones (Lam, "Metamerism and Colour Constancy", 1985: the
/// Bradford transform).
const XYZ_TO_CONES: Mat3 = Mat3::from_cols(
    Vec3::new(0.8951, -0.7502, 0.0389),
    Vec3::new(0.2664, 1.7135, -0.0685),
    Vec3::new(-0.1614, 0.0367, 1.0296),
);

/// Returns the color of a hot body in CIE 1960 uv (Krystek, "An algorithm to calculate correlated
/// colour temperature", 1985).
fn hot_body(kelvins: f64) -> (f64, f64) {
    let t = kelvins;
    let u = (0.860_117_757 + 1.541_182_54e-4 * t + 1.286_412_12e-7 * t * t)
        / (1.0 + 8.424_202_35e-4 * t + 7.081_451_63e-7 * t * t);
    let v = (0.317_398_726 + 4.228_062_45e-5 * t + 4.204_816_91e-8 * t * t)
        / (1.0 - 2.897_418_16e-5 * t + 1.614_560_53e-7 * t * t);
    (u, v)
}

/// Returns the XYZ color with a Y of 1 of a hot body, moved towards green by a tint, at a right
/// angle to the colors of other temperatures.
fn white(kelvins: f32, tint: f32) -> Vec3 {
    let kelvins = f64::from(kelvins);
    let ((u, v), hotter) = (hot_body(kelvins), hot_body(kelvins + 1.0));
    let (along_u, along_v) = (hotter.0 - u, hotter.1 - v);
    let distance = f64::from(tint) * TINT_UV / along_u.hypot(along_v);
    let (u, v) = (u + along_v * distance, v - along_u * distance);
    let scale = 2.0 * u - 8.0 * v + 4.0;
    let (x, y) = (3.0 * u / scale, 2.0 * v / scale);
    Vec3::new((x / y) as f32, 1.0, ((1.0 - x - y) / y) as f32)
}

/// Returns the matrix on linear sRGB that makes light of a color temperature white. A positive tint
/// makes colors more magenta.
pub fn white_balance(kelvins: f32, tint: f32) -> Mat3 {
    let wanted = XYZ_TO_CONES * white(NEUTRAL_KELVINS, 0.0);
    let found = XYZ_TO_CONES * white(kelvins, tint);
    let factors = wanted / found.max(Vec3::splat(RESPONSE_MIN));
    let to_cones = XYZ_TO_CONES * RGB_TO_XYZ;
    to_cones.inverse() * Mat3::from_diagonal(factors) * to_cones
}

/// One part of the filmic curve: y = offset + scale * exp(log_a + b * ln((x - start) * scale)).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Segment {
    pub start: f32,
    pub offset: f32,
    /// 1, or -1 for a segment that is turned around.
    pub scale: f32,
    pub log_a: f32,
    pub b: f32,
}

/// The parameters of the filmic curve, as an environment has them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FilmicParameters {
    pub toe_strength: f32,
    pub toe_length: f32,
    pub shoulder_strength: f32,
    pub shoulder_length: f32,
    pub shoulder_angle: f32,
}

/// The filmic curve: a power curve in the shadows, a line, and a power curve in the highlights
/// (Hable, "Filmic Tonemapping with Piecewise Power Curves", 2017).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FilmicCurve {
    pub toe: Segment,
    pub line: Segment,
    pub shoulder: Segment,
    /// The light at both ends of the line, and the light that becomes white.
    pub line_begin: f32,
    pub line_end: f32,
    pub white: f32,
}

/// Returns the power curve from 0 through a point with a slope there, as `log_a` and `b`.
fn power_curve(x: f64, y: f64, slope: f64) -> (f64, f64) {
    let b = slope * x / y;
    (y.ln() - b * x.ln(), b)
}

impl FilmicCurve {
    pub fn new(parameters: &FilmicParameters) -> FilmicCurve {
        // Lengths of 0 would divide by 0.
        const LEAST: f64 = 1e-4;
        let of = |value: f32| f64::from(value);
        let x0 = (of(parameters.toe_length).powf(2.2) * 0.5).max(LEAST);
        let y0 = ((1.0 - of(parameters.toe_strength)) * x0).max(x0 * 0.01);
        let left = 1.0 - y0;
        let line = ((1.0 - of(parameters.shoulder_length)) * left).max(LEAST);
        let (x1, y1) = (x0 + line, y0 + line);
        let white = x0 + left + of(parameters.shoulder_strength).exp2() - 1.0;
        let angle = of(parameters.shoulder_angle) * of(parameters.shoulder_strength);
        let end_x = white + 2.0 * white * angle;
        let end_y = 1.0 + (0.5 * angle).max(LEAST);
        let (toe_a, toe_b) = power_curve(x0, y0, 1.0);
        let (shoulder_a, shoulder_b) =
            power_curve((end_x - x1).max(LEAST), (end_y - y1).max(LEAST), 1.0);
        // All parts are scaled so that `white` becomes exactly 1.
        let rest = (end_x - white).max(LEAST * LEAST);
        let at_white = end_y - (shoulder_a + shoulder_b * rest.ln()).exp();
        let scale = 1.0 / at_white.max(LEAST);
        let log = scale.ln();
        let segment = |start: f64, offset: f64, turn: f64, log_a: f64, b: f64| Segment {
            start: start as f32,
            offset: (offset * scale) as f32,
            scale: turn as f32,
            log_a: (log_a + log) as f32,
            b: b as f32,
        };
        FilmicCurve {
            toe: segment(0.0, 0.0, 1.0, toe_a, toe_b),
            line: segment(x0 - y0, 0.0, 1.0, 0.0, 1.0),
            shoulder: segment(end_x, end_y, -1.0, shoulder_a, shoulder_b),
            line_begin: x0 as f32,
            line_end: x1 as f32,
            white: white as f32,
        }
    }

    /// Returns the color of a light, as the shader computes it.
    #[cfg(test)]
    fn at(&self, light: f32) -> f32 {
        let x = light.min(self.white);
        let segment = if x < self.line_begin {
            self.toe
        } else if x < self.line_end {
            self.line
        } else {
            self.shoulder
        };
        let from = ((x - segment.start) * segment.scale).max(1e-9);
        segment.offset + segment.scale * (segment.log_a + segment.b * from.ln()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_balance_keeps_white_and_warms_or_cools() {
        let unchanged = white_balance(NEUTRAL_KELVINS, 0.0) * Vec3::new(0.3, 0.5, 0.7);
        assert!(unchanged.distance(Vec3::new(0.3, 0.5, 0.7)) < 1e-5, "{unchanged}");
        let warm = white_balance(9000.0, 0.0) * Vec3::ONE;
        assert!(warm.x > 1.02 && warm.z < 0.95, "{warm}");
        let cool = white_balance(3500.0, 0.0) * Vec3::ONE;
        assert!(cool.x < 0.98 && cool.z > 1.2, "{cool}");
        let magenta = white_balance(NEUTRAL_KELVINS, 1.0) * Vec3::ONE;
        assert!(magenta.y < 0.95 && magenta.x > 1.1 && magenta.z > 1.1, "{magenta}");
        let green = white_balance(NEUTRAL_KELVINS, -1.0) * Vec3::ONE;
        assert!(green.y > 1.05 && green.x < 0.9 && green.z < 0.9, "{green}");
        for kelvins in [2000.0, 15000.0] {
            for tint in [-1.0, 1.0] {
                let white = white_balance(kelvins, tint) * Vec3::ONE;
                assert!(white.is_finite() && white.max_element() < 10.0, "{white}");
            }
        }
    }

    fn parameters(all: [f32; 5]) -> FilmicParameters {
        let [toe_strength, toe_length, shoulder_strength, shoulder_length, shoulder_angle] = all;
        FilmicParameters {
            toe_strength,
            toe_length,
            shoulder_strength,
            shoulder_length,
            shoulder_angle,
        }
    }

    #[test]
    fn the_filmic_curve_rises_from_black_to_white_without_jumps() {
        let choices = [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 2.0, 10.0], [0.0, 0.5, 1.0]];
        for i in 0..3 * 3 * 3 * 3 * 3usize {
            let part = |at: u32| i / 3usize.pow(at) % 3;
            let values = [0, 1, 2, 3].map(|at: usize| choices[at][part(at as u32)]);
            let angle = [0.0, 0.5, 1.0][part(4)];
            let all = [values[0], values[1], values[2], values[3], angle];
            let curve = FilmicCurve::new(&parameters(all));
            assert!(curve.at(0.0).abs() < 1e-3, "{all:?} {curve:?}");
            assert!((curve.at(curve.white) - 1.0).abs() < 0.01, "{all:?} {curve:?}");
            let mut last = curve.at(0.0);
            for step in 1..=1000 {
                let now = curve.at(curve.white * step as f32 / 1000.0);
                assert!(now.is_finite() && now >= last - 1e-4, "{all:?} {step}: {last} {now}");
                last = now;
            }
            for end in [curve.line_begin, curve.line_end] {
                let (below, above) = (curve.at(end * 0.99999), curve.at(end * 1.00001));
                // Single precision leaves steps at a shoulder of 10 stops: below two levels of
                // a byte.
                assert!((below - above).abs() < 2.0 / 255.0, "{all:?} {end}: {below} {above}");
            }
        }
    }
}
