//! The pipelines of scenes, created when they are first needed. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::{DEPTH_FORMAT, blend_state};
use super::super::numeric_map::NumberMap;
use super::super::scene::PipelineClass;
use super::super::shader_sources::source;
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_buffers::DeformerVertex;
use super::{LIGHT_FORMAT, PARTICLE_BYTES};
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::mesh::MeshVertex;

/// The purpose of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PipelineKey {
    /// Draws meshes of a class, [`PipelineClass::SHADOW`] included.
    Mesh(PipelineClass),
    /// Draws meshes of a class in the light of the maps of a sky or of probes.
    MapLitMesh(PipelineClass),
    Sky,
    /// Tone-maps the light onto a target of a format; if `has_depth`, it also writes the depth.
    Tonemap {
        format: wgpu::TextureFormat,
        has_depth: bool,
    },
    Particles(BlendMode),
}

impl PipelineKey {
    /// Returns the key of meshes in a view that the maps of a sky or of probes light, or do not.
    pub fn of_mesh(class: PipelineClass, is_map_lit: bool) -> PipelineKey {
        match is_map_lit && !class.has(PipelineClass::SHADOW) {
            true => PipelineKey::MapLitMesh(class),
            false => PipelineKey::Mesh(class),
        }
    }
}

/// All pipelines of scenes.
pub struct PipelineCache {
    mesh: wgpu::ShaderModule,
    shadow: wgpu::ShaderModule,
    sky: wgpu::ShaderModule,
    tonemap: wgpu::ShaderModule,
    particles: wgpu::ShaderModule,
    samples: u32,
    pipelines: NumberMap<PipelineKey, wgpu::RenderPipeline>,
}

const CORNER: [wgpu::VertexAttribute; 5] = wgpu::vertex_attr_array![
    0 => Float32x3, 1 => Snorm8x4, 2 => Snorm8x4, 3 => Float32x2, 4 => Unorm8x4
];
const WHICH: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![5 => Uint32x2];
const DEFORMER: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![6 => Uint16x4, 7 => Unorm16x4, 8 => Uint32x2];
const PARTICLE: [wgpu::VertexAttribute; 7] = wgpu::vertex_attr_array![
    0 => Float32x3, 1 => Float32, 2 => Float32x2, 3 => Unorm8x4, 4 => Float32, 5 => Float32x4,
    6 => Float32x3
];

/// The parameters in which pipelines differ.
pub struct PipelineOptions<'a> {
    pub label: &'static str,
    pub layouts: &'a [Option<&'a wgpu::BindGroupLayout>],
    pub module: &'a wgpu::ShaderModule,
    pub vertex: &'static str,
    pub fragment: Option<&'static str>,
    pub constants: &'a [(&'static str, f64)],
    pub buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    pub strip: bool,
    pub front: wgpu::FrontFace,
    pub cull: Option<wgpu::Face>,
    pub depth: Option<wgpu::DepthStencilState>,
    pub samples: u32,
    pub target: Option<(wgpu::TextureFormat, Option<wgpu::BlendState>)>,
}

pub fn depth_state(write: bool, compare: wgpu::CompareFunction) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH_FORMAT,
        depth_write_enabled: Some(write),
        depth_compare: Some(compare),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}

pub fn make(device: &wgpu::Device, parts: &PipelineOptions) -> wgpu::RenderPipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(parts.label),
        bind_group_layouts: parts.layouts,
        immediate_size: 0,
    });
    let topology = match parts.strip {
        true => wgpu::PrimitiveTopology::TriangleStrip,
        false => wgpu::PrimitiveTopology::TriangleList,
    };
    let target = parts.target.map(|(format, blend)| wgpu::ColorTargetState {
        format,
        blend,
        write_mask: wgpu::ColorWrites::ALL,
    });
    let targets = [target];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(parts.label),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: parts.module,
            entry_point: Some(parts.vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: parts.buffers,
        },
        primitive: wgpu::PrimitiveState {
            topology,
            front_face: parts.front,
            cull_mode: parts.cull,
            ..Default::default()
        },
        depth_stencil: parts.depth.clone(),
        multisample: wgpu::MultisampleState { count: parts.samples, ..Default::default() },
        fragment: parts.fragment.map(|entry| wgpu::FragmentState {
            module: parts.module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: parts.constants,
                ..Default::default()
            },
            targets: if parts.target.is_some() { &targets } else { &[] },
        }),
        multiview_mask: None,
        cache: None,
    })
}

