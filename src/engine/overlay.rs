//! What the engine itself draws over everything: the report of an error that stopped the game, and
//! the console. What the console says is the prelude's (lua/console.lua).

use super::Engine;
use crate::foundation::{Error, Handle};
use crate::packet::gui::GuiFrame;
use crate::packet::text::{PageNumber, Request};
use crate::packet::{Packet, Target, View};
use crate::system::gui::shape;
use crate::system::gui::{GuiId, Mode, PLAIN, Thing, What};
use crate::world::camera::Camera;

/// Size of the report's letters, in logical pixels: readable at any density.
const SIZE: f32 = 16.0;
/// Of the first lines, which say what went wrong.
const TITLE_SIZE: f32 = 22.0;
const MARGIN: f32 = 32.0;
const BAND: f32 = 6.0;

/// Lets the last picture shine through, just enough to be seen: bright letters in it must not mix
/// with those of the report.
const GROUND: [u8; 4] = [24, 10, 14, 253];
/// So many lines of a message are shown at most, so that its place and stack are seen as well.
const MESSAGE_LINES: usize = 10;
/// And a line of the report takes this share of the screen's height at most.
const LINE_SHARE: f32 = 0.4;
/// Stands where something was left out.
const MORE: &str = "… (all of it is on the terminal)";
const RED: [u8; 4] = [224, 48, 56, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];
const GRAY: [u8; 4] = [178, 172, 176, 255];
const YELLOW: [u8; 4] = [255, 214, 110, 255];

/// What is said below the report.
const REMEDY: &str = "Save a file to try again.  Escape, or closing the window, ends the game.";

/// The picture that a stopped game leaves below the report: a frame that was whole.
pub struct LastPicture {
    views: Vec<View>,
    guis: Vec<GuiFrame>,
}

/// A line of the report, as it is drawn.
#[derive(Clone, PartialEq, Debug)]
struct Line {
    text: String,
    size: f32,
    color: [u8; 4],
}

/// The lines of a report: what the engine was doing, what went wrong, where, and the stack.
fn lines_of(report: &str) -> Vec<Line> {
    let title = report.lines().position(|line| line.starts_with("Error")).unwrap_or(0);
    let mut stack = false;
    let place = report.lines().skip(title).position(|line| line.starts_with("    In "));
    let end = place.map_or(usize::MAX, |place| title + place);
    let cut = title + MESSAGE_LINES..end;
    let whole = report.lines().enumerate().filter(|(i, _)| !cut.contains(i) || *i == cut.start);
    let lines = whole.map(|(i, text)| {
        let text = if cut.contains(&i) { MORE } else { text };
        stack |= text.starts_with("Lua stack") || text.starts_with("stack traceback");
        let number = text.trim_start().split(' ').next().unwrap_or_default();
        let source = text.contains(" | ") && number.parse::<u32>().is_ok();
        let (size, color) = match i {
            _ if i == title => (TITLE_SIZE, WHITE),
            _ if source => (SIZE, YELLOW),
            _ if stack || i < title => (SIZE, GRAY),
            _ => (SIZE, WHITE),
        };
        Line { text: text.to_string(), size, color }
    });
    lines.collect()
}

impl Engine {
    /// Shows the report of an error over everything, until [`Engine::hide_error`].
    pub fn show_error(&mut self, report: &str) {
        self.picture.error = Some(report.to_string());
    }

    pub fn hide_error(&mut self) {
        self.picture.error = None;
    }

    /// Remembers the views of a frame.
    pub(super) fn note_views(&mut self, views: &[View]) {
        if self.picture.error.is_none() {
            self.picture.last_views.clear();
            self.picture.last_views.extend_from_slice(views);
        }
    }

    /// Where an error has stopped the game: keeps the last picture that came back from whoever
    /// shows it, before its arrays are used again.
    pub(super) fn keep_last_picture(&mut self, packet: &mut Packet) {
        if self.picture.error.is_none() {
            self.picture.last = None;
        } else if self.picture.last.is_none() {
            let views = std::mem::take(&mut self.picture.last_views);
            let guis = std::mem::take(&mut packet.spare_guis);
            self.picture.last = Some(LastPicture { views, guis });
        }
    }

    /// Puts the last picture in the place of what the stopped frame had drawn.
    pub(super) fn show_last_picture(&mut self, packet: &mut Packet) {
        let Some(last) = &self.picture.last else { return };
        let own = self.picture.error_gui.map(|gui| gui.0.to_number() as u64);
        for frame in packet.guis.iter_mut().filter(|frame| Some(frame.gui) != own) {
            let whole = last.guis.iter().find(|whole| whole.gui == frame.gui);
            frame.batches = whole.map_or(Vec::new(), |whole| whole.batches.clone());
            if let Some(whole) = whole.filter(|whole| !whole.batches.is_empty()) {
                frame.transforms.clone_from(&whole.transforms);
            }
        }
    }

