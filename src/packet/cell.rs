//! Cells of the atlas of small textures: a picture, and around it a margin that repeats its edge.
//! Knows neither the atlas nor a cell's smaller levels.

use super::texture::ATLAS_GUTTER;

/// Free texels on each side of a picture in its cell of the atlas: half of what is between two. At
/// the smallest level that is half a texel, and the picture's edge falls on the middle of a texel
/// of its own cell: no mixture of four reaches beyond.
pub const MARGIN: u32 = ATLAS_GUTTER / 2;

/// The size of the cell for a picture: margins on both sides, at a multiple of the gutter.
pub const fn size(width: u32, height: u32) -> (u32, u32) {
    (
        (width + 2 * MARGIN).next_multiple_of(ATLAS_GUTTER),
        (height + 2 * MARGIN).next_multiple_of(ATLAS_GUTTER),
    )
}

/// The largest level of a picture's cell; four bytes a texel.
pub fn around(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
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
    fn a_cell_repeats_the_pictures_edge_around_it() {
        let cell = around(2, 1, &[10, 10, 10, 255, 20, 20, 20, 255]);
        assert_eq!(size(2, 1), (16, 16));
        let texel = |x: usize, y: usize| cell[(y * 16 + x) * 4];
        assert_eq!((texel(0, 0), texel(4, 4), texel(5, 4), texel(15, 15)), (10, 10, 20, 20));
        assert_eq!(cell.len(), 16 * 16 * 4);
    }
}
