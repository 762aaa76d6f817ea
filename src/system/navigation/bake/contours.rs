//! Outlines of regions, with few corners, and with their holes joined to the outer loop.

use super::compact::{CompactField, NONE};
use super::regions::{BORDER, NO_REGION, Regions};
use super::{BakeCells, NULL_AREA};

/// Corner of an outline: column, row and height, in cells.
pub(super) type Corner = [i32; 3];

/// Maximum distance of a straightened edge between two regions from their border, in cells. Both
/// regions use the same edge, so that it can be farther away than a wall.
const REGION_EDGE_ERROR: f32 = 6.0;
/// Corners of loops of one region above which joining holes takes too long.
const CORNERS_MAX: usize = 16_384;

/// Outline of a region, counter-clockwise from above.
#[derive(Debug)]
pub(super) struct Contour {
    pub region: u16,
    pub area: u8,
    pub corners: Vec<Corner>,
}

/// Corner of a traced loop, with the region on the other side of the edge that ends there.
#[derive(Clone, Copy)]
struct TracedCorner {
    corner: Corner,
    beyond: u16,
}

/// Traces the outlines of all regions. Regions with less than three corners are left out.
///
/// # Errors
/// Returns an error message if a region has too many corners.
pub(super) fn build(
    field: &CompactField,
    regions: &Regions,
    cells: &BakeCells,
) -> Result<Vec<Contour>, String> {
    let mut sides = boundary_sides(field, &regions.of_span);
    let mut outers: Vec<Option<Contour>> = (0..=regions.count).map(|_| None).collect();
    let mut holes: Vec<Vec<Vec<Corner>>> = vec![Vec::new(); regions.count + 1];
    let mut loop_corners = Vec::new();
    for at in 0..field.spans.len() {
        while sides[at] != 0 {
            trace(field, &regions.of_span, at, &mut sides, &mut loop_corners);
            let corners = simplify(&loop_corners, cells.edge_error);
            let (region, area) = (regions.of_span[at], field.areas[at]);
            let size = doubled_area(&corners);
            // The trace is clockwise around a region, and counter-clockwise around its holes.
            if corners.len() < 3 || size == 0 {
                continue;
            }
            let outer = &mut outers[usize::from(region)];
            let mut corners = corners;
            corners.reverse();
            if size < 0 && outer.is_none() {
                *outer = Some(Contour { region, area, corners });
            } else if size > 0 {
                holes[usize::from(region)].push(corners);
            }
        }
    }
    let mut contours = Vec::new();
    for (outer, holes) in outers.into_iter().zip(holes) {
        let Some(mut contour) = outer else { continue };
        let count = contour.corners.len() + holes.iter().map(Vec::len).sum::<usize>();
        if count > CORNERS_MAX {
            return Err(format!(
                "the outline of a region has {count} corners, and {CORNERS_MAX} are the most \
                 (CORNERS_MAX): make tiles smaller or cells larger"
            ));
        }
        join_holes(&mut contour.corners, holes);
        contours.push(contour);
    }
    Ok(contours)
}

/// Returns the sides of each span on which its region ends, one bit a side.
fn boundary_sides(field: &CompactField, regions: &[u16]) -> Vec<u8> {
    let sides = regions.iter().enumerate().map(|(at, &region)| {
        if region == NO_REGION || region & BORDER != 0 || field.areas[at] == NULL_AREA {
            return 0;
        }
        let neighbors = field.spans[at].neighbors;
        (0..4).fold(0, |bits, side| {
            let near = neighbors[side];
            let inside = near != NONE && regions[near as usize] == region;
            if inside { bits } else { bits | 1 << side }
        })
    });
    sides.collect()
}

/// Follows the edge of a region from a span, with the region on the right hand.
fn trace(
    field: &CompactField,
    regions: &[u16],
    start: usize,
    sides: &mut [u8],
    corners: &mut Vec<TracedCorner>,
) {
    corners.clear();
    let first = sides[start].trailing_zeros() as usize;
    let (mut at, mut side) = (start, first);
    loop {
        if sides[at] & 1 << side != 0 {
            let column = field.spans[at].column as usize;
            let (mut x, mut y) = ((column % field.width) as i32, (column / field.width) as i32);
            x += i32::from(side == 1 || side == 2);
            y += i32::from(side == 0 || side == 1);
            let near = field.spans[at].neighbors[side];
            let beyond = if near == NONE { NO_REGION } else { regions[near as usize] };
            corners.push(TracedCorner { corner: [x, y, corner_height(field, at, side)], beyond });
            sides[at] &= !(1 << side);
            side = (side + 1) & 3;
        } else {
            let near = field.spans[at].neighbors[side];
            if near == NONE {
                // This side was traced before: the loop closes here.
                return;
            }
            at = near as usize;
            side = (side + 3) & 3;
        }
        if at == start && side == first {
            return;
        }
    }
}

/// Returns the highest floor of the four spans around a corner.
fn corner_height(field: &CompactField, at: usize, side: usize) -> i32 {
    let next = (side + 1) & 3;
    let mut height = field.spans[at].floor;
    let around = [
        field.spans[at].neighbors[side],
        field.spans[at].neighbors[next],
        field.diagonal(at, side, next),
        field.diagonal(at, next, side),
    ];
    for near in around.into_iter().filter(|near| *near != NONE) {
        height = height.max(field.spans[near as usize].floor);
    }
    i32::from(height)
}

/// Returns twice the area of a loop; it is positive if the loop is counter-clockwise.
pub(super) fn doubled_area(corners: &[Corner]) -> i64 {
    let mut sum = 0;
    for (i, a) in corners.iter().enumerate() {
        let b = corners[if i + 1 == corners.len() { 0 } else { i + 1 }];
        sum += i64::from(a[0]) * i64::from(b[1]) - i64::from(b[0]) * i64::from(a[1]);
    }
    sum
}

