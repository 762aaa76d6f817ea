//! The pipelines of scenes, created when they are first needed. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::{DEPTH_FORMAT, blend_state};
use super::super::numeric_map::NumberMap;
use super::super::scene::PipelineClass;
use super::super::screen_space::MOTION_FORMAT;
use super::super::shader_sources::{
    MeshVariant, ParticleVariant, debug_image_source, mesh_source, particle_source, source,
    source_of_resolved_light,
};
use super::bind_group_layouts::BindGroupLayouts;
use super::mesh_pipelines::{FunctionsGroup, MeshOptions, mesh_buffers, mesh_pipeline};
use super::object_motion::INSTANCE_BYTES;
use super::{LIGHT_FORMAT, PARTICLE_BYTES};
use engine_frame_packet::material::BlendMode;

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
        /// True if a debug view shows an image instead.
        is_debug: bool,
    },
    /// Draws the depth of opaque meshes of a class with one sample per pixel.
    DepthPrepass(PipelineClass),
    /// Draws the motion vectors of moved meshes of a class.
    ObjectMotion(PipelineClass),
    Particles(BlendMode),
    /// Draws particles in the light and the fog of a view.
    LitParticles(BlendMode),
    /// Draws what is behind particles, displaced.
    DistortingParticles,
    /// Counts the pixels of particles.
    ParticleOverdraw,
    /// Copies the light behind surfaces; `false`: halves the size of a copy.
    LightBehind {
        copies: bool,
    },
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
    /// The module of surfaces that let light through, created when it is first needed.
    transmission: Option<wgpu::ShaderModule>,
    light_behind: Option<wgpu::ShaderModule>,
    shadow: wgpu::ShaderModule,
    sky: wgpu::ShaderModule,
    tonemap: wgpu::ShaderModule,
    /// Created when they are first needed.
    object_motion: Option<wgpu::ShaderModule>,
    tonemap_resolved: Option<wgpu::ShaderModule>,
    debug_mesh: Option<wgpu::ShaderModule>,
    /// Of debug views, for the light of the scene and for images with one sample per pixel.
    debug_images: [Option<wgpu::ShaderModule>; 2],
    particles: wgpu::ShaderModule,
    /// Of lit and of distorting particles, created when they are first needed.
    particle_variants: [Option<wgpu::ShaderModule>; 2],
    samples: u32,
    pipelines: NumberMap<PipelineKey, wgpu::RenderPipeline>,
}

