//! Streams that a client follows: log lines, time steps, counters, the profiler, screenshots. A
//! stream without subscribers costs nothing.

use super::message_table::{integer, number, text};
use super::profiler::ProfileStream;
use super::screenshots::PictureStream;
use super::stats::{self, FollowedCounters};
use super::{IncomingCall, Refusal, RemoteConnection, log_stream};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use engine_remote::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Number of frames for which time steps are kept.
pub const SAMPLES_MAX: usize = 1024;
/// Maximum number of time steps in one message of the stream.
const SAMPLES_SENT_MAX: usize = 256;

/// A stream that clients can follow.
struct Stream {
    name: &'static str,
    doc: &'static str,
    /// Fields of its messages in addition to `type`.
    message: &'static str,
    begin: fn(&mut IncomingCall) -> Result<(), Refusal>,
    end: fn(&mut Subscriptions),
}

/// All streams.
static STREAMS: &[Stream] = &[
    Stream {
        name: "log",
        doc: "Every line of the log; the last lines are sent at once.",
        message: "level (info, warning, error), message, frame, time (milliseconds since 1970); \
                  its type is 'message'",
        begin: log_stream::begin,
        end: |streams| streams.log = false,
    },
    Stream {
        name: "game",
        doc: "Messages that scripts send with Application.console_send.",
        message: "the fields that the game sends, with a 'type' that the game chooses",
        begin: |call| {
            call.streams.game = true;
            call.app.vm.engine().devices.outbox.is_heard = true;
            Ok(())
        },
        end: |streams| streams.game = false,
    },
    Stream {
        name: "time_step",
        doc: "The computation of each frame's time step.",
        message: "frame (the newest), measured, delta, debt: lists of seconds, one value per frame",
        begin: |call| {
            // The last frames are sent at once.
            let next = call.state.samples.next().saturating_sub(SAMPLES_SENT_MAX as u64);
            call.streams.samples = Some(StreamTimer { next, ..stream_timer(call) });
            Ok(())
        },
        end: |streams| streams.samples = None,
    },
    Stream {
        name: "counters",
        doc: "The values of the counters in 'names', one per frame.",
        message: "frame (the newest), values (a list for each counter), names",
        begin: |call| {
            let followed = stats::follow(call, stream_timer(call))?;
            call.streams.counters = Some(followed);
            Ok(())
        },
        end: |streams| streams.counters = None,
    },
    Stream {
        name: "profile",
        doc: "The profiler's rows, and the frames since the last message.",
        message: "as the answer to 'profile'",
        begin: |call| {
            call.streams.profile = Some(stream_timer(call));
            Ok(())
        },
        end: |streams| streams.profile = None,
    },
    Stream {
        name: "picture",
        doc: "Pictures of the game, as often as the client reads them.",
        message: "a binary message: a line of JSON with frame, width, height, format, then a JPEG \
                  or PNG file",
        begin: super::screenshots::begin_stream,
        end: |streams| streams.picture = None,
    },
];

/// Timer of a stream: when its next message is due, and where it continues.
#[derive(Clone, Copy, Debug)]
pub struct StreamTimer {
    every: Duration,
    due: Instant,
    /// First item of the next message.
    pub next: u64,
}

impl StreamTimer {
    /// Creates a timer. The first message is due now, the others follow at an interval.
    pub fn new(every: Duration) -> StreamTimer {
        StreamTimer { every, due: Instant::now(), next: 0 }
    }

    /// Returns true if a message is due now, and then schedules the next one.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.due;
        if due {
            // A late message does not delay the next one, because frames differ in length.
            self.due = (self.due + self.every).max(now);
        }
        due
    }
}

pub fn stream_timer(call: &IncomingCall) -> StreamTimer {
    let every = Duration::from_secs_f64(number(call.fields, "every").unwrap_or(0.1));
    StreamTimer::new(every)
}

/// The streams that one client follows.
#[derive(Default)]
pub struct Subscriptions {
    pub log: bool,
    pub game: bool,
    samples: Option<StreamTimer>,
    counters: Option<FollowedCounters>,
    profile: Option<StreamTimer>,
    pub picture: Option<PictureStream>,
}

impl Subscriptions {
    /// Resets the streams' positions after a restart of the game.
    pub fn restart(&mut self) {
        if let Some(followed) = &mut self.counters {
            followed.restart();
        }
        if let Some(timed) = &mut self.profile {
            timed.next = 0;
        }
    }

    /// Sends new time steps, counters and profiler frames, if a message is due.
    pub fn send(
        &mut self,
        samples: &StepSamples,
        profiles: &mut ProfileStream,
        peer: &RemoteConnection,
        now: Instant,
    ) {
        if let Some(followed) = &mut self.counters {
            followed.send(peer, now);
        }
        if let Some(timed) = &mut self.profile {
            profiles.send(timed, peer, now);
        }
        self.send_samples(samples, peer, now);
    }

