//! Converts a bitmap font with large black-and-white pages into one with small pages of distance
//! fields, for `engine font`. The method follows Chris Green, "Improved Alpha-Tested Magnification
//! for Vector Textures and Special Effects" (Valve, 2007), with exact distances. Opens no files.

use super::bitmap_font::BitmapFont;
use engine_foundation::Error;
use engine_foundation::error;

/// Maximum factor by which pages can be shrunk.
pub const SCALE_MAX: u32 = 64;
/// Largest spread, in pixels of the resulting pages.
pub const SPREAD_MAX: u32 = 64;

/// A picture with one byte per pixel, rows from the top.
#[derive(Clone, PartialEq, Debug)]
pub struct GrayImage {
    pub width: usize,
    pub height: usize,
    pub bytes: Vec<u8>,
}

/// Converts a font and its pages to distance fields. Every length is divided by `scale`. The
/// resulting pages contain the distance to the edges of the letters, up to `spread` resulting
/// pixels on either side.
///
/// # Errors
/// Returns an error if the pages do not match the font or cannot be divided by `scale`, or if
/// glyphs are so close together that their distance fields would overlap.
pub fn convert(
    font: &BitmapFont,
    pages: &[GrayImage],
    scale: u32,
    spread: u32,
) -> Result<(BitmapFont, Vec<GrayImage>), Error> {
    check(font, pages, scale, spread)?;
    let fields = pages.iter().map(|page| convert_page(page, scale as usize, spread as f32));
    let fields = fields.collect();
    // The spread is already in pixels of the resulting pages.
    let font = BitmapFont { spread: spread as f32, ..font.divided(scale as f32) };
    Ok((font, fields))
}

fn check(font: &BitmapFont, pages: &[GrayImage], scale: u32, spread: u32) -> Result<(), Error> {
    if font.spread > 0.0 {
        return Err(error!("the font's pages are distance fields already: give the large ones"));
    }
    for (page, file) in pages.iter().zip(&font.pages) {
        let (width, height, by) = (page.width, page.height, scale as usize);
        if (width as f32, height as f32) != (font.page_width, font.page_height) {
            return Err(error!(
                "the page {file} is {width} x {height}, and the font says {} x {}: export both \
                 again",
                font.page_width, font.page_height
            ));
        }
        if !width.is_multiple_of(by) || !height.is_multiple_of(by) {
            return Err(error!(
                "the page {file} is {width} x {height}, which scale {scale} does not divide: \
                 choose sides that are multiples of {scale}"
            ));
        }
    }
    let needed = scale * spread;
    let padding = font.padding.iter().copied().fold(f32::INFINITY, f32::min);
    if padding < needed as f32 {
        return Err(error!(
            "the glyphs have {padding} pixels of padding, and scale {scale} with spread {spread} \
             needs {needed}, so that no field reaches into the next glyph: export the font with \
             padding {needed}, or take a smaller spread"
        ));
    }
    Ok(())
}

