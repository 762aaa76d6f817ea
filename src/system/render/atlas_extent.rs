//! The sizes of the atlases: the layers and rows that their content needs. Creates no resources on
//! an adapter.

use engine_frame_packet::texture::{ATLAS_SIDE, TextureChange};

/// The fewest rows of a non-empty atlas. Games that show little need no more of the four megabytes
/// of a layer, all of which is written when it is created.
const ROWS_MIN: u32 = 64;

/// The size of an atlas: layers, and rows of texels in each. Only a single layer can have fewer
/// rows than the maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AtlasExtent {
    pub layers: u32,
    pub rows: u32,
}

impl AtlasExtent {
    /// Returns the extent that contains a rectangle of the atlas.
    pub fn of(layer: u32, y: u32, height: u32) -> AtlasExtent {
        AtlasExtent { layers: layer + 1, rows: if layer > 0 { ATLAS_SIDE } else { y + height } }
    }

    pub fn with(self, other: AtlasExtent) -> AtlasExtent {
        AtlasExtent { layers: self.layers.max(other.layers), rows: self.rows.max(other.rows) }
    }

    pub fn contains(self, other: AtlasExtent) -> bool {
        self == self.with(other)
    }

    /// Rounds the extent up for an allocation of at most `layers_max` layers: powers of two, so
    /// that the atlas seldom grows.
    pub fn rounded(self, layers_max: u32) -> AtlasExtent {
        let layers = self.layers.next_power_of_two().min(layers_max);
        let rows = self.rows.next_power_of_two().clamp(ROWS_MIN, ATLAS_SIDE);
        AtlasExtent { layers, rows: if layers > 1 { ATLAS_SIDE } else { rows } }
    }
}

/// Returns the extents that a packet's changes fill in the atlas of small textures and in that of
/// glyphs.
pub fn required_extents(changes: &[TextureChange]) -> (AtlasExtent, AtlasExtent) {
    let (mut atlas, mut glyphs) = (AtlasExtent::default(), AtlasExtent::default());
    for change in changes {
        match change {
            TextureChange::Atlas { layer, y, texels, .. } => {
                atlas = atlas.with(AtlasExtent::of(*layer, *y, texels.height));
            }
            TextureChange::Glyph { layer, y, texels, .. } => {
                glyphs = glyphs.with(AtlasExtent::of(*layer, *y, texels.height));
            }
            TextureChange::Set { .. }
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
    fn the_first_layer_of_an_atlas_is_partial_until_the_second() {
        let check = |extent: AtlasExtent, layers, rows| {
            assert_eq!(extent.rounded(64), AtlasExtent { layers, rows }, "{extent:?}");
        };
        check(AtlasExtent::of(0, 0, 8), 1, ROWS_MIN);
        check(AtlasExtent::of(0, 60, 40), 1, 128);
        check(AtlasExtent::of(0, 1016, 8), 1, ATLAS_SIDE);
        check(AtlasExtent::of(1, 0, 8), 2, ATLAS_SIDE);
        check(AtlasExtent::of(0, 0, 8).with(AtlasExtent::of(4, 0, 8)), 8, ATLAS_SIDE);
        assert_eq!(AtlasExtent::of(40, 0, 8).rounded(48).layers, 48, "no more than there can be");
    }

    #[test]
    fn an_atlas_grows_only_for_cells_beyond_its_extent() {
        let there = AtlasExtent::of(0, 60, 40).rounded(64);
        assert!(there.contains(AtlasExtent::of(0, 120, 8)));
        assert!(
            !there.contains(AtlasExtent::of(0, 121, 8))
                && !there.contains(AtlasExtent::of(1, 0, 8))
        );
        assert!(
            !AtlasExtent::default().contains(AtlasExtent::of(0, 0, 1)),
            "there is nothing at first"
        );
    }
}
