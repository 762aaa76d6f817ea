//! The packet: all data that one frame passes to the renderer, as plain arrays. The game fills the
//! packet during its frame and then passes on ownership, so the renderer can draw it while the game
//! makes the next frame. Knows no graphics API, no systems and no scripts. Nothing is drawn here.
//!
//! A packet is applied in this order: textures, materials, meshes and surfaces, ended Guis and
//! scenes, Guis, scenes, views, captures. Everything that a packet does not mention stays
//! unchanged. Textures, materials, meshes, surfaces, retained Gui objects, and the draws, lights
//! and skies of scenes live in the renderer until a packet ends them.

pub mod atlas_cell;
pub mod debug_view;
pub mod decal;
pub mod deformation;
pub mod fog_volume;
pub mod gui;
mod joint_bounds;
mod light;
pub mod material;
pub mod mesh;
pub mod outline;
pub mod palettes;
pub mod reflection_probe;
pub mod render_config;
pub mod scene;
pub mod shading_environment;
pub mod text;
pub mod texture;

use debug_view::DebugView;
use engine_foundation::{Mat4, Vec3};
use gui::GuiFrame;
use material::MaterialChange;
use mesh::{MeshChange, SurfaceChange};
use render_config::{GeneratorRun, RenderConfigFrame, ViewportSlot};
use scene::{SceneFrame, SkyFrame};
use shading_environment::{EnvironmentTextures, ShadingEnvironment};
use texture::{TextureChange, TextureSlot};

/// The data of one frame for the renderer.
#[derive(Default, Debug)]
pub struct FramePacket {
    /// Index of the frame, as the game counts it.
    pub frame: u64,
    /// Arrival time of the newest input that this frame has processed, in seconds of the process's
    /// monotonic clock; 0 without input. The renderer reports the latency until the frame is shown.
    pub input_seconds: f64,
    /// Seconds of game time, for animated shaders.
    pub seconds: f64,
    /// Number of screen pixels for each logical pixel.
    pub scale: f32,
    /// Location of the game's picture on the screen. If `None`, the picture fills the screen, and
    /// its units are logical pixels.
    pub picture: Option<PicturePlacement>,
    /// Color beside the picture: sRGB from 0 to 1.
    pub bar_color: [f32; 3],
    /// The secondary windows that can be drawn to. Views of other windows are not drawn.
    pub windows: Vec<WindowFrame>,
    pub textures: Vec<TextureChange>,
    pub materials: Vec<MaterialChange>,
    pub meshes: Vec<MeshChange>,
    pub surfaces: Vec<SurfaceChange>,
    /// Guis that have ended. Their numbers are never reused.
    pub ended_guis: Vec<u64>,
    /// Every Gui that has changes or is drawn by a view.
    pub guis: Vec<GuiFrame>,
    /// Scenes that have ended. Their numbers are never reused.
    pub ended_scenes: Vec<u64>,
    /// Every scene that has changes.
    pub scenes: Vec<SceneFrame>,
    /// The value or image that worlds show instead of their light.
    pub debug_view: DebugView,
    /// The render configs that views are drawn with.
    pub render_configs: Vec<RenderConfigFrame>,
    /// Generators that draw onto textures before the views, in this order.
    pub generator_runs: Vec<GeneratorRun>,
    /// Views in drawing order.
    pub views: Vec<View>,
    pub captures: Vec<CaptureRequest>,
    /// True if the frame is captured with all of its images.
    pub captures_frame: bool,
    /// Guis of an earlier frame, whose arrays are reused.
    pub spare_guis: Vec<GuiFrame>,
    /// Cleared scenes of an earlier frame, whose arrays are reused.
    pub spare_scenes: Vec<SceneFrame>,
}

impl FramePacket {
    /// Clears the packet and keeps its allocated memory. Guis and scenes become spare.
    pub fn clear(&mut self) {
        self.frame = 0;
        self.input_seconds = 0.0;
        self.seconds = 0.0;
        self.scale = 1.0;
        self.picture = None;
        self.bar_color = [0.0; 3];
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
        self.debug_view = DebugView::None;
        self.render_configs.clear();
        self.generator_runs.clear();
        self.views.clear();
        self.captures.clear();
        self.captures_frame = false;
    }

    /// Returns the pixels of a target for each unit of its Guis, or `None` if the target cannot be
    /// drawn to. Of a stretched picture, it is the geometric mean.
    pub fn scale_of(&self, target: ViewTarget) -> Option<f32> {
        match target {
            ViewTarget::Screen => {
                let [x, y] = self.picture.map_or([self.scale; 2], |picture| picture.scale);
                Some((x * y).sqrt().max(1e-3))
            }
            ViewTarget::Texture(_) => Some(1.0),
            ViewTarget::Window(number) => {
                let found = self.windows.iter().find(|window| window.number == number);
                found.map(|found| found.scale.max(1e-3))
            }
        }
    }
}

/// Location of the game's picture on the screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PicturePlacement {
    /// Pixels per unit of the game, horizontally and vertically.
    pub scale: [f32; 2],
    /// Bottom left of the picture, in pixels from the bottom left of the screen. It is negative if
    /// a part of the picture is outside the screen.
    pub offset: [f32; 2],
    /// Width and height of the picture in pixels.
    pub size: [f32; 2],
}

