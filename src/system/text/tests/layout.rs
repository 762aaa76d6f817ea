//! Tests of text layout: tables against the shaper, kerning, lines, colors, the cache, evicted
//! glyphs, and invalid requests.

use super::super::glyph_registry::GlyphRegistry;
use super::super::test_rasterizer::TestAtlas;
use super::*;
use engine_frame_packet::text::{ColorSpan, TextAlign, TextStyle};

/// Lays out a text with the shaper, even if it is simple.
fn shaped(texts: &mut TextSystem, request: &TextRequest) -> (Vec<GlyphQuad>, TextExtents) {
    let TextSystem { fonts, glyphs, work, .. } = texts;
    let part = &mut LayoutContext { fonts, glyphs };
    let text = std::str::from_utf8(request.text).unwrap();
    let (mut quads, mut used) = (Vec::new(), Vec::new());
    let margin = PIXEL / request.size;
    let shaper = &mut work.shaper;
    let extents =
        shaped_layout::lay_out(part, shaper, &mut quads, &mut used, (text, &[]), request, margin);
    (quads, extents)
}

fn is_simple(texts: &mut TextSystem, request: &TextRequest) -> bool {
    let TextSystem { fonts, glyphs, work, .. } = texts;
    let part = &mut LayoutContext { fonts, glyphs };
    fast_layout::lay_out(part, &mut work.quads, request.text, &[], request, 0.1).is_some()
}

#[track_caller]
fn check_same(texts: &mut TextSystem, font: FontNumber, text: &str) {
    let request = request(font, text, 20.0);
    assert!(is_simple(texts, &request), "{text:?} takes the table's way");
    let simple = texts.layout(&request).unwrap().to_vec();
    let (slow, extents) = shaped(texts, &request);
    assert_eq!(simple.len(), slow.len(), "{text:?}");
    for (i, (a, b)) in simple.iter().zip(&slow).enumerate() {
        let near = a.rect.iter().zip(b.rect).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(near && a.uv == b.uv, "{text:?}, quad {i}: {a:?}, shaped {b:?}");
    }
    let caret = texts.extents(&request).unwrap().caret;
    assert!((caret[0] - extents.caret[0]).abs() < 0.01, "{text:?}");
}

#[test]
fn fast_layout_matches_shaped_layout() {
    let (mut texts, font) = texts();
    for text in [
        "The quick brown fox jumps over the lazy dog.",
        "AVAVAV Ty To Tö LT. WAVE \"quoted\" (yes) [no] {1} 12,345.67 €",
        "fi fl ff ffi ffl office affluent baffle Tfi Vffl",
        "ÀÉÎÕÜ ñç ßœæ Łódź Žluťoučký kůň",
        "Ελληνικά Καλημέρα κόσμε ΑΥΤΟ",
        "Съешь ещё этих мягких французских булок ГА Ту",
        "→ × ÷ … – — • ‘x’ “y” ½ № ™",
    ] {
        check_same(&mut texts, font, text);
    }
    let all: String = (33..127u8).map(char::from).collect();
    check_same(&mut texts, font, &all);
    // Every pair of letters.
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain(".,;-'\"".chars()).collect();
    for a in &letters {
        let pairs: String = letters.iter().flat_map(|b| [*a, *b, ' ']).collect();
        check_same(&mut texts, font, &pairs);
    }
}

#[test]
fn a_ligature_may_follow_the_box_of_a_missing_character() {
    let (mut texts, font) = texts();
    for missing in ["\u{7f}", "\u{65e5}", "\u{ac00}"] {
        let quads = |texts: &mut TextSystem, text: &str| {
            let request = request(font, text, 20.0);
            assert!(is_simple(texts, &request), "{text:?} takes the table's way");
            texts.layout(&request).unwrap().len()
        };
        let alone = quads(&mut texts, missing);
        assert_eq!(quads(&mut texts, &format!("{missing}fi")), alone + 1, "{missing:?}");
        assert_eq!(quads(&mut texts, &format!("{missing}ffi")), alone + 1, "{missing:?}");
    }
}

