//! The compiled form of a texture: a short head, then the texels. Sheets hold one for each frame.

use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::packet::texture::{ATLAS_SIDE, Format, Wrap};

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

fn pick<T: Copy>(list: &[T], index: u8) -> Result<T, Error> {
    let found = list.get(usize::from(index)).copied();
    found.ok_or_else(|| error!("it is damaged: there is no choice {index}"))
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
        format: pick(&FORMATS, reader.u8()?)?,
        filter: pick(&FILTERS, reader.u8()?)?,
        wrap: pick(&WRAPS, reader.u8()?)?,
        small: reader.u8()? == 1,
    };
    let mut wanted = super::texels::chain_bytes(head.format, width, height, levels);
    if head.small {
        let (width, height) = (width.min(ATLAS_SIDE), height.min(ATLAS_SIDE));
        wanted += super::texels::cell_levels_bytes(width, height);
    }
    if reader.left() != wanted || width == 0 || height == 0 || levels == 0 {
        return Err(error!("it is damaged: it has {} bytes of {wanted}", reader.left()));
    }
    Ok((head, HEAD_BYTES))
}
