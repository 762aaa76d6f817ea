//! Paths on grids that scripts ask for, and that are answered later, as those on meshes: a queue
//! whose searches visit a fixed number of cells in an update, so that results do not depend on the
//! speed of the machine. A longer search goes on in the next update.

use super::grid::NavigationGrid;
use super::grid_search::{GridProgress, GridSearch};
use super::search::PartialReason;
use std::collections::VecDeque;

/// Maximum number of requests of a grid that wait.
pub const GRID_REQUESTS_MAX: usize = 16_384;
/// Cells that the searches of an update may visit: about a millisecond.
pub const GRID_REQUEST_NODES: usize = 16_384;
/// Cells of a path above which it is cut off.
pub const GRID_PATH_MAX: usize = 1 << 16;
/// Nodes as which the work of an answer counts in addition to those of its search: for itself, and
/// for each of so many cells of the path.
const ANSWER_NODES: usize = 64;
const CELLS_OF_NODE: usize = 4;
/// Times that a search is begun again because cells have changed. Then it is done at once.
const RESTARTS_MAX: u32 = 4;
/// Cells that a search visits at most that is done at once. What is left of its path is found by a
/// request from the end of the part that was found.
pub const GRID_CHANGING_NODES_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Request {
    number: u32,
    from: u32,
    to: u32,
}

/// Path that was found.
#[derive(Clone, Copy, Debug)]
pub struct GridAnswer<'a> {
    /// Number of the request.
    pub number: u32,
    pub cells: &'a [u32],
    pub partial: Option<PartialReason>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    number: u32,
    first: usize,
    partial: Option<PartialReason>,
}

/// Search for the first request.
#[derive(Clone, Copy, Debug)]
struct Searched {
    /// Version of the grid.
    version: u32,
    restarts: u32,
    /// True while it jumps.
    jumps: bool,
}

/// Requests of a grid, and the answers that nobody has taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct GridRequests {
    last: u32,
    waiting: VecDeque<Request>,
    searched: Option<Searched>,
    search: GridSearch,
    answers: Vec<Answer>,
    cells: Vec<u32>,
    path: Vec<u32>,
}

impl NavigationGrid {
    /// Asks for a path, which one of the next calls of [`NavigationGrid::answer_paths`] finds.
    /// Returns the number of the request; `None` if too many wait, or wait to be taken.
    pub fn request_path(&mut self, from: u32, to: u32) -> Option<u32> {
        let requests = &mut self.requests;
        if requests.waiting.len() + requests.answers.len() >= GRID_REQUESTS_MAX {
            return None;
        }
        requests.last = requests.last.wrapping_add(1).max(1);
        requests.waiting.push_back(Request { number: requests.last, from, to });
        Some(requests.last)
    }

    /// Removes a request. Returns false if none waits with this number.
    pub fn cancel_path(&mut self, number: u32) -> bool {
        let requests = &mut self.requests;
        let found = requests.waiting.iter().position(|request| request.number == number);
        let Some(at) = found else { return false };
        requests.waiting.remove(at);
        if at == 0 {
            requests.searched = None;
        }
        true
    }

    /// Returns the number of requests that wait.
    pub fn num_waiting_paths(&self) -> usize {
        self.requests.waiting.len()
    }

    /// Returns the paths that were found since [`NavigationGrid::forget_answers`] was called.
    pub fn path_answers(&self) -> impl ExactSizeIterator<Item = GridAnswer<'_>> {
        let GridRequests { answers, cells, .. } = &self.requests;
        answers.iter().enumerate().map(|(at, &Answer { number, first, partial })| {
            let end = answers.get(at + 1).map_or(cells.len(), |next| next.first);
            GridAnswer { number, cells: &cells[first..end], partial }
        })
    }

    /// Forgets the answers, which the caller has passed on.
    pub fn forget_answers(&mut self) {
        self.requests.answers.clear();
        self.requests.cells.clear();
    }

    /// Searches for the paths that were asked for, within the nodes of an update. Returns the
    /// number of paths that were found, and of the nodes that were visited.
    pub fn answer_paths(&mut self) -> (usize, usize) {
        let mut requests = std::mem::take(&mut self.requests);
        let before = requests.answers.len();
        let nodes = requests.advance(self, GRID_REQUEST_NODES);
        let answered = requests.answers.len() - before;
        self.requests = requests;
        (answered, nodes)
    }
}

