//! Tests that no call does unbounded work: every function that a game can reach is called with
//! extreme arguments, and each call must return within three seconds of CPU time.
//! `bounds/table.sjson` lists what bounds the work of each function. A function that is missing
//! from the table fails the test, and so does an entry for a function that no longer exists.
//!
//! The game that calls them is `bounds/main.lua`. If a call does not return, the game runs again
//! for that function alone and names every call, and the message of the test contains the last one.
//!
//! `ENGINE_BOUNDS_ROUNDS=20 cargo test --test all bad_input::bounds` adds 20 rounds of calls with
//! random arguments; `ENGINE_BOUNDS_SEED` is their seed (default 1).

mod loading;

use crate::bad_input::Game;
use engine::foundation::sjson::{self, SjsonTree};
use engine::script::docgen::ApiModel;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const TABLE: &str = include_str!("bounds/table.sjson");
const FILES: [(&str, &str); 8] = [
    ("main.lua", include_str!("bounds/main.lua")),
    ("values.lua", include_str!("bounds/values.lua")),
    ("fixtures.lua", include_str!("bounds/fixtures.lua")),
    ("ordinary.lua", include_str!("bounds/ordinary.lua")),
    ("exceeding.lua", include_str!("bounds/exceeding.lua")),
    ("exceeding_views.lua", include_str!("bounds/exceeding_views.lua")),
    ("exceptions.lua", include_str!("bounds/exceptions.lua")),
    ("units/all.unit", include_str!("bounds/all.unit")),
];
/// Resources that calls work with, from the game of the Lua suites.
const RESOURCES: [&str; 45] = [
    "components/health.lua",
    "components/z_log.lua",
    "data/bytes.bin",
    "data/level.config",
    "data/menu.strings",
    "data/note.txt",
    "data/other.package",
    "data/set.package",
    "environments/noon.shading_environment",
    "global.physics_properties",
    "levels/shed.level",
    "levels/yard.level",
    "maps/cave.tmx",
    "maps/rock.png",
    "maps/world.ldtk",
    "materials/rust.material",
    "models/chest.gltf",
    "modules/worker_jobs.lua",
    "particles/fire.particles",
    "particles/puff.particles",
    "pictures/blink.sheet",
    "pictures/glow.material",
    "pictures/hero.png",
    "pictures/hero.sheet",
    "pictures/noise.png",
    "pictures/wave.material",
    "pictures/wave.wgsl",
    "sounds/engine.sound",
    "sounds/few.sound",
    "sounds/high.wav",
    "sounds/low.wav",
    "sounds/step.sound",
    "sounds/tone.wav",
    "textures/dot.tga",
    "textures/packed.ktx2",
    "textures/ship.tga",
    "units/barrel.unit",
    "units/cave.unit",
    "units/enemy.unit",
    "units/hero.unit",
    "units/physics/crate.unit",
    "units/physics/floor.unit",
    "units/physics/platform.unit",
    "units/physics/shapes.unit",
    "units/physics/walker.unit",
];
/// A level with a prism that fills a very small part of its bounding rectangle.
const THIN_LEVEL: &str = "volumes = { thin = { shape = \"prism\" height = 1 points = \
                          [[0, 0], [1000, 1000], [0, 0.000001]] } }";
/// Time without output after which a call counts as one that never returns.
const SILENCE_MAX: Duration = Duration::from_secs(90);
/// The kinds of bounds whose functions are in a plain list; the functions of the other kinds also
/// name a limit.
const PLAIN_BOUNDS: [&str; 3] = ["constant", "linear", "interruptible"];

/// Returns the bound of each function by its path: the kind of bound, or the names of its limits.
fn bounds() -> BTreeMap<String, String> {
    let tree = sjson::parse(TABLE).expect("the table is SJSON").to_tree();
    let SjsonTree::Object(modules) = tree else { panic!("the table has modules") };
    let mut bounds = BTreeMap::new();
    for (module, kinds) in &modules {
        let pads = (1..=8).map(|pad| format!("Pad{pad}"));
        let names = if module == "Pad1" { pads.collect() } else { vec![module.clone()] };
        let SjsonTree::Object(kinds) = kinds else { panic!("'{module}' must be a block") };
        for (kind, functions) in kinds {
            let listed: Vec<(&String, &str)> = match functions {
                SjsonTree::Array(items) if PLAIN_BOUNDS.contains(&kind.as_str()) => {
                    items.iter().map(|item| (expect_text(item), kind.as_str())).collect()
                }
                SjsonTree::Object(limits) if kind == "limited" => {
                    limits.iter().map(|(name, limit)| (name, expect_text(limit).as_str())).collect()
                }
                _ => panic!("'{kind}' of '{module}' is no kind of bound, or has another form"),
            };
            for (module, (name, bound)) in
                names.iter().flat_map(|module| listed.iter().map(move |one| (module, one)))
            {
                let point = if module.is_empty() || name.starts_with('(') { "" } else { "." };
                let path = format!("{module}{point}{name}");
                let before = bounds.insert(path.clone(), bound.to_string());
                assert_eq!(before, None, "'{path}' is in the table twice");
            }
        }
    }
    bounds
}

