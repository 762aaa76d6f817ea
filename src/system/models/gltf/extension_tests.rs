//! Tests of extensions of files, buffers, nodes and textures, and of what other readers accept.
//! The Draco stream was written by the reference encoder (Draco 1.5.7), the meshopt stream is short
//! enough to be written by hand.

use super::test_models::gltf;
use super::tests::imported;
use crate::data::ModelData;
use data_encoding::{BASE64, HEXLOWER};
use engine_frame_packet::mesh::SurfaceAlphaMode;
use engine_frame_packet::texture::{AxisWrap, WrapMode};

/// A square of two triangles: texture coordinates (attribute 0), normals (1), positions (2).
pub(super) const DRACO: &str = concat!(
    "445241434f02020101000000040200020000011fff011101ff0000030309020100010903000100090300",
    "02000002000000000000803f0000803f0000000000000000000000000000803f0000803f000000000000",
    "00000000803f00000000000000000000803f00000000000000000000803f00000000000000000000803f",
    "000101000303012001200300208498900000000000ff0700000000000000000000000000000000803f0b",
);

fn import(text: &str) -> Result<ModelData, String> {
    imported(text.as_bytes().to_vec()).map(|(model, _)| model)
}

/// Returns the chest with one change.
fn changed(from: &str, to: &str) -> String {
    let text = gltf();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(import(text).unwrap_err(), format!("models/chest.gltf: {message}"));
}

fn data_uri(bytes: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", BASE64.encode(bytes))
}

/// Returns a file whose only primitive is compressed by Draco.
fn draco(stream: &[u8], attributes: &str) -> String {
    format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \
         \"extensionsRequired\": [\"KHR_draco_mesh_compression\"], \
         \"nodes\": [{{\"mesh\": 0}}], \"meshes\": [{{\"primitives\": [{{\"indices\": 2, \
         \"attributes\": {{\"POSITION\": 0, \"TEXCOORD_0\": 1}}, \"extensions\": {{ \
         \"KHR_draco_mesh_compression\": {{\"bufferView\": 0, \"attributes\": {{ {attributes} }} \
         }}}}}}]}}], \"accessors\": [ \
         {{\"componentType\": 5126, \"count\": 4, \"type\": \"VEC3\"}}, \
         {{\"componentType\": 5126, \"count\": 4, \"type\": \"VEC2\"}}, \
         {{\"componentType\": 5121, \"count\": 6, \"type\": \"SCALAR\"}}], \
         \"bufferViews\": [{{\"buffer\": 0, \"byteLength\": {length}}}], \
         \"buffers\": [{{\"uri\": \"{uri}\", \"byteLength\": {length}}}]}}",
        length = stream.len(),
        uri = data_uri(stream),
    )
}

#[test]
fn draco_primitives_are_decoded() {
    let stream = HEXLOWER.decode(DRACO.as_bytes()).unwrap();
    let attributes = "\"POSITION\": 2, \"TEXCOORD_0\": 0";
    let model = import(&draco(&stream, attributes)).unwrap();
    let mesh = &model.meshes[0];
    assert_eq!(mesh.indices.len(), 6);
    // Without normals in the primitive, each corner has its own vertex.
    assert_eq!(mesh.vertices.len(), 6);
    let bounds = mesh.bounds;
    assert_eq!((bounds.min.to_array(), bounds.max.to_array()), ([0.0; 3], [1.0, 0.0, 1.0]));
    for vertex in &mesh.vertices {
        let [x, _, z] = vertex.position;
        assert_eq!(vertex.uv, [x, 1.0 - z], "the picture is upright");
    }
    let start = "mesh 0, primitive 0: KHR_draco_mesh_compression: ";
    let wrong = draco(&stream, "\"POSITION\": 9");
    refused(&wrong, &format!("{start}attribute POSITION: the compressed data has no attribute 9"));
    let wrong = draco(&stream, "\"POSITION\": 0");
    let message = "attribute POSITION: it has 2 numbers in the compressed data, and 3 in its \
                   accessor";
    refused(&wrong, &format!("{start}{message}"));
    for length in 0..stream.len() {
        let message = import(&draco(&stream[..length], attributes)).unwrap_err();
        let wanted = format!("models/chest.gltf: {start}it cannot be decoded (");
        assert!(
            message.starts_with(&wanted) && message.ends_with("): export it again"),
            "{message}"
        );
    }
}

#[test]
fn damaged_draco_streams_never_panic() {
    let stream = HEXLOWER.decode(DRACO.as_bytes()).unwrap();
    let mut valid = 0;
    for bit in 0..stream.len() * 8 {
        let mut stream = stream.clone();
        stream[bit / 8] ^= 1 << (bit % 8);
        let model = import(&draco(&stream, "\"POSITION\": 2, \"TEXCOORD_0\": 0"));
        valid += usize::from(model.is_ok_and(|model| model.meshes[0].vertices.len() <= 6));
    }
    assert!(valid > 0, "some bits are only numbers");
}

