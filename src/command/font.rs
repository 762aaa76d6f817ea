//! `engine font`: converts a font with large black-and-white pages to one with small distance field
//! pages. src/system/text/sdf_converter.rs implements the conversion; this file reads and writes
//! the files.

use super::confinement_flag::ConfinementFlag;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::exit;
use engine_foundation::error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, log, output_file};
use engine_resource::image::{DecodedImage, PixelFormat, decode};
use engine_text::bitmap_font::BitmapFont;
use engine_text::bmfont;
use engine_text::sdf_converter::{GrayImage, SCALE_MAX, SPREAD_MAX, convert};
use std::path::{Path, PathBuf};

/// Convert a bitmap font (.fnt) with large pages into one with small pages of distance fields
#[derive(clap::Args)]
pub struct Args {
    /// The large font: an AngelCode .fnt, with its pages (.tga or .png) in the same folder
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The small font to write: a .fnt; its pages (.tga) are written into the same folder
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Scale-down factor
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=SCALE_MAX as i64))]
    scale: u32,
    /// Spread of the distance field to either side of an edge, in pixels of the small font
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=SPREAD_MAX as i64))]
    spread: u32,
    #[command(flatten)]
    confine: ConfinementFlag,
}

/// Confines the process to the folders of the two fonts.
fn confine(args: &Args) {
    ConfinementPlan::to_convert(&args.input, &args.output).begin();
    confinement::forbid_programs(false);
}

pub fn main(args: Args) -> i32 {
    if args.confine.is_enabled() {
        confine(&args);
    }
    match run(&args) {
        Ok(message) => {
            log::info(&message);
            exit::SUCCESS
        }
        Err(error) => {
            log::error(&error.to_string());
            exit::FAILED
        }
    }
}

/// Converts the font and returns a line that describes the result.
fn run(args: &Args) -> Result<String, Error> {
    let shown = args.input.display().to_string();
    let output_is_font = args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("fnt"));
    if !output_is_font {
        return Err(error!("{}: the name must end in .fnt", args.output.display()));
    }
    let bytes = read(&args.input)?;
    let font = bmfont::read(&bytes, &shown)?;
    let folder = args.input.parent().unwrap_or(Path::new(""));
    // A page is next to its font, regardless of the path that it was exported to.
    let name = |file: &str| file.rsplit(['/', '\\']).next().unwrap_or(file).to_string();
    let pages: Result<Vec<GrayImage>, Error> =
        font.pages.iter().map(|file| read_page(&folder.join(name(file)))).collect();
    let at_fault = |error: Error| error!("{shown}: {}", error.message);
    let (mut font, pages) = convert(&font, &pages?, args.scale, args.spread).map_err(at_fault)?;
    write(&mut font, &pages, &args.output)?;
    Ok(format!(
        "{}: {} glyphs on {} page{} of {} x {}",
        args.output.display(),
        font.glyphs.len(),
        pages.len(),
        if pages.len() == 1 { "" } else { "s" },
        font.page_width,
        font.page_height
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    file_access::read_named(path, &readers::FONT_INPUT)
        .map_err(|reason| error!("{} cannot be read: {reason}", path.display()))
}

/// Reads a page: white on black, or white with its shape in alpha.
fn read_page(path: &Path) -> Result<GrayImage, Error> {
    let shown = path.display();
    let extension = path.extension().and_then(|end| end.to_str()).unwrap_or("");
    let decoded = decode(&read(path)?, &extension.to_ascii_lowercase())
        .map_err(|error| error!("{shown}: {}", error.message))?;
    let DecodedImage::Image(picture) = decoded else {
        return Err(error!("{shown}: compressed blocks cannot be read here: give a .tga or .png"));
    };
    let PixelFormat::Bytes(bytes) = picture.pixels else {
        return Err(error!(
            "{shown}: pictures of high dynamic range cannot be read here: give a .tga"
        ));
    };
    if bytes.chunks_exact(4).any(|pixel| pixel[0] != pixel[1] || pixel[1] != pixel[2]) {
        return Err(error!("{shown}: the page has colours: export it white on black"));
    }
    let has_alpha = bytes.chunks_exact(4).any(|pixel| pixel[3] != 255);
    let byte = |pixel: &[u8]| if has_alpha { pixel[3] } else { pixel[0] };
    let bytes = bytes.chunks_exact(4).map(byte).collect();
    Ok(GrayImage { width: picture.width as usize, height: picture.height as usize, bytes })
}

/// Writes the font and its pages, which are named after it.
fn write(font: &mut BitmapFont, pages: &[GrayImage], output: &Path) -> Result<(), Error> {
    let write = |path: &Path, bytes: &[u8]| {
        output_file::write(path, bytes)
            .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))
    };
    let stem = output.file_stem().and_then(|stem| stem.to_str()).unwrap_or("font").to_string();
    for (number, page) in pages.iter().enumerate() {
        let file = format!("{stem}_{number}.tga");
        write(&output.with_file_name(&file), &tga(page))?;
        font.pages[number] = file;
    }
    write(output, font.to_xml().as_bytes())
}

