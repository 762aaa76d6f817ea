//! Paths that scripts ask for, and that are answered later: a queue, whose searches visit a fixed
//! number of nodes in an update, so that results do not depend on the speed of the machine. A
//! longer search goes on in the next update. Requests are dealt to a fixed number of lanes, which
//! search at the same time, with the same results on any number of threads.

use super::mesh::{NavigationMesh, NearestPolygon};
use super::own_costs::OwnCosts;
use super::search::{PartialReason, PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec3};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of requests of a mesh that wait.
pub const REQUESTS_MAX: usize = 16_384;
/// Nodes that the searches of an update may visit: about a millisecond.
pub const REQUEST_NODES: usize = 4096;
/// Corners of a path above which it is cut off.
pub const PATH_POINTS_MAX: usize = 4096;
/// Lanes that search at the same time.
const LANES: usize = 4;
/// Nodes as which the work of an answer counts in addition to those of its search: for itself, and
/// for each of so many polygons of the path.
const ANSWER_NODES: usize = 64;
const POLYGONS_OF_NODE: usize = 2;
/// Times that a search is begun again because the mesh has changed. Then it is done at once.
const RESTARTS_MAX: u32 = 4;

#[derive(Clone, Debug)]
struct Request {
    number: u32,
    from: Vec3,
    to: Vec3,
    /// Their polygons in a version of the mesh, if there was ground.
    polygons: Option<[u32; 2]>,
    version: u32,
    /// Updates for which it has waited.
    updates: u32,
    /// Costs of an agent, which count in place of those of the mesh: a copy, because the sets of
    /// agents end with the last agent that has them.
    own: Option<Arc<OwnCosts>>,
}

/// Path that was found.
#[derive(Clone, Copy, Debug)]
pub struct PathAnswer<'a> {
    /// Number of the request.
    pub number: u32,
    /// Corners of the path; empty if there is no ground where it begins or ends.
    pub points: &'a [Vec3],
    pub partial: Option<PartialReason>,
}

/// Path that was found, with its points as a part of a list.
#[derive(Clone, Copy, Debug)]
struct Answer {
    number: u32,
    first: usize,
    count: usize,
    partial: Option<PartialReason>,
}

/// Paths that were found, and their points.
#[derive(Clone, Debug, Default)]
struct Answers {
    answers: Vec<Answer>,
    points: Vec<Vec3>,
}

impl Answers {
    fn add(&mut self, number: u32, points: &[Vec3], partial: Option<PartialReason>) {
        let (first, count) = (self.points.len(), points.len());
        self.points.extend_from_slice(points);
        self.answers.push(Answer { number, first, count, partial });
    }

    fn clear(&mut self) {
        self.answers.clear();
        self.points.clear();
    }
}

/// Requests that are searched one after another.
#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Request>,
    /// The first request is searched, on a version of the mesh, for so many times.
    searched: Option<(u32, u32)>,
    /// Nodes that are left in this update.
    left: usize,
    /// Nodes that were visited since the answers were collected.
    nodes: u32,
    searcher: Searcher,
    path: PolygonPath,
    corners: PointPath,
    found: Answers,
}

/// Requests of a mesh, and the answers that nobody has taken yet.
#[derive(Debug, Default)]
pub(super) struct PathRequests {
    last: u32,
    lanes: Vec<Lane>,
    answers: Answers,
    /// Updates that the first request of each lane has waited for, and the nodes of the last one.
    pub worst_wait: u32,
    pub nodes: u32,
    pub answered: u32,
}

impl PathRequests {
    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        write(u64::from(self.last));
        for lane in &self.lanes {
            let nodes = lane.searched.map_or(0, |_| lane.searcher.num_nodes() as u64 + 1);
            write(nodes << 32 | lane.waiting.len() as u64);
            for request in &lane.waiting {
                write(u64::from(request.number));
                let points = [request.from, request.to].map(|end| end.to_array());
                points.as_flattened().iter().for_each(|number| write(u64::from(number.to_bits())));
                if let Some(own) = &request.own {
                    own.write_state(&mut |number| write(number));
                }
            }
        }
    }
}

impl NavigationMesh {
    /// Asks for a path, which one of the next calls of [`NavigationMesh::answer_paths`] finds.
    /// Returns the number of the request; `None` if too many wait, or wait to be taken.
    pub fn request_path(&mut self, from: NearestPolygon, to: NearestPolygon) -> Option<u32> {
        let polygons = Some([from.polygon, to.polygon]);
        self.add_request(from.position, to.position, polygons, None)
    }

