//! Snapshots of meshes and of the agents on them, from which updates go on exactly as they did.
//! Meshes that were destroyed since stay destroyed, and so do agents; new ones stay. Meshes that
//! were baked again keep what they are now, and their agents go on from the ground where they were.

use super::agents::{Agent, Agents};
use super::bake::{AREAS_MAX, AreaVolume, BakeSource, HeightGrid, TileMesh};
use super::fields::Field;
use super::jumps::{JumpSettings, Jumps, LINKS_MAX};
use super::mesh::{Link, NavigationMesh, Polygon};
use super::own_costs::OwnCosts;
use super::passages::Passages;
use super::path_requests::PathRequests;
use super::platforms::Platform;
use super::rebuild::{Batch, BatchTiles};
use super::shared_targets::{SHARED_TARGETS_MAX, SharedTarget};
use super::volumes::Renumbering;
use engine_foundation::handle::{Handle, Slots};
use engine_foundation::memory::limit;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec3, log};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

/// Estimated bytes of an agent, of a polygon and a link of its path, and of what else a mesh has
/// for each polygon.
const AGENT_BYTES: usize = 2048;
const PATH_POLYGON_BYTES: usize = 8;
const POLYGON_BYTES: usize = 16;
/// Bytes of the marks of a search for each polygon.
const SEARCH_POLYGON_BYTES: usize = 32;

/// Ground of a mesh, of which the snapshots between two changes share a copy. Which polygons are
/// closed is not part of it.
#[derive(Debug)]
pub(super) struct KeptGround {
    tiles: Vec<u32>,
    polygons: Vec<Polygon>,
    corners: Vec<Vec3>,
    links: Vec<Link>,
    grids: Vec<HeightGrid>,
    heights: Vec<u16>,
    tile_meshes: Vec<TileMesh>,
    vertices: usize,
    seeds: Vec<Vec3>,
}

/// State of a mesh.
#[derive(Debug)]
struct KeptMesh {
    id: Handle,
    /// Triangles of the bake, by which one that was baked again is known.
    source: Arc<BakeSource>,
    ground: Arc<KeptGround>,
    closed: Vec<u32>,
    costs: [f32; AREAS_MAX],
    version: u32,
    jumps: Jumps,
    volumes: BTreeMap<u32, AreaVolume>,
    last_volume: u32,
    waiting: BTreeSet<usize>,
    /// Tiles that were being built, and the updates until they are swapped in.
    batch: Option<(BatchTiles, u32)>,
    requests: PathRequests,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct KeptAgent {
    id: Handle,
    /// Without its costs: sets of costs end with the last agent that has them.
    agent: Agent,
    costs: Option<OwnCosts>,
}

/// Meshes and their agents at a time.
#[derive(Debug)]
pub struct NavigationSnapshot {
    meshes: Vec<KeptMesh>,
    agents: Vec<KeptAgent>,
    requests: u64,
    shared: Vec<SharedTarget>,
    passages: Vec<Passages>,
    platforms: Vec<Platform>,
    entered: Vec<(Handle, Handle)>,
}

/// Link of a platform that the snapshot does not have.
struct NewLink {
    number: u32,
    link: JumpSettings,
    is_closed: bool,
}

impl NavigationMesh {
    fn kept(&mut self, id: Handle) -> KeptMesh {
        let ground = self.kept_ground.upgrade().unwrap_or_else(|| Arc::new(self.copied_ground()));
        self.kept_ground = Arc::downgrade(&ground);
        let numbers = 0..self.num_polygons() as u32;
        let batch = self.volumes.batch.as_ref();
        KeptMesh {
            id,
            source: self.source.clone(),
            ground,
            closed: numbers.filter(|polygon| self.is_obstructed(*polygon)).collect(),
            costs: self.costs,
            version: self.version,
            jumps: self.jumps.clone(),
            volumes: self.volumes.volumes.clone(),
            last_volume: self.volumes.last,
            waiting: self.volumes.waiting.clone(),
            batch: batch.map(|batch| (batch.tiles.clone(), batch.updates)),
            requests: self.requests.kept(),
            fields: self.fields.iter().map(Field::kept).collect(),
        }
    }

