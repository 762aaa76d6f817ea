//! The GPU buffer of all meshes' morph offsets. Draws nothing.

use super::super::device::GpuDevice;
use super::super::range_allocator::RangeAllocator;
use engine_frame_packet::deformation::MorphOffset;

/// Offsets that the first buffer has room for: 16 KiB.
const OFFSETS_MIN: u32 = 1024;
const OFFSET_BYTES: u64 = size_of::<MorphOffset>() as u64;

/// The buffer, which grows and keeps its content.
pub struct MorphBuffer {
    pub buffer: wgpu::Buffer,
    room: u32,
    free: RangeAllocator,
    /// Incremented whenever the buffer is replaced.
    pub generation: u64,
}

fn make(device: &wgpu::Device, room: u32) -> wgpu::Buffer {
    use wgpu::BufferUsages as Usage;
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("morph targets"),
        size: u64::from(room) * OFFSET_BYTES,
        usage: Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC,
        mapped_at_creation: false,
    })
}

impl MorphBuffer {
    pub fn new(device: &GpuDevice) -> MorphBuffer {
        MorphBuffer {
            buffer: make(&device.device, OFFSETS_MIN),
            room: OFFSETS_MIN,
            free: RangeAllocator::all(OFFSETS_MIN),
            generation: 0,
        }
    }

    /// Allocates room for `count` offsets and returns the first. Returns an error message if the
    /// adapter has no room.
    pub fn take(&mut self, device: &GpuDevice, count: u32) -> Result<u32, String> {
        if count == 0 {
            return Ok(0);
        }
        if let Some(first) = self.free.take(count) {
            return Ok(first);
        }
        let wanted = u64::from(self.room) + u64::from(self.room.max(count));
        let (limits, name) = (&device.limits, &device.info.name);
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let room =
            u32::try_from(wanted).ok().filter(|room| u64::from(*room) * OFFSET_BYTES <= most);
        let Some(room) = room else {
            return Err(format!(
                "its morph targets have {count} offsets, {} are there already, and the adapter \
                 {name} takes {most} bytes in one buffer at most (max_storage_buffer_binding_size, \
                 max_buffer_size): remove some",
                self.room
            ));
        };
        let buffer = device.checked(|device| make(device, room))?;
        let mut encoder = device.device.create_command_encoder(&Default::default());
        let bytes = u64::from(self.room) * OFFSET_BYTES;
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &buffer, 0, bytes);
        device.queue.submit([encoder.finish()]);
        self.free.release(self.room, room - self.room);
        (self.buffer, self.room) = (buffer, room);
        self.generation += 1;
        Ok(self.free.take(count).expect("the buffer has grown by as many"))
    }

    pub fn release(&mut self, first: u32, count: u32) {
        self.free.release(first, count);
    }

    /// Writes the offsets of one mesh.
    pub fn write(&self, device: &GpuDevice, first: u32, offsets: &[MorphOffset]) {
        let bytes: &[u8] = bytemuck::cast_slice(offsets);
        device.queue.write_buffer(&self.buffer, u64::from(first) * OFFSET_BYTES, bytes);
    }
}
