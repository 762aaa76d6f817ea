//! Scenes' data on the adapter: surfaces, draws, instances, particles, uniforms, and the
//! bind groups of textures. Copies no more than what changed; draws nothing.

use super::super::device::Device;
use super::super::passes::FrameUniform;
use super::super::scene::{
    DrawData, Library, Scene, SceneUniform, Scenes, SurfaceData, TextureSet,
};
use super::super::table::{Map, RangeList};
use super::super::textures::{Textures, entry};
use super::PARTICLE_BYTES;
use super::layouts::Layouts;
use super::targets::Targets;
use crate::packet::Packet;
use crate::packet::texture::{Sampling, TextureSlot, Wrap};
use bytemuck::{Pod, Zeroable};
use std::num::NonZeroU64;

/// Buffers begin with this much, and grow to powers of two.
const BYTES_MIN: u64 = 1024;
/// How far textures are sharp that are seen from the side.
const ANISOTROPY: u16 = 8;

/// The uniform `map` of shadow.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct MapUniform {
    pub to_clip: [[f32; 4]; 4],
    pub options: [f32; 4],
}

/// The uniform `batch` of particles.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct BatchUniform {
    pub softness: f32,
    pub spot: f32,
    pub spare: [f32; 2],
}

/// A buffer that grows.
pub struct Growing {
    pub buffer: wgpu::Buffer,
    usage: wgpu::BufferUsages,
}

impl Growing {
    fn new(device: &Device, usage: wgpu::BufferUsages, bytes: u64) -> Growing {
        let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("scene"),
            size: bytes.next_power_of_two().max(BYTES_MIN),
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Growing { buffer, usage }
    }

    /// Makes room; true when it is another buffer now, with nothing in it.
    fn need(&mut self, device: &Device, bytes: u64) -> bool {
        let grown = bytes > self.buffer.size();
        if grown {
            *self = Growing::new(device, self.usage, bytes);
        }
        grown
    }

    /// Replaces all of it; true when it is another buffer now.
    fn write(&mut self, device: &Device, bytes: &[u8]) -> bool {
        let grown = self.need(device, bytes.len() as u64);
        if !bytes.is_empty() {
            device.queue.write_buffer(&self.buffer, 0, bytes);
        }
        grown
    }
}

/// Copies what changed of an array; returns how many bytes, and whether it is another buffer now.
fn copy_changed<T: Pod>(
    device: &Device,
    to: &mut Growing,
    from: &[T],
    changed: &mut RangeList,
) -> (u64, bool) {
    let size = size_of::<T>() as u64;
    let grown = to.need(device, from.len() as u64 * size);
    if grown {
        changed.add(0..from.len() as u32);
    }
    let mut copied = 0;
    for range in changed.settle() {
        let part = &from[range.start as usize..range.end as usize];
        let bytes: &[u8] = bytemuck::cast_slice(part);
        device.queue.write_buffer(&to.buffer, u64::from(range.start) * size, bytes);
        copied += bytes.len() as u64;
    }
    changed.clear();
    (copied, grown)
}

/// A scene on the adapter.
struct SceneBuffers {
    draws: Growing,
    /// Group 0 of meshes and of shadows, and the generation that they were made in.
    groups: Option<(wgpu::BindGroup, wgpu::BindGroup, u64)>,
}

/// Everything.
pub struct Buffers {
    scenes: Map<u64, SceneBuffers>,
    surfaces: Growing,
    pub instances: Growing,
    pub particles: Growing,
    uniforms: Growing,
    frames: Growing,
    maps: Growing,
    batches: Growing,
    /// Group 0 of the sky and the picture, of particles, and of painted pictures; and their
    /// generation.
    plain: Option<([wgpu::BindGroup; 3], u64)>,
    sets: Map<u32, wgpu::BindGroup>,
    /// Of the textures that the sets were made with.
    sets_generation: u64,
    samplers: Map<Sampling, wgpu::Sampler>,
    compare: wgpu::Sampler,
    /// Counts whenever groups are out of date.
    generation: u64,
    /// Bytes from one uniform to the next of its kind.
    stride: u64,
    small_stride: u64,
    scratch: Vec<u8>,
}

impl Buffers {
    pub fn new(device: &Device) -> Buffers {
        use wgpu::BufferUsages as Usage;
        let make = |usage| Growing::new(device, usage, 0);
        let alignment = u64::from(device.limits.min_uniform_buffer_offset_alignment.max(256));
        Buffers {
            scenes: Map::default(),
            surfaces: make(Usage::STORAGE),
            instances: make(Usage::VERTEX),
            particles: make(Usage::VERTEX),
            uniforms: make(Usage::UNIFORM),
            frames: make(Usage::UNIFORM),
            maps: make(Usage::UNIFORM),
            batches: make(Usage::UNIFORM),
            plain: None,
            sets: Map::default(),
            sets_generation: 0,
            samplers: Map::default(),
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
            scratch: Vec::new(),
        }
    }

