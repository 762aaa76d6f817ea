//! Reader of AngelCode fonts (.fnt) in the text, XML and binary forms that BMFont writes. The
//! format is documented at angelcode.com/products/bmfont/doc/file_format.html. Opens no files.

use super::bitmap_font::{
    BitmapFont, BitmapGlyph, GLYPHS_MAX, KERNINGS_MAX, KerningPair, PAGES_MAX,
};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::xml::{XmlCutShort, XmlEvent, XmlReader};

/// One element, for example `char id=65 x=…`, in either of the two textual forms.
struct FntRecord {
    line: usize,
    tag: String,
    attributes: Vec<(String, String)>,
}

/// Reads a font in any of the three forms.
///
/// # Errors
/// Returns an error if the data is damaged, incomplete or beyond a limit. The message begins with
/// the path, followed by the line if there is one.
pub fn read(bytes: &[u8], path: &str) -> Result<BitmapFont, Error> {
    let font = if bytes.starts_with(b"BMF") {
        binary(bytes).map_err(|error| error!("{path}: {}", error.message))?
    } else {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
            error!("{path}:{line}: the file is not UTF-8: save it as UTF-8 text")
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let records =
            if text.trim_start().starts_with('<') { xml(text, path)? } else { lines(text, path)? };
        build(&records, path)?
    };
    check(&font).map_err(|error| error!("{path}: {}", error.message))?;
    Ok(font)
}

/// Rejects invalid measurements, in a file as well as in compiled data.
pub fn check(font: &BitmapFont) -> Result<(), Error> {
    let lengths = [font.size, font.line_height, font.page_width, font.page_height];
    if lengths.iter().any(|length| !(*length > 0.0 && *length <= 65_536.0)) {
        return Err(error!(
            "size, lineHeight, scaleW and scaleH must be above 0 and at most 65536: export the \
             font \
             again"
        ));
    }
    let around = font.padding.iter().chain(&font.spacing).chain([&font.outline]);
    if !(-65_536.0..=65_536.0).contains(&font.base) || !(0.0..=1024.0).contains(&font.spread) {
        return Err(error!("base or distanceRange is out of range: export the font again"));
    }
    if !{ around }.all(|length| length.abs() <= 65_536.0) {
        return Err(error!("padding, spacing or outline is out of range: export the font again"));
    }
    if font.pages.is_empty() || font.glyphs.is_empty() {
        return Err(error!("the font has no pages or no glyphs: export it again"));
    }
    let limits = [
        ("pages", font.pages.len(), PAGES_MAX, "PAGES_MAX"),
        ("glyphs", font.glyphs.len(), GLYPHS_MAX, "GLYPHS_MAX"),
        ("kernings", font.kernings.len(), KERNINGS_MAX, "KERNINGS_MAX"),
    ];
    for (noun, count, most, limit) in limits {
        if count > most {
            return Err(error!(
                "{count} {noun} are more than {most} ({limit}): use fewer characters"
            ));
        }
    }
    for glyph in &font.glyphs {
        let BitmapGlyph { id, x, y, width, height, .. } = *glyph;
        if glyph.page as usize >= font.pages.len() {
            let pages = font.pages.len();
            return Err(error!("glyph {id} is on page {}, and there are {pages}", glyph.page));
        }
        let inside = x >= 0.0
            && y >= 0.0
            && width >= 0.0
            && height >= 0.0
            && x + width <= font.page_width
            && y + height <= font.page_height;
        let lengths = [glyph.x_offset, glyph.y_offset, glyph.x_advance];
        if !inside || !lengths.iter().all(|length| length.abs() <= 65_536.0) {
            return Err(error!("glyph {id} lies outside of its page: export the font again"));
        }
    }
    if !font.kernings.iter().all(|kerning| kerning.amount.abs() <= 65_536.0) {
        return Err(error!("a kerning is out of range: export the font again"));
    }
    Ok(())
}

