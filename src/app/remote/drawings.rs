//! Pictures of two versions of a unit, a level or a material for tools. A confined game starts no
//! programs, so a client draws them that a person has started outside of the game: `engine diff
//! --serve`. The game passes it one question after the other, and passes its pictures on.

use super::message_table::{integer, text};
use super::{IncomingCall, PendingReply, Refusal};
use engine_foundation::json::{self, object};
use engine_foundation::panic;
use engine_foundation::sjson::SjsonTree;
use engine_remote::RemoteConnection;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum number of questions that wait for their pictures.
const QUESTIONS_MAX: usize = 16;
/// The time after which a drawing that has not come no longer delays others.
const DRAWING_WAIT_MAX: Duration = Duration::from_secs(60);
/// Maximum size of a version that is drawn, in bytes.
pub const VERSION_BYTES_MAX: usize = 4 << 20;
/// Maximum number of notes about missing pictures, and of the bytes of each.
const NOTES_MAX: usize = 16;
const NOTE_BYTES_MAX: usize = 4 << 10;
/// Parts of an answer with a picture.
const PARTS: [&str; 3] = ["old", "new", "texels"];
/// The last part of an answer.
const END: &str = "end";

type Answer = Result<Option<SjsonTree>, Refusal>;

/// The client that draws, and the questions to it. Shared with the thread that reads the versions.
#[derive(Clone, Default)]
pub struct Drawings(Arc<Mutex<DrawingQueue>>);

#[derive(Default)]
struct DrawingQueue {
    drawer: Option<Arc<RemoteConnection>>,
    /// Number of the last question.
    last: u64,
    /// The first one is being drawn.
    questions: VecDeque<DrawingQuestion>,
}

struct DrawingQuestion {
    number: u64,
    reply: PendingReply,
    /// The time when the drawer got the question.
    sent: Option<Instant>,
    /// The message for the drawer.
    message: String,
    pictures: [Option<SjsonTree>; 3],
    notes: Vec<String>,
}

impl DrawingQuestion {
    fn answer(self) {
        let [old, new, texels] = self.pictures.map(|picture| picture.unwrap_or(SjsonTree::Null));
        self.reply.answer(object([
            ("old_picture", old),
            ("new_picture", new),
            ("texels", texels),
            ("notes", json::texts(&self.notes)),
        ]));
    }
}

impl Drawings {
    /// Returns true if a client draws.
    pub fn has_drawer(&self) -> bool {
        panic::lock(&self.0).drawer.is_some()
    }

    /// Asks the drawer for pictures of two versions. The answer follows later.
    pub fn ask(&self, reply: PendingReply, path: &str, versions: [Option<&[u8]>; 2]) -> Answer {
        let mut queue = panic::lock(&self.0);
        if queue.drawer.is_none() {
            return Err(Refusal::of(no_drawer()));
        }
        queue.refuse_late(Instant::now());
        if queue.questions.len() >= QUESTIONS_MAX {
            let message = format!("{QUESTIONS_MAX} drawings already wait (QUESTIONS_MAX)");
            return Err(Refusal::of(message));
        }
        if versions.iter().flatten().any(|bytes| bytes.len() > VERSION_BYTES_MAX) {
            let most = VERSION_BYTES_MAX >> 20;
            let message = format!("'{path}' has more than {most} MiB (VERSION_BYTES_MAX)");
            return Err(Refusal::of(message));
        }
        queue.last += 1;
        let number = queue.last;
        let bytes = |bytes: Option<&[u8]>| {
            bytes.map_or(SjsonTree::Null, |bytes| json::text(json::base64(bytes)))
        };
        let [old, new] = versions.map(bytes);
        let message = json::write(&object([
            ("type", json::text("draw")),
            ("number", SjsonTree::Number(number as f64)),
            ("path", json::text(path)),
            ("old", old),
            ("new", new),
        ]));
        let (sent, pictures, notes) = (None, Default::default(), Vec::new());
        let question = DrawingQuestion { number, reply, sent, message, pictures, notes };
        queue.questions.push_back(question);
        if queue.questions.len() == 1 {
            queue.send_first();
        }
        Ok(None)
    }

