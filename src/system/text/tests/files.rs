//! Tests of font files: their settings, rejected files, and damaged files.

use super::super::bitmap_font::BitmapFont;
use super::super::resource::FONT;
use super::*;
use engine_foundation::random::Random;
use engine_frame_packet::gui::paint;
use engine_frame_packet::text::TextStyle;
use engine_resource::reload_steps::ChangedResources;
use engine_resource::resource_kind::{CompileContext, ResourceKinds, SourceForm};
use engine_test_support::bmfont::binary_font;

/// Compiles a file of a game that contains the other files.
fn compile(
    path: &str,
    bytes: &[u8],
    other_files: &[(&str, &[u8])],
) -> Result<(Vec<u8>, Vec<String>), String> {
    let read = |wanted: &str| {
        let found = other_files.iter().find(|(path, _)| *path == wanted);
        found.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| error!("there is no file {wanted}"))
    };
    let own = path.ends_with(".font");
    let form = if own { SourceForm::Own } else { SourceForm::Raw };
    let name = ResourceName::new("font", path.rsplit_once('.').unwrap().0);
    let mut compiling =
        CompileContext::new(name, path.to_string(), form, bytes.to_vec(), false, &read);
    // The data compiler does the same with a raw file next to a file in the engine's own format.
    compiling.files = other_files.iter().map(|(path, _)| path.to_string()).take(1).collect();
    let data = (FONT.compile)(&mut compiling).map_err(|error| error.message)?;
    Ok((data, compiling.references.iter().map(ResourceName::to_string).collect()))
}

#[track_caller]
fn check_refused(path: &str, bytes: &[u8], other_files: &[(&str, &[u8])], message: &str) {
    assert_eq!(compile(path, bytes, other_files).unwrap_err(), message);
}

pub(super) fn default_font() -> &'static [u8] {
    built_in_fonts::find(DEFAULT_FONT).unwrap()
}

const TEXT: &str = r#"info face="My Font" size=32 bold=0 padding=2,2,2,2 spacing=1,1
common lineHeight=40 base=30 scaleW=256 scaleH=128 pages=1 packed=0
page id=0 file="my_0.png"
chars count=2
char id=65   x=10 y=20 width=24 height=34 xoffset=-1 yoffset=2 xadvance=20 page=0 chnl=15
char id=86   x=40 y=20 width=24 height=34 xoffset=0 yoffset=2 xadvance=21 page=0 chnl=15
kernings count=1
kerning first=65 second=86 amount=-3
"#;

const XML: &str = r#"<?xml version='1.0'?>
<!-- a comment with <char> in it -->
<font>
  <info face="My Font" size="32" bold="0" padding="2,2,2,2" spacing="1,1"/>
  <common lineHeight="40" base="30" scaleW="256" scaleH="128" pages="1" packed="0"/>
  <pages><page id="0" file="my_0.png"/></pages>
  <chars count="2">
    <char id="65" x="10" y="20" width="24" height="34" xoffset="-1" yoffset="2"
      xadvance="20" page="0" chnl="15"/>
    <char id="86" x="40" y="20" width="24" height="34" xoffset="0" yoffset="2" xadvance="21"
      page="0" chnl="15"></char>
  </chars>
  <kernings count="1"><kerning first="65" second="86" amount="-3"/></kernings>
</font>"#;

#[test]
fn the_three_formats_of_a_page_font_are_equivalent() {
    let text = bmfont::read(TEXT.as_bytes(), "my.fnt").unwrap();
    assert_eq!((text.face.as_str(), text.size, text.pages.len()), ("My Font", 32.0, 1));
    assert_eq!((text.glyphs.len(), text.kernings.len()), (2, 1));
    let xml = bmfont::read(XML.as_bytes(), "my.fnt").unwrap();
    assert_eq!(xml, text);
    let bare = |font: BitmapFont| BitmapFont { about: Vec::new(), channels: Vec::new(), ..font };
    assert_eq!(bare(bmfont::read(&binary_font(), "my.fnt").unwrap()), bare(text));
    assert_eq!(bmfont::read(xml.to_xml().as_bytes(), "again.fnt").unwrap(), xml);
}

fn page_texts(settings: &str, fnt: &str) -> (TextSystem, FontNumber) {
    let other_files = [("fonts/my.fnt", fnt.as_bytes())];
    let (data, references) = compile("fonts/my.font", settings.as_bytes(), &other_files).unwrap();
    assert_eq!(references, ["fonts/my_0.texture"]);
    let (mut texts, _) = texts();
    let resource::FontBody::Pages(font) = FontData::from_bytes(&data).unwrap().body else {
        panic!()
    };
    let first_page = texts.glyphs.add_pages(&font);
    let body = GlyphSource::Pages(Box::new(BitmapPages::new(font, first_page)));
    let font = add_body(&mut texts, "fonts/my", body, &[]);
    (texts, font)
}

