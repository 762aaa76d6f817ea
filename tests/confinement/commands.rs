//! Tests that each command that plays or compiles is confined. The process is inspected from
//! outside while its output blocks on a full pipe, so that it cannot end before the inspection.

use super::{is_available, scratch};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Returns both ends of a full pipe.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("the system has pipes");
    let set = |flags: libc::c_int| {
        // SAFETY: sets flags of an open file.
        unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) }
    };
    set(libc::O_NONBLOCK);
    for bytes in [&[0u8; 4096][..], &[0]] {
        while (&writer).write(bytes).is_ok() {}
    }
    set(0);
    writer.flush().expect("nothing is kept back");
    (reader, writer)
}

/// A command with blocked output.
struct BlockedCommand {
    process: Child,
    _pipe: std::io::PipeReader,
}

impl BlockedCommand {
    fn start(folder: &Path, arguments: &[&str]) -> BlockedCommand {
        let (reader, writer) = full_pipe();
        let error = writer.try_clone().expect("it can be opened twice");
        let process = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(arguments)
            .current_dir(folder)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", folder.join("saves"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env_remove("ENGINE_UNCONFINED")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(error)
            .spawn()
            .expect("the engine starts");
        BlockedCommand { process, _pipe: reader }
    }

    /// Returns true if the filter of system calls is installed before the process blocks. No filter
    /// is installed after that.
    fn is_confined(&mut self) -> bool {
        let folder = format!("/proc/{}", self.process.id());
        let began = Instant::now();
        loop {
            let status = fs::read_to_string(format!("{folder}/status")).expect("it is there");
            if status.contains("\nSeccomp:\t2\n") {
                return true;
            }
            // The process waits for the pipe, or has ended without output.
            let call = fs::read_to_string(format!("{folder}/syscall")).unwrap_or_default();
            let writes = [libc::SYS_write, libc::SYS_writev];
            if writes.iter().any(|number| call.starts_with(&format!("{number} "))) {
                let status = fs::read_to_string(format!("{folder}/status")).expect("the same");
                return status.contains("\nSeccomp:\t2\n");
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it neither ends nor waits");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for BlockedCommand {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The confined commands that end by themselves.
const COMMANDS: &[&[&str]] = &[
    &["run", "game", "--headless", "--frames", "2"],
    &["run", "game", "--headless", "--realtime", "--frames", "2"],
    &["check", "game"],
    &["explain", "game", "textures/missing"],
    &["compile", "game", "--out", "out"],
    &["compile", "game", "--bundle", "--out", "a.bundle"],
    &["console", "game"],
    &["font", "game/a.fnt", "b.fnt"],
    &["test", "game", "--jobs", "1"],
    &["test", "game", "--jobs", "2"],
];

/// Writes a game for the commands.
fn write_game(folder: &Path) {
    // Its output blocks it on the full pipe.
    fs::write(folder.join("game/main.lua"), "print('hello')").expect("it can be written");
    for name in ["a", "b"] {
        let suite = format!("it('{name}', function() end)");
        fs::write(folder.join(format!("game/{name}_test.lua")), suite).expect("the same");
    }
    let font = "info face=a size=8\ncommon lineHeight=8 base=6 scaleW=8 scaleH=8 pages=1\n";
    fs::write(folder.join("game/a.fnt"), font).expect("the same");
}

#[test]
fn commands_are_confined_unless_disabled_by_user() {
    if !is_available() {
        return;
    }
    let folder = scratch("commands");
    write_game(&folder);
    for command in COMMANDS {
        assert!(BlockedCommand::start(&folder, command).is_confined(), "{command:?}");
        let unconfined = [*command, &["--unconfined"]].concat();
        assert!(!BlockedCommand::start(&folder, &unconfined).is_confined(), "{unconfined:?}");
    }
}

/// Hides Landlock from this process and those that it starts.
fn hide_landlock() -> std::io::Result<()> {
    let one = |code: u32, yes: u8, no: u8, value: u32| libc::sock_filter {
        code: code as u16,
        jt: yes,
        jf: no,
        k: value,
    };
    let mut filter = [
        one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        one(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_landlock_create_ruleset as u32,
        ),
        one(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        one(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: sets a flag of the process; then the kernel copies the program, which is valid.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn missing_landlock_is_warned_about_once() {
    let folder = scratch("warnings");
    write_game(&folder);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
        command.args(arguments).current_dir(&folder).stdin(Stdio::null());
        command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", folder.join("saves"));
        command.env("XDG_CACHE_HOME", folder.join("cache")).env_remove("ENGINE_UNCONFINED");
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        // SAFETY: only system calls run between the fork of the process and its program.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, hide_landlock) };
        let ended = command.output().expect("the engine starts");
        let output = [ended.stdout, ended.stderr].concat();
        String::from_utf8_lossy(&output).into_owned()
    };
    for command in COMMANDS {
        let warning = "warning: confinement: files are not limited: the kernel has no Landlock";
        let output = run(command);
        assert_eq!(output.matches(warning).count(), 1, "{command:?}: {output}");
        let output = run(&[*command, &["--unconfined"]].concat());
        assert!(!output.contains("confinement"), "{command:?}: {output}");
    }
}

#[test]
fn run_without_broker_for_its_outputs_does_not_start() {
    if !is_available() {
        return;
    }
    let folder = scratch("no_broker");
    fs::write(folder.join("game/main.lua"), "print('played')").expect("it can be written");
    let run = |arguments: &str| {
        // Two files can be open in addition to the usual three: the broker's connection takes both,
        // and listing the process's threads needs another one.
        let engine = env!("CARGO_BIN_EXE_engine");
        let closed: String = (3..10).map(|number| format!("exec {number}<&-; ")).collect();
        let line = format!("{closed}ulimit -n 5; exec '{engine}' run game --headless {arguments}");
        let ended = Command::new("sh")
            .args(["-c", &line])
            .current_dir(&folder)
            .env("ENGINE_QUIET", "1")
            .env("ENGINE_SAVE_DIR", folder.join("saves"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env_remove("ENGINE_UNCONFINED")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .output()
            .expect("it starts");
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let (code, output) = run("--frames 1 --record outside/a.recording");
    assert_eq!(code, Some(1), "{output}");
    let warning = "warning: confinement: there is no broker (";
    assert_eq!(output.matches(warning).count(), 1, "{output}");
    assert!(output.contains("no file that the command line names is replaced"), "{output}");
    assert!(
        output.contains("the files that the command line names cannot be written, "),
        "{output}"
    );
    assert!(!folder.join("outside/a.recording").exists());
}
