//! Screenshots for remote tools, single or as a stream. The renderer captures the frame. A separate
//! thread scales and encodes it (picture_encoding.rs), so that the frame waits only for the pixels.

use super::message_table::{boolean, integer, text};
use super::picture_encoding::{EncodeJob, PictureFormat, ScreenshotReceiver, encode_and_send};
use super::subscriptions::{StreamTimer, stream_timer};
use super::{ConnectedClient, IncomingCall, PendingReply, Refusal};
use engine_foundation::json;
use engine_foundation::panic;
use engine_foundation::sjson::SjsonTree;
use engine_frame_packet::ViewTarget;
use engine_platform as platform;
use engine_render::RenderedImage;
use engine_runtime::{Drawing, Engine};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Maximum number of screenshots being encoded. Above it, streams wait.
const WORK_MAX: usize = 2;
/// A capture that takes longer than this makes the game wait for the renderer. Streams then rest
/// for `REST_FACTOR` times the duration of the capture, and meanwhile the game runs at full speed.
const SLOW: Duration = Duration::from_millis(100);
const REST_FACTOR: u32 = 3;
/// Maximum number of clients that wait for a screenshot.
const WAITING_MAX: usize = 64;

/// Default width of the pictures of a stream.
const STREAM_WIDTH: u64 = 640;

/// The stream of pictures that a client follows.
pub struct PictureStream {
    timer: StreamTimer,
    /// Maximum width of the pictures.
    width: u32,
    format: PictureFormat,
    /// True from the capture of a picture until the client has shown it; absent for clients that do
    /// not report this.
    in_flight: Option<Arc<AtomicBool>>,
}

impl PictureStream {
    /// Returns true if the client waits for a picture now.
    fn is_due(&self, now: Instant) -> bool {
        let mut timer = self.timer;
        let waits = self.in_flight.as_ref().is_none_or(|flag| !flag.load(Ordering::Acquire));
        waits && timer.is_due(now)
    }
}

/// Starts the stream of pictures for a client, or changes its options.
pub fn begin_stream(call: &mut IncomingCall) -> Result<(), Refusal> {
    check(call)?;
    let format = PictureFormat::parse(text(call.fields, "format"))?;
    call.streams.picture = Some(PictureStream {
        timer: stream_timer(call),
        width: integer(call.fields, "width").unwrap_or(STREAM_WIDTH) as u32,
        format,
        in_flight: boolean(call.fields, "acknowledge").then(Arc::default),
    });
    Ok(())
}

/// Notes that a client has shown the last picture of its stream.
pub fn picture_shown(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let Some(stream) = &call.streams.picture else {
        return Err(Refusal::of("the stream 'picture' is not followed: subscribe to it first"));
    };
    let Some(flag) = &stream.in_flight else {
        let message = "the stream 'picture' was subscribed to without 'acknowledge'";
        return Err(Refusal::of(message));
    };
    flag.store(false, Ordering::Release);
    Ok(Some(json::object([])))
}

/// Pending and held screenshots of a run.
#[derive(Default)]
pub struct ScreenshotQueue {
    waiting: Vec<(PendingReply, u32)>,
    /// Captures requested from the renderer: id, frame, time of the request.
    requests: VecDeque<(u64, u64, Instant)>,
    /// Streams capture nothing before this time, because the last capture was slow.
    rests_until: Option<Instant>,
    /// The frame to capture and hold for a pause of the game, even if no client has asked for it.
    frame_to_hold: Option<u64>,
    /// The frame shown while the game is paused: id, frame, image.
    held: Option<(u64, u64, Arc<RenderedImage>)>,
    worker: Option<Sender<EncodeJob>>,
    working: Arc<AtomicUsize>,
}

/// Checks that frames are rendered in this run.
pub fn check(call: &mut IncomingCall) -> Result<(), Refusal> {
    if call.app.vm.engine().drawing.builder.is_shown {
        return Ok(());
    }
    let message = "nothing is drawn in this run: start it with a window, or with --renderer auto";
    Err(Refusal::of(message))
}

/// Requests a screenshot.
pub fn screenshot(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    check(call)?;
    let width = integer(call.fields, "width").unwrap_or(u64::from(u32::MAX)) as u32;
    let pictures = &mut call.state.pictures;
    if pictures.waiting.len() >= WAITING_MAX {
        return Err(Refusal::of(format!("{WAITING_MAX} screenshots are already requested")));
    }
    pictures.waiting.push((call.reply.clone(), width));
    Ok(None)
}

impl ScreenshotQueue {
    /// Captures the next frame and holds it for a pause of the game.
    pub fn capture_next_frame(&mut self, engine: &Engine) {
        self.frame_to_hold = engine.drawing.builder.is_shown.then_some(engine.frame.index + 1);
    }

    /// Captures the current frame, which is drawn once more, and holds it for a pause of the game.
    pub fn capture_last_frame(&mut self, engine: &Engine) {
        self.frame_to_hold = engine.drawing.builder.is_shown.then_some(engine.frame.index);
    }

