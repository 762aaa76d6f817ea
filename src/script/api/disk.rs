//! The disk, for the module `lfs` of suites without the sandbox (lua/test/lfs.lua). Games know none
//! of it: they have `Save` and resources.

use crate::engine::Engine;
use crate::script::arg::Bytes;
use crate::script::cx::Cx;
use crate::script::ret::Ret;
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use mlua::ffi::*;
use std::ffi::c_int;
use std::fs::{File, FileTimes, Metadata};
use std::io::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How many names of one folder are read.
const NAMES_MAX: usize = 1 << 20;

pub static CORE: Module = module(
    "core",
    "What `lfs` needs of the disk. Where the system refuses: nil, its words and their number.",
    "assert(core == nil)",
    &[
        func(
            "disk_about",
            about,
            &[("path", ""), ("follow", "")],
            "What the system says of a file, or of the link itself.",
        ),
        func("disk_target", target, &[("path", "")], "Where a link leads."),
        func("disk_names", names, &[("path", "")], "The names in a folder, sorted."),
        func("disk_make", make, &[("path", "")], "Makes a folder."),
        func("disk_remove", remove, &[("path", "")], "Removes a folder that is empty."),
        func("disk_here", here, &[], "The folder that the process works in."),
        func("disk_enter", enter, &[("path", "")], "Has the process work in another folder."),
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
            "Makes a link to a file.",
        ),
    ],
);

/// What the system has to say: nothing, names of any bytes, facts; or why it refuses.
enum Said {
    Done,
    Name(Vec<u8>),
    Names(Vec<Vec<u8>>),
    About(Vec<(&'static str, Value)>),
    Refused(Error),
}

impl Said {
    fn of<T>(result: Result<T, Error>, said: impl FnOnce(T) -> Said) -> Said {
        result.map_or_else(Said::Refused, said)
    }
}

impl Ret for Said {
    const TYPES: &'static [Type] = &[Type { rest: true, ..Type::new("any", Shape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised; there is room for 20.
        unsafe {
            match self {
                Said::Done => return true.push(l, cx),
                Said::Name(name) => _ = lua_pushlstring(l, name.as_ptr().cast(), name.len()),
                Said::Names(names) => {
                    lua_createtable(l, names.len() as c_int, 0);
                    for (i, name) in names.iter().enumerate() {
                        lua_pushlstring(l, name.as_ptr().cast(), name.len());
                        lua_rawseti(l, -2, i as lua_Integer + 1);
                    }
                }
                Said::About(facts) => {
                    let facts = facts.into_iter().map(|(key, value)| (key.to_string(), value));
                    return Value::Table(facts.collect()).push(l, cx);
                }
                Said::Refused(reason) => {
                    lua_pushnil(l);
                    words(&reason).push(l, cx)?;
                    return f64::from(reason.raw_os_error().unwrap_or(0)).push(l, cx).map(|_| 3);
                }
            }
        }
        Ok(1)
    }
}

/// The system's own words: Rust puts their number behind them.
fn words(reason: &Error) -> String {
    let words = reason.to_string();
    words.rsplit_once(" (os error").map_or(words.clone(), |(words, _)| words.to_string())
}

#[cfg(unix)]
fn path(bytes: Bytes) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes.as_slice())).to_path_buf()
}

#[cfg(not(unix))]
fn path(bytes: Bytes) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes.as_slice()).into_owned())
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

fn about(_: &mut Engine, file: Bytes, follow: bool) -> Said {
    let file = path(file);
    let about = if follow { file.metadata() } else { file.symlink_metadata() };
    Said::of(about, |about| Said::About(facts(&about)))
}

/// What kind of file it is, in the words of LuaFileSystem.
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
fn facts(about: &Metadata) -> Vec<(&'static str, Value)> {
    use std::os::unix::fs::MetadataExt;
    let mode = about.mode();
    let letters = (0..9).map(|place| match mode >> (8 - place) & 1 {
        0 => '-',
        _ => ['r', 'w', 'x'][place % 3],
    });
    let number = |number: u64| Value::Number(number as f64);
    let seconds = |seconds: i64| Value::Number(seconds as f64);
    vec![
        ("mode", Value::Text(kind(about).to_string())),
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
        ("permissions", Value::Text(letters.collect())),
        ("blocks", number(about.blocks())),
        ("blksize", number(about.blksize())),
    ]
}

/// What every system knows.
#[cfg(not(unix))]
fn facts(about: &Metadata) -> Vec<(&'static str, Value)> {
    let seconds = |time: std::io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Value::Number(since.map_or(0, |since| since.as_secs()) as f64)
    };
    let letters = if about.permissions().readonly() { "r-xr-xr-x" } else { "rwxrwxrwx" };
    vec![
        ("mode", Value::Text(kind(about).to_string())),
        ("access", seconds(about.accessed())),
        ("modification", seconds(about.modified())),
        ("change", seconds(about.created())),
        ("size", Value::Number(about.len() as f64)),
        ("permissions", Value::Text(letters.to_string())),
    ]
}

fn target(_: &mut Engine, link: Bytes) -> Said {
    Said::of(path(link).read_link(), |target| Said::Name(bytes(&target)))
}

fn names(_: &mut Engine, folder: Bytes) -> Said {
    let read = || {
        let entries = path(folder).read_dir()?.take(NAMES_MAX);
        let name = |entry: std::fs::DirEntry| bytes(Path::new(&entry.file_name()));
        entries.map(|entry| entry.map(name)).collect::<Result<Vec<_>, Error>>()
    };
    Said::of(read(), |mut names| {
        // Systems have orders of their own, and suites are to come out alike.
        names.sort();
        Said::Names(names)
    })
}

fn make(_: &mut Engine, folder: Bytes) -> Said {
    Said::of(std::fs::create_dir(path(folder)), |()| Said::Done)
}

fn remove(_: &mut Engine, folder: Bytes) -> Said {
    Said::of(std::fs::remove_dir(path(folder)), |()| Said::Done)
}

fn here(_: &mut Engine) -> Said {
    Said::of(std::env::current_dir(), |folder| Said::Name(bytes(&folder)))
}

/// The file's test run leaves it at its end (src/app/testing/file.rs).
fn enter(_: &mut Engine, folder: Bytes) -> Said {
    Said::of(std::env::set_current_dir(path(folder)), |()| Said::Done)
}

fn touch(_: &mut Engine, file: Bytes, access: f64, modification: f64) -> Said {
    let time = |seconds: f64| {
        let since = Duration::try_from_secs_f64(seconds.abs()).ok()?;
        match seconds < 0.0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(since),
            false => SystemTime::UNIX_EPOCH.checked_add(since),
        }
    };
    let (Some(access), Some(modification)) = (time(access), time(modification)) else {
        return Said::Refused(Error::other("no file has such a time"));
    };
    let times = FileTimes::new().set_accessed(access).set_modified(modification);
    let touched = File::open(path(file)).and_then(|file| file.set_times(times));
    Said::of(touched, |()| Said::Done)
}

fn link(_: &mut Engine, old: Bytes, new: Bytes, symbolic: bool) -> Said {
    let (old, new) = (path(old), path(new));
    let linked = match symbolic {
        false => std::fs::hard_link(old, new),
        #[cfg(unix)]
        true => std::os::unix::fs::symlink(old, new),
        #[cfg(not(unix))]
        true => Err(Error::other("links to paths are not made on this system")),
    };
    Said::of(linked, |()| Said::Done)
}
