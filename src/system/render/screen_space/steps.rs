//! The table of full-screen steps: each draws one triangle onto images of a view. A row of the
//! table of render passes (render_passes.rs) runs the steps that have its name, in order. Creates
//! their pipelines.

use super::super::device::GpuDevice;
use super::super::shader_sources::source;
use super::images::ScreenImage;

/// An image that a step samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepInput {
    /// The light of the scene, with all samples per pixel.
    SceneLight,
    /// The light as the step before has left it.
    LatestLight,
    Image(ScreenImage),
}

/// One step.
pub struct ScreenStep {
    /// Name of the render pass that it belongs to.
    pub pass: &'static str,
    /// Name of its shader, and of the fragment stage in it.
    pub shader: &'static str,
    pub fragment: &'static str,
    /// The textures from binding [`FIRST_INPUT`] on.
    pub inputs: &'static [StepInput],
    pub outputs: &'static [ScreenImage],
    /// The channels that it writes; the others keep their content.
    pub channels: wgpu::ColorWrites,
}

/// Binding of the first input of a step; the uniform and the sampler precede it.
pub const FIRST_INPUT: u32 = 2;

/// Names of render passes in render_passes.rs.
pub const DEPTH_PREPASS: &str = "depth prepass";
pub const AMBIENT_OCCLUSION: &str = "ambient occlusion";
pub const CONTACT_SHADOWS: &str = "contact shadows";
pub const LIGHT_RESOLVE: &str = "light resolve";
pub const MOTION_VECTORS: &str = "motion vectors";
pub const OBJECT_MOTION: &str = "object motion";
pub const TEMPORAL: &str = "temporal anti-aliasing";
pub const DEPTH_OF_FIELD: &str = "depth of field";
pub const MOTION_BLUR: &str = "motion blur";

const DEPTH: StepInput = StepInput::Image(ScreenImage::Depth);

/// All steps, in order.
pub static STEPS: &[ScreenStep] = &[
    ScreenStep {
        pass: AMBIENT_OCCLUSION,
        shader: "ambient_occlusion",
        fragment: "occlusion_fragment",
        inputs: &[DEPTH],
        outputs: &[ScreenImage::NoisyOcclusion],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: AMBIENT_OCCLUSION,
        shader: "ambient_occlusion_blur",
        fragment: "blur_fragment",
        inputs: &[DEPTH, StepInput::Image(ScreenImage::NoisyOcclusion)],
        outputs: &[ScreenImage::Occlusion],
        channels: wgpu::ColorWrites::RED,
    },
    ScreenStep {
        pass: CONTACT_SHADOWS,
        shader: "contact_shadows",
        fragment: "contact_fragment",
        inputs: &[DEPTH],
        outputs: &[ScreenImage::Occlusion],
        channels: wgpu::ColorWrites::GREEN,
    },
    ScreenStep {
        pass: LIGHT_RESOLVE,
        shader: "light_resolve",
        fragment: "resolve_fragment",
        inputs: &[StepInput::SceneLight],
        outputs: &[ScreenImage::Light],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: MOTION_VECTORS,
        shader: "motion_vectors",
        fragment: "motion_fragment",
        inputs: &[DEPTH],
        outputs: &[ScreenImage::Motion],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: TEMPORAL,
        shader: "temporal",
        fragment: "temporal_fragment",
        inputs: &[
            StepInput::LatestLight,
            StepInput::Image(ScreenImage::PreviousHistory),
            StepInput::Image(ScreenImage::Motion),
            DEPTH,
        ],
        outputs: &[ScreenImage::History],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: DEPTH_OF_FIELD,
        shader: "depth_of_field_tiles",
        fragment: "tile_fragment",
        inputs: &[DEPTH],
        outputs: &[ScreenImage::FocusTiles],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: DEPTH_OF_FIELD,
        shader: "depth_of_field_tiles",
        fragment: "neighbour_fragment",
        inputs: &[StepInput::Image(ScreenImage::FocusTiles)],
        outputs: &[ScreenImage::FocusNeighbours],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: DEPTH_OF_FIELD,
        shader: "depth_of_field",
        fragment: "half_fragment",
        inputs: &[StepInput::LatestLight, DEPTH],
        outputs: &[ScreenImage::HalfLight],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: DEPTH_OF_FIELD,
        shader: "depth_of_field",
        fragment: "gather_fragment",
        inputs: &[
            StepInput::Image(ScreenImage::HalfLight),
            DEPTH,
            StepInput::Image(ScreenImage::FocusNeighbours),
        ],
        outputs: &[ScreenImage::Blurred, ScreenImage::BlurredShare],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: DEPTH_OF_FIELD,
        shader: "depth_of_field",
        fragment: "focus_fragment",
        inputs: &[
            StepInput::LatestLight,
            DEPTH,
            StepInput::Image(ScreenImage::Blurred),
            StepInput::Image(ScreenImage::BlurredShare),
        ],
        outputs: &[ScreenImage::Focused],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: MOTION_BLUR,
        shader: "motion_blur_tiles",
        fragment: "tile_fragment",
        inputs: &[StepInput::Image(ScreenImage::Motion)],
        outputs: &[ScreenImage::MotionTiles],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: MOTION_BLUR,
        shader: "motion_blur_tiles",
        fragment: "neighbour_fragment",
        inputs: &[StepInput::Image(ScreenImage::MotionTiles)],
        outputs: &[ScreenImage::MotionNeighbours],
        channels: wgpu::ColorWrites::ALL,
    },
    ScreenStep {
        pass: MOTION_BLUR,
        shader: "motion_blur",
        fragment: "blur_fragment",
        inputs: &[
            StepInput::LatestLight,
            DEPTH,
            StepInput::Image(ScreenImage::Motion),
            StepInput::Image(ScreenImage::MotionNeighbours),
        ],
        outputs: &[ScreenImage::MotionBlurred],
        channels: wgpu::ColorWrites::ALL,
    },
];

