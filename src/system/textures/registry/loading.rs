//! The registry's loading: compiled data becomes texels in a place of the atlas or in a slot,
//! within what the machine's renderer can do.

use super::*;

impl Textures {
    /// Loads a texture's data into the renderer, in the place of what was there before.
    pub(super) fn load(
        &mut self,
        store: &mut Store,
        name: &str,
        old: Option<Held>,
    ) -> Result<Held, Error> {
        crate::owner!("resources/textures");
        let resource = ResourceName::new("texture", name);
        let data = store.read(&resource)?;
        // The renderer has it from here on; it is read again when it is needed again.
        store.forget(std::iter::once(resource.id()));
        contain(&resource, || {
            self.put(&data, 0..data.len(), name, old)
                .map_err(|fault| error!("texture '{name}': {}", fault.message))
        })
    }

    /// Hands a picture's data to the renderer.
    pub(super) fn put(
        &mut self,
        bytes: &Bytes,
        range: Range<usize>,
        name: &str,
        old: Option<Held>,
    ) -> Result<Held, Error> {
        let (head, start) = data::read(&bytes[range.clone()])?;
        let start = range.start + start;
        if head.small
            && let Some(held) = self.place_small(&head, bytes, start, old)
        {
            return Ok(held);
        }
        let old_slot = match old {
            Some(old) if old.place.is_none() => Some(old.entry.slot),
            _ => None,
        };
        let slot = old_slot.map_or_else(|| self.take_slot(), Ok)?;
        if old_slot.is_none()
            && let Some(old) = old
        {
            self.give_back(old);
        }
        let sampling = self.sampling(&head);
        let texels = match self.fitting(&head, bytes, start..range.end, name) {
            Ok(texels) => texels,
            Err(words) => {
                log::error(&format!("texture '{name}': {words}"));
                let (width, height, rgba) = texels::checkerboard();
                let (format, levels) = (Format::Rgba8Srgb, 1);
                let bytes = rgba.into();
                Texels { width, height, levels, format, sampling, bytes, start: 0 }
            }
        };
        let size = texels::chain_bytes(texels.format, texels.width, texels.height, texels.levels);
        let nearest = if sampling.nearest { Instance::NEAREST } else { 0 };
        let entry = Entry {
            slot,
            paint: Instance::paint(paint::TEXTURE, 0, 0) | nearest,
            uv: WHOLE,
            width: head.picture_width,
            height: head.picture_height,
            sampling,
            loaded: true,
        };
        self.queue.push(TextureChange::Put { slot, texels });
        Ok(Held { entry, place: None, bytes: size as u64 })
    }

    pub(super) fn sampling(&self, head: &Head) -> Sampling {
        let nearest = match head.filter {
            Filter::Usual => self.nearest,
            Filter::Linear => false,
            Filter::Nearest => true,
        };
        Sampling { nearest, wrap: head.wrap }
    }

