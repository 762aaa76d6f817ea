//! The pipelines, bind groups and uniforms of post effects, created when an effect first needs
//! them. Decides nothing about what is drawn.

use super::super::device::GpuDevice;
use super::super::forward::{PipelineOptions, make_pipeline, pipeline_depth};
use super::super::gui_pipelines::blend_state;
use super::super::numeric_map::NumberMap;
use super::super::shader_sources::{source, source_of_resolved_light};
use super::super::textures::{entry, sampler_entry, texture_entry};
use super::effects::{Effects, PostUniform};
use super::images::{
    EDGE_FORMAT, EXPOSURE_FORMAT, IMAGE_FORMAT, ImageMaker, LIGHT_FORMAT, PostImage, WEIGHT_FORMAT,
};
use super::smaa_area;
use engine_frame_packet::material::BlendMode;
use std::num::NonZeroU64;

/// Number of views that the first uniform buffer has room for.
const VIEWS_AT_FIRST: u64 = 8;
/// Maximum number of pipelines: with more combinations of effects, all are created again.
const PIPELINES_MAX: usize = 64;
const UNIFORM_BYTES: u64 = size_of::<PostUniform>() as u64;

/// The purpose of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PostPipeline {
    Meter,
    Histogram,
    Adapt,
    BloomFirst,
    BloomDown,
    BloomUp,
    /// Tone mapping with effects, onto a target of a format, with its depth or without.
    Grade(Effects, wgpu::TextureFormat, bool),
    /// Tone mapping with effects, onto an image.
    GradeImage(Effects),
    /// Effects on the tone-mapped image, onto a target.
    Finish(Effects, wgpu::TextureFormat, bool),
    /// Anti-aliasing of the tone-mapped image, onto another one.
    Smooth(Effects),
    /// SMAA: the edges of the tone-mapped image, the weights of its pixels, and the mixed image.
    Edges,
    EdgeWeights,
    MixEdges,
}

impl PostPipeline {
    /// Returns the name of the shader's source.
    fn shader(self) -> &'static str {
        match self {
            PostPipeline::Meter | PostPipeline::Histogram | PostPipeline::Adapt => "exposure",
            PostPipeline::BloomFirst | PostPipeline::BloomDown | PostPipeline::BloomUp => "bloom",
            PostPipeline::Grade(..) | PostPipeline::GradeImage(_) => "grade",
            PostPipeline::Finish(..) | PostPipeline::Smooth(_) => "finish",
            PostPipeline::Edges | PostPipeline::EdgeWeights | PostPipeline::MixEdges => "smaa",
        }
    }

    fn fragment(self) -> &'static str {
        match self {
            PostPipeline::Meter => "meter_fragment",
            PostPipeline::Histogram => "histogram_fragment",
            PostPipeline::Adapt => "adapt_fragment",
            PostPipeline::BloomFirst => "bloom_first_fragment",
            PostPipeline::BloomDown => "bloom_down_fragment",
            PostPipeline::BloomUp => "bloom_up_fragment",
            PostPipeline::Grade(_, _, false) | PostPipeline::GradeImage(_) => "grade_fragment",
            PostPipeline::Grade(_, _, true) => "grade_deep_fragment",
            PostPipeline::Edges => "edge_fragment",
            PostPipeline::EdgeWeights => "weight_fragment",
            PostPipeline::MixEdges => "mix_fragment",
            PostPipeline::Finish(_, _, true) => "finish_deep_fragment",
            PostPipeline::Finish(_, _, false) | PostPipeline::Smooth(_) => "finish_fragment",
        }
    }

    /// Returns the format that it draws onto, and how it blends.
    fn target(self) -> (wgpu::TextureFormat, Option<wgpu::BlendState>) {
        match self {
            PostPipeline::Adapt => (EXPOSURE_FORMAT, None),
            PostPipeline::BloomUp => (LIGHT_FORMAT, Some(mix_state())),
            PostPipeline::Meter
            | PostPipeline::Histogram
            | PostPipeline::BloomFirst
            | PostPipeline::BloomDown => (LIGHT_FORMAT, None),
            PostPipeline::Grade(_, format, _) | PostPipeline::Finish(_, format, _) => {
                (format, blend_state(BlendMode::Alpha))
            }
            PostPipeline::Edges => (EDGE_FORMAT, None),
            PostPipeline::EdgeWeights => (WEIGHT_FORMAT, None),
            PostPipeline::GradeImage(_) | PostPipeline::Smooth(_) | PostPipeline::MixEdges => {
                (IMAGE_FORMAT, None)
            }
        }
    }

    /// Returns true if it writes the depth of the scene, for Guis in the world.
    pub fn is_deep(self) -> bool {
        matches!(self, PostPipeline::Grade(_, _, true) | PostPipeline::Finish(_, _, true))
    }

    /// Returns true if it reads the light of the scene.
    pub fn reads_light(self) -> bool {
        matches!(self.shader(), "grade")
            || matches!(self, PostPipeline::Meter | PostPipeline::BloomFirst)
    }

    fn constants(self, samples: u32) -> Vec<(&'static str, f64)> {
        let flag = |on: bool| f64::from(u8::from(on));
        let samples = ("SAMPLES", f64::from(samples));
        match self {
            PostPipeline::Meter | PostPipeline::BloomFirst => vec![samples],
            PostPipeline::Grade(effects, ..) | PostPipeline::GradeImage(effects) => vec![
                samples,
                ("MAPPER", f64::from(effects.mapper)),
                ("BLOOM", flag(effects.bloom)),
                ("VIGNETTE", flag(effects.vignette)),
                ("LIGHT_GRADING", flag(effects.light_grading)),
                ("COLOR_GRADING", flag(effects.color_grading)),
                ("COLOR_TABLE", flag(effects.color_table)),
                ("GRAIN", flag(effects.grain)),
            ],
            PostPipeline::Finish(effects, ..) | PostPipeline::Smooth(effects) => vec![
                ("SMOOTHING", flag(effects.antialiasing)),
                ("ABERRATION", flag(effects.aberration)),
                ("SHARPENING", flag(effects.sharpening)),
                ("GRAIN", flag(effects.grain)),
                ("ENLARGING", flag(effects.enlarged)),
                ("LAST", flag(!matches!(self, PostPipeline::Smooth(_)))),
            ],
            _ => Vec::new(),
        }
    }
}

