//! The pipelines of froxel fog, created when a view first has fog. Draws nothing.

use super::super::device::GpuDevice;
use super::super::forward::{LIGHT_FORMAT, PipelineOptions, make_pipeline, pipeline_depth};
use super::super::gui_pipelines::blend_state;
use super::super::shader_sources::source;
use super::{FORMAT, STEPS};
use engine_frame_packet::material::BlendMode;

/// The pipelines and the layout of bind group 1: the uniform and an image of froxels.
pub struct FogPipelines {
    pub layout: wgpu::BindGroupLayout,
    pub steps: [wgpu::RenderPipeline; STEPS],
    pub over_sky: wgpu::RenderPipeline,
}

fn layout(device: &GpuDevice) -> wgpu::BindGroupLayout {
    let fragment = wgpu::ShaderStages::FRAGMENT;
    let entry =
        |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility: fragment, ty, count: None };
    device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("froxel fog"),
        entries: &[
            entry(
                0,
                wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
            ),
            entry(
                1,
                wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: true },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
            ),
        ],
    })
}

impl FogPipelines {
    /// `scene` and `view`: the layouts of bind group 0 with the lights of a view, and without.
    pub fn new(
        device: &GpuDevice,
        (scene, view): (&wgpu::BindGroupLayout, &wgpu::BindGroupLayout),
        samples: u32,
    ) -> FogPipelines {
        let module = |name: &str| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source(name, samples).into()),
            })
        };
        let layout = layout(device);
        let modules = ["fog_scatter", "fog_integrate", "fog_over_sky"].map(module);
        let step = |index: usize, group, fragment, constants| {
            make_pipeline(
                &device.device,
                &PipelineOptions {
                    label: "froxel fog",
                    layouts: &[Some(group), Some(&layout)],
                    module: &modules[index],
                    vertex: "froxel_vertex",
                    fragment: Some(fragment),
                    constants,
                    buffers: &[],
                    strip: false,
                    front: wgpu::FrontFace::Ccw,
                    cull: None,
                    depth: None,
                    samples: 1,
                    target: Some((FORMAT, None)),
                },
            )
        };
        let over_sky = make_pipeline(
            &device.device,
            &PipelineOptions {
                label: "froxel fog over the sky",
                layouts: &[Some(scene)],
                module: &modules[2],
                vertex: "over_sky_vertex",
                fragment: Some("over_sky_fragment"),
                constants: &[],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: Some(pipeline_depth(false, wgpu::CompareFunction::LessEqual)),
                samples,
                target: Some((LIGHT_FORMAT, blend_state(BlendMode::Premultiplied))),
            },
        );
        // The uniform says if a view has the maps of a sky.
        let steps = [
            step(0, scene, "scatter_fragment", &[("SKY_MAPS", 1.0), device.hides_uniforms()]),
            step(1, view, "integrate_fragment", &[]),
        ];
        FogPipelines { layout, steps, over_sky }
    }
}
