//! Icons: one PNG picture becomes pictures in all sizes, an `.ico` of Windows and an `.icns` of
//! macOS. Sizes above that of the picture are left out.

use engine_foundation::{Error, error};
use engine_resource::image::{DecodedImage, PixelFormat, decode, encode_png, stated_size};

/// Minimum width and height of an icon in pixels: Windows and macOS show it in this size.
pub const ICON_SIDE_MIN: u32 = 256;
/// Maximum width and height of an icon in pixels.
pub const ICON_SIDE_MAX: u32 = 2048;

/// Sizes of icons on freedesktop's desktops.
pub const DESKTOP_SIDES: &[u32] = &[16, 22, 24, 32, 48, 64, 128, 256, 512];
/// Sizes in icons of Windows. One byte holds them, where 0 is 256.
pub const WINDOWS_SIDES: &[u32] = &[16, 24, 32, 48, 64, 128, 256];
/// Types of pictures in icons of macOS, with their sizes.
const MACOS_TYPES: &[(&[u8; 4], u32)] = &[
    (b"ic11", 32),
    (b"ic12", 64),
    (b"ic07", 128),
    (b"ic08", 256),
    (b"ic13", 256),
    (b"ic09", 512),
    (b"ic14", 512),
    (b"ic10", 1024),
];

/// A square picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Icon {
    side: u32,
    /// Red, green, blue and straight alpha, rows from the top.
    rgba: Vec<u8>,
}

impl Icon {
    /// Decodes a PNG picture.
    ///
    /// # Errors
    /// Returns an error if it cannot be decoded, if it is not square, or if it is too small or too
    /// large. The message does not name the file.
    pub fn decode(png: &[u8]) -> Result<Icon, Error> {
        // The header is checked before anything is allocated.
        if let Some((width, height)) = stated_size(png) {
            check_size(width, height)?;
        }
        let DecodedImage::Image(image) = decode(png, "png")? else {
            return Err(error!("it is no PNG picture"));
        };
        check_size(image.width, image.height)?;
        let PixelFormat::Bytes(rgba) = image.pixels else {
            return Err(error!("it has colours of a high dynamic range: save it as PNG"));
        };
        Ok(Icon { side: image.width, rgba })
    }

    /// Returns the icon with another width and height, at most its own.
    fn resized(&self, side: u32) -> Icon {
        if side == self.side {
            return self.clone();
        }
        let rows = average(&self.premultiplied(), self.side, side);
        let columns = average(&transposed(&rows, self.side, side), self.side, side);
        let rgba = transposed(&columns, side, side).into_iter().flat_map(straight).collect();
        Icon { side, rgba }
    }

    fn premultiplied(&self) -> Vec<[f32; 4]> {
        let pixel = |[red, green, blue, alpha]: &[u8; 4]| {
            let alpha = f32::from(*alpha) / 255.0;
            let part = |part: &u8| f32::from(*part) * alpha;
            [part(red), part(green), part(blue), alpha]
        };
        self.rgba.as_chunks::<4>().0.iter().map(pixel).collect()
    }

    fn png(&self) -> Vec<u8> {
        encode_png(self.side, self.side, &self.rgba)
    }

    /// Returns the pictures of desktops as PNG, each with its width.
    pub fn desktop_pictures(&self) -> Vec<(u32, Vec<u8>)> {
        let sides = DESKTOP_SIDES.iter().filter(|side| **side <= self.side);
        sides.map(|side| (*side, self.resized(*side).png())).collect()
    }

    /// Returns the pictures of an icon of Windows, each with its width: the largest as PNG, the
    /// others as bitmaps, which older parts of Windows need.
    pub fn windows_pictures(&self) -> Vec<(u32, Vec<u8>)> {
        let picture = |side: &u32| {
            let icon = self.resized(*side);
            (*side, if *side == 256 { icon.png() } else { icon.bitmap() })
        };
        WINDOWS_SIDES.iter().map(picture).collect()
    }

    /// Returns the icon as an `.ico` file of Windows.
    pub fn ico(&self) -> Vec<u8> {
        let pictures = self.windows_pictures();
        let mut out = vec![0, 0, 1, 0];
        out.extend((pictures.len() as u16).to_le_bytes());
        let mut start = 6 + 16 * pictures.len();
        for (side, picture) in &pictures {
            // 256 is written as 0.
            let side = *side as u8;
            out.extend([side, side, 0, 0, 1, 0, 32, 0]);
            out.extend((picture.len() as u32).to_le_bytes());
            out.extend((start as u32).to_le_bytes());
            start += picture.len();
        }
        out.extend(pictures.into_iter().flat_map(|(_, picture)| picture));
        out
    }