    fn send_samples(&mut self, samples: &StepSamples, peer: &RemoteConnection, now: Instant) {
        let Some(timed) = &mut self.samples else { return };
        if timed.next == samples.next() || !timed.is_due(now) {
            return;
        }
        let new = (samples.next() - timed.next).min(SAMPLES_SENT_MAX as u64) as usize;
        timed.next = samples.next();
        let entries = [("type".to_string(), json::text("time_step"))];
        let tree =
            SjsonTree::Object(entries.into_iter().chain(samples.last_samples(new)).collect());
        peer.offer(&Bytes::from(json::write(&tree)));
    }
}

/// Time steps of the last frames: frame number, measured seconds, step, debt.
#[derive(Default)]
pub struct StepSamples {
    all: VecDeque<[f64; 4]>,
    added: u64,
}

impl StepSamples {
    pub fn add(&mut self, sample: [f64; 4]) {
        if self.all.len() == SAMPLES_MAX {
            self.all.pop_front();
        }
        self.all.push_back(sample);
        self.added += 1;
    }

    /// Returns the number of samples added so far.
    fn next(&self) -> u64 {
        self.added
    }

    /// Returns the fields of a message with the last `count` samples.
    fn last_samples(&self, count: usize) -> Vec<(String, SjsonTree)> {
        let skipped = self.all.len().saturating_sub(count);
        let column =
            |at: usize| json::numbers(self.all.iter().skip(skipped).map(move |sample| sample[at]));
        let newest = self.all.back().map_or(0.0, |sample| sample[0]);
        let fields = [
            ("frame", SjsonTree::Number(newest)),
            ("measured", column(1)),
            ("delta", column(2)),
            ("debt", column(3)),
        ];
        fields.map(|(name, value)| (name.to_string(), value)).into()
    }
}

fn find_stream(call: &IncomingCall) -> Result<&'static Stream, Refusal> {
    let name = text(call.fields, "stream").unwrap_or_default();
    STREAMS.iter().find(|stream| stream.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, STREAMS.iter().map(|stream| stream.name));
        Refusal::of(format!("there is no stream '{name}'{hint} ('help' lists them)"))
    })
}

/// Subscribes to a stream.
pub fn subscribe(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let stream = find_stream(call)?;
    (stream.begin)(call)?;
    Ok(Some(json::object([("stream", json::text(stream.name))])))
}

/// Unsubscribes from a stream.
pub fn unsubscribe(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let stream = find_stream(call)?;
    (stream.end)(call.streams);
    Ok(Some(json::object([("stream", json::text(stream.name))])))
}

/// Returns the last time steps once.
pub fn time_step(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let count = integer(call.fields, "frames").unwrap_or(256) as usize;
    Ok(Some(SjsonTree::Object(call.state.samples.last_samples(count))))
}

/// Returns descriptions of the streams, for `help`.
pub fn describe() -> SjsonTree {
    let stream = |stream: &Stream| {
        json::object([
            ("stream", json::text(stream.name)),
            ("words", json::text(stream.doc)),
            ("message", json::text(stream.message)),
        ])
    };
    SjsonTree::Array(STREAMS.iter().map(stream).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_samples_are_written_as_columns() {
        let mut samples = StepSamples::default();
        for frame in 0..SAMPLES_MAX as u32 + 10 {
            samples.add([f64::from(frame), 0.5, 0.25, 0.0]);
        }
        assert_eq!((samples.all.len(), samples.next()), (SAMPLES_MAX, SAMPLES_MAX as u64 + 10));
        let fields = samples.last_samples(2);
        assert_eq!(fields[0].1, SjsonTree::Number(SAMPLES_MAX as f64 + 9.0));
        assert_eq!(fields[1].1, json::numbers([0.5, 0.5]));
        assert_eq!(fields[2].1, json::numbers([0.25, 0.25]));
    }

    #[test]
    fn a_stream_is_due_after_its_interval() {
        let now = Instant::now();
        let mut timed = StreamTimer { every: Duration::from_millis(100), due: now, next: 0 };
        assert!(timed.is_due(now) && !timed.is_due(now + Duration::from_millis(99)));
        assert!(timed.is_due(now + Duration::from_millis(100)));
    }

    #[test]
    fn a_stream_keeps_its_rate_when_frames_do_not_match_it() {
        let now = Instant::now();
        let mut timed = StreamTimer { every: Duration::from_millis(33), due: now, next: 0 };
        let due = |frame: &u64| timed.is_due(now + Duration::from_millis(20 * frame));
        assert_eq!((0..50).filter(due).count(), 30);
        // Messages missed during a pause are not made up for.
        let later = now + Duration::from_secs(60);
        assert!(timed.is_due(later) && timed.is_due(later));
        assert!(!timed.is_due(later + Duration::from_millis(30)));
    }
}
