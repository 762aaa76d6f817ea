//! The maps of skies on the adapter, the passes that draw them, and the pipelines of backgrounds.
//! Decides nothing about when a map is drawn (slots.rs).

use super::super::device::GpuDevice;
use super::super::forward::{LIGHT_FORMAT, PipelineOptions, depth_state, make};
use super::super::numeric_map::NumberMap;
use super::super::shader_sources::source;
use super::super::textures::{TextureTable, entry};
use super::inputs::{SkyLayer, SkySource, SkyUniform, background, light_key, source_of};
use super::slots::{SKIES_MAX, SkyInputs, SkySlots, SkyWork};
use crate::{RenderQuality, RendererEvent};
use engine_frame_packet::View;
use std::num::NonZeroU64;
use std::ops::Range;

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
const STRIDE: u32 = 256;

/// The inputs of a sky's maps and of its background.
#[derive(Clone, PartialEq)]
struct SkyKey {
    uniform: SkyUniform,
    /// The texture; none for an atmosphere.
    picture: Option<wgpu::TextureView>,
}

impl SkyInputs for SkyKey {
    fn is_updatable(&self, to: &SkyKey) -> bool {
        self.picture == to.picture
    }

    fn has_same_maps(&self, other: &SkyKey) -> bool {
        self.picture == other.picture && light_key(&self.uniform) == light_key(&other.uniform)
    }
}

/// A fragment shader of sky_maps.wgsl.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum MapKind {
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
enum SkyStep {
    /// Transmittance and multiple scattering.
    Atmosphere,
    Sky,
    /// The light of all directions, and its smaller levels.
    Source,
    Gloss(u32),
    Harmonics,
}

/// A pass that draws one map.
pub struct MapPass {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    offset: u32,
    pub target: wgpu::TextureView,
}

/// The sky of a view in the current frame.
#[derive(Clone, PartialEq, Debug)]
pub struct ViewSky {
    pub layer: SkyLayer,
    slot: usize,
    /// The passes that must precede the view.
    pub passes: Range<usize>,
}

/// The maps of one sky.
struct SkyResources {
    picture: Option<wgpu::TextureView>,
    /// The uniforms of the maps and of the background.
    inputs: wgpu::Buffer,
    backdrop: wgpu::Buffer,
    /// Transmittance, multiple scattering and the sky, of an atmosphere.
    atmosphere: [wgpu::TextureView; 3],
    source_levels: Vec<wgpu::TextureView>,
    /// The levels of the two layers in the array.
    layers: [Vec<wgpu::TextureView>; 2],
    transmittance_group: wgpu::BindGroup,
    scattering_group: wgpu::BindGroup,
    sky_group: wgpu::BindGroup,
    source_group: wgpu::BindGroup,
    reduced_groups: Vec<wgpu::BindGroup>,
    filtered_group: wgpu::BindGroup,
    background_group: wgpu::BindGroup,
}

/// Resources that all skies share; created for the first one.
struct SharedResources {
    layout: wgpu::BindGroupLayout,
    module: wgpu::ShaderModule,
    background_module: wgpu::ShaderModule,
    /// The uniform of each kind of pass.
    steps: wgpu::Buffer,
    white: wgpu::TextureView,
    pipelines: NumberMap<MapKind, wgpu::RenderPipeline>,
    backgrounds: NumberMap<bool, wgpu::RenderPipeline>,
}

/// All skies.
pub struct SkyMaps {
    side: u32,
    budget: usize,
    slots: SkySlots<SkyKey>,
    shared: Option<SharedResources>,
    skies: Vec<Option<SkyResources>>,
    /// The filtered light of all skies: two layers for each.
    array: wgpu::Texture,
    /// A view of it, for the shaders of meshes.
    pub maps: wgpu::TextureView,
    pub sampler: wgpu::Sampler,
    passes: Vec<MapPass>,
    /// The sky of each of the plan's views.
    views: Vec<Option<ViewSky>>,
    is_crowd_reported: bool,
}

/// Returns the side of maps for a wanted one: a power of two.
fn side_of(wanted: u32) -> u32 {
    let limited = wanted.clamp(SIDE_MIN, SIDE_MAX);
    1 << limited.ilog2()
}

/// Returns the number of levels for roughness.
fn level_count(side: u32) -> u32 {
    (side / SMALLEST_LEVEL).ilog2() + 1
}

/// Returns the steps from the maps that are shown to those of other inputs.
fn steps(shown: Option<&SkyKey>, wanted: &SkyKey, levels: u32) -> Vec<SkyStep> {
    let mut all = Vec::new();
    if wanted.picture.is_none() {
        // The atmosphere is that of the same haze and ground.
        if shown.is_none_or(|shown| shown.uniform.ground != wanted.uniform.ground) {
            all.push(SkyStep::Atmosphere);
        }
        all.push(SkyStep::Sky);
    }
    all.push(SkyStep::Source);
    all.extend((0..levels).map(SkyStep::Gloss));
    all.push(SkyStep::Harmonics);
    all
}

