//! Remote tools that inspect a running game: the connected clients and the handling of their
//! messages. The connection is in src/system/remote, the table of messages in
//! remote/message_table.rs, the handlers in the other files here. All messages are handled at one
//! point of the frame, within a time limit.

mod animation;
mod content_messages;
mod content_worker;
mod data;
mod data_messages;
mod debug_messages;
mod debugger;
mod debugger_flow;
mod drawings;
mod eval;
mod flow;
mod flow_messages;
mod foreign_window;
mod game_messages;
mod inspect;
mod log_stream;
mod message_table;
mod navigation;
mod pause_link;
mod picture_encoding;
mod profiler;
mod references;
mod resources;
mod saved_text;
mod screenshots;
mod simulated_devices;
mod stats;
mod status;
mod stopped_game;
mod subscriptions;
mod units;
mod versions;
mod worker_debugger;

use super::App;
use content_worker::ContentWorker;
use data::OpenSources;
use debugger::DebuggingTool;
use drawings::Drawings;
use engine_foundation::counter;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{DEVELOPMENT, Error, error, json};
use engine_input::InputEvent;
use engine_remote::{Bytes, ClientEvent, ClientEventKind, RemoteConnection, RemoteServer};
use engine_runtime::Engine;
use foreign_window::ForeignWindowRequest;
use log_stream::LogStamps;
pub use pause_link::FrameReplay;
use pause_link::PauseLink;
use profiler::ProfileStream;
use screenshots::ScreenshotQueue;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use stopped_game::StoppedGame;
use subscriptions::{StepSamples, Subscriptions};

/// Maximum time per frame for handling messages. Remaining messages wait for the next frame.
const ANSWER_SECONDS: f64 = 0.002;
/// Maximum size of a reply, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Maximum time per frame for sending streams to clients.
const STREAM_SECONDS: f64 = 0.002;
/// Interval at which a client is informed about dropped messages.
const DROPPED_SECONDS: f64 = 1.0;

/// A connected client.
struct ConnectedClient {
    peer: Arc<RemoteConnection>,
    streams: Subscriptions,
    /// Number of dropped messages that the client was informed about.
    reported_dropped: u64,
    reported_at: Instant,
}

impl ConnectedClient {
    /// Informs the client at intervals about messages that did not fit into its queue.
    fn report_dropped(&mut self, now: Instant) {
        let dropped = self.peer.dropped();
        if dropped == self.reported_dropped
            || now - self.reported_at < Duration::from_secs_f64(DROPPED_SECONDS)
        {
            return;
        }
        self.reported_at = now;
        let count = SjsonTree::Number(dropped as f64);
        let tree = json::object([("type", json::text("dropped")), ("count", count)]);
        if self.peer.offer(&Bytes::from(json::write(&tree))) {
            self.reported_dropped = dropped;
        }
    }
}

/// The client that waits for a reply, and the message that it sent.
#[derive(Clone)]
struct PendingReply {
    peer: Arc<RemoteConnection>,
    /// Type of the message.
    kind: &'static str,
    /// Id of the message; null if it has none.
    id: SjsonTree,
}

impl PendingReply {
    fn answer(&self, entries: SjsonTree) {
        let mut all =
            vec![("type".to_string(), json::text(self.kind)), ("id".to_string(), self.id.clone())];
        match entries {
            SjsonTree::Object(entries) => all.extend(entries),
            other => all.push(("value".to_string(), other)),
        }
        let text = json::write(&SjsonTree::Object(all));
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
        self.peer.answer(json::write(&SjsonTree::Object(all)));
    }
}

/// The reason why a message has no reply.
#[derive(Debug)]
struct Refusal {
    message: String,
    more: Vec<(String, SjsonTree)>,
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

/// State of a run's remote tools, without the clients.
struct RemoteState {
    /// The connection, and what a stopped script shares with the main loop.
    link: Rc<PauseLink>,
    /// The client that debugs the scripts.
    debugger: Option<DebuggingTool>,
    /// The game's folder.
    folder: PathBuf,
    samples: StepSamples,
    pictures: ScreenshotQueue,
    /// Restarts of the game since the tools were opened. Handles begin again with each.
    restarts: u32,
    /// Simulated device events for the next frame.
    events: Vec<InputEvent>,
    /// True if a person or a tool has paused the game.
    paused: bool,
    /// True while a graph is stopped before a node, which pauses the game, too.
    is_graph_stopped: bool,
    /// Number of frames still to play while the game is paused.
    steps: u64,
    /// True if a client asked to restart the game.
    restart: bool,
    /// Clients that wait for the game to be paused.
    waiting: Vec<PendingReply>,
    /// The error that has stopped the game, if any.
    problem: Option<String>,
    /// True if the displayed frame of a paused game is out of date.
    needs_redraw: bool,
    /// True if a paused game may be redrawn. False for recordings, which would not contain the
    /// frame.
    may_redraw: bool,
    window_request: Option<ForeignWindowRequest>,
    /// Sources that tools edit.
    data: OpenSources,
    /// Answers questions about the files of the folder.
    content: ContentWorker,
    /// The client that draws versions of resources, and the questions to it.
    drawings: Drawings,
    /// Number of log lines sent to clients; [`NOT_FOLLOWED`] if no client follows the log.
    lines: u64,
    log_stamps: LogStamps,
}

impl RemoteState {
    /// Returns true if the game is paused, by a person or by a breakpoint in a graph.
    fn is_paused(&self) -> bool {
        self.paused || self.is_graph_stopped
    }

