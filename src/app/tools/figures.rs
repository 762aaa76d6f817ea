//! Counters, the profiler's rows and the tree of memory for tools. They are the foundation's
//! (counters/, profile/, memory/); here they become messages.

use super::messages::{text, truth, whole};
use super::script::refusal;
use super::streams::Timed;
use super::{Call, Peer, Refusal, script};
use crate::foundation::sjson::Tree;
use crate::foundation::{Error, counters, memory, profile, suggest};
use crate::script::Value;
use crate::script::sampler::{Met, Samples};
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
    /// Another game begins in this process, and with it nothing is watched.
    pub fn begin_anew(&mut self) {
        for (number, _) in &self.counters {
            counters::watch(*number).expect("they all were watched before");
        }
        self.told = counters::frames();
    }

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
    // Divided: what is multiplied by 1e-7 has seventeen digits again.
    Tree::Number((seconds * 1e7).round() / 1e7)
}

fn percent(percent: f64) -> Tree {
    Tree::Number((percent * 1e2).round() / 1e2)
}

/// How many scopes of each frame are told where `most` are in all: the newest frames come first.
fn shares(counts: &[usize], most: usize) -> Vec<usize> {
    let mut left = most;
    let newest_first = counts.iter().rev().map(|count| {
        let told = left.min(*count);
        left -= told;
        told
    });
    let mut shares: Vec<usize> = newest_first.collect();
    shares.reverse();
    shares
}

