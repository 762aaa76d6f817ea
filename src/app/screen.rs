//! What a run is seen by: the window where there is a display, the renderer, the pictures that the
//! command line asks for. Games know only `Engine::window`; what a frame shows is in its packet.

use super::desk;
use super::given::Given;
use super::output_files;
use super::windows::{self, OtherWindows};
use crate::engine::{Build, Engine};
use crate::foundation::{Error, log};
use crate::packet::{Capture, Packet, Target};
use crate::resource::image::encode_png;
use crate::resource::name::ResourceName;
use crate::resource::settings::Settings;
use crate::scope;
use crate::system::input::pads::{Database, Pads};
use crate::system::platform::seconds_since_start;
use crate::system::render::{self, Event, Output, Picture, Quality, Renderer};
use crate::system::textures::Abilities;
use crate::system::window::{Became, Change, Clipboard, Desktop, Lent, NoDesktop, Opening, Vsync};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::system::render::Choice;

/// A picture that the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Screenshot {
    pub file: PathBuf,
    /// Of this frame; of the last one where none is given.
    pub frame: Option<u64>,
}

/// How a run is to be seen.
#[derive(Clone, Debug)]
pub struct Show {
    /// In a window, where there is a display.
    pub window: bool,
    /// On which adapter; the best where none is given.
    pub renderer: Option<Choice>,
    /// Whether the renderer has a thread of its own.
    pub threaded: bool,
    pub screenshot: Option<Screenshot>,
}

impl Show {
    /// Not at all.
    pub const NOTHING: Show =
        Show { window: false, renderer: None, threaded: true, screenshot: None };
}

/// The pictures of a run.
pub struct Screen {
    /// Ends before the window that it draws to.
    renderer: Option<Renderer>,
    desktop: Option<Desktop>,
    /// The windows that the game has opened beside its main one.
    others: OtherWindows,
    /// A tool's window, in which pictures are shown in the place of one's own.
    lent: Option<Lent>,
    pads: Option<Pads>,
    show: Show,
    packet: Packet,
    /// Of the newest picture.
    figures: render::Statistics,
    /// What the tool's window told.
    news: Vec<Change>,
    pixels: (u32, u32),
    vsync: Vsync,
    quality: Quality,
    /// Whether a part of the window must be drawn again, as the desktop says.
    exposed: bool,
    /// When the newest input came, by the process's clock.
    newest_input: f64,
    screenshot: Wanted,
}

/// How far the command line's picture is.
#[derive(PartialEq)]
enum Wanted {
    Nothing,
    Waiting,
    /// It is being made, or was written.
    Asked,
    Written,
    Failed,
}

/// The picture that a run without a display leaves, in the folder that it was started in.
pub const LAST_PICTURE: &str = "last_picture.png";

/// The number of the command line's picture among those that the renderer makes.
const SCREENSHOT: u64 = 1 << 40;

impl Screen {
    /// Opens what is wanted. Where there is no display, gives the desktop's words as well: nothing
    /// is opened then but a renderer for pictures, if there is any adapter.
    pub fn open(show: Show, opening: &Opening) -> Result<(Screen, Option<NoDesktop>), Error> {
        let (desktop, problem) = match show.window.then(|| Desktop::open(opening)) {
            Some(Ok(desktop)) => (Some(desktop), None),
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        };
        let wanted = show.screenshot.as_ref().map_or(Wanted::Nothing, |_| Wanted::Waiting);
        let mut screen = Screen {
            desktop,
            others: OtherWindows::default(),
            lent: None,
            pads: None,
            renderer: None,
            packet: Packet::default(),
            news: Vec::new(),
            figures: render::Statistics::default(),
            pixels: (opening.width, opening.height),
            vsync: opening.vsync,
            quality: Quality::DEFAULT,
            exposed: false,
            newest_input: 0.0,
            screenshot: wanted,
            show,
        };
        let drawn = screen.desktop.is_some()
            || screen.screenshot != Wanted::Nothing
            || screen.show.renderer.is_some();
        if drawn {
            screen.start_renderer()?;
        }
        Ok((screen, problem))
    }

    /// Whether a window is there.
    pub fn has_window(&self) -> bool {
        self.desktop.is_some()
    }

    /// Whether the display is gone, and its windows with it.
    pub fn is_lost(&self) -> bool {
        self.desktop.as_ref().is_some_and(Desktop::is_lost)
    }

