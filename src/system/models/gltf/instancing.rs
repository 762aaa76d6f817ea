//! Nodes whose mesh is drawn many times (EXT_mesh_gpu_instancing): each instance becomes a child
//! node of its own.

use super::accessor::GltfSource;
use super::fields::ExtensionFields;
use crate::validate::NODES_MAX;
use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::accessor::Type;
use gltf::json::scene::{Node, UnitQuaternion};
use gltf::json::{Index, Mesh, Root};
use std::collections::HashMap;

const NAME: &str = "EXT_mesh_gpu_instancing";

/// Maximum number of bytes in the name of a node that is drawn many times: each instance repeats
/// the name.
pub const INSTANCED_NAME_BYTES_MAX: usize = 1024;

/// Meshes of the nodes that are drawn many times, by node of the file. Their instances have the
/// meshes now.
pub type InstancedMeshes = HashMap<usize, Option<Index<Mesh>>>;

/// Instances of a node's mesh.
struct NodeInstances {
    node: usize,
    positions: Option<Vec<[f32; 3]>>,
    rotations: Option<Vec<[f32; 4]>>,
    scales: Option<Vec<[f32; 3]>>,
    count: usize,
}

/// Adds a node for each instance, and returns the meshes that moved to instances.
pub fn expand(source: &mut GltfSource) -> Result<InstancedMeshes, Error> {
    let mut all = Vec::new();
    let mut nodes = source.root.nodes.len();
    for (index, node) in source.root.nodes.iter().enumerate() {
        let Some(instances) = instances(source, index, node, nodes)
            .map_err(|fault| error!("{NAME} of node {}: {}", title(node, index), fault.message))?
        else {
            continue;
        };
        nodes += instances.count;
        all.push(instances);
    }
    let add = |instances: NodeInstances| (instances.node, add(&mut source.root, instances));
    Ok(all.into_iter().map(add).collect())
}

fn title(node: &Node, index: usize) -> String {
    let name = node.name.as_ref().filter(|name| name.len() <= INSTANCED_NAME_BYTES_MAX);
    name.map_or(index.to_string(), |name| format!("'{name}'"))
}

/// Reads the instances of a node; `None` if it has none. `nodes` is the number of nodes so far.
fn instances(
    source: &GltfSource,
    index: usize,
    node: &Node,
    nodes: usize,
) -> Result<Option<NodeInstances>, Error> {
    let others = node.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|others| others.get(NAME)) else { return Ok(None) };
    let mut count = None;
    let mut accessors = [None; 3];
    for (name, accessor) in ExtensionFields::of("it", value).indices("attributes")? {
        let slot = match name {
            "TRANSLATION" => 0,
            "ROTATION" => 1,
            "SCALE" => 2,
            // Attributes that begin with an underscore are the application's own.
            _ => continue,
        };
        let accessor = usize::try_from(accessor).unwrap_or(usize::MAX);
        let own = source.count(accessor)?;
        if *count.get_or_insert(own) != own {
            return Err(error!("its attributes have different lengths: export it again"));
        }
        accessors[slot] = Some(accessor);
    }
    let Some(count) = count else { return Ok(None) };
    if nodes.saturating_add(count) > NODES_MAX {
        return Err(error!(
            "with its {count} instances the model has more than {NODES_MAX} nodes (NODES_MAX): \
             split the model, or join instances into one mesh"
        ));
    }
    let name_bytes = node.name.as_ref().map_or(0, String::len);
    if name_bytes > INSTANCED_NAME_BYTES_MAX {
        return Err(error!(
            "its name has {name_bytes} bytes, and {INSTANCED_NAME_BYTES_MAX} is the most, because \
             each instance repeats it (INSTANCED_NAME_BYTES_MAX): shorten the name"
        ));
    }
    let [positions, rotations, scales] = accessors;
    let vectors = |accessor: Option<usize>, name: &str| {
        accessor.map(|index| source.floats::<3>(index, name, Type::Vec3)).transpose()
    };
    Ok(Some(NodeInstances {
        node: index,
        positions: vectors(positions, "positions of instances")?,
        rotations: rotations
            .map(|index| source.floats::<4>(index, "rotations of instances", Type::Vec4))
            .transpose()?,
        scales: vectors(scales, "scales of instances")?,
        count,
    }))
}

/// Adds the nodes of instances, and returns the mesh that they took over.
fn add(root: &mut Root, instances: NodeInstances) -> Option<Index<Mesh>> {
    let parent = &mut root.nodes[instances.node];
    let name = parent.name.clone().unwrap_or_else(|| format!("node_{}", instances.node));
    let mesh = parent.mesh.take();
    let mut nodes = Vec::new();
    for instance in 0..instances.count {
        nodes.push(Node {
            mesh,
            name: Some(format!("{name}.{}", instance + 1)),
            translation: instances.positions.as_ref().map(|all| all[instance]),
            rotation: instances.rotations.as_ref().map(|all| UnitQuaternion(all[instance])),
            scale: instances.scales.as_ref().map(|all| all[instance]),
            ..Node::default()
        });
    }
    let first = root.nodes.len() as u32;
    let children = (first..first + nodes.len() as u32).map(Index::new);
    root.nodes[instances.node].children.get_or_insert_default().extend(children);
    root.nodes.extend(nodes);
    mesh
}
