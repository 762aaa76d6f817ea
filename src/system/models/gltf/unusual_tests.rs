//! Files that claim far more than they hold, and what the specification allows though few do it.

use super::recipe::gltf;
use super::{ModelData, import};
use crate::resource::kind::{Compiling, Form};
use crate::resource::name::ResourceName;
use crate::system::models::Picture;

fn imported(text: &str) -> Result<ModelData, String> {
    let read = |path: &str| Err(crate::error!("{path}: there is no such file"));
    let name = ResourceName::new("model", "x");
    let bytes = text.as_bytes().to_vec();
    let mut compiling = Compiling::new(name, "x.gltf".to_string(), Form::Raw, bytes, false, &read);
    let mut build = |_: &Picture| Ok(Vec::new());
    import(&mut compiling, &mut build).map(|made| made.0).map_err(|fault| fault.message)
}

/// A file of meshes and accessors without any bytes: all their numbers are 0.
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
fn what_a_file_only_claims_is_refused_before_it_is_made() {
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
fn a_hundred_thousand_nodes_of_one_name_are_told_apart_at_once() {
    let mut names = crate::system::models::names::Names::default();
    let made: Vec<String> = (0..100_000).map(|at| names.add(Some("a"), "mesh", at)).collect();
    assert_eq!((&made[0][..], &made[1][..], &made[99_999][..]), ("a", "a#2", "a#100000"));
    assert_eq!(names.twice, ["a"]);
}

#[test]
fn movements_of_what_is_no_node_are_left_out() {
    let text = gltf().replacen("\"node\": 1, \"path\": \"rotation\"", "\"path\": \"pointer\"", 1);
    let model = imported(&text).unwrap();
    assert_eq!(model.clips[0].channels.len(), 0);
    let words = "1 of its animations' channels move no node (KHR_animation_pointer): they are left \
                 out";
    assert_eq!(model.warnings, [words]);
    // What else is wrong is told as it is.
    let wrong = text.replacen("\"version\": \"2.0\"", "\"version\": 2", 1);
    assert!(imported(&wrong).unwrap_err().starts_with("x.gltf: it is not glTF: "));
}

#[test]
fn a_texture_without_a_picture_says_so() {
    let text = gltf().replacen("{ \"source\": 0, \"sampler\": 0 }", "{ \"sampler\": 0 }", 1);
    assert_eq!(
        imported(&text).unwrap_err(),
        "x.gltf: material 'Wood': texture 0 has no picture, or only one in a format of an \
         extension (EXT_texture_webp, KHR_texture_basisu): export it with PNG or JPEG"
    );
}

#[test]
fn shear_and_circles_are_told() {
    let sheared = "\"matrix\": [1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1]";
    let text = gltf().replacen("\"scale\": [1, 0.25, 1]", sheared, 1);
    let text = text.replacen("\"translation\": [0, 1.25, 0], ", "", 1);
    let model = imported(&text).unwrap();
    let words = "node 'Lid' is sheared, which nodes cannot be: it is shown without (apply its \
                 transform)";
    assert_eq!(model.warnings, [words]);
    let circle = "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"children\": [1]}, \
                  {\"children\": [0]}]}";
    let words = "x.gltf: node 0 hangs on itself: nodes must be a tree";
    assert_eq!(imported(circle).unwrap_err(), words);
}
