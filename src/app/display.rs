//! The display of a run: the window (if a display exists), the renderer, and the pictures that the
//! command line asks for. Games know only `Engine::window`; the packet holds the content of a
//! frame.

mod paused;

use super::dynamic_scale::{DynamicScale, MeasuredFrame};
use super::frame_capture_files::FrameCaptureFiles;
use super::frame_input::FrameInput;
use super::input_translation;
use super::render_options::{QualityLevel, quality_of, reduction_note, vsync_of};
use super::run_pictures::RunPictures;
use super::secondary_windows::{self, SecondaryWindowDriver};
use engine_foundation::scope;
use engine_foundation::{Error, log};
use engine_frame_packet::FramePacket;
use engine_input::pads::{MappingDatabase, Pads};
use engine_platform::seconds_since_start;
use engine_render::{self as render, RenderQuality, Renderer, RendererEvent, SurfaceTarget};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_runtime::{Assets, BuildMode, Engine};
use engine_textures::TextureCaps;
use engine_window::{
    Clipboard, Desktop, DesktopError, ForeignWindow, ForeignWindowStatus, Vsync, Window,
    WindowChange, WindowOptions,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use super::frame_capture_files::FrameCaptureRequest;
pub use super::run_pictures::{FILM_FRAMES, FilmRequest, ScreenshotRequest};
pub use engine_render::AdapterChoice;
pub use paused::PausedDisplay;

/// Options of the display of a run.
#[derive(Clone, Debug)]
pub struct DisplayPolicy {
    /// Open a window, if a display exists.
    pub window: bool,
    /// The adapter to draw on. If `None`, the best adapter.
    pub renderer: Option<AdapterChoice>,
    /// The quality. If `None`, that of the settings.
    pub quality: Option<QualityLevel>,
    /// True if the renderer runs on its own thread.
    pub threaded: bool,
    pub screenshot: Option<ScreenshotRequest>,
    pub film: Option<FilmRequest>,
    pub capture_frame: Option<FrameCaptureRequest>,
}

impl DisplayPolicy {
    /// No window, no renderer, no pictures.
    pub const NONE: DisplayPolicy = DisplayPolicy {
        window: false,
        renderer: None,
        quality: None,
        threaded: true,
        screenshot: None,
        film: None,
        capture_frame: None,
    };

    /// Returns true if the command line asks for pictures of the run.
    pub fn wants_pictures(&self) -> bool {
        self.screenshot.is_some() || self.film.is_some() || self.capture_frame.is_some()
    }

    /// Returns the files of the pictures that the command line asks for.
    pub fn picture_files(&self) -> impl Iterator<Item = &PathBuf> {
        let screenshot = self.screenshot.as_ref().map(|wanted| &wanted.file);
        screenshot.into_iter().chain(self.film.as_ref().map(|wanted| &wanted.file))
    }
}

/// The window, the renderer and the pads of a run.
pub struct Display {
    /// Declared before the window: the renderer must be dropped before the window that it draws to.
    renderer: Option<Renderer>,
    desktop: Option<Desktop>,
    /// The secondary windows that the game has opened.
    secondary_windows: SecondaryWindowDriver,
    /// A tool's window, which shows the frames in place of the engine's own window.
    foreign_window: Option<ForeignWindow>,
    pads: Option<Pads>,
    policy: DisplayPolicy,
    packet: FramePacket,
    /// Statistics of the newest rendered frame.
    statistics: render::FrameStatistics,
    /// Pending changes of the tool's window.
    pending_changes: Vec<WindowChange>,
    pixels: (u32, u32),
    vsync: Vsync,
    quality: RenderQuality,
    dynamic_scale: DynamicScale,
    /// True if the renderer measures the time of the adapter.
    is_timed: bool,
    /// True if the desktop has asked for a redraw of a part of the window.
    exposed: bool,
    /// Time of the newest input, in seconds of the process's clock.
    newest_input: f64,
    pictures: RunPictures,
    captured_frame: FrameCaptureFiles,
}

/// File of the screenshot that a run without a display leaves in its start folder.
pub const LAST_FRAME_FILE: &str = "last_picture.png";

impl Display {
    /// Returns a display without a window and a renderer, in place of one that is lent.
    pub fn unopened() -> Display {
        Display::with(DisplayPolicy::NONE, None, &WindowOptions::default())
    }

    fn with(policy: DisplayPolicy, desktop: Option<Desktop>, opening: &WindowOptions) -> Display {
        Display {
            desktop,
            secondary_windows: SecondaryWindowDriver::default(),
            foreign_window: None,
            pads: None,
            renderer: None,
            packet: FramePacket::default(),
            pending_changes: Vec::new(),
            statistics: render::FrameStatistics::default(),
            pixels: (opening.width, opening.height),
            vsync: opening.vsync,
            quality: RenderQuality::DEFAULT,
            exposed: false,
            newest_input: 0.0,
            dynamic_scale: DynamicScale::default(),
            is_timed: false,
            pictures: RunPictures::new(policy.screenshot.clone(), policy.film.clone()),
            captured_frame: FrameCaptureFiles::new(policy.capture_frame.clone()),
            policy,
        }
    }

    /// Opens the display by its options. If no display exists, also returns the desktop's error. In
    /// that case only a renderer for images is opened, if any adapter exists.
    pub fn open(
        policy: DisplayPolicy,
        opening: &WindowOptions,
    ) -> Result<(Display, Option<DesktopError>), Error> {
        let (desktop, problem) = match policy.window.then(|| Desktop::open(opening)) {
            Some(Ok(desktop)) => (Some(desktop), None),
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        };
        let mut display = Display::with(policy, desktop, opening);
        let drawn = display.desktop.is_some()
            || !display.pictures.is_empty()
            || display.policy.capture_frame.is_some()
            || display.policy.renderer.is_some();
        if drawn {
            display.start_renderer()?;
        }
        Ok((display, problem))
    }

    /// Returns true if a window is open.
    pub fn has_window(&self) -> bool {
        self.desktop.is_some()
    }

    /// Returns true if the connection to the display is lost, and the windows with it.
    pub fn is_lost(&self) -> bool {
        self.desktop.as_ref().is_some_and(Desktop::is_lost)
    }

    /// Starts the renderer, or restarts it. If no adapter was asked for explicitly, a failure is
    /// not an error: the run continues without images.
    pub fn start_renderer(&mut self) -> Result<(), Error> {
        (self.renderer, self.is_timed) = (None, false);
        let (width, height) = self.pixels;
        let output = match (&self.desktop, &self.foreign_window) {
            (Some(desktop), _) => {
                SurfaceTarget::Window { window: desktop.window(), width, height, is_foreign: false }
            }
            (None, Some(foreign)) => {
                SurfaceTarget::Window { window: foreign.handle(), width, height, is_foreign: true }
            }
            (None, None) => SurfaceTarget::Offscreen { width, height },
        };
        let options = render::RendererOptions {
            choice: self.policy.renderer.unwrap_or(AdapterChoice::Auto),
            output,
            threaded: self.policy.threaded,
            vsync: vsync_of(self.vsync),
            timing: false,
            quality: self.quality,
            clock: seconds_since_start,
        };
        match Renderer::start(options) {
            Ok(renderer) => self.renderer = Some(renderer),
            Err(error) if self.policy.renderer.is_some() => return Err(error),
            Err(error) => log::error(&format!("nothing can be drawn: {}", error.message)),
        }
        Ok(())
    }

    /// Completes the pictures that the renderer was asked for, before their game ends.
    pub fn finish_pictures(&mut self, engine: &mut Engine) {
        if let Some(renderer) = self.renderer.as_mut() {
            renderer.finish();
        }
        self.handle_events(engine);
        engine.drawing.captures.finish();
    }

    /// Begins to show a restarted game. The new renderer has none of the old game's pictures.
    pub fn restart(&mut self, engine: &mut Engine) -> Result<(), Error> {
        if let Some(desktop) = &mut self.desktop {
            self.secondary_windows.close(desktop, self.renderer.as_mut());
        }
        self.packet = FramePacket::default();
        if self.renderer.is_some() {
            self.start_renderer()?;
        }
        self.connect_engine(engine);
        Ok(())
    }

    /// Draws to a tool's window from now on. `window` is the number by which the display server
    /// knows the window. Returns its size in pixels, or a message if the window cannot be used.
    pub fn attach(&mut self, window: u64) -> Result<(u32, u32), String> {
        let headless = "run the game with --headless --realtime --tools --renderer auto";
        if self.has_window() {
            return Err(format!("the game has a window of its own: {headless}"));
        }
        self.detach();
        let Some(renderer) = &mut self.renderer else {
            let reason = match cfg!(feature = "desktop") {
                true => headless,
                false => "this executable of the engine is for servers and has no renderer",
            };
            return Err(format!("nothing is drawn in this run: {reason}"));
        };
        let foreign_window = ForeignWindow::open(window)?;
        let (width, height) = foreign_window.size();
        let output = SurfaceTarget::Window {
            window: foreign_window.handle(),
            width,
            height,
            is_foreign: true,
        };
        renderer.move_to(output)?;
        self.foreign_window = Some(foreign_window);
        // Reported like a change of the desktop's window, so that recordings contain it.
        self.pending_changes.push(WindowChange::Resized { width, height });
        Ok((width, height))
    }

    /// Draws without a window again. Returns true if a tool's window was attached.
    pub fn detach(&mut self) -> bool {
        if self.foreign_window.take().is_none() {
            return false;
        }
        let (width, height) = self.pixels;
        if let Some(renderer) = &mut self.renderer
            && let Err(message) = renderer.move_to(SurfaceTarget::Offscreen { width, height })
        {
            log::error(&format!("nothing is drawn any more: {message}"));
        }
        true
    }

    /// Polls the tool's window for changes.
    fn poll_foreign_window(&mut self) {
        match self.foreign_window.as_mut().map_or(ForeignWindowStatus::Same, ForeignWindow::poll) {
            ForeignWindowStatus::Same => {}
            ForeignWindowStatus::Resized(width, height) => {
                self.pending_changes.push(WindowChange::Resized { width, height })
            }
            ForeignWindowStatus::Closed => {
                self.detach();
                log::info("the tool's window is gone: pictures are drawn without one");
            }
        }
    }

    /// Connects an engine to the open window: sets the engine's window state from the desktop and
    /// performs the commands of the engine's window.
    pub fn connect_engine(&mut self, engine: &mut Engine) {
        engine.drawing.builder.is_shown = self.renderer.is_some();
        engine.drawing.builder.adapter = self.renderer.as_ref().map_or(String::new(), |renderer| {
            let adapter = renderer.adapter();
            format!("{} ({}, {})", adapter.name, adapter.backend, adapter.driver)
        });
        if self.has_window() {
            engine.devices.window.listen();
            // Pads are opened again even if a game restarts: its new engine knows no connected pad.
            self.pads = None;
            self.pads = Some(Pads::new(mappings(&mut engine.assets)));
            if !engine.game.deterministic {
                engine.devices.window.clipboard = Clipboard::Desktop;
            }
        }
    }

    /// Returns the input since the last call.
    pub fn poll(&mut self, engine: &mut Engine) -> FrameInput {
        let mut frame_input = FrameInput::default();
        if let Some(desktop) = &mut self.desktop {
            input_translation::translate(
                desktop.poll(Duration::ZERO),
                &engine.devices.input,
                &engine.devices.window,
                &mut frame_input,
            );
            engine.devices.windows.note_player_files(&frame_input.changes);
            self.exposed |= desktop.take_exposed();
        }
        let focused = input_translation::has_focus(&engine.devices, &frame_input.changes);
        input_translation::release_pads(&engine.devices.input, focused, &mut frame_input);
        if let Some(pads) = &mut self.pads {
            pads.poll(&mut frame_input.events);
            if !focused && !engine.game.settings.boolean("input.pads_in_background") {
                input_translation::remove_pad_events(&mut frame_input.events);
            }
        }
        self.poll_foreign_window();
        frame_input.changes.append(&mut self.pending_changes);
        if let Some(age) = frame_input.events.iter().map(|event| event.age).reduce(f64::min) {
            self.newest_input = seconds_since_start() - age;
        }
        frame_input
    }

    /// Sets the quality by the settings, and by the time of frames.
    fn follow_quality(&mut self, engine: &Engine) {
        let Some(renderer) = &mut self.renderer else { return };
        let processor = self.desktop.is_some() && renderer.adapter().software;
        let settings = &engine.game.settings;
        let level = self.policy.quality.unwrap_or_else(|| QualityLevel::new(settings, processor));
        let mut quality = quality_of(settings, level);
        let target_ms = settings.number("render.frame_ms") as f32;
        if target_ms > 0.0 || self.dynamic_scale != DynamicScale::default() {
            let min = settings.number("render.scale_min") as f32;
            let frame = self.statistics.gpu_frame;
            let passes = &self.statistics.gpu_passes;
            let ends = passes.iter().map(|pass| pass.began + pass.milliseconds);
            let newest = MeasuredFrame { frame, milliseconds: ends.fold(0.0, f32::max) };
            let next = engine.frame.index;
            quality.scale *= self.dynamic_scale.follow(next, newest, target_ms, min);
        }
        // Timestamps at both ends of each pass cost next to nothing, but players do not read them.
        let is_timed = engine.game.build == BuildMode::Development || target_ms > 0.0;
        if std::mem::replace(&mut self.is_timed, is_timed) != is_timed {
            renderer.set_timing(is_timed);
        }
        if self.quality != quality {
            self.quality = quality;
            renderer.set_quality(quality);
        }
    }

    /// Performs the game's window commands and submits the frame to the renderer.
    pub fn show(&mut self, engine: &mut Engine, is_last: bool) {
        if self.is_lost() {
            return;
        }
        if let Some(desktop) = &mut self.desktop {
            secondary_windows::perform(desktop, None, &mut engine.devices.window);
            self.secondary_windows.sync(
                &mut engine.devices.windows,
                desktop,
                self.renderer.as_mut(),
            );
        } else {
            secondary_windows::discard_requests(
                &mut engine.devices.window,
                &mut engine.devices.windows,
            );
        }
        for rumble in engine.devices.input.take_rumbles() {
            if let Some(pads) = &mut self.pads {
                pads.rumble(rumble);
            }
        }
        let Some(renderer) = &mut self.renderer else { return };
        if self.pixels != engine.devices.window.pixels {
            self.pixels = engine.devices.window.pixels;
            renderer.resize(self.pixels.0, self.pixels.1);
        }
        if self.vsync != engine.devices.window.vsync {
            self.vsync = engine.devices.window.vsync;
            renderer.set_vsync(vsync_of(self.vsync));
        }
        self.follow_quality(engine);
        let Some(renderer) = &mut self.renderer else { return };
        let adapter = renderer.adapter();
        let (side_max, blocks) = (adapter.texture_side_max, adapter.block_textures);
        engine.assets.textures.set_caps(&mut engine.assets.store, TextureCaps { side_max, blocks });
        let mut packet = {
            scope!("packet");
            engine.take_packet(std::mem::take(&mut self.packet))
        };
        packet.input_seconds = std::mem::take(&mut self.newest_input);
        self.pictures.request(engine.frame.index, is_last, &mut packet.captures);
        self.captured_frame.request(engine.frame.index, is_last, &mut packet);
        if self.desktop.is_some() {
            secondary_windows::remove_unseen_views(
                &mut packet,
                &secondary_windows::unseen_windows(&engine.devices),
            );
        }
        {
            scope!("submit");
            self.packet = renderer.submit(packet);
        }
        self.statistics = renderer.statistics();
        engine.devices.window.latency =
            (self.statistics.latency_frames, self.statistics.latency_seconds);
        self.handle_events(engine);
    }

    /// Returns true if the desktop has asked for a redraw of the window since the last call.
    pub fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.exposed)
    }

    /// Adds the renderer's statistics to the counters, for a frame that was played. A frame that is
    /// only shown again would count as part of the next one.
    pub fn count_statistics(&self) {
        if self.renderer.is_some() {
            super::frame_stats::count_frame_statistics(&self.statistics);
        }
    }

    /// Handles the pending events of the renderer.
    pub fn handle_events(&mut self, engine: &mut Engine) {
        let Some(renderer) = &mut self.renderer else { return };
        for event in renderer.events() {
            match event {
                RendererEvent::Captured { number, picture, .. } if RunPictures::owns(number) => {
                    self.pictures.receive(number, Ok(&picture));
                }
                RendererEvent::CaptureFailed { number, message } if RunPictures::owns(number) => {
                    self.pictures.receive(number, Err(&message));
                }
                RendererEvent::Captured { number, picture, .. }
                    if FrameCaptureFiles::owns(number) =>
                {
                    self.captured_frame.receive_screen(Ok(picture));
                }
                RendererEvent::CaptureFailed { number, message }
                    if FrameCaptureFiles::owns(number) =>
                {
                    self.captured_frame.receive_screen(Err(message));
                }
                RendererEvent::FrameCaptured(frame) => self.captured_frame.receive_frame(*frame),
                RendererEvent::Note(message) => {
                    let processor = self.desktop.is_some() && renderer.adapter().software;
                    let is_automatic = processor && self.policy.quality.is_none();
                    let settings = &engine.game.settings;
                    let note = if is_automatic { reduction_note(settings) } else { String::new() };
                    engine_foundation::error_line!("engine: {message}{note}");
                }
                RendererEvent::TextureRefused { message, .. } => log::error(&message),
                RendererEvent::MeshRefused { name, message, .. } => {
                    log::error(&format!("the mesh '{name}' is not drawn: {message}"));
                }
                RendererEvent::ShaderFailed { message, .. } | RendererEvent::Fault { message } => {
                    log::error(&message)
                }
                RendererEvent::RenderConfigFailed { name, message } => {
                    log::error(&format!("the render config '{name}' is not used: {message}"));
                }
                RendererEvent::DeviceRecovered { message } => log::warning(&message),
                RendererEvent::Crowded { message } => log::warn("lights", &message),
                RendererEvent::PoseRefused { message } => log::warn("poses", &message),
                // If the tool closed its window, this is known and reported already.
                RendererEvent::WindowLost { message } if self.foreign_window.take().is_some() => {
                    log::warning(&format!("the tool's window is not drawn to any more: {message}"));
                }
                RendererEvent::WindowLost { .. } => {}
                RendererEvent::OtherWindowLost { window, message } => {
                    if secondary_windows::report_window_lost(
                        &engine.devices.windows,
                        window,
                        &message,
                    ) {
                        // A window that cannot be drawn to is treated as closed.
                        self.pending_changes
                            .push(WindowChange::Of(window, Box::new(WindowChange::Removed)));
                    }
                }
                RendererEvent::Failed { message } => {
                    log::error(&format!("nothing is drawn: {message}"))
                }
                RendererEvent::Captured { number, picture, .. } => {
                    engine.drawing.captures.receive(number, Ok(picture));
                }
                RendererEvent::CaptureFailed { number, message } => {
                    engine.drawing.captures.receive(number, Err(message))
                }
            }
        }
    }

    /// Returns the minimum duration of a frame in seconds, or `None` if the display limits the
    /// frame rate.
    pub fn frame_seconds_min(&self, window: &Window) -> Option<f64> {
        let refresh = window.monitors.iter().map(|monitor| monitor.refresh).fold(0.0, f64::max);
        let interval = if refresh >= 1.0 { 1.0 / refresh } else { 1.0 / 60.0 };
        match (&self.renderer, window.vsync) {
            _ if window.is_unseen() => Some(interval),
            (None, _) => Some(interval),
            (Some(renderer), _) if renderer.recorder().is_some() => Some(interval),
            // Some drivers do not wait for vsync. Without a limit they would draw thousands of
            // frames a second.
            (Some(_), Vsync::On | Vsync::Adaptive) => Some(interval * 0.9),
            (Some(_), Vsync::Off | Vsync::Mailbox) => None,
        }
    }

    /// Returns true if a screenshot of the last frame is still pending. If the process is asked to
    /// end, one more frame is played for it.
    pub fn needs_last_frame(&self) -> bool {
        let is_needed = self.pictures.needs_last_frame() || self.captured_frame.needs_last_frame();
        is_needed && self.renderer.is_some()
    }

    /// If no display exists, requests a screenshot of the last frame in the start folder, provided
    /// that any adapter exists.
    pub fn save_last_frame(&mut self) -> Result<(), Error> {
        let is_asked = !self.pictures.is_empty() || self.policy.capture_frame.is_some();
        if !is_asked && self.policy.renderer != Some(AdapterChoice::Null) {
            let asked = self.policy.renderer.is_some();
            if !asked {
                self.start_renderer()?;
            }
            if self.renderer.is_some() {
                self.pictures.add_last_frame(PathBuf::from(LAST_FRAME_FILE));
            }
        }
        Ok(())
    }

    /// Ends the display: finishes rendering and writes the pictures. Returns true if that
    /// succeeded.
    pub fn end(&mut self, engine: &mut Engine) -> bool {
        if self.is_lost() {
            self.handle_events(engine);
            engine.drawing.captures.finish();
        } else {
            self.finish_pictures(engine);
        }
        let is_captured = self.captured_frame.finish(engine.frame.index);
        self.pictures.finish(engine.frame.index, Path::new(LAST_FRAME_FILE)) && is_captured
    }
}

/// Returns the game's own pad mappings: a text file in its folder in the format of SDL's database.
fn mappings(assets: &mut Assets) -> MappingDatabase {
    let mut database = MappingDatabase::default();
    let name = ResourceName::new(kind_names::TEXT, "gamecontrollerdb");
    if assets.store.has(&name) {
        match assets.store.read(&name) {
            Ok(bytes) => {
                for line in database.add(&String::from_utf8_lossy(&bytes)) {
                    log::warning(&format!(
                        "gamecontrollerdb.txt:{line}: is not a line of a mapping"
                    ));
                }
            }
            Err(error) => log::warning(&error.to_string()),
        }
    }
    database
}
