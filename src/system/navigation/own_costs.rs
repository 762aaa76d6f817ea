//! Costs of areas and links that single agents have instead of those of their mesh. Agents with
//! equal costs share a view of the mesh: its costs with theirs in place of some of them, and a
//! hierarchy of their own. A mesh shows one view at a time, so that searches and steering know
//! nothing of it.

use super::agents::{Agent, Agents};
use super::bake::{AREAS_MAX, NULL_AREA};
use super::hierarchy::Hierarchy;
use super::jumps::{LinkCosts, LinkKey, Ways};
use super::mesh::NavigationMesh;
use engine_foundation::handle::Handle;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, error};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Maximum number of different sets of costs that the agents of a mesh have.
pub const COST_SETS_MAX: usize = 16;
/// Maximum number of further sets of agents that have given up links.
pub const ABANDONED_SETS_MAX: usize = 16;
/// Maximum number of names of links for which an agent has costs.
pub const LINK_COSTS_MAX: usize = 64;

/// Costs of an agent: of areas, by area, and of links, by their name. 0 closes an area for it, and
/// infinity a link.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OwnCosts {
    areas: Vec<(u8, f32)>,
    links: Vec<(String, f32)>,
    /// Numbers of links that it has given up for some time, sorted.
    closed: Vec<u32>,
}

/// Sets, replaces or removes the value of a key in a sorted list.
fn set_in<K: Ord>(list: &mut Vec<(K, f32)>, key: K, value: Option<f32>) {
    match (list.binary_search_by(|(known, _)| known.cmp(&key)), value) {
        (Ok(at), Some(value)) => list[at].1 = value,
        (Err(at), Some(value)) => list.insert(at, (key, value)),
        (Ok(at), None) => {
            list.remove(at);
        }
        (Err(_), None) => {}
    }
}

impl OwnCosts {
    /// Returns the cost of an area; `None` if it is that of the mesh.
    pub fn cost(&self, area: u8) -> Option<f32> {
        self.areas.iter().find(|(known, _)| *known == area).map(|(_, cost)| *cost)
    }

    /// Sets the cost of an area; `None` for that of the mesh.
    pub fn set(&mut self, area: u8, cost: Option<f32>) {
        set_in(&mut self.areas, area, cost);
    }

    /// Returns the cost of the links with a name; `None` if each has its own.
    pub fn link_cost(&self, name: &str) -> Option<f32> {
        self.links.iter().find(|(known, _)| known == name).map(|(_, cost)| *cost)
    }

    /// Sets the cost of the links with a name; `None` for that of each link.
    pub fn set_link(&mut self, name: &str, cost: Option<f32>) {
        set_in(&mut self.links, name.to_string(), cost);
    }

    /// Closes a link, or opens it again.
    pub(super) fn set_closed(&mut self, number: u32, is_closed: bool) {
        match (self.closed.binary_search(&number), is_closed) {
            (Err(at), true) => self.closed.insert(at, number),
            (Ok(at), false) => drop(self.closed.remove(at)),
            _ => {}
        }
    }