    fn copied_ground(&self) -> KeptGround {
        KeptGround {
            tiles: self.tiles.clone(),
            polygons: self.polygons.clone(),
            corners: self.corners.clone(),
            links: self.links.clone(),
            grids: self.grids.clone(),
            heights: self.heights.clone(),
            tile_meshes: self.tile_meshes.clone(),
            vertices: self.vertices,
            seeds: self.seeds.clone(),
        }
    }

    /// Returns the bytes that a snapshot would need.
    fn kept_bytes(&self) -> usize {
        // Searches that are under way are copied with their marks.
        let searches = self.requests.num_searches() * SEARCH_POLYGON_BYTES;
        let state = self.num_polygons() * (POLYGON_BYTES + searches);
        match self.kept_ground.strong_count() {
            0 => self.bytes() * 2 + state,
            _ => state,
        }
    }

    fn is_ground(&self, ground: &Arc<KeptGround>) -> bool {
        Weak::ptr_eq(&self.kept_ground, &Arc::downgrade(ground))
    }

    /// Restores the state of the mesh. Tiles that were being built are built again from the next
    /// update on, and swapped in at the same one as before.
    fn restore(&mut self, kept: &KeptMesh) {
        let batch = kept.batch.as_ref().map(|(tiles, updates)| {
            let is_same = self.volumes.batch.take_if(|batch| Arc::ptr_eq(&batch.tiles, tiles));
            let mut again = is_same.unwrap_or_else(|| Batch::waiting(tiles.clone(), *updates));
            again.updates = *updates;
            again
        });
        // Numbers that were given since are not given again, and change no way.
        let last = std::mem::replace(&mut self.jumps.last, kept.jumps.last);
        let is_ground = self.is_ground(&kept.ground);
        if !is_ground || self.jumps != kept.jumps {
            self.views.clear();
            self.known_views.clear();
        }
        if !is_ground {
            self.restore_ground(&kept.ground);
        }
        let mut closed = kept.closed.iter().copied().peekable();
        for polygon in 0..self.num_polygons() as u32 {
            let is_closed = closed.next_if_eq(&polygon).is_some();
            let known = &mut self.polygons[polygon as usize].is_obstructed;
            if std::mem::replace(known, is_closed) != is_closed {
                self.touch_hierarchies(polygon);
            }
        }
        if self.costs.map(f32::to_bits) != kept.costs.map(f32::to_bits) {
            self.costs = kept.costs;
            self.known_views.clear();
        }
        self.version = kept.version;
        self.jumps.clone_from(&kept.jumps);
        self.jumps.last = last.max(kept.jumps.last);
        self.volumes.volumes.clone_from(&kept.volumes);
        self.volumes.last = kept.last_volume;
        self.volumes.waiting.clone_from(&kept.waiting);
        self.volumes.batch = batch;
        self.requests = kept.requests.kept();
        self.fields = kept.fields.iter().map(Field::kept).collect();
    }

    fn restore_ground(&mut self, ground: &Arc<KeptGround>) {
        self.tiles.clone_from(&ground.tiles);
        self.polygons.clone_from(&ground.polygons);
        self.corners.clone_from(&ground.corners);
        self.links.clone_from(&ground.links);
        self.grids.clone_from(&ground.grids);
        self.heights.clone_from(&ground.heights);
        self.tile_meshes.clone_from(&ground.tile_meshes);
        self.vertices = ground.vertices;
        self.seeds.clone_from(&ground.seeds);
        self.outdate_hierarchies();
        self.kept_ground = Arc::downgrade(ground);
    }