/// The rows of all threads, and the frames after one, at most so many.
fn profiled(after: u64, most: usize) -> (u64, [(&'static str, Tree); 4]) {
    let mut names = Names::default();
    let threads = profile::threads();
    let lanes: HashMap<&str, usize> =
        threads.iter().enumerate().map(|(at, thread)| (thread.name.as_str(), at)).collect();
    let frames = profile::frames(after, most);
    let newest = frames.last().map_or(after, |frame| frame.index);
    let counts: Vec<usize> = frames.iter().map(|frame| frame.scopes.len()).collect();
    let frames: Vec<Tree> = frames
        .iter()
        .zip(shares(&counts, SCOPES_TOLD))
        .map(|(frame, told)| {
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
                ("left_out", json::count(frame.scopes.len() - told)),
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
    let fields = [
        ("names", Tree::Array(names.all)),
        ("threads", threads),
        ("frames", Tree::Array(frames)),
        ("lost", Tree::Number(profile::lost() as f64)),
    ];
    (newest, fields)
}

/// The profiler's rows and last frames, once.
pub fn profile(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    if truth(call.fields, "reset") {
        profile::reset(None);
    }
    let most = whole(call.fields, "frames").unwrap_or(1) as usize;
    Ok(Some(json::object(profiled(0, most).1)))
}

/// The profiler's messages of one frame: by the frame after which they begin, the last frame that
/// each has, and its text. Many who follow it need the same.
#[derive(Default)]
pub struct Profiles(Vec<(u64, u64, Bytes)>);

impl Profiles {
    /// Sends the frames that are new since `timed.next`, with the rows as they are now.
    pub fn tell(&mut self, timed: &mut Timed, peer: &Peer, now: Instant) {
        if !timed.is_due(now) {
            return;
        }
        let known = self.0.iter().position(|(after, ..)| *after == timed.next);
        let at = known.unwrap_or_else(|| {
            let (newest, fields) = profiled(timed.next, PROFILES_TOLD);
            let [names, threads, frames, lost] = fields;
            let all = [("type", json::text("profile")), names, threads, frames, lost];
            self.0.push((timed.next, newest, Bytes::from(json::write(&json::object(all)))));
            self.0.len() - 1
        });
        let (_, newest, text) = &self.0[at];
        timed.next = *newest;
        peer.offer(text);
    }
}

/// CPU seconds that a walk over what scripts hold may take.
const WALK_SECONDS: f64 = 10.0;

/// Who holds how much memory.
pub fn memory(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let walked = walk(call)?;
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
    let all = [
        ("counts", Tree::Bool(memory::is_counting())),
        ("scripts", json::count(held)),
        ("scripts_most", json::count(most)),
        ("rows", Tree::Array(rows.collect())),
    ];
    let all = all.map(|(name, value)| (name.to_string(), value));
    Ok(Some(Tree::Object(all.into_iter().chain(walked).collect())))
}

/// Walks over what scripts hold, where a message wants it: the fields that tell of it.
fn walk(call: &mut Call) -> Result<Vec<(String, Tree)>, Refusal> {
    let mark = truth(call.fields, "mark");
    if !mark && !truth(call.fields, "walk") {
        return Ok(Vec::new());
    }
    let begun = Instant::now();
    let vm = &mut call.app.vm;
    let walked = vm.call_core("tool_memory", &[Value::Boolean(mark)], WALK_SECONDS);
    let walked = walked.map_err(|report| refusal(&report))?;
    // What the walk itself has left behind is not the game's.
    vm.collect_all();
    let Tree::Object(mut entries) = script::object(&walked) else {
        return Err(Refusal::of("the walk gave no table"));
    };
    entries.push(("seconds".to_string(), seconds(begun.elapsed().as_secs_f64())));
    Ok(entries)
}

/// Has scripts be asked where they are, or no longer; and where they were met.
pub fn sampling(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let vm = &mut call.app.vm;
    let is_on = vm.samples().is_some();
    let wanted = call.fields.get("on").map_or(is_on, |on| *on == Tree::Bool(true));
    let failed = |error: Error| Refusal::of(error.message);
    // What was met until the end is told once more.
    let ended = match (is_on, wanted) {
        (false, true) => vm.begin_sampling(false).map(|()| None).map_err(failed)?,
        (true, false) => vm.end_sampling().map(Some).map_err(failed)?,
        _ => None,
    };
    let samples = ended.as_deref().or(vm.samples());
    let count = samples.map_or(0, Samples::count);
    let mut all = vec![
        ("on".to_string(), Tree::Bool(wanted)),
        ("samples".to_string(), Tree::Number(count as f64)),
    ];
    let tables = match samples {
        Some(samples) => samples.tables(),
        None => ["scripts", "functions", "lines"].map(|name| (name, Vec::new())),
    };
    for (name, rows) in tables {
        let row = |(name, met): (String, Met)| {
            json::object([
                ("name", json::text(name)),
                ("samples", Tree::Number(met.samples as f64)),
                ("allocated_bytes", Tree::Number(met.allocated_bytes as f64)),
                ("engine_calls", Tree::Number(met.engine_calls as f64)),
            ])
        };
        all.push((name.to_string(), Tree::Array(rows.into_iter().map(row).collect())));
    }
    Ok(Some(Tree::Object(all)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn counters_are_followed_on_into_another_game() {
        let _alone = profile::exclusive();
        counters::forget();
        let number = counters::counter("tests/followed").unwrap();
        counters::watch(number).unwrap();
        let timed = Timed::new(Duration::from_millis(10));
        let all = vec![(number, "tests/followed".to_string())];
        let mut followed = Followed { timed, counters: all, told: 0 };
        counters::forget();
        assert_eq!(counters::history(number, 8), None);
        followed.begin_anew();
        counters::add(number, 7.0);
        counters::push();
        assert_eq!(counters::history(number, 8), Some(vec![7.0]));
        drop(followed);
        assert_eq!(counters::history(number, 8), None);
    }

    #[test]
    fn the_newest_frames_are_told_with_their_scopes() {
        assert_eq!(shares(&[3, 4, 5], 100), [3, 4, 5]);
        assert_eq!(shares(&[3, 4, 5], 7), [0, 2, 5]);
        assert_eq!(shares(&[], 7), [0usize; 0]);
    }

    #[test]
    fn seconds_are_told_with_a_tenth_of_a_microsecond() {
        for number in 0..20_000 {
            let words = json::write(&seconds(f64::from(number) * 1e-7));
            assert!(words.len() <= 9, "{words}");
        }
        assert_eq!(json::write(&seconds(0.001_234_56)), "0.0012346");
    }
}