#[test]
fn page_fonts_are_laid_out_by_their_metrics() {
    let (mut texts, font) = page_texts("", TEXT);
    let quads = texts.layout(&request(font, "AV", 64.0)).unwrap().to_vec();
    // At twice the size: relative to the baseline, which is 30 below the top.
    assert_eq!(quads[0].rect, [-2.0, -12.0, 46.0, 56.0]);
    assert_eq!(quads[1].rect[0], 34.0, "20 on, 3 back");
    let uv = [10.0 / 256.0, 54.0 / 128.0, 34.0 / 256.0, 20.0 / 128.0];
    assert_eq!((quads[0].uv, quads[0].page), (uv, PageNumber(1)));
    assert_eq!(quads[0].paint & 15, paint::TEXTURE);
    assert_eq!(texts.page(PageNumber(1)).texture, "fonts/my_0");
    assert_eq!(texts.metrics(font).line_height, 1.25);
    let style = TextStyle { outline: 1.0, ..TextStyle::PLAIN };
    let styled = TextRequest { style, ..request(font, "AV", 64.0) };
    assert_eq!(texts.layout(&styled).unwrap().len(), 2, "pictures have no outline");
    let wrapped = TextRequest { max_width: 30.0, ..request(font, "A A", 32.0) };
    assert_eq!(texts.extents(&wrapped).unwrap().lines, 2);
}

#[test]
fn pages_with_distance_fields_are_drawn_on_demand() {
    let (mut texts, font) = page_texts("spread = 2", TEXT);
    let quad = texts.layout(&request(font, "A", 32.0)).unwrap()[0];
    assert_eq!(quad.paint & 15, paint::TEXTURE_FIELD);
    assert_eq!(quad.paint >> 5 & 2047, 16, "the spread in eighths");
    assert_eq!(quad.rect, [0.25, -4.75, 21.75, 26.75], "the ink and three quarters around it");
    let extents = texts.extents(&request(font, "A", 32.0)).unwrap();
    assert_eq!((extents.min, extents.max), ([1.0, -4.0], [21.0, 26.0]));
}

#[test]
fn errors_of_bitmap_fonts_are_reported_with_their_line() {
    #[track_caller]
    fn check(from: &str, to: &str, message: &str) {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        check_refused("a.fnt", text.as_bytes(), &[], message);
    }
    check("x=40", "x=much", "a.fnt:6: x must be a number, got 'much'");
    check(
        "xadvance=21 ",
        "",
        "a.fnt:6: 'char' has no xadvance: the file is damaged, export it again",
    );
    check("id=86 ", "id=V ", "a.fnt:6: id of 'char' must be a whole number, got 'V'");
    check("x=40", "x=240", "a.fnt: glyph 86 lies outside of its page: export the font again");
    check("x=40", "x=NaN", "a.fnt:6: x must be a number, got 'NaN'");
    check(
        "page=0 chnl=15\nchar",
        "page=3 chnl=15\nchar",
        "a.fnt: glyph 65 is on page 3, and there are 1",
    );
    check(
        "scaleW=256",
        "scaleW=0",
        "a.fnt: size, lineHeight, scaleW and scaleH must be above 0 and at most 65536: export the \
         font again",
    );
    check("\"my_0.png\"", "\"my_0.png", "a.fnt:3: a quote is not closed after file=");
    check(
        "packed=0",
        "packed=1",
        "a.fnt:2: the glyphs are packed into single channels: export the font without packing",
    );
    check(
        "padding=2,2,2,2",
        "padding=2,inf,2,1e39",
        "a.fnt:1: padding must be 4 numbers with commas, got '2,inf,2,1e39'",
    );
}