    /// Adds a link of a platform with the number that it has, which no link of the snapshot has.
    /// Returns false if there is no room for it.
    fn add_new_link(&mut self, NewLink { number, link, is_closed }: NewLink) -> bool {
        if self.jumps.links.len() >= LINKS_MAX {
            return false;
        }
        self.jumps.links.insert(number, link);
        if is_closed {
            self.jumps.closed.insert(number);
        }
        self.jumps.has_changed = true;
        true
    }
}

/// Adds the links of new platforms to their ground. Those for which it has no room are lost.
fn add_new_links(mesh: &mut NavigationMesh, id: Handle, links: Vec<NewLink>, agents: &mut Agents) {
    let mut lost = 0;
    for link in links {
        let number = link.number;
        if !mesh.add_new_link(link) {
            lost += 1;
            let of_mesh = agents.platforms.iter_mut().filter(|of| of.ground == id);
            of_mesh.for_each(|platform| _ = platform.links.remove(&number));
        }
    }
    if lost > 0 {
        log::warning(&format!(
            "{lost} links of platforms that are newer than a snapshot have no room beside those of \
             the snapshot, and are left out: a mesh has {LINKS_MAX} at most (LINKS_MAX)"
        ));
    }
}

impl NavigationSnapshot {
    /// Takes a snapshot of meshes, with the platforms and agents on them.
    ///
    /// # Errors
    /// Returns an error if there is no memory for it.
    pub fn take(
        meshes: &mut Slots<NavigationMesh>,
        agents: &Agents,
        roots: &[Handle],
    ) -> Result<NavigationSnapshot, Error> {
        let mut ids: Vec<Handle> = roots.iter().flat_map(|root| agents.tree(*root)).collect();
        ids.retain(|id| meshes.get(*id).is_some());
        let of_agents = || agents.slots.iter().filter(|(_, agent)| ids.contains(&agent.mesh));
        let bytes = ids.iter().filter_map(|id| meshes.get(*id)).map(NavigationMesh::kept_bytes);
        let paths = of_agents().map(|(_, agent)| agent.path.polygons.len() * PATH_POLYGON_BYTES);
        let of_agents_bytes = of_agents().count() * AGENT_BYTES + paths.sum::<usize>();
        limit::check_room(bytes.sum::<usize>() + of_agents_bytes)?;
        let keep = |(id, agent): (Handle, &Agent)| KeptAgent {
            id,
            agent: Agent { own_costs: None, ..agent.clone() },
            costs: agent.own_costs.as_deref().cloned(),
        };
        let has = |mesh: &Handle| ids.contains(mesh);
        Ok(NavigationSnapshot {
            agents: of_agents().map(keep).collect(),
            requests: agents.requests,
            shared: agents.shared.iter().filter(|of| has(&of.mesh)).cloned().collect(),
            passages: agents.passages.iter().filter(|of| has(&of.mesh)).cloned().collect(),
            platforms: agents.platforms.iter().filter(|of| has(&of.mesh)).cloned().collect(),
            entered: agents.entered.iter().filter(|(mesh, _)| has(mesh)).copied().collect(),
            meshes: ids.iter().filter_map(|id| Some(meshes.get_mut(*id)?.kept(*id))).collect(),
        })
    }

    /// Returns the meshes of which it has the state.
    pub fn meshes(&self) -> impl Iterator<Item = Handle> {
        self.meshes.iter().map(|kept| kept.id)
    }

    /// Restores the meshes and agents. Returns the meshes that were restored: those that exist, and
    /// were not baked again since.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn restore(
        &self,
        meshes: &mut Slots<NavigationMesh>,
        agents: &mut Agents,
        pool: &TaskPool,
    ) -> Result<Vec<Handle>, Error> {
        let returns = |kept: &&KeptAgent| meshes.get(kept.agent.mesh).is_some();
        let returning = self.agents.iter().filter(returns);
        let returning: BTreeMap<usize, Handle> =
            returning.map(|kept| (kept.id.index(), kept.id)).collect();
        let mut restored = Vec::new();
        for kept in &self.meshes {
            let Some(mesh) = meshes.get_mut(kept.id) else { continue };
            if !Arc::ptr_eq(&mesh.source, &kept.source) {
                continue;
            }
            let (count, is_ground) = (mesh.num_polygons() as u32, mesh.is_ground(&kept.ground));
            let new_links = self.new_links(kept.id, mesh, agents);
            mesh.restore(kept);
            let ended = self.platforms.iter().filter(|of| agents.platform(of.mesh).is_none());
            for platform in ended.filter(|of| of.ground == kept.id) {
                platform.links.keys().for_each(|link| _ = mesh.remove_link(*link));
            }
            add_new_links(mesh, kept.id, new_links, agents);
            let of_mesh = agents.slots.iter_mut().filter(|(_, agent)| agent.mesh == kept.id);
            for (_, agent) in of_mesh.filter(|(id, _)| returning.get(&id.index()) != Some(id)) {
                agent.approach.forget();
                if !is_ground {
                    agent.renumber(mesh, &Renumbering::of_all(count));
                }
                agent.search_again();
            }
            restored.push(kept.id);
        }
        self.restore_shared_state(agents, &restored);
        self.restore_agents(meshes, agents, &restored);
        // Paths that scripts ask for with the costs of an agent, before the next update has its
        // views built, are searched on them.
        for id in &restored {
            let groups = agents.list_rows(*id);
            let mesh = meshes.get_mut(*id).expect("it was restored");
            agents.update_views(mesh, &groups, pool)?;
        }
        Ok(restored)
    }

