//! A buffer on the adapter that grows, and copies of the changed ranges of an array into it.
//! Independent of what the buffers contain.

use super::super::device::GpuDevice;
use super::super::numeric_map::DirtyRanges;
use bytemuck::Pod;
use std::ops::Range;

/// Initial size of buffers, which grow to powers of two.
const BYTES_MIN: u64 = 1024;

/// A buffer that grows.
pub struct GrowingBuffer {
    pub buffer: wgpu::Buffer,
    usage: wgpu::BufferUsages,
}

impl GrowingBuffer {
    pub fn new(device: &GpuDevice, usage: wgpu::BufferUsages, bytes: u64) -> GrowingBuffer {
        let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("scene"),
            size: bytes.next_power_of_two().max(BYTES_MIN),
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        GrowingBuffer { buffer, usage }
    }

    /// Returns true if a number of elements fits, with further ones behind them.
    pub fn has_room<T>(&self, (count, spare): (usize, u32)) -> bool {
        bytes_of::<T>((count, spare)) <= self.buffer.size()
    }

    /// Makes room for `bytes`. Returns true if the buffer was replaced; the new one is empty.
    pub fn ensure(&mut self, device: &GpuDevice, bytes: u64) -> bool {
        let grown = bytes > self.buffer.size();
        if grown {
            *self = GrowingBuffer::new(device, self.usage, bytes);
        }
        grown
    }

    /// Replaces the whole content. Returns true if the buffer was replaced.
    pub fn write(&mut self, device: &GpuDevice, bytes: &[u8]) -> bool {
        let grown = self.ensure(device, bytes.len() as u64);
        if !bytes.is_empty() {
            device.upload(&self.buffer, 0, bytes);
        }
        grown
    }
}

/// Returns the number of bytes of elements, with further ones behind them.
fn bytes_of<T>((count, spare): (usize, u32)) -> u64 {
    (count as u64 + u64::from(spare)) * size_of::<T>() as u64
}

/// Copies the changed ranges of an array, and makes room for further elements behind it. Returns
/// the number of bytes, and true if the buffer was replaced.
pub fn copy_changed<T: Pod>(
    device: &GpuDevice,
    to: &mut GrowingBuffer,
    (from, spare): (&[T], u32),
    changed: &mut DirtyRanges,
) -> (u64, bool) {
    copy_changed_parts(device, to, (from.len(), spare), changed, |range| {
        std::iter::once(&from[range.start as usize..range.end as usize])
    })
}

/// The same for an array of `count` elements, whose ranges `parts` returns in parts.
pub fn copy_changed_parts<'a, T: Pod, Parts: Iterator<Item = &'a [T]>>(
    device: &GpuDevice,
    to: &mut GrowingBuffer,
    (count, spare): (usize, u32),
    changed: &mut DirtyRanges,
    parts: impl Fn(Range<u32>) -> Parts,
) -> (u64, bool) {
    let size = size_of::<T>() as u64;
    let grown = to.ensure(device, bytes_of::<T>((count, spare)));
    if grown {
        changed.add(0..count as u32);
    }
    let mut copied = 0;
    for range in changed.merge_all() {
        let bytes = u64::from(range.end - range.start) * size;
        let parts = parts(range.clone()).map(bytemuck::cast_slice);
        device.upload_parts(&to.buffer, u64::from(range.start) * size, bytes, parts);
        copied += bytes;
    }
    changed.clear();
    (copied, grown)
}
