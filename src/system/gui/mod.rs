//! Guis: two-dimensional drawing, as instanced quads in the arrays of a render packet. Knows no
//! fonts, files or devices: texts arrive as quads, textures as slots in the renderer's table.
//!
//! Follows the dual-mode GUI of the Bitsquid engine (N. Gray, "A Dual-Mode GUI", 2013): one
//! interface with two modes. An immediate Gui shows for one frame what is drawn in that frame. A
//! retained Gui keeps objects. Their quads are in the renderer, so a change must pass the complete
//! object again; only tools have a copy, [`DrawRecording`]. Quads with equal [`GuiBatchKey`]s share
//! a draw call.

mod draw_recording;
mod frame_output;
mod key_hasher;
mod masks;
pub mod mesh;
pub mod stroke;
mod submit;
pub mod tessellation;
#[cfg(test)]
mod tests;
mod texture_source;
mod transform_stack;
mod triangulation;

pub use draw_recording::{DrawRecording, DrawnObject};
pub use frame_output::nearly_black;
pub use masks::MASKS_MAX;
pub use submit::{DrawRequest, PARTS_MAX, PrimitiveKind, SourcePart};
pub use texture_source::{PLAIN, SOURCES_MAX, SourceNumber, TextureSource};
pub use transform_stack::{Affine2, STACK_MAX, TransformStack};

use engine_foundation::{Handle, HandleKind, Mat4, Slots, Vec2};
use engine_frame_packet::gui::{
    GuiBatchKey, GuiSpace, MaskFrame, MovedSource, ObjectChange, QuadBatch, QuadInstance,
};
use engine_frame_packet::texture::TextureSlot;
use std::collections::HashMap;

/// Maximum number of Guis that exist at once.
pub const GUIS_MAX: usize = 1024;
/// Maximum number of objects in all retained Guis together.
pub const OBJECTS_MAX: usize = 1 << 20;
/// Maximum number of quads per frame in one batch, or in the changes of one Gui: 256 MiB.
pub const INSTANCES_MAX: usize = 1 << 22;
/// Maximum number of batches, each a draw call, of one Gui in a frame.
pub const BATCHES_MAX: usize = 4096;

/// Handle of a Gui.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuiId(pub Handle);

/// Drawing mode of a Gui: immediate or retained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuiMode {
    /// Drawn objects are shown for one frame.
    Immediate,
    /// Drawn objects are kept and shown until they are destroyed.
    Retained,
}

/// Parameters that create a Gui.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GuiDesc {
    /// World of the Gui. Views of that world show the Gui.
    pub world: Option<Handle>,
    pub space: GuiSpace,
    pub mode: GuiMode,
    pub pose: Mat4,
    /// Width and height in the Gui's units; 0, 0 for a screen Gui, which is as large as its target.
    pub size: [f32; 2],
    /// Texture that the Gui is drawn into; `None` for the screen.
    pub target: Option<TextureSlot>,
    /// True if the texture keeps its content between frames.
    pub keeps: bool,
}

