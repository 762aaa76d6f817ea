//! The screen: a window's surface, or a picture where there is no window. Configures, acquires,
//! presents; draws nothing.

use super::device::Device;
use super::textures::TARGET_FORMAT;
use super::{Output, Vsync, Window};
use std::sync::Arc;

/// How often a surface that says it is out of date is tried for one picture.
const TRIES: usize = 3;

/// Where the screen's picture goes.
pub enum Screen {
    Window(Box<Surface>),
    Picture { texture: wgpu::Texture, view: wgpu::TextureView },
}

/// A window's surface.
pub struct Surface {
    /// Ends before the surface that it is of.
    acquired: Option<(wgpu::SurfaceTexture, wgpu::TextureView)>,
    window: Arc<dyn Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// The size that the window has; 0: it is not drawn to.
    size: (u32, u32),
    vsync: Vsync,
    /// Must be configured before the next picture.
    stale: bool,
    /// How it is drawn to; differs from the configured one where only views are sRGB.
    view_format: wgpu::TextureFormat,
}

fn picture(device: &Device, width: u32, height: u32) -> Screen {
    let most = device.about.texture_side_max;
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
    Screen::Picture { texture, view }
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

impl Screen {
    pub fn new(
        device: &Device,
        output: &Output,
        surface: Option<wgpu::Surface<'static>>,
        vsync: Vsync,
    ) -> Result<Screen, String> {
        let (window, size) = match output {
            Output::Offscreen { width, height } => return Ok(picture(device, *width, *height)),
            Output::Window { window, width, height, .. } => (Arc::clone(window), (*width, *height)),
        };
        let surface = surface.expect("a window's device was opened for its surface");
        Screen::of_window(device, window, size, surface, vsync)
    }

    /// That of a window, whose size is in pixels.
    pub fn of_window(
        device: &Device,
        window: Arc<dyn Window>,
        size: (u32, u32),
        surface: wgpu::Surface<'static>,
        vsync: Vsync,
    ) -> Result<Screen, String> {
        let (config, view_format) = configuration(device, &surface, vsync)?;
        Ok(Screen::Window(Box::new(Surface {
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

    /// The window that it is, and its size in pixels.
    pub fn window(&self) -> Option<(Arc<dyn Window>, (u32, u32))> {
        match self {
            Screen::Window(surface) => Some((Arc::clone(&surface.window), surface.size)),
            Screen::Picture { .. } => None,
        }
    }

    /// How pictures of the screen are stored.
    pub fn format(&self) -> wgpu::TextureFormat {
        match self {
            Screen::Window(surface) => surface.view_format,
            Screen::Picture { .. } => TARGET_FORMAT,
        }
    }

    pub fn resize(&mut self, device: &Device, width: u32, height: u32) {
        match self {
            Screen::Window(surface) => {
                if surface.size != (width, height) {
                    surface.size = (width, height);
                    surface.renew();
                }
            }
            Screen::Picture { texture, .. } => {
                if (texture.width(), texture.height()) != (width, height) {
                    *self = picture(device, width, height);
                }
            }
        }
    }

    pub fn set_vsync(&mut self, device: &Device, vsync: Vsync) {
        if let Screen::Window(surface) = self
            && surface.vsync != vsync
        {
            surface.vsync = vsync;
            let modes = device.capabilities(&surface.surface).present_modes;
            surface.config.present_mode = present_mode(vsync, &modes);
            surface.renew();
        }
    }

    /// Gets hold of the next picture, waiting for the display. False: nothing can be shown now.
    /// Fails when nothing can be shown ever again.
    pub fn acquire(&mut self, device: &Device) -> Result<bool, String> {
        match self {
            Screen::Picture { .. } => Ok(true),
            Screen::Window(surface) => surface.acquire(device),
        }
    }

    /// What is drawn to, once acquired: the texture and its view.
    pub fn target(&self) -> Option<(&wgpu::Texture, &wgpu::TextureView)> {
        match self {
            Screen::Picture { texture, view } => Some((texture, view)),
            Screen::Window(surface) => {
                surface.acquired.as_ref().map(|(texture, view)| (&texture.texture, view))
            }
        }
    }

    /// Whether pictures can be copied from it.
    pub fn readable(&self) -> bool {
        match self {
            Screen::Picture { .. } => true,
            Screen::Window(surface) => surface.config.usage.contains(wgpu::TextureUsages::COPY_SRC),
        }
    }

    /// Shows what was drawn. True if there was a window to show it in.
    pub fn present(&mut self, device: &Device) -> bool {
        let Screen::Window(surface) = self else { return false };
        let Some((texture, view)) = surface.acquired.take() else { return false };
        drop(view);
        device.queue.present(texture);
        true
    }
}

/// What a surface is configured as, but for its size, and the format of its views.
fn configuration(
    device: &Device,
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
        // One picture at the display and one being drawn: more would only add latency.
        desired_maximum_frame_latency: 1,
        alpha_mode: wgpu::CompositeAlphaMode::Auto,
        view_formats: if view_format == format { Vec::new() } else { vec![view_format] },
    };
    Ok((config, view_format))
}

impl Surface {
    /// What was acquired is of no use any more.
    fn renew(&mut self) {
        self.acquired = None;
        self.stale = true;
    }

    fn acquire(&mut self, device: &Device) -> Result<bool, String> {
        if self.acquired.is_some() {
            return Ok(true);
        }
        for _ in 0..TRIES {
            if self.size.0 == 0 || self.size.1 == 0 {
                return Ok(false);
            }
            if std::mem::take(&mut self.stale) {
                let most = device.about.texture_side_max;
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
                    self.surface = device.surface_anew(&self.window)?;
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
