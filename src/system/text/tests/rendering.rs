//! Tests of the rendered appearance of text: compared with its outlines, and saved for inspection.

use super::super::glyph_outline::{pieces, winding};
use super::super::test_rasterizer::{TestAtlas, TestCanvas, TestChannels};
use super::*;
use engine_foundation::Vec2;
use engine_frame_packet::text::TextStyle;

/// Lays out a text, generates its glyphs and draws it.
fn draw(
    texts: &mut TextSystem,
    atlas: &mut TestAtlas,
    canvas: &mut TestCanvas,
    request: &TextRequest,
    at: [f32; 2],
) {
    let quads = texts.layout(request).unwrap().to_vec();
    flush(texts, atlas);
    canvas.draw(atlas, &quads, at, WHITE);
}

#[test]
fn sizes_from_8_to_200_pixels_are_drawn() {
    let (mut texts, font) = texts();
    let (mut atlas, mut canvas) = (TestAtlas::default(), TestCanvas::new(1400, 900, [30, 32, 40]));
    let mut y = 890.0;
    for size in [8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 72.0, 100.0, 200.0f32] {
        y -= size * 1.2;
        let line =
            format!("{size}: The quick brown fox, 0123456789 & @ gjpqy ÄÖÜ Ωμέγα Жизнь fi ffi");
        draw(&mut texts, &mut atlas, &mut canvas, &request(font, &line, size), [10.0, y]);
    }
    canvas.save("sizes.png");
    let lit = (0..1400).flat_map(|x| (0..900).map(move |y| (x, y)));
    assert!(lit.filter(|(x, y)| canvas.red(*x, *y) > 0.9).count() > 10_000);
}

#[test]
fn outlines_glows_and_shadows_are_drawn() {
    let (mut texts, font) = texts();
    let (mut atlas, mut canvas) = (TestAtlas::default(), TestCanvas::new(1200, 700, [70, 90, 120]));
    let styles = [
        TextStyle { outline: 2.0, ..TextStyle::PLAIN },
        TextStyle { glow: 4.0, glow_color: [255, 160, 0, 255], ..TextStyle::PLAIN },
        TextStyle { shadow: [2.0, -2.0], shadow_softness: 2.0, ..TextStyle::PLAIN },
        TextStyle { outline: 1.0, glow: 3.0, glow_color: [0, 255, 200, 255], ..TextStyle::PLAIN },
    ];
    for (row, size) in [16.0, 32.0, 48.0, 90.0].into_iter().enumerate() {
        for (column, style) in styles.iter().enumerate() {
            let style = TextStyle {
                outline: style.outline * size / 48.0,
                glow: style.glow * size / 48.0,
                shadow: style.shadow.map(|length| length * size / 48.0),
                shadow_softness: style.shadow_softness * size / 48.0,
                ..*style
            };
            let at = [20.0 + 300.0 * column as f32, 640.0 - 170.0 * row as f32];
            let request = TextRequest { style, ..request(font, "Agk&8é", size) };
            draw(&mut texts, &mut atlas, &mut canvas, &request, at);
        }
    }
    canvas.save("styles.png");
}

/// Returns the coverage of each pixel by a glyph's outline, from 8 × 8 samples. The pen is at (8,
/// 8).
fn exact(texts: &TextSystem, font: FontNumber, c: char, size: f32, side: usize) -> Vec<f32> {
    let GlyphSource::Outlines(face) = &texts.fonts[font.0 as usize].body else {
        panic!("no outlines")
    };
    let outline = face.outline(face.glyph(c).unwrap()).unwrap().scaled(size);
    let all = pieces(&outline).all;
    let point = |i: usize| (i % 8) as f32 / 8.0 + 1.0 / 16.0 - 8.0;
    let pixel = |i: usize| {
        let (x, y) = ((i % side) as f32, (i / side) as f32);
        let at = |k: usize| Vec2::new(x + point(k), y + point(k / 8));
        (0..64).filter(|k| winding(&all, at(*k)) != 0).count() as f32 / 64.0
    };
    (0..side * side).map(pixel).collect()
}

