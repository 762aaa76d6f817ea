//! GPU buffers of meshes. Small meshes share buffers, the pages, so that the draw calls of many
//! meshes need no buffer changes between them. Draws nothing.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;
use super::super::range_allocator::RangeAllocator;
use super::super::scene::DrawResources;
use super::morph_buffer::MorphBuffer;
use bytemuck::{Pod, Zeroable};
use engine_frame_packet::mesh::{MeshChange, MeshFrame, MeshVertex};

/// Vertices and indices of a shared page: 2 MiB, and 0.5 or 1 MiB.
const PAGE_VERTICES: u32 = 1 << 16;
const PAGE_INDICES: u32 = 1 << 18;
/// Meshes larger than a page divided by this number get a page of their own.
const SHARED_PART: u32 = 4;
const VERTEX_BYTES: u64 = size_of::<MeshVertex>() as u64;

/// The joints and morph offsets of a vertex, with the layout of `EngineDeformer` in
/// deformation.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct DeformerVertex {
    joints: [u16; 4],
    weights: [u16; 4],
    /// Range of its offsets in the [`MorphBuffer`]: first and count.
    offsets: [u32; 2],
}

const DEFORMER_BYTES: u64 = size_of::<DeformerVertex>() as u64;

/// The size and the format of a mesh.
#[derive(Clone, Copy, PartialEq)]
struct MeshLayout {
    vertices: u32,
    indices: u32,
    /// True if indices have two bytes.
    narrow: bool,
    /// True if the mesh has joints or morph targets.
    deformed: bool,
    /// Number of its morph offsets.
    offsets: u32,
}

impl MeshLayout {
    fn of(mesh: &MeshFrame) -> MeshLayout {
        MeshLayout {
            vertices: mesh.vertices.len() as u32,
            // Copies are multiples of four bytes.
            indices: (mesh.indices.len() as u32).next_multiple_of(2),
            narrow: mesh.vertices.len() <= usize::from(u16::MAX),
            deformed: mesh.skin.is_some() || mesh.morph.is_some(),
            offsets: mesh.morph.as_ref().map_or(0, |morph| morph.offsets.len() as u32),
        }
    }

    fn format(&self) -> wgpu::IndexFormat {
        if self.narrow { wgpu::IndexFormat::Uint16 } else { wgpu::IndexFormat::Uint32 }
    }
}

/// Returns the joints and morph offsets of each vertex; the mesh's offsets begin at `first`.
fn deformers(mesh: &MeshFrame, first: u32) -> Vec<DeformerVertex> {
    let skin = mesh.skin.as_ref();
    let of_vertex = |at: usize| DeformerVertex {
        joints: skin.map_or([0; 4], |skin| skin.joints[at]),
        weights: skin.map_or([0; 4], |skin| skin.weights[at]),
        offsets: mesh.morph.as_ref().map_or([0; 2], |morph| {
            let (begin, end) = (morph.starts[at], morph.starts[at + 1]);
            [first + begin, end - begin]
        }),
    };
    (0..mesh.vertices.len()).map(of_vertex).collect()
}

/// Buffers that meshes share.
pub struct MeshPage {
    pub vertices: wgpu::Buffer,
    /// A [`DeformerVertex`] for each vertex, if the page's meshes have joints or morph targets.
    pub deformers: Option<wgpu::Buffer>,
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
    layout: MeshLayout,
    first_offset: u32,
}

impl MeshRange {
    pub fn vertex_count(&self) -> u32 {
        self.layout.vertices
    }
}

/// The buffers of all meshes.
pub struct MeshBuffers {
    pub morphs: MorphBuffer,
    pages: Vec<Option<MeshPage>>,
    ranges: NumberMap<u32, MeshRange>,
}

/// Creates a page for meshes with the format of `layout`, and as many vertices and indices.
fn make_page(device: &GpuDevice, layout: &MeshLayout, shared: bool) -> Result<MeshPage, String> {
    let MeshLayout { vertices, indices, narrow, deformed, .. } = *layout;
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
    // The pre-skinning pass reads vertices as numbers.
    let is_pre_skinned = deformed && device.compute;
    let storage = match is_pre_skinned {
        true => wgpu::BufferUsages::STORAGE,
        false => wgpu::BufferUsages::empty(),
    };
    let vertex_usage = wgpu::BufferUsages::VERTEX | storage;
    let deformers = match deformed {
        true => Some(make(u64::from(vertices) * DEFORMER_BYTES, vertex_usage)?),
        false => None,
    };
    Ok(MeshPage {
        vertices: make(vertex_size, vertex_usage)?,
        deformers,
        indices: make(index_size, wgpu::BufferUsages::INDEX)?,
        format: layout.format(),
        free_vertices: RangeAllocator::all(vertices),
        free_indices: RangeAllocator::all(indices),
        meshes: 0,
        shared,
    })
}

