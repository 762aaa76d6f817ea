//! Tests with files that claim far more data than they contain, and with rarely used parts of the
//! specification.

use super::test_models::gltf;
use super::{ModelData, buffers, document, import};
use crate::ModelImage;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_resource::image::encode_png;
use engine_resource::resource_kind::{CompileContext, ReadSource, SourceForm};
use engine_resource::resource_name::ResourceName;
use std::cell::Cell;

fn imported(text: &str) -> Result<ModelData, String> {
    import_with(text, &|path: &str| Err(error!("{path}: there is no such file")))
}

/// Imports a file whose other files are read by a function.
fn import_with(text: &str, read: &ReadSource) -> Result<ModelData, String> {
    let name = ResourceName::new("model", "x");
    let bytes = text.as_bytes().to_vec();
    let mut compiling =
        CompileContext::new(name, "x.gltf".to_string(), SourceForm::Raw, bytes, false, read);
    let mut build = |_: &ModelImage| Ok(Vec::new());
    import(&mut compiling, &mut build).map(|model| model.0).map_err(|fault| fault.message)
}

/// Builds a file of meshes and accessors without any bytes: all their numbers are 0.
fn claims(primitives: &str, accessors: &str) -> String {
    let text = format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"meshes\": [{{\"primitives\": [{primitives}]}}], \
         \"accessors\": [{accessors}]}}"
    );
    imported(&text).map(|_| String::new()).unwrap_err()
}

fn positions(count: usize) -> String {
    format!("{{\"componentType\": 5126, \"count\": {count}, \"type\": \"VEC3\"}}")
}

fn indices(count: usize) -> String {
    format!("{{\"componentType\": 5125, \"count\": {count}, \"type\": \"SCALAR\"}}")
}

#[test]
fn wrong_sizes_are_refused_before_allocation() {
    let one = "{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}";
    let fault = claims(one, &format!("{}, {}", positions(3), indices(120_000_000)));
    assert!(fault.contains("more than 16777216 vertices, 67108864 indices or 256"), "{fault}");
    let fault = claims(one, &format!("{}, {}", positions(40_000_000), indices(3)));
    assert!(fault.ends_with("it has 40000000 vertices, and 16777216 is the most"), "{fault}");
    let strip = "{\"attributes\": {\"POSITION\": 0}, \"indices\": 1, \"mode\": 5}";
    let fault = claims(strip, &format!("{}, {}", positions(3), indices(60_000_000)));
    assert!(fault.contains("the triangles of a strip or fan are 180000000 numbers"), "{fault}");
    let targets = vec!["{}"; 30_000].join(", ");
    let fault = claims(
        &format!(
            "{{\"attributes\": {{\"POSITION\": 1}}}}, \
             {{\"attributes\": {{\"POSITION\": 0}}, \"targets\": [{targets}]}}"
        ),
        &format!("{}, {}", positions(3), positions(60_000)),
    );
    assert!(fault.contains("its morph targets are 5400270000 numbers"), "{fault}");
    let many = vec![one; 40].join(", ");
    let fault = claims(&many, &format!("{}, {}", positions(3), indices(999_999)));
    assert!(fault.contains("the mesh has more than 16777216 vertices"), "{fault}");
}