fn texture(
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
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
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

fn array_view(texture: &wgpu::Texture) -> wgpu::TextureView {
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
    use super::super::textures::{sampler_entry, texture_entry};
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
    fn new(device: &GpuDevice, side: u32, samples: u32) -> SharedResources {
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

    fn group(
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

    fn pipeline(&mut self, device: &GpuDevice, kind: MapKind) -> wgpu::RenderPipeline {
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

    fn ensure_background(
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
    fn new(
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
        let layer = |half: u32| {
            let layer = slot as u32 * 2 + half;
            (0..=levels).map(|level| level_view(array, layer, level)).collect()
        };
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
            layers: [layer(0), layer(1)],
            picture,
            inputs,
            backdrop,
            source_levels,
            atmosphere,
        }
    }

    /// Returns the passes of a step: the kind, the bind group, the index of the uniform and the
    /// target of each. `half`: the layer of the two that is drawn.
    fn passes(
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

impl SkyMaps {
    pub fn new(device: &GpuDevice, quality: &RenderQuality) -> SkyMaps {
        let array = texture(device, "no sky", (1, 1), 2, 1);
        SkyMaps {
            side: side_of(quality.sky_texels),
            budget: quality.sky_steps.max(1) as usize,
            slots: SkySlots::default(),
            shared: None,
            skies: Vec::new(),
            maps: array_view(&array),
            array,
            sampler: device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("sky"),
                address_mode_u: wgpu::AddressMode::Repeat,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            }),
            passes: Vec::new(),
            views: Vec::new(),
            is_crowd_reported: false,
        }
    }

    /// Prepares the skies of a frame's views. `views`: the scene and the view of each of the plan's
    /// views; `None` if it is not shown. Returns true if bind groups with the maps are stale.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        views: &[Option<(u64, &View)>],
        (view_layout, samples): (&wgpu::BindGroupLayout, u32),
        events: &mut Vec<RendererEvent>,
    ) -> bool {
        self.passes.clear();
        self.views.clear();
        self.views.resize(views.len(), None);
        let mut indices = Vec::new();
        let mut wanted = Vec::new();
        for (index, view) in views.iter().enumerate() {
            let Some((scene, view)) = view else { continue };
            let Some(source) = source_of(view) else { continue };
            let picture = match source {
                SkySource::Physical => None,
                SkySource::Texture(slot) => Some(textures.view(slot).clone()),
            };
            let uniform = background(&view.environment, source);
            indices.push(index);
            wanted.push(((*scene, index), SkyKey { uniform, picture }));
        }
        if wanted.is_empty() && self.slots.len() == 0 {
            return false;
        }
        let found = self.slots.assign(&wanted);
        self.report_crowd(events);
        let is_stale = self.ensure_resources(device, samples);
        let levels = level_count(self.side);
        let works =
            self.slots.advance(self.budget, |shown, inputs| steps(shown, inputs, levels).len());
        let mut drawn = vec![0..0; self.slots.len()];
        let mut has_backdrop = vec![false; self.slots.len()];
        for work in works {
            drawn[work.slot] = self.plan_work(device, &work);
        }
        for ((index, slot), (_, inputs)) in indices.into_iter().zip(found).zip(&wanted) {
            let Some(layer) = self.slots.layer(slot) else { continue };
            let Some(sky) = self.skies[slot].as_ref() else { continue };
            // A view that shares the last sky shows that sky's kind.
            let is_physical = sky.picture.is_none();
            if !std::mem::replace(&mut has_backdrop[slot], true) {
                device.upload(&sky.backdrop, 0, bytemuck::bytes_of(&inputs.uniform));
            }
            if let Some(shared) = &mut self.shared {
                shared.ensure_background(device, view_layout, samples, is_physical);
            }
            let layer = SkyLayer { layer, side: self.side, levels, is_physical };
            let passes = std::mem::replace(&mut drawn[slot], 0..0);
            self.views[index] = Some(ViewSky { layer, slot, passes });
        }
        is_stale
    }

    fn report_crowd(&mut self, events: &mut Vec<RendererEvent>) {
        if self.slots.is_crowded && !std::mem::replace(&mut self.is_crowd_reported, true) {
            let message = format!(
                "the views of a frame have more than {SKIES_MAX} different skies, and the others \
                 show the light of the last one (SKIES_MAX): use the same environment for them"
            );
            events.push(RendererEvent::Crowded { message });
        }
    }

    /// Creates the array and the shared resources. Returns true if the array was replaced.
    fn ensure_resources(&mut self, device: &GpuDevice, samples: u32) -> bool {
        let count = self.slots.len();
        if count == 0 {
            self.skies.clear();
            let is_stale = self.array.width() > 1;
            if is_stale {
                self.array = texture(device, "no sky", (1, 1), 2, 1);
                self.maps = array_view(&self.array);
            }
            return is_stale;
        }
        self.shared.get_or_insert_with(|| SharedResources::new(device, self.side, samples));
        self.skies.resize_with(count, || None);
        let layers = 2 * count as u32;
        if self.array.width() == self.side && self.array.depth_or_array_layers() >= layers {
            return false;
        }
        let (side, levels) = (self.side, level_count(self.side) + 1);
        self.array = texture(device, "skies", (side, side), layers.next_power_of_two(), levels);
        self.maps = array_view(&self.array);
        self.skies.iter_mut().for_each(|sky| *sky = None);
        self.slots.reset();
        true
    }

    /// Plans the passes of a sky's steps.
    fn plan_work(&mut self, device: &GpuDevice, work: &SkyWork<SkyKey>) -> Range<usize> {
        let begin = self.passes.len();
        let Some(shared) = &mut self.shared else { return begin..begin };
        let place = &mut self.skies[work.slot];
        if place.as_ref().is_some_and(|sky| sky.picture != work.inputs.picture) {
            *place = None;
        }
        let is_new = place.is_none();
        let sky = place.get_or_insert_with(|| {
            let picture = work.inputs.picture.clone();
            SkyResources::new(device, shared, &self.sampler, &self.array, work.slot, picture)
        });
        device.upload(&sky.inputs, 0, bytemuck::bytes_of(&work.inputs.uniform));
        let shown = work.shown.as_ref().filter(|_| !is_new);
        let all = steps(shown, &work.inputs, level_count(self.side));
        for step in &all[work.steps.clone()] {
            for (kind, group, uniform, target) in sky.passes(*step, (work.layer & 1) as usize) {
                self.passes.push(MapPass {
                    pipeline: shared.pipeline(device, kind),
                    group: group.clone(),
                    offset: uniform * STRIDE,
                    target: target.clone(),
                });
            }
        }
        begin..self.passes.len()
    }

    /// Returns the sky of one of the plan's views.
    pub fn view(&self, index: usize) -> Option<&ViewSky> {
        self.views.get(index)?.as_ref()
    }

    /// Returns one of the passes that the frame draws.
    pub fn pass(&self, index: usize) -> &MapPass {
        &self.passes[index]
    }

    /// Draws a map.
    pub fn draw_map(&self, to: &mut wgpu::RenderPass, index: usize) {
        let pass = &self.passes[index];
        to.set_pipeline(&pass.pipeline);
        to.set_bind_group(0, &pass.group, &[pass.offset]);
        to.draw(0..3, 0..1);
    }

    /// Draws a view's sky, with bind group 0 set.
    pub fn draw_background(&self, to: &mut wgpu::RenderPass, sky: &ViewSky) {
        let pipelines = self.shared.as_ref().map(|shared| &shared.backgrounds);
        let pipeline = pipelines.and_then(|all| all.get(&sky.layer.is_physical));
        let resources = self.skies[sky.slot].as_ref();
        if let Some((pipeline, resources)) = pipeline.zip(resources) {
            to.set_pipeline(pipeline);
            to.set_bind_group(1, &resources.background_group, &[0]);
            to.draw(0..3, 0..1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::shading_environment::ShadingEnvironment;

    fn key(hours: f32, haze: f32) -> SkyKey {
        let mut environment = ShadingEnvironment::DEFAULT;
        (environment.sky.time_of_day, environment.sky.haze) = (hours, haze);
        SkyKey { uniform: background(&environment, SkySource::Physical), picture: None }
    }

    #[test]
    fn sides_are_powers_of_two_within_limits() {
        let found = [0, 63, 64, 100, 255, 256, 1024, u32::MAX].map(side_of);
        assert_eq!(found, [64, 64, 64, 64, 128, 256, 1024, 1024]);
        assert_eq!([64, 128, 256, 1024].map(level_count), [4, 5, 6, 8]);
    }

    #[test]
    fn only_another_atmosphere_draws_its_maps_again() {
        let all = steps(None, &key(12.0, 1.0), 5);
        assert_eq!((all[0], all.len()), (SkyStep::Atmosphere, 9));
        let later = steps(Some(&key(12.0, 1.0)), &key(13.0, 1.0), 5);
        assert_eq!((later[0], later.len()), (SkyStep::Sky, 8));
        let hazy = steps(Some(&key(12.0, 1.0)), &key(12.0, 2.0), 5);
        assert_eq!(hazy.len(), 9);
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
