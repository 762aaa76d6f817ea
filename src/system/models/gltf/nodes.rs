//! Nodes, cameras and lights of a glTF file: the tree put in order, parents first, and turned from
//! y up to z up. In glTF what is ahead is +z and what is up +y; here, as in the programs that most
//! models are made in, the front looks along -y and up is +z: (x, y, z) becomes (x, -z, y).

use super::accessor::missing;
use crate::error;
use crate::foundation::hash::clash;
use crate::foundation::sjson::{self, Tree};
use crate::foundation::{Error, Mat4, Quat, Vec3};
use crate::packet::{NEAR_MIN, SIGHT_MAX};
use crate::system::models::check::{NODES_MAX, camera_fault};
use crate::system::models::data::{CameraData, LightData, LightType, ModelData, Node};
use crate::system::models::names::Names;
use gltf::json::extensions::scene::khr_lights_punctual::Type as LightKind;
use gltf::json::validation::Checked;
use gltf::json::{Extras, Root, camera, scene};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// A point or a direction.
pub fn turned(v: [f32; 3]) -> [f32; 3] {
    [v[0], -v[2], v[1]]
}

/// A rotation.
pub fn turned_rotation(q: [f32; 4]) -> [f32; 4] {
    [q[0], -q[2], q[1], q[3]]
}

/// Sizes along the axes.
pub fn turned_scale(s: [f32; 3]) -> [f32; 3] {
    [s[0], s[2], s[1]]
}

/// A matrix: the same movement, said in the other axes.
pub fn turned_matrix(matrix: &[f32; 16]) -> [f32; 16] {
    let turn = Mat4::from_cols_array(&[
        1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ]);
    (turn * Mat4::from_cols_array(matrix) * turn.transpose()).to_cols_array()
}

/// What a file says for the game, where that is an object. What cannot be read of it, such as a
/// number that is too large, is a warning.
fn extras(extras: &Extras, of: &str, warnings: &mut Vec<String>) -> Option<Tree> {
    let tree = match sjson::parse(extras.as_ref()?.get()) {
        Ok(document) => document.to_tree(),
        Err(fault) => {
            warnings.push(format!("the extras of {of} are left out: {}", fault.message));
            return None;
        }
    };
    matches!(&tree, Tree::Object(entries) if !entries.is_empty()).then_some(tree)
}

/// Where a node is relative to its parent.
type Place = ([f32; 3], [f32; 4], [f32; 3]);

fn place(node: &scene::Node, name: &str) -> Result<Place, Error> {
    let (position, rotation, scale) = match &node.matrix {
        Some(matrix) => {
            let matrix = Mat4::from_cols_array(matrix);
            let (scale, rotation, position) = matrix.to_scale_rotation_translation();
            // What is sheared gives one of another length.
            (position.to_array(), rotation.normalize(), scale.to_array())
        }
        None => {
            let rotation = node.rotation.map_or([0.0, 0.0, 0.0, 1.0], |rotation| rotation.0);
            (
                node.translation.unwrap_or_default(),
                Quat::from_array(rotation).normalize(),
                node.scale.unwrap_or([1.0; 3]),
            )
        }
    };
    let numbers = position.iter().chain(&scale);
    if !numbers.chain(&rotation.to_array()).all(|number| number.is_finite()) {
        return Err(error!(
            "node '{name}' has a place that cannot be used (a number that is not finite, a \
             rotation of length 0, or a matrix with a scale of 0): apply its transform"
        ));
    }
    Ok((turned(position), turned_rotation(rotation.to_array()), turned_scale(scale)))
}

/// Whether a matrix does more than move, turn and size.
fn is_sheared(matrix: [f32; 16]) -> bool {
    let matrix = Mat4::from_cols_array(&matrix);
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let [x, y, z] = axes.map(|axis| axis.truncate().normalize_or_zero());
    [x.dot(y), y.dot(z), z.dot(x)].iter().any(|cosine| cosine.abs() > 1e-3)
}

/// Where the nodes of a file went.
pub struct Ordered {
    /// By their number in the file.
    pub places: Vec<Option<u32>>,
}