#[test]
fn simple_text_is_shaped_if_kerning_tables_are_insufficient() {
    let files = [
        ("DejaVuSans.ttf", "fonts-dejavu-core"),
        ("Inter-Regular.otf", "fonts-inter"),
        ("NotoSerif-Regular.ttf", "fonts-noto-core"),
    ];
    let (mut texts, _) = texts();
    for (file, package) in files {
        let Some(bytes) = system_font(file, package) else { continue };
        let font = add(&mut texts, file, &bytes, &[]);
        for text in ["Office affluent AVATAR 3x4 -> Tylko", "Łódź ΑΥΤΟ Жизнь ffi"] {
            let request = request(font, text, 20.0);
            let drawn = texts.layout(&request).unwrap().to_vec();
            let (slow, _) = shaped(&mut texts, &request);
            assert_eq!(drawn.len(), slow.len(), "{file}: {text}");
            for (a, b) in drawn.iter().zip(&slow) {
                let near = a.rect.iter().zip(b.rect).all(|(a, b)| (a - b).abs() < 0.01);
                assert!(near, "{file}: {text}: {a:?}, shaped {b:?}");
            }
        }
    }
}

#[test]
fn extents_are_those_of_the_ink_and_the_caret() {
    let (mut texts, font) = texts();
    let x = texts.extents(&request(font, "x", 100.0)).unwrap();
    assert!(x.min[0] > 0.0 && x.min[1].abs() < 2.0 && (50.0..60.0).contains(&x.max[1]), "{x:?}");
    let two = texts.extents(&request(font, "x x", 50.0)).unwrap();
    let space = texts.extents(&request(font, " ", 50.0)).unwrap();
    assert!((two.caret[0] - (x.caret[0] + space.caret[0])).abs() < 0.01);
    assert_eq!((space.min, space.max), ([0.0; 2], [0.0; 2]));
    let empty = texts.extents(&request(font, "", 50.0)).unwrap();
    assert_eq!(empty, TextExtents { lines: 1, ..TextExtents::default() });
    let g = texts.extents(&request(font, "g\ng\n", 10.0)).unwrap();
    let line = texts.metrics(font).line_height * 10.0;
    assert_eq!((g.lines, g.caret), (3, [0.0, -2.0 * line]));
    assert!(g.min[1] < -line - 2.0 && g.max[1] > 4.0);
    let style = TextStyle { outline: 5.0, ..TextStyle::PLAIN };
    let outlined = texts.extents(&TextRequest { style, ..request(font, "x", 100.0) }).unwrap();
    assert_eq!(outlined, x, "a style takes no room");
}

#[test]
fn lines_are_aligned_around_the_point_or_in_the_width() {
    let (mut texts, font) = texts();
    for text in ["one\nlonger", "one\nשלום e\u{301}x"] {
        let extents = |align, max_width, texts: &mut TextSystem| {
            texts.extents(&TextRequest { align, max_width, ..request(font, text, 20.0) }).unwrap()
        };
        let left = extents(TextAlign::Left, 0.0, &mut texts);
        let width = left.max[0];
        let right = extents(TextAlign::Right, 0.0, &mut texts);
        assert!(right.max[0] <= 0.5 && right.min[0] < -width * 0.9, "{text}: {right:?}");
        let center = extents(TextAlign::Center, 0.0, &mut texts);
        assert!((center.max[0] + center.min[0]).abs() < 3.0, "{text}: {center:?}");
        let wide = extents(TextAlign::Right, 300.0, &mut texts);
        assert!((wide.max[0] - 300.0).abs() < 3.0, "{text}: {wide:?}");
    }
}

#[test]
fn wrapped_lines_keep_their_markup() {
    let (mut texts, font) = texts();
    let text = "The {#color(255,0,0)}quick brown{#reset()} fox\njumps";
    let request = TextRequest { max_width: 105.0, ..request(font, text, 20.0) };
    let lines = texts.word_wrap(&request).unwrap().to_vec();
    let lines: Vec<&str> = lines.into_iter().map(|line| &text[line]).collect();
    assert_eq!(lines, ["The {#color(255,0,0)}quick", "brown{#reset()} fox", "jumps"]);
    let extents = texts.extents(&request).unwrap();
    assert!(extents.lines == 3 && extents.max[0] <= 105.0, "{extents:?}");
    let bad = TextRequest { text: b"a\xffb", ..request };
    let message = texts.word_wrap(&bad).unwrap_err().message;
    assert_eq!(message, "the text is not UTF-8: its lines would not be lines of the text");
}

