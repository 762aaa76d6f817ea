//! Narrow passages: doorways and corridors in which two agents cannot pass each other. Agents go
//! through in one direction at a time. Those of the other direction wait in front of it and leave
//! its mouth free. The direction changes when it is not used any more, or after some seconds if
//! others wait.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::dispersion::Dispersion;
use super::jumps::NO_JUMP;
use super::mesh::NavigationMesh;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::handle::Handle;
use engine_foundation::{Vec2, Vec3};

/// Free width for the middles of agents below which a passage is narrow, in radii of the mesh, and
/// the width for each agent in a row.
const NARROW_RADII: f32 = 6.0;
const SINGLE_RADII: f32 = 2.2;
/// Number of agents above which directions take turns in a passage in which two can pass each
/// other, and at or below which both use it at once again: agents come and go at its edge.
const BUSY: u32 = 6;
const CALM: u32 = 3;
/// Directions in which the free width is measured.
const DIRECTIONS: u16 = 8;
/// Polygons that a measurement crosses.
const RAY_POLYGONS: usize = 16;
/// Maximum number of polygons of a passage. Longer ones are several passages.
const PASSAGE_POLYGONS_MAX: usize = 64;
/// Polygons of a path in which the next passage is searched.
const LOOKAHEAD: usize = 8;
/// Distance from a passage within which agents ask for it, in radii.
const ASK_RADII: f32 = 10.0;
/// Seconds for which a direction may be used while others wait.
const DIRECTION_SECONDS: f32 = 4.0;
/// Seconds after which those who wait go in, because those inside do not get out.
const GIVE_UP_SECONDS: f32 = 8.0;
/// Not measured, and not narrow.
const UNKNOWN: u32 = 0;
const WIDE: u32 = 1;
/// Number of the first passage.
const FIRST: u32 = 2;

/// Narrow passage that an agent comes to, or is in.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Approach {
    /// Polygon of the agent and length of the path for which this was found out.
    key: Option<(u32, usize)>,
    passage: Option<u32>,
    side: usize,
    is_inside: bool,
    /// True if it asks for the passage.
    is_asking: bool,
    /// Number of agents before it in the line.
    pub rank: u32,
    pub entry: Vec2,
    /// Direction through the passage.
    pub inward: Vec2,
}

/// Turn of an agent at a passage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Turn {
    Free,
    /// It waits in front of the passage until the direction changes, for others that made progress
    /// so many seconds ago.
    Hold(f32),
    /// It is in the line in front of the passage: the number of agents before it, and the seconds
    /// since they made progress.
    Line(u32, f32),
    /// It leaves the passage, and makes way for others.
    Retreat(f32),
}

/// Narrow passage.
#[derive(Clone, Copy, Debug)]
struct Passage {
    /// Its lowest polygon.
    polygon: u32,
    /// The first one of its polygons in the list of all, and their number.
    first: u32,
    polygons: u32,
    axis: Vec2,
    /// Smallest free width, in metres.
    width: f32,
    /// Direction that has the way: 0 or 1.
    side: usize,
    /// True since more than [`BUSY`] agents have come, until there are [`CALM`].
    is_busy: bool,
    /// Seconds for which others have waited.
    waited_seconds: f32,
    /// Agents in the passage and in front of it, by direction.
    inside: [u32; 2],
    asking: [u32; 2],
    /// Shortest time without progress of those who have the way.
    stuck_seconds: f32,
}

/// Narrow passages of a mesh that agents have come to.
#[derive(Clone, Debug)]
pub(super) struct Passages {
    pub mesh: Handle,
    version: u32,
    /// Passage of each polygon, see [`UNKNOWN`].
    polygons: Vec<u32>,
    passages: Vec<Passage>,
    /// Polygons of the passages, one passage after another.
    members: Vec<u32>,
    pub dispersion: Dispersion,
}

impl Passages {
    fn new(mesh: Handle) -> Passages {
        Passages {
            mesh,
            version: u32::MAX,
            polygons: Vec::new(),
            passages: Vec::new(),
            members: Vec::new(),
            dispersion: Dispersion::default(),
        }
    }

    /// Returns the number of passages.
    pub fn count(&self) -> usize {
        self.passages.len()
    }

    /// Returns the smallest free width of a passage, in metres.
    pub fn width(&self, number: usize) -> f32 {
        self.passages[number].width
    }

    /// Returns the polygons of a passage.
    pub fn polygons_of(&self, number: usize) -> &[u32] {
        let Passage { first, polygons, .. } = self.passages[number];
        &self.members[first as usize..][..polygons as usize]
    }

