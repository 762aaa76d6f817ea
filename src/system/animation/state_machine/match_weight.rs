//! Weights of the match functions, by which clips are blended: windows of one number with linear
//! slopes between neighbours, and points of two numbers.
//!
//! The weights of points are those of gradient bands: R. S. Johansen, "Automated Semi-Procedural
//! Animation for Character Locomotion" (2009), section 6.3.

use super::expression::{least, most};

/// Range of a number with the weight 1. The weight falls to 0 outside of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatchWindow {
    pub from: f32,
    pub to: f32,
    /// Distance below `from` at which the weight is 0. With 0, the weight stays 1.
    pub fall_before: f32,
    /// Distance above `to` at which the weight is 0. With 0, the weight stays 1.
    pub fall_after: f32,
}

impl MatchWindow {
    /// Returns the weight of a number, from 0 to 1.
    #[inline]
    pub fn weight(&self, number: f32) -> f32 {
        let (distance, fall) = match (number < self.from, number > self.to) {
            (true, _) => (self.from - number, self.fall_before),
            (_, true) => (number - self.to, self.fall_after),
            _ => return 1.0,
        };
        if fall > 0.0 { most(1.0 - distance / fall, 0.0) } else { 1.0 }
    }
}

/// Returns the window of each range among its neighbours: the weight falls to 0 at the nearest
/// other range, and stays 1 outside of all ranges. A single range falls to 0 at the distance 1.
pub fn windows(ranges: &[(f32, f32)]) -> Vec<MatchWindow> {
    let distinct = ranges.iter().any(|range| *range != ranges[0]);
    let window = |&(from, to): &(f32, f32)| {
        if !distinct {
            return MatchWindow { from, to, fall_before: 1.0, fall_after: 1.0 };
        }
        let mut fall_before = 0.0;
        let mut fall_after = 0.0;
        let nearer = |fall: &mut f32, distance: f32| {
            *fall = if *fall > 0.0 { least(*fall, distance) } else { distance };
        };
        for &(other_from, other_to) in ranges {
            if other_from < from {
                let end = if other_to < from { other_to } else { other_from };
                nearer(&mut fall_before, from - end);
            }
            if other_to > to {
                let end = if other_from > to { other_from } else { other_to };
                nearer(&mut fall_after, end - to);
            }
        }
        MatchWindow { from, to, fall_before, fall_after }
    };
    ranges.iter().map(window).collect()
}

/// Returns the weight of a point at the position (x, y), from 0 to 1: 1 at the point, and 0 at each
/// other point.
#[inline]
pub fn point_weight(points: &[[f32; 2]], point: usize, x: f32, y: f32) -> f32 {
    let [own_x, own_y] = points[point];
    let (dx, dy) = (x - own_x, y - own_y);
    let mut weight = 1.0;
    for [other_x, other_y] in points {
        let (ex, ey) = (other_x - own_x, other_y - own_y);
        let square = ex * ex + ey * ey;
        if square > 0.0 {
            weight = least(weight, 1.0 - (dx * ex + dy * ey) / square);
        }
    }
    most(weight, 0.0)
}
