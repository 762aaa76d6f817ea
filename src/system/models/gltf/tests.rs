//! Tests of the glTF importer with valid and invalid files.

use super::super::data::{ChannelTarget, KeyInterpolation, ModelData, ModelLightType};
use super::super::{ImageUse, ModelImage};
use super::test_models::{buffer, glb, gltf, text};
use super::test_skinned_model;
use super::{buffers, import};
use crate::validate::NODES_MAX;
use engine_foundation::panic::run_with_stack;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Vec3};
use engine_frame_packet::texture::WrapMode;
use engine_resource::resource_kind::{CompileContext, SourceForm};
use engine_resource::resource_name::ResourceName;
use std::panic::catch_unwind;

fn import_with_buffer(
    file: Vec<u8>,
    buffer_file: &[u8],
) -> Result<(ModelData, Vec<ModelImage>), String> {
    let read = |path: &str| match path {
        "models/chest.bin" => Ok(buffer_file.to_vec()),
        _ => Err(engine_foundation::error!("{path}: there is no such file")),
    };
    let name = ResourceName::new("model", "models/chest");
    let path = "models/chest.gltf".to_string();
    let mut compiling = CompileContext::new(name, path, SourceForm::Raw, file, false, &read);
    let mut pictures = Vec::new();
    let mut build = |picture: &ModelImage| -> Result<Vec<u8>, Error> {
        pictures.push(picture.clone());
        Ok(vec![pictures.len() as u8; 3])
    };
    let imported_model = import(&mut compiling, &mut build).map_err(|fault| fault.message)?;
    let (model, bulk) = imported_model;
    let bytes = model.write(&bulk);
    let again = ModelData::read(&bytes).map_err(|fault| fault.message)?;
    let embedded: Vec<&[u8]> = again.pictures.iter().map(|range| &bytes[range.clone()]).collect();
    let wanted: Vec<&[u8]> = model.pictures.iter().map(|range| &bulk[range.clone()]).collect();
    assert_eq!(embedded, wanted);
    let animations = model.animations.clone();
    let again = ModelData { pictures: model.pictures.clone(), animations, ..again };
    assert_eq!(again, model, "as it was written");
    Ok((model, pictures))
}

pub(super) fn imported(file: Vec<u8>) -> Result<(ModelData, Vec<ModelImage>), String> {
    import_with_buffer(file, &[])
}

#[test]
fn the_test_chest_matches_its_generator() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/lua/models/chest.gltf");
    let file = std::fs::read_to_string(path).unwrap();
    assert_eq!(file, gltf());
}

#[test]
fn the_skinned_test_model_matches_its_generator() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/lua/models/column.gltf");
    if std::env::var_os("ENGINE_GOLDEN_UPDATE").is_some() {
        std::fs::write(path, test_skinned_model::gltf()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), test_skinned_model::gltf());
    let (model, _) = imported(test_skinned_model::gltf().into_bytes()).unwrap();
    let (mesh, skin) = (&model.meshes[0], &model.skins[0]);
    let vertices = mesh.vertices.len();
    assert_eq!((mesh.joints.len(), mesh.weights.len()), (vertices, vertices));
    assert_eq!((skin.joints.len(), skin.inverse_bind.len()), (3, 3));
    let names: Vec<&str> = model.animations.iter().map(|clip| &clip.name[..]).collect();
    assert_eq!(names, ["Bow", "Nod", "Rise"]);
}

#[test]
fn gltf_glb_and_external_buffers_give_equal_models() {
    let (one, pictures) = imported(gltf().into_bytes()).unwrap();
    assert_eq!(one, imported(glb(&text(""), &buffer())).unwrap().0);
    let buffer_file = text("\"uri\": \"./chest%2Ebin\", ").into_bytes();
    assert_eq!(one, import_with_buffer(buffer_file, &buffer()).unwrap().0);
    let uses: Vec<ImageUse> = pictures.iter().map(|picture| picture.usage).collect();
    assert_eq!(
        uses,
        [ImageUse::Color { opaque: true }, ImageUse::Data],
        "one picture for two uses"
    );
    assert_eq!(pictures[0].ending, "png");
}

