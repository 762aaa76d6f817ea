//! Hierarchy of a mesh, for searches over long distances: clusters of polygons, the portals between
//! them, and the costs of the ways between the portals of each cluster. It is updated where the
//! mesh has changed; the result is the same as that of a hierarchy that is built for the whole
//! mesh. Connected components answer at once that a destination cannot be reached.

use super::bake::AREAS_MAX;
use super::cluster_table::Table;
use super::clusters::{CLOSED, Cluster, Member};
use super::jumps::LinkCosts;
use super::mesh::{NavigationMesh, NearestPolygon};
use super::portals::{NO_WAY, Portal, Sets};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec3, scope};
use std::collections::BTreeMap;

/// Portals for a run of edges that is as long as a block.
const PORTALS_OF_BLOCK: f32 = 3.0;
/// Distance in blocks up to which destinations are near.
const NEAR_BLOCKS: f32 = 4.0;

/// Bounds of the greed of searches. The upper one limits how much longer a path can be.
const GREED_MIN: f32 = 1.1;
const GREED_MAX: f32 = 1.2;
/// Changes for each cluster that are noted before equal ones are removed.
const CHANGES_OF_CLUSTER: usize = 2;

/// Portal as a cluster sees it. Searches enter a cluster at a side, and leave it at another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Side {
    pub point: Vec3,
    /// The side of the other cluster, and the cost of the way there; infinite if there is none.
    pub twin: u32,
    pub cross: f32,
    pub cluster: u32,
    pub polygon: u32,
    /// Number of the polygon within the cluster.
    pub local: u16,
    /// Link of the polygon by which one leaves the cluster.
    pub ordinal: u16,
}

/// Hierarchy of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hierarchy {
    /// Tiles along the side of a block; 0 until the first update.
    block_tiles: usize,
    /// Cluster of each polygon.
    pub members: Vec<Member>,
    pub clusters: Vec<Cluster>,
    /// Portals by their first cluster.
    portals: Vec<Vec<Portal>>,
    pub sides: Vec<Side>,
    /// First side of each cluster, and the number of all sides at the end.
    pub first_side: Vec<u32>,
    pub tables: Vec<Table>,
    /// First component of each cluster, and the component of the mesh to which each belongs.
    first_component: Vec<u32>,
    components: Vec<u32>,
    /// Area of the open ground of all clusters up to each one.
    pub areas: Vec<f64>,
    /// Factor by which searches take the rest of a way to be more expensive than the straight way.
    /// Above 1, they visit a part of the sides only, and paths are a little longer. It follows the
    /// ways within the clusters: the more they bend, the more sides a smaller factor would visit.
    pub greed: f32,
    /// Costs of areas and links with which it was built.
    costs: [f32; AREAS_MAX],
    link_costs: LinkCosts,
    /// True if polygons have other numbers than before.
    is_outdated: bool,
    /// Clusters that have changed.
    changed: Vec<u32>,
}

impl Default for Hierarchy {
    fn default() -> Hierarchy {
        Hierarchy {
            block_tiles: 0,
            members: Vec::new(),
            clusters: Vec::new(),
            portals: Vec::new(),
            sides: Vec::new(),
            first_side: vec![0],
            tables: Vec::new(),
            first_component: Vec::new(),
            components: Vec::new(),
            areas: Vec::new(),
            greed: GREED_MIN,
            costs: [0.0; AREAS_MAX],
            link_costs: LinkCosts::new(),
            is_outdated: true,
            changed: Vec::new(),
        }
    }
}

/// Table that is built.
struct Job {
    cluster: u32,
    fingerprint: u64,
    table: Table,
}

impl Hierarchy {
    /// Returns a hierarchy with the same blocks, to be built for the whole mesh.
    #[cfg(test)]
    pub fn like(other: &Hierarchy) -> Hierarchy {
        Hierarchy { block_tiles: other.block_tiles, ..Hierarchy::default() }
    }

    /// Has the hierarchy built again, because polygons have other numbers. Parts that are as before
    /// are kept.
    pub fn outdate(&mut self) {
        self.is_outdated = true;
        self.changed.clear();
    }

