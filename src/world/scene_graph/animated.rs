//! Nodes that animation moves. Their local poses stay in the pose of the skeleton until somebody
//! reads the world pose of one of them, so that characters whose nodes nobody reads cost nothing
//! here. Local poses are read from the pose directly.

use super::{NodePose, SceneGraph, flag};
use crate::animation::CharacterPose;
use engine_animation::{BoneTransform, Pose};
use std::sync::Arc;

/// Poses of the animated nodes of a unit.
#[derive(Default)]
pub(super) struct AnimatedNodes {
    pose: Arc<CharacterPose>,
    /// Node of each bone.
    nodes: Arc<[Option<u16>]>,
    /// Bones that animation moves, one bit each.
    moved: Vec<u64>,
}

/// Pose of a skeleton with the nodes of a unit.
#[derive(Clone, Copy)]
pub struct AnimatedPose<'a> {
    pub pose: &'a Arc<CharacterPose>,
    /// Node of each bone; `None` if the unit has no such node. The first node is that of no bone,
    /// unless `is_eager`.
    pub nodes: &'a Arc<[Option<u16>]>,
    /// Bones that animation moves, one bit each.
    pub moved: &'a [u64],
    /// True if other parts of the engine follow nodes of the unit, which is then reported as moved.
    pub is_eager: bool,
}

impl AnimatedNodes {
    /// Returns the bone of a node, if animation moves it.
    fn bone(&self, node: usize) -> Option<usize> {
        let is_node = |bone: &usize| self.nodes.get(*bone) == Some(&Some(node as u16));
        // The nodes of most units are those of their skeleton, below the unit's own first node.
        let usual = node.checked_sub(1).filter(is_node);
        let bone = usual.or_else(|| (0..self.nodes.len()).find(is_node))?;
        has_bone(&self.moved, bone).then_some(bone)
    }

    /// Returns the bones of a reloaded skeleton whose nodes were moved.
    fn moved_in(&self, nodes: &[Option<u16>]) -> Vec<u64> {
        let mut bones = vec![0; nodes.len().div_ceil(64)];
        for (bone, node) in nodes.iter().enumerate() {
            if node.is_some_and(|node| self.bone(usize::from(node)).is_some()) {
                bones[bone / 64] |= 1 << (bone % 64);
            }
        }
        bones
    }

    fn local(&self, node: usize) -> Option<NodePose> {
        self.bone(node).map(|bone| node_pose(&self.pose.pose, bone))
    }
}

fn has_bone(bones: &[u64], bone: usize) -> bool {
    bones.get(bone / 64).is_some_and(|word| word & 1 << (bone % 64) != 0)
}

fn node_pose(pose: &Pose, bone: usize) -> NodePose {
    let BoneTransform { position, rotation, scale } = pose.transform(bone);
    NodePose { position, rotation, scale }
}

impl SceneGraph {
    /// Sets the local poses of the nodes that animation moves.
    pub fn set_animated_pose(&mut self, unit: u32, animated: &AnimatedPose) {
        let AnimatedPose { pose, nodes, moved, is_eager } = *animated;
        let row = unit as usize;
        if self.animated.len() <= row {
            self.animated.resize_with(row + 1, || None);
        }
        let mut known = self.animated[row].take().unwrap_or_default();
        if known.moved != moved || !Arc::ptr_eq(&known.nodes, nodes) {
            // Nodes that are not moved any more return to the poses that scripts set.
            if Arc::ptr_eq(&known.nodes, nodes) {
                self.write_nodes(unit, &pose.pose, nodes, &known.moved);
            } else {
                self.write_nodes(unit, &pose.pose, nodes, &known.moved_in(nodes));
            }
            known.nodes = nodes.clone();
            known.moved.clear();
            known.moved.extend_from_slice(moved);
            self.mark_outdated(unit);
        }
        known.pose.clone_from(pose);
        self.animated[row] = Some(known);
        let run = &mut self.runs[row];
        run.flags |= flag::POSED;
        if is_eager {
            self.write_animated(unit);
            return self.mark_outdated(unit);
        }
        run.flags |= flag::INNER_DIRTY;
        if run.has(flag::HAS_LINKED) {
            self.mark_linked(unit);
        }
    }

