//! The resources of skies on the adapter: the maps, their bind groups, and the pipelines of passes
//! and backgrounds. Decides nothing about when a map is drawn.

use super::super::device::GpuDevice;
use super::super::forward::{LIGHT_FORMAT, PipelineOptions, depth_state, make};
use super::super::numeric_map::NumberMap;
use super::super::shader_sources::source;
use super::super::textures::{entry, sampler_entry, texture_entry};
use super::inputs::SkyUniform;
use std::num::NonZeroU64;

/// Sizes of the maps of an atmosphere, as in sky_maps.wgsl.
const TRANSMITTANCE_SIZE: (u32, u32) = (256, 64);
const SCATTERING_SIZE: (u32, u32) = (16, 16);
const SKY_SIZE: (u32, u32) = (192, 108);
/// Smallest and largest side of a map of light. The smallest level for roughness has 8 texels on a
/// side, and the coefficients for matte surfaces have 4.
const SIDE_MIN: u32 = 64;
const SIDE_MAX: u32 = 1024;
const SMALLEST_LEVEL: u32 = 8;
/// Side of the level from which the coefficients are computed.
const HARMONICS_SOURCE: u32 = 32;
/// Bytes from one uniform of a pass to the next.
pub const STRIDE: u32 = 256;
/// A fragment shader of sky_maps.wgsl.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MapKind {
    Transmittance,
    Scattering,
    Sky,
    PhysicalSource,
    TextureSource,
    Reduced,
    Gloss,
    Harmonics,
}

impl MapKind {
    fn entry_point(self) -> &'static str {
        match self {
            MapKind::Transmittance => "transmittance_fragment",
            MapKind::Scattering => "scattering_fragment",
            MapKind::Sky => "sky_fragment",
            MapKind::PhysicalSource => "physical_source_fragment",
            MapKind::TextureSource => "texture_source_fragment",
            MapKind::Reduced => "reduced_fragment",
            MapKind::Gloss => "gloss_fragment",
            MapKind::Harmonics => "harmonics_fragment",
        }
    }
}

/// A step of an update: one or more passes that a frame draws together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkyStep {
    /// Transmittance and multiple scattering.
    Atmosphere,
    Sky,
    /// The light of all directions, and its smaller levels.
    Source,
    Gloss(u32),
    Harmonics,
}

/// The maps of one sky.
pub struct SkyResources {
    pub picture: Option<wgpu::TextureView>,
    /// The uniforms of the maps and of the background.
    pub inputs: wgpu::Buffer,
    pub backdrop: wgpu::Buffer,
    /// Transmittance, multiple scattering and the sky, of an atmosphere.
    atmosphere: [wgpu::TextureView; 3],
    source_levels: Vec<wgpu::TextureView>,
    /// The levels of the two layers in the array.
    pub layers: [Vec<wgpu::TextureView>; 2],
    transmittance_group: wgpu::BindGroup,
    scattering_group: wgpu::BindGroup,
    sky_group: wgpu::BindGroup,
    source_group: wgpu::BindGroup,
    reduced_groups: Vec<wgpu::BindGroup>,
    filtered_group: wgpu::BindGroup,
    pub background_group: wgpu::BindGroup,
}

/// Resources that all skies share; created for the first one.
pub struct SharedResources {
    layout: wgpu::BindGroupLayout,
    module: wgpu::ShaderModule,
    background_module: wgpu::ShaderModule,
    /// The uniform of each kind of pass.
    steps: wgpu::Buffer,
    white: wgpu::TextureView,
    pipelines: NumberMap<MapKind, wgpu::RenderPipeline>,
    pub backgrounds: NumberMap<bool, wgpu::RenderPipeline>,
}

/// Returns the side of maps for a wanted one: a power of two.
pub fn side_of(wanted: u32) -> u32 {
    let limited = wanted.clamp(SIDE_MIN, SIDE_MAX);
    1 << limited.ilog2()
}

/// Returns the number of levels for roughness.
pub fn level_count(side: u32) -> u32 {
    (side / SMALLEST_LEVEL).ilog2() + 1
}

pub fn texture(
    device: &GpuDevice,
    label: &str,
    (width, height): (u32, u32),
    layers: u32,
    levels: u32,
) -> wgpu::Texture {
    device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: layers },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: LIGHT_FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Returns a view of one level of one layer.
fn level_view(texture: &wgpu::Texture, layer: u32, level: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_mip_level: level,
        mip_level_count: Some(1),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..Default::default()
    })
}

/// Returns views of all levels of the two layers of a sky.
pub fn layer_views(array: &wgpu::Texture, slot: usize, levels: u32) -> [Vec<wgpu::TextureView>; 2] {
    [0, 1].map(|half| {
        let layer = slot as u32 * 2 + half;
        (0..=levels).map(|level| level_view(array, layer, level)).collect()
    })
}

