//! Cells of the atlas of small textures: a picture with a margin that repeats its edge pixels. Does
//! not know the atlas or a cell's smaller mip levels.

use super::texture::ATLAS_GUTTER;

/// Width in texels of the margin around a picture in its atlas cell: half of the distance between
/// two pictures. At the smallest mip level this is half a texel, so the picture's edge falls on the
/// center of a texel of its own cell. Bilinear filtering therefore never reaches other cells.
pub const MARGIN: u32 = ATLAS_GUTTER / 2;

/// Returns the size of the cell for a picture: with margins on both sides, rounded up to a multiple
/// of the gutter.
pub const fn size(width: u32, height: u32) -> (u32, u32) {
    (
        (width + 2 * MARGIN).next_multiple_of(ATLAS_GUTTER),
        (height + 2 * MARGIN).next_multiple_of(ATLAS_GUTTER),
    )
}

/// Returns the texels of a picture's cell at the largest mip level, four bytes per texel.
pub fn with_border(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let (cell_width, cell_height) = size(width, height);
    let (row_bytes, cell_row) = (width as usize * 4, cell_width as usize * 4);
    let mut out = Vec::with_capacity(cell_row * cell_height as usize);
    let right = (cell_width - MARGIN - width) as usize;
    for row in rgba.chunks_exact(row_bytes) {
        for _ in 0..MARGIN {
            out.extend_from_slice(&row[..4]);
        }
        out.extend_from_slice(row);
        for _ in 0..right {
            out.extend_from_slice(&row[row_bytes - 4..]);
        }
        if out.len() == cell_row {
            for _ in 0..MARGIN {
                out.extend_from_within(..cell_row);
            }
        }
    }
    let last = out.len() - cell_row;
    for _ in MARGIN + height..cell_height {
        out.extend_from_within(last..last + cell_row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atlas_cell_repeats_the_edge_of_its_image() {
        let cell = with_border(2, 1, &[10, 10, 10, 255, 20, 20, 20, 255]);
        assert_eq!(size(2, 1), (16, 16));
        let texel = |x: usize, y: usize| cell[(y * 16 + x) * 4];
        assert_eq!((texel(0, 0), texel(4, 4), texel(5, 4), texel(15, 15)), (10, 10, 20, 20));
        assert_eq!(cell.len(), 16 * 16 * 4);
    }
}
