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
    /// Texture with its normals, with the same parts.
    pub normals: Option<(TextureSlot, SamplerSettings)>,
}

/// The small pictures of a sheet in one texture.
#[derive(Clone, PartialEq, Debug)]
pub struct SheetPage {
    slot: TextureSlot,
    /// For each picture of the sheet, its part of the page, or `None` if it is not on the page.
    parts: Vec<Option<[f32; 4]>>,
    /// The page with the normals, which are at the same places.
    normals: Option<TextureSlot>,
}

impl SheetPage {
    /// Returns true if the normals have a page, too.
    pub(super) fn has_normals(&self) -> bool {
        self.normals.is_some()
    }
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
    /// checkerboard. `is_lit`: with its normals, if it has them.
    ///
    /// # Errors
    /// Returns an error if there is no free slot, or if the data cannot be read.
    pub fn scene_texture(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
        is_lit: bool,
    ) -> Result<SceneTexture, Error> {
        let loaded = self.entries[number.0 as usize].loaded;
        let number = if loaded { number } else { TextureNumber::MISSING };
        let entry = self.entries[number.0 as usize];
        let (sampling, size) = (entry.sampling, [entry.width as f32, entry.height as f32]);
        if entry.slot == TextureSlot::SHARED
            && let TextureOrigin::Frame { sheet, frame } =
                self.records[number.0 as usize].source.clone()
            && let Some(page) = self.page(store, sheet, is_lit)?
        {
            let known = &self.sheets[sheet].sheet;
            let found = known.frames.iter().find(|known| known.name == frame);
            let picture = found.map(|found| found.picture as usize);
            if let Some(part) = picture.and_then(|picture| page.parts[picture]) {
                let normals = page.normals.filter(|_| is_lit).map(|slot| (slot, sampling));
                return Ok(SceneTexture { slot: page.slot, sampling, part, size, normals });
            }
        }
        let normals = if is_lit { self.own_normals(store, number)? } else { None };
        Ok(SceneTexture { normals, ..self.own_scene_texture(store, number)? })
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
        let (slot, part) = (self.slot(store, number)?, [0.0, 0.0, 1.0, 1.0]);
        Ok(SceneTexture { slot, sampling, part, size, normals: None })
    }

    /// Returns a slot with the normals of a texture or a frame, if it has them.
    fn own_normals(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
    ) -> Result<Option<(TextureSlot, SamplerSettings)>, Error> {
        let index = number.0 as usize;
        if !self.has_normals(index) {
            return Ok(None);
        }
        let sampling = self.entries[index].sampling;
        if let Some(slot) = self.records[index].normals {
            return Ok(Some((slot, sampling)));
        }
        let slot = self.take_slot()?;
        self.records[index].normals = Some(slot);
        if let Err(error) = self.fill_normals(store, index) {
            self.records[index].normals = None;
            self.release_slot(slot);
            return Err(error);
        }
        Ok(Some((slot, sampling)))
    }

    /// Returns true if a texture or a frame is loaded and has normals.
    fn has_normals(&self, index: usize) -> bool {
        let record = &self.records[index];
        let held = match &record.source {
            TextureOrigin::Frame { sheet, frame } => {
                let LoadedSheet { sheet, pictures, .. } = &self.sheets[*sheet];
                let found = sheet.frames.iter().find(|known| known.name == *frame);
                found.and_then(|found| pictures.get(found.picture as usize))
            }
            _ => record.held.as_ref(),
        };
        self.entries[index].loaded && held.is_some_and(|held| held.has_normals)
    }

    /// Fills the slot with the normals of a texture again after it was loaded again, or releases it
    /// if the texture has none any more.
    pub(super) fn fill_normals(
        &mut self,
        store: &mut ResourceStore,
        index: usize,
    ) -> Result<(), Error> {
        let Some(slot) = self.records[index].normals else { return Ok(()) };
        let name = self.records[index].name.clone();
        if self.has_normals(index)
            && let Some((bytes, range)) = self.data_of(store, index)?
            && let Some((head, texels)) = data::normals(&bytes[range.clone()])?
        {
            let texels = range.start + texels.start..range.start + texels.end;
            let texels = self.fitting(&head, &bytes, texels, &name);
            let texels =
                texels.map_err(|message| error!("the normals of texture '{name}': {message}"))?;
            self.queue.push(TextureChange::Set { slot, texels });
            return Ok(());
        }
        self.records[index].normals = None;
        self.release_slot(slot);
        Ok(())
    }

