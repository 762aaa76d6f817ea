//! The text functions of `Gui`. Their rows are in rows.rs, and lua/gui/text.lua turns options
//! into floats. The text system lays out the text, and the Gui system draws it.

#![allow(clippy::too_many_arguments, reason = "the functions have the arguments of scripts")]

use crate::api::gui::arguments::{
    ChangeResult, CreateResult, ImageSize, Layer, NewObject, ObjectNumber, OptionalSource,
    PlanePosition, Pose, Position, TextBounds, TextOptions, Tint,
};
use crate::api::gui::draw_call::{DrawCall, DrawResult, DrawTarget};
use crate::argument::ByteArgument;
use engine_foundation::Color;
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::text::{
    ColorSpan, FontNumber, GlyphQuad, PageNumber, TextAlign, TextRequest, TextStyle,
};
use engine_gui::{
    DrawRefused, DrawRequest, GuiId, GuiMode, PLAIN, PrimitiveKind, SourceNumber, SourcePart,
};
use engine_runtime::Engine;
use std::ffi::c_void;

/// Maximum number of differently colored spans in a text (lua/gui/text.lua has the same number).
const SPANS_MAX: usize = 64;
/// Number of floats of a style before its spans, and of each span.
const STYLE_FLOATS: usize = 21;
const SPAN_FLOATS: usize = 6;

/// The prelude's options of a text, decoded from floats.
pub(super) struct TextStyleFloats {
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
    pub unsafe fn read(floats: *const c_void) -> TextStyleFloats {
        // SAFETY: as the caller promised.
        let all = unsafe {
            let count = STYLE_FLOATS + SPANS_MAX * SPAN_FLOATS;
            std::slice::from_raw_parts(floats as *const f32, count)
        };
        let color = |at: usize| {
            let [red, green, blue, alpha] = [0, 1, 2, 3].map(|part| all[at + part]);
            Color { red, green, blue, alpha }.to_bytes()
        };
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

/// Draws a text.
#[inline(always)]
fn submit_text(
    engine: &mut Engine,
    target: DrawTarget,
    (text, font, size): (ByteArgument, FontNumber, f32),
    OptionalSource(material): OptionalSource,
    Position { x, y, z }: Position,
    Tint(color): Tint,
    options: TextOptions,
) -> DrawResult {
    let DrawCall { engine, gui, object, plane, primitive, layer, blend } =
        DrawCall::begin(engine, target, PrimitiveKind::Text, z, x + y + size)?;
    let options = options.read();
    let mut request = TextRequest { font, text: text.as_slice(), size, ..TextRequest::DEFAULT };
    if let Some(options) = &options {
        request.max_width = options.width;
        request.align = options.align;
        request.style = options.style;
        request.markup = options.markup;
        request.spans = &options.spans;
    }
    request.is_retained = engine.drawing.guis.gui(gui).desc.mode == GuiMode::Retained;
    let draw_request = DrawRequest { gui, object, primitive, layer, pose: plane, blend };
    engine.drawing.guis.record_text(request.text);
    let quads = match engine.assets.text.layout(&request) {
        Ok(quads) => quads,
        Err(error) => return engine.drawing.guis.refuse(error.message),
    };
    if material == PLAIN && quads.iter().all(|quad| quad.page == PageNumber::SHARED) {
        let each = quads.iter().map(|quad| quad.instance(x, y, color, 0));
        return engine.drawing.guis.submit_quads(draw_request, PLAIN, each);
    }
    let quads = quads.to_vec();
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
    engine.drawing.guis.submit_parts(draw_request, &parts)
}

#[inline(always)]
pub(super) fn text(
    engine: &mut Engine,
    gui: GuiId,
    text: ByteArgument,
    font: FontNumber,
    size: f32,
    material: OptionalSource,
    position: Position,
    color: Tint,
    options: TextOptions,
) -> CreateResult {
    let (target, text) = (DrawTarget::new(gui), (text, font, size));
    submit_text(engine, target, text, material, position, color, options).map(NewObject)
}

#[inline(always)]
pub(super) fn update_text(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    text: ByteArgument,
    font: FontNumber,
    size: f32,
    material: OptionalSource,
    position: Position,
    color: Tint,
    options: TextOptions,
) -> ChangeResult {
    let (target, text) = (DrawTarget::change(gui, object), (text, font, size));
    submit_text(engine, target, text, material, position, color, options).map(drop)
}

#[inline(always)]
pub(super) fn text_3d(
    engine: &mut Engine,
    gui: GuiId,
    text: ByteArgument,
    font: FontNumber,
    size: f32,
    material: OptionalSource,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    color: Tint,
    options: TextOptions,
) -> CreateResult {
    let plane = pose.plane_at(position);
    let (target, text) = (DrawTarget::new(gui).on(&plane), (text, font, size));
    submit_text(engine, target, text, material, layer.origin(), color, options).map(NewObject)
}

#[inline(always)]
pub(super) fn update_text_3d(
    engine: &mut Engine,
    gui: GuiId,
    object: ObjectNumber,
    text: ByteArgument,
    font: FontNumber,
    size: f32,
    material: OptionalSource,
    pose: Pose,
    position: PlanePosition,
    layer: Layer,
    color: Tint,
    options: TextOptions,
) -> ChangeResult {
    let plane = pose.plane_at(position);
    let target = DrawTarget::change(gui, object).on(&plane);
    let text = (text, font, size);
    submit_text(engine, target, text, material, layer.origin(), color, options).map(drop)
}

/// Measures a text. Colours and effects do not change its bounds.
pub(super) fn text_extents(
    engine: &mut Engine,
    gui: GuiId,
    text: ByteArgument,
    font: FontNumber,
    size: f32,
    options: TextOptions,
) -> Result<TextBounds, DrawRefused> {
    let target = DrawTarget::new(gui);
    let DrawCall { engine, .. } = DrawCall::begin(engine, target, PrimitiveKind::Text, 0.0, size)?;
    let mut request = TextRequest { font, text: text.as_slice(), size, ..TextRequest::DEFAULT };
    if let Some(options) = options.read() {
        request.max_width = options.width;
        request.align = options.align;
        request.markup = options.markup;
    }
    match engine.assets.text.extents(&request) {
        Ok(found) => Ok(TextBounds([found.min, found.max, found.caret])),
        Err(error) => engine.drawing.guis.refuse(error.message),
    }
}

pub(super) fn has_all_glyphs(
    engine: &mut Engine,
    _gui: GuiId,
    text: ByteArgument,
    font: FontNumber,
) -> Result<bool, DrawRefused> {
    Ok(engine.assets.text.has_all_glyphs(font, text.as_slice()))
}

pub(super) fn texture_size(
    engine: &mut Engine,
    _gui: GuiId,
    source: SourceNumber,
) -> Result<ImageSize, DrawRefused> {
    let found = engine.drawing.guis.source(source);
    Ok(ImageSize(found.expect("the prelude was given this number").size))
}
