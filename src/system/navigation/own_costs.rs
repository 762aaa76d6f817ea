//! Costs of areas that single agents have instead of those of their mesh. Agents with equal costs
//! share a view of the mesh: its costs with theirs in place of some of them, and a hierarchy of
//! their own. A mesh shows one view at a time, so that searches and steering know nothing of it.

use super::agents::{Agent, Agents};
use super::bake::{AREAS_MAX, NULL_AREA};
use super::hierarchy::Hierarchy;
use super::mesh::NavigationMesh;
use engine_foundation::handle::Handle;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, error};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of different sets of costs that the agents of a mesh have.
pub const COST_SETS_MAX: usize = 16;

/// Costs of areas of an agent, by area. 0 closes an area for it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OwnCosts(Vec<(u8, f32)>);

impl OwnCosts {
    /// Returns the cost of an area; `None` if it is that of the mesh.
    pub fn cost(&self, area: u8) -> Option<f32> {
        self.0.iter().find(|(known, _)| *known == area).map(|(_, cost)| *cost)
    }

    /// Sets the cost of an area; `None` for that of the mesh.
    pub fn set(&mut self, area: u8, cost: Option<f32>) {
        let at = self.0.partition_point(|(known, _)| *known < area);
        let is_known = self.0.get(at).is_some_and(|(known, _)| *known == area);
        match (is_known, cost) {
            (true, Some(cost)) => self.0[at].1 = cost,
            (false, Some(cost)) => self.0.insert(at, (area, cost)),
            (true, None) => {
                self.0.remove(at);
            }
            (false, None) => {}
        }
    }

    /// Returns the order of sets: by their areas and costs.
    fn order(&self, other: &OwnCosts) -> Ordering {
        let number = |(area, cost): &(u8, f32)| (*area, cost.to_bits());
        self.0.iter().map(number).cmp(other.0.iter().map(number))
    }

    pub(super) fn write_state(&self, write: &mut impl FnMut(u64)) {
        write(self.0.len() as u64);
        for (area, cost) in &self.0 {
            write(u64::from(*area) | u64::from(cost.to_bits()) << 32);
        }
    }
}

/// A mesh as the agents with some costs see it. While it is shown, it has the costs and the
/// hierarchy of the others.
#[derive(Debug)]
pub(super) struct View {
    costs: [f32; AREAS_MAX],
    pub hierarchy: Hierarchy,
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
        let Some(costs) = own.and_then(|own| self.costs_with(own)) else { return act(self) };
        let known = self.views.iter().position(|view| are_equal(&view.costs, &costs));
        let at = known.unwrap_or(self.views.len());
        if known.is_none() {
            // They have changed since the last update. The next one builds their hierarchy.
            self.views.push(View { costs, hierarchy: Hierarchy::default() });
        }
        self.swap_view(at);
        let result = act(self);
        self.swap_view(at);
        if known.is_none() {
            self.views.pop();
        }
        result
    }

    fn swap_view(&mut self, at: usize) {
        let NavigationMesh { views, costs, hierarchy, .. } = self;
        std::mem::swap(&mut views[at].costs, costs);
        std::mem::swap(&mut views[at].hierarchy, hierarchy);
    }

    /// Returns the costs of the mesh for agents with costs of their own; `None` if they change
    /// nothing on this mesh. Areas that it does not have keep the costs of the mesh, so that sets
    /// that differ in these only share a view.
    fn costs_with(&mut self, own: &OwnCosts) -> Option<[f32; AREAS_MAX]> {
        if self.used_areas == 0 {
            let areas = self.polygons.iter().map(|polygon| 1 << polygon.area);
            self.used_areas = areas.fold(0, |all, area: u64| all | area);
        }
        let mut costs = self.costs;
        for (area, cost) in own.0.iter().filter(|(area, _)| self.used_areas & 1 << area != 0) {
            costs[usize::from(*area)] = *cost;
        }
        (!are_equal(&costs, &self.costs)).then_some(costs)
    }

    /// Keeps the views that agents with these costs need, and brings them up to date. Others are
    /// forgotten: nothing would update them.
    pub(super) fn update_views<'a>(
        &mut self,
        sets: impl Iterator<Item = &'a OwnCosts>,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let mut wanted: Vec<[f32; AREAS_MAX]> = Vec::new();
        for own in sets {
            let costs = self.costs_with(own);
            wanted.extend(costs.filter(|costs| !wanted.iter().any(|it| are_equal(it, costs))));
        }
        let (kept, mut left): (Vec<View>, Vec<View>) = std::mem::take(&mut self.views)
            .into_iter()
            .partition(|view| wanted.iter().any(|costs| are_equal(costs, &view.costs)));
        wanted.retain(|costs| !kept.iter().any(|view| are_equal(costs, &view.costs)));
        self.views = kept;
        for costs in wanted {
            // The most similar one of those that nobody needs any more has the least to be built
            // again; otherwise that of the mesh.
            let similar =
                (0..left.len()).min_by_key(|at| count_different(&left[*at].costs, &costs));
            let hierarchy = match similar {
                Some(at) => left.remove(at).hierarchy,
                None => self.hierarchy.clone(),
            };
            self.views.push(View { costs, hierarchy });
        }
        for at in 0..self.views.len() {
            self.swap_view(at);
            let result = self.update_hierarchy(pool);
            self.swap_view(at);
            result?;
        }
        Ok(())
    }

    /// Has all hierarchies built again, because polygons have other numbers.
    pub(super) fn outdate_hierarchies(&mut self) {
        self.used_areas = 0;
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

    /// Changes the costs of an agent.
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
        let set = self.shared_costs(mesh, costs);
        let (set, result) = match set {
            Ok(set) => (set, Ok(())),
            Err(error) => (self.shared_costs(mesh, before).unwrap_or_default(), Err(error)),
        };
        if let Some(known) = self.slots.get_mut(agent) {
            known.own_costs = set;
            known.search_again();
        }
        result
    }

    /// Returns the set of the agents of a mesh with these costs, or a new one; none if they are
    /// those of the mesh.
    pub(super) fn shared_costs(
        &mut self,
        mesh: Handle,
        costs: OwnCosts,
    ) -> Result<Option<Arc<OwnCosts>>, Error> {
        if costs.0.is_empty() {
            return Ok(None);
        }
        self.cost_sets.retain(|(_, set)| set.strong_count() > 0);
        let of_mesh = || self.cost_sets.iter().filter(|(of, _)| *of == mesh);
        let mut alive = of_mesh().filter_map(|(_, set)| set.upgrade());
        if let Some(known) = alive.find(|known| **known == costs) {
            return Ok(Some(known));
        }
        if of_mesh().count() >= COST_SETS_MAX {
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
            let mut costs = OwnCosts::default();
            for (area, cost) in &before.0 {
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
        mesh.update_views(groups.iter().filter_map(|group| group.own.as_deref()), pool)
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
