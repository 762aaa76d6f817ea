//! Links between units: a node of one unit whose parent is a node of another unit. Usually it is
//! the first node. Other nodes are linked to make a unit follow the skeleton of another one, such
//! as clothes that follow a body. All linked nodes of a unit have their parents in the same other
//! unit.

use super::{NO_NODE, NodePose, SceneGraph, flag};
use engine_foundation::Error;

/// A linked node: its index in its unit, and its parent's index in the other unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeLink {
    pub node: usize,
    pub parent: usize,
}

impl SceneGraph {
    /// Returns the unit that nodes of a unit are linked to.
    pub(super) fn above(&self, unit: u32) -> Option<u32> {
        let run = self.runs[unit as usize];
        run.has(flag::LINKED).then_some(run.above)
    }

    /// Returns the linked nodes of a unit, and the unit that they are linked to.
    pub fn links(&self, unit: u32) -> Option<(u32, Vec<NodeLink>)> {
        let above = self.above(unit)?;
        let first = self.parent(unit, 0).map(|(_, parent)| NodeLink { node: 0, parent });
        let inner = self.inner_links.range((unit, 0)..=(unit, u16::MAX)).map(|((_, node), _)| {
            let node = usize::from(*node);
            let (_, parent) = self.parent(unit, node).expect("a linked node has a parent");
            NodeLink { node, parent }
        });
        Some((above, first.into_iter().chain(inner).collect()))
    }

    /// Links a node of a unit to a node of another unit. The local pose does not change.
    ///
    /// # Errors
    /// Returns an error if the units would be linked in a circle, or if other nodes of the unit are
    /// linked to a third unit.
    pub fn link(
        &mut self,
        (child, child_node): (u32, usize),
        (parent, node): (u32, usize),
    ) -> Result<(), Error> {
        // A unit without links to it is above no other unit, so a chain that grows at its end needs
        // no walk.
        let has_linked = child == parent || self.runs[child as usize].has(flag::HAS_LINKED);
        let mut above = has_linked.then_some(parent);
        while let Some(unit) = above {
            if unit == child {
                return Err(engine_foundation::error!(
                    "the parent is already linked to the child: a unit cannot be linked to itself"
                ));
            }
            above = self.above(unit);
        }
        if let Some((above, links)) = self.links(child)
            && above != parent
            && links.iter().any(|link| link.node != child_node)
        {
            return Err(engine_foundation::error!(
                "other nodes of the child are linked to another unit, and a unit follows one unit: \
                 World.unlink_unit first"
            ));
        }
        self.detach(child, child_node);
        let (at, to) = (self.at(child, child_node), self.at(parent, node));
        if child_node > 0 {
            let first = self.runs[child as usize].first;
            let original = match self.parent[at] {
                NO_NODE => NO_NODE,
                parent => parent - first,
            };
            self.inner_links.insert((child, child_node as u16), original);
        }
        self.parent[at] = to as u32;
        let run = &mut self.runs[child as usize];
        run.above = parent;
        run.flags |= flag::LINKED;
        self.linked.insert((parent, child));
        self.runs[parent as usize].flags |= flag::HAS_LINKED;
        self.mark_outdated(child);
        Ok(())
    }

    /// Unlinks all nodes of a unit. They keep their world poses, as far as nodes between them allow
    /// it. A node whose new local pose exceeds the range of floats keeps its local pose instead.
    pub fn unlink(&mut self, child: u32) {
        let Some((_, links)) = self.links(child) else { return };
        let poses: Vec<_> = links.iter().map(|link| self.world(child, link.node)).collect();
        for link in &links {
            self.detach(child, link.node);
        }
        // Parents are first, so that each node is placed below a parent that is in place.
        for (link, world) in links.iter().zip(poses) {
            let local = match self.parent(child, link.node) {
                None => world,
                Some((unit, parent)) => self.world(unit, parent).inverse() * world,
            };
            let pose = NodePose::of(local);
            let kept = if pose.is_finite() { pose } else { self.local(child, link.node) };
            self.set_local(child, link.node, &kept);
        }
    }

