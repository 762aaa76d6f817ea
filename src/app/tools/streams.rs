//! What a client follows: lines of the log, time steps, counters, the profiler, pictures. A stream
//! costs nothing while nobody follows it.

use super::figures::{self, Followed, Profiles};
use super::messages::{number, text, whole};
use super::{Call, Peer, Refusal, UNTOLD};
use crate::foundation::sjson::Tree;
use crate::foundation::{log, suggest};
use crate::system::tools::{Bytes, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many frames' time steps are kept.
pub const SAMPLES_MAX: usize = 1024;
/// How many of them one message of the stream has at most.
const SAMPLES_TOLD: usize = 256;

/// A stream that can be followed.
struct Stream {
    name: &'static str,
    words: &'static str,
    /// What its messages have beside `type`.
    message: &'static str,
    begin: fn(&mut Call) -> Result<(), Refusal>,
    end: fn(&mut Streams),
}

/// Every stream.
static STREAMS: &[Stream] = &[
    Stream {
        name: "log",
        words: "Every line of the log; the last ones at once.",
        message: "level (info, warning, error), message; its type is 'message'",
        begin: begin_log,
        end: |streams| streams.log = false,
    },
    Stream {
        name: "game",
        words: "What scripts send with Application.console_send.",
        message: "whatever the game says in it, with a 'type' of the game's own",
        begin: |call| {
            call.streams.game = true;
            call.app.vm.engine().outbox.is_heard = true;
            Ok(())
        },
        end: |streams| streams.game = false,
    },
    Stream {
        name: "time_step",
        words: "How each frame's step came about.",
        message: "frame (the newest), measured, delta, debt: lists of seconds, a frame each",
        begin: |call| {
            // The last frames come at once.
            let next = call.state.samples.next().saturating_sub(SAMPLES_TOLD as u64);
            call.streams.samples = Some(Timed { next, ..timed(call) });
            Ok(())
        },
        end: |streams| streams.samples = None,
    },
    Stream {
        name: "counters",
        words: "The values of the counters in 'names', a frame each.",
        message: "frame (the newest), values (a list for each counter), names",
        begin: |call| {
            let followed = figures::follow(call, timed(call))?;
            call.streams.counters = Some(followed);
            Ok(())
        },
        end: |streams| streams.counters = None,
    },
    Stream {
        name: "profile",
        words: "The profiler's rows, and the frames that are new.",
        message: "as the answer to 'profile'",
        begin: |call| {
            call.streams.profile = Some(timed(call));
            Ok(())
        },
        end: |streams| streams.profile = None,
    },
    Stream {
        name: "picture",
        words: "What is seen, as often as the client takes it.",
        message: "a binary message: a line of JSON with frame, width, height, then a PNG file",
        begin: |call| {
            super::pictures::check(call)?;
            let width = whole(call.fields, "width").unwrap_or(640) as u32;
            call.streams.picture = Some((timed(call), width));
            Ok(())
        },
        end: |streams| streams.picture = None,
    },
];

/// When a stream's next message is due, and with what it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    every: Duration,
    due: Instant,
    /// Where the stream goes on.
    pub next: u64,
}

impl Timed {
    /// A message is due now, and then every so often.
    pub fn new(every: Duration) -> Timed {
        Timed { every, due: Instant::now(), next: 0 }
    }

    /// Whether a message is due now; the next one then is later.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.due;
        if due {
            // One that came late is made up for by the next: frames differ in length.
            self.due = (self.due + self.every).max(now);
        }
        due
    }
}

fn timed(call: &Call) -> Timed {
    let every = Duration::from_secs_f64(number(call.fields, "every").unwrap_or(0.1));
    Timed::new(every)
}

/// What one client follows.
#[derive(Default)]
pub struct Streams {
    pub log: bool,
    pub game: bool,
    samples: Option<Timed>,
    counters: Option<Followed>,
    profile: Option<Timed>,
    /// With the width that it wants at most.
    pub picture: Option<(Timed, u32)>,
}

impl Streams {
    /// Another game begins in this process: figures that are kept begin anew.
    pub fn begin_anew(&mut self) {
        if let Some(followed) = &mut self.counters {
            followed.begin_anew();
        }
        if let Some(timed) = &mut self.profile {
            timed.next = 0;
        }
    }

    /// Sends what is new of figures, where that is due.
    pub fn tell(&mut self, samples: &Samples, profiles: &mut Profiles, peer: &Peer, now: Instant) {
        if let Some(followed) = &mut self.counters {
            followed.tell(peer, now);
        }
        if let Some(timed) = &mut self.profile {
            profiles.tell(timed, peer, now);
        }
        self.tell_samples(samples, peer, now);
    }

    fn tell_samples(&mut self, samples: &Samples, peer: &Peer, now: Instant) {
        let Some(timed) = &mut self.samples else { return };
        if timed.next == samples.next() || !timed.is_due(now) {
            return;
        }
        let new = (samples.next() - timed.next).min(SAMPLES_TOLD as u64) as usize;
        timed.next = samples.next();
        let entries = [("type".to_string(), json::text("time_step"))];
        let tree = Tree::Object(entries.into_iter().chain(samples.last(new)).collect());
        peer.offer(&Bytes::from(json::write(&tree)));
    }
}

