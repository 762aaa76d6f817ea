//! Tests of short sources that demand a huge amount of work or memory: each is refused with a
//! message that names the limit, or is compiled quickly.

use crate::bad_input::{Game, check_in_order, run_result};
use std::process::Command;

/// Runs `engine compile` on a game with these files to create a bundle, and returns its exit code
/// and output. The command must end.
fn compile(name: &str, files: &[(&str, String)]) -> (Option<i32>, String) {
    let mut game = Game::new(name, "");
    for (path, text) in files {
        game = game.with(path, text);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.arg("compile").arg(&game.folder).arg("--bundle");
    command.arg("--out").arg(game.folder.with_file_name("made.bundle"));
    command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", &game.saves);
    command.env("XDG_CACHE_HOME", game.folder.with_file_name("cache"));
    let result = run_result(command.output().expect("the engine starts"));
    (result.code, result.out + &result.err)
}

fn repeated(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// Returns strings that differ only in bytes that the short hash of LuaJIT skips. With that hash
/// alone, each would be compared with all earlier ones.
fn colliding_strings(count: usize) -> String {
    repeated(count, |i| format!("\"{}{i:010}{}\"\n", "a".repeat(30), "a".repeat(8)))
}

#[test]
fn strings_that_differ_in_the_middle_load_quickly() {
    let main = "function update()\n  print(#Application.data('config', 'a').list)\nend";
    let game = Game::new("colliding", main)
        .with("a.config", format!("list = [\n{}]", colliding_strings(1_000_000)))
        .with("settings.sjson", "limits = { update_seconds = 20 }");
    let result = game.play(&[]);
    assert_eq!((result.code, &result.out[..8]), (Some(0), "1000000\n"), "{}", result.err);
}

#[test]
fn loading_much_data_respects_callback_time_limit() {
    let main = "function update()\n  for _ = 1, 1000 do\n\
                    pcall(Application.data, 'config', 'a')\n  end\nend";
    let game = Game::new("much_data", main)
        .with("a.config", format!("list = [\n{}]", colliding_strings(1_000_000)))
        .with("settings.sjson", "limits = { update_seconds = 1 }");
    let result = game.play(&[]);
    assert_eq!(result.code, Some(1), "{}", result.err);
    check_in_order(&result.err, &["stopped: this ran for 1 seconds of CPU time without an end"]);
}

#[test]
fn exploding_source_is_refused_with_a_named_limit() {
    let rows = [
        (
            "many.unit",
            format!("nodes = {{ {} }}", repeated(5000, |i| format!("n{i} = {{}}\n"))),
            "many.unit:1: 5000 nodes and the root are more than a unit can have (UNIT_NODES_MAX",
        ),
        (
            "parts.unit",
            format!("components = {{ {} }}", repeated(20_000, |i| format!("c{i} = {{}}\n"))),
            "parts.unit:1: 20000 components are more than a unit can have (UNIT_COMPONENTS_MAX",
        ),
        (
            "all.package",
            format!("text = [{}]", repeated(300, |i| format!("\"a{i}*\" "))),
            "all.package:1: a package has at most 256 patterns with a '*' (PACKAGE_STARS_MAX)",
        ),
        (
            "much.sound",
            format!(
                "play = \"a\" curves = [{}]",
                repeated(300, |_| {
                    "{ parameter = \"p\" target = \"volume_db\" points = [[0, 0]] }\n".to_string()
                })
            ),
            "much.sound:257: a sound can have 256 curves, with those of its layers (CURVES_MAX)",
        ),
        (
            "far.tmj",
            "{\"orientation\":\"orthogonal\",\"layers\":[{\"type\":\"tilelayer\",\"name\":\"l\",\
             \"chunks\":[{\"x\":1e300,\"y\":0,\"width\":2,\"height\":1,\"data\":[1,1]},\
             {\"x\":0,\"y\":0,\"width\":1,\"height\":1,\"data\":[1]}]}]}"
                .to_string(),
            "far.tmj: 'x' of a chunk must be a whole number",
        ),
        (
            "large.tmj",
            "{\"orientation\":\"orthogonal\",\"width\":1e9,\"height\":1e9,\"tilewidth\":8,\
             \"tileheight\":8,\"layers\":[{\"type\":\"tilelayer\",\"name\":\"l\",\"width\":1e9,\
             \"height\":1e9,\"data\":[1]}]}"
                .to_string(),
            "layer 'l' has 1000000000000000000 tiles, and 4194304 is the most (TILES_MAX)",
        ),
        (
            "crowd.particles",
            "emitters = { a = { max = 1e9 } }".to_string(),
            "'max' must be a whole number, 1 to 1048576 (EMITTER_PARTICLES_MAX), got 1000000000",
        ),
        (
            "numbers.config",
            "a = 1e2147483648".to_string(),
            "numbers.config:1:5: number 1e2147483648 is too large: the largest is about 1.8e308",
        ),
    ];
    let files: Vec<(&str, String)> =
        rows.iter().map(|(path, text, _)| (*path, text.clone())).collect();
    let (code, message) = compile("explosions", &files);
    for (path, _, expected) in &rows {
        assert!(message.contains(expected), "{path}: '{expected}' is not in:\n{message}");
    }
    assert_eq!(code, Some(1), "{message}");
    assert!(message.len() < 20_000, "what is said stays short: {} bytes", message.len());
}

#[test]
fn multiplying_patterns_and_emitters_compile_quickly() {
    let a = "a".repeat(110);
    let (long, deep) = (format!("{a}.txt"), format!("{a}/{a}/{a}.txt"));
    // Every emitter feeds the next three, so the number of paths through all of them is huge.
    let emitters = repeated(16, |i| {
        let feeds = ["on_birth", "on_death", "on_collision"];
        let feeds = feeds.iter().enumerate().filter(|(at, _)| i + at + 1 < 16);
        let feeds = feeds
            .map(|(at, key)| format!("{key} = {{ emitter = \"e{}\" count = 10000 }} ", i + at + 1));
        format!(
            "e{i} = {{ max = 100000 rate = 1e7 lifetime = 0.001 {} }}\n",
            feeds.collect::<String>()
        )
    });
    let files = [
        (
            "settings.sjson",
            "bundle = { exclude = [\"*a*a*a*a*a*a*a*b\", \"**/*a*a*a*/*a*a\"] }".into(),
        ),
        (&*long, "text".to_string()),
        (&*deep, "text".to_string()),
        (
            "cave.tmx",
            format!(
                "<map orientation=\"orthogonal\" width=\"1\" height=\"1\" tilewidth=\"8\" \
                 tileheight=\"8\">{}</map>",
                "&".repeat(4 << 20)
            ),
        ),
        ("storm.particles", format!("emitters = {{ {emitters} }}")),
    ];
    let (code, message) = compile("multiply", &files);
    assert_eq!(code, Some(0), "{message}");
}

#[test]
fn chained_emitters_and_nested_levels_stay_within_limits() {
    let level = |below: &str, count: usize| {
        let nested = repeated(count, |i| format!("l{i} = {{ level = \"{below}\" }}\n"));
        format!("levels = {{ {nested} }}")
    };
    let units = repeated(5000, |i| format!("u{i} = {{ unit = \"core/units/empty\" }}\n"));
    let main = "function init()
  local world = Application.new_world()
  World.create_particles(world, \"storm\")
  for _ = 1, 4 do World.update(world, 60) end
  print(World.num_particles(world) <= 4194304)
  print(select(2, pcall(World.spawn_level, world, \"a\")))
  print(World.num_units(world))
end";
    let game = Game::new("storm", main)
        .with(
            "storm.particles",
            "emitters = { a = { max = 200000 rate = 1e7 lifetime = 0.001 on_death = { emitter = \
             \"b\" count = 10000 } } b = { max = 1000 lifetime = 0.001 } }",
        )
        .with("a.level", level("b", 60))
        .with("b.level", level("c", 60))
        .with("c.level", format!("units = {{ {units} }}"));
    let result = game.play(&[]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    check_in_order(
        &result.out,
        &[
            "true\n",
            "level \"a\" and the levels inside of it have more than 262144 units (UNITS_MAX): take \
             some out of \"c\", or place it less often\n",
            "0\n",
        ],
    );
}
