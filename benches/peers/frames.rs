//! Workloads of many frames: the cost of a frame on the main thread.

use super::environment::{Drawing, Environment, Game};
use crate::table::{Group, Row, digits, median, named};

/// Number of warm-up frames, which LÖVE's games define themselves, and of measured frames.
struct Length {
    warm: usize,
    frames: usize,
}

/// Results that a process printed about its frames.
#[derive(Default)]
struct FrameResults {
    /// Median time of a frame on the main thread, in milliseconds.
    frame: f64,
    /// Mean time of a frame, in milliseconds.
    mean: f64,
    /// Maximum time of a frame, in milliseconds.
    most: f64,
    /// Share of LÖVE's `draw`, including all pending draw operations.
    draw: f64,
    draw_calls: f64,
    printed: Vec<(String, f64)>,
}

impl FrameResults {
    fn printed_number(&self, name: &str) -> f64 {
        let found = self.printed.iter().find(|(printed, _)| printed == name);
        found.unwrap_or_else(|| panic!("'{name}' was not reported")).1
    }
}

/// Parses the lines that consist of a name and a number.
fn numbers(text: &str) -> Vec<(String, f64)> {
    let line = |line: &str| {
        let (name, number) = line.trim().rsplit_once(' ')?;
        Some((name.to_string(), number.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn play_love(environment: &Environment, game: &Game, arguments: &[String]) -> FrameResults {
    let (_, out) = environment.run(environment.love(&game.love, arguments, Drawing::Dropped));
    let printed = numbers(&out);
    let mut results = FrameResults { printed, ..FrameResults::default() };
    let [frame, mean, most, draw, draw_calls] =
        ["frame", "mean", "most", "draw", "draw_calls"].map(|name| results.printed_number(name));
    results.frame = frame;
    results.mean = mean;
    results.most = most;
    results.draw = draw;
    results.draw_calls = draw_calls;
    results
}

/// Returns the values of one counter in all frames; 0 in all if the table lacks the counter because
/// it was never anything else.
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let at = lines.next().and_then(|head| head.split(',').position(|head| head == name));
    let value = |line: &str| at.and_then(|at| line.split(',').nth(at)?.parse().ok()).unwrap_or(0.0);
    lines.map(value).collect()
}

fn play_engine(
    environment: &Environment,
    game: &Game,
    arguments: &[String],
    length: &Length,
    threads: Threads,
) -> FrameResults {
    let (frames, table) =
        ((length.warm + length.frames).to_string(), environment.file("frames.csv"));
    let table_name = table.to_str().expect("the temporary folder has a readable name");
    let step = (1.0f64 / 60.0).to_string();
    let mut flags = vec!["--frames", &frames, "--fixed-step", &step, "--stats-export", table_name];
    flags.extend(["--no-tools", "--no-watch"]);
    if threads == Threads::One {
        flags.push("--single-threaded");
    }
    flags.push("--");
    flags.extend(arguments.iter().map(String::as_str));
    let (_, out) = environment.run(environment.engine(&game.engine, &flags, Drawing::Dropped));
    let table = std::fs::read_to_string(&table).expect("the run has written it");
    let times = column(&table, "frame/cpu_milliseconds").split_off(length.warm);
    let calls = column(&table, "renderer/draw_calls");
    FrameResults {
        mean: times.iter().sum::<f64>() / times.len() as f64,
        most: times.iter().copied().fold(0.0, f64::max),
        frame: median(times),
        draw: 0.0,
        draw_calls: *calls.last().expect("frames were played"),
        printed: numbers(&out),
    }
}

/// Number of threads that the engine uses.
#[derive(Clone, Copy, PartialEq)]
enum Threads {
    /// One thread for everything including rendering, as in LÖVE.
    One,
    /// One for each core. Rendering runs in parallel with the game.
    All,
}

/// Runs of the same workload, alternating between the engines, so that other load on the machine
/// affects all of them.
struct Runs {
    love: Vec<FrameResults>,
    one: Vec<FrameResults>,
    all: Vec<FrameResults>,
}

impl Runs {
    fn of(
        environment: &Environment,
        game: &Game,
        arguments: &[String],
        length: &Length,
        all: bool,
    ) -> Runs {
        let mut runs = Runs { love: Vec::new(), one: Vec::new(), all: Vec::new() };
        for _ in 0..environment.runs {
            if environment.love.is_some() {
                runs.love.push(play_love(environment, game, arguments));
            }
            runs.one.push(play_engine(environment, game, arguments, length, Threads::One));
            if all {
                runs.all.push(play_engine(environment, game, arguments, length, Threads::All));
            }
        }
        runs
    }

    /// Returns LÖVE's result, if LÖVE was run.
    fn love(&self, get: fn(&FrameResults) -> f64) -> Option<f64> {
        (!self.love.is_empty()).then(|| median_of(&self.love, get))
    }
}

fn median_of(runs: &[FrameResults], get: fn(&FrameResults) -> f64) -> f64 {
    median(runs.iter().map(get).collect())
}

/// Returns a row with LÖVE's value for comparison.
pub fn compared_row(name: String, ours: f64, unit: &'static str, love: Option<f64>) -> Row {
    Row { love, ..named(name, ours, unit, None) }
}

fn to_strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| word.to_string()).collect()
}

/// Returns the rows of a drawing workload.
fn drawing_rows(name: &str, runs: &Runs) -> Vec<Row> {
    let frame: fn(&FrameResults) -> f64 = |results| results.frame;
    let calls: fn(&FrameResults) -> f64 = |results| results.draw_calls;
    let mut one =
        compared_row(name.to_string(), median_of(&runs.one, frame), "ms", runs.love(frame));
    if let Some(draw) = runs.love(|results| results.draw) {
        one.note = format!("of LÖVE's, {} are love.draw", digits(draw));
    }
    let all = median_of(&runs.all, frame);
    let all =
        compared_row("  on all threads, of the main one".to_string(), all, "ms", runs.love(frame));
    let mut rows = vec![one, all];
    let draw_calls = median_of(&runs.one, calls);
    if draw_calls > 0.0 {
        rows.push(compared_row("  draw calls".to_string(), draw_calls, "calls", runs.love(calls)));
    }
    rows
}

/// Mode, count, description.
const DRAWING_CASES: &[(&str, &str, &str)] = &[
    ("nothing", "0", "a frame with nothing in it"),
    ("one", "10000", "10,000 sprites, one texture"),
    ("eight", "10000", "10,000 sprites, 8 textures in turn"),
    ("eight", "50000", "50,000 sprites, 8 textures in turn"),
    ("kept", "10000", "10,000 retained, unchanged (LÖVE: SpriteBatch)"),
    ("moved", "10000", "10,000 retained, all moved (LÖVE: SpriteBatch)"),
    ("strings", "2000", "2,000 strings, changing in each frame"),
    ("long_strings", "300", "300 strings of 95 letters, new in each frame"),
    ("widgets", "5000", "5,000 widgets: fill, outline, label"),
];

pub fn gui(environment: &Environment) -> Group {
    let game = environment.add_game("gui");
    let length = Length { warm: 60, frames: 120 };
    let mut rows = Vec::new();
    for (mode, count, name) in DRAWING_CASES {
        rows.extend(drawing_rows(
            name,
            &Runs::of(environment, &game, &to_strings(&[mode, count]), &length, true),
        ));
    }
    Group {
        name: "gui",
        title: "sprites, strings and widgets, drawn one by one from Lua",
        workload: "benches/gui/main.lua against benches/peers/gui/love/main.lua: sprites of 16 x \
                   16, strings of 12 units in a grid of 40 x 6, long strings in two columns, \
                   widgets of 14 x 5 in a grid of 16 x 6. CPU time of the main thread for a whole \
                   frame, the median of 120 after 60, in a window of 800 x 600; both draw \
                   through Mesa's GL, which drops its input (GALLIUM_NOOP). First everything on \
                   one thread, as in LÖVE, then with a separate render thread.",
        rows,
    }
}

pub fn script(environment: &Environment) -> Group {
    let game = environment.add_game("script");
    let runs = Runs::of(environment, &game, &[], &Length { warm: 60, frames: 300 }, false);
    // All runs must have the same result, otherwise they did different work.
    for (name, expected) in [("bumps", 3112.0), ("turns", 56700.0)] {
        for results in runs.love.iter().chain(&runs.one) {
            assert_eq!(results.printed_number(name), expected, "{name}");
        }
    }
    let frame: fn(&FrameResults) -> f64 = |results| results.frame;
    let name = "10,000 creatures".to_string();
    Group {
        name: "script",
        title: "plain Lua, the same file in both",
        workload: "benches/peers/script/crowd.lua: 10,000 tables move, turn, are sorted into \
                   cells, and each looks for the nearest of the other team. CPU time of the main \
                   thread for a whole frame, the median of 300 after 60. Both must have the same \
                   sums at the end.",
        rows: vec![compared_row(name, median_of(&runs.one, frame), "ms", runs.love(frame))],
    }
}

/// Number of calls of one function in a frame.
const CALLS: usize = 1_000_000;

/// Case, LÖVE's call, this engine's call.
const CALL_CASES: &[(&str, &str, &str)] = &[
    ("loop", "the loop alone", "the loop alone"),
    ("lua", "a Lua function", "a Lua function"),
    ("random", "love.math.random()", "Math.random()"),
    ("noise", "love.math.noise(x, y)", "Math.noise(x, y)"),
    ("body_position", "body:getPosition()", "Actor.position(actor)"),
    ("body_velocity", "body:setLinearVelocity(x, y)", "Actor.set_velocity(actor, vector)"),
    ("key", "love.keyboard.isDown(key)", "Keyboard.button(key)"),
    ("cursor", "love.mouse.getPosition()", "Mouse.axis(\"cursor\")"),
    ("clock", "love.timer.getTime()", "Application.time_since_launch()"),
    ("window_size", "graphics.getDimensions()", "Window.resolution()"),
    ("image_size", "image:getDimensions()", "Gui.texture_size(gui, name)"),
    ("transform", "transform:transformPoint(x, y)", "Matrix4x4.transform(m, vector)"),
    ("push_pop", "push, translate, pop", "Gui.push, translate, pop"),
];

pub fn calls(environment: &Environment) -> Group {
    let game = environment.add_game("calls");
    let length = Length { warm: 3, frames: 12 };
    let each = |milliseconds: f64| milliseconds * 1e6 / CALLS as f64;
    let mut rows = Vec::new();
    for (case, theirs, ours) in CALL_CASES {
        let arguments = to_strings(&[case, &CALLS.to_string()]);
        let runs = Runs::of(environment, &game, &arguments, &length, false);
        let love = runs.love(|results| results.frame).map(each);
        let one = each(median_of(&runs.one, |results| results.frame));
        let mut row = compared_row(ours.to_string(), one, "ns", love);
        if love.is_some() && theirs != ours {
            row.note = format!("LÖVE's: {theirs}");
        }
        rows.push(row);
    }
    Group {
        name: "calls",
        title: "one engine call from Lua",
        workload: "benches/peers/calls: 1,000,000 calls of a kind in a frame whose results are \
                   used, the loop included. CPU time of the main thread for the frame by the \
                   number of calls, the median of 12 frames after 3.",
        rows,
    }
}

pub fn particles(environment: &Environment) -> Group {
    let game = environment.add_game("particles");
    let runs = Runs::of(environment, &game, &[], &Length { warm: 240, frames: 180 }, true);
    for results in runs.love.iter().chain(&runs.one) {
        let living = results.printed_number("particles");
        assert!(living > 79_000.0, "only {living} particles live");
    }
    Group {
        name: "particles",
        title: "LÖVE's particle system, and the same as a .particles",
        workload: "benches/peers/particles: 80,000 living particles, of which 40,000 a second die \
                   and begin; gravity, sizes, colours, spin. Moved and drawn: CPU time of the \
                   main thread for a whole frame, the median of 180 after 240; what is drawn is \
                   dropped by the driver. First everything on one thread, then with as many as \
                   there are.",
        rows: drawing_rows("80,000 particles", &runs),
    }
}

pub fn physics(environment: &Environment) -> Group {
    let game = environment.add_game("physics");
    let length = Length { warm: 0, frames: 360 };
    let mut rows = Vec::new();
    for (count, name) in [("1000", "1,000 boxes"), ("5000", "5,000 boxes")] {
        let runs = Runs::of(environment, &game, &to_strings(&[count]), &length, false);
        let mut row = |name: String, unit, get: fn(&FrameResults) -> f64| {
            rows.push(compared_row(name, median_of(&runs.one, get), unit, runs.love(get)));
        };
        row(format!("{name}: mean of a frame"), "ms", |results| results.mean);
        row(format!("  {name}: the longest"), "ms", |results| results.most);
        row(format!("  {name}: awake at the end"), "boxes", |results| {
            results.printed_number("awake")
        });
    }
    Group {
        name: "physics",
        title: "boxes that fall into a pile in the plane",
        workload: "benches/peers/physics: boxes of half a metre fall into a bin in 50 columns \
                   (100 from 5,000 on). LÖVE's are bodies of Box2D, ours units with an actor \
                   each, whose nodes follow. 360 steps of a sixtieth of a second from the first \
                   on, nothing drawn, one thread: CPU time of the main thread for whole frames.",
        rows,
    }
}
