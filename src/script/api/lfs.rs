//! File system access for the module `lfs` of test suites without the sandbox (lua/test/lfs.lua).
//! Games have no access to it: they use `Save` and resources.

use crate::api_row::{ModuleRows, func, module};
use crate::argument::ByteArgument;
use crate::context::ScriptContext;
use crate::return_value::ReturnValue;
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_runtime::Engine;
use mlua::ffi::*;
use std::ffi::c_int;
use std::fs::{File, FileTimes, Metadata};
use std::io::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum number of names that are read from one folder.
const NAMES_MAX: usize = 1 << 20;

pub static CORE: ModuleRows = module(
    "core",
    "Native file functions for `lfs`. If the system refuses, they return nil, the message and its \
     number.",
    "assert(core == nil)",
    &[
        func(
            "disk_about",
            about,
            &[("path", ""), ("follow", "")],
            "Returns the attributes of a file, or of the link itself.",
        ),
        func("disk_target", target, &[("path", "")], "Returns the target of a link."),
        func("disk_names", names, &[("path", "")], "Returns the names in a folder, sorted."),
        func("disk_make", make, &[("path", "")], "Creates a folder."),
        func("disk_remove", remove, &[("path", "")], "Removes an empty folder."),
        func("disk_here", here, &[], "Returns the current directory of the process."),
        func("disk_enter", enter, &[("path", "")], "Changes the current directory of the process."),
        func(
            "disk_touch",
            touch,
            &[("path", ""), ("access", ""), ("modification", "")],
            "Sets a file's times, in seconds since 1970.",
        ),
        func(
            "disk_link",
            link,
            &[("old", ""), ("new", ""), ("symbolic", "")],
            "Creates a link to a file.",
        ),
    ],
);

/// The result of a system call: nothing, names of arbitrary bytes, attributes, or the reason of a
/// failure.
enum SystemResult {
    Done,
    Name(Vec<u8>),
    Names(Vec<Vec<u8>>),
    About(Vec<(&'static str, ScriptValue)>),
    Refused(Error),
}

impl SystemResult {
    fn of<T>(result: Result<T, Error>, convert: impl FnOnce(T) -> SystemResult) -> SystemResult {
        result.map_or_else(SystemResult::Refused, convert)
    }
}

impl ReturnValue for SystemResult {
    const TYPES: &'static [ApiType] =
        &[ApiType { rest: true, ..ApiType::new("any", ValueShape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised; there is room for 20.
        unsafe {
            match self {
                SystemResult::Done => return true.push(l, cx),
                SystemResult::Name(name) => {
                    _ = lua_pushlstring(l, name.as_ptr().cast(), name.len())
                }
                SystemResult::Names(names) => {
                    lua_createtable(l, names.len() as c_int, 0);
                    for (i, name) in names.iter().enumerate() {
                        lua_pushlstring(l, name.as_ptr().cast(), name.len());
                        lua_rawseti(l, -2, i as lua_Integer + 1);
                    }
                }
                SystemResult::About(attributes) => {
                    let fields =
                        attributes.into_iter().map(|(key, value)| (key.to_string(), value));
                    return ScriptValue::Table(fields.collect()).push(l, cx);
                }
                SystemResult::Refused(reason) => {
                    lua_pushnil(l);
                    system_message(&reason).push(l, cx)?;
                    return f64::from(reason.raw_os_error().unwrap_or(0)).push(l, cx).map(|_| 3);
                }
            }
        }
        Ok(1)
    }
}

/// Returns the operating system's message without the error number that Rust appends.
fn system_message(reason: &Error) -> String {
    let message = reason.to_string();
    message.rsplit_once(" (os error").map_or(message.clone(), |(message, _)| message.to_string())
}

#[cfg(unix)]
fn path(bytes: ByteArgument) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes.as_slice())).to_path_buf()
}

#[cfg(not(unix))]
fn path(bytes: ByteArgument) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes.as_slice()).into_owned())
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

fn about(_: &mut Engine, file: ByteArgument, follow: bool) -> SystemResult {
    let file = path(file);
    let about = if follow { file.metadata() } else { file.symlink_metadata() };
    SystemResult::of(about, |about| SystemResult::About(attributes(&about)))
}

/// Returns the file type in the terms of LuaFileSystem.
fn kind(about: &Metadata) -> &'static str {
    let kind = about.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kinds = [
            (kind.is_socket(), "socket"),
            (kind.is_fifo(), "named pipe"),
            (kind.is_char_device(), "char device"),
            (kind.is_block_device(), "block device"),
        ];
        if let Some((_, name)) = kinds.into_iter().find(|(is, _)| *is) {
            return name;
        }
    }
    match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
        (true, ..) => "file",
        (_, true, _) => "directory",
        (_, _, true) => "link",
        _ => "other",
    }
}

