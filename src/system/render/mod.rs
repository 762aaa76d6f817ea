//! The renderer: draws frame packets into a window or an image. All use of wgpu is here. Knows no
//! scripts, no files and no other system; its owner passes packets in and drains its events.
//!
//! A packet's views are drawn by passes: the world's scene, planned in `scene/` and drawn by
//! `forward/`; its Guis with a depth buffer; then the Guis over it. `shader/` assembles shaders and
//! checks them.
//!
//! Without the feature `gpu`, the null renderer is the only one: no_gpu.rs replaces the others. The
//! graphics library then has no graphics interface, and the linker leaves the drawing code out,
//! because nothing calls it.

// Only the null renderer and the checks are used then.
#![cfg_attr(not(feature = "gpu"), allow(dead_code))]

mod atlas_extent;
mod device;
mod fog;
mod forward;
mod frame_capture;
mod frame_limits;
mod frame_renderer;
mod generators;
mod gpu_timing;
mod gui_batches;
mod gui_buffers;
mod gui_encode;
mod gui_passes;
mod gui_pipelines;
mod latency_meter;
mod mask_images;
mod materials;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
mod numeric_map;
mod pipeline_variants;
mod post;
mod range_allocator;
mod readback;
mod recorder;
pub mod render_config;
mod render_pass_check;
mod render_passes;
mod scene;
mod screen_space;
mod secondary_surfaces;
pub mod shader;
mod shader_sources;
mod sky;
mod surface;
mod textures;
mod thread;
mod uploads;
mod view_encode;

pub use device::load_only_software_drivers;
pub use frame_capture::{CAPTURE_SIDE_MAX, CapturedImage, CapturedPass, FrameCapture};
pub use gpu_timing::GpuPass;
pub use gui_batches::GuiDraw;
pub use pipeline_variants::{PipelineVariant, pipeline_variants};
pub use recorder::DrawRecorder;
pub use scene::{RecordedObject, RecordedSceneDraw, SceneDraw, SceneDrawKind, SceneStatistics};
pub use thread::has_abandoned_thread;

use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::FramePacket;
use engine_frame_packet::mesh::MeshSlot;
use engine_frame_packet::texture::TextureSlot;
#[cfg(feature = "gpu")]
use frame_renderer::FrameRenderer;
use frame_renderer::RenderCommand;
#[cfg(not(feature = "gpu"))]
use no_gpu::{FrameRenderer, RenderThread};
use secondary_surfaces::NewWindow;
use std::sync::Arc;
use std::sync::mpsc::channel;
#[cfg(feature = "gpu")]
use thread::RenderThread;

/// The requested kind of adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdapterChoice {
    /// A graphics card, or else the software adapter, which is then reported.
    Auto,
    /// A graphics card, or an error.
    Gpu,
    /// The software adapter: the same images on every machine with the same driver.
    Software,
    /// None: packets are processed and nothing is drawn.
    Null,
}

/// The handles that a window must provide, so that it can be drawn to.
pub trait SurfaceWindow:
    wgpu::rwh::HasWindowHandle + wgpu::rwh::HasDisplayHandle + Send + Sync
{
}
impl<T: wgpu::rwh::HasWindowHandle + wgpu::rwh::HasDisplayHandle + Send + Sync> SurfaceWindow
    for T
{
}

/// The target of the screen's images. Sizes in pixels; a window without a size is not drawn to.
#[derive(Clone)]
pub enum SurfaceTarget {
    /// `is_foreign` is true for a window of another program, which may be closed at any time;
    /// frames are then drawn without a window.
    Window {
        window: Arc<dyn SurfaceWindow>,
        width: u32,
        height: u32,
        is_foreign: bool,
    },
    Offscreen {
        width: u32,
        height: u32,
    },
}

