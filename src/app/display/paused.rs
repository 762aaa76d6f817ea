//! The display while the debugger stops a script: the last complete frame with a banner, drawn
//! again when the window needs it. The picture is built in src/engine/paused_picture.rs.

use super::Display;
use engine_runtime::{Engine, PausedPicture, WindowSize};
use engine_window::{Desktop, Window, WindowChange};
use std::time::{Duration, Instant};

/// Maximum age of the shown picture. A display may drop a picture without saying so, for example
/// while it opens the window or has no free image, and no frame of the game would follow.
const PICTURE_AGE_MAX: Duration = Duration::from_millis(500);

/// The picture of a display while the debugger stops a script.
pub struct PausedDisplay {
    picture: PausedPicture,
    /// The text over the picture.
    banner: String,
    size: WindowSize,
    /// Time of the last drawing. None if the window lacks the picture.
    shown: Option<Instant>,
}

impl PausedDisplay {
    /// Notes changes of the window that make another drawing necessary.
    fn note(&mut self, changes: &[WindowChange]) {
        for change in changes {
            match change {
                WindowChange::Resized { width, height } => self.size.pixels = (*width, *height),
                WindowChange::Scale(scale) => self.size.scale = *scale,
                WindowChange::Opened
                | WindowChange::Hidden(false)
                | WindowChange::Minimized(false) => {}
                _ => continue,
            }
            self.shown = None;
        }
    }

    /// Returns true if the window shows a picture that is new enough.
    fn is_shown(&self) -> bool {
        self.shown.is_some_and(|shown| shown.elapsed() < PICTURE_AGE_MAX)
    }
}

impl Display {
    /// Begins to show the last complete frame with a banner, because the debugger stops a script.
    pub fn begin_pause(&self, engine: &Engine, banner: String) -> PausedDisplay {
        let Window { pixels, scale, .. } = engine.devices.window;
        let picture = engine.paused_picture(&self.packet);
        PausedDisplay { picture, banner, size: WindowSize { pixels, scale }, shown: None }
    }

    /// Shows the frame of a stopped script again, if the window has lost or never shown it, and
    /// from time to time.
    pub fn show_paused(
        &mut self,
        engine: &mut Engine,
        paused: &mut PausedDisplay,
        changes: &[WindowChange],
    ) {
        paused.note(changes);
        let is_shown = paused.is_shown() && !self.take_exposed();
        let Some(renderer) = self.renderer.as_mut().filter(|_| !is_shown) else { return };
        if self.desktop.as_ref().is_some_and(Desktop::is_lost) {
            return;
        }
        if self.pixels != paused.size.pixels {
            self.pixels = paused.size.pixels;
            renderer.resize(self.pixels.0, self.pixels.1);
        }
        let mut packet = std::mem::take(&mut self.packet);
        engine.fill_paused_packet(&mut packet, &paused.picture, &paused.banner, paused.size);
        self.packet = renderer.submit(packet);
        let is_changed = paused.picture.complete(&self.packet);
        paused.shown = (!is_changed).then(Instant::now);
        self.handle_events(engine);
    }
}
