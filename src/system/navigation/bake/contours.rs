//! Outlines of regions, with few corners, and with their holes joined to the outer loop.

use super::compact::{CompactField, NONE};
use super::regions::{BORDER, NO_REGION, Regions};
use super::triangulation::{triangles_area, triangulate};
use super::{BakeCells, NULL_AREA};

/// Corner of an outline: column, row and height, in cells.
pub(super) type Corner = [i32; 3];

/// Maximum distance of a straightened edge between two regions of the same area from their border,
/// in cells. Both regions use the same edge, so that it can be farther away than a wall.
const REGION_EDGE_ERROR: f32 = 6.0;
/// Maximum number of corners of all loops of a region, whose holes are joined to the outer loop.
const CORNERS_MAX: usize = 4096;
/// Maximum number of comparisons of edges while the holes of a region are joined: seconds of work
/// for shapes that are made for it.
const JOIN_WORK_MAX: usize = 1 << 26;

/// Maximum distance of an edge from a border that is not straightened, in cells. Every turn of such
/// a border is farther from the line between its neighbours.
const EXACT_ERROR: f32 = 0.01;

/// How the borders of regions are straightened. Regions on both sides of an edge need the same
/// error.
struct Borders<'a> {
    /// Area of each region.
    areas: &'a [u8],
    /// True for the regions whose borders are not straightened: of thin ones, nothing would be
    /// left, and the region around them could not be cut.
    is_exact: Vec<bool>,
    /// Maximum distance of straightened walls, and of edges between two areas, in cells.
    error: f32,
    /// True if a part of an outline may be left out that cannot be cut into triangles.
    is_last: bool,
}

/// Why a region has no outline.
enum Fault {
    /// Its borders cross each other, which straightened ones can.
    Crossing(String),
    /// It is too complex.
    Limit(String),
}

/// Outline of a region, counter-clockwise from above, and the triangles into which it is cut.
#[derive(Debug)]
pub(super) struct Contour {
    pub region: u16,
    pub area: u8,
    pub corners: Vec<Corner>,
    /// Indices of corners.
    pub triangles: Vec<[u16; 3]>,
}

/// Corner of a traced loop, with the region on the other side of the edge that ends there.
#[derive(Clone, Copy)]
struct TracedCorner {
    corner: Corner,
    beyond: u16,
    /// True if regions meet here diagonally, all of which need the corner.
    is_shared: bool,
}

/// Loop of a region that was traced.
struct TracedLoop {
    region: u16,
    area: u8,
    corners: Vec<TracedCorner>,
}

/// Traces the outlines of all regions. Regions with less than three corners are left out, except
/// those of an area: however thin it is, its border is kept.
///
/// # Errors
/// Returns an error message if a region is too complex.
pub(super) fn build(
    field: &CompactField,
    regions: &Regions,
    cells: &BakeCells,
) -> Result<Vec<Contour>, String> {
    let mut sides = boundary_sides(field, &regions.of_span);
    let mut loops = Vec::new();
    for at in 0..field.spans.len() {
        while sides[at] != 0 {
            let mut corners = Vec::new();
            trace(field, &regions.of_span, at, &mut sides, &mut corners);
            loops.push(TracedLoop { region: regions.of_span[at], area: field.areas[at], corners });
        }
    }
    // Stable: the loops of a region stay in the order of their first span.
    loops.sort_by_key(|traced| traced.region);
    let mut areas = vec![NULL_AREA; usize::from(u16::MAX) + 1];
    loops.iter().for_each(|traced| areas[usize::from(traced.region)] = traced.area);
    let is_exact = vec![false; areas.len()];
    let error = cells.edge_error;
    let mut borders = Borders { areas: &areas, is_exact, error, is_last: false };
    borders.mark_thin(&loops);
    let thin = borders.is_exact.clone();
    match borders.outlines(&loops) {
        Ok(contours) => return Ok(contours),
        Err((_, Fault::Limit(message))) => return Err(message),
        Err((crossing, _)) => borders.mark(crossing),
    }
    if let Ok(contours) = borders.outlines(&loops) {
        return Ok(contours);
    }
    // Exact borders cross, too, or have too many corners: parts of the ground may be left out.
    borders = Borders { is_exact: thin, is_last: true, ..borders };
    match borders.outlines(&loops) {
        Ok(contours) => return Ok(contours),
        Err((_, Fault::Limit(message))) => return Err(message),
        Err(_) => borders.mark(loops.iter().map(|traced| traced.region).collect()),
    }
    borders.outlines(&loops).map_err(|(_, fault)| match fault {
        Fault::Crossing(message) | Fault::Limit(message) => message,
    })
}