/// The time steps of the last frames: number, measured, step, debt.
#[derive(Default)]
pub struct Samples {
    all: VecDeque<[f64; 4]>,
    added: u64,
}

impl Samples {
    pub fn add(&mut self, sample: [f64; 4]) {
        if self.all.len() == SAMPLES_MAX {
            self.all.pop_front();
        }
        self.all.push_back(sample);
        self.added += 1;
    }

    /// How many there were in all.
    fn next(&self) -> u64 {
        self.added
    }

    /// The fields of a message with the last ones.
    fn last(&self, count: usize) -> Vec<(String, Tree)> {
        let skipped = self.all.len().saturating_sub(count);
        let column =
            |at: usize| json::numbers(self.all.iter().skip(skipped).map(move |sample| sample[at]));
        let newest = self.all.back().map_or(0.0, |sample| sample[0]);
        let fields = [
            ("frame", Tree::Number(newest)),
            ("measured", column(1)),
            ("delta", column(2)),
            ("debt", column(3)),
        ];
        fields.map(|(name, value)| (name.to_string(), value)).into()
    }
}

/// A line of the log as a message.
pub fn line(level: log::Level, text: &str) -> Tree {
    json::object([
        ("type", json::text("message")),
        ("level", json::text(level.name())),
        ("message", json::text(text)),
    ])
}

fn begin_log(call: &mut Call) -> Result<(), Refusal> {
    if call.streams.log {
        return Ok(());
    }
    call.streams.log = true;
    let (written, mut lines) = log::lines_after(0);
    match call.state.lines {
        UNTOLD => call.state.lines = written,
        // What others have not heard yet all hear at the frame's end.
        told => lines.truncate(lines.len().saturating_sub((written - told) as usize)),
    }
    for (level, text) in lines {
        call.asker.peer.offer(&Bytes::from(json::write(&line(level, &text))));
    }
    Ok(())
}

fn named(call: &Call) -> Result<&'static Stream, Refusal> {
    let name = text(call.fields, "stream").unwrap_or_default();
    STREAMS.iter().find(|stream| stream.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, STREAMS.iter().map(|stream| stream.name));
        Refusal::of(format!("there is no stream '{name}'{hint} ('help' lists them)"))
    })
}

/// Follows a stream.
pub fn subscribe(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let stream = named(call)?;
    (stream.begin)(call)?;
    Ok(Some(json::object([("stream", json::text(stream.name))])))
}

/// Follows it no longer.
pub fn unsubscribe(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let stream = named(call)?;
    (stream.end)(call.streams);
    Ok(Some(json::object([("stream", json::text(stream.name))])))
}

/// The last time steps, once.
pub fn time_step(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let count = whole(call.fields, "frames").unwrap_or(256) as usize;
    Ok(Some(Tree::Object(call.state.samples.last(count))))
}

/// The streams, for `help`.
pub fn in_words() -> Tree {
    let stream = |stream: &Stream| {
        json::object([
            ("stream", json::text(stream.name)),
            ("words", json::text(stream.words)),
            ("message", json::text(stream.message)),
        ])
    };
    Tree::Array(STREAMS.iter().map(stream).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_samples_are_told_a_column_for_each_figure() {
        let mut samples = Samples::default();
        for frame in 0..SAMPLES_MAX as u32 + 10 {
            samples.add([f64::from(frame), 0.5, 0.25, 0.0]);
        }
        assert_eq!((samples.all.len(), samples.next()), (SAMPLES_MAX, SAMPLES_MAX as u64 + 10));
        let fields = samples.last(2);
        assert_eq!(fields[0].1, Tree::Number(SAMPLES_MAX as f64 + 9.0));
        assert_eq!(fields[1].1, json::numbers([0.5, 0.5]));
        assert_eq!(fields[2].1, json::numbers([0.25, 0.25]));
    }

    #[test]
    fn a_stream_is_due_again_after_its_time() {
        let now = Instant::now();
        let mut timed = Timed { every: Duration::from_millis(100), due: now, next: 0 };
        assert!(timed.is_due(now) && !timed.is_due(now + Duration::from_millis(99)));
        assert!(timed.is_due(now + Duration::from_millis(100)));
    }

    #[test]
    fn a_stream_has_its_pace_where_frames_do_not_fit_it() {
        let now = Instant::now();
        let mut timed = Timed { every: Duration::from_millis(33), due: now, next: 0 };
        let due = |frame: &u64| timed.is_due(now + Duration::from_millis(20 * frame));
        assert_eq!((0..50).filter(due).count(), 30);
        // What was missed while nothing was asked for is not made up for.
        let later = now + Duration::from_secs(60);
        assert!(timed.is_due(later) && timed.is_due(later));
        assert!(!timed.is_due(later + Duration::from_millis(30)));
    }
}