    /// Lets the game go on. A graph that is still stopped pauses it in its next frame.
    fn resume(&mut self) {
        (self.paused, self.is_graph_stopped) = (false, false);
    }
}

/// Marks that no client follows the log.
const NOT_FOLLOWED: u64 = u64::MAX;

/// The remote tools of a run.
pub struct RemoteTools {
    state: RemoteState,
    clients: Vec<ConnectedClient>,
    /// Index of the client that is served first in the next frame.
    first_client: usize,
}

/// An incoming message with its sender and the objects that its handler may use.
struct IncomingCall<'a> {
    app: &'a mut App,
    state: &'a mut RemoteState,
    streams: &'a mut Subscriptions,
    clients: usize,
    dropped: u64,
    reply: &'a PendingReply,
    fields: &'a SjsonTree,
}

impl RemoteTools {
    /// Opens the connection for a game's folder. `state_folder` keeps its address for later runs.
    /// `may_redraw` is true if a paused game may be redrawn.
    ///
    /// # Errors
    /// Returns an error if no port is free, or if the folder is not writable.
    pub fn open(
        folder: PathBuf,
        state_folder: Option<&Path>,
        may_redraw: bool,
    ) -> Result<RemoteTools, Error> {
        let state = RemoteState {
            link: PauseLink::new(RemoteServer::open(folder.clone(), state_folder)?, folder.clone()),
            debugger: None,
            folder,
            samples: StepSamples::default(),
            pictures: ScreenshotQueue::default(),
            restarts: 0,
            events: Vec::new(),
            paused: false,
            is_graph_stopped: false,
            steps: 0,
            restart: false,
            waiting: Vec::new(),
            problem: None,
            needs_redraw: false,
            may_redraw,
            window_request: None,
            data: OpenSources::default(),
            content: ContentWorker::default(),
            drawings: Drawings::default(),
            lines: NOT_FOLLOWED,
            log_stamps: LogStamps::default(),
        };
        Ok(RemoteTools { state, clients: Vec::new(), first_client: 0 })
    }

    /// Replies to the clients that wait for the game to be paused.
    fn answer_waiting(&mut self) {
        for reply in std::mem::take(&mut self.state.waiting) {
            reply.answer(json::object([("paused", SjsonTree::Bool(self.state.is_paused()))]));
        }
    }

    /// Handles the clients' events until none is left or the time limit is reached.
    fn handle_events(&mut self, app: &mut App) {
        let end = Instant::now() + Duration::from_secs_f64(ANSWER_SECONDS);
        while let Some(ClientEvent { peer, kind }) = self.state.link.take() {
            match kind {
                ClientEventKind::Joined => {
                    eval::prepare();
                    let (streams, reported_at) = (Subscriptions::default(), Instant::now());
                    self.clients.push(ConnectedClient {
                        streams,
                        reported_dropped: 0,
                        reported_at,
                        peer,
                    });
                }
                ClientEventKind::Left => {
                    self.clients.retain(|client| client.peer.number != peer.number);
                    self.state.data.remove_client(peer.number);
                    self.state.drawings.remove_client(peer.number);
                    self.end_debugger(app, peer.number);
                }
                ClientEventKind::Message(message, _) => self.handle(app, &peer, message),
            }
            self.state.link.clients.set(self.clients.len());
            if Instant::now() >= end {
                return;
            }
        }
    }