    /// The Gui of the console, which is drawn over everything in the frame in which it is asked
    /// for.
    pub fn console_gui(&mut self) -> Result<GuiId, Error> {
        self.picture.console_shown = true;
        let known = self.picture.console;
        if let Some(gui) = known.filter(|gui| self.guis.slots().get(gui.0).is_some()) {
            return Ok(gui);
        }
        let gui = self.new_screen_gui(None, Mode::Immediate)?;
        self.picture.console = Some(gui);
        Ok(gui)
    }

    /// Adds what is drawn over everything to a packet whose views are there.
    pub(super) fn fill_overlays(&mut self, packet: &mut Packet) {
        if std::mem::take(&mut self.picture.console_shown)
            && let Some(gui) = self.picture.console
        {
            packet.views.push(over(gui.0, None));
        }
        self.fill_notice(packet);
        if let Some(report) = self.picture.error.take() {
            if let Ok(gui) = self.draw_error(&report) {
                let views = self.picture.last.as_ref().map(|last| last.views.clone());
                packet.views = views.unwrap_or_default();
                let empty = packet.views.iter().all(|view| view.target != Target::Screen);
                packet.views.push(over(gui.0, empty.then_some([0.0, 0.0, 0.0, 1.0])));
            }
            self.picture.error = Some(report);
        }
    }

    fn draw_error(&mut self, report: &str) -> Result<GuiId, Error> {
        let gui = match self.picture.error_gui {
            Some(gui) if self.guis.slots().get(gui.0).is_some() => gui,
            _ => self.new_screen_gui(None, Mode::Immediate)?,
        };
        self.picture.error_gui = Some(gui);
        let size = self.window.logical();
        let thing = Thing { gui, object: 0.0, what: What::Text, layer: 0, pose: None };
        // What finds no room is left out, here and below.
        let whole = [0.0, 0.0, size.x, size.y];
        let _ = self.guis.put_one(thing, PLAIN, |of| shape::quad(whole, of, GROUND));
        let band = [0.0, size.y - BAND, size.x, size.y];
        let _ = self.guis.put_one(thing, PLAIN, |of| shape::quad(band, of, RED));
        let font = self.text.find(&mut self.store, crate::system::text::DEFAULT_FONT)?;
        let Engine { text, guis, .. } = self;
        let mut top = size.y - BAND - MARGIN;
        let remedy = Line { text: REMEDY.to_string(), size: SIZE, color: RED };
        let room = MARGIN + 2.0 * SIZE;
        let last = lines_of(report).into_iter().map(|line| (line, room)).chain([(remedy, 0.0)]);
        for (line, left) in last {
            let request = Request {
                font,
                text: line.text.as_bytes(),
                size: line.size,
                max_width: (size.x - 2.0 * MARGIN).max(line.size),
                markup: false,
                ..Request::DEFAULT
            };
            let metrics = text.metrics(font);
            let Ok(extents) = text.extents(&request) else { continue };
            let mut height = extents.lines as f32 * metrics.line_height * line.size;
            let most = (size.y * LINE_SHARE).min(top - left);
            let short;
            let mut request = request;
            if left > 0.0 && height > most {
                // As much of it as there is room for, and less where words wrap badly.
                let lines = (most / (metrics.line_height * line.size)).floor();
                if lines < 1.0 {
                    continue;
                }
                let share = (lines - 0.5).max(0.5) / extents.lines as f32;
                let kept = (line.text.chars().count() as f32 * share) as usize;
                short = line.text.chars().take(kept).collect::<String>() + MORE;
                request.text = short.as_bytes();
                height = lines * metrics.line_height * line.size;
            }
            let (x, y) =
                (MARGIN, if left > 0.0 { top } else { MARGIN } - metrics.ascent * line.size);
            let Ok(quads) = text.layout(&request) else { continue };
            let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
            let each: Vec<_> = shared.map(|quad| quad.instance(x, y, line.color, 0)).collect();
            let _ = guis.put_each(thing, PLAIN, each.into_iter());
            top -= height;
        }
        Ok(gui)
    }
}

/// A view of a Gui alone, over all the screen.
pub(super) fn over(gui: Handle, clear: Option<[f32; 4]>) -> View {
    View {
        target: Target::Screen,
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear,
        camera: Camera::DEFAULT.frame(1.0),
        scene: None,
        layers: u32::MAX,
        guis: vec![gui.to_number() as u64],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_first_what_went_wrong_and_shows_source_lines_apart() {
        let report = "When calling: render\nError: no such thing\n    In main.lua:61\n       \
                      61 | draw()\nLua stack, innermost first:\n  main.lua:61 in draw";
        let lines = lines_of(report);
        let colors: Vec<_> = lines.iter().map(|line| line.color).collect();
        assert_eq!(colors, [GRAY, WHITE, WHITE, YELLOW, GRAY, GRAY]);
        assert_eq!((lines[0].size, lines[1].size), (SIZE, TITLE_SIZE));
    }
}
