//! Compiled form of a texture: a short header, then the texels, and then the texture with its
//! normals if it has one. Sheets and models contain such textures, too. Reading checks all sizes,
//! so that callers can rely on them.

use super::SMALL_SIDE_MAX;
use super::mipmaps::{cell_levels_bytes, chain_bytes, is_blocks};
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_frame_packet::texture::{TexelFormat, WrapMode};
use engine_resource::image::{check_blocks, check_header, level_size, levels_of};
use std::ops::Range;

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
/// Position of the byte of the flags in a header, and its bits: [`TextureHeader::small`] and
/// [`TextureHeader::has_normals`].
const FLAGS_AT: usize = HEADER_BYTES - 1;
const SMALL: u8 = 1;
const HAS_NORMALS: u8 = 2;

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
    /// True if the texture with its normals follows.
    pub has_normals: bool,
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
    writer.u8((u8::from(head.small) * SMALL) | (u8::from(head.has_normals) * HAS_NORMALS));
    let mut out = writer.finish();
    debug_assert_eq!(out.len(), HEADER_BYTES);
    out.extend(texels);
    out
}

/// Adds the texture with the normals to a texture's data.
pub fn with_normals(mut data: Vec<u8>, normals: &[u8]) -> Vec<u8> {
    data[FLAGS_AT] |= HAS_NORMALS;
    data.extend_from_slice(normals);
    data
}

/// Reads the header of a texture's data, and returns the offset of its texels.
///
/// # Errors
/// Returns an error if the header has values that no compiled texture has, or if the texels do not
/// match it. Every size is checked before it is used.
pub fn read(bytes: &[u8]) -> Result<(TextureHeader, usize), Error> {
    let head = read_head(bytes)?;
    head.check(TexelFormat::Rgba8Srgb)?;
    let (wanted, rest) = (head.texel_bytes(), bytes.len() - HEADER_BYTES);
    match head.has_normals {
        false if rest != wanted => {
            return Err(error!("it is damaged: it has {rest} bytes of {wanted}"));
        }
        false => {}
        true => {
            let normals = bytes.get(HEADER_BYTES + wanted..).unwrap_or_default();
            check_normals(normals).map_err(|fault| error!("its normals: {}", fault.message))?;
        }
    }
    Ok((head, HEADER_BYTES))
}

/// Checks the texture with the normals of another one.
fn check_normals(bytes: &[u8]) -> Result<(), Error> {
    let head = read_head(bytes)?;
    head.check(TexelFormat::Rgba8)?;
    if head.has_normals || !matches!(head.format, TexelFormat::Rgba8 | TexelFormat::Bc7) {
        return Err(error!("it is damaged: they have the format {:?}", head.format));
    }
    let (wanted, rest) = (head.texel_bytes(), bytes.len() - HEADER_BYTES);
    match rest == wanted {
        true => Ok(()),
        false => Err(error!("it is damaged: it has {rest} bytes of {wanted}")),
    }
}

/// Returns the header of the texture with the normals of a texture, and where its texels are in the
/// data of that texture; `None`: it has none.
///
/// # Errors
/// As [`read`].
pub fn normals(bytes: &[u8]) -> Result<Option<(TextureHeader, Range<usize>)>, Error> {
    let (head, start) = read(bytes)?;
    if !head.has_normals {
        return Ok(None);
    }
    let first = start + head.texel_bytes();
    let head = read_head(&bytes[first..])?;
    Ok(Some((head, first + HEADER_BYTES..bytes.len())))
}

/// Reads a header. What it says of the texels is not checked.
fn read_head(bytes: &[u8]) -> Result<TextureHeader, Error> {
    let mut reader = BlobReader::new(bytes);
    let mut number = || reader.u32();
    let (picture_width, picture_height) = (number()?, number()?);
    let (width, height, levels) = (number()?, number()?, number()?);
    let (format, filter) = (reader.choice(&FORMATS)?, reader.choice(&FILTERS)?);
    let (wrap, flags) = (reader.choice(&WRAPS)?, reader.u8()?);
    if flags > SMALL | HAS_NORMALS {
        return Err(error!("it is damaged: {flags} is where 0 to 3 should be"));
    }
    check_header(width, height, levels)?;
    check_header(picture_width, picture_height, 1)?;
    Ok(TextureHeader {
        picture_width,
        picture_height,
        width,
        height,
        levels,
        format,
        filter,
        wrap,
        small: flags & SMALL != 0,
        has_normals: flags & HAS_NORMALS != 0,
    })
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
    /// Returns the number of bytes of its texels, with the smaller levels of its atlas cell.
    pub fn texel_bytes(&self) -> usize {
        let TextureHeader { width, height, levels, format, small, .. } = *self;
        let cell = if small { cell_levels_bytes(width, height) } else { 0 };
        chain_bytes(format, width, height, levels) + cell
    }

    /// Rejects a combination that the data compiler never writes. The sizes were checked before.
    /// `small_format` is that of small textures.
    fn check(&self, small_format: TexelFormat) -> Result<(), Error> {
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
            && format == small_format
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
        has_normals: false,
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
        bytes[FLAGS_AT] = 4;
        assert_eq!(read(&bytes).unwrap_err().message, "it is damaged: 4 is where 0 to 3 should be");
    }

    #[test]
    fn normals_follow_the_texels_and_are_checked() {
        let of = |head: TextureHeader| {
            write(&head, &vec![7; chain_bytes(head.format, head.width, head.height, head.levels)])
        };
        let picture = of(HEADER);
        assert_eq!(normals(&picture).unwrap(), None);
        let slopes = TextureHeader { format: TexelFormat::Rgba8, ..HEADER };
        let both = with_normals(picture.clone(), &of(slopes));
        assert_eq!(
            read(&both).unwrap(),
            (TextureHeader { has_normals: true, ..HEADER }, HEADER_BYTES)
        );
        let (head, texels) = normals(&both).unwrap().unwrap();
        assert_eq!((head, texels.len(), texels.end), (slopes, head.texel_bytes(), both.len()));
        let refused =
            |normals: &[u8]| read(&with_normals(picture.clone(), normals)).unwrap_err().message;
        assert_eq!(
            refused(&of(HEADER)),
            "its normals: it is damaged: they have the format Rgba8Srgb"
        );
        // Normals with normals are refused without reading those.
        let deep = refused(&with_normals(of(slopes), &of(slopes)));
        assert_eq!(deep, "its normals: it is damaged: they have the format Rgba8");
        assert!(refused(&[]).starts_with("its normals: "), "{}", refused(&[]));
        let long = [of(slopes), vec![0]].concat();
        assert_eq!(refused(&long), "its normals: it is damaged: it has 173 bytes of 172");
        for end in 0..both.len() {
            assert!(read(&both[..end]).is_err(), "{end}");
        }
    }
}