/// Returns a file with a triangle in a compressed view. The buffer that the view names has no data.
fn meshopt(name: &str, extension: &str) -> String {
    // One element at a time: a header byte and verbatim deltas for each of the twelve bytes.
    let mut stream = vec![0xa0];
    let positions = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let bytes = positions.map(|position| position.map(f32::to_le_bytes).concat());
    for byte in 0..12 {
        stream.push(3);
        let mut last = 0u8;
        for element in 0..16 {
            let value = bytes.get(element).map_or(last, |bytes| bytes[byte]);
            let delta = value.wrapping_sub(last) as i8;
            stream.push((delta << 1 ^ delta >> 7) as u8);
            last = value;
        }
    }
    stream.extend([0; 32]);
    format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"extensionsRequired\": [\"{name}\"], \
         \"nodes\": [{{\"mesh\": 0}}], \"meshes\": [{{\"primitives\": [{{ \
         \"attributes\": {{\"POSITION\": 0}}}}]}}], \"accessors\": [ \
         {{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}}], \
         \"bufferViews\": [{{\"buffer\": 1, \"byteLength\": 36, \"byteStride\": 12, \
         \"extensions\": {{\"{name}\": {{\"buffer\": 0, \"byteLength\": {length}, {extension}}}}} \
         }}], \"buffers\": [{{\"uri\": \"{uri}\", \"byteLength\": {length}}}, \
         {{\"byteLength\": 36, \"extensions\": {{\"{name}\": {{\"fallback\": true}}}}}}]}}",
        length = stream.len(),
        uri = data_uri(&stream),
    )
}

#[test]
fn meshopt_views_are_decoded() {
    let fields = "\"byteStride\": 12, \"count\": 3, \"mode\": \"ATTRIBUTES\"";
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let model = import(&meshopt(name, fields)).unwrap();
        assert_eq!(model.meshes[0].bounds.max.to_array(), [1.0, 0.0, 1.0]);
    }
    let check = |fields: &str, message: &str| {
        refused(&meshopt("EXT_meshopt_compression", fields), &format!("buffer view 0: {message}"));
    };
    check(
        "\"byteStride\": 12, \"count\": 3, \"mode\": \"POINTS\"",
        "its mode 'POINTS' is not known: export the model without meshopt",
    );
    check(
        "\"byteStride\": 12, \"mode\": \"ATTRIBUTES\"",
        "EXT_meshopt_compression has no 'count': export it again",
    );
    check(
        "\"byteStride\": 12, \"count\": 100000000, \"mode\": \"ATTRIBUTES\"",
        "with its 100000000 elements of 12 bytes, the buffers together have more than 1073741824 \
         bytes (BUFFER_BYTES_MAX): split the model",
    );
    check(
        "\"byteStride\": 12, \"count\": 1000000, \"mode\": \"ATTRIBUTES\"",
        "the compressed data ends too early: export it again",
    );
    check(
        "\"byteOffset\": 99999, \"byteStride\": 12, \"count\": 3, \"mode\": \"ATTRIBUTES\"",
        "its compressed data takes 237 bytes from 99999 on, and buffer 0 has 237",
    );
}

#[test]
fn extensions_that_are_left_out_are_listed() {
    let used = "\"extensionsUsed\": [\"KHR_lights_punctual\"";
    let text =
        changed(used, &format!("{used}, \"ACME_b\", \"KHR_materials_variants\", \"ACME_a\""));
    let message = "it uses extensions that are not supported (ACME_a, ACME_b, \
                   KHR_materials_variants): it is shown without them";
    assert_eq!(import(&text).unwrap().warnings, [message]);
    let many: Vec<String> = (0..40).map(|number| format!("\"ACME_{number:02}\"")).collect();
    let text = changed(used, &format!("{used}, {}", many.join(", ")));
    let warnings = import(&text).unwrap().warnings;
    assert!(warnings[0].contains("ACME_15 and 24 more)"), "{warnings:?}");
    assert!(import(&gltf()).unwrap().warnings.is_empty());
    let asset = "\"asset\": { \"version\": \"2.0\" }";
    let required =
        |name: &str| changed(asset, &format!("{asset}, \"extensionsRequired\": [\"{name}\"]"));
    refused(
        &required("ACME_gizmo"),
        "it needs the extension ACME_gizmo, which is not supported: export it without",
    );
    let variants = import(&required("KHR_materials_variants")).unwrap().warnings;
    assert!(variants[0].contains("(KHR_materials_variants)"), "{variants:?}");
    assert!(import(&required("KHR_materials_volume")).unwrap().warnings.is_empty());
}