    fn begin(&mut self, mesh: &NavigationMesh) -> bool {
        let has_changed =
            self.version != mesh.version || self.polygons.len() != mesh.num_polygons();
        if has_changed {
            self.version = mesh.version;
            self.polygons.clear();
            self.polygons.resize(mesh.num_polygons(), UNKNOWN);
            self.passages.clear();
            self.members.clear();
            self.dispersion.restart();
        }
        for passage in &mut self.passages {
            (passage.inside, passage.asking) = ([0; 2], [0; 2]);
            passage.stuck_seconds = f32::MAX;
        }
        has_changed
    }

    /// Returns the passage that a polygon is a part of.
    fn of(&mut self, mesh: &NavigationMesh, polygon: u32) -> Option<u32> {
        let known = &mut self.polygons[polygon as usize];
        if *known == UNKNOWN {
            *known = WIDE;
            if let Some(width) = narrow_width(mesh, polygon) {
                self.flood(mesh, polygon, width);
            }
        }
        self.polygons[polygon as usize].checked_sub(FIRST)
    }

    /// Finds the narrow polygons around a narrow one, and the ends of the passage.
    fn flood(&mut self, mesh: &NavigationMesh, first: u32, mut width: f32) {
        let number = FIRST + self.passages.len() as u32;
        let (mut members, mut next) = (vec![first], 0);
        let mut mouths: Vec<Vec2> = Vec::new();
        self.polygons[first as usize] = number;
        while next < members.len() {
            for link in mesh.links(members[next]).iter().filter(|link| link.jump == NO_JUMP) {
                let known = self.polygons[link.target as usize];
                if known == number {
                    continue;
                }
                let is_free = known == UNKNOWN && members.len() < PASSAGE_POLYGONS_MAX;
                let narrow = is_free.then(|| narrow_width(mesh, link.target)).flatten();
                if let Some(narrow) = narrow {
                    width = width.min(narrow);
                    self.polygons[link.target as usize] = number;
                    members.push(link.target);
                } else {
                    mouths.push(((link.left + link.right) * 0.5).truncate());
                }
            }
            next += 1;
        }
        let polygon = *members.iter().min().expect("it has the first one");
        let (axis, stuck_seconds) = (axis(mesh, first, &mouths), f32::MAX);
        let (inside, asking) = ([0; 2], [0; 2]);
        let (side, is_busy, waited_seconds) = (0, false, 0.0);
        let (first, polygons) = (self.members.len() as u32, members.len() as u32);
        self.members.append(&mut members);
        self.passages.push(Passage {
            polygon,
            first,
            polygons,
            axis,
            width,
            side,
            is_busy,
            waited_seconds,
            inside,
            asking,
            stuck_seconds,
        });
    }

    /// Finds the next passage on the path of an agent.
    fn approach(&mut self, mesh: &NavigationMesh, agent: &Agent) -> Approach {
        let polygons = &agent.path.polygons;
        // Those who see the position next to their leader have no path.
        let Some(first) = polygons.first() else { return Approach::default() };
        let key = Some((*first, polygons.len()));
        if key == agent.approach.key {
            return agent.approach;
        }
        let none = Approach { key, ..Approach::default() };
        let ahead = polygons.iter().take(LOOKAHEAD);
        let found = ahead
            .enumerate()
            .find_map(|(at, polygon)| self.of(mesh, *polygon).map(|passage| (at, passage)));
        let Some((at, passage)) = found else { return none };
        let mut end = at;
        while end + 1 < polygons.len() && self.of(mesh, polygons[end + 1]) == Some(passage) {
            end += 1;
        }
        let is_inside = at == 0;
        let portal = |number: usize| {
            let link = &mesh.links[agent.path.links[number] as usize];
            ((link.left + link.right) * 0.5).truncate()
        };
        let position = agent.at.position.truncate();
        let entry = if is_inside { position } else { portal(at - 1) };
        let exit = match end + 1 < polygons.len() {
            true => portal(end),
            false => agent.end.truncate(),
        };
        let inward = (exit - entry).normalize_or_zero();
        let side = usize::from(inward.dot(self.passages[passage as usize].axis) >= 0.0);
        let rank = 0;
        let is_asking = false;
        Approach { key, passage: Some(passage), side, is_inside, is_asking, rank, entry, inward }
    }

