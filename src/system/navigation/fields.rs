//! Flow fields of a mesh, by name: the ways from all of its ground to the nearest of some targets,
//! or away from the targets of another field. A field is computed once for all who ask, and again
//! when the mesh or its targets have changed.

use super::dijkstra_map::{DijkstraMap, NO_LINK, Target};
use super::grid::FLOW_FIELDS_MAX;
use super::mesh::{Link, NavigationMesh, NearestPolygon, nearest_on_segment};
use super::path::PolygonPath;
use engine_foundation::{Vec3, scope};

/// Maximum number of targets of a field.
pub const FIELD_TARGETS_MAX: usize = 1024;
/// Polygons of a way within which its next corner is looked for.
const LOOKAHEAD: usize = 64;
/// Distance from above below which a position is at a corner, in metres.
const AT_CORNER: f32 = 1e-3;
/// Cost by which a way that does not lead on must be better.
const BEND_COST: f32 = 0.05;
/// Distance from an edge within which the ground on both sides counts, in metres, and the number of
/// polygons that are looked at.
const AT_EDGE: f32 = 0.01;
const TOUCHING_MAX: usize = 16;

/// Places to which a field leads.
#[derive(Clone, Debug)]
enum Source {
    Targets(Vec<Vec3>),
    /// Away from the targets of the field of this name: a metre towards them costs as much as this
    /// many metres.
    Away {
        threats: String,
        factor: f32,
    },
}

/// Field with a name.
#[derive(Clone, Debug)]
pub(super) struct Field {
    name: String,
    source: Source,
    /// Version of the mesh for which it was computed; `None` if it was not.
    version: Option<u32>,
    map: DijkstraMap,
}

/// Beginning of a way to a target.
#[derive(Clone, Copy, Debug)]
struct Way {
    cost: f32,
    corner: Vec3,
    /// False if the way only bends here, at the position itself.
    leads_on: bool,
}

impl Way {
    /// Returns the order of the way: that which leads on is better, at about the same cost.
    fn order(&self) -> f32 {
        self.cost + if self.leads_on { 0.0 } else { BEND_COST }
    }
}

impl Field {
    /// Has the field computed again when it is next read.
    pub fn forget(&mut self) {
        self.version = None;
    }

    /// Returns a copy, which is computed when it is first read.
    pub fn kept(&self) -> Field {
        let Field { name, source, .. } = self;
        let (name, source) = (name.clone(), source.clone());
        Field { name, source, version: None, map: DijkstraMap::default() }
    }

    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        let mut text = |text: &str| {
            write(text.len() as u64);
            text.bytes().for_each(|byte| write(u64::from(byte)));
        };
        text(&self.name);
        match &self.source {
            Source::Targets(targets) => {
                write(targets.len() as u64);
                let numbers = targets.iter().flat_map(|target| target.to_array());
                numbers.for_each(|number| write(u64::from(number.to_bits())));
            }
            Source::Away { threats, factor } => {
                text(threats);
                write(u64::from(factor.to_bits()) << 32 | 1);
            }
        }
    }
}

impl NavigationMesh {
    /// Sets the targets of the flow field with a name, which is created if it does not exist.
    /// Without targets the field is removed. Returns false if there are too many fields.
    pub fn set_targets(&mut self, name: &str, targets: Vec<Vec3>) -> bool {
        assert!(targets.len() <= FIELD_TARGETS_MAX, "the caller has checked their number");
        match targets.is_empty() {
            false => self.set_field(name, Source::Targets(targets)),
            true => {
                self.fields.retain(|field| field.name != name);
                self.forget_followers(name);
                true
            }
        }
    }

    /// Has a flow field lead away from the targets of another one, which has targets of its own.
    /// Returns false if there are too many fields.
    pub fn set_flee(&mut self, name: &str, threats: &str, factor: f32) -> bool {
        self.set_field(name, Source::Away { threats: threats.to_string(), factor })
    }

    fn set_field(&mut self, name: &str, source: Source) -> bool {
        self.forget_followers(name);
        match self.field(name) {
            Some(at) => (self.fields[at].source, self.fields[at].version) = (source, None),
            None if self.fields.len() >= FLOW_FIELDS_MAX => return false,
            None => self.fields.push(Field {
                name: name.to_string(),
                source,
                version: None,
                map: DijkstraMap::default(),
            }),
        }
        true
    }