    /// The texels that go into a slot: without the levels that are too large for the adapter.
    pub(super) fn fitting(
        &self,
        head: &Head,
        bytes: &Bytes,
        range: Range<usize>,
        name: &str,
    ) -> Result<Texels, String> {
        let Abilities { side_max, blocks } = self.abilities;
        let in_blocks = texels::is_blocks(head.format);
        if in_blocks && !blocks {
            return Err("this machine's graphics cannot show textures in blocks (BC1 to BC7): \
                        ship a PNG for it, for example as a variant"
                .to_string());
        }
        let sampling = self.sampling(head);
        let (mut width, mut height, mut levels) = (head.width, head.height, head.levels);
        let (mut bytes, mut start) = (bytes.clone(), range.start);
        if head.small {
            // Its smaller levels are those of its cell.
            let largest =
                range.start..range.start + texels::level_bytes(head.format, width, height);
            let (all, chain) = texels::chain(head.format, width, height, bytes[largest].to_vec());
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
                start += texels::level_bytes(head.format, width, height);
                levels -= 1;
            } else if !in_blocks {
                let half = texels::half(head.format, width, height, &bytes[start..]);
                (bytes, start) = (half.into(), 0);
            } else {
                return Err(format!(
                    "it is larger than the {side_max} texels that this machine's graphics can \
                     show: export it with smaller levels"
                ));
            }
            (width, height) = (w, h);
        }
        Ok(Texels { width, height, levels, format: head.format, sampling, bytes, start })
    }

    /// Puts a small picture into the atlas; none when it is full. At `start` in `bytes` stand its
    /// texels, and behind them the smaller levels of its cell.
    pub(super) fn place_small(
        &mut self,
        head: &Head,
        bytes: &Bytes,
        start: usize,
        old: Option<Held>,
    ) -> Option<Held> {
        let (width, height) = cell::size(head.width, head.height);
        let place = match old.and_then(|old| old.place) {
            Some(place) if (place.width, place.height) == (width, height) => place,
            _ => {
                let place = self.atlas.add(width, height)?;
                if let Some(old) = old {
                    self.give_back(old);
                }
                place
            }
        };
        let sampling = self.sampling(head);
        let (levels, format) = (ATLAS_LEVELS, Format::Rgba8Srgb);
        let size = texels::chain_bytes(format, width, height, levels) as u64;
        let bytes = bytes.clone();
        let texels = Texels { width, height, levels, format, sampling, bytes, start };
        let Place { layer, x, y, .. } = place;
        let picture = Some((head.width, head.height));
        self.queue.push(TextureChange::Atlas { layer, x, y, texels, picture });
        let side = ATLAS_SIDE as f32;
        let (left, top) = ((x + MARGIN) as f32 / side, (y + MARGIN) as f32 / side);
        let right = left + head.width as f32 / side;
        let bottom = top + head.height as f32 / side;
        let nearest = if sampling.nearest { Instance::NEAREST } else { 0 };
        let entry = Entry {
            slot: TextureSlot::SHARED,
            paint: Instance::paint(paint::ATLAS, layer, 0) | nearest,
            uv: [left, bottom, right, top],
            width: head.picture_width,
            height: head.picture_height,
            sampling,
            loaded: true,
        };
        Some(Held { entry, place: Some(place), bytes: size })
    }

    /// Fills the second slot of a texture whose first place is in the atlas.
    pub(super) fn fill_extra(&mut self, store: &mut Store, index: usize) -> Result<(), Error> {
        let Some(slot) = self.records[index].extra else { return Ok(()) };
        let name = self.records[index].name.clone();
        let (bytes, range) = match self.records[index].source.clone() {
            Source::Nothing | Source::Target => {
                let (width, height, rgba) = texels::checkerboard();
                let sampling = Sampling { nearest: true, wrap: Wrap::Clamp };
                let (format, bytes) = (Format::Rgba8Srgb, rgba.into());
                let texels = Texels { width, height, levels: 1, format, sampling, bytes, start: 0 };
                self.queue.push(TextureChange::Put { slot, texels });
                return Ok(());
            }
            Source::File => {
                let resource = ResourceName::new("texture", &name);
                let bytes = store.read(&resource)?;
                store.forget(std::iter::once(resource.id()));
                let all = 0..bytes.len();
                (bytes, all)
            }
            Source::Inside { of, range } => {
                let bytes = store.read(&of)?;
                store.forget(std::iter::once(of.id()));
                (bytes, range)
            }
            Source::Frame { sheet, frame } => {
                let resource = ResourceName::new("sheet", &self.sheets[sheet].name);
                let bytes = store.read(&resource)?;
                store.forget(std::iter::once(resource.id()));
                let known = &self.sheets[sheet].sheet;
                let found = known.frames.iter().find(|known| known.name == frame);
                let found = found.ok_or_else(|| error!("there is no frame '{frame}' any more"))?;
                (bytes, known.pictures[found.picture as usize].clone())
            }
        };
        let (head, start) = data::read(&bytes[range.clone()])?;
        let start = range.start + start;
        let texels = self.fitting(&head, &bytes, start..range.end, &name);
        let texels = texels.map_err(|words| error!("texture '{name}': {words}"))?;
        self.queue.push(TextureChange::Put { slot, texels });
        Ok(())
    }
}

/// Pictures inside of other resources: models bring theirs.
impl Textures {
    /// Takes a picture in that stands in another resource's data, under a name of its own: a slot
    /// with all of it, which it keeps when it is put again.
    pub fn put_inside(
        &mut self,
        name: &str,
        of: &ResourceName,
        bytes: &Bytes,
        range: Range<usize>,
    ) -> Result<TextureSlot, Error> {
        let source = Source::Inside { of: of.clone(), range: range.clone() };
        let known = self.by_name.get(name).map(|number| number.0 as usize);
        if known.is_none() && self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were asked for (TEXTURES_MAX)"));
        }
        let old = known.and_then(|index| self.records[index].held);
        let held = self.put(bytes, range, name, old)?;
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

    /// Makes the pictures inside of other resources again, when the renderer can do more or less.
    pub(super) fn reload_inside(&mut self, store: &mut Store) {
        for index in 0..self.records.len() {
            let Source::Inside { of, range } = self.records[index].source.clone() else { continue };
            let name = self.records[index].name.clone();
            let again = store
                .read(&of)
                .and_then(|bytes| contain(&of, || self.put_inside(&name, &of, &bytes, range)));
            if let Err(fault) = again {
                log::error(&format!("{name}: {fault}: it stays as it was"));
            }
            store.forget(std::iter::once(of.id()));
        }
    }
}
