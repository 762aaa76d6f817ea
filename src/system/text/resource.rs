//! The resource kind `font`: the settings in its files, and its compiled form. Raw files are
//! accepted as they are: .ttf, .otf and .ttc with outlines, .fnt with pages. A .font file, the
//! engine's own format, adds fallback fonts and prewarmed characters.

use super::bitmap_font::{
    BitmapFont, BitmapGlyph, GLYPHS_MAX, KERNINGS_MAX, KerningPair, PAGES_MAX,
};
use super::bmfont;
use super::font_face::{self, FontBytes, FontFace};
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonValue};
use engine_foundation::{Error, suggest};
use engine_resource::bundle::SharedBytes;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{CompileContext, ResourceKind, SourceForm, compiler};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of bytes of a font file.
pub const FILE_BYTES_MAX: usize = 64 << 20;
/// Maximum number of fallback fonts that one font names.
pub const FALLBACKS_MAX: usize = 16;
/// Maximum number of prewarmed characters.
pub const PREWARM_MAX: usize = 8192;

const MAGIC: [u8; 4] = *b"FONT";
const VERSION: u32 = 1;
const KEYS: [&str; 5] = ["source", "face", "fallback", "prewarm", "spread"];
const EXTENSIONS: [&str; 4] = ["ttf", "otf", "ttc", "fnt"];

/// The entry of fonts in the table of resource kinds.
pub static FONT: ResourceKind = ResourceKind {
    name: "font",
    doc: "A font: outlines or pages of letters, and its fallback fonts",
    extensions: &[
        ("font", SourceForm::Own),
        ("ttf", SourceForm::Raw),
        ("otf", SourceForm::Raw),
        ("ttc", SourceForm::Raw),
        ("fnt", SourceForm::Raw),
    ],
    version: VERSION,
    framed: true,
    reload: &[ReloadStep::Fonts],
    compile: compiler(compile),
    validate: |bytes| {
        let compiled = FontData::from_bytes(bytes)?;
        match compiled.body {
            FontBody::Outlines { file, face } => font_face::parse(&bytes[file], face).map(drop),
            FontBody::Pages(_) => Ok(()),
        }
    },
};

/// A font as compiled data.
#[derive(Debug)]
pub struct FontData {
    /// Resource names of the fallback fonts, in search order.
    pub fallback: Vec<String>,
    /// Characters whose glyphs are generated before they are shown.
    pub prewarm: String,
    pub body: FontBody,
}

/// Source of a font's glyphs.
#[derive(Debug)]
pub enum FontBody {
    /// A font file: its byte range in the compiled data, and the index of its face.
    Outlines {
        file: Range<usize>,
        face: u32,
    },
    Pages(BitmapFont),
}

/// Settings read from a .font file.
#[derive(Default)]
struct FontSettings {
    source: Option<String>,
    face: u32,
    fallback: Vec<String>,
    prewarm: String,
    spread: Option<f32>,
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let own = compiling.form == SourceForm::Own;
    let settings = if own { settings(compiling)? } else { FontSettings::default() };
    let (path, bytes) = if own {
        let path = settings.source.clone().or_else(|| raw_font_path(compiling)).ok_or_else(|| {
            error!(
                "{}: the file names no source, and no .ttf, .otf, .ttc or .fnt is next to it: add \
                 source = \"fonts/name.ttf\"",
                compiling.path
            )
        })?;
        let bytes = compiling.read(&path)?;
        (path, bytes)
    } else {
        (compiling.path.clone(), std::mem::take(&mut compiling.bytes))
    };
    if bytes.len() > FILE_BYTES_MAX {
        return Err(error!(
            "{path}: the file has {} MiB, more than {} (FILE_BYTES_MAX): take out characters that \
             the game does not use",
            bytes.len() >> 20,
            FILE_BYTES_MAX >> 20
        ));
    }
    for name in &settings.fallback {
        if super::built_in_fonts::find(name).is_none() {
            compiling.refer("font", name);
        }
    }
    let mut writer = BlobWriter::default();
    writer.list(&settings.fallback, |writer, name| writer.text(name));
    writer.text(&settings.prewarm);
    if path.to_ascii_lowercase().ends_with(".fnt") {
        let font = read_pages(&bytes, &path, &settings)?;
        for file in &font.pages {
            compiling.refer("texture", file);
        }
        writer.u8(1);
        write_pages(&mut writer, &font);
    } else {
        check_outlines(&bytes, &path, settings.face)?;
        writer.u8(0);
        writer.u32(settings.face);
        writer.bytes(&bytes);
    }
    Ok(writer.into_frame(MAGIC, VERSION))
}

