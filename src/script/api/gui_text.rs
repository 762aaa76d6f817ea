//! The texts of `Gui`, for the prelude alone (lua/gui_text.lua): laid out by the text system, drawn
//! by that of Guis. What these functions share with the others is in gui_fast.rs.

use super::gui_fast::{Bytes, Data, Draw, Drawn, To, bytes};
use crate::engine::Engine;
use crate::packet::gui::Instance;
use crate::packet::text::{Align, FontNumber, GlyphQuad, PageNumber, Request, Span, Style};
use crate::system::gui::{Mode, PLAIN, Part, SourceNumber, Thing, What};
use std::ffi::c_void;

/// The most parts of a text in other colours (lua/gui_text.lua has the same number).
const SPANS_MAX: usize = 64;
/// Floats of a style before its spans, and of each span.
const STYLE_FLOATS: usize = 21;
const SPAN_FLOATS: usize = 6;

/// What the prelude's options of a text say, as floats.
struct Styled {
    width: f32,
    align: Align,
    style: Style,
    markup: bool,
    spans: Vec<Span>,
}

impl Styled {
    /// # Safety
    /// `floats` leads to a whole buffer of styles.
    unsafe fn read(floats: *const c_void) -> Styled {
        // SAFETY: as the caller promised.
        let all = unsafe {
            let count = STYLE_FLOATS + SPANS_MAX * SPAN_FLOATS;
            std::slice::from_raw_parts(floats as *const f32, count)
        };
        let color = |at: usize| bytes(all[at], all[at + 1], all[at + 2], all[at + 3]);
        let span = |at: usize| {
            let at = STYLE_FLOATS + at * SPAN_FLOATS;
            Span { start: all[at] as u32, color: (all[at + 1] != 0.0).then(|| color(at + 2)) }
        };
        Styled {
            align: match all[0] as u32 {
                0 => Align::Left,
                1 => Align::Center,
                _ => Align::Right,
            },
            width: all[1],
            style: Style {
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

/// A request for a text without a style, of bytes that live as long as the call.
///
/// # Safety
/// `text` leads to `length` bytes.
unsafe fn request<'a>(text: Bytes, length: u32, font: u32, size: f32) -> Request<'a> {
    // SAFETY: as the caller promised.
    let text = unsafe { std::slice::from_raw_parts(text as *const u8, length as usize) };
    Request { font: FontNumber(font), text, size, ..Request::DEFAULT }
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
pub(super) fn text(
    engine: &mut Engine,
    to: To,
    text: Bytes,
    length: u32,
    font: u32,
    size: f32,
    material: u32,
    style: Data,
    x: f32,
    y: f32,
    z: f32,
    r: f32,
    g: f32,
    b: f32,
    a: f32,
) -> Drawn {
    let Draw { engine, gui, object, pose, what, layer } =
        Draw::begin(engine, to, What::Text, z, x + y + size)?;
    // SAFETY: the prelude passes a string and its length, and a style or null.
    let (mut request, styled) = unsafe {
        let styled = (!style.is_null()).then(|| Styled::read(style));
        (request(text, length, font, size), styled)
    };
    if let Some(styled) = &styled {
        request.max_width = styled.width;
        request.align = styled.align;
        request.style = styled.style;
        request.markup = styled.markup;
        request.spans = &styled.spans;
    }
    request.kept = engine.guis.gui(gui).making.mode == Mode::Retained;
    let color = bytes(r, g, b, a);
    let thing = Thing { gui, object, what, layer, pose: pose.as_ref() };
    engine.guis.note_text(request.text);
    let quads = match engine.text.layout(&request) {
        Ok(quads) => quads,
        Err(error) => return engine.guis.refuse(error.message),
    };
    if material == PLAIN.0 && quads.iter().all(|quad| quad.page == PageNumber::SHARED) {
        let each = quads.iter().map(|quad| quad.instance(x, y, color, 0));
        return engine.guis.put_each(thing, PLAIN, each);
    }
    let quads = quads.to_vec();
    let material = SourceNumber(material);
    paged(engine, thing, material, &quads, |quad| quad.instance(x, y, color, 0))
}

/// A text with a material, or of which some glyphs are in pages of their own.
fn paged(
    engine: &mut Engine,
    thing: Thing,
    material: SourceNumber,
    quads: &[GlyphQuad],
    make: impl Fn(&GlyphQuad) -> Instance,
) -> Drawn {
    let mut parts: Vec<(PageNumber, Vec<Instance>)> = Vec::new();
    for quad in quads {
        match parts.iter_mut().find(|(page, _)| *page == quad.page) {
            Some((_, instances)) => instances.push(make(quad)),
            None => parts.push((quad.page, vec![make(quad)])),
        }
    }
    let mut sources = Vec::with_capacity(parts.len());
    for (page, _) in &parts {
        match engine.page_source(*page, material) {
            Ok(source) => sources.push(source),
            Err(error) => return engine.guis.refuse(error.message),
        }
    }
    let parts = parts.iter().zip(&sources);
    let parts: Vec<Part> =
        parts.map(|((_, instances), source)| Part { source: *source, instances }).collect();
    engine.guis.put(thing, &parts)
}

#[allow(clippy::too_many_arguments)] // As compiled Lua passes them.
pub(super) fn text_extents(
    engine: &mut Engine,
    to: To,
    text: Bytes,
    length: u32,
    font: u32,
    size: f32,
    style: Data,
    out: Data,
) -> Drawn {
    let Draw { engine, .. } = Draw::begin(engine, to, What::Text, 0.0, size)?;
    // SAFETY: the prelude passes a string and its length, a style or null, and room for 7 floats.
    let (mut request, styled, out) = unsafe {
        let styled = (!style.is_null()).then(|| Styled::read(style));
        let out = std::slice::from_raw_parts_mut(out.cast_mut() as *mut f32, 7);
        (request(text, length, font, size), styled, out)
    };
    if let Some(styled) = &styled {
        request.max_width = styled.width;
        request.align = styled.align;
        request.markup = styled.markup;
    }
    match engine.text.extents(&request) {
        Ok(found) => {
            out[..2].copy_from_slice(&found.min);
            out[2..4].copy_from_slice(&found.max);
            out[4..6].copy_from_slice(&found.caret);
            out[6] = found.lines as f32;
            Ok(0.0)
        }
        Err(error) => engine.guis.refuse(error.message),
    }
}