    /// Decides which direction has the way in each passage.
    fn decide(&mut self, step: f32) {
        for passage in &mut self.passages {
            let (own, other) = (passage.side, 1 - passage.side);
            let bound = if passage.is_busy { CALM } else { BUSY };
            passage.is_busy = passage.count() > bound;
            if passage.asking[other] + passage.inside[other] == 0 {
                passage.waited_seconds = 0.0;
                continue;
            }
            passage.waited_seconds += step;
            let is_unused = passage.asking[own] == 0 || passage.is_closing();
            if passage.inside[own] == 0 && (is_unused || passage.inside[other] > 0) {
                passage.side = other;
                passage.waited_seconds = 0.0;
            }
        }
    }

    /// Returns the turn of an agent, before which `rank` others come to the passage.
    fn turn(&self, approach: &Approach, radius: f32, rank: u32) -> Turn {
        let Approach { passage: Some(number), side, is_inside, .. } = *approach else {
            return Turn::Free;
        };
        let passage = &self.passages[number as usize];
        if passage.waited_seconds > GIVE_UP_SECONDS {
            return Turn::Free;
        }
        let stuck = match passage.stuck_seconds {
            f32::MAX => 0.0,
            seconds => seconds,
        };
        let lanes = lanes(passage.width, radius);
        let is_shared = lanes > 1 && !passage.is_busy;
        if passage.side == side || is_shared {
            let is_let_in = is_inside || is_shared || !passage.is_closing();
            return match is_let_in {
                true if is_inside => Turn::Free,
                true => Turn::Line(rank / lanes, stuck),
                false => Turn::Hold(stuck),
            };
        }
        if is_inside { Turn::Retreat(stuck) } else { Turn::Hold(stuck) }
    }
}

impl Passage {
    fn count(&self) -> u32 {
        self.inside.iter().chain(&self.asking).sum()
    }

    fn is_closing(&self) -> bool {
        self.waited_seconds > DIRECTION_SECONDS
    }
}

impl Approach {
    /// Returns a number for the passage and the direction; 0 if there is none.
    pub fn line(&self) -> u32 {
        self.passage.map_or(0, |passage| passage * 2 + self.side as u32 + 1)
    }

    /// Has the next passage searched again.
    pub fn forget(&mut self) {
        // The passage would be found again by the key of an empty path, which is none as well.
        *self = Approach::default();
    }
}

impl Agents {
    /// Returns the passages of a mesh that are known.
    pub(super) fn passages_of(&mut self, id: Handle) -> &mut Passages {
        let known = self.passages.iter().position(|passages| passages.mesh == id);
        let number = known.unwrap_or_else(|| {
            self.passages.push(Passages::new(id));
            self.passages.len() - 1
        });
        &mut self.passages[number]
    }

    /// Finds out the turns of the agents of a mesh at narrow passages.
    pub(super) fn take_turns(&mut self, id: Handle, mesh: &NavigationMesh, step: f32) {
        self.passages_of(id);
        let known = self.passages.iter().position(|passages| passages.mesh == id);
        let passages = &mut self.passages[known.expect("they exist now")];
        let has_changed = passages.begin(mesh);
        self.line.clear();
        for row in &self.rows {
            let agent = self.slots.at_mut(*row as usize).expect("it was listed");
            agent.turn = Turn::Free;
            if has_changed {
                agent.approach.forget();
            }
            if agent.state != AgentState::Moving {
                continue;
            }
            agent.approach = passages.approach(mesh, agent);
            let Approach { passage: Some(number), side, is_inside, entry, .. } = agent.approach
            else {
                continue;
            };
            let passage = &mut passages.passages[number as usize];
            let distance = agent.at.position.truncate().distance(entry);
            if is_inside {
                passage.inside[side] += 1;
            } else if distance < agent.settings.radius * ASK_RADII {
                passage.asking[side] += 1;
            }
            agent.approach.is_asking = !is_inside && distance < agent.settings.radius * ASK_RADII;
            let order = if is_inside { 0 } else { distance.to_bits() };
            self.line.push(((number as u64) << 1 | side as u64, order, *row));
        }
        passages.decide(step);
        for row in &self.rows {
            let agent = self.slots.at(*row as usize).expect("it was listed");
            let Approach { passage: Some(number), side, .. } = agent.approach else { continue };
            // The numbers of those who do not walk can be of the mesh as it was.
            if agent.state != AgentState::Moving {
                continue;
            }
            let passage = &mut passages.passages[number as usize];
            // Those inside decide; if there are none, those who come.
            let counts = match passage.inside[side] {
                0 => agent.approach.is_asking,
                _ => agent.approach.is_inside,
            };
            if side == passage.side && counts {
                passage.stuck_seconds = passage.stuck_seconds.min(agent.stuck_seconds);
            }
        }
        self.line.sort_unstable();
        let (mut rank, mut before) = (0, u64::MAX);
        for (line, order, row) in &self.line {
            let agent = self.slots.at_mut(*row as usize).expect("it was listed");
            if *line != before {
                (rank, before) = (0, *line);
            }
            agent.approach.rank = rank;
            agent.turn = passages.turn(&agent.approach, agent.settings.radius, rank);
            rank += u32::from(*order > 0);
        }
        self.disperse(id, mesh, step);
    }