/// Synchronization of frames with the display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vsync {
    On,
    /// Late frames are shown immediately, with tearing.
    Adaptive,
    /// The newest frame is shown without tearing; the display's queue drops the others.
    Fast,
    Off,
    /// No synchronization, and no tearing if possible: for windows other than the one that waits
    /// for the display.
    Never,
}

/// Anti-aliasing of tone-mapped images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Antialiasing {
    None,
    /// Fast approximate anti-aliasing: edges of the image are smoothed by their contrast.
    Fxaa,
    /// Subpixel morphological anti-aliasing: edges are straightened between their ends.
    Smaa,
}

/// The screen-space effects of shading environments that are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectLevel {
    None,
    /// Ambient occlusion in half resolution, and no motion blur.
    Reduced,
    /// As the environments have them.
    All,
    /// Ambient occlusion in full resolution.
    Finest,
}

/// How the shadows of lights with a size are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShadowFilter {
    /// With the same width everywhere, as those of lights without a size.
    Pcf,
    /// Wider with the distance from the objects that cast them.
    Pcss,
}

/// Quality settings of worlds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RenderQuality {
    /// Samples per pixel, for smooth edges: 1 or 4.
    pub samples: u32,
    /// Side length in texels of a sun's shadow maps, and the largest of a spot's; 0: no shadows.
    /// The maps of the six sides of an omni light have half of the latter.
    pub shadow_texels: u32,
    pub spot_texels: u32,
    /// Largest side length in texels of the atlas of the shadow maps of omni and spot lights.
    pub shadow_atlas_texels: u32,
    /// Number of the atlas' shadow maps that are drawn in a frame. Further ones are drawn later.
    pub shadow_tiles_per_frame: u32,
    /// The distance up to which suns cast shadows, in metres, and the number of cascades, from 1 to
    /// 4.
    pub shadow_distance: f32,
    pub cascades: u32,
    pub shadow_filter: ShadowFilter,
    /// Smoothing of the image after tone mapping.
    pub antialiasing: Antialiasing,
    /// Side length in texels of the map of a sky's light: a power of two, or else rounded down.
    pub sky_texels: u32,
    /// Steps per frame in which the light of a changing sky is updated.
    pub sky_steps: u32,
    /// Factor from the width and height of a view to those of its image of the world, from
    /// [`RenderQuality::SCALE_MIN`] to [`RenderQuality::SCALE_MAX`].
    pub scale: f32,
    pub effects: EffectLevel,
    /// Number of columns of the grids of froxel fog, up to 256; 0: there is none.
    pub fog_columns: u32,
    /// Number of passes of a frame from which on the vertices of a deformed draw are skinned once
    /// before all of them; 0: never. `None`: two on graphics cards, and never by the processor.
    pub pre_skinning_passes: Option<u32>,
}

impl RenderQuality {
    pub const SCALE_MIN: f32 = 0.25;
    pub const SCALE_MAX: f32 = 2.0;
    pub const DEFAULT: RenderQuality = RenderQuality {
        samples: 4,
        shadow_texels: 2048,
        spot_texels: 1024,
        shadow_atlas_texels: 4096,
        shadow_tiles_per_frame: 48,
        shadow_distance: 100.0,
        cascades: 3,
        shadow_filter: ShadowFilter::Pcss,
        antialiasing: Antialiasing::None,
        sky_texels: 256,
        sky_steps: 4,
        scale: 1.0,
        effects: EffectLevel::All,
        fog_columns: 128,
        pre_skinning_passes: None,
    };

    /// Returns the factor for the size of images of worlds, which is in its range.
    fn valid_scale(&self) -> f32 {
        let is_number = !self.scale.is_nan();
        let scale = if is_number { self.scale } else { RenderQuality::DEFAULT.scale };
        scale.clamp(RenderQuality::SCALE_MIN, RenderQuality::SCALE_MAX)
    }
}

impl Default for RenderQuality {
    fn default() -> RenderQuality {
        RenderQuality::DEFAULT
    }
}

