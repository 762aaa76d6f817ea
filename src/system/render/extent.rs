//! How large the atlases are: layers and rows, for what is filled in them. Makes nothing on an
//! adapter.

use crate::packet::texture::{ATLAS_SIDE, TextureChange};

/// The fewest rows of texels of an atlas in which something is. Games that show little need no more
/// of the four megabytes of a layer, all of which is written when it is made.
const ROWS_MIN: u32 = 64;

/// How much of an atlas there is: layers, and rows of texels in each. Only a single layer has fewer
/// rows than it could have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    pub layers: u32,
    pub rows: u32,
}

impl Extent {
    /// That of a place.
    pub fn of(layer: u32, y: u32, height: u32) -> Extent {
        Extent { layers: layer + 1, rows: if layer > 0 { ATLAS_SIDE } else { y + height } }
    }

    pub fn with(self, other: Extent) -> Extent {
        Extent { layers: self.layers.max(other.layers), rows: self.rows.max(other.rows) }
    }

    pub fn holds(self, other: Extent) -> bool {
        self == self.with(other)
    }

    /// What is made for it, of so many layers at most: powers of two, so that it seldom grows.
    pub fn rounded(self, layers_max: u32) -> Extent {
        let layers = self.layers.next_power_of_two().min(layers_max);
        let rows = self.rows.next_power_of_two().clamp(ROWS_MIN, ATLAS_SIDE);
        Extent { layers, rows: if layers > 1 { ATLAS_SIDE } else { rows } }
    }
}

/// How much of the atlas of small textures and of that of glyphs is filled by changes.
pub fn ahead(changes: &[TextureChange]) -> (Extent, Extent) {
    let (mut atlas, mut glyphs) = (Extent::default(), Extent::default());
    for change in changes {
        match change {
            TextureChange::Atlas { layer, y, texels, .. } => {
                atlas = atlas.with(Extent::of(*layer, *y, texels.height));
            }
            TextureChange::Glyph { layer, y, texels, .. } => {
                glyphs = glyphs.with(Extent::of(*layer, *y, texels.height));
            }
            TextureChange::Put { .. }
            | TextureChange::Target { .. }
            | TextureChange::End { .. } => {}
        }
    }
    (atlas, glyphs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atlas_begins_with_few_rows_and_has_whole_layers_as_soon_as_there_are_two() {
        let check = |extent: Extent, layers, rows| {
            assert_eq!(extent.rounded(64), Extent { layers, rows }, "{extent:?}");
        };
        check(Extent::of(0, 0, 8), 1, ROWS_MIN);
        check(Extent::of(0, 60, 40), 1, 128);
        check(Extent::of(0, 1016, 8), 1, ATLAS_SIDE);
        check(Extent::of(1, 0, 8), 2, ATLAS_SIDE);
        check(Extent::of(0, 0, 8).with(Extent::of(4, 0, 8)), 8, ATLAS_SIDE);
        assert_eq!(Extent::of(40, 0, 8).rounded(48).layers, 48, "no more than there can be");
    }

    #[test]
    fn an_atlas_grows_only_for_what_is_beyond_it() {
        let there = Extent::of(0, 60, 40).rounded(64);
        assert!(there.holds(Extent::of(0, 120, 8)));
        assert!(!there.holds(Extent::of(0, 121, 8)) && !there.holds(Extent::of(1, 0, 8)));
        assert!(!Extent::default().holds(Extent::of(0, 0, 1)), "there is nothing at first");
    }
}