    /// Gives a linked node its own parent again. Its local pose does not change.
    fn detach(&mut self, child: u32, node: usize) {
        let Some(above) = self.above(child) else { return };
        let at = self.at(child, node);
        if node == 0 {
            self.parent[at] = NO_NODE;
        } else if let Some(original) = self.inner_links.remove(&(child, node as u16)) {
            let first = self.runs[child as usize].first;
            self.parent[at] = if original == NO_NODE { NO_NODE } else { first + original };
        } else {
            return;
        }
        let run = self.runs[child as usize];
        let is_linked = self.parent[run.first as usize] != NO_NODE
            || self.inner_links.range((child, 0)..=(child, u16::MAX)).next().is_some();
        self.mark_outdated(child);
        if is_linked {
            return;
        }
        self.runs[child as usize].flags &= !flag::LINKED;
        self.linked.remove(&(above, child));
        if self.linked_to(above).next().is_none() {
            self.runs[above as usize].flags &= !flag::HAS_LINKED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec3;

    fn at(x: f32) -> NodePose {
        NodePose { position: Vec3::new(x, 0.0, 0.0), ..NodePose::IDENTITY }
    }

    /// A body with the nodes root, hip and hand, and clothes with root and two bones in a chain.
    fn dressed() -> SceneGraph {
        let mut graph = SceneGraph::default();
        graph.add(0, &[NO_NODE, 0, 1], &[at(10.0), at(1.0), at(2.0)]).unwrap();
        graph.add(1, &[NO_NODE, 0, 1], &[at(0.0), at(0.5), at(0.25)]).unwrap();
        graph.add(2, &[NO_NODE], &[at(0.0)]).unwrap();
        graph
    }

    fn x(graph: &mut SceneGraph, unit: u32, node: usize) -> f32 {
        graph.world_position(unit, node).x
    }

    #[test]
    fn inner_nodes_follow_nodes_of_another_unit() {
        let mut graph = dressed();
        graph.link((1, 0), (0, 0)).unwrap();
        graph.link((1, 2), (0, 2)).unwrap();
        assert_eq!([0, 1, 2].map(|node| x(&mut graph, 1, node)), [10.0, 10.5, 13.25]);
        graph.set_local_position(0, 2, Vec3::new(5.0, 0.0, 0.0));
        assert_eq!(x(&mut graph, 1, 2), 16.25, "the unit is marked with the one above it");
        assert_eq!(graph.parent(1, 1), Some((1, 0)));
        assert_eq!(graph.parent(1, 2), Some((0, 2)));
        let links = [(0, 0), (2, 2)].map(|(node, parent)| NodeLink { node, parent });
        assert_eq!(graph.links(1), Some((0, links.to_vec())));
    }

    #[test]
    fn unlinked_nodes_keep_world_poses_and_get_their_parents_back() {
        let mut graph = dressed();
        graph.link((1, 2), (0, 2)).unwrap();
        graph.link((1, 1), (0, 1)).unwrap();
        let before = [0, 1, 2].map(|node| x(&mut graph, 1, node));
        graph.unlink(1);
        assert_eq!([0, 1, 2].map(|node| x(&mut graph, 1, node)), before);
        assert_eq!((graph.parent(1, 1), graph.parent(1, 2)), (Some((1, 0)), Some((1, 1))));
        assert_eq!(graph.links(1), None);
        graph.set_local_position(0, 0, Vec3::ZERO);
        assert_eq!([0, 1, 2].map(|node| x(&mut graph, 1, node)), before);
    }

    #[test]
    fn a_unit_follows_one_unit_and_not_itself() {
        let mut graph = dressed();
        graph.link((1, 2), (0, 2)).unwrap();
        let message = graph.link((1, 0), (2, 0)).unwrap_err().message;
        assert!(message.contains("World.unlink_unit first"), "{message}");
        let message = graph.link((0, 1), (1, 0)).unwrap_err().message;
        assert!(message.contains("already linked to the child"), "{message}");
        let message = graph.link((0, 1), (0, 0)).unwrap_err().message;
        assert!(message.contains("cannot be linked to itself"), "{message}");
        graph.unlink(1);
        graph.link((1, 0), (2, 0)).unwrap();
        graph.link((1, 0), (0, 0)).unwrap();
        assert_eq!(graph.links(1).unwrap().0, 0, "the root alone can change its parent");
    }

    #[test]
    fn removed_parents_release_inner_nodes() {
        let mut graph = dressed();
        graph.link((1, 1), (0, 2)).unwrap();
        let before = x(&mut graph, 1, 2);
        graph.remove(0);
        assert_eq!((graph.links(1), x(&mut graph, 1, 2)), (None, before));
        graph.add(0, &[NO_NODE, 0, 1], &[at(0.0); 3]).unwrap();
        assert_eq!(x(&mut graph, 1, 2), before);
    }
}
