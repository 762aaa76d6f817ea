//! Shared fixtures for the tests of the whole text system. Pictures, layout and files have a test
//! file each.

mod costly;
mod files;
mod layout;
mod rendering;

use super::test_rasterizer::TestAtlas;
use super::*;
use std::io::Write;

const WHITE: [u8; 4] = [255; 4];
/// Folder in which Debian's packages install fonts.
const SYSTEM_FONTS: &str = "/usr/share/fonts";

/// Returns a text system with the engine's default font.
fn texts() -> (TextSystem, FontNumber) {
    let mut texts = TextSystem::new();
    let font = texts.find(&mut ResourceStore::default(), DEFAULT_FONT).unwrap();
    (texts, font)
}

fn request(font: FontNumber, text: &str, size: f32) -> TextRequest<'_> {
    TextRequest { font, text: text.as_bytes(), size, ..TextRequest::DEFAULT }
}

/// Adds an unmodified font file with its fallback fonts.
fn add(texts: &mut TextSystem, name: &str, bytes: &[u8], fallback: &[FontNumber]) -> FontNumber {
    let data = FontBytes::Part(bytes.to_vec().into(), 0..bytes.len());
    let body = GlyphSource::Outlines(FontFace::open(Arc::new(data), 0).unwrap());
    add_body(texts, name, body, fallback)
}

fn add_body(
    texts: &mut TextSystem,
    name: &str,
    body: GlyphSource,
    fallback: &[FontNumber],
) -> FontNumber {
    let number = FontNumber(texts.fonts.len() as u32);
    let fallback = fallback.iter().map(|font| font.0).collect();
    texts.fonts.push(Font::new(name, body, fallback));
    texts.numbers.insert(name.to_string(), number);
    font::compute_fallback_orders(&mut texts.fonts);
    number
}

/// Returns a font of the operating system. If the font is not installed, reports the skipped test
/// on stderr and returns `None`; panics if ENGINE_TEST_REQUIRE_ALL is 1.
fn system_font(file: &str, package: &str) -> Option<Vec<u8>> {
    let folders = ["truetype/noto", "opentype/noto", "truetype/dejavu", "opentype/inter"];
    let found = folders
        .iter()
        .find_map(|folder| std::fs::read(format!("{SYSTEM_FONTS}/{folder}/{file}")).ok());
    if found.is_none() {
        let message = format!("SKIPPED: no {file} (to install it: apt-get install {package})");
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{message}");
        writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
    }
    found
}

fn flush(texts: &mut TextSystem, atlas: &mut TestAtlas) -> usize {
    let mut changes = Vec::new();
    texts.flush(&TaskPool::new(Some(1)), &mut changes).unwrap();
    atlas.take(&changes)
}

const ARABIC: (&str, &str) = ("NotoSansArabic-Regular.ttf", "fonts-noto-core");
const DEVANAGARI: (&str, &str) = ("NotoSansDevanagari-Regular.ttf", "fonts-noto-core");
const JAPANESE: (&str, &str) = ("NotoSansCJK-Regular.ttc", "fonts-noto-cjk");

/// Returns a text system with the default font and fallback fonts for scripts that it lacks.
fn world_texts() -> Option<(TextSystem, FontNumber)> {
    let files = [ARABIC, DEVANAGARI, JAPANESE].map(|(file, package)| system_font(file, package));
    let [Some(arabic), Some(devanagari), Some(japanese)] = files else { return None };
    let (mut texts, _) = texts();
    let a = add(&mut texts, "fonts/arabic", &arabic, &[]);
    let d = add(&mut texts, "fonts/devanagari", &devanagari, &[]);
    let j = add(&mut texts, "fonts/japanese", &japanese, &[]);
    let latin = built_in_fonts::find(DEFAULT_FONT).unwrap();
    let font = add(&mut texts, "fonts/world", latin, &[a, d, j]);
    Some((texts, font))
}
