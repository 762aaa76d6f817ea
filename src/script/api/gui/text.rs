//! The text functions of `Gui`, for the prelude only (lua/gui/text.lua). The text system lays out
//! the text, and the Gui system draws it. Code shared with the other drawing functions is in
//! gui/draw.rs.

use crate::api::gui::draw::{
    BytePointer, DrawCall, DrawDestination, DrawResult, FloatPointer, bytes,
};
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::text::{
    ColorSpan, FontNumber, GlyphQuad, PageNumber, TextAlign, TextRequest, TextStyle,
};
use engine_gui::{DrawRequest, GuiMode, PLAIN, PrimitiveKind, SourceNumber, SourcePart};
use engine_runtime::Engine;
use std::ffi::c_void;

/// Maximum number of differently colored spans in a text (lua/gui/text.lua has the same number).
const SPANS_MAX: usize = 64;
/// Number of floats of a style before its spans, and of each span.
const STYLE_FLOATS: usize = 21;
const SPAN_FLOATS: usize = 6;

/// The prelude's options of a text, decoded from floats.
struct TextStyleFloats {
    width: f32,
    align: TextAlign,
    style: TextStyle,
    markup: bool,
    spans: Vec<ColorSpan>,
}

impl TextStyleFloats {
    /// Decodes a buffer of floats.
    ///
    /// # Safety
    /// `floats` points to a whole buffer of styles.
    unsafe fn read(floats: *const c_void) -> TextStyleFloats {
        // SAFETY: as the caller promised.
        let all = unsafe {
            let count = STYLE_FLOATS + SPANS_MAX * SPAN_FLOATS;
            std::slice::from_raw_parts(floats as *const f32, count)
        };
        let color = |at: usize| bytes(all[at], all[at + 1], all[at + 2], all[at + 3]);
        let span = |at: usize| {
            let at = STYLE_FLOATS + at * SPAN_FLOATS;
            ColorSpan { start: all[at] as u32, color: (all[at + 1] != 0.0).then(|| color(at + 2)) }
        };
        TextStyleFloats {
            align: match all[0] as u32 {
                0 => TextAlign::Left,
                1 => TextAlign::Center,
                _ => TextAlign::Right,
            },
            width: all[1],
            style: TextStyle {
                outline: all[2],
                outline_color: color(3),
                glow: all[7],
                glow_color: color(8),
                shadow: [all[12], all[13]],
                shadow_softness: all[14],
                shadow_color: color(15),
            },
            markup: all[19] != 0.0,
            spans: (0..(all[20] as usize).min(SPANS_MAX)).map(span).collect(),
        }
    }
}

/// Creates a layout request for a text without a style. Its bytes live as long as the call.
///
/// # Safety
/// `text` points to `length` bytes.
unsafe fn request<'a>(text: BytePointer, length: u32, font: u32, size: f32) -> TextRequest<'a> {
    // SAFETY: as the caller promised.
    let text = unsafe { std::slice::from_raw_parts(text as *const u8, length as usize) };
    TextRequest { font: FontNumber(font), text, size, ..TextRequest::DEFAULT }
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
pub(in crate::api) fn text(
    engine: &mut Engine,
    to: DrawDestination,
    text: BytePointer,
    length: u32,
    font: u32,
    size: f32,
    material: u32,
    style: FloatPointer,
    x: f32,
    y: f32,
    z: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> DrawResult {
    let DrawCall { engine, gui, object, pose, primitive, layer } =
        DrawCall::begin(engine, to, PrimitiveKind::Text, z, x + y + size)?;
    // SAFETY: the prelude passes a string and its length, and a style or null.
    let (mut request, styled) = unsafe {
        let styled = (!style.is_null()).then(|| TextStyleFloats::read(style));
        (request(text, length, font, size), styled)
    };
    if let Some(styled) = &styled {
        request.max_width = styled.width;
        request.align = styled.align;
        request.style = styled.style;
        request.markup = styled.markup;
        request.spans = &styled.spans;
    }
    request.is_retained = engine.drawing.guis.gui(gui).desc.mode == GuiMode::Retained;
    let color = bytes(r, g, b, a);
    let draw_request = DrawRequest { gui, object, primitive, layer, pose: pose.as_ref() };
    engine.drawing.guis.record_text(request.text);
    let quads = match engine.assets.text.layout(&request) {
        Ok(quads) => quads,
        Err(error) => return engine.drawing.guis.refuse(error.message),
    };
    if material == PLAIN.0 && quads.iter().all(|quad| quad.page == PageNumber::SHARED) {
        let each = quads.iter().map(|quad| quad.instance(x, y, color, 0));
        return engine.drawing.guis.submit_quads(draw_request, PLAIN, each);
    }
    let quads = quads.to_vec();
    let material = SourceNumber(material);
    paged(engine, draw_request, material, &quads, |quad| quad.instance(x, y, color, 0))
}

/// Draws a text that has a material, or some glyphs of which are on other atlas pages.
fn paged(
    engine: &mut Engine,
    draw_request: DrawRequest,
    material: SourceNumber,
    quads: &[GlyphQuad],
    make: impl Fn(&GlyphQuad) -> QuadInstance,
) -> DrawResult {
    let mut parts: Vec<(PageNumber, Vec<QuadInstance>)> = Vec::new();
    for quad in quads {
        match parts.iter_mut().find(|(page, _)| *page == quad.page) {
            Some((_, instances)) => instances.push(make(quad)),
            None => parts.push((quad.page, vec![make(quad)])),
        }
    }
    let mut sources = Vec::with_capacity(parts.len());
    for (page, _) in &parts {
        match engine.drawing.page_source(&mut engine.assets, *page, material) {
            Ok(source) => sources.push(source),
            Err(error) => return engine.drawing.guis.refuse(error.message),
        }
    }
    let parts = parts.iter().zip(&sources);
    let parts: Vec<SourcePart> =
        parts.map(|((_, instances), source)| SourcePart { source: *source, instances }).collect();
    engine.drawing.guis.put(draw_request, &parts)
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
pub(in crate::api) fn text_extents(
    engine: &mut Engine,
    to: DrawDestination,
    text: BytePointer,
    length: u32,
    font: u32,
    size: f32,
    style: FloatPointer,
    out: FloatPointer,
) -> DrawResult {
    let DrawCall { engine, .. } = DrawCall::begin(engine, to, PrimitiveKind::Text, 0.0, size)?;
    // SAFETY: the prelude passes a string and its length, a style or null, and room for 7 floats.
    let (mut request, styled, out) = unsafe {
        let styled = (!style.is_null()).then(|| TextStyleFloats::read(style));
        let out = std::slice::from_raw_parts_mut(out.cast_mut() as *mut f32, 7);
        (request(text, length, font, size), styled, out)
    };
    if let Some(styled) = &styled {
        request.max_width = styled.width;
        request.align = styled.align;
        request.markup = styled.markup;
    }
    match engine.assets.text.extents(&request) {
        Ok(found) => {
            out[..2].copy_from_slice(&found.min);
            out[2..4].copy_from_slice(&found.max);
            out[4..6].copy_from_slice(&found.caret);
            out[6] = found.lines as f32;
            Ok(0.0)
        }
        Err(error) => engine.drawing.guis.refuse(error.message),
    }
}
