//! A process that confines itself and then attacks with system calls, without any Lua.

use super::{confine, folder_content, is_available, scratch, system_calls};
use engine_test_support::test_path;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{Error, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environment variable with the folder in which the child process attacks.
const FOLDER: &str = "ENGINE_TEST_ATTACKS";

/// Returns the result of an attempt: 0, or the error number.
fn error_code<T>(outcome: Result<T, Error>) -> i32 {
    outcome.map_or_else(|reason| reason.raw_os_error().unwrap_or(-1), |_| 0)
}

/// An invalid address.
pub const INVALID_ADDRESS: usize = 1;

/// Makes a system call with numbers and addresses. Missing arguments are 0.
pub fn system_call(number: libc::c_long, arguments: &[usize]) -> i32 {
    let [a, b, c, d, e, f] =
        std::array::from_fn(|nth| arguments.get(nth).copied().unwrap_or_default());
    // SAFETY: none of these calls writes to any address except those that are passed.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        0.. => 0,
        _ => Error::last_os_error().raw_os_error().unwrap_or(-1),
    }
}

/// Returns the abstract socket address at which the parent test listens.
fn socket_of(folder: &Path) -> SocketAddr {
    SocketAddr::from_abstract_name(folder.as_os_str().as_bytes()).expect("it is short enough")
}

/// Returns attempts at operations that Landlock does not limit: permissions, owners, times and
/// attributes.
fn attribute_attempts(folder: &Path) -> Vec<(&'static str, i32, i32)> {
    let refused = libc::EPERM;
    let (secret, own) = (folder.join("outside/secret.txt"), folder.join("saves/own.txt"));
    let text = |path: &Path| std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no 0");
    let (name, own_name) = (text(&secret), text(&own));
    let (at, own_at) = (name.as_ptr() as usize, own_name.as_ptr() as usize);
    let here = libc::AT_FDCWD as usize;
    let attribute = c"user.engine".as_ptr() as usize;
    let open = || File::options().append(true).open(&own);
    let times = FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    vec![
        (
            "chmod a secret",
            refused,
            error_code(fs::set_permissions(&secret, Permissions::from_mode(0o0))),
        ),
        (
            "chmod a save",
            refused,
            error_code(fs::set_permissions(&own, Permissions::from_mode(0o777))),
        ),
        (
            "chown a secret",
            refused,
            error_code(std::os::unix::fs::chown(&secret, Some(1), Some(1))),
        ),
        ("change the times of a secret", refused, system_call(libc::SYS_utimensat, &[here, at])),
        ("set an attribute of a secret", refused, {
            system_call(libc::SYS_setxattr, &[at, attribute, attribute, 1])
        }),
        ("remove an attribute", refused, system_call(libc::SYS_removexattr, &[at, attribute])),
        ("cut a secret off", refused, system_call(libc::SYS_truncate, &[at, 0])),
        ("cut a save off by its path", refused, system_call(libc::SYS_truncate, &[own_at, 0])),
        // Operations that saves, sound and copies of files need.
        ("chmod an open save", 0, {
            error_code(open().and_then(|file| file.set_permissions(Permissions::from_mode(0o640))))
        }),
        (
            "set the times of an open save",
            0,
            error_code(open().and_then(|file| file.set_times(times))),
        ),
        ("cut an open save off", 0, error_code(open().and_then(|file| file.set_len(1)))),
        ("copy a save", 0, error_code(fs::copy(&own, folder.join("saves/copy.txt")))),
    ]
}

/// Returns attempts at objects that sound and graphics libraries share between programs.
fn shared_object_attempts(folder: &Path) -> Vec<(&'static str, i32, i32)> {
    let denied = libc::EACCES;
    let (runtime, caches) = (folder.join("runtime"), folder.join("cache/engine/drivers"));
    let sound = runtime.join("pulse");
    vec![
        ("list the folder of PulseAudio", 0, error_code(fs::read_dir(&sound))),
        ("open the folder of PulseAudio", 0, error_code(File::open(&sound))),
        ("make it again", libc::EEXIST, error_code(fs::create_dir(&sound))),
        ("read in it", denied, error_code(fs::read(sound.join("pid")))),
        ("write in it", denied, error_code(fs::write(sound.join("new"), ""))),
        ("list the folder above it", denied, error_code(fs::read_dir(&runtime))),
        ("keep a shader", 0, error_code(fs::write(caches.join(".no_game/new"), ""))),
        ("list the shaders of all games", denied, error_code(fs::read_dir(&caches))),
        (
            "read a shader of another game",
            denied,
            error_code(fs::read(caches.join("other/shader"))),
        ),
        ("replace it", denied, error_code(fs::write(caches.join("other/shader"), ""))),
        ("connect to a name without a path", libc::EPERM, {
            error_code(UnixStream::connect_addr(&socket_of(folder)))
        }),
    ]
}