    /// Calls `write` with the numbers that make up the state of the passages of a mesh.
    pub fn write_passages(&self, mesh: Handle, mut write: impl FnMut(u64)) {
        for passages in self.passages.iter().filter(|passages| passages.mesh == mesh) {
            for passage in &passages.passages {
                write(
                    u64::from(passage.polygon) << 2
                        | passage.side as u64
                        | u64::from(passage.is_busy) << 1,
                );
                write(u64::from(passage.waited_seconds.to_bits()));
            }
            passages.dispersion.write_state(&mut write);
        }
    }

    /// Forgets the passages of a mesh that no longer exists.
    pub(super) fn forget_passages(&mut self, mesh: Handle) {
        self.passages.retain(|passages| passages.mesh != mesh);
    }
}

/// Returns the number of agents with a radius that can walk next to each other in a width that is
/// free for their middles.
pub(super) fn lanes(width: f32, radius: f32) -> u32 {
    (width / (radius * SINGLE_RADII)) as u32 + 1
}

/// Returns the free width in the middle of a polygon, if it is narrow.
fn narrow_width(mesh: &NavigationMesh, polygon: u32) -> Option<f32> {
    let width = mesh.settings().radius * NARROW_RADII;
    let corners = mesh.corners(polygon);
    if least_width(corners) > width {
        return None;
    }
    let middle = corners.iter().sum::<Vec3>() / corners.len() as f32;
    let middle = mesh.constrain(polygon, middle);
    let from = super::mesh::NearestPolygon { polygon, position: middle };
    let mut least = f32::MAX;
    for direction in 0..DIRECTIONS {
        let angle = f32::from(direction) / f32::from(DIRECTIONS) * std::f32::consts::PI;
        let (sin, cos) = sin_cos(angle);
        let free = |way: Vec2| {
            let end = mesh.ray_within(from, middle + way.extend(0.0), RAY_POLYGONS);
            match end.is_cut {
                true => width,
                false => (end.position - middle).truncate().length(),
            }
        };
        let way = Vec2::new(cos, sin) * width;
        let first = free(way);
        if first < width * 0.999 {
            least = least.min(first + free(-way));
        }
    }
    (least < width).then_some(least)
}

/// Returns the smallest width of a convex polygon from above.
fn least_width(corners: &[Vec3]) -> f32 {
    let mut least = f32::MAX;
    let mut a = corners[corners.len() - 1].truncate();
    for corner in corners {
        let b = corner.truncate();
        let along = (b - a).normalize_or_zero();
        let across = |corner: &Vec3| along.perp_dot(corner.truncate() - a);
        least = least.min(corners.iter().map(across).fold(0.0, f32::max));
        a = b;
    }
    least
}

/// Returns the direction between the mouths that are farthest apart.
fn axis(mesh: &NavigationMesh, polygon: u32, mouths: &[Vec2]) -> Vec2 {
    let corners = mesh.corners(polygon);
    let middle = (corners.iter().sum::<Vec3>() / corners.len() as f32).truncate();
    let mut farthest = (0.0, Vec2::X);
    for (at, a) in mouths.iter().enumerate() {
        for b in mouths[..at].iter().chain(std::iter::once(&middle)) {
            let way = *a - *b;
            if way.length_squared() > farthest.0 {
                farthest = (way.length_squared(), way.normalize_or_zero());
            }
        }
    }
    farthest.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd_scenes::rooms;
    use engine_foundation::{HandleKind, Slots};

    #[test]
    fn a_door_is_a_passage_and_a_wide_gap_is_none() {
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).unwrap();
        for (door, is_passage) in [(1.4, true), (2.0, true), (8.0, false)] {
            let mesh = rooms(door);
            let mut passages = Passages::new(id);
            passages.begin(&mesh);
            let at = |x: f32| mesh.nearest(Vec3::new(x, 0.0, 0.0), 0.3, 1.0).unwrap().polygon;
            assert_eq!(passages.of(&mesh, at(0.1)).is_some(), is_passage, "{door}");
            assert_eq!(passages.of(&mesh, at(8.0)), None, "{door}");
            if let Some(passage) = passages.passages.first() {
                assert!(passage.axis.x.abs() > 0.9 && passage.width < door, "{passage:?}");
            }
        }
    }
}
