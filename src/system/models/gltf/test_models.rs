//! Generated models for tests: a chest with two materials, an image, a lid, a lamp and an eye, as a
//! self-contained text and as GLB.

use data_encoding::BASE64;
use engine_resource::image::encode_png;

/// Positions, normals, uvs and indices.
type Box = (Vec<[f32; 3]>, Vec<[f32; 3]>, Vec<[f32; 2]>, Vec<u16>);

/// Builds a box from -1 to 1 in glTF's axes, sides first.
fn cube() -> Box {
    let (mut positions, mut normals, mut uvs, mut indices) = (vec![], vec![], vec![], vec![]);
    let sides: [([f32; 3], [f32; 3], [f32; 3]); 6] = [
        ([1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]),
        ([-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ([0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]),
        ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
    ];
    for (normal, right, up) in sides {
        let base = positions.len() as u16;
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0f32)] {
            positions.push([0, 1, 2].map(|i| normal[i] + right[i] * x + up[i] * y));
            normals.push(normal);
            uvs.push([x * 0.5 + 0.5, 0.5 - y * 0.5]);
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|i| base + i));
    }
    (positions, normals, uvs, indices)
}

/// Builds an image of 8 by 8 texels: planks with a red corner at the top left.
fn picture() -> Vec<u8> {
    let mut rgba = Vec::new();
    for y in 0..8u32 {
        for x in 0..8u32 {
            rgba.extend(match (x, y) {
                (0..2, 0..2) => [220, 30, 30, 255],
                _ if y % 4 == 3 => [60, 35, 20, 255],
                _ => [170, 110, 60, 255],
            });
        }
    }
    encode_png(8, 8, &rgba)
}

/// Returns the bytes of the only buffer: positions at 0, normals at 288, uvs at 576, indices at
/// 768, times at 840, rotations at 848, the image from 880 on.
pub fn buffer() -> Vec<u8> {
    let (positions, normals, uvs, indices) = cube();
    let mut bytes = Vec::new();
    for number in positions.iter().flatten().chain(normals.iter().flatten()) {
        bytes.extend(number.to_le_bytes());
    }
    uvs.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
    indices.iter().for_each(|index| bytes.extend(index.to_le_bytes()));
    for number in [0.0f32, 1.0, 0.0, 0.0, 0.0, 1.0, 0.70710677, 0.0, 0.0, 0.70710677] {
        bytes.extend(number.to_le_bytes());
    }
    assert_eq!(bytes.len(), 880);
    bytes.extend(picture());
    bytes
}

