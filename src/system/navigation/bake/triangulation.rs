//! Triangles of a plane polygon by cutting ears, and convex polygons from triangles. All tests are
//! exact, because corners are whole numbers. After J. O'Rourke, "Computational Geometry in C"
//! (1998), chapter 1.

use super::contours::Corner;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of corners of a polygon of the mesh.
pub const CORNERS_OF_POLYGON_MAX: usize = 6;
/// Maximum number of comparisons of edges while the ears of an outline are cut.
const CUT_WORK_MAX: usize = 1 << 27;

/// Returns twice the area of a triangle, positive if it is counter-clockwise.
fn turn(a: Corner, b: Corner, c: Corner) -> i64 {
    let (abx, aby) = (i64::from(b[0] - a[0]), i64::from(b[1] - a[1]));
    let (acx, acy) = (i64::from(c[0] - a[0]), i64::from(c[1] - a[1]));
    abx * acy - acx * aby
}

/// Returns true if a point on the line of a segment lies within it.
fn is_between(a: Corner, b: Corner, c: Corner) -> bool {
    if turn(a, b, c) != 0 {
        return false;
    }
    let axis = usize::from(a[0] == b[0]);
    (a[axis] <= c[axis] && c[axis] <= b[axis]) || (a[axis] >= c[axis] && c[axis] >= b[axis])
}

/// Returns true if two segments have a common point.
pub(super) fn segments_touch(a: Corner, b: Corner, c: Corner, d: Corner) -> bool {
    let (abc, abd) = (turn(a, b, c), turn(a, b, d));
    let (cda, cdb) = (turn(c, d, a), turn(c, d, b));
    if abc != 0 && abd != 0 && cda != 0 && cdb != 0 {
        return (abc > 0) != (abd > 0) && (cda > 0) != (cdb > 0);
    }
    is_between(a, b, c) || is_between(a, b, d) || is_between(c, d, a) || is_between(c, d, b)
}

/// Returns true if the line from a corner of a counter-clockwise loop to a point begins inside it.
pub(super) fn is_in_cone(corners: &[Corner], at: usize, to: Corner) -> bool {
    let count = corners.len();
    let before = corners[(at + count - 1) % count];
    let after = corners[(at + 1) % count];
    is_inside_corner(before, corners[at], after, to)
}

fn is_inside_corner(before: Corner, here: Corner, after: Corner, to: Corner) -> bool {
    if turn(before, here, after) >= 0 {
        turn(here, to, before) > 0 && turn(to, here, after) > 0
    } else {
        !(turn(here, to, after) >= 0 && turn(to, here, before) >= 0)
    }
}

/// As [`is_inside_corner`], or along an edge of the corner.
fn is_at_corner(before: Corner, here: Corner, after: Corner, to: Corner) -> bool {
    if turn(before, here, after) >= 0 {
        turn(here, to, before) >= 0 && turn(to, here, after) >= 0
    } else {
        !(turn(here, to, after) > 0 && turn(to, here, before) > 0)
    }
}

/// Returns true if two segments cross in a point inside both.
fn segments_cross(a: Corner, b: Corner, c: Corner, d: Corner) -> bool {
    let (abc, abd) = (turn(a, b, c), turn(a, b, d));
    let (cda, cdb) = (turn(c, d, a), turn(c, d, b));
    let none = abc == 0 || abd == 0 || cda == 0 || cdb == 0;
    !none && (abc > 0) != (abd > 0) && (cda > 0) != (cdb > 0)
}

/// Form of a corner of the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ear {
    /// It cannot be cut.
    None,
    /// Its diagonal lies on an edge, but crosses none: it can be cut if there is no better one.
    Loose,
    /// Its neighbours can be joined by a diagonal.
    Clean,
}

