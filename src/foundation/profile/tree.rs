//! The scopes of one thread as a tree: their nesting, the time of each in a frame, and the average.
//! The same name inside of different scopes gives different rows, and so does a recursive scope.
//! After the profiler of Enginuity part 3 (Richard Fine).

use super::names::name_of;
use super::thread_buffer::ScopeEvent;

/// Maximum number of rows of one thread. Further scopes are counted under one shared row.
pub const NODES_MAX: usize = 8192;

/// The root of the tree, which is not a scope itself.
pub(super) const ROOT: u32 = 0;
/// The shared row for scopes that did not fit.
const MORE: u32 = 1;
const NONE: u32 = u32::MAX;

/// The time of a row in one frame.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RowTime {
    pub calls: u32,
    /// Ticks, including children.
    pub total: u64,
    /// Ticks of the children.
    pub child: u64,
}

/// One row of the tree.
pub(super) struct ScopeNode {
    pub name: u32,
    pub parent: u32,
    /// Number of scopes that contain this one.
    pub depth: u32,
    first: u32,
    last: u32,
    next: u32,
    /// The child that was opened last. The next child to open is probably the one after it.
    last_found: u32,
    now: RowTime,
    /// The time in the last frame.
    pub last_frame: RowTime,
    /// The row's share of the frame, summed over `frames` frames.
    sum: f64,
    frames: u64,
    min: f64,
    max: f64,
    /// Ticks without children, summed over `frames` frames, and the most of one frame.
    own_sum: u64,
    own_max: u64,
    /// The counter for the row's milliseconds; 0 if it does not exist yet.
    pub counter: u32,
}

/// An open scope.
struct OpenScope {
    node: u32,
    began: u64,
    /// Tick from which the current frame counts the scope.
    since: u64,
}

/// A closed scope with its start and end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScopeSpan {
    /// Index of the thread.
    pub track: u16,
    /// Index of the row in the thread's tree.
    pub node: u32,
    pub began: u64,
    pub ended: u64,
}

/// Statistics of one row. The shares are percentages of the frame, without children.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRow {
    pub name: &'static str,
    pub min: f64,
    pub average: f64,
    pub max: f64,
    /// Number of times that the scope was opened in the last frame.
    pub calls: u32,
    /// Number of scopes that contain this one.
    pub parents: u32,
    /// Seconds without children, as an average of all frames.
    pub average_seconds: f64,
    /// Seconds without children, in the frame with the most.
    pub max_seconds: f64,
    /// Seconds in the last frame, including children.
    pub seconds: f64,
    /// Seconds in the last frame, without children.
    pub own_seconds: f64,
}

pub(super) struct ScopeTree {
    pub nodes: Vec<ScopeNode>,
    open: Vec<OpenScope>,
}

impl ScopeTree {
    pub fn new() -> ScopeTree {
        let mut tree = ScopeTree { nodes: Vec::new(), open: Vec::new() };
        tree.nodes.push(ScopeNode::new(0, NONE, 0));
        tree.add(0, ROOT);
        tree
    }

    fn add(&mut self, name: u32, parent: u32) -> u32 {
        let number = self.nodes.len() as u32;
        let depth = if parent == ROOT { 0 } else { self.nodes[parent as usize].depth + 1 };
        self.nodes.push(ScopeNode::new(name, parent, depth));
        let before = self.nodes[parent as usize].last;
        match before {
            NONE => self.nodes[parent as usize].first = number,
            before => self.nodes[before as usize].next = number,
        }
        self.nodes[parent as usize].last = number;
        number
    }

    /// Returns the child row with a name, and creates it if needed.
    fn child(&mut self, parent: u32, name: u32) -> u32 {
        let parent_node = &self.nodes[parent as usize];
        let (first, last_found) = (parent_node.first, parent_node.last_found);
        let candidate = match last_found {
            NONE => first,
            last_found if self.nodes[last_found as usize].name == name => last_found,
            last_found => self.nodes[last_found as usize].next,
        };
        let is_wanted = |at: u32| at != NONE && self.nodes[at as usize].name == name;
        let mut at = if is_wanted(candidate) { candidate } else { first };
        while at != NONE && self.nodes[at as usize].name != name {
            at = self.nodes[at as usize].next;
        }
        if at == NONE {
            at = match self.nodes.len() < NODES_MAX {
                true => self.add(name, parent),
                false => MORE,
            };
        }
        self.nodes[parent as usize].last_found = at;
        at
    }

    /// Creates the row of a name before all others, if no row exists yet.
    pub fn move_to_front(&mut self, name: u32) {
        if self.nodes.len() == 2 {
            self.child(ROOT, name);
        }
    }

    /// Returns the ticks of the top-level scopes with a name in the current frame.
    pub fn ticks_in_frame(&self, name: u32) -> Option<u64> {
        let outer = self.nodes.iter().find(|node| node.parent == ROOT && node.name == name)?;
        Some(outer.now.total).filter(|ticks| *ticks > 0)
    }

