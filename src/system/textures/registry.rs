//! Texture registry: maps names to numbers and numbers to locations; loads, reloads and unloads
//! textures. loading.rs prepares compiled data for the renderer, and sheets.rs handles sheets.

mod color_key;
mod image_textures;
mod loading;
mod runtime_textures;
mod scene_textures;
mod sheets;
mod statistics;

pub use image_textures::ImageTextureSettings;
pub use scene_textures::SceneTexture;

use super::atlas_allocator::{AtlasAllocator, AtlasRegion};
use super::data::{self, FilterMode, TextureHeader};
use super::mipmaps;
use super::sheet_resource::SHEET;
use super::sheet_resource::{self, SheetData};
use super::{SHOWN_AS_PLACEHOLDER, SLOTS_MAX, TEXTURES_MAX, TextureEntry, TextureNumber};
use engine_foundation::error;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, log};
use engine_frame_packet::atlas_cell::{self, MARGIN};
use engine_frame_packet::gui::{QuadInstance, paint};
use engine_frame_packet::texture::{
    ATLAS_LEVELS, ATLAS_SIDE, SamplerSettings, TexelFormat, TextureChange, TextureSlot,
    TextureTexels, WrapMode,
};
use engine_resource::bundle::SharedBytes;
use engine_resource::image::level_size;
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::HashMap;
use std::ops::Range;

/// Capabilities of the machine's renderer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextureCaps {
    /// Maximum side of a texture, in texels.
    pub side_max: u32,
    /// True if block-compressed textures are supported.
    pub blocks: bool,
}

impl TextureCaps {
    /// Assumed capabilities until the renderer has reported them.
    pub const DEFAULT: TextureCaps = TextureCaps { side_max: 16384, blocks: true };
}

/// Number of textures and their memory use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextureStats {
    /// Number of loaded pictures. Frames that share a picture count once.
    pub textures: u32,
    pub slots: u32,
    pub atlas_layers: u32,
    /// Bytes of texels in GPU memory, with the atlas layers counted as a whole.
    pub bytes: u64,
}

/// One picture in the renderer.
#[derive(Clone, Copy, Debug)]
struct RendererTexture {
    entry: TextureEntry,
    region: Option<AtlasRegion>,
    bytes: u64,
    /// True if its data has normals.
    has_normals: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum TextureOrigin {
    /// No resource: the checkerboard, or a generated picture.
    Nothing,
    /// A texture resource of the same name.
    File,
    /// A frame of a sheet: the index of the sheet, and the frame's name in it.
    Frame { sheet: usize, frame: String },
    /// A render target.
    Target,
    /// An image of a script.
    Image,
    /// A picture inside another resource: the resource, and the byte range in its data.
    Inside { of: ResourceName, range: Range<usize> },
}

struct TextureRecord {
    name: String,
    source: TextureOrigin,
    held: Option<RendererTexture>,
    /// Slot in addition to the atlas region, for materials, which cannot sample the atlas.
    extra: Option<TextureSlot>,
    /// Slot of its normals, for scenes that have shown it in light.
    normals: Option<TextureSlot>,
    /// True if its file was removed. The texture is loaded again when the file returns.
    file_removed: bool,
}

/// A loaded sheet.
struct LoadedSheet {
    name: String,
    sheet: SheetData,
    /// Its pictures in the renderer, in the order of the sheet's data. Empty while it is unloaded.
    pictures: Vec<RendererTexture>,
    /// Page for scenes, created when a scene first shows a frame.
    page: Option<scene_textures::SheetPage>,
}

/// The texture registry of a game.
pub struct Textures {
    entries: Vec<TextureEntry>,
    records: Vec<TextureRecord>,
    by_name: HashMap<String, TextureNumber>,
    /// Render targets by name, also those that have ended.
    targets: HashMap<String, TextureNumber>,
    sheets: Vec<LoadedSheet>,
    atlas: AtlasAllocator,
    /// Slots that were used and released.
    free_slots: Vec<TextureSlot>,
    next_slot: u32,
    queue: Vec<TextureChange>,
    cached_stats: statistics::StatsSnapshot,
    version: u64,
    caps: TextureCaps,
    /// True if textures without a filter setting use nearest filtering.
    nearest: bool,
}

impl Textures {
    /// Creates a registry with the checkerboard alone. `nearest` is true if textures without a
    /// filter setting use nearest filtering.
    pub fn new(nearest: bool) -> Textures {
        let mut textures = Textures {
            entries: Vec::new(),
            records: Vec::new(),
            by_name: HashMap::new(),
            targets: HashMap::new(),
            sheets: Vec::new(),
            atlas: AtlasAllocator::default(),
            free_slots: Vec::new(),
            next_slot: 1,
            queue: Vec::new(),
            cached_stats: statistics::StatsSnapshot::default(),
            version: 0,
            caps: TextureCaps::DEFAULT,
            nearest,
        };
        let (width, height, mut rgba) = mipmaps::checkerboard();
        rgba.extend(mipmaps::cell_levels(TexelFormat::Rgba8Srgb, width, height, &rgba));
        let head = TextureHeader {
            picture_width: width,
            picture_height: height,
            width,
            height,
            levels: 1,
            format: TexelFormat::Rgba8Srgb,
            filter: FilterMode::Nearest,
            wrap: WrapMode::Clamp,
            small: true,
            has_normals: false,
        };
        let held =
            textures.allocate_in_atlas(&head, &rgba.into(), 0, None).expect("the atlas is empty");
        let entry = TextureEntry { loaded: false, ..held.entry };
        textures.add(
            String::new(),
            TextureOrigin::Nothing,
            Some(RendererTexture { entry, ..held }),
            entry,
        );
        textures
    }