    /// Discards the captures of the old engine after a restart. Waiting clients receive a
    /// screenshot of the new one.
    pub fn restart(&mut self) {
        self.requests.clear();
        (self.held, self.frame_to_hold) = (None, None);
    }

    /// Takes finished captures, and requests new ones as needed.
    pub fn update(
        &mut self,
        engine: &mut Engine,
        clients: &mut [ConnectedClient],
        paused: bool,
        now: Instant,
    ) {
        self.take_captures(&mut engine.drawing, clients, paused, now);
        if !paused {
            self.held = None;
        }
        if let Some(frame) = self.frame_to_hold.take() {
            return self.request_capture(&mut engine.drawing, frame);
        }
        if !self.requests.is_empty() {
            return;
        }
        if let Some((number, frame, picture)) = self.held.clone() {
            // The game is paused: clients receive the held frame.
            let receivers = self.take_receivers(clients, number, true, now);
            return self.start_encoding(EncodeJob { frame, picture, receivers });
        }
        let free =
            self.working.load(Ordering::Acquire) < WORK_MAX && engine.drawing.builder.is_shown;
        let due = |client: &ConnectedClient| {
            client.streams.picture.as_ref().is_some_and(|stream| stream.is_due(now))
        };
        let rests = self.rests_until.is_some_and(|until| now < until);
        if !self.waiting.is_empty() || (free && !rests && clients.iter().any(due)) {
            self.request_capture(&mut engine.drawing, engine.frame.index + 1);
        }
    }

    /// Requests a capture of the next drawn image, which shows frame `frame`.
    fn request_capture(&mut self, drawing: &mut Drawing, frame: u64) {
        let number = drawing.captures.request(ViewTarget::Screen);
        self.requests.push_back((number, frame, Instant::now()));
    }

    fn take_captures(
        &mut self,
        drawing: &mut Drawing,
        clients: &mut [ConnectedClient],
        paused: bool,
        now: Instant,
    ) {
        while let Some((number, frame, asked)) = self.requests.front().copied() {
            let Some(captured) = drawing.captures.take(number) else { return };
            self.requests.pop_front();
            let took = now.saturating_duration_since(asked);
            self.rests_until = (took > SLOW).then(|| now + took * REST_FACTOR);
            match captured {
                Ok(picture) => {
                    let picture = Arc::new(picture);
                    if paused {
                        self.held = Some((number, frame, picture.clone()));
                    }
                    let receivers = self.take_receivers(clients, number, false, now);
                    self.start_encoding(EncodeJob { frame, picture, receivers });
                }
                Err(message) => {
                    for (reply, _) in self.waiting.drain(..) {
                        reply.refuse(Refusal::of(message.clone()));
                    }
                }
            }
        }
    }

    /// Returns the receivers of a capture. A held one is sent to each stream once.
    fn take_receivers(
        &mut self,
        clients: &mut [ConnectedClient],
        number: u64,
        held: bool,
        now: Instant,
    ) -> Vec<ScreenshotReceiver> {
        let asked =
            self.waiting.drain(..).map(|(reply, width)| ScreenshotReceiver::Answer(reply, width));
        let mut receivers: Vec<ScreenshotReceiver> = asked.collect();
        if self.working.load(Ordering::Acquire) >= WORK_MAX {
            return receivers;
        }
        for client in clients {
            let Some(stream) = &mut client.streams.picture else { continue };
            if (held && stream.timer.next == number) || !stream.is_due(now) {
                continue;
            }
            stream.timer.is_due(now);
            stream.timer.next = number;
            if let Some(flag) = &stream.in_flight {
                flag.store(true, Ordering::Release);
            }
            receivers.push(ScreenshotReceiver::Stream {
                peer: client.peer.clone(),
                width: stream.width,
                format: stream.format,
                in_flight: stream.in_flight.clone(),
            });
        }
        receivers
    }

    fn start_encoding(&mut self, job: EncodeJob) {
        if job.receivers.is_empty() {
            return;
        }
        if self.worker.is_none() {
            let (sender, jobs) = channel::<EncodeJob>();
            let working = self.working.clone();
            let run = move || {
                platform::lower_thread_priority();
                for job in jobs {
                    encode_and_send(job);
                    working.fetch_sub(1, Ordering::AcqRel);
                }
            };
            match panic::spawn("tools-pictures", run) {
                Ok(_) => self.worker = Some(sender),
                Err(reason) => return refuse(job, &format!("no thread is left: {reason}")),
            }
        }
        self.working.fetch_add(1, Ordering::AcqRel);
        let sent = self.worker.as_ref().map(|worker| worker.send(job));
        if let Some(Err(lost)) = sent {
            self.working.fetch_sub(1, Ordering::AcqRel);
            self.worker = None;
            refuse(lost.0, "the thread that makes pictures has ended");
        }
    }
}

fn refuse(job: EncodeJob, message: &str) {
    for receiver in job.receivers {
        receiver.fail(message);
    }
}
