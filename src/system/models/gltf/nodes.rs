//! Nodes, cameras and lights of a glTF file. The node tree is sorted parents first and converted
//! from y up to z up. In glTF, forward is +z and up is +y. Here, as in most modeling programs, the
//! front faces -y and up is +z: (x, y, z) becomes (x, -z, y).

use super::accessor::missing;
use crate::data::{CameraData, LightData, ModelData, ModelLightType, ModelNode};
use crate::unique_names::UniqueNames;
use crate::validate::{NODES_MAX, camera_error};
use engine_foundation::error;
use engine_foundation::hash::find_collision;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, Mat4, Quat, Vec3};
use engine_frame_packet::{NEAR_MIN, VIEW_DISTANCE_MAX};
use gltf::json::extensions::scene::khr_lights_punctual::Type as LightKind;
use gltf::json::validation::Checked;
use gltf::json::{Extras, Root, camera, scene};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Converts a point or a direction to z up.
pub fn to_z_up(v: [f32; 3]) -> [f32; 3] {
    [v[0], -v[2], v[1]]
}

/// Converts a rotation to z up.
pub fn rotation_to_z_up(q: [f32; 4]) -> [f32; 4] {
    [q[0], -q[2], q[1], q[3]]
}

/// Converts scale factors to z up.
pub fn scale_to_z_up(s: [f32; 3]) -> [f32; 3] {
    [s[0], s[2], s[1]]
}

/// Converts a matrix to z up: the same transform, expressed in the other axes.
pub fn matrix_to_z_up(matrix: &[f32; 16]) -> [f32; 16] {
    let turn = Mat4::from_cols_array(&[
        1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ]);
    (turn * Mat4::from_cols_array(matrix) * turn.transpose()).to_cols_array()
}

/// Returns an item's custom properties if they are an object. Values that cannot be read, such as a
/// number that is too large, give a warning.
fn read_extras(extras: &Extras, of: &str, warnings: &mut Vec<String>) -> Option<SjsonTree> {
    let tree = match sjson::parse(extras.as_ref()?.get()) {
        Ok(document) => document.to_tree(),
        Err(fault) => {
            warnings.push(format!("the extras of {of} are left out: {}", fault.message));
            return None;
        }
    };
    matches!(&tree, SjsonTree::Object(entries) if !entries.is_empty()).then_some(tree)
}

/// Position, rotation and scale of a node relative to its parent.
type NodeTransform = ([f32; 3], [f32; 4], [f32; 3]);

fn node_transform(node: &scene::Node, name: &str) -> Result<NodeTransform, Error> {
    let (position, rotation, scale) = match &node.matrix {
        Some(matrix) => {
            let matrix = Mat4::from_cols_array(matrix);
            let (scale, rotation, position) = matrix.to_scale_rotation_translation();
            // A sheared matrix gives a rotation whose length is not 1.
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
            "node '{name}' has an invalid transform (a number that is not finite, a rotation of \
             length 0, or a matrix with a scale of 0): apply its transform"
        ));
    }
    Ok((to_z_up(position), rotation_to_z_up(rotation.to_array()), scale_to_z_up(scale)))
}

/// Returns true if a matrix contains more than translation, rotation and scale.
fn is_sheared(matrix: [f32; 16]) -> bool {
    let matrix = Mat4::from_cols_array(&matrix);
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let [x, y, z] = axes.map(|axis| axis.truncate().normalize_or_zero());
    [x.dot(y), y.dot(z), z.dot(x)].iter().any(|cosine| cosine.abs() > 1e-3)
}

/// Mapping from the file's nodes to the model's nodes.
pub struct NodeOrder {
    /// Index in the model by index in the file; `None` outside of the scene.
    pub model_indices: Vec<Option<u32>>,
}