/// Returns the blend that mixes an image with what is drawn, by the blend constant.
fn mix_state() -> wgpu::BlendState {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::Constant,
        dst_factor: wgpu::BlendFactor::OneMinusConstant,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::BlendState { color: component, alpha: component }
}

/// The images that a step reads.
#[derive(Clone, Copy)]
pub struct StepInputs<'a> {
    pub picture: &'a PostImage,
    pub exposure: &'a PostImage,
    pub table: &'a PostImage,
}

/// Bind group layouts of the light: with its depth, and alone.
#[derive(Clone)]
pub struct LightLayouts {
    pub with_depth: wgpu::BindGroupLayout,
    pub alone: wgpu::BindGroupLayout,
    /// The same for light with one sample per pixel.
    pub resolved_with_depth: wgpu::BindGroupLayout,
    pub resolved_alone: wgpu::BindGroupLayout,
}

/// The resources of all post effects.
pub struct PostResources {
    layout: wgpu::BindGroupLayout,
    light: LightLayouts,
    samples: u32,
    sampler: wgpu::Sampler,
    /// Modules and pipelines; the flag is true for light with one sample per pixel.
    modules: NumberMap<(&'static str, bool), wgpu::ShaderModule>,
    pipelines: NumberMap<(PostPipeline, bool), wgpu::RenderPipeline>,
    uniforms: wgpu::Buffer,
    stride: u64,
    /// Bind groups by the numbers of their images.
    groups: NumberMap<[u64; 3], wgpu::BindGroup>,
    /// Images for effects that are off: black, an exposure of 1, a table without changes.
    pub black: PostImage,
    pub neutral_exposure: PostImage,
    pub neutral_table: PostImage,
    /// The areas of SMAA, created when it is first used.
    areas: Option<PostImage>,
}

fn layout(device: &GpuDevice) -> wgpu::BindGroupLayout {
    let texture = |binding, filterable, view_dimension| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable },
            view_dimension,
            multisampled: false,
        },
        count: None,
    };
    device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("post"),
        entries: &[
            wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: NonZeroU64::new(UNIFORM_BYTES),
                },
                count: None,
            },
            texture_entry(1),
            sampler_entry(2),
            texture(3, false, wgpu::TextureViewDimension::D2),
            texture(4, true, wgpu::TextureViewDimension::D3),
        ],
    })
}

