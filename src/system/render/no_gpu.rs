//! The renderers of executables for servers, which have no graphics interface: none can be started.
//! It has the interface of frame_renderer.rs and thread.rs, with types that have no values.

use super::frame_renderer::RenderCommand;
use super::{AdapterInfo, FrameStatistics, RendererEvent, RendererOptions};
use engine_foundation::{Error, error};
use engine_frame_packet::FramePacket;
use std::time::Duration;

/// A renderer of frames, which cannot be started.
pub enum FrameRenderer {}

impl FrameRenderer {
    /// Returns an error.
    pub fn start(_: &RendererOptions) -> Result<FrameRenderer, Error> {
        Err(error!(
            "this executable of the engine is for servers and has no renderer: draw with the \
             executable for players, or use --renderer null, which draws nothing"
        ))
    }

    pub fn adapter(&self) -> AdapterInfo {
        match *self {}
    }

    pub fn is_hung(&self) -> bool {
        match *self {}
    }

    pub fn take_events(&mut self) -> Vec<RendererEvent> {
        match *self {}
    }

    pub fn statistics(&self) -> &FrameStatistics {
        match *self {}
    }

    pub fn command(&mut self, _: RenderCommand) {
        match *self {}
    }

    pub fn packet(&mut self, _: &FramePacket) {
        match *self {}
    }
}

/// A render thread, which cannot be started.
pub enum RenderThread {}

impl RenderThread {
    pub fn start(
        renderer: FrameRenderer,
        _: bool,
        _: Option<Duration>,
    ) -> std::io::Result<RenderThread> {
        match renderer {}
    }

    pub fn submit(&self, _: FramePacket) -> FramePacket {
        match *self {}
    }

    pub fn command(&self, _: RenderCommand) {
        match *self {}
    }

    pub fn events(&self) -> Vec<RendererEvent> {
        match *self {}
    }

    pub fn statistics(&self) -> FrameStatistics {
        match *self {}
    }

    pub fn finish(&self) {
        match *self {}
    }
}
