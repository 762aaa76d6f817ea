//! The profiler: named scopes inside each other, on every thread, what each took in a frame, and
//! the last frames as they were. Scripts use it through `Profiler`; this knows none.
//!
//! A place in the code opens a scope with [`scope!`](crate::scope) until the end of its block:
//!
//! ```text
//! scope!("physics");
//! ```
//!
//! It costs the reading of two clocks and two stores; while nothing is profiled (a release), one
//! load and a branch. What was written down is made into rows at the frame's end.

mod clock;
mod export;
mod lane;
mod names;
mod report;
mod tree;

use crate::foundation::counters;
use crate::foundation::fault;
use lane::Lane;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Mutex;
use tree::{ROOT, Tree};

pub use export::{chrome_trace, flame_graph, folded_stacks};
pub use lane::{Closed, DEPTH_MAX, EVENTS_MAX, LANES_MAX, Scope};
pub use lane::{begin_script, end_script, is_enabled, open_script, set_enabled};
pub use names::{NAME_BYTES_MAX, SCOPES_MAX, Site, name_id, name_of};
pub use report::{Handler, Text, output, report};
pub use tree::{NODES_MAX, Row, Span};

/// Frames that are kept as they were.
pub const FRAMES_KEPT: usize = 600;
/// Scopes of all kept frames together; there are fewer frames where they have more.
pub const SPANS_KEPT: usize = 1 << 20;

/// Opens a scope until the end of the block: `scope!("gui");`
#[macro_export]
macro_rules! scope {
    ($name:literal) => {
        let _scope = {
            static SITE: $crate::foundation::profile::Site =
                $crate::foundation::profile::Site::new($name);
            $crate::foundation::profile::Scope::begin(&SITE)
        };
    };
}

/// A frame as it was.
struct Kept {
    index: u64,
    began: u64,
    ended: u64,
    spans: Vec<Span>,
}

/// One thread and its rows.
struct Track {
    lane: &'static Lane,
    name: String,
    tree: Tree,
}

struct Profile {
    tracks: Vec<Track>,
    frames: VecDeque<Kept>,
    spans: usize,
    /// The array of a frame that is no longer kept, to be used again.
    spare: Vec<Span>,
    lost: u64,
}

/// What all of a frame lies in.
static FRAME: Site = Site::new("frame");

/// The running frame's own scope: opened by `begin_frame`, closed by `end_frame`.
struct Root {
    began: u64,
    scope: Scope,
}

static PROFILE: Mutex<Profile> = Mutex::new(Profile {
    tracks: Vec::new(),
    frames: VecDeque::new(),
    spans: 0,
    spare: Vec::new(),
    lost: 0,
});

thread_local! {
    static ROOT_SCOPE: RefCell<Option<Root>> = const { RefCell::new(None) };
}

fn with<R>(f: impl FnOnce(&mut Profile) -> R) -> R {
    crate::owner!("profiler");
    f(&mut PROFILE.lock().unwrap_or_else(|poison| poison.into_inner()))
}

/// Opens the scope "frame", in which all of a frame lies. Where it is open, nothing happens.
pub fn begin_frame() {
    if !is_enabled() || ROOT_SCOPE.with_borrow(Option::is_some) {
        return;
    }
    // What has to be made for a thread's first scope is made before the time is taken.
    lane::own();
    FRAME.id();
    ROOT_SCOPE.set(Some(Root { began: clock::ticks(), scope: Scope::begin(&FRAME) }));
}

/// Closes that scope, and makes rows of what all threads wrote down. To be called on the thread of
/// `begin_frame`.
pub fn end_frame(index: u64) {
    let Some(Root { began, scope }) = ROOT_SCOPE.take() else { return };
    drop(scope);
    let ended = clock::ticks();
    with(|profile| profile.end_frame(index, began, ended));
}

/// Leaves out what was written down since the last frame ended: work between frames.
pub fn leave_out() {
    with(|profile| {
        profile.find_lanes(lane::own());
        for track in &profile.tracks {
            track.lane.drain(|_| {});
        }
    });
}

impl Profile {
    fn end_frame(&mut self, index: u64, began: u64, ended: u64) {
        self.find_lanes(lane::own());
        let mut spans = std::mem::take(&mut self.spare);
        spans.clear();
        let mut frame = ended.saturating_sub(began);
        for (at, track) in self.tracks.iter_mut().enumerate() {
            let lane = at as u16;
            let Track { lane: from, tree, .. } = track;
            from.drain(|event| {
                tree.take(event, |node, began, ended| {
                    spans.push(Span { lane, node, began, ended });
                });
            });
            self.lost += from.take_lost();
            if lane::own().is_some_and(|own| std::ptr::eq(own, *from)) {
                // By its own events, so that shares sum to all of it.
                frame = tree.ticks_so_far(FRAME.id()).unwrap_or(frame);
            }
        }
        for track in &mut self.tracks {
            track.tree.end_frame(frame, ended);
        }
        self.count_scopes();
        self.keep(Kept { index, began, ended, spans });
    }

