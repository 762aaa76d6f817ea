//! The pipelines of Guis: for each shader, one pipeline for each purpose, which is created when it
//! is first drawn with. Knows no materials.

use super::device::GpuDevice;
use super::numeric_map::NumberMap;
use super::shader::{VARIABLES, sampler_binding, texture_binding};
use super::textures::{sampler_entry, texture_entry};
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::material::{BlendMode, ShaderFrame};
use std::mem::offset_of;

/// The depth buffer's format.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// All paints, as in gui.wgsl's ENGINE_PAINTS.
pub const ALL_PAINTS: u32 = 0x703ff;
/// The format of masks.
pub const MASK_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;

/// The purpose of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PipelinePurpose {
    pub blend: BlendMode,
    pub format: wgpu::TextureFormat,
    /// True if there is a depth buffer: in the world.
    pub depth: bool,
    /// The paints that it must support.
    pub paints: u32,
    /// True if it draws through a mask.
    pub masked: bool,
    /// True if it removes the coverage of what it draws from a mask.
    pub erases: bool,
}

impl PipelinePurpose {
    /// Returns the purpose of drawing anything on the screen, or on another target of this format.
    pub fn plain(format: wgpu::TextureFormat) -> PipelinePurpose {
        PipelinePurpose {
            blend: BlendMode::Alpha,
            format,
            depth: false,
            paints: ALL_PAINTS,
            masked: false,
            erases: false,
        }
    }
}

/// A shader on the adapter.
pub struct GuiShader {
    pub name: String,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    /// The layout with the group of a mask.
    masked_layout: wgpu::PipelineLayout,
    pub group: Option<wgpu::BindGroupLayout>,
    /// Pipelines by purpose; `None`: the adapter refused it.
    pub pipelines: NumberMap<PipelinePurpose, Option<wgpu::RenderPipeline>>,
}

/// Returns the layout of the group of a mask.
pub fn mask_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("mask"),
        entries: &[texture_entry(0)],
    })
}

/// Returns the layout of group 0 of gui.wgsl.
pub fn frame_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let array = |binding| {
        let mut entry = texture_entry(binding);
        entry.ty = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2Array,
            multisampled: false,
        };
        entry
    };
    let buffer = |binding, visibility, ty, dynamic| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
        count: None,
    };
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("frame"),
        entries: &[
            buffer(0, wgpu::ShaderStages::VERTEX_FRAGMENT, wgpu::BufferBindingType::Uniform, true),
            buffer(1, wgpu::ShaderStages::VERTEX, read, false),
            array(2),
            array(3),
            sampler_entry(4),
        ],
    })
}

