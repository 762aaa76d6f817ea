//! Drawing: everything that is drawn over and around the worlds, and what the frame shows.

use super::FrameBuilder;
use super::render_configs::RenderConfigs;
use super::screenshots::ScreenshotCaptures;
use engine_foundation::{HandleKind, Slots};
use engine_gui::Guis;
use engine_world::camera::{VIEWPORTS_MAX, Viewport};

/// Guis, viewports and the packet of the next frame.
pub struct Drawing {
    pub guis: Guis,
    pub viewports: Slots<Viewport>,
    /// Builder of the next frame's packet.
    pub builder: FrameBuilder,
    /// Requested screenshots and frame captures.
    pub captures: ScreenshotCaptures,
    /// The game's render config.
    pub render_configs: RenderConfigs,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            guis: Guis::default(),
            viewports: Slots::new(HandleKind::Viewport, VIEWPORTS_MAX),
            builder: FrameBuilder::default(),
            captures: ScreenshotCaptures::default(),
            render_configs: RenderConfigs::default(),
        }
    }
}
