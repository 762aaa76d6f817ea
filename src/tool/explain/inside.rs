//! The names inside of a game's data that go by hashes of 32 bits: nodes of units and models,
//! parameters of sounds and what they can be, buses.

use crate::foundation::Error;
use crate::foundation::sjson::Tree;
use crate::resource::compile::read_data;
use crate::resource::data_kinds::read_tree;
use crate::resource::index::{Entry, Index};
use crate::system::models::data::ModelData;
use crate::system::sound::kinds::read_sound;
use crate::system::sound::mixer::Mixer;
use std::path::Path;

/// The names, each with what it is. Data that cannot be read has none: it is told where it is used.
pub fn names(index: &Index, data: &Path) -> Vec<(String, String)> {
    let of = |entry: &Entry| -> Vec<(String, String)> {
        let inside = read_data(data, &entry.data).map_err(|it| Error::new(it.to_string()));
        let inside = inside.and_then(|bytes| match &entry.resource.kind[..] {
            "unit" => nodes_of_unit(&bytes),
            "model" => {
                let nodes = ModelData::read(&bytes)?.nodes;
                Ok(nodes.into_iter().map(|node| (node.name, "a node")).collect())
            }
            "sound" => words_of_sound(&bytes),
            "mixer" => {
                let buses = Mixer::read(&bytes)?.buses;
                Ok(buses.into_iter().map(|bus| (bus.name, "a bus")).collect())
            }
            _ => Ok(Vec::new()),
        });
        let path = &entry.files[0].path;
        let told = |(name, what): (String, &str)| (name, format!("{what} of {path}"));
        inside.unwrap_or_default().into_iter().map(told).collect()
    };
    let has_names =
        |entry: &&Entry| ["unit", "model", "sound", "mixer"].contains(&&entry.resource.kind[..]);
    index.entries.iter().filter(has_names).flat_map(of).collect()
}

fn nodes_of_unit(bytes: &[u8]) -> Result<Vec<(String, &'static str)>, Error> {
    let tree = read_tree(bytes)?;
    let nodes = match tree.get("nodes") {
        Some(Tree::Object(nodes)) => &nodes[..],
        _ => &[],
    };
    Ok(nodes.iter().map(|(name, _)| (name.clone(), "a node")).collect())
}

fn words_of_sound(bytes: &[u8]) -> Result<Vec<(String, &'static str)>, Error> {
    let (definition, _) = read_sound(bytes)?;
    let mut words = Vec::new();
    for parameter in definition.parameters {
        words.push((parameter.name, "a parameter"));
        words.push((parameter.default_name, "a value of a parameter"));
    }
    for edge in definition.edges {
        words.push((edge.case_name, "a value of a parameter"));
    }
    words.retain(|(word, _)| !word.is_empty());
    Ok(words)
}
