//! Compiled form of a texture: a short header, then the texels. Sheets and models contain such
//! textures, too. Reading checks all sizes, so that callers can rely on them.

use super::SMALL_SIDE_MAX;
use super::mipmaps::{cell_levels_bytes, chain_bytes, is_blocks};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_frame_packet::texture::{TexelFormat, WrapMode};
use engine_resource::image::{check_blocks, check_header, level_size, levels_of};

/// All formats, in the order of their numbers in the data.
const FORMATS: [TexelFormat; 10] = [
    TexelFormat::Rgba8Srgb,
    TexelFormat::Rgba8,
    TexelFormat::R8,
    TexelFormat::Rgba16Float,
    TexelFormat::Bc1Srgb,
    TexelFormat::Bc3Srgb,
    TexelFormat::Bc4,
    TexelFormat::Bc5,
    TexelFormat::Bc7Srgb,
    TexelFormat::Bc7,
];
const WRAPS: [WrapMode; 3] = [WrapMode::Clamp, WrapMode::Repeat, WrapMode::Mirror];
/// Bytes of a header.
const HEADER_BYTES: usize = 5 * 4 + 4;

/// Filter between texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterMode {
    /// The default filter in the game's settings.
    Default,
    Linear,
    Nearest,
}

const FILTERS: [FilterMode; 3] = [FilterMode::Default, FilterMode::Linear, FilterMode::Nearest];

/// Header of a texture's data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextureHeader {
    /// Width of the original picture, before it was shrunk.
    pub picture_width: u32,
    pub picture_height: u32,
    /// Width of the largest mip level.
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub format: TexelFormat,
    pub filter: FilterMode,
    pub wrap: WrapMode,
    /// True if it shares the atlas. The smaller mip levels of its atlas cell then follow the
    /// largest level.
    pub small: bool,
}

fn index_in_list<T: PartialEq>(list: &[T], value: T) -> u8 {
    list.iter().position(|known| *known == value).expect("every value is in its list") as u8
}

/// Writes a texture as data.
pub fn write(head: &TextureHeader, texels: &[u8]) -> Vec<u8> {
    let mut writer = BlobWriter::default();
    for number in [head.picture_width, head.picture_height, head.width, head.height, head.levels] {
        writer.u32(number);
    }
    writer.u8(index_in_list(&FORMATS, head.format));
    writer.u8(index_in_list(&FILTERS, head.filter));
    writer.u8(index_in_list(&WRAPS, head.wrap));
    writer.u8(u8::from(head.small));
    let mut out = writer.finish();
    debug_assert_eq!(out.len(), HEADER_BYTES);
    out.extend(texels);
    out
}

/// Reads the header of a texture's data, and returns the offset of its texels.
///
/// # Errors
/// Returns an error if the header has values that no compiled texture has, or if the texels do not
/// match it. Every size is checked before it is used.
pub fn read(bytes: &[u8]) -> Result<(TextureHeader, usize), Error> {
    let mut reader = BlobReader::new(bytes);
    let mut number = || reader.u32();
    let (picture_width, picture_height) = (number()?, number()?);
    let (width, height, levels) = (number()?, number()?, number()?);
    let head = TextureHeader {
        picture_width,
        picture_height,
        width,
        height,
        levels,
        format: reader.choice(&FORMATS)?,
        filter: reader.choice(&FILTERS)?,
        wrap: reader.choice(&WRAPS)?,
        small: reader.flag()?,
    };
    check_header(width, height, levels)?;
    check_header(picture_width, picture_height, 1)?;
    head.check()?;
    let mut wanted = chain_bytes(head.format, width, height, levels);
    if head.small {
        wanted += cell_levels_bytes(width, height);
    }
    if reader.remaining() != wanted {
        return Err(error!("it is damaged: it has {} bytes of {wanted}", reader.remaining()));
    }
    Ok((head, HEADER_BYTES))
}

/// Checks that a texture can be used by a surface, which cannot sample the shared atlas.
///
/// # Errors
/// Returns an error under the conditions of [`read`], and if the texture would share the atlas.
pub fn check_surface_texture(bytes: &[u8]) -> Result<(), Error> {
    match read(bytes)?.0.small {
        true => Err(error!("it is damaged: a texture of a surface is in the shared atlas")),
        false => Ok(()),
    }
}