/// Adds the nodes of the file's scene to `model`, parents first.
pub fn read(root: &Root, model: &mut ModelData) -> Result<NodeOrder, Error> {
    let first = shown_scene(root)?;
    let root_nodes: Vec<usize> = match first {
        Some(scene) => scene.nodes.iter().map(|node| node.value()).collect(),
        None => root_nodes(root),
    };
    model.extras =
        first.and_then(|scene| read_extras(&scene.extras, "the scene", &mut model.warnings));
    let mut model_indices = vec![None; root.nodes.len()];
    // A stack: reversed, so that nodes are visited in the file's order.
    let mut waiting: Vec<(usize, Option<u32>, bool)> =
        root_nodes.iter().rev().map(|i| (*i, None, false)).collect();
    let mut names = UniqueNames::of_nodes();
    while let Some((index, parent, hidden)) = waiting.pop() {
        let node = root.nodes.get(index).ok_or_else(|| missing("node", index))?;
        if model_indices[index].is_some() {
            return Err(error!(
                "node {index}{} has two parents, or is its own ancestor: nodes must be a tree",
                node.name.as_ref().map(|name| format!(" '{name}'")).unwrap_or_default()
            ));
        }
        if model.nodes.len() == NODES_MAX {
            return Err(error!("it has more than {NODES_MAX} nodes (NODES_MAX): split the model"));
        }
        let name = names.add(node.name.as_deref(), "node", index);
        let (position, rotation, scale) = node_transform(node, &name)?;
        if node.matrix.is_some_and(is_sheared) {
            names.warnings.push(format!(
                "node '{name}' is sheared, which is not supported: it is shown without the shear \
                 (apply its transform)"
            ));
        }
        let extras = read_extras(&node.extras, &format!("node '{name}'"), &mut names.warnings);
        let hidden = hidden || is_hidden(node);
        let light = node.extensions.as_ref().and_then(|all| all.khr_lights_punctual.as_ref());
        let here = model.nodes.len() as u32;
        model_indices[index] = Some(here);
        model.nodes.push(ModelNode {
            name,
            parent,
            position,
            rotation,
            scale,
            mesh: node.mesh.filter(|_| !hidden).map(|index| index.value() as u32),
            camera: node.camera.map(|index| index.value() as u32),
            light: light.filter(|_| !hidden).map(|light| light.light.value() as u32),
            skin: node.skin.map(|index| index.value() as u32),
            extras,
        });
        let children = node.children.iter().flatten().rev();
        waiting.extend(children.map(|child| (child.value(), Some(here), hidden)));
        // A node that is listed as a child twice would be queued without end.
        if waiting.len() > root.nodes.len() {
            return Err(error!("node {index} or another has two parents: nodes must be a tree"));
        }
    }
    // Without a scene, a node that no top node reaches is part of a cycle.
    let lost = model_indices.iter().position(|index| first.is_none() && index.is_none());
    if let Some(index) = lost {
        return Err(error!("node {index} is its own ancestor: nodes must be a tree"));
    }
    if let Some((one, other)) = find_collision(model.nodes.iter().map(|node| &node.name[..])) {
        return Err(error!("the nodes '{one}' and '{other}' have the same hash: rename one"));
    }
    model.duplicate_names = names.duplicate_names;
    model.warnings.append(&mut names.warnings);
    Ok(NodeOrder { model_indices })
}

/// Returns the scene that the file shows; `None` if it has no scene.
fn shown_scene(root: &Root) -> Result<Option<&scene::Scene>, Error> {
    let Some(index) = root.scene else { return Ok(root.scenes.first()) };
    let index = index.value();
    root.scenes.get(index).map(Some).ok_or_else(|| missing("scene", index))
}

/// Returns true if a node and its children are not shown (KHR_node_visibility).
fn is_hidden(node: &scene::Node) -> bool {
    let others = node.extensions.as_ref().map(|all| &all.others);
    let visible = others.and_then(|others| others.get("KHR_node_visibility")?.get("visible"));
    visible.is_some_and(|visible| visible.as_bool() == Some(false))
}

/// Returns the nodes without a parent, for a file without a scene.
fn root_nodes(root: &Root) -> Vec<usize> {
    let mut is_child = vec![false; root.nodes.len()];
    for child in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
        if let Some(slot) = is_child.get_mut(child.value()) {
            *slot = true;
        }
    }
    (0..root.nodes.len()).filter(|index| !is_child[*index]).collect()
}