pub fn array_view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..Default::default()
    })
}

fn buffer(device: &GpuDevice, bytes: u64) -> wgpu::Buffer {
    device.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("sky"),
        size: bytes,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn bind_group_layout(device: &GpuDevice) -> wgpu::BindGroupLayout {
    let uniform = |binding, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset,
            min_binding_size: None,
        },
        count: None,
    };
    device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("sky"),
        entries: &[
            uniform(0, false),
            uniform(1, true),
            texture_entry(2),
            texture_entry(3),
            texture_entry(4),
            sampler_entry(5),
        ],
    })
}

/// Returns the uniforms of all passes: those of the source, of its smaller levels, of each
/// roughness, and of the coefficients. Each is the side of the map, the side of its source, the
/// roughness, and the level of the source.
fn step_uniforms(side: u32) -> Vec<[f32; 4]> {
    let levels = level_count(side);
    let at = |level: u32| (side >> level) as f32;
    let mut all = vec![[at(0), 0.0, 0.0, 0.0]];
    all.extend((1..levels).map(|level| [at(level), at(level - 1), 0.0, 0.0]));
    let rough = |level: u32| level as f32 / (levels - 1) as f32;
    all.extend((0..levels).map(|level| [at(level), at(0), rough(level), 0.0]));
    let level = (side / HARMONICS_SOURCE).ilog2();
    all.push([4.0, HARMONICS_SOURCE as f32, 0.0, level as f32]);
    all
}

impl SharedResources {
    pub fn new(device: &GpuDevice, side: u32, samples: u32) -> SharedResources {
        let module = |name| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source(name, samples).into()),
            })
        };
        let uniforms = step_uniforms(side);
        let steps = buffer(device, uniforms.len() as u64 * u64::from(STRIDE));
        for (index, uniform) in uniforms.iter().enumerate() {
            let at = index as u64 * u64::from(STRIDE);
            device.upload(&steps, at, bytemuck::bytes_of(uniform));
        }
        SharedResources {
            layout: bind_group_layout(device),
            module: module("sky_maps"),
            background_module: module("background"),
            steps,
            white: texture(device, "no map", (1, 1), 1, 1).create_view(&Default::default()),
            pipelines: NumberMap::default(),
            backgrounds: NumberMap::default(),
        }
    }

    pub fn group(
        &self,
        device: &GpuDevice,
        sampler: &wgpu::Sampler,
        inputs: &wgpu::Buffer,
        textures: [&wgpu::TextureView; 3],
    ) -> wgpu::BindGroup {
        let [first, second, third] = textures.map(wgpu::BindingResource::TextureView);
        let step = wgpu::BufferBinding {
            buffer: &self.steps,
            offset: 0,
            size: NonZeroU64::new(size_of::<[f32; 4]>() as u64),
        };
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("sky"),
            layout: &self.layout,
            entries: &[
                entry(0, inputs.as_entire_binding()),
                entry(1, wgpu::BindingResource::Buffer(step)),
                entry(2, first),
                entry(3, second),
                entry(4, third),
                entry(5, wgpu::BindingResource::Sampler(sampler)),
            ],
        })
    }

    pub fn pipeline(&mut self, device: &GpuDevice, kind: MapKind) -> wgpu::RenderPipeline {
        let SharedResources { layout, module, pipelines, .. } = self;
        let created = pipelines.entry(kind).or_insert_with(|| {
            make(
                &device.device,
                &PipelineOptions {
                    label: "sky maps",
                    layouts: &[Some(layout)],
                    module,
                    vertex: "map_vertex",
                    fragment: Some(kind.entry_point()),
                    constants: &[],
                    buffers: &[],
                    strip: false,
                    front: wgpu::FrontFace::Ccw,
                    cull: None,
                    depth: None,
                    samples: 1,
                    target: Some((LIGHT_FORMAT, None)),
                },
            )
        });
        created.clone()
    }

    pub fn ensure_background(
        &mut self,
        device: &GpuDevice,
        view_layout: &wgpu::BindGroupLayout,
        samples: u32,
        is_physical: bool,
    ) {
        let SharedResources { layout, background_module, backgrounds, .. } = self;
        backgrounds.entry(is_physical).or_insert_with(|| {
            make(
                &device.device,
                &PipelineOptions {
                    label: "sky",
                    layouts: &[Some(view_layout), Some(layout)],
                    module: background_module,
                    vertex: "background_vertex",
                    fragment: Some(match is_physical {
                        true => "physical_fragment",
                        false => "texture_fragment",
                    }),
                    constants: &[],
                    buffers: &[],
                    strip: false,
                    front: wgpu::FrontFace::Ccw,
                    cull: None,
                    depth: Some(depth_state(false, wgpu::CompareFunction::LessEqual)),
                    samples,
                    target: Some((LIGHT_FORMAT, None)),
                },
            )
        });
    }
}

