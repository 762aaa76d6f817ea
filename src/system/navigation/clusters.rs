//! Division of a mesh into clusters: polygons of a block of tiles, cut into halves while they are
//! too many. The blocks of a mesh stay the same, so that a tile that was built again changes the
//! clusters of its block only.

use super::mesh::{Link, NavigationMesh, area};
use engine_foundation::Vec3;

/// Maximum number of polygons of a cluster.
pub(super) const CLUSTER_POLYGONS_MAX: usize = 256;
/// Number of polygons that a block of tiles should have.
const BLOCK_POLYGONS: usize = 128;
/// Maximum number of tiles along the side of a block.
const BLOCK_TILES_MAX: usize = 16;
/// Component of closed polygons.
pub(super) const CLOSED: u16 = u16::MAX;

/// Polygon in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub cluster: u32,
    /// Number of the polygon within the cluster.
    pub local: u16,
}

/// Polygons that searches treat as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cluster {
    /// Polygons by their number within the cluster.
    pub polygons: Vec<u32>,
    /// First link of each of them.
    pub first_links: Vec<u32>,
    /// Parts of the open ground that are joined within the cluster, by polygon; [`CLOSED`] for
    /// closed polygons.
    pub components: Vec<u16>,
    pub num_components: u16,
    pub low: Vec3,
    pub high: Vec3,
    /// Area of the open polygons, in square metres.
    pub open_area: f64,
    /// Areas of its polygons, one bit each.
    pub areas: u64,
    /// True if a jump leads from one of its polygons: then ways cannot be turned around.
    pub has_jumps: bool,
}

impl NavigationMesh {
    /// Returns the number of tiles along the side of a block, so that it has enough polygons.
    pub(super) fn block_tiles(&self) -> usize {
        let used = self.tiles.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let of_tile = self.polygons.len() / used.max(1);
        let is_small = |tiles: &usize| of_tile * (tiles + 1) * (tiles + 1) <= BLOCK_POLYGONS;
        1 + (1..BLOCK_TILES_MAX).take_while(is_small).count()
    }

    /// Divides the polygons into clusters.
    pub(super) fn divide(&self, block_tiles: usize) -> Vec<Cluster> {
        let mut lists = Vec::new();
        let (columns, rows) = (self.layout.tiles_x, self.layout.tiles_y);
        let mut block = Vec::new();
        for row in (0..rows).step_by(block_tiles) {
            for column in (0..columns).step_by(block_tiles) {
                block.clear();
                for y in row..(row + block_tiles).min(rows) {
                    let first = self.tiles[y * columns + column];
                    let end = self.tiles[y * columns + (column + block_tiles).min(columns)];
                    block.extend(first..end);
                }
                self.cut(&mut block, &mut lists);
            }
        }
        lists.into_iter().map(|polygons| Cluster { polygons, ..Cluster::default() }).collect()
    }

    /// Adds polygons to the clusters: as one, or as halves of at most the same number.
    fn cut(&self, polygons: &mut [u32], lists: &mut Vec<Vec<u32>>) {
        if polygons.len() <= CLUSTER_POLYGONS_MAX {
            if !polygons.is_empty() {
                polygons.sort_unstable();
                lists.push(polygons.to_vec());
            }
            return;
        }
        let middle = |polygon: u32| {
            let of = &self.polygons[polygon as usize];
            (of.low + of.high) * 0.5
        };
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for polygon in &*polygons {
            low = low.min(middle(*polygon));
            high = high.max(middle(*polygon));
        }
        let size = high - low;
        let axis = usize::from(size.y > size.x);
        let axis = if size.z > size[axis] { 2 } else { axis };
        polygons
            .sort_unstable_by(|a, b| middle(*a)[axis].total_cmp(&middle(*b)[axis]).then(a.cmp(b)));
        let (first, second) = polygons.split_at_mut(polygons.len() / 2);
        self.cut(first, lists);
        self.cut(second, lists);
    }

    /// Finds the bounds and the connected parts of a cluster. `members` has its polygons.
    pub(super) fn examine(&self, cluster: &mut Cluster, index: u32, members: &[Member]) {
        (cluster.low, cluster.high) = (Vec3::MAX, Vec3::MIN);
        (cluster.areas, cluster.open_area, cluster.num_components) = (0, 0.0, 0);
        cluster.has_jumps = false;
        cluster.first_links.clear();
        cluster.components.clear();
        cluster.components.resize(cluster.polygons.len(), CLOSED);
        let mut stack = Vec::new();
        for local in 0..cluster.polygons.len() {
            let polygon = cluster.polygons[local];
            let of = &self.polygons[polygon as usize];
            cluster.first_links.push(of.first_link);
            cluster.low = cluster.low.min(of.low);
            cluster.high = cluster.high.max(of.high);
            cluster.areas |= 1 << of.area;
            if !self.is_open(polygon) {
                continue;
            }
            cluster.open_area += f64::from(area(self.corners(polygon)));
            cluster.has_jumps |= self.links(polygon).iter().any(Link::is_jump);
            if cluster.components[local] != CLOSED {
                continue;
            }
            let component = cluster.num_components;
            cluster.num_components += 1;
            cluster.components[local] = component;
            stack.push(polygon);
            while let Some(polygon) = stack.pop() {
                for link in self.links(polygon).iter().filter(|link| !link.is_jump()) {
                    let Member { cluster: of, local } = members[link.target as usize];
                    let local = usize::from(local);
                    if of == index
                        && self.is_open(link.target)
                        && cluster.components[local] == CLOSED
                    {
                        cluster.components[local] = component;
                        stack.push(link.target);
                    }
                }
            }
        }
    }
}
