//! Chains of segments: outlines as lists of points.

use super::edges::Segment;
use std::collections::BTreeMap;

/// Points that follow each other, with the solid side on the left.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    pub points: Vec<[f64; 2]>,
    /// True if the last point is connected to the first.
    pub is_closed: bool,
}

/// Maximum number of segments that are compared where many begin in one point.
const CANDIDATES_MAX: usize = 16;

type Key = [u64; 2];

/// Returns a key for a point. Equal points have equal bits, because edges are rounded.
fn key(point: [f64; 2]) -> Key {
    // Adding zero turns a negative zero into a positive one.
    point.map(|part| (part + 0.0).to_bits())
}

/// Returns the angle by which the direction turns from one segment to the next, from -π to π.
fn turn(before: &Segment, after: &Segment) -> f64 {
    let direction = |of: &Segment| [of.to[0] - of.from[0], of.to[1] - of.from[1]];
    let ([ax, ay], [bx, by]) = (direction(before), direction(after));
    (ax * by - ay * bx).atan2(ax * bx + ay * by)
}

/// Connects segments. Where several chains touch in a point, each turns to its solid side, so that
/// parts that touch diagonally are separate chains.
pub fn chains(segments: &[Segment]) -> Vec<Chain> {
    let mut starting: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, segment) in segments.iter().enumerate() {
        starting.entry(key(segment.from)).or_default().push(at);
    }
    let mut next: Vec<Option<usize>> = vec![None; segments.len()];
    let mut has_previous = vec![false; segments.len()];
    for (at, segment) in segments.iter().enumerate() {
        let Some(candidates) = starting.get_mut(&key(segment.to)) else { continue };
        // The two directions of an open line do not follow each other.
        let compared = candidates.iter().take(CANDIDATES_MAX).enumerate();
        let following = compared.filter(|(_, index)| segments[**index].to != segment.from);
        let sharpest = following.max_by(|(_, a), (_, b)| {
            turn(segment, &segments[**a]).total_cmp(&turn(segment, &segments[**b]))
        });
        if let Some((slot, found)) = sharpest.map(|(slot, found)| (slot, *found)) {
            candidates.swap_remove(slot);
            next[at] = Some(found);
            has_previous[found] = true;
        }
    }
    let mut is_used = vec![false; segments.len()];
    let mut chains = Vec::new();
    let open = (0..segments.len()).filter(|at| !has_previous[*at]);
    let starts: Vec<usize> = open.chain(0..segments.len()).collect();
    for start in starts {
        if is_used[start] {
            continue;
        }
        let (mut points, mut at) = (vec![segments[start].from], start);
        let is_closed = loop {
            is_used[at] = true;
            match next[at] {
                Some(following) if following == start => break true,
                Some(following) if !is_used[following] => {
                    points.push(segments[at].to);
                    at = following;
                }
                _ => {
                    points.push(segments[at].to);
                    break false;
                }
            }
        };
        chains.push(Chain { points, is_closed });
    }
    chains
}