impl MeshBuffers {
    pub fn new(device: &GpuDevice) -> MeshBuffers {
        MeshBuffers {
            morphs: MorphBuffer::new(device),
            pages: Vec::new(),
            ranges: NumberMap::default(),
        }
    }

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
        let layout = MeshLayout::of(mesh);
        // A mesh that changes in each frame usually keeps its size.
        let range = match self.ranges.get(&slot).filter(|range| range.layout == layout) {
            Some(range) => *range,
            None => {
                self.end(slot);
                match self.take(device, &layout) {
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
        if let Some(buffer) = &page.deformers {
            let all = deformers(mesh, range.first_offset);
            let at = u64::from(range.first_vertex) * DEFORMER_BYTES;
            device.queue.write_buffer(buffer, at, bytemuck::cast_slice(&all));
        }
        if let Some(morph) = &mesh.morph {
            self.morphs.write(device, range.first_offset, &morph.offsets);
        }
        if layout.narrow {
            let mut short: Vec<u16> = mesh.indices.iter().map(|index| *index as u16).collect();
            short.resize(layout.indices as usize, 0);
            let at = u64::from(range.first_index) * 2;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&short));
        } else {
            let at = u64::from(range.first_index) * 4;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&mesh.indices));
        }
    }

    /// Allocates room in a page and for morph offsets.
    fn take(&mut self, device: &GpuDevice, layout: &MeshLayout) -> Result<MeshRange, String> {
        let first_offset = self.morphs.take(device, layout.offsets)?;
        let found = self.find(device, layout);
        if found.is_err() {
            self.morphs.release(first_offset, layout.offsets);
        }
        found.map(|range| MeshRange { first_offset, ..range })
    }

    /// Allocates room in a page.
    fn find(&mut self, device: &GpuDevice, layout: &MeshLayout) -> Result<MeshRange, String> {
        let MeshLayout { vertices, indices, deformed, .. } = *layout;
        let small = device.base_vertex
            && vertices <= PAGE_VERTICES / SHARED_PART
            && indices <= PAGE_INDICES / SHARED_PART;
        let mesh_range = |page: usize, first_vertex, first_index| {
            let (page, layout) = (page as u32, *layout);
            MeshRange { page, first_vertex, first_index, layout, first_offset: 0 }
        };
        let is_alike = |page: &&mut MeshPage| {
            page.format == layout.format() && page.deformers.is_some() == deformed
        };
        for (i, page) in self.pages.iter_mut().enumerate() {
            let page = page.as_mut().filter(|page| page.shared && small);
            let Some(page) = page.filter(is_alike) else { continue };
            let Some(first_vertex) = page.free_vertices.take(vertices) else { continue };
            let Some(first_index) = page.free_indices.take(indices) else {
                page.free_vertices.release(first_vertex, vertices);
                continue;
            };
            page.meshes += 1;
            return Ok(mesh_range(i, first_vertex, first_index));
        }
        let room = match small {
            true => MeshLayout { vertices: PAGE_VERTICES, indices: PAGE_INDICES, ..*layout },
            false => *layout,
        };
        let mut page = make_page(device, &room, small)?;
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
        known.free_vertices.release(range.first_vertex, range.layout.vertices);
        known.free_indices.release(range.first_index, range.layout.indices);
        self.morphs.release(range.first_offset, range.layout.offsets);
        known.meshes -= 1;
        if known.meshes == 0 {
            *page = None;
        }
    }

    /// Returns a page that contains a mesh.
    pub fn page(&self, page: u32) -> &MeshPage {
        self.pages[page as usize].as_ref().expect("it contains a mesh")
    }

    /// Returns a mesh's location and page; `None` if the mesh was refused.
    pub fn get(&self, slot: u32) -> Option<(MeshRange, &MeshPage)> {
        let range = self.ranges.get(&slot)?;
        Some((*range, self.pages[range.page as usize].as_ref()?))
    }
}
