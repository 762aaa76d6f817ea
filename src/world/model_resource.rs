//! The resource kind `model`: glTF files, and settings files for them. Also the description of a
//! unit that consists of a model alone: its nodes, meshes, lights, cameras and data, as in a unit's
//! file.

use crate::animation::{ANIMATION, compile_clips, scale_animation};
use crate::physics::from_extras;
use crate::skeleton_file::{compile_skeleton, is_skeleton};
use crate::sprite_skeleton_component::SKELETON;
use engine_animation::read_clip;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::suggest::hint;
use engine_models::data::{CameraData, LightData, ModelData, ModelLightType, ModelNode, VERSION};
use engine_models::{ImageUse, Model, ModelImage, import};
use engine_resource::image::{DecodedImage, PixelFormat};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_textures::check_surface_texture;
use engine_textures::resource::{ImportSettings, build, decode};

/// The resource kind of models.
pub static MODEL: ResourceKind = ResourceKind {
    name: kind_names::MODEL,
    doc: "A glTF file: nodes, meshes, materials, lights, cameras; settings for a glTF file of the \
          same name; or a two-dimensional skeleton of bones and pictures",
    extensions: &[
        ("model", SourceForm::Own),
        ("skeleton", SourceForm::Own),
        ("glb", SourceForm::Raw),
        ("gltf", SourceForm::Raw),
    ],
    version: VERSION,
    framed: true,
    reload: &[ReloadStep::Models, ReloadStep::CollisionShapes, ReloadStep::UnitResources],
    compile: compiler(compile),
    validate: |bytes| {
        let model = ModelData::read(bytes)?;
        model.clips.iter().try_for_each(|clip| read_clip(&clip.bytes).map(|_| ()))?;
        model.pictures.iter().try_for_each(|range| check_surface_texture(&bytes[range.clone()]))
    },
};

/// Name of the component `animation` in units of models with a node of that name.
const ANIMATION_RENAMED: &str = "model.animation";
/// Name of the component `skeleton` in units of models with a bone of that name.
const SKELETON_RENAMED: &str = "model.skeleton";

const KEYS: [&str; 2] = ["source", "scale"];

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    if is_skeleton(&compiling.path) {
        return compile_skeleton(compiling).map(|model| model.write(&[]));
    }
    let mut scale = 1.0;
    if compiling.form == SourceForm::Own {
        scale = settings(compiling)?;
    }
    let (mut model, bulk) = import(compiling, &mut picture)?;
    apply_scale(&mut model, scale);
    compile_clips(&mut model)?;
    Ok(model.write(&bulk))
}

/// Scales a model and its animations.
pub(crate) fn apply_scale(model: &mut ModelData, scale: f32) {
    if scale == 1.0 {
        return;
    }
    for node in model.nodes.iter_mut().filter(|node| node.parent.is_none()) {
        node.position = node.position.map(|part| part * scale);
        node.scale = node.scale.map(|part| part * scale);
    }
    let ModelData { nodes, animations, .. } = model;
    let is_top = |node: u32| nodes[node as usize].parent.is_none();
    animations.iter_mut().for_each(|it| scale_animation(it, is_top, scale));
}

/// Reads a settings file and replaces the context's source with the model file that the settings
/// refer to. Returns the model's scale.
fn settings(compiling: &mut CompileContext) -> Result<f32, Error> {
    let usual = compiling.files.first().cloned();
    let (scale, source) = read_settings(compiling, usual)?;
    compiling.bytes = compiling.read(&source)?;
    compiling.path = source;
    Ok(scale)
}