    /// Returns true if an agent with these costs has given up links.
    fn has_closed(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Opens all links that were closed, for example because those of another mesh have other
    /// numbers.
    pub(super) fn open_links(&mut self) {
        self.closed.clear();
    }

    /// Returns the order of sets: by their areas, links and costs.
    fn order(&self, other: &OwnCosts) -> Ordering {
        let area = |(area, cost): &(u8, f32)| (*area, cost.to_bits());
        let by_area = self.areas.iter().map(area).cmp(other.areas.iter().map(area));
        let bits = |cost: &f32| cost.to_bits();
        let by_link = || {
            let own = self.links.iter().map(|(name, cost)| (name, bits(cost)));
            own.cmp(other.links.iter().map(|(name, cost)| (name, bits(cost))))
        };
        by_area.then_with(by_link).then_with(|| self.closed.cmp(&other.closed))
    }

    pub(super) fn write_state(&self, write: &mut impl FnMut(u64)) {
        write(self.areas.len() as u64 | (self.links.len() as u64) << 32);
        for (area, cost) in &self.areas {
            write(u64::from(*area) | u64::from(cost.to_bits()) << 32);
        }
        for (name, cost) in &self.links {
            write(u64::from(cost.to_bits()) | (name.len() as u64) << 32);
            for bytes in name.as_bytes().chunks(8) {
                write(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
            }
        }
        write(self.closed.len() as u64);
    }
}

/// Costs in which the views of a mesh differ.
#[derive(Clone, Debug)]
struct ViewCosts {
    areas: [f32; AREAS_MAX],
    links: LinkCosts,
}

impl ViewCosts {
    fn is_equal(&self, other: &ViewCosts) -> bool {
        self.distance(other) == 0
    }

    /// Returns in how many costs two views differ; links count as one.
    fn distance(&self, other: &ViewCosts) -> usize {
        count_different(&self.areas, &other.areas) + usize::from(self.links != other.links)
    }
}

/// A mesh as the agents with some costs see it. While it is shown, it has the costs, the ways over
/// links and the hierarchy of the others.
#[derive(Debug)]
pub(super) struct View {
    costs: ViewCosts,
    ways: Ways,
    pub hierarchy: Hierarchy,
}

/// View that the agents with some costs have; `None` if these change nothing on the mesh.
#[derive(Debug)]
pub(super) struct KnownView {
    own: Weak<OwnCosts>,
    pub view: Option<usize>,
}

impl KnownView {
    fn is_of(&self, own: &Arc<OwnCosts>) -> bool {
        std::ptr::eq(self.own.as_ptr(), Arc::as_ptr(own))
    }
}

fn are_equal(a: &[f32; AREAS_MAX], b: &[f32; AREAS_MAX]) -> bool {
    count_different(a, b) == 0
}

fn count_different(a: &[f32; AREAS_MAX], b: &[f32; AREAS_MAX]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a.to_bits() != b.to_bits()).count()
}

impl NavigationMesh {
    /// Calls `act` with the mesh as an agent with costs of its own sees it.
    pub fn with_costs<R>(
        &mut self,
        own: Option<&Arc<OwnCosts>>,
        act: impl FnOnce(&NavigationMesh) -> R,
    ) -> R {
        let Some(own) = own else { return act(self) };
        if let Some(known) = self.known_views.iter().find(|known| known.is_of(own)) {
            let Some(at) = known.view else { return act(self) };
            return self.with_view(at, act);
        }
        // They have changed since the last update. The next one builds their hierarchy.
        let Some(costs) = self.costs_with(own) else { return act(self) };
        if let Some(at) = self.views.iter().position(|view| view.costs.is_equal(&costs)) {
            return self.with_view(at, act);
        }
        let ways = self.jumps.ways_with(&costs.links);
        self.views.push(View { costs, ways, hierarchy: Hierarchy::default() });
        let result = self.with_view(self.views.len() - 1, act);
        self.views.pop();
        result
    }

    fn with_view<R>(&mut self, at: usize, act: impl FnOnce(&NavigationMesh) -> R) -> R {
        self.swap_view(at);
        let result = act(self);
        self.swap_view(at);
        result
    }

    fn swap_view(&mut self, at: usize) {
        let NavigationMesh { views, costs, hierarchy, jumps, .. } = self;
        let view = &mut views[at];
        std::mem::swap(&mut view.costs.areas, costs);
        std::mem::swap(&mut view.ways, &mut jumps.ways);
        std::mem::swap(&mut view.hierarchy, hierarchy);
    }

    /// Returns the costs of the mesh for agents with costs of their own; `None` if they change
    /// nothing on this mesh. Areas and links that it does not have keep their costs, so that sets
    /// that differ in these only share a view.
    fn costs_with(&mut self, own: &OwnCosts) -> Option<ViewCosts> {
        if self.used_areas == 0 {
            let areas = self.polygons.iter().map(|polygon| 1 << polygon.area);
            self.used_areas = areas.fold(0, |all, area: u64| all | area);
        }
        let mut areas = self.costs;
        for (area, cost) in own.areas.iter().filter(|(area, _)| self.used_areas & 1 << area != 0) {
            areas[usize::from(*area)] = *cost;
        }
        let by_name = |(name, cost): &(String, f32)| Some((self.jumps.key_of(name)?, *cost));
        let by_number = |number: &u32| Some((self.jumps.key_of_number(*number)?, f32::INFINITY));
        let named = own.links.iter().filter_map(by_name);
        let links: LinkCosts = named.chain(own.closed.iter().filter_map(by_number)).collect();
        let costs = ViewCosts { areas, links };
        let differs = !are_equal(&costs.areas, &self.costs) || !costs.links.is_empty();
        differs.then_some(costs)
    }

