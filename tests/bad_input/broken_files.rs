//! Tests of a game's broken files: each affects only itself, if it exists at the start of the game
//! or is saved while the game is played.

use crate::bad_input::{Game, check_in_order};
use crate::game_folder::save;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Returns a WAV of two samples with this sample rate.
fn wav(rate: u32) -> Vec<u8> {
    let mut bytes = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    bytes.extend(rate.to_le_bytes());
    bytes.extend(rate.wrapping_mul(2).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data\x04\0\0\0\x01\0\x02\0");
    bytes
}

/// Returns a shader with this statement in its `paint`.
fn shader(statement: &str) -> String {
    format!("fn paint(in: Paint) -> vec4f {{ {statement} return in.base; }}")
}

/// Returns files that must not crash their compilers: path, content, expected message.
fn broken_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let plus = shader(&format!("let x = in.uv.x{};", " + in.uv.x".repeat(5000)));
    let members = shader(&format!("let x = in.uv{};", ".xy".repeat(50_000)));
    let elses = shader(&format!("if true {{}} {}", "else if true {}".repeat(5000)));
    let arrays = shader("var a: array<f32, 4000000000>;");
    vec![
        ("rate.wav", wav(0), "rate.wav: its sample rate is 0 Hz, and must be 1000 to 384000"),
        (
            "plus.wgsl",
            plus.into_bytes(),
            "plus.wgsl:1:2018: the expression is more than 200 levels",
        ),
        ("xy.wgsl", members.into_bytes(), "xy.wgsl:1:639: the expression is more than 200 levels"),
        ("elses.wgsl", elses.into_bytes(), "more than 100 blocks are inside each other"),
        ("arrays.wgsl", arrays.into_bytes(), "arrays.wgsl:1:50: the length of an array must be a"),
        (
            "zeros.wgsl",
            format!("const A = !array<bool, 2147483647>();\n{}", shader("")).into_bytes(),
            "zeros.wgsl:1:24: the length of an array must be a number of at most 65536",
        ),
    ]
}

/// Returns small shaders with huge constants.
#[cfg(target_os = "linux")]
fn memory_hungry_shaders() -> Vec<String> {
    let zeros = "const Z = array<bool, 65536>();";
    let table = format!("const T = array({});", "1, 2.5, ".repeat(8000));
    let doubles = |declare: &str| {
        let line = |n| format!("{declare} a{n} = array(a{}, a{}); ", n - 1, n - 1);
        format!("{declare} a0 = array(1, 2); {}", (1..31).map(line).collect::<String>())
    };
    vec![
        "const A = !array<bool, 2147483647>();".to_string(),
        "const A = array<bool,2147483647>() == array<bool,2147483647>();".to_string(),
        "const A = -array<f32, 536870911>();".to_string(),
        "alias A = array<f32, 0x1fffffff>; const B = -A();".to_string(),
        "const A = -array<array<f32, 65536>, 65536>();".to_string(),
        "struct S { a: array<f32, 500000000> } const A = S() == S();".to_string(),
        "const N = 1000000000; const A = !array<bool, N>();".to_string(),
        format!("{zeros} const A = array({}) == 1;", "Z, ".repeat(400)),
        format!("fn f() {{ {} let b = a30[0]; }}", doubles("const")),
        format!("fn f() {{ {} let b = a30[0]; }}", doubles("let")),
        // These are within the limits, or nearly so.
        format!("{zeros} const A = array({}) == 1;", "Z, ".repeat(14)),
        format!("{zeros} fn f() {{ {} }}", "let a = Z == Z; ".repeat(7)),
        format!("{table} fn f() {{ {} }}", "let a = T[1]; ".repeat(60)),
        format!("{table} {}", "const A = array<f32, 16000>(T); ".repeat(30)),
        (0..14).fold(String::new(), |text, n| format!("{text} const A{n} = -array<f32, 65536>();")),
    ]
}

#[cfg(target_os = "linux")]
#[test]
fn shader_validation_uses_little_memory() {
    let mut game = Game::new("greedy_shaders", "function init() print(\"ready\") end");
    for (index, text) in memory_hungry_shaders().into_iter().enumerate() {
        game = game.with(&format!("greedy{index}.wgsl"), format!("{text}\n{}", shader("")));
    }
    let mut command = game.command(&["--headless", "--realtime"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // Peak resident memory of the process.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line, "ready\n");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    // At most two are checked at a time on two cores, in addition to the engine's own memory.
    assert!(most < 512 << 10, "{most} KiB");
}

#[test]
fn broken_files_at_startup_affect_only_themselves() {
    let mut game = Game::new("broken_files", "function init() print(\"alive\") end");
    for (path, content, _) in broken_files() {
        game = game.with(path, content);
    }
    let result = game.play(&[]);
    // The game plays, and the run reports in the end that files could not be compiled.
    assert_eq!((result.code, result.out.trim()), (Some(1), "alive"), "{}", result.err);
    for (_, _, message) in broken_files() {
        check_in_order(&result.err, &[message]);
    }
    for (command, expected) in [("check", Some(1)), ("compile", Some(1))] {
        let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_engine"));
        tool.arg(command)
            .arg(&game.folder)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", &game.saves);
        if command == "compile" {
            tool.arg("--out").arg(game.folder.with_file_name("out"));
        }
        let result = crate::bad_input::run_result(tool.stdin(Stdio::null()).output().unwrap());
        assert_eq!(result.code, expected, "{command}: {}{}", result.out, result.err);
    }
}

#[test]
fn broken_files_saved_at_runtime_affect_only_themselves() {
    let main = "function init() print(\"ready\") end\n\
                function on_reload(names)\n  print(table.concat(names, \" \"))\n\
                if names[1] == \"last.text\" then Application.quit() end\nend";
    let game = Game::new("saved_broken", main);
    let mut command = game.command(&["--headless", "--realtime"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (lines, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    let errors = Arc::new(Mutex::new(String::new()));
    let collected = errors.clone();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(err).lines().map_while(Result::ok) {
            *collected.lock().unwrap() += &format!("{line}\n");
        }
    });
    let timeout = Duration::from_secs(60);
    assert_eq!(received.recv_timeout(timeout).unwrap(), "ready");
    for (index, (path, content, _)) in broken_files().into_iter().enumerate() {
        save(&game.folder.join(path), content);
        // Watching continues: a valid file is reloaded after each broken one.
        save(&game.folder.join(format!("right{index}.txt")), "right");
        let began = Instant::now();
        let expected = format!("right{index}.text");
        while !received.recv_timeout(timeout).unwrap().contains(&expected) {
            assert!(began.elapsed() < timeout, "{path}: nothing is reloaded any more");
        }
    }
    // Problems are reported when no more changes follow for a moment.
    let began = Instant::now();
    for (_, _, message) in broken_files() {
        while !errors.lock().unwrap().contains(message) {
            let so_far = errors.lock().unwrap().clone();
            assert!(began.elapsed() < timeout, "'{message}' is not in:\n{so_far}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    save(&game.folder.join("last.txt"), "last");
    let code = child.wait().unwrap().code();
    reader.join().unwrap();
    assert_eq!(code, Some(1), "{}", errors.lock().unwrap());
}
