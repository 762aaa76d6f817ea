//! Tests of the profiling output of `engine run`: the report, traces, tables, memory leaks; and the
//! measurements of a release.

use crate::game_folder::{GameFolder, Outcome};
use std::fs;

/// A folder with a game in its subfolder `game`.
struct Scratch(GameFolder);

/// A game with its own scopes and counters, and a list that grows.
const GAME: &str = r#"
local enemies = {}
local alive = Stats.counter("enemies/alive")
local before

function update()
  Profiler.start("enemies")
  for i = 1, 5 do
    Profiler.start("think")
    enemies[#enemies + 1] = { i }
    alive.value = alive.value + 1
    Profiler.stop("think")
  end
  Profiler.stop("enemies")
  local index = Application.frame_index()
  if index == 10 then before = Memory.snapshot() end
  if index == 30 then print(Memory.report(before)) end
end
"#;

impl Scratch {
    fn new(name: &str, game: &str) -> Scratch {
        let folder = GameFolder::new("profile", name);
        folder.write("game/main.lua", game);
        Scratch(folder)
    }

    fn engine(&self, arguments: &str) -> Outcome {
        self.0.engine(&arguments.split(' ').collect::<Vec<_>>())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

/// Returns the rows of a report: the six numbers, the depth of the row, and its name.
fn rows(report: &str) -> Vec<([f64; 6], usize, String)> {
    let table = report.split("--\n").nth(1).expect("the table has its rule");
    let rows = table.lines().take_while(|line| !line.is_empty()).map(|line| {
        let parts: Vec<&str> = line.splitn(7, " : ").collect();
        let number = |at: usize| parts[at].trim().parse::<f64>().unwrap();
        let name = parts[6].trim_start_matches(' ');
        let numbers = [0, 1, 2, 3, 4, 5].map(number);
        (numbers, parts[6].len() - name.len(), name.to_string())
    });
    rows.collect()
}

#[test]
fn report_lists_scopes_and_averages_sum_to_100() {
    let scratch = Scratch::new("report", GAME);
    let run = "run game --headless --frames 60 --profile-report --profile-skip 20";
    let (code, out, err) = scratch.engine(run);
    assert_eq!(code, 0, "{err}");
    let header = "Min % : Avg % : Max % :   Avg ms :   Max ms :   # : Profile Name\n";
    let at = out.find(header).expect("the header");
    let report = &out[at..];
    let rule = "-".repeat(64);
    assert_eq!(report.lines().nth(1), Some(rule.as_str()));
    let rows = rows(report);
    let find = |name: &str| rows.iter().find(|row| row.2 == name).expect(name);
    assert_eq!((find("frame").1, find("update").1, find("enemies").1), (0, 1, 2));
    assert_eq!((find("think").1, find("think").0[5]), (3, 5.0));
    let sum: f64 = rows.iter().map(|row| row.0[1]).sum();
    assert!((sum - 100.0).abs() < 2.0, "{sum}:\n{report}");
    for ([min, average, max, average_ms, max_ms, _], _, name) in &rows {
        assert!(min <= average && average <= max, "{name}: {min} {average} {max}");
        assert!(average_ms <= max_ms, "{name}: {average_ms} {max_ms}");
    }
    assert!(find("think").0[3] > 0.0, "{report}");
    assert!(out.contains("objects  main.lua: local enemies"), "{out}");
}

#[test]
fn report_lists_the_parts_of_navigation() {
    let game = r#"
local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
local mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
local agent = Agent.create(mesh, Vector3(3, 3, 0))
NavigationMesh.set_targets(mesh, "exit", { 16, 16, 0 })

function update(dt)
  Agent.set_destination(agent, Vector3(16, 16, 0))
  local volume = NavigationMesh.add_box(mesh, 0, Vector3(10, 10, 0), Vector3(1, 1, 1))
  NavigationMesh.update(mesh, 0.01)
  NavigationMesh.flow(mesh, "exit", Vector3(3, 3, 0))
  NavigationMesh.remove_volume(mesh, volume)
end
"#;
    let scratch = Scratch::new("navigation", game);
    let (code, out, err) = scratch.engine("run game --headless --frames 40 --profile-report");
    assert_eq!(code, 0, "{err}");
    let rows = rows(&out[out.find("Min % :").expect("the header")..]);
    let depths = |name: &str| -> Vec<_> {
        rows.iter().filter(|row| row.2 == name).map(|row| row.1).collect()
    };
    let outer = depths("navigation")[0];
    // Tasks have the name of the scope that they are in.
    for part in ["rebuild", "hierarchy", "crowd", "searches"] {
        let found = depths(&format!("navigation_{part}"));
        assert!(found.contains(&(outer + 1)), "{part} {found:?}: {out}");
    }
    // Searches of agents are a part of the crowd.
    assert!(depths("navigation_searches").contains(&(outer + 2)), "{out}");
    assert_eq!(depths("navigation_fields"), [outer], "{out}");
}

#[test]
fn profile_is_exported_in_standard_formats() {
    let scratch = Scratch::new("files", GAME);
    let run = "run game --headless --frames 40 --profile-trace t.json --profile-flame f.svg \
               --profile-folded f.txt --stats-export s.csv --profile-script-stacks stacks.txt";
    let (code, _, err) = scratch.engine(run);
    assert_eq!(code, 0, "{err}");
    let trace = scratch.read("t.json");
    assert!(engine::foundation::sjson::parse(&trace).is_ok(), "JSON is SJSON, too");
    assert_eq!(trace.matches("\"ph\":\"X\",\"pid\":1,\"tid\":0,\"name\":\"think\"").count(), 200);
    assert!(trace.contains("\"args\":{\"name\":\"main\"}"));
    let flame = scratch.read("f.svg");
    assert!(flame.starts_with("<svg ") && flame.contains(">40 frames, "), "{flame}");
    assert!(scratch.read("f.txt").lines().any(|line| line.starts_with("main;frame")));
    let table = scratch.read("s.csv");
    let mut lines = table.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let alive = header.iter().position(|name| *name == "enemies/alive").expect("a column");
    let frames: Vec<&str> = lines.collect();
    assert_eq!(frames.len(), 40);
    for (index, line) in frames.iter().enumerate() {
        let values: Vec<_> = line.split(',').collect();
        assert_eq!((values[0], values[alive]), (format!("{}", index + 1).as_str(), "5"));
    }
    assert!(header.contains(&"scopes/frame/update/enemies/think"), "{header:?}");
    // Such a short run may have ended between two samples.
    assert!(scratch.0.join("stacks.txt").is_file());
}

#[test]
fn script_samples_have_their_locations() {
    let busy = "local function burn(n) local x = 0 for i = 1, n do x = x + math.sin(i) end \
                return x end\nfunction update() burn(2000000) end";
    let scratch = Scratch::new("samples", busy);
    let run = "run game --headless --frames 6 --profile-scripts";
    let (code, out, err) = scratch.engine(run);
    assert_eq!(code, 0, "{err}");
    let script = out.split("Engine calls : Script\n").nth(1).expect("the table of scripts");
    assert!(script.lines().next().unwrap().ends_with(" : main.lua"), "{out}");
    assert!(out.contains("burn in main.lua"), "{out}");
}

#[test]
fn invalid_output_file_is_reported() {
    let scratch = Scratch::new("wrong", GAME);
    let (code, _, err) = scratch.engine("run game --headless --frames 2 --stats-export s.txt");
    assert_eq!(code, 2);
    assert!(err.contains("the file's name must end in .csv or .json"), "{err}");
    let run = "run game --headless --frames 2 --profile-trace game/main.lua/t.json";
    let (code, _, err) = scratch.engine(run);
    assert_eq!(code, 1);
    assert!(err.contains("main.lua/t.json cannot be written"), "{err}");
    let (code, _, err) = scratch.engine("run game --headless --frames 2 --profile-skip 3");
    assert_eq!(code, 2);
    assert!(err.contains("--profile-report"), "{err}");
}

#[test]
fn profiling_is_disabled_in_a_release() {
    let game = "function update()\n  Profiler.start(\"mine\")\n  Profiler.stop()\n  \
                Profiler.stop()\n  print(#Profiler.scopes(), #Memory.tree(), \
                Application.build())\nend";
    let scratch = Scratch::new("release", game);
    let (code, _, err) = scratch.engine("run game --headless --frames 2");
    assert_eq!(code, 1, "the folder's game has one stop too many");
    assert!(err.contains("Profiler.stop: no scope is open here"), "{err}");
    let (code, out, err) = scratch.engine("compile game --bundle --out game.bundle");
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = scratch.engine("run game.bundle --headless --frames 2");
    assert_eq!((code, out.as_str()), (0, "0\t0\trelease\n0\t0\trelease\n"), "{err}");
    let (code, out, err) = scratch.engine("run game.bundle --headless --frames 2 --profile-report");
    assert_eq!(code, 0, "{err}");
    let names: Vec<_> = rows(&out).into_iter().map(|row| row.2).collect();
    assert!(names.contains(&"update".to_string()), "{out}");
    assert!(!names.contains(&"mine".to_string()), "{out}");
}
