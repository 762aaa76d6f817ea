//! The division of a square texture into square tiles, whose sides are powers of two. Four free
//! tiles that lie together become one larger tile. Knows no shadows.

use std::collections::BTreeSet;

/// A tile: its level (0 is the whole texture, and each level halves the side), and its position in
/// the order of the Z-curve among the tiles of that level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tile {
    level: u32,
    code: u32,
}

/// The free tiles of a texture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TileAllocator {
    side: u32,
    /// Free tiles by level.
    free: Vec<BTreeSet<u32>>,
}

/// Returns every second bit of a number, from the lowest.
fn even_bits(code: u32) -> u32 {
    (0..16).map(|bit| (code >> (2 * bit) & 1) << bit).sum()
}

impl TileAllocator {
    /// Creates an allocator for a texture. `side` and `least`, the side of the smallest tiles, are
    /// powers of two.
    pub fn new(side: u32, least: u32) -> TileAllocator {
        assert!(side.is_power_of_two() && least.is_power_of_two() && least <= side);
        let levels = (side / least).trailing_zeros() as usize + 1;
        let mut free = vec![BTreeSet::new(); levels];
        free[0].insert(0);
        TileAllocator { side, free }
    }

    /// Returns the side of the texture; 0: there is none.
    pub fn side(&self) -> u32 {
        self.side
    }

    /// Takes a tile with a side, a power of two; `None`: no tile of this side is free.
    pub fn allocate(&mut self, side: u32) -> Option<Tile> {
        if side == 0 || side > self.side {
            return None;
        }
        let level = (self.side / side).trailing_zeros() as usize;
        let larger = (0..=level)
            .rev()
            .find(|level| self.free.get(*level).is_some_and(|it| !it.is_empty()))?;
        let mut code = self.free[larger].pop_first()?;
        for free in self.free.get_mut(larger + 1..=level)? {
            code *= 4;
            free.extend(code + 1..code + 4);
        }
        Some(Tile { level: level as u32, code })
    }

    /// Frees a tile that was taken.
    pub fn release(&mut self, tile: Tile) {
        let Tile { mut level, mut code } = tile;
        loop {
            let free = &mut self.free[level as usize];
            assert!(free.insert(code), "a tile is freed once");
            let four = code & !3;
            if level == 0 || !(four..four + 4).all(|code| free.contains(&code)) {
                return;
            }
            (four..four + 4).for_each(|code| {
                free.remove(&code);
            });
            (level, code) = (level - 1, code / 4);
        }
    }

    /// Returns the left, the top and the side of a tile.
    pub fn rectangle(&self, tile: Tile) -> [u32; 3] {
        let side = self.side >> tile.level;
        [even_bits(tile.code) * side, even_bits(tile.code >> 1) * side, side]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    #[test]
    fn tiles_do_not_overlap_and_merge_when_they_are_free() {
        let mut random = Random::seed(5);
        let mut tiles = TileAllocator::new(1024, 64);
        let fresh = tiles.clone();
        let mut taken: Vec<Tile> = Vec::new();
        for _ in 0..2000 {
            let side = 64 << (random.next_u32() % 4);
            if random.next_u32().is_multiple_of(3) && !taken.is_empty() {
                let index = random.next_u32() as usize % taken.len();
                tiles.release(taken.swap_remove(index));
            } else if let Some(tile) = tiles.allocate(side) {
                assert_eq!(tiles.rectangle(tile)[2], side);
                taken.push(tile);
            }
            let mut used = vec![false; 16 * 16];
            for tile in &taken {
                let [left, top, side] = tiles.rectangle(*tile).map(|number| number as usize / 64);
                for cell in (0..side * side).map(|i| (top + i / side) * 16 + left + i % side) {
                    assert!(!std::mem::replace(&mut used[cell], true));
                }
            }
        }
        assert!(taken.len() > 10);
        taken.into_iter().for_each(|tile| tiles.release(tile));
        assert_eq!(tiles, fresh);
    }

    #[test]
    fn a_full_texture_has_no_tile() {
        let mut tiles = TileAllocator::new(256, 64);
        assert_eq!(tiles.allocate(512), None);
        let all: Vec<Tile> = (0..16).map(|_| tiles.allocate(64).expect("a free tile")).collect();
        assert_eq!((tiles.allocate(64), tiles.allocate(256)), (None, None));
        tiles.release(all[7]);
        assert_eq!(tiles.allocate(128), None);
        assert_eq!(tiles.allocate(64), Some(all[7]));
        assert_eq!(TileAllocator::default().allocate(64), None);
    }
}
