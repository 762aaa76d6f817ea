//! Invariants of every model, independent of its source file. Used by the importer and by the
//! validator of compiled data, which may come from untrusted sources. Reads nothing.

use super::data::{
    AnimationChannel, CameraData, ChannelTarget, KeyInterpolation, LightData, MeshData, ModelData,
    SkinData, SurfaceData,
};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::hash::find_collision;
use engine_frame_packet::mesh::{
    INDICES_MAX, MeshBounds, PARTS_MAX, SurfaceAlphaMode, VERTICES_MAX,
};
use engine_frame_packet::{ANGLE_MIN, NEAR_MIN, VIEW_DISTANCE_MAX};
use engine_resource::surface_lobes::LOBE_NUMBERS;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::f32::consts::{FRAC_PI_2, PI};

/// Maximum number of nodes of a model: that of a unit, without its root.
pub const NODES_MAX: usize = 4095;
/// Maximum number of joints of one skin.
pub const JOINTS_MAX: usize = 1024;
/// Tolerated deviation of a rotation's length from 1, caused by limited precision.
const UNIT_ERROR: f32 = 1e-3;

/// Checks that a model could come from a file. The caller checks the images, because it knows
/// textures.
///
/// # Errors
/// Returns an error that names the invalid item.
pub fn check(model: &ModelData) -> Result<(), Error> {
    check_nodes(model)?;
    unique(model.meshes.iter().map(|mesh| &mesh.name), "meshes")?;
    unique(model.surfaces.iter().map(|surface| &surface.name), "surfaces")?;
    for surface in &model.surfaces {
        check_surface(surface)
            .map_err(|fault| error!("surface '{}': {}", surface.name, fault.message))?;
    }
    for mesh in &model.meshes {
        check_mesh(mesh).map_err(|fault| error!("mesh '{}': {}", mesh.name, fault.message))?;
    }
    for camera in &model.cameras {
        if let Some(message) = camera_error(camera) {
            return Err(error!("it is damaged: a camera cannot see: {message}"));
        }
    }
    require(model.lights.iter().all(is_light), "a light")?;
    require(model.skins.iter().all(|skin| is_skin(skin, model.nodes.len())), "a skin")?;
    if let Some(sprite_skeleton) = &model.sprite_skeleton {
        sprite_skeleton.check(model)?;
    }
    let mut channels = model.animations.iter().flat_map(|clip| &clip.channels);
    require(channels.all(|channel| is_channel(channel, model)), "an animation")
}

fn require(right: bool, noun: &str) -> Result<(), Error> {
    match right {
        true => Ok(()),
        false => Err(error!("it is damaged: {noun} has an invalid number")),
    }
}

fn unique<'a>(mut names: impl Iterator<Item = &'a String>, noun: &str) -> Result<(), Error> {
    let mut known = HashSet::new();
    match names.find(|name| !known.insert(*name)) {
        Some(name) => Err(error!("it is damaged: two {noun} are named '{name}'")),
        None => Ok(()),
    }
}

fn finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

fn check_nodes(model: &ModelData) -> Result<(), Error> {
    if model.nodes.len() > NODES_MAX {
        let count = model.nodes.len();
        return Err(error!("it is damaged: it has {count} nodes, and {NODES_MAX} is the most"));
    }
    // Units identify their nodes by the hashes of the names.
    if let Some((one, other)) = find_collision(model.nodes.iter().map(|node| &node.name[..])) {
        return Err(error!("the nodes '{one}' and '{other}' have the same hash: rename one"));
    }
    unique(model.nodes.iter().map(|node| &node.name), "nodes")?;
    for node in &model.nodes {
        let length: f32 = node.rotation.iter().map(|part| part * part).sum();
        let right =
            finite(&node.position) && finite(&node.scale) && (length - 1.0).abs() <= UNIT_ERROR;
        if !right {
            return Err(error!("node '{}' has an invalid transform", node.name));
        }
    }
    Ok(())
}