/// Parses the form with one record per line: `char id=65 x=0`.
fn lines(text: &str, path: &str) -> Result<Vec<FntRecord>, Error> {
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let (tag, mut rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let mut record = FntRecord { line: i + 1, tag: tag.to_string(), attributes: Vec::new() };
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let Some((name, after)) = rest.split_once('=') else {
                return Err(error!("{path}:{}: '{rest}' must be name=value", i + 1));
            };
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or_else(|| {
                    error!("{path}:{}: a quote is not closed after {name}=", i + 1)
                })?,
                None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
            };
            record.attributes.push((name.trim().to_string(), value.to_string()));
            rest = after;
        }
        records.push(record);
    }
    Ok(records)
}

/// Parses the XML form: every opening element with its attributes. Text between elements is
/// skipped, because the format has none.
fn xml(text: &str, path: &str) -> Result<Vec<FntRecord>, Error> {
    let mut records = Vec::new();
    let mut reader = XmlReader::new(text);
    loop {
        let event = reader.next_event();
        let line = reader.line();
        match event {
            Ok(Some(XmlEvent::Open(tag))) => {
                let attributes = tag
                    .attributes()
                    .map_err(|rest| error!("{path}:{line}: '{rest}' must be name=\"value\""))?;
                records.push(FntRecord { line, tag: tag.name.to_string(), attributes });
            }
            Ok(Some(XmlEvent::Close | XmlEvent::Text(_))) => {}
            Ok(None) => return Ok(records),
            Err(XmlCutShort) => {
                return Err(error!(
                    "{path}:{line}: the element is not closed: the file is cut short"
                ));
            }
        }
    }
}

impl FntRecord {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    fn number(&self, name: &str, path: &str) -> Result<f32, Error> {
        let (line, tag) = (self.line, &self.tag);
        let text = self.get(name).ok_or_else(|| {
            error!("{path}:{line}: '{tag}' has no {name}: the file is damaged, export it again")
        })?;
        let number = text.trim().parse::<f32>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| error!("{path}:{line}: {name} must be a number, got '{text}'"))
    }

    fn integer(&self, name: &str, path: &str) -> Result<u32, Error> {
        // BMFont numbers the glyph for missing characters -1.
        let text = self.get(name).unwrap_or("");
        if text.trim() == "-1" {
            return Ok(u32::MAX);
        }
        text.trim().parse().map_err(|_| {
            let (line, tag) = (self.line, &self.tag);
            error!("{path}:{line}: {name} of '{tag}' must be a whole number, got '{text}'")
        })
    }

    fn list<const N: usize>(&self, name: &str, path: &str) -> Result<[f32; N], Error> {
        let Some(text) = self.get(name) else { return Ok([0.0; N]) };
        let number =
            |text: &str| text.trim().parse().ok().filter(|number: &f32| number.is_finite());
        let numbers: Vec<f32> = text.split(',').filter_map(number).collect();
        numbers.try_into().map_err(|_| {
            error!("{path}:{}: {name} must be {N} numbers with commas, got '{text}'", self.line)
        })
    }

    fn other_attributes(&self, known: &[&str]) -> Vec<(String, String)> {
        let unknown_attributes =
            self.attributes.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        unknown_attributes.cloned().collect()
    }
}

fn build(records: &[FntRecord], path: &str) -> Result<BitmapFont, Error> {
    let mut font = BitmapFont::default();
    for record in records {
        match record.tag.as_str() {
            "info" => {
                font.face = record.get("face").unwrap_or("").to_string();
                set_size(&mut font, record.number("size", path)?);
                font.padding = record.list("padding", path)?;
                font.spacing = record.list("spacing", path)?;
                if record.get("outline").is_some() {
                    font.outline = record.number("outline", path)?;
                }
                font.about =
                    record.other_attributes(&["face", "size", "padding", "spacing", "outline"]);
            }
            "common" => {
                font.line_height = record.number("lineHeight", path)?;
                font.base = record.number("base", path)?;
                font.page_width = record.number("scaleW", path)?;
                font.page_height = record.number("scaleH", path)?;
                let known = ["lineHeight", "base", "scaleW", "scaleH", "pages"];
                font.channels = record.other_attributes(&known);
                if record.get("packed").is_some_and(|packed| packed.trim() == "1") {
                    return Err(error!("{path}:{}: {PACKED}", record.line));
                }
            }
            "distanceField" => {
                let kind = record.get("fieldType").unwrap_or("");
                if kind != "sdf" {
                    return Err(error!(
                        "{path}:{}: fieldType is '{kind}', and only 'sdf' can be read from pages: \
                         export the font as sdf",
                        record.line
                    ));
                }
                font.spread = record.number("distanceRange", path)? / 2.0;
            }
            "page" => font.pages.push(record.get("file").unwrap_or("").to_string()),
            "char" => font.glyphs.push(glyph(record, path)?),
            "kerning" => font.kernings.push(KerningPair {
                first: record.integer("first", path)?,
                second: record.integer("second", path)?,
                amount: record.number("amount", path)?,
            }),
            _ => {}
        }
    }
    Ok(font)
}

