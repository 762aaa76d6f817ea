//! The renderer: takes packets and shows them in a window or a picture. Home of wgpu. Knows no
//! scripts, no files and no other system; whoever owns it hands it packets and drains its events.
//!
//! A packet's views are drawn by passes: the world's scene, planned in `scene/` and drawn by
//! `lit/`, its Guis, with a depth buffer, then the Guis over it.
//! `shader/` puts shaders together and checks them.

mod batches;
mod buffers;
mod capture;
mod device;
mod encode;
mod extent;
mod lit;
mod materials;
mod null;
mod painter;
mod passes;
mod scene;
mod screen;
pub mod shader;
mod table;
mod textures;
mod thread;
mod timing;
mod windows;

pub use batches::Draw;
pub use device::load_software_drivers_alone;
pub use null::Recorder;
pub use scene::{SceneDraw, SceneDrawKind, SceneSeen, SceneStatistics, SceneThing};
pub use thread::is_left_behind;

use crate::error;
use crate::foundation::Error;
use crate::packet::Packet;
use crate::packet::mesh::MeshSlot;
use crate::packet::texture::TextureSlot;
use painter::{Command, Painter};
use std::sync::Arc;
use std::sync::mpsc::channel;
use thread::Thread;
use windows::NewWindow;

/// Which adapter is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A graphics card, or else the software adapter, which is then said.
    Auto,
    /// A graphics card or nothing.
    Gpu,
    /// The software adapter: the same pictures on every machine with the same driver.
    Software,
    /// None: packets are taken over and nothing is drawn.
    Null,
}

/// What a window must be able to tell, so that it can be drawn to.
pub trait Window: wgpu::rwh::HasWindowHandle + wgpu::rwh::HasDisplayHandle + Send + Sync {}
impl<T: wgpu::rwh::HasWindowHandle + wgpu::rwh::HasDisplayHandle + Send + Sync> Window for T {}

/// Where the screen is. Sizes in pixels; a window without a size is not drawn to.
#[derive(Clone)]
pub enum Output {
    /// `lent`: it is another program's, and may be closed at any time; pictures are drawn without
    /// a window then.
    Window {
        window: Arc<dyn Window>,
        width: u32,
        height: u32,
        lent: bool,
    },
    Offscreen {
        width: u32,
        height: u32,
    },
}

/// Whether pictures wait for the display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vsync {
    On,
    /// Late pictures are shown at once, torn.
    Adaptive,
    /// The newest picture is shown, untorn; others are dropped by the display's queue.
    Fast,
    Off,
    /// Not at all, and untorn where that can be: for windows beside the one that waits.
    Never,
}

/// How worlds are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quality {
    /// Samples of each pixel, for smooth edges: 1 or 4.
    pub samples: u32,
    /// Texels on a side of a sun's shadow maps and of a spot's; 0: they cast none.
    pub shadow_texels: u32,
    pub spot_texels: u32,
    /// Up to which distance suns cast shadows, in metres, and in how many maps, from 1 to 4.
    pub shadow_distance: f32,
    pub cascades: u32,
}

impl Quality {
    pub const DEFAULT: Quality = Quality {
        samples: 4,
        shadow_texels: 2048,
        spot_texels: 1024,
        shadow_distance: 100.0,
        cascades: 3,
    };
}

impl Default for Quality {
    fn default() -> Quality {
        Quality::DEFAULT
    }
}

/// How a renderer is started.
pub struct Options {
    pub choice: Choice,
    pub output: Output,
    /// Work on a thread of its own, beside the game's; else inside of `submit`.
    pub threaded: bool,
    pub vsync: Vsync,
    /// Measure the passes on the adapter.
    pub timing: bool,
    pub quality: Quality,
    /// Seconds of the clock that `Packet::input_seconds` is of.
    pub clock: fn() -> f64,
}

/// A picture: RGBA, a byte each, sRGB, alpha not multiplied in, rows from the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

