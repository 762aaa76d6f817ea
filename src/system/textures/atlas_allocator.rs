//! Atlas allocator with shelves: rows of cells of about the same height. Knows no texels. The
//! method follows J. Jylänki, "A Thousand Ways to Pack the Bin", 2010: shelf, best height fit.
//! Released regions are reused.

use engine_frame_packet::texture::{ATLAS_LAYERS_MAX, ATLAS_SIDE};

/// A region of a layer, in texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtlasRegion {
    pub layer: u32,
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// A row of a layer.
struct AtlasShelf {
    y: u32,
    height: u32,
    /// Free intervals as (start, width), sorted, never adjacent.
    free: Vec<(u32, u32)>,
}

impl AtlasShelf {
    fn is_empty(&self) -> bool {
        self.free == [(0, ATLAS_SIDE)]
    }
}

#[derive(Default)]
struct AtlasLayer {
    /// Shelves from the top down, without gaps.
    shelves: Vec<AtlasShelf>,
    /// Position of the next shelf.
    end: u32,
}

/// Allocator of regions in the atlas layers.
#[derive(Default)]
pub struct AtlasAllocator {
    layers: Vec<AtlasLayer>,
}

impl AtlasAllocator {
    /// Allocates a region, or returns `None` if every layer is full.
    pub fn add(&mut self, width: u32, height: u32) -> Option<AtlasRegion> {
        if width > ATLAS_SIDE || height > ATLAS_SIDE {
            return None;
        }
        for (index, layer) in self.layers.iter_mut().enumerate() {
            if let Some((x, y)) = layer.add(width, height) {
                return Some(AtlasRegion { layer: index as u32, x, y, width, height });
            }
        }
        if self.layers.len() as u32 >= ATLAS_LAYERS_MAX {
            return None;
        }
        let mut layer = AtlasLayer::default();
        let (x, y) = layer.add(width, height).expect("an empty layer has room");
        self.layers.push(layer);
        Some(AtlasRegion { layer: self.layers.len() as u32 - 1, x, y, width, height })
    }

    /// Releases a region.
    pub fn remove(&mut self, region: AtlasRegion) {
        self.layers[region.layer as usize].remove(region);
    }

    /// Returns the number of layers.
    pub fn layers(&self) -> u32 {
        self.layers.len() as u32
    }
}

impl AtlasLayer {
    fn add(&mut self, width: u32, height: u32) -> Option<(u32, u32)> {
        let fits = |shelf: &&mut AtlasShelf| {
            // A much higher shelf would waste most of its area, unless it is empty.
            let near = shelf.height <= height + height / 2 || shelf.is_empty();
            shelf.height >= height && near && shelf.free.iter().any(|(_, free)| *free >= width)
        };
        let best = self.shelves.iter_mut().filter(fits).min_by_key(|shelf| shelf.height);
        if let Some(shelf) = best {
            return Some((shelf.take(width), shelf.y));
        }
        if self.end + height > ATLAS_SIDE {
            return None;
        }
        let mut shelf = AtlasShelf { y: self.end, height, free: vec![(0, ATLAS_SIDE)] };
        let region = (shelf.take(width), shelf.y);
        self.shelves.push(shelf);
        self.end += height;
        Some(region)
    }

    fn remove(&mut self, region: AtlasRegion) {
        let index = self.shelves.partition_point(|shelf| shelf.y < region.y);
        self.shelves[index].release(region.x, region.width);
        while self.shelves.last().is_some_and(AtlasShelf::is_empty) {
            let shelf = self.shelves.pop().expect("there is a last one");
            self.end = shelf.y;
        }
    }
}

impl AtlasShelf {
    /// Takes the first free interval that is wide enough. The caller has checked that there is one.
    fn take(&mut self, width: u32) -> u32 {
        let index = self.free.iter().position(|(_, free)| *free >= width).expect("one is wide");
        let (start, free) = self.free[index];
        match free == width {
            true => drop(self.free.remove(index)),
            false => self.free[index] = (start + width, free - width),
        }
        start
    }

    fn release(&mut self, start: u32, width: u32) {
        let mut index = self.free.partition_point(|(known, _)| *known < start);
        self.free.insert(index, (start, width));
        if index > 0 && self.free[index - 1].0 + self.free[index - 1].1 == start {
            self.free[index - 1].1 += width;
            self.free.remove(index);
            index -= 1;
        }
        if let Some((next, more)) = self.free.get(index + 1).copied()
            && self.free[index].0 + self.free[index].1 == next
        {
            self.free[index].1 += more;
            self.free.remove(index + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;

    fn overlap(a: &AtlasRegion, b: &AtlasRegion) -> bool {
        a.layer == b.layer
            && a.x < b.x + b.width
            && b.x < a.x + a.width
            && a.y < b.y + b.height
            && b.y < a.y + a.height
    }

    #[test]
    fn regions_never_overlap_in_any_order_of_allocation() {
        let (mut atlas, mut random) = (AtlasAllocator::default(), Random::seed(7));
        let mut regions: Vec<AtlasRegion> = Vec::new();
        for step in 0..3000 {
            let mut pick = |count: i64| random.range_i64(0, count - 1) as u32;
            if step % 3 == 2 && !regions.is_empty() {
                let index = pick(regions.len() as i64) as usize;
                atlas.remove(regions.swap_remove(index));
                continue;
            }
            let region = atlas.add(16 + 8 * pick(31), 16 + 8 * pick(31)).unwrap();
            assert!(
                region.x + region.width <= ATLAS_SIDE && region.y + region.height <= ATLAS_SIDE
            );
            assert!((region.x % 8, region.y % 8) == (0, 0));
            assert!(!regions.iter().any(|other| overlap(other, &region)), "{region:?}");
            regions.push(region);
        }
        for region in regions.drain(..) {
            atlas.remove(region);
        }
        assert!(atlas.layers.iter().all(|layer| layer.end == 0), "all is free again");
    }

    #[test]
    fn small_images_fill_a_layer_densely() {
        let mut atlas = AtlasAllocator::default();
        let count = (0..).take_while(|_| {
            atlas.add(40, 40);
            atlas.layers() == 1
        });
        assert_eq!(count.count(), 25 * 25);
    }

    #[test]
    fn a_full_atlas_refuses_allocation() {
        let mut atlas = AtlasAllocator::default();
        for _ in 0..ATLAS_LAYERS_MAX {
            assert!(atlas.add(ATLAS_SIDE, ATLAS_SIDE).is_some());
        }
        assert_eq!(atlas.add(8, 8), None);
        atlas.remove(AtlasRegion { layer: 3, x: 0, y: 0, width: ATLAS_SIDE, height: ATLAS_SIDE });
        assert_eq!(atlas.add(8, 8).unwrap().layer, 3);
        assert_eq!(atlas.add(ATLAS_SIDE + 1, 8), None);
    }
}
