//! Guis: what is drawn in two dimensions, as instances of quadrilaterals in the arrays that a
//! packet takes. Knows no fonts, files and devices: texts come as quadrilaterals, textures as
//! places in the renderer's table.
//!
//! The dual-mode GUI of the Bitsquid engine (N. Gray, "A Dual-Mode GUI", 2013; SYSTEMS A8.7 to
//! A8.9): one interface, two modes. An immediate Gui shows what is drawn in a frame for that frame;
//! a retained one keeps objects, of which the renderer has the only copy: whoever changes one gives
//! all of it again. Draw calls equal the distinct [`BatchKey`]s.

mod frame;
mod inspect;
mod pen;
mod put;
pub mod shape;
mod source;
#[cfg(test)]
mod tests;

pub use frame::nearly_black;
pub use inspect::{Seen, Shadow};
pub use pen::{Affine, Pen, STACK_MAX};
pub use put::{PARTS_MAX, Part, Thing, What};
pub use source::{PLAIN, Source, SourceNumber};

use crate::foundation::{Handle, Kind, Mat4, Slots, Vec2};
use crate::packet::gui::{Batch, BatchKey, Change, Instance, Moved, Space};
use crate::packet::texture::TextureSlot;
use std::collections::HashMap;

/// The most Guis that can be there at once.
pub const GUIS_MAX: usize = 1024;
/// The most objects that all retained Guis together can have.
pub const OBJECTS_MAX: usize = 1 << 20;
/// The most quadrilaterals that one batch, or the changes of one Gui, can have in a frame: 256 MiB.
pub const INSTANCES_MAX: usize = 1 << 22;
/// The most batches, each a draw call, that one Gui can have in a frame.
pub const BATCHES_MAX: usize = 4096;

/// The handle of a Gui.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuiId(pub Handle);

/// Whether a Gui keeps what is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// What is drawn is shown for one frame.
    Immediate,
    /// What is drawn is an object, shown until it is destroyed.
    Retained,
}

/// What a Gui is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Making {
    /// The world it belongs to: views of that world show it.
    pub world: Option<Handle>,
    pub space: Space,
    pub mode: Mode,
    pub pose: Mat4,
    /// Width and height in its own units; 0, 0 for a screen's Gui, which is as large as its target.
    pub size: [f32; 2],
    /// The texture that it is drawn into, where it is none of the screen's.
    pub target: Option<TextureSlot>,
}

impl Making {
    /// The part of a Gui that a target of a size shows, where the Gui was moved to: its left bottom
    /// and right top, in the Gui's units. Of one in a world it is the whole Gui.
    pub fn seen(&self, target: [f32; 2]) -> [Vec2; 2] {
        let size = if self.size[0] > 0.0 { self.size } else { target };
        let size = Vec2::from(size);
        if self.space == Space::World {
            return [Vec2::ZERO, size];
        }
        if self.pose.determinant() == 0.0 {
            return [Vec2::splat(f32::MIN), Vec2::splat(f32::MAX)];
        }
        let back = self.pose.inverse();
        let corners = [Vec2::ZERO, Vec2::new(size.x, 0.0), Vec2::new(0.0, size.y), size];
        let corners = corners.map(|corner| back.transform_point3(corner.extend(0.0)).truncate());
        let low = corners.into_iter().fold(corners[0], Vec2::min);
        [low, corners.into_iter().fold(corners[0], Vec2::max)]
    }
}

/// One Gui.
pub struct Gui {
    pub making: Making,
    pub pen: Pen,
    /// What was drawn in this frame, and which batch has which key.
    batches: Vec<Batch>,
    found: HashMap<BatchKey, u32, put::KeyHashes>,
    /// The last object's layer, source and clip, and its batch: most objects are like the one
    /// before.
    last: Option<put::Like>,
    last_batch: usize,
    transforms: Vec<Mat4>,
    /// Transforms of retained objects that are free again.
    transforms_free: Vec<u16>,
    transforms_changed: bool,
    changes: Vec<Change>,
    instances: Vec<Instance>,
    /// Sources that moved in this frame, of which changes tell.
    moved: Vec<Moved>,
    /// Emptied arrays of earlier frames, by what they were used for.
    spare: HashMap<BatchKey, Vec<Instance>, put::KeyHashes>,
    /// What was drawn in this frame, in words, where that is kept.
    seen: Vec<Seen>,
    /// The same of the frame before.
    shown: Vec<Seen>,
}

/// One object of a retained Gui, as far as this side keeps it.
#[derive(Clone, Copy, Debug)]
struct Object {
    gui: Handle,
    what: What,
    /// Which of the Gui's transforms, from 1; 0: none.
    transform: u16,
    /// How many objects of the packet it is: one, or more for texts with several pages.
    parts: u8,
}

/// Every Gui, and the objects of the retained ones.
pub struct Guis {
    guis: Slots<Gui>,
    objects: Slots<Object>,
    /// What can be drawn with, see [`source`].
    sources: Vec<Source>,
    /// Those that have ended.
    free_sources: Vec<SourceNumber>,
    /// Guis that ended since the last packet.
    ended: Vec<u64>,
    /// Why the last call was refused.
    refusal: String,
    /// What is kept for tools, where it is.
    shadow: Option<Shadow>,
    /// Sums over this frame.
    pub counters: Counters,
    /// The sums of the frame before.
    pub shown: Counters,
}

