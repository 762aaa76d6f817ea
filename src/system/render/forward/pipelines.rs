//! The pipelines of scenes, created when they are first needed. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::{DEPTH_FORMAT, blend_state};
use super::super::numeric_map::NumberMap;
use super::super::scene::PipelineClass;
use super::super::shader_sources::{mesh_source, source};
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
    Sky,
    /// Tone-maps the light onto a target of a format; if `has_depth`, it also writes the depth.
    Tonemap {
        format: wgpu::TextureFormat,
        has_depth: bool,
    },
    Particles(BlendMode),
    /// Copies the light; `false`: halves the size of a copy.
    Background {
        copies: bool,
    },
}

/// All pipelines of scenes.
pub struct PipelineCache {
    mesh: wgpu::ShaderModule,
    /// The module of surfaces that let light through, created when it is first needed.
    transmission: Option<wgpu::ShaderModule>,
    background: Option<wgpu::ShaderModule>,
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
            transmission: None,
            background: None,
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
                PipelineKey::Mesh(class) => {
                    let module = if class.has(PipelineClass::SHADOW) {
                        &self.shadow
                    } else if class.has(PipelineClass::TRANSMISSION) {
                        let make = || module_of(device, mesh_source("mesh", false, true));
                        &*self.transmission.get_or_insert_with(make)
                    } else {
                        &self.mesh
                    };
                    let options = MeshOptions { module, class, samples: self.samples };
                    mesh_pipeline(&device.device, layouts, &options, None)
                }
                PipelineKey::Sky => self.sky(device, layouts),
                PipelineKey::Tonemap { format, has_depth } => {
                    self.tonemap(device, layouts, format, has_depth)
                }
                PipelineKey::Particles(blend) => self.particles(device, layouts, blend),
                PipelineKey::Background { copies } => self.background(device, layouts, copies),
            };
            self.pipelines.insert(key, pipeline);
        }
    }

    /// Returns a pipeline that `ensure` created.
    pub fn get(&self, key: PipelineKey) -> &wgpu::RenderPipeline {
        &self.pipelines[&key]
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

    fn background(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        copies: bool,
    ) -> wgpu::RenderPipeline {
        let source = source("background", self.samples);
        let module = self.background.get_or_insert_with(|| module_of(device, source));
        make(
            &device.device,
            &PipelineOptions {
                label: "background",
                layouts: &[Some(if copies { &layouts.light_only } else { &layouts.background })],
                module,
                vertex: "background_vertex",
                fragment: Some(if copies { "copy_fragment" } else { "smaller_fragment" }),
                constants: &[("SAMPLES", f64::from(self.samples))],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: None,
                samples: 1,
                target: Some((LIGHT_FORMAT, None)),
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

fn module_of(device: &GpuDevice, source: String) -> wgpu::ShaderModule {
    device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("surfaces"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

/// The parameters in which pipelines of meshes differ.
pub struct MeshOptions<'a> {
    pub module: &'a wgpu::ShaderModule,
    /// The class; [`PipelineClass::SHADOW`]: the pipeline draws into shadow maps.
    pub class: PipelineClass,
    pub samples: u32,
}

/// The group of a material with surface functions; its module has names with a prefix.
pub struct FunctionsGroup<'a>(pub Option<&'a wgpu::BindGroupLayout>);

/// The variants of a pipeline of meshes: the parts of its class and of its functions.
struct MeshVariant<'a> {
    /// True if the module has surface functions, and so names with a prefix.
    is_custom: bool,
    material: Option<&'a wgpu::BindGroupLayout>,
    mask: bool,
    deformed: bool,
}

impl MeshVariant<'_> {
    /// Returns a name in the module: the engine's own, or that with the prefix.
    fn name(&self, engine: &'static str, custom: &'static str) -> &'static str {
        if self.is_custom { custom } else { engine }
    }
}

/// Creates a pipeline of meshes. `functions`: the module has surface functions of a game.
pub fn mesh_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    options: &MeshOptions,
    functions: Option<FunctionsGroup>,
) -> wgpu::RenderPipeline {
    let class = options.class;
    let variant = MeshVariant {
        is_custom: functions.is_some(),
        material: functions.and_then(|FunctionsGroup(layout)| layout),
        mask: class.has(PipelineClass::MASK),
        deformed: class.has(PipelineClass::DEFORMED),
    };
    if class.has(PipelineClass::SHADOW) {
        return shadow_pipeline(device, layouts, options.module, &variant);
    }
    let blend = class.has(PipelineClass::BLEND);
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let constants = [
        flag(variant.name("MASK", "engine_MASK"), variant.mask),
        flag(variant.name("LOBES", "engine_LOBES"), class.has(PipelineClass::LOBES)),
    ];
    let behind = class.has(PipelineClass::TRANSMISSION).then_some(&layouts.background);
    let groups = [Some(&layouts.scene), Some(&layouts.set), variant.material, behind];
    let count = if behind.is_some() { 4 } else { 2 + usize::from(variant.material.is_some()) };
    make(
        device,
        &PipelineOptions {
            label: "mesh",
            layouts: &groups[..count],
            module: options.module,
            vertex: match variant.deformed {
                true => variant.name("deformed_mesh_vertex", "engine_deformed_mesh_vertex"),
                false => variant.name("mesh_vertex", "engine_mesh_vertex"),
            },
            fragment: Some(variant.name("mesh_fragment", "engine_mesh_fragment")),
            constants: &constants,
            buffers: &mesh_buffers(variant.deformed),
            strip: false,
            front: match class.has(PipelineClass::MIRRORED) {
                true => wgpu::FrontFace::Cw,
                false => wgpu::FrontFace::Ccw,
            },
            cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
            depth: Some(depth_state(!blend, wgpu::CompareFunction::LessEqual)),
            samples: options.samples,
            target: Some((LIGHT_FORMAT, blend_state(blend_mode(blend)))),
        },
    )
}

/// Creates a pipeline of meshes in shadow maps.
fn shadow_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    module: &wgpu::ShaderModule,
    variant: &MeshVariant,
) -> wgpu::RenderPipeline {
    let MeshVariant { is_custom, material, mask, deformed } = *variant;
    let mut depth = depth_state(true, wgpu::CompareFunction::LessEqual);
    // Surfaces parallel to the light are moved back, so that they do not shadow themselves.
    depth.bias = wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 };
    let groups = [Some(&layouts.map), Some(&layouts.set), material];
    let count = match (material, mask || is_custom) {
        (Some(_), _) => 3,
        (None, true) => 2,
        (None, false) => 1,
    };
    make(
        device,
        &PipelineOptions {
            label: "shadow",
            layouts: &groups[..count],
            module,
            vertex: match deformed {
                true => variant.name("deformed_shadow_vertex", "engine_deformed_shadow_vertex"),
                false => variant.name("shadow_vertex", "engine_shadow_vertex"),
            },
            fragment: mask.then_some(variant.name("shadow_fragment", "engine_shadow_fragment")),
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