impl Borders<'_> {
    /// Returns the maximum distance of an edge from its border, in cells, the same from both sides.
    fn error_between(&self, region: u16, beyond: u16, walls: f32) -> f32 {
        let (own, other) = (usize::from(region), usize::from(beyond));
        if self.is_exact[own] || self.is_exact[other] {
            return EXACT_ERROR;
        }
        match beyond {
            NO_REGION => walls,
            _ if self.areas[other] != self.areas[own] => self.error,
            _ => REGION_EDGE_ERROR,
        }
    }

    fn straighten(&self, traced: &TracedLoop, walls: f32) -> Vec<Corner> {
        simplify(&traced.corners, |beyond| self.error_between(traced.region, beyond, walls))
    }

    fn mark(&mut self, regions: Vec<u16>) {
        regions.into_iter().for_each(|region| self.is_exact[usize::from(region)] = true);
    }

    /// Marks the regions that would be lost, or lose more than a quarter of their ground, and are
    /// next to another area: their borders are not straightened.
    fn mark_thin(&mut self, loops: &[TracedLoop]) {
        let mut thin = Vec::new();
        for traced in loops {
            let whole = traced_area(&traced.corners);
            let is_hole = whole > 0;
            let is_other = |region: u16| self.areas[usize::from(region)] != traced.area;
            if !traced.inner_regions().any(|region| is_hole || is_other(region)) {
                continue;
            }
            let left = doubled_area(&self.straighten(traced, self.error)) * whole.signum();
            if is_hole && left <= 0 {
                thin.extend(traced.inner_regions());
            } else if !is_hole && left * 4 < whole.abs() * 3 {
                thin.push(traced.region);
            }
        }
        self.mark(thin);
    }

    /// Returns the outlines of all regions, or those whose borders cross each other, and why.
    fn outlines(&self, loops: &[TracedLoop]) -> Result<Vec<Contour>, (Vec<u16>, Fault)> {
        let (mut contours, mut crossing, mut first) = (Vec::new(), Vec::new(), None);
        for of_region in loops.chunk_by(|a, b| a.region == b.region) {
            let contour = match self.outline(of_region, self.error) {
                // Straightened walls can cross each other where they are close.
                Err(Fault::Crossing(message)) => match self.outline(of_region, 0.0) {
                    Err(Fault::Limit(_)) => Err(Fault::Crossing(message)),
                    contour => contour,
                },
                contour => contour,
            };
            match contour {
                Ok(contour) => contours.extend(contour),
                Err(fault @ Fault::Limit(_)) => return Err((Vec::new(), fault)),
                Err(fault) => {
                    crossing.push(of_region[0].region);
                    first = first.or(Some(fault));
                }
            }
        }
        match first {
            None => Ok(contours),
            Some(fault) => Err((crossing, fault)),
        }
    }

    /// Returns the outline of a region from its loops, with straightened borders; `None` if nothing
    /// is left of it.
    fn outline(&self, loops: &[TracedLoop], walls: f32) -> Result<Option<Contour>, Fault> {
        let mut contour: Option<Contour> = None;
        let mut holes = Vec::new();
        for traced in loops {
            let &TracedLoop { region, area, ref corners } = traced;
            // The trace is clockwise around a region, and counter-clockwise around its holes.
            let is_hole = traced_area(corners) > 0;
            let mut straight = self.straighten(traced, walls);
            let is_lost =
                |corners: &[Corner]| corners.len() < 3 || (doubled_area(corners) > 0) != is_hole;
            if is_hole && is_lost(&straight) {
                straight = self.straighten(traced, 0.0);
                if is_lost(&straight) {
                    return Err(Fault::Crossing(too_fine(corners, self.subject(traced))));
                }
            }
            if straight.len() < 3 || doubled_area(&straight) == 0 {
                continue;
            }
            straight.reverse();
            if is_hole {
                holes.push((straight, self.subject(traced)));
            } else if contour.is_some() {
                return Err(Fault::Crossing(too_fine(corners, "ground that overlaps itself")));
            } else {
                let (corners, triangles) = (straight, Vec::new());
                contour = Some(Contour { region, area, corners, triangles });
            }
        }
        let Some(mut contour) = contour else { return Ok(None) };
        let of_holes: usize = holes.iter().map(|(hole, _)| hole.len()).sum();
        let count = contour.corners.len() + of_holes;
        if count > CORNERS_MAX {
            return Err(Fault::Limit(format!(
                "the outline of a region has {count} corners, and {CORNERS_MAX} are the most \
                 (CORNERS_MAX): reduce 'tile_cells', or increase 'cell_size' or 'edge_error'"
            )));
        }
        join_holes(&mut contour.corners, holes)?;
        self.cut(&mut contour, &loops[0].corners)?;
        Ok(Some(contour))
    }

    /// Cuts an outline into triangles, which cover all of it if its borders do not cross.
    fn cut(&self, contour: &mut Contour, corners: &[TracedCorner]) -> Result<(), Fault> {
        contour.triangles = triangulate(&contour.corners).map_err(Fault::Limit)?;
        let covered = triangles_area(&contour.corners, &contour.triangles);
        match covered == doubled_area(&contour.corners) || self.is_last {
            true => Ok(()),
            false => Err(Fault::Crossing(too_fine(corners, "ground"))),
        }
    }

    /// Returns what is in a hole, for messages.
    fn subject(&self, traced: &TracedLoop) -> &'static str {
        match traced.inner_regions().next() {
            Some(_) => "the area of a volume",
            None => "an obstacle",
        }
    }
}

