//! Dispersion of crowds: searches of agents take ways on which others wait to be longer, so that a
//! crowd spreads over ways that are about as long. The agents before each narrow passage are
//! counted at a fixed rate, and those at the end of a line search again. The delay of a line
//! follows from the distances of all in it and the time that one needs to go through: that of a
//! queue that serves those who come first (L. Kleinrock, "Queueing Systems", 1975).

use super::agent::{Agent, AgentState, Request};
use super::agents::Agents;
use super::mesh::NavigationMesh;
use super::passages::lanes;
use engine_foundation::handle::Handle;
use std::sync::Arc;

/// Largest number of metres by which an agent that waits makes a way longer.
pub const DISPERSION_MAX: f32 = 1000.0;
/// Seconds between two counts.
const COUNT_SECONDS: f32 = 0.5;
/// Part of its speed that an agent loses from which others hold it up.
const SLOWED: f32 = 0.5;
/// Part of a line, from its end, whose agents search again: one of so many.
const LINE_PARTS: usize = 4;

/// Costs of a crowd: metres by which it makes the ways through polygons longer.
#[derive(Debug, Default)]
pub(super) struct CrowdCosts {
    /// Version of the mesh for which they hold.
    version: u32,
    /// Costs of entering each polygon.
    costs: Vec<f32>,
    /// Polygons with a cost, in order.
    polygons: Vec<u32>,
}

/// Costs of a crowd that searches share; none if nobody waits.
pub(super) type Crowd = Option<Arc<CrowdCosts>>;

impl CrowdCosts {
    /// Returns the cost of entering a polygon.
    #[inline]
    pub fn of(&self, polygon: u32) -> f32 {
        self.costs[polygon as usize]
    }

    /// Returns the polygons with a cost.
    pub fn polygons(&self) -> &[u32] {
        &self.polygons
    }
}

/// Returns the cost of entering a polygon.
#[inline]
pub(super) fn cost_of(crowd: &Crowd, polygon: u32) -> f32 {
    crowd.as_ref().map_or(0.0, |crowd| crowd.of(polygon))
}

/// Returns true if two crowds are the same one.
pub(super) fn is_same(a: &Crowd, b: &Crowd) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// Dispersion of the agents of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispersion {
    /// Metres by which an agent that waits makes a way longer; 0 if searches do not see the crowd.
    metres: f32,
    /// Seconds until the next count.
    seconds: f32,
    /// Number of counts with another result than the one before.
    changes: u32,
    crowd: Crowd,
}

impl Dispersion {
    /// Forgets the crowd, and has it counted in the next update.
    pub fn restart(&mut self) {
        (self.seconds, self.crowd) = (0.0, None);
    }

    /// Calls `write` with the numbers that make up the state.
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        if self.metres == 0.0 {
            return;
        }
        write(u64::from(self.metres.to_bits()) | u64::from(self.seconds.to_bits()) << 32);
        write(u64::from(self.changes));
        let Some(crowd) = &self.crowd else { return };
        for polygon in &crowd.polygons {
            write(u64::from(*polygon) | u64::from(crowd.of(*polygon).to_bits()) << 32);
        }
    }

    /// Takes the costs that were counted.
    fn take(&mut self, version: u32, costs: Vec<f32>) {
        let is_known = match &self.crowd {
            Some(crowd) => crowd.version == version && crowd.costs == costs,
            None => costs.iter().all(|cost| *cost == 0.0),
        };
        if is_known {
            return;
        }
        self.changes = self.changes.wrapping_add(1);
        let crowded = (0..).zip(&costs).filter(|(_, cost)| **cost > 0.0);
        let polygons: Vec<u32> = crowded.map(|(polygon, _)| polygon).collect();
        let crowd = CrowdCosts { version, costs, polygons };
        self.crowd = (!crowd.polygons.is_empty()).then(|| Arc::new(crowd));
    }
}

impl Agents {
    /// Returns by how many metres each agent that waits makes a way longer for the searches of the
    /// agents of a mesh.
    pub fn dispersion(&self, mesh: Handle) -> f32 {
        let of_mesh = self.passages.iter().find(|passages| passages.mesh == mesh);
        of_mesh.map_or(0.0, |passages| passages.dispersion.metres)
    }

    /// Sets by how many metres each agent that waits makes a way longer; 0 for no dispersion.
    pub fn set_dispersion(&mut self, mesh: Handle, metres: f32) {
        assert!((0.0..=DISPERSION_MAX).contains(&metres), "the caller has checked the metres");
        if self.dispersion(mesh) != metres {
            let dispersion = &mut self.passages_of(mesh).dispersion;
            dispersion.restart();
            dispersion.metres = metres;
        }
    }

