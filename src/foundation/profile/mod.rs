//! The profiler: nested, named scopes on every thread, the time of each scope in a frame, and a
//! history of the last frames. Scripts use it through `Profiler`. This module knows no scripts.
//!
//! Code opens a scope with [`scope!`](crate::scope) until the end of its block:
//!
//! ```text
//! scope!("physics");
//! ```
//!
//! A scope costs two clock reads and two stores. If profiling is off, as in a release, it costs one
//! load and a branch. The recorded events are converted to rows at the end of the frame.

mod clock;
mod export;
mod gpu_passes;
mod names;
mod report;
mod thread_buffer;
mod tree;

use crate::counters;
use crate::panic;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Mutex;
use thread_buffer::ThreadBuffer;
use tree::{ROOT, ScopeTree};

pub use export::{chrome_trace, flame_graph, folded_stacks};
pub use gpu_passes::{GPU_FRAMES_KEPT, GPU_PASSES_MAX, GpuFrame, GpuSpan};
pub use gpu_passes::{gpu_frames, set_gpu_passes};
pub use names::{NAME_BYTES_MAX, SCOPES_MAX, ScopeSite, name_id, name_of};
pub use report::{RowVisitor, TextReport, output, report};
pub use thread_buffer::{CloseResult, DEPTH_MAX, EVENTS_MAX, LANES_MAX, ProfileScope};
pub use thread_buffer::{begin_script, end_script, is_enabled, open_script, set_enabled};
pub use tree::{NODES_MAX, ProfileRow, ScopeSpan};

/// Maximum number of frames in the history.
pub const FRAMES_KEPT: usize = 600;
/// Maximum number of scopes in all kept frames together. If frames have more scopes, fewer frames
/// are kept.
pub const SPANS_KEPT: usize = 1 << 20;

/// Opens a scope until the end of the block: `scope!("gui");`
#[macro_export]
macro_rules! scope {
    ($name:literal) => {
        let _scope = {
            static SITE: $crate::profile::ScopeSite = $crate::profile::ScopeSite::new($name);
            $crate::profile::ProfileScope::begin(&SITE)
        };
    };
}

/// The recorded scopes of one frame.
struct RetainedFrame {
    index: u64,
    began: u64,
    ended: u64,
    spans: Vec<ScopeSpan>,
}

/// One thread with its event buffer and its tree of scopes.
struct ThreadTrack {
    buffer: &'static ThreadBuffer,
    name: String,
    tree: ScopeTree,
}

struct ProfilerState {
    tracks: Vec<ThreadTrack>,
    frames: VecDeque<RetainedFrame>,
    spans: usize,
    /// The array of a discarded frame, for reuse.
    spare: Vec<ScopeSpan>,
    lost: u64,
}

/// The root scope that contains everything in a frame.
static FRAME: ScopeSite = ScopeSite::new("frame");

/// The current frame's root scope: opened by `begin_frame`, closed by `end_frame`.
struct RootScope {
    began: u64,
    scope: ProfileScope,
}

static PROFILE: Mutex<ProfilerState> = Mutex::new(ProfilerState {
    tracks: Vec::new(),
    frames: VecDeque::new(),
    spans: 0,
    spare: Vec::new(),
    lost: 0,
});

thread_local! {
    static ROOT_SCOPE: RefCell<Option<RootScope>> = const { RefCell::new(None) };
}

fn with<R>(f: impl FnOnce(&mut ProfilerState) -> R) -> R {
    crate::owner!("profiler");
    f(&mut PROFILE.lock().unwrap_or_else(|poison| poison.into_inner()))
}

/// Opens the scope "frame", which contains everything in a frame. Does nothing if it is open.
pub fn begin_frame() {
    if !is_enabled() || ROOT_SCOPE.with_borrow(Option::is_some) {
        return;
    }
    // The allocations for a thread's first scope are done before the time is taken.
    thread_buffer::of_this_thread();
    FRAME.id();
    ROOT_SCOPE.set(Some(RootScope { began: clock::ticks(), scope: ProfileScope::begin(&FRAME) }));
}

