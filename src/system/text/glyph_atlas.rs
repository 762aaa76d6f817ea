//! Allocator of slots in the shared glyph atlas. Layers are cut into rows of equal slots, so that a
//! slot can be reused by any glyph of about the same size. Knows glyphs only by number.

use engine_frame_packet::texture::{ATLAS_LAYERS_MAX, ATLAS_SIDE};
use std::collections::BTreeMap;

/// Slot sides are multiples of this, in texels.
const STEP: u32 = 8;
/// Largest side of a slot, in texels.
pub const SLOT_SIDE_MAX: u32 = 256;
/// Maximum number of atlas layers used for glyphs. Each takes 4 MiB of GPU memory.
pub const GLYPH_LAYERS_MAX: u32 = 32;
const _: () = assert!(GLYPH_LAYERS_MAX <= ATLAS_LAYERS_MAX);

/// A slot of the atlas: its top left corner on a layer, in texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtlasSlot {
    pub layer: u32,
    pub x: u32,
    pub y: u32,
    /// Width and height of the slot.
    pub size: (u32, u32),
}

/// All slots of one size.
#[derive(Default)]
struct SlotRows {
    free: Vec<AtlasSlot>,
    taken: Vec<(AtlasSlot, u32)>,
}

/// A row of slots, as wide as a layer.
struct SlotRow {
    layer: u32,
    y: u32,
    height: u32,
    /// Current size of its slots.
    size: (u32, u32),
}

/// The glyph atlas: its rows, and their slots by size.
#[derive(Default)]
pub struct GlyphAtlas {
    sizes: BTreeMap<(u32, u32), SlotRows>,
    rows: Vec<SlotRow>,
    /// Number of layers in use. `filled` is the filled height of the last one.
    layers: u32,
    filled: u32,
    layers_max: Option<u32>,
}

impl GlyphAtlas {
    /// Creates an atlas with at most `layers` layers, for tests.
    #[cfg(test)]
    pub fn of_layers(layers: u32) -> GlyphAtlas {
        GlyphAtlas { layers_max: Some(layers), ..GlyphAtlas::default() }
    }

    /// Allocates a slot for a glyph. If none is free, evicts the least recently used glyph or a
    /// whole row, and adds the numbers of the evicted glyphs to `evicted`. `age` returns a glyph's
    /// last use, or `None` if the glyph must stay. Returns `None` if no glyph can be evicted.
    pub fn take(
        &mut self,
        width: u32,
        height: u32,
        glyph: u32,
        age: impl Fn(u32) -> Option<u32>,
        evicted: &mut Vec<u32>,
    ) -> Option<AtlasSlot> {
        let size = (width.next_multiple_of(STEP), height.next_multiple_of(STEP));
        assert!(size.0 <= SLOT_SIDE_MAX && size.1 <= SLOT_SIDE_MAX, "glyphs are scaled to fit");
        if self.sizes.get(&size).is_none_or(|sized| sized.free.is_empty()) {
            self.open_row(size);
        }
        let free = |sized: &mut SlotRows| {
            let slot = sized.free.pop()?;
            sized.taken.push((slot, glyph));
            Some(slot)
        };
        if let Some(slot) = free(self.sizes.entry(size).or_default()) {
            return Some(slot);
        }
        if let Some(slot) = self.take_from_larger(size, glyph, &age, evicted) {
            return Some(slot);
        }
        self.reclaim_row(size, &age, evicted);
        free(self.sizes.entry(size).or_default())
    }

    /// Allocates a slot of the smallest sufficient size that has one: a free slot, or the least
    /// recently used one.
    fn take_from_larger(
        &mut self,
        (width, height): (u32, u32),
        glyph: u32,
        age: &impl Fn(u32) -> Option<u32>,
        evicted: &mut Vec<u32>,
    ) -> Option<AtlasSlot> {
        let mut fitting: Vec<_> =
            self.sizes.iter_mut().filter(|((w, h), _)| *w >= width && *h >= height).collect();
        fitting.sort_by_key(|((w, h), _)| w * h);
        for (_, sized) in fitting {
            if let Some(slot) = sized.free.pop() {
                sized.taken.push((slot, glyph));
                return Some(slot);
            }
            let ages = sized.taken.iter_mut().filter_map(|taken| Some((age(taken.1)?, taken)));
            if let Some((_, taken)) = ages.min_by_key(|(age, _)| *age) {
                evicted.push(std::mem::replace(&mut taken.1, glyph));
                return Some(taken.0);
            }
        }
        None
    }

    /// Cuts a new row of slots, if a layer has room for it.
    fn open_row(&mut self, size: (u32, u32)) {
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
        self.rows.push(SlotRow { layer, y, height, size });
        self.split_row(layer, y, size);
    }

    fn split_row(&mut self, layer: u32, y: u32, size: (u32, u32)) {
        let row = (0..ATLAS_SIDE / size.0).rev();
        let slots = row.map(|i| AtlasSlot { layer, x: i * size.0, y, size });
        self.sizes.entry(size).or_default().free.extend(slots);
    }