/// Options for starting a renderer.
pub struct RendererOptions {
    pub choice: AdapterChoice,
    pub output: SurfaceTarget,
    /// True if the renderer works on its own thread, in parallel to the game; otherwise it works
    /// inside of `submit`.
    pub threaded: bool,
    pub vsync: Vsync,
    /// True if the passes are measured on the adapter.
    pub timing: bool,
    pub quality: RenderQuality,
    /// Returns the seconds of the clock that `FramePacket::input_seconds` uses.
    pub clock: fn() -> f64,
}

/// An image: RGBA with one byte each, sRGB, alpha not premultiplied, rows from the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenderedImage {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

/// An event of the renderer.
#[derive(Clone, PartialEq, Debug)]
pub enum RendererEvent {
    /// A note at the start, if the choice of the adapter is not obvious.
    Note(String),
    Captured {
        number: u64,
        frame: u64,
        picture: RenderedImage,
    },
    CaptureFailed {
        number: u64,
        message: String,
    },
    /// The frame that [`FramePacket::captures_frame`] asked for.
    FrameCaptured(Box<FrameCapture>),
    /// A texture could not be created; draws with it are white.
    TextureRefused {
        slot: TextureSlot,
        message: String,
    },
    /// A mesh could not be created; draws with it show nothing.
    MeshRefused {
        slot: MeshSlot,
        name: String,
        message: String,
    },
    /// A material's shader does not work with this adapter; the previous one stays.
    ShaderFailed {
        shader: String,
        message: String,
    },
    /// A render config does not work with this adapter. Views are drawn as before, or by the
    /// engine's own frame.
    RenderConfigFailed {
        name: String,
        message: String,
    },
    /// The adapter was lost, and is available again; only the contents of render targets are lost.
    DeviceRecovered {
        message: String,
    },
    /// A view shows only some of its lights or of their shadows, because it has too many; reported
    /// once.
    Crowded {
        message: String,
    },
    /// A draw is shown in its bind pose instead of a pose of the packet; reported once.
    PoseRefused {
        message: String,
    },
    /// An operation failed on the adapter: memory has run out, or the engine made an invalid
    /// request.
    Fault {
        message: String,
    },
    /// The foreign window cannot be drawn to any more; frames are drawn without a window.
    WindowLost {
        message: String,
    },
    /// A secondary window cannot be drawn to any more.
    OtherWindowLost {
        window: u64,
        message: String,
    },
    /// The renderer has failed: nothing is drawn from now on.
    Failed {
        message: String,
    },
}

/// Properties of the adapter that draws.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterInfo {
    pub name: String,
    /// "Vulkan", "Metal", "DX12", "GL" or "null".
    pub backend: &'static str,
    pub software: bool,
    pub driver: String,
    /// The longest side of a texture, in texels.
    pub texture_side_max: u32,
    /// True if textures can use block compression.
    pub block_textures: bool,
}

impl AdapterInfo {
    /// Returns the properties of the null renderer.
    fn none() -> AdapterInfo {
        AdapterInfo {
            name: "null".to_string(),
            backend: "null",
            software: true,
            driver: String::new(),
            texture_side_max: 16384,
            block_textures: true,
        }
    }
}

