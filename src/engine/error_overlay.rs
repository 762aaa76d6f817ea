//! Engine overlays drawn over everything: the report of an error that stopped the game, and the
//! console. The content of the console is in the prelude (lua/debug/console.lua).

use super::{Assets, Devices, Drawing, OpenedGame};
use engine_foundation::{Error, Handle};
use engine_frame_packet::gui::GuiFrame;
use engine_frame_packet::text::{PageNumber, TextRequest};
use engine_frame_packet::{FramePacket, View, ViewTarget};
use engine_gui::tessellation;
use engine_gui::{DrawRequest, GuiId, GuiMode, PLAIN, PrimitiveKind};
use engine_world::camera::Camera;

/// Text size of the report in logical pixels, readable at any pixel density.
const SIZE: f32 = 16.0;
/// Text size of the first lines, which describe the error.
const TITLE_SIZE: f32 = 22.0;
const MARGIN: f32 = 32.0;
const BAND: f32 = 6.0;

/// Background color that leaves the last image barely visible, so that bright text in it does not
/// mix with the text of the report.
const GROUND: [u8; 4] = [24, 10, 14, 253];
/// Maximum number of lines of a message, so that its location and stack remain visible.
const MESSAGE_LINES: usize = 10;
/// Maximum height of a line of the report, as a fraction of the screen's height.
const LINE_SHARE: f32 = 0.4;
/// Marker for omitted text.
const MORE: &str = "… (all of it is on the terminal)";
const RED: [u8; 4] = [224, 48, 56, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];
const GRAY: [u8; 4] = [178, 172, 176, 255];
const YELLOW: [u8; 4] = [255, 214, 110, 255];

/// Hint below the report.
const REMEDY: &str = "Save a file to try again.  Escape, or closing the window, ends the game.";

/// The last complete frame of a stopped game, shown below the report.
pub struct LastFrame {
    views: Vec<View>,
    guis: Vec<GuiFrame>,
}

/// A line of the report with its style.
#[derive(Clone, PartialEq, Debug)]
struct ReportLine {
    text: String,
    size: f32,
    color: [u8; 4],
}

/// Returns the lines of a report: the engine's activity, the error, its location, and the stack.
fn lines_of(report: &str) -> Vec<ReportLine> {
    let title = report.lines().position(|line| line.starts_with("Error")).unwrap_or(0);
    let mut stack = false;
    let offset = report.lines().skip(title).position(|line| line.starts_with("    In "));
    let end = offset.map_or(usize::MAX, |offset| title + offset);
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
        ReportLine { text: text.to_string(), size, color }
    });
    lines.collect()
}

impl Drawing {
    /// Shows the report of an error over everything, until [`Drawing::hide_error`].
    pub fn show_error(&mut self, report: &str) {
        self.builder.error = Some(report.to_string());
    }

    pub fn hide_error(&mut self) {
        self.builder.error = None;
    }

    /// Stores the views of a frame.
    pub(super) fn remember_views(&mut self, views: &[View]) {
        if self.builder.error.is_none() {
            self.builder.last_views.clear();
            self.builder.last_views.extend_from_slice(views);
        }
    }

    /// If an error has stopped the game, keeps the last frame returned by the renderer, before its
    /// arrays are reused.
    pub(super) fn keep_last_frame(&mut self, packet: &mut FramePacket) {
        if self.builder.error.is_none() {
            self.builder.last = None;
        } else if self.builder.last.is_none() {
            let views = std::mem::take(&mut self.builder.last_views);
            let guis = std::mem::take(&mut packet.spare_guis);
            self.builder.last = Some(LastFrame { views, guis });
        }
    }

    /// Replaces the drawing of the stopped frame with the last complete frame.
    pub(super) fn show_last_frame(&mut self, packet: &mut FramePacket) {
        let Some(last) = &self.builder.last else { return };
        let own = self.builder.error_gui.map(|gui| gui.0.to_number() as u64);
        for frame in packet.guis.iter_mut().filter(|frame| Some(frame.gui) != own) {
            let whole = last.guis.iter().find(|whole| whole.gui == frame.gui);
            frame.batches = whole.map_or(Vec::new(), |whole| whole.batches.clone());
            if let Some(whole) = whole.filter(|whole| !whole.batches.is_empty()) {
                frame.transforms.clone_from(&whole.transforms);
            }
        }
    }

