//! The text system as a whole: what tests of it share. Pictures, layout and files are tested in a
//! file each.

mod costly;
mod files;
mod layout;
mod pictures;

pub use files::binary as page_font;

use super::painter::Atlas;
use super::*;
use std::io::Write;

const WHITE: [u8; 4] = [255; 4];
/// Where Debian's packages put fonts.
const SYSTEM_FONTS: &str = "/usr/share/fonts";

/// The text system with the engine's own font.
fn texts() -> (Texts, FontNumber) {
    let mut texts = Texts::new();
    let font = texts.find(&mut Store::default(), DEFAULT_FONT).unwrap();
    (texts, font)
}

fn request(font: FontNumber, text: &str, size: f32) -> Request<'_> {
    Request { font, text: text.as_bytes(), size, ..Request::DEFAULT }
}

/// Adds a font file as it is, with fonts that it falls back to.
fn add(texts: &mut Texts, name: &str, bytes: &[u8], fallback: &[FontNumber]) -> FontNumber {
    let data = Data::Part(bytes.to_vec().into(), 0..bytes.len());
    let body = Body::Outlines(Face::open(Arc::new(data), 0).unwrap());
    add_body(texts, name, body, fallback)
}

fn add_body(texts: &mut Texts, name: &str, body: Body, fallback: &[FontNumber]) -> FontNumber {
    let number = FontNumber(texts.fonts.len() as u32);
    let fallback = fallback.iter().map(|font| font.0).collect();
    texts.fonts.push(Font::new(name, body, fallback));
    texts.numbers.insert(name.to_string(), number);
    font::order_all(&mut texts.fonts);
    number
}

/// A font of the system, or one loud line.
fn system_font(file: &str, package: &str) -> Option<Vec<u8>> {
    let folders = ["truetype/noto", "opentype/noto", "truetype/dejavu", "opentype/inter"];
    let found = folders
        .iter()
        .find_map(|folder| std::fs::read(format!("{SYSTEM_FONTS}/{folder}/{file}")).ok());
    if found.is_none() {
        let words = format!("SKIPPED: no {file} (to install it: apt-get install {package})");
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{words}");
        writeln!(std::io::stderr(), "{words}").expect("stderr can be written to");
    }
    found
}

fn flush(texts: &mut Texts, atlas: &mut Atlas) -> usize {
    let mut changes = Vec::new();
    texts.flush(&Pool::new(Some(1)), &mut changes).unwrap();
    atlas.take(&changes)
}

const ARABIC: (&str, &str) = ("NotoSansArabic-Regular.ttf", "fonts-noto-core");
const DEVANAGARI: (&str, &str) = ("NotoSansDevanagari-Regular.ttf", "fonts-noto-core");
const JAPANESE: (&str, &str) = ("NotoSansCJK-Regular.ttc", "fonts-noto-cjk");

/// The engine's own font, with fallback fonts for scripts that it lacks.
fn world_texts() -> Option<(Texts, FontNumber)> {
    let files = [ARABIC, DEVANAGARI, JAPANESE].map(|(file, package)| system_font(file, package));
    let [Some(arabic), Some(devanagari), Some(japanese)] = files else { return None };
    let (mut texts, _) = texts();
    let a = add(&mut texts, "fonts/arabic", &arabic, &[]);
    let d = add(&mut texts, "fonts/devanagari", &devanagari, &[]);
    let j = add(&mut texts, "fonts/japanese", &japanese, &[]);
    let latin = core_fonts::find(DEFAULT_FONT).unwrap();
    let font = add(&mut texts, "fonts/world", latin, &[a, d, j]);
    Some((texts, font))
}