fn uniform_buffer(device: &GpuDevice, size: u64) -> wgpu::Buffer {
    device.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("post"),
        size,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

impl PostResources {
    pub fn new(
        device: &GpuDevice,
        maker: &mut ImageMaker,
        light: LightLayouts,
        samples: u32,
    ) -> PostResources {
        let alignment = u64::from(device.limits.min_uniform_buffer_offset_alignment.max(256));
        let stride = UNIFORM_BYTES.next_multiple_of(alignment);
        let exposure: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
        PostResources {
            layout: layout(device),
            light,
            samples,
            sampler: device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("post"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            modules: NumberMap::default(),
            pipelines: NumberMap::default(),
            uniforms: uniform_buffer(device, stride * VIEWS_AT_FIRST),
            stride,
            groups: NumberMap::default(),
            black: maker.texel(device, LIGHT_FORMAT, &[0; 8]),
            neutral_exposure: maker.texel(device, EXPOSURE_FORMAT, bytemuck::cast_slice(&exposure)),
            neutral_table: maker.cube(device, 1, &[0; 8]),
            areas: None,
        }
    }

    /// Returns the areas of SMAA.
    pub fn areas(&mut self, device: &GpuDevice, maker: &mut ImageMaker) -> PostImage {
        let make = || maker.square(device, smaa_area::SIDE as u32, &smaa_area::table());
        self.areas.get_or_insert_with(make).clone()
    }

    /// Makes room for the uniforms of a number of views.
    pub fn reserve(&mut self, device: &GpuDevice, views: usize) {
        let bytes = self.stride * views as u64;
        if bytes > self.uniforms.size() {
            self.uniforms = uniform_buffer(device, bytes.next_power_of_two());
            self.groups.clear();
        }
    }

    /// Copies the uniforms of all views, for which there is room. Returns the number of bytes.
    pub fn copy_uniforms(&self, device: &GpuDevice, uniforms: &[PostUniform]) -> u64 {
        let bytes = self.stride * uniforms.len() as u64;
        let mut all = vec![0; bytes as usize];
        for (to, uniform) in all.chunks_exact_mut(self.stride as usize).zip(uniforms) {
            to[..UNIFORM_BYTES as usize].copy_from_slice(bytemuck::bytes_of(uniform));
        }
        device.upload(&self.uniforms, 0, &all);
        bytes
    }

    /// Returns the offset of a view's uniform.
    pub fn offset(&self, index: usize) -> u32 {
        (self.stride * index as u64) as u32
    }

    /// Forgets bind groups, because some of their images were dropped.
    pub fn forget_groups(&mut self) {
        self.groups.clear();
    }

    /// Returns the bind group with some images.
    pub fn group(&mut self, device: &GpuDevice, inputs: StepInputs) -> wgpu::BindGroup {
        let StepInputs { picture, exposure, table } = inputs;
        let make = || {
            let texture = wgpu::BindingResource::TextureView;
            device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("post"),
                layout: &self.layout,
                entries: &[
                    entry(
                        0,
                        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                            buffer: &self.uniforms,
                            offset: 0,
                            size: NonZeroU64::new(UNIFORM_BYTES),
                        }),
                    ),
                    entry(1, texture(&picture.view)),
                    entry(2, wgpu::BindingResource::Sampler(&self.sampler)),
                    entry(3, texture(&exposure.view)),
                    entry(4, texture(&table.view)),
                ],
            })
        };
        let key = [picture.id, exposure.id, table.id];
        self.groups.entry(key).or_insert_with(make).clone()
    }

    /// Returns a pipeline, created if it does not exist. `is_resolved`: the light that it reads has
    /// one sample per pixel.
    pub fn pipeline(
        &mut self,
        device: &GpuDevice,
        key: PostPipeline,
        is_resolved: bool,
    ) -> wgpu::RenderPipeline {
        let is_resolved = is_resolved && (key.reads_light() || key.is_deep());
        if let Some(pipeline) = self.pipelines.get(&(key, is_resolved)) {
            return pipeline.clone();
        }
        if self.pipelines.len() >= PIPELINES_MAX {
            self.pipelines.clear();
        }
        let name = key.shader();
        let samples = if is_resolved { 1 } else { self.samples };
        let whole = match is_resolved {
            true => source_of_resolved_light(name, self.samples),
            false => source(name, self.samples),
        };
        let module = self.modules.entry((name, is_resolved)).or_insert_with(|| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(whole.into()),
            })
        });
        let mut layouts = vec![Some(&self.layout)];
        layouts.extend(match (key.reads_light(), key.is_deep(), is_resolved) {
            (_, true, false) => Some(Some(&self.light.with_depth)),
            (_, true, true) => Some(Some(&self.light.resolved_with_depth)),
            (true, false, false) => Some(Some(&self.light.alone)),
            (true, false, true) => Some(Some(&self.light.resolved_alone)),
            (false, false, _) => None,
        });
        let always = wgpu::CompareFunction::Always;
        let pipeline = make_pipeline(
            &device.device,
            &PipelineOptions {
                label: name,
                layouts: &layouts,
                module,
                vertex: "full_screen_vertex",
                fragment: Some(key.fragment()),
                constants: &key.constants(samples),
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: key.is_deep().then(|| pipeline_depth(true, always)),
                samples: 1,
                target: Some(key.target()),
            },
        );
        self.pipelines.insert((key, is_resolved), pipeline.clone());
        pipeline
    }
}