    /// Asks for a path between two positions that can be off the mesh, as
    /// [`NavigationMesh::request_path`] does. The answer is empty if no ground is there then. The
    /// costs of an agent, as they are now, count in place of those of the mesh.
    pub fn request_path_between(
        &mut self,
        from: Vec3,
        to: Vec3,
        own: Option<&OwnCosts>,
    ) -> Option<u32> {
        match self.snap(from).zip(self.snap(to)) {
            Some((from, to)) => {
                let polygons = Some([from.polygon, to.polygon]);
                self.add_request(from.position, to.position, polygons, own)
            }
            None => self.add_request(from, to, None, own),
        }
    }

    fn add_request(
        &mut self,
        from: Vec3,
        to: Vec3,
        polygons: Option<[u32; 2]>,
        own: Option<&OwnCosts>,
    ) -> Option<u32> {
        if self.num_waiting_paths() + self.requests.answers.answers.len() >= REQUESTS_MAX {
            return None;
        }
        let requests = &mut self.requests;
        requests.lanes.resize_with(LANES, Lane::default);
        requests.last = requests.last.wrapping_add(1).max(1);
        let number = requests.last;
        let own = own.map(|own| requests.shared_copy(own));
        let request =
            Request { number, from, to, polygons, version: self.version, updates: 0, own };
        requests.lanes[number as usize % LANES].waiting.push_back(request);
        Some(number)
    }

    /// Removes a request. Returns false if none waits with this number.
    pub fn cancel_path(&mut self, number: u32) -> bool {
        for lane in &mut self.requests.lanes {
            if let Some(at) = lane.waiting.iter().position(|request| request.number == number) {
                lane.waiting.remove(at);
                if at == 0 {
                    lane.searched = None;
                }
                return true;
            }
        }
        false
    }

    /// Returns the number of requests that wait.
    pub fn num_waiting_paths(&self) -> usize {
        self.requests.lanes.iter().map(|lane| lane.waiting.len()).sum()
    }

    /// Returns the paths that were found since [`NavigationMesh::forget_answers`] was called: those
    /// of each update by the number of the request.
    pub fn path_answers(&self) -> impl ExactSizeIterator<Item = PathAnswer<'_>> {
        let Answers { answers, points } = &self.requests.answers;
        answers.iter().map(|&Answer { number, first, count, partial }| PathAnswer {
            number,
            points: &points[first..first + count],
            partial,
        })
    }

    /// Forgets the answers, which the caller has passed on.
    pub fn forget_answers(&mut self) {
        self.requests.answers.clear();
    }

    /// Returns the work of the last update for requests: answers, nodes, and for how many updates
    /// the request has waited that waits longest.
    pub fn request_statistics(&self) -> (u32, u32, u32) {
        let PathRequests { answered, nodes, worst_wait, .. } = self.requests;
        (answered, nodes, worst_wait)
    }

    /// Searches for the paths that were asked for, within the nodes of an update.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn answer_paths(&mut self, pool: &TaskPool) -> Result<(), Error> {
        let mut requests = std::mem::take(&mut self.requests);
        (requests.answered, requests.nodes, requests.worst_wait) = (0, 0, 0);
        let mut result = Ok(());
        if requests.lanes.iter().any(|lane| !lane.waiting.is_empty()) {
            requests.lanes.iter_mut().for_each(|lane| lane.left = REQUEST_NODES / LANES);
            // The mesh shows the view of one set of costs at a time.
            while let Some(own) = requests.lanes.iter().find_map(Lane::next_costs)
                && result.is_ok()
            {
                let lanes = &mut requests.lanes;
                result = self.with_costs(own.as_ref(), |mesh| {
                    // The lanes of an update cost as much as thousands of items of other systems.
                    let tasks = pool.tasks(LANES * 1000)?;
                    tasks.each_slice(pool.task("navigation_searches"), lanes, |_, piece| {
                        piece.iter_mut().for_each(|lane| lane.advance(mesh, own.as_ref()));
                        Ok(())
                    })
                });
            }
            requests.collect();
        }
        self.requests = requests;
        result
    }
}

impl PathRequests {
    /// Returns a copy of costs, which the last requests with equal costs share.
    fn shared_copy(&self, own: &OwnCosts) -> Arc<OwnCosts> {
        let last = self.lanes.iter().filter_map(|lane| lane.waiting.back()?.own.as_ref());
        let mut equal = last.filter(|known| ***known == *own);
        equal.next().cloned().unwrap_or_else(|| Arc::new(own.clone()))
    }

