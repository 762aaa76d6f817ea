//! Loading of the registry: places the texels of compiled data in the atlas or in a slot, within
//! the renderer's capabilities.

use super::*;
use engine_resource::resource_kind::kind_names;

impl Textures {
    /// Loads a texture's data into the renderer, in place of the old texture.
    pub(super) fn load(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        old: Option<RendererTexture>,
    ) -> Result<RendererTexture, Error> {
        engine_foundation::owner!("resources/textures");
        let resource = ResourceName::new(kind_names::TEXTURE, name);
        let data = color_key::read(store, name)?;
        contain(&resource, || {
            self.queue_texels(&data, 0..data.len(), name, old)
                .map_err(|fault| error!("texture '{name}': {}", fault.message))
        })
    }

    /// Queues a picture's data for the renderer.
    pub(super) fn queue_texels(
        &mut self,
        bytes: &SharedBytes,
        range: Range<usize>,
        name: &str,
        old: Option<RendererTexture>,
    ) -> Result<RendererTexture, Error> {
        let (head, start) = data::read(&bytes[range.clone()])?;
        let start = range.start + start;
        if head.small
            && let Some(held) = self.allocate_in_atlas(&head, bytes, start, old)
        {
            return Ok(held);
        }
        let old_slot = match old {
            Some(old) if old.region.is_none() => Some(old.entry.slot),
            _ => None,
        };
        let slot = old_slot.map_or_else(|| self.take_slot(), Ok)?;
        if old_slot.is_none()
            && let Some(old) = old
        {
            self.release_texture(old);
        }
        let sampling = self.sampling(&head);
        let texels = match self.fitting(&head, bytes, start..range.end, name) {
            Ok(texels) => texels,
            Err(message) => {
                log::error(&format!("texture '{name}': {message}"));
                let (width, height, rgba) = mipmaps::checkerboard();
                let (format, levels) = (TexelFormat::Rgba8Srgb, 1);
                let bytes = rgba.into();
                TextureTexels { width, height, levels, format, sampling, bytes, start: 0 }
            }
        };
        let size = mipmaps::chain_bytes(texels.format, texels.width, texels.height, texels.levels);
        let nearest = if sampling.nearest { QuadInstance::NEAREST } else { 0 };
        let entry = TextureEntry {
            slot,
            paint: QuadInstance::paint(paint::TEXTURE, 0, 0) | nearest,
            uv: WHOLE_TEXTURE,
            width: head.picture_width,
            height: head.picture_height,
            sampling,
            loaded: true,
        };
        self.queue.push(TextureChange::Set { slot, texels });
        let (bytes, has_normals) = (size as u64, head.has_normals);
        Ok(RendererTexture { entry, region: None, bytes, has_normals })
    }

    pub(super) fn sampling(&self, head: &TextureHeader) -> SamplerSettings {
        let nearest = match head.filter {
            FilterMode::Default => self.nearest,
            FilterMode::Linear => false,
            FilterMode::Nearest => true,
        };
        SamplerSettings { nearest, wrap: head.wrap }
    }

    /// Returns the texels for a slot, without the mip levels that are too large for the GPU.
    pub(super) fn fitting(
        &self,
        head: &TextureHeader,
        bytes: &SharedBytes,
        range: Range<usize>,
        name: &str,
    ) -> Result<TextureTexels, String> {
        let TextureCaps { side_max, blocks } = self.caps;
        let in_blocks = mipmaps::is_blocks(head.format);
        if in_blocks && !blocks {
            return Err("this machine's graphics cannot show block-compressed textures (BC1 to \
                        BC7): ship a PNG for it, for example as a variant"
                .to_string());
        }
        let sampling = self.sampling(head);
        let (mut width, mut height, mut levels) = (head.width, head.height, head.levels);
        let (mut bytes, mut start) = (bytes.clone(), range.start);
        if head.small {
            // The stored smaller levels are those of the atlas cell, so other levels are generated
            // here.
            let largest =
                range.start..range.start + mipmaps::level_bytes(head.format, width, height);
            let (all, chain) = mipmaps::chain(head.format, width, height, bytes[largest].to_vec());
            (levels, bytes, start) = (all, chain.into(), 0);
        }
        if width.max(height) > side_max {
            log::warning(&format!(
                "texture '{name}' is {width} x {height}, and {side_max} is the most here: it is \
                 shown smaller"
            ));
        }
        while width.max(height) > side_max {
            let (w, h) = level_size(width, height, 1);
            if levels > 1 && !(in_blocks && (w % 4 != 0 || h % 4 != 0)) {
                start += mipmaps::level_bytes(head.format, width, height);
                levels -= 1;
            } else if !in_blocks {
                let half = mipmaps::next_mipmap(head.format, width, height, &bytes[start..]);
                (bytes, start) = (half.into(), 0);
            } else {
                return Err(format!(
                    "it is larger than the {side_max} texels that this machine's graphics can \
                     show: export it with smaller levels"
                ));
            }
            (width, height) = (w, h);
        }
        Ok(TextureTexels { width, height, levels, format: head.format, sampling, bytes, start })
    }