#[test]
fn whole_numbers_can_have_a_fraction_of_zero() {
    let text = changed("\"scene\": 0", "\"scene\": 0.0");
    let text = text.replacen("\"count\": 24,", "\"count\": 24.0,", 1);
    let text = text.replacen("\"value\": 12", "\"value\": 12.5", 1);
    let wanted = gltf().replacen("\"value\": 12", "\"value\": 12.5", 1);
    assert_eq!(import(&text).unwrap(), import(&wanted).unwrap());
    let text = changed("\"scene\": 0", "\"scene\": 0.5");
    let message = import(&text).unwrap_err();
    assert!(message.starts_with("models/chest.gltf: it is not glTF: invalid type"), "{message}");
    assert!(import(&format!("\u{feff}{}", gltf())).is_ok(), "a byte order mark is skipped");
}

#[test]
fn an_empty_scene_is_an_empty_model() {
    let text = "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \
                \"scenes\": [{\"name\": \"Scene\"}]}";
    let model = import(text).unwrap();
    assert_eq!((model.nodes.len(), model.meshes.len()), (0, 0));
    assert!(model.warnings.is_empty());
}

#[test]
fn old_versions_are_named() {
    let message = |version: &str| {
        format!("it is glTF {version}, and only 2.0 can be read: export it as glTF 2.0")
    };
    refused("{\"asset\": {\"version\": \"1.0\"}, \"meshes\": {\"a\": {}}}", &message("1.0"));
    refused("{\"asset\": {\"version\": \"1.1\"}, \"meshes\": {\"a\": {}}}", &message("1.1"));
    refused("{\"asset\": {\"version\": 1.0}, \"meshes\": {\"a\": {}}}", &message("1.0"));
    refused("{\"meshes\": {\"a\": {\"primitives\": []}}}", &message("1.0"));
    refused("{\"asset\": {\"version\": \"3.0\"}}", &message("3.0"));
}

#[test]
fn buffers_without_data_matter_only_if_they_are_used() {
    let more = "\"buffers\": [";
    let text = gltf();
    let at = text.find(more).unwrap();
    let end = text.rfind("}]").unwrap();
    assert!(at < end);
    let unused = format!("{}}}, {{ \"byteLength\": 999 }}]{}", &text[..end], &text[end + 2..]);
    assert_eq!(import(&unused).unwrap(), import(&text).unwrap());
    let used = unused.replacen("{ \"buffer\": 0,", "{ \"buffer\": 1,", 1);
    refused(
        &used,
        "mesh 'Body', primitive 0: buffer 1 has no data: it has no uri, and the file has no bytes \
         for it",
    );
}

#[test]
fn textures_show_the_picture_of_an_extension() {
    let texture = |texture: &str| {
        let text = changed("{ \"source\": 0, \"sampler\": 0 }", texture);
        let picture = "\"images\": [{ \"bufferView\": 5, \"mimeType\": \"image/png\" }";
        text.replacen(picture, &format!("{picture}, {{ \"bufferView\": 5 }}"), 1)
    };
    for name in ["EXT_texture_webp", "MSFT_texture_dds"] {
        let both =
            format!("{{ \"source\": 9, \"extensions\": {{ \"{name}\": {{ \"source\": 1 }} }} }}");
        assert_eq!(import(&texture(&both)).unwrap().pictures.len(), 2, "{name}");
    }
    let basis = "\"extensions\": { \"KHR_texture_basisu\": { \"source\": 1 } }";
    let fallback = import(&texture(&format!("{{ \"source\": 0, {basis} }}"))).unwrap();
    assert_eq!(fallback.pictures.len(), 2);
    refused(
        &texture(&format!("{{ {basis} }}")),
        "material 'Wood': texture 0 is stored in Basis Universal alone (KHR_texture_basisu), which \
         cannot be read: export the model with PNG, JPEG or WebP textures",
    );
    refused(
        &texture("{ \"extensions\": { \"EXT_texture_avif\": { \"source\": 1 } } }"),
        "material 'Wood': texture 0 has a picture only in the format of the extension \
         EXT_texture_avif, which cannot be read: export the model with PNG, JPEG or WebP textures",
    );
    let none = import(&texture("{ \"sampler\": 0 }")).unwrap();
    assert_eq!((none.pictures.len(), none.surfaces[0].pictures[0]), (0, None));
    assert_eq!(none.warnings, ["texture 0 has no picture: materials are shown without it"]);
}

