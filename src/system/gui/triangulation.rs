//! Triangulation of polygons, and offsets of their edges. Knows no quads and no colors.

/// Returns twice the signed area of a triangle: positive if it is counterclockwise.
pub fn doubled_area(a: [f32; 2], b: [f32; 2], c: [f32; 2]) -> f32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Maximum distance that a sharp corner moves, as a multiple of the distance that its edges move.
const MITER_MAX: f32 = 4.0;

/// Returns a polygon's corners offset inward and outward, so that its edges move by `by`.
pub fn shifted(points: &[[f32; 2]], by: f32) -> (Vec<[f32; 2]>, Vec<[f32; 2]>) {
    let count = points.len();
    let by = if area_of(points) < 0.0 { -by } else { by };
    let inward = |i: usize| {
        let (from, to) = (points[i % count], points[(i + 1) % count]);
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let length = x.hypot(y);
        [-y / length, x / length]
    };
    let shift = |i: usize| {
        let (before, after) = (inward(i + count - 1), inward(i));
        let sum = [before[0] + after[0], before[1] + after[1]];
        // Both edges move by 1 along their normals if the corner moves by sum / (1 + cosine).
        let cosine = before[0] * after[0] + before[1] * after[1];
        let miter = by / (1.0 + cosine).max(2.0 / (MITER_MAX * MITER_MAX));
        [sum[0] * miter, sum[1] * miter]
    };
    let moved = |sign: f32| {
        let corner = |i: usize| {
            let [x, y] = shift(i);
            [points[i][0] + sign * x, points[i][1] + sign * y]
        };
        (0..count).map(corner).collect::<Vec<_>>()
    };
    (moved(1.0), moved(-1.0))
}

/// Returns twice the signed area of a polygon: positive if its points are counterclockwise.
fn area_of(points: &[[f32; 2]]) -> f32 {
    let next = |i: usize| points[(i + 1) % points.len()];
    points.iter().enumerate().map(|(i, a)| a[0] * next(i)[1] - a[1] * next(i)[0]).sum()
}

/// Maximum number of point tests in the triangulation of one polygon. Each corner is compared with
/// the others, and a winding polygon has few ears at a time. A convex polygon of POINTS_MAX corners
/// takes an eighth of this number.
pub const POINT_TESTS_MAX: usize = 1 << 26;

/// Triangulates a polygon with about `tests_max` point tests at most. Returns the corners of each
/// triangle, as indices of points.
///
/// # Errors
/// Returns an error if all points lie on one line, if the edges cross so that no ear remains, or if
/// the polygon winds too much. Not every crossing is detected; the covered area is then undefined.
/// Source: G. H. Meisters, "Polygons have ears" (1975).
pub fn triangles(points: &[[f32; 2]], tests_max: usize) -> Result<Vec<[usize; 3]>, String> {
    let area = area_of(points);
    if area == 0.0 || points.len() < 3 {
        return Err(
            "this polygon has no area: its points lie on one line, or its edges cross".to_string()
        );
    }
    let mut left: Vec<usize> = (0..points.len()).collect();
    if area < 0.0 {
        left.reverse();
    }
    let mut found = Vec::with_capacity(points.len() - 2);
    let (mut at, mut tried, mut tests) = (0, 0, 0);
    while left.len() > 3 {
        let count = left.len();
        if tried == count {
            return Err("the edges of this polygon cross: draw it in parts".to_string());
        }
        if tests > tests_max {
            return Err(format!(
                "this polygon is so convoluted that its triangles need more than {tests_max} tests \
                 of points (POINT_TESTS_MAX): draw it in parts"
            ));
        }
        let corners = [left[(at + count - 1) % count], left[at % count], left[(at + 1) % count]];
        let [a, b, c] = corners.map(|i| points[i]);
        let bend = doubled_area(a, b, c);
        let inside = |i: &usize| {
            let p = points[*i];
            let corner = p == a || p == b || p == c;
            !corner
                && doubled_area(a, b, p) >= 0.0
                && doubled_area(b, c, p) >= 0.0
                && doubled_area(c, a, p) >= 0.0
        };
        let mut is_ear = || match left.iter().position(inside) {
            Some(first) => {
                tests += first;
                false
            }
            None => {
                tests += count;
                true
            }
        };
        if bend == 0.0 || bend > 0.0 && is_ear() {
            if bend > 0.0 {
                found.push(corners);
            }
            left.remove(at % count);
            at = (at + count - 1) % count;
            tried = 0;
        } else {
            at = (at + 1) % count;
            tried += 1;
        }
    }
    found.push([left[0], left[1], left[2]]);
    Ok(found)
}

/// Returns true if the edges of a polygon whose corners were moved still point the same way.
pub fn keeps_edges(points: &[[f32; 2]], moved: &[[f32; 2]]) -> bool {
    let count = points.len();
    let keeps = |i: usize| {
        let (a, b) = (points[i], points[(i + 1) % count]);
        let (c, d) = (moved[i], moved[(i + 1) % count]);
        (b[0] - a[0]) * (d[0] - c[0]) + (b[1] - a[1]) * (d[1] - c[1]) > 0.0
    };
    (0..count).all(keeps)
}
