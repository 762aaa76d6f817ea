//! What is told over the picture while the game goes on: that a file which was saved is not taken,
//! and why. Errors that stop the game are in overlay.rs.

use super::Engine;
use super::overlay::over;
use crate::engine::Build;
use crate::foundation::Error;
use crate::packet::Packet;
use crate::packet::text::{PageNumber, Request};
use crate::system::gui::shape;
use crate::system::gui::{GuiId, Mode, PLAIN, Thing, What};

/// Size of the letters, in logical pixels.
const SIZE: f32 = 15.0;
const MARGIN: f32 = 12.0;
/// So many lines are shown at most, each as long as the window is wide.
const LINES_MAX: usize = 8;
const GROUND: [u8; 4] = [24, 10, 14, 250];
const YELLOW: [u8; 4] = [255, 214, 110, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];

/// The first line.
const TITLE: &str = "Not taken, the game goes on with what was before:";
/// Stands where something was left out.
const MORE: &str = "… (all of it is on the terminal)";

/// The lines that are shown of what was refused.
fn lines_of(refused: &[String]) -> Vec<String> {
    // "Error: " and the like stand on lines of their own in reports of scripts.
    let lines = refused.iter().flat_map(|words| words.lines());
    let mut lines: Vec<String> =
        lines.filter(|line| !line.is_empty()).map(str::to_string).collect();
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX - 1);
        lines.push(MORE.to_string());
    }
    lines
}

impl Engine {
    /// Shows what was not taken of saved files, until [`Engine::hide_refusals`].
    pub fn show_refusals(&mut self, refused: Vec<String>) {
        self.picture.refusals = lines_of(&refused);
    }

    pub fn hide_refusals(&mut self) {
        self.picture.refusals.clear();
    }

    /// What is told of refused files now, line by line.
    pub fn refusals(&self) -> &[String] {
        &self.picture.refusals
    }

    /// Adds it to a packet whose views are there.
    pub(super) fn fill_notice(&mut self, packet: &mut Packet) {
        let tells = self.picture.is_shown && self.build == Build::Development;
        if !tells || self.picture.refusals.is_empty() || self.picture.error.is_some() {
            return;
        }
        let lines = std::mem::take(&mut self.picture.refusals);
        // What finds no room is left out: the terminal has it.
        if let Ok(gui) = self.draw_notice(&lines) {
            packet.views.push(over(gui.0, None));
        }
        self.picture.refusals = lines;
    }

    fn draw_notice(&mut self, lines: &[String]) -> Result<GuiId, Error> {
        let gui = match self.picture.notice_gui {
            Some(gui) if self.guis.slots().get(gui.0).is_some() => gui,
            _ => self.new_screen_gui(None, Mode::Immediate)?,
        };
        self.picture.notice_gui = Some(gui);
        let size = self.window.logical();
        let thing = Thing { gui, object: 0.0, what: What::Text, layer: 0, pose: None };
        let font = self.text.find(&mut self.store, crate::system::text::DEFAULT_FONT)?;
        let metrics = self.text.metrics(font);
        let height = metrics.line_height * SIZE;
        let ground = size.y - 2.0 * MARGIN - height * (lines.len() + 1) as f32;
        let whole = [0.0, ground, size.x, size.y];
        let _ = self.guis.put_one(thing, PLAIN, |of| shape::quad(whole, of, GROUND));
        let mut baseline = size.y - MARGIN - metrics.ascent * SIZE;
        let titled = std::iter::once((TITLE, YELLOW));
        for (text, color) in titled.chain(lines.iter().map(|line| (line.as_str(), WHITE))) {
            let request = Request {
                font,
                text: text.as_bytes(),
                size: SIZE,
                markup: false,
                ..Request::DEFAULT
            };
            let crate::engine::Engine { text, guis, .. } = self;
            if let Ok(quads) = text.layout(&request) {
                let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
                let each: Vec<_> =
                    shared.map(|quad| quad.instance(MARGIN, baseline, color, 0)).collect();
                let _ = guis.put_each(thing, PLAIN, each.into_iter());
            }
            baseline -= height;
        }
        Ok(gui)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_report_is_cut_and_says_so() {
        assert_eq!(lines_of(&["a\n\nb".to_string(), "c".to_string()]), ["a", "b", "c"]);
        let lines = lines_of(&["x\n".repeat(20)]);
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (LINES_MAX, Some(MORE)));
    }
}