    /// Has the fields that lead away from a field computed again.
    fn forget_followers(&mut self, name: &str) {
        for field in &mut self.fields {
            if matches!(&field.source, Source::Away { threats, .. } if threats == name) {
                field.forget();
            }
        }
    }

    /// Returns the name of a field that leads away from the targets of another one, if one does.
    pub fn follower_of(&self, threats: &str) -> Option<&str> {
        let leads_away = |at: &usize| self.field_threats(*at) == Some(threats);
        (0..self.fields.len()).find(leads_away).map(|at| self.fields[at].name.as_str())
    }

    /// Returns the names of the flow fields.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the index of a flow field.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Returns the ground of the targets of a field; none of one that leads away.
    pub(super) fn field_ends(&self, field: usize) -> impl Iterator<Item = Vec3> {
        let targets: &[Vec3] = match &self.fields[field].source {
            Source::Targets(targets) => targets,
            Source::Away { .. } => &[],
        };
        targets.iter().filter_map(|target| Some(self.snap(*target)?.position))
    }

    /// Returns the name of the field from whose targets a field leads away, if it does.
    pub fn field_threats(&self, field: usize) -> Option<&str> {
        match &self.fields[field].source {
            Source::Targets(_) => None,
            Source::Away { threats, .. } => Some(threats),
        }
    }

    /// Brings a field up to date, and the one that it leads away from.
    pub fn update_field(&mut self, field: usize) {
        if self.fields[field].version == Some(self.version) {
            return;
        }
        scope!("navigation_fields");
        let threats = self.field_threats(field).and_then(|name| self.field(name));
        // A field that leads away from one that does so, too, does not count it.
        let threats = threats.filter(|at| self.field_threats(*at).is_none());
        if let Some(threats) = threats {
            self.update_field(threats);
        }
        let mut map = std::mem::take(&mut self.fields[field].map);
        match &self.fields[field].source {
            Source::Targets(targets) => {
                let snapped = targets.iter().filter_map(|target| self.snap(*target));
                map.begin(self, snapped.map(|at| Target { at, cost: 0.0 }));
            }
            Source::Away { factor, .. } => {
                let targets = self.safe_targets(threats.map(|at| &self.fields[at].map), *factor);
                map.begin(self, targets.into_iter());
            }
        }
        map.advance(self, usize::MAX);
        self.fields[field].map = map;
        self.fields[field].version = Some(self.version);
    }

    /// Returns the middles of all open polygons. The cost that is left in each is lower the farther
    /// away the targets of a map are. Ground from which none can be reached is as good as the best.
    fn safe_targets(&self, threats: Option<&DijkstraMap>, factor: f32) -> Vec<Target> {
        let open = (0..self.polygons.len() as u32).filter(|polygon| self.is_open(*polygon));
        let mut targets: Vec<Target> = open
            .map(|polygon| {
                let corners = self.corners(polygon);
                let middle = corners.iter().sum::<Vec3>() / corners.len() as f32;
                let at = NearestPolygon { polygon, position: self.constrain(polygon, middle) };
                let away = threats.map_or(f32::INFINITY, |map| self.distance_on(map, at));
                Target { at, cost: away }
            })
            .collect();
        let known = targets.iter().map(|target| target.cost).filter(|away| away.is_finite());
        let most = known.fold(0.0, f32::max);
        for target in &mut targets {
            target.cost = (most - target.cost).max(0.0) * factor;
        }
        targets
    }

    /// Returns the cost of the way of a polygon from a position in it; infinite if it has none.
    fn distance_on(&self, map: &DijkstraMap, at: NearestPolygon) -> f32 {
        let (node, rate) = (&map.nodes[at.polygon as usize], self.rate(at.polygon));
        match map.target_near(at, rate).filter(|_| node.link == NO_LINK) {
            Some((_, cost)) => cost,
            None => node.cost + node.entry.distance(at.position) * rate,
        }
    }

    /// Returns the cost of the way from a position to the nearest target of a field that is up to
    /// date; `None` if no way leads to one.
    pub fn field_distance(&self, field: usize, at: NearestPolygon) -> Option<f32> {
        self.field_way(&self.fields[field].map, at).map(|way| way.cost)
    }

    /// Returns the next corner of the way from a position to the nearest target of a field that is
    /// up to date: the target itself if the way there is straight. `None` if no way leads to one.
    pub fn field_corner(&self, field: usize, at: NearestPolygon) -> Option<Vec3> {
        self.field_way(&self.fields[field].map, at).map(|way| way.corner)
    }