#[test]
fn the_content_of_a_file_is_converted_to_z_up() {
    let (model, _) = imported(gltf().into_bytes()).unwrap();
    let names: Vec<&str> = model.nodes.iter().map(|node| &node.name[..]).collect();
    assert_eq!(names, ["Chest", "Lid", "Lamp", "Eye"]);
    assert_eq!(model.nodes[1].position, [0.0, 0.0, 1.25]);
    assert_eq!(model.nodes[1].scale, [1.0, 1.0, 0.25]);
    assert_eq!(model.nodes[3].position, [0.0, -6.0, 2.0]);
    let down = model.world(&model.nodes[2]).transform_vector3(Vec3::Y);
    assert!(down.abs_diff_eq(-Vec3::Z, 1e-5), "a lamp that is turned down shines down: {down}");
    let (light, camera) = (model.lights[0], model.cameras[0]);
    assert_eq!((light.kind, light.range), (ModelLightType::Spot, 8.0));
    assert!((light.intensity - 10.0).abs() < 1e-4);
    assert_eq!((camera.near, camera.far), (0.5, 50.0));
    let body = &model.meshes[0];
    assert_eq!((body.vertices.len(), body.indices.len(), body.parts.len()), (48, 36, 2));
    assert_eq!(body.surfaces, [Some(0), Some(1)]);
    assert_eq!(body.bounds.max, Vec3::ONE);
    let top = body.vertices.iter().find(|vertex| vertex.normal == [0, 0, 127, 0]);
    assert!(top.is_some_and(|vertex| vertex.position[2] == 1.0), "up is z");
    assert_eq!(model.meshes[1].vertices.len(), 36, "without normals, every triangle is flat");
    let wood = &model.surfaces[0];
    let (picture, sampling) = wood.pictures[0].unwrap();
    assert_eq!((picture, sampling.nearest, sampling.wrap), (0, true, WrapMode::Clamp));
    assert_eq!(wood.pictures[2].unwrap().0, 1);
    assert!(model.surfaces[1].double_sided);
    let extras = model.nodes[0].extras.as_ref().unwrap();
    assert_eq!(extras.get("material"), Some(&SjsonTree::String("wood".into())));
    let open = &model.animations[0].channels[0];
    assert_eq!(
        (open.node, open.track, open.between),
        (1, ChannelTarget::Rotation, KeyInterpolation::Linear)
    );
    assert_eq!(open.times, [0.0, 1.0]);
}

/// Checks the error message for the chest with one change.
#[track_caller]
fn check(from: &str, to: &str, message: &str) {
    let text = gltf();
    assert!(text.contains(from), "{from}");
    let fault = imported(text.replacen(from, to, 1).into_bytes()).unwrap_err();
    assert_eq!(fault, format!("models/chest.gltf: {message}"));
}

#[test]
fn dangling_indices_are_reported() {
    check(
        "\"count\": 24, \"type\": \"VEC2\"",
        "\"count\": 25, \"type\": \"VEC2\"",
        "mesh 'Body', primitive 0: accessor 2 has 25 elements of 8 bytes from 0 on, and buffer \
         view 2 has 192 bytes",
    );
    check(
        "\"count\": 24, \"type\": \"VEC3\" }",
        "\"count\": 4294967295000, \"type\": \"VEC3\" }",
        "mesh 'Body', primitive 0: accessor 1 has 4294967295000 elements, and the model's numbers \
         together may be 134217728 (NUMBERS_MAX): split the model",
    );
    check(
        "\"byteOffset\": 576, \"byteLength\": 192",
        "\"byteOffset\": 18446744073709551615, \"byteLength\": 192",
        "mesh 'Body', primitive 0: buffer view 2 takes 192 bytes from 18446744073709551615 on, and \
         buffer 0 has 1046 bytes",
    );
    check(
        "\"POSITION\": 0",
        "\"POSITION\": 77",
        "mesh 'Body', primitive 0: there is no accessor 77, though the file names it: export it \
         again",
    );
    check(
        "\"indices\": 4,",
        "\"indices\": 4, \"mode\": 9,",
        "mesh 'Body', primitive 0: it has a mode that glTF does not know",
    );
    check(
        "\"indices\": 4",
        "\"indices\": 0",
        "mesh 'Body', primitive 0: accessor 0 does not have the type that indices must have",
    );
    check(
        "\"mesh\": 0",
        "\"mesh\": 8",
        "node 'Chest' names mesh 8, and there are 2: export it again",
    );
    check(
        "\"source\": 0",
        "\"source\": 3",
        "material 'Wood': image 3: there is no image 3, though the file names it: export it again",
    );
    check(
        "\"index\": 0",
        "\"index\": 3",
        "material 'Wood': there is no texture 3, though the file names it: export it again",
    );
    check(
        "\"scene\": 0",
        "\"scene\": 4",
        "there is no scene 4, though the file names it: export it \
         again",
    );
    check(
        "\"input\": 6",
        "\"input\": 2",
        "animation 'Open', channel 0: accessor 2 does not have the type that times must have",
    );
    check(
        "\"node\": 1, \"path\"",
        "\"node\": 9, \"path\"",
        "animation 'Open', channel 0: it names node 9, which does not exist",
    );
}