/// Returns the raw font next to a .font file.
fn raw_font_path(compiling: &CompileContext) -> Option<String> {
    let is_font = |path: &&String| {
        let extension = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        EXTENSIONS.contains(&extension.as_str())
    };
    compiling.files.iter().find(is_font).cloned()
}

fn settings(compiling: &CompileContext) -> Result<FontSettings, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let mut settings = FontSettings::default();
    for entry in document.root().entries().into_iter().flatten() {
        let value = entry.value;
        let error = |message: &str| compiling.error_at(value.line(), message);
        match entry.key {
            "source" => {
                let must = "source must be the path of a font file: source = \"fonts/name.ttf\"";
                settings.source = Some(value.as_str().ok_or_else(|| error(must))?.to_string());
            }
            "face" => {
                let number = value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n < 1e6);
                let must = "face must be a whole number from 0: the font of a .ttc to use";
                settings.face = number.ok_or_else(|| error(must))? as u32;
            }
            "fallback" => settings.fallback = fallback(compiling, value)?,
            "prewarm" => {
                let text = value.as_str().ok_or_else(|| {
                    error("prewarm must be text: the characters that are created in advance")
                })?;
                let count = text.chars().count();
                if count > PREWARM_MAX {
                    return Err(error(&format!(
                        "prewarm has {count} characters, more than {PREWARM_MAX} (PREWARM_MAX): \
                         list fewer"
                    )));
                }
                settings.prewarm = text.to_string();
            }
            "spread" => {
                let must = "spread must be pixels, 0 to 1024: how far the distance field of the \
                            pages goes to either side; 0 for pictures";
                let spread = value.as_f64().filter(|n| (0.0..=1024.0).contains(n));
                settings.spread = Some(spread.ok_or_else(|| error(must))? as f32);
            }
            key => {
                let hint = suggest::hint(key, KEYS.iter().copied());
                return Err(error(&format!("a font has no '{key}'{hint}")));
            }
        }
    }
    Ok(settings)
}

fn fallback(compiling: &CompileContext, value: SjsonValue) -> Result<Vec<String>, Error> {
    let must = "fallback must be a list of names of fonts: fallback = [\"fonts/name\"]";
    let error = |message: &str| compiling.error_at(value.line(), message);
    let items = value.items().ok_or_else(|| error(must))?;
    let names: Option<Vec<String>> = items.map(|item| item.as_str().map(String::from)).collect();
    let names = names.ok_or_else(|| error(must))?;
    if names.len() > FALLBACKS_MAX {
        return Err(error(&format!(
            "{} fallback fonts are more than {FALLBACKS_MAX} (FALLBACKS_MAX): name fewer",
            names.len()
        )));
    }
    Ok(names)
}

/// Opens the font, so that a damaged font is reported by the compiler and not in the game.
fn check_outlines(bytes: &[u8], path: &str, face: u32) -> Result<(), Error> {
    let data = FontBytes::Part(SharedBytes::from(bytes.to_vec()), 0..bytes.len());
    FontFace::open(Arc::new(data), face)
        .map(|_| ())
        .map_err(|error| error!("{path}: {}", error.message))
}

fn read_pages(bytes: &[u8], path: &str, settings: &FontSettings) -> Result<BitmapFont, Error> {
    let mut font = bmfont::read(bytes, path)?;
    font.spread = settings.spread.unwrap_or(font.spread);
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    for file in &mut font.pages {
        let file_name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = file_name.split('.').next().unwrap_or(file_name);
        if name.is_empty() {
            return Err(error!("{path}: a page has no file: export the font again"));
        }
        *file = format!("{folder}{name}");
    }
    Ok(font)
}

