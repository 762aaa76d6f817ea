//! BMP files with headers that the crate `image` does not know: those of OS/2, and Windows headers
//! with small deviations. They are rewritten as headers that it knows; the texels stay as they are.

use engine_foundation::Error;
use engine_foundation::error;
use std::borrow::Cow;

/// Sizes of headers: of the file, of a picture of Windows, of Windows with four masks, of OS/2.
const FILE_HEADER: usize = 14;
const WINDOWS_HEADER: usize = 40;
const MASKS_HEADER: usize = 56;
const OS2_HEADER: usize = 64;
const OS2_SHORT_HEADER: usize = 16;

/// Compressions of OS/2 that have the same numbers as others of Windows.
const OS2_HUFFMAN: u32 = 3;
const OS2_RLE24: u32 = 4;
/// Masks of four channels after the header, as Windows CE writes them.
const ALPHA_MASKS: u32 = 6;
/// Masks of three channels after the header, or of four in the longer header.
const MASKS: u32 = 3;

fn unreadable(form: &str) -> Error {
    error!("this form of .bmp cannot be read ({form}): save it as PNG")
}

fn u16_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 2).map_or(0, |two| u32::from(u16::from_le_bytes([two[0], two[1]])))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Returns a file with a header that the decoder knows. Files that are cut short or damaged are
/// left to the decoder.
///
/// # Errors
/// Returns an error that names a form that cannot be read.
pub fn with_known_header(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    let size = u32_at(bytes, FILE_HEADER) as usize;
    if bytes.len() < FILE_HEADER + size.max(OS2_SHORT_HEADER) {
        return Ok(Cow::Borrowed(bytes));
    }
    let bits = u16_at(bytes, FILE_HEADER + if size == 12 { 10 } else { 14 });
    if bits == 64 {
        return Err(unreadable("64 bits per texel"));
    }
    let mut out = match size {
        OS2_HEADER | OS2_SHORT_HEADER => of_os2(bytes, size)?,
        WINDOWS_HEADER if u32_at(bytes, FILE_HEADER + 16) == ALPHA_MASKS => {
            let mut out = bytes.to_vec();
            set_u32(&mut out, FILE_HEADER, MASKS_HEADER as u32);
            set_u32(&mut out, FILE_HEADER + 16, MASKS);
            return Ok(Cow::Owned(out));
        }
        _ => return Ok(limited_palette(bytes, size, bits)),
    };
    if let Cow::Owned(limited) = limited_palette(&out, WINDOWS_HEADER, bits) {
        out = limited;
    }
    Ok(Cow::Owned(out))
}

/// Rewrites a header of OS/2 2.x: its first fields are those of Windows. A short one leaves out
/// fields, which are 0.
fn of_os2(bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let mut header = vec![0; WINDOWS_HEADER];
    let known = size.min(WINDOWS_HEADER);
    header[..known].copy_from_slice(&bytes[FILE_HEADER..FILE_HEADER + known]);
    match u32_at(&header, 16) {
        OS2_HUFFMAN => return Err(unreadable("Huffman coding of OS/2")),
        OS2_RLE24 => return Err(unreadable("RLE24 coding of OS/2")),
        _ => {}
    }
    set_u32(&mut header, 0, WINDOWS_HEADER as u32);
    let mut out = bytes[..FILE_HEADER].to_vec();
    // The texels move by the difference of the headers.
    let start = u32_at(bytes, 10);
    set_u32(&mut out, 10, start.wrapping_add(WINDOWS_HEADER as u32).wrapping_sub(size as u32));
    out.extend(header);
    out.extend(&bytes[FILE_HEADER + size..]);
    Ok(out)
}

/// Limits the number of palette entries to those that texels can name: a longer palette is only
/// longer. Numbers that no file can have are left to the decoder.
fn limited_palette(bytes: &[u8], size: usize, bits: u32) -> Cow<'_, [u8]> {
    let at = FILE_HEADER + 32;
    let fits = |colors: u32| colors as usize * 4 <= bytes.len();
    if size < WINDOWS_HEADER || !(1..=8).contains(&bits) {
        return Cow::Borrowed(bytes);
    }
    let colors = u32_at(bytes, at);
    if colors <= 1 << bits || !fits(colors) {
        return Cow::Borrowed(bytes);
    }
    let mut out = bytes.to_vec();
    set_u32(&mut out, at, 1 << bits);
    Cow::Owned(out)
}
