//! Attacks on the broker by the confined process that it serves: requests that no engine sends, and
//! its end. Only a process with one thread can have a broker, so each attack runs in a forked copy
//! of the test's process, which has one.

use super::{confine, is_available, scratch};
use engine::platform::broker::{self, BrokerDuties};
use engine_test_support::test_path;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable with the folder in which the child process attacks.
const FOLDER: &str = "ENGINE_TEST_BROKER";
/// Environment variable with the name of the attack.
const ATTACK: &str = "ENGINE_TEST_BROKER_ATTACK";

/// Returns the process id of a process's broker.
fn broker_of(process: u32) -> Option<u32> {
    fs::read_dir("/proc").expect("it is there").flatten().find_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read_to_string(entry.path().join("stat")).ok()?;
        line.contains(&format!("(engine-broker) S {process} ")).then_some(number)
    })
}

#[track_caller]
fn wait_for<T>(message: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{message}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs an attack in a child process with a broker, and returns its output. `meanwhile` receives
/// the process id once the child has printed "ready".
fn attack(folder: &Path, name: &str, meanwhile: impl FnOnce(u32)) -> String {
    let mut attacking_process = Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", &test_path(module_path!(), "attacking_process"), "--nocapture"])
        .env(FOLDER, folder)
        .env(ATTACK, name)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("it starts");
    let mut output = String::new();
    let mut out = attacking_process.stdout.take().expect("it is piped");
    let mut bytes = [0; 4096];
    while !output.contains("ready ") || !output.ends_with('\n') {
        let count = out.read(&mut bytes).expect("it can be read");
        assert!(count > 0, "it ended early: {output}");
        output += &String::from_utf8_lossy(&bytes[..count]);
    }
    let number = output.split("ready ").nth(1).and_then(|text| text.lines().next());
    meanwhile(number.and_then(|number| number.parse().ok()).expect("a number"));
    // Processes left by the attack keep the pipe open, so the attack prints when it is done.
    while !output.contains("done\n") {
        match out.read(&mut bytes).expect("it can be read") {
            0 => break,
            count => output += &String::from_utf8_lossy(&bytes[..count]),
        }
    }
    attacking_process.wait().expect("it ends");
    output
}

fn print_raw(text: &str) {
    // SAFETY: the bytes are valid for the call. `println!` is not used, because a thread that this
    // forked copy lacks may hold the lock of standard output.
    unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
}

/// The child process: a forked copy of it with one thread attacks.
#[test]
fn attacking_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let name = std::env::var(ATTACK).expect("both are set");
    // SAFETY: the copy has only this thread, and never returns from here; no other thread of the
    // process does anything.
    unsafe {
        match libc::fork() {
            0 => {
                let ended = std::panic::catch_unwind(|| run_attack(&folder, &name));
                libc::_exit(i32::from(ended.is_err()));
            }
            copy => libc::waitpid(copy, std::ptr::null_mut(), 0),
        };
    }
}

fn run_attack(folder: &Path, name: &str) {
    let outputs = vec![folder.join("outside/a.png")];
    let duties = BrokerDuties { outputs, drops: true, ..BrokerDuties::default() };
    broker::start(duties).expect("there is one thread");
    let ready = || print_raw(&format!("ready {}\n", std::process::id()));
    match name {
        "requests" => {
            confine(folder);
            ready();
            send_hostile_requests(folder);
            broker::end();
        }
        "end" => {
            // A copy of the game's process keeps the connection open.
            let holder = fork_idle();
            ready();
            let began = Instant::now();
            broker::end();
            print_raw(&format!("ended in {} ms\n", began.elapsed().as_millis()));
            // SAFETY: kills a process that this one has started.
            unsafe { libc::kill(holder, libc::SIGKILL) };
        }
        _ => {
            let holder = fork_idle();
            let begun = broker::replace(&folder.join("outside/a.png")).expect("it is a duty");
            let mut begun = begun.expect("it begins");
            begun.file.write_all(b"half").expect("it can be written");
            print_raw(&format!("holder {holder}\n"));
            ready();
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }
    print_raw("done\n");
}

/// Forks a copy of this process that does nothing, for a minute at most.
fn fork_idle() -> libc::pid_t {
    // SAFETY: the copy only sleeps, and ends.
    unsafe {
        match libc::fork() {
            0 => {
                libc::close(1);
                libc::sleep(60);
                libc::_exit(0)
            }
            copy => copy,
        }
    }
}

/// Sends the requests of a compromised process.
fn send_hostile_requests(folder: &Path) {
    let ask = |name: &str| {
        let began = Instant::now();
        let answer = broker::open_dropped(&folder.join(name)).expect("there is a broker");
        let answer = answer.map_or_else(|reason| reason.to_string(), |_| "opened".to_string());
        print_raw(&format!("{name}: {answer} ({} ms)\n", began.elapsed().as_millis()));
    };
    let direct = fs::read(folder.join("outside/secret.txt")).map_err(|reason| reason.kind());
    print_raw(&format!("directly: {direct:?}\n"));
    for name in [
        "outside/secret.txt",
        "outside/missing.txt",
        "outside/.hidden/key",
        "outside/.hidden/missing",
        "outside/link.txt",
        "outside/folder",
        "cache/engine/dropped.log",
    ] {
        ask(name);
    }
    // The log of these requests is not accessible to the process.
    let log = folder.join("cache/engine/dropped.log");
    print_raw(&format!("log: {:?}\n", fs::write(&log, "").map_err(|reason| reason.kind())));
    // Uses the connection directly, without the engine's client code.
    let socket = fs::read_dir("/proc/self/fd").expect("its own").flatten().find_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?;
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        (number > 2 && link.to_string_lossy().starts_with("socket:")).then_some(number)
    });
    let socket = socket.expect("it has the connection");
    for bytes in [&b"x"[..], b"r", b"r/etc/shadow\0", b"b", b"b\x07", b"f\x00", b"e/etc/x", b"n"] {
        let mut answer = [0u8; 256];
        // SAFETY: both buffers are valid, and their lengths are passed.
        let count = unsafe {
            libc::send(socket, bytes.as_ptr().cast(), bytes.len(), 0);
            libc::recv(socket, answer.as_mut_ptr().cast(), answer.len(), 0)
        };
        let refused = count > 0 && answer[0] != 0;
        print_raw(&format!("raw {}: {refused}\n", bytes.escape_ascii()));
    }
}

