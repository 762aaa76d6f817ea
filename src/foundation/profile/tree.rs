//! The scopes of one thread as a tree: which lies in which, what each took in a frame, and on
//! average. The same name inside of another scope is another row, and so is a scope inside of
//! itself. After the profiler of Enginuity part 3 (Richard Fine).

use super::lane::Event;
use super::names::name_of;

/// Rows of one thread; what is more is counted under one row of its own.
pub const NODES_MAX: usize = 8192;

/// The tree's root, under which everything lies; it is no scope.
pub(super) const ROOT: u32 = 0;
/// What found no room.
const MORE: u32 = 1;
const NONE: u32 = u32::MAX;

/// What a row took in one frame.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Took {
    pub calls: u32,
    /// In ticks, with what lies inside.
    pub total: u64,
    /// In ticks, of what lies inside.
    pub child: u64,
}

/// One row.
pub(super) struct Node {
    pub name: u32,
    pub parent: u32,
    /// How many scopes it lies in.
    pub depth: u32,
    first: u32,
    last: u32,
    next: u32,
    /// The child that was met last: the next one is probably behind it.
    lately: u32,
    now: Took,
    /// The frame before.
    pub took: Took,
    /// Its share of the frame, summed up over `frames` frames.
    sum: f64,
    frames: u64,
    min: f64,
    max: f64,
    /// The counter that has its milliseconds; 0 before there is one.
    pub counter: u32,
}

/// A scope that is open.
struct Open {
    node: u32,
    began: u64,
    /// Where the running frame began to count it.
    since: u64,
}

/// One closed scope.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Which thread, as an index.
    pub lane: u16,
    /// Which row of its tree.
    pub node: u32,
    pub began: u64,
    pub ended: u64,
}

/// What a row tells: shares of the frame in percent, without what lies inside.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub name: &'static str,
    pub min: f64,
    pub average: f64,
    pub max: f64,
    /// How often it was opened in the last frame.
    pub calls: u32,
    /// How many scopes it lies in.
    pub parents: u32,
    /// Seconds of the last frame, with what lies inside.
    pub seconds: f64,
    /// Without it.
    pub own_seconds: f64,
}

pub(super) struct Tree {
    pub nodes: Vec<Node>,
    open: Vec<Open>,
}

impl Tree {
    pub fn new() -> Tree {
        let mut tree = Tree { nodes: Vec::new(), open: Vec::new() };
        tree.nodes.push(Node::new(0, NONE, 0));
        tree.add(0, ROOT);
        tree
    }

    fn add(&mut self, name: u32, parent: u32) -> u32 {
        let number = self.nodes.len() as u32;
        let depth = if parent == ROOT { 0 } else { self.nodes[parent as usize].depth + 1 };
        self.nodes.push(Node::new(name, parent, depth));
        let before = self.nodes[parent as usize].last;
        match before {
            NONE => self.nodes[parent as usize].first = number,
            before => self.nodes[before as usize].next = number,
        }
        self.nodes[parent as usize].last = number;
        number
    }

    /// The row of a name in another row.
    fn child(&mut self, parent: u32, name: u32) -> u32 {
        let holder = &self.nodes[parent as usize];
        let (first, lately) = (holder.first, holder.lately);
        let near = match lately {
            NONE => first,
            lately if self.nodes[lately as usize].name == name => lately,
            lately => self.nodes[lately as usize].next,
        };
        let is_it = |at: u32| at != NONE && self.nodes[at as usize].name == name;
        let mut at = if is_it(near) { near } else { first };
        while at != NONE && self.nodes[at as usize].name != name {
            at = self.nodes[at as usize].next;
        }
        if at == NONE {
            at = match self.nodes.len() < NODES_MAX {
                true => self.add(name, parent),
                false => MORE,
            };
        }
        self.nodes[parent as usize].lately = at;
        at
    }

