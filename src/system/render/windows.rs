//! The windows beside the main one: a surface for each, opened, acquired and shown as that of the
//! main one is. What fails with one is told, and the others go on. Draws nothing.

use super::device::Device;
use super::screen::Screen;
use super::{Event, Vsync, Window};
use crate::packet::{Packet, Target};
use std::sync::Arc;

/// A window that is to be drawn to from now on.
pub struct NewWindow {
    pub number: u64,
    pub window: Arc<dyn Window>,
    /// In pixels.
    pub size: (u32, u32),
    pub surface: wgpu::Surface<'static>,
}

/// All of them, by their numbers.
#[derive(Default)]
pub struct Others {
    all: Vec<(u64, Screen)>,
}

/// Its surface on a device. The main window alone waits for the display: one wait for each window
/// would add up.
fn screen(
    device: &Device,
    window: Arc<dyn Window>,
    size: (u32, u32),
    surface: wgpu::Surface<'static>,
) -> Result<Screen, String> {
    if !device.shows_in(&surface) {
        return Err(format!("the adapter {} cannot draw to it", device.about.name));
    }
    Screen::of_window(device, window, size, surface, Vsync::Never)
}

impl Others {
    pub fn open(&mut self, device: &Device, new: NewWindow) -> Result<(), String> {
        let screen = screen(device, new.window, new.size, new.surface)?;
        self.all.push((new.number, screen));
        Ok(())
    }

    pub fn close(&mut self, number: u64) {
        self.all.retain(|(known, _)| *known != number);
    }

    pub fn resize(&mut self, device: &Device, number: u64, (width, height): (u32, u32)) {
        let found = self.all.iter_mut().find(|(known, _)| *known == number);
        if let Some((_, screen)) = found {
            screen.resize(device, width, height);
        }
    }

    pub fn screen(&self, number: u64) -> Option<&Screen> {
        self.all.iter().find(|(known, _)| *known == number).map(|(_, screen)| screen)
    }

    /// Gets hold of the next pictures of those that a packet's views are shown in. One that nothing
    /// can be shown in ever again is gone, which is told.
    pub fn acquire(&mut self, device: &Device, packet: &Packet, events: &mut Vec<Event>) {
        self.all.retain_mut(|(number, screen)| {
            let target = Target::Window(*number);
            let shows = packet.views.iter().any(|view| view.target == target);
            if !shows || packet.scale_of(target).is_none() {
                return true;
            }
            match screen.acquire(device) {
                Err(words) if device.lost().is_none() => {
                    events.push(Event::OtherWindowLost { window: *number, words });
                    false
                }
                Ok(_) | Err(_) => true,
            }
        });
    }

    /// Shows what was drawn.
    pub fn present(&mut self, device: &Device) {
        for (_, screen) in &mut self.all {
            screen.present(device);
        }
    }

    /// Makes the surfaces anew, on another device.
    pub fn restore(&mut self, device: &Device, events: &mut Vec<Event>) {
        for (number, old) in std::mem::take(&mut self.all) {
            let Some((window, size)) = old.window() else { continue };
            // A window has one surface at a time.
            drop(old);
            let surface = device.surface_anew(&window);
            match surface.and_then(|surface| screen(device, window, size, surface)) {
                Ok(screen) => self.all.push((number, screen)),
                Err(words) => events.push(Event::OtherWindowLost { window: number, words }),
            }
        }
    }
}
