//! Removes regions that are too small to stand on, and merges small regions with a neighbour.

use super::compact::{CompactField, NONE};
use super::regions::{BORDER, NO_REGION};
use super::{BakeCells, NULL_AREA};

/// Region while regions are merged.
#[derive(Clone, Default)]
struct RegionFacts {
    spans: usize,
    area: u8,
    touches_border: bool,
    /// Neighbours with the number of shared edges, sorted.
    neighbors: Vec<(u16, u32)>,
    /// Regions that cover a column of this one, sorted.
    overlaps: Vec<u16>,
}

/// Merges and removes regions. Those that are left are numbered from 1 without gaps.
pub(super) fn merge(field: &CompactField, regions: &mut [u16], count: usize, cells: &BakeCells) {
    let mut facts = collect(field, regions, count);
    let mut into: Vec<u16> = (0..=count as u16).collect();
    remove_islands(&facts, &mut into, cells.region_min);
    merge_small(&mut facts, &mut into, cells.region_merge);
    let mut numbers = vec![NO_REGION; count + 1];
    let mut next = 0;
    for region in regions.iter_mut().filter(|region| **region & BORDER == 0) {
        let root = root_of(&into, *region);
        if root == NO_REGION {
            *region = NO_REGION;
            continue;
        }
        if numbers[usize::from(root)] == NO_REGION {
            next += 1;
            numbers[usize::from(root)] = next;
        }
        *region = numbers[usize::from(root)];
    }
}

fn root_of(into: &[u16], mut region: u16) -> u16 {
    while into[usize::from(region)] != region {
        region = into[usize::from(region)];
    }
    region
}

fn collect(field: &CompactField, regions: &[u16], count: usize) -> Vec<RegionFacts> {
    let mut facts = vec![RegionFacts::default(); count + 1];
    let mut pairs: Vec<(u16, u16)> = Vec::new();
    for (at, &region) in regions.iter().enumerate() {
        if region == NO_REGION || region & BORDER != 0 || field.areas[at] == NULL_AREA {
            continue;
        }
        let fact = &mut facts[usize::from(region)];
        fact.spans += 1;
        fact.area = field.areas[at];
        for near in field.spans[at].neighbors.into_iter().filter(|near| *near != NONE) {
            let other = regions[near as usize];
            if other & BORDER != 0 {
                fact.touches_border = true;
            } else if other != NO_REGION && other != region {
                pairs.push((region, other));
            }
        }
        let column = field.range(field.spans[at].column as usize);
        if column.len() > 1 {
            for &other in &regions[column] {
                if other != region && other != NO_REGION && !fact.overlaps.contains(&other) {
                    fact.overlaps.push(other);
                }
            }
        }
    }
    pairs.sort_unstable();
    for pair in pairs.chunk_by(|a, b| a == b) {
        let (region, other) = pair[0];
        facts[usize::from(region)].neighbors.push((other, pair.len() as u32));
    }
    facts
}

/// Removes groups of connected regions that are smaller than `least` and leave no tile.
fn remove_islands(facts: &[RegionFacts], into: &mut [u16], least: usize) {
    let mut visited = vec![false; facts.len()];
    for first in 1..facts.len() {
        if visited[first] {
            continue;
        }
        visited[first] = true;
        let mut island = vec![first];
        let (mut spans, mut at, mut leaves) = (0, 0, false);
        while at < island.len() {
            let fact = &facts[island[at]];
            spans += fact.spans;
            leaves |= fact.touches_border;
            for (other, _) in &fact.neighbors {
                if !std::mem::replace(&mut visited[usize::from(*other)], true) {
                    island.push(usize::from(*other));
                }
            }
            at += 1;
        }
        if spans < least && !leaves {
            island.into_iter().for_each(|region| into[region] = NO_REGION);
        }
    }
}

/// Merges regions with fewer than `small` spans, the smallest ones first, each into the neighbour
/// with which it shares most edges.
fn merge_small(facts: &mut [RegionFacts], into: &mut [u16], small: usize) {
    let mut order: Vec<u16> = (1..facts.len() as u16)
        .filter(|region| {
            let fact = &facts[usize::from(*region)];
            into[usize::from(*region)] == *region && fact.spans < small
        })
        .collect();
    order.sort_by_key(|region| (facts[usize::from(*region)].spans, *region));
    for region in order {
        let own = usize::from(region);
        if into[own] != region || facts[own].spans >= small {
            continue;
        }
        let target = facts[own]
            .neighbors
            .iter()
            .filter(|(other, _)| {
                let fact = &facts[usize::from(*other)];
                fact.area == facts[own].area && !facts[own].overlaps.contains(other)
            })
            .max_by_key(|(other, edges)| (*edges, std::cmp::Reverse(*other)));
        if let Some(&(target, _)) = target {
            join(facts, region, target);
            into[own] = target;
        }
    }
}

/// Adds a region to another, and updates their neighbours.
fn join(facts: &mut [RegionFacts], region: u16, target: u16) {
    let absorbed = std::mem::take(&mut facts[usize::from(region)]);
    let add = |list: &mut Vec<(u16, u32)>, other: u16, edges: u32| match list
        .iter_mut()
        .find(|(known, _)| *known == other)
    {
        Some((_, known)) => *known += edges,
        None => list.push((other, edges)),
    };
    for (other, edges) in &absorbed.neighbors {
        let fact = &mut facts[usize::from(*other)];
        fact.neighbors.retain(|(known, _)| *known != region);
        if *other != target {
            add(&mut fact.neighbors, target, *edges);
            add(&mut facts[usize::from(target)].neighbors, *other, *edges);
        }
    }
    for other in &absorbed.overlaps {
        if other & BORDER == 0 {
            let overlaps = &mut facts[usize::from(*other)].overlaps;
            overlaps.retain(|known| *known != region);
            if !overlaps.contains(&target) {
                overlaps.push(target);
            }
        }
        let overlaps = &mut facts[usize::from(target)].overlaps;
        if !overlaps.contains(other) {
            overlaps.push(*other);
        }
    }
    let fact = &mut facts[usize::from(target)];
    fact.spans += absorbed.spans;
    fact.touches_border |= absorbed.touches_border;
}
