//! The passes of generators: each is a triangle over its output. Inputs are copied first where an
//! image cannot be read directly. Decides nothing about their order (view_encode.rs).

use super::super::RendererEvent;
use super::super::device::GpuDevice;
use super::super::frame_capture::FrameImageView;
use super::super::gpu_timing::GpuTiming;
use super::super::gui_encode::PassTarget;
use super::super::gui_passes::GuiPass;
use super::super::scene::SceneUniform;
use super::config_state::{ConfigState, OutputKind, texture_format};
use super::resolve::{DEPTH_COPY, LIGHT_COPY};
use super::target_pool::{PoolKey, PoolUse, PooledTexture};
use super::uniforms::PassUniform;
use super::{GeneratorRenderer, SharedParts};
use engine_foundation::Mat4;
use engine_resource::render_config_data::FrameImage;
use std::sync::Arc;

/// The images of a view's world.
#[derive(Clone, Copy)]
pub struct WorldImages<'a> {
    /// The light that generators read, and the light that they draw onto; each with its number of
    /// samples per pixel.
    pub light: (&'a wgpu::TextureView, u32),
    pub drawn_light: (&'a wgpu::TextureView, u32),
    pub depth: (&'a wgpu::TextureView, u32),
    pub uniform: &'a SceneUniform,
}

/// Inputs of the encoding of a view's generators.
pub struct GeneratorPass<'a, 'e> {
    pub device: &'a GpuDevice,
    pub encoder: &'e mut wgpu::CommandEncoder,
    pub timing: &'a mut Option<GpuTiming>,
    pub events: &'a mut Vec<RendererEvent>,
    pub onto: &'a PassTarget,
    pub pass: &'a GuiPass,
    pub world: Option<WorldImages<'a>>,
}

/// The images of the view that is encoded.
#[derive(Default)]
pub struct ViewState {
    /// True if the copy of light and of depth is up to date.
    has_light: bool,
    has_depth: bool,
    /// True if screen-space effects have changed the light.
    is_light_resolved: bool,
    /// True for each target that has been drawn in this view.
    drawn: Vec<bool>,
}

/// An output: the image, its size, and the rectangle that is drawn.
struct Output {
    view: wgpu::TextureView,
    kind: OutputKind,
    /// Offset and size in pixels.
    rectangle: [u32; 4],
    load: wgpu::LoadOp<wgpu::Color>,
}

const CLEARED: wgpu::LoadOp<wgpu::Color> = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);

impl GeneratorRenderer {
    /// Begins the first pass of a view.
    pub fn begin_view(&mut self, view: usize) {
        let targets = self.views.get(view).copied().flatten();
        let state = targets.and_then(|(config, _)| self.configs[config].state.as_ref());
        let count = state.map_or(0, |state| state.data.targets.len());
        self.view = ViewState { drawn: vec![false; count], ..ViewState::default() };
    }

    /// Reports that the engine has drawn onto the light or the depth of the view. `resolves`: by
    /// screen-space effects, which leave light with one sample per pixel.
    pub fn world_changed(&mut self, resolves: bool) {
        (self.view.has_light, self.view.has_depth) = (false, false);
        self.view.is_light_resolved |= resolves;
    }

    /// Returns true if screen-space effects have changed the light of the view.
    pub fn is_light_resolved(&self) -> bool {
        self.view.is_light_resolved
    }

    /// Returns true if a generator reads or draws onto the target of the view.
    pub fn uses_target(&self, view: usize, generator: u32) -> bool {
        let Some(state) = self.state_of(view) else { return false };
        let generator = &state.data.generators[generator as usize];
        let is_target = |image: FrameImage| image == FrameImage::Target;
        is_target(generator.output) || generator.inputs.iter().any(|it| is_target(it.image))
    }

    /// Returns the name of a view's generator, as captures and measurements have it.
    pub fn name_of(&self, view: usize, generator: u32) -> String {
        let found = self.state_of(view);
        let found = found.map(|state| &state.data.generators[generator as usize].name[..]);
        format!("generator {}", found.unwrap_or_default())
    }

    /// Returns the images that generators have drawn onto or read in the frame. Views share them.
    pub fn captured_images(&self) -> Vec<FrameImageView<'_>> {
        let used = self.pool.used().into_iter();
        let named = used.map(|(key, texture)| {
            let name = match key.purpose {
                PoolUse::Own(number) => format!("generator target {}", number + 1),
                PoolUse::Light => "generator light".to_string(),
                PoolUse::Depth => "generator depth".to_string(),
                PoolUse::Target => "generator copy of the target".to_string(),
            };
            FrameImageView { view: None, name, image: &texture.view }
        });
        named.collect()
    }

    fn state_of(&self, view: usize) -> Option<&ConfigState> {
        let (config, _) = (*self.views.get(view)?)?;
        self.configs[config].state.as_ref()
    }

    /// Encodes a generator of a view.
    pub fn encode(&mut self, index: u32, context: &mut GeneratorPass) {
        let found = self.views.get(context.pass.view).copied().flatten();
        if let Some(viewport) = found {
            self.encode_for(viewport, index, context);
        }
    }

    /// Encodes a generator for a viewport of a config.
    pub fn encode_for(
        &mut self,
        (config, viewport): (usize, usize),
        index: u32,
        context: &mut GeneratorPass,
    ) {
        let [_, _, width, height] = context.pass.rectangle;
        let index = index as usize;
        let Some(state) = self.configs[config].state.as_ref() else { return };
        if width == 0 || height == 0 {
            return;
        }
        let generator = &state.data.generators[index];
        let is_on = |setting: &u32| state.settings[*setting as usize] != 0.0;
        if !generator.condition.as_ref().is_none_or(is_on) {
            return;
        }
        let is_of_world = |image| matches!(image, FrameImage::Light | FrameImage::Depth);
        let mut images = generator.inputs.iter().map(|input| input.image);
        let needs_world = is_of_world(generator.output) || images.any(is_of_world);
        if needs_world && context.world.is_none() {
            return;
        }
        let Some(inputs) = self.inputs((config, viewport, index), context) else { return };
        let output = self.output((config, viewport, index), context);
        self.draw((config, index), context, &inputs, &output);
    }

    /// Returns the textures of a generator's inputs, each with true if it is sampled without
    /// interpolation; `None`: one cannot be read.
    fn inputs(
        &mut self,
        (config, viewport, index): (usize, usize, usize),
        context: &mut GeneratorPass,
    ) -> Option<Vec<(PooledTexture, bool)>> {
        let data = Arc::clone(&self.configs[config].state.as_ref()?.data);
        let generator = &data.generators[index];
        let mut found = Vec::with_capacity(generator.inputs.len());
        for input in &generator.inputs {
            let texture = match input.image {
                FrameImage::Light => self.world_copy(context, false)?,
                FrameImage::Depth => self.world_copy(context, true)?,
                FrameImage::Target => self.target_copy(context)?,
                FrameImage::Own(target) => {
                    let texture = self.own((config, viewport, target), context)?;
                    // A generator that is off has drawn nothing onto it.
                    if !std::mem::replace(&mut self.view.drawn[target as usize], true) {
                        clear(context, &texture);
                    }
                    texture
                }
            };
            found.push((texture, input.nearest));
        }
        Some(found)
    }

    /// Returns the texture of a target.
    fn own(
        &mut self,
        (config, viewport, target): (usize, usize, u32),
        context: &mut GeneratorPass,
    ) -> Option<PooledTexture> {
        let state = self.configs[config].state.as_ref()?;
        let row = &state.data.targets[target as usize];
        let number = state.plans[viewport].textures[target as usize]?;
        let [_, _, width, height] = context.pass.rectangle;
        let (width, height) = row.size.texels((width, height));
        let most = context.device.info.texture_side_max;
        if width.max(height) > most && !std::mem::replace(&mut self.size_reported, true) {
            let name = self.configs[config].frame.name.clone();
            let message = format!(
                "the resource '{}' would be {width} x {height} texels, and the adapter has at most \
                 {most} on each side: it is smaller",
                row.name
            );
            context.events.push(RendererEvent::RenderConfigFailed { name, message });
        }
        let key = PoolKey {
            size: (width.clamp(1, most), height.clamp(1, most)),
            format: texture_format(row.format),
            purpose: PoolUse::Own(number),
        };
        Some(self.pool.get(context.device, key))
    }

    /// Returns the copy of the view's light or depth with one sample per pixel.
    fn world_copy(&mut self, context: &mut GeneratorPass, is_depth: bool) -> Option<PooledTexture> {
        let world = context.world?;
        let [_, _, width, height] = context.pass.rectangle;
        let (format, purpose) = match is_depth {
            true => (DEPTH_COPY, PoolUse::Depth),
            false => (LIGHT_COPY, PoolUse::Light),
        };
        let key = PoolKey { size: (width, height), format, purpose };
        let texture = self.pool.get(context.device, key);
        let is_known = if is_depth { &mut self.view.has_depth } else { &mut self.view.has_light };
        if !std::mem::replace(is_known, true) {
            let shared = self.shared.as_mut()?;
            let (source, samples) = if is_depth { world.depth } else { world.light };
            let resolve = shared.resolve_of(context.device, samples);
            let name = if is_depth { "copy of depth" } else { "copy of light" };
            let timing = context.timing.as_mut().and_then(|it| it.pass(name.to_string()));
            resolve.encode(context.device, context.encoder, source, &texture, (is_depth, timing));
        }
        Some(texture)
    }

    /// Returns a copy of the view's part of its target; `None`: the target cannot be copied.
    fn target_copy(&mut self, context: &mut GeneratorPass) -> Option<PooledTexture> {
        let source = &context.onto.texture;
        if !source.usage().contains(wgpu::TextureUsages::COPY_SRC) {
            if !std::mem::replace(&mut self.unreadable_reported, true) {
                let message = "the window's image cannot be read through this graphics interface: \
                               generators that read 'target' are left out"
                    .to_string();
                context.events.push(RendererEvent::Fault { message });
            }
            return None;
        }
        let [x, y, width, height] = context.pass.rectangle;
        // The texels are read as linear light, whatever the target's views do.
        let format = source.format().add_srgb_suffix();
        let key = PoolKey { size: (width, height), format, purpose: PoolUse::Target };
        let texture = self.pool.get(context.device, key);
        let from = wgpu::TexelCopyTextureInfo {
            texture: source,
            mip_level: 0,
            origin: wgpu::Origin3d { x, y, z: 0 },
            aspect: wgpu::TextureAspect::All,
        };
        let to = texture.texture.as_image_copy();
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        context.encoder.copy_texture_to_texture(from, to, size);
        Some(texture)
    }

    /// Returns the output of a generator.
    fn output(
        &mut self,
        (config, viewport, index): (usize, usize, usize),
        context: &mut GeneratorPass,
    ) -> Option<Output> {
        let output = self.configs[config].state.as_ref()?.data.generators[index].output;
        let rectangle = context.pass.rectangle;
        let load = wgpu::LoadOp::Load;
        match output {
            FrameImage::Target => {
                let (view, kind) = (context.onto.view.clone(), (context.onto.format, 1));
                Some(Output { view, kind, rectangle, load })
            }
            FrameImage::Light | FrameImage::Depth => {
                let world = context.world?;
                let [_, _, width, height] = rectangle;
                self.view.has_light = false;
                let (light, samples) = world.drawn_light;
                let (view, kind) = (light.clone(), (LIGHT_COPY, samples));
                Some(Output { view, kind, rectangle: [0, 0, width, height], load })
            }
            FrameImage::Own(target) => {
                let texture = self.own((config, viewport, target), context)?;
                let is_drawn = std::mem::replace(&mut self.view.drawn[target as usize], true);
                let size = texture.texture.size();
                Some(Output {
                    view: texture.view,
                    kind: (texture.texture.format(), 1),
                    rectangle: [0, 0, size.width, size.height],
                    load: if is_drawn { load } else { CLEARED },
                })
            }
        }
    }

    /// Encodes the pass.
    fn draw(
        &mut self,
        (config, index): (usize, usize),
        context: &mut GeneratorPass,
        inputs: &[(PooledTexture, bool)],
        output: &Option<Output>,
    ) {
        let (Some(output), Some(shared)) = (output, &mut self.shared) else { return };
        let SharedParts { uniforms, samplers, .. } = shared;
        let active = &mut self.configs[config];
        let Some(state) = &mut active.state else { return };
        let (generator, device) = (&state.data.generators[index], context.device);
        let own = &mut state.generators[index];
        if let Err(message) = own.ensure_pipeline(device, generator, output.kind) {
            let name = active.frame.name.clone();
            let message = format!("{}: {message}", generator.shader);
            context.events.push(RendererEvent::RenderConfigFailed { name, message });
        }
        let group = own.group(device, inputs, samplers).cloned();
        let Some(pipeline) = own.pipeline(output.kind) else { return };
        let [x, y, width, height] = output.rectangle;
        let uniform = pass_uniform(context, output.rectangle);
        let (frame, offset) = uniforms.push(device, uniform);
        let name = || format!("generator {}", generator.name);
        let timestamp_writes = context.timing.as_mut().and_then(|it| it.pass(name()));
        let mut to = context.encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(&generator.name),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &output.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: output.load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: None,
            timestamp_writes,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        to.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        to.set_scissor_rect(x, y, width, height);
        to.set_pipeline(pipeline);
        to.set_bind_group(0, frame, &[offset]);
        if let Some(group) = &group {
            to.set_bind_group(super::super::shader::MATERIAL_GROUP, group, &[]);
        }
        to.draw(0..3, 0..1);
        self.passes += 1;
    }
}

/// Clears a texture that no generator has drawn onto in this view.
fn clear(context: &mut GeneratorPass, texture: &PooledTexture) {
    drop(context.encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("cleared"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &texture.view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: CLEARED, store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    }));
}

fn pass_uniform(context: &GeneratorPass, rectangle: [u32; 4]) -> PassUniform {
    let [x, y, width, height] = rectangle.map(|side| side as f32);
    let [_, _, view_width, view_height] = context.pass.rectangle.map(|side| side as f32);
    let identity = Mat4::IDENTITY.to_cols_array_2d();
    let xyz = |[x, y, z, _]: [f32; 4]| [x, y, z];
    let world = context.world.map(|world| world.uniform);
    PassUniform {
        to_clip: world.map_or(identity, |world| world.to_clip),
        from_clip: world.map_or(identity, |world| world.from_clip),
        camera_position: world.map_or([0.0; 3], |world| xyz(world.eye)),
        exposure: world.map_or(1.0, |world| world.top[3]),
        camera_direction: world.map_or([0.0; 3], |world| xyz(world.ahead)),
        seconds: context.pass.seconds,
        target_size: [width, height],
        view_size: [view_width, view_height],
        offset: [x, y],
        scale: context.pass.scale,
        spare: 0.0,
    }
}
