//! Tools that look into a running game: which clients there are and what becomes of their messages.
//! The connection is src/system/tools, the table of messages messages.rs; what each does is in the
//! other files here. All of it happens at one place of the frame, in a bounded time.

mod devices;
mod figures;
mod game;
mod look;
mod messages;
mod pictures;
mod resources;
mod script;
mod streams;
mod window;

use super::App;
use crate::counter;
use crate::engine::Engine;
use crate::foundation::sjson::Tree;
use crate::foundation::{Error, log};
use crate::system::input::Event;
use crate::system::tools::{Bytes, Incoming, Peer, Server, VERSION, What, json};
use figures::Profiles;
use pictures::Pictures;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use streams::{Samples, Streams};
use window::Lending;

/// How long messages are handled in one frame; what is left waits for the next one.
const ANSWER_SECONDS: f64 = 0.002;
/// The longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// And how long clients are told what they follow.
const TELL_SECONDS: f64 = 0.002;
/// How often a client hears of what was dropped.
const DROPPED_SECONDS: f64 = 1.0;

/// A client.
struct Client {
    peer: Arc<Peer>,
    streams: Streams,
    /// How many dropped messages it knows of.
    told_dropped: u64,
    told_at: Instant,
}

impl Client {
    /// Tells it how many messages did not fit, now and then.
    fn tell_dropped(&mut self, now: Instant) {
        let dropped = self.peer.dropped();
        if dropped == self.told_dropped
            || now - self.told_at < Duration::from_secs_f64(DROPPED_SECONDS)
        {
            return;
        }
        self.told_at = now;
        let count = Tree::Number(dropped as f64);
        let tree = json::object([("type", json::text("dropped")), ("count", count)]);
        if self.peer.offer(&Bytes::from(json::write(&tree))) {
            self.told_dropped = dropped;
        }
    }
}

/// Who waits for an answer, and what it asked for.
#[derive(Clone)]
struct Asker {
    peer: Arc<Peer>,
    /// The type of its message.
    kind: &'static str,
    /// What its message is known by; null where it gave nothing.
    id: Tree,
}

impl Asker {
    fn answer(&self, entries: Tree) {
        let mut all =
            vec![("type".to_string(), json::text(self.kind)), ("id".to_string(), self.id.clone())];
        match entries {
            Tree::Object(entries) => all.extend(entries),
            other => all.push(("value".to_string(), other)),
        }
        let text = json::write(&Tree::Object(all));
        if text.len() > ANSWER_BYTES_MAX {
            let size = text.len() >> 20;
            return self.refuse(Refusal::of(format!(
                "the answer has {size} MiB, and {} are the most (ANSWER_BYTES_MAX): ask for less",
                ANSWER_BYTES_MAX >> 20
            )));
        }
        self.peer.answer(text);
    }

    fn refuse(&self, refusal: Refusal) {
        let mut all = vec![
            ("type".to_string(), json::text("error")),
            ("id".to_string(), self.id.clone()),
            ("to".to_string(), json::text(self.kind)),
            ("message".to_string(), json::text(refusal.message)),
        ];
        all.extend(refusal.more);
        self.peer.answer(json::write(&Tree::Object(all)));
    }
}

/// Why there is no answer.
#[derive(Debug)]
struct Refusal {
    message: String,
    more: Vec<(String, Tree)>,
}

impl Refusal {
    fn of(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), more: Vec::new() }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal::of(message)
    }
}

/// What is known of the tools of a run, beside the clients.
struct State {
    server: Server,
    /// The game's.
    folder: PathBuf,
    samples: Samples,
    pictures: Pictures,
    /// What tools have devices say, for the next frame.
    events: Vec<Event>,
    paused: bool,
    /// Frames that are still played while it is paused.
    steps: u64,
    /// Who hears when the game stands.
    waiting: Vec<Asker>,
    /// Why the game is stopped, where an error did it.
    problem: Option<String>,
    /// Whether something was done that a standing game's picture has to show.
    redraw: bool,
    /// Whether such a picture may be drawn at all: a recording has none.
    redraws: bool,
    lending: Option<Lending>,
    /// How many lines of the log were told to those who follow it; [`UNTOLD`] where nobody does.
    lines: u64,
}