#[test]
fn an_index_beyond_the_vertices_is_reported() {
    let mut bytes = buffer();
    bytes[768..770].copy_from_slice(&24u16.to_le_bytes());
    let fault = imported(glb(&text(""), &bytes)).unwrap_err();
    assert_eq!(
        fault,
        "models/chest.gltf: mesh 'Body', primitive 0: it has 24 vertices, and an index is 24"
    );
    bytes[768..770].copy_from_slice(&0u16.to_le_bytes());
    bytes[0..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let fault = imported(glb(&text(""), &bytes)).unwrap_err();
    assert!(fault.ends_with("positions (accessor 0) holds a number that is not finite"), "{fault}");
}

#[test]
fn nodes_must_be_a_tree() {
    check(
        "\"children\": [1, 2, 3]",
        "\"children\": [1, 2, 0]",
        "node 0 'Chest' has two parents, or is its own ancestor: nodes must be a tree",
    );
    check(
        "\"children\": [1, 2, 3]",
        "\"children\": [1, 1, 1]",
        "node 1 'Lid' has two parents, or is its own ancestor: nodes must be a tree",
    );
    check(
        "\"children\": [1, 2, 3]",
        "\"children\": [1, 2, 9]",
        "there is no node 9, though the file names it: export it again",
    );
    check(
        "\"scale\": [1, 0.25, 1]",
        "\"matrix\": [0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,1]",
        "node 'Lid' has an invalid transform (a number that is not finite, a rotation of length 0, \
         or a matrix with a scale of 0): apply its transform",
    );
}

#[test]
fn the_longest_node_chain_needs_no_deep_stack() {
    let chain: String = (1..NODES_MAX)
        .map(|node| format!("{{ \"children\": [{node}], \"translation\": [0, 1, 0] }}, "))
        .collect();
    let text = format!(
        "{{ \"asset\": {{ \"version\": \"2.0\" }}, \"scene\": 0, \
         \"scenes\": [{{ \"nodes\": [0] }}], \"nodes\": [{chain}{{}}] }}"
    );
    let world = run_with_stack("test", 256 << 10, move || {
        let (model, _) = imported(text.into_bytes()).unwrap();
        let last = model.nodes.last().unwrap();
        model.world(last).transform_point3(Vec3::ZERO).length()
    });
    assert_eq!(world, Ok(4094.0));
}

#[test]
fn files_outside_the_game_are_not_read() {
    let with = |uri: &str| {
        let file = text(&format!("\"uri\": \"{uri}\", "));
        imported(file.into_bytes()).unwrap_err().replacen("models/chest.gltf: buffer 0: ", "", 1)
    };
    assert_eq!(with("missing.bin"), "models/missing.bin: there is no such file");
    assert_eq!(with("../parts/a.bin"), "parts/a.bin: there is no such file");
    let out = "'../../a.bin' leads out of the game's folder: keep the model's files inside";
    assert_eq!(with("../../a.bin"), out);
    for uri in ["/etc/passwd", "file:///etc/passwd", "http://a/b", "c:/x", "..%5Ca"] {
        let message = "is not a path relative to the model: keep its files in the game's folder";
        assert_eq!(with(uri), format!("'{uri}' {message}"));
    }
    assert_eq!(with("a%2"), "'a%2' has a '%' without two digits after it");
    assert_eq!(with("data:text/plain,abc"), "its data uri is not in base64");
    assert!(with("data:;base64,@@@@").starts_with("its data uri is not valid base64"));
    assert_eq!(
        with("data:;base64,AAAA"),
        "models/chest.gltf: buffer 0 should have 1046 bytes, and has 3"
    );
    let none = imported(text("").into_bytes()).unwrap_err();
    assert!(none.contains("buffer 0 has no data: it has no uri"), "{none}");
    assert_eq!(buffers::resolve("%41/../b c.png", "m/x.glb").unwrap(), "m/b c.png");
}

#[test]
fn unreadable_files_are_reported() {
    let check = |file: &[u8], message: &str| {
        let fault = imported(file.to_vec()).unwrap_err();
        assert!(fault.starts_with(&format!("models/chest.gltf: {message}")), "{fault}");
    };
    check(b"", "it is not glTF: ");
    check(b"hello", "it is not glTF: ");
    check(b"glTF\x02\0\0\0\x01\0\0\0", "the GLB says that it has 1 bytes, and it has 12");
    check(b"glTF\x02\0\0\0", "the GLB ends within its head");
    check(b"glTF\x01\0\0\0\x0c\0\0\0", "it is GLB version 1, and only 2 can be read");
    check(b"glTF\x02\0\0\0\x0c\0\0\0", "the GLB has no JSON chunk");
    check(
        b"glTF\x02\0\0\0\x14\0\0\0\xff\xff\0\0JSON",
        "a chunk of the GLB has 65535 bytes and lies outside of the file",
    );
    check(b"{\"asset\":{\"version\":\"1.0\"}}", "it is glTF 1.0, and only 2.0 can be read");
    let draco = b"{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco\"]}";
    check(draco, "it needs the extension KHR_draco, which is not supported");
    // Endlessly nested data is not passed to the game, and does not overflow a stack.
    let deep = ["[", "]"].map(|end| end.repeat(20_000)).concat();
    let scene = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"scenes\":[{{\"nodes\":[],\"extras\":{deep}}}]}}"
    );
    assert_eq!(imported(scene.into_bytes()).unwrap().0.extras, None);
}

