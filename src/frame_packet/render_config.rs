//! Render configs in a packet: the frames as data that views are drawn with, and the values of
//! their settings. Knows no files.

use super::texture::TextureSlot;
use super::{FramePacket, View};
use engine_resource::render_config_data::{ConfigViewport, RenderConfigData};
use std::sync::Arc;

/// A render config of a frame.
#[derive(Clone, PartialEq, Debug)]
pub struct RenderConfigFrame {
    /// Name of the resource. Another config with the same name replaces it.
    pub name: String,
    pub data: Arc<RenderConfigData>,
    /// Values of the settings, in the order of the config. A missing one has its default.
    pub settings: Vec<f32>,
}

impl RenderConfigFrame {
    /// Returns a setting's value, which is in its range whatever the packet contains.
    pub fn setting(&self, index: usize) -> f32 {
        let setting = &self.data.settings[index];
        self.settings.get(index).map_or(setting.default, |value| setting.limited(*value))
    }
}

/// A viewport of one of the packet's render configs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewportSlot {
    /// Index in [`FramePacket::render_configs`].
    pub config: u32,
    /// Index of the config's viewport.
    pub viewport: u32,
}

/// A generator that draws onto a texture once, before the views.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratorRun {
    /// Index in [`FramePacket::render_configs`].
    pub config: u32,
    /// Index of the config's generator, which uses no image but the target.
    pub generator: u32,
    /// A texture that was created as a render target.
    pub onto: TextureSlot,
}

impl FramePacket {
    /// Returns the render config and the viewport that draw a view; `None`: the engine's own frame.
    pub fn viewport_of(&self, view: &View) -> Option<(&RenderConfigFrame, &ConfigViewport)> {
        let slot = view.viewport?;
        let config = self.render_configs.get(slot.config as usize)?;
        Some((config, config.data.viewports.get(slot.viewport as usize)?))
    }
}
