//! Messages with counters, the memory tree and samples of scripts for remote tools. The data comes
//! from the foundation's counters/ and memory/. profiler.rs has the scopes.

use super::eval::refusal;
use super::message_table::{boolean, integer, text};
use super::profiler::seconds;
use super::subscriptions::StreamTimer;
use super::{IncomingCall, Refusal, RemoteConnection, eval};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, counters, memory, suggest};
use engine_remote::Bytes;
use engine_script::ScriptValue;
use engine_script::sampler::{SampleCount, ScriptSamples};
use std::time::Instant;

/// Maximum number of counters that one client follows.
pub const FOLLOWED_MAX: usize = 64;
/// Maximum number of frames of a counter in one message.
const FRAMES_SENT_MAX: usize = 240;

/// The counters that a client follows. Their histories are kept while this value exists.
pub struct FollowedCounters {
    pub timed: StreamTimer,
    counters: Vec<(u32, String)>,
    /// Number of frames up to which values were sent.
    sent_frames: u64,
}

impl Drop for FollowedCounters {
    fn drop(&mut self) {
        for (number, _) in &self.counters {
            counters::unwatch(*number);
        }
    }
}

/// Lists all counters, or those with a text in their name.
pub fn list(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let filter = text(call.fields, "text").unwrap_or_default();
    let most = integer(call.fields, "max").unwrap_or(5000) as usize;
    let mut all = counters::all();
    all.retain(|(name, _)| name.contains(filter));
    all.sort_by(|a, b| a.0.cmp(b.0));
    let count = all.len();
    let listed = all.into_iter().take(most).map(|(name, value)| {
        json::object([("name", json::text(name)), ("value", SjsonTree::Number(value))])
    });
    Ok(Some(json::object([
        ("frame", SjsonTree::Number(counters::frames() as f64)),
        ("count", json::count(count)),
        ("counters", SjsonTree::Array(listed.collect())),
    ])))
}

/// Starts following the counters that a message names.
pub fn follow(call: &IncomingCall, timed: StreamTimer) -> Result<FollowedCounters, Refusal> {
    let Some(SjsonTree::Array(names)) = call.fields.get("names") else {
        return Err(Refusal::of("the stream 'counters' needs the field 'names'"));
    };
    if names.len() > FOLLOWED_MAX {
        return Err(Refusal::of(format!(
            "a client follows {FOLLOWED_MAX} counters at most (FOLLOWED_MAX)"
        )));
    }
    let mut followed =
        FollowedCounters { timed, counters: Vec::new(), sent_frames: counters::frames() };
    for name in names {
        let SjsonTree::String(name) = name else { continue };
        let Some(number) = counters::find(name) else {
            let all = counters::names();
            let hint = suggest::hint(name, all.iter().copied());
            return Err(Refusal::of(format!("there is no counter '{name}'{hint}")));
        };
        counters::watch(number).map_err(|error| Refusal::of(error.message))?;
        followed.counters.push((number, name.clone()));
    }
    // Values that exist already, because another client follows the counter, are sent at once.
    followed.sent_frames = followed.sent_frames.saturating_sub(FRAMES_SENT_MAX as u64);
    Ok(followed)
}

impl FollowedCounters {
    /// Watches the counters again after a restart of the game, which has ended all watches.
    pub fn restart(&mut self) {
        for (number, _) in &self.counters {
            counters::watch(*number).expect("they all were watched before");
        }
        self.sent_frames = counters::frames();
    }

    /// Sends new values, if a message is due.
    pub fn send(&mut self, peer: &RemoteConnection, now: Instant) {
        let frame = counters::frames();
        if frame == self.sent_frames || !self.timed.is_due(now) {
            return;
        }
        let new = (frame.saturating_sub(self.sent_frames) as usize).clamp(1, FRAMES_SENT_MAX);
        self.sent_frames = frame;
        let values = self
            .counters
            .iter()
            .map(|(number, _)| json::numbers(counters::history(*number, new).unwrap_or_default()));
        let tree = json::object([
            ("type", json::text("counters")),
            ("frame", SjsonTree::Number(frame as f64)),
            ("values", SjsonTree::Array(values.collect())),
            ("names", json::texts(self.counters.iter().map(|(_, name)| name))),
        ]);
        peer.offer(&Bytes::from(json::write(&tree)));
    }
}

