//! The packet: everything that one frame hands to the renderer, as plain arrays. Made while the
//! game runs its frame, then given away whole, so that the renderer can work on it while the next
//! frame is made. Knows no graphics interface, no systems and no scripts; and nothing is drawn
//! here.
//!
//! A packet is applied in this order: textures, materials, meshes and surfaces, ended Guis and
//! scenes, Guis, scenes, views, captures. What it leaves unsaid stays as it was: textures,
//! materials, meshes, surfaces, retained Gui objects and the draws, lights and skies of scenes live
//! in the renderer until a packet ends them.

pub mod cell;
pub mod gui;
pub mod material;
pub mod mesh;
pub mod scene;
pub mod text;
pub mod texture;

use crate::foundation::{Mat4, Vec3};
use gui::GuiFrame;
use material::MaterialChange;
use mesh::{MeshChange, SurfaceChange};
use scene::SceneFrame;
use texture::{TextureChange, TextureSlot};

/// One frame, for the renderer.
#[derive(Default, Debug)]
pub struct Packet {
    /// The frame's index, as the game counts it.
    pub frame: u64,
    /// When the newest input that this frame has seen arrived, in seconds of the process's
    /// monotonic clock; 0 when there was none. The renderer tells how long until it was shown.
    pub input_seconds: f64,
    /// Seconds of game time, for shaders that move by themselves.
    pub seconds: f64,
    /// Pixels of the screen for each logical pixel.
    pub scale: f32,
    /// The windows beside the main one that can be drawn to; views of others are not drawn.
    pub windows: Vec<WindowFrame>,
    pub textures: Vec<TextureChange>,
    pub materials: Vec<MaterialChange>,
    pub meshes: Vec<MeshChange>,
    pub surfaces: Vec<SurfaceChange>,
    /// Guis that are gone. Their numbers are never used again.
    pub ended_guis: Vec<u64>,
    /// Every Gui that has something new to say or is drawn by a view.
    pub guis: Vec<GuiFrame>,
    /// Scenes that are gone. Their numbers are never used again.
    pub ended_scenes: Vec<u64>,
    /// Every scene that has something new to say.
    pub scenes: Vec<SceneFrame>,
    /// In the order in which they are drawn.
    pub views: Vec<View>,
    pub captures: Vec<Capture>,
    /// Guis of an earlier frame, whose arrays are used again.
    pub spare_guis: Vec<GuiFrame>,
    /// Scenes of an earlier frame, emptied, whose arrays are used again.
    pub spare_scenes: Vec<SceneFrame>,
}

impl Packet {
    /// Empties the packet and keeps its room; Guis and scenes become spare.
    pub fn clear(&mut self) {
        self.frame = 0;
        self.input_seconds = 0.0;
        self.seconds = 0.0;
        self.scale = 1.0;
        self.windows.clear();
        self.textures.clear();
        self.materials.clear();
        self.meshes.clear();
        self.surfaces.clear();
        self.ended_guis.clear();
        self.spare_guis.append(&mut self.guis);
        self.ended_scenes.clear();
        self.scenes.iter_mut().for_each(SceneFrame::clear);
        self.spare_scenes.append(&mut self.scenes);
        self.views.clear();
        self.captures.clear();
    }

    /// Pixels of a target for each logical pixel; `None` where it cannot be drawn to.
    pub fn scale_of(&self, target: Target) -> Option<f32> {
        match target {
            Target::Screen => Some(self.scale.max(1e-3)),
            Target::Texture(_) => Some(1.0),
            Target::Window(number) => {
                let found = self.windows.iter().find(|window| window.number == number);
                found.map(|found| found.scale.max(1e-3))
            }
        }
    }
}

/// A window beside the main one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowFrame {
    /// Its own, never used for another.
    pub number: u64,
    /// Pixels of the screen for each logical pixel.
    pub scale: f32,
}

/// Where something is drawn to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// The window; without one, the picture that captures are taken of.
    #[default]
    Screen,
    /// A texture that was made as a render target.
    Texture(TextureSlot),
    /// A window beside the main one, by its number.
    Window(u64),
}

/// Metres: a camera sees no farther, and neither do its edges lie farther apart.
pub const SIGHT_MAX: f32 = 1.0e9;
/// Metres: what a camera in perspective sees begins no nearer.
pub const NEAR_MIN: f32 = 1.0e-6;
/// Radians: an angle of sight is so much more than nothing, and less than half a circle.
pub const ANGLE_MIN: f32 = 1.0e-4;

/// What a camera sees, as matrices. World: right-handed, Z up, metres. Clip space: x and y from -1
/// to 1, y up, depth from 0 (near) to 1 (far).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CameraFrame {
    pub view: Mat4,
    pub projection: Mat4,
    pub position: Vec3,
    pub near: f32,
    pub far: f32,
}

/// A world seen by a camera, and the Guis over it.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    pub target: Target,
    /// Left, bottom, width and height as fractions of the target.
    pub rectangle: [f32; 4],
    /// What the target is filled with first, as sRGB colour and alpha from 0 to 1; `None` draws
    /// over what is there.
    pub clear: Option<[f32; 4]>,
    pub camera: CameraFrame,
    /// Which scene is drawn, under the Guis.
    pub scene: Option<u64>,
    /// Draws of the scene are drawn that are in one of these groups.
    pub layers: u32,
    /// Which of the packet's Guis are drawn, in this order: those of the world first.
    pub guis: Vec<u64>,
}

/// A picture that somebody asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capture {
    /// Comes back with the pixels.
    pub number: u64,
    pub of: Target,
}
