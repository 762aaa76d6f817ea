//! Tests of workers from outside: real time and recordings, the messages of failures, and processes
//! that end while workers run. The API is tested in tests/lua/worker_test.lua.

use crate::game_folder::{GameFolder, check_end_time, combined_output, save};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with a game.
struct Scratch(GameFolder);

/// Module with a worker function for every test.
const JOBS: &str = r#"-- Jobs.
local jobs = {}

function jobs.count(data)
  local sum = 0
  for i = 1, data.n do
    sum = sum + i % 7
    if i % 1000 == 0 then
      Worker.set_progress(i / data.n)
    end
  end
  return sum
end

function jobs.echo()
  local parent = Worker.parent()
  while true do
    Worker.send(parent, { "heard", Worker.wait(parent) })
  end
end

function jobs.fail()
  error("no ground")
end

function jobs.forever()
  while true do end
end

return function(data)
  return jobs[data.job](data)
end
"#;

impl Scratch {
    fn new(name: &str, main: &str) -> Scratch {
        let folder = GameFolder::new("workers", name);
        folder.write("main.lua", main);
        folder.write("scripts/jobs.lua", JOBS);
        Scratch(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.0.command(&[&["run", ".", "--headless"], arguments].concat())
    }

    /// Runs the game. Returns the exit code and all output.
    fn play(&self, arguments: &[&str]) -> (Option<i32>, String) {
        combined_output(&mut self.command(arguments))
    }
}

/// Checks that the complete Lua blocks on the manual's page run: a worker's module, and a game.
#[test]
fn manual_example_runs() {
    let page = include_str!("../docs/tasks.md");
    let mut blocks = page.split("```lua\n").skip(1).filter_map(|rest| rest.split("```").next());
    let (worker, main) = (blocks.next().unwrap(), blocks.next().unwrap());
    let game = Scratch::new("manual", main);
    fs::write(game.0.join("scripts/generate_level.lua"), worker).unwrap();
    let (code, text) = game.play(&["--realtime"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("a level of 200, from Vector3(0, 0, "), "{text}");
}

/// Script with several workers that exchange messages in every frame. All results are hashed.
const BUSY: &str = r#"
local counter, echo
local started, sent, heard = 0, 0, 0
local function begin()
  started = started + 1
  counter = Worker.start("scripts/jobs", { job = "count", n = 20000 * (started % 5) + 1000 })
end
function init()
  begin()
  echo = Worker.start("scripts/jobs", { job = "echo" })
end
function update()
  sent = sent + 1
  Worker.send(echo, sent)
  local message = Worker.receive(echo)
  while message do
    heard = message[2]
    Application.hash(message)
    message = Worker.receive(echo)
  end
  Application.hash(Worker.progress(counter), Worker.status(counter))
  if Worker.status(counter) ~= "running" then
    Application.hash(Worker.result(counter))
    begin()
  end
end
function shutdown()
  print("started", started, "heard", heard)
end
"#;

#[test]
fn run_with_workers_replays_identically() {
    let game = Scratch::new("replay", BUSY);
    let record = ["--frames", "60", "--realtime", "--record", "a.recording"];
    let (code, text) = game.play(&record);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("started\t61\theard\t58\n"), "{text}");
    for _ in 0..3 {
        let (code, replayed) = game.play(&["--replay", "a.recording"]);
        assert_eq!(code, Some(0), "{replayed}");
        assert!(replayed.contains("started\t61\theard\t58\n"), "{replayed}");
    }
}

#[test]
fn frames_continue_while_a_worker_runs() {
    let main = r#"
local worker = Worker.start("scripts/jobs", { job = "count", n = 3e8 })
local echo = Worker.start("scripts/jobs", { job = "echo" })
local running, seen = 0, 0
function init()
  Worker.send(echo, "hello")
  assert(Worker.wait(echo)[2] == "hello")
  assert(Worker.wait(echo) == nil, "it waits, too")
end
function update()
  if Worker.status(worker) == "running" then
    running = running + 1
    -- All of it can be sent, too, before the worker's end is.
    local progress = Worker.progress(worker)
    seen = progress < 1 and math.max(seen, progress) or seen
    return
  end
  print("frames", running > 2, "progress", seen > 0 and seen < 1, Worker.result(worker))
  Application.quit()
end"#;
    let (code, text) = Scratch::new("clock", main).play(&["--realtime"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("frames\ttrue\tprogress\ttrue\t900000003\n"), "{text}");
}

#[test]
fn running_worker_keeps_old_code_and_next_one_gets_new() {
    let main = r#"
local old = Worker.start("scripts/version")
assert(Worker.wait(old) == "ready")
function on_reload(changed)
  local new = Worker.start("scripts/version")
  assert(Worker.wait(new) == "ready")
  Worker.send(old, "go")
  Worker.send(new, "go")
  assert(Worker.wait(old) == nil and Worker.wait(new) == nil)
  local first, second = Worker.result(old), Worker.result(new)
  print("changed", changed[1], first, second)
  Application.quit()
end
function update()
  if Application.frame_index() == 10 then
    print("ready")
  end
end"#;
    let version = |n: u32| {
        format!(
            "local VERSION = {n}\nreturn function()\n  local parent = Worker.parent()\n  \
             Worker.send(parent, \"ready\")\n  Worker.wait(parent)\n  return VERSION\nend\n"
        )
    };
    let game = Scratch::new("reload", main);
    let file = game.0.join("scripts/version.lua");
    save(&file, version(1));
    let mut child = game.command(&["--realtime"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    save(&file, version(2));
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "changed\tscripts/version.lua\t1\t2\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn unqueried_worker_failure_is_reported_once() {
    let main = r#"
local asked = Worker.start("scripts/jobs", { job = "fail" })
local unasked = Worker.start("scripts/jobs", { job = "fail" })
function update()
  if asked and Worker.status(asked) == "failed" then
    asked = Worker.result(asked)
  end
end"#;
    let (code, text) = Scratch::new("unasked", main).play(&["--frames", "200"]);
    assert_eq!(code, Some(0), "{text}");
    let message = "worker 'scripts.jobs' failed, and nobody asked for its result: When running \
                 worker: scripts.jobs\nError: no ground\n    In scripts/jobs.lua:";
    assert_eq!(text.matches(message).count(), 1, "{text}");
}

#[test]
fn game_exit_does_not_wait_for_workers() {
    let main = r#"
for _ = 1, 4 do
  Worker.start("scripts/jobs", { job = "forever" }, { seconds = 1000, frames = 3600 })
end
function update()
  Application.quit()
end"#;
    let game = Scratch::new("end", main);
    for pace in [&["--realtime"][..], &[]] {
        check_end_time(&format!("end {pace:?}"), || {
            let began = Instant::now();
            let (code, text) = game.play(pace);
            assert_eq!(code, Some(0), "{text}");
            began.elapsed()
        });
    }
}

#[cfg(unix)]
#[test]
fn process_waiting_for_a_worker_can_be_ended() {
    let main = r#"
local worker = Worker.start("scripts/jobs", { job = "forever" }, { seconds = 1000 })
function init()
  print("ready")
  WAIT(worker)
end
function update() end
function shutdown()
  print("farewell")
end"#;
    for (name, wait) in [("wait", "Worker.wait"), ("turn", "type")] {
        let game = Scratch::new(name, &main.replace("WAIT", wait));
        check_end_time(name, || {
            let mut child = game.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            std::thread::sleep(Duration::from_millis(300));
            let kill = Command::new("kill").arg(child.id().to_string()).status().unwrap();
            assert!(kill.success());
            let began = Instant::now();
            let status = child.wait().unwrap();
            let took = began.elapsed();
            line.clear();
            out.read_line(&mut line).unwrap();
            assert_eq!((status.code(), line.as_str()), (Some(0), "farewell\n"), "{name}");
            took
        });
    }
}