    /// Forgets which nodes of a unit animation moves.
    pub(super) fn forget_animated(&mut self, unit: u32) {
        self.write_animated(unit);
        if let Some(known) = self.animated.get_mut(unit as usize) {
            *known = None;
        }
    }

    /// Returns the local pose of a node if it is in the pose of the unit's skeleton.
    pub(super) fn animated_local(&self, unit: u32, node: usize) -> Option<NodePose> {
        // The first node is that of no bone while poses are lazy: it needs no search of all bones.
        if node == 0 || !self.runs[unit as usize].has(flag::POSED) {
            return None;
        }
        self.animated[unit as usize].as_ref()?.local(node)
    }

    /// Moves the local poses of a unit's nodes from the pose of its skeleton into the columns.
    pub(super) fn write_animated(&mut self, unit: u32) {
        let run = &mut self.runs[unit as usize];
        if !run.has(flag::POSED) {
            return;
        }
        run.flags &= !flag::POSED;
        let Some(known) = self.animated[unit as usize].take() else { return };
        self.write_nodes(unit, &known.pose.pose, &known.nodes, &known.moved);
        self.animated[unit as usize] = Some(known);
    }

    fn write_nodes(&mut self, unit: u32, pose: &Pose, nodes: &[Option<u16>], bones: &[u64]) {
        let run = self.runs[unit as usize];
        for (bone, node) in nodes.iter().enumerate() {
            let Some(node) = *node else { continue };
            if has_bone(bones, bone) && node < run.count {
                self.set_local_pose(run.first as usize + usize::from(node), &node_pose(pose, bone));
            }
        }
    }

    /// Computes the world pose of a unit's first node if it is outdated. Nodes that animation moves
    /// are left for those who read them.
    pub(super) fn update_root(&mut self, unit: u32) {
        let run = self.runs[unit as usize];
        if !run.has(flag::DIRTY) {
            return;
        }
        if !run.has(flag::POSED) {
            return self.update_world_poses(unit);
        }
        if let Some(above) = self.above(unit) {
            self.update_world_poses(above);
        }
        self.compute_nodes(run.first as usize..run.first as usize + 1);
        let run = &mut self.runs[unit as usize];
        run.flags = run.flags & !flag::DIRTY | flag::INNER_DIRTY;
    }
}

#[cfg(test)]
mod tests {
    use super::super::NO_NODE;
    use super::*;
    use engine_foundation::Vec3;
    use engine_foundation::tasks::TaskPool;

    const BONES: usize = 3;

    /// A unit with a root and three nodes in a chain, one above the other.
    fn graph() -> (SceneGraph, Arc<[Option<u16>]>) {
        let mut graph = SceneGraph::default();
        let pose = NodePose { position: Vec3::Z, ..NodePose::IDENTITY };
        graph.add(0, &[NO_NODE, 0, 1, 2], &[NodePose::IDENTITY, pose, pose, pose]).unwrap();
        graph.set_records_edits(0, true);
        (graph, (1..=BONES as u16).map(Some).collect())
    }

    fn at(x: f32) -> Arc<CharacterPose> {
        let bone = BoneTransform { position: Vec3::new(x, 0.0, 1.0), ..BoneTransform::IDENTITY };
        let pose = Pose::new(&[bone; BONES]);
        Arc::new(CharacterPose { pose, matrices: Vec::new() })
    }

    fn update(graph: &mut SceneGraph) -> Vec<u32> {
        let mut moved = Vec::new();
        graph.update(|_| true, &mut moved, &TaskPool::new(Some(1))).unwrap();
        moved
    }

