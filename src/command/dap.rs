//! `engine dap`: a debugger for editors that speak the Debug Adapter Protocol
//! (microsoft.github.io/debug-adapter-protocol), on standard input and output. It starts a game or
//! finds a running one, and translates between the protocol and the messages of the tool
//! connection (docs/tools.md). It knows no Lua.

#[path = "dap/flow.rs"]
mod flow;
#[path = "dap/framing.rs"]
mod framing;
#[path = "dap/game.rs"]
mod game;
#[path = "dap/launch_arguments.rs"]
mod launch_arguments;
#[path = "dap/paths.rs"]
mod paths;
#[path = "dap/point_ids.rs"]
mod point_ids;
#[path = "dap/positions.rs"]
mod positions;
#[path = "dap/requests.rs"]
mod requests;
#[path = "dap/responses.rs"]
mod responses;
#[path = "dap/restart.rs"]
mod restart;
#[path = "dap/values.rs"]
mod values;
#[path = "dap/workers.rs"]
mod workers;

use engine_app::exit;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{json, panic};
use engine_remote::client::ClientMessage;
use framing::{InputMessage, read_messages};
use game::DebuggedGame;
use paths::GamePaths;
use point_ids::{PointIds, PointList};
use positions::Positions;
use responses::{Context, Pending};
use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use values::JumpTarget;

/// Debug a game from an editor, with the Debug Adapter Protocol on standard input and output
#[derive(clap::Args)]
pub struct Args {}

/// Longest wait for another line of a game that has ended.
const LAST_LINES_WAIT: Duration = Duration::from_millis(50);