    /// Returns the console's Gui. It is drawn over everything in each frame in which this function
    /// is called.
    pub fn console_gui(&mut self) -> Result<GuiId, Error> {
        self.builder.console_shown = true;
        let known = self.builder.console;
        if let Some(gui) = known.filter(|gui| self.guis.slots().get(gui.0).is_some()) {
            return Ok(gui);
        }
        let gui = self.new_screen_gui(None, GuiMode::Immediate)?;
        self.builder.console = Some(gui);
        Ok(gui)
    }

    /// Adds the overlays to a packet that has its views.
    pub(super) fn fill_overlays(
        &mut self,
        game: &OpenedGame,
        assets: &mut Assets,
        devices: &Devices,
        packet: &mut FramePacket,
    ) {
        if std::mem::take(&mut self.builder.console_shown)
            && let Some(gui) = self.builder.console
        {
            packet.views.push(fullscreen_view(gui.0, None));
        }
        self.fill_reload_overlay(game, assets, devices, packet);
        if let Some(report) = self.builder.error.take() {
            if let Ok(gui) = self.draw_error(assets, devices, &report) {
                let views = self.builder.last.as_ref().map(|last| last.views.clone());
                packet.views = views.unwrap_or_default();
                let empty = packet.views.iter().all(|view| view.target != ViewTarget::Screen);
                packet.views.push(fullscreen_view(gui.0, empty.then_some([0.0, 0.0, 0.0, 1.0])));
            }
            self.builder.error = Some(report);
        }
    }

    fn draw_error(
        &mut self,
        assets: &mut Assets,
        devices: &Devices,
        report: &str,
    ) -> Result<GuiId, Error> {
        let gui = match self.builder.error_gui {
            Some(gui) if self.guis.slots().get(gui.0).is_some() => gui,
            _ => self.new_screen_gui(None, GuiMode::Immediate)?,
        };
        self.builder.error_gui = Some(gui);
        let size = devices.window.logical();
        let draw_request =
            DrawRequest { gui, object: 0.0, primitive: PrimitiveKind::Text, layer: 0, pose: None };
        // Shapes that exceed the Gui's capacity are left out, here and below.
        let whole = [0.0, 0.0, size.x, size.y];
        let _ =
            self.guis.submit_quad(draw_request, PLAIN, |of| tessellation::quad(whole, of, GROUND));
        let band = [0.0, size.y - BAND, size.x, size.y];
        let _ = self.guis.submit_quad(draw_request, PLAIN, |of| tessellation::quad(band, of, RED));
        let font = assets.text.find(&mut assets.store, engine_text::DEFAULT_FONT)?;
        let mut top = size.y - BAND - MARGIN;
        let remedy = ReportLine { text: REMEDY.to_string(), size: SIZE, color: RED };
        let room = MARGIN + 2.0 * SIZE;
        let last = lines_of(report).into_iter().map(|line| (line, room)).chain([(remedy, 0.0)]);
        for (line, left) in last {
            let request = TextRequest {
                font,
                text: line.text.as_bytes(),
                size: line.size,
                max_width: (size.x - 2.0 * MARGIN).max(line.size),
                markup: false,
                ..TextRequest::DEFAULT
            };
            let metrics = assets.text.metrics(font);
            let Ok(extents) = assets.text.extents(&request) else { continue };
            let mut height = extents.lines as f32 * metrics.line_height * line.size;
            let most = (size.y * LINE_SHARE).min(top - left);
            let short;
            let mut request = request;
            if left > 0.0 && height > most {
                // Keeps as much text as fits, with a margin for lines that wrap badly.
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
            let Ok(quads) = assets.text.layout(&request) else { continue };
            let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
            let each: Vec<_> = shared.map(|quad| quad.instance(x, y, line.color, 0)).collect();
            let _ = self.guis.submit_quads(draw_request, PLAIN, each.into_iter());
            top -= height;
        }
        Ok(gui)
    }
}

/// Returns a view that shows only a Gui over the whole screen.
pub(super) fn fullscreen_view(gui: Handle, clear: Option<[f32; 4]>) -> View {
    View {
        target: ViewTarget::Screen,
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
    fn a_report_begins_with_the_error_and_separates_source_lines() {
        let report = "When calling: render\nError: no such thing\n    In main.lua:61\n       \
                      61 | draw()\nLua stack, innermost first:\n  main.lua:61 in draw";
        let lines = lines_of(report);
        let colors: Vec<_> = lines.iter().map(|line| line.color).collect();
        assert_eq!(colors, [GRAY, WHITE, WHITE, YELLOW, GRAY, GRAY]);
        assert_eq!((lines[0].size, lines[1].size), (SIZE, TITLE_SIZE));
    }
}
