//! Pictures for tools: one, or a stream of them. The renderer makes them; a thread of their own
//! makes them smaller and PNG, so that the frame waits for nothing but their pixels.

use super::messages::whole;
use super::{Asker, Call, Client, Refusal};
use crate::engine::Engine;
use crate::foundation::sjson::Tree;
use crate::foundation::{fault, log};
use crate::packet::Target;
use crate::resource::image::encode_png;
use crate::system::platform;
use crate::system::render::Picture;
use crate::system::tools::{Bytes, Peer, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How many pictures are made into files at once; streams wait above it.
const WORK_MAX: usize = 2;
/// A picture that takes longer makes the game wait for the renderer: streams then rest for so many
/// times as long, and the game plays on at its full speed meanwhile.
const SLOW: Duration = Duration::from_millis(100);
const RESTS: u32 = 3;
/// The most askers that wait for a picture.
const ASKERS_MAX: usize = 64;

/// Who gets a picture.
enum Wish {
    /// The answer to a message.
    Answer(Asker, u32),
    /// A message of a stream.
    Stream(Arc<Peer>, u32),
}

/// A picture and who gets it.
struct Work {
    frame: u64,
    picture: Arc<Picture>,
    wishes: Vec<Wish>,
}

/// The pictures of a run.
#[derive(Default)]
pub struct Pictures {
    askers: Vec<(Asker, u32)>,
    /// What the renderer was asked for: numbers, frames, and when.
    asked: VecDeque<(u64, u64, Instant)>,
    /// Streams wait until then: the last picture took long.
    rests_until: Option<Instant>,
    /// The frame of which a picture is wanted although nobody asks, for the game stands then.
    holds: Option<u64>,
    /// What is shown while the game stands: number, frame, picture.
    held: Option<(u64, u64, Arc<Picture>)>,
    worker: Option<Sender<Work>>,
    working: Arc<AtomicUsize>,
}

/// Whether there are pictures in this run at all.
pub fn check(call: &mut Call) -> Result<(), Refusal> {
    if call.app.vm.engine().picture.is_shown {
        return Ok(());
    }
    let words = "nothing is drawn in this run: start it with a window, or with --renderer auto";
    Err(Refusal::of(words))
}

/// Asks for a picture.
pub fn screenshot(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    check(call)?;
    let width = whole(call.fields, "width").unwrap_or(u64::from(u32::MAX)) as u32;
    let pictures = &mut call.state.pictures;
    if pictures.askers.len() >= ASKERS_MAX {
        return Err(Refusal::of(format!("{ASKERS_MAX} pictures are asked for already")));
    }
    pictures.askers.push((call.asker.clone(), width));
    Ok(None)
}

impl Pictures {
    /// Has the frame that is played next kept, for the time when the game stands.
    pub fn hold_next(&mut self, engine: &mut Engine) {
        self.holds = engine.picture.is_shown.then_some(engine.frame.index + 1);
    }

    /// The same with the frame that was played last, which is drawn once more.
    pub fn hold_again(&mut self, engine: &mut Engine) {
        self.holds = engine.picture.is_shown.then_some(engine.frame.index);
    }

    /// The engine is another one now; whoever asked gets a picture of it.
    pub fn begin_anew(&mut self) {
        self.asked.clear();
        (self.held, self.holds) = (None, None);
    }

    /// Takes what was made, and asks for what is wanted.
    pub fn go_on(
        &mut self,
        engine: &mut Engine,
        clients: &mut [Client],
        paused: bool,
        now: Instant,
    ) {
        self.take(engine, clients, paused, now);
        if !paused {
            self.held = None;
        }
        if let Some(frame) = self.holds.take() {
            return self.ask(engine, frame);
        }
        if !self.asked.is_empty() {
            return;
        }
        if let Some((number, frame, picture)) = self.held.clone() {
            // The game stands: the frame that was kept is what is seen.
            let wishes = self.wishes(clients, number, true, now);
            return self.hand_over(Work { frame, picture, wishes });
        }
        let free = self.working.load(Ordering::Acquire) < WORK_MAX && engine.picture.is_shown;
        let due = |client: &Client| {
            client.streams.picture.is_some_and(|(mut timed, _)| timed.is_due(now))
        };
        let rests = self.rests_until.is_some_and(|until| now < until);
        if !self.askers.is_empty() || (free && !rests && clients.iter().any(due)) {
            self.ask(engine, engine.frame.index + 1);
        }
    }

    /// Asks for a picture of what is drawn next, which is of a frame.
    fn ask(&mut self, engine: &mut Engine, frame: u64) {
        let number = engine.captures.ask(Target::Screen);
        self.asked.push_back((number, frame, Instant::now()));
    }

    fn take(&mut self, engine: &mut Engine, clients: &mut [Client], paused: bool, now: Instant) {
        while let Some((number, frame, asked)) = self.asked.front().copied() {
            let Some(made) = engine.captures.take(number) else { return };
            self.asked.pop_front();
            let took = now.saturating_duration_since(asked);
            self.rests_until = (took > SLOW).then(|| now + took * RESTS);
            match made {
                Ok(picture) => {
                    let picture = Arc::new(picture);
                    if paused {
                        self.held = Some((number, frame, picture.clone()));
                    }
                    let wishes = self.wishes(clients, number, false, now);
                    self.hand_over(Work { frame, picture, wishes });
                }
                Err(words) => {
                    for (asker, _) in self.askers.drain(..) {
                        asker.refuse(Refusal::of(words.clone()));
                    }
                }
            }
        }
    }

    /// Who gets the picture of a number. One that is held is sent to a stream once.
    fn wishes(
        &mut self,
        clients: &mut [Client],
        number: u64,
        held: bool,
        now: Instant,
    ) -> Vec<Wish> {
        let asked = self.askers.drain(..).map(|(asker, width)| Wish::Answer(asker, width));
        let mut wishes: Vec<Wish> = asked.collect();
        if self.working.load(Ordering::Acquire) >= WORK_MAX {
            return wishes;
        }
        for client in clients {
            if let Some((timed, width)) = &mut client.streams.picture
                && !(held && timed.next == number)
                && timed.is_due(now)
            {
                timed.next = number;
                wishes.push(Wish::Stream(client.peer.clone(), *width));
            }
        }
        wishes
    }

    fn hand_over(&mut self, work: Work) {
        if work.wishes.is_empty() {
            return;
        }
        if self.worker.is_none() {
            let (sender, works) = channel::<Work>();
            let working = self.working.clone();
            let run = move || {
                platform::let_others_go_first();
                for work in works {
                    fulfil(work);
                    working.fetch_sub(1, Ordering::AcqRel);
                }
            };
            match fault::spawn("tools-pictures", run) {
                Ok(_) => self.worker = Some(sender),
                Err(reason) => return refuse(work, &format!("no thread is left: {reason}")),
            }
        }
        self.working.fetch_add(1, Ordering::AcqRel);
        let sent = self.worker.as_ref().map(|worker| worker.send(work));
        if let Some(Err(lost)) = sent {
            self.working.fetch_sub(1, Ordering::AcqRel);
            self.worker = None;
            refuse(lost.0, "the thread that makes pictures has ended");
        }
    }
}

fn refuse(work: Work, words: &str) {
    for wish in work.wishes {
        if let Wish::Answer(asker, _) = wish {
            asker.refuse(Refusal::of(words));
        }
    }
}

/// Makes the file of each width once, and sends it to all who want it.
fn fulfil(work: Work) {
    let Work { frame, picture, wishes } = work;
    let mut made: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    for wish in wishes {
        let (Wish::Answer(_, most) | Wish::Stream(_, most)) = &wish;
        let (width, height) = fitting(&picture, *most);
        if !made.iter().any(|(known, ..)| *known == width) {
            let png = || match width == picture.width {
                true => encode_png(width, height, &picture.rgba),
                false => encode_png(width, height, &smaller(&picture, width, height)),
            };
            match fault::contain(png) {
                Ok(png) => made.push((width, height, png)),
                Err(error) => {
                    log::error(&format!("no picture was made for a tool: {error}"));
                    if let Wish::Answer(asker, _) = wish {
                        asker.refuse(Refusal::of(&error.message));
                    }
                    continue;
                }
            }
        }
        let (.., png) = made.iter().find(|(known, ..)| *known == width).expect("it was made");
        let figures = |more: Vec<(&str, Tree)>| {
            let mut all = vec![
                ("frame", Tree::Number(frame as f64)),
                ("width", Tree::Number(f64::from(width))),
                ("height", Tree::Number(f64::from(height))),
            ];
            all.extend(more);
            Tree::Object(all.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
        };
        match wish {
            Wish::Answer(asker, _) => {
                asker.answer(figures(vec![("png", json::text(json::base64(png)))]));
            }
            Wish::Stream(peer, _) => {
                let head = json::write(&figures(vec![("type", json::text("picture"))]));
                let bytes = [head.as_bytes(), b"\n", png].concat();
                peer.offer_bytes(Bytes::from(bytes));
            }
        }
    }
}

/// The size of a picture that is at most so wide.
fn fitting(picture: &Picture, most: u32) -> (u32, u32) {
    if picture.width <= most {
        return (picture.width, picture.height);
    }
    let height = u64::from(picture.height) * u64::from(most) / u64::from(picture.width);
    (most, (height as u32).max(1))
}

/// A smaller picture: each texel is the mean of those that it stands for.
fn smaller(picture: &Picture, width: u32, height: u32) -> Vec<u8> {
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
    fn a_smaller_picture_has_the_means_and_keeps_its_shape() {
        let rgba = [[0, 0, 0, 255], [200, 100, 50, 255]].concat().repeat(4);
        let picture = Picture { width: 4, height: 2, rgba };
        assert_eq!(fitting(&picture, 2), (2, 1));
        assert_eq!(fitting(&picture, 100), (4, 2));
        assert_eq!(smaller(&picture, 2, 1), [[100, 50, 25, 255], [100, 50, 25, 255]].concat());
        let flat = Picture { width: 100, height: 1, rgba: vec![9; 400] };
        assert_eq!(fitting(&flat, 16), (16, 1));
        assert_eq!(smaller(&flat, 16, 1), [9; 64]);
    }
}