#[test]
fn damaged_page_fonts_are_refused() {
    // Without a limit, each '&' without a ';' would search through all following text.
    let entities = XML.replace("My Font", &"&".repeat(4 << 20));
    assert!(compile("a.fnt", entities.as_bytes(), &[]).is_ok());
    check_refused(
        "a.fnt",
        b"",
        &[],
        "a.fnt: size, lineHeight, scaleW and scaleH must be above 0 and at most 65536: export the \
         font again",
    );
    check_refused(
        "a.fnt",
        b"info\n\xff",
        &[],
        "a.fnt:2: the file is not UTF-8: save it as UTF-8 text",
    );
    check_refused(
        "a.fnt",
        b"<font>\n<info",
        &[],
        "a.fnt:2: the element is not closed: the file is cut short",
    );
    check_refused(
        "a.fnt",
        b"BMF\x02",
        &[],
        "a.fnt: the binary format has version 2, and only 3 can be read: export again",
    );
    let msdf =
        XML.replace("</font>", "<distanceField fieldType=\"msdf\" distanceRange=\"4\"/></font>");
    check_refused(
        "a.fnt",
        msdf.as_bytes(),
        &[],
        "a.fnt:14: fieldType is 'msdf', and only 'sdf' can be read from pages: export the font as \
         sdf",
    );
}

#[test]
fn font_files_describe_their_sources() {
    let other_files = [("fonts/a.ttf", default_font())];
    let text = "fallback = [\"fonts/b\" \"core/fonts/default\"]\nprewarm = \"abc\"";
    let (data, references) = compile("fonts/a.font", text.as_bytes(), &other_files).unwrap();
    assert_eq!(references, ["fonts/b.font"], "the engine's own font is no resource of the game");
    let compiled = FontData::from_bytes(&data).unwrap();
    assert_eq!(compiled.fallback, ["fonts/b", "core/fonts/default"]);
    assert_eq!(compiled.prewarm, "abc");
    let resource::FontBody::Outlines { file, face: 0 } = compiled.body else { panic!() };
    assert!(&data[file] == default_font());
    let (raw, _) = compile("fonts/a.ttf", default_font(), &[]).unwrap();
    assert!(FontData::from_bytes(&raw).unwrap().fallback.is_empty());
    for cut in [0, 10, 30, raw.len() / 2, raw.len() - 1] {
        assert!(FontData::from_bytes(&raw[..cut]).is_err());
    }
}

#[test]
fn errors_of_font_files_are_reported() {
    let other_files = [("a.ttf", default_font())];
    let check =
        |text: &str, message: &str| check_refused("a.font", text.as_bytes(), &other_files, message);
    check("falback = []", "a.font:1: a font has no 'falback', did you mean 'fallback'?");
    check(
        "\nprewarm = 3",
        "a.font:2: prewarm must be text: the characters that are created in advance",
    );
    check("face = -1", "a.font:1: face must be a whole number from 0: the font of a .ttc to use");
    check("face = 2", "a.ttf: the file has 1 fonts, and face 2 is requested");
    check("source = \"b.ttf\"", "there is no file b.ttf");
    check(
        "source = 4",
        "a.font:1: source must be the path of a font file: source = \"fonts/name.ttf\"",
    );
    let must = "a.font:1: fallback must be a list of names of fonts: fallback = [\"fonts/name\"]";
    check("fallback = \"b\"", must);
    check("fallback = [1]", must);
    let many = format!("fallback = [{}]", "\"b\" ".repeat(17));
    check(&many, "a.font:1: 17 fallback fonts are more than 16 (FALLBACKS_MAX): name fewer");
    let many = format!("prewarm = \"{}\"", "x".repeat(8193));
    check(&many, "a.font:1: prewarm has 8193 characters, more than 8192 (PREWARM_MAX): list fewer");
    check_refused(
        "a.font",
        b"",
        &[],
        "a.font: the file names no source, and no .ttf, .otf, .ttc or .fnt is next to it: add \
         source = \"fonts/name.ttf\"",
    );
}

/// Returns the byte range of a table of a font.
fn table(font: &[u8], tag: &[u8; 4]) -> Range<usize> {
    let count = u16::from_be_bytes([font[4], font[5]]) as usize;
    let number = |at: usize| u32::from_be_bytes(font[at..at + 4].try_into().unwrap()) as usize;
    let record = (0..count).map(|i| 12 + 16 * i).find(|at| font[*at..*at + 4] == *tag).unwrap();
    number(record + 8)..number(record + 8) + number(record + 12)
}

