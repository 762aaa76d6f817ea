//! Counters, the profiler's rows and the tree of memory for tools. They are the foundation's
//! (counters/, profile/, memory/); here they become messages.

use super::messages::{text, truth, whole};
use super::streams::Timed;
use super::{Call, Peer, Refusal};
use crate::foundation::sjson::Tree;
use crate::foundation::{counters, memory, profile, suggest};
use crate::system::tools::{Bytes, json};
use std::collections::HashMap;
use std::time::Instant;

/// The most counters that one client follows.
pub const FOLLOWED_MAX: usize = 64;
/// The most frames of a counter in one message.
const FRAMES_TOLD: usize = 240;
/// The most frames of the profiler in one message, and the most scopes of them all.
const PROFILES_TOLD: usize = 8;
const SCOPES_TOLD: usize = 4000;

/// The counters that a client follows. They keep their histories as long as this lives.
pub struct Followed {
    pub timed: Timed,
    counters: Vec<(u32, String)>,
    /// How many frames were told.
    told: u64,
}

impl Drop for Followed {
    fn drop(&mut self) {
        for (number, _) in &self.counters {
            counters::unwatch(*number);
        }
    }
}

/// Every counter, or those whose name has a text.
pub fn list(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let filter = text(call.fields, "text").unwrap_or_default();
    let most = whole(call.fields, "max").unwrap_or(5000) as usize;
    let mut all = counters::all();
    all.retain(|(name, _)| name.contains(filter));
    all.sort_by(|a, b| a.0.cmp(b.0));
    let count = all.len();
    let listed = all.into_iter().take(most).map(|(name, value)| {
        json::object([("name", json::text(name)), ("value", Tree::Number(value))])
    });
    Ok(Some(json::object([
        ("frame", Tree::Number(counters::frames() as f64)),
        ("count", json::count(count)),
        ("counters", Tree::Array(listed.collect())),
    ])))
}

/// Begins to follow the counters that a message names.
pub fn follow(call: &Call, timed: Timed) -> Result<Followed, Refusal> {
    let Some(Tree::Array(names)) = call.fields.get("names") else {
        return Err(Refusal::of("the stream 'counters' needs the field 'names'"));
    };
    if names.len() > FOLLOWED_MAX {
        return Err(Refusal::of(format!(
            "a client follows {FOLLOWED_MAX} counters at most (FOLLOWED_MAX)"
        )));
    }
    let mut followed = Followed { timed, counters: Vec::new(), told: counters::frames() };
    for name in names {
        let Tree::String(name) = name else { continue };
        let Some(number) = counters::find(name) else {
            let all = counters::names();
            let hint = suggest::hint(name, all.iter().copied());
            return Err(Refusal::of(format!("there is no counter '{name}'{hint}")));
        };
        counters::watch(number).map_err(|error| Refusal::of(error.message))?;
        followed.counters.push((number, name.clone()));
    }
    // What others have watched already is there at once.
    followed.told = followed.told.saturating_sub(FRAMES_TOLD as u64);
    Ok(followed)
}

impl Followed {
    /// Sends what is new, where that is due.
    pub fn tell(&mut self, peer: &Peer, now: Instant) {
        let frame = counters::frames();
        if frame == self.told || !self.timed.is_due(now) {
            return;
        }
        let new = (frame.saturating_sub(self.told) as usize).clamp(1, FRAMES_TOLD);
        self.told = frame;
        let values = self
            .counters
            .iter()
            .map(|(number, _)| json::numbers(counters::history(*number, new).unwrap_or_default()));
        let tree = json::object([
            ("type", json::text("counters")),
            ("frame", Tree::Number(frame as f64)),
            ("values", Tree::Array(values.collect())),
            ("names", json::texts(self.counters.iter().map(|(_, name)| name))),
        ]);
        peer.offer(&Bytes::from(json::write(&tree)));
    }
}

/// Names as numbers: each is told once in a message.
#[derive(Default)]
struct Names {
    numbers: HashMap<&'static str, usize>,
    all: Vec<Tree>,
}