/// Statistics of the newest frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameStatistics {
    /// Packets processed since the start.
    pub frames: u64,
    /// Frames presented in the window.
    pub presented: u64,
    pub draw_calls: u32,
    pub instances: u32,
    /// Bytes of instances copied to the adapter.
    pub copied_bytes: u64,
    pub textures: u32,
    pub materials: u32,
    /// Textures of render configs' generators, and their bytes.
    pub generator_textures: u32,
    pub generator_bytes: u64,
    /// The part of worlds in the draw calls, instances and bytes above, and the contents of the
    /// worlds.
    pub scene: SceneStatistics,
    /// Bytes of the images of post effects on the adapter.
    pub post_bytes: u64,
    /// Images of screen-space effects that exist, in all views.
    pub screen_images: u32,
    /// Milliseconds of the renderer's thread for the packet, without waiting for the display.
    pub encode_ms: f32,
    /// Milliseconds of the renderer's thread by stage: "changes" applied, "worlds" culled and
    /// grouped, "copies" to the adapter, "passes" encoded and submitted.
    pub cpu_passes: Vec<(&'static str, f32)>,
    /// The passes of a recent frame on the adapter, and the index of that frame; empty without
    /// timing.
    pub gpu_passes: Vec<GpuPass>,
    pub gpu_frame: u64,
    /// Latency from the newest input until the frame that shows it is presented: in seconds, and in
    /// frames at the recent rate. The average of recent frames; 0 before any input.
    pub latency_seconds: f32,
    pub latency_frames: f32,
}

/// A renderer. It processes every packet, in order.
pub struct Renderer {
    backend: Backend,
    adapter: AdapterInfo,
    effects: EffectLevel,
}

impl Drop for Renderer {
    fn drop(&mut self) {
        if matches!(&self.backend, Backend::Inline(renderer) if renderer.is_hung()) {
            let unused = Backend::Null(Box::default());
            std::mem::forget(std::mem::replace(&mut self.backend, unused));
            thread::abandon();
        }
    }
}

enum Backend {
    Null(Box<DrawRecorder>),
    Inline(Box<FrameRenderer>),
    Thread(RenderThread),
}

impl Renderer {
    /// Finds an adapter and starts. Returns an error if there is none of the requested kind.
    pub fn start(options: RendererOptions) -> Result<Renderer, Error> {
        let effects = options.quality.effects;
        if options.choice == AdapterChoice::Null {
            let mut recorder = Box::<DrawRecorder>::default();
            recorder.set_quality(options.quality);
            let (backend, adapter) = (Backend::Null(recorder), AdapterInfo::none());
            return Ok(Renderer { backend, adapter, effects });
        }
        let renderer = FrameRenderer::start(&options)?;
        let adapter = renderer.adapter();
        let backend = if options.threaded {
            let window = matches!(options.output, SurfaceTarget::Window { .. });
            // Graphics cards are limited by their drivers. With them, a frame of a hidden window
            // can take any time, because some display servers delay it.
            let is_limited = !window || adapter.software;
            let limit = is_limited.then_some(device::ADAPTER_WAIT_MAX);
            let thread = RenderThread::start(renderer, window, limit);
            Backend::Thread(thread.map_err(|error| {
                error!("the render thread could not be started: {error}. Run --single-threaded")
            })?)
        } else {
            Backend::Inline(Box::new(renderer))
        };
        Ok(Renderer { backend, adapter, effects })
    }

    /// Submits a packet and returns an empty one. Blocks while another packet is waiting. With a
    /// window, it also blocks until the renderer takes this packet, so that the next one uses fresh
    /// input.
    pub fn submit(&mut self, mut packet: FramePacket) -> FramePacket {
        frame_limits::limit_environments(&mut packet, self.effects);
        match &mut self.backend {
            Backend::Null(recorder) => recorder.apply(&packet),
            Backend::Inline(renderer) => renderer.packet(&packet),
            Backend::Thread(thread) => return thread.submit(packet),
        }
        packet.clear();
        packet
    }

    fn command(&mut self, command: RenderCommand) {
        match &mut self.backend {
            Backend::Null(_) => {}
            Backend::Inline(renderer) => renderer.command(command),
            Backend::Thread(thread) => thread.command(command),
        }
    }