    /// Returns the page of a sheet, which is created at the first request, or `None` if the frames
    /// do not fit into one texture of this machine. `is_lit`: with that of the normals.
    fn page(
        &mut self,
        store: &mut ResourceStore,
        sheet: usize,
        is_lit: bool,
    ) -> Result<Option<SheetPage>, Error> {
        let LoadedSheet { page, pictures, .. } = &self.sheets[sheet];
        let has_normals = is_lit && pictures.iter().any(|picture| picture.has_normals);
        let is_missing = page.as_ref().is_none_or(|page| has_normals && page.normals.is_none());
        if is_missing {
            self.fill_page(store, sheet, has_normals)?;
        }
        Ok(self.sheets[sheet].page.clone())
    }

    /// Creates a sheet's page, or fills it again in its old slot; with the flag, also that of the
    /// normals, if the sheet has them.
    pub(super) fn fill_page(
        &mut self,
        store: &mut ResourceStore,
        sheet: usize,
        with_normals: bool,
    ) -> Result<(), Error> {
        let resource = ResourceName::new(kind_names::SHEET, &self.sheets[sheet].name);
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || self.draw_page(&bytes, sheet, with_normals))
    }

    fn draw_page(
        &mut self,
        bytes: &SharedBytes,
        sheet: usize,
        with_normals: bool,
    ) -> Result<(), Error> {
        let ranges = &self.sheets[sheet].sheet.pictures;
        let mut cells = Vec::new();
        for (picture, range) in ranges.iter().enumerate() {
            let (head, start) = data::read(&bytes[range.clone()])?;
            if head.small && head.format == TexelFormat::Rgba8Srgb {
                let start = range.start + start;
                let data = start..start + head.texel_bytes();
                cells.push(PageCell { picture, head, data, x: 0, y: 0 });
            }
        }
        let count = ranges.len();
        let size = lay_out(&mut cells, self.caps.side_max);
        let (Some((width, height)), Some(first)) = (size, cells.first()) else {
            self.end_page(sheet);
            return Ok(());
        };
        let normals = match with_normals {
            true => normal_cells(&cells, bytes, ranges)?,
            false => None,
        };
        let old = self.sheets[sheet].page.take();
        let (old, old_normals) = old.map_or((None, None), |page| (Some(page.slot), page.normals));
        if let Some(slot) = old_normals.filter(|_| normals.is_none()) {
            self.release_slot(slot);
        }
        let old_normals = old_normals.filter(|_| normals.is_some());
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
        let texels = |cells: &[PageCell], format| {
            let (levels, bytes) = (ATLAS_LEVELS, draw(cells, bytes, width, height).into());
            TextureTexels { width, height, levels, format, sampling, bytes, start: 0 }
        };
        let colors = texels(&cells, TexelFormat::Rgba8Srgb);
        self.queue.push(TextureChange::Set { slot, texels: colors });
        self.sheets[sheet].page = Some(SheetPage { slot, parts, normals: old_normals });
        if let Some(cells) = normals {
            let slot = old_normals.map_or_else(|| self.take_slot(), Ok)?;
            let texels = texels(&cells, TexelFormat::Rgba8);
            self.queue.push(TextureChange::Set { slot, texels });
            self.sheets[sheet].page.as_mut().expect("it is there").normals = Some(slot);
        }
        Ok(())
    }

    /// Releases a sheet's page.
    pub(super) fn end_page(&mut self, sheet: usize) {
        if let Some(page) = self.sheets[sheet].page.take() {
            self.release_slot(page.slot);
            if let Some(slot) = page.normals {
                self.release_slot(slot);
            }
        }
    }
}

/// Returns the cells of the page with the normals, at the positions of those of the pictures, or
/// `None` if a picture has none. `ranges` are those of the pictures of the sheet.
fn normal_cells(
    cells: &[PageCell],
    bytes: &[u8],
    ranges: &[Range<usize>],
) -> Result<Option<Vec<PageCell>>, Error> {
    let mut out = Vec::with_capacity(cells.len());
    for PageCell { picture, x, y, .. } in cells {
        let range = ranges[*picture].clone();
        let Some((head, texels)) = data::normals(&bytes[range.clone()])? else { return Ok(None) };
        let data = range.start + texels.start..range.start + texels.end;
        out.push(PageCell { picture: *picture, head, data, x: *x, y: *y });
    }
    Ok(Some(out))
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
