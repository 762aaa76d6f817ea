//! The passes that copy a world's light and depth to textures with one sample per pixel. Decides
//! nothing about when they run.

use super::super::device::GpuDevice;
use super::super::textures::entry;
use super::target_pool::PooledTexture;

/// Formats of the copies of light and depth.
pub const LIGHT_COPY: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
pub const DEPTH_COPY: wgpu::TextureFormat = wgpu::TextureFormat::R32Float;

/// The source of the shader with several samples per pixel.
pub const SOURCE: &str = include_str!("resolve.wgsl");

/// The pipelines of the copies, for a number of samples per pixel.
pub struct ResolvePipelines {
    pub samples: u32,
    layout: wgpu::BindGroupLayout,
    light: wgpu::RenderPipeline,
    depth: wgpu::RenderPipeline,
}

impl ResolvePipelines {
    pub fn new(device: &GpuDevice, samples: u32) -> ResolvePipelines {
        let source = match samples {
            1 => SOURCE.replace("_multisampled_2d", "_2d"),
            _ => SOURCE.to_string(),
        };
        let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("resolve"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let layout = device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("resolve"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: samples > 1,
                },
                count: None,
            }],
        });
        let pipeline_layout =
            device.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("resolve"),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
        let constants = [("SAMPLES", f64::from(samples))];
        let make = |entry, format| {
            device.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some("resolve"),
                layout: Some(&pipeline_layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("resolve_vertex"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..Default::default()
                    },
                    targets: &[Some(wgpu::ColorTargetState {
                        format,
                        blend: None,
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let (light, depth) = (make("resolve_light", LIGHT_COPY), make("resolve_depth", DEPTH_COPY));
        ResolvePipelines { samples, layout, light, depth }
    }

    /// Encodes the copy of an image. `is_depth`: the image is the depth.
    pub fn encode(
        &self,
        device: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::TextureView,
        to: &PooledTexture,
        (is_depth, timestamp_writes): (bool, Option<wgpu::RenderPassTimestampWrites>),
    ) {
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("resolve"),
            layout: &self.layout,
            entries: &[entry(0, wgpu::BindingResource::TextureView(source))],
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("resolve"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &to.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: None,
            timestamp_writes,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_pipeline(if is_depth { &self.depth } else { &self.light });
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }
}