    /// Sets the size of the screen in pixels, from the next packet on.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.command(RenderCommand::Resize(width, height));
    }

    pub fn set_vsync(&mut self, vsync: Vsync) {
        self.command(RenderCommand::Vsync(vsync));
    }

    /// Moves the output to another target from the next packet on. Everything is kept except the
    /// contents of render targets. Blocks until it is done.
    ///
    /// # Errors
    /// Returns an error if no adapter can draw there; the output then stays where it was.
    pub fn move_to(&mut self, output: SurfaceTarget) -> Result<(), String> {
        if matches!(self.backend, Backend::Null(_)) {
            return Err("the null renderer draws nothing".to_string());
        }
        let (reply, answer) = channel();
        self.command(RenderCommand::Output(output, reply));
        answer.recv().map_err(|_| "the renderer has ended".to_string())?
    }

    /// Opens a secondary window by its number; its size is in pixels. Call it on the main thread,
    /// because some systems allow only the main thread to begin drawing to a window.
    ///
    /// # Errors
    /// Returns an error if the window cannot be drawn to.
    pub fn open_window(
        &mut self,
        number: u64,
        window: Arc<dyn SurfaceWindow>,
        size: (u32, u32),
    ) -> Result<(), String> {
        if matches!(self.backend, Backend::Null(_)) {
            return Ok(());
        }
        let ended = |_| "the renderer has ended".to_string();
        let (reply, answer) = channel();
        self.command(RenderCommand::Instance(reply));
        let surface = device::surface(&answer.recv().map_err(ended)?, &window)?;
        let (reply, answer) = channel();
        let new = NewWindow { number, window, size, surface };
        self.command(RenderCommand::OpenWindow(Box::new(new), reply));
        answer.recv().map_err(ended)?
    }

    /// Closes a secondary window: nothing draws to it any more when this returns.
    pub fn close_window(&mut self, number: u64) {
        if matches!(self.backend, Backend::Null(_)) {
            return;
        }
        let (reply, answer) = channel();
        self.command(RenderCommand::CloseWindow(number, reply));
        // A renderer that has ended has already released the window.
        let _ = answer.recv();
    }

    /// Sets the size of a secondary window in pixels.
    pub fn resize_window(&mut self, number: u64, width: u32, height: u32) {
        self.command(RenderCommand::ResizeWindow(number, (width, height)));
    }

    /// Sets the quality of worlds from the next packet on.
    pub fn set_quality(&mut self, quality: RenderQuality) {
        self.effects = quality.effects;
        match &mut self.backend {
            Backend::Null(recorder) => recorder.set_quality(quality),
            Backend::Inline(_) | Backend::Thread(_) => {
                self.command(RenderCommand::Quality(quality))
            }
        }
    }

    /// Enables or disables the measurement of passes on the adapter.
    pub fn set_timing(&mut self, timing: bool) {
        self.command(RenderCommand::Timing(timing));
    }

    /// Makes the adapter fail as a crashed driver would, to test the recovery.
    pub fn lose_device(&mut self) {
        self.command(RenderCommand::LoseDevice);
    }

    /// Returns the events since the last call.
    pub fn events(&mut self) -> Vec<RendererEvent> {
        match &mut self.backend {
            Backend::Null(recorder) => recorder.events(),
            Backend::Inline(renderer) => renderer.take_events(),
            Backend::Thread(thread) => thread.events(),
        }
    }

    /// Blocks until every packet so far is drawn and its captures are among the events.
    pub fn finish(&mut self) {
        if let Backend::Thread(thread) = &self.backend {
            thread.finish();
        }
    }

    pub fn statistics(&self) -> FrameStatistics {
        match &self.backend {
            Backend::Null(recorder) => recorder.statistics(),
            Backend::Inline(renderer) => renderer.statistics().clone(),
            Backend::Thread(thread) => thread.statistics(),
        }
    }

    /// Returns the properties of the adapter, as found at the start.
    pub fn adapter(&self) -> &AdapterInfo {
        &self.adapter
    }

    /// Returns the recorder of the null renderer, which lists what would be drawn.
    pub fn recorder(&self) -> Option<&DrawRecorder> {
        match &self.backend {
            Backend::Null(recorder) => Some(recorder),
            Backend::Inline(_) | Backend::Thread(_) => None,
        }
    }
}
