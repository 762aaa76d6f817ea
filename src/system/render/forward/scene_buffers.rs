//! GPU buffers of scenes: surfaces, draws, instances, particles, uniforms, and the bind groups of
//! textures. Copies only what changed; draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_passes::FrameUniform;
use super::super::numeric_map::NumberMap;
use super::super::scene::{
    DrawData, DrawResources, FrameLights, RetainedScene, RetainedScenes, SceneUniform, ShadowMap,
    SurfaceUniform, TextureSet,
};
use super::super::sky::SkyMaps;
use super::super::textures::{TextureTable, address_mode, entry};
use super::PARTICLE_BYTES;
use super::bind_group_layouts::{BindGroupLayouts, DECAL_IMAGES, FOG_FROXELS, SCREEN_OCCLUSION};
use super::decal_images::DecalImages;
use super::growing_buffer::{GrowingBuffer, copy_changed, copy_changed_parts};
use super::morph_buffer::MorphBuffer;
use super::particle_batches::BatchUniform;
use super::targets::SceneTargets;
use bytemuck::{Pod, Zeroable};
use engine_frame_packet::FramePacket;
use engine_frame_packet::texture::{SamplerSettings, TextureSlot, WrapMode};
use std::num::NonZeroU64;

/// Anisotropic filtering of textures that are seen at an angle.
const ANISOTROPY: u16 = 8;

/// The uniform `map` of shadow.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct MapUniform {
    pub to_clip: [[f32; 4]; 4],
    pub options: [f32; 4],
}

/// The buffers of one scene.
struct PerSceneBuffers {
    draws: GrowingBuffer,
    /// Palettes and morph weights, and behind them pre-skinned vertices.
    poses: GrowingBuffer,
    /// Bind group 0 of meshes and of shadows, and the generation in which they were created.
    groups: Option<(wgpu::BindGroup, wgpu::BindGroup, u64)>,
}

/// The buffers of all scenes.
pub struct SceneBuffers {
    scenes: NumberMap<u64, PerSceneBuffers>,
    surfaces: GrowingBuffer,
    pub instances: GrowingBuffer,
    pub particles: GrowingBuffer,
    lights: GrowingBuffer,
    light_grid: GrowingBuffer,
    shadow_tiles: GrowingBuffer,
    uniforms: GrowingBuffer,
    frames: GrowingBuffer,
    maps: GrowingBuffer,
    batches: GrowingBuffer,
    /// Bind group 0 of the sky and the tone mapping, of particles, group 3 of lit particles, and
    /// group 0 of custom shaders; and their generation.
    plain: Option<([wgpu::BindGroup; 4], u64)>,
    /// Bind group 0 of meshes of views with images of their own, by the index of the view.
    own_groups: NumberMap<usize, wgpu::BindGroup>,
    /// White, for views without ambient occlusion or fog.
    white: wgpu::TextureView,
    sets: NumberMap<u32, wgpu::BindGroup>,
    /// Generation of the textures that the sets were created with.
    sets_generation: u64,
    /// Generation of the morph targets that the bind groups were created with.
    morph_generation: u64,
    samplers: NumberMap<SamplerSettings, wgpu::Sampler>,
    compare: wgpu::Sampler,
    /// Incremented whenever bind groups become stale.
    generation: u64,
    /// Bytes from one uniform to the next, for large and for small uniforms.
    stride: u64,
    small_stride: u64,
    /// Number of the plan's views, whose uniforms precede those of shadow maps.
    view_count: usize,
    scratch: Vec<u8>,
}

/// Resources of other parts of the renderer in the bind groups of scenes.
#[derive(Clone, Copy)]
pub struct GroupResources<'a> {
    pub targets: &'a SceneTargets,
    pub morphs: &'a MorphBuffer,
    pub sky: &'a SkyMaps,
    pub decals: &'a DecalImages,
}

