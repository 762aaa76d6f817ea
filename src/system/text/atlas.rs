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

/// A row of places, as wide as a layer.
struct Row {
    layer: u32,
    y: u32,
    height: u32,
    /// The size of its places now.
    size: (u32, u32),
}

/// The atlas as places.
#[derive(Default)]
pub struct Atlas {
    sizes: BTreeMap<(u32, u32), Sized>,
    rows: Vec<Row>,
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

    /// A place for a glyph. Where none is left, that of the glyph that was used longest ago is
    /// taken away, or a whole row of them: their numbers go to `gone`. `age` gives a glyph's last
    /// use, or `None` where it must stay. `None`: everything must stay.
    pub fn take(
        &mut self,
        width: u32,
        height: u32,
        glyph: u32,
        age: impl Fn(u32) -> Option<u32>,
        gone: &mut Vec<u32>,
    ) -> Option<Place> {
        let size = (width.next_multiple_of(STEP), height.next_multiple_of(STEP));
        assert!(size.0 <= PLACE_SIDE_MAX && size.1 <= PLACE_SIDE_MAX, "glyphs are scaled to fit");
        if self.sizes.get(&size).is_none_or(|sized| sized.free.is_empty()) {
            self.begin_row(size);
        }
        let free = |sized: &mut Sized| {
            let place = sized.free.pop()?;
            sized.taken.push((place, glyph));
            Some(place)
        };
        if let Some(place) = free(self.sizes.entry(size).or_default()) {
            return Some(place);
        }
        if let Some(place) = self.take_away(size, glyph, &age, gone) {
            return Some(place);
        }
        self.cut_again(size, &age, gone);
        free(self.sizes.entry(size).or_default())
    }

    /// A place that is large enough, free or unused for longest, of the smallest such size.
    fn take_away(
        &mut self,
        (width, height): (u32, u32),
        glyph: u32,
        age: &impl Fn(u32) -> Option<u32>,
        gone: &mut Vec<u32>,
    ) -> Option<Place> {
        let mut fitting: Vec<_> =
            self.sizes.iter_mut().filter(|((w, h), _)| *w >= width && *h >= height).collect();
        fitting.sort_by_key(|((w, h), _)| w * h);
        for (_, sized) in fitting {
            if let Some(place) = sized.free.pop() {
                sized.taken.push((place, glyph));
                return Some(place);
            }
            let ages = sized.taken.iter_mut().filter_map(|taken| Some((age(taken.1)?, taken)));
            if let Some((_, taken)) = ages.min_by_key(|(age, _)| *age) {
                gone.push(std::mem::replace(&mut taken.1, glyph));
                return Some(taken.0);
            }
        }
        None
    }

    /// Cuts a new row of places, where there is room for one.
    fn begin_row(&mut self, size: (u32, u32)) {
        let height = size.1;
        if self.layers == 0 || self.filled + height > ATLAS_SIDE {
            if self.layers == self.layers_max.unwrap_or(GLYPH_LAYERS_MAX) {
                return;
            }
            self.layers += 1;
            self.filled = 0;
        }
        let (layer, y) = (self.layers - 1, self.filled);
        self.filled += height;
        self.rows.push(Row { layer, y, height, size });
        self.cut(layer, y, size);
    }

    fn cut(&mut self, layer: u32, y: u32, size: (u32, u32)) {
        let row = (0..ATLAS_SIDE / size.0).rev();
        let places = row.map(|i| Place { layer, x: i * size.0, y, size });
        self.sizes.entry(size).or_default().free.extend(places);
    }