    /// Copies what has changed of everything that is drawn. `uniforms` and `frames`: of the plan's
    /// views.
    pub fn copy(
        &mut self,
        device: &Device,
        scenes: &mut Scenes,
        packet: &Packet,
        (uniforms, frames): (&[SceneUniform], &[FrameUniform]),
    ) -> u64 {
        let mut copied = 0;
        let library = &mut scenes.library;
        let data: &[SurfaceData] = &library.data;
        let done = copy_changed(device, &mut self.surfaces, data, &mut library.data_changed);
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
        copied += self.copy_particles(device, scenes, packet);
        copied += self.copy_uniforms(device, scenes, uniforms);
        self.scratch.clear();
        for frame in frames {
            push(&mut self.scratch, bytemuck::bytes_of(frame), self.small_stride);
        }
        self.generation += u64::from(self.frames.write(device, &self.scratch));
        copied + self.scratch.len() as u64
    }

    fn copy_scene(&mut self, device: &Device, number: u64, scene: &mut Scene) -> u64 {
        let make = || SceneBuffers {
            draws: Growing::new(device, wgpu::BufferUsages::STORAGE, 0),
            groups: None,
        };
        let there = self.scenes.contains_key(&number);
        let buffers = self.scenes.entry(number).or_insert_with(make);
        if !there {
            scene.all_changed();
        }
        let data: &[DrawData] = &scene.data;
        let (copied, grown) = copy_changed(device, &mut buffers.draws, data, &mut scene.changed);
        if grown {
            buffers.groups = None;
        }
        copied
    }

    fn copy_particles(&mut self, device: &Device, scenes: &Scenes, packet: &Packet) -> u64 {
        let copied = u64::from(scenes.first_particle(u64::MAX)) * PARTICLE_BYTES;
        self.particles.need(device, copied);
        for frame in packet.scenes.iter().filter(|frame| !frame.particles.is_empty()) {
            let at = u64::from(scenes.first_particle(frame.scene)) * PARTICLE_BYTES;
            let bytes: &[u8] = bytemuck::cast_slice(&frame.particles);
            device.queue.write_buffer(&self.particles.buffer, at, bytes);
        }
        self.scratch.clear();
        for view in scenes.plans.views.iter().filter(|view| view.particles) {
            for seen in &scenes.plans.seen[view.blended.clone()] {
                let super::super::scene::Seen::Particles { batch, .. } = seen else { continue };
                let batch = &scenes.scenes[&view.scene].particle_batches[*batch as usize];
                let spot = f32::from(u8::from(batch.texture == TextureSlot::SHARED));
                let softness = if device.depth_reads { batch.softness } else { 0.0 };
                let uniform = BatchUniform { softness, spot, spare: [0.0; 2] };
                push(&mut self.scratch, bytemuck::bytes_of(&uniform), self.small_stride);
            }
        }
        self.generation += u64::from(self.batches.write(device, &self.scratch));
        copied
    }

    fn copy_uniforms(
        &mut self,
        device: &Device,
        scenes: &Scenes,
        uniforms: &[SceneUniform],
    ) -> u64 {
        self.scratch.clear();
        for uniform in uniforms {
            push(&mut self.scratch, bytemuck::bytes_of(uniform), self.stride);
        }
        self.generation += u64::from(self.uniforms.write(device, &self.scratch));
        let copied = self.scratch.len() as u64;
        self.scratch.clear();
        for shadow in &scenes.plans.shadows {
            let sun = shadow.map == super::super::scene::ShadowMap::Sun;
            let options = [f32::from(u8::from(sun)), 0.0, 0.0, 0.0];
            let uniform = MapUniform { to_clip: shadow.to_clip.to_cols_array_2d(), options };
            push(&mut self.scratch, bytemuck::bytes_of(&uniform), self.small_stride);
        }
        self.generation += u64::from(self.maps.write(device, &self.scratch));
        copied + self.scratch.len() as u64
    }

    /// Groups with the shadow maps are out of date.
    pub fn renew(&mut self) {
        self.generation += 1;
    }

    /// Makes the groups of the scenes that are drawn, where they are out of date.
    pub fn make_groups(
        &mut self,
        device: &Device,
        layouts: &Layouts,
        targets: &Targets,
        scenes: &Scenes,
    ) {
        let generation = self.generation;
        for view in &scenes.plans.views {
            let there = self.scenes.get(&view.scene).and_then(|it| it.groups.as_ref());
            if there.is_none_or(|(_, _, made)| *made != generation) {
                let (scene, map) = self.scene_groups(device, layouts, targets, view.scene);
                let buffers = self.scenes.get_mut(&view.scene).expect("the scene was copied");
                buffers.groups = Some((scene, map, generation));
            }
        }
        if self.plain.as_ref().is_none_or(|(_, made)| *made != generation) {
            let view = group(device, "view", &layouts.view, &[self.part::<SceneUniform>(0)]);
            let both = [
                self.part::<SceneUniform>(0),
                entry(1, part_of(&self.batches.buffer, size_of::<BatchUniform>())),
            ];
            let particles = group(device, "particles", &layouts.particles, &both);
            let frame = part_of(&self.frames.buffer, size_of::<FrameUniform>());
            let frame = group(device, "frame", &layouts.frame, &[entry(0, frame)]);
            self.plain = Some(([view, particles, frame], generation));
        }
    }