    fn handle(
        &mut self,
        app: &mut App,
        peer: &Arc<RemoteConnection>,
        message: Result<SjsonTree, String>,
    ) {
        let RemoteTools { state, clients, .. } = self;
        let count = clients.len();
        let Some(client) = clients.iter_mut().find(|it| it.peer.number == peer.number) else {
            return;
        };
        let fields = match message {
            Ok(tree) => tree,
            Err(message) => {
                let reply = PendingReply { peer: peer.clone(), kind: "", id: SjsonTree::Null };
                return reply.refuse(Refusal::of(message));
            }
        };
        let id = fields.get("id").cloned().unwrap_or(SjsonTree::Null);
        let mut reply = PendingReply { peer: peer.clone(), kind: "", id };
        let row = match message_table::find(&fields) {
            Ok(row) => row,
            Err(message) => return reply.refuse(Refusal::of(message)),
        };
        reply.kind = row.name;
        if let Err(message) = message_table::check(row, &fields) {
            return reply.refuse(Refusal::of(message));
        }
        let outcome = (row.run)(&mut IncomingCall {
            app,
            state,
            streams: &mut client.streams,
            clients: count,
            dropped: client.peer.dropped(),
            reply: &reply,
            fields: &fields,
        });
        match outcome {
            Ok(Some(entries)) => reply.answer(entries),
            Ok(None) => {}
            Err(refusal) => reply.refuse(refusal),
        }
    }

    /// Sends the streams to the clients until the time limit is reached. The remaining clients come
    /// first in the next frame.
    fn send_streams(&mut self, engine: &mut Engine) {
        self.send_log(engine.frame.index);
        let now = Instant::now();
        let end = now + Duration::from_secs_f64(STREAM_SECONDS);
        let (count, mut profiles) = (self.clients.len(), ProfileStream::default());
        for offset in 0..count {
            let at = (self.first_client + offset) % count;
            let client = &mut self.clients[at];
            client.streams.send(&self.state.samples, &mut profiles, &client.peer, now);
            client.report_dropped(now);
            if Instant::now() >= end {
                self.first_client = at + 1;
                break;
            }
        }
        let is_paused = self.state.is_paused();
        self.state.pictures.update(engine, &mut self.clients, is_paused, now);
    }
}

impl App {
    /// Opens the connection for remote tools, for the game of a folder, and returns the address of
    /// its page for a browser. `may_redraw` is true if a paused game may be redrawn by its
    /// `render`.
    ///
    /// # Errors
    /// Returns an error if no port is free, or if the folder is not writable.
    pub fn start_remote_tools(
        &mut self,
        folder: PathBuf,
        may_redraw: bool,
    ) -> Result<String, Error> {
        if !DEVELOPMENT {
            return Err(error!("this executable of the engine has no connection for tools"));
        }
        let state_folder = self.vm.engine().game.save_folder.clone();
        let tools = RemoteTools::open(folder, state_folder.as_deref(), may_redraw)?;
        let address = tools.state.link.server.address();
        self.share_workers(&tools);
        self.tools = Some(tools);
        Ok(address)
    }

    /// Takes the remote tools for a while. Without the parts for development there are none.
    fn take_tools(&mut self) -> Option<RemoteTools> {
        if DEVELOPMENT { self.tools.take() } else { None }
    }

    /// Takes over the remote tools of the app that this one replaces.
    pub(super) fn inherit_tools(&mut self, old: &mut App) {
        self.tools = old.take_tools();
        let tools = self.take_tools();
        tools.iter().for_each(|tools| self.share_workers(tools));
        self.tools = tools;
        if let Some(tools) = &mut self.tools {
            tools.state.pictures.restart();
            tools.state.restarts += 1;
            // The graph that has paused the game has ended with it.
            tools.state.is_graph_stopped = false;
            tools.forget_debugger();
            for client in &mut tools.clients {
                client.streams.restart();
            }
        }
    }

    /// Returns true if remote tools pause the game, and no frame is to be played now.
    pub(super) fn is_paused(&self) -> bool {
        self.tools.as_ref().is_some_and(|it| {
            it.state.is_paused() && it.state.steps == 0
                || it.state.link.workers.hub.is_worker_stopped()
        })
    }

    /// Returns true if remote tools step the game frame by frame.
    pub(super) fn is_stepping(&self) -> bool {
        self.tools.as_ref().is_some_and(|it| it.state.is_paused())
    }