impl SkyResources {
    pub fn new(
        device: &GpuDevice,
        shared: &SharedResources,
        sampler: &wgpu::Sampler,
        array: &wgpu::Texture,
        slot: usize,
        picture: Option<wgpu::TextureView>,
    ) -> SkyResources {
        let side = array.width();
        let levels = level_count(side);
        let bytes = size_of::<SkyUniform>() as u64;
        let (inputs, backdrop) = (buffer(device, bytes), buffer(device, bytes));
        let atmosphere = match picture {
            None => [TRANSMITTANCE_SIZE, SCATTERING_SIZE, SKY_SIZE].map(|size| {
                texture(device, "atmosphere", size, 1, 1).create_view(&Default::default())
            }),
            Some(_) => [shared.white.clone(), shared.white.clone(), shared.white.clone()],
        };
        let source = texture(device, "sky source", (side, side), 1, levels);
        let source_levels: Vec<_> =
            (0..levels).map(|level| level_view(&source, 0, level)).collect();
        let all_levels = source.create_view(&Default::default());
        let white = &shared.white;
        let group = |inputs, textures| shared.group(device, sampler, inputs, textures);
        let [through, often, sky] = &atmosphere;
        let image = picture.as_ref().unwrap_or(sky);
        SkyResources {
            transmittance_group: group(&inputs, [white, white, white]),
            scattering_group: group(&inputs, [through, white, white]),
            sky_group: group(&inputs, [through, often, white]),
            source_group: group(&inputs, [through, often, image]),
            reduced_groups: source_levels
                .iter()
                .map(|level| group(&inputs, [white, white, level]))
                .collect(),
            filtered_group: group(&inputs, [white, white, &all_levels]),
            background_group: group(&backdrop, [through, often, image]),
            layers: layer_views(array, slot, levels),
            picture,
            inputs,
            backdrop,
            source_levels,
            atmosphere,
        }
    }

    /// Returns the passes of a step: the kind, the bind group, the index of the uniform and the
    /// target of each. `half`: the layer of the two that is drawn.
    pub fn passes(
        &self,
        step: SkyStep,
        half: usize,
    ) -> Vec<(MapKind, &wgpu::BindGroup, u32, &wgpu::TextureView)> {
        let levels = self.source_levels.len() as u32;
        let [through, often, sky] = &self.atmosphere;
        match step {
            SkyStep::Atmosphere => vec![
                (MapKind::Transmittance, &self.transmittance_group, 0, through),
                (MapKind::Scattering, &self.scattering_group, 0, often),
            ],
            SkyStep::Sky => vec![(MapKind::Sky, &self.sky_group, 0, sky)],
            SkyStep::Source => {
                let kind = match self.picture {
                    None => MapKind::PhysicalSource,
                    Some(_) => MapKind::TextureSource,
                };
                let first = (kind, &self.source_group, 0, &self.source_levels[0]);
                let smaller = (1..levels).map(|level| {
                    let from = &self.reduced_groups[level as usize - 1];
                    (MapKind::Reduced, from, level, &self.source_levels[level as usize])
                });
                std::iter::once(first).chain(smaller).collect()
            }
            SkyStep::Gloss(level) => {
                let target = &self.layers[half][level as usize];
                vec![(MapKind::Gloss, &self.filtered_group, levels + level, target)]
            }
            SkyStep::Harmonics => {
                let target = &self.layers[half][levels as usize];
                vec![(MapKind::Harmonics, &self.filtered_group, levels * 2, target)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_powers_of_two_within_limits() {
        let found = [0, 63, 64, 100, 255, 256, 1024, u32::MAX].map(side_of);
        assert_eq!(found, [64, 64, 64, 64, 128, 256, 1024, 1024]);
        assert_eq!([64, 128, 256, 1024].map(level_count), [4, 5, 6, 8]);
    }

    #[test]
    fn each_pass_has_a_uniform() {
        for side in [64, 128, 256, 512, 1024] {
            let (all, levels) = (step_uniforms(side), level_count(side) as usize);
            assert_eq!(all.len(), 2 * levels + 1);
            assert_eq!(all[levels - 1][0], SMALLEST_LEVEL as f32);
            assert_eq!((all[levels][2], all[2 * levels - 1][2]), (0.0, 1.0));
            let [_, source, _, level] = all[2 * levels];
            assert_eq!((side >> level as u32) as f32, source);
        }
    }
}
