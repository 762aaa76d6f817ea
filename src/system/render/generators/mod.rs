//! The generators of render configs: full-screen passes of games, which run between the engine's
//! passes of a view. This module keeps the configs of the packets on the adapter: a config that the
//! adapter refuses is reported, and the one before it stays. encode.rs runs the passes. Nothing is
//! created before the first packet with a config.

mod config_state;
mod encode;
pub mod frame_plan;
mod resolve;
mod runs;
mod target_pool;
#[cfg(test)]
mod tests;
mod uniforms;

pub use encode::{GeneratorPass, WorldImages};

use super::device::GpuDevice;
use super::forward::ForwardRenderer;
use super::{FrameStatistics, RenderQuality, RendererEvent};
use config_state::{ConfigState, OutputKind, texture_format};
use encode::ViewState;
use engine_frame_packet::FramePacket;
use engine_frame_packet::render_config::RenderConfigFrame;
use engine_resource::render_config_data::{FrameImage, RenderConfigData};
use frame_plan::FramePlan;
use resolve::{LIGHT_COPY, ResolvePipelines};
use std::sync::Arc;
use target_pool::TargetPool;
use uniforms::PassUniforms;

/// A config of the packets.
struct ActiveConfig {
    /// The config as the packets have it, and on the adapter; `None`: the adapter has accepted no
    /// config with this name, and views are drawn by the engine's own frame.
    frame: RenderConfigFrame,
    state: Option<ConfigState>,
}

/// Uniforms, samplers and pipelines that all configs share.
struct SharedParts {
    uniforms: PassUniforms,
    /// Samplers that interpolate, and that do not.
    samplers: [wgpu::Sampler; 2],
    /// One for each number of samples per pixel.
    resolves: Vec<ResolvePipelines>,
}

/// All generators.
#[derive(Default)]
pub struct GeneratorRenderer {
    shared: Option<SharedParts>,
    configs: Vec<ActiveConfig>,
    /// The config and the viewport of each view of the packet.
    views: Vec<Option<(usize, usize)>>,
    pool: TargetPool,
    view: ViewState,
    /// Passes of the frame so far.
    passes: u32,
    /// True if it was reported that a target cannot be read, and that one is too large.
    unreadable_reported: bool,
    size_reported: bool,
}

/// The formats that generators draw onto, apart from their own targets.
#[derive(Clone, Copy)]
pub struct OutputFormats {
    pub screen: wgpu::TextureFormat,
    /// Samples per pixel of worlds.
    pub samples: u32,
}

impl OutputFormats {
    pub fn new(
        device: &GpuDevice,
        screen: wgpu::TextureFormat,
        quality: &RenderQuality,
    ) -> OutputFormats {
        OutputFormats { screen, samples: ForwardRenderer::usable_samples(device, quality.samples) }
    }

    fn of(self, data: &RenderConfigData, image: FrameImage) -> OutputKind {
        match image {
            FrameImage::Light | FrameImage::Depth => (LIGHT_COPY, self.samples),
            FrameImage::Target => (self.screen, 1),
            FrameImage::Own(index) => (texture_format(data.targets[index as usize].format), 1),
        }
    }
}

impl SharedParts {
    fn new(device: &GpuDevice) -> SharedParts {
        let sampler = |filter| {
            device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("generator"),
                mag_filter: filter,
                min_filter: filter,
                ..Default::default()
            })
        };
        SharedParts {
            uniforms: PassUniforms::new(device),
            samplers: [sampler(wgpu::FilterMode::Linear), sampler(wgpu::FilterMode::Nearest)],
            resolves: Vec::new(),
        }
    }

    fn resolve_of(&mut self, device: &GpuDevice, samples: u32) -> &ResolvePipelines {
        let known = self.resolves.iter().position(|resolve| resolve.samples == samples);
        let index = known.unwrap_or_else(|| {
            self.resolves.push(ResolvePipelines::new(device, samples));
            self.resolves.len() - 1
        });
        &self.resolves[index]
    }
}

impl GeneratorRenderer {
    /// Takes over the configs and settings of a packet.
    pub fn apply(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        formats: OutputFormats,
        events: &mut Vec<RendererEvent>,
    ) {
        let names = |name: &str| packet.render_configs.iter().any(|frame| frame.name == name);
        self.configs.retain(|config| names(&config.frame.name));
        if packet.render_configs.is_empty() {
            self.shared = None;
        }
        for frame in &packet.render_configs {
            self.apply_config(device, frame, formats, events);
        }
        self.views.clear();
        let views = packet.views.iter().map(|view| {
            let (frame, viewport) = packet.viewport_of(view)?;
            let index = self.configs.iter().position(|it| it.frame.name == frame.name)?;
            let data = &self.configs[index].state.as_ref()?.data;
            // After a refused change, the viewport may have another index.
            Some((index, data.viewport(&viewport.name)?))
        });
        self.views.extend(views);
    }

    fn apply_config(
        &mut self,
        device: &GpuDevice,
        frame: &RenderConfigFrame,
        formats: OutputFormats,
        events: &mut Vec<RendererEvent>,
    ) {
        let found = self.configs.iter().position(|config| config.frame.name == frame.name);
        let is_same = |index: usize| Arc::ptr_eq(&self.configs[index].frame.data, &frame.data);
        let index = match found {
            Some(index) if is_same(index) => index,
            _ => {
                let shared = self.shared.get_or_insert_with(|| SharedParts::new(device));
                let outputs = |data: &RenderConfigData, image| formats.of(data, image);
                let created = ConfigState::new(device, &shared.uniforms.layout, frame, outputs);
                let state = created.map_err(|message| {
                    let name = frame.name.clone();
                    events.push(RendererEvent::RenderConfigFailed { name, message });
                });
                let config = ActiveConfig { frame: frame.clone(), state: None };
                let index = found.unwrap_or_else(|| {
                    self.configs.push(config);
                    self.configs.len() - 1
                });
                let config = &mut self.configs[index];
                config.frame = frame.clone();
                if let Ok(state) = state {
                    config.state = Some(state);
                }
                index
            }
        };
        let config = &mut self.configs[index];
        if let Some(state) = &mut config.state {
            state.set(device, frame);
        }
    }

    /// Creates the same configs on another device.
    pub fn restore(
        &mut self,
        device: &GpuDevice,
        formats: OutputFormats,
        events: &mut Vec<RendererEvent>,
    ) {
        let old = std::mem::take(self);
        for config in old.configs {
            // The state may be that of an older config.
            let data = config.state.map_or(config.frame.data, |state| state.data);
            let frame = RenderConfigFrame { data, ..config.frame };
            self.apply_config(device, &frame, formats, events);
        }
        self.views = old.views;
    }

    /// Returns the plan of a view of the packet; `None`: the engine's own frame.
    pub fn plan(&self, view: usize) -> Option<&FramePlan> {
        let (config, viewport) = (*self.views.get(view)?)?;
        Some(&self.configs[config].state.as_ref()?.plans[viewport])
    }

    /// Copies the uniforms of the frame's passes, which are about to be submitted, and drops what
    /// is not used any more.
    pub fn end_frame(&mut self, device: &GpuDevice, statistics: &mut FrameStatistics) {
        if let Some(shared) = &mut self.shared {
            shared.uniforms.write(device);
        }
        if self.pool.end_frame() {
            let states = self.configs.iter_mut().filter_map(|config| config.state.as_mut());
            states.for_each(ConfigState::drop_groups);
        }
        statistics.draw_calls += std::mem::take(&mut self.passes);
        statistics.generator_textures = self.pool.len() as u32;
        statistics.generator_bytes = self.pool.bytes();
    }
}