/// A step on the adapter.
pub struct StepPipeline {
    pub layout: wgpu::BindGroupLayout,
    pub pipeline: wgpu::RenderPipeline,
}

fn entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    let visibility = wgpu::ShaderStages::FRAGMENT;
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

fn texture(input: StepInput, samples: u32) -> wgpu::BindingType {
    let filterable = !matches!(input, StepInput::SceneLight | DEPTH);
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: input == StepInput::SceneLight && samples > 1,
    }
}

fn layout(device: &GpuDevice, step: &ScreenStep, samples: u32) -> wgpu::BindGroupLayout {
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let mut entries = vec![entry(0, uniform), entry(1, filtering)];
    for (binding, input) in (FIRST_INPUT..).zip(step.inputs) {
        entries.push(entry(binding, texture(*input, samples)));
    }
    device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(step.pass),
        entries: &entries,
    })
}

impl StepPipeline {
    /// Creates the pipeline of a step. `samples` is the number of samples of the scene's light.
    pub fn new(device: &GpuDevice, step: &ScreenStep, samples: u32) -> StepPipeline {
        let raw = &device.device;
        let layout = layout(device, step, samples);
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(step.shader),
            source: wgpu::ShaderSource::Wgsl(source(step.shader, samples).into()),
        });
        let constants = [("SAMPLES", f64::from(samples))];
        let is_resolve = step.inputs.contains(&StepInput::SceneLight);
        let target = |image: &ScreenImage| {
            let (format, write_mask) = (image.format(), step.channels);
            Some(wgpu::ColorTargetState { format, blend: None, write_mask })
        };
        let targets: Vec<_> = step.outputs.iter().map(target).collect();
        let pipeline = raw.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(step.fragment),
            layout: Some(&raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(step.pass),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            })),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("screen_vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(step.fragment),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: if is_resolve { &constants } else { &[] },
                    ..Default::default()
                },
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        });
        StepPipeline { layout, pipeline }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::render_passes::RENDER_PASSES;
    use super::*;

    #[test]
    fn steps_belong_to_passes_that_name_their_shaders() {
        for step in STEPS {
            let row = RENDER_PASSES.iter().find(|row| row.name == step.pass);
            let row = row.unwrap_or_else(|| panic!("there is no pass '{}'", step.pass));
            assert!(row.shaders.contains(&step.shader), "{}: {}", step.pass, step.shader);
        }
    }

    #[test]
    fn steps_sample_only_images_that_are_drawn_before() {
        let mut drawn = vec![ScreenImage::Depth, ScreenImage::PreviousHistory];
        for step in STEPS {
            for input in step.inputs {
                if let StepInput::Image(image) = input {
                    assert!(drawn.contains(image), "{} samples {image:?}", step.fragment);
                }
            }
            drawn.extend(step.outputs);
        }
    }
}