    /// Processes an event that a thread recorded. A scope that closes is passed to `closed`.
    pub fn take(&mut self, event: ScopeEvent, mut closed: impl FnMut(u32, u64, u64)) {
        if event.name != 0 {
            let parent = self.open.last().map_or(ROOT, |open| open.node);
            let node = self.child(parent, event.name);
            self.nodes[node as usize].now.calls += 1;
            self.open.push(OpenScope { node, began: event.tick, since: event.tick });
        } else if let Some(open) = self.open.pop() {
            self.count(open.node, event.tick.saturating_sub(open.since));
            closed(open.node, open.began, event.tick);
        }
    }

    fn count(&mut self, node: u32, ticks: u64) {
        self.nodes[node as usize].now.total += ticks;
        let parent = match self.open.last() {
            Some(open) => open.node,
            None => ROOT,
        };
        self.nodes[parent as usize].now.child += ticks;
    }

    /// Ends a frame that lasted `frame` ticks until `end`. Open scopes are counted up to `end`.
    pub fn end_frame(&mut self, frame: u64, end: u64) {
        let open: Vec<(u32, u64)> =
            self.open.iter().map(|open| (open.node, end.saturating_sub(open.since))).collect();
        for (at, (node, ticks)) in open.iter().enumerate() {
            self.nodes[*node as usize].now.total += ticks;
            let parent = at.checked_sub(1).map_or(ROOT, |at| open[at].0);
            self.nodes[parent as usize].now.child += ticks;
            self.open[at].since = end.max(self.open[at].since);
        }
        for node in &mut self.nodes {
            let last_frame = std::mem::take(&mut node.now);
            let own = last_frame.total.saturating_sub(last_frame.child);
            let percent = if frame == 0 { 0.0 } else { own as f64 / frame as f64 * 100.0 };
            node.last_frame = last_frame;
            node.sum += percent;
            node.own_sum = node.own_sum.saturating_add(own);
            node.own_max = node.own_max.max(own);
            node.frames += 1;
            node.min = if node.frames == 1 { percent } else { node.min.min(percent) };
            node.max = if node.frames == 1 { percent } else { node.max.max(percent) };
        }
    }

    /// Resets averages and extremes, of one name or of all. Returns true if a row was found.
    pub fn reset(&mut self, name: Option<u32>) -> bool {
        let mut found = false;
        for node in &mut self.nodes {
            if name.is_none_or(|name| node.name == name) {
                (node.sum, node.frames, node.min, node.max) = (0.0, 0, 0.0, 0.0);
                (node.own_sum, node.own_max) = (0, 0);
                (node.last_frame, found) = (RowTime::default(), true);
            }
        }
        found
    }

    /// Returns all rows in use, each before its children.
    pub fn rows(&self, seconds_per_tick: f64) -> Vec<ProfileRow> {
        let mut rows = Vec::new();
        let mut pending = vec![self.nodes[ROOT as usize].first];
        while let Some(at) = pending.pop() {
            if at == NONE {
                continue;
            }
            let node = &self.nodes[at as usize];
            pending.extend([node.next, node.first]);
            if node.frames == 0 || (at == MORE && node.max == 0.0) {
                continue;
            }
            let seconds = node.last_frame.total as f64 * seconds_per_tick;
            let own = node.last_frame.total.saturating_sub(node.last_frame.child);
            rows.push(ProfileRow {
                name: self.name(at),
                min: node.min,
                average: node.sum / node.frames as f64,
                max: node.max,
                calls: node.last_frame.calls,
                parents: node.depth,
                average_seconds: node.own_sum as f64 / node.frames as f64 * seconds_per_tick,
                max_seconds: node.own_max as f64 * seconds_per_tick,
                seconds,
                own_seconds: own as f64 * seconds_per_tick,
            });
        }
        rows
    }

    pub fn name(&self, node: u32) -> &'static str {
        match node {
            MORE => "(rows beyond NODES_MAX)",
            node => name_of(self.nodes[node as usize].name),
        }
    }

    /// Returns the names on the path to a row, outermost first.
    pub fn path(&self, node: u32) -> Vec<&'static str> {
        let mut path = Vec::new();
        let mut at = node;
        while at != ROOT {
            path.push(self.name(at));
            at = self.nodes[at as usize].parent;
        }
        path.reverse();
        path
    }
}