#[test]
fn duplicate_node_names_become_unique_and_are_reported() {
    let text = gltf().replace("\"Lamp\"", "\"Lid\"");
    let (model, _) = imported(text.into_bytes()).unwrap();
    assert_eq!(model.nodes[2].name, "Lid#2");
    assert_eq!(model.duplicate_names, ["Lid"]);
    let message = "two nodes are named 'Lid': the second is 'Lid#2' here; rename one";
    assert_eq!(model.warnings, [message]);
}

#[test]
fn triangles_that_contradict_their_normals_are_reported() {
    // The normals of the primitive point inside.
    let mut bytes = buffer();
    for number in bytes[288..576].chunks_exact_mut(4) {
        number[3] ^= 0x80;
    }
    let (model, _) = imported(glb(&text(""), &bytes)).unwrap();
    let message = "most triangles of primitive 0 of mesh 'Body' are clockwise as seen from the \
                   side that their normals point to";
    assert!(model.warnings[0].starts_with(message), "{:?}", model.warnings);
    let (model, _) = imported(glb(&text(""), &buffer())).unwrap();
    assert_eq!(model.warnings, [""; 0]);
}

#[test]
fn strips_fans_and_lines_are_read() {
    let strip = gltf().replacen("\"indices\": 4,", "\"indices\": 4, \"mode\": 5,", 1);
    let (model, _) = imported(strip.into_bytes()).unwrap();
    assert_eq!(model.meshes[0].parts[0].count, 22 * 3);
    let fan = gltf().replacen("\"indices\": 4,", "\"indices\": 4, \"mode\": 6,", 1);
    assert_eq!(imported(fan.into_bytes()).unwrap().0.meshes[0].parts[0].count, 22 * 3);
    let lines = gltf().replacen("\"indices\": 4,", "\"indices\": 4, \"mode\": 1,", 1);
    let (model, _) = imported(lines.into_bytes()).unwrap();
    assert_eq!(model.meshes[0].parts.len(), 1);
    assert_eq!(
        model.warnings,
        ["primitive 0 of mesh 'Body' is points or lines, which are not drawn"]
    );
}