/// Nobody follows the log.
const UNTOLD: u64 = u64::MAX;

/// The tools of a run.
pub struct Tools {
    state: State,
    clients: Vec<Client>,
    /// Which client is told first in the next frame.
    turn: usize,
}

/// A message on its way: to whom it speaks, and who asks.
struct Call<'a> {
    app: &'a mut App,
    state: &'a mut State,
    streams: &'a mut Streams,
    clients: usize,
    dropped: u64,
    asker: &'a Asker,
    fields: &'a Tree,
}

impl Tools {
    /// Opens the connection for a game's folder. `redraws`: a standing game may be drawn again.
    ///
    /// # Errors
    /// Where there is no port, or the folder cannot be written.
    pub fn open(folder: PathBuf, redraws: bool) -> Result<Tools, Error> {
        let state = State {
            server: Server::open(folder.clone())?,
            folder,
            samples: Samples::default(),
            pictures: Pictures::default(),
            events: Vec::new(),
            paused: false,
            steps: 0,
            waiting: Vec::new(),
            problem: None,
            redraw: false,
            redraws,
            lending: None,
            lines: UNTOLD,
        };
        Ok(Tools { state, clients: Vec::new(), turn: 0 })
    }

    /// Answers those who wait for the game to stand.
    fn settle(&mut self) {
        for asker in std::mem::take(&mut self.state.waiting) {
            asker.answer(json::object([("paused", Tree::Bool(self.state.paused))]));
        }
    }

    /// Takes what clients did, for as long as there is time.
    fn take(&mut self, app: &mut App) {
        let end = Instant::now() + Duration::from_secs_f64(ANSWER_SECONDS);
        while let Some(Incoming { peer, what }) = self.state.server.take() {
            match what {
                What::Joined => {
                    script::prepare();
                    let (streams, told_at) = (Streams::default(), Instant::now());
                    self.clients.push(Client { streams, told_dropped: 0, told_at, peer });
                }
                What::Left => self.clients.retain(|client| client.peer.number != peer.number),
                What::Message(message, _) => self.handle(app, &peer, message),
            }
            if Instant::now() >= end {
                return;
            }
        }
    }

    fn handle(&mut self, app: &mut App, peer: &Arc<Peer>, message: Result<Tree, String>) {
        let Tools { state, clients, .. } = self;
        let count = clients.len();
        let Some(client) = clients.iter_mut().find(|it| it.peer.number == peer.number) else {
            return;
        };
        let fields = match message {
            Ok(tree) => tree,
            Err(words) => {
                let asker = Asker { peer: peer.clone(), kind: "", id: Tree::Null };
                return asker.refuse(Refusal::of(words));
            }
        };
        let id = fields.get("id").cloned().unwrap_or(Tree::Null);
        let mut asker = Asker { peer: peer.clone(), kind: "", id };
        let row = match messages::find(&fields) {
            Ok(row) => row,
            Err(words) => return asker.refuse(Refusal::of(words)),
        };
        asker.kind = row.name;
        if let Err(words) = messages::check(row, &fields) {
            return asker.refuse(Refusal::of(words));
        }
        let outcome = (row.run)(&mut Call {
            app,
            state,
            streams: &mut client.streams,
            clients: count,
            dropped: client.peer.dropped(),
            asker: &asker,
            fields: &fields,
        });
        match outcome {
            Ok(Some(entries)) => asker.answer(entries),
            Ok(None) => {}
            Err(refusal) => asker.refuse(refusal),
        }
    }