#[test]
fn broker_reveals_no_hidden_files_to_compromised_process() {
    if !is_available() {
        return;
    }
    let folder = scratch("broker");
    fs::create_dir_all(folder.join("outside/.hidden")).expect("it can be made");
    fs::write(folder.join("outside/.hidden/key"), "a key").expect("it can be written");
    std::os::unix::fs::symlink(".hidden/key", folder.join("outside/link.txt")).expect("a link");
    let output = attack(&folder, "requests", |_| ());
    assert!(output.contains("directly: Err(PermissionDenied)"), "{output}");
    let answer = |name: &str| {
        let begin = format!("{name}: ");
        let line = output.lines().find_map(|line| line.strip_prefix(&begin));
        line.expect("it was asked").split(" (").next().expect("some text").to_string()
    };
    assert_eq!(answer("outside/secret.txt"), "opened");
    let refused = answer("outside/missing.txt");
    assert!(
        refused.starts_with("it does not exist, or is not a file that a confined game may read")
    );
    for name in ["outside/.hidden/key", "outside/.hidden/missing", "outside/link.txt"] {
        assert_eq!(answer(name), refused, "{name}");
    }
    assert_eq!(answer("outside/folder"), refused);
    assert!(output.contains("log: Err(PermissionDenied)"), "{output}");
    for raw in ["x", "r", "r/etc/shadow\\x00", "b", "b\\x07", "f\\x00", "e/etc/x"] {
        assert!(output.contains(&format!("raw {raw}: true\n")), "{raw}: {output}");
    }
    let log = fs::read_to_string(folder.join("cache/engine/dropped.log")).expect("it is there");
    assert_eq!(log.lines().filter(|line| line.contains(" read ")).count(), 2, "{log}");
    for name in ["outside/.hidden/key", "outside/missing.txt"] {
        let line = format!(" refused {:?}\n", folder.join(name));
        assert!(log.contains(&line), "{line}{log}");
    }
}

#[test]
fn forked_process_does_not_keep_the_broker_alive() {
    let folder = scratch("broker_end");
    let output = attack(&folder, "end", |_| ());
    let time = output.split("ended in ").nth(1).and_then(|text| text.split(' ').next());
    let time: u64 = time.and_then(|text| text.parse().ok()).expect(&output);
    assert!(time < 1900, "it ended by itself: {time} ms");
    let mut broker = None;
    let output = attack(&folder, "kill", |process| {
        broker = Some(wait_for("no broker", || broker_of(process)));
        let half = || fs::read_dir(folder.join("outside")).expect("it is there").count();
        assert_eq!(half(), 3, "the half-written file lies there");
        // SAFETY: kills a process of this test.
        unsafe { libc::kill(process as libc::pid_t, libc::SIGKILL) };
        wait_for("the half-written file stayed", || (half() == 2).then_some(()));
    });
    let broker = broker.expect("there was one");
    let has_ended = || (!Path::new(&format!("/proc/{broker}")).exists()).then_some(());
    wait_for("the broker stayed", has_ended);
    let holder = output.split("holder ").nth(1).and_then(|text| text.lines().next());
    let holder: i32 = holder.and_then(|text| text.parse().ok()).expect(&output);
    assert!(Path::new(&format!("/proc/{holder}")).exists(), "the copy kept the connection");
    // SAFETY: kills a process of this test.
    unsafe { libc::kill(holder, libc::SIGKILL) };
}