    /// Returns the texture with a name, or the frame of a sheet, such as `sheets/hero/run_01`.
    /// Loads it if necessary. An error message suggests existing names.
    pub fn find(&mut self, store: &mut ResourceStore, name: &str) -> Result<TextureNumber, Error> {
        if let Some(number) = self.by_name.get(name).copied() {
            if !self.entries[number.0 as usize].loaded {
                self.load_unloaded(store, number)?;
            }
            return Ok(number);
        }
        if store.has(&color_key::resource_of(store, name).0) {
            self.check_colors(store, name)?;
            if self.entries.len() >= TEXTURES_MAX {
                return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
            }
            let held = self.load(store, name, None)?;
            return Ok(self.add(name.to_string(), TextureOrigin::File, Some(held), held.entry));
        }
        self.find_frame(store, name)
    }

    /// Returns the number of a texture that was found before.
    pub fn get_loaded(&self, name: &str) -> Option<TextureNumber> {
        self.by_name.get(name).copied()
    }

    /// Returns the location of a texture. Never fails: a missing texture is the checkerboard.
    #[inline]
    pub fn entry(&self, number: TextureNumber) -> &TextureEntry {
        &self.entries[number.0 as usize]
    }

    /// Returns the name by which a texture is found, or of a render target. Empty for the
    /// checkerboard and for a render target that has ended.
    pub fn name(&self, number: TextureNumber) -> &str {
        let record = &self.records[number.0 as usize];
        if record.source == TextureOrigin::Target && record.held.is_some() {
            let target = self.targets.iter().find(|(_, target)| **target == number);
            return target.map_or("", |(name, _)| name);
        }
        &record.name
    }

    /// Returns the version of the entries. It changes whenever an entry changes, so that owners of
    /// copies can update them.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns a slot with the whole texture, for materials. For a small texture, which is in the
    /// atlas, the slot is created at the first request.
    pub fn slot(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
    ) -> Result<TextureSlot, Error> {
        let index = number.0 as usize;
        if self.entries[index].slot != TextureSlot::SHARED {
            return Ok(self.entries[index].slot);
        }
        if let Some(slot) = self.records[index].extra {
            return Ok(slot);
        }
        let slot = self.take_slot()?;
        self.records[index].extra = Some(slot);
        self.fill_extra(store, index)?;
        Ok(slot)
    }

    /// Returns the frames and tags of a sheet. Loads the sheet if necessary.
    pub fn sheet(&mut self, store: &mut ResourceStore, name: &str) -> Result<&SheetData, Error> {
        let index = self.sheet_index(store, name)?;
        Ok(&self.sheets[index].sheet)
    }

