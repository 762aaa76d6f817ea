//! The captures of a frame: readbacks of its targets, and the capture of the frame with all of its
//! images.

use super::super::RendererEvent;
use super::super::frame_capture::{
    self, CaptureBudget, FrameCapture, FrameImageView, PendingImage,
};
use super::super::gui_encode::PassTarget;
use super::super::gui_passes::GuiPass;
use super::super::readback;
use super::super::view_encode::encode_view;
use super::FrameRenderer;
use engine_frame_packet::{FramePacket, ViewTarget};

/// A readback of a capture: its number, true for a screen, and the copy.
type CaptureCopy = (u64, bool, Result<readback::PendingReadback, String>);

impl FrameRenderer {
    pub(super) fn refuse_captures(&mut self, packet: &FramePacket) {
        for capture in &packet.captures {
            let message = "the frame could not be drawn, so there is no picture of it".to_string();
            self.events.push(RendererEvent::CaptureFailed { number: capture.number, message });
        }
    }

    /// Reads the pictures of captures.
    pub(super) fn end_readbacks(&mut self, frame: u64, copies: Vec<CaptureCopy>) {
        for (number, opaque, copy) in copies {
            let done = copy.and_then(|copy| readback::end(&self.device, &copy, opaque));
            self.events.push(match done {
                Ok(picture) => RendererEvent::Captured { number, frame, picture },
                Err(message) => RendererEvent::CaptureFailed { number, message },
            });
        }
    }

    /// Encodes the pictures of the images of a frame that is captured.
    pub(super) fn begin_frame_capture(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: &[GuiPass],
    ) -> Vec<PendingImage> {
        if self.passes.is_none() {
            return Vec::new();
        }
        let of_worlds = self.forward.as_ref().filter(|_| !self.scenes.plans.views.is_empty());
        let worlds = of_worlds.map_or(Vec::new(), |forward| forward.captured_images());
        let views = &self.scenes.plans.views;
        let packet_view = |index: usize| views[index].view;
        let mut budget = CaptureBudget::default();
        let worlds =
            worlds.into_iter().map(|it| FrameImageView { view: it.view.map(packet_view), ..it });
        let mut all: Vec<_> = worlds
            .chain(self.generators.captured_images())
            .map(|image| frame_capture::begin(&self.device, encoder, &image, &mut budget))
            .collect();
        for pass in passes.iter().filter(|pass| pass.is_first) {
            let Some((texture, image, _)) = self.target(pass.target) else { continue };
            if texture.usage().contains(wgpu::TextureUsages::TEXTURE_BINDING) {
                let (view, name) = (Some(pass.view), "target".to_string());
                let image = FrameImageView { view, name, image };
                all.push(frame_capture::begin(&self.device, encoder, &image, &mut budget));
            }
        }
        all
    }

    /// Reads the pictures of a captured frame.
    pub(super) fn end_frame_capture(&mut self, frame: u64, pending: Vec<PendingImage>) {
        let Some(passes) = self.passes.take() else { return };
        let images = pending.into_iter().map(|it| frame_capture::end(&self.device, it)).collect();
        let capture = Box::new(FrameCapture { frame, passes, images });
        self.events.push(RendererEvent::FrameCaptured(capture));
    }

    /// Encodes the readbacks of a packet's captures; a window that cannot be read is drawn again.
    pub(super) fn start_readbacks(
        &mut self,
        packet: &FramePacket,
        encoder: &mut wgpu::CommandEncoder,
        passes: &[GuiPass],
    ) -> Vec<CaptureCopy> {
        let mut copies = Vec::new();
        for capture in &packet.captures {
            let is_screen = capture.of == ViewTarget::Screen;
            let mut texture = self.pass_target(capture.of).map(|onto| onto.texture);
            if is_screen && !self.screen.readable() && texture.is_some() {
                texture = self.redraw_for_readback(encoder, passes);
            }
            let missing = match capture.of {
                ViewTarget::Screen | ViewTarget::Window(_) => {
                    "the window is not shown now, so there is no picture of it"
                }
                ViewTarget::Texture(_) => {
                    "the texture is not a render target, so nothing was drawn"
                }
            };
            let copy = match texture {
                Some(texture) => readback::begin(&self.device, encoder, &texture),
                None => Err(missing.to_string()),
            };
            copies.push((capture.number, is_screen, copy));
        }
        copies
    }

    /// Draws the screen's passes again, onto a texture that can be read.
    fn redraw_for_readback(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        passes: &[GuiPass],
    ) -> Option<wgpu::Texture> {
        let (screen_texture, _) = self.screen.target()?;
        let format = self.screen.format();
        let texture = readback::create_target(&self.device, screen_texture.size(), format);
        let view = texture.create_view(&Default::default());
        let onto = PassTarget { texture, view, format, slot: None };
        // The passes of a captured frame are noted already.
        let noted = self.passes.take();
        for pass in passes.iter().filter(|pass| pass.target == ViewTarget::Screen) {
            encode_view(&mut self.encode_context(), encoder, &onto, pass);
        }
        self.passes = noted;
        Some(onto.texture)
    }
}
