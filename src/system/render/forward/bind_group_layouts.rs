//! The bind group layouts of the scenes' shaders. Binds nothing.

use super::super::device::GpuDevice;
use super::super::textures::{TextureTable, sampler_entry, texture_entry};

/// All bind group layouts.
pub struct BindGroupLayouts {
    /// The view, draws, surfaces, shadow maps, poses, morph targets and lights: group 0 of meshes.
    pub scene: wgpu::BindGroupLayout,
    /// A shadow map's matrix, draws, surfaces, poses and morph targets: group 0 of shadows.
    pub map: wgpu::BindGroupLayout,
    /// Five textures: group 1 of meshes and shadows.
    pub set: wgpu::BindGroupLayout,
    /// The view alone: group 0 of the sky and of the tone mapping.
    pub view: wgpu::BindGroupLayout,
    /// The frame uniform for materials of games: group 0 of custom shaders.
    pub frame: wgpu::BindGroupLayout,
    /// Light and depth: group 1 of the tone mapping.
    pub light: wgpu::BindGroupLayout,
    /// Light without depth: group 1 of the tone mapping.
    pub light_only: wgpu::BindGroupLayout,
    /// Light with one sample per pixel and the scene's depth, and that light without depth: group 1
    /// of the tone mapping.
    pub resolved_light: wgpu::BindGroupLayout,
    pub resolved_light_only: wgpu::BindGroupLayout,
    /// The view and the batch: group 0 of particles.
    pub particles: wgpu::BindGroupLayout,
    /// The batch alone: group 3 of particles in the light of a view.
    pub batch: wgpu::BindGroupLayout,
    /// Depth alone: group 2 of particles.
    pub depth: wgpu::BindGroupLayout,
    /// The light behind surfaces that let it through, and its sampler: their group 3, and group 0
    /// of the pass that makes its smaller levels.
    pub behind: wgpu::BindGroupLayout,
    /// A texture and its sampler: group 1 of particles.
    pub texture: wgpu::BindGroupLayout,
}

/// Binding of the ambient occlusion in group 0 of meshes.
pub const SCREEN_OCCLUSION: u32 = 16;
/// Binding of the textures of decals in group 0 of meshes.
pub const DECAL_IMAGES: u32 = 17;
/// Binding of the froxel fog.
pub const FOG_FROXELS: u32 = 18;

const BOTH: wgpu::ShaderStages = wgpu::ShaderStages::VERTEX_FRAGMENT;
const VERTEX: wgpu::ShaderStages = wgpu::ShaderStages::VERTEX;
const FRAGMENT: wgpu::ShaderStages = wgpu::ShaderStages::FRAGMENT;

fn uniform(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: BOTH,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: None,
        },
        count: None,
    }
}

fn storage(binding: u32, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

fn sampled_texture(
    binding: u32,
    sample_type: wgpu::TextureSampleType,
    view_dimension: wgpu::TextureViewDimension,
    multisampled: bool,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: FRAGMENT,
        ty: wgpu::BindingType::Texture { sample_type, view_dimension, multisampled },
        count: None,
    }
}

impl BindGroupLayouts {
    pub fn new(device: &GpuDevice, textures: &TextureTable, samples: u32) -> BindGroupLayouts {
        use wgpu::TextureViewDimension::{D2, D2Array};
        let many = samples > 1;
        let depth_type = wgpu::TextureSampleType::Depth;
        let plain = wgpu::TextureSampleType::Float { filterable: false };
        let filtered = wgpu::TextureSampleType::Float { filterable: true };
        let compare = wgpu::BindGroupLayoutEntry {
            binding: 5,
            visibility: FRAGMENT,
            ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
            count: None,
        };
        let (poses, offsets) = (storage(6, VERTEX), storage(7, VERTEX));
        let make = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries };
            device.device.create_bind_group_layout(&descriptor)
        };
        let set: Vec<_> =
            (0..5).flat_map(|i| [texture_entry(2 * i), sampler_entry(2 * i + 1)]).collect();
        BindGroupLayouts {
            scene: make(
                "scene",
                &[
                    uniform(0),
                    storage(1, VERTEX),
                    storage(2, BOTH),
                    sampled_texture(3, depth_type, D2Array, false),
                    sampled_texture(4, depth_type, D2, false),
                    compare,
                    poses,
                    offsets,
                    sampled_texture(SCREEN_OCCLUSION, plain, D2, false),
                    sampled_texture(FOG_FROXELS, filtered, D2, false),
                    sampled_texture(12, filtered, D2Array, false),
                    sampler_entry(13),
                    sampled_texture(DECAL_IMAGES, filtered, D2Array, false),
                    storage(8, FRAGMENT),
                    storage(9, FRAGMENT),
                    storage(10, FRAGMENT),
                ],
            ),
            map: make("map", &[uniform(0), storage(1, VERTEX), storage(2, BOTH), poses, offsets]),
            set: make("set", &set),
            view: make("view", &[uniform(0)]),
            frame: make("frame", &[uniform(0)]),
            light: make(
                "light",
                &[sampled_texture(0, plain, D2, many), sampled_texture(1, plain, D2, many)],
            ),
            particles: make("particles", &[uniform(0), uniform(1)]),
            batch: make("batch", &[uniform(0)]),
            light_only: make("light alone", &[sampled_texture(0, plain, D2, many)]),
            resolved_light: make(
                "resolved light",
                &[sampled_texture(0, plain, D2, false), sampled_texture(1, plain, D2, many)],
            ),
            resolved_light_only: make(
                "resolved light alone",
                &[sampled_texture(0, plain, D2, false)],
            ),
            depth: make("depth", &[sampled_texture(0, plain, D2, many)]),
            behind: make("light behind", &[texture_entry(0), sampler_entry(1)]),
            texture: textures.layout().clone(),
        }
    }
}