    /// Adds an empty render target. It gets the number of an ended target of the same name.
    pub fn add_target(
        &mut self,
        name: &str,
        width: u32,
        height: u32,
        nearest: bool,
    ) -> Result<TextureNumber, Error> {
        let most = self.caps.side_max;
        if width == 0 || height == 0 || width > most || height > most {
            return Err(error!(
                "a texture to draw to must have 1 to {most} texels a side here, got {width} x \
                 {height}"
            ));
        }
        let ended = self.targets.get(name).copied();
        let ended = ended.filter(|number| self.records[number.0 as usize].held.is_none());
        if ended.is_none() && self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
        }
        let slot = self.take_slot()?;
        let sampling = SamplerSettings { nearest, wrap: WrapMode::Clamp };
        self.queue.push(TextureChange::Target { slot, width, height, sampling });
        let filter = if nearest { QuadInstance::NEAREST } else { 0 };
        let entry = TextureEntry {
            slot,
            paint: QuadInstance::paint(paint::TEXTURE, 0, 0) | filter,
            uv: WHOLE_TEXTURE,
            width,
            height,
            sampling,
            loaded: true,
        };
        let bytes = u64::from(width) * u64::from(height) * 4;
        let held = RendererTexture { entry, region: None, bytes, has_normals: false };
        Ok(match ended {
            Some(number) => {
                let index = number.0 as usize;
                (self.entries[index], self.records[index].held) = (entry, Some(held));
                number
            }
            None => {
                let number = self.add(String::new(), TextureOrigin::Target, Some(held), entry);
                self.targets.insert(name.to_string(), number);
                number
            }
        })
    }

    /// Releases the memory of a texture. Objects that still use it show the checkerboard until it
    /// is found by its name again. All frames of a sheet are unloaded together. A render target is
    /// removed permanently.
    pub fn unload(&mut self, number: TextureNumber) {
        let index = number.0 as usize;
        match self.records[index].source.clone() {
            TextureOrigin::Nothing => {}
            TextureOrigin::File
            | TextureOrigin::Target
            | TextureOrigin::Image
            | TextureOrigin::Inside { .. } => {
                if let Some(held) = self.records[index].held.take() {
                    self.release_texture(held);
                }
                self.records[index].file_removed = false;
                self.reset_entry(index);
            }
            TextureOrigin::Frame { sheet, .. } => self.unload_sheet(sheet),
        }
        self.version += 1;
    }

    /// Reloads the loaded textures and sheets among the changed resources, at their old locations
    /// if they fit. A texture that cannot be loaded stays unchanged, and one whose file is gone
    /// shows the checkerboard. Both are logged.
    pub fn reload(&mut self, store: &mut ResourceStore, changed: &ChangedResources) {
        for resource in changed.of(ReloadStep::Sheets) {
            self.reload_loaded_sheet(store, resource);
        }
        let mut files = None;
        for resource in changed.of(ReloadStep::Textures) {
            let files = files.get_or_insert_with(|| self.textures_of_files(store));
            let indices = files.get(resource).map_or(&[][..], Vec::as_slice);
            self.reload_loaded_file(store, resource, indices);
        }
    }

    /// Reloads the textures of a file, by their indices.
    fn reload_loaded_file(
        &mut self,
        store: &mut ResourceStore,
        resource: &ResourceName,
        indices: &[usize],
    ) {
        for index in indices {
            if self.entries[*index].loaded || self.records[*index].file_removed {
                self.reload_file(store, resource, *index);
            }
        }
    }

    fn reload_loaded_sheet(&mut self, store: &mut ResourceStore, resource: &ResourceName) {
        let known = self.sheets.iter().position(|loaded| loaded.name == resource.name);
        if let Some(index) = known
            && !self.sheets[index].pictures.is_empty()
        {
            self.reload_sheet(store, resource, index);
        }
    }