    /// Notes that a polygon was closed or opened.
    pub fn touch(&mut self, polygon: u32) {
        if !self.is_outdated {
            let cluster = self.members[polygon as usize].cluster;
            // Doors of the same cluster are often closed one after another.
            if self.changed.last() != Some(&cluster) {
                self.changed.push(cluster);
            }
            // Without updates, doors that open and close must not fill the memory.
            if self.changed.len() > self.clusters.len() * CHANGES_OF_CLUSTER {
                self.changed.sort_unstable();
                self.changed.dedup();
            }
        }
    }

    /// Returns the number of changes that are noted.
    #[cfg(test)]
    pub fn num_changed(&self) -> usize {
        self.changed.len()
    }

    /// Returns the sides of a cluster.
    pub fn sides_of(&self, cluster: u32) -> &[Side] {
        let cluster = cluster as usize;
        &self.sides[self.first_side[cluster] as usize..self.first_side[cluster + 1] as usize]
    }

    /// Returns the cluster of a polygon, with its index.
    pub fn cluster_of(&self, polygon: u32) -> (u32, &Cluster) {
        let index = self.members[polygon as usize].cluster;
        (index, &self.clusters[index as usize])
    }

    /// Returns the component of a polygon of a cluster; `None` if it is closed.
    pub fn component(&self, member: Member) -> Option<u32> {
        let cluster = &self.clusters[member.cluster as usize];
        let component = cluster.components[usize::from(member.local)];
        let first = self.first_component[member.cluster as usize];
        (component != CLOSED).then(|| self.components[first as usize + usize::from(component)])
    }

    fn update(&mut self, mesh: &NavigationMesh, pool: &TaskPool) -> Result<(), Error> {
        let mut known = BTreeMap::new();
        if self.is_outdated {
            known = self.divide(mesh);
        } else {
            self.change_costs(mesh);
        }
        self.changed.sort_unstable();
        self.changed.dedup();
        for &index in &self.changed {
            mesh.examine(&mut self.clusters[index as usize], index, &self.members);
        }
        let affected = self.affected(mesh);
        let spacing = self.spacing(mesh);
        for &index in &affected {
            self.portals[index as usize] =
                mesh.portals(index, &self.clusters, &self.members, spacing);
        }
        self.list_sides();
        self.join_components(mesh);
        self.sum_areas();
        let mut jobs = Vec::new();
        for &index in &affected {
            let of = (index, &self.clusters[index as usize]);
            let sides = (self.sides_of(index), &self.sides[..]);
            let fingerprint = mesh.fingerprint(&self.members, of, sides);
            if self.tables[index as usize].fingerprint == fingerprint {
                continue;
            }
            match known.remove(&fingerprint) {
                Some(table) => self.tables[index as usize] = table,
                None => jobs.push(Job { cluster: index, fingerprint, table: Table::default() }),
            }
        }
        let this = &*self;
        // A cluster costs as much as thousands of items of other systems.
        let tasks = pool.tasks(jobs.len() * 1000)?;
        tasks.each_slice(pool.task("navigation_hierarchy"), &mut jobs, |_, piece| {
            for job in piece {
                let of = (job.cluster, &this.clusters[job.cluster as usize]);
                let sides = (this.sides_of(job.cluster), &this.sides[..]);
                job.table = Table::new(mesh, &this.members, of, sides, job.fingerprint);
            }
            Ok(())
        })?;
        for job in jobs {
            self.tables[job.cluster as usize] = job.table;
        }
        self.greed = self.find_greed(mesh);
        self.changed.clear();
        self.is_outdated = false;
        Ok(())
    }

    fn find_greed(&self, mesh: &NavigationMesh) -> f32 {
        let sums = self
            .tables
            .iter()
            .fold((0.0, 0.0), |sums, table| (sums.0 + table.ways, sums.1 + table.distances));
        let straight = sums.1 * f64::from(mesh.least_cost());
        let bend = (sums.0 / straight) as f32;
        // It is not a number in a mesh without ways between clusters.
        if bend > GREED_MIN { bend.min(GREED_MAX) } else { GREED_MIN }
    }