/// Maximum time for a walk over the memory of scripts, in CPU seconds.
const HEAP_WALK_SECONDS: f64 = 10.0;

/// Returns the memory that each owner holds.
pub fn memory(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let walked = walk(call)?;
    let (held, most) = call.app.vm.memory();
    let rows = memory::tree(&memory::snapshot()).into_iter().map(|row| {
        json::object([
            ("name", json::text(row.name)),
            ("path", json::text(row.path)),
            ("parents", json::count(row.parents)),
            ("bytes", SjsonTree::Number(row.held.bytes as f64)),
            ("blocks", SjsonTree::Number(row.held.blocks as f64)),
            ("made", SjsonTree::Number(row.held.allocations as f64)),
        ])
    });
    let all = [
        ("counts", SjsonTree::Bool(memory::is_counting())),
        ("scripts", json::count(held)),
        ("scripts_most", json::count(most)),
        ("rows", SjsonTree::Array(rows.collect())),
    ];
    let all = all.map(|(name, value)| (name.to_string(), value));
    Ok(Some(SjsonTree::Object(all.into_iter().chain(walked).collect())))
}

/// Walks over the memory of scripts, if a message asks for it, and returns the fields of the
/// result.
fn walk(call: &mut IncomingCall) -> Result<Vec<(String, SjsonTree)>, Refusal> {
    let mark = boolean(call.fields, "mark");
    if !mark && !boolean(call.fields, "walk") {
        return Ok(Vec::new());
    }
    let began = Instant::now();
    let vm = &mut call.app.vm;
    let walked = vm.call_core("tool_memory", &[ScriptValue::Boolean(mark)], HEAP_WALK_SECONDS);
    let walked = walked.map_err(|report| refusal(&report))?;
    // Garbage of the walk itself does not count as the game's memory.
    vm.collect_all();
    let SjsonTree::Object(mut entries) = eval::object(&walked) else {
        return Err(Refusal::of("the walk gave no table"));
    };
    entries.push(("seconds".to_string(), seconds(began.elapsed().as_secs_f64())));
    Ok(entries)
}

/// Starts or stops sampling the scripts' stacks, and returns the samples.
pub fn sampling(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let vm = &mut call.app.vm;
    let is_on = vm.samples().is_some();
    let wanted = call.fields.get("on").map_or(is_on, |on| *on == SjsonTree::Bool(true));
    let failed = |error: Error| Refusal::of(error.message);
    // The final samples are sent once more.
    let ended = match (is_on, wanted) {
        (false, true) => vm.begin_sampling(false).map(|()| None).map_err(failed)?,
        (true, false) => vm.end_sampling().map(Some).map_err(failed)?,
        _ => None,
    };
    let samples = ended.as_deref().or(vm.samples());
    let count = samples.map_or(0, ScriptSamples::count);
    let mut all = vec![
        ("on".to_string(), SjsonTree::Bool(wanted)),
        ("samples".to_string(), SjsonTree::Number(count as f64)),
    ];
    let tables = match samples {
        Some(samples) => samples.tables(),
        None => ["scripts", "functions", "lines"].map(|name| (name, Vec::new())),
    };
    for (name, rows) in tables {
        let row = |(name, sampled): (String, SampleCount)| {
            json::object([
                ("name", json::text(name)),
                ("samples", SjsonTree::Number(sampled.samples as f64)),
                ("allocated_bytes", SjsonTree::Number(sampled.allocated_bytes as f64)),
                ("engine_calls", SjsonTree::Number(sampled.engine_calls as f64)),
            ])
        };
        all.push((name.to_string(), SjsonTree::Array(rows.into_iter().map(row).collect())));
    }
    Ok(Some(SjsonTree::Object(all)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn followed_counters_continue_in_the_next_game() {
        counters::clear_all();
        let number = counters::counter("tests/followed").unwrap();
        counters::watch(number).unwrap();
        let timed = StreamTimer::new(Duration::from_millis(10));
        let all = vec![(number, "tests/followed".to_string())];
        let mut followed = FollowedCounters { timed, counters: all, sent_frames: 0 };
        counters::clear_all();
        assert_eq!(counters::history(number, 8), None);
        followed.restart();
        counters::add(number, 7.0);
        counters::push();
        assert_eq!(counters::history(number, 8), Some(vec![7.0]));
        drop(followed);
        assert_eq!(counters::history(number, 8), None);
    }
}