    /// Tells those who want it what is new, for as long as there is time: those who are left come
    /// first in the next frame.
    fn tell(&mut self, engine: &mut Engine) {
        self.tell_log();
        let now = Instant::now();
        let end = now + Duration::from_secs_f64(TELL_SECONDS);
        let (count, mut profiles) = (self.clients.len(), Profiles::default());
        for turn in 0..count {
            let at = (self.turn + turn) % count;
            let client = &mut self.clients[at];
            client.streams.tell(&self.state.samples, &mut profiles, &client.peer, now);
            client.tell_dropped(now);
            if Instant::now() >= end {
                self.turn = at + 1;
                break;
            }
        }
        self.state.pictures.go_on(engine, &mut self.clients, self.state.paused, now);
    }

    fn tell_log(&mut self) {
        if !self.clients.iter().any(|client| client.streams.log) {
            // Whoever subscribes gets the last lines.
            self.state.lines = UNTOLD;
            return;
        }
        let (written, lines) = log::lines_after(self.state.lines);
        let known = std::mem::replace(&mut self.state.lines, written);
        if known == UNTOLD || written == known {
            return;
        }
        let missed = (written - known) as usize - lines.len();
        if missed > 0 {
            let words = format!("{missed} lines were written faster than they could be told");
            self.tell_line(log::Level::Warning, &words);
        }
        for (level, text) in lines {
            self.tell_line(level, &text);
        }
    }

    fn tell_line(&mut self, level: log::Level, text: &str) {
        let bytes = Bytes::from(json::write(&streams::line(level, text)));
        for client in self.clients.iter().filter(|client| client.streams.log) {
            client.peer.offer(&bytes);
        }
    }
}

impl App {
    /// Lets tools in, for the game of a folder: where a browser finds the page. `redraws`: what
    /// they do while it stands is drawn, by the game's `render`.
    ///
    /// # Errors
    /// Where there is no port, or the folder cannot be written.
    pub fn let_tools_in(&mut self, folder: PathBuf, redraws: bool) -> Result<String, Error> {
        let tools = Tools::open(folder, redraws)?;
        let address = tools.state.server.address();
        self.tools = Some(tools);
        Ok(address)
    }

    /// Takes over the tools of the app that this one replaces.
    pub(super) fn inherit_tools(&mut self, old: &mut App) {
        self.tools = old.tools.take();
        if let Some(tools) = &mut self.tools {
            tools.state.pictures.begin_anew();
            for client in &mut tools.clients {
                client.streams.begin_anew();
            }
        }
    }

    /// Whether tools have the game stand: no frame is to be played now.
    pub(super) fn stands_still(&self) -> bool {
        self.tools.as_ref().is_some_and(|it| it.state.paused && it.state.steps == 0)
    }

    /// Whether tools have single frames played.
    pub(super) fn is_stepping(&self) -> bool {
        self.tools.as_ref().is_some_and(|it| it.state.paused)
    }

