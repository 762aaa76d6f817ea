//! Workloads of whole processes: startup, tests, a game of many files.

use super::bare;
use super::environment::{Drawing, Environment, Game};
use super::files;
use super::folder::Folder;
use super::frames::compared_row;
use crate::child_process::ResourceUsage;
use crate::table::{Group, Row, median, named};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum CPU time of a game beyond a bare program, in milliseconds.
const START_MS: f64 = 25.0;
/// Maximum memory of a game beyond a bare program, in MiB.
const START_MIB: f64 = 20.0;

/// Runs commands in turn, each after one run of warm-up. Returns the resource usage of each.
fn run_alternating<const N: usize>(
    environment: &Environment,
    commands: [&dyn Fn() -> Command; N],
) -> [Vec<ResourceUsage>; N] {
    let mut used = [const { Vec::new() }; N];
    for run in 0..=environment.runs {
        for (at, command) in commands.iter().enumerate() {
            let (one, _) = environment.run(command());
            if run > 0 {
                used[at].push(one);
            }
        }
    }
    used
}

/// A median over the runs of a process.
type Metric = fn(&[ResourceUsage]) -> f64;

fn cpu(runs: &[ResourceUsage]) -> f64 {
    median(runs.iter().map(|used| used.cpu).collect())
}

fn peak(runs: &[ResourceUsage]) -> f64 {
    median(runs.iter().map(|used| used.peak).collect())
}

fn wall(runs: &[ResourceUsage]) -> f64 {
    median(runs.iter().map(|used| used.wall).collect())
}

/// Returns the commands that show one frame of a game: LÖVE's, and this engine's on the game's
/// folder.
fn one_frame<'a>(
    environment: &'a Environment,
    game: &'a Game,
) -> [Box<dyn Fn() -> Command + 'a>; 2] {
    [
        Box::new(|| environment.love(&game.love, &[], Drawing::Real)),
        Box::new(|| environment.engine(&game.engine, &["--frames", "1"], Drawing::Real)),
    ]
}

/// Compiles a game into a bundle.
fn bundle(environment: &Environment, game: &Game) -> PathBuf {
    let file = game.engine.with_extension("bundle");
    let mut command = environment.process(Path::new(env!("CARGO_BIN_EXE_engine")), Drawing::Real);
    command.arg("compile").arg(&game.engine).arg("--bundle").arg("--out").arg(&file);
    environment.run(command);
    file
}

/// Runs of the startup workload. Without a display, only those of this engine.
struct StartupRuns {
    /// The bare programs: one that draws, and one that only clears.
    bare: Option<[Vec<ResourceUsage>; 2]>,
    ours: Vec<ResourceUsage>,
    bundled: Vec<ResourceUsage>,
    nothing: Vec<ResourceUsage>,
    love: Option<Vec<ResourceUsage>>,
}