#[test]
fn cameras_have_the_limits_of_the_camera_functions() {
    let import_camera = |camera: &str| {
        imported(&format!("{{\"asset\": {{\"version\": \"2.0\"}}, \"cameras\": [{camera}]}}"))
    };
    let perspective = |angle: &str, near: &str, far: &str| {
        import_camera(&format!(
            "{{\"name\": \"Eye\", \"type\": \"perspective\", \"perspective\": {{\"yfov\": {angle}, \
             \"znear\": {near}{far}}}}}"
        ))
    };
    let flat = |height: &str, near: &str, far: &str| {
        import_camera(&format!(
            "{{\"type\": \"orthographic\", \"orthographic\": {{\"xmag\": 1, \"ymag\": {height}, \
             \"znear\": {near}, \"zfar\": {far}}}}}"
        ))
    };
    assert!(perspective("1", "1e-6", ", \"zfar\": 1e9").is_ok());
    assert_eq!(perspective("1", "0.5", "").unwrap().cameras[0].far, 1000.0);
    assert!(flat("2", "0", "50").is_ok());
    assert_eq!(perspective("1", "1", ", \"zfar\": 1.5").unwrap().cameras[0].far, 1.5);
    assert_eq!(perspective("1", "6e8", "").unwrap().cameras[0].far, 1e9);
    // Exporters write an infinite distance as a very large number.
    for (endless, message) in [
        (perspective("1", "1", ", \"zfar\": 1e10"), "camera 0 'Eye' sees up to 1e10 metres"),
        (flat("2", "0", "1e12"), "camera 0 sees up to 1e12 metres"),
    ] {
        let model = endless.unwrap();
        assert_eq!(model.cameras[0].far, 1e9);
        let rest = " in its file, and up to 1000000000 here, the maximum of cameras";
        assert_eq!(model.warnings, [format!("{message}{rest}")]);
    }
    let model = perspective("1", "1e-40", "").unwrap();
    assert_eq!(model.cameras[0].near, 1e-6);
    assert!(model.warnings[0].ends_with("and from 0.000001 here, the minimum of cameras"));
    let angle = "its angle must be above 0 and below 180 degrees, got";
    let range = "its near distance must be above 0 in perspective (at least 0.000001) and less \
                 than its far one, both at most 1000000000 metres, got";
    let height = "what it sees must be 0.000001 to 1000000000 metres high, got";
    for (refused, message) in [
        (perspective("1e-30", "1", ""), format!("0 'Eye' cannot see: {angle} 0.00")),
        (perspective("3.14159", "1", ""), format!("0 'Eye' cannot see: {angle} 179.9")),
        (perspective("-1", "1", ""), format!("0 'Eye' cannot see: {angle} -57.2")),
        (perspective("1", "0", ""), format!("0 'Eye' cannot see: {range} 0 and 1000:")),
        (perspective("1", "-1", ""), format!("0 'Eye' cannot see: {range} -1 and 1000:")),
        (perspective("1", "1", ", \"zfar\": 1"), format!("0 'Eye' cannot see: {range} 1 and 1:")),
        (perspective("1", "1e38", ""), format!("0 'Eye' cannot see: {range} 1000")),
        (perspective("1", "1e10", ", \"zfar\": 1e11"), format!("0 'Eye' cannot see: {range} 1000")),
        (flat("1e-45", "0", "50"), format!("0 cannot see: {height} 3e-45:")),
        (flat("-2", "0", "50"), format!("0 cannot see: {height} -4e0:")),
        (flat("2", "50", "50"), format!("0 cannot see: {range} 50 and 50:")),
    ] {
        let fault = refused.unwrap_err();
        let start = format!("x.gltf: camera {message}");
        assert!(fault.starts_with(&start), "{fault}\n{start}");
        assert!(fault.ends_with(": change it in the model's source"), "{fault}");
    }
}

#[test]
fn many_nodes_of_one_name_are_renamed_quickly() {
    let mut names = crate::unique_names::UniqueNames::default();
    let unique_names: Vec<String> =
        (0..100_000).map(|at| names.add(Some("a"), "mesh", at)).collect();
    assert_eq!(
        (&unique_names[0][..], &unique_names[1][..], &unique_names[99_999][..]),
        ("a", "a#2", "a#100000")
    );
    assert_eq!(names.duplicate_names, ["a"]);
}

#[test]
fn skins_of_too_many_joints_are_refused() {
    let skin = |joints: usize| {
        let list = |count: usize| (0..count).map(|it| it.to_string()).collect::<Vec<_>>().join(",");
        imported(&format!(
            "{{\"asset\": {{\"version\": \"2.0\"}}, \"nodes\": [{}], \
             \"scenes\": [{{\"nodes\": [{}]}}], \
             \"skins\": [{{\"name\": \"Rig\", \"joints\": [{}]}}]}}",
            vec!["{}"; 1025].join(","),
            list(1025),
            list(joints)
        ))
    };
    assert_eq!(skin(1024).unwrap().skins[0].joints.len(), 1024);
    let message = "skin 'Rig' has 1025 joints, and 1024 is the most (JOINTS_MAX)";
    let fault = skin(1025).unwrap_err();
    assert!(fault.ends_with(message), "{fault}");
}

