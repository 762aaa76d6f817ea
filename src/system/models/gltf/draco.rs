//! Primitives that Draco compressed (KHR_draco_mesh_compression): each is decoded into a buffer of
//! its own, and the primitive then refers to accessors of that buffer.

use super::accessor::{GltfSource, missing, numbers_of, size_of_component};
use super::buffers::BUFFER_BYTES_MAX;
use super::fields::ExtensionFields;
use draco_core::{DecodeLimits, DecoderBuffer, ErrorKind, Mesh, MeshDecoder, PointAttribute};
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::mesh::{INDICES_MAX, VERTICES_MAX};
use gltf::json::accessor::{Accessor, ComponentType, GenericComponentType, Type};
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Index, Value, buffer, deserialize};
use std::collections::BTreeMap;

const NAME: &str = "KHR_draco_mesh_compression";

/// Maximum number of compressed bytes that are decoded for one file; bytes that several primitives
/// share count for each.
pub const DRACO_BYTES_MAX: u64 = 1 << 28;

/// Bytes of a triangle's indices.
const FACE_BYTES: u64 = 12;

/// Attribute of a decoded primitive.
struct DecodedAttribute {
    semantic: Checked<Semantic>,
    accessor: Accessor,
    bytes: Vec<u8>,
}

/// Decoded primitive.
struct DecodedPrimitive {
    attributes: Vec<DecodedAttribute>,
    /// Vertices of the triangles, as bytes.
    indices: Vec<u8>,
}

/// Budget of a file's compressed and decoded bytes.
struct DracoBudget {
    compressed: u64,
    /// Bytes of the buffers that primitives get.
    decoded: u64,
    /// Bytes of all decoded attributes, including those that no primitive has: a stream of a few
    /// bytes can have attributes of many equal values.
    attributes: u64,
}

/// Decodes all compressed primitives into additional buffers, views and accessors.
pub fn decompress(source: &mut GltfSource) -> Result<(), Error> {
    let loaded: usize = source.buffers.iter().flatten().map(Vec::len).sum();
    let decoded = BUFFER_BYTES_MAX.saturating_sub(loaded as u64);
    let mut budget =
        DracoBudget { compressed: DRACO_BYTES_MAX, decoded, attributes: BUFFER_BYTES_MAX };
    for mesh in 0..source.root.meshes.len() {
        for part in 0..source.root.meshes[mesh].primitives.len() {
            let primitive = &source.root.meshes[mesh].primitives[part];
            let decoded = decode(source, primitive, &mut budget).map_err(|fault| {
                error!("mesh {mesh}, primitive {part}: {NAME}: {}", fault.message)
            })?;
            if let Some(decoded) = decoded {
                replace(source, (mesh, part), decoded);
            }
        }
    }
    Ok(())
}

/// Decodes a primitive; `None` if it is not compressed.
fn decode(
    source: &GltfSource,
    primitive: &Primitive,
    budget: &mut DracoBudget,
) -> Result<Option<DecodedPrimitive>, Error> {
    let others = primitive.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|others| others.get(NAME)) else { return Ok(None) };
    let fields = ExtensionFields::of("the extension", value);
    let view = u32::try_from(fields.required("bufferView")?).unwrap_or(u32::MAX);
    let compressed = source.view(Index::new(view))?;
    budget.compressed =
        budget.compressed.checked_sub(compressed.len() as u64).ok_or_else(|| {
            error!(
                "the compressed data of the model has more than {DRACO_BYTES_MAX} bytes \
                 (DRACO_BYTES_MAX): split the model"
            )
        })?;
    let mesh = decode_mesh(compressed, budget)?;
    let points = mesh.num_points();
    let mut attributes = Vec::new();
    for (name, id) in fields.indices("attributes")? {
        let semantic: Checked<Semantic> =
            deserialize::from_value(Value::from(name)).unwrap_or(Checked::Invalid);
        if semantic == Checked::Invalid {
            continue;
        }
        // An attribute without an accessor is not part of the primitive.
        let Some(index) = primitive.attributes.get(&semantic) else { continue };
        let index = index.value();
        let accessor = source.root.accessors.get(index);
        let accessor = accessor.ok_or_else(|| missing("accessor", index))?;
        let bytes = attribute_bytes(&mesh, id, accessor, budget)
            .map_err(|fault| error!("attribute {name}: {}", fault.message))?;
        let count = USize64(points as u64);
        let accessor = Accessor { count, sparse: None, ..accessor.clone() };
        attributes.push(DecodedAttribute { semantic, accessor, bytes });
    }
    budget.charge(mesh.num_faces() as u64 * FACE_BYTES)?;
    let mut indices = Vec::with_capacity(mesh.num_faces() * FACE_BYTES as usize);
    for face in mesh.faces() {
        face.iter().for_each(|point| indices.extend(point.0.to_le_bytes()));
    }
    Ok(Some(DecodedPrimitive { attributes, indices }))
}