    /// Returns the crowd that searches on a mesh see.
    pub(super) fn crowd(&self, id: Handle, mesh: &NavigationMesh) -> Crowd {
        let of_mesh = self.passages.iter().find(|passages| passages.mesh == id)?;
        let is_current = |crowd: &&Arc<CrowdCosts>| {
            crowd.version == mesh.version && crowd.costs.len() == mesh.num_polygons()
        };
        of_mesh.dispersion.crowd.as_ref().filter(is_current).cloned()
    }

    /// Counts the crowd of a mesh, if it is time for that, and has those at the end of lines search
    /// again. The line of each passage is listed.
    pub(super) fn disperse(&mut self, id: Handle, mesh: &NavigationMesh, step: f32) {
        let Some(at) = self.passages.iter().position(|passages| passages.mesh == id) else {
            return;
        };
        let dispersion = &mut self.passages[at].dispersion;
        dispersion.seconds -= step;
        if dispersion.metres == 0.0 || dispersion.seconds > 0.0 {
            return;
        }
        dispersion.seconds = COUNT_SECONDS;
        let metres = dispersion.metres;
        let mut costs = vec![0.0; mesh.num_polygons()];
        self.count_lines(at, mesh, metres, &mut costs);
        self.count_slowed(mesh, metres, &mut costs);
        self.passages[at].dispersion.take(mesh.version, costs);
    }

    /// Adds the delays of the lines before passages to the costs of their polygons.
    fn count_lines(&mut self, at: usize, mesh: &NavigationMesh, metres: f32, costs: &mut [f32]) {
        let radius = mesh.settings().radius;
        let Agents { passages, line, slots, requests, .. } = self;
        let mut delays = vec![0.0; passages[at].count()];
        for of_line in line.chunk_by(|a, b| a.0 == b.0) {
            let number = (of_line[0].0 >> 1) as usize;
            let service = metres / lanes(passages[at].width(number), radius) as f32;
            let delay = delay(of_line.iter().map(|(_, order, _)| f32::from_bits(*order)), service);
            // A single agent does not make a crowd.
            if delay < metres {
                continue;
            }
            delays[number] += delay;
            for (_, order, row) in &of_line[of_line.len() - of_line.len().div_ceil(LINE_PARTS)..] {
                let agent = slots.at_mut(*row as usize).expect("it was listed");
                if *order > 0 && agent.can_search_again() {
                    *requests += 1;
                    agent.request = Some(Request { is_repair: true, number: *requests });
                }
            }
        }
        for (number, delay) in delays.iter().enumerate() {
            // A way through the whole passage has all of it.
            let polygons = passages[at].polygons_of(number);
            let part = delay / polygons.len().max(1) as f32;
            polygons.iter().for_each(|polygon| costs[*polygon as usize] += part);
        }
    }

    /// Adds the delays of those who are held up where two can pass each other to the costs of the
    /// polygons that they enter next.
    fn count_slowed(&self, mesh: &NavigationMesh, metres: f32, costs: &mut [f32]) {
        let radius = mesh.settings().radius;
        let mut slowed = vec![0.0; costs.len()];
        for row in &self.rows {
            let agent = self.slots.at(*row as usize).expect("it was listed");
            let is_held_up = agent.state == AgentState::Moving
                && agent.slowed > SLOWED
                && agent.approach.line() == 0;
            let Some(link) = agent.path.links.first().filter(|_| is_held_up) else { continue };
            let link = &mesh.links[*link as usize];
            let width = link.left.distance(link.right);
            slowed[link.target as usize] += metres / lanes(width, radius) as f32;
        }
        // A single agent does not make a crowd.
        for (cost, slowed) in costs.iter_mut().zip(slowed).filter(|(_, slowed)| *slowed >= metres) {
            *cost += slowed;
        }
    }
}

impl Agent {
    /// Returns true if the agent walks to its destination, and can take another way.
    fn can_search_again(&self) -> bool {
        self.state == AgentState::Moving
            && self.leader.is_none()
            && self.ride.is_none()
            && self.traversal.is_none()
            && self.request.is_none()
            && self.destination.is_some()
            && self.detour_point().is_none()
    }
}

/// Returns by how many metres of way those in a line delay one who comes after them: each is
/// through `service` metres after it has come, and after the one before it. `distances` are those
/// of the line in order.
fn delay(distances: impl Iterator<Item = f32>, service: f32) -> f32 {
    let (mut through, mut last) = (0.0f32, 0.0);
    for distance in distances {
        through = through.max(distance) + service;
        last = distance;
    }
    (through - last - service).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_delays_by_those_who_are_not_through() {
        assert_eq!(delay([].into_iter(), 2.0), 0.0);
        // One after another, as fast as the passage lets them.
        assert_eq!(delay([0.0, 2.0, 4.0, 6.0].into_iter(), 2.0), 0.0);
        // All at once, and then a free part.
        assert_eq!(delay([1.0; 10].into_iter(), 2.0), 18.0);
        assert_eq!(delay([1.0, 1.0, 50.0].into_iter(), 2.0), 0.0);
    }
}