impl TracedLoop {
    /// Returns the regions on the other side, without the adjacent tiles.
    fn inner_regions(&self) -> impl Iterator<Item = u16> {
        let beyond = self.corners.iter().map(|corner| corner.beyond);
        beyond.filter(|region| *region != NO_REGION && *region & BORDER == 0)
    }
}

fn too_fine(corners: &[TracedCorner], subject: &str) -> String {
    let [x, y, z] = corners[0].corner;
    format!(
        "{subject} at column {x}, row {y}, level {z} of the tile cannot be divided into polygons: \
         change 'cell_size', or make the geometry there simpler"
    )
}

/// Returns twice the area of a traced loop.
fn traced_area(corners: &[TracedCorner]) -> i64 {
    let mut sum = 0;
    let mut before = corners[corners.len() - 1].corner;
    for &TracedCorner { corner, .. } in corners {
        sum += i64::from(before[0]) * i64::from(corner[1])
            - i64::from(corner[0]) * i64::from(before[1]);
        before = corner;
    }
    sum
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
            let corner = [x, y, corner_height(field, at, side)];
            let is_shared = is_shared(field, regions, at, side);
            corners.push(TracedCorner { corner, beyond, is_shared });
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

/// Returns true if regions of more than one area meet diagonally at a corner. Their borders turn
/// there in different ways, and have to be straightened from there on, from both sides.
fn is_shared(field: &CompactField, regions: &[u16], at: usize, side: usize) -> bool {
    let next = (side + 1) & 3;
    let neighbors = field.spans[at].neighbors;
    let around = [at as u32, neighbors[side], neighbors[next], field.diagonal(at, side, next)];
    if around.contains(&NONE) {
        return false;
    }
    let around = around.map(|span| span as usize);
    let [own, left, right, opposite] = around.map(|span| regions[span]);
    let is_inner = |region: u16| region != NO_REGION && region & BORDER == 0;
    around.iter().any(|span| field.areas[*span] != field.areas[at])
        && [left, right, opposite].into_iter().all(is_inner)
        && left != own
        && right != own
        && (opposite != left || opposite != right)
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

/// Returns the corners of a traced loop that are needed: those where the region beyond changes or
/// others meet, and those that are farther from the straight edges than the error allows. After
/// D. Douglas and T. Peucker, "Algorithms for the reduction of the number of points" (1973).
fn simplify(traced: &[TracedCorner], error_of: impl Fn(u16) -> f32) -> Vec<Corner> {
    let count = traced.len();
    let is_kept =
        |i: &usize| traced[*i].is_shared || traced[*i].beyond != traced[(*i + 1) % count].beyond;
    let mut kept: Vec<usize> = (0..count).filter(is_kept).collect();
    if kept.is_empty() {
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
        let error = error_of(traced[(from + 1) % count].beyond);
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
/// distance. The line is followed in the same direction from both adjacent regions; if it ends
/// where it begins, the lowest of equally far corners is chosen.
fn farthest_corner(traced: &[TracedCorner], from: usize, to: usize) -> Option<(usize, f32)> {
    let count = traced.len();
    let at = |i: usize| traced[i % count].corner;
    let (a, b) = (at(from), at(to));
    let (forward, is_point) = ((a[0], a[1]) <= (b[0], b[1]), a[..2] == b[..2]);
    let (a, b) = if forward { (a, b) } else { (b, a) };
    let mut best: Option<(usize, f32)> = None;
    for step in 1..to - from {
        let i = if forward { from + step } else { to - step };
        let distance = squared_distance(at(i), a, b);
        let is_farther = |(known, far): (usize, f32)| {
            distance > far || (is_point && distance == far && at(i)[..2] < at(known)[..2])
        };
        if best.is_none_or(is_farther) {
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

/// Joins each hole to the outer loop by an edge that is used in both directions. Each hole has a
/// description of what is in it.
///
/// # Errors
/// Returns an error message if a hole cannot be joined: without its hole, the region would cover an
/// obstacle.
fn join_holes(
    outer: &mut Vec<Corner>,
    mut holes: Vec<(Vec<Corner>, &'static str)>,
) -> Result<(), Fault> {
    let leftmost = |(hole, _): &(Vec<Corner>, &str)| {
        hole.iter().map(|corner| (corner[0], corner[1])).min().unwrap_or((0, 0))
    };
    holes.sort_by_key(leftmost);
    let mut work = 0;
    for at in 0..holes.len() {
        let (hole, subject) = std::mem::take(&mut holes[at]);
        let bridge = find_bridge(outer, &hole, &holes[at + 1..], &mut work);
        if work > JOIN_WORK_MAX {
            return Err(Fault::Limit(format!(
                "the outline of a region with {} holes takes more than {JOIN_WORK_MAX} steps \
                 (JOIN_WORK_MAX): reduce 'tile_cells', or increase 'cell_size'",
                holes.len()
            )));
        }
        let Some((outer_at, hole_at)) = bridge else {
            let [x, y, z] = hole[0];
            return Err(Fault::Crossing(format!(
                "{subject} at column {x}, row {y}, level {z} of the tile cannot be cut out of \
                 its region: change 'cell_size' or 'edge_error'"
            )));
        };
        let mut joined = Vec::with_capacity(outer.len() + hole.len() + 2);
        joined.extend_from_slice(&outer[..=outer_at]);
        joined.extend((0..=hole.len()).map(|i| hole[(hole_at + i) % hole.len()]));
        joined.extend_from_slice(&outer[outer_at..]);
        *outer = joined;
    }
    Ok(())
}

/// Returns the corners of the outer loop and of a hole between which a straight line crosses
/// nothing, the shortest one for the first corner of the hole that has any.
fn find_bridge(
    outer: &[Corner],
    hole: &[Corner],
    others: &[(Vec<Corner>, &'static str)],
    work: &mut usize,
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
        let mut is_crossed = |corners: &[Corner], to: Corner| {
            *work += corners.len();
            *work > JOIN_WORK_MAX || crosses(corners, to, from)
        };
        let free = candidates.iter().find(|(_, at)| {
            super::triangulation::is_in_cone(outer, *at, from)
                && !is_crossed(outer, outer[*at])
                && !is_crossed(hole, outer[*at])
                && !others.iter().any(|(other, _)| is_crossed(other, outer[*at]))
        });
        if let Some((_, outer_at)) = free {
            return Some((*outer_at, hole_at));
        }
        if *work > JOIN_WORK_MAX {
            return None;
        }
    }
    None
}

fn crosses(corners: &[Corner], a: Corner, b: Corner) -> bool {
    let (low, high) = ([a[0].min(b[0]), a[1].min(b[1])], [a[0].max(b[0]), a[1].max(b[1])]);
    let mut c = corners[corners.len() - 1];
    for &d in corners {
        let is_apart = c[0].max(d[0]) < low[0]
            || c[0].min(d[0]) > high[0]
            || c[1].max(d[1]) < low[1]
            || c[1].min(d[1]) > high[1];
        let same = |p: Corner, q: Corner| p[..2] == q[..2];
        let is_joined = same(a, c) || same(a, d) || same(b, c) || same(b, d);
        let can_touch = !is_apart && !is_joined;
        if can_touch && super::triangulation::segments_touch(a, b, c, d) {
            return true;
        }
        c = d;
    }
    false
}
