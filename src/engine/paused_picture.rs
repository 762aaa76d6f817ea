//! The picture of a game while the debugger stops one of its scripts, in the middle of a frame: the
//! last complete frame, with a banner over it. Nothing of the interrupted frame is drawn or lost.

use super::Engine;
use super::error_overlay::fullscreen_view;
use engine_foundation::{Error, Handle, Vec2};
use engine_frame_packet::gui::GuiFrame;
use engine_frame_packet::text::{PageNumber, TextRequest};
use engine_frame_packet::{FramePacket, View, ViewTarget};
use engine_gui::tessellation;
use engine_gui::{DrawRequest, GuiId, PLAIN, PrimitiveKind};

/// Text size of the banner in logical pixels.
const SIZE: f32 = 16.0;
const MARGIN: f32 = 8.0;
/// Maximum height of the banner, as a fraction of the window's height.
const HEIGHT_SHARE: f32 = 0.5;
const GROUND: [u8; 4] = [22, 44, 92, 240];
const WHITE: [u8; 4] = [255, 255, 255, 255];

/// The last complete frame of a game, which is drawn while a script is stopped.
#[derive(Default)]
pub struct PausedPicture {
    views: Vec<View>,
    guis: Vec<GuiFrame>,
}

impl PausedPicture {
    /// Takes over Guis that the picture lacks. The renderer may still have had the last frame when
    /// the script was stopped; `returned` is the packet that it returned since then. Returns true
    /// if the picture has changed.
    pub fn complete(&mut self, returned: &FramePacket) -> bool {
        let mut is_changed = false;
        for frame in self.guis.iter_mut().filter(|frame| frame.batches.is_empty()) {
            let is_whole = |whole: &&GuiFrame| whole.gui == frame.gui && !whole.batches.is_empty();
            if let Some(whole) = returned.spare_guis.iter().find(is_whole) {
                copy_content(frame, whole);
                is_changed = true;
            }
        }
        is_changed
    }
}

/// Copies what an immediate Gui draws.
fn copy_content(frame: &mut GuiFrame, whole: &GuiFrame) {
    frame.transforms.clone_from(&whole.transforms);
    frame.batches.clone_from(&whole.batches);
    frame.masks.clone_from(&whole.masks);
}

/// Size of the main window. While a script is stopped, the game does not see a change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowSize {
    /// Width and height in screen pixels.
    pub pixels: (u32, u32),
    /// Number of screen pixels per logical pixel.
    pub scale: f64,
}

impl WindowSize {
    fn logical(self) -> Vec2 {
        Vec2::new(self.pixels.0 as f32, self.pixels.1 as f32) / (self.scale as f32).max(1e-3)
    }
}

impl Engine {
    /// Returns the last complete frame. `returned` is the packet that the renderer returned last,
    /// with the Guis of that frame.
    pub fn paused_picture(&self, returned: &FramePacket) -> PausedPicture {
        // Textures keep what was drawn onto them.
        let is_shown = |view: &&View| !matches!(view.target, ViewTarget::Texture(_));
        let views: Vec<View> =
            self.drawing.builder.last_views.iter().filter(is_shown).cloned().collect();
        let mut guis: Vec<GuiFrame> = Vec::new();
        for gui in views.iter().flat_map(|view| &view.guis) {
            if guis.iter().all(|frame| frame.gui != *gui) {
                let whole = returned.spare_guis.iter().find(|frame| frame.gui == *gui);
                guis.extend(self.shown_again(*gui, whole));
            }
        }
        PausedPicture { views, guis }
    }

    /// Returns what draws a Gui once more. `whole` is its content in the last frame; what is
    /// retained is in the renderer.
    fn shown_again(&self, gui: u64, whole: Option<&GuiFrame>) -> Option<GuiFrame> {
        let handle = Handle::from_number(gui as f64)?;
        let desc = self.drawing.guis.slots().get(handle).map(|found| found.desc);
        let (space, pose) = match (whole, desc) {
            (Some(whole), _) => (whole.space, whole.pose),
            (None, Some(desc)) => (desc.space, desc.pose),
            (None, None) => return None,
        };
        let mut frame = GuiFrame { gui, space, pose, ..GuiFrame::default() };
        if let Some(whole) = whole.filter(|whole| !whole.batches.is_empty()) {
            copy_content(&mut frame, whole);
        }
        Some(frame)
    }

    /// Fills a packet with a picture and a banner over it.
    pub fn fill_paused_packet(
        &mut self,
        packet: &mut FramePacket,
        picture: &PausedPicture,
        banner: &str,
        size: WindowSize,
    ) {
        self.drawing.guis.recycle(&mut packet.spare_guis);
        self.describe_windows(packet, size);
        packet.views.extend_from_slice(&picture.views);
        packet.guis.extend(picture.guis.iter().cloned());
        let is_empty = packet.views.iter().all(|view| view.target != ViewTarget::Screen);
        // A banner that exceeds the Gui's capacity is left out: the editor shows the line, too.
        if let Ok(gui) = self.draw_banner(banner, size.logical()) {
            packet.guis.extend(self.drawing.guis.take_frame(gui));
            let clear = is_empty.then_some([0.0, 0.0, 0.0, 1.0]);
            packet.views.push(fullscreen_view(gui.0, clear));
        }
        if let Err(error) = self.assets.text.flush(&self.devices.tasks, &mut packet.textures) {
            engine_foundation::log::error(&error.to_string());
        }
    }

    /// Draws the banner at the upper edge of a window of this size.
    fn draw_banner(&mut self, banner: &str, size: Vec2) -> Result<GuiId, Error> {
        let gui = match self.drawing.builder.pause_gui {
            Some(gui) if self.drawing.guis.slots().get(gui.0).is_some() => gui,
            _ => self.drawing.new_overlay_gui()?,
        };
        self.drawing.builder.pause_gui = Some(gui);
        let text = &mut self.assets.text;
        let font = text.find(&mut self.assets.store, engine_text::DEFAULT_FONT)?;
        let metrics = text.metrics(font);
        let request = TextRequest {
            font,
            text: banner.as_bytes(),
            size: SIZE,
            max_width: (size.x - 2.0 * MARGIN).max(SIZE),
            markup: false,
            ..TextRequest::DEFAULT
        };
        let rows = text.extents(&request).map_or(1, |extents| extents.lines) as f32;
        let height = rows * metrics.line_height * SIZE + 2.0 * MARGIN;
        let bottom = size.y - height.min(size.y * HEIGHT_SHARE);
        let draw = DrawRequest {
            gui,
            object: 0.0,
            primitive: PrimitiveKind::Text,
            layer: 0,
            pose: None,
            blend: None,
        };
        let area = [0.0, bottom, size.x, size.y];
        let guis = &mut self.drawing.guis;
        let _ = guis.submit_quad(draw, PLAIN, |of| tessellation::quad(area, of, GROUND));
        let baseline = size.y - MARGIN - metrics.ascent * SIZE;
        if let Ok(quads) = text.layout(&request) {
            let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
            let each: Vec<_> =
                shared.map(|quad| quad.instance(MARGIN, baseline, WHITE, 0)).collect();
            let _ = guis.submit_quads(draw, PLAIN, each.into_iter());
        }
        Ok(gui)
    }
}
