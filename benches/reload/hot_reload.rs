//! Benchmark of hot reload: the time from saving a file until the new code runs, and the cost of
//! watching the folder.

use super::{Folder, Random};
use crate::child_process::{self, Argument};
use crate::table::{Group, median, named, row};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const FILES: usize = 500;
const OBJECTS: usize = 50_000;
const EDITS: usize = 1_000;
/// Frames of the runs that are compared for the cost of watching.
const FRAMES: usize = 600;
/// An edit that was not noticed within this time counts as lost.
const LOST: Duration = Duration::from_secs(10);

/// Returns one of the game's scripts: state, functions that share it, a class, objects.
fn script(version: usize) -> String {
    format!(
        "local M = {{}}
local count, names = 0, {{}}
local Thing = {{}}
Thing.__index = Thing
local function tell()
  return {version}
end
function Thing:tell()
  return self.n + {version}
end
function M.new(n)
  return setmetatable({{ n = n }}, Thing)
end
function M.use(name)
  count = count + 1
  names[name] = true
  return count, names
end
function M.version()
  return tell()
end
M.constant = {version}
return M
"
    )
}

/// Returns the main script, which uses all files in every frame and prints the newest version.
fn main_script() -> String {
    format!(
        "local modules, instances, seen, objects, frames = {{}}, {{}}, 0, {{}}, 0
function init()
  for i = 1, {FILES} do
    modules[i] = require('f' .. i)
    instances[i] = modules[i].new(i)
  end
  for i = 1, {OBJECTS} / 2 do
    objects[i] = {{ x = i, name = 'object', next = {{ i, i }} }}
  end
  print('ready')
end
function update()
  frames = frames + 1
  local newest = seen
  for i = 1, {FILES} do
    local m = modules[i]
    local count, names = m.use('n' .. i % 5)
    assert(count == frames and names['n' .. i % 5])
    assert(instances[i]:tell() == i + m.version() and m.constant == m.version())
    newest = math.max(newest, m.version())
  end
  if newest > seen then
    seen = newest
    print('seen ' .. seen)
  end
end
"
    )
}

fn game(folder: &Folder) {
    for i in 1..=FILES {
        folder.write(&format!("f{i}.lua"), script(0).as_bytes());
    }
    folder.write("main.lua", main_script().as_bytes());
}

/// Sends each version number that the game prints, with the time of its arrival.
fn listen(out: ChildStdout, arrived: &Sender<(usize, Instant)>) {
    for line in BufReader::new(out).lines().map_while(Result::ok) {
        let version = match line.split_once("seen ") {
            Some((_, version)) => version.trim().parse().unwrap_or(0),
            None if line.contains("ready") => 0,
            None => continue,
        };
        if arrived.send((version, Instant::now())).is_err() {
            return;
        }
    }
}

/// Waits until the game prints a version, and returns the time.
fn await_version(arrivals: &Receiver<(usize, Instant)>, version: usize) -> Instant {
    loop {
        let (reported, at) = arrivals.recv_timeout(LOST).expect("the new code never ran");
        if reported == version {
            return at;
        }
    }
}

/// Saves a file as editors do: in place, or to a temporary file that then replaces it.
fn save(path: &Path, text: &str, overwrite: bool) {
    let temporary = path.with_extension("lua~");
    match overwrite {
        true => fs::write(path, text).expect("the file can be written"),
        false => {
            fs::write(&temporary, text).expect("the file can be written");
            fs::rename(&temporary, path).expect("the file can be renamed");
        }
    }
}

/// Returns the milliseconds from the beginning of each save until the new code's message arrives.
fn latencies(folder: &Folder) -> Vec<f64> {
    let path = folder.path();
    let arguments: [Argument; 4] = [&"run", &path, &"--headless", &"--realtime"];
    let mut command = child_process::command(&arguments, folder.saves());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the engine starts");
    let (sender, arrivals) = channel();
    let out = child.stdout.take().expect("it was piped");
    let listener = std::thread::spawn(move || listen(out, &sender));
    await_version(&arrivals, 0);
    let mut random = Random(1);
    let mut times = Vec::new();
    for edit in 1..=EDITS {
        // Between one and four frames, so that saves occur at every point of a frame.
        std::thread::sleep(Duration::from_micros(20_000 + random.below(45_000)));
        let file = 1 + random.below(FILES as u64);
        let path = folder.path().join(format!("f{file}.lua"));
        let began = Instant::now();
        save(&path, &script(edit), edit % 2 == 0);
        let reported = await_version(&arrivals, edit);
        times.push(reported.duration_since(began).as_secs_f64() * 1e3);
    }
    child.kill().expect("it still runs");
    child.wait().expect("it was ours");
    listener.join().expect("it only reads");
    times
}

/// Returns the milliseconds of CPU time per frame, of all threads of the process, without its
/// start.
fn frame_cost(folder: &Folder, watched: bool) -> f64 {
    let cpu = |frames: usize| {
        let (frames, path) = (frames.to_string(), folder.path());
        let mut arguments: Vec<Argument> = vec![&"run", &path, &"--headless"];
        arguments.extend([&"--realtime" as Argument, &"--frames", &frames]);
        if !watched {
            arguments.push(&"--no-watch");
        }
        child_process::run(&arguments, folder.saves()).cpu
    };
    (cpu(FRAMES) - cpu(1)) / FRAMES as f64
}

pub fn measure() -> Group {
    let folder = Folder::new("saves");
    game(&folder);
    let mut times = latencies(&folder);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let frame = 1e3 / 60.0;
    let (watched, unwatched) = (frame_cost(&folder, true), frame_cost(&folder, false));
    Group {
        name: "saves",
        title: "A file is saved while the game is played",
        workload: "500 scripts of 20 lines, 50,000 live objects, `engine run --headless \
                   --realtime` at 60 frames a second as a separate process. 1,000 times, at any \
                   point of a frame, one of the files is saved with another version in it, half of \
                   the times in place and half by renaming; from the beginning of the save to the \
                   arrival of the line that the new code prints. The cost of watching: CPU time of \
                   the process for a frame, without any save, from 600 frames less the start.",
        rows: vec![
            row(
                "save to new code running, median",
                median(times.clone()),
                "ms",
                Some(frame + 10.0),
            ),
            row("save to new code running, 99th percentile", at(0.99), "ms", Some(60.0)),
            named(format!("  the worst of {EDITS}"), at(1.0), "ms", None),
            row("  a frame with the folder watched", watched, "ms", None),
            row("  a frame with --no-watch", unwatched, "ms", None),
        ],
    }
}
