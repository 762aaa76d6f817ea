//! The neighbourhood of a resource in the graph: what it uses and what uses it, step by step, up to
//! a number of resources. Views show this part of a large game, and never all of it.

use super::{Certainty, ContentGraph, ReferenceUse, Target};
use std::collections::{BTreeMap, HashMap};

/// Bounds and filter of a neighbourhood.
#[derive(Clone, Copy)]
pub struct NeighbourhoodOptions<'f> {
    /// Steps from a user to what it uses.
    pub uses_depth: u32,
    /// Steps from a resource to what uses it.
    pub used_by_depth: u32,
    pub nodes_max: usize,
    pub arrows_max: usize,
    /// Selects targets. Others are included only if they connect a selected one.
    pub is_selected: &'f dyn Fn(&Target) -> bool,
}

/// A resource or file of a neighbourhood.
#[derive(Clone, Debug)]
pub struct Neighbour<'g> {
    pub target: &'g Target,
    /// Steps from the middle: positive for what it uses, negative for what uses it.
    pub steps: i32,
    pub is_selected: bool,
    /// Number of resources that it uses.
    pub uses: usize,
    /// Number of resources that use it.
    pub used_by: usize,
}

/// All references from one neighbour to another, by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourArrow {
    pub from: usize,
    pub to: usize,
    /// Number of references.
    pub count: usize,
    /// The most certain of them.
    pub certainty: Certainty,
    pub first: ReferenceUse,
}

/// Part of the graph around a target, which is the first node.
#[derive(Debug)]
pub struct Neighbourhood<'g> {
    pub nodes: Vec<Neighbour<'g>>,
    pub arrows: Vec<NeighbourArrow>,
    /// Number of selected targets within the depth that exceed the number of nodes.
    pub left_out: usize,
    /// Number of arrows that exceed their number.
    pub arrows_left_out: usize,
}

/// Direction along references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseDirection {
    Uses,
    UsedBy,
}

/// A node that the search has reached, and the one from which it came.
struct ReachedNode {
    id: u32,
    steps: i32,
    parent: usize,
}

