//! The registry: names to numbers, numbers to places; loading, reloading, giving back. How data
//! becomes what the renderer gets is in loading.rs, and sheets are in sheets.rs.

mod counted;
mod loading;
mod made;
mod pages;
mod sheets;

pub use pages::Placed;

use super::atlas::{Atlas, Place};
use super::data::{self, Filter, Head};
use super::sheet::{self, Sheet};
use super::texels;
use super::{Entry, SLOTS_MAX, TEXTURES_MAX, TextureNumber};
use crate::error;
use crate::foundation::suggest::hint;
use crate::foundation::{Error, log};
use crate::packet::cell::{self, MARGIN};
use crate::packet::gui::{Instance, paint};
use crate::packet::texture::{
    ATLAS_LEVELS, ATLAS_SIDE, Format, Sampling, Texels, TextureChange, TextureSlot, Wrap,
};
use crate::resource::bundle::Bytes;
use crate::resource::containment::contain;
use crate::resource::image::level_size;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use std::collections::HashMap;
use std::ops::Range;

/// What the machine's renderer can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// The longest side of a texture, in texels.
    pub side_max: u32,
    /// Whether textures can be in blocks.
    pub blocks: bool,
}

impl Abilities {
    /// What is supposed until the renderer has said it.
    pub const DEFAULT: Abilities = Abilities { side_max: 16384, blocks: true };
}

/// How many textures there are, and how much room they take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Loaded ones, frames of sheets not counted apart.
    pub textures: u32,
    pub slots: u32,
    pub atlas_layers: u32,
    /// Bytes of texels on the adapter, the atlas's layers as a whole.
    pub bytes: u64,
}

/// What the renderer was given for one picture.
#[derive(Clone, Copy, Debug)]
struct Held {
    entry: Entry,
    place: Option<Place>,
    bytes: u64,
}

#[derive(Clone, PartialEq, Debug)]
enum Source {
    /// The checkerboard.
    Nothing,
    /// A texture resource of the same name.
    File,
    /// A frame of a sheet: which sheet, and its name in it.
    Frame { sheet: usize, frame: String },
    /// A texture that is drawn to.
    Target,
    /// A picture inside another resource: which, and where in its data.
    Inside { of: ResourceName, range: Range<usize> },
}

struct Record {
    name: String,
    source: Source,
    held: Option<Held>,
    /// A slot beside the place in the atlas, for materials, which cannot look into the atlas.
    extra: Option<TextureSlot>,
    /// Its file was there and is not: it is loaded when it is there again.
    gone: bool,
}

/// A loaded sheet.
struct Loaded {
    name: String,
    sheet: Sheet,
    /// In the order of its pictures; empty while it is unloaded.
    pictures: Vec<Held>,
    /// For scenes, once one of them showed a frame.
    page: Option<pages::Page>,
}

/// The textures of a game.
pub struct Textures {
    entries: Vec<Entry>,
    records: Vec<Record>,
    by_name: HashMap<String, TextureNumber>,
    sheets: Vec<Loaded>,
    atlas: Atlas,
    /// Slots that were given out and came back.
    free_slots: Vec<TextureSlot>,
    next_slot: u32,
    queue: Vec<TextureChange>,
    counted: counted::Counted,
    version: u64,
    abilities: Abilities,
    /// The filter of textures that name none.
    nearest: bool,
}

impl Textures {
    /// With the checkerboard alone. `nearest`: the filter of textures that name none.
    pub fn new(nearest: bool) -> Textures {
        let mut textures = Textures {
            entries: Vec::new(),
            records: Vec::new(),
            by_name: HashMap::new(),
            sheets: Vec::new(),
            atlas: Atlas::default(),
            free_slots: Vec::new(),
            next_slot: 1,
            queue: Vec::new(),
            counted: counted::Counted::default(),
            version: 0,
            abilities: Abilities::DEFAULT,
            nearest,
        };
        let (width, height, mut rgba) = texels::checkerboard();
        rgba.extend(texels::cell_levels(width, height, &rgba));
        let head = Head {
            picture_width: width,
            picture_height: height,
            width,
            height,
            levels: 1,
            format: Format::Rgba8Srgb,
            filter: Filter::Nearest,
            wrap: Wrap::Clamp,
            small: true,
        };
        let held = textures.place_small(&head, &rgba.into(), 0, None).expect("the atlas is empty");
        let entry = Entry { loaded: false, ..held.entry };
        textures.add(String::new(), Source::Nothing, Some(Held { entry, ..held }), entry);
        textures
    }

