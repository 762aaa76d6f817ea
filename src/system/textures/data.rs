//! The compiled form of a texture: a short head, then the texels. Sheets and models hold such
//! textures, too. Whoever reads one can rely on its sizes: they are checked here.

use super::SMALL_SIDE_MAX;
use super::texels::{cell_levels_bytes, chain_bytes, is_blocks};
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::packet::texture::{Format, Wrap};
use crate::resource::image::{check_blocks, check_header, level_size, levels_of};

/// In the order of their numbers in the data.
const FORMATS: [Format; 10] = [
    Format::Rgba8Srgb,
    Format::Rgba8,
    Format::R8,
    Format::Rgba16Float,
    Format::Bc1Srgb,
    Format::Bc3Srgb,
    Format::Bc4,
    Format::Bc5,
    Format::Bc7Srgb,
    Format::Bc7,
];
const WRAPS: [Wrap; 3] = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror];
/// Bytes of a head.
const HEAD_BYTES: usize = 5 * 4 + 4;

/// How texels between texels are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// As the game's settings say.
    Usual,
    Linear,
    Nearest,
}

const FILTERS: [Filter; 3] = [Filter::Usual, Filter::Linear, Filter::Nearest];

/// What the head says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Head {
    /// Of the picture, before it was made smaller.
    pub picture_width: u32,
    pub picture_height: u32,
    /// Of the largest level.
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub format: Format,
    pub filter: Filter,
    pub wrap: Wrap,
    /// Whether it shares the atlas: after the largest level those of its cell follow.
    pub small: bool,
}

fn place<T: PartialEq>(list: &[T], value: T) -> u8 {
    list.iter().position(|known| *known == value).expect("every value is in its list") as u8
}

/// A texture as data.
pub fn write(head: &Head, texels: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    for number in [head.picture_width, head.picture_height, head.width, head.height, head.levels] {
        writer.u32(number);
    }
    writer.u8(place(&FORMATS, head.format));
    writer.u8(place(&FILTERS, head.filter));
    writer.u8(place(&WRAPS, head.wrap));
    writer.u8(u8::from(head.small));
    let mut out = writer.finish();
    debug_assert_eq!(out.len(), HEAD_BYTES);
    out.extend(texels);
    out
}

/// The head of a texture's data, and where its texels begin.
///
/// # Errors
/// The head says something that no compiled texture has, or the texels do not fit it. Nothing is
/// computed from a size before it was checked.
pub fn read(bytes: &[u8]) -> Result<(Head, usize), Error> {
    let mut reader = Reader::new(bytes);
    let mut number = || reader.u32();
    let (picture_width, picture_height) = (number()?, number()?);
    let (width, height, levels) = (number()?, number()?, number()?);
    let head = Head {
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
    if reader.left() != wanted {
        return Err(error!("it is damaged: it has {} bytes of {wanted}", reader.left()));
    }
    Ok((head, HEAD_BYTES))
}

/// Refuses a texture for a surface, which cannot look into the shared atlas.
///
/// # Errors
/// As for [`read`], or it would share the atlas.
pub fn check_own(bytes: &[u8]) -> Result<(), Error> {
    match read(bytes)?.0.small {
        true => Err(error!("it is damaged: a texture of a surface is in the shared atlas")),
        false => Ok(()),
    }
}

impl Head {
    /// Refuses a combination that the data compiler does not make. The sizes are possible ones.
    fn check(&self) -> Result<(), Error> {
        let Head { picture_width, picture_height, width, height, levels, format, .. } = *self;
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
        let shares = self.wrap == Wrap::Clamp
            && format == Format::Rgba8Srgb
            && levels == 1
            && width.max(height) <= SMALL_SIDE_MAX;
        match format {
            // Glyphs have it, which are made while a game runs.
            Format::R8 => Err(error!("it is damaged: no texture has the format {format:?}")),
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

    const HEAD: Head = Head {
        picture_width: 16,
        picture_height: 8,
        width: 8,
        height: 4,
        levels: 4,
        format: Format::Rgba8Srgb,
        filter: Filter::Usual,
        wrap: Wrap::Repeat,
        small: false,
    };

    /// The words for a head whose texels are as many as it asks for, where they can be counted.
    fn words(head: Head) -> String {
        let counted = head.levels <= 32 && head.width.max(head.height) <= 1 << 15;
        let count = match counted {
            true => chain_bytes(head.format, head.width, head.height, head.levels),
            false => 0,
        };
        read(&write(&head, &vec![0; count])).unwrap_err().message
    }

    #[test]
    fn heads_that_no_compiled_texture_has_are_refused_at_once() {
        let texels = vec![0; chain_bytes(HEAD.format, 8, 4, 4)];
        assert_eq!(read(&write(&HEAD, &texels)).unwrap(), (HEAD, HEAD_BYTES));
        for levels in [0, 5, 1 << 31, u32::MAX] {
            let wanted = format!(
                "the file is damaged: it says it has {levels} levels, and 8 x 4 texels have 1 to 4"
            );
            assert_eq!(words(Head { levels, ..HEAD }), wanted);
        }
        let wide = words(Head { width: u32::MAX, height: u32::MAX, ..HEAD });
        assert!(wide.contains("and 16384 is the most for either side (SIDE_MAX)"), "{wide}");
        let large = words(Head { width: 1 << 14, height: 1 << 14, ..HEAD });
        assert!(large.contains("134 million texels (TEXELS_MAX)"), "{large}");
        let picture = words(Head { picture_height: 0, ..HEAD });
        assert_eq!(picture, "the picture has no texels: it is 16 x 0");
        assert_eq!(
            words(Head { picture_width: 17, picture_height: 17, ..HEAD }),
            "it is damaged: 8 x 4 texels are no level of a picture of 17 x 17"
        );
        assert_eq!(
            words(Head { levels: 2, ..HEAD }),
            "it is damaged: it has 2 levels, and not all of them"
        );
        let blocks = Head { width: 4, height: 2, levels: 1, format: Format::Bc7, ..HEAD };
        assert!(words(blocks).contains("must be multiples of 4"));
        assert_eq!(
            words(Head { levels: 1, format: Format::R8, ..HEAD }),
            "it is damaged: no texture has the format R8"
        );
        let shares = "it is damaged: it shares the atlas, and cannot";
        assert_eq!(words(Head { levels: 1, small: true, ..HEAD }), shares);
        assert_eq!(words(Head { small: true, wrap: Wrap::Clamp, ..HEAD }), shares);
        let mut bytes = write(&HEAD, &texels);
        bytes[23] = 2;
        assert_eq!(read(&bytes).unwrap_err().message, "it is damaged: 2 is where 0 or 1 should be");
    }
}