impl Names {
    fn number(&mut self, name: &'static str) -> Tree {
        let next = self.all.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.all.push(json::text(name));
        }
        json::count(number)
    }
}

/// Seconds with a tenth of a microsecond: more digits would only be longer.
fn seconds(seconds: f64) -> Tree {
    Tree::Number((seconds * 1e7).round() * 1e-7)
}

fn percent(percent: f64) -> Tree {
    Tree::Number((percent * 1e2).round() * 1e-2)
}

/// The rows of all threads, and the frames after one, at most so many.
fn profiled(after: u64, most: usize) -> (u64, Tree) {
    let mut names = Names::default();
    let threads = profile::threads();
    let lanes: HashMap<&str, usize> =
        threads.iter().enumerate().map(|(at, thread)| (thread.name.as_str(), at)).collect();
    let frames = profile::frames(after, most);
    let newest = frames.last().map_or(after, |frame| frame.index);
    let mut left = SCOPES_TOLD;
    let frames: Vec<Tree> = frames
        .iter()
        .map(|frame| {
            let told = frame.scopes.len().min(left);
            left -= told;
            let scopes = frame.scopes.iter().take(told).map(|scope| {
                Tree::Array(vec![
                    json::count(lanes.get(scope.thread.as_str()).copied().unwrap_or(0)),
                    names.number(scope.name),
                    Tree::Number(f64::from(scope.parents)),
                    seconds(scope.began),
                    seconds(scope.seconds),
                ])
            });
            json::object([
                ("scopes", Tree::Array(scopes.collect())),
                ("index", Tree::Number(frame.index as f64)),
                ("began", seconds(frame.began)),
                ("seconds", seconds(frame.seconds)),
            ])
        })
        .collect();
    let threads = threads.iter().map(|thread| {
        let rows = thread.rows.iter().map(|row| {
            Tree::Array(vec![
                names.number(row.name),
                Tree::Number(f64::from(row.parents)),
                Tree::Number(f64::from(row.calls)),
                seconds(row.seconds),
                seconds(row.own_seconds),
                percent(row.min),
                percent(row.average),
                percent(row.max),
            ])
        });
        json::object([("name", json::text(&thread.name)), ("rows", Tree::Array(rows.collect()))])
    });
    let threads = Tree::Array(threads.collect());
    let tree = json::object([
        ("names", Tree::Array(names.all)),
        ("threads", threads),
        ("frames", Tree::Array(frames)),
        ("lost", Tree::Number(profile::lost() as f64)),
    ]);
    (newest, tree)
}

/// The profiler's rows and last frames, once.
pub fn profile(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    if truth(call.fields, "reset") {
        profile::reset(None);
    }
    let most = whole(call.fields, "frames").unwrap_or(1) as usize;
    Ok(Some(profiled(0, most).1))
}

/// Sends the frames that are new since `timed.next`, with the rows as they are now.
pub fn tell_profile(timed: &mut Timed, peer: &Peer, now: Instant) {
    if !timed.is_due(now) {
        return;
    }
    let (newest, tree) = profiled(timed.next, PROFILES_TOLD);
    timed.next = newest;
    let Tree::Object(mut entries) = tree else { return };
    entries.insert(0, ("type".to_string(), json::text("profile")));
    peer.offer(&Bytes::from(json::write(&Tree::Object(entries))));
}

/// Who holds how much memory.
pub fn memory(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let (held, most) = call.app.vm.memory();
    let rows = memory::tree(&memory::snapshot()).into_iter().map(|row| {
        json::object([
            ("name", json::text(row.name)),
            ("path", json::text(row.path)),
            ("parents", json::count(row.parents)),
            ("bytes", Tree::Number(row.held.bytes as f64)),
            ("blocks", Tree::Number(row.held.blocks as f64)),
            ("made", Tree::Number(row.held.made as f64)),
        ])
    });
    Ok(Some(json::object([
        ("counts", Tree::Bool(memory::is_counting())),
        ("scripts", json::count(held)),
        ("scripts_most", json::count(most)),
        ("rows", Tree::Array(rows.collect())),
    ])))
}