#[track_caller]
fn expect_text(tree: &SjsonTree) -> &String {
    let SjsonTree::String(expect_text) = tree else { panic!("{tree:?} must be text") };
    expect_text
}

/// Returns the arguments of each documented function: names and types. Two arguments represent any
/// number of them.
fn parameters() -> BTreeMap<String, Vec<(String, String)>> {
    let api = ApiModel::new();
    let mut all = BTreeMap::new();
    for function in api.functions() {
        let mut parameters = Vec::new();
        for param in &function.params {
            match param.name.as_str() {
                "..." => {
                    parameters.extend((1..=2).map(|i| (format!("rest_{i}"), param.kind.clone())));
                }
                name => parameters.push((name.to_string(), param.kind.clone())),
            }
        }
        all.insert(function.path(), parameters);
    }
    for module in api.modules.iter().filter(|module| !module.class.calls.is_empty()) {
        // All forms of the call, combined: an argument has the types that it has in any of them.
        let mut columns: Vec<(String, String)> = Vec::new();
        for call in &module.class.calls {
            let inside = call.split_once('(').and_then(|(_, rest)| rest.rsplit_once("):"));
            let inside = inside.map_or("", |(inside, _)| inside);
            for (i, one) in inside.split(',').filter(|one| !one.trim().is_empty()).enumerate() {
                let (name, kind) = one.split_once(':').expect("it has a type");
                let name = name.trim().trim_end_matches('?').to_string();
                match columns.get_mut(i) {
                    Some((_, known)) => *known = format!("{known}|{}", kind.trim()),
                    None => columns.push((name, kind.trim().to_string())),
                }
            }
        }
        all.insert(format!("{}()", module.name), columns);
    }
    all
}

/// Returns the module that lists the functions and their bounds for the walk.
fn functions_lua() -> String {
    let mut out = "return { bounds = {\n".to_string();
    for (path, bound) in bounds() {
        writeln!(out, "  [{path:?}] = {bound:?},").unwrap();
    }
    out += "}, params = {\n";
    for (path, parameters) in parameters() {
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(name, kind)| format!("{{ name = {name:?}, type = {kind:?} }}"))
            .collect();
        writeln!(out, "  [{path:?}] = {{ {} }},", parameters.join(", ")).unwrap();
    }
    out + "} }\n"
}

/// Returns a white image of 257 x 1 pixels.
fn wide_image() -> Vec<u8> {
    let head = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 24, 0];
    [&head[..], &[255; 257 * 3]].concat()
}

fn game() -> Game {
    let mut game = Game::new("bounds", "");
    for (path, expect_text) in FILES {
        game = game.with(path, expect_text);
    }
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua");
    for path in RESOURCES {
        game = game.with(path, std::fs::read(suites.join(path)).expect("the suites have it"));
    }
    game = game.with("levels/thin.level", THIN_LEVEL).with("textures/wide.tga", wide_image());
    let settings = "name = \"walk\"\nlimits = { update_seconds = 10 init_seconds = 30 }";
    game.with("settings.sjson", settings).with("functions.lua", functions_lua())
}

/// The output of a walk.
struct Walk {
    /// Lines of the walk itself, without the prefix `walk: `.
    lines: Vec<String>,
    /// Everything on standard error.
    errors: String,
    /// True if the walk was killed because it printed nothing for [`SILENCE_MAX`].
    silent: bool,
}

fn walk(game: &Game, arguments: &[&str]) -> Walk {
    // Without `--realtime`, the clock that measures calls is the game's own, which counts frames.
    let start = ["--headless", "--realtime", "--no-watch", "--"];
    let arguments = [&start[..], arguments].concat();
    let mut child = game.command(&arguments).spawn().expect("the engine starts");
    let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, incoming) = channel();
    let reader = std::thread::spawn(move || {
        // Calls may print bytes that are not text.
        for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if let Some(line) = line.strip_prefix("walk: ") {
                sender.send(line.to_string()).expect("the walk is listened to");
            }
        }
    });
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let (mut lines, mut silent) = (Vec::new(), false);
    loop {
        match incoming.recv_timeout(SILENCE_MAX) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                silent = true;
                child.kill().expect("it can be ended");
                break;
            }
        }
    }
    while let Ok(line) = incoming.recv() {
        lines.push(line);
    }
    reader.join().unwrap();
    child.wait().expect("it has ended");
    Walk { lines, errors: errors.join().unwrap(), silent }
}