    /// Has a name's row stand before all others, where there is none yet.
    pub fn put_first(&mut self, name: u32) {
        if self.nodes.len() == 2 {
            self.child(ROOT, name);
        }
    }

    /// What the scopes of a name that lie in no other took in the running frame.
    pub fn ticks_so_far(&self, name: u32) -> Option<u64> {
        let outer = self.nodes.iter().find(|node| node.parent == ROOT && node.name == name)?;
        Some(outer.now.total).filter(|ticks| *ticks > 0)
    }

    /// Takes what a thread wrote down; what closed is handed to `closed`.
    pub fn take(&mut self, event: Event, mut closed: impl FnMut(u32, u64, u64)) {
        if event.name != 0 {
            let parent = self.open.last().map_or(ROOT, |open| open.node);
            let node = self.child(parent, event.name);
            self.nodes[node as usize].now.calls += 1;
            self.open.push(Open { node, began: event.tick, since: event.tick });
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

    /// Ends a frame that lasted `frame` ticks until `end`: what is open is counted until now.
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
            let took = std::mem::take(&mut node.now);
            let own = took.total.saturating_sub(took.child);
            let percent = if frame == 0 { 0.0 } else { own as f64 / frame as f64 * 100.0 };
            node.took = took;
            node.sum += percent;
            node.frames += 1;
            node.min = if node.frames == 1 { percent } else { node.min.min(percent) };
            node.max = if node.frames == 1 { percent } else { node.max.max(percent) };
        }
    }

    /// Forgets averages and extremes, of one name or of all. Whether there was any.
    pub fn reset(&mut self, name: Option<u32>) -> bool {
        let mut found = false;
        for node in &mut self.nodes {
            if name.is_none_or(|name| node.name == name) {
                (node.sum, node.frames, node.min, node.max) = (0.0, 0, 0.0, 0.0);
                (node.took, found) = (Took::default(), true);
            }
        }
        found
    }