    /// Returns the number of searches that are under way.
    pub fn num_searches(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.searched.is_some()).count()
    }

    /// Returns a copy, which goes on as this does.
    pub fn kept(&self) -> PathRequests {
        let PathRequests { last, answers, worst_wait, nodes, answered, .. } = self;
        PathRequests {
            last: *last,
            lanes: self.lanes.iter().map(Lane::kept).collect(),
            answers: answers.clone(),
            worst_wait: *worst_wait,
            nodes: *nodes,
            answered: *answered,
        }
    }

    /// Collects the answers of the lanes.
    fn collect(&mut self) {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let answers = lane.found.answers.iter().enumerate();
            order.extend(answers.map(|(number, it)| (it.number, at, number)));
            self.nodes += std::mem::take(&mut lane.nodes);
            for request in &mut lane.waiting {
                request.updates = request.updates.saturating_add(1);
            }
            let first = lane.waiting.front().map_or(0, |request| request.updates);
            self.worst_wait = self.worst_wait.max(first);
        }
        order.sort_unstable();
        self.answered = order.len() as u32;
        for (number, lane, at) in order {
            let Answers { answers, points } = &self.lanes[lane].found;
            let Answer { first, count, partial, .. } = answers[at];
            self.answers.add(number, &points[first..first + count], partial);
        }
        self.lanes.iter_mut().for_each(|lane| lane.found.clear());
    }
}

impl Lane {
    /// Returns a copy. What a search that is not under way has used is left out.
    fn kept(&self) -> Lane {
        let Lane { waiting, searched, nodes, searcher, found, .. } = self;
        let searcher = searched.map_or_else(Searcher::default, |_| searcher.clone());
        let (waiting, found) = (waiting.clone(), found.clone());
        Lane { waiting, searched: *searched, nodes: *nodes, searcher, found, ..Lane::default() }
    }

    /// Returns the costs that count for the request that is next; `None` if there is none, or the
    /// nodes are used up.
    fn next_costs(&self) -> Option<Option<Arc<OwnCosts>>> {
        let request = self.waiting.front().filter(|_| self.left > 0)?;
        Some(request.own.clone())
    }

    /// Searches for the requests with these costs until the nodes are used up, or one with others
    /// is next. The last search may have used more, for its path.
    fn advance(&mut self, mesh: &NavigationMesh, own: Option<&Arc<OwnCosts>>) {
        let mut left = self.left;
        while left > 0
            && let Some(request) = self.waiting.front().filter(|it| it.has_costs(own)).cloned()
        {
            let Some((from, to)) = request.ends(mesh) else {
                self.found.add(request.number, &[], Some(PartialReason::OffMesh));
                self.waiting.pop_front();
                self.searched = None;
                left = left.saturating_sub(ANSWER_NODES);
                continue;
            };
            let restarts = match self.searched {
                Some((version, restarts)) if version == mesh.version => restarts,
                before => {
                    let restarts = before.map_or(0, |(_, restarts)| restarts + 1);
                    self.searcher.begin(mesh, from, to, SEARCH_NODES_DEFAULT);
                    self.searched = Some((mesh.version, restarts));
                    restarts
                }
            };
            let before = self.searcher.num_nodes();
            // The view of an agent's costs can be another one in the next update.
            let is_whole = restarts >= RESTARTS_MAX || own.is_some();
            let is_finished = self.searcher.advance(mesh, if is_whole { usize::MAX } else { left });
            let used = self.searcher.num_nodes() - before;
            self.nodes += used as u32;
            left = left.saturating_sub(used);
            if is_finished {
                self.answer(mesh, request.number);
                let polygons = self.path.polygons.len();
                left = left.saturating_sub(ANSWER_NODES + polygons / POLYGONS_OF_NODE);
            }
        }
        self.left = left;
    }

    /// Writes the path of the search that is finished.
    fn answer(&mut self, mesh: &NavigationMesh, number: u32) {
        self.searcher.finish(mesh, &mut self.path);
        self.searcher.corners(mesh, &self.path, PATH_POINTS_MAX, &mut self.corners);
        self.found.add(number, &self.corners.points, self.path.partial);
        self.waiting.pop_front();
        self.searched = None;
    }
}

impl Request {
    /// Returns true if these costs count for it.
    fn has_costs(&self, own: Option<&Arc<OwnCosts>>) -> bool {
        match (&self.own, own) {
            (Some(known), Some(own)) => Arc::ptr_eq(known, own) || known == own,
            (known, own) => known.is_none() && own.is_none(),
        }
    }

    /// Returns the ends of the path. Polygons of an older version of the mesh are searched again.
    fn ends(&self, mesh: &NavigationMesh) -> Option<(NearestPolygon, NearestPolygon)> {
        if self.version == mesh.version {
            let [from, to] = self.polygons?;
            let at = |polygon: u32, position: Vec3| NearestPolygon { polygon, position };
            return Some((at(from, self.from), at(to, self.to)));
        }
        Some((mesh.snap(self.from)?, mesh.snap(self.to)?))
    }
}