    /// Keeps the views that agents with these costs need, and brings them up to date. Others are
    /// forgotten: nothing would update them.
    pub(super) fn update_views<'a>(
        &mut self,
        sets: impl Iterator<Item = &'a Arc<OwnCosts>>,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let sets: Vec<&Arc<OwnCosts>> = sets.collect();
        let known = &self.known_views;
        // Views that nobody needs any more are forgotten, also if nothing is known of them.
        let is_known = known.len() == sets.len()
            && (!sets.is_empty() || self.views.is_empty())
            && sets.iter().all(|own| known.iter().any(|known| known.is_of(own)));
        if !is_known {
            self.choose_views(&sets);
        }
        for at in 0..self.views.len() {
            self.swap_view(at);
            let result = self.update_hierarchy(pool);
            self.swap_view(at);
            result?;
        }
        Ok(())
    }

    /// Makes the views that agents with these costs need, and forgets the others.
    fn choose_views(&mut self, sets: &[&Arc<OwnCosts>]) {
        let costs: Vec<Option<ViewCosts>> = sets.iter().map(|own| self.costs_with(own)).collect();
        let mut wanted: Vec<ViewCosts> = Vec::new();
        for costs in costs.iter().flatten() {
            if !wanted.iter().any(|known| known.is_equal(costs)) {
                wanted.push(costs.clone());
            }
        }
        let (kept, mut left): (Vec<View>, Vec<View>) = std::mem::take(&mut self.views)
            .into_iter()
            .partition(|view| wanted.iter().any(|costs| costs.is_equal(&view.costs)));
        wanted.retain(|costs| !kept.iter().any(|view| costs.is_equal(&view.costs)));
        self.views = kept;
        for costs in wanted {
            // The most similar one of those that nobody needs any more has the least to be built
            // again; otherwise that of the mesh.
            let similar = (0..left.len()).min_by_key(|at| left[*at].costs.distance(&costs));
            let hierarchy = match similar {
                Some(at) => left.remove(at).hierarchy,
                None => self.hierarchy.clone(),
            };
            let ways = self.jumps.ways_with(&costs.links);
            self.views.push(View { costs, ways, hierarchy });
        }
        let views = &self.views;
        let view_of = |costs: &Option<ViewCosts>| {
            let costs = costs.as_ref()?;
            views.iter().position(|view| view.costs.is_equal(costs))
        };
        let of = sets.iter().zip(&costs);
        let known =
            of.map(|(own, costs)| KnownView { own: Arc::downgrade(own), view: view_of(costs) });
        self.known_views = known.collect();
    }

    /// Lists the ways over links for all views again, because links have changed. `before` are the
    /// names of the links that could be used before.
    pub(super) fn renew_ways(&mut self, before: &[String]) {
        let NavigationMesh { views, jumps, known_views, .. } = self;
        known_views.clear();
        for view in views {
            let links = std::mem::take(&mut view.costs.links);
            let now = links.into_iter().filter_map(|(key, cost)| match key {
                LinkKey::Name(at) => Some((jumps.key_of(&before[usize::from(at)])?, cost)),
                LinkKey::Number(number) => Some((jumps.key_of_number(number)?, cost)),
            });
            view.costs.links = now.collect();
            view.ways = jumps.ways_with(&view.costs.links);
        }
    }

    /// Has all hierarchies built again, because polygons have other numbers. No snapshot has the
    /// ground as it is now.
    pub(super) fn outdate_hierarchies(&mut self) {
        self.used_areas = 0;
        self.kept_ground = Weak::new();
        self.known_views.clear();
        self.hierarchy.outdate();
        self.views.iter_mut().for_each(|view| view.hierarchy.outdate());
    }

    /// Notes in all hierarchies that a polygon was closed or opened.
    pub(super) fn touch_hierarchies(&mut self, polygon: u32) {
        self.hierarchy.touch(polygon);
        self.views.iter_mut().for_each(|view| view.hierarchy.touch(polygon));
    }
}

