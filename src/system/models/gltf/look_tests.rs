//! Tests of materials with extensions.

use super::specular_glossiness::{SpecularGlossiness, convert};
use super::test_models::gltf;
use super::tests::imported;
use crate::data::SurfaceData;
use crate::{ImageUse, ModelImage};
use engine_frame_packet::mesh::SurfaceAlphaMode;
use engine_resource::image::{DecodedImage, PixelFormat, decode};

/// Imports the chest with additional fields in its material `Iron`: a grey half metal.
fn iron(fields: &str) -> (SurfaceData, Vec<String>, Vec<ModelImage>) {
    let text = gltf().replacen("\"doubleSided\": true", fields, 1);
    let (model, pictures) = imported(text.into_bytes()).unwrap();
    (model.surfaces[1].clone(), model.warnings, pictures)
}

fn with_extensions(extensions: &str) -> SurfaceData {
    iron(&format!("\"extensions\": {{ {extensions} }}")).0
}

/// As [`with_extensions`], for a white plastic of medium roughness.
fn plastic(extensions: &str) -> SurfaceData {
    let (from, to) = ("\"baseColorFactor\": [0.5, 0.5, 0.5, 1], ", "\"metallicFactor\": 0, ");
    let fields = format!("\"extensions\": {{ {extensions} }}");
    let text = gltf().replacen(from, to, 1).replacen("\"doubleSided\": true", &fields, 1);
    imported(text.into_bytes()).unwrap().0.surfaces[1].clone()
}

#[track_caller]
fn assert_near(value: f32, wanted: f32) {
    assert!((value - wanted).abs() < 1e-3, "{value} is not {wanted}");
}

#[test]
fn extensions_become_lobes_of_the_surface() {
    let lobes = |extensions: &str| plastic(extensions).lobes;
    assert!(!lobes("").are_used());
    assert_near(lobes("\"KHR_materials_ior\": { \"ior\": 2.4 }").ior, 2.4);
    assert_near(lobes("\"KHR_materials_ior\": { \"ior\": 0 }").ior, 1.0);
    let half = "\"KHR_materials_specular\": { \"specularFactor\": 0.5, \
                \"specularColorFactor\": [1, 0.5, 1e30] }";
    assert_near(lobes(half).specular, 0.5);
    assert_eq!(lobes(half).specular_color, [1.0, 0.5, 100.0]);
    let coat = "\"KHR_materials_clearcoat\": { \"clearcoatFactor\": 7, \
                \"clearcoatRoughnessFactor\": 0.25 }";
    assert_eq!((lobes(coat).clear_coat, lobes(coat).clear_coat_roughness), (1.0, 0.25));
    let sheen = "\"KHR_materials_sheen\": { \"sheenColorFactor\": [1, 0.5, 0], \
                 \"sheenRoughnessFactor\": 0.75 }";
    assert_eq!((lobes(sheen).sheen_color, lobes(sheen).sheen_roughness), ([1.0, 0.5, 0.0], 0.75));
    let brushed = "\"KHR_materials_anisotropy\": { \"anisotropyStrength\": 0.5, \
                   \"anisotropyRotation\": 1 }";
    assert_eq!((lobes(brushed).anisotropy, lobes(brushed).anisotropy_rotation), (0.5, 1.0));
    // The numbers of the standard model stay.
    assert_near(plastic(coat).roughness, 0.5);
}

#[test]
fn transmission_lets_light_through() {
    let glass = plastic("\"KHR_materials_transmission\": { \"transmissionFactor\": 1 }");
    assert_eq!((glass.alpha, glass.lobes.transmission), (SurfaceAlphaMode::Opaque, 1.0));
    let colored = plastic(
        "\"KHR_materials_transmission\": { \"transmissionFactor\": 1 }, \
         \"KHR_materials_volume\": { \"thicknessFactor\": 2, \"attenuationDistance\": 1, \
         \"attenuationColor\": [1, 0.5, 0] }",
    );
    assert_near(colored.base_color[0], 1.0);
    assert_near(colored.base_color[1], 0.25);
    assert_near(colored.base_color[2], 0.0);
    assert_eq!(colored.lobes.thickness, 2.0);
    let opaque = plastic("\"KHR_materials_volume\": { \"thicknessFactor\": 2 }");
    assert!(!opaque.lobes.are_used() && opaque.base_color == [1.0; 4]);
    let (surface, warnings, _) = iron(
        "\"extensions\": { \"KHR_materials_transmission\": { \"transmissionFactor\": 1, \
         \"transmissionTexture\": { \"index\": 0 } } }",
    );
    assert_eq!(surface.lobes.transmission, 0.0);
    let warning = "the transmission of material 'Iron' has a texture (texture 0), which is not \
                   supported: the surface is opaque";
    assert_eq!(warnings, [warning]);
}

#[test]
fn wrong_transforms_of_textures_are_reported() {
    for (transform, message) in [
        ("{ \"offset\": [1] }", "'offset' of KHR_texture_transform must be 2 numbers"),
        ("{ \"scale\": 2 }", "'scale' of KHR_texture_transform must be 2 numbers"),
        ("{ \"rotation\": [1] }", "'rotation' of KHR_texture_transform must be a number"),
        ("{ \"texCoord\": -1 }", "'texCoord' of KHR_texture_transform must be a whole number"),
        ("{ \"texCoord\": 4294967296 }", "'texCoord' of KHR_texture_transform must be at most"),
        ("[1, 0]", "KHR_texture_transform must be an object: export it again"),
    ] {
        let from = "\"normalTexture\": { \"index\": 0 ";
        let extensions = format!("\"extensions\": {{ \"KHR_texture_transform\": {transform} }}");
        let text = gltf().replacen(from, &format!("{from}, {extensions}"), 1);
        let fault = imported(text.into_bytes()).unwrap_err();
        let start = format!("models/chest.gltf: material 'Wood': {message}");
        assert!(fault.starts_with(&start), "{fault}");
    }
}