impl PicturePlacement {
    /// Converts a rectangle from fractions of the picture (left, bottom, width, height) to
    /// fractions of a screen of `pixels`.
    pub fn on_screen(&self, [left, bottom, width, height]: [f32; 4], pixels: [f32; 2]) -> [f32; 4] {
        let position = |at: f32, axis: usize| {
            (self.offset[axis] + at * self.size[axis]) / pixels[axis].max(1.0)
        };
        let length = |part: f32, axis: usize| part * self.size[axis] / pixels[axis].max(1.0);
        [position(left, 0), position(bottom, 1), length(width, 0), length(height, 1)]
    }

    /// Returns the matrix that enlarges the part of a view that is on the screen to the whole view,
    /// or `None` if the whole view is on the screen. `rectangle` has fractions of the picture.
    pub fn crop(&self, rectangle: [f32; 4], pixels: [f32; 2]) -> Option<Mat4> {
        let [left, bottom, width, height] = self.on_screen(rectangle, pixels);
        let is_inside = left >= -1e-4
            && bottom >= -1e-4
            && left + width <= 1.0 + 1e-4
            && bottom + height <= 1.0 + 1e-4;
        let is_empty =
            left >= 1.0 || bottom >= 1.0 || left + width <= 0.0 || bottom + height <= 0.0;
        if is_inside || is_empty || width <= 0.0 || height <= 0.0 {
            return None;
        }
        // The visible range of each axis, in clip space.
        let range = |start: f32, length: f32| {
            let part = |at: f32| ((at - start) / length).clamp(0.0, 1.0) * 2.0 - 1.0;
            (part(0.0), part(1.0))
        };
        let ((x0, x1), (y0, y1)) = (range(left, width), range(bottom, height));
        let scale = Vec3::new(2.0 / (x1 - x0), 2.0 / (y1 - y0), 1.0);
        let shift = Vec3::new(-(x0 + x1) / (x1 - x0), -(y0 + y1) / (y1 - y0), 0.0);
        Some(Mat4::from_translation(shift) * Mat4::from_scale(scale))
    }
}

/// A secondary window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowFrame {
    /// Number of the window, never reused.
    pub number: u64,
    /// Number of screen pixels for each logical pixel.
    pub scale: f32,
}

/// The target of a view or a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ViewTarget {
    /// The main window; without a window, an offscreen picture for captures.
    #[default]
    Screen,
    /// A texture that was created as a render target.
    Texture(TextureSlot),
    /// A secondary window, by its number.
    Window(u64),
}

/// Maximum viewing distance of a camera in meters, and maximum distance between its edges.
pub const VIEW_DISTANCE_MAX: f32 = 1.0e9;
/// Minimum distance of a perspective camera's near plane, in meters.
pub const NEAR_MIN: f32 = 1.0e-6;
/// Minimum field of view in radians. The maximum is less than half a circle by the same amount.
pub const ANGLE_MIN: f32 = 1.0e-4;

/// A camera as matrices. World space is right-handed, Z up, in meters. In clip space, x and y run
/// from -1 to 1 with y up, and depth runs from 0 (near) to 1 (far).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CameraFrame {
    pub view: Mat4,
    pub projection: Mat4,
    pub position: Vec3,
    pub near: f32,
    pub far: f32,
}

/// A world seen by a camera, with Guis on top.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    pub target: ViewTarget,
    /// Left, bottom, width and height as fractions of the target.
    pub rectangle: [f32; 4],
    /// Clear color as sRGB color and alpha from 0 to 1. `None` draws over the existing contents.
    pub clear: Option<[f32; 4]>,
    pub camera: CameraFrame,
    /// The scene that is drawn below the Guis.
    pub scene: Option<u64>,
    /// Bit set of groups. Only draws of the scene in one of these groups are drawn.
    pub layers: u32,
    /// The sky of the view in place of that of its scene.
    pub sky: Option<SkyFrame>,
    /// Sky, fog and post effects of the view.
    pub environment: ShadingEnvironment,
    pub environment_textures: EnvironmentTextures,
    /// The order of passes that draws the view; `None`: the engine's own frame.
    pub viewport: Option<ViewportSlot>,
    /// The packet's Guis that are drawn, in this order: those of the world first.
    pub guis: Vec<u64>,
}

/// A request for a screenshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaptureRequest {
    /// Number of the request, which is returned with the pixels.
    pub number: u64,
    pub of: ViewTarget,
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec4;

    const WHOLE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

    #[test]
    fn pictures_inside_the_screen_are_not_cropped() {
        let placement =
            PicturePlacement { scale: [2.0; 2], offset: [0.0, 40.0], size: [640.0, 360.0] };
        let pixels = [640.0, 440.0];
        let found = placement.on_screen(WHOLE, pixels);
        assert_eq!(found, [0.0, 40.0 / 440.0, 1.0, 360.0 / 440.0]);
        assert_eq!(placement.crop(WHOLE, pixels), None);
    }

    #[test]
    fn pictures_beyond_the_screen_are_cropped_to_it() {
        let placement =
            PicturePlacement { scale: [4.0; 2], offset: [-320.0, 0.0], size: [1280.0, 720.0] };
        let crop = placement.crop(WHOLE, [640.0, 720.0]).expect("half of it is outside");
        // The quarters at both sides are outside: what is at a half of clip space is at the edge.
        assert_eq!(crop * Vec4::new(0.5, 1.0, 0.3, 1.0), Vec4::new(1.0, 1.0, 0.3, 1.0));
        assert_eq!(crop * Vec4::new(-0.5, -1.0, 0.3, 1.0), Vec4::new(-1.0, -1.0, 0.3, 1.0));
        let outside = [0.0, 0.0, 0.2, 1.0];
        assert_eq!(placement.crop(outside, [640.0, 720.0]), None);
    }
}