#[cfg(unix)]
fn attributes(about: &Metadata) -> Vec<(&'static str, ScriptValue)> {
    use std::os::unix::fs::MetadataExt;
    let mode = about.mode();
    let letters = (0..9).map(|index| match mode >> (8 - index) & 1 {
        0 => '-',
        _ => ['r', 'w', 'x'][index % 3],
    });
    let number = |number: u64| ScriptValue::Number(number as f64);
    let seconds = |seconds: i64| ScriptValue::Number(seconds as f64);
    vec![
        ("mode", ScriptValue::Text(kind(about).to_string())),
        ("dev", number(about.dev())),
        ("ino", number(about.ino())),
        ("nlink", number(about.nlink())),
        ("uid", number(about.uid().into())),
        ("gid", number(about.gid().into())),
        ("rdev", number(about.rdev())),
        ("access", seconds(about.atime())),
        ("modification", seconds(about.mtime())),
        ("change", seconds(about.ctime())),
        ("size", number(about.len())),
        ("permissions", ScriptValue::Text(letters.collect())),
        ("blocks", number(about.blocks())),
        ("blksize", number(about.blksize())),
    ]
}

/// Returns the file attributes that every system provides.
#[cfg(not(unix))]
fn attributes(about: &Metadata) -> Vec<(&'static str, ScriptValue)> {
    let seconds = |time: std::io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        ScriptValue::Number(since.map_or(0, |since| since.as_secs()) as f64)
    };
    let letters = if about.permissions().readonly() { "r-xr-xr-x" } else { "rwxrwxrwx" };
    vec![
        ("mode", ScriptValue::Text(kind(about).to_string())),
        ("access", seconds(about.accessed())),
        ("modification", seconds(about.modified())),
        ("change", seconds(about.created())),
        ("size", ScriptValue::Number(about.len() as f64)),
        ("permissions", ScriptValue::Text(letters.to_string())),
    ]
}

fn target(_: &mut Engine, link: ByteArgument) -> SystemResult {
    SystemResult::of(path(link).read_link(), |target| SystemResult::Name(bytes(&target)))
}

fn names(_: &mut Engine, folder: ByteArgument) -> SystemResult {
    let read = || {
        let entries = path(folder).read_dir()?.take(NAMES_MAX);
        let name = |entry: std::fs::DirEntry| bytes(Path::new(&entry.file_name()));
        entries.map(|entry| entry.map(name)).collect::<Result<Vec<_>, Error>>()
    };
    SystemResult::of(read(), |mut names| {
        // The order depends on the system; sorting makes the results of suites the same everywhere.
        names.sort();
        SystemResult::Names(names)
    })
}

fn make(_: &mut Engine, folder: ByteArgument) -> SystemResult {
    SystemResult::of(std::fs::create_dir(path(folder)), |()| SystemResult::Done)
}

fn remove(_: &mut Engine, folder: ByteArgument) -> SystemResult {
    SystemResult::of(std::fs::remove_dir(path(folder)), |()| SystemResult::Done)
}

fn here(_: &mut Engine) -> SystemResult {
    SystemResult::of(std::env::current_dir(), |folder| SystemResult::Name(bytes(&folder)))
}

/// Changes the current folder. The file's test run restores it at its end
/// (src/app/testing/test_file.rs).
fn enter(_: &mut Engine, folder: ByteArgument) -> SystemResult {
    SystemResult::of(std::env::set_current_dir(path(folder)), |()| SystemResult::Done)
}

fn touch(_: &mut Engine, file: ByteArgument, access: f64, modification: f64) -> SystemResult {
    let time = |seconds: f64| {
        let since = Duration::try_from_secs_f64(seconds.abs()).ok()?;
        match seconds < 0.0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(since),
            false => SystemTime::UNIX_EPOCH.checked_add(since),
        }
    };
    let (Some(access), Some(modification)) = (time(access), time(modification)) else {
        return SystemResult::Refused(Error::other("no file has such a time"));
    };
    let times = FileTimes::new().set_accessed(access).set_modified(modification);
    let touched = File::open(path(file)).and_then(|file| file.set_times(times));
    SystemResult::of(touched, |()| SystemResult::Done)
}

/// Makes a link on Windows, which has two kinds of links. The old path is relative to the new one.
#[cfg(windows)]
fn windows_link(old: &Path, new: &Path) -> std::io::Result<()> {
    match new.parent().unwrap_or(Path::new("")).join(old).is_dir() {
        true => std::os::windows::fs::symlink_dir(old, new),
        false => std::os::windows::fs::symlink_file(old, new),
    }
}

fn link(_: &mut Engine, old: ByteArgument, new: ByteArgument, symbolic: bool) -> SystemResult {
    let (old, new) = (path(old), path(new));
    let linked = match symbolic {
        false => std::fs::hard_link(old, new),
        #[cfg(unix)]
        true => std::os::unix::fs::symlink(old, new),
        #[cfg(windows)]
        true => windows_link(&old, &new),
    };
    SystemResult::of(linked, |()| SystemResult::Done)
}
