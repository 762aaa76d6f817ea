//! Attribute bits of TGA files: which of them are alpha. The crate `image` decodes the texels.

use std::borrow::Cow;

const HEADER: usize = 18;
/// The end of a file in the newer format (TGA 2.0), and the length of what it refers to.
const SIGNATURE: &[u8] = b"TRUEVISION-XFILE.\0";
const FOOTER: usize = 26;
const EXTENSION_AREA: usize = 495;

/// Meaning of the attribute bits of 32-bit texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TgaAlpha {
    Straight,
    Premultiplied,
    /// The bits mean something else.
    None,
    /// The file states no attribute bits. Many programs store alpha nevertheless, and others 0.
    Unstated,
}

/// Returns the meaning of a file's attribute bits.
pub fn alpha(bytes: &[u8]) -> TgaAlpha {
    match attributes_type(bytes) {
        Some(0..=2) => TgaAlpha::None,
        Some(4) => TgaAlpha::Premultiplied,
        Some(_) => TgaAlpha::Straight,
        None if bytes.get(17).is_some_and(|bits| bits & 15 == 0) => TgaAlpha::Unstated,
        None => TgaAlpha::Straight,
    }
}

/// Returns the type of the attributes that the extension area states (TGA 2.0, field 24).
fn attributes_type(bytes: &[u8]) -> Option<u8> {
    let footer = bytes.get(bytes.len().checked_sub(FOOTER)?..)?;
    if &footer[8..] != SIGNATURE {
        return None;
    }
    let start = u32::from_le_bytes([footer[0], footer[1], footer[2], footer[3]]) as usize;
    let area = bytes.get(start..start.checked_add(EXTENSION_AREA)?)?;
    let length = usize::from(u16::from_le_bytes([area[0], area[1]]));
    (start >= HEADER && length >= EXTENSION_AREA).then(|| area[EXTENSION_AREA - 1])
}

/// Returns a file whose number of attribute bits suits its number of bits per texel: the decoder
/// refuses others, and programs write them.
pub fn with_known_attributes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let (Some(kind), Some(depth), Some(descriptor)) = (bytes.get(2), bytes.get(16), bytes.get(17))
    else {
        return Cow::Borrowed(bytes);
    };
    let is_color = matches!(kind, 2 | 10);
    let bits = match (depth, descriptor & 15) {
        (24, 1..) if is_color => 0,
        (15 | 16, 2..) if is_color => 1,
        (32, 1..=7 | 9..) if is_color => 8,
        _ => return Cow::Borrowed(bytes),
    };
    let mut out = bytes.to_vec();
    out[17] = descriptor & !15 | bits;
    Cow::Owned(out)
}

/// Applies the meaning of the attribute bits to decoded texels of red, green, blue and alpha.
pub fn apply_alpha(alpha: TgaAlpha, texels: &mut [u8]) {
    let hidden = |texels: &[u8]| texels.chunks_exact(4).all(|texel| texel[3] == 0);
    let is_opaque = match alpha {
        TgaAlpha::None => true,
        TgaAlpha::Unstated => hidden(texels),
        TgaAlpha::Straight | TgaAlpha::Premultiplied => false,
    };
    for texel in texels.chunks_exact_mut(4) {
        let alpha_part = u32::from(texel[3]);
        if is_opaque {
            texel[3] = 255;
        } else if alpha == TgaAlpha::Premultiplied && alpha_part > 0 {
            for part in &mut texel[..3] {
                let straight = (u32::from(*part) * 255 + alpha_part / 2) / alpha_part;
                *part = straight.min(255) as u8;
            }
        }
    }
}