fn lines_after<'a>(lines: &'a [String], start: &str) -> Vec<&'a str> {
    lines.iter().filter_map(|line| line.strip_prefix(start)).collect()
}

/// Fails with the call at which a walk ended, which a second walk of that function alone finds.
fn fail_at_last_call(game: &Game, walk: &Walk) -> ! {
    let how = if walk.silent { "never came back" } else { "ended the game" };
    let Some(name) = lines_after(&walk.lines, "next ").last().copied() else {
        panic!("the walk did not begin:\n{}", walk.errors);
    };
    let again = self::walk(game, &["only", name]);
    let call = lines_after(&again.lines, "call ").last().copied().unwrap_or(name);
    panic!(
        "a call of {name} {how}; alone, the last one was {call}\n{}",
        if again.errors.is_empty() { &walk.errors } else { &again.errors }
    );
}

#[test]
fn every_function_returns_from_extreme_arguments() {
    let game = game();
    let rounds = std::env::var("ENGINE_BOUNDS_ROUNDS").ok();
    let seed = std::env::var("ENGINE_BOUNDS_SEED").unwrap_or("1".to_string());
    let random_arguments = rounds.as_ref().map(|rounds| ["random", seed.as_str(), rounds.as_str()]);
    let plain: &[&str] = &[];
    for arguments in std::iter::once(plain)
        .chain(random_arguments.as_ref().map(|random_arguments| &random_arguments[..]))
    {
        let walk = walk(&game, arguments);
        let wrong = |start: &str, remedy: &str| {
            let found = lines_after(&walk.lines, start);
            assert!(found.is_empty(), "{remedy}:\n{}", found.join("\n"));
        };
        let table = "tests/bad_input/bounds/table.sjson";
        wrong("missing ", &format!("say in {table} what bounds the work of these"));
        wrong("gone ", &format!("take out of {table} what no game can reach any more"));
        wrong("unknown ", "say in tests/bad_input/bounds/ordinary.lua what these take");
        wrong("slow ", "bound the work of these by a named limit, or do it in Lua");
        wrong("unnamed ", "let tests/bad_input/bounds/exceeding.lua go beyond the limits of these");
        let done = lines_after(&walk.lines, "done ");
        if done.is_empty() {
            fail_at_last_call(&game, &walk);
        }
        assert!(!walk.silent, "the game did not end after the walk");
    }
}

#[test]
fn table_limits_match_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("lua")];
    let mut declared = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if is_test_code(root, &path) {
                continue;
            }
            match path.extension().and_then(|end| end.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("rs" | "lua") => {
                    let code = std::fs::read_to_string(path).unwrap();
                    collect_limits(&code, &mut declared);
                }
                _ => {}
            }
        }
    }
    for (path, limit) in bounds() {
        let known = PLAIN_BOUNDS.contains(&limit.as_str())
            || limit.split(' ').all(|limit| declared.contains(limit));
        assert!(known, "'{path}' is limited by {limit}, which is nowhere declared");
    }
}

/// Returns true if a file or folder contains tests of the engine, or the test library for games'
/// suites.
fn is_test_code(root: &Path, path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == "tests" || stem.ends_with("_tests") || path == root.join("lua/test")
}

/// Collects the limits that code declares before its tests: constants of Rust and locals of Lua at
/// the beginning of a line, with names that end in `_MAX`.
fn collect_limits(code: &str, declared: &mut BTreeSet<String>) {
    let tests = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    for line in code[..tests].lines() {
        let mut parts = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        let names = match parts.next() {
            Some("const") => parts.next().map(|name| name.trim_end_matches(':').to_string()),
            Some("local") => line.split_once("local ").and_then(|(_, rest)| {
                rest.split_once('=').map(|(names, _)| names.trim().to_string())
            }),
            _ => None,
        };
        let is_limit = |name: &str| {
            let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            name.ends_with("_MAX") && name.chars().all(letters)
        };
        let names = names.unwrap_or_default();
        let names = names.split(',').map(str::trim).filter(|name| is_limit(name));
        declared.extend(names.map(str::to_string));
    }
}

