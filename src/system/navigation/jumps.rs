//! Links between two points of a mesh that no ground joins: jumps, ladders, doors, teleporters.
//! They are ways of a search like those through edges. A link without ground at one of its ends is
//! kept, and is used when there is ground.

use super::mesh::{Link, NavigationMesh, NearestPolygon};
use engine_foundation::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of links of a mesh.
pub const LINKS_MAX: usize = 4096;
/// Maximum length of the name of a link, in bytes.
pub const LINK_NAME_MAX: usize = 64;
/// Distance between the ends of a link below which it leads nowhere, in metres.
const LINK_LENGTH_MIN: f32 = 0.01;
/// Edge of ways that begin inside a polygon.
const NO_EDGE: u8 = u8::MAX;
/// Marks ways through edges.
pub(super) const NO_JUMP: u16 = u16::MAX;
/// Each link has two directions.
const _: () = assert!(LINKS_MAX * 2 < NO_JUMP as usize);

/// Link between two points.
#[derive(Clone, PartialEq, Debug)]
pub struct JumpSettings {
    /// Name for scripts; empty if it has none.
    pub name: String,
    pub from: Vec3,
    pub to: Vec3,
    /// Cost of using it, in metres of ordinary ground.
    pub cost: f32,
    /// False if it leads from `from` to `to` only.
    pub is_two_way: bool,
    /// True if agents wait at its start until a script says that they are at its end.
    pub is_manual: bool,
}

/// Use of a link in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Jump {
    pub number: u32,
    pub start: Vec3,
    pub end: Vec3,
    pub cost: f32,
    pub is_manual: bool,
    /// Its name, as an index into those of the links that can be used; [`NO_NAME`] if it has none.
    name: u16,
    pub polygon: u32,
    pub target: u32,
}

/// Marks links without a name.
const NO_NAME: u16 = u16::MAX;

/// Links that have a cost in place of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum LinkKey {
    /// Those with a name, as an index into the names of the links that can be used.
    Name(u16),
    /// The one with a number.
    Number(u32),
}

/// Costs of links, sorted. Infinity closes them.
pub(super) type LinkCosts = Vec<(LinkKey, f32)>;

/// Calls `write` with the numbers that make up costs of links, without the numbers of the links:
/// see [`Jumps::write_state`].
pub(super) fn write_link_costs(costs: &LinkCosts, write: &mut impl FnMut(u64)) {
    for (key, cost) in costs {
        let key = match *key {
            LinkKey::Name(name) => u64::from(name),
            LinkKey::Number(_) => 1 << 63,
        };
        write(key);
        write(u64::from(cost.to_bits()));
    }
}

/// Ways over the links of a mesh.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Ways {
    /// Directions of links whose ends have ground, by the polygon of their start.
    pub usable: Vec<Jump>,
    /// Least cost of a link for each metre between its ends, at most 1.
    pub least: f32,
    /// Costs that some of them have in place of their own.
    pub own: LinkCosts,
}

impl Default for Ways {
    fn default() -> Ways {
        Ways { usable: Vec::new(), least: 1.0, own: LinkCosts::new() }
    }
}

impl Ways {
    fn new(usable: Vec<Jump>, own: LinkCosts) -> Ways {
        let of = |jump: &Jump| jump.cost / jump.start.distance(jump.end).max(1e-3);
        let least = usable.iter().map(of).fold(1.0, f32::min);
        Ways { usable, least, own }
    }
}

/// Links of a mesh.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Jumps {
    pub(super) links: BTreeMap<u32, JumpSettings>,
    /// Largest number that was given to a link. No number is used twice, also if a snapshot of
    /// before is restored.
    pub(super) last: u32,
    /// True if links were added or removed since the mesh was put together.
    pub has_changed: bool,
    /// Ways that can be used, for the agents whose view the mesh shows.
    pub ways: Ways,
    /// Names of the links that can be used, sorted.
    names: Vec<String>,
    /// Numbers of the links that are closed.
    pub(super) closed: BTreeSet<u32>,
    /// Work that searches for links have done, see [`NavigationMesh::renew_jump_work`].
    pub work: usize,
}