impl ScopeNode {
    fn new(name: u32, parent: u32, depth: u32) -> ScopeNode {
        ScopeNode {
            name,
            parent,
            depth,
            first: NONE,
            last: NONE,
            next: NONE,
            last_found: NONE,
            now: RowTime::default(),
            last_frame: RowTime::default(),
            sum: 0.0,
            frames: 0,
            min: 0.0,
            max: 0.0,
            own_sum: 0,
            own_max: 0,
            counter: 0,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::profile::names::name_id;

    /// Plays a frame of events, written as names with their ticks. An end has no name.
    pub fn play(
        tree: &mut ScopeTree,
        frame: (u64, u64),
        events: &[(&str, u64)],
    ) -> Vec<(u32, u64, u64)> {
        let mut closed = Vec::new();
        for (name, tick) in events {
            let name = if name.is_empty() { 0 } else { name_id(name).unwrap() };
            let event = ScopeEvent { tick: *tick, name };
            tree.take(event, |node, began, ended| closed.push((node, began, ended)));
        }
        tree.end_frame(frame.1 - frame.0, frame.1);
        closed
    }

    fn row(tree: &ScopeTree, at: usize) -> (&'static str, u32, f64, f64, f64, u32) {
        let row = &tree.rows(1.0)[at];
        (row.name, row.parents, row.min, row.average, row.max, row.calls)
    }

    #[test]
    fn the_self_time_of_a_row_excludes_its_children() {
        let mut tree = ScopeTree::new();
        let frame = [("frame", 0), ("update", 10), ("ai", 20), ("", 50), ("ai", 50), ("", 60)];
        play(&mut tree, (0, 100), &[&frame[..], &[("", 80), ("", 100)]].concat());
        assert_eq!(row(&tree, 0), ("frame", 0, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 1), ("update", 1, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 2), ("ai", 2, 40.0, 40.0, 40.0, 2));
        assert_eq!(tree.rows(1.0)[1].seconds, 70.0);
    }

    #[test]
    fn a_row_without_calls_in_a_frame_counts_as_zero() {
        let mut tree = ScopeTree::new();
        play(&mut tree, (0, 100), &[("frame", 0), ("ai", 20), ("", 60), ("", 100)]);
        play(&mut tree, (100, 200), &[("frame", 100), ("", 200)]);
        assert_eq!(row(&tree, 0), ("frame", 0, 60.0, 80.0, 100.0, 1));
        assert_eq!(row(&tree, 1), ("ai", 1, 0.0, 20.0, 40.0, 0));
        let ai = &tree.rows(0.5)[1];
        assert_eq!((ai.average_seconds, ai.max_seconds), (10.0, 20.0));
    }

    #[test]
    fn a_recursive_scope_has_a_nested_row() {
        let mut tree = ScopeTree::new();
        let events = [("walk", 0), ("walk", 10), ("walk", 20), ("", 30), ("", 50), ("", 100)];
        play(&mut tree, (0, 100), &events);
        assert_eq!(row(&tree, 0), ("walk", 0, 60.0, 60.0, 60.0, 1));
        assert_eq!(row(&tree, 1), ("walk", 1, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 2), ("walk", 2, 10.0, 10.0, 10.0, 1));
        assert_eq!(tree.path(4), ["walk", "walk", "walk"]);
    }

    #[test]
    fn the_same_name_in_two_scopes_is_two_rows() {
        let mut tree = ScopeTree::new();
        let first = [("a", 0), ("sort", 0), ("", 10), ("", 10)];
        let second = [("b", 10), ("sort", 10), ("", 40), ("", 50)];
        play(&mut tree, (0, 100), &[first, second].concat());
        let names: Vec<_> = tree.rows(1.0).iter().map(|it| (it.name, it.parents)).collect();
        assert_eq!(names, [("a", 0), ("sort", 1), ("b", 0), ("sort", 1)]);
    }

    #[test]
    fn a_scope_across_frames_counts_in_each_frame() {
        let mut tree = ScopeTree::new();
        assert_eq!(play(&mut tree, (0, 100), &[("load", 50)]), []);
        assert_eq!(row(&tree, 0), ("load", 0, 50.0, 50.0, 50.0, 1));
        let closed = play(&mut tree, (100, 200), &[("read", 110), ("", 130), ("", 160)]);
        assert_eq!((closed[1].1, closed[1].2), (50, 160));
        assert_eq!(row(&tree, 0), ("load", 0, 40.0, 45.0, 50.0, 0));
        assert_eq!(row(&tree, 1), ("read", 1, 20.0, 20.0, 20.0, 1));
    }

    #[test]
    fn a_reset_clears_averages_and_extremes() {
        let mut tree = ScopeTree::new();
        play(&mut tree, (0, 100), &[("frame", 0), ("ai", 0), ("", 90), ("", 100)]);
        assert!(tree.reset(name_id("ai")) && !tree.reset(Some(u32::MAX)));
        play(&mut tree, (100, 200), &[("frame", 100), ("ai", 100), ("", 120), ("", 200)]);
        assert_eq!(row(&tree, 1), ("ai", 1, 20.0, 20.0, 20.0, 1));
        assert_eq!(row(&tree, 0), ("frame", 0, 10.0, 45.0, 80.0, 1));
        assert!(tree.reset(None) && tree.rows(1.0).is_empty());
    }
}