impl DracoBudget {
    fn charge(&mut self, bytes: u64) -> Result<(), Error> {
        self.decoded = self.decoded.checked_sub(bytes).ok_or_else(over_limit)?;
        Ok(())
    }
}

fn over_limit() -> Error {
    error!(
        "the decoded data has more than {VERTICES_MAX} vertices, {INDICES_MAX} indices or, with \
         the rest of the model, {BUFFER_BYTES_MAX} bytes (BUFFER_BYTES_MAX): split the model"
    )
}

fn decode_mesh(compressed: &[u8], budget: &mut DracoBudget) -> Result<Mesh, Error> {
    let limits = DecodeLimits::default()
        .with_max_points(VERTICES_MAX as u64)
        .with_max_faces((INDICES_MAX as u64 / 3).min(budget.decoded / FACE_BYTES))
        .with_max_decoded_bytes(budget.decoded.min(budget.attributes));
    let mut mesh = Mesh::new();
    let decoded = MeshDecoder::new()
        .decode(&mut DecoderBuffer::new(compressed).with_limits(limits), &mut mesh);
    decoded.map_err(|fault| match fault.kind() {
        ErrorKind::LimitExceeded => over_limit(),
        _ => error!("it cannot be decoded ({}): export it again", fault.message()),
    })?;
    // The decoder checks the number of points only of point clouds.
    if mesh.num_points() > VERTICES_MAX {
        return Err(over_limit());
    }
    let bytes = (0..mesh.num_attributes()).map(|index| attribute_size(mesh.attribute(index)));
    let left = budget.attributes.checked_sub(bytes.sum());
    budget.attributes = left.ok_or_else(over_limit)?;
    Ok(mesh)
}

/// Returns the bytes that a decoded attribute takes: its values, and the value of each point.
fn attribute_size(attribute: &PointAttribute) -> u64 {
    let mapped = attribute.explicit_mapping().map_or(0, <[_]>::len);
    (attribute.buffer().data_size() + mapped * size_of::<u32>()) as u64
}

