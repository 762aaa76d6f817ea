//! A render config on the adapter: the shaders, pipelines, variables and bind groups of its
//! generators. Encodes no passes.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::blend_state;
use super::super::shader::{MATERIAL_GROUP, VARIABLES, sampler_binding, texture_binding};
use super::super::textures::entry;
use super::frame_plan::FramePlan;
use super::target_pool::PooledTexture;
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::render_config::RenderConfigFrame;
use engine_resource::render_config_data::{
    FrameImage, Generator, RenderConfigData, TargetFormat, TargetSize,
};
use std::sync::Arc;

/// Number of bind groups of a generator that are kept: one for each combination of input textures.
const GROUPS_MAX: usize = 16;

/// The format and the number of samples that a pipeline draws onto.
pub type OutputKind = (wgpu::TextureFormat, u32);

/// A generator on the adapter.
pub struct GeneratorState {
    module: wgpu::ShaderModule,
    layout: Option<wgpu::BindGroupLayout>,
    pipeline_layout: wgpu::PipelineLayout,
    pipelines: Vec<(OutputKind, Option<wgpu::RenderPipeline>)>,
    variables: Option<wgpu::Buffer>,
    /// The bytes in `variables`.
    written: Vec<u8>,
    groups: Vec<(Vec<u64>, wgpu::BindGroup)>,
}

/// A config on the adapter.
pub struct ConfigState {
    pub data: Arc<RenderConfigData>,
    pub plans: Vec<FramePlan>,
    pub generators: Vec<GeneratorState>,
    /// Values of the settings.
    pub settings: Vec<f32>,
}

/// Returns the format of a target on the adapter.
pub fn texture_format(format: TargetFormat) -> wgpu::TextureFormat {
    match format {
        TargetFormat::R8 => wgpu::TextureFormat::R8Unorm,
        TargetFormat::Rg8 => wgpu::TextureFormat::Rg8Unorm,
        TargetFormat::Rgba8 => wgpu::TextureFormat::Rgba8Unorm,
        TargetFormat::Rgba8Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
        TargetFormat::R16f => wgpu::TextureFormat::R16Float,
        TargetFormat::Rg16f => wgpu::TextureFormat::Rg16Float,
        TargetFormat::Rgba16f => wgpu::TextureFormat::Rgba16Float,
        TargetFormat::R32f => wgpu::TextureFormat::R32Float,
    }
}

/// Checks that the adapter can draw onto the targets of a config.
fn check_targets(device: &GpuDevice, data: &RenderConfigData) -> Result<(), String> {
    let (name, most) = (&device.info.name, device.info.texture_side_max);
    for target in &data.targets {
        if let TargetSize::Fixed(width, height) = target.size
            && width.max(height) > most
        {
            return Err(format!(
                "the resource '{}' is {width} x {height} texels, and the adapter {name} has at \
                 most {most} on each side",
                target.name
            ));
        }
        if !device.draws_onto_format(texture_format(target.format)) {
            let format = target.format.name();
            return Err(format!(
                "the adapter {name} cannot draw onto the format {format} of the resource '{}'",
                target.name
            ));
        }
    }
    Ok(())
}

impl ConfigState {
    /// Creates the state of a config; `pass` is the layout of group 0. Returns an error if the
    /// adapter refuses a shader or a target.
    pub fn new(
        device: &GpuDevice,
        pass: &wgpu::BindGroupLayout,
        frame: &RenderConfigFrame,
        outputs: impl Fn(&RenderConfigData, FrameImage) -> OutputKind,
    ) -> Result<ConfigState, String> {
        let data = &frame.data;
        check_targets(device, data)?;
        let mut generators = Vec::with_capacity(data.generators.len());
        for generator in &data.generators {
            let state = GeneratorState::new(device, pass, data, generator);
            let with_name = |message| format!("{}: {message}", generator.shader);
            let mut state = state.map_err(with_name)?;
            let output = outputs(data, generator.output);
            state.ensure_pipeline(device, generator, output).map_err(with_name)?;
            generators.push(state);
        }
        let plans = (0..data.viewports.len()).map(|index| FramePlan::new(data, index)).collect();
        let data = Arc::clone(data);
        Ok(ConfigState { data, plans, generators, settings: Vec::new() })
    }

    /// Takes over the settings of a packet, and copies the variables that they change.
    pub fn set(&mut self, device: &GpuDevice, frame: &RenderConfigFrame) {
        let count = self.data.settings.len();
        // After a refused change, the packet's config has other settings.
        let is_same = Arc::ptr_eq(&self.data, &frame.data);
        let value = |index: usize| {
            let own = &self.data.settings[index];
            match frame.data.setting(&own.name) {
                _ if is_same => frame.setting(index),
                Some(other) => own.limited(frame.setting(other)),
                None => own.default,
            }
        };
        let settings: Vec<f32> = (0..count).map(value).collect();
        if self.settings == settings && count > 0 {
            return;
        }
        self.settings = settings;
        for (generator, state) in self.data.generators.iter().zip(&mut self.generators) {
            state.write_variables(device, generator, &self.settings);
        }
    }

    /// Drops all bind groups.
    pub fn drop_groups(&mut self) {
        self.generators.iter_mut().for_each(|generator| generator.groups.clear());
    }
}