#[test]
fn spans_and_markup_colour_their_letters() {
    let (mut texts, font) = texts();
    let red = [255, 0, 0, 255];
    let spans = [ColorSpan { start: 1, color: Some(red) }, ColorSpan { start: 2, color: None }];
    let colors = |texts: &mut TextSystem, request: &TextRequest| -> Vec<Option<[u8; 4]>> {
        let quads = texts.layout(request).unwrap();
        quads.iter().map(|quad| quad.own_color.then_some(quad.color)).collect()
    };
    let plain = TextRequest { spans: &spans, ..request(font, "abc", 20.0) };
    assert_eq!(colors(&mut texts, &plain), [None, Some(red), None]);
    let complex = TextRequest { spans: &spans, ..request(font, "abe\u{301}", 20.0) };
    assert_eq!(colors(&mut texts, &complex)[..2], [None, Some(red)]);
    let markup = request(font, "a{#color(255,0,0)}b{#reset()}c", 20.0);
    assert_eq!(colors(&mut texts, &markup), [None, Some(red), None]);
    let off = TextRequest { markup: false, ..markup };
    assert!(colors(&mut texts, &off).len() > 20);
}

#[test]
fn style_quads_precede_glyphs_and_extend_to_the_field_edge() {
    let (mut texts, font) = texts();
    let style = TextStyle { outline: 2.0, glow: 1.0, shadow: [3.0, -3.0], ..TextStyle::PLAIN };
    let request = TextRequest { style, ..request(font, "ab", 48.0) };
    let quads = texts.layout(&request).unwrap().to_vec();
    let extras: Vec<[f32; 2]> = quads.iter().map(|quad| quad.extra.map(|e| e.round())).collect();
    let wanted = [[2.0, 0.0], [3.0, 1.0], [2.0, 0.0], [0.0, 0.0]];
    assert_eq!(extras, wanted.map(|extra| [extra, extra]).concat());
    assert!((quads[0].rect[0] - quads[2].rect[0] - 3.0).abs() < 1e-3, "the shadow is moved");
    assert!(quads[..6].iter().all(|quad| quad.own_color) && !quads[6].own_color);
    let wide = TextStyle { outline: 50.0, glow: f32::NAN, ..TextStyle::PLAIN };
    let quads = texts.layout(&TextRequest { style: wide, ..request }).unwrap().to_vec();
    assert!(quads.len() == 4 && (quads[0].extra[0] - 5.5).abs() < 0.01, "{quads:?}");
    assert!(texts.fonts[font.0 as usize].logged.reach);
}

#[test]
fn glyphs_are_rasterized_once_in_their_first_frame() {
    let (mut texts, font) = texts();
    let mut atlas = TestAtlas::default();
    texts.layout(&request(font, "abba", 20.0)).unwrap();
    assert_eq!(flush(&mut texts, &mut atlas), 2);
    texts.layout(&request(font, "abba", 33.0)).unwrap();
    assert_eq!(flush(&mut texts, &mut atlas), 0);
    texts.send_again();
    assert_eq!(flush(&mut texts, &mut atlas), 2);
    texts.prewarm(font, &('А'..='я').collect::<String>());
    assert_eq!(flush(&mut texts, &mut atlas), PREWARMED_PER_FRAME);
    assert_eq!(flush(&mut texts, &mut atlas), 32);
    assert_eq!(flush(&mut texts, &mut atlas), 0);
}

#[test]
fn distance_fields_do_not_depend_on_the_thread_count() {
    let bytes = |threads: usize| {
        let (mut texts, font) = texts();
        texts.layout(&request(font, "The quick brown fox & 0123456789", 20.0)).unwrap();
        let mut changes = Vec::new();
        texts.flush(&TaskPool::new(Some(threads)), &mut changes).unwrap();
        format!("{changes:?}")
    };
    assert_eq!(bytes(1), bytes(4));
}