/// Puts the nodes of the file's scene into `model`, parents first.
pub fn read(root: &Root, model: &mut ModelData) -> Result<Ordered, Error> {
    let first = match (root.scene, root.scenes.first()) {
        (Some(index), _) => {
            let index = index.value();
            Some(root.scenes.get(index).ok_or_else(|| missing("scene", index))?)
        }
        (None, first) => first,
    };
    let tops: Vec<usize> = match first {
        Some(scene) => scene.nodes.iter().map(|node| node.value()).collect(),
        None => tops(root),
    };
    model.extras = first.and_then(|scene| extras(&scene.extras, "the scene", &mut model.warnings));
    let mut places = vec![None; root.nodes.len()];
    // The last is looked at first, so the first of the file goes on last.
    let mut waiting: Vec<(usize, Option<u32>)> = tops.iter().rev().map(|i| (*i, None)).collect();
    let mut names = Names::of_nodes();
    while let Some((index, parent)) = waiting.pop() {
        let node = root.nodes.get(index).ok_or_else(|| missing("node", index))?;
        if places[index].is_some() {
            return Err(error!(
                "node {index}{} has two parents, or hangs on itself: nodes must be a tree",
                node.name.as_ref().map(|name| format!(" '{name}'")).unwrap_or_default()
            ));
        }
        if model.nodes.len() == NODES_MAX {
            return Err(error!("it has more than {NODES_MAX} nodes (NODES_MAX): split the model"));
        }
        let name = names.add(node.name.as_deref(), "node", index);
        let (position, rotation, scale) = place(node, &name)?;
        if node.matrix.is_some_and(is_sheared) {
            names.warnings.push(format!(
                "node '{name}' is sheared, which nodes cannot be: it is shown without (apply its \
                 transform)"
            ));
        }
        let extras = extras(&node.extras, &format!("node '{name}'"), &mut names.warnings);
        let light = node.extensions.as_ref().and_then(|all| all.khr_lights_punctual.as_ref());
        let here = model.nodes.len() as u32;
        places[index] = Some(here);
        model.nodes.push(Node {
            name,
            parent,
            position,
            rotation,
            scale,
            mesh: node.mesh.map(|index| index.value() as u32),
            camera: node.camera.map(|index| index.value() as u32),
            light: light.map(|light| light.light.value() as u32),
            skin: node.skin.map(|index| index.value() as u32),
            extras,
        });
        let children = node.children.iter().flatten().rev();
        waiting.extend(children.map(|child| (child.value(), Some(here))));
        // A node that is a child twice would wait for ever more often.
        if waiting.len() > root.nodes.len() {
            return Err(error!("node {index} or another has two parents: nodes must be a tree"));
        }
    }
    // Without a scene, what nobody reaches from outside hangs on itself.
    let lost = places.iter().position(|place| first.is_none() && place.is_none());
    if let Some(index) = lost {
        return Err(error!("node {index} hangs on itself: nodes must be a tree"));
    }
    if let Some((one, other)) = clash(model.nodes.iter().map(|node| &node.name[..])) {
        return Err(error!("the nodes '{one}' and '{other}' have the same hash: rename one"));
    }
    model.twice = names.twice;
    model.warnings.append(&mut names.warnings);
    Ok(Ordered { places })
}

/// The nodes that are nobody's child, for a file without a scene.
fn tops(root: &Root) -> Vec<usize> {
    let mut is_child = vec![false; root.nodes.len()];
    for child in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
        if let Some(slot) = is_child.get_mut(child.value()) {
            *slot = true;
        }
    }
    (0..root.nodes.len()).filter(|index| !is_child[*index]).collect()
}

/// Checks what nodes name, once everything is there.
pub fn check(model: &ModelData) -> Result<(), Error> {
    for node in &model.nodes {
        for (what, index, count) in [
            ("mesh", node.mesh, model.meshes.len()),
            ("camera", node.camera, model.cameras.len()),
            ("light", node.light, model.lights.len()),
            ("skin", node.skin, model.skins.len()),
        ] {
            if let Some(index) = index.filter(|index| *index as usize >= count) {
                return Err(error!(
                    "node '{}' names {what} {index}, and there are {count}: export it again",
                    node.name
                ));
            }
        }
    }
    Ok(())
}

