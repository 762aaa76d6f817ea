//! Tests that atlases keep their content when they grow, first by rows and then by layers.

use super::{draw, renderer, scenes};
use engine::frame_packet::texture::{
    ATLAS_LEVELS, SamplerSettings, TexelFormat, TextureChange, TextureTexels, WrapMode,
};
use engine::frame_packet::{FramePacket, ViewTarget};

const SIDE: u32 = 8;

fn texels(levels: u32) -> TextureTexels {
    let bytes: u32 = (0..levels).map(|level| (SIDE >> level) * (SIDE >> level) * 4).sum();
    TextureTexels {
        width: SIDE,
        height: SIDE,
        levels,
        format: if levels > 1 { TexelFormat::Rgba8Srgb } else { TexelFormat::Rgba8 },
        sampling: SamplerSettings { nearest: false, wrap: WrapMode::Clamp },
        bytes: vec![255; bytes as usize].into(),
        start: 0,
    }
}

/// Returns changes that write to a location of both atlases that no scene uses.
fn atlas_changes(layer: u32, y: u32) -> Vec<TextureChange> {
    let texels = (texels(ATLAS_LEVELS), texels(1));
    vec![
        TextureChange::Atlas { layer, x: 0, y, texels: texels.0, picture: None },
        TextureChange::Glyph { layer, x: 0, y, texels: texels.1 },
    ]
}

/// Returns the part of the texture scene that is on the first layer.
fn first_layer() -> FramePacket {
    let mut packet = scenes::textures();
    packet.textures.retain(|change| !matches!(change, TextureChange::Atlas { layer: 1.., .. }));
    for batch in packet.guis.iter_mut().flat_map(|gui| &mut gui.batches) {
        batch.instances.retain(|instance| (instance.paint >> 5) & 2047 == 0);
    }
    packet
}

#[test]
fn growing_atlas_keeps_its_content() {
    for scene in [first_layer, scenes::textures, scenes::glyphs] {
        let Some(mut renderer) = renderer(false) else { return };
        let before = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
        for (layer, y) in [(0, 600), (0, 1016), (1, 0), (4, 8)] {
            let packet = FramePacket { textures: atlas_changes(layer, y), ..scene() };
            let after = draw(&mut renderer, vec![packet], ViewTarget::Screen);
            assert!(before == after, "with something at {y} on layer {layer}");
        }
    }
}
