//! The overlay of a failed hot reload, drawn over the running game: a saved file was refused, and
//! the reason. Errors that stop the game are in error_overlay.rs.

use super::error_overlay::fullscreen_view;
use super::{Assets, Devices, Drawing, OpenedGame};
use crate::BuildMode;
use engine_foundation::Error;
use engine_frame_packet::FramePacket;
use engine_frame_packet::text::{PageNumber, TextRequest};
use engine_gui::tessellation;
use engine_gui::{DrawRequest, GuiId, PLAIN, PrimitiveKind};

/// Text size in logical pixels.
const SIZE: f32 = 15.0;
const MARGIN: f32 = 12.0;
/// Maximum number of lines of the messages. A line that is longer than the window is wrapped.
const LINES_MAX: usize = 8;
/// Maximum height of the overlay, as a fraction of the window's height.
const HEIGHT_SHARE: f32 = 0.5;
const GROUND: [u8; 4] = [24, 10, 14, 250];
const YELLOW: [u8; 4] = [255, 214, 110, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];

/// First line of the overlay.
const TITLE: &str = "The game continues. Changed files have problems:";
/// Last line of the overlay if a file could not be reloaded.
const KEPT: &str = "What cannot be reloaded keeps its previous version.";
/// Marker for omitted lines.
const MORE: &str = "… (all of it is on the terminal)";

/// Returns the lines of the overlay for refused files.
fn lines_of(refused: &[String]) -> Vec<String> {
    // In reports of scripts, "Error: " and similar headings are on separate lines.
    let lines = refused.iter().flat_map(|report| report.lines());
    let mut lines: Vec<String> =
        lines.filter(|line| !line.is_empty()).map(str::to_string).collect();
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX - 1);
        lines.push(MORE.to_string());
    }
    lines
}

impl Drawing {
    /// Shows messages about refused files, until [`Drawing::hide_refusals`]. `keeps_previous` is
    /// true if an earlier version of a refused file stays in use.
    pub fn show_refusals(&mut self, refused: &[String], keeps_previous: bool) {
        self.builder.refusals = lines_of(refused);
        if keeps_previous {
            self.builder.refusals.push(KEPT.to_string());
        }
    }

    pub fn hide_refusals(&mut self) {
        self.builder.refusals.clear();
    }

    /// Returns the currently shown messages, line by line.
    pub fn refusals(&self) -> &[String] {
        &self.builder.refusals
    }

    /// Adds the overlay to a packet that has its views.
    pub(super) fn fill_reload_overlay(
        &mut self,
        game: &OpenedGame,
        assets: &mut Assets,
        devices: &Devices,
        packet: &mut FramePacket,
    ) {
        let is_visible = self.builder.is_shown && game.build == BuildMode::Development;
        if !is_visible || self.builder.refusals.is_empty() || self.builder.error.is_some() {
            return;
        }
        let lines = std::mem::take(&mut self.builder.refusals);
        // An overlay that exceeds the Gui's capacity is left out; the terminal has the messages.
        if let Ok(gui) = self.draw_reload_overlay(assets, devices, &lines) {
            packet.views.push(fullscreen_view(gui.0, None));
        }
        self.builder.refusals = lines;
    }

    fn draw_reload_overlay(
        &mut self,
        assets: &mut Assets,
        devices: &Devices,
        lines: &[String],
    ) -> Result<GuiId, Error> {
        let gui = match self.builder.reload_overlay_gui {
            Some(gui) if self.guis.slots().get(gui.0).is_some() => gui,
            _ => self.new_overlay_gui()?,
        };
        self.builder.reload_overlay_gui = Some(gui);
        let size = devices.window.logical();
        let draw_request = DrawRequest {
            gui,
            object: 0.0,
            primitive: PrimitiveKind::Text,
            layer: 0,
            pose: None,
            blend: None,
        };
        let font = assets.text.find(&mut assets.store, engine_text::DEFAULT_FONT)?;
        let metrics = assets.text.metrics(font);
        let height = metrics.line_height * SIZE;
        let request = |text| TextRequest {
            font,
            text,
            size: SIZE,
            max_width: (size.x - 2.0 * MARGIN).max(SIZE),
            markup: false,
            ..TextRequest::DEFAULT
        };
        let mut shown = Vec::new();
        let mut left = size.y * HEIGHT_SHARE;
        for text in std::iter::once(TITLE).chain(lines.iter().map(String::as_str)) {
            let extents = assets.text.extents(&request(text.as_bytes()));
            let tall = extents.map_or(1, |extents| extents.lines) as f32 * height;
            // The title is always shown.
            if tall > left && !shown.is_empty() {
                shown.push((MORE, height));
                break;
            }
            left -= tall;
            shown.push((text, tall));
        }
        let all: f32 = shown.iter().map(|(_, tall)| tall).sum();
        let whole = [0.0, size.y - 2.0 * MARGIN - all, size.x, size.y];
        let _ =
            self.guis.submit_quad(draw_request, PLAIN, |of| tessellation::quad(whole, of, GROUND));
        let mut baseline = size.y - MARGIN - metrics.ascent * SIZE;
        for (text, tall) in shown {
            let color = if text == TITLE || text == KEPT { YELLOW } else { WHITE };
            if let Ok(quads) = assets.text.layout(&request(text.as_bytes())) {
                let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
                let each: Vec<_> =
                    shared.map(|quad| quad.instance(MARGIN, baseline, color, 0)).collect();
                let _ = self.guis.submit_quads(draw_request, PLAIN, each.into_iter());
            }
            baseline -= tall;
        }
        Ok(gui)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_report_is_truncated_with_a_note() {
        assert_eq!(lines_of(&["a\n\nb".to_string(), "c".to_string()]), ["a", "b", "c"]);
        let lines = lines_of(&["x\n".repeat(20)]);
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (LINES_MAX, Some(MORE)));
    }
}