/// The nodes that a unit made of the model has in another place than a list of the file's own.
pub fn place_of(ordered: &Ordered, index: usize, what: &str) -> Result<Option<u32>, Error> {
    let found = ordered.places.get(index);
    found.copied().ok_or_else(|| error!("{what} names node {index}, which is not there"))
}

/// The cameras of a file. Exporters write "endless" as very large numbers: what a camera cannot do
/// is brought to what it can, and told in `warnings`.
pub fn cameras(root: &Root, warnings: &mut Vec<String>) -> Result<Vec<CameraData>, Error> {
    let read = |(index, camera): (usize, &camera::Camera)| {
        let name = camera.name.as_ref().map_or(String::new(), |name| format!(" '{name}'"));
        let mut made = match (&camera.perspective, &camera.orthographic) {
            (Some(lens), _) => CameraData {
                vertical_fov: Some(lens.yfov),
                height: 0.0,
                near: lens.znear,
                far: lens.zfar.unwrap_or((lens.znear * 2.0).clamp(1000.0, SIGHT_MAX)),
            },
            (None, Some(lens)) => CameraData {
                vertical_fov: None,
                height: lens.ymag * 2.0,
                near: lens.znear,
                far: lens.zfar,
            },
            (None, None) => {
                return Err(error!("camera {index}{name} is neither perspective nor orthographic"));
            }
        };
        if made.far > SIGHT_MAX {
            warnings.push(format!(
                "camera {index}{name} sees {:e} metres far in its file, and {SIGHT_MAX} here, the \
                 most that a camera can",
                made.far
            ));
            made.far = SIGHT_MAX;
        }
        if made.vertical_fov.is_some() && made.near > 0.0 && made.near < NEAR_MIN {
            warnings.push(format!(
                "camera {index}{name} sees from {:e} metres on in its file, and from {NEAR_MIN} on \
                 here, the least that a camera can",
                made.near
            ));
            made.near = NEAR_MIN;
        }
        match camera_fault(&made) {
            None => Ok(made),
            Some(words) => Err(error!(
                "camera {index}{name} cannot see: {words}: change it where the model was made"
            )),
        }
    };
    root.cameras.iter().enumerate().map(read).collect()
}

/// The lights of a file. Candelas and luxes become parts of what makes a white wall white: a matte
/// wall that gets E lux sends E / π candelas per square metre back.
pub fn lights(root: &Root) -> Result<Vec<LightData>, Error> {
    let lights = root.extensions.as_ref().and_then(|all| all.khr_lights_punctual.as_ref());
    let mut made = Vec::new();
    for (index, light) in lights.iter().flat_map(|lights| lights.lights.iter()).enumerate() {
        let kind = match light.type_ {
            Checked::Valid(LightKind::Directional) => LightType::Sun,
            Checked::Valid(LightKind::Point) => LightType::Omni,
            Checked::Valid(LightKind::Spot) => LightType::Spot,
            Checked::Invalid => {
                return Err(error!("light {index} has a type that glTF does not know"));
            }
        };
        let (inner, outer) = light
            .spot
            .as_ref()
            .map_or((0.0, FRAC_PI_4), |spot| (spot.inner_cone_angle, spot.outer_cone_angle));
        let range = light.range.unwrap_or(0.0);
        let numbers = [light.intensity, range, inner, outer];
        let all = numbers.iter().chain(&light.color);
        if !all.clone().all(|number| number.is_finite() && *number >= 0.0) {
            return Err(error!("light {index} has a number that is below 0 or not finite"));
        }
        made.push(LightData {
            kind,
            color: light.color,
            intensity: light.intensity / PI,
            range,
            inner: inner.min(FRAC_PI_2),
            outer: outer.clamp(inner, FRAC_PI_2.max(inner)).min(FRAC_PI_2),
        });
    }
    Ok(made)
}

/// A direction, of length 1 if it has one.
pub fn direction(v: [f32; 3]) -> Vec3 {
    Vec3::from_array(turned(v)).normalize_or_zero()
}