impl Jumps {
    /// Calls `write` with the numbers that make up the state. The numbers of links are no part of
    /// it: after a snapshot is restored, those that are added again have others.
    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        for (number, link) in &self.links {
            let is_closed = u64::from(self.closed.contains(number));
            write(u64::from(link.is_two_way) << 1 | is_closed);
            let points = link.from.to_array().into_iter().chain(link.to.to_array());
            points.for_each(|number| write(u64::from(number.to_bits())));
            write(u64::from(link.cost.to_bits()) << 1 | u64::from(link.is_manual));
            write(link.name.len() as u64);
            for bytes in link.name.as_bytes().chunks(8) {
                let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
                write(bytes.iter().fold(0, add));
            }
        }
    }

    /// Returns the key of a name; `None` if no link with the name can be used.
    pub fn key_of(&self, name: &str) -> Option<LinkKey> {
        let found = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok();
        found.map(|at| LinkKey::Name(at as u16))
    }

    /// Returns the key of a link; `None` if it cannot be used.
    pub fn key_of_number(&self, number: u32) -> Option<LinkKey> {
        let is_usable = self.ways.usable.iter().any(|jump| jump.number == number);
        is_usable.then_some(LinkKey::Number(number))
    }

    /// Returns the ways with other costs for some links.
    pub fn ways_with(&self, own: &LinkCosts) -> Ways {
        let mut usable = self.ways.usable.clone();
        let cost_of = |key: LinkKey| {
            let at = own.binary_search_by(|(known, _)| known.cmp(&key)).ok();
            at.map(|at| own[at].1)
        };
        for jump in &mut usable {
            let Some(link) = self.links.get(&jump.number) else { continue };
            let known = cost_of(LinkKey::Number(jump.number));
            jump.cost = known.or_else(|| cost_of(LinkKey::Name(jump.name))).unwrap_or(link.cost);
        }
        Ways::new(usable, own.clone())
    }

    /// Returns the ways that begin in a polygon.
    pub fn ways_from(&self, polygon: u32) -> impl Iterator<Item = Link> {
        let usable = &self.ways.usable;
        let first = usable.partition_point(|jump| jump.polygon < polygon);
        let of = usable[first..].iter().take_while(move |jump| jump.polygon == polygon);
        (first as u16..).zip(of).map(|(at, jump)| Link {
            target: jump.target,
            edge: NO_EDGE,
            left: jump.start,
            right: jump.start,
            jump: at,
        })
    }
}

impl NavigationMesh {
    /// Adds a link, which the next call of [`NavigationMesh::rebuild`] makes usable. Returns its
    /// number; `None` if there are too many.
    pub fn add_link(&mut self, link: JumpSettings) -> Option<u32> {
        if self.jumps.links.len() >= LINKS_MAX {
            return None;
        }
        self.jumps.last += 1;
        self.jumps.links.insert(self.jumps.last, link);
        self.jumps.has_changed = true;
        Some(self.jumps.last)
    }

    /// Removes a link. Returns false if there is none with this number.
    pub fn remove_link(&mut self, number: u32) -> bool {
        let is_known = self.jumps.links.remove(&number).is_some();
        self.jumps.closed.remove(&number);
        self.jumps.has_changed |= is_known;
        is_known
    }

    /// Closes a link, or opens it again, in the next call of [`NavigationMesh::rebuild`].
    pub fn set_link_closed(&mut self, number: u32, is_closed: bool) {
        let closed = &mut self.jumps.closed;
        self.jumps.has_changed |= match is_closed {
            true => closed.insert(number),
            false => closed.remove(&number),
        };
    }

    /// Returns the number of links.
    pub fn num_links(&self) -> usize {
        self.jumps.links.len()
    }

    /// Returns a link.
    pub fn link_of(&self, number: u32) -> Option<&JumpSettings> {
        self.jumps.links.get(&number)
    }