impl GridRequests {
    /// Calls `write` with the numbers that make up the state; none if no path was ever asked for.
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        if self.last == 0 {
            return;
        }
        write(u64::from(self.last));
        let nodes = self.searched.map_or(0, |_| self.search.nodes as u64 + 1);
        write(nodes << 32 | self.waiting.len() as u64);
        for Request { number, from, to } in &self.waiting {
            write(u64::from(*number));
            write(u64::from(*from) << 32 | u64::from(*to));
        }
    }

    /// Searches until the nodes are used up. Returns the number of those that were visited.
    fn advance(&mut self, grid: &NavigationGrid, nodes: usize) -> usize {
        let (mut left, mut visited) = (nodes, 0);
        let is_at_once = |of: &Searched| of.restarts >= RESTARTS_MAX;
        // One that is done at once goes on by the other search in the same update.
        while (left > 0 || self.searched.as_ref().is_some_and(is_at_once))
            && let Some(&request) = self.waiting.front()
        {
            let searched = match self.searched {
                Some(searched) if searched.version == grid.version => searched,
                known => self.begin(grid, request, known.map_or(0, |known| known.restarts + 1)),
            };
            let is_at_once = is_at_once(&searched);
            let before = self.search.nodes;
            let most = if is_at_once { GRID_CHANGING_NODES_MAX - before } else { left };
            let progress = match searched.jumps {
                true => self.search.advance_jumps(grid, most),
                false => self.search.advance(grid, most),
            };
            let used = self.search.nodes - before;
            visited += used;
            left = left.saturating_sub(used);
            match progress {
                GridProgress::Unfinished if !is_at_once => {}
                // The other search knows how far one gets.
                GridProgress::Failed | GridProgress::Unfinished if searched.jumps => {
                    let ends = (grid.node(request.from), grid.node(request.to));
                    self.search.begin(grid, ends);
                    self.searched = Some(Searched { jumps: false, ..searched });
                }
                GridProgress::Found | GridProgress::Failed | GridProgress::Unfinished => {
                    let cells = self.answer(grid, request, (progress, searched.jumps));
                    left = left.saturating_sub(ANSWER_NODES + cells / CELLS_OF_NODE);
                }
            }
        }
        visited
    }

    fn begin(&mut self, grid: &NavigationGrid, request: Request, restarts: u32) -> Searched {
        let (from, to) = (grid.node(request.from), grid.node(request.to));
        let is_open = [from, to].iter().all(|node| grid.costs[*node as usize] > 0.0);
        self.search.begin(grid, (from, to));
        let jumps = is_open && grid.has_jumps();
        let searched = Searched { version: grid.version, restarts, jumps };
        self.searched = Some(searched);
        searched
    }

    /// Writes the path of the search that is finished, or has visited as many cells as it may.
    /// Returns the number of its cells.
    fn answer(
        &mut self,
        grid: &NavigationGrid,
        request: Request,
        (progress, jumps): (GridProgress, bool),
    ) -> usize {
        match jumps {
            true => grid.trace_jumps(&self.search.marks, self.search.to, &mut self.path),
            false => self.search.trace(progress, &mut self.path),
        }
        let partial = match progress {
            _ if self.path.len() > GRID_PATH_MAX => Some(PartialReason::Budget),
            GridProgress::Found => None,
            GridProgress::Failed => Some(PartialReason::Unreachable),
            GridProgress::Unfinished => Some(PartialReason::Budget),
        };
        self.path.truncate(GRID_PATH_MAX);
        let (number, first) = (request.number, self.cells.len());
        self.cells.extend(self.path.iter().map(|node| grid.cell_of(*node)));
        self.answers.push(Answer { number, first, partial });
        self.waiting.pop_front();
        self.searched = None;
        self.path.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridShape;
    use engine_foundation::random::Random;

    fn random_grid(shape: GridShape, size: usize, costs: &[f32]) -> NavigationGrid {
        let (mut grid, mut random) = (NavigationGrid::new(size, size, shape), Random::seed(9));
        for cell in 0..(size * size) as u32 {
            grid.set_cost(cell, costs[(random.next_f64() * costs.len() as f64) as usize]);
        }
        grid
    }

    /// Number of a request, why its path is partial, and its cells.
    type Found = (u32, Option<PartialReason>, Vec<u32>);

    /// Returns all answers, and the number of updates.
    fn answers(grid: &mut NavigationGrid) -> (Vec<Found>, usize) {
        let (mut found, mut updates) = (Vec::new(), 0);
        while grid.num_waiting_paths() > 0 {
            let (answered, _) = grid.answer_paths();
            assert_eq!(answered, grid.path_answers().len());
            found.extend(grid.path_answers().map(|of| (of.number, of.partial, of.cells.to_vec())));
            grid.forget_answers();
            updates += 1;
        }
        (found, updates)
    }

    #[test]
    fn answers_cost_as_much_as_paths_that_are_found_at_once() {
        let even = [1.0, 1.0, 1.0, 0.0];
        let uneven = [1.0, 2.0, 3.0, 0.0];
        for shape in [GridShape::Square4, GridShape::Square8, GridShape::Hexagonal] {
            for costs in [&even, &uneven] {
                let mut grid = random_grid(shape, 60, costs);
                let mut random = Random::seed(4);
                let mut cell = || (random.next_f64() * 3600.0) as u32;
                let ends: Vec<[u32; 2]> = (0..200).map(|_| [cell(), cell()]).collect();
                for [from, to] in &ends {
                    grid.request_path(*from, *to).unwrap();
                }
                let (found, _) = answers(&mut grid);
                assert_eq!(found.len(), 200);
                let mut path = Vec::new();
                for (at, ([from, to], (number, partial, cells))) in
                    ends.iter().zip(&found).enumerate()
                {
                    assert_eq!(*number, at as u32 + 1);
                    let reason = grid.find_path(*from, *to, usize::MAX, &mut path);
                    assert_eq!(*partial, reason, "{shape:?} {from} {to}");
                    assert_eq!(cells.last(), path.last());
                    let (a, b) = (grid.way_cost(cells), grid.way_cost(&path));
                    assert!((a - b).abs() < 1e-2, "{shape:?} {from} {to}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn long_searches_are_divided_and_requests_can_be_withdrawn() {
        // A field of different costs, so that all of it is searched.
        let mut grid = random_grid(GridShape::Square8, 300, &[1.0, 1.5, 2.0]);
        let last = 300 * 300 - 1;
        let first = grid.request_path(0, last).unwrap();
        let second = grid.request_path(last, 0).unwrap();
        let (_, nodes) = grid.answer_paths();
        assert_eq!((nodes, grid.path_answers().len()), (GRID_REQUEST_NODES, 0));
        assert!(grid.cancel_path(first) && !grid.cancel_path(first));
        assert_eq!(grid.num_waiting_paths(), 1);
        let (found, updates) = answers(&mut grid);
        assert_eq!((found.len(), found[0].0), (1, second));
        assert!((3..8).contains(&updates), "{updates}");
        // Changes begin it again, and then it is done at once.
        grid.request_path(0, last).unwrap();
        let mut updates = 0;
        while grid.num_waiting_paths() > 0 {
            grid.set_cost(5, if updates % 2 == 0 { 3.0 } else { 4.0 });
            grid.answer_paths();
            updates += 1;
        }
        assert_eq!(updates, RESTARTS_MAX as usize + 1);
        grid.forget_answers();
    }

    #[test]
    fn searches_of_a_grid_that_changes_in_each_update_have_a_bound() {
        let size = 640;
        let cells = size * size;
        for (jumps, costs) in [(true, &[1.0][..]), (false, &[1.0, 1.5, 2.0])] {
            let mut grid = random_grid(GridShape::Square8, size as usize, costs);
            // The target is closed in, and the field uneven enough that jumps are short.
            let to = cells - 1;
            for cell in [to - 1, to - size, to - size - 1] {
                grid.set_cost(cell, 0.0);
            }
            for cell in (0..cells).filter(|cell| jumps && cell % 3 == 0 && cell / size % 3 == 0) {
                grid.set_cost(cell + cell / size / 3 % 2, 0.0);
            }
            grid.set_cost(1, 1.0);
            grid.set_cost(0, 1.0);
            assert!(!jumps || grid.has_jumps());
            grid.request_path(1, to).unwrap();
            let (mut most, mut updates) = (0, 0);
            while grid.num_waiting_paths() > 0 && updates < 50 {
                let other = if jumps { 0.0 } else { 3.0 };
                grid.set_cost(size * 7, if updates % 2 == 0 { other } else { 1.0 });
                most = most.max(grid.answer_paths().1);
                updates += 1;
            }
            assert_eq!(updates, RESTARTS_MAX as usize + 1, "{jumps}");
            // Both kinds of searches.
            assert!((GRID_CHANGING_NODES_MAX..=GRID_CHANGING_NODES_MAX * 2).contains(&most));
            let answer = grid.path_answers().next().unwrap();
            assert_eq!(answer.partial, Some(PartialReason::Budget));
            assert_eq!(answer.cells[0], 1);
            let distance = |cell: u32| {
                grid.distance(grid.location(grid.node(cell)), grid.location(grid.node(to)))
            };
            assert!(distance(*answer.cells.last().unwrap()) < distance(1), "{jumps}");
            grid.forget_answers();
        }
    }

    #[test]
    fn a_search_that_is_under_way_does_not_disturb_others() {
        let mut grid = random_grid(GridShape::Square8, 300, &[1.0, 1.5, 2.0]);
        let last = 300 * 300 - 1;
        let mut wanted = Vec::new();
        assert_eq!(grid.find_path(0, last, usize::MAX, &mut wanted), None);
        grid.request_path(0, last).unwrap();
        grid.answer_paths();
        let (mut path, mut cells) = (Vec::new(), Vec::new());
        grid.find_path(40, 900, usize::MAX, &mut path);
        grid.flood_fill(50, 5.0, &mut cells);
        let (found, _) = answers(&mut grid);
        assert_eq!(grid.way_cost(&found[0].2), grid.way_cost(&wanted));
    }

    #[test]
    fn too_many_requests_are_refused_and_the_state_has_all() {
        let mut grid = NavigationGrid::new(4, 4, GridShape::Square4);
        let state = |grid: &NavigationGrid| {
            let mut numbers = Vec::new();
            grid.write_state(|number| numbers.push(number));
            numbers
        };
        let before = state(&grid);
        for _ in 0..GRID_REQUESTS_MAX {
            grid.request_path(0, 15).unwrap();
        }
        assert_eq!(grid.request_path(0, 15), None);
        assert_ne!(state(&grid), before);
        let (found, updates) = answers(&mut grid);
        assert_eq!(found.len(), GRID_REQUESTS_MAX);
        assert!(updates > 50, "each answer counts: {updates}");
    }
}