impl ContentGraph {
    /// Returns the neighbourhood of a target, or `None` if the graph does not contain it. Near
    /// targets come first, and both directions have the same share of the nodes.
    pub fn neighbourhood(
        &self,
        center: &Target,
        options: &NeighbourhoodOptions,
    ) -> Option<Neighbourhood<'_>> {
        let center = self.id_of(center)?;
        let reached = self.nodes_around(center, options);
        let (kept, left_out) = self.choose_nodes(&reached, options);
        let node = |at: &usize| {
            let ReachedNode { id, steps, .. } = reached[*at];
            let target = &self.nodes[id as usize].target;
            Neighbour {
                target,
                steps,
                is_selected: (options.is_selected)(target),
                uses: self.used_ids(id).len(),
                used_by: self.user_ids(id).len(),
            }
        };
        let nodes = kept.iter().map(node).collect();
        let ids: Vec<u32> = kept.iter().map(|at| reached[*at].id).collect();
        let (arrows, arrows_left_out) = self.arrows_between(&ids, options.arrows_max);
        Some(Neighbourhood { nodes, arrows, left_out, arrows_left_out })
    }

    /// Searches in both directions, level by level.
    fn nodes_around(&self, center: u32, options: &NeighbourhoodOptions) -> Vec<ReachedNode> {
        let depths = [options.uses_depth, options.used_by_depth];
        let mut reached = vec![ReachedNode { id: center, steps: 0, parent: 0 }];
        let mut is_known = vec![false; self.nodes.len()];
        is_known[center as usize] = true;
        let mut frontiers = [vec![0], vec![0]];
        for level in 1..=depths[0].max(depths[1]) {
            for (side, depth) in depths.into_iter().enumerate() {
                let frontier = std::mem::take(&mut frontiers[side]);
                if level > depth {
                    continue;
                }
                for parent in frontier {
                    let (ids, sign) = match side {
                        0 => (self.used_ids(reached[parent].id), 1),
                        _ => (self.user_ids(reached[parent].id), -1),
                    };
                    for id in ids {
                        if !std::mem::replace(&mut is_known[id as usize], true) {
                            frontiers[side].push(reached.len());
                            reached.push(ReachedNode { id, steps: sign * level as i32, parent });
                        }
                    }
                }
            }
            if frontiers.iter().all(Vec::is_empty) {
                break;
            }
        }
        reached
    }

    /// Chooses the nodes of a neighbourhood among those reached: selected ones, and those on the
    /// way to them. Returns also how many selected ones are left out.
    fn choose_nodes(
        &self,
        reached: &[ReachedNode],
        options: &NeighbourhoodOptions,
    ) -> (Vec<usize>, usize) {
        let side = |is_used: bool| {
            let nodes = reached.iter().enumerate().skip(1);
            nodes.filter(move |(_, node)| (node.steps > 0) == is_used).map(|(at, _)| at)
        };
        let (mut used, mut users) = (side(true), side(false));
        let mut is_kept = vec![false; reached.len()];
        is_kept[0] = true;
        let (mut kept, mut left_out) = (vec![0], 0);
        loop {
            let (one, other) = (used.next(), users.next());
            if one.is_none() && other.is_none() {
                break;
            }
            for at in one.into_iter().chain(other) {
                let target = &self.nodes[reached[at].id as usize].target;
                if !(options.is_selected)(target) {
                    continue;
                }
                let (mut path, mut on_path) = (Vec::new(), at);
                while !is_kept[on_path] {
                    path.push(on_path);
                    on_path = reached[on_path].parent;
                }
                if kept.len() + path.len() > options.nodes_max {
                    left_out += 1;
                    continue;
                }
                path.iter().for_each(|at| is_kept[*at] = true);
                kept.extend(path.into_iter().rev());
            }
        }
        (kept, left_out)
    }

    fn arrows_between(&self, ids: &[u32], most: usize) -> (Vec<NeighbourArrow>, usize) {
        let indices: HashMap<u32, usize> =
            ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        let (mut arrows, mut left_out) = (Vec::new(), 0);
        for (from, id) in ids.iter().enumerate() {
            let mut by_target: BTreeMap<usize, NeighbourArrow> = BTreeMap::new();
            for edge in self.edges_from(*id) {
                let Some(to) = indices.get(&edge.to) else { continue };
                let certainty = self.reference(edge.at).certainty;
                let new = NeighbourArrow { from, to: *to, count: 0, certainty, first: edge.at };
                let arrow = by_target.entry(*to).or_insert(new);
                arrow.count += 1;
                arrow.certainty = arrow.certainty.min(certainty);
            }
            let room = most.saturating_sub(arrows.len());
            left_out += by_target.len().saturating_sub(room);
            arrows.extend(by_target.into_values().take(room));
        }
        (arrows, left_out)
    }

    /// Returns the nodes that a node uses, each once, without itself.
    fn used_ids(&self, id: u32) -> Vec<u32> {
        let mut ids: Vec<u32> = self.edges_from(id).map(|edge| edge.to).collect();
        ids.dedup();
        ids.retain(|used| *used != id);
        ids
    }

    /// Returns the nodes that use a node, each once, without itself.
    fn user_ids(&self, id: u32) -> Vec<u32> {
        let from = self.edges.partition_point(|edge| edge.to < id);
        let uses = self.edges[from..].iter().take_while(|edge| edge.to == id);
        let mut ids: Vec<u32> = uses.map(|edge| edge.from).collect();
        ids.dedup();
        ids.retain(|user| *user != id);
        ids
    }

    /// Returns how many targets a target uses, and how many use it.
    pub fn use_counts(&self, target: &Target) -> [usize; 2] {
        self.id_of(target).map_or([0, 0], |id| [self.used_ids(id).len(), self.user_ids(id).len()])
    }

    /// Returns the number of targets that can be reached in a direction, and their size in bytes,
    /// both without the target itself.
    pub fn reached_size(&self, target: &Target, direction: UseDirection) -> (usize, u64) {
        let Some(start) = self.id_of(target) else { return (0, 0) };
        let mut is_reached = vec![false; self.nodes.len()];
        is_reached[start as usize] = true;
        let (mut open, mut count, mut bytes) = (vec![start], 0, 0);
        while let Some(id) = open.pop() {
            let next = match direction {
                UseDirection::Uses => self.used_ids(id),
                UseDirection::UsedBy => self.user_ids(id),
            };
            for id in next {
                if !std::mem::replace(&mut is_reached[id as usize], true) {
                    let files = &self.nodes[id as usize].files;
                    bytes += files.iter().map(|file| self.files[*file].state.size).sum::<u64>();
                    count += 1;
                    open.push(id);
                }
            }
        }
        (count, bytes)
    }

    /// Returns the certain references that name nothing.
    pub fn missing_uses(&self) -> &[ReferenceUse] {
        &self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game_for_tests::TestGame;
    use engine_resource::resource_name::ResourceName;

    fn target(name: &str) -> Target {
        Target::Resource(ResourceName::parse(name).unwrap())
    }

    fn options<'f>(depths: [u32; 2], most: usize) -> NeighbourhoodOptions<'f> {
        NeighbourhoodOptions {
            uses_depth: depths[0],
            used_by_depth: depths[1],
            nodes_max: most,
            arrows_max: 100,
            is_selected: &|_| true,
        }
    }

    /// A level of three houses with one material and its texture.
    fn houses() -> (TestGame, ContentGraph) {
        let house = "materials = { wall = \"brick\" }";
        let game = TestGame::new(&[
            ("town.level", "units = { a = { unit = \"h1\" } b = { unit = \"h2\" } }"),
            ("h1.unit", house),
            ("h2.unit", house),
            ("h3.unit", house),
            ("brick.material", "textures = { color = \"stone\" bump = \"stone\" }"),
            ("stone.png", "12345"),
        ]);
        let graph = game.graph();
        (game, graph)
    }

    fn names(found: &Neighbourhood) -> Vec<String> {
        found.nodes.iter().map(|node| format!("{} {}", node.steps, node.target)).collect()
    }

    #[test]
    fn neighbourhood_has_both_directions_step_by_step() {
        let (_game, graph) = houses();
        let brick = target("brick.material");
        let found = graph.neighbourhood(&brick, &options([1, 1], 100)).unwrap();
        assert_eq!(
            names(&found),
            ["0 brick.material", "1 stone.texture", "-1 h1.unit", "-1 h2.unit", "-1 h3.unit"]
        );
        assert_eq!(found.left_out, 0);
        assert_eq!((found.nodes[0].uses, found.nodes[0].used_by), (1, 3));
        // Two references to the same texture are one arrow.
        let arrow = found.arrows.iter().find(|arrow| arrow.to == 1).unwrap();
        assert_eq!((arrow.from, arrow.count, arrow.certainty), (0, 2, Certainty::Certain));
        let far = graph.neighbourhood(&target("stone.texture"), &options([9, 9], 100)).unwrap();
        assert_eq!(names(&far).last().unwrap(), "-3 town.level");
        assert_eq!(graph.use_counts(&brick), [1, 3]);
        assert!(graph.neighbourhood(&target("none.unit"), &options([1, 1], 9)).is_none());
    }

    #[test]
    fn bounds_keep_near_targets_and_count_the_others() {
        let (_game, graph) = houses();
        let found = graph.neighbourhood(&target("brick.material"), &options([9, 9], 3)).unwrap();
        assert_eq!(names(&found), ["0 brick.material", "1 stone.texture", "-1 h1.unit"]);
        assert_eq!(found.left_out, 3);
        let few = NeighbourhoodOptions { arrows_max: 1, ..options([9, 9], 100) };
        let found = graph.neighbourhood(&target("brick.material"), &few).unwrap();
        assert_eq!((found.arrows.len(), found.arrows_left_out), (1, 5));
    }

    #[test]
    fn filters_keep_the_way_to_selected_targets() {
        let (_game, graph) = houses();
        let is_level =
            |it: &Target| matches!(it, Target::Resource(resource) if resource.kind == "level");
        let wanted = NeighbourhoodOptions { is_selected: &is_level, ..options([9, 9], 100) };
        let found = graph.neighbourhood(&target("stone.texture"), &wanted).unwrap();
        let mut listed = names(&found);
        listed.sort();
        assert_eq!(listed, ["-1 brick.material", "-2 h1.unit", "-3 town.level", "0 stone.texture"]);
        let selected = found.nodes.iter().filter(|node| node.is_selected).count();
        assert_eq!((selected, found.left_out), (1, 0));
    }

    #[test]
    fn reached_sizes_count_each_target_once() {
        let (_game, graph) = houses();
        let level = target("town.level");
        let (count, bytes) = graph.reached_size(&level, UseDirection::Uses);
        assert_eq!(count, 4);
        let house = "materials = { wall = \"brick\" }".len() as u64;
        let material = "textures = { color = \"stone\" bump = \"stone\" }".len() as u64;
        assert_eq!(bytes, 2 * house + material + 5);
        assert_eq!(graph.reached_size(&target("stone.texture"), UseDirection::UsedBy).0, 5);
        assert_eq!(graph.reached_size(&target("none.unit"), UseDirection::Uses), (0, 0));
    }

    #[test]
    fn rings_end() {
        let game = TestGame::new(&[
            ("a.unit", "inherit = \"b\""),
            ("b.unit", "inherit = \"a\""),
            ("c.unit", "inherit = \"c\""),
        ]);
        let graph = game.graph();
        let found = graph.neighbourhood(&target("a.unit"), &options([64, 64], 100)).unwrap();
        assert_eq!(names(&found), ["0 a.unit", "1 b.unit"]);
        assert_eq!(found.arrows.len(), 2);
        let own = graph.neighbourhood(&target("c.unit"), &options([64, 64], 100)).unwrap();
        assert_eq!((own.nodes.len(), own.arrows.len()), (1, 1));
    }
}