    /// Forgets a client that has left. Without the drawer, its questions have no answers.
    pub fn remove_client(&self, number: u64) {
        let mut queue = panic::lock(&self.0);
        if queue.drawer.as_ref().is_some_and(|drawer| drawer.number == number) {
            queue.drawer = None;
            for question in std::mem::take(&mut queue.questions) {
                question.reply.refuse(Refusal::of("the command that draws has ended"));
            }
        }
    }
}

impl DrawingQueue {
    fn send_first(&mut self) {
        if let (Some(drawer), Some(question)) = (&self.drawer, self.questions.front_mut()) {
            question.sent = Some(Instant::now());
            drawer.answer(question.message.clone());
        }
    }

    /// Refuses the question that the drawer has for too long.
    fn refuse_late(&mut self, now: Instant) {
        let is_late = |question: &DrawingQuestion| {
            question.sent.is_some_and(|sent| now.duration_since(sent) > DRAWING_WAIT_MAX)
        };
        if let Some(question) = self.questions.pop_front_if(|question| is_late(question)) {
            let seconds = DRAWING_WAIT_MAX.as_secs();
            let message = format!("the drawing did not come within {seconds} s (DRAWING_WAIT_MAX)");
            question.reply.refuse(Refusal::of(message));
            self.send_first();
        }
    }
}

/// Returns the message for drawings without a drawer.
pub fn no_drawer() -> &'static str {
    "a running game starts no programs: run `engine diff --serve` with the game's folder in a \
     terminal, and both versions are drawn here"
}

/// Makes the client the one that draws.
pub fn offer(call: &mut IncomingCall) -> Answer {
    let mut queue = panic::lock(&call.state.drawings.0);
    if queue.drawer.as_ref().is_some_and(|drawer| drawer.number != call.reply.peer.number) {
        return Err(Refusal::of("another command already draws for this game: end it first"));
    }
    queue.drawer = Some(call.reply.peer.clone());
    Ok(Some(object([])))
}

/// Returns a picture in a message of the drawer.
fn picture(fields: &SjsonTree, is_texels: bool) -> Result<SjsonTree, Refusal> {
    let png = text(fields, "png").unwrap_or_default();
    let bytes = json::bytes_of_base64(png).unwrap_or_default();
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Err(Refusal::of("'png' is no PNG file in base64"));
    }
    let number = |name: &str| SjsonTree::Number(integer(fields, name).unwrap_or(0) as f64);
    let names = if is_texels { ["count", "largest"] } else { ["width", "height"] };
    let [first, second] = names.map(|name| (name, number(name)));
    Ok(object([first, second, ("png", json::text(png))]))
}

/// Takes a part of the drawer's answer. The last part answers the question.
pub fn drawn(call: &mut IncomingCall) -> Answer {
    let mut queue = panic::lock(&call.state.drawings.0);
    let is_drawer =
        queue.drawer.as_ref().is_some_and(|drawer| drawer.number == call.reply.peer.number);
    if !is_drawer {
        return Err(Refusal::of("only the client that sent draw_offer draws"));
    }
    let number = integer(call.fields, "number").unwrap_or(0);
    let part = text(call.fields, "part").unwrap_or_default();
    let question = queue.questions.front_mut().filter(|question| question.number == number);
    let Some(question) = question else {
        return Err(Refusal::of(format!("drawing {number} is not asked for")));
    };
    if let Some(at) = PARTS.iter().position(|name| *name == part) {
        question.pictures[at] = Some(picture(call.fields, part == PARTS[2])?);
        return Ok(Some(object([])));
    }
    if part != END {
        let message = "'part' is \"old\", \"new\", \"texels\" or \"end\"";
        return Err(Refusal::of(message));
    }
    let notes = text(call.fields, "notes").unwrap_or_default().lines().take(NOTES_MAX);
    let shortened = |note: &str| note[..note.floor_char_boundary(NOTE_BYTES_MAX)].to_string();
    question.notes = notes.map(shortened).collect();
    if let Some(question) = queue.questions.pop_front() {
        question.answer();
    }
    queue.send_first();
    Ok(Some(object([])))
}
