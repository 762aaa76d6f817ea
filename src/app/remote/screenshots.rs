//! Screenshots for remote tools, single or as a stream. The renderer captures the frame. A separate
//! thread scales and encodes it as PNG, so that the frame waits only for the pixels.

use super::message_table::integer;
use super::{ConnectedClient, IncomingCall, PendingReply, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{log, panic};
use engine_frame_packet::ViewTarget;
use engine_platform as platform;
use engine_remote::{Bytes, RemoteConnection};
use engine_render::RenderedImage;
use engine_resource::image::encode_png;
use engine_runtime::{Drawing, Engine};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// Receiver of a screenshot, with its maximum width.
enum ScreenshotReceiver {
    /// Reply to a message.
    Answer(PendingReply, u32),
    /// Message of a stream.
    Stream(Arc<RemoteConnection>, u32),
}

/// A captured frame and its receivers.
struct EncodeJob {
    frame: u64,
    picture: Arc<RenderedImage>,
    receivers: Vec<ScreenshotReceiver>,
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
            client.streams.picture.is_some_and(|(mut timed, _)| timed.is_due(now))
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
            if let Some((timed, width)) = &mut client.streams.picture
                && !(held && timed.next == number)
                && timed.is_due(now)
            {
                timed.next = number;
                receivers.push(ScreenshotReceiver::Stream(client.peer.clone(), *width));
            }
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
        if let ScreenshotReceiver::Answer(reply, _) = receiver {
            reply.refuse(Refusal::of(message));
        }
    }
}

/// Encodes the image once for each width, and sends it to all receivers.
fn encode_and_send(job: EncodeJob) {
    let EncodeJob { frame, picture, receivers } = job;
    let mut encoded: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    for receiver in receivers {
        let (ScreenshotReceiver::Answer(_, most) | ScreenshotReceiver::Stream(_, most)) = &receiver;
        let (width, height) = fitted_size(&picture, *most);
        if !encoded.iter().any(|(known, ..)| *known == width) {
            let png = || match width == picture.width {
                true => encode_png(width, height, &picture.rgba),
                false => encode_png(width, height, &scale_down(&picture, width, height)),
            };
            match panic::contain(png) {
                Ok(png) => encoded.push((width, height, png)),
                Err(error) => {
                    log::error(&format!("a tool's screenshot could not be encoded: {error}"));
                    if let ScreenshotReceiver::Answer(reply, _) = receiver {
                        reply.refuse(Refusal::of(&error.message));
                    }
                    continue;
                }
            }
        }
        let (.., png) = encoded.iter().find(|(known, ..)| *known == width).expect("it was made");
        let reply_fields = |more: Vec<(&str, SjsonTree)>| {
            let mut all = vec![
                ("frame", SjsonTree::Number(frame as f64)),
                ("width", SjsonTree::Number(f64::from(width))),
                ("height", SjsonTree::Number(f64::from(height))),
            ];
            all.extend(more);
            SjsonTree::Object(
                all.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
            )
        };
        match receiver {
            ScreenshotReceiver::Answer(reply, _) => {
                reply.answer(reply_fields(vec![("png", json::text(json::base64(png)))]));
            }
            ScreenshotReceiver::Stream(peer, _) => {
                let head = json::write(&reply_fields(vec![("type", json::text("picture"))]));
                let bytes = [head.as_bytes(), b"\n", png].concat();
                peer.offer_bytes(Bytes::from(bytes));
            }
        }
    }
}

/// Returns the size of the image, scaled down to a width of at most `most`.
fn fitted_size(picture: &RenderedImage, most: u32) -> (u32, u32) {
    if picture.width <= most {
        return (picture.width, picture.height);
    }
    let height = u64::from(picture.height) * u64::from(most) / u64::from(picture.width);
    (most, (height as u32).max(1))
}

/// Scales an image down: each texel is the mean of the texels that it replaces.
fn scale_down(picture: &RenderedImage, width: u32, height: u32) -> Vec<u8> {
    let (from_width, from_height) = (picture.width as usize, picture.height as usize);
    let (width, height) = (width as usize, height as usize);
    let mut out = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        let rows = y * from_height / height..((y + 1) * from_height / height).max(1);
        for x in 0..width {
            let columns = x * from_width / width..(x + 1) * from_width / width;
            let mut sum = [0u32; 4];
            let mut count = 0;
            for row in rows.clone() {
                for column in columns.clone() {
                    let at = (row * from_width + column) * 4;
                    for (sum, part) in sum.iter_mut().zip(&picture.rgba[at..at + 4]) {
                        *sum += u32::from(*part);
                    }
                    count += 1;
                }
            }
            out.extend(sum.map(|sum| (sum / count.max(1)) as u8));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_down_averages_texels_and_keeps_proportions() {
        let rgba = [[0, 0, 0, 255], [200, 100, 50, 255]].concat().repeat(4);
        let picture = RenderedImage { width: 4, height: 2, rgba };
        assert_eq!(fitted_size(&picture, 2), (2, 1));
        assert_eq!(fitted_size(&picture, 100), (4, 2));
        assert_eq!(scale_down(&picture, 2, 1), [[100, 50, 25, 255], [100, 50, 25, 255]].concat());
        let flat = RenderedImage { width: 100, height: 1, rgba: vec![9; 400] };
        assert_eq!(fitted_size(&flat, 16), (16, 1));
        assert_eq!(scale_down(&flat, 16, 1), [9; 64]);
    }
}