    /// Divides the mesh into clusters. Returns the tables of the old ones, by fingerprint.
    fn divide(&mut self, mesh: &NavigationMesh) -> BTreeMap<u64, Table> {
        if self.block_tiles == 0 {
            self.block_tiles = mesh.block_tiles();
        }
        let tables = std::mem::take(&mut self.tables);
        let known = tables.into_iter().map(|table| (table.fingerprint, table)).collect();
        self.clusters = mesh.divide(self.block_tiles);
        let count = self.clusters.len();
        self.members.clear();
        self.members.resize(mesh.polygons.len(), Member::default());
        for (cluster, of) in (0..).zip(&self.clusters) {
            for (local, polygon) in (0..).zip(&of.polygons) {
                self.members[*polygon as usize] = Member { cluster, local };
            }
        }
        self.portals = vec![Vec::new(); count];
        self.tables = vec![Table::default(); count];
        self.changed = (0..count as u32).collect();
        self.costs = mesh.costs;
        self.link_costs.clone_from(&mesh.jumps.ways.own);
        known
    }

    /// Adds the clusters whose areas or links have other costs to those that have changed.
    fn change_costs(&mut self, mesh: &NavigationMesh) {
        let differs = |area: &usize| self.costs[*area].to_bits() != mesh.costs[*area].to_bits();
        let areas = (0..AREAS_MAX).filter(differs).fold(0u64, |areas, area| areas | 1 << area);
        if areas != 0 {
            let clusters = (0..).zip(&self.clusters);
            let touched = clusters.filter(|(_, cluster)| cluster.areas & areas != 0);
            self.changed.extend(touched.map(|(index, _)| index));
            self.costs = mesh.costs;
        }
        if self.link_costs != mesh.jumps.ways.own {
            let jumps = mesh.jumps.ways.usable.iter();
            self.changed.extend(jumps.map(|jump| self.members[jump.polygon as usize].cluster));
            self.link_costs.clone_from(&mesh.jumps.ways.own);
        }
    }

    /// Returns the clusters that have changed, and those that have ways into them.
    fn affected(&self, mesh: &NavigationMesh) -> Vec<u32> {
        if self.changed.len() == self.clusters.len() {
            return self.changed.clone();
        }
        let mut affected = self.changed.clone();
        for &index in &self.changed {
            for polygon in &self.clusters[index as usize].polygons {
                let links = mesh.links(*polygon).iter();
                let others = links.map(|link| self.members[link.target as usize].cluster);
                affected.extend(others.filter(|other| *other != index));
            }
        }
        let is_changed = |polygon: u32| {
            self.changed.binary_search(&self.members[polygon as usize].cluster).is_ok()
        };
        let jumps = mesh.jumps.ways.usable.iter().filter(|jump| is_changed(jump.target));
        affected.extend(jumps.map(|jump| self.members[jump.polygon as usize].cluster));
        affected.sort_unstable();
        affected.dedup();
        affected
    }

    /// Returns the distance between portals along the border of a cluster.
    fn spacing(&self, mesh: &NavigationMesh) -> f32 {
        let settings = mesh.settings();
        let tile = settings.cell_size * settings.tile_cells as f32;
        tile * self.block_tiles as f32 / PORTALS_OF_BLOCK
    }