/// What was drawn in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Objects that were drawn, made or changed.
    pub objects: u32,
    /// Batches of immediate Guis.
    pub batches: u32,
    /// Quadrilaterals of them, and in changes.
    pub instances: u32,
}

/// A call was refused; [`Guis::take_refusal`] has the words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused;

impl Default for Guis {
    fn default() -> Guis {
        Guis {
            guis: Slots::new(Kind::Gui, GUIS_MAX),
            objects: Slots::new(Kind::GuiObject, OBJECTS_MAX),
            sources: vec![Source::PLAIN],
            free_sources: Vec::new(),
            ended: Vec::new(),
            refusal: String::new(),
            shadow: None,
            counters: Counters::default(),
            shown: Counters::default(),
        }
    }
}

impl Guis {
    /// The Guis behind their handles.
    pub fn slots(&self) -> &Slots<Gui> {
        &self.guis
    }

    /// Whether an object of a retained Gui is there.
    pub fn has_object(&self, object: Handle) -> bool {
        self.objects.get(object).is_some()
    }

    /// A living Gui's pen: transforms and clipping.
    pub fn pen(&mut self, gui: GuiId) -> &mut Pen {
        &mut self.gui(gui).pen
    }

    /// A living Gui.
    pub fn gui(&mut self, gui: GuiId) -> &mut Gui {
        self.guis.get_mut(gui.0).expect("the handle was checked where it came in")
    }

    /// Makes an empty Gui.
    pub fn create(&mut self, making: Making) -> Result<GuiId, String> {
        let gui = Gui {
            making,
            pen: Pen::default(),
            batches: Vec::new(),
            found: HashMap::default(),
            last: None,
            last_batch: 0,
            transforms: Vec::new(),
            transforms_free: Vec::new(),
            transforms_changed: false,
            changes: Vec::new(),
            instances: Vec::new(),
            moved: Vec::new(),
            spare: HashMap::default(),
            seen: Vec::new(),
            shown: Vec::new(),
        };
        let added = self.guis.add(gui).map(GuiId);
        added.ok_or_else(|| {
            format!("{GUIS_MAX} Guis are there already (GUIS_MAX): destroy one first")
        })
    }

    /// Ends a Gui with its objects; `frame` and `place` are for the words of stale handles.
    pub fn destroy(&mut self, gui: GuiId, frame: u64, place: &str) {
        self.end_objects(gui, frame, place);
        if self.guis.remove(gui.0, "", frame, place).is_some() {
            self.ended.push(number(gui.0));
        }
    }

    /// Ends the Guis of a world.
    pub fn release_world(&mut self, world: Handle, frame: u64, place: &str) {
        let own = self.guis.iter().filter(|(_, gui)| gui.making.world == Some(world));
        for gui in own.map(|(handle, _)| GuiId(handle)).collect::<Vec<_>>() {
            self.destroy(gui, frame, place);
        }
    }

    /// The Guis that a view of a world shows, in the order of their slots: those in the world, then
    /// those of the screen.
    pub fn of_world(&self, world: Handle) -> Vec<u64> {
        let of = |space: Space| {
            self.guis.iter().filter(move |(_, gui)| {
                let making = &gui.making;
                making.world == Some(world) && making.space == space && making.target.is_none()
            })
        };
        of(Space::World).chain(of(Space::Screen)).map(|(handle, _)| number(handle)).collect()
    }

    /// Guis that are drawn into textures, with those.
    pub fn into_textures(&self) -> impl Iterator<Item = (u64, TextureSlot)> {
        let target = |(handle, gui): (Handle, &Gui)| Some((number(handle), gui.making.target?));
        self.guis.iter().filter_map(target)
    }

    /// Moves a whole Gui.
    pub fn set_pose(&mut self, gui: GuiId, pose: Mat4) {
        self.gui(gui).making.pose = pose;
    }

    /// Forgets what a Gui shows: its objects, and what was drawn in this frame.
    pub fn reset(&mut self, gui: GuiId, frame: u64, place: &str) {
        self.end_objects(gui, frame, place);
        let one = self.gui(gui);
        one.forget_batches();
        one.pen = Pen::default();
        one.seen.clear();
        one.transforms.clear();
        one.transforms_free.clear();
        if one.making.mode == Mode::Retained {
            one.changes.clear();
            one.instances.clear();
            one.moved.clear();
            one.changes.push(Change::Reset);
        }
    }

    fn end_objects(&mut self, gui: GuiId, frame: u64, place: &str) {
        if self.gui(gui).making.mode == Mode::Immediate {
            return;
        }
        let own = self.objects.iter().filter(|(_, object)| object.gui == gui.0);
        for object in own.map(|(handle, _)| handle).collect::<Vec<_>>() {
            self.objects.remove(object, "", frame, place);
            if let Some(shadow) = &mut self.shadow {
                shadow.end(number(object));
            }
        }
    }

    /// Why the last call was refused.
    pub fn take_refusal(&mut self) -> String {
        std::mem::take(&mut self.refusal)
    }

    /// Refuses a call.
    #[cold]
    pub fn refuse<T>(&mut self, words: impl Into<String>) -> Result<T, Refused> {
        self.refusal = words.into();
        Err(Refused)
    }
}

/// A handle as a packet's number.
fn number(handle: Handle) -> u64 {
    handle.to_number() as u64
}