impl TextureHeader {
    /// Rejects a combination that the data compiler never writes. The sizes were checked before.
    fn check(&self) -> Result<(), Error> {
        let TextureHeader { picture_width, picture_height, width, height, levels, format, .. } =
            *self;
        let mut smaller = (0..levels_of(picture_width, picture_height))
            .map(|level| level_size(picture_width, picture_height, level));
        if !smaller.any(|size| size == (width, height)) {
            return Err(error!(
                "it is damaged: {width} x {height} texels are no level of a picture of \
                 {picture_width} x {picture_height}"
            ));
        }
        if is_blocks(format) {
            check_blocks(width, height)?;
        } else if levels != 1 && levels != levels_of(width, height) {
            return Err(error!("it is damaged: it has {levels} levels, and not all of them"));
        }
        let shares = self.wrap == WrapMode::Clamp
            && format == TexelFormat::Rgba8Srgb
            && levels == 1
            && width.max(height) <= SMALL_SIDE_MAX;
        match format {
            // No compiled texture uses this format.
            TexelFormat::R8 => Err(error!("it is damaged: no texture has the format {format:?}")),
            _ if self.small && !shares => {
                Err(error!("it is damaged: it shares the atlas, and cannot"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: TextureHeader = TextureHeader {
        picture_width: 16,
        picture_height: 8,
        width: 8,
        height: 4,
        levels: 4,
        format: TexelFormat::Rgba8Srgb,
        filter: FilterMode::Default,
        wrap: WrapMode::Repeat,
        small: false,
    };

    /// Returns the error message for a header. It is written with as many texels as it requires, if
    /// that number can be computed.
    fn error_message(head: TextureHeader) -> String {
        let counted = head.levels <= 32 && head.width.max(head.height) <= 1 << 15;
        let count = match counted {
            true => chain_bytes(head.format, head.width, head.height, head.levels),
            false => 0,
        };
        read(&write(&head, &vec![0; count])).unwrap_err().message
    }

    #[test]
    fn invalid_headers_are_refused() {
        let texels = vec![0; chain_bytes(HEADER.format, 8, 4, 4)];
        assert_eq!(read(&write(&HEADER, &texels)).unwrap(), (HEADER, HEADER_BYTES));
        for levels in [0, 5, 1 << 31, u32::MAX] {
            let wanted = format!(
                "the file is damaged: it says it has {levels} levels, and 8 x 4 texels have 1 to 4"
            );
            assert_eq!(error_message(TextureHeader { levels, ..HEADER }), wanted);
        }
        let wide = error_message(TextureHeader { width: u32::MAX, height: u32::MAX, ..HEADER });
        assert!(wide.contains("and 16384 is the most for either side (SIDE_MAX)"), "{wide}");
        let large = error_message(TextureHeader { width: 1 << 14, height: 1 << 14, ..HEADER });
        assert!(large.contains("134 million texels (TEXELS_MAX)"), "{large}");
        let picture = error_message(TextureHeader { picture_height: 0, ..HEADER });
        assert_eq!(picture, "the picture has no texels: it is 16 x 0");
        assert_eq!(
            error_message(TextureHeader { picture_width: 17, picture_height: 17, ..HEADER }),
            "it is damaged: 8 x 4 texels are no level of a picture of 17 x 17"
        );
        assert_eq!(
            error_message(TextureHeader { levels: 2, ..HEADER }),
            "it is damaged: it has 2 levels, and not all of them"
        );
        let blocks =
            TextureHeader { width: 4, height: 2, levels: 1, format: TexelFormat::Bc7, ..HEADER };
        assert!(error_message(blocks).contains("must be multiples of 4"));
        assert_eq!(
            error_message(TextureHeader { levels: 1, format: TexelFormat::R8, ..HEADER }),
            "it is damaged: no texture has the format R8"
        );
        let shares = "it is damaged: it shares the atlas, and cannot";
        assert_eq!(error_message(TextureHeader { levels: 1, small: true, ..HEADER }), shares);
        assert_eq!(
            error_message(TextureHeader { small: true, wrap: WrapMode::Clamp, ..HEADER }),
            shares
        );
        let mut bytes = write(&HEADER, &texels);
        bytes[23] = 2;
        assert_eq!(read(&bytes).unwrap_err().message, "it is damaged: 2 is where 0 or 1 should be");
    }
}