/// Returns the layout of the own group of a game's shader, if it has bindings there.
fn material_layout(device: &wgpu::Device, shader: &ShaderFrame) -> Option<wgpu::BindGroupLayout> {
    let mut entries = Vec::new();
    if shader.variables > 0 {
        entries.push(wgpu::BindGroupLayoutEntry {
            binding: VARIABLES,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
    }
    for index in 0..shader.textures {
        entries.push(texture_entry(texture_binding(index)));
        entries.push(sampler_entry(sampler_binding(index)));
    }
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("material"), entries: &entries };
    (!entries.is_empty()).then(|| device.create_bind_group_layout(&descriptor))
}

pub fn blend_state(blend: BlendMode) -> Option<wgpu::BlendState> {
    use wgpu::BlendFactor::{Dst, One, OneMinusSrcAlpha, Zero};
    let add = |src_factor, dst_factor| wgpu::BlendComponent {
        src_factor,
        dst_factor,
        operation: wgpu::BlendOperation::Add,
    };
    // The background keeps its own alpha under Add and Multiply.
    let (color, alpha) = match blend {
        BlendMode::Alpha | BlendMode::Premultiplied => {
            (add(One, OneMinusSrcAlpha), add(One, OneMinusSrcAlpha))
        }
        BlendMode::Add => (add(One, One), add(Zero, One)),
        BlendMode::Multiply => (add(Dst, OneMinusSrcAlpha), add(Zero, One)),
        BlendMode::Replace => return None,
    };
    Some(wgpu::BlendState { color, alpha })
}

/// The blend state that removes coverage.
fn erasing_state() -> wgpu::BlendState {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::Zero,
        dst_factor: wgpu::BlendFactor::OneMinusSrc,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::BlendState { color: component, alpha: component }
}

/// Returns the values of the shader's constants.
fn constants(purpose: &PipelinePurpose) -> [(&'static str, f64); 5] {
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let covers = purpose.format == MASK_FORMAT;
    [
        ("ENGINE_PAINTS", f64::from(purpose.paints)),
        flag("ENGINE_ENCODES", !purpose.format.is_srgb() && !covers),
        flag("ENGINE_PREMULTIPLIED", purpose.blend == BlendMode::Premultiplied),
        flag("ENGINE_COVERS", covers),
        flag("ENGINE_REPLACES", purpose.blend == BlendMode::Replace),
    ]
}

impl GuiShader {
    pub fn new(
        device: &GpuDevice,
        groups: [&wgpu::BindGroupLayout; 3],
        name: &str,
        source: &str,
        game_shader: Option<&ShaderFrame>,
    ) -> Result<GuiShader, String> {
        device.compiled(|device| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
            let group = game_shader.and_then(|shader| material_layout(device, shader));
            let layout_of = |groups: &[Option<&wgpu::BindGroupLayout>]| {
                device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some(name),
                    bind_group_layouts: groups,
                    immediate_size: 0,
                })
            };
            let [frame, texture, mask] = groups.map(Some);
            let layouts = [frame, texture, group.as_ref()];
            let layout = layout_of(&layouts[..2 + usize::from(group.is_some())]);
            let masked_layout = layout_of(&[frame, texture, group.as_ref(), mask]);
            GuiShader {
                name: name.to_string(),
                module,
                layout,
                masked_layout,
                group,
                pipelines: NumberMap::default(),
            }
        })
    }

    pub fn create_pipeline(
        &self,
        device: &GpuDevice,
        purpose: PipelinePurpose,
    ) -> Result<wgpu::RenderPipeline, String> {
        let attributes = wgpu::vertex_attr_array![
            0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Unorm8x4, 4 => Uint32,
            5 => Float32x2
        ];
        let color = |shader_location, offset| wgpu::VertexAttribute {
            format: wgpu::VertexFormat::Unorm8x4,
            offset,
            shader_location,
        };
        // Colors in the bytes of other fields.
        let corners = offset_of!(QuadInstance, corners) as u64;
        let extra = offset_of!(QuadInstance, extra) as u64;
        let more = [color(6, corners + 24), color(7, corners + 28), color(8, extra + 4)];
        let attributes = [&attributes[..], &more].concat();
        let constants = constants(&purpose);
        let options =
            || wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        let blend = if purpose.erases { Some(erasing_state()) } else { blend_state(purpose.blend) };
        let (layout, entry_point) = match purpose.masked {
            true => (&self.masked_layout, "engine_masked_fragment"),
            false => (&self.layout, "engine_fragment"),
        };
        let depth = purpose.depth.then(|| wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(false),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        });
        device.compiled(|device| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(&self.name),
                layout: Some(layout),
                vertex: wgpu::VertexState {
                    module: &self.module,
                    entry_point: Some("engine_vertex"),
                    compilation_options: options(),
                    buffers: &[Some(wgpu::VertexBufferLayout {
                        array_stride: size_of::<QuadInstance>() as u64,
                        step_mode: wgpu::VertexStepMode::Instance,
                        attributes: &attributes,
                    })],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: depth,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &self.module,
                    entry_point: Some(entry_point),
                    compilation_options: options(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format: purpose.format,
                        blend,
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        })
    }
}