fn check_surface(surface: &SurfaceData) -> Result<(), Error> {
    let SurfaceData { base_color, emissive, metallic, roughness, occlusion_strength, .. } = surface;
    let cutoff = if let SurfaceAlphaMode::Mask(cutoff) = surface.alpha { cutoff } else { 0.0 };
    let parts = [metallic, roughness, occlusion_strength];
    let right = finite(base_color)
        && finite(emissive)
        && finite(&[surface.normal_scale, cutoff])
        && parts.iter().all(|part| (0.0..=1.0).contains(*part));
    let mut lobes = surface.lobes;
    let lobes_right = finite(&lobes.sheen_color)
        && finite(&lobes.specular_color)
        && LOBE_NUMBERS.iter().all(|(_, (least, most), field)| {
            let number = *field(&mut lobes);
            (*least..=*most).contains(&number)
        });
    require(right && lobes_right, "it")
}

fn check_mesh(mesh: &MeshData) -> Result<(), Error> {
    let MeshData { vertices, indices, parts, surfaces, joints, weights, targets, .. } = mesh;
    let MeshData { target_names, target_weights, .. } = mesh;
    if vertices.len() > VERTICES_MAX || indices.len() > INDICES_MAX || parts.len() > PARTS_MAX {
        return Err(error!("it is damaged: it has more vertices, indices or parts than allowed"));
    }
    let mut numbers = vertices.iter().map(|vertex| finite(&vertex.position) && finite(&vertex.uv));
    require(numbers.all(|right| right), "a vertex")?;
    // Meshes are culled by their bounds: wrong bounds would hide the mesh, or cull nothing.
    let bounds = MeshBounds::of(vertices);
    require(bounds == mesh.bounds && bounds.radius.is_finite(), "its box")?;
    let is_part = |part: &engine_frame_packet::mesh::MeshPart| {
        part.first.is_multiple_of(3)
            && part.count.is_multiple_of(3)
            && (part.surface as usize) < surfaces.len()
    };
    require(parts.iter().all(is_part) && indices.len().is_multiple_of(3), "a part")?;
    let none_or_all = |count: usize| count == 0 || count == vertices.len();
    let right = none_or_all(joints.len())
        && weights.len() == joints.len()
        && weights.iter().all(|four| finite(four))
        && targets.iter().all(|target| target.len() == vertices.len())
        && targets.iter().flatten().all(|moved| finite(moved))
        && [target_names.len(), target_weights.len()]
            .iter()
            .all(|count| *count == 0 || *count == targets.len());
    require(right, "a joint or a morph target")
}

/// Returns a message if a camera's settings are invalid.
pub fn camera_error(camera: &CameraData) -> Option<String> {
    let CameraData { near, far, height, .. } = *camera;
    match camera.vertical_fov {
        Some(angle) if !(ANGLE_MIN..=PI - ANGLE_MIN).contains(&angle) => {
            return Some(format!(
                "its angle must be above 0 and below 180 degrees, got {}",
                angle.to_degrees()
            ));
        }
        None if !(NEAR_MIN..=VIEW_DISTANCE_MAX).contains(&height) => {
            return Some(format!(
                "what it sees must be {NEAR_MIN} to {VIEW_DISTANCE_MAX} metres high, got {height:e}"
            ));
        }
        _ => {}
    }
    let least = camera.vertical_fov.is_none() || near >= NEAR_MIN;
    let within = near.abs() <= VIEW_DISTANCE_MAX && far.abs() <= VIEW_DISTANCE_MAX;
    (!least || !within || far.partial_cmp(&near) != Some(Ordering::Greater)).then(|| {
        format!(
            "its near distance must be above 0 in perspective (at least {NEAR_MIN}) and less than \
             its far one, both at most {VIEW_DISTANCE_MAX} metres, got {near} and {far}"
        )
    })
}