/// Returns the JSON description; `uri` locates the buffer.
pub fn text(uri: &str) -> String {
    let (whole, picture) = (buffer().len(), buffer().len() - 880);
    format!(
        r#"{{
  "asset": {{ "version": "2.0" }},
  "extensionsUsed": ["KHR_lights_punctual"],
  "extensions": {{ "KHR_lights_punctual": {{ "lights": [
    {{ "type": "spot", "color": [1, 0.5, 0.25], "intensity": 31.4159274, "range": 8,
      "spot": {{ "innerConeAngle": 0.25, "outerConeAngle": 0.5 }} }}
  ] }} }},
  "scene": 0,
  "scenes": [{{ "name": "Scene", "nodes": [0] }}],
  "nodes": [
    {{ "name": "Chest", "mesh": 0, "children": [1, 2, 3],
      "extras": {{ "material": "wood", "value": 12 }} }},
    {{ "name": "Lid", "mesh": 1, "translation": [0, 1.25, 0], "scale": [1, 0.25, 1],
      "extras": {{ "locked": true }} }},
    {{ "name": "Lamp", "translation": [0, 4, 0], "rotation": [-0.70710677, 0, 0, 0.70710677],
      "extensions": {{ "KHR_lights_punctual": {{ "light": 0 }} }} }},
    {{ "name": "Eye", "camera": 0, "translation": [0, 2, 6] }}
  ],
  "cameras": [{{ "type": "perspective",
    "perspective": {{ "yfov": 0.785398, "znear": 0.5, "zfar": 50 }} }}],
  "meshes": [
    {{ "name": "Body", "primitives": [
      {{ "attributes": {{ "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2 }}, "indices": 4,
        "material": 0 }},
      {{ "attributes": {{ "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2 }}, "indices": 5,
        "material": 1 }}
    ] }},
    {{ "name": "Cover", "primitives": [
      {{ "attributes": {{ "POSITION": 0, "TEXCOORD_0": 2 }}, "indices": 3, "material": 1 }}
    ] }}
  ],
  "materials": [
    {{ "name": "Wood", "pbrMetallicRoughness": {{ "baseColorTexture": {{ "index": 0 }},
      "metallicFactor": 0, "roughnessFactor": 0.75 }}, "normalTexture": {{ "index": 0 }} }},
    {{ "name": "Iron", "doubleSided": true, "emissiveFactor": [0, 0, 0.125],
      "pbrMetallicRoughness": {{ "baseColorFactor": [0.5, 0.5, 0.5, 1], "roughnessFactor": 0.5 }} }}
  ],
  "textures": [{{ "source": 0, "sampler": 0 }}],
  "samplers": [{{ "magFilter": 9728, "wrapS": 33071, "wrapT": 33071 }}],
  "images": [{{ "bufferView": 5, "mimeType": "image/png" }}],
  "animations": [{{ "name": "Open", "channels": [
    {{ "sampler": 0, "target": {{ "node": 1, "path": "rotation" }} }} ],
    "samplers": [{{ "input": 6, "output": 7 }}] }}],
  "accessors": [
    {{ "bufferView": 0, "componentType": 5126, "count": 24, "type": "VEC3",
      "min": [-1, -1, -1], "max": [1, 1, 1] }},
    {{ "bufferView": 1, "componentType": 5126, "count": 24, "type": "VEC3" }},
    {{ "bufferView": 2, "componentType": 5126, "count": 24, "type": "VEC2" }},
    {{ "bufferView": 3, "componentType": 5123, "count": 36, "type": "SCALAR" }},
    {{ "bufferView": 3, "componentType": 5123, "count": 24, "type": "SCALAR" }},
    {{ "bufferView": 3, "byteOffset": 48, "componentType": 5123, "count": 12, "type": "SCALAR" }},
    {{ "bufferView": 4, "componentType": 5126, "count": 2, "type": "SCALAR" }},
    {{ "bufferView": 4, "byteOffset": 8, "componentType": 5126, "count": 2, "type": "VEC4" }}
  ],
  "bufferViews": [
    {{ "buffer": 0, "byteOffset": 0, "byteLength": 288 }},
    {{ "buffer": 0, "byteOffset": 288, "byteLength": 288 }},
    {{ "buffer": 0, "byteOffset": 576, "byteLength": 192 }},
    {{ "buffer": 0, "byteOffset": 768, "byteLength": 72 }},
    {{ "buffer": 0, "byteOffset": 840, "byteLength": 40 }},
    {{ "buffer": 0, "byteOffset": 880, "byteLength": {picture} }}
  ],
  "buffers": [{{ {uri}"byteLength": {whole} }}]
}}
"#
    )
}

/// Returns the chest as self-contained text.
pub fn gltf() -> String {
    let data = BASE64.encode(&buffer());
    text(&format!("\"uri\": \"data:application/octet-stream;base64,{data}\", "))
}

/// Builds a GLB from a text and bytes.
pub fn glb(text: &str, bytes: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for (kind, data, filler) in [(b"JSON", text.as_bytes(), b' '), (b"BIN\0", bytes, 0)] {
        let length = data.len().next_multiple_of(4);
        chunks.extend((length as u32).to_le_bytes());
        chunks.extend(kind);
        chunks.extend(data);
        chunks.resize(chunks.len() + length - data.len(), filler);
    }
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((chunks.len() as u32 + 12).to_le_bytes());
    out.extend(chunks);
    out
}
