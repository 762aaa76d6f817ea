//! The display while the debugger stops a script: the last complete frame with a banner, drawn
//! again when the window needs it. The picture is built in src/engine/paused_picture.rs.

use super::Display;
use engine_runtime::{Engine, PausedPicture, WindowSize};
use engine_window::{Desktop, Window, WindowChange};

/// The picture of a display while the debugger stops a script.
pub struct PausedDisplay {
    picture: PausedPicture,
    /// The text over the picture.
    banner: String,
    size: WindowSize,
    /// False if the window does not show this yet.
    is_shown: bool,
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
            self.is_shown = false;
        }
    }
}

impl Display {
    /// Begins to show the last complete frame with a banner, because the debugger stops a script.
    pub fn begin_pause(&self, engine: &Engine, banner: String) -> PausedDisplay {
        let Window { pixels, scale, .. } = engine.devices.window;
        let picture = engine.paused_picture(&self.packet);
        PausedDisplay { picture, banner, size: WindowSize { pixels, scale }, is_shown: false }
    }

    /// Shows the frame of a stopped script again, if the window has lost or never shown it.
    pub fn show_paused(
        &mut self,
        engine: &mut Engine,
        paused: &mut PausedDisplay,
        changes: &[WindowChange],
    ) {
        paused.note(changes);
        let is_shown = paused.is_shown && !self.take_exposed();
        let Some(renderer) = self.renderer.as_mut().filter(|_| !is_shown) else { return };
        if self.desktop.as_ref().is_some_and(Desktop::is_lost) {
            return;
        }
        paused.is_shown = true;
        if self.pixels != paused.size.pixels {
            self.pixels = paused.size.pixels;
            renderer.resize(self.pixels.0, self.pixels.1);
        }
        let mut packet = std::mem::take(&mut self.packet);
        engine.fill_paused_packet(&mut packet, &paused.picture, &paused.banner, paused.size);
        self.packet = renderer.submit(packet);
        paused.is_shown = !paused.picture.complete(&self.packet);
        self.handle_events(engine);
    }
}