    /// Sets the capabilities of the renderer. Loads textures again, because some may not have been
    /// supported before.
    pub fn set_caps(&mut self, store: &mut ResourceStore, caps: TextureCaps) {
        if self.caps == caps {
            return;
        }
        self.caps = caps;
        let mut files: Vec<_> = self.textures_of_files(store).into_iter().collect();
        // In the order in which the textures were requested first.
        files.sort_unstable_by_key(|(_, indices)| indices[0]);
        let sheets = self.sheets.iter().map(|sheet| ResourceName::new(SHEET.name, &sheet.name));
        let sheets: Vec<_> = sheets.collect();
        files.iter().for_each(|(file, indices)| self.reload_loaded_file(store, file, indices));
        sheets.iter().for_each(|sheet| self.reload_loaded_sheet(store, sheet));
        self.reload_inside(store);
    }

    /// Moves the changes queued since the last call to `out`.
    pub fn flush(&mut self, out: &mut Vec<TextureChange>) {
        self.record_upload();
        out.append(&mut self.queue);
    }

    /// Returns the number of textures and their memory use.
    pub fn statistics(&self) -> TextureStats {
        let held = self.records.iter().filter_map(|record| record.held.as_ref());
        let held: Vec<&RendererTexture> =
            held.chain(self.sheets.iter().flat_map(|sheet| &sheet.pictures)).collect();
        let layer: u32 = (0..ATLAS_LEVELS).map(|level| (ATLAS_SIDE >> level).pow(2) * 4).sum();
        let layers = self.atlas.layers();
        let separate = held.iter().filter(|held| held.region.is_none()).map(|held| held.bytes);
        TextureStats {
            textures: held.len() as u32 - 1,
            slots: self.next_slot - 1 - self.free_slots.len() as u32,
            atlas_layers: layers,
            bytes: separate.sum::<u64>() + u64::from(layer) * u64::from(layers),
        }
    }

    /// Allocates a slot in the renderer's table, for textures that do not come from files.
    pub fn take_slot(&mut self) -> Result<TextureSlot, Error> {
        if let Some(slot) = self.free_slots.pop() {
            return Ok(slot);
        }
        if self.next_slot > SLOTS_MAX {
            return Err(error!(
                "{SLOTS_MAX} separate textures already exist (SLOTS_MAX): unload some"
            ));
        }
        self.next_slot += 1;
        Ok(TextureSlot(self.next_slot - 1))
    }

    /// Removes the texture in a slot and releases the slot.
    pub fn release_slot(&mut self, slot: TextureSlot) {
        self.queue.push(TextureChange::End { slot });
        self.free_slots.push(slot);
    }
}

/// Returns the reason why a resource that was loaded is missing: its file was deleted, or none of
/// its files can be used.
fn removed_message(store: &ResourceStore, resource: &ResourceName) -> String {
    let index = store.index();
    match index.failure(resource).is_none() && index.variants(resource).is_empty() {
        true => format!("the file of the {} '{}' was deleted", resource.kind, resource.name),
        false => store.missing_message(resource),
    }
}

/// Returns the error message for a frame that a sheet does not have.
fn no_frame(sheet: &str, frame: &str, known: &SheetData) -> String {
    let names: Vec<&str> = known.frames.iter().map(|frame| &frame.name[..]).collect();
    let near = if frame.len() > 2 { hint(frame, names.iter().copied()) } else { String::new() };
    let message = match names[..] {
        _ if !near.is_empty() => near,
        [first, .., last] => format!(": it has {} frames, '{first}' to '{last}'", names.len()),
        _ => format!(": it has {}", names.join(", ")),
    };
    format!("the sheet '{sheet}' has no frame '{frame}'{message}")
}

/// Texture coordinates of a whole texture.
const WHOLE_TEXTURE: [f32; 4] = [0.0, 1.0, 1.0, 0.0];

impl Textures {
    fn add(
        &mut self,
        name: String,
        source: TextureOrigin,
        held: Option<RendererTexture>,
        entry: TextureEntry,
    ) -> TextureNumber {
        let number = TextureNumber(self.entries.len() as u32);
        if !name.is_empty() {
            self.by_name.insert(name.clone(), number);
        }
        self.entries.push(entry);
        let (extra, normals, file_removed) = (None, None, false);
        self.records.push(TextureRecord { name, source, held, extra, normals, file_removed });
        number
    }

    fn missing_entry(&self) -> TextureEntry {
        self.entries[0]
    }