/// Closes the scope "frame", and converts the events of all threads to rows. Must be called on the
/// thread of `begin_frame`.
pub fn end_frame(index: u64) {
    let Some(RootScope { began, scope }) = ROOT_SCOPE.take() else { return };
    drop(scope);
    let ended = clock::ticks();
    with(|profile| profile.end_frame(index, began, ended));
}

/// Discards the events that were recorded since the last frame ended: work between frames.
pub fn discard_events() {
    with(|profile| {
        profile.find_tracks(thread_buffer::of_this_thread());
        for track in &profile.tracks {
            track.buffer.drain(|_| {});
        }
    });
}

impl ProfilerState {
    fn end_frame(&mut self, index: u64, began: u64, ended: u64) {
        self.find_tracks(thread_buffer::of_this_thread());
        let mut spans = std::mem::take(&mut self.spare);
        spans.clear();
        let mut frame = ended.saturating_sub(began);
        for (at, track) in self.tracks.iter_mut().enumerate() {
            let track_index = at as u16;
            let ThreadTrack { buffer: from, tree, .. } = track;
            from.drain(|event| {
                tree.take(event, |node, began, ended| {
                    spans.push(ScopeSpan { track: track_index, node, began, ended });
                });
            });
            self.lost += from.take_dropped();
            if thread_buffer::of_this_thread().is_some_and(|own| std::ptr::eq(own, *from)) {
                // The frame's duration comes from its own events, so that the shares add up to all
                // of it.
                frame = tree.ticks_in_frame(FRAME.id()).unwrap_or(frame);
            }
        }
        for track in &mut self.tracks {
            track.tree.end_frame(frame, ended);
        }
        self.count_scopes();
        self.retain_frame(RetainedFrame { index, began, ended, spans });
    }

    /// Returns a kept frame with its names as text. `first` is the beginning of the first frame.
    fn frame_of(&self, frame: &RetainedFrame, first: u64, per_tick: f64) -> ProfileFrame {
        let scopes = frame.spans.iter().map(|span| {
            let track = &self.tracks[usize::from(span.track)];
            ClosedScope {
                thread: track.name.clone(),
                name: track.tree.name(span.node),
                parents: track.tree.nodes[span.node as usize].depth,
                began: (span.began as f64 - frame.began as f64) * per_tick,
                seconds: (span.ended - span.began) as f64 * per_tick,
            }
        });
        ProfileFrame {
            index: frame.index,
            began: (frame.began - first) as f64 * per_tick,
            seconds: (frame.ended - frame.began) as f64 * per_tick,
            scopes: scopes.collect(),
        }
    }

    /// Adds tracks for new threads. The thread that plays the frames comes first.
    fn find_tracks(&mut self, own: Option<&'static ThreadBuffer>) {
        for buffer in thread_buffer::all() {
            let name = panic::lock(&buffer.name).clone();
            match self.tracks.iter().position(|track| std::ptr::eq(track.buffer, buffer)) {
                Some(at) if self.tracks[at].name == name => {}
                Some(at) => self.reset_track(at, name),
                None => self.tracks.push(ThreadTrack { buffer, name, tree: ScopeTree::new() }),
            }
        }
        let is_own = |track: &ThreadTrack| own.is_some_and(|own| std::ptr::eq(track.buffer, own));
        if let Some(at) = self.tracks.iter().position(is_own).filter(|at| *at > 0) {
            // Before the first frame, no span refers to a thread by its index.
            if self.frames.is_empty() {
                self.tracks.swap(0, at);
            }
        }
        if let Some(track) = self.tracks.iter_mut().find(|track| is_own(track)) {
            track.tree.move_to_front(FRAME.id());
        }
    }

    /// Resets a track because another thread has taken its buffer. The earlier thread has ended.
    fn reset_track(&mut self, at: usize, name: String) {
        (self.tracks[at].name, self.tracks[at].tree) = (name, ScopeTree::new());
        for frame in &mut self.frames {
            let before = frame.spans.len();
            frame.spans.retain(|span| usize::from(span.track) != at);
            self.spans -= before - frame.spans.len();
        }
    }