    /// Starts the renderer, anew where there is one. Where none was asked for by its kind, a run
    /// without pictures is better than none.
    pub fn start_renderer(&mut self) -> Result<(), Error> {
        self.renderer = None;
        let (width, height) = self.pixels;
        let output = match &self.desktop {
            Some(desktop) => {
                Output::Window { window: desktop.window(), width, height, lent: false }
            }
            None => Output::Offscreen { width, height },
        };
        let options = render::Options {
            choice: self.show.renderer.unwrap_or(Choice::Auto),
            output,
            threaded: self.show.threaded,
            vsync: vsync_of(self.vsync),
            timing: false,
            quality: self.quality,
            clock: seconds_since_start,
        };
        match Renderer::start(options) {
            Ok(renderer) => self.renderer = Some(renderer),
            Err(error) if self.show.renderer.is_some() => return Err(error),
            Err(error) => log::error(&format!("nothing can be drawn: {}", error.message)),
        }
        Ok(())
    }

    /// Shows pictures in a tool's window, by the number that the display knows it by: its size in
    /// pixels. The words say why that cannot be.
    pub fn attach(&mut self, window: u64) -> Result<(u32, u32), String> {
        let headless = "run the game with --headless --realtime --tools --renderer auto";
        if self.has_window() {
            return Err(format!("the game has a window of its own: {headless}"));
        }
        self.detach();
        let Some(renderer) = &mut self.renderer else {
            return Err(format!("nothing is drawn in this run: {headless}"));
        };
        let lent = Lent::open(window)?;
        let (width, height) = lent.size();
        let output = Output::Window { window: lent.handle(), width, height, lent: true };
        renderer.move_to(output)?;
        self.lent = Some(lent);
        // Told as a desktop's would be: recordings have it, too.
        self.news.push(Change::Resized { width, height });
        Ok((width, height))
    }

    /// Draws without a window again. Whether there was one.
    pub fn detach(&mut self) -> bool {
        if self.lent.take().is_none() {
            return false;
        }
        let (width, height) = self.pixels;
        if let Some(renderer) = &mut self.renderer
            && let Err(words) = renderer.move_to(Output::Offscreen { width, height })
        {
            log::error(&format!("nothing is drawn any more: {words}"));
        }
        true
    }

    /// What became of a tool's window since the last time.
    fn look_at_lent(&mut self) {
        match self.lent.as_mut().map_or(Became::Same, Lent::look) {
            Became::Same => {}
            Became::Resized(width, height) => self.news.push(Change::Resized { width, height }),
            Became::Gone => {
                self.detach();
                log::info("the tool's window is gone: pictures are drawn without one");
            }
        }
    }

    /// Ties an engine to the window that is there: what it wishes is done, and what it knows is
    /// what the desktop tells.
    pub fn introduce(&mut self, engine: &mut Engine) {
        if let Some(desktop) = &mut self.desktop {
            // A game that begins again has none yet.
            self.others.close(desktop, self.renderer.as_mut());
        }
        engine.picture.is_shown = self.renderer.is_some();
        engine.picture.adapter = self.renderer.as_ref().map_or(String::new(), |renderer| {
            let adapter = renderer.adapter();
            format!("{} ({}, {})", adapter.name, adapter.backend, adapter.driver)
        });
        if let Some(renderer) = &mut self.renderer {
            // A timestamp at both ends of each pass: next to nothing, but players do not read it.
            renderer.set_timing(engine.build == Build::Development);
        }
        if self.has_window() {
            engine.window.listen();
            // Anew, also where a game begins again: its engine knows of no pad that is there.
            self.pads = None;
            self.pads = Some(Pads::new(mappings(engine)));
            if !engine.deterministic {
                engine.window.clipboard = Clipboard::Desktop;
            }
        }
    }

    /// What came from outside since the last time.
    pub fn poll(&mut self, engine: &mut Engine) -> Given {
        let mut given = Given::default();
        if let Some(desktop) = &mut self.desktop {
            desk::sort(desktop.poll(Duration::ZERO), &engine.input, &mut given);
            engine.windows.note_player_files(&given.changes);
            self.exposed |= desktop.take_exposed();
        }
        let focused = desk::has_focus(engine, &given.changes);
        desk::let_go_of_pads(&engine.input, focused, &mut given);
        if let Some(pads) = &mut self.pads {
            pads.poll(&mut given.events);
            if !focused && !engine.settings.boolean("input.pads_in_background") {
                desk::without_pads(&mut given.events);
            }
        }
        self.look_at_lent();
        given.changes.append(&mut self.news);
        if let Some(age) = given.events.iter().map(|event| event.age).reduce(f64::min) {
            self.newest_input = seconds_since_start() - age;
        }
        given
    }