fn is_light(light: &LightData) -> bool {
    let LightData { color, intensity, range, inner, outer, .. } = *light;
    let numbers = [intensity, range, inner, outer];
    numbers.iter().chain(&color).all(|number| number.is_finite() && *number >= 0.0)
        && inner <= outer
        && outer <= FRAC_PI_2
}

fn is_skin(skin: &SkinData, nodes: usize) -> bool {
    let SkinData { joints, inverse_bind, .. } = skin;
    joints.len() <= JOINTS_MAX
        && joints.iter().all(|joint| (*joint as usize) < nodes)
        && (inverse_bind.is_empty() || inverse_bind.len() == joints.len())
        && inverse_bind.iter().all(|matrix| finite(matrix))
}

fn is_channel(channel: &AnimationChannel, model: &ModelData) -> bool {
    let AnimationChannel { node, track, between, times, values } = channel;
    let values_of_slots = || {
        model
            .sprite_skeleton
            .as_ref()
            .map_or(0, |sprite_skeleton| sprite_skeleton.part_value(sprite_skeleton.slots.len()))
    };
    if *track == ChannelTarget::Slot {
        let keys = if *between == KeyInterpolation::Cubic { 3 } else { 1 };
        let complete = times.len().checked_mul(keys) == Some(values.len()) && times.is_sorted();
        let known = (*node as usize) < values_of_slots();
        return known && complete && finite(values) && finite(times);
    }
    let Some(node) = model.nodes.get(*node as usize) else { return false };
    let width = match track {
        ChannelTarget::Slot => 1,
        ChannelTarget::Position | ChannelTarget::Scale => 3,
        ChannelTarget::Rotation => 4,
        ChannelTarget::Weights => {
            node.mesh.map_or(0, |mesh| model.meshes[mesh as usize].targets.len())
        }
    };
    let keys = if *between == KeyInterpolation::Cubic { 3 } else { 1 };
    let wanted = times.len().checked_mul(width * keys);
    finite(times) && finite(values) && times.is_sorted() && wanted == Some(values.len())
}

#[cfg(test)]
mod tests {
    use super::super::data::{AnimationData, ModelLightType, ModelNode};
    use super::super::primitives;
    use super::super::sprite_skeleton::{SpriteSkeletonData, SpriteSlot};
    use super::*;
    use engine_resource::surface_lobes::SurfaceLobes;
    use std::sync::Arc;