    fn part<T>(&self, binding: u32) -> wgpu::BindGroupEntry<'_> {
        entry(binding, part_of(&self.uniforms.buffer, size_of::<T>()))
    }

    fn scene_groups(
        &self,
        device: &Device,
        layouts: &Layouts,
        targets: &Targets,
        number: u64,
    ) -> (wgpu::BindGroup, wgpu::BindGroup) {
        let draws = &self.scenes[&number].draws.buffer;
        let shared = [
            entry(1, draws.as_entire_binding()),
            entry(2, self.surfaces.buffer.as_entire_binding()),
        ];
        let mut all = vec![self.part::<SceneUniform>(0)];
        all.extend(shared.clone());
        all.push(entry(3, wgpu::BindingResource::TextureView(&targets.sun.all)));
        all.push(entry(4, wgpu::BindingResource::TextureView(&targets.spots.all)));
        all.push(entry(5, wgpu::BindingResource::Sampler(&self.compare)));
        let scene = group(device, "scene", &layouts.scene, &all);
        let mut all = vec![entry(0, part_of(&self.maps.buffer, size_of::<MapUniform>()))];
        all.extend(shared);
        (scene, group(device, "map", &layouts.map, &all))
    }

    /// Makes the group of a set of textures, if it is not there.
    pub fn need_set(
        &mut self,
        device: &Device,
        layouts: &Layouts,
        textures: &Textures,
        library: &Library,
        set: u32,
    ) {
        if self.sets.contains_key(&set) {
            return;
        }
        let plain = Sampling { nearest: false, wrap: Wrap::Clamp };
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
        let made = group(device, "set", &layouts.set, &entries);
        self.sets.insert(set, made);
    }

    /// Forgets the groups of textures when there may be others in their slots.
    pub fn follow_textures(&mut self, textures: &Textures, surfaces_changed: bool) {
        if surfaces_changed || self.sets_generation != textures.generation {
            self.sets.clear();
            self.sets_generation = textures.generation;
        }
    }

    pub fn set(&self, set: u32) -> &wgpu::BindGroup {
        &self.sets[&set]
    }

    /// Group 0 for a view: of its meshes, and the offset.
    pub fn scene(&self, scene: u64, view: usize) -> (&wgpu::BindGroup, u32) {
        let (group, _, _) = self.scenes[&scene].groups.as_ref().expect("groups were made");
        (group, (view as u64 * self.stride) as u32)
    }

    /// Group 0 for a shadow map, and the offset.
    pub fn map(&self, scene: u64, map: usize) -> (&wgpu::BindGroup, u32) {
        let (_, group, _) = self.scenes[&scene].groups.as_ref().expect("groups were made");
        (group, (map as u64 * self.small_stride) as u32)
    }

    /// Group 0 of the sky and the picture, and the offset.
    pub fn view(&self, view: usize) -> (&wgpu::BindGroup, u32) {
        let ([group, ..], _) = self.plain.as_ref().expect("groups were made");
        (group, (view as u64 * self.stride) as u32)
    }

    /// Group 0 of painted pictures, and the offset.
    pub fn frame(&self, view: usize) -> (&wgpu::BindGroup, u32) {
        let ([.., group], _) = self.plain.as_ref().expect("groups were made");
        (group, (view as u64 * self.small_stride) as u32)
    }

    /// Group 0 of particles, and the offsets.
    pub fn particle_view(&self, view: usize, batch: usize) -> (&wgpu::BindGroup, [u32; 2]) {
        let ([_, group, _], _) = self.plain.as_ref().expect("groups were made");
        let offsets = [view as u64 * self.stride, batch as u64 * self.small_stride];
        (group, offsets.map(|offset| offset as u32))
    }
}

fn push(to: &mut Vec<u8>, bytes: &[u8], stride: u64) {
    let end = to.len() + stride as usize;
    to.extend_from_slice(bytes);
    to.resize(end, 0);
}

fn part_of(buffer: &wgpu::Buffer, bytes: usize) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: 0,
        size: NonZeroU64::new(bytes as u64),
    })
}

fn group(
    device: &Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    entries: &[wgpu::BindGroupEntry],
) -> wgpu::BindGroup {
    let descriptor = wgpu::BindGroupDescriptor { label: Some(label), layout, entries };
    device.device.create_bind_group(&descriptor)
}

/// Like those of Guis, but sharp where a texture is seen from the side.
fn make_sampler(device: &Device, sampling: Sampling) -> wgpu::Sampler {
    let wrap = match sampling.wrap {
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
    };
    let near = if sampling.nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear };
    device.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("surface"),
        address_mode_u: wrap,
        address_mode_v: wrap,
        address_mode_w: wrap,
        mag_filter: near,
        min_filter: near,
        mipmap_filter: match sampling.nearest {
            true => wgpu::MipmapFilterMode::Nearest,
            false => wgpu::MipmapFilterMode::Linear,
        },
        anisotropy_clamp: if sampling.nearest { 1 } else { ANISOTROPY },
        ..Default::default()
    })
}