/// Returns the values of an attribute as the accessor describes them.
fn attribute_bytes(
    mesh: &Mesh,
    id: u64,
    accessor: &Accessor,
    budget: &mut DracoBudget,
) -> Result<Vec<u8>, Error> {
    let id = u32::try_from(id).unwrap_or(u32::MAX);
    let attribute = mesh.attribute_by_unique_id(id);
    let attribute = attribute.ok_or_else(|| error!("the compressed data has no attribute {id}"))?;
    let (Checked::Valid(component), Checked::Valid(shape)) =
        (accessor.component_type, accessor.type_)
    else {
        return Err(error!("its accessor has a type that glTF does not know"));
    };
    let width = numbers_of(shape);
    if usize::from(attribute.num_components()) != width {
        return Err(error!(
            "it has {} numbers in the compressed data, and {width} in its accessor",
            attribute.num_components()
        ));
    }
    // The floats that the numbers are read as, and their bytes.
    budget.charge((mesh.num_points() * width * (4 + size_of_component(component.0))) as u64)?;
    let numbers = attribute.read_f32s(mesh.num_points(), width);
    let mut bytes = Vec::with_capacity(numbers.len() * size_of_component(component.0));
    for number in numbers {
        match component.0 {
            ComponentType::I8 => bytes.extend((number as i8).to_le_bytes()),
            ComponentType::U8 => bytes.extend((number as u8).to_le_bytes()),
            ComponentType::I16 => bytes.extend((number as i16).to_le_bytes()),
            ComponentType::U16 => bytes.extend((number as u16).to_le_bytes()),
            ComponentType::U32 => bytes.extend((number as u32).to_le_bytes()),
            ComponentType::F32 => bytes.extend(number.to_le_bytes()),
        }
    }
    Ok(bytes)
}

/// Lets a primitive refer to its decoded data.
fn replace(source: &mut GltfSource, (mesh, part): (usize, usize), decoded: DecodedPrimitive) {
    let mut attributes: BTreeMap<_, _> =
        source.root.meshes[mesh].primitives[part].attributes.clone();
    for attribute in decoded.attributes {
        let index = add(source, attribute.accessor, attribute.bytes);
        attributes.insert(attribute.semantic, index);
    }
    let count = USize64(decoded.indices.len() as u64 / 4);
    let accessor = Accessor {
        count,
        component_type: Checked::Valid(GenericComponentType(ComponentType::U32)),
        type_: Checked::Valid(Type::Scalar),
        buffer_view: None,
        byte_offset: None,
        extensions: None,
        extras: None,
        min: None,
        max: None,
        name: None,
        normalized: false,
        sparse: None,
    };
    let indices = add(source, accessor, decoded.indices);
    let primitive = &mut source.root.meshes[mesh].primitives[part];
    primitive.attributes = attributes;
    primitive.indices = Some(indices);
    primitive.mode = Checked::Valid(Mode::Triangles);
}

/// Adds a buffer, a view of all of it, and an accessor of that view.
fn add(source: &mut GltfSource, mut accessor: Accessor, bytes: Vec<u8>) -> Index<Accessor> {
    let view = buffer::View {
        buffer: Index::new(source.buffers.len() as u32),
        byte_length: USize64(bytes.len() as u64),
        byte_offset: None,
        byte_stride: None,
        name: None,
        target: None,
        extensions: None,
        extras: None,
    };
    source.buffers.push(Some(bytes));
    accessor.buffer_view = Some(Index::new(source.root.buffer_views.len() as u32));
    accessor.byte_offset = None;
    source.root.buffer_views.push(view);
    source.root.accessors.push(accessor);
    Index::new(source.root.accessors.len() as u32 - 1)
}

#[cfg(test)]
mod tests {
    use super::super::extension_tests::DRACO;
    use super::*;
    use data_encoding::HEXLOWER;

    #[test]
    fn all_decoded_attributes_count_for_each_primitive() {
        let stream = HEXLOWER.decode(DRACO.as_bytes()).unwrap();
        let budget = |attributes: u64| DracoBudget { compressed: 0, decoded: 1 << 20, attributes };
        let mut whole = budget(1 << 20);
        assert_eq!(decode_mesh(&stream, &mut whole).unwrap().num_points(), 4);
        let used = (1 << 20) - whole.attributes;
        // Positions, normals and texture coordinates.
        assert!(used >= 4 * (3 + 3 + 2) * 4, "{used}");
        let mut small = budget(3 * used - 1);
        assert!(decode_mesh(&stream, &mut small).is_ok());
        assert!(decode_mesh(&stream, &mut small).is_ok());
        let message = decode_mesh(&stream, &mut small).unwrap_err().message;
        assert_eq!(message, over_limit().message);
    }
}
