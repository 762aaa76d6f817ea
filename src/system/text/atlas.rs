//! Places in the shared atlas of glyphs: layers are cut into rows of equal places, so that a place
//! can be used again by any glyph of about the same size. Knows no glyphs but by number.

use crate::packet::texture::{ATLAS_LAYERS_MAX, ATLAS_SIDE};
use std::collections::BTreeMap;

/// Sides of places are multiples of this.
const STEP: u32 = 8;
/// The largest side of a place.
pub const PLACE_SIDE_MAX: u32 = 256;
/// The most layers of the atlas that glyphs take: 4 MiB on the graphics card each.
pub const GLYPH_LAYERS_MAX: u32 = 32;
const _: () = assert!(GLYPH_LAYERS_MAX <= ATLAS_LAYERS_MAX);

/// A place: its left top corner on a layer, in texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub layer: u32,
    pub x: u32,
    pub y: u32,
    /// Width and height that it offers.
    pub size: (u32, u32),
}

/// All places of one size.
#[derive(Default)]
struct Sized {
    free: Vec<Place>,
    taken: Vec<(Place, u32)>,
}

/// The atlas as places.
#[derive(Default)]
pub struct Atlas {
    sizes: BTreeMap<(u32, u32), Sized>,
    /// Layers that are begun, and how far down the last one is filled.
    layers: u32,
    filled: u32,
    layers_max: Option<u32>,
}

impl Atlas {
    /// An atlas with so few layers, for tests.
    #[cfg(test)]
    pub fn of_layers(layers: u32) -> Atlas {
        Atlas { layers_max: Some(layers), ..Atlas::default() }
    }

    /// A place for a glyph. Where none is left, that of the glyph that was used longest ago is taken
    /// away: its number comes back with the place. `age` gives a glyph's last use, or `None` where
    /// it must stay. `None`: everything must stay.
    pub fn take(
        &mut self,
        width: u32,
        height: u32,
        glyph: u32,
        age: impl Fn(u32) -> Option<u32>,
    ) -> Option<(Place, Option<u32>)> {
        let size = (width.next_multiple_of(STEP), height.next_multiple_of(STEP));
        assert!(size.0 <= PLACE_SIDE_MAX && size.1 <= PLACE_SIDE_MAX, "glyphs are scaled to fit");
        if self.sizes.get(&size).is_none_or(|sized| sized.free.is_empty()) {
            self.begin_row(size);
        }
        let sized = self.sizes.entry(size).or_default();
        if let Some(place) = sized.free.pop() {
            sized.taken.push((place, glyph));
            return Some((place, None));
        }
        self.take_away(size, glyph, age)
    }

    /// The longest unused place that is large enough, of the smallest such size.
    fn take_away(
        &mut self,
        (width, height): (u32, u32),
        glyph: u32,
        age: impl Fn(u32) -> Option<u32>,
    ) -> Option<(Place, Option<u32>)> {
        let mut fitting: Vec<_> =
            self.sizes.iter_mut().filter(|((w, h), _)| *w >= width && *h >= height).collect();
        fitting.sort_by_key(|((w, h), _)| w * h);
        for (_, sized) in fitting {
            if let Some(place) = sized.free.pop() {
                sized.taken.push((place, glyph));
                return Some((place, None));
            }
            let ages = sized.taken.iter_mut().filter_map(|taken| Some((age(taken.1)?, taken)));
            if let Some((_, taken)) = ages.min_by_key(|(age, _)| *age) {
                let before = std::mem::replace(&mut taken.1, glyph);
                return Some((taken.0, Some(before)));
            }
        }
        None
    }

    /// Cuts a new row of places, where there is room for one.
    fn begin_row(&mut self, size: (u32, u32)) {
        let (width, height) = size;
        if self.layers == 0 || self.filled + height > ATLAS_SIDE {
            if self.layers == self.layers_max.unwrap_or(GLYPH_LAYERS_MAX) {
                return;
            }
            self.layers += 1;
            self.filled = 0;
        }
        let (layer, y) = (self.layers - 1, self.filled);
        self.filled += height;
        let row = (0..ATLAS_SIDE / width).rev();
        let places = row.map(|i| Place { layer, x: i * width, y, size });
        self.sizes.entry(size).or_default().free.extend(places);
    }

    /// Gives a place back.
    pub fn give_back(&mut self, place: Place) {
        let sized = self.sizes.get_mut(&place.size).expect("the place is of this atlas");
        sized.taken.retain(|(taken, _)| *taken != place);
        sized.free.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_fill_one_layer_after_the_other() {
        let mut atlas = Atlas::of_layers(2);
        let mut seen: Vec<Place> = Vec::new();
        let sizes = [(20, 31), (40, 30), (256, 256), (8, 8)];
        for i in 0..600 {
            let (w, h) = sizes[i % 4];
            let Some((place, None)) = atlas.take(w, h, i as u32, |_| None) else { break };
            assert!(place.x + place.size.0 <= ATLAS_SIDE && place.y + place.size.1 <= ATLAS_SIDE);
            assert!(place.size.0 >= w && place.size.1 >= h && place.layer < 2);
            let apart = |other: &Place| {
                other.layer != place.layer
                    || other.x + other.size.0 <= place.x
                    || place.x + place.size.0 <= other.x
                    || other.y + other.size.1 <= place.y
                    || place.y + place.size.1 <= other.y
            };
            assert!(seen.iter().all(apart), "{place:?}");
            seen.push(place);
        }
        assert!(seen.len() > 40 && seen.iter().any(|place| place.layer == 1));
    }

    #[test]
    fn a_full_atlas_takes_the_place_that_was_used_longest_ago() {
        let mut atlas = Atlas::of_layers(1);
        let places: Vec<Place> =
            (0..16).map(|i| atlas.take(256, 256, i, |_| None).unwrap().0).collect();
        assert_eq!(atlas.take(256, 256, 99, |_| None), None, "everything must stay");
        let age = |glyph: u32| (glyph != 0).then_some(100 - glyph);
        assert_eq!(atlas.take(256, 256, 99, age), Some((places[15], Some(15))));
        assert_eq!(atlas.take(10, 10, 98, age), Some((places[15], Some(99))), "a larger one does");
        atlas.give_back(places[3]);
        assert_eq!(atlas.take(250, 250, 97, age), Some((places[3], None)));
    }
}