    /// Replaces an entry with the checkerboard, and releases its additional slots.
    fn reset_entry(&mut self, index: usize) {
        self.entries[index] = self.missing_entry();
        let record = &mut self.records[index];
        for slot in [record.extra.take(), record.normals.take()].into_iter().flatten() {
            self.release_slot(slot);
        }
    }

    fn release_texture(&mut self, held: RendererTexture) {
        match held.region {
            Some(region) => self.atlas.remove(region),
            None => self.release_slot(held.entry.slot),
        }
    }

    fn find_frame(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<TextureNumber, Error> {
        for (at, _) in name.rmatch_indices('/') {
            let (sheet, frame) = (&name[..at], &name[at + 1..]);
            if !store.has(&ResourceName::new(kind_names::SHEET, sheet)) {
                continue;
            }
            let index = self.sheet_index(store, sheet)?;
            let LoadedSheet { sheet: known, pictures, .. } = &self.sheets[index];
            let Some(found) = known.frames.iter().find(|known| known.name == frame) else {
                return Err(error!("{}", no_frame(sheet, frame, known)));
            };
            if self.entries.len() >= TEXTURES_MAX {
                return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
            }
            let entry = pictures[found.picture as usize].entry;
            let source = TextureOrigin::Frame { sheet: index, frame: frame.to_string() };
            return Ok(self.add(name.to_string(), source, None, entry));
        }
        let (resource, _) = color_key::resource_of(store, name);
        store.record_request(&resource);
        let message = store.missing_message(&resource);
        let exported = name.rmatch_indices('/').map(|(at, _)| &name[..at]);
        let json = |sheet: &&str| store.has(&ResourceName::new(kind_names::CONFIG, sheet));
        match exported.into_iter().find(json) {
            Some(sheet) => Err(error!(
                "{message}; if '{sheet}' is a sheet, its file must end in .sheet: rename it"
            )),
            None => Err(error!("{message}")),
        }
    }

    fn load_unloaded(
        &mut self,
        store: &mut ResourceStore,
        number: TextureNumber,
    ) -> Result<(), Error> {
        let index = number.0 as usize;
        let name = self.records[index].name.clone();
        match self.records[index].source.clone() {
            TextureOrigin::Nothing | TextureOrigin::Target | TextureOrigin::Inside { .. } => Ok(()),
            TextureOrigin::Image => Err(error!(
                "the texture '{name}' was made of an image and has been unloaded: make it again, \
                 with Image.to_texture"
            )),
            TextureOrigin::File => {
                let held = self.load(store, &name, None)?;
                self.records[index].held = Some(held);
                self.entries[index] = held.entry;
                self.version += 1;
                Ok(())
            }
            TextureOrigin::Frame { sheet, frame } => {
                let sheet_name = self.sheets[sheet].name.clone();
                self.sheet_index(store, &sheet_name)?;
                match self.entries[index].loaded {
                    true => Ok(()),
                    false => {
                        let known = &self.sheets[sheet].sheet;
                        Err(error!("{}", no_frame(&sheet_name, &frame, known)))
                    }
                }
            }
        }
    }

    /// Fills the additional slots of a texture after it was loaded again.
    fn fill_slots(&mut self, store: &mut ResourceStore, index: usize) {
        for filled in [self.fill_extra(store, index), self.fill_normals(store, index)] {
            if let Err(fault) = filled {
                log::error(&fault.to_string());
            }
        }
    }

    fn reload_file(&mut self, store: &mut ResourceStore, resource: &ResourceName, index: usize) {
        self.version += 1;
        if !store.has(resource) {
            log::error(&format!(
                "{}: {SHOWN_AS_PLACEHOLDER} until its file is back",
                removed_message(store, resource)
            ));
            if let Some(held) = self.records[index].held.take() {
                self.release_texture(held);
            }
            self.records[index].file_removed = true;
            return self.reset_entry(index);
        }
        let old = self.records[index].held;
        let name = self.records[index].name.clone();
        match self.load(store, &name, old) {
            Ok(held) => {
                (self.records[index].held, self.records[index].file_removed) = (Some(held), false);
                self.entries[index] = held.entry;
                self.fill_slots(store, index);
            }
            Err(fault) => log::error(&fault.to_string()),
        }
    }
}