    #[test]
    fn animated_nodes_are_read_as_if_they_were_written() {
        let (mut graph, nodes) = graph();
        update(&mut graph);
        let (pose, moved) = (at(2.0), [0b011]);
        let lazy = AnimatedPose { pose: &pose, nodes: &nodes, moved: &moved, is_eager: false };
        graph.set_animated_pose(0, &lazy);
        assert_eq!(update(&mut graph), [0], "another set of nodes is moved");
        graph.set_animated_pose(0, &lazy);
        assert!(update(&mut graph).is_empty(), "nobody follows its nodes");
        let floats: Vec<f32> = graph.floats(0).collect();
        assert_eq!(graph.local_position(0, 1), Vec3::new(2.0, 0.0, 1.0));
        assert_eq!(graph.local_position(0, 3), Vec3::Z, "not moved");
        assert_eq!(graph.world_position(0, 3), Vec3::new(4.0, 0.0, 3.0));
        assert!(!graph.runs[0].has(flag::POSED), "reading world poses has written the nodes");
        assert_eq!(graph.floats(0).collect::<Vec<f32>>(), floats);
        let eager = AnimatedPose { is_eager: true, ..lazy };
        graph.set_animated_pose(0, &eager);
        assert_eq!(update(&mut graph), [0]);
        assert_eq!(graph.floats(0).collect::<Vec<f32>>(), floats);
    }

    #[test]
    fn roots_move_without_their_animated_nodes() {
        let (mut graph, nodes) = graph();
        let (pose, moved) = (at(2.0), [0b111]);
        let lazy = AnimatedPose { pose: &pose, nodes: &nodes, moved: &moved, is_eager: false };
        graph.set_animated_pose(0, &lazy);
        for x in [1.0, 5.0] {
            graph.set_local_position(0, 0, Vec3::X * x);
            graph.set_animated_pose(0, &lazy);
            assert_eq!(update(&mut graph), [0]);
            assert_eq!(graph.world_position(0, 0), Vec3::X * x);
            assert!(graph.runs[0].has(flag::POSED), "the nodes wait");
        }
        assert_eq!(graph.world_position(0, 1), Vec3::new(7.0, 0.0, 1.0));
    }

    #[test]
    fn units_linked_to_animated_nodes_follow_them() {
        let (mut graph, nodes) = graph();
        graph.add(1, &[NO_NODE], &[NodePose::IDENTITY]).unwrap();
        graph.link((1, 0), (0, 2)).unwrap();
        for x in [1.0, 2.0, 3.0] {
            let (pose, moved) = (at(x), [0b111]);
            let lazy = AnimatedPose { pose: &pose, nodes: &nodes, moved: &moved, is_eager: false };
            graph.set_animated_pose(0, &lazy);
            assert!(update(&mut graph).contains(&1));
            assert_eq!(graph.world_position(1, 0), Vec3::new(2.0 * x, 0.0, 2.0));
        }
    }

    #[test]
    fn edits_and_smaller_sets_of_nodes_keep_the_other_poses() {
        let (mut graph, nodes) = graph();
        let (pose, moved) = (at(2.0), [0b111]);
        let lazy = AnimatedPose { pose: &pose, nodes: &nodes, moved: &moved, is_eager: false };
        graph.set_animated_pose(0, &lazy);
        graph.set_local_scale(0, 2, Vec3::splat(2.0));
        assert_eq!(graph.local(0, 2).position, Vec3::new(2.0, 0.0, 1.0));
        assert!(graph.take_edited().contains(&(0, 2)));
        let (base, fewer) = (at(0.5), [0b001]);
        graph.set_animated_pose(0, &AnimatedPose { pose: &base, moved: &fewer, ..lazy });
        assert_eq!([1, 2, 3].map(|node| graph.local_position(0, node).x), [0.5; 3]);
        graph.set_records_edits(0, false);
        assert_eq!([1, 2, 3].map(|node| graph.local_position(0, node).x), [0.5; 3]);
        graph.remove(0);
        graph.add(0, &[NO_NODE, 0], &[NodePose::IDENTITY; 2]).unwrap();
        assert_eq!(graph.local(0, 1), NodePose::IDENTITY);
    }
}
