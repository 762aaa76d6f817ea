//! The images of screen-space effects: their formats and sizes. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::DEPTH_FORMAT;
use super::{MOTION_FORMAT, ViewSettings};

/// An image of a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScreenImage {
    /// Depth of the opaque objects, with one sample per pixel.
    Depth,
    /// Ambient occlusion with the noise of its samples.
    NoisyOcclusion,
    /// Red: ambient occlusion. Green: contact shadows. White: neither.
    Occlusion,
    /// The light with one sample per pixel.
    Light,
    /// Motion of each pixel since the previous frame, as a fraction of the picture.
    Motion,
    /// The light of several frames, and that of the previous frame.
    History,
    PreviousHistory,
    /// The light at half resolution, for the blur out of focus.
    HalfLight,
    /// Largest blur of each tile, and of its neighbours.
    FocusTiles,
    FocusNeighbours,
    /// The blurred light at half resolution, and its share over sharp pixels.
    Blurred,
    BlurredShare,
    Focused,
    /// Longest motion of each tile, and of its neighbours.
    MotionTiles,
    MotionNeighbours,
    MotionBlurred,
}

impl ScreenImage {
    pub fn format(self) -> wgpu::TextureFormat {
        match self {
            ScreenImage::Depth => DEPTH_FORMAT,
            ScreenImage::NoisyOcclusion | ScreenImage::BlurredShare => wgpu::TextureFormat::R8Unorm,
            ScreenImage::Occlusion => wgpu::TextureFormat::Rg8Unorm,
            ScreenImage::FocusTiles | ScreenImage::FocusNeighbours => wgpu::TextureFormat::R16Float,
            ScreenImage::Motion | ScreenImage::MotionTiles | ScreenImage::MotionNeighbours => {
                MOTION_FORMAT
            }
            ScreenImage::Light
            | ScreenImage::History
            | ScreenImage::PreviousHistory
            | ScreenImage::HalfLight
            | ScreenImage::Blurred
            | ScreenImage::Focused
            | ScreenImage::MotionBlurred => wgpu::TextureFormat::Rgba16Float,
        }
    }

    /// Returns true for images that replace the view's light.
    pub fn is_light(self) -> bool {
        matches!(
            self,
            ScreenImage::Light
                | ScreenImage::History
                | ScreenImage::Focused
                | ScreenImage::MotionBlurred
        )
    }

    fn size(self, settings: &ViewSettings) -> (u32, u32) {
        let side = match self {
            ScreenImage::NoisyOcclusion if settings.half_occlusion => 2,
            ScreenImage::HalfLight | ScreenImage::Blurred | ScreenImage::BlurredShare => 2,
            ScreenImage::FocusTiles | ScreenImage::FocusNeighbours => 2 * settings.focus_tile,
            ScreenImage::MotionTiles | ScreenImage::MotionNeighbours => settings.motion_tile,
            _ => 1,
        };
        (settings.size.0.div_ceil(side).max(1), settings.size.1.div_ceil(side).max(1))
    }

    fn usage(self) -> wgpu::TextureUsages {
        let drawn = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        match self {
            // ScreenSpace::copy_light
            ScreenImage::History | ScreenImage::PreviousHistory => {
                drawn | wgpu::TextureUsages::COPY_SRC
            }
            ScreenImage::Light => drawn | wgpu::TextureUsages::COPY_DST,
            _ => drawn,
        }
    }

    pub fn create(self, device: &GpuDevice, settings: &ViewSettings) -> wgpu::TextureView {
        let (width, height) = self.size(settings);
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("screen space"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.format(),
            usage: self.usage(),
            view_formats: &[],
        });
        texture.create_view(&Default::default())
    }
}