/// Loop of corners that shrinks while ears are cut: a list, linked in both directions.
struct EarCutter<'a> {
    corners: &'a [Corner],
    before: Vec<u16>,
    after: Vec<u16>,
    ears: Vec<Ear>,
    is_cut: Vec<bool>,
    /// A corner that is left, and their number.
    first: u16,
    count: usize,
    /// Corners that can be cut, the shortest diagonal first. Outdated entries are left out later.
    clean: BinaryHeap<Reverse<(i64, u16)>>,
    loose: BinaryHeap<Reverse<(i64, u16)>>,
    work: usize,
}

impl<'a> EarCutter<'a> {
    fn new(corners: &'a [Corner]) -> EarCutter<'a> {
        let count = corners.len();
        let at = |at: usize| (at % count) as u16;
        let mut cutter = EarCutter {
            corners,
            before: (0..count).map(|i| at(i + count - 1)).collect(),
            after: (0..count).map(|i| at(i + 1)).collect(),
            ears: vec![Ear::None; count],
            is_cut: vec![false; count],
            first: 0,
            count,
            clean: BinaryHeap::new(),
            loose: BinaryHeap::new(),
            work: 0,
        };
        (0..count as u16).for_each(|at| cutter.classify(at));
        cutter
    }

    fn corner(&self, at: u16) -> Corner {
        self.corners[usize::from(at)]
    }

    fn before(&self, at: u16) -> u16 {
        self.before[usize::from(at)]
    }

    fn after(&self, at: u16) -> u16 {
        self.after[usize::from(at)]
    }

    /// Returns the squared length of the diagonal of a corner.
    fn diagonal(&self, at: u16) -> i64 {
        let (a, b) = (self.corner(self.before(at)), self.corner(self.after(at)));
        let (dx, dy) = (i64::from(b[0] - a[0]), i64::from(b[1] - a[1]));
        dx * dx + dy * dy
    }

    /// Finds the form of a corner.
    fn classify(&mut self, at: u16) {
        let (before, after) = (self.before(at), self.after(at));
        let (a, here, b) = (self.corner(before), self.corner(at), self.corner(after));
        let (first, last) = (self.corner(self.before(before)), self.corner(self.after(after)));
        let mut ear = Ear::None;
        if turn(a, here, b) > 0 {
            let is_inside =
                is_inside_corner(first, a, here, b) && is_inside_corner(here, b, last, a);
            let is_at = is_at_corner(first, a, here, b) && is_at_corner(here, b, last, a);
            if is_inside && !self.is_crossed(before, after, segments_touch) {
                ear = Ear::Clean;
            } else if is_at && !self.is_crossed(before, after, segments_cross) {
                ear = Ear::Loose;
            }
        }
        self.ears[usize::from(at)] = ear;
        match ear {
            Ear::Clean => self.clean.push(Reverse((self.diagonal(at), at))),
            Ear::Loose => self.loose.push(Reverse((self.diagonal(at), at))),
            Ear::None => {}
        }
    }

    fn is_crossed(
        &mut self,
        before: u16,
        after: u16,
        crosses: fn(Corner, Corner, Corner, Corner) -> bool,
    ) -> bool {
        self.work += self.count;
        let (a, b) = (self.corner(before), self.corner(after));
        let same = |p: Corner, q: Corner| p[..2] == q[..2];
        let (low, high) = ([a[0].min(b[0]), a[1].min(b[1])], [a[0].max(b[0]), a[1].max(b[1])]);
        let mut from = self.first;
        let mut c = self.corner(from);
        for _ in 0..self.count {
            let to = self.after(from);
            let d = self.corner(to);
            let is_apart = c[0].max(d[0]) < low[0]
                || c[0].min(d[0]) > high[0]
                || c[1].max(d[1]) < low[1]
                || c[1].min(d[1]) > high[1];
            if !is_apart {
                let own = from == before || to == before || from == after || to == after;
                let shares = own || same(a, c) || same(a, d) || same(b, c) || same(b, d);
                if !shares && crosses(a, b, c, d) {
                    return true;
                }
            }
            (from, c) = (to, d);
        }
        false
    }

    /// Returns the corner to cut: the ear with the shortest diagonal, or a loose ear if the loop
    /// touches itself and has no other.
    fn next(&mut self) -> Option<u16> {
        for ear in [Ear::Clean, Ear::Loose] {
            loop {
                let heap = if ear == Ear::Clean { &mut self.clean } else { &mut self.loose };
                let Some(Reverse((length, at))) = heap.pop() else { break };
                let is_left = !self.is_cut[usize::from(at)] && self.ears[usize::from(at)] == ear;
                if is_left && self.diagonal(at) == length {
                    return Some(at);
                }
            }
        }
        None
    }

    /// Removes a corner. Returns its triangle.
    fn cut(&mut self, at: u16) -> [u16; 3] {
        let (before, after) = (self.before(at), self.after(at));
        self.is_cut[usize::from(at)] = true;
        self.after[usize::from(before)] = after;
        self.before[usize::from(after)] = before;
        self.count -= 1;
        self.first = after;
        if self.count > 3 {
            self.classify(before);
            self.classify(after);
        }
        [before, at, after]
    }

    /// Finds the forms of all corners that are left again.
    fn classify_all(&mut self) {
        let mut at = self.first;
        for _ in 0..self.count {
            self.classify(at);
            at = self.after(at);
        }
    }
}

/// Cuts a counter-clockwise loop into triangles of indices of its corners.
///
/// # Errors
/// Returns an error message if that takes too long: for shapes that are made for it.
pub(super) fn triangulate(corners: &[Corner]) -> Result<Vec<[u16; 3]>, String> {
    let mut triangles = Vec::with_capacity(corners.len().saturating_sub(2));
    let mut cutter = EarCutter::new(corners);
    while cutter.count > 3 {
        let mut next = cutter.next();
        if next.is_none() {
            // Edges that were cut off may have crossed the diagonals of other corners.
            cutter.classify_all();
            next = cutter.next();
        }
        if cutter.work > CUT_WORK_MAX {
            return Err(format!(
                "an outline with {} corners takes more than {CUT_WORK_MAX} steps (CUT_WORK_MAX): \
                 reduce 'tile_cells', or increase 'cell_size'",
                corners.len()
            ));
        }
        let Some(at) = next else { break };
        triangles.push(cutter.cut(at));
    }
    if cutter.count == 3 {
        let b = cutter.first;
        let (a, c) = (cutter.before(b), cutter.after(b));
        if turn(cutter.corner(a), cutter.corner(b), cutter.corner(c)) > 0 {
            triangles.push([a, b, c]);
        }
    }
    Ok(triangles)
}

/// Returns twice the area of triangles of corners.
pub(super) fn triangles_area(corners: &[Corner], triangles: &[[u16; 3]]) -> i64 {
    let at = |i: u16| corners[usize::from(i)];
    triangles.iter().map(|[a, b, c]| turn(at(*a), at(*b), at(*c))).sum()
}

/// Convex polygon of vertex indices, counter-clockwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConvexPolygon {
    pub corners: [u16; CORNERS_OF_POLYGON_MAX],
    pub count: usize,
}