/// Returns the mean difference between a drawn glyph and its outline, over the pixels that are
/// partly covered or differ visibly.
fn difference(c: char, size: f32, channels: TestChannels) -> f32 {
    let (mut texts, font) = texts();
    let side = (size * 1.5) as usize + 16;
    let (mut atlas, mut canvas) = (TestAtlas::default(), TestCanvas::new(side, side, [0; 3]));
    let text = c.to_string();
    let quads = texts.layout(&request(font, &text, size)).unwrap().to_vec();
    flush(&mut texts, &mut atlas);
    canvas.draw_with(&atlas, &quads, [8.0, 8.0], WHITE, channels);
    let exact = exact(&texts, font, c, size, side);
    let pairs = exact.iter().enumerate().map(|(i, e)| (*e, canvas.red(i % side, i / side)));
    let edges: Vec<f32> = pairs
        .filter(|(e, drawn)| *e * (1.0 - *e) > 0.0 || (e - drawn).abs() > 0.02)
        .map(|(e, drawn)| (e - drawn).abs())
        .collect();
    edges.iter().sum::<f32>() / edges.len() as f32
}

#[test]
fn letters_look_like_their_outlines_at_every_size() {
    for (size, most) in [(12.0, 0.16), (24.0, 0.09), (48.0, 0.07), (100.0, 0.07), (200.0, 0.1)] {
        let letters = if size < 60.0 { "AEgkQ8&@éЖ" } else { "g&Ж" };
        for c in letters.chars() {
            let found = difference(c, size, TestChannels::Shader);
            assert!(found < most, "{c} at {size}: {found} of a pixel's edge, {most} is allowed");
        }
    }
}

#[test]
fn three_channel_fields_preserve_sharp_corners() {
    for c in "AKZ#".chars() {
        let (three, one) = (
            difference(c, 150.0, TestChannels::Shader),
            difference(c, 150.0, TestChannels::Single),
        );
        assert!(three < one * 0.75, "{c}: {three} with three channels, {one} with one");
    }
    let (mut texts, font) = texts();
    let (mut atlas, mut canvas) = (TestAtlas::default(), TestCanvas::new(1100, 900, [30, 32, 40]));
    for (row, channels) in [TestChannels::Single, TestChannels::Shader].into_iter().enumerate() {
        let quads = texts.layout(&request(font, "AKR&4@", 280.0)).unwrap().to_vec();
        flush(&mut texts, &mut atlas);
        let at = [20.0, 550.0 - 400.0 * row as f32];
        canvas.draw_with(&atlas, &quads, at, WHITE, channels);
    }
    canvas.save("channels.png");
}

#[test]
fn arabic_devanagari_and_japanese_are_shaped_and_drawn() {
    let Some((mut texts, font)) = world_texts() else { return };
    let (mut atlas, mut canvas) = (TestAtlas::default(), TestCanvas::new(1300, 900, [30, 32, 40]));
    let lines = [
        "Score: النتيجة ١٢٣ points — مرحبا بالعالم (أهلا)",
        "السَّلَامُ عَلَيْكُمْ",
        "नमस्ते दुनिया — क्षत्रिय, श्री, हिन्दी, कर्त्तव्य",
        "日本語の文章を表示する。鬱蒼たる森、薔薇。",
        "e\u{301} o\u{308}\u{304} Ệ a\u{323}\u{302} — עברית? ok",
    ];
    let mut y = 880.0;
    for size in [12.0, 20.0, 32.0, 56.0] {
        for line in lines {
            y -= size * 1.45;
            draw(&mut texts, &mut atlas, &mut canvas, &request(font, line, size), [10.0, y]);
        }
    }
    canvas.save("scripts.png");
}