    /// Evicts the least recently used row and cuts it into slots of this size. Only rows that are
    /// high enough, and whose glyphs may all go, are considered.
    fn reclaim_row(
        &mut self,
        size: (u32, u32),
        age: &impl Fn(u32) -> Option<u32>,
        evicted: &mut Vec<u32>,
    ) {
        let last_use = |row: &SlotRow| {
            let taken = self.sizes[&row.size].taken.iter();
            let mut taken = taken.filter(|(slot, _)| (slot.layer, slot.y) == (row.layer, row.y));
            taken.try_fold(0, |last, (_, glyph)| Some(age(*glyph)?.max(last)))
        };
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.height >= size.1);
        let found = rows.filter_map(|(i, row)| Some((last_use(row)?, i))).min();
        let Some((_, number)) = found else { return };
        let row = &mut self.rows[number];
        let (layer, y, before) = (row.layer, row.y, std::mem::replace(&mut row.size, size));
        let sized = self.sizes.get_mut(&before).expect("the row is of that size");
        let here = |slot: &AtlasSlot| (slot.layer, slot.y) == (layer, y);
        sized.free.retain(|slot| !here(slot));
        sized.taken.retain(|(slot, glyph)| {
            if here(slot) {
                evicted.push(*glyph);
            }
            !here(slot)
        });
        self.split_row(layer, y, size);
    }

    /// Frees a slot.
    pub fn release(&mut self, slot: AtlasSlot) {
        let sized = self.sizes.get_mut(&slot.size).expect("the slot is of this atlas");
        sized.taken.retain(|(taken, _)| *taken != slot);
        sized.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disjoint(a: &AtlasSlot, b: &AtlasSlot) -> bool {
        a.layer != b.layer
            || a.x + a.size.0 <= b.x
            || b.x + b.size.0 <= a.x
            || a.y + a.size.1 <= b.y
            || b.y + b.size.1 <= a.y
    }

    #[test]
    fn slots_do_not_overlap_and_fill_one_layer_after_the_other() {
        let mut atlas = GlyphAtlas::of_layers(2);
        let mut allocated: Vec<AtlasSlot> = Vec::new();
        let sizes = [(20, 31), (40, 30), (256, 256), (8, 8)];
        for i in 0..600 {
            let (w, h) = sizes[i % 4];
            let Some(slot) = atlas.take(w, h, i as u32, |_| None, &mut Vec::new()) else { break };
            assert!(slot.x + slot.size.0 <= ATLAS_SIDE && slot.y + slot.size.1 <= ATLAS_SIDE);
            assert!(slot.size.0 >= w && slot.size.1 >= h && slot.layer < 2);
            assert!(allocated.iter().all(|other| disjoint(other, &slot)), "{slot:?}");
            allocated.push(slot);
        }
        assert!(allocated.len() > 40 && allocated.iter().any(|slot| slot.layer == 1));
    }

    #[test]
    fn a_full_atlas_reuses_the_least_recently_used_slot() {
        let mut atlas = GlyphAtlas::of_layers(1);
        let mut evicted = Vec::new();
        let mut slots = Vec::new();
        for i in 0..16 {
            slots.push(atlas.take(256, 256, i, |_| None, &mut evicted).unwrap());
        }
        assert_eq!(atlas.take(256, 256, 99, |_| None, &mut evicted), None, "everything must stay");
        assert!(evicted.is_empty());
        let age = |glyph: u32| (glyph != 0).then_some(100 - glyph);
        assert_eq!(atlas.take(256, 256, 99, age, &mut evicted), Some(slots[15]));
        assert_eq!(atlas.take(10, 10, 98, age, &mut evicted), Some(slots[15]), "a larger one does");
        assert_eq!(evicted, [15, 99]);
        atlas.release(slots[3]);
        assert_eq!(atlas.take(250, 250, 97, age, &mut evicted), Some(slots[3]));
    }

    #[test]
    fn rows_of_small_slots_are_split_again_for_a_wide_glyph() {
        let mut atlas = GlyphAtlas::of_layers(1);
        let mut evicted = Vec::new();
        for i in 0..16 * 8 {
            atlas.take(64, 128, i, |_| None, &mut evicted).unwrap();
        }
        // The glyphs of the first row must stay. Those of the second row are the least recently
        // used.
        let age = |glyph: u32| (glyph >= 16).then_some(glyph);
        let slot = atlas.take(200, 100, 1000, age, &mut evicted).unwrap();
        assert_eq!((slot.y, slot.size), (128, (200, 104)));
        evicted.sort();
        assert_eq!(evicted, (16..32).collect::<Vec<u32>>());
        let again = atlas.take(200, 100, 1001, age, &mut evicted).unwrap();
        assert!(again.y == 128 && disjoint(&slot, &again) && evicted.len() == 16);
    }
}
