//! Surfaces of secondary windows: each is opened, acquired and presented like that of the main
//! window. A failure of one is reported, and the others continue. Draws nothing.

use super::device::GpuDevice;
use super::surface::PresentTarget;
use super::{RendererEvent, SurfaceWindow, Vsync};
use engine_frame_packet::{FramePacket, ViewTarget};
use std::sync::Arc;

/// A new window to draw to.
pub struct NewWindow {
    pub number: u64,
    pub window: Arc<dyn SurfaceWindow>,
    /// In pixels.
    pub size: (u32, u32),
    pub surface: wgpu::Surface<'static>,
}

/// All secondary windows, by their numbers.
#[derive(Default)]
pub struct SecondarySurfaces {
    all: Vec<(u64, PresentTarget)>,
}

/// Creates a window's surface on a device. Only the main window waits for the display, because one
/// wait per window would add up.
fn screen(
    device: &GpuDevice,
    window: Arc<dyn SurfaceWindow>,
    size: (u32, u32),
    surface: wgpu::Surface<'static>,
) -> Result<PresentTarget, String> {
    if !device.supports_surface(&surface) {
        return Err(format!("the adapter {} cannot draw to it", device.info.name));
    }
    PresentTarget::of_window(device, window, size, surface, Vsync::Never)
}

impl SecondarySurfaces {
    pub fn open(&mut self, device: &GpuDevice, new: NewWindow) -> Result<(), String> {
        let screen = screen(device, new.window, new.size, new.surface)?;
        self.all.push((new.number, screen));
        Ok(())
    }

    pub fn close(&mut self, number: u64) {
        self.all.retain(|(known, _)| *known != number);
    }

    pub fn resize(&mut self, device: &GpuDevice, number: u64, (width, height): (u32, u32)) {
        let found = self.all.iter_mut().find(|(known, _)| *known == number);
        if let Some((_, screen)) = found {
            screen.resize(device, width, height);
        }
    }

    pub fn screen(&self, number: u64) -> Option<&PresentTarget> {
        self.all.iter().find(|(known, _)| *known == number).map(|(_, screen)| screen)
    }

    /// Acquires the next frames of the windows that a packet's views show. A window that cannot be
    /// drawn to any more is removed and reported.
    pub fn acquire(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        events: &mut Vec<RendererEvent>,
    ) {
        self.all.retain_mut(|(number, screen)| {
            let target = ViewTarget::Window(*number);
            let is_drawn = packet.views.iter().any(|view| view.target == target);
            if !is_drawn || packet.scale_of(target).is_none() {
                return true;
            }
            match screen.acquire(device) {
                Err(message) if device.loss_reason().is_none() => {
                    events.push(RendererEvent::OtherWindowLost { window: *number, message });
                    false
                }
                Ok(_) | Err(_) => true,
            }
        });
    }

    /// Presents the drawn frames.
    pub fn present(&mut self, device: &GpuDevice) {
        for (_, screen) in &mut self.all {
            screen.present(device);
        }
    }

    /// Creates the surfaces again, on another device.
    pub fn restore(&mut self, device: &GpuDevice, events: &mut Vec<RendererEvent>) {
        for (number, old) in std::mem::take(&mut self.all) {
            let Some((window, size)) = old.window() else { continue };
            // A window has one surface at a time.
            drop(old);
            let surface = device.recreate_surface(&window);
            match surface.and_then(|surface| screen(device, window, size, surface)) {
                Ok(screen) => self.all.push((number, screen)),
                Err(message) => {
                    events.push(RendererEvent::OtherWindowLost { window: number, message })
                }
            }
        }
    }
}
