//! Order in which the quads of a layer are submitted: as few groups of one texture as possible,
//! without changing which of two overlapping quads is on top.

use super::quads::TileQuad;
use std::collections::HashMap;

/// Side of a square of the grid in which overlapping quads are found, in texels.
const SQUARE: f32 = 32.0;
/// Maximum number of squares of one quad. A quad with more counts as overlapping with all others.
const SQUARES_MAX: i64 = 64;

/// Squares of the grid that a quad touches: columns and rows. `None` if they are too many.
type Squares = Option<[std::ops::RangeInclusive<i32>; 2]>;

fn squares(quad: &TileQuad) -> Squares {
    let [left, bottom, right, top] = quad.bounds();
    // Quads that only touch do not overlap.
    let first = |at: f32| ((at + 0.01) / SQUARE).floor() as i32;
    let last = |at: f32| ((at - 0.01) / SQUARE).floor() as i32;
    let (columns, rows) = (first(left)..=last(right), first(bottom)..=last(top));
    let count = |range: &std::ops::RangeInclusive<i32>| {
        (i64::from(*range.end()) - i64::from(*range.start()) + 1).max(0)
    };
    let few = count(&columns).saturating_mul(count(&rows)) <= SQUARES_MAX;
    few.then_some([columns, rows])
}

/// Sorts quads into runs of one texture. `textures` has a number for each tile set; sets with equal
/// numbers are drawn together. A texture can have several runs if its quads are above and below
/// quads of others.
pub fn sort_by_texture(quads: &mut Vec<TileQuad>, textures: &[u32], overlaps: bool) {
    if !overlaps {
        // Stable: the order of tiles of the same set stays.
        quads.sort_by_key(|quad| (textures[quad.set], quad.set));
        return;
    }
    let mut runs = Runs::default();
    let numbers: Vec<u32> =
        quads.iter().map(|quad| runs.run_of(quad, textures[quad.set])).collect();
    let mut order: Vec<usize> = (0..quads.len()).collect();
    order.sort_by_key(|at| numbers[*at]);
    *quads = order.into_iter().map(|at| quads[at]).collect();
}

/// Runs of quads with the same texture, in drawing order.
#[derive(Default)]
struct Runs {
    /// Number of runs so far.
    count: u32,
    /// Runs of each texture, in ascending order.
    of_texture: HashMap<u32, Vec<u32>>,
    /// The last run, and its texture, with a quad in each square of the grid.
    in_square: HashMap<(i32, i32), (u32, u32)>,
    /// The last run, and its texture, with a quad that counts as overlapping with all.
    everywhere: Option<(u32, u32)>,
    /// The last run, and its texture, with any quad.
    highest: Option<(u32, u32)>,
}

impl Runs {
    /// Adds a quad to the first run of its texture in which nothing below it is drawn later.
    fn run_of(&mut self, quad: &TileQuad, texture: u32) -> u32 {
        let touched = squares(quad);
        let below = match &touched {
            None => self.highest,
            Some([columns, rows]) => {
                let cells = rows.clone().flat_map(|y| columns.clone().map(move |x| (x, y)));
                cells
                    .filter_map(|cell| self.in_square.get(&cell).copied())
                    .chain(self.everywhere)
                    .max()
            }
        };
        let first = match below {
            None => 0,
            Some((run, known)) if known == texture => run,
            Some((run, _)) => run + 1,
        };
        let of_texture = self.of_texture.entry(texture).or_default();
        let at = of_texture.partition_point(|run| *run < first);
        let run = match of_texture.get(at) {
            Some(run) => *run,
            None => {
                of_texture.push(self.count);
                self.count += 1;
                self.count - 1
            }
        };
        match touched {
            None => self.everywhere = Some((run, texture)),
            Some([columns, rows]) => {
                for cell in rows.flat_map(|y| columns.clone().map(move |x| (x, y))) {
                    self.in_square.insert(cell, (run, texture));
                }
            }
        }
        self.highest = self.highest.max(Some((run, texture)));
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a quad of a set with this position and size.
    fn quad(set: usize, [x, y, width, height]: [f32; 4]) -> TileQuad {
        let corners = [x, y, x + width, y, x + width, y + height, x, y + height];
        TileQuad { set, part: [[0.0; 2], [1.0; 2]], corners, alpha: 1.0 }
    }

    /// Sorts quads, whose `alpha` is their index, and returns the indices.
    fn sorted(quads: &[TileQuad], textures: &[u32]) -> Vec<usize> {
        let numbered = quads.iter().enumerate();
        let mut quads: Vec<_> =
            numbered.map(|(i, quad)| TileQuad { alpha: i as f32, ..*quad }).collect();
        sort_by_texture(&mut quads, textures, true);
        quads.iter().map(|quad| quad.alpha as usize).collect()
    }

    #[test]
    fn quads_that_do_not_overlap_are_grouped() {
        let quads: Vec<_> =
            (0..6).map(|i| quad(i % 2, [i as f32 * 64.0, 0.0, 64.0, 64.0])).collect();
        assert_eq!(sorted(&quads, &[0, 1]), [0, 2, 4, 1, 3, 5]);
        // Sets with the same texture stay in their order.
        assert_eq!(sorted(&quads, &[4, 4]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn overlapping_quads_keep_their_order() {
        let stacked = |set| quad(set, [0.0, 0.0, 64.0, 64.0]);
        assert_eq!(sorted(&[stacked(0), stacked(1), stacked(0)], &[0, 1]), [0, 1, 2]);
        // A quad elsewhere joins the first run of its texture.
        let aside = quad(0, [640.0, 0.0, 64.0, 64.0]);
        let all = [stacked(0), stacked(1), stacked(0), aside];
        assert_eq!(sorted(&all, &[0, 1]), [0, 3, 1, 2]);
        // A large quad overlaps with all quads.
        let large = quad(1, [0.0, 0.0, 4096.0, 4096.0]);
        assert_eq!(sorted(&[aside, large, aside], &[0, 1]), [0, 1, 2]);
        assert_eq!(sorted(&[large, aside, large], &[0, 1]), [0, 1, 2]);
    }

    #[test]
    fn each_pair_of_overlapping_quads_keeps_its_order() {
        let mut random = 7u32;
        let mut next = |most: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % most
        };
        let quads: Vec<_> = (0..300)
            .map(|_| {
                let [x, y, width, height] = [600, 600, 90, 90].map(|most| next(most) as f32);
                quad(next(3) as usize, [x, y, width + 1.0, height + 1.0])
            })
            .collect();
        let order = sorted(&quads, &[0, 1, 2]);
        let mut position = vec![0; quads.len()];
        order.iter().enumerate().for_each(|(at, index)| position[*index] = at);
        for (i, a) in quads.iter().enumerate() {
            for (j, b) in quads.iter().enumerate().skip(i + 1) {
                let (a, b) = (a.bounds(), b.bounds());
                let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
                assert!(apart || position[i] < position[j], "{i} {j}");
            }
        }
    }
}
