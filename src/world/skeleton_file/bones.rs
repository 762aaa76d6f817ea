//! The block `bones` of a `.skeleton` file: bones become the nodes of a model, parents first.

use super::errors::FileErrors;
use super::fields::{Block, COORDINATE_MAX};
use engine_animation::BONES_MAX;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::sjson::ObjectEntry;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_models::data::ModelNode;
use std::collections::{BTreeMap, HashMap};

const BONE_KEYS: [&str; 4] = ["parent", "position", "rotation", "scale"];
/// Name of the first node of every unit.
const ROOT: &str = "root";

/// Units and plane of the file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plane {
    /// Metres in a texel.
    pub metres_per_texel: f32,
    /// True if the skeleton is in the plane of x and z, and false for that of x and y.
    pub upright: bool,
}

impl Plane {
    /// Returns a position in texels as one in metres.
    pub fn position(self, [x, y]: [f32; 2]) -> [f32; 3] {
        let (x, y) = (x * self.metres_per_texel, y * self.metres_per_texel);
        if self.upright { [x, 0.0, y] } else { [x, y, 0.0] }
    }

    /// Returns the quaternion of an angle in degrees, counterclockwise.
    pub fn rotation(self, degrees: f32) -> [f32; 4] {
        let (sine, cosine) = sin_cos(degrees.to_radians() * 0.5);
        if self.upright { [0.0, -sine, 0.0, cosine] } else { [0.0, 0.0, sine, cosine] }
    }

    pub fn scale(self, [x, y]: [f32; 2]) -> [f32; 3] {
        if self.upright { [x, 1.0, y] } else { [x, y, 1.0] }
    }
}

/// Returns the indices of bones by their names.
pub fn by_name(nodes: &[ModelNode]) -> BTreeMap<String, u16> {
    nodes.iter().map(|node| node.name.clone()).zip(0..).collect()
}

/// A bone of the file.
struct Bone<'a> {
    name: &'a str,
    parent: Option<usize>,
    node: ModelNode,
    line: usize,
}

/// Reads the bones as nodes, in the order of the file as far as parents precede children.
///
/// # Errors
/// Returns an error if there are too many, or if bones are parents of each other in a circle.
/// `errors` gets those of single bones, which are nodes nevertheless, so that their names exist.
pub fn read(root: &Block, plane: Plane, errors: &FileErrors) -> Result<Vec<ModelNode>, Error> {
    let entries = root.named("bones", (BONES_MAX, "BONES_MAX"))?;
    let indices: HashMap<&str, usize> = entries.iter().map(|it| it.key).zip(0..).collect();
    let mut bones = Vec::with_capacity(entries.len());
    for entry in &entries {
        if errors.is_full() {
            break;
        }
        let read = errors.keep(read_bone(root.path, plane, entry, &indices));
        let (parent, node) = read.unwrap_or_else(|| (None, plain_node(entry.key)));
        bones.push(Bone { name: entry.key, parent, node, line: entry.line() });
    }
    // Parents that were not read, because there are too many errors.
    let count = bones.len();
    bones.iter_mut().for_each(|bone| bone.parent = bone.parent.filter(|it| *it < count));
    sort(root.path, &bones)
}

/// Returns the index of a bone's parent and its node.
fn read_bone(
    path: &str,
    plane: Plane,
    entry: &ObjectEntry,
    indices: &HashMap<&str, usize>,
) -> Result<(Option<usize>, ModelNode), Error> {
    let block = Block::open(path, format!("bone '{}'", entry.key), entry.value, &BONE_KEYS)?;
    if entry.key == ROOT {
        return Err(block.error_at(
            entry.value,
            "has the name of the first node of every unit, which no animation moves: name it \
             \"hip\" or \"body\"",
        ));
    }
    let parent = match block.text("parent")? {
        None => None,
        Some(name) => Some(*indices.get(name).ok_or_else(|| {
            let mut names: Vec<&str> = indices.keys().copied().collect();
            names.sort_by_key(|name| indices[name]);
            let near = hint(name, names);
            block.error_at(
                entry.value,
                &format!("has the parent '{name}', which does not exist{near}"),
            )
        })?),
    };
    let node = ModelNode {
        position: plane.position(block.pair("position", COORDINATE_MAX)?.unwrap_or([0.0; 2])),
        rotation: plane.rotation(block.angle("rotation")?.unwrap_or(0.0)),
        scale: plane.scale(block.scale("scale")?.unwrap_or([1.0; 2])),
        ..plain_node(entry.key)
    };
    Ok((parent, node))
}

/// Returns a node without a transform.
fn plain_node(name: &str) -> ModelNode {
    ModelNode {
        name: name.to_string(),
        parent: None,
        position: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
        mesh: None,
        camera: None,
        light: None,
        skin: None,
        extras: None,
    }
}

/// Returns the nodes, parents before children.
fn sort(path: &str, bones: &[Bone]) -> Result<Vec<ModelNode>, Error> {
    let mut nodes: Vec<ModelNode> = Vec::with_capacity(bones.len());
    let mut locations: Vec<Option<u32>> = vec![None; bones.len()];
    for start in 0..bones.len() {
        // The bones from this one up to the nearest that is a node already.
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(bone) = next.filter(|bone| locations[*bone].is_none()) {
            if chain.contains(&bone) {
                let names: Vec<&str> =
                    chain.iter().rev().take(8).rev().map(|bone| bones[*bone].name).collect();
                return Err(error!(
                    "{path}:{}: the bones are parents of each other in a circle: {} → {}",
                    bones[bone].line,
                    names.join(" → "),
                    bones[bone].name
                ));
            }
            chain.push(bone);
            next = bones[bone].parent;
        }
        for bone in chain.into_iter().rev() {
            locations[bone] = Some(nodes.len() as u32);
            let parent = bones[bone].parent.and_then(|parent| locations[parent]);
            nodes.push(ModelNode { parent, ..bones[bone].node.clone() });
        }
    }
    Ok(nodes)
}