#[test]
fn textures_wrap_differently_along_u_and_v() {
    let wraps = |s: u32, t: u32| {
        let text = changed(
            "\"wrapS\": 33071, \"wrapT\": 33071",
            &format!("\"wrapS\": {s}, \"wrapT\": {t}"),
        );
        import(&text).unwrap().surfaces[0].pictures[0].unwrap().1.wrap
    };
    let (clamp, repeat, mirror) = (33071, 10497, 33648);
    assert_eq!(wraps(clamp, clamp), WrapMode::Clamp);
    assert_eq!(wraps(repeat, repeat), WrapMode::Repeat);
    let axes = |axes| WrapMode::PerAxis(axes);
    assert_eq!(wraps(clamp, repeat), axes([AxisWrap::Clamp, AxisWrap::Repeat]));
    assert_eq!(wraps(repeat, clamp), axes([AxisWrap::Repeat, AxisWrap::Clamp]));
    assert_eq!(wraps(mirror, clamp), axes([AxisWrap::Mirror, AxisWrap::Clamp]));
    assert_eq!(wraps(repeat, mirror), axes([AxisWrap::Repeat, AxisWrap::Mirror]));
}

#[test]
fn a_mask_that_everything_passes_is_opaque() {
    let alpha =
        |fields: &str| import(&changed("\"doubleSided\": true", fields)).unwrap().surfaces[1].alpha;
    let mask = "\"alphaMode\": \"MASK\"";
    assert_eq!(alpha(mask), SurfaceAlphaMode::Mask(0.5));
    assert_eq!(alpha(&format!("{mask}, \"alphaCutoff\": 0")), SurfaceAlphaMode::Opaque);
    assert_eq!(alpha(&format!("{mask}, \"alphaCutoff\": 0.0")), SurfaceAlphaMode::Opaque);
    assert_eq!(alpha(&format!("{mask}, \"alphaCutoff\": 2")), SurfaceAlphaMode::Mask(2.0));
    assert_eq!(alpha("\"alphaCutoff\": 0"), SurfaceAlphaMode::Opaque);
}

#[test]
fn instances_become_nodes() {
    // The positions and the normals of the lid's vertices serve as places and sizes.
    let instances = |attributes: &str| {
        let fields = format!(
            "\"mesh\": 1, \"extensions\": {{ \"EXT_mesh_gpu_instancing\": {{ \"attributes\": {{ \
             {attributes} }} }} }}"
        );
        changed("\"mesh\": 1", &fields)
    };
    let model = import(&instances("\"TRANSLATION\": 0, \"SCALE\": 1, \"_ID\": 99")).unwrap();
    assert_eq!(model.nodes.len(), 4 + 24);
    let lid = model.nodes.iter().position(|node| node.name == "Lid").unwrap();
    assert_eq!(model.nodes[lid].mesh, None);
    let instances_of_lid: Vec<_> =
        model.nodes.iter().filter(|node| node.parent == Some(lid as u32)).collect();
    assert_eq!(instances_of_lid.len(), 24);
    assert_eq!((&instances_of_lid[0].name[..], instances_of_lid[0].mesh), ("Lid.1", Some(1)));
    assert_eq!(instances_of_lid[0].position, [1.0, -1.0, -1.0]);
    assert_eq!(instances_of_lid[0].scale, [1.0, 0.0, 0.0]);
    let start = "EXT_mesh_gpu_instancing of node 'Lid': ";
    refused(
        &instances("\"TRANSLATION\": 0, \"SCALE\": 7"),
        &format!("{start}its attributes have different lengths: export it again"),
    );
    let many = instances("\"TRANSLATION\": 0").replacen("\"count\": 24,", "\"count\": 4092,", 1);
    refused(
        &many,
        &format!(
            "{start}with its 4092 instances the model has more than 4095 nodes (NODES_MAX): split \
             the model, or join instances into one mesh"
        ),
    );
}

#[test]
fn names_of_instanced_nodes_have_a_limit() {
    let named = |length: usize| {
        let fields = "\"mesh\": 1, \"extensions\": { \"EXT_mesh_gpu_instancing\": { \
                      \"attributes\": { \"TRANSLATION\": 0 } } }";
        changed("\"mesh\": 1", fields).replacen("\"Lid\"", &format!("{:?}", "a".repeat(length)), 1)
    };
    assert_eq!(import(&named(1024)).unwrap().nodes.len(), 4 + 24);
    refused(
        &named(1025),
        "EXT_mesh_gpu_instancing of node 1: its name has 1025 bytes, and 1024 is the most, because \
         each instance repeats it (INSTANCED_NAME_BYTES_MAX): shorten the name",
    );
}

#[test]
fn hidden_nodes_show_nothing() {
    let hidden = "\"name\": \"Chest\", \"extensions\": { \"KHR_node_visibility\": { \
                  \"visible\": false } }";
    let model = import(&changed("\"name\": \"Chest\"", hidden)).unwrap();
    assert_eq!(model.nodes.len(), 4);
    assert!(model.nodes.iter().all(|node| node.mesh.is_none() && node.light.is_none()));
    let visible = hidden.replace("false", "true");
    assert_eq!(import(&changed("\"name\": \"Chest\"", &visible)), import(&gltf()));
}
