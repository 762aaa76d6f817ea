//! GPU buffers of meshes. Small meshes share buffers, the pages, so that the draw calls of many
//! meshes need no buffer changes between them. Draws nothing.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;
use super::super::scene::DrawResources;
use engine_frame_packet::mesh::{MeshChange, MeshFrame, MeshVertex};

/// Vertices and indices of a shared page: 2 MiB, and 0.5 or 1 MiB.
const PAGE_VERTICES: u32 = 1 << 16;
const PAGE_INDICES: u32 = 1 << 18;
/// Meshes larger than a page divided by this number get a page of their own.
const SHARED_PART: u32 = 4;
const VERTEX_BYTES: u64 = size_of::<MeshVertex>() as u64;

/// An allocator of ranges in an array: the free ranges, in ascending order.
struct RangeAllocator(Vec<std::ops::Range<u32>>);

impl RangeAllocator {
    /// Returns an allocator with `count` free elements.
    fn all(count: u32) -> RangeAllocator {
        RangeAllocator(vec![std::ops::Range { start: 0, end: count }])
    }

    /// Allocates `count` adjacent elements and returns the first.
    fn take(&mut self, count: u32) -> Option<u32> {
        let at = self.0.iter().position(|range| range.end - range.start >= count)?;
        let range = &mut self.0[at];
        let first = range.start;
        range.start += count;
        if range.start == range.end {
            self.0.remove(at);
        }
        Some(first)
    }

    fn release(&mut self, first: u32, count: u32) {
        if count == 0 {
            return;
        }
        let at = self.0.partition_point(|range| range.start < first);
        self.0.insert(at, first..first + count);
        if self.0.get(at + 1).is_some_and(|next| next.start == first + count) {
            self.0[at].end = self.0.remove(at + 1).end;
        }
        if at > 0 && self.0[at - 1].end == first {
            self.0[at - 1].end = self.0.remove(at).end;
        }
    }
}

/// Buffers that meshes share.
pub struct MeshPage {
    pub vertices: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub format: wgpu::IndexFormat,
    free_vertices: RangeAllocator,
    free_indices: RangeAllocator,
    meshes: u32,
    /// True if other meshes may be added to the page.
    shared: bool,
}

/// The location of a mesh in the pages.
#[derive(Clone, Copy)]
pub struct MeshRange {
    pub page: u32,
    pub first_vertex: u32,
    pub first_index: u32,
    vertices: u32,
    indices: u32,
    narrow: bool,
}

/// The buffers of all meshes.
#[derive(Default)]
pub struct MeshBuffers {
    pages: Vec<Option<MeshPage>>,
    ranges: NumberMap<u32, MeshRange>,
}

fn make_page(
    device: &GpuDevice,
    vertices: u32,
    indices: u32,
    narrow: bool,
    shared: bool,
) -> Result<MeshPage, String> {
    let index_bytes = if narrow { 2 } else { 4 };
    let (vertex_size, index_size) =
        (u64::from(vertices) * VERTEX_BYTES, u64::from(indices) * index_bytes);
    let (most, name) = (device.limits.max_buffer_size, &device.info.name);
    if vertex_size.max(index_size) > most {
        return Err(format!(
            "it has {vertices} vertices and {indices} indices, and the adapter {name} takes \
             {most} bytes in one buffer at most (max_buffer_size): split it"
        ));
    }
    let make = |size: u64, usage| {
        device.checked(|device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("meshes"),
                size: size.max(4),
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })
    };
    Ok(MeshPage {
        vertices: make(vertex_size, wgpu::BufferUsages::VERTEX)?,
        indices: make(index_size, wgpu::BufferUsages::INDEX)?,
        format: if narrow { wgpu::IndexFormat::Uint16 } else { wgpu::IndexFormat::Uint32 },
        free_vertices: RangeAllocator::all(vertices),
        free_indices: RangeAllocator::all(indices),
        meshes: 0,
        shared,
    })
}

impl MeshBuffers {
    /// Uploads every mesh of a library. Returns the slots that failed, with error messages.
    pub fn upload_all(
        &mut self,
        device: &GpuDevice,
        library: &DrawResources,
    ) -> Vec<(u32, String)> {
        let mut refused = Vec::new();
        for (slot, mesh) in library.meshes() {
            self.upload(device, slot, mesh, &mut refused);
        }
        refused
    }

    /// Applies mesh changes that a library has applied. Returns the slots that failed, with error
    /// messages.
    pub fn change(
        &mut self,
        device: &GpuDevice,
        library: &DrawResources,
        changes: &[MeshChange],
    ) -> Vec<(u32, String)> {
        let mut refused = Vec::new();
        for change in changes {
            let (MeshChange::Set { slot, .. } | MeshChange::End { slot }) = change;
            match library.mesh(slot.0) {
                Some(mesh) => self.upload(device, slot.0, mesh, &mut refused),
                None => self.end(slot.0),
            }
        }
        refused
    }