#[test]
fn a_full_atlas_evicts_only_unused_glyphs() {
    let (mut texts, font) = texts();
    texts.glyphs = GlyphRegistry::of_layers(2);
    let mut atlas = TestAtlas::default();
    let kept = TextRequest { is_retained: true, ..request(font, "Kept", 20.0) };
    let before = texts.layout(&kept).unwrap().to_vec();
    flush(&mut texts, &mut atlas);
    let letters = ('\u{c0}'..'\u{24f}').chain('\u{400}'..'\u{482}').chain('\u{1e00}'..'\u{1eff}');
    let letters: Vec<char> = letters.collect();
    for part in letters.chunks(40) {
        let text: String = part.iter().collect();
        let quads = texts.layout(&request(font, &text, 20.0)).unwrap().len();
        assert_eq!(quads, part.len(), "{text}");
        flush(&mut texts, &mut atlas);
    }
    assert!(texts.glyphs.version > 0, "something had to go");
    assert_eq!(texts.layout(&kept).unwrap(), before);
    // One frame needs more glyphs than the atlas can hold: glyphs without a slot are not shown, and
    // nothing fails.
    let all: String = letters.iter().collect();
    let shown = texts.layout(&request(font, &all, 20.0)).unwrap().len();
    assert!(shown > 100 && shown < letters.len(), "{shown}");
    flush(&mut texts, &mut atlas);
    assert_eq!(texts.layout(&request(font, "Kept", 20.0)).unwrap(), before);
}

#[test]
fn every_letter_is_on_exactly_one_line_at_any_width() {
    let (mut texts, font) = texts();
    let text = "one \u{5d0}\u{5d1}\u{5d2} two (\u{5d3}) 34\n\nfour\u{5d4}\u{301}five \u{202e}six";
    let mut count = |max_width: f32| {
        texts.layout(&TextRequest { max_width, ..request(font, text, 20.0) }).unwrap().len()
    };
    let all = count(10_000.0);
    assert!(all > 20, "{all}");
    for width in [1.0, 15.0, 40.0, 60.0, 100.0, 200.0] {
        assert_eq!(count(width), all, "{width}");
    }
}

#[test]
fn shaped_text_is_cached_while_used() {
    let (mut texts, font) = texts();
    let wrapped = TextRequest { max_width: 60.0, ..request(font, "kept while used", 20.0) };
    let first = texts.layout(&wrapped).unwrap().to_vec();
    assert_eq!(texts.layout(&wrapped).unwrap(), first);
    assert_eq!(texts.cache.len(), 1);
    for _ in 0..layout_cache::FRAMES_KEPT + 20 {
        texts.end_frame();
    }
    assert_eq!(texts.cache.len(), 0);
    assert_eq!(texts.layout(&wrapped).unwrap(), first);
    texts.layout(&request(font, "simple", 20.0)).unwrap();
    assert_eq!(texts.cache.len(), 1, "simple text is not");
}

#[test]
fn invalid_text_and_missing_characters_are_reported_once() {
    let (mut texts, font) = texts();
    let quads =
        texts.layout(&TextRequest { text: b"a\xff\xc0b", ..request(font, "", 20.0) }).unwrap();
    assert_eq!(quads.len(), 4, "two letters, and two marks for what is no text");
    assert!(texts.fonts[font.0 as usize].logged.bad_text);
    let boxes = texts.layout(&request(font, "日本", 20.0)).unwrap().to_vec();
    assert_eq!((boxes.len(), boxes[0].uv), (2, boxes[1].uv), "the same box");
    assert!(boxes[0].rect[2] - boxes[0].rect[0] > 8.0);
    assert_eq!(texts.fonts[font.0 as usize].logged.missing.len(), 2);
    assert!(!texts.has_all_glyphs(font, "日".as_bytes()));
    assert!(texts.has_all_glyphs(font, "Äx\n€".as_bytes()));
    assert!(!texts.has_all_glyphs(font, b"\xff"));
    for odd in ["\0", "\u{1b}[0m", "\u{ffff}", "\u{10ffff}", "\u{202e}abc", "\u{200d}\u{301}"] {
        texts.layout(&request(font, odd, 20.0)).unwrap();
    }
    let tab = texts.extents(&request(font, "\tx", 20.0)).unwrap();
    let space = texts.extents(&request(font, " ", 20.0)).unwrap();
    assert!(tab.min[0] >= space.caret[0] * 4.0 && tab.lines == 1);
}

