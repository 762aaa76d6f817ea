//! Rendering of a test's frames: the packets of the tested engine go to a software adapter if a
//! test wants images. Each packet is submitted when the next one arrives, so that an image of the
//! newest frame can still be requested. Images are not compared here.

use engine_foundation::log;
use engine_frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine_render::{
    AdapterChoice, RenderQuality, RenderedImage, Renderer, RendererEvent, RendererOptions,
    SurfaceTarget, Vsync,
};
use engine_runtime::{Engine, FrameRetention};

/// The package to install if no software adapter exists. None helps an executable for servers.
const REMEDY: &str =
    if cfg!(feature = "desktop") { " (apt install mesa-vulkan-drivers)" } else { "" };

/// The reason why an image is unavailable.
#[derive(Clone, PartialEq, Debug)]
pub enum ScreenshotUnavailable {
    /// The machine has no software adapter.
    NoAdapter(String),
    Refused(String),
}

/// The renderer of one test file.
#[derive(Default)]
pub struct SoftwareRenderer {
    /// The renderer, started with the first frame, or the message if it could not be started.
    renderer: Option<Result<Renderer, String>>,
    /// The newest frame, not yet submitted.
    newest: Option<FramePacket>,
    /// Image of the newest frame, if it was requested.
    picture: Option<RenderedImage>,
    size: (u32, u32),
}

impl SoftwareRenderer {
    /// Takes the packets of the frames that were just played.
    pub fn take_packets(&mut self, engine: &mut Engine) {
        if engine.drawing.retained_frames().0 != FrameRetention::Packets {
            return;
        }
        let size = engine.devices.window.pixels;
        for packet in engine.drawing.take_packets() {
            self.send_newest();
            self.start(size);
            self.newest = Some(packet);
            self.picture = None;
        }
    }

    /// Starts the renderer, or resizes it.
    fn start(&mut self, size: (u32, u32)) {
        if let Some(Ok(renderer)) = &mut self.renderer
            && self.size != size
        {
            renderer.resize(size.0, size.1);
        }
        self.size = size;
        if self.renderer.is_some() {
            return;
        }
        let started = Renderer::start(RendererOptions {
            choice: AdapterChoice::Software,
            output: SurfaceTarget::Offscreen { width: size.0, height: size.1 },
            threaded: false,
            vsync: Vsync::Off,
            timing: false,
            quality: RenderQuality::DEFAULT,
            clock: || 0.0,
        });
        self.renderer = Some(started.map_err(|error| error.message));
    }

    /// Submits the newest frame. Views that only serve its image are left out, because no test
    /// requested the image.
    fn send_newest(&mut self) {
        let Some(mut packet) = self.newest.take() else { return };
        let Some(Ok(renderer)) = &mut self.renderer else { return };
        packet.views.clear();
        packet.captures.clear();
        renderer.submit(packet);
        handle_events(renderer);
    }

    fn renderer(&mut self) -> Result<&mut Renderer, ScreenshotUnavailable> {
        match &mut self.renderer {
            Some(Ok(renderer)) => Ok(renderer),
            Some(Err(message)) => {
                Err(ScreenshotUnavailable::NoAdapter(format!("{message}{REMEDY}")))
            }
            None => Err(ScreenshotUnavailable::Refused("no frame was played yet".to_string())),
        }
    }

    /// Returns the image of the newest frame.
    pub fn newest(&mut self) -> Result<RenderedImage, ScreenshotUnavailable> {
        if let Some(picture) = &self.picture {
            return Ok(picture.clone());
        }
        let mut packet = self.newest.take();
        let renderer = self.renderer()?;
        let Some(mut packet) = packet.take() else {
            return Err(ScreenshotUnavailable::Refused("no frame was played yet".to_string()));
        };
        packet.captures = vec![CaptureRequest { number: 0, of: ViewTarget::Screen }];
        renderer.submit(packet);
        match handle_events(renderer) {
            Some(Ok(picture)) => {
                self.picture = Some(picture.clone());
                Ok(picture)
            }
            Some(Err(message)) => Err(ScreenshotUnavailable::Refused(message)),
            None => Err(ScreenshotUnavailable::Refused("the renderer made no picture".to_string())),
        }
    }

    /// Simulates a lost device, as after a crash of the driver. The result is logged as in a game:
    /// a warning if everything was recovered, otherwise an error.
    pub fn lose_device(&mut self) -> Result<(), ScreenshotUnavailable> {
        let renderer = self.renderer()?;
        renderer.lose_device();
        renderer.submit(FramePacket::default());
        handle_events(renderer);
        Ok(())
    }
}

/// Logs the renderer's events and returns the captured image.
fn handle_events(renderer: &mut Renderer) -> Option<Result<RenderedImage, String>> {
    let mut captured = None;
    for event in renderer.events() {
        match event {
            RendererEvent::Captured { picture, .. } => captured = Some(Ok(picture)),
            RendererEvent::CaptureFailed { message, .. } => captured = Some(Err(message)),
            RendererEvent::Note(_) | RendererEvent::FrameCaptured(_) => {}
            RendererEvent::Crowded { message } => log::warn("lights", &message),
            RendererEvent::PoseRefused { message } => log::warn("poses", &message),
            RendererEvent::DeviceRecovered { message } => {
                log::warning(&format!(
                    "the graphics adapter was lost and is available again: {message}"
                ));
            }
            RendererEvent::RenderConfigFailed { name, message } => {
                log::error(&format!("the render config '{name}' is not used: {message}"));
            }
            RendererEvent::TextureRefused { message, .. }
            | RendererEvent::MeshRefused { message, .. }
            | RendererEvent::ShaderFailed { message, .. }
            | RendererEvent::Fault { message } => log::error(&message),
            // Tests have no window, neither their own nor a foreign one.
            RendererEvent::WindowLost { .. } | RendererEvent::OtherWindowLost { .. } => {}
            RendererEvent::Failed { message } => {
                log::error(&format!("nothing is drawn: {message}"))
            }
        }
    }
    captured
}