    /// Returns the icon as a bitmap of an `.ico` file: a header, pixels from the bottom, and a mask
    /// that is empty because alpha replaces it.
    fn bitmap(&self) -> Vec<u8> {
        let mask_row = self.side.div_ceil(32) * 4;
        let mut out = Vec::new();
        for field in [40, self.side, self.side * 2] {
            out.extend(field.to_le_bytes());
        }
        out.extend([1, 0, 32, 0]);
        for field in [0, self.side * self.side * 4 + mask_row * self.side, 0, 0, 0, 0] {
            out.extend(field.to_le_bytes());
        }
        for row in self.rgba.chunks_exact(self.side as usize * 4).rev() {
            for [red, green, blue, alpha] in row.as_chunks::<4>().0 {
                out.extend([*blue, *green, *red, *alpha]);
            }
        }
        out.resize(out.len() + (mask_row * self.side) as usize, 0);
        out
    }

    /// Returns the icon as an `.icns` file of macOS.
    pub fn icns(&self) -> Vec<u8> {
        let mut pictures = Vec::new();
        for (kind, side) in MACOS_TYPES.iter().filter(|(_, side)| *side <= self.side) {
            let png = self.resized(*side).png();
            pictures.extend(*kind);
            pictures.extend((png.len() as u32 + 8).to_be_bytes());
            pictures.extend(png);
        }
        let mut out = Vec::from(*b"icns");
        out.extend((pictures.len() as u32 + 8).to_be_bytes());
        out.extend(pictures);
        out
    }
}

fn check_size(width: u32, height: u32) -> Result<(), Error> {
    if width != height {
        return Err(error!("it has {width} x {height} pixels: make it square"));
    }
    if width < ICON_SIDE_MIN {
        return Err(error!(
            "it has {width} x {width} pixels, and icons have at least {ICON_SIDE_MIN} x \
             {ICON_SIDE_MIN} (ICON_SIDE_MIN): draw it larger"
        ));
    }
    if width > ICON_SIDE_MAX {
        return Err(error!(
            "it has {width} x {width} pixels, and icons have at most {ICON_SIDE_MAX} x \
             {ICON_SIDE_MAX} (ICON_SIDE_MAX): make it smaller"
        ));
    }
    Ok(())
}

/// Reduces the rows of a picture to `to` pixels each: every new pixel is the average of the old
/// ones that it covers, where the outer ones count by the part that it covers.
fn average(pixels: &[[f32; 4]], from: u32, to: u32) -> Vec<[f32; 4]> {
    let step = f64::from(from) / f64::from(to);
    let mut out = Vec::with_capacity(pixels.len() / from as usize * to as usize);
    for row in pixels.chunks_exact(from as usize) {
        for x in 0..to {
            let (start, end) = (f64::from(x) * step, f64::from(x + 1) * step);
            let last = (end.ceil() as usize).min(row.len());
            let mut sum = [0.0; 4];
            for (at, pixel) in row.iter().enumerate().take(last).skip(start as usize) {
                let covered = end.min(at as f64 + 1.0) - start.max(at as f64);
                for (sum, part) in sum.iter_mut().zip(pixel) {
                    *sum += f64::from(*part) * covered.max(0.0);
                }
            }
            out.push(sum.map(|part| (part / step) as f32));
        }
    }
    out
}

/// Returns a picture of `width` pixels a row, mirrored at its diagonal.
fn transposed(pixels: &[[f32; 4]], height: u32, width: u32) -> Vec<[f32; 4]> {
    let (height, width) = (height as usize, width as usize);
    let column = |x: usize| (0..height).map(move |y| pixels[y * width + x]);
    (0..width).flat_map(column).collect()
}

/// Returns a pixel with straight alpha.
fn straight([red, green, blue, alpha]: [f32; 4]) -> [u8; 4] {
    let part = |part: f32| if alpha > 0.0 { (part / alpha).round().min(255.0) as u8 } else { 0 };
    [part(red), part(green), part(blue), (alpha * 255.0).round() as u8]
}

#[cfg(test)]
#[path = "icon_tests.rs"]
pub(crate) mod tests;
