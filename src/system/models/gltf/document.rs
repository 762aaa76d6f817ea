//! The JSON description of a glTF file: its version, its extensions, and values that exporters
//! write differently than the parser expects. Does not interpret the content.

use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::{Root, Value, deserialize, serialize};

/// Extensions that the importer reads, exactly or as their nearest look (docs/models.md). A file
/// may require them.
const READ: [&str; 23] = [
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    // Read at each texture, because most files also contain a picture that can be decoded.
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "MSFT_texture_dds",
    // Metadata about the file, which is never shown.
    "KHR_xmp",
    "KHR_xmp_json_ld",
];

/// Extensions without which a file is still shown as its author meant, except for a detail. A file
/// may require them, and a warning lists them.
const DISPENSABLE: [&str; 5] = [
    "KHR_animation_pointer",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_iridescence",
    "KHR_materials_variants",
];

/// Maximum number of extensions that a warning lists.
const LISTED_MAX: usize = 16;

/// Parses the description and checks the version and the extensions that the file needs. The
/// extensions that are left out are reported in `warnings`.
pub fn parse(text: &[u8], warnings: &mut Vec<String>) -> Result<Root, Error> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let root = match deserialize::from_slice(text) {
        Ok(root) => root,
        Err(fault) => parse_repaired(text, fault, warnings)?,
    };
    check_version(&root.asset.version)?;
    let readable = |name: &&String| READ.contains(&&name[..]) || DISPENSABLE.contains(&&name[..]);
    if let Some(unknown) = root.extensions_required.iter().find(|name| !readable(name)) {
        return Err(error!(
            "it needs the extension {unknown}, which is not supported: export it without"
        ));
    }
    warnings.extend(left_out_message(&root));
    Ok(root)
}

fn check_version(version: &str) -> Result<(), Error> {
    match version.starts_with("2.") || version == "2" {
        true => Ok(()),
        false => {
            Err(error!("it is glTF {version}, and only 2.0 can be read: export it as glTF 2.0"))
        }
    }
}

/// Returns the warning about the extensions that a file uses and the importer does not read.
fn left_out_message(root: &Root) -> Option<String> {
    let mut names: Vec<&str> = root.extensions_used.iter().map(String::as_str).collect();
    names.extend(root.extensions_required.iter().map(String::as_str));
    names.retain(|name| !READ.contains(name));
    names.sort_unstable();
    names.dedup();
    let (listed, more) = names.split_at(names.len().min(LISTED_MAX));
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!listed.is_empty()).then(|| {
        format!(
            "it uses extensions that are not supported ({}{more}): it is shown without them",
            listed.join(", ")
        )
    })
}

/// Parses a description after repairing the differences that other readers accept. `fault` is the
/// parser's error for the original text.
fn parse_repaired(
    text: &[u8],
    fault: gltf::json::Error,
    warnings: &mut Vec<String>,
) -> Result<Root, Error> {
    let fault = error!("it is not glTF: {fault}");
    let Ok(mut tree) = deserialize::from_slice::<Value>(text) else { return Err(fault) };
    check_old_version(&tree)?;
    let repaired_numbers = write_whole_numbers(&mut tree);
    let repaired_scenes = add_missing_nodes(&mut tree);
    let dropped = drop_channels_without_node(&mut tree);
    if !repaired_numbers && !repaired_scenes && dropped == 0 {
        return Err(fault);
    }
    let text = serialize::to_vec(&tree).map_err(|_| fault)?;
    let root = deserialize::from_slice(&text).map_err(|fault| {
        // The position belongs to the repaired text, which nobody has.
        let message = fault.to_string();
        let message = message.split_once(" at line ").map_or(&message[..], |(start, _)| start);
        error!("it is not glTF: {message}")
    })?;
    if dropped > 0 {
        warnings.push(format!(
            "{dropped} of its animations' channels move no node (KHR_animation_pointer): they are \
             left out"
        ));
    }
    Ok(root)
}

/// Refuses glTF 1.0, whose lists are objects, and which the parser of glTF 2.0 cannot read at all.
fn check_old_version(tree: &Value) -> Result<(), Error> {
    let version = tree.get("asset").and_then(|asset| asset.get("version"));
    match version {
        Some(Value::String(version)) => check_version(version),
        // A number is invalid in every version; glTF 1.0 files have it.
        Some(Value::Number(number)) if number.as_f64().is_some_and(|number| number < 2.0) => {
            check_version(&number.to_string())
        }
        _ if tree.get("meshes").is_some_and(Value::is_object) => check_version("1.0"),
        _ => Ok(()),
    }
}

/// Writes whole numbers without a fraction: some exporters write the index 1 as `1.0`. Custom
/// properties stay as they are. Returns true if a number changed.
fn write_whole_numbers(value: &mut Value) -> bool {
    /// Numbers up to here are exact in every representation.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let changed = |value: &mut Value| write_whole_numbers(value).then_some(());
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            let whole = float.fract() == 0.0 && float.abs() <= EXACT_MAX;
            if whole {
                *value = Value::from(float as i64);
            }
            whole
        }
        // Every value is visited, whatever the others were.
        Value::Array(items) => items.iter_mut().filter_map(changed).count() > 0,
        Value::Object(entries) => {
            let values = entries.iter_mut().filter(|(key, _)| *key != "extras");
            values.filter_map(|(_, value)| changed(value)).count() > 0
        }
        _ => false,
    }
}

/// Adds the list of nodes to scenes without one, as Blender exports an empty file. Returns true if
/// a scene changed.
fn add_missing_nodes(tree: &mut Value) -> bool {
    let scenes = tree.get_mut("scenes").and_then(Value::as_array_mut);
    let scenes = scenes.into_iter().flatten().filter_map(Value::as_object_mut);
    let mut changed = false;
    for scene in scenes.filter(|scene| !scene.contains_key("nodes")) {
        scene.insert("nodes".to_string(), Value::Array(Vec::new()));
        changed = true;
    }
    changed
}

/// Removes animation channels without a node (KHR_animation_pointer), because the parser requires
/// a node for each channel. Returns the number of removed channels.
fn drop_channels_without_node(tree: &mut Value) -> usize {
    let mut dropped = 0;
    for animation in tree.get_mut("animations").and_then(Value::as_array_mut).into_iter().flatten()
    {
        let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) else {
            continue;
        };
        let before = channels.len();
        channels.retain(|channel| channel.get("target").is_none_or(|to| to.get("node").is_some()));
        dropped += before - channels.len();
    }
    dropped
}
