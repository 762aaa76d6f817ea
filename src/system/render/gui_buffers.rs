//! GPU buffers of Guis, which packets are copied to: instances, transforms, uniforms. Copies only
//! what changed; draws nothing.

use super::device::GpuDevice;
use super::gui_batches::{DrawList, GuiBatchTable};
use super::gui_passes::FrameUniform;
use super::numeric_map::NumberMap;
use super::textures::{TextureTable, entry};
use engine_foundation::Mat4;
use engine_frame_packet::FramePacket;
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::texture::{SamplerSettings, WrapMode};
use std::ops::Range;

const INSTANCE_BYTES: u64 = size_of::<QuadInstance>() as u64;
const MATRIX_BYTES: u64 = size_of::<Mat4>() as u64;
/// Initial size of buffers, which grow to powers of two.
const BYTES_MIN: u64 = 4096;

/// All buffers of Guis.
pub struct GuiBuffers {
    pub immediate: wgpu::Buffer,
    retained: NumberMap<u64, wgpu::Buffer>,
    transforms: wgpu::Buffer,
    uniforms: wgpu::Buffer,
    /// Bind group 0, and the generation of the textures that it was created with.
    frame: Option<(wgpu::BindGroup, u64)>,
    /// Index of each Gui's first transform.
    first_transforms: NumberMap<u64, u32>,
    /// Bytes from one uniform to the next.
    stride: u32,
    scratch: Vec<u8>,
}