    /// The texture of that name, or the frame of a sheet: `sheets/hero/run_01`. It is loaded if it
    /// is not yet. The words of an error say what is there instead.
    pub fn find(&mut self, store: &mut Store, name: &str) -> Result<TextureNumber, Error> {
        if let Some(number) = self.by_name.get(name).copied() {
            if !self.entries[number.0 as usize].loaded {
                self.load_again(store, number)?;
            }
            return Ok(number);
        }
        if store.has(&ResourceName::new("texture", name)) {
            if self.entries.len() >= TEXTURES_MAX {
                return Err(error!("{TEXTURES_MAX} textures were asked for (TEXTURES_MAX)"));
            }
            let held = self.load(store, name, None)?;
            return Ok(self.add(name.to_string(), Source::File, Some(held), held.entry));
        }
        self.find_frame(store, name)
    }

    /// The number of a texture that was found before.
    pub fn known(&self, name: &str) -> Option<TextureNumber> {
        self.by_name.get(name).copied()
    }

    /// Where a texture is. Never fails: what is missing is the checkerboard.
    #[inline]
    pub fn entry(&self, number: TextureNumber) -> &Entry {
        &self.entries[number.0 as usize]
    }

    /// By which name a texture was found; empty for the checkerboard and for targets.
    pub fn name(&self, number: TextureNumber) -> &str {
        &self.records[number.0 as usize].name
    }

    /// Changes whenever an entry is not what it was: who keeps copies of entries takes new ones.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A slot with the whole texture in it, for materials: that of a small one, which is in the
    /// atlas, is made when first asked for.
    pub fn slot(&mut self, store: &mut Store, number: TextureNumber) -> Result<TextureSlot, Error> {
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

    /// What a sheet says about its frames and tags; it is loaded if it is not yet.
    pub fn sheet(&mut self, store: &mut Store, name: &str) -> Result<&Sheet, Error> {
        let index = self.sheet_index(store, name)?;
        Ok(&self.sheets[index].sheet)
    }

    /// A texture to draw to, without content.
    pub fn add_target(&mut self, width: u32, height: u32) -> Result<TextureNumber, Error> {
        let most = self.abilities.side_max;
        if width == 0 || height == 0 || width > most || height > most {
            return Err(error!(
                "a texture to draw to must have 1 to {most} texels a side here, got {width} x \
                 {height}"
            ));
        }
        if self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were asked for (TEXTURES_MAX)"));
        }
        let slot = self.take_slot()?;
        self.queue.push(TextureChange::Target { slot, width, height });
        let entry = Entry {
            slot,
            paint: Instance::paint(paint::TEXTURE, 0, 0),
            uv: WHOLE,
            width,
            height,
            sampling: Sampling { nearest: false, wrap: Wrap::Clamp },
            loaded: true,
        };
        let bytes = u64::from(width) * u64::from(height) * 4;
        let held = Held { entry, place: None, bytes };
        Ok(self.add(String::new(), Source::Target, Some(held), entry))
    }

    /// Gives a texture's room back. Whatever still draws with it shows the checkerboard, until it
    /// is found by its name again; all frames of a sheet go together. A target is gone for good.
    pub fn unload(&mut self, number: TextureNumber) {
        let index = number.0 as usize;
        match self.records[index].source.clone() {
            Source::Nothing => {}
            Source::File | Source::Target | Source::Inside { .. } => {
                if let Some(held) = self.records[index].held.take() {
                    self.give_back(held);
                }
                self.records[index].gone = false;
                self.forget(index);
            }
            Source::Frame { sheet, .. } => self.unload_sheet(sheet),
        }
        self.version += 1;
    }

