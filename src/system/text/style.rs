//! Outline, glow and shadow: more quads of the same glyphs, drawn before the letters, with the edge
//! moved and softened in the distance field.

use super::font::Font;
use crate::foundation::log;
use crate::packet::text::{GlyphQuad, PageNumber, Request, Style};
use crate::packet::texture::ATLAS_SIDE;

/// What a style comes to at a size, in the units of the size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reach {
    outline: f32,
    glow: f32,
    softness: f32,
    /// How far around letters anything is drawn.
    pub around: f32,
}

/// Whether there are letters alone.
pub fn is_plain(style: &Style) -> bool {
    !(style.outline > 0.0 || style.glow > 0.0 || has_shadow(style))
}

fn has_shadow(style: &Style) -> bool {
    style.shadow != [0.0, 0.0] || style.shadow_softness > 0.0
}

/// How far a style reaches: at most as far as the fields do, which the log hears of once.
pub fn reach(request: &Request, font: &mut Font) -> Reach {
    let style = &request.style;
    // The last half pixel of the field smooths the edge.
    let most = (font.reach() * request.size - 0.5).max(0.0);
    // What is not a number draws nothing.
    let length = |asked: f32| if asked > 0.0 { asked } else { 0.0 };
    let outline = length(style.outline).min(most);
    let glow = length(style.glow).min(most - outline);
    // A shadow is softened to both sides of its edge.
    let softness = length(style.shadow_softness).min((most - outline) * 2.0);
    let asked = length(style.outline) + length(style.glow).max(length(style.shadow_softness) / 2.0);
    if asked > most * 1.0001 && !std::mem::replace(&mut font.told.reach, true) {
        log::warning(&format!(
            "an outline, glow or shadow of the font '{}' asks for {asked} around letters of size \
             {}, and {most} is the most: it is drawn so wide",
            font.name, request.size
        ));
    }
    Reach { outline, glow, softness, around: outline + glow.max(softness / 2.0) }
}

/// Puts the quads of shadow, glow and outline before those of the letters.
pub fn apply(
    letters: &[GlyphQuad],
    style: &Style,
    reach: Reach,
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
        // The renderer softens to both sides of the edge: from the outline outward is all of it.
        layer(reach.outline + reach.glow / 2.0, reach.glow, [0.0; 2], style.glow_color);
    }
    if reach.outline > 0.0 {
        layer(reach.outline, 0.0, [0.0; 2], style.outline_color);
    }
    out.extend(letters);
}