impl PipelineCache {
    pub fn new(device: &GpuDevice, samples: u32) -> PipelineCache {
        let module = |name| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source(name, samples).into()),
            })
        };
        PipelineCache {
            mesh: module("mesh"),
            shadow: module("shadow"),
            sky: module("sky"),
            tonemap: module("tonemap"),
            particles: module("particles"),
            samples,
            pipelines: NumberMap::default(),
        }
    }

    /// Creates a pipeline, if it does not exist.
    pub fn ensure(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, key: PipelineKey) {
        if !self.pipelines.contains_key(&key) {
            let pipeline = match key {
                PipelineKey::Mesh(class) if class.has(PipelineClass::SHADOW) => {
                    self.shadow(device, layouts, class)
                }
                PipelineKey::Mesh(class) => self.mesh(device, layouts, class, false),
                PipelineKey::MapLitMesh(class) => self.mesh(device, layouts, class, true),
                PipelineKey::Sky => self.sky(device, layouts),
                PipelineKey::Tonemap { format, has_depth } => {
                    self.tonemap(device, layouts, format, has_depth)
                }
                PipelineKey::Particles(blend) => self.particles(device, layouts, blend),
            };
            self.pipelines.insert(key, pipeline);
        }
    }

    /// Returns a pipeline that `ensure` created.
    pub fn get(&self, key: PipelineKey) -> &wgpu::RenderPipeline {
        &self.pipelines[&key]
    }

    fn mesh(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
        is_map_lit: bool,
    ) -> wgpu::RenderPipeline {
        let blend = class.has(PipelineClass::BLEND);
        let deformed = class.has(PipelineClass::DEFORMED);
        let flag = |name, set| (name, f64::from(u8::from(set)));
        let mask = flag("MASK", class.has(PipelineClass::MASK));
        let constants = [mask, flag("SKY_MAPS", is_map_lit)];
        make(
            &device.device,
            &PipelineOptions {
                label: "mesh",
                layouts: &[Some(&layouts.scene), Some(&layouts.set)],
                module: &self.mesh,
                vertex: if deformed { "deformed_mesh_vertex" } else { "mesh_vertex" },
                fragment: Some("mesh_fragment"),
                constants: &constants,
                buffers: &mesh_buffers(deformed),
                strip: false,
                front: match class.has(PipelineClass::MIRRORED) {
                    true => wgpu::FrontFace::Cw,
                    false => wgpu::FrontFace::Ccw,
                },
                cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
                depth: Some(depth_state(!blend, wgpu::CompareFunction::LessEqual)),
                samples: self.samples,
                target: Some((LIGHT_FORMAT, blend_state(blend_mode(blend)))),
            },
        )
    }

    fn shadow(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
    ) -> wgpu::RenderPipeline {
        let mask = class.has(PipelineClass::MASK);
        let deformed = class.has(PipelineClass::DEFORMED);
        let mut depth = depth_state(true, wgpu::CompareFunction::LessEqual);
        // Surfaces parallel to the light are moved back, so that they do not shadow themselves.
        depth.bias = wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 };
        let with_set = [Some(&layouts.map), Some(&layouts.set)];
        make(
            &device.device,
            &PipelineOptions {
                label: "shadow",
                layouts: if mask { &with_set } else { &with_set[..1] },
                module: &self.shadow,
                vertex: if deformed { "deformed_shadow_vertex" } else { "shadow_vertex" },
                fragment: mask.then_some("shadow_fragment"),
                constants: &[],
                buffers: &mesh_buffers(deformed),
                strip: false,
                front: wgpu::FrontFace::Ccw,
                // Thin objects with one visible side cast shadows in both directions.
                cull: None,
                depth: Some(depth),
                samples: 1,
                target: None,
            },
        )
    }

    fn sky(&self, device: &GpuDevice, layouts: &BindGroupLayouts) -> wgpu::RenderPipeline {
        make(
            &device.device,
            &PipelineOptions {
                label: "sky",
                layouts: &[Some(&layouts.view)],
                module: &self.sky,
                vertex: "sky_vertex",
                fragment: Some("sky_fragment"),
                constants: &[],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: Some(depth_state(false, wgpu::CompareFunction::LessEqual)),
                samples: self.samples,
                target: Some((LIGHT_FORMAT, None)),
            },
        )
    }

    fn tonemap(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        format: wgpu::TextureFormat,
        has_depth: bool,
    ) -> wgpu::RenderPipeline {
        let light = if has_depth { &layouts.light } else { &layouts.light_only };
        make(
            &device.device,
            &PipelineOptions {
                label: "show",
                layouts: &[Some(&layouts.view), Some(light)],
                module: &self.tonemap,
                vertex: "show_vertex",
                fragment: Some(if has_depth { "show_deep_fragment" } else { "show_fragment" }),
                constants: &[("SAMPLES", f64::from(self.samples))],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: has_depth.then(|| depth_state(true, wgpu::CompareFunction::Always)),
                samples: 1,
                target: Some((format, blend_state(BlendMode::Alpha))),
            },
        )
    }

    fn particles(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        blend: BlendMode,
    ) -> wgpu::RenderPipeline {
        let buffers = [Some(wgpu::VertexBufferLayout {
            array_stride: PARTICLE_BYTES,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &PARTICLE,
        })];
        make(
            &device.device,
            &PipelineOptions {
                label: "particles",
                layouts: &[Some(&layouts.particles), Some(&layouts.texture), Some(&layouts.depth)],
                module: &self.particles,
                vertex: "particle_vertex",
                fragment: Some("particle_fragment"),
                constants: &[],
                buffers: &buffers,
                strip: true,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: Some(depth_state(false, wgpu::CompareFunction::LessEqual)),
                samples: self.samples,
                target: Some((LIGHT_FORMAT, blend_state(blend))),
            },
        )
    }
}

fn blend_mode(blend: bool) -> BlendMode {
    if blend { BlendMode::Alpha } else { BlendMode::Replace }
}

/// Returns the vertex buffers of meshes; those of meshes with joints or morph targets have one
/// more.
pub fn mesh_buffers(deformed: bool) -> Vec<Option<wgpu::VertexBufferLayout<'static>>> {
    let mut all = vec![
        Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<MeshVertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &CORNER,
        }),
        Some(wgpu::VertexBufferLayout {
            array_stride: 8,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &WHICH,
        }),
    ];
    if deformed {
        all.push(Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<DeformerVertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &DEFORMER,
        }));
    }
    all
}