/// Encodes an uncompressed TGA: white, with the distance field in alpha, where the renderer reads
/// it.
fn tga(page: &GrayImage) -> Vec<u8> {
    const TRUE_COLOR: u8 = 2;
    const FROM_THE_TOP_WITH_8_BITS_OF_ALPHA: u8 = 0x28;
    let mut out = vec![0, 0, TRUE_COLOR, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend((page.width as u16).to_le_bytes());
    out.extend((page.height as u16).to_le_bytes());
    out.extend([32, FROM_THE_TOP_WITH_8_BITS_OF_ALPHA]);
    out.extend(page.bytes.iter().flat_map(|field| [255, 255, 255, *field]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::image::encode_png;

    const FONT: &str = r#"<?xml version="1.0"?>
<font>
  <info face="Test" size="-64" bold="0" padding="16,16,16,16" spacing="4,4" outline="0"/>
  <common lineHeight="80" base="60" scaleW="128" scaleH="64" pages="1" packed="0"/>
  <pages><page id="0" file="big_0.PAGE"/></pages>
  <chars count="1">
    <char id="65" x="0" y="0" width="64" height="64" xoffset="-16" yoffset="0" xadvance="40"
          page="0" chnl="15"/>
  </chars>
  <kernings count="1"><kerning first="65" second="65" amount="-4"/></kernings>
</font>"#;

    /// Creates a folder with a font and its page; `page` encodes the page from 128 × 64 bytes.
    fn folder(name: &str, extension: &str, page: impl Fn(&[u8]) -> Vec<u8>) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("big.fnt"), FONT.replace("PAGE", extension)).unwrap();
        let is_inside = |at: usize| (16..48).contains(&(at % 128)) && (8..40).contains(&(at / 128));
        let bytes: Vec<u8> = (0..128 * 64).map(|at| if is_inside(at) { 255 } else { 0 }).collect();
        std::fs::write(folder.join(format!("big_0.{extension}")), page(&bytes)).unwrap();
        folder
    }

    /// Encodes a monochrome uncompressed TGA as BMFont writes it: rows from the bottom.
    fn monochrome(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 0, 64, 0, 8, 0];
        out.extend(bytes.chunks(128).rev().flatten());
        out
    }

    fn png(bytes: &[u8]) -> Vec<u8> {
        let rgba: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, *byte, *byte, 255]).collect();
        encode_png(128, 64, &rgba)
    }

    fn args(folder: &Path, scale: u32, spread: u32) -> Args {
        let (input, output) = (folder.join("big.fnt"), folder.join("small.fnt"));
        Args { input, output, scale, spread, confine: ConfinementFlag::default() }
    }

    #[test]
    fn a_large_bitmap_font_becomes_a_small_one_with_distance_fields() {
        for (extension, page) in [("tga", monochrome as fn(&[u8]) -> Vec<u8>), ("png", png)] {
            let folder = folder(&format!("font-{extension}"), extension, page);
            let summary = run(&args(&folder, 8, 2)).unwrap();
            assert!(summary.ends_with("small.fnt: 1 glyphs on 1 page of 16 x 8"), "{summary}");
            let text = std::fs::read(folder.join("small.fnt")).unwrap();
            let font = bmfont::read(&text, "small.fnt").unwrap();
            assert_eq!((font.size, font.fits_em, font.spread), (8.0, true, 2.0));
            assert_eq!((font.line_height, font.base, font.padding), (10.0, 7.5, [2.0; 4]));
            assert_eq!(font.pages, ["small_0.tga"]);
            let bytes = std::fs::read(folder.join("small_0.tga")).unwrap();
            let Ok(DecodedImage::Image(page)) = decode(&bytes, "tga") else { panic!() };
            assert_eq!((page.width, page.height), (16, 8));
            let PixelFormat::Bytes(pixels) = page.pixels else { panic!() };
            let field = |x: usize, y: usize| pixels[(y * 16 + x) * 4 + 3];
            // The glyph fills columns 2 to 5, rows 1 to 4: half a pixel inside is 0.5 + 0.5 / 4. On
            // the diagonal two edges are equally near, and the center of a block is a mean of four
            // pixels.
            assert_eq!((field(2, 3), field(1, 3), field(3, 2)), (159, 96, 221));
            assert_eq!((field(3, 0), field(3, 5), field(3, 7)), (96, 96, 0));
            assert_eq!(pixels[0], 255, "the colour is white");
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn errors_in_the_files_are_reported() {
        let folder = folder("font-faults", "png", |bytes| {
            let rgba: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 0, *byte, 255]).collect();
            encode_png(128, 64, &rgba)
        });
        let error_message = |args: &Args| run(args).unwrap_err().message;
        let message = error_message(&args(&folder, 8, 2));
        assert!(message.ends_with("big_0.png: the page has colours: export it white on black"));
        std::fs::remove_file(folder.join("big_0.png")).unwrap();
        assert!(error_message(&args(&folder, 8, 2)).contains("big_0.png cannot be read: "));
        std::fs::write(folder.join("big_0.png"), png(&[0; 128 * 64])).unwrap();
        let message = error_message(&args(&folder, 8, 4));
        assert!(message.contains("big.fnt: the glyphs have 16 pixels of padding"), "{message}");
        let wrong = Args { output: folder.join("small.xml"), ..args(&folder, 8, 2) };
        assert!(error_message(&wrong).ends_with("small.xml: the name must end in .fnt"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