    /// Returns the best way from a position: that of one of the polygons there, or over one of
    /// their edges. As those who follow a way stay within its polygons, the cost of the best one
    /// falls with each step, so that nobody walks in circles.
    fn field_way(&self, map: &DijkstraMap, at: NearestPolygon) -> Option<Way> {
        let mut best: Option<Way> = None;
        for polygon in self.touching(at) {
            let here = NearestPolygon { polygon, ..at };
            let first = self.polygons[polygon as usize].first_link;
            let over = (first..)
                .zip(self.links(polygon))
                .filter(|(_, link)| self.may_lead_on(map, polygon, link));
            let over = over.map(|(number, _)| self.way_over(map, here, Some(number)));
            let own = map.is_settled(polygon).then(|| self.way_over(map, here, None));
            for way in own.into_iter().chain(over) {
                let is_better = |known: &Way| way.order() < known.order();
                if best.as_ref().is_none_or(is_better) {
                    best = Some(way);
                }
            }
        }
        best
    }

    /// Returns true if the way over a link may be better than that of its polygon.
    fn may_lead_on(&self, map: &DijkstraMap, polygon: u32, link: &Link) -> bool {
        let is_alike = !self.is_open(polygon) || self.rate(link.target) == self.rate(polygon);
        if link.is_jump() || !is_alike || !map.is_settled(link.target) {
            return false;
        }
        let next = self.links.get(map.nodes[link.target as usize].link as usize);
        next.is_none_or(|next| next.target != polygon)
    }

    /// Returns the polygons that a position touches, its own one first.
    fn touching(&self, at: NearestPolygon) -> Vec<u32> {
        let position = at.position.truncate();
        let (mut found, mut next) = (vec![at.polygon], 0);
        while let Some(polygon) = found.get(next).copied()
            && found.len() < TOUCHING_MAX
        {
            next += 1;
            for link in self.links(polygon).iter().filter(|link| !link.is_jump()) {
                let (a, b) = (link.left.truncate(), link.right.truncate());
                let near = nearest_on_segment(a, b, position);
                if near.distance(position) <= AT_EDGE && !found.contains(&link.target) {
                    found.push(link.target);
                }
            }
        }
        found
    }

    /// Returns the way to the nearest target that begins with a link; with that of the polygon
    /// without one.
    fn way_over(&self, map: &DijkstraMap, at: NearestPolygon, link: Option<u32>) -> Way {
        let mut path = PolygonPath { polygons: vec![at.polygon], ..PolygonPath::default() };
        let mut last = at.polygon;
        let mut next = link.unwrap_or(map.nodes[last as usize].link);
        let is_closed = !self.is_open(at.polygon);
        let rate = match self.links.get(next as usize) {
            Some(link) if is_closed => self.rate(link.target),
            _ => self.rate(at.polygon),
        };
        let (end, rest, behind) = loop {
            let node = &map.nodes[last as usize];
            let Some(link) = self.links.get(next as usize) else {
                let from = match path.links.last() {
                    Some(link) => self.middle_of(*link),
                    None => at.position,
                };
                let from = NearestPolygon { polygon: last, position: from };
                let target = map.target_near(from, rate).map(|(target, _)| target);
                let target = target.map_or((node.entry, node.cost), |it| (it.at.position, it.cost));
                break (target.0, target.1, Some(target.0));
            };
            if let Some(jump) = self.jump(link) {
                break (node.entry, node.cost, Some(jump.end));
            }
            let is_way_out = path.links.is_empty() && is_closed;
            let is_far = path.links.len() >= LOOKAHEAD;
            if !is_way_out && (self.rate(link.target) != rate || is_far) {
                break (node.entry, node.cost, None);
            }
            path.links.push(next);
            path.polygons.push(link.target);
            last = link.target;
            next = map.nodes[last as usize].link;
        };
        let (mut length, mut before, mut corner) = (0.0, at.position, None);
        path.corners(self, at.position, end, |point, _| {
            length += point.distance(before);
            before = point;
            let is_ahead = point.truncate().distance(at.position.truncate()) > AT_CORNER;
            corner = corner.or(is_ahead.then_some(point));
            true
        });
        let (corner, leads_on) = match (corner, behind) {
            (Some(corner), _) => (corner, true),
            (None, Some(behind)) => (behind, true),
            (None, None) => (end, false),
        };
        Way { cost: rest + length * rate, corner, leads_on }
    }

    fn middle_of(&self, link: u32) -> Vec3 {
        let link = &self.links[link as usize];
        (link.left + link.right) * 0.5
    }
}