/// The slots of an instance, and its first row of previous poses.
const MOVED: [wgpu::VertexAttribute; 2] = wgpu::vertex_attr_array![5 => Uint32x2, 9 => Uint32];
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
            light_behind: None,
            shadow: module("shadow"),
            sky: module("sky"),
            tonemap: module("tonemap"),
            object_motion: None,
            tonemap_resolved: None,
            debug_mesh: None,
            debug_images: [None, None],
            particles: module("particles"),
            particle_variants: [None, None],
            samples,
            pipelines: NumberMap::default(),
        }
    }

    /// Creates a pipeline, if it does not exist.
    pub fn ensure(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, key: PipelineKey) {
        if !self.pipelines.contains_key(&key) {
            let pipeline = match key {
                PipelineKey::Mesh(class) => self.mesh(device, layouts, class, false),
                PipelineKey::MapLitMesh(class) => self.mesh(device, layouts, class, true),
                PipelineKey::ObjectMotion(class) => self.object_motion(device, layouts, class),
                PipelineKey::DepthPrepass(class) => self.depth_prepass(device, layouts, class),
                PipelineKey::Sky => self.sky(device, layouts),
                PipelineKey::Tonemap { format, has_depth, is_resolved, is_debug } => {
                    self.tonemap(device, layouts, format, (has_depth, is_resolved, is_debug))
                }
                PipelineKey::Particles(blend) => {
                    self.particles(device, layouts, blend, "particle_fragment")
                }
                PipelineKey::LitParticles(blend) => self.lit_particles(device, layouts, blend),
                PipelineKey::DistortingParticles => self.distorting_particles(device, layouts),
                PipelineKey::ParticleOverdraw => {
                    self.particles(device, layouts, BlendMode::Premultiplied, "overdraw_fragment")
                }
                PipelineKey::LightBehind { copies } => self.light_behind(device, layouts, copies),
                PipelineKey::ClearTile => self.clear_tile(device),
            };
            self.pipelines.insert(key, pipeline);
        }
    }

    /// Returns a pipeline that `ensure` created.
    pub fn get(&self, key: PipelineKey) -> &wgpu::RenderPipeline {
        &self.pipelines[&key]
    }

    /// Creates a pipeline of meshes with the engine's own surface.
    fn mesh(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
        is_map_lit: bool,
    ) -> wgpu::RenderPipeline {
        let module = if class.has(PipelineClass::SHADOW) {
            &self.shadow
        } else if class.has(PipelineClass::TRANSMISSION) {
            let source = || mesh_source("mesh", false, MeshVariant::Transmission);
            let make = || module_of(device, "transmission", source());
            &*self.transmission.get_or_insert_with(make)
        } else if class.has(PipelineClass::DEBUG) {
            let source = || mesh_source("mesh", false, MeshVariant::Debug);
            &*self.debug_mesh.get_or_insert_with(|| module_of(device, "debug view", source()))
        } else {
            &self.mesh
        };
        let hides_uniforms = device.info.software;
        let options =
            MeshOptions { module, class, samples: self.samples, is_map_lit, hides_uniforms };
        mesh_pipeline(&device.device, layouts, &options, None)
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
        motion_pipeline(&device.device, layouts, module, class, None)
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
        (has_depth, is_resolved, is_debug): (bool, bool, bool),
    ) -> wgpu::RenderPipeline {
        let light = match (has_depth, is_resolved) {
            (true, true) => &layouts.resolved_light,
            (true, false) => &layouts.light,
            (false, true) => &layouts.resolved_light_only,
            (false, false) => &layouts.light_only,
        };
        let samples = self.samples;
        let module = match (is_debug, is_resolved) {
            (true, _) => self.debug_images[usize::from(is_resolved)].get_or_insert_with(|| {
                module_of(device, "debug view", debug_image_source(samples, is_resolved))
            }),
            (false, true) => self.tonemap_resolved.get_or_insert_with(|| {
                module_of(device, "tonemap", source_of_resolved_light("tonemap", samples))
            }),
            (false, false) => &self.tonemap,
        };
        let samples = if is_resolved { 1 } else { samples };
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

    fn light_behind(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        copies: bool,
    ) -> wgpu::RenderPipeline {
        let samples = self.samples;
        let make_module = || module_of(device, "light behind", source("light_behind", samples));
        let module = &*self.light_behind.get_or_insert_with(make_module);
        make(
            &device.device,
            &PipelineOptions {
                label: "light behind",
                layouts: &[Some(if copies { &layouts.light_only } else { &layouts.behind })],
                module,
                vertex: "behind_vertex",
                fragment: Some(if copies { "copy_fragment" } else { "smaller_fragment" }),
                constants: &[("SAMPLES", f64::from(samples))],
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
        fragment: &'static str,
    ) -> wgpu::RenderPipeline {
        let groups = [Some(&layouts.particles), Some(&layouts.texture), Some(&layouts.depth)];
        self.particle_pipeline(device, &groups, (&self.particles, fragment), (blend, &[]))
    }

    fn lit_particles(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        blend: BlendMode,
    ) -> wgpu::RenderPipeline {
        let module = self.particle_module(device, ParticleVariant::Lit);
        let groups = [&layouts.scene, &layouts.texture, &layouts.depth, &layouts.batch].map(Some);
        // The uniform says if a view has the maps of a sky.
        let constants = [("SKY_MAPS", 1.0), device.hides_uniforms()];
        self.particle_pipeline(device, &groups, (&module, "particle_fragment"), (blend, &constants))
    }

    fn distorting_particles(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
    ) -> wgpu::RenderPipeline {
        let module = self.particle_module(device, ParticleVariant::Distorting);
        let groups = [&layouts.particles, &layouts.texture, &layouts.depth, &layouts.behind];
        let shader = (&module, "distortion_fragment");
        let blend = (BlendMode::Premultiplied, &[][..]);
        self.particle_pipeline(device, &groups.map(Some), shader, blend)
    }

    fn particle_module(
        &mut self,
        device: &GpuDevice,
        variant: ParticleVariant,
    ) -> wgpu::ShaderModule {
        let samples = self.samples;
        let make = || module_of(device, "particles", particle_source(variant, samples));
        self.particle_variants[variant as usize].get_or_insert_with(make).clone()
    }

    /// Creates a pipeline of particles with a shader.
    fn particle_pipeline(
        &self,
        device: &GpuDevice,
        groups: &[Option<&wgpu::BindGroupLayout>],
        (module, fragment): (&wgpu::ShaderModule, &'static str),
        (blend, constants): (BlendMode, &[(&'static str, f64)]),
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
                layouts: groups,
                module,
                vertex: "particle_vertex",
                fragment: Some(fragment),
                constants,
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

/// Creates a pipeline of the motion vectors of moved meshes. `functions`: the module has surface
/// functions of a game, and names with a prefix.
pub fn motion_pipeline(
    device: &wgpu::Device,
    layouts: &BindGroupLayouts,
    module: &wgpu::ShaderModule,
    class: PipelineClass,
    functions: Option<FunctionsGroup>,
) -> wgpu::RenderPipeline {
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
    let is_custom = functions.is_some();
    let material = functions.and_then(|FunctionsGroup(layout)| layout);
    let groups = [Some(&layouts.map), Some(&layouts.set), material];
    let count = match (material, mask || is_custom) {
        (Some(_), _) => 3,
        (None, true) => 2,
        (None, false) => 1,
    };
    let name = |engine, custom| if is_custom { custom } else { engine };
    make(
        device,
        &PipelineOptions {
            label: "object motion",
            layouts: &groups[..count],
            module,
            vertex: match deformed {
                true => name("deformed_motion_vertex", "engine_deformed_motion_vertex"),
                false => name("motion_vertex", "engine_motion_vertex"),
            },
            fragment: Some(match mask {
                true => name("masked_motion_fragment", "engine_masked_motion_fragment"),
                false => name("motion_fragment", "engine_motion_fragment"),
            }),
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

fn module_of(device: &GpuDevice, label: &str, source: String) -> wgpu::ShaderModule {
    device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}