    /// Takes in what the data compiler made anew: what was loaded of it is loaded again, in its old
    /// place where it fits. What cannot be loaded keeps what it has; what is gone shows the
    /// checkerboard. Both are told.
    pub fn reload(&mut self, store: &mut Store, changed: &[ResourceName]) {
        for resource in changed {
            match &resource.kind[..] {
                "texture" => {
                    if let Some(number) = self.by_name.get(&resource.name).copied()
                        && self.records[number.0 as usize].source == Source::File
                        && (self.entries[number.0 as usize].loaded
                            || self.records[number.0 as usize].gone)
                    {
                        self.reload_file(store, resource, number.0 as usize);
                    }
                }
                "sheet" => {
                    let known = self.sheets.iter().position(|loaded| loaded.name == resource.name);
                    if let Some(index) = known
                        && !self.sheets[index].pictures.is_empty()
                    {
                        self.reload_sheet(store, resource, index);
                    }
                }
                _ => {}
            }
        }
    }

    /// What the renderer can do. Textures that it could not take so far are loaded again.
    pub fn set_abilities(&mut self, store: &mut Store, abilities: Abilities) {
        if self.abilities == abilities {
            return;
        }
        self.abilities = abilities;
        let files = self.records.iter().filter(|record| record.source == Source::File);
        let mut names: Vec<_> =
            files.map(|record| ResourceName::new("texture", &record.name)).collect();
        names.extend(self.sheets.iter().map(|sheet| ResourceName::new("sheet", &sheet.name)));
        self.reload(store, &names);
        self.reload_inside(store);
    }

    /// Takes what is to be done by the renderer since the last call.
    pub fn flush(&mut self, out: &mut Vec<TextureChange>) {
        self.note_handed();
        out.append(&mut self.queue);
    }

    /// How many there are, and how much room they take.
    pub fn figures(&self) -> Figures {
        let held = self.records.iter().filter_map(|record| record.held.as_ref());
        let held: Vec<&Held> =
            held.chain(self.sheets.iter().flat_map(|sheet| &sheet.pictures)).collect();
        let layer: u32 = (0..ATLAS_LEVELS).map(|level| (ATLAS_SIDE >> level).pow(2) * 4).sum();
        let layers = self.atlas.layers();
        let own = held.iter().filter(|held| held.place.is_none()).map(|held| held.bytes);
        Figures {
            textures: held.len() as u32 - 1,
            slots: self.next_slot - 1 - self.free_slots.len() as u32,
            atlas_layers: layers,
            bytes: own.sum::<u64>() + u64::from(layer) * u64::from(layers),
        }
    }

    /// A slot in the renderer's table, for whoever makes textures of other things than files.
    pub fn take_slot(&mut self) -> Result<TextureSlot, Error> {
        if let Some(slot) = self.free_slots.pop() {
            return Ok(slot);
        }
        if self.next_slot > SLOTS_MAX {
            return Err(error!(
                "{SLOTS_MAX} textures of their own are there already (SLOTS_MAX): unload some"
            ));
        }
        self.next_slot += 1;
        Ok(TextureSlot(self.next_slot - 1))
    }

    /// Ends what is in a slot and gives the slot back.
    pub fn give_slot(&mut self, slot: TextureSlot) {
        self.queue.push(TextureChange::End { slot });
        self.free_slots.push(slot);
    }
}

/// The words for a frame that a sheet has not.
fn no_frame(sheet: &str, frame: &str, known: &Sheet) -> String {
    let names: Vec<&str> = known.frames.iter().map(|frame| &frame.name[..]).collect();
    let near = if frame.len() > 2 { hint(frame, names.iter().copied()) } else { String::new() };
    let words = match names[..] {
        _ if !near.is_empty() => near,
        [first, .., last] => format!(": it has {} frames, '{first}' to '{last}'", names.len()),
        _ => format!(": it has {}", names.join(", ")),
    };
    format!("the sheet '{sheet}' has no frame '{frame}'{words}")
}