/// What the renderer has to say.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// Said once at the start: on which adapter pictures are drawn, where that is not obvious.
    Note(String),
    Captured {
        number: u64,
        frame: u64,
        picture: Picture,
    },
    CaptureFailed {
        number: u64,
        words: String,
    },
    /// A texture was not made; what draws with it draws white.
    TextureRefused {
        slot: TextureSlot,
        words: String,
    },
    /// A mesh was not made; what draws it draws nothing.
    MeshRefused {
        slot: MeshSlot,
        name: String,
        words: String,
    },
    /// A material's shader does not work with this adapter; what was before stays.
    ShaderFailed {
        shader: String,
        words: String,
    },
    /// The adapter was lost, and is there again with everything but render targets' contents.
    DeviceRecovered {
        words: String,
    },
    /// A view shows less light than there is, for it has too many lights; told once.
    Crowded {
        words: String,
    },
    /// Something could not be done on the adapter: memory has run out, or the engine asked wrongly.
    Fault {
        words: String,
    },
    /// The window that was lent cannot be drawn to any more; pictures are drawn without one.
    WindowLost {
        words: String,
    },
    /// A window beside the main one cannot be drawn to any more.
    OtherWindowLost {
        window: u64,
        words: String,
    },
    /// Nothing will be drawn from now on.
    Failed {
        words: String,
    },
}

/// What is drawn with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adapter {
    pub name: String,
    /// "Vulkan", "Metal", "DX12", "GL" or "null".
    pub backend: &'static str,
    pub software: bool,
    pub driver: String,
    /// The longest side that a texture can have, in texels.
    pub texture_side_max: u32,
    /// Whether textures can be compressed blocks.
    pub block_textures: bool,
}

impl Adapter {
    /// What stands for an adapter where nothing is drawn.
    fn none() -> Adapter {
        Adapter {
            name: "null".to_string(),
            backend: "null",
            software: true,
            driver: String::new(),
            texture_side_max: 16384,
            block_textures: true,
        }
    }
}

/// Figures of the newest frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics {
    /// Packets taken over since the start.
    pub frames: u64,
    /// Pictures shown in the window.
    pub presented: u64,
    pub draw_calls: u32,
    pub instances: u32,
    /// Of instances, to the adapter.
    pub copied_bytes: u64,
    pub textures: u32,
    pub materials: u32,
    /// Of the draw calls, instances and bytes above, those of worlds; and what there is in them.
    pub scene: SceneStatistics,
    /// Milliseconds of the renderer's thread for the packet, waiting for the display not included.
    pub encode_ms: f32,
    /// The same by what was done: "changes" taken over, "worlds" culled and grouped, "copies" to
    /// the adapter, "passes" encoded and handed over.
    pub cpu_passes: Vec<(&'static str, f32)>,
    /// Milliseconds on the adapter for each pass of a recent frame; empty without timing.
    pub gpu_passes: Vec<(String, f32)>,
    /// From the newest input until the picture that shows it was given to the display: seconds, and
    /// frames of the recent rate. The average of recent pictures; 0 before any input.
    pub latency_seconds: f32,
    pub latency_frames: f32,
}

/// A renderer. Packets are taken over in order, every one of them.
pub struct Renderer {
    backend: Backend,
    adapter: Adapter,
}

enum Backend {
    Null(Box<Recorder>),
    Here(Box<Painter>),
    Thread(Thread),
}

impl Renderer {
    /// Finds an adapter and starts. Fails with words when there is none of the wanted kind.
    pub fn start(options: Options) -> Result<Renderer, Error> {
        if options.choice == Choice::Null {
            let mut recorder = Box::<Recorder>::default();
            recorder.set_quality(options.quality);
            let backend = Backend::Null(recorder);
            return Ok(Renderer { backend, adapter: Adapter::none() });
        }
        let painter = Painter::start(&options)?;
        let adapter = painter.adapter();
        let backend = if options.threaded {
            let window = matches!(options.output, Output::Window { .. });
            let thread = Thread::start(painter, window);
            Backend::Thread(thread.map_err(|error| {
                error!("the render thread could not be started: {error}. Run --single-threaded")
            })?)
        } else {
            Backend::Here(Box::new(painter))
        };
        Ok(Renderer { backend, adapter })
    }

    /// Hands a packet over and gives back an empty one. Waits while one is waiting already; with a
    /// window, until this one is taken up, so that the next is made of fresh input.
    pub fn submit(&mut self, mut packet: Packet) -> Packet {
        match &mut self.backend {
            Backend::Null(recorder) => recorder.apply(&packet),
            Backend::Here(painter) => painter.packet(&packet),
            Backend::Thread(thread) => return thread.submit(packet),
        }
        packet.clear();
        packet
    }