#[test]
fn fonts_without_required_tables_are_refused() {
    let without = |tag: &[u8; 4]| {
        let mut font = default_font().to_vec();
        let at = font.windows(4).position(|bytes| bytes == tag).unwrap();
        font[at..at + 4].copy_from_slice(b"XXXX");
        font
    };
    check_refused(
        "a.ttf",
        &without(b"cmap"),
        &[],
        "a.ttf: the font does not say which characters it has (no Unicode table cmap): export it \
         again",
    );
    check_refused(
        "a.ttf",
        &without(b"glyf"),
        &[],
        "a.ttf: the font has no outlines (no table glyf, CFF or CFF2): fonts with only bitmaps \
         cannot be used; convert it to a .fnt",
    );
    for bytes in [&b""[..], b"hello", &default_font()[..40], &[0; 1000]] {
        let message = compile("a.ttf", bytes, &[]).unwrap_err();
        assert!(message.starts_with("a.ttf: the font cannot be read ("), "{message}");
        assert!(message.ends_with("): it is damaged, or not a .ttf or .otf file"), "{message}");
    }
}

#[test]
fn damaged_tables_never_panic() {
    let mut random = Random::seed(7);
    let tags = [b"glyf", b"loca", b"cmap", b"GSUB", b"GPOS", b"hmtx", b"GDEF", b"head", b"maxp"];
    let mut opened = 0;
    for turn in 0..90 {
        let mut bytes = default_font().to_vec();
        let range = table(&bytes, tags[turn % tags.len()]);
        for _ in 0..1 + turn * 3 {
            let at = range.start + (random.next_u64() as usize) % range.len();
            bytes[at] = random.next_u64() as u8;
        }
        let data = FontBytes::Part(bytes.clone().into(), 0..bytes.len());
        let Ok(face) = FontFace::open(Arc::new(data), 0) else { continue };
        opened += 1;
        let (mut texts, _) = texts();
        let font = add_body(&mut texts, "damaged", GlyphSource::Outlines(face), &[]);
        for text in ["Office AVAST 0123 éÖß", "e\u{301}o\u{308} שלום", "Ελλ Жизнь ffi"]
        {
            let quads = texts.layout(&request(font, text, 20.0)).unwrap();
            assert!(quads.len() < 1000);
            assert!(quads.iter().all(|quad| quad.rect.iter().all(|length| length.is_finite())));
        }
        flush(&mut texts, &mut TestAtlas::default());
    }
    assert!(opened > 40, "{opened} opened");
}

#[test]
fn unknown_fonts_and_cycles_are_reported() {
    let mut texts = TextSystem::new();
    static KINDS: ResourceKinds = ResourceKinds(&[&FONT]);
    let mut store = ResourceStore::empty(KINDS);
    let error = texts.find(&mut store, "fonts/none").unwrap_err();
    assert_eq!(error.contexts, ["When loading font: fonts/none"]);
    assert_eq!(
        error.message,
        "there is no font 'fonts/none' (its file would end in .font, .ttf, .otf, .ttc or .fnt, and \
         its name has no ending); the engine's own font is 'core/fonts/default'"
    );
    let mut above = vec!["a".to_string(), "b".to_string()];
    let error = texts.load(&mut ResourceStore::default(), "a", &mut above).unwrap_err();
    assert_eq!(error.message, "fonts fall back to each other in a circle: a → b → a: take one out");
    let mut above: Vec<String> = (0..FALLBACK_MAX).map(|number| format!("f{number}")).collect();
    let error = texts.load(&mut ResourceStore::default(), "last", &mut above).unwrap_err();
    let message = "fonts fall back to each other more than 16 deep: f0 → f1 → ";
    assert!(error.message.starts_with(message), "{error}");
    assert!(error.message.ends_with(" → last: list them all in the first one"), "{error}");
    let first = texts.find(&mut ResourceStore::default(), DEFAULT_FONT).unwrap();
    assert_eq!(texts.find(&mut ResourceStore::default(), DEFAULT_FONT).unwrap(), first);
    // The first one is the fallback font of the default font.
    assert_eq!((texts.number(1), texts.number(2)), (Some(first), None));
}

#[test]
fn a_reloaded_font_keeps_its_id_and_updates_its_glyphs() {
    let (mut texts, font) = texts();
    let mut atlas = TestAtlas::default();
    texts.layout(&request(font, "ab", 20.0)).unwrap();
    flush(&mut texts, &mut atlas);
    let changed = [ResourceName::new("font", DEFAULT_FONT)];
    const KINDS: ResourceKinds = ResourceKinds(&[&FONT]);
    let changed = ChangedResources::new(&changed, KINDS);
    texts.reload(&mut ResourceStore::default(), &changed);
    assert_eq!(texts.find(&mut ResourceStore::default(), DEFAULT_FONT).unwrap(), font);
    assert_eq!(texts.layout(&request(font, "ab", 20.0)).unwrap().len(), 2);
    assert_eq!(flush(&mut texts, &mut atlas), 2, "they are created again");
}
