//! The stream of log lines, with the frame and the time of each line. The log itself knows neither:
//! at the end of each frame, the number of lines written so far is noted here.

use super::{IncomingCall, NOT_FOLLOWED, Refusal, RemoteTools};
use engine_foundation::json;
use engine_foundation::log::{self, LINES_KEPT, LogLevel};
use engine_foundation::sjson::SjsonTree;
use engine_remote::Bytes;
use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

/// The frame and the time at which lines were written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogStamp {
    /// Number of lines written up to this moment.
    written: u64,
    frame: u64,
    /// Milliseconds since 1970.
    time: f64,
}

/// The stamps of the lines that the log keeps.
#[derive(Default)]
pub struct LogStamps(VecDeque<LogStamp>);

impl LogStamps {
    /// Notes that `written` lines were written up to the end of a frame.
    fn note(&mut self, written: u64, frame: u64, time: f64) {
        if written == self.0.back().map_or(0, |stamp| stamp.written) {
            return;
        }
        if self.0.len() == LINES_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(LogStamp { written, frame, time });
    }

    /// Returns the stamp of a line, counted from 1. A line that was written before the first stamp
    /// gets that stamp.
    fn find(&self, line: u64) -> Option<LogStamp> {
        let at = self.0.partition_point(|stamp| stamp.written < line);
        self.0.get(at).or(self.0.back()).copied()
    }

    /// Returns a log line as a message.
    fn message(&self, number: u64, level: LogLevel, text: &str) -> Bytes {
        let mut entries = vec![
            ("type".to_string(), json::text("message")),
            ("level".to_string(), json::text(level.name())),
            ("message".to_string(), json::text(text)),
        ];
        if let Some(stamp) = self.find(number) {
            entries.push(("frame".to_string(), SjsonTree::Number(stamp.frame as f64)));
            entries.push(("time".to_string(), SjsonTree::Number(stamp.time)));
        }
        Bytes::from(json::write(&SjsonTree::Object(entries)))
    }
}

/// Returns the number of the first of some lines that end with line `last`.
fn first_number(last: u64, lines: &[(LogLevel, String)]) -> u64 {
    last.saturating_sub(lines.len() as u64) + 1
}

/// Subscribes a client to the log. The last lines are sent at once.
pub fn begin(call: &mut IncomingCall) -> Result<(), Refusal> {
    if call.streams.log {
        return Ok(());
    }
    call.streams.log = true;
    let frame = call.app.vm.engine().frame.index;
    let (written, mut lines) = log::lines_after(0);
    let first = first_number(written, &lines);
    match call.state.lines {
        NOT_FOLLOWED => call.state.lines = written,
        // Lines that other clients have not received yet are sent to all at the frame's end.
        sent => lines.truncate(lines.len().saturating_sub((written - sent) as usize)),
    }
    call.state.log_stamps.note(written, frame, now());
    for (number, (level, text)) in (first..).zip(lines) {
        call.reply.peer.offer(&call.state.log_stamps.message(number, level, &text));
    }
    Ok(())
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_millis() as f64)
}

impl RemoteTools {
    /// Stamps the lines of a frame, and sends them to the clients that follow the log.
    pub(super) fn send_log(&mut self, frame: u64) {
        let follows = self.clients.iter().any(|client| client.streams.log);
        let (written, lines) = match follows {
            true => log::lines_after(self.state.lines),
            false => log::lines_after(u64::MAX),
        };
        self.state.log_stamps.note(written, frame, now());
        if !follows {
            // A new subscriber receives the last lines.
            self.state.lines = NOT_FOLLOWED;
            return;
        }
        let known = std::mem::replace(&mut self.state.lines, written);
        if known == NOT_FOLLOWED || written == known {
            return;
        }
        let missed = (written - known) as usize - lines.len();
        if missed > 0 {
            let message = format!("{missed} lines were written faster than they could be sent");
            self.send_log_line(written, LogLevel::Warning, &message);
        }
        for (number, (level, text)) in (first_number(written, &lines)..).zip(lines) {
            self.send_log_line(number, level, &text);
        }
    }

    fn send_log_line(&mut self, number: u64, level: LogLevel, text: &str) {
        let bytes = self.state.log_stamps.message(number, level, text);
        for client in self.clients.iter().filter(|client| client.streams.log) {
            client.peer.offer(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_stamp_of_its_frame() {
        let mut stamps = LogStamps::default();
        assert_eq!(stamps.find(1), None);
        for (written, frame) in [(2, 1), (2, 2), (5, 3)] {
            stamps.note(written, frame, frame as f64 * 10.0);
        }
        let frame = |line| stamps.find(line).map(|stamp| (stamp.frame, stamp.time));
        let (first, third) = (Some((1, 10.0)), Some((3, 30.0)));
        assert_eq!([1, 2, 3, 5].map(frame), [first, first, third, third]);
        for written in 6..6 + 2 * LINES_KEPT as u64 {
            stamps.note(written, written, 0.0);
        }
        assert_eq!(stamps.0.len(), LINES_KEPT);
    }

    #[test]
    fn a_message_of_a_line_has_frame_and_time() {
        let mut stamps = LogStamps::default();
        stamps.note(1, 7, 1234.0);
        let bytes = stamps.message(1, LogLevel::Warning, "low");
        let text = "{\"type\":\"message\",\"level\":\"warning\",\"message\":\"low\",\
                    \"frame\":7,\"time\":1234}";
        assert_eq!(std::str::from_utf8(&bytes), Ok(text));
    }
}
