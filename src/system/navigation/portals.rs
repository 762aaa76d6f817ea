//! Portals between clusters: a few points on the edges that two clusters have in common, and jumps
//! from one cluster to another. Edges that follow each other and join the same parts of both
//! clusters are one way, which has a portal for each piece of a certain length.

use super::clusters::{CLOSED, Cluster, Member};
use super::mesh::{Link, NavigationMesh};
use engine_foundation::Vec3;

/// Ordinal of ways that do not exist: a jump cannot be used in the other direction.
pub(super) const NO_WAY: u16 = u16::MAX;

/// Way between two clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Portal {
    pub ends: [PortalEnd; 2],
    /// Cost of the jump by which it leads from the first end to the second; 0 for edges.
    pub cost: f32,
}

/// End of a portal in a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PortalEnd {
    pub cluster: u32,
    pub local: u16,
    /// The link of the polygon that leads to the other end, from its first one; or [`NO_WAY`].
    pub ordinal: u16,
    pub point: Vec3,
}

/// Edge that two clusters have in common.
#[derive(Clone, Copy)]
struct Border {
    /// Clusters and components that it joins: the other cluster, and the parts of both.
    joins: (u32, u16, u16),
    ends: [(u16, u16); 2],
    left: Vec3,
    right: Vec3,
}

impl Border {
    fn middle(&self) -> Vec3 {
        (self.left + self.right) * 0.5
    }

    fn length(&self) -> f32 {
        self.left.distance(self.right)
    }
}

impl NavigationMesh {
    /// Returns the portals from a cluster to those with a higher index, and its jumps to others.
    pub(super) fn portals(
        &self,
        index: u32,
        clusters: &[Cluster],
        members: &[Member],
        spacing: f32,
    ) -> Vec<Portal> {
        let cluster = &clusters[index as usize];
        let (mut borders, mut jumps) = (Vec::new(), Vec::new());
        for (local, &polygon) in (0..).zip(&cluster.polygons) {
            let component = cluster.components[usize::from(local)];
            if component == CLOSED {
                continue;
            }
            for (ordinal, link) in (0..).zip(self.links(polygon)) {
                let other = members[link.target as usize];
                if other.cluster == index || !self.can_follow(link) {
                    continue;
                }
                if let Some(jump) = self.jump(link) {
                    jumps.push(Portal {
                        ends: [
                            PortalEnd { cluster: index, local, ordinal, point: jump.start },
                            PortalEnd {
                                cluster: other.cluster,
                                local: other.local,
                                ordinal: NO_WAY,
                                point: jump.end,
                            },
                        ],
                        cost: jump.cost,
                    });
                } else if other.cluster > index {
                    let beyond = &clusters[other.cluster as usize];
                    let there = beyond.components[usize::from(other.local)];
                    borders.push(Border {
                        joins: (other.cluster, component, there),
                        ends: [(local, ordinal), (other.local, self.way_back(polygon, link))],
                        left: link.left,
                        right: link.right,
                    });
                }
            }
        }
        borders.sort_by_key(|border| (border.joins, border.ends));
        let mut portals = Vec::new();
        for of_pair in borders.chunk_by(|a, b| a.joins == b.joins) {
            self.push_runs(index, of_pair, spacing, &mut portals);
        }
        portals.append(&mut jumps);
        portals
    }

    /// Returns the link of a link's target that leads back through the same edge.
    pub(super) fn way_back(&self, polygon: u32, link: &Link) -> u16 {
        let middle = (link.left + link.right) * 0.5;
        let back = self.links(link.target).iter().enumerate();
        let back = back.filter(|(_, back)| back.target == polygon && !back.is_jump());
        let away = |back: &Link| ((back.left + back.right) * 0.5).distance_squared(middle);
        let nearest = back.min_by(|(_, a), (_, b)| away(a).total_cmp(&away(b)));
        nearest.map_or(NO_WAY, |(at, _)| at as u16)
    }

    /// Adds the portals of the edges between a part of a cluster and a part of another one.
    fn push_runs(&self, index: u32, borders: &[Border], spacing: f32, portals: &mut Vec<Portal>) {
        let step = self.settings().step + self.settings().cell_height * 2.0;
        // Edges that have a corner in common belong together.
        let mut ends: Vec<(u32, u32, f32, usize)> = Vec::with_capacity(borders.len() * 2);
        for (at, border) in borders.iter().enumerate() {
            for end in [border.left, border.right] {
                ends.push((end.x.to_bits(), end.y.to_bits(), end.z, at));
            }
        }
        ends.sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3))
        });
        let mut sets = Sets::new(borders.len());
        for pair in ends.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if (a.0, a.1) == (b.0, b.1) && b.2 - a.2 <= step {
                sets.join(a.3, b.3);
            }
        }
        let mut order: Vec<(usize, usize)> =
            (0..borders.len()).map(|at| (sets.root(at), at)).collect();
        order.sort_unstable();
        let mut run = Vec::new();
        for of_run in order.chunk_by(|a, b| a.0 == b.0) {
            run.clear();
            run.extend(of_run.iter().map(|(_, at)| borders[*at]));
            push_run(index, &mut run, spacing, portals);
        }
    }
}

/// Adds the portals of edges that follow each other: one in the middle of each piece.
fn push_run(index: u32, run: &mut [Border], spacing: f32, portals: &mut Vec<Portal>) {
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for border in &*run {
        low = low.min(border.left).min(border.right);
        high = high.max(border.left).max(border.right);
    }
    let axis = usize::from(high.y - low.y > high.x - low.x);
    run.sort_by(|a, b| {
        a.middle()[axis].total_cmp(&b.middle()[axis]).then_with(|| a.ends.cmp(&b.ends))
    });
    let total: f32 = run.iter().map(Border::length).sum();
    let pieces = (total / spacing).ceil().clamp(1.0, 64.0) as usize;
    let (mut at, mut before) = (0, 0.0);
    for piece in 0..pieces {
        let wanted = total * (piece as f32 + 0.5) / pieces as f32;
        while at + 1 < run.len() && before + run[at].length() < wanted {
            before += run[at].length();
            at += 1;
        }
        let border = &run[at];
        let forward = border.right[axis] <= border.left[axis];
        let part = ((wanted - before) / border.length().max(1e-6)).clamp(0.0, 1.0);
        let part = if pieces == 1 && run.len() == 1 { 0.5 } else { part };
        let (from, to) =
            if forward { (border.right, border.left) } else { (border.left, border.right) };
        let point = from.lerp(to, part);
        let end = |cluster: u32, (local, ordinal): (u16, u16)| PortalEnd {
            cluster,
            local,
            ordinal,
            point,
        };
        let ends = [end(index, border.ends[0]), end(border.joins.0, border.ends[1])];
        portals.push(Portal { ends, cost: 0.0 });
    }
}

/// Sets of numbers that are joined step by step.
pub(super) struct Sets {
    parents: Vec<u32>,
}

impl Sets {
    pub fn new(count: usize) -> Sets {
        Sets { parents: (0..count as u32).collect() }
    }

    /// Returns the lowest number of a set.
    pub fn root(&mut self, at: usize) -> usize {
        let mut at = at;
        while self.parents[at] as usize != at {
            self.parents[at] = self.parents[self.parents[at] as usize];
            at = self.parents[at] as usize;
        }
        at
    }

    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b) as u32;
    }
}