#[test]
fn wrong_fields_of_extensions_are_reported() {
    for (fields, message) in [
        (
            "\"KHR_materials_ior\": { \"ior\": \"glass\" }",
            "'ior' of KHR_materials_ior must be a number: export it again",
        ),
        (
            "\"KHR_materials_sheen\": { \"sheenColorFactor\": [1, 0] }",
            "'sheenColorFactor' of KHR_materials_sheen must be 3 numbers: export it again",
        ),
        (
            "\"KHR_materials_transmission\": { \"transmissionTexture\": {} }",
            "transmissionTexture has no 'index': export it again",
        ),
    ] {
        let fields = format!("\"extensions\": {{ {fields} }}");
        let text = gltf().replacen("\"doubleSided\": true", &fields, 1);
        let fault = imported(text.into_bytes()).unwrap_err();
        assert_eq!(fault, format!("models/chest.gltf: material 'Iron': {message}"));
    }
}

#[test]
fn specular_and_glossiness_become_metal_and_roughness() {
    let of = |diffuse: [f32; 3], specular: [f32; 3], glossiness: f32| {
        let [r, g, b] = diffuse;
        convert(SpecularGlossiness { diffuse: [r, g, b, 1.0], specular, glossiness })
    };
    let plastic = of([0.5, 0.25, 0.0], [0.04; 3], 0.75);
    assert_near(plastic.metallic, 0.0);
    assert_near(plastic.roughness, 0.25);
    assert_near(plastic.base_color[0], 0.5);
    let gold = of([0.0; 3], [1.0, 0.766, 0.336], 1.0);
    assert_near(gold.metallic, 1.0);
    assert_near(gold.base_color[1], 0.766);
    let name = "KHR_materials_pbrSpecularGlossiness";
    let surface = with_extensions(&format!(
        "\"{name}\": {{ \"diffuseFactor\": [0, 0, 0, 0.5], \"specularFactor\": [1, 0.5, 0.25], \
         \"glossinessFactor\": 0.75 }}"
    ));
    assert_near(surface.metallic, 1.0);
    assert_near(surface.roughness, 0.25);
    assert_near(surface.base_color[1], 0.5);
    assert_near(surface.base_color[3], 0.5);
}

#[test]
fn textures_of_specular_and_glossiness_are_converted() {
    let name = "KHR_materials_pbrSpecularGlossiness";
    let fields = format!(
        "\"extensions\": {{ \"{name}\": {{ \"specularFactor\": [0, 0, 0], \
         \"diffuseTexture\": {{ \"index\": 0 }} }} }}"
    );
    let (surface, warnings, pictures) = iron(&fields);
    assert_eq!((surface.metallic, surface.roughness), (0.0, 0.0));
    assert_eq!(pictures.len(), 2, "without metal, the diffuse picture is the base color");
    assert!(warnings.is_empty(), "{warnings:?}");
    let fields = fields.replace("\"specularFactor\": [0, 0, 0], ", "");
    let both = fields.replace(
        "\"diffuseTexture\"",
        "\"glossinessFactor\": 0.5, \"specularGlossinessTexture\": { \"index\": 0 }, \
         \"diffuseTexture\"",
    );
    let (surface, _, pictures) = iron(&both);
    assert_eq!((surface.base_color, surface.metallic, surface.roughness), ([1.0; 4], 1.0, 1.0));
    assert_eq!(pictures.len(), 4);
    assert_eq!(pictures[2].usage, ImageUse::Color { opaque: true });
    assert_eq!(pictures[3].usage, ImageUse::Data);
    let decoded = decode(&pictures[3].bytes, "png").unwrap();
    let DecodedImage::Image(image) = decoded else { panic!("it is a picture") };
    let PixelFormat::Bytes(texels) = image.pixels else { panic!("it has bytes") };
    assert_eq!((image.width, image.height), (8, 8));
    assert_eq!(texels[1], 128, "the alpha of the picture is 1, so the glossiness is its factor");
    assert!(texels[2] > 150, "a red reflection is a metal");
}

#[test]
fn converted_textures_that_are_placed_differently_are_reported() {
    let warnings = |transform: &str, more: &str| {
        let fields = format!(
            "\"extensions\": {{ \"KHR_materials_pbrSpecularGlossiness\": {{ \
             \"diffuseTexture\": {{ \"index\": 0 }}, \"specularGlossinessTexture\": {{ \
             \"index\": 0, \"extensions\": {{ \"KHR_texture_transform\": {transform} }} \
             }} }} }}{more}"
        );
        iron(&fields).1
    };
    let warning = "the textures of material 'Iron' are placed differently (texture coordinates or \
                   KHR_texture_transform): all are placed like the first one";
    let moved = "{ \"offset\": [0.5, 0] }";
    assert_eq!(warnings(moved, ""), [warning]);
    let emissive = ", \"emissiveTexture\": { \"index\": 0, \"texCoord\": 1 }";
    assert_eq!(warnings(moved, emissive), [warning], "once for a material");
    assert_eq!(warnings("{ \"offset\": [0, 0] }", ""), [""; 0]);
}