/// Merges triangles over their longest common edges, as long as the result is convex.
pub(super) fn merge_convex(
    triangles: impl Iterator<Item = [u16; 3]>,
    vertices: &[Corner],
) -> Vec<ConvexPolygon> {
    let mut polygons: Vec<ConvexPolygon> = triangles
        .map(|[a, b, c]| ConvexPolygon { corners: [a, b, c, 0, 0, 0], count: 3 })
        .collect();
    // Common edges with the two polygons beside them, the longest first.
    let mut edges: Vec<(u16, u16, u16)> = Vec::with_capacity(polygons.len() * 3);
    for (i, polygon) in polygons.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (polygon.corners[k], polygon.corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), i as u16));
        }
    }
    edges.sort_unstable();
    let mut shared: Vec<(i64, u16, u16)> = Vec::new();
    for pair in edges.windows(2) {
        let ((a, b, left), (c, d, right)) = (pair[0], pair[1]);
        if (a, b) == (c, d) {
            let (p, q) = (vertices[usize::from(a)], vertices[usize::from(b)]);
            let (dx, dy) = (i64::from(p[0] - q[0]), i64::from(p[1] - q[1]));
            shared.push((-(dx * dx + dy * dy), left, right));
        }
    }
    shared.sort_unstable();
    let mut into: Vec<u16> = (0..polygons.len() as u16).collect();
    let root = |into: &[u16], mut at: u16| {
        while into[usize::from(at)] != at {
            at = into[usize::from(at)];
        }
        at
    };
    for (_, left, right) in shared {
        let (left, right) = (root(&into, left), root(&into, right));
        if left == right {
            continue;
        }
        let merged = join(&polygons[usize::from(left)], &polygons[usize::from(right)], vertices);
        if let Some(merged) = merged {
            let (kept, absorbed) = (left.min(right), left.max(right));
            polygons[usize::from(kept)] = merged;
            into[usize::from(absorbed)] = kept;
        }
    }
    let mut index = 0;
    polygons.retain(|_| {
        index += 1;
        into[index - 1] == (index - 1) as u16
    });
    polygons
}