    /// Adds the threads that are new. The one that plays the frames comes first.
    fn find_lanes(&mut self, own: Option<&'static Lane>) {
        for lane in lane::all() {
            let name = fault::lock(&lane.name).clone();
            match self.tracks.iter().position(|track| std::ptr::eq(track.lane, lane)) {
                Some(at) if self.tracks[at].name == name => {}
                Some(at) => self.begin_anew(at, name),
                None => self.tracks.push(Track { lane, name, tree: Tree::new() }),
            }
        }
        let is_own = |track: &Track| own.is_some_and(|own| std::ptr::eq(track.lane, own));
        if let Some(at) = self.tracks.iter().position(is_own).filter(|at| *at > 0) {
            // Before the first frame no span names a thread by its place.
            if self.frames.is_empty() {
                self.tracks.swap(0, at);
            }
        }
        if let Some(track) = self.tracks.iter_mut().find(|track| is_own(track)) {
            track.tree.put_first(FRAME.id());
        }
    }

    /// Another thread has a lane now: what was before is of no thread that is there.
    fn begin_anew(&mut self, at: usize, name: String) {
        (self.tracks[at].name, self.tracks[at].tree) = (name, Tree::new());
        for frame in &mut self.frames {
            let before = frame.spans.len();
            frame.spans.retain(|span| usize::from(span.lane) != at);
            self.spans -= before - frame.spans.len();
        }
    }

    /// Every row is a counter, of milliseconds in the frame.
    fn count_scopes(&mut self) {
        let per_tick = clock::seconds_per_tick() * 1e3;
        for (at, track) in self.tracks.iter_mut().enumerate() {
            for number in ROOT as usize + 2..track.tree.nodes.len() {
                let (took, counter) = {
                    let node = &track.tree.nodes[number];
                    (node.took, node.counter)
                };
                let counter = match counter {
                    0 => {
                        let path = track.tree.path(number as u32).join("/");
                        let thread = if at == 0 { String::new() } else { track.name.clone() + "/" };
                        let made = counters::scope_counter(&format!("scopes/{thread}{path}"));
                        track.tree.nodes[number].counter = made;
                        made
                    }
                    known => known,
                };
                if took.total > 0 {
                    counters::add(counter, took.total as f64 * per_tick);
                }
            }
        }
    }

    fn keep(&mut self, frame: Kept) {
        self.spans += frame.spans.len();
        self.frames.push_back(frame);
        while self.frames.len() > FRAMES_KEPT || (self.spans > SPANS_KEPT && self.frames.len() > 1)
        {
            let oldest = self.frames.pop_front().expect("there is more than one");
            self.spans -= oldest.spans.len();
            self.spare = oldest.spans;
        }
    }
}

/// The rows of one thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Thread {
    pub name: String,
    pub rows: Vec<Row>,
}

/// The rows of all threads; the first is the one that plays the frames.
pub fn threads() -> Vec<Thread> {
    let per_tick = clock::seconds_per_tick();
    with(|profile| {
        let each = profile
            .tracks
            .iter()
            .map(|track| Thread { name: track.name.clone(), rows: track.tree.rows(per_tick) });
        each.collect()
    })
}

/// Forgets the averages and extremes of one scope, or of all. Whether there was one.
pub fn reset(name: Option<&str>) -> bool {
    let number = match name {
        None => None,
        Some(name) => match names::known(name) {
            Some(number) => Some(number),
            None => return false,
        },
    };
    with(|profile| {
        let mut found = false;
        for track in &mut profile.tracks {
            found |= track.tree.reset(number);
        }
        found
    })
}

/// Forgets everything, also the kept frames: another game begins in this process.
pub fn forget() {
    ROOT_SCOPE.take();
    with(|profile| {
        for track in &mut profile.tracks {
            track.lane.drain(|_| {});
            track.lane.take_lost();
            track.tree = Tree::new();
        }
        (profile.spans, profile.lost) = (0, 0);
        profile.frames.clear();
    });
}

/// How many scopes were left out because they lay too deep, or were too many in a frame.
pub fn lost() -> u64 {
    with(|profile| profile.lost)
}

/// One closed scope, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Closing {
    pub thread: String,
    pub name: &'static str,
    /// How many scopes it lies in.
    pub parents: u32,
    /// Seconds from the beginning of the frame; below 0 where it began before.
    pub began: f64,
    pub seconds: f64,
}

/// A frame that is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    pub index: u64,
    /// Seconds between its beginning and that of the first frame that is kept.
    pub began: f64,
    pub seconds: f64,
    /// In the order in which they closed, thread by thread.
    pub scopes: Vec<Closing>,
}

/// The last frames, oldest first: those after the frame of that index, `count` at most.
pub fn frames(after: u64, count: usize) -> Vec<Frame> {
    let per_tick = clock::seconds_per_tick();
    with(|profile| {
        let first = profile.frames.front().map_or(0, |frame| frame.began);
        let wanted: Vec<_> = profile.frames.iter().filter(|frame| frame.index > after).collect();
        let skipped = wanted.len().saturating_sub(count);
        let frames = wanted.into_iter().skip(skipped).map(|frame| {
            let scopes = frame.spans.iter().map(|span| {
                let track = &profile.tracks[usize::from(span.lane)];
                Closing {
                    thread: track.name.clone(),
                    name: track.tree.name(span.node),
                    parents: track.tree.nodes[span.node as usize].depth,
                    began: (span.began as f64 - frame.began as f64) * per_tick,
                    seconds: (span.ended - span.began) as f64 * per_tick,
                }
            });
            Frame {
                index: frame.index,
                began: (frame.began - first) as f64 * per_tick,
                seconds: (frame.ended - frame.began) as f64 * per_tick,
                scopes: scopes.collect(),
            }
        });
        frames.collect()
    })
}

/// What a test holds while it uses what all threads share.
#[cfg(test)]
pub(crate) fn exclusive() -> std::sync::MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poison| poison.into_inner())
}

#[cfg(test)]
mod tests;