/// The images of one view in its bind group.
#[derive(Clone, Copy, Default)]
pub struct ViewImages<'a> {
    pub occlusion: Option<&'a wgpu::TextureView>,
    pub fog: Option<&'a wgpu::TextureView>,
}

impl SceneBuffers {
    pub fn new(device: &GpuDevice) -> SceneBuffers {
        use wgpu::BufferUsages as Usage;
        let make = |usage| GrowingBuffer::new(device, usage, 0);
        let alignment = u64::from(device.limits.min_uniform_buffer_offset_alignment.max(256));
        SceneBuffers {
            scenes: NumberMap::default(),
            surfaces: make(Usage::STORAGE),
            instances: make(Usage::VERTEX),
            particles: make(Usage::VERTEX),
            lights: make(Usage::STORAGE),
            light_grid: make(Usage::STORAGE),
            shadow_tiles: make(Usage::STORAGE),
            uniforms: make(Usage::UNIFORM),
            frames: make(Usage::UNIFORM),
            maps: make(Usage::UNIFORM),
            batches: make(Usage::UNIFORM),
            plain: None,
            own_groups: NumberMap::default(),
            white: white_texel(device),
            sets: NumberMap::default(),
            sets_generation: 0,
            morph_generation: 0,
            samplers: NumberMap::default(),
            compare: device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("compare"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                compare: Some(wgpu::CompareFunction::LessEqual),
                ..Default::default()
            }),
            generation: 0,
            stride: (size_of::<SceneUniform>() as u64).next_multiple_of(alignment),
            small_stride: alignment,
            view_count: 0,
            scratch: Vec::new(),
        }
    }

    /// Copies all changed data that is drawn. `uniforms` and `frames` belong to the plan's views.
    pub fn copy(
        &mut self,
        device: &GpuDevice,
        scenes: &mut RetainedScenes,
        packet: &FramePacket,
        (uniforms, frames): (&[SceneUniform], &[FrameUniform]),
    ) -> u64 {
        let mut copied = 0;
        let library = &mut scenes.library;
        let data: &[SurfaceUniform] = &library.data;
        let done = copy_changed(device, &mut self.surfaces, (data, 0), &mut library.data_changed);
        copied += done.0;
        self.generation += u64::from(done.1);
        self.scenes.retain(|number, _| scenes.scenes.contains_key(number));
        for view in &scenes.plans.views {
            let Some(scene) = scenes.scenes.get_mut(&view.scene) else { continue };
            copied += self.copy_scene(device, view.scene, scene);
        }
        let instances: &[u8] = bytemuck::cast_slice(&scenes.plans.instances);
        self.instances.write(device, instances);
        copied += instances.len() as u64;
        copied += self.copy_lights(device, &scenes.plans.lights);
        copied += self.copy_particles(device, scenes, packet);
        copied += self.copy_uniforms(device, scenes, uniforms);
        self.scratch.clear();
        for frame in frames {
            push(&mut self.scratch, bytemuck::bytes_of(frame), self.small_stride);
        }
        self.generation += u64::from(self.frames.write(device, &self.scratch));
        copied + self.scratch.len() as u64
    }

    fn copy_scene(&mut self, device: &GpuDevice, number: u64, scene: &mut RetainedScene) -> u64 {
        let make = || PerSceneBuffers {
            draws: GrowingBuffer::new(device, wgpu::BufferUsages::STORAGE, 0),
            poses: GrowingBuffer::new(device, wgpu::BufferUsages::STORAGE, 0),
            groups: None,
        };
        let there = self.scenes.contains_key(&number);
        let buffers = self.scenes.entry(number).or_insert_with(make);
        if !there {
            scene.mark_all_changed();
        }
        let data: &[DrawData] = &scene.data;
        let draws = &mut buffers.draws;
        let (copied, grown) = copy_changed(device, draws, (data, 0), &mut scene.changed);
        let deformations = &mut scene.deformations;
        let count = (deformations.rows.len(), deformations.spare_rows);
        let poses = &mut buffers.poses;
        // The second view of a scene, and characters at rest, have nothing to copy.
        if !deformations.changed.is_empty() || !poses.has_room::<[f32; 4]>(count) {
            deformations.sort_held();
        }
        let mut changed = std::mem::take(&mut deformations.changed);
        let parts = |range| deformations.parts(range);
        let (pose_bytes, poses_grown) =
            copy_changed_parts(device, poses, count, &mut changed, parts);
        deformations.changed = changed;
        if grown || poses_grown {
            buffers.groups = None;
        }
        copied + pose_bytes
    }

    fn copy_lights(&mut self, device: &GpuDevice, all: &FrameLights) -> u64 {
        let lights: &[u8] = bytemuck::cast_slice(&all.lights);
        let grid: &[u8] = bytemuck::cast_slice(&all.grid);
        self.generation += u64::from(self.lights.write(device, lights));
        self.generation += u64::from(self.light_grid.write(device, grid));
        let tiles: &[u8] = bytemuck::cast_slice(&all.tiles);
        self.generation += u64::from(self.shadow_tiles.write(device, tiles));
        (lights.len() + grid.len() + tiles.len()) as u64
    }

    fn copy_particles(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        packet: &FramePacket,
    ) -> u64 {
        let copied = u64::from(scenes.first_particle(u64::MAX)) * PARTICLE_BYTES;
        self.particles.ensure(device, copied);
        for frame in packet.scenes.iter().filter(|frame| !frame.particles.is_empty()) {
            let at = u64::from(scenes.first_particle(frame.scene)) * PARTICLE_BYTES;
            let bytes: &[u8] = bytemuck::cast_slice(&frame.particles);
            device.upload(&self.particles.buffer, at, bytes);
        }
        self.scratch.clear();
        for view in scenes.plans.views.iter().filter(|view| view.particles) {
            for transparent in &scenes.plans.transparent[view.blended.clone()] {
                let super::super::scene::TransparentGroup::Particles { batch, .. } = transparent
                else {
                    continue;
                };
                let batch = &scenes.scenes[&view.scene].particle_batches[*batch as usize];
                let uniform = BatchUniform::new(batch, device.depth_reads);
                push(&mut self.scratch, bytemuck::bytes_of(&uniform), self.small_stride);
            }
        }
        self.generation += u64::from(self.batches.write(device, &self.scratch));
        copied
    }

    fn copy_uniforms(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        uniforms: &[SceneUniform],
    ) -> u64 {
        self.view_count = uniforms.len();
        self.scratch.clear();
        for uniform in uniforms {
            push(&mut self.scratch, bytemuck::bytes_of(uniform), self.stride);
        }
        self.generation += u64::from(self.uniforms.write(device, &self.scratch));
        let copied = self.scratch.len() as u64;
        self.scratch.clear();
        for uniform in uniforms {
            // The depth prepass draws like a shadow map, from the camera.
            let options = [0.0, uniform.ahead[3], 0.0, 0.0];
            let uniform = MapUniform { to_clip: uniform.to_clip, options };
            push(&mut self.scratch, bytemuck::bytes_of(&uniform), self.small_stride);
        }
        for shadow in &scenes.plans.shadows {
            let sun = matches!(shadow.map, ShadowMap::Sun(_));
            let seconds = uniforms.first().map_or(0.0, |uniform| uniform.ahead[3]);
            let options = [f32::from(u8::from(sun)), seconds, 0.0, 0.0];
            let uniform = MapUniform { to_clip: shadow.to_clip.to_cols_array_2d(), options };
            push(&mut self.scratch, bytemuck::bytes_of(&uniform), self.small_stride);
        }
        self.generation += u64::from(self.maps.write(device, &self.scratch));
        copied + self.scratch.len() as u64
    }

    /// Marks the bind groups that contain shadow maps as stale.
    pub fn renew(&mut self) {
        self.generation += 1;
    }

    /// Creates the bind groups of the drawn scenes, if they are stale.
    pub fn create_bind_groups(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        resources: &GroupResources,
        scenes: &RetainedScenes,
    ) {
        let known = std::mem::replace(&mut self.morph_generation, resources.morphs.generation);
        self.generation += u64::from(known != resources.morphs.generation);
        let generation = self.generation;
        for view in &scenes.plans.views {
            let there = self.scenes.get(&view.scene).and_then(|it| it.groups.as_ref());
            if there.is_none_or(|(_, _, known_generation)| *known_generation != generation) {
                let resources = (resources, ViewImages::default());
                let (scene, map) = self.scene_groups(device, layouts, resources, view.scene);
                let buffers = self.scenes.get_mut(&view.scene).expect("the scene was copied");
                buffers.groups = Some((scene, map, generation));
            }
        }
        if self.plain.as_ref().is_none_or(|(_, known_generation)| *known_generation != generation) {
            let view = group(device, "view", &layouts.view, &[self.part::<SceneUniform>(0)]);
            let both = [
                self.part::<SceneUniform>(0),
                entry(1, part_of(&self.batches.buffer, size_of::<BatchUniform>())),
            ];
            let particles = group(device, "particles", &layouts.particles, &both);
            let frame = part_of(&self.frames.buffer, size_of::<FrameUniform>());
            let frame = group(device, "frame", &layouts.frame, &[entry(0, frame)]);
            let batch = part_of(&self.batches.buffer, size_of::<BatchUniform>());
            let batch = group(device, "batch", &layouts.batch, &[entry(0, batch)]);
            self.plain = Some(([view, particles, batch, frame], generation));
        }
    }

    /// Creates bind group 0 of the draws of a scene with a uniform of their pass. `poses`: `None`
    /// for those of the scene.
    pub fn posed_group(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        (uniform, poses): (wgpu::BindingResource, Option<&GrowingBuffer>),
        (morphs, scene): (&MorphBuffer, u64),
    ) -> wgpu::BindGroup {
        let scene = &self.scenes[&scene];
        let poses = poses.unwrap_or(&scene.poses);
        let entries = [
            entry(0, uniform),
            entry(1, scene.draws.buffer.as_entire_binding()),
            entry(2, self.surfaces.buffer.as_entire_binding()),
            entry(6, poses.buffer.as_entire_binding()),
            entry(7, morphs.buffer.as_entire_binding()),
        ];
        group(device, "draws", &layouts.map, &entries)
    }

    /// Returns the buffers of a scene's draws and of its poses.
    pub fn draws_and_poses(&self, scene: u64) -> (&wgpu::Buffer, &wgpu::Buffer) {
        let PerSceneBuffers { draws, poses, .. } = &self.scenes[&scene];
        (&draws.buffer, &poses.buffer)
    }

    /// Returns the bytes from one small uniform to the next.
    pub fn small_stride(&self) -> u64 {
        self.small_stride
    }

    /// Creates the bind groups of views with images of their own. `images` returns those of one of
    /// the plan's views.
    pub fn create_own_groups<'a>(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        resources: &GroupResources,
        scenes: &RetainedScenes,
        images: impl Fn(usize) -> ViewImages<'a>,
    ) {
        self.own_groups.clear();
        for (index, view) in scenes.plans.views.iter().enumerate() {
            let images = images(index);
            if images.occlusion.is_none() && images.fog.is_none() {
                continue;
            }
            let resources = (resources, images);
            let (group, _) = self.scene_groups(device, layouts, resources, view.scene);
            self.own_groups.insert(index, group);
        }
    }

    fn part<T>(&self, binding: u32) -> wgpu::BindGroupEntry<'_> {
        entry(binding, part_of(&self.uniforms.buffer, size_of::<T>()))
    }

    fn scene_groups(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        (resources, images): (&GroupResources, ViewImages),
        number: u64,
    ) -> (wgpu::BindGroup, wgpu::BindGroup) {
        let GroupResources { targets, morphs, sky, decals } = *resources;
        let PerSceneBuffers { draws, poses, .. } = &self.scenes[&number];
        let shared = [
            entry(1, draws.buffer.as_entire_binding()),
            entry(2, self.surfaces.buffer.as_entire_binding()),
            entry(6, poses.buffer.as_entire_binding()),
            entry(7, morphs.buffer.as_entire_binding()),
        ];
        let mut all = vec![self.part::<SceneUniform>(0)];
        all.extend(shared.clone());
        all.push(entry(3, wgpu::BindingResource::TextureView(&targets.sun.all)));
        all.push(entry(4, wgpu::BindingResource::TextureView(&targets.atlas.view)));
        all.push(entry(5, wgpu::BindingResource::Sampler(&self.compare)));
        for (binding, image) in [(SCREEN_OCCLUSION, images.occlusion), (FOG_FROXELS, images.fog)] {
            let image = image.unwrap_or(&self.white);
            all.push(entry(binding, wgpu::BindingResource::TextureView(image)));
        }
        all.push(entry(12, wgpu::BindingResource::TextureView(&sky.maps)));
        all.push(entry(13, wgpu::BindingResource::Sampler(&sky.sampler)));
        all.push(entry(DECAL_IMAGES, wgpu::BindingResource::TextureView(&decals.view)));
        all.push(entry(8, self.lights.buffer.as_entire_binding()));
        all.push(entry(9, self.light_grid.buffer.as_entire_binding()));
        all.push(entry(10, self.shadow_tiles.buffer.as_entire_binding()));
        let scene = group(device, "scene", &layouts.scene, &all);
        let mut all = vec![entry(0, part_of(&self.maps.buffer, size_of::<MapUniform>()))];
        all.extend(shared);
        (scene, group(device, "map", &layouts.map, &all))
    }

    /// Creates the bind group of a texture set, if it does not exist.
    pub fn ensure_set(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        textures: &TextureTable,
        library: &DrawResources,
        set: u32,
    ) {
        if self.sets.contains_key(&set) {
            return;
        }
        let plain = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        let known: &TextureSet = library.set(set);
        let all = known.map(|texture| texture.unwrap_or((TextureSlot::SHARED, plain)));
        for (_, sampling) in all {
            self.samplers.entry(sampling).or_insert_with(|| make_sampler(device, sampling));
        }
        let mut entries = Vec::with_capacity(10);
        for (i, (slot, sampling)) in all.iter().enumerate() {
            let view = wgpu::BindingResource::TextureView(textures.view(*slot));
            entries.push(entry(2 * i as u32, view));
            let sampler = wgpu::BindingResource::Sampler(&self.samplers[sampling]);
            entries.push(entry(2 * i as u32 + 1, sampler));
        }
        let created = group(device, "set", &layouts.set, &entries);
        self.sets.insert(set, created);
    }

    /// Removes the bind groups of textures if their slots may have other contents.
    pub fn follow_textures(&mut self, textures: &TextureTable, surfaces_changed: bool) {
        if surfaces_changed || self.sets_generation != textures.generation {
            self.sets.clear();
            self.sets_generation = textures.generation;
        }
    }

    pub fn set(&self, set: u32) -> &wgpu::BindGroup {
        &self.sets[&set]
    }

    /// Returns bind group 0 of a view's meshes, and the offset.
    pub fn scene(&self, scene: u64, view: usize) -> (&wgpu::BindGroup, u32) {
        let (group, _, _) = self.scenes[&scene].groups.as_ref().expect("groups were made");
        (self.own_groups.get(&view).unwrap_or(group), (view as u64 * self.stride) as u32)
    }

    /// Returns bind group 0 of a shadow map, and the offset.
    pub fn map(&self, scene: u64, map: usize) -> (&wgpu::BindGroup, u32) {
        self.depth_view(scene, self.view_count + map)
    }

    /// Returns bind group 0 of the depth prepass of a view, and the offset.
    pub fn depth_view(&self, scene: u64, view: usize) -> (&wgpu::BindGroup, u32) {
        let (_, group, _) = self.scenes[&scene].groups.as_ref().expect("groups were made");
        (group, (view as u64 * self.small_stride) as u32)
    }

    /// Returns bind group 0 of the sky and the tone mapping, and the offset.
    pub fn view(&self, view: usize) -> (&wgpu::BindGroup, u32) {
        let ([group, ..], _) = self.plain.as_ref().expect("groups were made");
        (group, (view as u64 * self.stride) as u32)
    }

    /// Returns bind group 0 of custom shaders, and the offset.
    pub fn frame(&self, view: usize) -> (&wgpu::BindGroup, u32) {
        let ([.., group], _) = self.plain.as_ref().expect("groups were made");
        (group, (view as u64 * self.small_stride) as u32)
    }

    /// Returns bind group 0 of particles, and the offsets.
    pub fn particle_view(&self, view: usize, batch: usize) -> (&wgpu::BindGroup, [u32; 2]) {
        let ([_, group, ..], _) = self.plain.as_ref().expect("groups were made");
        let offsets = [view as u64 * self.stride, batch as u64 * self.small_stride];
        (group, offsets.map(|offset| offset as u32))
    }

    /// Returns bind group 3 of lit particles, and the offset.
    pub fn batch(&self, batch: usize) -> (&wgpu::BindGroup, u32) {
        let ([_, _, group, _], _) = self.plain.as_ref().expect("groups were made");
        (group, (batch as u64 * self.small_stride) as u32)
    }
}