    /// Does what the game wished, and hands the frame to the renderer.
    pub fn show(&mut self, engine: &mut Engine, is_last: bool) {
        if self.is_lost() {
            return;
        }
        if let Some(desktop) = &mut self.desktop {
            windows::perform(desktop, None, &mut engine.window);
            self.others.follow(engine, desktop, self.renderer.as_mut());
        } else {
            windows::forget_wishes(&mut engine.window, &mut engine.windows);
        }
        for wanted in engine.input.take_rumbles() {
            if let Some(pads) = &mut self.pads {
                pads.rumble(wanted);
            }
        }
        let Some(renderer) = &mut self.renderer else { return };
        if self.pixels != engine.window.pixels {
            self.pixels = engine.window.pixels;
            renderer.resize(self.pixels.0, self.pixels.1);
        }
        if self.vsync != engine.window.vsync {
            self.vsync = engine.window.vsync;
            renderer.set_vsync(vsync_of(self.vsync));
        }
        let processor = self.desktop.is_some() && renderer.adapter().software;
        let quality = quality_of(&engine.settings, processor);
        if self.quality != quality {
            self.quality = quality;
            renderer.set_quality(quality);
        }
        let adapter = renderer.adapter();
        let (side_max, blocks) = (adapter.texture_side_max, adapter.block_textures);
        engine.textures.set_abilities(&mut engine.store, Abilities { side_max, blocks });
        let mut packet = {
            scope!("packet");
            engine.take_packet(std::mem::take(&mut self.packet))
        };
        packet.input_seconds = std::mem::take(&mut self.newest_input);
        if self.screenshot == Wanted::Waiting {
            let frame = self.show.screenshot.as_ref().and_then(|wanted| wanted.frame);
            if frame.map_or(is_last, |frame| frame == engine.frame.index) {
                packet.captures.push(Capture { number: SCREENSHOT, of: Target::Screen });
                self.screenshot = Wanted::Asked;
            }
        }
        if self.desktop.is_some() {
            windows::leave_out(&mut packet, &windows::unseen(engine));
        }
        {
            scope!("submit");
            self.packet = renderer.submit(packet);
        }
        self.figures = renderer.statistics();
        engine.window.latency = (self.figures.latency_frames, self.figures.latency_seconds);
        self.hear(engine);
    }

    /// Whether the desktop has asked since the last time for the window to be drawn again.
    pub fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.exposed)
    }

    /// Counts what the renderer did, for a frame that was played: one that is only shown again
    /// would count as a part of the next.
    pub fn count(&self) {
        if self.renderer.is_some() {
            super::figures::count_pictures(&self.figures);
        }
    }

    /// Hears what the renderer has to say.
    pub fn hear(&mut self, engine: &mut Engine) {
        let Some(renderer) = &mut self.renderer else { return };
        for event in renderer.events() {
            match event {
                Event::Captured { number: SCREENSHOT, picture, .. } => {
                    self.screenshot = match self.show.screenshot.as_ref().map(|it| &it.file) {
                        Some(file) if write_picture(file, &picture) => Wanted::Written,
                        _ => Wanted::Failed,
                    };
                }
                Event::CaptureFailed { number: SCREENSHOT, words } => {
                    log::error(&format!("the screenshot failed: {words}"));
                    self.screenshot = Wanted::Failed;
                }
                Event::Note(words) => crate::error_line!("engine: {words}"),
                Event::TextureRefused { words, .. } => log::error(&words),
                Event::MeshRefused { name, words, .. } => {
                    log::error(&format!("the mesh '{name}' is not drawn: {words}"));
                }
                Event::ShaderFailed { words, .. } | Event::Fault { words } => log::error(&words),
                Event::DeviceRecovered { words } => log::warning(&words),
                Event::Crowded { words } => log::warn("lights", &words),
                // Where it was closed, that is known and told.
                Event::WindowLost { words } if self.lent.take().is_some() => {
                    log::warning(&format!("the tool's window is not drawn to any more: {words}"));
                }
                Event::WindowLost { .. } => {}
                Event::OtherWindowLost { window, words } => {
                    if windows::tell(engine, window, &words) {
                        // What nothing can be shown in is as good as taken away.
                        self.news.push(Change::Of(window, Box::new(Change::Gone)));
                    }
                }
                Event::Failed { words } => log::error(&format!("nothing is drawn: {words}")),
                Event::Captured { number, picture, .. } => {
                    engine.captures.made(number, Ok(picture));
                }
                Event::CaptureFailed { number, words } => engine.captures.made(number, Err(words)),
            }
        }
    }

    /// The seconds that a frame takes at least, where the display does not see to it; `None` where
    /// it does.
    pub fn frame_seconds_min(&self, engine: &Engine) -> Option<f64> {
        let window = &engine.window;
        let refresh = window.monitors.iter().map(|monitor| monitor.refresh).fold(0.0, f64::max);
        let interval = if refresh >= 1.0 { 1.0 / refresh } else { 1.0 / 60.0 };
        match (&self.renderer, window.vsync) {
            _ if window.is_unseen() => Some(interval),
            (None, _) => Some(interval),
            (Some(renderer), _) if renderer.recorder().is_some() => Some(interval),
            // Drivers that do not wait would run at thousands of pictures a second.
            (Some(_), Vsync::On | Vsync::Adaptive) => Some(interval * 0.9),
            (Some(_), Vsync::Off | Vsync::Mailbox) => None,
        }
    }

    /// Whether a picture of the last frame is still to be made: one more is played for it where
    /// the process is asked to end.
    pub fn wants_last_picture(&self) -> bool {
        let last = self.show.screenshot.as_ref().is_some_and(|wanted| wanted.frame.is_none());
        last && self.screenshot == Wanted::Waiting && self.renderer.is_some()
    }

    /// Where there is no display, the last picture is left beside whoever started the run, if there
    /// is any adapter.
    pub fn leave_last_picture(&mut self) -> Result<(), Error> {
        if self.show.screenshot.is_none() && self.show.renderer != Some(Choice::Null) {
            let asked = self.show.renderer.is_some();
            if !asked {
                self.start_renderer()?;
            }
            if self.renderer.is_some() {
                let file = PathBuf::from(LAST_PICTURE);
                self.show.screenshot = Some(Screenshot { file, frame: None });
                self.screenshot = Wanted::Waiting;
            }
        }
        Ok(())
    }

    /// Ends: what is drawn is finished, and the picture written. Whether that went well.
    pub fn end(&mut self, engine: &mut Engine) -> bool {
        let lost = self.is_lost();
        if let Some(renderer) = self.renderer.as_mut().filter(|_| !lost) {
            renderer.finish();
        }
        self.hear(engine);
        engine.captures.finish();
        match (&self.screenshot, &self.show.screenshot) {
            // Nobody asked for this one, and why there was no frame is told already.
            (Wanted::Waiting, Some(Screenshot { file, .. }))
                if engine.frame.index == 0 && file == Path::new(LAST_PICTURE) =>
            {
                true
            }
            (Wanted::Waiting, Some(Screenshot { frame, .. })) => {
                let wanted = frame.map_or(String::new(), |frame| format!(" before frame {frame}"));
                let index = engine.frame.index;
                log::error(&format!(
                    "there is no screenshot: the game ended after frame {index}{wanted}"
                ));
                false
            }
            (Wanted::Asked, _) => {
                log::error("there is no screenshot: the renderer did not make it");
                false
            }
            (Wanted::Failed, _) => false,
            _ => true,
        }
    }
}

