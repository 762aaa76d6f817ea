//! Places in the atlas's layers, in shelves: rows of cells of about one height. Knows no texels.
//! (J. Jylänki, "A Thousand Ways to Pack the Bin", 2010: shelf, best height fit.) A place that is
//! given back can be used again.

use crate::packet::texture::{ATLAS_LAYERS_MAX, ATLAS_SIDE};

/// A part of a layer, in texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub layer: u32,
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// A row of a layer.
struct Shelf {
    y: u32,
    height: u32,
    /// Free parts as (start, width), in order, none beside another.
    free: Vec<(u32, u32)>,
}

impl Shelf {
    fn is_empty(&self) -> bool {
        self.free == [(0, ATLAS_SIDE)]
    }
}

#[derive(Default)]
struct Layer {
    /// From the top down, without gaps.
    shelves: Vec<Shelf>,
    /// Where the next shelf begins.
    end: u32,
}

/// Who has which part of which layer.
#[derive(Default)]
pub struct Atlas {
    layers: Vec<Layer>,
}

impl Atlas {
    /// A place of that size; none when every layer is full.
    pub fn add(&mut self, width: u32, height: u32) -> Option<Place> {
        if width > ATLAS_SIDE || height > ATLAS_SIDE {
            return None;
        }
        for (index, layer) in self.layers.iter_mut().enumerate() {
            if let Some((x, y)) = layer.add(width, height) {
                return Some(Place { layer: index as u32, x, y, width, height });
            }
        }
        if self.layers.len() as u32 >= ATLAS_LAYERS_MAX {
            return None;
        }
        let mut layer = Layer::default();
        let (x, y) = layer.add(width, height).expect("an empty layer has room");
        self.layers.push(layer);
        Some(Place { layer: self.layers.len() as u32 - 1, x, y, width, height })
    }

    /// Gives a place back.
    pub fn remove(&mut self, place: Place) {
        self.layers[place.layer as usize].remove(place);
    }

    /// How many layers are there.
    pub fn layers(&self) -> u32 {
        self.layers.len() as u32
    }
}

impl Layer {
    fn add(&mut self, width: u32, height: u32) -> Option<(u32, u32)> {
        let fits = |shelf: &&mut Shelf| {
            // A much higher shelf would waste most of its room, unless nothing is on it.
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
        let mut shelf = Shelf { y: self.end, height, free: vec![(0, ATLAS_SIDE)] };
        let place = (shelf.take(width), shelf.y);
        self.shelves.push(shelf);
        self.end += height;
        Some(place)
    }

    fn remove(&mut self, place: Place) {
        let index = self.shelves.partition_point(|shelf| shelf.y < place.y);
        self.shelves[index].give(place.x, place.width);
        while self.shelves.last().is_some_and(Shelf::is_empty) {
            let shelf = self.shelves.pop().expect("there is a last one");
            self.end = shelf.y;
        }
    }
}

impl Shelf {
    /// Takes from the first free part that is wide enough; there is one.
    fn take(&mut self, width: u32) -> u32 {
        let index = self.free.iter().position(|(_, free)| *free >= width).expect("one is wide");
        let (start, free) = self.free[index];
        match free == width {
            true => drop(self.free.remove(index)),
            false => self.free[index] = (start + width, free - width),
        }
        start
    }

    fn give(&mut self, start: u32, width: u32) {
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
    use crate::foundation::random::Random;

    fn overlap(a: &Place, b: &Place) -> bool {
        a.layer == b.layer
            && a.x < b.x + b.width
            && b.x < a.x + a.width
            && a.y < b.y + b.height
            && b.y < a.y + a.height
    }

    #[test]
    fn places_never_overlap_whatever_comes_and_goes() {
        let (mut atlas, mut random) = (Atlas::default(), Random::seed(7));
        let mut places: Vec<Place> = Vec::new();
        for step in 0..3000 {
            let mut pick = |count: i64| random.range_i64(0, count - 1) as u32;
            if step % 3 == 2 && !places.is_empty() {
                let index = pick(places.len() as i64) as usize;
                atlas.remove(places.swap_remove(index));
                continue;
            }
            let place = atlas.add(16 + 8 * pick(31), 16 + 8 * pick(31)).unwrap();
            assert!(place.x + place.width <= ATLAS_SIDE && place.y + place.height <= ATLAS_SIDE);
            assert!((place.x % 8, place.y % 8) == (0, 0));
            assert!(!places.iter().any(|other| overlap(other, &place)), "{place:?}");
            places.push(place);
        }
        for place in places.drain(..) {
            atlas.remove(place);
        }
        assert!(atlas.layers.iter().all(|layer| layer.end == 0), "all is free again");
    }

    #[test]
    fn small_pictures_fill_a_layer_well() {
        let mut atlas = Atlas::default();
        let count = (0..).take_while(|_| {
            atlas.add(40, 40);
            atlas.layers() == 1
        });
        assert_eq!(count.count(), 25 * 25);
    }

    #[test]
    fn a_full_atlas_says_so() {
        let mut atlas = Atlas::default();
        for _ in 0..ATLAS_LAYERS_MAX {
            assert!(atlas.add(ATLAS_SIDE, ATLAS_SIDE).is_some());
        }
        assert_eq!(atlas.add(8, 8), None);
        atlas.remove(Place { layer: 3, x: 0, y: 0, width: ATLAS_SIDE, height: ATLAS_SIDE });
        assert_eq!(atlas.add(8, 8).unwrap().layer, 3);
        assert_eq!(atlas.add(ATLAS_SIDE + 1, 8), None);
    }
}