    /// Returns true if searches can use a link: both of its ends have ground.
    pub fn is_link_usable(&self, number: u32) -> bool {
        self.jumps.ways.usable.iter().any(|jump| jump.number == number)
    }

    /// Returns the polygon whose ground is nearest to a position. If it is closed, open ground near
    /// it at about the same height comes first.
    fn nearest_open(&self, position: Vec3, side: f32, up: f32) -> Option<NearestPolygon> {
        let nearest = self.nearest(position, side, up)?;
        if self.is_open(nearest.polygon) {
            return Some(nearest);
        }
        let near = Vec3::new(position.x, position.y, nearest.position.z);
        let up = self.settings().step + self.settings().cell_height;
        let open = self.nearest_among(near, side, up, |polygon| self.is_open(polygon));
        open.or(Some(nearest))
    }

    /// Returns the ground at both ends of a link, if there is any.
    fn link_ground(&self, link: &JumpSettings) -> Option<[NearestPolygon; 2]> {
        let (side, up) =
            (self.settings().radius + self.settings().cell_size, self.settings().height);
        let [from, to] = [link.from, link.to].map(|end| self.nearest_open(end, side, up));
        Some([from?, to?])
    }

    /// Returns true if both ends of a link are at the same place of the ground. Searches do not use
    /// it: a way of no length and no cost tells them nothing.
    pub fn is_link_loop(&self, number: u32) -> bool {
        self.link_loop_ground(number).is_some()
    }

    /// Returns the place at which both ends of a link are; `None` if they are at two, or at none.
    pub fn link_loop_ground(&self, number: u32) -> Option<Vec3> {
        let ends = self.jumps.links.get(&number).and_then(|link| self.link_ground(link))?;
        is_loop(ends).then_some(ends[0].position)
    }

    /// Finds the polygons of all links.
    pub(super) fn resolve_jumps(&mut self) {
        let mut usable = Vec::new();
        let mut names = BTreeSet::new();
        for (number, link) in &self.jumps.links {
            let ends = self.link_ground(link).filter(|ends| !is_loop(*ends));
            let Some([from, to]) = ends else { continue };
            if self.jumps.closed.contains(number) {
                continue;
            }
            let JumpSettings { cost, is_manual, .. } = *link;
            names.insert(link.name.as_str());
            let way = |from: NearestPolygon, to: NearestPolygon| Jump {
                number: *number,
                start: from.position,
                end: to.position,
                cost,
                is_manual,
                name: NO_NAME,
                polygon: from.polygon,
                target: to.polygon,
            };
            usable.push(way(from, to));
            if link.is_two_way {
                usable.push(way(to, from));
            }
        }
        names.remove("");
        let names: Vec<String> = names.into_iter().map(str::to_string).collect();
        for jump in &mut usable {
            let name = &self.jumps.links[&jump.number].name;
            jump.name = names.binary_search(name).map_or(NO_NAME, |at| at as u16);
        }
        usable.sort_by_key(|jump| (jump.polygon, jump.number));
        self.jumps.ways = Ways::new(usable, LinkCosts::new());
        let before = std::mem::replace(&mut self.jumps.names, names);
        self.jumps.has_changed = false;
        self.renew_ways(&before);
    }

    /// Returns true if a link can be used.
    pub(super) fn has_jumps(&self) -> bool {
        !self.jumps.ways.usable.is_empty()
    }

    /// Returns the jump of a way; `None` if it leads through an edge.
    pub(super) fn jump(&self, link: &Link) -> Option<&Jump> {
        self.jumps.ways.usable.get(usize::from(link.jump))
    }

    /// Returns true if a way can be used: its target is open, and it leads over no link that is
    /// closed for the agents whose view the mesh shows.
    #[inline]
    pub(super) fn can_follow(&self, link: &Link) -> bool {
        let is_closed = || self.jump(link).is_some_and(|jump| jump.cost == f32::INFINITY);
        self.is_open(link.target) && (link.jump == NO_JUMP || !is_closed())
    }
}

fn is_loop([from, to]: [NearestPolygon; 2]) -> bool {
    from.position.distance(to.position) < LINK_LENGTH_MIN
}