    /// Resumes the game, even if remote tools have paused it, or a stopped worker does.
    pub(super) fn resume(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.state.resume();
            if tools.state.link.workers.hub.is_worker_stopped() {
                tools.state.link.workers.detach();
            }
        }
    }

    /// Returns the events simulated by remote tools since the last call.
    pub(super) fn take_tool_events(&mut self) -> Vec<InputEvent> {
        self.tools.as_mut().map_or(Vec::new(), |it| std::mem::take(&mut it.state.events))
    }

    /// Returns true once if a remote tool asked to restart the game.
    pub(super) fn take_tool_restart(&mut self) -> bool {
        self.tools.as_mut().is_some_and(|it| std::mem::take(&mut it.state.restart))
    }

    /// Plays one frame, even if remote tools pause the game.
    pub(super) fn play_one_step(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.state.steps = tools.state.steps.max(1);
        }
    }

    /// Sets the error that has stopped the game, or clears it.
    pub(super) fn report_error_state(&mut self, problem: Option<String>) {
        if let Some(tools) = &mut self.tools {
            tools.state.problem = problem;
        }
    }

    /// Handles the messages of remote tools and sends their streams. `in_frame` is true if a frame
    /// is being played, and false if the game is paused.
    pub fn answer_tools(&mut self, in_frame: bool) {
        let Some(mut tools) = self.take_tools() else { return self.run_console_commands(None) };
        engine_foundation::owner!("tools");
        if in_frame {
            let steps = tools.state.steps;
            tools.state.steps = steps.saturating_sub(1);
            if steps == 1 {
                tools.state.pictures.capture_next_frame(self.vm.engine());
            }
        } else {
            tools.answer_waiting();
        }
        tools.handle_events(self);
        tools.update_debugger(self);
        tools.update_flow_debugger(self);
        tools.state.data.send(&tools.clients);
        let is_graph_stopped = self.vm.engine().worlds.flow.get().stopped_node().is_some();
        // The events of graphs wait at a breakpoint.
        tools.state.is_graph_stopped = is_graph_stopped;
        counter!("tools/clients") += tools.clients.len();
        self.run_console_commands(Some(&mut tools));
        tools.send_game_messages(self);
        let is_paused = tools.state.is_paused();
        let RemoteState { steps, needs_redraw, may_redraw, problem, pictures, .. } =
            &mut tools.state;
        *needs_redraw &= *may_redraw && !in_frame && is_paused && *steps == 0 && problem.is_none();
        if *needs_redraw {
            // Clients that follow the screen receive the redrawn frame, too.
            pictures.capture_last_frame(self.vm.engine());
        }
        tools.send_streams(self.vm.engine());
        self.tools = Some(tools);
    }

    /// Sends the last log lines, among them the reason of the game's end, and closes the
    /// connection.
    pub(super) fn end_tools(&mut self) {
        // The debugger shares the connection.
        self.vm.set_debugger(None);
        if let Some(mut tools) = self.take_tools() {
            tools.send_game_messages(self);
            tools.send_log(self.vm.engine().frame.index);
        }
    }

    /// Requests a redraw of a paused game.
    pub(super) fn request_redraw(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.state.needs_redraw = true;
        }
    }

    /// Returns true once if the displayed frame of a paused game is out of date.
    pub(super) fn take_redraw(&mut self) -> bool {
        let tools = self.tools.as_mut();
        tools.is_some_and(|it| std::mem::take(&mut it.state.needs_redraw))
    }

    /// Stores the frame's time step for tools that plot it.
    pub(super) fn record_step(&mut self, measured: f64) {
        if let Some(tools) = &mut self.tools {
            let engine = self.vm.engine();
            tools.state.samples.add([
                engine.frame.index as f64,
                measured,
                engine.frame.delta,
                engine.frame.time_step.debt_seconds(),
            ]);
        }
    }
}

fn pause(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    if !call.state.is_paused() || call.state.steps > 0 {
        // The frame to show while the game is paused.
        call.state.pictures.capture_next_frame(call.app.vm.engine());
    }
    call.state.paused = true;
    call.state.steps = 0;
    call.state.waiting.push(call.reply.clone());
    Ok(None)
}

fn resume(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    call.state.resume();
    call.app.vm.engine().worlds.flow.get_mut().resume(false);
    Ok(Some(json::object([("paused", SjsonTree::Bool(false))])))
}

fn step(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    if !call.state.is_paused() {
        return Err(Refusal::of("the game is not paused: send 'pause' first"));
    }
    if call.state.problem.is_some() {
        return Err(Refusal::of("an error has stopped the game: save a file to try again"));
    }
    call.state.steps += message_table::integer(call.fields, "frames").unwrap_or(1);
    call.state.waiting.push(call.reply.clone());
    Ok(None)
}

fn quit(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    call.app.vm.engine().frame.quit.get_or_insert(super::exit::SUCCESS);
    // A paused game would not notice that it has to end.
    call.state.resume();
    Ok(Some(json::object([])))
}

fn restart(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    call.state.link.workers.check_restart(call.reply.kind).map_err(Refusal::of)?;
    call.state.restart = true;
    if call.state.is_paused() {
        // The game restarts after a frame. A paused game then waits for its next one.
        call.state.steps = call.state.steps.max(1);
    }
    Ok(Some(json::object([])))
}