#[test]
fn sizes_and_lengths_beyond_the_limits_are_refused() {
    let (mut texts, font) = texts();
    for size in [f32::NAN, 0.0, -1.0, f32::INFINITY, 4097.0] {
        let message = texts.layout(&request(font, "x", size)).unwrap_err().message;
        let wanted =
            format!("the size of text must be above 0 and at most 4096 (SIZE_MAX), got {size}");
        assert_eq!(message, wanted);
    }
    let long = "x".repeat(1 << 20);
    let message = texts.extents(&request(font, &long, 20.0)).unwrap_err().message;
    assert_eq!(
        message,
        "a text of 1048576 bytes is longer than 65536 (TEXT_BYTES_MAX): draw what can be seen of it"
    );
    let most = "e\u{301} \u{5d0}".repeat(TEXT_BYTES_MAX / 6);
    let odd = TextRequest { max_width: 100.0, ..request(font, &most, 20.0) };
    assert!(texts.extents(&odd).unwrap().lines > 1000);
    let tiny = texts.layout(&request(font, "x", 1e-30)).unwrap().to_vec();
    assert!(tiny.iter().all(|quad| quad.rect.iter().all(|length| length.is_finite())));
}

#[test]
fn right_to_left_text_is_reordered_and_joined() {
    let Some((mut texts, font)) = world_texts() else { return };
    let quads = texts.layout(&request(font, "اب", 100.0)).unwrap().to_vec();
    // Alef, the first letter, is to the right of beh.
    assert!(quads.len() >= 2 && texts.extents(&request(font, "اب", 100.0)).unwrap().caret[0] < 1.0);
    let width = |texts: &mut TextSystem, text: &str| {
        let extents = texts.extents(&request(font, text, 100.0)).unwrap();
        extents.max[0] - extents.min[0]
    };
    let (joined, single) = (width(&mut texts, "ببب"), width(&mut texts, "ب"));
    assert!(joined < single * 2.6, "{joined} of three joined, {single} alone");
    // A number in Arabic text keeps its order: 1 is to the left of 2.
    let line = texts.layout(&request(font, "ا 12 ا", 100.0)).unwrap().to_vec();
    let one = texts.layout(&request(font, "1", 100.0)).unwrap()[0];
    let two = texts.layout(&request(font, "2", 100.0)).unwrap()[0];
    let position_of = |digit: GlyphQuad| line.iter().position(|quad| quad.uv == digit.uv).unwrap();
    assert!(position_of(one) < position_of(two));
}

#[test]
fn fallback_fonts_are_searched_in_order() {
    let Some((mut texts, font)) = world_texts() else { return };
    assert!(texts.has_all_glyphs(font, "abc नमस्ते مرحبا 日本語".as_bytes()));
    assert!(texts.fonts[font.0 as usize].logged.missing.is_empty());
    texts.layout(&request(font, "a日b本", 20.0)).unwrap();
    assert!(texts.fonts[font.0 as usize].logged.missing.is_empty());
    assert!(is_simple(&mut texts, &request(font, "a日b本", 20.0)));
}

#[test]
fn retained_and_immediate_text_have_equal_quads() {
    // Immediate text is laid out in runs of ASCII, retained text letter by letter.
    let (mut texts, font) = texts();
    let long = "The caravan 17 left the harbour on day 4 with salt, wool and oil. ".repeat(3);
    for text in ["", "AVATAR", "office fi\tx\r\nnext", "Łódź: office Ωμ fi", &long, "a\u{7f}b\n\n"]
    {
        let request = request(font, text, 20.0);
        // The first layout fills the tables.
        texts.layout(&request).unwrap();
        let immediate = texts.layout(&request).unwrap().to_vec();
        let retained = TextRequest { is_retained: true, ..request };
        assert_eq!(texts.layout(&retained).unwrap(), immediate, "{text:?}");
    }
}