    /// Publishes every row as a counter of milliseconds in the frame.
    fn count_scopes(&mut self) {
        let per_tick = clock::seconds_per_tick() * 1e3;
        for (at, track) in self.tracks.iter_mut().enumerate() {
            for number in ROOT as usize + 2..track.tree.nodes.len() {
                let (last_frame, counter) = {
                    let node = &track.tree.nodes[number];
                    (node.last_frame, node.counter)
                };
                let counter = match counter {
                    0 => {
                        let path = track.tree.path(number as u32).join("/");
                        let thread = if at == 0 { String::new() } else { track.name.clone() + "/" };
                        let new_counter =
                            counters::scope_counter(&format!("scopes/{thread}{path}"));
                        track.tree.nodes[number].counter = new_counter;
                        new_counter
                    }
                    known => known,
                };
                if last_frame.total > 0 {
                    counters::add(counter, last_frame.total as f64 * per_tick);
                }
            }
        }
    }

    fn retain_frame(&mut self, frame: RetainedFrame) {
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
pub struct ThreadRows {
    pub name: String,
    pub rows: Vec<ProfileRow>,
}

/// Returns the rows of all threads. The first thread is the one that plays the frames.
pub fn threads() -> Vec<ThreadRows> {
    let per_tick = clock::seconds_per_tick();
    with(|profile| {
        let each = profile
            .tracks
            .iter()
            .map(|track| ThreadRows { name: track.name.clone(), rows: track.tree.rows(per_tick) });
        each.collect()
    })
}

/// Resets the averages and extremes of one scope, or of all. Returns true if a scope was found.
pub fn reset(name: Option<&str>) -> bool {
    let number = match name {
        None => None,
        Some(name) => match names::find_id(name) {
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

/// Clears everything, including the kept frames, before another game starts in this process.
pub fn clear_all() {
    ROOT_SCOPE.take();
    gpu_passes::clear();
    with(|profile| {
        for track in &mut profile.tracks {
            track.buffer.drain(|_| {});
            track.buffer.take_dropped();
            track.tree = ScopeTree::new();
        }
        (profile.spans, profile.lost) = (0, 0);
        profile.frames.clear();
    });
}

/// Returns the number of scopes that were dropped because they were nested too deeply, or because a
/// frame had too many.
pub fn dropped_scopes() -> u64 {
    with(|profile| profile.lost)
}

/// A closed scope with its names as text.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosedScope {
    pub thread: String,
    pub name: &'static str,
    /// Number of scopes that contain this one.
    pub parents: u32,
    /// Seconds since the beginning of the frame; negative if the scope began earlier.
    pub began: f64,
    pub seconds: f64,
}

/// A frame of the history.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileFrame {
    pub index: u64,
    /// Seconds from the beginning of the first kept frame to the beginning of this one.
    pub began: f64,
    pub seconds: f64,
    /// The scopes, thread by thread, in the order in which they closed.
    pub scopes: Vec<ClosedScope>,
}

/// Returns the last frames, oldest first: at most `count` frames after the frame with index
/// `after`.
pub fn frames(after: u64, count: usize) -> Vec<ProfileFrame> {
    let per_tick = clock::seconds_per_tick();
    with(|profile| {
        let first = profile.frames.front().map_or(0, |frame| frame.began);
        let wanted: Vec<_> = profile.frames.iter().filter(|frame| frame.index > after).collect();
        let skipped = wanted.len().saturating_sub(count);
        let frames = wanted.into_iter().skip(skipped);
        frames.map(|frame| profile.frame_of(frame, first, per_tick)).collect()
    })
}

/// Returns the frame with an index, if it is still kept.
pub fn frame(index: u64) -> Option<ProfileFrame> {
    let per_tick = clock::seconds_per_tick();
    with(|profile| {
        let first = profile.frames.front()?.began;
        let found = profile.frames.iter().find(|frame| frame.index == index)?;
        Some(profile.frame_of(found, first, per_tick))
    })
}

/// Returns a lock for tests that use the state that all threads share.
#[cfg(test)]
pub fn exclusive() -> std::sync::MutexGuard<'static, ()> {
    static TEST_LOCK: Mutex<()> = Mutex::new(());
    TEST_LOCK.lock().unwrap_or_else(|poison| poison.into_inner())
}

#[cfg(test)]
mod tests;
