//! Atlases that grow, by rows and then by layers: what is in them is drawn as before.

use super::{draw, renderer, scenes};
use engine::packet::texture::{ATLAS_LEVELS, Format, Sampling, Texels, TextureChange, Wrap};
use engine::packet::{Packet, Target};

const SIDE: u32 = 8;

fn texels(levels: u32) -> Texels {
    let bytes: u32 = (0..levels).map(|level| (SIDE >> level) * (SIDE >> level) * 4).sum();
    Texels {
        width: SIDE,
        height: SIDE,
        levels,
        format: if levels > 1 { Format::Rgba8Srgb } else { Format::Rgba8 },
        sampling: Sampling { nearest: false, wrap: Wrap::Clamp },
        bytes: vec![255; bytes as usize].into(),
        start: 0,
    }
}

/// Something in a place of both atlases that no scene uses.
fn beyond(layer: u32, y: u32) -> Vec<TextureChange> {
    let texels = (texels(ATLAS_LEVELS), texels(1));
    vec![
        TextureChange::Atlas { layer, x: 0, y, texels: texels.0, picture: None },
        TextureChange::Glyph { layer, x: 0, y, texels: texels.1 },
    ]
}

/// What the scene of textures has on the first layer.
fn first_layer() -> Packet {
    let mut packet = scenes::textures();
    packet.textures.retain(|change| !matches!(change, TextureChange::Atlas { layer: 1.., .. }));
    for batch in packet.guis.iter_mut().flat_map(|gui| &mut gui.batches) {
        batch.instances.retain(|instance| (instance.paint >> 5) & 2047 == 0);
    }
    packet
}

#[test]
fn an_atlas_keeps_what_is_in_it_while_it_grows() {
    for scene in [first_layer, scenes::textures, scenes::glyphs] {
        let Some(mut renderer) = renderer(false) else { return };
        let before = draw(&mut renderer, vec![scene()], Target::Screen);
        for (layer, y) in [(0, 600), (0, 1016), (1, 0), (4, 8)] {
            let packet = Packet { textures: beyond(layer, y), ..scene() };
            let after = draw(&mut renderer, vec![packet], Target::Screen);
            assert!(before == after, "with something at {y} on layer {layer}");
        }
    }
}