/// Reads a settings file: the bytes and the path of the context. Returns the model's scale, and the
/// path of its file, which is `usual` unless the settings name another one.
///
/// # Errors
/// Returns an error that names the file and the line.
pub(crate) fn read_settings(
    compiling: &CompileContext,
    usual: Option<String>,
) -> Result<(f32, String), Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let (mut scale, mut source) = (1.0, usual);
    for entry in document.root().entries().into_iter().flatten() {
        let error = |message: &str| compiling.error_at(entry.line(), message);
        match entry.key {
            "source" => {
                let path = entry.value.as_str().map(str::to_string);
                source = Some(path.ok_or_else(|| error("'source' must be a path in quotes"))?);
            }
            "scale" => match entry.value.as_f64() {
                Some(number) if number > 0.0 && number <= 1e6 => scale = number as f32,
                _ => return Err(error("'scale' must be a number above 0")),
            },
            key => return Err(error(&format!("unknown setting '{key}'{}", hint(key, KEYS)))),
        }
    }
    match source {
        Some(source) => Ok((scale, source)),
        None => Err(error!(
            "{}: there is no model of the same name in its folder: add one, or name it by source = \
             \"path/of/model.glb\"",
            compiling.path
        )),
    }
}

/// Compiles an image of a model into a texture.
fn picture(picture: &ModelImage) -> Result<Vec<u8>, Error> {
    if picture.ending.is_empty() {
        return Err(error!("it is in a format that is not known: use PNG or JPEG"));
    }
    let mut decoded = decode(&format!("picture.{}", picture.ending), &picture.bytes)?;
    if let (ImageUse::Color { opaque: true }, DecodedImage::Image(image)) =
        (picture.usage, &mut decoded)
    {
        match &mut image.pixels {
            PixelFormat::Bytes(bytes) => bytes.chunks_exact_mut(4).for_each(|texel| texel[3] = 255),
            PixelFormat::Floats(floats) => {
                floats.chunks_exact_mut(4).for_each(|texel| texel[3] = 1.0)
            }
        }
    }
    let import = ImportSettings {
        data: picture.usage == ImageUse::Data,
        premultiply: None,
        atlas: Some(false),
        ..ImportSettings::DEFAULT
    };
    build(decoded, &import)
}

fn number(value: f32) -> SjsonTree {
    // Converts through the shortest text, so that 0.1 is displayed as 0.1.
    SjsonTree::Number(value.to_string().parse().unwrap_or(f64::from(value)))
}

fn list(values: &[f32]) -> SjsonTree {
    SjsonTree::Array(values.iter().map(|value| number(*value)).collect())
}

fn text(value: &str) -> SjsonTree {
    SjsonTree::String(value.to_string())
}