#[test]
fn animations_of_unknown_nodes_are_skipped() {
    let text = gltf().replacen("\"node\": 1, \"path\": \"rotation\"", "\"path\": \"pointer\"", 1);
    let model = imported(&text).unwrap();
    assert_eq!(model.animations[0].channels.len(), 0);
    let message = "1 of its animations' channels move no node (KHR_animation_pointer): they are \
                 left out";
    assert_eq!(model.warnings, [message]);
    // Other errors are reported unchanged.
    let wrong = text.replacen("\"version\": \"2.0\"", "\"version\": 2", 1);
    assert!(imported(&wrong).unwrap_err().starts_with("x.gltf: it is not glTF: "));
}

#[test]
fn unreadable_extras_are_reported() {
    for (value, message) in [
        ("1e2147483648", "number 1e2147483648 is too large: the largest is about 1.8e308"),
        (
            "9007199254740993",
            "number 9007199254740993 would become 9007199254740992: write it with fewer digits or \
             as text in quotes",
        ),
    ] {
        let extras = format!("\"extras\": {{ \"locked\": {value} }}");
        let text = gltf().replacen("\"extras\": { \"locked\": true }", &extras, 1);
        let model = imported(&text).unwrap();
        assert_eq!(model.warnings, [format!("the extras of node 'Lid' are left out: {message}")]);
    }
    let tiny = gltf().replacen("\"locked\": true", "\"locked\": 1e-2147483648", 1);
    let lid = imported(&tiny).unwrap().nodes[1].extras.clone().unwrap();
    assert_eq!(lid.get("locked"), Some(&SjsonTree::Number(0.0)));
}

#[test]
fn shear_and_cycles_are_reported() {
    let sheared = "\"matrix\": [1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1]";
    let text = gltf().replacen("\"scale\": [1, 0.25, 1]", sheared, 1);
    let text = text.replacen("\"translation\": [0, 1.25, 0], ", "", 1);
    let model = imported(&text).unwrap();
    let message = "node 'Lid' is sheared, which is not supported: it is shown without the shear \
                 (apply its transform)";
    assert_eq!(model.warnings, [message]);
    let circle = "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"children\": [1]}, \
                  {\"children\": [0]}]}";
    let message = "x.gltf: node 0 is its own ancestor: nodes must be a tree";
    assert_eq!(imported(circle).unwrap_err(), message);
}

#[test]
fn buffers_of_one_file_are_read_once_and_keep_only_their_bytes() {
    let reads = Cell::new(0);
    let read = |path: &str| {
        assert_eq!(path, "x.bin");
        reads.set(reads.get() + 1);
        Ok(vec![7; 1 << 20])
    };
    let uris = ["x.bin", "./x.bin", "x%2Ebin", "x.bin"];
    let buffer = |(index, uri)| format!("{{\"uri\": \"{uri}\", \"byteLength\": {}}}", index + 1);
    let text: Vec<String> = uris.into_iter().enumerate().map(buffer).collect();
    let text =
        format!("{{\"asset\": {{\"version\": \"2.0\"}}, \"buffers\": [{}]}}", text.join(", "));
    let load = |text: &str| {
        let root = document::parse(text.as_bytes(), &mut Vec::new()).unwrap();
        let name = ResourceName::new("model", "x");
        let (path, bytes) = ("x.gltf".to_string(), Vec::new());
        let mut compiling = CompileContext::new(name, path, SourceForm::Raw, bytes, false, &read);
        buffers::load(&root, None, &mut compiling).map_err(|fault| fault.message)
    };
    let loaded: Vec<Vec<u8>> = load(&text).unwrap().into_iter().flatten().collect();
    assert_eq!(loaded, [vec![7], vec![7; 2], vec![7; 3], vec![7; 4]]);
    assert!(loaded.iter().all(|bytes| bytes.capacity() < 1024));
    assert_eq!(reads.get(), 1);
    let message = load(&text.replace(": 3}", ": 1048577}")).unwrap_err();
    assert_eq!(message, "buffer 2 should have 1048577 bytes, and has 1048576");
}

