//! Textures for scenes, which cannot sample the atlas: a slot and a part of its texture. The small
//! frames of a sheet are combined on one page, so that all sprites that show them are drawn
//! together.

use super::*;
use engine_frame_packet::texture::ATLAS_GUTTER;
use engine_resource::resource_kind::kind_names;

/// Location of a picture for a scene.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SceneTexture {
    pub slot: TextureSlot,
    pub sampling: SamplerSettings,
    /// Left, top, width and height in the slot's texture, from 0 to 1.
    pub part: [f32; 4],
    /// Width and height of the picture in texels.
    pub size: [f32; 2],
}

/// The small pictures of a sheet in one texture.
#[derive(Clone, PartialEq, Debug)]
pub struct SheetPage {
    slot: TextureSlot,
    /// For each picture of the sheet, its part of the page, or `None` if it is not on the page.
    parts: Vec<Option<[f32; 4]>>,
}

/// A small picture on a page.
struct PageCell {
    picture: usize,
    head: TextureHeader,
    data: Range<usize>,
    x: u32,
    y: u32,
}

impl Textures {
    /// Returns the location of a texture or a frame for scenes. A missing texture is the
    /// checkerboard.
    ///
    /// # Errors
    /// Returns an error if there is no free slot, or if the data cannot be read.
    pub fn scene_texture(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
    ) -> Result<SceneTexture, Error> {
        let loaded = self.entries[number.0 as usize].loaded;
        let number = if loaded { number } else { TextureNumber::MISSING };
        let entry = self.entries[number.0 as usize];
        let (sampling, size) = (entry.sampling, [entry.width as f32, entry.height as f32]);
        if entry.slot == TextureSlot::SHARED
            && let TextureOrigin::Frame { sheet, frame } =
                self.records[number.0 as usize].source.clone()
            && let Some(page) = self.page(store, sheet)?
        {
            let known = &self.sheets[sheet].sheet;
            let found = known.frames.iter().find(|known| known.name == frame);
            let picture = found.map(|found| found.picture as usize);
            if let Some(part) = picture.and_then(|picture| page.parts[picture]) {
                return Ok(SceneTexture { slot: page.slot, sampling, part, size });
            }
        }
        self.own_scene_texture(store, number)
    }

    /// Returns a slot with only a texture or a frame, for scenes that show it together with other
    /// textures of the same surface. A missing texture is the checkerboard.
    ///
    /// # Errors
    /// As [`Textures::scene_texture`].
    pub fn own_scene_texture(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
    ) -> Result<SceneTexture, Error> {
        let loaded = self.entries[number.0 as usize].loaded;
        let number = if loaded { number } else { TextureNumber::MISSING };
        let entry = self.entries[number.0 as usize];
        let (sampling, size) = (entry.sampling, [entry.width as f32, entry.height as f32]);
        let slot = self.slot(store, number)?;
        Ok(SceneTexture { slot, sampling, part: [0.0, 0.0, 1.0, 1.0], size })
    }

    /// Returns the page of a sheet, which is created at the first request, or `None` if the frames
    /// do not fit into one texture of this machine.
    fn page(
        &mut self,
        store: &mut ResourceStore,
        sheet: usize,
    ) -> Result<Option<SheetPage>, Error> {
        if self.sheets[sheet].page.is_none() {
            self.fill_page(store, sheet)?;
        }
        Ok(self.sheets[sheet].page.clone())
    }

    /// Creates a sheet's page, or fills it again in its old slot.
    pub(super) fn fill_page(
        &mut self,
        store: &mut ResourceStore,
        sheet: usize,
    ) -> Result<(), Error> {
        let resource = ResourceName::new(kind_names::SHEET, &self.sheets[sheet].name);
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || self.draw_page(&bytes, sheet))
    }

    fn draw_page(&mut self, bytes: &SharedBytes, sheet: usize) -> Result<(), Error> {
        let ranges = &self.sheets[sheet].sheet.pictures;
        let mut cells = Vec::new();
        for (picture, range) in ranges.iter().enumerate() {
            let (head, start) = data::read(&bytes[range.clone()])?;
            if head.small && head.format == TexelFormat::Rgba8Srgb {
                let data = range.start + start..range.end;
                cells.push(PageCell { picture, head, data, x: 0, y: 0 });
            }
        }
        let count = ranges.len();
        let old = self.sheets[sheet].page.take().map(|page| page.slot);
        let size = lay_out(&mut cells, self.caps.side_max);
        let (Some((width, height)), Some(first)) = (size, cells.first()) else {
            if let Some(slot) = old {
                self.release_slot(slot);
            }
            return Ok(());
        };
        let sampling = self.sampling(&first.head);
        let slot = old.map_or_else(|| self.take_slot(), Ok)?;
        let mut parts = vec![None; count];
        for PageCell { picture, head, x, y, .. } in &cells {
            parts[*picture] = Some([
                (x + MARGIN) as f32 / width as f32,
                (y + MARGIN) as f32 / height as f32,
                head.width as f32 / width as f32,
                head.height as f32 / height as f32,
            ]);
        }
        let bytes = draw(&cells, bytes, width, height).into();
        let (levels, format) = (ATLAS_LEVELS, TexelFormat::Rgba8Srgb);
        let texels = TextureTexels { width, height, levels, format, sampling, bytes, start: 0 };
        self.queue.push(TextureChange::Set { slot, texels });
        self.sheets[sheet].page = Some(SheetPage { slot, parts });
        Ok(())
    }

    /// Releases a sheet's page.
    pub(super) fn end_page(&mut self, sheet: usize) {
        if let Some(page) = self.sheets[sheet].page.take() {
            self.release_slot(page.slot);
        }
    }
}

/// Positions the pictures in rows of decreasing height. Returns the size of the page, or `None` if
/// it would be larger than `side_max`.
fn lay_out(cells: &mut [PageCell], side_max: u32) -> Option<(u32, u32)> {
    let size = |cell: &PageCell| atlas_cell::size(cell.head.width, cell.head.height);
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

/// Returns the texels of a page's mip levels, with each picture's cell at its position, as in the
/// atlas.
fn draw(cells: &[PageCell], bytes: &[u8], width: u32, height: u32) -> Vec<u8> {
    let level_bytes = |level: u32| (width >> level) as usize * (height >> level) as usize * 4;
    let mut out = vec![0; (0..ATLAS_LEVELS).map(level_bytes).sum()];
    for PageCell { head, data, x, y, .. } in cells {
        let cell = mipmaps::cell(head.width, head.height, &bytes[data.clone()]);
        let (cell_width, cell_height) = atlas_cell::size(head.width, head.height);
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
