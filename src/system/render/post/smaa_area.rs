//! The table of areas of SMAA: for each pattern at the ends of an edge, and for the distances of a
//! pixel from both ends, the parts of the pixel and of its neighbor that a straightened edge cuts
//! off. After Jimenez, Echevarria, Sousa and Gutierrez, "SMAA: Enhanced Subpixel Morphological
//! Antialiasing", 2012, whose edges are straightened as in Reshetov, "Morphological Antialiasing",
//! 2009. Computed when SMAA is first used.

/// Number of pixels to each side in which the end of an edge is searched. The same as in smaa.wgsl.
pub const REACH: usize = 32;
/// Number of distances, and of patterns at one end.
const DISTANCES: usize = REACH + 1;
const PATTERNS: usize = 4;
/// Side length of the table in texels.
pub const SIDE: usize = DISTANCES * PATTERNS;

/// How an edge continues at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EdgeEnd {
    /// It ends, or is cut in both directions.
    Open,
    /// It turns to the pixels before the edge.
    Before,
    /// It turns to the pixels behind the edge.
    Behind,
}

impl EdgeEnd {
    /// Bit 0 of a pattern: there is a crossing edge among the pixels before; bit 1: behind.
    fn of(pattern: usize) -> EdgeEnd {
        match pattern {
            1 => EdgeEnd::Before,
            2 => EdgeEnd::Behind,
            _ => EdgeEnd::Open,
        }
    }

    /// Returns where the straightened edge begins: a half towards the pixels before is positive.
    fn height(self) -> f64 {
        match self {
            EdgeEnd::Open => 0.0,
            EdgeEnd::Before => 0.5,
            EdgeEnd::Behind => -0.5,
        }
    }
}

/// Returns the height of the straightened edge at a distance from its begin. `length` is that of
/// the edge. An edge that turns to one side at both ends, or at one end, runs back to the middle.
fn height_at(ends: [EdgeEnd; 2], at: f64, length: f64) -> f64 {
    let [begin, end] = ends.map(EdgeEnd::height);
    if begin * end < 0.0 {
        return begin + (end - begin) * at / length;
    }
    let half = length / 2.0;
    match at < half {
        true => begin * (1.0 - at / half),
        false => end * (at / half - 1.0),
    }
}

/// Returns the areas that are cut off before and behind the edge in a pixel.
fn areas(ends: [EdgeEnd; 2], [left, right]: [usize; 2]) -> [f64; 2] {
    let length = (left + right + 1) as f64;
    let mut areas = [0.0; 2];
    // The edge is straight between its ends, its middle, and where it crosses the height 0, which
    // is the middle, too.
    let cuts = [left as f64, length / 2.0, left as f64 + 1.0];
    for pair in cuts.windows(2) {
        let [from, to] = [pair[0].max(cuts[0]), pair[1].clamp(cuts[0], cuts[2])];
        if to <= from {
            continue;
        }
        // Just inside, because the height has no jump there.
        let inside = |at: f64| at.clamp(from + 1e-9, to - 1e-9);
        let mean =
            [from, to].map(|at| height_at(ends, inside(at), length)).iter().sum::<f64>() / 2.0;
        areas[usize::from(mean < 0.0)] += mean.abs() * (to - from);
    }
    areas
}

/// Returns the texels of the table: two bytes for each. The column is the pattern at the begin and
/// the distance to it, and the row the same for the end.
pub fn table() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SIDE * SIDE * 2);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let ends = [column, row].map(|at| EdgeEnd::of(at / DISTANCES));
            let distances = [column, row].map(|at| at % DISTANCES);
            bytes.extend(areas(ends, distances).map(|area| (area * 255.0).round() as u8));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::EdgeEnd::{Before, Behind, Open};
    use super::*;

    /// Returns the sums of the areas of all pixels of an edge.
    fn sums(ends: [EdgeEnd; 2], length: usize) -> [f64; 2] {
        let all = (0..length).map(|at| areas(ends, [at, length - 1 - at]));
        all.fold([0.0; 2], |sum, area| [sum[0] + area[0], sum[1] + area[1]])
    }

    #[test]
    fn the_shader_searches_as_far_as_the_areas_reach() {
        assert!(include_str!("smaa.wgsl").contains(&format!("const REACH: i32 = {REACH};")));
    }

    #[test]
    fn the_areas_of_an_edge_are_those_of_triangles() {
        for length in 1..40 {
            let triangle = length as f64 / 8.0;
            let near = |found: [f64; 2], wanted: [f64; 2]| {
                let fits = (0..2).all(|side| (found[side] - wanted[side]).abs() < 1e-6);
                assert!(fits, "{length}: {found:?} is not {wanted:?}");
            };
            near(sums([Open, Open], length), [0.0, 0.0]);
            near(sums([Before, Open], length), [triangle, 0.0]);
            near(sums([Open, Behind], length), [0.0, triangle]);
            near(sums([Before, Before], length), [2.0 * triangle, 0.0]);
            near(sums([Before, Behind], length), [triangle, triangle]);
        }
    }

    #[test]
    fn mirrored_edges_have_mirrored_areas() {
        let bytes = |ends, distances| areas(ends, distances).map(|it| (it * 1e6).round() as i64);
        for (left, right) in [(0, 0), (0, 5), (3, 4), (32, 1)] {
            let [before, behind] = bytes([Before, Open], [left, right]);
            assert_eq!(bytes([Open, Before], [right, left]), [before, behind]);
            assert_eq!(bytes([Behind, Open], [left, right]), [behind, before]);
        }
    }

    #[test]
    fn the_table_has_a_texel_for_each_pattern_and_distance() {
        let table = table();
        assert_eq!(table.len(), SIDE * SIDE * 2);
        // An edge of one pixel that turns to the pixels before it at its begin: an eighth.
        let at = (DISTANCES) * 2;
        assert_eq!(table[at..at + 2], [32, 0]);
        assert!(table.iter().all(|byte| *byte <= 128), "no area is more than a half");
    }
}
