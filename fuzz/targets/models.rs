//! Fuzz targets for the compressed streams inside glTF files: each input is a stream, in a small
//! file that describes it. Files themselves are read by `source.gltf` and `source.glb`.

use super::{Target, data, sources};
use engine::app::resource_kinds::KINDS;
use engine::resource::resource_kind::SourceForm;

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("stream.draco", 4 << 10, |stream| compile(&draco(stream.len()), stream)),
        Target::new("stream.meshopt", 4 << 10, |bytes| {
            let [choice, stride, count, stream @ ..] = bytes else { return };
            compile(&meshopt(*choice, *stride, *count, stream.len()), stream);
        }),
    ]
}

/// Compiles a file that refers to a stream, and reads the compiled model as a game would.
fn compile(text: &str, stream: &[u8]) {
    let kind = KINDS.by_name("model").expect("the table has it");
    let bytes = [text.as_bytes(), super::SEPARATOR, stream].concat();
    if let Ok(model) = sources::compile(kind, "gltf", SourceForm::Raw, &bytes, false) {
        data::read(kind.name, &model);
    }
}

fn draco(length: usize) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0}}], "meshes": [{{"primitives": [
        {{"attributes": {{"POSITION": 0, "TEXCOORD_0": 1, "NORMAL": 2, "JOINTS_0": 4}},
        "indices": 3, "extensions": {{"KHR_draco_mesh_compression": {{"bufferView": 0, "attributes":
        {{"POSITION": 2, "TEXCOORD_0": 0, "NORMAL": 1, "JOINTS_0": 3}}}}}}}}]}}],
        "accessors": [{{"componentType": 5126, "count": 4, "type": "VEC3"}},
        {{"componentType": 5126, "count": 4, "type": "VEC2"}},
        {{"componentType": 5126, "count": 4, "type": "VEC3"}},
        {{"componentType": 5121, "count": 6, "type": "SCALAR"}},
        {{"componentType": 5121, "count": 4, "type": "VEC4"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {length}}}],
        "buffers": [{{"uri": "x.bin", "byteLength": {length}}}]}}"#
    )
}

/// Describes a stream. `choice` selects its mode and filter.
fn meshopt(choice: u8, stride: u8, count: u8, length: usize) -> String {
    let mode = ["ATTRIBUTES", "TRIANGLES", "INDICES"][usize::from(choice % 3)];
    let filters = ["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"];
    let filter = filters[usize::from(choice / 3 % 5)];
    let kind = if mode == "ATTRIBUTES" { "VEC4" } else { "SCALAR" };
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{}}], "skins": [{{"joints": [0]}}],
        "animations": [{{"channels": [{{"sampler": 0, "target": {{"node": 0,
        "path": "rotation"}}}}], "samplers": [{{"input": 0, "output": 0}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 1, "type": "{kind}"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {length}, "extensions":
        {{"KHR_meshopt_compression": {{"buffer": 0, "byteLength": {length}, "byteStride": {stride},
        "count": {count}, "mode": "{mode}", "filter": "{filter}"}}}}}}],
        "buffers": [{{"uri": "x.bin", "byteLength": {length}}}]}}"#
    )
}

/// A square with texture coordinates, normals and positions, from the reference encoder of Draco.
const DRACO: &str = concat!(
    "445241434f02020101000000040200020000011fff011101ff0000030309020100010903000100090300",
    "02000002000000000000803f0000803f0000000000000000000000000000803f0000803f000000000000",
    "00000000803f00000000000000000000803f00000000000000000000803f00000000000000000000803f",
    "000101000303012001200300208498900000000000ff0700000000000000000000000000000000803f0b",
);

/// Streams of the reference encoder of meshopt after their mode, stride and count: attributes of
/// both versions, with each filter, triangles, a sequence.
const MESHOPT: [&str; 8] = [
    "000801a003aaaaaaaa00000000000000000000000000000000000000000000000000000000000000000000000000",
    "030401a0030000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "060801a0030000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "090401a0030000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "0c0401a1aa00000000000000000000000000000000000000000000000000000000000000",
    "000828a19b5a0002060a0e12161a1e22262a2e32363a3e42464a4e52565a5e62666a6e72767a7e82868a8e92\
     969a2a066666666666666666666666666666666666666666660000000000628ccdcecdcecdce31c6cdcecdce\
     cdcecd1800cecd00628ccdcecdcecdce31c6cdcecdcecdcecd1800cecd000000000000000000000000000000\
     00e803070034120100",
    "010436e1fe1e100e100e8e1e140e130e8e1e130e130e0f08007687566778a9866589689801690000",
    "02040ad1000404049103050404ad88110400000000",
];

/// Returns the seeds of a target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let of = |hex: &str| -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hex");
        (0..hex.len() / 2).map(|byte| digit(byte * 2)).collect()
    };
    match target {
        "stream.draco" => vec![of(DRACO)],
        _ => MESHOPT.iter().map(|hex| of(hex)).collect(),
    }
}