fn convert_page(page: &GrayImage, scale: usize, spread: f32) -> GrayImage {
    let distances = signed_distances(page);
    let (width, height) = (page.width / scale, page.height / scale);
    // The middle of a block of even size lies between two pixels.
    let middle = [(scale - 1) / 2, scale / 2];
    let mut bytes = Vec::with_capacity(width * height);
    for row in 0..height {
        for column in 0..width {
            let mut sum = 0.0;
            for y in middle {
                for x in middle {
                    sum += distances[(row * scale + y) * page.width + column * scale + x];
                }
            }
            let part = 0.5 + sum / 4.0 / scale as f32 / (2.0 * spread);
            bytes.push((part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
        }
    }
    GrayImage { width, height, bytes }
}

/// Returns the distance from the center of each pixel to the edge between light and dark, positive
/// in light areas.
fn signed_distances(page: &GrayImage) -> Vec<f32> {
    let is_light = |byte: &u8| *byte >= 128;
    let to_light = squared_distances(page, |byte| is_light(&byte));
    let to_dark = squared_distances(page, |byte| !is_light(&byte));
    let pixels = page.bytes.iter().zip(to_light.into_iter().zip(to_dark));
    // The edge is half a pixel before the nearest pixel of the opposite brightness.
    pixels
        .map(|(byte, (light, dark))| match is_light(byte) {
            true => dark.sqrt() - 0.5,
            false => 0.5 - light.sqrt(),
        })
        .collect()
}

/// Larger than any distance in use, and small enough that its square is still exact enough.
const DISTANCE_MAX: f32 = 1e10;

/// Returns the squared distance from each pixel to the nearest wanted pixel. The method follows
/// Felzenszwalb and Huttenlocher, "Distance Transforms of Sampled Functions" (2012): along columns,
/// then along rows.
fn squared_distances(page: &GrayImage, wanted: impl Fn(u8) -> bool) -> Vec<f32> {
    let (width, height) = (page.width, page.height);
    let mut grid: Vec<f32> =
        page.bytes.iter().map(|byte| if wanted(*byte) { 0.0 } else { DISTANCE_MAX }).collect();
    let mut sweep = DistanceScratch::default();
    let mut line = vec![0.0; height];
    for x in 0..width {
        for (y, value) in line.iter_mut().enumerate() {
            *value = grid[y * width + x];
        }
        sweep.run(&mut line);
        for (y, value) in line.iter().enumerate() {
            grid[y * width + x] = *value;
        }
    }
    grid.chunks_mut(width).for_each(|row| sweep.run(row));
    grid
}

/// Buffers for the lower envelope of the parabolas of a line.
#[derive(Default)]
struct DistanceScratch {
    roots: Vec<usize>,
    borders: Vec<f64>,
    before: Vec<f32>,
}

impl DistanceScratch {
    fn run(&mut self, line: &mut [f32]) {
        self.roots.clear();
        self.borders.clear();
        self.before.clear();
        self.before.extend(&*line);
        let height = |at: usize| f64::from(self.before[at]) + (at * at) as f64;
        for at in 0..line.len() {
            let mut border = f64::NEG_INFINITY;
            while let Some(last) = self.roots.last() {
                border = (height(at) - height(*last)) / (2 * (at - last)) as f64;
                if border > self.borders[self.roots.len() - 1] {
                    break;
                }
                self.roots.pop();
                self.borders.pop();
                border = f64::NEG_INFINITY;
            }
            self.roots.push(at);
            self.borders.push(border);
        }
        let mut root = 0;
        for (at, value) in line.iter_mut().enumerate() {
            while root + 1 < self.roots.len() && self.borders[root + 1] < at as f64 {
                root += 1;
            }
            let from = self.roots[root];
            let along = at.abs_diff(from) as f32;
            *value = along * along + self.before[from];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bitmap_font::{BitmapGlyph, KerningPair};
    use super::*;

    /// Returns a page with a disc of a radius in its middle.
    fn disc(side: usize, radius: f32) -> GrayImage {
        let middle = side as f32 / 2.0;
        let light = |i: usize| {
            let (x, y) = ((i % side) as f32 + 0.5 - middle, (i / side) as f32 + 0.5 - middle);
            if x * x + y * y <= radius * radius { 255 } else { 0 }
        };
        GrayImage { width: side, height: side, bytes: (0..side * side).map(light).collect() }
    }

    fn font(side: f32, padding: f32) -> BitmapFont {
        BitmapFont {
            face: "A & B".to_string(),
            size: 96.0,
            padding: [padding; 4],
            spacing: [8.0, 16.0],
            line_height: 112.0,
            base: 88.0,
            page_width: side,
            page_height: side,
            pages: vec!["big_0.tga".to_string()],
            glyphs: vec![BitmapGlyph {
                id: 65,
                x: 8.0,
                y: 16.0,
                width: 80.0,
                height: 92.0,
                x_offset: -24.0,
                y_offset: 4.0,
                x_advance: 61.0,
                page: 0,
                channel: 15,
            }],
            kernings: vec![KerningPair { first: 65, second: 66, amount: -12.0 }],
            ..BitmapFont::default()
        }
    }

    #[test]
    fn distances_are_in_pixels_of_the_output() {
        let (small, pages) = convert(&font(256.0, 32.0), &[disc(256, 64.0)], 8, 4).unwrap();
        assert_eq!((small.page_width, pages[0].width, pages[0].height), (32.0, 32, 32));
        for (i, byte) in pages[0].bytes.iter().enumerate() {
            let (x, y) = ((i % 32) as f32 + 0.5 - 16.0, (i / 32) as f32 + 0.5 - 16.0);
            let wanted = (8.0 - (x * x + y * y).sqrt()).clamp(-4.0, 4.0);
            let found = (f32::from(*byte) / 255.0 - 0.5) * 8.0;
            assert!((wanted - found).abs() < 0.1, "{i}: {found}, and {wanted} is right");
        }
    }

    #[test]
    fn every_length_is_converted() {
        let (small, _) = convert(&font(256.0, 32.0), &[disc(256, 9.0)], 8, 4).unwrap();
        let glyph = small.glyphs[0];
        assert_eq!((small.size, small.line_height, small.base), (12.0, 14.0, 11.0));
        assert_eq!((small.padding, small.spacing), ([4.0; 4], [1.0, 2.0]));
        assert_eq!((glyph.x, glyph.y, glyph.width, glyph.height), (1.0, 2.0, 10.0, 11.5));
        assert_eq!((glyph.x_offset, glyph.y_offset, glyph.x_advance), (-3.0, 0.5, 7.625));
        assert_eq!((small.kernings[0].amount, small.spread), (-1.5, 4.0));
        let xml = small.to_xml();
        let again = super::super::bmfont::read(xml.as_bytes(), "small.fnt").unwrap();
        assert_eq!(again, small, "{xml}");
        assert!(xml.contains("face=\"A &amp; B\"") && xml.contains("distanceRange=\"8\""), "{xml}");
    }

    #[test]
    fn uniform_pages_have_the_maximum_distance() {
        for (light, wanted) in [(0, 0), (255, 255)] {
            let page = GrayImage { width: 16, height: 16, bytes: vec![light; 256] };
            let (_, pages) = convert(&font(16.0, 16.0), &[page], 4, 4).unwrap();
            assert!(pages[0].bytes.iter().all(|byte| *byte == wanted));
        }
    }

    #[test]
    fn fonts_that_cannot_be_converted_are_reported_with_a_remedy() {
        #[track_caller]
        fn check(font: &BitmapFont, side: usize, scale: u32, message: &str) {
            let error = convert(font, &[disc(side, 9.0)], scale, 4).unwrap_err();
            assert_eq!(error.message, message);
        }
        check(
            &font(64.0, 31.0),
            64,
            8,
            "the glyphs have 31 pixels of padding, and scale 8 with spread 4 needs 32, so that no \
             field reaches into the next glyph: export the font with padding 32, or take a smaller \
             spread",
        );
        check(
            &font(64.0, 32.0),
            64,
            7,
            "the page big_0.tga is 64 x 64, which scale 7 does not divide: choose sides that are \
             multiples of 7",
        );
        check(
            &font(128.0, 32.0),
            64,
            8,
            "the page big_0.tga is 64 x 64, and the font says 128 x 128: export both again",
        );
        check(
            &BitmapFont { spread: 2.0, ..font(64.0, 32.0) },
            64,
            8,
            "the font's pages are distance fields already: give the large ones",
        );
    }
}