/// Joins two polygons over a common edge, if the result is convex and small enough.
fn join(a: &ConvexPolygon, b: &ConvexPolygon, vertices: &[Corner]) -> Option<ConvexPolygon> {
    if a.count + b.count - 2 > CORNERS_OF_POLYGON_MAX {
        return None;
    }
    let next = |polygon: &ConvexPolygon, i: usize| polygon.corners[(i + 1) % polygon.count];
    let (i, k) = (0..a.count).find_map(|i| {
        let k = (0..b.count).find(|k| b.corners[*k] == next(a, i) && next(b, *k) == a.corners[i]);
        k.map(|k| (i, k))
    })?;
    let mut merged = ConvexPolygon { corners: [0; CORNERS_OF_POLYGON_MAX], count: 0 };
    let mut push = |corner: u16| {
        merged.corners[merged.count] = corner;
        merged.count += 1;
    };
    (1..a.count).for_each(|step| push(a.corners[(i + step) % a.count]));
    (1..b.count).for_each(|step| push(b.corners[(k + step) % b.count]));
    let corner = |at: usize| vertices[usize::from(merged.corners[at % merged.count])];
    let convex = (0..merged.count).all(|at| turn(corner(at), corner(at + 1), corner(at + 2)) >= 0);
    convex.then_some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_cover_a_loop_exactly() {
        let spiral: Vec<Corner> = [
            (0, 0),
            (10, 0),
            (10, 10),
            (2, 10),
            (2, 4),
            (6, 4),
            (6, 6),
            (4, 6),
            (4, 8),
            (8, 8),
            (8, 2),
            (0, 2),
        ]
        .into_iter()
        .map(|(x, y)| [x, y, 0])
        .collect();
        let triangles = triangulate(&spiral).unwrap();
        assert_eq!(triangles.len(), spiral.len() - 2);
        assert_eq!(
            triangles_area(&spiral, &triangles),
            super::super::contours::doubled_area(&spiral)
        );
        assert!(triangles.iter().all(|triangle| triangles_area(&spiral, &[*triangle]) > 0));
    }

    #[test]
    fn merged_polygons_are_convex_and_keep_the_area() {
        let square: Vec<Corner> =
            [(0, 0), (4, 0), (8, 0), (8, 8), (0, 8)].into_iter().map(|(x, y)| [x, y, 0]).collect();
        let merged = merge_convex(triangulate(&square).unwrap().into_iter(), &square);
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].count, 5);
    }

    #[test]
    fn a_loop_that_touches_itself_ends() {
        let pinched: Vec<Corner> = [(0, 0), (2, 2), (4, 0), (4, 4), (2, 2), (0, 4)]
            .into_iter()
            .map(|(x, y)| [x, y, 0])
            .collect();
        let triangles = triangulate(&pinched).unwrap();
        assert_eq!(
            triangles_area(&pinched, &triangles),
            super::super::contours::doubled_area(&pinched)
        );
    }
}