impl Agents {
    /// Sets what an area costs an agent; `None` for the cost of its mesh. Its path is searched
    /// again.
    ///
    /// # Errors
    /// Returns an error if the agents of its mesh have too many different costs.
    pub fn set_area_cost(
        &mut self,
        agent: Handle,
        area: u8,
        cost: Option<f32>,
    ) -> Result<(), Error> {
        assert!(area != NULL_AREA, "the caller has checked the area");
        self.change_costs(agent, |costs| costs.set(area, cost))
    }

    /// Sets what the links with a name cost an agent; infinity if it does not use them, `None` for
    /// the cost of each link. Its path is searched again.
    ///
    /// # Errors
    /// Returns an error if it has costs for too many names, or the agents of its mesh have too many
    /// different costs.
    pub fn set_link_cost(
        &mut self,
        agent: Handle,
        name: &str,
        cost: Option<f32>,
    ) -> Result<(), Error> {
        let own = self.slots.get(agent).and_then(|agent| agent.own_costs.as_ref());
        let is_full = own.is_some_and(|own| own.links.len() >= LINK_COSTS_MAX);
        let is_known = own.is_some_and(|own| own.link_cost(name).is_some());
        if cost.is_some() && is_full && !is_known {
            return Err(error!(
                "the agent has costs for {LINK_COSTS_MAX} names of links (LINK_COSTS_MAX): give \
                 links of one kind the same name"
            ));
        }
        self.change_costs(agent, |costs| costs.set_link(name, cost))
    }

    /// Changes the costs of an agent. If there is no room for another set of agents that have given
    /// up links, these are open for the agent again.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the agents of its mesh have too many different
    /// costs.
    pub fn change_costs(
        &mut self,
        agent: Handle,
        change: impl FnOnce(&mut OwnCosts),
    ) -> Result<(), Error> {
        let Some(known) = self.slots.get_mut(agent) else { return Ok(()) };
        let before = known.own_costs.as_deref().cloned().unwrap_or_default();
        let mut costs = before.clone();
        change(&mut costs);
        if costs == before {
            return Ok(());
        }
        // A set of which it was the last agent makes room for another one.
        known.own_costs = None;
        let mesh = known.mesh;
        let is_of_game = costs.closed == before.closed && costs.has_closed();
        let mut set = self.shared_costs(mesh, costs.clone());
        if is_of_game && set.is_err() {
            costs.open_links();
            set = self.shared_costs(mesh, costs);
            if let (Ok(_), Some(known)) = (&set, self.slots.get_mut(agent)) {
                known.abandoned.clear();
            }
        }
        let (set, result) = match set {
            Ok(set) => (set, Ok(())),
            Err(error) => (self.shared_costs(mesh, before).unwrap_or_default(), Err(error)),
        };
        if let Some(known) = self.slots.get_mut(agent) {
            known.own_costs = set;
            if result.is_ok() {
                known.search_again();
            }
        }
        result
    }

    /// Returns the costs that an agent has on a mesh; none if they are those of the mesh. On
    /// another mesh than its own, the links that it has given up are open: others have their
    /// numbers there.
    pub fn costs_on(&self, agent: Handle, mesh: Handle) -> Option<Arc<OwnCosts>> {
        let agent = self.slots.get(agent)?;
        let own = agent.own_costs.as_ref()?;
        if agent.mesh == mesh || !own.has_closed() {
            return Some(own.clone());
        }
        let mut costs = (**own).clone();
        costs.open_links();
        (costs != OwnCosts::default()).then(|| Arc::new(costs))
    }

    /// Returns the set of the agents of a mesh with these costs, or a new one; none if they are
    /// those of the mesh.
    pub(super) fn shared_costs(
        &mut self,
        mesh: Handle,
        costs: OwnCosts,
    ) -> Result<Option<Arc<OwnCosts>>, Error> {
        if costs == OwnCosts::default() {
            return Ok(None);
        }
        self.cost_sets.retain(|(_, set)| set.strong_count() > 0);
        let of_mesh = self.cost_sets.iter().filter(|(of, _)| *of == mesh);
        let alive: Vec<Arc<OwnCosts>> = of_mesh.filter_map(|(_, set)| set.upgrade()).collect();
        if let Some(known) = alive.iter().find(|known| ***known == costs) {
            return Ok(Some(known.clone()));
        }
        // Links that agents give up take no set from the game.
        let is_alike = |known: &&Arc<OwnCosts>| known.has_closed() == costs.has_closed();
        let most = if costs.has_closed() { ABANDONED_SETS_MAX } else { COST_SETS_MAX };
        if alive.iter().filter(is_alike).count() >= most {
            return Err(error!(
                "the agents of the mesh have {COST_SETS_MAX} different sets of costs \
                 (COST_SETS_MAX): give agents of one kind the same costs, or change the costs of \
                 the mesh"
            ));
        }
        let set = Arc::new(costs);
        self.cost_sets.push((mesh, Arc::downgrade(&set)));
        Ok(Some(set))
    }