    /// Every row that was met, each before those inside of it.
    pub fn rows(&self, seconds_per_tick: f64) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut left = vec![self.nodes[ROOT as usize].first];
        while let Some(at) = left.pop() {
            if at == NONE {
                continue;
            }
            let node = &self.nodes[at as usize];
            left.extend([node.next, node.first]);
            if node.frames == 0 || (at == MORE && node.max == 0.0) {
                continue;
            }
            let seconds = node.took.total as f64 * seconds_per_tick;
            let own = node.took.total.saturating_sub(node.took.child);
            rows.push(Row {
                name: self.name(at),
                min: node.min,
                average: node.sum / node.frames as f64,
                max: node.max,
                calls: node.took.calls,
                parents: node.depth,
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

    /// The names of a row and of what it lies in, outermost first.
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

impl Node {
    fn new(name: u32, parent: u32, depth: u32) -> Node {
        Node {
            name,
            parent,
            depth,
            first: NONE,
            last: NONE,
            next: NONE,
            lately: NONE,
            now: Took::default(),
            took: Took::default(),
            sum: 0.0,
            frames: 0,
            min: 0.0,
            max: 0.0,
            counter: 0,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::foundation::profile::names::name_id;

    /// A frame of events, written as names with their ticks; an end has no name.
    pub fn play(
        tree: &mut Tree,
        frame: (u64, u64),
        events: &[(&str, u64)],
    ) -> Vec<(u32, u64, u64)> {
        let mut closed = Vec::new();
        for (name, tick) in events {
            let name = if name.is_empty() { 0 } else { name_id(name).unwrap() };
            let event = Event { tick: *tick, name };
            tree.take(event, |node, began, ended| closed.push((node, began, ended)));
        }
        tree.end_frame(frame.1 - frame.0, frame.1);
        closed
    }

    fn row(tree: &Tree, at: usize) -> (&'static str, u32, f64, f64, f64, u32) {
        let row = &tree.rows(1.0)[at];
        (row.name, row.parents, row.min, row.average, row.max, row.calls)
    }

    #[test]
    fn a_row_has_its_own_share_of_the_frame_without_what_lies_inside() {
        let mut tree = Tree::new();
        let frame = [("frame", 0), ("update", 10), ("ai", 20), ("", 50), ("ai", 50), ("", 60)];
        play(&mut tree, (0, 100), &[&frame[..], &[("", 80), ("", 100)]].concat());
        assert_eq!(row(&tree, 0), ("frame", 0, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 1), ("update", 1, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 2), ("ai", 2, 40.0, 40.0, 40.0, 2));
        assert_eq!(tree.rows(1.0)[1].seconds, 70.0);
    }

    #[test]
    fn a_row_that_is_not_met_in_a_frame_counts_as_nothing_in_it() {
        let mut tree = Tree::new();
        play(&mut tree, (0, 100), &[("frame", 0), ("ai", 20), ("", 60), ("", 100)]);
        play(&mut tree, (100, 200), &[("frame", 100), ("", 200)]);
        assert_eq!(row(&tree, 0), ("frame", 0, 60.0, 80.0, 100.0, 1));
        assert_eq!(row(&tree, 1), ("ai", 1, 0.0, 20.0, 40.0, 0));
    }

    #[test]
    fn a_scope_inside_of_itself_is_another_row() {
        let mut tree = Tree::new();
        let events = [("walk", 0), ("walk", 10), ("walk", 20), ("", 30), ("", 50), ("", 100)];
        play(&mut tree, (0, 100), &events);
        assert_eq!(row(&tree, 0), ("walk", 0, 60.0, 60.0, 60.0, 1));
        assert_eq!(row(&tree, 1), ("walk", 1, 30.0, 30.0, 30.0, 1));
        assert_eq!(row(&tree, 2), ("walk", 2, 10.0, 10.0, 10.0, 1));
        assert_eq!(tree.path(4), ["walk", "walk", "walk"]);
    }

    #[test]
    fn the_same_name_in_two_scopes_is_two_rows() {
        let mut tree = Tree::new();
        let first = [("a", 0), ("sort", 0), ("", 10), ("", 10)];
        let second = [("b", 10), ("sort", 10), ("", 40), ("", 50)];
        play(&mut tree, (0, 100), &[first, second].concat());
        let names: Vec<_> = tree.rows(1.0).iter().map(|it| (it.name, it.parents)).collect();
        assert_eq!(names, [("a", 0), ("sort", 1), ("b", 0), ("sort", 1)]);
    }

    #[test]
    fn a_scope_that_outlasts_a_frame_counts_in_each() {
        let mut tree = Tree::new();
        assert_eq!(play(&mut tree, (0, 100), &[("load", 50)]), []);
        assert_eq!(row(&tree, 0), ("load", 0, 50.0, 50.0, 50.0, 1));
        let closed = play(&mut tree, (100, 200), &[("read", 110), ("", 130), ("", 160)]);
        assert_eq!((closed[1].1, closed[1].2), (50, 160));
        assert_eq!(row(&tree, 0), ("load", 0, 40.0, 45.0, 50.0, 0));
        assert_eq!(row(&tree, 1), ("read", 1, 20.0, 20.0, 20.0, 1));
    }

    #[test]
    fn a_reset_forgets_averages_and_extremes() {
        let mut tree = Tree::new();
        play(&mut tree, (0, 100), &[("frame", 0), ("ai", 0), ("", 90), ("", 100)]);
        assert!(tree.reset(name_id("ai")) && !tree.reset(Some(u32::MAX)));
        play(&mut tree, (100, 200), &[("frame", 100), ("ai", 100), ("", 120), ("", 200)]);
        assert_eq!(row(&tree, 1), ("ai", 1, 20.0, 20.0, 20.0, 1));
        assert_eq!(row(&tree, 0), ("frame", 0, 10.0, 45.0, 80.0, 1));
        assert!(tree.reset(None) && tree.rows(1.0).is_empty());
    }
}