impl GeneratorState {
    fn new(
        device: &GpuDevice,
        pass: &wgpu::BindGroupLayout,
        data: &RenderConfigData,
        generator: &Generator,
    ) -> Result<GeneratorState, String> {
        let size = generator.variables.len() as u64;
        let variables = (size > 0).then(|| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("variables"),
                size,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        let entries = layout_entries(data, generator);
        let (module, layout, pipeline_layout) = device.compiled(|device| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(&generator.name),
                source: wgpu::ShaderSource::Wgsl(generator.source[..].into()),
            });
            let descriptor =
                wgpu::BindGroupLayoutDescriptor { label: Some("generator"), entries: &entries };
            let layout =
                (!entries.is_empty()).then(|| device.create_bind_group_layout(&descriptor));
            let groups = [Some(pass), None, layout.as_ref()];
            let count = if layout.is_some() { 3 } else { 1 };
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(&generator.name),
                bind_group_layouts: &groups[..count],
                immediate_size: 0,
            });
            (module, layout, pipeline_layout)
        })?;
        debug_assert_eq!(MATERIAL_GROUP, 2);
        Ok(GeneratorState {
            module,
            layout,
            pipeline_layout,
            pipelines: Vec::new(),
            variables,
            written: Vec::new(),
            groups: Vec::new(),
        })
    }

    /// Creates the pipeline for an output, if it does not exist. Returns an error only once.
    pub fn ensure_pipeline(
        &mut self,
        device: &GpuDevice,
        generator: &Generator,
        output: OutputKind,
    ) -> Result<(), String> {
        if self.pipelines.iter().any(|(known, _)| *known == output) {
            return Ok(());
        }
        let created = self.create_pipeline(device, generator, output);
        let (pipeline, result) = match created {
            Ok(pipeline) => (Some(pipeline), Ok(())),
            Err(message) => (None, Err(message)),
        };
        self.pipelines.push((output, pipeline));
        result
    }

    /// Returns the pipeline for an output, if the adapter has accepted it.
    pub fn pipeline(&self, output: OutputKind) -> Option<&wgpu::RenderPipeline> {
        let found = self.pipelines.iter().find(|(known, _)| *known == output)?;
        found.1.as_ref()
    }

    fn create_pipeline(
        &self,
        device: &GpuDevice,
        generator: &Generator,
        (format, samples): OutputKind,
    ) -> Result<wgpu::RenderPipeline, String> {
        let encodes = generator.output == FrameImage::Target && !format.is_srgb();
        let constants = [("ENGINE_ENCODES", f64::from(u8::from(encodes)))];
        let blend = blend_state(BlendMode::ALL[usize::from(generator.blend)]);
        let options =
            || wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        device.compiled(|device| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(&generator.name),
                layout: Some(&self.pipeline_layout),
                vertex: wgpu::VertexState {
                    module: &self.module,
                    entry_point: Some("engine_vertex"),
                    compilation_options: options(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState { count: samples, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: &self.module,
                    entry_point: Some("engine_fragment"),
                    compilation_options: options(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format,
                        blend,
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        })
    }

    /// Copies the variables with the values of settings, if they have changed.
    fn write_variables(&mut self, device: &GpuDevice, generator: &Generator, settings: &[f32]) {
        let Some(buffer) = &self.variables else { return };
        let mut bytes = generator.variables.clone();
        for variable in &generator.settings {
            let value = settings[variable.setting as usize];
            let number = match variable.is_integer {
                // The same bits as those of an unsigned integer of this value.
                true => (value as i32).to_le_bytes(),
                false => value.to_le_bytes(),
            };
            let offset = variable.offset as usize;
            bytes[offset..offset + 4].copy_from_slice(&number);
        }
        if self.written != bytes {
            device.queue.write_buffer(buffer, 0, &bytes);
            self.written = bytes;
        }
    }

    /// Returns the bind group for input textures; `None` if the shader has no bindings.
    pub fn group(
        &mut self,
        device: &GpuDevice,
        inputs: &[(PooledTexture, bool)],
        samplers: &[wgpu::Sampler; 2],
    ) -> Option<&wgpu::BindGroup> {
        let layout = self.layout.as_ref()?;
        let ids: Vec<u64> = inputs.iter().map(|(texture, _)| texture.id).collect();
        if let Some(index) = self.groups.iter().position(|(known, _)| *known == ids) {
            return Some(&self.groups[index].1);
        }
        if self.groups.len() >= GROUPS_MAX {
            self.groups.clear();
        }
        let mut entries = Vec::new();
        if let Some(buffer) = &self.variables {
            entries.push(entry(VARIABLES, buffer.as_entire_binding()));
        }
        for (index, (texture, nearest)) in inputs.iter().enumerate() {
            let index = index as u32;
            let view = wgpu::BindingResource::TextureView(&texture.view);
            let sampler = wgpu::BindingResource::Sampler(&samplers[usize::from(*nearest)]);
            entries.push(entry(texture_binding(index), view));
            entries.push(entry(sampler_binding(index), sampler));
        }
        let descriptor =
            wgpu::BindGroupDescriptor { label: Some("generator"), layout, entries: &entries };
        self.groups.push((ids, device.device.create_bind_group(&descriptor)));
        self.groups.last().map(|(_, group)| group)
    }
}

/// Returns the layout entries of a generator's own group.
fn layout_entries(
    data: &RenderConfigData,
    generator: &Generator,
) -> Vec<wgpu::BindGroupLayoutEntry> {
    let fragment = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let mut entries = Vec::new();
    if !generator.variables.is_empty() {
        let ty = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        entries.push(fragment(VARIABLES, ty));
    }
    for (index, input) in generator.inputs.iter().enumerate() {
        let index = index as u32;
        let filterable = match input.image {
            FrameImage::Light | FrameImage::Target => true,
            FrameImage::Depth => false,
            FrameImage::Own(target) => data.targets[target as usize].format.is_filterable(),
        };
        let texture = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let sampler = wgpu::BindingType::Sampler(match input.nearest {
            true => wgpu::SamplerBindingType::NonFiltering,
            false => wgpu::SamplerBindingType::Filtering,
        });
        entries.push(fragment(texture_binding(index), texture));
        entries.push(fragment(sampler_binding(index), sampler));
    }
    entries
}
