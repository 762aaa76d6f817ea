//! Names in a game's data that are stored as 32-bit hashes: nodes of units and models, parameters
//! of sounds and their values, buses.

use engine_foundation::Error;
use engine_foundation::sjson::SjsonTree;
use engine_models::data::ModelData;
use engine_resource::compile::read_data;
use engine_resource::data_resources::read_tree;
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::resource_kind::kind_names;
use engine_sound::mixer::MixerData;
use engine_sound::resource::read_sound;
use std::path::Path;

/// Returns the names, each with a description. Data that cannot be read is skipped; its error is
/// reported where the data is used.
pub fn names(index: &ResourceIndex, data: &Path) -> Vec<(String, String)> {
    let of = |entry: &IndexEntry| -> Vec<(String, String)> {
        let names = read_data(data, &entry.data).map_err(|it| Error::new(it.to_string()));
        let names = names.and_then(|bytes| match &entry.resource.kind[..] {
            kind_names::UNIT => nodes_of_unit(&bytes),
            kind_names::MODEL => {
                let nodes = ModelData::read(&bytes)?.nodes;
                Ok(nodes.into_iter().map(|node| (node.name, "a node")).collect())
            }
            kind_names::SOUND => sound_parameter_names(&bytes),
            kind_names::MIXER => {
                let buses = MixerData::read(&bytes)?.buses;
                Ok(buses.into_iter().map(|bus| (bus.name, "a bus")).collect())
            }
            _ => Ok(Vec::new()),
        });
        let path = &entry.files[0].path;
        let with_path = |(name, noun): (String, &str)| (name, format!("{noun} of {path}"));
        names.unwrap_or_default().into_iter().map(with_path).collect()
    };
    let has_names = |entry: &&IndexEntry| {
        [kind_names::UNIT, kind_names::MODEL, kind_names::SOUND, kind_names::MIXER]
            .contains(&&entry.resource.kind[..])
    };
    index.entries.iter().filter(has_names).flat_map(of).collect()
}

fn nodes_of_unit(bytes: &[u8]) -> Result<Vec<(String, &'static str)>, Error> {
    let tree = read_tree(bytes)?;
    let nodes = match tree.get("nodes") {
        Some(SjsonTree::Object(nodes)) => &nodes[..],
        _ => &[],
    };
    Ok(nodes.iter().map(|(name, _)| (name.clone(), "a node")).collect())
}

fn sound_parameter_names(bytes: &[u8]) -> Result<Vec<(String, &'static str)>, Error> {
    let (definition, _) = read_sound(bytes)?;
    let mut names = Vec::new();
    for parameter in definition.parameters {
        names.push((parameter.name, "a parameter"));
        names.push((parameter.default_name, "a value of a parameter"));
    }
    for edge in definition.edges {
        names.push((edge.case_name, "a value of a parameter"));
    }
    names.retain(|(word, _)| !word.is_empty());
    Ok(names)
}