/// The game's own mappings of pads: a text in its folder in the form of SDL's database.
fn mappings(engine: &mut Engine) -> Database {
    let mut database = Database::default();
    let name = ResourceName::new("text", "gamecontrollerdb");
    if engine.store.has(&name) {
        match engine.store.read(&name) {
            Ok(bytes) => {
                for line in database.add(&String::from_utf8_lossy(&bytes)) {
                    log::warning(&format!("gamecontrollerdb.txt:{line}: is no line of a mapping"));
                }
            }
            Err(error) => log::warning(&error.to_string()),
        }
    }
    database
}

/// The largest shadow map that the processor fills while somebody waits.
const SHADOW_TEXELS_OF_PROCESSOR: u32 = 512;

/// How the settings want worlds to be drawn; `processor`: it draws for a window.
fn quality_of(settings: &Settings, processor: bool) -> Quality {
    let texels = settings.number("render.shadow_texels") as u32;
    let wanted = Quality {
        samples: if settings.boolean("render.smooth_edges") { 4 } else { 1 },
        shadow_texels: texels,
        spot_texels: texels / 2,
        shadow_distance: settings.number("render.shadow_distance") as f32,
        cascades: settings.number("render.shadow_maps") as u32,
    };
    if !(processor && settings.boolean("render.less_on_processor")) {
        return wanted;
    }
    let texels = texels.min(SHADOW_TEXELS_OF_PROCESSOR);
    Quality { samples: 1, shadow_texels: texels, spot_texels: texels / 2, cascades: 1, ..wanted }
}

fn vsync_of(vsync: Vsync) -> render::Vsync {
    match vsync {
        Vsync::On => render::Vsync::On,
        Vsync::Off => render::Vsync::Off,
        Vsync::Adaptive => render::Vsync::Adaptive,
        Vsync::Mailbox => render::Vsync::Fast,
    }
}

fn write_picture(file: &std::path::Path, picture: &Picture) -> bool {
    let png = encode_png(picture.width, picture.height, &picture.rgba);
    match output_files::write(file, &png) {
        Ok(()) => {
            crate::error_line!("engine: the picture is in {}", file.display());
            true
        }
        Err(reason) => {
            log::error(&format!("{} cannot be written: {reason}", file.display()));
            false
        }
    }
}
