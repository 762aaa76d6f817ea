//! Messages with the scopes of the profiler and the passes of the graphics adapter, for remote
//! tools.

use super::message_table::{boolean, integer};
use super::subscriptions::StreamTimer;
use super::{IncomingCall, Refusal, RemoteConnection};
use engine_foundation::json;
use engine_foundation::profile::{self, ProfileFrame};
use engine_foundation::sjson::SjsonTree;
use engine_remote::Bytes;
use std::collections::HashMap;
use std::time::Instant;

/// Maximum number of profiler frames in one message.
const PROFILE_FRAMES_MAX: usize = 8;
/// Maximum number of scopes in the frames of one message, in total.
const SCOPES_SENT_MAX: usize = 4000;
/// Maximum number of frames whose passes on the graphics adapter are in one message.
const GPU_FRAMES_SENT_MAX: usize = 16;

/// Indices of names: a message contains each name once.
#[derive(Default)]
struct NameIndexes {
    numbers: HashMap<&'static str, usize>,
    all: Vec<SjsonTree>,
}

impl NameIndexes {
    fn number(&mut self, name: &'static str) -> SjsonTree {
        let next = self.all.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.all.push(json::text(name));
        }
        json::count(number)
    }
}

/// Rounds seconds to a tenth of a microsecond, to keep messages short.
pub fn seconds(seconds: f64) -> SjsonTree {
    // A division, because a multiplication by 1e-7 yields numbers with seventeen digits.
    SjsonTree::Number((seconds * 1e7).round() / 1e7)
}

fn percent(percent: f64) -> SjsonTree {
    SjsonTree::Number((percent * 1e2).round() / 1e2)
}

/// Returns the number of scopes to send for each frame, at most `most` in total. The newest frames
/// come first.
fn shares(counts: &[usize], most: usize) -> Vec<usize> {
    let mut left = most;
    let newest_first = counts.iter().rev().map(|count| {
        let share = left.min(*count);
        left -= share;
        share
    });
    let mut shares: Vec<usize> = newest_first.collect();
    shares.reverse();
    shares
}

/// Returns the profiler rows of all threads, some frames with at most `scopes_max` scopes, and the
/// newest passes of the graphics adapter.
fn profile_fields(frames: &[ProfileFrame], scopes_max: usize) -> [(&'static str, SjsonTree); 5] {
    let mut names = NameIndexes::default();
    let threads = profile::threads();
    let lanes: HashMap<&str, usize> =
        threads.iter().enumerate().map(|(at, thread)| (thread.name.as_str(), at)).collect();
    let counts: Vec<usize> = frames.iter().map(|frame| frame.scopes.len()).collect();
    let frames: Vec<SjsonTree> = frames
        .iter()
        .zip(shares(&counts, scopes_max))
        .map(|(frame, share)| {
            let scopes = frame.scopes.iter().take(share).map(|scope| {
                SjsonTree::Array(vec![
                    json::count(lanes.get(scope.thread.as_str()).copied().unwrap_or(0)),
                    names.number(scope.name),
                    SjsonTree::Number(f64::from(scope.parents)),
                    seconds(scope.began),
                    seconds(scope.seconds),
                ])
            });
            json::object([
                ("scopes", SjsonTree::Array(scopes.collect())),
                ("index", SjsonTree::Number(frame.index as f64)),
                ("began", seconds(frame.began)),
                ("seconds", seconds(frame.seconds)),
                ("left_out", json::count(frame.scopes.len() - share)),
            ])
        })
        .collect();
    let threads = threads.iter().map(|thread| {
        let rows = thread.rows.iter().map(|row| {
            SjsonTree::Array(vec![
                names.number(row.name),
                SjsonTree::Number(f64::from(row.parents)),
                SjsonTree::Number(f64::from(row.calls)),
                seconds(row.seconds),
                seconds(row.own_seconds),
                percent(row.min),
                percent(row.average),
                percent(row.max),
            ])
        });
        json::object([
            ("name", json::text(&thread.name)),
            ("rows", SjsonTree::Array(rows.collect())),
        ])
    });
    let threads = SjsonTree::Array(threads.collect());
    [
        ("names", SjsonTree::Array(names.all)),
        ("threads", threads),
        ("frames", SjsonTree::Array(frames)),
        ("gpu", gpu_frames()),
        ("lost", SjsonTree::Number(profile::dropped_scopes() as f64)),
    ]
}

/// Returns the newest passes of the graphics adapter, whose times arrive some frames late.
fn gpu_frames() -> SjsonTree {
    let frames = profile::gpu_frames(0, GPU_FRAMES_SENT_MAX).into_iter().map(|frame| {
        let passes = frame.passes.into_iter().map(|pass| {
            let (began, length) = (seconds(pass.began), seconds(pass.seconds));
            SjsonTree::Array(vec![json::text(pass.name), began, length])
        });
        json::object([
            ("index", SjsonTree::Number(frame.index as f64)),
            ("passes", SjsonTree::Array(passes.collect())),
        ])
    });
    SjsonTree::Array(frames.collect())
}

/// Returns the profiler's rows and last frames once.
pub fn profile(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    if boolean(call.fields, "reset") {
        profile::reset(None);
    }
    let (frames, scopes_max) = match integer(call.fields, "frame") {
        Some(index) => {
            let found = profile::frame(index).ok_or_else(|| {
                let kept = profile::FRAMES_KEPT;
                Refusal::of(format!("frame {index} is not kept any more (the last {kept} are)"))
            })?;
            (vec![found], usize::MAX)
        }
        None => {
            let most = integer(call.fields, "frames").unwrap_or(1) as usize;
            (profile::frames(0, most), SCOPES_SENT_MAX)
        }
    };
    Ok(Some(json::object(profile_fields(&frames, scopes_max))))
}

/// The profiler's messages of one frame, shared by all clients that need the same: the frame after
/// which a message begins, the last frame that it contains, and its text.
#[derive(Default)]
pub struct ProfileStream(Vec<(u64, u64, Bytes)>);

impl ProfileStream {
    /// Sends the frames after `timed.next`, with the current rows.
    pub fn send(&mut self, timed: &mut StreamTimer, peer: &RemoteConnection, now: Instant) {
        if !timed.is_due(now) {
            return;
        }
        let known = self.0.iter().position(|(after, ..)| *after == timed.next);
        let at = known.unwrap_or_else(|| {
            let frames = profile::frames(timed.next, PROFILE_FRAMES_MAX);
            let newest = frames.last().map_or(timed.next, |frame| frame.index);
            let [names, threads, frames, gpu, lost] = profile_fields(&frames, SCOPES_SENT_MAX);
            let all = [("type", json::text("profile")), names, threads, frames, gpu, lost];
            self.0.push((timed.next, newest, Bytes::from(json::write(&json::object(all)))));
            self.0.len() - 1
        });
        let (_, newest, text) = &self.0[at];
        timed.next = *newest;
        peer.offer(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frames_are_reported_with_their_scopes() {
        assert_eq!(shares(&[3, 4, 5], 100), [3, 4, 5]);
        assert_eq!(shares(&[3, 4, 5], 7), [0, 2, 5]);
        assert_eq!(shares(&[], 7), [0usize; 0]);
    }

    #[test]
    fn seconds_are_written_to_a_tenth_of_a_microsecond() {
        for number in 0..20_000 {
            let text = json::write(&seconds(f64::from(number) * 1e-7));
            assert!(text.len() <= 9, "{text}");
        }
        assert_eq!(json::write(&seconds(0.001_234_56)), "0.0012346");
    }
}
