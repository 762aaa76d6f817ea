//! Respawn of a unit after a hot reload: its nodes and components are replaced by those of the
//! newest version of its resource. Its handle, world, pose and links stay. The data and the script
//! components of units are in the prelude (lua/world/respawn.lua).

use super::Engine;
use engine_foundation::Error;
use engine_world::scene_graph::{NodeLink, NodePose, SceneGraph};
use engine_world::unit::{UnitId, Units};
use engine_world::unit_resource::UnitResource;
use std::sync::Arc;

/// Location that messages about handles of the old components show.
const LOCATION: &str = "a hot reload of its unit";

/// Links of another unit to the unit's nodes, each with the local pose of the linked node.
struct LinkedChild {
    row: u32,
    links: Vec<(NodeLink, NodePose)>,
}

impl Engine {
    /// Replaces the nodes and components of a unit by those of a resource.
    ///
    /// # Errors
    /// Returns an error if there are too many objects. The unit has no components then, and must be
    /// destroyed.
    pub fn respawn_unit(
        &mut self,
        unit: UnitId,
        resource: &Arc<UnitResource>,
    ) -> Result<(), Error> {
        let begins = self.worlds.decal_begins(unit);
        self.end_components(unit, LOCATION);
        let old = self.worlds.units.of(unit).resource.clone();
        replace_nodes(&mut self.worlds.units, unit, resource)?;
        let new_node = |node: u32| new_index(&old, resource, node as usize) as u32;
        for (_, effect) in self.worlds.particles.slots_mut().iter_mut() {
            if let Some(link) = effect.link.as_mut().filter(|link| link.unit == unit.0) {
                link.node = new_node(link.node);
            }
        }
        for voice in self.devices.sounds.voices.voices.iter_mut().flatten() {
            if let Some((_, node)) = voice.owner.as_mut().filter(|(owner, _)| *owner == unit.0) {
                *node = new_node(*node);
            }
        }
        let world = self.worlds.units.of(unit).world;
        let spawned = self.spawn_components(world, unit, resource);
        self.worlds.set_decal_begins(unit, &begins);
        self.worlds.assign_new_scene_textures(&mut self.assets);
        spawned
    }
}

/// Returns the node of the new resource that has the name of a node of the old one; the root if
/// there is none.
fn new_index(old: &UnitResource, new: &UnitResource, node: usize) -> usize {
    let name = old.node_names.get(node).map_or("", String::as_str);
    new.node_names.iter().position(|other| other == name).unwrap_or(0)
}

/// Replaces the nodes of a unit. Its root keeps its pose and its parent, and linked units keep
/// their poses relative to the nodes of the same names.
fn replace_nodes(
    units: &mut Units,
    unit: UnitId,
    resource: &Arc<UnitResource>,
) -> Result<(), Error> {
    let (row, old) = (unit.row(), units.of(unit).resource.clone());
    let scene = &mut units.scene;
    let (root, own_links) = (scene.local(row, 0), scene.links(row));
    let with_poses = |scene: &SceneGraph, row: u32, links: Vec<NodeLink>| {
        let pose = |link: NodeLink| (link, scene.local(row, link.node));
        links.into_iter().map(pose).collect::<Vec<_>>()
    };
    let children = scene.linked_to(row).filter_map(|child| {
        let (_, links) = scene.links(child)?;
        Some(LinkedChild { row: child, links: with_poses(scene, child, links) })
    });
    let children: Vec<LinkedChild> = children.collect();
    let own_links = own_links.map(|(above, links)| (above, with_poses(scene, row, links)));
    scene.remove(row);
    let added = scene.add(row, &resource.parents, &resource.poses);
    let current = match added {
        Ok(()) => resource,
        // The nodes that were just removed fit again.
        Err(_) => {
            scene.add(row, &old.parents, &old.poses)?;
            &old
        }
    };
    scene.set_local(row, 0, &root);
    if let Some((above, links)) = own_links {
        for (link, pose) in links {
            // A linked node that the new resource lacks is no longer linked.
            let node = new_index(&old, current, link.node);
            if node == 0 && link.node > 0 {
                continue;
            }
            scene.link((row, node), (above, link.parent))?;
            scene.set_local(row, node, &pose);
        }
    }
    for child in children {
        for (link, pose) in child.links {
            let parent = new_index(&old, current, link.parent);
            scene.link((child.row, link.node), (row, parent))?;
            scene.set_local(child.row, link.node, &pose);
        }
    }
    let current = current.clone();
    if let Some(slot) = units.slots.get_mut(unit.0) {
        slot.resource = current;
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson::SjsonTree;
    use engine_foundation::{HandleKind, Slots, Vec3};
    use engine_world::WorldId;
    use engine_world::scene_graph::NO_NODE;

    fn resource(names: &[&str]) -> Arc<UnitResource> {
        let moved = NodePose { position: Vec3::X, ..NodePose::IDENTITY };
        Arc::new(UnitResource {
            name: "rat".to_string(),
            node_names: names.iter().map(ToString::to_string).collect(),
            node_hashes: Vec::new(),
            parents: (0..names.len()).map(|at| if at == 0 { NO_NODE } else { 0 }).collect(),
            poses: vec![moved; names.len()],
            parts: Vec::new(),
            flow: None,
            body_hash: 0,
            data: SjsonTree::Object(Vec::new()),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: Default::default(),
        })
    }

    #[test]
    fn pose_and_links_of_a_respawned_unit_stay() {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut units = Units::default();
        let mut spawn = |names: &[&str], x: f32| {
            let pose = NodePose { position: Vec3::new(x, 0.0, 0.0), ..NodePose::IDENTITY };
            units.spawn(world, &resource(names), &pose).unwrap()
        };
        let (above, rat) = (spawn(&["root", "hook"], 5.0), spawn(&["root", "head", "tail"], 2.0));
        let (hat, flea) = (spawn(&["root"], 1.0), spawn(&["root"], 3.0));
        units.scene.link((rat.row(), 0), (above.row(), 1)).unwrap();
        units.scene.link((hat.row(), 0), (rat.row(), 1)).unwrap();
        units.scene.link((flea.row(), 0), (rat.row(), 2)).unwrap();
        // The head has another index, and the tail is gone.
        replace_nodes(&mut units, rat, &resource(&["root", "ear", "neck", "head"])).unwrap();
        let scene = &units.scene;
        assert_eq!(scene.count(rat.row()), 4);
        assert_eq!(scene.parent(rat.row(), 0), Some((above.row(), 1)));
        assert_eq!(scene.local_position(rat.row(), 0).x, 2.0);
        assert_eq!(scene.parent(hat.row(), 0), Some((rat.row(), 3)));
        assert_eq!(scene.local_position(hat.row(), 0).x, 1.0);
        assert_eq!(scene.parent(flea.row(), 0), Some((rat.row(), 0)));
        assert_eq!(units.of(rat).resource.node_names.len(), 4);
    }
}