    /// Builds a cube with one item of each type.
    fn sample() -> ModelData {
        let mut model = primitives::model("core/models/cube").expect("the engine has it");
        model.surfaces.push(SurfaceData {
            name: "wood".to_string(),
            base_color: [1.0; 4],
            metallic: 0.0,
            roughness: 0.5,
            emissive: [0.0; 3],
            normal_scale: 1.0,
            occlusion_strength: 1.0,
            alpha: SurfaceAlphaMode::Mask(0.5),
            double_sided: false,
            unlit: false,
            lobes: SurfaceLobes::NONE,
            pictures: [None; 5],
        });
        model.nodes.push(ModelNode {
            name: "lid".to_string(),
            parent: Some(0),
            ..model.nodes[0].clone()
        });
        model.cameras.push(CameraData {
            vertical_fov: Some(1.0),
            height: 0.0,
            near: 0.5,
            far: 50.0,
        });
        model.lights.push(LightData {
            kind: ModelLightType::Spot,
            color: [1.0; 3],
            intensity: 1.0,
            range: 3.0,
            inner: 0.25,
            outer: 0.5,
        });
        model.skins.push(SkinData {
            name: "skin".to_string(),
            joints: vec![0, 1],
            inverse_bind: vec![[0.0; 16]; 2],
        });
        let channel = AnimationChannel {
            node: 1,
            track: ChannelTarget::Rotation,
            between: KeyInterpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0; 8],
        };
        model.animations.push(AnimationData { name: "open".to_string(), channels: vec![channel] });
        model
    }

    #[test]
    fn models_that_no_importer_produces_are_refused() {
        assert_eq!(check(&sample()), Ok(()));
        let refused = |change: fn(&mut ModelData), wanted: &str| {
            let mut model = sample();
            change(&mut model);
            let message = check(&model).unwrap_err().message;
            assert!(message.contains(wanted), "{message}");
        };
        let message = "node 'lid' has an invalid transform";
        refused(|model| model.nodes[1].position[0] = f32::NAN, message);
        refused(|model| model.nodes[1].rotation = [0.0; 4], message);
        refused(|model| model.nodes[1].scale[2] = f32::INFINITY, message);
        refused(
            |model| model.nodes[1].name = model.nodes[0].name.clone(),
            "it is damaged: two nodes are named",
        );
        let wood = "surface 'wood': it is damaged: it has an invalid number";
        refused(|model| model.surfaces[0].roughness = 2.0, wood);
        refused(|model| model.surfaces[0].alpha = SurfaceAlphaMode::Mask(f32::NAN), wood);
        refused(
            |model| model.meshes[0].vertices[0].position[1] = f32::NAN,
            "a vertex has an invalid number",
        );
        refused(
            |model| model.meshes[0].vertices[0].uv[1] = f32::NAN,
            "a vertex has an invalid number",
        );
        refused(
            |model| model.meshes[0].vertices[0].position[1] = 1e6,
            "its box has an invalid number",
        );
        refused(|model| model.meshes[0].bounds.radius = 0.0, "its box has an invalid number");
        refused(|model| model.meshes[0].parts[0].count -= 1, "a part has an invalid number");
        refused(|model| model.meshes[0].parts[0].surface = 7, "a part has an invalid number");
        refused(|model| model.meshes[0].joints.push([0; 4]), "a joint or a morph target");
        refused(|model| model.meshes[0].targets.push(Vec::new()), "a joint or a morph target");
        refused(|model| model.cameras[0].far = 0.25, "a camera cannot see");
        refused(|model| model.cameras[0].near = f32::NAN, "a camera cannot see");
        refused(|model| model.lights[0].outer = 3.0, "a light has an invalid number");
        refused(|model| model.skins[0].joints[0] = 2, "a skin has an invalid number");
        refused(
            |model| model.animations[0].channels[0].times[0] = 2.0,
            "an animation has an invalid number",
        );
        refused(
            |model| model.animations[0].channels[0].node = 2,
            "an animation has an invalid number",
        );
        refused(
            |model| _ = model.animations[0].channels[0].values.pop(),
            "an animation has an invalid number",
        );
        refused(
            |model| model.nodes = vec![model.nodes[0].clone(); NODES_MAX + 1],
            "it has 4096 nodes, and 4095 is the most",
        );
    }

    #[test]
    fn built_in_shapes_are_valid() {
        for name in primitives::NAMES {
            assert_eq!(check(&primitives::model(name).unwrap()), Ok(()), "{name}");
        }
    }

    #[test]
    fn channels_of_slots_have_a_value_for_each_time() {
        let (name, parts) = ("a".to_string(), Vec::new());
        let slot = SpriteSlot { name, bone: 0, color: [1.0; 4], part: 0, parts };
        let (slots, skins) = (vec![slot], Vec::new());
        let sprite_skeleton =
            SpriteSkeletonData { pixels_per_metre: 1.0, upright: false, slots, skins };
        let mut model = sample();
        model.sprite_skeleton = Some(Arc::new(sprite_skeleton));
        let mut channel = model.animations[0].channels[0].clone();
        (channel.node, channel.track) = (5, ChannelTarget::Slot);
        channel.values = vec![1.0, 2.0];
        assert!(is_channel(&channel, &model));
        channel.values.pop();
        assert!(!is_channel(&channel, &model), "a value is missing");
        channel.values.push(2.0);
        channel.times.reverse();
        assert!(!is_channel(&channel, &model), "the times are not in order");
    }
}
