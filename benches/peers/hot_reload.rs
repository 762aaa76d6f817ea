//! Comparison of hot reload: the time from saving a module during the game until the new code has
//! run.

use super::environment::{Drawing, Environment};
use super::frames::compared_row;
use crate::table::{Group, digits, median};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const MODULES: usize = 500;
const SAVES: usize = 9;

/// Returns a module of 48 lines.
fn module(version: usize) -> String {
    let functions: String =
        (0..43).map(|i| format!("function M.f{i}(a) return a + {i} end\n")).collect();
    format!(
        "local M = {{}}\nlocal version = {version}\n{functions}\
             function M.tell()\n  return version\nend\nreturn M\n"
    )
}

/// Reads up to the line that reports a version. Returns the last time reported before it for
/// checking all files.
fn await_version(lines: &mut Lines<BufReader<ChildStdout>>, version: usize) -> f64 {
    let (expected, mut look) = (format!("ran {version}"), 0.0);
    for line in lines.map_while(Result::ok) {
        if line.ends_with(&expected) {
            return look;
        }
        let parsed = line.strip_prefix("look ").and_then(|number| number.parse().ok());
        look = parsed.unwrap_or(look);
    }
    panic!("the game ended before it reported '{expected}'");
}

/// Returns the milliseconds from the beginning of a save until the line that the new code prints
/// arrives, and those of checking all files, if the game reports them.
fn latency(mut command: Command, folder: &Path) -> (f64, f64) {
    for i in 1..=MODULES {
        let path = folder.join(format!("mods/m{i}.lua"));
        fs::write(path, module(0)).expect("the temporary folder can be written to");
    }
    // LÖVE reports modification times in whole seconds. The files that it has seen must be older.
    std::thread::sleep(Duration::from_millis(1100));
    let spawned = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = spawned.expect("it could be started before");
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
    await_version(&mut lines, 0);
    let (mut times, mut look) = (Vec::new(), 0.0);
    for save in 1..=SAVES {
        // More than a second between saves, and at varying fractions of a second.
        std::thread::sleep(Duration::from_millis(1130 + save as u64 % 7 * 70));
        let path = folder.join(format!("mods/m{}.lua", save * 37));
        let temporary = folder.join("saved~");
        let began = Instant::now();
        fs::write(&temporary, module(save)).expect("the temporary folder can be written to");
        fs::rename(&temporary, &path).expect("it can be renamed");
        look = await_version(&mut lines, save);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    child.kill().expect("it still runs");
    child.wait().expect("it was ours");
    (median(times), look)
}

pub fn measure(environment: &Environment) -> Group {
    let game = environment.add_game("reload");
    for folder in [&game.love, &game.engine] {
        fs::create_dir_all(folder.join("mods")).expect("the temporary folder can be written to");
    }
    let mut rows = Vec::new();
    let watched = environment.engine(&game.engine, &["--no-tools"], Drawing::Real);
    let (ours, _) = latency(watched, &game.engine);
    let name = "save to new code running";
    if environment.love.is_none() {
        rows.push(compared_row(name.to_string(), ours, "ms", None));
    } else {
        for (seconds, how) in [("0.5", "looks twice a second"), ("0", "looks in each frame")] {
            let polled = environment.love(&game.love, &[seconds.to_string()], Drawing::Real);
            let (love, look) = latency(polled, &game.love);
            let mut row = compared_row(format!("{name}; LÖVE {how}"), ours, "ms", Some(love));
            row.note = format!("a look takes LÖVE {} ms", digits(look));
            rows.push(row);
        }
    }
    Group {
        name: "reload",
        title: "a module is saved while the game is played",
        workload: "benches/peers/reload: 500 modules of 48 lines. One of them is saved by \
                   renaming; from the beginning of that to the arrival of the line that the new \
                   code prints, by the clock, the median of 9. LÖVE's game asks all files for the \
                   time of their last change and loads what is newer; the engine's does nothing \
                   for it, and keeps the state.",
        rows,
    }
}
