//! Sheets that are loaded. A sheet is loaded as a whole when a frame or a tag is first requested.

use super::*;
use engine_resource::resource_kind::kind_names;

impl Textures {
    /// Returns the index of a sheet by name. Loads the sheet if necessary.
    pub(super) fn sheet_index(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<usize, Error> {
        let known = self.sheets.iter().position(|loaded| loaded.name == name);
        if let Some(index) = known
            && !self.sheets[index].pictures.is_empty()
        {
            return Ok(index);
        }
        let (sheet, pictures) = self.load_sheet(store, name, None)?;
        let loaded = LoadedSheet { name: name.to_string(), sheet, pictures, page: None };
        match known {
            Some(index) => {
                self.sheets[index] = loaded;
                self.refill_frames(index);
                Ok(index)
            }
            None => {
                self.sheets.push(loaded);
                Ok(self.sheets.len() - 1)
            }
        }
    }

    fn load_sheet(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        old: Option<usize>,
    ) -> Result<(SheetData, Vec<RendererTexture>), Error> {
        let resource = ResourceName::new(kind_names::SHEET, name);
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || self.take_sheet(&bytes, name, old))
    }

    /// Loads the pictures of a sheet's data.
    fn take_sheet(
        &mut self,
        bytes: &SharedBytes,
        name: &str,
        old: Option<usize>,
    ) -> Result<(SheetData, Vec<RendererTexture>), Error> {
        let wrong = |fault: Error| error!("sheet '{name}': {}", fault.message);
        let sheet = sheet_resource::read(bytes).map_err(wrong)?;
        // From here on, the regions of the old pictures are reused.
        let old = old.map(|index| std::mem::take(&mut self.sheets[index].pictures));
        let mut old = old.unwrap_or_default().into_iter();
        let mut pictures = Vec::with_capacity(sheet.pictures.len());
        let mut result = Ok(());
        for range in &sheet.pictures {
            match self.queue_texels(bytes, range.clone(), name, old.next()) {
                Ok(held) => pictures.push(held),
                Err(fault) => {
                    result = Err(wrong(fault));
                    break;
                }
            }
        }
        old.for_each(|held| self.release_texture(held));
        if let Err(fault) = result {
            pictures.into_iter().for_each(|held| self.release_texture(held));
            return Err(fault);
        }
        Ok((sheet, pictures))
    }

    /// Updates the entry of every requested frame to the location of its picture.
    fn refill_frames(&mut self, index: usize) {
        self.version += 1;
        for number in 1..self.records.len() {
            let TextureOrigin::Frame { sheet, frame } = &self.records[number].source else {
                continue;
            };
            if *sheet != index {
                continue;
            }
            let LoadedSheet { name, sheet, pictures, .. } = &self.sheets[index];
            match sheet.frames.iter().find(|known| known.name == *frame) {
                Some(found) if !pictures.is_empty() => {
                    self.entries[number] = pictures[found.picture as usize].entry;
                }
                Some(_) => self.reset_entry(number),
                None => {
                    log::error(&format!(
                        "the sheet '{name}' has no frame '{frame}' any more: \
                         {SHOWN_AS_PLACEHOLDER}"
                    ));
                    self.reset_entry(number);
                }
            }
        }
    }

    pub(super) fn unload_sheet(&mut self, index: usize) {
        for held in std::mem::take(&mut self.sheets[index].pictures) {
            self.release_texture(held);
        }
        self.end_page(index);
        self.refill_frames(index);
    }

    pub(super) fn reload_sheet(
        &mut self,
        store: &mut ResourceStore,
        resource: &ResourceName,
        index: usize,
    ) {
        if !store.has(resource) {
            log::error(&format!(
                "{}: its frames are shown as checkerboards",
                removed_message(store, resource)
            ));
            return self.unload_sheet(index);
        }
        match self.load_sheet(store, &resource.name, Some(index)) {
            Ok((sheet, pictures)) => {
                (self.sheets[index].sheet, self.sheets[index].pictures) = (sheet, pictures);
            }
            Err(fault) => log::error(&fault.to_string()),
        }
        self.refill_frames(index);
        let page = self.sheets[index].page.as_ref();
        if let Some(with_normals) = page.map(|page| page.has_normals())
            && let Err(fault) = self.fill_page(store, index, with_normals)
        {
            log::error(&fault.to_string());
        }
        for number in 1..self.records.len() {
            let source = &self.records[number].source;
            if matches!(source, TextureOrigin::Frame { sheet, .. } if *sheet == index)
                && self.entries[number].loaded
            {
                self.fill_slots(store, number);
            }
        }
    }
}