const PACKED: &str = "the glyphs are packed into single channels: export the font without packing";

fn set_size(font: &mut BitmapFont, size: f32) {
    (font.size, font.fits_em) = (size.abs(), size < 0.0);
}

fn glyph(record: &FntRecord, path: &str) -> Result<BitmapGlyph, Error> {
    Ok(BitmapGlyph {
        id: record.integer("id", path)?,
        x: record.number("x", path)?,
        y: record.number("y", path)?,
        width: record.number("width", path)?,
        height: record.number("height", path)?,
        x_offset: record.number("xoffset", path)?,
        y_offset: record.number("yoffset", path)?,
        x_advance: record.number("xadvance", path)?,
        page: if record.get("page").is_some() { record.integer("page", path)? } else { 0 },
        channel: if record.get("chnl").is_some() { record.integer("chnl", path)? } else { 15 },
    })
}

/// Reader of little-endian numbers in a block, with a check against the block's end.
struct FntBlock<'a>(&'a [u8]);

impl FntBlock<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or_else(|| error!("the file is cut short: export the font again"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<f32, Error> {
        Ok(u16::from_le_bytes(self.take()?).into())
    }

    fn i16(&mut self) -> Result<f32, Error> {
        Ok(i16::from_le_bytes(self.take()?).into())
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.take()?))
    }
}

fn binary(bytes: &[u8]) -> Result<BitmapFont, Error> {
    let version = bytes.get(3).copied().unwrap_or(0);
    if version != 3 {
        return Err(error!(
            "the binary format has version {version}, and only 3 can be read: export again"
        ));
    }
    let mut font = BitmapFont::default();
    let mut rest = FntBlock(&bytes[4..]);
    while !rest.0.is_empty() {
        let (kind, length) = (rest.u8()?, rest.u32()? as usize);
        let Some((block, after)) = rest.0.split_at_checked(length) else {
            return Err(error!("the file is cut short: export the font again"));
        };
        rest.0 = after;
        binary_block(&mut font, kind, FntBlock(block))?;
    }
    Ok(font)
}

fn binary_block(font: &mut BitmapFont, kind: u8, mut block: FntBlock) -> Result<(), Error> {
    match kind {
        1 => {
            set_size(font, block.i16()?);
            block.take::<5>()?;
            for length in &mut font.padding {
                *length = block.u8()?.into();
            }
            for length in &mut font.spacing {
                *length = block.u8()?.into();
            }
            font.outline = block.u8()?.into();
            font.face = String::from_utf8_lossy(block.0.split(|b| *b == 0).next().unwrap_or(&[]))
                .into_owned();
        }
        2 => {
            font.line_height = block.u16()?;
            font.base = block.u16()?;
            font.page_width = block.u16()?;
            font.page_height = block.u16()?;
            block.u16()?;
            if block.u8()? & 0x80 != 0 {
                return Err(error!("{PACKED}"));
            }
        }
        3 => {
            let names = block.0.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            font.pages = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        }
        4 => {
            while !block.0.is_empty() {
                font.glyphs.push(BitmapGlyph {
                    id: block.u32()?,
                    x: block.u16()?,
                    y: block.u16()?,
                    width: block.u16()?,
                    height: block.u16()?,
                    x_offset: block.i16()?,
                    y_offset: block.i16()?,
                    x_advance: block.i16()?,
                    page: block.u8()?.into(),
                    channel: block.u8()?.into(),
                });
            }
        }
        5 => {
            while !block.0.is_empty() {
                let (first, second, amount) = (block.u32()?, block.u32()?, block.i16()?);
                font.kernings.push(KerningPair { first, second, amount });
            }
        }
        _ => {}
    }
    Ok(())
}