/// Creates a white texture of one texel.
fn white_texel(device: &GpuDevice) -> wgpu::TextureView {
    let size = wgpu::Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("white"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rg8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(2), rows_per_image: Some(1) };
    device.queue.write_texture(texture.as_image_copy(), &[255, 255], layout, size);
    texture.create_view(&Default::default())
}

fn push(to: &mut Vec<u8>, bytes: &[u8], stride: u64) {
    let end = to.len() + stride as usize;
    to.extend_from_slice(bytes);
    to.resize(end, 0);
}

pub fn part_of(buffer: &wgpu::Buffer, bytes: usize) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: 0,
        size: NonZeroU64::new(bytes as u64),
    })
}

pub fn group(
    device: &GpuDevice,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    entries: &[wgpu::BindGroupEntry],
) -> wgpu::BindGroup {
    let descriptor = wgpu::BindGroupDescriptor { label: Some(label), layout, entries };
    device.device.create_bind_group(&descriptor)
}

/// Returns the maximum anisotropy of a sampler. Software adapters do without: llvmpipe visits every
/// texel under a pixel's footprint, so that with stretched coordinates a frame never ends.
fn anisotropy(is_software: bool, is_nearest: bool) -> u16 {
    if is_software || is_nearest { 1 } else { ANISOTROPY }
}

/// Creates a sampler like those of Guis, but with anisotropic filtering.
fn make_sampler(device: &GpuDevice, sampling: SamplerSettings) -> wgpu::Sampler {
    let [u, v] = sampling.wrap.axes().map(address_mode);
    let near = if sampling.nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear };
    device.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("surface"),
        address_mode_u: u,
        address_mode_v: v,
        mag_filter: near,
        min_filter: near,
        mipmap_filter: match sampling.nearest {
            true => wgpu::MipmapFilterMode::Nearest,
            false => wgpu::MipmapFilterMode::Linear,
        },
        anisotropy_clamp: anisotropy(device.info.software, sampling.nearest),
        ..Default::default()
    })
}