impl StartupRuns {
    fn of(environment: &Environment) -> StartupRuns {
        let game = environment.add_game("start");
        let (bundle, empty) = (bundle(environment, &game), empty_game(environment, &game));
        let [love, folder] = one_frame(environment, &game);
        let of_bundle = || environment.engine(&bundle, &["--frames", "1"], Drawing::Real);
        let of_nothing = || environment.engine(&empty, &["--frames", "1"], Drawing::Real);
        let program = std::env::current_exe().expect("it is running");
        let draws = || {
            let mut command = environment.process(&program, Drawing::Real);
            command.arg(bare::ARGUMENT);
            command
        };
        let clears = || {
            let mut command = draws();
            command.arg(bare::CLEARS);
            command
        };
        if environment.love.is_some() {
            let [draws, clears, ours, bundled, nothing, love] = run_alternating(
                environment,
                [&draws, &clears, &folder, &of_bundle, &of_nothing, &love],
            );
            StartupRuns { bare: Some([draws, clears]), ours, bundled, nothing, love: Some(love) }
        } else if environment.has_display() {
            let [draws, clears, ours, bundled, nothing] =
                run_alternating(environment, [&draws, &clears, &folder, &of_bundle, &of_nothing]);
            StartupRuns { bare: Some([draws, clears]), ours, bundled, nothing, love: None }
        } else {
            let [ours, bundled, nothing] =
                run_alternating(environment, [&folder, &of_bundle, &of_nothing]);
            StartupRuns { bare: None, ours, bundled, nothing, love: None }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let columns: [(&str, &str, Metric, f64); 2] = [
            ("CPU of the process", "ms", cpu, START_MS),
            ("peak resident memory", "MiB", peak, START_MIB),
        ];
        for (name, unit, get, room) in columns {
            let bare = self.bare.as_ref().map(|both| both.each_ref().map(|runs| get(runs)));
            let love = self.love.as_deref().map(get);
            let mut row = compared_row(name.to_string(), get(&self.ours), unit, love);
            row.target = bare.map(|[draws, _]| draws + room);
            rows.push(row);
            rows.push(compared_row("  of a bundle".to_string(), get(&self.bundled), unit, love));
            let nothing = get(&self.nothing);
            rows.push(named("  of a game that draws nothing".to_string(), nothing, unit, None));
            if let Some([draws, clears]) = bare {
                let note = format!("the target is {room} {unit} above it");
                let name = "  a bare program that draws".to_string();
                rows.push(Row { note, ..named(name, draws, unit, None) });
                let name = "  a bare program that only clears".to_string();
                rows.push(named(name, clears, unit, None));
            }
        }
        rows
    }
}

/// Creates a second game with a window in which nothing is drawn.
fn empty_game(environment: &Environment, game: &Game) -> PathBuf {
    let folder = environment.file("start/nothing");
    fs::create_dir_all(&folder).expect("the temporary folder can be written to");
    let settings = "settings.sjson";
    fs::copy(game.engine.join(settings), folder.join(settings)).expect("there is room");
    fs::write(folder.join("main.lua"), "function render() end\n").expect("there is room");
    folder
}

pub fn start(environment: &Environment) -> Group {
    Group {
        name: "start",
        title: "from the start of the process to the first frame shown, and its end",
        workload: "benches/peers/start: a window of 800 x 600 with one word, drawn by the \
                   processor, one frame, the end. CPU time of all threads of the process in user \
                   and system mode, and its most resident memory; medians, after one run that \
                   does not count. The bare programs (benches/peers/bare.rs) open the window, a \
                   device and a surface with the same libraries; one draws a square with a \
                   texture, the other only clears the picture.",
        rows: StartupRuns::of(environment).rows(),
    }
}

pub fn tests(environment: &Environment) -> Group {
    let game = environment.add_game("tests");
    let mut rows = Vec::new();
    for count in [1, 1000] {
        let suite = format!(
            "for i = 1, {count} do\n  it(\"test \" .. i, function()\n    local point = {{ x = i \
             }}\n    assert.equals(i + 1, point.x + 1)\n  end)\nend\n"
        );
        fs::write(game.engine.join("trivial_test.lua"), suite).expect("there is room");
        let ours = || {
            let engine = Path::new(env!("CARGO_BIN_EXE_engine"));
            let mut command = environment.process(engine, Drawing::Real);
            command.arg("test").arg(&game.engine);
            command
        };
        let love = || environment.love(&game.love, &[count.to_string()], Drawing::Real);
        let (ours, love) = match environment.love {
            Some(_) => {
                let [ours, love] = run_alternating(environment, [&ours, &love]);
                (ours, Some(love))
            }
            None => {
                let [ours] = run_alternating(environment, [&ours]);
                (ours, None)
            }
        };
        let name = if count == 1 { "1 test".to_string() } else { "1,000 tests".to_string() };
        rows.push(compared_row(name, cpu(&ours), "ms", love.as_deref().map(cpu)));
    }
    Group {
        name: "tests",
        title: "trivial tests, the whole process",
        workload: "benches/peers/tests: one table and one comparison each, in one file; `engine \
                   test`, and LÖVE without a window with a loop around xpcall. CPU time of the \
                   process from start to end; the median, after one run that does not count.",
        rows,
    }
}

pub fn assets(environment: &Environment) -> Group {
    let game = environment.add_game("assets");
    let written = Folder::new("peers-assets");
    files::write(&written);
    for folder in ["scripts", "images", "text"] {
        for side in [&game.love, &game.engine] {
            copy_folder(&written.path().join(folder), &side.join(folder));
        }
    }
    let bundle = bundle(environment, &game);
    let [love, folder] = one_frame(environment, &game);
    let of_bundle = || environment.engine(&bundle, &["--frames", "1"], Drawing::Real);
    let (folder, bundled, love) = match environment.love {
        Some(_) => {
            let [folder, bundled, love] =
                run_alternating(environment, [&folder, &of_bundle, &love]);
            (folder, bundled, Some(love))
        }
        None => {
            let [folder, bundled] = run_alternating(environment, [&folder, &of_bundle]);
            (folder, bundled, None)
        }
    };
    let mut rows = Vec::new();
    for (name, runs) in [("of a folder", &folder), ("of a bundle", &bundled)] {
        rows.push(compared_row(format!("CPU, {name}"), cpu(runs), "ms", love.as_deref().map(cpu)));
        let by_clock = compared_row(
            format!("  by the clock, {name}"),
            wall(runs),
            "ms",
            love.as_deref().map(wall),
        );
        rows.push(by_clock);
        rows.push(compared_row(
            format!("  peak resident memory, {name}"),
            peak(runs),
            "MiB",
            love.as_deref().map(peak),
        ));
    }
    Group {
        name: "assets",
        title: "a game of 2,000 files, to its first frame",
        workload: "benches/peers/assets: 500 scripts of about 60 lines, 1,000 PNG files of 32 x \
                   32, 500 texts of 1 KiB; everything is loaded, and the first frame shows all \
                   pictures, drawn by the processor. Whole processes, files cached; LÖVE's of a \
                   folder; ours of a folder that was compiled by an earlier start, and of a \
                   bundle. The median, after one run that does not count.",
        rows,
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder can be written to");
    for entry in fs::read_dir(from).expect("it was written").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("there is room");
    }
}
