//! Tests of `engine check` with models: units that change their components, and warnings.

use super::{MAIN, run_check, run_engine};

/// Returns a model with a mesh at the node `Lid`: a triangle with these indices in BASE64, and
/// normals that point to the front of its counterclockwise order.
fn lid(indices: &str) -> String {
    let positions = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let normals = "AAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/";
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"name": "Lid", "mesh": 0}}],
        "meshes": [{{"name": "Lid", "primitives": [
          {{"attributes": {{"POSITION": 0, "NORMAL": 1}}, "indices": 2}}]}}],
        "accessors": [
          {{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}},
          {{"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"}},
          {{"bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}, {{"buffer": 1, "byteLength": 36}},
          {{"buffer": 2, "byteLength": 6}}],
        "buffers": [{{"byteLength": 36, "uri": "data:;base64,{positions}"}},
          {{"byteLength": 36, "uri": "data:;base64,{normals}"}},
          {{"byteLength": 6, "uri": "data:;base64,{indices}"}}]}}"#
    )
}

#[test]
fn changed_components_of_models_and_bases_are_no_scripts() {
    let model = lid("AAABAAIA");
    // The first unit is the example of the manual's page on models.
    let barrel = "model = \"models/barrel\"\nnodes = { Lid = { position = [0, 0, 1.2] } }\n\
                  components = {\n  Lid = { material = \"materials/rust\", group = \"top\" }\n  \
                  sign = { component = \"mesh\", model = \"models/barrel\", node = \"Lid\", \
                  range = [0, 30] }\n}\ndata = { value = 20 }";
    let heir = "inherit = \"units/barrel\" components = { sign = { range = [0, 9] } }";
    let mut files = vec![
        MAIN,
        ("models/barrel.gltf", model.as_str()),
        ("materials/rust.material", "surface = { roughness = 1 }"),
        ("units/barrel.unit", barrel),
        ("units/keg.unit", heir),
    ];
    let (code, output) = run_check("overrides", &files);
    assert_eq!(code, Some(0), "{output}");
    let last = "\nno errors\n";
    assert!(output.contains(last), "{output}");
    let (_, explained, _) =
        run_engine("overrides", &files, &["explain", "game", "units/barrel.unit"]);
    assert!(explained.contains("  materials/rust.material\n"), "{explained}");
    assert!(!explained.contains("missing"), "{explained}");
    // A component that nothing has is found by spawning the unit.
    files.push(("units/bad.unit", "inherit = \"units/barrel\" components = { lidd = {} }"));
    let (code, output) = run_check("overrides", &files);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("units/bad.unit: spawning it: "), "{output}");
    assert!(output.contains("has the component 'lidd', which does not exist"), "{output}");
}

#[test]
fn clockwise_triangles_of_a_model_are_a_warning() {
    for (indices, is_wrong) in [("AAABAAIA", false), ("AAACAAEA", true)] {
        let model = lid(indices);
        let files = [MAIN, ("models/lid.gltf", model.as_str())];
        let (code, output) = run_check("winding", &files);
        assert_eq!(code, Some(0), "{output}");
        let warning = "warning: models/lid.gltf: most triangles of primitive 0 of mesh 'Lid' are \
                       clockwise";
        assert_eq!(output.contains(warning), is_wrong, "{output}");
        let count = output.matches("clockwise").count();
        assert_eq!(count, usize::from(is_wrong), "it is reported once: {output}");
    }
}
