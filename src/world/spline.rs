//! Splines of a level: smooth curves through points, evaluated by the distance along the curve. The
//! curve is a Catmull-Rom spline (E. Catmull and R. Rom, "A Class of Local Interpolating Splines",
//! 1974). Distances are measured along chords, with a fixed number of chords between two points.

use engine_foundation::Vec3;
use engine_foundation::sjson::SjsonTree;

/// Number of chords between two points of a spline, by which its length is measured.
const CHORDS: usize = 16;

/// Maximum number of points of a spline. A 32-bit number counts the chords of this many points
/// exactly.
pub const SPLINE_POINTS_MAX: usize = 65_536;

/// A curve through points.
#[derive(Clone, PartialEq, Debug)]
pub struct Spline {
    pub points: Vec<Vec3>,
    /// True if the curve continues from the last point to the first.
    pub closed: bool,
    /// Distance along the curve at each chord point; the first is 0.
    distances: Vec<f32>,
}

impl Spline {
    /// Creates a spline of two or more points.
    pub fn new(points: Vec<Vec3>, closed: bool) -> Spline {
        let mut spline = Spline { points, closed, distances: vec![0.0] };
        let mut before = spline.points[0];
        let mut along = 0.0;
        for piece in 1..=spline.segments() * CHORDS {
            let point = spline.at(piece as f32 / CHORDS as f32);
            along += before.distance(point);
            spline.distances.push(along);
            before = point;
        }
        spline
    }

    /// Creates a spline from fields that the compiler has validated.
    pub fn of(fields: &SjsonTree) -> Spline {
        let part = |item: Option<&SjsonTree>| match item {
            Some(SjsonTree::Number(number)) => *number as f32,
            _ => 0.0,
        };
        let point = |item: &SjsonTree| match item {
            SjsonTree::Array(parts) => {
                Vec3::new(part(parts.first()), part(parts.get(1)), part(parts.get(2)))
            }
            _ => Vec3::ZERO,
        };
        let points = match fields.get("points") {
            Some(SjsonTree::Array(points)) => points.iter().map(point).collect(),
            _ => vec![Vec3::ZERO; 2],
        };
        Spline::new(points, matches!(fields.get("closed"), Some(SjsonTree::Bool(true))))
    }

    fn segments(&self) -> usize {
        self.points.len() - usize::from(!self.closed)
    }

    /// Returns the curve point at a parameter. Whole numbers are the control points.
    fn at(&self, parameter: f32) -> Vec3 {
        let count = self.points.len() as isize;
        let segment = (parameter as usize).min(self.segments() - 1);
        let t = parameter - segment as f32;
        let point = |offset: isize| {
            let index = segment as isize + offset;
            let index =
                if self.closed { index.rem_euclid(count) } else { index.clamp(0, count - 1) };
            self.points[index as usize]
        };
        let (a, b, c, d) = (point(-1), point(0), point(1), point(2));
        let (t2, t3) = (t * t, t * t * t);
        0.5 * (2.0 * b
            + (c - a) * t
            + (2.0 * a - 5.0 * b + 4.0 * c - d) * t2
            + (3.0 * b - a - 3.0 * c + d) * t3)
    }

    /// Returns the length of the whole curve in metres.
    pub fn length(&self) -> f32 {
        self.distances[self.distances.len() - 1]
    }

    /// Returns the curve point at a distance in metres. Beyond the ends it returns the end points;
    /// on a closed curve the distance wraps around.
    pub fn position(&self, distance: f32) -> Vec3 {
        let length = self.length();
        if length <= 0.0 {
            return self.points[0];
        }
        let along =
            if self.closed { distance.rem_euclid(length) } else { distance.clamp(0.0, length) };
        let next = self.distances.partition_point(|known| *known < along);
        let last = next.saturating_sub(1);
        let span = self.distances[next.min(self.distances.len() - 1)] - self.distances[last];
        let within = if span > 0.0 { (along - self.distances[last]) / span } else { 0.0 };
        self.at((last as f32 + within) / CHORDS as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_has_constant_speed() {
        let points = (0..4).map(|x| Vec3::new(x as f32, 0.0, 0.0)).collect();
        let spline = Spline::new(points, false);
        assert!((spline.length() - 3.0).abs() < 1e-3);
        for step in 0..=30 {
            let distance = step as f32 / 10.0;
            let at = spline.position(distance);
            assert!((at.x - distance).abs() < 0.02 && at.y == 0.0, "{distance}: {at}");
        }
        assert_eq!(spline.position(-5.0), Vec3::ZERO);
        assert_eq!(spline.position(50.0), Vec3::new(3.0, 0.0, 0.0));
    }

    #[test]
    fn a_closed_curve_wraps_around_through_its_points() {
        let corners = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
        let points: Vec<_> = corners.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect();
        let spline = Spline::new(points.clone(), true);
        let quarter = spline.length() / 4.0;
        for (i, point) in points.iter().enumerate() {
            let at = spline.position(quarter * i as f32 + spline.length());
            assert!(at.distance(*point) < 0.01, "{at} is not {point}");
        }
        // A little less than a circle, more than a square.
        assert!((5.65..6.3).contains(&spline.length()), "{}", spline.length());
    }

    #[test]
    fn equal_points_have_no_length() {
        let spline = Spline::new(vec![Vec3::ONE; 3], false);
        assert_eq!((spline.length(), spline.position(1.0)), (0.0, Vec3::ONE));
    }
}
