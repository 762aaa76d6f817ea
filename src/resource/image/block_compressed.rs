//! Block-compressed textures: all mip levels in blocks of 4 x 4 texels, as the graphics card reads
//! them. This module has the parts that DDS and KTX2 share; the format numbers of each are in their
//! own files.

use super::check_size;
use engine_foundation::Error;
use engine_foundation::error;

/// Encoding of the texels in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockEncoding {
    /// Color with one bit of alpha, 8 bytes per block.
    Bc1,
    /// Color with alpha, 16 bytes per block.
    Bc3,
    /// One channel, 8 bytes per block.
    Bc4,
    /// Two channels, 16 bytes per block.
    Bc5,
    /// Color with alpha in higher quality, 16 bytes per block.
    Bc7,
}

impl BlockEncoding {
    /// Returns the number of bytes of one block of 4 x 4 texels.
    pub const fn block_bytes(self) -> usize {
        match self {
            BlockEncoding::Bc1 | BlockEncoding::Bc4 => 8,
            BlockEncoding::Bc3 | BlockEncoding::Bc5 | BlockEncoding::Bc7 => 16,
        }
    }

    /// Returns the number of bytes of a mip level of this size.
    pub const fn level_bytes(self, width: u32, height: u32) -> usize {
        width.div_ceil(4) as usize * height.div_ceil(4) as usize * self.block_bytes()
    }
}

/// A block-compressed texture: its mip levels, the largest first, without padding.
#[derive(Clone, PartialEq, Debug)]
pub struct CompressedTexture {
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub encoding: BlockEncoding,
    /// True if the file declares its colors as sRGB; `None` if its format cannot declare this.
    pub srgb: Option<bool>,
    pub bytes: Vec<u8>,
}

/// Returns the maximum number of mip levels for a size.
pub fn levels_of(width: u32, height: u32) -> u32 {
    32 - width.max(height).leading_zeros()
}

/// Returns the size of a mip level.
pub fn level_size(width: u32, height: u32, level: u32) -> (u32, u32) {
    ((width >> level).max(1), (height >> level).max(1))
}

/// Checks the size and the number of levels that a header declares.
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

/// Refuses a size that is not a multiple of the block size, because the graphics card refuses it as
/// well.
pub fn check_blocks(width: u32, height: u32) -> Result<(), Error> {
    if !width.is_multiple_of(4) || !height.is_multiple_of(4) {
        return Err(error!(
            "the texture is {width} x {height}, and textures in blocks must be multiples of 4: \
             resize it"
        ));
    }
    Ok(())
}

/// Returns the error for a file with missing texels.
pub fn cut_short() -> Error {
    error!("the file is cut short: copy or export it again")
}