/// The uv of a whole texture.
const WHOLE: [f32; 4] = [0.0, 1.0, 1.0, 0.0];

impl Textures {
    fn add(
        &mut self,
        name: String,
        source: Source,
        held: Option<Held>,
        entry: Entry,
    ) -> TextureNumber {
        let number = TextureNumber(self.entries.len() as u32);
        if !name.is_empty() {
            self.by_name.insert(name.clone(), number);
        }
        self.entries.push(entry);
        self.records.push(Record { name, source, held, extra: None, gone: false });
        number
    }

    fn missing_entry(&self) -> Entry {
        self.entries[0]
    }

    /// Makes an entry the checkerboard, and lets go of its second slot.
    fn forget(&mut self, index: usize) {
        self.entries[index] = self.missing_entry();
        if let Some(slot) = self.records[index].extra.take() {
            self.give_slot(slot);
        }
    }

    fn give_back(&mut self, held: Held) {
        match held.place {
            Some(place) => self.atlas.remove(place),
            None => self.give_slot(held.entry.slot),
        }
    }

    fn find_frame(&mut self, store: &mut Store, name: &str) -> Result<TextureNumber, Error> {
        for (at, _) in name.rmatch_indices('/') {
            let (sheet, frame) = (&name[..at], &name[at + 1..]);
            if !store.has(&ResourceName::new("sheet", sheet)) {
                continue;
            }
            let index = self.sheet_index(store, sheet)?;
            let Loaded { sheet: known, pictures, .. } = &self.sheets[index];
            let Some(found) = known.frames.iter().find(|known| known.name == frame) else {
                return Err(error!("{}", no_frame(sheet, frame, known)));
            };
            if self.entries.len() >= TEXTURES_MAX {
                return Err(error!("{TEXTURES_MAX} textures were asked for (TEXTURES_MAX)"));
            }
            let entry = pictures[found.picture as usize].entry;
            let source = Source::Frame { sheet: index, frame: frame.to_string() };
            return Ok(self.add(name.to_string(), source, None, entry));
        }
        let resource = ResourceName::new("texture", name);
        store.note_asked(&resource);
        let words = store.missing_words(&resource);
        let exported = name.rmatch_indices('/').map(|(at, _)| &name[..at]);
        let json = |sheet: &&str| store.has(&ResourceName::new("config", sheet));
        match exported.into_iter().find(json) {
            Some(sheet) => Err(error!(
                "{words}; if '{sheet}' is a sheet, its file must end in .sheet: rename it"
            )),
            None => Err(error!("{words}")),
        }
    }

    fn load_again(&mut self, store: &mut Store, number: TextureNumber) -> Result<(), Error> {
        let index = number.0 as usize;
        let name = self.records[index].name.clone();
        match self.records[index].source.clone() {
            Source::Nothing | Source::Target | Source::Inside { .. } => Ok(()),
            Source::File => {
                let held = self.load(store, &name, None)?;
                self.records[index].held = Some(held);
                self.entries[index] = held.entry;
                self.version += 1;
                Ok(())
            }
            Source::Frame { sheet, frame } => {
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

    fn reload_file(&mut self, store: &mut Store, resource: &ResourceName, index: usize) {
        self.version += 1;
        if !store.has(resource) {
            log::error(&format!(
                "{}: it is shown as a checkerboard",
                store.missing_words(resource)
            ));
            if let Some(held) = self.records[index].held.take() {
                self.give_back(held);
            }
            self.records[index].gone = true;
            return self.forget(index);
        }
        let old = self.records[index].held;
        match self.load(store, &resource.name, old) {
            Ok(held) => {
                (self.records[index].held, self.records[index].gone) = (Some(held), false);
                self.entries[index] = held.entry;
                if let Err(fault) = self.fill_extra(store, index) {
                    log::error(&fault.to_string());
                }
            }
            Err(fault) => log::error(&fault.to_string()),
        }
    }
}