    /// Places a small picture in the atlas, or returns `None` if the atlas is full. The texels
    /// begin at `start` in `bytes`, followed by the smaller levels of the cell.
    pub(super) fn allocate_in_atlas(
        &mut self,
        head: &TextureHeader,
        bytes: &SharedBytes,
        start: usize,
        old: Option<RendererTexture>,
    ) -> Option<RendererTexture> {
        let (width, height) = atlas_cell::size(head.width, head.height);
        let region = match old.and_then(|old| old.region) {
            Some(region) if (region.width, region.height) == (width, height) => region,
            _ => {
                let region = self.atlas.add(width, height)?;
                if let Some(old) = old {
                    self.release_texture(old);
                }
                region
            }
        };
        let sampling = self.sampling(head);
        let (levels, format) = (ATLAS_LEVELS, TexelFormat::Rgba8Srgb);
        let size = mipmaps::chain_bytes(format, width, height, levels) as u64;
        let bytes = bytes.clone();
        let texels = TextureTexels { width, height, levels, format, sampling, bytes, start };
        let AtlasRegion { layer, x, y, .. } = region;
        let picture = Some((head.width, head.height));
        self.queue.push(TextureChange::Atlas { layer, x, y, texels, picture });
        let side = ATLAS_SIDE as f32;
        let (left, top) = ((x + MARGIN) as f32 / side, (y + MARGIN) as f32 / side);
        let right = left + head.width as f32 / side;
        let bottom = top + head.height as f32 / side;
        let nearest = if sampling.nearest { QuadInstance::NEAREST } else { 0 };
        let entry = TextureEntry {
            slot: TextureSlot::SHARED,
            paint: QuadInstance::paint(paint::ATLAS, layer, 0) | nearest,
            uv: [left, bottom, right, top],
            width: head.picture_width,
            height: head.picture_height,
            sampling,
            loaded: true,
        };
        let has_normals = head.has_normals;
        Some(RendererTexture { entry, region: Some(region), bytes: size, has_normals })
    }

    /// Fills the additional slot of a texture that is in the atlas.
    pub(super) fn fill_extra(
        &mut self,
        store: &mut ResourceStore,
        index: usize,
    ) -> Result<(), Error> {
        let Some(slot) = self.records[index].extra else { return Ok(()) };
        let name = self.records[index].name.clone();
        let Some((bytes, range)) = self.data_of(store, index)? else {
            let (width, height, rgba) = mipmaps::checkerboard();
            let sampling = SamplerSettings { nearest: true, wrap: WrapMode::Clamp };
            let (format, bytes) = (TexelFormat::Rgba8Srgb, rgba.into());
            let texels =
                TextureTexels { width, height, levels: 1, format, sampling, bytes, start: 0 };
            self.queue.push(TextureChange::Set { slot, texels });
            return Ok(());
        };
        let (head, start) = data::read(&bytes[range.clone()])?;
        let start = range.start + start;
        let texels = self.fitting(&head, &bytes, start..range.end, &name);
        let texels = texels.map_err(|message| error!("texture '{name}': {message}"))?;
        self.queue.push(TextureChange::Set { slot, texels });
        Ok(())
    }

    /// Reads the data of a texture's resource again, and returns the range of the texture in it;
    /// `None`: it has no resource.
    pub(super) fn data_of(
        &self,
        store: &mut ResourceStore,
        index: usize,
    ) -> Result<Option<(SharedBytes, Range<usize>)>, Error> {
        Ok(match self.records[index].source.clone() {
            TextureOrigin::Nothing | TextureOrigin::Target | TextureOrigin::Image => None,
            TextureOrigin::File => {
                let bytes = color_key::read(store, &self.records[index].name)?;
                let all = 0..bytes.len();
                Some((bytes, all))
            }
            TextureOrigin::Inside { of, range } => {
                let bytes = store.read(&of)?;
                store.evict(std::iter::once(of.id()));
                Some((bytes, range))
            }
            TextureOrigin::Frame { sheet, frame } => {
                let resource = ResourceName::new(kind_names::SHEET, &self.sheets[sheet].name);
                let bytes = store.read(&resource)?;
                store.evict(std::iter::once(resource.id()));
                let known = &self.sheets[sheet].sheet;
                let found = known.frames.iter().find(|known| known.name == frame);
                let found = found.ok_or_else(|| error!("there is no frame '{frame}' any more"))?;
                Some((bytes, known.pictures[found.picture as usize].clone()))
            }
        })
    }
}

/// Pictures inside other resources, such as models.
impl Textures {
    /// Adds a picture from another resource's data under a unique name. Returns a slot with the
    /// whole picture. The slot stays the same when the picture is replaced.
    pub fn add_embedded(
        &mut self,
        name: &str,
        of: &ResourceName,
        bytes: &SharedBytes,
        range: Range<usize>,
    ) -> Result<TextureSlot, Error> {
        let source = TextureOrigin::Inside { of: of.clone(), range: range.clone() };
        let known = self.by_name.get(name).map(|number| number.0 as usize);
        if known.is_none() && self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
        }
        let old = known.and_then(|index| self.records[index].held);
        let held = self.queue_texels(bytes, range, name, old)?;
        match known {
            None => {
                self.add(name.to_string(), source, Some(held), held.entry);
            }
            Some(index) => {
                self.records[index].source = source;
                self.records[index].held = Some(held);
                self.entries[index] = held.entry;
                self.version += 1;
            }
        }
        Ok(held.entry.slot)
    }

    /// Reloads the pictures inside other resources after the renderer's capabilities have changed.
    pub(super) fn reload_inside(&mut self, store: &mut ResourceStore) {
        for index in 0..self.records.len() {
            let TextureOrigin::Inside { of, range } = self.records[index].source.clone() else {
                continue;
            };
            let name = self.records[index].name.clone();
            let result = store
                .read(&of)
                .and_then(|bytes| contain(&of, || self.add_embedded(&name, &of, &bytes, range)));
            if let Err(fault) = result {
                log::error(&format!("{name}: {fault}: it stays as it was"));
            }
            store.evict(std::iter::once(of.id()));
        }
    }
}
