//! The pipelines of scenes, created when they are first needed. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::{DEPTH_FORMAT, blend_state};
use super::super::numeric_map::NumberMap;
use super::super::scene::PipelineClass;
use super::super::screen_space::MOTION_FORMAT;
use super::super::shader_sources::{source, source_of_resolved_light};
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_buffers::DeformerVertex;
use super::object_motion::INSTANCE_BYTES;
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
        /// True if the light has one sample per pixel, as screen-space effects leave it.
        is_resolved: bool,
    },
    /// Draws the depth of opaque meshes of a class with one sample per pixel.
    DepthPrepass(PipelineClass),
    /// Draws the motion vectors of moved meshes of a class.
    ObjectMotion(PipelineClass),
    Particles(BlendMode),
    /// Clears the depth of a tile of the shadow atlas.
    ClearTile,
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
    /// Created when they are first needed.
    object_motion: Option<wgpu::ShaderModule>,
    tonemap_resolved: Option<wgpu::ShaderModule>,
    particles: wgpu::ShaderModule,
    samples: u32,
    pipelines: NumberMap<PipelineKey, wgpu::RenderPipeline>,
}

const CORNER: [wgpu::VertexAttribute; 5] = wgpu::vertex_attr_array![
    0 => Float32x3, 1 => Snorm8x4, 2 => Snorm8x4, 3 => Float32x2, 4 => Unorm8x4
];
const WHICH: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![5 => Uint32x2];
/// The slots of an instance, and its first row of previous poses.
const MOVED: [wgpu::VertexAttribute; 2] = wgpu::vertex_attr_array![5 => Uint32x2, 9 => Uint32];
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
            object_motion: None,
            tonemap_resolved: None,
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
                    let is_shadow = class.has(PipelineClass::SHADOW);
                    let module = if is_shadow { &self.shadow } else { &self.mesh };
                    let samples = self.samples;
                    let options = MeshOptions { module, class, samples, is_map_lit: false };
                    mesh_pipeline(&device.device, layouts, &options, None)
                }
                PipelineKey::ObjectMotion(class) => self.object_motion(device, layouts, class),
                PipelineKey::DepthPrepass(class) => self.depth_prepass(device, layouts, class),
                PipelineKey::MapLitMesh(class) => {
                    let (module, samples) = (&self.mesh, self.samples);
                    let options = MeshOptions { module, class, samples, is_map_lit: true };
                    mesh_pipeline(&device.device, layouts, &options, None)
                }
                PipelineKey::Sky => self.sky(device, layouts),
                PipelineKey::Tonemap { format, has_depth, is_resolved } => {
                    self.tonemap(device, layouts, format, (has_depth, is_resolved))
                }
                PipelineKey::Particles(blend) => self.particles(device, layouts, blend),
                PipelineKey::ClearTile => self.clear_tile(device),
            };
            self.pipelines.insert(key, pipeline);
        }
    }

    /// Returns a pipeline that `ensure` created.
    pub fn get(&self, key: PipelineKey) -> &wgpu::RenderPipeline {
        &self.pipelines[&key]
    }

    /// Creates the pipeline of meshes in the depth prepass of a view.
    fn depth_prepass(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
    ) -> wgpu::RenderPipeline {
        let mask = class.has(PipelineClass::MASK);
        let deformed = class.has(PipelineClass::DEFORMED);
        let depth = depth_state(true, wgpu::CompareFunction::LessEqual);
        let with_set = [Some(&layouts.map), Some(&layouts.set)];
        make(
            &device.device,
            &PipelineOptions {
                label: "depth prepass",
                layouts: if mask { &with_set } else { &with_set[..1] },
                module: &self.shadow,
                vertex: if deformed { "deformed_shadow_vertex" } else { "shadow_vertex" },
                fragment: mask.then_some("shadow_fragment"),
                constants: &[],
                buffers: &mesh_buffers(deformed),
                strip: false,
                front: match class.has(PipelineClass::MIRRORED) {
                    true => wgpu::FrontFace::Cw,
                    false => wgpu::FrontFace::Ccw,
                },
                cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
                depth: Some(depth),
                samples: 1,
                target: None,
            },
        )
    }

    fn object_motion(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
    ) -> wgpu::RenderPipeline {
        let module = self.object_motion.get_or_insert_with(|| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("object motion"),
                source: wgpu::ShaderSource::Wgsl(source("object_motion", 1).into()),
            })
        });
        let mask = class.has(PipelineClass::MASK);
        let deformed = class.has(PipelineClass::DEFORMED);
        let mut depth = depth_state(false, wgpu::CompareFunction::LessEqual);
        // The depth is that of the prepass, whose shader may round differently.
        depth.bias = wgpu::DepthBiasState { constant: -4, slope_scale: -1.0, clamp: 0.0 };
        let mut buffers = mesh_buffers(deformed);
        buffers[1] = Some(wgpu::VertexBufferLayout {
            array_stride: INSTANCE_BYTES,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &MOVED,
        });
        let with_set = [Some(&layouts.map), Some(&layouts.set)];
        make(
            &device.device,
            &PipelineOptions {
                label: "object motion",
                layouts: if mask { &with_set } else { &with_set[..1] },
                module,
                vertex: if deformed { "deformed_motion_vertex" } else { "motion_vertex" },
                fragment: Some(if mask { "masked_motion_fragment" } else { "motion_fragment" }),
                constants: &[],
                buffers: &buffers,
                strip: false,
                front: match class.has(PipelineClass::MIRRORED) {
                    true => wgpu::FrontFace::Cw,
                    false => wgpu::FrontFace::Ccw,
                },
                cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
                depth: Some(depth),
                samples: 1,
                target: Some((MOTION_FORMAT, None)),
            },
        )
    }

    fn clear_tile(&self, device: &GpuDevice) -> wgpu::RenderPipeline {
        make(
            &device.device,
            &PipelineOptions {
                label: "clear tile",
                layouts: &[],
                module: &self.shadow,
                vertex: "clear_vertex",
                fragment: None,
                constants: &[],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: Some(depth_state(true, wgpu::CompareFunction::Always)),
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
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        format: wgpu::TextureFormat,
        (has_depth, is_resolved): (bool, bool),
    ) -> wgpu::RenderPipeline {
        let light = match (has_depth, is_resolved) {
            (true, true) => &layouts.resolved_light,
            (true, false) => &layouts.light,
            (false, true) => &layouts.resolved_light_only,
            (false, false) => &layouts.light_only,
        };
        let module = match is_resolved {
            true => self.tonemap_resolved.get_or_insert_with(|| {
                let source = source_of_resolved_light("tonemap", self.samples);
                device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("tonemap"),
                    source: wgpu::ShaderSource::Wgsl(source.into()),
                })
            }),
            false => &self.tonemap,
        };
        let samples = if is_resolved { 1 } else { self.samples };
        make(
            &device.device,
            &PipelineOptions {
                label: "show",
                layouts: &[Some(&layouts.view), Some(light)],
                module,
                vertex: "show_vertex",
                fragment: Some(if has_depth { "show_deep_fragment" } else { "show_fragment" }),
                constants: &[("SAMPLES", f64::from(samples))],
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

/// The parameters in which pipelines of meshes differ.
pub struct MeshOptions<'a> {
    pub module: &'a wgpu::ShaderModule,
    /// The class; [`PipelineClass::SHADOW`]: the pipeline draws into shadow maps.
    pub class: PipelineClass,
    pub samples: u32,
    /// True if the maps of a sky or of probes may light the meshes.
    pub is_map_lit: bool,
}

/// The group of a material with surface functions; its module has names with a prefix.
pub struct FunctionsGroup<'a>(pub Option<&'a wgpu::BindGroupLayout>);

/// Creates a pipeline of meshes. `functions`: the module has surface functions of a game.
pub fn mesh_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    options: &MeshOptions,
    functions: Option<FunctionsGroup>,
) -> wgpu::RenderPipeline {
    let class = options.class;
    let is_custom = functions.is_some();
    let own = |engine: &'static str, custom: &'static str| if is_custom { custom } else { engine };
    let material = functions.and_then(|FunctionsGroup(layout)| layout);
    let mask = class.has(PipelineClass::MASK);
    let deformed = class.has(PipelineClass::DEFORMED);
    if class.has(PipelineClass::SHADOW) {
        let mut depth = depth_state(true, wgpu::CompareFunction::LessEqual);
        // Surfaces parallel to the light are moved back, so that they do not shadow themselves.
        depth.bias = wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 };
        let with_set = [Some(&layouts.map), Some(&layouts.set), material];
        let count = if material.is_some() {
            3
        } else if mask || is_custom {
            2
        } else {
            1
        };
        return make(
            device,
            &PipelineOptions {
                label: "shadow",
                layouts: &with_set[..count],
                module: options.module,
                vertex: match deformed {
                    true => own("deformed_shadow_vertex", "engine_deformed_shadow_vertex"),
                    false => own("shadow_vertex", "engine_shadow_vertex"),
                },
                fragment: mask.then_some(own("shadow_fragment", "engine_shadow_fragment")),
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
        );
    }
    let blend = class.has(PipelineClass::BLEND);
    let flag = |name, set| (name, f64::from(u8::from(set)));
    let constants = [
        flag(own("MASK", "engine_MASK"), mask),
        flag(own("SKY_MAPS", "engine_SKY_MAPS"), options.is_map_lit),
    ];
    let groups = [Some(&layouts.scene), Some(&layouts.set), material];
    make(
        device,
        &PipelineOptions {
            label: "mesh",
            layouts: &groups[..2 + usize::from(material.is_some())],
            module: options.module,
            vertex: match deformed {
                true => own("deformed_mesh_vertex", "engine_deformed_mesh_vertex"),
                false => own("mesh_vertex", "engine_mesh_vertex"),
            },
            fragment: Some(own("mesh_fragment", "engine_mesh_fragment")),
            constants: &constants,
            buffers: &mesh_buffers(deformed),
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
