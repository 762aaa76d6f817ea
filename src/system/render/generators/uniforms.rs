//! The uniforms of generators' passes: pages of one buffer each, written before a frame is
//! submitted. Knows no config.

use super::super::device::GpuDevice;
use super::super::textures::entry;
use bytemuck::{Pod, Zeroable};

/// Number of uniforms of a page.
const PAGE_UNIFORMS: usize = 64;
/// Distance between uniforms, in bytes: no adapter needs more.
const STRIDE: usize = 256;

/// The uniform `frame` of pass.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug)]
pub struct PassUniform {
    pub to_clip: [[f32; 4]; 4],
    pub from_clip: [[f32; 4]; 4],
    pub camera_position: [f32; 3],
    pub exposure: f32,
    pub camera_direction: [f32; 3],
    pub seconds: f32,
    pub target_size: [f32; 2],
    pub view_size: [f32; 2],
    pub offset: [f32; 2],
    pub scale: f32,
    pub spare: f32,
}

const _: () = assert!(size_of::<PassUniform>() <= STRIDE);

/// The uniforms of a frame.
pub struct PassUniforms {
    pub layout: wgpu::BindGroupLayout,
    pages: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
    values: Vec<PassUniform>,
}

impl PassUniforms {
    pub fn new(device: &GpuDevice) -> PassUniforms {
        let layout = device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("pass"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        PassUniforms { layout, pages: Vec::new(), values: Vec::new() }
    }

    /// Adds a uniform. Returns its bind group and its offset.
    pub fn push(&mut self, device: &GpuDevice, value: PassUniform) -> (&wgpu::BindGroup, u32) {
        let (page, index) = (self.values.len() / PAGE_UNIFORMS, self.values.len() % PAGE_UNIFORMS);
        self.values.push(value);
        if page == self.pages.len() {
            self.pages.push(self.create_page(device));
        }
        (&self.pages[page].1, (index * STRIDE) as u32)
    }

    fn create_page(&self, device: &GpuDevice) -> (wgpu::Buffer, wgpu::BindGroup) {
        let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pass"),
            size: (PAGE_UNIFORMS * STRIDE) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let size = wgpu::BufferSize::new(size_of::<PassUniform>() as u64);
        let binding = wgpu::BufferBinding { buffer: &buffer, offset: 0, size };
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pass"),
            layout: &self.layout,
            entries: &[entry(0, wgpu::BindingResource::Buffer(binding))],
        });
        (buffer, group)
    }

    /// Copies the uniforms of the frame, which is about to be submitted.
    pub fn write(&mut self, device: &GpuDevice) {
        let mut bytes = Vec::new();
        for (values, (buffer, _)) in self.values.chunks(PAGE_UNIFORMS).zip(&self.pages) {
            bytes.clear();
            for value in values {
                bytes.extend_from_slice(bytemuck::bytes_of(value));
                bytes.resize(bytes.len().next_multiple_of(STRIDE), 0);
            }
            device.queue.write_buffer(buffer, 0, &bytes);
        }
        // Pages beyond twice the need are dropped.
        self.pages.truncate((self.values.len().div_ceil(PAGE_UNIFORMS) * 2).max(1));
        self.values.clear();
    }
}
