//! Generated model for tests of animation: a square column of three metres with three joints, two
//! clips that bend it, and one that lifts it.

use data_encoding::BASE64;

/// Number of rings of four corners, half a metre apart.
const RINGS: usize = 7;
/// Half of the width in metres.
const HALF: f32 = 0.25;

/// Buffer under construction: bytes, and the JSON of the views and accessors into them.
#[derive(Default)]
struct BufferText {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl BufferText {
    /// Appends an accessor with its own view.
    fn add(&mut self, bytes: &[u8], component: u32, (kind, count): (&str, usize), more: &str) {
        let (offset, length) = (self.bytes.len(), bytes.len());
        let view = self.views.len();
        self.views.push(format!(
            r#"    {{ "buffer": 0, "byteOffset": {offset}, "byteLength": {length} }}"#
        ));
        let head = format!(r#""bufferView": {view}, "componentType": {component}"#);
        let tail = format!(r#""count": {count}, "type": "{kind}"{more}"#);
        self.accessors.push(format!("    {{ {head}, {tail} }}"));
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn floats(&mut self, numbers: &[f32], kind: &str, width: usize, more: &str) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.add(&bytes, 5126, (kind, numbers.len() / width), more);
    }
}

/// Returns the model as self-contained text.
pub fn gltf() -> String {
    let mut buffer = BufferText::default();
    add_mesh(&mut buffer);
    // The inverse of each joint's position at rest: 0, 1 and 2 metres up.
    let binds: Vec<f32> = [0.0, -1.0, -2.0f32]
        .iter()
        .flat_map(|y| {
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, *y, 0.0, 1.0]
        })
        .collect();
    buffer.floats(&binds, "MAT4", 16, "");
    buffer.floats(&[0.0, 1.0], "SCALAR", 1, r#", "min": [0], "max": [1]"#);
    // 90 degrees about x, from upright to the front.
    buffer.floats(&[0.0, 0.0, 0.0, 1.0, 0.70710677, 0.0, 0.0, 0.70710677], "VEC4", 4, "");
    buffer.floats(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], "VEC3", 3, "");
    let data = BASE64.encode(&buffer.bytes);
    let (views, accessors) = (buffer.views.join(",\n"), buffer.accessors.join(",\n"));
    let length = buffer.bytes.len();
    format!(
        r#"{{
  "asset": {{ "version": "2.0" }},
  "scene": 0,
  "scenes": [{{ "nodes": [0, 3] }}],
  "nodes": [
    {{ "name": "Hip", "children": [1] }},
    {{ "name": "Chest", "translation": [0, 1, 0], "children": [2] }},
    {{ "name": "Head", "translation": [0, 1, 0] }},
    {{ "name": "Column", "mesh": 0, "skin": 0 }}
  ],
  "meshes": [{{ "name": "Column", "primitives": [
    {{ "attributes": {{ "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 }}, "indices": 3 }} ] }}],
  "skins": [{{ "name": "Rig", "joints": [0, 1, 2], "inverseBindMatrices": 4 }}],
  "animations": [
    {{ "name": "Bow", "channels": [
      {{ "sampler": 0, "target": {{ "node": 1, "path": "rotation" }} }} ],
      "samplers": [{{ "input": 5, "output": 6 }}] }},
    {{ "name": "Nod", "channels": [
      {{ "sampler": 0, "target": {{ "node": 2, "path": "rotation" }} }} ],
      "samplers": [{{ "input": 5, "output": 6 }}] }},
    {{ "name": "Rise", "channels": [
      {{ "sampler": 0, "target": {{ "node": 0, "path": "translation" }} }} ],
      "samplers": [{{ "input": 5, "output": 7 }}] }}
  ],
  "accessors": [
{accessors}
  ],
  "bufferViews": [
{views}
  ],
  "buffers": [{{ "byteLength": {length},
    "uri": "data:application/octet-stream;base64,{data}" }}]
}}
"#
    )
}

/// Adds positions, joints, weights and indices.
fn add_mesh(buffer: &mut BufferText) {
    let corners = [[-HALF, HALF], [HALF, HALF], [HALF, -HALF], [-HALF, -HALF]];
    let (mut positions, mut joints, mut weights, mut indices) = (vec![], vec![], vec![], vec![]);
    for ring in 0..RINGS {
        let y = ring as f32 * 0.5;
        // Rings at whole metres lie on a joint, and are moved by it and by the joint below it.
        let upper = (ring / 2).min(2) as u8;
        let shared = ring % 2 == 0 && (1..=2).contains(&(ring / 2));
        for [x, z] in corners {
            positions.extend([x, y, z]);
            joints.extend([upper, if shared { upper - 1 } else { 0 }, 0, 0]);
            weights.extend(if shared { [0.5, 0.5, 0.0, 0.0] } else { [1.0, 0.0, 0.0, 0.0f32] });
        }
        if ring + 1 < RINGS {
            for side in 0..4u16 {
                let (a, b) = (ring as u16 * 4 + side, ring as u16 * 4 + (side + 1) % 4);
                indices.extend([a, b, b + 4, a, b + 4, a + 4]);
            }
        }
    }
    let top = (RINGS as u16 - 1) * 4;
    indices.extend([top, top + 1, top + 2, top, top + 2, top + 3]);
    indices.extend([0, 2, 1, 0, 3, 2]);
    let bounds = r#", "min": [-0.25, 0, -0.25], "max": [0.25, 3, 0.25]"#;
    buffer.floats(&positions, "VEC3", 3, bounds);
    buffer.add(&joints, 5121, ("VEC4", joints.len() / 4), "");
    buffer.floats(&weights, "VEC4", 4, "");
    let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    buffer.add(&bytes, 5123, ("SCALAR", indices.len()), "");
}
