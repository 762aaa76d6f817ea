//! Benchmarks of the debugger: what an attached debugger costs a running game, a conditional
//! breakpoint in a hot loop, a step, and the variables of large tables.
//!
//!     cargo bench -- debugger
//!     cargo bench -- debugger running       one part

use crate::reload::folder::Folder;
use crate::run::Run;
use crate::table::{Group, median, named, row};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::endpoint_file::EndpointFile;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MAIN: &str = include_str!("debugger/main.lua");
const CROWD: &str = include_str!("peers/script/crowd.lua");
/// Passes of the hot loop in a frame, as in main.lua.
const PASSES: f64 = 1e6;
/// Number of rounds, in each of which every state is measured.
const ROUNDS: usize = 15;
/// Number of frames of each measurement.
const FRAMES: usize = 90;
/// Frames that are not counted after a change, in which loops are compiled again.
const WARM_FRAMES: usize = 20;
/// Number of steps.
const STEPS: usize = 200;
/// Maximum wait for a reply.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A game in its own process, and a connection to it.
struct DebuggedGame {
    process: Child,
    client: RemoteClient,
    _folder: Folder,
}

impl DebuggedGame {
    fn start() -> DebuggedGame {
        let folder = Folder::new("bench-debugger");
        folder.write("main.lua", MAIN.as_bytes());
        folder.write("crowd.lua", CROWD.as_bytes());
        let process = Command::new(env!("CARGO_BIN_EXE_engine"))
            .arg("run")
            .arg(folder.path())
            .args(["--headless", "--realtime", "--tools"])
            .env("ENGINE_SAVE_DIR", folder.saves())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        let end = Instant::now() + WAIT_MAX;
        let endpoint = loop {
            if let Ok(endpoint) = EndpointFile::read(folder.path()) {
                break endpoint;
            }
            assert!(Instant::now() < end, "the game does not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        let client = RemoteClient::connect(&endpoint).expect("the game accepts tools");
        let mut game = DebuggedGame { process, client, _folder: folder };
        // The counter exists after the first frame.
        while game.follow_frames().is_err() {
            assert!(Instant::now() < end, "the game plays no frame");
        }
        game
    }

    /// Subscribes to the time of each frame.
    fn follow_frames(&mut self) -> Result<SjsonTree, SjsonTree> {
        let names = ("names", json::texts(["frame/cpu_milliseconds"]));
        let every = ("every", SjsonTree::Number(0.1));
        let fields = vec![("stream", json::text("counters")), names, every];
        self.client.request("subscribe", fields, WAIT_MAX, |_| ())
    }

    /// Sends a message and returns its answer.
    fn ask(&mut self, kind: &str, fields: Vec<(&str, SjsonTree)>) -> SjsonTree {
        let answer = self.client.request(kind, fields, WAIT_MAX, |_| ());
        answer.unwrap_or_else(|error| panic!("{kind}: {}", json::write(&error)))
    }

    /// Selects the workload of the frames.
    fn set_mode(&mut self, mode: &str) {
        self.ask("eval", vec![("text", json::text(format!("mode = '{mode}'")))]);
    }

    /// Sets the breakpoint of a line, with a condition, or removes it if there is no line.
    fn set_breakpoint(&mut self, line: Option<&str>, condition: &str) {
        let line = line.map(|text| MAIN.lines().position(|it| it.ends_with(text)));
        let lines = line.map(|at| at.expect("main.lua has the line") as f64 + 1.0);
        let conditions = lines.map(|_| json::text(condition));
        let lines = SjsonTree::Array(lines.into_iter().map(SjsonTree::Number).collect());
        let conditions = SjsonTree::Array(conditions.into_iter().collect());
        let file = ("file", json::text("main.lua"));
        self.ask("debug_breakpoints", vec![file, ("lines", lines), ("conditions", conditions)]);
    }

    /// Returns the median CPU time of the game's thread in a frame, in milliseconds.
    fn frame(&mut self) -> f64 {
        let mut times = Vec::new();
        // The first message can have frames from before the last change.
        let mut is_first = true;
        while times.len() < WARM_FRAMES + FRAMES {
            let ClientMessage::Message(message) = self.client.receive(WAIT_MAX) else {
                panic!("the game has ended");
            };
            let Some(SjsonTree::Array(columns)) = message.get("values") else { continue };
            let Some(SjsonTree::Array(values)) = columns.first() else { continue };
            if std::mem::take(&mut is_first) {
                continue;
            }
            for value in values {
                if let SjsonTree::Number(value) = value {
                    times.push(*value);
                }
            }
        }
        median(times.split_off(WARM_FRAMES))
    }

    /// Waits until the script is stopped.
    fn wait_for_stop(&mut self) {
        loop {
            match self.client.receive(WAIT_MAX) {
                ClientMessage::Message(message)
                    if message.get("type") == Some(&json::text("debug_stopped")) =>
                {
                    return;
                }
                ClientMessage::Message(_) | ClientMessage::Bytes(_) => {}
                ClientMessage::Nothing => panic!("the script does not stop"),
                ClientMessage::Ended(reason) => panic!("the game has ended: {reason}"),
            }
        }
    }

    /// Returns the median time of a step, from the request to the event, in milliseconds.
    fn step(&mut self) -> f64 {
        let mut times = Vec::new();
        for _ in 0..STEPS {
            let began = Instant::now();
            let mut is_stopped = false;
            let note = |message: SjsonTree| {
                is_stopped |= message.get("type") == Some(&json::text("debug_stopped"));
            };
            let fields = vec![("mode", json::text("over"))];
            let answer = self.client.request("debug_step", fields, WAIT_MAX, note);
            answer.unwrap_or_else(|error| panic!("{}", json::write(&error)));
            if !is_stopped {
                self.wait_for_stop();
            }
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        median(times)
    }

    /// Returns the time of the first 100 variables of the table that is the local variable
    /// `numbers` of the stopped function, in milliseconds.
    fn first_variables(&mut self) -> f64 {
        let expression = vec![("text", json::text("numbers")), ("frame", SjsonTree::Number(0.0))];
        let answer = self.ask("debug_evaluate", expression);
        let reference = answer.get("reference").cloned().expect("the table has a reference");
        let began = Instant::now();
        let count = ("max", SjsonTree::Number(100.0));
        let first = ("first", SjsonTree::Number(0.0));
        let answer = self.ask("debug_variables", vec![("reference", reference), first, count]);
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        let Some(SjsonTree::Array(variables)) = answer.get("variables") else {
            panic!("no variables: {}", json::write(&answer));
        };
        assert!(variables.len() == 100, "{} variables", variables.len());
        milliseconds
    }
}

impl Drop for DebuggedGame {
    fn drop(&mut self) {
        // No data of the process is needed any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures what the debugger costs a game that does not stop. The states take turns, so that a
/// slow moment of the machine affects all of them.
fn running() -> Group {
    let mut game = DebuggedGame::start();
    let (mut plain, mut ratios) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    let mut before = game.frame();
    for _ in 0..ROUNDS {
        game.ask("debug_attach", vec![]);
        let attached = game.frame();
        game.set_breakpoint(Some("-- a line that never runs"), "");
        let set = game.frame();
        game.set_breakpoint(None, "");
        let removed = game.frame();
        game.ask("debug_detach", vec![]);
        let after = game.frame();
        let mean = f64::midpoint(before, after);
        for (list, state) in ratios.iter_mut().zip([attached, set, removed]) {
            list.push(state / mean);
        }
        plain.push(mean);
        before = after;
    }
    let [attached, set, removed] = ratios.map(median);
    Group {
        name: "running",
        title: "a running game with an attached debugger",
        workload: "The crowd of the comparison with LÖVE: 10,000 tables that search their \
                   neighbours, 60 frames a second. Ratios of the CPU time of the game's thread in \
                   a frame (median of 90) to that without a debugger before and after; medians of \
                   15 rounds.",
        rows: vec![
            row("a frame without a debugger", median(plain), "ms", None),
            row("attached, no breakpoint", attached, "x", Some(1.01)),
            row("a breakpoint in a function that is not called", set, "x", Some(1.01)),
            row("after all breakpoints are removed", removed, "x", Some(1.01)),
        ],
    }
}

/// Measures a breakpoint whose condition never holds.
fn condition() -> Group {
    let mut game = DebuggedGame::start();
    game.set_mode("loop");
    game.ask("debug_attach", vec![]);
    let (mut plain, mut with) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        game.set_breakpoint(None, "");
        plain.push(game.frame());
        game.set_breakpoint(Some("-- the hot line"), "sum == -1");
        with.push(game.frame());
    }
    let (plain, with) = (median(plain), median(with));
    let pass = (with - plain) * 1e6 / PASSES;
    Group {
        name: "condition",
        title: "a conditional breakpoint that never stops",
        workload: "A loop of 1,000,000 passes in a frame, with a condition on its local variable. \
                   CPU time of the game's thread in a frame, medians of 3 rounds.",
        rows: vec![
            row("the loop without a breakpoint, a pass", plain * 1e6 / PASSES, "ns", None),
            row("the breakpoint, a pass", pass, "ns", Some(50.0)),
        ],
    }
}

/// Measures a stopped game.
fn stopped() -> Group {
    let mut game = DebuggedGame::start();
    game.ask("debug_attach", vec![]);
    game.set_breakpoint(Some("-- the stopping line"), "");
    game.set_mode("stop");
    let mut rows = Vec::new();
    for name in ["a list", "a hash table"] {
        game.wait_for_stop();
        let times = (0..ROUNDS).map(|_| game.first_variables()).collect();
        let name = format!("100 variables of {name} of 1,000,000 keys");
        rows.push(named(name, median(times), "ms", Some(10.0)));
        if rows.len() == 1 {
            game.ask("debug_continue", vec![]);
        }
    }
    rows.insert(0, row("a step, to its event", game.step(), "ms", Some(5.0)));
    Group {
        name: "stopped",
        title: "a stopped game",
        workload: "Steps over the lines of a loop, and tables in a local variable: times on the \
                   client, over the local connection, medians of 200 steps and of 15 queries.",
        rows,
    }
}

pub fn run(run: &mut Run) {
    run.part("running", running);
    run.part("condition", condition);
    run.part("stopped", stopped);
}