/// A message that a thread of the adapter has read.
enum Arrival {
    Editor(InputMessage),
    /// A line that the game has printed: the category, and the text.
    Printed(&'static str, String),
    /// The game has sent a message, or has ended the connection.
    Game,
}

/// The number of an earlier text that is not kept any more.
const LOST_VERSION: f64 = 0.0;

/// A text that is in no file.
#[derive(Clone, PartialEq)]
struct UnsavedSource {
    script: String,
    /// The number of an earlier text of the script, if it is one.
    version: Option<f64>,
}

/// The fields of a message to the game.
type Fields = Vec<(&'static str, SjsonTree)>;

/// The session with an editor.
struct Adapter {
    arrivals: Receiver<Arrival>,
    sender: Sender<Arrival>,
    last_number: u64,
    game: Option<DebuggedGame>,
    paths: Option<GamePaths>,
    /// How the editor counts lines and columns.
    positions: Positions,
    /// Requests of the editor that the game has not answered, by the id of the tool's message.
    pending: BTreeMap<u64, Pending>,
    /// Breakpoints that a restarted game gets once more, by the same. No request waits for them.
    restored_lists: BTreeMap<u64, PointList>,
    /// The breakpoints of each script, for a game that is restarted.
    breakpoints: BTreeMap<String, Fields>,
    /// The breakpoints of each file with a graph.
    flow_breakpoints: BTreeMap<String, Fields>,
    /// The nodes of graphs that were chosen from a list, before those breakpoints were set.
    flow_nodes: Option<Fields>,
    /// The numbers of all breakpoints.
    points: PointIds,
    /// The nodes before which a graph is stopped, the innermost first; none if no graph is.
    flow_frames: Vec<SjsonTree>,
    /// The breakpoints of functions, and the errors that stop, for the same.
    functions: Fields,
    errors: Fields,
    /// True while a script is stopped.
    is_stopped: bool,
    /// The number of the worker whose script is stopped; 0 if it is one of the game.
    stopped_worker: f64,
    /// The reason of the next stop that no breakpoint causes: "entry", "pause" or "step".
    stop_reason: &'static str,
    /// Scripts without a file, and earlier texts of scripts, by the number by which the editor asks
    /// for them, less 1.
    sources: Vec<UnsavedSource>,
    /// Lines to which the stopped script can jump, by the number by which the editor chooses them,
    /// less 1.
    jump_targets: Vec<JumpTarget>,
    /// Scripts that the editor knows to be loaded: the game and each worker load their own.
    loaded: HashSet<String>,
    /// The function of the stack in which the editor last asked for variables.
    last_frame: f64,
    /// True if the editor has ended the session, or reads no more.
    is_done: bool,
}

pub fn main(_: Args) -> i32 {
    let (sender, arrivals) = channel();
    let editor = sender.clone();
    let read = move || {
        read_messages(&mut std::io::stdin().lock(), &mut |message| {
            editor.send(Arrival::Editor(message)).is_ok()
        });
    };
    if let Err(reason) = panic::spawn("dap-input", read) {
        engine_foundation::error_line!(
            "error: no thread is left to read from the editor: {reason}"
        );
        return exit::FAILED;
    }
    let mut adapter = Adapter::new(arrivals, sender);
    adapter.run();
    exit::SUCCESS
}

impl Adapter {
    /// Begins a session, in which no game is debugged yet.
    fn new(arrivals: Receiver<Arrival>, sender: Sender<Arrival>) -> Adapter {
        Adapter {
            arrivals,
            sender,
            last_number: 0,
            game: None,
            paths: None,
            positions: Positions::default(),
            pending: BTreeMap::new(),
            restored_lists: BTreeMap::new(),
            breakpoints: BTreeMap::new(),
            flow_breakpoints: BTreeMap::new(),
            flow_nodes: None,
            points: PointIds::default(),
            flow_frames: Vec::new(),
            functions: Vec::new(),
            errors: vec![("on", SjsonTree::Bool(false))],
            is_stopped: false,
            stopped_worker: 0.0,
            stop_reason: "step",
            sources: Vec::new(),
            jump_targets: Vec::new(),
            loaded: HashSet::new(),
            last_frame: 0.0,
            is_done: false,
        }
    }

    fn run(&mut self) {
        while !self.is_done {
            // The adapter has a sender itself.
            let Ok(arrival) = self.arrivals.recv() else { break };
            self.arrived(arrival);
        }
        if let Some(game) = self.game.take() {
            game.end();
        }
    }

    fn arrived(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Editor(InputMessage::Message(tree)) => self.handle_request(&tree),
            Arrival::Editor(InputMessage::Problem(problem)) => {
                self.output("stderr", &format!("engine dap: {problem}\n"));
            }
            Arrival::Editor(InputMessage::End) => self.is_done = true,
            Arrival::Printed(category, line) => self.output(category, &(line + "\n")),
            Arrival::Game => self.poll_game(),
        }
    }

    /// Handles the messages of the game, and its end.
    fn poll_game(&mut self) {
        while let Some(game) = &mut self.game {
            match game.client.receive_now() {
                ClientMessage::Message(tree) => self.handle_game_message(&tree),
                ClientMessage::Bytes(_) => {}
                ClientMessage::Nothing => return game.wait_for_messages(),
                ClientMessage::Ended(reason) => return self.game_ended(&reason),
            }
        }
    }

    /// Reports the end of the game, after the last lines that it has printed.
    fn game_ended(&mut self, reason: &str) {
        let Some(game) = self.game.take() else { return };
        let is_own = game.is_own();
        let code = game.wait();
        if code.is_none() && is_own {
            self.output(
                "stderr",
                &format!("engine dap: the connection to the game has ended: {reason}\n"),
            );
        }
        while let Ok(arrival) = self.arrivals.recv_timeout(LAST_LINES_WAIT) {
            self.arrived(arrival);
        }
        self.restored_lists.clear();
        for (_, pending) in std::mem::take(&mut self.pending) {
            self.refuse(&pending, "the game has ended");
        }
        if let Some(code) = code {
            let code = SjsonTree::Number(f64::from(code));
            self.event("exited", json::object([("exitCode", code)]));
        }
        self.event("terminated", json::object([]));
    }

    /// Sends a message to the editor.
    fn send(&mut self, kind: &str, entries: Vec<(&str, SjsonTree)>) {
        self.last_number += 1;
        let mut all = vec![
            ("seq".to_string(), SjsonTree::Number(self.last_number as f64)),
            ("type".to_string(), json::text(kind)),
        ];
        all.extend(entries.into_iter().map(|(key, value)| (key.to_string(), value)));
        // The session ends if the editor has closed its end, and with it the stop of a game.
        self.is_done |= framing::send(&json::write(&SjsonTree::Object(all))).is_err();
    }

    fn event(&mut self, name: &str, mut body: SjsonTree) {
        self.positions.write_message(&mut body);
        self.send("event", vec![("event", json::text(name)), ("body", body)]);
    }

    /// Shows a text in the editor's console.
    fn output(&mut self, category: &str, text: &str) {
        let body = [("category", json::text(category)), ("output", json::text(text))];
        self.event("output", json::object(body));
    }

    fn respond(&mut self, pending: &Pending, mut body: SjsonTree) {
        self.positions.write_message(&mut body);
        self.send(
            "response",
            vec![
                ("request_seq", pending.number.clone()),
                ("success", SjsonTree::Bool(true)),
                ("command", json::text(&pending.command)),
                ("body", body),
            ],
        );
    }

    fn refuse(&mut self, pending: &Pending, message: &str) {
        let error = json::object([
            ("id", SjsonTree::Number(1.0)),
            // Braces would be taken for names of variables.
            ("format", json::text(message.replace('{', "(").replace('}', ")"))),
            ("showUser", SjsonTree::Bool(true)),
        ]);
        self.send(
            "response",
            vec![
                ("request_seq", pending.number.clone()),
                ("success", SjsonTree::Bool(false)),
                ("command", json::text(&pending.command)),
                ("message", json::text(message)),
                ("body", json::object([("error", error)])),
            ],
        );
    }

    /// Sends a message to the game. Its answer is translated by the context.
    fn ask_game(
        &mut self,
        pending: Pending,
        message: &'static str,
        fields: Fields,
        context: Context,
    ) {
        let Some(game) = &mut self.game else {
            return self.refuse(&pending, "no game is debugged: send launch or attach first");
        };
        match game.client.send(message, fields) {
            Ok(id) => _ = self.pending.insert(id, Pending { context, ..pending }),
            Err(error) => self.refuse(&pending, &error.message),
        }
    }
}