    fn command(&mut self, command: Command) {
        match &mut self.backend {
            Backend::Null(_) => {}
            Backend::Here(painter) => painter.command(command),
            Backend::Thread(thread) => thread.command(command),
        }
    }

    /// The screen has another size, in pixels. Counts from the next packet on.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.command(Command::Resize(width, height));
    }

    pub fn set_vsync(&mut self, vsync: Vsync) {
        self.command(Command::Vsync(vsync));
    }

    /// Shows pictures elsewhere from the next packet on, with all that there is; only the contents
    /// of render targets are lost. Waits until it is done.
    ///
    /// # Errors
    /// Where no adapter can draw there: pictures are shown where they were.
    pub fn move_to(&mut self, output: Output) -> Result<(), String> {
        if matches!(self.backend, Backend::Null(_)) {
            return Err("the null renderer draws nothing".to_string());
        }
        let (tell, told) = channel();
        self.command(Command::Output(output, tell));
        told.recv().map_err(|_| "the renderer has ended".to_string())?
    }

    /// Shows views of a window beside the main one in it, by its number; its size is in pixels. On
    /// the main thread, which alone may begin to draw to a window on some systems.
    ///
    /// # Errors
    /// Where it cannot be drawn to.
    pub fn open_window(
        &mut self,
        number: u64,
        window: Arc<dyn Window>,
        size: (u32, u32),
    ) -> Result<(), String> {
        if matches!(self.backend, Backend::Null(_)) {
            return Ok(());
        }
        let ended = |_| "the renderer has ended".to_string();
        let (tell, told) = channel();
        self.command(Command::Instance(tell));
        let surface = device::surface(&told.recv().map_err(ended)?, &window)?;
        let (tell, told) = channel();
        let new = NewWindow { number, window, size, surface };
        self.command(Command::OpenWindow(Box::new(new), tell));
        told.recv().map_err(ended)?
    }

    /// Lets go of such a window: nothing draws to it any more when this returns.
    pub fn close_window(&mut self, number: u64) {
        if matches!(self.backend, Backend::Null(_)) {
            return;
        }
        let (tell, told) = channel();
        self.command(Command::CloseWindow(number, tell));
        // A renderer that has ended has let go of it.
        let _ = told.recv();
    }

    /// Such a window has another size, in pixels.
    pub fn resize_window(&mut self, number: u64, width: u32, height: u32) {
        self.command(Command::ResizeWindow(number, (width, height)));
    }

    /// How worlds are drawn from the next packet on.
    pub fn set_quality(&mut self, quality: Quality) {
        match &mut self.backend {
            Backend::Null(recorder) => recorder.set_quality(quality),
            Backend::Here(_) | Backend::Thread(_) => self.command(Command::Quality(quality)),
        }
    }

    /// Whether the passes are measured on the adapter.
    pub fn set_timing(&mut self, timing: bool) {
        self.command(Command::Timing(timing));
    }

    /// Has the adapter fail as it does when its driver crashes: to see that all comes back.
    pub fn lose_device(&mut self) {
        self.command(Command::LoseDevice);
    }

    /// What has happened since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        match &mut self.backend {
            Backend::Null(recorder) => recorder.events(),
            Backend::Here(painter) => painter.take_events(),
            Backend::Thread(thread) => thread.events(),
        }
    }

    /// Waits until every packet so far is drawn and its captures are among the events.
    pub fn finish(&mut self) {
        if let Backend::Thread(thread) = &self.backend {
            thread.finish();
        }
    }

    pub fn statistics(&self) -> Statistics {
        match &self.backend {
            Backend::Null(recorder) => recorder.statistics(),
            Backend::Here(painter) => painter.statistics().clone(),
            Backend::Thread(thread) => thread.statistics(),
        }
    }

    /// What is drawn with, as found at the start.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What would have been drawn, where nothing is.
    pub fn recorder(&self) -> Option<&Recorder> {
        match &self.backend {
            Backend::Null(recorder) => Some(recorder),
            Backend::Here(_) | Backend::Thread(_) => None,
        }
    }
}