    /// Lets the game go on, whatever tools want.
    pub(super) fn go_on(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.state.paused = false;
        }
    }

    /// What tools had devices say since the last time.
    pub(super) fn take_tool_events(&mut self) -> Vec<Event> {
        self.tools.as_mut().map_or(Vec::new(), |it| std::mem::take(&mut it.state.events))
    }

    /// Whether an error has stopped the game, and which.
    pub(super) fn tell_tools(&mut self, problem: Option<String>) {
        if let Some(tools) = &mut self.tools {
            tools.state.problem = problem;
        }
    }

    /// Handles what tools ask, and tells them what they follow. `in_frame`: a frame is being
    /// played; the game stands otherwise.
    pub fn answer_tools(&mut self, in_frame: bool) {
        let Some(mut tools) = self.tools.take() else { return self.do_wishes(None) };
        crate::owner!("tools");
        if in_frame {
            let steps = tools.state.steps;
            tools.state.steps = steps.saturating_sub(1);
            if steps == 1 {
                tools.state.pictures.hold_next(self.vm.engine());
            }
        } else {
            tools.settle();
        }
        tools.take(self);
        counter!("tools/clients") += tools.clients.len();
        self.do_wishes(Some(&mut tools));
        tools.tell_sent(self);
        let State { paused, steps, redraw, redraws, problem, pictures, .. } = &mut tools.state;
        *redraw &= *redraws && !in_frame && *paused && *steps == 0 && problem.is_none();
        if *redraw {
            // Whoever follows the picture sees it, too.
            pictures.hold_again(self.vm.engine());
        }
        tools.tell(self.vm.engine());
        self.tools = Some(tools);
    }

    /// Tells what was logged last, why the game ended among it, and lets tools go.
    pub(super) fn end_tools(&mut self) {
        if let Some(mut tools) = self.tools.take() {
            tools.tell_sent(self);
            tools.tell_log();
        }
    }

    /// Has the picture of a standing game drawn again.
    pub(super) fn ask_redraw(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.state.redraw = true;
        }
    }

    /// Whether tools did something that the picture of a standing game does not show yet.
    pub(super) fn take_redraw(&mut self) -> bool {
        let tools = self.tools.as_mut();
        tools.is_some_and(|it| std::mem::take(&mut it.state.redraw))
    }

    /// Notes how the frame's step came about, for tools that draw it.
    pub(super) fn note_step(&mut self, measured: f64) {
        if let Some(tools) = &mut self.tools {
            let engine = self.vm.engine();
            tools.state.samples.add([
                engine.frame.index as f64,
                measured,
                engine.frame.delta,
                engine.time_step.debt_seconds(),
            ]);
        }
    }
}

/// The answer to `status`.
fn status(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let engine = call.app.vm.engine();
    let name = match engine.settings.text("name") {
        "" => engine.project.folder_name(),
        name => name.to_string(),
    };
    let (width, height) = engine.window.pixels;
    let problem = call.state.problem.clone().map_or(Tree::Null, Tree::String);
    let tree = json::object([
        ("game", json::text(name)),
        ("version", Tree::Number(f64::from(VERSION))),
        ("engine", json::text(env!("CARGO_PKG_VERSION"))),
        ("build", json::text(engine.build.name())),
        ("deterministic", Tree::Bool(engine.deterministic)),
        ("frame", Tree::Number(engine.frame.index as f64)),
        ("seconds", Tree::Number(engine.frame.total)),
        ("paused", Tree::Bool(call.state.paused)),
        ("problem", problem),
        ("draws", Tree::Bool(engine.picture.is_shown)),
        ("size", json::numbers([f64::from(width), f64::from(height)])),
        ("scale", Tree::Number(engine.window.scale)),
        ("worlds", json::count(engine.worlds.len())),
        ("units", json::count(engine.units.slots.len())),
        ("clients", json::count(call.clients)),
        ("refused", Tree::Number(call.state.server.refused() as f64)),
        ("dropped", Tree::Number(call.dropped as f64)),
    ]);
    Ok(Some(tree))
}

fn pause(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    if !call.state.paused || call.state.steps > 0 {
        // What is seen while the game stands.
        call.state.pictures.hold_next(call.app.vm.engine());
    }
    call.state.paused = true;
    call.state.steps = 0;
    call.state.waiting.push(call.asker.clone());
    Ok(None)
}

fn resume(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    call.state.paused = false;
    Ok(Some(json::object([("paused", Tree::Bool(false))])))
}

fn step(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    if !call.state.paused {
        return Err(Refusal::of("the game is not paused: send 'pause' first"));
    }
    if call.state.problem.is_some() {
        return Err(Refusal::of("an error has stopped the game: save a file to try again"));
    }
    call.state.steps += messages::whole(call.fields, "frames").unwrap_or(1);
    call.state.waiting.push(call.asker.clone());
    Ok(None)
}

fn quit(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    call.app.vm.engine().quit.get_or_insert(super::exit::SUCCESS);
    // It would not notice that it has to end.
    call.state.paused = false;
    Ok(Some(json::object([])))
}
