//! What a test's frames look like: the packets of the engine under test go to the software adapter,
//! where a test wants pictures. Each packet goes on when the next one comes, so that a picture can
//! still be asked of the newest one. Compares nothing.

use crate::engine::{Engine, Kept};
use crate::foundation::log;
use crate::packet::{Capture, Packet, Target};
use crate::system::render::{Choice, Event, Options, Output, Picture, Quality, Renderer, Vsync};

/// What to install where there is no software adapter.
const REMEDY: &str = "apt install mesa-vulkan-drivers";

/// Why there is no picture.
#[derive(Clone, PartialEq, Debug)]
pub enum NoPicture {
    /// This machine has no software adapter.
    NoAdapter(String),
    Refused(String),
}

/// The renderer of one file of tests.
#[derive(Default)]
pub struct Pictures {
    /// Once there was something to draw; the words where it could not be started.
    renderer: Option<Result<Renderer, String>>,
    /// The newest frame.
    newest: Option<Packet>,
    /// The picture of the newest frame, where it was asked for.
    picture: Option<Picture>,
    size: (u32, u32),
}

impl Pictures {
    /// Takes over what was kept of the frames that were just played.
    pub fn follow(&mut self, engine: &mut Engine) {
        if engine.kept_frames().0 != Kept::Packets {
            return;
        }
        let size = engine.window.pixels;
        for packet in engine.take_packets() {
            self.send_newest();
            self.start(size);
            self.newest = Some(packet);
            self.picture = None;
        }
    }

    /// Starts the renderer, or gives it another size.
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
        let started = Renderer::start(Options {
            choice: Choice::Software,
            output: Output::Offscreen { width: size.0, height: size.1 },
            threaded: false,
            vsync: Vsync::Off,
            timing: false,
            quality: Quality::DEFAULT,
            clock: || 0.0,
        });
        self.renderer = Some(started.map_err(|error| error.message));
    }

    /// Hands the newest frame over; what only it shows was not asked for.
    fn send_newest(&mut self) {
        let Some(mut packet) = self.newest.take() else { return };
        let Some(Ok(renderer)) = &mut self.renderer else { return };
        packet.views.clear();
        packet.captures.clear();
        renderer.submit(packet);
        tell(renderer);
    }

    fn renderer(&mut self) -> Result<&mut Renderer, NoPicture> {
        match &mut self.renderer {
            Some(Ok(renderer)) => Ok(renderer),
            Some(Err(words)) => Err(NoPicture::NoAdapter(format!("{words} ({REMEDY})"))),
            None => Err(NoPicture::Refused("no frame was played yet".to_string())),
        }
    }

    /// The picture of the newest frame.
    pub fn newest(&mut self) -> Result<Picture, NoPicture> {
        if let Some(picture) = &self.picture {
            return Ok(picture.clone());
        }
        let mut packet = self.newest.take();
        let renderer = self.renderer()?;
        let Some(mut packet) = packet.take() else {
            return Err(NoPicture::Refused("no frame was played yet".to_string()));
        };
        packet.captures = vec![Capture { number: 0, of: Target::Screen }];
        renderer.submit(packet);
        match tell(renderer) {
            Some(Ok(picture)) => {
                self.picture = Some(picture.clone());
                Ok(picture)
            }
            Some(Err(words)) => Err(NoPicture::Refused(words)),
            None => Err(NoPicture::Refused("the renderer made no picture".to_string())),
        }
    }

    /// Has the adapter fail as it does where its driver crashes. What comes of it is told in the
    /// log, as in a game: a warning where everything is there again, an error where it is not.
    pub fn lose_device(&mut self) -> Result<(), NoPicture> {
        let renderer = self.renderer()?;
        renderer.lose_device();
        renderer.submit(Packet::default());
        tell(renderer);
        Ok(())
    }
}

/// Tells what the renderer has to say; gives the picture that it made.
fn tell(renderer: &mut Renderer) -> Option<Result<Picture, String>> {
    let mut made = None;
    for event in renderer.events() {
        match event {
            Event::Captured { picture, .. } => made = Some(Ok(picture)),
            Event::CaptureFailed { words, .. } => made = Some(Err(words)),
            Event::Note(_) => {}
            Event::Crowded { words } => log::warn("lights", &words),
            Event::DeviceRecovered { words } => {
                log::warning(&format!("the graphics adapter was lost and is there again: {words}"));
            }
            Event::TextureRefused { words, .. }
            | Event::MeshRefused { words, .. }
            | Event::ShaderFailed { words, .. }
            | Event::Fault { words } => log::error(&words),
            // No test has a window, of its own or lent.
            Event::WindowLost { .. } | Event::OtherWindowLost { .. } => {}
            Event::Failed { words } => log::error(&format!("nothing is drawn: {words}")),
        }
    }
    made
}
