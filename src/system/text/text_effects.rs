//! Text effects: outline, glow and shadow. Each effect adds quads of the same glyphs, drawn before
//! the letters, with the edge moved and softened in the distance field.

use super::font::Font;
use engine_foundation::log;
use engine_frame_packet::text::{GlyphQuad, PageNumber, TextRequest, TextStyle};
use engine_frame_packet::texture::ATLAS_SIDE;

/// Extents of a style's effects at one text size, in the units of the size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EffectExtents {
    outline: f32,
    glow: f32,
    softness: f32,
    /// Largest distance from the letters at which any effect is drawn.
    pub margin: f32,
}

/// Returns true if a style has no effects.
pub fn is_plain(style: &TextStyle) -> bool {
    !(style.outline > 0.0 || style.glow > 0.0 || has_shadow(style))
}

fn has_shadow(style: &TextStyle) -> bool {
    style.shadow != [0.0, 0.0] || style.shadow_softness > 0.0
}

/// Returns the effect extents of a style, limited to the range of the distance fields. Logs a
/// warning once per font if the limit applies.
pub fn effect_extents(request: &TextRequest, font: &mut Font) -> EffectExtents {
    let style = &request.style;
    // The last half pixel of the field smooths the edge.
    let most = (font.field_extent() * request.size - 0.5).max(0.0);
    // A NaN length draws nothing.
    let length = |length_asked: f32| if length_asked > 0.0 { length_asked } else { 0.0 };
    let outline = length(style.outline).min(most);
    let glow = length(style.glow).min(most - outline);
    // A shadow is softened on both sides of its edge.
    let softness = length(style.shadow_softness).min((most - outline) * 2.0);
    let length_asked =
        length(style.outline) + length(style.glow).max(length(style.shadow_softness) / 2.0);
    if length_asked > most * 1.0001 && !std::mem::replace(&mut font.logged.reach, true) {
        log::warning(&format!(
            "an outline, glow or shadow of the font '{}' asks for {length_asked} around letters of \
             size {}, and {most} is the most: it is drawn that wide",
            font.name, request.size
        ));
    }
    EffectExtents { outline, glow, softness, margin: outline + glow.max(softness / 2.0) }
}

/// Writes the quads of shadow, glow and outline, followed by the quads of the letters.
pub fn apply(
    letters: &[GlyphQuad],
    style: &TextStyle,
    reach: EffectExtents,
    page_width: impl Fn(PageNumber) -> f32,
    out: &mut Vec<GlyphQuad>,
) {
    out.clear();
    let mut layer = |wider: f32, softer: f32, moved: [f32; 2], color: [u8; 4]| {
        let quads = letters.iter().filter(|quad| quad.is_field() || moved != [0.0, 0.0]);
        out.extend(quads.map(|quad| {
            let width = match quad.page {
                PageNumber::SHARED => ATLAS_SIDE as f32,
                page => page_width(page),
            };
            let texels = (quad.uv[2] - quad.uv[0]) * width / (quad.rect[2] - quad.rect[0]);
            let [left, bottom, right, top] = quad.rect;
            let [x, y] = moved;
            GlyphQuad {
                rect: [left + x, bottom + y, right + x, top + y],
                extra: [wider * texels, softer * texels],
                color,
                own_color: true,
                ..*quad
            }
        }));
    };
    if has_shadow(style) {
        layer(reach.outline, reach.softness, style.shadow, style.shadow_color);
    }
    if reach.glow > 0.0 {
        // The renderer softens both sides of the edge, so the edge is moved to the middle of the
        // glow: the whole glow lies outside the outline.
        layer(reach.outline + reach.glow / 2.0, reach.glow, [0.0; 2], style.glow_color);
    }
    if reach.outline > 0.0 {
        layer(reach.outline, 0.0, [0.0; 2], style.outline_color);
    }
    out.extend(letters);
}
