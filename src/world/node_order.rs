//! Topological order of a unit's nodes: parents first, independent of the order in the file.
//! Independent of the components attached to nodes.

use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, suggest};
use std::collections::HashMap;

fn parent_of(fields: &SjsonTree) -> &str {
    match fields.get("parent") {
        Some(SjsonTree::String(parent)) => parent,
        _ => "root",
    }
}

/// Returns the nodes except the root in an order with parents first, each with the index of its
/// parent. The root has index 0 and the first of these nodes has index 1. The order is that of
/// repeated passes over the file, where each pass takes the nodes with parents that were taken
/// earlier.
pub fn parents_first(nodes: &[(String, SjsonTree)]) -> Result<Vec<(usize, u32)>, Error> {
    const ROOT: usize = usize::MAX;
    let known = nodes.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at));
    let known: HashMap<&str, usize> = known.collect();
    let above = |at: usize| match parent_of(&nodes[at].1) {
        "root" => Some(ROOT),
        parent => known.get(parent).copied(),
    };
    // The pass that takes each node. A node is marked as seen before its pass is known.
    let mut passes: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut visited = vec![false; nodes.len()];
    for start in 0..nodes.len() {
        let (mut way, mut at) = (Vec::new(), Some(start));
        while let Some(node) = at.filter(|node| *node != ROOT && !visited[*node]) {
            visited[node] = true;
            way.push(node);
            at = above(node);
        }
        // The root or a node that was taken; otherwise nothing, or a node on the current path,
        // which has no pass yet.
        let mut taken = match at {
            Some(ROOT) => Some((0, ROOT)),
            Some(node) => passes[node].map(|pass| (pass, node)),
            None => None,
        };
        for node in way.into_iter().rev() {
            let later =
                |(pass, before)| if before == ROOT || before < node { pass } else { pass + 1 };
            passes[node] = taken.map(later);
            taken = passes[node].map(|pass| (pass, node));
        }
    }
    let others = || (0..nodes.len()).filter(|node| nodes[*node].0 != "root");
    if others().any(|node| passes[node].is_none()) {
        let lone: Vec<_> = others().filter(|node| passes[*node].is_none()).collect();
        return Err(unreachable_error(
            &lone.into_iter().map(|node| &nodes[node]).collect::<Vec<_>>(),
            nodes,
        ));
    }
    let mut order: Vec<usize> = others().collect();
    order.sort_by_key(|node| passes[*node]);
    let mut positions = vec![0; nodes.len()];
    for (at, node) in order.iter().enumerate() {
        positions[*node] = at as u32 + 1;
    }
    let parent =
        |node: usize| above(node).filter(|above| *above != ROOT).map_or(0, |at| positions[at]);
    Ok(order.iter().map(|node| (*node, parent(*node))).collect())
}

/// Returns the error for nodes without a path to the root: a parent is missing, or the nodes form a
/// cycle.
fn unreachable_error(waiting: &[&(String, SjsonTree)], nodes: &[(String, SjsonTree)]) -> Error {
    let is_node = |name: &str| nodes.iter().any(|(node, _)| node == name);
    let missing = waiting.iter().find(|(_, fields)| !is_node(parent_of(fields)));
    if let Some((node, fields)) = missing {
        let parent = parent_of(fields);
        let near = suggest::hint(parent, nodes.iter().map(|(node, _)| node.as_str()));
        return engine_foundation::error!(
            "node '{node}' has the parent '{parent}', which does not exist{near}: name another \
             node, or leave 'parent' out for the root"
        );
    }
    // All parents exist, so a walk upwards returns to its start.
    let mut circle = vec![waiting[0].0.clone()];
    loop {
        let last = circle[circle.len() - 1].clone();
        let above = nodes.iter().find(|(node, _)| *node == last);
        let above = above.map_or("root".to_string(), |(_, fields)| parent_of(fields).to_string());
        if let Some(first) = circle.iter().position(|known| *known == above) {
            let circle = [&circle[first..], &[above]].concat().join(" → ");
            return engine_foundation::error!(
                "nodes are each other's parents: {circle}: leave out one 'parent'"
            );
        }
        circle.push(above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the order by actual passes over the file.
    fn by_passes(nodes: &[(String, SjsonTree)]) -> Vec<(usize, u32)> {
        let (mut order, mut taken) = (Vec::new(), vec!["root".to_string()]);
        while order.len() < nodes.len() {
            for (at, (name, fields)) in nodes.iter().enumerate() {
                let parent = taken.iter().position(|known| known == parent_of(fields));
                if let Some(parent) = parent.filter(|_| !taken.contains(name)) {
                    taken.push(name.clone());
                    order.push((at, parent as u32));
                }
            }
        }
        order
    }

    #[test]
    fn parents_precede_their_children() {
        let mut random = engine_foundation::random::Random::seed(3);
        for count in 0..60 {
            // A tree with its nodes in random order.
            let mut names: Vec<i64> = (0..count).collect();
            for at in (1..names.len()).rev() {
                names.swap(at, random.range_i64(0, at as i64) as usize);
            }
            let mut node = |at: usize| {
                let fields = match random.range_i64(-1, at as i64 - 1) {
                    -1 => Vec::new(),
                    above => {
                        let above = SjsonTree::String(names[above as usize].to_string());
                        vec![("parent".to_string(), above)]
                    }
                };
                (names[at].to_string(), SjsonTree::Object(fields))
            };
            let mut nodes: Vec<_> = (0..names.len()).map(&mut node).collect();
            nodes.sort_by_key(|(name, _)| name.parse::<i64>().unwrap());
            assert_eq!(parents_first(&nodes).unwrap(), by_passes(&nodes));
        }
    }
}