    fn upload(
        &mut self,
        device: &GpuDevice,
        slot: u32,
        mesh: &MeshFrame,
        refused: &mut Vec<(u32, String)>,
    ) {
        let narrow = mesh.vertices.len() <= usize::from(u16::MAX);
        let vertices = mesh.vertices.len() as u32;
        // Copies are multiples of four bytes.
        let indices = (mesh.indices.len() as u32).next_multiple_of(2);
        let fits = |range: &&MeshRange| {
            (range.vertices, range.indices, range.narrow) == (vertices, indices, narrow)
        };
        // A mesh that changes in each frame usually keeps its size.
        let range = match self.ranges.get(&slot).filter(fits) {
            Some(range) => *range,
            None => {
                self.end(slot);
                match self.find(device, vertices, indices, narrow) {
                    Ok(range) => range,
                    Err(message) => return refused.push((slot, message)),
                }
            }
        };
        self.ranges.insert(slot, range);
        let page = self.pages[range.page as usize].as_ref().expect("a slot is in a page");
        let bytes: &[u8] = bytemuck::cast_slice(&mesh.vertices);
        let at = u64::from(range.first_vertex) * VERTEX_BYTES;
        device.queue.write_buffer(&page.vertices, at, bytes);
        if narrow {
            let mut short: Vec<u16> = mesh.indices.iter().map(|index| *index as u16).collect();
            short.resize(indices as usize, 0);
            let at = u64::from(range.first_index) * 2;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&short));
        } else {
            let at = u64::from(range.first_index) * 4;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&mesh.indices));
        }
    }

    /// Allocates room in a page.
    fn find(
        &mut self,
        device: &GpuDevice,
        vertices: u32,
        indices: u32,
        narrow: bool,
    ) -> Result<MeshRange, String> {
        let small = device.base_vertex
            && vertices <= PAGE_VERTICES / SHARED_PART
            && indices <= PAGE_INDICES / SHARED_PART;
        let format = if narrow { wgpu::IndexFormat::Uint16 } else { wgpu::IndexFormat::Uint32 };
        let mesh_range = |page: usize, first_vertex, first_index| {
            let page = page as u32;
            MeshRange { page, first_vertex, first_index, vertices, indices, narrow }
        };
        for (i, page) in self.pages.iter_mut().enumerate() {
            let Some(page) = page.as_mut().filter(|it| it.shared && small && it.format == format)
            else {
                continue;
            };
            let Some(first_vertex) = page.free_vertices.take(vertices) else { continue };
            let Some(first_index) = page.free_indices.take(indices) else {
                page.free_vertices.release(first_vertex, vertices);
                continue;
            };
            page.meshes += 1;
            return Ok(mesh_range(i, first_vertex, first_index));
        }
        let (room, index_room) =
            if small { (PAGE_VERTICES, PAGE_INDICES) } else { (vertices, indices) };
        let mut page = make_page(device, room, index_room, narrow, small)?;
        page.free_vertices.take(vertices);
        page.free_indices.take(indices);
        page.meshes = 1;
        let free = self.pages.iter().position(Option::is_none).unwrap_or(self.pages.len());
        if free == self.pages.len() {
            self.pages.push(None);
        }
        self.pages[free] = Some(page);
        Ok(mesh_range(free, 0, 0))
    }

    fn end(&mut self, slot: u32) {
        let Some(range) = self.ranges.remove(&slot) else { return };
        let page = &mut self.pages[range.page as usize];
        let known = page.as_mut().expect("a slot is in a page");
        known.free_vertices.release(range.first_vertex, range.vertices);
        known.free_indices.release(range.first_index, range.indices);
        known.meshes -= 1;
        if known.meshes == 0 {
            *page = None;
        }
    }

    /// Returns a mesh's location and page; `None` if the mesh was refused.
    pub fn get(&self, slot: u32) -> Option<(MeshRange, &MeshPage)> {
        let range = self.ranges.get(&slot)?;
        Some((*range, self.pages[range.page as usize].as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_allocated_first_fit_and_free_ranges_merge() {
        let mut free = RangeAllocator::all(100);
        let starts: Vec<_> = [30, 30, 30, 30].map(|count| free.take(count)).to_vec();
        assert_eq!(starts, [Some(0), Some(30), Some(60), None]);
        free.release(30, 30);
        assert_eq!((free.take(20), free.take(20)), (Some(30), None));
        free.release(0, 30);
        free.release(30, 20);
        free.release(60, 30);
        assert_eq!((free.0.len(), free.0[0].clone()), (1, 0..100));
        assert_eq!((free.take(0), free.take(100)), (Some(0), Some(0)));
        assert!(free.0.is_empty());
    }
}
