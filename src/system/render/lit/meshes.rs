//! Meshes on the adapter. Small ones share buffers, the pages, so that draw calls of many meshes
//! follow each other without setting anything. Draws nothing.

use super::super::device::Device;
use super::super::scene::Library;
use super::super::table::Map;
use crate::packet::mesh::{Mesh, MeshChange, Vertex};

/// Vertices and indices of a shared page: 2 MiB, and 0.5 or 1 MiB.
const PAGE_VERTICES: u32 = 1 << 16;
const PAGE_INDICES: u32 = 1 << 18;
/// Meshes with more than this part of a page have one of their own.
const SHARED_PART: u32 = 4;
const VERTEX_BYTES: u64 = size_of::<Vertex>() as u64;

/// What of an array is free, in ascending order.
struct Free(Vec<std::ops::Range<u32>>);

impl Free {
    /// Room for so many, all of it free.
    fn all(count: u32) -> Free {
        Free(vec![std::ops::Range { start: 0, end: count }])
    }

    /// Takes so many in a row; gives the first.
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

    fn give_back(&mut self, first: u32, count: u32) {
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
pub struct Page {
    pub vertices: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub format: wgpu::IndexFormat,
    free_vertices: Free,
    free_indices: Free,
    meshes: u32,
    /// Others may come into it.
    shared: bool,
}

/// Where a mesh is.
#[derive(Clone, Copy)]
pub struct Place {
    pub page: u32,
    pub first_vertex: u32,
    pub first_index: u32,
    vertices: u32,
    indices: u32,
    narrow: bool,
}

/// Every mesh.
#[derive(Default)]
pub struct Meshes {
    pages: Vec<Option<Page>>,
    places: Map<u32, Place>,
}

fn make_page(
    device: &Device,
    vertices: u32,
    indices: u32,
    narrow: bool,
    shared: bool,
) -> Result<Page, String> {
    let index_bytes = if narrow { 2 } else { 4 };
    let (vertex_size, index_size) =
        (u64::from(vertices) * VERTEX_BYTES, u64::from(indices) * index_bytes);
    let (most, name) = (device.limits.max_buffer_size, &device.about.name);
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
    Ok(Page {
        vertices: make(vertex_size, wgpu::BufferUsages::VERTEX)?,
        indices: make(index_size, wgpu::BufferUsages::INDEX)?,
        format: if narrow { wgpu::IndexFormat::Uint16 } else { wgpu::IndexFormat::Uint32 },
        free_vertices: Free::all(vertices),
        free_indices: Free::all(indices),
        meshes: 0,
        shared,
    })
}

impl Meshes {
    /// Puts every mesh of a library on the adapter; gives the slots that could not be, with words.
    pub fn put_all(&mut self, device: &Device, library: &Library) -> Vec<(u32, String)> {
        let mut refused = Vec::new();
        for (slot, mesh) in library.meshes() {
            self.put(device, slot, mesh, &mut refused);
        }
        refused
    }

    /// Follows changes that a library has taken over; gives the slots that could not be filled.
    pub fn change(
        &mut self,
        device: &Device,
        library: &Library,
        changes: &[MeshChange],
    ) -> Vec<(u32, String)> {
        let mut refused = Vec::new();
        for change in changes {
            let (MeshChange::Put { slot, .. } | MeshChange::End { slot }) = change;
            match library.mesh(slot.0) {
                Some(mesh) => self.put(device, slot.0, mesh, &mut refused),
                None => self.end(slot.0),
            }
        }
        refused
    }

    fn put(&mut self, device: &Device, slot: u32, mesh: &Mesh, refused: &mut Vec<(u32, String)>) {
        let narrow = mesh.vertices.len() <= usize::from(u16::MAX);
        let vertices = mesh.vertices.len() as u32;
        // Copies are of four bytes at a time.
        let indices = (mesh.indices.len() as u32).next_multiple_of(2);
        let fits = |place: &&Place| {
            (place.vertices, place.indices, place.narrow) == (vertices, indices, narrow)
        };
        // A mesh that changes in each frame mostly keeps its size.
        let place = match self.places.get(&slot).filter(fits) {
            Some(place) => *place,
            None => {
                self.end(slot);
                match self.find(device, vertices, indices, narrow) {
                    Ok(place) => place,
                    Err(words) => return refused.push((slot, words)),
                }
            }
        };
        self.places.insert(slot, place);
        let page = self.pages[place.page as usize].as_ref().expect("a place is in a page");
        let bytes: &[u8] = bytemuck::cast_slice(&mesh.vertices);
        let at = u64::from(place.first_vertex) * VERTEX_BYTES;
        device.queue.write_buffer(&page.vertices, at, bytes);
        if narrow {
            let mut short: Vec<u16> = mesh.indices.iter().map(|index| *index as u16).collect();
            short.resize(indices as usize, 0);
            let at = u64::from(place.first_index) * 2;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&short));
        } else {
            let at = u64::from(place.first_index) * 4;
            device.queue.write_buffer(&page.indices, at, bytemuck::cast_slice(&mesh.indices));
        }
    }

    /// Finds room.
    fn find(
        &mut self,
        device: &Device,
        vertices: u32,
        indices: u32,
        narrow: bool,
    ) -> Result<Place, String> {
        let small = device.base_vertex
            && vertices <= PAGE_VERTICES / SHARED_PART
            && indices <= PAGE_INDICES / SHARED_PART;
        let format = if narrow { wgpu::IndexFormat::Uint16 } else { wgpu::IndexFormat::Uint32 };
        let place = |page: usize, first_vertex, first_index| {
            let page = page as u32;
            Place { page, first_vertex, first_index, vertices, indices, narrow }
        };
        for (i, page) in self.pages.iter_mut().enumerate() {
            let Some(page) = page.as_mut().filter(|it| it.shared && small && it.format == format)
            else {
                continue;
            };
            let Some(first_vertex) = page.free_vertices.take(vertices) else { continue };
            let Some(first_index) = page.free_indices.take(indices) else {
                page.free_vertices.give_back(first_vertex, vertices);
                continue;
            };
            page.meshes += 1;
            return Ok(place(i, first_vertex, first_index));
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
        Ok(place(free, 0, 0))
    }

    fn end(&mut self, slot: u32) {
        let Some(place) = self.places.remove(&slot) else { return };
        let page = &mut self.pages[place.page as usize];
        let known = page.as_mut().expect("a place is in a page");
        known.free_vertices.give_back(place.first_vertex, place.vertices);
        known.free_indices.give_back(place.first_index, place.indices);
        known.meshes -= 1;
        if known.meshes == 0 {
            *page = None;
        }
    }

    /// A mesh's place and page; `None`: it was refused.
    pub fn get(&self, slot: u32) -> Option<(Place, &Page)> {
        let place = self.places.get(&slot)?;
        Some((*place, self.pages[place.page as usize].as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_from_the_first_gap_and_gaps_grow_together_again() {
        let mut free = Free::all(100);
        let taken: Vec<_> = [30, 30, 30, 30].map(|count| free.take(count)).to_vec();
        assert_eq!(taken, [Some(0), Some(30), Some(60), None]);
        free.give_back(30, 30);
        assert_eq!((free.take(20), free.take(20)), (Some(30), None));
        free.give_back(0, 30);
        free.give_back(30, 20);
        free.give_back(60, 30);
        assert_eq!((free.0.len(), free.0[0].clone()), (1, 0..100));
        assert_eq!((free.take(0), free.take(100)), (Some(0), Some(0)));
        assert!(free.0.is_empty());
    }
}
