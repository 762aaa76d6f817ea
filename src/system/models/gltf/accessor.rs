//! Accessors of a glTF file: numbers read from its buffers. Every index, offset and count is
//! checked, and the amount of data that a file can make the engine read is bounded. Does not
//! interpret the numbers.

use super::buffers::{BufferBytes, no_data};
use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::validation::Checked;
use gltf::json::{Index, Root, buffer};
use std::cell::Cell;

/// Maximum number of values read from one file's buffers; values that are read twice count twice.
pub const NUMBERS_MAX: usize = 1 << 27;

/// Maximum number of vertices in all meshes of one file.
pub const MODEL_VERTICES_MAX: usize = 1 << 25;

/// JSON description of a file and the buffers that it describes.
pub struct GltfSource {
    pub root: Root,
    /// Buffers in the file's order, each as long as the file declares, and those that were
    /// decompressed.
    pub buffers: Vec<BufferBytes>,
    /// Number of values that may still be read.
    pub left: Cell<usize>,
    /// Number of vertices that may still be created.
    pub vertices_left: Cell<usize>,
}

/// Layout of an accessor's elements in its bytes.
struct AccessorElements<'a> {
    bytes: &'a [u8],
    stride: usize,
}

/// Returns the size of one component in bytes.
pub fn size_of_component(kind: ComponentType) -> usize {
    match kind {
        ComponentType::I8 | ComponentType::U8 => 1,
        ComponentType::I16 | ComponentType::U16 => 2,
        ComponentType::U32 | ComponentType::F32 => 4,
    }
}

/// Returns the number of components of an element.
pub fn numbers_of(kind: Type) -> usize {
    match kind {
        Type::Scalar => 1,
        Type::Vec2 => 2,
        Type::Vec3 => 3,
        Type::Vec4 | Type::Mat2 => 4,
        Type::Mat3 => 9,
        Type::Mat4 => 16,
    }
}

/// Reads one component at the start of `bytes`, which must be long enough.
fn number(kind: ComponentType, bytes: &[u8], normalized: bool) -> f32 {
    let short = || [bytes[0], bytes[1]];
    let long = || [bytes[0], bytes[1], bytes[2], bytes[3]];
    let (value, most) = match kind {
        ComponentType::I8 => (f32::from(bytes[0] as i8), 127.0),
        ComponentType::U8 => (f32::from(bytes[0]), 255.0),
        ComponentType::I16 => (f32::from(i16::from_le_bytes(short())), 32767.0),
        ComponentType::U16 => (f32::from(u16::from_le_bytes(short())), 65535.0),
        ComponentType::U32 => (u32::from_le_bytes(long()) as f32, u32::MAX as f32),
        ComponentType::F32 => return f32::from_le_bytes(long()),
    };
    if normalized { (value / most).max(-1.0) } else { value }
}

fn integer(kind: ComponentType, bytes: &[u8]) -> u32 {
    match kind {
        ComponentType::U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        ComponentType::U32 => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => u32::from(bytes[0]),
    }
}

impl GltfSource {
    /// Returns the bytes of a buffer view.
    pub fn view(&self, index: Index<buffer::View>) -> Result<&[u8], Error> {
        let number = index.value();
        let view = self.root.buffer_views.get(number);
        let view = view.ok_or_else(|| missing("buffer view", number))?;
        let buffer = view.buffer.value();
        let bytes = self.buffers.get(buffer).ok_or_else(|| missing("buffer", buffer))?;
        let bytes = bytes.as_ref().ok_or_else(|| no_data(buffer))?;
        let start = view.byte_offset.map_or(0, |offset| offset.0);
        let end = start.checked_add(view.byte_length.0);
        let range = end.filter(|end| *end <= bytes.len() as u64);
        let range = range.map(|end| start as usize..end as usize);
        range.map(|range| &bytes[range]).ok_or_else(|| {
            error!(
                "buffer view {number} takes {} bytes from {start} on, and buffer {buffer} has {} \
                 bytes",
                view.byte_length.0,
                bytes.len()
            )
        })
    }

    fn accessor(&self, index: usize) -> Result<&Accessor, Error> {
        self.root.accessors.get(index).ok_or_else(|| missing("accessor", index))
    }

    /// Returns the number of elements of an accessor.
    pub fn count(&self, index: usize) -> Result<usize, Error> {
        Ok(self.accessor(index)?.count.0 as usize)
    }