/// Returns the corners of a traced loop that are needed: those where the region beyond changes, and
/// those that are farther from the straight edges than the error allows. After D. Douglas and
/// T. Peucker, "Algorithms for the reduction of the number of points" (1973).
fn simplify(traced: &[TracedCorner], error: f32) -> Vec<Corner> {
    let count = traced.len();
    let mut kept: Vec<usize> =
        (0..count).filter(|i| traced[*i].beyond != traced[(*i + 1) % count].beyond).collect();
    if kept.len() < 2 {
        let key = |i: &usize| (traced[*i].corner[0], traced[*i].corner[1]);
        let low = (0..count).min_by_key(key).unwrap_or(0);
        let high = (0..count).max_by_key(key).unwrap_or(0);
        kept = vec![low.min(high), low.max(high)];
        kept.dedup();
    }
    let mut needed = vec![false; count];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for (i, &from) in kept.iter().enumerate() {
        needed[from] = true;
        let to = kept[(i + 1) % kept.len()];
        stack.push((from, if to > from { to } else { to + count }));
    }
    while let Some((from, to)) = stack.pop() {
        let beyond = traced[(from + 1) % count].beyond;
        let error = if beyond == NO_REGION { error } else { REGION_EDGE_ERROR };
        let farthest = farthest_corner(traced, from, to);
        if let Some((at, distance)) = farthest
            && distance > error * error
        {
            needed[at % count] = true;
            stack.push((from, at));
            stack.push((at, to));
        }
    }
    let mut corners: Vec<Corner> =
        (0..count).filter(|i| needed[*i]).map(|i| traced[i].corner).collect();
    corners.dedup_by(|a, b| a[0] == b[0] && a[1] == b[1]);
    if corners.len() > 1 && corners[0][..2] == corners[corners.len() - 1][..2] {
        corners.pop();
    }
    corners
}

/// Returns the corner between two others that is farthest from their line, and its squared
/// distance. The line is followed in the same direction from both adjacent regions.
fn farthest_corner(traced: &[TracedCorner], from: usize, to: usize) -> Option<(usize, f32)> {
    let count = traced.len();
    let at = |i: usize| traced[i % count].corner;
    let (a, b) = (at(from), at(to));
    let forward = (a[0], a[1]) <= (b[0], b[1]);
    let (a, b) = if forward { (a, b) } else { (b, a) };
    let mut best: Option<(usize, f32)> = None;
    for step in 1..to - from {
        let i = if forward { from + step } else { to - step };
        let distance = squared_distance(at(i), a, b);
        if best.is_none_or(|(_, far)| distance > far) {
            best = Some((i, distance));
        }
    }
    best
}

fn squared_distance(point: Corner, a: Corner, b: Corner) -> f32 {
    let (dx, dy) = ((b[0] - a[0]) as f32, (b[1] - a[1]) as f32);
    let (px, py) = ((point[0] - a[0]) as f32, (point[1] - a[1]) as f32);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (px - dx * along, py - dy * along);
    x * x + y * y
}

/// Joins each hole to the outer loop by an edge that is used in both directions.
fn join_holes(outer: &mut Vec<Corner>, mut holes: Vec<Vec<Corner>>) {
    let leftmost = |hole: &Vec<Corner>| {
        hole.iter().map(|corner| (corner[0], corner[1])).min().unwrap_or((0, 0))
    };
    holes.sort_by_key(leftmost);
    for at in 0..holes.len() {
        let hole = std::mem::take(&mut holes[at]);
        if let Some((outer_at, hole_at)) = find_bridge(outer, &hole, &holes[at + 1..]) {
            let mut joined = Vec::with_capacity(outer.len() + hole.len() + 2);
            joined.extend_from_slice(&outer[..=outer_at]);
            joined.extend((0..=hole.len()).map(|i| hole[(hole_at + i) % hole.len()]));
            joined.extend_from_slice(&outer[outer_at..]);
            *outer = joined;
        }
    }
}

/// Returns the corners of the outer loop and of a hole between which a straight line crosses
/// nothing, the shortest one for the first corner of the hole that has any.
fn find_bridge(
    outer: &[Corner],
    hole: &[Corner],
    others: &[Vec<Corner>],
) -> Option<(usize, usize)> {
    let first = (0..hole.len()).min_by_key(|i| (hole[*i][0], hole[*i][1]))?;
    let mut candidates: Vec<(i64, usize)> = Vec::new();
    for turn in 0..hole.len() {
        let hole_at = (first + turn) % hole.len();
        let from = hole[hole_at];
        candidates.clear();
        candidates.extend(outer.iter().enumerate().map(|(i, to)| {
            let (dx, dy) = (i64::from(to[0] - from[0]), i64::from(to[1] - from[1]));
            (dx * dx + dy * dy, i)
        }));
        candidates.sort_unstable();
        let free = candidates.iter().find(|(_, at)| {
            super::triangulation::is_in_cone(outer, *at, from)
                && !crosses(outer, outer[*at], from)
                && !crosses(hole, outer[*at], from)
                && !others.iter().any(|other| crosses(other, outer[*at], from))
        });
        if let Some((_, outer_at)) = free {
            return Some((*outer_at, hole_at));
        }
    }
    None
}

fn crosses(corners: &[Corner], a: Corner, b: Corner) -> bool {
    (0..corners.len()).any(|i| {
        let (c, d) = (corners[i], corners[if i + 1 == corners.len() { 0 } else { i + 1 }]);
        let same = |p: Corner, q: Corner| p[..2] == q[..2];
        !(same(a, c) || same(a, d) || same(b, c) || same(b, d))
            && super::triangulation::segments_touch(a, b, c, d)
    })
}