    /// Returns the links of the platforms on a mesh that have come into being since.
    fn new_links(&self, id: Handle, mesh: &NavigationMesh, agents: &Agents) -> Vec<NewLink> {
        let is_new = |of: &&Platform| !self.platforms.iter().any(|known| known.mesh == of.mesh);
        let new = agents.platforms.iter().filter(|of| of.ground == id).filter(is_new);
        let numbers = new.flat_map(|platform| platform.links.keys().copied());
        let link = |number: u32| {
            let is_closed = mesh.jumps.closed.contains(&number);
            mesh.link_of(number).map(|link| NewLink { number, link: link.clone(), is_closed })
        };
        numbers.filter_map(link).collect()
    }

    /// Restores what agents have in common.
    fn restore_shared_state(&self, agents: &mut Agents, restored: &[Handle]) {
        let is_restored = |mesh: &Handle| restored.contains(mesh);
        // Agents that are not restored keep their place among those who wait.
        let of_snapshot: BTreeMap<usize, Handle> =
            self.agents.iter().map(|kept| (kept.id.index(), kept.id)).collect();
        let is_other = |id: &Handle| of_snapshot.get(&id.index()) != Some(id);
        let others = agents.slots.iter().filter(|(id, _)| is_other(id));
        let others = others.filter_map(|(_, agent)| Some(agent.request?.number));
        agents.requests = others.max().unwrap_or(0).max(self.requests);
        agents.passages.retain(|of| !is_restored(&of.mesh));
        agents.passages.extend(self.passages.iter().filter(|of| is_restored(&of.mesh)).cloned());
        agents.shared.retain(|of| !is_restored(&of.mesh));
        // Of other meshes, they may have been asked later.
        agents.shared.iter_mut().for_each(|of| of.used = of.used.min(self.requests));
        agents.shared.extend(self.shared.iter().filter(|of| is_restored(&of.mesh)).cloned());
        let surplus = agents.shared.len().saturating_sub(SHARED_TARGETS_MAX);
        agents.shared.drain(..surplus);
        agents.entered.retain(|(mesh, _)| !is_restored(mesh));
        agents.entered.extend(self.entered.iter().filter(|(mesh, _)| is_restored(mesh)));
        for kept in self.platforms.iter().filter(|of| is_restored(&of.ground)) {
            if let Some(platform) = agents.platform_mut(kept.mesh) {
                platform.clone_from(kept);
            }
        }
    }

    fn restore_agents(
        &self,
        meshes: &Slots<NavigationMesh>,
        agents: &mut Agents,
        restored: &[Handle],
    ) {
        let mut living = Vec::new();
        for kept in &self.agents {
            let Some(mesh) = meshes.get(kept.agent.mesh) else { continue };
            let Some(agent) = agents.slots.get_mut(kept.id) else { continue };
            let own_costs = agent.own_costs.take();
            *agent = kept.agent.clone();
            if restored.contains(&kept.agent.mesh) {
                living.push((kept.id, kept.costs.clone()));
                continue;
            }
            // Areas can have other numbers there.
            living.push((kept.id, own_costs.as_deref().cloned()));
            agent.approach.forget();
            agent.renumber(mesh, &Renumbering::of_all(u32::MAX));
            agent.search_again();
        }
        for (id, costs) in &living {
            let Some(costs) = costs else { continue };
            let mesh = agents.slots.get(*id).expect("it was restored").mesh;
            // If new agents have taken the last set of costs, it has those of the mesh.
            let set = agents.shared_costs(mesh, costs.clone()).unwrap_or_default();
            agents.slots.get_mut(*id).expect("it was restored").own_costs = set;
        }
        let is_ended = |of: &&Platform| agents.platform(of.mesh).is_none();
        let ended: Vec<&Platform> = self.platforms.iter().filter(is_ended).collect();
        living.iter().for_each(|(id, _)| agents.forget_ended(meshes, *id, &ended));
    }
}