#[test]
fn pictures_that_are_converted_are_read_once() {
    let reads = Cell::new(0);
    let read = |_: &str| {
        reads.set(reads.get() + 1);
        Ok(encode_png(1, 1, &[200, 100, 50, 255]))
    };
    let material = |number: u32| {
        format!(
            "{{\"extensions\": {{\"KHR_materials_pbrSpecularGlossiness\": {{ \
             \"glossinessFactor\": 0.{number}, \"diffuseTexture\": {{\"index\": 0}}}}}}}}"
        )
    };
    let materials: Vec<String> = (1..=9).map(material).collect();
    let text = format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"images\": [{{\"uri\": \"x.png\"}}], \
         \"textures\": [{{\"source\": 0}}], \"materials\": [{}]}}",
        materials.join(", ")
    );
    let model = import_with(&text, &read).unwrap();
    assert_eq!(model.pictures.len(), 18);
    assert_eq!(reads.get(), 1);
}

#[test]
fn textures_without_a_picture_are_listed_once() {
    let import_textures = |count: usize| {
        let material = |number: usize| {
            let texture = format!("{{\"index\": {number}}}");
            format!(
                "{{\"emissiveTexture\": {texture}, \"pbrMetallicRoughness\": {{ \
                 \"baseColorTexture\": {texture}}}}}"
            )
        };
        let materials: Vec<String> = (0..count).map(material).collect();
        let text = format!(
            "{{\"asset\": {{\"version\": \"2.0\"}}, \"textures\": [{}], \"materials\": [{}]}}",
            vec!["{}"; count].join(", "),
            materials.join(", ")
        );
        imported(&text).unwrap().warnings
    };
    let rest = "no picture: materials are shown without it";
    assert_eq!(import_textures(0), [""; 0]);
    assert_eq!(import_textures(1), [format!("texture 0 has {rest}")]);
    assert_eq!(import_textures(3), [format!("textures 0, 1, 2 have {rest}")]);
    let many = import_textures(20);
    assert_eq!(many.len(), 1);
    assert!(many[0].starts_with("textures 0, 1, 2, "), "{many:?}");
    assert!(many[0].ends_with(&format!(", 14, 15 and 4 more have {rest}")), "{many:?}");
}

/// Returns a file with an animated morph target of a node, which has more fields. `count` is the
/// number of weights, and needs to be 1.
fn morph(fields: &str, count: usize) -> String {
    let numbers = |count: usize| {
        format!("{{\"componentType\": 5126, \"count\": {count}, \"type\": \"SCALAR\"}}")
    };
    format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"meshes\": [{{\"primitives\": [{{ \
         \"attributes\": {{\"POSITION\": 0}}, \"targets\": [{{\"POSITION\": 0}}]}}]}}], \
         \"nodes\": [{{\"name\": \"Face\", \"mesh\": 0{fields}}}], \
         \"animations\": [{{\"samplers\": [{{\"input\": 1, \"output\": 2}}], \"channels\": [ \
         {{\"sampler\": 0, \"target\": {{\"node\": 0, \"path\": \"weights\"}}}}]}}], \
         \"accessors\": [{}, {}, {}]}}",
        positions(3),
        numbers(1),
        numbers(count)
    )
}

#[test]
fn morph_targets_of_hidden_and_instanced_nodes_are_left_out() {
    let plain = imported(&morph("", 1)).unwrap();
    assert_eq!((plain.animations[0].channels.len(), plain.warnings.len()), (1, 0));
    let hidden = ", \"extensions\": {\"KHR_node_visibility\": {\"visible\": false}}";
    let model = imported(&morph(hidden, 1)).unwrap();
    assert_eq!((model.animations[0].channels.len(), model.warnings.len()), (0, 0));
    let instanced = ", \"extensions\": {\"EXT_mesh_gpu_instancing\": {\"attributes\": { \
                     \"TRANSLATION\": 0}}}";
    let model = imported(&morph(instanced, 1)).unwrap();
    assert_eq!(model.animations[0].channels.len(), 0);
    let warning = "the animations of the morph targets of node 'Face' are left out, because the \
                   mesh is drawn as instances (EXT_mesh_gpu_instancing)";
    assert_eq!(model.warnings, [warning]);
    for fields in ["", hidden, instanced] {
        let message = "x.gltf: animation 'animation_0', channel 0: it has 1 times, which need 1 \
                       numbers, and 2 exist";
        assert_eq!(imported(&morph(fields, 2)).unwrap_err(), message);
    }
}
