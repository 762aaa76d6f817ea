//! Pictures as scenes sample them, which cannot look into the atlas: a slot, and which part of it.
//! The small frames of a sheet are put together on one page, so that all who show some of them are
//! drawn in one go.

use super::*;
use crate::packet::texture::ATLAS_GUTTER;

/// Where a scene finds a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placed {
    pub slot: TextureSlot,
    pub sampling: Sampling,
    /// Left, top, width and height in the slot's texture, from 0 to 1.
    pub part: [f32; 4],
    /// Width and height of the picture in texels.
    pub size: [f32; 2],
}

/// The small pictures of a sheet in one texture.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    slot: TextureSlot,
    /// Of each picture of the sheet that is on the page: its part of it.
    parts: Vec<Option<[f32; 4]>>,
}

/// A small picture that goes onto a page.
struct Cell {
    picture: usize,
    head: Head,
    data: Range<usize>,
    x: u32,
    y: u32,
}

impl Textures {
    /// Where scenes find a texture or a frame; what is missing is the checkerboard.
    ///
    /// # Errors
    /// There is no room for it, or its data cannot be read.
    pub fn placed(&mut self, store: &mut Store, number: TextureNumber) -> Result<Placed, Error> {
        let loaded = self.entries[number.0 as usize].loaded;
        let number = if loaded { number } else { TextureNumber::MISSING };
        let entry = self.entries[number.0 as usize];
        let (sampling, size) = (entry.sampling, [entry.width as f32, entry.height as f32]);
        if entry.slot == TextureSlot::SHARED
            && let Source::Frame { sheet, frame } = self.records[number.0 as usize].source.clone()
            && let Some(page) = self.page(store, sheet)?
        {
            let known = &self.sheets[sheet].sheet;
            let found = known.frames.iter().find(|known| known.name == frame);
            let picture = found.map(|found| found.picture as usize);
            if let Some(part) = picture.and_then(|picture| page.parts[picture]) {
                return Ok(Placed { slot: page.slot, sampling, part, size });
            }
        }
        let slot = self.slot(store, number)?;
        Ok(Placed { slot, sampling, part: [0.0, 0.0, 1.0, 1.0], size })
    }

    /// The page of a sheet, made when first asked for; none where its frames are too many for one
    /// texture of this machine.
    fn page(&mut self, store: &mut Store, sheet: usize) -> Result<Option<Page>, Error> {
        if self.sheets[sheet].page.is_none() {
            self.fill_page(store, sheet)?;
        }
        Ok(self.sheets[sheet].page.clone())
    }

    /// Makes a sheet's page, or makes it anew in its old slot.
    pub(super) fn fill_page(&mut self, store: &mut Store, sheet: usize) -> Result<(), Error> {
        let resource = ResourceName::new("sheet", &self.sheets[sheet].name);
        let bytes = store.read(&resource)?;
        store.forget(std::iter::once(resource.id()));
        contain(&resource, || self.draw_page(&bytes, sheet))
    }

    fn draw_page(&mut self, bytes: &Bytes, sheet: usize) -> Result<(), Error> {
        let ranges = &self.sheets[sheet].sheet.pictures;
        let mut cells = Vec::new();
        for (picture, range) in ranges.iter().enumerate() {
            let (head, start) = data::read(&bytes[range.clone()])?;
            if head.small && head.format == Format::Rgba8Srgb {
                let data = range.start + start..range.end;
                cells.push(Cell { picture, head, data, x: 0, y: 0 });
            }
        }
        let count = ranges.len();
        let old = self.sheets[sheet].page.take().map(|page| page.slot);
        let size = lay_out(&mut cells, self.abilities.side_max);
        let (Some((width, height)), Some(first)) = (size, cells.first()) else {
            if let Some(slot) = old {
                self.give_slot(slot);
            }
            return Ok(());
        };
        let sampling = self.sampling(&first.head);
        let slot = old.map_or_else(|| self.take_slot(), Ok)?;
        let mut parts = vec![None; count];
        for Cell { picture, head, x, y, .. } in &cells {
            parts[*picture] = Some([
                (x + MARGIN) as f32 / width as f32,
                (y + MARGIN) as f32 / height as f32,
                head.width as f32 / width as f32,
                head.height as f32 / height as f32,
            ]);
        }
        let bytes = draw(&cells, bytes, width, height).into();
        let (levels, format) = (ATLAS_LEVELS, Format::Rgba8Srgb);
        let texels = Texels { width, height, levels, format, sampling, bytes, start: 0 };
        self.queue.push(TextureChange::Put { slot, texels });
        self.sheets[sheet].page = Some(Page { slot, parts });
        Ok(())
    }

    /// Lets go of a sheet's page.
    pub(super) fn end_page(&mut self, sheet: usize) {
        if let Some(page) = self.sheets[sheet].page.take() {
            self.give_slot(page.slot);
        }
    }
}

/// Gives each picture its place, in rows of falling height: the size of the page, none where it
/// would be larger than `side_max`.
fn lay_out(cells: &mut [Cell], side_max: u32) -> Option<(u32, u32)> {
    let size = |cell: &Cell| cell::size(cell.head.width, cell.head.height);
    cells.sort_by_key(|cell| (std::cmp::Reverse(size(cell).1), cell.picture));
    let sizes = cells.iter().map(size);
    let area: f64 = sizes.clone().map(|(width, height)| f64::from(width) * f64::from(height)).sum();
    let widest = sizes.map(|(width, _)| width).max()?;
    let width = (area.sqrt() as u32).next_multiple_of(ATLAS_GUTTER).max(widest);
    let (mut x, mut y, mut row) = (0, 0, 0);
    for cell in cells {
        let (cell_width, cell_height) = size(cell);
        if x + cell_width > width {
            (x, y, row) = (0, y + row, 0);
        }
        (cell.x, cell.y) = (x, y);
        x += cell_width;
        row = row.max(cell_height);
    }
    let height = y + row;
    (width.max(height) <= side_max).then_some((width, height))
}

/// The texels of a page's levels: each picture's cell at its place, as in the atlas.
fn draw(cells: &[Cell], bytes: &[u8], width: u32, height: u32) -> Vec<u8> {
    let level_bytes = |level: u32| (width >> level) as usize * (height >> level) as usize * 4;
    let mut out = vec![0; (0..ATLAS_LEVELS).map(level_bytes).sum()];
    for Cell { head, data, x, y, .. } in cells {
        let cell = texels::cell(head.width, head.height, &bytes[data.clone()]);
        let (cell_width, cell_height) = cell::size(head.width, head.height);
        let (mut from, mut begin) = (0, 0);
        for level in 0..ATLAS_LEVELS {
            let row_bytes = (cell_width >> level) as usize * 4;
            let page_row = (width >> level) as usize * 4;
            for row in 0..(cell_height >> level) as usize {
                let (left, top) = ((x >> level) as usize, (y >> level) as usize);
                let to = begin + (top + row) * page_row + left * 4;
                out[to..to + row_bytes].copy_from_slice(&cell[from..from + row_bytes]);
                from += row_bytes;
            }
            begin += level_bytes(level);
        }
    }
    out
}