    /// Empties the row that was used longest ago, of those that are high enough and may go, and
    /// cuts it into places of this size.
    fn cut_again(
        &mut self,
        size: (u32, u32),
        age: &impl Fn(u32) -> Option<u32>,
        gone: &mut Vec<u32>,
    ) {
        let last_use = |row: &Row| {
            let taken = self.sizes[&row.size].taken.iter();
            let mut taken = taken.filter(|(place, _)| (place.layer, place.y) == (row.layer, row.y));
            taken.try_fold(0, |last, (_, glyph)| Some(age(*glyph)?.max(last)))
        };
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.height >= size.1);
        let found = rows.filter_map(|(i, row)| Some((last_use(row)?, i))).min();
        let Some((_, number)) = found else { return };
        let row = &mut self.rows[number];
        let (layer, y, before) = (row.layer, row.y, std::mem::replace(&mut row.size, size));
        let sized = self.sizes.get_mut(&before).expect("the row is of that size");
        let here = |place: &Place| (place.layer, place.y) == (layer, y);
        sized.free.retain(|place| !here(place));
        sized.taken.retain(|(place, glyph)| {
            if here(place) {
                gone.push(*glyph);
            }
            !here(place)
        });
        self.cut(layer, y, size);
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

    fn apart(a: &Place, b: &Place) -> bool {
        a.layer != b.layer
            || a.x + a.size.0 <= b.x
            || b.x + b.size.0 <= a.x
            || a.y + a.size.1 <= b.y
            || b.y + b.size.1 <= a.y
    }

    #[test]
    fn places_do_not_overlap_and_fill_one_layer_after_the_other() {
        let mut atlas = Atlas::of_layers(2);
        let mut seen: Vec<Place> = Vec::new();
        let sizes = [(20, 31), (40, 30), (256, 256), (8, 8)];
        for i in 0..600 {
            let (w, h) = sizes[i % 4];
            let Some(place) = atlas.take(w, h, i as u32, |_| None, &mut Vec::new()) else { break };
            assert!(place.x + place.size.0 <= ATLAS_SIDE && place.y + place.size.1 <= ATLAS_SIDE);
            assert!(place.size.0 >= w && place.size.1 >= h && place.layer < 2);
            assert!(seen.iter().all(|other| apart(other, &place)), "{place:?}");
            seen.push(place);
        }
        assert!(seen.len() > 40 && seen.iter().any(|place| place.layer == 1));
    }

    #[test]
    fn a_full_atlas_takes_the_place_that_was_used_longest_ago() {
        let mut atlas = Atlas::of_layers(1);
        let mut gone = Vec::new();
        let mut places = Vec::new();
        for i in 0..16 {
            places.push(atlas.take(256, 256, i, |_| None, &mut gone).unwrap());
        }
        assert_eq!(atlas.take(256, 256, 99, |_| None, &mut gone), None, "everything must stay");
        assert!(gone.is_empty());
        let age = |glyph: u32| (glyph != 0).then_some(100 - glyph);
        assert_eq!(atlas.take(256, 256, 99, age, &mut gone), Some(places[15]));
        assert_eq!(atlas.take(10, 10, 98, age, &mut gone), Some(places[15]), "a larger one does");
        assert_eq!(gone, [15, 99]);
        atlas.give_back(places[3]);
        assert_eq!(atlas.take(250, 250, 97, age, &mut gone), Some(places[3]));
    }

    #[test]
    fn rows_of_small_places_are_cut_again_for_a_wide_glyph() {
        let mut atlas = Atlas::of_layers(1);
        let mut gone = Vec::new();
        for i in 0..16 * 8 {
            atlas.take(64, 128, i, |_| None, &mut gone).unwrap();
        }
        // The glyphs of the first row must stay; those of the second were used longest ago.
        let age = |glyph: u32| (glyph >= 16).then_some(glyph);
        let place = atlas.take(200, 100, 1000, age, &mut gone).unwrap();
        assert_eq!((place.y, place.size), (128, (200, 104)));
        gone.sort();
        assert_eq!(gone, (16..32).collect::<Vec<u32>>());
        let again = atlas.take(200, 100, 1001, age, &mut gone).unwrap();
        assert!(again.y == 128 && apart(&place, &again) && gone.len() == 16);
    }
}