impl GuiDesc {
    /// Returns the part of a Gui that is visible on a target of this size: its bottom left and top
    /// right, in the Gui's units, with the Gui's pose applied. For a Gui in a world it is the whole
    /// Gui.
    pub fn visible_area(&self, target: [f32; 2]) -> [Vec2; 2] {
        let size = if self.size[0] > 0.0 { self.size } else { target };
        let size = Vec2::from(size);
        if self.space == GuiSpace::World {
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

/// State of one Gui.
pub struct Gui {
    pub desc: GuiDesc,
    pub transform_stack: TransformStack,
    /// Batches of this frame, and the batch index by key.
    batches: Vec<QuadBatch>,
    batch_indices: HashMap<GuiBatchKey, u32, key_hasher::KeyHashes>,
    /// Properties of the last object that select its batch, and that batch. Most objects use the
    /// same batch as the previous object.
    last: Option<submit::BatchHint>,
    last_batch: usize,
    transforms: Vec<Mat4>,
    /// Free transform slots of retained objects.
    transforms_free: Vec<u16>,
    transforms_changed: bool,
    changes: Vec<ObjectChange>,
    instances: Vec<QuadInstance>,
    /// Sources that moved in this frame, referenced by `changes`.
    moved: Vec<MovedSource>,
    /// Masks of this frame.
    masks: Vec<MaskFrame>,
    /// Color that the target is filled with before this frame's objects are drawn: red, green, blue
    /// and alpha.
    fill: Option<[u8; 4]>,
    /// Empty arrays of earlier frames, by the batch key that used them.
    spare: HashMap<GuiBatchKey, Vec<QuadInstance>, key_hasher::KeyHashes>,
    /// Objects drawn in this frame, if a shadow copy is kept.
    drawn: Vec<DrawnObject>,
    /// Objects drawn in the previous frame, if a shadow copy is kept.
    drawn_before: Vec<DrawnObject>,
}

/// Bookkeeping of one retained object; its quads are in the renderer.
#[derive(Clone, Copy, Debug)]
struct RetainedObject {
    gui: Handle,
    kind: PrimitiveKind,
    /// Index of the object's transform in the Gui, from 1; 0 for none.
    transform: u16,
    /// Number of packet objects: one, or more for a text with several font pages.
    parts: u8,
}

/// Registry of all Guis and of the objects of retained Guis.
pub struct Guis {
    guis: Slots<Gui>,
    objects: Slots<RetainedObject>,
    /// Sources that can be drawn with, see [`texture_source`].
    sources: Vec<TextureSource>,
    /// Free numbers of released sources.
    free_sources: Vec<SourceNumber>,
    /// Guis that were destroyed since the last packet.
    ended: Vec<u64>,
    /// Message of the last refused call.
    refusal: String,
    /// Shadow copy for tools, if it is kept.
    shadow: Option<DrawRecording>,
    /// Counters of the current frame.
    pub counters: DrawCounters,
    /// Counters of the previous frame.
    pub previous_counters: DrawCounters,
}

/// Counters of the drawing in one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DrawCounters {
    /// Number of objects drawn, created or changed.
    pub objects: u32,
    /// Number of batches of immediate Guis.
    pub batches: u32,
    /// Number of quads in batches and in changes.
    pub instances: u32,
}

/// Error of a refused call; [`Guis::take_refusal`] returns the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrawRefused;

impl Default for Guis {
    fn default() -> Guis {
        Guis {
            guis: Slots::new(HandleKind::Gui, GUIS_MAX),
            objects: Slots::new(HandleKind::GuiObject, OBJECTS_MAX),
            sources: vec![TextureSource::PLAIN],
            free_sources: Vec::new(),
            ended: Vec::new(),
            refusal: String::new(),
            shadow: None,
            counters: DrawCounters::default(),
            previous_counters: DrawCounters::default(),
        }
    }
}

impl Guis {
    /// Returns the table of Guis by handle.
    pub fn slots(&self) -> &Slots<Gui> {
        &self.guis
    }

    /// Returns true if this object of a retained Gui exists.
    pub fn has_object(&self, object: Handle) -> bool {
        self.objects.get(object).is_some()
    }

    /// Returns the transform and clip stack of a live Gui.
    pub fn transform_stack(&mut self, gui: GuiId) -> &mut TransformStack {
        &mut self.gui(gui).transform_stack
    }

    /// Returns a live Gui. The handle must already be checked.
    pub fn gui(&mut self, gui: GuiId) -> &mut Gui {
        self.guis.get_mut(gui.0).expect("the handle was checked where it came in")
    }

    /// Creates an empty Gui.
    pub fn create(&mut self, desc: GuiDesc) -> Result<GuiId, String> {
        let gui = Gui {
            desc,
            transform_stack: TransformStack::default(),
            batches: Vec::new(),
            batch_indices: HashMap::default(),
            last: None,
            last_batch: 0,
            transforms: Vec::new(),
            transforms_free: Vec::new(),
            transforms_changed: false,
            changes: Vec::new(),
            instances: Vec::new(),
            moved: Vec::new(),
            masks: Vec::new(),
            fill: None,
            spare: HashMap::default(),
            drawn: Vec::new(),
            drawn_before: Vec::new(),
        };
        let added = self.guis.add(gui).map(GuiId);
        added.ok_or_else(|| format!("{GUIS_MAX} Guis already exist (GUIS_MAX): destroy one first"))
    }

    /// Destroys a Gui with its objects. Errors about stale handles mention `frame` and `location`.
    pub fn destroy(&mut self, gui: GuiId, frame: u64, location: &str) {
        self.end_objects(gui, frame, location);
        if self.guis.remove(gui.0, "", frame, location).is_some() {
            self.ended.push(number(gui.0));
        }
    }

    /// Destroys the Guis of a world.
    pub fn release_world(&mut self, world: Handle, frame: u64, location: &str) {
        let own = self.guis.iter().filter(|(_, gui)| gui.desc.world == Some(world));
        for gui in own.map(|(handle, _)| GuiId(handle)).collect::<Vec<_>>() {
            self.destroy(gui, frame, location);
        }
    }

    /// Returns the Guis that a view of a world shows, in the order of their slots: the Guis in the
    /// world, then the Guis of the screen.
    pub fn of_world(&self, world: Handle) -> Vec<u64> {
        let of = |space: GuiSpace| {
            self.guis.iter().filter(move |(_, gui)| {
                let desc = &gui.desc;
                desc.world == Some(world) && desc.space == space && desc.target.is_none()
            })
        };
        of(GuiSpace::World).chain(of(GuiSpace::Screen)).map(|(handle, _)| number(handle)).collect()
    }

    /// Returns the Guis that are drawn into textures, with their target textures and the colors
    /// that these are filled with first; `None` keeps a texture's content.
    pub fn into_textures(&self) -> impl Iterator<Item = (u64, TextureSlot, Option<[u8; 4]>)> {
        let target = |(handle, gui): (Handle, &Gui)| {
            let fill = gui.fill.or((!gui.desc.keeps).then_some([0; 4]));
            Some((number(handle), gui.desc.target?, fill))
        };
        self.guis.iter().filter_map(target)
    }

    /// Fills the texture of a Gui with a color in this frame, before everything else. Removes what
    /// an immediate Gui has drawn in this frame.
    ///
    /// # Errors
    /// Returns an error if the Gui is not drawn into a texture.
    pub fn clear(&mut self, gui: GuiId, color: [u8; 4]) -> Result<(), String> {
        let one = self.gui(gui);
        if one.desc.target.is_none() {
            return Err("this Gui is not drawn into a texture, and has no background: draw a \
                        rectangle instead"
                .to_string());
        }
        if one.desc.mode == GuiMode::Immediate {
            one.forget_batches();
            one.drawn.clear();
            one.transforms.clear();
        }
        one.fill = Some(color);
        Ok(())
    }

    /// Sets the pose of a whole Gui.
    pub fn set_pose(&mut self, gui: GuiId, pose: Mat4) {
        self.gui(gui).desc.pose = pose;
    }

    /// Clears a Gui: removes its objects and everything drawn in this frame.
    pub fn reset(&mut self, gui: GuiId, frame: u64, location: &str) {
        self.end_objects(gui, frame, location);
        let one = self.gui(gui);
        one.forget_batches();
        one.transform_stack = TransformStack::default();
        one.masks.clear();
        one.drawn.clear();
        one.transforms.clear();
        one.transforms_free.clear();
        if one.desc.mode == GuiMode::Retained {
            one.changes.clear();
            one.instances.clear();
            one.moved.clear();
            one.changes.push(ObjectChange::Reset);
        }
    }

    fn end_objects(&mut self, gui: GuiId, frame: u64, location: &str) {
        if self.gui(gui).desc.mode == GuiMode::Immediate {
            return;
        }
        let own = self.objects.iter().filter(|(_, object)| object.gui == gui.0);
        for object in own.map(|(handle, _)| handle).collect::<Vec<_>>() {
            self.objects.remove(object, "", frame, location);
            if let Some(shadow) = &mut self.shadow {
                shadow.end(number(object));
            }
        }
    }

    /// Takes the message of the last refused call.
    pub fn take_refusal(&mut self) -> String {
        std::mem::take(&mut self.refusal)
    }

    /// Refuses a call with this message.
    #[cold]
    pub fn refuse<T>(&mut self, message: impl Into<String>) -> Result<T, DrawRefused> {
        self.refusal = message.into();
        Err(DrawRefused)
    }
}

/// Converts a handle to the number used in packets.
fn number(handle: Handle) -> u64 {
    handle.to_number() as u64
}
