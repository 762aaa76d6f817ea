//! Texels as the graphics card reads them: blocks of 4 x 4, every level. What DDS and KTX2 have in
//! common; how each names its formats is in their own files.

use super::check_size;
use crate::error;
use crate::foundation::Error;

/// How blocks store their texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Colour with one bit of alpha, 8 bytes a block.
    Bc1,
    /// Colour with alpha, 16 bytes a block.
    Bc3,
    /// One channel, 8 bytes.
    Bc4,
    /// Two channels, 16 bytes.
    Bc5,
    /// Colour with alpha, 16 bytes, better.
    Bc7,
}

impl Encoding {
    /// Bytes of one block of 4 x 4 texels.
    pub const fn block_bytes(self) -> usize {
        match self {
            Encoding::Bc1 | Encoding::Bc4 => 8,
            Encoding::Bc3 | Encoding::Bc5 | Encoding::Bc7 => 16,
        }
    }

    /// Bytes of a level of that size.
    pub const fn level_bytes(self, width: u32, height: u32) -> usize {
        width.div_ceil(4) as usize * height.div_ceil(4) as usize * self.block_bytes()
    }
}

/// A texture in blocks: the levels, the largest first, without padding.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocks {
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub encoding: Encoding,
    /// Whether the file says that colours are sRGB; `None` where its format cannot say.
    pub srgb: Option<bool>,
    pub bytes: Vec<u8>,
}

/// The most levels that a size has.
pub fn levels_of(width: u32, height: u32) -> u32 {
    32 - width.max(height).leading_zeros()
}

/// The size of a level.
pub fn level_size(width: u32, height: u32, level: u32) -> (u32, u32) {
    ((width >> level).max(1), (height >> level).max(1))
}

/// Checks what a header says about size and levels.
pub fn check_header(width: u32, height: u32, levels: u32) -> Result<(), Error> {
    check_size(width, height)?;
    let most = levels_of(width, height);
    if levels == 0 || levels > most {
        return Err(error!(
            "the file is damaged: it says it has {levels} levels, and {width} x {height} texels \
             have 1 to {most}"
        ));
    }
    Ok(())
}

/// Blocks must fill the largest level; the graphics card refuses others.
pub fn check_blocks(width: u32, height: u32) -> Result<(), Error> {
    if !width.is_multiple_of(4) || !height.is_multiple_of(4) {
        return Err(error!(
            "the texture is {width} x {height}, and textures in blocks must be multiples of 4: \
             resize it"
        ));
    }
    Ok(())
}

/// Words for a file whose texels are missing.
pub fn short() -> Error {
    error!("the file is cut short: copy or export it again")
}