/// Returns attempts at files, each with its expected error number; 0 if it must succeed.
fn file_attempts(folder: &Path) -> Vec<(&'static str, i32, i32)> {
    let (game, saves, outside) =
        (folder.join("game"), folder.join("saves"), folder.join("outside"));
    let secret = outside.join("secret.txt");
    let append = |path: PathBuf| error_code(File::options().append(true).open(path));
    let name = std::ffi::CString::new(saves.join("pipe").to_str().expect("UTF-8")).expect("no 0");
    let denied = libc::EACCES;
    // A path to the file that no rule lists.
    let around = PathBuf::from(format!("/proc/self/root{}", secret.display()));
    vec![
        ("read", denied, error_code(fs::read(&secret))),
        ("read through a link", denied, error_code(fs::read(game.join("link.txt")))),
        ("read through /proc", denied, error_code(fs::read(around))),
        ("read by going up", denied, error_code(fs::read(game.join("../outside/secret.txt")))),
        ("list", denied, error_code(fs::read_dir(&outside))),
        ("list home", denied, error_code(fs::read_dir(folder.ancestors().nth(3).expect("deep")))),
        ("add", denied, append(secret.clone())),
        ("truncate", denied, error_code(File::create(&secret))),
        ("create", denied, error_code(File::create(outside.join("new.txt")))),
        ("make a folder", denied, error_code(fs::create_dir(outside.join("new")))),
        ("remove", denied, error_code(fs::remove_file(&secret))),
        ("remove a folder", denied, error_code(fs::remove_dir(outside.join("folder")))),
        (
            "move out",
            denied,
            error_code(fs::rename(saves.join("own.txt"), outside.join("own.txt"))),
        ),
        ("move in", denied, error_code(fs::rename(&secret, saves.join("secret.txt")))),
        ("rename", denied, error_code(fs::rename(&secret, outside.join("other.txt")))),
        ("link in", libc::EXDEV, error_code(fs::hard_link(&secret, saves.join("secret.txt")))),
        ("write beside the game", denied, error_code(fs::write(folder.join("beside.txt"), "x"))),
        ("write into the game", denied, error_code(fs::write(game.join("main.lua"), "x"))),
        ("make a file in the game", denied, error_code(fs::write(game.join("new.lua"), "x"))),
        ("make a link", denied, error_code(std::os::unix::fs::symlink("/", saves.join("root")))),
        (
            "make a pipe",
            denied,
            // SAFETY: the name lives as long as the call.
            match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
                0 => 0,
                _ => error_code::<()>(Err(Error::last_os_error())),
            },
        ),
        ("make a socket", denied, {
            error_code(std::os::unix::net::UnixListener::bind(saves.join("socket")))
        }),
        ("read of another process", denied, {
            let parent = std::os::unix::process::parent_id();
            error_code(fs::read(format!("/proc/{parent}/environ")))
        }),
        ("list devices", denied, error_code(fs::read_dir("/dev"))),
        ("read a terminal", denied, error_code(File::open("/dev/tty"))),
        ("read the game", 0, error_code(fs::read(game.join("main.lua")))),
        ("list the game", 0, error_code(fs::read_dir(&game))),
        ("make a save", 0, error_code(fs::write(saves.join("new.txt"), "x"))),
        ("replace a save", 0, error_code(fs::rename(saves.join("new.txt"), saves.join("own.txt")))),
        ("make a folder of saves", 0, error_code(fs::create_dir_all(saves.join("deep/er")))),
        ("write deep", 0, error_code(fs::write(saves.join("deep/er/a.txt"), "x"))),
        ("flush a folder", 0, error_code(File::open(&saves).and_then(|it| it.sync_all()))),
        ("remove a save", 0, error_code(fs::remove_dir_all(saves.join("deep")))),
        ("read libraries", 0, error_code(fs::read_dir("/usr/lib"))),
        ("read configuration", 0, error_code(File::open("/etc/passwd"))),
        ("read of itself", 0, error_code(fs::read("/proc/self/maps"))),
        ("write to nothing", 0, append(PathBuf::from("/dev/null"))),
    ]
}