    /// Lists the sides of all clusters.
    fn list_sides(&mut self) {
        let mut counts = vec![0u32; self.clusters.len() + 1];
        for portal in self.portals.iter().flatten() {
            portal.ends.iter().for_each(|end| counts[end.cluster as usize + 1] += 1);
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        self.first_side.clone_from(&counts);
        let count = counts[counts.len() - 1] as usize;
        let none = Side {
            point: Vec3::ZERO,
            twin: 0,
            cross: f32::INFINITY,
            cluster: 0,
            polygon: 0,
            local: 0,
            ordinal: NO_WAY,
        };
        self.sides.clear();
        self.sides.resize(count, none);
        for portal in self.portals.iter().flatten() {
            let at = portal.ends.map(|end| {
                counts[end.cluster as usize] += 1;
                counts[end.cluster as usize] - 1
            });
            for (end, side) in portal.ends.iter().zip([0, 1]) {
                let can_leave = end.ordinal != NO_WAY;
                self.sides[at[side] as usize] = Side {
                    point: end.point,
                    twin: at[1 - side],
                    cross: if can_leave { portal.cost } else { f32::INFINITY },
                    cluster: end.cluster,
                    polygon: self.clusters[end.cluster as usize].polygons[usize::from(end.local)],
                    local: end.local,
                    ordinal: end.ordinal,
                };
            }
        }
    }

    /// Finds the components of the mesh. Parts that a jump joins in one direction count as joined.
    fn join_components(&mut self, mesh: &NavigationMesh) {
        self.first_component.clear();
        let mut count = 0;
        for cluster in &self.clusters {
            self.first_component.push(count);
            count += u32::from(cluster.num_components);
        }
        let mut sets = Sets::new(count as usize);
        let part = |cluster: u32, local: u16| {
            let component = self.clusters[cluster as usize].components[usize::from(local)];
            let first = self.first_component[cluster as usize];
            (component != CLOSED).then_some(first as usize + usize::from(component))
        };
        for side in &self.sides {
            let twin = &self.sides[side.twin as usize];
            let parts = (part(side.cluster, side.local), part(twin.cluster, twin.local));
            if let (Some(a), Some(b)) = parts {
                sets.join(a, b);
            }
        }
        for jump in mesh.jumps.ways.usable.iter().filter(|jump| jump.cost < f32::INFINITY) {
            let [from, to] = [jump.polygon, jump.target].map(|at| self.members[at as usize]);
            if let (Some(a), Some(b)) = (part(from.cluster, from.local), part(to.cluster, to.local))
            {
                sets.join(a, b);
            }
        }
        self.components = (0..count as usize).map(|at| sets.root(at) as u32).collect();
    }

    fn sum_areas(&mut self) {
        let mut sum = 0.0;
        self.areas.clear();
        for cluster in &self.clusters {
            sum += cluster.open_area;
            self.areas.push(sum);
        }
    }
}

impl NavigationMesh {
    /// Brings the hierarchy up to date. Without it, searches visit all polygons around their start.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn update_hierarchy(&mut self, pool: &TaskPool) -> Result<(), Error> {
        if self.has_hierarchy() {
            return Ok(());
        }
        scope!("navigation_hierarchy");
        let mut hierarchy = std::mem::take(&mut self.hierarchy);
        let result = hierarchy.update(self, pool);
        self.hierarchy = hierarchy;
        result
    }

    /// Returns true if the hierarchy is up to date.
    pub(super) fn has_hierarchy(&self) -> bool {
        let hierarchy = &self.hierarchy;
        // Without a branch for each: all searches begin with this.
        let different = |(a, b): (&f32, &f32)| a.to_bits() ^ b.to_bits();
        let costs = hierarchy.costs.iter().zip(&self.costs).map(different);
        !hierarchy.is_outdated
            && hierarchy.changed.is_empty()
            && costs.fold(0, |all, of| all | of) == 0
            && hierarchy.link_costs == self.jumps.ways.own
    }

    /// Returns true if a search from polygon to polygon is likely to be the faster one.
    pub(super) fn is_near(&self, from: NearestPolygon, to: NearestPolygon) -> bool {
        let near = self.hierarchy.spacing(self) * PORTALS_OF_BLOCK * NEAR_BLOCKS;
        from.position.distance_squared(to.position) < near * near
    }

    /// Returns the memory of the hierarchy, in bytes.
    pub fn hierarchy_bytes(&self) -> usize {
        let hierarchy = &self.hierarchy;
        let of_table = |table: &Table| table.costs.len() * 4 + table.parents.len() * 2;
        let of_cluster = |cluster: &Cluster| size_of::<Cluster>() + cluster.polygons.len() * 10;
        hierarchy.tables.iter().map(of_table).sum::<usize>()
            + hierarchy.clusters.iter().map(of_cluster).sum::<usize>()
            + hierarchy.members.len() * size_of::<Member>()
            + hierarchy.sides.len() * (size_of::<Side>() + size_of::<Portal>() / 2)
    }
}