fn buffer(device: &GpuDevice, usage: wgpu::BufferUsages, bytes: u64) -> wgpu::Buffer {
    device.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("frame"),
        size: bytes.next_power_of_two().max(BYTES_MIN),
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Returns the number of bytes that a range of instances takes.
fn bytes_of(range: &Range<u32>) -> u64 {
    u64::from(range.end - range.start) * INSTANCE_BYTES
}

impl GuiBuffers {
    pub fn new(device: &GpuDevice) -> GuiBuffers {
        GuiBuffers {
            immediate: buffer(device, wgpu::BufferUsages::VERTEX, 0),
            retained: NumberMap::default(),
            transforms: buffer(device, wgpu::BufferUsages::STORAGE, 0),
            uniforms: buffer(device, wgpu::BufferUsages::UNIFORM, 0),
            frame: None,
            first_transforms: NumberMap::default(),
            stride: device.limits.min_uniform_buffer_offset_alignment.max(256),
            scratch: Vec::new(),
        }
    }

    /// Returns the reason why a packet cannot be copied, if it is larger than the adapter's buffers
    /// can be.
    pub fn refusal(
        &self,
        device: &GpuDevice,
        packet: &FramePacket,
        guis: &mut GuiBatchTable,
        list: &DrawList,
    ) -> Option<String> {
        // Buffers grow to powers of two.
        let most = (1 << device.limits.max_buffer_size.max(1).ilog2()) / INSTANCE_BYTES;
        let retained = packet.guis.iter().map(|it| guis.retained(it.gui).instances().len() as u64);
        let wanted = retained.max().unwrap_or(0).max(u64::from(list.immediate));
        let name = &device.info.name;
        (wanted > most).then(|| {
            format!(
                "there are {wanted} shapes to draw, and the adapter {name} takes at most {most} \
                 for a frame or one retained Gui (max_buffer_size): draw fewer"
            )
        })
    }

    /// Copies a packet's instances; returns the number of bytes.
    pub fn copy_instances(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        guis: &mut GuiBatchTable,
        list: &DrawList,
    ) -> u64 {
        for gui in &packet.ended_guis {
            self.retained.remove(gui);
        }
        let mut copied = 0;
        let immediate = u64::from(list.immediate) * INSTANCE_BYTES;
        if immediate > self.immediate.size() {
            self.immediate = buffer(device, wgpu::BufferUsages::VERTEX, immediate);
        }
        let batches = packet.guis.iter().flat_map(|frame| &frame.batches);
        let parts = batches.map(|batch| bytemuck::cast_slice(&batch.instances));
        device.upload_parts(&self.immediate, 0, immediate, parts);
        copied += immediate;
        for frame in &packet.guis {
            copied += self.copy_retained(device, guis, frame.gui);
        }
        copied
    }

    /// Copies the changed instances of a Gui's retained objects.
    fn copy_retained(&mut self, device: &GpuDevice, guis: &mut GuiBatchTable, gui: u64) -> u64 {
        let retained = guis.retained(gui);
        let needed = retained.instances().len() as u64 * INSTANCE_BYTES;
        if needed == 0 {
            return 0;
        }
        let there = self.retained.get(&gui).filter(|buffer| buffer.size() >= needed).is_some();
        if !there {
            let created = buffer(device, wgpu::BufferUsages::VERTEX, needed);
            self.retained.insert(gui, created);
            retained.mark_all_dirty();
        }
        let to = &self.retained[&gui];
        let mut copied = 0;
        let ranges = retained.dirty_ranges().to_vec();
        for range in &ranges {
            let part = &retained.instances()[range.start as usize..range.end as usize];
            let at = u64::from(range.start) * INSTANCE_BYTES;
            device.upload(to, at, bytemuck::cast_slice(part));
            copied += bytes_of(range);
        }
        retained.mark_clean();
        copied
    }

    /// Copies the transforms of every Gui, if any of them changed.
    pub fn copy_transforms(&mut self, device: &GpuDevice, guis: &GuiBatchTable, list: &DrawList) {
        if !list.transforms_changed {
            return;
        }
        self.first_transforms.clear();
        self.scratch.clear();
        for (number, gui) in guis.guis.iter().filter(|(_, gui)| !gui.transforms.is_empty()) {
            let first = self.scratch.len() as u64 / MATRIX_BYTES;
            self.first_transforms.insert(*number, first as u32);
            for matrix in &gui.transforms {
                self.scratch.extend_from_slice(bytemuck::bytes_of(&matrix.to_cols_array()));
            }
        }
        let needed = self.scratch.len() as u64;
        if needed > self.transforms.size() {
            self.transforms = buffer(device, wgpu::BufferUsages::STORAGE, needed);
            self.frame = None;
        }
        device.upload(&self.transforms, 0, &self.scratch);
    }

    pub fn first_transform(&self, gui: u64) -> u32 {
        self.first_transforms.get(&gui).copied().unwrap_or(0)
    }

    /// Copies the uniforms, and creates bind group 0 again if it is stale.
    pub fn copy_uniforms(
        &mut self,
        device: &GpuDevice,
        textures: &mut TextureTable,
        layout: &wgpu::BindGroupLayout,
        uniforms: &[FrameUniform],
    ) {
        let stride = self.stride as usize;
        self.scratch.clear();
        self.scratch.resize(uniforms.len() * stride, 0);
        for (to, from) in self.scratch.chunks_exact_mut(stride).zip(uniforms) {
            to[..size_of::<FrameUniform>()].copy_from_slice(bytemuck::bytes_of(from));
        }
        let needed = self.scratch.len() as u64;
        if needed > self.uniforms.size() {
            self.uniforms = buffer(device, wgpu::BufferUsages::UNIFORM, needed);
            self.frame = None;
        }
        device.queue.write_buffer(&self.uniforms, 0, &self.scratch);
        if self
            .frame
            .as_ref()
            .is_none_or(|(_, known_generation)| *known_generation != textures.generation)
        {
            let group = self.frame_group(device, textures, layout);
            self.frame = Some((group, textures.generation));
        }
    }

    fn frame_group(
        &self,
        device: &GpuDevice,
        textures: &mut TextureTable,
        layout: &wgpu::BindGroupLayout,
    ) -> wgpu::BindGroup {
        let plain = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        let smooth = textures.sampler(device, plain).clone();
        let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.uniforms,
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<FrameUniform>() as u64),
        });
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame"),
            layout,
            entries: &[
                entry(0, uniform),
                entry(1, self.transforms.as_entire_binding()),
                entry(2, wgpu::BindingResource::TextureView(&textures.atlas.view)),
                entry(3, wgpu::BindingResource::TextureView(&textures.glyphs.view)),
                entry(4, wgpu::BindingResource::Sampler(&smooth)),
            ],
        })
    }

    /// Returns bind group 0, and the offset of a uniform in it.
    pub fn frame(&self, uniform: u32) -> (&wgpu::BindGroup, u32) {
        let (group, _) = self.frame.as_ref().expect("uniforms were copied");
        (group, uniform * self.stride)
    }

    /// Returns the buffer of a Gui's retained instances.
    pub fn retained(&self, gui: u64) -> &wgpu::Buffer {
        &self.retained[&gui]
    }
}