/// Flips bits and cuts ends: the result is always an error message or a model.
#[test]
fn damaged_files_never_panic() {
    let whole = glb(&text(""), &buffer());
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let (mut good, mut bad) = (0, 0);
    for _ in 0..3000 {
        let mut file = whole.clone();
        for _ in 0..=next(3) {
            // Digits are indices and offsets, so changes to them reach deep into the importer.
            let digits: Vec<usize> =
                (0..file.len()).filter(|at| file[*at].is_ascii_digit()).collect();
            match next(4) {
                0 => {
                    let at = next(file.len());
                    file[at] ^= 1 << next(8);
                }
                1 => file.truncate(next(file.len())),
                _ if digits.is_empty() => {}
                _ => file[digits[next(digits.len())]] = b'0' + next(10) as u8,
            }
            if file.is_empty() {
                break;
            }
        }
        let done = catch_unwind(|| imported(file).is_ok());
        match done.expect("no file makes it panic") {
            true => good += 1,
            false => bad += 1,
        }
    }
    assert!(good > 100 && bad > 100, "{good} good, {bad} bad");
}

#[test]
fn accessors_may_be_sparse_normalized_and_strided() {
    // Three positions as normalized shorts with a stride of 8; a sparse part moves the second.
    // Texture coordinates as normalized bytes that the material scales and shifts.
    let mut bytes: Vec<u8> = Vec::new();
    for short in [0i16, 0, 0, 9, 32767, 0, 0, 9, 0, 32767, 0, 9] {
        bytes.extend(short.to_le_bytes());
    }
    bytes.extend([1, 0, 0, 0]);
    for short in [0i16, 0, -32767, 0] {
        bytes.extend(short.to_le_bytes());
    }
    bytes.extend([0, 0, 255, 0, 0, 255, 0, 0]);
    let text = r#"{"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_mesh_quantization"],
      "nodes": [{"mesh": 0}], "images": [{"uri": "chest.bin"}], "textures": [{"source": 0}],
      "materials": [{"emissiveFactor": [1, 1, 1], "extensions": {"KHR_materials_unlit": {},
        "KHR_materials_emissive_strength": {"emissiveStrength": 4}},
        "alphaMode": "MASK", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0,
        "extensions": {"KHR_texture_transform": {"scale": [2, 3], "offset": [0.5, 0]}}}}}],
      "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
      "accessors": [
        {"bufferView": 0, "componentType": 5122, "normalized": true, "count": 3, "type": "VEC3",
          "sparse": {"count": 1, "indices": {"bufferView": 1, "componentType": 5121},
            "values": {"bufferView": 2}}},
        {"bufferView": 3, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC2"}],
      "bufferViews": [
        {"buffer": 0, "byteLength": 24, "byteStride": 8},
        {"buffer": 0, "byteOffset": 24, "byteLength": 4},
        {"buffer": 0, "byteOffset": 28, "byteLength": 8},
        {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
      "buffers": [{"byteLength": 44}]}"#;
    let (model, pictures) = import_with_buffer(glb(text, &bytes), b"\x89PNG").unwrap();
    let mesh = &model.meshes[0];
    let positions: Vec<[f32; 3]> = mesh.vertices.iter().map(|vertex| vertex.position).collect();
    assert_eq!(positions, [[0.0, -0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -0.0, 1.0]]);
    let uvs: Vec<[f32; 2]> = mesh.vertices.iter().map(|vertex| vertex.uv).collect();
    assert_eq!(uvs, [[0.5, 0.0], [2.5, 0.0], [0.5, 3.0]]);
    let surface = &model.surfaces[0];
    assert!(surface.unlit);
    assert_eq!(surface.emissive, [4.0; 3]);
    assert_eq!(surface.alpha, engine_frame_packet::mesh::SurfaceAlphaMode::Mask(0.5));
    assert_eq!(pictures[0].usage, ImageUse::Color { opaque: false });
    let wrong = text.replace("\"componentType\": 5121}", "\"componentType\": 5126}");
    let fault = import_with_buffer(glb(&wrong, &bytes), b"\x89PNG").unwrap_err();
    assert!(fault.contains("sparse"), "{fault}");
    bytes[24] = 3;
    let fault = import_with_buffer(glb(text, &bytes), b"\x89PNG").unwrap_err();
    let message = "accessor 0 has 3 elements, and its sparse part changes element 3";
    assert!(fault.ends_with(message), "{fault}");
}