/// Returns attempts at programs, other processes and the kernel.
fn program_attempts(folder: &Path) -> Vec<(&'static str, i32, i32)> {
    let refused = libc::EPERM;
    let proof = folder.join("saves/PROOF");
    let shell = format!("touch '{}'", proof.display());
    let parent = std::os::unix::process::parent_id() as usize;
    // The attacker's own program in a writable folder, and one without any file.
    let copy = folder.join("saves/program");
    fs::copy("/bin/true", &copy).expect("libraries and programs are read, and saves written");
    let path = c"/bin/true".as_ptr() as usize;
    // SAFETY: creates a file in memory.
    let memory = unsafe { libc::memfd_create(c"program".as_ptr(), 0) } as usize;
    let here = libc::AT_FDCWD as usize;
    let started = |command: &mut Command| error_code(command.stdout(Stdio::null()).status());
    vec![
        ("start a program", refused, started(&mut Command::new("true"))),
        ("start a shell", refused, started(Command::new("sh").args(["-c", &shell]))),
        ("start the engine", refused, started(&mut Command::new(env!("CARGO_BIN_EXE_engine")))),
        ("start a copy", refused, started(&mut Command::new(&copy))),
        ("start by a loader", refused, {
            started(Command::new("/lib64/ld-linux-x86-64.so.2").arg("/bin/true"))
        }),
        ("execve", refused, system_call(libc::SYS_execve, &[path])),
        ("execveat", refused, system_call(libc::SYS_execveat, &[here, path])),
        ("start from memory", refused, {
            let empty = c"".as_ptr() as usize;
            let flags = libc::AT_EMPTY_PATH as usize;
            system_call(libc::SYS_execveat, &[memory, empty, 0, 0, flags])
        }),
        ("execve of x32", refused, system_call(0x4000_0000 + 520, &[path])),
        ("signal another process", refused, system_call(libc::SYS_kill, &[parent])),
        ("start a thread", 0, std::thread::spawn(|| 0).join().expect("it ends")),
        ("ask the terminal", libc::ENOTTY, {
            system_call(libc::SYS_ioctl, &[0, libc::TIOCGWINSZ as usize])
        }),
    ]
}

/// Returns attempts of two threads: one started before the confinement, and one started by a
/// confined thread.
fn thread_attempts(folder: &Path, before: impl FnOnce() -> i32) -> Vec<(&'static str, i32, i32)> {
    let secret = folder.join("outside/secret.txt");
    let after = std::thread::spawn(move || (error_code(fs::read(secret)), start_program()));
    let (read, started) = after.join().expect("it ends");
    vec![
        ("read in a new thread", libc::EACCES, read),
        ("start a program in a new thread", libc::EPERM, started),
        ("start a program in an old thread", libc::EPERM, before()),
    ]
}

fn start_program() -> i32 {
    error_code(Command::new("true").status())
}

/// The child process: prints the result of each attempt.
#[test]
fn attacking_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (go, begin) = std::sync::mpsc::channel::<()>();
    let old = std::thread::spawn(move || {
        begin.recv().expect("the other one sends");
        start_program()
    });
    confine(&folder);
    let old = || {
        go.send(()).expect("it waits");
        old.join().expect("it ends")
    };
    let attempts = [
        file_attempts(&folder),
        attribute_attempts(&folder),
        shared_object_attempts(&folder),
        program_attempts(&folder),
        system_calls::try_calls(),
        thread_attempts(&folder, old),
    ];
    let mut out = std::io::stdout();
    for (name, expected, found) in attempts.concat() {
        let verdict = if expected == found { "good" } else { "WRONG" };
        writeln!(out, "{verdict}: {name}: {expected} wanted, {found} came").expect("it is piped");
    }
    writeln!(out, "all tried").expect("it is piped");
}

#[test]
fn confined_process_reaches_only_its_own_files() {
    if !is_available() {
        return;
    }
    let folder = scratch("attacks");
    fs::write(folder.join("game/main.lua"), "").expect("it can be written");
    fs::write(folder.join("saves/own.txt"), "own").expect("it can be written");
    let link = folder.join("game/link.txt");
    std::os::unix::fs::symlink("../outside/secret.txt", link).expect("a link can be made");
    for inside in ["runtime/pulse", "cache/engine/drivers/other"] {
        fs::create_dir_all(folder.join(inside)).expect("it can be made");
    }
    for file in ["runtime/pulse/pid", "cache/engine/drivers/other/shader"] {
        fs::write(folder.join(file), "a secret").expect("it can be written");
    }
    let before = folder_content(&folder.join("outside"));
    let about = || {
        let found = fs::metadata(folder.join("outside/secret.txt")).expect("it is there");
        (found.mode(), found.uid(), found.mtime_nsec(), found.ctime_nsec())
    };
    let about_before = about();
    let _listener = UnixListener::bind_addr(&socket_of(&folder)).expect("nobody else has it");
    let attacker = Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", &test_path(module_path!(), "attacking_process"), "--nocapture"])
        .env(FOLDER, &folder)
        .env("XDG_RUNTIME_DIR", folder.join("runtime"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env_remove("PULSE_RUNTIME_PATH")
        .env_remove("MESA_SHADER_CACHE_DIR")
        .env_remove("__GL_SHADER_DISK_CACHE_PATH")
        .env_remove("AMD_SHADER_DISK_CACHE_PATH")
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let stdout = String::from_utf8_lossy(&attacker.stdout);
    let output = format!("{stdout}{}", String::from_utf8_lossy(&attacker.stderr));
    assert!(attacker.status.success() && stdout.contains("all tried"), "{output}");
    let wrong: Vec<&str> = stdout.lines().filter(|line| line.starts_with("WRONG")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(folder_content(&folder.join("outside")), before);
    assert_eq!(about(), about_before);
    assert!(!folder.join("saves/PROOF").exists() && !folder.join("beside.txt").exists());
}