fn write_pages(writer: &mut BlobWriter, font: &BitmapFont) {
    let number = |writer: &mut BlobWriter, length: f32| writer.u32(length.to_bits());
    let all = [font.size, font.line_height, font.base, font.page_width, font.page_height];
    for length in all.into_iter().chain(font.padding).chain([font.spread]) {
        number(writer, length);
    }
    writer.list(&font.pages, |writer, name| writer.text(name));
    writer.list(&font.glyphs, |writer, glyph| {
        let BitmapGlyph { id, x, y, width, height, x_offset, y_offset, x_advance, page, .. } =
            *glyph;
        writer.u32(id);
        for length in [x, y, width, height, x_offset, y_offset, x_advance] {
            number(writer, length);
        }
        writer.u32(page);
    });
    writer.list(&font.kernings, |writer, kerning| {
        writer.u32(kerning.first);
        writer.u32(kerning.second);
        number(writer, kerning.amount);
    });
}

impl FontData {
    /// Reads compiled data.
    ///
    /// # Errors
    /// Returns an error that describes the damage if the data is damaged. The message continues a
    /// sentence that the caller begins with the font's name.
    pub fn from_bytes(bytes: &[u8]) -> Result<FontData, Error> {
        let body = unframe(bytes, MAGIC, VERSION)?;
        let mut reader = BlobReader::new(body);
        let limit = (FALLBACKS_MAX, "FALLBACKS_MAX");
        let fallback = reader.list_at_most(limit, |reader| reader.text().map(String::from))?;
        let prewarm = reader.text()?.to_string();
        if prewarm.chars().count() > PREWARM_MAX {
            return Err(error!(
                "it is damaged: it has {} characters to create in advance (PREWARM_MAX)",
                prewarm.chars().count()
            ));
        }
        let body = match reader.u8()? {
            0 => {
                let face = reader.u32()?;
                let file = reader.bytes()?;
                if file.len() > FILE_BYTES_MAX {
                    return Err(error!("it is damaged: it is too long (FILE_BYTES_MAX)"));
                }
                let end = bytes.len() - reader.remaining();
                FontBody::Outlines { file: end - file.len()..end, face }
            }
            1 => {
                let font = pages_from(&mut reader)?;
                bmfont::check(&font).map_err(|error| error!("it is damaged: {}", error.message))?;
                FontBody::Pages(font)
            }
            other => return Err(error!("it is damaged: form {other}")),
        };
        reader.end()?;
        Ok(FontData { fallback, prewarm, body })
    }
}

fn pages_from(reader: &mut BlobReader) -> Result<BitmapFont, Error> {
    let number = |reader: &mut BlobReader| reader.u32().map(f32::from_bits);
    let mut lengths = [0.0; 10];
    for length in &mut lengths {
        *length = number(reader)?;
    }
    let [size, line_height, base, page_width, page_height, up, right, down, left, spread] = lengths;
    Ok(BitmapFont {
        size,
        line_height,
        base,
        page_width,
        page_height,
        padding: [up, right, down, left],
        spread,
        pages: reader
            .list_at_most((PAGES_MAX, "PAGES_MAX"), |reader| reader.text().map(String::from))?,
        glyphs: reader.list_at_most((GLYPHS_MAX, "GLYPHS_MAX"), |reader| {
            Ok(BitmapGlyph {
                id: reader.u32()?,
                x: number(reader)?,
                y: number(reader)?,
                width: number(reader)?,
                height: number(reader)?,
                x_offset: number(reader)?,
                y_offset: number(reader)?,
                x_advance: number(reader)?,
                page: reader.u32()?,
                channel: 15,
            })
        })?,
        kernings: reader.list_at_most((KERNINGS_MAX, "KERNINGS_MAX"), |reader| {
            Ok(KerningPair { first: reader.u32()?, second: reader.u32()?, amount: number(reader)? })
        })?,
        ..BitmapFont::default()
    })
}