/// Checks the references of the nodes after all items were read.
pub fn check(model: &ModelData) -> Result<(), Error> {
    for node in &model.nodes {
        for (noun, index, count) in [
            ("mesh", node.mesh, model.meshes.len()),
            ("camera", node.camera, model.cameras.len()),
            ("light", node.light, model.lights.len()),
            ("skin", node.skin, model.skins.len()),
        ] {
            if let Some(index) = index.filter(|index| *index as usize >= count) {
                return Err(error!(
                    "node '{}' names {noun} {index}, and there are {count}: export it again",
                    node.name
                ));
            }
        }
    }
    Ok(())
}

/// Returns the model's index for a node of the file; `None` if the node is outside of the scene.
pub fn model_index(ordered: &NodeOrder, index: usize, noun: &str) -> Result<Option<u32>, Error> {
    let found = ordered.model_indices.get(index);
    found.copied().ok_or_else(|| error!("{noun} names node {index}, which does not exist"))
}

/// Reads the cameras of a file. Exporters write very large numbers for infinity: values beyond a
/// camera's limits are clamped and reported in `warnings`.
pub fn cameras(root: &Root, warnings: &mut Vec<String>) -> Result<Vec<CameraData>, Error> {
    let read = |(index, camera): (usize, &camera::Camera)| {
        let name = camera.name.as_ref().map_or(String::new(), |name| format!(" '{name}'"));
        let mut camera_data = match (&camera.perspective, &camera.orthographic) {
            (Some(lens), _) => CameraData {
                vertical_fov: Some(lens.yfov),
                height: 0.0,
                near: lens.znear,
                far: lens.zfar.unwrap_or((lens.znear * 2.0).clamp(1000.0, VIEW_DISTANCE_MAX)),
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
        if camera_data.far > VIEW_DISTANCE_MAX {
            warnings.push(format!(
                "camera {index}{name} sees up to {:e} metres in its file, and up to \
                 {VIEW_DISTANCE_MAX} here, the maximum of cameras",
                camera_data.far
            ));
            camera_data.far = VIEW_DISTANCE_MAX;
        }
        if camera_data.vertical_fov.is_some()
            && camera_data.near > 0.0
            && camera_data.near < NEAR_MIN
        {
            warnings.push(format!(
                "camera {index}{name} sees from {:e} metres in its file, and from {NEAR_MIN} here, \
                 the minimum of cameras",
                camera_data.near
            ));
            camera_data.near = NEAR_MIN;
        }
        match camera_error(&camera_data) {
            None => Ok(camera_data),
            Some(message) => Err(error!(
                "camera {index}{name} cannot see: {message}: change it in the model's source"
            )),
        }
    };
    root.cameras.iter().enumerate().map(read).collect()
}

/// Reads the lights of a file. Intensities in candelas and lux are divided by π, so that 1 makes a
/// white wall white: a matte white wall lit with E lux reflects E / π candelas per square metre.
pub fn lights(root: &Root) -> Result<Vec<LightData>, Error> {
    let extension = root.extensions.as_ref().and_then(|all| all.khr_lights_punctual.as_ref());
    let mut lights = Vec::new();
    for (index, light) in extension.iter().flat_map(|all| all.lights.iter()).enumerate() {
        let kind = match light.type_ {
            Checked::Valid(LightKind::Directional) => ModelLightType::Sun,
            Checked::Valid(LightKind::Point) => ModelLightType::Omni,
            Checked::Valid(LightKind::Spot) => ModelLightType::Spot,
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
        lights.push(LightData {
            kind,
            color: light.color,
            intensity: light.intensity / PI,
            range,
            inner: inner.min(FRAC_PI_2),
            outer: outer.clamp(inner, FRAC_PI_2.max(inner)).min(FRAC_PI_2),
        });
    }
    Ok(lights)
}

/// Converts a direction to z up, normalized unless its length is 0.
pub fn direction(v: [f32; 3]) -> Vec3 {
    Vec3::from_array(to_z_up(v)).normalize_or_zero()
}