    fn elements(
        &self,
        index: usize,
        view: Index<buffer::View>,
        offset: u64,
        (count, size): (usize, usize),
    ) -> Result<AccessorElements<'_>, Error> {
        let bytes = self.view(view)?;
        let known = &self.root.buffer_views[view.value()];
        let stride = known.byte_stride.map_or(size, |stride| stride.0);
        if stride < size {
            return Err(error!(
                "buffer view {}: its stride of {stride} bytes is less than the {size} of an \
                 element of accessor {index}",
                view.value()
            ));
        }
        let needed = (count as u64 - 1).checked_mul(stride as u64);
        let needed = needed.and_then(|most| most.checked_add(size as u64)?.checked_add(offset));
        match needed {
            Some(needed) if needed <= bytes.len() as u64 => {
                Ok(AccessorElements { bytes: &bytes[offset as usize..], stride })
            }
            _ => Err(error!(
                "accessor {index} has {count} elements of {size} bytes from {offset} on, and \
                 buffer view {} has {} bytes",
                view.value(),
                bytes.len()
            )),
        }
    }

    /// Deducts `count` elements of `width` values from the file's read budget.
    fn take(&self, index: usize, count: u64, width: usize) -> Result<usize, Error> {
        let wanted = count.saturating_mul(width as u64);
        match self.left.get().checked_sub(usize::try_from(wanted).unwrap_or(usize::MAX)) {
            Some(left) => {
                self.left.set(left);
                Ok(count as usize)
            }
            None => Err(error!(
                "accessor {index} has {count} elements, and the model's numbers together may be \
                 {NUMBERS_MAX} (NUMBERS_MAX): split the model"
            )),
        }
    }

    /// Deducts `count` values that the buffers do not contain from the file's budget. `name` names
    /// the values in the error.
    pub fn charge(&self, name: &str, count: u64) -> Result<(), Error> {
        let left = usize::try_from(count).ok().and_then(|count| self.left.get().checked_sub(count));
        match left {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(error!(
                "{name} are {count} numbers, and the model's together may be {NUMBERS_MAX} \
                 (NUMBERS_MAX): split the model"
            )),
        }
    }

    /// Deducts `count` vertices from the file's vertex budget.
    pub fn charge_vertices(&self, count: usize) -> Result<(), Error> {
        match self.vertices_left.get().checked_sub(count) {
            Some(left) => {
                self.vertices_left.set(left);
                Ok(())
            }
            None => Err(error!(
                "with its {count} vertices the model has more than {MODEL_VERTICES_MAX} \
                 (MODEL_VERTICES_MAX): split the model"
            )),
        }
    }

    /// Returns an accessor and its component type, checked against a shape and the allowed types.
    fn component(
        &self,
        index: usize,
        name: &str,
        shape: Type,
        allowed: &[ComponentType],
    ) -> Result<(&Accessor, ComponentType), Error> {
        let accessor = self.accessor(index)?;
        let fits = matches!(accessor.type_, Checked::Valid(kind) if kind == shape);
        match accessor.component_type {
            Checked::Valid(component) if fits && allowed.contains(&component.0) => {
                Ok((accessor, component.0))
            }
            _ => Err(error!("accessor {index} does not have the type that {name} must have")),
        }
    }

    /// Reads the elements of an accessor as `N` finite floats each. Integers are normalized or
    /// converted as they are, as the file declares.
    pub fn floats<const N: usize>(
        &self,
        index: usize,
        name: &str,
        shape: Type,
    ) -> Result<Vec<[f32; N]>, Error> {
        use ComponentType::{F32, I8, I16, U8, U16};
        debug_assert_eq!(numbers_of(shape), N);
        let (accessor, kind) = self.component(index, name, shape, &[F32, I8, U8, I16, U16])?;
        let count = self.take(index, accessor.count.0, N)?;
        let mut out = vec![[0.0; N]; count];
        let size = size_of_component(kind);
        let read = |bytes: &[u8]| -> [f32; N] {
            std::array::from_fn(|part| number(kind, &bytes[part * size..], accessor.normalized))
        };
        if let (Some(view), true) = (accessor.buffer_view, count > 0) {
            let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
            let from = self.elements(index, view, offset, (count, size * N))?;
            for (slot, element) in out.iter_mut().enumerate() {
                *element = read(&from.bytes[slot * from.stride..]);
            }
        }
        if let Some(sparse) = &accessor.sparse {
            let changed = self.sparse_indices(index, sparse, count)?;
            let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset.0);
            if !changed.is_empty() {
                let from = self.elements(index, view, offset, (changed.len(), size * N))?;
                for (slot, at) in changed.iter().enumerate() {
                    out[*at] = read(&from.bytes[slot * from.stride..]);
                }
            }
        }
        match out.iter().flatten().all(|number| number.is_finite()) {
            true => Ok(out),
            false => Err(error!("{name} (accessor {index}) holds a number that is not finite")),
        }
    }

    fn sparse_indices(
        &self,
        index: usize,
        sparse: &gltf::json::accessor::sparse::Sparse,
        most: usize,
    ) -> Result<Vec<usize>, Error> {
        let count = self.take(index, sparse.count.0, 1)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let Checked::Valid(kind) = sparse.indices.component_type else {
            return Err(error!("accessor {index}: its sparse indices have an unknown type"));
        };
        let size = size_of_component(kind.0);
        let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset.0);
        let from = self.elements(index, view, offset, (count, size))?;
        let read_index = |at: usize| integer(kind.0, &from.bytes[at * from.stride..]) as usize;
        let indices: Vec<usize> = (0..count).map(read_index).collect();
        match indices.iter().find(|index| **index >= most) {
            None => Ok(indices),
            Some(wrong) => Err(error!(
                "accessor {index} has {most} elements, and its sparse part changes element {wrong}"
            )),
        }
    }

    /// Reads the elements of an accessor as `N` integers each: indices, joints.
    pub fn integers<const N: usize>(
        &self,
        index: usize,
        name: &str,
        shape: Type,
    ) -> Result<Vec<[u32; N]>, Error> {
        use ComponentType::{U8, U16, U32};
        let (accessor, kind) = self.component(index, name, shape, &[U8, U16, U32])?;
        let count = self.take(index, accessor.count.0, N)?;
        let mut out = vec![[0; N]; count];
        let size = size_of_component(kind);
        if accessor.sparse.is_some() {
            return Err(error!("{name} (accessor {index}) must not be sparse"));
        }
        if let (Some(view), true) = (accessor.buffer_view, count > 0) {
            let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
            let from = self.elements(index, view, offset, (count, size * N))?;
            for (slot, element) in out.iter_mut().enumerate() {
                let bytes = &from.bytes[slot * from.stride..];
                *element = std::array::from_fn(|part| integer(kind, &bytes[part * size..]));
            }
        }
        Ok(out)
    }
}

/// Returns the error for an index that is out of range.
pub fn missing(name: &str, index: usize) -> Error {
    error!("there is no {name} {index}, though the file names it: export it again")
}
