//! The presentation target of the screen: a window's surface, or a texture if there is no window.
//! Configures, acquires and presents; draws nothing.

use super::device::GpuDevice;
use super::textures::TARGET_FORMAT;
use super::{SurfaceTarget, SurfaceWindow, Vsync};
use std::sync::Arc;

/// Number of attempts for one frame if the surface is out of date.
const TRIES: usize = 3;

/// The target of the screen's frames.
pub enum PresentTarget {
    Window(Box<WindowSurface>),
    Offscreen { texture: wgpu::Texture, view: wgpu::TextureView },
}

/// A window's surface.
pub struct WindowSurface {
    /// The acquired frame; it is dropped before its surface.
    acquired: Option<(wgpu::SurfaceTexture, wgpu::TextureView)>,
    window: Arc<dyn SurfaceWindow>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// The size of the window; 0: it is not drawn to.
    size: (u32, u32),
    vsync: Vsync,
    /// True if the surface must be configured before the next frame.
    stale: bool,
    /// Format of the view that is drawn to; it differs from the configured one if only views are
    /// sRGB.
    view_format: wgpu::TextureFormat,
}

fn offscreen(device: &GpuDevice, width: u32, height: u32) -> PresentTarget {
    let most = device.info.texture_side_max;
    let size = wgpu::Extent3d {
        width: width.clamp(1, most),
        height: height.clamp(1, most),
        depth_or_array_layers: 1,
    };
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("screen"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TARGET_FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = texture.create_view(&Default::default());
    PresentTarget::Offscreen { texture, view }
}

fn present_mode(vsync: Vsync, modes: &[wgpu::PresentMode]) -> wgpu::PresentMode {
    use wgpu::PresentMode::{Fifo, FifoRelaxed, Immediate, Mailbox};
    let wanted: &[wgpu::PresentMode] = match vsync {
        Vsync::On => &[],
        Vsync::Adaptive => &[FifoRelaxed],
        Vsync::Fast => &[Mailbox],
        Vsync::Off => &[Immediate, Mailbox],
        Vsync::Never => &[Mailbox, Immediate],
    };
    wanted.iter().copied().find(|mode| modes.contains(mode)).unwrap_or(Fifo)
}

impl PresentTarget {
    pub fn new(
        device: &GpuDevice,
        output: &SurfaceTarget,
        surface: Option<wgpu::Surface<'static>>,
        vsync: Vsync,
    ) -> Result<PresentTarget, String> {
        let (window, size) = match output {
            SurfaceTarget::Offscreen { width, height } => {
                return Ok(offscreen(device, *width, *height));
            }
            SurfaceTarget::Window { window, width, height, .. } => {
                (Arc::clone(window), (*width, *height))
            }
        };
        let surface = surface.expect("a window's device was opened for its surface");
        PresentTarget::of_window(device, window, size, surface, vsync)
    }

    /// Creates the target of a window, whose size is in pixels.
    pub fn of_window(
        device: &GpuDevice,
        window: Arc<dyn SurfaceWindow>,
        size: (u32, u32),
        surface: wgpu::Surface<'static>,
        vsync: Vsync,
    ) -> Result<PresentTarget, String> {
        let (config, view_format) = configuration(device, &surface, vsync)?;
        Ok(PresentTarget::Window(Box::new(WindowSurface {
            window,
            surface,
            config,
            size,
            vsync,
            stale: true,
            acquired: None,
            view_format,
        })))
    }

    /// Returns the window, and its size in pixels.
    pub fn window(&self) -> Option<(Arc<dyn SurfaceWindow>, (u32, u32))> {
        match self {
            PresentTarget::Window(surface) => Some((Arc::clone(&surface.window), surface.size)),
            PresentTarget::Offscreen { .. } => None,
        }
    }

    /// Returns the format of the screen's frames.
    pub fn format(&self) -> wgpu::TextureFormat {
        match self {
            PresentTarget::Window(surface) => surface.view_format,
            PresentTarget::Offscreen { .. } => TARGET_FORMAT,
        }
    }

    pub fn resize(&mut self, device: &GpuDevice, width: u32, height: u32) {
        match self {
            PresentTarget::Window(surface) => {
                if surface.size != (width, height) {
                    surface.size = (width, height);
                    surface.renew();
                }
            }
            PresentTarget::Offscreen { texture, .. } => {
                if (texture.width(), texture.height()) != (width, height) {
                    *self = offscreen(device, width, height);
                }
            }
        }
    }

    pub fn set_vsync(&mut self, device: &GpuDevice, vsync: Vsync) {
        if let PresentTarget::Window(surface) = self
            && surface.vsync != vsync
        {
            surface.vsync = vsync;
            let modes = device.capabilities(&surface.surface).present_modes;
            surface.config.present_mode = present_mode(vsync, &modes);
            surface.renew();
        }
    }

    /// Acquires the next frame, and waits for the display. Returns false if nothing can be shown
    /// now. Returns an error if nothing can be shown any more.
    pub fn acquire(&mut self, device: &GpuDevice) -> Result<bool, String> {
        match self {
            PresentTarget::Offscreen { .. } => Ok(true),
            PresentTarget::Window(surface) => surface.acquire(device),
        }
    }

    /// Returns the texture to draw to and its view, if a frame was acquired.
    pub fn target(&self) -> Option<(&wgpu::Texture, &wgpu::TextureView)> {
        match self {
            PresentTarget::Offscreen { texture, view } => Some((texture, view)),
            PresentTarget::Window(surface) => {
                surface.acquired.as_ref().map(|(texture, view)| (&texture.texture, view))
            }
        }
    }

    /// Returns true if frames can be copied from the target.
    pub fn readable(&self) -> bool {
        match self {
            PresentTarget::Offscreen { .. } => true,
            PresentTarget::Window(surface) => {
                surface.config.usage.contains(wgpu::TextureUsages::COPY_SRC)
            }
        }
    }

    /// Presents the drawn frame. Returns true if there was a window to show it in.
    pub fn present(&mut self, device: &GpuDevice) -> bool {
        let PresentTarget::Window(surface) = self else { return false };
        let Some((texture, view)) = surface.acquired.take() else { return false };
        drop(view);
        device.queue.present(texture);
        true
    }
}

/// Returns the configuration of a surface, except its size, and the format of its views.
fn configuration(
    device: &GpuDevice,
    surface: &wgpu::Surface,
    vsync: Vsync,
) -> Result<(wgpu::SurfaceConfiguration, wgpu::TextureFormat), String> {
    use wgpu::TextureFormat::{Bgra8Unorm, Bgra8UnormSrgb, Rgba8Unorm, Rgba8UnormSrgb};
    let able = device.capabilities(surface);
    let wanted = [Rgba8UnormSrgb, Bgra8UnormSrgb, Rgba8Unorm, Bgra8Unorm];
    let found = wanted.into_iter().find(|format| able.formats.contains(format));
    let Some(format) = found else {
        let formats = &able.formats;
        return Err(format!("the window takes none of the formats {wanted:?}, only {formats:?}"));
    };
    let view_format = if device.surface_views() { format.add_srgb_suffix() } else { format };
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT;
    let config = wgpu::SurfaceConfiguration {
        usage: usage | (able.usages & wgpu::TextureUsages::COPY_SRC),
        format,
        color_space: wgpu::SurfaceColorSpace::Auto,
        width: 1,
        height: 1,
        present_mode: present_mode(vsync, &able.present_modes),
        // One frame at the display and one being drawn: more would only add latency.
        desired_maximum_frame_latency: 1,
        alpha_mode: wgpu::CompositeAlphaMode::Auto,
        view_formats: if view_format == format { Vec::new() } else { vec![view_format] },
    };
    Ok((config, view_format))
}

impl WindowSurface {
    /// Drops the acquired frame, and marks the surface as stale.
    fn renew(&mut self) {
        self.acquired = None;
        self.stale = true;
    }

    fn acquire(&mut self, device: &GpuDevice) -> Result<bool, String> {
        if self.acquired.is_some() {
            return Ok(true);
        }
        for _ in 0..TRIES {
            if self.size.0 == 0 || self.size.1 == 0 {
                return Ok(false);
            }
            if std::mem::take(&mut self.stale) {
                let most = device.info.texture_side_max;
                self.config.width = self.size.0.min(most);
                self.config.height = self.size.1.min(most);
                device.checked(|device| self.surface.configure(device, &self.config))?;
            }
            let texture = match self.surface.get_current_texture() {
                wgpu::CurrentSurfaceTexture::Success(texture) => texture,
                wgpu::CurrentSurfaceTexture::Suboptimal(texture) => {
                    self.stale = true;
                    texture
                }
                wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => {
                    return Ok(false);
                }
                wgpu::CurrentSurfaceTexture::Outdated => {
                    self.stale = true;
                    continue;
                }
                wgpu::CurrentSurfaceTexture::Lost | wgpu::CurrentSurfaceTexture::Validation
                    if device.is_lost_now() =>
                {
                    return Ok(false);
                }
                wgpu::CurrentSurfaceTexture::Lost => {
                    self.surface = device.recreate_surface(&self.window)?;
                    self.stale = true;
                    continue;
                }
                wgpu::CurrentSurfaceTexture::Validation => {
                    return Err("the window's surface cannot be drawn to".to_string());
                }
            };
            let view = texture.texture.create_view(&wgpu::TextureViewDescriptor {
                format: Some(self.view_format),
                ..Default::default()
            });
            self.acquired = Some((texture, view));
            return Ok(true);
        }
        Ok(false)
    }
}