    /// Gives the areas of the costs of a mesh's agents other numbers. Costs of areas that do not
    /// exist any more are forgotten.
    pub fn renumber_areas(&mut self, mesh: Handle, number: impl Fn(u8) -> Option<u8>) {
        let of_mesh = self.slots.iter_mut().filter(|(_, agent)| agent.mesh == mesh);
        let mut changed = Vec::new();
        for (handle, agent) in of_mesh {
            let Some(before) = agent.own_costs.take() else { continue };
            let mut costs = OwnCosts { areas: Vec::new(), ..(*before).clone() };
            for (area, cost) in &before.areas {
                if let Some(area) = number(*area) {
                    costs.set(area, Some(*cost));
                }
            }
            changed.push((handle, costs));
        }
        // There are as many sets as before, at most.
        for (handle, costs) in changed {
            let set = self.shared_costs(mesh, costs).unwrap_or_default();
            if let Some(agent) = self.slots.get_mut(handle) {
                agent.own_costs = set;
            }
        }
    }

    /// Forgets the sets of costs that no agent has any more, and the views of a mesh that no agent
    /// on it needs. The others are brought up to date.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub(super) fn update_views(
        &mut self,
        mesh: &mut NavigationMesh,
        groups: &[Group],
        pool: &TaskPool,
    ) -> Result<(), Error> {
        self.cost_sets.retain(|(_, set)| set.strong_count() > 0);
        mesh.update_views(groups.iter().filter_map(|group| group.own.as_ref()), pool)
    }

    /// Lists the agents of a mesh that are on it: those with equal costs one after another. The
    /// order of these groups follows from their costs, not from when they were set.
    pub(super) fn list_rows(&mut self, id: Handle) -> Vec<Group> {
        self.rows.clear();
        let of_mesh = self.slots.iter().filter(|(_, agent)| agent.is_on(id));
        self.rows.extend(of_mesh.map(|(handle, _)| handle.index() as u32));
        let of_mesh = self.cost_sets.iter().filter(|(mesh, _)| *mesh == id);
        let mut sets: Vec<Arc<OwnCosts>> = of_mesh.filter_map(|(_, set)| set.upgrade()).collect();
        if sets.is_empty() {
            return vec![Group { own: None, rows: 0..self.rows.len() }];
        }
        sets.sort_by(|a, b| a.order(b));
        let slots = &self.slots;
        let number = |row: &u32| {
            let own = slots.at(*row as usize).and_then(|agent| agent.own_costs.as_ref())?;
            sets.iter().position(|set| Arc::ptr_eq(set, own))
        };
        self.rows.sort_by_cached_key(number);
        let mut first = 0;
        let groups = self.rows.chunk_by(|a, b| number(a) == number(b)).map(|rows| {
            let range = first..first + rows.len();
            first = range.end;
            Group { own: number(&rows[0]).map(|at| sets[at].clone()), rows: range }
        });
        groups.collect()
    }
}

/// Agents with equal costs, and their rows in the list of all.
pub(super) struct Group {
    pub own: Option<Arc<OwnCosts>>,
    pub rows: Range<usize>,
}

impl Agent {
    /// Returns true if the agent is on a mesh.
    fn is_on(&self, mesh: Handle) -> bool {
        self.mesh == mesh && self.state != super::agents::AgentState::Lost
    }

    /// Returns what an area costs the agent.
    pub fn area_cost(&self, mesh: &NavigationMesh, area: u8) -> f32 {
        let own = self.own_costs.as_ref().and_then(|costs| costs.cost(area));
        own.unwrap_or_else(|| mesh.area_cost(area))
    }
}