fn object(entries: Vec<(&str, SjsonTree)>) -> SjsonTree {
    SjsonTree::Object(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// Returns the description of a unit that consists of a model, as in a unit's file.
pub fn tree(model: &Model) -> SjsonTree {
    let data = &model.data;
    let mut nodes = Vec::new();
    let mut parts: Vec<(String, SjsonTree)> = Vec::new();
    let mut own: Vec<(String, SjsonTree)> = match &data.extras {
        Some(SjsonTree::Object(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let tops = data.nodes.iter().filter(|node| node.parent.is_none()).count();
    for node in &data.nodes {
        let mut fields = vec![
            ("position", list(&node.position)),
            ("rotation", list(&node.rotation)),
            ("scale", list(&node.scale)),
        ];
        if let Some(parent) = node.parent {
            fields.push(("parent", text(&data.nodes[parent as usize].name)));
        }
        nodes.push((node.name.clone(), object(fields)));
        let mut add = |kind: &str, mut fields: Vec<(&str, SjsonTree)>| {
            fields.push(("component", text(kind)));
            fields.push(("node", text(&node.name)));
            // Node names are unique, so only another component of the same node can have this name.
            let taken = parts.iter().rev().take(4).any(|(known, _)| *known == node.name);
            let name = if taken { format!("{}.{kind}", node.name) } else { node.name.clone() };
            parts.push((name, object(fields)));
        };
        if let Some(mesh) = node.mesh {
            let mesh = &data.meshes[mesh as usize].name;
            let mut fields = vec![("model", text(&model.name)), ("mesh", text(mesh))];
            if let Some(skin) = node.skin {
                fields.push(("skin", text(&data.skins[skin as usize].name)));
            }
            add("mesh", fields);
        }
        if let Some(camera) = node.camera {
            add("camera", camera_fields(&data.cameras[camera as usize]));
        }
        if let Some(light) = node.light {
            add("light", light_fields(&data.lights[light as usize]));
        }
        if let Some(extra) = node.extras.as_ref().and_then(|extras| extras.get("physics")) {
            let mesh = node.mesh.map(|mesh| &data.meshes[mesh as usize].name);
            let mesh = mesh.map(|mesh| format!("{}/{mesh}", model.name));
            add("physics", vec![("actors", from_extras(extra, &node.name, mesh))]);
        }
        if let Some(SjsonTree::Object(extras)) = &node.extras {
            if tops == 1 && node.parent.is_none() {
                own.extend(extras.iter().cloned());
            } else {
                own.push((node.name.clone(), SjsonTree::Object(extras.clone())));
            }
        }
    }
    // A node of the same name has its component named after it.
    let mut add_whole = |kind: &'static str, renamed: &'static str| {
        let taken = data.nodes.iter().any(|node| node.name == kind);
        let fields = vec![("component", text(kind)), ("model", text(&model.name))];
        parts.push((if taken { renamed } else { kind }.to_string(), object(fields)));
    };
    if has_animation(data) {
        add_whole(ANIMATION.name, ANIMATION_RENAMED);
    }
    if data.sprite_skeleton.is_some() {
        add_whole(SKELETON.name, SKELETON_RENAMED);
    }
    let mut visited = std::collections::HashSet::new();
    own.retain(|(key, _)| visited.insert(key.clone()));
    object(vec![
        ("nodes", SjsonTree::Object(nodes)),
        ("components", SjsonTree::Object(parts)),
        ("data", SjsonTree::Object(own)),
    ])
}

/// Returns true if units of a model have the component `animation`.
fn has_animation(data: &ModelData) -> bool {
    let has_targets = |node: &ModelNode| {
        node.mesh.is_some_and(|mesh| !data.meshes[mesh as usize].targets.is_empty())
    };
    data.sprite_skeleton.is_some()
        || !data.skins.is_empty()
        || !data.clips.is_empty()
        || data.nodes.iter().any(has_targets)
}

fn camera_fields(camera: &CameraData) -> Vec<(&'static str, SjsonTree)> {
    let lens = match camera.vertical_fov {
        Some(fov) => {
            vec![("projection", text("perspective")), ("vertical_fov", number(fov.to_degrees()))]
        }
        None => vec![("projection", text("orthographic")), ("height", number(camera.height))],
    };
    let range = [("near", number(camera.near)), ("far", number(camera.far))];
    lens.into_iter().chain(range).collect()
}

fn light_fields(light: &LightData) -> Vec<(&'static str, SjsonTree)> {
    let kind = match light.kind {
        ModelLightType::Sun => "directional",
        ModelLightType::Omni => "omni",
        ModelLightType::Spot => "spot",
    };
    let mut fields = vec![
        ("type", text(kind)),
        ("linear_color", list(&light.color)),
        ("intensity", number(light.intensity)),
    ];
    if light.kind != ModelLightType::Sun {
        fields.push(("falloff_end", number(light.range)));
    }
    if light.kind == ModelLightType::Spot {
        fields.push(("spot_angle_start", number(light.inner.to_degrees())));
        fields.push(("spot_angle_end", number(light.outer.to_degrees())));
    }
    if light.kind != ModelLightType::Omni {
        fields.push(("casts_shadows", SjsonTree::Bool(true)));
    }
    fields
}

/// Returns the error message for a name that two nodes of a model have, or `None` if the name is
/// unique.
pub fn ambiguous(model: &str, data: &ModelData, node: &str) -> Option<String> {
    data.duplicate_names.iter().any(|known| known == node).then(|| {
        format!(
            "two nodes are named '{node}' in model '{model}': rename one, so that it is clear \
                 which is meant"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::texture::TexelFormat;
    use engine_resource::resource_name::ResourceName;
    use engine_test_support::images::ktx2_file;
    use engine_textures::{TextureHeader, read_head};

    /// A triangle with one KTX2 file next to it as color texture and another one as normal map.
    const TRIANGLE: &str = r#"{
      "asset": { "version": "2.0" },
      "nodes": [{ "mesh": 0 }],
      "meshes": [{ "primitives": [
        { "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "material": 0 } ] }],
      "materials": [{
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } },
        "normalTexture": { "index": 1 } }],
      "textures": [{ "source": 0 }, { "source": 1 }],
      "images": [
        { "uri": "planks.ktx2", "mimeType": "image/ktx2" },
        { "uri": "bumps.ktx2", "mimeType": "image/ktx2" }],
      "accessors": [
        { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
          "min": [0, 0, 0], "max": [1, 1, 0] },
        { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 3, "type": "VEC2" }],
      "bufferViews": [{ "buffer": 0, "byteLength": 60 }],
      "buffers": [{ "uri": "triangle.bin", "byteLength": 60 }]
    }"#;

    /// Compiles the model with these textures. Returns the headers and the bytes of the textures.
    fn pictures(planks: &[u8], bumps: &[u8]) -> Result<Vec<(TextureHeader, Vec<u8>)>, String> {
        let corners =
            [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0];
        let triangle: Vec<u8> = corners.iter().flat_map(|number| number.to_le_bytes()).collect();
        let read = |path: &str| match path {
            "triangle.bin" => Ok(triangle.clone()),
            "planks.ktx2" => Ok(planks.to_vec()),
            "bumps.ktx2" => Ok(bumps.to_vec()),
            _ => Err(error!("{path}: there is no such file")),
        };
        let (name, path) = (ResourceName::new("model", "wall"), "wall.gltf".to_string());
        let file = TRIANGLE.as_bytes().to_vec();
        let mut compiling = CompileContext::new(name, path, SourceForm::Raw, file, false, &read);
        let compiled = compile(&mut compiling).map_err(|error| error.message)?;
        let model = ModelData::read(&compiled).map_err(|error| error.message)?;
        let of = |range: &std::ops::Range<usize>| {
            let bytes = &compiled[range.clone()];
            let (head, start) = read_head(bytes).unwrap();
            (head, bytes[start..].to_vec())
        };
        Ok(model.pictures.iter().map(of).collect())
    }

    #[test]
    fn the_version_of_models_follows_that_of_clips() {
        // Models contain compiled clips: if the version of clips changes, raise that of models.
        assert_eq!((VERSION, engine_animation::CLIP_VERSION), (17, 11));
    }

    #[test]
    fn model_textures_can_be_compressed_ktx2() {
        let (planks, bumps): (Vec<u8>, Vec<u8>) = ((0..48).collect(), (100..116).collect());
        let packed = ktx2_file(8, 4, 146, 2, &[&planks[..32], &planks[32..]]);
        let found = pictures(&packed, &ktx2_file(4, 4, 141, 0, &[&bumps])).unwrap();
        let [(colors, of_planks), (normals, of_bumps)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((colors.format, colors.levels, of_planks), (TexelFormat::Bc7Srgb, 2, &planks));
        assert_eq!((normals.format, normals.levels, of_bumps), (TexelFormat::Bc5, 1, &bumps));
        let plain = ktx2_file(1, 1, 43, 0, &[&[10, 20, 30, 40]]);
        let found = pictures(&plain, &plain).unwrap();
        assert_eq!(
            (found[0].0.format, &found[0].1),
            (TexelFormat::Rgba8Srgb, &vec![10, 20, 30, 255])
        );
        let basis = pictures(&packed, &ktx2_file(4, 4, 0, 1, &[&bumps])).unwrap_err();
        let wanted = "wall.gltf: material 'material_0': image 1: picture.ktx2: the file is \
                      supercompressed (BasisLZ), which cannot be read";
        assert!(basis.starts_with(wanted), "{basis}");
    }
}
