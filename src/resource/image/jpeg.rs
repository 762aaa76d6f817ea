//! JPEG files that the crate `image` cannot decode. Those with a separate scan for each color,
//! which its decoder reads wrongly without an error, are decoded here. Forms that no decoder of the
//! engine can read are refused by name.

use super::{Image, PixelFormat, check_size, cut_short_error};
use ::image::metadata::Orientation;
use ::image::{DynamicImage, GrayImage, RgbImage};
use engine_foundation::Error;
use engine_foundation::error;
use jpeg_decoder::{Decoder, PixelFormat as DecodedFormat};

/// Order of the picture's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JpegScans {
    /// All colors together, or progressive scans.
    Together,
    /// Sequential scans of single colors.
    Separate,
}

/// Finds out the form of a file from its headers. Damaged headers are left to the decoder.
///
/// # Errors
/// Returns an error that names a form that cannot be read.
pub fn scans(bytes: &[u8]) -> Result<JpegScans, Error> {
    let mut at = 2;
    let mut sequential_colors = None;
    while let Some((marker, segment)) = segment(bytes, &mut at) {
        match marker {
            0xc0 | 0xc1 => {
                check_precision(segment)?;
                sequential_colors = segment.get(5).copied();
            }
            0xc2 => check_precision(segment)?,
            0xc3 => return Err(unreadable("lossless coding")),
            0xc5..=0xc7 => return Err(unreadable("hierarchical coding")),
            0xc9..=0xcb | 0xcd..=0xcf => return Err(unreadable("arithmetic coding")),
            // The first scan: files in which it lacks a color have others.
            0xda => {
                let scanned = segment.first().copied();
                let separate = scanned.zip(sequential_colors).is_some_and(|(one, all)| one < all);
                return Ok(if separate { JpegScans::Separate } else { JpegScans::Together });
            }
            _ => {}
        }
    }
    Ok(JpegScans::Together)
}

fn unreadable(form: &str) -> Error {
    error!("this form of .jpg cannot be read ({form}): save it as an ordinary JPEG, or as PNG")
}

fn check_precision(segment: &[u8]) -> Result<(), Error> {
    match segment.first() {
        Some(bits) if *bits != 8 => Err(unreadable(&format!("{bits} bits per channel"))),
        _ => Ok(()),
    }
}

/// Returns the next marker and its data, and moves `at` behind them; `None` at the end, and where
/// the file is damaged.
fn segment<'a>(bytes: &'a [u8], at: &mut usize) -> Option<(u8, &'a [u8])> {
    loop {
        if *bytes.get(*at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(*at + 1)?;
        match marker {
            // A byte that fills up.
            0xff => *at += 1,
            // Markers without data.
            0x01 | 0xd0..=0xd7 => *at += 2,
            _ => {
                let length =
                    usize::from(u16::from_be_bytes([*bytes.get(*at + 2)?, *bytes.get(*at + 3)?]));
                let segment = bytes.get(*at + 4..*at + 2 + length)?;
                *at += 2 + length;
                return Some((marker, segment));
            }
        }
    }
}

/// Returns true if a file ends before the marker of its end. Decoders show the missing part of its
/// scan in grey, without an error. Other damage is left to them.
pub fn is_cut_short(bytes: &[u8]) -> bool {
    let mut at = 2;
    loop {
        let Some(&[first, marker]) = bytes.get(at..at + 2) else { return true };
        match (first, marker) {
            (0xff, 0xd9) => return false,
            (0xff, 0xff) => at += 1,
            (0xff, 0x01 | 0xd0..=0xd7) => at += 2,
            (0xff, _) => {
                let Some(&[high, low]) = bytes.get(at + 2..at + 4) else { return true };
                at += 2 + usize::from(u16::from_be_bytes([high, low]));
                if marker == 0xda {
                    let Some(length) = scan_length(bytes.get(at..).unwrap_or_default()) else {
                        return true;
                    };
                    at += length;
                }
            }
            _ => return false,
        }
    }
}

/// Returns the length of a scan's data, up to the next marker; `None` if no marker follows. A zero
/// after 0xff, and the markers of restarts, belong to the data.
fn scan_length(data: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += data.get(at..)?.iter().position(|byte| *byte == 0xff)?;
        match data.get(at + 1)? {
            0x00 | 0xd0..=0xd7 => at += 2,
            0xff => at += 1,
            _ => return Some(at),
        }
    }
}

/// Decodes a file with separate scans.
pub fn decode_separate(bytes: &[u8]) -> Result<Image, Error> {
    let mut decoder = Decoder::new(bytes);
    let damaged = |reason: jpeg_decoder::Error| {
        let reason = reason.to_string();
        error!("the file is damaged ({}): export it again", reason.trim_end_matches('.'))
    };
    decoder.read_info().map_err(damaged)?;
    let info = decoder.info().ok_or_else(|| unreadable("no header"))?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    check_size(width, height)?;
    decoder.set_max_decoding_buffer_size(width as usize * height as usize * 4);
    let pixels = decoder.decode().map_err(damaged)?;
    let image = match info.pixel_format {
        DecodedFormat::L8 => {
            GrayImage::from_raw(width, height, pixels).map(DynamicImage::ImageLuma8)
        }
        DecodedFormat::RGB24 => {
            RgbImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgb8)
        }
        _ => return Err(unreadable("separate scans of CMYK")),
    };
    let mut image = image.ok_or_else(cut_short_error)?;
    if let Some(orientation) = decoder.exif_data().and_then(Orientation::from_exif_chunk) {
        image.apply_orientation(orientation);
    }
    let (width, height) = (image.width(), image.height());
    let pixels = PixelFormat::Bytes(image.into_rgba8().into_raw());
    Ok(Image { width, height, pixels })
}