#[test]
fn limits_in_test_code_are_not_collected() {
    let code = "const A_MAX: usize = 1;\npub(super) const B_MAX: u8 = 2;\nconst OTHER: u8 = 1;\n\
                local C_MAX, D_MAX = 1, 2\n-- local E_MAX = 1\nlocal small_MAX = 3\n\
                let words = \"const F_MAX: u8\";\n#[cfg(test)]\nmod tests {\n    const G_MAX: u8 = 1;";
    let mut declared = BTreeSet::new();
    collect_limits(code, &mut declared);
    let declared: Vec<_> = declared.iter().map(String::as_str).collect();
    assert_eq!(declared, ["A_MAX", "B_MAX", "C_MAX", "D_MAX"]);
    let root = Path::new("/engine");
    for path in ["src/tests", "src/a/tests.rs", "src/a_tests.rs", "lua/test"] {
        assert!(is_test_code(root, &root.join(path)), "{path}");
    }
    assert!(!is_test_code(root, &root.join("src/command/test.rs")));
}

/// Refused calls, and their messages.
#[test]
#[allow(clippy::too_many_lines, reason = "rows of a table")]
fn unbounded_work_is_refused_with_a_message() {
    let sharing = "local t = { 1 } for i = 1, 40 do t = { t, t } end";
    let world = "local world = Application.new_world() \
                 local unit = World.spawn_unit(world, \"core/units/empty\")";
    let rows = [
        (
            "table.insert({}, 2 ^ 31, 1)".to_string(),
            "table.insert: position 2147483648 is more than 2,147,483,647 (POSITION_MAX): set a \
             field instead, t[key] = value",
        ),
        (
            "table.insert({}, \"1e300\", 1)".to_string(),
            "table.insert: position 1e+300 is more than 2,147,483,647 (POSITION_MAX)",
        ),
        (
            "table.insert({ 1 }, -2 ^ 31 - 1, 1)".to_string(),
            "table.insert: position -2147483649 is not in a table of 1 items",
        ),
        (
            "table.move({}, 2 ^ 53, 2 ^ 53, 1)".to_string(),
            "table.move: arguments #2 'first' and #3 'last' must be below 2^53, got \
             9.007199254741e+15 and 9.007199254741e+15",
        ),
        (
            "table.move({}, -math.huge, -math.huge, 1)".to_string(),
            "table.move: arguments #2 'first' and #3 'last' must be below 2^53, got -inf and -inf",
        ),
        (
            format!("{sharing} Json.encode(t)"),
            "Json.encode: there are more than 4194304 values (VALUES_MAX; a table that is reached \
             twice counts twice): write them in parts",
        ),
        (
            format!("{sharing} Application.set_user_setting(\"a\", t)"),
            "Application.set_user_setting: tables are nested more than 16 deep",
        ),
        (
            "local t = {} for i = 1, 300 do t[i] = i end \
             local u = {} for i = 1, 300 do u[i] = t end Application.set_user_setting(\"a\", u)"
                .to_string(),
            "Application.set_user_setting: there are more than 65536 values (SETTING_VALUES_MAX; a \
             table that is reached twice counts twice): keep large data in a save",
        ),
        (
            format!("{world} local t = {{}} t.t = t Unit.create_actor(unit, \"a\", t)"),
            "Unit.create_actor: argument #3 'fields' is nested more than 16 deep (or in a circle)",
        ),
        (
            format!(
                "{world} local t = {{ 1, 2, 3, 4, 5, 6, 7, 8 }} for i = 1, 8 do \
                 t = {{ t, t, t, t, t, t, t, t }} end Unit.create_actor(unit, \"a\", t)"
            ),
            "Unit.create_actor: argument #3 'fields' has more than 2097152 values \
             (FIELD_VALUES_MAX; a table that is reached twice counts twice)",
        ),
        (
            "Utf8.clean((\"\\255\"):rep(2 ^ 18), (\"x\"):rep(2 ^ 10))".to_string(),
            "table.concat: the result would have ",
        ),
    ];
    let mut main = "local function try(f) print((select(2, pcall(f)))) end\n".to_string();
    for (code, _) in &rows {
        writeln!(main, "try(function() {code} end)").unwrap();
    }
    // The search takes linear time, however often large parts of the needle are found.
    main += "local s = (\"a\"):rep(2 ^ 21)\n\
             print(Utf8.find(s .. \"b\", s:sub(1, 2 ^ 20) .. \"b\"))\n";
    let game = Game::new("bounds_words", &main);
    let result = game.with("settings.sjson", "limits = { init_seconds = 60 }").play(&[]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let lines: Vec<&str> = result.out.lines().collect();
    assert_eq!(lines.len(), rows.len() + 1, "{}", result.out);
    for (i, ((code, message), line)) in rows.iter().zip(&lines).enumerate() {
        let expected = format!("main.lua:{}: {message}", i + 2);
        assert!(line.starts_with(&expected), "{code}: {line}");
    }
    assert_eq!(lines[rows.len()], "1048577\t2097153");
}
